/* optable.h - what the files of the tool share: text that grows, rows as scanned, and the writers.
 */
#ifndef OPTABLE_H
#define OPTABLE_H

#include "../../src/call/schema.h"

#include <stdio.h>

/* --- text.c: text, names, files --------------------------------------------------------------- */

typedef struct text {
    char *at; /* NUL-terminated; NULL at first */
    size_t n, room;
} text;
void put(text *t, const char *format, ...) TNI_PRINTF(2, 3);
/* Appends a line broken at ", " and " {" to 100 columns; continuation lines are indented and all
 * but the last end in `tail` (" \\" in a macro). Adds the newline. */
void put_wrapped(text *t, const char *line, int indent, const char *tail);
void put_quoted(text *t,
                const char *s); /* a C string literal; also a JSON string, as rows are ASCII */
char *text_format(const char *format, ...) TNI_PRINTF(1, 2);
char *text_copy(const char *at, size_t n);
char *text_snake(const char *name); /* MemoryFormat -> memory_format */
char *text_upper(const char *name);
char *text_word(tni_word w);
void *tool_get(size_t bytes); /* zeroed; the tool frees nothing; ends the tool without memory */

/* file:line: message; the tool fails at its end. */
void fault(const char *file, int line, const char *format, ...) TNI_PRINTF(3, 4);
extern int faults;

typedef struct tool_options {
    const char *root;
    bool check, no_sample_check, keep_going;
} tool_options;
extern tool_options options;
char *file_read(const char *path); /* NULL: not there */
/* Sorted paths of dir/ *suffix under root. */
int file_list(const char *dir, const char *suffix, char ***paths);
/* Writes root/path when it differs; with --check faults instead. */
void file_write(const char *path, const text *t);

/* --- scan.c: rows in C text ------------------------------------------------------------------- */

enum { ROW_FIELDS = 24 };
typedef struct field {
    const char *name; /* "grad"; "TN_POINTWISE" for a macro among the fields */
    char *value;      /* as written, comments removed; of a macro its arguments */
} field;

typedef enum row_kind { ROW_OPERATOR, ROW_MODULE, ROW_OPTIMIZER } row_kind;
typedef enum pointwise {
    POINTWISE_NO,
    POINTWISE_LOOP,
    POINTWISE_GIVES_BOOL,
    POINTWISE_TAKES_MASK,
    POINTWISE_GIVES_REAL
} pointwise;

typedef struct form { /* one way of calling a row */
    char *name;       /* "add_scalar_", without tn_ */
    uint32_t numbers; /* bit i: parameter i is given as a number */
    bool inplace;
} form;

typedef struct row {
    row_kind kind;
    const char *file;                          /* under root */
    int line, family;                          /* family: of an operator (family.c) */
    char *comment;                             /* with its marks; NULL: none */
    char *shapes, *example, *differs, *oracle; /* of TN_DOC; NULL: none */
    char *places; /* where Python has the row below torch: "linalg.cholesky special.expit" */
    char *name, *schema_text;
    field fields[ROW_FIELDS];
    int nfields, ndoc; /* the first ndoc are those of TN_DOC */
    /* read.c */
    tni_schema s;
    uint32_t forms;
    char *saves, *needs, *domain, *sample;
    pointwise pointwise;
    char *kinds, *expression, *rules; /* of TN_POINTWISE; rules: NULL without */
    tni_word save[TNI_SCHEMA_RESULTS];
    int nsaves, nslots, nfixed, slot[TNI_PARAMS];
    uint64_t masks[TNI_PARAMS];
    int index, loop;
    form form[16];
    int nform;
    char *result_type; /* "tn_tensor *", "tn_values_indices ", "tn_list ", "bool " */
    char *base;        /* torch's name before the dot, without a last '_' */
} row;

typedef struct table {
    row **row;
    int n;
} table;
void scan_file(const char *path, table *operators, table *modules);
char *scan_tidy(const char *all);     /* without comments, white space as one blank */
char *scan_string(const char *value); /* adjacent literals joined; NULL: no string */
/* The arguments of a macro, tidied; how many (at most room are told apart). */
int scan_parts(const char *value, char **part, int room);
const char *row_field(const row *r, const char *name); /* text, or NULL */

/* --- read.c: meaning and errors of a row ------------------------------------------------------ */

void read_rows(table *scanned, table *sorted); /* drops wrong ones */
void read_fields(const row *r,
                 const char *const *order); /* names and order of the fields; the comment */
bool read_schema(row *r);
void read_doc_fields(row *r);
char *read_text(const row *r, const char *name); /* a string field */
void read_result_type(row *r);
void add_form(row *r, uint32_t numbers, const char *suffix);
void read_sample(const row *r);      /* sample.c: does it fit the schema? */
void read_expression(const row *r);  /* words.c: does the vocabulary have its words? */
bool row_inplace_only(const row *r); /* torch's name ends in '_' and the row has an in-place form */
bool is_number_parameter(const tni_schema_param *p); /* of a pointwise expression */

/* --- family.c: the order in which a reader meets the operators -------------------------------- */

int family_count(void);
const char *family_name(int i);
const char *family_about(int i);
void sort_by_family(table *t);
char *file_stem(const char *path);  /* "src/nn/linear.c" -> "linear" */
char *file_about(const char *path); /* what the file's first comment says it is */

/* --- types.c: C text of a parameter ----------------------------------------------------------- */

/* By tn_type: its name, torch's, and in C and C++ with what stands before a name: "tn_tensor *",
 * "double ". */
typedef struct type_names {
    const char *id, *schema, *c, *cxx;
    unsigned traits; /* tn_type_traits */
} type_names;
extern const type_names types[];
const char *type_of(const tni_schema_param *p);
const char *type_cxx(const tni_schema_param *p);
void put_members(text *t, const tni_schema *s, const char *out);
/* Initialisers of an argument struct in member order: value of each parameter by its own name,
 * numbers of `numbers` given as tn_scalar of that name, those of `either` as tn::tensor_or_number.
 * out: "NULL", "{NULL, NULL}" or NULL without. values: NULL, or texts a parameter. */
void put_initialisers(text *t, const tni_schema *s, const char *out, uint32_t numbers,
                      uint32_t either, char *const *values);
const char *out_null(const row *r);
const char *flags_text(unsigned flags); /* "TN_P_OPTIONAL | TN_P_DEFAULT" */
const char *props_text(uint32_t props); /* "TN_PROP_LISTS | TN_PROP_INTS" */

/* --- ways.c: values of a parameter, by the ways of TN_TYPES ----------------------------------- */

/* Where a default stands: in a keyword macro, in the object of defaults, in a C++ signature. */
typedef enum spelling { SPELL_MACRO, SPELL_STATIC, SPELL_CXX, SPELLINGS } spelling;
/* The default as an expression; "" in a macro if it is all zero bytes. prefix: of the arrays that
 * hold the items of lists ("add"). */
char *default_of(const tni_schema_param *p, spelling how, const char *prefix);
/* What holds the place of a required parameter in the object of defaults. */
char *required_text(const tni_schema_param *p);
void put_default_arrays(text *t, const tni_schema *s, const char *prefix);
void put_json_default(text *t, const tni_schema_param *p); /* as Python's json reads it */
bool sample_fits(const tni_schema_param *p, const char *value);

/* --- writers: each makes files ---------------------------------------------------------------- */

/* api.c: src/api/ops.h, src/api/ops/, src/gen/calls.c. sorted: by name; families: by family. */
void write_ops(const table *sorted, const table *families);
void put_operator(text *t, const row *r); /* comment, struct, prototypes, macros */
void put_file_head(text *t, const char *path);
void put_result_type(text *t, const row *r);
char *at_prototype(const row *r, bool inplace);
bool result_is_all(const row *r, bool inplace); /* a call changes nothing that exists before it */
void put_positional_body(text *t, const row *r, const form *f);
void put_head(text *t, const char *name, const char *about, const char *guard);
/* cxx.c: src/api/ops/overloads.h, methods.h, results.h; and the parts of these for modules. */
void write_cxx(const table *t);
void put_cxx_row(text *to, const table *all, const row *r);
void put_cxx_names(text *to, const table *all, const row *r);
void put_cxx_results(text *to, const row *r);
/* A line for each function of r as a reader calls it, a method where it is one; the constructor of
 * a module or optimizer. next stands before all lines but the first. */
void put_cxx_signatures(text *to, const table *all, const row *r, const char *next);
void put_cxx_constructor(text *to, const row *r, bool named);
void put_cxx_call(text *to, const row *r, bool named);
void put_options(text *to, const table *all, const row *r);
/* cxx_calls.c: with each option alone. */
void put_option_calls(text *to, const row *r, const form *f, const char *name, bool method);
void put_option_classes(text *to, const row *r, const char *name);
void write_rows(const table *t); /* tables.c: src/gen/rows.h, tables.c */
/* All tables of a call up to its tn_gen, which is `gen`; s: the parameters that it has (a forward's
 * have no `module`). room:
 * "" or "nn_", for names of shared objects. */
void put_tables(text *to, const row *r, const tni_schema *s, const char *gen, const char *room);
void put_words(text *to, const char *room);
void write_loops(const table *t); /* loops.c: src/gen/loops.inl */
void write_json(const table *operators, const table *modules);
char *plain_comment(const row *r); /* json.c: without its marks; "" when there is none */
void write_tests(const table *operators, const table *modules);    /* tests.c: tests/ops/rows.inl */
void write_docs(const table *t);                                   /* docs.c: src/gen/docs.inl */
void write_examples(const table *operators, const table *modules); /* src/gen/examples.inl */
void write_reference(const table *operators, const table *modules);
void write_chapters(void);                  /* chapters.c: docs/api.md, of what is no row */
void read_modules(table *t);                /* modules.c */
/* cxx_modules.c: src/api/ops/overloads_nn.h */
typedef struct cxx_class {
    const row *r, *make, *call; /* call NULL: one tensor, as the class module has it */
    char *const *part;          /* names */
    const bool *is_child;
    int nparts;
} cxx_class;
void write_cxx_classes(const cxx_class *at, int n);
void write_modules(const table *operators); /* src/api/modules.h, src/gen/modules.c ... */

#endif
