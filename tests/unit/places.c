/* places.c - every function of modules, optimizers, data, training and files that can fail says
 * the line of the program that called it. The headers are read: a function that is added there has
 * to be called here, or named among those that cannot fail. */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <stdlib.h>

static const char here[] = "tests/unit/places.c";
static const char none[] = "/nowhere/at/all";

/* The error that is pending is this line's; it is taken. */
static bool placed(int line) {
    tn_error_info e = {TN_OK, "no error", NULL, 0};
    bool ok = tn_error_take(&e) && e.file && strcmp(e.file, __FILE__) == 0 && e.line == line;
    if (!ok) printf("    %s:%d: %s\n", e.file ? e.file : "(no file)", e.line, e.message);
    return ok;
}
/* An operator call before, whose line is not the error's. */
static void elsewhere(void) {
    TN_SCOPE {
        (void)!tn_zeros(TN_DIMS(1));
    }
}
/* gcc warns of dropped results even of (void). */
#pragma GCC diagnostic ignored "-Wunused-result"
#define FAILS(call)                                                \
    do {                                                           \
        elsewhere();                                               \
        (void)(call);                                              \
        check_report(placed(__LINE__), __FILE__, __LINE__, #call); \
    } while (0)

/* --- modules ---------------------------------------------------------------------------------- */

typedef struct thing {
    tn_module base;
    tn_tensor *t;
    tn_module *child;
} thing;
static bool thing_forward(tn_mframe *f) {
    f->out[0] = NULL;
    return tn_error_set(TN_INVALID, NULL, 0, "never");
}
static const tn_mrow thing_row = {.name = "Thing", .size = sizeof(thing), .forward = thing_forward};
static const tn_mrow bad_row = {.name = "Bad", .schema = "Bad(int", .size = sizeof(thing)};
static bool no_reset(tn_module *m) { return (void)m, false; }
static const tn_mrow unset_row = {.name = "Unset", .size = sizeof(thing), .reset = no_reset};
static bool stop(tn_module *m, const char *path, void *user) {
    return (void)m, (void)path, (void)user, false;
}

static void making_says_its_line(void) {
    thing *s;
    tn_tensor *t = tn_hold(tn_ones(TN_DIMS(2)));
    FAILS(tn_module_new(NULL));
    FAILS(tn_module_finish((tn_module *)tn_module_new(&unset_row)));
    FAILS(tn_module_make(__FILE__, __LINE__, &bad_row, &s));
    FAILS(tn_module_named("Nothing", NULL, 0));
    FAILS(tn_module_register(&bad_row));
    s = (thing *)tn_module_new(&thing_row);
    FAILS(tn_part_tensor(&s->base, TN_PARAM, "a.b", NULL, TN_F32, TN_DIMS(1)));
    tn_module_free(&s->base);
    s = (thing *)tn_module_new(&thing_row);
    FAILS(tn_part_give(&s->base, TN_PARAM, "", NULL, t));
    tn_module_free(&s->base);
    s = (thing *)tn_module_new(&thing_row);
    FAILS(tn_part_child(&s->base, "child", NULL, NULL));
    tn_module_free(&s->base);
    s = (thing *)tn_module_new(&thing_row);
    FAILS(tn_module_append(&s->base, NULL));
    tn_module_free(&s->base);
    tn_free(t);
}

static void modules_say_their_line(void) {
    tn_module *m = tn_nn_linear(2, 3);
    tn_tensor *out[1], *x = tn_hold(tn_ones(TN_DIMS(3)));
    tn_named_list list = {NULL, 0, 0, false};
    FAILS(tn_forward(m, x));
    FAILS(tn_forward(NULL, x));
    FAILS(tn_module_call(__FILE__, __LINE__, NULL, NULL, NULL, out, 1));
    FAILS(tn_module_call_values(__FILE__, __LINE__, m, NULL, 0, out, 1));
    FAILS(tn_module_hook(m, 7, NULL, NULL, NULL));
    FAILS(tn_module_hook_remove(m, 7));
    FAILS(tn_module_tensor(m, "nothing"));
    FAILS(tn_module_child(m, "nothing"));
    FAILS(tn_module_set_tensor(m, "nothing", NULL));
    FAILS(tn_module_walk(NULL, stop, NULL));
    FAILS(tn_module_walk(m, NULL, NULL));
    FAILS(tn_module_parameters(NULL));
    FAILS(tn_module_buffers(NULL));
    FAILS(tn_module_state_dict(NULL));
    FAILS(tn_module_requires_grad(NULL, true));
    FAILS(tn_module_load(m, list));
    FAILS(tn_module_to(m, TN_I64, TN_NO_DEVICE));
    FAILS(tn_module_copy(NULL));
    FAILS(tn_module_copy_from(m, NULL, 1));
    FAILS(tn_module_reset(NULL));
    FAILS(tn_module_save_file(m, none));
    FAILS(tn_module_load_file(m, none));
    FAILS(tn_module_save_memory(NULL));
    FAILS(tn_module_load_memory(m, "no file", 7));
    FAILS(tn_module_text(NULL));
    FAILS(tn_module_print(NULL));
    tn_free(x);
    tn_module_free(m);
}

static void initial_values_say_their_line(void) {
    tn_tensor *t = tn_hold(tn_ones(TN_DIMS(2), .dtype = TN_I64)), *v = tn_hold(tn_ones(TN_DIMS(2)));
    FAILS(tn_nn_init_gain((tn_nn_init_for)77, 0));
    FAILS(tn_nn_init_constant_(tn_expand(tn_ones(TN_DIMS(1)), TN_DIMS(3)), 1));
    FAILS(tn_nn_init_uniform_(t, 0, 1));
    FAILS(tn_nn_init_normal_(t, 0, 1));
    FAILS(tn_nn_init_xavier_uniform_(v, 1));
    FAILS(tn_nn_init_xavier_normal_(v, 1));
    FAILS(tn_nn_init_kaiming_uniform_(v, 0, TN_FAN_IN, TN_INIT_RELU));
    FAILS(tn_nn_init_kaiming_normal_(v, 0, TN_FAN_IN, TN_INIT_RELU));
    tn_free(t);
    tn_free(v);
}

/* --- optimizers ------------------------------------------------------------------------------- */

static double not_a_number(int64_t step, void *user) { return (void)step, (void)user, -1; }

static void optimizers_say_their_line(void) {
    tn_module *m = tn_nn_linear(2, 3);
    tn_tensors p = tn_parameters(m);
    tn_optimizer *o = tn_optim_sgd(p, .lr = 0.1);
    tn_schedule *s = tn_optim_step_lr(o, 1, -1.0);
    double initial = 1;
    FAILS(tn_parameters(NULL));
    FAILS(tn_optim_sgd(p, .lr = -1));
    FAILS(tn_optimizer_make(__FILE__, __LINE__, NULL, NULL));
    FAILS(tn_optimizer_group(o, p, NULL, 0));
    FAILS(tn_scaler_new(.init_scale = -1));
    FAILS(tn_scaler_scale(NULL, NULL));
    FAILS(tn_scaler_unscale_(NULL, o));
    FAILS(tn_scaler_step(NULL, o));
    FAILS(tn_scaler_update(NULL));
    FAILS(tn_scaler_resume(NULL, 1, 0));
    FAILS(tn_lbfgs_new(p, .lr = -1));
    FAILS(tn_lbfgs_step(NULL, NULL, NULL));
    FAILS(tn_optimizer_set(o, 0, "nothing", 1));
    FAILS(tn_optimizer_set(o, 0, "nesterov", 0.5));
    FAILS(tn_optimizer_set(NULL, 0, "lr", 1));
    FAILS(tn_optimizer_get(o, 3, "lr"));
    FAILS(tn_optimizer_set_rate(o, 3, NULL));
    FAILS(tn_optimizer_step(NULL));
    FAILS(tn_optimizer_state_dict(NULL));
    FAILS(tn_optimizer_load(o, NULL, 2));
    FAILS(tn_optimizer_load(NULL, NULL, 0));
    FAILS(tn_nn_clip_grad_norm_(p, -1));
    FAILS(tn_optim_step_lr(o, 0, 0.5));
    FAILS(tn_optim_step_lr(NULL, 1, 0.5));
    FAILS(tn_optim_cosine_lr(o, 0, 0));
    FAILS(tn_optim_cosine_lr(o, INT64_MAX, 0));
    FAILS(tn_optim_lambda_lr(o, NULL, NULL));
    FAILS(tn_optim_lambda_lr(o, not_a_number, NULL));
    FAILS(tn_schedule_step(s));
    FAILS(tn_schedule_step(NULL));
    FAILS(tn_schedule_resume(s, -1, &initial, 1));
    FAILS(tn_schedule_resume(s, INT64_MAX, &initial, 1));
    tn_schedule_free(s);
    tn_optimizer_free(o);
    tn_module_free(m);
}

/* --- data, training, files -------------------------------------------------------------------- */

static void data_say_their_line(void) {
    tn_dataset like;
    tn_tensor *t[1] = {NULL}, *x = tn_hold(tn_ones(TN_DIMS(2)));
    tn_batch b;
    memset(&like, 0, sizeof like);
    FAILS(tn_dataset_new(&like));
    FAILS(tn_dataset_new(NULL));
    FAILS(tn_dataset_tensors(tn_tensors_of(t, 1)));
    FAILS(tn_dataset_images(x, x, 0, 1));
    FAILS(tn_dataset_idx(none, none, 0, 1));
    FAILS(tn_dataset_slice(NULL, 0, 1));
    FAILS(tn_loader_new(NULL));
    FAILS(tn_loader_next(NULL, &b));
    tn_free(x);
}

static void training_says_its_line(void) {
    tn_state s;
    memset(&s, 0, sizeof s);
    FAILS(tn_checkpoint_save(NULL, &s));
    FAILS(tn_checkpoint_load(none, &s));
    FAILS(tn_checkpoint_save_memory(NULL));
    FAILS(tn_checkpoint_load_memory("no file", 7, &s));
    FAILS(tn_train(NULL, NULL, NULL));
    FAILS(tn_evaluate(NULL, NULL, NULL, NULL, NULL));
}

static void files_say_their_line(void) {
    tn_safetensors *f;
    tn_named entry;
    char path[] = "/tmp/tn_places.safetensors";
    entry.name = "x";
    entry.tensor = tn_hold(tn_ones(TN_DIMS(2)));
    CHECK(tn_safetensors_save(path, &entry, 1));
    f = tn_safetensors_open(path);
    FAILS(tn_safetensors_get(f, "nothing"));
    FAILS(tn_safetensors_get(NULL, "x"));
    tn_safetensors_close(f);
    remove(path);
    FAILS(tn_safetensors_save(none, &entry, 1));
    FAILS(tn_safetensors_load(none));
    FAILS(tn_safetensors_open(none));
    FAILS(tn_safetensors_open_memory("no file", 7));
    FAILS(tn_load_memory("no file", 7));
    FAILS(tn_save_memory(NULL, 1));
    FAILS(tn_load_bytes(none));
    FAILS(tn_load_idx(none));
    FAILS(tn_save_bytes(none, "x", 1));
    FAILS(tn_load_csv(none));
    FAILS(tn_load_npy(none));
    FAILS(tn_save_npy(none, entry.tensor));
    FAILS(tn_load_npy_memory("no file", 7));
    FAILS(tn_save_npy_memory(NULL));
    FAILS(tn_load_npz(none));
    FAILS(tn_save_npz(none, &entry, 1));
    FAILS(tn_load_npz_memory("no file", 7));
    FAILS(tn_save_npz_memory(NULL, 1));
    FAILS(tn_safetensors_load_index(none));
    FAILS(tn_file_exists("", NULL));
    FAILS(tn_profile_end(none));
    CHECK(tn_profile_begin());
    FAILS(tn_profile_begin());
    FAILS(tn_profile_end(none));
    tn_free(entry.tensor);
}

/* --- the headers ------------------------------------------------------------------------------ */

/* What cannot fail: they ask, free, count, or switch. tn_train_log_on fails within tn_train, which
 * says its line. */
static const char *const safe[] = {"tn_named_free",          "tn_bytes_free",
                                   "tn_named_find",          "tn_safetensors_close",
                                   "tn_safetensors_count",   "tn_safetensors_name",
                                   "tn_safetensors_note",    "tn_module_hold",
                                   "tn_module_free",         "tn_module_forget",
                                   "tn_mrow_named",          "tn_input",
                                   "tn_part_tensor_of",      "tn_part_child_of",
                                   "tn_module_train",        "tn_module_zero_grad",
                                   "tn_optimizer_free",      "tn_optimizer_groups",
                                   "tn_optimizer_zero_grad", "tn_schedule_free",
                                   "tn_schedule_count",      "tn_schedule_initial",
                                   "tn_dataset_hold",        "tn_dataset_free",
                                   "tn_loader_free",         "tn_loader_batches",
                                   "tn_mrow_count",          "tn_mrow_at",
                                   "tn_orow_count",          "tn_orow_at",
                                   "tn_loader_dataset",      "tn_loader_generator",
                                   "tn_loader_stop",         "tn_scaler_free",
                                   "tn_scaler_get",          "tn_scaler_count",
                                   "tn_lbfgs_free",          "tn_lbfgs_evaluations",
                                   "tn_lbfgs_zero_grad",     "tn_progress_text",
                                   "tn_train_log_free",      "tn_train_log_on"};

/* Is name, less _at, called in one of the FAILS of this file? */
static bool is_called(const char *mine, const char *name) {
    char call[2][120];
    size_t n = strlen(name);
    if (n > 3 && strcmp(name + n - 3, "_at") == 0) n -= 3;
    snprintf(call[0], sizeof call[0], "FAILS(%.*s(", (int)n, name);
    snprintf(call[1], sizeof call[1], "FAILS(%.*s_(", (int)n, name); /* in place */
    return strstr(mine, call[0]) || strstr(mine, call[1]) ||
           (strcmp(name, "tn_loader_new_at") == 0 && strstr(mine, "FAILS(tn_loader_new("));
}

static void the_headers_have_no_other_functions(void) {
    static const char *const header[] = {"nn", "optim", "data", "train", "io"};
    char *mine = check_file(here);
    int functions = 0;
    for (int h = 0; mine && h < 5; h++) {
        char path[60], name[100], *text, *at;
        snprintf(path, sizeof path, "src/api/%s.h", header[h]);
        text = check_file(path);
        if (!CHECK(text != NULL)) continue;
        for (at = text; (at = strstr(at, "\nTN_API ")) != NULL;) {
            char *end = strchr(at, '('), *from = end;
            bool known = false;
            while (from[-1] == '_' || (from[-1] >= 'a' && from[-1] <= 'z') ||
                   (from[-1] >= '0' && from[-1] <= '9'))
                from--;
            snprintf(name, sizeof name, "%.*s", (int)(end - from), from);
            for (size_t i = 0; i < sizeof safe / sizeof *safe; i++)
                known = known || strcmp(safe[i], name) == 0;
            functions++;
            check_report(known || is_called(mine, name), path, 1, name);
            at = end;
        }
        free(text);
    }
    CHECK(functions > 80);
    free(mine);
}

static const check_test tests[] = {
    CHECK_TEST(making_says_its_line),          CHECK_TEST(modules_say_their_line),
    CHECK_TEST(initial_values_say_their_line), CHECK_TEST(optimizers_say_their_line),
    CHECK_TEST(data_say_their_line),           CHECK_TEST(training_says_its_line),
    CHECK_TEST(files_say_their_line),          CHECK_TEST(the_headers_have_no_other_functions),
};

int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
