/* optable - reads the rows in src/ops, src/nn, src/optim and writes what follows from them.
 *
 *     cc -std=c99 -O1 -DTNI_OBJECTS -o optable tools/optable/[a-z]*.c src/call/schema.c
 *         src/nn/parts.c
 *     ./optable [--check] [--no-sample-check] [--keep-going] [ROOT]
 *
 * Writes under ROOT (default .): src/api/ops.h, src/gen/rows.h, tables.c, calls.c, loops.inl,
 * docs.inl, table.json; with modules src/api/modules.h, src/gen/modules.c; docs/reference.md. A
 * file is touched only when its content changes. --check writes nothing and fails when
 * something would change. Errors are file:line: messages; any error: the exit code is 1 and
 * nothing is written (--keep-going: wrong rows are left out). It expands no macros: a row
 * stands written out, its comment directly above. */
#include "optable.h"

#include <string.h>

static bool read_arguments(int argc, char **argv) {
    options.root = ".";
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--check"))
            options.check = true;
        else if (!strcmp(argv[i], "--no-sample-check"))
            options.no_sample_check = true;
        else if (!strcmp(argv[i], "--keep-going"))
            options.keep_going = true;
        else if (argv[i][0] == '-') {
            fprintf(stderr, "usage: optable [--check] [--no-sample-check] [--keep-going] [ROOT]\n");
            return false;
        } else
            options.root = argv[i];
    }
    return true;
}

int main(int argc, char **argv) {
    static const char *const folders[] = {"src/ops", "src/nn", "src/optim"};
    table scanned = {NULL, 0}, operators, modules = {NULL, 0};
    if (!read_arguments(argc, argv)) return 2;
    for (int i = 0; i < 3; i++) {
        char **paths;
        int n = file_list(folders[i], ".c", &paths);
        for (int k = 0; k < n; k++) scan_file(paths[k], &scanned, &modules);
    }
    read_rows(&scanned, &operators);
    read_modules(&modules);
    if (!faults || options.keep_going) {
        write_ops(&operators);
        write_rows(&operators);
        write_loops(&operators);
        write_json(&operators, &modules);
        write_docs(&operators);
        write_reference(&scanned, &modules);
        write_modules(&operators);
    }
    if (faults) fprintf(stderr, "optable: %d error%s\n", faults, faults == 1 ? "" : "s");
    return faults != 0;
}
