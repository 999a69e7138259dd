"""import.py [--rounds N] [NAME=FOLDER | NAME].. - what `import NAME` takes beyond the bare interpreter, turn by turn.

Each import is a process of its own, whose program is that line; in each round every package has its turn, in changing
order. Time is of the import alone, as the process sees it: ms of the clock, and of the processor, which other programs
disturb less. Memory is what is resident after it, less before it. The table gives the median over the rounds (lowest..
highest), and the RATIO tensorh / other of each round likewise. FOLDER: where the package is, if not on the path.
"""
import argparse
import statistics
import subprocess
import sys

PROGRAM = """
import sys, time
def resident():
    try:
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * 4096 / 1e6
    except OSError:
        return 0
sys.path[:0] = sys.argv[2:]
before, clock, processor = resident(), time.perf_counter(), time.process_time()
try:
    __import__(sys.argv[1])
except ImportError as e:
    sys.exit(str(e))
clock, processor = time.perf_counter() - clock, time.process_time() - processor
print(clock * 1e3, processor * 1e3, resident() - before, resident())
"""


def measured(name, folder):
    """[ms of the clock, ms of the processor, MB more, MB in all]; None: there is no such package."""
    command = [sys.executable, "-c", PROGRAM, name] + [folder] * bool(folder)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        print(f"{name}: left out, {done.stderr.strip().splitlines()[-1]}")
        return None
    return [float(v) for v in done.stdout.split()]


def spread(numbers, digits):
    return "{:.{d}f} ({:.{d}f}..{:.{d}f})".format(statistics.median(numbers), min(numbers), max(numbers), d=digits)


def table(rounds):
    """rounds: [{name: what measured gave}]"""
    print(f"\nimport, beyond the bare interpreter\n{'':20}{'ms':>26}{'ms of processor':>26}{'MB':>26}{'MB in all':>26}")
    for name in rounds[0]:
        columns = list(zip(*(r[name] for r in rounds)))
        print(f"{name:20}" + "".join(f"{spread(c, 1):>26}" for c in columns))
    for name in rounds[0]:
        if name == "tensorh":
            continue
        ratios = [[a / b if b else 0 for a, b in zip(r["tensorh"], r[name])] for r in rounds]
        print(f"RATIO to {name:11}" + "".join(f"{spread(c, 4):>26}" for c in zip(*ratios)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("packages", nargs="*", default=["tensorh"])
    parser.add_argument("--rounds", type=int, default=7)
    a = parser.parse_args()
    packages = dict((p.split("=", 1) + [""])[:2] for p in a.packages)
    packages = {name: folder for name, folder in packages.items() if measured(name, folder)}  # and warms the caches
    if "tensorh" not in packages:
        sys.exit("there is no tensorh to measure")
    rounds = []
    for k in range(a.rounds):
        order = list(packages)[k % len(packages):] + list(packages)[: k % len(packages)]
        found = {name: measured(name, packages[name]) for name in order}
        rounds.append({name: found[name] for name in packages})
    table(rounds)


main()
