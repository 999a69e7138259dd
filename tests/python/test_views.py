"""Views, edits in place and gradients as a machine of random steps. A model in NumPy follows them:
memory is an array of float64, a tensor a table of places in it, a gradient a Jacobian carried
forward. A gradient is the model's, or it is refused with a RuntimeError; values are always its own.

Where torch is, the same steps go through it, too; what it gives, we give.
"""

import contextlib
import importlib.util
import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import tensorh as th

EXAMPLES = int(os.environ.get("TN_EXAMPLES", 60))
MOST = 24  # elements of all leaves
PICK = st.integers(0, 10**6)
NUMBER = st.sampled_from([-1.5, -1.0, 0.5, 2.0, 3.0])
COUNTS = Counter()
REFUSED = set()  # (step, why) where torch gives a gradient, or edits in place, and we do not


class Family:
    """A tensor and its views for the tape: memory, and for each place of it the derivative by the
    elements of all leaves. Others may be on the same memory with another history (detach)."""

    def __init__(self, values, jacobian, requires, leaf=None):
        self.values = values
        self.jacobian = jacobian
        self.requires = requires
        self.leaf = leaf  # number of its first element among all leaves'


class Known:
    """A tensor: ours, torch's (or None), and the places of its elements in a family's memory."""

    def __init__(self, ours, theirs, family, places):
        self.ours, self.theirs, self.family, self.places = ours, theirs, family, places

    @property
    def values(self):
        return self.family.values[self.places]

    @property
    def jacobian(self):
        return self.family.jacobian[self.places]

    @property
    def overlaps(self):
        return len(np.unique(self.places)) != self.places.size


def places_of(t):
    """Where the elements of a tensor are in its memory, from its first one on."""
    places = np.zeros(tuple(t.shape), int)
    for dim, (size, stride) in enumerate(zip(t.shape, t.stride(), strict=True)):
        shape = [1] * places.ndim
        shape[dim] = size
        places = places + np.arange(size).reshape(shape) * stride
    return places


class Machine(RuleBasedStateMachine):
    torch = None

    @initialize()
    def begin(self):
        self.known, self.leaves, self.used = [], [], 0
        self.scales = {}  # of a leaf's gradient, by its hooks
        self.beside = self.torch is not None
        self.new_leaf(2, 3)
        self.new_leaf(3, None)
        for i, c in ((0, 2.0), (1, -1.0), (2, 0.5)):
            self.scaled(i, c)

    def teardown(self):
        th.set_grad_enabled(True)

    # --- both libraries -----------------------------------------------------------------------

    def both(self, what, ours, theirs):
        """What ours gives; None where it refuses. torch's is left behind where it differs."""
        COUNTS[what] += 1
        mine, other, refusal = None, None, None
        try:
            mine = ours()
        except RuntimeError as error:
            refusal = str(error).split("\n")[0]
        if self.beside:
            try:
                other = theirs()
            except RuntimeError:
                COUNTS[what + ": torch alone refuses"] += refusal is None
                self.beside = False
            else:
                if refusal is not None:
                    REFUSED.add((what, refusal))
                    COUNTS[what + ": we alone refuse"] += 1
                    self.beside = False
        if refusal is not None:
            COUNTS[what + ": refused"] += 1
            return None
        return mine, other if self.beside else None

    def pick(self, n):
        return self.known[n % len(self.known)]

    def add(self, pair, values, jacobian, requires):
        """A new tensor with memory of its own."""
        ours, theirs = pair
        places = places_of(ours)
        memory = np.zeros(places.max(initial=-1) + 1)
        derivative = np.zeros((len(memory), MOST))
        memory[places], derivative[places] = values, jacobian
        made = Known(ours, theirs, Family(memory, derivative, requires), places)
        self.keep(made)
        return made

    def keep(self, made):
        self.known.append(made)
        if len(self.known) > 10:
            del self.known[2 + len(self.known) % 5]

    def grad_mode(self, on):
        if on:
            return contextlib.nullcontext()
        stack = contextlib.ExitStack()
        stack.enter_context(th.no_grad())
        if self.torch:
            stack.enter_context(self.torch.no_grad())
        return stack

    # --- leaves and values --------------------------------------------------------------------

    def new_leaf(self, rows, columns):
        size = (rows,) if columns is None else (rows, columns)
        n = int(np.prod(size))
        if self.used + n > MOST:
            return
        values = (np.arange(n) * 0.5 - 1).reshape(size) + 0.25 * self.used
        theirs = None
        if self.beside:
            theirs = self.torch.tensor(values).requires_grad_()
        made = self.add((th.tensor(values).requires_grad_(), theirs), values, 0, True)
        made.family.leaf = self.used
        made.family.jacobian[made.places.ravel(), self.used + np.arange(n)] = 1
        self.used += n
        self.leaves.append(made)

    @rule(rows=st.integers(1, 3), columns=st.none() | st.integers(1, 3))
    def leaf(self, rows, columns):
        self.new_leaf(rows, columns)

    @rule(a=PICK, grad=st.booleans())
    def clone(self, a, grad):
        a = self.pick(a)
        with self.grad_mode(grad):
            pair = self.both("clone", a.ours.clone, lambda: a.theirs.clone())
        if pair:
            self.add(pair, a.values, a.jacobian * grad, a.family.requires and grad)

    @rule(a=PICK)
    def wish(self, a):
        """requires_grad_() of a tensor without history."""
        a = self.pick(a)
        base = a.places.size == len(a.family.values)
        if a.family.requires or not base or self.used + a.places.size > MOST or a.overlaps:
            return
        if any(k.family.values is a.family.values and k is not a for k in self.known):
            return
        if self.both("wish", a.ours.requires_grad_, lambda: a.theirs.requires_grad_()):
            a.family.requires, a.family.leaf = True, self.used
            columns = self.used + np.arange(a.places.size)
            a.family.jacobian[a.places.ravel(), columns] = 1
            self.used += a.places.size
            self.leaves.append(a)

    # --- operators ----------------------------------------------------------------------------

    def two(self, a, b):
        """The second operand: of the first one's shape, or broadcast to it."""
        a = self.pick(a)
        fits = [k for k in self.known if fits_to(k.places.shape, a.places.shape)]
        return a, fits[b % len(fits)]

    @rule(a=PICK, b=PICK, name=st.sampled_from(["mul", "add", "sub"]), grad=st.booleans())
    def operator(self, a, b, name, grad):
        a, b = self.two(a, b)
        with self.grad_mode(grad or grad is None):
            pair = self.both(
                name,
                lambda: getattr(a.ours, name)(b.ours),
                lambda: getattr(a.theirs, name)(b.theirs),
            )
        if pair:
            values, jacobian = combined(name, a, b)
            requires = grad and (a.family.requires or b.family.requires)
            self.add(pair, values, jacobian * requires, requires)

    @rule(a=PICK, name=st.sampled_from(["sin", "tanh", "square", "neg"]))
    def function(self, a, name):
        a = self.pick(a)
        pair = self.both(name, getattr(a.ours, name), lambda: getattr(a.theirs, name)())
        if pair:
            values, slope = of_one(name, a.values)
            self.add(pair, values, a.jacobian * slope[..., None], a.family.requires)

    @rule(a=PICK, c=NUMBER)
    def scaled(self, a, c):
        a = self.pick(a)
        pair = self.both("scaled", lambda: a.ours * c, lambda: a.theirs * c)
        if pair:
            self.add(pair, a.values * c, a.jacobian * c, a.family.requires)

    # --- views --------------------------------------------------------------------------------

    def view(self, what, a, make, places, grad=True):
        with self.grad_mode(grad):
            pair = self.both(what, lambda: make(a.ours), lambda: make(a.theirs))
        if not pair:
            return
        family = a.family
        if not grad and family.requires:  # the same memory without history
            family = Family(family.values, np.zeros_like(family.jacobian), False)
        self.keep(Known(*pair, family, places))

    @rule(a=PICK, grad=st.sampled_from([True, True, True, False]))
    def transpose(self, a, grad):
        a = self.pick(a)
        if a.places.ndim > 1:
            self.view("transpose", a, lambda t: t.transpose(0, -1), a.places.swapaxes(0, -1), grad)

    @rule(a=PICK, i=PICK, grad=st.sampled_from([True, True, True, False]))
    def select(self, a, i, grad):
        a = self.pick(a)
        if a.places.ndim and a.places.size:
            i %= a.places.shape[0]
            self.view("select", a, lambda t: t[i], a.places[i], grad)

    @rule(a=PICK, begin=st.integers(0, 2), step=st.integers(1, 2))
    def slice(self, a, begin, step):
        a = self.pick(a)
        if a.places.ndim and a.places.size:
            at = (..., slice(begin, None, step))
            self.view("slice", a, lambda t: t[at], a.places[at])

    @rule(a=PICK)
    def flat(self, a):
        a = self.pick(a)
        if a.ours.is_contiguous():
            self.view("view", a, lambda t: t.view(-1), a.places.reshape(-1))

    @rule(a=PICK)
    def diagonal(self, a):
        a = self.pick(a)
        if a.places.ndim == 2:
            self.view("diagonal", a, lambda t: t.diagonal(), np.diagonal(a.places))

    @rule(a=PICK, n=st.integers(1, 2))
    def expand(self, a, n):
        a = self.pick(a)
        if a.places.ndim < 3:
            size = (n, *a.places.shape)
            self.view("expand", a, lambda t: t.expand(size), np.broadcast_to(a.places, size))

    @rule(a=PICK, size=st.integers(1, 3), stride=st.integers(1, 2), offset=st.integers(0, 2))
    def as_strided(self, a, size, stride, offset):
        a = self.pick(a)
        places = offset + np.arange(size) * stride
        dense = a.ours.is_contiguous() and a.places.size == len(a.family.values)
        if dense and places[-1] < len(a.family.values):
            self.view(
                "as_strided", a, lambda t: t.as_strided((size,), (stride,), offset), places
            )

    @rule(a=PICK)
    def detach(self, a):
        a = self.pick(a)
        pair = self.both("detach", a.ours.detach, lambda: a.theirs.detach())
        if pair:
            family = Family(a.family.values, np.zeros_like(a.family.jacobian), False)
            self.keep(Known(*pair, family, a.places))

    # --- in place -----------------------------------------------------------------------------

    def edit(self, what, a, make, values, jacobian, requires, grad):
        """make(ours, operands of ours or torch's) writes into a."""
        with self.grad_mode(grad):
            pair = self.both(what, lambda: make(a.ours, 0), lambda: make(a.theirs, 1))
        if not pair:
            return
        assert not a.overlaps, "written where elements share memory"
        assert not (grad and a.family.leaf is not None), "a leaf written in place"
        a.family.values[a.places] = values
        if grad and (requires or a.family.requires):
            a.family.jacobian[a.places] = jacobian
            a.family.requires = True

    @rule(a=PICK, b=PICK, name=st.sampled_from(["mul", "add", "sub", "copy"]),
          grad=st.sampled_from([True, True, False]))  # fmt: skip
    def edit_by(self, a, b, name, grad):
        a, b = self.two(a, b)
        shared = a.family.values is b.family.values
        if shared and (a.places.shape != b.places.shape or (a.places != b.places).any()):
            return
        values, jacobian = combined(name, a, b)
        requires = b.family.requires or a.family.requires
        self.edit(
            name + "_", a, lambda t, k: getattr(t, name + "_")(b.theirs if k else b.ours), values,
            jacobian, requires, grad,
        )  # fmt: skip

    @rule(a=PICK, name=st.sampled_from(["sin", "tanh", "square", "neg"]),
          grad=st.sampled_from([True, True, False]))  # fmt: skip
    def edit_function(self, a, name, grad):
        a = self.pick(a)
        values, slope = of_one(name, a.values)
        jacobian = a.jacobian * slope[..., None]
        self.edit(
            name + "_", a, lambda t, k: getattr(t, name + "_")(), values, jacobian, False, grad
        )

    @rule(a=PICK, c=NUMBER, grad=st.booleans())
    def edit_scaled(self, a, c, grad):
        a = self.pick(a)
        self.edit("scaled_", a, lambda t, k: t.mul_(c), a.values * c, a.jacobian * c, False, grad)

    @rule(a=PICK, i=PICK, b=PICK)
    def assign(self, a, i, b):
        a, b = self.pick(a), self.pick(b)
        if not a.places.size or not a.places.ndim or a.overlaps:
            return
        if a.family.values is b.family.values:
            return
        i %= a.places.shape[0]
        if not fits_to(b.places.shape, a.places[i].shape):
            return
        part = Known(a.ours, a.theirs, a.family, a.places[i])
        values, jacobian = combined("copy", part, b)

        def write(t, k):
            t[i] = b.theirs if k else b.ours

        self.edit("assign", part, write, values, jacobian, b.family.requires, True)

    # --- gradients ----------------------------------------------------------------------------

    @rule(a=PICK, double=st.booleans())
    def hook(self, a, double):
        """A leaf's doubles its gradient; another one's only looks."""
        a = self.pick(a)
        if not a.family.requires:
            return
        leaf = a.family.leaf is not None and any(a is k for k in self.leaves)
        change = (lambda g: g * 2) if double and leaf else (lambda g: None)
        pair = self.both(
            "hook", lambda: a.ours.register_hook(change), lambda: a.theirs.register_hook(change)
        )
        if pair and double and leaf:
            self.scales[id(a)] = self.scales.get(id(a), 1) * 2

    @precondition(lambda self: any(k.family.requires for k in self.known))
    @rule(a=PICK, c=NUMBER, retain=st.sampled_from([True, True, False]), into=st.booleans())
    def gradient(self, a, c, retain, into):
        able = [k for k in self.known if k.family.requires]
        a = able[a % len(able)]
        weights = c + 0.5 * np.arange(a.places.size).reshape(a.places.shape)
        total = np.tensordot(weights, a.jacobian, a.places.ndim)

        def run(lib, t, leaves):
            seed = lib.tensor(weights)
            if into:
                t.backward(seed, retain_graph=retain)
                got = [x.grad for x in leaves]
                for x in leaves:
                    x.grad = None
            else:
                got = lib.autograd.grad(t, leaves, seed, retain, allow_unused=True)
            return [np.zeros(tuple(x.shape)) if g is None else g.numpy()
                    for g, x in zip(got, leaves, strict=True)]  # fmt: skip

        for k in self.leaves:
            k.ours.grad = None
            if self.beside:
                k.theirs.grad = None
        pair = self.both(
            "gradient",
            lambda: run(th, a.ours, [k.ours for k in self.leaves]),
            lambda: run(self.torch, a.theirs, [k.theirs for k in self.leaves]),
        )
        if not pair:
            return
        for number, (leaf, got) in enumerate(zip(self.leaves, pair[0], strict=True)):
            first = leaf.family.leaf
            right = total[first : first + leaf.places.size].reshape(leaf.places.shape)
            right = right * self.scales.get(id(leaf), 1)
            np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-9)
            if pair[1] is not None:
                np.testing.assert_allclose(pair[1][number], right, rtol=1e-9, atol=1e-9)

    @precondition(lambda self: any(k.family.requires for k in self.known))
    @rule(a=PICK, c=NUMBER)
    def gradient_of_all(self, a, c):
        self.gradient(a, c, True, False)

    @precondition(lambda self: any(k.family.requires for k in self.known))
    @rule(a=PICK, c=NUMBER, retain=st.booleans())
    def backward(self, a, c, retain):
        self.gradient(a, c, retain, True)

    @invariant()
    def values_are_the_models(self):
        for k in getattr(self, "known", ()):
            np.testing.assert_allclose(k.ours.detach().numpy(), k.values, rtol=1e-9, atol=1e-12)
            assert k.ours.requires_grad == k.family.requires
            if np.abs(k.values).max(initial=0) > 1e6:
                k.family.values /= 1e9
                with self.grad_mode(False):
                    (k.ours._base if k.ours._base is not None else k.ours).div_(1e9)
                    if self.beside:
                        (k.theirs._base if k.theirs._base is not None else k.theirs).div_(1e9)


def fits_to(small, large):
    """Whether a shape broadcasts to the other one."""
    try:
        return np.broadcast_shapes(small, large) == large
    except ValueError:
        return False


def combined(name, a, b):
    """(values, jacobian) of a op b in a's shape."""
    x, y = a.values, b.values
    dx = a.jacobian
    dy = np.broadcast_to(b.jacobian, (*a.places.shape, MOST))
    if name == "mul":
        return x * y, dx * np.broadcast_to(y, x.shape)[..., None] + dy * x[..., None]
    if name == "copy":
        return np.broadcast_to(y, x.shape).copy(), dy.copy()
    return (x + y, dx + dy) if name == "add" else (x - y, dx - dy)


def of_one(name, x):
    """(values, slopes) of a function of one number."""
    return {
        "sin": lambda: (np.sin(x), np.cos(x)),
        "tanh": lambda: (np.tanh(x), 1 - np.tanh(x) ** 2),
        "square": lambda: (x * x, 2 * x),
        "neg": lambda: (-x, -np.ones_like(x)),
    }[name]()


CONFIG = settings(
    max_examples=EXAMPLES, stateful_step_count=30, deadline=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
TestGradientsAreRightOrRefused = Machine.TestCase
TestGradientsAreRightOrRefused.settings = CONFIG


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch")
def test_what_torch_gives_is_given():
    from hypothesis.stateful import run_state_machine_as_test

    Machine.torch = pytest.importorskip("torch")
    try:
        run_state_machine_as_test(Machine, settings=CONFIG)
    finally:
        Machine.torch = None
    assert not REFUSED, sorted(REFUSED)


def test_what_was_written_since_is_refused():
    """As the machine finds it: a saved tensor, an output, a part of a base."""
    w = th.ones(3, requires_grad=True)
    for write in (lambda y, z: y.mul_(2), lambda y, z: y[0:1].zero_(), lambda y, z: z.add_(1)):
        y = w * 2
        z = (y * y).exp()
        write(y, z)
        with pytest.raises(RuntimeError, match="modified|written|changed"):
            z.sum().backward()


def test_steps_were_taken():
    """Runs after the machine: most gradients were given."""
    assert COUNTS["gradient: refused"] < 0.5 * COUNTS["gradient"] or not COUNTS["gradient"], COUNTS
