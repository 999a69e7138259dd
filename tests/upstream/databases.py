"""torch's databases of modules and optimizers, module_db and optim_db: a file for upstream.py.

Each sample is a test. With torch it keeps what it found in $BUILD/upstream/databases; with tensorh
the same is compared: results, gradients, state, repr. Error samples ask for kind and text of the
error."""

import os
import pickle
import sys

import numpy
import torch
from torch.testing._internal import common_modules, common_optimizers
from torch.testing._internal.common_utils import TestCase

KEPT = os.path.join(os.environ.get("BUILD", "build"), "upstream", "databases")
BOUNDS = {"float32": 2e-5, "complex64": 2e-5, "float16": 4e-3, "bfloat16": 4e-2}  # others: 1e-9


def flat(value):
    """The tensors of nested lists, as their dtypes and arrays."""
    if isinstance(value, torch.Tensor):
        dense = value.detach().to_dense() if value.is_sparse else value.detach()
        wide = dense.float() if value.dtype in (torch.float16, torch.bfloat16) else dense
        return [(str(value.dtype)[6:], wide.numpy().copy())]
    if isinstance(value, dict):
        value = value.values()
    return [a for v in value for a in flat(v)] if isinstance(value, (list, tuple)) else []


class Databases(TestCase):
    def same(self, found, words=()):
        """Keeps torch's arrays and words, or compares with them."""
        path = os.path.join(KEPT, self.id().rpartition(".")[2])
        if "tensorh" not in sys.modules:
            os.makedirs(KEPT, exist_ok=True)
            with open(path, "wb") as f:
                pickle.dump((found, words), f)
            return
        with open(path, "rb") as f:
            wanted, wanted_words = pickle.load(f)
        self.assertTrue(list(words) == list(wanted_words), f"{words} and {wanted_words}")
        self.assertEqual(len(found), len(wanted))
        for (dtype, a), (of, b) in zip(found, wanted, strict=True):
            self.assertEqual(dtype, of)
            bound = BOUNDS.get(of, 1e-9)
            numpy.testing.assert_allclose(a, b, rtol=bound, atol=bound)


class TestModuleDb(Databases):
    def sample(self, info, sample, training):
        torch.manual_seed(1)
        module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs)
        args, kwargs = sample.forward_input.args, sample.forward_input.kwargs
        dtype = next((a.dtype for a in [*args, *kwargs.values()] if floats(a)), torch.float32)
        module.to(dtype).train(training)
        result = module(*args, **kwargs)
        found = flat(result if isinstance(result, (list, tuple)) else [result])
        loss = sum((r * ramp(r)).sum() for r in leaves(result) if r.requires_grad)
        tensors = [a for a in [*args, *kwargs.values()] if floats(a)] + list(module.parameters())
        if loss is not 0:  # noqa: F632  a tensor, or the empty sum
            loss.backward()
            found += flat([t.grad for t in tensors if t.grad is not None])
        state = module.state_dict()
        self.same(found + flat(state), [repr(module), *state])

    def error(self, info, sample):
        of = sample.module_error_input
        make = of.constructor_input
        on = common_modules.ModuleErrorEnum
        if sample.error_on == on.CONSTRUCTION_ERROR:
            with self.assertRaisesRegex(sample.error_type, sample.error_regex):
                info.module_cls(*make.args, **make.kwargs)
            return
        module = info.module_cls(*make.args, **make.kwargs)
        with self.assertRaisesRegex(sample.error_type, sample.error_regex):
            module(*of.forward_input.args, **of.forward_input.kwargs)


class TestOptimDb(Databases):
    def sample(self, info, sample, dtype):
        torch.manual_seed(1)
        shapes = [(3, 4), (2, 2)] if info.only_supports_2d else [(3, 4), (5,), ()]
        params = [torch.randn(s, dtype=dtype).requires_grad_() for s in shapes]
        pulls = [torch.randn(s, dtype=dtype) for s in shapes]
        kwargs = dict(sample.kwargs)
        if info.optim_cls.__name__ == "SGD" or "lr" not in kwargs:
            kwargs.setdefault("lr", 0.01)
        optimizer = info.optim_cls(params, **kwargs)

        def closure():
            optimizer.zero_grad()
            loss = sum((abs(p - q) ** 2).sum() for p, q in zip(params, pulls, strict=True))
            loss.backward()
            if info.only_supports_sparse_grads:
                for p in params:
                    p.grad = p.grad.to_sparse()
            return loss

        if kwargs.get("differentiable"):
            params = [p.clone() for p in params]
            optimizer = info.optim_cls(params, **kwargs)
        for _ in range(4):
            if kwargs.get("differentiable"):
                with torch.no_grad():
                    for p, q in zip(params, pulls, strict=True):
                        p.grad = 2 * (p.detach() - q)
                optimizer.step()
            else:
                closure() if not info.step_requires_closure else None
                optimizer.step(closure if info.step_requires_closure else None)
        state = optimizer.state_dict()
        plain = lambda v: v.item() if isinstance(v, torch.Tensor) else v  # noqa: E731
        groups = [sorted((k, plain(v)) for k, v in g.items()) for g in state["param_groups"]]
        names = [sorted(s) if isinstance(s, dict) else s for s in state["state"].values()]
        self.same(flat(params) + flat(state["state"]), groups + names)

    def error(self, info, sample):
        of = sample.optimizer_error_input
        on = common_optimizers.OptimizerErrorEnum
        params = of.params if of.params is not None else [torch.nn.Parameter(torch.ones(1, 1))]
        warned = issubclass(sample.error_type, Warning)
        raises = self.assertWarnsRegex if warned else self.assertRaisesRegex
        if sample.error_on == on.CONSTRUCTION_ERROR:
            with raises(sample.error_type, sample.error_regex):
                info.optim_cls(params, **of.kwargs)
            return
        optimizer = info.optim_cls(params, **of.kwargs)
        with raises(sample.error_type, sample.error_regex):
            optimizer.step()


def floats(a):
    return isinstance(a, torch.Tensor) and (a.is_floating_point() or a.is_complex())


def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in leaves(v)] if isinstance(value, (list, tuple)) else []


def ramp(r):
    """Weights for the elements of r, so that each has a gradient of its own."""
    return torch.linspace(0.5, 1.5, r.numel(), dtype=torch.float64).to(r.dtype).view(r.shape)


def add(cls, name, method, *args):
    number = sum(n.startswith(f"test_{name}__") for n in vars(cls))
    setattr(cls, f"test_{name}__{number}", lambda self: getattr(self, method)(*args))


def add_modules():
    for info in common_modules.module_db:
        for dtype in (t for t in info.supported_dtypes("cpu") if t != torch.complex32):
            name = f"{info.formatted_name}_{str(dtype)[6:]}"
            for training in (True, False) if info.train_and_eval_differ else (True,):
                torch.manual_seed(0)
                asked = (info, "cpu", dtype, True, training)
                mode = f"{name}_{'train' if training else 'eval'}"
                for sample in info.module_inputs_func(*asked):
                    add(TestModuleDb, mode, "sample", info, sample, training)
                if info.module_error_inputs_func is not None:
                    for sample in info.module_error_inputs_func(*asked):
                        add(TestModuleDb, mode + "_error", "error", info, sample)


def add_optimizers():
    every = common_optimizers._get_optim_inputs_including_global_cliquey_kwargs
    for info in common_optimizers.optim_db:
        name = info.optim_cls.__name__
        info.only_supports_2d = name == "Muon"
        wide = torch.complex64 if info.supports_complex and name != "Muon" else torch.float64
        for dtype in (torch.float32, wide):
            torch.manual_seed(0)
            for sample in every("cpu", dtype, info):
                add(TestOptimDb, f"{name}_{str(dtype)[6:]}", "sample", info, sample, dtype)
        for sample in info.optim_error_inputs_func("cpu", torch.float32):
            add(TestOptimDb, f"{name}_error", "error", info, sample)


add_modules()
add_optimizers()
