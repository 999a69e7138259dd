"""Writes tests/oracle/pairs/<row>.txt: what torch gives for operators with their options in pairs.

    python tests/oracle/pairs.py [ROW ...]      needs torch; tests/ops/pairs.c needs only what this writes

Every row of src/gen/table.json that has options. A case is one of the row's own samples, its options replaced by values of
their pools (below, by name or type), one of its sizes by 0, 1 or 19, in a dtype, a class of elements (tests/ops/sample.h) and a
layout. Greedy, seeded: each two values of two options that torch takes together are in one case, then what the options meet
there. What torch refuses is kept, too. Of an output: dtype, sizes, strides; of integers a hash, of floats where what is not
finite lies, and two weighted sums. Floats below float64 are computed in float64, as in make.py.
"""

import itertools
import json
import math
import os
import random
import re
import sys

import torch

import make
from elements import is_structure
from make import M64, ROOT, UP, Refused, Sample, ask, flat, splitmix, weight

HERE = os.path.dirname(os.path.abspath(__file__))
CASES, REFUSED, ELEMENTS = 40, 8, 1500
WRITTEN = ["f64", "f32", "bf16", "i64", "u8", "i8", "bool", "c64", "c128"]

POOLS = {
    "dim": ["0", "1", "-1", "-2", "2", "7"], "dim[]": ["[]", "[0]", "[-1]", "[0,1]", "[1,-1]", "[0,0]", "[-2,0]", "[7]"],
    "keepdim": ["False", "True"], "start_dim": ["0", "1", "-1", "3"], "end_dim": ["0", "1", "-1", "-2"],
    "dim0": ["0", "1", "-1", "4"], "dim1": ["0", "1", "-1", "-2"], "dim2": ["0", "1", "-1", "-2"],
    "dims[]": ["[]", "[0]", "[-1]", "[0,1]", "[1,0]", "[0,-1]", "[2,0,1]", "[1,1]"],
    "kernel_size[]": ["[1]", "[2]", "[3]", "[3,2]", "[2,3]", "[1,4]", "[-1]"],
    "stride[]": ["[]", "[1]", "[2]", "[2,1]", "[1,3]", "[-1]"], "padding[]": ["[0]", "[1]", "[1,0]", "[0,1]", "[2,1]", "[-1]"],
    "dilation[]": ["[1]", "[2]", "[2,1]", "[1,3]"], "output_size[]": ["[1,1]", "[3,2]", "[2,5]", "[7,1]", "[0,2]"],
    "groups": ["1", "2", "3", "-1"], "ignore_index": ["-100", "0", "1", "2", "7"], "padding_idx": ["-1", "0", "1", "2", "-3", "9"],
    "divisor_override": ["1", "3", "-2", "0"], "num_classes": ["-1", "3", "5", "11", "0"], "k": ["0", "1", "2", "3", "5", "-1"],
    "diagonal": ["-9", "-1", "0", "1", "2", "9"], "offset": ["-9", "-1", "0", "1", "2", "9"], "chunks": ["1", "2", "3", "7", "0"],
    "split_size": ["1", "2", "3", "7", "0"], "start": ["None", "0", "1", "2", "-1", "-2", "-9"],
    "end": ["None", "0", "1", "3", "-1", "9"], "step": ["1", "2", "3", "0", "-1"], "length": ["0", "1", "2", "-1", "9"],
    "index": ["0", "1", "-1", "-2", "9"], "steps": ["0", "1", "2", "7", "-1"], "n": ["0", "1", "2", "7", "-1"],
    "m": ["0", "1", "2", "7", "-1"], "high": ["1", "5", "9000000000", "0"], "low": ["-3", "0", "4"],
    "num_weights": ["5", "9", "2"], "split_sizes[]": ["[1,1]", "[2,1]", "[0,3]", "[2,2,1]", "[]"],
    "repeats[]": ["[1]", "[2,1]", "[0,2]", "[1,3,2]", "[]"], "shifts[]": ["[0]", "[1]", "[-1]", "[3,-7]", "[1,1]"],
    "p": ["0.0", "0.25", "1.0", "1.5"], "eps": ["1e-5", "0.1", "0.0"], "momentum": ["0.0", "0.1", "1.0"],
    "rtol": ["1e-5", "0.0", "0.5", "-1.0"], "atol": ["1e-8", "0.0", "1.0"], "label_smoothing": ["0.0", "0.1", "1.0", "1.5"],
    "delta": ["1.0", "0.5", "2.0", "0.0"], "float:beta": ["1.0", "0.5", "0.0", "-1.0"], "dropout_p": ["0.0"],
    "lambd": ["1.0", "0.5", "3.0", "0.0"], "mean": ["0.0", "1.5", "-2.0"], "std": ["1.0", "0.0", "2.0", "-1.0"],
    "from": ["0.0", "-1.5"], "to": ["1.0", "2.0", "-2.0"], "float:scale": ["1.0", "0.5", "0.0", "-2.0"],
    "ord": ["0", "1", "2", "3", "inf", "-inf", "-1", "0.5"], "Scalar:p": ["0", "1", "2", "3", "inf", "-inf", "-1", "0.5"],
    "correction": ["None", "0", "1", "2", "0.5", "7"], "min": ["None", "-1", "0", "0.5", "3"], "max": ["None", "-1", "1", "0.5"],
    "negative_slope": ["0.01", "0", "-0.5", "1", "2"], "blank": ["3", "-1", "9"], "threshold": ["0", "20", "0.5", "-1"], "Scalar:scale": ["1", "0.5", "2"],
    "input_scale": ["1", "0.5", "2"], "fill_value": ["0", "-1", "2.5", "True"], "float": ["0.0", "0.5", "1.0"],
    "Scalar": ["0", "1", "-1", "2", "0.5"], "bool": ["False", "True"], "int": ["0", "1", "-1", "2"],
    "ScalarType": ["None", "float64", "float32", "bfloat16", "int64", "int8", "bool", "complex64"], "indexing": ["ij", "xy"], "reduce": ["sum", "prod", "mean", "amax", "amin"], "scatter_src_reduce.reduce": ["add", "multiply"], "scatter_value_reduce.reduce": ["add", "multiply"], "mode": ["reduced", "complete", "r", "full"], "side": ["None", "left", "right", "middle"],
    "source[]": ["[0]", "[-1]", "[0,1]", "[1,0]"], "destination[]": ["[0]", "[-1]", "[1,0]", "[0,2]"],
    "shape[]": ["[-1]", "[1,-1]", "[-1,1]", "[0,-1]", "[6,2]"], "size[]": ["[-1]", "[3,4]", "[2,6]", "[12]", "[2,-1]", "[0]"],
    "sizes[]": ["[-1]", "[1,-1]", "[2,3]", "[2,-1,1]"],
}
# Where tests of this form would add nothing.
ELSEWHERE = {
    "fused_adam": "optim", "fused_adamw": "optim", "fused_sgd": "optim", "fused_step": "optim",  # tests/unit/optim_pairs.c
    "avg_pool2d_input_grad": "gradient", "avg_pool3d_input_grad": "gradient", "max_pool2d_input_grad": "gradient", "conv2d_input_grad": "gradient",
    "conv2d_weight_grad": "gradient", "resample_input_grad": "gradient", "conv3d_input_grad": "gradient", "conv3d_weight_grad": "gradient", "adaptive_avg_pool2d_input_grad": "gradient", "max_pool2d_pick": "gradient",
    "nll_loss_input_grad": "gradient", "layer_norm_backward": "gradient", "leaky_relu_backward": "gradient",
    "log_softmax_backward": "gradient", "softmax_backward": "gradient", "threshold_backward": "gradient",
    "embedding_dense_backward": "gradient", "batch_norm_backward": "gradient",
    "nll_loss_plain": "nll_loss",
    "distributed_send": "ranks", "distributed_recv": "ranks",  # to itself torch waits for ever: tests/unit/groups.c
    "empty": "values", "empty_like": "values", "new_empty": "values", "empty_permuted": "values",  # of no value
}
# More samples: optional tensors together, and what no sample has.
MORE = {
    "conv2d": ["(2,6,7,5) (6,3,2,3) (6)", "(2,6,7,5) (6,6,1,2) None", "(3,5,8) (6,1,3,3) (6)", "(1,6,5,5) (3,2,3,1)"],
    "avg_pool2d": ["(2,3,7,5) [3]", "(3,7,8) [2]"], "max_pool2d": ["(2,3,7,5) [3]", "(3,7,8) [2]"],
    "scaled_dot_product_attention": ["(2,3,4) (2,5,4) (2,5,6) (3,5)", "(2,2,3,4) (2,2,3,4) (2,2,3,6) (2,1,3,3):bool",
                                     "(2,3,4) (2,3,4) (2,3,4) (3,3):bool"],
    "batch_norm": ["(4,3,5) (3) (3) None None", "(4,3,5) (3) (3) (3) (3)", "(4,3,2,2) None None (3) (3) True", "(4,3) (3) (3) (3) None"],
    "layer_norm": ["(2,3,4) [4] (4) (4)", "(2,3,4) [3,4] None (3,4)", "(2,3,4) [3,4] (3,4)"],
    "nll_loss": ["(7,5) (7):i64<5 (5)", "(4,5,3) (4,3):i64<5 (5)", "(4,5,3) (4,3):i64<5"],
    "cross_entropy": ["(7,5) (7):i64<5 (5)", "(4,5,3) (4,3):i64<5 (5)", "(7,5) (7,5) (5)", "(5) ():i64<5"],
    "binary_cross_entropy": ["(4,3) (4,3) (4,3)"], "binary_cross_entropy_with_logits": ["(4,3) (4,3) (4,1) (3)", "(4,3) (4,3) None (3)"],
    "index_put": ["(5,3) {(4):i64<5} (4,3)", "(2,3,4) {None,(3,4):bool} ()"],
    "sort": ["(3,5):i64<3"], "argsort": ["(3,5):u8<3"], "topk": ["(3,7) 2", "(5,3):i32<9 1"], "isclose": ["(3,4):i64<3 (3,4):i64<3"],
}


def element(h, dtype, i):
    """Classes 7 and 8 (tests/ops/sample.c): the ends of integers; floats with one in eight that is not ordinary, huge ones."""
    at = h >> 20 & 7
    if dtype.is_floating_point:
        return [math.nan, math.inf, -math.inf, -0.0][h >> 24 & 3] if at == 0 else None
    info = torch.iinfo(dtype)
    bits = info.bits
    v = [info.min, info.max, info.min + 1, info.max - 1, 0, 1, (1 << 53) + 1, -3][at] & ((1 << bits) - 1)
    return v - (1 << bits) if info.min < 0 and v >> (bits - 1) else v


class Case(Sample):
    cache = {}

    def tensor(self, text, name):
        which = len(self.tensors)
        key = (text, self.dtype, self.domain(name), which, Sample.grid)
        if key not in Case.cache:
            Sample.grid, grid = 0 if Sample.grid == 7 else Sample.grid, Sample.grid
            t = super().tensor(text, name)
            Sample.grid = grid
            if grid == 7 and t.dtype is not torch.bool and not t.is_complex() and "<" not in text and not any(map(is_structure, text.split(":"))):
                change = [element(splitmix((((which + 1) << 32) | i) & M64), t.dtype, i) for i in range(t.numel())]
                t = torch.tensor([o if v is None else v for o, v in zip(t.flatten().tolist(), change)], dtype=t.dtype).reshape(t.shape)
            Case.cache[key] = (t, self.tested[-1])
        else:
            t, tested = Case.cache[key]
            self.tensors.append(t)
            self.tested.append(tested)
            self.mutated.append(any(p["name"] == name and p["mutated"] for p in self.row["params"]))
        t = t.clone()
        self.tensors[-1] = t
        return t


def laid(t, layout):
    """As sample_strides has them: 1 transposed, 2 sliced."""
    if not layout or t.dim() == 0 or t.numel() == 0:
        return t.clone()
    stride, n = [0] * t.dim(), 1
    for d in range(t.dim()) if layout == 1 else reversed(range(t.dim())):
        stride[d] = n if layout == 1 else 2 * n
        n *= t.shape[d]
    v = torch.zeros(2 * n + 1, dtype=t.dtype).as_strided(t.shape, stride, layout - 1)
    return v.copy_(t)


def option_params(row):
    return [p for p in row["params"] if not p["type"].startswith(("Tensor", "Device", "Generator"))
            or (p["type"].startswith("Tensor") and p["optional"])]


def pool_of(row, p):
    """Texts of an option; None: as the sample has it."""
    kind, name = p["type"], p["name"]
    if kind.startswith("Tensor"):
        return [None, "None"]
    if name in ("self_stride", "self_offset", "implicit", "input_size", "weight_size", "sparse", "sparse_grad", "non_blocking"):
        return [None]
    if kind == "enum":
        words = p["words"]
        words = [w for w in words if w != "channels_last_3d"]
        return [None] + (["None"] if p["optional"] else []) + words
    many = "[]" if kind.endswith("[]") else ""
    for key in (f"{row['name']}.{name}", f"{kind}:{name}", name + many, kind):
        if key in POOLS and (many == "[]") == key.endswith("[]"):
            found = [v for v in POOLS[key] if v != "None" or p["optional"]]
            return [None] + (["None"] if p["optional"] and "None" not in found else []) + found
    return [None]


def items_of(row, text):
    """The sample as texts by parameter."""
    found = {}
    for position, item in enumerate(text.split()):
        m = re.match(r"([a-z]\w*)=(.*)$", item)
        name = m[1] if m else row["params"][position]["name"]
        found[name] = m[2] if m else item
    return found


def resized(text, old, new):
    if old is None:
        return text
    one = lambda m: "(" + ",".join(new if s == old else s for s in m[1].split(",")) + ")"
    return re.sub(r"\(([\d,]*)\)", one, text)


def written(row, items):
    """Positional as far as nothing is left out and torch takes it so."""
    out, gap = [], False
    for position, p in enumerate(row["params"]):
        if p["name"] not in items:
            gap = True
            continue
        gap = gap or p["keyword"] or not (p["type"].startswith("Tensor") or p["required"])
        out.append(f"{p['name']}={items[p['name']]}" if gap else items[p["name"]])
    return " ".join(out)


def text_of(row, case, samples):
    items = items_of(row, samples[case["@sample"]])
    for p in option_params(row):
        v = case[p["name"]]
        if v is not None:
            items[p["name"]] = v
    if "keepdim" in items and row["name"] in ("sum", "mean") and "dim" not in items:
        items["dim"] = "None"
    sizes = [s for m in re.finditer(r"\(([\d,]*)\)", written(row, items)) for s in m[1].split(",") if s]
    old, new = case["@size"]
    if old is not None:
        old = sizes[old % len(sizes)] if sizes else None
    return resized(written(row, items), old, new)


def elements_of(text):
    return max([math.prod(int(s) for s in m[1].split(",") if s) for m in re.finditer(r"\(([\d,]*)\)", text)] or [0])


def digest(t):
    """Sizes, strides, and a hash or sums."""
    t = t.detach().resolve_conj().resolve_neg()
    dims = ",".join(map(str, t.shape)) + ";" + ",".join(map(str, t.stride()))
    flat_ = t.contiguous().reshape(-1)
    if t.dtype.is_complex:
        flat_ = torch.view_as_real(flat_.to(torch.complex128)).reshape(-1)
    if not flat_.dtype.is_floating_point:
        h = 0
        for v in flat_.to(torch.int64).tolist():
            h = splitmix(h ^ (v & M64))
        return f"({dims}) #{h >> 24:x}"
    special, kept = 0, []
    for i, v in enumerate(flat_.to(torch.float64).tolist()):
        if not math.isfinite(v):
            special = splitmix(special ^ (4 * i + (1 if v != v else 2 if v > 0 else 3)))
        else:
            kept.append((i, v))
    sums = [math.fsum(weight(i + start) * v for i, v in kept) for start in (0, 1000)]
    tail = f" !{special >> 24:x}" if special else ""
    return f"({dims}) " + " ".join(f"{s:.15g}" for s in sums) + tail


def name_of(dtype):
    return make.NAME[dtype]


def run(row, case, samples):
    """The lines of a case: its head, then what torch gives; or "? " and its head."""
    text = text_of(row, case, samples)
    Sample.grid = case["@grid"]
    dtype = make.SHORT[case["@dtype"]]
    head = f"{case['@dtype']} {case['@grid']} {case['@layout']} {text}"
    s = Case(row, text, dtype)
    own = {id(t): laid(t, case["@layout"]) for t in s.tensors}
    try:
        args, kwargs = s.swapped(own)
        out = flat(make.call(row, args, kwargs))
    except Refused:
        return [f"? {head}"]
    if only_empty(row, case, text):
        return None
    if any(o.numel() > ELEMENTS or o.dtype not in make.NAME for o in out) or len(out) > 16:
        return None
    values, wide = out, own
    if any(t.dtype in UP for t in s.tensors) and not row["random"] and row["name"] not in make.STEPS:
        wide = {id(t): t.to(UP[t.dtype]) if t.dtype in UP else t.clone() for t in s.tensors}
        try:
            args, kwargs = s.swapped(wide)
            more = flat(make.call(row, args, kwargs))
            values = [w if o.dtype.is_floating_point or o.dtype.is_complex else o for w, o in zip(more, out)]
        except Refused:
            wide = own
    lines = [f"! {head}"]
    for o, v in zip(out, values):
        lines.append(f"o {name_of(o.dtype)} {digest(restrided(v, o))}")
    for k, t in enumerate(s.tensors):
        if s.mutated[k]:
            lines.append(f"a {k} {name_of(own[id(t)].dtype)} {digest(restrided(wide[id(t)], own[id(t)]))}")
    if dtype in (torch.float64, torch.complex128) and not row["random"] and case["@grid"] == 0:
        lines += gradients(row, s)
    return lines


def restrided(v, like):
    """The values of v, told with the strides of like."""
    if not v.dtype.is_floating_point and not v.dtype.is_complex or v.stride() == like.stride():
        return v
    if any(st == 0 and n > 1 for st, n in zip(like.stride(), like.shape)):
        return v
    return torch.empty_strided(like.shape, like.stride(), dtype=v.dtype).copy_(v)


def gradients(row, s):
    if not row["grad"] and not row["composed"]:
        return []
    wanted = [t for t, tested in zip(s.tensors, s.tested) if tested]
    mapping = {id(t): t.clone().requires_grad_(any(t is w for w in wanted)) for t in s.tensors}
    try:
        args, kwargs = s.swapped(mapping)
        out = flat(make.call(row, args, kwargs))
        if any(o.dtype in UP for o in out):
            return []  # as exact as that
        loss = make.loss_of(row, out)
        if loss is None:
            return []
        grads = ask(torch.autograd.grad, [loss, [mapping[id(t)] for t in wanted]], {"allow_unused": True})
    except Refused:
        return []
    numbers = [k for k, tested in enumerate(s.tested) if tested]
    return [f"g {k} {name_of(g.dtype)} {digest(g.contiguous())}" for k, g in zip(numbers, grads) if g is not None]


def not_compared(row, case, text):
    """What docs/differences.md has, or what torch leaves open or has no answer for."""
    name, integer = row["name"], case["@dtype"] in ("i64", "u8", "i8", "bool")
    dtype, huge = case.get("dtype") or "None", case["@grid"] == 7
    explicit = re.match(r"\(.*?\):(\w+)", text)
    is_complex = (explicit[1] if explicit else case["@dtype"]) in ("c64", "c128")
    if dtype != "None" and (
            is_complex != dtype.startswith("complex") and name in ("sum", "prod", "mean", "cumsum", "cumprod", "softmax", "log_softmax")
            or dtype.startswith("int") and huge and not integer or dtype == "bool" and name in ("cumsum", "cumprod")):
        return True  # from real to complex or back, or from what is not finite to integers
    if integer and name in ("addmm", "addcmul", "index_add") and "=0.5" in text + "".join(f"={v}" for v in case.values()):
        return True  # a fraction, cut off
    if dtype.startswith("int") and name.startswith("arange") and "0.25" in text:
        return True  # a step that is 0 as an integer
    if name in ("linspace", "rand", "randn") and dtype.startswith(("complex", "int", "bool")):
        return True
    return {
        **dict.fromkeys(("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"), is_complex or case["@size"][1] == "0"),
        "normal": is_complex, "uniform": is_complex, "smooth_l1_loss": is_complex,
        "batch_norm": case["@grid"] != 0 and (case.get("eps") == "0.0" or huge),  # 0 / 0 in one order or another
        "fractional_max_pool3d": case["@size"][1] == "0",  # torch takes no channels
        "grid_sample": huge,  # places that are not finite
        "bilinear": case["@size"][1] == "0", "embedding_bag": huge or case["@size"][1] == "0",
        "instance_norm": case.get("eps") == "0.0" or case["@size"][1] == "0" and case["@dtype"] == "bf16",
        "addmm": huge and "0" in (case.get("alpha"), case.get("beta")),  # 0 times NaN is NaN, or left out
        "var_mean": huge, "scaled_dot_product_attention": huge or case.get("scale") in ("0.0", "-2.0"), "binary_cross_entropy": huge,
        **dict.fromkeys(("conv1d", "conv2d", "conv3d", "conv1d_padding", "conv2d_padding", "conv3d_padding",
                         "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
                        integer and case.get("dilation") not in (None, "[1]") or case["@size"][1] == "0"
                        or huge and "transpose" in name),  # an infinite weight times padding
        # which numbers of a spectrum are NaN beside an infinite one depends on the order of its sums
        **dict.fromkeys(("fft_rfft", "fft_rfft2", "fft_rfftn", "fft_ihfft", "fft_ihfft2", "fft_ihfftn", "stft", "istft"),
                        huge),
        "local_response_norm": case.get("k") in ("0", "0.0"),  # x / |x|: the gradient is what rounding leaves
        **dict.fromkeys(("avg_pool3d", "lp_pool3d"), huge or case["@dtype"] in ("f16", "bf16")),  # torch's CPU has no half numbers
        "lp_pool1d": huge, "lp_pool2d": huge,  # the root of what is not finite
        "cosine_embedding_loss": case["@grid"] == 3,  # 1 - 1 as the type rounds it
        **dict.fromkeys(("ctc_loss", "ctc_loss_tensor", "ctc_loss_plain", "ctc_loss_input_grad"), huge),
        "gaussian_nll_loss": huge,  # torch refuses a negative variance
        "soft_margin_loss": huge,  # torch's overflows
        "logsumexp": case.get("dim") == "[]",
        "index_add": case["@size"][1] == "0", "randint": dtype == "bfloat16",
        "softmax": is_complex and "dtype=" in text, "log_softmax": is_complex and "dtype=" in text,
        "take_along_dim": case["@size"][1] == "1",  # torch reads beside the tensor
        "topk": case.get("sorted") == "False" and case.get("k") not in ("0", "1"),
    }.get(name, False)


def torch_sort(self, dim=-1, descending=False):
    return torch.sort(self, dim=dim, descending=descending, stable=True)


def torch_argsort(self, dim=-1, descending=False):
    return torch.sort(self, dim=dim, descending=descending, stable=True)[1]


def torch_topk(self, k, dim=-1, largest=True, sorted=True):
    torch.topk(self, k, dim, largest, sorted)  # whether it takes them
    if not self.dim():
        return torch.topk(self, k, dim, largest, sorted)
    return [t.narrow(dim, 0, k).clone(memory_format=torch.contiguous_format) for t in torch.sort(self, dim=dim, descending=largest, stable=True)]


make.torch_sort, make.torch_argsort, make.torch_topk = torch_sort, torch_argsort, torch_topk  # the first of equals first


def only_empty(row, case, text):
    """Whether torch takes what is empty though it refuses the same options elsewhere: it has not looked."""
    if not re.search(r"[(,]0[,)]", text):
        return False
    s = Case(row, resized(text, "0", "3"), make.SHORT[case["@dtype"]])
    try:
        make.call(row, s.args, s.kwargs)
        return False
    except Refused:
        return True


def takes(row, samples, i, dtype):
    """Whether torch takes the sample as it stands in the dtype: what it refuses, or does not look at in what is empty, is
    tests/ops/oracle.c's."""
    key = (row["name"], i, dtype)
    if key not in TAKEN:
        Sample.grid = 0
        s = Case(row, samples[i], make.SHORT[dtype])
        try:
            make.call(row, s.args, s.kwargs)
            TAKEN[key] = all(t.numel() for t in s.tensors)
        except Refused:
            TAKEN[key] = False
        if not all(t.numel() for t in s.tensors):
            TAKEN[key] = any(takes(row, samples, j, dtype) for j in range(i) if ":" not in samples[j])
    return TAKEN[key]


TAKEN = {}


def factors(row, samples):
    found = {"@sample": range(len(samples)), "@size": [(None, "")] * 2 + [(i, n) for i in range(3) for n in ("0", "1", "19")],
             "@dtype": WRITTEN, "@grid": [0, 0, 2, 3, 7], "@layout": [0, 1, 2]}
    if row["random"] or row["name"].startswith("as_strided"):
        found["@layout"], found["@grid"] = [0], [0]
    if not any("(" in s for s in samples):
        found["@dtype"], found["@size"] = ["f64"], [(None, "")]
    for p in option_params(row):
        found[p["name"]] = pool_of(row, p)
        if name_given(row["name"], p["name"]):
            found[p["name"]] = [v for v in found[p["name"]] if v != "None"]
    return found


def name_given(row, name):
    """Options for which torch's operator, called by itself, does not take None."""
    return (row, name) in {("prod", "dim"), ("randint", "dtype"), ("randint_low", "dtype")}


def pairs_of(case, options):
    """Pairs of values; those of two options count most."""
    keys = sorted(case)
    return {((a, case[a]), (b, case[b])): 6 if a in options and b in options else 1
            for a, b in itertools.combinations(keys, 2) if a in options or b in options}


def plain(rng, f, options):
    """A candidate: options from their pools, surroundings mostly ordinary, that more of them are taken."""
    case = {k: rng.choice(v) for k, v in f.items()}
    if rng.random() < 0.5:
        case["@size"] = (None, "")
    if rng.random() < 0.4:
        case["@dtype"] = "f64"
    for k in options:
        if rng.random() < 0.25:
            case[k] = f[k][0]
    return case


def cover(row):
    samples = [s for s in row["sample"].split(" | ") if elements_of(s) <= 500 and "<272" not in s] + MORE.get(row["name"], [])
    if not samples:
        return [], 0
    f = factors(row, samples)
    options = [p["name"] for p in option_params(row)]
    rng = random.Random(row["name"])
    met, tried, taken, refused, seen = set(), {}, [], [], set()
    refused_values, useless = set(), 0
    while len(taken) < CASES * (1 + len(options) // 3) and useless < 300:
        best = max((plain(rng, f, options) for _ in range(40)),
                   key=lambda c: sum(w for p, w in pairs_of(c, options).items() if p not in met and tried.get(p, 0) < 10))
        pairs = pairs_of(best, options)
        fresh = [p for p in pairs if p not in met]
        if not takes(row, samples, best["@sample"], best["@dtype"]) or not_compared(row, best, samples[best["@sample"]]):
            useless += 0.1
            for p in fresh:
                tried[p] = tried.get(p, 0) + 0.1
            continue
        head = json.dumps(best, sort_keys=True)
        if not fresh or head in seen:
            useless += 1
            continue
        seen.add(head)
        lines = run(row, best, samples)
        if lines is None or lines[0] in seen:
            useless += 1
            continue
        seen.add(lines[0])
        if lines[0][0] == "?":
            useless += 1
            for p in fresh:
                tried[p] = tried.get(p, 0) + 1
            values = {(k, best[k]) for k in options if best[k] is not None} - refused_values
            if values and len(refused) < REFUSED:
                refused_values |= values
                refused.append(lines)
            continue
        met |= set(pairs)
        taken.append(lines)
    both = {p for p in met if p[0][0] in options and p[1][0] in options}
    return taken + refused, len(both)


def main():
    torch.set_num_threads(1)
    table = json.load(open(os.path.join(ROOT, "src", "gen", "table.json")))
    os.makedirs(os.path.join(HERE, "pairs"), exist_ok=True)
    for row in table["operators"]:
        if not option_params(row) or (sys.argv[1:] and row["name"] not in sys.argv[1:]):
            continue
        if os.environ.get("PART") and row["index"] % 2 != int(os.environ["PART"]):
            continue
        child = os.fork()  # torch divides by zero in some of what it should refuse
        if child:
            if os.waitpid(child, 0)[1]:
                print(row["name"], "CRASHED", flush=True)
            continue
        Case.cache.clear()
        cases, both = ([], 0) if row["name"] in ELSEWHERE else cover(row)
        text = f"# torch {torch.__version__.split('+')[0]}, {row['torch']}; made by tests/oracle/pairs.py\n"
        text += f"# pairs of options: {both}\n# options: {' '.join(p['name'] for p in option_params(row))} \n"
        text += f"# elsewhere: {ELSEWHERE[row['name']]}\n" if row["name"] in ELSEWHERE else ""
        text += "".join("\n".join(lines) + "\n" for lines in cases)
        with open(os.path.join(HERE, "pairs", row["name"] + ".txt"), "w") as out:
            out.write(text)
        print(row["name"], len(cases), both, len(text), flush=True)
        os._exit(0)


if __name__ == "__main__":
    main()
