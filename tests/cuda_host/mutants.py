"""mutants.py N [SEED [FILE[:LINE]...]]: do the tests notice faults in kernels? N small faults in
device functions of src/cuda, one at a time: a barrier that is missing, a bound off by one, a wrong
mask, stride or offset, swapped operands of - and /, a tail that is dropped, shuffled terms of an
index, a leading dimension that is one too large. In functions of the host, too: rows in the place
of columns (m, n), a matrix that is transposed and is not. The kinds take turns, and of a kind's
files the one that had the fewest faults; the seed draws the rest.

All are in one program, in which EMU_FAULT=k says which: a function with faults has its body several
times. A fault of a header is compiled in one file that includes it, then in those that most rows
launch if that one does not run it. Each is run by what launches kernels of its file: rows, in
either of two orders of threads and streams and on larger samples (larger.h), then programs. `files`
of the folder build/cuda_host/mutants says which those are, with their seconds; it is made anew when
the program is newer. They must pass without a fault first, which also tells what comes to a fault's
function: the others are left out. What passes all of them is run with the file and memory.cu under
ASan, for places that are read without effect. A fault is caught if a run fails; if it takes more
than 8 times the processor's time of the run without it, it hangs, which is caught too, but said; a
run that ends for other reasons catches nothing. Not counted are faults that do not compile, compile
to the same code, or stand in equivalent.txt with the reason why nothing can notice them; each of
its entries holds for one fault (N = 0: only looks whether it does).

Prints each fault and "N passed, M failed": it fails if fewer than nine of ten are caught. What it
needs is built (make build/cuda_host/rows). CXX: the compiler; TN_MUTANTS_SECONDS: for rows beside
those of a file's own table."""

import fcntl
import glob
import hashlib
import itertools
import os
import random
import re
import resource
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

BUILD = os.environ.get("BUILD", "build")
OUT = os.path.join(BUILD, "cuda_host")
WORK = os.path.join(OUT, "mutants")
TIMES = 8  # the time of a program without the fault, after which one with it hangs
LEAST = 10  # seconds
FILES = 3  # in which a fault of a header is tried, if the first ones do not run it
JOBS = int(os.environ.get("TN_MUTANTS_JOBS", "1"))
SECONDS = float(os.environ.get("TN_MUTANTS_SECONDS", "2"))
PROGRAMS = tuple("random products convolutions streams ranks large faults kernels".split())
APART = {  # whose objects are not their own: src/cuda has files of these names
    "program_random": "tests/cuda_host/random.cc",
    "program_products": "tests/gpu/products.cc",
    "program_convolutions": "tests/gpu/convolutions.cc",
}
NAME = r"(?<![\w.\])])[A-Za-z_]\w*(?:\.\w+)*(?:\[\w+\])?"
# (kind, pattern, what takes its place), in kernels and functions of the device
FAULTS = [
    ("barrier", r"__sync(?:threads|warp)\([^()]*\);", ";"),
    ("bound", r"(?<=[\w\])]) < (?=[\w(-])", " <= "),
    ("bound", r"(?<=[\w\])]) > (?=[\w(-])", " >= "),
    ("bound", r" <= ", " < "),
    ("bound", r" >= ", " > "),
    ("bound", r" - 1(?=[;,)\]: ])", ""),
    ("bound", r" \+ 1(?=[;,)\]: ])", ""),
    ("mask", r"0xffffffffu", "0x7fffffffu"),
    ("mask", r"% 32\b", "% 16"),
    ("mask", r"(?<=[\w)]) && (?=\w)", " || "),
    ("stride", r"TNC_STEP\(\)", "(TNC_STEP() + 1)"),
    ("stride", r"\+= ((?:gridDim|blockDim)\.\w)", r"+= 1 + \1"),
    ("stride", r"\* (\w+(?:\.\w+)*(?:_step|step|stride)\b)", r"* 2 * \1"),
    ("stride", r"\* (\w+)\.(\w+_row|\w+_col)\b", r"* 2 * \1.\2"),
    ("offset", r"TNC_FIRST\(\)", "(TNC_FIRST() + 1)"),
    ("offset", r"(?<== )begin\b", "begin + 1"),
    ("offset", r"\[i\]", "[i ? i - 1 : i]"),
    ("swap", rf"({NAME}) - ({NAME})(?![\w(\[.])", r"\2 - \1"),
    ("swap", rf"({NAME}) / ({NAME})(?![\w(\[.])", r"\2 / \1"),
    ("tail", r"(?<=; )(\w+) < (\w+(?:\.\w+)*)(?=;)", r"\1 < \2 - 1"),
    ("tail", r"\((\w+(?:\.\w+)*) \+ (\w+(?:\.\w+)*) - 1\) / \2\b", r"\1 / \2"),
    ("terms", rf"({NAME}) \* ({NAME}) \+ ({NAME})(?![\w(\[.])", r"\3 * \2 + \1"),
    ("terms", r"\[(\w+)\]\[(\w+)\]", r"[\2][\1]"),
    ("leading", rf"\* ({NAME})(?= \+ \w)", r"* (\1 + 1)"),
]
# in functions of the host as well
AXES = ("m n", "rows cols", "row col", "height width", "h w", "down across", "i0 j0", "line depth")
FLAG = r"(?:\w+(?:\.|->))*\w*(?:turned|turn_[ab]|upper|deep|transposed|left)"
EVERYWHERE = [("transposition", rf"(?<![\w.>!&*])({FLAG})(?= \?| &&|\))", r"!\1")]
for pair in AXES:
    for one, other in (pair.split(), pair.split()[::-1]):
        # as a member, or where an expression goes on: declarations are none
        used = r"(?:(?<=[.>(\[])|(?<=[-+*/%<>=?:!] ))"
        EVERYWHERE.append(("axes", rf"{used}((?:\w+_)?){one}\b(?! =)", rf"\g<1>{other}"))
FEW = {"EMU_ORDER": "7", "EMU_BLOCKS": "3", "EMU_GUARD": "0"}  # the guard watches the host
ORDERS = {
    "samples": {"EMU_ORDER": "0", "EMU_GUARD": "0"},
    "shuffled": FEW | {"EMU_LAZY": "1", "EMU_PRODUCT_WAY": "4", "EMU_PIECE": "37"},
    "larger": FEW | {"TN_LARGER": "6", "TN_QUICK": "1", "EMU_PRODUCT_WAY": "5"},
}
FLAGS = [
    *"-x c++ -std=c++17 -O1 -ffp-contract=off -w -DTNI_OBJECTS".split(),
    *"-fsanitize=bounds -fsanitize-undefined-trap-on-error".split(),
    "-Isrc/cuda",
    "-Itests/cuda_host",
    '-DTNC_EMULATION="../../tests/cuda_host/emulation.h"',
]

# EMU_REACHED=PATH: a line "LABEL FAULT" for the first fault of each function that runs
NUMBER = """#include "emulation.h"
#include <stdlib.h>
#include <mutex>
static const int emu_fault_now = getenv("EMU_FAULT") ? atoi(getenv("EMU_FAULT")) : 0;
static const char *const emu_reached_in = getenv("EMU_REACHED");
static void emu_reached_at(int fault) {
    static std::mutex lock;
    static std::string label;
    static std::vector<bool> seen;
    const std::lock_guard<std::mutex> hold(lock);
    if (label != emu_files().label) seen.clear();
    label = emu_files().label;
    if (seen.size() <= (size_t)fault) seen.resize((size_t)fault + 1);
    if (seen[(size_t)fault]) return;
    seen[(size_t)fault] = true;
    FILE *f = fopen(emu_reached_in, "a");
    if (!f) abort();
    fprintf(f, "%s %d\\n", label.c_str(), fault);
    fclose(f);
}
static inline void emu_reached(int fault) {
    if (emu_reached_in) emu_reached_at(fault);
}
"""


# --- faults -------------------------------------------------------------------------------------


DEVICE = r"(?:static )?(?:__global__|TNC_FN|__device__)[^;{]*\{"
HOST = r"(?:static|TNC_PRIV) [^;{=#]*\) \{"


def spans(text):
    """(whether it is of the device, its name, first brace, last brace) of functions."""
    for head, on_device in ((DEVICE, True), (HOST, False)):
        for m in re.finditer(rf"^[ \t]*(?:template[^\n]*\n[ \t]*)?{head}", text, re.M):
            if not on_device and re.search(r"__global__|__device__|TNC_FN", m.group()):
                continue
            depth, at = 1, m.end()
            while depth and at < len(text):
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
            name = re.search(r"(\w+)\(", re.sub(r"__launch_bounds__\([^)]*\)", "", m.group()))
            yield on_device, name.group(1), m.end(), at - 1


class fault:
    """Text in the place of another in a function of a file, whose body is between begin and end."""

    def __init__(self, kind, path, text, function, body, place, new):
        self.kind, self.path, self.text, self.function = kind, path, text, function
        (self.begin, self.end), (a, z) = body, place
        self.not_in = []  # files that have it and do not run it
        self.body = text[self.begin:a] + new + text[z:self.end]
        self.line = text.count("\n", 0, a) + 1
        changed = text[:self.begin] + self.body + text[self.end:]
        self.there, self.here = (t.splitlines()[self.line - 1].strip() for t in (text, changed))


def faults_of(path):
    text, found, seen = open(path).read(), [], set()
    no_code = r"/\*.*?\*/|//[^\n]*|^#ifdef TNC_EMULATED.*?^#(?:else|endif)|^#[^\n]*"
    comments = [m.span() for m in re.finditer(no_code, text, re.M | re.S)]
    for on_device, name, begin, end in spans(text):
        for kind, pattern, new in FAULTS * on_device + EVERYWHERE:
            for m in re.finditer(pattern, text[begin:end]):
                a, z, to = begin + m.start(), begin + m.end(), m.expand(new)
                one = fault(kind, path, text, name, (begin, end), (a, z), to)
                if (begin, one.body) in seen or any(c <= a < e for c, e in comments):
                    continue
                seen.add((begin, one.body))
                member = "(?<=[.>])" if text[a - 1] in ".>" else r"(?<![.>\w])"
                if kind == "axes" and not re.search(rf"{member}{to}\b", text[begin:end]):
                    continue
                if one.body != text[begin:end]:
                    found.append(one)
    return found


def with_faults(path, faults):
    """The file's text, with the faults by their numbers; or with one alone, without a choice."""
    text = open(path).read()
    for begin in sorted({f.begin for f in faults}, reverse=True):
        of = [f for f in faults if f.begin == begin]
        way = '\nif (emu_fault_now == {0}) {{\n#line 1 "emu_fault_{0}"\n{1}}} else '
        ways = "".join(way.format(f.number, f.body) for f in of)
        for one in of:
            one.first = of[0].number
        way = f"\nemu_reached({of[0].number});{ways}"
        now = f'{way}{{\n#line 1 "{path}"\n{text[begin:of[0].end]}}}'
        now = now if of[0].number else of[0].body
        text = text[:begin] + now + text[of[0].end:]
    # of a kernel in a header several files have copies, of which the program would have one
    if path.endswith(".cuh"):
        text = re.sub(r"^__global__", "static __global__", text, flags=re.M)
    return text


class exclusion:
    """A paragraph of equivalent.txt: "PATH FUNCTION", lines of the file as "  LINE" that stand
    before (as many as tell it from others), "- LINE", "+ LINE" and the reason."""

    def __init__(self, lines):
        shape = "".join(t[:2] if t[:2] in ("  ", "- ", "+ ") else "." for t in lines)
        if not re.fullmatch(r"\.(  )*- \+ \.+", shape):
            sys.exit("equivalent.txt: no PATH FUNCTION, lines, - LINE, + LINE, why: " + lines[0])
        self.path, self.function = lines[0].split()
        self.before = [t[2:].strip() for t in lines if t[:2] == "  "]
        self.there, self.here = (t[2:] for t in lines if t[:2] in ("- ", "+ "))

    def has(self, one):
        if (one.path, one.function, one.there, one.here) != (
            *(self.path, self.function, self.there, self.here),
        ):
            return False
        before = one.text.splitlines()[:one.line - 1][-len(self.before):] if self.before else []
        return [t.strip() for t in before] == self.before


def equivalent():
    """All exclusions, of which each must hold for one fault."""
    found, faults = [], {}
    for paragraph in open("tests/cuda_host/equivalent.txt").read().split("\n\n"):
        lines = [t for t in paragraph.splitlines() if not t.startswith("#")]
        if lines:
            found.append(exclusion(lines))
    for e in found:
        if e.path not in faults:
            faults[e.path] = faults_of(e.path)
        n = sum(e.has(one) for one in faults[e.path])
        if n != 1:
            sys.exit(f"equivalent.txt: {n} faults are so: {e.path} {e.function}\n    {e.here}")
    return found


def draws(files, seed):
    """All faults, in the order in which they are tried."""
    chance, by_kind, had = random.Random(seed), {}, {}
    for path in sorted({f.split(":")[0] for f in files}):
        lines = {int(f.split(":")[1]) for f in files if f.startswith(path + ":")}
        for one in faults_of(path):
            if not lines or one.line in lines:
                by_kind.setdefault(one.kind, []).append(one)
    for of in by_kind.values():
        chance.shuffle(of)
    kinds = sorted(by_kind)
    while any(by_kind.values()):
        kinds = kinds[1:] + kinds[:1]
        of = by_kind[kinds[0]]
        if of:
            one = min(of, key=lambda f: had.get(f.path, 0))
            of.remove(one)
            had[one.path] = had.get(one.path, 0) + 1
            yield one


# --- which file is run by what ------------------------------------------------------------------


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def files_map():
    """{path: [(files that it runs, seconds, row or program with "program_" before it)]}"""
    path, program = os.path.join(WORK, "files"), os.path.join(OUT, "rows")
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(program):
        said = path + ".new"
        if os.path.exists(said):
            os.remove(said)
        environment = os.environ | ORDERS["samples"] | {"EMU_FILES": said, "TN_QUICK": "1"}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
        subprocess.run([program], **quiet)
        text = open(said).read()
        for name in PROGRAMS:
            os.remove(said)
            subprocess.run([os.path.join(OUT, "program_" + name)], **quiet)
            text += open(said).read().replace("- ", f"program_{name} ", 1)
        with open(said, "w") as f:
            f.write(text)
        os.replace(said, path)
    found = {}
    for line in open(path):
        label, seconds, *files = line.split()
        for name in files:
            found.setdefault(name, []).append((len(files), float(seconds), label))
    return found


def users(path):
    """The .cu files that have this one's text in them."""
    if path.endswith(".cu"):
        return [path]
    files = [p for p in sorted(glob.glob("src/cuda/*.cu"))
             if path in open(os.path.join(OUT, stem(p) + ".d")).read().split()]
    return files


def own_rows(path):
    """The rows of a file's table, by name or by its macro."""
    table = open(path).read()
    table = table[table.rfind("static const tn_device_row"):]
    named = re.findall(r'\{"(\w+)"', table)
    named += re.findall(r"\b[A-Z]+_(?:ROW|OF)\w*\((\w+)", table)
    rows = open("src/gen/table.json").read()
    return {name for name in named if f'{{"name": "{name}",' in rows}


def runs_of(path, by_file):
    """What runs kernels of a .cu file: [(name, program, arguments, environment)]. Of rows of other
    tables those that run the fewest files come first; larger samples are of few of these, of all
    kinds where the file has no table."""
    launch, own, left, runs = sorted(by_file.get(path, [])), own_rows(path), SECONDS, []
    rows = ["row=" + name for name in sorted(own)]
    for _, seconds, name in launch:
        if name.startswith("program_"):
            runs.append((name, name, [], FEW))
        elif name not in own and left > 0:
            rows.append("row=" + name)
            left -= seconds
    few = {"larger": rows[: max(len(own), 3)] if own else rows[:: len(rows) // 12 + 1]}
    of = [(n, "rows", few.get(n, rows), order) for n, order in ORDERS.items() if rows]
    return of[:-1] + runs + of[-1:]


# --- building and running -----------------------------------------------------------------------


def compiler():
    return [w for w in os.environ.get("CXX", "g++").split() if not w.endswith("ccache")]


def first_header():
    """What all files begin with, compiled once."""
    first = os.path.join(WORK, "first.h")
    with open(first, "w") as f:
        f.write('#include "cuda.cuh"\n')
    command = [*compiler(), *FLAGS, "-x", "c++-header", "-c", first, "-o", first + ".gch"]
    subprocess.run(command, check=True)


def compiled(user, faults, to, flags=()):
    """Assembly of a .cu file in which these faults are, of itself and of headers. Those that do not
    compile are taken out of the list; None: none is left."""
    folder = os.path.join(WORK, stem(user))
    os.makedirs(folder, exist_ok=True)
    key = hashlib.sha256(" ".join(flags).encode())
    for p in glob.glob("tests/cuda_host/emu*.h"):
        key.update(open(p, "rb").read())
    for p in [user, *glob.glob("src/cuda/*.cuh")]:
        text = with_faults(p, [one for one in faults if one.path == p])
        key.update(text.encode())
        with open(os.path.join(folder, os.path.basename(p)), "w") as f:
            f.write(text)
    first = "" if any(one.path == "src/cuda/cuda.cuh" for one in faults) else "first.h"
    made = os.path.join(WORK, stem(user) + to)
    with open(os.path.join(folder, "number.h"), "w") as f:
        f.write(NUMBER)
    command = [*compiler(), *FLAGS, *flags]
    if first:
        command += ["-include", os.path.join(WORK, first)]
    if faults and faults[0].number:
        command += ["-include", os.path.join(folder, "number.h")]
    command += ["-S", os.path.join(folder, os.path.basename(user)), "-o", made]
    if os.path.exists(made) and os.path.exists(made + "." + key.hexdigest()):
        return made
    tried = subprocess.run(command, capture_output=True, text=True)
    if tried.returncode:
        wrong = set(map(int, re.findall(r"^emu_fault_(\d+):\d+:\d+: error", tried.stderr, re.M)))
        left = [one for one in faults if one.number not in wrong]
        faults[:] = left if len(left) < len(faults) else []
        if not faults or not faults[0].number:
            print(f"left out, with {user}: {tried.stderr[:2000]}" if not wrong else "", end="")
            return None
        return compiled(user, faults, to, flags)
    for old in glob.glob(made + ".*"):
        os.remove(old)
    open(made + "." + key.hexdigest(), "w").close()
    return made


def linked(made, name, to=None, flags=()):
    """The program NAME with {file: assembly} in the place of these files; to: as a file."""
    kept = [os.path.join(OUT, stem(p) + ".o") for p in glob.glob("src/cuda/*.cu") if p not in made]
    if name == "rows":
        kept += [os.path.join(OUT, n + ".o") for n in ("tested", "rows", "sample")]
    elif name in APART:
        own = os.path.join(WORK, name + ".o")
        subprocess.run([*compiler(), *FLAGS, "-c", APART[name], "-o", own], check=True)
        kept.append(own)
    else:
        kept.append(os.path.join(OUT, name.replace("program_", "", 1) + ".o"))
    program = os.path.join(WORK, to or name)
    libraries = [os.path.join(BUILD, "libtensor.a"), "-lm", "-pthread", "-ldl"]
    command = ["g++", *flags, *made.values(), *kept, *libraries, "-o", program]
    subprocess.run(command, check=True)
    return program


def run(program, arguments, environment, limit):
    """("passes", "fails", "hangs" or "ends", its seconds of the processor's time)"""

    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    environment = os.environ | {"TN_STOP": "1"} | environment
    nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = subprocess.Popen(
        [program, *arguments], env=environment, preexec_fn=limited, **nowhere
    )
    late = threading.Timer(60 * limit, started.kill)
    late.start()
    _, status, used = os.wait4(started.pid, 0)
    late.cancel()
    code = started.returncode = os.waitstatus_to_exitcode(status)
    how = {0: "passes", -signal.SIGXCPU: "hangs", -signal.SIGKILL: "ends"}.get(code, "fails")
    return how, used.ru_utime + used.ru_stime


def come(arguments, by):
    """The rows among the arguments that are of these labels; "-": whatever the row."""
    return [a for a in arguments if a.replace("row=", "") in by] if "-" not in by else arguments


class measure:
    """Faults in one program, and what was seen of it without one."""

    def __init__(self):
        self.by_file, self.seconds, self.programs = files_map(), {}, {}
        self.plain, self.made, self.lock = {}, {}, threading.Lock()
        self.reached = {}
        first_header()

    def build(self, by_user):
        """Leaves out faults that do not compile."""
        self.made, self.programs, self.seconds, self.reached = {}, {}, {}, {}
        # headers' faults first: of functions that several files have, the first one counts
        for user in sorted(by_user, key=lambda u: all(f.path == u for f in by_user[u])):
            made = compiled(user, by_user[user], ".s")
            if made:
                self.made[user] = made

    def program(self, name):
        with self.lock:
            if name not in self.programs:
                self.programs[name] = linked(self.made, name)
            return self.programs[name]

    def limit(self, program, arguments, environment):
        """The seconds of a run with a fault, and {first fault of a function: what comes to it}."""
        key = (program, *arguments, *environment.items())
        if key not in self.seconds:
            path = os.path.join(WORK, f"reached.{threading.get_ident()}")
            open(path, "w").close()
            how, seconds = run(program, arguments, environment | {"EMU_REACHED": path}, 600)
            if how != "passes":
                raise RuntimeError(f"without a fault {how}: {program} {' '.join(arguments)}")
            self.reached[key] = {}
            for line in open(path):
                label, number = line.split()
                self.reached[key].setdefault(int(number), set()).add(label)
            self.seconds[key] = max(LEAST, TIMES * seconds)
        return self.seconds[key], self.reached[key]

    def tried(self, program, arguments, environment, one):
        """How a run with the fault ends; None: it does not come to its function."""
        limit, reached = self.limit(program, arguments, environment)
        by = reached.get(one.first, set())
        arguments = come(arguments, by)
        if by:
            faulty = environment | {"EMU_FAULT": str(one.number)}
            return run(program, arguments, faulty, limit)[0]

    def notices(self, user, one):
        """(how, in which run): "fails" and "hangs" notice it, "ends" does not."""
        ended = None
        for name, program, arguments, environment in runs_of(user, self.by_file):
            if name == "larger":
                arguments = come(arguments, self.by_samples(user, one)) or arguments
            how = self.tried(self.program(program), arguments, environment, one)
            if how in ("fails", "hangs"):
                return how, name
            ended = how if how == "ends" else ended or how
        return ended or "is not run", None

    def by_samples(self, user, one):
        """The rows whose samples come to the fault's function."""
        for name, program, arguments, environment in runs_of(user, self.by_file):
            if name == "samples":
                _, reached = self.limit(self.program(program), arguments, environment)
                return reached.get(one.first, set())
        return set()

    def notices_places(self, user, one, faults):
        """The same of samples under ASan, which memory.cu tells what is no memory. The threads of
        the other files do not tell it of their stacks, so those of this file do not, either."""
        own, made = ["-fsanitize=address"], {}
        made["src/cuda/memory.cu"] = compiled("src/cuda/memory.cu", [], ".address.s", own)
        if user not in made:
            flags = [*own, "-U__SANITIZE_ADDRESS__"]
            made[user] = compiled(user, faults, ".address.s", flags)
        program = linked(made, "rows", "rows_address", own)
        quiet = ORDERS["samples"] | {
            "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0"
        }
        for name, _, arguments, _ in runs_of(user, self.by_file):
            if name == "samples":
                return self.tried(program, arguments, quiet, one), "places"
        return "is not run", None

    def same_code(self, user, one):
        if user not in self.plain:
            self.plain[user] = open(compiled(user, [], ".plain.s")).read()
        number, one.number = one.number, 0
        made = compiled(user, [one], ".one.s")
        one.number = number
        return open(made).read() == self.plain[user]


class tally:
    """What became of the faults, told as it comes."""

    def __init__(self):
        self.caught, self.by_run, self.survivors = {}, {}, 0

    def counted(self):
        return sum(self.caught.values()) + self.survivors

    def add(self, user, one, how, name):
        where = f"{one.kind}, {one.path}:{one.line} {one.function}"
        if user != one.path:
            where += f" in {user}"
        if name:
            self.caught[one.kind] = self.caught.get(one.kind, 0) + 1
            self.by_run[f"{how} in {name}"] = self.by_run.get(f"{how} in {name}", 0) + 1
            print(f"{how} in {name}: {where}: {one.here}", flush=True)
        else:
            self.survivors += 1
            print(f"survives ({how}): {where}:\n    - {one.there}\n    + {one.here}", flush=True)

    def end(self):
        n = sum(self.caught.values())
        print("caught:", ", ".join(f"{kind} {self.caught[kind]}" for kind in sorted(self.caught)))
        print("caught as:", ", ".join(f"{r} {self.by_run[r]}" for r in sorted(self.by_run)))
        ok = n and n * 10 >= 9 * (n + self.survivors)
        print(f"{n} passed, {0 if ok else max(self.survivors, 1)} failed")
        return 0 if ok else 1


def files_of(one, by_file):
    """The .cu files in which it was not tried."""
    found = [u for u in users(one.path) if by_file.get(u) or own_rows(u)]
    return [u for u in found if u not in one.not_in] if len(one.not_in) < FILES else []


def some(draw, n, by_file, chance):
    """{file to compile: faults} of n faults, without those that nothing can notice."""
    by_user, excluded, number = {}, equivalent(), 0
    while n:
        one = next(draw, None)
        if not one:
            break
        among = files_of(one, by_file)
        if among and not any(e.has(one) for e in excluded):
            number += 1
            one.number = number
            often = max(among, key=lambda u: len(by_file.get(u, [])))
            by_user.setdefault(often if one.not_in else chance.choice(among), []).append(one)
            n -= 1
    return by_user


def main(count, seed, files):
    if not count:
        print(f"{len(equivalent())} passed, 0 failed")
        return 0
    os.makedirs(WORK, exist_ok=True)
    alone = open(os.path.join(WORK, "lock"), "w")  # of two runs the second waits
    fcntl.flock(alone, fcntl.LOCK_EX)
    m, told, chance = measure(), tally(), random.Random(seed)
    draw = draws(files or glob.glob("src/cuda/*.cu*"), seed)
    print(f"seed {seed}", flush=True)
    while told.counted() < count:
        by_user = some(draw, count - told.counted(), m.by_file, chance)
        if not by_user:
            break
        m.build(by_user)
        missed, tried = [], [(user, one) for user in by_user for one in by_user[user]]
        with ThreadPoolExecutor(JOBS) as jobs:
            seen = jobs.map(lambda t: m.notices(*t), tried)
            for (user, one), (how, name) in zip(tried, seen, strict=True):
                told.add(user, one, how, name) if name else missed.append((user, one, how))
        again = []
        for user, one, how in missed:
            same = m.same_code(user, one)
            one.not_in += [user] * (same or how == "is not run")
            if one.not_in and files_of(one, m.by_file):
                again.append(one)
            elif not same:
                places = m.notices_places(user, one, by_user[user])
                found = places[0] in ("fails", "hangs")
                told.add(user, one, *(places if found else (how, None)))
        draw = itertools.chain(again, draw)
    return told.end()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "0", sys.argv[3:]))
