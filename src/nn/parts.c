/* parts.c - reader of the texts of module rows, and the calculator of their expressions. */
#include "parts.h"

#include <string.h>

/* --- words ------------------------------------------------------------------------------------ */

static bool parts_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }
static bool parts_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool parts_digit(char c) { return c >= '0' && c <= '9'; }

/* A span without the spaces around it. */
static tni_span parts_trim(tni_span s) {
    while (s.n > 0 && parts_space(s.at[0])) {
        s.at++;
        s.n--;
    }
    while (s.n > 0 && parts_space(s.at[s.n - 1])) s.n--;
    return s;
}

TN_PRIV bool tni_span_is(tni_span s, const char *text) {
    return (size_t)s.n == strlen(text) && memcmp(s.at, text, (size_t)s.n) == 0;
}

TN_PRIV bool tni_span_is_name(tni_span s) {
    for (int i = 0; i < s.n; i++)
        if (!parts_letter(s.at[i]) && !(i > 0 && parts_digit(s.at[i]))) return false;
    return s.n > 0;
}

TN_PRIV bool tni_item_next(tni_span *list, tni_span *item) {
    tni_span rest = parts_trim(*list);
    int depth = 0, i = 0;
    if (rest.n == 0) return false;
    /* A comma inside of parentheses or brackets belongs to the item. */
    for (; i < rest.n && (depth > 0 || rest.at[i] != ','); i++)
        depth +=
            (rest.at[i] == '(' || rest.at[i] == '[') - (rest.at[i] == ')' || rest.at[i] == ']');
    item->at = rest.at;
    item->n = i;
    *item = parts_trim(*item);
    /* The rest begins behind the comma. */
    list->at = rest.at + i + (i < rest.n);
    list->n = rest.n - i - (i < rest.n);
    return true;
}

TN_PRIV void tni_item_split(tni_span item, tni_span *name, tni_span *value) {
    name->at = item.at;
    name->n = 0;
    *value = item;
    for (int i = 0; i < item.n; i++) {
        if (item.at[i] != '=') continue;
        tni_span left = {item.at, i};
        left = parts_trim(left);
        /* Only "name =" is a name: "a == b" and "a[0] <= b" are expressions as a whole. */
        if (!tni_span_is_name(left) || (i + 1 < item.n && item.at[i + 1] == '=')) return;
        *name = left;
        value->at = item.at + i + 1;
        value->n = item.n - i - 1;
        *value = parts_trim(*value);
        return;
    }
}

/* --- parts ------------------------------------------------------------------------------------ */

static const char *parts_skip(const char *at) {
    while (parts_space(*at)) at++;
    return at;
}

/* The name or word that begins at *at, which moves behind it; n = 0 if there is none. */
static tni_span parts_word(const char **at) {
    tni_span w = {parts_skip(*at), 0};
    while (parts_letter(w.at[w.n]) || (w.n > 0 && parts_digit(w.at[w.n]))) w.n++;
    *at = w.at + w.n;
    return w;
}

/* The text between "(" at *at and its ")"; *at moves behind it. false if the parentheses
 * do not match. */
static bool parts_inside(const char **at, tni_span *inside) {
    const char *start = parts_skip(*at), *end = start;
    int depth = 0;
    if (*start != '(') return false;
    do depth += (*end == '(') - (*end == ')');
    while (*end++ && depth > 0);
    if (depth > 0) return false;
    inside->at = start + 1;
    inside->n = (int)(end - start) - 2;
    *at = end;
    return true;
}

static int parts_bad(const char **error, const char *what) {
    *error = what;
    return -1;
}

/* [kind] name. The first word is a kind only if a name follows, so a part may
 * be called `buffer`. */
static void parts_head(const char **at, tni_part_text *p) {
    static const char *const kinds[] = {"param", "buffer", "transient", "child"};
    p->kind = TNI_SPAN_PARAM;
    p->name = parts_word(at);
    for (int k = 0; k < 4; k++) {
        const char *next = *at;
        tni_span name = parts_word(&next);
        if (!tni_span_is(p->name, kinds[k]) || name.n == 0) continue;
        p->kind = k + 1;
        p->name = name;
        *at = next;
        return;
    }
}

/* Skips the ";" behind a part, which the last part need not have. */
static int parts_end(const char **at, const char **error) {
    *at = parts_skip(*at);
    if (**at && **at != ';') return parts_bad(error, "expected ';'");
    *at += **at == ';';
    return 1;
}

TN_PRIV int tni_part_next(const char **at, tni_part_text *p, const char **error) {
    memset(p, 0, sizeof *p);
    *at = parts_skip(*at);
    if (**at == 0) return 0;
    parts_head(at, p);
    if (p->name.n == 0) return parts_bad(error, "expected a name");
    *at = parts_skip(*at);
    /* Behind the name: the class of a child, the dtype of a tensor, or the option that
     * is the tensor. */
    if (p->kind == TNI_SPAN_CHILD) {
        if (**at != '=') return parts_bad(error, "expected '=' after a child's name");
        ++*at;
        p->type = parts_word(at);
        if (p->type.n == 0) return parts_bad(error, "expected a class name");
    } else if (**at == ':') {
        ++*at;
        p->dtype = parts_word(at);
        if (p->dtype.n == 0) return parts_bad(error, "expected a dtype");
    } else if (**at == '=') {
        ++*at;
        p->given = parts_word(at);
        if (p->given.n == 0) return parts_bad(error, "expected an option after '='");
        return parts_end(at, error);
    }
    if (!parts_inside(at, &p->items)) return parts_bad(error, "expected a list in parentheses");
    /* The condition reaches to the end of the part and is not parsed here. */
    const char *next = *at;
    if (tni_span_is(parts_word(&next), "if")) {
        p->condition.at = *at = next;
        while (**at && **at != ';') ++*at;
        p->condition.n = (int)(*at - next);
        p->condition = parts_trim(p->condition);
        if (p->condition.n == 0) return parts_bad(error, "expected a condition after if");
    }
    return parts_end(at, error);
}

/* --- expressions ------------------------------------------------------------------------------ */

/* A calculator by recursive descent: one function for each level of precedence, from
 * parts_choice (?: and ||) down to parts_unary. Each reads its operators off c->at and gives the
 * value. The first error stays in c->error and moves c->at to the end, so every loop stops
 * without further tests. */
enum { PARTS_DEPTH = 48 }; /* of parentheses, unary signs and ?:, so that the stack is bounded */

typedef struct parts_calc {
    const char *at, *end, *error;
    tni_lookup lookup;
    void *user;
    int depth;
} parts_calc;

static tni_figure parts_choice(parts_calc *c);

static tni_figure parts_int(int64_t value) {
    tni_figure v = {TNI_FIGURE_INT, value, 0};
    return v;
}
static tni_figure parts_none(void) {
    tni_figure v = {TNI_FIGURE_NONE, 0, 0};
    return v;
}
/* Keeps the first error, and ends the reading: nothing follows at c->end. */
static tni_figure parts_fail(parts_calc *c, const char *what) {
    if (!c->error) c->error = what;
    c->at = c->end;
    return parts_none();
}

TN_PRIV bool tni_figure_true(tni_figure v) {
    return v.kind == TNI_FIGURE_INT ? v.value != 0 : v.kind == TNI_FIGURE_FLOAT && v.real != 0;
}

/* Reads a sign off the text, after spaces; false, without moving past the spaces' end,
 * if another follows. */
static bool parts_sign(parts_calc *c, const char *sign) {
    size_t n = strlen(sign);
    while (c->at < c->end && parts_space(*c->at)) c->at++;
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, sign, n) != 0) return false;
    c->at += n;
    return true;
}

static tni_figure parts_digits(parts_calc *c) {
    int64_t v = 0;
    for (; c->at < c->end && parts_digit(*c->at); c->at++) {
        /* One digit more always fits below this bound. */
        if (v > (INT64_MAX - 9) / 10) return parts_fail(c, "a number is too large");
        v = v * 10 + (*c->at - '0');
    }
    return parts_int(v);
}

/* A named value: a constant, an option, or a number of an int-list option by its index. */
static tni_figure parts_named(parts_calc *c) {
    tni_span name = {c->at, 0};
    tni_figure v = parts_none();
    int64_t index = -1;
    while (c->at < c->end && (parts_letter(*c->at) || parts_digit(*c->at))) c->at++;
    name.n = (int)(c->at - name.at);
    if (tni_span_is(name, "None")) return v;
    if (tni_span_is(name, "True")) return parts_int(1);
    if (tni_span_is(name, "False")) return parts_int(0);
    /* An index is an expression of its own. */
    if (parts_sign(c, "[")) {
        tni_figure i = parts_choice(c);
        if (i.kind != TNI_FIGURE_INT || i.value < 0)
            return parts_fail(c, "an index must be a non-negative integer");
        if (!parts_sign(c, "]")) return parts_fail(c, "expected ']'");
        index = i.value;
    }
    if (!c->lookup || !c->lookup(c->user, name, index, &v))
        return parts_fail(c, "expected the name of a number");
    return v;
}

static tni_figure parts_unary(parts_calc *c) {
    tni_figure v;
    if (c->depth >= PARTS_DEPTH) return parts_fail(c, "nested too deeply");
    c->depth++;
    /* A value is an expression in parentheses, a value with a sign, a number, or a name. */
    if (parts_sign(c, "(")) {
        v = parts_choice(c);
        if (!parts_sign(c, ")")) v = parts_fail(c, "expected ')'");
    } else if (parts_sign(c, "!")) {
        v = parts_int(!tni_figure_true(parts_unary(c)));
    } else if (parts_sign(c, "-")) {
        v = parts_unary(c);
        if (v.kind != TNI_FIGURE_INT || v.value == INT64_MIN)
            v = parts_fail(c, "- needs an integer");
        v.value = -v.value;
    } else if (c->at < c->end && parts_digit(*c->at)) {
        v = parts_digits(c);
    } else if (c->at < c->end && parts_letter(*c->at)) {
        v = parts_named(c);
    } else {
        v = parts_fail(c, "expected a value");
    }
    /* Every way out of a deeper level comes through here. */
    c->depth--;
    return v;
}

/* a * b without overflow; false if it does not fit. base/ has the same, but the generator links
 * this file without it. */
static bool parts_mul(int64_t a, int64_t b, int64_t *to) {
    if (a > 0 ? (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a)
              : (b > 0 ? a < INT64_MIN / b : a && b < INT64_MAX / a))
        return false;
    *to = a * b;
    return true;
}

/* Python's // and %: rounded down. */
static tni_figure parts_divide(parts_calc *c, int64_t a, int64_t b, bool rest) {
    if (b == 0) return parts_fail(c, "division by zero");
    /* INT64_MIN / -1 overflows, and its remainder traps on x86. */
    if (b == -1)
        return rest ? parts_int(0) : a == INT64_MIN ? parts_fail(c, "overflow") : parts_int(-a);
    /* C rounds to zero: one less where the division is not exact and the signs differ. */
    int64_t q = a / b - (a % b != 0 && (a % b < 0) != (b < 0));
    return parts_int(rest ? a - q * b : q);
}

/* a op b, for integers; op is one of * / % + - */
static tni_figure parts_op(parts_calc *c, char op, tni_figure a, tni_figure b) {
    int64_t r = 0;
    bool fits;
    /* An operand failed: its None would give a second error. */
    if (c->error) return parts_none();
    if (a.kind != TNI_FIGURE_INT || b.kind != TNI_FIGURE_INT)
        return parts_fail(c, "arithmetic needs integers");
    if (op == '/' || op == '%') return parts_divide(c, a.value, b.value, op == '%');
    /* INT64_MAX - b and the like cannot overflow for a b of this sign. */
    if (op == '*')
        fits = parts_mul(a.value, b.value, &r);
    else if (op == '+')
        fits = b.value > 0 ? a.value <= INT64_MAX - b.value : a.value >= INT64_MIN - b.value;
    else
        fits = b.value < 0 ? a.value <= INT64_MAX + b.value : a.value >= INT64_MIN + b.value;
    if (!fits) return parts_fail(c, "overflow");
    return parts_int(op == '*' ? r : op == '+' ? a.value + b.value : a.value - b.value);
}

/* Operators of one level, from left to right. */
static tni_figure parts_product(parts_calc *c) {
    tni_figure v = parts_unary(c);
    for (;;) {
        char op = parts_sign(c, "*")   ? '*'
                  : parts_sign(c, "/") ? '/'
                  : parts_sign(c, "%") ? '%'
                                       : 0;
        if (!op) return v;
        v = parts_op(c, op, v, parts_unary(c));
    }
}

static tni_figure parts_sum(parts_calc *c) {
    tni_figure v = parts_product(c);
    for (;;) {
        char op = parts_sign(c, "+") ? '+' : parts_sign(c, "-") ? '-' : 0;
        if (!op) return v;
        v = parts_op(c, op, v, parts_product(c));
    }
}

static tni_figure parts_compare(parts_calc *c) {
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">"};
    tni_figure a = parts_sum(c), b;
    int k = 0;
    /* "<=" and ">=" are tried before "<" and ">". */
    while (k < 6 && !parts_sign(c, signs[k])) k++;
    if (k == 6) return a;
    b = parts_sum(c);
    /* Numbers compare as doubles if one of them is a float. None equals None alone. */
    if (a.kind == TNI_FIGURE_FLOAT || b.kind == TNI_FIGURE_FLOAT) {
        double x = a.kind == TNI_FIGURE_FLOAT ? a.real : (double)a.value;
        double y = b.kind == TNI_FIGURE_FLOAT ? b.real : (double)b.value;
        bool both = a.kind != TNI_FIGURE_NONE && b.kind != TNI_FIGURE_NONE;
        if (!both) return k < 2 ? parts_int(k == 1) : parts_fail(c, "None cannot be ordered");
        return parts_int(k == 0   ? x == y
                         : k == 1 ? x != y
                         : k == 2 ? x <= y
                         : k == 3 ? x >= y
                         : k == 4 ? x < y
                                  : x > y);
    }
    if (k < 2) return parts_int((a.kind == b.kind && a.value == b.value) == (k == 0));
    if (a.kind != b.kind || a.kind != TNI_FIGURE_INT)
        return parts_fail(c, "None cannot be ordered");
    return parts_int(k == 2   ? a.value <= b.value
                     : k == 3 ? a.value >= b.value
                     : k == 4 ? a.value < b.value
                              : a.value > b.value);
}

/* The value of && is 0 or 1 as in C, not an operand as in Python. */
static tni_figure parts_and(parts_calc *c) {
    tni_figure v = parts_compare(c);
    while (parts_sign(c, "&&")) {
        tni_figure w = parts_compare(c);
        v = parts_int(tni_figure_true(v) && tni_figure_true(w));
    }
    return v;
}

/* Both sides of ||, && and ?: are calculated: that has no effect, and an error in either
 * is an error. */
static tni_figure parts_choice(parts_calc *c) {
    tni_figure v = parts_and(c), yes, no;
    while (parts_sign(c, "||")) {
        tni_figure w = parts_and(c);
        v = parts_int(tni_figure_true(v) || tni_figure_true(w));
    }
    if (!parts_sign(c, "?")) return v;
    if (c->depth++ >= PARTS_DEPTH) return parts_fail(c, "nested too deeply");
    yes = parts_choice(c);
    if (!parts_sign(c, ":")) return parts_fail(c, "expected ':'");
    no = parts_choice(c);
    c->depth--;
    return tni_figure_true(v) ? yes : no;
}

TN_PRIV bool tni_expression(tni_span text, tni_lookup lookup, void *user, tni_figure *to,
                            const char **error) {
    parts_calc c = {text.at, text.at + text.n, NULL, lookup, user, 0};
    *to = parts_choice(&c);
    /* Spaces may follow the expression, but nothing else. */
    while (c.at < c.end && parts_space(*c.at)) c.at++;
    if (!c.error && c.at != c.end) c.error = "unexpected text after the expression";
    if (c.error) *error = c.error;
    return !c.error;
}
