/* check.c - gradcheck and gradgradcheck: gradients against differences.
 *
 * The outputs are projected on fixed pseudo-random weights w, L = sum(w . out) (real and imaginary
 * parts each with theirs), so one backward is compared with the derivative of L along every element
 * of every input. Differences are central with Richardson extrapolation, D = (4 D(h/2) - D(h)) / 3,
 * error O(h^4). */
#include "autograd.h"
#include "../api/ops/shape.h"

enum { CHECK_TENSORS = 32 };

typedef struct check_state {
    tni_block *b;
    tn_check_fn fn;
    void *user;
    double step, rtol, atol;
    bool second; /* of gradients, which may be constant */
    bool constant;
} check_state;

/* A weight in [0.5, 1.5) of alternating sign that depends on its number alone (splitmix64). */
static double check_weight(uint64_t i) {
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return fma((double)(z >> 11), 1.1102230246251565e-16, 0.5) * (z & 1 ? 1 : -1);
}

static tn_tensor *check_weights(tni_block *b, const tn_tensor *like, uint64_t from) {
    /* Two weights an element, the second for the imaginary part. */
    tn_tensor *w = tni_new(b, like->dtype, like->ndim, like->size);
    if (!w) return NULL;
    for (int64_t i = 0; i < w->numel; i++) {
        tn_scalar s = tn_complex(check_weight(from + 2 * (uint64_t)i),
                                 check_weight(from + 2 * (uint64_t)i + 1));
        if (!tni_is_complex(like->dtype)) s = tn_float(s.real);
        tni_element_set((char *)w->storage->data + i * tni_dtype_size(w), w->dtype, s);
    }
    return w;
}

static bool check_differentiable(const tn_tensor *t) {
    return t && tni_dtype(t->dtype)->category >= TNI_CAT_FLOAT;
}

/* Whether the host may read all of them. */
static bool check_host(tni_block *b, const char *what, tn_tensor *const *at, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (at[i] && at[i]->flags & TNI_DEVICE)
            return tni_error(b, TN_UNSUPPORTED, "gradcheck: %s %d is on %s; copy it to the CPU",
                             what, (int)i, tn_device_name(at[i]->device));
    return true;
}

/* Calls fn, which has room for CHECK_TENSORS outputs. */
static bool check_call(tni_block *b, tn_check_fn fn, void *user, tn_tensor *const *in, int nin,
                       tn_tensor **out, int *nout) {
    *nout = CHECK_TENSORS;
    if (!fn(in, nin, out, nout, user) || b->failed) return false;
    if (*nout < 0 || *nout > CHECK_TENSORS)
        return tni_error(b, TN_INVALID,
                         "gradcheck: the function returned %d outputs, expected at most %d", *nout,
                         CHECK_TENSORS);
    return check_host(b, "output", out, *nout);
}

/* L at the inputs as they are now. */
static bool check_value(check_state *s, tn_tensors in, double *value) {
    tni_block *b = s->b;
    tn_tensor *out[CHECK_TENSORS];
    int nout = 0;
    int64_t mark = tni_begin(b);
    uint8_t no_grad = tni_state(b)->no_grad;
    /* from: the number of the first weight of an output, two an element. */
    uint64_t from = 0;
    bool ok = mark >= 0;
    tni_state(b)->no_grad = TNI_NO_GRAD;
    *value = 0;
    ok = ok && check_call(b, s->fn, s->user, in.at, (int)in.n, out, &nout);
    for (int k = 0; ok && k < nout; k++) {
        /* Outputs without gradient do not count; real and imaginary parts have a weight each. */
        tn_tensor *t = check_differentiable(out[k]) ? tnp_contiguous(out[k]) : NULL;
        if (!check_differentiable(out[k])) continue;
        if (!t) ok = false;
        for (int64_t i = 0; ok && i < t->numel; i++) {
            tn_scalar v = tni_element(tni_bytes_at(t) + i * tni_dtype_size(t), t->dtype);
            *value = fma(v.real, check_weight(from + 2 * (uint64_t)i), *value);
            if (v.kind == TN_KIND_COMPLEX)
                *value = fma(v.imaginary, check_weight(from + 2 * (uint64_t)i + 1), *value);
        }
        from += ok ? 2 * (uint64_t)t->numel : 0;
    }
    tni_state(b)->no_grad = no_grad;
    tni_end(b, mark);
    return ok;
}

static bool check_analytic(check_state *s, tn_tensors in, tn_tensors wanted, tn_tensor **grads) {
    tni_block *b = s->b;
    tn_tensor *out[CHECK_TENSORS], *root[CHECK_TENSORS], *seed[CHECK_TENSORS];
    /* The same weights as seeds: one backward gives dL of every input. */
    int nout = 0, nroot = 0;
    uint64_t from = 0;
    tn_grads_options o = {seed, false, false, true};
    if (!check_call(b, s->fn, s->user, in.at, (int)in.n, out, &nout)) return false;
    for (int k = 0; k < nout; k++) {
        if (!check_differentiable(out[k])) continue;
        /* Outputs that do not depend on the inputs keep their weights' numbers all the same. */
        if (out[k]->flags & TNI_REQUIRES) {
            root[nroot] = out[k];
            if (!(seed[nroot++] = check_weights(b, out[k], from))) return false;
        }
        from += 2 * (uint64_t)out[k]->numel;
    }
    /* A gradient that requires none is constant: its derivative is 0. */
    if (!nroot && s->second) return s->constant = true;
    if (!nroot) return tni_error(b, TN_AUTOGRAD, "gradcheck: no output requires grad");
    return tn_grads_at(b->place_file, b->place_line, tn_tensors_of(root, nroot), wanted, grads, &o);
}

/* dL/dx at element i of t, which is written and put back; part 1: along its imaginary axis. */
static bool check_numeric(check_state *s, tn_tensors in, tn_tensor *t, char *at, int part,
                          double *slope) {
    tn_scalar was = tni_element(at, t->dtype), now;
    /* The step grows with the element, so that it does not vanish in rounding. */
    double size = part ? fabs(was.imaginary) : fabs(was.real), h = s->step * (size > 1 ? size : 1),
           d[2];
    for (int level = 0; level < 2; level++, h /= 2) {
        double v[2];
        for (int side = 0; side < 2; side++) {
            double moved = (part ? was.imaginary : was.real) + (side ? -h : h);
            now = was;
            if (part)
                now.imaginary = moved;
            else
                now.real = moved;
            tni_element_set(at, t->dtype, now);
            if (!check_value(s, in, &v[side])) {
                tni_element_set(at, t->dtype, was);
                return false;
            }
        }
        tni_element_set(at, t->dtype, was);
        d[level] = (v[0] - v[1]) / (2 * h);
    }
    *slope = fma(4, d[1], -d[0]) / 3;
    return true;
}

static bool check_input(check_state *s, tn_tensors in, int64_t k, tn_tensor *grad) {
    /* Each element of input k, real and imaginary part, against the difference along it. */
    tn_tensor *t = in.at[k];
    int64_t index[TN_MAX_DIMS] = {0}, at = 0;
    tn_tensor *g = grad ? tnp_contiguous(grad) : NULL;
    for (int64_t i = 0; i < t->numel; i++) {
        tn_scalar got =
            g ? tni_element(tni_bytes_at(g) + i * tni_dtype_size(g), g->dtype) : tn_float(0);
        for (int part = 0; part <= (tni_is_complex(t->dtype) ? 1 : 0); part++) {
            double slope, has = part ? got.imaginary : got.real;
            if (!check_numeric(s, in, t, tni_bytes_at(t) + at * tni_dtype_size(t), part, &slope))
                return false;
            /* Relative to slopes above 1, absolute below. */
            if (fabs(slope - has) <= fma(s->rtol, fabs(slope) > 1 ? fabs(slope) : 1, s->atol))
                continue;
            return tni_error(s->b, TN_AUTOGRAD,
                             "gradcheck: input %d, element %lld%s: the gradient is %.12g, finite "
                             "differences give %.12g",
                             (int)k, (long long)i, part ? " (imaginary)" : "", has, slope);
        }
        /* The input may have any strides: at follows in row-major order. */
        for (int d = t->ndim - 1; d >= 0; d--) {
            at += t->stride[d];
            if (++index[d] < t->size[d]) break;
            at -= t->stride[d] * t->size[d];
            index[d] = 0;
        }
    }
    return true;
}

static bool check_run(check_state *s, tn_tensors in) {
    tni_block *b = s->b;
    tn_tensor *wanted[CHECK_TENSORS], *grads[CHECK_TENSORS];
    /* Inputs that are checked: those of double precision that require grad. where: their
     * number among all. */
    int64_t n = 0, mark = tni_begin(b), where[CHECK_TENSORS];
    bool ok = mark >= 0;
    ok = ok && tni_list_given(b, in, "gradcheck") && check_host(b, "input", in.at, in.n);
    if (ok && in.n > CHECK_TENSORS)
        ok = tni_error(b, TN_INVALID, "gradcheck: expected at most %d inputs", CHECK_TENSORS);
    /* Only double precision can be compared with differences. */
    for (int64_t i = 0; ok && i < in.n; i++)
        if (in.at[i] && in.at[i]->flags & TNI_REQUIRES &&
            (in.at[i]->dtype == TN_F64 || in.at[i]->dtype == TN_C128)) {
            where[n] = i;
            wanted[n++] = in.at[i];
        }
    if (ok && !n)
        ok = tni_error(b, TN_INVALID, "gradcheck: no float64 or complex128 input requires grad");
    ok = ok && check_analytic(s, in, tn_tensors_of(wanted, n), grads);
    for (int64_t i = 0; ok && i < n; i++)
        ok = check_input(s, in, where[i], s->constant ? NULL : grads[i]);
    tni_end(b, mark);
    return ok;
}

static check_state check_state_of(tn_check_fn fn, void *user, const tn_gradcheck_options *o) {
    check_state s = {tni_here(), fn, user, 1e-3, 1e-6, 1e-8, false, false};
    if (o && o->step > 0) s.step = o->step;
    if (o && o->rtol > 0) s.rtol = o->rtol;
    if (o && o->atol > 0) s.atol = o->atol;
    return s;
}

/* The place of the check is that of all errors inside of it. */
static bool check_begin(const check_state *s, const char *file, int line) {
    if (!tni_enter(s->b, file, line)) return false;
    s->b->place_hold++;
    return true;
}
static bool check_end(const check_state *s, bool ok) {
    s->b->place_hold--;
    return tni_leave(s->b, ok);
}

TN_API bool tn_gradcheck_at(const char *file, int line, tn_check_fn fn, tn_tensors in, void *user,
                            const tn_gradcheck_options *options) {
    check_state s = check_state_of(fn, user, options);
    return check_begin(&s, file, line) && check_end(&s, check_run(&s, in));
}
TN_API bool tnp_gradcheck(tn_check_fn fn, tn_tensors in, void *user,
                          const tn_gradcheck_options *options) {
    return tn_gradcheck_at(NULL, 0, fn, in, user, options);
}

/* --- second derivatives: gradcheck of the function (inputs, seeds) -> gradients --------------- */

typedef struct check_second {
    tn_check_fn fn;
    void *user;
    int nin;
    bool unused[CHECK_TENSORS];
} check_second;

static bool check_second_fn(tn_tensor *const *in, int nin, tn_tensor **out, int *nout, void *user) {
    check_second *c = (check_second *)user;
    tni_block *b = tni_here();
    tn_tensor *first[CHECK_TENSORS], *root[CHECK_TENSORS], *seed[CHECK_TENSORS],
        *from[CHECK_TENSORS], *grads[CHECK_TENSORS];
    /* in: the function's inputs, then a seed for each output that requires grad. out: first
     * gradients, recorded unless the caller does not record. */
    int n = 0, nroot = 0, nfrom = 0, given = c->nin;
    uint8_t no_grad = tni_state(b)->no_grad;
    tn_grads_options o = {seed, false, !no_grad, true};
    bool ok;
    *nout = 0;
    tni_state(b)->no_grad = 0;
    /* Outputs that require grad are roots, and the inputs behind c->nin their seeds. */
    ok = check_call(b, c->fn, c->user, in, c->nin, first, &n);
    for (int k = 0; ok && k < n; k++)
        if (check_differentiable(first[k]) && first[k]->flags & TNI_REQUIRES && given < nin) {
            root[nroot] = first[k];
            seed[nroot++] = in[given++];
        }
    /* Gradients of the inputs that require one are the outputs of this function. */
    for (int i = 0; i < c->nin; i++)
        if (in[i] && in[i]->flags & TNI_REQUIRES) from[nfrom++] = in[i];
    ok = ok && tn_grads_at(b->place_file, b->place_line, tn_tensors_of(root, nroot),
                           tn_tensors_of(from, nfrom), grads, &o);
    tni_state(b)->no_grad = no_grad;
    for (int i = 0; ok && i < nfrom; i++)
        if (grads[i]) out[(*nout)++] = grads[i];
    return ok;
}

static bool check_second_run(check_state *s, check_second *c, tn_tensors in) {
    tn_tensor *all[CHECK_TENSORS], *out[CHECK_TENSORS];
    /* A run of the function says which outputs there are; each gets a seed that requires grad. */
    int nout = 0, n = (int)in.n;
    int64_t mark;
    bool ok;
    if (!tni_list_given(s->b, in, "gradgradcheck")) return false;
    if (in.n > CHECK_TENSORS)
        return tni_error(s->b, TN_INVALID, "gradgradcheck: expected at most %d inputs",
                         CHECK_TENSORS);
    mark = tni_begin(s->b);
    ok = mark >= 0 && check_call(s->b, c->fn, c->user, in.at, n, out, &nout);
    for (int i = 0; i < n; i++) all[i] = in.at[i];
    for (int k = 0; ok && k < nout; k++)
        if (check_differentiable(out[k]) && out[k]->flags & TNI_REQUIRES) {
            tn_tensor *seed = check_weights(s->b, out[k], 1000003u * (uint64_t)(k + 1));
            if (seed && n == CHECK_TENSORS)
                ok = tni_error(s->b, TN_INVALID,
                               "gradgradcheck: expected at most %d inputs and outputs",
                               CHECK_TENSORS);
            if (!seed || !ok) {
                tni_end(s->b, mark);
                return false;
            }
            seed->flags |= TNI_REQUIRES | TNI_LEAF;
            all[n++] = seed;
        }
    ok = ok && check_run(s, tn_tensors_of(all, n));
    tni_end(s->b, mark);
    return ok;
}

TN_API bool tn_gradgradcheck_at(const char *file, int line, tn_check_fn fn, tn_tensors in,
                                void *user, const tn_gradcheck_options *options) {
    /* First gradients as a function of inputs and seeds are checked like any other function. */
    check_second c;
    check_state s = check_state_of(check_second_fn, &c, options);
    s.second = true;
    c.fn = fn;
    c.user = user;
    c.nin = (int)in.n;
    return check_begin(&s, file, line) && check_end(&s, check_second_run(&s, &c, in));
}
TN_API bool tnp_gradgradcheck(tn_check_fn fn, tn_tensors in, void *user,
                              const tn_gradcheck_options *options) {
    return tn_gradgradcheck_at(NULL, 0, fn, in, user, options);
}
