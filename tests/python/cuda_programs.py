"""Programs of test_cuda.py. `python cuda_programs.py NAME` runs one on devices; all for
which there are devices, each in a process, without NAME: "N passed, N failed" is the last line."""

import copy
import io
import os
import pickle
import subprocess
import sys
import threading

import tensorh as torch

LAST = max(torch.cuda.device_count() - 1, 0)  # another device where there are two, else the one


def raises(error, text, call):
    try:
        call()
    except error as e:
        assert text in str(e), (text, str(e))
    else:
        raise AssertionError(f"no {error.__name__}: {text}")


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


class Net(torch.nn.Module):
    """Linear, ReLU, Linear."""

    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(4, 8)
        self.b = torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.b(self.a(x).relu())


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


def graph_steps(captured):
    """The loss and weights of steps: one that warms up, then three, with a graph or without."""
    torch.manual_seed(4)
    net = torch.nn.Sequential(torch.nn.Embedding(9, 6), torch.nn.Dropout(0.4), Net6()).cuda()
    x, y = torch.arange(6).cuda(), torch.arange(6).cuda() % 2
    step = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def run():
        step.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        step.step()
        return loss

    found = [run().item()]
    if captured:
        before = [p.tolist() for p in net.parameters()]
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g):
            assert torch.cuda.is_current_stream_capturing()
            loss = run()
        assert not torch.cuda.is_current_stream_capturing()
        assert [p.tolist() for p in net.parameters()] == before  # nothing was computed
        places = [loss.data_ptr(), *(p.data_ptr() for p in net.parameters())]
    for i in range(3):
        x.copy_(torch.arange(6) + i)
        if captured:
            g.replay()
        else:
            loss = run()
        found.append(loss.item())
    if captured:
        assert places == [loss.data_ptr(), *(p.data_ptr() for p in net.parameters())]
        assert len(g.pool()) == 2
        g.reset()
        raises(RuntimeError, "without a preceding successful capture", g.replay)
    return found, [p.tolist() for p in net.parameters()]


class Net6(torch.nn.Module):
    """Linear, tanh, batch norm, Linear."""

    def __init__(self):
        super().__init__()
        self.a, self.norm = torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8)
        self.b = torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.b(self.norm(self.a(x).tanh()))


def graphs():
    want = graph_steps(False)
    assert len(set(want[0])) == 4
    assert graph_steps(True) == want


def graph_refusals():
    cuda = torch.cuda
    x, host, made = torch.ones(3, device="cuda"), torch.zeros(3), []
    g = cuda.CUDAGraph()
    raises(RuntimeError, "captured on a non-default stream", g.capture_begin)
    raises(RuntimeError, "no capture into this graph is under way", g.capture_end)
    raises(RuntimeError, "CUDAGraph::replay without a preceding", g.replay)
    raises(RuntimeError, "CUDAGraph::pool() without a preceding", g.pool)
    side = cuda.Stream()
    with cuda.stream(side):
        raises(RuntimeError, "Unknown capture error mode", lambda: g.capture_begin((0, 1), "none"))
        g.capture_begin(pool=cuda.graph_pool_handle(), capture_error_mode="relaxed")
        waits = [x[0].item, x.tolist, x.cpu, x.nonzero, cuda.synchronize, lambda: repr(x)]
        waits += [lambda: bool(x[0] > 0), lambda: host.copy_(x), lambda: x[x > 0], side.synchronize]
        for wait in waits:
            raises(NotImplementedError, "", wait)
        raises(RuntimeError, "already owns", g.capture_begin)
        raises(RuntimeError, "already in progress", cuda.CUDAGraph().capture_begin)
        made.append(x + torch.tensor([1.0, 2.0, 3.0], device="cuda"))
        made.append(host.add_(1).sum().item())  # of the CPU, at once and no part of the graph
        with cuda.stream(cuda.Stream()):
            raises(RuntimeError, "must end on the same stream", g.capture_end)
        g.capture_end()
    g.replay()
    assert made[0].tolist() == [2, 3, 4] and made[1] == 3 and host.tolist() == [1] * 3
    x.fill_(5)
    g.replay()
    assert made[0].tolist() == [6, 7, 8] and host.tolist() == [1] * 3
    empty = cuda.CUDAGraph()
    try:
        with cuda.graph(empty, stream=side):
            assert cuda.current_stream() is side
            raise KeyError("within")
    except KeyError:
        assert not cuda.is_current_stream_capturing()
        assert cuda.current_stream() is cuda.default_stream()
    raises(RuntimeError, "without a preceding", empty.replay)
    adam = torch.optim.Adam([x.requires_grad_()])
    x.grad = torch.ones_like(x)
    with cuda.graph(empty):
        raises(RuntimeError, "capturable is False", adam.step)
    errors = []

    def elsewhere():
        try:
            g.replay()
        except RuntimeError as e:
            errors.append(str(e))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert "must belong to this thread" in errors[0]


def optimizer_steps(kind, capturable, captured, **more):
    """The parameter and what counts its steps after 8 steps, of which 7 are replays if captured."""
    p = torch.nn.Parameter(torch.arange(6, dtype=torch.float32, device="cuda") / 4)
    x, graph = torch.zeros(6, device="cuda"), torch.cuda.CUDAGraph()
    optimizer = kind([p], capturable=capturable, **more)

    def step():
        optimizer.zero_grad()
        ((p + 0.5 - x) ** 2).sum().backward()
        optimizer.step()

    for i in range(8):
        if captured and i == 1:
            with torch.cuda.graph(graph):
                step()
        x.add_(0.25)
        if captured and i:
            graph.replay()
        else:
            step()
    return p.detach().cpu(), optimizer.state_dict()["state"][0]


def rated_steps(kind, rate, captured, **more):
    """The parameter after six steps with a rate that a schedule halves."""
    p = torch.nn.Parameter(torch.arange(6, dtype=torch.float32, device="cuda") / 4)
    optimizer = kind([p], lr=rate, capturable=True, **more)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    graph = torch.cuda.CUDAGraph()

    def step():
        optimizer.zero_grad()
        ((p + 0.5) ** 2).sum().backward()
        optimizer.step()

    step()
    schedule.step()
    if captured:
        with torch.cuda.graph(graph):
            step()
    for _ in range(5):
        graph.replay() if captured else step()
        schedule.step()
    assert optimizer.param_groups[0]["lr"] is rate or isinstance(rate, float)
    return p.detach().cpu()


def rates_of_graphs():
    """A rate that is a tensor is read at each replay; a schedule writes it."""
    o = torch.optim
    kinds = {
        o.Adam: {}, o.Adamax: {}, o.NAdam: {}, o.RAdam: {}, o.Rprop: {},
        o.AdamW: {"weight_decay": 0.1}, o.ASGD: {}, o.RMSprop: {"momentum": 0.5, "centered": True},
        o.Adadelta: {},
    }  # fmt: skip
    for i, (kind, more) in enumerate(kinds.items()):
        eager = rated_steps(kind, torch.tensor(0.1, device="cuda"), False, **more)
        replayed = rated_steps(kind, torch.tensor(0.1, device="cuda"), True, **more)
        shaped = rated_steps(kind, torch.tensor([0.1], device="cuda"), True, **more)
        number = rated_steps(kind, 0.1, False, **more)
        assert torch.equal(eager, replayed) and torch.equal(eager, shaped), kind
        assert torch.equal(eager, number) if i < 5 else torch.allclose(eager, number), kind


def captured_optimizers():
    o = torch.optim
    kinds = {
        o.Adam: {"amsgrad": True}, o.AdamW: {}, o.Adamax: {}, o.NAdam: {"weight_decay": 0.1},
        o.RAdam: {}, o.ASGD: {"t0": 2}, o.Adadelta: {}, o.RMSprop: {"centered": True}, o.Rprop: {},
    }  # fmt: skip
    for kind, more in kinds.items():
        host, _ = optimizer_steps(kind, False, False, **more)
        eager, state = optimizer_steps(kind, True, False, **more)
        replayed, counted = optimizer_steps(kind, True, True, **more)
        assert torch.equal(eager, replayed), kind
        assert torch.allclose(host, eager, rtol=1e-4, atol=1e-4), kind
        for s in (state, counted):
            assert s["step"].is_cuda and s["step"].item() == 8 and s["step"].shape == ()
    rates_of_graphs()
    p = torch.nn.Parameter(torch.ones(2, device="cuda"))
    adam = o.Adam([p], capturable=True)
    p.grad = torch.ones_like(p)
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        raises(RuntimeError, "step once before the capture", adam.step)
    assert not adam.state[p]
    adam.step()
    plain = o.Adam([p])  # whose count is the host's: a number of the device is brought there
    plain.load_state_dict(adam.state_dict())
    plain.param_groups[0]["capturable"] = False
    plain.step()
    assert not plain.state[p]["step"].is_cuda and plain.state[p]["step"].item() == 2
    plain.param_groups[0]["capturable"] = True
    plain.step()
    assert plain.state[p]["step"].is_cuda and plain.state[p]["step"].item() == 3


def graphed_callables():
    torch.manual_seed(8)
    plain = Net().cuda()
    net, x = copy.deepcopy(plain), torch.randn(5, 4).cuda()
    assert torch.cuda.make_graphed_callables(net, (torch.randn(5, 4).cuda(),)) is net

    def scaled(a, b):
        return {"sum": a + b, "product": a * b}

    sample = tuple(torch.ones(5, 2, device="cuda", requires_grad=True) for _ in range(2))
    (graphed,) = torch.cuda.make_graphed_callables((scaled,), (sample,))
    for i in range(3):
        for n in (plain, net):
            n.zero_grad()
        a, b = plain(x + i), net(x + i)
        ca, cb = (torch.full((5, 2), 2.0 + i, device="cuda", requires_grad=True) for _ in range(2))
        one, other = scaled(a, ca), graphed(b, cb)
        assert torch.equal(a, b) and one.keys() == other.keys()
        assert all(torch.equal(one[k], other[k]) for k in one)
        (one["sum"] * one["product"]).sum().backward()
        (other["sum"] * other["product"]).sum().backward()
        assert torch.equal(ca.grad, cb.grad)
        for p, q in zip(plain.parameters(), net.parameters(), strict=True):
            assert torch.equal(p.grad, q.grad)
    net.eval()
    assert torch.equal(net(x[:2]), plain(x[:2]))  # the other mode is no graph
    hooked = Net().cuda()
    hooked.register_forward_hook(lambda *_: None)
    make = torch.cuda.make_graphed_callables
    raises(AssertionError, "must not have hooks", lambda: make(hooked, (x,)))
    raises(AssertionError, "only Tensors", lambda: make(scaled, (1, x)))


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


def accelerator_graph():
    a = torch.accelerator
    x, stream = torch.ones(3, device="cuda"), torch.cuda.Stream()
    a.set_stream(stream)
    assert a.current_stream() == stream
    g = a.Graph()
    with g:
        x.add_(1)
    assert x.tolist() == [1, 1, 1]
    g.replay(), g.replay()
    assert x.tolist() == [3, 3, 3]
    broken = a.Graph(capture_error_mode="thread_local")

    def fails():
        with broken:
            x.add_(1)
            raise KeyError("own")

    raises(KeyError, "own", fails)
    raises(RuntimeError, "without a preceding", broken.replay)
    assert not torch.cuda.is_current_stream_capturing() and x.tolist() == [3, 3, 3]


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
PROGRAMS_OF_TWO = (current_device, errors, streams, events, figures, copies_between, plans)
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
