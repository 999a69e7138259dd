/* fashion.h - a network that learns pictures of clothes (Fashion-MNIST) or handwritten digits.
 *
 *   main.c      the command: learn, go on, predict
 *   pictures.c  where the pictures come from
 *   model.c     the network
 *   show.c      progress on the terminal
 *   chart.c     loss curve and test grid as SVG
 *   impl.c      the library, compiled once */
#ifndef FASHION_H
#define FASHION_H

#include "tensor_nn.h"

typedef struct pictures {
    tn_tensor *images[2], *labels[2]; /* training and test; u8 (N, H, W), int64 (N); held */
    const char *name;                 /* "Fashion-MNIST", "digits" */
    const char *const *classes;       /* ten names */
    double mean, std;                 /* of v / 255 */
    int top;                          /* brightest level */
} pictures;

/* From folder (NULL: Debian's Fashion-MNIST unpacked by `make data`, else the digits beside this
 * program). */
bool pictures_load(pictures *p, const char *folder);
void pictures_free(pictures *p);
tn_dataset *pictures_dataset(const pictures *p, int test);
/* A picture as the network takes it, (1, 1, H, W): test picture `index`, or a PGM file of that
 * size. */
tn_tensor *pictures_test(const pictures *p, int64_t index);
tn_tensor *pictures_pgm(const pictures *p, const char *path);

/* Conv(1,32,3,pad 1)-ReLU-Pool-Conv(32,64,3,pad 1)-ReLU-Pool-FC(128)-FC(10) for size x size
 * pictures. */
tn_module *model_new(int64_t size);
int64_t model_size_of(const char *checkpoint); /* picture size of a saved model; 0 with an error */

typedef struct history {
    float *loss; /* of each step */
    int64_t steps, room;
    double accuracy[400]; /* test accuracy of each epoch */
    int64_t epochs, first;
} history;

typedef struct show {
    history history;
    bool terminal;
    double shown; /* seconds at which the bar was drawn last */
} show;
void show_begin(show *s);
void show_end(show *s);
bool show_progress(const tn_progress *p, void *user);

bool chart_curve(const char *path, const history *h);
bool chart_grid(const char *path, const pictures *p, tn_module *model);

#endif
