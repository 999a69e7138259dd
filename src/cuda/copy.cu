/* copy.cu - elements to other places of the device: any strides, any dtypes; fills. */
#include "copy.cuh"
#include "elements.cuh"

/* Moves elements as bytes. */
template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_move_kernel(tnc_walk<2> w) {
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[2];
        tnc_walk_to(w, (uint32_t)i, at);
        *(E *)(w.at[0] + at[0]) = *(const E *)(w.at[1] + at[1]);
    }
}

/* Converts elements by way of `type`. */
template <int type>
__global__ void __launch_bounds__(TNC_THREADS) tnc_convert_kernel(tnc_walk<2> w, int to, int from) {
    typedef tnc_move<type> move;
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[2];
        tnc_walk_to(w, (uint32_t)i, at);
        move::store(w.at[0] + at[0], to, to, move::load(w.at[1] + at[1], from, from));
    }
}

template <class E>
__global__ void __launch_bounds__(TNC_THREADS) tnc_fill_kernel(tnc_walk<1> w, tnc_pair unit) {
    E e;
    memcpy(&e, &unit, sizeof e);
    for (int64_t i = TNC_FIRST(); i < w.n; i += TNC_STEP()) {
        int64_t at[1];
        tnc_walk_to(w, (uint32_t)i, at);
        *(E *)(w.at[0] + at[0]) = e;
    }
}

/* --- host ------------------------------------------------------------------------------------- */

static void copy_move(cudaStream_t s, const tnc_walk<2> &w, int bytes) {
    const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
    switch (bytes) {
    case 1: TNC_LAUNCH_PLAIN((tnc_move_kernel<uint8_t>), blocks, TNC_THREADS, s, w); break;
    case 2: TNC_LAUNCH_PLAIN((tnc_move_kernel<uint16_t>), blocks, TNC_THREADS, s, w); break;
    case 4: TNC_LAUNCH_PLAIN((tnc_move_kernel<uint32_t>), blocks, TNC_THREADS, s, w); break;
    case 8: TNC_LAUNCH_PLAIN((tnc_move_kernel<uint64_t>), blocks, TNC_THREADS, s, w); break;
    default: TNC_LAUNCH_PLAIN((tnc_move_kernel<tnc_pair>), blocks, TNC_THREADS, s, w);
    }
}

/* Neighbours that lie side by side in all operands become one element, of up to 16 bytes; the bytes
 * of an element then. */
static int copy_widen(tn_walk_plan *p, int operands, int bytes) {
    for (; bytes < 16 && p->numel && p->size[0] % 2 == 0; bytes *= 2) {
        for (int k = 0; k < operands; k++) {
            if (p->stride[k][0] != bytes || (uintptr_t)p->at[k] % (2u * (unsigned)bytes))
                return bytes;
            for (int d = 1; d < p->ndim; d++)
                if (p->stride[k][d] % (2 * bytes)) return bytes;
        }
        for (int k = 0; k < operands; k++) p->stride[k][0] = 2 * bytes;
        p->size[0] /= 2;
        p->numel /= 2;
    }
    return bytes;
}

TNC_PRIV void tnc_move_by(cudaStream_t s, const tn_walk_plan &of, int bytes) {
    tn_walk_plan p = of;
    const int wide = copy_widen(&p, 2, bytes);
    tnc_walk_pieces<2>(p, [=](const tnc_walk<2> &w) { copy_move(s, w, wide); });
}

/* The type by way of which an element goes from one dtype to another with the CPU's value. */
static int copy_way(int to, int from) {
    const bool complex = from == TN_C64 || from == TN_C128;
    switch (to) {
    case TN_BOOL:
        if (complex) return TNC_C128; /* 1i is true */
        return from == TN_F16 || from == TN_BF16 || from == TN_F32 || from == TN_F64 ? (int)TNC_F64
                                                                                     : (int)TNC_I64;
    case TN_U8:
    case TN_I8:
    case TN_I16:
    case TN_I32:
    case TN_I64: return complex ? TNC_C128 : TNC_I64;
    case TN_F64: return TNC_F64;
    case TN_C64: return TNC_C64;
    case TN_C128: return TNC_C128;
    default: return TNC_F32;
    }
}

static void copy_convert(cudaStream_t s, const tnc_walk<2> &w, int to, int from) {
    const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
#define COPY_BY(type)                                                                      \
    case type:                                                                             \
        TNC_LAUNCH_PLAIN((tnc_convert_kernel<type>), blocks, TNC_THREADS, s, w, to, from); \
        break;
    switch (copy_way(to, from)) {
        COPY_BY(TNC_F32)
        COPY_BY(TNC_F64)
        COPY_BY(TNC_I64)
        COPY_BY(TNC_C64)
        COPY_BY(TNC_C128)
    }
#undef COPY_BY
}

TNC_PRIV void tnc_convert_one(cudaStream_t s, char *to, int to_dtype, const char *from,
                              int from_dtype) {
    tnc_walk<2> w;
    memset(&w, 0, sizeof w);
    w.at[0] = to;
    w.at[1] = (char *)(uintptr_t)from;
    w.n = w.ndim = 1;
    w.size[0] = 1;
    copy_convert(s, w, to_dtype, from_dtype);
}

TNC_PRIV void tnc_elements(int32_t device, tn_tensor *dst, const tn_tensor *src) {
    tn_tensor *both[2] = {dst, (tn_tensor *)(uintptr_t)src};
    const int to = (int)tn_dtype_of(dst), from = (int)tn_dtype_of(src);
    cudaStream_t s = tnc_stream_of(device);
    tn_walk_plan p;
    tn_walk_plan_of(&p, both, 2);
    if (to == from)
        tnc_move_by(s, p, tnc_dtype_bytes(to));
    else
        tnc_walk_pieces<2>(p, [=](const tnc_walk<2> &w) { copy_convert(s, w, to, from); });
}

TNC_PRIV void tnc_fill(int32_t device, tn_tensor *dst, const void *unit) {
    const int one = tnc_dtype_bytes((int)tn_dtype_of(dst));
    cudaStream_t s = tnc_stream_of(device);
    tn_walk_plan p;
    tnc_pair e = {{0, 0}};
    tn_walk_plan_of(&p, &dst, 1);
    const int bytes = copy_widen(&p, 1, one);
    for (int i = 0; i < bytes; i += one) memcpy((char *)&e + i, unit, (size_t)one);
    tnc_walk_pieces<1>(p, [=](const tnc_walk<1> &w) {
        const unsigned blocks = tnc_blocks(w.n, TNC_THREADS);
        switch (bytes) {
        case 1: TNC_LAUNCH_PLAIN((tnc_fill_kernel<uint8_t>), blocks, TNC_THREADS, s, w, e); break;
        case 2: TNC_LAUNCH_PLAIN((tnc_fill_kernel<uint16_t>), blocks, TNC_THREADS, s, w, e); break;
        case 4: TNC_LAUNCH_PLAIN((tnc_fill_kernel<uint32_t>), blocks, TNC_THREADS, s, w, e); break;
        case 8: TNC_LAUNCH_PLAIN((tnc_fill_kernel<uint64_t>), blocks, TNC_THREADS, s, w, e); break;
        default: TNC_LAUNCH_PLAIN((tnc_fill_kernel<tnc_pair>), blocks, TNC_THREADS, s, w, e);
        }
    });
}
