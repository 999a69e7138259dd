/* profile.c - operator calls as a Chrome trace (chrome://tracing, Perfetto).
 *
 * Events become text when they happen, in blocks chained in the context, under one lock; the
 * file is written at the end. What does not fit into memory is counted, not recorded: a profile
 * never makes a program fail. */
#include "base.h"

enum { PROFILE_CHUNK = 1 << 18, PROFILE_EVENT = 2048 };

typedef struct profile_chunk {
    struct profile_chunk *next;
    int64_t bytes;
    char text[PROFILE_CHUNK - 64];
} profile_chunk;

struct tni_profile {
    uint32_t lock, on;
    double begin;
    profile_chunk *first, *last;
    int64_t dropped; /* events */
};

/* --- text ------------------------------------------------------------------------------------- */

/* A text of fixed room; what does not fit is cut. Numbers are written without printf's %f: its
 * point is the locale's. */
typedef struct profile_text {
    char *at, *end;
} profile_text;

static void profile_put(profile_text *t, const char *s, size_t n) {
    if (n > (size_t)(t->end - t->at)) n = (size_t)(t->end - t->at);
    memcpy(t->at, s, n);
    t->at += n;
}
static void profile_say(profile_text *t, const char *s) { profile_put(t, s, strlen(s)); }

/* s as the inside of a JSON string, in at most `most` bytes, cut between characters. */
static void profile_string(profile_text *t, const char *s, size_t most) {
    const char *stop = t->at + ((size_t)(t->end - t->at) < most ? (size_t)(t->end - t->at) : most);
    while (*s) {
        /* A character as it is, or escaped: control characters, bytes that are no UTF-8, quote
         * and backslash. */
        char code[8];
        const char *from = s;
        size_t n = (size_t)tni_utf8(s), room = n;
        if (!n || (unsigned char)*s < 0x20 || *s == 0x7f) {
            room = (size_t)snprintf(code, sizeof code, "\\u%04x",
                                    n ? (unsigned)(unsigned char)*s : 0xfffdu);
            from = code;
        } else if (*s == '"' || *s == '\\') {
            code[0] = '\\';
            code[1] = *s;
            from = code;
            room = 2;
        }
        /* Cut before a character that does not fit whole. */
        if (room > (size_t)(stop - t->at)) return;
        profile_put(t, from, room);
        s += n ? n : 1;
    }
}

/* Microseconds with three decimals. */
static void profile_time(profile_text *t, double seconds) {
    char digits[48];
    /* Whole nanoseconds first, so that rounding is done once. */
    double ns = seconds * 1e9;
    long long whole = ns > 0 && ns < 9e18 ? (long long)(ns + 0.5) : 0;
    profile_put(
        t, digits,
        (size_t)snprintf(digits, sizeof digits, "%lld.%03d", whole / 1000, (int)(whole % 1000)));
}

static void profile_number(profile_text *t, unsigned long long number) {
    char digits[24];
    profile_put(t, digits, (size_t)snprintf(digits, sizeof digits, "%llu", number));
}

/* --- events ----------------------------------------------------------------------------------- */

/* {"name":..,"ph":"X","ts":..,"dur":..,"pid":..,"tid":..,"args":{"call":..,"at":"file:line"}} */
static size_t profile_event(char *room, const tni_block *b, const char *name, const char *file,
                            int line, const char *text, double begin, double seconds) {
    profile_text t = {room, room + PROFILE_EVENT};
    profile_say(&t, ",\n{\"name\":\"");
    profile_string(&t, name ? name : "", 200);
    /* Times in microseconds since the profile began. */
    profile_say(&t, "\",\"cat\":\"op\",\"ph\":\"X\",\"ts\":");
    profile_time(&t, begin);
    profile_say(&t, ",\"dur\":");
    profile_time(&t, seconds);
    profile_say(&t, ",\"pid\":");
    profile_number(&t, tni_process());
    profile_say(&t, ",\"tid\":");
    profile_number(&t, b->token);
    /* What a viewer shows on a click: the call in words, and the user's line. */
    profile_say(&t, ",\"args\":{\"call\":\"");
    profile_string(&t, text ? text : "", 900);
    profile_say(&t, "\",\"at\":\"");
    if (file) {
        profile_string(&t, file, 500);
        profile_say(&t, ":");
        line = tni_line(b, file, line);
        profile_number(&t, line > 0 ? (unsigned long long)line : 0);
    }
    profile_say(&t, "\"}}");
    return (size_t)(t.at - room);
}

static bool profile_chunk_add(tn_context *c, struct tni_profile *p) { /* under the lock */
    profile_chunk *chunk = (profile_chunk *)tni_raw_get(c, (int64_t)sizeof *chunk);
    if (!chunk) return false;
    chunk->next = NULL;
    chunk->bytes = 0;
    if (p->last)
        p->last->next = chunk;
    else
        p->first = chunk;
    p->last = chunk;
    return true;
}

TN_PRIV void tni_profile_add(tni_block *b, const char *name, const char *file, int line,
                             const char *text, double begin, double end) {
    /* The text is made without the lock; the profile may have ended, or another may have
     * begun, meanwhile. */
    struct tni_profile *p = tni_load(&b->context->profile);
    if (!p || !tni_load(&p->on)) return;
    char room[PROFILE_EVENT];
    tni_lock(&p->lock);
    double from = p->begin;
    tni_unlock(&p->lock);
    size_t n = profile_event(room, b, name, file, line, text, begin - from, end - begin);
    tni_lock(&p->lock);
    if (tni_load_relaxed(&p->on) && p->begin == from) { /* the same profile */
        bool fits = (p->last && p->last->bytes + (int64_t)n <= (int64_t)sizeof p->last->text) ||
                    profile_chunk_add(b->context, p);
        if (fits) {
            memcpy(p->last->text + p->last->bytes, room, n);
            p->last->bytes += (int64_t)n;
        } else
            p->dropped++;
    }
    tni_unlock(&p->lock);
}

TN_PRIV bool tni_profile_on(tn_context *c) {
    struct tni_profile *p = tni_load(&c->profile);
    return p && tni_load(&p->on);
}

static void profile_clear(tn_context *c, struct tni_profile *p) {
    /* Frees the events; the struct stays for the next profile. */
    profile_chunk *chunk = p->first;
    while (chunk) {
        profile_chunk *next = chunk->next;
        tni_raw_put(c, chunk, (int64_t)sizeof *chunk);
        chunk = next;
    }
    p->first = p->last = NULL;
    p->dropped = 0;
}

static void profile_free(tn_context *c) {
    struct tni_profile *p = c->profile;
    if (!p) return;
    c->profile = NULL;
    profile_clear(c, p);
    tni_raw_put(c, p, (int64_t)sizeof *p);
}

/* --- public ----------------------------------------------------------------------------------- */

static struct tni_profile *profile_of(tni_block *b) {
    tn_context *c = b->context;
    struct tni_profile *p = tni_load(&c->profile), *none = NULL;
    if (p) return p;
    p = (struct tni_profile *)tni_raw_get(c, (int64_t)sizeof *p);
    if (!p) {
        tni_memory_error(b, (int64_t)sizeof *p);
        return (struct tni_profile *)NULL;
    }
    memset(p, 0, sizeof *p);
    if (tni_swap_if(&c->profile, &none, p)) return p;
    tni_raw_put(c, p, (int64_t)sizeof *p);
    return none; /* another thread's */
}

TN_API bool tn_profile_begin_at(const char *file, int line) {
    tni_block *b = tni_here();
    if (!b) return false;
    tni_place_set(b, file, line);
    struct tni_profile *p = profile_of(b);
    if (!p) {
        tni_error_tell(b);
        return false;
    }
    /* Under the lock only one of two threads begins. */
    tni_lock(&p->lock);
    bool was_on = tni_load_relaxed(&p->on) != 0;
    if (!was_on) {
        profile_clear(b->context, p);
        p->begin = tni_now(b->context);
        tni_store(&p->on, 1u);
    }
    tni_unlock(&p->lock);
    if (was_on) {
        tni_error(b, TN_INVALID, "tn_profile_begin: a profile is already being recorded");
        tni_error_tell(b);
        return false;
    }
    /* From here on calls add events: the hook takes them out of the short ways. */
    tni_context_at_end(b->context, profile_free);
    tni_context_hook(b->context, TNI_HOOK_PROFILE, true);
    return true;
}

static bool profile_write(tni_block *b, const struct tni_profile *p, const char *path) {
    char head[160];
    int n = snprintf(head, sizeof head,
                     "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"version\":\"" TN_VERSION
                     "\",\"dropped\":\"%lld\"},"
                     "\"traceEvents\":[",
                     (long long)p->dropped);
    tni_file f;
    if (!tni_file_create(b, &f, path)) return false;
    bool ok = tni_file_write(&f, head, n);
    for (const profile_chunk *chunk = p->first; ok && chunk; chunk = chunk->next) {
        int skip = chunk == p->first ? 1 : 0; /* the first event's comma */
        ok = tni_file_write(&f, chunk->text + skip, chunk->bytes - skip);
    }
    ok = ok && tni_file_write(&f, "\n]}\n", 4) && tni_file_commit(&f);
    tni_file_close(&f);
    return ok;
}

/* When the file cannot be written, the recorded events stay: a second call may name
 * another path. */
TN_API bool tn_profile_end_at(const char *file, int line, const char *path) {
    tni_block *b = tni_here();
    if (!b) return false;
    tni_place_set(b, file, line);
    struct tni_profile *p = tni_load(&b->context->profile);
    bool ok = false;
    /* Nothing to write: never begun, or written already. */
    if (!p || (!tni_load(&p->on) && !p->first)) {
        tni_error(b, TN_INVALID, "tn_profile_end: no profile is being recorded");
    } else if (!path) {
        tni_error(b, TN_INVALID, "tn_profile_end: argument 'path' is NULL");
    } else {
        tni_lock(&p->lock);
        tni_store(&p->on, 0u);
        tni_unlock(&p->lock);
        tni_context_hook(b->context, TNI_HOOK_PROFILE, false);
        ok = profile_write(b, p, path);
        if (ok) profile_clear(b->context, p);
    }
    if (!ok) tni_error_tell(b);
    return ok;
}
