/* rotations.c - plane rotations. A sweep passes over the whole matrix, so sweeps are collected and
 * applied one after another to a few rows, which stay in the cache (F. Van Zee, R. van de Geijn, G.
 * Quintana-Orti, Restructuring the tridiagonal and bidiagonal QR algorithms, 2014). */
#include "rotations.h"

enum { ROTATED_ROWS = 32 }; /* a task */

TN_PRIV void tni_rotation_of(double f, double g, double *c, double *s, double *r) {
    const double most = fmax(fabs(f), fabs(g));
    double scale = 1, length;
    if (g == 0 || most == 0) {
        *c = 1;
        *s = 0;
        *r = f;
        return;
    }
    if (f == 0) {
        *c = 0;
        *s = 1;
        *r = g;
        return;
    }
    /* No square may overflow or vanish. */
    if (most < 1e-145) scale = ldexp(1, 500);
    if (most > 1e145) scale = ldexp(1, -500);
    f *= scale;
    g *= scale;
    length = copysign(sqrt(fma(f, f, g * g)), f);
    *c = f / length;
    *s = g / length;
    *r = length / scale;
}

TN_PRIV int64_t tni_rotations_size(int64_t n) { return 2 * (16 * n + 64); }
TN_PRIV tni_rotations tni_rotations_in(const tni_planes *q, double *cs, int64_t n) {
    tni_rotations r;
    r.q = q;
    r.cs = cs;
    r.room = tni_rotations_size(n) / 2;
    r.used = 0;
    r.sweeps = 0;
    return r;
}

static void rotations_task(void *arg, int64_t i) {
    const tni_rotations *r = (const tni_rotations *)arg;
    const int64_t row = i * ROTATED_ROWS,
                  rows = r->q->m - row < ROTATED_ROWS ? r->q->m - row : (int64_t)ROTATED_ROWS;
    for (int s = 0; s < r->sweeps; s++) {
        const tni_turns *w = &r->sweep[s];
        for (int part = 0; part < 2 && r->q->at[part]; part++) TNI_K(r->q->k, columns_rotate_f64)
        ((double *)(void *)r->q->at[part] + row + w->first * r->q->ld, w->step * r->q->ld, rows,
         r->cs + 2 * w->at, w->n);
    }
}
TN_PRIV void tni_rotations_apply(tni_rotations *r) {
    if (r->q && r->sweeps)
        tni_parallel(r->q->context, (r->q->m + ROTATED_ROWS - 1) / ROTATED_ROWS, rotations_task, r);
    r->sweeps = 0;
    r->used = 0;
}

TN_PRIV double *tni_rotations_begin(tni_rotations *r, int64_t first, int step, int64_t n) {
    tni_turns *w;
    if (!r->q) return NULL;
    if (r->sweeps == TNI_TURNS || r->used + n > r->room) tni_rotations_apply(r);
    w = &r->sweep[r->sweeps++];
    w->first = first;
    w->step = step;
    w->n = n;
    w->at = r->used;
    r->used += n;
    return r->cs + 2 * w->at;
}
