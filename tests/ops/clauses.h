/* clauses.h - how results that are not unique are compared: a row's `.oracle`, clauses with "; "
 * between them, of results and parameters by name. oracle.c includes it; tests/oracle/make.py also
 * reads `phase` and `free`.
 *
 *     phase Q R       elements by their absolute value, gradients of the sum of w |x|^2: columns
 *                     (or rows) are unique up to a sign or phase
 *     free V          not element by element
 *     U S V' = self   a product; ' is the conjugate transpose, a vector a diagonal matrix
 *     orthogonal Q    Q' Q is the unit matrix */
#ifndef TNI_TESTS_CLAUSES_H
#define TNI_TESTS_CLAUSES_H

#include "sample.h"

#include <stdio.h>

typedef struct clauses {
    sample *s;
    tn_tensor **out;
    int n;
    const char *at; /* of the clause */
    char *error;    /* room for 200 */
} clauses;

static tn_tensor *clause_adjoint(tn_tensor *t) {
    tn_tensor *turned = tnp_transpose(t, -2, -1);
    return turned && tni_is_complex(t->dtype) ? tnp_conj(turned) : turned;
}
/* A square matrix with v along its diagonal. */
static tn_tensor *clause_diagonal(tn_tensor *v, tn_dtype dtype) {
    const int64_t n = v->size[v->ndim - 1];
    return tnp_mul(tnp_eye(n, dtype, TN_NO_DEVICE), tnp_unsqueeze(v, -2));
}

static tn_tensor *clause_named(const clauses *c, const char *name) {
    const tn_gen *gen = c->s->row->gen;
    for (int k = 0; k < c->n && k < gen->nresults; k++)
        if (!strcmp(gen->result_names[k], name)) return c->out[k];
    for (int v = 0; v < c->s->nvalues; v++) {
        const char *own = c->s->value[v].name ? c->s->value[v].name : gen->param[v].name;
        if (c->s->value[v].type == TN_T_TENSOR && !strcmp(own, name))
            return c->s->value[v].as.tensor;
    }
    return NULL;
}

/* A word of a product, in double. */
static tn_tensor *clause_factor(const clauses *c, char *word) {
    const size_t n = strlen(word);
    const bool turned = n && word[n - 1] == '\'';
    tn_tensor *t;
    if (turned) word[n - 1] = 0;
    t = clause_named(c, word);
    if (!t) return NULL;
    t = tnp_to_dtype(t, tni_is_complex(t->dtype) ? TN_C128 : TN_F64, false, false);
    return t && turned ? clause_adjoint(t) : t;
}

static double clause_largest(tn_tensor *t) {
    return t->numel ? tnp_item(tnp_max(tnp_abs(t))) : 0;
}

/* Whether has is want within `units` of the result's dtype at the largest element. */
static bool clause_equal(const clauses *c, tn_tensor *has, tn_tensor *want) {
    const double most = clause_largest(want), unit = sample_epsilon(c->out[0]->dtype);
    double off;
    if (!tni_same_shape(has, want)) {
        snprintf(c->error, 200, "\"%.60s\": the shapes differ", c->at);
        return false;
    }
    off = clause_largest(tnp_sub(has, want, 1));
    if (off <= 16 * unit * (1 + most)) return true;
    snprintf(c->error, 200, "\"%.60s\" is off by %.3g of %.3g", c->at, off, most);
    return false;
}

static bool clause_orthogonal(const clauses *c, char *word) {
    tn_tensor *q = clause_factor(c, word), *unit;
    if (!q) return snprintf(c->error, 200, "\"%.60s\": no such tensor", c->at), false;
    if (!q->numel) return true;
    unit = tnp_eye(q->size[q->ndim - 1], (tn_dtype)q->dtype, TN_NO_DEVICE);
    q = tnp_matmul(clause_adjoint(q), q);
    return clause_equal(c, q, tnp_expand_as(unit, q));
}

static bool clause_product(const clauses *c, char *words) {
    char *equals = strstr(words, " = "), *word;
    tn_tensor *product = NULL, *want;
    if (!equals) return snprintf(c->error, 200, "\"%.60s\" is no clause", c->at), false;
    *equals = 0;
    want = clause_factor(c, equals + 3);
    for (word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        tn_tensor *t = clause_factor(c, word);
        if (t && want && t->ndim < want->ndim) t = clause_diagonal(t, (tn_dtype)t->dtype);
        if (!t) return snprintf(c->error, 200, "\"%.60s\": no such tensor", c->at), false;
        if (!t->numel) return true;                  /* it was not asked for */
        if (product && t->dtype != product->dtype) { /* real values of complex matrices */
            t = tnp_to_dtype(t, TN_C128, false, false);
            product = tnp_to_dtype(product, TN_C128, false, false);
        }
        product = product ? tnp_matmul(product, t) : t;
    }
    if (!want || !product)
        return snprintf(c->error, 200, "\"%.60s\": no such tensor", c->at), false;
    return clause_equal(c, product, want);
}

/* Whether the results are as .oracle of the row says; false with the reason. */
static bool clauses_hold(sample *s, tn_tensor **out, int n, char *error) {
    const char *at = sample_oracle(s->row);
    while (at && *at) {
        char text[200];
        const clauses c = {s, out, n, at, error};
        bool ok = true;
        snprintf(text, sizeof text, "%.*s", (int)strcspn(at, ";"), at);
        if (!strncmp(text, "orthogonal ", 11))
            ok = clause_orthogonal(&c, text + 11);
        else if (strncmp(text, "phase ", 6) != 0 && strncmp(text, "free ", 5) != 0)
            ok = clause_product(&c, text);
        if (!ok) return false;
        at += strcspn(at, ";");
        at += strspn(at, "; ");
    }
    return true;
}

#endif
