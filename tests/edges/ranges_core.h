/* ranges_core.h - ranges.c: the world of the calls; contexts, tensors, gradients, rows. */
#ifndef TESTS_EDGES_NUMBERS_CORE_H
#define TESTS_EDGES_NUMBERS_CORE_H

#include "../../src/api/device.h"
#include "../../src/api/parallel.h"
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../../src/api/sparse.h"
#include "../../src/api/vmap.h"
#include "../balance.h"
#include "api.h"

#include <math.h>

static char path[] = "/tmp/tn_ranges.XXXXXX";

/* The world of the calls. */
static tn_tensor *x;     /* (2, 3), float32 */
static tn_tensor *leaf;  /* (2, 3), float64, requires a gradient */
static tn_module *model; /* Linear(3, 2) */
static tn_optimizer *optimizer;
static tn_schedule *schedule;
static tn_safetensors *opened; /* of two tensors */

/* What is made by a call that has worked, freed here. */
static bool tensor(tn_tensor *t) {
    tn_free(t);
    return t != NULL;
}
static bool module(tn_module *m) {
    tn_module_free(m);
    return m != NULL;
}
static bool set(tn_dataset *d) {
    tn_dataset_free(d);
    return d != NULL;
}
static bool context(tn_context *c) {
    tn_context_free(c);
    return c != NULL;
}
static bool text(char *t) {
    if (t) tn_alloc_free(t, strlen(t) + 1);
    return t != NULL;
}
static bool rate(tn_schedule *s) {
    tn_schedule_free(s);
    return s != NULL;
}
static int as_int(int64_t v) {
    return (int)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

/* --- contexts, memory, errors ----------------------------------------------------------------- */

/* Allocations of all contexts of these calls; number fail_at of them fails, 0: none. */
static struct { int64_t calls, fail_at; } heap;
static void *heap_alloc(size_t bytes, void *user) {
    const int64_t number = __atomic_add_fetch(&heap.calls, 1, __ATOMIC_RELAXED);
    (void)user;
    return number == heap.fail_at ? NULL : malloc(bytes);
}
static void heap_free(void *at, size_t bytes, void *user) { (void)bytes, (void)user, free(at); }
static tn_context_options plain(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.allocator.alloc = heap_alloc, o.allocator.free = heap_free;
    return o;
}
static bool context_cap(int64_t v) {
    tn_context_options o = plain();
    tn_context *c, *before;
    bool ok = true;
    o.memory_cap = v;
    if (!(c = tn_context_new(&o))) return false;
    before = tn_context_use(c);
    tn_free(tn_ones(TN_DIMS(1000)));
    if (!tn_ok()) ok = false, tn_error_take(NULL);
    tn_context_use(before);
    tn_context_free(c);
    return ok || tn_error_set(TN_MEMORY, NULL, 0, "the cap");
}
static bool alloc_bytes(int64_t v) {
    void *at = tn_alloc((size_t)v);
    if (at) tn_alloc_free(at, (size_t)v);
    return at != NULL;
}
static bool reserve(int64_t v) { return tn_memory_reserve(v); }
static bool memory_cap(int64_t v) {
    tn_set_memory_cap(v);
    tn_set_memory_cap(64 << 20); /* that of the program */
    return tn_ok();
}
static bool number_count(int64_t v) {
    const tn_scalar numbers[TN_MOST_NUMBERS] = {{TN_KIND_INT, 1, 0, 1}, {TN_KIND_INT, 2, 0, 2}};
    return tensor(tn_tensor_of_at(NULL, 0, TN_NO_DTYPE, TN_DIMS(2), numbers, v));
}
static bool threads(int64_t v) {
    int32_t before = tn_threads();
    bool ok = tn_set_threads(as_int(v));
    if (ok) tn_set_threads(before);
    return ok;
}
static bool unscoped(int64_t v) {
    tn_tensor *made[3];
    tn_set_unscoped_warning(v);
    for (int i = 0; i < 3; i++) made[i] = tn_ones(TN_DIMS(1));
    for (int i = 0; i < 3; i++) tn_free(made[i]);
    tn_set_unscoped_warning(0);
    tn_warning_take(NULL);
    return tn_ok();
}
static bool error_code(int64_t v) {
    const char *name = tn_code_name((tn_code)as_int(v));
    return (tn_error_set((tn_code)as_int(v), NULL, as_int(v), "%s", name), tn_error_take(NULL));
}

/* --- tensors ---------------------------------------------------------------------------------- */

static bool scope_end(int64_t v) {
    int64_t mark = tn_scope_begin();
    tn_scope_end(v);
    tn_scope_end(mark);
    return true;
}
static bool scope_leave(int64_t v) {
    int64_t mark = tn_scope_begin();
    tn_scope_leave(v < mark ? mark : v, NULL, 0);
    tn_scope_leave(mark, NULL, v < 0 ? v : 0);
    return true;
}
static bool guard_count(int64_t v) {
    tn_guard g = tn_guard_begin();
    tn_guard_end(&g, NULL, v < 0 ? v : 0);
    return true;
}
static bool list_count(int64_t v) {
    tn_list l = {NULL, 0, NULL};
    l.n = v;
    tn_list_free(l);
    return true;
}
static bool size_dim(int64_t v) {
    return tn_size(x, as_int(v)) != 0 && tn_stride(x, as_int(v)) != 0;
}
static bool read_f32(int64_t v) {
    float to[6];
    return tn_read_f32(x, to, v);
}
static bool read_f64(int64_t v) {
    double to[6];
    return tn_read_f64(x, to, v);
}
static bool read_i64(int64_t v) {
    int64_t to[6];
    return tn_read_i64(x, to, v);
}
static bool from_size(int64_t v) {
    static const float data[128];
    return tensor(tn_from_f32(data, TN_DIMS(2, v)));
}
static bool from_dims(int64_t v) {
    static const int64_t ones[20] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const float data[1];
    return tensor(tn_from_f32(data, tn_ints_of(v > 17 ? NULL : ones, v)));
}
static bool from_dtype(int64_t v) {
    static const double data[4];
    return tensor(tn_from(data, TN_DIMS(2), (tn_dtype)as_int(v)));
}
static float memory[64];
static bool wrap_one(int64_t size, int64_t stride, int64_t n, int64_t bytes, int dtype) {
    tn_wrap_options o;
    const int64_t strides[2] = {stride, 1};
    memset(&o, 0, sizeof o);
    o.strides = tn_ints_of(n == 2 ? strides : NULL, n);
    o.bytes = bytes;
    return tensor(tn_wrap(memory, TN_DIMS(size, 2), (tn_dtype)dtype, &o));
}
static bool wrap_size(int64_t v) { return wrap_one(v, 0, 0, sizeof memory, TN_F32); }
static bool wrap_stride(int64_t v) { return wrap_one(2, v, 2, sizeof memory, TN_F32); }
static bool wrap_strides(int64_t v) { return wrap_one(2, 2, v == 2 ? 3 : v, 0, TN_F32); }
static bool wrap_bytes(int64_t v) { return wrap_one(2, 2, 2, v, TN_F32); }
static bool wrap_dtype(int64_t v) { return wrap_one(2, 2, 2, 64, as_int(v)); }
static bool dtypes(int64_t v) {
    tn_dtype d = (tn_dtype)as_int(v);
    char element[16] = {0};
    (void)tn_element(element, d);
    return tn_dtype_name(d) && tn_dtype_bytes(d) > 0 && tn_promote(d, TN_F32) &&
           tn_promote(TN_F32, d) && tn_ok();
}
static bool default_dtype(int64_t v) {
    bool ok = tn_set_default_dtype((tn_dtype)as_int(v));
    if (ok) tn_set_default_dtype(TN_F32);
    return ok;
}
static bool device_name(int64_t v) { return tn_device_name((tn_device_id)as_int(v)) != NULL; }
static bool device_wait(int64_t v) { return tn_device_wait((tn_device_id)as_int(v)); }
static bool default_device(int64_t v) {
    const tn_device_id before = tn_set_default_device((tn_device_id)as_int(v));
    const bool ok = tn_ok() && before == TN_CPU;
    CHECK(tnp_set_default_device(TN_CPU) == (ok && v ? (tn_device_id)as_int(v) : TN_CPU));
    return ok;
}
static bool from_device(int64_t v) {
    return tensor(tnp_from(memory, TN_DIMS(2), TN_F32, (tn_device_id)as_int(v)));
}
static bool number_dtype(int64_t v) {
    const tn_scalar one = tn_int(1);
    return tensor(tn_number_at(NULL, 0, (tn_dtype)as_int(v), &one));
}
static bool print_with(int precision, int threshold, int edge, int width, int sci) {
    tn_print_options o = {0, 0, 0, 0, 0};
    o.precision = precision, o.threshold = threshold, o.edgeitems = edge, o.linewidth = width;
    o.sci_mode = sci;
    return text(tn_to_text(x, &o));
}
static bool print_precision(int64_t v) { return print_with(as_int(v), 1, 1, 80, 0); }
static bool print_threshold(int64_t v) { return print_with(4, as_int(v), 1, 80, 0); }
static bool print_edges(int64_t v) { return print_with(4, 1, as_int(v), 80, 0); }
static bool print_width(int64_t v) { return print_with(4, 1, 1, as_int(v), 0); }
static bool print_sci(int64_t v) { return print_with(4, 1, 1, 1, as_int(v)); }
static bool seeds(int64_t v) {
    tn_generator *g = tn_generator_new((uint64_t)v);
    tn_generator_seed(g, (uint64_t)v);
    tn_generator_free(g);
    return g != NULL;
}
static bool generator_state(int64_t v) { /* the place in the state: 624 numbers */
    uint8_t state[TN_GENERATOR_BYTES];
    tn_generator *g = tn_generator_new(1);
    bool ok = false;
    tn_generator_state(g, state);
    memcpy(state + 8, &v, 4);                        /* left */
    memcpy(state + 16, &v, 8);                       /* next */
    memcpy(state + sizeof state - 32, &v, sizeof v); /* what is kept of normal() */
    ok = tn_generator_set_state(g, state);
    tn_random64(g);
    tn_generator_free(g);
    return ok;
}

/* --- gradients -------------------------------------------------------------------------------- */

static bool backward_inputs(int64_t v) {
    bool ok = false;
    TN_SCOPE {
        ok = tn_backward(tn_sum(leaf), .inputs = tn_tensors_of(NULL, v > 0 ? -v : v));
    }
    tn_zero_grad(leaf);
    return ok;
}
static bool backward_outputs(int64_t v) {
    bool ok = tn_backward_all(tn_tensors_of(NULL, v), NULL, NULL);
    tn_zero_grad(leaf);
    return ok;
}
static bool grads_outputs(int64_t v) {
    tn_tensor *g[1] = {NULL};
    bool ok = tn_grads(tn_tensors_of(NULL, v), tn_tensors_of(&leaf, 1), g, NULL);
    return ok;
}
static bool grads_inputs(int64_t v) {
    bool ok = false;
    tn_tensor *g[1] = {NULL};
    TN_SCOPE {
        tn_tensor *y = tn_sum(leaf);
        ok = tn_grads(tn_tensors_of(&y, 1), tn_tensors_of(&leaf, v > 1 ? -v : v), g, NULL);
    }
    return ok;
}
/* A sparse tensor of one element. */
static bool sparse_of(int layout, int64_t parts, int64_t size) {
    bool ok = false;
    TN_SCOPE {
        const int64_t zero[1] = {0};
        tn_tensor *part[2] = {tn_from_i64(zero, TN_DIMS(1, 1)), tn_ones(TN_DIMS(1))}, *t;
        t = tn_sparse_new((tn_layout)layout, tn_tensors_of(part, parts), TN_DIMS(size));
        ok = t && tn_sparse_layout(t) == TN_SPARSE_COO && tn_sparse_part(t, 1) == part[1] &&
             tn_is_coalesced(t) == !tn_set_coalesced(t, true);
    }
    return ok;
}
static bool sparse_layout(int64_t v) { return sparse_of(as_int(v), 2, 1); }
static bool sparse_parts(int64_t v) { return sparse_of(TN_SPARSE_COO, v, 1); }
static bool sparse_size(int64_t v) { return sparse_of(TN_SPARSE_COO, 2, v); }
static bool sparse_part(int64_t v) {
    bool ok = false;
    TN_SCOPE {
        const int64_t zero[1] = {0};
        tn_tensor *t =
            tn_sparse_coo(tn_from_i64(zero, TN_DIMS(1, 1)), tn_ones(TN_DIMS(1)), TN_DIMS(2));
        ok = tn_sparse_part(t, as_int(v)) != NULL && tn_sparse_set(t, t);
    }
    return ok;
}
static bool vmap_size(int64_t v) {
    const bool ok = tn_vmap_begin(v, TN_RANDOM_ERROR);
    CHECK_EQ(tn_vmap_end(), ok);
    return ok;
}
static bool vmap_randomness(int64_t v) {
    const bool ok = tn_vmap_begin(2, (tn_randomness)as_int(v)) && tn_vmap_randomness() == v;
    CHECK_EQ(tn_vmap_end(), ok);
    return ok;
}
/* The dimension of a matrix into a batch, and where it comes out. */
static bool vmap_dims(int64_t in, int64_t out) {
    bool ok = tn_vmap_begin(3, TN_RANDOM_ERROR);
    TN_SCOPE {
        tn_tensor *t = ok ? tn_batched(tn_ones(TN_DIMS(3, 3)), in) : NULL;
        ok = t && tn_is_batched(t) && tn_ndim(tn_batch_whole(t)) == 2 &&
             tn_batch_depth(t) == tn_vmap_depth() && tn_unbatched(tn_batch_each(t), out);
    }
    tn_vmap_end();
    return ok;
}
static bool batched_dim(int64_t v) { return vmap_dims(v, 0); }
static bool unbatched_dim(int64_t v) { return vmap_dims(0, v); }
static bool vmap_nothing(tn_tensor *const *in, tn_tensor **out, void *user) {
    return (void)in, (void)out, (void)user, true;
}
static bool vmap_results(int64_t v) {
    tn_tensor *none[1];
    return tn_vmap(vmap_nothing, tn_tensors_of(&leaf, 1), NULL, none, v < 0 ? v : 0, NULL,
                   TN_RANDOM_ERROR) &&
           v >= 0;
}
static bool vmap_inputs(int64_t v) {
    return tn_vmap(vmap_nothing, tn_tensors_of(NULL, v), NULL, NULL, 0, NULL, TN_RANDOM_ERROR);
}
static tn_tensor *same(tn_tensor *grad, void *user) { return (void)user, grad; }
static bool hook_number(int64_t v) {
    int64_t number = tn_hook_add(leaf, same, NULL, NULL);
    bool ok = tn_hook_remove(leaf, v) && v == number;
    if (!ok && number) CHECK(tn_hook_remove(leaf, number)), tn_error_take(NULL);
    return ok || tn_error_set(TN_INVALID, NULL, 0, "no such hook");
}
static int64_t given;
static bool function_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    out[0] = nin > 0 ? tn_neg(in[0]) : tn_ones(TN_DIMS(1));
    return tn_function_save(f, out[0]);
}
static bool function_reads(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    return function_forward(f, in, nin, out) && tn_function_saved(f, as_int(given)) != NULL;
}
static bool function_writes(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    return function_forward(f, in, nin, out) && tn_function_written(f, as_int(given));
}
static bool function_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    return (void)f, (grad_in[0] = tn_neg(grad_out[0])) != NULL;
}
static bool function_with(tn_function_row row, int64_t n) {
    tn_tensor *out[4] = {NULL, NULL, NULL, NULL};
    bool ok = false;
    row.backward = function_back;
    TN_SCOPE {
        ok = tn_function_call(&row, tn_tensors_of(n == 1 ? &leaf : NULL, n), NULL, out);
    }
    return ok;
}
static bool function_inputs(int64_t v) {
    tn_function_row row = {"f", 1, function_forward, NULL, NULL};
    return function_with(row, v);
}
static bool function_outputs(int64_t v) {
    tn_function_row row = {"f", 1, function_forward, NULL, NULL};
    row.nout = as_int(v > 1 ? -v : v);
    return function_with(row, 1);
}
static bool function_saved(int64_t v) {
    tn_function_row row = {"f", 1, function_reads, NULL, NULL};
    given = v;
    return function_with(row, 1);
}
static bool function_written(int64_t v) {
    tn_function_row row = {"f", 1, function_writes, NULL, NULL};
    given = v;
    return function_with(row, 1);
}
static tn_tensor *negated(tn_tensor *const *in, int nin, void *user) {
    return (void)user, nin > 0 ? tn_neg(in[0]) : tn_ones(TN_DIMS(1));
}
static bool checkpoint_inputs(int64_t v) {
    return tensor(tn_checkpoint(negated, tn_tensors_of(v == 1 ? &leaf : NULL, v), NULL));
}
static bool history_input(int64_t v) {
    tn_history *call;
    tn_tensor *from;
    int result;
    bool ok = false;
    TN_SCOPE {
        ok = tn_history_input(tn_history_of(tn_mul(leaf, leaf)), as_int(v), &call, &result, &from);
    }
    return ok || tn_error_set(TN_INDEX, NULL, 0, "no such input");
}
static bool history_lasts(int64_t v) {
    TN_SCOPE {
        (void)tn_history_lasts(tn_mul(leaf, leaf), v);
    }
    return tn_ok();
}
static bool outputs_given(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    (void)user;
    if (!nin) return tn_error_set(TN_INVALID, NULL, 0, "no inputs");
    for (int k = 0; k < *nout; k++) out[k] = NULL;
    out[0] = tn_mul(in[0], in[0]);
    *nout = as_int(given);
    return tn_ok();
}
static bool check_outputs(int64_t v) {
    given = v;
    return tn_gradcheck(outputs_given, tn_tensors_of(&leaf, 1), NULL, NULL);
}
static bool check_outputs_twice(int64_t v) {
    given = v;
    return tn_gradgradcheck(outputs_given, tn_tensors_of(&leaf, 1), NULL, NULL);
}
static bool check_inputs(int64_t v) {
    given = 1;
    return tn_gradcheck(outputs_given, tn_tensors_of(v == 1 ? &leaf : NULL, v), NULL, NULL);
}
static bool check_inputs_twice(int64_t v) {
    given = 1;
    return tn_gradgradcheck(outputs_given, tn_tensors_of(v == 1 ? &leaf : NULL, v), NULL, NULL);
}

/* --- calls ------------------------------------------------------------------------------------ */

static bool named(int nvalues, int room, int type, int64_t number) {
    tn_value v[2] = {{TN_T_TENSOR, NULL, {NULL}}, {TN_T_INT, NULL, {NULL}}};
    tn_tensor *out[3];
    int count = 0;
    bool ok = false;
    v[0].as.tensor = x;
    v[1].type = type;
    v[1].as.integer = number;
    TN_SCOPE {
        ok = tn_call_named(NULL, 0, "unbind", v, nvalues, out, room, &count);
    }
    return ok;
}
static bool named_values(int64_t v) { return named(as_int(v > 2 ? -v : v), 3, TN_T_INT, 0); }
static bool named_room(int64_t v) { return named(1, as_int(v), TN_T_INT, 0); }
static bool named_type(int64_t v) { return named(2, 3, as_int(v), 0); }
static bool named_number(int64_t v) { return named(2, 3, TN_T_INT, v); }
static bool row_call(int64_t v) {
    tn_value value = {TN_T_TENSOR, NULL, {NULL}};
    tn_tensor *out[1];
    int count = 0;
    bool ok = false;
    value.as.tensor = x;
    TN_SCOPE {
        ok = tn_call_row(NULL, 0, tn_row_named("neg"), TN_PLAIN, &value, as_int(v > 1 ? -v : v),
                         out, 1, &count);
    }
    return ok;
}
static bool bind_values(int64_t v) {
    tn_gen *gen = tn_schema_new("f(int n=1) -> ()");
    tn_value one = {TN_T_INT, NULL, {NULL}};
    char args[64];
    bool ok = tn_bind(NULL, 0, "f", gen, &one, as_int(v > 1 ? -v : v), true, args);
    tn_schema_free(gen);
    return ok;
}
static bool values_ints(int64_t v) { /* the counts of lists in values */
    static const int64_t dims[1] = {6};
    tn_value value[2] = {{TN_T_TENSOR, NULL, {NULL}}, {TN_T_INTS, NULL, {NULL}}};
    tn_tensor *out[1];
    int count = 0;
    bool ok = false;
    value[0].as.tensor = x;
    value[1].as.ints = tn_ints_of(v == 1 ? dims : NULL, v);
    TN_SCOPE {
        ok = tn_call_named(NULL, 0, "reshape", value, 2, out, 1, &count);
    }
    return ok;
}
static bool row_at(int64_t v) { return tn_row_at(v) != NULL; }
static bool mrow_at(int64_t v) { return tn_mrow_at(v) != NULL; }
static bool orow_at(int64_t v) { return tn_orow_at(v) != NULL; }

/* A row whose check does something with a number. */
static bool (*probe)(tn_frame *f);
static bool probe_check(tn_frame *f) {
    const int64_t two[1] = {2};
    return tn_announce(f, 0, TN_F32, 1, two) && (!probe || probe(f));
}
static void probe_run(tn_frame *f) {
    if (!tn_is_view(f->out[0])) memset(tn_data(f->out[0]), 0, (size_t)tn_numel(f->out[0]));
}
static tn_row probe_row = {.name = "probe",
                           .schema = "probe(Tensor self) -> Tensor",
                           .check = probe_check,
                           .run = probe_run};
static bool probed(bool (*by)(tn_frame *f), int64_t v) {
    tn_value value = {TN_T_TENSOR, NULL, {NULL}};
    tn_tensor *out[1];
    int count = 0;
    bool ok = false;
    value.as.tensor = x;
    probe = by;
    given = v;
    TN_SCOPE {
        ok = tn_call_named(NULL, 0, "probe", &value, 1, out, 1, &count);
    }
    return ok;
}
static bool probe_scratch(tn_frame *f) { return tn_scratch(f, given, 1); }
static bool probe_each(tn_frame *f) { return tn_scratch(f, 1 << 20, given); }
static bool probe_code(tn_frame *f) { return tn_fail(f, (tn_code)as_int(given), "probe"); }
static bool scratch_count(int64_t v) { return probed(probe_scratch, v); }
static bool scratch_each(int64_t v) { return probed(probe_each, v); }
static bool probe_workers(tn_frame *f) { return tn_scratch_each(f, given, 1); }
static bool probe_worker(tn_frame *f) { return tn_scratch_each(f, 1 << 20, given); }
static bool worker_scratch_count(int64_t v) { return probed(probe_workers, v); }
static bool worker_scratch_each(int64_t v) { return probed(probe_worker, v); }
static bool fail_code(int64_t v) { return probed(probe_code, v); }
static bool announce_check(tn_frame *f) {
    const int64_t size[2] = {2, given};
    return tn_announce(f, 0, TN_F32, 2, size);
}
static bool announce_dtype(tn_frame *f) {
    const int64_t size[1] = {2};
    return tn_announce(f, 0, (tn_dtype)as_int(given), 1, size);
}
static bool strided_check(tn_frame *f) {
    const int64_t size[2] = {2, 2}, stride[2] = {given, 1};
    return tn_announce_strided(f, 0, TN_F32, 2, size, stride);
}
static bool view_check(tn_frame *f) {
    const int64_t size[1] = {2}, stride[1] = {1};
    return tn_announce_view(f, 0, f->in[0], 1, size, stride, given);
}
static bool announced(bool (*check)(tn_frame *f), int64_t v) {
    bool ok = false;
    probe_row.check = check;
    ok = probed(NULL, v);
    probe_row.check = probe_check;
    return ok;
}
static bool like_check(tn_frame *f) {
    return tn_announce_like(f, 0, f->in[0], (tn_dtype)as_int(given));
}
static bool announce_like(int64_t v) { return announced(like_check, v); }
static bool count_check(tn_frame *f) {
    const int64_t one[1] = {1};
    bool ok = tn_announce_count(f, given);
    for (int k = 0; ok && k < given; k++) ok = tn_announce(f, k, TN_F32, 1, one);
    return ok;
}
static void count_run(tn_frame *f) { (void)f; }
static tn_row count_row = {.name = "probes",
                           .schema = "probes(Tensor self) -> Tensor[]",
                           .check = count_check,
                           .run = count_run};
static bool announce_count(int64_t v) {
    tn_value value = {TN_T_TENSOR, NULL, {NULL}};
    tn_tensor *out[64];
    int count = 0;
    bool ok = false;
    value.as.tensor = x;
    given = v;
    TN_SCOPE {
        ok = tn_call_row(NULL, 0, &count_row, TN_PLAIN, &value, 1, out, 64, &count);
    }
    return ok && count == v;
}
static bool call_how(int64_t v) {
    tn_neg_args args = {NULL, NULL};
    tn_tensor *copy = tn_clone(x), *out = NULL;
    bool ok;
    args.self = copy;
    ok = tn_call(tn_row_named("neg"), (unsigned)v, NULL, 0, &args, &out);
    if (out != copy) tn_free(out);
    tn_free(copy);
    return ok;
}
static bool columns_check(tn_frame *f) {
    const int64_t size[3] = {2, given, 3};
    return tn_announce_columns(f, 0, TN_F32, 3, size);
}
static bool announce_columns(int64_t v) { return announced(columns_check, v); }
static bool announce_size(int64_t v) { return announced(announce_check, v); }
static bool announce_kind(int64_t v) { return announced(announce_dtype, v); }
static bool announce_stride(int64_t v) { return announced(strided_check, v); }
static bool announce_offset(int64_t v) { return announced(view_check, v); }

/* --- groups ----------------------------------------------------------------------------------- */

static bool group(tn_group *g) {
    tn_group_free(g);
    return g != NULL;
}
static bool group_threads(int64_t v) { return group(tn_group_threads(as_int(v))); }
static bool group_join(int64_t v) {
    tn_group *place = tn_group_threads(3);
    const bool ok = place && group(tn_group_join(place, as_int(v)));
    tn_group_free(place);
    return ok;
}
static bool group_split(int64_t v) {
    const bool made = group(tn_group_split(NULL, as_int(v)));
    return v < 0 ? !made && tn_ok() : made;
}
static void group_leave(void *state) { (void)state; }
static bool group_new(int32_t rank, int32_t size) {
    tn_group_backend b = {TN_GROUP_VERSION, sizeof b, "none", NULL, NULL, NULL, NULL, NULL, NULL};
    b.leave = group_leave;
    return group(tn_group_new(&b, NULL, rank, size));
}
static bool group_rank(int64_t v) { return group_new(as_int(v), 3); }
static bool group_size(int64_t v) { return group_new(0, as_int(v)); }
static bool parallel_bucket(int64_t v) {
    tn_parallel *p = tn_data_parallel(model, .bucket_bytes = v);
    tn_parallel_free(p);
    return p != NULL;
}

#endif
