/* json.c - the pieces of JSON that a header of safetensors is made of: signs, strings, lists of
 * natural numbers. Trusts no byte and takes no memory. */
#include "json.h"

TN_PRIV bool tni_json_sign(tni_json *c, char sign) {
    /* A NUL counts as a space: a decoded string ends in them, up to where its quote was. */
    while (c->at < c->end &&
           (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r' || *c->at == 0))
        c->at++;
    if (c->at >= c->end || *c->at != sign) return false;
    c->at++;
    return true;
}

/* The four digits of \uXXXX. */
static bool json_hex(const char *at, uint32_t *to) {
    *to = 0;
    for (int i = 0; i < 4; i++) {
        char h = at[i];
        int v = h >= '0' && h <= '9'   ? h - '0'
                : h >= 'a' && h <= 'f' ? h - 'a' + 10
                : h >= 'A' && h <= 'F' ? h - 'A' + 10
                                       : -1;
        if (v < 0) return false;
        *to = *to << 4 | (uint32_t)v;
    }
    return true;
}

/* Writes the character u as UTF-8 (RFC 3629) and returns the place behind it. The text never
 * outgrows its escape: \uXXXX has 6 characters for at most 3 bytes, a pair of them 12 for 4. */
static char *json_put_utf8(char *to, uint32_t u) {
    if (u < 0x80) {
        *to++ = (char)u;
        return to;
    }
    /* The first byte holds the length and the highest bits, each further one 6 bits. */
    if (u < 0x800)
        *to++ = (char)(0xc0 | u >> 6);
    else if (u < 0x10000)
        *to++ = (char)(0xe0 | u >> 12);
    else {
        *to++ = (char)(0xf0 | u >> 18);
        *to++ = (char)(0x80 | (u >> 12 & 63));
    }
    if (u >= 0x800) *to++ = (char)(0x80 | (u >> 6 & 63));
    *to++ = (char)(0x80 | (u & 63));
    return to;
}

/* The character of an escape: c->at is behind the backslash, and then behind the escape. 0:
 * malformed, or a NUL, which no name may hold. */
static uint32_t json_escape(tni_json *c) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *known = *c->at ? strchr(from, *c->at) : NULL;
    uint32_t u, low;
    if (known) {
        c->at++;
        return (uint32_t)(unsigned char)to[known - from];
    }
    if (*c->at != 'u' || !json_hex(c->at + 1, &u)) return 0;
    c->at += 5;
    /* Beyond U+FFFF a character is a pair of escapes (RFC 8259, section 7): a high surrogate, then
     * a low one. Either alone is malformed. */
    if (u < 0xd800 || u > 0xdfff) return u;
    if (u > 0xdbff || c->at[0] != '\\' || c->at[1] != 'u' || !json_hex(c->at + 2, &low)) return 0;
    if (low < 0xdc00 || low > 0xdfff) return 0;
    c->at += 6;
    return 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
}

/* A string; *text is what it says, NUL-terminated. It is decoded in place, as it only gets shorter,
 * and what is left up to the closing quote becomes NULs. */
TN_PRIV bool tni_json_string(tni_json *c, char **text) {
    char *to;
    if (!tni_json_sign(c, '"')) return false;
    *text = to = c->at;
    while (*c->at != '"') {
        int n = 1;
        if (*c->at == '\\') {
            uint32_t u;
            c->at++;
            u = json_escape(c);
            if (!u) return false;
            to = json_put_utf8(to, u);
            continue;
        }
        /* The NUL behind the header is no character of a string, so this ends there. */
        if ((unsigned char)*c->at < 0x20 || (n = tni_utf8(c->at)) == 0) return false;
        while (n--) *to++ = *c->at++;
    }
    c->at++;
    while (to < c->at) *to++ = 0;
    return true;
}

/* A string that was decoded before: moves behind it. */
TN_PRIV char *tni_json_decoded(tni_json *c) {
    char *text;
    tni_json_sign(c, '"');
    text = c->at;
    while (*c->at) c->at++;
    return text;
}

/* A natural number without leading zeros; false if it does not fit. */
static bool json_natural(tni_json *c, int64_t *to) {
    char *start;
    tni_json_sign(c, ' ');
    start = c->at;
    *to = 0;
    for (; *c->at >= '0' && *c->at <= '9'; c->at++)
        if (!tni_mul(*to, 10, to) || !tni_add(*to, *c->at - '0', to)) return false;
    return c->at > start && (*start != '0' || c->at == start + 1);
}

/* "[1, 2]": at most max numbers; -1: malformed. */
TN_PRIV int tni_json_naturals(tni_json *c, int64_t *to, int max) {
    int n = 0;
    if (!tni_json_sign(c, '[')) return -1;
    if (tni_json_sign(c, ']')) return 0;
    do
        if (n == max || !json_natural(c, &to[n++])) return -1;
    while (tni_json_sign(c, ','));
    return tni_json_sign(c, ']') ? n : -1;
}
