/* plans.cuh - plans of a vendor's library: made once for each call, and kept until others are
 * needed more. All under the caller's lock. */
#ifndef TNC_CUDA_PLANS_CUH
#define TNC_CUDA_PLANS_CUH

#include <stdint.h>
#include <string.h>

#include <map>
#include <new>

/* Call: numbers without gaps between them, which are compared as bytes. */
template <class Call, class Plan>
struct tnc_plans {
    struct less {
        bool operator()(const Call &a, const Call &b) const { return memcmp(&a, &b, sizeof a) < 0; }
    };
    struct kept {
        Plan plan;
        bool usable;
        int64_t asked; /* the number of the call that last asked for it */
    };
    std::map<Call, kept, less> *all; /* static objects end before the last call */
    int64_t calls;

    /* Where there are `most`, those go for which no call of the latest half has asked. */
    template <class Drop>
    void forget(int64_t most, const Drop &drop) {
        if ((int64_t)all->size() < most) return;
        for (auto i = all->begin(); i != all->end();) {
            if (i->second.asked > calls - most / 2) {
                ++i;
                continue;
            }
            if (i->second.usable) drop(&i->second.plan);
            i = all->erase(i);
        }
    }
    /* The call's plan, made if it is new; NULL: it has none. `make` leaves a plan that it could
     * not make to `drop`. */
    template <class Make, class Drop>
    Plan *find(const Call &c, int64_t most, const Make &make, const Drop &drop) {
        try {
            if (!all) all = new std::map<Call, kept, less>;
            auto known = all->find(c);
            if (known == all->end()) {
                forget(most, drop);
                known = all->emplace(c, kept()).first;
                known->second.usable = make(&known->second.plan, &c);
                if (!known->second.usable) drop(&known->second.plan);
            }
            known->second.asked = ++calls;
            return known->second.usable ? &known->second.plan : NULL;
        } catch (const std::bad_alloc &) {
            return NULL;
        }
    }
};

#endif
