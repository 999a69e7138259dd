/* optimize.cu - a step of an optimizer for all parameters: fused_sgd, fused_adam, fused_adamw, with
 * the CPU's formulas and bits (kernels/optimize_type.inl), and fused_step, whose rules are the
 * CPU's own text, a launch for each parameter.
 *
 * One launch serves up to 48 parameters, whose addresses are in the kernel's arguments; a block
 * takes 4096 elements of one of them at a time, 16 bytes a load where all are aligned. A parameter
 * that does not lie in memory as its gradient and states do is a launch of its own. */
#include "elements.cuh"
#include "families.cuh"

enum { STEP_TASKS = 48, STEP_OPTIONS = 8, STEP_CHUNK = 4096 };

/* The factors of a plan, without its tensors: equal ones are there once. */
struct tnc_step_options {
    double decay, momentum, one_dampening, rate, one_beta1, beta2, one_beta2, step, root, eps;
    uint8_t decays, maximize, nesterov, first, decoupled, pad[3];
};
struct tnc_step_task {
    char *at[TN_STEP_TENSORS]; /* NULL: not used */
    int64_t n, first;          /* elements; number of its first chunk */
    int32_t options;
    bool aligned;
};
struct tnc_step_table { /* at most 4 KB, what a kernel's arguments may have on every device */
    int64_t chunks;
    int32_t n, noptions;
    tnc_step_options options[STEP_OPTIONS];
    tnc_step_task task[STEP_TASKS];
};
static_assert(sizeof(tnc_step_table) <= 4096, "arguments of a kernel");

TNC_FN float tnc_step_root(float a) { return sqrtf(a); }
TNC_FN double tnc_step_root(double a) { return sqrt(a); }

/* --- formulas --------------------------------------------------------------------------------- */

/* One element: x, its gradient d, its states s; has[k]: state k is there. */
template <class V>
struct tnc_step_sgd {
    V decay, momentum, one_dampening, rate;
    bool decays, maximize, nesterov, first;
    __device__ __forceinline__ explicit tnc_step_sgd(const tnc_step_options &o)
        : decay((V)o.decay), momentum((V)o.momentum), one_dampening((V)o.one_dampening),
          rate((V)o.rate), decays(o.decays), maximize(o.maximize), nesterov(o.nesterov),
          first(o.first) {}
    __device__ __forceinline__ V step(V x, V d, V *s, const bool *has) const {
        if (maximize) d = -d;
        if (decays) d = tnc_fused(x, decay, d);
        if (has[0]) {
            const V b = first ? d : tnc_fused(d, one_dampening, s[0] * momentum);
            s[0] = b;
            d = nesterov ? tnc_fused(b, momentum, d) : b;
        }
        return tnc_fused(d, rate, x);
    }
};
template <class V>
struct tnc_step_adam {
    V decay, weight, beta2, one_beta2, rate, root, eps;
    bool decays, maximize, decoupled, below;
    __device__ __forceinline__ explicit tnc_step_adam(const tnc_step_options &o)
        : decay((V)o.decay), weight((V)o.one_beta1), beta2((V)o.beta2), one_beta2((V)o.one_beta2),
          rate((V)o.step), root((V)o.root), eps((V)o.eps), decays(o.decays), maximize(o.maximize),
          decoupled(o.decoupled), below(o.one_beta1 < 0.5) {
        if (!below) weight -= 1; /* the average goes out from the nearer end */
    }
    __device__ __forceinline__ V step(V x, V d, V *s, const bool *has) const {
        if (maximize) d = -d;
        if (decays && decoupled)
            x = x * decay;
        else if (decays)
            d = tnc_fused(x, decay, d);
        const V a = tnc_fused(weight, d - s[0], below ? s[0] : d);
        V b = tnc_fused(one_beta2 * d, d, s[1] * beta2);
        s[0] = a;
        s[1] = b;
        if (has[2]) {
            b = b > s[2] || b != b ? b : s[2];
            s[2] = b;
        }
        b = tnc_step_root(b) / root + eps;
        return x + rate * a / b;
    }
};

/* --- kernels ---------------------------------------------------------------------------------- */

template <int dtype>
struct tnc_step_of {
    typedef float E;
    typedef float V;
    TNC_FN V get(E e) { return e; }
    TNC_FN E put(V v) { return v; }
};
template <>
struct tnc_step_of<TN_F64> {
    typedef double E;
    typedef double V;
    TNC_FN V get(E e) { return e; }
    TNC_FN E put(V v) { return v; }
};
template <>
struct tnc_step_of<TN_F16> : tnc_half<TN_F16> {};
template <>
struct tnc_step_of<TN_BF16> : tnc_half<TN_BF16> {};

/* N elements, which lie side by side in all tensors. */
template <class Step, int dtype, int N>
TNC_FN void tnc_step_pack(const Step &step, char *const *at, const bool *has) {
    typedef tnc_step_of<dtype> of;
    typedef typename of::V V;
    typedef tnc_pack<typename of::E, N> pack;
    enum { STATES = TN_STEP_TENSORS - 2 };
    pack x = *tnc_aligned<pack>(at[0]), g = *tnc_aligned<pack>(at[1]), s[STATES] = {};
    for (int k = 0; k < STATES; k++)
        if (has[k]) s[k] = *tnc_aligned<pack>(at[k + 2]);
    for (int j = 0; j < N; j++) {
        V v[STATES];
        for (int k = 0; k < STATES; k++) v[k] = of::get(s[k].e[j]);
        x.e[j] = of::put(step.step(of::get(x.e[j]), of::get(g.e[j]), v, has));
        for (int k = 0; k < STATES; k++) s[k].e[j] = of::put(v[k]);
    }
    *(pack *)at[0] = x;
    for (int k = 0; k < STATES; k++)
        if (has[k]) *(pack *)at[k + 2] = s[k];
}

template <class Step, int dtype>
__global__ void __launch_bounds__(TNC_THREADS) tnc_step_flat(tnc_step_table t) {
    typedef typename tnc_step_of<dtype>::E E;
    enum { N = 16 / sizeof(E) };
    for (int64_t chunk = blockIdx.x; chunk < t.chunks; chunk += gridDim.x) {
        int low = 0;
        for (int high = t.n; high - low > 1;) { /* the last task that begins no later */
            const int middle = (low + high) / 2;
            if (t.task[middle].first <= chunk)
                low = middle;
            else
                high = middle;
        }
        const tnc_step_task &task = t.task[low];
        const Step step(t.options[task.options]);
        const bool has[] = {task.at[2] != NULL, task.at[3] != NULL, task.at[4] != NULL};
        const int64_t begin = (chunk - task.first) * STEP_CHUNK, left = task.n - begin;
        const int n = (int)(left < STEP_CHUNK ? left : (int64_t)STEP_CHUNK),
                  whole = task.aligned ? n / N * N : 0;
        char *at[TN_STEP_TENSORS];
        for (int i = (int)threadIdx.x * N; i < whole; i += TNC_THREADS * N) {
            for (int k = 0; k < TN_STEP_TENSORS; k++)
                at[k] = task.at[k] ? task.at[k] + (begin + i) * (int64_t)sizeof(E) : NULL;
            tnc_step_pack<Step, dtype, N>(step, at, has);
        }
        for (int i = whole + (int)threadIdx.x; i < n; i += TNC_THREADS) {
            for (int k = 0; k < TN_STEP_TENSORS; k++)
                at[k] = task.at[k] ? task.at[k] + (begin + i) * (int64_t)sizeof(E) : NULL;
            tnc_step_pack<Step, dtype, 1>(step, at, has);
        }
    }
}

template <class Step, int dtype>
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_step_any(tnc_walk<TN_STEP_TENSORS> w, tnc_step_options options) {
    const Step step(options);
    const bool has[] = {w.at[2] != NULL, w.at[3] != NULL, w.at[4] != NULL};
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t to[TN_STEP_TENSORS];
        char *at[TN_STEP_TENSORS];
        tnc_walk_to(w, (uint32_t)i, to);
        for (int k = 0; k < TN_STEP_TENSORS; k++) at[k] = w.at[k] ? w.at[k] + to[k] : NULL;
        tnc_step_pack<Step, dtype, 1>(step, at, has);
    }
}

/* --- rules of fused_step ---------------------------------------------------------------------- */

#define TNI_ISA 0
#define TNI_RULE TNC_FN
#define TNI_TYPE_F32
#include "../simd/vocabulary.h"
#include "../simd/optimize_rules.inl"
#include "../simd/end.h"
#define TNI_TYPE_F64
#include "../simd/vocabulary.h"
#include "../simd/optimize_rules.inl"
#include "../simd/end.h"
#undef TNI_RULE
#undef TNI_ISA

enum { STEP_FACTORS = 10 };
struct tnc_step_factors {
    double c[STEP_FACTORS];
    int32_t rule;
};
#define TNC_RULE(name, word)       \
    case TN_OPTIMIZER_RULE_##word: \
        return TNI_JOIN(name, _cuda)(at, 1, f.c);
#define TNC_RULES(S)                                         \
    switch (f.rule) {                                        \
        TNC_RULE(adagrad_##S, ADAGRAD)                       \
        TNC_RULE(rmsprop_##S, RMSPROP)                       \
        TNC_RULE(adadelta_##S, ADADELTA)                     \
        TNC_RULE(adamax_##S, ADAMAX)                         \
        TNC_RULE(nadam_##S, NADAM)                           \
        TNC_RULE(radam_##S, RADAM)                           \
        TNC_RULE(rprop_##S, RPROP)                           \
        TNC_RULE(asgd_##S, ASGD)                             \
    default: return TNI_JOIN(assign_##S, _cuda)(at, 1, f.c); \
    }
TNC_FN void tnc_step_rule(void *const *at, const tnc_step_factors &f, float){TNC_RULES(f32)} TNC_FN
    void tnc_step_rule(void *const *at, const tnc_step_factors &f, double) {
    TNC_RULES(f64)
}
#undef TNC_RULE
#undef TNC_RULES

/* Operand k of the walk is tensor `of[k]` of the step. */
struct tnc_step_places {
    int32_t n, of[TN_STEP_TENSORS];
};
template <int dtype>
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_step_ruled(tnc_walk<TN_STEP_TENSORS> w, tnc_step_places places, tnc_step_factors f) {
    typedef tnc_step_of<dtype> of;
    typedef typename of::E E;
    typedef typename of::V V;
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t to[TN_STEP_TENSORS];
        V v[TN_STEP_TENSORS];
        void *at[TN_STEP_TENSORS] = {NULL, NULL, NULL, NULL, NULL};
        tnc_walk_to(w, (uint32_t)i, to);
        for (int k = 0; k < places.n; k++) {
            v[k] = of::get(tnc_get<E>(w.at[k] + to[k]));
            at[places.of[k]] = &v[k];
        }
        tnc_step_rule(at, f, V());
        for (int k = 0; k < places.n; k++)
            if (places.of[k] != 1) tnc_put<E>(w.at[k] + to[k], of::put(v[k]));
    }
}

/* --- host ------------------------------------------------------------------------------------- */

template <int dtype>
static void step_launch_flat(cudaStream_t s, const tnc_step_table &t, bool adam) {
    typedef typename tnc_step_of<dtype>::V V;
    if (adam)
        TNC_LAUNCH_PLAIN((tnc_step_flat<tnc_step_adam<V>, dtype>), tnc_blocks(t.chunks, 1),
                         TNC_THREADS, s, t);
    else
        TNC_LAUNCH_PLAIN((tnc_step_flat<tnc_step_sgd<V>, dtype>), tnc_blocks(t.chunks, 1),
                         TNC_THREADS, s, t);
}
template <int dtype>
static void step_launch_any(cudaStream_t s, const tnc_walk<TN_STEP_TENSORS> &w,
                            const tnc_step_options &o, bool adam) {
    typedef typename tnc_step_of<dtype>::V V;
    const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
    if (adam)
        TNC_LAUNCH_PLAIN((tnc_step_any<tnc_step_adam<V>, dtype>), blocks, TNC_THREADS, s, w, o);
    else
        TNC_LAUNCH_PLAIN((tnc_step_any<tnc_step_sgd<V>, dtype>), blocks, TNC_THREADS, s, w, o);
}

/* What has been collected is launched, and the table is empty. */
static void step_flush(cudaStream_t s, tnc_step_table *t, int dtype, bool adam) {
    if (t->n) {
        switch (dtype) {
        case TN_F16: step_launch_flat<TN_F16>(s, *t, adam); break;
        case TN_BF16: step_launch_flat<TN_BF16>(s, *t, adam); break;
        case TN_F32: step_launch_flat<TN_F32>(s, *t, adam); break;
        default: step_launch_flat<TN_F64>(s, *t, adam);
        }
    }
    memset(t, 0, sizeof *t);
}

static void step_options_of(tnc_step_options *o, const tn_step_plan &p) {
    memset(o, 0, sizeof *o);
    o->decay = p.decay;
    o->momentum = p.momentum;
    o->one_dampening = p.one_dampening;
    o->rate = p.rate;
    o->one_beta1 = p.one_beta1;
    o->beta2 = p.beta2;
    o->one_beta2 = p.one_beta2;
    o->step = p.step;
    o->root = p.root;
    o->eps = p.eps;
    o->decays = p.decays;
    o->maximize = p.maximize;
    o->nesterov = p.nesterov;
    o->first = p.first;
    o->decoupled = p.decoupled;
}

/* The place of o among the table's options, where it is put if it is new; -1: no room. */
static int step_place(tnc_step_table *t, const tnc_step_options &o) {
    for (int i = t->noptions - 1; i >= 0; i--)
        if (memcmp(&t->options[i], &o, sizeof o) == 0) return i;
    if (t->noptions == STEP_OPTIONS) return -1;
    t->options[t->noptions] = o;
    return t->noptions++;
}

/* Whether the parameter of w is one of the table's, or has memory in common with one: a parameter
 * that is given twice takes two steps, one after the other. */
static bool step_meets(const tnc_step_table &t, const tn_walk_plan &w, int64_t bytes) {
    for (int i = 0; i < t.n; i++)
        if (w.at[0] < t.task[i].at[0] + t.task[i].n * bytes &&
            t.task[i].at[0] < w.at[0] + w.numel * bytes)
            return true;
    return false;
}

static void step_add(tnc_step_table *t, const tn_walk_plan &w, int options) {
    tnc_step_task *task = &t->task[t->n++];
    task->options = options;
    task->n = w.numel;
    task->first = t->chunks;
    task->aligned = true;
    for (int k = 0; k < w.n; k++) {
        task->at[k] = w.at[k];
        task->aligned = task->aligned && (uintptr_t)w.at[k] % 16 == 0;
    }
    t->chunks += (w.numel + STEP_CHUNK - 1) / STEP_CHUNK;
}

static bool step_is_flat(const tn_walk_plan &w, int64_t bytes) {
    for (int k = 0; k < w.n; k++)
        if (w.ndim != 1 || (w.numel > 1 && w.stride[k][0] != bytes)) return false;
    return true;
}

static void step_any(cudaStream_t s, const tn_walk_plan &p, const tnc_step_options &o, int dtype,
                     bool adam) {
    tnc_walk_pieces<TN_STEP_TENSORS>(p, [&](const tnc_walk<TN_STEP_TENSORS> &w) {
        switch (dtype) {
        case TN_F16: step_launch_any<TN_F16>(s, w, o, adam); break;
        case TN_BF16: step_launch_any<TN_BF16>(s, w, o, adam); break;
        case TN_F32: step_launch_any<TN_F32>(s, w, o, adam); break;
        default: step_launch_any<TN_F64>(s, w, o, adam);
        }
    });
}

static void step_run(tn_frame *f) {
    cudaStream_t s = tnc_stream(f);
    tnc_step_table t;
    tn_step_plan p;
    int dtype = 0;
    bool adam = false;
    memset(&t, 0, sizeof t);
    for (int64_t i = 0; tn_step_plan_of(&p, f, i); i++) {
        const int its = (int)tn_dtype_of(p.t[0]);
        const int64_t bytes = tnc_dtype_bytes(its);
        tnc_step_options o;
        tn_walk_plan w;
        int n = 0, place;
        adam = p.adam;
        /* Tensors that are not used are the last ones. */
        while (n < TN_STEP_TENSORS && p.t[n]) n++;
        tn_walk_plan_of(&w, p.t, n);
        if (!w.numel) continue;
        step_options_of(&o, p);
        if (t.n && (its != dtype || !step_is_flat(w, bytes) || t.n == STEP_TASKS ||
                    step_meets(t, w, bytes)))
            step_flush(s, &t, dtype, adam);
        dtype = its;
        if (!step_is_flat(w, bytes)) {
            step_any(s, w, o, dtype, adam);
            continue;
        }
        place = step_place(&t, o);
        if (place < 0) {
            step_flush(s, &t, dtype, adam);
            place = step_place(&t, o);
        }
        step_add(&t, w, place);
    }
    step_flush(s, &t, dtype, adam);
}

static void step_ruled(cudaStream_t s, const tn_step_plan &p) {
    const int dtype = (int)tn_dtype_of(p.t[0]);
    tn_tensor *t[TN_STEP_TENSORS];
    tnc_step_places places;
    tnc_step_factors f;
    tn_walk_plan plan;
    memset(&places, 0, sizeof places);
    memset(&f, 0, sizeof f);
    f.rule = p.rule;
    for (int k = 0; k < p.nfactors; k++) f.c[k] = p.factors[k];
    for (int k = 0; k < TN_STEP_TENSORS; k++) {
        if (!p.t[k]) continue;
        places.of[places.n] = k;
        t[places.n++] = p.t[k];
    }
    tn_walk_plan_of(&plan, t, places.n);
    tnc_walk_pieces<TN_STEP_TENSORS>(plan, [&](const tnc_walk<TN_STEP_TENSORS> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
#define STEP_RULED(type)                                                                \
    case type:                                                                          \
        TNC_LAUNCH_PLAIN((tnc_step_ruled<type>), blocks, TNC_THREADS, s, w, places, f); \
        break
        switch (dtype) {
            STEP_RULED(TN_F16);
            STEP_RULED(TN_BF16);
            STEP_RULED(TN_F32);
        default: TNC_LAUNCH_PLAIN((tnc_step_ruled<TN_F64>), blocks, TNC_THREADS, s, w, places, f);
        }
#undef STEP_RULED
    });
}
static void fused_step_run(tn_frame *f) {
    tn_step_plan p;
    for (int64_t i = 0; tn_step_plan_of(&p, f, i); i++) step_ruled(tnc_stream(f), p);
}

static const tn_device_row optimize_table[] = {{"fused_sgd", false, NULL, NULL, step_run},
                                               {"fused_adam", false, NULL, NULL, step_run},
                                               {"fused_adamw", false, NULL, NULL, step_run},
                                               {"fused_step", false, NULL, NULL, fused_step_run}};
TNC_FAMILY(optimize, optimize_table)
