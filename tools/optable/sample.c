/* sample.c - does a row's sample fit its schema? The grammar: samples separated by " | ", each a
 * list of `[name=]value`, positional in schema order; values:
 *
 *     (2,3) ():f64 (4)<3     a tensor, its dtype, bound of random integers     {(2,3),(4,3)}  a
 *                            list of tensors
 *     [1,-1] [0.5]           lists of numbers      3 0.5 True False None       mean float64   a
 *                            word */
#include "optable.h"

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
    if (!end || strspn(value + 1, "0123456789,") != (size_t)(end - value - 1)) return false;
    if (*++end == ':') {
        size_t n = strcspn(end + 1, "<");
        if (!strstr(dtypes, text_format(" %.*s ", (int)n, end + 1))) return false;
        end += 1 + n;
    }
    return !*end || (*end == '<' && number_fits(end + 1, true));
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

static bool value_fits(const tni_schema_param *p, const char *value) {
    bool truth = !strcmp(value, "True") || !strcmp(value, "False");
    if (!strcmp(value, "None")) return (p->flags & TN_P_OPTIONAL) != 0;
    switch (p->type) {
    case TN_T_TENSOR:
        return tensor_fits(value) ||
               ((p->flags & TN_P_NUMBER) && (truth || number_fits(value, false)));
    case TN_T_TENSORS: return list_fits(value, '{', '}', member_fits, (p->flags & TN_P_HOLES) != 0);
    case TN_T_INTS:
        return number_fits(value, true) || list_fits(value, '[', ']', number_fits, true);
    case TN_T_FLOATS:
        return number_fits(value, false) || list_fits(value, '[', ']', number_fits, false);
    case TN_T_INT: return number_fits(value, true);
    case TN_T_FLOAT: return number_fits(value, false);
    case TN_T_SCALAR: return truth || number_fits(value, false);
    case TN_T_BOOL: return truth;
    case TN_T_DTYPE:
    case TN_T_STRING: return isalpha((unsigned char)*value) != 0;
    case TN_T_ENUM:
        for (int i = 0; p->words->words[i]; i++)
            if (!strcmp(p->words->words[i], value)) return true;
        return false;
    default: return false; /* a device or generator is None */
    }
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
