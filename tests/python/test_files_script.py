"""TorchScript archives: torch.jit.load reads modules as data and runs nothing."""

import copy
import io
import pathlib
import pickle
import zipfile

import pytest

import tensorh as torch

FILE = pathlib.Path(__file__).parent / "data" / "torch_scripted.pt"  # make_files.scripted


def rewritten(change, member="data.pkl", method=zipfile.ZIP_STORED):
    f = io.BytesIO()
    with zipfile.ZipFile(FILE) as old, zipfile.ZipFile(f, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("/" + member):
                new.writestr(name, change(data), method)
            else:
                new.writestr(name, data)
    return f.getvalue()


@pytest.mark.parametrize("source", ["path", "file", "torch.load"])
def test_modules_are_read_as_data(source):
    if source == "path":
        net = torch.jit.load(FILE, map_location="cpu")
    elif source == "file":
        net = torch.jit.load(io.BytesIO(FILE.read_bytes()))
    else:
        net = torch.load(FILE, weights_only=False)
    weight, bias = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [0.5, -0.5, 0.0]
    state = {name: t.tolist() for name, t in net.state_dict().items()}
    assert list(state) == ["place", "body.0.weight", "body.0.bias", "again.weight", "again.bias"]
    assert list(state.values()) == [[0, 1, 2], weight, bias, weight, bias]
    assert [n for n, _ in net.named_parameters()] == ["body.0.weight", "body.0.bias"]
    assert [n for n, _ in net.named_modules()] == ["", "body", "body.0", "body.1", "again"]
    assert all(p.requires_grad and p.is_leaf for p in net.parameters())
    assert (net.sizes, net.note, net.k, net.training) == ([1, 2], "x", 7, False)
    assert isinstance(net, torch.jit.ScriptModule) and net.original_name == "Net"
    assert str(net).splitlines()[:2] == ["RecursiveScriptModule(", "  original_name=Net"]


def test_programs_are_not_run():
    net = torch.jit.load(FILE)
    with pytest.raises(NotImplementedError, match="program of Net is TorchScript"):
        net(torch.ones(1, 2))
    with pytest.raises(NotImplementedError, match="program of Net is TorchScript"):
        net.twice(2)
    with pytest.raises(RuntimeError, match=r"torch\.jit\.load reads its weights"):
        torch.load(FILE)


def test_weights_go_into_a_module_and_copies_are_whole():
    net, layer = torch.jit.load(FILE), torch.nn.Linear(2, 3)
    layer.load_state_dict(net.again.state_dict())
    assert layer(torch.ones(2)).tolist() == [1.5, 4.5, 9.0]
    other = copy.deepcopy(net)
    assert other.again.weight is getattr(other.body, "0").weight is not net.again.weight
    assert other.state_dict()["again.weight"].tolist() == net.again.weight.tolist()


def test_no_archive_is_an_error_that_names_the_file(tmp_path):
    with pytest.raises(ValueError, match="none.pt does not exist"):
        torch.jit.load(tmp_path / "none.pt")
    torch.save(torch.ones(2), tmp_path / "plain.pt")
    with pytest.raises(RuntimeError, match=r"torch\.load reads it"):
        torch.jit.load(tmp_path / "plain.pt")
    (tmp_path / "cut.pt").write_bytes(FILE.read_bytes()[:-9])
    with pytest.raises(RuntimeError, match="cut.pt: failed reading zip archive"):
        torch.jit.load(tmp_path / "cut.pt")


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda d: d.replace(b"modules.linear\nLinear", b"modules.linear\nLinearr"), "global"),
        (lambda d: d.replace(b"__torch__\nNet", b"builtins\nset"), "."),
        (lambda d: d.replace(b"\x04\0\0\0note", b"\x04\0\0\0eval"), "'eval'.* is not data"),
        (lambda d: d.replace(b"\x04\0\0\0note", b"\x04\0\0\0bo.y"), "kept"),
        (lambda d: d.replace(b"\x05\0\0\0again", b"\x05\0\0\0ag.in"), "no such name"),
        (lambda d: b"\x80\2c__torch__\nNet\n)\x81q\0}(X\1\0\0\0ah\0ub.", "within itself"),
        (lambda d: b"\x80\2c__torch__\nNet\n)\x81}(X\5\0\0\0placeK\1ub.", "not a tensor"),
        (lambda d: b"\x80\2c__torch__\nNet\n)\x81.", "no module"),
        (lambda d: b"\x80\2K\1.", "no module"),
        (lambda d: b"\x80\2c__torch__\nNet\n)\x81K\1b.", "must be a dict"),
        (lambda d: b"\x80\2c__torch__\nNet\n)\x81}b}b.", "must be a dict"),
        (lambda d: b"\x80\2ctorch.jit._pickle\nbuild_intlist\n)R.", "nothing"),
    ],
)
def test_a_file_is_not_trusted(change, said):
    data = rewritten(change)
    if said == "kept":
        assert getattr(torch.jit.load(io.BytesIO(data)), "bo.y") == "x"
        return
    with pytest.raises((pickle.UnpicklingError, RuntimeError), match=said):
        torch.jit.load(io.BytesIO(data))


def test_programs_that_do_not_unpack_are_refused():
    data = rewritten(lambda d: d, "__torch__.py", zipfile.ZIP_DEFLATED)
    assert torch.jit.load(io.BytesIO(data)).k == 7
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        (packed,) = (i for i in z.infolist() if i.filename.endswith("__torch__.py"))
    at = packed.header_offset + 30 + len(packed.filename)
    wrong = bytearray(data)
    wrong[at : at + 20] = bytes(20)
    with pytest.raises(RuntimeError, match="__torch__.py' does not unpack"):
        torch.jit.load(io.BytesIO(wrong))
    large = rewritten(lambda d: bytes(1 << 25), "__torch__.py", zipfile.ZIP_DEFLATED)
    with pytest.raises(RuntimeError, match="__torch__.py' is too large"):
        torch.jit.load(io.BytesIO(large))
    with pytest.raises(RuntimeError, match="data.pkl' is compressed"):
        torch.jit.load(io.BytesIO(rewritten(lambda d: d, method=zipfile.ZIP_DEFLATED)))
