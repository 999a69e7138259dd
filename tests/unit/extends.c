/* extends.c - promises of api/beside.h and api/extend.h: the chain of calls places errors, scopes
 * and modes are after a callback as before it, what must happen as a whole does, data change hands
 * to the last byte. */
#include "../../src/kernels/kernels.h"
#include "../../src/api/ops.h"
#include "../refused.h"
#include "exact.h"

#include <pthread.h>

/* --- the chain of calls ----------------------------------------------------------------------- */

static int told;
static void handler(const tn_error_info *e, void *user) {
    (void)user;
    CHECK(e->code != TN_OK);
    told++;
}
static void path_text(const tn_path *p, char *to, size_t n) { snprintf(to, n, "link %d", p->line); }
static int fail_at; /* 0: while the link is pushed, 1: behind it, 2: not */
static bool pathed(tn_frame *f) {
    tn_path path = {NULL, path_text, "path.c", 9};
    tn_path_push(&path);
    CHECK(tn_path_current() == &path && tni_here()->place_hold > 0);
    if (fail_at == 0) CHECK(!tn_matmul(f->in[0], f->in[0]));
    tn_path_pop(&path);
    CHECK(!told && !tn_path_current() && !tni_here()->place_hold);
    if (fail_at == 1) CHECK(!tn_matmul(f->in[0], f->in[0]));
    CHECK(!told);
    return fail_at == 2 && (f->out[0] = tn_relu(f->in[0])) != NULL;
}
static void a_link_inside_of_an_operator_does_not_move_the_place(void) {
    static tn_row row;
    tn_context *c = begin();
    tn_error_info e;
    memset(&row, 0, sizeof row);
    row.name = "pathed", row.schema = "pathed(Tensor self) -> Tensor", row.compose = pathed;
    CHECK(tn_register(&row));
    tn_set_error_handler(handler, NULL);
    for (fail_at = 0; fail_at < 3; fail_at++)
        TN_SCOPE {
            tn_value v = tensor(NULL, of(2, 3, 1));
            told = 0;
            CHECK_EQ(call(&row, &v, 1) != NULL, fail_at == 2);
            CHECK_EQ(told, fail_at < 2);
            if (fail_at == 2) continue;
            CHECK(tn_error_take(&e) && e.line == 42 && !strcmp(e.file, "exact"));
            CHECK_EQ(strncmp(e.message, "link 9: ", 8) == 0, fail_at == 0);
            CHECK(strstr(e.message, ", called by pathed") != NULL);
        }
    tn_set_error_handler(NULL, NULL);
    end(c);
}
static void the_outermost_link_tells_what_is_pending(void) {
    tn_context *c = begin();
    tn_path links[3];
    tn_error_info e;
    tn_set_error_handler(handler, NULL);
    told = 0;
    for (int i = 0; i < 3; i++) {
        tn_path p = {NULL, path_text, "link.c", 10 * (i + 1)};
        links[i] = p;
        tn_path_push(&links[i]);
        CHECK(links[i].caller == (i ? &links[i - 1] : NULL) && tn_path_current() == &links[i]);
    }
    CHECK(!tnp_add(NULL, NULL, 1));
    for (int i = 2; i >= 0; i--) {
        CHECK_EQ(told, 0);
        tn_path_pop(&links[i]);
    }
    CHECK(told == 1 && tn_error_take(&e) && e.line == 10 && !strcmp(e.file, "link.c"));
    CHECK(!strncmp(e.message, "link 30: ", 9));
    tn_path_push(&links[0]), tn_path_pop(&links[0]);
    CHECK(told == 1 && tn_ok());
    tn_set_error_handler(NULL, NULL);
    end(c);
}

/* --- scopes and modes ------------------------------------------------------------------------- */

static void a_scope_is_left_with_some(void) {
    tn_context *c = begin();
    for (int64_t outer = 0; outer < 3; outer++) { /* open scopes around it */
        tn_tensor *t[5], *before = of(1, 1, 1);
        int64_t first = -1, mark, tensors;
        for (int64_t i = 0; i < outer; i++)
            first = first < 0 ? tn_scope_begin() : (tn_scope_begin(), 0);
        tensors = tn_memory().live_tensors;
        mark = tn_scope_begin();
        CHECK_EQ(mark, outer);
        t[0] = of(1, 1, 2), t[1] = NULL, t[2] = tn_hold(of(1, 1, 3)), t[3] = before;
        tn_scope_begin();
        t[4] = of(1, 1, 4);
        CHECK(of(1, 1, 5) != NULL);
        tn_scope_leave(-1, t, 5);
        CHECK_EQ(tni_state(tni_here())->depth, outer + 2);
        tn_scope_leave(mark, t, 5);
        CHECK(t[0]->depth == outer && t[4]->depth == outer && !t[2]->depth && !before->depth);
        CHECK_EQ(tni_state(tni_here())->depth, outer);
        CHECK_EQ(tn_memory().live_tensors, tensors + 3);
        CHECK(tn_item(t[0]) == 2 && tn_item(t[4]) == 4);
        if (!outer) tn_free(t[0]), tn_free(t[4]);
        tn_free(t[2]), tn_free(before);
        tn_scope_end(first);
        CHECK_EQ(tn_memory().live_tensors, 0);
    }
    end(c);
}

static void *leaves_modes_behind(void *arg) {
    tn_context_use((tn_context *)arg);
    tn_set_grad_mode(false), tn_set_inference_mode(true);
    tn_scope_begin();
    of(1, 1, 1);
    tn_guard_begin();
    return tni_here();
}
static void *finds_modes_as_they_begin(void *arg) {
    tn_context_use((tn_context *)arg);
    tni_block *b = tni_here();
    CHECK(tn_grad_mode() && !tni_state(b)->inference && !tni_state(b)->floor);
    CHECK(!tni_state(b)->depth && tn_memory().live_tensors == 0);
    return b;
}
static void modes_and_scopes_of_an_ended_thread_are_over(void) {
    tn_context *c = begin();
    void *first = NULL, *second = NULL;
    pthread_t t;
    CHECK(!pthread_create(&t, NULL, leaves_modes_behind, c) && !pthread_join(t, &first));
    CHECK(!pthread_create(&t, NULL, finds_modes_as_they_begin, c) && !pthread_join(t, &second));
    CHECK(first && first == second);
    end(c);
}

static void a_guard_puts_all_back(void) {
    tn_context *c = begin(), *other = tn_context_new(NULL);
    tn_context_use(c);
    for (int modes = 0; modes < 8; modes++) {
        int64_t first = tn_scope_begin(), mark;
        tni_block *b = tni_here();
        tn_tensor *outside = of(1, 1, 1), *kept[2];
        if (modes & 1) tn_set_grad_mode(false);
        if (modes & 2) tn_set_inference_mode(true);
        uint8_t no_grad = tni_state(b)->no_grad;
        uint16_t inference = tni_state(b)->inference;
        tn_guard g = tn_guard_begin(), inner;
        tn_scope_end(first); /* not its own: stays */
        CHECK(tni_state(b)->depth == 1 && tni_state(b)->floor == 1 && tn_item(outside) == 1);
        mark = tn_scope_begin();
        inner = tn_guard_begin();
        CHECK(tni_state(b)->floor == 2);
        tn_scope_end(mark);
        CHECK(tni_state(b)->depth == 2);
        tn_guard_end(&inner, NULL, 0);
        CHECK(tni_state(b)->floor == 1 && tni_state(b)->depth == 2);
        tn_scope_begin();
        kept[0] = of(1, 1, 7), kept[1] = of(1, 1, 8);
        CHECK(of(1, 1, 9) != NULL);
        tn_set_grad_mode(modes & 1), tn_set_inference_mode(!(modes & 2));
        if (modes & 4) tn_context_use(other);
        tn_guard_end(&g, kept, 2);
        CHECK(tn_context_current() == c && tni_state(b)->depth == 1 && tni_state(b)->floor == 0);
        CHECK(tni_state(b)->no_grad == no_grad && tni_state(b)->inference == inference);
        CHECK(kept[0]->depth == 1 && tn_item(kept[0]) == 7 && tn_item(kept[1]) == 8);
        CHECK_EQ(tn_memory().live_tensors, 3);
        tn_set_inference_mode(false), tn_set_grad_mode(true);
        tn_scope_end(first);
        CHECK(!tni_state(b)->depth && tn_memory().live_tensors == 0);
    }
    end(c);
    tn_context_free(other);
}

static void what_must_be_whole_nests(void) {
    tn_context *c = begin();
    TN_SCOPE {
        tn_tensor *x = of(1, 1, 1);
        tni_block *b = tni_here();
        tn_whole_end();
        CHECK_EQ(b->unstopped, 0);
        CHECK(tn_whole_begin() && b->unstopped == 1);
        tn_cancel(c);
        CHECK(tn_add(x, x) && tn_whole_begin() && b->unstopped == 2 && tn_add(x, x));
        CHECK(tn_whole_pause() == 2 && b->unstopped == 0);
        REFUSED(tn_add(x, x), TN_CANCELLED, "was cancelled");
        tn_whole_resume(2);
        CHECK(b->unstopped == 2 && tn_add(x, x));
        tn_whole_end();
        CHECK(b->unstopped == 1 && tn_add(x, x));
        tn_whole_end();
        CHECK_EQ(b->unstopped, 0);
        REFUSED(tn_add(x, x), TN_CANCELLED, "was cancelled");
        REFUSED(tn_whole_begin(), TN_CANCELLED, "the call was cancelled");
        CHECK_EQ(b->unstopped, 0);
        tn_cancel_clear(c);
        CHECK(!tn_error_set(TN_INDEX, NULL, 0, "pending") && !tn_whole_begin() && !b->unstopped);
        says(TN_INDEX, "pending", __LINE__);
    }
    end(c);
}

static void a_tensor_lives_while_it_is_counted(void) {
    tn_context *c = begin();
    int64_t mark = tn_scope_begin();
    tn_tensor *x = of(1, 1, 3);
    CHECK(tn_retain(x) == x && x->refs == 2 && !tn_retain(NULL));
    tn_scope_end(mark);
    CHECK(x->refs == 1 && tn_item(x) == 3);
    tn_release(NULL);
    tn_release(x);
    CHECK_EQ(tn_memory().live_tensors, 0);
    end(c);
}

/* --- exchanged data --------------------------------------------------------------------------- */

static tn_tensor *bytes(int64_t n, int from, tn_dtype dtype) {
    tn_tensor *t = tn_empty(TN_DIMS(n), .dtype = dtype);
    for (int64_t i = 0; i < n * tni_dtype_size(t); i++)
        ((unsigned char *)tn_data(t))[i] = (unsigned char)(from + i % 100);
    return t;
}
static bool counts(const tn_tensor *t, int from) {
    const unsigned char *at = (const unsigned char *)tni_bytes_at(t);
    for (int64_t i = 0; i < t->numel * tni_dtype_size(t); i++)
        if (at[i] != (unsigned char)(from + i % 100)) return false;
    return true;
}
/* Both ways round, whichever of them is seen by others. */
static void every_byte_changes_hands(void) {
    static const int64_t sizes[] = {0, 1, 2, 1023, 1024, 1025, 2047, 2048, 2049, 5000};
    tn_context *c = begin();
    for (int i = 0; i < 10; i++)
        for (int views = 0; views < 4; views++)
            TN_SCOPE {
                tn_tensor *a = bytes(sizes[i], 1, TN_U8), *b = bytes(sizes[i], 101, TN_U8);
                tn_tensor *of_a = views & 1 ? tn_detach(a) : a,
                          *of_b = views & 2 ? tn_detach(b) : b;
                void *data = tn_data(a);
                int64_t version = tn_version(a) + tn_version(b);
                CHECK(tn_swap_data(a, b) && counts(a, 101) && counts(b, 1));
                CHECK(counts(of_a, 101) && counts(of_b, 1));
                if (sizes[i]) CHECK_EQ(tn_data(a) == data, views != 0);
                CHECK_EQ(tn_version(a) + tn_version(b), version + 2);
                CHECK(tn_version(a) != tn_version(b) + 2 && tn_version(b) != tn_version(a) + 2);
            }
    end(c);
}

static void headers_change_hands_where_bytes_cannot(void) {
    static double fixed[3] = {1, 2, 3};
    tn_context *c = begin();
    tn_wrap_options o;
    memset(&o, 0, sizeof o);
    o.read_only = true;
    TN_SCOPE {
        tn_tensor *x = tn_arange(20, .dtype = TN_F64), *y = tn_arange(20, .dtype = TN_F32);
        tn_tensor *a = tn_detach(tn_slice(x, .start = 2, .end = 8, .step = 2)),
                  *b = tn_detach(tn_slice(y, .start = 5, .end = 8));
        tn_tensor *w = tn_wrap(fixed, TN_DIMS(3), TN_F64, &o);
        tn_tensor *m = tn_empty(TN_DIMS(3), .dtype = TN_I64, .device = TN_META),
                  *all[4] = {a, b, w, m};
        CHECK(!a->base && a->offset == 2 && b->offset == 5);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                tn_tensor p = *all[i], q = *all[j];
                int64_t stride = all[i]->stride[0], other = all[j]->stride[0];
                uint16_t layout = TNI_CONTIGUOUS | TNI_META | TNI_READ_ONLY;
                CHECK(tn_swap_data(all[i], all[j]));
                CHECK(all[i]->storage == q.storage && all[j]->storage == p.storage);
                CHECK(all[i]->offset == q.offset && all[j]->offset == p.offset);
                CHECK(all[i]->dtype == q.dtype && all[j]->dtype == p.dtype);
                CHECK(all[i]->device == q.device && all[j]->device == p.device);
                CHECK(all[i]->stride[0] == other && all[j]->stride[0] == stride);
                CHECK(!((all[i]->flags ^ q.flags) & layout));
                CHECK(!((all[j]->flags ^ p.flags) & layout));
                CHECK(!((all[i]->flags ^ p.flags) & ~layout));
                CHECK(tn_swap_data(all[j], all[i]));
            }
        tn_tensor *leaf = tn_requires_grad(of(1, 3, 1)), *plain = of(1, 3, 2);
        CHECK(tn_swap_data(leaf, plain) && tn_needs_grad(leaf) && !tn_needs_grad(plain));
        CHECK(fixed[0] == 1 && fixed[2] == 3 && tn_item(tn_sum(a)) == 12);
    }
    end(c);
}

/* Memory of two storages that overlaps: bytes cannot be exchanged, headers can. */
static void bytes_that_overlap_are_not_exchanged(void) {
    float data[6] = {1, 2, 3, 4, 5, 6};
    tn_context *c = begin();
    for (int ahead = 0; ahead < 4; ahead++)
        for (int way = 0; way < 2; way++)
            TN_SCOPE {
                tn_tensor *a = tn_wrap(data, TN_DIMS(3), TN_F32, NULL),
                          *b = tn_wrap(data + ahead, TN_DIMS(3), TN_F32, NULL), *view;
                CHECK(tn_swap_data(a, b) && tn_data(a) == data + ahead && tn_data(b) == data);
                view = tn_slice(a, .end = 1);
                const bool done = way ? tn_swap_data(a, b) : tn_swap_data(b, a);
                CHECK_EQ(done, ahead == 3);
                if (done) CHECK(data[0] == 4 && data[5] == 3 && tn_data(view) == data + 3);
                if (done) CHECK(tn_swap_data(a, b));
                if (!done)
                    says(TN_INVALID,
                         way ? "tn_swap_data: the memory of b overlaps that of a, a tensor of "
                               "another storage; clone one of them first"
                             : "tn_swap_data: the memory of b overlaps that of a",
                         __LINE__);
                CHECK(data[0] == 1 && data[2] == 3 && data[3] == 4 && data[5] == 6);
                CHECK_EQ(tn_version(a) + tn_version(b), done ? 6 : 2);
            }
    end(c);
}

static void what_cannot_be_exchanged_is_said(void) {
    tn_context *c = begin(), *other = tn_context_new(NULL);
    tn_context_use(other);
    tn_tensor *far = of(1, 3, 1);
    tn_context_use(c);
    TN_SCOPE {
        tn_tensor *x = of(1, 3, 1), *leaf = tn_requires_grad(of(1, 3, 1)), *bad[3], *good[3];
        bad[0] = tn_slice(of(1, 3, 1), .dim = 1), bad[1] = tn_mul(leaf, leaf), bad[2] = far;
        for (int i = 0; i < 3; i++)
            for (int way = 0; way < 2; way++) {
                uint32_t version = x->storage->version;
                CHECK(!(way ? tn_swap_data(x, bad[i]) : tn_swap_data(bad[i], x)));
                says(i < 2 ? TN_AUTOGRAD : TN_INVALID,
                     i < 2 ? "tn_swap_data: neither tensor may be a view or a recorded result"
                           : "tn_swap_data",
                     __LINE__);
                CHECK_EQ(x->storage->version, version);
            }
        tn_error_info e;
        CHECK(!tnp_swap_data(x, NULL) && tn_error_take(&e) && !e.file && !e.line);
        REFUSED(tn_swap_data(x, of(3, 1, 1)), TN_INVALID, "tn_swap_data: the shapes differ");
        good[0] = of(1, 3, 2);
        CHECK(!tn_error_set(TN_INDEX, NULL, 0, "pending") && tn_swap_data(x, good[0]));
        says(TN_INDEX, "pending", __LINE__);
        CHECK(tn_item(tn_sum(x)) == 6);
    }
    tn_context_use(other), tn_free(far), tn_context_use(c);
    end(c);
    tn_context_free(other);
}

/* --- small things ----------------------------------------------------------------------------- */

static double hour;
static double clock_of(void *user) { return *(double *)user; }
static void time_and_chance_go_on(void) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.clock = clock_of, o.clock_user = &hour, o.threads = -1;
    tn_context_use(c = tn_context_new(&o));
    for (hour = 5.25; hour < 8; hour++) CHECK(tn_now() == hour);
    tn_generator *g = tn_generator_new(5), *h = tn_generator_new(5);
    tn_manual_seed(5);
    for (int i = 0; i < 3; i++) {
        uint64_t x = tn_random64(g);
        CHECK(x == tn_random64(h) && x == tn_random64(NULL) && x);
    }
    tn_generator_free(g), tn_generator_free(h);
    tn_context_use(NULL);
    tn_context_free(c);
}

/* The best instruction set that the machine and this build have, or the one that is named. */
static void a_context_has_the_kernels_of_its_instruction_set(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    for (int i = 0; i < 2; i++) {
        int best;
        o.isa = i ? "scalar" : NULL;
        tn_context *c = tn_context_new(&o);
        best = tni_isa_pick(o.isa);
        if (!CHECK(c != NULL)) continue;
        while (!tni_kernels_of(best)) best--;
        CHECK_EQ(c->isa, best);
        CHECK(c->kernels == tni_kernels_of(best));
        tn_context_use(c);
        CHECK_TEXT(tn_isa(), tni_isa_name(best));
        CHECK(tn_default_dtype() == TN_F32 && tn_item(of(1, 1, 2)) == 2);
        tn_context_use(NULL);
        tn_context_free(c);
    }
}

static const check_test tests[] = {
    CHECK_TEST(a_link_inside_of_an_operator_does_not_move_the_place),
    CHECK_TEST(the_outermost_link_tells_what_is_pending),
    CHECK_TEST(a_scope_is_left_with_some),
    CHECK_TEST(a_guard_puts_all_back),
    CHECK_TEST(modes_and_scopes_of_an_ended_thread_are_over),
    CHECK_TEST(what_must_be_whole_nests),
    CHECK_TEST(a_tensor_lives_while_it_is_counted),
    CHECK_TEST(every_byte_changes_hands),
    CHECK_TEST(headers_change_hands_where_bytes_cannot),
    CHECK_TEST(bytes_that_overlap_are_not_exchanged),
    CHECK_TEST(what_cannot_be_exchanged_is_said),
    CHECK_TEST(a_context_has_the_kernels_of_its_instruction_set),
    CHECK_TEST(time_and_chance_go_on),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
