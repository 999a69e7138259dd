/* lapack.c - factorizations by a linked LAPACK: what TN_USE_LAPACK exchanges.
 *
 * The Fortran routines are declared here, with the lengths of their texts that gfortran passes
 * behind all other arguments. Real matrices stay where they are; of complex ones, whose planes are
 * apart, a copy with both parts side by side is made. Workspace is what the routine asks for. */
#include "lapack.h"

#ifdef TN_USE_LAPACK
#include <float.h>

#ifndef TN_LAPACK_NAME
#define TN_LAPACK_NAME(name) name##_
#endif
#ifndef TN_LAPACK_INT
#define TN_LAPACK_INT int32_t
#endif
typedef TN_LAPACK_INT lapack_int;

#ifdef __cplusplus
extern "C" {
#endif
typedef const lapack_int *lapack_in;
typedef void lapack_potrf(const char *uplo, lapack_in n, void *a, lapack_in lda, lapack_int *info,
                          size_t);
typedef void lapack_getrf(lapack_in m, lapack_in n, void *a, lapack_in lda, lapack_int *pivots,
                          lapack_int *info);
typedef void lapack_geqrf(lapack_in m, lapack_in n, void *a, lapack_in lda, void *tau, void *work,
                          lapack_in lwork, lapack_int *info);
typedef void lapack_orgqr(lapack_in m, lapack_in n, lapack_in k, void *a, lapack_in lda,
                          const void *tau, void *work, lapack_in lwork, lapack_int *info);
lapack_potrf TN_LAPACK_NAME(spotrf), TN_LAPACK_NAME(dpotrf), TN_LAPACK_NAME(cpotrf),
    TN_LAPACK_NAME(zpotrf);
lapack_getrf TN_LAPACK_NAME(sgetrf), TN_LAPACK_NAME(dgetrf), TN_LAPACK_NAME(cgetrf),
    TN_LAPACK_NAME(zgetrf);
lapack_geqrf TN_LAPACK_NAME(sgeqrf), TN_LAPACK_NAME(dgeqrf), TN_LAPACK_NAME(cgeqrf),
    TN_LAPACK_NAME(zgeqrf);
lapack_orgqr TN_LAPACK_NAME(sorgqr), TN_LAPACK_NAME(dorgqr), TN_LAPACK_NAME(cungqr),
    TN_LAPACK_NAME(zungqr);
void TN_LAPACK_NAME(dsyevd)(const char *jobz, const char *uplo, lapack_in n, void *a, lapack_in lda,
                            double *w, void *work, lapack_in lwork, lapack_int *iwork,
                            lapack_in liwork, lapack_int *info, size_t, size_t);
void TN_LAPACK_NAME(zheevd)(const char *jobz, const char *uplo, lapack_in n, void *a, lapack_in lda,
                            double *w, void *work, lapack_in lwork, double *rwork, lapack_in lrwork,
                            lapack_int *iwork, lapack_in liwork, lapack_int *info, size_t, size_t);
void TN_LAPACK_NAME(dgesdd)(const char *jobz, lapack_in m, lapack_in n, void *a, lapack_in lda,
                            double *s, void *u, lapack_in ldu, void *vt, lapack_in ldvt, void *work,
                            lapack_in lwork, lapack_int *iwork, lapack_int *info, size_t);
void TN_LAPACK_NAME(zgesdd)(const char *jobz, lapack_in m, lapack_in n, void *a, lapack_in lda,
                            double *s, void *u, lapack_in ldu, void *vt, lapack_in ldvt, void *work,
                            lapack_in lwork, double *rwork, lapack_int *iwork, lapack_int *info,
                            size_t);
void TN_LAPACK_NAME(dgeev)(const char *jobvl, const char *jobvr, lapack_in n, void *a,
                           lapack_in lda, double *wr, double *wi, void *vl, lapack_in ldvl,
                           void *vr, lapack_in ldvr, void *work, lapack_in lwork, lapack_int *info,
                           size_t, size_t);
void TN_LAPACK_NAME(zgeev)(const char *jobvl, const char *jobvr, lapack_in n, void *a,
                           lapack_in lda, void *w, void *vl, lapack_in ldvl, void *vr,
                           lapack_in ldvr, void *work, lapack_in lwork, double *rwork,
                           lapack_int *info, size_t, size_t);
#ifdef __cplusplus
}
#endif

/* --- memory, and matrices as Fortran has them ------------------------------------------------- */

/* What one call needs, given back when it ends. */
typedef struct lapack_rooms {
    tn_context *context;
    void *at[8];
    int used;
    bool ok; /* all sizes fit, and all memory is there */
    int bytes, parts;
    int kind; /* 0 to 3: s, d, c, z */
} lapack_rooms;

static lapack_rooms lapack_begin(const tni_planes *p) {
    lapack_rooms r;
    memset(&r, 0, sizeof r);
    r.context = p->context;
    r.ok = true;
    r.bytes = p->bytes;
    r.parts = p->at[1] ? 2 : 1;
    r.kind = (r.bytes == 8) + 2 * (r.parts == 2);
    return r;
}
static void lapack_end(lapack_rooms *r) {
    while (r->used > 0) tni_put_apart(r->at[--r->used]);
}
/* A Fortran integer has room for n. */
static bool lapack_fits(double n) { return n < (sizeof(lapack_int) == 4 ? 2147483647.0 : 9e18); }
static void *lapack_get(lapack_rooms *r, double count, int bytes) {
    const double all = fmax(count, 1) * bytes;
    void *at = NULL;
    if (r->ok && all < 4e18) at = tni_get_apart(r->context, (int64_t)all);
    if (at)
        r->at[r->used++] = at;
    else
        r->ok = false;
    return at;
}

typedef struct lapack_matrix {
    void *at;
    lapack_int m, n, ld;
} lapack_matrix;

#define LAPACK_PARTS(T)                                              \
    for (int64_t c = 0; c < p->n; c++)                               \
        for (int64_t i = 0; i < p->m; i++)                           \
            for (int part = 0; part < 2; part++) {                   \
                T *plane = (T *)(void *)p->at[part] + i + c * p->ld, \
                  *pair = (T *)x->at + 2 * (i + c * p->m) + part;    \
                if (out)                                             \
                    *plane = *pair;                                  \
                else                                                 \
                    *pair = *plane;                                  \
            }
/* Between the planes of a complex matrix and its pairs. */
static void lapack_move(const lapack_matrix *x, const tni_planes *p, bool out) {
    if (p->bytes == 4) {
        LAPACK_PARTS(float)
    } else {
        LAPACK_PARTS(double)
    }
}
#undef LAPACK_PARTS
/* A matrix that is not empty; `read`: with its elements. */
static lapack_matrix lapack_open(lapack_rooms *r, const tni_planes *p, bool read) {
    lapack_matrix x = {NULL, 0, 0, 0};
    if (p->m < 1 || p->n < 1 || !lapack_fits((double)p->ld) || !lapack_fits((double)p->n))
        r->ok = false;
    if (!r->ok) return x;
    x.m = (lapack_int)p->m;
    x.n = (lapack_int)p->n;
    x.ld = (lapack_int)(p->at[1] ? p->m : p->ld);
    x.at = p->at[1] ? lapack_get(r, (double)p->m * (double)p->n, 2 * p->bytes) : p->at[0];
    if (read && p->at[1] && r->ok) lapack_move(&x, p, false);
    return x;
}
static void lapack_close(const lapack_matrix *x, const tni_planes *p) {
    if (p->at[1]) lapack_move(x, p, true);
}
/* The workspace that a query has asked for in its first element, where a float may have been
 * rounded down. */
static void *lapack_work(lapack_rooms *r, const void *asked, lapack_int *size) {
    double n = r->bytes == 8 ? *(const double *)asked
                             : (double)*(const float *)asked * (1 + (double)FLT_EPSILON);
    n = fmax(ceil(n), 1);
    if (!lapack_fits(n)) r->ok = false;
    if (r->ok) *size = (lapack_int)n;
    return lapack_get(r, n, r->bytes * r->parts);
}

/* --- direct factorizations -------------------------------------------------------------------- */

/* The first diagonal element of a factor that is not above 0, from 1: where it is a NaN, some
 * versions of potrf go on. */
static int32_t lapack_minor(const tni_planes *l) {
    for (int64_t j = 0; j < l->n; j++)
        if (!(tni_planes_get(l, j, j).re > 0)) return (int32_t)(j + 1);
    return 0;
}
TN_PRIV bool tni_lapack_cholesky(const tni_planes *l, int32_t *info) {
    static lapack_potrf *const potrf[] = {TN_LAPACK_NAME(spotrf), TN_LAPACK_NAME(dpotrf),
                                          TN_LAPACK_NAME(cpotrf), TN_LAPACK_NAME(zpotrf)};
    lapack_rooms r = lapack_begin(l);
    const lapack_matrix x = lapack_open(&r, l, true);
    lapack_int said = -1;
    if (r.ok) potrf[r.kind]("L", &x.n, x.at, &x.ld, &said, 1);
    if (said >= 0) {
        lapack_close(&x, l);
        *info = said > 0 ? (int32_t)said : lapack_minor(l);
    }
    lapack_end(&r);
    return said >= 0;
}

TN_PRIV bool tni_lapack_lu(const tni_planes *a, int32_t *pivots, int32_t *info) {
    static lapack_getrf *const getrf[] = {TN_LAPACK_NAME(sgetrf), TN_LAPACK_NAME(dgetrf),
                                          TN_LAPACK_NAME(cgetrf), TN_LAPACK_NAME(zgetrf)};
    const int64_t least = a->m < a->n ? a->m : a->n;
    lapack_rooms r = lapack_begin(a);
    const lapack_matrix x = lapack_open(&r, a, true);
    lapack_int *rows = (lapack_int *)lapack_get(&r, (double)least, (int)sizeof *rows), said = -1;
    if (r.ok) getrf[r.kind](&x.m, &x.n, x.at, &x.ld, rows, &said);
    if (said >= 0) {
        lapack_close(&x, a);
        for (int64_t j = 0; j < least; j++) pivots[j] = (int32_t)rows[j];
        *info = (int32_t)said;
    }
    lapack_end(&r);
    return said >= 0;
}

TN_PRIV bool tni_lapack_qr(const tni_planes *a, const tni_planes *taus) {
    static lapack_geqrf *const geqrf[] = {TN_LAPACK_NAME(sgeqrf), TN_LAPACK_NAME(dgeqrf),
                                          TN_LAPACK_NAME(cgeqrf), TN_LAPACK_NAME(zgeqrf)};
    lapack_rooms r = lapack_begin(a);
    const lapack_matrix x = lapack_open(&r, a, true), tau = lapack_open(&r, taus, false);
    lapack_int size = -1, said = -1;
    double asked[2] = {0, 0};
    void *work;
    if (r.ok) geqrf[r.kind](&x.m, &x.n, x.at, &x.ld, tau.at, asked, &size, &said);
    work = lapack_work(&r, asked, &size);
    said = -1;
    if (r.ok) geqrf[r.kind](&x.m, &x.n, x.at, &x.ld, tau.at, work, &size, &said);
    if (said == 0) {
        lapack_close(&x, a);
        lapack_close(&tau, taus);
    }
    lapack_end(&r);
    return said == 0;
}

TN_PRIV bool tni_lapack_product(const tni_planes *a, int64_t n, const tni_planes *taus,
                                const tni_planes *q) {
    static lapack_orgqr *const orgqr[] = {TN_LAPACK_NAME(sorgqr), TN_LAPACK_NAME(dorgqr),
                                          TN_LAPACK_NAME(cungqr), TN_LAPACK_NAME(zungqr)};
    const tni_planes from = tni_planes_part(a, 0, 0, q->m, n),
                     to = tni_planes_part(q, 0, 0, q->m, n),
                     factors = tni_planes_part(taus, 0, 0, n, 1);
    lapack_rooms r = lapack_begin(q);
    lapack_matrix x, tau;
    lapack_int size = -1, said = -1, k = (lapack_int)n;
    double asked[2] = {0, 0};
    void *work;
    if (n < 1 || n > q->n || q->n > q->m) return false;
    tni_planes_copy(&to, &from);
    x = lapack_open(&r, q, true);
    tau = lapack_open(&r, &factors, true);
    if (r.ok) orgqr[r.kind](&x.m, &x.n, &k, x.at, &x.ld, tau.at, asked, &size, &said);
    work = lapack_work(&r, asked, &size);
    said = -1;
    if (r.ok) orgqr[r.kind](&x.m, &x.n, &k, x.at, &x.ld, tau.at, work, &size, &said);
    if (said == 0) lapack_close(&x, q);
    lapack_end(&r);
    return said == 0;
}

/* --- iterations, of doubles ------------------------------------------------------------------- */

/* Arguments that the three have in common; the query writes the sizes into `asked`, `rasked` and
 * `iasked`, to which work, rwork and iwork point then. */
typedef struct lapack_call {
    void *work;
    double *rwork;
    lapack_int *iwork;
    lapack_int lwork, lrwork, liwork, said;
    double asked[2], rasked;
    lapack_int iasked;
} lapack_call;

static void lapack_query(lapack_call *c) {
    memset(c, 0, sizeof *c);
    c->work = c->asked;
    c->rwork = &c->rasked;
    c->iwork = &c->iasked;
    c->lwork = c->lrwork = c->liwork = c->said = -1;
}
static tni_lapack lapack_result(const lapack_call *c) {
    return c->said < 0 ? TNI_LAPACK_NOTHING : c->said == 0 ? TNI_LAPACK_DONE : TNI_LAPACK_ENDLESS;
}

static void lapack_syevd(const lapack_rooms *r, const char *job, const lapack_matrix *x, double *d,
                         lapack_call *c) {
    if (!r->ok) return;
    if (r->parts == 1) {
        TN_LAPACK_NAME(dsyevd)
        (job, "L", &x->n, x->at, &x->ld, d, c->work, &c->lwork, c->iwork, &c->liwork, &c->said, 1,
         1);
    } else {
        TN_LAPACK_NAME(zheevd)
        (job, "L", &x->n, x->at, &x->ld, d, c->work, &c->lwork, c->rwork, &c->lrwork, c->iwork,
         &c->liwork, &c->said, 1, 1);
    }
}
TN_PRIV tni_lapack tni_lapack_hermitian(const tni_planes *a, const tni_planes *q, double *d) {
    const double n = (double)a->n;
    lapack_rooms r = lapack_begin(a);
    lapack_matrix x;
    lapack_call c;
    /* The query itself computes 2 n^2 + 6 n + 1. */
    if (!lapack_fits(fma(fma(2, n, 6), n, 1))) r.ok = false;
    x = lapack_open(&r, a, true);
    lapack_query(&c);
    lapack_syevd(&r, q ? "V" : "N", &x, d, &c);
    c.work = lapack_work(&r, c.asked, &c.lwork);
    c.lrwork = (lapack_int)c.rasked;
    c.rwork = (double *)lapack_get(&r, c.rasked, (int)sizeof(double));
    c.liwork = c.iasked;
    c.iwork = (lapack_int *)lapack_get(&r, (double)c.iasked, (int)sizeof(lapack_int));
    c.said = -1;
    lapack_syevd(&r, q ? "V" : "N", &x, d, &c);
    if (c.said == 0 && q) {
        lapack_close(&x, a);
        tni_planes_copy(q, a);
    }
    lapack_end(&r);
    return lapack_result(&c);
}

typedef struct lapack_sides {
    lapack_matrix a, u, vt;
} lapack_sides;
static void lapack_gesdd(const lapack_rooms *r, const char *job, const lapack_sides *x, double *d,
                         lapack_call *c) {
    if (!r->ok) return;
    if (r->parts == 1) {
        TN_LAPACK_NAME(dgesdd)
        (job, &x->a.m, &x->a.n, x->a.at, &x->a.ld, d, x->u.at, &x->u.ld, x->vt.at, &x->vt.ld,
         c->work, &c->lwork, c->iwork, &c->said, 1);
    } else {
        TN_LAPACK_NAME(zgesdd)
        (job, &x->a.m, &x->a.n, x->a.at, &x->a.ld, d, x->u.at, &x->u.ld, x->vt.at, &x->vt.ld,
         c->work, &c->lwork, c->rwork, c->iwork, &c->said, 1);
    }
}
/* The adjoint of a square matrix in its place. */
static void lapack_turn(const tni_planes *v) {
    for (int64_t j = 0; j < v->n; j++)
        for (int64_t i = 0; i <= j; i++) {
            const tni_pair x = tni_planes_get(v, i, j), y = tni_planes_get(v, j, i);
            tni_planes_set(v, j, i, tni_re_im(x.re, -x.im));
            tni_planes_set(v, i, j, tni_re_im(y.re, -y.im));
        }
}
TN_PRIV tni_lapack tni_lapack_singular(const tni_planes *a, const tni_planes *u,
                                       const tni_planes *v, double *d) {
    const double m = (double)a->m, n = (double)a->n;
    const char *job = !u ? "N" : u->n == a->n ? "S" : "A";
    lapack_rooms r = lapack_begin(a);
    const lapack_matrix none = {NULL, 1, 1, 1};
    lapack_sides x = {none, none, none};
    lapack_call c;
    if ((u && u->n != a->n && u->n != a->m) || !lapack_fits(fma(fma(2, m, fma(5, n, 16)), n, m)))
        r.ok = false;
    x.a = lapack_open(&r, a, true);
    if (u) x.u = lapack_open(&r, u, false);
    if (v) x.vt = lapack_open(&r, v, false);
    lapack_query(&c);
    c.iwork = (lapack_int *)lapack_get(&r, 8 * n, (int)sizeof(lapack_int));
    if (r.parts == 2) /* with and without vectors, of all versions */
        c.rwork = (double *)lapack_get(&r, fma(2, m, fma(5, n, 7)) * n, (int)sizeof(double));
    lapack_gesdd(&r, job, &x, d, &c);
    c.work = lapack_work(&r, c.asked, &c.lwork);
    c.said = -1;
    lapack_gesdd(&r, job, &x, d, &c);
    if (c.said == 0 && u && v) {
        lapack_close(&x.u, u);
        lapack_close(&x.vt, v);
        lapack_turn(v);
    }
    lapack_end(&r);
    return lapack_result(&c);
}

static void lapack_geev(const lapack_rooms *r, const lapack_matrix *x, double *values,
                        const lapack_matrix *v, lapack_call *c) {
    const char *job = v->at ? "V" : "N";
    const lapack_int one = 1;
    if (!r->ok) return;
    if (r->parts == 1) {
        TN_LAPACK_NAME(dgeev)
        ("N", job, &x->n, x->at, &x->ld, values, values + x->n, NULL, &one, v->at, &v->ld, c->work,
         &c->lwork, &c->said, 1, 1);
    } else {
        TN_LAPACK_NAME(zgeev)
        ("N", job, &x->n, x->at, &x->ld, values, NULL, &one, v->at, &v->ld, c->work, &c->lwork,
         c->rwork, &c->said, 1, 1);
    }
}
TN_PRIV tni_lapack tni_lapack_eigen(const tni_planes *a, double *values, bool vectors) {
    const int64_t n = a->n;
    lapack_rooms r = lapack_begin(a);
    const lapack_matrix x = lapack_open(&r, a, true);
    lapack_matrix v = {NULL, x.n, x.n, 1};
    lapack_call c;
    double *pairs = values;
    if (vectors) {
        v.ld = x.n;
        v.at = lapack_get(&r, (double)n * (double)n, r.bytes * r.parts);
    }
    lapack_query(&c);
    if (r.parts == 2) {
        c.rwork = (double *)lapack_get(&r, 2 * (double)n, (int)sizeof(double));
        pairs = (double *)lapack_get(&r, (double)n, 2 * (int)sizeof(double));
    }
    lapack_geev(&r, &x, pairs, &v, &c);
    c.work = lapack_work(&r, c.asked, &c.lwork);
    c.said = -1;
    lapack_geev(&r, &x, pairs, &v, &c);
    for (int64_t i = 0; c.said == 0 && r.parts == 2 && i < n; i++) {
        values[i] = pairs[2 * i];
        values[n + i] = pairs[2 * i + 1];
    }
    if (c.said == 0 && v.at && r.parts == 2) lapack_close(&v, a);
    for (int64_t j = 0; c.said == 0 && v.at && r.parts == 1 && j < n; j++)
        memcpy((double *)(void *)a->at[0] + j * a->ld, (double *)v.at + j * n,
               (size_t)n * sizeof(double));
    lapack_end(&r);
    return lapack_result(&c);
}
#endif
