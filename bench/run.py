"""run.py [calls] [fashion] [kernels] [import] [python] [--rounds N] [--threads N] [--only PREFIX] - tensor.h beside torch, turn by turn.

Each bench is two programs that do the same work and print "name value" lines. A round runs both, in changing order;
the tables give the median over the rounds (lowest..highest), and the RATIO ours / torch of each round likewise. Only
the ratios mean something elsewhere; a wide spread says that something else was running. Run by a python that has torch
(`make bench TORCH=...`); CC, CXX and BUILD come from make.

calls    calls.c, calls.cpp: calls on four floats, in ns; instructions of a call where valgrind is installed
fashion  fashion.c, fashion.py: the training step of examples/fashion, in ms, on --threads threads. peak: VmHWM after
         the steps less VmRSS when model, data and optimizer stood (the mark is reset there through
         /proc/self/clear_refs). It counts pages of program files that are used for the first time, much in torch;
         `own` is without them: VmHWM less RssFile and RssShmem after the steps, less RssAnon at the mark.
kernels  kernels.c, kernels.py: large operators, in us, on --threads threads; --only matmul runs those beginning so
import   import.py: `import tensorh` beside torch, and magnetron where $MAGNETRON says in which folder it is
python   python_calls.py: calls on four floats from Python, in ns, of the wheel's build; beside magnetron, too, where
         $MAGNETRON says in which folder it is
"""
import argparse
import glob
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
OUT = os.path.join(os.environ.get("BUILD") or os.path.join(ROOT, "build"), "bench")
CC, CXX = shlex.split(os.environ.get("CC") or "cc"), shlex.split(os.environ.get("CXX") or "c++")
FLAGS = ["-std=c99", "-O2", "-g", "-I" + ROOT]
GOALS = {"add": 1 / 15, "add_recording": 1 / 15, "mul_sum_backward": 1 / 45, "step": 2.0, "peak": 0.8}
PYTHON_GOALS = {"add": 1 / 20, "add_recording": 1 / 23, "mul_sum_backward": 1 / 80, "getitem": 1 / 15, "view": 1 / 15,
                "module_relu": 1 / 15, "module_linear": 1 / 15}


def newer(target, sources):
    return os.path.exists(target) and all(os.path.getmtime(s) <= os.path.getmtime(target) for s in sources)


def build_ours(name):
    """OUT/name from name.c and the library, which is compiled once for all."""
    headers = [os.path.join(ROOT, "tensor.h"), os.path.join(ROOT, "tensor_nn.h")]
    library, source = os.path.join(OUT, "library.o"), os.path.join(HERE, "library.c")
    if not newer(library, headers + [source]):
        subprocess.run(CC + FLAGS + ["-c", source, "-o", library], check=True)
    target, source = os.path.join(OUT, name), os.path.join(HERE, name + ".c")
    if not newer(target, [library, source]):
        subprocess.run(CC + FLAGS + [source, library, "-o", target, "-lm", "-pthread"], check=True)
    return target


def build_theirs(name):
    """OUT/name_torch from name.cpp and the libtorch inside this python's torch."""
    target, source = os.path.join(OUT, name + "_torch"), os.path.join(HERE, name + ".cpp")
    home = os.path.dirname(torch.__file__)
    if not newer(target, [source, torch.__file__]):
        abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
        subprocess.run(CXX + ["-std=gnu++20", "-O2", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", f"-I{home}/include", source,
                              "-o", target, f"-L{home}/lib", f"-Wl,-rpath,{home}/lib", "-ltorch_cpu", "-lc10"], check=True)
    return target


def values(command):
    """What a program printed: {name: value}, in its order."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}")
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def rounds(ours, theirs, count):
    """[(ours, theirs)] of each round, the order changing so that neither always runs on a warmer machine."""
    result = []
    for k in range(count):
        if k % 2:
            second = values(theirs)
            result.append((values(ours), second))
        else:
            first = values(ours)
            result.append((first, values(theirs)))
    return result


def spread(numbers, digits):
    return "{:.{d}f} ({:.{d}f}..{:.{d}f})".format(statistics.median(numbers), min(numbers), max(numbers), d=digits)


def table(title, unit, pairs, counts=None, goals=GOALS, other="torch"):
    """Prints the table; counts: {name: (ours, theirs)} instructions of a call."""
    print(f"\n{title}\n{'':24}{'tensor.h, ' + unit:>28}{other + ', ' + unit:>32}{'RATIO':>26}   goal", end="")
    print("    instructions         ratio" if counts else "")
    for name in pairs[0][0]:
        both = [(a[name], b[name]) for a, b in pairs if name in b]
        if not both or name.startswith("loss_"):
            continue
        digits = 1 if statistics.median(b for _, b in both) >= 20 else 3
        ratio = [a / b for a, b in both if b > 0]
        goal = f"{goals[name]:.4f}" if name in goals else ""
        line = f"{name:24}{spread([a for a, _ in both], digits):>28}{spread([b for _, b in both], digits):>32}"
        line += f"{spread(ratio, 4) if ratio else '-':>26} {goal:>7}"
        if counts and name in counts and counts[name][1]:
            ours, theirs = counts[name]
            line += f"  {ours:>6.0f} / {theirs:<8.0f} {ours / theirs:8.4f}"
        print(line)


def instructions(program, calls):
    """{case: instructions of a call}: callgrind writes a file as each case_* begins, with what ran since the one before.
    Each case runs twice: the file that follows its second beginning counts."""
    for old in glob.glob(os.path.join(OUT, "count.*")):
        os.remove(old)
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={OUT}/count", "--dump-before=case_*",
               program, str(calls)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(f"no instructions of {os.path.basename(program)}: {done.stderr.strip().splitlines()[-1:]}")
        return {}
    result, began = {}, [None, None]
    for path in sorted(glob.glob(os.path.join(OUT, "count.*")), key=lambda p: int(p.rsplit(".", 1)[1].split("-")[0])):
        with open(path) as f:
            text = f.read()
        case = re.search(r"^desc: Trigger: --dump-before=case_(\w+)", text, re.M)
        total = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
        if total and began[0] and began[0] == began[1]:
            result[began[0]] = int(total.group(1)) / calls
        began = [began[1], case.group(1) if case else None]
    return result


def calls(a):
    ours, theirs = build_ours("calls"), build_theirs("calls")
    pairs = rounds([ours], [theirs], a.rounds or 9)
    counts = {}
    if shutil.which("valgrind") and not a.no_count:
        mine, other = instructions(ours, 1000), instructions(theirs, 200)
        counts = {name: (mine[name], other.get(name)) for name in mine}
    table("calls on four floats, and libtorch from C++", "ns", pairs, counts)


def fashion(a):
    ours = [build_ours("fashion"), str(a.steps), str(a.threads)]
    theirs = [sys.executable, os.path.join(HERE, "fashion.py"), str(a.steps), str(a.threads)]
    pairs = rounds(ours, theirs, a.rounds or 7)
    table(f"training step, batch 64, {a.threads} threads (step in ms; peak and own: memory in MB)", "ms, MB", pairs)
    mine, other = pairs[0]
    print(f"same work: loss of the first step {mine['loss_first']:.6f} and {other['loss_first']:.6f}, "
          f"of the last {mine['loss_last']:.6f} and {other['loss_last']:.6f}")


def kernels(a):
    only = a.only or []
    ours = [build_ours("kernels"), str(a.threads)] + only
    theirs = [sys.executable, os.path.join(HERE, "kernels.py"), str(a.threads)] + only
    table(f"large operators, {a.threads} threads", "us", rounds(ours, theirs, a.rounds or 5))


def package():
    """The folder of the Python package as its wheel has it, compiled as pip leaves it."""
    folder, wheels = os.path.join(OUT, "site"), os.path.join(OUT, "wheel")
    sources = [os.path.join(ROOT, f) for f in ("tensor.h", "tensor_nn.h", "tensor_py.c")]
    sources += [f for f in glob.glob(os.path.join(ROOT, "tensorh", "**"), recursive=True) if f.endswith((".py", ".pyi"))]
    if not newer(os.path.join(folder, "made"), sources):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(wheels, exist_ok=True)
        make = "import sys, backend; print(backend.build_wheel(sys.argv[1]))"
        done = subprocess.run([sys.executable, "-c", make, wheels], cwd=os.path.join(ROOT, "tools", "python"), check=True,
                              stdout=subprocess.PIPE, text=True)
        shutil.unpack_archive(os.path.join(wheels, done.stdout.split()[-1]), folder, "zip")
        subprocess.run([sys.executable, "-m", "compileall", "-q", folder], check=True)
        open(os.path.join(folder, "made"), "w").close()
    return folder


def imports(a):
    names = ["tensorh=" + package(), "torch"]
    names.append("magnetron" + ("=" + os.environ["MAGNETRON"] if os.environ.get("MAGNETRON") else ""))
    command = [sys.executable, os.path.join(HERE, "import.py"), "--rounds", str(a.rounds or 7)] + names
    subprocess.run(command, check=True)


def instructions_python(program, count):
    """The same of python_calls.py: a file as getppid is called, three for each case."""
    for old in glob.glob(os.path.join(OUT, "count.*")):
        os.remove(old)
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={OUT}/count", "--dump-before=getppid"]
    done = subprocess.run(program[:2] + command + program[2:] + [str(count)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    names = [line.split()[0] for line in done.stdout.splitlines()]
    paths = sorted(glob.glob(os.path.join(OUT, "count.*")), key=lambda p: int(p.rsplit(".", 1)[1].split("-")[0]))
    if done.returncode or len(paths) < 3 * len(names):
        print(f"no instructions of {program[-1]}: {done.stderr.strip().splitlines()[-1:]}")
        return {}
    result = {}
    for name, path in zip(names, paths[len(paths) - 3 * len(names) + 2::3]):
        with open(path) as f:
            result[name] = int(re.search(r"^(?:totals|summary): (\d+)", f.read(), re.M).group(1)) / count
    return {name: n - result["empty"] for name, n in result.items()}


def python(a):
    """Programs begin with env and a variable, so that valgrind runs the python and not env."""
    script = [sys.executable, os.path.join(HERE, "python_calls.py")]
    ours = ["env", f"PYTHONPATH={package()}", *script, "tensorh"]
    others = {"torch": ""}
    if os.environ.get("MAGNETRON"):
        others["magnetron"] = os.environ["MAGNETRON"]
    for other, path in others.items():
        theirs = ["env", f"PYTHONPATH={path}", *script, other]
        pairs, counts = rounds(ours, theirs, a.rounds or 7), {}
        if shutil.which("valgrind") and not a.no_count:
            mine, both = instructions_python(ours, 300), instructions_python(theirs, 100)
            counts = {name: (mine[name], both.get(name)) for name in mine}
        table("calls on four floats from Python", "ns", pairs, counts, PYTHON_GOALS, other)


def main():
    benches = {"calls": calls, "fashion": fashion, "kernels": kernels, "import": imports, "python": python}
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bench", nargs="*", default=list(benches))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--only", action="append")
    parser.add_argument("--no-count", action="store_true")
    a = parser.parse_args()
    os.makedirs(OUT, exist_ok=True)
    load, cores = os.getloadavg()[0], os.cpu_count()
    print(f"torch {torch.__version__}, {cores} cores, load {load:.1f}; median (lowest..highest) of the rounds")
    if load > cores / 2:
        print("other programs are running: ratios of one thread still tell something, those of several nothing")
    for name in a.bench:
        if name not in benches:
            parser.error(f"no bench {name}: {', '.join(benches)}")
        benches[name](a)


main()
