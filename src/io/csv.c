/* csv.c - tables of numbers as text (RFC 4180) as tensors.
 *
 * Numbers have a '.', whatever the program's locale. The file is read whole and gone through twice:
 * its rows are counted, then its cells become elements. */
#include "io.h"
#include "../base/real.h"

enum { CSV_NUMBER = 64 }; /* a longer cell is no number */

typedef struct csv_reader {
    tni_block *b;
    const char *path, *begin, *at, *end;
    char delimiter;
    /* The cell that was read: its text, whether a line ends behind it, where it is from 1. */
    const char *from, *to;
    bool quoted, last;
    int64_t line, next_line, column;
} csv_reader;

static void csv_rewind(csv_reader *r) {
    r->at = r->begin;
    /* A mark of UTF-8. */
    if (r->end - r->at >= 3 && memcmp(r->at, "\xef\xbb\xbf", 3) == 0) r->at += 3;
    r->line = r->column = 0;
    r->next_line = 1;
    r->last = true;
}

/* An error at the cell; its text is shown. */
static bool csv_bad(const csv_reader *r, const char *what) {
    const int64_t n = r->to - r->from;
    return tni_error(r->b, TN_FORMAT, "'%s', line %lld, column %lld: '%.*s' %s", r->path,
                     (long long)r->line, (long long)r->column, n < 40 ? (int)n : 40, r->from, what);
}

static bool csv_is_blank(const csv_reader *r, char c) {
    return (c == ' ' || c == '\t' || c == '\r') && c != r->delimiter;
}
static const char *csv_skip_blanks(const csv_reader *r, const char *at) {
    while (at < r->end && csv_is_blank(r, *at)) at++;
    return at;
}

/* The text between quotes, of which two stand for one; at is behind the first. */
static const char *csv_quoted(csv_reader *r, const char *at) {
    for (; at < r->end; at++) {
        if (*at == '\n') r->next_line++;
        if (*at != '"') continue;
        if (at + 1 == r->end || at[1] != '"') break;
        at++;
    }
    return at;
}

/* The next cell; false at the end and with an error. */
static bool csv_next(csv_reader *r) {
    const char *at = csv_skip_blanks(r, r->at);
    /* Empty lines are no rows. */
    for (; r->last && at < r->end && *at == '\n'; r->next_line++) at = csv_skip_blanks(r, at + 1);
    if (r->last && at == r->end) return false;
    r->column = r->last ? 1 : r->column + 1;
    r->line = r->next_line;
    r->quoted = at < r->end && *at == '"';
    r->from = at + r->quoted;
    if (r->quoted) {
        r->to = at = csv_quoted(r, r->from);
        if (at == r->end) return csv_bad(r, "has no closing quote");
        at = csv_skip_blanks(r, at + 1);
        if (at < r->end && *at != r->delimiter && *at != '\n')
            return csv_bad(r, "is followed by text behind its quote");
    } else {
        while (at < r->end && *at != r->delimiter && *at != '\n') at++;
        for (r->to = at; r->to > r->from && csv_is_blank(r, r->to[-1]);) r->to--;
    }
    r->last = at == r->end || *at == '\n';
    if (at < r->end && *at == '\n') r->next_line++;
    r->at = at < r->end ? at + 1 : at;
    return true;
}

/* Writes the cell as an element; false if it is no number of that dtype. */
static bool csv_number(const csv_reader *r, int dtype, void *to) {
    const tni_dtype_info *info = tni_dtype(dtype);
    const size_t n = (size_t)(r->to - r->from);
    const int before = errno;
    char text[CSV_NUMBER], *end;
    uint64_t large = 0;
    bool fits;
    double v;
    if (n >= sizeof text || memchr(r->from, 0, n)) return false;
    memcpy(text, r->from, n);
    text[n] = 0;
    if (info->category == TNI_CAT_FLOAT) {
        if (n == 0) v = (double)NAN;
        if (n && !tni_real(text, &v)) return false;
        tni_element_set(to, dtype, tn_float(v));
        return true;
    }
    /* Whole numbers are read exactly; only uint64 has some that int64 lacks. */
    errno = 0;
    if (dtype == TN_U64)
        large = (uint64_t)strtoull(text, &end, 10);
    else
        large = (uint64_t)(int64_t)strtoll(text, &end, 10);
    fits = n && !*end && errno == 0 && (dtype != TN_U64 || !strchr(text, '-'));
    errno = before;
    v = (double)(int64_t)large;
    if (info->bytes < 8)
        fits = fits && v <= info->largest && v >= (info->is_signed ? -info->largest - 1 : 0);
    if (!fits) return false;
    if (dtype == TN_U64)
        memcpy(to, &large, sizeof large);
    else
        tni_element_set(to, dtype, tn_int((int64_t)large));
    return true;
}

/* What a table has, with its header's row if there is one. */
typedef struct csv_table {
    int64_t rows, columns;
    bool header;
} csv_table;

/* Counts rows and columns. The first row is a header if it is said to be one, or has a cell that is
 * no number. */
static bool csv_count(csv_reader *r, csv_table *t, tn_csv_header header) {
    double v;
    memset(t, 0, sizeof *t);
    t->header = header == TN_CSV_NAMES;
    for (csv_rewind(r); csv_next(r);) {
        if (t->rows == 0 && header == TN_CSV_FIND && !csv_number(r, TN_F64, &v)) t->header = true;
        if (!r->last) continue;
        if (t->rows++ == 0) t->columns = r->column;
        if (r->column != t->columns)
            return tni_error(r->b, TN_FORMAT,
                             "'%s', line %lld: it has %lld cells, the first row %lld", r->path,
                             (long long)r->line, (long long)r->column, (long long)t->columns);
    }
    if (t->header && t->rows == 0) t->header = false;
    t->rows -= t->header;
    return !r->b->failed;
}

/* The header's cells; tensors are NULL. */
static bool csv_names(csv_reader *r, const csv_table *t, tn_named_list *list) {
    char *to;
    /* Names are no longer than the file. */
    if (!tni_named_begin(list, t->columns, t->columns ? r->end - r->begin + t->columns : 0, &to))
        return false;
    list->owned = false;
    for (csv_rewind(r); list->n < t->columns && csv_next(r);) {
        list->at[list->n].name = to;
        list->at[list->n++].tensor = NULL;
        for (const char *p = r->from; p < r->to; p++) {
            if (*p) *to++ = *p;
            if (r->quoted && *p == '"') p++;
        }
        *to++ = 0;
        if (!tni_text_fits(list->at[list->n - 1].name)) return csv_bad(r, "is not UTF-8");
    }
    return true;
}

static tn_tensor *csv_tensor(csv_reader *r, const csv_table *t, int dtype) {
    const int64_t size[2] = {t->rows, t->columns}, each = tni_dtype(dtype)->bytes;
    int64_t numel;
    tn_tensor *table;
    char *to;
    if (!tni_numel_of(2, size, &numel)) {
        tni_memory_error(r->b, INT64_MAX);
        return NULL;
    }
    table = tni_new(r->b, dtype, 2, size);
    if (!table || numel == 0) return table;
    to = (char *)table->storage->data;
    csv_rewind(r);
    for (int64_t i = t->header ? -t->columns : 0; i < numel && csv_next(r); i++) {
        char text[64];
        if (i < 0 || csv_number(r, dtype, to + i * each)) continue;
        snprintf(text, sizeof text, "is no %s", tni_dtype(dtype)->text);
        csv_bad(r, text);
        tni_drop(r->b, table);
        return NULL;
    }
    return table;
}

static tn_tensor *csv_load(csv_reader *r, const tn_csv_args *args) {
    const tni_block *b = r->b;
    const int dtype = args->dtype ? (int)args->dtype : (int)tni_tensors(b->context)->default_dtype;
    const int category = tni_dtype(dtype)->category;
    csv_table t;
    tn_tensor *table;
    if ((category != TNI_CAT_FLOAT && category != TNI_CAT_INT) || !tni_dtype(dtype)->bytes) {
        tni_error(r->b, TN_TYPE, "tn_load_csv: expected an integer or floating dtype, got %s",
                  tni_dtype(dtype)->text);
        return NULL;
    }
    if (strchr("\"\r\n.+-", r->delimiter) || (r->delimiter >= '0' && r->delimiter <= '9')) {
        tni_error(r->b, TN_INVALID, "tn_load_csv: '%c' cannot be a delimiter", r->delimiter);
        return NULL;
    }
    if (!csv_count(r, &t, args->header)) return NULL;
    table = csv_tensor(r, &t, dtype);
    if (!table || !args->columns || !t.header || csv_names(r, &t, args->columns)) return table;
    tn_named_free(*args->columns);
    memset(args->columns, 0, sizeof *args->columns);
    tni_drop(r->b, table);
    return NULL;
}

TN_API tn_tensor *tn_load_csv_at(const char *file, int line, const tn_csv_args *args) {
    tni_block *b = tni_io_enter(file, line);
    tn_tensor *t = NULL;
    csv_reader r;
    char *whole;
    int64_t bytes;
    if (args && args->columns) memset(args->columns, 0, sizeof *args->columns);
    if (!b) return NULL;
    whole = args ? tni_file_whole(b, args->path, &bytes) : NULL;
    if (whole) {
        memset(&r, 0, sizeof r);
        r.b = b;
        r.path = args->path;
        r.begin = whole;
        r.end = whole + bytes;
        r.delimiter = args->delimiter;
        if (!r.delimiter) r.delimiter = ',';
        t = csv_load(&r, args);
        tni_put(b, b, whole, bytes + 1);
    }
    if (!args) tni_error(b, TN_INVALID, "tn_load_csv: the arguments are NULL");
    tni_io_leave(b);
    return t;
}
