/* objects.c - what every function that makes or keeps something is worth after the scope in which
 * it was called: modules, optimizers with the state of their first step, data sets, batches, files,
 * records, gradients, views, wrapped memory. Each is made where no scope is open, in a scope, in
 * nested ones, in a hook of a backward, in a custom function's forward and in a data set's get;
 * what it holds is compared with what stood there before, used, and freed; nothing is left behind.
 * The headers are read: a function that is added there is called here, or named among those that
 * make nothing. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "../../src/api/parallel.h"
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../../src/api/vmap.h"
#include "api.h"

#include <unistd.h>

static const char mine[] = "tests/edges/objects.c";
static char file[] = "/tmp/tn_objects.XXXXXX";

/* What a maker leaves for after its scope. */
typedef struct thing {
    tn_tensor *t[5];
    uint64_t hash[5];
    tn_module *m;
    tn_optimizer *o;
    tn_schedule *s;
    tn_dataset *d;
    tn_loader *l;
    tn_recording *r;
    tn_generator *g;
    tn_gen *gen;
    tn_safetensors *f;
    tn_history *h;
    tn_context *c;
    tn_group *group[4];
    tn_parallel *p;
    tn_train_log *log;
    char *text;
    tn_named_list list;
    int64_t number;
    bool made;
} thing;

static tn_tensor *counting(int64_t rows, int64_t columns) {
    return tn_clone(tn_reshape(tn_arange(rows * columns, .dtype = TN_F32), TN_DIMS(rows, columns)));
}
static void stamp(thing *a) {
    for (int k = 0; k < 5; k++) a->hash[k] = api_hash(a->t[k]);
}
static void stands(const thing *a) {
    for (int k = 0; k < 5; k++) CHECK(api_hash(a->t[k]) == a->hash[k]);
}
static uint64_t list_hash(tn_named_list l) {
    uint64_t h = 1;
    for (int64_t i = 0; i < l.n; i++)
        h = h * 31 + api_hash(l.at[i].tensor) + (uint64_t)strlen(l.at[i].name);
    return h;
}
static void no_end(thing *a) { stands(a); }
static void end_tensors(thing *a) {
    stands(a);
    for (int k = 0; k < 4; k++) tn_free(a->t[k]);
}

/* --- tensors ---------------------------------------------------------------------------------- */

static void make_tensors(thing *a) {
    const float three[3] = {1, 2, 3};
    a->t[0] = tn_take(tn_from_f32(three, TN_DIMS(3)));
    a->t[1] = tn_take(tn_select(counting(2, 3), 0, 1));
    a->t[2] = tn_hold(tn_requires_grad(tn_detach(counting(1, 2))));
    a->t[3] = tn_take(tn_from(three, TN_DIMS(1, 3), TN_F32));
    CHECK(tn_base_of(a->t[1]) != NULL && tn_owners(a->t[0]) == 1);
}
static void make_keeps(thing *a) { /* one scope outward, moved, lent, counted */
    int64_t outer = tn_scope_begin(), mark = tn_scope_begin();
    a->t[0] = tn_keep(tn_keep(tn_keep(counting(2, 2))));
    a->t[1] = counting(3, 2);
    tn_scope_leave(mark, a->t, 2);
    stamp(a);
    tn_scope_leave(outer, a->t, 2);
    stands(a);
    a->t[2] = tn_retain(counting(1, 1));
    TN_SCOPE {
        tn_lend(tn_hold(counting(4, 1)));
    }
    tn_take(a->t[0]), tn_take(a->t[1]), tn_release(a->t[2]);
    a->t[2] = tn_take(counting(1, 5));
}
static void make_guarded(thing *a) {
    tn_guard guard = tn_guard_begin();
    tn_scope_begin();
    a->t[0] = counting(2, 3), counting(3, 3);
    tn_set_grad_mode(false);
    tn_guard_end(&guard, a->t, 1);
    CHECK(tn_grad_mode());
    tn_take(a->t[0]);
}
static void make_lists(thing *a) {
    tn_list l = tn_chunk(counting(4, 2), 2), gone = tn_chunk(counting(4, 2), 2);
    a->t[0] = tn_take(l.at[1]);
    a->t[1] = tn_take(l.at[0]);
    tn_free(l.holder);
    tn_list_free(gone);
}
static int released;
static void count_release(void *data, void *user) { (void)data, (void)user, released++; }
static void make_wrap(thing *a) {
    static float memory[6] = {1, 2, 3, 4, 5, 6};
    tn_wrap_options o;
    tn_tensor *base;
    memset(&o, 0, sizeof o);
    o.release = count_release;
    released = 0;
    base = tn_wrap(memory, TN_DIMS(2, 3), TN_F32, &o);
    a->t[0] = tn_take(tn_select(base, 0, 1));
    tn_free(base);
}
static void end_wrap(thing *a) {
    stands(a);
    CHECK_EQ(released, 0);
    tn_free(a->t[0]);
    CHECK_EQ(released, 1);
}
static void make_data(thing *a) { /* what others hold from now on */
    a->t[0] = tn_take(counting(2, 2)), a->t[1] = tn_take(counting(2, 2));
    a->t[2] = tn_take(counting(3, 1));
    CHECK(tn_swap_data(a->t[0], tn_neg(counting(2, 2))) && tn_set_data(a->t[1], counting(3, 3)));
    CHECK(tn_set_grad(a->t[2], tn_mul(a->t[2], a->t[2])) && tn_detach_(a->t[2]));
    a->t[3] = tn_hold(tn_grad_of(a->t[2]));
}
static void release_binding(void *object) { ++*(int64_t *)object; }
static int64_t bound;
static void make_binding(thing *a) {
    bound = 0;
    a->t[0] = tn_take(counting(1, 2));
    CHECK(tn_set_binding(a->t[0], &bound, release_binding));
}
static void end_binding(thing *a) {
    CHECK(tn_binding(a->t[0]) == &bound && bound == 0);
    end_tensors(a);
    CHECK_EQ(bound, 1);
}
static void make_texts(thing *a) {
    void *block = tn_alloc(100);
    tn_module *m = tn_nn_linear(2, 2);
    char *text = tn_module_text(m);
    tn_alloc_free(text, strlen(text) + 1);
    tn_module_free(m);
    tn_alloc_free(block, 100);
    a->text = tn_to_text(counting(2, 2), NULL);
    a->g = tn_generator_new(5);
    a->gen = tn_schema_new("f(Tensor input, int n=3) -> ()");
    a->c = tn_context_new(NULL);
}
static void end_texts(thing *a) {
    tn_value v = {TN_T_TENSOR, NULL, {NULL}};
    union {
        double align;
        char at[200];
    } args;
    CHECK(a->text && strstr(a->text, "[2., 3.]"));
    tn_alloc_free(a->text, strlen(a->text) + 1);
    CHECK(a->g && tn_random64(a->g) != tn_random64(a->g));
    tn_generator_free(a->g);
    v.as.tensor = tn_ones(TN_DIMS(1));
    CHECK(a->gen && tn_bind(NULL, 0, "f", a->gen, &v, 1, true, args.at));
    tn_free(v.as.tensor);
    tn_schema_free(a->gen);
    tn_context_free(a->c);
}

/* --- gradients -------------------------------------------------------------------------------- */

static tn_tensor *doubled(tn_tensor *grad, void *user) { return (void)user, tn_add(grad, grad); }
static tn_tensor *seen(tn_tensor *t, void *user) { return ++*(int64_t *)user, t; }
static void make_gradients(thing *a) {
    tn_tensor *x = a->t[0] = tn_take(tn_requires_grad(tn_detach(counting(2, 3)))),
              *y = tn_mul(x, x);
    tn_grads_options o = {NULL, false, false, false};
    CHECK(tn_hook_add(x, doubled, NULL, NULL) && tn_hook_after(x, seen, &a->number, NULL));
    CHECK(tn_retain_grad(y));
    CHECK(tn_backward(tn_sum(tn_mul(y, x)), .retain_graph = true));
    a->t[1] = tn_hold(tn_grad_of(x)), a->t[2] = tn_hold(tn_grad_of(y));
    o.seeds = &y, o.create_graph = true;
    CHECK(tn_grads(tn_tensors_of(&y, 1), tn_tensors_of(&x, 1), &a->t[3], &o));
    tn_take(a->t[3]);
    a->h = tn_history_hold(tn_history_of(y));
}
static void end_gradients(thing *a) {
    tn_tensor *leaf = NULL, *y;
    tn_history *from = NULL;
    int result = 0;
    stands(a);
    CHECK(tn_history_input(a->h, 0, &from, &result, &leaf) && leaf == a->t[0]);
    CHECK_TEXT(tn_history_name(a->h), "mul");
    tn_history_free(a->h);
    y = tn_sum(a->t[3]); /* its graph is there */
    CHECK(tn_backward(y));
    CHECK(a->number == 2 && tn_grad_of(a->t[0]) != NULL);
    tn_free(y);
    for (int k = 3; k >= 0; k--) tn_free(a->t[k]);
}
static bool square(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    tn_scope_begin(); /* left open */
    (void)nin;
    out[0] = tn_mul(in[0], in[0]);
    return tn_function_save(f, tn_add(in[0], in[0])) && tn_function_save(f, in[0]);
}
static bool square_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    tn_scope_begin();
    grad_in[0] = tn_mul(grad_out[0], tn_function_saved(f, 0));
    return tn_function_saved(f, 1) != NULL && grad_in[0];
}
static void function_end(void *user) { ++*(int64_t *)user; }
static tn_tensor *cube(tn_tensor *const *in, int nin, void *user) {
    return (void)nin, (void)user, tn_mul(in[0], tn_mul(in[0], in[0]));
}
static void make_functions(thing *a) {
    static const tn_function_row row = {"square", 1, square, square_back, function_end};
    tn_tensor *x = a->t[0] = tn_take(tn_requires_grad(tn_detach(counting(2, 2))));
    CHECK(tn_function_call(&row, tn_tensors_of(&x, 1), &a->number, &a->t[1]));
    tn_take(a->t[1]);
    a->t[2] = tn_take(tn_checkpoint(cube, tn_tensors_of(&x, 1), NULL));
}
static void end_functions(thing *a) {
    tn_tensor *y, *list[2];
    stands(a);
    TN_SCOPE {
        list[0] = tn_sum(a->t[1]), list[1] = tn_sum(a->t[2]);
        CHECK(tn_backward_all(tn_tensors_of(list, 2), NULL, NULL));
        y = tn_add(tn_mul(a->t[0], tn_mul(a->t[0], tn_full(TN_EMPTY_DIMS, 3.))),
                   tn_add(a->t[0], a->t[0]));
        CHECK(tn_item_int(tn_all(tn_eq(tn_grad_of(a->t[0]), y))) == 1);
    }
    tn_free(a->t[1]), tn_free(a->t[2]);
    CHECK_EQ(a->number, 1);
    tn_free(a->t[0]);
}
static bool pair(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    (void)nin, (void)user;
    out[0] = tn_mul(in[0], in[0]), out[1] = tn_sin(in[0]);
    *nout = 2;
    return tn_ok();
}
static void make_checks(thing *a) { /* they leave nothing */
    tn_tensor *x = tn_take(tn_requires_grad(tn_full(TN_DIMS(2), 0.5, .dtype = TN_F64)));
    (void)a;
    CHECK(tn_gradcheck(pair, tn_tensors_of(&x, 1), NULL, NULL));
    CHECK(tn_gradgradcheck(pair, tn_tensors_of(&x, 1), NULL, NULL));
    tn_free(x);
}

/* --- records ---------------------------------------------------------------------------------- */

#include "objects_groups.h"

static void make_record(thing *a) {
    const bool before = tn_set_grad_mode(false);
    a->t[0] = tn_take(counting(2, 2));
    CHECK(tn_record_begin());
    TN_SCOPE {
        a->t[1] = tn_take(tn_mul(tn_add(a->t[0], a->t[0]), tn_add_scalar(a->t[0], 1)));
    }
    a->r = tn_record_end();
    tn_set_grad_mode(before);
}
static void end_record(thing *a) {
    stands(a);
    TN_SCOPE {
        tn_fill_(a->t[0], 2.);
        CHECK(tn_replay(a->r) && tn_item(tn_select(tn_select(a->t[1], 0, 1), 0, 1)) == 12);
    }
    tn_recording_free(a->r);
    tn_free(a->t[0]), tn_free(a->t[1]);
}

/* --- modules ---------------------------------------------------------------------------------- */

typedef struct block {
    tn_module base;
    tn_tensor *scale, *shift;
    tn_module *child;
} block;
static bool block_forward(tn_mframe *f) {
    block *s = (block *)(void *)f->m;
    tn_tensor *x = tn_forward(s->child, tn_input(f, 0));
    f->out[0] = tn_add(tn_mul(x, s->scale), s->shift);
    return f->out[0] != NULL;
}
static const tn_mrow block_row = {.name = "Block", .size = sizeof(block), .forward = block_forward};
static bool scaled(tn_mframe *f, void *user) {
    ++*(int64_t *)user;
    tn_scope_begin(); /* left open */
    f->out[0] = tn_add(f->out[0], f->out[0]);
    return true;
}
static void make_module(thing *a) {
    block *s = (block *)tn_module_new(&block_row);
    tn_tensor *given = counting(1, 3);
    tn_value v[2] = {{TN_T_INT, NULL, {NULL}}, {TN_T_INT, NULL, {NULL}}};
    v[0].as.integer = 2, v[1].as.integer = 3;
    CHECK(tn_part_tensor(&s->base, TN_PARAM, "scale", &s->scale, TN_F32, TN_DIMS(3)));
    CHECK(tn_part_give(&s->base, TN_BUFFER, "shift", &s->shift, given));
    CHECK(tn_part_child(&s->base, "child", &s->child, tn_module_named("Linear", v, 2)));
    a->m = tn_module_finish(&s->base);
    CHECK(tn_nn_init_normal_(s->scale, 0, 1) && tn_nn_init_uniform_(s->shift, 0, 1));
    CHECK(tn_module_hook(a->m, TN_AFTER_FORWARD, scaled, &a->number, NULL));
    a->t[0] = tn_take(tn_forward(a->m, counting(2, 2)));
    a->t[1] = tn_module_tensor(a->m, "child.weight");
    a->t[2] = s->scale, a->t[3] = s->shift;
    a->list = tn_module_state_dict(a->m);
}
static void end_module(thing *a) {
    stands(a);
    CHECK_EQ(a->list.n, 4);
    CHECK(tn_named_find(a->list, "shift") == a->t[3]);
    tn_named_free(a->list);
    tn_free(a->t[0]);
    a->t[0] = tn_forward(a->m, a->t[2]); /* (3) does not fit */
    CHECK(!a->t[0] && tn_error_take(NULL));
    CHECK_EQ(a->number, 1);
    tn_module_free(a->m);
}
/* Parts that are changed in a scope stay what they became. */
static void make_changed(thing *a) {
    tn_module *m = tn_sequential(tn_nn_linear(3, 4), tn_nn_batch_norm1d(4), tn_nn_linear(4, 2));
    tn_named_list l;
    TN_SCOPE {
        a->m = tn_module_copy(m);
        l = tn_module_state_dict(m);
        CHECK(tn_module_load(a->m, l));
        tn_named_free(l);
        CHECK(tn_module_append(a->m, tn_nn_relu()));
        CHECK(tn_module_set_tensor(a->m, "2.weight", tn_requires_grad(tn_detach(counting(2, 4)))));
        tn_forward(a->m, counting(5, 3)); /* moves running statistics */
        CHECK(tn_module_to(a->m, TN_F64, TN_NO_DEVICE) && tn_module_to(a->m, TN_F32, TN_CPU));
        CHECK(tn_module_save_file(m, file) && tn_module_load_file(a->m, file));
        CHECK(tn_module_reset(m) && tn_module_requires_grad(m, false));
        tn_nn_init_kaiming_uniform_(tn_module_tensor(a->m, "0.weight"), 0, TN_FAN_IN, TN_INIT_RELU);
        tn_nn_init_kaiming_normal_(tn_module_tensor(a->m, "0.weight"), 0, TN_FAN_IN, TN_INIT_RELU);
        tn_nn_init_xavier_uniform_(tn_module_tensor(a->m, "2.weight"), 1);
        tn_nn_init_xavier_normal_(tn_module_tensor(a->m, "2.weight"), 1);
        tn_nn_init_constant_(tn_module_tensor(a->m, "2.bias"), 3);
        tn_forward(a->m, counting(5, 3));
        tn_backward(tn_sum(tn_forward(a->m, counting(5, 3))));
    }
    tn_module_free(m);
    a->t[0] = tn_module_tensor(a->m, "0.weight"), a->t[1] = tn_module_tensor(a->m, "2.weight");
    a->t[2] = tn_module_tensor(a->m, "1.running_mean"), a->t[3] = tn_grad_of(a->t[1]);
    CHECK(tn_module_child(a->m, "3") && a->t[3]);
    a->list = tn_module_buffers(a->m);
}
static void end_changed(thing *a) {
    tn_named_list p = tn_module_parameters(a->m);
    stands(a);
    CHECK(p.n == 6 && a->list.n == 3 && a->list.at[0].tensor == a->t[2]);
    tn_named_free(p), tn_named_free(a->list);
    TN_SCOPE {
        CHECK(tn_forward(a->m, tn_ones(TN_DIMS(5, 3))) != NULL);
    }
    tn_module_free(a->m);
}
static void make_rows(thing *a) { /* every kind of module, at its defaults where it has them */
    for (int64_t i = 0; i < tn_mrow_count(); i++) {
        tn_module *m = tn_module_named(tn_mrow_at(i)->gen->type, NULL, 0);
        if (!m) CHECK(tn_error_take(NULL));
        tn_module_free(m);
    }
    a->m = tn_module_hold(tn_nn_lstm(3, 2));
    tn_module_free(a->m);
    tn_tensor *out[3] = {NULL, NULL, NULL};
    tn_value v = {TN_T_TENSOR, NULL, {NULL}};
    v.as.tensor = tn_reshape(counting(4, 3), TN_DIMS(4, 1, 3));
    CHECK(tn_module_call_values(NULL, 0, a->m, &v, 1, out, 3));
    for (int k = 0; k < 3; k++) a->t[k] = tn_take(out[k]);
    tn_nn_lstm_forward_args args = {NULL, NULL, a->m, v.as.tensor};
    CHECK(tn_module_call(NULL, 0, a->m, NULL, &args, out, 3));
    tn_nn_linear_args made = {true, TN_NO_DTYPE, TN_NO_DEVICE, 1, 2};
    tn_module_free(tn_module_make(NULL, 0, tn_mrow_named("Linear"), &made));
}
static void end_rows(thing *a) {
    end_tensors(a);
    tn_module_free(a->m);
}

/* --- optimizers ------------------------------------------------------------------------------- */

/* The state of every kind of optimizer is made in its first step. */
static void step(tn_module *m, tn_optimizer *o) {
    TN_SCOPE {
        tn_optimizer_zero_grad(o);
        CHECK(tn_backward(tn_sum(tn_forward(m, counting(3, 2)))));
        CHECK(tn_nn_clip_grad_norm_(tn_parameters(m), 1) > 0);
        CHECK(tn_optimizer_step(o));
    }
}
static double halves(int64_t n, void *user) { return (void)user, n ? 0.5 : 1; }
static void make_optimizer(thing *a) {
    tn_tensor *other = tn_requires_grad(tn_detach(counting(1, 2)));
    tn_schedule *more[2];
    tn_named_list l;
    a->m = tn_nn_linear(2, 3);
    a->o = tn_optim_sgd(tn_parameters(a->m), .lr = 0.1, .momentum = 0.9);
    CHECK_EQ(tn_optimizer_group(a->o, tn_tensors_of(&other, 1), NULL, 0), 1);
    a->s = tn_optim_step_lr(a->o, 2, 0.5);
    more[0] = tn_optim_cosine_lr(a->o, 10, 0), more[1] = tn_optim_lambda_lr(a->o, halves, NULL);
    step(a->m, a->o);
    CHECK(tn_schedule_step(a->s));
    tn_schedule_free(more[1]), tn_schedule_free(more[0]);
    TN_SCOPE {
        tn_named copy[32];
        l = tn_optimizer_state_dict(a->o);
        for (int64_t i = 0; i < l.n && i < 32; i++)
            copy[i].name = l.at[i].name, copy[i].tensor = tn_clone(l.at[i].tensor);
        CHECK(tn_optimizer_load(a->o, copy, l.n));
        tn_named_free(l);
    }
    a->t[0] = tn_module_tensor(a->m, "weight"), a->t[1] = tn_grad_of(a->t[0]);
    a->list = tn_optimizer_state_dict(a->o);
    a->number = (int64_t)(list_hash(a->list) >> 1);
}
static void end_optimizer(thing *a) {
    stands(a);
    CHECK(a->number == (int64_t)(list_hash(a->list) >> 1));
    tn_named_free(a->list);
    a->list = tn_optimizer_state_dict(a->o);
    CHECK(a->number == (int64_t)(list_hash(a->list) >> 1));
    step(a->m, a->o);
    tn_module_free(a->m); /* the optimizer holds the parameters */
    CHECK(tn_optimizer_step(a->o) && tn_schedule_step(a->s));
    CHECK(tn_optimizer_get(a->o, 1, "lr") < 0.1);
    tn_named_free(a->list);
    tn_schedule_free(a->s);
    tn_optimizer_free(a->o);
}
static void make_others(thing *a) { /* by the row's own struct: every kind, at its defaults */
    a->m = tn_nn_linear(2, 1, .bias = false); /* one kind takes matrices alone */
    for (int64_t i = 0; i < tn_orow_count(); i++) {
        const tn_gen *gen = tn_orow_at(i)->gen;
        union {
            double align;
            char at[200];
        } args;
        tn_value v = {TN_T_TENSORS, NULL, {NULL}};
        tn_optimizer *o;
        tn_named_list before, after;
        v.as.tensors = tn_parameters(a->m);
        CHECK(tn_bind(NULL, 0, "optimizer", gen, &v, 1, true, args.at));
        o = tn_optimizer_make(NULL, 0, tn_orow_at(i), args.at);
        TN_SCOPE {
            TN_SCOPE {
                step(a->m, o);
            }
            before = tn_optimizer_state_dict(o);
            a->number = (int64_t)(list_hash(before) >> 1);
        }
        after = tn_optimizer_state_dict(o);
        CHECK(a->number == (int64_t)(list_hash(after) >> 1));
        step(a->m, o);
        tn_named_free(before), tn_named_free(after);
        tn_optimizer_free(o);
    }
}
static void end_others(thing *a) { tn_module_free(a->m); }

/* --- data ------------------------------------------------------------------------------------- */

static bool make_in_get(const tn_dataset *d, int64_t index, void *const *to) {
    tn_scope_begin(); /* left open */
    tn_tensor *t = tn_full(TN_DIMS(2), (double)index);
    (void)d;
    return tn_read_f32(t, (float *)to[0], 2);
}
static void make_loader(thing *a) {
    tn_tensor *x = counting(5, 2), *y = tn_arange(5), *both[2] = {x, y};
    tn_dataset like, *own;
    tn_loader *l;
    tn_batch b;
    memset(&like, 0, sizeof like);
    like.size = 3, like.nfields = 1, like.get = make_in_get;
    like.field[0].dtype = TN_F32, like.field[0].ndim = 1, like.field[0].size[0] = 2;
    own = tn_dataset_new(&like);
    l = tn_loader_new(own, .batch_size = 2);
    CHECK(tn_loader_next(l, &b));
    a->t[0] = tn_take(b.field[0]);
    tn_loader_free(l); /* its batch stays */
    a->d = tn_dataset_slice(tn_dataset_tensors(tn_tensors_of(both, 2)), 1, 5);
    a->l = tn_loader_new(tn_dataset_hold(a->d), .batch_size = 3, .shuffle = true, .workers = 2);
    CHECK(tn_loader_next(a->l, &b) && b.n == 3);
    a->t[1] = tn_take(tn_select(b.field[0], 0, 1)), a->t[2] = tn_take(b.field[1]);
    x = tn_full(TN_DIMS(2, 2, 2), 7., .dtype = TN_U8);
    own = tn_dataset_images(x, tn_arange(2), 0, 1);
    l = tn_loader_new(own);
    CHECK(tn_loader_next(l, &b));
    a->t[3] = tn_take(b.field[0]);
    tn_loader_free(l);
}
static void end_loader(thing *a) {
    tn_batch b;
    int items = 0;
    stands(a);
    TN_SCOPE {
        CHECK(tn_loader_next(a->l, &b) && b.n == 1);
        CHECK(!tn_loader_next(a->l, &b) && tn_ok());
        stands(a);
    }
    TN_SCOPE {
        while (tn_loader_next(a->l, &b)) items += (int)b.n;
    }
    CHECK_EQ(items, 4);
    tn_free(a->t[2]);
    tn_loader_free(a->l);
    tn_dataset_free(a->d);
    a->t[2] = NULL, a->hash[2] = 0;
    end_tensors(a);
}

#include "objects_files.h"
#include "objects_others.h"

static void make_training(thing *a) {
    tn_tensor *both[2] = {tn_rand(TN_DIMS(6, 2)), tn_randint_low(0, 3, TN_DIMS(6))};
    tn_dataset *d = tn_dataset_tensors(tn_tensors_of(both, 2));
    double loss = 0, accuracy = 0;
    tn_state s;
    a->m = tn_nn_linear(2, 3);
    a->o = tn_optim_adam(tn_parameters(a->m));
    a->l = tn_loader_new(d, .batch_size = 3);
    a->log = tn_train_log_new(.svg = file);
    CHECK(tn_train(a->m, a->o, a->l, .epochs = 2, .on = tn_train_log_on, .user = a->log));
    CHECK(tn_evaluate(a->m, NULL, a->l, &loss, &accuracy) && loss > 0);
    memset(&s, 0, sizeof s);
    s.model = a->m, s.optimizer = a->o;
    CHECK(tn_checkpoint_save(file, &s) && tn_checkpoint_load(file, &s));
    a->t[0] = tn_module_tensor(a->m, "weight");
    a->list = tn_optimizer_state_dict(a->o);
    a->number = (int64_t)(list_hash(a->list) >> 1);
}
static void end_training(thing *a) {
    stands(a);
    CHECK(a->number == (int64_t)(list_hash(a->list) >> 1));
    const tn_progress p = {.event = TN_EVENT_BEGIN, .epoch = 1};
    char text[200];
    CHECK(tn_train_log_on(&p, a->log));
    CHECK(tn_progress_text(&p, text, sizeof text) < sizeof text);
    CHECK(tn_save_bytes(file, text, strlen(text)));
    CHECK(tn_train(a->m, a->o, a->l, .epochs = 1, .on = tn_train_log_on, .user = a->log));
    tn_train_log_free(a->log);
    tn_named_free(a->list);
    tn_loader_free(a->l);
    tn_optimizer_free(a->o);
    tn_module_free(a->m);
}

/* --- where they are made ---------------------------------------------------------------------- */

typedef void (*work)(thing *a);
typedef struct job {
    work make;
    thing *a;
} job;
static void run(job *j) {
    j->make(j->a);
    stamp(j->a);
    j->a->made = true;
    CHECK(!tn_error_print());
}
static tn_tensor *run_hook(tn_tensor *grad, void *user) {
    const bool before = tn_set_grad_mode(true);
    run((job *)user);
    tn_set_grad_mode(before);
    return grad;
}
static bool run_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    const bool before = tn_set_grad_mode(true);
    (void)nin;
    run((job *)tn_function_user(f));
    tn_set_grad_mode(before);
    return (out[0] = tn_neg(in[0])) != NULL;
}
static bool run_back(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    return (void)f, (grad_in[0] = tn_neg(grad_out[0])) != NULL;
}
static bool run_get(const tn_dataset *d, int64_t index, void *const *to) {
    (void)index;
    TN_SCOPE {
        run((job *)d->user);
    }
    *(float *)to[0] = 1;
    return tn_ok();
}
enum { NOWHERE, SCOPE, NESTED, HOOK, FORWARD, GET, PLACES };
static void run_in_hook(job *j) {
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(2)));
        CHECK(tn_hook_add(x, run_hook, j, NULL) && tn_backward(tn_sum(x)));
    }
}
static void run_in_forward(job *j) {
    static const tn_function_row row = {"maker", 1, run_forward, run_back, NULL};
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(2))), *y;
        CHECK(tn_function_call(&row, tn_tensors_of(&x, 1), j, &y));
        CHECK(j->a->made && tn_backward(tn_sum(y)));
    }
}
static void run_in_get(job *j) {
    tn_dataset like;
    tn_loader *l;
    tn_batch b;
    memset(&like, 0, sizeof like);
    like.size = 1, like.nfields = 1, like.get = run_get, like.user = j;
    like.field[0].dtype = TN_F32;
    l = tn_loader_new(tn_dataset_new(&like));
    TN_SCOPE {
        CHECK(tn_loader_next(l, &b));
    }
    tn_loader_free(l);
}
static void run_at(job *j, int place) {
    if (place == NOWHERE) run(j);
    if (place == SCOPE)
        TN_SCOPE
            run(j);
    if (place == NESTED)
        TN_SCOPE {
            run_at(j, SCOPE);
            (void)!tn_zeros(TN_DIMS(100));
        }
    if (place == HOOK) run_in_hook(j);
    if (place == FORWARD) run_in_forward(j);
    if (place == GET) run_in_get(j);
}
static void everywhere(const char *name, work make, work end) {
    for (int place = 0; place < PLACES; place++)
        for (int again = 0; again < 2; again++) { /* the first may fill what stays: a generator */
            thing a;
            job j = {make, &a};
            const int before_failures = check_failures;
            api_alive before = api_count(), after;
            memset(&a, 0, sizeof a);
            a.list.n = -1;
            run_at(&j, place);
            CHECK(a.made);
            end(&a);
            after = api_count();
            CHECK(!tn_error_print());
            if (place != NOWHERE) { /* there what lies between is the caller's */
                CHECK_EQ(after.tensors, before.tensors);
                if (again) CHECK_EQ(after.bytes, before.bytes);
            }
            if (check_failures != before_failures) printf("    %s, place %d\n", name, place);
        }
}
#define EVERYWHERE(test, make, end) \
    static void test(void) { everywhere(#make, make, end); }
EVERYWHERE(tensors_stay, make_tensors, end_tensors)
EVERYWHERE(what_is_kept_stays, make_keeps, end_tensors)
EVERYWHERE(what_a_guard_hands_out_stays, make_guarded, end_tensors)
EVERYWHERE(members_of_lists_stay, make_lists, end_tensors)
EVERYWHERE(wrapped_memory_goes_with_its_last_view, make_wrap, end_wrap)
EVERYWHERE(data_that_were_exchanged_stay, make_data, end_tensors)
EVERYWHERE(bindings_go_with_their_tensor, make_binding, end_binding)
EVERYWHERE(texts_and_tables_stay, make_texts, end_texts)
EVERYWHERE(gradients_and_hooks_stay, make_gradients, end_gradients)
EVERYWHERE(functions_keep_what_they_saved, make_functions, end_functions)
EVERYWHERE(checks_of_gradients_leave_nothing, make_checks, no_end)
EVERYWHERE(results_of_batches_stay, make_batches, end_tensors)
EVERYWHERE(records_keep_their_tensors, make_record, end_record)
EVERYWHERE(groups_stay, make_groups, end_groups)
EVERYWHERE(a_model_of_several_ranks_stays, make_parallel, end_parallel)
EVERYWHERE(modules_keep_their_parts, make_module, end_module)
EVERYWHERE(parts_that_are_changed_stay, make_changed, end_changed)
EVERYWHERE(every_kind_of_module_is_made, make_rows, end_rows)
EVERYWHERE(optimizers_keep_their_state, make_optimizer, end_optimizer)
EVERYWHERE(every_kind_of_optimizer_steps, make_others, end_others)
EVERYWHERE(batches_stay, make_loader, end_loader)
EVERYWHERE(files_stay, make_files, end_files)
EVERYWHERE(files_in_memory_stay, make_memory, end_memory)
EVERYWHERE(training_leaves_its_state, make_training, end_training)

/* Where no scope is open all of a list is the caller's, kept tensors, too. */
static void lists_without_a_scope_are_freed_whole(void) {
    const api_alive before = api_count();
    tn_tensor *t = tn_ones(TN_DIMS(6, 2)), *kept = NULL;
    tn_list l = tn_chunk(t, 3), twice;
    tn_free(t);
    TN_SCOPE {
        TN_SCOPE {
            kept = tn_keep(tn_full(TN_DIMS(3), 5));
        }
        twice = tn_split(kept, 2);
        CHECK(tn_item(tn_sum(kept)) == 15 && twice.n == 2);
        tn_list_free(twice);
        tn_keep(kept);
    }
    CHECK(l.n == 3 && tn_numel(l.at[2]) == 4 && tn_owners(kept) == 1);
    tn_free(kept);
    tn_list_free(l);
    CHECK_EQ(api_count().tensors, before.tensors);
    CHECK_EQ(api_count().bytes, before.bytes);
}

static void the_headers_have_no_other_functions(void) {
    static const char *const files[] = {mine, "tests/edges/objects_files.h",
                                        "tests/edges/objects_groups.h", "tests/edges/scopes.c",
                                        "tests/ops/sample.c"};
    api_is_whole(files, 5, others);
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(the_headers_have_no_other_functions),
        CHECK_TEST(tensors_stay),
        CHECK_TEST(what_is_kept_stays),
        CHECK_TEST(what_a_guard_hands_out_stays),
        CHECK_TEST(lists_without_a_scope_are_freed_whole),
        CHECK_TEST(members_of_lists_stay),
        CHECK_TEST(wrapped_memory_goes_with_its_last_view),
        CHECK_TEST(data_that_were_exchanged_stay),
        CHECK_TEST(bindings_go_with_their_tensor),
        CHECK_TEST(texts_and_tables_stay),
        CHECK_TEST(gradients_and_hooks_stay),
        CHECK_TEST(functions_keep_what_they_saved),
        CHECK_TEST(checks_of_gradients_leave_nothing),
        CHECK_TEST(results_of_batches_stay),
        CHECK_TEST(records_keep_their_tensors),
        CHECK_TEST(groups_stay),
        CHECK_TEST(a_model_of_several_ranks_stays),
        CHECK_TEST(modules_keep_their_parts),
        CHECK_TEST(parts_that_are_changed_stay),
        CHECK_TEST(every_kind_of_module_is_made),
        CHECK_TEST(optimizers_keep_their_state),
        CHECK_TEST(every_kind_of_optimizer_steps),
        CHECK_TEST(batches_stay),
        CHECK_TEST(files_stay),
        CHECK_TEST(files_in_memory_stay),
        CHECK_TEST(training_leaves_its_state),
    };
    tn_context_options o;
    tn_context *c;
    int failures, fd = mkstemp(file);
    if (fd < 0 || close(fd)) return 1;
    memset(&o, 0, sizeof o);
    o.threads = -1;
    o.no_cache = true;
    c = tn_context_new(&o);
    tn_context_use(c);
    failures = CHECK_MAIN(tests, argc, argv);
    tn_context_use(NULL);
    tn_context_free(c);
    remove(file);
    return failures;
}
