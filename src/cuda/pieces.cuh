/* pieces.cuh - long lines in pieces, a block each, where what is known of neighbouring elements may
 * meet in any grouping: totals of pieces, what lies before each of them, then the elements.
 *
 * An Op has a type A, first() of no element, and meet(a, b) of a, then b. */
#ifndef TNC_CUDA_PIECES_CUH
#define TNC_CUDA_PIECES_CUH

#include "cuda.cuh"

enum {
    TNC_PIECE_EACH = 8, /* elements of a thread */
    TNC_PIECE = TNC_THREADS * TNC_PIECE_EACH
};

/* What lies before thread t's value among those of the block; *all: the whole. */
template <class Op>
TNC_FN typename Op::A tnc_piece_before(const Op &op, typename Op::A mine, typename Op::A *held,
                                       typename Op::A *all) {
    typedef typename Op::A A;
    const int t = (int)threadIdx.x;
    A before;
    held[t] = mine;
    __syncthreads();
    for (int step = 1; step < TNC_THREADS; step *= 2) {
        const A v = t >= step ? held[t - step] : op.first();
        __syncthreads();
        held[t] = op.meet(v, held[t]);
        __syncthreads();
    }
    before = t ? held[t - 1] : op.first();
    *all = held[TNC_THREADS - 1];
    __syncthreads();
    return before;
}
/* The totals of a line's pieces to what lies before each: a block a line. */
template <class Op>
__global__ void __launch_bounds__(TNC_THREADS)
    tnc_piece_totals(Op op, typename Op::A *totals, int64_t lines, int64_t pieces) {
    typedef typename Op::A A;
    TNC_SHARED(A, held, TNC_THREADS);
    for (int64_t line = blockIdx.x; line < lines; line += gridDim.x) {
        A *at = totals + line * pieces, carry = op.first();
        for (int64_t b = 0; b < pieces; b += TNC_THREADS) {
            const int64_t i = b + threadIdx.x;
            const A v = i < pieces ? at[i] : op.first();
            A all;
            const A before = tnc_piece_before(op, v, held, &all);
            if (i < pieces) at[i] = op.meet(carry, before);
            carry = op.meet(carry, all);
        }
    }
}

/* Pieces of a line. */
static inline int64_t tnc_pieces_of(int64_t n) { return (n + TNC_PIECE - 1) / TNC_PIECE; }
/* For prepare: scratch for a total of so many bytes of each piece, where lines have several. */
static inline bool tnc_piece_scratch(tn_frame *f, int64_t lines, int64_t n, int64_t bytes) {
    int64_t all;
    if (tnc_pieces_of(n) < 2 || !lines) return true;
    if (__builtin_mul_overflow(lines, tnc_pieces_of(n) * bytes, &all))
        return tn_fail(f, TN_MEMORY, "the operator needs too much scratch memory");
    return tn_device_scratch(f, all) != NULL;
}

#endif
