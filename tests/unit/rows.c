/* rows.c - rows of a user's own that do wrong: gradients of what they did not save or of another
 * shape, results that are missing or too large, writes where none may be. */
#include "../../src/api/extend.h"
#include "../../src/api/io.h"
#include "../../src/api/ops.h"
#include "../refused.h"

#include <stdlib.h>

static tn_tensor *of(int64_t rows, int64_t n, double v) {
    return tn_full(TN_DIMS(rows, n), v, .dtype = TN_F64);
}
static tn_tensor *result[6];
/* Calls a row with tensors (NULL ends them) and, if it is not NULL, out=. */
static tn_tensor *call(const char *name, tn_tensor *a, tn_tensor *b, tn_tensor *out) {
    tn_value v[3];
    int n = 0, count = 0;
    memset(v, 0, sizeof v);
    if (a) v[n].type = TN_T_TENSOR, v[n++].as.tensor = a;
    if (b) v[n].type = TN_T_TENSOR, v[n++].as.tensor = b;
    if (out) v[n].type = TN_T_TENSOR, v[n].name = "out", v[n++].as.tensor = out;
    return tn_call_named("here.c", 1, name, v, n, result, 6, &count) ? result[0] : NULL;
}

/* --- gradients -------------------------------------------------------------------------------- */

static int mode;
static bool like_check(tn_frame *f) {
    return tn_announce_like(f, 0, f->in[0], tn_dtype_of(f->in[0])) &&
           tn_announce_like(f, 1, f->in[0], tn_dtype_of(f->in[0]));
}
static void ones_run(tn_frame *f) {
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < tn_numel(f->out[k]); i++) ((double *)tn_data(f->out[k]))[i] = 1;
}
/* self is (2, 3), other (2, 3); the gradients that it gives depend on the mode. */
static void like_grad(tn_gradient *g) {
    tn_tensor *y = g->incoming[0];
    switch (mode) {
    case 0: tn_give(g, 0, g->in[1]); break; /* was not saved: a shape alone */
    case 1: tn_give(g, 0, tn_ones(TN_DIMS(5), .dtype = TN_F64)); break;
    case 2: tn_give(g, 0, tn_full(TN_DIMS(3), 2.0, .dtype = TN_F64)); break;       /* is expanded */
    case 3: tn_give(g, 0, tn_full(TN_DIMS(4, 2, 3), 2.0, .dtype = TN_F64)); break; /* is summed */
    case 4: tn_give(g, 0, tn_full(TN_DIMS(2, 3), 2.0, .dtype = TN_F32)); break;
    case 5: tn_give(g, 0, tn_mul_scalar(tn_to(y, TN_NO_DEVICE, .dtype = TN_C128), 3)); break;
    case 6: tn_give(g, 0, y), tn_give(g, 0, y), tn_give(g, 1, y); break;
    case 7: tn_give(g, 0, NULL), tn_give(g, 2, y), tn_give(g, 0, tn_incoming(g, 1)); break;
    case 8: tn_give(g, 0, tn_mul(g->in[1], y)); break; /* reads what was not saved */
    default: tn_error_set(TN_INDEX, NULL, 0, "the gradient says no");
    }
}
static tn_row gives, list_row, bare, whole;
static double slope(int m) { /* of self at element 0, with that mode; -1: an error */
    double v = -1;
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(of(2, 3, 1.0));
        mode = m;
        if (tn_backward(tn_sum(call("gives", x, of(2, 3, 1.0), NULL))))
            v = tn_grad_of(x) ? at(tn_grad_of(x), 0) : 0;
        else
            CHECK(!tn_grad_of(x));
    }
    return v;
}
static void what_a_gradient_gives_fits_or_is_refused(void) {
    CHECK(slope(0) == -1);
    says(TN_INTERNAL, "does not list in .needs", __LINE__);
    CHECK(slope(1) == -1 && tn_error_take(NULL));
    CHECK(slope(2) == 2 && slope(3) == 8 && slope(4) == 2 && slope(5) == 3 && slope(6) == 2);
    CHECK(slope(7) == 0);
    CHECK(slope(8) == -1);
    says(TN_INTERNAL,
         "the operator reads the data of input 0, which its row does not list in .needs", __LINE__);
    CHECK(slope(9) == -1);
    says(TN_INDEX, "the gradient says no\n  in the gradient of gives", __LINE__);
    TN_SCOPE { /* of another shape than broadcasting makes */
        tn_tensor *x = tn_requires_grad(of(2, 1, 1.0));
        mode = 1;
        CHECK(!tn_backward(tn_sum(call("gives", x, of(2, 1, 1.0), NULL))) && tn_error_take(NULL));
    }
}
static void in_anomaly_mode_it_is_refused_as_well(void) {
    bool was = tn_set_anomaly_mode(true);
    CHECK(slope(0) == -1 && tn_error_take(NULL) && slope(6) == 2);
    tn_set_anomaly_mode(was);
}
static bool bare_check(tn_frame *f) {
    tn_dtype dtype = f->row == &whole ? TN_I64 : TN_F64;
    return tn_announce(f, 0, dtype, tn_ndim(f->in[0]), tn_shape(f->in[0]).at);
}
static void bare_run(tn_frame *f) {
    memset(tn_data(f->out[0]), 0, (size_t)(tn_numel(f->out[0]) * 8));
}
static void a_row_without_gradient_is_not_recorded(void) {
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(of(1, 2, 1.0)), *y;
        REFUSED(call("bare", x, NULL, NULL), TN_AUTOGRAD,
                "the operator has no gradient, but an argument");
        y = call("whole", x, NULL, NULL);
        CHECK(y && !tn_needs_grad(y));
        CHECK(call("bare", tn_detach(x), NULL, NULL) != NULL);
    }
}

/* --- compositions ----------------------------------------------------------------------------- */

static void path_text(const tn_path *p, char *to, size_t n) { (void)p, snprintf(to, n, "net"); }
static bool pathed(void) { /* a module call inside of an operator */
    tn_path path;
    memset(&path, 0, sizeof path);
    path.text = path_text, path.file = "path.c", path.line = 9;
    tn_path_push(&path);
    CHECK(tn_path_current() == &path);
    tn_path_pop(&path);
    tn_path_pop(&path); /* is not the innermost any more */
    return tn_path_current() == NULL;
}
static bool composed(tn_frame *f) {
    char room[64];
    switch (mode) {
    case 0: return false;
    case 1: return true; /* without a result */
    case 2: return tn_error_set(TN_INDEX, NULL, 0, "composed in vain"), f->out[0] = f->in[0], true;
    case 3: return (f->out[0] = tn_ones(TN_DIMS(7), .dtype = TN_F64)) != NULL;
    case 4: return (f->out[0] = tn_to(f->in[0], TN_NO_DEVICE, .dtype = TN_C128)) != NULL;
    case 6: return tn_item(NULL) > 0;
    case 7: return call("no_such", f->in[0], NULL, NULL) != NULL;
    case 8: return pathed() && (f->out[0] = tn_relu(f->in[0])) != NULL;
    case 9: return tn_bind("bind.c", 5, "it", f->row->gen, NULL, 0, true, room);
    case 10: return tn_file_exists("", NULL);
    default: return (f->out[0] = tn_mul_scalar(f->in[0], 2)) != NULL;
    }
}
static tn_row made;
/* Whatever fails inside of a composition is at the line of the call that the user made. */
static void what_a_composition_calls_has_the_users_line(void) {
    TN_SCOPE {
        tn_tensor *x = of(2, 3, 1.0);
        tn_error_info e;
        for (mode = 6; mode < 11; mode++) {
            bool ok = call("made", x, NULL, NULL) != NULL;
            CHECK(ok == (mode == 8) && tn_ok() == ok);
            if (!ok && CHECK(tn_error_take(&e) && e.line == 1 && e.file))
                CHECK_TEXT(e.file, "here.c");
        }
    }
}
static void compositions_hand_out_what_fits(void) {
    TN_SCOPE {
        tn_tensor *x = of(2, 3, 1.0), *out = of(2, 3, 9.0), *wide;
        mode = 5;
        CHECK(call("made", x, NULL, out) == out && at(out, 5) == 2 &&
              at(call("made", x, NULL, NULL), 0) == 2);
        CHECK(call("made_", x, NULL, NULL) == x && at(x, 0) == 2);
        wide = tn_expand(of(1, 3, 4.0), TN_DIMS(2, 3));
        REFUSED(call("made", x, NULL, wide), TN_INVALID, "out overlaps itself; clone it first");
        REFUSED(call("made_", wide, NULL, NULL), TN_INVALID, "self overlaps itself");
        mode = 3;
        REFUSED(call("made", x, NULL, out), TN_INVALID,
                "out has shape (2, 3), but the result has (7)");
        REFUSED(call("made_", x, NULL, NULL), TN_INVALID,
                "self has shape (2, 3), but the result has (7)");
        mode = 4;
        REFUSED(call("made", x, NULL, out), TN_TYPE,
                "type complex128 can't be cast to the desired output type float64");
        mode = 2;
        REFUSED(call("made", x, NULL, NULL), TN_INDEX, "composed in vain");
        mode = 0;
        REFUSED(call("made", x, NULL, NULL), TN_INTERNAL,
                "failed without setting an error\n  in made(");
        mode = 1;
        REFUSED(call("made", x, NULL, out), TN_INTERNAL, "result 0 was not set");
        REFUSED(call("made", x, NULL, NULL), TN_INTERNAL, "result 0 was not set");
        CHECK(at(out, 0) == 2 && at(x, 0) == 2);
    }
}

/* --- announcements ---------------------------------------------------------------------------- */

static int64_t asked;
static bool list_check(tn_frame *f) { return tn_announce_count(f, asked); }
static bool scratch_check(tn_frame *f) {
    return bare_check(f) && tn_scratch(f, 100, 8) && tn_scratch(f, asked, 8);
}
static bool counted_check(tn_frame *f) {
    int64_t size[3] = {3, TN_UNKNOWN, 4};
    return tn_announce(f, 0, TN_F64, 3, size);
}
static bool counted_look(tn_frame *f) { return f->count = asked, true; }
static bool second_check(tn_frame *f) { /* the first result is left out */
    return tn_announce_like(f, 1, f->in[0], TN_F64);
}
static void second_run(tn_frame *f) { memset(tn_data(f->out[1]), 0, 48); }
static void second_grad(tn_gradient *g) {
    CHECK(g->out[0] == NULL && !tn_incoming(g, 0));
    tn_give(g, 0, tn_mul_scalar(g->incoming[1], 3));
}
static bool view_check(tn_frame *f) {
    return tn_announce_view(f, 0, f->in[0], tn_ndim(f->in[0]), tn_shape(f->in[0]).at,
                            tn_strides(f->in[0]).at, tn_storage_offset(f->in[0]));
}
static void no_run(tn_frame *f) { (void)f; }
static tn_row scratch, counted, second, view;

static void what_is_announced_has_limits(void) {
    TN_SCOPE {
        tn_tensor *x = of(2, 3, 1.0), *meta = tn_empty(TN_DIMS(2), .device = TN_META), *y;
        asked = -1;
        CHECK(!call("list", x, NULL, NULL));
        says(TN_INVALID, "expected at most 60000 results, got -1", __LINE__);
        asked = 60001;
        CHECK(!call("list", x, NULL, NULL));
        says(TN_INVALID, "expected at most 60000 results, got 60001", __LINE__);
        asked = INT64_MAX;
        REFUSED(call("scratch", x, NULL, NULL), TN_MEMORY,
                "the operator needs too much scratch memory");
        asked = -1;
        REFUSED(call("scratch", x, NULL, NULL), TN_MEMORY,
                "the operator needs too much scratch memory");
        asked = (INT64_MAX / 2 - 7) / 8;
        CHECK(!call("scratch", x, NULL, NULL) && tn_error_take(NULL));
        asked = 4;
        CHECK(call("scratch", x, NULL, NULL) != NULL);
        asked = INT64_MAX / 2;
        REFUSED(call("counted", x, NULL, NULL), TN_MEMORY, "the result is too large");
        asked = 0;
        y = call("counted", x, NULL, NULL);
        CHECK(y && tn_numel(y) == 0 && tn_size(y, 2) == 4);
        REFUSED(call("counted", meta, NULL, NULL), TN_UNSUPPORTED,
                "the result's size depends on data, which a meta tensor does not have");
        REFUSED(call("counted", x, NULL, y), TN_UNSUPPORTED,
                "out= is not supported when the result's size depends on data");
        CHECK(!call("second", x, NULL, NULL) && tn_ok() && result[1] && at(result[1], 5) == 0);
        y = tn_requires_grad(of(2, 3, 1.0));
        CHECK(!call("second", y, NULL, NULL) && tn_ok() && tn_needs_grad(result[1]));
        CHECK(tn_backward(tn_sum(result[1])) && at(tn_grad_of(y), 4) == 3);
        y = call("look_at", x, NULL, NULL);
        CHECK(y && tn_is_view(y) && tn_same_storage(x, y));
        REFUSED(call("look_at", x, NULL, of(2, 3, 0.0)), TN_UNSUPPORTED,
                "out= is not supported for a view");
    }
}
static void a_number_has_no_view(void) {
    tn_value v;
    int count;
    memset(&v, 0, sizeof v);
    v.type = TN_T_FLOAT, v.as.real = 2;
    CHECK(!tn_call_named(NULL, 0, "look_at", &v, 1, result, 6, &count));
    says(TN_TYPE, "cannot make a view of a number", __LINE__);
    CHECK(!tn_call_named(NULL, 0, "look_at_", &v, 1, result, 6, &count));
    says(TN_TYPE, "self must be a tensor in the in-place form", __LINE__);
}

static void add_row(tn_row *r, const char *name, const char *schema, uint32_t forms,
                    bool (*check)(tn_frame *), void (*run)(tn_frame *)) {
    r->name = name, r->schema = schema, r->forms = forms, r->check = check, r->run = run;
    CHECK(tn_register(r));
}
static void add_rows(void) {
    gives.grad = like_grad, second.grad = second_grad, made.compose = composed,
    counted.look = counted_look;
    add_row(&gives, "gives", "gives(Tensor self, Tensor other) -> (Tensor a, Tensor b)", 0,
            like_check, ones_run);
    add_row(&bare, "bare", "bare(Tensor self) -> Tensor", 0, bare_check, bare_run);
    add_row(&whole, "whole", "whole(Tensor self) -> Tensor", 0, bare_check, bare_run);
    add_row(&made, "made", "made(Tensor self) -> Tensor", TN_OUT | TN_INPLACE, NULL, NULL);
    add_row(&list_row, "list", "list(Tensor self) -> Tensor[]", 0, list_check, no_run);
    add_row(&scratch, "scratch", "scratch(Tensor self) -> Tensor", 0, scratch_check, bare_run);
    add_row(&counted, "counted", "counted(Tensor self) -> Tensor", TN_OUT, counted_check, no_run);
    add_row(&second, "second", "second(Tensor self) -> (Tensor a, Tensor b)", 0, second_check,
            second_run);
    add_row(&view, "look_at", "look_at(Tensor|Scalar self) -> Tensor", TN_OUT | TN_INPLACE,
            view_check, no_run);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(add_rows),
        CHECK_TEST(what_a_gradient_gives_fits_or_is_refused),
        CHECK_TEST(in_anomaly_mode_it_is_refused_as_well),
        CHECK_TEST(a_row_without_gradient_is_not_recorded),
        CHECK_TEST(compositions_hand_out_what_fits),
        CHECK_TEST(what_a_composition_calls_has_the_users_line),
        CHECK_TEST(what_is_announced_has_limits),
        CHECK_TEST(a_number_has_no_view),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    failed |= !CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_free(NULL);
    return failed;
}
