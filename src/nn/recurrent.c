/* recurrent.c - LSTM. Its parts are counted, so they are made by calls and read by number. */
#include "nn.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/linalg.h"
#include "../api/ops/shape.h"

#include <math.h>

/* Part k of layer l, direction d (1: backwards): k = 0 weight_ih (4H, I), 1 weight_hh (4H,
 * H), 2 bias_ih (4H), 3 bias_hh (4H). NULL for an absent bias. lstm_build registers them in
 * this order, torch's. */
static tn_tensor *lstm_part(const tn_nn_lstm_self *s, int64_t l, int d, int k) {
    int64_t each = s->o.bias ? 4 : 2, at = (l * (s->o.bidirectional ? 2 : 1) + d) * each + k;
    return k < each ? tn_part_tensor_of(&s->base, (int)at) : NULL;
}

static bool lstm_build(tn_module *m) {
    static const char *const stem[] = {"weight_ih_l", "weight_hh_l", "bias_ih_l", "bias_hh_l"};
    TN_SELF(lstm, s, m);
    int64_t h = s->o.hidden_size, layers = s->o.num_layers;
    int dirs = s->o.bidirectional ? 2 : 1;
    /* The upper bounds keep 4 * h, 2 * h and the count of parts within their types. */
    if (h < 1 || s->o.input_size < 1 || layers < 1 || layers > 100000 || h > INT64_MAX / 8)
        return tni_nn_error(TN_INVALID, "input_size, hidden_size and num_layers must be positive");
    if (s->o.dropout < 0 || s->o.dropout > 1)
        return tni_nn_error(TN_INVALID, "dropout is %g, expected a value in [0, 1]", s->o.dropout);
    for (int64_t l = 0; l < layers; l++)
        for (int d = 0; d < dirs; d++)
            for (int k = 0; k < (s->o.bias ? 4 : 2); k++) {
                char name[48];
                /* Layers above the first read the outputs of all directions below; a bias
                 * is (4H) alone. */
                int64_t shape[2] = {4 * h, k == 1 ? h : l ? dirs * h : s->o.input_size};
                snprintf(name, sizeof name, "%s%lld%s", stem[k], (long long)l, d ? "_reverse" : "");
                if (!tn_part_tensor(m, TN_PARAM, name, NULL, TN_NO_DTYPE,
                                    tn_ints_of(shape, k < 2 ? 2 : 1)))
                    return false;
            }
    return true;
}

/* torch's reset_parameters: all parts, the biases as well, within 1 / sqrt(H). */
static bool lstm_reset(tn_module *m) {
    TN_SELF(lstm, s, m);
    double bound = 1 / sqrt((double)s->o.hidden_size);
    for (int i = 0; i < m->nparts; i++)
        if (!tn_nn_init_uniform_(tn_part_tensor_of(m, i), -bound, bound)) return false;
    return true;
}

/* One time step (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000): gates
 * (N, 4H) in torch's order i, f, g, o; c = f * c + i * g; h = o * tanh(c), both (N, H). */
static bool lstm_step(tn_tensor *gates, tn_tensor **h, tn_tensor **c) {
    tn_list g = tnp_chunk(gates, 4, -1);
    tn_tensor *keep, *add;
    if (g.n != 4) return false;
    keep = tnp_mul(tnp_sigmoid(g.at[1]), *c);
    add = tnp_mul(tnp_sigmoid(g.at[0]), tnp_tanh(g.at[2]));
    *c = tnp_add(keep, add, 1);
    *h = tnp_mul(tnp_sigmoid(g.at[3]), tnp_tanh(*c));
    return *h != NULL;
}

/* One direction of one layer over x (T, N, I): y[t] are its outputs (N, H); h and c (N, H) go from
 * the first state to the last. */
static bool lstm_direction(const tn_nn_lstm_self *s, int64_t l, int d, tn_tensor *x, tn_tensor **y,
                           tn_tensor **h, tn_tensor **c) {
    int64_t steps = tn_size(x, 0);
    /* The input's part of the gates needs no state, so one product makes it for all steps:
     * (T, N, 4H). Unbound at once: T selects would have T gradients of its size. */
    tn_list gates = tnp_unbind(tnp_linear(x, lstm_part(s, l, d, 0), lstm_part(s, l, d, 2)), 0);
    if (gates.n != steps) return false;
    for (int64_t i = 0; i < steps; i++) {
        /* The backward direction reads from the end; y[t] stands at its time either way. */
        int64_t t = d ? steps - 1 - i : i;
        tn_tensor *rest = tnp_linear(*h, lstm_part(s, l, d, 1), lstm_part(s, l, d, 3));
        if (!lstm_step(tnp_add(gates.at[t], rest, 1), h, c)) return false;
        y[t] = *h;
    }
    return true;
}

typedef struct lstm_run {
    const tn_nn_lstm_self *s;
    int dirs;
    int64_t steps;
    tn_tensor **y;      /* steps * dirs outputs of a layer */
    tn_tensor **h, **c; /* layers * dirs states */
} lstm_run;

/* A layer: x (T, N, I) -> (T, N, dirs * H). Both directions use r->y in turn:
 * stacking copies it. */
static tn_tensor *lstm_layer(lstm_run *r, int64_t l, tn_tensor *x) {
    tn_tensor *both[2] = {NULL, NULL}, *y;
    for (int d = 0; d < r->dirs; d++) {
        int64_t at = l * r->dirs + d;
        if (!lstm_direction(r->s, l, d, x, r->y, &r->h[at], &r->c[at])) return NULL;
        both[d] = tnp_stack(tn_tensors_of(r->y, r->steps), 0);
        if (!both[d]) return NULL;
    }
    y = r->dirs == 2 ? tnp_cat(tn_tensors_of(both, 2), -1) : both[0];
    /* As torch: dropout between layers, not behind the last one. */
    if (r->s->base.training && r->s->o.dropout > 0 && l + 1 < r->s->o.num_layers)
        y = tnp_dropout(y, r->s->o.dropout, true);
    return y;
}

/* The first states of all layers and directions, each (N, H): views of the given tensor (layers *
 * dirs, N, H), or one tensor of zeros for all, which no step writes. */
static bool lstm_states(lstm_run *r, tn_tensor *x, tn_tensor *given, tn_tensor **to) {
    int64_t count = r->s->o.num_layers * r->dirs, size[2] = {tn_size(x, 1), r->s->o.hidden_size};
    tn_tensor *zero =
        given ? NULL : tnp_zeros(tn_ints_of(size, 2), tn_dtype_of(x), tn_device_of(x));
    for (int64_t i = 0; i < count; i++) {
        to[i] = given ? tnp_select(given, 0, i) : zero;
        if (!to[i]) return false;
    }
    return true;
}

/* All layers, each over the outputs of the one below. */
static tn_tensor *lstm_run_all(lstm_run *r, tn_tensor *x, tn_tensor *h, tn_tensor *c) {
    if (!lstm_states(r, x, h, r->h) || !lstm_states(r, x, c, r->c)) return NULL;
    for (int64_t l = 0; x && l < r->s->o.num_layers; l++) x = lstm_layer(r, l, x);
    return x;
}

/* A single sequence (T, I) gets a batch of one as dimension 1, and its results lose it again. */
static tn_tensor *lstm_unsqueeze(tn_tensor *t, bool batched) {
    return t && !batched ? tnp_unsqueeze(t, 1) : t;
}
static tn_tensor *lstm_squeeze(tn_tensor *t, bool batched) {
    return t && !batched ? tnp_squeeze_dim(t, 1) : t;
}

/* Checks what `.takes` cannot say; brings input and states to (T, N, I) and (layers * dirs,
 * N, H). */
static bool lstm_prepare(const tn_nn_lstm_self *s, const tn_nn_lstm_forward_args *a, tn_tensor **x,
                         tn_tensor **h, tn_tensor **c, bool *batched) {
    int n = tn_ndim(a->input);
    *batched = n == 3;
    if (n != 2 && n != 3)
        return tni_nn_error(TN_INVALID, "input: expected 2 or 3 dimensions, got %d", n);
    if (!a->h != !a->c)
        return tni_nn_error(TN_INVALID, "hx: h and c must both be given, or neither");
    *x = s->o.batch_first && *batched ? tnp_transpose(a->input, 0, 1)
                                      : lstm_unsqueeze(a->input, *batched);
    *h = lstm_unsqueeze(a->h, *batched);
    *c = lstm_unsqueeze(a->c, *batched);
    if (!*x || (a->h && (!*h || !*c))) return false;
    if (tn_size(*x, 0) < 1) return tni_nn_error(TN_INVALID, "input: the sequence is empty");
    if (*h && (tn_size(*h, 1) != tn_size(*x, 1) || tn_size(*c, 1) != tn_size(*x, 1)))
        return tni_nn_error(TN_INVALID, "hx: expected a batch of %lld, got %lld and %lld",
                            (long long)tn_size(*x, 1), (long long)tn_size(*h, 1),
                            (long long)tn_size(*c, 1));
    return true;
}

static bool lstm_forward(tn_mframe *f) {
    TN_FORWARD(lstm, s, a, f);
    tn_tensor *x = NULL, *h = NULL, *c = NULL, **room;
    lstm_run r = {s, s->o.bidirectional ? 2 : 1, 0, NULL, NULL, NULL};
    int64_t count = s->o.num_layers * r.dirs;
    bool batched;
    if (!lstm_prepare(s, a, &x, &h, &c, &batched)) return false;
    r.steps = tn_size(x, 0);
    /* One block: the outputs of a layer, then the states h, then the states c. */
    room = (tn_tensor **)tni_alloc_each(r.steps + 2 * count, sizeof *room);
    if (!room) return false;
    r.y = room;
    r.h = room + r.steps;
    r.c = r.h + count;
    x = lstm_run_all(&r, x, h, c);
    /* Results in the layout of the input; h_n and c_n (layers * dirs, N, H). */
    if (x) {
        f->out[0] = s->o.batch_first && batched ? tnp_transpose(x, 0, 1) : lstm_squeeze(x, batched);
        f->out[1] = lstm_squeeze(tnp_stack(tn_tensors_of(r.h, count), 0), batched);
        f->out[2] = lstm_squeeze(tnp_stack(tn_tensors_of(r.c, count), 0), batched);
    }
    tn_alloc_free(room, (size_t)(r.steps + 2 * count) * sizeof *room);
    return x && f->out[0] && f->out[1] && f->out[2];
}
/* Long short-term memory, num_layers deep. */
TN_MODULE(
    lstm,
    "LSTM(int input_size, int hidden_size, int num_layers=1, bool bias=True, bool "
    "batch_first=False, "
    "float dropout=0.0, bool bidirectional=False)",
    TN_DOC(.shapes =
               "input (T, N, input_size), or (N, T, input_size) with batch_first; h, c (layers * "
               "directions, N, hidden_size) -> output (T, N, directions * hidden_size), h_n, c_n",
           .example = "tn_nn_lstm(10, 20, .num_layers = 2)"),
    .call = "(Tensor input, (Tensor h, Tensor c)? hx=None) -> (Tensor output, (Tensor h_n, Tensor "
            "c_n))",
    .takes = "input(*, input_size); h(num_layers * (1 + bidirectional), *, hidden_size); "
             "c(num_layers * (1 + bidirectional), *, hidden_size)",
    .draws = "dropout",
    .repr =
        "input_size, hidden_size, ?num_layers=, ?bias=, ?batch_first=, ?dropout=, ?bidirectional=",
    .build = lstm_build, .reset = lstm_reset, .forward = lstm_forward,
    .sample = "3 4: (5,2,3) | 3 4 num_layers=2 bidirectional=True batch_first=True: (2,5,3) "
              "h=(4,2,4) c=(4,2,4)")
