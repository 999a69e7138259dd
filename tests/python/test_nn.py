"""nn: Module, built-in modules, containers, functional, init, against what torch gave
(data/nn.json, by data/make_nn.py) and against torch itself where it is installed."""

import copy
import gc
import inspect
import json
import math
import pathlib
import pickle
import subprocess
import sys
import threading
import warnings
import weakref

import nn_programs
import pytest

import tensorh as torch
from tensorh import _C, nn

STORED = json.loads((pathlib.Path(__file__).parent / "data" / "nn.json").read_text())
needs_backward = pytest.mark.skipif(
    not hasattr(torch.Tensor, "backward"), reason="this build has no autograd"
)


def same(a, b, path=""):
    """Raises where two results differ by more than float32 explains."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        assert len(a) == len(b), f"{path}: {len(a)} and {len(b)} members"
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{path}[{i}]")
    elif isinstance(a, dict):
        assert list(a) == list(b), path
        for k in a:
            same(a[k], b[k], f"{path}.{k}")
    elif isinstance(a, float) and isinstance(b, (int, float)):
        assert math.isclose(a, b, rel_tol=2e-5, abs_tol=2e-6) or a == b, f"{path}: {a} and {b}"
    else:
        assert a == b, f"{path}: {a!r} and {b!r}"


@pytest.mark.parametrize("name", ["MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"])
def test_a_loss_of_two_shapes_warns_at_the_callers_line(name):
    x, y = torch.ones(2, 1), torch.zeros(2)
    loss = getattr(nn, name)()
    f = {
        "MSELoss": nn.functional.mse_loss,
        "L1Loss": nn.functional.l1_loss,
        "SmoothL1Loss": nn.functional.smooth_l1_loss,
        "HuberLoss": nn.functional.huber_loss,
    }[name]
    for call in (loss, f, lambda a, b: loss(target=b, input=a)):
        with pytest.warns(UserWarning, match=r"target size \(torch.Size\(\[2\]\)\)") as seen:
            assert call(x, y) == (0.5 if name in ("SmoothL1Loss", "HuberLoss") else 1)
        assert [w.filename for w in seen] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss(x, x)
        with pytest.raises(UserWarning):
            loss(x, y)


@pytest.mark.parametrize("name", ["BCELoss", "BCEWithLogitsLoss"])
def test_binary_losses_refuse_two_shapes(name):
    with pytest.raises(ValueError, match=r"arget size \(torch.Size\(\[2\]\)\)"):
        getattr(nn, name)()(torch.ones(2, 1), torch.zeros(2))


def test_what_a_loss_says_of_two_shapes_is_told_by_its_row():
    words = {name: getattr(nn, name)._unlike for name in nn.modules.rows.names()}
    assert {name: word for name, word in words.items() if word} == {
        "MSELoss": "warns",
        "L1Loss": "warns",
        "SmoothL1Loss": "warns",
        "HuberLoss": "warns",
        "BCELoss": "deprecated",
        "BCEWithLogitsLoss": "refused",
    }


def test_the_mean_of_kl_div_warns():
    x = torch.ones(2, 2)
    with pytest.warns(UserWarning, match="batchmean"):
        nn.functional.kl_div(x, x)
    with pytest.warns(UserWarning, match="batchmean"):
        nn.KLDivLoss()(x, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nn.KLDivLoss(reduction="batchmean")(x, target=x) == -2
    with pytest.raises(ValueError, match="batchmean is not a valid value for reduction"):
        nn.functional.mse_loss(x, x, reduction="batchmean")


@pytest.mark.parametrize(
    "name", [n for n in nn_programs.PROGRAMS if n not in ("errors", "gradients")]
)
def test_program_gives_what_torch_gave(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(STORED[name], nn_programs.PROGRAMS[name](torch), name)


@needs_backward
def test_gradients_are_what_torch_gave():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(STORED["gradients"], nn_programs.program_gradients(torch), "gradients")


def test_errors_are_what_torch_said():
    for theirs, ours in zip(STORED["errors"], nn_programs.program_errors(torch), strict=True):
        if "nope=3" in theirs[0]:  # names torch's overloads
            theirs, ours = theirs[:2], ours[:2]
        ours[2:] = [text.partition("\n  in ")[0] for text in ours[2:]]  # the call of a row
        assert theirs == ours


def test_programs_beside_torch():
    theirs = pytest.importorskip("torch")
    for name in ("repr", "state_dict", "forward", "functional", "draws", "hooks", "containers"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = nn_programs.PROGRAMS[name]
            same(json.loads(json.dumps(program(theirs))), program(torch), name)


# --- attributes -----------------------------------------------------------------------------------


def test_parameter_is_a_leaf_over_the_same_memory():
    data = torch.ones(2)
    p = nn.Parameter(data)
    assert p.requires_grad and p.is_leaf and isinstance(p, torch.Tensor)
    assert p.data_ptr() == data.data_ptr()
    assert repr(p) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert type(p * 2) is torch.Tensor
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    assert tuple(nn.Parameter().shape) == (0,)
    q = copy.deepcopy({"a": p, "b": p})
    assert q["a"] is q["b"] and type(q["a"]) is nn.Parameter
    assert q["a"].data_ptr() != p.data_ptr() and q["a"].requires_grad
    with pytest.raises(RuntimeError):
        nn.Parameter(torch.ones(2, dtype=torch.int64))

    class Mine(nn.Parameter):
        pass

    assert type(copy.deepcopy(Mine(data))) is Mine and repr(Mine(data)).startswith("Parameter")


def test_names_move_between_dictionaries():
    m = nn.Module()
    m.x = 3
    m.x = nn.Parameter(torch.ones(1))
    assert "x" in m._parameters and "x" not in m.__dict__
    m.x = None
    assert m._parameters == {"x": None} and m.x is None
    del m.x
    m.x = nn.ReLU()
    assert list(m._modules) == ["x"] and not m._parameters
    m.x = nn.Parameter(torch.ones(1))
    assert list(m._parameters) == ["x"] and not m._modules
    del m.x
    m.register_buffer("x", torch.ones(1), persistent=False)
    m.x = torch.zeros(2)
    assert m._non_persistent_buffers_set == {"x"} and tuple(m.x.shape) == (2,)
    del m.x
    assert not m._buffers and not m._non_persistent_buffers_set
    m.b = nn.Buffer(torch.ones(3), persistent=False)
    assert isinstance(m.b, nn.Buffer) and not isinstance(torch.ones(1), nn.Buffer)
    assert list(m._buffers) == ["b"] and not m.state_dict()
    with pytest.raises(AttributeError, match="'Module' object has no attribute 'nope'"):
        del m.nope


def test_object_setattr_hides_a_module():
    m = nn.Module()
    object.__setattr__(m, "hidden", nn.ReLU())
    assert isinstance(m.hidden, nn.ReLU) and not list(m.children())


def test_a_class_with_getattr_may_ask_its_super():
    class Wrapper(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

        def forward(self, x):
            return self.inner(x)

    m = Wrapper()
    assert m.in_features == 2 and m.inner is m._modules["inner"]
    assert m(torch.ones(2)).shape == (2,)
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'nope'"):
        _ = m.nope


class Beside:
    def eval(self):
        return "beside"

    def beside(self):
        return "beside"


@pytest.mark.parametrize(
    "bases, evaluated",
    [((nn.Module, Beside), "itself"), ((Beside, nn.Module), "beside"),
     ((nn.ReLU, Beside), "itself"), ((nn.ReLU, Beside, nn.Module), "beside")],
)  # fmt: skip
def test_a_module_with_getattr_keeps_the_order_of_its_bases(bases, evaluated):
    def other(self, name):
        return super(cls, self).__getattr__(name)

    cls = type("Class", bases, {"__getattr__": other})
    m = cls()
    assert m.beside() == "beside" and m.eval() is (m if evaluated == "itself" else "beside")
    with pytest.raises(AttributeError, match="'Class' object has no attribute 'nope'"):
        _ = m.nope


def test_a_property_that_fails_says_why():
    class Broken(nn.Module):
        @property
        def value(self):
            return self.nothing

    with pytest.raises(AttributeError, match="nothing"):
        _ = Broken().value


class LoadsWithHooks(nn.Linear):
    def note(self, *args):
        self.noted = len(args)


def noted(module, *args):
    module.heard = len(args)


def test_hooks_before_loading_hear_of_the_module_that_loads():
    m = LoadsWithHooks(1, 1)
    m.register_load_state_dict_pre_hook(noted)
    m._register_load_state_dict_pre_hook(m.note)
    for other in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        other.load_state_dict(m.state_dict())
        assert other.heard == 7 and other.noted == 7 and not hasattr(m, "heard")
    m = LoadsWithHooks(1, 1)
    m.register_load_state_dict_pre_hook(noted)
    gone = weakref.ref(m)
    gc.disable()
    try:
        del m
        assert gone() is None
    finally:
        gc.enable()


def test_hook_dictionaries_are_there_when_looked_at():
    m = nn.Linear(1, 1)
    assert "_forward_hooks" not in m.__dict__
    assert type(m._forward_hooks).__name__ == "OrderedDict" and len(m._backward_hooks) == 0
    assert m(torch.ones(1)).shape == (1,)


# --- built-in modules -----------------------------------------------------------------------------


def test_every_row_is_a_class():
    for name in _C._module_kinds():
        cls = getattr(nn, name)
        assert issubclass(cls, nn.Module) and cls.__name__ == name and name in dir(nn)
        if "_row" in cls.__dict__:
            assert cls.__doc__.startswith(name + "(")
            names = list(inspect.signature(cls).parameters)
            if cls._makes_tensors:
                last = names[names.index("device") :]  # behind it what is given by name alone
                assert last[:2] == ["device", "dtype"]
    assert str(inspect.signature(nn.Dropout)) == "(p=0.5, inplace=False)"

    class Mine(nn.Linear):
        def __init__(self, width):
            super().__init__(width, width)

    assert str(inspect.signature(Mine)) == "(width)"
    with pytest.raises(AttributeError):
        _ = nn.NoSuchModule


def test_an_option_that_is_changed_counts():
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    pool = nn.MaxPool2d(2)
    pool.stride = 1
    assert pool(x).shape == (1, 1, 3, 3)
    conv = nn.Conv2d(1, 1, 3)
    conv.padding = (1, 1)
    assert conv(x).shape == x.shape and "padding=(1, 1)" in repr(conv)
    drop = nn.Dropout(0.5)
    drop.p = 0.0
    assert drop(x).tolist() == x.tolist()
    table = nn.Embedding(3, 2)
    before = torch.default_generator.get_state().tolist()
    table.padding_idx = 1
    table(torch.tensor([0]))
    assert torch.default_generator.get_state().tolist() == before, "making anew draws nothing"
    loss = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 0.0]))
    logits, target = torch.tensor([[0.0, 0.0], [0.0, 9.0]]), torch.tensor([0, 1])
    loss.reduction = "sum"
    assert loss(logits, target).item() == pytest.approx(math.log(2))


def test_parts_that_are_replaced_count():
    m, x = nn.Linear(2, 3), torch.ones(1, 2)
    m.weight = nn.Parameter(torch.zeros(3, 2))
    assert m(x).tolist() == [m.bias.tolist()]
    m.bias = None
    assert m(x).tolist() == [[0.0, 0.0, 0.0]]
    m.weight = nn.Parameter(torch.ones(4, 5))  # another shape than the options say
    assert m(torch.ones(1, 5)).tolist() == [[5.0] * 4]
    m._parameters["weight"] = torch.ones(1, 2)
    assert m(x).tolist() == [[2.0]]
    del m.weight
    m.weight = torch.full((1, 2), 3.0)  # a plain tensor
    assert m(x).tolist() == [[6.0]]
    a = nn.MultiheadAttention(4, 2)
    a.out_proj.weight = nn.Parameter(torch.zeros(4, 4))
    q = torch.ones(2, 1, 4)
    assert a(q, q, q)[0].tolist() == torch.zeros(2, 1, 4).tolist()
    a.out_proj = nn.Linear(4, 4)
    a.out_proj.bias = nn.Parameter(torch.full((4,), 7.0))
    a.out_proj.weight = nn.Parameter(torch.zeros(4, 4))
    assert a(q, q, q)[0].tolist() == torch.full((2, 1, 4), 7.0).tolist()


def test_tied_weights_are_one_parameter():
    table, head = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
    head.weight = table.weight
    both = nn.ModuleList([table, head])
    assert len(list(both.parameters())) == 1 and len(both.state_dict()) == 2
    table.weight.requires_grad_(False).fill_(2.0)
    assert head(torch.ones(3)).tolist() == [6.0] * 5
    again = copy.deepcopy(both)
    assert again[0].weight is again[1].weight and again[0].weight is not table.weight


def test_in_place_modules_return_their_input():
    x = torch.tensor([-1.0, 2.0])
    assert nn.ReLU(inplace=True)(x) is x and x.tolist() == [0.0, 2.0]
    assert nn.ReLU()(x) is not x
    assert nn.Identity(3, nope=4)(x) is x


def test_mode_reaches_parts_of_parts():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Dropout(1.0), nn.BatchNorm1d(2))

    net = Net().eval()
    assert not any(m.training for m in net.modules())
    assert net.layers[0](torch.ones(2)).tolist() == [1.0, 1.0]
    net.train()
    assert net.layers[0](torch.ones(2)).tolist() == [0.0, 0.0]
    net.layers[0].training = False
    assert net.layers[0](torch.ones(2)).tolist() == [1.0, 1.0]


def test_forward_of_a_class_and_of_an_object_may_be_replaced():
    class Twice(nn.Linear):
        def forward(self, x):
            return super().forward(x) * 2

    torch.manual_seed(0)
    m, x = Twice(2, 2), torch.ones(2)
    torch.manual_seed(0)
    plain = nn.Linear(2, 2)
    assert m(x).tolist() == [2 * v for v in plain(x).tolist()]
    assert "reset" not in repr(m) and repr(m) == "Twice(in_features=2, out_features=2, bias=True)"
    plain.forward = lambda x: "mine"
    assert plain(x) == "mine" and copy.copy(plain)(x) == "mine"
    del plain.forward
    relu, usual = nn.ReLU(), nn.ReLU.forward
    try:
        nn.ReLU.forward = lambda self, x: "all"
        assert relu(x) == "all" and nn.ReLU()(x) == "all"
        assert nn.Sequential(relu)(x) == "all"
    finally:
        nn.ReLU.forward = usual
    assert relu(x).tolist() == [1.0, 1.0]


def test_reset_draws_what_making_drew():
    for make in (
        lambda: nn.Linear(3, 4),
        lambda: nn.Conv2d(1, 2, 3),
        lambda: nn.LSTM(2, 3),
        lambda: nn.Embedding(4, 2, padding_idx=1),
    ):
        torch.manual_seed(5)
        m = make()
        values = [p.tolist() for p in m.parameters()]
        torch.manual_seed(5)
        m.reset_parameters()
        assert [p.tolist() for p in m.parameters()] == values


def test_dtype_and_device_of_parts():
    m = nn.Linear(2, 3, dtype=torch.float64)
    assert m.weight.dtype == torch.float64 and m(torch.ones(2, dtype=torch.float64)).shape == (3,)
    p = m.weight
    assert m.to(torch.float32) is m and m.weight is p and p.dtype == torch.float32
    assert m.half().bias.dtype == torch.float16 and m.float().bias.dtype == torch.float32
    assert nn.Linear(2, 3, device="meta").weight.device.type == "meta"
    norm = nn.BatchNorm1d(2).double()
    assert norm.running_mean.dtype == torch.float64
    assert norm.num_batches_tracked.dtype == torch.int64


def test_an_error_tells_the_path():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.Linear(8, 4)

        def forward(self, x):
            return self.down(x)

    with pytest.raises(RuntimeError, match=r"^0\.down \(Linear\): input: expected \(\*, 8\)"):
        nn.Sequential(Block())(torch.ones(2, 7))
    with pytest.raises(RuntimeError, match=r"^Linear: input: expected"):
        nn.Linear(2, 2)(torch.ones(3))


def test_an_exception_of_forward_is_the_users():
    class Fails(nn.Module):
        def forward(self, x):
            raise KeyError("mine")

    with pytest.raises(KeyError) as caught:
        nn.Sequential(nn.Sequential(Fails()))(torch.ones(1))
    assert caught.value.args == ("mine",)
    assert caught.traceback[-1].name == "forward"


def test_wrong_calls_are_refused():
    linear, lstm, x = nn.Linear(2, 2), nn.LSTM(2, 2), torch.ones(3, 1, 2)
    for call, error in (
        (lambda: linear(), TypeError),
        (lambda: linear(3), TypeError),
        (lambda: linear(x, x), TypeError),
        (lambda: linear(nope=x), TypeError),
        (lambda: lstm(x, 3), TypeError),
        (lambda: lstm(x, (x,)), TypeError),
        (lambda: lstm(x, hx=(x, "c")), TypeError),
        (lambda: nn.Linear("a", 2), TypeError),
        (lambda: nn.Linear(2), TypeError),
        (lambda: nn.Linear(-1, 2), RuntimeError),
        (lambda: nn.Linear(2, 2, nope=1), TypeError),
        (lambda: nn.Linear.__new__(nn.Linear)(x), AttributeError),
        (lambda: _C._Module._row_forward(nn.Module(), x), AttributeError),
        (lambda: _C._Module._row_init(nn.Module(), 1, 2), TypeError),
        (lambda: _C._Module._row_forward(3, x), TypeError),
    ):
        with pytest.raises(error):
            call()
    for change in (
        lambda m: m._parameters.update(weight="x"),
        lambda m: m._parameters.clear(),
        lambda m: setattr(m, "_parameters", None),
        lambda m: m.__dict__.clear(),
        lambda m: setattr(m, "in_features", "x"),
    ):
        m = nn.Linear(2, 2)
        change(m)
        with pytest.raises((TypeError, AttributeError)):
            m(torch.ones(2))


def test_options_changed_in_the_midst_of_a_call():
    class Sly(nn.Linear):
        @property
        def weight(self):
            self.in_features = 2
            return torch.ones(2, 2)

    m = Sly.__new__(Sly)
    nn.Module.__init__(m)
    m.__dict__.update(in_features=2, out_features=2)
    m._parameters["bias"] = None
    with pytest.raises(RuntimeError, match="changed while"):
        m(torch.ones(2))


# --- state ----------------------------------------------------------------------------------------


def test_loading_keeps_the_tensors_or_takes_them():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    p = b.weight
    assert str(b.load_state_dict(a.state_dict())) == "<All keys matched successfully>"
    assert b.weight is p and p.tolist() == a.weight.tolist() and p.data_ptr() != a.weight.data_ptr()
    state = {k: torch.zeros(v.shape) for k, v in a.state_dict().items()}
    b.load_state_dict(state, assign=True)
    assert b.weight is not p and b.weight.data_ptr() == state["weight"].data_ptr()
    assert type(b.weight) is nn.Parameter and b(torch.ones(2)).tolist() == [0.0, 0.0]
    keys = b.load_state_dict({"weight": torch.ones(2, 2), "more": torch.ones(1)}, strict=False)
    assert keys.missing_keys == ["bias"] and keys.unexpected_keys == ["more"]


def test_extra_state_and_hooks_of_the_state_dict():
    class Counted(nn.Module):
        count = 3

        def get_extra_state(self):
            return self.count

        def set_extra_state(self, state):
            self.count = state

    log = []
    net = nn.Sequential(Counted())
    net.register_state_dict_pre_hook(lambda m, prefix, keep: log.append(prefix))
    net.register_state_dict_post_hook(lambda m, state, prefix, meta: log.append(len(state)))
    net.register_load_state_dict_pre_hook(lambda m, *args: log.append("before"))
    net.register_load_state_dict_post_hook(lambda m, keys: log.append("after"))
    state = net.state_dict()
    assert dict(state) == {"0._extra_state": 3}
    net.load_state_dict({"0._extra_state": 9})
    assert net[0].count == 9 and log == ["", 1, "before", "after"]


@pytest.mark.parametrize("way", ["deepcopy", "pickle"])
def test_copies_are_apart(way):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.2), nn.LayerNorm(3), nn.LSTM(3, 2)).eval()
    net[1].p = 0.7
    net[0].bias.requires_grad_(False)
    try:
        other = copy.deepcopy(net) if way == "deepcopy" else pickle.loads(pickle.dumps(net))
    except TypeError:
        if hasattr(torch.Tensor, "__deepcopy__"):
            raise
        pytest.skip("this build's Tensor cannot be pickled")
    x = torch.ones(4, 2)
    assert repr(other) == repr(net) and not other.training and other[1].p == 0.7
    assert other(x)[0].tolist() == net(x)[0].tolist()
    assert [p.requires_grad for p in other.parameters()] == [
        p.requires_grad for p in net.parameters()
    ]
    other[0].weight.requires_grad_(False).zero_()
    assert net[0].weight.tolist() != other[0].weight.tolist()


def test_apply_goes_up_from_the_leaves():
    order = []
    nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh())).apply(
        lambda m: order.append(type(m).__name__)
    )
    assert order == ["ReLU", "Tanh", "Sequential", "Sequential"]


# --- life -----------------------------------------------------------------------------------------


def test_cycles_through_modules_are_collected():
    def make():
        net = nn.Sequential(nn.Linear(2, 2))
        net.me = [net]
        net[0].weight.owner = net
        net.register_forward_hook(lambda m, args, out: (net, None)[1])
        net(torch.ones(2))
        return weakref.ref(net), weakref.ref(net[0].weight)

    for _ in range(3):
        net, weight = make()
        gc.collect()
        assert net() is None and weight() is None


def test_a_parameter_outlives_its_module():
    m = nn.Linear(2, 2)
    p, state = m.weight, m.state_dict()
    values = p.tolist()
    del m
    gc.collect()
    assert p.tolist() == values == state["weight"].tolist()
    assert nn.Linear(2, 2).weight.tolist()


def test_memory_is_flat():
    program = """
import tensorh as torch
from tensorh import nn
def size():
    return int(open("/proc/self/statm").read().split()[1]) * 4
x, q = torch.ones(2, 3), torch.ones(2, 1, 4)
def loop(n):
    for _ in range(n):
        m = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LSTM(4, 2))
        m(x)
        try:
            m(q)
        except RuntimeError:
            pass
        a = nn.MultiheadAttention(4, 2)
        a.dropout = 0.1
        a(q, q, q)
        m.load_state_dict(m.state_dict())
        m.double().float()
size()
loop(300)
before = size()
loop(600)
print(size() - before)
"""
    if not pathlib.Path("/proc/self/statm").exists():
        pytest.skip("no /proc")
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    assert int(out.stdout) <= 64, "KiB"


def test_modules_in_threads():
    net, x, results = nn.Sequential(nn.Linear(4, 4), nn.Tanh()).eval(), torch.ones(4), []
    expected = net(x).tolist()

    def work():
        for _ in range(200):
            results.append(net(x).tolist() == expected)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 800 and all(results)


def test_import_stays_lazy():
    program = "import sys, tensorh; print('tensorh.nn' in sys.modules, 'inspect' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert out.stdout.split() == ["False", "False"], out.stderr


def test_type_takes_names_and_refuses_others():
    assert nn.Linear(2, 2).type("torch.DoubleTensor").weight.dtype is torch.float64
    assert nn.Linear(2, 2).type(torch.float64).bias.dtype is torch.float64
    with pytest.raises(ValueError, match="invalid type: 'foo'"):
        nn.Linear(2, 2).type("foo")


def test_cuda_says_that_there_is_none():
    with pytest.raises(RuntimeError, match="cuda"):
        nn.Linear(2, 2).cuda()


def test_old_state_dicts_of_batch_norm_do_not_count_batches():
    bn = nn.BatchNorm2d(3)
    state = bn.state_dict()
    del state["num_batches_tracked"]
    with pytest.raises(RuntimeError, match="num_batches_tracked"):
        bn.load_state_dict(state)
    assert nn.BatchNorm2d(3).load_state_dict(dict(state)).missing_keys == []  # tells no version
    bn.num_batches_tracked.fill_(5)
    bn.load_state_dict(dict(state))
    assert bn.num_batches_tracked.item() == 5
    bn(torch.rand(2, 3, 4, 4))
    bn.reset_running_stats()
    assert bn.running_mean.tolist() == [0] * 3 and bn.running_var.tolist() == [1] * 3
    assert bn.num_batches_tracked.item() == 0


def test_the_total_norm_is_of_the_gradients_dtype():
    p = nn.Parameter(torch.ones(2, dtype=torch.float64))
    p.grad = torch.tensor([3.0, 4.0], dtype=torch.float64)
    norm = nn.utils.clip_grad_norm_(p, 1.0)
    assert norm.dtype is torch.float64 and norm.item() == 5
    p.grad = torch.tensor([3.0, 4.0], dtype=torch.float64)
    total = nn.utils.get_total_norm([p.grad, torch.zeros(3)])
    assert total.dtype is torch.float64 and total.item() == 5
    nn.utils.clip_grads_with_norm_(p, 10.0, total)
    assert p.grad.tolist() == [3.0, 4.0]
    nn.utils.clip_grads_with_norm_(p, 1.0, total)
    assert p.grad.norm().item() == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.get_total_norm([torch.tensor([torch.inf])], error_if_nonfinite=True)
    assert nn.utils.get_total_norm([]).item() == 0


def test_names_in_the_files_of_torch():
    import tensorh.nn.modules.linear as linear
    from tensorh.nn.modules.activation import ReLU

    from tensorh.nn.common_types import _size_2_t
    from tensorh.nn.modules import conv, loss
    from tensorh.nn.modules.loss import MSELoss, _Loss, _WeightedLoss
    from tensorh.nn.modules.utils import _pair, _single

    assert linear.Linear is nn.Linear and linear.Identity is nn.Identity and ReLU is nn.ReLU
    assert conv.Conv2d is nn.Conv2d and MSELoss is loss.MSELoss is nn.MSELoss
    assert _pair(3) == (3, 3) and _pair([1, 2]) == (1, 2) and _single(1) == (1,) and _size_2_t

    class Weighted(_WeightedLoss):
        def forward(self, x):
            return (x * self.weight).sum()

    one = Weighted(torch.ones(2), reduction="sum")
    assert isinstance(one, _Loss) and one.reduction == "sum"
    assert list(one.state_dict()) == ["weight"]
    with pytest.warns(UserWarning, match="size_average"):
        assert _Loss(size_average=False).reduction == "sum"


def test_the_parts_of_clip_grad_norm():
    p = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1))]
    p[0].grad, p[1].grad = torch.tensor([3.0, 0.0]), torch.tensor([4.0])
    norm = nn.utils.get_total_norm([q.grad for q in p])
    assert norm.item() == 5 and nn.utils.get_total_norm([]).item() == 0
    assert nn.utils.get_total_norm(p[0].grad, math.inf).item() == 3
    nn.utils.clip_grads_with_norm_(p, 1.0, norm)
    same([q.grad.tolist() for q in p], [[0.6, 0.0], [0.8]])
    nn.utils.clip_grads_with_norm_(p, 10.0, torch.tensor(1.0))
    same([q.grad.tolist() for q in p], [[0.6, 0.0], [0.8]])
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.get_total_norm([torch.tensor([math.nan])], error_if_nonfinite=True)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_hook_of_a_parameter_that_holds_its_module_is_collected(replaced):
    linear = nn.Linear(2, 2)
    if replaced:
        linear.weight = nn.Parameter(torch.ones(2, 2))
    seen = []

    def hook(grad, linear=linear):
        seen.append(grad.shape)

    linear.weight.register_hook(hook)
    linear(torch.ones(1, 2)).sum().backward()
    gone = weakref.ref(hook)
    del hook
    gc.collect()
    linear(torch.ones(1, 2)).sum().backward()
    assert len(seen) == 2
    del linear
    gc.collect()
    assert gone() is None


def test_a_hook_of_a_parameter_outlives_its_module():
    seen = []

    def build():
        linear = nn.Linear(2, 2)
        weight = linear.weight
        weight.register_hook(lambda grad: seen.append(weight.shape))
        return linear(torch.ones(1, 2)).sum()

    y = build()
    gc.collect()
    y.backward()
    assert seen == [(2, 2)]


def test_a_class_sees_all_names_that_it_looks_up():
    """__getattr__ of a class is asked for parameters, buffers and modules, as torch's is."""
    seen = []

    class Seen(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)
            self.weight = nn.Parameter(torch.ones(2))
            self.register_buffer("kept", torch.zeros(2))
            self.number = 3

        def __getattr__(self, name):
            seen.append(name)
            return super().__getattr__(name)

    model = Seen()
    seen.clear()
    assert model.weight.tolist() == [1, 1] and model.kept.tolist() == [0, 0] and model.number == 3
    assert model.linear(torch.ones(1, 2)).shape == (1, 2)
    assert seen == ["weight", "kept", "linear"]
    with pytest.raises(AttributeError, match="'Seen' object has no attribute 'other'"):
        model.other  # noqa: B018
