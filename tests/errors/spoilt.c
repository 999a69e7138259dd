/* spoilt.c - every row with every argument spoilt in turn: a result or an error, never a report of
 * a sanitizer.
 *
 *     spoilt [samples=N] [rows.h]      N samples a row (0: all of them)
 *
 * From the row table and its samples: each int, list, number, word, dtype and tensor is replaced by
 * values that do not fit, below the checks of calls by name, in the argument struct itself. In all
 * forms: plain, recorded with backward, in place, out=, meta. After an error: operator, arguments
 * and the given line are named, inputs and the random state are as before, nothing is left behind,
 * and the unspoilt call works. Memory is capped at 64 MiB. A row runs in a child process, so one
 * that crashes is a line of the report. */
#define _GNU_SOURCE
#include "../rows.h"
#include "../ops/sample.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RESULTS = 64, MEMBERS = 1000, CRASHES = 12, SECONDS = 100 };
enum form { FORM_PLAIN, FORM_GRAD, FORM_META, FORM_INPLACE, FORM_OUT, FORMS };
static const char *const form_names[] = {"plain", "with backward", "on meta", "in place", "out="};

/* What the parent sees of a child. */
typedef struct shared {
    int64_t at; /* number of the case in progress */
    int64_t passed, failed;
    int64_t errors; /* cases that ended in an error */
    bool failed_to_start;
    char text[1200];
} shared;

typedef struct state {
    shared *sh;
    const tn_row *row;
    sample s;
    tn_tensor *foreign; /* of another context */
    union {
        double align;
        char at[TNI_ARGS_BYTES];
    } args;
    char what[200];
    int64_t ints[MEMBERS];
    tn_tensor *members[MEMBERS];
    tn_tensor *more[8]; /* tensors made by spoiling, for the check that nothing has changed */
    int nmore;
} state;

/* --- making what does not fit ----------------------------------------------------------------- */

static tn_tensor *made(state *st, tn_dtype dtype, int ndim, const int64_t *size, const char *what) {
    tn_tensor *t = tni_new(tni_here(), dtype, ndim, size);
    snprintf(st->what + strlen(st->what), sizeof st->what - strlen(st->what), "%s", what);
    if (t && t->numel) memset(t->storage->data, 0, (size_t)t->storage->bytes);
    if (t && st->nmore < 8) st->more[st->nmore++] = t;
    return t;
}

/* The same elements' dtype and another shape. */
static tn_tensor *reshaped(state *st, const tn_tensor *old, int v) {
    int64_t size[TN_MAX_DIMS] = {0};
    int n = old ? old->ndim : 2;
    tn_dtype dtype = old ? (tn_dtype)old->dtype : TN_F32;
    for (int d = 0; d < n; d++) size[d] = old ? old->size[d] : 2;
    switch (v) {
    case 0: return made(st, dtype, 0, size, "0-dim");
    case 1: size[0] = 0; return made(st, dtype, 1, size, "(0)");
    case 2:
        if (n) size[0] = 0;
        return made(st, dtype, n, size, "size 0 in front");
    case 3:
        if (n) size[n - 1] = 0;
        return made(st, dtype, n, size, "size 0 at the end");
    case 4:
        for (int d = 0; d < n; d++) size[d] = old ? old->size[n - 1 - d] : 2;
        return made(st, dtype, n, size, "reversed sizes");
    case 5:
        for (int d = 0; d < n; d++) size[d]++;
        return made(st, dtype, n, size, "each size + 1");
    case 6:
        if (n == TN_MAX_DIMS) return NULL;
        size[n] = 1;
        return made(st, dtype, n + 1, size, "one dimension more");
    case 7: return made(st, dtype, n ? n - 1 : 0, size, "one dimension less");
    case 8:
        for (int d = 0; d < TN_MAX_DIMS; d++) size[d] = 1;
        return made(st, dtype, TN_MAX_DIMS, size, "16 dimensions");
    default:
        for (int d = 0; d < n; d++) size[d] = 1;
        return made(st, dtype, n, size, "all sizes 1");
    }
}

static tn_tensor *expanded(state *st, const tn_tensor *old) {
    int64_t size[2] = {3, 2}, stride[TN_MAX_DIMS] = {0};
    tn_tensor *base = made(st, old ? (tn_dtype)old->dtype : TN_F32, 0, size, "expanded"), *t;
    t = base ? tni_view_of(tni_here(), base, old ? old->ndim : 2, old ? old->size : size, stride, 0,
                           true)
             : NULL;
    if (t) t->edge_version = t->storage->version;
    return t;
}

static tn_tensor *filled(state *st, const tn_tensor *old, int64_t v) {
    tn_tensor *t = made(st, (tn_dtype)old->dtype, old->ndim, old->size, "all elements ");
    snprintf(st->what + strlen(st->what), 30, "%lld", (long long)v);
    for (int64_t i = 0; t && i < t->numel; i++)
        tni_element_set((char *)t->storage->data + i * tni_dtype_size(t), t->dtype, tn_int(v));
    return t;
}

static const int64_t far[] = {INT64_MIN,        INT64_MIN + 1,          -1,       3, 1 << 20,
                              (int64_t)1 << 31, ((int64_t)1 << 32) + 1, INT64_MAX};
static const tn_dtype other_dtypes[] = {TN_BOOL, TN_U8,  TN_I64, TN_F16,   TN_F32,
                                        TN_F64,  TN_C64, TN_U16, TN_F8E4M3};
enum { SHAPES = 10, DTYPES = 9, FARS = 8, TENSOR_SPOILS = SHAPES + DTYPES + FARS + 6 };

/* false: this one does not apply. */
static bool spoil_tensor(state *st, tn_tensor **at, int v) {
    tn_tensor *old = *at, *t = NULL;
    int64_t two[2] = {2, 3};
    if (v < SHAPES)
        t = reshaped(st, old, v);
    else if ((v -= SHAPES) < DTYPES) {
        t = made(st, other_dtypes[v], old ? old->ndim : 2, old ? old->size : two,
                 tn_dtype_name(other_dtypes[v]));
    } else if ((v -= DTYPES) < FARS) {
        if (!old || tni_dtype(old->dtype)->category != TNI_CAT_INT) return false;
        t = filled(st, old, far[v]);
    } else if ((v -= FARS) == 0) {
        strcat(st->what, "NULL");
        *at = NULL;
        return true;
    } else if (v == 1)
        t = expanded(st, old);
    else if (v == 2) {
        strcat(st->what, "of another context");
        t = st->foreign;
    } else if (v == 3) {
        strcat(st->what, "on meta");
        t = tni_header(tni_here(), old ? (tn_dtype)old->dtype : TN_F32, old ? old->ndim : 2,
                       old ? old->size : two, NULL);
        if (t) t->flags |= TNI_META, t->device = TN_META;
        if (t && !tni_set_storage(tni_here(), t)) t = NULL;
    } else if (v == 4) {
        strcat(st->what, "also another argument");
        for (int k = 0; k < st->s.ntensors; k++)
            if (st->s.tensor[k] != old) t = st->s.tensor[k];
    } else {
        strcat(st->what, "read-only");
        if (old && st->s.ntensors && st->s.tensor[0] == old) old->flags |= TNI_READ_ONLY, t = old;
    }
    if (t) *at = t;
    return t != NULL;
}

/* The ints that are hard on sizes, dims and indices; n of the first tensor. */
enum { INTS_HERE = 15 };
static int64_t hard_int(const state *st, int v) {
    const tn_tensor *t = st->s.ntensors ? st->s.tensor[0] : NULL;
    int64_t ndim = t ? t->ndim : 2, n = t && t->ndim ? t->size[0] : 3;
    const int64_t values[INTS_HERE] = {0,
                                       1,
                                       -1,
                                       2,
                                       n - 1,
                                       n,
                                       -n - 1,
                                       ndim - 1,
                                       ndim,
                                       -ndim - 1,
                                       (int64_t)1 << 31,
                                       ((int64_t)1 << 32) + 1,
                                       INT64_MIN,
                                       INT64_MIN + 1,
                                       INT64_MAX};
    return values[v];
}

enum { LIST_ITEMS = 4, LIST_SPOILS = LIST_ITEMS * INTS_HERE + 10 };
static bool spoil_ints(state *st, tn_ints *l, int v) {
    int64_t n = l->n > 0 && l->at ? l->n : 0, k;
    char *what = st->what + strlen(st->what);
    if (n > 100) n = 100;
    for (k = 0; k < n; k++) st->ints[k] = l->at[k];
    if (v < LIST_ITEMS * INTS_HERE) {
        k = v / INTS_HERE;
        if (k >= n && !(k == 0 && n == 0)) return false;
        st->ints[k] = hard_int(st, v % INTS_HERE);
        snprintf(what, 60, "[%lld] = %lld", (long long)k, (long long)st->ints[k]);
        *l = tn_ints_of(st->ints, n ? n : 1);
        return true;
    }
    v -= LIST_ITEMS * INTS_HERE;
    snprintf(what, 30, "list %d", v);
    if (v == 0)
        *l = tn_empty_dims();
    else if (v == 1)
        *l = tn_no_dims();
    else if (v == 2)
        memset(l, 0, sizeof *l);
    else if (v == 3)
        l->at = NULL, l->n = 3;
    else {
        static const int64_t count[] = {17, 16, MEMBERS, 2, 4, 3},
                             value[] = {1, 1, 1, 0, 65536, ((int64_t)1 << 32) + 1};
        for (k = 0; k < count[v - 4]; k++) st->ints[k] = value[v - 4];
        *l = tn_ints_of(st->ints, count[v - 4]);
    }
    return true;
}

enum { MEMBER_SPOILS = TENSOR_SPOILS + 6 };
static bool spoil_tensors(state *st, tn_tensors *l, int v) {
    int64_t n = l->n > 0 && l->at ? l->n : 0;
    char *what = st->what + strlen(st->what);
    if (n > 100) return false;
    for (int64_t k = 0; k < n; k++) st->members[k] = l->at[k];
    if (v < TENSOR_SPOILS) {
        if (!n) return false;
        snprintf(what, 30, "member %d ", (int)(v % n));
        *l = tn_tensors_of(st->members, n);
        return spoil_tensor(st, &st->members[v % n], v);
    }
    v -= TENSOR_SPOILS;
    snprintf(what, 30, "list %d", v);
    if (v == 0)
        *l = tn_tensors_of(st->members, 0);
    else if (v == 1)
        memset(l, 0, sizeof *l);
    else if (v == 2)
        l->at = NULL, l->n = -1;
    else if (v == 3)
        l->at = NULL, l->n = 3;
    else if (v == 4 && n) {
        for (int k = 0; k < MEMBERS; k++) st->members[k] = st->members[0];
        *l = tn_tensors_of(st->members, MEMBERS);
    } else if (v == 5 && n > 1)
        *l = tn_tensors_of(st->members, n - 1);
    else
        return false;
    return true;
}

static double hard_real(int v) {
    static const double plain[] = {0, -1, 0.5, 1e300, -1e19, 9223372036854775808.0};
    return v < 6 ? plain[v] : v == 6 ? (double)NAN : v == 7 ? HUGE_VAL : -HUGE_VAL;
}
enum { REALS = 9, SCALARS = REALS + 8, WORDS = 5 };

static bool spoil_number(state *st, const tn_param *p, char *at, int v) {
    double d = hard_real(v < REALS ? v : 0);
    tn_maybe m = tn_some(d);
    tn_scalar s = tn_float(d);
    char *what = st->what + strlen(st->what);
    bool scalar = (p->type == TN_T_SCALAR && !(p->flags & TN_P_DOUBLE)) || p->type == TN_T_TENSOR;
    if (v < REALS)
        snprintf(what, 40, "%g", d);
    else
        snprintf(what, 40, "number %d", v - REALS);
    if (scalar) {
        if (v == REALS)
            memset(&s, 0, sizeof s);
        else if (v == REALS + 1)
            s = tn_none();
        else if (v == REALS + 2)
            s = tn_int(INT64_MAX);
        else if (v == REALS + 3)
            s = tn_int(INT64_MIN);
        else if (v == REALS + 4)
            s = tn_bool(true);
        else if (v == REALS + 5)
            s = tn_complex(1, 2);
        else if (v == REALS + 6)
            s.kind = 99;
        else if (v == REALS + 7)
            s.kind = -1;
        memcpy(at, &s, sizeof s);
        return true;
    }
    if (p->flags & TN_P_MAYBE) {
        if (v == REALS)
            memset(&m, 0, sizeof m);
        else if (v == REALS + 1)
            m = tn_no_float();
        else if (v == REALS + 2)
            m.given = 99;
        else if (v > REALS)
            return false;
        memcpy(at, &m, sizeof m);
        return true;
    }
    memcpy(at, &d, sizeof d);
    return v < REALS;
}

static int spoils_of(const tn_param *p) {
    static const int count[] = {
        0, TENSOR_SPOILS,      MEMBER_SPOILS, INTS_HERE, SCALARS, 1, SCALARS, LIST_SPOILS,
        6, TN_DTYPE_COUNT + 3, WORDS,         1,         WORDS,   2, 0,       0};
    return count[p->type] + (p->flags & TN_P_NUMBER ? SCALARS : 0);
}

/* Replaces argument p of the call by the v-th value that may not fit. */
static bool spoil_argument(state *st, const tn_param *p, int v) {
    static const int32_t words[] = {0, 2, 3, 99, -1};
    char *at = st->args.at + p->offset;
    tn_tensor *t, *none = NULL;
    tn_tensors l;
    tn_ints ints;
    int64_t i;
    int32_t word;
    bool b;
    tn_floats reals = {NULL, 3};
    const char *string = v ? "nonsense" : NULL;
    snprintf(st->what, sizeof st->what, "%s: ", p->name);
    switch (p->type) {
    case TN_T_TENSOR:
        memcpy(&t, at, sizeof t);
        if (v >= TENSOR_SPOILS) {
            memcpy(at, &none, sizeof none);
            return spoil_number(st, p, st->args.at + p->number_offset, v - TENSOR_SPOILS);
        }
        if (!spoil_tensor(st, &t, v)) return false;
        memcpy(at, &t, sizeof t);
        return true;
    case TN_T_TENSORS:
        memcpy(&l, at, sizeof l);
        if (!spoil_tensors(st, &l, v)) return false;
        memcpy(at, &l, sizeof l);
        return true;
    case TN_T_INT:
        i = hard_int(st, v);
        snprintf(st->what + strlen(st->what), 40, "%lld", (long long)i);
        memcpy(at, &i, sizeof i);
        return true;
    case TN_T_BOOL:
        memcpy(&b, at, sizeof b);
        b = !b;
        strcat(st->what, "the other");
        memcpy(at, &b, sizeof b);
        return true;
    case TN_T_INTS:
        memcpy(&ints, at, sizeof ints);
        if (!spoil_ints(st, &ints, v)) return false;
        memcpy(at, &ints, sizeof ints);
        return true;
    case TN_T_FLOATS:
        if (v == 1) reals.n = 0;
        if (v == 2) reals.n = -1;
        if (v == 3) reals.at = (const double *)(const void *)far, reals.n = 8;
        if (v > 3) return false;
        memcpy(at, &reals, sizeof reals);
        return true;
    case TN_T_FLOAT:
    case TN_T_SCALAR: return spoil_number(st, p, at, v);
    case TN_T_STRING: memcpy(at, &string, sizeof string); return true;
    case TN_T_DTYPE:
        word = v < TN_DTYPE_COUNT + 1 ? v : v == TN_DTYPE_COUNT + 1 ? -1 : 100000;
        snprintf(st->what + strlen(st->what), 40, "dtype %d", (int)word);
        memcpy(at, &word, sizeof word);
        return true;
    default:
        snprintf(st->what + strlen(st->what), 40, "word %d", (int)words[v]);
        memcpy(at, &words[v], sizeof word);
        return true;
    }
}

static int spoils(const tn_row *row) {
    int n = 0;
    for (int i = 0; i < row->gen->nparam; i++) n += spoils_of(&row->gen->param[i]);
    return n;
}
static bool spoil(state *st, int v) {
    for (int i = 0; i < st->row->gen->nparam; i++) {
        const tn_param *p = &st->row->gen->param[i];
        if (v < spoils_of(p)) return spoil_argument(st, p, v);
        v -= spoils_of(p);
    }
    return false;
}

/* Outputs that may not fit, one for all results: v counts through spoil_tensor and the right shape
 * with a need. */
static bool spoil_out(state *st, tn_tensor **want, int n, int v) {
    const tn_gen *gen = st->row->gen;
    tn_tensor *given[4];
    snprintf(st->what, sizeof st->what, "out: ");
    for (int k = 0; k < n; k++) {
        given[k] =
            made(st, (tn_dtype)want[k]->dtype, want[k]->ndim, want[k]->size, k ? "" : "from ");
        if (!given[k]) return false;
    }
    if (v == TENSOR_SPOILS) {
        given[0]->flags |= TNI_REQUIRES | TNI_LEAF, strcat(st->what, "leaf");
        if (tni_dtype(given[0]->dtype)->category < TNI_CAT_FLOAT) return false;
    } else if (v == TENSOR_SPOILS + 1) {
        if (n < 2) return false;
        given[1] = given[0], strcat(st->what, "twice the same");
    } else if (v == TENSOR_SPOILS + 2) {
        if (!st->s.ntensors) return false;
        given[0] = st->s.tensor[0], strcat(st->what, "an input");
    } else if (!spoil_tensor(st, &given[n - 1], v))
        return false;
    memcpy(st->args.at + gen->out_offset, given, (size_t)n * sizeof *given);
    return true;
}

/* --- one case --------------------------------------------------------------------------------- */

static void complain(state *st, const char *what, const char *more) {
    st->sh->failed++;
    printf("FAILED errors %s: %s: %s\n    %s\n", st->row->name, st->sh->text, what, more);
    fflush(stdout);
}

static uint64_t sum_of(const tn_tensor *t, uint64_t h) {
    if (!t || t->flags & TNI_META || !t->storage || !t->storage->data) return h;
    const unsigned char *at = (const unsigned char *)t->storage->data;
    for (int64_t i = 0; i < t->storage->bytes; i++) h = (h ^ at[i]) * 0x100000001b3u;
    h = (h ^ t->storage->version) * 0x100000001b3u;
    for (int d = 0; d < t->ndim; d++)
        h = (h ^ (uint64_t)t->size[d] ^ (uint64_t)t->stride[d] << 32) * 0x100000001b3u;
    return h;
}
/* Of all that the caller can see. */
static uint64_t sum_of_all(const state *st) {
    uint64_t h = 0xcbf29ce484222325u;
    uint8_t random[TN_GENERATOR_BYTES];
    for (int k = 0; k < st->s.ntensors; k++) h = sum_of(st->s.tensor[k], h);
    for (int k = 0; k < st->nmore; k++) h = sum_of(st->more[k], h);
    if (st->row->gen->props & TN_PROP_GENERATOR) {
        tn_generator_state(tn_default_generator(), random);
        for (int i = 0; i < TN_GENERATOR_BYTES; i++) h = (h ^ random[i]) * 0x100000001b3u;
    }
    return h;
}

/* The row's arguments from the sample; numbers given for lists become lists. */
static bool bind(state *st) {
    char reason[200];
    const tn_gen *gen = st->row->gen;
    for (int v = 0, at = 0; v < st->s.nvalues; v++) {
        tn_value *value = &st->s.value[v];
        const tn_param *p = NULL;
        for (int i = 0; i < gen->nparam; i++)
            if (value->name ? strcmp(value->name, gen->param[i].name) == 0 : i == at)
                p = &gen->param[i];
        if (!value->name) at++;
        if (p && p->type == TN_T_INTS && value->type == TN_T_INT && st->s.nints < SAMPLE_INTS) {
            st->s.ints[st->s.nints] = value->as.integer;
            value->type = TN_T_INTS;
            value->as.ints = tn_ints_of(&st->s.ints[st->s.nints++], 1);
        }
    }
    memset(&st->args, 0, sizeof st->args);
    return tni_bind_values(gen, st->s.value, st->s.nvalues, true, st->args.at, reason,
                           sizeof reason);
}

static bool make(state *st, int which, bool meta) {
    st->nmore = 0;
    return sample_make(&st->s, st->row, which, TN_F32, meta) && bind(st);
}

typedef union results {
    tn_tensor *t[TNI_RESULTS];
    tn_list l;
} results;

static int results_of(const tn_row *row, const results *r, tn_tensor **out) {
    int n = row->gen->props & TN_PROP_RETURNS_LIST ? (int)(r->l.n < RESULTS ? r->l.n : RESULTS)
                                                   : row->gen->nresults;
    for (int k = 0; k < n; k++)
        out[k] = row->gen->props & TN_PROP_RETURNS_LIST ? r->l.at[k] : r->t[k];
    return n;
}

static bool differentiable(const tn_row *row) {
    return (row->grad || row->compose) && row->grad != tn_grad_zero &&
           !(row->gen->props & TN_PROP_MUTATED);
}

static void require_grad(state *st) {
    for (int k = 0; k < st->s.ntensors; k++)
        if (tni_dtype(st->s.tensor[k]->dtype)->category >= TNI_CAT_FLOAT)
            st->s.tensor[k]->flags |= TNI_REQUIRES | TNI_LEAF;
    for (int k = 0; k < st->nmore; k++)
        if (tni_dtype(st->more[k]->dtype)->category >= TNI_CAT_FLOAT &&
            tni_dtype(st->more[k]->dtype)->computes)
            st->more[k]->flags |= TNI_REQUIRES | TNI_LEAF;
}

static bool backward(const tn_row *row, const results *r, int line) {
    tn_tensor *out[RESULTS];
    int n = results_of(row, r, out);
    for (int k = 0; k < n; k++) {
        tn_backward_args a;
        if (!out[k] || !(out[k]->flags & TNI_REQUIRES) || out[k]->numel > 1 << 20) continue;
        memset(&a, 0, sizeof a);
        a.t = out[k];
        a.retain_graph = true;
        a.gradient = tnp_expand(tnp_ones(tn_empty_dims(), tn_dtype_of(out[k]), TN_CPU),
                                tn_shape(out[k]), false);
        if (!a.gradient || !tn_backward_at("spoilt", line, &a)) return false;
    }
    return true;
}

/* Names operator, arguments and line; backward of a composed row names the row inside it, at the
 * forward call's line. */
static void judge_message(state *st, const tn_error_info *e, int line) {
    char call[80];
    snprintf(call, sizeof call, "in %s(", st->row->name);
    if (e->code == TN_INTERNAL || e->code == TN_OK)
        complain(st, "an internal error", e->message);
    else if (!strstr(e->message, st->row->name) && !strstr(e->message, "\n  forward call: "))
        complain(st, "the message does not name the operator", e->message);
    else if (!strstr(e->message, call) && !strstr(e->message, ", called by ") &&
             !strstr(e->message, "gradient of"))
        complain(st, "the message has no arguments", e->message);
    else if (!e->file || strcmp(e->file, "spoilt") || e->line != line)
        complain(st, "the message has another line", e->message);
    else
        st->sh->passed++;
}

static void run_case(state *st, int which, enum form form, int v, tn_tensor **want, int nwant) {
    tn_error_info e;
    results r;
    int line = 1000 + v;
    int64_t mark = tn_scope_begin();
    uint64_t before;
    unsigned how = form == FORM_INPLACE ? TN_IN_PLACE : TN_PLAIN;
    bool ok, recorded = false;
    memset(&r, 0, sizeof r);
    if (!make(st, which, form == FORM_META) ||
        !(form == FORM_OUT ? spoil_out(st, want, nwant, v) : spoil(st, v))) {
        tn_error_take(NULL);
        tn_scope_end(mark);
        return;
    }
    if (form == FORM_GRAD) require_grad(st);
    snprintf(st->sh->text, sizeof st->sh->text, "[%s] %s, %s", st->s.text, form_names[form],
             st->what);
    tn_manual_seed(7);
    before = sum_of_all(st);
    alarm(SECONDS);
    ok = tn_call(st->row, how, "spoilt", line, st->args.at, &r);
    if (ok && form == FORM_GRAD) recorded = true, ok = backward(st->row, &r, line);
    alarm(0);
    if (ok) st->sh->passed++;
    if (ok && !tn_ok()) complain(st, "an error is left behind a success", "");
    if (!ok && !tn_error_peek(&e))
        complain(st, "failed without an error", "");
    else if (!ok) {
        st->sh->errors++;
        if (!recorded && sum_of_all(st) != before)
            complain(st, "an argument has changed though the call failed", e.message);
        judge_message(st, &e, line);
        tn_error_take(NULL);
        if (make(st, which, form == FORM_META)) {
            ok = tn_call(st->row, TN_PLAIN, "spoilt", line, st->args.at, &r);
            if (!ok && form != FORM_META)
                complain(st, "the unspoilt call fails afterwards",
                         tn_error_peek(&e) ? e.message : "");
            tn_error_take(NULL);
        }
    }
    for (int k = 0; k < st->s.ntensors; k++) tn_zero_grad(st->s.tensor[k]);
    for (int k = 0; k < st->nmore; k++) tn_zero_grad(st->more[k]);
    tn_scope_end(mark);
}

/* --- one row, in a child ---------------------------------------------------------------------- */

static tn_context *capped(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.memory_cap = (int64_t)64 << 20;
    o.no_cache = true;
    o.threads = -1;
    return tn_context_new(&o);
}

static bool form_applies(const state *st, enum form form, int nwant) {
    const tn_row *row = st->row;
    if (form == FORM_GRAD) return differentiable(row);
    if (form == FORM_INPLACE) return (row->forms & TN_INPLACE) != 0;
    if (form == FORM_OUT) return row->forms & TN_OUT && nwant > 0 && nwant <= 4;
    return form != FORM_META || row->gen->nfixed || row->gen->props & TN_PROP_LISTS;
}

static void one_sample(state *st, int which, int64_t from, int64_t *at) {
    int64_t mark = tn_scope_begin(), used;
    tn_tensor *want[RESULTS];
    results r;
    int nwant = 0;
    memset(&r, 0, sizeof r);
    if (!make(st, which, false) || !tn_call(st->row, TN_PLAIN, "spoilt", 1, st->args.at, &r)) {
        tn_error_info e;
        snprintf(st->sh->text, sizeof st->sh->text, "[%s]", st->s.text);
        complain(st, "fails on its own sample", tn_error_peek(&e) ? e.message : st->s.error);
        tn_error_take(NULL);
        tn_scope_end(mark);
        return;
    }
    if (!(st->row->gen->props & TN_PROP_RETURNS_LIST)) nwant = results_of(st->row, &r, want);
    for (int k = 0; k < nwant; k++)
        if (!want[k]) nwant = 0;
    tn_memory_trim();
    used = tn_memory().bytes_used;
    for (int form = 0; form < FORMS; form++) {
        int count = form == FORM_OUT ? TENSOR_SPOILS + 3 : spoils(st->row);
        if (!form_applies(st, (enum form)form, nwant)) continue;
        for (int v = 0; v < count; v++) {
            if ((*at)++ < from) continue;
            st->sh->at = *at;
            run_case(st, which, (enum form)form, v, want, nwant);
            if (tn_memory().bytes_used != used) {
                char text[60];
                snprintf(text, sizeof text, "%lld bytes",
                         (long long)(tn_memory().bytes_used - used));
                complain(st, "memory is left behind", text);
                used = tn_memory().bytes_used;
            }
        }
    }
    tn_scope_end(mark);
}

static int64_t elements(const state *st) {
    int64_t n = 0;
    for (int k = 0; k < st->s.ntensors; k++) n += st->s.tensor[k]->numel;
    return n;
}

static void one_row(shared *sh, const tn_row *row, int64_t from, int samples) {
    static state room; /* not on the stack: it has arrays */
    state *st = &room;
    tn_context *other = capped(), *own = capped();
    int64_t at = 0, two[2] = {2, 3};
    int used = 0;
    if (!other || !own) exit(3);
    st->sh = sh;
    st->row = row;
    tn_context_use(other);
    st->foreign = tn_hold(tni_new(tni_here(), TN_F32, 2, two));
    memset(st->foreign->storage->data, 0, 24);
    tn_context_use(own);
    tn_manual_seed(7); /* makes the generator */
    for (int i = 0; i < sample_count(row) && (!samples || used < samples); i++) {
        int64_t mark = tn_scope_begin(), n;
        bool ok = sample_make(&st->s, row, i, TN_F32, false);
        n = ok ? elements(st) : 0;
        tn_error_take(NULL);
        tn_scope_end(mark);
        if (i && n > 3000) continue; /* for loops, not for checks */
        used++;
        one_sample(st, i, from, &at);
    }
    tn_context_use(other);
    tn_free(st->foreign);
    tn_context_use(NULL);
    tn_context_free(own);
    tn_context_free(other);
    tn_context_free(NULL);
}

/* --- the parent ------------------------------------------------------------------------------- */

static void show_log(const char *path) {
    char line[400];
    int shown = 0;
    FILE *f = fopen(path, "r");
    while (f && shown < 8 && fgets(line, sizeof line, f))
        if (strstr(line, "ERROR: ") || strstr(line, "runtime error") || strstr(line, "SUMMARY") ||
            (strstr(line, "    #") && strstr(line, "src/")))
            printf("    %s", line), shown++;
    if (f) fclose(f);
}

static void run_row(shared *sh, const tn_row *row, int samples, const char *log) {
    int64_t from = 0;
    for (int crashes = 0; crashes < CRASHES; crashes++) {
        int status = 0;
        pid_t pid;
        fflush(stdout);
        sh->at = from;
        pid = fork();
        if (pid == 0) {
            if (!freopen(log, "w", stderr)) exit(4);
            one_row(sh, row, from, samples);
            exit(0); /* the leak checker runs here */
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid) {
            printf("FAILED errors: fork: %s\n", strerror(errno));
            exit(1);
        }
        if (status == 0) return;
        sh->failed++;
        printf("FAILED errors %s: %s: %s %d\n", row->name, sh->text,
               WIFSIGNALED(status) ? "signal" : "exit",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        show_log(log);
        if (sh->at == from) return; /* no case of its own */
        from = sh->at;
    }
}

int main(int argc, char **argv) {
    shared *sh =
        (shared *)mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int samples = 2, rows = 0;
    char log[300];
    for (int a = 1; a < argc; a++) {
        if (strncmp(argv[a], "samples=", 8) == 0) samples = atoi(argv[a] + 8);
    }
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    if (!rows_begin(argc, argv, tables)) return 1;
    snprintf(log, sizeof log, "%s.%d.log", argv[0], (int)getpid());
    if (sh == MAP_FAILED) return 1;
    for (int64_t i = 0; i < tn_row_count(); i++) {
        const tn_row *row = tn_row_at(i);
        if (!rows_take(0, i)) continue;
        rows++;
        run_row(sh, row, samples, log);
    }
    printf("%d rows, %lld spoilt calls ended in an error\n", rows, (long long)sh->errors);
    printf("%lld passed, %lld failed\n", (long long)sh->passed, (long long)sh->failed);
    return sh->failed != 0;
}
