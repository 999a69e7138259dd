/* classify.c - a command line tool that says what is in pictures.
 *
 *     cc -O2 -I. examples/classify.c -o classify -lm -pthread
 *     ./classify --train digits.safetensors        learns examples/fashion/digits, in seconds
 *     ./classify digits.safetensors a.pgm b.png
 *
 * Pictures are PNM (P5, P6) and, where the compiler finds stb_image.h, PNG and JPEG. The model may
 * be a part of the program:
 *
 *     cc -O2 tools/embed.c -o embed && ./embed digits.safetensors model > model.h
 *     cc -O2 -I. -DMODEL='"model.h"' examples/classify.c -o digits -lm -pthread */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<stb/stb_image.h>) && !defined(NO_STB) /* Debian's libstb-dev */
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#endif
#ifdef MODEL
#include MODEL
#endif
enum { SIDE = 8, CLASSES = 10, MOST_SIDE = 9999 };

/* Takes pixels 0..1, (N, 1, SIDE, SIDE); the first module normalises them. */
static tn_module *net_new(void) {
    return tn_sequential(
        tn_nn_batch_norm2d(1), tn_nn_conv2d(1, 16, TN_DIMS(3), .padding = TN_DIMS(1)), tn_nn_relu(),
        tn_nn_max_pool2d(TN_DIMS(2)), tn_nn_conv2d(16, 32, TN_DIMS(3), .padding = TN_DIMS(1)),
        tn_nn_relu(), tn_nn_max_pool2d(TN_DIMS(2)), tn_nn_flatten(),
        tn_nn_linear(32 * (SIDE / 4) * (SIDE / 4), CLASSES));
}
static bool show(const tn_progress *p, void *user) {
    (void)user;
    if (p->event == TN_EVENT_EPOCH_END)
        printf("epoch %2d   loss %.4f   %.1f %% of unseen pictures are right\n", (int)p->epoch + 1,
               p->loss, 100 * p->test_accuracy);
    return true;
}
/* Learns four fifths of the pictures. */
static void train(const char *path) {
    const tn_note names = {"classes", "0,1,2,3,4,5,6,7,8,9"};
    tn_manual_seed(1);
    tn_tensor *x = tn_unsqueeze(tn_load_idx("examples/fashion/digits/images-idx3-ubyte"), 1);
    tn_tensor *y = tn_load_idx("examples/fashion/digits/labels-idx1-ubyte");
    x = tn_div_scalar(tn_to_dtype(x, TN_F32), 16); /* white is 16 */
    tn_dataset *all = tn_dataset_tensors(TN_LIST(x, tn_to_dtype(y, TN_I64)));
    const int64_t n = tn_size(x, 0), some = n - n / 5;
    tn_dataset *unseen = tn_dataset_slice(tn_dataset_hold(all), some, n);
    tn_loader *test = tn_loader_new(unseen, .batch_size = 100);
    tn_dataset *seen = tn_dataset_slice(all, 0, some);
    tn_loader *learn = tn_loader_new(seen, .batch_size = 32, .shuffle = true);
    tn_module *net = net_new();
    tn_optimizer *adam = tn_optim_adam(tn_parameters(net), .lr = 2e-3);
    tn_train(net, adam, learn, .test = test, .epochs = 12, .on = show);
    tn_named_list state = tn_module_state_dict(net);
    if (tn_safetensors_save_at(__FILE__, __LINE__, path, state.at, state.n, &names, 1))
        printf("wrote %s\n", path);
    tn_named_free(state);
    tn_optimizer_free(adam);
    tn_module_free(net);
}
/* The network of a file, and the names of its classes; NULL with an error. */
static tn_module *load(tn_safetensors *f, char **name) {
    static char text[2000];
    const char *names = f ? tn_safetensors_note(f, "classes") : NULL;
    int n = 0;
    snprintf(text, sizeof text, "%s", names ? names : "");
    for (char *at = strtok(text, ","); at && n < CLASSES; at = strtok(NULL, ",")) name[n++] = at;
    if (tn_ok() && n < CLASSES)
        tn_error_set(TN_FORMAT, __FILE__, __LINE__, "the file is no model of this program");
    tn_module *net = tn_ok() ? net_new() : NULL;
    tn_named_list state = tn_module_state_dict(net);
    for (int64_t i = 0; i < state.n; i++)
        state.at[i].tensor = tn_safetensors_get(f, state.at[i].name);
    if (net && tn_module_load(net, state)) tn_module_train(net, false);
    tn_named_free(state);
    return net;
}
/* The next number of a PNM header, and the character behind it. */
static int pnm_number(FILE *f) {
    int c = fgetc(f), n = 0;
    for (; c == '#' || c == ' ' || (c >= '\t' && c <= '\r'); c = fgetc(f))
        while (c == '#' && (c = fgetc(f)) != '\n' && c != EOF) c = '#';
    for (; c >= '0' && c <= '9' && n <= MOST_SIDE; c = fgetc(f)) n = 10 * n + c - '0';
    return n;
}
/* A picture as bytes (height, width, colours) up to top; the caller frees them. NULL with why. */
static unsigned char *picture(const char *path, int *size, int *top, const char **why) {
    FILE *f = fopen(path, "rb");
    const int p = f ? fgetc(f) : 0, kind = f ? fgetc(f) : 0;
    unsigned char *bytes = NULL;
    *why = f ? "no picture that this program reads" : strerror(errno);
    if (p == 'P' && (kind == '5' || kind == '6')) {
        size[1] = pnm_number(f), size[0] = pnm_number(f), *top = pnm_number(f);
        size[2] = kind == '6' ? 3 : 1;
        const size_t n = (size_t)size[0] * (size_t)size[1] * (size_t)size[2];
        const bool good = n && size[0] <= MOST_SIDE && size[1] <= MOST_SIDE && *top && *top < 256;
        *why = good ? "the file ends too early" : "no header of a PNM file of 8 bits";
        if (good && (bytes = malloc(n)) && fread(bytes, 1, n, f) != n) free(bytes), bytes = NULL;
    }
#ifdef STB_IMAGE_IMPLEMENTATION
    else if (f)
        bytes = stbi_load(path, &size[1], &size[0], &size[2], 3), size[2] = 3, *top = 255;
#endif
    if (f) fclose(f);
    return bytes;
}
static bool classify(tn_module *net, char **name, const char *path) {
    int size[3], top;
    const char *why;
    unsigned char *bytes = picture(path, size, &top, &why);
    if (!bytes) return fprintf(stderr, "classify: %s: %s\n", path, why), false;
    TN_SCOPE {
        tn_tensor *x = tn_from(bytes, TN_DIMS(1, size[0], size[1], size[2]), TN_U8);
        x = tn_div_scalar(tn_mean(tn_to_dtype(x, TN_F32), .dim = TN_DIMS(3)), top); /* grey, 0..1 */
        x = tn_adaptive_avg_pool2d(x, TN_DIMS(SIDE, SIDE));
        if (tn_item(tn_mean(x)) > 0.5) x = tn_add_scalar(tn_neg(x), 1); /* dark on light */
        tn_values_indices best = tn_topk(tn_softmax(tn_forward(net, tn_unsqueeze(x, 0)), 1), 2);
        float chance[2];
        int64_t is[2];
        if (tn_read_f32(best.values, chance, 2) && tn_read_i64(best.indices, is, 2))
            printf("%-32s  %-10s %5.1f %%   %-10s %5.1f %%\n", path, name[is[0]], 100 * chance[0],
                   name[is[1]], 100 * chance[1]);
    }
    free(bytes);
    return tn_ok();
}
int main(int argc, char **argv) {
    char *name[CLASSES];
    int failed = 0, at = 2;
    if (argc == 3 && strcmp(argv[1], "--train") == 0) return train(argv[2]), tn_error_print();
#ifdef MODEL
    tn_safetensors *f = tn_safetensors_open_memory(model, model_bytes);
    at = 1;
#else
    tn_safetensors *f = argc > 2 ? tn_safetensors_open(argv[1]) : NULL;
#endif
    if (argc <= at) return fputs("classify MODEL PICTURE.. | --train MODEL\n", stderr), 2;
    tn_module *net = load(f, name);
    if (tn_ok()) printf("%-32s  %-10s  chance   %-10s  chance\n", "picture", "class", "or");
    for (; tn_ok() && at < argc; at++) failed |= !classify(net, name, argv[at]);
    tn_module_free(net);
    tn_safetensors_close(f);
    return tn_error_print() || failed;
}
