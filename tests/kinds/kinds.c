/* kinds.c - operators of a user's own, made known at run time: one of each kind, with the public
 * header alone.
 *
 * The file is C99 and C++11; run.sh compiles it as both. A row is filled by hand, its argument
 * struct is laid out as call/schema.h says: outputs, options, required parameters, numbers. */
#include "tensor.h"
#include "../check.h"

#include <math.h>

enum { ROOM = 64 };

/* --- reading tensors without the library's own loops ------------------------------------------ */

/* Where element i, counted row-major, lies. */
static int64_t place(const tn_tensor *t, int64_t i) {
    int64_t at = 0;
    for (int d = tn_ndim(t) - 1; d >= 0; d--) {
        at += i % tn_size(t, d) * tn_stride(t, d);
        i /= tn_size(t, d);
    }
    return at;
}
static double get(const tn_tensor *t, int64_t i) {
    const void *data = tn_data(t);
    if (tn_dtype_of(t) == TN_F32) return (double)((const float *)data)[place(t, i)];
    if (tn_dtype_of(t) == TN_F64) return ((const double *)data)[place(t, i)];
    return (double)((const int64_t *)data)[place(t, i)];
}
static void put(tn_tensor *t, int64_t i, double v) {
    void *data = tn_data(t);
    if (tn_dtype_of(t) == TN_F32)
        ((float *)data)[place(t, i)] = (float)v;
    else if (tn_dtype_of(t) == TN_F64)
        ((double *)data)[place(t, i)] = v;
    else
        ((int64_t *)data)[place(t, i)] = (int64_t)v;
}
static bool floating(tn_frame *f, const tn_tensor *t) {
    if (tn_dtype_of(t) == TN_F32 || tn_dtype_of(t) == TN_F64) return true;
    return tn_fail(f, TN_TYPE, "wants float32 or float64, got %s", tn_dtype_name(tn_dtype_of(t)));
}

/* --- pointwise-like: self / (width + |self|) -------------------------------------------------- */

typedef struct tn_my_soft_args {
    tn_tensor *out;
    double width;
    tn_tensor *self;
} tn_my_soft_args;
static bool soft_check(tn_frame *f) {
    TN_ARGS(my_soft, a, f);
    if (a->width <= 0) return tn_fail(f, TN_INVALID, "width %g is not positive", a->width);
    return floating(f, f->in[0]) && tn_announce_like(f, 0, f->in[0], tn_dtype_of(f->in[0]));
}
static void soft_run(tn_frame *f) {
    TN_ARGS(my_soft, a, f);
    for (int64_t i = 0; i < tn_numel(f->in[0]); i++) {
        double x = get(f->in[0], i);
        put(f->out[0], i, x / (a->width + fabs(x)));
    }
}
static void soft_grad(tn_gradient *g) { /* width / (width + |x|)^2 */
    TN_ARGS(my_soft, a, g);
    tn_tensor *d = tnp_add_scalar(tnp_abs(g->in[0]), tn_float(a->width), 1);
    tn_give(g, 0, tnp_div(tnp_mul_scalar(g->incoming[0], tn_float(a->width)), tnp_mul(d, d)));
}

/* --- two outputs: the part above the limit and the part below --------------------------------- */

typedef struct tn_my_parts_args {
    tn_tensor *out[2];
    tn_tensor *self;
    double limit;
} tn_my_parts_args;
static bool parts_check(tn_frame *f) {
    const tn_tensor *x = f->in[0];
    return floating(f, x) && tn_announce_like(f, 0, x, tn_dtype_of(x)) &&
           tn_announce_like(f, 1, x, tn_dtype_of(x)) &&
           (!f->recording || tn_announce(f, 2, TN_BOOL, tn_ndim(x), tn_shape(x).at));
}
static void parts_run(tn_frame *f) {
    TN_ARGS(my_parts, a, f);
    for (int64_t i = 0; i < tn_numel(f->in[0]); i++) {
        double x = get(f->in[0], i);
        put(f->out[0], i, x > a->limit ? x - a->limit : 0);
        put(f->out[1], i, x > a->limit ? a->limit : x);
        if (f->recording) ((bool *)tn_data(f->out[2]))[i] = x > a->limit;
    }
}
static void parts_grad(tn_gradient *g) { /* the hidden output says where */
    tn_tensor *zero = tnp_mul_scalar(tn_incoming(g, 0), tn_int(0));
    tn_give(g, 0, tnp_where(g->out[2], tn_incoming(g, 0), zero));
    tn_give(g, 0, tnp_where(g->out[2], zero, tn_incoming(g, 1)));
}

/* --- list in: sum of i-th tensor times i + 1 -------------------------------------------------- */

typedef struct tn_my_weighted_args {
    tn_tensor *out;
    tn_tensors tensors;
} tn_my_weighted_args;
static bool weighted_check(tn_frame *f) {
    if (f->nin == 0) return tn_fail(f, TN_INVALID, "wants one tensor at least");
    for (int k = 0; k < f->nin; k++) {
        if (!floating(f, f->in[k])) return false;
        if (tn_numel(f->in[k]) != tn_numel(f->in[0]) || tn_ndim(f->in[k]) != tn_ndim(f->in[0]))
            return tn_fail(f, TN_INVALID, "tensor %d has another shape than tensor 0", k);
    }
    return tn_announce(f, 0, tn_dtype_of(f->in[0]), tn_ndim(f->in[0]), tn_shape(f->in[0]).at);
}
static void weighted_run(tn_frame *f) {
    for (int64_t i = 0; i < tn_numel(f->out[0]); i++) {
        double sum = 0;
        for (int k = 0; k < f->nin; k++) sum += (k + 1) * get(f->in[k], i);
        put(f->out[0], i, sum);
    }
}
static void weighted_grad(tn_gradient *g) {
    for (int k = 0; k < g->nin; k++)
        if (g->want[k]) tn_give(g, k, tnp_mul_scalar(g->incoming[0], tn_int(k + 1)));
}

/* --- list out: the rows as new tensors -------------------------------------------------------- */

typedef struct tn_my_rows_args {
    tn_tensor *self;
} tn_my_rows_args;
static bool rows_check(tn_frame *f) {
    const tn_tensor *x = f->in[0];
    bool ok = floating(f, x);
    if (ok && tn_ndim(x) != 2) return tn_fail(f, TN_INVALID, "wants 2 dimensions");
    ok = ok && tn_announce_count(f, tn_size(x, 0));
    for (int k = 0; ok && k < tn_size(x, 0); k++)
        ok = tn_announce(f, k, tn_dtype_of(x), 1, tn_shape(x).at + 1);
    return ok;
}
static void rows_run(tn_frame *f) {
    for (int64_t k = 0; k < f->nout; k++)
        for (int64_t i = 0; i < tn_numel(f->out[k]); i++)
            put(f->out[k], i, get(f->in[0], k * tn_numel(f->out[k]) + i));
}
static void rows_grad(tn_gradient *g) {
    tn_tensor *row[ROOM];
    for (int k = 0; k < g->nout; k++) row[k] = tn_incoming(g, k);
    tn_give(g, 0, tnp_stack(tn_tensors_of(row, g->nout), 0));
}

/* --- size by data: the elements above zero ---------------------------------------------------- */

typedef struct tn_my_positive_args {
    tn_tensor *out;
    tn_tensor *self;
} tn_my_positive_args;
static bool positive_check(tn_frame *f) {
    int64_t size[1] = {TN_UNKNOWN};
    return floating(f, f->in[0]) && tn_announce(f, 0, tn_dtype_of(f->in[0]), 1, size);
}
static bool positive_look(tn_frame *f) {
    for (int64_t i = 0; i < tn_numel(f->in[0]); i++) f->count += get(f->in[0], i) > 0;
    return true;
}
static void positive_run(tn_frame *f) {
    int64_t n = 0;
    for (int64_t i = 0; i < tn_numel(f->in[0]); i++)
        if (get(f->in[0], i) > 0) put(f->out[0], n++, get(f->in[0], i));
}

/* --- mutated: a running mean ------------------------------------------------------------------ */

typedef struct tn_my_running_args {
    tn_tensor *out;
    double momentum;
    tn_tensor *self, *mean;
} tn_my_running_args;
static bool running_check(tn_frame *f) {
    if (tn_ndim(f->in[1])) return tn_fail(f, TN_INVALID, "mean has dimensions");
    return floating(f, f->in[0]) && floating(f, f->in[1]) &&
           tn_announce_like(f, 0, f->in[0], tn_dtype_of(f->in[0]));
}
static void running_run(tn_frame *f) { /* self less the mean before, which then moves */
    TN_ARGS(my_running, a, f);
    double sum = 0, mean = get(f->in[1], 0);
    for (int64_t i = 0; i < tn_numel(f->in[0]); i++) {
        sum += get(f->in[0], i);
        put(f->out[0], i, get(f->in[0], i) - mean);
    }
    if (tn_numel(f->in[0]))
        put(f->in[1], 0, mean + a->momentum * (sum / (double)tn_numel(f->in[0]) - mean));
}
static void running_grad(tn_gradient *g) { tn_give(g, 0, g->incoming[0]); }

/* --- composed: soft(x w + b) ------------------------------------------------------------------ */

typedef struct tn_my_layer_args {
    tn_tensor *out;
    tn_tensor *bias;
    tn_tensor *input, *weight;
} tn_my_layer_args;
static bool call_one(const char *name, const tn_value *v, int n, tn_tensor **out) {
    int count;
    *out = NULL;
    return tn_call_named(__FILE__, __LINE__, name, v, n, out, 1, &count);
}
static tn_value of_tensor(const char *name, tn_tensor *t) {
    tn_value v;
    memset(&v, 0, sizeof v);
    v.type = TN_T_TENSOR, v.name = name, v.as.tensor = t;
    return v;
}
static tn_value of_float(const char *name, double x) {
    tn_value v;
    memset(&v, 0, sizeof v);
    v.type = TN_T_FLOAT, v.name = name, v.as.real = x;
    return v;
}
static tn_value of_tensors(const char *name, tn_tensor *const *at, int64_t n) {
    tn_value v;
    memset(&v, 0, sizeof v);
    v.type = TN_T_TENSORS, v.name = name, v.as.tensors = tn_tensors_of(at, n);
    return v;
}
static bool layer_compose(tn_frame *f) {
    TN_ARGS(my_layer, a, f);
    tn_tensor *y = tnp_matmul(a->input, a->weight);
    tn_value v[1];
    if (a->bias) y = tnp_add(y, a->bias, 1);
    v[0] = of_tensor(NULL, y);
    return y && call_one("my_soft", v, 1, &f->out[0]);
}

/* --- the rows --------------------------------------------------------------------------------- */

static tn_row soft, parts, weighted, rows, positive, running, layer;

static void fill_rows(void) {
    soft.name = "my_soft", soft.schema = "my_soft(Tensor self, float width=1) -> Tensor";
    soft.forms = TN_OUT | TN_INPLACE, soft.needs = "self", soft.check = soft_check,
    soft.run = soft_run, soft.grad = soft_grad;
    parts.name = "my_parts",
    parts.schema = "my_parts(Tensor self, float limit) -> (Tensor above, Tensor below)";
    parts.forms = TN_OUT, parts.saves = "where", parts.needs = "where";
    parts.check = parts_check, parts.run = parts_run, parts.grad = parts_grad;
    weighted.name = "my_weighted", weighted.schema = "my_weighted(Tensor[] tensors) -> Tensor",
    weighted.forms = TN_OUT;
    weighted.check = weighted_check, weighted.run = weighted_run, weighted.grad = weighted_grad;
    rows.name = "my_rows", rows.schema = "my_rows(Tensor self) -> Tensor[]";
    rows.check = rows_check, rows.run = rows_run, rows.grad = rows_grad;
    positive.name = "my_positive", positive.schema = "my_positive(Tensor self) -> Tensor",
    positive.forms = TN_OUT;
    positive.check = positive_check, positive.look = positive_look, positive.run = positive_run;
    running.name = "my_running",
    running.schema = "my_running(Tensor self, Tensor(a!) mean, *, float momentum=0.1) -> Tensor";
    running.forms = TN_OUT, running.check = running_check, running.run = running_run,
    running.grad = running_grad;
    layer.name = "my_layer",
    layer.schema = "my_layer(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor";
    layer.forms = TN_OUT, layer.compose = layer_compose;
}

static tn_tensor *numbers(int64_t a, int64_t b) { /* a x b, some below zero, no two alike */
    double v[ROOM];
    int64_t size[2];
    size[0] = a, size[1] = b;
    for (int i = 0; i < ROOM; i++) v[i] = 0.3 * i - 0.7 + (i % 3 == 0 ? -1 : 0);
    return tn_from_f64(v, tn_ints_of(size, 2));
}
static tn_tensor *shapes(int64_t a, int64_t b) { /* without data */
    int64_t size[2];
    size[0] = a, size[1] = b;
    return tnp_zeros(tn_ints_of(size, 2), TN_F64, TN_META);
}
static tn_tensor *number(double v) { return tn_from_f64(&v, tn_empty_dims()); }
static const char *taken(tn_error_info *e) {
    static char text[2000];
    memset(e, 0, sizeof *e);
    text[0] = 0;
    if (tn_error_take(e)) snprintf(text, sizeof text, "%s", e->message);
    return text;
}
static bool is_near(const tn_tensor *t, int64_t i, double v) {
    return t && fabs(get(t, i) - v) < 1e-12;
}

/* --- forms ------------------------------------------------------------------------------------ */

static void a_pointwise_row_has_all_forms(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2, 3), *y, *z = tnp_mul_scalar(x, tn_int(0));
        tn_value v[3];
        v[0] = of_tensor(NULL, x), v[1] = of_float("width", 2), v[2] = of_tensor("out", z);
        CHECK(call_one("my_soft", v, 1, &y) && is_near(y, 5, 0.8 / 1.8) &&
              is_near(y, 0, -1.7 / 2.7));
        CHECK(call_one("my_soft", v, 2, &y) && is_near(y, 5, 0.8 / 2.8));
        CHECK(call_one("my_soft", v, 3, &y) && y == z && is_near(z, 5, 0.8 / 2.8));
        v[1] = of_float(NULL, 2); /* by position */
        CHECK(call_one("my_soft", v, 2, &y) && is_near(y, 5, 0.8 / 2.8));
        v[0] = of_tensor(NULL, tnp_transpose(x, 0, 1)); /* strides */
        CHECK(call_one("my_soft", v, 1, &y) && tn_size(y, 0) == 3 && is_near(y, 5, 0.8 / 1.8) &&
              is_near(y, 1, -0.8 / 1.8));
        v[0] = of_tensor(NULL, x);
        int64_t version = tn_version(x);
        CHECK(call_one("my_soft_", v, 2, &y) && y == x && is_near(x, 5, 0.8 / 2.8));
        CHECK(tn_version(x) > version);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_row_is_called_through_the_door(void) { /* as the generated functions do */
    TN_SCOPE {
        tn_tensor *x = numbers(2, 2), *y = NULL;
        tn_my_soft_args a;
        tn_my_parts_args p;
        tn_tensor *two[2] = {NULL, NULL};
        memset(&a, 0, sizeof a), memset(&p, 0, sizeof p);
        CHECK_EQ(soft.gen->args_size, sizeof a);
        CHECK_EQ(parts.gen->args_size, sizeof p);
        CHECK_EQ(weighted.gen->args_size, sizeof(tn_my_weighted_args));
        CHECK_EQ(running.gen->args_size, sizeof(tn_my_running_args));
        CHECK_EQ(layer.gen->args_size, sizeof(tn_my_layer_args));
        a.self = x, a.width = 1;
        CHECK(tn_call(&soft, TN_PLAIN, __FILE__, __LINE__, &a, &y) && is_near(y, 2, -0.1 / 1.1));
        CHECK(tn_call(&soft, TN_IN_PLACE, __FILE__, __LINE__, &a, &y) && y == x &&
              is_near(x, 2, -0.1 / 1.1));
        p.self = numbers(2, 2), p.limit = -0.2;
        CHECK(tn_call(&parts, TN_PLAIN, __FILE__, __LINE__, &p, two) && is_near(two[0], 2, 0.1) &&
              is_near(two[1], 2, -0.2));
        CHECK(is_near(two[0], 0, 0) && is_near(two[1], 0, -1.7));
        p.out[0] = tnp_add(x, x, 1), p.out[1] = tnp_add(x, x, 1);
        CHECK(tn_call(&parts, TN_PLAIN, __FILE__, __LINE__, &p, two) && two[0] == p.out[0] &&
              is_near(p.out[1], 0, -1.7));
        CHECK(tn_row_named("my_soft") == &soft && tn_row_at(tn_row_count() - 1) != NULL);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void lists_go_in_and_out(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2, 3), *three[3], *out[4], *y;
        tn_value v[1];
        int n = 0;
        three[0] = three[1] = three[2] = x;
        v[0] = of_tensors(NULL, three, 3);
        CHECK(call_one("my_weighted", v, 1, &y) && is_near(y, 4, 6 * 0.5));
        v[0] = of_tensor(NULL, x);
        CHECK(tn_call_named(__FILE__, __LINE__, "my_rows", v, 1, out, 4, &n) && n == 2);
        CHECK(n == 2 && tn_numel(out[1]) == 3 && is_near(out[1], 2, 0.8));
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_size_follows_the_data(void) {
    TN_SCOPE {
        tn_tensor *y;
        tn_value v[2];
        tn_error_info e;
        v[0] = of_tensor(NULL, numbers(2, 3));
        CHECK(call_one("my_positive", v, 1, &y) && tn_numel(y) == 2 && is_near(y, 0, 0.5) &&
              is_near(y, 1, 0.8));
        v[1] = of_tensor("out", numbers(1, 2));
        CHECK(!call_one("my_positive", v, 2, &y));
        CHECK(strstr(taken(&e), "depends on data") != NULL);
        CHECK_EQ(e.code, TN_UNSUPPORTED);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_mutated_argument_moves(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2, 3), *mean = number(1), *y;
        tn_value v[3];
        int64_t version = tn_version(mean);
        v[0] = of_tensor(NULL, x), v[1] = of_tensor(NULL, mean), v[2] = of_float("momentum", 0.5);
        CHECK(call_one("my_running", v, 3, &y) && is_near(y, 5, -0.2));
        CHECK(is_near(mean, 0, 1 + 0.5 * (-1.7 / 6 - 1 + (-0.4 - 0.1 - 0.8 + 0.5 + 0.8) / 6)));
        CHECK(tn_version(mean) > version && tn_version(x) == 0);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_composed_row_calls_others(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2, 3), *w = numbers(3, 2), *b = numbers(1, 2), *y, *z;
        tn_value v[3];
        v[0] = of_tensor(NULL, x), v[1] = of_tensor(NULL, w), v[2] = of_tensor("bias", b);
        CHECK(call_one("my_layer", v, 2, &y) && call_one("my_layer", v, 3, &z));
        double dot = 0;
        for (int k = 0; k < 3; k++) dot += get(x, 3 + k) * get(w, 2 * k + 1);
        CHECK(is_near(y, 3, dot / (1 + fabs(dot))));
        dot += get(b, 1);
        CHECK(is_near(z, 3, dot / (1 + fabs(dot))));
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- meta ------------------------------------------------------------------------------------- */

static void shapes_are_known_without_data(void) {
    TN_SCOPE {
        tn_tensor *x = shapes(2, 3), *w = shapes(3, 4), *two[2], *out[4], *y;
        tn_value v[2];
        tn_error_info e;
        int n;
        v[0] = of_tensor(NULL, x), v[1] = of_float(NULL, 1);
        CHECK(call_one("my_soft", v, 1, &y) && tn_device_of(y) == TN_META && tn_size(y, 1) == 3 &&
              tn_dtype_of(y) == TN_F64);
        CHECK(tn_call_named(__FILE__, __LINE__, "my_parts", v, 2, two, 2, &n) && n == 2 &&
              tn_size(two[1], 0) == 2);
        CHECK(tn_call_named(__FILE__, __LINE__, "my_rows", v, 1, out, 4, &n) && n == 2 &&
              tn_size(out[1], 0) == 3);
        CHECK(!call_one("my_positive", v, 1, &y));
        CHECK(strstr(taken(&e), "depends on data") != NULL);
        v[1] = of_tensor(NULL, w);
        CHECK(call_one("my_layer", v, 2, &y) && tn_device_of(y) == TN_META && tn_size(y, 0) == 2 &&
              tn_size(y, 1) == 4);
        out[0] = x, out[1] = x;
        v[0] = of_tensors(NULL, out, 2);
        CHECK(call_one("my_weighted", v, 1, &y) && tn_device_of(y) == TN_META &&
              tn_size(y, 0) == 2);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- gradients -------------------------------------------------------------------------------- */

typedef struct problem {
    const char *name;
    int list; /* all inputs are one list */
} problem;
static bool problem_call(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    const problem *p = (const problem *)user;
    tn_value v[4];
    int n = 0, room = *nout;
    tn_tensor *given[4];
    for (int k = 0; k < nin && k < 4; k++) given[k] = in[k], v[n++] = of_tensor(NULL, in[k]);
    if (p->list) v[0] = of_tensors(NULL, given, nin), n = 1;
    if (strcmp(p->name, "my_parts") == 0) v[n++] = of_float(NULL, 0.1);
    if (strcmp(p->name, "my_running") == 0) v[n++] = of_tensor(NULL, number(0.5));
    return tn_call_named(__FILE__, __LINE__, p->name, v, n, out, room, nout);
}
static tn_tensor *leaf(int64_t a, int64_t b) { return tn_requires_grad(numbers(a, b)); }

static void gradients_are_right_twice(void) {
    static const problem problems[] = {{"my_soft", 0}, {"my_parts", 0},   {"my_weighted", 1},
                                       {"my_rows", 0}, {"my_running", 0}, {"my_layer", 0}};
    static const int inputs[] = {1, 1, 3, 1, 1, 2};
    for (int k = 0; k < 6; k++)
        TN_SCOPE {
            problem p = problems[k];
            tn_tensor *in[3];
            in[0] = leaf(2, 3), in[1] = p.list ? leaf(2, 3) : leaf(3, 2), in[2] = leaf(2, 3);
            CHECK(tn_gradcheck(problem_call, tn_tensors_of(in, inputs[k]), &p, NULL) ||
                  !printf("  %s\n", p.name));
            tn_error_print();
            CHECK(tn_gradgradcheck(problem_call, tn_tensors_of(in, inputs[k]), &p, NULL) ||
                  !printf("  %s\n", p.name));
            tn_error_print();
        }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_row_without_a_gradient_is_not_recorded(void) {
    TN_SCOPE {
        tn_tensor *x = leaf(2, 3), *y;
        tn_value v[1];
        tn_error_info e;
        v[0] = of_tensor(NULL, x);
        CHECK(!call_one("my_positive", v, 1, &y));
        CHECK(strstr(taken(&e), "has no gradient") != NULL);
        CHECK_EQ(e.code, TN_AUTOGRAD);
        bool before = tn_set_grad_mode(false);
        CHECK(call_one("my_positive", v, 1, &y));
        tn_set_grad_mode(before);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- record and replay ------------------------------------------------------------------------ */

static void a_recording_runs_on_rewritten_inputs(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2, 2), *w = numbers(2, 2), *mean = number(0), *y = NULL,
                  *two[2] = {NULL, NULL}, *sum = NULL, *list[2];
        tn_tensor *moved = NULL;
        tn_value v[3];
        int n;
        CHECK(tn_record_begin());
        v[0] = of_tensor(NULL, x), v[1] = of_tensor(NULL, w);
        CHECK(call_one("my_layer", v, 2, &y));
        v[0] = of_tensor(NULL, y), v[1] = of_float(NULL, 0.25);
        CHECK(tn_call_named(__FILE__, __LINE__, "my_parts", v, 2, two, 2, &n));
        list[0] = two[0], list[1] = two[1];
        v[0] = of_tensors(NULL, list, 2);
        CHECK(call_one("my_weighted", v, 1, &sum));
        v[0] = of_tensor(NULL, sum), v[1] = of_tensor(NULL, mean);
        CHECK(call_one("my_running", v, 2, &moved));
        tn_recording *r = tn_record_end();
        list[0] = list[1] = NULL; /* the recording keeps lists of its own */
        memset(v, 0, sizeof v);
        for (int round = 0; r && round < 3; round++) {
            double before = get(mean, 0), total = 0;
            int64_t allocations = tn_memory().allocations;
            for (int i = 0; i < 4; i++)
                put(x, i, 0.2 * round + 0.1 * i - 0.3), put(w, i, i == 0 || i == 3);
            CHECK(tn_replay(r));
            CHECK_EQ(tn_memory().allocations, allocations);
            for (int i = 0; i < 4; i++) {
                double in = get(x, i), s = in / (1 + fabs(in)), above = s > 0.25 ? s - 0.25 : 0,
                       below = s > 0.25 ? 0.25 : s;
                CHECK(is_near(y, i, s) && is_near(sum, i, above + 2 * below) &&
                      is_near(moved, i, above + 2 * below - before));
                total += above + 2 * below;
            }
            CHECK(is_near(mean, 0, before + 0.1 * (total / 4 - before)));
        }
        tn_recording_free(r);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_replay_refuses_another_size(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2, 3), *y = NULL;
        tn_value v[1];
        tn_error_info e;
        v[0] = of_tensor(NULL, x);
        CHECK(tn_record_begin());
        CHECK(call_one("my_positive", v, 1, &y) && tn_numel(y) == 2);
        tn_recording *r = tn_record_end();
        put(x, 5, 7);
        CHECK(tn_replay(r) && is_near(y, 1, 7));
        put(x, 0, 3); /* three are positive now */
        CHECK(!tn_replay(r));
        const char *text = taken(&e);
        CHECK(strstr(text, "my_positive") != NULL &&
              strstr(text, "has 3 entries, but 2 were recorded") != NULL);
        CHECK(is_near(y, 0, 0.5) && is_near(y, 1, 7) && tn_numel(y) == 2); /* nothing has changed */
        put(x, 0, -3), put(x, 5, 9);
        CHECK(tn_replay(r) && is_near(y, 1, 9));
        tn_recording_free(r);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void errors_name_the_row_and_the_line(void) {
    TN_SCOPE {
        tn_tensor *x = numbers(2, 3), *y, *list[2];
        tn_value v[3];
        tn_error_info e;
        int n, line;
        v[0] = of_tensor(NULL, x), v[1] = of_float(NULL, -1);
        CHECK((line = __LINE__, !tn_call_named(__FILE__, __LINE__, "my_soft", v, 2, &y, 1, &n)));
        const char *text = taken(&e);
        CHECK(strstr(text, "width -1 is not positive") &&
              strstr(text, "my_soft(self=float64 (2, 3), width=-1)"));
        CHECK_TEXT(e.file, __FILE__);
        CHECK_EQ(e.line, line);
        v[1] = of_float("with", 1);
        CHECK((line = __LINE__, !tn_call_named(__FILE__, __LINE__, "my_soft", v, 2, &y, 1, &n)));
        text = taken(&e);
        CHECK(strstr(text, "my_soft: argument 'with' does not exist") != NULL);
        CHECK_EQ(e.line, line);
        CHECK(!tn_call_named(__FILE__, __LINE__, "my_soft", v, 0, &y, 1, &n));
        CHECK(strstr(taken(&e), "argument 'self' is missing") != NULL);
        list[0] = x, list[1] = NULL;
        v[0] = of_tensors(NULL, list, 2);
        CHECK(!tn_call_named(__FILE__, __LINE__, "my_weighted", v, 1, &y, 1, &n));
        CHECK(strstr(taken(&e), "argument 'tensors' has NULL at position 1") != NULL);
        list[1] = numbers(3, 3);
        CHECK(!tn_call_named(__FILE__, __LINE__, "my_weighted", v, 1, &y, 1, &n));
        text = taken(&e);
        CHECK(strstr(text, "tensor 1 has another shape") &&
              strstr(text, "[float64 (2, 3), float64 (3, 3)]"));
        v[0] = of_tensor(NULL, x), v[1] = of_tensor(NULL, numbers(2, 3));
        CHECK((line = __LINE__, !tn_call_named(__FILE__, __LINE__, "my_layer", v, 2, &y, 1, &n)));
        text = taken(&e); /* of the inner call, at the outer line */
        CHECK(strstr(text, "in matmul(") && strstr(text, "called by my_layer"));
        CHECK_EQ(e.line, line);
        v[1] = of_tensor("out", numbers(3, 3));
        CHECK(!tn_call_named(__FILE__, __LINE__, "my_soft", v, 2, &y, 1, &n));
        CHECK(strstr(taken(&e), "out has shape (3, 3), but the result has (2, 3)") != NULL);
        CHECK(tn_call_named(__FILE__, __LINE__, "my_soft", v, 1, &y, 1, &n) && tn_ok());
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_name_is_given_once(void) {
    static tn_row again, built_in;
    tn_error_info e;
    int64_t count = tn_row_count();
    again = soft, built_in = soft;
    again.gen = NULL, built_in.gen = NULL, built_in.name = "matmul";
    CHECK(!tn_register(&again));
    CHECK(strstr(taken(&e), "an operator 'my_soft' already exists") != NULL);
    CHECK_EQ(e.code, TN_INVALID);
    CHECK(!tn_register(&built_in));
    CHECK(strstr(taken(&e), "an operator 'matmul' already exists") != NULL);
    CHECK(!tn_register(&soft)); /* the same struct */
    CHECK(strstr(taken(&e), "still exists") != NULL);
    CHECK(soft.gen != NULL && again.gen == NULL && tn_row_named("my_soft") == &soft);
    built_in.name = "not_matmul",
    built_in.schema = "matmul(Tensor self) -> Tensor"; /* torch's name counts, too */
    CHECK(!tn_register(&built_in));
    taken(&e);
    CHECK(!tn_register(NULL));
    taken(&e);
    CHECK_EQ(tn_row_count(), count);
}

static void schemas_that_do_not_parse_are_refused(void) {
    static const char *const bad[] = {
        "",
        "my_bad",
        "my_bad(",
        "my_bad()",
        "my_bad(Tensor self",
        "my_bad(Tensor self)  Tensor",
        "my_bad(Tensr self) -> Tensor",
        "my_bad(Tensor) -> Tensor",
        "my_bad(Tensor self, Tensor self) -> Tensor",
        "my_bad(Tensor self, int n=) -> Tensor",
        "my_bad(Tensor self, int n=x) -> Tensor",
        "my_bad(Tensor self, int[3 n) -> Tensor",
        "my_bad(Tensor self,, int n) -> Tensor",
        "my_bad(Tensor self) -> Tensor result, more",
        "my_bad(Tensor self) -> (Tensor a, Tensor a)",
        "my_bad(Tensor self) -> int",
        "my_bad(Tensor self) ->",
        "my_bad(Tensor(a! self) -> Tensor",
        "my_bad(Tensor self, bool b=2) -> Tensor",
        "my_bad(Tensor self, *, *, int n) -> Tensor",
        "my_bad(Tensor self, Reduction r=most) -> Tensor",
        "my-bad(Tensor self) -> Tensor",
        "my_bad(Tensor self, int n=99999999999999999999) -> Tensor",
        "my_bad(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f, "
        "Tensor g, Tensor h, Tensor i) -> Tensor"};
    static tn_row tried[sizeof bad / sizeof *bad], row;
    tn_error_info e;
    int64_t count = tn_row_count();
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tn_row *r = &tried[k];
        *r = soft;
        r->gen = NULL, r->name = "my_bad", r->schema = bad[k], r->needs = NULL;
        if (!CHECK(!tn_register(r))) printf("  \"%s\"\n", bad[k]);
        const char *text = taken(&e);
        if (!CHECK(strstr(text, "my_bad") != NULL && r->gen == NULL))
            printf("  \"%s\": %s\n", bad[k], text);
    }
    row = soft; /* what is no schema's fault */
    row.gen = NULL, row.name = "my_bad", row.schema = "my_bad(Tensor self) -> Tensor",
    row.needs = "other";
    CHECK(!tn_register(&row));
    CHECK(strstr(taken(&e), "other") != NULL);
    row.needs = NULL, row.run = NULL;
    CHECK(!tn_register(&row));
    CHECK(strstr(taken(&e), "check and run") != NULL);
    row.run = soft_run, row.name = NULL;
    CHECK(!tn_register(&row));
    taken(&e);
    CHECK_EQ(tn_row_count(), count);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void a_context_knows_its_own_rows(void) {
    tn_context *other = tn_context_new(NULL), *before;
    static tn_row own, mine;
    tn_error_info e;
    own = weighted, mine = soft;
    CHECK(other != NULL);
    before = tn_context_use(other);
    CHECK(tn_row_named("my_soft") == NULL);
    own.gen = NULL, mine.gen = NULL;
    CHECK(tn_register(&own) && tn_register(&mine));
    CHECK(tn_row_named("my_soft") == &mine);
    CHECK(!tn_register(&soft)); /* lives in the default context: it cannot have two masters */
    CHECK(taken(&e)[0] != 0);
    TN_SCOPE {
        tn_tensor *y;
        tn_value v[1];
        v[0] = of_tensor(NULL, numbers(2, 2));
        CHECK(call_one("my_soft", v, 1, &y) && is_near(y, 0, -1.7 / 2.7));
    }
    tn_context_use(before);
    tn_context_free(other);
    CHECK(own.gen == NULL && mine.gen == NULL && soft.gen != NULL &&
          tn_row_named("my_soft") == &soft);
}

#include "taken_back.h"

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_pointwise_row_has_all_forms),
        CHECK_TEST(a_row_is_called_through_the_door),
        CHECK_TEST(lists_go_in_and_out),
        CHECK_TEST(a_size_follows_the_data),
        CHECK_TEST(a_mutated_argument_moves),
        CHECK_TEST(a_composed_row_calls_others),
        CHECK_TEST(shapes_are_known_without_data),
        CHECK_TEST(gradients_are_right_twice),
        CHECK_TEST(a_row_without_a_gradient_is_not_recorded),
        CHECK_TEST(a_recording_runs_on_rewritten_inputs),
        CHECK_TEST(a_replay_refuses_another_size),
        CHECK_TEST(errors_name_the_row_and_the_line),
        CHECK_TEST(a_name_is_given_once),
        CHECK_TEST(schemas_that_do_not_parse_are_refused),
        CHECK_TEST(a_context_knows_its_own_rows),
        CHECK_TEST(an_argument_struct_is_compared),
        CHECK_TEST(a_row_is_taken_back),
        CHECK_TEST(what_is_recorded_keeps_its_row),
    };
    int failed = 0;
    fill_rows();
    failed = !tn_register(&soft) || !tn_register(&parts) || !tn_register(&weighted) ||
             !tn_register(&rows) || !tn_register(&positive) || !tn_register(&running) ||
             !tn_register(&layer);
    if (failed) tn_error_print();
    failed += CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed != 0;
}
