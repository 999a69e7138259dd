/* mutate.inl - the custom mutator of the safetensors targets: it reads the header into tokens,
 * changes names, dtypes, shapes, offsets and order, lets the offsets cover the data again in half
 * of the cases, and writes a length that fits in nearly all. What is no JSON is mutated as bytes.
 */
#include <inttypes.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

enum { TEXT = 1 << 15, TOKENS = 4096 };

static char text[TEXT + 1];
static int length;

/* A string with its quotes, a number or word, or one sign. */
static struct token {
    int from, to, depth; /* depth: objects and lists around it */
} tokens[TOKENS];
static int ntokens;

static void scan(void) {
    int depth = 0;
    ntokens = 0;
    for (int at = 0; at < length && ntokens < TOKENS;) {
        struct token *t = &tokens[ntokens];
        char c = text[at];
        t->from = at++;
        if (c == ' ') continue;
        if (c == '"') {
            while (at < length && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
            at = at < length ? at + 1 : length;
        } else if (!strchr("{}[]:,", c)) {
            while (at < length && text[at] && !strchr("{}[]:,\" ", text[at])) at++;
        }
        depth -= c == '}' || c == ']';
        t->to = at;
        t->depth = depth;
        depth += c == '{' || c == '[';
        ntokens++;
    }
}

static bool is(int i, const char *what) {
    size_t n = strlen(what);
    return i >= 0 && i < ntokens && (size_t)(tokens[i].to - tokens[i].from) == n &&
           memcmp(text + tokens[i].from, what, n) == 0;
}

/* text[from..to) becomes n bytes of `with`, which is not in text. */
static void put(int from, int to, const char *with, int n) {
    if (from > to || length - (to - from) + n > TEXT) return;
    memmove(text + from + n, text + to, (size_t)(length - to));
    memcpy(text + from, with, (size_t)n);
    length += n - (to - from);
    text[length] = 0;
    scan();
}
static void put_token(int i, const char *with) {
    if (i >= 0 && i < ntokens) put(tokens[i].from, tokens[i].to, with, (int)strlen(with));
}

/* --- entries ---------------------------------------------------------------------------------- */

/* Token k of those of depth 1 that begin an entry: a string followed by ':'; or their number. */
static int entry(int k) {
    int n = 0;
    for (int i = 0; i + 1 < ntokens; i++)
        if (tokens[i].depth == 1 && text[tokens[i].from] == '"' && is(i + 1, ":") && n++ == k)
            return i;
    return k < 0 ? n : -1;
}
static int some_entry(void) { return entry(fuzz_below(entry(-1))); }

/* The token behind entry i: its ',' or the '}' of the header. */
static int entry_end(int i) {
    while (i >= 0 && i < ntokens && !(tokens[i].depth == 1 && is(i, ",")) &&
           !(tokens[i].depth == 0 && is(i, "}")))
        i++;
    return i;
}

/* The token of entry i's value of that key. */
static int value_of(int i, const char *key) {
    int end = entry_end(i);
    for (; i >= 0 && i < end; i++)
        if (tokens[i].depth == 2 && is(i, key) && is(i + 1, ":")) return i + 2;
    return -1;
}

static const char *some_of(const char *const *list) {
    int n = 0;
    while (list[n]) n++;
    return list[fuzz_below(n)];
}

static const char *const dtypes[] = {"\"F64\"",     "\"F32\"",     "\"F16\"",
                                     "\"BF16\"",    "\"I64\"",     "\"I32\"",
                                     "\"I16\"",     "\"I8\"",      "\"U8\"",
                                     "\"BOOL\"",    "\"U16\"",     "\"U32\"",
                                     "\"U64\"",     "\"C64\"",     "\"F8_E4M3\"",
                                     "\"F8_E5M2\"", "\"F8_E8M0\"", "\"F4\"",
                                     "\"f32\"",     "\"\"",        "\"F\\u0033\\u0032\"",
                                     "null",        "[]",          NULL};
static const int sizes[] = {8, 4, 2, 2, 8, 4, 2, 1, 1, 1, 2, 4, 8, 8, 1, 1};
static const char *const figures[] = {"0",          "1",
                                      "2",          "3",
                                      "8",          "64",
                                      "4294967296", "2147483648",
                                      "4294967297", "4611686018427387904",
                                      "-1",         "9223372036854775807",
                                      "01",         "18446744073709551615",
                                      "1e3",        "9223372036854775808",
                                      "1.0",        "99999999999999999999999",
                                      "",           "3037000500",
                                      "null",       "\"1\"",
                                      "[0]",        NULL};
static const char *const keys[] = {"\"\"",
                                   "\"__metadata__\"",
                                   "\"a\"",
                                   "\"\\u0061\"",
                                   "\"\\u0000\"",
                                   "\"\\ud83d\\ude00\"",
                                   "\"\\ud800\"",
                                   "\"\xc3\xa9\"",
                                   "\"\xc3\"",
                                   "\"\xed\xa0\x80\"",
                                   "\"\xf4\x90\x80\x80\"",
                                   "\"\\n\"",
                                   "\"\\x\"",
                                   "\"dtype\"",
                                   "\"shape\"",
                                   "\"data_offsets\"",
                                   "\"train.epoch\"",
                                   "\"model.0.weight\"",
                                   "\"model.0.bias\"",
                                   "\"model.2.weight\"",
                                   "\"model.1.num_batches_tracked\"",
                                   "\"optimizer.state.0.step\"",
                                   "\"optimizer.state.1.exp_avg\"",
                                   "\"optimizer.state.99.exp_avg\"",
                                   "\"optimizer.group.0.lr\"",
                                   "\"optimizer.group.0.betas\"",
                                   "\"optimizer.group.1.lr\"",
                                   "\"schedule.count\"",
                                   "\"schedule.initial\"",
                                   "\"rng.cpu\"",
                                   "a",
                                   NULL};
static const char *const pieces[] = {",",    ":",     "{",  "}",    "[",    "]",    "\"",   " ",
                                     "\n",   "\t",    "\r", "{}",   "[]",   "[[",   "{\"",  "\\",
                                     "null", "false", "/*", "\x7f", "\x01", "\xff", "\xe2", NULL};

static int number_at(int i) {
    return i < ntokens && text[tokens[i].from] >= '0' && text[tokens[i].from] <= '9';
}

static void change_number(void) {
    char n[32];
    int i = fuzz_below(ntokens);
    while (i < ntokens && !number_at(i)) i++;
    if (i == ntokens) return;
    int64_t v = strtoll(text + tokens[i].from, NULL, 10);
    if (!fuzz_below(3)) {
        put_token(i, some_of(figures));
        return;
    }
    v = (int64_t)((uint64_t)v + (uint64_t)(int64_t)(fuzz_below(17) - 8) * (fuzz_below(3) ? 1 : 8));
    snprintf(n, sizeof n, "%" PRId64, v);
    put_token(i, n);
}

static void change_shape(void) {
    int i = value_of(some_entry(), "\"shape\"");
    if (i < 0 || !is(i, "[")) return;
    if (fuzz_below(2)) {
        char more[40];
        snprintf(more, sizeof more, "%s%s", some_of(figures), is(i + 1, "]") ? "" : ",");
        put(tokens[i].to, tokens[i].to, more, (int)strlen(more));
    } else if (number_at(i + 1)) {
        put(tokens[i + 1].from, tokens[is(i + 2, ",") ? i + 2 : i + 1].to, "", 0);
    }
}

/* A copy of an entry, its name as it is or another, before the first or behind the last. */
static void copy_entry(void) {
    static char copy[TEXT + 2];
    int i = some_entry(), end = entry_end(i), last = entry(entry(-1) - 1), n;
    if (i < 0 || end >= ntokens) return;
    n = tokens[end].from - tokens[i].from;
    if (fuzz_below(2)) {
        memcpy(copy, text + tokens[i].from, (size_t)n);
        copy[n] = ',';
        put(tokens[entry(0)].from, tokens[entry(0)].from, copy, n + 1);
        if (fuzz_below(2)) put_token(entry(0), some_of(keys));
    } else {
        copy[0] = ',';
        memcpy(copy + 1, text + tokens[i].from, (size_t)n);
        end = entry_end(last);
        if (end < ntokens) put(tokens[end].from, tokens[end].from, copy, n + 1);
        if (fuzz_below(2)) put_token(entry(entry(-1) - 1), some_of(keys));
    }
}

static void drop_entry(void) {
    int i = some_entry(), end = entry_end(i);
    if (i >= 0 && end < ntokens)
        put(tokens[i].from, is(end, ",") ? tokens[end].to : tokens[end].from, "", 0);
}

/* The places of two tokens of a kind: names, numbers, or anything. */
static void exchange(void) {
    static char a[TEXT], b[TEXT];
    int i = fuzz_below(2) ? some_entry() : fuzz_below(ntokens);
    int k = fuzz_below(2) ? some_entry() : fuzz_below(ntokens), n, m;
    if (i < 0 || k < 0 || i >= k) return;
    n = tokens[i].to - tokens[i].from, m = tokens[k].to - tokens[k].from;
    memcpy(a, text + tokens[i].from, (size_t)n);
    memcpy(b, text + tokens[k].from, (size_t)m);
    put(tokens[k].from, tokens[k].to, a, n);
    put(tokens[i].from, tokens[i].to, b, m);
}

static void add_notes(void) {
    static const char *const notes[] = {"\"__metadata__\":{},",
                                        "\"__metadata__\":{\"format\":\"pt\"},",
                                        "\"__metadata__\":{\"format\":\"tensor.h checkpoint\","
                                        "\"version\":\"1\"},",
                                        "\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"},",
                                        "\"__metadata__\":{\"a\":1},",
                                        "\"__metadata__\":[],",
                                        NULL};
    const char *more = some_of(notes);
    if (is(0, "{")) put(tokens[0].to, tokens[0].to, more, (int)strlen(more));
}

static void change(void) {
    int i = fuzz_below(ntokens);
    switch (fuzz_below(12)) {
    case 0: put_token(value_of(some_entry(), "\"dtype\""), some_of(dtypes)); break;
    case 1:
    case 2: change_number(); break;
    case 3:
    case 4: change_shape(); break;
    case 5: copy_entry(); break;
    case 6: drop_entry(); break;
    case 7: exchange(); break;
    case 8: put_token(some_entry(), some_of(keys)); break;
    case 9: add_notes(); break;
    case 10: {
        const char *piece = some_of(pieces);
        if (i < ntokens) put(tokens[i].from, tokens[i].from, piece, (int)strlen(piece));
        break;
    }
    default:
        length = (int)LLVMFuzzerMutate((uint8_t *)text, (size_t)length, TEXT);
        text[length] = 0;
        scan();
    }
}

/* --- offsets that fit ------------------------------------------------------------------------- */

static int64_t entry_bytes(int i) {
    int dtype = value_of(i, "\"dtype\""), at = value_of(i, "\"shape\"");
    int64_t bytes = 1;
    for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++)
        if (is(dtype, dtypes[k])) bytes = sizes[k];
    for (at++; at > 0 && number_at(at) && bytes < 1 << 20; at += 2)
        bytes *= strtoll(text + tokens[at].from, NULL, 10) & 0xffffff;
    return bytes;
}

/* Gives the entries their offsets one behind the other; the bytes of data. */
static int64_t fit(void) {
    int64_t end = 0;
    for (int k = 0; k < entry(-1); k++) {
        char pair[64];
        int i = entry(k), at = value_of(i, "\"data_offsets\""), last = at;
        if (at < 0 || !is(at, "[")) continue;
        while (last < ntokens && !is(last, "]")) last++;
        if (last == ntokens) continue;
        int64_t bytes = entry_bytes(i);
        snprintf(pair, sizeof pair, "[%" PRId64 ",%" PRId64 "]", end, end + bytes);
        put(tokens[at].from, tokens[last].to, pair, (int)strlen(pair));
        end += bytes;
    }
    return end;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Numbers that mean something to who reads the data. */
static void change_data(uint8_t *data, size_t n) {
    static const double reals[] = {0, -1, 0.5, 1e300, -1e-300, 9007199254740992.0, 1.0 / 3, 3};
    double v = reals[fuzz_below(8)];
    uint64_t word = fuzz_below(2) ? (uint64_t)fuzz_below(4) : UINT64_C(0x7ff0000000000000);
    size_t at = n >= 8 ? 8 * (size_t)fuzz_below((int)(n / 8)) : 0;
    if (n < 8) return;
    if (fuzz_below(2))
        memcpy(data + at, &v, 8);
    else
        memcpy(data + at, &word, 8);
}

static uint64_t header_length(uint64_t right) {
    static const uint64_t wrong[] = {UINT64_MAX,        0,          1,
                                     UINT64_C(1) << 63, 100000000,  100000001,
                                     UINT64_MAX - 7,    0x7fffffff, UINT64_MAX / 2};
    if (fuzz_below(24)) return right;
    return fuzz_below(2) ? right + (uint64_t)fuzz_below(17) - 8 : wrong[fuzz_below(9)];
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    static uint8_t data_part[TEXT];
    uint64_t n = 0;
    size_t left, room;
    int64_t bytes = -1;
    fuzz_seed(seed);
    for (int i = 7; i >= 0 && size >= 8; i--) n = n << 8 | data[i];
    if (size < 10 || n > size - 8 || n > TEXT || size - 8 - n > TEXT || most < 64 ||
        !fuzz_below(24))
        return LLVMFuzzerMutate(data, size, most);
    length = (int)n;
    memcpy(text, data + 8, (size_t)n);
    text[length] = 0;
    left = size - 8 - (size_t)n;
    memcpy(data_part, data + 8 + n, left);
    scan();
    for (int k = fuzz_below(4); k > 0; k--) change();
    if (fuzz_below(2)) bytes = fit();
    if (!fuzz_below(4)) change_data(data_part, left);
    if (!fuzz_below(8)) left = LLVMFuzzerMutate(data_part, left, TEXT);
    if ((size_t)length > most - 8) length = (int)(most - 8);
    room = most - 8 - (size_t)length;
    if (room > TEXT) room = TEXT;
    if (bytes >= 0 && bytes < (int64_t)room) {
        if ((size_t)bytes > left) memset(data_part + left, 0, (size_t)bytes - left);
        left = (size_t)bytes;
    }
    if (left > room) left = room;
    n = header_length((uint64_t)length);
    for (int i = 0; i < 8; i++) data[i] = (uint8_t)(n >> 8 * i);
    memcpy(data + 8, text, (size_t)length);
    memcpy(data + 8 + length, data_part, left);
    return 8 + (size_t)length + left;
}
