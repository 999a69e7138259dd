/* cudnn.cu - convolutions by cuDNN 9: the one file that knows it. The library is opened when it is
 * first needed; without it, in exact mode, and where it has no plan, conv.cu has its own
 * kernels.
 *
 * A call becomes a graph of one operation. Of the plans that the library's heuristics name the
 * first one is taken whose sums are those of the convolution itself, in an order that is always the
 * same: no transforms (FFT, Winograd), no atomics, no fewer bits than the tensors have. Tensors go
 * to it with their own strides. */
#include "cudnn.cuh"
#include "plans.cuh"

#if !defined(TNC_EMULATED) && !defined(_WIN32)
#include <dlfcn.h>
#endif

/* --- calls ------------------------------------------------------------------------------------ */

enum { DNN_X, DNN_W, DNN_Y, DNN_SIDES, DNN_MOST = 5 };
struct dnn_call {
    /* x (N, C, ..), w (O, C / groups, ..), y (N, O, ..), in elements */
    int64_t size[DNN_SIDES][DNN_MOST], step[DNN_SIDES][DNN_MOST];
    int64_t align[DNN_SIDES]; /* at most 256 bytes */
    int64_t stride[3], pad[3], dilation[3];
    int64_t of, dims, dtype, device; /* dims: those of windows */
};
struct dnn_data {
    char *at[DNN_SIDES];
    const char *bias; /* NULL: none */
    int64_t bias_step;
};

static int64_t dnn_alignment(const char *at) {
    int64_t most = 256;
    while ((uintptr_t)at % (uintptr_t)most) most /= 2;
    return most;
}
/* Sizes and strides of side s; an image alone is a batch of one. */
static void dnn_side(dnn_call *c, dnn_data *d, int s, const tn_tensor *t) {
    const tn_operand o = tn_operand_of(t);
    const int n = (int)c->dims + 2, less = n - o.ndim;
    for (int k = 0; k < n; k++) {
        c->size[s][k] = k < less ? 1 : o.size[k - less];
        c->step[s][k] = k < less ? 0 : o.stride[k - less];
    }
    d->at[s] = o.at;
    c->align[s] = dnn_alignment(o.at);
}
/* The strides of a dense side: row-major, or channels last. */
static void dnn_dense(const dnn_call *c, int s, bool last, int64_t *step) {
    const int n = (int)c->dims + 2;
    int64_t next = 1;
    if (last) {
        step[1] = 1;
        next = c->size[s][1];
    }
    for (int k = n - 1; k >= 0; k--) {
        if (last && k == 1) continue;
        step[k] = next;
        next *= c->size[s][k];
    }
}
/* Whether side s lies so; strides of dimensions of one do not matter. */
static bool dnn_lies(const dnn_call *c, int s, bool last) {
    int64_t step[DNN_MOST];
    bool is = true;
    dnn_dense(c, s, last, step);
    for (int k = 0; k < c->dims + 2; k++)
        is = is && (c->size[s][k] == 1 || c->step[s][k] == step[k]);
    return is;
}
/* Strides that do not matter become those of the other sides' layout, for the library tells layouts
 * by them. False: elements share memory. */
static bool dnn_strides(dnn_call *c) {
    bool last = false;
    for (int s = 0; s < DNN_SIDES; s++)
        last = last || (dnn_lies(c, s, true) && !dnn_lies(c, s, false));
    for (int s = 0; s < DNN_SIDES; s++) {
        int64_t step[DNN_MOST];
        dnn_dense(c, s, last && dnn_lies(c, s, true), step);
        for (int k = 0; k < c->dims + 2; k++) {
            if (c->size[s][k] == 1) c->step[s][k] = step[k];
            if (c->step[s][k] <= 0) return false;
        }
    }
    return true;
}
/* The row's call; false: it is left to own kernels. */
static bool dnn_call_of(const tn_frame *f, int of, const tnc_windows &w, dnn_call *c, dnn_data *d) {
    static const int sides[][DNN_SIDES] = {{DNN_X, DNN_W, DNN_Y}, /* in[0], in[1], out[0] */
                                           {DNN_Y, DNN_W, DNN_X},
                                           {DNN_Y, DNN_X, DNN_W}};
    const tn_operand out = tn_operand_of(f->out[0]);
    memset(c, 0, sizeof *c);
    memset(d, 0, sizeof *d);
    if (!tnc_is_float(out.dtype) || !out.row_major) return false;
    c->of = of;
    c->dims = w.dims;
    c->dtype = out.dtype;
    c->device = tn_frame_device(f);
    memcpy(c->stride, w.stride, sizeof c->stride);
    memcpy(c->pad, w.pad, sizeof c->pad);
    memcpy(c->dilation, w.dilation, sizeof c->dilation);
    dnn_side(c, d, sides[of][0], f->in[0]);
    dnn_side(c, d, sides[of][1], f->in[1]);
    dnn_side(c, d, sides[of][2], f->out[0]);
    for (int s = 0; s < DNN_SIDES; s++)
        for (int k = 0; k < c->dims + 2; k++)
            if (c->size[s][k] < 1) return false;
    if (of == TNC_CONV_OUTPUT && f->in[2]) {
        const tn_operand bias = tn_operand_of(f->in[2]);
        d->bias = bias.at;
        d->bias_step = bias.stride[0] * bias.bytes;
    }
    return dnn_strides(c);
}

/* --- bias ------------------------------------------------------------------------------------- */

/* y, which is row-major, with its channel's bias. */
template <class T>
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_cudnn_bias(char *y, const char *bias, int64_t step, int dtype, int bytes, int64_t elements,
                   int64_t channels, int64_t plane) {
    for (int64_t i = TNC_FIRST(); i < elements; i += TNC_STEP()) {
        const T b = tnc_load_real<T>(bias + i / plane % channels * step, dtype);
        tnc_store_real(y + i * bytes, dtype, tnc_load_real<T>(y + i * bytes, dtype) + b);
    }
}
static void dnn_add_bias(const tn_frame *f, const dnn_call *c, const dnn_data *d) {
    const int64_t *size = c->size[DNN_Y];
    const int bytes = tnc_dtype_bytes((int)c->dtype);
    int64_t plane = 1;
    for (int k = 0; k < c->dims; k++) plane *= size[k + 2];
    const int64_t n = size[0] * size[1] * plane;
    if (c->dtype == TN_F64)
        TNC_LAUNCH_PLAIN(tnc_cudnn_bias<double>, tnc_blocks(n, TNC_THREADS), TNC_THREADS,
                         tnc_stream(f), d->at[DNN_Y], d->bias, d->bias_step, (int)c->dtype, bytes,
                         n, size[1], plane);
    else
        TNC_LAUNCH_PLAIN(tnc_cudnn_bias<float>, tnc_blocks(n, TNC_THREADS), TNC_THREADS,
                         tnc_stream(f), d->at[DNN_Y], d->bias, d->bias_step, (int)c->dtype, bytes,
                         n, size[1], plane);
}

/* --- the library ------------------------------------------------------------------------------ */

struct dnn_library {
#define DNN_MEMBER(name, parameters) int(*name) parameters;
    DNN_FUNCTIONS(DNN_MEMBER)
#undef DNN_MEMBER
};
static dnn_library dnn;
static std::mutex dnn_lock; /* of all below, and of a handle's stream until its launch */
static dnn_handle dnn_handles[TNC_DEVICES];

#ifdef TNC_EMULATED
/* In emulation a program may link a library of its own (tests/cuda_host/cudnn.h). */
extern "C" {
#define DNN_DECLARE(name, parameters) int cudnn##name parameters __attribute__((weak));
DNN_FUNCTIONS(DNN_DECLARE)
#undef DNN_DECLARE
size_t cudnnGetVersion(void) __attribute__((weak));
}
static bool dnn_open(void) {
    bool whole = cudnnGetVersion && cudnnGetVersion() / 10000 == 9;
#define DNN_FIND(name, parameters) \
    dnn.name = cudnn##name;        \
    whole = whole && dnn.name;
    DNN_FUNCTIONS(DNN_FIND)
#undef DNN_FIND
    return whole;
}
#elif defined _WIN32 || defined __HIP__
static bool dnn_open(void) { return false; }
#else
/* False: there is none, it is of another version, or it lacks a function. */
static bool dnn_open(void) {
    void *at = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL), *found;
    size_t (*version)(void);
    bool whole = true;
    if (!at) return false;
    found = dlsym(at, "cudnnGetVersion");
    memcpy(&version, &found, sizeof found);
    if (!found || version() / 10000 != 9) return false;
#define DNN_FIND(name, parameters)           \
    found = dlsym(at, "cudnn" #name);        \
    memcpy(&dnn.name, &found, sizeof found); \
    whole = whole && found;
    DNN_FUNCTIONS(DNN_FIND)
#undef DNN_FIND
    return whole;
}
#endif
static bool dnn_handle_of(int64_t device) {
    static const bool there = dnn_open();
    if (!there) return false;
    if (!dnn_handles[device] && (cudaSetDevice((int)device) || dnn.Create(&dnn_handles[device])))
        dnn_handles[device] = NULL;
    return dnn_handles[device] != NULL;
}

/* --- graphs ----------------------------------------------------------------------------------- */

/* What a plan keeps: its tensors come first, and nothing before what it was made of. */
enum { DNN_CONVOLUTION = DNN_SIDES, DNN_OPERATION, DNN_GRAPH, DNN_CONFIG, DNN_PLAN, DNN_KEPT };
struct dnn_plan {
    dnn_descriptor at[DNN_KEPT];
    int64_t workspace;
};
enum {
    DNN_CONFIGS = 64,    /* that the heuristics may name */
    DNN_NOTES = 32,      /* of an engine */
    DNN_ENOUGH = 1 << 30 /* bytes of workspace at most */
};

static bool dnn_set(dnn_descriptor d, int name, int type, int64_t count, const void *values) {
    return !dnn.BackendSetAttribute(d, name, type, count, values);
}
static bool dnn_set_number(dnn_descriptor d, int name, int type, int32_t value) {
    return dnn_set(d, name, type, 1, &value);
}
static bool dnn_set_one(dnn_descriptor d, int name, int64_t value) {
    return dnn_set(d, name, DNN_TYPE_INT64, 1, &value);
}
static bool dnn_set_part(dnn_descriptor d, int name, dnn_descriptor part) {
    return dnn_set(d, name, DNN_TYPE_BACKEND_DESCRIPTOR, 1, &part);
}
static bool dnn_new(int kind, dnn_descriptor *d) {
    if (!dnn.BackendCreateDescriptor(kind, d)) return true;
    *d = NULL;
    return false;
}
static void dnn_end(dnn_descriptor *d) {
    if (*d) dnn.BackendDestroyDescriptor(*d);
    *d = NULL;
}
static void dnn_drop(dnn_plan *p) {
    for (int i = DNN_KEPT - 1; i >= 0; i--) dnn_end(&p->at[i]);
}

static int dnn_type(int64_t dtype) {
    switch (dtype) {
    case TN_F64: return DNN_DATA_DOUBLE;
    case TN_F16: return DNN_DATA_HALF;
    case TN_BF16: return DNN_DATA_BFLOAT16;
    default: return DNN_DATA_FLOAT;
    }
}
/* A side's number is its unique id. */
static bool dnn_tensor(dnn_plan *p, const dnn_call *c, int s) {
    dnn_descriptor *d = &p->at[s];
    return dnn_new(DNN_BACKEND_TENSOR_DESCRIPTOR, d) &&
           dnn_set_number(*d, DNN_ATTR_TENSOR_DATA_TYPE, DNN_TYPE_DATA_TYPE, dnn_type(c->dtype)) &&
           dnn_set(*d, DNN_ATTR_TENSOR_DIMENSIONS, DNN_TYPE_INT64, c->dims + 2, c->size[s]) &&
           dnn_set(*d, DNN_ATTR_TENSOR_STRIDES, DNN_TYPE_INT64, c->dims + 2, c->step[s]) &&
           dnn_set_one(*d, DNN_ATTR_TENSOR_UNIQUE_ID, s + 1) &&
           dnn_set_one(*d, DNN_ATTR_TENSOR_BYTE_ALIGNMENT, c->align[s]) && !dnn.BackendFinalize(*d);
}
/* Sums are of double for double, else of float. */
static bool dnn_windows(dnn_plan *p, const dnn_call *c) {
    dnn_descriptor *d = &p->at[DNN_CONVOLUTION];
    return dnn_new(DNN_BACKEND_CONVOLUTION_DESCRIPTOR, d) &&
           dnn_set_number(*d, DNN_ATTR_CONVOLUTION_COMP_TYPE, DNN_TYPE_DATA_TYPE,
                          c->dtype == TN_F64 ? DNN_DATA_DOUBLE : DNN_DATA_FLOAT) &&
           dnn_set_number(*d, DNN_ATTR_CONVOLUTION_CONV_MODE, DNN_TYPE_CONVOLUTION_MODE,
                          DNN_CROSS_CORRELATION) &&
           dnn_set_one(*d, DNN_ATTR_CONVOLUTION_SPATIAL_DIMS, c->dims) &&
           dnn_set(*d, DNN_ATTR_CONVOLUTION_PRE_PADDINGS, DNN_TYPE_INT64, c->dims, c->pad) &&
           dnn_set(*d, DNN_ATTR_CONVOLUTION_POST_PADDINGS, DNN_TYPE_INT64, c->dims, c->pad) &&
           dnn_set(*d, DNN_ATTR_CONVOLUTION_DILATIONS, DNN_TYPE_INT64, c->dims, c->dilation) &&
           dnn_set(*d, DNN_ATTR_CONVOLUTION_FILTER_STRIDES, DNN_TYPE_INT64, c->dims, c->stride) &&
           !dnn.BackendFinalize(*d);
}
/* The operation of each row, and its attributes. */
struct dnn_names {
    int kind, x, w, y, convolution, alpha, beta;
};
#define DNN_NAMES(KIND, OP, X, W, Y)                                                              \
    {                                                                                             \
        DNN_BACKEND_OPERATION_CONVOLUTION_##KIND##_DESCRIPTOR,                                    \
            DNN_ATTR_OPERATION_CONVOLUTION_##OP##_##X, DNN_ATTR_OPERATION_CONVOLUTION_##OP##_##W, \
            DNN_ATTR_OPERATION_CONVOLUTION_##OP##_##Y,                                            \
            DNN_ATTR_OPERATION_CONVOLUTION_##OP##_CONV_DESC,                                      \
            DNN_ATTR_OPERATION_CONVOLUTION_##OP##_ALPHA,                                          \
            DNN_ATTR_OPERATION_CONVOLUTION_##OP##_BETA                                            \
    }
static const dnn_names dnn_operations[] = {DNN_NAMES(FORWARD, FORWARD, X, W, Y),
                                           DNN_NAMES(BACKWARD_DATA, BWD_DATA, DX, W, DY),
                                           DNN_NAMES(BACKWARD_FILTER, BWD_FILTER, X, DW, DY)};
#undef DNN_NAMES
static bool dnn_operation(dnn_plan *p, const dnn_call *c) {
    const dnn_names *a = &dnn_operations[c->of];
    static const double one = 1, zero = 0;
    static const float one_float = 1, zero_float = 0;
    const bool f64 = c->dtype == TN_F64;
    const int type = f64 ? DNN_TYPE_DOUBLE : DNN_TYPE_FLOAT;
    dnn_descriptor *d = &p->at[DNN_OPERATION];
    return dnn_new(a->kind, d) && dnn_set_part(*d, a->x, p->at[DNN_X]) &&
           dnn_set_part(*d, a->w, p->at[DNN_W]) && dnn_set_part(*d, a->y, p->at[DNN_Y]) &&
           dnn_set_part(*d, a->convolution, p->at[DNN_CONVOLUTION]) &&
           dnn_set(*d, a->alpha, type, 1, f64 ? (const void *)&one : &one_float) &&
           dnn_set(*d, a->beta, type, 1, f64 ? (const void *)&zero : &zero_float) &&
           !dnn.BackendFinalize(*d);
}
static bool dnn_graph(dnn_plan *p, const dnn_call *c) {
    dnn_descriptor *d = &p->at[DNN_GRAPH];
    for (int s = 0; s < DNN_SIDES; s++)
        if (!dnn_tensor(p, c, s)) return false;
    return dnn_windows(p, c) && dnn_operation(p, c) &&
           dnn_new(DNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, d) &&
           dnn_set_part(*d, DNN_ATTR_OPERATIONGRAPH_OPS, p->at[DNN_OPERATION]) &&
           dnn_set(*d, DNN_ATTR_OPERATIONGRAPH_HANDLE, DNN_TYPE_HANDLE, 1,
                   &dnn_handles[c->device]) &&
           !dnn.BackendFinalize(*d);
}

/* --- choosing --------------------------------------------------------------------------------- */

/* Whether the configuration's engine computes as this library promises. */
static bool dnn_allowed(dnn_descriptor config, const dnn_call *c) {
    const unsigned never = 1u << DNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION |
                           1u << DNN_NUMERICAL_NOTE_FFT |
                           1u << DNN_NUMERICAL_NOTE_NONDETERMINISTIC |
                           1u << DNN_NUMERICAL_NOTE_WINOGRAD |
                           1u << DNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4 |
                           1u << DNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6 |
                           1u << DNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13,
                   tf32 = 1u << DNN_NUMERICAL_NOTE_TENSOR_CORE |
                          1u << DNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
                   refused = never | (c->dtype == TN_F32 && !tnc_tf32() ? tf32 : 0u);
    int32_t notes[DNN_NOTES];
    int64_t n = 0, engines = 0;
    dnn_descriptor engine = NULL;
    bool ok = dnn_new(DNN_BACKEND_ENGINE_DESCRIPTOR, &engine) &&
              !dnn.BackendGetAttribute(config, DNN_ATTR_ENGINECFG_ENGINE,
                                       DNN_TYPE_BACKEND_DESCRIPTOR, 1, &engines, &engine) &&
              engines == 1 &&
              !dnn.BackendGetAttribute(engine, DNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                       DNN_TYPE_NUMERICAL_NOTE, DNN_NOTES, &n, notes);
    for (int64_t i = 0; ok && i < n && i < DNN_NOTES; i++)
        ok = notes[i] < 0 || notes[i] > 31 || !(refused >> notes[i] & 1);
    dnn_end(&engine);
    return ok;
}
static bool dnn_finish(dnn_plan *p, const dnn_call *c, dnn_descriptor config) {
    dnn_descriptor *d = &p->at[DNN_PLAN];
    int64_t n = 0;
    const bool ok =
        dnn_new(DNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, d) &&
        dnn_set(*d, DNN_ATTR_EXECUTION_PLAN_HANDLE, DNN_TYPE_HANDLE, 1, &dnn_handles[c->device]) &&
        dnn_set_part(*d, DNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config) &&
        !dnn.BackendFinalize(*d) &&
        !dnn.BackendGetAttribute(*d, DNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, DNN_TYPE_INT64, 1, &n,
                                 &p->workspace) &&
        n == 1 && p->workspace >= 0 && p->workspace <= DNN_ENOUGH;
    if (!ok) dnn_end(d);
    return ok;
}
/* The first of the configurations that the heuristics name which becomes a plan. */
static bool dnn_choose(dnn_plan *p, const dnn_call *c, int mode) {
    dnn_descriptor heuristics = NULL, config[DNN_CONFIGS] = {NULL};
    int64_t most = 0, n = 0;
    bool ok = dnn_new(DNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &heuristics) &&
              dnn_set_part(heuristics, DNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, p->at[DNN_GRAPH]) &&
              dnn_set_number(heuristics, DNN_ATTR_ENGINEHEUR_MODE, DNN_TYPE_HEUR_MODE, mode) &&
              !dnn.BackendFinalize(heuristics) &&
              !dnn.BackendGetAttribute(heuristics, DNN_ATTR_ENGINEHEUR_RESULTS,
                                       DNN_TYPE_BACKEND_DESCRIPTOR, 0, &most, NULL);
    if (most > DNN_CONFIGS) most = DNN_CONFIGS;
    for (int64_t i = 0; ok && i < most; i++)
        ok = dnn_new(DNN_BACKEND_ENGINECFG_DESCRIPTOR, &config[i]);
    ok = ok && !dnn.BackendGetAttribute(heuristics, DNN_ATTR_ENGINEHEUR_RESULTS,
                                        DNN_TYPE_BACKEND_DESCRIPTOR, most, &n, config);
    for (int64_t i = 0; ok && i < n && i < most && !p->at[DNN_PLAN]; i++)
        if (dnn_allowed(config[i], c) && dnn_finish(p, c, config[i])) {
            p->at[DNN_CONFIG] = config[i];
            config[i] = NULL;
        }
    for (int64_t i = 0; i < most; i++) dnn_end(&config[i]);
    dnn_end(&heuristics);
    return p->at[DNN_PLAN] != NULL;
}
static bool dnn_make(dnn_plan *p, const dnn_call *c) {
    const bool made =
        !cudaSetDevice((int)c->device) && dnn_graph(p, c) &&
        (dnn_choose(p, c, DNN_HEUR_MODE_A) || dnn_choose(p, c, DNN_HEUR_MODE_FALLBACK));
    (void)cudaGetLastError(); /* of engines that this device cannot have */
    return made;
}

/* --- plans ------------------------------------------------------------------------------------ */

static tnc_plans<dnn_call, dnn_plan> dnn_plans;

static int64_t dnn_most(void) {
#ifdef TNC_EMULATED
    return emu_number("EMU_CUDNN_PLANS", 1 << 12);
#else
    return 1 << 12;
#endif
}
/* The call's plan; NULL: it has none. */
static dnn_plan *dnn_plan_of(const dnn_call *c) {
    return dnn_handle_of(c->device) ? dnn_plans.find(*c, dnn_most(), dnn_make, dnn_drop) : NULL;
}

static bool dnn_execute(const tn_frame *f, const dnn_call *c, const dnn_data *d,
                        const dnn_plan *p) {
    static const int64_t ids[DNN_SIDES] = {DNN_X + 1, DNN_W + 1, DNN_Y + 1};
    const dnn_handle handle = dnn_handles[c->device];
    void *at[DNN_SIDES], *scratch = p->workspace ? f->scratch : NULL;
    dnn_descriptor pack = NULL;
    for (int s = 0; s < DNN_SIDES; s++) at[s] = d->at[s];
    const bool ok =
        dnn_new(DNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack) &&
        dnn_set(pack, DNN_ATTR_VARIANT_PACK_UNIQUE_IDS, DNN_TYPE_INT64, DNN_SIDES, ids) &&
        dnn_set(pack, DNN_ATTR_VARIANT_PACK_DATA_POINTERS, DNN_TYPE_VOID_PTR, DNN_SIDES, at) &&
        dnn_set(pack, DNN_ATTR_VARIANT_PACK_WORKSPACE, DNN_TYPE_VOID_PTR, 1, &scratch) &&
        !dnn.BackendFinalize(pack) && !dnn.SetStream(handle, tnc_stream(f)) &&
        !dnn.BackendExecute(handle, p->at[DNN_PLAN], pack);
    dnn_end(&pack);
    return ok;
}

/* --- for conv.cu ------------------------------------------------------------------------------ */

TNC_PRIV bool tnc_cudnn_takes(const tn_frame *f, int of, const tnc_windows &w, int64_t *bytes) {
    dnn_call c;
    dnn_data d;
    *bytes = 0;
    if (tnc_exact() || !dnn_call_of(f, of, w, &c, &d)) return false;
    std::lock_guard<std::mutex> hold(dnn_lock);
    dnn_plan *p = dnn_plan_of(&c);
    if (!p) return false;
    *bytes = p->workspace;
#ifdef TNC_EMULATED
    if (emu_number("EMU_CUDNN", 1) == 5) p->workspace += 64;
#endif
    return true;
}
TNC_PRIV bool tnc_cudnn_run(const tn_frame *f, int of, const tnc_windows &w) {
    dnn_call c;
    dnn_data d;
    if (tnc_exact() || !dnn_call_of(f, of, w, &c, &d)) return false;
    std::lock_guard<std::mutex> hold(dnn_lock);
    /* Where other threads' calls have driven out the plan that prepare found, it is made anew, and
     * may want more workspace. */
    const dnn_plan *p = dnn_plan_of(&c);
    if (!p || p->workspace > (int64_t)f->scratch_bytes || cudaSetDevice((int)c.device))
        return false;
    if (!dnn_execute(f, &c, &d, p)) return false;
    if (d.bias) dnn_add_bias(f, &c, &d);
    return true;
}
