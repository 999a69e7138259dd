/* option.c - a module's options as values of expressions: numbers, lists, and sizes written with
 * them. Makes nothing. */
#include "nn.h"

TN_PRIV void *tni_options(const tn_module *m) {
    return m->gen && m->gen->make ? (char *)(uintptr_t)m + m->gen->options : NULL;
}

/* An option of m's constructor by name; NULL if there is none, or no constructor with options. */
static const tn_param *option_find(const tn_module *m, tni_span name) {
    return tn_param_named(m->gen ? m->gen->make : NULL, name.at, (size_t)name.n);
}
TN_PRIV const tn_param *tni_option(const tn_module *m, const char *name) {
    return tn_param_named(m->gen ? m->gen->make : NULL, name, SIZE_MAX);
}

TN_PRIV bool tni_option_ints(const tn_module *m, tni_span name, tn_ints *to) {
    const tn_param *p = option_find(m, name);
    if (!p || p->type != TN_T_INTS) return false;
    memcpy(to, (char *)tni_options(m) + p->offset, sizeof *to);
    return true;
}

/* An integer as an expression's value; TN_NONE, which absent integers hold, is None. */
static tni_figure option_int(int64_t v) {
    tni_figure f = {v == TN_NONE ? TNI_FIGURE_NONE : TNI_FIGURE_INT, v, 0};
    return f;
}
/* A number in an int list: one number stands for all. A list that is absent is None. */
static bool option_of_list(tn_ints list, int64_t index, tni_figure *to) {
    *to = option_int(TN_NONE);
    if (list.n < 0) return true;
    if (list.n != 1 && (index < 0 || index >= list.n)) return false;
    *to = option_int(list.at[list.n == 1 ? 0 : index]);
    return true;
}

TN_PRIV bool tni_option_number(void *module, tni_span name, int64_t index, tni_figure *to) {
    const tn_module *m = (const tn_module *)module;
    const tn_param *p = option_find(m, name);
    tn_scalar v;
    tn_ints list;
    const void *at;
    if (tni_option_ints(m, name, &list)) return option_of_list(list, index, to);
    if (!p || index >= 0) return false;
    /* Numbers of all kinds, bools and words that stand for a number. Expressions know
     * no complex ones. */
    if (tn_param_number(p, tni_options(m), &v)) {
        *to = option_int(v.kind == TN_KIND_NONE ? TN_NONE : v.integer);
        if (v.kind == TN_KIND_FLOAT) to->kind = TNI_FIGURE_FLOAT;
        to->real = v.real;
        return v.kind != TN_KIND_COMPLEX;
    }
    /* A list is a struct and not a pointer that could be looked at. */
    if (TN_TYPES_LIST >> p->type & 1) return false;
    /* A tensor or a module: an expression can only ask whether it was given. */
    memcpy(&at, (const char *)tni_options(m) + p->offset, sizeof at);
    *to = option_int(at ? 1 : TN_NONE);
    return true;
}

/* The number in a dtype or device option; 0 if the row has no such option or it was not given. */
static int32_t option_word(const tn_module *m, const char *name, int type) {
    const tn_param *p = tni_option(m, name);
    int32_t v = 0;
    if (p && p->type == type) memcpy(&v, (char *)tni_options(m) + p->offset, sizeof v);
    return v;
}
/* The options dtype and device of the constructor, which generated rows have; else the defaults. */
TN_PRIV tn_dtype tni_dtype_option(const tn_module *m) {
    int32_t v = option_word(m, "dtype", TN_T_DTYPE);
    return v ? (tn_dtype)v : tn_default_dtype();
}
TN_PRIV tn_device_id tni_device_option(const tn_module *m) {
    int32_t v = option_word(m, "device", TN_T_DEVICE);
    return v ? v : tn_default_device();
}

TN_PRIV bool tni_row_text_error(const char *what, tni_span at, const char *why) {
    return tni_nn_error(TN_INVALID, "in the row's text \"%s\" at \"%.*s\": %s", what, at.n, at.at,
                        why);
}

/* Appends the sizes of one item: all numbers of an int list, -1 for _, or the value
 * of an expression. */
static bool option_size(tn_module *m, const char *what, tni_span item, int64_t *size, int *n) {
    tni_figure v;
    tn_ints list;
    const char *why = NULL;
    /* A list that is absent has n = -1: it falls through to the expression, where it is None. */
    if (tni_option_ints(m, item, &list) && list.n >= 0) {
        if (list.n > TN_MAX_DIMS - *n) return tni_row_text_error(what, item, "too many dimensions");
        for (int64_t i = 0; i < list.n; i++) size[(*n)++] = list.at[i];
        return true;
    }
    if (*n == TN_MAX_DIMS) return tni_row_text_error(what, item, "too many dimensions");
    /* Any size, in shapes that are taken. */
    if (tni_span_is(item, "_")) {
        size[(*n)++] = -1;
        return true;
    }
    if (!tni_expression(item, tni_option_number, m, &v, &why))
        return tni_row_text_error(what, item, why);
    /* None and floats are no sizes. */
    if (v.kind != TNI_FIGURE_INT) return tni_row_text_error(what, item, "expected an integer");
    if (v.value < 0)
        return tni_nn_error(TN_INVALID, "%.*s is %lld, but a size must not be negative", item.n,
                            item.at, (long long)v.value);
    size[(*n)++] = v.value;
    return true;
}

TN_PRIV bool tni_sizes_of(tn_module *m, const char *what, tni_span items, int64_t *size, int *n,
                          int *star, int *most) {
    tni_span item;
    *n = *most = 0;
    *star = -1;
    /* Only the first * or ? of a list is special; a second one is not an expression
     * and is refused. */
    while (tni_item_next(&items, &item)) {
        const bool any = tni_span_is(item, "*");
        if (*star < 0 && (any || tni_span_is(item, "?")))
            *star = *n, *most = any ? TN_MAX_DIMS : 1;
        else if (!option_size(m, what, item, size, n))
            return false;
    }
    return true;
}
