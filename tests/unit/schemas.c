/* schemas.c - the reader of schemas and the tables it makes: those of every built-in row are what
 * the generator wrote; all kinds of defaults; what does not parse says where and why. */
#include "../../src/api/extend.h"
#include "../../src/api/ops.h"
#include "../../src/call/schema.h"
#include "../check.h"

#include <math.h>
#include <stdlib.h>

static void *get(void *user, size_t bytes) {
    (void)user;
    return malloc(bytes);
}
static void *get_none(void *user, size_t bytes) {
    (void)user, (void)bytes;
    return NULL;
}

/* --- run time and generator ------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) { return !a == !b && (!a || !strcmp(a, b)); }

/* One default in both argument structs; lists and texts by what they hold. */
static bool same_default(const tn_param *p, const char *a, const char *b) {
    static const size_t pointer = sizeof(void *);
    const size_t bytes[] = {0, pointer, 0, 8, 8, 1, 0, 0, 0, 4, 4, pointer, 4};
    if (p->type == TN_T_STRING) return same_text(*(char *const *)a, *(char *const *)b);
    if (p->type == TN_T_INTS || p->type == TN_T_FLOATS || p->type == TN_T_TENSORS) {
        const tn_ints *x = (const tn_ints *)(const void *)a, *y = (const tn_ints *)(const void *)b;
        return x->n == y->n && (x->n <= 0 || !memcmp(x->at, y->at, (size_t)x->n * 8));
    }
    if (p->type == TN_T_FLOAT && p->flags & TN_P_MAYBE) {
        const tn_maybe *x = (const tn_maybe *)(const void *)a,
                       *y = (const tn_maybe *)(const void *)b;
        return x->given == y->given && x->value == y->value;
    }
    if (p->type == TN_T_SCALAR) /* kept as a double; None is all zero */
        return !memcmp(a, b, p->flags & TN_P_DOUBLE ? sizeof(double) : sizeof(int32_t));
    return !memcmp(a, b, bytes[p->type]);
}
static bool same_param(const tn_param *a, const tn_param *b, const tn_gen *g, const tn_gen *h) {
    bool same = same_text(a->name, b->name) && a->type == b->type && a->flags == b->flags &&
                a->offset == b->offset && a->count == b->count && !a->words == !b->words;
    if (a->flags & TN_P_NUMBER) same = same && a->number_offset == b->number_offset;
    for (int k = 0; same && a->words && (a->words[k] || b->words[k]); k++)
        same = a->words[k] && b->words[k] && same_text(a->words[k], b->words[k]);
    return same &&
           (!(a->flags & TN_P_DEFAULT) || same_default(a, (const char *)g->defaults + a->offset,
                                                       (const char *)h->defaults + b->offset));
}
static bool same_tables(const tn_gen *a, const tn_gen *b, int nslots) {
    bool same = a->nparam == b->nparam && a->nfixed == b->nfixed && a->nresults == b->nresults &&
                a->nsaves == b->nsaves && a->args_size == b->args_size &&
                a->out_offset == b->out_offset && a->props == b->props;
    for (int i = 0; same && i < a->nparam; i++) same = same_param(&a->param[i], &b->param[i], a, b);
    for (int i = 0; same && i < a->nfixed; i++) same = a->fixed[i] == b->fixed[i];
    for (int i = 0; same && i < nslots; i++) same = a->needs[i] == b->needs[i];
    for (int k = 0; same && k < a->nresults + a->nsaves; k++)
        same = same_text(a->result_names[k], b->result_names[k]);
    return same && !a->result_names[a->nresults + a->nsaves] &&
           !b->result_names[b->nresults + b->nsaves];
}
/* "indices" stands for all needs in the generator alone. */
static void tables_made_at_run_time_are_the_generators(void) {
    int compared = 0;
    for (int64_t i = 0; i < tn_row_count(); i++) {
        const tn_row *row = tn_row_at(i);
        tn_gen *made = NULL;
        char error[200] = "";
        size_t bytes = 0;
        tni_schema s;
        int slot[TNI_PARAMS], nfixed;
        if (!CHECK(tni_schema_gen(row, get, NULL, &made, &bytes, error, sizeof error)))
            printf("    %s: %s\n", row->name, error);
        if (!made) continue;
        CHECK(tni_schema_parse(&s, row->schema, error, sizeof error));
        if (!CHECK(
                same_tables(row->gen, made, row->grad ? tni_schema_slots(&s, slot, &nfixed) : 0)))
            printf("    %s\n", row->schema);
        free(made);
        compared++;
    }
    CHECK(tn_row_named("max.dim") && tn_row_named("max.dim") == tn_row_named("max_dim"));
    CHECK(!tn_row_named("max.dime") && !tn_row_named("max.di") && !tn_row_named(NULL));
    CHECK(compared > 200 && tn_row_at(-1) == NULL && tn_row_at(tn_row_count()) == NULL);
}

/* --- defaults --------------------------------------------------------------------------------- */

static const char *const rich =
    "rich(Tensor self, Tensor? bias=None, int n=-3, int? m=None, float x=0.5, float? y=None, "
    "float? z=2, bool yes=True, bool no=False, Scalar s=1e2, Scalar t=True, Scalar v=False, "
    "Scalar? u=None, "
    "int[] ints=[1, -2], int[2] pair=7, int[]? none=None, float[] reals=[0.5,inf,-inf], float[]? "
    "w=None, "
    "ScalarType d=float, ScalarType? e=None, Reduction r='mean', Reduction? q=None, str a=\"x, "
    "y)\", "
    "str b=word , str? c=None, Device? where=None) -> Tensor";
static const void *at(const tn_gen *g, const char *name) {
    for (int i = 0; i < g->nparam; i++)
        if (!strcmp(g->param[i].name, name)) return (const char *)g->defaults + g->param[i].offset;
    CHECK(g == NULL && name == NULL); /* there is no such parameter */
    return NULL;
}
#define AT(type, name) (*(const type *)at(g, name))

static void every_kind_of_default_is_read(void) {
    tn_row row;
    tn_gen *g = NULL;
    size_t bytes;
    char error[200];
    memset(&row, 0, sizeof row);
    row.schema = rich;
    if (!CHECK(tni_schema_gen(&row, get, NULL, &g, &bytes, error, sizeof error))) return;
    CHECK(AT(tn_tensor *, "bias") == NULL && AT(int64_t, "n") == -3);
    CHECK(AT(int64_t, "m") == TN_NONE && AT(double, "x") == 0.5);
    CHECK(AT(tn_maybe, "y").given == TN_ABSENT && AT(tn_maybe, "z").given == TN_GIVEN);
    CHECK(AT(tn_maybe, "z").value == 2);
    CHECK(AT(bool, "yes") && !AT(bool, "no") && AT(double, "s") == 100 && AT(double, "t") == 1);
    CHECK(AT(double, "v") == 0);
    CHECK(AT(tn_ints, "ints").n == 2 && AT(tn_ints, "ints").at[1] == -2);
    CHECK(AT(tn_ints, "pair").n == 1 && AT(tn_ints, "pair").at[0] == 7);
    CHECK(AT(tn_ints, "none").n == -1 && AT(tn_floats, "w").n == -1);
    CHECK(AT(tn_floats, "reals").n == 3 && AT(tn_floats, "reals").at[0] == 0.5);
    CHECK(AT(tn_floats, "reals").at[1] > 0 && isinf(AT(tn_floats, "reals").at[2]));
    CHECK(AT(int32_t, "d") == TN_F32 && AT(int32_t, "e") == 0);
    CHECK(AT(int32_t, "r") == 2 && AT(int32_t, "q") == 0 && AT(int32_t, "where") == 0);
    CHECK_TEXT(AT(char *, "a"), "x, y)");
    CHECK_TEXT(AT(char *, "b"), "word");
    CHECK(AT(char *, "c") == NULL);
    CHECK(!tni_schema_gen(&row, get_none, NULL, &g, &bytes, error, sizeof error));
    CHECK_TEXT(error, "out of memory for its tables");
    free(g);
}

static void what_a_schema_holds_is_known(void) {
    static const char text[] =
        "pair.of(Tensor(a!) self, Tensor(b) other, Tensor|Scalar x, Tensor?[] holes, (Tensor h, "
        "Tensor c)? hx=None, *, Module[] l, Module m, Generator? g=None) -> ((Tensor y, Tensor) "
        "state, Tensor z)";
    tni_schema s;
    char error[200] = "";
    int slot[TNI_PARAMS], nfixed;
    CHECK(!tni_schema_parse(&s, text, error, sizeof error));
    CHECK(strstr(error, "several results need names") != NULL);
    CHECK(tni_schema_parse(&s,
                           "f(Tensor(a!) self, Tensor(b) other, Tensor|Scalar x, Tensor?[] "
                           "holes, (Tensor h, Tensor c)? hx=None, *, (int p, int q) pq, "
                           "Module[] l, Module m) -> ((Tensor y, Tensor v) state, Tensor z)",
                           error, sizeof error));
    CHECK(s.nparam == 10 && s.nresults == 3 && s.base == 1 && !s.returns_list);
    CHECK(s.param[0].flags == TN_P_MUTATED && s.param[1].flags == 0);
    CHECK(s.param[2].flags == TN_P_NUMBER && s.param[2].number_offset > s.param[2].offset);
    CHECK(s.param[3].flags == TN_P_HOLES && s.param[3].type == TN_T_TENSORS);
    CHECK(tni_word_is(s.param[5].group, "hx") &&
          s.param[5].flags == (TN_P_OPTIONAL | TN_P_DEFAULT));
    CHECK(tni_word_is(s.param[6].group, "pq") && s.param[6].flags == TN_P_KEYWORD);
    CHECK(s.param[8].type == TN_T_MODULES && s.param[9].type == TN_T_MODULE);
    CHECK(tni_word_is(s.result_group[1], "state") && s.result_group[2].n == 0);
    CHECK(tni_schema_slots(&s, slot, &nfixed) == 6 && nfixed == 5 && slot[5] == 3);
    CHECK(tni_schema_parse(&s, " f.x() -> ()", error, sizeof error) && s.nresults == 0);
    CHECK(s.base == 1 && s.name.n == 3 && s.has_results && !tni_schema_has_required(&s));
    CHECK(tni_schema_parse(&s, "(Tensor x)", error, sizeof error) && !s.has_results);
    CHECK_EQ(tni_words(NULL, NULL, 0), 0);
}

/* --- refusals --------------------------------------------------------------------------------- */

static void what_does_not_parse_says_why(void) {
    static const char *const bad[][2] = {
        {"f Tensor", "column 3: '(' expected"},
        {"f(Tensr x) -> Tensor", "column 3: unknown type 'Tensr'"},
        {"f(bool[] x) -> Tensor", "lists of this type are not supported"},
        {"f(int?[] x) -> Tensor", "only a list of tensors may have absent elements"},
        {"f(int[2 x) -> Tensor", "']' expected"},
        {"f(bool? x) -> Tensor", "bool? is not supported"},
        {"f(Tensor(a! x", "a parameter needs a name"},
        {"f(int) -> Tensor", "a parameter needs a name"},
        {"f(int x, *, *, int y) -> Tensor", "a second '*'"},
        {"f(int x, int x) -> Tensor", "two parameters are named 'x'"},
        {"f(Tensor|Scalar x=None) -> Tensor", "does not match the parameter's type: 'None'"},
        {"f(Tensor|Scalar? x) -> Tensor", "Tensor|Scalar must be required: 'x'"},
        {"f(int x) -> int", "a result must be a Tensor, a Tensor[] or a bool"},
        {"f(int x) -> (Tensor a, Tensor a)", "two results are named 'a'"},
        {"f(int x) -> (Tensor[] a, Tensor b)", "a list or a bool must be the only result"},
        {"f(int x) -> (Tensor a", "')' expected"},
        {"f(int x) -> ((Tensor a, (Tensor b) c) d)", "tuples can be nested only once"},
        {"f(int x) -> ((int b) c)", "a result must be a Tensor, a Tensor[] or a bool"},
        {"f(int x", "',' or ')' expected"},
        {"f(int x) -> Tensor or not", "unexpected text after the end"},
        {"f(int x=) -> Tensor", "this default does not match"},
        {"f((int a int b) t) -> Tensor", "')' expected"},
        {"f((int) t) -> Tensor", "an element of a tuple needs a name"},
        {"f((Tensr a) t) -> Tensor", "unknown type 'Tensr'"},
        {"f((int a)) -> Tensor", "a tuple needs a name"},
        {"f((int a) t=None) -> Tensor",
         "the default of a tuple must be None, and its type must end in '?"},
        {"f((int a)? t=3) -> Tensor",
         "the default of a tuple must be None, and its type must end in '?"},
        {"f((int a, int a) t) -> Tensor", "two parameters are named 'a'"},
        {"f((int a,int b,int c,int d,int e,int f,int g,int h,int i) t)", "too many elements"},
        {"f(int x) -> (Tensor a,Tensor b,Tensor c,Tensor d,Tensor e,Tensor f,Tensor g,Tensor h,"
         "Tensor i)",
         "too many results"},
    };
    tni_schema s;
    char error[200];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error[0] = 0;
        if (!CHECK(!tni_schema_parse(&s, bad[i][0], error, sizeof error)) ||
            !CHECK(strstr(error, bad[i][1]) != NULL))
            printf("    %s: %s\n", bad[i][0], error);
    }
}
static void a_default_that_does_not_fit_is_refused(void) {
    static const char *const bad[] = {
        "int n=1.5",
        "int n=99999999999999999999",
        "int n=inf",
        "int n=None",
        "int n=[1]",
        "float x=1.5x",
        "float x=1x",
        "bool b=1",
        "Scalar s=one",
        "int[] l=[1",
        "int[] l=[1.5]",
        "int[] l=x",
        "int[] l=[1,2,3,4,5,6,7,8,9]",
        "float[] l=[a]",
        "int[] l=[",
        "int[] l=]",
        "ScalarType d=floaty",
        "Reduction r=min",
        "Reduction r='mean",
        "Reduction r='",
        "Tensor t=1",
        "Device d=cpu",
        "Generator g=1",
        "Module m=1",
        "int n=1111111111111111111111111111111111111111111111111111111111111111111111",
    };
    tni_schema s;
    char text[400], error[200];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "f(%s) -> Tensor", bad[i]);
        if (!CHECK(!tni_schema_parse(&s, text, error, sizeof error)) ||
            !CHECK(strstr(error, "this default does not match") != NULL))
            printf("    %s\n", text);
    }
}
static void too_many_parameters_are_refused(void) {
    tni_schema s;
    char text[800] = "f(", error[200];
    for (int i = 0; i < TNI_PARAMS + 1; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%sint p%d", i ? ", " : "", i);
    strcat(text, ") -> Tensor");
    CHECK(!tni_schema_parse(&s, text, error, sizeof error));
    CHECK(strstr(error, "too many parameters") != NULL);
    snprintf(text, sizeof text, "f(int[] l=[1%100s]) -> Tensor", ""); /* a list too long to read */
    CHECK(!tni_schema_parse(&s, text, error, sizeof error));
    CHECK(strstr(error, "this default does not match") != NULL);
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool no_check(tn_frame *f) { return tn_fail(f, TN_INTERNAL, "never called"); }
static void no_run(tn_frame *f) { (void)f; }

static void a_row_beyond_the_limits_is_refused(void) {
    static const struct {
        const char *schema, *needs, *saves;
        uint32_t forms;
        const char *text;
    } bad[] = {
        {"(Tensor x) -> Tensor", NULL, NULL, 0, "no name"},
        {"f(Tensor a,Tensor b,Tensor c,Tensor d,Tensor e,Tensor f,Tensor g,Tensor h,Tensor i) -> "
         "Tensor",
         NULL, NULL, 0, "more than 8 tensors"},
        {"f(Tensor|Scalar a, Tensor|Scalar b, Tensor|Scalar c, Tensor|Scalar d) -> Tensor", NULL,
         NULL, 0, "more than 3 Tensor|Scalar"},
        {"f(int[] a,int[] b,int[] c,int[] d,int[] e,int[] f,int[] g,int[] h,int[] i,int[] j,int[] "
         "k,int[] l,int[] m,int[] n,int[] o,int[] p,int[] q,int[] r,int[] s,int[] t,int[] u,int[] "
         "v,int[] w,int[] x,int[] y,int[] z,int[] ab,int[] bb) -> Tensor",
         NULL, NULL, 0, "too many arguments"},
        {"f(Tensor x)", NULL, NULL, 0, "expected '->'"},
        {"f(int x) -> (Tensor a,Tensor b,Tensor c,Tensor d,Tensor e,Tensor f,Tensor g)", NULL, NULL,
         0, "more than 6 results"},
        {"f(Tensor x) -> Tensor[]", NULL, NULL, TN_OUT, "a list result cannot have out="},
        {"f(Tensor x) -> ()", NULL, NULL, TN_OUT, "out= takes 1 to 4 results"},
        {"f(int x) -> (Tensor a,Tensor b,Tensor c,Tensor d,Tensor e)", NULL, NULL, TN_OUT,
         "out= takes 1 to 4 results"},
        {"f(Tensor x) -> Tensor[]", NULL, NULL, TN_INPLACE, "an in-place form needs"},
        {"f(Tensor x) -> (Tensor a, Tensor b)", NULL, NULL, TN_INPLACE, "an in-place form needs"},
        {"f(int x) -> Tensor", NULL, NULL, TN_INPLACE, "an in-place form needs"},
        {"f() -> Tensor", NULL, NULL, TN_INPLACE, "an in-place form needs"},
        {"f(Tensor x) -> Tensor", "y:x", NULL, 0, "needs: no tensor is named 'y'"},
        {"f(Tensor x) -> Tensor", "x:y", NULL, 0, "needs: no input, result or save is named 'y'"},
        {"f(Tensor x) -> Tensor", "y", "a b", 0, "needs: no input, result or save is named 'y'"},
        {"f(Tensor x) -> Tensor", NULL, "a b c d e f g h i", 0,
         "saves: more than 6 together with the results"},
        {NULL, NULL, NULL, 0, "needs a name and a schema"},
    };
    tn_error_info e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tn_row row;
        memset(&row, 0, sizeof row);
        row.name = "never", row.schema = bad[i].schema, row.forms = bad[i].forms;
        row.needs = bad[i].needs, row.saves = bad[i].saves, row.check = no_check, row.run = no_run;
        if (!CHECK(!tn_register(&row)) || !CHECK(tn_error_take(&e) && e.code == TN_INVALID) ||
            !CHECK(strstr(e.message, bad[i].text) != NULL))
            printf("    %s: %s\n", bad[i].schema, e.message);
        CHECK(row.gen == NULL && !tn_row_named("never"));
    }
}
static void half_a_row_is_refused(void) {
    tn_error_info e;
    tn_row row;
    memset(&row, 0, sizeof row);
    row.name = "never", row.schema = "never(Tensor x) -> Tensor";
    CHECK(!tn_register(&row) && tn_error_take(&e) && strstr(e.message, "check and run"));
    row.check = no_check;
    CHECK(!tn_register(&row) && tn_error_take(&e) && strstr(e.message, "check and run"));
    row.check = NULL, row.run = no_run;
    CHECK(!tn_register(&row) && tn_error_take(&e) && strstr(e.message, "check and run"));
    row.check = no_check, row.schema = "nev(Tensr x) -> Tensor";
    CHECK(!tn_register(&row) && tn_error_take(&e) && strstr(e.message, "unknown type 'Tensr'"));
    row.name = NULL;
    CHECK(!tn_register(&row) && tn_error_take(&e) && strstr(e.message, "a name and a schema"));
}
/* needs: slots by name, saves and results as bits; a space ends a slot's list. */
static void needs_become_masks(void) {
    tni_schema s;
    uint64_t m[TNI_PARAMS];
    char error[200];
    CHECK(tni_schema_parse(&s, "f(Tensor a, int n, Tensor b, Tensor[] l) -> (Tensor x, Tensor y)",
                           error, sizeof error));
    CHECK(tni_schema_needs(&s, "u, v", "a:b,x  b:v l", m, error, sizeof error));
    CHECK(m[0] == (2 | (uint64_t)1 << 32 | 4) && m[1] == ((uint64_t)1 << 35 | 4) && m[2] == 4);
    CHECK(tni_schema_needs(&s, NULL, NULL, m, error, sizeof error) && !m[0] && !m[1] && !m[2]);
}

static void a_schema_of_ones_own_is_made_and_freed(void) {
    tn_error_info e;
    tn_gen *g = tn_schema_new("Block(int d, float p=0.25) -> Tensor");
    CHECK(g && g->nparam == 2 && AT(double, "p") == 0.25);
    tn_schema_free(g);
    tn_schema_free(NULL);
    CHECK(!tn_schema_new("Block(int d") && tn_error_take(&e) && e.code == TN_INVALID);
    CHECK(strstr(e.message, "schema \"Block(int d\": column 12: ',' or ')' expected") != NULL);
    CHECK(!tn_schema_new(NULL) && tn_error_take(&e) && strstr(e.message, "\"NULL\": missing"));
}

int main(int argc, char **argv) {
    static const check_test tests[] = {
        CHECK_TEST(tables_made_at_run_time_are_the_generators),
        CHECK_TEST(every_kind_of_default_is_read),
        CHECK_TEST(what_a_schema_holds_is_known),
        CHECK_TEST(what_does_not_parse_says_why),
        CHECK_TEST(a_default_that_does_not_fit_is_refused),
        CHECK_TEST(too_many_parameters_are_refused),
        CHECK_TEST(a_row_beyond_the_limits_is_refused),
        CHECK_TEST(half_a_row_is_refused),
        CHECK_TEST(needs_become_masks),
        CHECK_TEST(a_schema_of_ones_own_is_made_and_freed),
    };
    int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(NULL);
    return failed;
}
