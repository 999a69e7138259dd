/* fashion.h - trains a network on pictures of clothes (Fashion-MNIST) or of handwritten digits.
 *
 *   main.c      the command: train, resume, predict
 *   cuda.inc    --device cuda
 *   pictures.c  loads and normalises pictures
 *   model.c     the network
 *   show.c      shows progress on the terminal
 *   chart.c     draws the loss curve and a grid of test pictures as SVG
 *   impl.c      the library, compiled once */
#ifndef FASHION_H
#define FASHION_H

#include "tensor_nn.h"

typedef struct pictures {
    tn_tensor *images[2], *labels[2]; /* [0] training, [1] test; u8 (N, H, W), u8 (N); held */
    const char *name;                 /* "Fashion-MNIST", "digits" */
    const char *const *classes;       /* ten names */
    double mean, std;                 /* of pixels / 255 */
    int top;                          /* value of the brightest pixel */
    tn_tensor *(*send)(tn_tensor *x); /* a picture to the network's device; NULL: it stays */
} pictures;

/* Loads the IDX files of folder. NULL: Fashion-MNIST if `make data` has unpacked it, else the
 * digits beside this program. False with an error. */
bool pictures_load(pictures *p, const char *folder);
void pictures_free(pictures *p);
tn_dataset *pictures_dataset(const pictures *p, int test);
/* A picture as the network takes it, f32 (1, 1, H, W): test picture `index`, or a PGM file of the
 * same size, sent. NULL with an error. */
tn_tensor *pictures_test(const pictures *p, int64_t index);
tn_tensor *pictures_pgm(const pictures *p, const char *path);

/* Conv(1,32,3,pad 1)-ReLU-Pool-Conv(32,64,3,pad 1)-ReLU-Pool-FC(128)-ReLU-FC(10), for pictures of
 * size x size. */
tn_module *model_new(int64_t size);
/* The picture size of a saved model; 0 with an error. */
int64_t model_size_of(const char *checkpoint);

typedef struct history {
    float *loss; /* of each step */
    int64_t steps, room;
    double accuracy[400]; /* on the test pictures, after each epoch */
    int64_t epochs, first;
} history;

typedef struct show {
    history history;
    bool terminal;
    double shown; /* when the bar was last drawn, in seconds */
} show;
void show_begin(show *s);
void show_end(show *s);
bool show_progress(const tn_progress *p, void *user);

bool chart_curve(const char *path, const history *h);
bool chart_grid(const char *path, const pictures *p, tn_module *model);

#endif
