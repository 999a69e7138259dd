/* sample.c - does a row's sample fit its schema? The grammar: samples separated by " | ", each a
 * list of `[name=]value`, positional in schema order; values:
 *
 *     (2,3) ():f64 (4)<3     a tensor, its dtype, bound of random integers     {(2,3),(4,3)}  a
 *                            list of tensors
 *     (4,4):pd (9):bool<0.2  a structure of tests/ops/elements.h; how many are true
 *     [1,-1] [0.5]           lists of numbers      3 0.5 True False None       mean float64   a
 *                            word */
#include "optable.h"

#include "../../tests/ops/elements.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool number_fits(const char *value, bool whole) {
    char *end;
    if (whole)
        (void)strtoll(value, &end, 10);
    else
        (void)strtod(value, &end);
    return end != value && !*end;
}

static bool tensor_fits(const char *value) {
    static const char dtypes[] = " f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool c64 c128 ";
    const char *end = *value == '(' ? strchr(value, ')') : NULL;
    int64_t size[TN_MAX_DIMS];
    int ndim = 0, structure = 0;
    if (!end || strspn(value + 1, "0123456789,") != (size_t)(end - value - 1)) return false;
    for (const char *at = value + 1; at < end && ndim < TN_MAX_DIMS; at++)
        size[ndim++] = strtoll(at, (char **)(uintptr_t)&at, 10);
    for (end++; *end == ':'; end += strcspn(end, ":<")) {
        const char *word = text_copy(end + 1, strcspn(end + 1, ":<"));
        const int named = elements_structure_named(word);
        if (!named && !strstr(dtypes, text_format(" %s ", word))) return false;
        structure = named ? named : structure;
        end++;
    }
    return elements_fit(structure, ndim, size) &&
           (!*end || (*end == '<' && number_fits(end + 1, false)));
}

/* "[1,-1]" or "{(2),(3)}": each member by its own rule. */
static bool list_fits(const char *value, char open, char close, bool (*fits)(const char *, bool),
                      bool whole) {
    size_t n = strlen(value);
    if (n < 2 || value[0] != open || value[n - 1] != close) return false;
    for (const char *at = value + 1; at < value + n - 1;) {
        int depth = 0;
        const char *end = at;
        while (end < value + n - 1 && (depth || *end != ',')) {
            depth += (*end == '(') - (*end == ')');
            end++;
        }
        if (!fits(text_copy(at, (size_t)(end - at)), whole)) return false;
        at = end + 1;
    }
    return true;
}
static bool member_fits(const char *value, bool holes) {
    return tensor_fits(value) || (holes && !strcmp(value, "None"));
}

static bool truth_fits(const tni_schema_param *p, const char *value) {
    (void)p;
    return !strcmp(value, "True") || !strcmp(value, "False");
}
static bool whole_fits(const tni_schema_param *p, const char *value) {
    (void)p;
    return number_fits(value, true);
}
static bool real_fits(const tni_schema_param *p, const char *value) {
    (void)p;
    return number_fits(value, false);
}
static bool scalar_fits(const tni_schema_param *p, const char *value) {
    return truth_fits(p, value) || number_fits(value, false);
}
static bool operand_fits(const tni_schema_param *p, const char *value) {
    return tensor_fits(value) || ((p->flags & TN_P_NUMBER) && scalar_fits(p, value));
}
static bool operands_fit(const tni_schema_param *p, const char *value) {
    return list_fits(value, '{', '}', member_fits, (p->flags & TN_P_HOLES) != 0);
}
static bool wholes_fit(const tni_schema_param *p, const char *value) {
    return whole_fits(p, value) || list_fits(value, '[', ']', number_fits, true);
}
static bool reals_fit(const tni_schema_param *p, const char *value) {
    return real_fits(p, value) || list_fits(value, '[', ']', number_fits, false);
}
static bool name_fits(const tni_schema_param *p, const char *value) {
    (void)p;
    return isalpha((unsigned char)*value) != 0;
}
static bool word_fits(const tni_schema_param *p, const char *value) {
    for (int i = 0; p->words->words[i]; i++)
        if (!strcmp(p->words->words[i], value)) return true;
    return false;
}

/* The ways of TN_TYPES; of those without a rule a sample has None alone. */
#define SAMPLE_WAY_TENSOR operand_fits
#define SAMPLE_WAY_TENSORS operands_fit
#define SAMPLE_WAY_WHOLE whole_fits
#define SAMPLE_WAY_REAL real_fits
#define SAMPLE_WAY_MAYBE real_fits
#define SAMPLE_WAY_TRUTH truth_fits
#define SAMPLE_WAY_NUMBER scalar_fits
#define SAMPLE_WAY_WHOLES wholes_fit
#define SAMPLE_WAY_REALS reals_fit
#define SAMPLE_WAY_DTYPE name_fits
#define SAMPLE_WAY_STRING name_fits
#define SAMPLE_WAY_WORD word_fits
#define SAMPLE_WAY_DEVICE NULL
#define SAMPLE_WAY_GENERATOR NULL
#define SAMPLE_WAY_MODULE NULL
#define SAMPLE_WAY_MODULES NULL
static bool (*const sample_fits[TN_TYPE_COUNT])(const tni_schema_param *,
                                                const char *) = {NULL,
#define SAMPLE_TYPE(NAME, text, list, c, cxx, lies, traits, way) SAMPLE_WAY_##way,
                                                                 TN_TYPES(SAMPLE_TYPE)
#undef SAMPLE_TYPE
};

static bool value_fits(const tni_schema_param *p, const char *value) {
    if (!strcmp(value, "None")) return (p->flags & TN_P_OPTIONAL) != 0;
    return sample_fits[p->type] && sample_fits[p->type](p, value);
}

static int parameter_named(const row *r, const char *name, size_t n) {
    for (int i = 0; i < r->s.nparam; i++)
        if ((size_t)r->s.param[i].name.n == n && !memcmp(r->s.param[i].name.at, name, n)) return i;
    return -1;
}

static void read_item(const row *r, const char *item, int *position, uint64_t *given) {
    size_t n = strcspn(item, "=([{");
    bool keyword = item[n] == '=';
    int i = keyword ? parameter_named(r, item, n) : (*position)++;
    const char *value = keyword ? item + n + 1 : item;
    if (i < 0 || i >= r->s.nparam)
        fault(r->file, r->line, "%s: .sample: no parameter for '%s'", r->name, item);
    else if (*given >> i & 1)
        fault(r->file, r->line, "%s: .sample: '%s' is given twice", r->name, item);
    else if (!value_fits(&r->s.param[i], value))
        fault(r->file, r->line, "%s: .sample: '%s' does not fit '%.*s'", r->name, value,
              r->s.param[i].name.n, r->s.param[i].name.at);
    if (i >= 0 && i < r->s.nparam) *given |= (uint64_t)1 << i;
}

void read_sample(const row *r) {
    for (const char *at = r->sample; *at;) {
        uint64_t given = 0;
        int position = 0;
        while (*at && *at != '|') {
            size_t n = strcspn(at, " |");
            if (n) read_item(r, text_copy(at, n), &position, &given);
            at += n ? n : 1;
        }
        for (int i = 0; i < r->s.nparam; i++)
            if (!(r->s.param[i].flags & TN_P_DEFAULT) && !(given >> i & 1))
                fault(r->file, r->line, "%s: .sample: a sample lacks '%.*s'", r->name,
                      r->s.param[i].name.n, r->s.param[i].name.at);
        if (*at) at++;
    }
}
