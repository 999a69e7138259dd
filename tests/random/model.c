/* model.c - see model.h. */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

uint64_t model_draw(model *m) {
    uint64_t z = m->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int model_below(model *m, int n) { return (int)(model_draw(m) % (uint64_t)n); }

void model_say(model *m, const char *format, ...) {
    size_t at = strlen(m->log);
    va_list list;
    va_start(list, format);
    vsnprintf(m->log + at, sizeof m->log - at, format, list);
    va_end(list);
}

int64_t model_numel(const model_tensor *a) {
    int64_t n = 1;
    for (int d = 0; d < a->ndim; d++) n *= a->size[d];
    return n;
}

int model_cells(const model_tensor *a, int *cell) {
    int64_t index[MODEL_DIMS] = {0};
    int n = (int)model_numel(a);
    for (int i = 0; i < n; i++) {
        int64_t at = a->offset;
        for (int d = 0; d < a->ndim; d++) at += index[d] * a->stride[d];
        cell[i] = (int)at;
        for (int d = a->ndim - 1; d >= 0 && ++index[d] == a->size[d]; d--) index[d] = 0;
    }
    return n;
}

bool model_same_shape(const model_tensor *a, const model_tensor *b) {
    if (a->ndim != b->ndim) return false;
    for (int d = 0; d < a->ndim; d++)
        if (a->size[d] != b->size[d]) return false;
    return true;
}

bool model_full(const model *m) { return m->ntensors == MODEL_TENSORS; }

model_tensor *model_new(model *m, tn_tensor *t, int ndim, const int64_t *size) {
    model_tensor *a = &m->tensor[m->ntensors];
    int64_t step = 1;
    if (model_full(m)) return NULL;
    m->ntensors++;
    a->t = t;
    a->ndim = ndim;
    a->offset = 0;
    a->seed = -1;
    a->held = false;
    for (int d = ndim - 1; d >= 0; d--) {
        a->size[d] = size[d];
        a->stride[d] = step;
        step *= size[d];
    }
    a->values = m->nvalues++;
    a->duals = m->nduals++;
    memset(m->dual[a->duals], 0, sizeof m->dual[0]);
    return a;
}

model_tensor *model_alias(model *m, const model_tensor *of, tn_tensor *t, bool history) {
    model_tensor *a = &m->tensor[m->ntensors];
    if (model_full(m)) return NULL;
    m->ntensors++;
    *a = *of;
    a->t = t;
    a->seed = -1;
    a->held = false;
    if (history) return a;
    a->duals = m->nduals++;
    memset(m->dual[a->duals], 0, sizeof m->dual[0]);
    return a;
}
