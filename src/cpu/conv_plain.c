/* conv_plain.c - convolution of integers and complex numbers, and its two gradients: plain loops.
 *
 * All three run over the same products: y (n, o, p, q) with x (n, c, p stride + i dilation -
 * padding, ...) and weight (o, c, i, j); one of the tensors is the result. Integers are added in
 * int64, wrapping, complex numbers in complex128, and the gradients take the factor that is no
 * gradient conjugate. Each element is one chain: over (c, i, j) from
 * bias on, over (o, i, j), or over (n, p, q). */
#include "conv.h"
#include "drive.h"

typedef struct plain_job {
    const tni_cv_shape *s;
    tn_context *context;
    int result;
    bool complex;
    int64_t size;
    char *y, *x, *weight;
    const char *bias;
} plain_job;

/* r[q rs] += a[q as] b[q bs]; steps in elements. sign -1: b is conjugate. */
static void plain_line_i64(uint64_t *r, int64_t rs, const uint64_t *a, int64_t as,
                           const uint64_t *b, int64_t bs, int64_t n) {
    for (int64_t q = 0; q < n; q++) r[q * rs] += a[q * as] * b[q * bs];
}
static void plain_line_c128(double *r, int64_t rs, const double *a, int64_t as, const double *b,
                            int64_t bs, double sign, int64_t n) {
    for (int64_t q = 0; q < n; q++, r += 2 * rs, a += 2 * as, b += 2 * bs) {
        const double im = sign * b[1];
        r[0] = fma(-a[1], im, fma(a[0], b[0], r[0]));
        r[1] = fma(a[1], b[0], fma(a[0], im, r[1]));
    }
}

/* n products along a line of the output, from these elements on: y steps by 1, x by the stride, the
 * weight stays. The result is one of the three, the other two are multiplied. */
static void plain_line(const plain_job *j, int64_t y, int64_t x, int64_t weight, int64_t n) {
    char *operand[3];
    int64_t step[3];
    /* r: the result; a and b: the factors, a the output's gradient unless r is the output. */
    const int r = j->result, a = r == TNI_CV_OUTPUT ? TNI_CV_INPUT : TNI_CV_OUTPUT,
              b = TNI_CV_OUTPUT + TNI_CV_INPUT + TNI_CV_WEIGHT - r - a;
    /* By role: where the line begins, and its step from product to product. */
    operand[TNI_CV_OUTPUT] = j->y + y * j->size;
    step[TNI_CV_OUTPUT] = 1;
    operand[TNI_CV_INPUT] = j->x + x * j->size;
    step[TNI_CV_INPUT] = j->s->sw;
    operand[TNI_CV_WEIGHT] = j->weight + weight * j->size;
    step[TNI_CV_WEIGHT] = 0;
    /* In gradients the sign makes the second factor conjugate. */
    if (j->complex)
        plain_line_c128((double *)(void *)operand[r], step[r], (double *)(void *)operand[a],
                        step[a], (double *)(void *)operand[b], step[b], r == TNI_CV_OUTPUT ? 1 : -1,
                        n);
    else
        plain_line_i64((uint64_t *)(void *)operand[r], step[r], (uint64_t *)(void *)operand[a],
                       step[a], (uint64_t *)(void *)operand[b], step[b], n);
}

/* The products of image n, output channel o, channel c of its group and tap (i, j) of the kernel,
 * where the tap lies inside the input: of planes that begin at y and x, and weight's plane. */
static void plain_plane(const plain_job *j, int64_t y, int64_t x, int64_t weight, int64_t tap) {
    const tni_cv_shape *s = j->s;
    /* Output (p, q) meets input (p stride + down, q stride + right). first and end: columns q for
     * which that lies inside the input. */
    const int64_t down = tap / s->kw * s->dh - s->ph, right = tap % s->kw * s->dw - s->pw;
    const int64_t first = right < 0 ? (-right + s->sw - 1) / s->sw : 0;
    int64_t end = s->w > right ? (s->w - right + s->sw - 1) / s->sw : 0;
    if (end > s->ow) end = s->ow;
    /* The same for rows, one at a time. */
    for (int64_t p = 0; p < s->oh && first < end; p++) {
        const int64_t row = p * s->sh + down;
        if (row < 0 || row >= s->h) continue;
        plain_line(j, y + p * s->ow + first, x + row * s->w + first * s->sw + right, weight + tap,
                   end - first);
    }
}
/* The same of all planes of the output, for tap (k, i, j). */
static void plain_tap(const plain_job *j, int64_t n, int64_t o, int64_t c, int64_t tap) {
    const tni_cv_shape *s = j->s;
    const int64_t flat = s->kh * s->kw, k = tap / flat;
    for (int64_t p = 0; p < s->od; p++) {
        const int64_t z = p * s->sd + k * s->dd - s->pd;
        if (z < 0 || z >= s->d) continue;
        plain_plane(j, ((n * s->o + o) * s->od + p) * s->oh * s->ow,
                    ((n * s->c + o / s->og * s->cg + c) * s->d + z) * s->h * s->w,
                    ((o * s->cg + c) * s->kd + k) * flat, tap % flat);
    }
}

/* Plane (n, o) of the output, (n, c) of the input's gradient, (o, c) of the weight's. */
static void plain_task(void *arg, int64_t at) {
    const plain_job *j = (const plain_job *)arg;
    const tni_cv_shape *s = j->s;
    /* Plane `at` is (a, b) of the result. Its chains run over the indices that the result lacks. */
    const int64_t planes = j->result == TNI_CV_OUTPUT  ? s->o
                           : j->result == TNI_CV_INPUT ? s->c
                                                       : s->cg;
    const int64_t a = at / planes, b = at % planes, taps = s->kd * s->kh * s->kw, group = b / s->cg,
                  pixels = s->od * s->oh * s->ow;
    /* An output begins at its bias. */
    if (j->result == TNI_CV_OUTPUT) {
        for (int64_t i = 0; i < pixels && j->bias; i++)
            memcpy(j->y + (at * pixels + i) * j->size, j->bias + b * j->size, (size_t)j->size);
        for (int64_t k = 0; k < s->taps; k++) plain_tap(j, a, b, k / taps, k % taps);
    } else if (j->result == TNI_CV_INPUT) {
        for (int64_t k = 0; k < s->og * taps; k++)
            plain_tap(j, a, group * s->og + k / taps, b % s->cg, k % taps);
    } else {
        for (int64_t k = 0; k < taps; k++)
            for (int64_t n = 0; n < s->n; n++) plain_tap(j, n, a, b, k);
    }
}

/* --- elements as int64 or complex128, row-major ----------------------------------------------- */

static tn_dtype plain_compute(const tn_tensor *t) {
    return tni_is_complex(t->dtype) ? TN_C128 : TN_I64;
}
static bool plain_lies(const tn_tensor *t) {
    return t->flags & TNI_CONTIGUOUS && t->dtype == (int)plain_compute(t);
}
/* Bytes of a copy in scratch, a multiple of TNI_ALIGN; -1, which tn_scratch refuses: too many. */
static int64_t plain_bytes(const tn_tensor *t, int64_t numel) {
    int64_t bytes;
    if (!tni_bytes(numel, tni_dtype((int)plain_compute(t))->bytes, &bytes)) return -1;
    return (bytes + TNI_ALIGN - 1) & -TNI_ALIGN;
}

/* Inputs with another layout are copied; a result of another dtype is computed in scratch first. */
TN_PRIV bool tni_cv_plain_ask(tn_frame *f, int64_t numel) {
    const tn_tensor *first = f->in[0];
    for (int i = 0; i < f->nin; i++)
        if (f->in[i] && !plain_lies(f->in[i]) &&
            !tn_scratch(f, plain_bytes(f->in[i], f->in[i]->numel), 1))
            return false;
    return first->dtype == (int)plain_compute(first) || tn_scratch(f, plain_bytes(first, numel), 1);
}

/* t as the loops read it: in place, or converted and row-major in *room, which moves on. */
static char *plain_copy(tn_frame *f, const tn_tensor *t, char **room) {
    int64_t stride[TN_MAX_DIMS];
    tni_storage storage;
    tn_tensor to;
    if (!t || !t->numel) return NULL;
    if (plain_lies(t)) return tni_bytes_at(t);
    /* A tensor on the stack, of the compute type, over the scratch. */
    memset(&storage, 0, sizeof storage);
    storage.data = *room;
    tni_row_major(t->ndim, t->size, stride);
    tni_stack_view(&to, t, t->ndim, t->size, stride, 0);
    to.storage = &storage;
    to.dtype = (uint8_t)plain_compute(t);
    tni_copy_elements(f->block, &to, t);
    *room += plain_bytes(t, t->numel);
    return (char *)storage.data;
}

TN_PRIV void tni_cv_plain_run(tn_frame *f, const tni_cv_shape *s, int result) {
    tn_tensor *out = f->out[0];
    char *room = (char *)f->scratch, *first, *second, *to = tni_bytes_at(out);
    const int compute = (int)plain_compute(out);
    plain_job j;
    if (!out->numel) return;
    /* f->in: (input, weight, bias), (grad, weight) or (grad, input), by the result. */
    first = plain_copy(f, f->in[0], &room);
    second = plain_copy(f, f->in[1], &room);
    j.s = s;
    j.context = f->block->context;
    j.result = result;
    j.complex = compute == TN_C128;
    j.size = tni_dtype(compute)->bytes;
    j.bias = result == TNI_CV_OUTPUT && f->in[2] ? plain_copy(f, f->in[2], &room) : NULL;
    /* Behind the copies in scratch; converted to the result at the end. */
    if (out->dtype != compute) to = room;
    j.y = result == TNI_CV_OUTPUT ? to : first;
    j.x = result == TNI_CV_INPUT ? to : result == TNI_CV_OUTPUT ? first : second;
    j.weight = result == TNI_CV_WEIGHT ? to : second;
    /* Chains begin at zero; those of an output with bias are overwritten with it. */
    memset(to, 0, (size_t)(out->numel * j.size));
    if (j.complex)
        TNI_PATH(conv_plain_complex);
    else
        TNI_PATH(conv_plain_integers);
    /* A task a plane of the result. */
    tni_parallel(j.context,
                 result == TNI_CV_OUTPUT  ? s->n * s->o
                 : result == TNI_CV_INPUT ? s->n * s->c
                                          : s->o * s->cg,
                 plain_task, &j);
    if (to == room)
        tni_convert(j.context->kernels, tni_bytes_at(out), out->dtype, to, compute, out->numel);
}
