/* rotations.h - plane rotations of neighbouring columns, collected and applied together
 * (rotations.c). */
#ifndef TNI_CPU_ROTATIONS_H
#define TNI_CPU_ROTATIONS_H

#include "matrix.h"

/* A sweep rotates columns first and first + step, then those and the next, n times. */
typedef struct tni_turns {
    int64_t first, n, at; /* at: of its first (c, s) in cs */
    int step;             /* 1 or -1 */
} tni_turns;
enum { TNI_TURNS = 32 };
typedef struct tni_rotations {
    const tni_planes *q; /* what is rotated; NULL: nothing is */
    double *cs;
    int64_t room, used; /* pairs */
    int sweeps;
    tni_turns sweep[TNI_TURNS];
} tni_rotations;

/* (c, s) with c f + s g = r, -s f + c g = 0; r has the sign of f unless f is 0. */
TN_PRIV void tni_rotation_of(double f, double g, double *c, double *s, double *r);
/* Doubles of scratch for the rotations of n columns. */
TN_PRIV int64_t tni_rotations_size(int64_t n);
TN_PRIV tni_rotations tni_rotations_in(const tni_planes *q, double *cs, int64_t n);
/* Where the n pairs of a sweep go; applies what is there if they do not fit. NULL without q. */
TN_PRIV double *tni_rotations_begin(tni_rotations *r, int64_t first, int step, int64_t n);
TN_PRIV void tni_rotations_apply(tni_rotations *r);

#endif
