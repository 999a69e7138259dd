"""torch.utils.tensorboard.summary: a Summary, as bytes, of each kind of data."""

import json
import math
import struct
import zlib

import tensorh as torch

from ._proto import encode

# --- data -----------------------------------------------------------------------------------------


def to_tensor(x):
    """A tensor, an array or a number as a tensor in the CPU's memory without a gradient."""
    if isinstance(x, torch.Tensor):
        return x.detach().cpu()
    if isinstance(x, (int, float, complex)):
        return torch.tensor([x])
    if hasattr(x, "__array__") or hasattr(x, "__array_interface__"):
        return torch.as_tensor(x)
    raise NotImplementedError(
        f"Got {type(x)}, but numpy array or torch tensor are expected."
    )


def _bytes(t):
    """The elements as they lie in memory."""
    return bytes(memoryview(torch._C._storage_bytes(t.contiguous().clone())))


def _value(tag, plugin=None, content=b"", **data):
    """A Summary of one value; plugin: of TensorBoard that shows it."""
    metadata = None
    if plugin is not None:
        named = encode("PluginData", plugin_name=plugin, content=content)
        metadata = encode("Metadata", plugin_data=named)
    return encode("Summary", value=encode("Value", tag=tag, metadata=metadata, **data))


def _shape(sizes):
    return encode("Shape", dim=[encode("Dim", size=n) for n in sizes])


# --- numbers --------------------------------------------------------------------------------------


def _number(x):
    if isinstance(x, (int, float, str)):
        return float(x)
    t = to_tensor(x)
    if t.numel() != 1:
        raise AssertionError(
            "Tensor should contain one element (0 dimensions). "
            f"Was given size: {t.numel()} and {t.squeeze().ndim} dimensions."
        )
    return float(t.item())


def scalar(name, tensor, collections=None, new_style=False, double_precision=False):
    """One number; new_style: as a tensor, of float64 with double_precision."""
    number = _number(tensor)
    if not new_style:
        return _value(name, simple_value=number)
    kind = {"dtype": 2, "double_val": [number]} if double_precision else {
        "dtype": 1, "float_val": [number]}  # fmt: skip
    return _value(name, "scalars", tensor=encode("Tensor", **kind))


# Numbers of tensorflow's types.proto.
_DTYPES = {
    torch.float32: 1, torch.float64: 2, torch.int32: 3, torch.uint8: 4, torch.int16: 5,
    torch.int8: 6, torch.complex64: 8, torch.int64: 9, torch.bool: 10, torch.bfloat16: 14,
    torch.uint16: 17, torch.complex128: 18, torch.float16: 19, torch.uint32: 22, torch.uint64: 23,
}  # fmt: skip


def tensor_proto(tag, tensor):
    """All elements of a tensor, less than 2 GiB."""
    if tensor.numel() * tensor.element_size() >= 1 << 31:
        raise ValueError("tensor is bigger than protocol buffer's hard limit of 2GB in size")
    if tensor.dtype not in _DTYPES:
        raise ValueError(f"{tag} has unsupported tensor dtype {tensor.dtype}")
    data = encode(
        "Tensor",
        dtype=_DTYPES[tensor.dtype],
        tensor_shape=_shape(tensor.shape),
        tensor_content=_bytes(to_tensor(tensor)),
    )
    return _value(tag, "tensor", tensor=data)


# --- histograms -----------------------------------------------------------------------------------


def default_bins():
    """Limits that grow by a tenth, from 1e-12 to 1e20 and the same below 0."""
    limits, v = [], 1e-12
    while v < 1e20:
        limits.append(v)
        v *= 1.1
    return [-v for v in reversed(limits)] + [0] + limits


def _limits(values, bins):
    """The limits of the bins as float64: given, of a number of equal bins, or by NumPy's rule."""
    if isinstance(bins, str):
        import numpy

        return torch.as_tensor(numpy.histogram_bin_edges(values.numpy(), bins=bins))
    if isinstance(bins, int):
        if bins < 1:
            raise ValueError("`bins` must be positive, when an integer")
        least, most = values.min().item(), values.max().item()
        if not math.isfinite(least) or not math.isfinite(most):
            raise ValueError(f"autodetected range of [{least}, {most}] is not finite")
        if least == most:
            least, most = least - 0.5, most + 0.5
        return torch.linspace(least, most, bins + 1, dtype=torch.float64)
    limits = torch.as_tensor(bins, dtype=torch.float64)
    if limits.ndim != 1 or len(limits) < 2:
        raise ValueError("`bins` must be a number of bins or a list of at least two limits")
    if not bool((limits[1:] >= limits[:-1]).all()):
        raise ValueError("`bins` must increase monotonically, when a list of limits")
    return limits


def _fold(counts, limits, most):
    """Neighbours together, so that about `most` bins remain."""
    each = len(counts) // most
    if len(counts) % each:
        counts = torch.cat([counts, counts.new_zeros(each - len(counts) % each)])
    return counts.reshape(-1, each).sum(-1), torch.cat([limits[:-1:each], limits[-1:]])


def histogram(name, values, bins, max_bins=None):
    """How many values lie in each bin; what lies outside of all is not counted."""
    values = to_tensor(values).to(torch.float64).reshape(-1)
    if not values.numel():
        raise ValueError("The input has no element.")
    limits = _limits(values, bins)
    ordered = values[~values.isnan()].sort().values
    below = torch.cat(
        [
            torch.searchsorted(ordered, limits[:-1].contiguous()),
            torch.searchsorted(ordered, limits[-1:].contiguous(), right=True),
        ]
    )
    counts = below[1:] - below[:-1]
    if max_bins is not None and len(counts) > max_bins:
        counts, limits = _fold(counts, limits, max_bins)
    used = counts.nonzero().reshape(-1)
    if not used.numel():
        raise ValueError("The histogram is empty: no value lies in a bin.")
    # only the upper limits are in the file: an empty bin before the first shows its lower one
    first, end = int(used[0]), int(used[-1]) + 1
    counts = counts[first - 1 : end] if first else torch.cat([counts.new_zeros(1), counts[:end]])
    return histogram_raw(
        name,
        values.min(),
        values.max(),
        values.numel(),
        values.sum(),
        values.dot(values),
        limits[first : end + 1],
        counts,
    )


def histogram_raw(name, min, max, num, sum, sum_squares, bucket_limits, bucket_counts):  # noqa: A002
    """A histogram that is computed already: bucket_limits are the upper ones."""

    def listed(x):
        return [float(v) for v in (x.tolist() if hasattr(x, "tolist") else x)]

    histo = encode(
        "Histogram",
        min=float(min),
        max=float(max),
        num=float(num),
        sum=float(sum),
        sum_squares=float(sum_squares),
        bucket_limit=listed(bucket_limits),
        bucket=listed(bucket_counts),
    )
    return _value(name, histo=histo)


def pr_curve(tag, labels, predictions, num_thresholds=127, weights=None):
    """Precision and recall at equal steps of the threshold; labels are of 0 and 1."""
    n = min(num_thresholds, 127)
    labels, predictions = to_tensor(labels).reshape(-1), to_tensor(predictions).reshape(-1)
    weights = torch.tensor(1.0) if weights is None else to_tensor(weights).reshape(-1)
    place = (predictions * (n - 1)).floor().to(torch.int64)
    inside = (place >= 0) & (place < n)
    labels, weights = labels.to(torch.float64), weights.to(torch.float64)

    def at_least(given):
        """Sums of the weights at and above each threshold."""
        counts = torch.bincount(place[inside], given.expand_as(place)[inside], n)
        return counts.flip(0).cumsum(0).flip(0)

    tp, fp = at_least(labels * weights), at_least((1 - labels) * weights)
    tn, fn = fp[0] - fp, tp[0] - tp
    precision, recall = tp / (tp + fp).clamp_min(1e-7), tp / (tp + fn).clamp_min(1e-7)
    return pr_curve_raw(tag, tp, fp, tn, fn, precision, recall, n)


def pr_curve_raw(tag, tp, fp, tn, fn, precision, recall, num_thresholds=127, weights=None):
    """A curve that is computed already, by threshold."""
    given = (tp, fp, tn, fn, precision, recall)
    data = torch.stack([torch.as_tensor(x, dtype=torch.float64) for x in given])
    tensor = encode(
        "Tensor", dtype=1, tensor_shape=_shape(data.shape), float_val=data.reshape(-1).tolist()
    )
    content = encode("PrCurve", num_thresholds=min(num_thresholds, 127))
    return _value(tag, "pr_curves", content, tensor=tensor)


# --- pictures and sounds --------------------------------------------------------------------------


def make_grid(images, ncols=8):
    """(n, 1 or 3, h, w) as one picture (3, rows h, columns w), black where none is."""
    if images.ndim != 4 or images.shape[1] not in (1, 3):
        raise AssertionError("Input should be a 4D numpy array with 3 channels")
    n, _, h, w = images.shape
    columns = max(min(n, ncols), 1)
    rows = -(-n // columns)
    all_places = images.new_zeros(rows * columns, 3, h, w)
    all_places[:n] = images
    placed = all_places.reshape(rows, columns, 3, h, w).permute(2, 0, 3, 1, 4)
    return placed.reshape(3, rows * h, columns * w)


def _to_hwc(t, dataformats):
    """A picture, or a grid of several, as (height, width, channels)."""
    if len(set(dataformats)) != len(dataformats):
        raise AssertionError(
            f"You can not use the same dimension shorthand twice. input_format: {dataformats}"
        )
    if t.ndim != len(dataformats):
        raise AssertionError(
            "size of input tensor and input format are different. "
            f"tensor shape: {tuple(t.shape)}, input_format: {dataformats}"
        )
    wanted = {4: "NCHW", 3: "HWC", 2: "HW"}.get(t.ndim, "")
    at = [dataformats.upper().find(c) for c in wanted]
    if not at or -1 in at:
        raise ValueError(f"dataformats: {dataformats!r} is no order of NCHW, CHW or HW")
    t = t.permute(at)
    if t.ndim == 4:
        return make_grid(t).permute(1, 2, 0)
    t = t.unsqueeze(-1) if t.ndim == 2 else t
    return t.expand(*t.shape[:2], 3) if t.shape[2] == 1 else t


def png(image):
    """A PNG file of uint8 (height, width, channels): gray and alpha, RGB or RGBA."""
    h, w, channels = image.shape
    if channels not in (2, 3, 4):
        raise ValueError(f"a picture has 1 to 4 channels, not {channels}")
    if not h or not w:
        raise ValueError(f"a picture of {h} by {w} pixels has no content")

    def chunk(kind, data):
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    rows = torch.zeros(h, w * channels + 1, dtype=torch.uint8)  # each begins with its filter, none
    rows[:, 1:] = image.reshape(h, -1)
    head = struct.pack(">IIBBBBB", w, h, 8, (4, 2, 6)[channels - 2], 0, 0, 0)
    body = zlib.compress(_bytes(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def to_pixels(t):
    """uint8 as it is, others from 0 to 1."""
    if t.dtype is torch.uint8:
        return t
    return (t.to(torch.float32) * 255).nan_to_num(0).clamp(0, 255).to(torch.uint8)


def image(tag, tensor, dataformats="NCHW"):
    """A picture; several are placed side by side, eight a row."""
    return _picture(tag, to_pixels(_to_hwc(to_tensor(tensor), dataformats)))


def image_boxes(tag, tensor_image, tensor_boxes, dataformats="CHW"):
    """A picture with red boxes (n, 4), each of its left, top, right and bottom."""
    pixels = to_pixels(_to_hwc(to_tensor(tensor_image), dataformats)).clone()
    red = torch.zeros(pixels.shape[2], dtype=torch.uint8)
    red[0] = red[3:] = 255
    for box in to_tensor(tensor_boxes).tolist():
        left, top, right, bottom = map(int, box)
        for y0, y1, x0, x1 in (
            (top - 1, top, left, right), (bottom, bottom + 1, left, right),
            (top, bottom, left, left + 1), (top, bottom, right - 1, right),
        ):  # fmt: skip
            pixels[max(y0, 0) : max(y1 + 1, 0), max(x0, 0) : max(x1 + 1, 0)] = red
    return _picture(tag, pixels)


def _picture(tag, pixels):
    data = png(pixels)
    h, w, channels = pixels.shape
    return _value(
        tag,
        image=encode("Image", height=h, width=w, colorspace=channels, encoded_image_string=data),
    )


def audio(tag, tensor, sample_rate=44100):
    """A sound of one channel, from -1 to 1, as 16-bit WAV."""
    t = to_tensor(tensor).squeeze()
    if t.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    samples = (t.to(torch.float64).clamp(-1, 1) * 32767).nan_to_num(0).to(torch.int16)
    data = _bytes(samples)
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, sample_rate,
        2 * sample_rate, 2, 16, b"data", len(data),
    )  # fmt: skip
    sound = encode(
        "Audio",
        sample_rate=sample_rate,
        num_channels=1,
        length_frames=len(samples),
        encoded_audio_string=head + data,
        content_type="audio/wav",
    )
    return _value(tag, audio=sound)


# --- texts, and what TensorBoard's other pages show -----------------------------------------------


def text(tag, text):
    """A text, which TensorBoard reads as Markdown."""
    tensor = encode("Tensor", dtype=7, tensor_shape=_shape([1]), string_val=text)
    return _value(tag + "/text_summary", "text", tensor=tensor)


def custom_scalars(layout):
    """A page of charts: {category: {chart: ["Multiline" or "Margin", tags]}}."""
    categories = []
    for category, charts in layout.items():
        made = []
        for title, (kind, tags, *_) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError("len(tags) != 3")
                value, lower, upper = tags
                series = encode("Series", value=value, lower=lower, upper=upper)
                content = {"margin": encode("Margin", series=series)}
            else:
                content = {"multiline": encode("Multiline", tag=list(tags))}
            made.append(encode("Chart", title=title, **content))
        categories.append(encode("Category", title=category, chart=made))
    page = encode("Layout", category=categories)
    tensor = encode("Tensor", dtype=7, tensor_shape=_shape([]), string_val=page)
    return _value("custom_scalars__config__", "custom_scalars", tensor=tensor)


def mesh(tag, vertices, colors, faces, config_dict, display_name=None, description=None):
    """Points (b, n, 3), their colors and the triangles between them."""
    config = "{}" if config_dict is None else json.dumps(config_dict, sort_keys=True)
    kinds = (("VERTEX", 1, vertices), ("FACE", 2, faces), ("COLOR", 3, colors))
    given = [(kind, number, to_tensor(t)) for kind, number, t in kinds if t is not None]
    values = []
    for kind, number, t in given:
        if t.ndim != 3:
            raise ValueError(f"Tensor shape should be of shape BxNx3, but got {tuple(t.shape)}.")
        content = encode(
            "Mesh",
            name=tag,
            content_type=number,
            json_config=config,
            shape=list(t.shape),
            components=sum(1 << n for _, n, _ in given),
        )
        plugin = encode("PluginData", plugin_name="mesh", content=content)
        metadata = encode(
            "Metadata",
            plugin_data=plugin,
            display_name=display_name,
            summary_description=description,
        )
        numbers = t.to(torch.float64).reshape(-1).tolist()
        tensor = encode("Tensor", dtype=1, tensor_shape=_shape(t.shape), float_val=numbers)
        values.append(encode("Value", tag=f"{tag}_{kind}", tensor=tensor, metadata=metadata))
    return encode("Summary", value=values)


def _parameter(value):
    """How a hyperparameter is written, and the number of its type."""
    if isinstance(value, bool):
        return {"bool": value}, 2
    if isinstance(value, str):
        return {"string": value}, 1
    if isinstance(value, torch.Tensor):
        value = value.reshape(-1)[0].item()
    if isinstance(value, (int, float)):
        return {"number": float(value)}, 3
    raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")


def hparams(hparam_dict=None, metric_dict=None, hparam_domain_discrete=None):
    """Three Summaries: what the experiment has, a run's hyperparameters, and its end."""
    domains = hparam_domain_discrete or {}
    for name, given in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict),
                        ("hparam_domain_discrete", domains)):  # fmt: skip
        if not isinstance(given, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    for k, v in domains.items():
        kind = type(hparam_dict.get(k))
        if k not in hparam_dict or not isinstance(v, list) or any(
            not isinstance(d, kind) for d in v
        ):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{k}] should be a list of same type as "
                f"hparam_dict[{k}]."
            )
    infos, entries = [], []
    for k, v in hparam_dict.items():
        if v is None:
            continue
        value, kind = _parameter(v)
        entries.append(encode("Entry", key=k, value=encode("Struct", **value)))
        domain = None
        if k in domains:
            domain = encode(
                "List", values=[encode("Struct", **_parameter(d)[0]) for d in domains[k]]
            )
        infos.append(encode("HParamInfo", name=k, type=kind, domain_discrete=domain))
    metrics = [encode("MetricInfo", name=encode("MetricName", tag=k)) for k in metric_dict]

    def page(tag, **content):
        return _value(f"_hparams_/{tag}", "hparams", encode("HParams", **content))

    return (
        page("experiment", experiment=encode("Experiment", hparam_infos=infos,
                                             metric_infos=metrics)),
        page("session_start_info", session_start_info=encode("SessionStart", hparams=entries)),
        page("session_end_info", session_end_info=encode("SessionEnd", status=1)),
    )  # fmt: skip
