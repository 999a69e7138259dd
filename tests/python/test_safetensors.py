"""Files of named tensors: safetensors, and indices of several."""

import json
import random
import re

import numpy as np
import pytest
from test_files import make_files, plain

import tensorh as torch
from tensorh.safetensors import SafetensorError, load_file, load_index, safe_open, save_file


def test_safetensors(tmp_path):
    path = tmp_path / "a.safetensors"
    made = {n: torch.tensor([1, 0, 3]).to(getattr(torch, n)) for n in make_files.DTYPES}
    made.pop("complex128")
    made |= {"view": torch.tensor([[1.0, 2], [3, 4]]).t(), "empty": torch.zeros(0, 2)}
    save_file(made, path, metadata={"format": "pt", "ü": "ä"})
    r = load_file(path)
    assert set(r) == set(made)
    for k, v in r.items():
        assert v.dtype is made[k].dtype and plain(v) == plain(made[k]) and v.shape == made[k].shape
    with safe_open(path, framework="pt", device="cpu") as f:
        assert f.keys() == sorted(made) and f.metadata() == {"format": "pt", "ü": "ä"}
        assert f.get_tensor("view").tolist() == [[1, 3], [2, 4]]
        part = f.get_slice("view")
        assert part.get_shape() == [2, 2] and part.get_dtype() == "F32"
        assert part[:, 1].tolist() == [3, 4]
        with pytest.raises(SafetensorError, match="does not contain"):
            f.get_tensor("none")
    with pytest.raises(SafetensorError, match="closed"):
        f.get_tensor("view")
    data = torch.safetensors.save({"x": torch.ones(2)})
    assert torch.safetensors.load(data)["x"].tolist() == [1, 1]


def test_safetensors_refuses(tmp_path):
    path = tmp_path / "a.safetensors"
    for bad, error in (
        ({"a": 1}, ValueError),
        ([1], ValueError),
        ({1: torch.ones(1)}, TypeError),
        ({"a\0": torch.ones(1)}, ValueError),
    ):
        with pytest.raises(error):
            save_file(bad, path)
    with pytest.raises(TypeError):
        save_file({}, path, metadata={"a": 1})
    assert not path.exists()
    with pytest.raises(FileNotFoundError):
        load_file(path)
    path.write_bytes(b"junk" * 10)
    with pytest.raises(SafetensorError):
        load_file(path)
    with pytest.raises(SafetensorError):
        safe_open(path)
    rng, good = random.Random(3), torch.safetensors.save({"x": torch.ones(2, 3)})
    for _ in range(200):
        data = bytearray(good)
        data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            torch.safetensors.load(bytes(data))
        except (SafetensorError, OSError):
            pass


def test_safetensors_of_an_index(tmp_path):
    index, map_of = tmp_path / "model.safetensors.index.json", {}
    save_file({"b": torch.arange(3), "a": torch.ones(2, 2), "c": torch.zeros(1)}, tmp_path / "1.st")
    save_file({"d": torch.tensor(2.5), "a": torch.zeros(5)}, tmp_path / "2.st")

    def write(names, **more):
        index.write_text(json.dumps({"metadata": {"total": [1, {"x": '}]\\"'}]}} | more | names))

    map_of = {"a": "1.st", "d": "2.st", "b": "1.st"}
    write({"weight_map": map_of, "more": None})
    got = load_index(index)
    assert sorted(got) == ["a", "b", "d"] and got["a"].shape == (2, 2) and got["d"] == 2.5
    assert list(load_index(str(index), "meta")) == list(got)
    write({"weight_map": {}})
    assert load_index(index) == {}
    for names, words in (
        ({"weight_map": map_of | {"e": "2.st"}}, "'2.st' has no tensor \"e\", which '"),
        ({"weight_map": map_of | {"e": "../1.st"}}, "names '../1.st', which is no file of its"),
        ({"weight_map": map_of | {"e": "/etc/passwd"}}, "which is no file of its folder"),
        ({"weight_map": map_of | {"e": "C:x"}}, "which is no file of its folder"),
        ({"weight_map": map_of | {"e": "a\\b"}}, "which is no file of its folder"),
        ({"weight_map": map_of | {"e": ""}}, "which is no file of its folder"),
        ({"weight_map": ["1.st"]}, "malformed JSON"),
        ({"weight_map": {"a": 1}}, "malformed JSON"),
        ({"weights": map_of}, 'it has no "weight_map"'),
    ):
        write(names)
        with pytest.raises(SafetensorError, match=re.escape(words)):
            load_index(index)
    write({"weight_map": map_of | {"e": "3.st"}})
    with pytest.raises(OSError, match="3.st"):
        load_index(index)
    with pytest.raises(FileNotFoundError):
        load_index(tmp_path / "none.json")
    write({"weight_map": map_of})
    good = index.read_text()
    for n in range(len(good)):
        index.write_text(good[:n])
        with pytest.raises(SafetensorError):
            load_index(index)
    rng = random.Random(4)
    for _ in range(500):
        data = bytearray(good.encode())
        data[rng.randrange(len(data))] = rng.randrange(256)
        index.write_bytes(data)
        try:
            load_index(index)
        except (SafetensorError, OSError):
            pass


def test_safetensors_has_torch_below_it():
    import importlib

    assert importlib.import_module("tensorh.safetensors.torch").save_file is save_file


def test_safetensors_of_the_package(tmp_path):
    theirs = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "a.safetensors"
    save_file({"x": torch.tensor([[1.0, 2]])}, path)
    assert theirs.load_file(path)["x"].tolist() == [[1, 2]]
    theirs.save_file({"y": np.arange(3)}, path)
    assert load_file(path)["y"].tolist() == [0, 1, 2]


# --- what torch's files hold beside plain tensors -------------------------------------------------
