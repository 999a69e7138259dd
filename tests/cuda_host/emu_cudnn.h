/* emu_cudnn.h - a stand-in for cuDNN's graph interface, for one file of a program: it keeps what is
 * set in descriptors, stops at what the interface forbids (a descriptor that is no part of another,
 * a wrong type or count, a wrong order, one that is used after its end), and computes the
 * convolution from the descriptors alone, in double.
 *
 * EMU_CUDNN: 1 (or not set) its engines are, in this order, some that break a promise of the
 * backend, some without a plan, and a good one; 2 it refuses to execute; 3 only the fallback names
 * engines; 4 nothing has a plan; 5 a plan wants more workspace when it is run.
 * EMU_CUDNN_LIBRARY=path/libcudnn.so.9 (9.8 or later): the real library is asked as well, for
 * EMU_CUDNN_DEVICE or an H200, without a GPU: it finalizes, names engines and makes plans. */
#ifndef EMU_CUDNN_H
#define EMU_CUDNN_H

#include "../../src/cuda/cudnn.cuh"
#include "emulation.h"

#include <dlfcn.h>
#include <map>
#include <set>
#include <vector>

struct emu_dnn_value {
    int type;
    int64_t count;
    std::vector<char> bytes;
};
struct emu_dnn {
    int kind;
    bool final;
    std::map<int, emu_dnn_value> has;
    int engine;        /* of a configuration and its engine; of a plan */
    emu_dnn *graph;    /* of a configuration; of a plan */
    int64_t workspace; /* of a plan */
    void *real;        /* the real library's, or NULL */
    template <class T>
    const T *get(int name) const {
        const auto found = has.find(name);
        return found == has.end() ? NULL : (const T *)(const void *)found->second.bytes.data();
    }
    int64_t count(int name) const { return has.find(name)->second.count; }
    const emu_dnn *part(int name) const { return *get<emu_dnn *>(name); }
};
struct dnn_context {
    int device;
    cudaStream_t stream;
};
struct emu_dnn_state {
    std::set<emu_dnn *> live;
    long long executed = 0;
    int engine = -1; /* that was executed last */
};
inline emu_dnn_state &emu_dnns() {
    static emu_dnn_state *state = new emu_dnn_state;
    return *state;
}
enum { EMU_DNN_BAD = 2000, EMU_DNN_UNSUPPORTED = 3000, EMU_DNN_FAILED = 5000 };
inline int emu_dnn_mode() { return (int)emu_number("EMU_CUDNN", 1); }

/* --- the real library, for its rules ---------------------------------------------------------- */

struct emu_dnn_real {
#define EMU_DNN_MEMBER(name, parameters) int(*name) parameters = NULL;
    DNN_FUNCTIONS(EMU_DNN_MEMBER)
#undef EMU_DNN_MEMBER
    void (*said)(char *, size_t) = NULL;
    void *device = NULL;
    bool there = false;
    enum { DEVICE = 38, JSON = 2702, CHAR = 24, HEURISTICS_DEVICE = 204, PLAN_DEVICE = 407 };
    emu_dnn_real() {
        const char *path = getenv("EMU_CUDNN_LIBRARY"), *json = getenv("EMU_CUDNN_DEVICE");
        if (!path) return;
        void *at = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!at) stop(dlerror());
#define EMU_DNN_FIND(name, parameters)        \
    void *f##name = dlsym(at, "cudnn" #name); \
    memcpy(&name, &f##name, sizeof f##name);
        DNN_FUNCTIONS(EMU_DNN_FIND)
#undef EMU_DNN_FIND
        void *f = dlsym(at, "cudnnGetLastErrorString");
        memcpy(&said, &f, sizeof f);
        if (!json)
            json = "{\"maxGridSize\":[2147483647,65535,65535],\"maxBlockSize\":[1024,1024,64],"
                   "\"regsPerBlock\":65536,\"multiProcessorCount\":132,\"deviceVer\":900,"
                   "\"driverVer\":13000,\"smClockRateKHz\":1980000,\"memClockRateKHz\":3201000,"
                   "\"l2CacheSize\":62914560,\"warpSize\":32,\"maxSharedMemoryPerBlock\":49152,"
                   "\"maxSharedMemoryPerBlockOptin\":232448,\"reservedSharedMemoryPerBlock\":1024,"
                   "\"maxRegistersPerSM\":65536,\"maxCtasPerSM\":32,\"maxThreadsPerBlock\":1024,"
                   "\"maxThreadsPerSM\":2048,\"isTccDriver\":0,\"supportCoopLaunch\":1,"
                   "\"totalGlobalMem\":150000000000,\"cudaDeviceId\":0,\"pciDeviceId\":0,"
                   "\"deviceName\":\"NVIDIA H200\"}";
        if (BackendCreateDescriptor(DEVICE, &device) ||
            BackendSetAttribute(device, JSON, CHAR, (int64_t)strlen(json), json) ||
            BackendFinalize(device))
            stop("a description of a device is refused");
        there = true;
    }
    [[noreturn]] void stop(const char *what) const {
        char text[2000] = "";
        if (said) said(text, sizeof text);
        fprintf(stderr, "%s: %s\n", what, text);
        emu_stop("cuDNN: the real library refuses");
    }
};
inline const emu_dnn_real &emu_dnn_library() {
    static const emu_dnn_real *real = new emu_dnn_real;
    return *real;
}

/* --- descriptors ------------------------------------------------------------------------------ */

/* Attributes that descriptors of a kind must have. */
struct emu_dnn_rule {
    int kind, name, type;
    int64_t least, most; /* how many */
    int part;            /* the kind of a descriptor; -1: an operation */
};
#define EMU_DNN_RULE(KIND, NAME, TYPE, least, most, part) \
    { DNN_BACKEND_##KIND##_DESCRIPTOR, DNN_ATTR_##NAME, DNN_TYPE_##TYPE, least, most, part }
#define EMU_DNN_PART(KIND, NAME, PART) \
    EMU_DNN_RULE(KIND, NAME, BACKEND_DESCRIPTOR, 1, 1, DNN_BACKEND_##PART##_DESCRIPTOR)
#define EMU_DNN_OPERATION(KIND, OP, X, W, Y)                                                       \
    EMU_DNN_PART(OPERATION_CONVOLUTION_##KIND, OPERATION_CONVOLUTION_##OP##_##X, TENSOR),          \
        EMU_DNN_PART(OPERATION_CONVOLUTION_##KIND, OPERATION_CONVOLUTION_##OP##_##W, TENSOR),      \
        EMU_DNN_PART(OPERATION_CONVOLUTION_##KIND, OPERATION_CONVOLUTION_##OP##_##Y, TENSOR),      \
        EMU_DNN_PART(OPERATION_CONVOLUTION_##KIND, OPERATION_CONVOLUTION_##OP##_CONV_DESC,         \
                     CONVOLUTION),                                                                 \
        EMU_DNN_RULE(OPERATION_CONVOLUTION_##KIND, OPERATION_CONVOLUTION_##OP##_ALPHA, FLOAT, 1,   \
                     1, 0),                                                                        \
        EMU_DNN_RULE(OPERATION_CONVOLUTION_##KIND, OPERATION_CONVOLUTION_##OP##_BETA, FLOAT, 1, 1, \
                     0)
static const emu_dnn_rule emu_dnn_rules[] = {
    EMU_DNN_RULE(TENSOR, TENSOR_DATA_TYPE, DATA_TYPE, 1, 1, 0),
    EMU_DNN_RULE(TENSOR, TENSOR_DIMENSIONS, INT64, 3, 8, 0),
    EMU_DNN_RULE(TENSOR, TENSOR_STRIDES, INT64, 3, 8, 0),
    EMU_DNN_RULE(TENSOR, TENSOR_UNIQUE_ID, INT64, 1, 1, 0),
    EMU_DNN_RULE(TENSOR, TENSOR_BYTE_ALIGNMENT, INT64, 1, 1, 0),
    EMU_DNN_RULE(CONVOLUTION, CONVOLUTION_COMP_TYPE, DATA_TYPE, 1, 1, 0),
    EMU_DNN_RULE(CONVOLUTION, CONVOLUTION_CONV_MODE, CONVOLUTION_MODE, 1, 1, 0),
    EMU_DNN_RULE(CONVOLUTION, CONVOLUTION_SPATIAL_DIMS, INT64, 1, 1, 0),
    EMU_DNN_RULE(CONVOLUTION, CONVOLUTION_PRE_PADDINGS, INT64, 2, 3, 0),
    EMU_DNN_RULE(CONVOLUTION, CONVOLUTION_POST_PADDINGS, INT64, 2, 3, 0),
    EMU_DNN_RULE(CONVOLUTION, CONVOLUTION_DILATIONS, INT64, 2, 3, 0),
    EMU_DNN_RULE(CONVOLUTION, CONVOLUTION_FILTER_STRIDES, INT64, 2, 3, 0),
    EMU_DNN_OPERATION(FORWARD, FORWARD, X, W, Y),
    EMU_DNN_OPERATION(BACKWARD_DATA, BWD_DATA, DX, W, DY),
    EMU_DNN_OPERATION(BACKWARD_FILTER, BWD_FILTER, X, DW, DY),
    EMU_DNN_RULE(OPERATIONGRAPH, OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR, 1, 1, -1),
    EMU_DNN_RULE(OPERATIONGRAPH, OPERATIONGRAPH_HANDLE, HANDLE, 1, 1, 0),
    EMU_DNN_PART(ENGINEHEUR, ENGINEHEUR_OPERATION_GRAPH, OPERATIONGRAPH),
    EMU_DNN_RULE(ENGINEHEUR, ENGINEHEUR_MODE, HEUR_MODE, 1, 1, 0),
    EMU_DNN_RULE(EXECUTION_PLAN, EXECUTION_PLAN_HANDLE, HANDLE, 1, 1, 0),
    EMU_DNN_PART(EXECUTION_PLAN, EXECUTION_PLAN_ENGINE_CONFIG, ENGINECFG),
    EMU_DNN_RULE(VARIANT_PACK, VARIANT_PACK_UNIQUE_IDS, INT64, 3, 3, 0),
    EMU_DNN_RULE(VARIANT_PACK, VARIANT_PACK_DATA_POINTERS, VOID_PTR, 3, 3, 0),
    EMU_DNN_RULE(VARIANT_PACK, VARIANT_PACK_WORKSPACE, VOID_PTR, 1, 1, 0)};
#undef EMU_DNN_RULE
#undef EMU_DNN_PART
#undef EMU_DNN_OPERATION
inline const emu_dnn_rule *emu_dnn_rule_of(int kind, int name) {
    for (const emu_dnn_rule &r : emu_dnn_rules)
        if (r.kind == kind && r.name == name) return &r;
    return NULL;
}
inline size_t emu_dnn_bytes(int type) {
    return type == DNN_TYPE_HANDLE || type == DNN_TYPE_INT64 || type == DNN_TYPE_DOUBLE ||
                   type == DNN_TYPE_VOID_PTR || type == DNN_TYPE_BACKEND_DESCRIPTOR
               ? 8
               : 4;
}
inline emu_dnn *emu_dnn_of(dnn_descriptor d) {
    if (!emu_dnns().live.count((emu_dnn *)d))
        emu_stop("cuDNN: a descriptor is used that was destroyed, or never made");
    return (emu_dnn *)d;
}
inline bool emu_dnn_operation(int kind) {
    return kind == DNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
           kind == DNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ||
           kind == DNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
}

/* --- the convolution -------------------------------------------------------------------------- */

/* As the descriptors have it. */
struct emu_dnn_side {
    int64_t size[8], step[8], align, id;
    int type, n;
};
struct emu_dnn_job {
    emu_dnn_side x, w, y;
    int64_t pre[3], post[3], dilation[3], stride[3];
    int dims, of; /* of: as TNC_CONV_OUTPUT .. */
    double alpha, beta;
    char *at[3];
};
inline emu_dnn_side emu_dnn_side_of(const emu_dnn *d) {
    emu_dnn_side s;
    s.n = (int)d->count(DNN_ATTR_TENSOR_DIMENSIONS);
    if (d->count(DNN_ATTR_TENSOR_STRIDES) != s.n)
        emu_stop("cuDNN: a tensor has %lld sizes and other strides", s.n);
    memcpy(s.size, d->get<int64_t>(DNN_ATTR_TENSOR_DIMENSIONS), sizeof(int64_t) * (size_t)s.n);
    memcpy(s.step, d->get<int64_t>(DNN_ATTR_TENSOR_STRIDES), sizeof(int64_t) * (size_t)s.n);
    s.type = *d->get<int32_t>(DNN_ATTR_TENSOR_DATA_TYPE);
    s.align = *d->get<int64_t>(DNN_ATTR_TENSOR_BYTE_ALIGNMENT);
    s.id = *d->get<int64_t>(DNN_ATTR_TENSOR_UNIQUE_ID);
    return s;
}
inline double emu_dnn_scale(const emu_dnn *op, int name) {
    return op->has.find(name)->second.type == DNN_TYPE_DOUBLE ? *op->get<double>(name)
                                                              : (double)*op->get<float>(name);
}
inline emu_dnn_job emu_dnn_job_of(const emu_dnn *op) {
    static const int names[3][6] = {
        {DNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, DNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
         DNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, DNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
         DNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, DNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
        {DNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, DNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
         DNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
         DNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
         DNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
         DNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
        {DNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, DNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
         DNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
         DNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
         DNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
         DNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}};
    emu_dnn_job j;
    j.of = op->kind == DNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR         ? 0
           : op->kind == DNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ? 1
                                                                                    : 2;
    const int *name = names[j.of];
    j.x = emu_dnn_side_of(op->part(name[0]));
    j.w = emu_dnn_side_of(op->part(name[1]));
    j.y = emu_dnn_side_of(op->part(name[2]));
    j.alpha = emu_dnn_scale(op, name[4]);
    j.beta = emu_dnn_scale(op, name[5]);
    const emu_dnn *c = op->part(name[3]);
    j.dims = (int)*c->get<int64_t>(DNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
    const struct {
        int name;
        int64_t *to;
    } lists[] = {{DNN_ATTR_CONVOLUTION_PRE_PADDINGS, j.pre},
                 {DNN_ATTR_CONVOLUTION_POST_PADDINGS, j.post},
                 {DNN_ATTR_CONVOLUTION_DILATIONS, j.dilation},
                 {DNN_ATTR_CONVOLUTION_FILTER_STRIDES, j.stride}};
    for (const auto &l : lists) {
        if (c->count(l.name) != j.dims) emu_stop("cuDNN: lists of windows have other lengths");
        memcpy(l.to, c->get<int64_t>(l.name), sizeof(int64_t) * (size_t)j.dims);
    }
    if (*c->get<int32_t>(DNN_ATTR_CONVOLUTION_CONV_MODE) != DNN_CROSS_CORRELATION)
        emu_stop("cuDNN: a convolution turns its kernel");
    if (*c->get<int32_t>(DNN_ATTR_CONVOLUTION_COMP_TYPE) !=
        (j.x.type == DNN_DATA_DOUBLE ? DNN_DATA_DOUBLE : DNN_DATA_FLOAT))
        emu_stop("cuDNN: the type of sums is not that of the tensors");
    if (op->has.find(name[4])->second.type !=
        (j.x.type == DNN_DATA_DOUBLE ? DNN_TYPE_DOUBLE : DNN_TYPE_FLOAT))
        emu_stop("cuDNN: the type of alpha is not that of the sums");
    return j;
}
/* Whether a tensor lies in rows; `all`: with the strides of dimensions of one, too. */
inline bool emu_dnn_rows(const emu_dnn_side &s, bool all) {
    int64_t step = 1;
    bool are = true;
    for (int k = s.n - 1; k >= 0; k--) {
        are = are && (s.step[k] == step || (!all && s.size[k] == 1));
        step *= s.size[k];
    }
    return are;
}
/* The sizes must be those of a convolution. */
inline void emu_dnn_check(const emu_dnn_job &j) {
    const bool right = j.x.n == j.dims + 2 && j.w.n == j.x.n && j.y.n == j.x.n &&
                       j.x.type == j.w.type && j.w.type == j.y.type && j.x.size[0] == j.y.size[0] &&
                       j.x.size[1] % j.w.size[1] == 0 && j.y.size[1] == j.w.size[0] &&
                       j.w.size[0] % (j.x.size[1] / j.w.size[1]) == 0;
    if (!right) emu_stop("cuDNN: the sizes are of no convolution");
    if (j.x.id == j.y.id || j.x.id == j.w.id || j.w.id == j.y.id)
        emu_stop("cuDNN: two tensors have one id");
    bool rows = true, all = true; /* cuDNN tells layouts by strides of dimensions of one, too */
    for (const emu_dnn_side *s : {&j.x, &j.w, &j.y}) {
        rows = rows && emu_dnn_rows(*s, false);
        all = all && emu_dnn_rows(*s, true);
    }
    if (rows && !all) emu_stop("cuDNN: tensors in rows have strides of another layout");
    for (int k = 0; k < j.dims; k++)
        if (j.y.size[k + 2] !=
            (j.x.size[k + 2] + j.pre[k] + j.post[k] - (j.w.size[k + 2] - 1) * j.dilation[k] - 1) /
                    j.stride[k] +
                1)
            emu_stop("cuDNN: size %lld of dimension %lld is of other windows",
                     (long long)j.y.size[k + 2], k + 2);
}
inline int emu_dnn_dtype(int type) {
    return type == DNN_DATA_DOUBLE     ? (int)TN_F64
           : type == DNN_DATA_HALF     ? (int)TN_F16
           : type == DNN_DATA_BFLOAT16 ? (int)TN_BF16
                                       : (int)TN_F32;
}
inline int64_t emu_dnn_numel(const emu_dnn_side &s) {
    int64_t n = 1;
    for (int k = 0; k < s.n; k++) n *= s.size[k];
    return n;
}
/* Numbers of element i, the innermost dimension last, and its offset. */
inline int64_t emu_dnn_place(const emu_dnn_side &s, int64_t i, int64_t *at) {
    int64_t offset = 0;
    for (int k = s.n - 1; k >= 0; k--) {
        at[k] = i % s.size[k];
        i /= s.size[k];
        offset += at[k] * s.step[k];
    }
    return offset;
}
inline void emu_dnn_compute(const emu_dnn_job &j) {
    const int dtype = emu_dnn_dtype(j.x.type);
    const size_t each = (size_t)tnc_dtype_bytes(dtype);
    const emu_dnn_side *sides[] = {&j.x, &j.w, &j.y}, &out = *sides[j.of == 0   ? 2
                                                                    : j.of == 1 ? 0
                                                                                : 1];
    char *to = j.at[j.of == 0 ? 2 : j.of == 1 ? 0 : 1];
    const int64_t group = j.w.size[1], each_out = j.w.size[0] / (j.x.size[1] / group);
    std::map<int64_t, double> sums; /* by offset */
    int64_t p[8], t[8];
    for (int64_t i = 0; i < emu_dnn_numel(out); i++) sums[emu_dnn_place(out, i, p)] = 0;
    for (int64_t i = 0; i < emu_dnn_numel(j.y); i++) {
        const int64_t y = emu_dnn_place(j.y, i, p);
        for (int64_t q = 0; q < emu_dnn_numel(j.w) / j.w.size[0]; q++) {
            emu_dnn_side taps = j.w;
            taps.size[0] = 1;
            const int64_t w = emu_dnn_place(taps, q, t) + p[1] * j.w.step[0];
            int64_t x = p[0] * j.x.step[0] + (p[1] / each_out * group + t[1]) * j.x.step[1];
            bool inside = true;
            for (int k = 0; k < j.dims; k++) {
                const int64_t place = p[k + 2] * j.stride[k] - j.pre[k] + t[k + 2] * j.dilation[k];
                inside = inside && place >= 0 && place < j.x.size[k + 2];
                x += place * j.x.step[k + 2];
            }
            if (!inside) continue;
            const int64_t offset[] = {x, w, y};
            double product = 1;
            for (int s = 0; s < 3; s++)
                if (sides[s] != &out)
                    product *= tnc_load_real<double>(j.at[s] + (size_t)offset[s] * each, dtype);
            sums[offset[j.of == 0 ? 2 : j.of == 1 ? 0 : 1]] += product;
        }
    }
    for (const auto &s : sums) {
        char *at = to + (size_t)s.first * each;
        double v = j.alpha * s.second;
        if (j.beta != 0) v += j.beta * tnc_load_real<double>(at, dtype);
        tnc_store_real(at, dtype, v);
    }
}

/* --- engines ---------------------------------------------------------------------------------- */

/* Numbers of its engines, in the order in which heuristics name them. */
enum {
    EMU_DNN_ATOMICS,
    EMU_DNN_TF32,
    EMU_DNN_CONVERTS,
    EMU_DNN_CORES,
    EMU_DNN_TRANSFORMS,
    EMU_DNN_WINOGRAD,
    EMU_DNN_TILES,
    EMU_DNN_NARROW,
    EMU_DNN_PLANLESS,
    EMU_DNN_GREEDY,
    EMU_DNN_GOOD,
    EMU_DNN_OTHER,
    EMU_DNN_ENGINES
};
inline std::vector<int32_t> emu_dnn_notes(int engine) {
    switch (engine) {
    case EMU_DNN_ATOMICS: return {DNN_NUMERICAL_NOTE_NONDETERMINISTIC};
    case EMU_DNN_TF32:
        return {DNN_NUMERICAL_NOTE_TENSOR_CORE, DNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS};
    case EMU_DNN_CONVERTS: return {DNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS};
    case EMU_DNN_CORES: return {DNN_NUMERICAL_NOTE_TENSOR_CORE};
    case EMU_DNN_TRANSFORMS: return {DNN_NUMERICAL_NOTE_FFT};
    case EMU_DNN_WINOGRAD: return {DNN_NUMERICAL_NOTE_WINOGRAD};
    case EMU_DNN_TILES: return {DNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4};
    case EMU_DNN_NARROW: return {DNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION};
    default: return {};
    }
}

/* --- the functions ---------------------------------------------------------------------------- */

extern "C" {
size_t cudnnGetVersion(void) { return (size_t)emu_number("EMU_CUDNN_VERSION", 91900); }
int cudnnCreate(dnn_handle *handle) {
    int device;
    if (cudaGetDevice(&device)) return EMU_DNN_FAILED;
    *handle = new dnn_context{device, NULL};
    return 0;
}
int cudnnSetStream(dnn_handle handle, cudaStream_t stream) {
    handle->stream = stream;
    return 0;
}
int cudnnBackendCreateDescriptor(int kind, dnn_descriptor *d) {
    const emu_dnn_real &real = emu_dnn_library();
    emu_dnn *made = new emu_dnn{kind, false, {}, -1, NULL, 0, NULL};
    if (real.there && real.BackendCreateDescriptor(kind, &made->real))
        real.stop("a descriptor cannot be made");
    emu_dnns().live.insert(made);
    *d = made;
    return 0;
}
int cudnnBackendDestroyDescriptor(dnn_descriptor d) {
    emu_dnn *gone = emu_dnn_of(d);
    if (gone->real) emu_dnn_library().BackendDestroyDescriptor(gone->real);
    emu_dnns().live.erase(gone);
    delete gone;
    return 0;
}
int cudnnBackendSetAttribute(dnn_descriptor of, int name, int type, int64_t count, const void *at) {
    const emu_dnn_real &real = emu_dnn_library();
    emu_dnn *d = emu_dnn_of(of);
    const emu_dnn_rule *r = emu_dnn_rule_of(d->kind, name);
    const bool scale = r && r->type == DNN_TYPE_FLOAT && type == DNN_TYPE_DOUBLE;
    if (!r) emu_stop("cuDNN: attribute %lld is none of descriptor %lld", name, d->kind);
    if (type != r->type && !scale) emu_stop("cuDNN: attribute %lld has type %lld", name, type);
    if (count < r->least || count > r->most)
        emu_stop("cuDNN: attribute %lld has %lld elements", name, (long long)count);
    if (d->final) emu_stop("cuDNN: attribute %lld is set in a descriptor that is final", name);
    emu_dnn_value v = {type, count, std::vector<char>((size_t)count * emu_dnn_bytes(type))};
    memcpy(v.bytes.data(), at, v.bytes.size());
    const void *given = at;
    void *part = NULL;
    if (type == DNN_TYPE_BACKEND_DESCRIPTOR) {
        const emu_dnn *p = emu_dnn_of(*(const dnn_descriptor *)at);
        if (!p->final) emu_stop("cuDNN: attribute %lld is a descriptor that is not final", name);
        if (r->part < 0 ? !emu_dnn_operation(p->kind) : p->kind != r->part)
            emu_stop("cuDNN: attribute %lld is a descriptor of kind %lld", name, p->kind);
        part = p->real;
        given = &part;
    }
    if (type == DNN_TYPE_HANDLE) {
        if (!*(const dnn_handle *)at) emu_stop("cuDNN: attribute %lld is no handle", name);
        given = &real.device; /* there is no handle without a device */
        if (name == DNN_ATTR_EXECUTION_PLAN_HANDLE) {
            if (real.there && real.BackendSetAttribute(d->real, emu_dnn_real::PLAN_DEVICE,
                                                       DNN_TYPE_BACKEND_DESCRIPTOR, 1, given))
                real.stop("a plan has no device");
        }
    } else if (real.there && d->kind != DNN_BACKEND_VARIANT_PACK_DESCRIPTOR &&
               real.BackendSetAttribute(d->real, name, type, count, given))
        real.stop("an attribute is refused");
    d->has[name] = v;
    return 0;
}
int cudnnBackendFinalize(dnn_descriptor of) {
    const emu_dnn_real &real = emu_dnn_library();
    emu_dnn *d = emu_dnn_of(of);
    if (d->final) emu_stop("cuDNN: a descriptor is made final twice");
    for (const emu_dnn_rule &r : emu_dnn_rules)
        if (r.kind == d->kind && !d->has.count(r.name))
            emu_stop("cuDNN: a descriptor is made final without attribute %lld", r.name);
    if (emu_dnn_operation(d->kind)) emu_dnn_check(emu_dnn_job_of(d));
    if (real.there && d->kind == DNN_BACKEND_ENGINEHEUR_DESCRIPTOR &&
        real.BackendSetAttribute(d->real, emu_dnn_real::HEURISTICS_DEVICE,
                                 DNN_TYPE_BACKEND_DESCRIPTOR, 1, &real.device))
        real.stop("heuristics have no device");
    if (real.there && d->kind != DNN_BACKEND_VARIANT_PACK_DESCRIPTOR) {
        const int status = real.BackendFinalize(d->real);
        if (status && status / 1000 != 3) real.stop("a descriptor cannot be made final");
        if (status) return status;
    }
    if (d->kind == DNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
        int64_t n;
        d->engine = d->part(DNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->engine;
        d->graph = d->part(DNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->graph;
        if (emu_dnn_mode() == 4 || d->engine == EMU_DNN_PLANLESS) return EMU_DNN_UNSUPPORTED;
        d->workspace = d->engine == EMU_DNN_GREEDY ? (int64_t)1 << 40 : 1000;
        if (real.there && real.BackendGetAttribute(d->real, DNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                                   DNN_TYPE_INT64, 1, &n, &d->workspace))
            real.stop("a plan has no workspace");
    }
    d->final = true;
    return 0;
}
static int emu_dnn_get_engines(emu_dnn *heuristics, int64_t room, int64_t *count, void *to) {
    const emu_dnn_real &real = emu_dnn_library();
    dnn_descriptor *configs = (dnn_descriptor *)to;
    std::vector<void *> theirs;
    for (int64_t i = 0; i < room; i++) theirs.push_back(emu_dnn_of(configs[i])->real);
    const int mode = *heuristics->get<int32_t>(DNN_ATTR_ENGINEHEUR_MODE);
    *count = emu_dnn_mode() == 3 && mode != DNN_HEUR_MODE_FALLBACK ? 0 : EMU_DNN_ENGINES;
    if (real.there &&
        real.BackendGetAttribute(heuristics->real, DNN_ATTR_ENGINEHEUR_RESULTS,
                                 DNN_TYPE_BACKEND_DESCRIPTOR, room, count, theirs.data()))
        real.stop("heuristics name no engines");
    for (int64_t i = 0; i < room && i < *count; i++) {
        emu_dnn *c = emu_dnn_of(configs[i]);
        if (c->kind != DNN_BACKEND_ENGINECFG_DESCRIPTOR)
            emu_stop("cuDNN: an engine goes into a descriptor of kind %lld", c->kind);
        c->engine = real.there ? EMU_DNN_GOOD : (int)i;
        c->graph = *heuristics->get<emu_dnn *>(DNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
        c->final = true;
    }
    if (room && *count > room) *count = room;
    return 0;
}
int cudnnBackendGetAttribute(dnn_descriptor of, int name, int type, int64_t room, int64_t *count,
                             void *to) {
    const emu_dnn_real &real = emu_dnn_library();
    emu_dnn *d = emu_dnn_of(of);
    if (!d->final) emu_stop("cuDNN: attribute %lld is read before its descriptor is final", name);
    if (d->kind == DNN_BACKEND_ENGINEHEUR_DESCRIPTOR && name == DNN_ATTR_ENGINEHEUR_RESULTS &&
        type == DNN_TYPE_BACKEND_DESCRIPTOR)
        return emu_dnn_get_engines(d, room, count, to);
    if (d->kind == DNN_BACKEND_ENGINECFG_DESCRIPTOR && name == DNN_ATTR_ENGINECFG_ENGINE &&
        type == DNN_TYPE_BACKEND_DESCRIPTOR && room == 1) {
        emu_dnn *engine = emu_dnn_of(*(dnn_descriptor *)to);
        if (engine->kind != DNN_BACKEND_ENGINE_DESCRIPTOR) emu_stop("cuDNN: that is no engine");
        engine->engine = d->engine;
        engine->final = true;
        *count = 1;
        return real.there ? real.BackendGetAttribute(d->real, name, type, 1, count, &engine->real)
                          : 0;
    }
    if (d->kind == DNN_BACKEND_ENGINE_DESCRIPTOR && name == DNN_ATTR_ENGINE_NUMERICAL_NOTE &&
        type == DNN_TYPE_NUMERICAL_NOTE && room >= 10) {
        if (real.there) return real.BackendGetAttribute(d->real, name, type, room, count, to);
        const std::vector<int32_t> notes = emu_dnn_notes(d->engine);
        *count = (int64_t)notes.size();
        memcpy(to, notes.data(), notes.size() * sizeof(int32_t));
        return 0;
    }
    if (d->kind == DNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
        name == DNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE && type == DNN_TYPE_INT64 && room == 1) {
        *count = 1;
        memcpy(to, &d->workspace, sizeof d->workspace);
        return 0;
    }
    emu_stop("cuDNN: attribute %lld is none to read in descriptor %lld", name, d->kind);
}
int cudnnBackendExecute(dnn_handle handle, dnn_descriptor of, dnn_descriptor with) {
    const emu_dnn *plan = emu_dnn_of(of), *pack = emu_dnn_of(with);
    int device;
    if (plan->kind != DNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR || !plan->final ||
        pack->kind != DNN_BACKEND_VARIANT_PACK_DESCRIPTOR || !pack->final)
        emu_stop("cuDNN: a plan and its pack are executed");
    if (cudaGetDevice(&device) || device != handle->device ||
        emu_check(handle->stream)->device != device)
        emu_stop("cuDNN: handle, stream and current device are not of one device");
    if (*plan->get<dnn_handle>(DNN_ATTR_EXECUTION_PLAN_HANDLE) != handle)
        emu_stop("cuDNN: the plan is of another handle");
    if (emu_dnn_mode() == 2) return EMU_DNN_FAILED;
    emu_dnn_job j = emu_dnn_job_of(plan->graph->part(DNN_ATTR_OPERATIONGRAPH_OPS));
    const emu_dnn_side *sides[] = {&j.x, &j.w, &j.y};
    const int64_t *ids = pack->get<int64_t>(DNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    for (int s = 0; s < 3; s++) {
        j.at[s] = NULL;
        for (int i = 0; i < 3; i++)
            if (ids[i] == sides[s]->id)
                j.at[s] = pack->get<char *>(DNN_ATTR_VARIANT_PACK_DATA_POINTERS)[i];
        if (!j.at[s] || (uintptr_t)j.at[s] % (uintptr_t)sides[s]->align)
            emu_stop("cuDNN: tensor %lld is not there, or not aligned to %lld bytes",
                     (long long)sides[s]->id, (long long)sides[s]->align);
    }
    char *room = *pack->get<char *>(DNN_ATTR_VARIANT_PACK_WORKSPACE);
    const size_t bytes = (size_t)plan->workspace;
    if (bytes && !room) emu_stop("cuDNN: there is no workspace");
    emu_dnns().executed++;
    emu_dnns().engine = plan->engine;
    emu_enqueue(handle->stream, [=] {
        if (bytes) memset(room, 0x7f, bytes);
        emu_dnn_compute(j);
    });
    return 0;
}
}
#endif
