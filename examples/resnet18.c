/* resnet18.c - torchvision's ResNet-18: the same parts, names and numbers, so its weights load.
 *
 * A block adds what two convolutions find to what it was given, and where the picture shrinks, a
 * convolution of size 1 fits the one to the other (K. He et al., Deep residual learning for image
 * recognition, 2016).
 *
 *     cc -O2 -I. examples/resnet18.c -o resnet18 -lm -pthread
 *     ./resnet18                                 its layers; the scores of made weights for noise
 *     ./resnet18 --save made.safetensors         writes these weights, too
 *     ./resnet18 resnet18.safetensors cat.ppm    weights of a file, and a picture (P6)
 *
 * torchvision's weights become such a file by save_file of the package safetensors:
 *     save_file(resnet18(weights="DEFAULT").state_dict(), "resnet18.safetensors") */
#define TENSOR_IMPLEMENTATION
#define TENSOR_NN_IMPLEMENTATION
#include "tensor_nn.h"

#include <stdio.h>
#include <string.h>

enum { SIDE = 224, CLASSES = 1000, SHOWN = 5 };

static tn_module *conv(int in, int out, int size, int stride) {
    return tn_nn_conv2d(in, out, TN_DIMS(size), .stride = TN_DIMS(stride),
                        .padding = TN_DIMS(size / 2), .bias = false);
}

/* --- a block: (N, in, H, W) -> (N, out, H / stride, W / stride) ------------------------------- */

typedef struct block {
    tn_module base;
    tn_module *conv1, *bn1, *conv2, *bn2, *downsample;
} block;

static bool block_forward(tn_mframe *f) {
    block *s = (block *)f->m;
    tn_tensor *x = tn_input(f, 0);
    tn_tensor *y = tn_relu(tn_forward(s->bn1, tn_forward(s->conv1, x)));
    y = tn_forward(s->bn2, tn_forward(s->conv2, y));
    if (s->downsample) x = tn_forward(s->downsample, x);
    return (f->out[0] = tn_relu(tn_add(y, x))) != NULL;
}
static const tn_mrow block_row = {
    .name = "BasicBlock", .size = sizeof(block), .forward = block_forward};
static tn_module *block_new(int in, int out, int stride) {
    block *s = tn_module_new(&block_row);
    TN_ADD_CHILD(s, conv1, conv(in, out, 3, stride));
    TN_ADD_CHILD(s, bn1, tn_nn_batch_norm2d(out));
    TN_ADD_CHILD(s, conv2, conv(out, out, 3, 1));
    TN_ADD_CHILD(s, bn2, tn_nn_batch_norm2d(out));
    if (stride > 1)
        TN_ADD_CHILD(s, downsample,
                     tn_sequential(conv(in, out, 1, stride), tn_nn_batch_norm2d(out)));
    return tn_module_finish((tn_module *)s);
}
static tn_module *layer_new(int in, int out, int stride) {
    return tn_sequential(block_new(in, out, stride), block_new(out, out, 1));
}

/* --- the network: pictures (N, 3, H, W) -> scores (N, CLASSES) -------------------------------- */

typedef struct resnet {
    tn_module base;
    tn_module *conv1, *bn1, *layer1, *layer2, *layer3, *layer4, *fc;
} resnet;

static bool resnet_forward(tn_mframe *f) {
    resnet *s = (resnet *)f->m;
    tn_tensor *x = tn_relu(tn_forward(s->bn1, tn_forward(s->conv1, tn_input(f, 0))));
    x = tn_max_pool2d(x, TN_DIMS(3), .stride = TN_DIMS(2), .padding = TN_DIMS(1));
    x = tn_forward(s->layer2, tn_forward(s->layer1, x));
    x = tn_forward(s->layer4, tn_forward(s->layer3, x));
    x = tn_mean(x, .dim = TN_DIMS(2, 3));
    return (f->out[0] = tn_forward(s->fc, x)) != NULL;
}
static const tn_mrow resnet_row = {
    .name = "ResNet", .size = sizeof(resnet), .forward = resnet_forward};
static tn_module *resnet_new(void) {
    resnet *s = tn_module_new(&resnet_row);
    TN_ADD_CHILD(s, conv1, conv(3, 64, 7, 2));
    TN_ADD_CHILD(s, bn1, tn_nn_batch_norm2d(64));
    TN_ADD_CHILD(s, layer1, layer_new(64, 64, 1));
    TN_ADD_CHILD(s, layer2, layer_new(64, 128, 2));
    TN_ADD_CHILD(s, layer3, layer_new(128, 256, 2));
    TN_ADD_CHILD(s, layer4, layer_new(256, 512, 2));
    TN_ADD_CHILD(s, fc, tn_nn_linear(512, CLASSES));
    tn_module *net = tn_module_finish((tn_module *)s);
    tn_tensors all = tn_parameters(net);
    for (int64_t i = 0; i < all.n; i++) /* the weights of convolutions, as torchvision draws them */
        if (tn_ndim(all.at[i]) == 4)
            tn_nn_init_kaiming_normal_(all.at[i], 0, TN_FAN_OUT, TN_INIT_RELU);
    return net;
}

/* --- what it prints --------------------------------------------------------------------------- */

static int64_t weights_of(tn_module *m) {
    tn_tensors all = tn_parameters(m);
    int64_t n = 0;
    for (int64_t i = 0; i < all.n; i++) n += tn_numel(all.at[i]);
    return n;
}
/* A hook behind forward: a line with what the part has made. */
static bool show(tn_mframe *f, void *name) {
    tn_tensor *y = f->out[0];
    printf("%-8s", (const char *)name);
    for (int d = 1; d < tn_ndim(y); d++) printf(" %s%3d", d > 1 ? "x" : " ", (int)tn_size(y, d));
    printf("%*lld\n", tn_ndim(y) == 4 ? 14 : 26, (long long)weights_of(f->m));
    return true;
}
static void show_all(tn_module *net) {
    static const char *const parts[] = {"conv1",  "bn1",    "layer1", "layer2",
                                        "layer3", "layer4", "fc"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        tn_module_hook(tn_module_child(net, parts[i]), TN_AFTER_FORWARD, show, (void *)parts[i],
                       NULL);
}

/* The middle square of a PPM file with one byte a colour as (1, 3, SIDE, SIDE), normalised as the
 * weights expect it; NULL with an error. */
static tn_tensor *picture(const char *path) {
    int w = 0, h = 0, most = 0, begin = 0;
    char head[64] = "";
    tn_tensor *x = tn_load_bytes(path);
    const int64_t n = x ? tn_numel(x) : 0;
    if (x) memcpy(head, tn_data(x), n < 63 ? (size_t)n : 63);
    if (x && (sscanf(head, "P6 %d %d %d%n", &w, &h, &most, &begin) != 3 || w < 1 || h < 1 ||
              most != 255 || n != begin + 1 + (int64_t)3 * w * h))
        return tn_error_set(TN_FORMAT, path, 0, "expected a P6 picture of 255 levels"), NULL;
    const int side = w < h ? w : h;
    x = tn_reshape(tn_narrow(x, 0, begin + 1, (int64_t)3 * w * h), TN_DIMS(1, h, w, 3));
    x = tn_permute(tn_to_dtype(x, TN_F32), TN_DIMS(0, 3, 1, 2));
    x = tn_narrow(tn_narrow(x, 2, (h - side) / 2, side), 3, (w - side) / 2, side);
    x = tn_interpolate(x, .size = TN_DIMS(SIDE, SIDE), .mode = TN_RESIZE_MODE_BILINEAR,
                       .antialias = true);
    const float mean[] = {0.485f, 0.456f, 0.406f}, spread[] = {0.229f, 0.224f, 0.225f};
    x = tn_sub(tn_div_scalar(x, 255), tn_from_f32(mean, TN_DIMS(3, 1, 1)));
    return tn_div(x, tn_from_f32(spread, TN_DIMS(3, 1, 1)));
}

static void classify(tn_module *net, tn_tensor *x) {
    tn_values_indices top = tn_topk(tn_softmax(tn_forward(net, x), 1), SHOWN);
    if (!tn_ok()) return;
    printf("all %36lld\n\n", (long long)weights_of(net));
    for (int i = 0; i < SHOWN; i++) {
        const double chance = tn_item(tn_select(tn_select(top.values, 1, i), 0, 0));
        const int64_t which = tn_item_int(tn_select(tn_select(top.indices, 1, i), 0, 0));
        printf("class %4d  %8.4f %%\n", (int)which, 100 * chance);
    }
}

int main(int argc, char **argv) {
    tn_manual_seed(1);
    tn_module *net = resnet_new();
    const bool save = argc > 2 && strcmp(argv[1], "--save") == 0;
    if (save)
        tn_module_save_file(net, argv[2]);
    else if (argc > 1)
        tn_module_load_file(net, argv[1]);
    tn_module_train(net, false);
    show_all(net);
    tn_inference_mode
        TN_SCOPE
            classify(net,
                     argc > 2 && !save ? picture(argv[2]) : tn_randn(TN_DIMS(1, 3, SIDE, SIDE)));
    tn_module_free(net);
    const bool failed = tn_error_print();
    tn_context_free(NULL);
    return failed;
}
