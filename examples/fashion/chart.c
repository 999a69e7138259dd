/* chart.c - draws the loss curve and a grid of test pictures with the network's guesses, as SVG. */
#include "fashion.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 720, HEIGHT = 400, LEFT = 60, RIGHT = 60, TOP = 40, BOTTOM = 40, POINTS = 300 };

static FILE *chart_open(const char *path, int width, int height) {
    FILE *f = fopen(path, "w");
    if (!f) {
        tn_error_set(TN_FILE, __FILE__, __LINE__, "%s: %s", path, strerror(errno));
        return NULL;
    }
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height);
    return f;
}

static bool chart_close(FILE *f, const char *path) {
    fprintf(f, "</svg>\n");
    bool ok = !ferror(f);
    if (fclose(f) != 0) ok = false;
    return ok || tn_error_set(TN_FILE, __FILE__, __LINE__, "%s: cannot be written: %s", path,
                              strerror(errno));
}

static double x_of(double part) { return LEFT + part * (WIDTH - LEFT - RIGHT); }
static double y_of(double part) { return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM); }

/* Where the accuracy's axis begins: the worst accuracy, rounded down to a multiple of 10 %. */
static double lowest(const history *h) {
    int low = 9;
    for (int64_t i = 0; i < h->epochs; i++)
        while (low > 0 && !(h->accuracy[i] * 10 >= low)) low--;
    return low / 10.0;
}

static void axes(FILE *f, const history *h, double top, double low) {
    for (int i = 0; i <= 4; i++) {
        fprintf(f, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", LEFT,
                WIDTH - RIGHT, y_of(i / 4.0), y_of(i / 4.0));
        fprintf(f, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#06c\">%.2f</text>\n",
                LEFT - 6, y_of(i / 4.0) + 4, top * i / 4);
        fprintf(f, "<text x=\"%d\" y=\"%.1f\" fill=\"#c50\">%g %%</text>\n", WIDTH - RIGHT + 8,
                y_of(i / 4.0) + 4, 100 * (low + (1 - low) * i / 4));
    }
    fprintf(f,
            "<text x=\"%d\" y=\"24\" fill=\"#06c\">training loss</text><text x=\"%d\" y=\"24\" "
            "text-anchor=\"end\" "
            "fill=\"#c50\">test accuracy</text>\n",
            LEFT, WIDTH - RIGHT);
    fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">epochs %lld to %lld</text>\n",
            WIDTH / 2, HEIGHT - 12, (long long)h->first + 1, (long long)(h->first + h->epochs));
}

bool chart_curve(const char *path, const history *h) {
    FILE *f = chart_open(path, WIDTH, HEIGHT);
    int64_t each = h->steps / POINTS + 1;
    double top = 0, low = lowest(h);
    if (!f) return false;
    for (int64_t i = 0; i < h->steps; i++)
        if (h->loss[i] > top) top = h->loss[i];
    if (top <= 0) top = 1;
    axes(f, h, top, low);
    fprintf(f, "<polyline fill=\"none\" stroke=\"#06c\" points=\"");
    for (int64_t i = 0; i < h->steps; i += each) { /* a point for the mean of `each` steps */
        double sum = 0;
        int64_t n = 0;
        for (; n < each && i + n < h->steps; n++) sum += h->loss[i + n];
        fprintf(f, "%.1f,%.1f ", x_of(((double)i + (double)n / 2) / (double)h->steps),
                y_of(sum / (double)n / top));
    }
    fprintf(f, "\"/>\n<g fill=\"#c50\" stroke=\"#c50\" stroke-width=\"2\">\n");
    for (int64_t i = 0; i < h->epochs; i++) { /* a point for each epoch, joined */
        double x[2], y[2];
        for (int k = 0; k < 2; k++) {
            int64_t at = i - k < 0 ? 0 : i - k;
            double part = (h->accuracy[at] - low) / (1 - low);
            x[k] = x_of((double)(at + 1) / (double)h->epochs);
            y[k] = y_of(part > 0 ? part : 0);
        }
        fprintf(f,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>\n",
                x[1], y[1], x[0], y[0], x[0], y[0]);
    }
    fprintf(f, "</g>\n");
    return chart_close(f, path);
}

/* One picture as squares and the guess below, green or red; below a wrong guess the true name. */
static void picture(FILE *f, const pictures *p, int64_t i, int64_t guess, int x, int y) {
    int size = (int)tn_size(p->images[1], 1);
    const unsigned char *at = (const unsigned char *)tn_data(p->images[1]) + i * size * size;
    int64_t label = 0;
    double side = 84.0 / size;
    TN_SCOPE
        label = tn_item_int(tn_select(p->labels[1], 0, i));
    fprintf(f,
            "<g transform=\"translate(%d,%d)\" shape-rendering=\"crispEdges\">"
            "<rect width=\"84\" height=\"84\" fill=\"#000\"/>",
            x, y);
    for (int k = 0; k < size * size; k++) {
        int v = at[k] * 255 / p->top;
        if (v)
            fprintf(f,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.2f\" "
                    "fill=\"#%02x%02x%02x\"/>",
                    k % size * side, k / size * side, side, side, v, v, v);
    }
    fprintf(f, "<text x=\"42\" y=\"98\" text-anchor=\"middle\" fill=\"%s\">%s</text>",
            guess == label ? "#060" : "#c00", p->classes[guess]);
    if (guess != label)
        fprintf(f, "<text x=\"42\" y=\"111\" text-anchor=\"middle\" fill=\"#666\">is %s</text>",
                p->classes[label]);
    fprintf(f, "</g>\n");
}

bool chart_grid(const char *path, const pictures *p, tn_module *model) {
    FILE *f = chart_open(path, 8 * 100 + 16, 6 * 122 + 16);
    bool mode;
    if (!f) return false;
    mode = tn_set_grad_mode(false);
    tn_module_train(model, false);
    for (int64_t i = 0; i < 48 && i < tn_size(p->labels[1], 0) && tn_ok(); i++)
        TN_SCOPE {
            tn_tensor *guess = tn_argmax(tn_forward(model, pictures_test(p, i)));
            if (guess)
                picture(f, p, i, tn_item_int(guess), (int)(i % 8) * 100 + 16,
                        (int)(i / 8) * 122 + 16);
        }
    tn_module_train(model, true);
    tn_set_grad_mode(mode);
    return chart_close(f, path) && tn_ok();
}
