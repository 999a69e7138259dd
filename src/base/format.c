/* format.c - printf whose numbers have a '.', whatever the program's locale has for it.
 *
 * Messages and printed tensors are the same text in every locale, and the library never sets one:
 * setlocale acts on the whole process. A radix may have several bytes (Persian). */
#include "base.h"

static bool format_is_part(char c) { /* of a number in the C locale: digits, e, inf, nan, blanks */
    const char letter = (char)(c | 32);
    return (c >= '0' && c <= '9') || (letter >= 'a' && letter <= 'z') || (c && strchr("+-. ", c));
}

TN_PRIV int tni_point(char *number) {
    char *to = number;
    for (const char *at = number; *at;) {
        if (format_is_part(*at)) {
            *to++ = *at++;
            continue;
        }
        while (*at && !format_is_part(*at)) at++;
        *to++ = '.'; /* behind what was read */
    }
    *to = 0;
    return (int)(to - number);
}

/* One conversion, taken apart: `spec` is without its letters of length, and with * replaced. */
typedef struct format_spec {
    char text[64];
    size_t n;
    int longs;
    bool size; /* z, j, t */
    char kind; /* d, s, g, ..; 0: the format ends inside */
} format_spec;

static const char *format_read(const char *at, format_spec *s, va_list *list) {
    memset(s, 0, sizeof *s);
    s->text[s->n++] = *at++; /* the % */
    for (; *at && !strchr("diouxXcspfFeEgGaA%", *at); at++) {
        if (s->n > sizeof s->text - 24) continue;
        if (*at == '*')
            s->n += (size_t)snprintf(s->text + s->n, 16, "%d", va_arg(*list, int));
        else if (*at == 'l')
            s->longs++;
        else if (strchr("zjt", *at))
            s->size = true;
        else if (*at != 'h')
            s->text[s->n++] = *at;
    }
    s->kind = *at;
    if (strchr("diouxX", s->kind) && s->kind) s->text[s->n++] = 'l', s->text[s->n++] = 'l';
    s->text[s->n++] = s->kind;
    return s->kind ? at + 1 : at;
}

static long long format_signed(const format_spec *s, va_list *list) {
    if (s->size) return (long long)va_arg(*list, size_t);
    if (s->longs > 1) return va_arg(*list, long long);
    return s->longs ? va_arg(*list, long) : va_arg(*list, int);
}
static unsigned long long format_unsigned(const format_spec *s, va_list *list) {
    if (s->size) return va_arg(*list, size_t);
    if (s->longs > 1) return va_arg(*list, unsigned long long);
    return s->longs ? va_arg(*list, unsigned long) : va_arg(*list, unsigned);
}

static int format_one(char *to, size_t room, const format_spec *s, va_list *list) {
    char number[512]; /* the longest double has 309 digits before its point */
    switch (s->kind) {
    case 0: return 0;
    case '%': return snprintf(to, room, "%%");
    case 'c': return snprintf(to, room, s->text, va_arg(*list, int));
    case 's': return snprintf(to, room, s->text, va_arg(*list, const char *));
    case 'p': return snprintf(to, room, s->text, va_arg(*list, void *));
    case 'd':
    case 'i': return snprintf(to, room, s->text, format_signed(s, list));
    case 'o':
    case 'u':
    case 'x':
    case 'X': return snprintf(to, room, s->text, format_unsigned(s, list));
    default:
        snprintf(number, sizeof number, s->text, va_arg(*list, double));
        tni_point(number);
        return snprintf(to, room, "%s", number);
    }
}

/* Conversion by conversion, as vsnprintf does it: what does not fit is counted. */
static int format_apart(char *to, size_t room, const char *format, va_list *list) {
    size_t n = 0;
    while (*format) {
        const size_t plain = strcspn(format, "%");
        char *at = n < room ? to + n : NULL;
        const size_t left = n < room ? room - n : 0;
        int wrote;
        if (plain) {
            wrote = snprintf(at, left, "%.*s", (int)plain, format);
            format += plain;
        } else {
            format_spec spec;
            format = format_read(format, &spec, list);
            wrote = format_one(at, left, &spec, list);
        }
        if (wrote < 0) return wrote;
        n += (size_t)wrote;
    }
    return (int)n;
}

TN_API int tn_text_list(char *to, size_t room, const char *format, va_list list) {
    char half[16];
    va_list again;
    int n;
    if (snprintf(half, sizeof half, "%.1f", 0.5) == 3 && half[1] == '.')
        return vsnprintf(to, room, format, list);
    if (room) *to = 0;
    va_copy(again, list);
    n = format_apart(to, room, format, &again);
    va_end(again);
    return n;
}
