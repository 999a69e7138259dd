/* pad.c - borders around lines, images and volumes. */
#include "nn.h"
#include "../api/ops/layers.h"

/* Borders of all sides: one number stands for each of them. */
static tn_ints pad_sides(tn_ints padding, int64_t n, int64_t room[6]) {
    if (padding.n != 1) return padding;
    for (int64_t i = 0; i < n; i++) room[i] = padding.at[0];
    return tn_ints_of(room, n);
}
#define PADDING_MODULE(name, sides, mode, number)                                          \
    static bool name##_forward(tn_mframe *f) {                                             \
        TN_FORWARD(name, s, a, f);                                                         \
        int64_t room[6];                                                                   \
        f->out[0] = tnp_pad(a->input, pad_sides(s->o.padding, sides, room), mode, number); \
        return f->out[0] != NULL;                                                          \
    }

/* --- by a number ----------------------------------------------------------------------------- */

PADDING_MODULE(constant_pad1d, 2, "constant", TN_SOME(s->o.value))
/* Elements of value around the last dimension; one number stands for all sides, negative ones
 * leave elements out. */
TN_MODULE(constant_pad1d, "ConstantPad1d(int[2] padding, float value)",
          TN_DOC(.shapes = "input (*, L) -> (*, padding[0] + L + padding[1])",
                 .example = "tn_nn_constant_pad1d(TN_DIMS(1), 2)"),
          .repr = "padding[2]=, value=", .forward = constant_pad1d_forward,
          .sample = "[2] 0.5: (2,3,5) | [1,-2] 0.5: (3,4)")

PADDING_MODULE(constant_pad2d, 4, "constant", TN_SOME(s->o.value))
/* Elements of value around the last 2 dimensions; one number stands for all sides, negative ones
 * leave elements out. */
TN_MODULE(
    constant_pad2d, "ConstantPad2d(int[4] padding, float value)",
    TN_DOC(.shapes =
               "input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])",
           .example = "tn_nn_constant_pad2d(TN_DIMS(1, 1, 2, 2), 2)"),
    .repr = "padding[4]=, value=", .forward = constant_pad2d_forward,
    .sample = "[1] 0.5: (2,3,3,4) | [1,0,-1,2] 0.5: (3,4,2)")

PADDING_MODULE(constant_pad3d, 6, "constant", TN_SOME(s->o.value))
/* Elements of value around the last 3 dimensions; one number stands for all sides, negative ones
 * leave elements out. */
TN_MODULE(constant_pad3d, "ConstantPad3d(int[6] padding, float value)",
          TN_DOC(.shapes = "input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] "
                           "+ W + padding[1])",
                 .example = "tn_nn_constant_pad3d(TN_DIMS(1), 2)"),
          .repr = "padding[6]=, value=", .forward = constant_pad3d_forward,
          .sample = "[1] 0.5: (1,2,2,3,2) | [1,0,-1,1,0,1] 0.5: (2,2,3,4)")

PADDING_MODULE(zero_pad1d, 2, "constant", TN_NO_FLOAT)
/* Zeros around the last dimension; one number stands for all sides, negative ones leave elements
 * out. */
TN_MODULE(zero_pad1d, "ZeroPad1d(int[2] padding)",
          TN_DOC(.shapes = "input (*, L) -> (*, padding[0] + L + padding[1])",
                 .example = "tn_nn_zero_pad1d(TN_DIMS(1))"),
          .repr = "padding[2]", .forward = zero_pad1d_forward,
          .sample = "[2]: (2,3,5) | [1,-2]: (3,4)")

PADDING_MODULE(zero_pad2d, 4, "constant", TN_NO_FLOAT)
/* Zeros around the last 2 dimensions; one number stands for all sides, negative ones leave
 * elements out. */
TN_MODULE(
    zero_pad2d, "ZeroPad2d(int[4] padding)",
    TN_DOC(.shapes =
               "input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])",
           .example = "tn_nn_zero_pad2d(TN_DIMS(1, 1, 2, 2))"),
    .repr = "padding[4]", .forward = zero_pad2d_forward,
    .sample = "[1]: (2,3,3,4) | [1,0,-1,2]: (3,4,2)")

PADDING_MODULE(zero_pad3d, 6, "constant", TN_NO_FLOAT)
/* Zeros around the last 3 dimensions; one number stands for all sides, negative ones leave
 * elements out. */
TN_MODULE(zero_pad3d, "ZeroPad3d(int[6] padding)",
          TN_DOC(.shapes = "input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] "
                           "+ W + padding[1])",
                 .example = "tn_nn_zero_pad3d(TN_DIMS(1))"),
          .repr = "padding[6]", .forward = zero_pad3d_forward,
          .sample = "[1]: (1,2,2,3,2) | [1,0,-1,1,0,1]: (2,2,3,4)")

/* --- by their own elements ------------------------------------------------------------------- */

PADDING_MODULE(reflection_pad1d, 2, "reflect", TN_NO_FLOAT)
/* The elements of lines around them, mirrored at the first and last one; one number stands for all
 * sides, negative ones leave elements out. */
TN_MODULE(reflection_pad1d, "ReflectionPad1d(int[2] padding)",
          TN_DOC(.shapes = "input (*, L) -> (*, padding[0] + L + padding[1])",
                 .example = "tn_nn_reflection_pad1d(TN_DIMS(1))"),
          .repr = "padding[2]", .forward = reflection_pad1d_forward,
          .sample = "[2]: (2,3,5) | [1,-2]: (3,4)")

PADDING_MODULE(reflection_pad2d, 4, "reflect", TN_NO_FLOAT)
/* The elements of images around them, mirrored at the first and last one; one number stands for
 * all sides, negative ones leave elements out. */
TN_MODULE(
    reflection_pad2d, "ReflectionPad2d(int[4] padding)",
    TN_DOC(.shapes =
               "input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])",
           .example = "tn_nn_reflection_pad2d(TN_DIMS(1, 1, 2, 2))"),
    .repr = "padding[4]", .forward = reflection_pad2d_forward,
    .sample = "[1]: (2,3,3,4) | [1,0,-1,2]: (3,4,2)")

PADDING_MODULE(reflection_pad3d, 6, "reflect", TN_NO_FLOAT)
/* The elements of volumes around them, mirrored at the first and last one; one number stands for
 * all sides, negative ones leave elements out. */
TN_MODULE(reflection_pad3d, "ReflectionPad3d(int[6] padding)",
          TN_DOC(.shapes = "input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] "
                           "+ W + padding[1])",
                 .example = "tn_nn_reflection_pad3d(TN_DIMS(1))"),
          .repr = "padding[6]", .forward = reflection_pad3d_forward,
          .sample = "[1]: (1,2,2,3,2) | [1,0,-1,1,0,1]: (2,2,3,4)")

PADDING_MODULE(replication_pad1d, 2, "replicate", TN_NO_FLOAT)
/* The first and last elements of lines repeated around them; one number stands for all sides,
 * negative ones leave elements out. */
TN_MODULE(replication_pad1d, "ReplicationPad1d(int[2] padding)",
          TN_DOC(.shapes = "input (*, L) -> (*, padding[0] + L + padding[1])",
                 .example = "tn_nn_replication_pad1d(TN_DIMS(1))"),
          .repr = "padding[2]", .forward = replication_pad1d_forward,
          .sample = "[2]: (2,3,5) | [1,-2]: (3,4)")

PADDING_MODULE(replication_pad2d, 4, "replicate", TN_NO_FLOAT)
/* The first and last elements of images repeated around them; one number stands for all sides,
 * negative ones leave elements out. */
TN_MODULE(
    replication_pad2d, "ReplicationPad2d(int[4] padding)",
    TN_DOC(.shapes =
               "input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])",
           .example = "tn_nn_replication_pad2d(TN_DIMS(1, 1, 2, 2))"),
    .repr = "padding[4]", .forward = replication_pad2d_forward,
    .sample = "[1]: (2,3,3,4) | [1,0,-1,2]: (3,4,2)")

PADDING_MODULE(replication_pad3d, 6, "replicate", TN_NO_FLOAT)
/* The first and last elements of volumes repeated around them; one number stands for all sides,
 * negative ones leave elements out. */
TN_MODULE(replication_pad3d, "ReplicationPad3d(int[6] padding)",
          TN_DOC(.shapes = "input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] "
                           "+ W + padding[1])",
                 .example = "tn_nn_replication_pad3d(TN_DIMS(1))"),
          .repr = "padding[6]", .forward = replication_pad3d_forward,
          .sample = "[1]: (1,2,2,3,2) | [1,0,-1,1,0,1]: (2,2,3,4)")

PADDING_MODULE(circular_pad1d, 2, "circular", TN_NO_FLOAT)
/* The elements of lines around them, begun again at the other end; one number stands for all
 * sides, negative ones leave elements out. */
TN_MODULE(circular_pad1d, "CircularPad1d(int[2] padding)",
          TN_DOC(.shapes = "input (*, L) -> (*, padding[0] + L + padding[1])",
                 .example = "tn_nn_circular_pad1d(TN_DIMS(1))"),
          .repr = "padding[2]", .forward = circular_pad1d_forward,
          .sample = "[2]: (2,3,5) | [1,-2]: (3,4)")

PADDING_MODULE(circular_pad2d, 4, "circular", TN_NO_FLOAT)
/* The elements of images around them, begun again at the other end; one number stands for all
 * sides, negative ones leave elements out. */
TN_MODULE(
    circular_pad2d, "CircularPad2d(int[4] padding)",
    TN_DOC(.shapes =
               "input (*, H, W) -> (*, padding[2] + H + padding[3], padding[0] + W + padding[1])",
           .example = "tn_nn_circular_pad2d(TN_DIMS(1, 1, 2, 2))"),
    .repr = "padding[4]", .forward = circular_pad2d_forward,
    .sample = "[1]: (2,3,3,4) | [1,0,-1,2]: (3,4,2)")

PADDING_MODULE(circular_pad3d, 6, "circular", TN_NO_FLOAT)
/* The elements of volumes around them, begun again at the other end; one number stands for all
 * sides, negative ones leave elements out. */
TN_MODULE(circular_pad3d, "CircularPad3d(int[6] padding)",
          TN_DOC(.shapes = "input (*, D, H, W) -> (*, padding[4] + D + padding[5], .., padding[0] "
                           "+ W + padding[1])",
                 .example = "tn_nn_circular_pad3d(TN_DIMS(1))"),
          .repr = "padding[6]", .forward = circular_pad3d_forward,
          .sample = "[1]: (1,2,2,3,2) | [1,0,-1,1,0,1]: (2,2,3,4)")
#undef PADDING_MODULE
