/* fibers.c - a program that switches stacks on one thread in the middle of scopes, modes, errors
 * and recordings: each fiber has its own, and goes on in other threads. */
#define _GNU_SOURCE
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <pthread.h>
#include <ucontext.h>

enum { STACK = 1 << 20, FIBERS = 3 };

typedef struct fiber {
    tn_fiber state;
    ucontext_t here, back;
    void (*body)(struct fiber *);
    char *stack;
    bool done;
    int step;
    tn_tensor *x, *y;
} fiber;

static fiber *starting;
static void fiber_main(void) {
    fiber *f = starting;
    f->body(f);
    f->done = true;
    swapcontext(&f->here, &f->back);
}
static void fiber_begin(fiber *f, void (*body)(fiber *)) {
    memset(f, 0, sizeof *f);
    f->body = body;
    f->stack = (char *)malloc(STACK);
    getcontext(&f->here);
    f->here.uc_stack.ss_sp = f->stack;
    f->here.uc_stack.ss_size = STACK;
    f->here.uc_link = NULL;
    makecontext(&f->here, fiber_main, 0);
}
/* Runs f until it yields. The call after the switch back is the caller's. */
static void fiber_resume(fiber *f) {
    tn_fiber *mine = tn_fiber_current();
    starting = f;
    CHECK(tn_fiber_use(&f->state));
    swapcontext(&f->back, &f->here);
    CHECK(tn_fiber_use(mine));
}
static void fiber_yield(fiber *f) { swapcontext(&f->here, &f->back); }
static void fiber_end(fiber *f) {
    CHECK(f->done);
    CHECK(tn_fiber_end(&f->state));
    free(f->stack);
}

static tn_tensor *of(double v) { return tn_full(TN_DIMS(2), v, .dtype = TN_F64); }
static double first(const tn_tensor *t) { return t ? *(const double *)tn_data(t) : -1; }

/* --- scopes ----------------------------------------------------------------------------------- */

static void opens_scopes(fiber *f) {
    for (int i = 0; i < 4; i++)
        TN_SCOPE {
            tn_tensor *a = of(i);
            fiber_yield(f);
            TN_SCOPE {
                tn_tensor *b = tn_add(a, a);
                fiber_yield(f);
                f->x = tn_keep(tn_keep(tn_add(b, a)));
                CHECK(first(b) == 2 * i && first(a) == i);
            }
            CHECK_EQ(first(f->x), 3 * i);
            fiber_yield(f);
            tn_free(f->x);
        }
}
static void scopes_of_fibers_do_not_nest(void) {
    fiber f[FIBERS];
    tn_context *c = tn_context_new(NULL);
    int order = 1, live = FIBERS;
    tn_context_use(c);
    for (int i = 0; i < FIBERS; i++) fiber_begin(&f[i], opens_scopes);
    TN_SCOPE {
        tn_tensor *mine = of(7);
        while (live) {
            fiber *now = &f[(order = order * 5 % 7) % FIBERS];
            if (now->done) now = f[0].done ? f[1].done ? &f[2] : &f[1] : &f[0];
            fiber_resume(now);
            live -= now->done;
        }
        CHECK_EQ(first(mine), 7);
    }
    for (int i = 0; i < FIBERS; i++) fiber_end(&f[i]);
    CHECK(tn_ok());
    tn_context_use(NULL);
    tn_context_free(c);
}

/* --- modes, errors, recordings, contexts ------------------------------------------------------ */

static void records_nothing(fiber *f) {
    tn_no_grad {
        fiber_yield(f);
        CHECK(!tn_needs_grad(tn_mul(f->y, f->y)));
        tn_inference_mode {
            fiber_yield(f);
            CHECK(!tn_grad_mode());
        }
        tn_expect_no_alloc {
            fiber_yield(f);
        }
    }
    CHECK(tn_grad_mode());
}
static void modes_stay_with_their_fiber(void) {
    fiber f;
    tn_tensor *w = tn_requires_grad(of(3)), *large;
    fiber_begin(&f, records_nothing);
    f.y = w;
    for (int i = 0; !f.done; i++) {
        fiber_resume(&f);
        CHECK(tn_grad_mode());
        TN_SCOPE {
            large = tn_ones(TN_DIMS(1000 + 1000 * i)); /* allocates */
            CHECK(large && tn_needs_grad(tn_mul(w, w)) && !tn_is_inference(large));
        }
    }
    tn_free(w);
    fiber_end(&f);
    CHECK(tn_ok());
}
static void fails(fiber *f) {
    CHECK(!tn_matmul(tn_ones(TN_DIMS(2, 3)), tn_ones(TN_DIMS(2, 3))));
    fiber_yield(f);
    CHECK(!tn_ok() && !of(1));
    CHECK(tn_error_take(NULL) && tn_ok());
}
static void an_error_is_pending_in_its_fiber_alone(void) {
    fiber f;
    fiber_begin(&f, fails);
    fiber_resume(&f);
    CHECK(tn_ok());
    TN_SCOPE {
        CHECK_EQ(first(of(5)), 5);
    }
    fiber_resume(&f);
    fiber_end(&f);
}
static void records(fiber *f) {
    TN_SCOPE {
        tn_tensor *x = of(1);
        CHECK(tn_record_begin());
        f->x = tn_keep(tn_add(x, x));
        fiber_yield(f);
        tn_recording *r = tn_record_end();
        CHECK(tn_fill_(x, 4.0) && tn_replay(r));
        CHECK_EQ(first(f->x), 8);
        fiber_yield(f);
        tn_recording_free(r);
    }
    tn_free(f->x);
}
static void a_recording_holds_the_calls_of_its_fiber(void) {
    fiber f;
    fiber_begin(&f, records);
    fiber_resume(&f);
    TN_SCOPE {
        tn_tensor *mine = of(2);
        CHECK(tn_mul_(mine, mine));
        fiber_resume(&f);
        CHECK_EQ(first(mine), 4); /* not written again by the replay */
    }
    fiber_resume(&f);
    fiber_end(&f);
}
static tn_context *apart;
static void uses_another_context(fiber *f) {
    tn_context_use(apart);
    fiber_yield(f);
    CHECK(tn_context_current() == apart);
}
static void the_current_context_is_the_fibers(void) {
    fiber f;
    tn_context *mine = tn_context_current();
    apart = tn_context_new(NULL);
    fiber_begin(&f, uses_another_context);
    fiber_resume(&f);
    CHECK(tn_context_current() == mine);
    fiber_resume(&f);
    tn_context_free(apart);
    fiber_end(&f);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void *resumes(void *arg) {
    TN_SCOPE {
        CHECK_EQ(first(of(6)), 6);
    }
    fiber_resume((fiber *)arg);
    CHECK(tn_fiber_current() == NULL);
    return NULL;
}
/* Takes over what is free to be: the state of a thread that has ended, not that of the fiber. */
static void takes_over(void) {
    tn_fiber taker = {0};
    CHECK(tn_fiber_use(&taker));
    TN_SCOPE {
        CHECK_EQ(first(of(8)), 8);
    }
    CHECK(tn_fiber_end(&taker));
}
static void a_fiber_goes_on_in_other_threads(void) {
    fiber f;
    fiber_begin(&f, opens_scopes);
    for (int i = 0; !f.done; i++) {
        pthread_t t;
        if (i % 2)
            fiber_resume(&f);
        else if (CHECK(pthread_create(&t, NULL, resumes, &f) == 0))
            pthread_join(t, NULL);
        takes_over();
    }
    fiber_end(&f);
    CHECK(tn_ok());
}
static tn_fiber shared;
static void *takes_it(void *arg) {
    tn_error_info e;
    (void)arg;
    CHECK(!tn_fiber_use(&shared));
    CHECK(tn_error_take(&e) && e.code == TN_INVALID &&
          !strcmp(e.message, "tn_fiber_use: another thread runs as this fiber"));
    CHECK(!tn_fiber_end(&shared));
    CHECK(tn_error_take(&e) && e.code == TN_INVALID &&
          !strcmp(e.message, "tn_fiber_end: another thread runs as this fiber"));
    CHECK(tn_fiber_current() == NULL);
    return NULL;
}
static void one_thread_runs_a_fiber(void) {
    pthread_t t;
    CHECK(tn_fiber_use(&shared) && tn_fiber_use(&shared) && tn_fiber_current() == &shared);
    if (CHECK(pthread_create(&t, NULL, takes_it, NULL) == 0)) pthread_join(t, NULL);
    CHECK(tn_fiber_end(&shared) && tn_fiber_current() == NULL && tn_fiber_end(NULL));
    CHECK(tn_fiber_use(NULL));
}
static int told;
static void tell(const tn_error_info *e, void *user) { (void)e, (void)user, told++; }
static void what_a_fiber_left_open_ends_when_it_is_replaced(void) {
    tn_context *c = tn_context_new(NULL);
    tn_fiber next = {0};
    tn_context_use(c);
    tn_set_error_handler(NULL, NULL);
    CHECK(tn_fiber_use(&shared));
    tn_context_use(c);
    tn_scope_begin();
    CHECK(of(1) != NULL);
    CHECK(!tn_ones(TN_DIMS(-1)));
    tn_set_error_handler(tell, NULL);
    told = 0;
    CHECK(tn_fiber_end(&shared));
    CHECK(tn_fiber_use(&next));
    tn_context_use(c);
    CHECK(tn_ok() && told == 1); /* its block was taken over */
    CHECK_EQ(tn_memory().live_tensors, 0);
    CHECK(tn_fiber_end(&next));
    tn_context_use(NULL);
    tn_context_free(c);
}
static void contexts_end_before_fibers(void) {
    tn_fiber late = {0};
    tn_context *c = tn_context_new(NULL);
    CHECK(tn_fiber_use(&late));
    tn_context_use(c);
    CHECK(of(1) != NULL);
    CHECK(tn_fiber_use(NULL));
    tn_context_free(c);
    CHECK(tn_fiber_use(&late));
    CHECK(tn_context_current() != c && tn_ok());
    TN_SCOPE {
        CHECK_EQ(first(of(9)), 9);
    }
    CHECK(tn_fiber_end(&late));
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(scopes_of_fibers_do_not_nest),
        CHECK_TEST(modes_stay_with_their_fiber),
        CHECK_TEST(an_error_is_pending_in_its_fiber_alone),
        CHECK_TEST(a_recording_holds_the_calls_of_its_fiber),
        CHECK_TEST(the_current_context_is_the_fibers),
        CHECK_TEST(a_fiber_goes_on_in_other_threads),
        CHECK_TEST(one_thread_runs_a_fiber),
        CHECK_TEST(what_a_fiber_left_open_ends_when_it_is_replaced),
        CHECK_TEST(contexts_end_before_fibers),
    };
    return CHECK_MAIN(tests, argc, argv);
}
