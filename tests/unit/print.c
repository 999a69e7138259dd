/* print.c - promises of io/print.c: a tensor's text is torch's, character by character
 * (tests/oracle/print.inc), for every dtype, layout, shape and set of options. */
#define _XOPEN_SOURCE 700 /* mkstemp, pread */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct print_case {
    tn_dtype dtype;
    int ndim;
    int64_t size[4];
    int nvalues;
    double value[8];
    tn_print_options options;
    char how;
    const char *text;
} print_case;

static const print_case cases[] = {
#include "../oracle/print.inc"
};

static tn_tensor *flat(const print_case *c, int64_t numel) {
    bool pairs = c->dtype == TN_C64 || c->dtype == TN_C128;
    int64_t n = numel * (pairs ? 2 : 1);
    double *data = (double *)malloc((size_t)(n + 1) * sizeof *data);
    tn_tensor *t;
    for (int64_t i = 0; i < n; i++) data[i] = c->value[i % c->nvalues];
    t = tn_from(data, tn_ints_of(&numel, 1), pairs ? TN_C128 : TN_F64);
    free(data);
    return t && tn_dtype_of(t) == c->dtype ? t : tn_to_dtype(t, c->dtype);
}

static tn_tensor *made(const print_case *c) {
    int64_t size[4], numel = 1;
    for (int i = 0; i < c->ndim; i++) numel *= size[i] = c->size[i];
    tn_ints dims = tn_ints_of(size, c->ndim);
    if (c->how == 'm') return tnp_empty(dims, c->dtype, TN_META);
    if (c->how == 't') {
        size[c->ndim - 2] = c->size[c->ndim - 1];
        size[c->ndim - 1] = c->size[c->ndim - 2];
        return tnp_transpose(tnp_reshape(flat(c, numel), dims), -1, -2);
    }
    tn_tensor *t = tnp_reshape(flat(c, numel), dims);
    if (c->how != ' ') t = tn_requires_grad(tnp_detach(t));
    return c->how == 'a' ? tnp_add(t, t, 1) : t;
}

static void tensors_look_as_in_torch(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        TN_SCOPE {
            char *text = tn_to_text(made(&cases[i]), &cases[i].options);
            if (!CHECK(text != NULL)) tn_error_print();
            if (!text) continue;
            if (!CHECK_TEXT(text, cases[i].text)) printf("    case %d\n", (int)i);
            tn_alloc_free(text, strlen(text) + 1);
        }
    CHECK(sizeof cases / sizeof *cases > 300);
}

static void the_largest_integers_are_exact(void) {
    static const int64_t edges[] = {INT64_MIN, INT64_MAX, 0};
    static const int64_t three = 3;
    TN_SCOPE {
        char *text = tn_to_text(tn_from(edges, tn_ints_of(&three, 1), TN_I64), NULL);
        CHECK_TEXT(text,
                   "tensor([-9223372036854775808,  9223372036854775807,                    0])");
        if (text) tn_alloc_free(text, strlen(text) + 1);
    }
}

static void options_beyond_their_range_are_taken_to_it(void) {
    tn_print_options o = {-3, 0, -1, -5, 0}, many = {70, 0, 0, 200, 0};
    TN_SCOPE {
        tn_tensor *t = tn_full(TN_DIMS(2), 0.5);
        char *text = tn_to_text(t, &o), *sixty = tn_to_text(t, &many);
        CHECK_TEXT(text, "tensor([0, 0])"); /* -1: no digits */
        CHECK(sixty && strlen(sixty) == strlen("tensor([, ])") + 2 * 62);
        if (text) tn_alloc_free(text, strlen(text) + 1);
        if (sixty) tn_alloc_free(sixty, strlen(sixty) + 1);
        CHECK(!tn_to_text(NULL, NULL));
        tn_error_info e;
        CHECK(tn_error_take(&e) && e.code == TN_INVALID);
    }
}

static void printing_writes_the_text_and_a_line(void) {
    char name[] = "/tmp/tn_print_XXXXXX", text[100] = "";
    int to = mkstemp(name), was = dup(1);
    bool printed = false;
    fflush(stdout);
    if (CHECK(to >= 0 && was >= 0) && dup2(to, 1) >= 0) {
        TN_SCOPE {
            printed = tn_print(tn_ones(TN_DIMS(2))) && tnp_print(tn_ones(TN_DIMS(1)));
        }
        fflush(stdout);
        dup2(was, 1);
        CHECK(printed && tn_ok() && pread(to, text, sizeof text - 1, 0) > 0);
        CHECK_TEXT(text, "tensor([1., 1.])\ntensor([1.])\n");
    }
    close(was), close(to);
    remove(name);
}

static void a_default_dtype_is_not_named(void) {
    tn_dtype before = tn_default_dtype();
    TN_SCOPE {
        tn_tensor *d = tnp_zeros(TN_DIMS(1), TN_F64, TN_CPU),
                  *f = tnp_zeros(TN_DIMS(1), TN_F32, TN_CPU);
        tn_set_default_dtype(TN_F64);
        char *a = tn_to_text(d, NULL), *b = tn_to_text(f, NULL);
        tn_set_default_dtype(before);
        CHECK_TEXT(a, "tensor([0.])");
        CHECK_TEXT(b, "tensor([0.], dtype=torch.float32)");
        if (a) tn_alloc_free(a, strlen(a) + 1);
        if (b) tn_alloc_free(b, strlen(b) + 1);
    }
}

static const check_test tests[] = {
    CHECK_TEST(tensors_look_as_in_torch),
    CHECK_TEST(the_largest_integers_are_exact),
    CHECK_TEST(options_beyond_their_range_are_taken_to_it),
    CHECK_TEST(printing_writes_the_text_and_a_line),
    CHECK_TEST(a_default_dtype_is_not_named),
};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
