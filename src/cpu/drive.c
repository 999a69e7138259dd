/* drive.c - runs the loop of a pointwise row over its operands: a few floats in whole vectors,
 * operands that lie alike in one run, any other layout in blocks (blocks.h).
 *
 * Elements are independent, so the way changes no result. Nothing here allocates or fails. */
#include "blocks.h"
#include "walk.h"
#include "../call/types.h"

enum { DRIVE_FEW = 64 }; /* elements that drive_small may take */

TN_PRIV int tni_pointwise_native(const tn_frame *f, int d) {
    if (d == TN_BOOL) return TN_BOOL;
    const int native =
        f->row->rules & TNI_SINGLY && d == TN_C64 ? (int)TN_C128 : tni_computed_in(d);
    return f->row->rules & TNI_FLOATS_SINGLY && native == TN_F32 ? (int)TN_F64 : native;
}
/* Elements that the loop of this row and type takes at a time. */
static int64_t drive_lanes(const tn_frame *f, int type) {
    const uint32_t rules = f->row->rules;
    const bool singly = (rules & TNI_SINGLY && type == TNI_IN_C128) ||
                        (rules & TNI_FLOATS_SINGLY && type == TNI_IN_F64);
    return singly ? 1 : f->block->context->kernels->lanes[type];
}

static int drive_type(int dtype) {
#define DRIVE_TYPE(NAME, text, bytes, kind, alias, computes, loop, ...) TNI_IN_##loop,
    static const uint8_t type[TN_DTYPE_COUNT] = {0, TN_DTYPES(DRIVE_TYPE)};
#undef DRIVE_TYPE
    return type[dtype];
}

TN_PRIV TNI_NOINLINE void tni_pointwise_numbers(const tn_frame *f, int dtype, char *to) {
    const tn_gen *gen = f->row->gen;
    const int64_t bytes = tni_dtype(dtype)->bytes;
    for (int i = 0; i < gen->nparam; i++) {
        const tn_param *p = &gen->param[i];
        tn_scalar s;
        if (!(TN_TYPES_NUMBER >> p->type & 1)) continue;
        tni_type_of(p)->number((const char *)f->args + p->offset, &s);
        tni_number_put(to, dtype, s);
        to += bytes;
    }
}

TNI_INLINE void drive_numbers(const tn_frame *f, int dtype, char *to) {
    const tn_gen *gen = f->row->gen;
    if (gen->nparam == gen->nfixed) return;
    if (gen->props & TN_PROP_DOUBLE) { /* the frequent case in few instructions */
        double real;
        memcpy(&real, (const char *)f->args + gen->param[gen->nfixed].offset, sizeof real);
        tni_number_put(to, dtype, tn_float(real));
    } else {
        tni_pointwise_numbers(f, dtype, to);
    }
}

/* A flat call: each operand is contiguous in the same order, or a single number. */
typedef struct drive_flat {
    tn_frame *f;
    tni_loop loop;
    const char *in[TNI_INPUTS];
    int64_t step[TNI_INPUTS], lanes, n, out_size;
    char *out;
    const void *numbers;
} drive_flat;

static void drive_flat_task(void *arg, int64_t i) {
    const drive_flat *d = (const drive_flat *)arg;
    /* Tasks begin at whole vectors: TNI_TASK is a multiple of all numbers of lanes. */
    const int64_t from = i * TNI_TASK, vectors = from / d->lanes,
                  n = d->n - from < TNI_TASK ? d->n - from : (int64_t)TNI_TASK;
    const char *in[TNI_INPUTS];
    for (int k = 0; k < d->f->nin; k++) in[k] = d->in[k] + vectors * d->step[k];
    tni_span_run(d->loop, d->f->nin, d->lanes, d->out + from * d->out_size, d->out_size, in,
                 d->step, n, d->numbers);
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
    tni_number_put(to, dtype, tni_element(tni_bytes_at(t), t->dtype));
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
    const char *in[TNI_INPUTS];
    int64_t steps[TNI_INPUTS];
    double fill[TNI_INPUTS][TNI_VECTOR_BYTES / sizeof(double)];
    /* The result must fill its storage, whose last vector may then be written whole. */
    if (!drive_padded(out) || out->storage->bytes != out->numel << tni_width(out->dtype))
        return false;
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *t = f->in[i];
        /* Flat operands must be readable up to the end of their last vector. */
        if (tni_is_flat(t)) {
            if (!drive_padded(t)) return false;
            in[i] = (const char *)t->storage->data;
            steps[i] = step;
        } else {
            in[i] = drive_repeat(fill[i], t, dtype, lanes);
            steps[i] = 0;
        }
    }
    /* At least one vector, and as many as cover all elements. */
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
    double fill[TNI_INPUTS][TNI_VECTOR_BYTES / sizeof(double)];
    drive_flat d;
    if (f->out[0]->numel > TNI_TASK)
        TNI_PATH(drive_flat_threads);
    else
        TNI_PATH(drive_flat);
    /* Each operand is contiguous, or one element in a vector that is read again and again. */
    d.f = f;
    d.loop = ((const tni_loop(*)[TNI_LOOP_TYPES])f->row->gen->loops)[k->isa][type];
    d.lanes = drive_lanes(f, type);
    d.n = f->out[0]->numel;
    d.out = tni_bytes_at(f->out[0]);
    d.out_size = f->row->rules & TN_GIVES_BOOL ? 1 : size;
    d.numbers = numbers;
    for (int i = 0; i < f->nin; i++) {
        const tn_tensor *t = f->in[i];
        /* An element that is repeated becomes one vector, which every step reads. */
        const bool repeated = tni_is_repeated(t);
        d.in[i] = repeated ? drive_repeat(fill[i], t, dtype, d.lanes) : tni_bytes_at(t);
        d.step[i] = repeated ? 0 : d.lanes * size;
    }
    if (d.n > TNI_TASK)
        tni_parallel(f->block->context, (d.n + TNI_TASK - 1) / TNI_TASK, drive_flat_task, &d);
    else
        tni_span_run(d.loop, f->nin, d.lanes, d.out, d.out_size, d.in, d.step, d.n, numbers);
}

/* Operand k + 1 of the plan. A tensor is rounded to the common dtype before it is widened for the
 * loop; a number keeps its digits. */
static void drive_input(tni_blocks *d, tn_frame *f, int k, int common, int native) {
    const tn_tensor *t = f->in[k];
    tni_blocks_operand *op = &d->op[k + 1];
    if (f->row->rules & TN_TAKES_MASK && k == 0) common = native = TN_BOOL;
    op->bytes = tni_dtype_size(t);
    op->size = tni_dtype(native)->bytes;
    op->chain.n = 0;
    op->chain.most = 0;
    if (t->dtype == native) return;
    if (t->flags & TNI_NUMBER && tni_is_float(common)) {
        tni_chain_to(&op->chain, d->k, t->dtype, native);
        return;
    }
    tni_chain_to(&op->chain, d->k, t->dtype, common);
    tni_chain_to(&op->chain, d->k, common, native);
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
    /* The three operands broadcast to the result's shape. */
    tni_walk_start(&w, f->out[0]->ndim, f->out[0]->size, all, 3);
    for (int64_t r = 0; r < w.rows; r++, tni_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            if (tni_stopped_at(i)) return;
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
    tn_tensor *operands[1 + TNI_INPUTS], *out = f->out[0];
    tni_blocks d;
    if (f->row->rules & TN_STEPS_IN_DTYPE && common != native) {
        drive_step(f, common);
        return;
    }
    d.f = f;
    /* Any layout: chains of conversions for each operand, then blocks. */
    d.k = f->block->context->kernels;
    d.loop = ((const tni_loop(*)[TNI_LOOP_TYPES])f->row->gen->loops)[d.k->isa][drive_type(native)];
    d.lanes = drive_lanes(f, drive_type(native));
    d.numbers = numbers;
    d.nin = f->nin;
    /* The result: from what the loop makes to what the row gives, rounded to it, then
     * to out's dtype. */
    operands[0] = out;
    d.op[0].bytes = tni_dtype_size(out);
    d.op[0].size = tni_dtype(made)->bytes;
    d.op[0].chain.n = 0;
    d.op[0].chain.most = 0;
    tni_chain_to(&d.op[0].chain, d.k, made, rounded);
    tni_chain_to(&d.op[0].chain, d.k, rounded, out->dtype);
    for (int k = 0; k < f->nin; k++) {
        operands[k + 1] = f->in[k];
        drive_input(&d, f, k, common, native);
    }
    tni_iterate_init(&d.it, out->ndim, out->size, operands, 1 + f->nin);
    tni_blocks_cut(&d);
    tni_blocks_run(&d, f->block->context);
}

TN_PRIV void tni_pointwise_run(tn_frame *f) {
    TN_NOTE(tni_pointwise_note, note, f);
    const int common = note->common, native = tni_pointwise_native(f, common),
              made = tni_pointwise_makes(f->row->rules, native);
    const tn_tensor *out = f->out[0];
    double numbers[2 * TNI_NUMBERS];
    /* Numbers first, in the type of the computation; then one of three ways, by layout and size. */
    if (!out->numel) return;
    drive_numbers(f, native, (char *)numbers);
    if (note->flat < 0 || !(out->flags & TNI_CONTIGUOUS) || out->dtype != made || native != common)
        drive_run_strided(f, common, native, made, numbers);
    else if (out->numel > DRIVE_FEW || (common != TN_F32 && common != TN_F64) ||
             f->row->rules & TNI_FLOATS_SINGLY || !drive_small(f, common, numbers))
        drive_run_flat(f, common, numbers);
}
