/* print.c - tensors as text, exactly as torch's _tensor_str.py writes them.
 *
 * Everything is written twice by the same code, first to count, then into memory of that size. */
#include "io.h"

enum { PRINT_NUMBER = 400 }; /* characters of the longest number: 1e308 with all its digits */

/* How the numbers of one part (real or imaginary) look; chosen from all that are shown. */
typedef struct print_format {
    bool floating, whole, sci;
    int width;
    double least, most; /* of the finite ones that are not zero; most 0: there are none */
} print_format;

typedef struct print_job {
    const tn_tensor *t, *of; /* what is read; what was given */
    tn_tensor *here;         /* of a tensor of a device: its copy, which is read; else NULL */
    tn_print_options options;
    print_format part[2];
    bool complex_pairs, summarize;
    int stage;      /* of the survey: 0 range, 1 widths */
    char *to;       /* NULL: count only */
    size_t n, line; /* written so far; where the last newline is, plus one */
} print_job;

/* Appends n characters, or only counts them. */
static void print_text(print_job *p, const char *text, size_t n) {
    if (p->to) memcpy(p->to + p->n, text, n);
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\n') p->line = p->n + i + 1;
    p->n += n;
}
static void print_string(print_job *p, const char *text) { print_text(p, text, strlen(text)); }
static void print_spaces(print_job *p, int n) {
    for (int i = 0; i < n; i++) print_text(p, " ", 1);
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* The text of v without padding; its length. */
static int print_real(const print_job *p, const print_format *f, double v,
                      char text[PRINT_NUMBER]) {
    if (v != v) return snprintf(text, PRINT_NUMBER, "nan");
    if (v - v != 0) return snprintf(text, PRINT_NUMBER, v < 0 ? "-inf" : "inf");
    if (f->sci)
        snprintf(text, PRINT_NUMBER, "%.*e", p->options.precision, v);
    else if (f->whole)
        snprintf(text, PRINT_NUMBER, "%.0f.", v);
    else
        snprintf(text, PRINT_NUMBER, "%.*f", p->options.precision, v);
    return tni_point(text);
}
/* The text of an element's real (0) or imaginary (1) part, without padding; its length. */
static int print_value(const print_job *p, int part, tn_scalar s, char text[PRINT_NUMBER]) {
    const print_format *f = &p->part[part];
    if (f->floating) return print_real(p, f, part ? s.imaginary : s.real, text);
    if (s.kind == TN_KIND_BOOL) return snprintf(text, PRINT_NUMBER, s.integer ? "True" : "False");
    /* A u64 beyond int64_t: its bits are in `integer`, its value is in `real`. */
    if (s.integer < 0 && s.real > 0)
        return snprintf(text, PRINT_NUMBER, "%llu", (unsigned long long)s.integer);
    return snprintf(text, PRINT_NUMBER, "%lld", (long long)s.integer);
}

/* One element, padded on the left to the width of its real part. As torch, the imaginary part
 * is not padded. */
static void print_element(print_job *p, const char *at) {
    tn_scalar s = tni_element(at, p->t->dtype);
    char text[PRINT_NUMBER];
    int n = print_value(p, 0, s, text);
    print_spaces(p, p->part[0].width - n);
    print_text(p, text, (size_t)n);
    if (!p->complex_pairs) return;
    n = print_value(p, 1, s, text);
    if (text[0] != '-') print_text(p, "+", 1);
    print_text(p, text, (size_t)n);
    print_text(p, "j", 1);
}

/* --- the survey: how numbers are to look ------------------------------------------------------ */

/* One element's part in the survey. As torch, only finite values other than 0 decide on the format
 * and widen the column. */
static void print_survey_element(print_job *p, const char *at) {
    tn_scalar s = tni_element(at, p->t->dtype);
    char text[PRINT_NUMBER];
    for (int k = 0; k < (p->complex_pairs ? 2 : 1); k++) {
        print_format *f = &p->part[k];
        double v = k ? s.imaginary : s.real, size = fabs(v);
        int n;
        if (f->floating && (v == 0 || v - v != 0)) continue;
        /* Stage 0 finds the range, from which the format follows; stage 1 the width
         * in that format. */
        if (p->stage == 0 && f->floating) {
            if (f->most == 0 || size < f->least) f->least = size;
            if (size > f->most) f->most = size;
            if (v != ceil(v)) f->whole = false;
        } else if (p->stage == 1) {
            n = print_value(p, k, s, text);
            if (n > f->width) f->width = n;
        }
    }
}
/* Whether a dimension of that size is shown by its first and last `edgeitems` alone. */
static bool print_cuts(const print_job *p, int64_t size) {
    return p->summarize && size > 2 * (int64_t)p->options.edgeitems;
}

/* All elements that are shown, from dimension d on, at the address `at`. */
static void print_survey(print_job *p, int d, const char *at) {
    const tn_tensor *t = p->t;
    int64_t step, size;
    if (d == t->ndim) {
        print_survey_element(p, at);
        return;
    }
    size = t->size[d];
    step = t->stride[d] * tni_dtype_size(t);
    for (int64_t i = 0; i < size; i++) {
        /* From the first edge to the last one. */
        if (i == p->options.edgeitems && print_cuts(p, size)) i = size - p->options.edgeitems;
        print_survey(p, d + 1, at + i * step);
    }
}
/* Chooses how numbers look: 1.5000, 3. if all are whole, or 1.5000e+00 if the range is too wide
 * (the rules of torch's _Formatter). */
static void print_choose(print_job *p) {
    const char *at = tni_bytes_at(p->t);
    /*  */
    for (int k = 0; k < 2; k++) {
        print_format *f = &p->part[k];
        f->floating = tni_dtype(p->t->dtype)->category >= TNI_CAT_FLOAT;
        f->whole = f->floating;
        f->sci = false;
        f->width = 1;
        f->least = f->most = 0;
    }
    p->stage = 0;
    if (p->part[0].floating) print_survey(p, 0, at);
    for (int k = 0; k < 2; k++) {
        print_format *f = &p->part[k];
        /* Only zeros and values that are not finite: there is no range. */
        if (f->most == 0) continue;
        f->sci = p->options.sci_mode
                     ? p->options.sci_mode > 0
                     : f->most / f->least > 1000 || f->most > 1e8 || f->least < 1e-4;
    }
    p->stage = 1;
    print_survey(p, 0, at);
}

/* --- vectors and what holds them -------------------------------------------------------------- */

/* The last dimension, as many elements on a line as fit between `indent` and the line's width. */
static void print_vector(print_job *p, int indent, const char *at) {
    const tn_tensor *t = p->t;
    int64_t size = t->size[t->ndim - 1], step = t->stride[t->ndim - 1] * tni_dtype_size(t),
            written = 0;
    int length = p->part[0].width + 2 + (p->complex_pairs ? p->part[1].width + 1 : 0);
    /* An element takes its width, a comma and a space; a complex one also a sign or j. */
    int64_t each = (p->options.linewidth - indent) / length;
    bool cuts = print_cuts(p, size);
    if (each < 1) each = 1;
    print_text(p, "[", 1);
    for (int64_t i = 0; i < size; i++, written++) {
        if (written) print_text(p, ",", 1);
        if (written && written % each == 0) {
            print_text(p, "\n", 1);
            print_spaces(p, indent + 1);
        } else if (written)
            print_text(p, " ", 1);
        /* The dots count as one element; i goes to the one before the last edge. */
        if (cuts && i == p->options.edgeitems) {
            print_string(p, " ...");
            i = size - p->options.edgeitems - 1;
            continue;
        }
        print_element(p, at + i * step);
    }
    print_text(p, "]", 1);
}
/* Dimension d and those within it. Matrices are set apart by an empty line, their groups by two,
 * and so on, as torch. */
static void print_rows(print_job *p, int d, int indent, const char *at) {
    const tn_tensor *t = p->t;
    int64_t size, step;
    bool cuts;
    if (t->ndim == 0) {
        print_element(p, at);
        return;
    }
    if (d == t->ndim - 1) {
        print_vector(p, indent, at);
        return;
    }
    size = t->size[d];
    step = t->stride[d] * tni_dtype_size(t);
    cuts = print_cuts(p, size);
    /* Pieces of this dimension between brackets, each indented below the first. */
    print_text(p, "[", 1);
    for (int64_t i = 0; i < size; i++) {
        bool dots = cuts && i == p->options.edgeitems;
        if (i) {
            print_text(p, ",", 1);
            /* One new line for each dimension that ends here. */
            for (int k = d; k < t->ndim - 1; k++) print_text(p, "\n", 1);
            print_spaces(p, indent + 1);
        }
        /* The loop's i++ goes on with the last edge. */
        if (dots) {
            print_string(p, "...");
            i = size - p->options.edgeitems - 1;
        } else
            print_rows(p, d + 1, indent + 1, at + i * step);
    }
    print_text(p, "]", 1);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* ", text" behind the numbers, on a new line if it would pass the line's width. */
static void print_suffix(print_job *p, size_t *line, const char *text) {
    size_t n = strlen(text);
    if (*line + n + 2 > (size_t)p->options.linewidth) {
        print_string(p, ",\n       ");
        *line = 7 + n;
    } else {
        print_string(p, ", ");
        *line += n + 2;
    }
    print_text(p, text, n);
}
/* "size=(2, 0)": the brackets of an empty tensor do not show its shape. */
static void print_size_suffix(print_job *p, size_t *line) {
    const tn_tensor *t = p->t;
    char text[24 * TN_MAX_DIMS + 16];
    int n = snprintf(text, sizeof text, "size=(");
    for (int i = 0; i < t->ndim; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%lld", i ? ", " : "",
                      (long long)t->size[i]);
    snprintf(text + n, sizeof text - (size_t)n, t->ndim == 1 ? ",)" : ")");
    print_suffix(p, line, text);
}
/* The call that made t, without the room of torch's that its name may begin with. */
static void print_grad_fn(print_job *p, size_t *line, const tn_history *made_by) {
    char text[160], name[120];
    const char *last = name;
    tn_history_text(made_by, name, sizeof name);
    for (const char *at = name; (at = strstr(at, "::")) != NULL;) last = at += 2;
    snprintf(text, sizeof text, "grad_fn=<%s>", last);
    print_suffix(p, line, text);
}

/* What the numbers do not show, as torch: the dtype unless the text implies it, the size of an
 * empty tensor, the history. `usual` is the default dtype. */
static void print_suffixes(print_job *p, tn_dtype usual) {
    const tn_tensor *t = p->t;
    bool meta = (t->flags & TNI_META) != 0, bare = meta || t->numel == 0;
    /* 1. is of the default dtype, 1 an int64, True a bool; without numbers no dtype
     * but the default. */
    bool common = (int)usual == t->dtype || t->dtype == TN_I64 || t->dtype == TN_BOOL ||
                  (int)tni_complex_of((int)usual) == t->dtype;
    size_t line = p->n - p->line + 2; /* torch counts two more */
    const tn_history *made_by = p->of->node;
    char text[80];
    if (p->of->device != TN_CPU) {
        snprintf(text, sizeof text, "device='%s'", tn_device_name(p->of->device));
        print_suffix(p, &line, text);
    }
    if (meta || (t->numel == 0 && t->ndim != 1)) print_size_suffix(p, &line);
    if (bare ? (int)usual != t->dtype : !common) {
        snprintf(text, sizeof text, "dtype=torch.%s", tni_dtype(t->dtype)->text);
        print_suffix(p, &line, text);
    }
    if (made_by)
        print_grad_fn(p, &line, made_by);
    else if (p->of->flags & TNI_REQUIRES)
        print_suffix(p, &line, "requires_grad=True");
}

/* Writes the whole text, or counts it. 7 is the length of "tensor(", below which lines are set. */
static void print_all(print_job *p, tn_dtype usual) {
    p->n = p->line = 0;
    print_string(p, "tensor(");
    if (p->t->flags & TNI_META)
        print_string(p, "...");
    else if (p->t->numel == 0)
        print_string(p, "[]");
    else
        print_rows(p, 0, 7, tni_bytes_at(p->t));
    print_suffixes(p, usual);
    print_text(p, ")", 2); /* with its end */
}

/* Fills in the options, where 0 stands for torch's default, and chooses the format. */
static bool print_start(print_job *p, tni_block *b, const tn_tensor *t,
                        const tn_print_options *options, const char *caller) {
    memset(p, 0, sizeof *p);
    if (!t) return tni_error(b, TN_INVALID, "%s: the tensor is NULL", caller);
    if (!tni_usable(b, t, caller)) return false;
    if (!(t->flags & TNI_META) && t->numel && !t->storage)
        return tni_error(b, TN_UNSUPPORTED,
                         "%s: the tensor is on a different device; copy it first", caller);
    p->t = p->of = t;
    if (t->flags & TNI_DEVICE && !(p->t = p->here = tni_device_down(b, t))) return false;
    if (options) p->options = *options;
    if (p->options.precision == 0) p->options.precision = 4;
    if (p->options.precision < 0) p->options.precision = 0;
    /* Beyond 60 digits a number might not fit PRINT_NUMBER. */
    if (p->options.precision > 60) p->options.precision = 60;
    if (p->options.threshold == 0) p->options.threshold = 1000;
    if (p->options.edgeitems <= 0) p->options.edgeitems = 3;
    if (p->options.linewidth <= 0) p->options.linewidth = 80;
    p->complex_pairs = tni_is_complex(t->dtype);
    p->summarize = t->numel > p->options.threshold;
    if (!(t->flags & TNI_META) && t->numel) print_choose(p);
    return true;
}

TNI_EXTERN_C_BEGIN

/* The text in memory of tn_alloc; NULL with an error. Runs while an error is pending, since a
 * printed tensor may show why; such a call leaves the error's place alone (`mine`). */
static char *print_new(const char *file, int line, const tn_tensor *t,
                       const tn_print_options *options, const char *caller) {
    tni_block *b = tni_here();
    bool mine = tni_enter(b, file, line);
    print_job p;
    if (!b) return NULL;
    if (!print_start(&p, b, t, options, caller)) {
        if (mine) tni_leave(b, false);
        return NULL;
    }
    /* Counts: p.to is NULL. */
    print_all(&p, tni_tensors(b->context)->default_dtype);
    /* The memory's failure has the place of this call, set above. */
    b->place_hold++;
    p.to = (char *)tn_alloc(p.n);
    b->place_hold--;
    if (p.to)
        print_all(&p, tni_tensors(b->context)->default_dtype);
    else if (mine)
        tni_leave(b, false);
    if (p.here) tni_drop(b, p.here);
    return p.to;
}

TN_API char *tn_to_text_at(const char *file, int line, const tn_tensor *t,
                           const tn_print_options *options) {
    return print_new(file, line, t, options, "tn_to_text");
}

TN_API bool tn_print_at(const char *file, int line, const tn_tensor *t) {
    char *text = print_new(file, line, t, NULL, "tn_print");
    tni_block *b = tni_here();
    bool ok;
    if (!text) return false;
    ok = puts(text) >= 0;
    tn_alloc_free(text, strlen(text) + 1);
    return ok || tni_leave(b, tni_error(b, TN_FILE, "tn_print: cannot write to stdout"));
}

TN_API char *tnp_to_text(const tn_tensor *t, const tn_print_options *options) {
    return tn_to_text_at(NULL, 0, t, options);
}
TN_API bool tnp_print(const tn_tensor *t) { return tn_print_at(NULL, 0, t); }

TNI_EXTERN_C_END
