/* sample.c - see sample.h. */
#include "sample.h"

#include "elements.h"

#include <errno.h>
#include <ctype.h>

typedef struct reader {
    sample *s;
    const char *at;
    bool ok;
} reader;

uint64_t sample_hash(uint64_t x) { return elements_hash(x); }

static bool reader_fail(reader *r, const char *what) {
    if (r->ok)
        snprintf(r->s->error, sizeof r->s->error, "%s: sample \"%.80s\": %s at \"%.20s\"",
                 r->s->row->name, r->s->text, what, r->at);
    return r->ok = false;
}

tn_dtype sample_dtype(const char *word) {
    static const char *const text[] = {"f64", "f32", "f16", "bf16", "i64", "i32",
                                       "i16", "i8",  "u8",  "bool", "c64", "c128"};
    static const tn_dtype is[] = {TN_F64, TN_F32, TN_F16, TN_BF16, TN_I64, TN_I32,
                                  TN_I16, TN_I8,  TN_U8,  TN_BOOL, TN_C64, TN_C128};
    for (int i = 0; i < 12; i++)
        if (strcmp(text[i], word) == 0) return is[i];
    return tn_dtype_named(word);
}

double sample_epsilon(int dtype) {
    switch (dtype) {
    case TN_F16: return 0x1p-10;
    case TN_BF16: return 0x1p-7;
    case TN_F32:
    case TN_C64: return 0x1p-23;
    default: return 0x1p-52;
    }
}

double sample_weight(uint64_t i) {
    const uint64_t z = sample_hash(i * 0x9e3779b97f4a7c15u);
    return (0.5 + (double)(z >> 11) * 0x1p-53) * (z & 1 ? 1 : -1);
}

/* w of the weighted sum for one output. */
static tn_tensor *weights_of(const tn_tensor *out, uint64_t from) {
    tn_tensor *w = tni_new(tni_here(), out->dtype, out->ndim, out->size);
    for (int64_t i = 0; w && i < w->numel; i++) {
        tn_scalar v = tn_float(sample_weight(from + 2 * (uint64_t)i));
        if (tni_is_complex(w->dtype))
            v = tn_complex(v.real, sample_weight(from + 2 * (uint64_t)i + 1));
        tni_element_set((char *)w->storage->data + i * tni_dtype_size(w), w->dtype, v);
    }
    if (w && out->flags & TNI_DEVICE) w = tnp_to(w, out->device, TN_NO_DTYPE, false, false);
    return w;
}

/* The gradient of the sum of Re(w) |x|^2, which is 2 Re(w) x. */
static tn_tensor *weights_of_squares(tn_tensor *w, tn_tensor *x) {
    w = tni_is_complex(w->dtype) ? tnp_real(w) : w;
    return tnp_mul_scalar(tnp_mul(w, tnp_detach(x)), tn_float(2));
}

bool sample_grads(sample *s, unsigned how, tn_tensor **grads) {
    tn_tensor *out[SAMPLE_OUTS], *roots[SAMPLE_OUTS], *seeds[SAMPLE_OUTS], *inputs[SAMPLE_TENSORS],
        *found[SAMPLE_TENSORS];
    int n, nroots = 0, ninputs = 0, where[SAMPLE_TENSORS];
    uint64_t from = 0;
    tn_grads_options options = {seeds, false, false, true};
    for (int t = 0; t < s->ntensors; t++) {
        grads[t] = NULL;
        if (!s->under_test[t]) continue;
        if (!tn_requires_grad_at(__FILE__, __LINE__, s->tensor[t], true)) return false;
        where[ninputs] = t;
        inputs[ninputs++] = s->tensor[t];
    }
    if (how == TN_IN_PLACE)
        s->value[0].as.tensor = tnp_clone(s->value[0].as.tensor, TN_MEMORY_FORMAT_PRESERVE_FORMAT);
    tn_manual_seed(7);
    if (!sample_call(s, how, out, SAMPLE_OUTS, &n)) return false;
    for (int k = 0; k < n; k++) {
        tn_tensor *w;
        if (!out[k] || tni_dtype(out[k]->dtype)->category < TNI_CAT_FLOAT) continue;
        if (!(w = weights_of(out[k], from))) return false;
        from += 2 * (uint64_t)w->numel;
        if (sample_oracle_has(s->row, "free", k)) continue;
        if (sample_oracle_has(s->row, "phase", k) && !(w = weights_of_squares(w, out[k])))
            return false;
        if (out[k]->flags & TNI_REQUIRES) roots[nroots] = out[k], seeds[nroots++] = w;
    }
    if (!nroots ||
        !tn_grads(tn_tensors_of(roots, nroots), tn_tensors_of(inputs, ninputs), found, &options))
        return false;
    for (int i = 0; i < ninputs; i++) grads[where[i]] = found[i];
    return true;
}

int sample_count(const tn_row *row) {
    int n = row->sample && row->sample[0] ? 1 : 0;
    for (const char *at = row->sample; n && (at = strstr(at, " | ")) != NULL; at += 3) n++;
    return n;
}

/* The domain of parameter `name`, from "self:0.1..2 other:-1..1". */
static void sample_domain(const tn_row *row, const char *name, double *lo, double *hi) {
    const char *at = row->domain;
    size_t n = strlen(name);
    *lo = -2;
    *hi = 2;
    while (at && *at) {
        if (strncmp(at, name, n) == 0 && at[n] == ':') {
            const char *dots = strstr(at, "..");
            *lo = strtod(at + n + 1, NULL);
            if (dots) *hi = strtod(dots + 2, NULL);
            return;
        }
        at = strchr(at, ' ');
        if (at) at++;
    }
}

int sample_grid;
/* Class 7: the ends of integers; floats of which one in eight is not ordinary. */
static tn_scalar end_of_integers(uint64_t h, const tni_dtype_info *d) {
    const int unused = 64 - 8 * (int)d->bytes;
    const uint64_t most = UINT64_MAX >> (d->is_signed ? unused + 1 : unused),
                   least = d->is_signed ? most + 1 : 0;
    const uint64_t at[8] = {least,       most, least + 1, most - 1, 0, 1, ((uint64_t)1 << 53) + 1,
                            (uint64_t)-3};
    const uint64_t v = at[h >> 20 & 7] << unused;
    return tn_int(d->is_signed ? (int64_t)v >> unused : (int64_t)(v >> unused));
}
static double not_ordinary(uint64_t h, double ordinary) {
    static const double at[4] = {NAN, HUGE_VAL, -HUGE_VAL, -0.0};
    return h >> 20 & 7 ? ordinary : at[h >> 24 & 3];
}

/* Elements at the ends of their range: sample_grid is SAMPLE_ENDS. */
static tn_scalar sample_end(const elements *e, int64_t i, const tni_dtype_info *d) {
    const uint64_t h = elements_bits(e, i);
    if (d->category == TNI_CAT_INT) return end_of_integers(h, d);
    return tn_float(not_ordinary(h, e->lo + elements_part(h) * (e->hi - e->lo)));
}

static tn_scalar sample_element(const elements *e, int64_t i, const tn_tensor *t) {
    const tni_dtype_info *d = tni_dtype(t->dtype);
    double v[2];
    if (sample_grid == SAMPLE_ENDS && !e->structure &&
        ((d->category == TNI_CAT_INT && !(e->below > 0)) || d->category == TNI_CAT_FLOAT))
        return sample_end(e, i, d);
    elements_at(e, i, t->numel, v);
    if (d->category == TNI_CAT_BOOL) return tn_bool(v[0] != 0);
    if (d->category == TNI_CAT_INT) return tn_int((int64_t)v[0]);
    return d->category == TNI_CAT_COMPLEX ? tn_complex(v[0], v[1]) : tn_float(v[0]);
}

static elements sample_elements(const sample *s, const tn_tensor *t, const char *name) {
    const tni_dtype_info *d = tni_dtype(t->dtype);
    elements e;
    memset(&e, 0, sizeof e);
    e.tensor = s->ntensors;
    e.kind = d->category == TNI_CAT_BOOL    ? (int)ELEMENTS_BOOL
             : d->category == TNI_CAT_FLOAT ? (int)ELEMENTS_FLOAT
             : d->category != TNI_CAT_INT   ? (int)ELEMENTS_COMPLEX
             : d->is_signed                 ? (int)ELEMENTS_INT
                                            : (int)ELEMENTS_UINT;
    e.grid = sample_grid < SAMPLE_GRIDS ? sample_grid : 0;
    e.ndim = t->ndim;
    e.size = t->size;
    sample_domain(s->row, name, &e.lo, &e.hi);
    return e;
}

static tn_tensor *sample_tensor(sample *s, const char *name, tn_dtype dtype, int ndim,
                                const int64_t *size, int structure, double below) {
    tni_block *b = tni_here();
    tn_tensor *t = tni_header(b, dtype, ndim, size, NULL);
    elements e;
    if (!t || s->ntensors >= SAMPLE_TENSORS) return NULL;
    if (s->meta) t->flags |= TNI_META, t->device = TN_META;
    if (!tni_set_storage(b, t)) return NULL;
    e = sample_elements(s, t, name);
    e.structure = structure;
    e.below = below;
    for (int64_t i = 0; !s->meta && i < t->numel; i++)
        tni_element_set((char *)t->storage->data + i * tni_dtype_size(t), dtype,
                        sample_element(&e, i, t));
    s->structure[s->ntensors] = structure;
    return s->tensor[s->ntensors++] = t;
}

/* The words behind a shape, ":f64", ":pd" or both; ":f64<3", ":bool<0.2". */
static bool read_kind(reader *r, tn_dtype *dtype, int *structure, double *below) {
    char word[16];
    while (*r->at == ':') {
        int n = 0, named;
        for (r->at++; isalnum((unsigned char)*r->at) && n < 15; r->at++) word[n++] = *r->at;
        word[n] = 0;
        named = elements_structure_named(word);
        if (named)
            *structure = named;
        else if (!(*dtype = sample_dtype(word)))
            return reader_fail(r, "unknown dtype");
    }
    if (*r->at == '<') *below = strtod(r->at + 1, (char **)(uintptr_t)&r->at);
    return true;
}

static tn_tensor *read_tensor(reader *r, const char *name) {
    int64_t size[TN_MAX_DIMS];
    double below = 0;
    int ndim = 0, structure = ELEMENTS_ANY;
    tn_dtype dtype = TN_NO_DTYPE;
    tn_tensor *t;
    r->at++; /* ( */
    while (*r->at && *r->at != ')' && ndim < TN_MAX_DIMS) {
        char *end;
        size[ndim++] = strtoll(r->at, &end, 10);
        if (end == r->at) return reader_fail(r, "expected a size"), (tn_tensor *)NULL;
        r->at = *end == ',' ? end + 1 : end;
    }
    if (*r->at != ')') return reader_fail(r, "expected )"), (tn_tensor *)NULL;
    r->at++;
    if (!read_kind(r, &dtype, &structure, &below)) return NULL;
    if (!elements_fit(structure, ndim, size))
        return reader_fail(r, "this shape has no such structure"), (tn_tensor *)NULL;
    t = sample_tensor(r->s, name, dtype ? dtype : r->s->dtype, ndim, size, structure, below);
    if (!t) return reader_fail(r, "cannot make the tensor"), (tn_tensor *)NULL;
    r->s->under_test[r->s->ntensors - 1] = !dtype;
    return t;
}

static void read_tensors(reader *r, tn_value *v, const char *name) {
    int from = r->s->nlists;
    r->at++; /* { */
    while (r->ok && *r->at && *r->at != '}') {
        if (strncmp(r->at, "None", 4) == 0)
            r->s->list[r->s->nlists++] = NULL, r->at += 4;
        else if (*r->at == '(')
            r->s->list[r->s->nlists++] = read_tensor(r, name);
        else
            reader_fail(r, "expected a tensor");
        if (*r->at == ',') r->at++;
    }
    if (*r->at == '}') r->at++;
    v->type = TN_T_TENSORS;
    v->as.tensors = tn_tensors_of(r->s->list + from, r->s->nlists - from);
}

static void read_numbers(reader *r, tn_value *v) {
    int from = r->s->nints;
    bool real = false;
    r->at++; /* [ */
    while (*r->at && *r->at != ']' && r->s->nints < SAMPLE_INTS) {
        char *end;
        r->s->floats[r->s->nints] = strtod(r->at, &end);
        for (const char *c = r->at; c < end; c++) real = real || *c == '.' || *c == 'e';
        r->s->ints[r->s->nints++] = strtoll(r->at, NULL, 10);
        if (end == r->at) {
            reader_fail(r, "expected a number");
            return;
        }
        r->at = *end == ',' ? end + 1 : end;
    }
    if (*r->at == ']') r->at++;
    v->type = real ? TN_T_FLOATS : TN_T_INTS;
    if (real)
        v->as.floats.at = r->s->floats + from, v->as.floats.n = r->s->nints - from;
    else
        v->as.ints =
            tn_ints_of(r->s->nints > from ? r->s->ints + from : r->s->ints, r->s->nints - from);
}

static const tn_param *sample_param(const sample *s, const char *name, int position) {
    const tn_gen *gen = s->row->gen;
    for (int i = 0; i < gen->nparam; i++)
        if (name ? strcmp(gen->param[i].name, name) == 0 : i == position) return &gen->param[i];
    return NULL;
}

static void read_word(reader *r, tn_value *v, const tn_param *p, char *word) {
    int n = 0;
    while (*r->at && *r->at != ' ' && n < 39) word[n++] = *r->at++;
    word[n] = 0;
    v->type = TN_T_STRING;
    v->as.string = word;
    if (strcmp(word, "None") == 0)
        v->type = 0;
    else if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0) {
        v->type = TN_T_BOOL;
        v->as.boolean = word[0] == 'T';
    } else if (isdigit((unsigned char)word[0]) || word[0] == '-' || word[0] == '.' ||
               !strcmp(word, "inf") || !strcmp(word, "nan")) {
        bool real = strpbrk(word, ".e") != NULL || strstr(word, "inf") || strstr(word, "nan");
        v->type = real ? TN_T_FLOAT : TN_T_INT;
        if (real)
            v->as.real = strtod(word, NULL);
        else
            v->as.integer = strtoll(word, NULL, 10);
        if (!real && p && p->type == TN_T_FLOAT)
            v->type = TN_T_FLOAT, v->as.real = strtod(word, NULL);
    } else if (p && p->type == TN_T_DTYPE) {
        v->type = TN_T_DTYPE;
        v->as.dtype = sample_dtype(word);
        if (!v->as.dtype) reader_fail(r, "unknown dtype");
    }
}

static bool read_item(reader *r, int position) {
    sample *s = r->s;
    tn_value *v = &s->value[s->nvalues];
    char *name = s->name[s->nvalues];
    int n = 0;
    const tn_param *p;
    memset(v, 0, sizeof *v);
    while ((isalnum((unsigned char)r->at[n]) || r->at[n] == '_') && n < 39) n++;
    if (r->at[n] == '=') {
        memcpy(name, r->at, (size_t)n);
        name[n] = 0;
        v->name = name;
        r->at += n + 1;
    }
    p = sample_param(s, v->name, position);
    if (!p) return reader_fail(r, "no such parameter");
    if (*r->at == '(') {
        v->type = TN_T_TENSOR;
        v->as.tensor = read_tensor(r, p->name);
    } else if (*r->at == '{')
        read_tensors(r, v, p->name);
    else if (*r->at == '[')
        read_numbers(r, v);
    else
        read_word(r, v, p, s->word[s->nvalues]);
    s->nvalues++;
    return r->ok;
}

bool sample_make(sample *s, const tn_row *row, int i, tn_dtype dtype, bool meta) {
    const char *from = row->sample, *end;
    reader r;
    int position = 0;
    for (; i > 0; i--) from = strstr(from, " | ") + 3;
    end = strstr(from, " | ");
    memset(s, 0, sizeof *s);
    s->row = row;
    s->dtype = dtype;
    s->meta = meta;
    snprintf(s->text, sizeof s->text, "%.*s", (int)(end ? end - from : (long)strlen(from)), from);
    r.s = s;
    r.at = s->text;
    r.ok = true;
    while (r.ok) {
        while (*r.at == ' ') r.at++;
        if (!*r.at) break;
        if (s->nvalues == SAMPLE_VALUES) return reader_fail(&r, "too many items");
        read_item(&r, position++);
        if (r.ok && *r.at && *r.at != ' ') reader_fail(&r, "expected a space");
    }
    return r.ok;
}

bool sample_call(sample *s, unsigned how, tn_tensor **out, int room, int *n) {
    /* A call that succeeds leaves errno as it was, but for what libm does with it. */
    errno = 0;
    const bool ok = tn_call_row(s->row->name, 0, s->row, how, s->value, s->nvalues, out, room, n);
    if (ok && errno && errno != EDOM && errno != ERANGE) {
        printf("FAILED %s [%s] sets errno to %d\n", s->row->name, s->text, errno);
        exit(3);
    }
    return ok;
}

/* --- layouts ---------------------------------------------------------------------------------- */

bool sample_draws(const tn_row *row) { return (row->gen->props & TN_PROP_GENERATOR) != 0; }
bool sample_reads_memory(const tn_row *row) { return strncmp(row->name, "as_strided", 10) == 0; }

static const struct {
    const char *kind, *row, *place;
    bool at_ties;
    const char *text, *why;
} differences[] = {
#define DIFFERS(kind, row, place, at_ties, text, why) {kind, row, place, at_ties, text, why},
#define ORACLE(row, clauses)
#include "rows.inl"
};
static const struct {
    const char *row, *clauses;
} oracles[] = {
#define DIFFERS(kind, row, place, at_ties, text, why)
#define ORACLE(row, clauses) {row, clauses},
#include "rows.inl"
    {NULL, NULL}};

/* "grad" is said of "grad of tensor 0", not of "gradcheck". */
static bool covers(const char *said, const char *place) {
    const size_t n = strlen(said);
    return strncmp(said, place, n) == 0 && !isalnum((unsigned char)place[n]);
}

const char *sample_differs(const tn_row *row, const char *place, const char *text) {
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        if (strcmp(differences[i].kind, "operator") == 0 &&
            strcmp(differences[i].row, row->name) == 0 && covers(differences[i].place, place) &&
            (sample_grid || !differences[i].at_ties) &&
            (!text || strstr(text, differences[i].text)) && (text || !*differences[i].text))
            return differences[i].why;
    return NULL;
}
bool sample_is_refused(const sample *s, int t) {
    char place[40];
    snprintf(place, sizeof place, "refused grad of tensor %d", t);
    return sample_differs(s->row, place, s->text) != NULL;
}
bool sample_has_no_difference(const sample *s) {
    return sample_differs(s->row, "gradcheck", s->text) != NULL;
}

const char *sample_oracle(const tn_row *row) {
    for (int i = 0; oracles[i].row; i++)
        if (strcmp(oracles[i].row, row->name) == 0) return oracles[i].clauses;
    return NULL;
}
bool sample_oracle_has(const tn_row *row, const char *clause, int k) {
    const char *at = sample_oracle(row);
    const size_t n = strlen(clause);
    for (; at && *at; at += strcspn(at, ";"), at += strspn(at, "; "))
        if (strncmp(at, clause, n) == 0 && at[n] == ' ' && k < row->gen->nresults)
            for (const char *word = at + n; *word == ' '; word += strcspn(word, " ;")) {
                const size_t length = strcspn(++word, " ;");
                if (strlen(row->gen->result_names[k]) == length &&
                    strncmp(word, row->gen->result_names[k], length) == 0)
                    return true;
            }
    return false;
}

bool sample_is_written(const sample *s, int t) {
    const tn_gen *gen = s->row->gen;
    for (int v = 0; v < s->nvalues; v++)
        for (int p = 0; p < gen->nparam; p++) {
            const tn_value *given = &s->value[v];
            const bool here = given->name ? strcmp(given->name, gen->param[p].name) == 0 : v == p;
            if (!here || !(gen->param[p].flags & TN_P_MUTATED)) continue;
            if (given->type == TN_T_TENSOR && given->as.tensor == s->tensor[t]) return true;
            for (int64_t i = 0; given->type == TN_T_TENSORS && i < given->as.tensors.n; i++)
                if (given->as.tensors.at[i] == s->tensor[t]) return true;
        }
    return false;
}

/* Strides of a layout; elements of the memory that it needs. */
static int64_t sample_strides(const tn_tensor *t, int layout, int64_t *stride) {
    const int last = t->ndim - 1, inner = t->ndim > 2 ? 1 : 0;
    int64_t n = 1;
    if (layout == SAMPLE_TRANSPOSED) {
        for (int d = 0; d <= last; d++) stride[d] = n, n *= t->size[d];
    } else if (layout == SAMPLE_LAST && t->ndim > 1) {
        stride[inner] = 1;
        n = t->size[inner];
        for (int d = last; d >= 0; d--)
            if (d != inner) stride[d] = n, n *= t->size[d];
    } else if (layout == SAMPLE_SLICED) {
        for (int d = last; d >= 0; d--) stride[d] = 2 * n, n *= t->size[d];
        n = 2 * n + 1;
    } else { /* columns of a wider matrix */
        for (int d = last; d >= 0; d--) stride[d] = n, n *= t->size[d] + (d == last ? 4 : 0);
        n += 2;
    }
    return n;
}

static tn_tensor *sample_lay(tn_tensor *t, int layout) {
    int64_t stride[TN_MAX_DIMS], numel, offset;
    tni_block *b = tni_here();
    tn_tensor *base, *view;
    if (t->ndim == 0 || t->numel == 0) return t;
    numel = sample_strides(t, layout, stride);
    base = tni_new(b, t->dtype, 1, &numel);
    offset = layout == SAMPLE_SLICED ? 1 : layout == SAMPLE_MIXED ? 2 : 0;
    view = base ? tni_view_of(b, base, t->ndim, t->size, stride, offset, true) : NULL;
    if (!view) return NULL;
    tni_copy_elements(b, view, t);
    view->edge_version = view->storage->version;
    return view;
}

void sample_replace(sample *s, tn_tensor *old, tn_tensor *by) {
    for (int v = 0; v < s->nvalues; v++)
        if (s->value[v].type == TN_T_TENSOR && s->value[v].as.tensor == old)
            s->value[v].as.tensor = by;
    for (int k = 0; k < s->nlists; k++)
        if (s->list[k] == old) s->list[k] = by;
    for (int t = 0; t < s->ntensors; t++)
        if (s->tensor[t] == old) s->tensor[t] = by;
}

bool sample_relayout(sample *s, int layout) {
    for (int t = 0; t < s->ntensors; t++) {
        const int of = layout == SAMPLE_MIXED && t % 2 ? SAMPLE_LAST : layout;
        tn_tensor *by = sample_lay(s->tensor[t], of);
        if (!by) return false;
        sample_replace(s, s->tensor[t], by);
    }
    return true;
}
