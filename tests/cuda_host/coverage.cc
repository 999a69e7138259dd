/* coverage.cc - which way every row of the library comes on a CUDA device.
 *
 *     coverage REASONS
 *
 * Prints a line a row: kernel, expression, moves, view, composed, or none and why not, which stands
 * in REASONS as "row: why". A row without a way or a reason is a failure; so is a reason of a row
 * that has a way, and of no row. */
#include "../../src/api/cuda.h"
#include "../../src/api/extend.h"

#include <stdio.h>
#include <string.h>

#include <map>
#include <string>

extern "C" void tni_run_nothing(tn_frame *f);

static std::map<std::string, std::string> read_reasons(const char *path) {
    std::map<std::string, std::string> reasons;
    char line[400];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        line[strcspn(line, "\n")] = 0;
        if (colon && line[0] != '#') reasons[std::string(line, (size_t)(colon - line))] = colon + 2;
    }
    if (file) fclose(file);
    return reasons;
}

static bool has_kernel(const tn_backend *k, const char *name) {
    for (int32_t i = 0; i < k->nrows; i++)
        if (k->rows[i].name && strcmp(k->rows[i].name, name) == 0) return true;
    return false;
}

/* The row's way; NULL: none. */
static const char *way_of(const tn_backend *k, const tn_row *row) {
    if (row->compose) return "composed";
    if (row->run == tni_run_nothing) return "view";
    if (has_kernel(k, row->name)) return "kernel";
    if (row->forms & TN_MOVES) return "moves";
    return row->rules ? "expression" : NULL;
}

int main(int argc, char **argv) {
    char why[200] = "";
    const tn_backend *cuda = tn_cuda_backend(why, sizeof why);
    std::map<std::string, std::string> reasons = read_reasons(argc > 1 ? argv[1] : "");
    std::map<std::string, int> count;
    int passed = 0, failed = 0;
    if (!cuda) return puts(why), 1;
    for (int64_t i = 0; i < tn_row_count(); i++) {
        const tn_row *row = tn_row_at(i);
        const char *way = way_of(cuda, row);
        auto reason = reasons.find(row->name);
        const bool told = reason != reasons.end(), right = (way != NULL) != told;
        (right ? passed : failed)++;
        count[way ? way : "none"]++;
        printf("%-10s %s%s%s\n", way ? way : "none", row->name, told ? ": " : "",
               told ? reason->second.c_str() : "");
        if (!right)
            printf("FAILED %s has %s\n", row->name,
                   way ? "a way, and a reason why it has none" : "neither a way nor a reason");
        if (told) reasons.erase(reason);
    }
    for (const auto &left : reasons) {
        printf("FAILED a reason of no row: %s\n", left.first.c_str());
        failed++;
    }
    for (const auto &way : count) printf("%s %d, ", way.first.c_str(), way.second);
    printf("of %lld rows\n%d passed, %d failed\n", (long long)tn_row_count(), passed, failed);
    return failed != 0;
}
