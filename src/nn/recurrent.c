/* recurrent.c - RNN, LSTM and GRU, and one step of each. Parts of the deep ones are counted, so
 * they are made by calls and read by number. */
#include "nn.h"
#include "../api/ops/creation.h"
#include "../api/ops/elementwise.h"
#include "../api/ops/linalg.h"
#include "../api/ops/shape.h"

#include <math.h>

/* --- one step --------------------------------------------------------------------------------- */

/* A step of a kind: x (N, G H) is the input's part of the G gates, rest (N, G H) that of the state.
 * *h and *c (N, H) become the next state; only the LSTM has a c. */
typedef bool recurrent_step(tn_tensor *x, tn_tensor *rest, tn_tensor **h, tn_tensor **c);

/* h' = tanh(x + rest), or max(x + rest, 0). */
static bool step_tanh(tn_tensor *x, tn_tensor *rest, tn_tensor **h, tn_tensor **c) {
    (void)c;
    return (*h = tnp_tanh(tnp_add(x, rest, 1))) != NULL;
}
static bool step_relu(tn_tensor *x, tn_tensor *rest, tn_tensor **h, tn_tensor **c) {
    (void)c;
    return (*h = tnp_relu(tnp_add(x, rest, 1))) != NULL;
}

/* Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000: gates in torch's order
 * i, f, g, o; c' = f * c + i * g; h' = o * tanh(c'). */
static bool step_lstm(tn_tensor *x, tn_tensor *rest, tn_tensor **h, tn_tensor **c) {
    tn_list g = tnp_chunk(tnp_add(x, rest, 1), 4, -1);
    tn_tensor *keep, *add;
    if (g.n != 4) return false;
    keep = tnp_mul(tnp_sigmoid(g.at[1]), *c);
    add = tnp_mul(tnp_sigmoid(g.at[0]), tnp_tanh(g.at[2]));
    *c = tnp_add(keep, add, 1);
    *h = tnp_mul(tnp_sigmoid(g.at[3]), tnp_tanh(*c));
    return *h != NULL;
}

/* Cho et al. 2014, in torch's form, whose reset gate stands behind the product: r, z, n;
 * n = tanh(x_n + r * rest_n); h' = n + z * (h - n). */
static bool step_gru(tn_tensor *x, tn_tensor *rest, tn_tensor **h, tn_tensor **c) {
    tn_list gx = tnp_chunk(x, 3, -1), gh = tnp_chunk(rest, 3, -1);
    tn_tensor *reset, *update, *fresh;
    (void)c;
    if (gx.n != 3 || gh.n != 3) return false;
    reset = tnp_sigmoid(tnp_add(gh.at[0], gx.at[0], 1));
    update = tnp_sigmoid(tnp_add(gh.at[1], gx.at[1], 1));
    fresh = tnp_tanh(tnp_add(gx.at[2], tnp_mul(gh.at[2], reset), 1));
    *h = tnp_add(tnp_mul(tnp_sub(*h, fresh, 1), update), fresh, 1);
    return *h != NULL;
}

/* --- what the deep ones share ----------------------------------------------------------------- */

/* The options of any of them. proj: size of the state h where it is a projection, else 0. */
typedef struct recurrent {
    tn_module *m;
    recurrent_step *step;
    int64_t gates, input, hidden, layers, proj;
    double dropout;
    bool bias, batch_first, bidirectional, training, has_c;
} recurrent;
#define RECURRENT(r, s, step_, gates_, proj_, has_c_) \
    recurrent r = {&(s)->base,                        \
                   step_,                             \
                   gates_,                            \
                   (s)->o.input_size,                 \
                   (s)->o.hidden_size,                \
                   (s)->o.num_layers,                 \
                   proj_,                             \
                   (s)->o.dropout,                    \
                   (s)->o.bias,                       \
                   (s)->o.batch_first,                \
                   (s)->o.bidirectional,              \
                   (s)->base.training,                \
                   has_c_}

static int recurrent_dirs(const recurrent *r) { return r->bidirectional ? 2 : 1; }
/* How many parts a layer has in one direction. */
static int recurrent_each(const recurrent *r) { return (r->bias ? 4 : 2) + (r->proj > 0); }
/* The size of h. */
static int64_t recurrent_width(const recurrent *r) { return r->proj ? r->proj : r->hidden; }

/* Part k of layer l, direction d (1: backwards): k = 0 weight_ih (G H, I), 1 weight_hh (G H, W),
 * 2 bias_ih (G H), 3 bias_hh (G H), 4 weight_hr (W, H). NULL for an absent one. recurrent_build
 * registers them in this order, torch's. */
static tn_tensor *recurrent_part(const recurrent *r, int64_t l, int d, int k) {
    int64_t at = (l * recurrent_dirs(r) + d) * recurrent_each(r);
    if (!r->bias && (k == 2 || k == 3)) return NULL;
    if (k == 4 && !r->proj) return NULL;
    return tn_part_tensor_of(r->m, (int)at + (k == 4 && !r->bias ? 2 : k));
}

static bool recurrent_build_one(const recurrent *r, int64_t l, int d) {
    static const char *const stem[] = {"weight_ih_l", "weight_hh_l", "bias_ih_l", "bias_hh_l",
                                       "weight_hr_l"};
    const int64_t w = recurrent_width(r), below = l ? recurrent_dirs(r) * w : r->input;
    for (int k = 0; k < 5; k++) {
        char name[48];
        /* Layers above the first read the outputs of all directions below; a bias is (G H). */
        int64_t shape[2] = {k == 4 ? w : r->gates * r->hidden, k == 4 ? r->hidden : k ? w : below};
        if ((!r->bias && (k == 2 || k == 3)) || (k == 4 && !r->proj)) continue;
        snprintf(name, sizeof name, "%s%lld%s", stem[k], (long long)l, d ? "_reverse" : "");
        if (!tn_part_tensor(r->m, TN_PARAM, name, NULL, TN_NO_DTYPE,
                            tn_ints_of(shape, k == 2 || k == 3 ? 1 : 2)))
            return false;
    }
    return true;
}
static bool recurrent_build(const recurrent *r) {
    /* The upper bounds keep 4 * hidden, 2 * hidden and the count of parts within their types. */
    if (r->hidden < 1 || r->input < 1 || r->layers < 1 || r->layers > 100000 ||
        r->hidden > INT64_MAX / 8)
        return tni_nn_error(TN_INVALID, "input_size, hidden_size and num_layers must be positive");
    if (r->dropout < 0 || r->dropout > 1)
        return tni_nn_error(TN_INVALID, "dropout is %g, expected a value in [0, 1]", r->dropout);
    if (r->proj < 0 || r->proj >= r->hidden)
        return tni_nn_error(TN_INVALID,
                            "proj_size is %lld, expected 0 or a number smaller than hidden_size",
                            (long long)r->proj);
    for (int64_t l = 0; l < r->layers; l++)
        for (int d = 0; d < recurrent_dirs(r); d++)
            if (!recurrent_build_one(r, l, d)) return false;
    return true;
}

/* torch's reset_parameters: all parts, the biases as well, within 1 / sqrt(H). */
static bool recurrent_reset(tn_module *m, int64_t hidden) {
    double bound = hidden ? 1 / sqrt((double)hidden) : 0;
    for (int i = 0; i < m->nparts; i++) {
        tn_tensor *t = tn_part_tensor_of(m, i);
        if (t && !tn_nn_init_uniform_(t, -bound, bound)) return false;
    }
    return true;
}

/* --- a run ------------------------------------------------------------------------------------ */

typedef struct recurrent_run {
    const recurrent *r;
    int64_t steps;
    tn_tensor **y;      /* the outputs of one direction of a layer, by time */
    tn_tensor **h, **c; /* layers * directions states */
} recurrent_run;

/* One direction of one layer over x (T, N, I): run->y[t] are its outputs (N, W); its h and c go
 * from the first state to the last. */
static bool recurrent_direction(recurrent_run *run, int64_t l, int d, tn_tensor *x) {
    const recurrent *r = run->r;
    const int64_t at = l * recurrent_dirs(r) + d, steps = run->steps;
    tn_tensor *w = recurrent_part(r, l, d, 1), *b = recurrent_part(r, l, d, 3);
    /* The input's part of the gates needs no state, so one product makes it for all steps:
     * (T, N, G H). Unbound at once: T selects would have T gradients of its size. */
    tn_list gates =
        tnp_unbind(tnp_linear(x, recurrent_part(r, l, d, 0), recurrent_part(r, l, d, 2)), 0);
    if (gates.n != steps) return false;
    for (int64_t i = 0; i < steps; i++) {
        /* The backward direction reads from the end; y[t] stands at its time either way. */
        int64_t t = d ? steps - 1 - i : i;
        tn_tensor *rest = tnp_linear(run->h[at], w, b);
        if (!rest || !r->step(gates.at[t], rest, &run->h[at], &run->c[at])) return false;
        if (r->proj) run->h[at] = tnp_linear(run->h[at], recurrent_part(r, l, d, 4), NULL);
        if (!run->h[at]) return false;
        run->y[t] = run->h[at];
    }
    return true;
}

/* A layer: x (T, N, I) -> (T, N, directions * W). Both directions use run->y in turn:
 * stacking copies it. */
static tn_tensor *recurrent_layer(recurrent_run *run, int64_t l, tn_tensor *x) {
    const recurrent *r = run->r;
    tn_tensor *both[2] = {NULL, NULL}, *y;
    for (int d = 0; d < recurrent_dirs(r); d++) {
        if (!recurrent_direction(run, l, d, x)) return NULL;
        both[d] = tnp_stack(tn_tensors_of(run->y, run->steps), 0);
        if (!both[d]) return NULL;
    }
    y = r->bidirectional ? tnp_cat(tn_tensors_of(both, 2), -1) : both[0];
    /* As torch: dropout between layers, not behind the last one. */
    if (r->training && r->dropout > 0 && l + 1 < r->layers) y = tnp_dropout(y, r->dropout, true);
    return y;
}

/* The first states of all layers and directions, each (N, width): views of the given tensor (layers
 * * directions, N, width), or one tensor of zeros for all, which no step writes. */
static bool recurrent_states(const recurrent *r, tn_tensor *x, tn_tensor *given, int64_t width,
                             tn_tensor **to) {
    int64_t count = r->layers * recurrent_dirs(r), size[2] = {tn_size(x, 1), width};
    tn_tensor *zero =
        given ? NULL : tnp_zeros(tn_ints_of(size, 2), tn_dtype_of(x), tn_device_of(x));
    for (int64_t i = 0; i < count; i++) {
        to[i] = given ? tnp_select(given, 0, i) : zero;
        if (!to[i]) return false;
    }
    return true;
}

/* All layers, each over the outputs of the one below. */
static tn_tensor *recurrent_all(recurrent_run *run, tn_tensor *x, tn_tensor *h, tn_tensor *c) {
    const recurrent *r = run->r;
    if (!recurrent_states(r, x, h, recurrent_width(r), run->h)) return NULL;
    if (r->has_c && !recurrent_states(r, x, c, r->hidden, run->c)) return NULL;
    for (int64_t l = 0; x && l < r->layers; l++) x = recurrent_layer(run, l, x);
    return x;
}

/* A single sequence (T, I) gets a batch of one as dimension 1, and its results lose it again. */
static tn_tensor *recurrent_unsqueeze(tn_tensor *t, bool batched) {
    return t && !batched ? tnp_unsqueeze(t, 1) : t;
}
static tn_tensor *recurrent_squeeze(tn_tensor *t, bool batched) {
    return t && !batched ? tnp_squeeze_dim(t, 1) : t;
}

/* The states, where they are given, have a batch of n. */
static bool recurrent_batch(const tn_tensor *h, const tn_tensor *c, int64_t n) {
    if (!h || (tn_size(h, 1) == n && (!c || tn_size(c, 1) == n))) return true;
    if (!c)
        return tni_nn_error(TN_INVALID, "hx: expected a batch of %lld, got %lld", (long long)n,
                            (long long)tn_size(h, 1));
    return tni_nn_error(TN_INVALID, "hx: expected a batch of %lld, got %lld and %lld", (long long)n,
                        (long long)tn_size(h, 1), (long long)tn_size(c, 1));
}

/* Checks what `.takes` cannot say; brings input and states to (T, N, I) and (layers * directions,
 * N, *). */
static bool recurrent_prepare(const recurrent *r, tn_tensor **x, tn_tensor **h, tn_tensor **c,
                              bool *batched) {
    int n = tn_ndim(*x);
    const bool given = *h != NULL, both = r->has_c;
    *batched = n == 3;
    if (n != 2 && n != 3)
        return tni_nn_error(TN_INVALID, "input: expected 2 or 3 dimensions, got %d", n);
    if (both && !*h != !*c)
        return tni_nn_error(TN_INVALID, "hx: h and c must both be given, or neither");
    if ((*h && tn_ndim(*h) != n) || (*c && tn_ndim(*c) != n))
        return tni_nn_error(TN_INVALID, "hx: expected as many dimensions as the input has, %d", n);
    *x = r->batch_first && *batched ? tnp_transpose(*x, 0, 1) : recurrent_unsqueeze(*x, *batched);
    *h = recurrent_unsqueeze(*h, *batched);
    *c = recurrent_unsqueeze(*c, *batched);
    if (!*x || (given && (!*h || (both && !*c)))) return false;
    if (tn_size(*x, 0) < 1)
        return tni_nn_error(TN_INVALID,
                            "input: Expected sequence length to be larger than 0 in RNN");
    return recurrent_batch(*h, *c, tn_size(*x, 1));
}

/* The forward of any of them: out[0] the outputs, out[1] the last h and out[2] the last c. */
static bool recurrent_forward(const recurrent *r, tn_mframe *f, tn_tensor *x, tn_tensor *h,
                              tn_tensor *c) {
    recurrent_run run = {r, 0, NULL, NULL, NULL};
    const int64_t count = r->layers * recurrent_dirs(r);
    tn_tensor **room;
    bool batched;
    if (!recurrent_prepare(r, &x, &h, &c, &batched)) return false;
    run.steps = tn_size(x, 0);
    /* One block: the outputs of a layer, then the states h, then the states c. */
    room = (tn_tensor **)tni_alloc_each(run.steps + 2 * count, sizeof *room);
    if (!room) return false;
    run.y = room;
    run.h = room + run.steps;
    run.c = run.h + count;
    x = recurrent_all(&run, x, h, c);
    /* Results in the layout of the input; h_n and c_n (layers * directions, N, *). */
    if (x) {
        f->out[0] =
            r->batch_first && batched ? tnp_transpose(x, 0, 1) : recurrent_squeeze(x, batched);
        f->out[1] = recurrent_squeeze(tnp_stack(tn_tensors_of(run.h, count), 0), batched);
        if (r->has_c)
            f->out[2] = recurrent_squeeze(tnp_stack(tn_tensors_of(run.c, count), 0), batched);
    }
    tn_alloc_free(room, (size_t)(run.steps + 2 * count) * sizeof *room);
    return x && f->out[0] && f->out[1] && (!r->has_c || f->out[2]);
}

/* --- LSTM ------------------------------------------------------------------------------------- */

static bool lstm_build(tn_module *m) {
    TN_SELF(lstm, s, m);
    RECURRENT(r, s, step_lstm, 4, s->o.proj_size, true);
    return recurrent_build(&r);
}
static bool lstm_reset(tn_module *m) {
    TN_SELF(lstm, s, m);
    return recurrent_reset(m, s->o.hidden_size);
}
static bool lstm_forward(tn_mframe *f) {
    TN_FORWARD(lstm, s, a, f);
    RECURRENT(r, s, step_lstm, 4, s->o.proj_size, true);
    return recurrent_forward(&r, f, a->input, a->h, a->c);
}
/* Long short-term memory, num_layers deep. With proj_size, h is a projection of what it would be to
 * this size (Sak et al. 2014). */
TN_MODULE(
    lstm,
    "LSTM(int input_size, int hidden_size, int num_layers=1, bool bias=True, bool "
    "batch_first=False, "
    "float dropout=0.0, bool bidirectional=False, int proj_size=0)",
    TN_DOC(.shapes =
               "input (T, N, input_size), or (N, T, input_size) with batch_first; h, c (layers * "
               "directions, N, hidden_size) -> output (T, N, directions * hidden_size), h_n, c_n",
           .example = "tn_nn_lstm(10, 20, .num_layers = 2)"),
    .call = "(Tensor input, (Tensor h, Tensor c)? hx=None) -> (Tensor output, (Tensor h_n, Tensor "
            "c_n))",
    .takes = "input(*, input_size); "
             "h(num_layers * (1 + bidirectional), *, proj_size ? proj_size : hidden_size); "
             "c(num_layers * (1 + bidirectional), *, hidden_size)",
    .draws = "dropout",
    .repr = "input_size, hidden_size, ?proj_size=, ?num_layers=, ?bias=, ?batch_first=, ?dropout=, "
            "?bidirectional=",
    .build = lstm_build, .reset = lstm_reset, .forward = lstm_forward,
    .sample = "3 4: (5,2,3) | 3 4 num_layers=2 bidirectional=True batch_first=True: (2,5,3) "
              "h=(4,2,4) c=(4,2,4) | 3 4 num_layers=2 proj_size=2: (5,2,3)")

/* --- GRU -------------------------------------------------------------------------------------- */

static bool gru_build(tn_module *m) {
    TN_SELF(gru, s, m);
    RECURRENT(r, s, step_gru, 3, 0, false);
    return recurrent_build(&r);
}
static bool gru_reset(tn_module *m) {
    TN_SELF(gru, s, m);
    return recurrent_reset(m, s->o.hidden_size);
}
static bool gru_forward(tn_mframe *f) {
    TN_FORWARD(gru, s, a, f);
    RECURRENT(r, s, step_gru, 3, 0, false);
    return recurrent_forward(&r, f, a->input, a->hx, NULL);
}
/* Gated recurrent units, num_layers deep. */
TN_MODULE(
    gru,
    "GRU(int input_size, int hidden_size, int num_layers=1, bool bias=True, bool "
    "batch_first=False, float dropout=0.0, bool bidirectional=False)",
    TN_DOC(.shapes =
               "input (T, N, input_size), or (N, T, input_size) with batch_first; hx (layers * "
               "directions, N, hidden_size) -> output (T, N, directions * hidden_size), h_n",
           .example = "tn_nn_gru(10, 20, .num_layers = 2)"),
    .call = "(Tensor input, Tensor? hx=None) -> (Tensor output, Tensor h_n)",
    .takes = "input(*, input_size); hx(num_layers * (1 + bidirectional), *, hidden_size)",
    .draws = "dropout",
    .repr =
        "input_size, hidden_size, ?num_layers=, ?bias=, ?batch_first=, ?dropout=, ?bidirectional=",
    .build = gru_build, .reset = gru_reset, .forward = gru_forward,
    .sample = "3 4: (5,2,3) | 3 4 num_layers=2 bidirectional=True batch_first=True: (2,5,3) "
              "hx=(4,2,4)")

/* --- RNN -------------------------------------------------------------------------------------- */

static recurrent_step *rnn_step(tn_nonlinearity which) {
    return which == TN_NONLINEARITY_RELU ? step_relu : step_tanh;
}
static bool rnn_build(tn_module *m) {
    TN_SELF(rnn, s, m);
    RECURRENT(r, s, step_tanh, 1, 0, false);
    return recurrent_build(&r);
}
static bool rnn_reset(tn_module *m) {
    TN_SELF(rnn, s, m);
    return recurrent_reset(m, s->o.hidden_size);
}
static bool rnn_forward(tn_mframe *f) {
    TN_FORWARD(rnn, s, a, f);
    RECURRENT(r, s, rnn_step(s->o.nonlinearity), 1, 0, false);
    return recurrent_forward(&r, f, a->input, a->hx, NULL);
}
/* Elman's network, num_layers deep: h' = tanh(W x + b + V h + d), or relu of that. */
TN_MODULE(
    rnn,
    "RNN(int input_size, int hidden_size, int num_layers=1, Nonlinearity nonlinearity=tanh, bool "
    "bias=True, bool batch_first=False, float dropout=0.0, bool bidirectional=False)",
    TN_DOC(.shapes =
               "input (T, N, input_size), or (N, T, input_size) with batch_first; hx (layers * "
               "directions, N, hidden_size) -> output (T, N, directions * hidden_size), h_n",
           .example = "tn_nn_rnn(10, 20, .num_layers = 2)"),
    .call = "(Tensor input, Tensor? hx=None) -> (Tensor output, Tensor h_n)",
    .takes = "input(*, input_size); hx(num_layers * (1 + bidirectional), *, hidden_size)",
    .draws = "dropout",
    .repr =
        "input_size, hidden_size, ?num_layers=, ?bias=, ?batch_first=, ?dropout=, ?bidirectional=",
    .build = rnn_build, .reset = rnn_reset, .forward = rnn_forward,
    .sample = "3 4: (5,2,3) | 3 4 nonlinearity=relu num_layers=2 bidirectional=True "
              "batch_first=True: (2,5,3) hx=(4,2,4)")
#undef RECURRENT

/* --- cells ------------------------------------------------------------------------------------ */

/* One step of a cell over input (N, I) or (I) with a state (N, H) or (H), or zeros. */
static bool cell_forward(recurrent_step *step, tn_tensor *const *part, tn_tensor *x, tn_tensor **h,
                         tn_tensor **c, int64_t hidden) {
    int n = tn_ndim(x);
    int64_t size[2];
    if (n != 1 && n != 2)
        return tni_nn_error(TN_INVALID, "input: expected 1 or 2 dimensions, got %d", n);
    if ((*h && tn_ndim(*h) != n) || (c && *c && tn_ndim(*c) != n))
        return tni_nn_error(TN_INVALID, "hx: expected as many dimensions as the input has, %d", n);
    if (n == 2 &&
        ((*h && tn_size(*h, 0) != tn_size(x, 0)) || (c && *c && tn_size(*c, 0) != tn_size(x, 0))))
        return tni_nn_error(TN_INVALID, "hx: expected a batch of %lld, got %lld",
                            (long long)tn_size(x, 0), (long long)tn_size(*h, 0));
    size[0] = n == 2 ? tn_size(x, 0) : hidden;
    size[1] = hidden;
    if (!*h && !(*h = tnp_zeros(tn_ints_of(size, n), tn_dtype_of(x), tn_device_of(x))))
        return false;
    if (c && !*c && !(*c = tnp_zeros(tn_ints_of(size, n), tn_dtype_of(x), tn_device_of(x))))
        return false;
    x = tnp_linear(x, part[0], part[2]);
    return x && step(x, tnp_linear(*h, part[1], part[3]), h, c);
}
static bool cell_build(int64_t input, int64_t hidden) {
    return (input > 0 && hidden >= 0 && hidden < INT64_MAX / 8) ||
           tni_nn_error(TN_INVALID, "input_size must be positive, and hidden_size not negative");
}
/* build, reset, and the parts in recurrent_part's order. */
#define CELL_ROW(name)                                        \
    static bool name##_build(tn_module *m) {                  \
        TN_SELF(name, s, m);                                  \
        return cell_build(s->o.input_size, s->o.hidden_size); \
    }                                                         \
    static bool name##_reset(tn_module *m) {                  \
        TN_SELF(name, s, m);                                  \
        return recurrent_reset(m, s->o.hidden_size);          \
    }
#define CELL_PARTS(s) \
    { (s)->weight_ih, (s)->weight_hh, (s)->bias_ih, (s)->bias_hh }

CELL_ROW(rnn_cell)
static bool rnn_cell_forward(tn_mframe *f) {
    TN_FORWARD(rnn_cell, s, a, f);
    tn_tensor *const part[4] = CELL_PARTS(s);
    f->out[0] = a->hx;
    return cell_forward(rnn_step(s->o.nonlinearity), part, a->input, &f->out[0], NULL,
                        s->o.hidden_size);
}
/* One step of an RNN. */
TN_MODULE(rnn_cell,
          "RNNCell(int input_size, int hidden_size, bool bias=True, Nonlinearity "
          "nonlinearity=tanh)",
          TN_DOC(.shapes = "input (N, input_size), hx (N, hidden_size) -> (N, hidden_size); or all "
                           "without N",
                 .example = "tn_nn_rnn_cell(10, 20)"),
          .parts = "weight_ih(hidden_size, input_size); weight_hh(hidden_size, hidden_size); "
                   "bias_ih(hidden_size) if bias; bias_hh(hidden_size) if bias",
          .call = "(Tensor input, Tensor? hx=None) -> Tensor",
          .takes = "input(*, input_size); hx(*, hidden_size)",
          .repr = "input_size, hidden_size, ?bias=, ?nonlinearity=", .build = rnn_cell_build,
          .reset = rnn_cell_reset, .forward = rnn_cell_forward,
          .sample = "3 4: (2,3) | 3 4 nonlinearity=relu bias=False: (2,3) hx=(2,4) | 3 4: (3)")

CELL_ROW(lstm_cell)
static bool lstm_cell_forward(tn_mframe *f) {
    TN_FORWARD(lstm_cell, s, a, f);
    tn_tensor *const part[4] = CELL_PARTS(s);
    if (!a->h != !a->c)
        return tni_nn_error(TN_INVALID, "hx: h and c must both be given, or neither");
    f->out[0] = a->h;
    f->out[1] = a->c;
    return cell_forward(step_lstm, part, a->input, &f->out[0], &f->out[1], s->o.hidden_size);
}
/* One step of an LSTM. */
TN_MODULE(lstm_cell, "LSTMCell(int input_size, int hidden_size, bool bias=True)",
          TN_DOC(.shapes = "input (N, input_size), h, c (N, hidden_size) -> h, c; or all without N",
                 .example = "tn_nn_lstm_cell(10, 20)"),
          .parts = "weight_ih(4 * hidden_size, input_size); weight_hh(4 * hidden_size, "
                   "hidden_size); bias_ih(4 * hidden_size) if bias; bias_hh(4 * hidden_size) if "
                   "bias",
          .call = "(Tensor input, (Tensor h, Tensor c)? hx=None) -> (Tensor h_n, Tensor c_n)",
          .takes = "input(*, input_size); h(*, hidden_size); c(*, hidden_size)",
          .repr = "input_size, hidden_size, ?bias=", .build = lstm_cell_build,
          .reset = lstm_cell_reset, .forward = lstm_cell_forward,
          .sample = "3 4: (2,3) | 3 4 bias=False: (2,3) h=(2,4) c=(2,4) | 3 4: (3)")

CELL_ROW(gru_cell)
static bool gru_cell_forward(tn_mframe *f) {
    TN_FORWARD(gru_cell, s, a, f);
    tn_tensor *const part[4] = CELL_PARTS(s);
    f->out[0] = a->hx;
    return cell_forward(step_gru, part, a->input, &f->out[0], NULL, s->o.hidden_size);
}
/* One step of a GRU. */
TN_MODULE(gru_cell, "GRUCell(int input_size, int hidden_size, bool bias=True)",
          TN_DOC(.shapes = "input (N, input_size), hx (N, hidden_size) -> (N, hidden_size); or all "
                           "without N",
                 .example = "tn_nn_gru_cell(10, 20)"),
          .parts = "weight_ih(3 * hidden_size, input_size); weight_hh(3 * hidden_size, "
                   "hidden_size); bias_ih(3 * hidden_size) if bias; bias_hh(3 * hidden_size) if "
                   "bias",
          .call = "(Tensor input, Tensor? hx=None) -> Tensor",
          .takes = "input(*, input_size); hx(*, hidden_size)",
          .repr = "input_size, hidden_size, ?bias=", .build = gru_cell_build,
          .reset = gru_cell_reset, .forward = gru_cell_forward,
          .sample = "3 4: (2,3) | 3 4 bias=False: (2,3) hx=(2,4) | 3 4: (3)")
#undef CELL_ROW
#undef CELL_PARTS
