/* pictures.c - training and test pictures: Fashion-MNIST if it is there, else the digits that come
 * with the source. */
#include "fashion.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifndef FASHION_DIGITS
#define FASHION_DIGITS "examples/fashion/digits"
#endif
#ifndef FASHION_DATA
#define FASHION_DATA "build/fashion-mnist"
#endif

enum { LARGEST = 64 }; /* side of a picture */

static const char *const clothes[] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                      "sandal",  "shirt",   "sneaker",  "bag",   "boot"};
static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

static bool exists(const char *folder, const char *file) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "rb");
    if (f) fclose(f);
    return f != NULL;
}

static tn_tensor *load(const char *folder, const char *file) {
    char path[1000];
    tn_tensor *t = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    TN_SCOPE
        t = tn_hold(tn_load_idx(path));
    return t;
}

static bool is_labels(const tn_tensor *y, int64_t n) {
    const unsigned char *at = (const unsigned char *)tn_data(y);
    if (tn_ndim(y) != 1 || tn_dtype_of(y) != TN_U8 || tn_size(y, 0) != n) return false;
    for (int64_t i = 0; i < n; i++)
        if (at[i] > 9) return false;
    return true;
}

static bool load_pair(pictures *p, int which, const char *folder, const char *images,
                      const char *labels) {
    tn_tensor *x = p->images[which] = load(folder, images),
              *y = p->labels[which] = x ? load(folder, labels) : NULL;
    if (!y) return false;
    if (tn_ndim(x) != 3 || tn_dtype_of(x) != TN_U8 || tn_size(x, 0) < 1 || tn_size(x, 1) < 4 ||
        tn_size(x, 1) > LARGEST || tn_size(x, 1) % 4 != 0 || tn_size(x, 1) != tn_size(x, 2))
        return tn_error_set(
            TN_FORMAT, __FILE__, __LINE__,
            "%s/%s: expected square u8 pictures whose side is a multiple of 4, at most %d", folder,
            images, LARGEST);
    return is_labels(y, tn_size(x, 0)) ||
           tn_error_set(TN_FORMAT, __FILE__, __LINE__,
                        "%s/%s: expected labels 0 to 9, one for each of %lld pictures", folder,
                        labels, (long long)tn_size(x, 0));
}

/* The digits have no test part, so a fifth of them, drawn with a fixed seed, is held out. */
static bool load_digits(pictures *p) {
    tn_generator *g = tn_generator_new(0);
    bool ok = false;
    TN_SCOPE {
        if (!g || !load_pair(p, 0, FASHION_DIGITS, "images-idx3-ubyte", "labels-idx1-ubyte")) break;
        int64_t n = tn_size(p->labels[0], 0), train = n - n / 5;
        tn_tensor *order = tn_randperm(n, .generator = g), *images = p->images[0],
                  *labels = p->labels[0];
        tn_tensor *part[2] = {tn_slice(order, .end = train), tn_slice(order, .start = train)};
        for (int k = 0; k < 2; k++) {
            p->images[k] = tn_hold(tn_index_select(images, 0, part[k]));
            p->labels[k] = tn_hold(tn_index_select(labels, 0, part[k]));
        }
        tn_free(images);
        tn_free(labels);
        ok = tn_ok();
    }
    tn_generator_free(g);
    return ok;
}

bool pictures_load(pictures *p, const char *folder) {
    memset(p, 0, sizeof *p);
    if (!folder && exists(FASHION_DATA, "train-images-idx3-ubyte")) folder = FASHION_DATA;
    p->name = folder ? "Fashion-MNIST" : "digits";
    p->classes = folder ? clothes : digits;
    p->mean = folder ? 0.2860 : 4.884 / 255;
    p->std = folder ? 0.3530 : 6.017 / 255;
    p->top = folder ? 255 : 16;
    if (!folder) return load_digits(p);
    return load_pair(p, 0, folder, "train-images-idx3-ubyte", "train-labels-idx1-ubyte") &&
           load_pair(p, 1, folder, "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte");
}

void pictures_free(pictures *p) {
    for (int k = 0; k < 2; k++) tn_free(p->images[k]), tn_free(p->labels[k]);
    memset(p, 0, sizeof *p);
}

tn_dataset *pictures_dataset(const pictures *p, int test) {
    return tn_dataset_images(p->images[test], p->labels[test], p->mean, p->std);
}

/* u8 (H, W) to f32 (1, 1, H, W) as in the data set: ((v / 255) - mean) / std. */
static tn_tensor *normal(const pictures *p, tn_tensor *u8) {
    tn_tensor *x = tn_div_scalar(tn_to_dtype(u8, TN_F32), 255);
    x = tn_div_scalar(tn_add_scalar(x, -p->mean), p->std);
    x = tn_unsqueeze(tn_unsqueeze(x, 0), 0);
    return p->send ? p->send(x) : x;
}

tn_tensor *pictures_test(const pictures *p, int64_t index) {
    long long n = (long long)tn_size(p->labels[1], 0), i = (long long)index;
    if (i < 0 || i >= n)
        return tn_error_set(TN_INDEX, __FILE__, __LINE__,
                            "picture %lld does not exist: there are %lld", i, n),
               NULL;
    return normal(p, tn_select(p->images[1], 0, index));
}

static bool pgm_number(FILE *f, int *to) {
    int c = fgetc(f);
    while (c == '#' || c == ' ' || c == '\n' || c == '\r' || c == '\t') {
        while (c == '#' && (c = fgetc(f)) != '\n' && c != EOF) c = '#';
        c = fgetc(f);
    }
    for (*to = -1; c >= '0' && c <= '9' && *to < 100000; c = fgetc(f))
        *to = 10 * (*to < 0 ? 0 : *to) + c - '0';
    ungetc(c, f);
    return *to >= 0;
}

tn_tensor *pictures_pgm(const pictures *p, const char *path) {
    unsigned char bytes[LARGEST * LARGEST];
    int width = 0, height = 0, top = 0, size = (int)tn_size(p->images[0], 1);
    char magic[3] = "";
    FILE *f = fopen(path, "rb");
    if (!f) return tn_error_set(TN_FILE, __FILE__, __LINE__, "%s: %s", path, strerror(errno)), NULL;
    bool ok = fread(magic, 1, 2, f) == 2 && strcmp(magic, "P5") == 0 && pgm_number(f, &width) &&
              pgm_number(f, &height) && pgm_number(f, &top) && top > 0 && top < 256 &&
              width == size && height == size;
    if (ok) {
        fgetc(f); /* one character of white space ends the header */
        ok = fread(bytes, 1, (size_t)(size * size), f) == (size_t)(size * size);
    }
    fclose(f);
    if (!ok)
        return tn_error_set(
                   TN_FORMAT, __FILE__, __LINE__,
                   "%s: expected a binary PGM (P5) of %d x %d pixels and at most 255 grey levels",
                   path, size, size),
               NULL;
    for (int i = 0; i < size * size; i++) bytes[i] = (unsigned char)(bytes[i] * p->top / top);
    return normal(p, tn_from(bytes, TN_DIMS(size, size), TN_U8));
}
