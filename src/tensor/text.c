/* text.c - short texts of shapes, tensors and numbers, for messages. Cut where the room ends;
 * no allocation. */
#include "tensor.h"

#include <errno.h>

/* Appends to text[*at..room), keeping it terminated. */
TNI_PRINTF(4, 5)
static void text_add(char *text, size_t room, size_t *at, const char *format, ...) {
    va_list list;
    int n;
    if (*at >= room) return;
    va_start(list, format);
    n = vsnprintf(text + *at, room - *at, format, list);
    va_end(list);
    if (n > 0) *at += (size_t)n;
}

TN_PRIV const char *tni_shape_text(char *text, size_t room, int ndim, const int64_t *size) {
    size_t at = 0;
    text_add(text, room, &at, "(");
    for (int i = 0; i < ndim; i++)
        text_add(text, room, &at, "%s%lld", i ? ", " : "", (long long)size[i]);
    text_add(text, room, &at, ")");
    return text;
}

TN_PRIV const char *tni_tensor_text(char *text, size_t room, const tn_tensor *t) {
    /* As messages name a tensor: dtype and shape. */
    size_t at = 0;
    if (!t || tni_is_freed(t)) {
        text_add(text, room, &at, "%s", t ? "freed" : "NULL");
        return text;
    }
    text_add(text, room, &at, "%s ", tni_dtype(t->dtype)->text);
    if (at < room) tni_shape_text(text + at, room - at, t->ndim, t->size);
    return text;
}

TN_PRIV const char *tni_freed_text(char *text, size_t room, const tn_tensor *t) {
    static const char *const when[] = {"at ", "at ", "at the end of the scope that begins at ",
                                       "after the call at "};
    const tni_freed *f = (const tni_freed *)(const void *)t->dims; /* written only under TN_CHECK */
    const bool ended = TNI_CHECK && f->how == TNI_FREED_END;
    size_t at = 0;
    (void)when, (void)f;
    if (TNI_CHECK && f->file)
        text_add(text, room, &at, "was freed %s%s:%d", when[f->how], f->file,
                 tni_line(t->owner, f->file, f->line));
    else
        text_add(text, room, &at, TNI_CHECK ? "was freed" : "is freed");
    if (ended || t->file) text_add(text, room, &at, ended ? " (its scope ended there" : " (");
    if (t->file)
        text_add(text, room, &at, "%sit was made at %s:%d", ended ? "; " : "", t->file,
                 tni_line(t->owner, t->file, t->line));
    if (ended || t->file) text_add(text, room, &at, ")");
    return text;
}

TN_PRIV TNI_NOINLINE bool tni_freed_error(tni_block *b, const tn_tensor *t, const char *what) {
    char text[TNI_ERROR_TEXT / 2];
    return tni_error(b, TN_INVALID, "%s: the tensor %s", what,
                     tni_freed_text(text, sizeof text, t));
}
TN_PRIV TNI_NOINLINE bool tni_freed_apart(tni_block *b, const tn_tensor *t, const char *what) {
    char text[TNI_ERROR_TEXT / 2];
    return tni_error_apart(b, TN_INVALID, "%s: the tensor %s", what,
                           tni_freed_text(text, sizeof text, t));
}

/* The shortest decimal that reads back as v, in Python's spelling: 0.1, 1e-05, 3.0. */
TN_PRIV void tni_float_text(char *text, size_t room, double v) {
    char digits[48], *e;
    int precision = 1, exponent, count, number = errno;
    if (v != v || v - v != 0) {
        snprintf(text, room, "%s", v != v ? "nan" : v > 0 ? "inf" : "-inf");
        return;
    }
    /* 17 digits identify every double; fewer are tried first. */
    do snprintf(digits, sizeof digits, "%.*e", precision - 1, v);
    while (strtod(digits, NULL) != v && precision++ < 17);
    errno = number; /* strtod sets it for denormal numbers */
    tni_point(digits);
    e = strchr(digits, 'e');
    exponent = (int)strtol(e + 1, NULL, 10);
    count = precision - 1;
    /* Python's repr changes to an exponent here. */
    if (exponent < -4 || exponent >= 16) {
        snprintf(text, room, "%.*se%s%02d", (int)(e - digits), digits, exponent < 0 ? "-" : "+",
                 abs(exponent));
        return;
    }
    count -= exponent;
    snprintf(text, room, "%.*f", count > 1 ? count : 1, v);
    tni_point(text);
}

static void text_float(char *text, size_t room, size_t *at, double v) {
    char digits[48];
    tni_float_text(digits, sizeof digits, v);
    text_add(text, room, at, "%s", digits);
}

TN_PRIV const char *tni_scalar_text(char *text, size_t room, tn_scalar s) {
    size_t at = 0;
    bool whole = s.kind == TN_KIND_INT || s.kind == TN_KIND_BOOL;
    int64_t v = whole && !s.integer ? (int64_t)s.real : s.integer; /* keyword forms fill `real` */
    if (s.kind == TN_KIND_INT)
        text_add(text, room, &at, "%lld", (long long)v);
    else if (s.kind == TN_KIND_BOOL)
        text_add(text, room, &at, v ? "True" : "False");
    else if (s.kind == TN_KIND_FLOAT)
        text_float(text, room, &at, s.real);
    else if (s.kind == TN_KIND_COMPLEX) {
        text_add(text, room, &at, "(");
        text_float(text, room, &at, s.real);
        if (!(s.imaginary < 0)) text_add(text, room, &at, "+");
        text_float(text, room, &at, s.imaginary);
        text_add(text, room, &at, "j)");
    } else
        text_add(text, room, &at, "None");
    return text;
}
