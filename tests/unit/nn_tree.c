/* nn_tree.c - promises of the module tree: making, ownership, names, calling, errors that name the
 * path, state dicts, load and to as all or nothing, copies, printing, hooks, and modules of one's
 * own. */
#include "../../src/api/modules.h"
#include "../../src/api/train.h"
#include "../../src/api/ops.h"
#include "../check.h"

#include <stdlib.h>

/* --- a module of one's own -------------------------------------------------------------------- */

typedef struct {
    tn_module base;
    tn_module *linear1, *linear2;
    tn_tensor *scale, *steps;
} block;
static bool block_forward(tn_mframe *f) {
    block *s = (block *)(void *)f->m;
    tn_tensor *x = tn_input(f, 0);
    tn_tensor *h = tn_forward(s->linear2, tnp_relu(tn_forward(s->linear1, x)));
    return (f->out[0] = tnp_add(x, tnp_mul(h, s->scale), 1)) != NULL;
}
static bool block_reset(tn_module *m) {
    return tn_nn_init_constant_(((block *)(void *)m)->scale, 0.5) != NULL;
}
static const tn_mrow block_row = {
    .name = "Block", .size = sizeof(block), .reset = block_reset, .forward = block_forward};
static tn_module *block_new(int64_t d) {
    block *s = (block *)tn_module_new(&block_row);
    TN_ADD_CHILD(s, linear1, tn_nn_linear(d, 2 * d));
    TN_ADD_CHILD(s, linear2, tn_nn_linear(2 * d, d));
    TN_ADD_PARAM(s, scale, TN_DIMS(d));
    TN_ADD_BUFFER(s, steps, TN_I64, TN_EMPTY_DIMS);
    return tn_module_finish((tn_module *)s);
}

static tn_tensor *input(int64_t rows, int64_t columns) {
    static float data[64];
    for (int i = 0; i < 64; i++) data[i] = (float)(i % 7) - 3;
    return tn_from(data, TN_DIMS(rows, columns), TN_F32);
}
static const char *names(tn_named_list list) {
    static char text[600];
    text[0] = 0;
    for (int64_t i = 0; i < list.n; i++) {
        strcat(text, i ? " " : "");
        strcat(text, list.at[i].name);
    }
    tn_named_free(list);
    return text;
}
static tn_error_info took(void) {
    tn_error_info e = {TN_OK, "", NULL, 0};
    tn_error_take(&e);
    return e;
}
/* Takes the error: its code, its line, and what its message contains. */
static bool says(tn_code code, int line, const char *text) {
    tn_error_info e = took();
    bool ok = e.code == code && (line == 0 || e.line == line) && strstr(e.message, text);
    if (!ok)
        printf("    got %s, line %d (expected %d): %s\n", tn_code_name(e.code), e.line, line,
               e.message);
    return ok;
}

static void own_module_is_made_called_and_freed(void) {
    tn_module *m = block_new(4);
    CHECK(m && tn_ok());
    CHECK_TEXT(names(tn_module_state_dict(m)),
               "scale steps linear1.weight linear1.bias linear2.weight linear2.bias");
    CHECK_TEXT(names(tn_module_parameters(m)),
               "scale linear1.weight linear1.bias linear2.weight linear2.bias");
    TN_SCOPE {
        tn_tensor *y = tn_forward(m, input(3, 4));
        CHECK(y && tn_size(y, 0) == 3 && tn_size(y, 1) == 4 && tn_needs_grad(y));
        CHECK(tn_backward(tnp_sum(y, tn_no_dims(), false, TN_NO_DTYPE)));
        CHECK(tn_grad_of(((block *)(void *)m)->scale) != NULL);
        CHECK(tn_grad_of(((tn_nn_linear_self *)(void *)((block *)(void *)m)->linear1)->weight) !=
              NULL);
    }
    tn_module_free(m);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void module_result_without_a_scope_belongs_to_the_caller(void) {
    tn_module *m = tn_sequential(block_new(4), tn_nn_identity(), tn_nn_relu());
    tn_tensor *x = input(3, 4), *y, *z;
    bool mode = tn_set_grad_mode(false);
    y = tn_forward(m, x);
    z = tn_forward(m, x);
    CHECK(y && z);
    tn_free(y);
    tn_free(x);
    tn_free(z);
    tn_set_grad_mode(mode);
    tn_module_free(m);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void identity_gives_a_tensor_of_its_own(void) {
    tn_module *m = tn_nn_identity();
    tn_tensor *x = input(2, 2), *y = tn_forward(m, x);
    CHECK(y && y != x && tn_same_storage(x, y));
    tn_free(y);
    CHECK_EQ(tn_numel(x), 4);
    tn_free(x);
    tn_module_free(m);
}

/* --- making and ownership --------------------------------------------------------------------- */

static void constructor_takes_its_modules_when_it_fails(void) {
    tn_module *m = tn_sequential(tn_nn_linear(3, 4), NULL, tn_nn_relu());
    CHECK(!m && says(TN_INVALID, __LINE__ - 1, "argument 'modules' has NULL at position 1"));
    m = tn_sequential(tn_nn_linear(3, 4), tn_nn_dropout(.p = 2), tn_nn_relu());
    CHECK(!m && says(TN_INVALID, __LINE__ - 1, "Dropout: p is 2"));
    m = tn_sequential(tn_nn_linear(3, -4));
    CHECK(!m && says(TN_INVALID, __LINE__ - 1, "Linear: out_features is -4"));
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void steps_on_a_broken_module_only_free(void) {
    block *s = (block *)tn_module_new(&block_row);
    TN_ADD_PARAM(s, scale, TN_DIMS(-1));
    CHECK(says(TN_INVALID, __LINE__ - 1, "Block:"));
    TN_ADD_CHILD(s, linear1, tn_nn_linear(2, 2));
    CHECK(tn_module_finish((tn_module *)s) == NULL && says(TN_INVALID, 0, "Block"));
    s = NULL;
    TN_ADD_CHILD(s, linear1, tn_nn_linear(2, 2));
    TN_ADD_PARAM(s, scale, TN_DIMS(1));
    CHECK(tn_module_finish((tn_module *)s) == NULL && tn_ok());
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void bad_parts_are_refused(void) {
    block *s = (block *)tn_module_new(&block_row);
    CHECK(!tn_part_tensor(&s->base, TN_PARAM, "a.b", NULL, TN_F32, TN_DIMS(1)) &&
          says(TN_INVALID, 0, "a.b"));
    tn_module_free((tn_module *)s);
    s = (block *)tn_module_new(&block_row);
    CHECK(TN_ADD_PARAM(s, scale, TN_DIMS(1)));
    CHECK(!TN_ADD_PARAM(s, scale, TN_DIMS(1)) && says(TN_INVALID, __LINE__, "\"scale\" already"));
    tn_module_free((tn_module *)s);
    s = (block *)tn_module_new(&block_row);
    CHECK(!TN_ADD_CHILD(s, linear1, NULL) && says(TN_INVALID, 0, "linear1"));
    tn_module_free((tn_module *)s);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void cycle_is_refused(void) {
    tn_module *a = tn_nn_module_list(TN_MODULES(tn_nn_relu())),
              *b = tn_nn_module_list(TN_MODULES(tn_module_hold(a)));
    CHECK(a && b);
    CHECK(!tn_module_append(a, tn_module_hold(b)) && says(TN_INVALID, 0, "cycle"));
    CHECK(!tn_module_append(a, tn_module_hold(a)) && says(TN_INVALID, 0, "cycle"));
    CHECK(tn_module_append(a, tn_nn_linear(1, 1)));
    CHECK_TEXT(names(tn_module_parameters(b)), "0.1.weight 0.1.bias");
    tn_module_free(a);
    tn_module_free(b);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* So many levels, begun from the innermost or from the outermost; NULL: refused. */
static tn_module *tower(int levels, bool downwards) {
    tn_module *top = tn_nn_identity(), *at = top;
    for (int i = 1; i < levels; i++) {
        tn_module *next = tn_nn_identity(), *outer = downwards ? at : next;
        if (!tn_module_append(outer, downwards ? next : top)) {
            tn_module_free(downwards ? top : outer);
            return NULL;
        }
        at = next;
        if (!downwards) top = next;
    }
    return top;
}
static tn_module *innermost(tn_module *m) {
    while (m && m->nparts) m = tn_part_child_of(m, 0);
    return m;
}
static void levels_are_counted_however_they_arise(void) {
    tn_module *high, *low, *copy, *outer;
    for (int down = 0; down < 2; down++) {
        CHECK((high = tower(TN_MODULE_DEPTH, down)) != NULL);
        CHECK(!tower(TN_MODULE_DEPTH + 1, down) && says(TN_INVALID, 0, "deeper than 100 levels"));
        copy = tn_module_copy(tn_part_child_of(high, 0)), outer = tn_nn_identity();
        CHECK(tn_module_append(outer, copy)); /* a copy lies under nothing */
        CHECK(!tn_sequential(outer) && says(TN_INVALID, 0, "deeper"));
        tn_module_free(high);
        high = tower(60, down), low = tower(41, !down);
        CHECK(!tn_module_append(innermost(high), tn_module_hold(low)) && tn_error_take(NULL));
        CHECK(tn_module_append(innermost(high), tower(40, down)));
        CHECK(tn_module_append(high, low) && tn_module_append(innermost(low), tower(58, down)));
        CHECK(!tn_module_append(innermost(low), tn_nn_relu()) && tn_error_take(NULL));
        tn_module_free(high);
    }
}

typedef struct {
    tn_module base;
    struct {
        int64_t d;
    } o;
} endless;
static void a_row_that_names_itself_is_refused(void) {
    static const tn_mrow row = {.name = "Endless",
                                .schema = "Endless(int d)",
                                .size = sizeof(endless),
                                .parts = "child inner = Endless(d)"};
    tn_value v[1];
    memset(v, 0, sizeof v);
    v[0].type = TN_T_INT, v[0].as.integer = 3;
    CHECK(tn_module_register(&row));
    CHECK(!tn_module_named("Endless", v, 1) && says(TN_INVALID, 0, "nested too deeply"));
    tn_module_forget(&row);
}

static void options_reach_the_parts(void) {
    tn_module *m = tn_nn_linear(3, 2, .bias = false, .dtype = TN_F64);
    tn_nn_linear_self *s = (tn_nn_linear_self *)(void *)m;
    CHECK(s && !s->bias && tn_dtype_of(s->weight) == TN_F64 && m->nparts == 2);
    tn_module_free(m);
    m = tn_nn_multihead_attention(4, 2, .dtype = TN_F64);
    CHECK_TEXT(names(tn_module_state_dict(m)),
               "in_proj_weight in_proj_bias out_proj.weight out_proj.bias");
    CHECK(tn_dtype_of(tn_module_tensor(m, "out_proj.weight")) == TN_F64);
    tn_module_free(m);
    CHECK(!tn_nn_conv2d(3, 4, TN_DIMS(3, 3), .groups = 2) &&
          says(TN_INVALID, __LINE__ - 1, "Conv2d: in_channels (3)"));
    CHECK(!tn_nn_conv2d(3, 4, TN_DIMS(3, 3, 3)) &&
          says(TN_INVALID, __LINE__ - 1, "argument 'kernel_size' has 3 elements, expected 1 or 2"));
    CHECK(!tn_nn_multihead_attention(5, 2) && says(TN_INVALID, __LINE__, "embed_dim (5)"));
    m = tn_nn_max_pool2d(TN_DIMS(2));
    CHECK_EQ(((tn_nn_max_pool2d_self *)(void *)m)->o.stride.at[0], 2);
    tn_module_free(m);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void modules_are_made_by_name(void) {
    tn_value v[3];
    tn_module *m;
    memset(v, 0, sizeof v);
    v[0].type = TN_T_INT, v[0].as.integer = 3;
    v[1].type = TN_T_INT, v[1].as.integer = 2;
    v[2].type = TN_T_BOOL, v[2].name = "bias", v[2].as.boolean = false;
    m = tn_module_named("Linear", v, 3);
    CHECK(m && m->row == tn_mrow_named("Linear") && !((tn_nn_linear_self *)(void *)m)->bias);
    tn_module_free(m);
    v[2].name = "bais";
    CHECK(!tn_module_named("Linear", v, 3) && says(TN_TYPE, __LINE__, "bais"));
    CHECK(!tn_module_named("Linear", v, 1) && says(TN_TYPE, __LINE__, "Linear"));
    CHECK(!tn_module_named("Linaer", v, 1) && says(TN_INVALID, __LINE__, "Linaer"));
}

/* A row with a schema, made known at run time. */
typedef struct {
    tn_module base;
    struct {
        double p;
        int64_t d;
    } o;
    tn_module *linear;
} gate;
static bool gate_build(tn_module *m) {
    gate *s = (gate *)(void *)m;
    return TN_ADD_CHILD(s, linear, tn_nn_linear(s->o.d, s->o.d));
}
static bool gate_forward(tn_mframe *f) {
    gate *s = (gate *)(void *)f->m;
    return (f->out[0] = tnp_mul_scalar(tn_forward(s->linear, tn_input(f, 0)), tn_float(s->o.p))) !=
           NULL;
}
static const tn_mrow gate_row = {.name = "Gate",
                                 .schema = "Gate(int d, float p=0.1)",
                                 .size = sizeof(gate),
                                 .parts = "scale(d, 2) if p > 0; buffer mask:bool(d)",
                                 .takes = "input(*, d)",
                                 .repr = "d, ?p=",
                                 .build = gate_build,
                                 .forward = gate_forward};
static const tn_mrow bad_row = {
    .name = "Bad", .schema = "Bad(int d)", .size = sizeof(gate), .parts = "weight(d"};

static void registered_rows_end_with_their_context(void) {
    tn_context *before = tn_context_current(), *c = tn_context_new(NULL);
    tn_context_use(c);
    CHECK(tn_module_register(&gate_row) && tn_mrow_named("Gate") == &gate_row);
    tn_context_use(before);
    tn_context_free(c);
    CHECK(tn_mrow_named("Gate") == NULL);
}
static void row_of_ones_own_is_registered(void) {
    tn_value v[2];
    tn_module *m, *copy;
    char *text;
    memset(v, 0, sizeof v);
    v[0].type = TN_T_INT, v[0].as.integer = 3;
    v[1].type = TN_T_FLOAT, v[1].name = "p", v[1].as.real = 0.5;
    CHECK(tn_module_register(&gate_row));
    CHECK(!tn_module_register(&gate_row) && says(TN_INVALID, 0, "the row is already registered"));
    CHECK(!tn_module_register(&bad_row) && says(TN_INVALID, 0, "weight(d"));
    m = tn_module_named("Gate", v, 2);
    CHECK(m != NULL);
    text = tn_module_text(m);
    CHECK_TEXT(
        text, "Gate(\n  3, p=0.5\n  (linear): Linear(in_features=3, out_features=3, bias=True)\n)");
    if (text) tn_alloc_free(text, strlen(text) + 1);
    CHECK_TEXT(names(tn_module_state_dict(m)), "scale mask linear.weight linear.bias");
    CHECK(tn_dtype_of(tn_module_tensor(m, "mask")) == TN_BOOL);
    TN_SCOPE {
        CHECK(tn_forward(m, input(2, 3)) != NULL);
        CHECK(!tn_forward(m, input(2, 4)) &&
              says(TN_INVALID, __LINE__ - 1, "Gate: input: expected (*, 3), got float32 (2, 4)"));
    }
    copy = tn_module_copy(m);
    CHECK(copy && ((gate *)(void *)copy)->o.p == 0.5 &&
          ((gate *)(void *)copy)->linear != ((gate *)(void *)m)->linear);
    tn_module_free(copy);
    tn_module_free(m);
    tn_module_forget(&gate_row);
    CHECK(tn_mrow_named("Gate") == NULL && tn_ok());
    CHECK_EQ(tn_memory().live_tensors, 0);
}

/* --- errors lead home ------------------------------------------------------------------------- */

static void errors_name_the_module_path_and_the_users_line(void) {
    tn_module *m = tn_sequential(tn_nn_relu(), tn_sequential(tn_nn_identity(), block_new(4)));
    TN_SCOPE {
        CHECK(!tn_forward(m, input(3, 5)) &&
              says(TN_INVALID, __LINE__ - 1,
                   "1.1.linear1 (Linear): input: expected (*, 4), got float32 (3, 5)"));
        CHECK(!tn_forward(m, NULL) &&
              says(TN_INVALID, __LINE__ - 1, "Sequential: argument 'input' is NULL"));
        CHECK(!tn_forward(NULL, input(3, 5)) && says(TN_INVALID, __LINE__, "module is NULL"));
        CHECK(tn_forward(m, input(3, 4)) != NULL);
    }
    {
        tn_module *list = tn_nn_module_list(TN_MODULES(tn_nn_relu())), *loss = tn_nn_mse_loss();
        TN_SCOPE {
            CHECK(!tn_forward(list, input(1, 1)) &&
                  says(TN_UNSUPPORTED, __LINE__ - 1, "ModuleList: has no forward"));
            CHECK(!tn_forward(loss, input(1, 1)) && says(TN_INVALID, __LINE__, "own forward"));
            CHECK(tn_nn_mse_loss_forward(loss, input(1, 2), input(1, 2)) != NULL);
            CHECK(!tn_nn_mse_loss_forward(list, input(1, 2), input(1, 2)) &&
                  says(TN_INVALID, __LINE__ - 1, "another kind"));
        }
        tn_module_free(list);
        tn_module_free(loss);
    }
    tn_module_free(m);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static int told;
static void on_error(const tn_error_info *e, void *user) {
    (void)user;
    told += strstr(e->message, "1 (Linear)") != NULL;
}
static void handler_hears_once_after_the_chain_is_left(void) {
    tn_module *m = tn_sequential(tn_nn_relu(), tn_nn_linear(4, 2));
    told = 0;
    tn_set_error_handler(on_error, NULL);
    TN_SCOPE {
        CHECK(!tn_forward(m, input(2, 3)));
    }
    tn_set_error_handler(NULL, NULL);
    CHECK_EQ(told, 1);
    CHECK(tn_error_take(NULL) && tn_path_current() == NULL);
    tn_module_free(m);
}

/* --- the tree --------------------------------------------------------------------------------- */

static void shared_parts_are_listed_as_torch_does(void) {
    tn_module *l = tn_nn_linear(2, 2), *m = tn_sequential(tn_module_hold(l), tn_nn_relu(), l);
    CHECK_TEXT(names(tn_module_parameters(m)), "0.weight 0.bias");
    CHECK_TEXT(names(tn_module_state_dict(m)), "0.weight 0.bias 2.weight 2.bias");
    CHECK_EQ(tn_parameters(m).n, 2);
    tn_module_free(m);
    m = tn_sequential(tn_nn_embedding(5, 3), tn_nn_linear(3, 5, .bias = false));
    CHECK(tn_module_set_tensor(m, "1.weight", tn_module_tensor(m, "0.weight")));
    CHECK_TEXT(names(tn_module_parameters(m)), "0.weight");
    CHECK(!tn_module_set_tensor(m, "1.x", NULL) && says(TN_INVALID, 0, "1.x"));
    CHECK(!tn_module_tensor(m, "2.weight") && says(TN_INVALID, 0, "2.weight"));
    CHECK(tn_module_child(m, "1") == tn_part_child_of(m, 1) && tn_module_child(m, "") == m);
    tn_module_free(m);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static bool count_modules(tn_module *m, const char *path, void *user) {
    char *text = (char *)user;
    (void)m;
    strcat(text, path);
    strcat(text, ";");
    return true;
}
static void walk_visits_each_module_once(void) {
    char text[200] = "";
    tn_module *shared = tn_nn_relu(),
              *m = tn_sequential(tn_module_hold(shared), block_new(2), shared);
    CHECK(tn_module_walk(m, count_modules, text));
    CHECK_TEXT(text, ";0;1;1.linear1;1.linear2;");
    tn_module_train(m, false);
    CHECK(!tn_module_child(m, "1.linear2")->training);
    tn_module_free(m);
}

static double first(const tn_tensor *t) {
    double all[64];
    CHECK(tn_numel(t) <= 64 && tn_read_f64(t, all, tn_numel(t)));
    return all[0];
}

static void load_is_all_or_nothing(void) {
    tn_module *a = tn_sequential(tn_nn_linear(2, 3), tn_nn_batch_norm1d(3)),
              *b = tn_sequential(tn_nn_linear(2, 3), tn_nn_batch_norm1d(3));
    tn_named_list state = tn_module_state_dict(a), here = tn_module_state_dict(b);
    double before = first(here.at[0].tensor);
    void *same = here.at[0].tensor;
    CHECK_EQ(state.n, 7);
    CHECK(!tn_module_load_at(__FILE__, __LINE__, b, state.at, 6, true) &&
          says(TN_INVALID, __LINE__ - 1, "missing (1): \"1.num_batches_tracked\""));
    CHECK(first(here.at[0].tensor) == before);
    {
        tn_named bad[8];
        memcpy(bad, state.at, sizeof(tn_named) * 7);
        bad[7].name = "extra";
        bad[7].tensor = state.at[0].tensor;
        CHECK(!tn_module_load_at(__FILE__, __LINE__, b, bad, 8, true) &&
              says(TN_INVALID, 0, "unexpected (1): \"extra\""));
        bad[6].name = "0.weight2";
        bad[5].tensor = state.at[0].tensor;
        CHECK(!tn_module_load_at(__FILE__, __LINE__, b, bad, 7, true) &&
              says(TN_INVALID, 0, "size mismatch for 1.running_var"));
        bad[1].name = "0.weight";
        CHECK(!tn_module_load_at(__FILE__, __LINE__, b, bad, 7, true) &&
              says(TN_INVALID, 0, "given twice"));
    }
    CHECK(first(here.at[0].tensor) == before);
    CHECK(tn_module_load(b, state));
    CHECK(first(here.at[0].tensor) == first(state.at[0].tensor) && here.at[0].tensor == same);
    CHECK(tn_module_load_at(__FILE__, __LINE__, b, state.at, 3, false));
    tn_named_free(state);
    tn_named_free(here);
    tn_module_free(a);
    tn_module_free(b);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void to_converts_in_place_and_keeps_ties(void) {
    tn_module *m = tn_sequential(tn_nn_linear(2, 2), tn_nn_batch_norm1d(2));
    tn_tensor *w = tn_module_tensor(m, "0.weight");
    double before = first(w);
    TN_SCOPE {
        CHECK(tn_backward(tnp_sum(tn_forward(m, input(4, 2)), tn_no_dims(), false, TN_NO_DTYPE)));
    }
    CHECK(tn_module_to(m, TN_F64, TN_NO_DEVICE));
    CHECK(tn_module_tensor(m, "0.weight") == w && tn_dtype_of(w) == TN_F64 && first(w) == before);
    CHECK(tn_dtype_of(tn_grad_of(w)) == TN_F64 && tn_needs_grad(w) && tn_is_leaf(w));
    CHECK(tn_dtype_of(tn_module_tensor(m, "1.num_batches_tracked")) == TN_I64);
    CHECK(tn_item_int(tn_module_tensor(m, "1.num_batches_tracked")) == 1);
    CHECK(!tn_module_to(m, TN_I64, TN_NO_DEVICE) && says(TN_TYPE, __LINE__, "int64"));
    TN_SCOPE {
        CHECK(tn_forward(m, tnp_to_dtype(input(4, 2), TN_F64, false, false)) != NULL);
    }
    tn_module_free(m);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void copy_is_deep_and_keeps_sharing(void) {
    tn_module *shared = tn_nn_linear(2, 2),
              *m = tn_sequential(tn_module_hold(shared),
                                 tn_nn_conv2d(1, 1, TN_DIMS(3), .padding = TN_DIMS(1)), shared);
    tn_module *c = tn_module_copy(m);
    tn_tensor *w = tn_module_tensor(m, "0.weight"), *v = tn_module_tensor(c, "0.weight");
    CHECK(c && w != v && !tn_same_storage(w, v) && first(w) == first(v) && tn_needs_grad(v));
    CHECK(tn_part_child_of(c, 0) == tn_part_child_of(c, 2) && tn_part_child_of(c, 0) != shared);
    CHECK(((tn_nn_linear_self *)(void *)tn_part_child_of(c, 0))->weight == v);
    tn_module_free(m);
    TN_SCOPE { /* the options' lists are the copy's own */
        static float image[16];
        CHECK(tn_forward(tn_part_child_of(c, 1), tn_from(image, TN_DIMS(1, 1, 4, 4), TN_F32)) !=
              NULL);
    }
    tn_module_free(c);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void modules_print_as_torch_prints_them(void) {
    char *text;
    tn_module *m = tn_nn_module_list(TN_MODULES(tn_nn_linear(2, 2), tn_nn_linear(2, 2),
                                                tn_sequential(tn_nn_relu(.inplace = true))));
    text = tn_module_text(m);
    CHECK_TEXT(text, "ModuleList(\n  (0-1): 2 x Linear(in_features=2, out_features=2, bias=True)\n "
                     " (2): Sequential(\n"
                     "    (0): ReLU(inplace=True)\n  )\n)");
    if (text) tn_alloc_free(text, strlen(text) + 1);
    tn_module_free(m);
}

/* --- hooks ------------------------------------------------------------------------------------ */

static int before_runs, released;
static bool before_hook(tn_mframe *f, void *user) {
    (void)user;
    before_runs += tn_input(f, 0) != NULL && f->out[0] == NULL;
    return true;
}
static bool double_hook(tn_mframe *f, void *user) {
    (void)user;
    return (f->out[0] = tnp_mul_scalar(f->out[0], tn_int(2))) != NULL;
}
static bool failing_hook(tn_mframe *f, void *user) {
    (void)user;
    f->out[0] = (tn_tensor *)(uintptr_t)64; /* is not read */
    return tn_error_set(TN_INVALID, NULL, 0, "no more");
}
static void release_hook(void *user) { released += user == (void *)&released; }

static void hooks_run_before_and_after(void) {
    tn_module *m = tn_sequential(tn_nn_relu()), *relu = tn_part_child_of(m, 0);
    int64_t one = tn_module_hook(relu, TN_BEFORE_FORWARD, before_hook, NULL, NULL);
    int64_t two = tn_module_hook(relu, TN_AFTER_FORWARD, double_hook, &released, release_hook),
            three;
    CHECK(one && two && one != two);
    TN_SCOPE {
        CHECK_EQ(tn_item(tnp_max(tn_forward(m, input(2, 4)))), 6);
    }
    CHECK_EQ(before_runs, 1);
    CHECK(tn_module_hook_remove(relu, two));
    CHECK_EQ(released, 1);
    CHECK(!tn_module_hook_remove(relu, two) && says(TN_INVALID, 0, "does not exist"));
    three = tn_module_hook(relu, TN_BEFORE_FORWARD, failing_hook, NULL, NULL);
    TN_SCOPE {
        CHECK(!tn_forward(m, input(2, 4)) && says(TN_INVALID, __LINE__, "0 (ReLU): no more"));
    }
    CHECK(three && tn_module_hook_remove(relu, three));
    tn_module_hook(relu, TN_AFTER_FORWARD, double_hook, &released, release_hook);
    tn_module_free(m);
    CHECK_EQ(released, 2);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static int added_runs;
static bool counting_hook(tn_mframe *f, void *user) { return (void)f, (void)user, ++added_runs; }
static bool adding_hook(tn_mframe *f, void *user) {
    int64_t *last = (int64_t *)user, before = *last;
    CHECK(tn_module_hook_remove(f->m, before));
    CHECK(tn_module_hook(f->m, TN_AFTER_FORWARD, counting_hook, NULL, NULL) > before);
    return (*last = tn_module_hook(f->m, TN_BEFORE_FORWARD, counting_hook, NULL, NULL)) > before;
}
static void hooks_that_a_hook_adds_wait_for_the_next_forward(void) {
    tn_module *m = tn_nn_relu();
    int64_t first = tn_module_hook(m, TN_BEFORE_FORWARD, adding_hook, NULL, NULL), last;
    CHECK(first && tn_module_hook_remove(m, first));
    first = tn_module_hook(m, TN_BEFORE_FORWARD, adding_hook, &last, NULL);
    last = tn_module_hook(m, TN_BEFORE_FORWARD, counting_hook, NULL, NULL);
    TN_SCOPE {
        CHECK(first > 1 && tn_forward(m, input(2, 4)) && added_runs == 0);
        CHECK(tn_module_hook_remove(m, first) && tn_forward(m, input(2, 4)) && added_runs == 2);
    }
    tn_module_free(m);
}

/* --- several results -------------------------------------------------------------------------- */

static void lstm_returns_its_states(void) {
    tn_module *m = tn_nn_lstm(3, 4, .num_layers = 2, .batch_first = true);
    CHECK_TEXT(names(tn_module_state_dict(m)), "weight_ih_l0 weight_hh_l0 bias_ih_l0 bias_hh_l0 "
                                               "weight_ih_l1 weight_hh_l1 bias_ih_l1 bias_hh_l1");
    TN_SCOPE {
        static float data[30];
        tn_tensor *x = tn_from(data, TN_DIMS(2, 5, 3), TN_F32);
        tn_output_h_n_c_n r = tn_nn_lstm_forward(m, x), again;
        CHECK(r.output && tn_size(r.output, 1) == 5 && tn_size(r.h_n, 0) == 2 &&
              tn_size(r.c_n, 2) == 4);
        again = tn_nn_lstm_forward(m, x, .h = r.h_n, .c = r.c_n);
        CHECK(again.output != NULL);
        again = tn_nn_lstm_forward(m, x, .h = r.h_n);
        CHECK(!again.output && says(TN_INVALID, __LINE__ - 1, "LSTM: hx: h and c"));
        again = tn_nn_lstm_forward(m, x, .h = r.output, .c = r.output);
        CHECK(!again.output && says(TN_INVALID, __LINE__ - 1, "LSTM: hx: expected a batch of"));
        again = tn_nn_lstm_forward(m, x, .h = x, .c = x);
        CHECK(!again.output &&
              says(TN_INVALID, __LINE__ - 2, "LSTM: h: expected (2, *, 4), got float32 (2, 5, 3)"));
    }
    tn_module_free(m);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void attention_gives_weights_only_when_asked(void) {
    tn_module *m = tn_nn_multihead_attention(4, 2);
    TN_SCOPE {
        static float data[24];
        tn_tensor *x = tn_from(data, TN_DIMS(3, 2, 4), TN_F32);
        tn_attn_output_attn_output_weights r = tn_nn_multihead_attention_forward(m, x, x, x);
        CHECK(r.attn_output && tn_size(r.attn_output, 2) == 4 &&
              tn_ndim(r.attn_output_weights) == 3);
        r = tn_nn_multihead_attention_forward(m, x, x, x, .need_weights = false);
        CHECK(r.attn_output && !r.attn_output_weights && tn_ok());
        r = tn_nn_multihead_attention_forward(m, x, x, tnp_select(x, 1, 0));
        CHECK(!r.attn_output && says(TN_INVALID, __LINE__ - 1, "MultiheadAttention: "));
    }
    tn_module_free(m);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void module_file_is_loaded_back(void) {
    tn_module *a = tn_sequential(tn_nn_linear(2, 3), tn_nn_batch_norm1d(3)),
              *b = tn_sequential(tn_nn_linear(2, 3), tn_nn_batch_norm1d(3));
    CHECK(tn_module_save_file(a, "/tmp/tn_nn_tree.safetensors"));
    CHECK(tn_module_load_file(b, "/tmp/tn_nn_tree.safetensors"));
    CHECK(first(tn_module_tensor(a, "0.weight")) == first(tn_module_tensor(b, "0.weight")));
    tn_module *narrow = tn_sequential(tn_nn_linear(2, 2));
    CHECK(
        !tn_module_load_file(narrow, "/tmp/tn_nn_tree.safetensors") &&
        says(TN_INVALID, __LINE__ - 1, "Sequential from '/tmp/tn_nn_tree.safetensors': the state"));
    tn_module_free(narrow);
    remove("/tmp/tn_nn_tree.safetensors");
    CHECK(!tn_module_load_file(b, "/tmp/tn_nn_tree.safetensors") &&
          says(TN_FILE, __LINE__ - 1, "Sequential: "));
    tn_module_free(a);
    tn_module_free(b);
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static const check_test tests[] = {
    CHECK_TEST(own_module_is_made_called_and_freed),
    CHECK_TEST(module_result_without_a_scope_belongs_to_the_caller),
    CHECK_TEST(identity_gives_a_tensor_of_its_own),
    CHECK_TEST(constructor_takes_its_modules_when_it_fails),
    CHECK_TEST(steps_on_a_broken_module_only_free),
    CHECK_TEST(bad_parts_are_refused),
    CHECK_TEST(cycle_is_refused),
    CHECK_TEST(levels_are_counted_however_they_arise),
    CHECK_TEST(a_row_that_names_itself_is_refused),
    CHECK_TEST(options_reach_the_parts),
    CHECK_TEST(modules_are_made_by_name),
    CHECK_TEST(registered_rows_end_with_their_context),
    CHECK_TEST(row_of_ones_own_is_registered),
    CHECK_TEST(errors_name_the_module_path_and_the_users_line),
    CHECK_TEST(handler_hears_once_after_the_chain_is_left),
    CHECK_TEST(shared_parts_are_listed_as_torch_does),
    CHECK_TEST(walk_visits_each_module_once),
    CHECK_TEST(load_is_all_or_nothing),
    CHECK_TEST(to_converts_in_place_and_keeps_ties),
    CHECK_TEST(copy_is_deep_and_keeps_sharing),
    CHECK_TEST(modules_print_as_torch_prints_them),
    CHECK_TEST(hooks_run_before_and_after),
    CHECK_TEST(hooks_that_a_hook_adds_wait_for_the_next_forward),
    CHECK_TEST(lstm_returns_its_states),
    CHECK_TEST(attention_gives_weights_only_when_asked),
    CHECK_TEST(module_file_is_loaded_back),
};
int main(int argc, char **argv) {
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
