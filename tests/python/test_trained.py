"""examples/python/sentences.py and speech.py: with made weights they say what float64 says, which
Python's standard library computes."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tensorh import safetensors

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [
    "The cat sat on the mat.",
    "the CAT  sat, on \u201cthe\u201d mat!",
    "Dogs running \u2014 UNWANTED",
    "Caf\xe9, Na\xefve \xdcber cr\xe8me \u732b stra\xdfe \xc6",
    "",
    "a b c d e i o u s z " * 4,
]


def load(name, path):
    """A file's module; speech.py of the tests imports its neighbour sentences."""
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(str(path.parent))
    sys.modules.pop("sentences", None)
    return module


def both(name):
    """An example, and what the tests have beside it."""
    paths = (ROOT / folder / f"{name}.py" for folder in ("examples/python", "tests/examples"))
    return (load(f"{name}_{i}", path) for i, path in enumerate(paths))


def fails(name, *arguments):
    """The last line of an example that ends with an error."""
    command = [sys.executable, ROOT / f"examples/python/{name}.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


def test_vectors_of_sentences_are_those_of_float64(tmp_path):
    example, beside = both("sentences")
    beside.make(tmp_path / "bert")
    said = tmp_path / "said.safetensors"
    safetensors.save_file({"sentences": example.vectors(tmp_path / "bert", TEXTS)}, said)
    beside.check(tmp_path / "bert", said, *TEXTS)


def test_letters_are_parted_as_bert_does():
    example, beside = both("sentences")
    scopes = ((1, 0x180), (0x300, 0x370), (0x2000, 0x2070), (0x2E80, 0x2FE0), (0x3000, 0x3012),
              (0x31C0, 0x31F0), (0x4DB0, 0x4E10), (0xFAD0, 0xFB00))  # fmt: skip
    for text in (f"a{chr(code)}b" for scope in scopes for code in range(*scope)):
        assert example.WordPiece.words(text) == beside.parted(text), ascii(text)


def test_a_model_without_a_weight_is_refused(tmp_path):
    example, beside = both("sentences")
    beside.make(tmp_path)
    file = tmp_path / "model.safetensors"
    tensors = safetensors.load_file(file)
    del tensors["encoder.layer.1.output.dense.bias"]
    safetensors.save_file(tensors, file)
    with pytest.raises(ValueError, match=r"has no encoder\.layer\.1\.output\.dense\.bias"):
        example.load(tmp_path)
    assert "vocab.txt" in fails("sentences", tmp_path / "none", "the")
    assert fails("sentences").startswith("usage")


def test_chances_of_speech_are_those_of_float64(tmp_path):
    example, beside = both("speech")
    weights, wav = tmp_path / "made.safetensors", tmp_path / "made.wav"
    beside.make(weights, wav)
    sound = example.read(str(wav))
    said = {"sound": sound, "speech": example.listen(weights, sound)}
    safetensors.save_file(said, tmp_path / "heard.safetensors")
    beside.check(weights, tmp_path / "heard.safetensors", wav)


def test_pieces_of_speech_have_begin_and_end():
    example, _ = both("speech")
    assert list(example.spoken([0.4, 0.5, 0.36, 0.34, 0.49, 0.9])) == [(1, 3), (5, 6)]
    assert example.vowels().shape == (3 * example.RATE,)
    assert "none.safetensors" in fails("speech", "none.safetensors")
    assert fails("speech").startswith("usage")
