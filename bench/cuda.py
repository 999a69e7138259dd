"""cuda.py [--rounds N] [--only WORD] [--save FOLDER] - tensorh on a GPU beside torch, turn by turn, both called from Python.

Each round runs the cases in a process of each library, in changing order; the table has the median over the rounds of the
time (us) of one call with its wait, many calls behind each other, and the ratio ours / torch (lowest..highest). Cases named
host_.. have the host's time of a call for which nobody waits, ..._peak the most memory (MB) that a step holds on the GPU.
Needs a python with torch, tensorh with its module of CUDA (TENSORH_CUDA_LIBRARY) and a GPU. --save writes the table, with a
description of the machine, to FOLDER/<name of the GPU>.txt.

    cuda.py --worker LIBRARY     the cases of one library: "name us" lines
"""
import argparse
import os
import platform
import statistics
import subprocess
import sys
import time


def batches(torch, call, least):
    """Microseconds of one call: the median of five batches that each take `least` seconds or more."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    count, found = 1, []
    while len(found) < 5:
        start = time.perf_counter()
        for _ in range(count):
            call()
        torch.cuda.synchronize()
        took = time.perf_counter() - start
        if took < least and not found:
            count *= max(2, min(16, int(least / max(took, 1e-6)) + 1))
            continue
        found.append(took * 1e6 / count)
    return statistics.median(found)


def issued(torch, call, least):
    """Microseconds that the host takes for a call: the least of twenty runs of 100 calls, between which the GPU is waited for."""
    found = []
    for _ in range(20):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(100):
            call()
        found.append((time.perf_counter() - start) * 1e4)
    torch.cuda.synchronize()
    return min(found)


def peak(torch, call, least):
    """The most MB that are in use on the GPU while it runs."""
    call()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    call()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() / 1e6


def pointwise(torch, case):
    x, y = (torch.randn(4096, 4096, device="cuda") for _ in range(2))
    h = x.to(torch.bfloat16)
    small = torch.randn(1000, device="cuda")
    case("add_16M", lambda: x + y)
    case("add_transposed_16M", lambda: x + y.t())
    case("exp_16M", lambda: x.exp())
    case("gelu_16M", lambda: torch.nn.functional.gelu(x))
    case("mul_bf16_16M", lambda: h * h)
    case("clone_16M", lambda: x.clone())
    case("copy_transposed_16M", lambda: x.t().contiguous())
    case("add_1000", lambda: small + small)
    case("host_add_1000", lambda: small + small, issued)
    case("host_exp_1000", lambda: small.exp(), issued)


def reductions(torch, case):
    x = torch.randn(4096, 4096, device="cuda")
    case("sum_16M", lambda: x.sum())
    case("sum_rows_16M", lambda: x.sum(1))
    case("sum_columns_16M", lambda: x.sum(0))
    case("amax_rows_16M", lambda: x.amax(1))
    case("softmax_16M", lambda: torch.softmax(x, 1))
    case("log_softmax_16M", lambda: torch.log_softmax(x, 1))
    w, b = torch.ones(4096, device="cuda"), torch.zeros(4096, device="cuda")
    case("layer_norm_16M", lambda: torch.nn.functional.layer_norm(x, (4096,), w, b))
    case("cumsum_16M", lambda: x.cumsum(1))
    case("var_16M", lambda: x.var(1))


def order(torch, case):
    x = torch.randn(1_000_000, device="cuda")
    rows = torch.randint(0, 1_000_000, (1_000_000,), device="cuda")
    table = torch.randn(50_000, 256, device="cuda")
    words = torch.randint(0, 50_000, (20_000,), device="cuda")
    case("sort_1M", lambda: x.sort())
    case("topk_1M", lambda: x.topk(100))
    case("index_select_1M", lambda: x.index_select(0, rows))
    case("embedding_20k", lambda: torch.nn.functional.embedding(words, table))
    case("index_add_1M", lambda: torch.zeros(1_000_000, device="cuda").index_add_(0, rows, x))
    case("randn_16M", lambda: torch.randn(4096, 4096, device="cuda"))


def products(torch, case):
    a, b = (torch.randn(4096, 4096, device="cuda") for _ in range(2))
    h, k = a.to(torch.bfloat16), b.to(torch.bfloat16)
    v = torch.randn(4096, device="cuda")
    c = torch.randn(64, 512, 64, device="cuda")
    case("matmul_4096", lambda: a @ b)
    case("matmul_bf16_4096", lambda: h @ k)
    case("matmul_512", lambda: a[:512, :512] @ b[:512, :512])
    case("matvec_4096", lambda: a @ v)
    case("bmm_64x512x64", lambda: c @ c.transpose(1, 2))


def convolutions(torch, case):
    conv = torch.nn.functional.conv2d
    x, w = torch.randn(32, 64, 56, 56, device="cuda"), torch.randn(64, 64, 3, 3, device="cuda")
    case("conv_64x56x56", lambda: conv(x, w, padding=1))
    case("max_pool_64x56x56", lambda: torch.nn.functional.max_pool2d(x, 2))
    w.requires_grad_()

    def both():
        w.grad = None
        conv(x, w, padding=1).sum().backward()

    case("conv_and_weight_grad", both)


def stepping(torch, net, x, y, optimizer):
    """A step of training: cross entropy of net(x), whose last dimension is classes."""

    def step():
        optimizer.zero_grad()
        out = net(x)
        loss = torch.nn.functional.cross_entropy(out.reshape(-1, out.shape[-1]), y)
        loss.backward()
        optimizer.step()

    return step


def mlp(torch, case):
    nn = torch.nn
    x, y = torch.randn(128, 784, device="cuda"), torch.randint(0, 10, (128,), device="cuda")

    def make(**how):
        net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).to("cuda")
        return stepping(torch, net, x, y, torch.optim.AdamW(net.parameters(), lr=1e-3, **how))

    case("mlp_step_128", make())

    def replay():
        if not graph:  # the first call
            step, side = make(capturable=True), torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(3):
                    step()
            torch.cuda.current_stream().wait_stream(side)
            graph.append(torch.cuda.CUDAGraph())
            with torch.cuda.graph(graph[0]):
                step()
        graph[0].replay()

    graph = []
    case("mlp_step_replayed", replay)
    case("host_mlp_step_replayed", replay, issued)


def fashion(torch, case):
    """The network of examples/fashion."""
    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3136, 128), nn.ReLU(), nn.Linear(128, 10)).to("cuda")
    x, y = torch.randn(64, 1, 28, 28, device="cuda"), torch.randint(0, 10, (64,), device="cuda")
    step = stepping(torch, net, x, y, torch.optim.Adam(net.parameters(), lr=1e-3))
    case("fashion_step_64", step)
    case("fashion_step_peak", step, peak)


def gpt(torch, case):
    """Six layers of width 384 with six heads, 32 texts of 256 letters."""
    nn, f = torch.nn, torch.nn.functional
    batch, length, width, heads, letters = 32, 256, 384, 6, 65

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x):
            parts = (p.view(*x.shape[:2], heads, -1).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
            y = f.scaled_dot_product_attention(*parts, is_causal=True)
            return self.out(y.transpose(1, 2).reshape(x.shape))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.attention = nn.LayerNorm(width), nn.LayerNorm(width), Attention()
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            x = x + self.attention(self.a(x))
            return x + self.mlp(self.b(x))

    net = nn.Sequential(nn.Embedding(letters, width), *(Layer() for _ in range(6)), nn.LayerNorm(width), nn.Linear(width, letters))
    net.to("cuda")
    x = torch.randint(0, letters, (batch, length), device="cuda")
    step = stepping(torch, net, x, x.reshape(-1), torch.optim.AdamW(net.parameters(), lr=1e-3))
    case("gpt_step", step)
    case("gpt_step_peak", step, peak)


def worker(library, only):
    if library == "tensorh":
        import tensorh as torch
    else:
        import torch
    torch.manual_seed(1)

    def case(name, call, measure=batches):
        if only in name:
            try:
                print(name, f"{measure(torch, call, 0.02):.3f}", flush=True)
            except Exception as e:
                print(f"{library} {name}: {type(e).__name__}: {str(e)[:300]}", file=sys.stderr)

    for group in (pointwise, reductions, order, products, convolutions, mlp, fashion, gpt):
        group(torch, case)


def values(library, only):
    command = [sys.executable, os.path.abspath(__file__), "--worker", library, "--only", only]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        print(f"{library}: status {done.returncode}")
    return {name: float(v) for name, v in (line.split() for line in done.stdout.splitlines())}


def said(*command):
    """What a command prints; its name where it cannot be run."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return f"({command[0]} said nothing)"


def save(folder, table):
    ask = "import torch; print(torch.__version__, torch.cuda.get_device_name(), torch.backends.cudnn.version())"
    torch = said(sys.executable, "-c", ask)
    gpu = said("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    tree = said("git", "-C", os.path.dirname(os.path.abspath(__file__)), "rev-parse", "--short", "HEAD")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "".join(c if c.isalnum() else "-" for c in gpu.split(",")[0]) + ".txt")
    with open(path, "w") as f:
        f.write("\n".join([f"GPU: {gpu}", f"torch, its GPU, cuDNN: {torch}", f"tensor.h: {tree}",
                           f"processors: {os.cpu_count()}, {platform.machine()}", "times in us, peaks in MB", "", *table, ""]))
    print(path)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--only", default="")
    p.add_argument("--save")
    p.add_argument("--worker")
    a = p.parse_args()
    if a.worker:
        return worker(a.worker, a.only)
    ours, theirs = [], []
    for k in range(a.rounds):
        for library in ("tensorh", "torch")[:: 1 if k % 2 == 0 else -1]:
            (ours if library == "tensorh" else theirs).append(values(library, a.only))
    table = [f"{'case':24} {'ours':>12} {'torch':>12}   ratio (lowest..highest of {a.rounds})"]
    for name in dict.fromkeys(name for r in ours + theirs for name in r):
        mine, other = [r.get(name) for r in ours], [r.get(name) for r in theirs]
        if None in mine or None in other:
            table.append(f"{name:24} not in every round")
            continue
        ratios = [m / o for m, o in zip(mine, other)]
        table.append(f"{name:24} {statistics.median(mine):12.2f} {statistics.median(other):12.2f}   "
                     f"{statistics.median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f})")
    print("\n".join(table))
    if a.save:
        save(a.save, table)


main()
