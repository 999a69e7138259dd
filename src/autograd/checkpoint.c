/* checkpoint.c - a function whose intermediate results are dropped and made again in backward.
 * It is a custom function (function.c); a graph of its gradients is refused. */
#include "autograd.h"

typedef struct checkpoint {
    tn_checkpoint_fn forward;
    void *user;
    tni_block *b;
    uint32_t autocast;
    tni_autocast_fn casts; /* of the forward's thread: the backward's may have set none */
    void (*casts_drop)(tni_block *b);
    uint8_t rng[TN_GENERATOR_BYTES];
} checkpoint;

static bool checkpoint_forward(tn_function *f, tn_tensor *const *in, int nin, tn_tensor **out) {
    checkpoint *c = (checkpoint *)f->user;
    int64_t mark = tni_begin(f->b);
    tn_generator *g = tni_generator_default(f->b);
    if (mark < 0 || !g) {
        tni_end(f->b, mark);
        return false;
    }
    /* The generator as it is before forward: drawing again gives the same numbers. */
    tn_generator_state(g, c->rng);
    for (int i = 0; i < nin; i++)
        if (!tn_function_save(f, in[i])) {
            tni_end(f->b, mark);
            return false;
        }
    out[0] = c->forward(in, nin, c->user);
    if (out[0] && out[0]->depth > mark) tni_move(f->b, out[0], mark);
    tni_end(f->b, mark);
    return out[0] != NULL;
}

/* Runs forward again, recording, on detached inputs, and backward through it: leaves that it uses
 * get their .grad. b is of the thread that runs backward. */
static bool checkpoint_again(tni_block *b, tn_function *f, tn_tensor *seed, tn_tensor **grad_in,
                             tn_tensor **in) {
    checkpoint *c = (checkpoint *)f->user;
    tn_backward_args a;
    uint32_t autocast;
    bool kept;
    memset(&a, 0, sizeof a);
    /* New headers on the saved inputs, as leaves: the inner backward ends there. */
    for (int i = 0; i < f->nsaved; i++) {
        tn_tensor *saved = tn_function_saved(f, i);
        if (!saved || !(in[i] = tni_share(b, saved->storage, saved))) return false;
        if (saved->flags & TNI_REQUIRES) in[i]->flags |= TNI_REQUIRES | TNI_LEAF;
    }
    /* The second forward is recorded, in the autocast of the first, and its graph used at once. */
    tni_state(b)->no_grad = 0;
    autocast = tni_autocast_modes(b);
    kept = tni_calls(b)->casts_off;
    tni_calls(b)->casts_off = true; /* its casts end with it */
    if (c->autocast) {
        tni_calls(b)->autocast = c->casts;
        tni_calls(b)->casts_drop = c->casts_drop;
    }
    if (c->autocast != autocast) tni_autocast_set(b, c->autocast);
    a.t = c->forward(in, (int)f->nsaved, c->user);
    if (c->autocast != autocast) tni_autocast_set(b, autocast);
    tni_calls(b)->casts_off = kept;
    a.gradient = seed;
    if (!a.t || !tn_backward_at(b->place_file, b->place_line, &a)) return false;
    for (int i = 0; i < f->nsaved; i++)
        if (in[i]->grad && !(grad_in[i] = tni_share(b, in[i]->grad->storage, in[i]->grad)))
            return false;
    return true;
}

static bool checkpoint_backward(tn_function *f, tn_tensor *const *grad_out, tn_tensor **grad_in) {
    checkpoint *c = (checkpoint *)f->user;
    tni_block *b = tni_here();
    tn_generator *g = tni_generator_default(b); /* forward has made it */
    uint8_t no_grad, now[TN_GENERATOR_BYTES];
    tn_tensor *in[64];
    bool ok;
    no_grad = tni_state(b)->no_grad;
    if (!no_grad)
        return tni_error(b, TN_UNSUPPORTED,
                         "checkpoint: create_graph is not supported through a checkpoint");
    /* Draws of the second forward do not count. */
    tn_generator_state(g, now);
    tn_generator_set_state(g, c->rng);
    ok = checkpoint_again(b, f, grad_out[0], grad_in, in);
    tn_generator_set_state(g, now);
    tni_state(b)->no_grad = no_grad;
    return ok;
}

static void checkpoint_release(void *user) {
    checkpoint *c = (checkpoint *)user;
    tni_put(tni_here(), c->b, c, (int64_t)sizeof *c);
}

TN_API tn_tensor *tn_checkpoint_at(const char *file, int line, tn_checkpoint_fn forward,
                                   tn_tensors in, void *user) {
    static const tn_function_row row = {"checkpoint", 1, checkpoint_forward, checkpoint_backward,
                                        checkpoint_release};
    tni_block *b = tni_here();
    tn_tensor *out = NULL;
    checkpoint *c;
    if (!tni_enter(b, file, line)) return NULL;
    /* The custom function owns c from here on; its release frees it. */
    if (in.n > 64)
        tni_error(b, TN_INVALID, "checkpoint: expected at most 64 inputs");
    else
        tni_list_given(b, in, "checkpoint");
    c = b->failed ? NULL : (checkpoint *)tni_need(b, (int64_t)sizeof *c);
    if (!c) {
        tni_leave(b, false);
        return (tn_tensor *)NULL;
    }
    c->forward = forward;
    c->user = user;
    c->b = b;
    c->autocast = tni_autocast_modes(b);
    c->casts = tni_calls(b)->autocast;
    c->casts_drop = tni_calls(b)->casts_drop;
    return tn_function_call_at(file, line, &row, in, c, &out) ? out : NULL;
}
