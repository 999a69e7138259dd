/* misuse.c - what one does wrong, and what one reads: code, operator, arguments with shapes, and
 * the user's line, exactly. After each error nothing has changed and the next call works. C99 and,
 * where no keyword is used, C++11. */
#include "tensor.h"
#include "tensor_nn.h"
#include "../check.h"

#include <math.h>

#ifdef __cplusplus
#define NO_KEYWORDS 1
#endif

/* --- the check of one error ------------------------------------------------------------------- */

static tn_error_info got;
static char got_text[2400];
static int64_t live_before;

/* 1 when the pending error has that code and place, and its message every part of "part|part". */
static int is_error(tn_code code, int line, const char *parts) {
    char wanted[600], *part, *next;
    int ok = 1;
    memset(&got, 0, sizeof got);
    got_text[0] = 0;
    if (!tn_error_take(&got)) return printf("  no error; wanted: %s\n", parts), 0;
    snprintf(got_text, sizeof got_text, "%s", got.message);
    if (got.code != code)
        ok = !printf("  code '%s', wanted '%s'\n", tn_code_name(got.code), tn_code_name(code));
    if (!got.file || strcmp(got.file, __FILE__))
        ok = !printf("  file %s\n", got.file ? got.file : "(none)");
    if (got.line != line) ok = !printf("  line %d, wanted %d\n", got.line, line);
    snprintf(wanted, sizeof wanted, "%s", parts);
    for (part = wanted; part; part = next) {
        next = strchr(part, '|');
        if (next) *next++ = 0;
        if (!strstr(got_text, part)) ok = !printf("  not said: %s\n", part);
    }
    if (!ok) printf("  the message: %s\n", got_text);
    if (!tn_ok()) ok = !printf("  an error is left\n");
    if (tn_memory().live_tensors != live_before)
        ok = !printf("  %d tensors more than before\n",
                     (int)(tn_memory().live_tensors - live_before));
    tn_tensor *works = tnp_zeros(tn_empty_dims(), TN_F32, TN_CPU); /* the next call */
    if (!works || !tnp_add(works, works, 1))
        ok = !printf("  the next call fails\n"), tn_error_take(NULL);
    return ok;
}
/* The call must give NULL, false or 0 and leave this error, at this line. */
#define BAD(call, code, parts)                  \
    do {                                        \
        int64_t mark_ = tn_scope_begin();       \
        live_before = tn_memory().live_tensors; \
        CHECK(!(call));                         \
        tn_scope_end(mark_);                    \
        mark_ = tn_scope_begin();               \
        CHECK(is_error(code, __LINE__, parts)); \
        tn_scope_end(mark_);                    \
    } while (0)

static const int64_t two_three[] = {2, 3}, three_four[] = {3, 4};
static tn_ints dims(const int64_t *at, int64_t n) { return tn_ints_of(at, n); }
static tn_tensor *zeros(const int64_t *at, tn_dtype dtype) {
    return tnp_zeros(dims(at, 2), dtype, TN_CPU);
}
static tn_tensor *leaf(void) { return tn_requires_grad(zeros(two_three, TN_F32)); }
static double first(tn_tensor *t) { return (double)*(const float *)tn_data(t); }

#ifndef NO_KEYWORDS
/* --- arguments -------------------------------------------------------------------------------- */

static void shapes_that_do_not_fit_are_shown(void) {
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32), *b = zeros(three_four, TN_F32),
                  *i = tn_zeros(TN_DIMS(2), .dtype = TN_I64);
        BAD(tn_add(a, b), TN_INVALID,
            "add(self=float32 (2, 3), other=float32 (3, 4))|(2, 3)|(3, 4)");
        BAD(tn_matmul(b, a), TN_INVALID, "matmul(|float32 (3, 4)|float32 (2, 3)");
        BAD(tn_cat(TN_LIST(a, b), .dim = 0), TN_INVALID,
            "cat(tensors=[float32 (2, 3), float32 (3, 4)]");
        BAD(tn_view(a, TN_DIMS(4, 2)), TN_INVALID, "view(self=float32 (2, 3), size=[4, 2])");
        BAD(tn_conv2d(a, b), TN_INVALID,
            "4D (batched) input|conv2d(input=float32 (2, 3), weight=float32 (3, 4)");
        BAD(tn_linear(a, b), TN_INVALID, "linear|float32 (2, 3)|(3, 4)");
        BAD(tn_cross_entropy(a, tn_zeros(TN_DIMS(5), .dtype = TN_I64)), TN_INVALID,
            "cross_entropy|float32 (2, 3)|int64 (5)");
        BAD(tn_where(tn_zeros(TN_DIMS(5), .dtype = TN_BOOL), a, a), TN_INVALID,
            "where(|bool (5)|float32 (2, 3)");
        BAD(tn_expand(a, TN_DIMS(2, 4)), TN_INVALID, "expand(self=float32 (2, 3), size=[2, 4])");
        BAD(tn_index_select(a, 0, a), TN_INDEX,
            "vector|index_select(self=float32 (2, 3), dim=0, index=float32 (2, 3))");
        BAD(tn_index_select(a, 0, tn_full(TN_DIMS(2), 7, .dtype = TN_I64)), TN_INDEX,
            "7|index_select(|int64 (2)");
        BAD(tn_embedding(a, tn_full(TN_DIMS(2), -1, .dtype = TN_I64)), TN_INDEX, "-1|embedding(");
        BAD(tn_gather(a, 5, i), TN_INDEX, "gather(|5");
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void missing_tensors_are_named(void) {
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32), *none = NULL;
        BAD(tn_add(a, none), TN_INVALID,
            "argument 'other' is NULL|add(self=float32 (2, 3), other=None)");
        BAD(tn_relu(none), TN_INVALID, "argument 'self' is NULL|relu(self=None)");
        BAD(tn_cat(TN_LIST(a, none)), TN_INVALID, "argument 'tensors' has NULL at position 1|cat(");
        BAD(tn_linear(a, none), TN_INVALID, "argument 'weight' is NULL|linear(");
        BAD(tn_backward(none), TN_INVALID, "backward|NULL");
    }
}

static void dims_and_sizes_out_of_range_are_named(void) {
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32);
        BAD(tn_sum(a, .dim = TN_DIMS(2)), TN_INDEX, "but got 2|sum(self=float32 (2, 3), dim=[2])");
        BAD(tn_sum(a, .dim = TN_DIMS(0, -2)), TN_INVALID, "dim 0 appears multiple times|sum(");
        BAD(tn_softmax(a, -3), TN_INDEX, "-3|softmax(self=float32 (2, 3), dim=-3)");
        BAD(tn_transpose(a, 0, 2), TN_INDEX, "transpose(self=float32 (2, 3)|2");
        BAD(tn_select(a, 0, 2), TN_INDEX, "select(self=float32 (2, 3), dim=0, index=2)");
        BAD(tn_zeros(TN_DIMS(2, -3)), TN_INVALID, "-3|zeros(size=[2, -3])");
        BAD(tn_zeros(TN_DIMS(INT64_MAX, INT64_MAX)), TN_INVALID,
            "too large|zeros(size=[9223372036854775807, 9223372036854775807])");
        BAD(tn_zeros(TN_DIMS((int64_t)1 << 60)), TN_INVALID,
            "too large|zeros(size=[1152921504606846976])");
        BAD(tn_zeros(TN_DIMS((int64_t)1 << 50)), TN_MEMORY,
            "out of memory|zeros(size=[1125899906842624])");
        BAD(tn_zeros(TN_DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)), TN_INVALID,
            "zeros(|17|16");
        BAD(tn_arange(INFINITY), TN_INVALID, "arange(");
        BAD(tn_topk(a, 4).values, TN_INVALID, "topk(self=float32 (2, 3), k=4");
        BAD(tn_cumprod(a, 2), TN_INDEX, "got 2|cumprod(self=float32 (2, 3), dim=2");
        BAD(tn_dropout(a, 2, true), TN_INVALID, "2|dropout(input=float32 (2, 3), p=2");
        BAD(tn_sum(a, .dim = (tn_ints){0}), TN_INVALID, "argument 'dim'|empty struct|sum(");
        BAD(tn_full(TN_DIMS(2), 1, .dtype = (tn_dtype)99), TN_INVALID, "'dtype'|99|full(");
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void searches_that_cannot_be_are_named(void) {
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32), *edges = tn_arange(3);
        tn_tensor *low = tn_add_scalar(edges, -1), *high = tn_add_scalar(edges, 1);
        BAD(tn_searchsorted(edges, a, .sorter = high), TN_INDEX,
            "sorter index out of range|3 among 3|searchsorted(sorted_sequence=int64 (3)");
        BAD(tn_searchsorted(edges, a, .sorter = low), TN_INDEX, "-1 among 3");
        BAD(tn_searchsorted(edges, tn_empty(TN_DIMS(0)), .sorter = high), TN_INDEX, "3 among 3");
        BAD(tn_searchsorted(edges, a, .sorter = tnp_slice(edges, 0, 0, 2, 1)), TN_INVALID,
            "must have the same size|(3)|(2)");
        BAD(tn_searchsorted(edges, a, .sorter = tn_to_dtype(edges, TN_I32)), TN_TYPE,
            "sorter must be a tensor of long dtype|int32");
        BAD(tn_searchsorted(edges, a, .side = "middle"), TN_INVALID,
            "side can only be \"left\" or \"right\" but got middle");
        BAD(tn_searchsorted(edges, a, .side = "left", .right = true), TN_INVALID,
            "side and right can't be set to opposites, got side of left while right was True");
        BAD(tn_searchsorted(a, tn_empty(TN_DIMS(3, 3))), TN_INVALID,
            "the first N-1 dimensions|(2, 3)|(3, 3)");
        BAD(tn_searchsorted_scalar(a, 1), TN_INVALID, "only when boundaries tensor dimension is 1");
        BAD(tn_searchsorted(tn_select(edges, 0, 0), edges), TN_INVALID, "positive dimension");
        BAD(tn_searchsorted(edges, a, .out = zeros(two_three, TN_I32)), TN_TYPE,
            "output tensor's dtype is wrong|int32|out_int32 is False");
        BAD(tn_bucketize(edges, a), TN_INVALID, "boundaries tensor must be 1 dimension|dim(2)");
        BAD(tn_bucketize(zeros(two_three, TN_C64), edges), TN_TYPE, "not defined for complex64");
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void wrong_dtypes_are_named(void) {
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32), *c = zeros(two_three, TN_C64),
                  *i = zeros(two_three, TN_I64);
        tn_tensor *small = zeros(two_three, TN_F8E4M3);
        BAD(tn_bitwise_and(a, a), TN_TYPE, "float32|bitwise_and(self=float32 (2, 3)");
        BAD(tn_lt(c, c), TN_TYPE, "complex64|lt(self=complex64 (2, 3)");
        BAD(tn_var(i), TN_TYPE, "int64|var(self=int64 (2, 3))");
        BAD(tn_add_(i, a), TN_TYPE, "float32|int64|add(self=int64 (2, 3), other=float32 (2, 3))");
        BAD(tn_add(small, small), TN_TYPE, "float8_e4m3fn|add(");
        BAD(tn_requires_grad(i), TN_TYPE, "int64");
        BAD(tn_matmul(a, tn_zeros(TN_DIMS(3, 2), .dtype = TN_F64)), TN_TYPE,
            "matmul(|float64 (3, 2)");
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void outputs_that_do_not_fit_are_named(void) {
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32), *b = zeros(three_four, TN_F32),
                  *one = tn_full(TN_DIMS(1, 3), 7.0);
        tn_tensor *wide = tn_expand(one, TN_DIMS(2, 3)), *x = leaf(), *i = zeros(two_three, TN_I64);
        BAD(tn_add(a, a, .out = b), TN_INVALID,
            "out has shape (3, 4), but the result has (2, 3)|add(");
        BAD(tn_add(a, a, .out = i), TN_TYPE, "float32|int64|add(");
        BAD(tn_add(a, a, .out = wide), TN_INVALID, "element of out refers to a single memory|add(");
        BAD(tn_add_(wide, a), TN_INVALID,
            "element of self refers to a single memory|add(self=float32 (2, 3)");
        BAD(tn_add(a, a, .out = x), TN_AUTOGRAD, "out= does not support gradients|add(");
        BAD(tn_add_(x, a), TN_AUTOGRAD, "leaf that requires grad|add(self=float32 (2, 3)");
        BAD(tn_add_(tn_select(x, 0, 1), tn_select(a, 0, 1)), TN_AUTOGRAD, "view of a leaf|add(");
        BAD(tn_sum(a, .out = a), TN_INVALID, "out has shape (2, 3), but the result has ()|sum(");
        BAD(tn_mul_(one, a), TN_INVALID, "self has shape (1, 3), but the result has (2, 3)|mul(");
        BAD(tn_max_dim(a, 1, .out = {zeros(two_three, TN_F32), NULL}).values, TN_INVALID,
            "all 2 results|max_dim(");
        CHECK(first(one) == 7 && first(a) == 0 && first(x) == 0);
        CHECK(tn_version(a) == 0 && tn_version(b) == 0 && tn_version(one) == 0 &&
              tn_version(x) == 0);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void memory_of_others_is_guarded(void) {
    float data[6] = {1, 2, 3, 4, 5, 6};
    tn_wrap_options o;
    memset(&o, 0, sizeof o);
    o.read_only = true;
    TN_SCOPE {
        tn_tensor *r = tn_wrap(data, TN_DIMS(2, 3), TN_F32, &o), *a = zeros(two_three, TN_F32);
        BAD(tn_zero_(r), TN_INVALID, "read-only|zero");
        BAD(tn_add(a, a, .out = r), TN_INVALID, "read-only|add(");
        CHECK(data[0] == 1);
        o.bytes = 20;
        BAD(tn_wrap(data, TN_DIMS(2, 3), TN_F32, &o), TN_INVALID, "20");
        BAD(tn_wrap(data, TN_DIMS(2, -3), TN_F32, NULL), TN_INVALID, "-3");
        BAD(tn_from_f32(data, TN_DIMS(INT64_MAX, 2)), TN_INVALID, "9223372036854775807");
        BAD(tn_wrap(NULL, TN_DIMS(2, 3), TN_F32, NULL), TN_INVALID, "NULL");
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- by name ---------------------------------------------------------------------------------- */

static void calls_by_name_say_what_does_not_fit(void) {
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32), *out[2], *members[100];
        tn_value v[2], many[100];
        int n;
        memset(v, 0, sizeof v);
        memset(many, 0, sizeof many);
        v[0].type = TN_T_TENSOR, v[0].as.tensor = a;
        v[1].type = TN_T_INT, v[1].as.integer = 0;
        for (int k = 0; k < 100; k++) many[k] = v[0], members[k] = a;
        BAD(tn_call_named(__FILE__, __LINE__, "no_such_row", v, 1, out, 2, &n), TN_INVALID,
            "operator 'no_such_row' does not exist");
        BAD(tn_call_named(__FILE__, __LINE__, "", v, 1, out, 2, &n), TN_INVALID, "does not exist");
        BAD(tn_call_named(__FILE__, __LINE__, "_", v, 1, out, 2, &n), TN_INVALID, "does not exist");
        BAD(tn_call_named(__FILE__, __LINE__, NULL, v, 1, out, 2, &n), TN_INVALID, "operator");
        BAD(tn_call_named(__FILE__, __LINE__, "relu", many, 100, out, 2, &n), TN_TYPE,
            "relu|positional");
        BAD(tn_call_named(__FILE__, __LINE__, "relu", v, 0, out, 2, &n), TN_TYPE,
            "relu|'self' is missing");
        v[1].name = "dimm";
        BAD(tn_call_named(__FILE__, __LINE__, "softmax", v, 2, out, 2, &n), TN_TYPE,
            "softmax|argument 'dimm' does not exist");
        v[1].name = "self";
        BAD(tn_call_named(__FILE__, __LINE__, "relu", v, 2, out, 2, &n), TN_TYPE,
            "relu|given twice");
        v[1].name = "dim", v[1].type = TN_T_STRING, v[1].as.string = "two";
        BAD(tn_call_named(__FILE__, __LINE__, "softmax", v, 2, out, 2, &n), TN_TYPE,
            "softmax|argument 'dim': expected an int");
        v[1].name = "dim", v[1].type = TN_T_INT, v[1].as.integer = 0;
        BAD(tn_call_named(__FILE__, __LINE__, "max_dim", v, 2, out, 1, &n), TN_INVALID,
            "max_dim|room for only 1");
        BAD(tn_call_named(__FILE__, __LINE__, "unbind", v, 1, out, 1, &n), TN_INVALID,
            "unbind|got 2 results, but there is room for only 1");
        v[1].name = "out", v[1].type = TN_T_TENSORS, v[1].as.tensors = tn_tensors_of(members, 100);
        BAD(tn_call_named(__FILE__, __LINE__, "relu", v, 2, out, 2, &n), TN_TYPE,
            "relu|out= expects 1");
        BAD(tn_call_named(__FILE__, __LINE__, "matmul_", v, 1, out, 2, &n), TN_INVALID, "matmul_");
        v[1].name = NULL, v[1].type = 99;
        BAD(tn_call_named(__FILE__, __LINE__, "softmax", v, 2, out, 2, &n), TN_TYPE,
            "softmax|'dim'");
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- gradients -------------------------------------------------------------------------------- */

static tn_tensor *refusing(tn_tensor *grad, void *user) {
    (void)grad;
    tn_error_set(TN_INVALID, (const char *)user, 77, "the hook does not want this");
    return NULL;
}

static void backward_names_its_line_and_the_forward_line(void) {
    char where[100];
    TN_SCOPE {
        tn_tensor *x = leaf(), *h = tn_mul_scalar(x, 2), *y = tn_sum(tn_mul(h, h));
        int forward = __LINE__ - 1;
        tn_add_scalar_(h, 1);
        snprintf(where, sizeof where, "modified in place|forward call: mul at %s:%d", __FILE__,
                 forward);
        BAD(tn_backward(y), TN_AUTOGRAD, where);
        CHECK(tn_grad_of(x) == NULL);
    }
    TN_SCOPE {
        tn_tensor *x = leaf(), *y = tn_sum(tn_mul(x, x));
        int forward = __LINE__ - 1;
        CHECK(tn_backward(y) && first(tn_grad_of(x)) == 0);
        int64_t version = tn_version(tn_grad_of(x));
        snprintf(where, sizeof where, "second time|retain_graph|%s:%d", __FILE__, forward);
        BAD(tn_backward(y), TN_AUTOGRAD, where);
        CHECK_EQ(tn_version(tn_grad_of(x)), version);
    }
    TN_SCOPE {
        tn_tensor *x = leaf(), *y = tn_mul(x, x), *z = zeros(two_three, TN_F32);
        BAD(tn_backward(y), TN_AUTOGRAD, "backward|(2, 3)");
        BAD(tn_backward(z), TN_AUTOGRAD, "backward|require");
        BAD(tn_backward(y, .gradient = zeros(three_four, TN_F32)), TN_AUTOGRAD,
            "backward|(3, 4)|(2, 3)");
        CHECK(tn_hook_add(y, refusing, (void *)(uintptr_t) "elsewhere.c", NULL));
        BAD(tn_backward(tn_sum(y)), TN_INVALID, "the hook does not want this");
        CHECK(tn_grad_of(x) == NULL);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- contexts --------------------------------------------------------------------------------- */

static void contexts_are_not_mixed(void) {
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32), *b = NULL, *members[2];
        tn_context *other = tn_context_new(NULL), *before = tn_context_use(other);
        b = tn_hold(zeros(two_three, TN_F32));
        tn_context_use(before);
        members[0] = a, members[1] = b;
        BAD(tn_add(a, b), TN_INVALID,
            "another context|add(self=float32 (2, 3), other=float32 (2, 3))");
        BAD(tn_add(a, a, .out = b), TN_INVALID, "out belongs to another context|add(");
        BAD(tn_cat(tn_tensors_of(members, 2)), TN_INVALID, "another context|cat(");
        BAD(tn_relu_(b), TN_INVALID, "another context|relu(");
        CHECK(first(a) == 0 && tn_version(b) == 0);
        tn_context_use(other);
        tn_free(b);
        tn_context_use(before);
        tn_context_free(other);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void the_first_error_stays(void) {
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32), *b = zeros(three_four, TN_F32);
        tn_tensor *y = tn_add(a, b);
        int line = __LINE__ - 1; /* what follows gives NULL and no other error */
        live_before = tn_memory().live_tensors;
        CHECK(tn_relu(tn_mul(y, tn_zeros(TN_DIMS(2)))) == NULL && tn_sum(a) == NULL &&
              !tn_backward(a));
        CHECK(is_error(TN_INVALID, line, "add(self=float32 (2, 3), other=float32 (3, 4))"));
    }
}

static int told, told_line;
static void listener(const tn_error_info *e, void *user) {
    told += strstr(e->message, (const char *)user) != NULL;
    told_line = e->line;
}
static void a_handler_hears_each_error_once(void) {
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32), *b = zeros(three_four, TN_F32);
        static char what[] = "linear";
        told = 0;
        tn_set_error_handler(listener, what);
        BAD(tn_linear(a, b), TN_INVALID, "linear");
        int line = __LINE__ - 1;
        CHECK_EQ(told, 1);
        CHECK_EQ(told_line, line);
        tn_set_error_handler(NULL, NULL);
    }
}

/* --- modules ---------------------------------------------------------------------------------- */

static void modules_name_their_place(void) {
    char where[120];
    tn_module *net = tn_sequential(
        tn_nn_linear(3, 4), tn_sequential(tn_nn_relu(), tn_nn_linear(5, 2)), tn_nn_flatten());
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32), *b = zeros(three_four, TN_F32), *none = NULL;
        BAD(tn_forward(net, b), TN_INVALID, "Linear|(3, 4)|0");
        BAD(tn_forward(net, a), TN_INVALID, "Linear|(2, 4)|1.1"); /* the path of the module */
        BAD(tn_forward(net, none), TN_INVALID, "input|NULL");
        BAD(tn_forward(NULL, a), TN_INVALID, "NULL");
        BAD(tn_forward(net, zeros(two_three, TN_I64)), TN_TYPE, "int64 (2, 3)");
    }
    tn_module_free(net);
    net = tn_nn_linear(3, 2);
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32), *h = tn_sigmoid(tn_forward(net, a)), *y;
        int forward = __LINE__ - 1;
        y = tn_sum(h);
        tn_mul_scalar_(h, 2);
        snprintf(where, sizeof where, "modified in place|sigmoid at %s:%d", __FILE__, forward);
        BAD(tn_backward(y), TN_AUTOGRAD, where);
    }
    TN_SCOPE {
        tn_tensor *w = tn_module_tensor(net, "weight"),
                  *a = tn_requires_grad(zeros(two_three, TN_F32));
        tn_tensor *y = tn_sum(tn_forward(net, a));
        int forward = __LINE__ - 1; /* a call inside the module is at this line */
        bool before = tn_set_grad_mode(false);
        tn_add_scalar_(w, 1);
        tn_set_grad_mode(before);
        snprintf(where, sizeof where, "modified in place|%s:%d", __FILE__, forward);
        BAD(tn_backward(y), TN_AUTOGRAD, where);
    }
    tn_module_free(net);
    BAD(tn_nn_linear(-3, 2), TN_INVALID, "in_features|-3");
    BAD(tn_nn_linear(INT64_MAX, 2), TN_INVALID, "Linear|9223372036854775807");
    BAD(tn_nn_linear((int64_t)1 << 31, (int64_t)1 << 33), TN_INVALID, "Linear|too large");
    BAD(tn_nn_linear((int64_t)1 << 25, (int64_t)1 << 25), TN_MEMORY, "Linear|out of memory");
    BAD(tn_nn_conv2d(3, 4, TN_DIMS(3), .groups = 2), TN_INVALID, "groups");
    BAD(tn_nn_conv2d(4, 4, TN_DIMS(3), .groups = 0), TN_INVALID, "groups");
    BAD(tn_nn_dropout(.p = 1.5), TN_INVALID, "1.5");
    BAD(tn_nn_batch_norm2d(-1), TN_INVALID, "num_features|-1");
    BAD(tn_sequential(tn_nn_relu(), NULL), TN_INVALID, "NULL");
    BAD(tn_sequential(tn_nn_linear(-1, 1), tn_nn_relu()), TN_INVALID, "in_features|-1");
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void optimizers_name_their_options(void) {
    tn_module *net = tn_nn_linear(3, 2);
    BAD(tn_optim_sgd(tn_parameters(net), .lr = -1), TN_INVALID, "lr|-1");
    BAD(tn_optim_adam(tn_parameters(net), .lr = -1), TN_INVALID, "lr|-1");
    BAD(tn_optim_sgd(tn_tensors_of(NULL, 0), .lr = 1), TN_INVALID, "param");
    tn_module_free(net);
    CHECK_EQ(tn_memory().live_tensors, 0);
}
#endif

/* --- C and C++ -------------------------------------------------------------------------------- */

static void reading_is_checked(void) {
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32),
                  *c = tnp_full(tn_empty_dims(), tn_complex(1, 2), TN_C64, TN_CPU);
        float to[6];
        CHECK(tn_item(a) == 0 && tn_error_take(&got) && got.code == TN_INVALID &&
              strstr(got.message, "(2, 3)"));
        CHECK(tn_item(c) == 0 && tn_error_take(&got) && got.code == TN_TYPE);
        CHECK(!tn_read_f32(a, to, 5) && tn_error_take(&got) && got.code == TN_INVALID);
        CHECK(!tn_read_f32(NULL, to, 5) && tn_error_take(&got));
        CHECK(tn_size(a, 2) == 0 && tn_error_take(&got));
        CHECK(tn_size(a, -3) == 0 && tn_error_take(&got));
        CHECK(tn_size(NULL, 0) == 0 && tn_numel(NULL) == 0 && tn_ndim(NULL) == 0 &&
              tn_data(NULL) == NULL);
        tn_error_take(NULL);
        CHECK(tn_ok());
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}

#ifdef __cplusplus
static void overloads_know_their_line(void) {
    TN_SCOPE {
        tn_tensor *a = zeros(two_three, TN_F32), *b = zeros(three_four, TN_F32), *none = nullptr;
        BAD(tn_add(a, b), TN_INVALID, "add(self=float32 (2, 3), other=float32 (3, 4))");
        BAD(tn_add(a, none), TN_INVALID, "argument 'other' is NULL|add(");
        BAD(tn_sum(a, {2}), TN_INDEX, "but got 2|sum(self=float32 (2, 3), dim=[2])");
        BAD(tn_softmax(a, -3), TN_INDEX, "-3|softmax(");
        BAD(tn_cat({a, b}, 0), TN_INVALID, "cat(tensors=[float32 (2, 3), float32 (3, 4)]");
        BAD(tn_zeros({2, -3}), TN_INVALID, "-3|zeros(");
        BAD(tn_view(a, {4, 2}), TN_INVALID, "view(self=float32 (2, 3), size=[4, 2])");
        BAD(tn_add_(leaf(), a), TN_AUTOGRAD, "leaf that requires grad|add(");
        BAD(tn_max(a, 5).values, TN_INDEX, "max_dim(self=float32 (2, 3), dim=5)");
        BAD(tn_linear(a, b), TN_INVALID, "linear|(3, 4)");
        tn_tensor *x = leaf(), *y = tn_sum(tn_mul(x, x));
        int forward = __LINE__ - 1;
        tn_backward_args back;
        char where[120];
        memset(&back, 0, sizeof back);
        back.t = y;
        CHECK(tn_backward_at(__FILE__, __LINE__, &back));
        snprintf(where, sizeof where, "second time|%s:%d", __FILE__, forward);
        BAD(tn_backward_at(__FILE__, __LINE__, &back), TN_AUTOGRAD, where);
    }
    CHECK_EQ(tn_memory().live_tensors, 0);
}
static void modules_know_their_line(void) {
    tn_module *net = tn_nn_linear(3, 4);
    TN_SCOPE {
        BAD(tn_forward(net, zeros(three_four, TN_F32)), TN_INVALID, "Linear|(3, 4)");
        BAD(tn_nn_linear(-3, 4), TN_INVALID, "in_features|-3");
    }
    tn_module_free(net);
    CHECK_EQ(tn_memory().live_tensors, 0);
}
#endif

int main(int argc, char **argv) {
    static const check_test tests[] = {
#ifndef NO_KEYWORDS
        CHECK_TEST(shapes_that_do_not_fit_are_shown),
        CHECK_TEST(missing_tensors_are_named),
        CHECK_TEST(dims_and_sizes_out_of_range_are_named),
        CHECK_TEST(searches_that_cannot_be_are_named),
        CHECK_TEST(wrong_dtypes_are_named),
        CHECK_TEST(outputs_that_do_not_fit_are_named),
        CHECK_TEST(memory_of_others_is_guarded),
        CHECK_TEST(calls_by_name_say_what_does_not_fit),
        CHECK_TEST(backward_names_its_line_and_the_forward_line),
        CHECK_TEST(contexts_are_not_mixed),
        CHECK_TEST(the_first_error_stays),
        CHECK_TEST(a_handler_hears_each_error_once),
        CHECK_TEST(modules_name_their_place),
        CHECK_TEST(optimizers_name_their_options),
#else
        CHECK_TEST(overloads_know_their_line),
        CHECK_TEST(modules_know_their_line),
#endif
        CHECK_TEST(reading_is_checked),
    };
    int failed;
    (void)first;
    failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
