/* base_texts.c - promises of src/base about what it writes: errors kept, cut and printed, profiles
 * whole or with what was dropped, and the cores it counts. */
#define _GNU_SOURCE
#include "base_stand_ins.h"

#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <wchar.h>

static char path[] = "/tmp/tn_texts_XXXXXX";

static size_t contents(char *to, size_t room) {
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(to, 1, room - 1, f) : 0;
    if (f) fclose(f);
    to[n] = 0;
    return n;
}

/* --- errors ----------------------------------------------------------------------------------- */

static void the_first_error_stays_until_it_is_taken(void) {
    tn_context *c = begin(NULL);
    tn_error_info e;
    CHECK(tn_ok() && !tn_error_peek(&e) && !tn_error_take(&e) && !tn_error_print());
    CHECK(!tn_error_set(TN_INDEX, "f.c", 7, "%d of %s", 3, "four"));
    CHECK(!tn_ok() && !tn_error_set(TN_TYPE, "g.c", 8, "another"));
    CHECK(tn_error_peek(NULL) && tn_error_peek(&e) && e.code == TN_INDEX && e.line == 7);
    CHECK_TEXT(e.message, "3 of four");
    CHECK_TEXT(e.file, "f.c");
    CHECK(!tn_ok() && tn_error_take(NULL) && tn_ok() && !tn_error_take(NULL));
    CHECK(!tn_error_set((tn_code)99, NULL, 5, "what"));
    CHECK(tn_error_take(&e) && e.code == TN_INTERNAL && !e.file && e.line == 0);
    CHECK(!tn_error_set(TN_OK, NULL, 5, "what") && tn_error_take(&e) && e.code == TN_INTERNAL);
    CHECK(!tn_error_set(TN_WARNING, NULL, 5, "what") && tn_error_take(&e)); /* is no error */
    CHECK_EQ(e.code, TN_INTERNAL);
    CHECK(!tn_error_set(TN_ERROR_COUNT, NULL, 5, "what") && tn_error_take(&e));
    CHECK_EQ(e.code, TN_INTERNAL);
    end(c);
}

static void a_message_is_cut_where_its_room_ends(void) {
    tn_context *c = begin(NULL);
    tni_block *b = tni_here();
    tn_error_info e;
    char longer[3 * TNI_ERROR_TEXT];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    for (size_t n = TNI_ERROR_TEXT - 3; n < TNI_ERROR_TEXT + 3; n++) {
        longer[n] = 0;
        CHECK(!tni_error(b, TN_TYPE, "%s", longer) && tn_error_peek(&e));
        CHECK_EQ(strlen(e.message), n < TNI_ERROR_TEXT ? n : TNI_ERROR_TEXT - 1);
        tni_error_more(b, "yz");
        CHECK_EQ(strlen(e.message), n + 2 < TNI_ERROR_TEXT ? n + 2 : TNI_ERROR_TEXT - 1);
        longer[n] = 'x';
        tn_error_take(NULL);
    }
    tni_error_more(b, "nothing is pending");
    CHECK(tn_ok());
    CHECK(!tni_error(b, TN_TYPE, "a") && (tni_error_more(b, " %d", 5), tn_error_take(&e)));
    CHECK_TEXT(e.message, "a 5");
    end(c);
}

static int told, told_code;
static void on_error(const tn_error_info *e, void *user) {
    told += user == &told;
    told_code = (int)e->code;
}
/* A message begins with what the innermost link writes, in half of the room. */
static const char *words;
static size_t words_room;
static void write_words(const tn_path *at, char *to, size_t room) {
    CHECK(at->line == 9);
    words_room = room;
    snprintf(to, room, "%s", words);
}
static void a_message_begins_with_its_path(void) {
    static char longer[2 * TNI_ERROR_TEXT], want[2 * TNI_ERROR_TEXT];
    static const char *const texts[][2] = {
        {"", "no 5"}, {"net.0", "net.0: no 5"}, {"x", "x: no 5"}};
    tn_context *c = begin(NULL);
    tni_block *b = tni_here();
    tn_path outer = {NULL, write_words, "outer.c", 8}, inner = {&outer, write_words, "f.c", 9};
    tn_error_info e;
    b->path = &inner;
    for (int i = 0; i < 3; i++) {
        words = texts[i][0];
        CHECK(!tni_error(b, TN_TYPE, "no %d", 5) && tn_error_take(&e) && e.code == TN_TYPE);
        CHECK_TEXT(e.message, texts[i][1]);
        CHECK_EQ(words_room, TNI_ERROR_TEXT / 2);
    }
    memset(longer, 'l', sizeof longer - 1);
    words = longer;
    CHECK(!tni_error(b, TN_TYPE, "%s", longer) && tn_error_take(&e));
    memset(want, 'l', TNI_ERROR_TEXT - 1);
    memcpy(want + TNI_ERROR_TEXT / 2 - 1, ": ", 2);
    CHECK_TEXT(e.message, want);
    words = "w"; /* what cannot be written leaves the path */
    static const wchar_t odd[] = {'a', 0x20ac, 0};
    CHECK(!tni_error(b, TN_INDEX, "%ls", odd) && tn_error_peek(&e) && e.code == TN_INDEX);
    CHECK_TEXT(e.message, "w: ");
    tni_error_more(b, "%s", "kept");
    tni_error_more(b, "lost %ls", odd);
    CHECK(tn_error_take(&e));
    CHECK_TEXT(e.message, "w: kept");
    b->path = NULL;
    end(c);
}
/* Each says that it has failed, also when it does nothing. */
static void setting_an_error_is_false(void) {
    tn_context *c = begin(NULL);
    tni_block *b = tni_here();
    static tni_work work;
    tn_error_info e;
    CHECK(!tni_error_apart(NULL, TN_TYPE, "x") && !tni_error(NULL, TN_TYPE, "x"));
    CHECK(tn_ok());
    for (int pending = 0; pending < 2; pending++) {
        CHECK(!tni_error(b, TN_TYPE, "first") && !tni_error_apart(b, TN_TYPE, "x"));
        CHECK(!tn_error_set(TN_TYPE, "f.c", 1, "x"));
        CHECK(tn_error_take(&e) && !strcmp(e.message, "first"));
        CHECK(!tni_error_apart(b, TN_INDEX, "apart %d", 1) && tn_error_take(&e));
        CHECK(e.code == TN_INDEX && !strcmp(e.message, "apart 1") && !e.file && !e.line);
    }
    told = 0;
    tn_set_error_handler(on_error, &told);
    for (int hold = 0; hold < 2; hold++) { /* in a call in progress, which will tell */
        if (hold)
            b->place_hold = 1, b->place_file = "module.c", b->place_line = 4;
        else
            work.file = "call.c", work.line = 3, b->work = &work;
        CHECK(!tn_error_set(TN_INDEX, "inside.c", 9, "x") && told == 0);
        CHECK(!tni_error_apart(b, TN_INDEX, "y") && !tni_leave(b, false) && told == 0);
        CHECK(tn_error_peek(&e) && e.line == 3 + hold);
        CHECK_TEXT(e.file, hold ? "module.c" : "call.c");
        CHECK_TEXT(e.message, "x");
        b->work = NULL, b->place_hold = 0, b->place_file = NULL;
        CHECK(tn_error_take(NULL) && tni_leave(b, true) && told == 0);
    }
    CHECK(!tni_error_apart(b, TN_FORMAT, "z") && told == 1 && told_code == TN_FORMAT);
    tni_error_tell(b), tni_error_leave(b);
    CHECK(told == 1 && tn_ok());
    tni_error(b, TN_FORMAT, "z");
    b->quiet = 1, tni_error_tell(b), b->quiet = 0;
    CHECK_EQ(told, 1);
    tni_error_leave(b);
    CHECK(told == 2 && tn_ok());
    tni_error_leave(b), tni_error_tell(b), tni_error_tell(NULL);
    CHECK_EQ(told, 2);
    tn_set_error_handler(NULL, NULL);
    tni_error(b, TN_FORMAT, "z"), tni_error_tell(b), tni_error_leave(b);
    CHECK(told == 2 && tn_ok());
    end(c);
}

static void an_error_is_printed_with_its_place(void) {
    static const char *const want[2] = {"f.c:7: malformed file: no\n", "cancelled: stop\n"};
    char text[200];
    tn_context *c = begin(NULL);
    for (int k = 0; k < 2; k++) {
        int to = open(path, O_WRONLY | O_TRUNC), was = dup(2);
        if (!CHECK(to >= 0 && was >= 0)) break;
        fflush(stderr);
        dup2(to, 2);
        if (k)
            tn_error_set(TN_CANCELLED, NULL, 0, "stop");
        else
            tn_error_set(TN_FORMAT, "f.c", 7, "no");
        bool printed = tn_error_print();
        fflush(stderr);
        dup2(was, 2);
        close(was), close(to);
        contents(text, sizeof text);
        CHECK(printed && tn_ok());
        CHECK_TEXT(text, want[k]);
    }
    end(c);
}

static void codes_have_names(void) {
    static const char *const names[] = {
        "no error",      "invalid argument", "wrong dtype or argument type", "index out of range",
        "out of memory", "not supported",    "file or input error",          "malformed file",
        "cancelled",     "autograd error",   "linear algebra error",         "internal error",
        "warning"};
    for (int i = 0; i < TN_ERROR_COUNT; i++) CHECK_TEXT(tn_code_name((tn_code)i), names[i]);
    CHECK_TEXT(tn_code_name(TN_ERROR_COUNT), "unknown error");
    CHECK_TEXT(tn_code_name((tn_code)-1), "unknown error");
}

static void a_handler_hears_an_error_once(void) {
    tn_context *c = begin(NULL);
    told = 0;
    tn_set_error_handler(on_error, &told);
    tn_error_set(TN_FILE, "f.c", 1, "x");
    CHECK(told == 1 && told_code == TN_FILE);
    tn_error_set(TN_TYPE, "f.c", 1, "y");
    CHECK(told == 1 && tn_error_take(NULL));
    tn_error_set(TN_TYPE, "f.c", 1, "y");
    CHECK(told == 2 && told_code == TN_TYPE && tn_error_take(NULL));
    tn_set_error_handler(NULL, NULL);
    tn_error_set(TN_TYPE, "f.c", 1, "y");
    CHECK(told == 2 && tn_error_take(NULL));
    end(c);
}

/* --- profiles --------------------------------------------------------------------------------- */

static double now;
static double clock_of(void *user) { return *(double *)user; }

/* Between two readings of the system's, whatever lies between them. */
static void the_clock_is_the_systems_monotonic_one(void) {
    struct timespec before, after;
    tn_context *c = begin(NULL);
    for (int i = 0; i < 1000; i++) {
        clock_gettime(CLOCK_MONOTONIC, &before);
        double at = tni_now(c);
        clock_gettime(CLOCK_MONOTONIC, &after);
        CHECK((double)before.tv_sec + 1e-9 * (double)before.tv_nsec <= at);
        CHECK((double)after.tv_sec + 1e-9 * (double)after.tv_nsec >= at);
    }
    end(c);
}

static int count(const char *text, const char *what) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what)) n++;
    return n;
}

static void times_are_microseconds_from_the_begin(void) {
    static const struct {
        double from, to;
        const char *text;
    } c[] = {{50, 50, "\"ts\":0.000,\"dur\":0.000,"},
             {50.000001, 50.0000015, "\"ts\":1.000,\"dur\":0.500,"},
             {51.5, 63, "\"ts\":1500000.000,\"dur\":11500000.000,"},
             {49, 48, "\"ts\":0.000,\"dur\":0.000,"},
             {1e12, 1e12, "\"ts\":0.000,\"dur\":0.000,"}};
    static const int line[5] = {9, 0, -5, 1, 9};
    static const char *const at[5] = {"\"at\":\"f:9\"", "\"at\":\"f:0\"", "\"at\":\"f:0\"",
                                      "\"at\":\"f:1\"", "\"at\":\"f:9\""};
    static char text[4000];
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.clock = clock_of, o.clock_user = &now, now = 50;
    tn_context *context = begin(&o);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        CHECK(tn_profile_begin() && tni_profile_on(context));
        tni_profile_add(tni_here(), "n", "f", line[i], "", c[i].from, c[i].to);
        CHECK(tn_profile_end(path) && !tni_profile_on(context));
        contents(text, sizeof text);
        if (!CHECK(strstr(text, c[i].text) != NULL)) printf("%s\n", text);
        CHECK(strstr(text, at[i]) != NULL);
    }
    end(context);
}

static void long_texts_are_cut_each_at_its_length(void) {
    static char longer[2000], text[6000];
    static const int most[3] = {200, 900, 500};
    tn_context *c = begin(NULL);
    for (int which = 0; which < 3; which++)
        for (int extra = -1; extra < 2; extra++) {
            memset(longer, 'x', sizeof longer - 1);
            longer[most[which] + extra] = 0;
            CHECK(tn_profile_begin());
            tni_profile_add(tni_here(), which == 0 ? longer : "n", which == 2 ? longer : "f", 1,
                            which == 1 ? longer : "t", 0, 0);
            CHECK(tn_profile_end(path));
            contents(text, sizeof text);
            int n = 0;
            for (const char *at = text; *at; at++) n += *at == 'x';
            CHECK_EQ(n, extra < 0 ? most[which] - 1 : most[which]); /* "ph":"X" is no x */
        }
    longer[198] = 'x', longer[199] = '"', longer[200] = 0; /* an escape is not cut in two */
    CHECK(tn_profile_begin());
    tni_profile_add(tni_here(), longer, "f", 1, "t", 0, 0);
    CHECK(tn_profile_end(path) && contents(text, sizeof text) && !strstr(text, "\\\""));
    end(c);
}

static void events_beyond_one_piece_of_memory_are_all_there(void) {
    enum { EVENTS = 500 };
    static char text[EVENTS * 2000], longer[901];
    tn_context *c = begin(NULL);
    memset(longer, 'y', 900);
    CHECK(tn_profile_begin());
    for (int i = 0; i < EVENTS; i++) tni_profile_add(tni_here(), "many", "f", i, longer, 0, 0);
    CHECK(tn_profile_end(path));
    size_t n = contents(text, sizeof text);
    CHECK(n > ((size_t)1 << 18) && count(text, "\"many\"") == EVENTS);
    CHECK(strstr(text, "\"dropped\":\"0\"") && strcmp(text + n - 4, "\n]}\n") == 0);
    CHECK(count(text, ",\n{") == EVENTS - 1 && strstr(text, "[\n{") && strstr(text, ":499\"}}"));
    CHECK(tn_profile_begin() && tn_profile_end(path) && contents(text, sizeof text));
    CHECK_EQ(count(text, "\"many\""), 0);
    end(c);
}

static void what_finds_no_memory_is_counted(void) {
    static char text[4000];
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    CHECK(tn_profile_begin());
    a.fail_at = a.calls + 1, a.for_ever = true;
    for (int i = 0; i < 3; i++) tni_profile_add(tni_here(), "n", "f", 1, "t", 0, 0);
    a.fail_at = 0;
    tni_profile_add(tni_here(), "kept", "f", 1, "t", 0, 0);
    CHECK(tn_ok() && tn_profile_end(path) && contents(text, sizeof text));
    CHECK(strstr(text, "\"dropped\":\"3\"") && count(text, "\"ph\"") == 1);
    CHECK(tn_profile_begin() && tn_profile_end(path) && contents(text, sizeof text));
    CHECK(strstr(text, "\"dropped\":\"0\"") && count(text, "\"ph\"") == 0);
    end(c);
    counted_check(&a);
}

/* Events lie in pieces of less than 256 KiB, filled to the last byte. */
static size_t piece;
static int pieces;
static void *piece_alloc(size_t bytes, void *user) {
    if (bytes > 200000) piece = bytes, pieces++;
    return counted_alloc(bytes, user);
}
static void pieces_of_memory_are_filled(void) {
    static char text[4000], longer[901];
    counted a;
    tn_context_options o = counted_options(&a);
    o.allocator.alloc = piece_alloc;
    tn_context *c = begin(&o);
    pieces = 0;
    CHECK(tn_profile_begin());
    tni_profile_add(tni_here(), "n", "f", 1, "", 0, 0);
    CHECK(tn_profile_end(path) && pieces == 1);
    CHECK_EQ(piece, (1 << 18) - 64 + sizeof(void *) + sizeof(int64_t));
    CHECK(contents(text, sizeof text));
    size_t one = strlen(strstr(text, "[\n{") + 1) - 4 + 1; /* with its comma */
    memset(longer, 'y', 900);
    longer[520 - one] = 0; /* 504 of them are a whole piece */
    CHECK(tn_profile_begin());
    for (int i = 0; i < 505; i++) {
        tni_profile_add(tni_here(), "n", "f", 1, longer, 0, 0);
        CHECK_EQ(pieces, i < 504 ? 2 : 3);
    }
    CHECK(tn_profile_end(path) && a.blocks > 0);
    end(c);
    counted_check(&a);
}
static void a_handler_hears_of_a_profile_that_fails(void) {
    counted a;
    tn_context_options o = counted_options(&a);
    tn_context *c = begin(&o);
    tn_error_info e;
    told = 0;
    tn_set_error_handler(on_error, &told);
    a.fail_at = a.calls + 1, a.for_ever = true;
    CHECK(!tn_profile_begin_at("p.c", 6) && told == 1 && tn_error_take(&e));
    CHECK(e.code == TN_MEMORY && strncmp(e.message, "out of memory: ", 15) == 0);
    CHECK(!strcmp(e.file, "p.c") && e.line == 6 && !tni_profile_on(c));
    a.fail_at = 0;
    CHECK(!tn_profile_end_at("p.c", 7, path) && told == 2 && tn_error_take(&e) && e.line == 7);
    CHECK(e.code == TN_INVALID);
    CHECK_TEXT(e.message, "tn_profile_end: no profile is being recorded");
    CHECK(tn_profile_begin_at("p.c", 8) && told == 2 && tni_profile_on(c));
    CHECK(!tn_profile_begin_at("p.c", 9) && told == 3 && tn_error_take(&e) && e.line == 9);
    CHECK(e.code == TN_INVALID);
    CHECK_TEXT(e.message, "tn_profile_begin: a profile is already being recorded");
    CHECK(!tn_profile_end_at("p.c", 10, NULL) && told == 4 && tn_error_take(&e) && e.line == 10);
    CHECK(e.code == TN_INVALID && tni_profile_on(c));
    CHECK_TEXT(e.message, "tn_profile_end: argument 'path' is NULL");
    CHECK(!tn_profile_end("/no/such/folder/x") && told == 5 && tn_error_take(&e));
    CHECK(e.code == TN_FILE && !tni_profile_on(c));
    CHECK(tn_profile_begin() && tn_profile_end(path) && told == 5 && tn_ok());
    CHECK(!tn_profile_end(path) && told == 6 && tn_error_take(NULL));
    end(c);
    counted_check(&a);
}

/* --- cores ------------------------------------------------------------------------------------ */

static bool cores_agree(void *one) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) return false;
    int n = CPU_COUNT(&set);
    if (!one) return tni_cores() == n;
    for (size_t k = CPU_SETSIZE; k-- > 0;)
        if (CPU_ISSET(k, &set) && CPU_COUNT(&set) > 1) CPU_CLR(k, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0 && tni_cores() == 1;
}
static void cores_are_those_the_process_may_run_on(void) {
    in_child(cores_agree, NULL);
    in_child(cores_agree, path);
}

static const check_test tests[] = {
    CHECK_TEST(the_first_error_stays_until_it_is_taken),
    CHECK_TEST(a_message_is_cut_where_its_room_ends),
    CHECK_TEST(a_message_begins_with_its_path),
    CHECK_TEST(setting_an_error_is_false),
    CHECK_TEST(an_error_is_printed_with_its_place),
    CHECK_TEST(codes_have_names),
    CHECK_TEST(a_handler_hears_an_error_once),
    CHECK_TEST(the_clock_is_the_systems_monotonic_one),
    CHECK_TEST(times_are_microseconds_from_the_begin),
    CHECK_TEST(long_texts_are_cut_each_at_its_length),
    CHECK_TEST(events_beyond_one_piece_of_memory_are_all_there),
    CHECK_TEST(what_finds_no_memory_is_counted),
    CHECK_TEST(pieces_of_memory_are_filled),
    CHECK_TEST(a_handler_hears_of_a_profile_that_fails),
    CHECK_TEST(cores_are_those_the_process_may_run_on),
};

int main(int argc, char **argv) {
    int file = mkstemp(path);
    if (file < 0) return 1;
    close(file);
    int status = CHECK_MAIN(tests, argc, argv);
    remove(path);
    return status;
}
