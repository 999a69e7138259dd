"""kernels.py - what torch's large operators cost: the twin of kernels.c, case by case."""
import sys
import time

import torch

THREADS, WORDS = int((sys.argv + ["2"])[1]), tuple(sys.argv[2:])
MILLION = 1_000_000


def measure(name, call):
    """Prints `name` and the microseconds of one call: the median of batches of at least 15 ms."""
    if WORDS and not name.startswith(WORDS):
        return
    call()
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            call()
        if time.perf_counter() - start > 15e-3:
            break
        calls *= 2
    batch = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        batch.append((time.perf_counter() - start) * 1e6 / calls)
    print(f"{name} {sorted(batch)[3]:.3f}", flush=True)


def products():
    for m, k, n in ((64, 64, 64), (256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (37, 41, 53), (64, 3136, 128),
                    (32, 1024, 4096), (1, 1024, 1024)):
        a, b = torch.randn(m, k), torch.randn(k, n)
        measure(f"matmul_{m}x{k}x{n}", lambda: a @ b)


def convolutions():
    conv, back = torch.nn.functional.conv2d, torch.ops.aten.convolution_backward
    x, w, b = torch.randn(64, 1, 28, 28), torch.randn(32, 1, 3, 3), torch.randn(32)
    x2, w2, b2 = torch.randn(64, 32, 14, 14), torch.randn(64, 32, 3, 3), torch.randn(64)
    g, g2 = torch.randn(64, 32, 28, 28), torch.randn(64, 64, 14, 14)

    def grad(g, x, w, mask):
        return back(g, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, mask)
    measure("conv1", lambda: conv(x, w, b, padding=1))
    measure("conv1_weight_grad", lambda: grad(g, x, w, [False, True, False]))
    measure("conv2", lambda: conv(x2, w2, b2, padding=1))
    measure("conv2_weight_grad", lambda: grad(g2, x2, w2, [False, True, False]))
    measure("conv2_input_grad", lambda: grad(g2, x2, w2, [True, False, False]))
    measure("max_pool", lambda: torch.ops.aten.max_pool2d_with_indices(g, 2))
    measure("relu_64x32x28x28", lambda: torch.relu(g))


def passes():
    a, b, m = torch.randn(MILLION), torch.randn(MILLION), torch.randn(1000, 1000)
    measure("add_1M", lambda: torch.add(a, b))
    measure("add_transposed_1M", lambda: torch.add(m, m.t()))
    measure("exp_1M", lambda: torch.exp(a))
    measure("sum_1M", lambda: torch.sum(a))
    measure("sum_rows_1M", lambda: torch.sum(m, 1))
    measure("sum_columns_1M", lambda: torch.sum(m, 0))
    measure("softmax_1000x1000", lambda: torch.softmax(m, 1))
    measure("randn_1M", lambda: torch.randn(MILLION))


torch.set_num_threads(THREADS)
torch.manual_seed(1)
products()
convolutions()
passes()
