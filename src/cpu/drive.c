/* drive.c - carries strided tensors of any dtype to loops over whole vectors of a few types, block
 * by block.
 *
 * The iteration space is cut into blocks of `rows` x `cols` elements of its two innermost
 * dimensions. In a block an operand is used where it lies (elements of the loop's type side by
 * side), is one element repeated (a vector of it, step 0), or is gathered and converted into a
 * tile. Rows shorter than a cache line or two are packed into whole tiles; an operand that lies
 * crosswise is read in blocks of 16 rows, one cache line for each column. Elements are independent,
 * so results do not depend on the blocks. Nothing here allocates or fails. */
#include "drive.h"
#include "walk.h"

enum {
    DRIVE_TILE = 4096,  /* bytes of a tile */
    DRIVE_TASK = 32768, /* elements of a task */
    DRIVE_FEW = 64,     /* elements that drive_small may take */
    DRIVE_SHORT = 64,   /* rows below it are packed */
    DRIVE_CROSS = 16,   /* rows of a block that is read crosswise */
    DRIVE_STEPS = 6,    /* conversions one after another */
    DRIVE_IN = 3
};

/* --- conversion ------------------------------------------------------------------------------- */

typedef struct drive_chain {
    int n;
    int64_t most; /* bytes of the largest element on the way */
    tni_cast step[DRIVE_STEPS];
    int64_t bytes[DRIVE_STEPS]; /* of the element after step i */
} drive_chain;

/* The type that elements of dtype d are computed in; a bool's as a number. */
static int drive_natural(int d) {
#define DRIVE_NATURAL(NAME, text, bytes, kind, alias, computes, loop, ...) \
    TN_##loop == TN_BOOL ? TN_I32 : TN_##loop,
    static const uint8_t natural[TN_DTYPE_COUNT] = {0, TN_DTYPES(DRIVE_NATURAL)};
#undef DRIVE_NATURAL
    return natural[d];
}

/* The next dtype on the way between two that have no direct conversion. */
static int drive_next(int from, int to) {
    const int wide = to == TN_F64 || to == TN_C128, natural = drive_natural(from),
              end = drive_natural(to);
    const int category = tni_dtype(to)->category;
    if (from == TN_U64 && category >= TNI_CAT_FLOAT) return wide ? TN_F64 : TN_F32;
    if (natural != from) return natural;
    if (from == TN_C64) return TN_F32;
    if (from == TN_C128) return TN_F64;
    if (category == TNI_CAT_COMPLEX) return wide ? TN_F64 : TN_F32;
    if (to == TN_U64) return from == TN_F32 ? TN_F64 : TN_I64;
    if (category == TNI_CAT_INT && tni_dtype(from)->category == TNI_CAT_FLOAT) return TN_I64;
    return end;
}

/* Adds the conversions from one dtype to another. */
static void drive_chain_to(drive_chain *c, const tni_kernels *k, int from, int to) {
    if (c->most < tni_dtype(from)->bytes) c->most = tni_dtype(from)->bytes;
    while (from != to) {
        tni_cast direct = TNI_K(k, cast)(from, to);
        const int next = direct ? to : drive_next(from, to);
        c->step[c->n] = direct ? direct : TNI_K(k, cast)(from, next);
        c->bytes[c->n] = tni_dtype(next)->bytes;
        if (c->most < c->bytes[c->n]) c->most = c->bytes[c->n];
        c->n++;
        from = next;
    }
}

/* Runs n elements through the chain (of at least one step); most * n <= DRIVE_TILE. */
static void drive_chain_run(const drive_chain *c, void *to, const void *from, int64_t n) {
    double between[2][DRIVE_TILE / sizeof(double)];
    for (int i = 0; i < c->n; i++) {
        void *next = i == c->n - 1 ? to : (void *)between[i & 1];
        c->step[i](next, from, n);
        from = next;
    }
}

TN_PRIV void tni_convert(const tni_kernels *k, void *to, int to_dtype, const void *from,
                         int from_dtype, int64_t n) {
    const int64_t a = tni_dtype(from_dtype)->bytes, b = tni_dtype(to_dtype)->bytes;
    drive_chain c = {0, 0, {NULL}, {0}};
    if (from_dtype == to_dtype) {
        if (n > 0) memcpy(to, from, (size_t)(n * a));
        return;
    }
    drive_chain_to(&c, k, from_dtype, to_dtype);
    for (int64_t i = 0, part = DRIVE_TILE / c.most; i < n; i += part)
        drive_chain_run(&c, (char *)to + i * b, (const char *)from + i * a,
                        n - i < part ? n - i : part);
}

/* --- gathering -------------------------------------------------------------------------------- */

typedef struct drive_pair {
    uint64_t half[2];
} drive_pair; /* 16 bytes */

/* Copies rows x cols elements between memories with any strides (in bytes). The inner loop runs
 * along the denser dimension. */
#define DRIVE_COPY(T)                                                                           \
    for (int64_t r = 0; r < rows; r++, to += to_row, from += from_row) {                        \
        char *t = to;                                                                           \
        const char *s = from;                                                                   \
        for (int64_t i = 0; i < cols; i++, t += to_col, s += from_col) memcpy(t, s, sizeof(T)); \
    }                                                                                           \
    return
static void drive_copy(char *to, int64_t to_row, int64_t to_col, const char *from, int64_t from_row,
                       int64_t from_col, int64_t rows, int64_t cols, int64_t bytes) {
    if (rows > 1 && (from_row == bytes || to_row == bytes) &&
        (from_col != bytes || to_col != bytes)) {
        /* Rows and columns trade places. */
        int64_t swap = rows;
        TNI_PATH(drive_copy_turned);
        rows = cols;
        cols = swap;
        swap = to_row;
        to_row = to_col;
        to_col = swap;
        swap = from_row;
        from_row = from_col;
        from_col = swap;
    }
    if (to_col == bytes && from_col == bytes) {
        TNI_PATH(drive_copy_rows);
        if (to_row == cols * bytes && from_row == to_row) {
            cols *= rows;
            rows = 1;
        }
        for (int64_t r = 0; r < rows; r++)
            memcpy(to + r * to_row, from + r * from_row, (size_t)(cols * bytes));
        return;
    }
    TNI_PATH(drive_copy_elements);
    switch (bytes) {
    case 1: DRIVE_COPY(uint8_t);
    case 2: DRIVE_COPY(uint16_t);
    case 4: DRIVE_COPY(uint32_t);
    case 8: DRIVE_COPY(uint64_t);
    default: DRIVE_COPY(drive_pair);
    }
}
#undef DRIVE_COPY

/* --- blocks ----------------------------------------------------------------------------------- */

typedef struct drive_operand {
    int64_t bytes, size; /* of an element in memory, and of the loop's type */
    int64_t col, row;    /* strides of the two innermost dimensions */
    drive_chain chain;   /* from memory to the loop's type; of the result the other way */
} drive_operand;

typedef struct drive {
    tni_iterate it;
    tn_frame *f; /* NULL: a copy */
    const tni_kernels *k;
    tni_loop loop; /* NULL: a copy */
    const void *numbers;
    int nin;
    int64_t lanes;
    drive_operand op[1 + DRIVE_IN];           /* 0: the result */
    int64_t rows, cols, across, down, blocks; /* a block; blocks along dimensions 0 and 1; all */
    int64_t per_task;
} drive;

/* What a task knows of an input: where its elements of this block are. */
typedef struct drive_source {
    const char *at;
    int64_t step, row; /* bytes a vector and a row; 0: repeated */
    const char *held;  /* memory that block[] or tile[] was made of */
    int64_t held_rows, held_cols;
    double block[TNI_VECTOR_BYTES / sizeof(double)];
    double tile[DRIVE_TILE / sizeof(double)];
} drive_source;

/* n <= TNI_VECTOR_BYTES bytes, by moves of fixed sizes that may overlap. */
TNI_INLINE void drive_few(char *to, const char *from, int64_t n) {
    if (n >= 16) {
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
static void drive_tail(tni_loop loop, int n_in, int64_t lanes, char *out, int64_t out_size,
                       const char *const *in, const int64_t *step, int64_t n, const void *numbers) {
    double block[1 + DRIVE_IN][TNI_VECTOR_BYTES / sizeof(double)];
    const char *at[DRIVE_IN];
    TNI_PATH(drive_tail);
    for (int k = 0; k < n_in; k++) {
        char *to = (char *)block[k + 1];
        at[k] = step[k] ? to : in[k];
        if (!step[k]) continue;
        for (int64_t i = 0; i < step[k]; i += 8) memset(to + i, 0, 8);
        drive_few(to, in[k], n * (step[k] / lanes));
    }
    loop((char *)block[0], at, step, 1, numbers);
    drive_few(out, (const char *)block[0], n * out_size);
}

/* One contiguous run of n elements: whole vectors where they lie, then the tail. */
static void drive_span(tni_loop loop, int n_in, int64_t lanes, char *out, int64_t out_size,
                       const char *const *in, const int64_t *step, int64_t n, const void *numbers) {
    const int64_t vectors = n / lanes, rest = n - vectors * lanes;
    const char *at[DRIVE_IN];
    if (vectors) loop(out, in, step, vectors, numbers);
    if (!rest) return;
    for (int k = 0; k < n_in; k++) at[k] = in[k] + vectors * step[k];
    drive_tail(loop, n_in, lanes, out + vectors * lanes * out_size, out_size, at, step, rest,
               numbers);
}

/* One element of any dtype, converted, in every place of a vector. */
static void drive_fill(const drive_operand *op, void *block, const char *from, int64_t lanes) {
    double one[2] = {0, 0};
    if (op->chain.n)
        drive_chain_run(&op->chain, one, from, 1);
    else
        memcpy(one, from, (size_t)op->size);
    for (int64_t i = 0; i < lanes; i++) memcpy((char *)block + i * op->size, one, (size_t)op->size);
}

/* Whether rows x cols elements can be used where they lie. */
static bool drive_lies(const drive_operand *op, int64_t rows, int64_t cols) {
    return !op->chain.n && (op->col == op->size || cols == 1) &&
           (rows == 1 || op->row == cols * op->size || (cols >= DRIVE_SHORT && op->row));
}

/* Makes block [rows, cols] of an operand readable and notes in s where. A tile that already holds
 * this block is kept. */
static void drive_load(const drive *d, const drive_operand *op, drive_source *s, const char *at,
                       int64_t rows, int64_t cols) {
    const bool one = (op->col == 0 || cols == 1) && (op->row == 0 || rows == 1);
    double raw[DRIVE_TILE / sizeof(double)];
    s->step = one ? 0 : d->lanes * op->size;
    s->row = one ? 0 : cols * op->size;
    if (!one && drive_lies(op, rows, cols)) {
        TNI_PATH(drive_load_lies);
        s->at = at;
        s->row = rows == 1 ? s->row : op->row;
        return;
    }
    s->at = one ? (const char *)s->block : (const char *)s->tile;
    if (s->held == at && (one || (s->held_rows == rows && s->held_cols == cols))) return;
    s->held = at;
    s->held_rows = rows;
    s->held_cols = cols;
    if (one) {
        TNI_PATH(drive_load_repeated);
        drive_fill(op, s->block, at, d->lanes);
    } else if (!op->chain.n) {
        TNI_PATH(drive_load_gathered);
        drive_copy((char *)s->tile, cols * op->bytes, op->bytes, at, op->row, op->col, rows, cols,
                   op->bytes);
    } else if (op->col == op->bytes && (rows == 1 || op->row == cols * op->bytes)) {
        TNI_PATH(drive_load_converted);
        drive_chain_run(&op->chain, s->tile, at, rows * cols);
    } else {
        TNI_PATH(drive_load_gathered_converted);
        drive_copy((char *)raw, cols * op->bytes, op->bytes, at, op->row, op->col, rows, cols,
                   op->bytes);
        drive_chain_run(&op->chain, s->tile, raw, rows * cols);
    }
}

/* Writes the tile of a block's results to memory. */
static void drive_store(const drive_operand *op, char *at, const char *tile, int64_t rows,
                        int64_t cols) {
    double raw[DRIVE_TILE / sizeof(double)];
    if (op->chain.n && op->col == op->bytes && (rows == 1 || op->row == cols * op->bytes)) {
        TNI_PATH(drive_store_converted);
        drive_chain_run(&op->chain, at, tile, rows * cols);
        return;
    }
    if (op->chain.n)
        TNI_PATH(drive_store_scattered_converted);
    else
        TNI_PATH(drive_store_scattered);
    if (op->chain.n) drive_chain_run(&op->chain, raw, tile, rows * cols), tile = (const char *)raw;
    drive_copy(at, op->row, op->col, tile, cols * op->bytes, op->bytes, rows, cols, op->bytes);
}

/* Computes one block: loads its inputs, runs the loop, stores the results. */
static void drive_block(const drive *d, drive_source *source, char *const *at, int64_t rows,
                        int64_t cols) {
    const drive_operand *to = &d->op[0];
    double tile[DRIVE_TILE / sizeof(double)];
    const bool lies = drive_lies(to, rows, cols);
    char *out = lies ? at[0] : (char *)tile;
    int64_t out_row = lies && rows > 1 ? to->row : cols * to->size, step[DRIVE_IN];
    const char *in[DRIVE_IN];
    bool whole = out_row == cols * to->size;
    /* whole: rows follow each other without gaps everywhere, so the block is one run. */
    for (int k = 0; k < d->nin; k++) {
        drive_load(d, &d->op[k + 1], &source[k], at[k + 1], rows, cols);
        in[k] = source[k].at;
        step[k] = source[k].step;
        whole = whole && (!step[k] || source[k].row == cols * d->op[k + 1].size);
    }
    if (whole) {
        TNI_PATH(drive_block_whole);
        drive_span(d->loop, d->nin, d->lanes, out, to->size, in, step, rows * cols, d->numbers);
    } else {
        TNI_PATH(drive_block_rows);
        for (int64_t r = 0; r < rows; r++) {
            drive_span(d->loop, d->nin, d->lanes, out + r * out_row, to->size, in, step, cols,
                       d->numbers);
            for (int k = 0; k < d->nin; k++) in[k] += source[k].row;
        }
    }
    if (!lies) drive_store(to, at[0], (const char *)tile, rows, cols);
}

/* A block of a copy: op[1].chain leads from the source's dtype to the destination's. */
static void drive_copy_block(const drive *d, char *const *at, int64_t rows, int64_t cols) {
    const drive_operand *to = &d->op[0], *from = &d->op[1];
    double raw[DRIVE_TILE / sizeof(double)], tile[DRIVE_TILE / sizeof(double)];
    const char *x = at[1];
    const bool lies = to->col == to->bytes && (rows == 1 || to->row == cols * to->bytes);
    if (!from->chain.n) {
        /* A transposed copy goes through a tile: rows a power of two apart compete for the same
         * cache lines. */
        if (rows > 1 && cols > 1 && from->row == from->bytes &&
            rows * cols * from->bytes <= DRIVE_TILE) {
            TNI_PATH(drive_copy_across);
            drive_copy((char *)raw, cols * from->bytes, from->bytes, x, from->row, from->col, rows,
                       cols, from->bytes);
            drive_copy(at[0], to->row, to->col, (const char *)raw, cols * to->bytes, to->bytes,
                       rows, cols, to->bytes);
        } else {
            TNI_PATH(drive_copy_straight);
            drive_copy(at[0], to->row, to->col, x, from->row, from->col, rows, cols, to->bytes);
        }
        return;
    }
    if (from->col != from->bytes || (rows > 1 && from->row != cols * from->bytes)) {
        TNI_PATH(drive_copy_gathered_converted);
        drive_copy((char *)raw, cols * from->bytes, from->bytes, x, from->row, from->col, rows,
                   cols, from->bytes);
        x = (const char *)raw;
    }
    drive_chain_run(&from->chain, lies ? (void *)at[0] : (void *)tile, x, rows * cols);
    if (lies)
        TNI_PATH(drive_copy_converted);
    else
        TNI_PATH(drive_copy_converted_scattered);
    if (!lies)
        drive_copy(at[0], to->row, to->col, (const char *)tile, cols * to->bytes, to->bytes, rows,
                   cols, to->bytes);
}

/* --- the plan --------------------------------------------------------------------------------- */

/* Sizes of a block, from the layout: long rows are cut, short ones packed, crosswise ones taken 16
 * at a time. */
static void drive_cut(drive *d) {
    const int64_t n0 = d->it.size[0], n1 = d->it.ndim > 1 ? d->it.size[1] : 1;
    int64_t most = 1, tile, outer = 1;
    bool tiled = false, cross = false;
    for (int k = 0; k <= d->nin; k++) {
        drive_operand *op = &d->op[k];
        op->col = d->it.stride[k][0];
        op->row = d->it.ndim > 1 ? d->it.stride[k][1] : 0;
        if (most < op->chain.most) most = op->chain.most;
        if (most < op->size) most = op->size;
        tiled = tiled || op->chain.n || (op->col != op->size && op->col != 0);
        cross = cross || (op->row == op->bytes && op->col > op->bytes);
    }
    tile = DRIVE_TILE / most;
    d->rows = 1;
    d->cols = n0;
    if (cross && n0 >= DRIVE_CROSS && n1 >= DRIVE_CROSS) {
        TNI_PATH(drive_cut_across);
        d->rows = DRIVE_CROSS;
        d->cols = n0 < tile / DRIVE_CROSS ? n0 : tile / DRIVE_CROSS;
    } else if (n0 < DRIVE_SHORT && n1 > 1) {
        TNI_PATH(drive_cut_short);
        d->rows = n1 < tile / n0 ? n1 : tile / n0;
    } else if (tiled) {
        TNI_PATH(drive_cut_tiles);
        d->cols = n0 < tile ? n0 : tile;
    } else if (n0 > DRIVE_TASK) {
        TNI_PATH(drive_cut_long);
        d->cols = DRIVE_TASK;
    }
    for (int i = 2; i < d->it.ndim; i++) outer *= d->it.size[i];
    d->across = (n0 + d->cols - 1) / d->cols;
    d->down = (n1 + d->rows - 1) / d->rows;
    d->blocks = d->across * d->down * outer;
    d->per_task = DRIVE_TASK / (d->rows * d->cols);
    if (d->per_task < 1) d->per_task = 1;
}

/* Blocks [i, i + 1) * per_task: finds each block's addresses from its number. */
static void drive_task(void *arg, int64_t i) {
    const drive *d = (const drive *)arg;
    const int64_t n0 = d->it.size[0], n1 = d->it.ndim > 1 ? d->it.size[1] : 1;
    int64_t end = (i + 1) * d->per_task;
    drive_source source[DRIVE_IN];
    for (int k = 0; k < DRIVE_IN; k++) source[k].held = NULL;
    if (end > d->blocks) end = d->blocks;
    for (int64_t b = i * d->per_task; b < end; b++) {
        const int64_t col = b % d->across * d->cols, row = b / d->across % d->down * d->rows;
        int64_t rest = b / d->across / d->down;
        char *at[1 + DRIVE_IN];
        for (int k = 0; k <= d->nin; k++)
            at[k] = d->it.at[k] + col * d->op[k].col + row * d->op[k].row;
        for (int dim = 2; dim < d->it.ndim; rest /= d->it.size[dim], dim++)
            for (int k = 0; k <= d->nin; k++)
                at[k] += rest % d->it.size[dim] * d->it.stride[k][dim];
        const int64_t cols = n0 - col < d->cols ? n0 - col : d->cols,
                      rows = n1 - row < d->rows ? n1 - row : d->rows;
        if (d->loop)
            drive_block(d, source, at, rows, cols);
        else
            drive_copy_block(d, at, rows, cols);
    }
}

static void drive_go(drive *d, tn_context *c) {
    const int64_t tasks = (d->blocks + d->per_task - 1) / d->per_task;
    if (tasks > 1 && d->it.numel > DRIVE_TASK) {
        TNI_PATH(drive_threads);
        tni_parallel(c, tasks, drive_task, d);
        return;
    }
    for (int64_t i = 0; i < tasks; i++) drive_task(d, i);
}

/* --- copies ----------------------------------------------------------------------------------- */

TN_PRIV void tni_copy_run(tn_context *c, tn_tensor *dst, tn_tensor *src) {
    tn_tensor *operands[2];
    drive d;
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
    if (dst->dtype != src->dtype) drive_chain_to(&d.op[1].chain, d.k, src->dtype, dst->dtype);
    tni_iterate_init(&d.it, dst->ndim, dst->size, operands, 2);
    drive_cut(&d);
    drive_go(&d, c);
}

TN_PRIV void tni_copy_elements(tni_block *b, tn_tensor *dst, const tn_tensor *src) {
    tni_copy_run(b->context, dst, (tn_tensor *)(uintptr_t)src);
}

/* --- pointwise rows --------------------------------------------------------------------------- */

/* The type that a row computes dtype d in. */
static int drive_native(const tn_frame *f, int d) {
    if (d == TN_BOOL) return TN_BOOL;
    return f->row->rules & TNI_SINGLY && d == TN_C64 ? (int)TN_C128 : drive_natural(d);
}
/* Elements that the loop of this row and type takes at a time. */
static int64_t drive_lanes(const tn_frame *f, int type) {
    return f->row->rules & TNI_SINGLY && type == TNI_IN_C128
               ? 1
               : f->block->context->kernels->lanes[type];
}

static int drive_type(int dtype) {
#define DRIVE_TYPE(NAME, text, bytes, kind, alias, computes, loop, ...) TNI_IN_##loop,
    static const uint8_t type[TN_DTYPE_COUNT] = {0, TN_DTYPES(DRIVE_TYPE)};
#undef DRIVE_TYPE
    return type[dtype];
}

TNI_INLINE void drive_number(char *to, int dtype, tn_scalar s) {
    if (dtype == TN_F32 && s.kind == TN_KIND_FLOAT) {
        const float v = (float)s.real;
        memcpy(to, &v, sizeof v);
    } else {
        tni_element_set(to, dtype, s);
    }
}

/* A number parameter; TN_KIND_NONE if p is not a number. A switch, because tn_param_number would
 * cost a small call 40 instructions. */
static tn_scalar drive_number_of(const tn_param *p, const char *at) {
    double real;
    int64_t integer;
    bool truth;
    tn_scalar s;
    switch (p->type) {
    case TN_T_SCALAR:
        if (!(p->flags & TN_P_DOUBLE)) return memcpy(&s, at, sizeof s), s;
        /* fallthrough */
    case TN_T_FLOAT: return memcpy(&real, at, sizeof real), tn_float(real);
    case TN_T_INT: return memcpy(&integer, at, sizeof integer), tn_int(integer);
    case TN_T_BOOL: return memcpy(&truth, at, sizeof truth), tn_bool(truth);
    default: return tn_none();
    }
}

/* The row's number parameters, one after another, in the type of the computation. */
static TNI_NOINLINE void drive_numbers_any(const tn_frame *f, int dtype, char *to) {
    const tn_gen *gen = f->row->gen;
    const int64_t bytes = tni_dtype(dtype)->bytes;
    for (int i = 0; i < gen->nparam; i++) {
        if (gen->param[i].type == TN_T_TENSOR) continue;
        tn_scalar s = drive_number_of(&gen->param[i], (const char *)f->args + gen->param[i].offset);
        if (s.kind == TN_KIND_NONE) continue;
        drive_number(to, dtype, s);
        to += bytes;
    }
}

TNI_INLINE void drive_numbers(const tn_frame *f, int dtype, char *to) {
    const tn_gen *gen = f->row->gen;
    if (gen->nparam == gen->nfixed) return;
    if (gen->props & TN_PROP_DOUBLE &&
        dtype == TN_F32) { /* the frequent case in few instructions */
        double real;
        float v;
        memcpy(&real, (const char *)f->args + gen->param[gen->nfixed].offset, sizeof real);
        v = (float)real;
        memcpy(to, &v, sizeof v);
    } else {
        drive_numbers_any(f, dtype, to);
    }
}

/* A flat call: each operand is contiguous in the same order, or a single number. */
typedef struct drive_flat {
    tn_frame *f;
    tni_loop loop;
    const char *in[DRIVE_IN];
    int64_t step[DRIVE_IN], lanes, n, out_size;
    char *out;
    const void *numbers;
} drive_flat;

static void drive_flat_task(void *arg, int64_t i) {
    const drive_flat *d = (const drive_flat *)arg;
    const int64_t from = i * DRIVE_TASK, vectors = from / d->lanes,
                  n = d->n - from < DRIVE_TASK ? d->n - from : (int64_t)DRIVE_TASK;
    const char *in[DRIVE_IN];
    for (int k = 0; k < d->f->nin; k++) in[k] = d->in[k] + vectors * d->step[k];
    drive_span(d->loop, d->f->nin, d->lanes, d->out + from * d->out_size, d->out_size, in, d->step,
               n, d->numbers);
}

/* Whether whole vectors of t may be read even if its elements end within one: the data lie in a
 * block of whole granules (tensor/storage.c). */
TNI_INLINE bool drive_padded(const tn_tensor *t) {
    return t->storage->kind == TNI_DATA_INSIDE && !t->offset;
}

/* A vector of one element, a number or an expanded tensor's. */
static TNI_NOINLINE const char *drive_repeat(double *block, const tn_tensor *t, int dtype,
                                             int64_t lanes) {
    const int64_t size = (int64_t)1 << tni_width(dtype);
    char *to = (char *)block;
    drive_number(to, dtype, tni_element(tni_bytes_at(t), t->dtype));
    if (size == 4)
        for (int64_t j = 1; j < lanes; j++) memcpy(to + j * 4, to, 4);
    else
        for (int64_t j = 1; j < lanes; j++) memcpy(to + j * size, to, (size_t)size);
    return to;
}

/* A few floats, computed in whole vectors: the memory behind the last element is unused. Not for
 * integers, whose padding could divide by zero. */
static bool drive_small(tn_frame *f, int dtype, const void *numbers) {
    const tni_kernels *k = f->block->context->kernels;
    const int type = dtype == TN_F32 ? TNI_IN_F32 : TNI_IN_F64;
    const int64_t lanes = k->lanes[type], step = dtype == TN_F32 ? lanes * 4 : lanes * 8;
    const tn_tensor *out = f->out[0];
    const char *in[DRIVE_IN];
    int64_t steps[DRIVE_IN];
    double fill[DRIVE_IN][TNI_VECTOR_BYTES / sizeof(double)];
    if (!drive_padded(out) || out->storage->bytes != out->numel << tni_width(out->dtype))
        return false;
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *t = f->in[i];
        if (tni_is_flat(t)) {
            if (!drive_padded(t)) return false;
            in[i] = (const char *)t->storage->data;
            steps[i] = step;
        } else {
            in[i] = drive_repeat(fill[i], t, dtype, lanes);
            steps[i] = 0;
        }
    }
    TNI_PATH(drive_whole_vectors);
    ((const tni_loop(*)[TNI_LOOP_TYPES])f->row->gen->loops)[k->isa][type](
        (char *)out->storage->data, in, steps,
        out->numel <= lanes ? 1 : (out->numel + lanes - 1) / lanes, numbers);
    return true;
}

static TNI_NOINLINE void drive_run_flat(tn_frame *f, int dtype, const void *numbers) {
    const tni_kernels *k = f->block->context->kernels;
    const int type = drive_type(dtype);
    const int64_t size = tni_dtype(dtype)->bytes;
    double fill[DRIVE_IN][TNI_VECTOR_BYTES / sizeof(double)];
    drive_flat d;
    if (f->out[0]->numel > DRIVE_TASK)
        TNI_PATH(drive_flat_threads);
    else
        TNI_PATH(drive_flat);
    d.f = f;
    d.loop = ((const tni_loop(*)[TNI_LOOP_TYPES])f->row->gen->loops)[k->isa][type];
    d.lanes = drive_lanes(f, type);
    d.n = f->out[0]->numel;
    d.out = tni_bytes_at(f->out[0]);
    d.out_size = f->row->rules & TN_GIVES_BOOL ? 1 : size;
    d.numbers = numbers;
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *t = f->in[i];
        const bool repeated = tni_is_repeated(t);
        d.in[i] = repeated ? drive_repeat(fill[i], t, dtype, d.lanes) : tni_bytes_at(t);
        d.step[i] = repeated ? 0 : d.lanes * size;
    }
    if (d.n > DRIVE_TASK)
        tni_parallel(f->block->context, (d.n + DRIVE_TASK - 1) / DRIVE_TASK, drive_flat_task, &d);
    else
        drive_span(d.loop, f->nin, d.lanes, d.out, d.out_size, d.in, d.step, d.n, numbers);
}

/* Operand k + 1 of the plan. A tensor is rounded to the common dtype before it is widened for the
 * loop; a number keeps its digits. */
static void drive_input(drive *d, tn_frame *f, int k, int common, int native) {
    const tn_tensor *t = f->in[k];
    drive_operand *op = &d->op[k + 1];
    if (f->row->rules & TN_TAKES_MASK && k == 0) common = native = TN_BOOL;
    op->bytes = tni_dtype_size(t);
    op->size = tni_dtype(native)->bytes;
    op->chain.n = 0;
    op->chain.most = 0;
    if (t->dtype == native) return;
    if (t->flags & TNI_NUMBER && tni_is_float(common)) {
        drive_chain_to(&op->chain, d->k, t->dtype, native);
        return;
    }
    drive_chain_to(&op->chain, d->k, t->dtype, common);
    drive_chain_to(&op->chain, d->k, common, native);
}

/* The 16-bit number next to a in the direction of b: the bits of such numbers, read as integers,
 * grow with their magnitude. */
static tn_scalar drive_next_after(tn_scalar a, tn_scalar b, int dtype) {
    const double x = a.real, y = b.real;
    uint16_t bits;
    if (x != x || y != y) return tn_float(x + y);
    if (x == y) return b;
    tni_element_set((char *)&bits, dtype, x == 0 ? tn_float(copysign(0, y)) : a);
    bits = (uint16_t)(x == 0 || (x < y) == (x > 0) ? bits + 1 : bits - 1);
    return tni_element((const char *)&bits, dtype);
}

/* An element in the dtype that the call computes in. */
static tn_scalar drive_element_as(const char *at, int from, int dtype) {
    uint16_t bits;
    tni_element_set((char *)&bits, dtype, tni_element(at, from));
    return tni_element((const char *)&bits, dtype);
}

/* TN_STEPS_IN_DTYPE of a 16-bit type, one element at a time. */
static void drive_step(tn_frame *f, int common) {
    const tn_tensor *const all[3] = {f->out[0], f->in[0], f->in[1]};
    tni_walk w;
    TNI_PATH(drive_step);
    tni_walk_start(&w, f->out[0]->ndim, f->out[0]->size, all, 3);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            if (!(i & 0xffff) && tni_stopped()) return;
            tni_element_set(
                w.at[0] + i * w.row[0], f->out[0]->dtype,
                drive_next_after(drive_element_as(w.at[1] + i * w.row[1], f->in[0]->dtype, common),
                                 drive_element_as(w.at[2] + i * w.row[2], f->in[1]->dtype, common),
                                 common));
        }
}

/* Any layout, block by block. */
static TNI_NOINLINE void drive_run_strided(tn_frame *f, int common, int native, int made,
                                           const void *numbers) {
    const int rounded = tni_pointwise_makes(f->row->rules, common);
    tn_tensor *operands[1 + DRIVE_IN], *out = f->out[0];
    drive d;
    if (f->row->rules & TN_STEPS_IN_DTYPE && common != native) {
        drive_step(f, common);
        return;
    }
    d.f = f;
    d.k = f->block->context->kernels;
    d.loop = ((const tni_loop(*)[TNI_LOOP_TYPES])f->row->gen->loops)[d.k->isa][drive_type(native)];
    d.lanes = drive_lanes(f, drive_type(native));
    d.numbers = numbers;
    d.nin = f->nin;
    operands[0] = out;
    d.op[0].bytes = tni_dtype_size(out);
    d.op[0].size = tni_dtype(made)->bytes;
    d.op[0].chain.n = 0;
    d.op[0].chain.most = 0;
    drive_chain_to(&d.op[0].chain, d.k, made, rounded);
    drive_chain_to(&d.op[0].chain, d.k, rounded, out->dtype);
    for (int k = 0; k < f->nin; k++) {
        operands[k + 1] = f->in[k];
        drive_input(&d, f, k, common, native);
    }
    tni_iterate_init(&d.it, out->ndim, out->size, operands, 1 + f->nin);
    drive_cut(&d);
    drive_go(&d, f->block->context);
}

TN_PRIV void tni_pointwise_run(tn_frame *f) {
    TN_NOTE(tni_pointwise_note, note, f);
    const int common = note->common, native = drive_native(f, common),
              made = tni_pointwise_makes(f->row->rules, native);
    const tn_tensor *out = f->out[0];
    double numbers[2 * TNI_NUMBERS];
    if (!out->numel) return;
    drive_numbers(f, native, (char *)numbers);
    if (note->flat < 0 || !(out->flags & TNI_CONTIGUOUS) || out->dtype != made)
        drive_run_strided(f, common, native, made, numbers);
    else if (out->numel > DRIVE_FEW || (common != TN_F32 && common != TN_F64) ||
             !drive_small(f, common, numbers))
        drive_run_flat(f, common, numbers);
}
