"""make test-upstream: PyTorch's own test files, with torch and with tensorh, CPU only.

    upstream.py SOURCE [FILE ..] [-k REGEX] [--again] [--seconds N] [--groups N]
    upstream.py SOURCE [FILE ..] --report | --list REGEX

SOURCE is a tree of PyTorch's sources; FILE is the name of a file under its folder test (test_torch,
nn/test_pooling). A test counts if it passes with torch. Results are kept in $BUILD/upstream;
torch's are taken from there unless --again. -k runs and prints these tests alone, --list prints the
failed ones whose id or message matches. Failures are grouped by message, and those of one cause
that known.txt names by its reason.
"""

import argparse
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = """test_torch test_indexing test_view_ops test_type_promotion test_serialization
test_binary_ufuncs test_unary_ufuncs test_reductions test_shape_ops test_sort_and_select
test_scatter_gather_ops test_tensor_creation_ops test_segment_reductions test_spectral_ops
test_complex test_dlpack test_linalg test_nn nn/test_dropout nn/test_embedding
nn/test_packed_sequence nn/test_pooling test_autograd test_optim test_dataloader test_modules
distributions/test_distributions distributions/test_constraints distributions/test_transforms
distributions/test_utils""".split()


def results(path):
    """id -> outcome, message."""
    try:
        with open(path) as f:
            return {name: (what, why) for name, what, why, _ in map(json.loads, f)}
    except FileNotFoundError:
        return {}


def known():
    """(pattern, reason) of known.txt."""
    found = []
    with open(os.path.join(HERE, "known.txt")) as f:
        for line in f:
            if line.strip() and line[0] != "#":
                pattern, _, reason = line.rstrip("\n").partition(" => ")
                found.append((re.compile(pattern), reason))
    return found


def shortened(message):
    """A message on one line, without unittest's advice."""
    advice = r"\s*To execute this test.*PYTORCH_PRINT_REPRO_ON_FAILURE=0"
    return re.sub(r"\s+", " ", re.sub(advice, "", message, flags=re.S))


def group(message):
    """A message without what differs from test to test."""
    line = shortened(message).split(" [line ")[0][:230]
    line = re.sub(r" does not match .*", " does not match ours", line)
    line = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "..", line)
    return re.sub(r"[0-9]+(\.[0-9]+)?(e[-+]?\d+)?", "N", line)


def report(build, files, groups, listed):
    table, grouped, reasons = [], {}, {}
    rules = known()
    for file in files:
        name = file.replace("/", "-")
        want = results(f"{build}/torch/{name}.jsonl")
        got = results(f"{build}/tensorh/{name}.jsonl")
        counted = [t for t, (what, _) in want.items() if what == "pass"]
        passed = design = 0
        for t in counted:
            what, why = got.get(t, ("absent", "the test is not there"))
            if what == "pass":
                passed += 1
                continue
            if what == "skip":
                why = f"skipped: {why}"
            if listed and re.search(listed, f"{file}::{t}: {why}"):
                print(f"{file}::{t}: {shortened(why)[:300]}")
            text = f"{file}::{t}: {why}"
            reason = next((r for p, r in rules if p.search(text)), None)
            design += reason is not None
            into = reasons if reason else grouped
            into.setdefault(reason or group(why), []).append(f"{file}::{t}")
        table.append((file, len(counted), design, passed))
    if listed:
        return
    for title, of in (("by design (known.txt)", reasons), ("failures by message", grouped)):
        print(f"\n{title}: {sum(map(len, of.values()))}")
        for text, tests in sorted(of.items(), key=lambda g: -len(g[1]))[:groups]:
            print(f"{len(tests):6}  {text}\n        {' '.join(tests[:2])}")
    print(f"\n{'file':34} {'torch':>7} {'design':>7} {'tensorh':>8}   share  of all")
    for row in table + [("all", *(sum(r[k] for r in table) for k in (1, 2, 3)))]:
        file, torch, design, passed = row
        share, of_all = passed / max(torch - design, 1), passed / max(torch, 1)
        print(f"{file:34} {torch:7} {design:7} {passed:8}  {share:6.1%}  {of_all:6.1%}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("source")
    p.add_argument("files", nargs="*")
    p.add_argument("-k", default="")
    p.add_argument("--again", action="store_true")
    p.add_argument("--seconds", type=int, default=30)
    p.add_argument("--report", action="store_true")
    p.add_argument("--groups", type=int, default=60)
    p.add_argument("--list")
    a = p.parse_intermixed_args()
    build = os.path.join(os.environ.get("BUILD", "build"), "upstream")
    files = a.files or FILES
    for file in files if not a.report and not a.list else ():
        name = file.replace("/", "-")
        for package in ("torch", "tensorh"):
            out = f"{build}/{'some/' if a.k else ''}{package}/{name}.jsonl"
            os.makedirs(os.path.dirname(out), exist_ok=True)
            if package == "torch" and os.path.exists(out) and not a.again and not a.k:
                continue
            print(f"{file} with {package}", file=sys.stderr, flush=True)
            ours = os.path.join(HERE, file + ".py")
            path = os.path.join(os.path.abspath(a.source), "test", file + ".py")
            path = ours if os.path.exists(ours) else path
            worker = [sys.executable, f"{HERE}/worker.py", package, path, out, str(a.seconds), a.k]
            env = dict(os.environ, OMP_NUM_THREADS="1")
            r = subprocess.run(worker, capture_output=True, text=True, env=env, check=False)
            if r.returncode:
                print(r.stderr[-3000:])
            if a.k:
                for t, (what, why) in results(out).items():
                    print(f"{package:8} {t}: {what} {why}")
    if not a.k:
        report(build, files, a.groups, a.list)


if __name__ == "__main__":
    main()
