/* short_views.c - the short way of views does what the long way does, errors included. */
#include "../../src/gen/rows.h"
#include "../../src/api/ops.h"
#include "exact.h"

static int compared, refused;

static void same_node(const tni_node *a, const tni_node *b) {
    CHECK(!a == !b);
    if (!a || !b) return;
    CHECK(a->row == b->row && a->line == b->line && a->file == b->file && a->refs == b->refs);
    CHECK(a->nin == b->nin && a->nout == b->nout && a->bytes == b->bytes);
    for (int i = 0; i < a->nin + a->nout; i++) {
        const tni_slot *s = &a->slot[i], *t = &b->slot[i];
        CHECK(s->saved == t->saved && s->edge == t->edge && s->version == t->version);
        CHECK(s->edge_out == t->edge_out && s->at == t->at && s->dtype == t->dtype);
        CHECK(s->ndim == t->ndim && s->kind == t->kind && s->device == t->device);
    }
}

static void same_tensor(const tn_tensor *a, const tn_tensor *b) {
    CHECK(a->dtype == b->dtype && a->ndim == b->ndim && a->capacity == b->capacity);
    CHECK(a->device == b->device && a->flags == b->flags && a->depth == b->depth);
    CHECK(a->line == b->line && a->file == b->file && a->owner == b->owner);
    CHECK(a->offset == b->offset && a->numel == b->numel && a->base == b->base);
    CHECK(a->edge_version == b->edge_version && a->node_out == b->node_out && a->refs == b->refs);
    CHECK(a->storage == b->storage || !a->base); /* a copy */
    for (int i = 0; i < a->ndim; i++)
        CHECK(a->size[i] == b->size[i] && a->stride[i] == b->stride[i]);
    same_node(a->node, b->node);
}

/* The same call by row->quick and by the long way. */
static void both(const tn_row *row, const void *args) {
    tn_tensor *r[2] = {NULL, NULL};
    tn_error_info e[2];
    char text[2][2000];
    bool ok[2], error[2];
    tni_block *b = tni_here();
    const int64_t depth = tni_state(b)->depth;
    CHECK(row->quick == tni_view_short || row->quick == tni_reshape_short ||
          row == &tni_row_as_strided); /* whose short way says how self lies */
    for (int k = 0; k < 2; k++) {
        ok[k] = k ? tni_call_long(row, TN_PLAIN, "place", 7, args, &r[k])
                  : tn_call(row, TN_PLAIN, "place", 7, args, &r[k]);
        error[k] = tn_error_peek(&e[k]);
        if (error[k]) snprintf(text[k], sizeof text[k], "%s", e[k].message);
        if (error[k]) tn_error_take(NULL);
        CHECK(!b->work && (int64_t)tni_state(b)->depth == depth && ok[k] == !error[k] &&
              ok[k] == !!r[k]);
    }
    CHECK(ok[0] == ok[1] && error[0] == error[1]);
    if (error[0] && error[1]) {
        CHECK(e[0].code == e[1].code && e[0].line == e[1].line && e[0].file == e[1].file);
        CHECK_TEXT(text[0], text[1]);
        refused++;
    }
    if (r[0] && r[1]) same_tensor(r[0], r[1]), compared++;
}

#define BOTH(op, ...)                            \
    do {                                         \
        const tn_##op##_args a_ = {__VA_ARGS__}; \
        both(&tni_row_##op, &a_);                \
    } while (0)

static void views_of(tn_tensor *x) {
    static const int64_t ones[TN_MAX_DIMS + 1] = {1, 1, 1};
    const tn_ints none = {NULL, 0}, absent = tn_no_dims();
    const bool flat = !x || (x->flags & TNI_CONTIGUOUS && x->offset == 0);
    for (int64_t d = -4; d <= 3; d++) {
        for (int64_t e = -4; e <= 3; e++) {
            BOTH(transpose, x, d, e);
            BOTH(select, x, d, e);
            BOTH(diagonal, .self = x, .offset = d, .dim1 = e, .dim2 = d + 1);
            BOTH(narrow, x, d, e, 1);
            BOTH(flatten, .self = x, .start_dim = d, .end_dim = e);
            BOTH(slice, .self = x, .dim = d, .start = e, .end = 2, .step = 1);
        }
        BOTH(slice, .self = x, .dim = d, .start = TN_NONE, .end = TN_NONE, .step = d);
        BOTH(squeeze_dim, x, d);
        BOTH(unsqueeze, x, d);
        BOTH(unflatten, x, d, TN_DIMS(-1, 1));
    }
    BOTH(t, x);
    BOTH(squeeze, x);
    BOTH(detach, x);
    BOTH(real, x);
    BOTH(imag, x);
    BOTH(view_as_real, x);
    BOTH(view_as_complex, x);
    const tn_ints lists[] = {none,
                             absent,
                             TN_DIMS(24),
                             TN_DIMS(-1),
                             TN_DIMS(4, -1),
                             TN_DIMS(-1, -1),
                             TN_DIMS(-2),
                             TN_DIMS(2, 3, 4),
                             TN_DIMS(2, 1, 0),
                             TN_DIMS(0, -1),
                             TN_DIMS(INT64_MAX, 3),
                             TN_DIMS(2, 1, 2, 1, 6),
                             tn_empty_dims(),
                             {ones, TN_MAX_DIMS + 1}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        BOTH(view, x, lists[i]);
        BOTH(reshape, x, lists[i]);
        BOTH(permute, x, lists[i]);
        BOTH(expand, .self = x, .size = lists[i]);
        BOTH(squeeze_dims, x, lists[i]);
        BOTH(as_strided, .self = x, .size = lists[i], .stride = lists[i],
             .self_stride = flat ? absent : tni_ints(x->stride, x->ndim),
             .self_offset = flat ? 0 : x->offset);
    }
}

static void views_of_all(void) {
    tn_tensor *x = tnp_ones(TN_DIMS(2, 3, 4), TN_F32, TN_NO_DEVICE), *y, *v;
    tn_tensor *kinds[] = {
        x,
        tnp_transpose(x, 0, 2),
        tnp_ones(tn_empty_dims(), TN_F64, TN_NO_DEVICE),
        tnp_ones(TN_DIMS(2, 0, 3), TN_I64, TN_NO_DEVICE),
        tnp_expand(tnp_ones(TN_DIMS(3, 1), TN_F32, TN_NO_DEVICE), TN_DIMS(2, 3, 4), false),
        tnp_ones(TN_DIMS(4, 6), TN_C64, TN_NO_DEVICE),
        tnp_ones(TN_DIMS(24, 1), TN_F64, TN_META),
        NULL,
        tnp_ones(TN_DIMS(3, 4, 2), TN_F32, TN_NO_DEVICE)};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) views_of(kinds[i]);
    y = tnp_ones(TN_DIMS(2, 3, 4), TN_F32, TN_NO_DEVICE);
    CHECK(tn_requires_grad_at(NULL, 0, y, true));
    views_of(y);
    y = tnp_mul(y, y);
    views_of(y);
    v = tnp_view(y, TN_DIMS(4, 6));
    CHECK(tnp_mul_(y, x)); /* v's history is out of date */
    BOTH(select, v, 0, 1);
    views_of(v);
    CHECK(tn_ok());
}

static void short_is_as_long(void) {
    tn_context *c = begin();
    const int64_t scope = tn_scope_begin();
    views_of_all();
    tn_set_grad_mode(false);
    views_of_all();
    tn_set_grad_mode(true);
    CHECK(compared > 1000 && refused > 1000);
    tn_scope_end(scope);
    end(c);
}

static void others_go_the_long_way(void) {
    tn_context *c = begin();
    const int64_t scope = tn_scope_begin();
    tn_tensor *x = tnp_ones(TN_DIMS(2, 3), TN_F32, TN_NO_DEVICE), *r = x;
    const tn_t_args a = {x};
    tn_error_info e;
    CHECK(!tn_call(&tni_row_t, TN_IN_PLACE, "place", 1, &a, &r) && !r);
    CHECK(tn_error_take(&e) && e.code == TN_INVALID);
    tn_cancel(c);
    CHECK(!tn_call(&tni_row_t, TN_PLAIN, "place", 1, &a, &r) && !r);
    CHECK(tn_error_take(&e) && e.code == TN_CANCELLED);
    tn_cancel_clear(c);
    tn_error_set(TN_TYPE, NULL, 0, "pending");
    CHECK(!tn_call(&tni_row_t, TN_PLAIN, "place", 1, &a, &r) && !r);
    CHECK(tn_error_take(&e) && e.code == TN_TYPE);
    tn_scope_end(scope);
    end(c);
}

static const check_test tests[] = {CHECK_TEST(short_is_as_long),
                                   CHECK_TEST(others_go_the_long_way)};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
