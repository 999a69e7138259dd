"""How alike sentences are, by a BERT such as all-MiniLM-L6-v2 (Devlin et al. 2019; Reimers and
Gurevych 2019). `sh examples/weights.sh minilm` fetches its folder of three files:

python examples/python/sentences.py build/weights/minilm "A cat purrs." "A kitten is happy."
"""

import json
import sys
import unicodedata
from pathlib import Path

import tensorh as torch
import tensorh.nn.functional as F
from tensorh import nn, safetensors


class WordPiece:
    """Text as numbers of a vocabulary: letters without accents, words parted at punctuation, then
    the longest pieces that the vocabulary has (Wu et al. 2016, section 4.1)."""

    CHINESE = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))

    def __init__(self, lines):
        self.number = {word: i for i, word in enumerate(lines)}

    def __call__(self, text, most):
        """At most so many numbers, the marks of begin and end among them."""
        pieces = [p for word in self.words(text) for p in self.pieces(word)]
        return [self.number[p] for p in ["[CLS]", *pieces[: most - 2], "[SEP]"]]

    @staticmethod
    def words(text):
        out = []
        for c in text:
            kind = unicodedata.category(c)
            if c in " \t\n\r" or kind == "Zs":
                out.append(" ")
            elif c == "\ufffd" or kind in ("Cc", "Cf"):
                continue
            elif any(first <= ord(c) <= last for first, last in WordPiece.CHINESE):
                out.append(f" {c} ")  # a word of its own
            else:
                out += (WordPiece.apart(d) for d in unicodedata.normalize("NFD", c.lower()))
        return "".join(out).split()

    @staticmethod
    def apart(c):
        """A letter without its accents; a mark between spaces."""
        kind = unicodedata.category(c)
        if kind == "Mn":
            return ""
        mark = kind[0] == "P" or (c.isascii() and c.isprintable() and not c.isalnum())
        return f" {c} " if mark else c

    def pieces(self, word):
        found, at = [], 0
        while at < len(word) <= 100:
            for end in range(len(word), at, -1):
                piece = ("##" if at else "") + word[at:end]
                if piece in self.number:
                    break
            else:
                return ["[UNK]"]
            found.append(piece)
            at = end
        return found or ["[UNK]"]


def named(**parts):
    return nn.ModuleDict(parts)


class Layer(nn.Module):
    """The parts have the names of the file."""

    def __init__(self, width, heads, inner, eps):
        super().__init__()
        self.heads = heads
        parts = {name: nn.Linear(width, width) for name in ("query", "key", "value")}
        out = named(dense=nn.Linear(width, width), LayerNorm=nn.LayerNorm(width, eps))
        self.attention = nn.ModuleDict({"self": named(**parts), "output": out})
        self.intermediate = named(dense=nn.Linear(width, inner))
        self.output = named(dense=nn.Linear(inner, width), LayerNorm=nn.LayerNorm(width, eps))

    def forward(self, x):
        q, k, v = (
            part(x).unflatten(1, (self.heads, -1)).transpose(0, 1)
            for part in self.attention["self"].values()
        )
        y = F.scaled_dot_product_attention(q, k, v).transpose(0, 1).flatten(1)
        out = self.attention["output"]
        x = out["LayerNorm"](x + out["dense"](y))
        y = F.gelu(self.intermediate["dense"](x))
        return self.output["LayerNorm"](x + self.output["dense"](y))


class Bert(nn.Module):
    def __init__(self, config, words):
        super().__init__()
        width, eps = config["hidden_size"], config["layer_norm_eps"]
        self.places = config["max_position_embeddings"]
        self.embeddings = named(
            word_embeddings=nn.Embedding(words, width),
            position_embeddings=nn.Embedding(self.places, width),
            token_type_embeddings=nn.Embedding(config.get("type_vocab_size", 2), width),
            LayerNorm=nn.LayerNorm(width, eps),
        )
        sizes = (width, config["num_attention_heads"], config["intermediate_size"], eps)
        layers = [Layer(*sizes) for _ in range(config["num_hidden_layers"])]
        self.encoder = named(layer=nn.ModuleList(layers))

    def forward(self, ids):
        """The vector of a sentence, of length 1: the mean of its pieces' vectors."""
        of = self.embeddings
        x = of["word_embeddings"](ids) + of["position_embeddings"].weight[: len(ids)]
        x = of["LayerNorm"](x + of["token_type_embeddings"].weight[0])
        for layer in self.encoder["layer"]:
            x = layer(x)
        return F.normalize(x.mean(0), dim=0)


def load(folder):
    """The tokenizer and the model of a folder."""
    folder = Path(folder)
    words = (folder / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    model = Bert(json.loads((folder / "config.json").read_text()), len(words))
    absent, _ = safetensors.load_model(model, folder / "model.safetensors", strict=False)
    if absent:
        raise ValueError(f"{folder}/model.safetensors has no {sorted(absent)[0]}")
    return WordPiece(words), model.eval()


@torch.inference_mode()
def vectors(folder, sentences):
    """A row for each sentence."""
    tokenize, model = load(folder)
    return torch.stack([model(torch.tensor(tokenize(s, model.places))) for s in sentences])


def main(folder, *sentences):
    rows = vectors(folder, sentences)
    for alike, sentence in zip((rows @ rows.T).tolist(), sentences, strict=True):
        print("".join(f"{a:6.2f}" for a in alike), "", sentence)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: sentences.py FOLDER SENTENCE...")
    main(*sys.argv[1:])
