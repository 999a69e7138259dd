"""mutants.py N [SEED [FILE...]]: do the rows notice faults in kernels? N small faults in
src/cuda/*.cu, one at a time: a barrier that is missing, a bound off by one, a wrong mask, stride or
offset. Each is compiled for the emulation, linked in place of its file, and caught if a row of the
file's table differs from the CPU, crashes or hangs, in either of two orders of threads and streams
or on larger samples (larger.h). Not counted are those that do not compile, or compile to the same
code.

Prints the survivors and "N passed, M failed": it fails if fewer than nine of ten are caught. What
it needs is built (make build/cuda_host/rows). CXX: the compiler."""

import glob
import os
import random
import re
import subprocess
import sys

OUT = os.path.join(os.environ.get("BUILD", "build"), "cuda_host")
WORK = os.path.join(OUT, "mutants")
# (kind, pattern, what takes its place), in kernels and functions of the device
FAULTS = [
    ("barrier", r"__sync(?:threads|warp)\([^()]*\);", ";"),
    ("bound", r"(?<=[\w\])]) < (?=[\w(])", " <= "),
    ("bound", r"(?<=[\w\])]) >= (?=[\w(])", " > "),
    ("bound", r" - 1(?=[;,)\]])", ""),
    ("bound", r" \+ 1(?=[;,)\]])", ""),
    ("mask", r"0xffffffffu", "0x7fffffffu"),
    ("mask", r"% 32\b", "% 16"),
    ("mask", r"(?<=[\w)]) && (?=\w)", " || "),
    ("stride", r"TNC_STEP\(\)", "(TNC_STEP() + 1)"),
    ("stride", r"\* (\w+(?:\.\w+)*(?:_step|step|stride)\b)", r"* 2 * \1"),
    ("stride", r"\* (\w+)\.(\w+_row|\w+_col)\b", r"* 2 * \1.\2"),
    ("offset", r"TNC_FIRST\(\)", "(TNC_FIRST() + 1)"),
    ("offset", r"(?<== )begin\b", "begin + 1"),
    ("offset", r"\[i\]", "[i ? i - 1 : i]"),
]
FEW = {"EMU_ORDER": "7", "EMU_BLOCKS": "3"}
ORDERS = (
    {"EMU_ORDER": "0"},
    FEW | {"EMU_LAZY": "1"},
    FEW | {"TN_LARGER": "6", "TN_QUICK": "1", "EMU_GUARD": "0"},
)
FLAGS = [
    *"-x c++ -std=c++17 -O1 -ffp-contract=off -w -DTNI_OBJECTS -Isrc/cuda".split(),
    '-DTNC_EMULATION="../../tests/cuda_host/emulation.h"',
]


def device_spans(text):
    """Where functions of the device stand, from their first brace to the last."""
    for m in re.finditer(r"^(?:template.*\n)?(?:static )?(?:__global__|TNC_FN)", text, re.M):
        open_at = text.find("{", m.start())
        depth, at = 1, open_at + 1
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield open_at, at


def faults_of(path):
    """[(kind, line, text with the fault, what was there)]"""
    text, found = open(path).read(), []
    for begin, end in device_spans(text):
        for kind, pattern, new in FAULTS:
            for m in re.finditer(pattern, text[begin:end]):
                a, z = begin + m.start(), begin + m.end()
                line = text.count("\n", 0, a) + 1
                there = text.splitlines()[line - 1].strip()
                found.append((kind, line, text[:a] + m.expand(new) + text[z:], there))
    return found


def rows_of(path):
    """The rows of a file's table, by name or by its macro."""
    table = open(path).read()
    table = table[table.rfind("static const tn_device_row"):]
    names = re.findall(r'\{"(\w+)"', table) + re.findall(r"\b[A-Z]+_(?:ROW|OF)\w*\((\w+)", table)
    return sorted(set(names))


def compiled(text, name):
    source, made = os.path.join(WORK, name + ".cu"), os.path.join(WORK, name + ".o")
    with open(source, "w") as f:
        f.write(text)
    command = [*os.environ.get("CXX", "g++").split(), *FLAGS, "-c", source, "-o", made]
    done = subprocess.run(command, capture_output=True)
    return made if done.returncode == 0 else None


def code(path):
    done = subprocess.run(["objdump", "-d", "-j", ".text", path], capture_output=True, text=True)
    return "".join(done.stdout.splitlines(True)[3:])


def linked(made, path):
    stem = os.path.splitext(os.path.basename(path))[0]
    others = [os.path.join(OUT, os.path.splitext(os.path.basename(p))[0] + ".o")
              for p in glob.glob("src/cuda/*.cu")]
    others = [o for o in others if os.path.basename(o) != stem + ".o"]
    others += [os.path.join(OUT, n + ".o") for n in ("tested", "rows", "sample")]
    program = os.path.join(WORK, "rows")
    library = os.path.join(os.environ.get("BUILD", "build"), "libtensor.a")
    command = ["g++", made, *others, library, "-o", program, "-lm", "-pthread", "-ldl"]
    subprocess.run(command, check=True)
    return program


def notices(program, rows):
    for order in ORDERS:
        try:
            done = subprocess.run([program, *("row=" + r for r in rows)], timeout=300,
                                  env=os.environ | order, capture_output=True)
        except subprocess.TimeoutExpired:
            return True
        if done.returncode:
            return True
    return False


def main(count, seed, files):
    os.makedirs(WORK, exist_ok=True)
    chance = random.Random(seed)
    by_kind = {}
    left_out = {"src/cuda/random.cu"}  # the host draws for its rows, as the CPU does
    for path in files or sorted(set(glob.glob("src/cuda/*.cu")) - left_out):
        rows = rows_of(path)
        for kind, *fault in faults_of(path) if rows else ():
            by_kind.setdefault(kind, []).append((path, rows, *fault))
    for of in by_kind.values():
        chance.shuffle(of)
    caught, survivors, plain = {}, [], {}
    kinds = sorted(by_kind)
    while sum(caught.values()) + len(survivors) < count and any(by_kind.values()):
        kind = kinds[0]  # in turn, so that each has its share
        kinds = kinds[1:] + [kind]
        if not by_kind[kind]:
            continue
        path, rows, line, text, there = by_kind[kind].pop()
        if path not in plain:
            plain[path] = code(compiled(open(path).read(), "mutant"))
        made = compiled(text, "mutant")
        if not made or code(made) == plain[path]:
            continue
        if notices(linked(made, path), rows):
            caught[kind] = caught.get(kind, 0) + 1
        else:
            survivors.append((kind, path, line, there))
            print(f"survives: {kind}, {path}:{line}: {there}", flush=True)
    n = sum(caught.values())
    print("caught:", ", ".join(f"{kind} {caught[kind]}" for kind in sorted(caught)))
    ok = n * 10 >= 9 * (n + len(survivors))
    print(f"{n} passed, {0 if ok else len(survivors)} failed")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "0", sys.argv[3:]))
