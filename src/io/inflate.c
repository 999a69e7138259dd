/* inflate.c - a stream of deflate (RFC 1951) from memory into memory of its length.
 *
 * Codes of up to 9 bits are looked up by the next 9 bits. Codes are canonical, so a table of their
 * limits decodes longer ones bit by bit (Hirschberg and Lelewer, CACM 33, 1990). Trusts no byte:
 * beyond the packed bytes come zeros and a mark that all is bad. */
#include "io.h"

enum { INFLATE_LONGEST = 15, INFLATE_SYMBOLS = 288, INFLATE_DISTANCES = 32, INFLATE_SHORT = 9 };

typedef struct inflate_stream {
    const uint8_t *from;
    uint8_t *to;
    int64_t left, at, room; /* packed bytes that are left; bytes written, and of all */
    uint32_t bits;
    int have; /* bits that were read from `from` and not used */
    bool bad;
} inflate_stream;

/* Codes of length n are below limit[n]; a code and its offset are a place in `symbol`. Where the
 * next bits begin with a short code, `fast` has 16 times its symbol and its length, else 0. */
typedef struct inflate_codes {
    int limit[INFLATE_LONGEST + 1], offset[INFLATE_LONGEST + 1];
    uint16_t symbol[INFLATE_SYMBOLS], fast[1 << INFLATE_SHORT];
} inflate_codes;

/* The next n bits, at most 16, the first one lowest. */
static int inflate_bits(inflate_stream *s, int n) {
    int v;
    while (s->have < n) {
        if (s->left-- > 0)
            s->bits |= (uint32_t)*s->from++ << s->have;
        else
            s->bad = true;
        s->have += 8;
    }
    v = (int)(s->bits & ((1u << n) - 1));
    s->bits >>= n;
    s->have -= n;
    return v;
}

/* The first bit of a code comes first, so it is the lowest one of what was read. */
static int inflate_turned(int code, int n) {
    int turned = 0;
    for (int i = 0; i < n; i++) turned |= (code >> i & 1) << (n - 1 - i);
    return turned;
}

/* Codes of these lengths (0: none), in the order of the symbols; false if there are too many. Codes
 * that stand for nothing are found when they come. */
static bool inflate_codes_of(inflate_codes *c, const uint8_t *length, int symbols) {
    int place[INFLATE_LONGEST + 1] = {0}, code = 0, index = 0;
    for (int i = 0; i < symbols; i++) place[length[i]]++;
    place[0] = 0;
    for (int n = 1; n <= INFLATE_LONGEST; n++) {
        const int count = place[n];
        code *= 2;
        c->offset[n] = index - code;
        place[n] = index;
        index += count;
        code += count;
        c->limit[n] = code;
        if (code > 1 << n) return false;
    }
    memset(c->fast, 0, sizeof c->fast);
    for (int i = 0; i < symbols; i++) {
        const int n = length[i];
        if (!n) continue;
        code = place[n] - c->offset[n];
        c->symbol[place[n]++] = (uint16_t)i;
        if (n > INFLATE_SHORT) continue;
        for (int k = inflate_turned(code, n); k < 1 << INFLATE_SHORT; k += 1 << n)
            c->fast[k] = (uint16_t)(i * 16 + n);
    }
    return true;
}

static int inflate_symbol(inflate_stream *s, const inflate_codes *c) {
    int code = 0;
    while (s->have < INFLATE_SHORT && s->left > 0) {
        s->left--;
        s->bits |= (uint32_t)*s->from++ << s->have;
        s->have += 8;
    }
    const int known = c->fast[s->bits & ((1u << INFLATE_SHORT) - 1)], length = known & 15;
    if (known && length <= s->have) {
        s->bits >>= length;
        s->have -= length;
        return known / 16;
    }
    for (int n = 1; n <= INFLATE_LONGEST; n++) {
        code = code * 2 + inflate_bits(s, 1);
        if (code < c->limit[n]) return c->symbol[c->offset[n] + code];
    }
    s->bad = true;
    return 0;
}

/* Bytes as they are, behind the rest of a byte and their count, twice. */
static void inflate_stored(inflate_stream *s) {
    int n;
    s->bits >>= s->have & 7;
    s->have -= s->have & 7;
    n = inflate_bits(s, 16);
    if (inflate_bits(s, 16) != (n ^ 0xffff) || n > s->left || n > s->room - s->at) {
        s->bad = true;
        return;
    }
    /* At most two bytes were read ahead, which the counts have used: `have` is 0. */
    if (n) memcpy(s->to + s->at, s->from, (size_t)n);
    s->at += n;
    s->from += n;
    s->left -= n;
}

/* Symbols up to the end of the block: a byte, or a length and a distance (section 3.2.5). */
static void inflate_block(inflate_stream *s, const inflate_codes *codes,
                          const inflate_codes *distances) {
    while (!s->bad) {
        int k = inflate_symbol(s, codes), n, back, more;
        if (k == 256) return;
        if (k < 256) {
            if (s->at < s->room)
                s->to[s->at++] = (uint8_t)k;
            else
                s->bad = true;
            continue;
        }
        /* Groups of 4 lengths and of 2 distances share a number of further bits. */
        k -= 257;
        if (k > 28) s->bad = true;
        if (s->bad) return;
        more = k < 8 || k == 28 ? 0 : k / 4 - 1;
        n = k == 28 ? 258 : k < 8 ? 3 + k : 3 + ((4 + k % 4) << more) + inflate_bits(s, more);
        k = inflate_symbol(s, distances);
        more = k < 4 ? 0 : k / 2 - 1;
        back = k < 2 ? 1 + k : 1 + ((2 + k % 2) << more) + inflate_bits(s, more);
        if (k > 29 || back > s->at || n > s->room - s->at) s->bad = true;
        if (s->bad) return;
        if (n <= back) {
            memcpy(s->to + s->at, s->to + s->at - back, (size_t)n);
            s->at += n;
        } else
            for (; n > 0; n--, s->at++) s->to[s->at] = s->to[s->at - back];
    }
}

/* Lengths of codes, which are coded themselves (section 3.2.7). */
static int inflate_lengths(inflate_stream *s, uint8_t *length, int *distances) {
    static const char order[] = "\20\21\22\0\10\7\11\6\12\5\13\4\14\3\15\2\16\1\17";
    const int symbols = 257 + inflate_bits(s, 5);
    int n, all;
    inflate_codes codes;
    *distances = 1 + inflate_bits(s, 5);
    all = symbols + *distances;
    n = 4 + inflate_bits(s, 4);
    memset(length, 0, 19);
    for (int i = 0; i < n; i++) length[(int)order[i]] = (uint8_t)inflate_bits(s, 3);
    if (!inflate_codes_of(&codes, length, 19)) s->bad = true;
    for (int i = 0; i < all && !s->bad;) {
        const int k = inflate_symbol(s, &codes);
        int times = 1;
        uint8_t each = (uint8_t)k;
        /* 16: the last one again; 17 and 18: zeros. */
        if (k == 16 && i == 0) s->bad = true;
        if (k >= 16) {
            each = k == 16 && i ? length[i - 1] : 0;
            times = k == 18 ? 11 + inflate_bits(s, 7) : 3 + inflate_bits(s, k - 14);
        }
        if (times > all - i) s->bad = true;
        for (; times > 0 && !s->bad; times--) length[i++] = each;
    }
    return symbols;
}

TN_PRIV bool tni_inflate(const uint8_t *from, int64_t bytes, uint8_t *to, int64_t room) {
    inflate_stream s = {from, to, bytes, 0, room, 0, 0, false};
    uint8_t length[INFLATE_SYMBOLS + INFLATE_DISTANCES];
    inflate_codes codes, distant;
    for (bool last = false; !last && !s.bad;) {
        int kind, symbols = INFLATE_SYMBOLS, distances = 30;
        last = inflate_bits(&s, 1) != 0;
        kind = inflate_bits(&s, 2);
        if (kind == 0) {
            inflate_stored(&s);
            continue;
        }
        if (kind == 1) {
            memset(length, 8, sizeof length);
            memset(length + 144, 9, 112);
            memset(length + 256, 7, 24);
            memset(length + INFLATE_SYMBOLS, 5, INFLATE_DISTANCES);
        } else if (kind == 2) {
            symbols = inflate_lengths(&s, length, &distances);
        } else {
            s.bad = true;
        }
        if (s.bad || !inflate_codes_of(&codes, length, symbols) ||
            !inflate_codes_of(&distant, length + symbols, distances))
            return false;
        inflate_block(&s, &codes, &distant);
    }
    return !s.bad && s.at == room && s.left == 0 && s.have < 8;
}
