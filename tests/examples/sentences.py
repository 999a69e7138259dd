"""A small BERT of random weights for examples/sentences, and what it says in float64, without a
package beside Python.

python sentences.py make FOLDER             writes config.json, vocab.txt and model.safetensors
python sentences.py letters                 prints what BERT's tokenizer makes of letters
python sentences.py check FOLDER OUT TEXT.. compares OUT, which `sentences --save` wrote"""

import json
import math
import random
import struct
import sys
import unicodedata
from pathlib import Path

WIDTH, HEADS, LAYERS, INNER, PLACES, EPS = 24, 3, 2, 40, 32, 1e-12
WORDS = "[PAD] [UNK] [CLS] [SEP] the cat dog sat on mat run ##s ##ning cafe un ##want ##ed , . ! '"
WORDS += " “ ” – ¿ æ ø ł naive uber 猫 a b c ##c ##b d e i o u s z cr ##eme strasse stra ##ß ##e y"
WORDS = WORDS.split()


# --- BERT's tokenizer, of the standard library ----------------------------------------------------


def parted(text):
    """Clean, lower-cased words: BasicTokenizer of google-research/bert, in other words."""
    out = ""
    for c in text:
        kind = unicodedata.category(c)
        code = ord(c)
        if c in " \t\n\r" or kind == "Zs":
            out += " "
        elif code == 0xFFFD or kind in ("Cc", "Cf"):
            continue
        elif 0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0xF900 <= code <= 0xFAFF:
            out += f" {c} "
        elif 0x20000 <= code <= 0x2FA1F:
            out += f" {c} "
        else:
            for d in unicodedata.normalize("NFD", c.lower()):
                kind = unicodedata.category(d)
                ascii_mark = 33 <= ord(d) < 127 and not d.isalnum()
                if kind != "Mn":
                    out += f" {d} " if ascii_mark or kind[0] == "P" else d
    return out.split()


def pieces(word, words):
    if len(word) > 100:
        return ["[UNK]"]
    found, at = [], 0
    while at < len(word):
        ends = range(len(word), at, -1)
        tries = (("##" if at else "") + word[at:end] for end in ends)
        best = next((t for t in tries if t in words), None)
        if best is None:
            return ["[UNK]"]
        found.append(best)
        at += len(best) - 2 * (at > 0)
    return found


def numbers(text, words, places):
    """words: the number of each word of the vocabulary."""
    found = [p for word in parted(text) for p in pieces(word, words)][: places - 2]
    return [words[p] for p in ["[CLS]", *found, "[SEP]"]]


# --- the network ----------------------------------------------------------------------------------


def shapes():
    yield "embeddings.word_embeddings.weight", (len(WORDS), WIDTH)
    yield "embeddings.position_embeddings.weight", (PLACES, WIDTH)
    yield "embeddings.token_type_embeddings.weight", (2, WIDTH)
    parts = [("embeddings.LayerNorm", WIDTH, 0)]
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        parts += [(f"{layer}attention.self.{p}", WIDTH, WIDTH) for p in ("query", "key", "value")]
        parts += [(layer + "attention.output.dense", WIDTH, WIDTH)]
        parts += [(layer + "attention.output.LayerNorm", WIDTH, 0)]
        parts += [
            (layer + "intermediate.dense", INNER, WIDTH),
            (layer + "output.dense", WIDTH, INNER),
        ]
        parts += [(layer + "output.LayerNorm", WIDTH, 0)]
    for name, rows, columns in parts:
        yield name + ".weight", (rows, columns) if columns else (rows,)
        yield name + ".bias", (rows,)


def make(folder):
    draw = random.Random(1)
    head, data = {}, b""
    for name, shape in shapes():
        middle, spread = (1, 0.2) if name.endswith("LayerNorm.weight") else (0, 0.4)
        values = [draw.gauss(middle, spread) for _ in range(math.prod(shape))]
        begin = len(data)
        data += struct.pack(f"<{len(values)}f", *values)
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    config = {
        "hidden_size": WIDTH,
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "intermediate_size": INNER,
        "max_position_embeddings": PLACES,
        "layer_norm_eps": EPS,
    }
    folder.mkdir(exist_ok=True)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")


def read(path):
    """The tensors of a safetensors file: lists of rows, a vector as one list."""
    data = path.read_bytes()
    (n,) = struct.unpack_from("<Q", data)
    state = {}
    for name, of in json.loads(data[8 : 8 + n]).items():
        if name != "__metadata__":
            at, width = 8 + n + of["data_offsets"][0], of["shape"][-1]
            flat = struct.unpack_from(f"<{math.prod(of['shape'])}f", data, at)
            rows = [list(flat[i : i + width]) for i in range(0, len(flat), width)]
            state[name] = rows[0] if len(of["shape"]) == 1 else rows
    return state


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def sentence(w, config, ids):
    """The vector of a sentence of these numbers."""
    eps = config["layer_norm_eps"]

    def dense(name, x):
        weight, bias = w[name + ".weight"], w[name + ".bias"]
        return [[dot(row, out) + b for out, b in zip(weight, bias, strict=True)] for row in x]

    def norm(name, x, y):
        rows = []
        for a, b in zip(x, y, strict=True):
            row = [p + q for p, q in zip(a, b, strict=True)]
            mean = math.fsum(row) / len(row)
            scale = math.sqrt(math.fsum((v - mean) ** 2 for v in row) / len(row) + eps)
            terms = zip(row, w[name + ".weight"], w[name + ".bias"], strict=True)
            rows.append([(v - mean) / scale * g + b for v, g, b in terms])
        return rows

    def attend(layer, x):
        q, k, v = (dense(f"{layer}attention.self.{p}", x) for p in ("query", "key", "value"))
        width = len(q[0])
        size = width // config["num_attention_heads"]
        rows = [[] for _ in x]
        for at in range(0, width, size):
            for i, row in enumerate(rows):
                mine = q[i][at : at + size]
                score = [
                    math.exp(dot(mine, other[at : at + size]) / math.sqrt(size)) for other in k
                ]
                total = math.fsum(score)
                row += [dot(score, [r[c] for r in v]) / total for c in range(at, at + size)]
        return rows

    words, places = (
        w["embeddings.word_embeddings.weight"],
        w["embeddings.position_embeddings.weight"],
    )
    type_0 = w["embeddings.token_type_embeddings.weight"][0]
    placed = [[p + t for p, t in zip(places[i], type_0, strict=True)] for i in range(len(ids))]
    x = norm("embeddings.LayerNorm", [words[i] for i in ids], placed)
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        y = dense(layer + "attention.output.dense", attend(layer, x))
        x = norm(layer + "attention.output.LayerNorm", x, y)
        y = dense(layer + "intermediate.dense", x)
        y = [[0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in row] for row in y]
        x = norm(layer + "output.LayerNorm", x, dense(layer + "output.dense", y))
    mean = [math.fsum(column) / len(x) for column in zip(*x, strict=True)]
    length = math.sqrt(dot(mean, mean))
    return [v / length for v in mean]


def check(folder, out, *texts):
    w, said = read(folder / "model.safetensors"), read(out)["sentences"]
    config = json.loads((folder / "config.json").read_text())
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    words = {word: i for i, word in enumerate(lines)}
    worst = 0
    for text, row in zip(texts, said, strict=True):
        ids = numbers(text, words, config["max_position_embeddings"])
        expected = sentence(w, config, ids)
        worst = max(worst, *(abs(a - b) for a, b in zip(row, expected, strict=True)))
    print(f"largest difference: {worst:.1e}")
    assert worst < 1e-6


def letters():
    """A line for each letter that the program promises to treat as BERT does: its words."""
    scopes = (range(1, 0x180), range(0x300, 0x370), range(0x2000, 0x2070), range(0x3000, 0x3012))
    for scope in scopes:
        for code in scope:
            if code not in (0x2028, 0x2029, 0x2065):
                print(f"{code:x} {' '.join(parted(f'a{chr(code)}b'))}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder]:
            make(Path(folder))
        case ["letters"]:
            letters()
        case ["check", folder, out, *texts]:
            check(Path(folder), Path(out), *texts)
        case _:
            sys.exit(__doc__)
