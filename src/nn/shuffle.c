/* shuffle.c - modules that move elements: pixels and channels, one dimension as several. */
#include "nn.h"
#include "../api/ops/layers.h"
#include "../api/ops/shape.h"

static bool pixel_shuffle_forward(tn_mframe *f) {
    TN_FORWARD(pixel_shuffle, s, a, f);
    return (f->out[0] = tnp_pixel_shuffle(a->input, s->o.upscale_factor)) != NULL;
}
/* Images enlarged by r = upscale_factor: r * r channels become the pixels in the place of one. */
TN_MODULE(pixel_shuffle, "PixelShuffle(int upscale_factor)",
          TN_DOC(.shapes = "input (*, C * r * r, H, W) -> (*, C, H * r, W * r)",
                 .example = "tn_nn_pixel_shuffle(2)"),
          .repr = "upscale_factor=", .forward = pixel_shuffle_forward,
          .sample = "2: (1,8,2,3) | 3: (9,1,2)")

static bool pixel_unshuffle_forward(tn_mframe *f) {
    TN_FORWARD(pixel_unshuffle, s, a, f);
    return (f->out[0] = tnp_pixel_unshuffle(a->input, s->o.downscale_factor)) != NULL;
}
/* Images reduced by r = downscale_factor: their r x r pixels become channels. */
TN_MODULE(pixel_unshuffle, "PixelUnshuffle(int downscale_factor)",
          TN_DOC(.shapes = "input (*, C, H * r, W * r) -> (*, C * r * r, H, W)",
                 .example = "tn_nn_pixel_unshuffle(2)"),
          .repr = "downscale_factor=", .forward = pixel_unshuffle_forward,
          .sample = "2: (1,2,4,6) | 3: (1,3,6)")

static bool channel_shuffle_forward(tn_mframe *f) {
    TN_FORWARD(channel_shuffle, s, a, f);
    return (f->out[0] = tnp_channel_shuffle(a->input, s->o.groups)) != NULL;
}
/* The channels in another order: the first of each group, then the second of each, and so on. */
TN_MODULE(channel_shuffle, "ChannelShuffle(int groups)",
          TN_DOC(.shapes = "input (N, C, *) -> (N, C, *)", .example = "tn_nn_channel_shuffle(2)"),
          .repr = "groups=", .forward = channel_shuffle_forward,
          .sample = "2: (1,6,2,3) | 3: (2,6,3)")

static bool unflatten_forward(tn_mframe *f) {
    TN_FORWARD(unflatten, s, a, f);
    return (f->out[0] = tnp_unflatten(a->input, s->o.dim, s->o.unflattened_size)) != NULL;
}
/* One dimension as several, of the given sizes; one of them may be -1. */
TN_MODULE(unflatten, "Unflatten(int dim, int[] unflattened_size)",
          TN_DOC(.shapes = "input (N, a * b, *) -> (N, a, b, *)",
                 .example = "tn_nn_unflatten(1, TN_DIMS(2, 5))"),
          .repr = "dim=, unflattened_size[]=", .forward = unflatten_forward,
          .sample = "1 [2,3]: (2,6,2) | -1 [3,-1]: (2,6)")
