"""Default devices: set_default_device, and a device as context manager."""

import threading

import pytest

import tensorh as torch

MAKERS = {
    "tensor": lambda **o: torch.tensor([1.0, 2.0], **o),
    "as_tensor": lambda **o: torch.as_tensor([1.0, 2.0], **o),
    "asarray": lambda **o: torch.asarray([1.0, 2.0], **o),
    "scalar_tensor": lambda **o: torch.scalar_tensor(1.0, **o),
    "empty": lambda **o: torch.empty(2, **o),
    "empty_strided": lambda **o: torch.empty_strided((2, 3), (3, 1), **o),
    "zeros": lambda **o: torch.zeros(2, **o),
    "ones": lambda **o: torch.ones(2, 3, **o),
    "full": lambda **o: torch.full((2,), 3.0, **o),
    "arange": lambda **o: torch.arange(5, **o),
    "linspace": lambda **o: torch.linspace(0, 1, 5, **o),
    "logspace": lambda **o: torch.logspace(0, 1, 5, **o),
    "eye": lambda **o: torch.eye(3, **o),
    "rand": lambda **o: torch.rand(3, **o),
    "randn": lambda **o: torch.randn(3, **o),
    "randint": lambda **o: torch.randint(3, (4,), **o),
    "randperm": lambda **o: torch.randperm(4, **o),
    "tril_indices": lambda **o: torch.tril_indices(3, 3, **o),
    "triu_indices": lambda **o: torch.triu_indices(3, 3, **o),
}


@pytest.fixture(autouse=True)
def usual():
    yield
    torch.set_default_device(None)
    assert torch.get_default_device() == torch.device("cpu")


@pytest.mark.parametrize("name", MAKERS)
def test_makers_follow_the_default(name):
    make = MAKERS[name]
    assert make().device.type == "cpu"
    with torch.device("meta") as d:
        assert d == torch.device("meta")
        assert make().device.type == "meta" and make(device=None).device.type == "meta"
        assert make(device="cpu").device.type == "cpu"
    assert make().device.type == "cpu"
    torch.set_default_device("meta")
    assert make().device.type == "meta"
    with torch.device("cpu"):
        assert make().device.type == "cpu"
    assert make().device.type == "meta"


def test_a_default_set_in_a_block_acts_at_once():
    with torch.device("meta"):
        torch.set_default_device("cpu")
        assert torch.ones(1).device.type == "cpu"
        with torch.device("meta"):
            torch.set_default_device(None)
            assert torch.ones(1).device.type == "meta"
            torch.set_default_device("meta")
        assert torch.ones(1).device.type == "cpu"
    assert torch.ones(1).device.type == "meta" == torch.get_default_device().type


def test_what_has_a_tensor_keeps_its_place():
    x = torch.ones(2, 3)
    with torch.device("meta"):
        assert torch.zeros_like(x).device == x.device == x.new_zeros(2).device
        assert (x + 1).device == x.device and x.float().device == x.device
        assert x.sum(0).tolist() == [2, 2, 2]
        assert torch.Tensor(2, 3).device == x.device
        assert torch.normal(0.0, 1.0, (3,)).device == x.device
        assert torch.from_numpy(x.numpy()).device == x.device
        x[0, 1] = 5
        assert x[torch.tensor([0], device="cpu"), [1]].tolist() == [5]
        assert torch.vander(x[0]).device == x.device
        assert torch.asarray(x).is_meta and torch.asarray(x.numpy()).is_meta
    assert torch.asarray(torch.empty(2, device="meta")).is_meta
    assert torch.range(1, 4, device="meta").device.type == "meta"
    y = torch.ones(3, requires_grad=True)
    with torch.device("meta"):
        (y * y).sum().backward()
    assert y.grad.tolist() == [2, 2, 2]


def test_functions_of_functions_compute_where_their_tensors_are():
    x = torch.tensor([3.0, 1.0, 3.0])
    with torch.device("meta"):
        assert torch.unique(x).tolist() == [1, 3]
        assert torch.bincount(torch.tensor([1, 1, 0], device="cpu")).tolist() == [1, 2]
        assert torch.block_diag(x, x).shape == (2, 6)
        assert torch.repeat_interleave(x, 2).tolist() == [3, 3, 1, 1, 3, 3]
        assert torch.nn.functional.one_hot(torch.tensor([1], device="cpu"), 2).tolist() == [[0, 1]]


def test_modules_are_made_there():
    with torch.device("meta"):
        m = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU())
        own = torch.nn.Linear(3, 4, device="cpu")
    assert {t.device.type for t in m.state_dict().values()} == {"meta"}
    assert {t.device.type for t in own.state_dict().values()} == {"cpu"}
    state = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)).state_dict()
    m.load_state_dict(state, assign=True)
    assert m(torch.ones(5, 3)).shape == (5, 4)


def test_defaults_nest_and_end_with_an_exception():
    meta, cpu = torch.device("meta"), torch.device("cpu")
    with meta, cpu:
        assert torch.get_default_device() == cpu
        with meta:
            assert torch.get_default_device() == meta
        assert torch.get_default_device() == cpu
    with pytest.raises(ZeroDivisionError), meta:
        1 / 0  # noqa: B018
    assert torch.get_default_device() == cpu
    with pytest.raises(RuntimeError):
        meta.__exit__(None, None, None)
    with pytest.raises((RuntimeError, TypeError)):
        torch.set_default_device("nowhere")
    assert torch.get_default_device() == cpu


def test_defaults_belong_to_their_thread():
    seen = []
    torch.set_default_device("meta")
    thread = threading.Thread(target=lambda: seen.append(torch.zeros(1).device.type))
    thread.start()
    thread.join()
    assert seen == ["cpu"] and torch.zeros(1).device.type == "meta"


def test_a_thread_that_ended_leaves_no_default():
    for _ in range(3):  # the next thread takes over what the library kept for the last
        seen = []

        def work(seen=seen):
            seen.append(torch.zeros(1).device.type)
            seen.append(torch.nn.Linear(1, 1).weight.device.type)
            torch.set_default_device("meta")

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert seen == ["cpu", "cpu"]


def test_the_package_computes_on_the_cpu_and_a_program_elsewhere():
    torch.set_default_device("meta")
    assert torch.nn.Parameter().is_meta and torch.nn.Embedding(2, 3).weight.is_meta
    loader = torch.utils.data.DataLoader([1.0, 2.0, 3.0], batch_size=3, shuffle=True)
    assert sorted(next(iter(loader)).tolist()) == [1, 2, 3]
    w = torch.ones(2, device="cpu", requires_grad=True)
    optimizer = torch.optim.Adam([w])
    w.grad = torch.ones_like(w)
    optimizer.step()
    state = optimizer.state_dict()["state"][0]
    assert {state[k].device.type for k in ("step", "exp_avg")} == {"cpu"}
    assert torch.get_rng_state().device.type == "cpu"
    assert (2 - w).device.type == "cpu" and w[True].shape == (1, 2)


def test_there_is_no_accelerator():
    a = torch.accelerator
    assert not a.is_available() and a.device_count() == 0 and a.current_accelerator() is None
    for call in (a.synchronize, lambda: a.set_device_index(0)):
        with pytest.raises(RuntimeError, match="none is available"):
            call()


def test_errors_name_the_device():
    with pytest.raises(RuntimeError, match=r"in arange\(.*, device=meta\)"):
        torch.arange(0, 5, -1, device="meta")
