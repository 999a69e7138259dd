"""Made weights for examples/speech.c, and what it hears in float64, by Python's standard library.

python speech.py make WEIGHTS WAV        writes random weights and a sound
python speech.py check WEIGHTS OUT [WAV] compares OUT, which `speech --save` wrote of this sound"""

import json
import math
import operator
import random
import struct
import sys
from pathlib import Path

from sentences import read

RATE, WINDOW, BEFORE, BINS, HIDDEN = 16000, 512, 64, 129, 128
SHAPES = {
    "stft_conv.weight": (2 * BINS, 1, 256),
    "conv1.weight": (128, BINS, 3),
    "conv1.bias": (128,),
    "conv2.weight": (64, 128, 3),
    "conv2.bias": (64,),
    "conv3.weight": (64, 64, 3),
    "conv3.bias": (64,),
    "conv4.weight": (HIDDEN, 64, 3),
    "conv4.bias": (HIDDEN,),
    "lstm_cell.weight_ih": (4 * HIDDEN, HIDDEN),
    "lstm_cell.weight_hh": (4 * HIDDEN, HIDDEN),
    "lstm_cell.bias_ih": (4 * HIDDEN,),
    "lstm_cell.bias_hh": (4 * HIDDEN,),
    "final_conv.weight": (1, HIDDEN, 1),
    "final_conv.bias": (1,),
}


def make(weights, wav):
    draw = random.Random(1)
    head, data = {}, b""
    for name, shape in SHAPES.items():
        n = math.prod(shape)
        bound = 2 / math.sqrt(n / shape[0])
        values = [draw.uniform(-bound, bound) for _ in range(n)]
        head[name] = {
            "dtype": "F32",
            "shape": shape,
            "data_offsets": [len(data), len(data) + 4 * n],
        }
        data += struct.pack(f"<{n}f", *values)
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    weights.write_bytes(struct.pack("<Q", len(text)) + text + data)
    sound = [round(9000 * math.sin(i * i / 3e5) + draw.gauss(0, 300)) for i in range(9000)]
    kind = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, RATE, 2 * RATE, 2, 16)
    note = struct.pack("<4sI4s", b"LIST", 3, b"odd")
    data = struct.pack("<4sI9000h", b"data", 18000, *sound)
    wav.write_bytes(
        struct.pack("<4sI4s", b"RIFF", 4 + len(kind + note + data), b"WAVE") + kind + note + data
    )


# --- the network ----------------------------------------------------------------------------------


def dot(a, b):
    return sum(map(operator.mul, a, b))


def conv(w, name, x, stride=1, around=0):
    """Of channels x: a list for each output channel."""
    rows, bias = w[name + ".weight"], w.get(name + ".bias")
    size, inputs = len(rows[0]), len(x)
    flat = [
        [v for row in rows[i : i + inputs] for v in row] for i in range(0, len(rows), inputs)
    ]
    x = [[0.0] * around + row + [0.0] * around for row in x]
    places = range(0, len(x[0]) - size + 1, stride)
    windows = [[v for row in x for v in row[at : at + size]] for at in places]
    return [
        [dot(row, window) + (bias[o] if bias else 0) for window in windows]
        for o, row in enumerate(flat)
    ]


def relu(x):
    return [[max(v, 0.0) for v in row] for row in x]


def sigmoid(v):
    return 1 / (1 + math.exp(-v))


def step(w, x, h, c):
    hidden = len(h)
    gates = [
        dot(a, x) + p + dot(b, h) + q
        for a, p, b, q in zip(
            w["lstm_cell.weight_ih"],
            w["lstm_cell.bias_ih"],
            w["lstm_cell.weight_hh"],
            w["lstm_cell.bias_hh"],
            strict=True,
        )
    ]
    into, keep, new, out = (gates[k * hidden : (k + 1) * hidden] for k in range(4))
    c = [
        sigmoid(k) * old + sigmoid(i) * math.tanh(n)
        for i, k, n, old in zip(into, keep, new, c, strict=True)
    ]
    return [sigmoid(o) * math.tanh(v) for o, v in zip(out, c, strict=True)], c


def hear(w, sound):
    h, c = [0.0] * HIDDEN, [0.0] * HIDDEN
    sound = [0.0] * BEFORE + sound + [0.0] * (-len(sound) % WINDOW)
    for at in range(0, len(sound) - BEFORE, WINDOW):
        x = sound[at : at + BEFORE + WINDOW]
        waves = conv(w, "stft_conv", [x + x[-2 : -2 - BEFORE : -1]], stride=128)
        x = [list(map(math.hypot, *two)) for two in zip(waves[:BINS], waves[BINS:], strict=True)]
        for name, stride in ("conv1", 1), ("conv2", 2), ("conv3", 2), ("conv4", 1):
            x = relu(conv(w, name, x, stride, around=1))
        h, c = step(w, [row[0] for row in x], h, c)
        (out,) = conv(w, "final_conv", relu([[v] for v in h]))
        yield sigmoid(out[0])


def check(weights, out, wav=None):
    said = read(out)
    if wav:
        sound = [v / 32768 for v in struct.unpack("<9000h", wav.read_bytes()[-18000:])]
        assert said["sound"] == sound
    expected = list(hear(read(weights), said["sound"]))
    worst = max(abs(a - b) / b for a, b in zip(said["speech"], expected, strict=True))
    print(f"largest relative difference of {len(expected)}: {worst:.1e}")
    assert worst < 1e-5


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", *paths]:
            make(*map(Path, paths))
        case ["check", *paths]:
            check(*map(Path, paths))
        case _:
            sys.exit(__doc__)
