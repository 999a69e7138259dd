/* upsampling.c - modules that resize planes by interpolation. */
#include "nn.h"
#include "../api/ops/layers.h"

static bool upsample_forward(tn_mframe *f) {
    TN_FORWARD(upsample, s, a, f);
    if (s->o.align_corners &&
        (s->o.mode == TN_RESIZE_MODE_NEAREST || s->o.mode == TN_RESIZE_MODE_NEAREST_EXACT ||
         s->o.mode == TN_RESIZE_MODE_AREA))
        return tni_nn_error(TN_INVALID,
                            "align_corners option can only be set with the "
                            "interpolating modes: linear, bilinear, bicubic, trilinear");
    f->out[0] = tnp_interpolate(a->input, s->o.size, s->o.scale_factor, s->o.mode,
                                s->o.align_corners, s->o.recompute_scale_factor, false);
    return f->out[0] != NULL;
}
/* The input's planes in another size, or scaled by scale_factor. With align_corners the first and
 * last elements of input and output are at the same places. recompute_scale_factor takes the ratio
 * of the sizes in the place of scale_factor. */
TN_MODULE(
    upsample,
    "Upsample(int[]? size=None, float[]? scale_factor=None, ResizeMode mode=nearest, bool "
    "align_corners=False, bool recompute_scale_factor=False)",
    TN_DOC(.shapes = "input (N, C, sizes), of 1 to 3 sizes -> (N, C, size)",
           .example = "tn_nn_upsample(.size = TN_DIMS(32, 32), .mode = TN_RESIZE_MODE_BILINEAR)",
           .differs = "parameter align_corners: None stands for False there | "
                      "parameter recompute_scale_factor: None stands for False there"),
    .takes = "input(_, _, _, *)", .repr = "?size=, ?scale_factor=, mode='",
    .forward = upsample_forward,
    .sample = "[4,3]: (2,3,2,2) | None [1.5] mode=linear: (1,2,5) | "
              "None [2.0,1.5] mode=bilinear align_corners=True: (1,2,3,4)")

static bool upsampling_nearest2d_forward(tn_mframe *f) {
    TN_FORWARD(upsampling_nearest2d, s, a, f);
    f->out[0] = tnp_interpolate(a->input, s->o.size, s->o.scale_factor, TN_RESIZE_MODE_NEAREST,
                                false, false, false);
    return f->out[0] != NULL;
}
/* Upsample of images by the nearest elements. */
TN_MODULE(upsampling_nearest2d,
          "UpsamplingNearest2d(int[2]? size=None, float[]? scale_factor=None)",
          TN_DOC(.shapes = "input (N, C, H, W) -> (N, C, size)",
                 .example = "tn_nn_upsampling_nearest2d(.size = TN_DIMS(32, 32))"),
          .takes = "input(_, _, _, _)",
          .repr = "?size=, ?scale_factor=", .forward = upsampling_nearest2d_forward,
          .sample = "[4,3]: (2,3,2,2) | None [1.5]: (1,2,4,5)")

static bool upsampling_bilinear2d_forward(tn_mframe *f) {
    TN_FORWARD(upsampling_bilinear2d, s, a, f);
    f->out[0] = tnp_interpolate(a->input, s->o.size, s->o.scale_factor, TN_RESIZE_MODE_BILINEAR,
                                true, false, false);
    return f->out[0] != NULL;
}
/* Upsample of images by bilinear interpolation with align_corners. */
TN_MODULE(upsampling_bilinear2d,
          "UpsamplingBilinear2d(int[2]? size=None, float[]? scale_factor=None)",
          TN_DOC(.shapes = "input (N, C, H, W) -> (N, C, size)",
                 .example = "tn_nn_upsampling_bilinear2d(.size = TN_DIMS(32, 32))"),
          .takes = "input(_, _, _, _)",
          .repr = "?size=, ?scale_factor=", .forward = upsampling_bilinear2d_forward,
          .sample = "[4,3]: (2,3,2,2) | None [1.5]: (1,2,4,5)")
