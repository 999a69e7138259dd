/* gradcheck.c - promises of autograd/check.c: what is right passes, and one wrong element of one
 * gradient is found, named and measured, wherever it stands. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>

/* x * y + x * x, with gradients that are wrong by `by` at element `at` of input `input`: a term
 * c * (x - detach(x)) is 0 for every x, but has gradient c. */
typedef struct wrongness {
    int input;
    int64_t at;
    double by, imaginary;
    enum { ONE, SEVERAL, CONSTANT, FAILS, SILENT, EMPTY } kind;
} wrongness;

static tn_tensor *fault(const wrongness *w, tn_tensor *x) {
    bool pairs = tn_dtype_of(x) == TN_C128;
    tn_tensor *c = tnp_zeros(tn_shape(x), tn_dtype_of(x), TN_CPU);
    ((double *)tn_data(c))[w->at * (pairs ? 2 : 1)] = w->by;
    if (pairs) ((double *)tn_data(c))[w->at * 2 + 1] = w->imaginary;
    return tnp_mul(c, tnp_sub(x, tnp_detach(x), 1));
}

static bool product(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    const wrongness *w = (const wrongness *)user;
    tn_tensor *x[2];
    int n = 0;
    for (int i = 0; i < 2; i++) {
        x[i] = in[i < nin ? i : 0];
        if (w->kind == CONSTANT) x[i] = tnp_detach(x[i]);
    }
    if (w->kind == FAILS) return tn_error_set(TN_INVALID, "f.c", 1, "no");
    if (w->kind == SILENT) return false;
    if (w->kind == EMPTY) return *nout = 0, true;
    if (w->kind == SEVERAL) {
        out[n++] = tnp_zeros(TN_DIMS(3), TN_I64, TN_CPU);
        out[n++] = NULL;
        out[n++] = tn_full(TN_DIMS(2, 2), 3);
        out[n++] = tnp_mul(x[0], x[0]);
    }
    out[n++] = tnp_add(tnp_mul(x[0], x[1]), tnp_mul(x[0], x[0]), 1);
    if (w->input >= 0) out[n - 1] = tnp_add(out[n - 1], fault(w, x[w->input]), 1);
    *nout = n;
    return out[n - 1] != NULL;
}

static tn_tensor *leaf(tn_dtype dtype, double from) {
    tn_tensor *t = tnp_empty(TN_DIMS(2, 3), dtype, TN_CPU);
    for (int i = 0; i < (dtype == TN_C128 ? 12 : 6); i++)
        ((double *)tn_data(t))[i] = from + 0.75 * i - 2.5 * (i % 2);
    return tn_requires_grad(t);
}

static tn_error_info e;
static bool passes(tn_tensor *x, tn_tensor *y, const wrongness *w) {
    tn_tensor *in[2];
    in[0] = x, in[1] = y;
    bool ok = tn_gradcheck(product, tn_tensors_of(in, y ? 2 : 1), (void *)w, NULL);
    CHECK(ok == tn_ok());
    e.message = "";
    if (!ok) tn_error_take(&e);
    return ok;
}

static void right_gradients_pass(void) {
    wrongness w = {-1, 0, 0, 0, ONE};
    for (int kind = ONE; kind <= SEVERAL; kind++)
        for (int complex = 0; complex < 2; complex++)
            TN_SCOPE {
                tn_dtype dtype = complex ? TN_C128 : TN_F64;
                tn_tensor *x = leaf(dtype, 1), *y = leaf(dtype, -2);
                tn_tensor *was = tn_clone(tnp_detach(x));
                w.kind = kind == ONE ? ONE : SEVERAL;
                if (!CHECK(passes(x, y, &w))) printf("    %s\n", e.message);
                CHECK(passes(x, NULL, &w));
                CHECK(!memcmp(tn_data(x), tn_data(was), complex ? 96 : 48)); /* put back */
                CHECK(!tn_grad_of(x) && tn_grad_mode());
            }
}

/* The message's "input 1, element 4", and that the numbers differ by the weight's share of `by`. */
static void check_message(const wrongness *w, double by) {
    char where[60];
    const char *at;
    double has, slope;
    snprintf(where, sizeof where, "input %d, element %d", w->input, (int)w->at);
    CHECK(e.code == TN_AUTOGRAD && strstr(e.message, where) != NULL);
    at = strstr(e.message, "the gradient is ");
    if (!CHECK(at &&
               sscanf(at, "the gradient is %lf, finite differences give %lf", &has, &slope) == 2))
        return;
    if (!CHECK(fabs(has - slope) > 0.49 * by && fabs(has - slope) < 1.51 * by))
        printf("    %s\n", e.message);
}

static void one_wrong_element_is_found_wherever_it_stands(void) {
    for (int input = 0; input < 2; input++)
        for (int at = 0; at < 6; at++)
            TN_SCOPE {
                wrongness w = {input, at, 1e-3, 0, at % 2 ? SEVERAL : ONE};
                CHECK(!passes(leaf(TN_F64, 1), leaf(TN_F64, -2), &w));
                check_message(&w, 1e-3);
                w.by = -1e-3;
                CHECK(!passes(leaf(TN_F64, 1), leaf(TN_F64, -2), &w));
                w.by = 1e-10;
                CHECK(passes(leaf(TN_F64, 1), leaf(TN_F64, -2), &w));
            }
}

static void a_wrong_complex_gradient_is_found_in_both_parts(void) {
    for (int input = 0; input < 2; input++)
        for (int at = 0; at < 6; at++)
            TN_SCOPE {
                wrongness w = {input, at, 1e-3, 0, ONE};
                CHECK(!passes(leaf(TN_C128, 1), leaf(TN_C128, -2), &w));
                check_message(&w, 1e-3);
                w.by = 0, w.imaginary = 1e-3;
                CHECK(!passes(leaf(TN_C128, 1), leaf(TN_C128, -2), &w));
                check_message(&w, 1e-3);
            }
}

/* Half of a complex function: Re(x) alone has a gradient, along the imaginary axis none. */
static bool imaginary_lost(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    tn_tensor *z = in[0], *gone = tnp_detach(z);
    (void)nin, (void)user;
    *nout = 1;
    out[0] = tnp_add(tnp_real(z), tnp_imag(gone), 1);
    return out[0] != NULL;
}
static void the_imaginary_axis_is_checked_by_itself(void) {
    TN_SCOPE {
        tn_tensor *z = leaf(TN_C128, 1);
        CHECK(!tn_gradcheck(imaginary_lost, tn_tensors_of(&z, 1), NULL, NULL));
        CHECK(tn_error_take(&e) && strstr(e.message, "input 0, element 0 (imaginary): "));
    }
}

static void strided_inputs_are_walked_element_by_element(void) {
    TN_SCOPE {
        tn_tensor *x = tnp_transpose(tnp_detach(leaf(TN_F64, 1)), 0, 1), *y;
        y = tn_requires_grad(tnp_detach(tnp_contiguous(x)));
        x = tn_requires_grad(tnp_detach(x));
        CHECK(!tn_is_contiguous(x));
        wrongness w = {-1, 0, 0, 0, ONE};
        CHECK(passes(x, y, &w));
        for (w.at = 0, w.input = 0, w.by = 1; w.at < 6; w.at++) {
            CHECK(!passes(x, y, &w));
            check_message(&w, 1);
        }
    }
}

static void tolerances_are_those_given(void) {
    wrongness w = {0, 0, 1e-3, 0, ONE};
    tn_gradcheck_options o = {0, 0, 0};
    TN_SCOPE {
        tn_tensor *x = leaf(TN_F64, 0.25); /* |g| < 1 at element 0: rtol counts as atol */
        tn_tensors in = tn_tensors_of(&x, 1);
        CHECK(!tn_gradcheck(product, in, &w, &o) && tn_error_take(NULL));
        o.rtol = 1e-2;
        CHECK(tn_gradcheck(product, in, &w, &o));
        o.rtol = 1e-5;
        CHECK(!tn_gradcheck(product, in, &w, &o) && tn_error_take(NULL));
        o.atol = 1e-2;
        CHECK(tn_gradcheck(product, in, &w, &o));
        o.rtol = 0, o.atol = 1e-5;
        CHECK(!tn_gradcheck(product, in, &w, &o) && tn_error_take(NULL));
        w.by = 5e-7; /* between the default tolerances */
        o.atol = 0;
        CHECK(tn_gradcheck(product, in, &w, &o));
        w.by = 1e-5;
        CHECK(!tn_gradcheck(product, in, &w, &o) && tn_error_take(NULL));
    }
}

/* The points at which a function of one number is asked. */
static double asked[16];
static int nasked;
static bool cubed(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    (void)nin, (void)user;
    if (nasked < 16) asked[nasked++] = *(double *)tn_data(in[0]);
    *nout = 1;
    out[0] = tnp_mul(in[0], tnp_mul(in[0], in[0]));
    return out[0] != NULL;
}
static void differences_are_taken_at_these_points(void) {
    static const double starts[] = {0.5, -8}, steps[] = {0, 1e-2};
    for (int k = 0; k < 4; k++)
        TN_SCOPE {
            tn_tensor *x = tnp_full(TN_DIMS(1), tn_float(starts[k % 2]), TN_F64, TN_CPU);
            tn_gradcheck_options o = {steps[k / 2], 0, 0};
            double h = (k < 2 ? 1e-3 : 1e-2) * (k % 2 ? 8 : 1), v = starts[k % 2];
            nasked = 0;
            tn_requires_grad(x);
            CHECK(tn_gradcheck(cubed, tn_tensors_of(&x, 1), NULL, &o));
            CHECK_EQ(nasked, 5);
            CHECK(asked[0] == v && asked[1] == v + h && asked[2] == v - h);
            CHECK(asked[3] == v + h / 2 && asked[4] == v - h / 2);
            CHECK(*(double *)tn_data(x) == v);
        }
}

static void what_cannot_be_checked_is_refused(void) {
    wrongness w = {-1, 0, 0, 0, CONSTANT};
    TN_SCOPE {
        tn_tensor *x = leaf(TN_F64, 1), *many[33];
        CHECK(!passes(x, NULL, &w) && strstr(e.message, "gradcheck: no output requires grad"));
        w.kind = EMPTY;
        CHECK(!passes(x, NULL, &w) && strstr(e.message, "gradcheck: no output requires grad"));
        w.kind = FAILS;
        CHECK(!passes(x, NULL, &w) && strstr(e.message, "no"));
        w.kind = SILENT;
        CHECK(!tn_gradcheck(product, tn_tensors_of(&x, 1), &w, NULL) && tn_ok());
        CHECK(!tn_gradgradcheck(product, tn_tensors_of(&x, 1), &w, NULL) && tn_ok());
        w.kind = ONE;
        CHECK(!passes(tnp_detach(x), NULL, &w) &&
              strstr(e.message, "no float64 or complex128 input requires grad"));
        CHECK(!passes(tn_requires_grad(tn_ones(TN_DIMS(2))), NULL, &w) &&
              strstr(e.message, "no float64 or complex128 input requires grad"));
        for (int i = 0; i < 33; i++) many[i] = x;
        CHECK(tn_gradcheck(product, tn_tensors_of(many, 32), &w, NULL));
        CHECK(!tn_gradcheck(product, tn_tensors_of(many, 33), &w, NULL) && tn_error_take(&e));
        CHECK(strstr(e.message, "gradcheck: expected at most 32 inputs") != NULL);
        CHECK(!tn_gradgradcheck(product, tn_tensors_of(many, 33), &w, NULL) && tn_error_take(&e));
        CHECK(strstr(e.message, "gradgradcheck: expected at most 32 inputs") != NULL);
        CHECK(!tn_gradcheck_at("here.c", 12, product, tn_tensors_of(many, 33), &w, NULL));
        CHECK(tn_error_take(&e) && e.line == 12 && !strcmp(e.file, "here.c"));
        CHECK(tn_memory().live_tensors > 0 && tn_grad_mode());
    }
}

/* The weight of element `number` of all outputs: splitmix64, in [0.5, 1.5), of either sign. */
static double weight(uint64_t number) {
    uint64_t z = (number + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((double)(z >> 11) * 0x1p-53 + 0.5) * (z & 1 ? 1 : -1);
}
/* x, or i x, whose gradient is twice the right one; n elements stand before it. */
typedef struct place {
    int64_t n;
    bool imaginary;
} place;
static bool doubled(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    const place *p = (const place *)user;
    tn_tensor *x = tnp_add(in[0], tnp_sub(in[0], tnp_detach(in[0]), 1), 1);
    tn_tensor *i = tnp_zeros(TN_DIMS(1), TN_C128, TN_CPU);
    (void)nin;
    ((double *)tn_data(i))[1] = 1;
    *nout = 2;
    out[0] = tnp_zeros(TN_DIMS(p->n), TN_F64, TN_CPU);
    out[1] = p->imaginary ? tnp_mul(x, i) : x;
    return out[0] && out[1];
}
static void outputs_have_the_weights_of_their_numbers(void) {
    for (int k = 0; k < 80; k++)
        TN_SCOPE {
            place p = {k / 2, k % 2 == 1};
            tn_tensor *x = tn_requires_grad(tn_full(TN_DIMS(1), 0.5, .dtype = TN_F64));
            double want = weight((uint64_t)k), has = 0, slope = 0;
            CHECK(!tn_gradcheck(doubled, tn_tensors_of(&x, 1), &p, NULL) && tn_error_take(&e));
            const char *at = strstr(e.message, "the gradient is ");
            CHECK(at && sscanf(at, "the gradient is %lf, finite differences give %lf", &has,
                               &slope) == 2);
            if (!CHECK(fabs(has - 2 * want) < 1e-10 && fabs(slope - want) < 1e-7))
                printf("    %d: %s\n", k, e.message);
        }
}

/* A function that fails half way finds its inputs as they were given. */
static int calls_left;
static bool fails_later(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    (void)nin, (void)user;
    if (!calls_left--) return tn_error_set(TN_INVALID, "f.c", 1, "no more");
    *nout = 1;
    return (out[0] = tnp_mul(in[0], in[0])) != NULL;
}
static void inputs_are_put_back_when_the_function_fails(void) {
    for (int k = 0; k < 10; k++)
        TN_SCOPE {
            tn_tensor *x = leaf(k % 2 ? TN_C128 : TN_F64, 1), *was = tn_clone(tnp_detach(x));
            calls_left = k;
            CHECK(!tnp_gradcheck(fails_later, tn_tensors_of(&x, 1), NULL, NULL));
            CHECK(tn_error_take(&e) && strstr(e.message, "no more") && tn_grad_mode());
            CHECK(!memcmp(tn_data(x), tn_data(was), k % 2 ? 96 : 48));
        }
}

/* --- second derivatives ----------------------------------------------------------------------- */

/* x^3 as a product whose second factor has lost its history: the value is right, and the first
 * gradient is made so by a constant term, but not its derivative. */
static bool first_alone(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    tn_tensor *x = in[0], *d = tnp_detach(x), *twice = tnp_mul_scalar(tnp_mul(d, d), tn_float(2));
    (void)nin, (void)user;
    *nout = 1;
    out[0] = tnp_add(tnp_mul(x, tnp_mul(x, x)), tnp_mul(twice, tnp_sub(x, d, 1)), 0);
    if (user) /* gradient 3 d^2, whose own derivative is lost */
        out[0] = tnp_add(tnp_mul(d, tnp_mul(d, d)),
                         tnp_mul(tnp_mul_scalar(tnp_mul(d, d), tn_float(3)), tnp_sub(x, d, 1)), 1);
    return out[0] != NULL;
}

static void second_derivatives_are_checked(void) {
    wrongness w = {-1, 0, 0, 0, ONE};
    for (int kind = ONE; kind <= SEVERAL; kind++)
        TN_SCOPE {
            tn_tensor *in[2];
            in[0] = leaf(TN_F64, 1), in[1] = leaf(TN_F64, -2);
            w.kind = kind == ONE ? ONE : SEVERAL;
            CHECK(tn_gradgradcheck(product, tn_tensors_of(in, 2), &w, NULL));
            CHECK(tn_gradgradcheck(first_alone, tn_tensors_of(in, 1), NULL, NULL));
            CHECK(tn_gradcheck(first_alone, tn_tensors_of(in, 1), &w, NULL));
            CHECK(!tn_gradgradcheck(first_alone, tn_tensors_of(in, 1), &w, NULL));
            CHECK(tn_error_take(&e) && strstr(e.message, "input 0, element 0"));
            in[0] = leaf(TN_C128, 1), in[1] = leaf(TN_C128, -2);
            CHECK(tn_gradgradcheck(product, tn_tensors_of(in, 2), &w, NULL));
        }
    w.kind = FAILS;
    TN_SCOPE {
        tn_tensor *x = leaf(TN_F64, 1);
        CHECK(!tn_gradgradcheck_at("here.c", 4, product, tn_tensors_of(&x, 1), &w, NULL));
        CHECK(tn_error_take(&e) && tn_grad_mode());
    }
}

/* x * x, whose gradient is right and differentiable in x, but has lost the incoming one. */
static bool square(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)nin;
    return (out[0] = tnp_mul(in[0], in[0])) != NULL && tn_function_save(f, in[0]);
}
static bool square_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    tn_tensor *g = tn_function_user(f) ? tnp_detach(grad_out[0]) : grad_out[0];
    grad_in[0] = tnp_mul(tnp_mul_scalar(tn_function_saved(f, 0), tn_float(2)), g);
    return grad_in[0] != NULL;
}
static bool squared(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    static const tn_function_row row = {"square", 1, square, square_back, NULL};
    *nout = 1;
    return tn_function_call(&row, tn_tensors_of((tn_tensor **)(uintptr_t)in, nin), user, out);
}
static void the_incoming_gradient_is_an_input_of_the_second(void) {
    static int lost;
    TN_SCOPE {
        tn_tensor *x = leaf(TN_F64, 1), *many[32];
        wrongness w = {-1, 0, 0, 0, ONE};
        CHECK(tnp_gradcheck(squared, tn_tensors_of(&x, 1), NULL, NULL));
        CHECK(tnp_gradcheck(squared, tn_tensors_of(&x, 1), &lost, NULL));
        CHECK(tnp_gradgradcheck(squared, tn_tensors_of(&x, 1), NULL, NULL));
        CHECK(!tnp_gradgradcheck(squared, tn_tensors_of(&x, 1), &lost, NULL) && tn_error_take(&e));
        if (!CHECK(strstr(e.message, "input 1, element 0: the gradient is 0, ") != NULL))
            printf("    %s\n", e.message);
        for (int i = 0; i < 32; i++) many[i] = x;
        CHECK(tn_gradgradcheck(product, tn_tensors_of(many, 31), &w, NULL));
        CHECK(!tn_gradgradcheck(product, tn_tensors_of(many, 32), &w, NULL) && tn_error_take(&e));
        CHECK(strstr(e.message, "gradgradcheck: expected at most 32 inputs and outputs") != NULL);
    }
}

static const check_test tests[] = {
    CHECK_TEST(right_gradients_pass),
    CHECK_TEST(one_wrong_element_is_found_wherever_it_stands),
    CHECK_TEST(a_wrong_complex_gradient_is_found_in_both_parts),
    CHECK_TEST(the_imaginary_axis_is_checked_by_itself),
    CHECK_TEST(strided_inputs_are_walked_element_by_element),
    CHECK_TEST(tolerances_are_those_given),
    CHECK_TEST(differences_are_taken_at_these_points),
    CHECK_TEST(what_cannot_be_checked_is_refused),
    CHECK_TEST(outputs_have_the_weights_of_their_numbers),
    CHECK_TEST(inputs_are_put_back_when_the_function_fails),
    CHECK_TEST(second_derivatives_are_checked),
    CHECK_TEST(the_incoming_gradient_is_an_input_of_the_second),
};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
