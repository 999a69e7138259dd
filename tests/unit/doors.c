/* doors.c - promises of src/call: what a call sees of its arguments, what it may be given, what it
 * leaves when it fails, at every allocation, and what a recording keeps. */
#include "../refused.h"
#include "exact.h"

/* --- a row that does as the test says --------------------------------------------------------- */

static bool (*look_in)(tn_frame *f);
static tn_row probe, lists, pair, four, listing, composed;
static bool probe_check(tn_frame *f) { return look_in(f); }
static bool one_check(tn_frame *f) {
    static const int64_t three[1] = {3};
    return tn_announce(f, 0, TN_F64, 1, three);
}
static void no_grad(tn_gradient *g) { (void)g; }
static bool signs_compose(tn_frame *f) {
    return (f->out[0] = tn_neg(f->in[0])) && (f->out[1] = tn_clone(f->in[0]));
}

static void add_row(tn_row *r, const char *name, const char *schema, uint32_t forms) {
    memset(r, 0, sizeof *r);
    r->name = name, r->schema = schema, r->forms = forms;
    r->check = probe_check, r->run = fill_run, r->grad = no_grad;
    CHECK(tn_register(r));
}
static void rows(void) {
    add_row(&probe, "probe", "probe(Tensor|Scalar a, Tensor|Scalar b, Tensor|Scalar c) -> Tensor",
            0);
    add_row(&lists, "lists", "lists(Tensor self, Tensor[] l, Tensor?[] m, int[] n) -> Tensor", 0);
    add_row(&pair, "pair", "pair(Tensor self, Tensor other) -> (Tensor x, Tensor y)",
            TN_OUT | TN_ALIAS);
    add_row(&four, "four", "four(Tensor self) -> (Tensor p, Tensor q, Tensor r, Tensor s)", TN_OUT);
    add_row(&listing, "listing", "listing(Tensor self, int n) -> Tensor[]", 0);
    memset(&composed, 0, sizeof composed);
    composed.name = "signs", composed.schema = "signs(Tensor self) -> (Tensor x, Tensor y)";
    composed.forms = TN_OUT, composed.compose = signs_compose;
    CHECK(tn_register(&composed));
    look_in = one_check;
}

/* --- numbers in the place of tensors ---------------------------------------------------------- */

static tn_scalar numbers[3];
static bool numbers_check(tn_frame *f) {
    static const int dtypes[] = {0, 0, TN_BOOL, TN_I64, TN_F64, TN_C128};
    CHECK(f->nin == 3 && f->work.file && !strcmp(f->work.file, "exact") && f->work.line == 42 &&
          !f->work.caller);
    CHECK(!f->type && !f->unneeded && !f->unwritten && !f->count && !f->scratch_bytes);
    CHECK(!f->scratch && !f->generator && !f->node && f->out == f->out_ && !f->nout);
    CHECK(f->block == tni_here() && f->block->work == &f->work && f->row == &probe && f->args);
    CHECK(!f->recording && !f->meta && !f->inplace && f->device == TN_CPU && !f->ngiven);
    for (int i = 0; i < 3; i++) {
        const tn_tensor *t = f->in[i];
        tn_scalar s = tni_element(tn_data((tn_tensor *)(uintptr_t)t), t->dtype), n = numbers[i];
        CHECK_EQ(t->dtype, dtypes[n.kind]);
        CHECK_EQ(t->flags, TNI_NUMBER | TNI_STACK | TNI_CONTIGUOUS);
        CHECK(t->refs == 1 && !t->ndim && t->capacity == 4 && t->numel == 1 && !t->offset);
        CHECK(t->size == t->dims && t->stride == t->dims + 4 && t->owner == f->block);
        CHECK(!t->node && !t->base && !t->grad && !t->extra && !t->depth && t->device == TN_CPU);
        CHECK(t->storage->refs == 1 && t->storage->bytes == 16 && !t->storage->version);
        CHECK(t->storage->kind == TNI_DATA_INSIDE && t->storage->owner == f->block);
        CHECK(s.kind == n.kind && s.integer == n.integer && s.real == n.real);
        CHECK(s.imaginary == n.imaginary);
    }
    return one_check(f);
}
static void numbers_are_tensors_on_the_stack(void) {
    tn_context *c = begin();
    rows();
    TN_SCOPE {
        tn_value v[3];
        tn_tensor *x = of(1, 1, 1);
        for (int k = 0; k < 4; k++) {
            const tn_scalar all[] = {tn_bool(true), tn_int(-5), tn_float(0.5), tn_complex(1, 2)};
            for (int i = 0; i < 3; i++) {
                numbers[i] = all[(k + i) % 4];
                v[i] = named(NULL, TN_T_SCALAR), v[i].as.scalar = numbers[i];
            }
            look_in = numbers_check;
            CHECK(call(&probe, v, 3));
        }
        look_in = one_check;
        for (int kind = 0; kind < 8; kind++) {
            v[1].as.scalar = tn_int(1), v[1].as.scalar.kind = kind;
            CHECK_EQ(call(&probe, v, 3) != NULL, kind >= TN_KIND_BOOL && kind <= TN_KIND_COMPLEX);
            if (!tn_ok()) says(TN_INVALID, "argument 'b' is NULL\n  in probe(", __LINE__);
        }
        v[1] = tensor(NULL, x);
        CHECK(call(&probe, v, 3));
    }
    end(c);
}

/* --- lists ------------------------------------------------------------------------------------ */

static tn_tensor **members, *own;
static int nmembers;
static bool lists_check(tn_frame *f) {
    CHECK(f->nin == 1 + nmembers && f->in[0] == own && (f->in == f->in_) == (f->nin <= TNI_IN));
    for (int i = 0; i < nmembers; i++) CHECK(f->in[1 + i] == members[i]);
    return one_check(f);
}
static void lists_stand_behind_the_single_tensors(void) {
    tn_context *c = begin(), *other;
    rows();
    TN_SCOPE {
        tn_tensor *t[20], *far;
        tn_value v[4];
        own = of(1, 1, 1);
        v[0] = tensor(NULL, own), v[3] = named(NULL, TN_T_INTS), v[3].as.ints = tn_empty_dims();
        for (int i = 0; i < 20; i++) t[i] = i % 5 == 3 ? NULL : tn_ones(TN_DIMS(1));
        for (int n = 0; n <= 15; n++) { /* in l those before the hole, in m the rest */
            int64_t before = live;
            v[1] = of_list(t, n < 3 ? n : 3), v[2] = of_list(t + 3, n < 3 ? 0 : n - 3);
            members = t, nmembers = n, look_in = lists_check;
            CHECK(call(&lists, v, 4));
            tn_free(result[0]);
            CHECK_EQ(live, before);
        }
        v[1] = of_list(t, 4), v[2] = of_list(t, 0), look_in = one_check;
        REFUSED(call(&lists, v, 4), TN_INVALID, "argument 'l' has NULL at position 3");
        v[1] = of_list(t, 0), v[2] = of_list(t, -1);
        REFUSED(call(&lists, v, 4), TN_INVALID, "argument 'm' is NULL");
        v[2] = of_list(NULL, 1);
        REFUSED(call(&lists, v, 4), TN_INVALID, "argument 'm' is NULL");
        v[2] = of_list(NULL, 0);
        CHECK(call(&lists, v, 4));
        v[2] = of_list(t, ((int64_t)1 << 24) - 1); /* one more than there is memory for */
        tn_tensor **many = (tn_tensor **)calloc((size_t)1 << 24, sizeof *many);
        v[1] = of_list(many, ((int64_t)1 << 24) - 1), v[2] = of_list(t, 0);
        REFUSED(call(&lists, v, 4), TN_INVALID, "argument 'l' has NULL at position 0");
        v[2] = of_list(t, 1);
        REFUSED(call(&lists, v, 4), TN_INVALID,
                "argument 'm' has 1 tensors, expected at most 16777216");
        v[1] = of_list(t, 0), v[2] = of_list(t, INT64_MAX);
        REFUSED(call(&lists, v, 4), TN_INVALID, "expected at most 16777216");
        free(many);
        other = tn_context_new(NULL);
        tn_context_use(other);
        far = tn_ones(TN_DIMS(1));
        tn_context_use(c);
        v[1] = of_list(&far, 1), v[2] = of_list(t, 0);
        REFUSED(call(&lists, v, 4), TN_INVALID, "an argument belongs to another context");
        v[2] = of_list(&far, 1), v[1] = of_list(t, 0);
        REFUSED(call(&lists, v, 4), TN_INVALID, "an argument belongs to another context");
        v[2] = of_list(t, 0), v[0] = tensor(NULL, far);
        REFUSED(call(&lists, v, 4), TN_INVALID, "an argument belongs to another context");
        tn_context_use(other), tn_free(far), tn_context_use(c);
        tn_context_free(other);
    }
    end(c);
}

/* --- lists of numbers, words ------------------------------------------------------------------ */

static void *struct_of(tn_row *r, const char *name, const char *schema) {
    void *args;
    add_row(r, name, schema, 0);
    args = malloc(TNI_ARGS_BYTES);
    if (args && r->gen) memcpy(args, r->gen->defaults, r->gen->args_size);
    return args;
}
static bool called(const tn_row *r, const void *args) {
    tn_tensor *y = NULL;
    bool ok = tn_call(r, TN_PLAIN, "exact", 42, args, &y);
    CHECK(ok ? y != NULL : !y);
    return ok;
}
/* i and j required and optional; each is given, absent or an empty struct. */
static void lists_of_numbers_are_given_or_absent(void) {
    static const int64_t some[1] = {1};
    static const struct {
        tn_ints l;
        const char *must, *may;
    } cases[] = {{{some, 1}, NULL, NULL},
                 {{some, 0}, NULL, NULL},
                 {{NULL, 0},
                  "an empty struct; use TN_EMPTY_DIMS for an empty list, TN_NO_DIMS for none",
                  "an empty struct; use TN_EMPTY_DIMS for an empty list, TN_NO_DIMS for none"},
                 {{NULL, 1}, "an empty struct", "an empty struct"},
                 {{NULL, -1}, "is absent", NULL},
                 {{some, -1}, "is absent", NULL},
                 {{NULL, -2}, "is absent", "is absent"},
                 {{some, -2}, "is absent", "is absent"}};
    tn_context *c = begin();
    tn_row two[2];
    for (int floats = 0; floats < 2; floats++)
        TN_SCOPE {
            const tn_row *r = &two[floats];
            char *args = (char *)struct_of(&two[floats], floats ? "fl" : "il",
                                           floats ? "fl(float[] i, float[]? j) -> Tensor"
                                                  : "il(int[] i, int[]? j) -> Tensor");
            look_in = one_check;
            for (int k = 0; args && k < 8; k++)
                for (int may = 0; may < 2; may++) {
                    const char *want = may ? cases[k].may : cases[k].must;
                    memcpy(args + r->gen->param[!may].offset, &cases[0].l, sizeof cases[0].l);
                    memcpy(args + r->gen->param[may].offset, &cases[k].l, sizeof cases[k].l);
                    if (!CHECK_EQ(called(r, args), !want)) printf("    %d %d\n", k, may);
                    if (want) says(TN_INVALID, want, __LINE__);
                    tn_error_take(NULL);
                }
            free(args);
        }
    end(c);
}

static void words_are_those_that_there_are(void) {
    static const struct {
        const char *type;
        int first, last; /* what may be given; 0: where it is optional, absent */
    } kinds[] = {{"ScalarType", 1, TN_DTYPE_COUNT - 1},
                 {"Reduction", 1, 3},
                 {"Rounding", 1, 2},
                 {"MemoryFormat", 1, 4},
                 {"Device", 1, 5}};
    static char name[5][2][8], schema[5][2][64];
    tn_context *c = begin();
    tn_row r[5][2];
    TN_SCOPE {
        look_in = one_check;
        for (int k = 0; k < 5; k++)
            for (int may = 0; may < 2; may++) {
                snprintf(name[k][may], 8, "w%d%d", k, may);
                snprintf(schema[k][may], 64, "w%d%d(%s%s w) -> Tensor", k, may, kinds[k].type,
                         may ? "?" : "");
                char *args = (char *)struct_of(&r[k][may], name[k][may], schema[k][may]), text[80];
                for (int32_t w = -2; args && w <= kinds[k].last + (k < 4 ? 2 : 0); w++) {
                    bool fits = w >= kinds[k].first - may && w <= kinds[k].last;
                    memcpy(args + r[k][may].gen->param[0].offset, &w, sizeof w);
                    CHECK_EQ(called(&r[k][may], args), fits);
                    snprintf(text, sizeof text, "argument 'w': %d is not a valid value\n", (int)w);
                    if (!fits) says(TN_INVALID, text, __LINE__);
                }
                free(args);
            }
    }
    end(c);
}

static void numbers_are_given_or_absent(void) {
    tn_context *c = begin();
    tn_row r, s;
    char *args = (char *)struct_of(&r, "sc", "sc(Scalar s, Scalar? t=None) -> Tensor");
    char *more = (char *)struct_of(&s, "mb", "mb(float? s, float? t=2) -> Tensor");
    TN_SCOPE {
        look_in = one_check;
        for (int i = 0; i < 2; i++)
            for (int kind = -1; kind < 8; kind++) {
                tn_scalar one = tn_int(1), x = one;
                bool fits = kind >= TN_KIND_BOOL - (i ? 1 : 0) && kind <= TN_KIND_COMPLEX;
                x.kind = kind;
                memcpy(args + r.gen->param[!i].offset, &one, sizeof one);
                memcpy(args + r.gen->param[i].offset, &x, sizeof x);
                CHECK_EQ(called(&r, args), fits);
                if (!fits)
                    says(TN_INVALID, i ? "argument 't' is not a number" : "'s' is not a number",
                         __LINE__);
                tn_maybe m = tn_some(1), n = m;
                n.given = kind;
                fits = kind == TN_GIVEN || kind == TN_ABSENT;
                memcpy(more + s.gen->param[!i].offset, &m, sizeof m);
                memcpy(more + s.gen->param[i].offset, &n, sizeof n);
                CHECK_EQ(called(&s, more), fits);
                if (!fits)
                    says(TN_INVALID, "is uninitialized; use TN_SOME or TN_NO_FLOAT", __LINE__);
            }
    }
    free(args), free(more);
    end(c);
}

/* --- results that are given ------------------------------------------------------------------- */

static int announced; /* bit k: result k is there */
static bool some_check(tn_frame *f) {
    for (int k = 0; k < 4; k++)
        if (announced >> k & 1 && !tn_announce(f, k, TN_F64, f->in[0]->ndim, f->in[0]->size))
            return false;
    return true;
}
static void results_may_be_left_out(void) {
    tn_context *c = begin();
    rows();
    for (int recorded = 0; recorded < 2; recorded++)
        for (announced = 15; announced >= 0; announced--) {
            int64_t before = live;
            TN_SCOPE {
                tn_tensor *x = of(1, 3, 1);
                tn_value v = tensor(NULL, recorded ? tn_requires_grad(x) : x);
                uint32_t count = 0;
                look_in = some_check;
                CHECK(!call(&four, &v, 1) == !(announced & 1) && tn_ok());
                for (int k = 0; k < 4; k++) {
                    CHECK_EQ(result[k] != NULL, announced >> k & 1);
                    if (!result[k]) continue;
                    CHECK(at(result[k], 2) == 0 && tn_needs_grad(result[k]) == recorded);
                    CHECK(result[k]->node_out == (recorded ? (uint32_t)k : 0));
                    count++;
                }
                for (int k = 0; k < 4; k++)
                    if (result[k] && recorded) CHECK_EQ(result[k]->node->refs, count);
                CHECK_EQ(x->refs, 1 + (count && recorded)); /* no result, no node */
            }
            CHECK_EQ(live, before);
        }
    end(c);
}

static bool pair_check(tn_frame *f) {
    return tn_announce(f, 0, TN_F64, f->in[0]->ndim, f->in[0]->size) &&
           tn_announce(f, 1, TN_F64, f->in[0]->ndim, f->in[0]->size);
}
static bool four_check(tn_frame *f) {
    for (int k = 0; k < 4; k++)
        if (!tn_announce(f, k, TN_F64, f->in[0]->ndim, f->in[0]->size)) return false;
    return true;
}
static tn_tensor *call4(tn_tensor *x, tn_tensor **out) {
    tn_value v[2];
    v[0] = tensor(NULL, x), v[1] = of_list(out, 4), v[1].name = "out";
    look_in = four_check;
    return call(&four, v, 2);
}
static void four_results_are_given_apart(void) {
    tn_context *c = begin();
    rows();
    TN_SCOPE {
        tn_tensor *x = of(2, 3, 1), *out[4], *all = tn_full(TN_DIMS(30), 5.0, .dtype = TN_F64);
        for (int k = 0; k < 4; k++) out[k] = of(2, 3, 5);
        CHECK(call4(x, out) == out[0] && result[3] == out[3] && at(out[3], 5) == 0);
        for (int k = 0; k < 4; k++) CHECK_EQ(out[k]->storage->version, 1);
        for (int i = 0; i < 4; i++) {
            tn_tensor *was = out[i];
            out[i] = NULL;
            REFUSED(call4(x, out), TN_INVALID, "out: expected all 4 results, or none");
            out[i] = of(2, 2, 1);
            REFUSED(call4(x, out), TN_INVALID, "out has shape (2, 2), but the result has (2, 3)");
            out[i] = tn_full(TN_DIMS(2, 3), 1, .dtype = TN_I64);
            REFUSED(call4(x, out), TN_TYPE,
                    "float64 can't be cast to the desired output type int64");
            out[i] = tn_empty(TN_DIMS(2, 3), .dtype = TN_F64, .device = TN_META);
            REFUSED(call4(x, out), TN_INVALID, "out is on a different device");
            out[i] = tn_expand(of(1, 3, 1), TN_DIMS(2, 3));
            REFUSED(call4(x, out), TN_INVALID, "more than one element of out refers");
            out[i] = tn_clone(x); /* an input: made apart */
            CHECK(call4(out[i], out) == out[0] && at(out[i], 5) == 0);
            out[i] = tn_requires_grad(of(2, 3, 1));
            REFUSED(call4(x, out), TN_AUTOGRAD, "out= does not support gradients");
            out[i] = tn_full(TN_DIMS(2, 3), 7, .dtype = TN_F32);
            CHECK(call4(x, out) && result[i] == out[i] && at(out[i], 5) == 0);
            out[i] = tn_transpose(of(3, 2, 7), 0, 1);
            CHECK(call4(x, out) && result[i] == out[i] && at(out[i], 5) == 0);
            out[i] = was;
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) {
                tn_tensor *a = out[i], *b = out[j];
                char text[60];
                out[i] = tn_view(tn_slice(all, .start = 0, .end = 6), TN_DIMS(2, 3));
                out[j] = tn_view(tn_slice(all, .start = 5, .end = 11), TN_DIMS(2, 3));
                snprintf(text, sizeof text, "out tensors %d and %d overlap", j, i);
                REFUSED(call4(x, out), TN_INVALID, text);
                out[j] = tn_view(tn_slice(all, .start = 6, .end = 12), TN_DIMS(2, 3));
                CHECK(call4(x, out) && at(out[j], 0) == 0 && at(out[i], 5) == 0);
                out[i] = a, out[j] = b;
            }
        CHECK(at(all, 12) == 5);
        tn_context *other = tn_context_new(NULL);
        tn_context_use(other);
        tn_tensor *far = of(2, 3, 1);
        tn_context_use(c);
        for (int i = 0; i < 4; i++) {
            tn_tensor *was = out[i];
            out[i] = far;
            REFUSED(call4(x, out), TN_INVALID, "out belongs to another context");
            out[i] = was;
        }
        tn_context_use(other), tn_free(far), tn_context_use(c);
        tn_context_free(other);
    }
    end(c);
}

static void composed_results_are_given_apart(void) {
    tn_context *c = begin();
    rows();
    TN_SCOPE {
        tn_tensor *all = tn_full(TN_DIMS(12), 5.0, .dtype = TN_F64), *out[2];
        tn_value v[2];
        v[0] = tensor(NULL, of(1, 6, 3)), v[1] = of_list(out, 2), v[1].name = "out";
        for (int from = 0; from <= 6; from++) {
            out[0] = tn_view(tn_slice(all, .start = 0, .end = 6), TN_DIMS(1, 6));
            out[1] = tn_view(tn_slice(all, .start = from, .end = from + 6), TN_DIMS(1, 6));
            if (from < 6)
                REFUSED(call(&composed, v, 2), TN_INVALID, "out tensors 0 and 1 overlap");
            else
                CHECK(call(&composed, v, 2) == out[0] && result[1] == out[1]);
            CHECK(at(all, 0) == (from < 6 ? 5 : -3) && at(all, 11) == (from < 6 ? 5 : 3));
        }
        out[1] = out[0];
        REFUSED(call(&composed, v, 2), TN_INVALID, "out tensors 0 and 1 overlap");
    }
    end(c);
}

/* Whether a given tensor is written as it is: where dtype and strides are the result's, but for
 * those of dimensions of one element. */
static bool direct;
static bool direct_check(tn_frame *f) {
    bool ok = pair_check(f);
    if (ok) CHECK_EQ(f->out[0] == f->given[0], direct);
    if (ok) CHECK_EQ(f->out[1] == f->given[1], true);
    return ok;
}
static void results_are_written_straight_where_they_can_be(void) {
    tn_context *c = begin();
    rows();
    TN_SCOPE {
        tn_tensor *wide = of(6, 8, 1), *x = of(3, 1, 1), *y, *out[2];
        tn_value v[3];
        for (int k = 0; k < 6; k++) {
            tn_tensor *cases[] = {of(3, 1, 1),
                                  tn_slice(of(3, 2, 1), .dim = 1, .end = 1),
                                  tn_transpose(of(1, 3, 1), 0, 1),
                                  tn_slice(of(6, 1, 1), .step = 2),
                                  tn_ones(TN_DIMS(3, 1)),
                                  tn_slice(tn_slice(wide, .end = 3), .dim = 1, .end = 1)};
            out[0] = cases[k], out[1] = of(3, 1, 1);
            direct = k == 0 || k == 2, look_in = direct_check;
            v[0] = tensor(NULL, x), v[1] = tensor(NULL, x);
            v[2] = of_list(out, 2), v[2].name = "out";
            CHECK(call(&pair, v, 3) == out[0] && at(out[0], 0) == 0 && at(out[0], 2) == 0);
        }
        CHECK(at(tn_select(wide, 0, 0), 0) == 0 && at(tn_select(wide, 0, 0), 1) == 1);
        x = of(1, 3, 2), y = tn_detach(x);
        y->dims[2] = 5, x->dims[2] = 6; /* behind the sizes lies what nobody knows */
        CHECK(tn_add_(x, y) == x && at(y, 2) == 4);
        x = tn_slice(wide, .end = 2), y = tn_slice(wide, .start = 1, .end = 3);
        REFUSED(tn_add(tn_detach(x), y, .out = x), TN_INVALID, "out partly overlaps input 1");
        REFUSED(tn_add(tn_slice(wide, .end = 1), y, .out = x), TN_INVALID, "overlaps input 0");
        y = tn_slice(wide, .dim = 1, .end = 6);
        REFUSED(tn_add_(y, tn_t(y)), TN_INVALID, "self partly overlaps input 1");
        y = tn_slice(wide, .start = 1, .end = 3);
        REFUSED(tn_add(y, tn_detach(x), .out = x), TN_INVALID, "out partly overlaps input 0");
        CHECK(tn_add(tn_detach(x), x, .out = x) == x && at(tn_select(wide, 0, 0), 7) == 2);
    }
    end(c);
}

static void what_a_direct_call_gets_wrong_is_said(void) {
    tn_context *c = begin();
    rows();
    TN_SCOPE {
        tn_tensor *x = of(1, 3, 1), *two[2] = {x, x};
        struct {
            tn_tensor *out[2], *self, *other;
        } a;
        memset(&a, 0, sizeof a);
        a.self = of(1, 3, 2), a.other = of(1, 3, 3), look_in = pair_check;
        CHECK(pair.gen->args_size == sizeof a && tn_call(&pair, TN_PLAIN, "f", 1, &a, two));
        CHECK(two[0] && two[1] && two[0] != x && at(two[1], 2) == 0);
        REFUSED(tn_call(&pair, TN_IN_PLACE, "f", 1, &a, two), TN_INVALID,
                "the operator has no in-place form");
        CHECK(!two[0] && !two[1]);
        for (int k = 0; k < 2; k++) {
            a.out[0] = a.out[1] = NULL, a.out[k] = x;
            REFUSED(tn_call(&pair, TN_IN_PLACE, "f", 1, &a, two), TN_INVALID,
                    "the in-place form does not take .out");
            REFUSED(tn_call(&pair, TN_PLAIN, "f", 1, &a, two), TN_INVALID,
                    "out: expected all 2 results, or none");
        }
        a.out[0] = NULL, a.self = NULL;
        REFUSED(tn_call(&pair, TN_PLAIN, "f", 1, &a, two), TN_INVALID, "argument 'self' is NULL");
    }
    end(c);
}

static bool maybe_check(tn_frame *f) {
    CHECK(f->nin == 2 && (f->in[1] == NULL || f->in[1]->ndim == 2));
    return tn_announce(f, 0, TN_F64, f->in[0]->ndim, f->in[0]->size);
}
static bool nothing_looked(tn_frame *f) { return f != NULL; }
static void an_absent_tensor_overlaps_nothing(void) {
    static tn_row maybe;
    tn_context *c = begin();
    add_row(&maybe, "maybe", "maybe(Tensor self, Tensor? other=None) -> Tensor", TN_OUT);
    look_in = maybe_check;
    TN_SCOPE {
        tn_tensor *x = of(2, 3, 1), *out = of(2, 3, 2);
        tn_value v[3];
        v[0] = tensor(NULL, x), v[1] = named(NULL, 0), v[2] = tensor("out", out);
        CHECK(call(&maybe, v, 3) == out && at(out, 5) == 0 && at(x, 5) == 1);
        v[1] = tensor(NULL, of(2, 3, 3));
        CHECK(call(&maybe, v, 3) == out);
        v[1] = tensor(NULL, out);
        CHECK(call(&maybe, v, 3) == out);
        maybe.look = nothing_looked;
        REFUSED(call(&maybe, v, 3), TN_INVALID, "out is also input 1");
    }
    end(c);
}

/* --- announcements ---------------------------------------------------------------------------- */

static int64_t many;
static bool listing_check(tn_frame *f) {
    if (!tn_announce_count(f, many)) return false;
    for (int k = 0; k < f->nout; k++) CHECK(!f->out[k]);
    CHECK_EQ(f->nout, many);
    for (int k = 0; k < f->nout; k += 2)
        if (!tn_announce(f, k, TN_F64, f->in[0]->ndim, f->in[0]->size)) return false;
    return true;
}
static void a_list_of_results_has_holes_and_limits(void) {
    tn_context *c = begin();
    rows();
    look_in = listing_check;
    for (int recorded = 0; recorded < 2; recorded++)
        for (many = 0; many < 70; many += many < 10 ? 1 : 19) {
            int64_t before = live;
            TN_SCOPE {
                struct {
                    tn_tensor *self;
                    int64_t n;
                } a;
                tn_list l;
                a.self = of(1, 1, 1), a.n = many;
                if (recorded) tn_requires_grad(a.self);
                CHECK(tn_call(&listing, TN_PLAIN, "f", 1, &a, &l) && l.n == many && l.holder);
                CHECK_EQ(tn_numel(l.holder), many);
                for (int64_t k = 0; k < many; k++) {
                    CHECK(!l.at[k] == (k % 2 == 1));
                    if (l.at[k]) CHECK(tn_needs_grad(l.at[k]) == recorded && at(l.at[k], 0) == 0);
                    if (l.at[k] && recorded) CHECK_EQ(l.at[k]->node_out, k);
                }
                if (recorded && many) CHECK_EQ(l.at[0]->node->refs, (many + 1) / 2);
            }
            CHECK_EQ(live, before);
        }
    many = 60000;
    TN_SCOPE {
        struct {
            tn_tensor *self;
            int64_t n;
        } a;
        tn_list l;
        a.self = of(1, 0, 1), a.n = 0;
        CHECK(tn_call(&listing, TN_PLAIN, "f", 1, &a, &l) && l.n == 60000);
    }
    end(c);
}

static int64_t scratch_parts[3];
typedef struct scratch_note {
    int64_t live;
} scratch_note;
static bool scratch_check(tn_frame *f) {
    TN_NOTE(scratch_note, note, f);
    for (int i = 0; i < 3; i++) {
        size_t had = f->scratch_bytes, bytes = (size_t)scratch_parts[i] * 4;
        if (!tn_scratch(f, scratch_parts[i], 4)) return false;
        CHECK_EQ(f->scratch_bytes, (had + bytes + TNI_ALIGN - 1) / TNI_ALIGN * TNI_ALIGN);
    }
    note->live = live;
    return one_check(f);
}
static void scratch_run(tn_frame *f) {
    CHECK_EQ(!f->scratch, !f->scratch_bytes);
    CHECK_EQ((uintptr_t)f->scratch % TNI_ALIGN, 0);
    if (f->scratch) memset(f->scratch, 1, f->scratch_bytes);
    fill_run(f);
}
static void scratch_memory_is_rounded_and_goes_back(void) {
    static const int64_t parts[][3] = {{0, 0, 0}, {1, 0, 0}, {16, 0, 0}, {17, 1, 16}, {15, 17, 1}};
    tn_context *c = begin();
    rows();
    probe.run = scratch_run;
    TN_SCOPE {
        tn_value v[3];
        for (int i = 0; i < 3; i++) v[i] = tensor(NULL, of(1, 1, 1));
        look_in = scratch_check;
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            int64_t before = live;
            memcpy(scratch_parts, parts[i], sizeof scratch_parts);
            CHECK(call(&probe, v, 3));
            tn_free(result[0]);
            CHECK_EQ(live, before);
        }
        scratch_parts[2] = (int64_t)1 << 40;
        REFUSED(call(&probe, v, 3), TN_MEMORY, "");
    }
    end(c);
}

/* --- views without a history ------------------------------------------------------------------ */

static void a_view_without_history_is_what_its_tensor_is(void) {
    static double fixed[2] = {3, 4};
    tn_context *c = begin();
    tn_wrap_options o;
    memset(&o, 0, sizeof o);
    o.read_only = true;
    TN_SCOPE {
        tn_tensor *x = tn_detach(tn_wrap(fixed, TN_DIMS(2), TN_F64, &o)), *y, *m;
        REFUSED(tn_add_scalar_(x, 1), TN_INVALID, "self is read-only memory");
        m = tn_detach(tn_empty(TN_DIMS(2), .device = TN_META));
        CHECK(tn_device_of(m) == TN_META && m->flags & TNI_META && !m->storage->data);
        tn_set_inference_mode(true);
        y = of(1, 2, 5);
        tn_set_inference_mode(false);
        y = tn_detach(y);
        REFUSED(tn_add_scalar_(y, 1), TN_AUTOGRAD, "self was made in inference mode");
        tn_set_inference_mode(true);
        x = tn_detach(of(1, 2, 5)), m = of(1, 2, 5);
        CHECK(tn_add_scalar_(x, 1) && at(x, 1) == 6);
        tn_set_inference_mode(false);
        x = of(1, 2, 5);
        tn_set_inference_mode(true);
        y = tn_detach(x); /* of a tensor that is none of that mode's */
        tn_set_inference_mode(false);
        CHECK(tn_add_scalar_(y, 1) && at(x, 1) == 6 && y->storage == x->storage);
        CHECK(y->offset == x->offset && y->device == TN_CPU && !y->base && !y->node);
        y = tn_detach(tn_slice(x, .dim = 1, .start = 1));
        CHECK(y->offset == 1 && at(y, 0) == 6 && x->storage->refs >= 3);
    }
    end(c);
}

/* --- any allocation may fail ------------------------------------------------------------------ */

static tn_tensor *scene_x, *scene_y, *scene_z, *scene_list[20];
static bool multiplied(void) { return tn_mul_(scene_y, scene_x) != NULL; }
static bool multiplied_view(void) {
    return tn_mul_(tn_select(scene_y, 0, 1), tn_select(scene_x, 0, 1));
}
static bool joined(void) { return tn_cat(tn_tensors_of(scene_list, 20)) != NULL; }
static bool summed_along(void) { return tn_cumsum(scene_z, 0, .out = scene_y) != NULL; }
static bool bound_apart(void) { return tn_unbind(scene_x).n == 2; }
static bool scratched(void) {
    tn_value v[3];
    for (int i = 0; i < 3; i++) v[i] = tensor(NULL, scene_z);
    scratch_parts[0] = 100, scratch_parts[1] = scratch_parts[2] = 1, look_in = scratch_check;
    return call(&probe, v, 3) != NULL;
}
static bool detached(void) { return tn_detach(scene_z) != NULL; }
static bool linear(void) { return tn_linear(scene_x, scene_x) != NULL; }
static bool recorded(void) {
    tn_recording *r;
    bool ok = tn_record_begin();
    ok = ok && tn_add_scalar(scene_z, 2) && joined() && scratched();
    tn_recording_free(r = tni_calls(tni_here())->recording ? tn_record_end() : NULL);
    return ok && r;
}
static bool recorded_number(void) { /* the numbers become tensors before b is counted */
    tn_value v[3];
    bool ok = tn_record_begin();
    v[0] = v[2] = named(NULL, TN_T_FLOAT), v[0].as.real = v[2].as.real = 3;
    v[1] = tensor(NULL, scene_z);
    scratch_parts[0] = 100, look_in = scratch_check;
    ok = ok && call(&probe, v, 3);
    if (tni_calls(tni_here())->recording) tn_recording_free(tn_record_end());
    return ok;
}
static bool registered(void) {
    static tn_row r;
    memset(&r, 0, sizeof r);
    r.name = "late", r.schema = "late(Tensor x) -> Tensor", r.check = one_check, r.run = fill_run;
    return tn_register(&r);
}
static bool schema_made(void) {
    tn_gen *g = tn_schema_new("f(int[] a=[1,2], str b='c') -> Tensor");
    tn_schema_free(g);
    return g != NULL;
}
static void set_scene(int kind) {
    scene_x = of(2, 3, 2), scene_z = of(2, 3, 3), scene_y = of(2, 3, 4);
    for (int i = 0; i < 20; i++) scene_list[i] = tn_ones(TN_DIMS(2));
    if (kind < 6) tn_requires_grad(scene_list[7]), tn_requires_grad(scene_x);
    if (kind < 2) scene_y = tn_mul_scalar(scene_x, 2);
    if (kind == 6) scene_y = tn_transpose(tn_full(TN_DIMS(3, 2), 4.0), 0, 1);
}
static void whichever_allocation_fails_nothing_has_changed(void) {
    static bool (*const scene[])(void) = {multiplied, multiplied_view, joined,       bound_apart,
                                          linear,     detached,        summed_along, scratched,
                                          recorded,   recorded_number, schema_made,  registered};
    tn_context *c = begin();
    rows();
    probe.run = scratch_run;
    for (int i = 0; i < 12; i++) {
        bool ok = false;
        int64_t k = 0, failures = 0;
        for (; !ok && k < 200; k++)
            TN_SCOPE {
                set_scene(i);
                int64_t mark = tn_scope_begin(), before = live;
                int64_t tensors = tn_memory().live_tensors;
                uint32_t version = scene_y->storage->version;
                allowed = k + 1;
                ok = scene[i]();
                allowed = 0;
                CHECK_EQ(ok, tn_ok());
                if (!ok) says(TN_MEMORY, i < 8 ? "\n  in " : "", __LINE__), failures++;
                CHECK_EQ(scene_y->storage->version - version, ok && (i < 2 || i == 6));
                CHECK_EQ(at(scene_y, 5), !ok || (i > 1 && i != 6) ? 4 : i == 6 ? 6 : 8);
                if (!ok && (i < 1 || i == 2 || (i > 4 && i < 8))) /* one call, that undoes itself */
                    CHECK_EQ(tn_memory().live_tensors, tensors);
                tn_scope_end(mark);
                if (!ok) CHECK_EQ(tn_memory().live_tensors, tensors);
                if ((!ok || (i > 1 && i < 11)) && !CHECK_EQ(live, before))
                    printf("    scene %d, %d\n", i, (int)k);
                CHECK(!tni_calls(tni_here())->recording && !tni_here()->unstopped &&
                      !tni_here()->work);
            }
        if (!CHECK(ok && failures > 0)) printf("    scene %d: %d\n", i, (int)failures);
    }
    end(c);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(numbers_are_tensors_on_the_stack),
        CHECK_TEST(lists_stand_behind_the_single_tensors),
        CHECK_TEST(lists_of_numbers_are_given_or_absent),
        CHECK_TEST(words_are_those_that_there_are),
        CHECK_TEST(numbers_are_given_or_absent),
        CHECK_TEST(results_may_be_left_out),
        CHECK_TEST(four_results_are_given_apart),
        CHECK_TEST(composed_results_are_given_apart),
        CHECK_TEST(results_are_written_straight_where_they_can_be),
        CHECK_TEST(an_absent_tensor_overlaps_nothing),
        CHECK_TEST(what_a_direct_call_gets_wrong_is_said),
        CHECK_TEST(a_list_of_results_has_holes_and_limits),
        CHECK_TEST(scratch_memory_is_rounded_and_goes_back),
        CHECK_TEST(a_view_without_history_is_what_its_tensor_is),
        CHECK_TEST(whichever_allocation_fails_nothing_has_changed),
    };
    return CHECK_MAIN(tests, argc, argv);
}
