"""Optimizers and schedules beside what torch gave (data/optim.json), and torch's interface."""

import copy
import json
import math
import pathlib
import sys
import threading
import warnings

import numpy as np
import pytest

import tensorh as torch

sys.path.insert(0, str(pathlib.Path(__file__).parent / "data"))
import make_optim  # noqa: E402

STORED = json.loads((pathlib.Path(__file__).parent / "data" / "optim.json").read_text())
CASES = list(make_optim.optimizer_cases())
ROWS = [row[1] for row in torch._C._optimizers()]


def leaf(*values):
    return torch.tensor(list(values), requires_grad=True)


def with_grad(p, *values):
    p.grad = torch.tensor(list(values))
    return p


@pytest.mark.parametrize("case", range(len(CASES)))
def test_fifty_steps_are_those_of_torch(case):
    name, options = CASES[case]
    got, stored = make_optim.optimize(torch, name, options), STORED["optimizers"][case]
    for a, b in zip(got["params"], stored["params"], strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=2e-6)
    assert got["repr"] == stored["repr"]
    assert {i: list(s) for i, s in got["state"].items()} == {
        i: list(s) for i, s in stored["state"].items()
    }
    for i, s in got["state"].items():
        for key, value in s.items():
            np.testing.assert_allclose(value, stored["state"][i][key], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("key", make_optim.SCHEDULES)
def test_sixty_rates_are_exactly_those_of_torch(key):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = make_optim.schedule(torch, key)
    assert json.loads(json.dumps(got)) == STORED["schedules"][key]


def test_same_numbers_beside_torch():
    real = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key in make_optim.SCHEDULES:
            for name in ("SGD", "AdamW"):
                ours = make_optim.schedule(torch, key, name)
                assert ours == make_optim.schedule(real, key, name), (key, name)
    for name, options in CASES:
        ours, theirs = (make_optim.optimize(m, name, options) for m in (torch, real))
        for a, b in zip(ours["params"], theirs["params"], strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-6, atol=2e-6)


def test_rows_are_classes_with_a_signature():
    import inspect

    for name in ROWS:
        kind = getattr(torch.optim, name)
        assert issubclass(kind, torch.optim.Optimizer)
        options = inspect.signature(kind).parameters
        assert list(options)[:2] == ["params", "lr"]
        kind([torch.ones(1, 1, requires_grad=True)])


def test_edited_rate_counts_at_the_next_step():
    p = with_grad(leaf(1.0), 1.0)
    o = torch.optim.SGD([p], lr=0.5)
    o.step()
    o.param_groups[0]["lr"] = 0.25
    o.step()
    assert p.item() == 0.25
    o.param_groups[0]["lr"] = torch.tensor(0.125)
    o.step()
    assert p.item() == 0.125


def test_state_may_be_edited_and_cleared():
    p = with_grad(leaf(1.0, 2.0), 1.0, 1.0)
    o = torch.optim.Adam([p])
    o.step()
    state = o.state[p]
    assert state["step"].item() == 1 and state["step"].dtype is torch.float32
    state["step"] = 5
    state["exp_avg"].zero_()
    o.step()
    assert o.state[p]["step"].item() == 6
    assert o.state[p]["exp_avg"].tolist() == pytest.approx([0.1, 0.1])
    o.state.clear()
    o.step()
    assert o.state[p]["step"].item() == 1
    o.state[p]["exp_avg"] = "no tensor"
    with pytest.raises(TypeError, match="exp_avg"):
        o.step()
    o.state[p] = 3
    with pytest.raises(TypeError, match="dict"):
        o.step()


def test_a_step_that_fails_changes_nothing():
    p, q = with_grad(leaf(1.0), 1.0), with_grad(leaf(2.0, 3.0), 1.0, 1.0)
    o = torch.optim.Adam([p, q])
    o.state[q] = {"step": torch.tensor(3.0), "exp_avg": torch.tensor([1.0, 2.0, 3.0])}
    before = dict(o.state[q])
    with pytest.raises(RuntimeError, match="(?s)adam.*differs from its parameter"):
        o.step()
    assert p.tolist() == [1.0] and q.tolist() == [2.0, 3.0]
    assert p not in o.state and o.state[q] == before
    assert o.state[q]["step"].item() == 3


def test_parameters_without_gradient_stay():
    p, q = with_grad(leaf(1.0), 1.0), leaf(2.0)
    o = torch.optim.SGD([p, q], lr=1.0, momentum=0.5)
    o.step()
    assert p.item() == 0 and q.item() == 2 and q not in o.state
    assert torch.optim.SGD([q]).step() is None


def test_zero_grad():
    p = with_grad(leaf(1.0), 3.0)
    grad, o = p.grad, torch.optim.SGD([p])
    o.zero_grad(set_to_none=False)
    assert p.grad is grad and grad.item() == 0
    o.zero_grad()
    assert p.grad is None
    o.zero_grad()


def test_closure_records_and_its_value_comes_back():
    p = leaf(1.0)
    o = torch.optim.SGD([p], lr=0.5)
    seen = []

    def closure():
        o.zero_grad()
        seen.append((p * p).requires_grad)
        p.grad = torch.tensor([2.0])
        return 42

    assert o.step(closure) == 42 and seen == [True] and p.item() == 0
    with pytest.raises(ZeroDivisionError):
        o.step(lambda: 1 / 0)


def test_groups_names_and_their_errors():
    p, q, r = leaf(1.0), leaf(2.0), leaf(3.0)
    o = torch.optim.AdamW([("a", p), ("b", q)], lr=0.5)
    assert o.param_groups[0]["param_names"] == ["a", "b"]
    assert o.param_groups[0]["params"] == [p, q] or True
    with pytest.raises(ValueError, match="with/without names"):
        o.add_param_group({"params": r})
    o.add_param_group({"params": [("c", r)], "lr": 0.25})
    assert [g["lr"] for g in o.param_groups] == [0.5, 0.25]
    with pytest.raises(ValueError, match="more than one parameter group"):
        o.add_param_group({"params": [("d", p)]})
    with pytest.raises(ValueError, match="Some param names"):
        torch.optim.SGD([("a", p), q])
    with pytest.raises(ValueError, match="empty parameter list"):
        torch.optim.SGD([])
    with pytest.raises(TypeError, match="iterable of Tensors"):
        torch.optim.SGD(p)
    with pytest.raises(TypeError, match="can only optimize Tensors"):
        torch.optim.SGD([1.0])
    with pytest.raises(TypeError, match="ordered collections"):
        torch.optim.SGD([{"params": {p}}])
    with pytest.raises(ValueError, match="non-leaf"):
        torch.optim.SGD([p * 2])
    with pytest.warns(UserWarning, match="duplicate"):
        torch.optim.SGD([p, p])
    with pytest.raises(TypeError, match="must be a dict"):
        o.add_param_group([p])


def test_options_are_checked_by_the_row():
    for bad in ({"lr": -1.0}, {"momentum": -0.1}, {"nesterov": True}, {"weight_decay": -1}):
        with pytest.raises(ValueError):
            torch.optim.SGD([leaf(1.0)], **bad)
    for bad in ({"betas": (1.0, 0.9)}, {"eps": -1.0}):
        with pytest.raises(ValueError):
            torch.optim.Adam([leaf(1.0)], **bad)
    for bad in ({"lr": "fast"}, {"betas": (0.9,)}, {"betas": 0.9}, {"lr": None}):
        with pytest.raises(TypeError):
            torch.optim.Adam([leaf(1.0)], **bad)
    with pytest.raises(TypeError, match="unexpected keyword"):
        torch.optim.SGD([leaf(1.0)], speed=1)
    o = torch.optim.SGD([leaf(1.0)])
    with pytest.raises(ValueError):
        o.add_param_group({"params": leaf(2.0), "lr": -1})
    assert len(o.param_groups) == 1
    o.param_groups[0]["lr"] = object()
    with pytest.raises(TypeError, match="lr"):
        o.step()


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("Adagrad", {"lr_decay": -1.0}),
        ("Adagrad", {"initial_accumulator_value": -1.0}),
        ("RMSprop", {"alpha": -0.1}),
        ("RMSprop", {"momentum": math.nan}),
        ("Adadelta", {"rho": 1.5}),
        ("Adamax", {"betas": (0.9, 1.0)}),
        ("NAdam", {"momentum_decay": -1.0}),
        ("RAdam", {"eps": -1.0}),
        ("Rprop", {"etas": (0.5, 0.9)}),
        ("Rprop", {"lr": -1.0}),
        ("ASGD", {"lambd": -1.0}),
        ("ASGD", {"weight_decay": -1.0}),
    ],
)
def test_options_that_torch_refuses(name, bad):
    with pytest.raises(ValueError, match=r"[a-z]"):
        getattr(torch.optim, name)([leaf(1.0)], **bad)


@pytest.mark.parametrize("case", range(len(make_optim.MUON)))
def test_steps_of_muon_are_those_of_torch(case):
    got, stored = make_optim.muon(torch, make_optim.MUON[case]), STORED["muon"][case]
    assert got["repr"] == stored["repr"]
    for key in ("params", "buffers"):  # a number in bfloat16 may round the other way
        for a, b in zip(got[key], stored[key], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)


def test_muon_takes_matrices_alone():
    with pytest.raises(ValueError, match=r"2D parameters .* torch.Size\(\[2\]\)"):
        torch.optim.Muon([leaf(1.0, 2.0)])
    for bad in ({"momentum": -1.0}, {"lr": -1.0}, {"ns_steps": 100}):
        with pytest.raises(ValueError):
            torch.optim.Muon([torch.ones(2, 2, requires_grad=True)], **bad)
    with pytest.raises((TypeError, ValueError), match="Adjust learning rate|adjust_lr_fn"):
        torch.optim.Muon([torch.ones(2, 2, requires_grad=True)], adjust_lr_fn="fast")


@pytest.mark.parametrize("case", range(len(make_optim.LBFGS)))
def test_steps_of_lbfgs_are_those_of_torch(case):
    got, stored = make_optim.lbfgs(torch, make_optim.LBFGS[case]), STORED["lbfgs"][case]
    for key in ("counts", "names", "repr"):
        assert got[key] == stored[key]
    np.testing.assert_allclose(got["losses"], stored["losses"], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(got["end"], stored["end"], rtol=1e-4, atol=1e-7)


def test_lbfgs_has_one_group_and_a_known_search():
    p, q = leaf(1.0), leaf(2.0)
    with pytest.raises(ValueError, match="parameter groups"):
        torch.optim.LBFGS([{"params": [p]}, {"params": [q]}])
    with pytest.raises(ValueError, match="learning rate"):
        torch.optim.LBFGS([p], lr=-1)
    o = torch.optim.LBFGS([p, q], line_search_fn="weak")
    with pytest.raises(RuntimeError, match="strong_wolfe"):

        def closure():
            o.zero_grad()
            loss = (p * p).sum()
            loss.backward()
            return loss

        o.step(closure)


def test_a_state_of_lbfgs_goes_on():
    """In another optimizer: state dicts keep the history."""

    def begin():
        p = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
        return p, torch.optim.LBFGS([p], max_iter=4, line_search_fn="strong_wolfe")

    def step(p, o):
        def closure():
            o.zero_grad()
            loss = 100 * (p[1] - p[0] ** 2) ** 2 + (1 - p[0]) ** 2
            loss.backward()
            return loss

        return o.step(closure).item()

    p, o = begin()
    step(p, o)
    p2, o2 = begin()
    p2.detach().copy_(p.detach())
    o2.load_state_dict(copy.deepcopy(o.state_dict()))
    assert [step(p, o) for _ in range(3)] == [step(p2, o2) for _ in range(3)]
    assert p.tolist() == p2.tolist()


@pytest.mark.parametrize("key", make_optim.AVERAGES)
def test_averages_of_models_are_those_of_torch(key):
    got, stored = make_optim.averages(torch, key), STORED["averages"][key]
    for a, b in zip(got, stored, strict=True):
        assert list(a) == list(b)
        for name in a:
            np.testing.assert_allclose(a[name], b[name], rtol=2e-6, atol=1e-6)


def test_averaged_models_and_their_errors():
    from tensorh.optim import swa_utils

    model = torch.nn.Linear(2, 1)
    with pytest.raises(AssertionError, match="Only one"):
        swa_utils.AveragedModel(
            model, avg_fn=swa_utils.get_swa_avg_fn(), multi_avg_fn=swa_utils.get_swa_multi_avg_fn()
        )
    for bad in (swa_utils.get_ema_avg_fn, swa_utils.get_ema_multi_avg_fn):
        with pytest.raises(ValueError, match="decay"):
            bad(1.5)
    average = swa_utils.AveragedModel(model)
    average.update_parameters(model)
    x = torch.ones(3, 2)
    assert torch.equal(average(x), model(x)) and average.n_averaged.item() == 1
    swa_utils.update_bn([x], average)  # without batch norms nothing is called
    o = torch.optim.SGD(model.parameters())
    for bad in ({"anneal_strategy": "fast"}, {"anneal_epochs": -1}, {"swa_lr": [1, 2]}):
        with pytest.raises(ValueError):
            swa_utils.SWALR(o, **{"swa_lr": 0.1, **bad})
    schedule = swa_utils.SWALR(o, 0.1)
    other = swa_utils.SWALR(o, 0.1, anneal_strategy="linear")
    other.load_state_dict(schedule.state_dict())
    assert other.anneal_func(0.5) == schedule.anneal_func(0.5) != other.anneal_func(0.25)


def test_sums_of_adagrad_are_there_before_the_first_step():
    o = torch.optim.Adagrad([leaf(1.0, 2.0)], initial_accumulator_value=0.5)
    state = o.state_dict()["state"]
    assert state[0]["sum"].tolist() == [0.5, 0.5] and state[0]["step"].item() == 0
    assert not state[0]["sum"].requires_grad


def test_numbers_of_a_state_may_be_edited():
    """mu_product is read at each step; a step that fails leaves it as it was."""
    p, q = with_grad(leaf(1.0), 1.0), with_grad(leaf(1.0), 1.0)
    o, other = torch.optim.NAdam([p]), torch.optim.NAdam([q])
    o.step()
    other.step()
    kept = o.state[p]["mu_product"]
    kept.fill_(0.25)
    o.step()
    other.step()
    assert o.state[p]["mu_product"] is kept and p.item() != q.item()
    before = kept.item()
    o.state[p]["exp_avg"] = torch.ones(3)
    with pytest.raises(RuntimeError):
        o.step()
    assert kept.item() == before and o.state[p]["step"].item() == 2
    o.state[p]["mu_product"] = "none"
    with pytest.raises(TypeError, match="mu_product"):
        o.step()


def test_options_of_torch_alone():
    torch.optim.Adam([leaf(1.0)], foreach=None, capturable=False, differentiable=False, fused=True)
    with pytest.raises(ValueError, match="foreach='yes'"):
        torch.optim.Adam([leaf(1.0)], foreach="yes")


def test_adam_with_decoupled_decay_is_adamw():
    p, q = leaf(1.0, -2.0), leaf(1.0, -2.0)
    options = {"lr": 0.1, "weight_decay": 0.3}
    a = torch.optim.Adam([p], decoupled_weight_decay=True, **options)
    b = torch.optim.AdamW([q], **options)
    for _ in range(3):
        with_grad(p, 0.5, 0.25)
        with_grad(q, 0.5, 0.25)
        a.step()
        b.step()
    assert p.tolist() == q.tolist()
    a.add_param_group({"params": with_grad(leaf(1.0), 1.0), "decoupled_weight_decay": False})
    with pytest.raises(ValueError, match="same in all groups"):
        a.step()


def test_state_dict_goes_on_in_another_optimizer():
    def begin():
        p, q = leaf(1.0, 2.0), leaf(3.0)
        o = torch.optim.AdamW([{"params": [p]}, {"params": [q], "lr": 0.1}], amsgrad=True)
        return p, q, o

    def steps(p, q, o, n):
        for i in range(n):
            with_grad(p, math.sin(i), 1.0)
            with_grad(q, math.cos(i))
            o.step()

    p, q, o = begin()
    steps(p, q, o, 3)
    saved = copy.copy(o.state_dict())
    saved["state"] = {i: {k: v.clone() for k, v in s.items()} for i, s in saved["state"].items()}
    p2, q2, o2 = begin()
    p2.detach().copy_(p.detach())
    q2.detach().copy_(q.detach())
    o2.load_state_dict(saved)
    steps(p, q, o, 3)
    steps(p2, q2, o2, 3)
    assert p.tolist() == p2.tolist() and q.tolist() == q2.tolist()
    assert [g["params"] for g in o.state_dict()["param_groups"]] == [[0], [1]]
    with pytest.raises(ValueError, match="number of parameter groups"):
        torch.optim.AdamW([p]).load_state_dict(saved)
    with pytest.raises(ValueError, match="size of optimizer's group"):
        torch.optim.AdamW([{"params": [p, q]}, {"params": [leaf(1.0)]}]).load_state_dict(saved)


def test_state_dicts_go_to_torch_and_back():
    real = pytest.importorskip("torch")
    for name, options in CASES[::5]:
        ours, theirs = make_optim.parameters(torch), make_optim.parameters(real)
        a, b = (
            getattr(torch.optim, name)(ours, **options),
            getattr(real.optim, name)(theirs, **options),
        )
        for step in range(3):
            make_optim.set_gradients(torch, ours, step)
            a.step()
        state = {
            "state": {
                i: {k: real.tensor(v.tolist()) for k, v in s.items()}
                for i, s in a.state_dict()["state"].items()
            },
            "param_groups": a.state_dict()["param_groups"],
        }
        b.load_state_dict(state)
        for p, q in zip(ours, theirs, strict=True):
            q.data = real.tensor(p.tolist())
        back = getattr(torch.optim, name)(ours, **options)
        back.load_state_dict(
            {
                "state": {
                    i: {k: torch.tensor(v.tolist()) for k, v in s.items()}
                    for i, s in b.state_dict()["state"].items()
                },
                "param_groups": b.state_dict()["param_groups"],
            }
        )
        for step in range(3, 6):
            make_optim.set_gradients(torch, ours, step)
            make_optim.set_gradients(real, theirs, step)
            back.step()
            b.step()
        for p, q in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(p.tolist(), q.tolist(), rtol=1e-5, atol=1e-6)


def test_hooks():
    p = with_grad(leaf(1.0), 1.0)
    o, log = torch.optim.SGD([p], lr=0.5), []
    before = o.register_step_pre_hook(lambda opt, args, kwargs: log.append(("pre", opt is o)))
    o.register_step_post_hook(lambda opt, args, kwargs: log.append(("post", p.item())))
    o.step()
    before.remove()
    o.step()
    assert log == [("pre", True), ("post", 0.5), ("post", 0.0)]
    o.register_state_dict_post_hook(lambda opt, d: d | {"more": 1})
    assert o.state_dict()["more"] == 1
    o.register_load_state_dict_pre_hook(lambda opt, d: log.append("load"))
    o.load_state_dict(o.state_dict())
    assert log[-1] == "load"
    with o.register_step_pre_hook(lambda opt, args, kwargs: 3), pytest.raises(RuntimeError):
        o.step()


class Sign(torch.optim.Optimizer):
    """An optimizer of one's own, in Python alone."""

    def __init__(self, params, lr=0.1):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                state.setdefault("sum", p.grad.sign() * 0)
                state["sum"].add_(p.grad.sign())
                p.detach().sub_(group["lr"] * state["sum"])


def test_an_optimizer_written_in_python():
    p = with_grad(leaf(1.0, 2.0), -3.0, 5.0)
    o = Sign([p], lr=0.5)
    log = []
    o.register_step_post_hook(lambda *_: log.append(1))
    s = torch.optim.lr_scheduler.ExponentialLR(o, 0.5)
    o.step()
    s.step()
    o.step()
    assert p.tolist() == [2.0, 1.0] and log == [1, 1]
    other = Sign([p])
    other.load_state_dict(o.state_dict())
    assert other.state[p]["sum"].tolist() == [-2.0, 2.0] and other.param_groups[0]["lr"] == 0.25


def test_a_row_may_be_subclassed():
    class Slow(torch.optim.SGD):
        def step(self, closure=None):
            self.param_groups[0]["lr"] *= 0.5
            return super().step(closure)

    p = with_grad(leaf(1.0), 1.0)
    Slow([p], lr=1.0).step()
    assert p.item() == 0.5


def test_large_steps_leave_other_threads_running():
    n = 1 << 21
    p = torch.zeros(n, requires_grad=True)
    p.grad = torch.ones(n)
    o, count, stop = torch.optim.Adam([p], lr=0.5), [0], threading.Event()

    def run():
        while not stop.is_set():
            count[0] += 1

    t = threading.Thread(target=run)
    t.start()
    for _ in range(5):
        o.step()
    stop.set()
    t.join()
    assert count[0] > 0
    assert abs(p[7].item() + 2.5) < 1e-3


def test_schedule_state_goes_on():
    def begin():
        o = torch.optim.SGD([leaf(1.0)], lr=0.1)
        return o, torch.optim.lr_scheduler.CosineAnnealingLR(o, 10)

    o, s = begin()
    for _ in range(4):
        o.step()
        s.step()
    o2, s2 = begin()
    o2.load_state_dict(o.state_dict())
    s2.load_state_dict(json.loads(json.dumps(s.state_dict())))
    for opt, sched in ((o, s), (o2, s2)):
        opt.step()
        sched.step()
    assert s.get_last_lr() == s2.get_last_lr() and o.param_groups[0]["initial_lr"] == 0.1
    with pytest.raises(KeyError, match="initial_lr"):
        torch.optim.lr_scheduler.StepLR(torch.optim.SGD([leaf(1.0)]), 3, last_epoch=5)
    with pytest.raises(TypeError, match="is not an Optimizer"):
        torch.optim.lr_scheduler.StepLR(3, 3)
    fresh = torch.optim.lr_scheduler.StepLR(torch.optim.SGD([leaf(1.0)]), 3)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        fresh.step()
    with pytest.warns(UserWarning, match="get_last_lr"):
        fresh.get_lr()


def test_a_tensor_as_rate_is_written_in_place():
    lr = torch.tensor(0.5)
    o = torch.optim.SGD([leaf(1.0)], lr=lr)
    s = torch.optim.lr_scheduler.ExponentialLR(o, 0.5)
    o.step()
    s.step()
    assert o.param_groups[0]["lr"] is lr and lr.item() == 0.25


def test_a_rate_of_one_element_has_any_shape():
    got = []
    for rate in (0.5, torch.tensor([0.5]), torch.tensor([[0.5]])):
        p = leaf(1.0)
        p.grad = torch.ones_like(p)
        torch.optim.Adam([p], lr=rate).step()
        got.append(p.item())
    assert got[0] == got[1] == got[2]
    with pytest.raises(ValueError, match="1-element"):
        torch.optim.Adam([leaf(1.0)], lr=torch.tensor([0.5, 1.0]))
