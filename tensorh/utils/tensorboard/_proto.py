"""The messages of event files in protobuf's wire format
(https://protobuf.dev/programming-guides/encoding/), as far as they are written."""

import math
import struct

# Of each message: name:number:kind. d double, f float, i integer of any width, s text, bytes or a
# message that is encoded already. Lists of numbers are packed, lists of s are repeated.
_MESSAGES = {
    "Event": "wall_time:1:d step:2:i file_version:3:s summary:5:s session_log:7:s",
    "SessionLog": "status:1:i",
    "Summary": "value:1:s",
    "Value": "tag:1:s metadata:9:s simple_value:2:f image:4:s histo:5:s audio:6:s tensor:8:s",
    "Image": "height:1:i width:2:i colorspace:3:i encoded_image_string:4:s",
    "Audio": "sample_rate:1:f num_channels:2:i length_frames:3:i encoded_audio_string:4:s "
    "content_type:5:s",
    "Histogram": "min:1:d max:2:d num:3:d sum:4:d sum_squares:5:d bucket_limit:6:d bucket:7:d",
    "Metadata": "plugin_data:1:s display_name:2:s summary_description:3:s",
    "PluginData": "plugin_name:1:s content:2:s",
    "Tensor": "dtype:1:i tensor_shape:2:s tensor_content:4:s float_val:5:f double_val:6:d "
    "string_val:8:s",
    "Shape": "dim:2:s",
    "Dim": "size:1:i",
    "HParams": "experiment:2:s session_start_info:3:s session_end_info:4:s",
    "Experiment": "hparam_infos:4:s metric_infos:5:s",
    "HParamInfo": "name:1:s type:4:i domain_discrete:5:s",
    "MetricInfo": "name:1:s",
    "MetricName": "tag:2:s",
    "SessionStart": "hparams:1:s",
    "SessionEnd": "status:1:i",
    "Entry": "key:1:s value:2:s",
    "Struct": "number:2:d string:3:s bool:4:i",  # google.protobuf.Value
    "List": "values:1:s",
    "PrCurve": "num_thresholds:2:i",
    "Layout": "category:2:s",
    "Category": "title:1:s chart:2:s",
    "Chart": "title:1:s multiline:2:s margin:3:s",
    "Multiline": "tag:1:s",
    "Margin": "series:1:s",
    "Series": "value:1:s lower:2:s upper:3:s",
    "Mesh": "name:2:s content_type:3:i json_config:5:s shape:6:i components:7:i",
}
_FIELDS = {
    message: {name: (int(number), kind) for name, number, kind in (f.split(":") for f in t.split())}
    for message, t in _MESSAGES.items()
}


def _varint(n):
    """A number in groups of 7 bits, the lowest first; negative ones as those of 64 bits."""
    if not -(1 << 63) <= n < 1 << 64:
        raise ValueError(f"{n} does not fit into 64 bits")
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def _float(x):
    try:
        return struct.pack("<f", x)
    except OverflowError:  # what is beyond float32 is infinite
        return struct.pack("<f", math.copysign(math.inf, x))


_PLAIN = {
    "d": (1, lambda x: struct.pack("<d", x)),
    "f": (5, _float),
    "i": (0, _varint),
}


def _field(number, kind, value):
    if kind == "s":
        data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        if not isinstance(data, bytes):  # bytes(3) would be three NULs
            raise TypeError(f"a text must be a str or bytes, not {type(value).__name__}")
        return _varint(number << 3 | 2) + _varint(len(data)) + data
    wire, pack = _PLAIN[kind]
    if isinstance(value, list):
        packed = b"".join(map(pack, value))
        return _varint(number << 3 | 2) + _varint(len(packed)) + packed
    return _varint(number << 3 | wire) + pack(value)


def encode(message, **fields):
    """The bytes of a message; a field that is None is left out."""
    out, known = [], _FIELDS[message]
    for name, value in fields.items():
        number, kind = known[name]
        if isinstance(value, list) and kind == "s":
            out.extend(_field(number, kind, v) for v in value)
        elif value is not None:
            out.append(_field(number, kind, value))
    return b"".join(out)
