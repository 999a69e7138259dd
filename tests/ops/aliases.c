/* aliases.c - calls that write into memory which their inputs share, beside a model: every row with
 * an in-place form, out=, or a tensor that its schema says it writes. The tensors of a call are
 * laid by chance into one memory a dtype.
 *
 *     aliases [count=N] [seed=N] [rows.h]        N layouts a sample, form and dtype
 *
 * The model lists the address of every element. A call is refused where a written tensor has two
 * elements at one address, or shares one with another written tensor or with an input: but an input
 * that the row may be given (docs/rows.md) can be the written tensor itself, each element of both
 * at one address, or one element of it. Else it is done, with the bits of the same call on tensors
 * that have memory of their own, and changes nothing else. What is refused changes nothing, no
 * version either. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../rows.h"
#include "sample.h"

#include <stdio.h>

enum { PLACES = 24, OUTS = 4, DIMS = 6, ELEMENTS = 512, ROOM = 4096, GROUPS = 6 };

/* A tensor of the call: where its elements are in the memory of its dtype. */
typedef struct place {
    tn_tensor *from; /* the sample's, with the values; NULL: given for a result */
    tn_dtype dtype;
    int ndim, group;
    bool first, written; /* the row's input 0; a result, or what the schema says is written */
    int64_t size[DIMS], stride[DIMS], offset, numel, at[ELEMENTS];
} place;

/* One call in two worlds: shared memory, and memory of each tensor's own. */
static struct {
    sample s;
    bool inplace, written[SAMPLE_TENSORS]; /* tensors that the schema says are written, and were */
    int nplaces, nouts, ngroups;
    place p[PLACES];
    tn_tensor *memory[GROUPS], *was[GROUPS];
} m;

static uint64_t state = 1;
static int64_t passed, failed, done, itself, overlapping, other;

static int64_t below(int64_t n) { return (int64_t)(sample_hash(state++) % (uint64_t)n); }
static void wrong(const char *what, const char *error) {
    failed++;
    printf("FAILED aliases %s%s [%s] %s: %s %s\n", m.s.row->name,
           m.inplace ? "_" : " out=", m.s.text, tn_dtype_name(m.s.dtype), what, error);
    for (int i = 0; i < m.nplaces; i++) {
        const place *p = &m.p[i];
        printf("    %s %s offset %lld", p->written ? "written" : "read", tn_dtype_name(p->dtype),
               (long long)p->offset);
        for (int d = 0; d < p->ndim; d++)
            printf(", %lld by %lld", (long long)p->size[d], (long long)p->stride[d]);
        printf("\n");
    }
}

/* --- layouts by chance ------------------------------------------------------------------------ */

/* Dimensions in any order, gaps between them; now and then one of stride 0; a stride of one element
 * is of no meaning and anything. */
static void lay_anyhow(place *p) {
    int order[DIMS];
    int64_t step = below(3) ? 1 : 1 + below(3);
    for (int d = 0; d < p->ndim; d++) {
        const int to = below(3) ? 0 : (int)below(d + 1); /* mostly row-major */
        for (int k = d; k > to; k--) order[k] = order[k - 1];
        order[to] = d;
    }
    for (int k = 0; k < p->ndim; k++) {
        const int d = order[k];
        p->stride[d] = step;
        step *= (p->size[d] ? p->size[d] : 1) + (below(6) ? 0 : below(3) - 1);
        if (step < 1) step = 1;
        if (!below(24)) p->stride[d] = 0;
        if (p->size[d] == 1) p->stride[d] = below(9);
    }
    p->offset = below(3) ? 0 : below(10);
}
/* As p, which has the same sizes behind leading ones; now and then an element beside it. */
static void lay_alike(place *to, const place *p) {
    for (int d = 0; d < to->ndim; d++) {
        const int from = d - to->ndim + p->ndim;
        to->stride[d] = from < 0 || (to->size[d] == 1 && below(2)) ? below(9) : p->stride[from];
    }
    to->offset = p->offset;
    if (!below(6)) to->offset++;
    if (to->ndim > 1 && !below(8)) {
        const int64_t held = to->stride[0];
        to->stride[0] = to->stride[1], to->stride[1] = held;
    }
}
static bool sizes_alike(const place *a, const place *b) {
    const int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    for (int d = 1; d <= ndim; d++) {
        const int64_t x = d <= a->ndim ? a->size[a->ndim - d] : 1,
                      y = d <= b->ndim ? b->size[b->ndim - d] : 1;
        if (x != y) return false;
    }
    return true;
}

/* The addresses; false: more than there is room for. */
static bool list_addresses(place *p) {
    p->numel = 1;
    for (int d = 0; d < p->ndim; d++) p->numel *= p->size[d];
    if (p->numel > ELEMENTS) return false;
    for (int64_t i = 0; i < p->numel; i++) {
        int64_t rest = i;
        p->at[i] = p->offset;
        for (int d = p->ndim - 1; d >= 0; rest /= p->size[d], d--)
            p->at[i] += rest % p->size[d] * p->stride[d];
        if (p->at[i] >= ROOM) return false;
    }
    return true;
}
static bool lay(int i) {
    place *p = &m.p[i];
    const place *like = i && below(3) ? &m.p[below(i)] : NULL;
    p->group = 0;
    while (p->group < m.ngroups && m.memory[p->group]->dtype != p->dtype) p->group++;
    if (p->group == GROUPS) return false;
    if (p->group == m.ngroups) {
        const int64_t room = ROOM;
        m.memory[m.ngroups++] = tnp_zeros(tn_ints_of(&room, 1), p->dtype, TN_CPU);
    }
    if (like && like->dtype == p->dtype && sizes_alike(p, like))
        lay_alike(p, like);
    else
        lay_anyhow(p);
    return list_addresses(p);
}

/* --- the model -------------------------------------------------------------------------------- */

static bool share(const place *a, const place *b) {
    for (int64_t i = 0; a->group == b->group && i < a->numel; i++)
        for (int64_t k = 0; k < b->numel; k++)
            if (a->at[i] == b->at[k] && (a != b || i < k)) return true;
    return false;
}
static bool same_places(const place *a, const place *b) {
    return a->group == b->group && sizes_alike(a, b) &&
           memcmp(a->at, b->at, (size_t)a->numel * sizeof *a->at) == 0;
}

/* Whether input p may be exactly the tensor t that is written (docs/rows.md). */
static bool may_be_written(const place *p, const place *t) {
    const tn_row *row = m.s.row;
    if (row->rules) return true;
    if (!t->from && !row->look && !(row->forms & TN_MOVES) && !(row->gen->props & TN_PROP_MUTATED))
        return true; /* made apart */
    if (!(row->forms & TN_INPLACE)) return false;
    return p->first || (m.inplace && row->forms & TN_ALIAS);
}

/* Where any input may be the tensor that is written in place, it may be one element of that. */
static bool is_element(const place *p) {
    return m.inplace && m.s.row->forms & TN_ALIAS && p->numel == 1;
}

/* Whether the call is done; *same: with an input where it is written. */
static bool may_be_done(bool *same) {
    bool may = true;
    *same = false;
    for (int i = 0; i < m.nplaces; i++) {
        const place *t = &m.p[i];
        if (!t->written) continue;
        if (share(t, t)) return false;
        for (int k = 0; k < m.nplaces; k++) {
            const place *p = &m.p[k];
            if (k == i || !share(t, p)) continue;
            if (m.s.row->compose && !p->written) continue; /* is written when all has been read */
            if (p->written || !may_be_written(p, t) || !(same_places(t, p) || is_element(p)))
                may = false;
            *same = true;
        }
    }
    return may;
}

/* --- a call ----------------------------------------------------------------------------------- */

static tn_tensor *view(tn_tensor *memory, const place *p) {
    return tnp_as_strided(memory, tn_ints_of(p->size, p->ndim), tn_ints_of(p->stride, p->ndim),
                          p->offset, tn_ints_of(NULL, -1), 0);
}
static void pour(const place *p) {
    const int64_t each = tni_dtype_size(p->from), n = p->from->numel;
    for (int64_t i = 0; n && i < p->numel; i++)
        memcpy((char *)tni_bytes_at(m.memory[p->group]) + p->at[i] * each,
               tni_bytes_at(p->from) + i % n * each, (size_t)each);
}

/* The call of the sample with other tensors. */
static bool call(tn_tensor **t) {
    sample s = m.s;
    tn_tensor *out[SAMPLE_OUTS];
    tn_value *v = &s.value[s.nvalues];
    int n = 0, given = m.nplaces - m.nouts;
    for (int i = 0; i < s.nvalues; i++) { /* lists point into the copy */
        if (s.value[i].type == TN_T_TENSORS)
            s.value[i].as.tensors.at = s.list + (m.s.value[i].as.tensors.at - m.s.list);
        if (s.value[i].name) s.value[i].name = s.name[i];
    }
    for (int i = 0; i < s.ntensors; i++) sample_replace(&s, m.s.tensor[i], t[i]);
    if (m.nouts) {
        memset(v, 0, sizeof *v);
        v->name = "out";
        v->type = m.nouts == 1 ? TN_T_TENSOR : TN_T_TENSORS;
        if (m.nouts == 1)
            v->as.tensor = t[given];
        else
            v->as.tensors = tn_tensors_of(t + given, m.nouts);
        s.nvalues++;
    }
    tn_manual_seed(7);
    return sample_call(&s, m.inplace ? TN_IN_PLACE : TN_PLAIN, out, SAMPLE_OUTS, &n);
}

/* On tensors of their own; what they come to hold goes where the model has it: into `was`. */
static bool call_apart(void) {
    tn_tensor *t[PLACES];
    for (int i = 0; i < m.nplaces; i++)
        t[i] = view(tnp_clone(m.memory[m.p[i].group], (tn_memory_format)0), &m.p[i]);
    if (!call(t)) return false;
    for (int i = 0; i < m.nplaces; i++) {
        const int64_t each = tni_dtype_size(t[i]);
        const place *p = &m.p[i];
        for (int64_t k = 0; p->written && k < p->numel; k++)
            memcpy((char *)tni_bytes_at(m.was[p->group]) + p->at[k] * each,
                   (const char *)t[i]->storage->data + p->at[k] * each, (size_t)each);
    }
    return true;
}

/* In the same memory: where a result lies exactly as an input does, it is that header at times. */
static bool call_shared(void) {
    tn_tensor *t[PLACES];
    for (int i = 0; i < m.nplaces; i++) {
        const place *p = &m.p[i];
        t[i] = NULL;
        for (int k = 0; k < i && !t[i] && below(2); k++)
            if (m.p[k].ndim == p->ndim && m.p[k].numel == p->numel && same_places(p, &m.p[k]))
                t[i] = t[k];
        if (!t[i]) t[i] = view(m.memory[p->group], p);
    }
    return call(t);
}

static bool memory_is(bool written) {
    for (int g = 0; g < m.ngroups; g++) {
        const size_t bytes = ROOM * (size_t)tni_dtype_size(m.memory[g]);
        if (memcmp(tni_bytes_at(m.memory[g]), tni_bytes_at(m.was[g]), bytes)) return false;
        if (!written && tn_version(m.memory[g])) return false;
    }
    return true;
}

static void check_call(void) {
    bool same, apart = false, ok;
    char error[400] = "";
    const bool may = may_be_done(&same);
    tn_error_info e;
    /* It counts offsets from the memory's beginning, which is another in memory of its own. */
    if (may && same && sample_reads_memory(m.s.row)) return;
    for (int g = 0; g < m.ngroups; g++) m.was[g] = tnp_clone(m.memory[g], (tn_memory_format)0);
    if (may) {
        apart = call_apart();
        tn_error_take(NULL);
    }
    ok = call_shared();
    if (tn_error_take(&e)) snprintf(error, sizeof error, "%s", e.message);
    if (ok != apart)
        wrong(ok ? "is done" : "is refused:", error);
    else if (!memory_is(ok))
        wrong(ok ? "has other results than with memory of their own, or writes elsewhere"
                 : "is refused and has written",
              error);
    else
        passed++, *(ok ? same ? &itself : &done : may ? &other : &overlapping) += 1;
}

/* --- the calls of a sample -------------------------------------------------------------------- */

static place *add_place(tn_tensor *from, const tn_tensor *like) {
    place *p = &m.p[m.nplaces++];
    memset(p, 0, sizeof *p);
    p->from = from;
    p->dtype = (tn_dtype)like->dtype;
    p->ndim = like->ndim <= DIMS ? like->ndim : 0;
    memcpy(p->size, like->size, (size_t)p->ndim * sizeof *p->size);
    return p;
}

/* Other sizes for a row that takes any: what is written has all of the dimensions, an input the
 * last of them, some as one element. */
static void reshape_places(void) {
    const int ndim = (int)below(4);
    int64_t size[DIMS];
    for (int d = 0; d < ndim; d++) size[d] = below(12) ? 1 + below(3) : 0;
    for (int i = 0; i < m.nplaces; i++) {
        place *p = &m.p[i];
        int cut = 0;
        while (!p->written && cut < ndim && !below(size[cut] == 1 ? 2 : 8)) cut++;
        p->ndim = ndim - cut;
        for (int d = 0; d < p->ndim; d++) p->size[d] = p->written || below(6) ? size[cut + d] : 1;
    }
}

static bool make_places(tn_tensor *const *result, int n) {
    const tn_gen *gen = m.s.row->gen;
    const tn_value *v = &m.s.value[0];
    m.nplaces = m.ngroups = 0;
    m.nouts = m.inplace || !(m.s.row->forms & TN_OUT) ? 0 : n;
    if (m.s.ntensors + n > PLACES || m.s.nvalues >= SAMPLE_VALUES) return false;
    for (int i = 0; i < m.s.ntensors; i++) {
        place *p = add_place(m.s.tensor[i], m.s.tensor[i]);
        p->first = gen->nfixed && gen->fixed[0] == 0 && v->type == TN_T_TENSOR &&
                   v->as.tensor == m.s.tensor[i];
        p->written = (p->first && m.inplace) || m.written[i];
        if (m.s.tensor[i]->ndim > DIMS) return false;
    }
    if (m.inplace && !m.p[0].written) return false;
    for (int k = 0; k < m.nouts; k++) add_place(NULL, result[k])->written = true;
    if (m.s.row->rules && below(4)) reshape_places();
    for (int i = 0; i < m.nplaces; i++)
        if (!lay(i)) return false;
    for (int i = 0; i < m.nplaces; i++)
        if (m.p[i].from) pour(&m.p[i]);
    return true;
}

static void check_sample(const tn_row *row, int i, tn_dtype dtype, bool inplace) {
    tn_tensor *result[SAMPLE_OUTS];
    int n = 0;
    m.inplace = inplace;
    if (!sample_make(&m.s, row, i, dtype, false)) return;
    tn_manual_seed(7);
    if (!sample_call(&m.s, TN_PLAIN, result, SAMPLE_OUTS, &n) || n > OUTS || !n) return;
    for (int k = 0; k < n; k++)
        if (!result[k] || result[k]->ndim > DIMS) return;
    for (int t = 0; t < m.s.ntensors; t++)
        m.written[t] = sample_is_written(&m.s, t) && tn_version(m.s.tensor[t]);
    if (!sample_make(&m.s, row, i, dtype, false)) return; /* a row that writes has written */
    if (make_places(result, n)) check_call();
}

static void check_row(const tn_row *row, int count) {
    static const tn_dtype dtypes[] = {TN_F32, TN_I64, TN_C64};
    const bool mutated = row->gen->props & TN_PROP_MUTATED;
    if (row->gen->props & TN_PROP_RETURNS_LIST || (mutated && row->gen->props & TN_PROP_LISTS))
        return;
    for (int i = 0; i < sample_count(row); i++)
        for (int k = 0; k < 6 * count; k++) {
            const bool inplace = k & 1;
            if (!(row->forms & (inplace ? TN_INPLACE : TN_OUT)) && (inplace || !mutated)) continue;
            TN_SCOPE {
                check_sample(row, i, dtypes[k / 2 % 3], inplace);
            }
            tn_error_take(NULL);
        }
}

int main(int argc, char **argv) {
    static const rows_table tables[] = {ROWS_OPERATORS, {NULL, NULL}};
    int count = 40, rows = 0;
    for (int a = 1; a < argc; a++) {
        if (strncmp(argv[a], "count=", 6) == 0) count = atoi(argv[a] + 6);
        if (strncmp(argv[a], "seed=", 5) == 0) state = strtoull(argv[a] + 5, NULL, 10) << 32;
    }
    if (!rows_begin(argc, argv, tables)) return 1;
    tn_set_threads(1); /* many very small calls */
    for (int64_t r = 0; r < tn_row_count() && failed < 20; r++) {
        const int64_t before = passed;
        if (!rows_take(0, r)) continue;
        check_row(tn_row_at(r), count);
        rows += passed > before;
    }
    printf(
        "promise 14: %d rows in place and with out=, tensors laid into one memory by chance: %lld "
        "calls done, %lld of them in the place of an input, %lld refused where they overlap, "
        "%lld for another reason\n",
        rows, (long long)(done + itself), (long long)itself, (long long)overlapping,
        (long long)other);
    const int least = 25 * count;
    if (!rows_named && (done < least || itself < least || overlapping < least))
        printf("FAILED aliases: too few calls of a kind\n"), failed++;
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    return failed != 0;
}
