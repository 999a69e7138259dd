/* modules.c - rows of modules and optimizers: src/api/modules.h, src/gen/modules.c,
 * src/gen/optimizers.c; their classes of C++ are in cxx_modules.c.
 *
 * A constructor and a forward are calls as an operator's is, so both are written by api.c and cxx.c
 * from a row made here: tn_nn_linear(...) and tn_nn_lstm_forward(m, x, .h = h, .c = c). */
#include "optable.h"
#include "../../src/nn/parts.h"

#include <stdlib.h>
#include <string.h>

enum { MODULE_PARTS = 64 };

typedef struct module {
    const row *r;
    row make, call; /* nn_linear; nn_linear_forward with `module` as its first parameter */
    bool has_call;  /* else (Tensor input) -> Tensor */
    int nparts;
    char *part[MODULE_PARTS];
    bool is_child[MODULE_PARTS];
} module;
static module *modules;
static int nmodules;

static void read_parts(module *m) {
    char *parts = read_text(m->r, "parts");
    const char *at = parts, *why = NULL;
    tni_part_text p;
    while (parts && tni_part_next(&at, &p, &why) > 0) {
        char *name = text_copy(p.name.at, (size_t)p.name.n);
        bool seen = false;
        for (int i = 0; i < m->nparts; i++) seen = seen || !strcmp(m->part[i], name);
        if (seen || m->nparts == MODULE_PARTS) continue;
        m->part[m->nparts] = name;
        m->is_child[m->nparts++] = p.kind == TNI_SPAN_CHILD;
    }
    if (why) fault(m->r->file, m->r->line, "%s: .parts: %s at '%s'", m->r->name, why, at);
}

/* .unlike is a word, of a row whose .call begins with two tensors. */
static void check_unlike(const module *m) {
    static const char *const words[] = {"warns", "deprecated", "refused"};
    const char *word = read_text(m->r, "unlike");
    const tni_schema *s = &m->call.s; /* its first parameter is `module` */
    bool fits = m->has_call && s->nparam > 2 && s->param[1].type == TN_T_TENSOR &&
                s->param[2].type == TN_T_TENSOR;
    bool known = false;
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        known = known || !strcmp(word, words[i]);
    if (word && !known)
        fault(m->r->file, m->r->line, "%s: .unlike is warns, deprecated or refused", m->r->name);
    if (word && !fits)
        fault(m->r->file, m->r->line, "%s: .unlike needs a .call of two tensors", m->r->name);
}

/* The row of a call: schema, one form, type of its result. */
static bool read_callable(row *to, const row *r, const char *name, const char *schema,
                          const char *result) {
    *to = *r;
    to->name = text_copy(name, strlen(name));
    to->schema_text = text_copy(schema, strlen(schema));
    to->nform = 0;
    if (!read_schema(to)) return false;
    to->base = to->name;
    add_form(to, 0, "");
    if (result)
        to->result_type = text_copy(result, strlen(result));
    else
        read_result_type(to);
    return true;
}

/* Every module has the options dtype and device. */
static char *with_device(const row *r) {
    const char *close = strrchr(r->schema_text, ')');
    if (r->kind == ROW_OPTIMIZER || !close || strstr(r->schema_text, " dtype"))
        return r->schema_text;
    return text_format("%.*s%sScalarType? dtype=None, Device? device=None)",
                       (int)(close - r->schema_text), r->schema_text, close[-1] == '(' ? "" : ", ");
}

static bool read_module(row *r, module *m) {
    static const char *const of_module[] = {"shapes", "example", "differs", "parts",  "call",
                                            "takes",  "unlike",  "draws",   "repr",   "build",
                                            "reset",  "forward", "destroy", "sample", NULL};
    static const char *const of_optimizer[] = {
        "shapes", "example", "differs", "state",      "numbers",  "check", "uses",
        "begin",  "step",    "counts",  "capturable", "captured", NULL};
    bool nn = r->kind == ROW_MODULE;
    int before = faults;
    char *call = nn ? read_text(r, "call") : NULL;
    if (!read_schema(r)) return false;
    read_fields(r, nn ? of_module : of_optimizer);
    read_doc_fields(r);
    m->r = r;
    m->has_call = call != NULL;
    if (!read_callable(&m->make, r, text_format(nn ? "nn_%s" : "optim_%s", r->name), with_device(r),
                       nn ? "tn_module *" : "tn_optimizer *"))
        return false;
    if (call &&
        !read_callable(&m->call, r, text_format("nn_%s_forward", r->name),
                       text_format("forward(Module module, %s", call[0] == '(' ? call + 1 : call),
                       NULL))
        return false;
    m->call.comment = m->call.shapes = m->call.example = NULL;
    check_unlike(m);
    read_parts(m);
    return faults == before;
}

void read_modules(table *t) {
    modules = (module *)tool_get(sizeof *modules * (size_t)(t->n + 1));
    for (int i = 0; i < t->n; i++)
        if (read_module(t->row[i], &modules[nmodules])) t->row[nmodules++] = t->row[i];
    t->n = nmodules;
}

static bool result_is_new(const table *operators, int i) {
    for (int k = 0; k < operators->n; k++)
        if (!strcmp(operators->row[k]->result_type, modules[i].call.result_type)) return false;
    for (int k = 0; k < i; k++)
        if (modules[k].has_call &&
            !strcmp(modules[k].call.result_type, modules[i].call.result_type))
            return false;
    return true;
}

static void put_self(text *t, const module *m) {
    put(t, "typedef struct tn_nn_%s_self {\n    tn_module base;\n    tn_nn_%s_args o;\n",
        m->r->name, m->r->name);
    for (int i = 0; i < m->nparts; i++)
        put(t, "    tn_%s *%s;\n", m->is_child[i] ? "module" : "tensor", m->part[i]);
    put(t, "} tn_nn_%s_self;\n", m->r->name);
}

static void put_module(text *t, const table *operators, int i) {
    const module *m = &modules[i];
    const char *name = m->r->name;
    put_operator(t, &m->make);
    if (m->r->kind == ROW_OPTIMIZER) return;
    put_self(t, m);
    if (m->has_call) {
        put(t, "\n");
        if (result_is_new(operators, i)) put_result_type(t, &m->call);
        put_operator(t, &m->call);
    } else
        put(t,
            "typedef struct tn_nn_%s_forward_args {\n    tn_tensor *input;\n} "
            "tn_nn_%s_forward_args;\n"
            "#define tn_nn_%s_forward(module, input) tn_forward(module, input)\n",
            name, name, name);
}

static void write_header(const table *operators) {
    text t = {NULL, 0, 0};
    const char *file = "";
    put(&t,
        "/* modules.h - the built-in modules and optimizers: constructor, struct, forward.\n *\n"
        " *     tn_module *m = tn_nn_linear(784, 10, .bias = false);\n"
        " *     tn_nn_linear_self *s = (tn_nn_linear_self *)m;\n"
        " *     tn_optimizer *o = tn_optim_sgd(tn_parameters(m), .lr = 0.1);\n *\n"
        " * tnp_nn_linear takes all arguments in order, tn_nn_linear_at a struct. Modules given to "
        "a\n * constructor are taken by it, on failure too.\n"
        " * Generated by tools/optable from src/nn and src/optim; `make headers` writes it again. "
        "*/\n"
        "#ifndef TNI_API_MODULES_H\n#define TNI_API_MODULES_H\n\n#include "
        "\"optim.h\"\n\nTNI_EXTERN_C_BEGIN\n");
    for (int i = 0; i < nmodules; i++) {
        if (strcmp(file, modules[i].r->file)) put_file_head(&t, modules[i].r->file);
        file = modules[i].r->file;
        put_module(&t, operators, i);
    }
    put(&t, "\nTNI_EXTERN_C_END\n#endif\n");
    file_write("src/api/modules.h", &t);
}

static void write_classes(void) {
    cxx_class *all = (cxx_class *)tool_get(sizeof *all * (size_t)(nmodules + 1));
    for (int i = 0; i < nmodules; i++) {
        const module *m = &modules[i];
        const cxx_class c = {m->r,    &m->make,    m->has_call ? &m->call : NULL,
                             m->part, m->is_child, m->nparts};
        all[i] = c;
    }
    write_cxx_classes(all, nmodules);
}

static void put_call_body(text *t, const module *m) {
    const tni_schema *s = &m->call.s;
    const char *name = m->r->name;
    put_wrapped(t, text_format("%s {", at_prototype(&m->call, false)), 4, "");
    put(t, "    tn_tensor *out[%d] = {NULL};\n", s->nresults);
    if (s->nresults > 1) put(t, "    %sr;\n", m->call.result_type);
    put(t, "    tn_module_call(file, line, args->module, &tni_module_%s, args, out, %d);\n", name,
        s->nresults);
    for (int k = 0; s->nresults > 1 && k < s->nresults; k++)
        put(t, "    r.%.*s = out[%d];\n", s->result[k].n, s->result[k].at, k);
    put(t, s->nresults > 1 ? "    return r;\n}\n" : "    return out[0];\n}\n");
    put_positional_body(t, &m->call, &m->call.form[0]);
}

static void put_bodies(text *t, const module *m) {
    const char *kind = m->r->kind == ROW_MODULE ? "module" : "optimizer";
    put_wrapped(t, text_format("%s {", at_prototype(&m->make, false)), 4, "");
    put(t, "    return tn_%s_make(file, line, &tni_%s_%s, args);\n}\n", kind, kind, m->r->name);
    put_positional_body(t, &m->make, &m->make.form[0]);
    if (m->has_call) put_call_body(t, m);
}

/* Runs of one group among parameters and results. Returns how many. */
static int put_groups(text *t, const tni_schema *s, const char *name) {
    text line = {NULL, 0, 0};
    int n = 0;
    for (int i = 0; i < s->nparam + s->nresults;) {
        const tni_word g = i < s->nparam ? s->param[i].group : s->result_group[i - s->nparam];
        int first = i++;
        if (!g.at) continue;
        for (; i < s->nparam + s->nresults && i != s->nparam; i++) {
            const tni_word other =
                i < s->nparam ? s->param[i].group : s->result_group[i - s->nparam];
            if (other.at != g.at) break;
        }
        put(&line, "%s{\"%.*s\", %d, %d}", n++ ? ", " : "", g.n, g.at, first, i - first);
    }
    if (n) put(t, "static const tn_mgroup tni_groups_%s[] = {%s};\n", name, line.at);
    return n;
}

static void put_module_tables(text *t, const module *m) {
    const char *name = m->r->name, *type = text_word(m->r->s.name);
    tni_schema call = m->call.s; /* without its first parameter */
    int ngroups = 0;
    put(t, "\nTN_PRIV_DECLARE(tn_mrow, tni_module_%s);\nTN_PRIV_DECLARE(tn_mgen, tni_mgen_%s);\n",
        name, name);
    put_tables(t, &m->make, &m->make.s, text_format("static const tn_gen tni_make_%s", name),
               "nn_");
    if (m->has_call) {
        call.nparam--;
        memmove(call.param, call.param + 1, sizeof *call.param * (size_t)call.nparam);
        put_tables(t, &m->call, &call, text_format("static const tn_gen tni_call_%s", name), "nn_");
        ngroups = put_groups(t, &call, name);
    }
    if (m->nparts) {
        put(t, "static const tn_mfield tni_fields_%s[] = {\n", name);
        for (int i = 0; i < m->nparts; i++)
            put(t, "    {\"%s\", offsetof(tn_nn_%s_self, %s)},\n", m->part[i], name, m->part[i]);
        put(t, "};\n");
    }
    put(t, "TNI_PRIVATE_BEGIN\nTN_PRIV_DEFINE(tn_mgen, tni_mgen_%s) = {\"%s\", &tni_make_%s, ",
        name, type, name);
    put(t, m->has_call ? "&tni_call_%s, " : "NULL, ", name);
    put(t, m->nparts ? "tni_fields_%s,\n    " : "NULL,\n    ", name);
    put(t, ngroups ? "tni_groups_%s, " : "NULL, ", name);
    put(t, "%d, %d, offsetof(tn_nn_%s_self, o)};\nTNI_PRIVATE_END\n", m->nparts, ngroups, name);
}

static void put_optimizer_tables(text *t, const module *m) {
    put(t, "\nTN_PRIV_DECLARE(tn_orow, tni_optimizer_%s);\nTN_PRIV_DECLARE(tn_gen, tni_ogen_%s);\n",
        m->r->name, m->r->name);
    put_tables(t, &m->make, &m->make.s,
               text_format("TN_PRIV_DEFINE(tn_gen, tni_ogen_%s)", m->r->name), "optim_");
}

/* A file's rows in a list, "tni_module_" and "tn_mrow", and the functions that make them. */
static void put_rows_and_bodies(text *t, bool optimizers, const char *list, const char *type,
                                const char *prefix) {
    put(t,
        "\nTN_PRIV const %s *const *%s(void) {\n    static const %s *const rows[] = {\n"
        "#ifndef TENSOR_TRIM\n",
        type, list, type);
    for (int i = 0; i < nmodules; i++)
        if ((modules[i].r->kind == ROW_OPTIMIZER) == optimizers)
            put(t, "        &%s%s,\n", prefix, modules[i].r->name);
    put(t, "#endif\n        NULL};\n    return rows;\n}\n\nTNI_EXTERN_C_BEGIN\n");
    for (int i = 0; i < nmodules; i++)
        if ((modules[i].r->kind == ROW_OPTIMIZER) == optimizers) put_bodies(t, &modules[i]);
    put(t, "\nTNI_EXTERN_C_END\n");
}

static void write_modules_c(void) {
    text t = {NULL, 0, 0};
    put(&t, "/* modules.c - tables and functions behind modules.h: tni_mgen_linear of a module's "
            "row tni_module_linear.\n"
            " * Generated by tools/optable from src/nn; `make headers` writes it again. */\n"
            "#include \"../nn/nn.h\"\n\n#include <math.h>\n\n");
    put_words(&t, "nn_");
    for (int i = 0; i < nmodules; i++)
        if (modules[i].r->kind == ROW_MODULE) put_module_tables(&t, &modules[i]);
    put_rows_and_bodies(&t, false, "tni_mrows", "tn_mrow", "tni_module_");
    file_write("src/gen/modules.c", &t);
}

static void write_optimizers_c(void) {
    text t = {NULL, 0, 0};
    put(&t, "/* optimizers.c - tables and functions of optimizers, which modules.h declares: "
            "tni_ogen_sgd of the row tni_optimizer_sgd.\n"
            " * Generated by tools/optable from src/optim; `make headers` writes it again. */\n"
            "#include \"../optim/optim.h\"\n\n#include <math.h>\n\n");
    put_words(&t, "optim_");
    for (int i = 0; i < nmodules; i++)
        if (modules[i].r->kind == ROW_OPTIMIZER) put_optimizer_tables(&t, &modules[i]);
    put_rows_and_bodies(&t, true, "tni_orows", "tn_orow", "tni_optimizer_");
    file_write("src/gen/optimizers.c", &t);
}

void write_modules(const table *operators) {
    write_header(operators);
    write_classes();
    write_modules_c();
    write_optimizers_c();
}
