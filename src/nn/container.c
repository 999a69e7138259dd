/* container.c - modules made of modules: Sequential, ModuleList. */
#include "nn.h"

/* Children 0, 1, .. in the order given. The argument list keeps its own count until tn_module_make
 * drops it, so each child is held once more for the tree. */
static bool container_build(tn_module *m, tn_modules given) {
    for (int64_t i = 0; i < given.n; i++)
        if (!tn_module_append_at(NULL, 0, m, tn_module_hold(given.at[i]))) return false;
    return true;
}

static bool sequential_build(tn_module *m) {
    TN_SELF(sequential, s, m);
    return container_build(m, s->o.modules);
}
/* A result is freed as soon as the next child has read it, so without recording the peak is two
 * activations and not all of them. The tape keeps what it needs by itself. */
static bool sequential_forward(tn_mframe *f) {
    TN_FORWARD(sequential, s, a, f);
    tn_tensor *x = a->input;
    for (int i = 0; i < s->base.nparts && x; i++) {
        tn_module *child = tn_part_child_of(&s->base, i);
        /* An absent child passes its input on. */
        tn_tensor *y = child ? tni_forward_child(f, child, x) : x;
        /* Neither the caller's input nor a result that the child handed through is freed. */
        if (x != a->input && y && y != x) tn_free(x);
        x = y;
    }
    return (f->out[0] = x) != NULL;
}
/* Calls its children one after the other; takes them. */
TN_MODULE(sequential, "Sequential(Module[] modules)",
          TN_DOC(.shapes = "input -> as the last child gives it",
                 .example = "tn_module *m = tn_sequential(tn_nn_linear(4, 8), tn_nn_relu());"),
          .build = sequential_build, .forward = sequential_forward)

static bool module_list_build(tn_module *m) {
    TN_SELF(module_list, s, m);
    return container_build(m, s->o.modules);
}
/* A list of children under the names 0, 1, ..; no forward. tn_module_append adds one. */
TN_MODULE(module_list, "ModuleList(Module[] modules)",
          TN_DOC(.example = "tn_nn_module_list(TN_MODULES(one, two))",
                 .differs = "parameter modules: an empty list is written {}"),
          .repr = "[]", .build = module_list_build)

TN_PRIV tn_module *tni_module_list(void) {
    tn_module *none = NULL;
    return tnp_nn_module_list(tn_modules_of(&none, 0), TN_NO_DTYPE, TN_NO_DEVICE);
}
