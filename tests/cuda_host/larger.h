/* larger.h - larger samples, made from those of the rows: a size of a sample, wherever it stands in
 * its shapes, becomes one beside the limits of blocks, tiles and grids; or all sizes grow. What the
 * shapes of a call allow, tensors without memory say. And samples that cannot be the rows' own.
 *
 *     TN_LARGER=N  rows.c walks N of these for each row in place of its own, by TN_SEED */
#ifndef TESTS_CUDA_HOST_LARGER_H
#define TESTS_CUDA_HOST_LARGER_H

#include "../../src/api/ops.h"
#include "../../src/call/call.h"
extern "C" {
#include "../ops/sample.h"
}

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

using sizes_by = std::map<int64_t, int64_t>;

enum { LARGER_INPUT = 20000, LARGER_RESULT = 40000, LARGER_TEXT = 390 };

/* The text with the sizes of its shapes replaced, or without shapes its whole numbers; lists: also
 * what stands in lists of numbers. */
static std::string larger_text(const std::string &text, const sizes_by &by, bool lists,
                               std::set<int64_t> *seen) {
    const bool shapes = text.find('(') != std::string::npos;
    std::string out;
    char within = 0;
    for (size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (c == '(' || c == '[') within = c;
        if (c == ')' || c == ']') within = 0;
        const bool first = i && strchr("([,", text[i - 1]);
        size_t end = i;
        while (end < text.size() && isdigit((unsigned char)text[end])) end++;
        const bool number =
            !shapes && (i == 0 || text[i - 1] == ' ') && (end == text.size() || text[end] == ' ');
        if (end > i && (number || (first && (within == '(' || (lists && within == '['))))) {
            const int64_t size = atoll(text.substr(i, end - i).c_str());
            const auto to = by.find(size);
            if (seen && within != '[') seen->insert(size);
            out += to == by.end() ? text.substr(i, end - i) : std::to_string(to->second);
            i = end;
        } else {
            out += c;
            i++;
        }
    }
    return out;
}

/* Whether every shape of the text has at most LARGER_INPUT elements. */
static bool larger_fits(const std::string &text) {
    double numel = 1;
    for (size_t i = 0; i < text.size(); i++) {
        if (text[i] == '(') numel = 1;
        if (i && strchr("(,", text[i - 1]) && isdigit((unsigned char)text[i]))
            numel *= atof(text.c_str() + i);
        if (text[i] == ')' && numel > LARGER_INPUT) return false;
    }
    return text.size() < LARGER_TEXT;
}

/* Whether the call's results are not too large; also true if tensors without memory cannot say. */
static bool larger_runs(const tn_row *row, const std::string &text, bool *certain) {
    static sample s;
    tn_row one = *row;
    tn_tensor *out[SAMPLE_OUTS];
    tn_error_info e;
    int n = 0;
    const int64_t mark = tn_scope_begin();
    one.sample = text.c_str();
    bool fits = sample_make(&s, &one, 0, TN_F32, true);
    s.row = row;
    *certain = fits && sample_call(&s, TN_PLAIN, out, SAMPLE_OUTS, &n);
    for (int k = 0; *certain && k < n; k++)
        fits = fits && (!out[k] || tn_numel(out[k]) <= LARGER_RESULT);
    tn_error_take(&e);
    tn_scope_end(mark);
    return fits;
}

/* All larger forms of a sample. */
static void larger_forms(const std::string &text, std::set<std::string> *forms) {
    static const int64_t lengths[] = {3001, 1025, 1023, 257, 255, 130, 65, 33};
    static const int64_t all[][2] = {{7, 3}, {1, 31}, {16, 1}, {3, 0}};
    std::set<int64_t> sizes;
    std::vector<sizes_by> plans;
    larger_text(text, {}, false, &sizes);
    for (int64_t size : sizes)
        for (int64_t length : lengths)
            if (size > 1) plans.push_back({{size, length}});
    for (const auto &way : all) {
        sizes_by by;
        for (int64_t size : sizes)
            if (size > 1) by[size] = size * way[0] + way[1];
        plans.push_back(by);
    }
    for (const sizes_by &by : plans)
        for (int lists = 0; lists < 2; lists++) {
            const std::string larger = larger_text(text, by, lists, NULL);
            if (larger != text && larger_fits(larger)) forms->insert(larger);
        }
}

/* Up to n larger samples of a row, in an order that the seed draws; "": it has none. */
static std::string larger_samples(const tn_row *row, size_t n) {
    const char *seed = getenv("TN_SEED");
    std::string text = row->sample, found;
    std::set<std::string> forms;
    std::vector<std::pair<uint64_t, std::string>> drawn;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(" | ", at), text.size());
        larger_forms(text.substr(at, end - at), &forms);
        at = end + 3;
    }
    for (const std::string &form : forms) {
        const std::string key = (seed ? seed : "") + form;
        uint64_t hash = 0;
        bool certain;
        for (char c : key) hash = sample_hash(hash + (unsigned char)c);
        if (larger_runs(row, form, &certain))
            drawn.push_back({hash >> 1 | !certain * 1ull << 63, form});
    }
    std::sort(drawn.begin(), drawn.end());
    for (size_t i = 0; i < drawn.size() && i < n; i++) found += (i ? " | " : "") + drawn[i].second;
    return found;
}

/* Gives a row of the library other samples: rows are constants, so their memory is made writable
 * first. */
static void larger_give(const tn_row *of, const std::string &samples) {
    tn_row *row = (tn_row *)(uintptr_t)of;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
                    begin = (uintptr_t)&row->sample / page * page,
                    end = (uintptr_t)(&row->sample + 1);
    if (mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE) != 0) {
        perror("FAILED larger_give: mprotect");
        exit(1);
    }
    row->sample = strdup(samples.c_str());
}
/* Gives the library's rows n larger samples each in place of theirs. */
static void larger_take(size_t n) {
    for (int64_t r = 0; r < tn_row_count(); r++) {
        const tn_row *row = tn_row_at(r);
        if (row->sample && *row->sample) larger_give(row, larger_samples(row, n));
    }
}

/* Samples beside those of rows, or beside the larger ones. */
static const struct {
    const char *row;
    bool larger;
    const char *sample;
} LARGER_BESIDE[] = {
    /* Windows that miss the input between dilated elements: torch's backward writes elsewhere. */
    {"max_pool2d_with_indices", false, "(1,2,2,5) [2] padding=[1] dilation=[3,1]"},
    {"max_pool3d_with_indices", false, "(1,2,2,5,2) [2] padding=[1] dilation=[3,1,3]"},
    /* More lines than a grid of few blocks has threads. */
    {"logcumsumexp", true, "(2,1100) 0"},
    {"prod", true, "(2,1100):c64 0"},
    /* Sizes in lists that go together. */
    {"as_strided_scatter", true, "(2000) (3,400) [3,400] [400,3] accumulate=True"},
};
static void larger_beside(bool larger) {
    for (const auto &one : LARGER_BESIDE) {
        const tn_row *row = tn_row_named(one.row);
        if (!row || one.larger != larger) continue;
        const std::string had = row->sample;
        larger_give(row, had + (had.empty() ? "" : " | ") + one.sample);
    }
}

#endif
