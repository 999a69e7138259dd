/* snippet.h - what stands around the fragments of C in the documents (extract.awk). */
#include "tensor_nn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names that a fragment may use; those that it declares itself hide them. */
static TNI_UNUSED tn_tensor *x, *y, *z, *w, *b, *v, *image, *logits, *labels, *mask, *index_, *loss,
    *out;
static TNI_UNUSED tn_module *net;
static TNI_UNUSED tn_optimizer *opt;
static TNI_UNUSED tn_generator *g;
static TNI_UNUSED tn_dataset *dataset;

static void snippet_begin(void) {
    const int64_t of_labels[] = {2, 0, 1, 1}, of_index[] = {1, 0, 1};
    tn_manual_seed(0);
    x = tn_reshape(tn_arange(6, .dtype = TN_F32), TN_DIMS(2, 3));
    y = tn_ones(TN_DIMS(2, 3));
    z = tn_zeros(TN_DIMS(2, 3));
    w = tn_requires_grad(tn_ones(TN_DIMS(3)));
    b = tn_requires_grad(tn_zeros(TN_DIMS(2)));
    v = tn_linspace(1, 3, 3);
    image = tn_rand(TN_DIMS(4, 3, 8, 8));
    logits = tn_randn(TN_DIMS(4, 3));
    labels = tn_from_i64(of_labels, TN_DIMS(4));
    index_ = tn_from_i64(of_index, TN_DIMS(3));
    mask = tn_gt_scalar(x, 2);
    loss = tn_sum(tn_mul(w, w));
    net = tn_sequential(tn_nn_linear(3, 4), tn_nn_relu(), tn_nn_linear(4, 3));
    opt = tn_optim_sgd(tn_parameters(net), .lr = 0.1);
    g = tn_generator_new(1);
    dataset = tn_dataset_tensors(TN_LIST(image, labels));
    tn_manual_seed(0);
}

/* Runs a fragment in a scope; prints what it left: an error, a mode, a tensor, unless it is an
 * expression, whose value is nobody's. Returns whether it left something. */
static int snippet(void (*fragment)(void), const char *where, bool expression) {
    const int64_t before = tn_memory().live_tensors, mark = tn_scope_begin();
    tn_error_info e;
    int left = 0;
    snippet_begin();
    fragment();
    fflush(stdout);
    if (tn_error_take(&e)) {
        printf("%s:%d: %s: %s\n", e.file ? e.file : where, e.line, tn_code_name(e.code), e.message);
        left = 1;
    }
    if (!tn_grad_mode()) printf("%s: grad mode is off\n", where), left = 1;
    tn_optimizer_free(opt);
    tn_module_free(net);
    tn_generator_free(g);
    tn_dataset_free(dataset);
    tn_scope_end(mark);
    const int more = (int)(tn_memory().live_tensors - before);
    if (!expression && more) printf("%s: %d tensors are left\n", where, more), left = 1;
    return left;
}
