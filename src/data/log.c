/* log.c - the figures of a training: a line for a terminal, a table (CSV) and a picture (SVG) of
 * its epochs. */
#include "../api/train.h"
#include "../optim/optim.h"
#include "data.h"

#include <math.h>

/* --- a line ----------------------------------------------------------------------------------- */

/* Text that ends where its room does. */
typedef struct log_line {
    char *to;
    size_t room, n;
} log_line;
static void log_put(log_line *l, const char *format, ...) TNI_PRINTF(2, 3);
static void log_put(log_line *l, const char *format, ...) {
    const size_t left = l->n < l->room ? l->room - l->n : 0;
    va_list list;
    int n;
    va_start(list, format);
    n = tn_text_list(left ? l->to + l->n : NULL, left, format, list);
    va_end(list);
    if (n > 0) l->n += (size_t)n;
}
/* A figure, if there is one: "  loss 0.2310", "  accuracy 92.15 %". */
static void log_figures(log_line *l, const char *set, double loss, double accuracy) {
    if (!isnan(loss)) log_put(l, "  %sloss %.4g", set, loss);
    if (!isnan(accuracy)) log_put(l, "  %saccuracy %.2f %%", set, 100 * accuracy);
}

TN_API size_t tn_progress_text(const tn_progress *p, char *text, size_t room) {
    log_line l = {text, room, 0};
    const bool under_way = p->event < TN_EVENT_TRAINED;
    char all[24];
    if (room) *text = 0;
    /* Numbers are as wide as the last of them, so that lines stand below each other. */
    snprintf(all, sizeof all, "%lld", (long long)p->epochs);
    log_put(&l, "epoch %*llu/%s", (int)strlen(all),
            (unsigned long long)p->epoch + (p->event != TN_EVENT_END), all);
    if (under_way) {
        char bar[17] = "................";
        const double part = p->steps > 0 ? (double)p->step / (double)p->steps : 0;
        for (int i = 0; i < 16 && i + 1 <= 16 * part; i++) bar[i] = '#';
        log_put(&l, " [%s]", bar);
    }
    log_figures(&l, "", p->loss, p->accuracy);
    log_figures(&l, "test ", p->test_loss, p->test_accuracy);
    log_put(&l, "  %.*f/s", p->rate < 10 ? 1 : 0, p->rate);
    if (under_way) log_put(&l, "  %.0f s left", p->remaining);
    return l.n;
}

/* --- what is kept ----------------------------------------------------------------------------- */

/* The figures of an epoch, in the order of the table's columns. */
enum { LOG_LOSS, LOG_TEST_LOSS, LOG_ACCURACY, LOG_TEST_ACCURACY, LOG_LR, LOG_SECONDS, LOG_FIGURES };
static const char *const log_columns[LOG_FIGURES] = {"loss",          "test_loss", "accuracy",
                                                     "test_accuracy", "lr",        "seconds"};
typedef struct log_epoch {
    double figure[LOG_FIGURES];
} log_epoch;

struct tn_train_log {
    tn_train_log_args a; /* csv and svg are copies */
    tni_buffer epochs;
    int64_t first; /* the epoch of the first of them, from 0 */
};

static const log_epoch *log_epochs(const tn_train_log *l, int64_t *n) {
    *n = l->epochs.n / (int64_t)sizeof(log_epoch);
    return (const log_epoch *)(const void *)l->epochs.at;
}

TN_API tn_train_log *tn_train_log_new_at(const char *file, int line,
                                         const tn_train_log_args *args) {
    tn_train_log *l = NULL;
    tni_step step;
    if (!tn_ok()) return NULL;
    tni_step_begin(&step, file, line, "train_log_new");
    l = (tn_train_log *)tn_alloc(sizeof *l);
    if (l) {
        memset(l, 0, sizeof *l);
        l->a.on = args->on;
        l->a.user = args->user;
        if (args->csv) l->a.csv = tni_text_copy(args->csv, strlen(args->csv));
        if (args->svg) l->a.svg = tni_text_copy(args->svg, strlen(args->svg));
        if (!tn_ok()) {
            tn_train_log_free(l);
            l = NULL;
        }
    }
    tni_step_end(&step);
    return l;
}
TN_API void tn_train_log_free(tn_train_log *l) {
    if (!l || !tn_context_exists()) return;
    tni_text_free((char *)(uintptr_t)l->a.csv);
    tni_text_free((char *)(uintptr_t)l->a.svg);
    tni_buffer_free(&l->epochs);
    tn_alloc_free(l, sizeof *l);
}

/* --- the table -------------------------------------------------------------------------------- */

static bool log_keep(tn_train_log *l, const log_epoch *e) {
    return tni_buffer_add(&l->epochs, e, sizeof *e) != NULL;
}
static void log_header(tni_buffer *b) {
    tni_buffer_text(b, "epoch");
    for (int i = 0; i < LOG_FIGURES; i++) tni_buffer_text(b, ",%s", log_columns[i]);
    tni_buffer_text(b, "\n");
}
static void log_table(const tn_train_log *l, tni_buffer *b) {
    int64_t n;
    const log_epoch *e = log_epochs(l, &n);
    log_header(b);
    for (int64_t i = 0; i < n; i++) {
        tni_buffer_text(b, "%lld", (long long)(l->first + i + 1));
        for (int k = 0; k < LOG_FIGURES; k++) {
            tni_buffer_text(b, ",");
            if (!isnan(e[i].figure[k])) tni_buffer_text(b, "%.9g", e[i].figure[k]);
        }
        tni_buffer_text(b, "\n");
    }
}

/* A number as log_table writes it, at most 9 digits; NaN for none. Such a number times a power of
 * ten is off by less than these digits show, so it is written as it was read. */
static double log_number(const char **at) {
    const char *c = *at;
    const bool minus = *c == '-';
    double value = 0;
    int digits = 0, exponent = 0, scale = 0;
    c += minus;
    if (!strncmp(c, "inf", 3)) {
        *at = c + 3;
        return minus ? -HUGE_VAL : HUGE_VAL;
    }
    for (bool point = false; (*c >= '0' && *c <= '9') || (*c == '.' && !point); c++) {
        if (*c == '.') {
            point = true;
            continue;
        }
        value = fma(value, 10, *c - '0');
        digits++;
        scale -= point;
    }
    if (digits && *c == 'e') {
        const bool down = *++c == '-';
        for (c += *c == '-' || *c == '+'; *c >= '0' && *c <= '9' && exponent < 1000; c++)
            exponent = exponent * 10 + (*c - '0');
        scale += down ? -exponent : exponent;
    }
    *at = c;
    if (!digits) return (double)NAN;
    if (scale < -300) { /* 10^-scale has no double */
        value /= 1e300;
        scale += 300;
    }
    value = scale < 0 ? value / pow(10, -scale) : value * pow(10, scale);
    return minus ? -value : value;
}
/* One line, at *at, and its epoch's number; false where it is none. */
static bool log_read_line(const char **at, double *number, log_epoch *e) {
    *number = log_number(at);
    for (int k = 0; k < LOG_FIGURES; k++) {
        if (**at != ',') return false;
        ++*at;
        e->figure[k] = log_number(at);
    }
    return *number >= 1 && tni_is_count(*number) && *(*at)++ == '\n';
}
/* The lines of epochs up to number `end`, below the header: one for each from the first on. */
static bool log_read_lines(tn_train_log *l, const char *at, int64_t end) {
    double number, last = 0;
    for (int64_t line = 2; *at; line++) {
        log_epoch e;
        if (!log_read_line(&at, &number, &e) || (last > 0 && number != last + 1))
            return tni_nn_error(TN_FORMAT, "'%s', line %lld: not a line of tn_train_log", l->a.csv,
                                (long long)line);
        if (number > (double)end) break;
        if (last <= 0) l->first = (int64_t)number - 1;
        last = number;
        if (!log_keep(l, &e)) return false;
    }
    if (last > 0 && last != (double)end)
        return tni_nn_error(TN_FORMAT, "'%s' ends with epoch %.0f, but training goes on with %lld",
                            l->a.csv, last, (long long)end + 1);
    return true;
}
/* What the file has of the epochs before this one. */
static bool log_read(tn_train_log *l, int64_t end) {
    tni_buffer text = {NULL, 0, 0, false};
    const int64_t mark = tn_scope_begin();
    const tn_tensor *bytes = tn_load_bytes_at(NULL, 0, l->a.csv);
    size_t header;
    bool ok = bytes != NULL;
    log_header(&text);
    header = (size_t)text.n;
    ok = ok && tni_buffer_add(&text, tn_data(bytes), tn_numel(bytes)) &&
         tni_buffer_add(&text, "", 1);
    if (ok && strncmp(text.at, text.at + header, header) != 0)
        ok = tni_nn_error(TN_FORMAT, "'%s' is not a table of tn_train_log", l->a.csv);
    ok = ok && log_read_lines(l, text.at + 2 * header, end);
    tni_buffer_free(&text);
    tn_scope_end(mark);
    return ok;
}

/* --- the picture ------------------------------------------------------------------------------ */

static const int log_width = 720, log_height = 400, log_side_width = 64, log_edge = 40;

/* An axis: its range, and whether there is a figure at all. */
typedef struct log_axis {
    double low, high;
    bool any;
} log_axis;
/* That of figure k and the one behind it, of the test set. */
static log_axis log_axis_of(const tn_train_log *l, int k) {
    log_axis s = {0, 0, false};
    int64_t n;
    const log_epoch *e = log_epochs(l, &n);
    for (int64_t i = 0; i < 2 * n; i++) {
        const double v = e[i / 2].figure[k + i % 2];
        if (!isfinite(v)) continue;
        if (!s.any || v < s.low) s.low = v;
        if (!s.any || v > s.high) s.high = v;
        s.any = true;
    }
    if (k == LOG_LOSS && s.low > 0) s.low = 0;
    if (k == LOG_ACCURACY) {
        s.low = fmin(floor(s.low * 10) / 10, 0.9);
        s.high = 1;
    }
    if (!(s.high > s.low)) s.high = s.low + fmax(1, fabs(s.low));
    return s;
}
static double log_y(double part) {
    return fma(-part, log_height - 2 * log_edge, log_height - log_edge);
}

/* A figure over all epochs: lines, broken where it is no number. */
static void log_curve(const tn_train_log *l, tni_buffer *b, int k, const log_axis *s,
                      const char *color) {
    int64_t n;
    const log_epoch *e = log_epochs(l, &n);
    bool drawn = false;
    tni_buffer_text(b, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" %sd=\"", color,
                    k % 2 ? "stroke-dasharray=\"6 4\" " : "");
    for (int64_t i = 0; i < n; i++) {
        const double v = e[i].figure[k], part = n > 1 ? (double)i / (double)(n - 1) : 0.5;
        const double x = fma(part, log_width - 2 * log_side_width, log_side_width);
        const bool fits = isfinite(v);
        if (fits)
            tni_buffer_text(b, "%s%.1f %.1f", drawn ? "L" : "M", x,
                            log_y((v - s->low) / (s->high - s->low)));
        if (fits && !drawn) tni_buffer_text(b, "h0.1"); /* alone it is a point */
        drawn = fits;
    }
    tni_buffer_text(b, "\"/>\n");
}
/* The axis of figure k and both curves, on the left or on the right side. */
static void log_side(const tn_train_log *l, tni_buffer *b, int k, bool right, const char *color) {
    const log_axis s = log_axis_of(l, k);
    const int x = right ? log_width - log_side_width + 8 : log_side_width - 8;
    const char *anchor = right ? "start" : "end", *unit = k == LOG_ACCURACY ? " %" : "";
    if (!s.any) return;
    tni_buffer_text(b, "<g fill=\"%s\">\n", color);
    for (int i = 0; i <= 4; i++)
        tni_buffer_text(b, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"%s\">%.3g%s</text>\n", x,
                        log_y(i / 4.0) + 4, anchor,
                        fma((s.high - s.low) * i, 0.25, s.low) * (*unit ? 100 : 1), unit);
    tni_buffer_text(b,
                    "<text x=\"%d\" y=\"24\" text-anchor=\"%s\">%s (dashed: test)</text>\n</g>\n",
                    right ? log_width - log_side_width : log_side_width, right ? "end" : "start",
                    log_columns[k]);
    log_curve(l, b, k, &s, color);
    log_curve(l, b, k + 1, &s, color);
}
static void log_picture(const tn_train_log *l, tni_buffer *b) {
    int64_t n;
    (void)log_epochs(l, &n);
    tni_buffer_text(b,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                    "font-family=\"sans-serif\" font-size=\"12\">\n"
                    "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                    log_width, log_height);
    for (int i = 0; i <= 4; i++)
        tni_buffer_text(b, "<path stroke=\"#ddd\" d=\"M%d %.1fH%d\"/>\n", log_side_width,
                        log_y(i / 4.0), log_width - log_side_width);
    log_side(l, b, LOG_LOSS, false, "#06c");
    log_side(l, b, LOG_ACCURACY, true, "#c50");
    tni_buffer_text(b,
                    "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">epochs %lld to %lld</text>\n"
                    "</svg>\n",
                    log_width / 2, log_height - 12, (long long)l->first + 1,
                    (long long)(l->first + n));
}

/* --- a callback ------------------------------------------------------------------------------- */

/* Writes a file anew, if it is asked for. */
static bool log_write(const tn_train_log *l, const char *path,
                      void (*text)(const tn_train_log *, tni_buffer *)) {
    tni_buffer b = {NULL, 0, 0, false};
    bool ok = true;
    if (!path) return true;
    text(l, &b);
    ok = tn_ok() && tn_save_bytes_at(NULL, 0, path, b.at, (size_t)b.n);
    tni_buffer_free(&b);
    return ok;
}
/* A training that begins at its first epoch begins a table; one that is resumed goes on in it. */
static bool log_begin(tn_train_log *l, int64_t epoch) {
    bool exists = false;
    tni_buffer_free(&l->epochs);
    l->first = epoch;
    if (!epoch || !l->a.csv) return true;
    if (tn_file_exists_at(NULL, 0, l->a.csv, &exists) && (!exists || log_read(l, epoch)))
        return true;
    tni_buffer_free(&l->epochs); /* lines before the wrong one */
    return false;
}
static bool log_epoch_end(tn_train_log *l, const tn_progress *p) {
    const log_epoch e = {{p->loss, p->test_loss, p->accuracy, p->test_accuracy, p->lr, p->seconds}};
    return log_keep(l, &e) && log_write(l, l->a.csv, log_table) &&
           log_write(l, l->a.svg, log_picture);
}

TN_API bool tn_train_log_on(const tn_progress *p, void *log) {
    tn_train_log *l = (tn_train_log *)log;
    if (p->event == TN_EVENT_BEGIN && !log_begin(l, p->epoch)) return false;
    if (p->event == TN_EVENT_EPOCH_END && !log_epoch_end(l, p)) return false;
    return !l->a.on || l->a.on(p, l->a.user);
}
