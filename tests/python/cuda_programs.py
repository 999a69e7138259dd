"""Programs of test_cuda.py. `python cuda_programs.py NAME` runs one on devices; all for
which there are devices, each in a process, without NAME: "N passed, N failed" is the last line."""

import copy
import io
import os
import pickle
import subprocess
import sys
import threading

from cuda_base import Net, raises
from cuda_graphs import (
    accelerator_graph,
    captured_optimizers,
    graph_refusals,
    graphed_callables,
    graphs,
)

import tensorh as torch

LAST = max(torch.cuda.device_count() - 1, 0)  # another device where there are two, else the one


def tensors():
    assert not torch.cuda.is_initialized()
    assert torch.cuda.is_available() and torch.cuda.device_count() > 0
    assert not torch.cuda.is_initialized()
    x = torch.full((2, 3), 1.5, device="cuda")
    assert torch.cuda.is_initialized()
    assert x.device == torch.device("cuda:0") == torch.device("cuda", 0) == torch.device(0)
    assert (x.is_cuda, x.is_cpu, x.get_device()) == (True, False, 0)
    assert repr(x[0]) == "tensor([1.5000, 1.5000, 1.5000], device='cuda:0')"
    assert x.tolist() == [[1.5] * 3] * 2 and x[0, 0].item() == 1.5 == float(x[0, 0])
    y = torch.tensor([1, 2, 3], device=f"cuda:{LAST}")
    assert y.device.index == LAST and y.cpu().tolist() == [1, 2, 3]
    assert torch.ones(1, device=LAST).get_device() == LAST == x.to(LAST).get_device()
    assert x.to(0) is x.cuda() is x.to("cuda") is x and x.cpu().cuda(LAST).device.index == LAST
    assert torch.zeros_like(x).device == x.device == x.new_tensor([1]).device
    assert x.data_ptr() and x[1].data_ptr() - x.data_ptr() == 12
    assert torch.zeros(2, 2, device=torch.device("cuda"))[torch.tensor(1).item()].sum() == 0
    assert not x.is_pinned()


def arithmetic():
    torch.manual_seed(3)
    a, b = torch.randn(7, 9), torch.randn(9)

    def compute(a, b):
        r = (a * b + 2).exp() / (a.abs() + 1)
        return r, r.sum(0), r.t().mean(1), r.amax(), (r > 1).int().sum(), r.double().sqrt()

    for host, device in zip(compute(a, b), compute(a.cuda(), b.cuda()), strict=True):
        assert device.is_cuda and device.dtype is host.dtype
        assert torch.equal(device.cpu(), host)


def training():
    def losses(device, optimizer, **options):
        torch.manual_seed(1)
        net = Net().to(device)
        x, y = torch.randn(16, 4).to(device), torch.randn(16, 2).to(device)
        step = optimizer(net.parameters(), **options)
        found = []
        for _ in range(12):
            step.zero_grad()
            loss = torch.nn.functional.mse_loss(net(x), y)
            loss.backward()
            assert all(p.grad.device == p.device == x.device for p in net.parameters())
            step.step()
            found.append(loss.item())
        return found

    for how in ({"optimizer": torch.optim.SGD, "lr": 0.1, "momentum": 0.9},
                {"optimizer": torch.optim.AdamW, "lr": 0.01}):  # fmt: skip
        host = losses("cpu", **how)
        assert host[-1] < 0.9 * host[0] and losses("cuda", **how) == host
        assert losses(f"cuda:{LAST}", **how) == host


def modules():
    net = Net()
    weight = net.a.weight
    assert net.cuda() is net and net.a.weight is weight and weight.is_cuda
    assert {t.device for t in net.state_dict().values()} == {torch.device("cuda:0")}
    assert net.to(f"cuda:{LAST}").b.bias.get_device() == LAST
    assert net.to(LAST).b.bias.get_device() == LAST
    assert net.cpu().b.bias.is_cpu and net.to(torch.device("cuda", 0)).b.bias.is_cuda
    assert Net().cuda(LAST).a.weight.get_device() == LAST


def current_device():
    cuda = torch.cuda
    assert cuda.current_device() == 0
    with cuda.device(1):
        assert cuda.current_device() == 1 and torch.ones(1, device="cuda").get_device() == 1
        seen = []
        thread = threading.Thread(target=lambda: seen.append(cuda.current_device()))
        thread.start()
        thread.join()
        assert seen == [0]
    assert cuda.current_device() == 0
    with cuda.device(None), cuda.device("cuda:1"), cuda.device_of(torch.ones(1, device="cuda:0")):
        assert cuda.current_device() == 0
    cuda.set_device("cuda:1")
    cuda.set_device(-1)
    assert cuda.current_device() == 1 == torch.accelerator.current_device_index()
    torch.set_default_device("cuda")
    assert torch.ones(1).get_device() == 1
    cuda.set_device(0)
    assert torch.zeros(1).get_device() == 0
    assert torch.get_default_device() == torch.device("cuda:0")
    torch.set_default_device(None)
    with torch.device("cuda:1"):
        assert torch.tensor([1.0]).get_device() == 1
    assert torch.ones(1).is_cpu
    raises(ValueError, "Expected a cuda device, but got: cpu", lambda: cuda.set_device("cpu"))
    raises(ValueError, "with a specified index", lambda: cuda.set_device("cuda"))
    raises(RuntimeError, "'cuda:2' here: the last one is cuda:1", lambda: cuda.set_device(2))
    raises(RuntimeError, "'cuda:7' here", lambda: torch.ones(1, device="cuda:7"))


def facts():
    cuda = torch.cuda
    p = cuda.get_device_properties(1)
    assert cuda.get_device_name(1) == p.name == "emulated device 1"
    assert cuda.get_device_capability() == (9, 0) == (p.major, p.minor)
    assert p.total_memory == 1 << 30 and p.multi_processor_count == 4
    assert "name='emulated device 1', major=9, minor=0, total_memory=1024MB" in repr(p)
    assert torch.version.cuda == "13.0" and torch.backends.cuda.is_built()
    assert torch.backends.cuda.is_available() and not torch.backends.cudnn.is_available()
    a = torch.accelerator
    assert a.is_available() and a.device_count() == 2
    assert a.current_accelerator() == torch.device("cuda")
    a.synchronize()
    cuda.synchronize(torch.device("cuda:1"))
    assert cuda.is_bf16_supported()
    assert torch.Generator("cuda").device == torch.device("cuda:0")
    assert torch.Generator("cuda:1").clone_state().device.index == 1
    cuda.manual_seed_all(5)
    assert torch.initial_seed() == 5


def memory():
    cuda = torch.cuda
    assert cuda.memory_allocated() == cuda.max_memory_allocated() == cuda.memory_reserved() == 0
    x = torch.zeros(1 << 20, device="cuda")
    assert cuda.memory_allocated() == 4 << 20 and cuda.memory_reserved() >= 4 << 20
    y = x + 1
    del y
    assert cuda.memory_allocated("cuda:0") == 4 << 20
    assert cuda.max_memory_allocated() == 8 << 20
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == 4 << 20 and cuda.memory_allocated(1) == 0
    stats = cuda.memory_stats()
    assert stats["allocated_bytes.all.current"] == 4 << 20
    assert "allocated_bytes.all.peak" in cuda.memory_summary()
    free, whole = cuda.mem_get_info()
    assert whole == 1 << 30 and free == whole - cuda.memory_reserved()
    assert cuda.mem_get_info(1)[1] == whole
    cuda.empty_cache()


def files():
    x = torch.arange(12.0).reshape(3, 4).cuda()
    f = io.BytesIO()
    torch.save({"x": x, "column": x[:, 1:3], "t": x.t(), "h": torch.ones(2), "d": x.device}, f)

    def load(**options):
        f.seek(0)
        return torch.load(f, **options)

    same = load()
    assert same["x"].device == x.device == same["d"] and torch.equal(same["x"].cpu(), x.cpu())
    assert same["column"].tolist() == x[:, 1:3].tolist() and same["h"].is_cpu
    same["x"][0, 1] = 50
    assert same["column"][0, 0] == 50 and same["t"][1, 0] == 50
    assert load(map_location="cpu")["t"].is_cpu
    assert load(map_location="cuda")["h"].is_cuda
    assert load(map_location=torch.device("cuda", LAST))["x"].get_device() == LAST
    assert load(map_location={"cuda:0": f"cuda:{LAST}"})["column"].get_device() == LAST
    assert load(map_location=lambda s, at: s)["x"].is_cpu
    assert load(map_location=lambda s, at: s.cuda(LAST))["x"].get_device() == LAST
    part = x.t()[1:, 1:]
    f = io.BytesIO()
    torch.save(part, f)
    assert load().tolist() == part.tolist()


def pickles():
    matrix = torch.arange(6.0).reshape(2, 3).cuda()
    p = torch.nn.Parameter(torch.ones(2).cuda(LAST))
    for x in (matrix, p, matrix.t(), torch.zeros(0, 3, device="cuda")):
        for protocol in (2, 5):
            y = pickle.loads(pickle.dumps(x, protocol))
            assert type(y) is type(x) and y.device == x.device and y.stride() == x.stride()
            assert y.tolist() == x.tolist() and y.requires_grad == x.requires_grad
        z = copy.deepcopy(x)
        assert z.device == x.device and z.tolist() == x.tolist()
    for device in ("cuda", "cuda:1", "cuda:63"):
        device = torch.device(device)
        assert pickle.loads(pickle.dumps(device)) == device == copy.copy(device)
        assert hash(device) == hash(torch.device(str(device)))
    assert torch.device("cuda") != torch.device("cuda:0")
    assert pickle.loads(pickle.dumps(torch.Generator(f"cuda:{LAST}"))).device.index == LAST


def other_libraries():
    x = torch.ones(2, device=LAST, requires_grad=True)
    text = (
        f"can't convert cuda:{LAST} device type tensor to numpy. Use Tensor.cpu() to copy the "
        "tensor to host memory first."
    )
    raises(TypeError, text, x.numpy)
    raises(TypeError, text, x.detach().numpy)
    assert x.numpy(force=True).tolist() == [1, 1]
    raises(BufferError, "not on the CPU", lambda: memoryview(x.detach()))
    x = x.detach()
    assert x.__dlpack_device__() == (2, LAST) and torch.ones(1).__dlpack_device__() == (1, 0)
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    raises(BufferError, "CUDA", lambda: x.__dlpack__(dl_device=(1, 0)))


def errors():
    x = torch.ones(3, device="cuda")
    raises(RuntimeError, "cuda:1", lambda: x + torch.ones(3, device="cuda:1"))
    raises(RuntimeError, "cuda:0", lambda: x + torch.ones(3))
    assert (x + torch.tensor(2.0)).tolist() == [3, 3, 3]
    raises(RuntimeError, "Invalid device, must be cuda device", lambda: x.cuda("cpu"))
    raises(RuntimeError, "Device index must not be negative", lambda: x.to(-1))
    raises(TypeError, "device", lambda: torch.ones(1, device=True))
    raises(RuntimeError, "meta", lambda: torch.Generator("meta"))
    assert (x * 2).tolist() == [2, 2, 2]


def fork():
    x = torch.ones(3, device="cuda")
    child = os.fork()
    if not child:
        try:
            raises(RuntimeError, "'spawn' start method", lambda: torch.ones(1, device="cuda"))
            assert torch.ones(2).sum() == 2
        except BaseException as e:
            print(e)
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0 and x.sum() == 3


def loading():
    data = torch.utils.data.TensorDataset(torch.arange(8.0), torch.arange(8))
    loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=2, pin_memory=True)
    got = [(x.to("cuda", non_blocking=True) + 1, y) for x, y in loader]
    assert [x.tolist() for x, _ in got] == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert all(x.is_cuda and y.is_cpu for x, y in got)


def streams():
    own = torch.cuda.default_stream()
    assert torch.cuda.current_stream() is own and own.cuda_stream == 0
    s, other = torch.cuda.Stream(), torch.cuda.Stream(device=1, priority=-1)
    assert s != own and s == s and len({s, own, s}) == 2 and s.cuda_stream
    assert (s.device, other.device) == (torch.device("cuda:0"), torch.device("cuda:1"))
    assert (s.priority, other.priority, other.device_index) == (0, -1, 1)
    assert repr(s).startswith("<torch.cuda.Stream device=cuda:0 cuda_stream=0x")
    with torch.cuda.stream(s):
        assert torch.cuda.current_stream() is s
        with torch.cuda.stream(other), torch.cuda.stream(None):
            assert torch.cuda.current_device() == 1
            assert torch.cuda.current_stream() is other and torch.cuda.current_stream(0) is s
        assert torch.cuda.current_device() == 0 and torch.cuda.current_stream() is s
    assert torch.cuda.current_stream() is own
    torch.cuda.set_stream(s)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(torch.cuda.current_stream()))
    thread.start()
    thread.join()
    assert seen == [own] and torch.cuda.current_stream() is s
    torch.cuda.set_stream(own)
    torch.cuda.set_stream(None)
    again = torch.cuda.StreamContext(s)
    with again, again:
        assert torch.cuda.current_stream() is s
    assert torch.cuda.current_stream() is own
    raises(NotImplementedError, "handle", lambda: torch.cuda.Stream(stream_ptr=1))
    raises(RuntimeError, "'cuda:7'", lambda: torch.cuda.Stream(7))


def events():
    s = torch.cuda.Stream()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    assert begin.query() and repr(begin) == "<torch.cuda.Event uninitialized>"
    begin.synchronize()
    raises(ValueError, "must be recorded before", lambda: begin.elapsed_time(end))
    x = torch.full((20, 30), 2.0, device="cuda")
    begin.record()
    s.wait_event(begin)
    with torch.cuda.stream(s):
        y = x * x
        end.record()
    torch.cuda.current_stream().wait_event(end)
    assert (y + x).sum().item() == 6 * 600
    end.synchronize()
    assert end.query() and begin.query() and begin.elapsed_time(end) >= 0
    assert repr(end) == "<torch.cuda.Event>"
    plain = s.record_event()
    plain.wait()
    raises(RuntimeError, "made with timing", lambda: begin.elapsed_time(plain))
    assert s.record_event(plain) is plain
    s.synchronize()
    assert s.query() and plain.query()
    torch.cuda.synchronize()
    raises(NotImplementedError, "one process", lambda: torch.cuda.Event(interprocess=True))
    raises(RuntimeError, "of cuda:0, the stream of cuda:1",
           lambda: begin.record(torch.cuda.default_stream(1)))  # fmt: skip


def towers(device, a=None, b=None):
    """Gradients of two towers, in a stream each."""
    x, w, v = (
        torch.full((4, 4), n, device=device, requires_grad=True) for n in (0.5, 0.25, 0.75)
    )
    if a is None:
        loss = (x @ w).tanh().t().square().sum() + (x * v).sigmoid().sum()
    else:
        own = torch.cuda.current_stream()
        a.wait_stream(own)
        b.wait_stream(own)
        with torch.cuda.stream(a):
            p = (x @ w).tanh().t().square().sum()
        with torch.cuda.stream(b):
            q = (x * v).sigmoid().sum()
        own.wait_stream(a)
        own.wait_stream(b)
        loss = p + q
    loss.backward()
    return [t.tolist() for t in (loss, x.grad, w.grad, v.grad)]


def streams_and_gradients():
    want = towers("cpu")
    a, b = torch.cuda.Stream(), torch.cuda.Stream()
    for _ in range(3):
        assert towers("cuda", a, b) == want
    assert torch.cuda.current_stream() is torch.cuda.default_stream()
    with torch.cuda.stream(a):
        x = torch.full((100,), 3.0, device="cuda")
        x.record_stream(torch.cuda.default_stream())
        del x
    raises(RuntimeError, "the tensor is on cpu", lambda: torch.ones(1).record_stream(a))


def figures():
    cuda, a = torch.cuda, torch.accelerator
    assert cuda.memory_snapshot() == [] and cuda.max_memory_reserved() == 0
    assert cuda.default_generators == (torch._C.default_generator,) * 2
    x, y = torch.zeros(1000, device="cuda"), torch.zeros(3 << 20, device="cuda:1")
    blocks = []
    for segment in cuda.memory_snapshot():
        device, own = segment["device"], segment["blocks"]
        assert sum(b["size"] for b in own) == segment["total_size"] and own[0]["address"]
        assert own[0]["address"] == segment["address"]
        used = sum(b["size"] for b in own if b["state"] == "active_allocated")
        assert used == segment["allocated_size"] == segment["active_size"]
        blocks += [(device, b["address"], b["size"]) for b in own]
    assert sum(b[2] for b in blocks if b[0] == 1) == cuda.memory_reserved(1)
    assert [b[0] for b in blocks if b[1] == y.data_ptr()] == [1]
    assert [b[0] for b in blocks if b[1] == x.data_ptr()] == [0]
    raises(NotImplementedError, "no pools", lambda: cuda.memory_snapshot((0, 1)))
    most = a.max_memory_reserved(1)
    assert most == cuda.memory_reserved(1) >= 12 << 20
    del y
    cuda.empty_cache()
    assert cuda.memory_reserved(1) < most == cuda.max_memory_reserved(1)
    assert cuda.memory_stats_as_nested_dict(1)["reserved_bytes"]["all"]["peak"] == most
    a.reset_accumulated_memory_stats(1)
    assert a.memory_stats(1)["reserved_bytes.all.peak"] == most
    a.reset_peak_memory_stats(1)
    assert cuda.max_memory_reserved(1) == cuda.memory_reserved(1)
    assert cuda.get_per_process_memory_fraction(1) == 1.0
    cuda.set_per_process_memory_fraction(0.125, 1)
    assert cuda.get_per_process_memory_fraction(1) == 0.125
    assert cuda.get_per_process_memory_fraction() == 1.0
    raises(torch.OutOfMemoryError, "", lambda: torch.zeros(40 << 20, device="cuda:1"))
    cuda.set_per_process_memory_fraction(1.0, 1)
    assert torch.zeros(40 << 20, device="cuda:1").is_cuda
    raises(ValueError, "Allowed range", lambda: cuda.set_per_process_memory_fraction(1.5))
    raises(TypeError, "must be `float`", lambda: cuda.set_per_process_memory_fraction(1))
    assert cuda.can_device_access_peer(0, 1) is False
    raises(AssertionError, "Invalid peer device id", lambda: cuda.can_device_access_peer(0, 2))
    cuda.set_sync_debug_mode("default")
    assert cuda.get_sync_debug_mode() == 0 and cuda.ipc_collect() is None
    raises(NotImplementedError, "not watched", lambda: cuda.set_sync_debug_mode("warn"))
    raises(RuntimeError, "invalid value of debug_mode", lambda: cuda.set_sync_debug_mode("no"))
    assert torch.float16 in a.get_device_capability()["supported_dtypes"]


def types():
    cuda = torch.cuda
    x = cuda.FloatTensor(2, 3)
    assert x.is_cuda and x.shape == (2, 3) and x.type() == "torch.cuda.FloatTensor"
    assert isinstance(x, cuda.FloatTensor) and not isinstance(x, torch.FloatTensor)
    assert cuda.LongTensor([1, 2]).tolist() == [1, 2] and cuda.LongTensor([1]).is_cuda
    y = torch.ones(2).type("torch.cuda.HalfTensor")
    assert y.is_cuda and y.dtype is torch.float16 and y.type(torch.FloatTensor).is_cpu
    assert y.type(torch.float32).is_cuda and x.type(cuda.FloatTensor) is x
    sparse = torch.ones(2, 2).to_sparse()
    assert sparse.type() == "torch.sparse.FloatTensor"
    s = cuda.IntStorage([1, 2, 3])
    assert s.is_cuda and s.tolist() == [1, 2, 3] and isinstance(s, cuda.IntStorage)
    assert not isinstance(s, torch.IntStorage)
    raises(RuntimeError, "Not available", lambda: cuda.IntStorage.from_buffer(b"1234", "native"))
    raises(TypeError, "base type", lambda: type("T", (cuda.FloatTensor,), {}))
    torch.set_default_tensor_type("torch.cuda.DoubleTensor")
    z = torch.ones(2)
    assert z.is_cuda and z.dtype is torch.float64
    torch.set_default_tensor_type(torch.FloatTensor)
    assert torch.ones(2).is_cpu


def copies_between():
    """Each stream is behind what it reads; memory is used again behind the copy."""
    a, b = torch.cuda.Stream(0), torch.cuda.Stream(1)
    found = []
    for i in range(4):
        with torch.cuda.stream(a):
            x = torch.full((50, 40), float(i), device="cuda:0")
            x = (x + 1).exp()
            with torch.cuda.stream(b):
                y = x.to("cuda:1") * 2
                z = x.t()[1:7].to("cuda:1", torch.float64)
                w = torch.zeros(40, 50, device="cuda:1")
                w.t().copy_(x)
                back = w.to("cuda:0")
            del x
            torch.zeros(50, 40, device="cuda:0")  # where x was
            found.append((y, z, w, back))
    torch.cuda.synchronize(0)
    torch.cuda.synchronize(1)
    for i, (y, z, w, back) in enumerate(found):
        want = torch.full((50, 40), float(i) + 1).exp()
        assert torch.equal(y.cpu(), want * 2) and torch.equal(w.cpu(), want.t())
        assert torch.equal(z.cpu(), want.t()[1:7].double()) and torch.equal(back.cpu(), want.t())
    x = torch.ones(3, device="cuda:0", requires_grad=True)
    (x.to("cuda:1") * 3).sum().backward()
    assert x.grad.tolist() == [3, 3, 3] and x.grad.device.index == 0


def messages():
    """A message is behind what either side asked before; who waits is behind the copy."""
    import threading

    import tensorh.distributed as dist

    def body(rank):
        dist.init_process_group("threads", rank=rank, world_size=2)
        device = f"cuda:{rank * LAST}"
        with torch.cuda.stream(torch.cuda.Stream(device)):
            for i in range(6):
                x = torch.zeros(50, 40, device=device)
                if rank == i % 2:
                    x = (x + i).exp()
                    work = dist.isend(x, 1 - rank)
                else:
                    work = dist.irecv(x, 1 - rank)
                if i < 4:  # either comes second
                    dist.barrier()
                work.wait()
                y = x * 2
                x.zero_()
                want = torch.full((50, 40), float(i)).exp() * 2
                seen.append(torch.equal(y.cpu(), want))
        dist.destroy_process_group()

    seen = []
    threads = [threading.Thread(target=body, args=(r,)) for r in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert seen == [True] * 12


def plans():
    cuda = torch.cuda

    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(64, 256).to("cuda:0")
            self.second = torch.nn.Linear(256, 8).to("cuda:1")

        def forward(self, x):
            return self.second(torch.relu(self.first(x)).softmax(1).to("cuda:1"))

    def step():
        net = Two()
        of_each = [torch.optim.Adam(m.parameters()) for m in (net.first, net.second)]
        for _ in range(2):
            net(torch.randn(128, 64, device="cuda:0")).square().mean().backward()
            for adam in of_each:
                adam.step()
                adam.zero_grad()

    torch.ones(1, device="cuda:1")
    plan = torch.will_it_fit(step, memory=300_000)
    assert [p.device for p in plan.devices] == ["cpu", "cuda:0", "cuda:1"] and not plan
    assert cuda.max_memory_allocated(0) == 0 and cuda.memory_allocated(1) == 0
    step()
    for i in range(2):
        peak = cuda.max_memory_allocated(i)
        print(i, plan[f"cuda:{i}"].peak, peak)
        assert abs(plan[f"cuda:{i}"].peak - peak) <= 0.05 * peak
    assert not plan["cuda:0"].fits and plan["cuda:0"].parts[0].file.endswith("cuda_programs.py")
    assert str(plan).count("peak") == 3
    # arguments of a device are copied there, without their data
    net, x = torch.nn.Linear(8, 8).to("cuda:0"), torch.ones(100, 8, device="cuda:0")
    before = cuda.memory_allocated(0)
    plan = torch.will_it_fit(lambda net, x: net(x).sum().backward(), net, x)
    assert cuda.memory_allocated(0) == before and plan["cuda:0"].peak >= 2 * 3200
    assert net.weight.grad is None and net(x).shape == (100, 8)
    raises(RuntimeError, "cannot write a tensor of cuda:0", lambda: torch.will_it_fit(x.zero_))
    zeros = torch.zeros_like(x)
    raises(RuntimeError, "cannot write a tensor of cuda:0",
           lambda: torch.will_it_fit(lambda: x.copy_(zeros)))  # fmt: skip
    here = "cuda"
    raises(ValueError, "makes tensors on cuda:0 by its name",
           lambda: torch.will_it_fit(lambda: torch.ones(3, device=here), device=here))  # fmt: skip

    def rated():  # a rate without data
        p = torch.nn.Parameter(torch.ones(3, device="cuda"))
        p.grad = torch.ones_like(p)
        rate = torch.full((1,), 0.5, device="cuda")
        torch.optim.Rprop([p], lr=rate, capturable=True).step()

    assert not torch.will_it_fit(rated, memory={"cuda": 1000})
    assert torch.will_it_fit(rated, memory={"cuda": 100_000})
    assert x.sum() == 800


def gradients():
    torch.manual_seed(3)
    f = torch.nn.functional

    def random(*shape):
        return torch.rand(shape, dtype=torch.float64).add(0.25).cuda().requires_grad_()

    a, b, x, w = random(3, 4), random(4, 3), random(1, 2, 5, 5), random(2, 2, 3, 3)
    target = torch.tensor([0, 2, 1], device="cuda")
    for call, inputs in (
        (lambda a: (a.exp() * a.sqrt()).logsumexp(1), (a,)),
        (lambda a, b: torch.softmax(a @ b, 1).cumsum(0), (a, b)),
        (lambda a, b: f.cross_entropy(f.gelu(a @ b), target), (a, b)),
        (lambda a: f.layer_norm(a, (4,)).var(1), (a,)),
        (lambda x, w: f.max_pool2d(f.conv2d(x, w, padding=1).tanh(), 2), (x, w)),
        (lambda a: torch.linalg.inv(a[:, :3] + 3 * torch.eye(3, device="cuda").double()), (a,)),
        (lambda a: a.sort(1).values[:, 1:].prod(1) + a[target].norm(), (a,)),
    ):
        assert torch.autograd.gradcheck(call, inputs)
        assert torch.autograd.gradgradcheck(call, inputs)


def examples():
    """The losses of examples/python/ on a device, in exact mode: those of the CPU."""
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../examples/python"))
    digits = __import__("digits")
    load = digits.load
    digits.load = lambda *how: [t.to(torch.get_default_device()) for t in load(*how)]
    emulated = torch.cuda.get_device_name().startswith("emulated")
    names = ["regression_adam", "char_transformer", "fashion_cnn", "vae", "maml", "pinn", "gan_gp",
             "resnet", "dqn"] + ["lstm_lm"] * (not emulated)  # fmt: skip
    for name in names:
        example, steps = __import__(name), 1 if emulated else 20
        host = example.main(steps=steps)
        with torch.device("cuda"):
            assert example.main(steps=steps) == host, name


PROGRAMS = (
    tensors, arithmetic, training, modules, files, pickles, other_libraries, fork, loading,
    streams_and_gradients, graphs, graph_refusals, captured_optimizers, graphed_callables, types,
    accelerator_graph, gradients, examples,
)  # fmt: skip
# These need two devices; and `facts`, `memory` the emulation's.
PROGRAMS_OF_TWO = (
    current_device, errors, streams, events, figures, copies_between, messages, plans,
)  # fmt: skip
PROGRAMS_OF_THE_EMULATION = (facts, memory)


def run_all():
    failed = 0
    programs = PROGRAMS + (PROGRAMS_OF_TWO if torch.cuda.device_count() > 1 else ())
    for program in programs:
        done = subprocess.run([sys.executable, __file__, program.__name__])
        failed += done.returncode != 0
        print("FAILED" if done.returncode else "ok", program.__name__, flush=True)
    print(f"{len(programs) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]]() if len(sys.argv) > 1 else run_all())
