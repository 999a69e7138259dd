/* ranges.c - every size, count, index, dim, number and kind that a public function beside the
 * operators takes, as an argument or in a struct, at the ends of its range and beside them: inside
 * of the range the call works, outside it is refused with an error, and nothing has changed: not
 * what is alive, nor the model, the optimizer, the random state, the modes. Then the same calls
 * with each allocation failing in turn: what is alive is as before.
 *
 * A line says what is called with number v and the range in which it works. 64 MiB of memory. The
 * headers are read: a function with a number that is added there needs a line, or a place among
 * those that have none. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "ranges_none.h"

#include <unistd.h>

/* --- the lines -------------------------------------------------------------------------------- */

struct line {
    const char *name;
    bool (*call)(int64_t v);
    int64_t from, to; /* works there, and nowhere else */
    bool either;      /* or anywhere */
};
static const struct line lines[] = {
#define IN(f, from, to) \
    { #f, f, from, to, false }
#define ANY(f) \
    { #f, f, 0, 0, true }
    ANY(context_cap),
    ANY(alloc_bytes),
    ANY(reserve),
    ANY(memory_cap),
    IN(number_count, 2, 2),
    ANY(threads),
    ANY(unscoped),
    ANY(error_code),
    ANY(scope_end),
    ANY(scope_leave),
    ANY(guard_count),
    ANY(list_count),
    IN(size_dim, -2, 1),
    IN(read_f32, 6, 6),
    IN(read_f64, 6, 6),
    IN(read_i64, 6, 6),
    IN(from_size, 0, 33),
    IN(from_dims, 0, 16),
    IN(from_dtype, TN_BOOL, TN_DTYPE_COUNT - 1),
    IN(wrap_size, 0, 32),
    IN(wrap_stride, 0, 62),
    ANY(wrap_strides),
    ANY(wrap_bytes),
    IN(wrap_dtype, TN_BOOL, TN_DTYPE_COUNT - 1),
    ANY(dtypes),
    ANY(default_dtype),
    ANY(device_name),
    IN(device_wait, TN_CPU, TN_META),
    IN(default_device, TN_NO_DEVICE, TN_META),
    IN(from_device, TN_NO_DEVICE, TN_META),
    IN(number_dtype, TN_NO_DTYPE, TN_DTYPE_COUNT - 1),
    IN(print_precision, INT64_MIN, INT64_MAX),
    IN(print_threshold, INT64_MIN, INT64_MAX),
    IN(print_edges, INT64_MIN, INT64_MAX),
    IN(print_width, INT64_MIN, INT64_MAX),
    IN(print_sci, INT64_MIN, INT64_MAX),
    IN(seeds, INT64_MIN, INT64_MAX),
    ANY(generator_state),
    ANY(backward_inputs),
    ANY(backward_outputs),
    ANY(grads_outputs),
    ANY(grads_inputs),
    IN(sparse_layout, TN_SPARSE_COO, TN_SPARSE_COO),
    IN(sparse_parts, 2, 2),
    ANY(sparse_size),
    ANY(sparse_part),
    ANY(vmap_size),
    IN(vmap_randomness, TN_RANDOM_ERROR, TN_RANDOM_DIFFERENT),
    IN(batched_dim, -2, 1),
    IN(unbatched_dim, -2, 1),
    ANY(vmap_results),
    ANY(vmap_inputs),
    ANY(hook_number),
    ANY(function_inputs),
    ANY(function_outputs),
    IN(function_saved, 0, 0),
    ANY(function_written),
    ANY(checkpoint_inputs),
    IN(history_input, 0, 1),
    IN(history_lasts, INT64_MIN, INT64_MAX),
    ANY(check_outputs),
    ANY(check_outputs_twice),
    IN(check_inputs, 1, 1),
    IN(check_inputs_twice, 1, 1),
    IN(named_values, 1, 2),
    IN(named_room, 2, INT64_MAX),
    ANY(named_type),
    IN(named_number, -2, 1),
    IN(row_call, 1, 1),
    ANY(bind_values),
    IN(values_ints, 1, 1),
    ANY(row_at),
    ANY(mrow_at),
    ANY(orow_at),
    ANY(scratch_count),
    ANY(scratch_each),
    ANY(worker_scratch_count),
    ANY(worker_scratch_each),
    ANY(announce_columns),
    ANY(fail_code),
    ANY(announce_size),
    IN(announce_like, TN_BOOL, TN_DTYPE_COUNT - 1),
    IN(announce_count, 0, 60000),
    ANY(call_how),
    IN(announce_kind, TN_BOOL, TN_DTYPE_COUNT - 1),
    ANY(announce_stride),
    ANY(announce_offset),
    IN(group_threads, 1, 1024),
    IN(group_join, 0, 2),
    IN(group_split, INT64_MIN, INT64_MAX),
    IN(group_rank, 0, 2),
    IN(group_size, 1, 1024),
    IN(parallel_bucket, 0, INT64_MAX),
    IN(part_kind, TN_PARAM, TN_TRANSIENT),
    ANY(part_dtype),
    ANY(part_size),
    IN(part_dims, 1, 2),
    IN(give_kind, TN_PARAM, TN_TRANSIENT),
    ANY(struct_size),
    IN(forward_input, 0, 0),
    ANY(named_module),
    IN(call_room, 1, 1),
    IN(call_values, 1, 1),
    IN(call_values_room, 1, 1),
    IN(module_when, TN_BEFORE_FORWARD, TN_AFTER_FORWARD),
    IN(module_number, 1, 0),
    IN(given_module, 0, 0),
    IN(part_at, 0, 1),
    IN(module_load, 0, 0),
    ANY(module_dtype),
    ANY(module_device),
    IN(gain_for, TN_INIT_LINEAR, TN_INIT_SELU),
    IN(init_fan, TN_FAN_IN, TN_FAN_OUT),
    IN(init_by, TN_INIT_LINEAR, TN_INIT_SELU),
    ANY(optimizer_params),
    ANY(group_params),
    ANY(group_values),
    IN(group_set, 0, 0),
    IN(group_rate, 0, 0),
    IN(group_get, 0, 0),
    IN(optimizer_load, 0, 0),
    ANY(clip_params),
    IN(every_steps, 1, INT64_MAX),
    IN(t_max, 1, (int64_t)1 << 53),
    IN(lambda_factor, 0, INT64_MAX),
    IN(lbfgs_iterations, 0, INT64_MAX),
    IN(lbfgs_evaluations, 0, INT64_MAX),
    ANY(lbfgs_history),
    IN(scaler_interval, 0, INT64_MAX),
    IN(scaler_count, 0, INT64_MAX),
    IN(resume_count, 0, (int64_t)1 << 53),
    IN(resume_groups, 1, 1),
    IN(initial_group, 0, 0),
    IN(set_get, 0, 0),
    IN(set_get_apart, 0, 0),
    IN(set_size, 0, INT64_MAX / 64),
    ANY(set_shuffled),
    IN(set_fields, 1, TN_MAX_FIELDS),
    IN(field_dims, 0, TN_MAX_DIMS - 1),
    ANY(field_size),
    IN(field_dtype, TN_BOOL, TN_DTYPE_COUNT - 1),
    IN(set_tensors, 1, 1),
    IN(slice_from, 0, 2),
    IN(slice_to, 0, 2),
    ANY(batch_size),
    IN(batch_workers, 0, 256),
    IN(batch_prefetch, 1, 1024),
    IN(save_count, 0, 0),
    IN(save_notes, 0, 0),
    ANY(name_at),
    ANY(find_count),
    IN(saved_numbers, 0, 0),
    IN(loaded_numbers, 1, 0),
    ANY(train_epochs),
    IN(train_accumulate, 0, INT64_MAX),
    IN(train_patience, 0, INT64_MAX),
    ANY(progress_room),
    IN(save_bytes, 0, 0),
    IN(files_open, INT64_MIN, INT64_MAX),
    IN(files_read, INT64_MIN, INT64_MAX),
    IN(files_write, INT64_MIN, INT64_MAX),
    IN(files_size, INT64_MIN, INT64_MAX),
    IN(files_close, INT64_MIN, INT64_MAX),
    IN(files_rename, INT64_MIN, INT64_MAX),
    IN(modules_with, INT64_MIN, INT64_MAX),
};
/* Without a number: calls that work, and calls that are refused. */
static const struct line none[] = {
    ANY(registered), ANY(unregistered), ANY(recorded),        ANY(captured),    ANY(retained),
    ANY(other_data), ANY(tree),         ANY(initial),         ANY(scaler_step), ANY(lbfgs_step),
    ANY(stepped),    ANY(files),        ANY(files_in_memory), ANY(texts),
};
static const struct line refused[] = {
    ANY(null_data),  ANY(null_memory),  ANY(odd_schema),  ANY(twice_registered),
    ANY(odd_module), ANY(known_module), ANY(other_state), ANY(other_rows),
};

enum { ALLOCATIONS = 300 }; /* of a line, at most, that fail */

typedef struct world {
    api_alive alive;
    uint64_t hash;
} world;
static world world_now(void) {
    world w;
    uint8_t state[TN_GENERATOR_BYTES];
    tn_named_list l;
    w.alive = api_count();
    w.hash = api_hash(x) * 3 + api_hash(leaf) * 5 + api_hash(tn_grad_of(leaf)) * 7;
    tn_generator_state(tn_default_generator(), state);
    for (size_t i = 0; i < sizeof state; i++) w.hash = w.hash * 31 + state[i];
    l = tn_module_state_dict(model);
    for (int64_t i = 0; i < l.n; i++) w.hash = w.hash * 31 + api_hash(l.at[i].tensor);
    tn_named_free(l);
    l = tn_optimizer_state_dict(optimizer);
    for (int64_t i = 0; i < l.n; i++) w.hash = w.hash * 31 + api_hash(l.at[i].tensor);
    tn_named_free(l);
    w.hash = w.hash * 31 + (uint64_t)(tn_grad_mode() * 2 + tn_set_grad_mode(true));
    w.hash = w.hash * 31 + (uint64_t)tn_default_dtype() + (uint64_t)tn_threads() * 64;
    w.hash = w.hash * 31 + (uint64_t)tn_optimizer_groups(optimizer);
    return w;
}

static void line_at(const struct line *l, int64_t v) {
    const world before = world_now();
    const int was = check_failures;
    world after;
    tn_error_info e = {TN_OK, "none", NULL, 0};
    bool ok = l->call(v);
    if (!l->either) CHECK_EQ(ok, v >= l->from && v <= l->to);
    if (!l->either) CHECK(ok == tn_ok());
    if (ok) CHECK(tn_ok());
    if (tn_error_take(&e)) CHECK(e.code > TN_OK && e.code < TN_ERROR_COUNT && e.message[0]);
    after = world_now();
    CHECK(after.hash == before.hash);
    CHECK_EQ(after.alive.tensors, before.alive.tensors);
    if (check_failures != was)
        printf("    %s with %lld: %s\n", l->name, (long long)v, ok ? "it worked" : e.message);
}

/* A line's call, again. */
typedef struct repeated {
    const struct line *line;
    int64_t v;
} repeated;
static void repeat(void *arg) {
    const repeated *r = (const repeated *)arg;
    heap.calls = 0;
    r->line->call(r->v);
    tn_error_take(NULL);
}
static void line_keeps_nothing(const struct line *l, int64_t v) {
    repeated r = {l, v};
    const int64_t kept = balance_kept(repeat, &r);
    if (CHECK(kept <= 0)) return;
    printf("    %s with %lld has kept %lld bytes", l->name, (long long)v, (long long)kept);
    printf(", allocation %lld of %lld failing\n", (long long)heap.fail_at, (long long)heap.calls);
}

static const char *only;
static void numbers_work_or_are_refused(void) {
    static const int64_t values[] = {0,
                                     1,
                                     -1,
                                     2,
                                     -2,
                                     3,
                                     -3,
                                     4,
                                     5,
                                     6,
                                     7,
                                     15,
                                     16,
                                     17,
                                     18,
                                     31,
                                     32,
                                     33,
                                     INT32_MIN,
                                     INT32_MAX,
                                     (1LL << 31),
                                     1LL << 32,
                                     (1LL << 32) + 1,
                                     1LL << 53,
                                     INT64_MIN,
                                     INT64_MIN + 1,
                                     INT64_MAX - 1,
                                     INT64_MAX};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            if (!only || strcmp(only, lines[i].name) == 0)
                line_at(&lines[i], values[k]), line_keeps_nothing(&lines[i], values[k]);
    printf("promise 1: %d numbers of functions that are no rows, each at %d values to the ends of "
           "their ranges\n",
           (int)(sizeof lines / sizeof *lines), (int)(sizeof values / sizeof *values));
}

/* Each allocation of a line's call, where it works; their number. */
static int64_t line_without_memory(const struct line *l) {
    const int64_t v = l->from > INT64_MIN ? l->from : 1;
    int64_t all;
    if (only && strcmp(only, l->name) != 0) return 0;
    heap.calls = heap.fail_at = 0;
    l->call(v), tn_error_take(NULL);
    all = heap.calls > ALLOCATIONS ? ALLOCATIONS : heap.calls;
    for (heap.fail_at = 1; heap.fail_at <= all; heap.fail_at++) line_keeps_nothing(l, v);
    heap.fail_at = 0;
    return all;
}
static void allocations_may_fail(void) {
    int64_t points = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].call != modules_with) /* each module by itself: tests/ops/memory.c */
            points += line_without_memory(&lines[i]);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        CHECK(!refused[i].call(1) && tn_error_take(NULL));
        line_keeps_nothing(&refused[i], 1);
        points += line_without_memory(&refused[i]);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        if (!only && !CHECK(none[i].call(1))) printf("    %s\n", none[i].name), tn_error_print();
        points += line_without_memory(&none[i]);
    }
    CHECK(only || points > 1000);
    printf(
        "promise 4: %lld allocations of functions that are no rows, each failing: 0 bytes kept\n",
        (long long)points);
}

/* They have no number, or a line's, or a slot of the row that calls them. */
static const char others[] =
    " tn_set_no_alloc_mode tn_error_set_list tn_is_wrapped tn_fiber_use tn_fiber_current"
    " tn_fiber_end tn_context_exists tn_from_room_at"
    " tn_context_current tn_memory tn_memory_reset_peak tn_memory_trim tn_isa tn_cancel"
    " tn_cancel_clear tn_error_peek tn_set_error_handler tn_warning_take tn_profile_begin_at"
    " tn_profile_end_at "
    "tn_keep"
    " tn_hold tn_ndim tn_shape tn_strides tn_dtype_of tn_device_of tn_is_contiguous"
    " tn_storage_offset tn_touch tn_count_apart tn_version tn_is_read_only tn_same_storage "
    "tn_storage_bytes "
    "tn_item_at"
    " tn_item_int_at tn_item_scalar_at tnp_item tnp_item_int tnp_item_scalar tn_dtype_named"
    " tn_device_at tnp_device tn_default_device"
    " tn_device_fallback tn_backend_add tn_frame_device tn_device_data"
    " tn_device_memory tn_device_reset_peak tn_device_memory_limit_at tnp_device_memory_limit"
    " tn_device_snapshot tn_pin_at tnp_pin tn_is_pinned tn_device_load_at tn_device_properties_of"
    " tn_stream_new_at tnp_stream_new tn_stream_free tn_stream_default tn_stream_current"
    " tn_stream_use tn_stream_device tn_stream_priority tn_stream_handle tn_stream_query"
    " tn_stream_synchronize_at tnp_stream_synchronize tn_stream_wait_stream_at"
    " tnp_stream_wait_stream tn_stream_wait_event_at tnp_stream_wait_event tn_event_new_at"
    " tnp_event_new tn_event_free tn_event_record_at tnp_event_record tn_event_query"
    " tn_event_synchronize_at tnp_event_synchronize tn_event_elapsed_ms_at tnp_event_elapsed_ms"
    " tn_record_stream_at tnp_record_stream tn_backend_stream"
    " tn_device_scratch tn_device_ticket tn_operand_of tn_operand_number tn_walk_plan_of"
    " tn_pointwise_plan_of tn_reduce_plan_of tn_index_plan_of tn_index_mask tn_index_values_fit"
    " tn_scalar_element tn_operands_dtype tn_range_plan_of tn_draw_next tn_chance_plan_of"
    " tn_integers_plan_of tn_step_plan_of tn_product_plan_of tn_conv_blocks_of"
    " tn_group_free tn_group_use tn_group_current tn_group_rank tn_group_size tn_group_kind"
    " tn_group_set_limit_at tn_group_keep tn_group_kept tn_collective_of tn_collective_meet"
    " tn_collective_share tn_group_spawn_at tn_parallel_free"
    " tn_parallel_set_sync tn_parallel_share_at tn_set_default_generator"
    " tn_host_elements tn_print_at tnp_print tn_needs_grad tn_is_leaf tn_grad_fn"
    " tn_is_inference tn_detach_inplace_at tn_set_grad_at tnp_set_grad tn_retain_grad_at"
    " tnp_retain_grad tn_retains_grad tn_set_inference_mode tn_hook_after_at tn_function_user"
    " tn_history_hold"
    " tn_history_free tn_history_only tn_history_name tn_history_text tn_history_output "
    "tn_history_user tn_saved_hooks_push_at tn_saved_hooks_pop tn_history_saved tn_history_keeps"
    " tn_history_pack tn_history_hook_add tn_history_hook_remove"
    " tn_set_autocast tn_autocast tn_set_device_autocast tn_device_autocast tn_set_autocast_cache"
    " tn_clear_autocast_cache"
    " tn_set_anomaly_mode tn_cancelled tn_give tn_incoming tn_grad_zero tn_row_count"
    " tn_record_begin tn_capture_begin tn_is_capturing tn_record_end tn_replay tn_recording_free"
    " tn_path_push tn_path_pop"
    " tn_path_current tn_set_line_decoder tn_retain tn_release tn_owners tn_take tn_lend tn_base_of"
    " tn_binding tn_set_binding tn_swap_data_at tnp_swap_data tn_set_data_at tn_whole_begin"
    " tn_whole_end tn_whole_pause tn_whole_resume tn_ending_add tn_ending_remove tn_now "
    "tn_safetensors_count"
    " tn_safetensors_get_at tn_safetensors_note tn_part_child_at tn_module_append_at"
    " tn_module_hold tn_module_make tn_module_register_at tn_module_forget tn_mrow_named"
    " tn_module_tensor_at tn_module_child_at tn_module_set_tensor_at tn_module_walk_at"
    " tn_module_parameters_at tn_module_buffers_at tn_module_train tn_module_requires_grad_at"
    " tn_module_zero_grad tn_module_reset_at tn_module_save_file_at tn_module_load_file_at"
    " tn_module_print_at tn_nn_init_constant_at tn_nn_init_uniform_at tn_nn_init_normal_at"
    " tn_nn_init_xavier_uniform_at tn_nn_init_xavier_normal_at tn_orow_count tn_optimizer_make"
    " tn_optimizer_step_at tn_optimizer_zero_grad tn_dataset_hold tn_dataset_images_at"
    " tn_each tn_info_verdict tn_param_named tn_args_check tn_param_number tn_param_set_number "
    "tn_param_same tn_param_text"
    " tn_args_words tn_args_copy tn_args_move tn_args_forget"
    " tn_dataset_idx_at tn_loader_dataset tn_loader_generator tn_loader_stop tn_evaluate_at "
    "tn_text_list ";
static void the_headers_have_no_other_functions(void) {
    static const char *const files[] = {"tests/edges/ranges_core.h", "tests/edges/ranges_nn.h",
                                        "tests/edges/ranges_none.h", "tests/edges/ranges.c"};
    api_is_whole(files, 4, others);
}

static void make_world(void) {
    tn_named two[2] = {{"x", NULL}, {"y", NULL}};
    x = tn_ones(TN_DIMS(2, 3));
    leaf = tn_requires_grad(tn_full(TN_DIMS(2, 3), 0.5, .dtype = TN_F64));
    model = tn_nn_linear(3, 2);
    optimizer = tn_optim_sgd(tn_parameters(model), .lr = 0.1, .momentum = 0.9);
    schedule = tn_optim_step_lr(optimizer, 2, 0.5);
    two[0].tensor = two[1].tensor = x;
    CHECK(tn_safetensors_save(path, two, 2));
    opened = tn_safetensors_open(path);
    CHECK(tn_register(&probe_row) && tn_register(&count_row));
    CHECK(!tn_error_print());
    tn_manual_seed(7);
}
static void end_world(void) {
    tn_safetensors_close(opened);
    tn_schedule_free(schedule);
    tn_optimizer_free(optimizer);
    tn_module_free(model);
    tn_free(leaf), tn_free(x);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(numbers_work_or_are_refused),
        CHECK_TEST(allocations_may_fail),
        CHECK_TEST(the_headers_have_no_other_functions),
    };
    tn_context_options o = plain();
    tn_context *c;
    int failures, fd = mkstemp(path);
    if (fd < 0 || close(fd)) return 1;
    o.memory_cap = 64 << 20;
    o.no_cache = true;
    c = tn_context_new(&o);
    tn_context_use(c);
    make_world();
    if (argc > 1) only = argv[1], argc = 1;
    failures = CHECK_MAIN(tests, argc, argv);
    end_world();
    tn_context_use(NULL);
    tn_context_free(c);
    remove(path);
    return failures;
}
