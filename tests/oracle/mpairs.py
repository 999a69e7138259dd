"""Writes tests/oracle/mpairs/<module>.txt: what torch gives for modules with their options in pairs.

    python tests/oracle/mpairs.py [CLASS ..]     of all modules, or these; needs torch; tests/ops/mpairs.c needs only what this writes

Parameter k has the elements ((7 i + 3 k) % 13 - 6) / 16. Two calls in training, after each p -= grad / 8 of sum(w . outputs);
a call in evaluation; then the state dict. In float64; the digests are those of pairs.py.
"""

import itertools
import json
import os
import random
import re
import sys

import torch
import torch.nn as nn

import make
import pairs
from make import ROOT, Refused, ask, flat, weight

HERE = os.path.dirname(os.path.abspath(__file__))
BOTH = ["False", "True"]
REDUCTION = ["none", "mean", "sum"]
PADDINGS = ["zeros", "reflect", "replicate", "circular"]
MASKS = ["", " need_weights=False", " average_attn_weights=False", " attn_mask=(3,5)", " key_padding_mask=(2,5)",
         " key_padding_mask=(2,5) attn_mask=(3,5) average_attn_weights=False"]
OWN = {  # samples of options: inputs; pools of options
    "Conv2d": (["4 8 [3,2]: (2,4,7,6)", "4 4 [2]: (4,6,5)"],
               {"stride": ["[1]", "[2]", "[2,1]"], "padding": ["[0]", "[1]", "[2,1]"], "dilation": ["[1]", "[1,2]"],
                "groups": ["1", "2", "4", "3"], "bias": BOTH, "padding_mode": PADDINGS}),
    **{f"Conv{n}d": (samples, {"stride": ["[1]", "[2]"], "padding": ["[0]", "[1]"], "dilation": ["[1]", "[2]"], "groups": ["1", "2", "3"],
                                "bias": BOTH, "padding_mode": PADDINGS})
       for n, samples in ((1, ["4 8 [3]: (2,4,9)", "4 4 [2]: (4,7)"]), (3, ["2 4 [3,2,1]: (2,2,5,4,3)", "2 2 [2]: (2,4,3,5)"]))},
    **{f"ConvTranspose{n}d": (samples, {"stride": ["[1]", "[2]"], "padding": ["[0]", "[1]"], "output_padding": ["[0]", "[1]"],
                                         "dilation": ["[1]", "[2]"], "groups": ["1", "2", "3"], "bias": BOTH, "padding_mode": ["zeros"]})
       for n, samples in ((1, ["4 8 [3]: (2,4,5)", "4 4 [2]: (4,4)", "4 4 [3]: (2,4,5) [10]"]), (2, ["4 8 [3,2]: (2,4,3,4)", "4 4 [2]: (4,3,3)"]),
                          (3, ["2 4 [3,2,2]: (1,2,3,2,3)", "2 2 [2]: (2,3,2,3)"]))},
    "BatchNorm1d": (["3: (4,3)", "3: (4,3,2)"], {"eps": ["1e-05", "0.1"], "momentum": ["None", "0.1", "1.0", "0.0"], "affine": BOTH,
                                               "track_running_stats": BOTH, "bias": BOTH}),
    "BatchNorm2d": (["3: (4,3,2,3)"], {"eps": ["1e-05", "0.1"], "momentum": ["None", "0.1", "1.0", "0.0"], "affine": BOTH,
                                      "track_running_stats": BOTH, "bias": BOTH}),
    "BatchNorm3d": (["2: (3,2,2,1,3)"], {"eps": ["1e-05", "0.1"], "momentum": ["None", "0.1", "1.0", "0.0"], "affine": BOTH,
                                        "track_running_stats": BOTH, "bias": BOTH}),
    **{f"InstanceNorm{n}d": (samples, {"eps": ["1e-05", "0.1"], "momentum": ["None", "0.1", "1.0", "0.0"], "affine": BOTH,
                                       "track_running_stats": BOTH, "bias": BOTH})
       for n, samples in ((1, ["3: (4,3,5)", "3: (3,2)"]), (2, ["3: (4,3,2,3)", "2: (2,2,3)"]), (3, ["2: (3,2,2,1,3)", "2: (2,2,2,1)"]))},
    "LayerNorm": (["[4]: (2,3,4)", "[3,4]: (2,3,4)"], {"eps": ["1e-05", "0.1"], "elementwise_affine": BOTH, "bias": BOTH}),
    "LSTM": (["3 4: (5,2,3)", "3 4: (5,3)", "3 4: (5,2,3) h=(1,2,4) c=(1,2,4)", "3 4: (5,2,3) h=(2,2,4) c=(2,2,4)",
              "3 4: (2,5,3) h=(4,2,4) c=(4,2,4)"],
             {"num_layers": ["1", "2", "3"], "bias": BOTH, "batch_first": BOTH, "dropout": ["0.0", "1.0"], "bidirectional": BOTH,
              "proj_size": ["0", "2"]}),
    **{name: (["3 4: (5,2,3)", "3 4: (5,3)", "3 4: (5,2,3) hx=(1,2,4)", "3 4: (5,2,3) hx=(2,2,4)", "3 4: (2,5,3) hx=(4,2,4)"],
              {"num_layers": ["1", "2", "3"], "bias": BOTH, "batch_first": BOTH, "dropout": ["0.0", "1.0"], "bidirectional": BOTH,
               **({"nonlinearity": ["tanh", "relu"]} if name == "RNN" else {})}) for name in ("RNN", "GRU")},
    **{name: (["3 4: (2,3)", "3 4: (3)", f"3 4: (2,3) {state}"],
              {"bias": BOTH, **({"nonlinearity": ["tanh", "relu"]} if name == "RNNCell" else {})})
       for name, state in (("RNNCell", "hx=(2,4)"), ("GRUCell", "hx=(2,4)"), ("LSTMCell", "h=(2,4) c=(2,4)"))},
    "GroupNorm": (["2 4: (3,4,2)", "3 6: (2,6)", "2 4: (2,4,3,2)"], {"eps": ["1e-05", "0.1"], "affine": BOTH, "bias": BOTH}),
    "RMSNorm": (["[4]: (2,3,4)", "[3,4]: (2,3,4)"], {"eps": ["None", "1e-05", "0.1"], "elementwise_affine": BOTH}),
    "AlphaDropout": ([": (4,5)"], {"p": ["0.0", "0.3", "1.0", "1.5"], "inplace": BOTH}),
    "FeatureAlphaDropout": ([": (4,5,2)"], {"p": ["0.0", "0.3", "1.0", "1.5"], "inplace": BOTH}),
    "MultiheadAttention": ([f"6 2: (3,2,6) (5,2,6) (5,2,6){m}" for m in MASKS] + ["6 3: (2,5,6) (2,5,6) (2,5,6)"],
                           {"dropout": ["0.0", "1.0"], "bias": BOTH, "batch_first": BOTH}),
    "TransformerEncoderLayer": (["4 2 6 0.0: (3,2,4)", "4 2 6 0.0: (3,2,4) src_mask=(3,3)", "4 2 6 0.0: (3,4)"],
                                {"activation": ["relu", "gelu"], "layer_norm_eps": ["1e-05", "0.1"], "batch_first": BOTH,
                                 "norm_first": BOTH, "bias": BOTH}),
    "TransformerDecoderLayer": (["4 2 6 0.0: (3,2,4) (3,2,4)", "4 2 6 0.0: (3,2,4) (3,2,4) tgt_mask=(3,3)", "4 2 6 0.0: (3,4) (5,4)"],
                                {"activation": ["relu", "gelu"], "layer_norm_eps": ["1e-05", "0.1"], "batch_first": BOTH,
                                 "norm_first": BOTH, "bias": BOTH}),
    "TransformerEncoder": (["num_layers=2: (3,2,4)", "num_layers=3: (3,2,4) mask=(3,3)"],
                           {"enable_nested_tensor": BOTH, "mask_check": BOTH}),
    "TransformerDecoder": (["num_layers=2: (3,2,4) (3,2,4)", "num_layers=1: (3,2,4) (5,2,4) tgt_mask=(3,3)"], {}),
    "Transformer": (["4 2 1 2 6 0.0: (3,2,4) (3,2,4)", "4 2 2 1 6 0.0: (3,2,4) (3,2,4) src_mask=(3,3) tgt_mask=(3,3)", "4 2 1 1 6 0.0: (3,4) (5,4)"],
                    {"activation": ["relu", "gelu"], "layer_norm_eps": ["1e-05", "0.1"], "batch_first": BOTH, "norm_first": BOTH, "bias": BOTH}),
    "Upsample": (["[4,3]: (2,3,2,2)", "None [1.5]: (1,2,4,5)", "None [2.0,0.7]: (1,2,3,4)", "[7]: (1,2,4)", "None [1.7]: (1,2,3)", "[3]: (1,1,2,3,4)"],
                 {"align_corners": ["True"], "recompute_scale_factor": BOTH}),
    **{name: (["[4,3]: (2,3,2,2)", "[3]: (2,3,4,5)", "None [1.5]: (1,2,4,5)", "None [2.0,0.7]: (1,2,3,4)", "None None: (1,2,3,4)"], {})
       for name in ("UpsamplingNearest2d", "UpsamplingBilinear2d")},
    "FractionalMaxPool2d": ([f"[2] {size} _random_samples=(2,3,2): (2,3,7,6)" for size in ("[4,3]", "[3]", "None [0.5]", "None [0.6,0.7]", "[3] [0.5]", "")]
                            + ["[3,2] [2,3] _random_samples=(1,3,2): (3,7,6)"], {}),
    "FractionalMaxPool3d": ([f"[2] {size} _random_samples=(1,2,3): (1,2,7,6,5)" for size in ("[4,3,2]", "[3]", "None [0.5]", "None [0.6,0.7,0.5]")], {}),
    "AdaptiveLogSoftmaxWithLoss": (["8 10 [3,6]: (5,8) (5):i64<10", "16 10 [3,6]: (5,16) (5):i64<10", "8 9 [2,5]: (8) ():i64<9", "9 12 [2,5,8]: (7,9) (7):i64<12", "8 10 [3,6]: (4,8) (4):i64<3",
                                    "8 10 [6,3]: (5,8) (5):i64<10"], {"div_value": ["4.0", "2.0", "1.0"], "head_bias": BOTH}),
    "SyncBatchNorm": (["3: (4,3)", "3: (4,3,2)", "2: (3,2,2,1,3)"], {"eps": ["1e-05", "0.1"], "momentum": ["None", "0.1", "1.0", "0.0"], "affine": BOTH,
                                                                "track_running_stats": BOTH, "bias": BOTH}),
    "Embedding": (["9 3: (2,4):i64<9", "5 2: (7):i64<5"], {"padding_idx": ["None", "0", "2", "-1", "9"], "scale_grad_by_freq": BOTH}),
    "MaxPool2d": (["[3]: (2,3,7,6)", "[3,2]: (2,5,7)"], {"stride": ["None", "[1]", "[2,1]"], "padding": ["[0]", "[1]", "[1,0]"],
                                                       "dilation": ["[1]", "[2,1]"], "ceil_mode": BOTH}),
    "AvgPool2d": (["[3]: (2,3,7,6)", "[3,2]: (2,5,7)"], {"stride": ["None", "[1]", "[2,1]"], "padding": ["[0]", "[1]", "[1,0]"],
                                                       "ceil_mode": BOTH, "count_include_pad": BOTH, "divisor_override": ["None", "1", "5"]}),
    "MaxPool1d": (["[3]: (2,3,7)", "[2]: (5,8)"], {"stride": ["None", "[1]", "[2]"], "padding": ["[0]", "[1]"], "dilation": ["[1]", "[2]"],
                                                  "ceil_mode": BOTH}),
    "AvgPool1d": (["[3]: (2,3,7)", "[2]: (5,8)"], {"stride": ["None", "[1]", "[2]"], "padding": ["[0]", "[1]"], "ceil_mode": BOTH,
                                                  "count_include_pad": BOTH}),
    "AdaptiveAvgPool1d": (["[3]: (2,3,7)", "[1]: (5,8)"], {}),
    "AdaptiveAvgPool3d": (["[3,2,1]: (2,3,5,4,3)", "[2]: (1,3,4,2)"], {}),
    "CrossEntropyLoss": ([": (4,5) (4):i64<5", ": (4,5) (4,5)", ": (2,5,3) (2,3):i64<5"],
                         {"weight": ["(5)"], "ignore_index": ["-100", "1", "3"], "reduction": REDUCTION, "label_smoothing": ["0.0", "0.1", "1.0"]}),
    "NLLLoss": ([": (4,5) (4):i64<5", ": (2,5,3) (2,3):i64<5"], {"weight": ["(5)"], "ignore_index": ["-100", "1", "3"], "reduction": REDUCTION}),
    "BCELoss": ([": (4,3) (4,3)"], {"weight": ["(3)", "(4,3)"], "reduction": REDUCTION}),
    "BCEWithLogitsLoss": ([": (4,3) (4,3)"], {"weight": ["(3)", "(4,3)"], "pos_weight": ["(3)"], "reduction": REDUCTION}),
    "Dropout": ([": (4,5)"], {"p": ["0.0", "0.3", "1.0", "1.5"], "inplace": BOTH}),
    **{f"Dropout{n}d": ([f": {shape}"], {"p": ["0.0", "0.3", "1.0", "1.5"], "inplace": BOTH})
       for n, shape in ((1, "(4,5,2)"), (2, "(4,5,2,3)"), (3, "(3,4,2,1,2)"))},
    "LPPool1d": (["2 [3]: (2,3,7)", "2 [2]: (5,8)"], {"stride": ["None", "[1]", "[2]"], "ceil_mode": BOTH}),
    "LPPool2d": (["2 [3]: (2,3,7,6)", "2 [3,2]: (2,5,7)"], {"stride": ["None", "[1]", "[2]"], "ceil_mode": BOTH}),
    "MaxPool3d": (["[3]: (2,3,5,4,3)", "[3,2,1]: (2,4,5,3)"], {"stride": ["None", "[1]", "[2,1,2]"], "padding": ["[0]", "[1]", "[1,0,0]"],
                                                             "dilation": ["[1]", "[1,2,1]"], "ceil_mode": BOTH}),
    "AvgPool3d": (["[3]: (2,3,5,4,3)", "[3,2,1]: (2,4,5,3)"], {"stride": ["None", "[1]", "[2,1,2]"], "padding": ["[0]", "[1]", "[1,0,0]"],
                                                             "ceil_mode": BOTH, "count_include_pad": BOTH, "divisor_override": ["None", "1", "5"]}),
    "LPPool3d": (["2 [3]: (2,3,4,5,3)", "2 [3,2,1]: (2,5,4,3)"], {"stride": ["None", "[1]", "[2]"], "ceil_mode": BOTH}),
    "AdaptiveMaxPool1d": (["[3]: (2,3,7)", "[1]: (5,8)"], {}),
    "AdaptiveMaxPool2d": (["[3,2]: (2,3,7,5)", "[2]: (2,5,8)"], {}),
    "AdaptiveMaxPool3d": (["[3,2,1]: (2,3,5,4,3)", "[2]: (1,3,4,2)"], {}),
    **{f"MaxUnpool{n}d": (samples, {"stride": ["None", "[1]", "[2]"], "padding": ["[0]", "[1]"]})
       for n, samples in ((1, ["[2]: (2,3,4) (2,3,4):i64:permutation", "[3]: (2,3) (2,3):i64:permutation"]),
                          (2, ["[2]: (2,3,1,4) (2,3,1,4):i64:permutation", "[3,2]: (2,1,3) (2,1,3):i64:permutation"]),
                          (3, ["[2]: (1,2,1,1,3) (1,2,1,1,3):i64:permutation", "[3,2,1]: (2,1,1,3) (2,1,1,3):i64:permutation"]))},
    "LocalResponseNorm": (["2: (2,5,4)", "3: (1,4,3,2)"], {"alpha": ["0.0001", "0.5"], "beta": ["0.75", "1.0"], "k": ["1.0", "2.0"]}),
    "CrossMapLRN2d": (["3: (2,5,3,2)", "4: (1,6,2,2)", "5: (2,2,1,3)"],
                      {"alpha": ["0.0001", "0.5"], "beta": ["0.75", "1.0"], "k": ["1.0", "2.0"]}),
    "Unfold": (["[2]: (2,3,4,5)", "[3,2]: (2,6,5)"], {"dilation": ["[1]", "[2,1]"], "padding": ["[0]", "[1]", "[1,0]"],
                                                    "stride": ["[1]", "[2]", "[1,2]"]}),
    "Fold": (["[4,5] [2]: (2,12,12)", "[4,5] [2]: (12,2)", "[3,4] [3,2]: (6,6)"], {"dilation": ["[1]", "[2]"], "padding": ["[0]", "[1]", "[1,0]"],
                                                                              "stride": ["[1]", "[2]", "[3]"]}),
    "Flatten": ([": (2,3,4)"], {"start_dim": ["0", "1", "-1", "-3"], "end_dim": ["0", "1", "-1", "5"]}),
    **{name: ([": (2,3)", ": (4)"], {"alpha": ["1.0", "0.5", "2.0"], "inplace": BOTH}) for name in ("ELU", "CELU")},
    "Hardtanh": ([": (2,3)", ": (4)"], {"min_val": ["-1.0", "-0.25", "0.75"], "max_val": ["1.0", "0.5"], "inplace": BOTH}),
    **{name: ([": (2,3)", ": (4)"], {"lambd": ["0.5", "0.25", "0.0"]}) for name in ("Hardshrink", "Softshrink")},
    "RReLU": ([": (2,3)", ": (4)"], {"lower": ["0.125", "0.25"], "upper": ["0.25", "0.5", "0.0"], "inplace": BOTH}),
    "GLU": ([": (2,6)", ": (4,6,2)"], {"dim": ["-1", "0", "1", "2", "3"]}),
    "Threshold": (["threshold=0.1 value=2.0: (2,3)", "threshold=-0.25 value=0.5: (4)"], {"inplace": BOTH}),
    "Softmin": ([": (2,3)", ": (4)", ": (2,3,2)"], {}),
    "Linear": (["3 4: (2,3)", "3 4: (3)", "3 4: (0,3)"], {"bias": BOTH}),
}
GENERIC = {"bool": BOTH, "sparse": ["False"], "dim": ["None", "0", "1", "-1", "4"], "negative_slope": ["0.01", "0.0", "-0.5"], "beta": ["1.0", "2.0"],
           "threshold": ["20.0", "0.5"], "output_size": ["[1]", "[3,2]", "[2,5]"]}


def read(params, text, name):
    row = {"name": name, "params": [p for p in params if p["type"] != "Module"], "domain": "input:0.1..0.9 target:0.1..0.9 var:0.1..0.9 _random_samples:0..0.99"}
    return pairs.Case(row, text, torch.float64)


def inputs_of(module):
    m = re.match(r"\((.*)\) ->", module.get("call") or "(Tensor input) ->")
    text = re.sub(r"\(([^)]*)\)\? \w+=None", r"\1", m[1]).replace("=None", "")
    return [{"name": p.split()[1].split("=")[0], "type": p.split()[0], "required": True, "optional": False, "keyword": False,
             "mutated": False} for p in text.split(", ")]


def plain(v):
    return (v[0] if len(v) == 1 else tuple(v)) if isinstance(v, list) else v


def tensors(result):
    return [t for r in (result if isinstance(result, tuple) else (result,)) for t in (tensors(r) if isinstance(r, tuple) else [r])
            if isinstance(t, torch.Tensor)]


def called(m, s):
    args, kwargs = s.args, dict(s.kwargs)
    if "h" in kwargs:
        args, kwargs = args + [(kwargs.pop("h"), kwargs.pop("c"))], kwargs
    return tensors(ask(m, args, kwargs))


WORDS = {"nearest_exact": "nearest-exact"}  # torch's words that are no names


def layer_of(param):
    """A stack's layer, which is no value of a sample."""
    kind = nn.TransformerEncoderLayer if param["name"] == "encoder_layer" else nn.TransformerDecoderLayer
    return kind(4, 2, 6, 0.0)


def run(module, text):
    options, inputs = text.split(":", 1)
    o = read(module["params"], options, module["name"])
    s = read(inputs_of(module), inputs, module["name"])
    try:
        made = [layer_of(p) for p in module["params"] if p["type"] == "Module" and p["required"]]
        m = ask(getattr(nn, module["class"]), made + [plain(v) for v in o.args], {k: WORDS.get(v, v) if isinstance(v, str) else plain(v) for k, v in o.kwargs.items()}).double()
        lines = []
        with torch.no_grad():
            for k, p in enumerate(m.parameters()):
                p.copy_(torch.tensor([((7 * i + 3 * k) % 13 - 6) / 16 for i in range(p.numel())]).reshape(p.shape))
        torch.manual_seed(7)
        params = list(m.parameters())
        for _ in range(2):
            out, loss, start = called(m, s), 0, 0
            for t in out:
                lines.append(f"o {make.NAME[t.dtype]} {pairs.digest(t)}")
                if t.requires_grad:
                    w = torch.tensor([weight(start + i) for i in range(t.numel())], dtype=torch.float64).reshape(t.shape)
                    loss = loss + (t * w).sum()
                start += t.numel()
            if params:
                for p, g in zip(params, ask(torch.autograd.grad, [loss, params], {"allow_unused": True})):
                    with torch.no_grad():
                        p -= g / 8 if g is not None else 0
        m.eval()
        lines += [f"o {make.NAME[t.dtype]} {pairs.digest(t)}" for t in called(m, s)]
        lines += [f"s {k} {make.NAME[t.dtype]} {pairs.digest(t)}" for k, t in m.state_dict().items()]
        if "!" in "".join(lines):
            return None
    except Refused:
        return [f"? {text}"]
    return [f"! {text}"] + lines


def cover(module):
    samples, pools = OWN.get(module["class"]) or ((module["sample"] or "").split(" | "), {})
    for p in module["params"]:
        if p["name"] not in pools and p["type"] == "enum":
            pools[p["name"]] = p["words"]
        if p["name"] not in pools and (p["name"] in GENERIC or p["type"] in GENERIC) and p["name"] != "return_indices":
            pools[p["name"]] = GENERIC.get(p["name"]) or GENERIC[p["type"]]
    f = {"@sample": list(range(len(samples))), **{k: [None] + v for k, v in pools.items()}}
    rng, met, seen, lines, refused = random.Random(1), set(), set(), [], 0
    for _ in range(400):
        case = max(({k: rng.choice(v) for k, v in f.items()} for _ in range(12)),
                   key=lambda c: len(set(itertools.combinations(sorted((k, str(v)) for k, v in c.items()), 2)) - met))
        options, inputs = samples[case["@sample"]].split(":", 1)
        given = [f"{k}={v}" for k, v in case.items() if k in pools and v is not None and f" {k}=" not in " " + options]
        text = " ".join(options.split() + given) + ":" + inputs
        found = set(itertools.combinations(sorted((k, str(v)) for k, v in case.items()), 2))
        if text in seen or (f != {"@sample": f["@sample"]} and not found - met and len(f) > 1):
            continue
        seen.add(text)
        one = run(module, text)
        if one is None or one[0][0] == "?" and refused == 6:
            continue
        refused += one[0][0] == "?"
        if one[0][0] == "!":
            met |= found
        lines += one
    return lines, len(met)


def main():
    torch.set_num_threads(1)
    table = json.load(open(os.path.join(ROOT, "src", "gen", "table.json")))
    os.makedirs(os.path.join(HERE, "mpairs"), exist_ok=True)
    for module in table["modules"]:
        if module.get("optimizer") or module["name"] in ("sequential", "module_list"):
            continue
        if sys.argv[1:] and module["class"] not in sys.argv[1:]:
            continue
        lines, met = cover(module)
        with open(os.path.join(HERE, "mpairs", module["class"] + ".txt"), "w") as out:
            out.write(f"# torch {torch.__version__.split('+')[0]}; made by tests/oracle/mpairs.py; pairs: {met}\n")
            out.write(f"# options: {' '.join(p['name'] for p in module['params'])} \n" + "".join(line + "\n" for line in lines))
        print(module["class"], met, sum(line[0] == "!" for line in lines), sum(line[0] == "?" for line in lines), flush=True)


if __name__ == "__main__":
    main()
