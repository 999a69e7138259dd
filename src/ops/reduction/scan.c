/* scan.c - the plan of a scan, and its blocks of rows between tensors and a buffer (scan.h).
 * Hot: its loops go over elements themselves (base/cold_begin.inl). */
#include "scan.h"

TN_PRIV void tni_scan_plan(tn_frame *f, tni_scan *s, const tn_tensor *x, const tn_tensor *factor,
                           int64_t dim, int64_t wide) {
    char *room = (char *)f->scratch;
    const int d = tni_dim(x->ndim, dim);
    memset(s, 0, sizeof *s);
    s->context = f->block->context;
    s->x = tni_dense(f, x, &room);
    s->factor = tni_dense(f, factor, &room);
    s->y = tni_bytes_at(f->out[0]);
    /* Of a complex tensor, inner counts real parts and imaginary ones. */
    s->pairs = tni_is_complex(x->dtype);
    s->from = s->pairs ? (int)tni_real_of(x->dtype) : x->dtype;
    s->to = s->pairs ? (int)tni_real_of(f->out[0]->dtype) : f->out[0]->dtype;
    s->compute = tni_is_float(s->to) ? TN_F64 : TN_I64;
    s->n = x->ndim ? x->size[d] : 1;
    s->outer = 1;
    s->inner = s->pairs ? 2 : 1;
    /* Sizes before d make outer, those behind it inner. */
    for (int e = 0; e < x->ndim; e++)
        if (e < d)
            s->outer *= x->size[e];
        else if (e > d)
            s->inner *= x->size[e];
    s->chunks = (s->inner + TNI_SCAN_COLUMNS - 1) / TNI_SCAN_COLUMNS;
    s->beside = s->inner < wide ? wide / s->inner : 1;
}
TN_PRIV void tni_scan_run(tni_scan *s, void (*task)(void *, int64_t)) {
    const int64_t groups = (s->outer + s->beside - 1) / s->beside;
    tni_lanes_spread(s->context, groups * s->chunks, s->outer * s->n * s->inner, task, s);
}

TN_PRIV tni_scan_part tni_scan_part_of(const tni_scan *s, int64_t i) {
    const int64_t c = i % s->chunks * TNI_SCAN_COLUMNS, o = i / s->chunks * s->beside;
    tni_scan_part p;
    p.at = o * s->n * s->inner + c;
    p.width = s->inner - c < TNI_SCAN_COLUMNS ? s->inner - c : (int64_t)TNI_SCAN_COLUMNS;
    p.beside = s->outer - o < s->beside ? s->outer - o : s->beside;
    p.m = p.beside * p.width;
    p.rows = TNI_SCAN_ROOM / p.m;
    return p;
}

TN_PRIV void tni_scan_load(const tni_scan *s, const tni_scan_part *p, const char *x, int64_t first,
                           int64_t rows, tni_scan_cell *to) {
    const tni_kernels *k = s->context->kernels;
    const int64_t bytes = tni_dtype(s->from)->bytes;
    tni_scan_cell line[TNI_SCAN_ROOM];
    x += (p->at + first * s->inner) * bytes;
    /* Rows that lie one behind the other are read as one. */
    if (p->m == s->inner) {
        tni_lanes_read(k, to, s->compute, x, bytes, s->from, rows * p->m);
        return;
    }
    for (int64_t l = 0; l < p->beside; l++, x += s->n * s->inner * bytes) {
        if (p->beside == 1) {
            for (int64_t r = 0; r < rows; r++)
                tni_lanes_read(k, to + r * p->m, s->compute, x + r * s->inner * bytes, bytes,
                               s->from, p->m);
            return;
        }
        tni_lanes_read(k, line, s->compute, x, bytes, s->from, rows * p->width);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < p->width; c++)
                to[r * p->m + l * p->width + c] = line[r * p->width + c];
    }
}

/* Rows to y, whose elements are of dtype `to`. */
static void scan_store(const tni_scan *s, const tni_scan_part *p, char *y, int to, int64_t first,
                       int64_t rows, int compute, const tni_scan_cell *from) {
    const tni_kernels *k = s->context->kernels;
    const int64_t bytes = tni_dtype(to)->bytes;
    tni_scan_cell line[TNI_SCAN_ROOM];
    y += (p->at + first * s->inner) * bytes;
    if (p->m == s->inner) {
        tni_lanes_write(k, y, bytes, to, from, compute, rows * p->m);
        return;
    }
    for (int64_t l = 0; l < p->beside; l++, y += s->n * s->inner * bytes) {
        if (p->beside == 1) {
            for (int64_t r = 0; r < rows; r++)
                tni_lanes_write(k, y + r * s->inner * bytes, bytes, to, from + r * p->m, compute,
                                p->m);
            return;
        }
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < p->width; c++)
                line[r * p->width + c] = from[r * p->m + l * p->width + c];
        tni_lanes_write(k, y, bytes, to, line, compute, rows * p->width);
    }
}
TN_PRIV void tni_scan_save(const tni_scan *s, const tni_scan_part *p, int64_t first, int64_t rows,
                           const tni_scan_cell *from) {
    scan_store(s, p, s->y, s->to, first, rows, s->compute, from);
}
TN_PRIV void tni_scan_save_index(const tni_scan *s, const tni_scan_part *p, int64_t first,
                                 int64_t rows, const tni_scan_cell *from) {
    scan_store(s, p, (char *)s->index, TN_I64, first, rows, TN_I64, from);
}
