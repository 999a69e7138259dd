/* ranges_none.h - ranges.c: calls without a number, that work and that are refused; for failing
 * allocations, and for what they keep. */
#ifndef TESTS_EDGES_NUMBERS_NONE_H
#define TESTS_EDGES_NUMBERS_NONE_H

#include "ranges_nn.h"

static bool registered(int64_t v) {
    static const tn_mrow row = {.name = "Numbers",
                                .schema = "Numbers(int n, Module? one=None)",
                                .size = sizeof(tn_module),
                                .parts = "w(n, n)"};
    const bool ok = tn_module_register(&row);
    (void)v;
    if (ok) tn_module_forget(&row);
    return ok;
}
static bool unregistered(int64_t v) {
    tn_row row = probe_row;
    (void)v;
    row.gen = NULL, row.name = "taken_back", row.schema = "taken_back(Tensor input) -> Tensor";
    return tn_register(&row) && tn_unregister(&row);
}
static bool recorded(int64_t v) {
    const bool before = tn_set_grad_mode(false);
    tn_recording *r = NULL;
    bool ok = tn_record_begin();
    (void)v;
    TN_SCOPE {
        tn_tensor *sum = ok ? tn_add(tn_mul(x, x), x) : NULL;
        (void)sum;
        if (ok) r = tn_record_end();
        ok = r && tn_replay(r);
    }
    tn_recording_free(r);
    tn_set_grad_mode(before);
    return ok;
}
static bool captured(int64_t v) {
    bool ok = !tn_is_capturing() && tn_capture_begin() && tn_is_capturing();
    tn_recording *r = NULL;
    (void)v;
    if (ok) r = tn_record_end();
    ok = r && !tn_is_capturing() && tn_replay(r);
    tn_recording_free(r);
    return ok;
}
static bool retained(int64_t v) {
    bool ok = false;
    (void)v;
    TN_SCOPE {
        tn_tensor *y = tn_mul(leaf, leaf);
        ok = tn_retain_grad(y) && tn_hook_add(y, same, NULL, NULL) && tn_set_binding(y, &v, NULL);
    }
    return ok;
}
static bool other_data(int64_t v) {
    bool ok = false;
    (void)v;
    TN_SCOPE {
        tn_tensor *a = tn_neg(x), *b = tn_neg(x);
        ok = tn_swap_data(a, b) && tn_set_data(a, b) && tn_set_grad(a, b) && tn_detach_(a);
    }
    return ok;
}
static bool seen_part(tn_module *m, const char *name, void *user) {
    return (void)name, (void)m, (void)user, true;
}
static bool tree(int64_t v) {
    tn_module *m = tn_sequential(tn_nn_linear(2, 2), tn_nn_batch_norm1d(2));
    tn_named_list p = tn_module_parameters(m), b = tn_module_buffers(m);
    bool ok = m && p.n > 0 && b.n > 0 && tn_module_append(m, tn_nn_relu()) && tn_module_reset(m);
    (void)v;
    ok = ok && text(tn_module_text(m)) && tn_module_walk(m, seen_part, NULL);
    tn_named_free(p), tn_named_free(b);
    tn_module_free(m);
    return ok;
}
static bool initial(int64_t v) {
    tn_tensor *t = tn_module_tensor(model, "weight"), *c = tn_take(tn_clone(t));
    (void)v;
    const bool ok = tn_nn_init_normal_(c, 0, 1) && tn_nn_init_uniform_(c, 0, 1) &&
                    tn_nn_init_xavier_normal_(c, 1) && tn_nn_init_xavier_uniform_(c, 1) &&
                    tn_nn_init_constant_(c, 1);
    tn_free(c);
    return ok;
}
static bool stepped(int64_t v) { /* the first step makes the state, the second has it */
    tn_module *m = tn_nn_linear(3, 2);
    tn_optimizer *o = tn_optim_adam(tn_parameters(m));
    tn_named_list l = {NULL, -1, 0, false};
    bool ok = false;
    (void)v;
    TN_SCOPE {
        ok = tn_backward(tn_sum(tn_forward(m, x))) && tn_optimizer_step(o) && tn_optimizer_step(o);
        l = tn_optimizer_state_dict(o);
        ok = ok && l.n > 0 && tn_optimizer_load(o, l.at, l.n);
        tn_named_free(l);
    }
    tn_optimizer_free(o);
    tn_module_free(m);
    return ok;
}
static bool files(int64_t v) {
    tn_safetensors *f = tn_safetensors_open(path);
    tn_named_list l = tn_safetensors_load(path);
    bool ok = f && l.n == 2 && tensor(tn_safetensors_get(f, "x"));
    (void)v;
    ok = ok && tn_safetensors_save("/dev/null", l.at, l.n) &&
         tn_module_save_file(model, "/dev/null");
    tn_named_free(l);
    tn_safetensors_close(f);
    return ok;
}
static bool files_in_memory(int64_t v) {
    tn_named one = {"x", x};
    tn_module *other = tn_nn_linear(3, 2);
    tn_state s;
    tn_bytes saved = tn_save_memory(&one, 1), parts = tn_module_save_memory(model), state;
    tn_bytes npy = tn_save_npy_memory(x), npz = tn_save_npz_memory(&one, 1);
    tn_named_list l = tn_load_memory(saved.at, saved.n), z = tn_load_npz_memory(npz.at, npz.n);
    tn_safetensors *f = tn_safetensors_open_memory(saved.at, saved.n);
    bool ok = f && l.n == 1 && z.n == 1 && tensor(tn_safetensors_get(f, "x"));
    ok = ok && tensor(tn_load_npy_memory(npy.at, npy.n)) && tn_save_npy("/dev/null", x);
    ok = ok && tn_save_npz("/dev/null", &one, 1);
    tn_named_free(z);
    tn_bytes_free(npy), tn_bytes_free(npz);
    (void)v;
    memset(&s, 0, sizeof s);
    s.model = model;
    state = tn_checkpoint_save_memory(&s);
    ok = ok && other && tn_module_load_memory(other, parts.at, parts.n) &&
         tn_module_copy_from(other, model, 0.5) && tn_checkpoint_load_memory(state.at, state.n, &s);
    tn_safetensors_close(f);
    tn_named_free(l);
    tn_bytes_free(state), tn_bytes_free(parts), tn_bytes_free(saved);
    tn_module_free(other);
    return ok;
}
static bool texts(int64_t v) {
    tn_generator *g = tn_generator_new(3);
    tn_gen *s = tn_schema_new("f(Tensor input, int n=3) -> ()");
    const bool ok = text(tn_to_text(x, NULL)) && g && s;
    (void)v;
    tn_generator_free(g);
    tn_schema_free(s);
    return ok;
}

/* --- what is refused for other reasons than a number ------------------------------------------ */

static bool null_data(int64_t v) { return (void)v, tensor(tn_from_f32(NULL, TN_DIMS(2, 3))); }
static bool null_memory(int64_t v) {
    return (void)v, tensor(tn_wrap(NULL, TN_DIMS(2, 3), TN_F32, NULL));
}
static bool odd_schema(int64_t v) {
    tn_row row = probe_row;
    (void)v;
    row.gen = NULL;
    row.schema = "odd(Tensr input) -> Tensor";
    return tn_register(&row);
}
static bool twice_registered(int64_t v) {
    tn_row row = probe_row;
    row.gen = NULL;
    return (void)v, tn_register(&row);
}
static bool odd_module(int64_t v) {
    static const tn_mrow row = {
        .name = "Odd", .schema = "Odd(int n, Tensr x)", .size = sizeof(tn_module)};
    return (void)v, tn_module_register(&row);
}
static bool known_module(int64_t v) {
    static const tn_mrow row = {
        .name = "Linear", .schema = "Linear(int n)", .size = sizeof(tn_module)};
    return (void)v, tn_module_register(&row);
}
static bool other_state(int64_t v) {
    tn_named one = {"weight", x};
    return (void)v, tn_module_load_at(NULL, 0, model, &one, 1, true) &&
                        tn_optimizer_load(optimizer, &one, 1);
}
static bool other_rows(int64_t v) {
    tn_tensor *both[2] = {x, NULL};
    return (void)v, set(tn_dataset_tensors(tn_tensors_of(both, 2)));
}

#endif
