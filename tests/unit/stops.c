/* stops.c - promises of src/call: how far a request to stop reaches into a call, what composed rows
 * hand out, what a recording holds and runs again, which refused rows leave nothing. */
#include "../refused.h"
#include "exact.h"

#include <pthread.h>

static tn_context *context;
static void no_grad(tn_gradient *g) { (void)g; }

/* --- rows that stop themselves ---------------------------------------------------------------- */

static int seen;     /* what a poll said, -1: none was made */
static int64_t size; /* of the results */
static bool look_seen;
static bool sized_check(tn_frame *f) { return tn_announce(f, 0, TN_F64, 1, &size); }
static bool second_check(tn_frame *f) { return tn_announce(f, 1, TN_F64, 1, &size); }
static void cancel_run(tn_frame *f) {
    tn_random64(f->generator);
    tn_cancel(context);
    seen = tn_cancelled(f);
    fill_run(f);
}
static bool cancel_look(tn_frame *f) {
    tn_cancel(context);
    seen = tn_cancelled(f);
    look_seen = true;
    return true;
}
static bool cancel_compose(tn_frame *f) {
    tn_cancel(context);
    seen = tn_cancelled(f);
    f->out[0] = f->in[0];
    return true;
}
static bool six_compose(tn_frame *f) {
    for (int k = 0; k < 6; k++) CHECK(!f->out[k]);
    for (int k = 0; k < 6; k++) f->out[k] = tn_mul_scalar(f->in[0], k);
    return tn_ok();
}
static bool made_compose(tn_frame *f) {
    return (f->out[0] = tn_matmul(f->in[0], f->in[0])) != NULL;
}

static bool split_compose(tn_frame *f) {
    if (!tn_announce_count(f, 3)) return false;
    for (int k = 0; k < 3; k++) f->out[k] = k == 1 ? f->in[0] : tn_mul_scalar(f->in[0], k);
    return tn_ok();
}
static tn_row split;
static tn_row plain, drawn, left, looking, composing, six, made, writing;
static void add_row(tn_row *r, const char *name, const char *schema, uint32_t forms,
                    bool (*check)(tn_frame *), void (*run)(tn_frame *),
                    bool (*compose)(tn_frame *)) {
    memset(r, 0, sizeof *r);
    r->name = name, r->schema = schema, r->forms = forms;
    r->check = check, r->run = run, r->compose = compose, r->grad = no_grad;
    if (r == &looking) r->look = cancel_look;
    CHECK(tn_register(r));
}
static void rows(void) {
    add_row(&plain, "plain", "plain(Tensor self) -> Tensor", TN_OUT, sized_check, cancel_run, NULL);
    add_row(&drawn, "drawn", "drawn(Tensor self, *, Generator? generator=None) -> Tensor", TN_OUT,
            sized_check, cancel_run, NULL);
    add_row(&left, "left", "left(Tensor self, Generator? g=None) -> (Tensor a, Tensor b)", 0,
            second_check, cancel_run, NULL);
    add_row(&looking, "looking", "looking(Tensor self) -> Tensor", TN_OUT, sized_check, fill_run,
            NULL);
    add_row(&composing, "composing", "composing(Tensor self) -> Tensor", 0, NULL, NULL,
            cancel_compose);
    add_row(&six, "six",
            "six(Tensor self) -> (Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f)", 0,
            NULL, NULL, six_compose);
    add_row(&made, "made", "made(Tensor self) -> Tensor", TN_OUT | TN_INPLACE, NULL, NULL,
            made_compose);
    add_row(&split, "split_up", "split_up(Tensor self) -> Tensor[]", 0, NULL, NULL, split_compose);
    add_row(&writing, "writing", "writing(Tensor(a!) self) -> Tensor", 0, sized_check, cancel_run,
            NULL);
}
static bool stopped(const tn_row *row, tn_tensor *out, int polled, int line) {
    tn_value v[2];
    bool ok;
    v[0] = tensor(NULL, of(1, 1, 1)), v[1] = tensor("out", out);
    seen = -1;
    ok = call(row, v, out ? 2 : 1) != NULL || result[1];
    if (!ok) says(TN_CANCELLED, "the call was cancelled", line);
    tn_cancel_clear(context);
    if (seen != polled) printf("line %d:\n", line);
    CHECK_EQ(seen, polled);
    result[1] = NULL;
    return !ok;
}
#define STOPPED(row, out, polled) stopped(row, out, polled, __LINE__)
static bool advances(const tn_row *row, tn_tensor *out, bool stops) {
    unsigned char before[TN_GENERATOR_BYTES], after[TN_GENERATOR_BYTES];
    tn_generator_state(tn_default_generator(), before);
    CHECK_EQ(STOPPED(row, out, stops), stops);
    tn_generator_state(tn_default_generator(), after);
    return memcmp(before, after, sizeof after) != 0;
}

static void a_request_is_seen_where_nothing_else_is_written(void) {
    context = begin();
    rows();
    for (size = 1; size < 10; size++)
        TN_SCOPE {
            tn_tensor *out = tn_ones(TN_DIMS(size), .dtype = TN_F64);
            CHECK(STOPPED(&plain, NULL, 1) && !STOPPED(&plain, out, 0));
            CHECK(STOPPED(&looking, NULL, 1) && STOPPED(&looking, out, 1) && look_seen);
            CHECK(STOPPED(&composing, NULL, 1) && !STOPPED(&writing, NULL, 0));
            CHECK(tn_whole_begin());
            CHECK(!STOPPED(&plain, NULL, 0) && !STOPPED(&looking, NULL, 0));
            CHECK(!STOPPED(&composing, NULL, 0) && !STOPPED(&drawn, NULL, 0));
            tn_whole_end();
            CHECK(STOPPED(&plain, NULL, 1) && STOPPED(&composing, NULL, 1));
            tn_cancel(context);
            seen = -1;
            REFUSED(tn_whole_begin(), TN_CANCELLED, "the call was cancelled");
            tn_value v = tensor(NULL, out);
            REFUSED(call(&plain, &v, 1), TN_CANCELLED, "the call was cancelled");
            REFUSED(call(&writing, &v, 1), TN_CANCELLED, "the call was cancelled");
            CHECK(seen == -1);
            tn_cancel_clear(context);
        }
    end(context);
}

static void numbers_that_were_not_published_are_drawn_again(void) {
    static const int64_t sizes[] = {0, 1, 4095, 4096, 4097, 9000};
    context = begin();
    rows();
    for (int i = 0; i < 6; i++)
        TN_SCOPE {
            size = sizes[i];
            tn_tensor *out = tn_ones(TN_DIMS(size), .dtype = TN_F64);
            CHECK_EQ(advances(&drawn, NULL, size > 4096), size <= 4096);
            CHECK_EQ(advances(&left, NULL, size > 4096), size <= 4096);
            CHECK(advances(&drawn, out, false));
            tn_generator *g = tn_generator_new(5), *same = tn_generator_new(5);
            tn_value v[2];
            v[0] = tensor(NULL, out), v[1] = named("generator", TN_T_GENERATOR);
            v[1].as.generator = g;
            CHECK_EQ(call(&drawn, v, 2) != NULL, size <= 4096);
            tn_error_take(NULL);
            tn_cancel_clear(context);
            if (size <= 4096) tn_random64(same);
            CHECK(tn_random64(g) == tn_random64(same));
            tn_generator_free(g), tn_generator_free(same);
        }
    end(context);
}

static tn_generator *used;
static void use_run(tn_frame *f) { used = f->generator, fill_run(f); }
static void a_generator_may_stand_anywhere(void) {
    static tn_row first, last;
    static const tn_row *const both[2] = {&first, &last};
    context = begin();
    add_row(&first, "first", "first(Generator? g, Tensor self) -> Tensor", 0, sized_check, use_run,
            NULL);
    add_row(&last, "last", "last(Tensor self, int n, Generator? g) -> Tensor", 0, sized_check,
            use_run, NULL);
    size = 3;
    TN_SCOPE {
        tn_generator *g = tn_generator_new(7);
        for (int i = 0; i < 4; i++) {
            tn_value v[3];
            v[0] = named("g", i & 2 ? TN_T_GENERATOR : 0), v[0].as.generator = g;
            v[1] = tensor("self", of(1, 1, 1));
            v[2] = named("n", TN_T_INT), v[2].as.integer = 1, used = NULL;
            CHECK(call(both[i & 1], v, i & 1 ? 3 : 2));
            CHECK(used == (i & 2 ? g : tn_default_generator()));
        }
        tn_generator_free(g);
    }
    end(context);
}

/* --- compositions ----------------------------------------------------------------------------- */

static void compositions_give_all_that_they_made(void) {
    context = begin();
    rows();
    TN_SCOPE {
        tn_tensor *x = of(2, 2, 1), *out = of(2, 2, 5);
        tn_value v[2];
        tn_error_info e;
        tn_list l;
        CHECK(tn_call(&split, TN_PLAIN, "exact", 42, &x, &l) && l.n == 3 && l.at[1] == x);
        CHECK(at(l.at[0], 3) == 0 && at(l.at[2], 3) == 2 && l.holder->depth == x->depth);
        CHECK(l.at[2]->depth == x->depth && tn_memory().live_tensors == 5);
        int64_t tensors = tn_memory().live_tensors;
        v[0] = tensor(NULL, x), v[1] = tensor("out", out);
        CHECK(call(&six, v, 1));
        for (int k = 0; k < 6; k++) CHECK(at(result[k], 3) == k && result[k]->depth == x->depth);
        CHECK_EQ(tn_memory().live_tensors, tensors + 6);
        CHECK(call(&made, v, 2) == out && at(out, 3) == 2 && out->storage->version == 1);
        CHECK_EQ(tn_memory().live_tensors, tensors + 6);
        CHECK(!tni_here()->unstopped);
        v[1] = tensor("out", of(2, 3, 1));
        REFUSED(call(&made, v, 2), TN_INVALID, "out has shape (2, 3), but the result has (2, 2)");
        CHECK(!tni_here()->unstopped);
        v[0] = tensor(NULL, of(2, 3, 1));
        CHECK(!call(&made, v, 1) && tn_error_peek(&e) && !strstr(e.message, "in made("));
        says(TN_INVALID, ", called by made", __LINE__);
        int count;
        CHECK(!tn_call_named("exact", 42, "made_", v, 1, result, 6, &count));
        says(TN_INVALID, ", called by made_", __LINE__);
        CHECK_EQ(tn_memory().live_tensors, tensors + 8);
    }
    tn_tensor *x = of(2, 2, 1); /* outside of all scopes */
    tn_value v = tensor(NULL, x);
    CHECK(call(&made, &v, 1) && at(result[0], 0) == 2 && !result[0]->depth);
    tn_free(result[0]), tn_free(x);
    end(context);
}

/* A view of what was written with a history since has that history, at its next call. */
static void a_view_gets_its_history_with_the_call(void) {
    context = begin();
    TN_SCOPE {
        tn_tensor *x = of(1, 4, 2), *v = tn_slice(x, .dim = 1, .end = 2),
                  *w = tn_requires_grad(of(1, 4, 3)), *y;
        CHECK(!tn_needs_grad(tn_mul_scalar(v, 2)));
        CHECK(tn_mul_(x, w) && tn_needs_grad(x));
        y = tn_mul_scalar(v, 2);
        CHECK(tn_needs_grad(y) && tn_backward(tn_sum(y)));
        CHECK(at(tn_grad_of(w), 1) == 4 && at(tn_grad_of(w), 2) == 0);
    }
    end(context);
}

/* --- profiles --------------------------------------------------------------------------------- */

static double seconds;
static double ticks(void *user) { return seconds += *(double *)user; }
static void a_profile_has_each_call_with_its_time(void) {
    static const char path[] = "/tmp/tn_stops_profile";
    static double step = 2;
    static char text[4000];
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.clock = ticks, o.clock_user = &step, o.threads = -1;
    tn_context_use(context = tn_context_new(&o));
    CHECK(tn_profile_begin());
    TN_SCOPE {
        tn_tensor *x = tnp_ones(TN_DIMS(2, 3), TN_F32, TN_CPU);
        CHECK(tn_relu_at("here.c", 77, &(tn_relu_args){.self = x}));
        CHECK(!tn_matmul_at("there.c", 78, &(tn_matmul_args){.self = x, .other = x}));
        tn_error_take(NULL);
    }
    CHECK(tn_profile_end(path));
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    remove(path);
    CHECK(strstr(text, "{\"name\":\"relu\",\"cat\":\"op\",\"ph\":\"X\",\"ts\":6000000.000,"
                       "\"dur\":2000000.000,") != NULL);
    CHECK(strstr(text, "{\"call\":\"relu(self=float32 (2, 3))\",\"at\":\"here.c:77\"}") != NULL);
    CHECK(strstr(text, "{\"name\":\"matmul\"") && strstr(text, "\"at\":\"there.c:78\"}") != NULL);
    tn_context_use(NULL);
    tn_context_free(context);
}

/* --- recordings ------------------------------------------------------------------------------- */

static tn_row kept;
static tn_tensor *members[2];
static int runs;
static bool kept_check(tn_frame *f) {
    return tn_scratch(f, 100, 8) && tn_announce(f, 0, TN_F64, f->in[0]->ndim, f->in[0]->size);
}
static const char *arg(const tn_frame *f, int i) {
    return (const char *)f->args + f->row->gen->param[i].offset;
}
static void kept_run(tn_frame *f) {
    tn_tensors list = *(const tn_tensors *)(const void *)arg(f, 2);
    tn_ints n = *(const tn_ints *)(const void *)arg(f, 3);
    const char *text = *(const char *const *)(const void *)arg(f, 4);
    const tn_tensor *number = f->in[1];
    CHECK(f->nin == 4 && f->nout == 1 && list.n == 2 && n.n == 3 && n.at[0] == 5 && n.at[2] == 7);
    CHECK(list.at[0] == members[0] && list.at[1] == members[1] && f->in[2] == members[0]);
    CHECK_TEXT(text, "said");
    CHECK((number->flags & TNI_NUMBER) && (number->flags & TNI_CONTIGUOUS));
    CHECK(number->dtype == TN_F64 && *(const double *)tn_data(f->in[1]) == 2.5);
    CHECK(f->scratch && (uintptr_t)f->scratch % TNI_ALIGN == 0 && f->scratch_bytes >= 800);
    CHECK(f->work.caller == NULL && f->work.line == 42 && !f->node && f->out[0] && f->out != f->in);
    if (runs) CHECK(list.at == f->in + 2 && !f->recording && !(number->flags & TNI_STACK));
    memset(f->scratch, 1, f->scratch_bytes);
    runs++;
    fill_run(f);
}
static void a_recording_holds_all_that_its_calls_read(void) {
    context = begin();
    add_row(&kept, "kept",
            "kept(Tensor self, Tensor|Scalar x, Tensor[] l, int[] n, str s) -> Tensor", 0,
            kept_check, kept_run, NULL);
    for (int lost = 0; lost < 3; lost++) {
        int64_t before = live, tensors = tn_memory().live_tensors;
        TN_SCOPE {
            int64_t n[3] = {5, 6, 7};
            char text[5] = "said";
            tn_tensor *list[2], *x = of(2, 3, 1), *y;
            tn_value v[5];
            list[0] = members[0] = of(1, 1, 1), list[1] = members[1] = of(1, 2, 1);
            v[0] = tensor(NULL, x), v[1] = named(NULL, TN_T_FLOAT), v[1].as.real = 2.5;
            v[2] = of_list(list, 2), v[3] = named(NULL, TN_T_INTS);
            v[3].as.ints = tn_ints_of(n, 3), v[4] = named(NULL, TN_T_STRING), v[4].as.string = text;
            runs = 0;
            CHECK(tn_record_begin());
            y = call(&kept, v, 5);
            tn_recording *r = tn_record_end();
            memset(n, 0, sizeof n), memset(text, 'x', 4), memset(list, 0, sizeof list);
            tn_free(x), tn_free(members[0]), tn_free(members[1]);
            if (lost) tn_free(y), y = NULL;
            uint32_t version = y ? y->storage->version : 0;
            CHECK(tn_replay(r) && tn_replay(r) && runs == 3);
            if (y) CHECK(y->storage->version == version + 2 && at(y, 5) == 0);
            tn_recording_free(r);
            CHECK_EQ(tn_memory().live_tensors, tensors + !lost);
        }
        CHECK_EQ(live, before);
    }
    end(context);
}

/* --- what is refused leaves nothing ----------------------------------------------------------- */

static void what_is_not_registered_leaves_nothing(void) {
    static tn_row r;
    tn_error_info e;
    context = begin();
    rows();
    int64_t before = live, count = tn_row_count();
    static const char *const wrong_rows[][2] = {{"plain", "other(Tensor x) -> Tensor"},
                                                {"other", "plain(Tensor x) -> Tensor"},
                                                {"other", "plain(Tensor x"},
                                                {"add", "x(Tensor x) -> Tensor"},
                                                {"other", "max.dim(Tensor x) -> Tensor"},
                                                {"other", "(Tensor x) -> Tensor"}};
    for (int i = 0; i < 6; i++) {
        memset(&r, 0, sizeof r);
        r.name = wrong_rows[i][0], r.schema = wrong_rows[i][1];
        r.check = sized_check, r.run = fill_run;
        CHECK(!tn_register(&r) && tn_error_take(&e) && e.code == TN_INVALID && !r.gen);
        CHECK_EQ(live, before);
        CHECK_EQ(tn_row_count(), count);
    }
    CHECK(!tn_schema_new("f(int[] a=[1,2], str b='c'") && tn_error_take(&e));
    CHECK_EQ(live, before);
    CHECK(!tn_schema_new(NULL) && tn_error_take(&e));
    tn_schema_free(tn_schema_new("f(int[] a=[1,2], str b='c') -> Tensor"));
    CHECK_EQ(live, before);
    end(context);
}

static void *leaves_a_scope_open(void *unused) {
    tn_context_use(context);
    CHECK(tn_scope_begin() == 0 && tn_scope_begin() == 1);
    CHECK(of(1, 5, 1) && tn_record_begin() && of(1, 5, 1));
    return unused;
}
static void *finds_none(void *unused) {
    tn_context_use(context);
    CHECK(!tni_calls(tni_here())->recording && !tni_state(tni_here())->depth);
    CHECK_EQ(tn_memory().live_tensors, 0); /* of this thread */
    CHECK(tn_scope_begin() == 0);
    tn_scope_end(0);
    return unused;
}
static void what_a_thread_leaves_open_the_next_one_closes(void) {
    context = begin();
    tn_tensor *x = of(1, 1, 1);
    for (int i = 0; i < 2; i++) {
        pthread_t t;
        if (CHECK(pthread_create(&t, NULL, i ? finds_none : leaves_a_scope_open, NULL) == 0))
            pthread_join(t, NULL);
    }
    tn_free(x);
    end(context);
}

static const check_test tests[] = {
    CHECK_TEST(a_request_is_seen_where_nothing_else_is_written),
    CHECK_TEST(numbers_that_were_not_published_are_drawn_again),
    CHECK_TEST(a_generator_may_stand_anywhere),
    CHECK_TEST(compositions_give_all_that_they_made),
    CHECK_TEST(a_view_gets_its_history_with_the_call),
    CHECK_TEST(a_profile_has_each_call_with_its_time),
    CHECK_TEST(a_recording_holds_all_that_its_calls_read),
    CHECK_TEST(what_is_not_registered_leaves_nothing),
    CHECK_TEST(what_a_thread_leaves_open_the_next_one_closes),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
