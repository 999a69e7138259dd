"""make test-torch-samples: torch's own sample generators over every operator, in both packages.

torch.testing._internal.common_methods_invocations.op_db is the list that PyTorch tests itself by:
for each operator its function, dtypes, samples and inputs that are errors. Columns:

    forward   values, shapes and dtypes, in all dtypes that torch has there
    form      the method and the in-place form
    grad      first derivatives in float64 and complex128
    grad2     second derivatives, also by the incoming gradient
    errors    an error of torch's kind for each input that is one

An operator counts in a column if it has samples there, and passes if all that were drawn agree.
Each operator runs in a process of its own: what crashes is counted and does no harm.
"""

import argparse
import json
import os
import re
import signal
import sys
import time
import traceback
import warnings

import torch
from bridge import Absent, Bridge, back, leaves, tensor, twin

import tensorh as th

warnings.simplefilter("ignore")
COLUMNS = ("forward", "form", "grad", "grad2", "errors")
HERE = os.path.dirname(os.path.abspath(__file__))
INTEGRAL = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
BOUNDS = {  # relative, absolute
    torch.float64: (1e-7, 1e-7), torch.complex128: (1e-7, 1e-7), torch.float32: (2e-5, 2e-5),
    torch.complex64: (2e-5, 2e-5), torch.float16: (4e-3, 4e-3), torch.bfloat16: (3e-2, 3e-2),
}  # fmt: skip
WIDE = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
        torch.complex64: torch.complex128}  # fmt: skip


def full_name(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def group(op):
    name = op.name.removeprefix("torch.")
    for space in ("nn.functional", "linalg", "fft", "special", "signal.windows", "masked"):
        if name.startswith(space + "."):
            return space
    return "torch"


# What is no public name of torch, and what has no place here.
PRIVATE = re.compile(
    r"(torch\.)?_[a-z]|slice$|jiterator|torch\.ops|native_|\w+_backward$|to_sparse|sparse|grid_sampler_"
    r"|hash_tensor|chalf|bmm\.triton|alias_copy"
)
DRAWN = re.compile(  # values are drawn: only shapes and dtypes agree by right
    r"(nn\.functional\.)?(\w*dropout|rrelu|fractional_max|rand|normal|bernoulli|multinomial|cauchy|"
    r"exponential|geometric|log_normal|uniform|empty|new_empty|svd_lowrank|pca_lowrank|"
    r"resize_|multi_head|scaled_dot)"
)


# --- comparison -----------------------------------------------------------------------------------


def difference(want, got, loose=1.0, zeros=False):
    """None, or in what two results differ."""
    if isinstance(want, torch.Tensor):
        if got is None and zeros:
            got = torch.zeros_like(want)
        if not isinstance(got, torch.Tensor):
            return f"gives {type(got).__name__}, torch a tensor"
        if want.layout != torch.strided:
            return f"torch gives {want.layout}"
        if want.shape != got.shape:
            return f"shape {tuple(got.shape)}, torch {tuple(want.shape)}"
        if want.dtype != got.dtype:
            return f"dtype {got.dtype}, torch {want.dtype}"
        rtol, atol = BOUNDS.get(want.dtype, (0, 0))
        want = want.detach().resolve_conj().resolve_neg()
        if want.device.type == "meta" or want.numel() == 0:
            return None
        try:
            torch.testing.assert_close(got, want, rtol=rtol * loose, atol=atol * loose,
                                       equal_nan=True)  # fmt: skip
        except AssertionError as e:
            worst = [s for s in str(e).split("\n") if "Greatest" in s or "Mismatched" in s]
            return "values: " + ("; ".join(worst) or str(e).replace("\n", " ")[:200])
        return None
    if isinstance(want, (tuple, list)):
        if not isinstance(got, (tuple, list)) or len(got) != len(want):
            return f"gives {type(got).__name__}, torch {len(want)} results"
        for k, (a, b) in enumerate(zip(want, got, strict=True)):
            what = difference(a, b, loose, zeros)
            if what:
                return f"result {k}: {what}"
        return None
    if isinstance(want, dict):
        return difference(list(want.values()), [got.get(k) for k in want], loose, zeros)
    if want is None and zeros:
        zero = got is None or not got.numel() or got.abs().max() < 1e-9
        return None if zero else "a gradient, torch none"
    if isinstance(want, float) and isinstance(got, float):
        ok = want == got or (want != want and got != got) or abs(want - got) <= 1e-5 * abs(want)
        return None if ok else f"{got}, torch {want}"
    return None if type(want) is type(got) and want == got else f"{got!r}, torch {want!r}"[:200]


def outline(value):
    return [(tuple(t.shape), t.dtype) for t in leaves(value)]


def coarsest(given):
    """What bounds of float64 are multiplied by: of an input beside it that is float32."""
    bounds = [BOUNDS[t.dtype][0] for t in leaves(given) if t.dtype in BOUNDS]
    return max(bounds, default=0) / BOUNDS[torch.float64][0] or 1.0


def nearer(op, sample, want, got):
    """Whether ours is as near as torch's to what torch computes in a wider dtype."""
    try:
        def wider(t):
            return t.to(WIDE[t.dtype]) if isinstance(t, torch.Tensor) and t.dtype in WIDE else t

        wide = sample.transform(wider)
        truth = leaves(call(op.op, wide))
        pairs = list(zip(leaves(want), leaves(got), truth, strict=True))
        if any(w.shape != g.shape or w.dtype != g.dtype for w, g, _ in pairs):
            return False
        for w, g, t in pairs:
            t = t.detach()
            if t.dtype not in (torch.float64, torch.complex128):
                return False
            ours, theirs = ((v.detach().to(t.dtype) - t).abs() for v in (g, w))
            ours, theirs = (v.nan_to_num(0, 1e300).max() for v in (ours, theirs))
            near_enough = 2 * torch.finfo(w.dtype).eps * t.abs().nan_to_num(0).max()
            if not ours <= max(theirs * 1.05, near_enough):
                return False
        return True
    except Exception:
        return False


def as_reference(op, sample, got, loose=1.0):
    """Whether ours is what torch's tests take as the truth: the function of NumPy or SciPy in op."""
    if getattr(op, "ref", None) is None or not isinstance(got, torch.Tensor):
        return False
    try:
        plain = [x.numpy() if isinstance(x, torch.Tensor) else x
                 for x in (sample.input, *sample.args)]  # fmt: skip
        truth = torch.as_tensor(op.ref(*plain, **sample.kwargs)).to(got.dtype)
        return difference(truth, got, loose) is None
    except Exception:
        return False


PLACES = ("kthvalue", "topk", "sort", "argsort", "mode")  # places of equals are no one's promise


def same_places(name, sample, want, got):
    """Whether the last result names places of the same values in both."""
    if name == "argsort":
        want, got = [want], [got]
    if difference(list(want[:-1]), list(got[:-1])) or outline(want) != outline(got):
        return False
    x, k = sample.input, {"kthvalue": 1, "topk": 1}.get(name, 0)
    dim = sample.kwargs.get("dim", sample.args[k] if len(sample.args) > k else -1)
    if "stable" in sample.kwargs or x.dim() == 0 or not want[-1].numel():
        return False
    a, b = want[-1], got[-1]
    if a.dim() < x.dim():
        a, b = a.unsqueeze(dim), b.unsqueeze(dim)
    return torch.equal(*(x.gather(dim, i).nan_to_num(7e9 if x.is_floating_point() else 0)
                         for i in (a, b)))  # fmt: skip


# --- one operator ---------------------------------------------------------------------------------


def call(f, sample):
    return f(sample.input, *sample.args, **sample.kwargs)


def copied(value):
    """The sample's tensors again, as leaves of their own."""
    return value.transform(twin)


def text_of(sample):
    def short(v):
        if isinstance(v, torch.Tensor):
            return f"{str(v.dtype).removeprefix('torch.')}{list(v.shape)}"
        if isinstance(v, (tuple, list)):
            return "[" + ", ".join(short(x) for x in v) + "]"
        return repr(v)[:60]

    parts = [short(sample.input), *(short(a) for a in sample.args)]
    return ", ".join(parts + [f"{k}={short(v)}" for k, v in sample.kwargs.items()])[:240]


def reason(e):
    text = str(e).strip().split("\n")
    line = text[0] if not text[0].endswith(":") or len(text) == 1 else " ".join(text[:2])
    return f"{type(e).__name__}: {line}"[:300]


class Run:
    def __init__(self, op, options):
        self.op, self.options = op, options
        self.found = {c: {"samples": 0, "failed": []} for c in COLUMNS}

    def fail(self, column, where, why):
        self.found[column]["failed"].append((where, why))

    def drawn(self, samples):
        """Every step-th sample from a place that the seed names."""
        limit = self.options.limit
        samples = list(samples)
        if not limit or len(samples) <= limit:
            return samples
        step = -(-len(samples) // limit)
        return samples[self.options.seed % step :: step]

    def samples(self, dtype, grad=False):
        torch.manual_seed(self.options.seed)
        try:
            return self.drawn(self.op.sample_inputs("cpu", dtype, requires_grad=grad))
        except Exception:
            return []

    def both(self, sample, ours, theirs, processed=True):
        """Results of torch and tensorh for one sample; the first is an error if torch makes one."""
        bridge = Bridge()
        mine = [bridge(sample.input), bridge(tuple(sample.args)), bridge(dict(sample.kwargs))]
        post = sample.output_process_fn_grad if processed else lambda x: x
        torch.manual_seed(1)
        try:
            want = post(call(theirs, copied(sample)))
        except Exception as e:
            return e, None
        th.manual_seed(1)
        got = bridge(post)(ours(mine[0], *mine[1], **mine[2]))
        if isinstance(want, types_of_iterator):
            want, got = list(want), list(got)
        return want, back(got)

    def compare(self, column, sample, ours, theirs, exact=True):
        op, where = self.op, text_of(sample)
        try:
            want, got = self.both(sample, ours, theirs)
        except Absent as e:
            if "dtype" not in str(e) and "layout" not in str(e):
                self.found[column]["samples"] += 1
                self.fail(column, where, str(e))
            return
        except Exception as e:
            self.found[column]["samples"] += 1
            return self.fail(column, where, reason(e))
        if isinstance(want, Exception):
            return
        self.found[column]["samples"] += 1
        loose = 50 if group(op) in ("linalg",) or "lowrank" in op.name else 1
        what = difference(want, got, loose)
        if what and op.name in PLACES and same_places(op.name, sample, want, got):
            what = None
        if what and DRAWN.match(op.name) and outline(want) == outline(got):
            what = None
        if what and "values" in what:
            if not nearer(op, sample, want, got) and not as_reference(op, sample, got, loose):
                self.fail(column, where, what)
        elif what and "values" not in what:
            self.fail(column, where, what)

    def forward(self):
        op = self.op
        try:
            ours = Bridge()(op.op)
        except Absent as e:
            self.found["forward"]["samples"] += 1
            return self.fail("forward", "", str(e))
        for dtype in sorted(op.supported_dtypes("cpu"), key=str):
            if not hasattr(th, str(dtype).removeprefix("torch.")):
                continue
            for sample in self.samples(dtype):
                self.compare("forward", sample, ours, op.op)

    def form(self):
        op = self.op
        for variant in (op.method_variant, op.inplace_variant):
            if variant is None:
                continue
            try:
                ours = Bridge()(variant)
            except Absent as e:
                self.found["form"]["samples"] += 1
                self.fail("form", "", str(e))
                continue
            for dtype in (torch.float64, torch.int64, torch.bool, torch.complex64):
                if dtype not in op.supported_dtypes("cpu"):
                    continue
                for sample in self.samples(dtype)[:8]:
                    if isinstance(sample.input, torch.Tensor):
                        self.compare("form", sample, ours, variant)

    def grad(self):
        op = self.op
        if not op.supports_autograd:
            return
        try:
            ours = Bridge()(op.get_op())
            wrapper = Bridge()(op.gradcheck_wrapper)
        except Absent as e:
            self.found["grad"]["samples"] += 1
            return self.fail("grad", "", str(e))
        for dtype in (torch.float64, torch.complex128):
            if dtype not in op.supported_backward_dtypes("cpu"):
                continue
            for sample in self.samples(dtype, grad=True):
                self.derivatives(sample, ours, wrapper)

    def derivatives(self, sample, ours, wrapper):
        op, where = self.op, text_of(sample)
        post = sample.output_process_fn_grad
        second = op.supports_gradgrad and "grad2" in self.options.columns
        sample = copied(sample)
        try:
            bridge = Bridge()
            mine = [bridge(sample.input), bridge(tuple(sample.args)), bridge(dict(sample.kwargs))]
            inputs = [t for t in leaves([sample.input, sample.args, sample.kwargs])
                      if t.requires_grad]  # fmt: skip
            torch.manual_seed(1)
            given = [sample.input, sample.args, sample.kwargs]
            want = gradients(torch, op.gradcheck_wrapper, op.get_op(), post, given, inputs, second)
            if not want or want[0] is None:
                return
        except Absent:
            return
        except Exception:
            return
        cots = [{k: tensor(c) for k, c in made.items()} for made in want[2]]
        self.found["grad"]["samples"] += 1
        stage = ["grad"]
        try:
            th.manual_seed(1)
            got = gradients(th, wrapper, ours, bridge(post), mine, [bridge(t) for t in inputs],
                            second and want[1] is not None, cots, stage)  # fmt: skip
        except Exception as e:
            if stage[0] == "grad2":
                self.found["grad2"]["samples"] += 1
            return self.fail(stage[0], where, reason(e))
        if got is None:
            got = [[None] * len(inputs), {} if want[1] else None]
        loose = 10 * coarsest(given)
        what = difference(want[0], back(got[0]), loose, zeros=True)
        if what:
            if DRAWN.match(op.name):
                return
            self.fail("grad", where, what)
        if second and want[1] is not None:
            self.found["grad2"]["samples"] += 1
            what = difference(want[1], back(got[1]), loose, zeros=True) if got[1] is not None \
                else "no second derivative"
            if what and not DRAWN.match(op.name):
                self.fail("grad2", where, what)

    def errors(self):
        op = self.op
        if op.error_inputs_func is None:
            return
        torch.manual_seed(self.options.seed)
        try:
            inputs = list(op.error_inputs("cpu"))
            ours = Bridge()(op.op)
        except Exception as e:
            if isinstance(e, Absent):
                self.found["errors"]["samples"] += 1
                self.fail("errors", "", str(e))
            return
        for entry in self.drawn(inputs):
            sample, bridge = entry.sample_input, Bridge()
            try:
                mine = [bridge(sample.input), bridge(tuple(sample.args)),
                        bridge(dict(sample.kwargs))]  # fmt: skip
            except Exception:
                continue
            where = text_of(sample)
            try:
                call(op.op, sample)
                continue  # none in torch either
            except Exception as e:
                theirs = e
            self.found["errors"]["samples"] += 1
            kinds = [k for k in (type(theirs), entry.error_type) if k.__module__ == "builtins"]
            kinds += [th.linalg.LinAlgError] if "LinAlgError" in type(theirs).__name__ else []
            try:
                ours(mine[0], *mine[1], **mine[2])
                self.fail("errors", where, f"no error; torch: {reason(theirs)}")
            except Exception as e:
                if not isinstance(e, tuple(kinds)):
                    self.fail("errors", where, f"{reason(e)}; torch: {reason(theirs)}")


types_of_iterator = (type(iter([])), type(x for x in ()), map, filter)


def gradients(lib, wrapper, op, post, given, inputs, second, cots=None, stage=None):
    """First and second derivatives, and the cotangents by the place of what they belong to."""
    out = post(wrapper(op, given[0], *given[1], **given[2]))
    outs = {k: t for k, t in enumerate(leaves(out, lib.Tensor)) if t.requires_grad}
    made = [{}, {}]

    def drawn(number, tensors):
        """(tensor, cotangent): those that torch has as well, if they were drawn there."""
        if cots is None:
            made[number] = {k: torch.randn(t.shape, dtype=t.dtype) for k, t in tensors.items()}
        given = cots[number] if cots else made[number]
        pairs = [(t, given[k].requires_grad_()) for k, t in tensors.items() if k in given]
        return [t for t, _ in pairs], [c for _, c in pairs]

    places = [k for k in outs if cots is None or k in cots[0]]
    outs, first = drawn(0, outs)
    if not outs or not inputs:
        return None
    grads = lib.autograd.grad(outs, inputs, first, allow_unused=True, create_graph=second)
    plain = [None if g is None else g.detach() for g in grads]
    again = None
    through = {k: g for k, g in enumerate(grads) if g is not None and g.requires_grad}
    if second and through:
        if stage:
            stage[0] = "grad2"
        try:
            through, cot = drawn(1, through)
            again = lib.autograd.grad(through, [*inputs, *first], cot, allow_unused=True)
            again = {k: again[len(inputs) + i] for i, k in enumerate(places)} | {
                f"input {i}": g for i, g in enumerate(again[: len(inputs)])}  # fmt: skip
        except RuntimeError:
            if lib is th:
                raise
    return plain, again, made


def work(op, options):
    torch.set_num_threads(1)
    th.set_num_threads(1)
    run = Run(op, options)
    began = time.time()
    for column in COLUMNS:
        if column in options.columns and column != "grad2":
            try:
                getattr(run, column)()
            except Exception:
                run.fail(column, "the harness", traceback.format_exc()[-400:])
    run.found["seconds"] = time.time() - began
    return run.found


def apart(op, options):
    """work() in a child; a crash or a call without end is a failure of its own."""
    into, out = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(into)
        signal.alarm(options.seconds)
        if not options.verbose:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)
        with os.fdopen(out, "w") as f:
            json.dump(work(op, options), f)
        os._exit(0)
    os.close(out)
    with os.fdopen(into) as f:
        text = f.read()
    _, status = os.waitpid(child, 0)
    if status == 0 and text:
        return json.loads(text)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    slow = number == signal.SIGALRM
    why = f"more than {options.seconds} seconds" if slow else f"crash: signal {number}"
    found = {c: {"samples": 0, "failed": []} for c in COLUMNS}
    found["forward"] = {"samples": 1, "failed": [("", why)]}
    return found | {"seconds": options.seconds, "crash": not slow}


# --- the report -----------------------------------------------------------------------------------


def known():
    """(operator, column) -> reason, of differences that stay."""
    found = {}
    with open(os.path.join(HERE, "known.txt"), encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and line[0] != "#":
                name, column, why = line.strip().split(None, 2)
                for one in COLUMNS if column == "*" else column.split(","):
                    found[name, one] = why
    return found


def report(results, ops, show):
    reasons = known()
    groups = {}
    news = crashes = 0
    lines = []
    for op in ops:
        name = full_name(op)
        found = results[name]
        crashes += bool(found.get("crash"))
        for c in COLUMNS:
            if not found[c]["samples"] and not found[c]["failed"]:
                continue
            good, all_ = groups.setdefault(group(op), {}).get(c, (0, 0))
            bad = found[c]["failed"]
            groups[group(op)][c] = (good + (not bad), all_ + 1)
            if not bad:
                continue
            why = reasons.get((name, c))
            news += why is None
            lines.append(f"{name} {c}: {len(bad)} of {found[c]['samples']}"
                         + (f"; stays: {why}" if why else ""))  # fmt: skip
            seen = set()
            for where, what in bad:
                kind = re.sub(r"[\d.e+-]+", "#", what)
                if kind not in seen and len(seen) < show:
                    seen.add(kind)
                    lines.append(f"    ({where}) {what}")
    total = {}
    for share in groups.values():
        for c, (good, all_) in share.items():
            total[c] = tuple(map(sum, zip(total.get(c, (0, 0)), (good, all_), strict=True)))
    print("\n".join(lines))
    print(f"\n{'group':16}" + "".join(f"{c:>22}" for c in COLUMNS))
    for name, share in [*sorted(groups.items()), ("all", total)]:
        cells = (f"{share[c][0]}/{share[c][1]} {100 * share[c][0] / share[c][1]:.1f}%"
                 if c in share else "-" for c in COLUMNS)  # fmt: skip
        print(f"{name:16}" + "".join(f"{cell:>22}" for cell in cells))
    print(f"\n{len(ops)} operators, {crashes} crashes, {news} failures not in known.txt")
    return news + crashes


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="operators; all if none is named")
    parser.add_argument("--group", help="torch, nn.functional, linalg, ...")
    parser.add_argument("--limit", type=int, default=6, help="samples a dtype; 0: all")
    parser.add_argument("--part", default="1/1", help="k/n: the operators k, k + n, ...")
    parser.add_argument("--seed", type=int, default=0, help="which samples are drawn")
    parser.add_argument("--columns", default=",".join(COLUMNS))
    parser.add_argument("--seconds", type=int, default=120, help="bound for an operator")
    parser.add_argument("--show", type=int, default=3, help="failures of a kind that are shown")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.columns = options.columns.split(",")
    k, n = map(int, options.part.split("/"))

    from torch.testing._internal.common_methods_invocations import op_db

    ops = [op for op in op_db if not PRIVATE.match(op.name) and not PRIVATE.match(full_name(op))]
    inside = len(op_db) - len(ops)
    if options.names:
        ops = [op for op in ops if {op.name, full_name(op)} & set(options.names)]
    if options.group:
        ops = [op for op in ops if group(op) == options.group]
    ops = ops[(k - 1) % n :: n]
    results = {}
    for op in ops:
        results[full_name(op)] = apart(op, options)
        if options.verbose:
            print(full_name(op), f"{results[full_name(op)]['seconds']:.1f} s", flush=True)
    print(f"seed {options.seed}; {inside} entries left out that are no public names of torch")
    return report(results, ops, options.show)


if __name__ == "__main__":
    sys.exit(main() > 0)
