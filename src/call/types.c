/* types.c - what the library does with a parameter's value: check, text, comparison, from a tagged
 * value, from a schema's default, as a number. One block and one entry for each way of TN_TYPES. */
#include "types.h"

#include "../api/extend.h"

TN_PRIV void tni_say(tni_said *o, const char *format, ...) {
    const size_t at = o->n < o->room ? o->n : o->room;
    va_list list;
    int n;
    va_start(list, format);
    n = vsnprintf(o->room ? o->at + at : NULL, o->room - at, format, list);
    va_end(list);
    if (n > 0) o->n += (size_t)n;
}

/* --- what the ways share ---------------------------------------------------------------------- */

TNI_PRINTF(3, 4)
static bool type_wrong(const tn_param *p, char *why, const char *format, ...) {
    const int n = snprintf(why, TNI_WHY, "argument '%s' ", p->name);
    va_list list;
    va_start(list, format);
    if (n > 0 && n < TNI_WHY) vsnprintf(why + n, (size_t)(TNI_WHY - n), format, list);
    va_end(list);
    return false;
}

TNI_PRINTF(2, 3)
static bool type_refuse(tni_taken *c, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(c->reason, sizeof c->reason, format, list);
    va_end(list);
    return false;
}

TNI_INLINE bool type_put(tni_taken *c, size_t offset, const void *value, size_t bytes) {
    memcpy(c->args + offset, value, bytes);
    return true;
}

/* A tagged value as a number, if it is one. */
static bool type_scalar(const tn_value *v, tn_scalar *s) {
    if (v->type == TN_T_SCALAR)
        *s = v->as.scalar;
    else if (v->type == TN_T_INT)
        *s = tn_int(v->as.integer);
    else if (v->type == TN_T_FLOAT)
        *s = tn_float(v->as.real);
    else if (v->type == TN_T_BOOL)
        *s = tn_bool(v->as.boolean);
    else
        return false;
    return true;
}

static bool type_is_whole(tn_scalar s) { return s.kind == TN_KIND_INT || s.kind == TN_KIND_BOOL; }
static double type_real(tn_scalar s) { return type_is_whole(s) ? (double)s.integer : s.real; }

/* --- pointers: Tensor, Module, Generator ------------------------------------------------------ */

static bool type_pointer_check(const tn_param *p, const void *at, char *why) {
    const void *v;
    memcpy(&v, at, sizeof v);
    return v || p->flags & (TN_P_OPTIONAL | TN_P_NUMBER) || type_wrong(p, why, "is NULL");
}
static bool type_pointer_same(const tn_param *p, const void *a, const void *b) {
    (void)p;
    return memcmp(a, b, sizeof(void *)) == 0;
}

static void type_say_tensor(tni_said *o, const tn_tensor *t) {
    char text[160];
    tni_say(o, "%s", t ? tni_tensor_text(text, sizeof text, t) : "None");
    if (t && !tni_is_freed(t) && t->flags & TNI_DEVICE)
        tni_say(o, " on %s", tn_device_name(t->device));
}
static void type_tensor_text(tni_said *o, const tn_param *p, const void *at) {
    tn_tensor *t;
    (void)p;
    memcpy(&t, at, sizeof t);
    if (o->repr)
        tni_say(o, "...");
    else
        type_say_tensor(o, t);
}
static bool type_tensor_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    tn_scalar s;
    tn_tensor *none = NULL;
    if (v->type == TN_T_TENSOR && v->as.tensor)
        return type_put(c, p->offset, &v->as.tensor, sizeof v->as.tensor);
    if (p->flags & TN_P_NUMBER && type_scalar(v, &s))
        type_put(c, p->number_offset, &s, sizeof s);
    else if (v->type || !(p->flags & TN_P_OPTIONAL))
        return type_refuse(c, "argument '%s': expected a tensor", p->name);
    return type_put(c, p->offset, &none, sizeof none);
}
#define TNI_WAY_TENSOR \
    { type_pointer_check, type_tensor_text, type_pointer_same, type_tensor_take, NULL, NULL, NULL }

static void type_module_text(tni_said *o, const tn_param *p, const void *at) {
    (void)p, (void)at;
    tni_say(o, "...");
}
static bool type_module_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    const void *none = NULL;
    if (!v->type && p->flags & TN_P_OPTIONAL) return type_put(c, p->offset, &none, sizeof none);
    return type_refuse(c, "argument '%s' cannot be given here", p->name);
}
#define TNI_WAY_MODULE \
    { type_pointer_check, type_module_text, type_pointer_same, type_module_take, NULL, NULL, NULL }

static bool type_generator_check(const tn_param *p, const void *at, char *why) {
    (void)p, (void)at, (void)why;
    return true; /* NULL is the context's own */
}
static void type_generator_text(tni_said *o, const tn_param *p, const void *at) {
    (void)p, (void)at;
    tni_say(o, o->repr ? "..." : "generator");
}
static bool type_generator_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    if (v->type && v->type != TN_T_GENERATOR)
        return type_refuse(c, "argument '%s': expected a generator", p->name);
    return !v->type || type_put(c, p->offset, &v->as.generator, sizeof v->as.generator);
}
#define TNI_WAY_GENERATOR                                                                        \
    {                                                                                            \
        type_generator_check, type_generator_text, type_pointer_same, type_generator_take, NULL, \
            NULL, NULL                                                                           \
    }

/* --- lists of pointers: Tensor[], Module[] ---------------------------------------------------- */

static bool type_tensors_check(const tn_param *p, const void *at, char *why) {
    tn_tensors l;
    memcpy(&l, at, sizeof l);
    if (l.n < 0) return p->flags & TN_P_OPTIONAL || type_wrong(p, why, "is absent");
    if (l.n && !l.at) return type_wrong(p, why, "is NULL");
    for (int64_t i = 0; i < l.n; i++)
        if (!l.at[i] && !(p->flags & TN_P_HOLES))
            return type_wrong(p, why, "has NULL at position %lld", (long long)i);
    return true;
}
static bool type_modules_check(const tn_param *p, const void *at, char *why) {
    tn_tensors l;
    memcpy(&l, at, sizeof l);
    return l.at || l.n < 0 ? type_tensors_check(p, at, why)
                           : type_wrong(p, why, "is an empty struct");
}
static void type_tensors_text(tni_said *o, const tn_param *p, const void *at) {
    tn_tensors l;
    memcpy(&l, at, sizeof l);
    if (o->repr) {
        type_module_text(o, p, at);
        return;
    }
    tni_say(o, "[");
    for (int64_t i = 0; l.at && i < l.n && i < 6; i++) {
        if (i) tni_say(o, ", ");
        type_say_tensor(o, l.at[i]);
    }
    tni_say(o, l.n > 6 ? ", ... %lld in all]" : "]", (long long)l.n);
}
static bool type_tensors_same(const tn_param *p, const void *a, const void *b) {
    tn_tensors x, y;
    (void)p;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x.at == y.at && x.n == y.n;
}
static bool type_tensors_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    if (v->type != TN_T_TENSORS)
        return type_refuse(c, "argument '%s': expected a list of tensors", p->name);
    return type_put(c, p->offset, &v->as.tensors, sizeof v->as.tensors);
}
static void type_tensors_store(const tni_default *v, void *at, void *behind) {
    const tn_tensors absent = {NULL, -1};
    (void)v, (void)behind;
    memcpy(at, &absent, sizeof absent);
}
#define TNI_WAY_TENSORS                                                              \
    {                                                                                \
        type_tensors_check, type_tensors_text, type_tensors_same, type_tensors_take, \
            type_tensors_store, NULL, NULL                                           \
    }
#define TNI_WAY_MODULES                                                            \
    {                                                                              \
        type_modules_check, type_module_text, type_tensors_same, type_module_take, \
            type_tensors_store, NULL, NULL                                         \
    }

/* --- int -------------------------------------------------------------------------------------- */

static bool type_whole_check(const tn_param *p, const void *at, char *why) {
    int64_t v;
    memcpy(&v, at, sizeof v);
    return v != TN_NONE || p->flags & TN_P_OPTIONAL || type_wrong(p, why, "is absent");
}
static void type_whole_text(tni_said *o, const tn_param *p, const void *at) {
    int64_t v;
    (void)p;
    memcpy(&v, at, sizeof v);
    if (v == TN_NONE)
        tni_say(o, "None");
    else
        tni_say(o, "%lld", (long long)v);
}
static bool type_whole_same(const tn_param *p, const void *a, const void *b) {
    (void)p;
    return memcmp(a, b, sizeof(int64_t)) == 0;
}
static bool type_whole_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    tn_scalar s = tn_none();
    int64_t i = TN_NONE;
    if ((type_scalar(v, &s) && type_is_whole(s)))
        i = s.integer;
    else if ((v->type && !(v->type == TN_T_SCALAR && s.kind == TN_KIND_NONE)) ||
             !(p->flags & TN_P_OPTIONAL))
        return type_refuse(c, "argument '%s': expected an int", p->name);
    return type_put(c, p->offset, &i, sizeof i);
}
static void type_whole_store(const tni_default *v, void *at, void *behind) {
    const int64_t i = v->none ? TN_NONE : v->integer;
    (void)behind;
    memcpy(at, &i, sizeof i);
}
static void type_whole_number(const void *at, tn_scalar *to) {
    int64_t v;
    memcpy(&v, at, sizeof v);
    *to = v == TN_NONE ? tn_none() : tn_int(v);
}
static bool type_whole_set(const tn_param *p, void *at, tn_scalar s) {
    const bool none = s.kind == TN_KIND_NONE;
    const int64_t v = none ? TN_NONE : s.integer;
    if (none ? !(p->flags & TN_P_OPTIONAL) : !type_is_whole(s)) return false;
    memcpy(at, &v, sizeof v);
    return true;
}
#define TNI_WAY_WHOLE                                                                          \
    {                                                                                          \
        type_whole_check, type_whole_text, type_whole_same, type_whole_take, type_whole_store, \
            type_whole_number, type_whole_set                                                  \
    }

/* --- float, float? and Scalar ----------------------------------------------------------------- */

static bool type_real_check(const tn_param *p, const void *at, char *why) {
    (void)p, (void)at, (void)why;
    return true;
}
static void type_say_real(tni_said *o, double v) {
    char text[48];
    if (o->repr)
        tni_float_text(text, sizeof text, v);
    else
        snprintf(text, sizeof text, "%g", v), tni_point(text);
    tni_say(o, "%s", text);
}
static void type_real_text(tni_said *o, const tn_param *p, const void *at) {
    double v;
    (void)p;
    memcpy(&v, at, sizeof v);
    type_say_real(o, v);
}
static bool type_real_same(const tn_param *p, const void *a, const void *b) {
    (void)p;
    return memcmp(a, b, sizeof(double)) == 0;
}
/* Of all three, by the flags. */
static bool type_number_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    tn_scalar s = tn_none();
    double d;
    const bool none = v->type == 0;
    if (!none && !type_scalar(v, &s))
        return type_refuse(c, "argument '%s': expected a number", p->name);
    if (none && !(p->flags & TN_P_OPTIONAL))
        return type_refuse(c, "argument '%s': expected a number, got None", p->name);
    if (p->flags & TN_P_MAYBE) {
        const tn_maybe m = none ? tn_no_float() : tn_some(type_real(s));
        return type_put(c, p->offset, &m, sizeof m);
    }
    if (p->type == TN_T_SCALAR && !(p->flags & TN_P_DOUBLE))
        return type_put(c, p->offset, &s, sizeof s);
    if (s.kind == TN_KIND_COMPLEX)
        return type_refuse(c, "argument '%s': expected a real number, got a complex one", p->name);
    d = type_real(s);
    return type_put(c, p->offset, &d, sizeof d);
}
static void type_real_store(const tni_default *v, void *at, void *behind) {
    (void)behind;
    memcpy(at, &v->real, sizeof v->real);
}
static void type_real_number(const void *at, tn_scalar *to) {
    double v;
    memcpy(&v, at, sizeof v);
    *to = tn_float(v);
}
static bool type_real_set(const tn_param *p, void *at, tn_scalar s) {
    const double v = type_real(s);
    (void)p;
    if (s.kind == TN_KIND_NONE || s.kind == TN_KIND_COMPLEX) return false;
    memcpy(at, &v, sizeof v);
    return true;
}
#define TNI_WAY_REAL                                                                        \
    {                                                                                       \
        type_real_check, type_real_text, type_real_same, type_number_take, type_real_store, \
            type_real_number, type_real_set                                                 \
    }

static bool type_maybe_check(const tn_param *p, const void *at, char *why) {
    return tni_maybe_is_said(at) ||
           type_wrong(p, why, "is uninitialized; use TN_SOME or TN_NO_FLOAT");
}
static void type_maybe_text(tni_said *o, const tn_param *p, const void *at) {
    tn_maybe m;
    (void)p;
    memcpy(&m, at, sizeof m);
    if (m.given == TN_GIVEN)
        type_say_real(o, m.value);
    else
        tni_say(o, "None");
}
/* By members: between and behind them lies padding, which nobody fills. */
static bool type_maybe_same(const tn_param *p, const void *a, const void *b) {
    tn_maybe x, y;
    (void)p;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x.given == y.given &&
           (x.given == TN_ABSENT || memcmp(&x.value, &y.value, sizeof x.value) == 0);
}
static void type_maybe_store(const tni_default *v, void *at, void *behind) {
    const tn_maybe m = v->none ? tn_no_float() : tn_some(v->real);
    (void)behind;
    memcpy(at, &m, sizeof m);
}
static void type_maybe_number(const void *at, tn_scalar *to) {
    tn_maybe m;
    memcpy(&m, at, sizeof m);
    *to = m.given == TN_GIVEN ? tn_float(m.value) : tn_none();
}
static bool type_maybe_set(const tn_param *p, void *at, tn_scalar s) {
    const tn_maybe m = s.kind == TN_KIND_NONE ? tn_no_float() : tn_some(type_real(s));
    (void)p;
    if (s.kind == TN_KIND_COMPLEX) return false;
    memcpy(at, &m, sizeof m);
    return true;
}
#define TNI_WAY_MAYBE                                                                           \
    {                                                                                           \
        type_maybe_check, type_maybe_text, type_maybe_same, type_number_take, type_maybe_store, \
            type_maybe_number, type_maybe_set                                                   \
    }

static bool type_number_check(const tn_param *p, const void *at, char *why) {
    return tni_number_is_said(p, at) || type_wrong(p, why, "is not a number");
}
static void type_number_text(tni_said *o, const tn_param *p, const void *at) {
    tn_scalar s;
    char text[64];
    (void)p;
    memcpy(&s, at, sizeof s);
    tni_say(o, "%s", tni_scalar_text(text, sizeof text, s));
}
static bool type_number_same(const tn_param *p, const void *a, const void *b) {
    tn_scalar s, t;
    (void)p;
    memcpy(&s, a, sizeof s);
    memcpy(&t, b, sizeof t);
    return s.kind == t.kind && s.integer == t.integer &&
           memcmp(&s.imaginary, &t.imaginary, sizeof s.imaginary) == 0 &&
           memcmp(&s.real, &t.real, sizeof s.real) == 0;
}
static void type_number_store(const tni_default *v, void *at, void *behind) {
    const tn_scalar none = tn_none(); /* a number that is given is kept as a double */
    (void)v, (void)behind;
    memcpy(at, &none, sizeof none);
}
static void type_number_number(const void *at, tn_scalar *to) { memcpy(to, at, sizeof *to); }
static bool type_number_set(const tn_param *p, void *at, tn_scalar s) {
    if (s.kind == TN_KIND_NONE && !(p->flags & TN_P_OPTIONAL)) return false;
    memcpy(at, &s, sizeof s);
    return true;
}
#define TNI_WAY_NUMBER                                                           \
    {                                                                            \
        type_number_check, type_number_text, type_number_same, type_number_take, \
            type_number_store, type_number_number, type_number_set               \
    }

/* --- bool ------------------------------------------------------------------------------------- */

static void type_truth_text(tni_said *o, const tn_param *p, const void *at) {
    (void)p;
    tni_say(o, *(const bool *)at ? "True" : "False");
}
static bool type_truth_same(const tn_param *p, const void *a, const void *b) {
    (void)p;
    return *(const bool *)a == *(const bool *)b;
}
static bool type_truth_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    if (v->type != TN_T_BOOL) return type_refuse(c, "argument '%s': expected a bool", p->name);
    return type_put(c, p->offset, &v->as.boolean, sizeof v->as.boolean);
}
static void type_truth_store(const tni_default *v, void *at, void *behind) {
    const bool truth = v->integer != 0;
    (void)behind;
    memcpy(at, &truth, sizeof truth);
}
static void type_truth_number(const void *at, tn_scalar *to) { *to = tn_bool(*(const bool *)at); }
static bool type_truth_set(const tn_param *p, void *at, tn_scalar s) {
    const bool truth = s.integer != 0;
    (void)p;
    if (!type_is_whole(s)) return false;
    memcpy(at, &truth, sizeof truth);
    return true;
}
#define TNI_WAY_TRUTH                                                                         \
    {                                                                                         \
        type_real_check, type_truth_text, type_truth_same, type_truth_take, type_truth_store, \
            type_truth_number, type_truth_set                                                 \
    }

/* --- lists of numbers: int[], float[] --------------------------------------------------------- */

static bool type_list_check(const tn_param *p, const void *at, char *why) {
    tn_ints l;
    memcpy(&l, at, sizeof l);
    if (!tni_list_is_said(p, at))
        return type_wrong(
            p, why, "is %s",
            l.n < 0 ? "absent"
                    : "an empty struct; use TN_EMPTY_DIMS for an empty list, TN_NO_DIMS for none");
    if (l.n > INT32_MAX)
        return type_wrong(p, why, "has %lld elements, which is too many", (long long)l.n);
    if (l.n < 0 || p->count <= 0 || l.n == p->count || (l.n == 1 && p->type == TN_T_INTS))
        return true; /* one int stands for all */
    return type_wrong(p, why, "has %lld elements, expected %s%d", (long long)l.n,
                      p->type == TN_T_INTS ? "1 or " : "", (int)p->count);
}
static void type_list_text(tni_said *o, const tn_param *p, const void *at) {
    tn_ints l;
    memcpy(&l, at, sizeof l);
    if (l.n < 0 || !l.at) {
        tni_say(o, "None");
        return;
    }
    tni_say(o, "[");
    for (int64_t i = 0; i < l.n && i < 12; i++) {
        if (i) tni_say(o, ", ");
        if (p->type == TN_T_INTS)
            tni_say(o, "%lld", (long long)l.at[i]);
        else
            type_say_real(o, ((const double *)(const void *)l.at)[i]);
    }
    tni_say(o, l.n > 12 ? ", ...]" : "]");
}
/* One number stands for as many as are expected. */
static bool type_list_same(const tn_param *p, const void *a, const void *b) {
    tn_ints x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    const int64_t n = x.n > y.n ? x.n : y.n;
    const bool spread = p->count > 0 && n == p->count;
    if (x.n < 0 || y.n < 0 || !x.at || !y.at) return x.n == y.n && x.at == y.at;
    if (x.n != y.n && !(spread && (x.n == 1 || y.n == 1))) return false;
    for (int64_t i = 0; i < n; i++) /* ints and doubles have 8 bytes */
        if (memcmp(&x.at[x.n == 1 ? 0 : i], &y.at[y.n == 1 ? 0 : i], sizeof *x.at)) return false;
    return true;
}
static bool type_list_take_none(tni_taken *c, const tn_param *p, const tn_value *v) {
    const tn_ints none = tn_no_dims();
    if (v->type || !(p->flags & TN_P_OPTIONAL))
        return type_refuse(c, "argument '%s': expected a list of numbers", p->name);
    return type_put(c, p->offset, &none, sizeof none);
}
static bool type_wholes_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    tn_ints l;
    if (v->type == TN_T_INTS) return type_put(c, p->offset, &v->as.ints, sizeof v->as.ints);
    if (v->type != TN_T_INT || !c->one || c->nones == TNI_TAKEN_LISTS)
        return type_list_take_none(c, p, v);
    c->one[c->nones] = v->as.integer;
    l = tn_ints_of(&c->one[c->nones++], 1);
    return type_put(c, p->offset, &l, sizeof l);
}
static bool type_reals_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    if (v->type == TN_T_FLOATS) return type_put(c, p->offset, &v->as.floats, sizeof v->as.floats);
    return type_list_take_none(c, p, v);
}
static void type_wholes_store(const tni_default *v, void *at, void *behind) {
    tn_ints l = tn_no_dims();
    if (!v->none) {
        memcpy(behind, v->ints, (size_t)v->n * sizeof *v->ints);
        l = tn_ints_of((const int64_t *)behind, v->n);
    }
    memcpy(at, &l, sizeof l);
}
static void type_reals_store(const tni_default *v, void *at, void *behind) {
    tn_floats l = {NULL, -1};
    if (!v->none) {
        memcpy(behind, v->floats, (size_t)v->n * sizeof *v->floats);
        l.at = (const double *)behind;
        l.n = v->n;
    }
    memcpy(at, &l, sizeof l);
}
#define TNI_WAY_WHOLES                                                                        \
    {                                                                                         \
        type_list_check, type_list_text, type_list_same, type_wholes_take, type_wholes_store, \
            NULL, NULL                                                                        \
    }
#define TNI_WAY_REALS                                                                             \
    {                                                                                             \
        type_list_check, type_list_text, type_list_same, type_reals_take, type_reals_store, NULL, \
            NULL                                                                                  \
    }

/* --- codes: ScalarType, Device, the enums ----------------------------------------------------- */

static bool type_code_check(const tn_param *p, const void *at, char *why) {
    int32_t code;
    memcpy(&code, at, sizeof code);
    if (tni_code_is_said(p, at)) return true;
    snprintf(why, TNI_WHY, "argument '%s': %d is not a valid value", p->name, (int)code);
    return false;
}
static bool type_code_same(const tn_param *p, const void *a, const void *b) {
    (void)p;
    return memcmp(a, b, sizeof(int32_t)) == 0;
}
static void type_code_store(const tni_default *v, void *at, void *behind) {
    const int32_t code = v->none ? 0 : (int32_t)v->integer;
    (void)behind;
    memcpy(at, &code, sizeof code);
}
static void type_code_number(const void *at, tn_scalar *to) {
    int32_t code;
    memcpy(&code, at, sizeof code);
    *to = code ? tn_int(code) : tn_none();
}
static bool type_code_set(const tn_param *p, void *at, tn_scalar s) {
    const int32_t code = s.kind == TN_KIND_NONE ? 0 : (int32_t)s.integer;
    const int32_t none = 0;
    if (s.kind != TN_KIND_NONE && (!type_is_whole(s) || s.integer != code)) return false;
    if (!tni_code_is_said(p, s.kind == TN_KIND_NONE ? &none : &code)) return false;
    memcpy(at, &code, sizeof code);
    return true;
}
static int32_t type_code(tni_said *o, const void *at) {
    int32_t code;
    memcpy(&code, at, sizeof code);
    if (!code) tni_say(o, "None");
    return code;
}

static void type_dtype_text(tni_said *o, const tn_param *p, const void *at) {
    const int32_t code = type_code(o, at);
    (void)p;
    if (code) tni_say(o, "%s%s", o->repr ? "torch." : "", tni_dtype(code)->text);
}
static bool type_dtype_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    const int32_t code = v->type ? (int32_t)v->as.dtype : 0;
    if (v->type && v->type != TN_T_DTYPE)
        return type_refuse(c, "argument '%s': expected a dtype", p->name);
    return type_put(c, p->offset, &code, sizeof code);
}
#define TNI_WAY_DTYPE                                                                       \
    {                                                                                       \
        type_code_check, type_dtype_text, type_code_same, type_dtype_take, type_code_store, \
            type_code_number, type_code_set                                                 \
    }

/* Device as text: None, its name, or its number if it is not registered. */
static void type_device_text(tni_said *o, const tn_param *p, const void *at) {
    const int32_t code = type_code(o, at);
    const char *name = tn_device_name(code);
    (void)p;
    if (code && strcmp(name, "none"))
        tni_say(o, "%s", name);
    else if (code)
        tni_say(o, "%d", (int)code);
}
static bool type_device_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    const int32_t code = v->type ? v->as.device : 0;
    if (v->type && v->type != TN_T_DEVICE)
        return type_refuse(c, "argument '%s': expected a device", p->name);
    return type_put(c, p->offset, &code, sizeof code);
}
#define TNI_WAY_DEVICE                                                                        \
    {                                                                                         \
        type_code_check, type_device_text, type_code_same, type_device_take, type_code_store, \
            type_code_number, type_code_set                                                   \
    }

static void type_word_text(tni_said *o, const tn_param *p, const void *at) {
    const int32_t code = type_code(o, at);
    int32_t i = 1;
    if (!code) return;
    while (i < code && p->words[i - 1]) i++;
    tni_say(o, "%s", p->words[i - 1] ? p->words[i - 1] : "?");
}
static bool type_word_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    const int64_t whole = v->type == TN_T_ENUM || v->type == TN_T_INT ? v->as.integer : 0;
    int32_t i = (int32_t)whole;
    if (whole < 0 || whole > INT32_MAX)
        return type_refuse(c, "argument '%s': %lld is not a valid value", p->name,
                           (long long)whole);
    if (v->type == TN_T_STRING && v->as.string) {
        for (int k = 0; p->words[k]; k++)
            if (strcmp(p->words[k], v->as.string) == 0) i = k + 1;
        if (!i)
            return type_refuse(c, "argument '%s': '%.40s' is not a valid value", p->name,
                               v->as.string);
    } else if (v->type != TN_T_ENUM && v->type != TN_T_INT &&
               (v->type || !(p->flags & TN_P_OPTIONAL))) {
        return type_refuse(c, "argument '%s': expected the name of a value", p->name);
    }
    return type_put(c, p->offset, &i, sizeof i);
}
#define TNI_WAY_WORD                                                                      \
    {                                                                                     \
        type_code_check, type_word_text, type_code_same, type_word_take, type_code_store, \
            type_code_number, type_code_set                                               \
    }

/* --- str -------------------------------------------------------------------------------------- */

static void type_string_text(tni_said *o, const tn_param *p, const void *at) {
    const char *text;
    (void)p;
    memcpy(&text, at, sizeof text);
    if (!text)
        tni_say(o, "None");
    else if (o->repr)
        tni_say(o, "'%s'", text);
    else
        tni_say(o, "%.40s", text);
}
static bool type_string_same(const tn_param *p, const void *a, const void *b) {
    const char *x, *y;
    (void)p;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x == y || (x && y && strcmp(x, y) == 0);
}
static bool type_string_take(tni_taken *c, const tn_param *p, const tn_value *v) {
    if (v->type && v->type != TN_T_STRING)
        return type_refuse(c, "argument '%s': expected a string", p->name);
    return !v->type || type_put(c, p->offset, &v->as.string, sizeof v->as.string);
}
static void type_string_store(const tni_default *v, void *at, void *behind) {
    const char *text = v->none ? NULL : (const char *)behind;
    if (!v->none) {
        memcpy(behind, v->string.at, (size_t)v->string.n);
        ((char *)behind)[v->string.n] = 0;
    }
    memcpy(at, &text, sizeof text);
}
#define TNI_WAY_STRING                                                            \
    {                                                                             \
        type_pointer_check, type_string_text, type_string_same, type_string_take, \
            type_string_store, NULL, NULL                                         \
    }

/* --- the table -------------------------------------------------------------------------------- */

TNI_PRIVATE_BEGIN
TN_PRIV_DEFINE(tni_type, tni_types[TN_TYPE_COUNT]) = {{NULL, NULL, NULL, NULL, NULL, NULL, NULL},
#define TNI_TYPE_ENTRY(NAME, text, list, c, cxx, lies, traits, way) TNI_WAY_##way,
                                                      TN_TYPES(TNI_TYPE_ENTRY)
#undef TNI_TYPE_ENTRY
};
TNI_PRIVATE_END

/* --- one parameter, all of them --------------------------------------------------------------- */

TN_API const tn_param *tn_param_named(const tn_gen *gen, const char *name, size_t n) {
    for (int i = 0; gen && n && i < gen->nparam; i++) {
        const char *own = gen->param[i].name;
        if (*own != *name) continue;
        if (n == SIZE_MAX ? !strcmp(own, name) : !strncmp(own, name, n) && !own[n])
            return &gen->param[i];
    }
    return NULL;
}

TN_API size_t tn_param_text(char *text, size_t room, const tn_param *p, const void *args,
                            bool repr) {
    tni_said o = {text, room, 0, repr};
    tni_type_of(p)->text(&o, p, (const char *)args + p->offset);
    return o.n;
}

TN_API bool tn_param_same(const tn_param *p, const void *args, const void *others) {
    return tni_type_of(p)->same(p, (const char *)args + p->offset,
                                (const char *)others + p->offset);
}

TN_API bool tn_param_number(const tn_param *p, const void *args, tn_scalar *to) {
    const tni_type *t = tni_type_of(p);
    if (t->number) t->number((const char *)args + p->offset, to);
    return t->number != NULL;
}

TN_API bool tn_param_set_number(const tn_param *p, void *args, tn_scalar value) {
    const tni_type *t = tni_type_of(p);
    return t->set && t->set(p, (char *)args + p->offset, value);
}

TN_API bool tn_args_check(const tn_gen *gen, const void *args, char *why, size_t room) {
    char text[TNI_WHY];
    for (int i = 0; i < gen->nparam; i++) {
        const tn_param *p = &gen->param[i];
        if (tni_type_of(p)->check(p, (const char *)args + p->offset, text)) continue;
        snprintf(why, room, "%s", text);
        return false;
    }
    return true;
}

/* --- what arguments point at ------------------------------------------------------------------ */

TN_API int64_t tn_args_words(const tn_gen *gen, const void *args) {
    return tni_args_words(gen, args);
}
TN_API void tn_args_copy(const tn_gen *gen, void *args, int64_t *to) {
    tni_args_copy(gen, args, to);
}

TN_API void tn_args_move(const tn_gen *gen, void *args, const void *from, int64_t bytes, void *to) {
    const uintptr_t begin = (uintptr_t)from, end = begin + (uintptr_t)bytes;
    for (int i = 0; i < gen->nparam; i++) {
        const tn_param *p = &gen->param[i];
        char *at = (char *)args + p->offset, *moved;
        uintptr_t old;
        if (!(TN_TYPES_BEHIND >> p->type & 1)) continue;
        memcpy(&old, at, sizeof old); /* a list's `at` comes first */
        if (old < begin || old >= end) continue;
        moved = (char *)to + (old - begin);
        memcpy(at, &moved, sizeof moved);
    }
}

TN_API void tn_args_forget(const tn_gen *gen, void *args) {
    for (int i = 0; i < gen->nparam; i++) {
        const tn_param *p = &gen->param[i];
        if (TN_TYPES_LENT >> p->type & 1)
            memset((char *)args + p->offset, 0,
                   TN_TYPES_LIST >> p->type & 1 ? sizeof(tn_tensors) : sizeof(void *));
    }
}
