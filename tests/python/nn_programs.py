"""Programs in torch's spelling. data/nn.json holds what torch gave (data/make_nn.py); test_nn.py
runs the same here. Each takes the package and returns what JSON can hold; floats are compared
within a tolerance."""

import warnings


def numbers(t):
    """A tensor, or a tree of tensors, as lists."""
    if t is None or isinstance(t, (bool, int, float, str)):
        return t
    if isinstance(t, dict):
        return {k: numbers(v) for k, v in t.items()}
    if isinstance(t, (list, tuple)):
        return [numbers(v) for v in t]
    return t.detach().tolist()


def grid(torch, *shape, start=-1.0, step=0.13):
    """Values that differ, within a few units, the same everywhere."""
    n = 1
    for size in shape:
        n *= size
    values = [((start + step * i) % 3.1) - 1.5 for i in range(n)]
    return torch.tensor(values).reshape(shape)


def make_net(torch):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(3, 4)
            self.features = nn.Sequential(
                nn.Conv2d(1, 2, 3, padding=1),
                nn.BatchNorm2d(2),
                nn.ReLU(inplace=True),
                nn.MaxPool2d(2),
                nn.Flatten(),
            )
            self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)] + [nn.Dropout(0.1)])
            self.attention = nn.MultiheadAttention(4, 2)
            self.lstm = nn.LSTM(3, 5, num_layers=2, bidirectional=True)
            self.table = nn.Embedding(7, 3, padding_idx=1)
            self.norm = nn.LayerNorm((2, 3))
            self.gelu = nn.GELU("tanh")
            self.named = nn.ModuleDict({"x": nn.Tanh(), "y": nn.Softmax(dim=1)})
            self.same = nn.Identity(3, 4)
            self.loss = nn.CrossEntropyLoss(label_smoothing=0.1)
            self.plain_norm = nn.BatchNorm1d(3, affine=False)
            self.no_bias = nn.Linear(2, 1, bias=False)
            self.pools = nn.ModuleList([nn.AvgPool2d(2), nn.AdaptiveAvgPool2d((1, 1))])
            self.log = nn.LogSoftmax(1)
            self.leaky = nn.LeakyReLU(0.2)
            self.soft = nn.Softplus()
            self.list = nn.ParameterList([torch.zeros(2, 3), torch.zeros(2)])
            self.dict = nn.ParameterDict({"p": torch.zeros(2), "q": torch.zeros(3, 1)})
            self.strided = nn.Conv2d(4, 4, (3, 2), stride=2, dilation=2, groups=2, bias=False)
            self.register_buffer("kept", torch.ones(2))
            self.register_buffer("passing", torch.ones(2), persistent=False)

    return Net()


def program_repr(torch):
    return repr(make_net(torch)).replace("torch.FloatTensor", "tensor")


def program_state_dict(torch):
    torch.manual_seed(3)
    net = make_net(torch)
    state = net.state_dict()
    return [[k, list(v.shape), numbers(v)] for k, v in state.items()], {
        "parameters": [k for k, _ in net.named_parameters()],
        "buffers": [k for k, _ in net.named_buffers()],
        "modules": [k for k, _ in net.named_modules()],
        "children": [k for k, _ in net.named_children()],
    }


def program_attributes(torch):
    nn = torch.nn
    conv = nn.Conv2d(4, 8, 3, stride=2, padding=(1, 0), groups=2)
    pool, pool2 = nn.MaxPool2d(2), nn.AvgPool2d((2, 3), 1)
    lstm, table = nn.LSTM(3, 5, bidirectional=True), nn.Embedding(7, 3, padding_idx=-2)
    names = "in_channels out_channels kernel_size stride padding dilation groups padding_mode"
    return [
        [numbers(getattr(conv, name)) for name in names.split()],
        [numbers(getattr(m, n)) for m in (pool, pool2) for n in ("kernel_size", "stride")],
        [lstm.input_size, lstm.hidden_size, lstm.num_layers, lstm.bias, lstm.bidirectional],
        [table.num_embeddings, table.padding_idx],
        list(nn.LayerNorm(4).normalized_shape),
        nn.CrossEntropyLoss(reduction="sum").reduction,
        nn.BatchNorm1d(3, momentum=None).momentum,
    ]


def program_forward(torch):
    torch.manual_seed(3)
    net = make_net(torch)
    x, q, z = grid(torch, 2, 1, 4, 4), grid(torch, 3, 2, 4), grid(torch, 4, 2, 3)
    out, (h, c) = net.lstm(z)
    mask = torch.tensor([[False, True, False], [False, False, True]])
    results = [
        net.a(z),
        net.features(x),
        net.features[1].running_var,
        net.attention(q, q, q),
        net.attention(q, q, q, key_padding_mask=mask, average_attn_weights=False),
        net.attention(q, q, q, need_weights=False),
        (out, h, c),
        net.lstm(z, (h, c)),
        net.table(torch.tensor([[1, 2], [0, 6]])),
        net.norm(grid(torch, 2, 2, 3)),
        net.gelu(x),
        [m(q[0]) for m in net.named.values()],
        net.loss(q[0], torch.tensor([1, 3])),
        net.plain_norm(z[0]),
        net.no_bias(q[:, :, :2]),
        [m(x) for m in net.pools],
        net.log(q[0]),
        net.leaky(x),
        net.soft(x),
        net.strided(grid(torch, 1, 4, 7, 7)),
    ]
    net.eval()
    results += [net.features(x), net.plain_norm(z[0]), net.layers[3](x)]
    return numbers(results)


def program_functional(torch):
    functional = torch.nn.functional
    x, y = grid(torch, 4, 6), grid(torch, 4, 6, start=0.4, step=0.29)
    values = {
        "F": functional,
        "torch": torch,
        "x": x,
        "y": y,
        "w": grid(torch, 6, start=0.2),
        "p": torch.sigmoid(y),
        "sign": torch.where(y > 0, 1.0, -1.0),
        "one": torch.tensor([1.0, -1.0, 1.0, -1.0]),
        "im": grid(torch, 2, 4, 6, 6),
        "c": torch.tensor([0, 5, 2, 1]),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [[line, numbers(eval(line, values))] for line in FUNCTIONAL.strip().split("\n")]


FUNCTIONAL = """
F.relu(x)
F.leaky_relu(x, 0.2)
F.elu(x, 0.5)
F.celu(x, 0.7)
F.selu(x)
F.silu(x)
F.gelu(x)
F.gelu(x, approximate='tanh')
F.threshold(x, 0.1, 2.0)
F.hardtanh(x)
F.relu6(x * 5)
F.hardsigmoid(x * 4)
F.hardswish(x * 4)
F.mish(x)
F.logsigmoid(x)
F.tanhshrink(x)
F.hardshrink(x)
F.softshrink(x)
F.prelu(x, torch.tensor([0.3]))
F.prelu(x, w)
F.glu(x)
F.softmax(x)
F.softmax(x, dim=0)
F.log_softmax(x, 1)
F.softmin(x, 1)
F.softplus(x)
F.softplus(x, 2, 1)
F.softsign(x)
F.relu(x.clone(), inplace=True)
F.hardswish(x.clone(), inplace=True)
F.embedding(c, im.reshape(-1, 6), padding_idx=-1)
F.max_pool2d(im, 2)
F.max_pool2d(im, 3, 2, 1)
F.avg_pool2d(im, 2)
F.adaptive_avg_pool2d(im, (2, 3))
F.group_norm(im, 2, torch.ones(4) * 2, torch.ones(4))
F.rms_norm(x, (6,), w)
F.normalize(x)
F.normalize(x, p=1, dim=0)
F.cosine_similarity(x, y)
F.pairwise_distance(x, y)
F.layer_norm(x, (6,), w, w)
F.layer_norm(input=x, normalized_shape=[6])
F.linear(x, im[0, 0])
F.conv2d(im, im[:, :, :3, :3], padding=1)
F.batch_norm(im, None, None, training=True)
F.cross_entropy(x, c)
F.cross_entropy(x, c, w.abs(), reduction='sum')
F.cross_entropy(x, c, size_average=False)
F.nll_loss(x, c, ignore_index=5)
F.mse_loss(x, y)
F.mse_loss(x, y, reduction='none')
F.mse_loss(x, y, reduce=False)
F.mse_loss(x, y, weight=p)
F.mse_loss(x, y[0])
F.l1_loss(x, y)
F.l1_loss(x, y, weight=p)
F.smooth_l1_loss(x, y, beta=0.5)
F.huber_loss(x, y, delta=0.5)
F.huber_loss(x, y, weight=p)
F.binary_cross_entropy(p, p.flip(0))
F.binary_cross_entropy_with_logits(x, p, pos_weight=p)
F.kl_div(x, p)
F.kl_div(x, p, reduction='batchmean')
F.kl_div(x, x, log_target=True, reduction='sum')
F.poisson_nll_loss(x, p)
F.poisson_nll_loss(p, p * 4, log_input=False, full=True)
F.gaussian_nll_loss(x, y, p)
F.gaussian_nll_loss(x, y, p[:, 0], full=True)
F.gaussian_nll_loss(x, y, 1e-9)
F.margin_ranking_loss(x, y, sign, 0.2)
F.hinge_embedding_loss(x, sign)
F.soft_margin_loss(x, sign)
F.cosine_embedding_loss(x, y, one, 0.1)
F.triplet_margin_loss(x, y, p)
F.triplet_margin_loss(x, y, p, swap=True, reduction='none')
F.one_hot(c, 7)
F.scaled_dot_product_attention(im, im, im, is_causal=True)
F.dropout(x, training=False)
"""


def program_draws(torch):
    functional, init = torch.nn.functional, torch.nn.init
    x, im = grid(torch, 4, 6), grid(torch, 2, 4, 6, 6)
    out = []
    for f in (
        lambda t: functional.dropout(x),
        lambda t: functional.dropout1d(im[0]),
        lambda t: functional.dropout2d(im),
        lambda t: functional.dropout3d(im),
        lambda t: functional.gumbel_softmax(x),
        lambda t: functional.gumbel_softmax(x, hard=True),
        lambda t: init.uniform_(t),
        lambda t: init.normal_(t, 1, 2),
        lambda t: init.xavier_uniform_(t),
        lambda t: init.xavier_normal_(t, 0.5),
        lambda t: init.kaiming_uniform_(t),
        lambda t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"),
        lambda t: init.trunc_normal_(t),
        lambda t: init.trunc_normal_(t, std=0.02),
        lambda t: init.trunc_normal_(t, 0, 1, 2.2, 3),
        lambda t: init.eye_(t),
        lambda t: init.constant_(t, 3),
        lambda t: init.sparse_(t, 0.4),
        lambda t: init.dirac_(t.reshape(5, 7, 1)),
    ):
        torch.manual_seed(1)
        out.append(numbers(f(torch.empty(5, 7))))
    gains = [("relu",), ("tanh",), ("leaky_relu", 0.2), ("selu",), ("linear",)]
    return out, [float(init.calculate_gain(*g)) for g in gains]


def program_hooks(torch):
    nn, log = torch.nn, []
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    net.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    net.register_forward_pre_hook(lambda m, args: log.append(numbers(args)), prepend=True)
    handle = net[1].register_forward_hook(lambda m, args, out: out + 1)
    net[2].register_forward_hook(
        lambda m, args, kwargs, out: log.append(sorted(kwargs)), with_kwargs=True
    )
    x = grid(torch, 2, 3)
    log.append(numbers(net(x)))
    handle.remove()
    with net[1].register_forward_hook(lambda m, args, out: out - 1):
        log.append(numbers(net(x)))
    log.append(numbers(net(x)))
    log.append(len(net[1]._forward_hooks))
    net[0].register_forward_hook(lambda m, args, out: log.append("always"), always_call=True)
    try:
        net[0](torch.ones(5))
    except RuntimeError:
        log.append("refused")
    return log


def program_gradients(torch):
    nn, log = torch.nn, []
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LayerNorm(4), nn.Linear(4, 2))
    net[0].register_full_backward_hook(lambda m, gi, go: log.append(numbers([gi, go])))
    net[3].register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
    net[3].register_full_backward_pre_hook(lambda m, go: (go[0] * 0.5,))
    x = torch.ones(1, 3, requires_grad=True)
    (net(x) ** 2).sum().backward()
    log += [numbers(p.grad) for p in [x, *net.parameters()]]
    log.append(float(nn.utils.clip_grad_norm_(net.parameters(), 0.1)))
    log += [numbers(p.grad) for p in net.parameters()]
    nn.utils.clip_grad_value_(net.parameters(), 0.001)
    log += [numbers(p.grad) for p in net.parameters()]
    net.zero_grad()
    log += [p.grad for p in net.parameters()]
    attention, lstm = nn.MultiheadAttention(4, 2, batch_first=True), nn.LSTM(3, 2)
    q = grid(torch, 1, 3, 4)
    attention(q, q, q)[0].sum().backward()
    log.append(numbers(attention.out_proj.weight.grad))
    out, (_, c) = lstm(torch.ones(2, 1, 3))
    (out.sum() + c.sum()).backward()
    log.append(numbers(lstm.weight_hh_l0.grad))
    table, tied = nn.Embedding(4, 2, padding_idx=0), nn.Linear(2, 4)
    tied.weight = table.weight
    (table(torch.tensor([0, 1, 1])).sum() + tied(torch.ones(1, 2)).sum()).backward()
    log.append(numbers(table.weight.grad))
    return log


ERRORS = """
nn.Linear(2, 3).load_state_dict({})
nn.Linear(2, 3, bias=False).load_state_dict({'weight': torch.ones(2), 'x': torch.ones(1)})
nn.Sequential(nn.Linear(2, 3)).load_state_dict({'0.weight': 3, '0.bias': torch.ones(3)})
nn.Linear(2, 3).load_state_dict(3)
setattr(nn.Linear(2, 3), 'weight', torch.ones(2))
setattr(nn.Sequential(nn.ReLU()), '0', 3)
setattr(nn.BatchNorm1d(2), 'running_mean', 'x')
setattr(nn.Module.__new__(nn.Module), 'p', nn.Parameter(torch.ones(2)))
setattr(nn.Module.__new__(nn.Module), 'm', nn.ReLU())
nn.Module().register_parameter('a.b', None)
nn.Module().register_parameter('', None)
nn.Module().register_parameter('training', None)
nn.Module().register_parameter('w', torch.ones(2))
nn.Module().register_parameter(3, None)
nn.Module().register_buffer('a.b', None)
nn.Module().register_buffer('b', 3)
nn.Module().register_buffer('forward', None)
nn.Module().add_module('a.b', None)
nn.Module().add_module('a', 3)
nn.Module().add_module('forward', nn.ReLU())
nn.Module()(3)
nn.Module(3)
nn.Module(a=3)
nn.Module().x
nn.Linear(2, 3).get_submodule('a.b')
nn.Linear(2, 3).get_submodule('weight')
nn.Linear(2, 3).get_parameter('nope')
nn.Linear(2, 3).get_buffer('weight')
nn.Linear(2, 3).train(3)
nn.Linear(2, 3).to(torch.int64)
nn.Linear(2, 3).to(nope=3)
nn.Sequential(3)
nn.Sequential(nn.ReLU())[2]
nn.ModuleList([nn.ReLU()])[-2]
nn.ModuleList(3)
nn.ModuleDict({'a': nn.ReLU()})['b']
nn.ParameterList([torch.ones(1)])[3]
nn.ParameterList()(3)
nn.init.calculate_gain('nope')
nn.init.xavier_uniform_(torch.ones(2))
nn.init.kaiming_normal_(torch.ones(2, 2), mode='nope')
nn.init.eye_(torch.ones(2))
nn.functional.dropout(torch.ones(2), p=2)
nn.functional.mse_loss(torch.ones(2), torch.ones(2), reduction='nope')
nn.functional.binary_cross_entropy(torch.ones(2), torch.ones(3))
nn.functional.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(3))
nn.functional.glu(torch.ones(3))
nn.functional.hardtanh(torch.ones(3), 2, 1)
nn.functional.embedding(torch.tensor([0]), torch.ones(2, 2), padding_idx=9)
nn.functional.group_norm(torch.ones(2, 3, 4), 2)
"""


def program_errors(torch):
    out = []
    for line in ERRORS.strip().split("\n"):
        try:
            eval(line, {"torch": torch, "nn": torch.nn})
            out.append([line, None, ""])
        except Exception as error:
            text = str(error).replace("torch.nn.modules.module", "M").replace("tensorh.nn", "M")
            out.append([line, type(error).__name__, text])
    return out


def program_containers(torch):
    nn = torch.nn
    out = []
    s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    s.append(nn.SiLU())
    s.insert(1, nn.Identity())
    out += [repr(s), repr(s[1:3]), len(s), repr(s[-1])]
    del s[0]
    s[0] = nn.GELU()
    out += [repr(s), repr(s + nn.Sequential(nn.ReLU())), repr(s.pop(1)), repr(s * 2)]
    s += nn.Sequential(nn.ReLU())
    s.extend([nn.Tanh()])
    out += [repr(s), list(s.state_dict()), [n for n, _ in s.named_children()]]
    m = nn.ModuleList([nn.Linear(2, 2, bias=False) for _ in range(4)])
    m += [nn.ReLU()]
    m.insert(0, nn.Tanh())
    m.append(nn.Tanh())
    out += [repr(m), repr(m[1:3]), len(m), repr(m.pop(-1)), repr(nn.ModuleList())]
    del m[1:3]
    out += [repr(m), [n for n, _ in m.named_parameters()]]
    d = nn.ModuleDict([["a", nn.ReLU()], ["b", nn.Linear(1, 1)]])
    d["c"] = nn.Tanh()
    del d["a"]
    out += [repr(d), list(d), "b" in d, [k for k, _ in d.items()], repr(d.pop("c")), len(d)]
    p = nn.ParameterList([torch.ones(2), nn.Parameter(torch.zeros(1))])
    p.append(torch.ones(3))
    p[0] = torch.zeros(5)
    out += [repr(p), [k for k, _ in p.named_parameters()], len(p), list(p[-1].shape)]
    q = nn.ParameterDict({"x": torch.ones(2)})
    q["y"] = torch.ones(1)
    q.update({"z": torch.ones(3)})
    out += [list(q), [list(v.shape) for v in q.values()], len(q), q.get("nope", 3)]
    q.pop("x")
    out += [[k for k, _ in q.named_parameters()], list((q | {"v": torch.ones(1)}).keys())]
    named = nn.Sequential()
    named.add_module("first", nn.ReLU())
    out += [repr(named), repr(nn.Sequential()), repr(nn.Module())]
    return out


PROGRAMS = {k[8:]: v for k, v in list(globals().items()) if k.startswith("program_")}
