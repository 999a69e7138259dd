/* backward.c - the public entries of backward: arguments checked, errors placed. The walk is
 * in engine.c. */
#include "autograd.h"

/* Whether one of them is a sample of a batch. */
static bool backward_batched(tn_tensors l) {
    for (int64_t i = 0; i < l.n; i++)
        if (l.at[i] && l.at[i]->flags & TNI_BATCHED) return true;
    return false;
}

TN_API bool tn_backward_at(const char *file, int line, const tn_backward_args *a) {
    return tn_backward_all_at(file, line, tn_tensors_of(&a->t, 1), &a->gradient, a);
}

TN_API bool tn_backward_all_at(const char *file, int line, tn_tensors outputs,
                               tn_tensor *const *seeds, const tn_backward_args *options) {
    static const tn_backward_args plain = {NULL, {NULL, 0}, false, false, NULL};
    /* Without inputs all leaves gather .grad; with them, only these do. */
    const tn_backward_args *a = options ? options : &plain;
    tni_block *b = tni_here();
    tni_wanted w = {a->inputs, NULL, true, true};
    bool ok;
    if (!tni_enter(b, file, line)) return false;
    ok = tni_list_given(b, outputs, "backward") && tni_list_given(b, a->inputs, "inputs");
    if (ok &&
        (backward_batched(outputs) ||
         (seeds && backward_batched(tn_tensors_of((tn_tensor **)(uintptr_t)seeds, outputs.n)))))
        ok =
            tni_error(b, TN_UNSUPPORTED,
                      "backward of one sample of a batch: use tn_grads, whose results are batched");
    /* .grad belongs to leaves. */
    for (int64_t i = 0; ok && i < a->inputs.n; i++)
        if (!a->inputs.at[i] || a->inputs.at[i]->node)
            ok = tni_error(b, TN_AUTOGRAD, "backward: input %lld is not a leaf", (long long)i);
    ok = ok && tni_engine_run(b, outputs, seeds, a->retain_graph, a->create_graph,
                              a->inputs.n > 0 ? &w : NULL);
    /* An error of a row has named it already; others are marked as backward's. */
    if (!ok && !b->error_told) {
        b->error_told = true;
        tni_error_more(b, "\n  in backward");
    }
    return tni_leave(b, ok);
}

TN_API bool tn_grads_at(const char *file, int line, tn_tensors outputs, tn_tensors inputs,
                        tn_tensor **grads, const tn_grads_options *options) {
    static const tn_grads_options plain = {NULL, false, false, false};
    const tn_grads_options *o = options ? options : &plain;
    tni_block *b = tni_here();
    tni_wanted w = {inputs, grads, o->allow_unused, false};
    bool ok;
    if (!tni_enter(b, file, line)) return false;
    /* All NULL until everything has succeeded. */
    for (int64_t i = 0; i < inputs.n; i++) grads[i] = NULL;
    ok = tni_list_given(b, outputs, "outputs") && tni_list_given(b, inputs, "inputs");
    if (ok && tni_calls(b)->batch && (backward_batched(outputs) || backward_batched(inputs)))
        ok = tni_calls(b)->batch->grads(b, outputs, inputs, grads, o);
    else
        ok = ok && tni_engine_run(b, outputs, o->seeds, o->retain_graph, o->create_graph, &w);
    return tni_leave(b, ok);
}
