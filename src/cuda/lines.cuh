/* lines.cuh - the lines of tensors of one shape: their elements along some dimensions, a line for
 * each place in the others. What rows of normalisation and running sums walk over, and the order in
 * which the CPU sums a line (kernels/rowwise.h): blocks of TNC_BLOCK elements in fixed lanes, or
 * TNC_BLOCK_ROWS elements of a column, in a tree of neighbours. */
#ifndef TNC_CUDA_LINES_CUH
#define TNC_CUDA_LINES_CUH

#include "reduce.cuh"

enum { TNC_LINE_TENSORS = 4, TNC_WARP = 32 };

/* Before a loop over registers, whose numbers must be constants. */
#ifdef TNC_EMULATED
#define TNC_UNROLL
#else
#define TNC_UNROLL _Pragma("unroll")
#endif

/* Sizes innermost last, steps in bytes, 0 where a tensor is broadcast. */
struct tnc_lines {
    char *at[TNC_LINE_TENSORS]; /* NULL: there is no such tensor */
    uint8_t dtype[TNC_LINE_TENSORS];
    int64_t lines, n; /* n elements a line */
    int32_t nouter, nin;
    int64_t outer[TN_MAX_DIMS], outer_step[TNC_LINE_TENSORS][TN_MAX_DIMS];
    int64_t in[TN_MAX_DIMS], in_step[TNC_LINE_TENSORS][TN_MAX_DIMS];
};

/* The lines of t[0] along the dimensions with along[d]; the others are broadcast to its shape. */
TNC_PRIV void tnc_lines_of(tnc_lines *l, tn_tensor *const *t, int n, const bool *along);
/* Whether tensor k's elements of a line lie one behind another. */
static inline bool tnc_lines_dense(const tnc_lines &l, int k) {
    return l.nin == 0 || (l.nin == 1 && l.in_step[k][0] == tnc_dtype_bytes(l.dtype[k]));
}

TNC_FN char *tnc_line_at(const tnc_lines &l, int k, int64_t line) {
    return l.at[k] ? l.at[k] + tnc_offset(l.nouter, l.outer, l.outer_step[k], line) : NULL;
}

/* How elements lie: of the arithmetic's type, of a 16-bit float, or any dtype and place. In the
 * first three the elements of a line are dense. */
enum tnc_line_kind { TNC_LINE_OWN, TNC_LINE_F16, TNC_LINE_BF16, TNC_LINE_ANY };
template <class A, int kind>
struct tnc_line_cell { /* TNC_LINE_ANY */
    TNC_FN char *at(const tnc_lines &l, int k, char *line, int64_t i) {
        return line + tnc_offset(l.nin, l.in, l.in_step[k], i);
    }
    TNC_FN A get(const char *at, int dtype) { return tnc_load_real<A>(at, dtype); }
    TNC_FN void put(char *at, int dtype, A v) { tnc_store_real(at, dtype, v); }
};
template <class A>
struct tnc_line_cell<A, TNC_LINE_OWN> {
    TNC_FN char *at(const tnc_lines &, int, char *line, int64_t i) {
        return line + i * (int64_t)sizeof(A);
    }
    TNC_FN A get(const char *at, int) { return tnc_get<A>(at); }
    TNC_FN void put(char *at, int, A v) { tnc_put<A>(at, v); }
};
template <class A, int dtype>
struct tnc_line_half {
    TNC_FN char *at(const tnc_lines &, int, char *line, int64_t i) { return line + i * 2; }
    TNC_FN A get(const char *at, int) { return (A)tnc_half<dtype>::get(tnc_get<uint16_t>(at)); }
    TNC_FN void put(char *at, int, A v) { tnc_put<uint16_t>(at, tnc_half<dtype>::put((float)v)); }
};
template <class A>
struct tnc_line_cell<A, TNC_LINE_F16> : tnc_line_half<A, TN_F16> {};
template <class A>
struct tnc_line_cell<A, TNC_LINE_BF16> : tnc_line_half<A, TN_BF16> {};
/* The kind in which tensors 0 to n - 1 of a line have the dtype; dense: lie so as well. */
static inline int tnc_line_kind_of(const tnc_lines &l, int n, tn_dtype compute, bool dense) {
    const int dtype = l.dtype[0];
    for (int k = 0; k < n; k++)
        if (l.dtype[k] != dtype || (dense && !tnc_lines_dense(l, k))) return TNC_LINE_ANY;
    if (dtype == (int)compute) return TNC_LINE_OWN;
    if (compute != TN_F32) return TNC_LINE_ANY;
    return dtype == TN_F16 ? TNC_LINE_F16 : dtype == TN_BF16 ? TNC_LINE_BF16 : TNC_LINE_ANY;
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Lanes of a block; thread t of a warp has lanes t, t + 32, ... */
template <class A>
struct tnc_line_lanes {
    enum { lanes = 256 / sizeof(A), each = lanes / TNC_WARP };
};
/* The sum of all lanes of a block, folded by halves, in thread 0 of the warp. */
template <class A>
TNC_FN A tnc_line_fold(const A *a) {
    A v = a[0];
    if (tnc_line_lanes<A>::each == 2) v = v + a[tnc_line_lanes<A>::each - 1];
    for (int h = TNC_WARP / 2; h; h /= 2) v = v + __shfl_down_sync(0xffffffffu, v, h);
    return v;
}
/* Sums of blocks in the tree of neighbours, pushed from the left: a binary counter, touched once a
 * block. */
template <class A>
struct tnc_line_tree {
    A part[44];
    int depth;
    int64_t count;
    __device__ __forceinline__ void begin() { depth = 0, count = 0; }
    __device__ __forceinline__ void join() {
        depth--;
        part[depth - 1] = part[depth - 1] + part[depth];
    }
    __device__ __forceinline__ void push(A v) {
        part[depth++] = v;
        for (int64_t c = count++; c & 1; c >>= 1) join();
    }
    __device__ __forceinline__ A end() {
        while (depth > 1) join();
        return depth ? part[0] : (A)0;
    }
};

#endif
