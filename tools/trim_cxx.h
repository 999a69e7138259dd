/* trim_cxx.h - what C++ sources call, for trim.c: which words are calls, and which operators may
 * have a tensor beside them.
 *
 * A token of an operator counts unless the text shows that it is another: a bracket of a template,
 * a '&' behind a type, arithmetic of numbers alone, the '<<' of a stream. A name is a number if
 * every declaration of it in the sources has a type of C; what is not understood counts. */
#include "trim_cut.h"

typedef enum token_kind { BREAK, NAME, NUMBER, STRING, SIGN } token_kind;
typedef struct source_token {
    token_kind kind;
    const char *at;
    int n, id;     /* id: of a name */
    int match;     /* the other bracket; -1: none */
    bool define;   /* within #define */
    bool angle;    /* '<' or '>' as a bracket of a template */
    bool adjacent; /* to the token before */
} source_token;
static source_token *tokens;
static int ntokens, token_room;

/* How names are declared in the sources, and what the headers have under them. */
enum {
    AS_NUMBER = 1,
    AS_STREAM = 2,
    AS_OTHER = 4,
    AS_TYPE = 8,
    AS_TEMPLATE = 16,
    HEADERS_OWN = 32,
    FUNCTION = 64
};
static unsigned char *declared;
static int ndeclared;

static bool one_of(const char *words, const char *p, int n) { /* "a b c " */
    for (const char *w = words; *w; w += strcspn(w, " ") + 1)
        if ((int)strcspn(w, " ") == n && memcmp(w, p, (size_t)n) == 0) return true;
    return false;
}
static bool sign(int k, const char *what) {
    return k >= 0 && k < ntokens && tokens[k].kind == SIGN &&
           is(tokens[k].at, (size_t)tokens[k].n, what);
}
static bool any_sign(int k, const char *texts) {
    return k >= 0 && k < ntokens && tokens[k].kind == SIGN &&
           one_of(texts, tokens[k].at, tokens[k].n);
}
static bool word(int k, const char *words) {
    return k >= 0 && k < ntokens && tokens[k].kind == NAME &&
           one_of(words, tokens[k].at, tokens[k].n);
}
static bool is_kind(int k, token_kind t) { return k >= 0 && k < ntokens && tokens[k].kind == t; }
static bool builtin(int k) {
    return word(k, "bool char short int long float double signed unsigned void size_t ptrdiff_t "
                   "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t ");
}
static bool keyword(int k) { /* an operand may follow it, and it declares nothing */
    return word(k,
                "return case else do throw new delete sizeof co_return co_yield co_await goto not "
                "and or if while switch for and_eq or_eq ");
}

/* --- tokens ----------------------------------------------------------------------------------- */

static void add_token(token_kind of, const char *at, int n, bool define, bool adjacent) {
    if (ntokens == token_room) {
        token_room = 2 * token_room + 4096;
        tokens = (source_token *)grown(tokens, (size_t)token_room * sizeof *tokens);
    }
    source_token *t = &tokens[ntokens++];
    memset(t, 0, sizeof *t);
    t->kind = of, t->at = at, t->n = n, t->match = -1, t->define = define;
    t->adjacent = adjacent;
    if (of == NAME) t->id = name_of(at, (size_t)n);
}

/* The length of the operator at p. Closing brackets of templates stand one by one: ">>" is two. */
static int sign_length(const char *p) {
    static const char *const longer[] = {
        "<<=", "->*", "...", "<=>", "->", "++", "--", "<<", "<=", ">=", "==", "!=", "&&",
        "||",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "::", ".*", "##"};
    for (size_t k = 0; k < sizeof longer / sizeof longer[0]; k++)
        if (starts(p, longer[k])) return (int)strlen(longer[k]);
    return 1;
}
/* A raw string, R"x(..)x"; NULL: another text. */
static const char *after_raw(const char *p) {
    char close[20];
    if (!starts(p, "R\"") || strcspn(p + 2, "(") > 16) return NULL;
    snprintf(close, sizeof close, ")%.*s\"", (int)strcspn(p + 2, "("), p + 2);
    const char *end = strstr(p + 2, close);
    return end ? end + strlen(close) : NULL;
}
static void tokens_of(const char *p, const char *end, bool define) {
    const char *start = p, *before = NULL;
    add_token(BREAK, p, 0, define, false);
    while (p < end) {
        const char *from = p, *raw;
        token_kind of = SIGN;
        if (!define && is_directive(start, p)) {
            p = after_directive(p);
            if (starts(skip_space(from + 1), "define"))
                tokens_of(skip_space(from + 1) + 6, p, true);
            continue;
        }
        if (is_comment(p) || isspace((unsigned char)*p) || *p == '\\') {
            p = is_comment(p) ? after_comment(p) : p + 1;
            continue;
        }
        if ((raw = after_raw(p)) != NULL)
            of = STRING, p = raw;
        else if (*p == '"' || *p == '\'')
            of = *p == '"' ? STRING : NUMBER, p = after_string(p);
        else if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) {
            for (of = NUMBER; is_name(*p) || *p == '.' || (*p == '\'' && is_name(p[1])) ||
                              (strchr("+-", *p) && strchr("eEpP", p[-1]) && p[1] != 'x');)
                p++;
        } else if (is_name(*p))
            of = NAME, p += name_length(p);
        else
            p += sign_length(p);
        add_token(of, from, (int)(p - from), define, from == before);
        before = p;
    }
    add_token(BREAK, end, 0, define, false);
}

static void match_brackets(void) {
    list open = {NULL, 0, 0};
    for (int k = 0; k < ntokens; k++) {
        if (is_kind(k, BREAK)) continue;
        if (any_sign(k, "( [ { ")) push(&open, k);
        if (!any_sign(k, ") ] } ") || !open.n) continue;
        const int from = open.at[open.n - 1];
        if (strchr("([{", *tokens[from].at) - "([{" != strchr(")]}", *tokens[k].at) - ")]}")
            continue;
        tokens[k].match = from, tokens[from].match = k;
        open.n--;
    }
    free(open.at);
}

/* The first name of A::B::name, whose last stands at k. */
static int root(int k) {
    while (sign(k - 1, "::") && is_kind(k - 2, NAME)) k -= 2;
    return k;
}
/* Marks the brackets of the template that opens at k, if it closes. */
static bool mark_angles(int k) {
    int deep = 0;
    for (int j = k; j < ntokens && !is_kind(j, BREAK) && !sign(j, ";"); j++) {
        if (any_sign(j, "( [ { ")) {
            if (tokens[j].match < 0) return false;
            j = tokens[j].match;
        } else if (any_sign(j, ") ] } "))
            return false;
        else if (sign(j, "<"))
            deep++;
        else if (sign(j, ">") && --deep == 0) {
            tokens[k].angle = tokens[j].angle = true;
            tokens[k].match = j, tokens[j].match = k;
            return true;
        }
    }
    return false;
}
static void find_templates(void) {
    for (int k = 1; k < ntokens; k++) {
        if (!sign(k, "<") || !is_kind(k - 1, NAME)) continue;
        const int first = root(k - 1);
        const bool cast = ends(tokens[k - 1].at, (size_t)tokens[k - 1].n, "_cast");
        if (cast || word(k - 1, "template ") || (first < k - 1 && word(first, "std tn ")) ||
            (any_sign(k - 2, ". -> ") && word(k - 1, "item as data get ")) ||
            word(k - 2, "template ") || declared[tokens[k - 1].id] & AS_TEMPLATE)
            mark_angles(k);
        if (!tokens[k].angle || !word(k - 1, "template ")) continue;
        for (int j = k + 1; j < tokens[k].match; j++) /* its parameters are types */
            if (word(j - 1, "class typename ")) declared[tokens[j].id] |= AS_TYPE;
        for (int j = tokens[k].match + 1;
             j < ntokens && !any_sign(j, "( { ; ") && !is_kind(j, BREAK); j++)
            if (is_kind(j, NAME) && (any_sign(j + 1, "( { : ; ") || sign(j + 1, "="))) {
                declared[tokens[j].id] |= AS_TEMPLATE;
                break;
            }
    }
}

/* --- declarations ----------------------------------------------------------------------------- */

static bool is_operand(int k) { /* one may end here */
    return is_kind(k, NUMBER) || is_kind(k, STRING) || any_sign(k, ") ] } ") ||
           (sign(k, ">") && tokens[k].angle) || (is_kind(k, NAME) && !keyword(k));
}
/* Is the '&' or '*' at k, behind what looks like an operand, a type's? */
static bool is_declarator(int k) {
    const int j = k - 1, first = root(j);
    if (sign(j, ">")) return tokens[j].angle;
    if (!is_kind(j, NAME)) return any_sign(j, "& * && ");
    if (builtin(j) || word(j, "auto const typename ") || word(first - 1, "const typename "))
        return true;
    if (first < j && word(first, "tn ")) return true;
    if (first < j && word(first, "std ")) return !word(first + 2, "numbers numeric_limits ");
    if (starts(tokens[j].at, "tn_")) return true; /* of C: a type, as calls end with a bracket */
    return (declared[tokens[j].id] & (AS_TYPE | AS_OTHER | AS_NUMBER)) == AS_TYPE;
}
/* How the type that ends at k declares. */
static int by_type(int k) {
    while (k > 0 && (any_sign(k, "& && * ") || word(k, "const "))) {
        if (any_sign(k, "* ") && !builtin(k - 1) && !word(k - 1, "const ")) return AS_OTHER;
        k--;
    }
    if (!is_kind(k, NAME) && !sign(k, ">")) return 0; /* const before a type */
    if (builtin(k)) return AS_NUMBER;
    if (word(k, "ostream istream iostream ofstream ifstream fstream ostringstream istringstream "
                "stringstream "))
        return AS_STREAM;
    return AS_OTHER;
}
/* The declaration or expression in which the ',' at k separates: its first token. */
static int first_of_list(int k) {
    for (k--; k >= 0 && !is_kind(k, BREAK) && !any_sign(k, "; : { } ( [ "); k--) {
        if ((any_sign(k, ") ] } ") || tokens[k].angle) && tokens[k].match >= 0 &&
            tokens[k].match < k)
            k = tokens[k].match;
        else if (tokens[k].angle)
            break;
    }
    return k + 1;
}
static bool is_enum(int brace) {
    return word(brace - 1, "enum ") || word(brace - 2, "enum ") || word(brace - 3, "enum ");
}
static int in_list(int k) { /* how the name at k, behind a ',', is declared */
    int first = first_of_list(k - 1), opens = first - 1;
    if (sign(opens, "[")) /* auto [a, b], [a = b] */
        return any_sign(opens - 1, "& && ") || word(opens - 1, "auto ") || sign(k + 1, "=")
                   ? AS_OTHER
                   : 0;
    if (sign(opens, "(") && !word(opens - 1, "for ")) return tokens[k].define ? AS_OTHER : 0;
    if (sign(opens, "{") && is_enum(opens)) return AS_NUMBER;
    while (
        word(first, "const static constexpr extern volatile inline mutable typename thread_local "))
        first++;
    if (builtin(first)) return AS_NUMBER;
    while (is_kind(first, NAME) && sign(first + 1, "::")) first += 2;
    if (!is_kind(first, NAME)) return 0;
    if (sign(first + 1, "<") && tokens[first + 1].angle) first = tokens[first + 1].match;
    return is_kind(first + 1, NAME) || (any_sign(first + 1, "& && * ") && is_kind(first + 2, NAME))
               ? AS_OTHER
               : 0;
}
static int declaration(int k) { /* how the name at k is declared there, 0: it is used */
    const int p = k - 1;
    if (any_sign(p, ". -> :: ") || keyword(p) || tokens[k].kind != NAME) return 0;
    if (word(p, "struct class union enum namespace using ")) return AS_TYPE;
    if (sign(p, ",")) return in_list(k);
    if (sign(p, "["))
        return word(p - 1, "auto ") || any_sign(p - 1, "& && ") || sign(k + 1, "=") ? AS_OTHER : 0;
    if (sign(p, "{")) return is_enum(p) ? AS_NUMBER : 0;
    if (sign(p, "(") && tokens[k].define && tokens[p].adjacent) return AS_OTHER; /* a parameter */
    if (any_sign(p, "& && * ") && is_operand(p - 1) && is_declarator(p)) return by_type(p);
    if (word(p,
             "static inline constexpr extern volatile mutable virtual explicit friend typename "))
        return 0; /* a type */
    if (sign(p, ">") && tokens[p].angle && word(tokens[p].match - 1, "template ")) return 0;
    if (is_kind(p, NAME) || (sign(p, ">") && tokens[p].angle)) return by_type(p);
    if (!is_kind(p, BREAK) || !tokens[k].define) return 0;
    return is_kind(k + 1, NUMBER) && is_kind(k + 2, BREAK) ? AS_NUMBER : AS_OTHER; /* a macro */
}
static void find_declarations(void) {
    for (int k = 1; k < ntokens; k++) {
        if (!is_kind(k, NAME)) continue;
        declared[tokens[k].id] |= (unsigned char)declaration(k);
        if (!word(k, "typedef ")) continue;
        int j = k;
        while (j < ntokens && !any_sign(j, "; ( [ { ")) j++;
        if (j > k && is_kind(j - 1, NAME)) declared[tokens[j - 1].id] |= AS_TYPE;
    }
}

/* --- operators -------------------------------------------------------------------------------- */

static bool has_kind(int k, int way) { /* the name at k is declared so, and not otherwise */
    return is_kind(k, NAME) && (declared[tokens[k].id] & (AS_NUMBER | AS_STREAM | AS_OTHER)) == way;
}
/* Is the name at k one? A member's name is not, where the headers have tensors under it. */
static bool is_number(int k) {
    return has_kind(k, AS_NUMBER) && !sign(k - 1, "::") &&
           !(declared[tokens[k].id] & HEADERS_OWN &&
             (any_sign(k - 1, ". -> ") || sign(k + 1, "(")));
}
/* The first token of x.y(..)[..].z, whose last stands at k. */
static int chain(int k) {
    for (;;) {
        if (any_sign(k, ") ] ") && tokens[k].match >= 0) {
            k = tokens[k].match - 1;
            if (sign(k, ">") && tokens[k].angle) k = tokens[k].match - 1;
            if (!is_kind(k, NAME) && !any_sign(k, ") ] ")) return k + 1;
        } else if (any_sign(k - 1, ". -> :: ")) {
            k -= 2;
        } else {
            return k;
        }
    }
}
static bool is_plain(int from, int to);
/* Before what is a number and ends at k; k: it may be none. */
static int before_number(int k) {
    int at = k;
    if ((is_kind(k, NUMBER) && !memchr(tokens[k].at, '_', (size_t)tokens[k].n)) ||
        is_kind(k, STRING) || builtin(k) || word(k, "true false nullptr NULL sizeof const "))
        return k - 1;
    if (sign(k, ")") && tokens[k].match >= 0) {
        const int open = tokens[k].match;
        if (builtin(open - 1) || word(open - 1, "sizeof ")) return open - 2;
        if (sign(open - 1, ">") &&
            tokens[open - 1].angle) { /* static_cast<int>(..), x.item<int>() */
            const int less = tokens[open - 1].match;
            if (builtin(open - 2) && word(less - 1, "static_cast item "))
                return chain(less - 1) - 1;
            return k;
        }
        if (!is_kind(open - 1, NAME) || keyword(open - 1))
            return is_plain(open + 1, k - 1) ? open - 1 : k;
        if (any_sign(open - 2, ". -> ") && word(open - 1, "size dim numel length item stride "))
            return chain(open - 1) - 1;
        if (starts(tokens[open - 1].at, "tn_")) return open - 2;
        if (root(open - 1) < open - 1 && word(root(open - 1), "std "))
            return is_plain(open + 1, k - 1) ? root(open - 1) - 1 : k;
        at = open - 1; /* a function that gives a number */
    } else
        while (sign(at, "]") && tokens[at].match >= 0) at = tokens[at].match - 1; /* of an array */
    return is_number(at) ? chain(at) - 1 : k;
}
static bool is_plain(int from, int to) { /* numbers and operators alone */
    while (to >= from) {
        if (any_sign(to, "+ - * / % < > <= >= == != & | ^ ~ ! << ++ -- && || ? : , ")) {
            to--;
            continue;
        }
        const int next = before_number(to);
        if (next == to) return false;
        to = next;
    }
    return to == from - 1;
}
/* The expression around the operator at k, to what no tensor passes. */
static bool ends_operand(int k) {
    return k < 0 || k >= ntokens || is_kind(k, BREAK) || keyword(k) ||
           any_sign(k, "; , ( [ { } ) ] = += -= *= /= %= &= |= ^= <<= ? : && || ... ") ||
           (any_sign(k, "< > ") && tokens[k].angle);
}
static int expression_from(int k) {
    for (int at = k - 1;; at--) {
        if (any_sign(at, ") ] } ") || (sign(at, ">") && tokens[at].angle)) {
            if (tokens[at].match < 0 || tokens[at].match > at) return at + 1;
            const int open = tokens[at].match;
            if (sign(at, ")") && word(open - 1, "if while for switch ")) return at + 1;
            if (sign(at, "}") && (!is_kind(open - 1, NAME) || keyword(open - 1)))
                return at + 1; /* a block */
            at = open;
        } else if (ends_operand(at))
            return at + 1;
    }
}
static int expression_to(int k) {
    for (int at = k + 1;; at++) {
        if (any_sign(at, "( [ { ") || (sign(at, "<") && tokens[at].angle)) {
            if (tokens[at].match < at) return at - 1;
            at = tokens[at].match;
        } else if (ends_operand(at))
            return at - 1;
    }
}
/* Is `<<` or `>>` of a stream: does the expression begin with one? */
static bool is_stream(int from) {
    if (word(from, "std ") && sign(from + 1, "::")) from += 2;
    return word(from, "cout cerr clog cin ") || has_kind(from, AS_STREAM);
}

/* Reaches the operator at k, if a tensor may stand beside it. */
static void use_sign(int k, list *uses) {
    const source_token *t = &tokens[k];
    const bool binary = is_operand(k - 1),
               shift = sign(k, ">") && sign(k + 1, ">") && tokens[k + 1].adjacent;
    if (t->angle || !any_sign(k, "+ - * / % << < <= > >= == != & | ^ ~ += -= *= /= [ ")) return;
    if (sign(k, "[")) {
        int of = k - 1;
        while (sign(of, "]") && tokens[of].match >= 0) of = tokens[of].match - 1;
        if (binary && !sign(k + 1, "]") && !is_number(of) && !word(of, "auto "))
            push(uses, name_of("operator [", 10));
        return;
    }
    if (any_sign(k, "& * + ") && !binary && !word(k - 1, "operator "))
        return; /* an address, x = +y */
    if (any_sign(k, "& * ") && is_declarator(k)) return;
    if (sign(k, "~") && any_sign(k - 1, "; { } :: . -> ")) return; /* a destructor */
    if (!word(k - 1, "operator ")) {
        if (!binary && is_kind(k + 1, NUMBER) && sign(k, "-")) return;
        const int from = expression_from(k), to = expression_to(k);
        const bool compound = any_sign(k, "+= -= *= /= ");
        const bool cut = sign(from - 1, "}") && is_kind(from, SIGN);
        if (!binary ? is_plain(k + 1, to) && to > k
                    : from < k && !cut && is_plain(from, compound ? k - 1 : to))
            return;
        if ((sign(k, "<<") || shift) && is_stream(from)) return;
        if (sign(k, ">") && sign(k - 1, ">") && t->adjacent && is_stream(from)) return;
    }
    if (shift) push(uses, name_of("operator >>", 11));
    if (sign(k, "-") && (!binary || word(k - 1, "operator "))) push(uses, name_of("unary -", 7));
    if (sign(k, "~")) push(uses, name_of("unary ~", 7));
    push(uses, joined("operator ", t->at, (size_t)t->n, ""));
}
/* Words that stand for operators: templates of the standard library, and other spellings. */
static void use_word(int k, list *uses) {
    static const char *const of[][2] = {
        {"accumulate reduce inner_product transform_reduce partial_sum inclusive_scan "
         "exclusive_scan ",
         "+*"},
        {"plus ", "+"},
        {"minus adjacent_difference ", "-"},
        {"multiplies ", "*"},
        {"divides ", "/"},
        {"modulus ", "%"},
        {"negate ", "-"},
        {"bit_and bitand ", "&"},
        {"bit_or bitor ", "|"},
        {"bit_xor xor ", "^"},
        {"bit_not compl ", "~"},
        {"equal_to find count equal ", "="},
        {"not_equal_to not_eq ", "!"},
        {"less less_equal greater greater_equal sort max min ", "<"}};
    static const char *const comparisons[] = {"<", "<=", ">", ">="};
    if (any_sign(k - 1, ". -> ") || (root(k) < k && !word(root(k), "std "))) return;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        if (!word(k, of[i][0])) continue;
        for (const char *op = of[i][1]; *op; op++) {
            const char *more = *op == '=' || *op == '!' ? "=" : "";
            push(uses,
                 joined(*op == '=' ? "operator =" : "operator ", op, *op == '=' ? 0 : 1, more));
            push(uses, joined("unary ", op, 1, ""));
            for (int c = 0; c < 4 && *op == '<'; c++)
                push(uses, joined("operator ", comparisons[c], strlen(comparisons[c]), ""));
        }
    }
}

/* --- calls ------------------------------------------------------------------------------------ */

static bool opens_names; /* `using namespace` of another than std */

/* Is the word at k, an operator's, a call or may become one? */
static bool is_called(int k) {
    const int first = root(k);
    if (sign(k + 1, "::") || (first < k && word(first, "std "))) return false;
    if (sign(k + 1, "(")) return !builtin(k - 1);
    if (sign(k - 1, "::") || tokens[k].define) return true;
    if (sign(k + 1, "<")) return tokens[k + 1].adjacent || any_sign(k - 1, ". -> ");
    return opens_names && !any_sign(k - 1, ". -> ");
}
/* x.softmax and tn::softmax are no tn::nn::softmax. */
static bool may_be_class(int k) {
    const bool function =
        sign(k - 1, "::") && word(k - 2, "tn ") && declared[tokens[k].id] & FUNCTION;
    return !any_sign(k - 1, ". -> ") && !function;
}
/* Within the brackets of a macro a word may become a call. */
static void call_arguments(int k) {
    const bool macro = names[tokens[k].id].macro || is_upper(tokens[k].at, (size_t)tokens[k].n);
    const bool known = starts(tokens[k].at, "tn_") || starts(tokens[k].at, "TN_");
    if (!macro || known || !sign(k + 1, "(") || tokens[k + 1].match < 0) return;
    for (int j = k + 2; j < tokens[k + 1].match; j++)
        if (is_kind(j, NAME) && !any_sign(j - 1, ". -> "))
            names[tokens[j].id].called = names[tokens[j].id].by_cxx = true;
}

/* The tensors that are members of a class of the headers: `tensor a, b;`. */
static void own_tensors(const item *i) {
    size_t n;
    for (const char *p = i->at; (p = token(i->at, p, i->end, &n)) < i->end; p += n) {
        if (!is(p, n, "tensor")) continue;
        do {
            p = skip_space(p + n);
            const int id = (n = name_length(p)) != 0 ? name_of(p, n) : 0;
            if (id < ndeclared) declared[id] |= HEADERS_OWN;
            p = skip_space(p + n), n = 1;
        } while (*p == ',' && is_name(*skip_space(p + 1)));
        n = 0;
    }
}

/* All that C++ sources use: marks names as called, and adds those of operators. */
static void find_uses(list *uses) {
    declared = (unsigned char *)grown(NULL, (size_t)nnames);
    memset(declared, 0, (size_t)(ndeclared = nnames));
    for (int k = 0; k < nitems; k++) {
        const item *i = &items[k];
        if (!i->cxx || i->kind != CODE) continue;
        for (int d = 0; i->row_in_cxx && d < i->defines.n; d++)
            declared[i->defines.at[d]] |= HEADERS_OWN | FUNCTION;
        own_tensors(i);
    }
    match_brackets();
    find_templates();
    find_declarations();
    for (int k = 0; k < ntokens; k++)
        opens_names |= word(k, "using ") && word(k + 1, "namespace ") && !word(k + 2, "std ");
    for (int k = 0; k < ntokens; k++) {
        if (is_kind(k, SIGN)) use_sign(k, uses);
        if (!is_kind(k, NAME)) continue;
        use_word(k, uses);
        names[tokens[k].id].called |= is_called(k);
        names[tokens[k].id].by_cxx |= may_be_class(k);
        call_arguments(k);
    }
}
