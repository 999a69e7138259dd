"""Writes layouts.json: strides of what operators make of images. Run: python make_layouts.py

run(torch) makes the same with any module that is spelled like torch; test_layouts.py compares.
"""

import json
import pathlib

IMAGES = {
    "rows": lambda t: t.zeros(2, 4, 8, 6),
    "last": lambda t: last(t, t.zeros(2, 4, 8, 6)),
    "turned": lambda t: t.zeros(2, 4, 6, 8).transpose(2, 3),
    "one permuted": lambda t: t.zeros(8, 6, 4).permute(2, 0, 1).unsqueeze(0),
    "one last": lambda t: last(t, t.zeros(1, 4, 8, 6)),
    "thin": lambda t: t.zeros(2, 1, 8, 6),
    "thin last": lambda t: last(t, t.zeros(2, 1, 8, 6)),
    "point": lambda t: t.zeros(2, 4, 1, 1),
    "point last": lambda t: last(t, t.zeros(2, 4, 1, 1)),
    "expanded": lambda t: t.zeros(1, 4, 8, 6).expand(2, 4, 8, 6),
    "expanded last": lambda t: last(t, t.zeros(1, 4, 8, 6)).expand(2, 4, 8, 6),
    "colours expanded": lambda t: t.zeros(2, 1, 8, 6).expand(2, 4, 8, 6),
    "slices last": lambda t: last(t, t.zeros(2, 8, 8, 12))[:, ::2, :, ::2],
}
VOLUMES = {
    "rows": lambda t: t.zeros(2, 4, 3, 8, 6),
    "last": lambda t: last(t, t.zeros(2, 4, 3, 8, 6)),
    "permuted": lambda t: t.zeros(3, 8, 6, 4).permute(3, 0, 1, 2).unsqueeze(0),
    "one last": lambda t: last(t, t.zeros(1, 4, 3, 8, 6)),
    "thin last": lambda t: last(t, t.zeros(2, 1, 3, 8, 6)),
    "point last": lambda t: last(t, t.zeros(2, 4, 1, 1, 1)),
    "expanded": lambda t: t.zeros(1, 4, 3, 8, 6).expand(2, 4, 3, 8, 6),
}


def last(t, x):
    """x channels-last, with its strides of sizes 1 as well."""
    name = "channels_last" if x.dim() == 4 else "channels_last_3d"
    return t.zeros_like(x, memory_format=getattr(t, name))


def weight(t, *sizes, at_end=False):
    w = t.zeros(sizes)
    return last(t, w) if at_end else w


def conv(name, x, kernel=1, at_end=False, **options):
    t, c = conv.torch, x.shape[1]
    w = weight(t, *((c, 6) if "transpose" in name else (6, c)), *[kernel] * (x.dim() - 2),
               at_end=at_end)
    return getattr(t.nn.functional, name)(x, w, **options)


def functions(t, dims):
    """Operators on images of `dims` dimensions, by name."""
    f, n = t.nn.functional, f"{dims}d"
    window = [1] * dims
    pool = {
        "max_pool": lambda x: getattr(f, "max_pool" + n)(x, window),
        "max_pool places": lambda x: getattr(f, "max_pool" + n)(x, window, return_indices=True)[0],
        "places": lambda x: getattr(f, "max_pool" + n)(x, window, return_indices=True)[1],
        "avg_pool": lambda x: getattr(f, "avg_pool" + n)(x, window),
        "adaptive_avg_pool": lambda x: getattr(f, "adaptive_avg_pool" + n)(x, 2),
        "adaptive_avg_pool 1": lambda x: getattr(f, "adaptive_avg_pool" + n)(x, 1),
        "adaptive_max_pool": lambda x: getattr(f, "adaptive_max_pool" + n)(x, 2),
        "adaptive_max_pool places": lambda x: getattr(f, "adaptive_max_pool" + n)(
            x, 2, return_indices=True)[1],
        "lp_pool": lambda x: getattr(f, "lp_pool" + n)(x, 2, window),
        "conv": lambda x: conv("conv" + n, x),
        "conv biased": lambda x: conv("conv" + n, x, bias=t.zeros(6)),
        "conv of last": lambda x: conv("conv" + n, x, at_end=True),
        "conv padded": lambda x: conv("conv" + n, x, 3, padding=1, stride=2),
        "conv_transpose": lambda x: conv("conv_transpose" + n, x),
        "conv_transpose of last": lambda x: conv("conv_transpose" + n, x, at_end=True),
        "nearest": lambda x: f.interpolate(x, scale_factor=2),
        "nearest exact": lambda x: f.interpolate(x, scale_factor=2, mode="nearest-exact"),
        "linear": lambda x: f.interpolate(
            x, scale_factor=2, mode="bilinear" if dims == 2 else "trilinear"),
        "batch_norm": lambda x: f.batch_norm(x, None, None, training=True),
        "batch_norm affine": lambda x: f.batch_norm(
            x, None, None, t.ones(x.shape[1]), t.ones(x.shape[1]), training=True),
        "batch_norm evaluated": lambda x: f.batch_norm(
            x, t.zeros(x.shape[1]), t.ones(x.shape[1])),
        "instance_norm": lambda x: f.instance_norm(x),
        "group_norm": lambda x: f.group_norm(x, 1),
        "local_response_norm": lambda x: f.local_response_norm(x, 2),
        "layer_norm": lambda x: f.layer_norm(x, x.shape[-1:]),
        "dropout": lambda x: f.dropout(x, 0.5),
        "dropout2d": lambda x: getattr(f, "dropout" + n)(x, 0.5),
        "alpha_dropout": lambda x: f.alpha_dropout(x, 0.5, training=True),
        "relu": lambda x: f.relu(x),
        "gelu": lambda x: f.gelu(x),
        "prelu": lambda x: f.prelu(x, t.ones(x.shape[1])),
        "glu": lambda x: f.glu(t.cat([x, x], 1), 1),
        "softmax": lambda x: f.softmax(x, 1),
        "log_softmax": lambda x: f.log_softmax(x, -1),
        "normalize": lambda x: f.normalize(x),
        "add": lambda x: x + t.zeros(x.shape),
        "add bias": lambda x: x + t.zeros(x.shape[1], *window),
        "mul": lambda x: x * x,
        "where": lambda x: t.where(x > 0, x, 0),
        "clone": lambda x: x.clone(),
        "contiguous": lambda x: last(t, x),
        "double": lambda x: x.double(),
        "cat": lambda x: t.cat([x, x], 1),
        "cat rows": lambda x: t.cat([x, t.zeros(x.shape)], 1),
        "stack": lambda x: t.stack([x, x]),
        "flip": lambda x: x.flip(2),
        "roll": lambda x: x.roll(1, 2),
        "sum": lambda x: x.sum(1, keepdim=True),
        "mean": lambda x: x.mean(window and (2, 3), keepdim=True),
        "amax": lambda x: x.amax(0, keepdim=True),
        "cumsum": lambda x: x.cumsum(1),
        "index_select": lambda x: x.index_select(0, t.tensor([0])),
        "repeat": lambda x: x.repeat(1, 1, *window),
        "tile": lambda x: x.repeat_interleave(2, 1),
        "pad": lambda x: f.pad(x, (1, 1)),
        "pad replicate": lambda x: f.pad(x, (1, 1) * dims, mode="replicate"),
        "pad circular": lambda x: f.pad(x, (1, 1) * dims, mode="circular"),
        "channel_shuffle": lambda x: f.channel_shuffle(x, 1),
        "zeros_like": lambda x: t.zeros_like(x),
    }
    if dims == 3:
        return pool
    return pool | {
        "max_unpool": lambda x: f.max_unpool2d(
            x, t.zeros(x.shape, dtype=t.int64), 2, stride=2),
        "fractional_max_pool": lambda x: f.fractional_max_pool2d(x, 1, output_size=1),
        "conv groups": lambda x: f.conv2d(
            x, t.zeros(x.shape[1], 1, 3, 3), padding=1, groups=x.shape[1]),
        "bicubic": lambda x: f.interpolate(x, scale_factor=2, mode="bicubic"),
        "area": lambda x: f.interpolate(x, scale_factor=2, mode="area"),
        "bilinear antialias": lambda x: f.interpolate(
            x, scale_factor=2, mode="bilinear", antialias=True),
        "pixel_shuffle": lambda x: f.pixel_shuffle(t.cat([x, x, x, x], 1), 2),
        "pixel_unshuffle": lambda x: f.pixel_unshuffle(x, 1),
        "pad reflect": lambda x: f.pad(x, (0, 0, 0, 0), mode="reflect"),
        "grid_sample": lambda x: f.grid_sample(
            x, t.zeros(x.shape[0], 3, 3, 2), align_corners=False),
        "unfold": lambda x: f.unfold(x, 1),
    }


def layout(t, x):
    """r: row-major, l: channels-last, else the strides."""
    said, like = x.stride(), t.empty(x.shape, device="meta")
    if said == like.stride():
        return "r"
    if x.dim() in (4, 5) and said == last(t, like).stride():
        return "l"
    return ",".join(map(str, said))


def answer(t, f, make):
    """Layouts of the result, of a gradient for one that lies as it, and of .grad of a leaf."""
    try:
        x = make(t).detach().requires_grad_()
        y = f(x)
        said = [layout(t, y)]
        if y.requires_grad:
            ones = t.ones_like(y)
            said.append(layout(t, t.autograd.grad(y, x, ones, retain_graph=True)[0]))
            y.backward(ones)
            said.append(layout(t, x.grad))
        return " ".join(said)
    except (RuntimeError, ValueError, IndexError):
        return "refused"


def run(t):
    conv.torch = t
    return {
        f"{name} {dims}d": {at: answer(t, f, make) for at, make in inputs.items()}
        for dims, inputs in ((2, IMAGES), (3, VOLUMES))
        for name, f in functions(t, dims).items()
    }


if __name__ == "__main__":
    import warnings

    import torch

    warnings.simplefilter("ignore")
    lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in run(torch).items())
    pathlib.Path(__file__).with_name("layouts.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
