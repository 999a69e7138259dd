/* optim_pairs.c - optimizers with every pair of their options, groups, parameters that have no
 * gradient now and then, sizes 0 and (), a transposed parameter, four dtypes; schedules around
 * each of their turns. Once as they are, once through their state, and the same bits. Values:
 * tests/oracle/optim.py. */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"
#include "../oracle/optim_values.inc"

#include <math.h>
#include <stdlib.h>

enum { PARAMS = 5, FIRST = 2, STEPS = 6, CHANGED = 3, MOST = 19, VALUES = 200 };

/* --- parameters and gradients, as tests/oracle/optim.py has them ------------------------------ */

static tn_ints shape_of(int k) {
    static const int64_t size[PARAMS][2] = {{2, 3}, {0, 0}, {0, 3}, {19, 0}, {3, 2}};
    static const int64_t ndim[PARAMS] = {2, 0, 2, 1, 2};
    return tn_ints_of(size[k], ndim[k]);
}
static tn_tensor *numbers(int k, tn_dtype dtype, int by, int add, int modulo, int less, double to) {
    tn_ints shape = shape_of(k);
    double data[MOST];
    for (int i = 0; i < MOST; i++) data[i] = ((by * i + add) % modulo - less) / to;
    return tnp_to_dtype(tn_from(data, shape, TN_F64), dtype, false, false);
}
/* The last one is transposed in memory. */
static tn_tensor *parameter(int k, tn_dtype dtype) {
    int64_t mark = tn_scope_begin();
    tn_tensor *t = numbers(k, dtype, 11, 3 * k, 17, 8, 16), *p = t;
    if (k == PARAMS - 1) {
        p = tnp_transpose(tnp_contiguous(tnp_transpose(t, 0, 1)), 0, 1);
        CHECK(p && !tn_is_contiguous(p));
    }
    p = tn_hold(tn_requires_grad(p));
    tn_scope_end(mark);
    return p;
}
static void set_gradients(tn_tensor *const *p, const pairs_case *c, int step) {
    TN_SCOPE {
        for (int k = 0; k < PARAMS; k++) {
            bool there = c->absent == 0 || (c->absent == 1 && (step + k) % 3 != 0) ||
                         (c->absent == 2 && (k % 2 == 0 || step >= 2));
            tn_set_grad(p[k], there ? numbers(k, c->dtype, 7, 5 * step + 3 * k, 13, 6, 8) : NULL);
        }
    }
}

/* --- one case --------------------------------------------------------------------------------- */

/* Options as values, behind those that are there; lists lie in the same room. */
typedef struct options {
    tn_value value[16];
    int n;
    char text[400];
    double list[16][2];
} options;

/* Reads "lr=0.1 betas=0.9/0.99 maximize=true". */
static void read_options(options *to, const char *text) {
    char *at = to->text;
    CHECK(strlen(text) < sizeof to->text);
    snprintf(to->text, sizeof to->text, "%s", text);
    for (char *word = strtok(at, " "); word; word = strtok(NULL, " ")) {
        tn_value *v = &to->value[to->n];
        double *list = to->list[to->n++];
        char *value = strchr(word, '=');
        CHECK(to->n < 16 && value);
        memset(v, 0, sizeof *v);
        v->name = word;
        *value++ = 0;
        list[0] = strtod(value, &value);
        v->type = *value == '/' ? TN_T_FLOATS : *value ? TN_T_BOOL : TN_T_FLOAT;
        if (v->type == TN_T_FLOATS) {
            list[1] = strtod(value + 1, NULL);
            v->as.floats.at = list, v->as.floats.n = 2;
        } else if (v->type == TN_T_BOOL) {
            v->as.boolean = *value == 't';
        } else {
            v->as.real = list[0];
        }
    }
}

static const tn_orow *row_named(const char *name) {
    for (int64_t i = 0; i < tn_orow_count(); i++)
        if (!strcmp(tn_orow_at(i)->name, name)) return tn_orow_at(i);
    return NULL;
}
static tn_optimizer *optimizer(const pairs_case *c, tn_tensor *const *p) {
    const tn_orow *row = row_named(c->row);
    union {
        double align;
        char at[320];
    } args;
    options own, second;
    tn_optimizer *o;
    memset(&own, 0, sizeof own), memset(&second, 0, sizeof second);
    own.value[own.n].type = TN_T_TENSORS;
    own.value[own.n++].as.tensors = tn_tensors_of(p, FIRST);
    read_options(&own, c->options), read_options(&second, c->group);
    CHECK(row && row->gen->args_size <= sizeof args.at);
    CHECK(tn_bind(__FILE__, __LINE__, c->row, row->gen, own.value, own.n, true, args.at));
    o = tn_optimizer_make(__FILE__, __LINE__, row, args.at);
    CHECK(o && tn_optimizer_group(o, tn_tensors_of(p + FIRST, PARAMS - FIRST), second.value,
                                  second.n) == 1);
    return o;
}
/* Sets the option that changes in both groups. */
static bool change(tn_optimizer *o, const char *text) {
    options later;
    bool ok = true;
    memset(&later, 0, sizeof later);
    read_options(&later, text);
    for (int k = 0; k < later.n; k++)
        for (int g = 0; g < 2; g++) {
            const tn_value *v = &later.value[k];
            const double value = v->type == TN_T_BOOL ? v->as.boolean : v->as.real;
            ok = CHECK(tn_optimizer_set(o, g, v->name, value)) && ok;
        }
    return ok;
}
static tn_optimizer *through_its_state(tn_optimizer *o, const pairs_case *c, tn_tensor *const *p) {
    tn_named_list state = tn_optimizer_state_dict(o);
    tn_optimizer *other = optimizer(c, p);
    CHECK(state.n > 0 && tn_optimizer_load(other, state.at, state.n));
    tn_named_free(state);
    tn_optimizer_free(o);
    return other;
}

/* All elements, then the states: their names in keys, of each sum (i + 1) x[i]. scale[i]: sum of
 * magnitudes, in which value[i] is compared. Returns the number of values. */
static int results(const tn_optimizer *o, tn_tensor *const *p, double *value, double *scale,
                   char *keys) {
    tn_named_list state = tn_optimizer_state_dict(o);
    double data[MOST];
    int n = 0;
    keys[0] = 0;
    for (int k = 0; k < PARAMS; k++) {
        CHECK(tn_read_f64(p[k], value + n, tn_numel(p[k])));
        for (int64_t i = 0; i < tn_numel(p[k]); i++, n++) scale[n] = fabs(value[n]) + 0.1;
    }
    for (int64_t e = 0; e < state.n; e++) {
        const tn_tensor *t = state.at[e].tensor;
        if (strncmp(state.at[e].name, "state.", 6) != 0) continue;
        snprintf(keys + strlen(keys), 1000 - strlen(keys), "%s%s", keys[0] ? " " : "",
                 state.at[e].name);
        CHECK(tn_numel(t) <= MOST && tn_read_f64(t, data, tn_numel(t)));
        value[n] = scale[n] = 0;
        for (int64_t i = 0; i < tn_numel(t); i++) {
            value[n] += (double)(i + 1) * data[i];
            scale[n] += (double)(i + 1) * fabs(data[i]);
        }
        n++;
    }
    tn_named_free(state);
    return n;
}

static double tolerance_of(tn_dtype dtype) {
    return dtype == TN_F64 ? 1e-13 : dtype == TN_F32 ? 4e-6 : dtype == TN_F16 ? 0x1p-9 : 0x1p-7;
}
static bool are_torchs(const pairs_case *c, const tn_optimizer *o, tn_tensor *const *p,
                       double value[VALUES]) {
    double scale[VALUES], by = tolerance_of(c->dtype);
    char keys[1000];
    int n = results(o, p, value, scale, keys);
    bool ok = CHECK_TEXT(keys, c->keys) && CHECK_EQ(n, c->n);
    for (int i = 0; ok && i < n; i++)
        if (isnan(c->values[i]) ? !isnan(value[i])
                                : !(fabs(value[i] - c->values[i]) <= by * scale[i])) {
            printf("    value %d is %.9g, torch gives %.9g\n", i, value[i], c->values[i]);
            ok = check_report(0, __FILE__, __LINE__, "values are torch's");
        }
    return ok;
}

static bool run_case(const pairs_case *c, bool resumed, double value[VALUES]) {
    tn_tensor *p[PARAMS];
    tn_optimizer *o;
    bool ok = true;
    for (int k = 0; k < PARAMS; k++) p[k] = parameter(k, c->dtype);
    o = optimizer(c, p);
    for (int step = 0; step < STEPS; step++) {
        if (resumed && step) o = through_its_state(o, c, p);
        if (step == CHANGED) ok = change(o, c->later) && ok;
        set_gradients(p, c, step);
        ok = CHECK(tn_optimizer_step(o)) && ok;
    }
    ok = are_torchs(c, o, p, value) && ok;
    tn_optimizer_free(o);
    for (int k = 0; k < PARAMS; k++) tn_free(p[k]);
    tn_error_print();
    return ok;
}

static void options_in_pairs_are_torchs(void) {
    for (size_t i = 0; i < sizeof pairs_cases / sizeof *pairs_cases; i++) {
        const pairs_case *c = &pairs_cases[i];
        static double value[2][VALUES];
        bool ok = run_case(c, false, value[0]);
        ok = run_case(c, true, value[1]) && ok;
        ok = CHECK(memcmp(value[0], value[1], (size_t)c->n * sizeof(double)) == 0) && ok;
        if (!ok) printf("    case %s\n", c->name);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- schedules -------------------------------------------------------------------------------- */

static double factor(int64_t n, void *user) {
    (void)user;
    return n % 4 ? 1.0 / (1 + (double)n) : 0.25 * (double)n + 1;
}
static tn_optimizer *two_groups(tn_tensor *const *p) {
    tn_optimizer *o = tn_optim_sgd(tn_tensors_of(p, 1), .lr = 0.3);
    tn_value v;
    memset(&v, 0, sizeof v);
    v.type = TN_T_FLOAT, v.name = "lr", v.as.real = 0.7;
    CHECK_EQ(tn_optimizer_group(o, tn_tensors_of(p + 1, 1), &v, 1), 1);
    return o;
}
static tn_schedule *schedule(const rates_case *c, tn_optimizer *o) {
    return c->kind == 's'   ? tn_optim_step_lr(o, c->every, c->value)
           : c->kind == 'c' ? tn_optim_cosine_lr(o, c->every, c->value)
                            : tn_optim_lambda_lr(o, factor, NULL);
}

/* Both anew, with the rates and the schedule's state of the old ones. */
static void begin_again(const rates_case *c, tn_tensor *const *p, tn_optimizer **o,
                        tn_schedule **s) {
    tn_optimizer *other = two_groups(p);
    tn_schedule *next = schedule(c, other);
    double initial[2];
    tn_named_list state = tn_optimizer_state_dict(*o);
    for (int g = 0; g < 2; g++) initial[g] = tn_schedule_initial(*s, g);
    CHECK(tn_optimizer_load(other, state.at, state.n));
    CHECK(tn_schedule_resume(next, tn_schedule_count(*s), initial, 2));
    tn_named_free(state);
    tn_schedule_free(*s);
    tn_optimizer_free(*o);
    *o = other, *s = next;
}

/* broken: the step before which both are made anew; -1: before each, -2: never. */
static bool rates_are(const rates_case *c, int broken) {
    tn_tensor *p[2] = {parameter(0, TN_F32), parameter(1, TN_F32)};
    tn_optimizer *o = two_groups(p);
    tn_schedule *s = schedule(c, o);
    bool ok = true;
    for (int n = 0; ok && n < c->steps; n++) {
        if (broken == n || broken == -1) begin_again(c, p, &o, &s);
        ok = CHECK_EQ(tn_schedule_count(s), n);
        for (int g = 0; ok && g < 2; g++) {
            double lr = tn_optimizer_get(o, g, "lr"), expected = c->values[2 * n + g];
            if (fabs(lr - expected) <= 1e-15 * fabs(expected)) continue;
            printf("    %s: step %d, group %d: %.17g, torch gives %.17g\n", c->name, n, g, lr,
                   expected);
            ok = check_report(0, __FILE__, __LINE__, "rates are torch's");
        }
        if (c->touched && n == c->every) CHECK(tn_optimizer_set(o, 1, "lr", 0.09));
        ok = ok && CHECK(tn_schedule_step(s));
    }
    tn_schedule_free(s);
    tn_optimizer_free(o);
    tn_free(p[0]), tn_free(p[1]);
    return ok;
}
static void rates_around_turns_are_torchs(void) {
    for (size_t i = 0; i < sizeof rates_cases / sizeof *rates_cases; i++) {
        const rates_case *c = &rates_cases[i];
        for (int broken = -2; broken < c->steps; broken++)
            if (!rates_are(c, broken)) {
                printf("    %s, made anew before step %d\n", c->name, broken);
                break;
            }
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* The second group's rate gets negative, which is refused: the first one's stays, too. */
static double to_below(int64_t n, void *user) {
    (void)user;
    return n < 2 ? 0.5 : 1.5;
}
static double from_below(int64_t n, void *user) {
    (void)user;
    return n ? 1.0 : -1.0;
}
static bool says_negative(int line) {
    tn_error_info e = {TN_OK, "", NULL, 0};
    tn_error_take(&e);
    return e.code == TN_INVALID && e.line == line && strstr(e.message, "learning rate: -");
}
static void refused_rates_change_nothing(void) {
    tn_tensor *p[2] = {parameter(0, TN_F32), parameter(1, TN_F32)};
    tn_optimizer *o = two_groups(p);
    tn_schedule *s = tn_optim_lambda_lr(o, to_below, NULL);
    double initial[2] = {0.3, -0.7};
    CHECK(tn_schedule_step(s) && tn_schedule_resume(s, 1, initial, 2));
    for (int again = 0; again < 2; again++) {
        CHECK(!tn_schedule_step(s) && says_negative(__LINE__));
        CHECK(tn_schedule_count(s) == 1 && tn_optimizer_get(o, 0, "lr") == 0.15 &&
              tn_optimizer_get(o, 1, "lr") == 0.35);
    }
    tn_schedule_free(s);
    CHECK(!tn_optim_lambda_lr(o, from_below, NULL) && says_negative(__LINE__));
    CHECK(tn_optimizer_get(o, 0, "lr") == 0.15 && tn_optimizer_get(o, 1, "lr") == 0.35);
    tn_optimizer_free(o);
    tn_free(p[0]), tn_free(p[1]);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static const check_test tests[] = {
    CHECK_TEST(options_in_pairs_are_torchs),
    CHECK_TEST(rates_around_turns_are_torchs),
    CHECK_TEST(refused_rates_change_nothing),
};
int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
