/* text.c - short texts of shapes, tensors and numbers, for messages. Cut where the room ends; no
 * allocation. */
#include "tensor.h"

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
    size_t at = 0;
    if (!t) {
        text_add(text, room, &at, "NULL");
        return text;
    }
    text_add(text, room, &at, "%s ", tni_dtype(t->dtype)->text);
    if (at < room) tni_shape_text(text + at, room - at, t->ndim, t->size);
    return text;
}

/* The shortest decimal that reads back as v, with a mark of being a float, as Python's repr. */
static void text_float(char *text, size_t room, size_t *at, double v) {
    char digits[40];
    if (v != v) {
        text_add(text, room, at, "nan");
        return;
    }
    if (v - v != 0) {
        text_add(text, room, at, v < 0 ? "-inf" : "inf");
        return;
    }
    for (int n = 1; n <= 17; n++) {
        snprintf(digits, sizeof digits, "%.*g", n, v);
        if (strtod(digits, NULL) == v) break;
    }
    text_add(text, room, at, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
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
