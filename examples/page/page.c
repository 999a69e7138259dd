/* page.c - what the page computes: a network of two layers learns digits of 8 x 8 pixels.
 *
 * page.js calls the functions marked PAGE; they answer with numbers, or with the address of floats
 * in the module's memory. build.sh compiles this file to WebAssembly. */
#define TENSOR_TRIM
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

/* build.sh writes DIGITS, and digits[i]: two pixels a byte, the label last */
#include "digits.h"

#ifdef __wasm__
#define PAGE(name) __attribute__((export_name(#name))) name
#else
#define PAGE(name) name /* tests/page compares with a program of this machine */
#endif

enum { PIXELS = 64, HIDDEN = 32, CLASSES = 10, BATCH = 64 };
enum { HELD = DIGITS / 5, TRAIN = DIGITS - HELD };

static tn_module *net;
static tn_optimizer *optimizer;
static tn_tensor *pictures[2], *labels[2]; /* [0] to learn, [1] held out; f32 (N, 64), i64 (N) */
static int64_t guesses[HELD];
static float drawn[PIXELS], chances[CLASSES];

/* Every fifth digit of a random order is held out. No step of training reads it. */
static void load(void) {
    static float pixels[DIGITS][PIXELS];
    static int64_t names[DIGITS];
    for (int i = 0; i < DIGITS; i++) {
        for (int k = 0; k < PIXELS; k++)
            pixels[i][k] = (float)(digits[i][k / 2] >> (k % 2 ? 0 : 4) & 15) / 15;
        names[i] = digits[i][PIXELS / 2];
    }
    TN_SCOPE {
        tn_tensor *order = tn_randperm(DIGITS);
        tn_tensor *all = tn_wrap(pixels, TN_DIMS(DIGITS, PIXELS), TN_F32, NULL);
        tn_tensor *label = tn_wrap(names, TN_DIMS(DIGITS), TN_I64, NULL);
        for (int held = 0; held < 2; held++) {
            tn_tensor *part =
                held ? tn_slice(order, .start = TRAIN) : tn_slice(order, .end = TRAIN);
            pictures[held] = tn_hold(tn_index_select(all, 0, part));
            labels[held] = tn_hold(tn_index_select(label, 0, part));
        }
    }
}

/* A new network. False: page_error says why. */
bool PAGE(page_reset)(int seed) {
    if (!pictures[0]) {
        tn_manual_seed(0); /* the same digits are held out, whatever the seed */
        load();
    }
    tn_optimizer_free(optimizer);
    tn_module_free(net);
    tn_manual_seed((uint64_t)seed);
    net = tn_sequential(tn_nn_linear(PIXELS, HIDDEN), tn_nn_relu(), tn_nn_linear(HIDDEN, CLASSES));
    optimizer = tn_optim_adam(tn_parameters(net), .weight_decay = 1e-4);
    return tn_ok();
}

/* One step on BATCH random digits of those to learn. Returns the loss; negative: page_error. */
float PAGE(page_train)(double rate) {
    double loss = 0;
    TN_SCOPE {
        tn_tensor *chosen = tn_randint(TRAIN, TN_DIMS(BATCH));
        tn_tensor *scores = tn_forward(net, tn_index_select(pictures[0], 0, chosen));
        tn_tensor *error = tn_cross_entropy(scores, tn_index_select(labels[0], 0, chosen));
        tn_optimizer_zero_grad(optimizer);
        tn_backward(error);
        tn_optimizer_set(optimizer, 0, "lr", rate);
        tn_optimizer_step(optimizer);
        loss = tn_item(error);
    }
    return tn_ok() ? (float)loss : -1;
}

/* The part of the held-out digits that the network reads as their labels; negative: page_error. */
float PAGE(page_test)(void) {
    int right = 0;
    TN_SCOPE {
        tn_inference_mode {
            tn_tensor *best = tn_argmax(tn_forward(net, pictures[1]), .dim = 1);
            const int64_t *label = (const int64_t *)tn_data(labels[1]),
                          *guess = (const int64_t *)tn_data(best);
            for (int i = 0; guess && i < HELD; i++) {
                guesses[i] = guess[i];
                right += guess[i] == label[i];
            }
        }
    }
    return tn_ok() ? (float)right / HELD : -1;
}

/* The ten probabilities of the picture in page_drawn's memory. NULL: page_error. */
const float *PAGE(page_read)(void) {
    TN_SCOPE {
        tn_inference_mode {
            tn_tensor *x = tn_from(drawn, TN_DIMS(1, PIXELS), TN_F32);
            const float *p = (const float *)tn_data(tn_softmax(tn_forward(net, x), 1));
            for (int i = 0; p && i < CLASSES; i++) chances[i] = p[i];
        }
    }
    return tn_ok() ? chances : NULL;
}

float *PAGE(page_drawn)(void) { return drawn; }         /* 64 pixels, 0 to 1 */
int PAGE(page_hidden)(void) { return HIDDEN; }          /* pictures of weights */
int PAGE(page_held)(void) { return HELD; }              /* held-out digits */
int PAGE(page_guess)(int i) { return (int)guesses[i]; } /* of the last page_test */
const float *PAGE(page_weights)(void) {                 /* (HIDDEN, 64) */
    return (const float *)tn_data(tn_parameters(net).at[0]);
}
const float *PAGE(page_digit)(int i) { /* a held-out digit, 64 pixels */
    return (const float *)tn_data(pictures[1]) + PIXELS * i;
}
int PAGE(page_label)(int i) { return (int)((const int64_t *)tn_data(labels[1]))[i]; }
const char *PAGE(page_set)(void) { return tn_isa(); } /* the instruction set in use */

const char *PAGE(page_error)(void) {
    tn_error_info e = {TN_OK, NULL, NULL, 0};
    return tn_error_peek(&e) ? e.message : "";
}
