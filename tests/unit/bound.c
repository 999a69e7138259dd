/* bound.c - calls with tagged values: each kind of argument takes what it may and refuses the rest
 * with its name; overloads, in-place names, out=, lists of results. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../refused.h"

#include <stdlib.h>

static tn_value none(const char *name) {
    tn_value v;
    memset(&v, 0, sizeof v);
    v.name = name;
    return v;
}
#define MAKE(function, TYPE, member, kind)               \
    static tn_value function(const char *name, kind x) { \
        tn_value v = none(name);                         \
        v.type = TYPE;                                   \
        v.as.member = x;                                 \
        return v;                                        \
    }
MAKE(of_tensor, TN_T_TENSOR, tensor, tn_tensor *)
MAKE(of_tensors, TN_T_TENSORS, tensors, tn_tensors)
MAKE(of_int, TN_T_INT, integer, int64_t)
MAKE(of_real, TN_T_FLOAT, real, double)
MAKE(of_bool, TN_T_BOOL, boolean, bool)
MAKE(of_scalar, TN_T_SCALAR, scalar, tn_scalar)
MAKE(of_ints, TN_T_INTS, ints, tn_ints)
MAKE(of_floats, TN_T_FLOATS, floats, tn_floats)
MAKE(of_dtype, TN_T_DTYPE, dtype, tn_dtype)
MAKE(of_device, TN_T_DEVICE, device, tn_device_id)
MAKE(of_generator, TN_T_GENERATOR, generator, tn_generator *)
MAKE(of_string, TN_T_STRING, string, const char *)
MAKE(of_word, TN_T_ENUM, integer, int64_t)

/* The pending error is of that code and says it; it is taken. */

/* --- arguments -------------------------------------------------------------------------------- */

static const char *const schema =
    "Block(Tensor t, Tensor? u=None, Tensor|Scalar o, Tensor[] l, int i=1, int? j=None, float x=0, "
    "float? y=None, bool b=False, Scalar s, int[] il, int[]? jl=None, float[] fl, ScalarType? "
    "d=None, "
    "Device? dev=None, Generator? g=None, Reduction r='mean', Reduction? q=None, str a='', str? "
    "c=None, Module? m=None) -> Tensor";
static tn_gen *gen;
static char *args;

static bool bind(tn_value v) { return tn_bind("here.c", 7, "Block", gen, &v, 1, false, args); }
static const char *member(const char *name) {
    for (int i = 0; i < gen->nparam; i++)
        if (!strcmp(gen->param[i].name, name)) return args + gen->param[i].offset;
    CHECK(gen == NULL); /* no such parameter */
    return args;
}
#define AT(type, name) (*(const type *)(const void *)member(name))
#define NOT_BOUND(value, text) (CHECK(!bind(value)), says(TN_TYPE, text, __LINE__))

static void begin(void) {
    gen = tn_schema_new(schema);
    args = gen ? (char *)calloc(1, gen->args_size) : NULL;
    CHECK(gen && args);
}
static void end(void) {
    free(args);
    tn_schema_free(gen);
    CHECK(!tn_error_print());
    CHECK_EQ(tn_memory().live_tensors, 0);
}

static void numbers_fit_or_are_refused(void) {
    begin();
    CHECK(bind(of_int("x", 3)) && AT(double, "x") == 3);
    CHECK(bind(of_bool("x", true)) && AT(double, "x") == 1);
    CHECK(bind(of_scalar("x", tn_bool(true))) && AT(double, "x") == 1);
    CHECK(bind(of_real("y", 2.5)) && AT(tn_maybe, "y").given == TN_GIVEN);
    CHECK(AT(tn_maybe, "y").value == 2.5);
    CHECK(bind(none("y")) && AT(tn_maybe, "y").given == TN_ABSENT);
    CHECK(bind(of_scalar("s", tn_complex(1, 2))) && AT(tn_scalar, "s").imaginary == 2);
    CHECK(bind(of_int("s", 5)) && AT(tn_scalar, "s").kind == TN_KIND_INT);
    NOT_BOUND(of_scalar("x", tn_complex(1, 2)),
              "Block: argument 'x': expected a real number, got a complex one");
    NOT_BOUND(of_string("x", "3"), "argument 'x': expected a number");
    NOT_BOUND(none("x"), "argument 'x': expected a number, got None");
    NOT_BOUND(of_ints("s", tn_empty_dims()), "argument 's': expected a number");
    CHECK(bind(of_int("i", -4)) && AT(int64_t, "i") == -4);
    CHECK(bind(of_bool("i", true)) && AT(int64_t, "i") == 1);
    CHECK(bind(of_scalar("i", tn_int(6))) && AT(int64_t, "i") == 6);
    CHECK(bind(of_scalar("i", tn_bool(false))) && AT(int64_t, "i") == 0);
    CHECK(bind(of_scalar("j", tn_none())) && AT(int64_t, "j") == TN_NONE);
    CHECK(bind(none("j")) && AT(int64_t, "j") == TN_NONE);
    NOT_BOUND(of_scalar("i", tn_none()), "argument 'i': expected an int");
    NOT_BOUND(of_scalar("j", tn_float(1)), "argument 'j': expected an int");
    NOT_BOUND(of_real("i", 1), "argument 'i': expected an int");
    NOT_BOUND(none("i"), "argument 'i': expected an int");
    CHECK(bind(of_bool("b", true)) && AT(bool, "b"));
    NOT_BOUND(of_int("b", 1), "argument 'b': expected a bool");
    end();
}

static void tensors_and_lists_fit_or_are_refused(void) {
    static const int64_t two[] = {4, 5};
    static const double reals[] = {0.5};
    tn_floats f = {reals, 1};
    begin();
    TN_SCOPE {
        tn_tensor *t = tn_ones(TN_DIMS(2));
        CHECK(bind(of_tensor("t", t)) && AT(tn_tensor *, "t") == t);
        CHECK(bind(of_tensor("u", t)) && AT(tn_tensor *, "u") == t);
        CHECK(bind(none("u")) && AT(tn_tensor *, "u") == NULL); /* whatever was there */
        CHECK(bind(of_tensor("o", t)) && AT(tn_tensor *, "o") == t);
        CHECK(bind(of_tensors("l", tn_tensors_of(&t, 1))) && AT(tn_tensors, "l").at[0] == t);
        CHECK(bind(of_real("o", 3)) && AT(tn_tensor *, "o") == NULL);
        NOT_BOUND(of_int("t", 1), "argument 't': expected a tensor");
        NOT_BOUND(of_tensor("t", NULL), "argument 't': expected a tensor");
        NOT_BOUND(none("t"), "argument 't': expected a tensor");
        NOT_BOUND(of_int("u", 1), "argument 'u': expected a tensor");
        NOT_BOUND(of_string("o", "x"), "argument 'o': expected a tensor");
        NOT_BOUND(of_tensor("l", t), "argument 'l': expected a list of tensors");
    }
    CHECK(bind(of_ints("il", tn_ints_of(two, 2))) && AT(tn_ints, "il").at[1] == 5);
    CHECK(bind(none("jl")) && AT(tn_ints, "jl").n == -1);
    CHECK(bind(of_floats("fl", f)) && AT(tn_floats, "fl").at[0] == 0.5);
    NOT_BOUND(of_int("il", 3),
              "argument 'il': expected a list of numbers"); /* there is no room to make one */
    NOT_BOUND(of_floats("il", f), "argument 'il': expected a list of numbers");
    NOT_BOUND(of_int("fl", 3), "argument 'fl': expected a list of numbers");
    NOT_BOUND(none("il"), "argument 'il': expected a list of numbers");
    NOT_BOUND(of_real("jl", 1), "argument 'jl': expected a list of numbers");
    end();
}

static void words_and_the_rest_fit_or_are_refused(void) {
    tn_generator *g = tn_generator_new(3);
    begin();
    CHECK(bind(of_string("r", "sum")) && AT(int32_t, "r") == 3);
    CHECK(bind(of_word("r", 1)) && AT(int32_t, "r") == 1 && bind(of_int("r", 2)));
    CHECK(bind(none("q")) && AT(int32_t, "q") == 0);
    NOT_BOUND(of_string("r", "least"), "argument 'r': 'least' is not a valid value");
    NOT_BOUND(of_string("r", NULL), "argument 'r': expected the name of a value");
    NOT_BOUND(of_word("r", -1), "argument 'r': -1 is not a valid value");
    NOT_BOUND(of_int("r", (int64_t)1 << 40), "is not a valid value");
    NOT_BOUND(of_real("r", 1), "argument 'r': expected the name of a value");
    NOT_BOUND(none("r"), "argument 'r': expected the name of a value");
    CHECK(bind(of_dtype("d", TN_F64)) && AT(int32_t, "d") == TN_F64);
    CHECK(bind(none("d")) && AT(int32_t, "d") == 0);
    NOT_BOUND(of_int("d", 1), "argument 'd': expected a dtype");
    CHECK(bind(of_device("dev", TN_CPU)) && AT(int32_t, "dev") == TN_CPU && bind(none("dev")));
    NOT_BOUND(of_int("dev", 1), "argument 'dev': expected a device");
    CHECK(bind(of_generator("g", g)) && AT(tn_generator *, "g") == g && bind(none("g")));
    NOT_BOUND(of_int("g", 1), "argument 'g': expected a generator");
    CHECK(bind(of_string("a", "text")) && bind(none("c")) && bind(none("a")));
    CHECK_TEXT(AT(char *, "a"), "text"); /* None leaves what was there */
    NOT_BOUND(of_int("a", 1), "argument 'a': expected a string");
    NOT_BOUND(of_int("m", 1), "argument 'm' cannot be given here");
    end();
    tn_generator_free(g);
}

static void names_and_places_are_checked(void) {
    tn_value two[2];
    tn_gen *few = tn_schema_new("f(int a, *, int b=2) -> Tensor");
    int64_t to[4] = {0, 0, 0, 0};
    tn_error_info e;
    two[0] = of_int(NULL, 1), two[1] = of_int("a", 1);
    CHECK(!tn_bind("x.c", 9, "f", few, two, 2, true, to) && tn_error_take(&e));
    CHECK(strstr(e.message, "f: argument 'a' is given twice") && e.line == 9);
    two[1] = of_int(NULL, 2);
    CHECK(!tn_bind(NULL, 0, "f", few, two, 2, true, to));
    says(TN_TYPE, "takes 1 positional arguments, got more", __LINE__);
    two[1] = of_int("c", 2);
    CHECK(!tn_bind(NULL, 0, "f", few, two, 2, true, to));
    says(TN_TYPE, "argument 'c' does not exist", __LINE__);
    CHECK(!tn_bind(NULL, 0, "f", few, two, 0, true, to));
    says(TN_TYPE, "argument 'a' is missing", __LINE__);
    CHECK(tn_bind(NULL, 0, "f", few, two, 0, false, to));
    two[1] = of_int("b", 5);
    CHECK(tn_bind(NULL, 0, "f", few, two, 2, true, to));
    CHECK(to[few->param[0].offset / 8] == 1 && to[few->param[1].offset / 8] == 5);
    tn_schema_free(few);
}

/* --- calls by name ---------------------------------------------------------------------------- */

static tn_tensor *result[4];
static int count;
static bool call(const char *name, tn_value *v, int n, int room) {
    return tn_call_named("here.c", 3, name, v, n, result, room, &count);
}
static double value(const tn_tensor *t, int i) {
    double v[16];
    if (!t || tn_numel(t) > 16 || !tn_read_f64(t, v, tn_numel(t))) return -12345;
    return v[i];
}

static void names_find_overloads_and_in_place_forms(void) {
    TN_SCOPE {
        tn_tensor *x = tn_arange(6, .dtype = TN_F64), *six;
        tn_value v[3];
        x = tn_view(x, TN_DIMS(2, 3));
        v[0] = of_tensor(NULL, x), v[1] = of_int("dim", 1); /* one number is a list of one */
        CHECK(call("sum", v, 2, 1) && count == 1 && value(result[0], 1) == 12);
        v[1] = of_real(NULL, 10);
        CHECK(call("add_", v, 2, 1) && result[0] == x && value(x, 5) == 15);
        CHECK(call("add", v, 2, 1) && value(result[0], 5) == 25 && value(x, 5) == 15);
        v[1] = of_int("value", 7);
        CHECK(call("fill_", v, 2, 1) && result[0] == x && value(x, 3) == 7);
        v[1] = of_int("dim", 0);
        CHECK(call("max", v, 2, 2) && count == 2 && value(result[1], 0) == 0);
        CHECK(!call("max", v, 2, 1) && count == 0);
        says(TN_INVALID, "max_dim: got 2 results, but there is room for only 1", __LINE__);
        v[1] = of_int(NULL, 2);
        CHECK(call("chunk", v, 2, 4) && count == 2 && value(result[1], 0) == 7);
        CHECK(!call("chunk", v, 2, 1) && count == 0);
        says(TN_INVALID, "got 2 results, but there is room for only 1", __LINE__);
        v[1] = of_int("dim", 7), count = 9;
        CHECK(!call("unbind", v, 2, 4) && count == 0 && tn_error_take(NULL));
        CHECK(!call("sum", v, 2, 4) && count == 0 && tn_error_take(NULL));
        v[1] = of_string("dim", "rows");
        CHECK(!call("max", v, 2, 2));
        says(TN_TYPE,
             "max: no overload matches; the last one tried: argument 'dim' does not exist",
             __LINE__);
        CHECK(!call("relu", v, 2, 1));
        says(TN_TYPE, "relu: argument 'dim' does not exist\n  schema: relu(Tensor self)", __LINE__);
        v[1] = of_tensor(NULL, tn_ones(TN_DIMS(5)));
        CHECK(!call("add", v, 2, 1) && tn_error_take(NULL)); /* the operator's own refusal */
        six = tn_empty(TN_DIMS(2, 3), .dtype = TN_F64);
        v[1] = of_tensor("out", six);
        CHECK(call("relu", v, 2, 1) && result[0] == six && value(six, 0) == 7);
        v[1] = none("out");
        CHECK(call("relu", v, 2, 1) && result[0] != six);
    }
}
static void wrong_names_and_outs_are_refused(void) {
    static const char *const names[] = {NULL, "", "_", "no_such", "no_such_", "x"};
    TN_SCOPE {
        tn_tensor *x = tn_ones(TN_DIMS(2)), *both[2];
        tn_value v[3];
        v[0] = of_tensor(NULL, x), both[0] = both[1] = x;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            CHECK(!call(names[i], v, 1, 1) && count == 0);
            says(TN_INVALID, "does not exist", __LINE__);
        }
        v[1] = of_tensor("out", x);
        CHECK(!call("chunk", v, 2, 4));
        says(TN_TYPE, "out= is not supported", __LINE__);
        CHECK(!call("relu_", v, 2, 1));
        says(TN_TYPE, "out= is not supported", __LINE__);
        v[1] = of_int("out", 1);
        CHECK(!call("relu", v, 2, 1));
        says(TN_TYPE, "out= expects 1 tensors", __LINE__);
        v[1] = of_tensors("out", tn_tensors_of(both, 2));
        CHECK(!call("relu", v, 2, 1));
        says(TN_TYPE, "out= expects 1 tensors", __LINE__);
        v[1] = of_tensors("out", tn_tensors_of(NULL, 2)), v[2] = of_int("dim", 0);
        CHECK(!call("max.dim", v, 3, 2));
        says(TN_TYPE, "out= expects 2 tensors", __LINE__);
        both[0] = tn_empty(tn_empty_dims()), both[1] = tn_empty(tn_empty_dims(), .dtype = TN_I64);
        v[1] = of_tensors("out", tn_tensors_of(both, 2)), v[2] = of_int("dim", 0);
        CHECK(call("max.dim", v, 3, 2) && result[0] == both[0] && value(both[0], 0) == 1);
    }
}

static void every_in_place_form_has_a_name(void) {
    tn_error_info e;
    for (int64_t i = 0; i < tn_row_count(); i++) {
        const tn_row *row = tn_row_at(i);
        char name[80];
        size_t base = strcspn(row->schema, ".(");
        bool written = base && row->schema[base - 1] == '_';
        snprintf(name, sizeof name, "%.*s%s", (int)base, row->schema, written ? "" : "_");
        if (!(row->forms & TN_INPLACE)) continue;
        CHECK(!call(name, NULL, 0, 1) && tn_error_take(&e) && e.code == TN_TYPE);
        if (!CHECK(strstr(e.message, "' is missing") != NULL))
            printf("    %s: %s\n", name, e.message);
        snprintf(name, sizeof name, "%.60s_", row->name);
        if (written) continue;
        CHECK(!call(name, NULL, 0, 1) && tn_error_take(&e) && e.code == TN_TYPE);
        if (!CHECK(strstr(e.message, "' is missing") != NULL))
            printf("    %s: %s\n", name, e.message);
    }
}

static int told;
static void quiet(const tn_path *path, char *to, size_t room) {
    (void)path;
    if (room) *to = 0;
}
static void handler(const tn_error_info *e, void *user) { told += e->line == *(int *)user; }
static void what_a_call_by_name_gets_wrong_is_told_once(void) {
    int line = 3;
    tn_value v = of_int("x", 1);
    tn_set_error_handler(handler, &line);
    told = 0;
    CHECK(!call("no_such", NULL, 0, 1) && told == 1 && tn_error_take(NULL));
    CHECK(!call("relu", &v, 1, 1) && told == 2 && tn_error_take(NULL));
    CHECK(!call("relu", NULL, 0, 1) && told == 3 && tn_error_take(NULL));
    TN_SCOPE {
        tn_path path = {NULL, quiet, "path.c", 4};
        v = of_tensor(NULL, tn_ones(TN_DIMS(2, 2)));
        CHECK(!call("unbind", &v, 1, 1) && told == 4 && tn_error_take(NULL) && count == 0);
        tn_path_push(&path);
        CHECK(!call("no_such", NULL, 0, 1) && told == 4);
        line = 4;
        tn_path_pop(&path);
        CHECK(told == 5 && tn_error_take(NULL));
    }
    tn_set_error_handler(NULL, NULL);
}

/* --- rows of one's own ------------------------------------------------------------------------ */

static bool never(tn_frame *f) { return tn_fail(f, TN_INTERNAL, "never called"); }
static void never_run(tn_frame *f) { (void)f; }
static tn_tensor *calls(tn_tensor *grad,
                        void *user) { /* from within a backward: no place of its own */
    tn_value v = of_tensor(NULL, grad);
    (void)user;
    CHECK(!call("no_such", &v, 1, 1));
    return NULL;
}
static void a_wrong_call_in_a_hook_names_the_backward(void) {
    TN_SCOPE {
        tn_tensor *x = tn_requires_grad(tn_ones(TN_DIMS(1)));
        tn_error_info e;
        int line = __LINE__ + 2;
        CHECK(tn_hook_add(x, calls, NULL, NULL));
        CHECK(!tn_backward(tn_sum(x)));
        CHECK(tn_error_take(&e) && e.line == line && strstr(e.file, "bound.c"));
        CHECK(strstr(e.message, "operator 'no_such' does not exist") && !tn_grad_of(x));
    }
}
static bool short_check(tn_frame *f) {
    return tn_announce_like(f, 0, f->in[0], tn_dtype_of(f->in[0]));
}
static void a_name_of_one_letter_has_an_in_place_form(void) {
    static tn_row row;
    memset(&row, 0, sizeof row);
    row.name = "q", row.schema = "q(Tensor self) -> Tensor", row.forms = TN_INPLACE;
    row.check = short_check, row.run = never_run;
    CHECK(tn_register(&row));
    TN_SCOPE {
        tn_value v = of_tensor(NULL, tn_ones(TN_DIMS(2)));
        CHECK(call("q_", &v, 1, 1) && count == 1 && result[0] == v.as.tensor);
        CHECK(call("q", &v, 1, 1) && count == 1 && result[0] != v.as.tensor);
        CHECK(!call("q__", &v, 1, 1) && count == 0);
        says(TN_INVALID, "operator 'q__' does not exist", __LINE__);
    }
}
static void more_lists_than_there_is_room_for_are_refused(void) {
    static char text[400] = "many(Tensor self";
    static const char tail[] = ") -> Tensor";
    tn_row row;
    tn_gen wide;
    tn_value v[18];
    memset(&row, 0, sizeof row);
    for (int i = 0; i < 17; i++) snprintf(text + strlen(text), 20, ", int[] l%d", i);
    strcat(text, tail);
    row.name = "many", row.schema = text, row.check = never, row.run = never_run;
    CHECK(tn_register(&row));
    TN_SCOPE {
        v[0] = of_tensor(NULL, tn_ones(TN_DIMS(1)));
        for (int i = 1; i < 18; i++) v[i] = of_int(NULL, i);
        CHECK(!call("many", v, 18, 1));
        says(TN_TYPE, "argument 'l16': expected a list of numbers", __LINE__);
        v[17] = of_ints(NULL, tn_empty_dims());
        CHECK(!call("many", v, 18, 1));
        says(TN_INTERNAL, "never called", __LINE__);
        wide = *row.gen, wide.args_size = 2000; /* tables that no schema gives */
        row.gen = &wide;
        CHECK(!tn_call_row(NULL, 0, &row, TN_PLAIN, v, 18, result, 1, &count));
        says(TN_TYPE, "the arguments are too large for a call by name", __LINE__);
    }
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(numbers_fit_or_are_refused),
        CHECK_TEST(tensors_and_lists_fit_or_are_refused),
        CHECK_TEST(words_and_the_rest_fit_or_are_refused),
        CHECK_TEST(names_and_places_are_checked),
        CHECK_TEST(names_find_overloads_and_in_place_forms),
        CHECK_TEST(every_in_place_form_has_a_name),
        CHECK_TEST(what_a_call_by_name_gets_wrong_is_told_once),
        CHECK_TEST(a_name_of_one_letter_has_an_in_place_form),
        CHECK_TEST(wrong_names_and_outs_are_refused),
        CHECK_TEST(a_wrong_call_in_a_hook_names_the_backward),
        CHECK_TEST(more_lists_than_there_is_room_for_are_refused),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    failed |= !CHECK_EQ(tn_memory().live_tensors, 0);
    tn_context_free(NULL);
    return failed;
}
