/* refused.c - every public function of the rooms base to io says no where it must: in a thread for
 * which there is no memory at all, and while an error is pending, which stays. */
#include "../../src/api/extend.h"
#include "../../src/api/io.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <pthread.h>
#include <stdlib.h>

static bool empty; /* the allocator has no memory */
static void *some_alloc(size_t bytes, void *user) {
    (void)user;
    return __atomic_load_n(&empty, __ATOMIC_RELAXED) ? NULL : malloc(bytes);
}
static void some_free(void *at, size_t bytes, void *user) {
    (void)bytes, (void)user;
    free(at);
}
static tn_context *begin(void) {
    tn_context_options o;
    tn_context *c;
    memset(&o, 0, sizeof o);
    o.allocator.alloc = some_alloc;
    o.allocator.free = some_free;
    o.threads = -1;
    o.no_cache = true;
    c = tn_context_new(&o);
    CHECK(c != NULL);
    tn_context_use(c);
    return c;
}
static void end(tn_context *c) {
    CHECK(!tn_error_print());
    CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_use(NULL);
    tn_context_free(c);
}

/* What the calls are tried on: made where there is memory. */
static struct {
    tn_context *c;
    tn_tensor *x, *y; /* y = sum of x, recorded */
    tn_recording *recording;
    tn_safetensors *file;
    tn_gen *gen;
    tn_generator *generator;
    int64_t hook;
    int released;
    char path[80];
} given;

static tn_tensor *pass(tn_tensor *grad, void *user) {
    (void)user;
    return grad;
}
static tn_tensor *first(tn_tensor *const *in, int nin, void *user) {
    (void)nin, (void)user;
    return tn_mul(in[0], in[0]);
}
static bool square(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    (void)nin, (void)user;
    *nout = 1;
    return (out[0] = tn_mul(in[0], in[0])) != NULL;
}
static bool twice(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    (void)f, (void)nin;
    return (out[0] = tn_mul_scalar(in[0], 2)) != NULL;
}
static bool twice_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    (void)f;
    return (grad_in[0] = tn_mul_scalar(grad_out[0], 2)) != NULL;
}
static void release(void *user) { ++*(int *)user; }
static const tn_function_row twice_row = {"twice", 1, twice, twice_back, release};
static void never_ends(tn_ending *e) { (void)e; }

static void give(void) {
    tn_named one;
    memset(&given, 0, sizeof given);
    given.c = begin();
    given.x = tn_requires_grad(tn_full(TN_DIMS(1), 3.0, .dtype = TN_F64));
    given.y = tn_mul(given.x, given.x);
    given.hook = tn_hook_add(given.x, pass, NULL, NULL);
    CHECK(tn_record_begin());
    tn_free(tn_relu(given.x));
    given.recording = tn_record_end();
    given.gen = tn_schema_new("f(int n=3) -> Tensor");
    given.generator = tn_generator_new(1);
    snprintf(given.path, sizeof given.path, "/tmp/tn_refused_%p", (void *)given.c);
    one.name = "x";
    one.tensor = given.x;
    CHECK(tn_safetensors_save_at(__FILE__, __LINE__, given.path, &one, 1, NULL, 0));
    given.file = tn_safetensors_open(given.path);
    CHECK(tn_ok() && given.recording && given.gen && given.generator && given.file);
}
static void take_back(void) {
    CHECK(given.hook > 0 && tn_hook_remove(given.x, given.hook));
    tn_recording_free(given.recording);
    tn_schema_free(given.gen);
    tn_generator_free(given.generator);
    tn_safetensors_close(given.file);
    tn_free(given.y);
    tn_free(given.x);
    remove(given.path);
    end(given.c);
}

/* --- what refuses in both cases --------------------------------------------------------------- */

static void tensors_and_rows_are_refused(void) {
    static const double nothing[TNI_ARGS_BYTES / sizeof(double)];
    int64_t whole[1] = {7}, n = 1;
    double wide[1] = {7};
    float room[1] = {7};
    int count = 7;
    tn_tensor *to[1];
    tn_value v = {0};
    tn_ints one = tn_ints_of(&n, 1);
    CHECK(tn_item(given.x) == 0 && tn_item_int(given.x) == 0 && tnp_item(given.x) == 0);
    CHECK(tn_item_scalar(given.x).kind == TN_KIND_NONE && tnp_item_int(given.x) == 0);
    CHECK(!tn_read_f32(given.x, room, 1) && room[0] == 7);
    CHECK(!tn_read_f64(given.x, wide, 1) && wide[0] == 7);
    CHECK(!tn_read_i64(given.x, whole, 1) && whole[0] == 7 && !tnp_read_i64(given.x, whole, 1));
    CHECK(!tn_from(room, one, TN_F32) && !tn_wrap(room, one, TN_F32, NULL));
    CHECK(!tn_add(given.x, given.x) && !tn_chunk(given.x, 1).n);
    v.type = TN_T_TENSOR;
    v.as.tensor = given.x;
    CHECK(!tn_call_named(NULL, 0, "relu", &v, 1, to, 1, &count) && count == 0);
    count = 7;
    CHECK(!tn_call_row(NULL, 0, tn_row_named("relu"), TN_PLAIN, &v, 1, to, 1, &count));
    CHECK_EQ(count, 0);
    to[0] = given.x;
    CHECK(!tn_call(tn_row_named("relu"), TN_PLAIN, NULL, 0, nothing, to) && !to[0]);
    CHECK(!tn_schema_new("f(int n) -> Tensor"));
    CHECK(!tn_bind(NULL, 0, "f", given.gen, NULL, 0, true, whole));
    CHECK(!tn_record_begin() && !tn_replay(given.recording));
    CHECK(!tn_register(NULL));
    CHECK(!tn_error_set(TN_INVALID, NULL, 0, "second"));
}

static void gradients_are_refused(void) {
    tn_tensor *out[1] = {given.x}, *grads[1] = {given.x};
    tn_tensors in = tn_tensors_of(&given.x, 1);
    CHECK(!tn_requires_grad(given.x) && !tn_set_grad(given.x, NULL) && tn_needs_grad(given.x));
    CHECK(!tn_retain_grad(given.y) && !tn_hook_add(given.x, pass, NULL, NULL));
    CHECK(!tnp_retain_grad(given.y) && !tnp_hook_add(given.x, pass, NULL, NULL));
    CHECK(!tn_backward(given.y) && !tn_grad_of(given.x));
    CHECK(!tn_grads(tn_tensors_of(&given.y, 1), in, grads, NULL));
    CHECK(!tn_gradcheck(square, in, NULL, NULL) && !tn_gradgradcheck(square, in, NULL, NULL));
    CHECK(!tnp_gradcheck(square, in, NULL, NULL) && !tnp_gradgradcheck(square, in, NULL, NULL));
    CHECK(!tn_function_call(&twice_row, in, &given.released, out) && !out[0]);
    CHECK_EQ(given.released, 1); /* what was given goes all the same */
    given.released = 0;
    CHECK(!tn_checkpoint(first, in, NULL));
}

static void files_are_refused(void) {
    bool exists = true;
    tn_named one;
    one.name = "x";
    one.tensor = given.x;
    CHECK(!tn_file_exists(given.path, &exists) && !exists);
    CHECK(!tn_load_bytes(given.path) && !tn_load_idx(given.path));
    CHECK(!tn_safetensors_open(given.path) && !tn_safetensors_get(given.file, "x"));
    CHECK_EQ(tn_safetensors_load(given.path).n, -1);
    CHECK(!tn_safetensors_save_at(NULL, 0, given.path, &one, 1, NULL, 0));
}

/* --- a thread without memory ------------------------------------------------------------------ */

static void base_has_nothing(void) {
    tn_ending e;
    tn_error_info info;
    e.end = never_ends;
    CHECK(tn_context_current() == NULL && tn_threads() == 1 && tn_now() == 0);
    CHECK_TEXT(tn_isa(), "none");
    CHECK(tn_memory().bytes_used == 0 && tn_memory().allocations == 0 && tn_memory_trim() == 0);
    tn_memory_reset_peak();
    CHECK(!tn_alloc(8) && !tn_ending_add(&e) && !tn_set_threads(2));
    CHECK(!tn_profile_begin() && !tn_profile_end("/nowhere/at/all"));
    CHECK(!tn_ok() && tn_error_peek(NULL) && tn_error_peek(&info) && info.code == TN_MEMORY);
    CHECK(strstr(info.message, "out of memory: cannot make a context") != NULL);
    CHECK(tn_error_take(&info) && info.code == TN_MEMORY && !tn_ok());
    tn_set_error_handler(NULL, NULL);
    tn_cancel(NULL); /* the default context, or none */
    tn_cancel_clear(NULL);
}
static void rooms_above_have_nothing(void) {
    tn_path path;
    tn_list list;
    memset(&path, 0, sizeof path);
    memset(&list, 0, sizeof list);
    CHECK(tn_default_dtype() == TN_F32 && !tn_set_default_dtype(TN_F64));
    CHECK(!tn_default_generator() && !tn_generator_new(1) && tn_random64(NULL) == 0);
    tn_manual_seed(1);
    CHECK(tn_size(given.x, 9) == 0 && tn_stride(NULL, 0) == 0 && !tn_touch(given.x));
    CHECK(!tn_to_text(given.x, NULL) && !tn_print(given.x));
    CHECK(tn_scope_begin() < 0);
    tn_scope_end(1);
    tn_scope_leave(1, &given.x, 1);
    CHECK(tn_keep(given.x) == given.x && tn_hold(given.x) == given.x);
    tn_free(given.x), tn_release(given.x), tn_list_free(list), tn_recording_free(given.recording);
    tn_schema_free(given.gen), tn_generator_free(NULL), tn_zero_grad(given.x);
    tn_path_push(&path), tn_path_pop(&path);
    CHECK(!tn_path_current() && !tn_record_end() && tn_row_named("relu") && tn_row_count() > 100);
    CHECK(!tn_grad_mode() && !tn_set_grad_mode(true) && !tn_set_inference_mode(true));
    CHECK(!tn_set_anomaly_mode(true) && !tn_hook_remove(given.x, given.hook));
    CHECK(!tn_swap_data_at(NULL, 0, given.x, given.x));
    tn_guard guard = tn_guard_begin();
    CHECK(!guard.block && !tn_whole_begin() && tn_retain(NULL) == NULL);
    CHECK_EQ(tn_whole_pause(), 0);
    tn_whole_end(), tn_whole_resume(0);
    tn_guard_end(&guard, &given.x, 1);
}
static void *without_memory(void *unused) {
    tn_context_use(given.c);
    base_has_nothing();
    rooms_above_have_nothing();
    tensors_and_rows_are_refused();
    gradients_are_refused();
    files_are_refused();
    tn_context_use(NULL);
    return unused;
}
static void a_thread_without_memory_is_refused_everywhere(void) {
    pthread_t t;
    give();
    __atomic_store_n(&empty, true, __ATOMIC_RELAXED);
    if (CHECK(pthread_create(&t, NULL, without_memory, NULL) == 0)) pthread_join(t, NULL);
    __atomic_store_n(&empty, false, __ATOMIC_RELAXED);
    CHECK(tn_item(given.x) == 3 && tn_item(given.y) == 9 && tn_ok());
    CHECK(tn_backward(given.y) && tn_item(tn_grad_of(given.x)) == 6);
    take_back();
}

/* --- a pending error -------------------------------------------------------------------------- */

static void a_pending_error_stays_and_stops_all(void) {
    tn_error_info e;
    char *text;
    give();
    CHECK(!tn_error_set(TN_INDEX, "here.c", 3, "first"));
    tensors_and_rows_are_refused();
    gradients_are_refused();
    files_are_refused();
    CHECK(!tn_swap_data_at(NULL, 0, given.x, NULL));
    CHECK(!tn_set_default_dtype(TN_I64) && tn_size(given.x, 9) == 0);
    text = tn_to_text(given.x, NULL); /* for looking at what went wrong */
    CHECK(text && strstr(text, "3"));
    if (text) tn_alloc_free(text, strlen(text) + 1);
    CHECK(tn_error_peek(&e) && e.code == TN_INDEX && e.line == 3);
    CHECK_TEXT(e.message, "first");
    CHECK(tn_error_take(NULL));
    CHECK(tn_backward(given.y) && tn_item(tn_grad_of(given.x)) == 6);
    take_back();
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(a_thread_without_memory_is_refused_everywhere),
        CHECK_TEST(a_pending_error_stays_and_stops_all),
    };
    return CHECK_MAIN(tests, argc, argv);
}
