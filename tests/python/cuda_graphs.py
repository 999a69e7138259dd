"""Programs of cuda_programs.py with graphs: captured steps, optimizers, callables."""

import copy
import threading

from cuda_base import Net, raises

import tensorh as torch


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
