/* boxed.c - promises of src/call: values by name and position land where the schema says, a call
 * in words says them back, and what does not fit is refused by name. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../../src/call/call.h"
#include "../check.h"

#include <stdlib.h>

/* --- values ----------------------------------------------------------------------------------- */

static tn_value named(const char *name, int type) {
    tn_value v;
    memset(&v, 0, sizeof v);
    v.name = name;
    v.type = type;
    return v;
}
static tn_value integer(const char *name, int64_t i) {
    tn_value v = named(name, TN_T_INT);
    v.as.integer = i;
    return v;
}
static tn_value real(const char *name, double d) {
    tn_value v = named(name, TN_T_FLOAT);
    v.as.real = d;
    return v;
}
static tn_value truth(const char *name, bool b) {
    tn_value v = named(name, TN_T_BOOL);
    v.as.boolean = b;
    return v;
}
static tn_value scalar(const char *name, tn_scalar s) {
    tn_value v = named(name, TN_T_SCALAR);
    v.as.scalar = s;
    return v;
}
static tn_value tensor(const char *name, tn_tensor *t) {
    tn_value v = named(name, TN_T_TENSOR);
    v.as.tensor = t;
    return v;
}
static tn_value string(const char *name, const char *s) {
    tn_value v = named(name, TN_T_STRING);
    v.as.string = s;
    return v;
}
static tn_value ints(const char *name, const int64_t *at, int64_t n) {
    tn_value v = named(name, TN_T_INTS);
    v.as.ints = tn_ints_of(at, n);
    return v;
}
static tn_value word(const char *name, int64_t i) {
    tn_value v = named(name, TN_T_ENUM);
    v.as.integer = i;
    return v;
}

/* The values bound to the schema, as a call in words; or why not. */
static const char *bound(const char *schema, const tn_value *values, int n) {
    static char text[800];
    char args[TNI_ARGS_BYTES];
    tn_gen *gen = tn_schema_new(schema);
    tn_error_info e;
    tn_row row;
    if (!CHECK(gen != NULL)) return tn_error_print(), "";
    memset(&row, 0, sizeof row);
    row.name = "f", row.gen = gen;
    if (tn_bind("here", 7, "f", gen, values, n, true, args))
        tni_call_text(text, sizeof text, &row, args);
    else if (CHECK(tn_error_take(&e)) && CHECK(e.code == TN_TYPE && e.line == 7))
        snprintf(text, sizeof text, "%s", e.message);
    tn_schema_free(gen);
    return text;
}
#define BOUND1(schema, a) (one[0] = (a), bound(schema, one, 1))
static tn_value one[1];

/* --- one value -------------------------------------------------------------------------------- */

static void an_int_takes_whole_numbers(void) {
    CHECK_TEXT(BOUND1("f(int a) -> ()", integer(NULL, -3)), "f(a=-3)");
    CHECK_TEXT(BOUND1("f(int a) -> ()", integer("a", 1)), "f(a=1)");
    CHECK_TEXT(BOUND1("f(int a) -> ()", truth(NULL, true)), "f(a=1)");
    CHECK_TEXT(BOUND1("f(int a) -> ()", scalar(NULL, tn_int(4))), "f(a=4)");
    CHECK_TEXT(BOUND1("f(int a) -> ()", scalar(NULL, tn_bool(true))), "f(a=1)");
    CHECK_TEXT(BOUND1("f(int a) -> ()", real(NULL, 1)), "f: argument 'a': expected an int");
    CHECK_TEXT(BOUND1("f(int a) -> ()", scalar(NULL, tn_float(1))),
               "f: argument 'a': expected an int");
    CHECK_TEXT(BOUND1("f(int a) -> ()", named(NULL, 0)), "f: argument 'a': expected an int");
    CHECK_TEXT(BOUND1("f(int? a=1) -> ()", named(NULL, 0)), "f(a=None)");
    CHECK_TEXT(BOUND1("f(int? a=1) -> ()", scalar(NULL, tn_none())), "f(a=None)");
    CHECK_TEXT(BOUND1("f(int a=1) -> ()", scalar(NULL, tn_none())),
               "f: argument 'a': expected an int");
    CHECK_TEXT(BOUND1("f(int? a=1) -> ()", integer(NULL, 1)), "f()");
}

static void a_number_takes_every_kind_that_fits(void) {
    CHECK_TEXT(BOUND1("f(float a) -> ()", real(NULL, 0.25)), "f(a=0.25)");
    CHECK_TEXT(BOUND1("f(float a) -> ()", integer(NULL, 3)), "f(a=3)");
    CHECK_TEXT(BOUND1("f(float a) -> ()", truth(NULL, true)), "f(a=1)");
    CHECK_TEXT(BOUND1("f(float a) -> ()", scalar(NULL, tn_complex(1, 2))),
               "f: argument 'a': expected a real number, got a complex one");
    CHECK_TEXT(BOUND1("f(float a) -> ()", named(NULL, 0)),
               "f: argument 'a': expected a number, got None");
    CHECK_TEXT(BOUND1("f(float a) -> ()", string(NULL, "1")), "f: argument 'a': expected a number");
    CHECK_TEXT(BOUND1("f(float? a=2.5) -> ()", named("a", 0)), "f(a=None)");
    CHECK_TEXT(BOUND1("f(float? a=2.5) -> ()", real("a", 0.5)), "f(a=0.5)");
    CHECK_TEXT(BOUND1("f(float? a=2.5) -> ()", integer("a", 9)), "f(a=9)");
    CHECK_TEXT(BOUND1("f(float? a=2.5) -> ()", real("a", 2.5)), "f()");
    CHECK_TEXT(BOUND1("f(Scalar a) -> ()", scalar(NULL, tn_complex(1, 2))), "f(a=(1.0+2.0j))");
    CHECK_TEXT(BOUND1("f(Scalar a) -> ()", integer(NULL, -8)), "f(a=-8)");
    CHECK_TEXT(BOUND1("f(Scalar a) -> ()", real(NULL, 1.5)), "f(a=1.5)");
    CHECK_TEXT(BOUND1("f(Scalar a) -> ()", truth(NULL, false)), "f(a=False)");
    CHECK_TEXT(BOUND1("f(Scalar? a=None) -> ()", named("a", 0)), "f()");
    CHECK_TEXT(BOUND1("f(Scalar? a=None) -> ()", integer("a", 0)), "f(a=0)");
    CHECK_TEXT(BOUND1("f(Scalar a=1) -> ()", real("a", 0.125)), "f(a=0.125)");
    CHECK_TEXT(BOUND1("f(Scalar a=1) -> ()", integer("a", 1)), "f()");
}

static void a_tensor_is_a_tensor_or_where_it_may_a_number(void) {
    int64_t mark = tn_scope_begin();
    tn_tensor *t = tn_zeros(TN_DIMS(2, 3));
    CHECK_TEXT(BOUND1("f(Tensor a) -> ()", tensor(NULL, t)), "f(a=float32 (2, 3))");
    CHECK_TEXT(BOUND1("f(Tensor a) -> ()", tensor(NULL, NULL)),
               "f: argument 'a': expected a tensor");
    CHECK_TEXT(BOUND1("f(Tensor a) -> ()", integer(NULL, 1)), "f: argument 'a': expected a tensor");
    CHECK_TEXT(BOUND1("f(Tensor a) -> ()", named(NULL, 0)), "f: argument 'a': expected a tensor");
    CHECK_TEXT(BOUND1("f(Tensor? a) -> ()", named(NULL, 0)), "f(a=None)");
    CHECK_TEXT(BOUND1("f(Tensor? a, int n=4) -> ()", named(NULL, 0)), "f(a=None)");
    CHECK_TEXT(BOUND1("f(Tensor? a=None) -> ()", tensor("a", t)), "f(a=float32 (2, 3))");
    CHECK_TEXT(BOUND1("f(Tensor|Scalar a) -> ()", integer(NULL, 6)), "f(a=6)");
    CHECK_TEXT(BOUND1("f(Tensor|Scalar a) -> ()", truth(NULL, true)), "f(a=True)");
    CHECK_TEXT(BOUND1("f(Tensor|Scalar a) -> ()", tensor(NULL, t)), "f(a=float32 (2, 3))");
    CHECK_TEXT(BOUND1("f(Tensor|Scalar a) -> ()", string(NULL, "x")),
               "f: argument 'a': expected a tensor");
    CHECK_TEXT(BOUND1("f(Tensor[] a) -> ()", tensor(NULL, t)),
               "f: argument 'a': expected a list of tensors");
    tn_scope_end(mark);
}

static void lists_are_shown_up_to_a_length(void) {
    static const int64_t many[13] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    static const double reals[2] = {0.5, -2};
    int64_t mark = tn_scope_begin();
    tn_tensor *t = tn_zeros(TN_DIMS(1)), *all[7] = {t, t, NULL, t, t, t, t};
    tn_value v = named(NULL, TN_T_TENSORS);
    CHECK_TEXT(BOUND1("f(int[] a) -> ()", ints(NULL, many, 0)), "f(a=[])");
    CHECK_TEXT(BOUND1("f(int[] a) -> ()", ints(NULL, many, 12)),
               "f(a=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])");
    CHECK_TEXT(BOUND1("f(int[] a) -> ()", ints(NULL, many, 13)),
               "f(a=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ...])");
    CHECK_TEXT(BOUND1("f(int[] a) -> ()", real(NULL, 1)),
               "f: argument 'a': expected a list of numbers");
    CHECK_TEXT(BOUND1("f(int[] a) -> ()", integer(NULL, 1)),
               "f: argument 'a': expected a list of numbers");
    CHECK_TEXT(BOUND1("f(int[] a) -> ()", named(NULL, 0)),
               "f: argument 'a': expected a list of numbers");
    CHECK_TEXT(BOUND1("f(int[]? a) -> ()", named(NULL, 0)), "f(a=None)");
    one[0] = named(NULL, TN_T_FLOATS);
    one[0].as.floats.at = reals, one[0].as.floats.n = 2;
    CHECK_TEXT(bound("f(float[] a) -> ()", one, 1), "f(a=[0.5, -2])");
    CHECK_TEXT(bound("f(int[] a) -> ()", one, 1), "f: argument 'a': expected a list of numbers");
    for (int n = 0; n < 8; n += n == 3 ? 3 : n == 6 ? 1 : 3) {
        v.as.tensors = tn_tensors_of(all, n);
        const char *text = BOUND1("f(Tensor[] a) -> ()", v);
        CHECK_TEXT(text, n == 0   ? "f(a=[])"
                         : n == 3 ? "f(a=[float32 (1), float32 (1), None])"
                         : n == 6 ? "f(a=[float32 (1), float32 (1), None, float32 (1), float32 "
                                    "(1), float32 (1)])"
                                  : "f(a=[float32 (1), float32 (1), None, float32 (1), float32 "
                                    "(1), float32 (1), ... 7 in all])");
    }
    tn_scope_end(mark);
}

static void words_are_said_as_words(void) {
    tn_value v = named("a", TN_T_DTYPE);
    CHECK_TEXT(BOUND1("f(Reduction a) -> ()", string(NULL, "mean")), "f(a=mean)");
    CHECK_TEXT(BOUND1("f(Reduction a) -> ()", string(NULL, "none")), "f(a=none)");
    CHECK_TEXT(BOUND1("f(Reduction a) -> ()", word(NULL, 3)), "f(a=sum)");
    CHECK_TEXT(BOUND1("f(Reduction a) -> ()", integer(NULL, 1)), "f(a=none)");
    CHECK_TEXT(BOUND1("f(Reduction a) -> ()", integer(NULL, 4)), "f(a=?)");
    CHECK_TEXT(BOUND1("f(Reduction a) -> ()", integer(NULL, -1)),
               "f: argument 'a': -1 is not a valid value");
    CHECK_TEXT(BOUND1("f(Reduction a) -> ()", integer(NULL, (int64_t)1 << 31)),
               "f: argument 'a': 2147483648 is not a valid value");
    CHECK_TEXT(BOUND1("f(Reduction a) -> ()", string(NULL, "me")),
               "f: argument 'a': 'me' is not a valid value");
    CHECK_TEXT(BOUND1("f(Reduction a) -> ()", real(NULL, 1)),
               "f: argument 'a': expected the name of a value");
    CHECK_TEXT(BOUND1("f(Reduction a) -> ()", named(NULL, 0)),
               "f: argument 'a': expected the name of a value");
    CHECK_TEXT(BOUND1("f(Reduction? a=sum) -> ()", named(NULL, 0)), "f(a=None)");
    v.as.dtype = TN_BF16;
    CHECK_TEXT(BOUND1("f(ScalarType? a=None) -> ()", v), "f(a=bfloat16)");
    CHECK_TEXT(BOUND1("f(ScalarType? a=float) -> ()", named("a", 0)), "f(a=None)");
    CHECK_TEXT(BOUND1("f(ScalarType a) -> ()", integer("a", 1)),
               "f: argument 'a': expected a dtype");
    v.type = TN_T_DEVICE;
    v.as.device = 3;
    CHECK_TEXT(BOUND1("f(Device? a=None) -> ()", v), "f(a=3)");
    CHECK_TEXT(BOUND1("f(Device? a=None) -> ()", integer("a", 1)),
               "f: argument 'a': expected a device");
    CHECK_TEXT(BOUND1("f(Device? a=None) -> ()", named("a", 0)), "f()");
}

/* What has its default is left out, whatever stands beside it. */
static void defaults_are_left_out_one_by_one(void) {
    static const int64_t same[3] = {1, 2, 3}, others[2] = {3, 4};
    static const double reals[2] = {0.5, 1}, more[2] = {0.5, 2};
    const char *lists = "f(int[] a=[1,2], float[] b=[0.5,1]) -> ()",
               *mixed =
                   "f(float a=2.5, int b=3, float? c=1, Scalar? d=None, bool e=True, str g=\"h\", "
                   "Reduction r=mean) -> ()";
    tn_gen *g = tn_schema_new("f(int[] a=[1,2]) -> ()");
    tn_value v[2] = {ints("a", same, 2), named("b", TN_T_FLOATS)};
    tn_ints l;
    tn_row row;
    char text[80];
    v[1].as.floats.at = reals, v[1].as.floats.n = 2;
    CHECK_TEXT(bound(lists, NULL, 0), "f()");
    CHECK_TEXT(bound(lists, v, 2), "f()"); /* others' lists, which are equal */
    v[0].as.ints = tn_ints_of(others, 2), v[1].as.floats.at = more;
    CHECK_TEXT(bound(lists, v, 2), "f(a=[3, 4], b=[0.5, 2])");
    CHECK_TEXT(BOUND1(mixed, integer("b", 7)), "f(b=7)");
    CHECK_TEXT(BOUND1(mixed, real("a", 7)), "f(a=7)");
    CHECK_TEXT(BOUND1(mixed, real("c", 1)), "f()");
    CHECK_TEXT(BOUND1(mixed, real("c", 7)), "f(c=7)");
    CHECK_TEXT(BOUND1(mixed, named("c", 0)), "f(c=None)");
    CHECK_TEXT(BOUND1(mixed, scalar("d", tn_complex(0, 1))), "f(d=(0.0+1.0j))");
    CHECK_TEXT(BOUND1(mixed, scalar("d", tn_bool(false))), "f(d=False)");
    CHECK_TEXT(BOUND1(mixed, scalar("d", tn_float(0))), "f(d=0.0)");
    CHECK_TEXT(BOUND1(mixed, truth("e", false)), "f(e=False)");
    CHECK_TEXT(BOUND1(mixed, string("g", "%d %s %%")), "f(g=%d %s %%)");
    CHECK_TEXT(BOUND1(mixed, string("r", "sum")), "f(r=sum)");
    memset(&row, 0, sizeof row);
    row.name = "f", row.gen = g;
    memcpy(&l, g->defaults, sizeof l);
    l.n = 1; /* the default's memory, less of it */
    CHECK_TEXT(tni_call_text(text, sizeof text, &row, &l), "f(a=[1])");
    l.n = -1;
    CHECK_TEXT(tni_call_text(text, sizeof text, &row, &l), "f(a=None)");
    l.at = NULL, l.n = 0;
    CHECK_TEXT(tni_call_text(text, sizeof text, &row, &l), "f(a=None)");
    l.n = 2;
    CHECK_TEXT(tni_call_text(text, sizeof text, &row, &l), "f(a=None)");
    tn_schema_free(g);
}

static void the_other_kinds_are_themselves(void) {
    tn_value v = named("a", TN_T_GENERATOR);
    tn_generator *g = tn_generator_new(1);
    v.as.generator = g;
    CHECK_TEXT(BOUND1("f(bool a) -> ()", truth(NULL, true)), "f(a=True)");
    CHECK_TEXT(BOUND1("f(bool a=True) -> ()", truth(NULL, false)), "f(a=False)");
    CHECK_TEXT(BOUND1("f(bool a=True) -> ()", truth(NULL, true)), "f()");
    CHECK_TEXT(BOUND1("f(bool a) -> ()", integer(NULL, 1)), "f: argument 'a': expected a bool");
    CHECK_TEXT(BOUND1("f(str a) -> ()", string(NULL, "text")), "f(a=text)");
    CHECK_TEXT(BOUND1("f(str? a=None) -> ()", named("a", 0)), "f()");
    CHECK_TEXT(BOUND1("f(str a) -> ()", integer(NULL, 1)), "f: argument 'a': expected a string");
    CHECK_TEXT(BOUND1("f(Generator? a=None) -> ()", v), "f(a=generator)");
    CHECK_TEXT(BOUND1("f(Generator? a=None) -> ()", named("a", 0)), "f()");
    CHECK_TEXT(BOUND1("f(Generator? a=None) -> ()", integer("a", 1)),
               "f: argument 'a': expected a generator");
    CHECK_TEXT(BOUND1("f(Module a) -> ()", integer("a", 1)),
               "f: argument 'a' cannot be given here");
    tn_generator_free(g);
}

/* --- several values --------------------------------------------------------------------------- */

static void values_are_bound_once_and_by_name_or_place(void) {
    const char *schema = "f(int a, int b=2, *, int c=3, int d) -> ()";
    tn_value v[4] = {integer(NULL, 7), integer("d", 9), integer("b", 8), integer("c", 3)};
    CHECK_TEXT(bound(schema, v, 2), "f(a=7, d=9)");
    CHECK_TEXT(bound(schema, v, 4), "f(a=7, b=8, d=9)");
    CHECK_TEXT(bound(schema, v, 1), "f: argument 'd' is missing");
    CHECK_TEXT(bound(schema, v + 1, 1), "f: argument 'a' is missing");
    v[2].name = NULL;
    CHECK_TEXT(bound(schema, v, 3), "f(a=7, b=8, d=9)");
    v[3].name = NULL;
    CHECK_TEXT(bound(schema, v, 4), "f: takes 2 positional arguments, got more");
    v[3].name = "a";
    CHECK_TEXT(bound(schema, v, 4), "f: argument 'a' is given twice");
    v[3].name = "e";
    CHECK_TEXT(bound(schema, v, 4), "f: argument 'e' does not exist");
    v[3].name = "%d %s";
    CHECK_TEXT(bound(schema, v, 4), "f: argument '%d %s' does not exist");
    v[0].name = "out";
    CHECK_TEXT(bound(schema, v, 1), "f: argument 'out' does not exist");
    v[1].name = NULL;
    CHECK_TEXT(bound("f(int a) -> ()", v + 1, 2), "f: takes 1 positional arguments, got more");
    CHECK_TEXT(bound("f(Generator g) -> ()", NULL, 0), "f(g=generator)");
}

static void each_argument_is_given_once(void) {
    static const char *const names[5] = {"a", "b", "c", "d", "e"};
    const char *schema = "f(int a, int b, int c, int d, int e) -> ()";
    for (int i = 0; i < 5; i++) {
        tn_value v[6];
        char text[40];
        for (int k = 0; k < 5; k++) v[k] = integer(k < 3 ? NULL : names[k], k);
        CHECK_TEXT(bound(schema, v, 5), "f(a=0, b=1, c=2, d=3, e=4)");
        v[5] = integer(names[i], 9);
        snprintf(text, sizeof text, "f: argument '%s' is given twice", names[i]);
        CHECK_TEXT(bound(schema, v, 6), text);
        for (int k = 0; k < 5; k++) v[k] = integer(names[k], k);
        v[i] = v[4];
        snprintf(text, sizeof text, "f: argument '%s' is missing", names[i]);
        CHECK_TEXT(bound(schema, v, 4), i < 4 ? text : "f: argument 'e' is missing");
    }
}

static void without_defaults_the_rest_is_kept(void) {
    tn_gen *gen = tn_schema_new("f(int a, int b=2) -> ()");
    int64_t args[3] = {11, 22, 33}; /* b, a, whatever follows */
    tn_value v = integer("b", 5);
    if (!CHECK(gen != NULL)) return;
    CHECK(gen->args_size == 16 && gen->param[1].offset == 0 && gen->param[0].offset == 8);
    CHECK(tn_bind(__FILE__, __LINE__, "f", gen, &v, 1, false, args));
    CHECK(args[0] == 5 && args[1] == 22 && args[2] == 33);
    v.name = "a";
    CHECK(tn_bind(__FILE__, __LINE__, "f", gen, &v, 1, true, args));
    CHECK(args[0] == 2 && args[1] == 5 && args[2] == 33);
    tn_schema_free(gen);
}

static void a_text_that_does_not_fit_is_cut_and_ended(void) {
    tn_gen *gen = tn_schema_new("f(int a) -> ()");
    int64_t args = 123456;
    char text[20];
    tn_row row;
    memset(&row, 0, sizeof row);
    row.name = "f", row.gen = gen;
    for (size_t room = 2; gen && room < sizeof text; room++) {
        char want[20] = "f(a=123456)";
        memset(text, '#', sizeof text);
        if (room < 12) want[room - 1] = 0;
        CHECK_TEXT(tni_call_text(text, room, &row, &args), want);
        CHECK(text[room] == '#');
    }
    tn_schema_free(gen);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* The first result's first element, or -1 with what went wrong in `said`. */
static char said[400];
static double at(tn_tensor *t, int64_t i) {
    tn_scalar s = tni_element(tni_bytes_at(t) + i * tni_dtype_size(t), t->dtype);
    return s.kind == TN_KIND_INT ? (double)s.integer : s.real;
}
static double called(const char *name, const tn_value *v, int n, int room, int *count) {
    tn_tensor *out[8] = {NULL};
    tn_error_info e;
    double first = -1;
    said[0] = 0;
    if (!tn_call_named("there", 5, name, v, n, out, room, count)) {
        CHECK(tn_error_take(&e) && e.line == 5 && !strcmp(e.file, "there"));
        snprintf(said, sizeof said, "%s", e.message);
    } else if (out[0])
        first = at(out[0], 0);
    return first;
}

static void a_call_by_name_finds_the_overload_that_fits(void) {
    int64_t mark = tn_scope_begin();
    tn_tensor *t = tn_full(TN_DIMS(2, 2), 3);
    tn_value v[3] = {tensor(NULL, t), integer(NULL, 4), integer("alpha", 2)};
    int count;
    CHECK(called("add", v, 3, 8, &count) == 11 && count == 1);
    CHECK(called("add", v, 2, 8, &count) == 7 && count == 1);
    CHECK(called("max", v, 1, 8, &count) == 3 && count == 1);
    v[1].as.integer = 1;
    CHECK(called("max.dim", v, 2, 8, &count) == 3 && count == 2);
    CHECK(called("max_dim", v, 2, 2, &count) == 3 && count == 2);
    CHECK(called("max_dim", v, 2, 1, &count) == -1 && count == 0);
    CHECK_TEXT(said, "max_dim: got 2 results, but there is room for only 1");
    CHECK(called("unbind", v, 1, 8, &count) == 3 && count == 2);
    CHECK(called("unbind", v, 1, 1, &count) == -1 && count == 0);
    CHECK_TEXT(said, "unbind: got 2 results, but there is room for only 1");
    CHECK(called("addd", v, 1, 8, &count) == -1);
    CHECK_TEXT(said, "operator 'addd' does not exist");
    CHECK(called("ad", v, 1, 8, &count) == -1);
    CHECK_TEXT(said, "operator 'ad' does not exist");
    CHECK(called(NULL, v, 1, 8, &count) == -1);
    CHECK_TEXT(said, "operator '(NULL)' does not exist");
    tn_scope_end(mark);
}

static void a_call_by_name_works_in_place_and_into_out(void) {
    int64_t mark = tn_scope_begin();
    tn_tensor *t = tn_full(TN_DIMS(2), 3), *to = tn_zeros(TN_DIMS(2)), *two[2];
    tn_value v[3] = {tensor(NULL, t), integer(NULL, 4), tensor("out", to)};
    int count;
    CHECK(called("add", v, 3, 8, &count) == 7 && at(to, 1) == 7);
    CHECK(at(t, 0) == 3);
    v[2].type = 0;
    CHECK(called("sub", v, 3, 8, &count) == -1 && !said[0] && at(to, 1) == 7);
    v[2].type = TN_T_TENSOR;
    CHECK(called("add_", v, 3, 8, &count) == -1);
    CHECK(strstr(said, "out= is not supported") != NULL);
    CHECK(called("add_", v, 2, 8, &count) == 7 && at(t, 0) == 7);
    CHECK(called("fill_", v, 2, 8, &count) == 4 && at(t, 1) == 4);
    CHECK(called("unbind_", v, 1, 8, &count) == -1);
    CHECK_TEXT(said, "operator 'unbind_' does not exist");
    CHECK(called("_", v, 1, 8, &count) == -1);
    CHECK(called("add__", v, 2, 8, &count) == -1);
    CHECK_TEXT(said, "operator 'add__' does not exist");
    two[0] = tnp_zeros(tn_empty_dims(), (tn_dtype)t->dtype, TN_CPU);
    two[1] = tnp_zeros(tn_empty_dims(), TN_I64, TN_CPU);
    v[1].as.integer = 0;
    v[2].type = TN_T_TENSORS;
    v[2].as.tensors = tn_tensors_of(two, 2);
    CHECK(called("max.dim", v, 3, 8, &count) == 4 && count == 2 && at(two[0], 0) == 4);
    v[2].as.tensors.n = 1;
    CHECK(called("max.dim", v, 3, 8, &count) == -1);
    CHECK(strstr(said, "max_dim: out= expects 2 tensors\n  schema: max.dim(") == said);
    tn_scope_end(mark);
}

static const check_test tests[] = {
    CHECK_TEST(an_int_takes_whole_numbers),
    CHECK_TEST(a_number_takes_every_kind_that_fits),
    CHECK_TEST(a_tensor_is_a_tensor_or_where_it_may_a_number),
    CHECK_TEST(lists_are_shown_up_to_a_length),
    CHECK_TEST(words_are_said_as_words),
    CHECK_TEST(defaults_are_left_out_one_by_one),
    CHECK_TEST(the_other_kinds_are_themselves),
    CHECK_TEST(values_are_bound_once_and_by_name_or_place),
    CHECK_TEST(each_argument_is_given_once),
    CHECK_TEST(without_defaults_the_rest_is_kept),
    CHECK_TEST(a_text_that_does_not_fit_is_cut_and_ended),
    CHECK_TEST(a_call_by_name_finds_the_overload_that_fits),
    CHECK_TEST(a_call_by_name_works_in_place_and_into_out),
};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
