"""Objects that do harm where a call asks them for their value: they raise, they change or delete
the tensors of the call, call back, or give something else than was asked for. fuzz.py uses them.
"""

import gc

import numpy as np

import tensorh as th


class Mine(Exception):
    """What hostile objects raise: it may come out of any call, or become another refusal."""


class Harm:
    """What a hostile object does when asked. home: the Fuzzer; its pool has the tensors in use."""

    deep = 0

    def __init__(self, home):
        self.home = home

    def victim(self):
        """Some tensor that the call may be using."""
        pool = self.home.pool
        return self.home.random.choice(pool) if pool else th.ones(2)

    def harm(self):
        """Does one thing; what the library refuses it to do is no matter."""
        if Harm.deep > 3:
            return
        Harm.deep += 1
        try:
            self.home.random.choice(HARMS)(self)
        except (Mine, SystemError):
            raise
        except Exception:  # noqa: S110
            pass
        finally:
            Harm.deep -= 1

    def raises(self):
        raise Mine

    def nothing(self):
        pass

    def turns(self):
        x, r = self.victim(), self.home.random
        r.choice([x.unsqueeze_, x.squeeze_, x.t_, x.transpose_])(*r.choice([(0,), (), (0, -1)]))

    def becomes(self):
        self.victim()._become(self.victim())

    def replaces(self):
        self.victim().data = th.zeros(self.home.random.choice([1, 3, 50]))

    def forgets(self):
        x = self.victim()
        x.grad = None
        x.detach_()

    def wants(self):
        self.victim().requires_grad_()

    def writes(self):
        self.victim().zero_()

    def empties(self):
        self.home.pool.clear()
        for given in self.home.given:
            given.clear()

    def collects(self):
        gc.collect(0)

    def calls(self):
        x = self.victim()
        (x + x).sum().backward()

    def calls_row(self):
        function, place, named = self.home.row()
        function(*place, **named)

    def seeds(self):
        th.manual_seed(3)

    def attributes(self):
        self.victim().me = self


HARMS = [
    Harm.raises, Harm.nothing, Harm.nothing, Harm.turns, Harm.turns, Harm.becomes, Harm.replaces,
    Harm.replaces, Harm.forgets, Harm.wants, Harm.writes, Harm.empties, Harm.collects, Harm.calls,
    Harm.calls_row, Harm.seeds, Harm.attributes,
]  # fmt: skip


def answering(*names, base=Harm, other=None):
    """A class with those methods: each does harm, then gives what fits, or what does not."""
    answers = {
        "__index__": [0, 1, 1, 1, 2, -1, 2**70, "x"],
        "__int__": [0, 1, None],
        "__float__": [0.0, 1.0, 0.5, float("nan"), 1],
        "__complex__": [1j, 1.0],
        "__bool__": [True, False, False, 1],
        "__len__": [0, 1, 2, 3, -1, 2**62],
        "__hash__": [0, 1, -1],
        "__str__": ["cpu", "x", 1],
        "__repr__": ["x", "é\0", 1],
        "__fspath__": ["/nowhere", b"x", 1],
        "__array_interface__": [{"shape": (2,), "typestr": "<f4", "version": 3, "data": (0, True)}],
    }

    def method(name):
        def answer(self, *args, **kwargs):
            if name == "__getattr__" and args == ("home",):  # of a copy, which has none
                raise AttributeError(*args)
            home = (other or Harm.of)(self)
            home.harm()
            r = home.home.random
            if name in answers:
                return r.choice(answers[name])
            return ANSWERS.get(name, lambda h, *_: h.home.thing(2))(home, *args)

        answer.__name__ = name
        return answer

    return type("Hostile", (base,), {n: method(n) for n in names})


Harm.of = lambda self: self


def _item(h, i=0, *_):
    if isinstance(i, int) and i >= 3:
        raise IndexError
    return h.home.random.choice([1, 1, 1.0, h.victim(), h, [1]])


def _torch_function(h, *args):
    """__torch_function__(cls, func, types, args=(), kwargs=None), whatever of that is given."""
    r = h.home.random
    if len(args) < 3 or Harm.deep > 3 or r.random() < 0.3:
        return r.choice([NotImplemented, None, 1, h.victim()])
    func, place = args[-3 if isinstance(args[-1], dict) else -2], args[-1]
    if not callable(func) or not isinstance(place, tuple):
        return NotImplemented
    Harm.deep += 1  # the same objects are asked again
    try:
        return func(*place)
    finally:
        Harm.deep -= 1


ANSWERS = {
    "__getitem__": _item,
    "__iter__": lambda h, *_: iter([h.victim(), 1, h]),
    "__array__": lambda h, *_: h.home.random.choice([np.ones(2, "f4"), np.ones((), "O"), [1], 3]),
    "__torch_function__": _torch_function,
    "__dlpack__": lambda h, *_: h.home.random.choice([h.victim().__dlpack__(), None, 1]),
    "__dlpack_device__": lambda h, *_: h.home.random.choice([(1, 0), (2, 0), None]),
    "__call__": lambda h, *_: h.home.random.choice([h.victim(), None, h]),
    "__eq__": lambda h, *_: h.home.random.choice([True, False, NotImplemented, h]),
    "__getattr__": lambda h, name, *_: (_ for _ in ()).throw(AttributeError(name)),
}

Number = answering("__index__", "__float__", "__int__", "__bool__", "__complex__")
Integer = answering("__index__", "__eq__", "__hash__")
Float = answering("__float__", "__repr__")
Sequence = answering("__len__", "__getitem__")
Iterable = answering("__iter__", "__len__")
Array = answering("__array__", "__array_interface__")
Function = answering("__torch_function__", "__call__", "__repr__")
Capsule = answering("__dlpack__", "__dlpack_device__")
Path = answering("__fspath__", "__str__", "__bool__")
Any = answering("__getattr__", "__bool__")
KINDS = [Number, Integer, Float, Sequence, Iterable, Array, Function, Capsule, Path, Any]
_home = []  # of objects that carry none of their own


def _borrowed(_self):
    return Harm(_home[-1])


IntLike = answering("__index__", "__int__", "__eq__", "__hash__", base=int, other=_borrowed)
ListLike = answering("__len__", "__getitem__", "__iter__", base=list, other=_borrowed)
TupleLike = answering("__len__", "__getitem__", base=tuple, other=_borrowed)
StrLike = answering("__str__", "__eq__", "__hash__", base=str, other=_borrowed)
DictLike = answering("__len__", "__getitem__", "__iter__", base=dict, other=_borrowed)


class Plain(th.Tensor):
    """A subclass that adds nothing."""


class Asked(th.Tensor):
    """A subclass that hears of calls, and answers at random."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        h = _borrowed(None)
        h.harm()
        if h.home.random.random() < 0.2:
            return h.home.random.choice([NotImplemented, 3, None])
        return super().__torch_function__(func, types, args, kwargs)


class Mourned(th.Tensor):
    """A subclass whose end does harm, though what that raises is nobody's."""

    def __del__(self):
        if _home:
            h = _borrowed(None)
            try:
                h.harm()
                h.home.pool.append(self)
            except SystemError:
                raise
            except Exception:  # noqa: S110
                pass


def hostile(home):
    """Some hostile object. home: the Fuzzer."""
    r = home.random
    _home[:] = [home]
    if r.random() < 0.65:
        return r.choice(KINDS)(home)
    return r.choice([
        lambda: IntLike(1),
        lambda: ListLike([1, home.tensor()]),
        lambda: TupleLike((1, 2)),
        lambda: StrLike(r.choice(["cpu", "mean", "x"])),
        lambda: DictLike({"params": [home.tensor()]}),
        lambda: home.tensor().detach().as_subclass(r.choice([Plain, Asked, Mourned])),
        lambda: home.tensor().detach().as_subclass(r.choice([Plain, Asked, Mourned])),
    ])()  # fmt: skip


def forget():
    """No chunk is under way."""
    _home.clear()
