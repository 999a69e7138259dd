"""What PyTorch's test files need around them, under torch itself and under tensorh.

The files are those of an older torch (1.13.1) than the one they are run with. Names of its test
support that are gone since are stand-ins, which do nothing and are false. Under tensorh the support
itself, torch.testing._internal, is read from the installed torch and runs over tensorh; there it
sees stand-ins, too, for what tensorh has not. The tests see tensorh as it is.
"""

import ast
import distutils.version  # noqa: F401  a test file reads it as an attribute
import importlib
import importlib.machinery
import importlib.util
import os
import sys
import traceback
import types

SUPPORT = (
    "torch.testing._internal", "torch.testing._comparison", "torch.testing._creation",
    "torch.testing._utils", "torch.utils._import_utils", "torch._vendor",
)  # fmt: skip
QUIET = ("torch.sparse.check_sparse_tensor_invariants",)  # what the support itself calls
running = False  # tests run: a stand-in of a public name that is called is an error


class StandIn:
    """In the place of a name that is not there: false, empty, a decorator that changes nothing."""

    def __init__(self, path):
        self.__dict__["__name__"] = self.__dict__["__qualname__"] = path
        self.__dict__["__module__"] = path.rpartition(".")[0]

    def __getattr__(self, name):
        if name == "__all__":
            return ()
        if name.startswith("__") or name == "parametrize_fn":
            raise AttributeError(name)
        return older(f"{self.__name__}.{name}")

    def __call__(self, *args, **kwargs):
        if running and not self.quiet():
            raise AttributeError(f"{self.__name__} is missing")
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            return args[0]
        return self

    def __mro_entries__(self, bases):
        return ()

    def __instancecheck__(self, value):
        return False

    def __subclasscheck__(self, value):
        return False

    def __eq__(self, other):
        return isinstance(other, StandIn) and other.__name__ == self.__name__

    def __hash__(self):
        return hash(self.__name__)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        return False

    def __or__(self, other):
        return other

    def __lt__(self, other):
        return False

    __ror__, __gt__, __le__, __ge__ = __or__, __lt__, __lt__, __lt__

    def __bool__(self):
        return self.__name__ in DTYPES

    def __len__(self):
        return 0

    def __iter__(self):
        if running and not self.quiet():
            raise AttributeError(f"{self.__name__} is missing")
        return iter(())

    def quiet(self):
        name = self.__name__
        if name.startswith(("torch._refs", "torch._prims")):  # what some tests are about
            return False
        return name.startswith(QUIET) or any(p.startswith("_") for p in name.split("."))

    def __getitem__(self, key):
        return self

    def __contains__(self, key):
        return False

    def __repr__(self):
        return self.__name__


class Dtypes(type):
    """torch.dtype, and what stands in for one."""

    def __instancecheck__(cls, value):
        return isinstance(value, cls.real) or (type(value) is StandIn and value.__name__ in DTYPES)


DTYPES = {"torch." + n for n in (
    "complex32 bcomplex32 quint8 qint8 qint32 quint4x2 quint2x4 float8_e4m3fn float8_e4m3fnuz "
    "float8_e5m2 float8_e5m2fnuz float8_e8m0fnu").split()}  # fmt: skip


OLDER = {  # what torch 1.13 had and the tests still mean
    "torch._six.inf": float("inf"), "torch._six.nan": float("nan"),
    "torch._six.string_classes": (str, bytes),
    "torch._C.has_spectral": True, "torch._C.has_lapack": True, "torch.has_lapack": True,
    "torch.testing._internal.common_utils.TEST_WITH_TORCHINDUCTOR": False,
}  # fmt: skip


def reduction_identity(op_name, input, *args):
    """torch.masked._reduction_identity: what an empty reduction gives."""
    torch = lenient("torch")
    dtype, name = input.dtype, op_name.rpartition(".")[2]
    floating = dtype.is_floating_point
    if name in ("amax", "argmax", "logsumexp"):
        value = -torch.inf if floating else 0 if dtype == torch.bool else torch.iinfo(dtype).min
    elif name in ("amin", "argmin"):
        value = torch.inf if floating else 1 if dtype == torch.bool else torch.iinfo(dtype).max
    elif name == "norm":
        value = torch.inf if args and args[0] == -torch.inf else 0
    elif name in ("sum", "cumsum", "count_nonzero"):
        value = 0
    elif name in ("prod", "cumprod"):
        value = 1
    else:
        return None
    return torch.tensor(value, dtype=dtype)


def older(path):
    """Values that are made of today's."""
    if path == "torch.testing._creation.float_to_corresponding_complex_type_map":
        torch = lenient("torch")
        return {torch.float16: torch.complex32, torch.float32: torch.complex64,
                torch.float64: torch.complex128}  # fmt: skip
    if path == "torch.testing._internal.common_nn.new_module_tests":
        return module_of("torch.testing._internal.common_nn").get_new_module_tests()
    return OLDER[path] if path in OLDER else StandIn(path)


class Lenient(types.ModuleType):
    """A module whose missing names are stand-ins."""

    def __init__(self, path, real):
        super().__init__(path)
        self.__dict__["__real__"] = real

    def __getattr__(self, name):
        if name == "__all__" and not hasattr(self.__real__, name):
            return [n for n in dir(self.__real__) if n[0] != "_"]
        if name.startswith("__"):
            return getattr(self.__real__, name)
        path = f"{self.__name__}.{name}"
        if path == "torch.chalf" and not hasattr(self.__real__, name):
            path, name = "torch.complex32", "complex32"
        if path == "torch.dtype" and "tensorh" in sys.modules:
            return Dtypes("dtype", (), {"real": self.__real__.dtype})
        try:
            value = getattr(self.__real__, name)
        except (AttributeError, ImportError):
            try:
                value = module_of(path)
            except Exception:
                return older(path)
        if isinstance(value, types.ModuleType) or type(value).__name__ in ("_Backend", "_Cuda"):
            if value.__name__.partition(".")[0] in ("torch", "tensorh"):
                return lenient(value.__name__.replace("tensorh", "torch"), value)
        return value

    def __setattr__(self, name, value):
        setattr(self.__real__, name, value)

    def __dir__(self):
        return dir(self.__real__)


_lenient = {}
_absent = {}  # modules that cannot be imported, and why


def module_of(path):
    """The module, which is looked for once."""
    if path in _absent:
        raise ImportError(_absent[path])
    try:
        return importlib.import_module(path)
    except Exception as e:
        _absent[path] = f"{type(e).__name__}: {e}"
        if os.environ.get("UPSTREAM_TRACE") and path.startswith(SUPPORT) and (
                "is not a package" not in str(e)):  # fmt: skip
            traceback.print_exc()
        raise



def lenient(path, real=None):
    """The module of this name with stand-ins; a stand-in if there is none."""
    if path not in _lenient:
        try:
            real = real or module_of(path)
        except Exception:
            head, _, name = path.rpartition(".")
            return getattr(lenient(head), name) if head else StandIn(path)
        _lenient[path] = Lenient(path, real)
    return _lenient[path]


def pick(path, name):
    """`from path import name`."""
    try:
        found = module_of(path)
    except Exception:
        found = lenient(path)
    try:
        return getattr(found, name)
    except AttributeError:
        try:
            return module_of(f"{path}.{name}")
        except Exception:
            return older(f"{path}.{name}")


def attribute(*words):
    """torch.words."""
    value = lenient("torch")
    for k, word in enumerate(words):
        try:
            value = getattr(value, word)
        except AttributeError:
            return StandIn(".".join(("torch",) + words[: k + 1]))
    return value


class Imports(ast.NodeTransformer):
    """Imports of torch, written as calls of lenient and pick."""

    @staticmethod
    def call(name, *args):
        return ast.Call(ast.Name(name, ast.Load()), [ast.Constant(a) for a in args], [])

    def visit_Attribute(self, node):
        """torch.Tensor.x and the like, whose owner is no module."""
        words, at = [], node
        while isinstance(at, ast.Attribute):
            words.insert(0, at.attr)
            at = at.value
        if not isinstance(at, ast.Name) or at.id != "torch" or len(words) < 2 or (
                not isinstance(node.ctx, ast.Load)):  # fmt: skip
            return self.generic_visit(node)
        return self.call("upstream_attribute", *words)

    def visit_Call(self, node):
        """getattr and hasattr say the truth."""
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if (name, len(node.args)) in (("getattr", 3), ("hasattr", 2)):
            truth = ast.Call(ast.Name("upstream_truth", ast.Load()), node.args[:1], [])
            node.args[0] = truth
        return node

    def visit_Import(self, node):
        ours = [a for a in node.names if a.name.split(".")[0] == "torch"]
        rest = [a for a in node.names if a not in ours]
        new = [ast.Import(rest)] if rest else []
        for a in ours:
            if "." in a.name:  # so that it is there as an attribute
                new.append(ast.Expr(self.call("upstream_lenient", a.name)))
            target = ast.Name(a.asname or "torch", ast.Store())
            path = a.name if a.asname else "torch"
            new.append(ast.Assign([target], self.call("upstream_lenient", path)))
        return new

    def visit_ImportFrom(self, node):
        other = node.level or node.module.split(".")[0] != "torch"
        if other or node.names[0].name == "*":
            return node
        new = []
        for a in node.names:
            target = ast.Name(a.asname or a.name, ast.Store())
            new.append(ast.Assign([target], self.call("upstream_pick", node.module, a.name)))
        return new


class AtTop(Imports):
    """The same, outside of functions alone."""

    def visit_FunctionDef(self, node):
        return node


class Supers(ast.NodeTransformer):
    """super(self.__class__, self) as super(): the support makes a subclass for each device now, in
    which the first would call itself for ever."""

    def visit_Call(self, node):
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "super" and node.args and ast.unparse(node.args[0]) == "self.__class__":
            node.args = []
        return node


def transformed(path, transform):
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read(), path)
    return ast.fix_missing_locations(transform.visit(tree))


def compiled(path, transform):
    return compile(transformed(path, transform), path, "exec")


class Loader:
    """Runs a file of torch's test support."""

    def __init__(self, path, package):
        self.path, self.package = path, package

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__file__ = self.path
        module.__dict__.update(NAMES)
        exec(compiled(self.path, Imports()), module.__dict__)
        if hasattr(module, "_getattr_qual"):  # opinfo.core
            module._getattr_qual = lambda of, name, default=None: attribute(*name.split("."))
            module.ForeachFuncInfo = StandIn("ForeachFuncInfo")

    def get_source(self, name):
        with open(self.path, encoding="utf-8") as f:
            return f.read()

    def is_package(self, name):
        return self.package


def truth(value):
    """What a module is without stand-ins."""
    if type(value) is StandIn:
        return object()
    return value.__real__ if isinstance(value, Lenient) else value


NAMES = {"upstream_" + f.__name__: f for f in (lenient, pick, truth, attribute)}


class Finder:
    """Finds torch's test support in the torch that is installed."""

    def __init__(self, root):
        self.root = root

    def find_spec(self, fullname, path=None, target=None):
        if not any(fullname == s or fullname.startswith(s + ".") for s in SUPPORT):
            return None
        base = os.path.join(self.root, *fullname.split(".")[1:])
        for file, package in ((os.path.join(base, "__init__.py"), True), (base + ".py", False)):
            if os.path.exists(file):
                spec = importlib.machinery.ModuleSpec(fullname, Loader(file, package), origin=file)
                if package:
                    spec.submodule_search_locations = [base]
                return spec
        return None


def folder():
    """Where the installed torch lies."""
    spec = importlib.machinery.PathFinder.find_spec("torch")
    return spec.submodule_search_locations[0]


def prepare(package):
    """From here on `import torch` finds the package, with torch's test support."""
    os.environ.setdefault("PYTORCH_TESTING_DEVICE_ONLY_FOR", "cpu")
    # setUp of older files sets a flag of CUDA, which newer support takes for a leak
    os.environ.setdefault("PYTORCH_DISABLE_FP32_PRECISION_LEAK_CHECK", "1")
    if package == "tensorh":
        root = folder()
        import tensorh.as_torch  # noqa: F401

        sys.meta_path.insert(0, Finder(root))
        import torch

        for name in ("testing", "utils"):
            module = importlib.import_module(f"torch.{name}")
            if not hasattr(module, "__path__"):
                module.__path__ = []
        dynamo = importlib.import_module("torch._dynamo")
        dynamo.reset = lambda: None
        for name in ("suppress_errors", "compiled_autograd"):
            setattr(dynamo.config, name, False)
        creation = importlib.import_module("torch.testing._creation")
        import torch.masked

        torch.masked._reduction_identity = reduction_identity
        if not hasattr(torch.testing, "make_tensor"):
            torch.testing.make_tensor = creation.make_tensor
    import torch

    support = importlib.import_module("torch.testing._internal.common_device_type")
    support.hasattr = lambda o, n: not str(n).startswith("test_") and hasattr(o, n)  # defined twice
    whole = support.ops._parametrize_test
    support.ops._parametrize_test = lambda s, *a: whole(s, *a) if s.op_list else iter(())
    torch.set_num_threads(1)
    return torch


def load(path):
    """The test file as a module; its tests see the package as it is."""
    import torch

    name = os.path.basename(path)[:-3]
    module = types.ModuleType(name)
    module.__file__ = path
    module.__dict__.update(NAMES)
    sys.modules[name] = module
    sys.path.insert(0, os.path.dirname(path))
    tree = Supers().visit(transformed(path, AtTop()))
    for node in tree.body:
        part = compile(ast.Module([node], []), path, "exec")
        try:
            exec(part, module.__dict__)
        except Exception:  # what a file tries before its tests
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
                raise
            traceback.print_exc()
    for key, value in list(vars(module).items()):
        if isinstance(value, Lenient):
            setattr(module, key, value.__real__)
    module.torch = torch
    return module
