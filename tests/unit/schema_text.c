/* schema_text.c - promises of src/call: a schema read at run time gives the tables that the
 * generator wrote, and one that is wrong is refused with the column and what is wrong there. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../../src/call/call.h"
#include "../../src/call/schema.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>

static void *get(void *user, size_t bytes) {
    void *at = malloc(bytes);
    *(void **)user = at;
    if (at) memset(at, 0xa5, bytes);
    return at;
}

static void *no_memory(void *user, size_t bytes) { return (void)user, (void)bytes, (void *)NULL; }

static void tables_without_memory_are_an_error(void) {
    char error[200];
    tn_gen *gen;
    size_t bytes;
    CHECK(!tni_schema_gen(tn_row_named("add"), no_memory, NULL, &gen, &bytes, error, 200));
    CHECK_TEXT(error, "out of memory for its tables");
}

/* --- one text --------------------------------------------------------------------------------- */

static const char *parsed(const char *text) {
    static tni_schema s;
    static char error[200];
    error[0] = 0;
    return tni_schema_parse(&s, text, error, sizeof error) ? "" : error;
}

/* What is wrong, and where. */
static const char *const wrong[][2] = {
    {"f", "column 2: '(' expected"},
    {"f[", "column 2: '(' expected"},
    {"f(", "column 3: unknown type"},
    {"f(Tensr a)", "column 3: unknown type 'Tensr'"},
    {"f(int a, Tenso b)", "column 10: unknown type 'Tenso'"},
    {"f(int)", "column 6: a parameter needs a name"},
    {"f(int a", "column 8: ',' or ')' expected"},
    {"f(int a int b)", "column 9: ',' or ')' expected"},
    {"f(int a, int a)", "column 15: two parameters are named 'a'"},
    {"f(int a, int b, int b)", "column 22: two parameters are named 'b'"},
    {"f() -> (Tensor a, Tensor b, Tensor b)", "column 38: two results are named 'b'"},
    {"f(*, int a, *, int b)", "column 14: a second '*'"},
    {"f(bool[] a)", "column 8: lists of this type are not supported"},
    {"f(Scalar[] a)", "column 10: lists of this type are not supported"},
    {"f(ScalarType[] a)", "column 14: lists of this type are not supported"},
    {"f(Device[] a)", "column 10: lists of this type are not supported"},
    {"f(Generator[] a)", "column 13: lists of this type are not supported"},
    {"f(str[] a)", "column 7: lists of this type are not supported"},
    {"f(Reduction[] a)", "column 13: lists of this type are not supported"},
    {"f(int[2 a)", "column 9: ']' expected"},
    {"f(int[32768] a)", "column 11: the list's count is too large"},
    {"f(int[999999999999] a)", "column 11: the list's count is too large"},
    {"f(int?[] a)", "column 8: only a list of tensors may have absent elements"},
    {"f(bool? a)", "column 9: bool? is not supported: use an enum"},
    {"f(Tensor|Scalar? a)", "column 19: Tensor|Scalar must be required: 'a'"},
    {"f(int a=1.5)", "column 9: this default does not match the parameter's type: '1.5'"},
    {"f(int a=None)", "column 9: this default does not match the parameter's type: 'None'"},
    {"f(int a=inf)", "column 9: this default does not match the parameter's type: 'inf'"},
    {"f(int a=)", "column 9: this default does not match the parameter's type:"},
    {"f(int a=1x)", "column 9: this default does not match the parameter's type: '1x'"},
    {"f(int a=9223372036854775808)",
     "column 9: this default does not match the parameter's type: '9223372036854775808'"},
    {"f(float a=1.0e)", "column 11: this default does not match the parameter's type: '1.0e'"},
    {"f(bool a=1)", "column 10: this default does not match the parameter's type: '1'"},
    {"f(bool a=true)", "column 10: this default does not match the parameter's type: 'true'"},
    {"f(Tensor a=1)", "column 12: this default does not match the parameter's type: '1'"},
    {"f(Device a=cpu)", "column 12: this default does not match the parameter's type: 'cpu'"},
    {"f(ScalarType a=floaty)",
     "column 16: this default does not match the parameter's type: 'floaty'"},
    {"f(Reduction a=median)",
     "column 15: this default does not match the parameter's type: 'median'"},
    {"f(int[] a=[1,2)", "column 11: this default does not match the parameter's type: '[1,2)'"},
    {"f(int[] a=[1,x])", "column 11: this default does not match the parameter's type: '[1,x]'"},
    {"f(int[] a=[1,2,3,4,5,6,7,8,9])",
     "column 11: this default does not match the parameter's type: '[1,2,3,4,5,6,7,8,9]'"},
    {"f(int[] a=[)", "column 11: this default does not match the parameter's type: '[)'"},
    {"f((Tensor a, Tensor)? x)", "column 20: an element of a tuple needs a name"},
    {"f((Tensor a, Tensor b x)", "column 23: ')' expected"},
    {"f((Tensor a, Tensor b))", "column 23: a tuple needs a name"},
    {"f((Tensor a) x=None)",
     "column 16: the default of a tuple must be None, and its type must end in '?'"},
    {"f((Tensor a)? x=1)",
     "column 17: the default of a tuple must be None, and its type must end in '?'"},
    {"f((int a,int b,int c,int d,int e,int f,int g,int h,int i) x)",
     "column 52: too many elements in a tuple"},
    {"f() -> int", "column 11: a result must be a Tensor, a Tensor[] or a bool"},
    {"f() -> (Tensor, Tensor)", "column 24: several results need names"},
    {"f() -> (Tensor a, Tensor a)", "column 28: two results are named 'a'"},
    {"f() -> (Tensor[] a, Tensor b)", "column 30: a list or a bool must be the only result"},
    {"f() -> (Tensor a", "column 17: ')' expected"},
    {"f() -> ((Tensor a, (Tensor b) c) d)", "column 21: tuples can be nested only once"},
    {"f() -> (Tensor a,Tensor b,Tensor c,Tensor d,Tensor e,Tensor f,Tensor g,Tensor h,Tensor i)",
     "column 88: too many results"},
    {"f() -> Tensor x y", "column 17: unexpected text after the end"},
    {"f() - Tensor", "column 5: unexpected text after the end"},
};
static void what_is_wrong_is_said_with_its_column(void) {
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (!CHECK_TEXT(parsed(wrong[i][0]), wrong[i][1])) printf("    %s\n", wrong[i][0]);
}

static void as_many_as_fit_are_taken(void) {
    char text[1000] = "f(";
    for (int i = 0; i < TNI_PARAMS; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%sint a%d", i ? ", " : "", i);
    strcat(text, ")");
    CHECK_TEXT(parsed(text), "");
    strcpy(strchr(text, ')'), ", int b)");
    CHECK(strstr(parsed(text), "too many parameters") != NULL);
    CHECK_TEXT(parsed("f(int[] a=[1,2,3,4,5,6,7,8])"), "");
    CHECK_TEXT(parsed("f((int a,int b,int c,int d,int e,int f,int g,int h) x)"), "");
    CHECK_TEXT(parsed("f() -> (Tensor a,Tensor b,Tensor c,Tensor d,Tensor e,Tensor f,Tensor g,"
                      "Tensor h)"),
               "");
    CHECK_TEXT(parsed("f(int a=9223372036854775807, int b=-9223372036854775808)"), "");
    CHECK_TEXT(parsed(" ( )  ->  ( ) "), "");
}

/* --- what a parameter becomes ----------------------------------------------------------------- */

typedef struct param_case {
    const char *text;
    int type, flags, count;
    bool none;
    int64_t integer;
    double real;
    int n;
} param_case;

static const param_case params[] = {
    {"Tensor x", TN_T_TENSOR, 0, -1, 0, 0, 0, 0},
    {"Tensor(a) x", TN_T_TENSOR, 0, -1, 0, 0, 0, 0},
    {"Tensor(a!) x", TN_T_TENSOR, TN_P_MUTATED, -1, 0, 0, 0, 0},
    {"Tensor|Scalar x", TN_T_TENSOR, TN_P_NUMBER, -1, 0, 0, 0, 0},
    {"Tensor? x=None", TN_T_TENSOR, TN_P_OPTIONAL | TN_P_DEFAULT, -1, 1, 0, 0, 0},
    {"Tensor[] x", TN_T_TENSORS, 0, -1, 0, 0, 0, 0},
    {"Tensor?[] x", TN_T_TENSORS, TN_P_HOLES, -1, 0, 0, 0, 0},
    {"Tensor[]? x=None", TN_T_TENSORS, TN_P_OPTIONAL | TN_P_DEFAULT, -1, 1, 0, 0, 0},
    {"int x=-7", TN_T_INT, TN_P_DEFAULT, -1, 0, -7, -7, 0},
    {"SymInt x", TN_T_INT, 0, -1, 0, 0, 0, 0},
    {"int? x=None", TN_T_INT, TN_P_OPTIONAL | TN_P_DEFAULT, -1, 1, 0, 0, 0},
    {"int[12] x=3", TN_T_INTS, TN_P_DEFAULT, 12, 0, 0, 0, 1},
    {"int[32767] x=3", TN_T_INTS, TN_P_DEFAULT, INT16_MAX, 0, 0, 0, 1},
    {"int[] x=[]", TN_T_INTS, TN_P_DEFAULT, -1, 0, 0, 0, 0},
    {"int[]? x=[4, 5]", TN_T_INTS, TN_P_OPTIONAL | TN_P_DEFAULT, -1, 0, 0, 0, 2},
    {"float x=0.25", TN_T_FLOAT, TN_P_DEFAULT, -1, 0, 0, 0.25, 0},
    {"float x=-inf", TN_T_FLOAT, TN_P_DEFAULT, -1, 0, 0, -INFINITY, 0},
    {"float x=inf", TN_T_FLOAT, TN_P_DEFAULT, -1, 0, 0, INFINITY, 0},
    {"float? x=1e-3", TN_T_FLOAT, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_MAYBE, -1, 0, 1, 1e-3, 0},
    {"float[2] x=0.5", TN_T_FLOATS, TN_P_DEFAULT, 2, 0, 0, 0, 1},
    {"bool x=True", TN_T_BOOL, TN_P_DEFAULT, -1, 0, 1, 0, 0},
    {"bool x=False", TN_T_BOOL, TN_P_DEFAULT, -1, 0, 0, 0, 0},
    {"Scalar x", TN_T_SCALAR, 0, -1, 0, 0, 0, 0},
    {"Scalar x=2", TN_T_SCALAR, TN_P_DEFAULT | TN_P_DOUBLE, -1, 0, 2, 2, 0},
    {"Scalar x=True", TN_T_SCALAR, TN_P_DEFAULT | TN_P_DOUBLE, -1, 0, 0, 1, 0},
    {"Scalar x=False", TN_T_SCALAR, TN_P_DEFAULT | TN_P_DOUBLE, -1, 0, 0, 0, 0},
    {"Scalar? x=None", TN_T_SCALAR, TN_P_OPTIONAL | TN_P_DEFAULT, -1, 1, 0, 0, 0},
    {"ScalarType x=float", TN_T_DTYPE, TN_P_DEFAULT, -1, 0, TN_F32, 0, 0},
    {"ScalarType x=double", TN_T_DTYPE, TN_P_DEFAULT, -1, 0, TN_F64, 0, 0},
    {"ScalarType x=long", TN_T_DTYPE, TN_P_DEFAULT, -1, 0, TN_I64, 0, 0},
    {"ScalarType x=int", TN_T_DTYPE, TN_P_DEFAULT, -1, 0, TN_I32, 0, 0},
    {"ScalarType x=half", TN_T_DTYPE, TN_P_DEFAULT, -1, 0, TN_F16, 0, 0},
    {"ScalarType x=bool", TN_T_DTYPE, TN_P_DEFAULT, -1, 0, TN_BOOL, 0, 0},
    {"Device? x=None", TN_T_DEVICE, TN_P_OPTIONAL | TN_P_DEFAULT, -1, 1, 0, 0, 0},
    {"Generator? x=None", TN_T_GENERATOR, TN_P_OPTIONAL | TN_P_DEFAULT, -1, 1, 0, 0, 0},
    {"str x=\"a, b)\"", TN_T_STRING, TN_P_DEFAULT, -1, 0, 0, 0, 0},
    {"Module x", TN_T_MODULE, 0, -1, 0, 0, 0, 0},
    {"Module[] x", TN_T_MODULES, 0, -1, 0, 0, 0, 0},
    {"Reduction x=mean", TN_T_ENUM, TN_P_DEFAULT, -1, 0, 2, 0, 0},
    {"Reduction x='sum'", TN_T_ENUM, TN_P_DEFAULT, -1, 0, 3, 0, 0},
    {"Approximate x=tanh", TN_T_ENUM, TN_P_DEFAULT, -1, 0, 2, 0, 0},
    {"Rounding? x=None", TN_T_ENUM, TN_P_OPTIONAL | TN_P_DEFAULT, -1, 1, 0, 0, 0},
    {"MemoryFormat x=channels_last_3d", TN_T_ENUM, TN_P_DEFAULT, -1, 0, 4, 0, 0},
    {"PaddingMode x=circular", TN_T_ENUM, TN_P_DEFAULT, -1, 0, 4, 0, 0},
};

static void check_param(const param_case *c, bool keyword, const char *text) {
    static tni_schema s;
    char error[200] = "";
    bool ok = CHECK(tni_schema_parse(&s, text, error, sizeof error));
    const tni_schema_param *p = &s.param[s.nparam - 2];
    ok = ok && CHECK(s.nparam > 1 && p->name.n == 1 && *p->name.at == 'x');
    ok = ok && CHECK_EQ(p->type, c->type) && CHECK_EQ(p->count, c->count) &&
         CHECK_EQ(p->flags, c->flags | (keyword ? TN_P_KEYWORD : 0)) &&
         CHECK_EQ(p->value.none, c->none) && CHECK_EQ(p->value.integer, c->integer) &&
         CHECK(p->value.real == c->real) && CHECK_EQ(p->value.n, c->n);
    if (!ok) printf("    %s: %s\n", text, error);
}

static void parameters_are_what_they_say(void) {
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        char text[200];
        snprintf(text, sizeof text, "f(%s, int y)", params[i].text);
        check_param(&params[i], false, text);
        snprintf(text, sizeof text, "f.g( int w , * , %s , int y ) -> Tensor", params[i].text);
        check_param(&params[i], true, text);
    }
}

static void lists_hold_their_numbers(void) {
    static tni_schema s;
    char error[200];
    CHECK(tni_schema_parse(&s, "f(int[3] a=[-1, 20,3], float[] b=[0.5,-2], float[2] c=7)", error,
                           sizeof error));
    CHECK(s.param[0].value.n == 3 && s.param[0].value.ints[0] == -1 &&
          s.param[0].value.ints[1] == 20 && s.param[0].value.ints[2] == 3);
    CHECK(s.param[1].value.n == 2 && s.param[1].value.floats[0] == 0.5 &&
          s.param[1].value.floats[1] == -2);
    CHECK(s.param[2].value.n == 1 && s.param[2].value.floats[0] == 7);
}

/* A pair of quotes around a text is not of it; other letters that are alike are. */
static void texts_lose_their_quotes(void) {
    static const char *const texts[][2] = {
        {"aba", "aba"},           {"\"\"", ""},      {"''", ""},       {"'a'", "a"},
        {"\"a,b) [\"", "a,b) ["}, {"a'b'", "a'b'"},  {"'a'b", "'a'b"}, {"'a\"b'", "a\"b"},
        {"aa  ", "aa"},           {"[a,b]", "[a,b]"}};
    static tni_schema s;
    char error[200] = "", text[80];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        snprintf(text, sizeof text, "f(str a=%s, int b)", texts[i][0]);
        if (!CHECK(tni_schema_parse(&s, text, error, sizeof error)) || !CHECK_EQ(s.nparam, 2) ||
            !CHECK(tni_word_is(s.param[0].value.string, texts[i][1])))
            printf("    %s: %s\n", text, error);
    }
    CHECK_TEXT(parsed("f(str a='b, int c)"), "column 19: ',' or ')' expected");
    CHECK_TEXT(parsed("f(str a=')"), "column 11: ',' or ')' expected");
    CHECK_TEXT(parsed("f(Reduction a='mean)"),
               "column 15: this default does not match the parameter's type: ''mean)'");
}

static void tuples_name_their_members(void) {
    static tni_schema s;
    char error[200];
    CHECK(tni_schema_parse(&s,
                           "lstm.cell(Tensor x, *, (Tensor h, Tensor c)? hx=None) -> "
                           "(Tensor out, (Tensor h, Tensor c) hx)",
                           error, sizeof error));
    CHECK(tni_word_is(s.name, "lstm.cell") && s.base == 4 && s.nparam == 3 && s.nresults == 3);
    for (int i = 1; i < 3; i++) {
        CHECK_EQ(s.param[i].flags, TN_P_OPTIONAL | TN_P_DEFAULT | TN_P_KEYWORD);
        CHECK(tni_word_is(s.param[i].group, "hx") && s.param[i].value.none);
        CHECK(tni_word_is(s.param[i].name, i == 1 ? "h" : "c"));
        CHECK(tni_word_is(s.result_group[i], "hx"));
    }
    CHECK(s.param[0].group.n == 0 && s.result_group[0].n == 0 && tni_word_is(s.result[0], "out"));
    CHECK(tni_schema_parse(&s, "f((Tensor a) x) -> Tensor", error, sizeof error));
    CHECK(s.param[0].flags == 0 && !s.param[0].value.none && tni_word_is(s.result[0], "result"));
    CHECK(s.base == 1 && s.has_results && !s.returns_list);
    CHECK(tni_schema_parse(&s, "f() -> Tensor[] all", error, sizeof error) && s.returns_list);
    CHECK(tni_schema_parse(&s, "f()", error, sizeof error) && !s.has_results && !s.nresults);
    CHECK(tni_schema_parse(&s, "f() -> Tensor y", error, sizeof error) &&
          tni_word_is(s.result[0], "y"));
    CHECK(tni_schema_parse(&s, "f() -> (Tensor y)", error, sizeof error) &&
          tni_word_is(s.result[0], "y"));
}

/* Options first, then what is required, then numbers in place of tensors, each at its alignment. */
static void structs_are_laid_out_as_c_lays_them_out(void) {
    static tni_schema s;
    char error[200];
    struct {
        bool a;
        int64_t b;
        int32_t something;
    } all_options = {false, 0, 0};
    struct {
        bool a;
        tn_tensor *x;
        int64_t b;
        tn_scalar y;
    } mixed;
    struct {
        tn_tensor *out[2];
        bool a;
        int32_t d;
        double f;
    } with_out;
    CHECK(tni_schema_parse(&s, "f(bool a=True, int b=2) -> Tensor", error, sizeof error));
    CHECK(s.param[0].offset == 0);
    CHECK_EQ(s.param[1].offset, (char *)&all_options.b - (char *)&all_options);
    CHECK_EQ(s.args_size, sizeof all_options);
    CHECK(tni_schema_parse(&s, "f(bool a=True) -> Tensor", error, sizeof error));
    CHECK_EQ(s.args_size, 8);
    CHECK(tni_schema_parse(&s, "f(Tensor|Scalar x, int b, bool a=False) -> Tensor", error, 200));
    CHECK_EQ(s.param[0].offset, (char *)&mixed.x - (char *)&mixed);
    CHECK_EQ(s.param[1].offset, (char *)&mixed.b - (char *)&mixed);
    CHECK_EQ(s.param[0].number_offset, (char *)&mixed.y - (char *)&mixed);
    CHECK(s.param[2].offset == 0 && s.args_size == sizeof mixed && s.out_offset == SIZE_MAX);
    CHECK(tni_schema_parse(&s, "f(bool a, ScalarType d, float f) -> (Tensor p, Tensor q)", error,
                           sizeof error));
    tni_schema_layout(&s, TN_OUT);
    CHECK(s.out_offset == 0 && s.args_size == sizeof with_out);
    CHECK_EQ(s.param[1].offset, (char *)&with_out.d - (char *)&with_out);
    CHECK_EQ(s.param[2].offset, (char *)&with_out.f - (char *)&with_out);
}

/* --- needs and limits ------------------------------------------------------------------------- */

static const char *made(const char *schema, uint32_t forms, const char *saves, const char *needs) {
    static char error[200];
    tn_row row;
    void *block = NULL;
    tn_gen *gen;
    size_t bytes;
    memset(&row, 0, sizeof row);
    row.name = "f", row.schema = schema, row.forms = forms, row.saves = saves, row.needs = needs;
    error[0] = 0;
    bool ok = tni_schema_gen(&row, get, &block, &gen, &bytes, error, sizeof error);
    CHECK(ok == !error[0]);
    free(block);
    return error;
}

static void what_a_frame_cannot_hold_is_refused(void) {
    static const char nine[] = "f(Tensor a,Tensor b,Tensor c,Tensor d,Tensor e,Tensor f,Tensor g,"
                               "Tensor h,Tensor i) -> Tensor";
    char eight[200];
    strcpy(eight, nine);
    strcpy(strstr(eight, ",Tensor i"), ") -> Tensor");
    CHECK_TEXT(made(eight, 0, NULL, NULL), "");
    CHECK_TEXT(made(nine, 0, NULL, NULL), "more than 8 tensors outside lists");
    CHECK_TEXT(made("(Tensor a) -> Tensor", 0, NULL, NULL), "no name");
    CHECK_TEXT(made("f(Tensor a)", 0, NULL, NULL), "expected '->' and the results");
    CHECK_TEXT(made("f(Tensor|Scalar a,Tensor|Scalar b,Tensor|Scalar c) -> ()", 0, NULL, NULL), "");
    CHECK_TEXT(made("f(Tensor|Scalar a,Tensor|Scalar b,Tensor|Scalar c,Tensor|Scalar d) -> ()", 0,
                    NULL, NULL),
               "more than 3 Tensor|Scalar");
    CHECK_TEXT(made("f(Scalar a,Scalar b,Scalar c,Scalar d,Scalar e,Scalar f,Scalar g,Scalar h,"
                    "Scalar i,Scalar j) -> ()",
                    0, NULL, NULL),
               "");
    if (sizeof(void *) == 8) /* they are smaller elsewhere */
        CHECK_TEXT(made("f(Scalar a,Scalar b,Scalar c,Scalar d,Scalar e,Scalar f,Scalar g,Scalar h,"
                        "Scalar i,Scalar j,bool k) -> ()",
                        0, NULL, NULL),
                   "too many arguments for a call's frame");
    CHECK_TEXT(made("f() -> (Tensor a,Tensor b,Tensor c,Tensor d,Tensor e,Tensor f)", 0, 0, 0), "");
    CHECK_TEXT(
        made("f() -> (Tensor a,Tensor b,Tensor c,Tensor d,Tensor e,Tensor f,Tensor g)", 0, 0, 0),
        "more than 6 results");
}

static void what_a_form_cannot_do_is_refused(void) {
    static const char four[] = "f() -> (Tensor a,Tensor b,Tensor c,Tensor d)";
    CHECK_TEXT(made("f() -> Tensor[]", TN_OUT, NULL, NULL), "a list result cannot have out=");
    CHECK_TEXT(made("f() -> Tensor[]", 0, NULL, NULL), "");
    CHECK_TEXT(made(four, TN_OUT, NULL, NULL), "");
    CHECK_TEXT(made("f() -> ()", TN_OUT, NULL, NULL), "out= takes 1 to 4 results");
    CHECK_TEXT(made("f() -> (Tensor a,Tensor b,Tensor c,Tensor d,Tensor e)", TN_OUT, NULL, NULL),
               "out= takes 1 to 4 results");
    CHECK_TEXT(made("f(Tensor x) -> Tensor", TN_INPLACE, NULL, NULL), "");
    for (int i = 0; i < 4; i++) {
        static const char *const text[] = {"f() -> Tensor", "f(int a, Tensor b) -> Tensor",
                                           "f(Tensor x) -> Tensor[]",
                                           "f(Tensor x) -> (Tensor a, Tensor b)"};
        CHECK_TEXT(made(text[i], TN_INPLACE, NULL, NULL),
                   "an in-place form needs a tensor as first parameter and exactly one result");
        CHECK_TEXT(made(text[i], 0, NULL, NULL), "");
    }
}

static void needs_are_bits_of_inputs_results_and_saves(void) {
    static tni_schema s;
    uint64_t m[TNI_PARAMS];
    char error[200] = "";
    const uint64_t out = (uint64_t)1 << 32;
    CHECK(tni_schema_parse(&s, "f(Tensor a, int n, Tensor[] l, Tensor b) -> (Tensor y, Tensor z)",
                           error, sizeof error));
    m[3] = 77;
    CHECK(tni_schema_needs(&s, "s t", "a:b,y b:z l:t a", m, error, sizeof error));
    CHECK_EQ(m[3], 77); /* three tensors, three masks */
    CHECK_EQ(m[0], 2 | out | 1);
    CHECK_EQ(m[1], out << 1 | 1);
    CHECK_EQ(m[2], out << 3 | 1);
    CHECK(tni_schema_needs(&s, NULL, NULL, m, error, sizeof error) && !m[0] && !m[1] && !m[2]);
    CHECK(tni_schema_needs(&s, "s", "l s", m, error, sizeof error));
    CHECK(m[0] == (4 | out << 2) && m[1] == m[0] && m[2] == m[0]);
    CHECK(!tni_schema_needs(&s, NULL, "c:a", m, error, sizeof error));
    CHECK_TEXT(error, "needs: no tensor is named 'c'");
    CHECK(!tni_schema_needs(&s, NULL, "a:n", m, error, sizeof error));
    CHECK_TEXT(error, "needs: no input, result or save is named 'n'");
    CHECK(!tni_schema_needs(&s, "1 2 3 4 5 6 7 8 9", "a", m, error, sizeof error));
    CHECK_TEXT(error, "saves: more than 6 together with the results");
    CHECK(tni_schema_needs(&s, "1 2 3 4", "4", m, error, sizeof error));
    CHECK_EQ(m[0], out << 5);
}

/* --- defaults in memory ----------------------------------------------------------------------- */

static void a_text_gives_a_struct_with_its_defaults(void) {
    const char *text =
        "f(Tensor x, int a=5, int? b=None, float c=0.5, float? d=None, float? e=2.5, "
        "bool f=True, Scalar g=3, Scalar? h=None, int[2] i=[6,7], float[] j=[1.5], "
        "int[]? k=None, float[]? l=None, str m=\"mn\", str? o=None, "
        "ScalarType p=double, Reduction q=sum, Tensor[]? r=None) -> ()";
    tn_row row;
    char error[200] = "";
    void *block = NULL;
    tn_gen *g;
    size_t bytes;
    tn_ints list;
    tn_floats reals;
    tn_maybe maybe;
    tn_scalar scalar;
    double real;
    int64_t integer;
    int32_t small;
    const char *string;
    memset(&row, 0, sizeof row);
    row.schema = text;
    if (!CHECK(tni_schema_gen(&row, get, &block, &g, &bytes, error, sizeof error))) return;
#define AT(i, value) memcpy(&(value), (const char *)g->defaults + g->param[i].offset, sizeof(value))
    CHECK((AT(1, integer), integer == 5) && (AT(2, integer), integer == TN_NONE));
    CHECK((AT(3, real), real == 0.5));
    CHECK((AT(4, maybe), maybe.given != TN_GIVEN));
    CHECK((AT(5, maybe), maybe.given == TN_GIVEN && maybe.value == 2.5));
    CHECK(((const char *)g->defaults)[g->param[6].offset] == 1);
    CHECK((AT(7, real), real == 3) && (AT(8, scalar), scalar.kind == TN_KIND_NONE));
    CHECK((AT(9, list), list.n == 2 && list.at[0] == 6 && list.at[1] == 7));
    CHECK((AT(10, reals), reals.n == 1 && reals.at[0] == 1.5));
    CHECK((AT(11, list), list.n == -1 && !list.at) && (AT(12, reals), reals.n == -1 && !reals.at));
    CHECK((AT(13, string), string && !strcmp(string, "mn")) && (AT(14, string), !string));
    CHECK((AT(15, small), small == TN_F64) && (AT(16, small), small == 3));
    CHECK((AT(17, list), list.n == -1 && !list.at));
#undef AT
    CHECK_EQ(bytes % 16, 0);
    for (int i = 0; i < g->nparam; i++) /* 16-byte pieces in one block of that size */
        CHECK((const char *)g->param[i].name > (char *)block &&
              (const char *)g->param[i].name < (char *)block + bytes);
    CHECK(!g->loops && g->nfixed == 1 && g->nsaves == 0 && !g->result_names[0]);
    CHECK(g->nparam == 18 && g->out_offset == UINT16_MAX && g->nresults == 0);
    free(block);
}

static void words_are_split_at_spaces_and_commas(void) {
    tni_word w[3];
    CHECK_EQ(tni_words(" ab, c ,,d ", w, 3), 3);
    CHECK(tni_word_is(w[0], "ab") && tni_word_is(w[1], "c") && tni_word_is(w[2], "d"));
    CHECK(!tni_word_is(w[0], "a") && !tni_word_is(w[0], "abc") && !tni_word_is(w[0], "ac"));
    CHECK_EQ(tni_words("a b c d", w, 3), -1);
    CHECK_EQ(tni_words("a b c ", w, 3), 3);
    CHECK_EQ(tni_words("", w, 3), 0);
    CHECK_EQ(tni_words(NULL, w, 3), 0);
}

static const check_test tests[] = {
    CHECK_TEST(tables_without_memory_are_an_error),
    CHECK_TEST(what_is_wrong_is_said_with_its_column),
    CHECK_TEST(as_many_as_fit_are_taken),
    CHECK_TEST(parameters_are_what_they_say),
    CHECK_TEST(lists_hold_their_numbers),
    CHECK_TEST(texts_lose_their_quotes),
    CHECK_TEST(tuples_name_their_members),
    CHECK_TEST(structs_are_laid_out_as_c_lays_them_out),
    CHECK_TEST(what_a_frame_cannot_hold_is_refused),
    CHECK_TEST(what_a_form_cannot_do_is_refused),
    CHECK_TEST(needs_are_bits_of_inputs_results_and_saves),
    CHECK_TEST(a_text_gives_a_struct_with_its_defaults),
    CHECK_TEST(words_are_split_at_spaces_and_commas),
};

int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
