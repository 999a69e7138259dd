/* conditions.h - amalgamate's reading of conditions: what is known of them while packing is
 * resolved, so that a text which is packed once for each element type holds that type alone.
 *
 * Known are the macros of TYPE_FAMILIES, which only such a text defines, and include guards that it
 * has passed before. A condition on anything else stays as it is, and so does what it holds. */

enum { NO, YES, MAYBE, MAX_MACROS = 1000, MAX_GROUPS = 20 };
typedef struct macro { /* that this text has defined or taken back */
    char name[NAME];
    int defined, value; /* value: of a number as a condition */
} macro;
typedef struct macros {
    macro at[MAX_MACROS];
    int n;
} macros;
typedef struct group { /* of an #if */
    int value;          /* of the branch that is read */
    bool taken, stands; /* taken: a branch was YES; stands: the #if was written */
    bool joined;        /* after: there was a branch */
    char guard[NAME];   /* of #ifndef */
    macros before, after;
} group;
static struct {
    macros now;
    const char *at; /* the condition that is read */
    group group[MAX_GROUPS];
    int depth;
} conditions;

static bool is_family(const char *name) {
    static const char *const families[] = {"TNI_TYPE_", "TNI_KIND_", "TNI_FLOATING"};
    for (int i = 0; i < 3; i++)
        if (strncmp(name, families[i], strlen(families[i])) == 0) return true;
    return false;
}

static macro *find_macro(macros *in, const char *name) {
    int i = 0;
    while (i < in->n && strcmp(in->at[i].name, name) != 0) i++;
    return i < in->n ? &in->at[i] : NULL;
}

static void set_macro(macros *in, const char *name, int defined, int value) {
    macro *m = find_macro(in, name);
    if (!m) {
        if (in->n == MAX_MACROS) fail("too many macros: %s", name);
        m = &in->at[in->n++];
        strcpy(m->name, name);
    }
    m->defined = defined, m->value = value;
}

static int is_defined(const char *name) {
    const macro *m = find_macro(&conditions.now, name);
    return m ? m->defined : is_family(name) ? NO : MAYBE;
}
static int value_of(const char *name) {
    const macro *m = find_macro(&conditions.now, name);
    if (isdigit((unsigned char)*name)) return *name == '0' ? NO : YES;
    return m ? m->value : is_family(name) ? NO : MAYBE;
}

static bool take(const char *token) {
    conditions.at += strspn(conditions.at, " \t\\\n");
    if (strncmp(conditions.at, token, strlen(token)) != 0) return false;
    conditions.at += strlen(token);
    return true;
}
static void take_word(char word[NAME]) {
    take("");
    read_word(conditions.at, word);
    conditions.at += strlen(word);
}

static int read_or(void);
static int read_atom(void) {
    char word[NAME];
    if (take("!")) {
        const int v = read_atom();
        return v == MAYBE ? MAYBE : v == NO ? YES : NO;
    }
    if (take("(")) {
        const int v = read_or();
        take(")");
        return v;
    }
    take_word(word);
    if (strcmp(word, "defined") == 0) {
        const bool bracket = take("(");
        take_word(word);
        if (bracket) take(")");
        return is_defined(word);
    }
    const char *const compares[] = {"==", "!=", "<=", ">=", "<", ">"};
    for (int i = 0; i < 6; i++)
        if (take(compares[i])) return take_word(word), MAYBE;
    return value_of(word);
}
static int read_and(void) {
    int v = read_atom();
    while (take("&&")) {
        const int w = read_atom();
        v = v == NO || w == NO ? NO : v == YES ? w : v;
    }
    return v;
}
static int read_or(void) {
    int v = read_and();
    while (take("||")) {
        const int w = read_and();
        v = v == YES || w == YES ? YES : v == NO ? w : v;
    }
    return v;
}

/* Of "if", "ifdef", "ifndef" or "elif" and what follows. */
static int condition(const char *word, const char *rest) {
    char name[NAME];
    read_word(rest, name);
    if (strcmp(word, "ifdef") == 0) return is_defined(name);
    if (strcmp(word, "ifndef") == 0)
        return is_defined(name) == MAYBE ? MAYBE : is_defined(name) == NO ? YES : NO;
    conditions.at = rest;
    return read_or();
}

/* What is known behind a branch where it ends as `from` says, and behind all before it. */
static void join(group *g, macros *from) {
    if (!g->joined) {
        g->after = *from, g->joined = true;
        return;
    }
    for (int i = 0; i < g->after.n; i++) {
        macro *m = &g->after.at[i];
        const macro *other = find_macro(from, m->name);
        if (!other && is_family(m->name) && m->defined == NO) continue;
        if (!other || other->defined != m->defined) m->defined = MAYBE;
        if (!other || other->value != m->value) m->value = MAYBE;
    }
    for (int i = 0; i < from->n; i++)
        if (!find_macro(&g->after, from->at[i].name) && from->at[i].defined != NO)
            set_macro(&g->after, from->at[i].name, MAYBE, MAYBE);
}
static bool is_live(void) {
    return !conditions.depth || conditions.group[conditions.depth - 1].value != NO;
}

/* #if, #elif, #else: the new value of the group, and what stands of the line. */
static void begin_branch(text *to, const char *word, const char *rest, const char *p,
                         const char *end) {
    const bool first = strncmp(word, "if", 2) == 0, live = is_live();
    if (first && conditions.depth == MAX_GROUPS) fail("too many conditions");
    if (first) conditions.depth++;
    group *g = &conditions.group[conditions.depth - 1];
    bool dead = first ? !live : conditions.depth > 1 && g[-1].value == NO;
    if (first) {
        g->taken = g->stands = g->joined = false, g->guard[0] = 0;
        g->before = conditions.now;
        if (strcmp(word, "ifndef") == 0) read_word(rest, g->guard);
    } else {
        if (live) join(g, &conditions.now);
        conditions.now = g->before;
    }
    g->value = dead || g->taken ? NO : strcmp(word, "else") == 0 ? YES : condition(word, rest);
    if (g->value == YES) g->taken = true;
    if (g->value == YES && g->stands) print(to, "#else\n");
    if (g->value != MAYBE) return;
    if (!first && !g->stands) print(to, "#if %.*s", (int)(end - rest), rest);
    else add(to, p, (size_t)(end - p));
    g->stands = true;
}

static void end_group(text *to, const char *p, const char *end) {
    if (conditions.depth == 0) fail("an #endif too many");
    const bool live = is_live();
    group *g = &conditions.group[--conditions.depth];
    if (live) join(g, &conditions.now);
    if (g->guard[0] && !g->taken) set_macro(&g->before, g->guard, YES, MAYBE);
    if (!g->taken) join(g, &g->before);
    conditions.now = g->after;
    if (g->stands) add(to, p, (size_t)(end - p));
}

/* The text with its conditions resolved as far as they are known. */
static void resolve(text *t) {
    text to = {NULL, 0, 0};
    char word[NAME], name[NAME];
    bool open = false;
    conditions.now.n = conditions.depth = 0;
    add(&to, "", 0);
    for (const char *p = t->at, *end; *p; p = end) {
        const char *rest = open ? NULL : directive(p, word);
        end = line_end(p);
        open = comment_after(p, end, open);
        while (end - p >= 2 && end[-2] == '\\') end = line_end(end);
        if (rest && (strncmp(word, "if", 2) == 0 || strncmp(word, "el", 2) == 0)) {
            begin_branch(&to, word, rest, p, end);
        } else if (rest && strcmp(word, "endif") == 0) {
            end_group(&to, p, end);
        } else if (is_live()) {
            add(&to, p, (size_t)(end - p));
            const bool defines = rest && strcmp(word, "define") == 0;
            if (!defines && (!rest || strcmp(word, "undef") != 0)) continue;
            read_word(rest, name);
            const char *value = skip_blanks(rest + strlen(name));
            set_macro(&conditions.now, name, defines ? YES : NO,
                      !defines || *value == '0' ? NO : *value == '1' ? YES : MAYBE);
        }
    }
    if (conditions.depth) fail("an #endif too few");
    free(t->at);
    *t = to;
}
