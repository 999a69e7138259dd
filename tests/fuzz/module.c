/* module.c - the texts of a module's row that is registered at run time, a line each: schema,
 * parts, call, takes, repr. What is accepted is made, printed, saved, copied and called. */
#include "fuzz.h"

enum { OPTIONS = 1024 }; /* bytes of the options, which lie behind the module */

static bool forward(tn_mframe *f) {
    for (int k = 0; k < f->nout; k++) f->out[k] = tn_ones(TN_DIMS(2));
    return tn_ok();
}

static void use(tn_module *m) {
    tn_module *copy;
    tn_tensor *input = tn_ones(TN_DIMS(2, 3));
    char *text = tn_module_text(m);
    if (text) tn_alloc_free(text, strlen(text) + 1);
    tn_error_take(NULL);
    if (tn_module_save_file(m, "module")) { /* loading needs the memory of the parts once more */
        bool loaded = tn_module_load_file(m, "module");
        MUST(loaded || fuzz_error() == TN_MEMORY, "what was saved cannot be loaded");
    }
    tn_error_take(NULL);
    copy = tn_module_copy(m);
    tn_module_free(copy);
    tn_error_take(NULL);
    tn_forward(m, input);
    tn_error_take(NULL);
    tn_module_tensor(m, "weight");
    tn_error_take(NULL);
}

static void make(const tn_mrow *row) {
    char type[64];
    tn_value values[2];
    snprintf(type, sizeof type, "%.*s", (int)strcspn(row->schema, "("), row->schema);
    memset(values, 0, sizeof values);
    for (int i = 0; i < 2; i++) values[i].type = TN_T_INT, values[i].as.integer = 2 + i;
    for (int n = 0; n < 3; n++)
        TN_SCOPE {
            tn_module *m = tn_module_named(type, values, n);
            if (m)
                use(m);
            else
                fuzz_error();
            tn_module_free(m);
        }
}

static bool one(const uint8_t *data, size_t size) {
    tn_context *old = tn_context_current(), *own = fuzz_enter(64 << 20);
    char *line[5];
    tn_mrow row;
    bool valid;
    fuzz_lines(data, size, line, 5);
    memset(&row, 0, sizeof row);
    row.name = "fuzzed";
    row.schema = line[0], row.parts = line[1];
    row.call = *line[2] ? line[2] : NULL, row.takes = *line[3] ? line[3] : NULL;
    row.repr = *line[4] ? line[4] : NULL;
    row.size = sizeof(tn_module) + OPTIONS;
    row.forward = forward;
    valid = tn_module_register(&row);
    if (valid)
        make(&row);
    else
        fuzz_error();
    tn_module_forget(&row);
    fuzz_leave(own);
    tn_context_use(old);
    fuzz_lines_free(line, 5);
    return valid;
}

const fuzz_target fuzz_this = {"module", NULL, one};
