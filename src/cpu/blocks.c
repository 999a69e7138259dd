/* blocks.c - carries strided tensors of any dtype to loops over whole vectors of a few types, block
 * by block; copies tensors in the same way.
 *
 * The iteration space is cut into blocks of `rows` x `cols` elements of its two innermost
 * dimensions. In a block an operand is used where it lies (elements of the loop's type side by
 * side), is one element repeated (a vector of it, step 0), or is gathered and converted into a
 * tile. Rows shorter than a cache line or two are packed into whole tiles; an operand that lies
 * crosswise is read in blocks of 16 rows, one cache line for each column. Elements are independent,
 * so results do not depend on the blocks. Nothing here allocates or fails. */
#include "blocks.h"

enum {
    BLOCKS_SHORT = 64, /* rows below it are packed */
    BLOCKS_CROSS = 16  /* rows of a block that is read crosswise */
};

/* --- gathering -------------------------------------------------------------------------------- */

typedef struct blocks_pair {
    uint64_t half[2];
} blocks_pair; /* 16 bytes */

/* Copies rows x cols elements between memories with any strides (in bytes). The inner loop runs
 * along the denser dimension. */
#define BLOCKS_COPY(T)                                                                          \
    for (int64_t r = 0; r < rows; r++, to += to_row, from += from_row) {                        \
        char *t = to;                                                                           \
        const char *s = from;                                                                   \
        for (int64_t i = 0; i < cols; i++, t += to_col, s += from_col) memcpy(t, s, sizeof(T)); \
    }                                                                                           \
    return
static void blocks_copy(char *to, int64_t to_row, int64_t to_col, const char *from,
                        int64_t from_row, int64_t from_col, int64_t rows, int64_t cols,
                        int64_t bytes) {
    if (rows > 1 && (from_row == bytes || to_row == bytes) &&
        (from_col != bytes || to_col != bytes)) {
        /* Rows and columns trade places. */
        int64_t swap = rows;
        TNI_PATH(blocks_copy_turned);
        rows = cols;
        cols = swap;
        swap = to_row;
        to_row = to_col;
        to_col = swap;
        swap = from_row;
        from_row = from_col;
        from_col = swap;
    }
    /* Contiguous in both: whole rows, or the whole block where rows follow each other. */
    if (to_col == bytes && from_col == bytes) {
        TNI_PATH(blocks_copy_rows);
        /* Rows without gaps in both are one long row. */
        if (to_row == cols * bytes && from_row == to_row) {
            cols *= rows;
            rows = 1;
        }
        for (int64_t r = 0; r < rows; r++)
            memcpy(to + r * to_row, from + r * from_row, (size_t)(cols * bytes));
        return;
    }
    TNI_PATH(blocks_copy_elements);
    /* With the size of an element known, each memcpy is one move. Every dtype has one
     * of these sizes. */
    switch (bytes) {
    case 1: BLOCKS_COPY(uint8_t);
    case 2: BLOCKS_COPY(uint16_t);
    case 4: BLOCKS_COPY(uint32_t);
    case 8: BLOCKS_COPY(uint64_t);
    default: BLOCKS_COPY(blocks_pair);
    }
}
#undef BLOCKS_COPY

/* --- blocks ----------------------------------------------------------------------------------- */

/* What a task knows of an input: where its elements of this block are. */
typedef struct blocks_source {
    const char *at;
    int64_t step, row; /* bytes a vector and a row; 0: repeated */
    const char *held;  /* memory that block[] or tile[] was made of */
    int64_t held_rows, held_cols;
    double block[TNI_VECTOR_BYTES / sizeof(double)];
    double tile[TNI_TILE / sizeof(double)];
} blocks_source;

/* n <= TNI_VECTOR_BYTES bytes, by moves of fixed sizes that may overlap. */
TNI_INLINE void blocks_few(char *to, const char *from, int64_t n) {
    if (n >= 16) {
        /* The last move ends at byte n and may overlap the one before it. */
        TNI_ROLLED
        for (int64_t i = 0; i + 16 < n; i += 16) memcpy(to + i, from + i, 16);
        memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else {
        for (int64_t i = 0; i < n; i++) to[i] = from[i];
    }
}

/* The last elements of a row, fewer than a vector: copied to whole vectors padded with zeros. */
static void blocks_tail(tni_loop loop, int n_in, int64_t lanes, char *out, int64_t out_size,
                        const char *const *in, const int64_t *step, int64_t n,
                        const void *numbers) {
    double block[1 + TNI_INPUTS][TNI_VECTOR_BYTES / sizeof(double)];
    const char *at[TNI_INPUTS];
    TNI_PATH(blocks_tail);
    /* Only elements of the row are read. What the loop makes of the zeros behind them
     * is not stored. */
    for (int k = 0; k < n_in; k++) {
        char *to = (char *)block[k + 1];
        at[k] = step[k] ? to : in[k];
        if (!step[k]) continue;
        for (int64_t i = 0; i < step[k]; i += 8) memset(to + i, 0, 8);
        blocks_few(to, in[k], n * (step[k] / lanes));
    }
    loop((char *)block[0], at, step, 1, numbers);
    blocks_few(out, (const char *)block[0], n * out_size);
}

TN_PRIV void tni_span_run(tni_loop loop, int n_in, int64_t lanes, char *out, int64_t out_size,
                          const char *const *in, const int64_t *step, int64_t n,
                          const void *numbers) {
    const int64_t vectors = n / lanes, rest = n - vectors * lanes;
    const char *at[TNI_INPUTS];
    if (vectors) loop(out, in, step, vectors, numbers);
    if (!rest) return;
    for (int k = 0; k < n_in; k++) at[k] = in[k] + vectors * step[k];
    blocks_tail(loop, n_in, lanes, out + vectors * lanes * out_size, out_size, at, step, rest,
                numbers);
}

/* One element of any dtype, converted, in every place of a vector. */
static void blocks_fill(const tni_blocks_operand *op, void *block, const char *from,
                        int64_t lanes) {
    double one[2] = {0, 0};
    if (op->chain.n)
        tni_chain_run(&op->chain, one, from, 1);
    else
        memcpy(one, from, (size_t)op->size);
    for (int64_t i = 0; i < lanes; i++) memcpy((char *)block + i * op->size, one, (size_t)op->size);
}

/* Whether rows x cols elements can be used where they lie. */
static bool blocks_lies(const tni_blocks_operand *op, int64_t rows, int64_t cols) {
    return !op->chain.n && (op->col == op->size || cols == 1) &&
           (rows == 1 || op->row == cols * op->size || (cols >= BLOCKS_SHORT && op->row));
}

/* Makes block [rows, cols] of an operand readable and notes in s where. A tile that already holds
 * this block is kept. */
static void blocks_load(const tni_blocks *d, const tni_blocks_operand *op, blocks_source *s,
                        const char *at, int64_t rows, int64_t cols) {
    /* one: all of the block is the same element. A step of 0 makes the loop read its
     * vector again. */
    const bool one = (op->col == 0 || cols == 1) && (op->row == 0 || rows == 1);
    double raw[TNI_TILE / sizeof(double)];
    s->step = one ? 0 : d->lanes * op->size;
    s->row = one ? 0 : cols * op->size;
    if (!one && blocks_lies(op, rows, cols)) {
        TNI_PATH(blocks_load_lies);
        s->at = at;
        s->row = rows == 1 ? s->row : op->row;
        return;
    }
    s->at = one ? (const char *)s->block : (const char *)s->tile;
    /* The block before may have used the same memory: an operand that is broadcast
     * is loaded once. */
    if (s->held == at && (one || (s->held_rows == rows && s->held_cols == cols))) return;
    /* From here on the block is made anew. */
    s->held = at;
    s->held_rows = rows;
    s->held_cols = cols;
    /* Four ways into block or tile: repeated; gathered; converted where it is contiguous; both. */
    if (one) {
        TNI_PATH(blocks_load_repeated);
        blocks_fill(op, s->block, at, d->lanes);
    } else if (!op->chain.n) {
        TNI_PATH(blocks_load_gathered);
        blocks_copy((char *)s->tile, cols * op->bytes, op->bytes, at, op->row, op->col, rows, cols,
                    op->bytes);
    } else if (op->col == op->bytes && (rows == 1 || op->row == cols * op->bytes)) {
        TNI_PATH(blocks_load_converted);
        tni_chain_run(&op->chain, s->tile, at, rows * cols);
    } else {
        TNI_PATH(blocks_load_gathered_converted);
        blocks_copy((char *)raw, cols * op->bytes, op->bytes, at, op->row, op->col, rows, cols,
                    op->bytes);
        tni_chain_run(&op->chain, s->tile, raw, rows * cols);
    }
}

/* Writes the tile of a block's results to memory. */
static void blocks_store(const tni_blocks_operand *op, char *at, const char *tile, int64_t rows,
                         int64_t cols) {
    double raw[TNI_TILE / sizeof(double)];
    if (op->chain.n && op->col == op->bytes && (rows == 1 || op->row == cols * op->bytes)) {
        TNI_PATH(blocks_store_converted);
        tni_chain_run(&op->chain, at, tile, rows * cols);
        return;
    }
    /* Two steps: convert into a second tile if dtypes differ, then scatter. */
    if (op->chain.n)
        TNI_PATH(blocks_store_scattered_converted);
    else
        TNI_PATH(blocks_store_scattered);
    if (op->chain.n) {
        tni_chain_run(&op->chain, raw, tile, rows * cols);
        tile = (const char *)raw;
    }
    blocks_copy(at, op->row, op->col, tile, cols * op->bytes, op->bytes, rows, cols, op->bytes);
}

/* Computes one block: loads its inputs, runs the loop, stores the results. */
static void blocks_compute(const tni_blocks *d, blocks_source *source, char *const *at,
                           int64_t rows, int64_t cols) {
    const tni_blocks_operand *to = &d->op[0];
    double tile[TNI_TILE / sizeof(double)];
    /* The loop writes to the result itself where that lies well, else to a tile. */
    const bool lies = blocks_lies(to, rows, cols);
    char *out = lies ? at[0] : (char *)tile;
    int64_t out_row = lies && rows > 1 ? to->row : cols * to->size, step[TNI_INPUTS];
    const char *in[TNI_INPUTS];
    bool whole = out_row == cols * to->size;
    /* whole: rows follow each other without gaps everywhere, so the block is one run. */
    for (int k = 0; k < d->nin; k++) {
        blocks_load(d, &d->op[k + 1], &source[k], at[k + 1], rows, cols);
        /* An operand that is repeated has no rows to follow. */
        in[k] = source[k].at;
        step[k] = source[k].step;
        whole = whole && (!step[k] || source[k].row == cols * d->op[k + 1].size);
    }
    /* One run, or a run for each row. */
    if (whole) {
        TNI_PATH(blocks_whole);
        tni_span_run(d->loop, d->nin, d->lanes, out, to->size, in, step, rows * cols, d->numbers);
    } else {
        TNI_PATH(blocks_rows);
        for (int64_t r = 0; r < rows; r++) {
            tni_span_run(d->loop, d->nin, d->lanes, out + r * out_row, to->size, in, step, cols,
                         d->numbers);
            for (int k = 0; k < d->nin; k++) in[k] += source[k].row;
        }
    }
    if (!lies) blocks_store(to, at[0], (const char *)tile, rows, cols);
}

/* A block of a copy: op[1].chain leads from the source's dtype to the destination's. */
static void blocks_copy_one(const tni_blocks *d, char *const *at, int64_t rows, int64_t cols) {
    const tni_blocks_operand *to = &d->op[0], *from = &d->op[1];
    double raw[TNI_TILE / sizeof(double)], tile[TNI_TILE / sizeof(double)];
    const char *x = at[1];
    const bool lies = to->col == to->bytes && (rows == 1 || to->row == cols * to->bytes);
    if (!from->chain.n && rows > 1 && from->row == from->bytes && to->col == to->bytes &&
        (to->bytes == 4 || to->bytes == 8)) {
        TNI_PATH(blocks_copy_turned_whole);
        (to->bytes == 4 ? TNI_K(d->k, turn_f32) : TNI_K(d->k, turn_f64))(
            at[0], to->row / to->bytes, x, from->col / to->bytes, cols, rows);
        return;
    }
    if (!from->chain.n) {
        /* A transposed copy goes through a tile: rows a power of two apart compete for the same
         * cache lines. */
        if (rows > 1 && cols > 1 && from->row == from->bytes &&
            rows * cols * from->bytes <= TNI_TILE) {
            /* Into the tile in the order of the source, then out of it in rows. */
            TNI_PATH(blocks_copy_across);
            blocks_copy((char *)raw, cols * from->bytes, from->bytes, x, from->row, from->col, rows,
                        cols, from->bytes);
            blocks_copy(at[0], to->row, to->col, (const char *)raw, cols * to->bytes, to->bytes,
                        rows, cols, to->bytes);
        } else {
            TNI_PATH(blocks_copy_straight);
            blocks_copy(at[0], to->row, to->col, x, from->row, from->col, rows, cols, to->bytes);
        }
        return;
    }
    /* Conversions read contiguous elements: others are gathered first, and scattered behind. */
    if (from->col != from->bytes || (rows > 1 && from->row != cols * from->bytes)) {
        TNI_PATH(blocks_copy_gathered_converted);
        blocks_copy((char *)raw, cols * from->bytes, from->bytes, x, from->row, from->col, rows,
                    cols, from->bytes);
        x = (const char *)raw;
    }
    /* The chain reads contiguous elements and writes the destination, or a tile. */
    tni_chain_run(&from->chain, lies ? (void *)at[0] : (void *)tile, x, rows * cols);
    if (lies)
        TNI_PATH(blocks_copy_converted);
    else
        TNI_PATH(blocks_copy_converted_scattered);
    if (!lies)
        blocks_copy(at[0], to->row, to->col, (const char *)tile, cols * to->bytes, to->bytes, rows,
                    cols, to->bytes);
}

/* --- the plan --------------------------------------------------------------------------------- */

/* Sizes of a block, from the layout: long rows are cut, short ones packed, crosswise ones taken 16
 * at a time. */
TN_PRIV void tni_blocks_cut(tni_blocks *d) {
    /* Dimension 0 is the innermost, of n0 columns; dimension 1 has n1 rows. */
    const int64_t n0 = d->it.size[0], n1 = d->it.ndim > 1 ? d->it.size[1] : 1;
    int64_t most = 1, tile, outer = 1;
    bool tiled = false, cross = false;
    /* most: bytes of the largest element that a tile must hold. tiled: some operand needs a tile.
     * cross: some operand's rows are contiguous and its columns are not. */
    for (int k = 0; k <= d->nin; k++) {
        tni_blocks_operand *op = &d->op[k];
        op->col = d->it.stride[k][0];
        op->row = d->it.ndim > 1 ? d->it.stride[k][1] : 0;
        if (most < op->chain.most) most = op->chain.most;
        if (most < op->size) most = op->size;
        tiled = tiled || op->chain.n || (op->col != op->size && op->col != 0);
        cross = cross || (op->row == op->bytes && op->col > op->bytes);
    }
    tile = TNI_TILE / most;
    /* Without a reason below, a block is one whole row, used where it lies. */
    d->rows = 1;
    d->cols = n0;
    /* Crosswise: 16 rows make a cache line's worth of each column. Short rows: as many
     * as fill a tile. */
    if (cross && n0 >= BLOCKS_CROSS && n1 >= BLOCKS_CROSS) {
        TNI_PATH(blocks_cut_across);
        d->rows = BLOCKS_CROSS;
        d->cols = n0 < tile / BLOCKS_CROSS ? n0 : tile / BLOCKS_CROSS;
    } else if (n0 < BLOCKS_SHORT && n1 > 1) {
        TNI_PATH(blocks_cut_short);
        d->rows = n1 < tile / n0 ? n1 : tile / n0;
    } else if (tiled) {
        TNI_PATH(blocks_cut_tiles);
        d->cols = n0 < tile ? n0 : tile;
    } else if (n0 > TNI_TASK) {
        TNI_PATH(blocks_cut_long);
        d->cols = TNI_TASK;
    }
    for (int i = 2; i < d->it.ndim; i++) outer *= d->it.size[i];
    /* Blocks along columns and rows; a block never reaches over an outer dimension. */
    d->across = (n0 + d->cols - 1) / d->cols;
    d->down = (n1 + d->rows - 1) / d->rows;
    d->blocks = d->across * d->down * outer;
    d->per_task = TNI_TASK / (d->rows * d->cols);
    if (d->per_task < 1) d->per_task = 1;
}

/* Blocks [i, i + 1) * per_task: finds each block's addresses from its number. */
static void blocks_task(void *arg, int64_t i) {
    const tni_blocks *d = (const tni_blocks *)arg;
    const int64_t n0 = d->it.size[0], n1 = d->it.ndim > 1 ? d->it.size[1] : 1;
    int64_t end = (i + 1) * d->per_task;
    blocks_source source[TNI_INPUTS];
    /* Tiles are a task's own, so nothing is held when it begins. */
    for (int k = 0; k < TNI_INPUTS; k++) source[k].held = NULL;
    if (end > d->blocks) end = d->blocks;
    for (int64_t b = i * d->per_task; b < end; b++) {
        /* b counts columns of blocks first, then rows of blocks, then the outer dimensions. */
        const int64_t col = b % d->across * d->cols, row = b / d->across % d->down * d->rows;
        int64_t rest = b / d->across / d->down;
        char *at[1 + TNI_INPUTS];
        for (int k = 0; k <= d->nin; k++)
            at[k] = d->it.at[k] + col * d->op[k].col + row * d->op[k].row;
        for (int dim = 2; dim < d->it.ndim; rest /= d->it.size[dim], dim++)
            for (int k = 0; k <= d->nin; k++)
                at[k] += rest % d->it.size[dim] * d->it.stride[k][dim];
        /* The last block of a row or column may be smaller. */
        const int64_t cols = n0 - col < d->cols ? n0 - col : d->cols,
                      rows = n1 - row < d->rows ? n1 - row : d->rows;
        if (d->loop)
            blocks_compute(d, source, at, rows, cols);
        else
            blocks_copy_one(d, at, rows, cols);
    }
}

TN_PRIV void tni_blocks_run(tni_blocks *d, tn_context *c) {
    const int64_t tasks = (d->blocks + d->per_task - 1) / d->per_task;
    if (tasks > 1 && d->it.numel > TNI_TASK) {
        TNI_PATH(blocks_threads);
        tni_parallel(c, tasks, blocks_task, d);
        return;
    }
    for (int64_t i = 0; i < tasks; i++) blocks_task(d, i);
}

/* --- copies ----------------------------------------------------------------------------------- */

TN_PRIV void tni_copy_run(tn_context *c, tn_tensor *dst, tn_tensor *src) {
    /* A copy is a drive without a loop: operand 0 is written, operand 1 read. */
    tn_tensor *operands[2];
    tni_blocks d;
    if (!dst->numel) return;
    operands[0] = dst;
    operands[1] = src;
    d.f = NULL;
    d.k = c->kernels;
    d.loop = NULL;
    d.nin = 1;
    for (int k = 0; k < 2; k++) {
        d.op[k].chain.n = 0;
        d.op[k].chain.most = 0;
        d.op[k].bytes = d.op[k].size = tni_dtype_size(operands[k]);
    }
    /* Equal dtypes move as bytes. */
    if (dst->dtype != src->dtype) tni_chain_to(&d.op[1].chain, d.k, src->dtype, dst->dtype);
    /* The iteration space is dst's, to which src broadcasts. */
    tni_iterate_init(&d.it, dst->ndim, dst->size, operands, 2);
    tni_blocks_cut(&d);
    tni_blocks_run(&d, c);
}
