/* groups.c - optimizers with several groups, every option of each another: what is set is got, the
 * state says it under the group's number, and a loaded optimizer has it all again. */
#include "../../src/api/modules.h"
#include "../../src/optim/optim.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <stdlib.h>

enum { GROUPS = 3 };

static tn_tensor *leaf[GROUPS];
static tn_optimizer *in_groups(const tn_orow *row) {
    static union {
        tn_tensors params;
        char at[TNI_ARGS_BYTES];
    } args;
    tn_value first;
    memset(&first, 0, sizeof first);
    first.type = TN_T_TENSORS, first.as.tensors = tn_tensors_of(leaf, 1);
    CHECK(tn_bind("groups", 1, row->name, row->gen, &first, 1, true, args.at));
    tn_optimizer *o = tn_optimizer_make("groups", 2, row, args.at);
    for (int g = 1; g < GROUPS; g++)
        CHECK_EQ(tn_optimizer_group(o, tn_tensors_of(&leaf[g], 1), NULL, 0), g);
    return o;
}

/* Every number among the options: 0.001, 0.002, .. by group and option; flags by turns. What the
 * row's check refuses stays as it is. Returns how many were set to what is not false. */
static int set_all(tn_optimizer *o) {
    int n = 0;
    for (int g = 0; g < GROUPS; g++)
        for (int i = 1; i < o->row->gen->nparam; i++) {
            const tn_param *p = &o->row->gen->param[i];
            double v = 0.001 * (1 + g * 16 + i);
            if (p->type == TN_T_BOOL) v = (g + i) & 1;
            if (p->type != TN_T_BOOL && p->type != TN_T_FLOAT) continue;
            if (!tn_optimizer_set(o, g, p->name, v))
                tn_error_take(NULL);
            else
                n += CHECK(tn_optimizer_get(o, g, p->name) == v) &&
                     v != 0; /* false may be left out */
        }
    return n;
}

/* Each entry "group.<g>.<option>" is what the group has. */
static int says_all(const tn_optimizer *o, tn_named_list d) {
    int n = 0;
    for (int64_t i = 0; i < d.n; i++) {
        char option[64];
        int g;
        if (sscanf(d.at[i].name, "group.%d.%63s", &g, option) != 2 || strchr(option, '.')) continue;
        double v = tn_optimizer_get(o, g, option);
        if (tn_error_take(NULL)) continue; /* a list of numbers */
        if (!CHECK(v == tn_item(d.at[i].tensor))) printf("    %s\n", d.at[i].name);
        n++;
    }
    return n;
}

static bool same_lists(tn_named_list a, tn_named_list b) {
    bool same = a.n > 0 && a.n == b.n;
    for (int64_t i = 0; same && i < a.n; i++)
        same = !strcmp(a.at[i].name, b.at[i].name) &&
               tn_item(tn_equal(a.at[i].tensor, b.at[i].tensor));
    return same;
}

#define OPTIMIZER(name) TN_PRIV_DECLARE(tn_orow, tni_optimizer_##name);
#include "optimizers.inc"
#undef OPTIMIZER
static const tn_orow *const optimizers[] = {
#define OPTIMIZER(name) &tni_optimizer_##name,
#include "optimizers.inc"
#undef OPTIMIZER
};

static void groups_keep_their_options(void) {
    for (size_t k = 0; k < sizeof optimizers / sizeof *optimizers; k++)
        TN_SCOPE {
            for (int g = 0; g < GROUPS; g++) {
                leaf[g] = tn_requires_grad(tn_full(TN_DIMS(2, g + 1), g + 1.0));
                CHECK(tn_set_grad(leaf[g], tn_full(TN_DIMS(2, g + 1), 0.5)));
            }
            tn_optimizer *o = in_groups(optimizers[k]), *other = in_groups(optimizers[k]);
            const int set = set_all(o);
            CHECK(set >= GROUPS * 2 && tn_optimizer_step(o)); /* rprop has two */
            tn_named_list d = tn_optimizer_state_dict(o), again;
            CHECK(says_all(o, d) >= set);
            CHECK(tn_optimizer_load(other, d.at, d.n));
            CHECK(says_all(other, d) >= set);
            again = tn_optimizer_state_dict(other);
            CHECK(same_lists(d, again));
            tn_named_free(d), tn_named_free(again);
            tn_optimizer_free(o), tn_optimizer_free(other);
        }
    CHECK(tn_ok() && tn_memory().live_tensors == 0);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {CHECK_TEST(groups_keep_their_options)};
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
