"""torch.legacy.nn: modules whose backward is called by hand.

`forward(input)`, then `backward(input, gradOutput)`: updateGradInput and accGradParameters.
A module computes by a function or module of tensorh and keeps the record of its last forward; its
parameters are plain tensors, `weight` beside `gradWeight`. Tables are lists; dimensions and indices
count from 0. A module of one's own overrides these methods, as in Torch7."""

import math

import tensorh as torch
from tensorh import nn as _nn
from tensorh.nn import functional as _F

__all__ = ["Container", "Criterion", "Module", "MultiCriterion", "ParallelCriterion"]


def _map(tree, change):
    if isinstance(tree, (list, tuple)):
        return [_map(t, change) for t in tree]
    return change(tree)


def _leaves(tree):
    if isinstance(tree, (list, tuple)):
        return [leaf for t in tree for leaf in _leaves(t)]
    return [tree]


def _add(trees):
    """The sum of trees of the same form."""
    if isinstance(trees[0], list):
        return [_add(list(t)) for t in zip(*trees, strict=True)]
    return sum(trees[1:], trees[0])


class _Record:
    """A call as autograd records it, from detached inputs and parameters to its result."""

    def __init__(self, function, input, parameters):
        def fresh(t):
            if not isinstance(t, torch.Tensor):
                return t
            t = t.detach()
            return t.requires_grad_() if t.is_floating_point() or t.is_complex() else t

        self.input, self.inputs = input, _map(input, fresh)
        self.parameters = {k: fresh(p) for k, p in parameters.items()}
        with torch.enable_grad():
            self.result = function(self.inputs, **self.parameters)

    def grads(self, of, gradOutput):
        """The gradients of these tensors; 0 where there is none."""
        pairs = zip(_leaves(self.result), _leaves(gradOutput), strict=True)
        pairs = [(r, g.reshape(r.shape)) for r, g in pairs if r.requires_grad]
        wanted = [t for t in of if isinstance(t, torch.Tensor) and t.requires_grad]
        found = [None] * len(wanted)
        if pairs and wanted:
            results, grads = zip(*pairs, strict=True)
            found = torch.autograd.grad(
                results, wanted, grads, retain_graph=True, allow_unused=True
            )
        found = dict(zip(map(id, wanted), found, strict=True))
        return [
            torch.zeros_like(t) if found.get(id(t)) is None else found[id(t)]
            for t in of if isinstance(t, torch.Tensor)
        ]  # fmt: skip


class _Kept:
    """What has a record, which copies and pickles do not have."""

    _left_out = {"_record": None}

    def __getstate__(self):
        return {**self.__dict__, **self._left_out}


class Module(_Kept):
    """The base: output and gradInput are those of the last calls."""

    _names = ()  # of the parameters
    _draws = True  # a second forward may differ from the first, as of Dropout

    def __init__(self):
        self.output = self.gradInput = torch.empty(0)
        self.train, self._record = True, None

    def _compute(self, input, **parameters):
        raise NotImplementedError(f"{type(self).__name__} has no updateOutput")

    def updateOutput(self, input):
        """The result, recorded."""
        given = {n: getattr(self, n) for n in self._names}
        self._record = _Record(self._compute, input, given)
        self.output = _map(self._record.result, torch.Tensor.detach)
        return self.output

    def _recorded(self, input):
        """The last record. Of another input a new one, where no draws or statistics are lost."""
        last = self._record
        if last is None or (last.input is not input and not (self._draws and self.train)):
            self.updateOutput(input)
        return self._record

    def updateGradInput(self, input, gradOutput):
        """The gradient of the input."""
        record = self._recorded(input)
        found = iter(record.grads(_leaves(record.inputs), gradOutput))
        self.gradInput = _map(record.inputs, lambda t: next(found))
        return self.gradInput

    def accGradParameters(self, input, gradOutput, scale=1):
        """Adds scale times the gradients of the parameters to gradWeight, gradBias."""
        if self._names:
            record = self._recorded(input)
            found = record.grads([record.parameters[n] for n in self._names], gradOutput)
            for name, g in zip(self._names, found, strict=True):
                getattr(self, _grad(name)).add_(g, alpha=scale)

    def forward(self, input):
        return self.updateOutput(input)

    __call__ = forward

    def backward(self, input, gradOutput, scale=1):
        self.updateGradInput(input, gradOutput)
        self.accGradParameters(input, gradOutput, scale)
        return self.gradInput

    def listModules(self):
        """This module and those in it, each once."""
        return [self]

    def apply(self, callback):
        for m in self.listModules():
            callback(m)

    def parameters(self):
        """The parameters and their gradients, two lists; None where there are none."""
        pairs = {}
        for m in self.listModules():
            for n in m._names:
                p, g = getattr(m, n), getattr(m, _grad(n))
                pairs.setdefault((p.data_ptr(), p.shape), (p, g))
        return tuple(map(list, zip(*pairs.values(), strict=True))) if pairs else None

    def flattenParameters(self):
        """All parameters as one vector and their gradients as another, which they are from now on
        parts of."""
        given = self.parameters()
        if given is None:
            return torch.empty(0), torch.empty(0)
        flat = [torch.cat([t.reshape(-1) for t in tensors]) for tensors in given]
        at, parts = 0, {}
        for p in given[0]:
            part = [f[at : at + p.numel()].view(p.shape) for f in flat]
            parts[p.data_ptr(), p.shape], at = part, at + p.numel()
        for m in self.listModules():
            for n in m._names:
                p = getattr(m, n)
                for name, t in zip((n, _grad(n)), parts[p.data_ptr(), p.shape], strict=True):
                    setattr(m, name, t)
        self.clearState()
        return tuple(flat)

    def zeroGradParameters(self):
        for g in (self.parameters() or ((), ()))[1]:
            g.zero_()

    def updateParameters(self, learningRate):
        for p, g in zip(*(self.parameters() or ((), ())), strict=True):
            p.sub_(g, alpha=learningRate)

    def training(self):
        self.apply(lambda m: setattr(m, "train", True))

    def evaluate(self):
        self.apply(lambda m: setattr(m, "train", False))

    def clearState(self):
        """Drops what the last calls have left."""
        for m in self.listModules():
            m.output = m.gradInput = torch.empty(0)
            m.__dict__.update(m._left_out)
        return self

    def type(self, dtype=None):
        """The parameters as another dtype, or without one the dtype that they have."""
        if dtype is None:
            given = self.parameters()
            return given[0][0].dtype if given else torch.get_default_dtype()
        for m in self.listModules():
            for n in (*m._names, *map(_grad, m._names)):
                setattr(m, n, getattr(m, n).to(dtype))
            if getattr(m, "_module", None) is not None:
                m._module.to(dtype)
        return self.clearState()

    def float(self):
        return self.type(torch.float32)

    def double(self):
        return self.type(torch.float64)

    def __repr__(self):
        return f"nn.{type(self).__name__}"


def _grad(name):
    return "grad" + name[0].upper() + name[1:]


# --- layers ---------------------------------------------------------------------------------------


class _Layer(Module):
    """A layer of the tables below: a module of tensorh.nn or a function computes it, which the
    class's _factory makes."""

    _draws = False

    def __init__(self, *args, **kwargs):
        super().__init__()
        self._args, self._module = (args, kwargs), None
        made = self._make()
        if isinstance(made, _nn.Module):
            self._module = made
            self._names = tuple(n for n, _ in made.named_parameters())
            for n, p in made.named_parameters():
                setattr(self, n, p.detach())
                setattr(self, _grad(n), torch.zeros_like(p))

    def _make(self):
        args, kwargs = self._args
        return self._factory(*args, **kwargs)

    def _compute(self, input, **parameters):
        if self._module is None:
            return self._make()(input)
        self._module.train(self.train)
        return torch.func.functional_call(self._module, parameters, (input,))

    def __getattr__(self, name):  # running_mean, running_var
        module = self.__dict__.get("_module")
        if module is not None and name in module._buffers:
            return module._buffers[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class _Scale(_nn.Module):
    """x * weight, or x + bias, of a size that broadcasts."""

    def __init__(self, name, size, value=None):
        super().__init__()
        bound = 1 / math.sqrt(max(math.prod(size), 1))
        t = torch.empty(size).uniform_(-bound, bound) if value is None else torch.full(size, value)
        self.register_parameter(name, _nn.Parameter(t))

    def forward(self, x):
        return x * self.weight if "weight" in self._parameters else x + self.bias


def _pool(cls, step):
    def make(kW, kH, dW=step, dH=step, padW=0, padH=0):
        return cls((kH, kW), (dH or kH, dW or kW), (padH, padW))

    return make


def _transposed(x, pairs):
    for a, b in pairs:
        x = x.transpose(a, b)
    return x


_LAYERS = {
    "Linear": lambda inputSize, outputSize, bias=True: _nn.Linear(inputSize, outputSize, bias),
    "LookupTable": lambda nIndex, nOutput, paddingValue=-1: _nn.Embedding(
        nIndex, nOutput, None if paddingValue < 0 else paddingValue),
    "SpatialConvolution": lambda nInputPlane, nOutputPlane, kW, kH, dW=1, dH=1, padW=0, padH=None:
        _nn.Conv2d(nInputPlane, nOutputPlane, (kH, kW), (dH, dW),
                   (padW if padH is None else padH, padW)),
    "SpatialMaxPooling": _pool(_nn.MaxPool2d, None),
    "SpatialAveragePooling": _pool(_nn.AvgPool2d, 1),
    "BatchNormalization": lambda nOutput, eps=1e-5, momentum=0.1, affine=True: _nn.BatchNorm1d(
        nOutput, eps, momentum, affine),
    "SpatialBatchNormalization": lambda nOutput, eps=1e-5, momentum=0.1, affine=True:
        _nn.BatchNorm2d(nOutput, eps, momentum, affine),
    "Dropout": lambda p=0.5, inplace=False: _nn.Dropout(p),
    "SpatialDropout": lambda p=0.5, inplace=False: _nn.Dropout2d(p),
    "PReLU": lambda nOutputPlane=0: _nn.PReLU(nOutputPlane or 1),
    "Add": lambda inputSize, scalar=False: _Scale("bias", (1 if scalar else inputSize,)),
    "Mul": lambda: _Scale("weight", (1,)),
    "CMul": lambda *size: _Scale("weight", size), "CAdd": lambda *size: _Scale("bias", size),
    "Tanh": lambda: torch.tanh, "Sigmoid": lambda: torch.sigmoid,
    "ReLU": lambda inplace=False: torch.relu, "ReLU6": lambda inplace=False: _F.relu6,
    "LeakyReLU": lambda negval=0.01, inplace=False: lambda x: _F.leaky_relu(x, negval),
    "ELU": lambda alpha=1.0, inplace=False: lambda x: _F.elu(x, alpha),
    "HardTanh": lambda min_value=-1, max_value=1, inplace=False: lambda x: _F.hardtanh(
        x, min_value, max_value),
    "Clamp": lambda min_value, max_value: lambda x: x.clamp(min_value, max_value),
    "Threshold": lambda threshold=0, value=0, inplace=False: lambda x: _F.threshold(
        x, threshold, value),
    "SoftPlus": lambda beta=1, threshold=20: lambda x: _F.softplus(x, beta, threshold),
    "SoftSign": lambda: _F.softsign, "SoftShrink": lambda lambd=0.5: lambda x: _F.softshrink(
        x, lambd),
    "HardShrink": lambda lambd=0.5: lambda x: _F.hardshrink(x, lambd),
    "TanhShrink": lambda: _F.tanhshrink, "LogSigmoid": lambda: _F.logsigmoid,
    "SoftMax": lambda: lambda x: x.softmax(1 if x.ndim in (2, 4) else 0),
    "LogSoftMax": lambda: lambda x: x.log_softmax(1 if x.ndim in (2, 4) else 0),
    "SoftMin": lambda: lambda x: (-x).softmax(1 if x.ndim in (2, 4) else 0),
    "Identity": lambda *args: lambda x: x, "Contiguous": lambda: lambda x: _map(
        x, torch.Tensor.contiguous),
    "Abs": lambda: torch.abs, "Exp": lambda: torch.exp, "Log": lambda: torch.log,
    "Sqrt": lambda: torch.sqrt, "Square": lambda: torch.square, "Negative": lambda: torch.neg,
    "Power": lambda p: lambda x: x.pow(p),
    "AddConstant": lambda constant_scalar, inplace=False: lambda x: x + constant_scalar,
    "MulConstant": lambda constant_scalar, inplace=False: lambda x: x * constant_scalar,
    "View": lambda *sizes: lambda x: x.reshape(sizes),
    "Reshape": lambda *sizes: lambda x: x.reshape(sizes),
    "Transpose": lambda *pairs: lambda x: _transposed(x, pairs),
    "Select": lambda dimension, index: lambda x: x.select(dimension, index),
    "Narrow": lambda dimension, offset, length=1: lambda x: x.narrow(
        dimension, offset, length if length >= 0 else x.shape[dimension] - offset + length + 1),
    "Unsqueeze": lambda pos: lambda x: x.unsqueeze(pos),
    "Squeeze": lambda dim=None: lambda x: x.squeeze() if dim is None else x.squeeze(dim),
    "Mean": lambda dimension: lambda x: x.mean(dimension),
    "Sum": lambda dimension, sizeAverage=False: lambda x: x.mean(dimension) if sizeAverage else
        x.sum(dimension),
    "Max": lambda dimension=0: lambda x: x.max(dimension)[0],
    "Min": lambda dimension=0: lambda x: x.min(dimension)[0],
    # of tables
    "CAddTable": lambda inplace=False: lambda xs: sum(xs[1:], xs[0]),
    "CSubTable": lambda: lambda xs: xs[0] - xs[1], "CMulTable": lambda: lambda xs: math.prod(
        xs[1:], start=xs[0]),
    "CDivTable": lambda: lambda xs: xs[0] / xs[1],
    "CMaxTable": lambda: lambda xs: torch.stack(xs).max(0)[0],
    "CMinTable": lambda: lambda xs: torch.stack(xs).min(0)[0],
    "JoinTable": lambda dimension, nInputDims=None: lambda xs: torch.cat(xs, dimension + (
        nInputDims is not None and xs[0].ndim == nInputDims + 1)),
    "SplitTable": lambda dimension, nInputDims=None: lambda x: list(x.unbind(dimension + (
        nInputDims is not None and dimension >= 0 and x.ndim == nInputDims + 1))),
    "SelectTable": lambda index: lambda xs: xs[index],
    "NarrowTable": lambda offset, length=1: lambda xs: xs[offset : offset + length],
    "FlattenTable": lambda: _leaves,
    "DotProduct": lambda: lambda xs: (xs[0] * xs[1]).sum(-1),
}  # fmt: skip


def _classes(table, base):
    """A class of each name of a table, made here."""
    for name, factory in table.items():
        own = {"__module__": __name__, "_factory": staticmethod(factory)}
        globals()[name] = type(name, (base,), own)
        __all__.append(name)


_classes(_LAYERS, _Layer)
for _name in ("Dropout", "SpatialDropout", "BatchNormalization", "SpatialBatchNormalization"):
    globals()[_name]._draws = True


# --- containers -----------------------------------------------------------------------------------


class Container(Module):
    """Modules in a list."""

    _left_out = {"_record": None, "_given": None, "_grads": None}

    def __init__(self, *modules):
        super().__init__()
        self.modules = list(modules)
        self._given = self._grads = None  # what each module was given in the last calls

    def add(self, module):
        self.modules.append(module)
        return self

    def get(self, index):
        return self.modules[index]

    __getitem__ = get

    def size(self):
        return len(self.modules)

    __len__ = size

    def listModules(self):
        found = {id(m): m for child in self.modules for m in child.listModules()}
        return [self, *(m for k, m in found.items() if k != id(self))]

    def __repr__(self):
        return f"nn.{type(self).__name__}({', '.join(map(repr, self.modules))})"


class Sequential(Container):
    """One module after the other."""

    def updateOutput(self, input):
        self._given = []
        for m in self.modules:
            self._given.append(input)
            input = m.updateOutput(input)
        self.output = input
        return input

    def _inputs(self, input):
        """Those of the modules, the last first."""
        if self._given is None:
            self.updateOutput(input)
        return [input, *self._given[1:]][: len(self.modules)][::-1]

    def updateGradInput(self, input, gradOutput):
        inputs, self._grads = self._inputs(input), []
        for m, x in zip(self.modules[::-1], inputs, strict=True):
            self._grads.append(gradOutput)
            gradOutput = m.updateGradInput(x, gradOutput)
        self.gradInput = gradOutput
        return gradOutput

    def accGradParameters(self, input, gradOutput, scale=1):
        if self._grads is None:
            self.updateGradInput(input, gradOutput)
        grads = [gradOutput, *self._grads[1:]][: len(self.modules)]
        for m, x, g in zip(self.modules[::-1], self._inputs(input), grads, strict=True):
            m.accGradParameters(x, g, scale)


class _Branches(Container):
    """Modules beside each other; what each is given and what becomes of their results differs."""

    def _split(self, input):
        """The input of each module."""
        raise NotImplementedError

    def _join(self, outputs):
        return outputs

    def _of_each(self, gradOutput):
        return gradOutput

    def _gather(self, grads):
        return grads

    def updateOutput(self, input):
        self._given = self._split(input)
        outputs = [m.updateOutput(x) for m, x in zip(self.modules, self._given, strict=True)]
        self.output = self._join(outputs)
        return self.output

    def _calls(self, input, gradOutput):
        if self._given is None:
            self.updateOutput(input)
        return zip(self.modules, self._given, self._of_each(gradOutput), strict=True)

    def updateGradInput(self, input, gradOutput):
        grads = [m.updateGradInput(x, g) for m, x, g in self._calls(input, gradOutput)]
        self.gradInput = self._gather(grads)
        return self.gradInput

    def accGradParameters(self, input, gradOutput, scale=1):
        for m, x, g in self._calls(input, gradOutput):
            m.accGradParameters(x, g, scale)


class ConcatTable(_Branches):
    """Each module gets the input; the table of their results."""

    def _split(self, input):
        return [input] * len(self.modules)

    def _gather(self, grads):
        return _add(grads)


class Concat(ConcatTable):
    """Each module gets the input; their results joined in a dimension."""

    def __init__(self, dimension, *modules):
        super().__init__(*modules)
        self.dimension = dimension

    def _join(self, outputs):
        return torch.cat(outputs, self.dimension)

    def _of_each(self, gradOutput):
        sizes = [m.output.shape[self.dimension] for m in self.modules]
        return gradOutput.split(sizes, self.dimension)


class ParallelTable(_Branches):
    """Each module gets a member of the table; the table of their results."""

    def _split(self, input):
        return list(input)


__all__ += ["Concat", "ConcatTable", "ParallelTable", "Sequential"]


# --- criterions -----------------------------------------------------------------------------------


class Criterion(_Kept):
    """The base: a number of an input and a target, and its gradient."""

    _factory = None

    def __init__(self, *args, **kwargs):
        self._args, self._record, self.output = (args, kwargs), None, 0
        self.gradInput = torch.empty(0)
        if self._factory is not None:
            self._make()

    def _make(self):
        args, kwargs = self._args
        return self._factory(*args, **kwargs)

    def _compute(self, input, target):
        return self._make()(input, target)

    def updateOutput(self, input, target):
        self._record = _Record(lambda x: self._compute(x, target), input, {})
        self._target, self.output = target, self._record.result.item()
        return self.output

    def updateGradInput(self, input, target):
        if self._record is None or self._record.input is not input or self._target is not target:
            self.updateOutput(input, target)
        record = self._record
        found = record.grads(_leaves(record.inputs), torch.ones_like(record.result))
        found = iter(found)
        self.gradInput = _map(record.inputs, lambda t: next(found))
        return self.gradInput

    def forward(self, input, target):
        return self.updateOutput(input, target)

    __call__ = forward

    def backward(self, input, target):
        return self.updateGradInput(input, target)

    def __repr__(self):
        return f"nn.{type(self).__name__}"


def _reduced(function, *options):
    """A criterion of a function of losses: these options of its own, then sizeAverage=True."""

    def make(*given, sizeAverage=True, **more):
        if len(given) > len(options):
            *given, sizeAverage = given
        more = {**dict(zip(options, given, strict=False)), **more}
        more = {k.rstrip("s"): v for k, v in more.items() if v is not None}
        return lambda x, t: function(x, t, reduction=("sum", "mean")[sizeAverage], **more)

    return make


def _margin(x, t, reduction, margin=1):
    each = (margin - x * t).clamp_min(0)
    return each.mean() if reduction == "mean" else each.sum()


def _pair(function):
    return lambda xs, t, **more: function(*xs, t, **more)


_CRITERIONS = {
    "MSECriterion": _reduced(_F.mse_loss), "AbsCriterion": _reduced(_F.l1_loss),
    "SmoothL1Criterion": _reduced(_F.smooth_l1_loss), "DistKLDivCriterion": _reduced(_F.kl_div),
    "SoftMarginCriterion": _reduced(_F.soft_margin_loss),
    "MultiLabelMarginCriterion": _reduced(_F.multilabel_margin_loss),
    "MarginCriterion": _reduced(_margin, "margin"),
    "HingeEmbeddingCriterion": _reduced(_F.hinge_embedding_loss, "margin"),
    "ClassNLLCriterion": _reduced(_F.nll_loss, "weights"),
    "CrossEntropyCriterion": _reduced(_F.cross_entropy, "weights"),
    "BCECriterion": _reduced(_F.binary_cross_entropy, "weights"),
    "MultiLabelSoftMarginCriterion": _reduced(_F.multilabel_soft_margin_loss, "weights"),
    "MultiMarginCriterion": _reduced(_F.multi_margin_loss, "p", "weights", "margin"),
    "CosineEmbeddingCriterion": _reduced(_pair(_F.cosine_embedding_loss), "margin"),
    "MarginRankingCriterion": _reduced(_pair(_F.margin_ranking_loss), "margin"),
}  # fmt: skip
_classes(_CRITERIONS, Criterion)


class L1Cost(Criterion):
    """The sum of absolute values. There is no target."""

    def __init__(self):
        super().__init__()

    def _compute(self, input, target):
        return input.abs().sum()

    def updateOutput(self, input, target=None):
        return super().updateOutput(input, target)

    def updateGradInput(self, input, target=None):
        return super().updateGradInput(input, target)

    def forward(self, input, target=None):
        return self.updateOutput(input, target)

    __call__ = forward

    def backward(self, input, target=None):
        return self.updateGradInput(input, target)


__all__.append("L1Cost")


class MultiCriterion(Criterion):
    """The sum of criterions of one input and target, each with a weight."""

    def __init__(self):
        super().__init__()
        self.criterions, self.weights = [], []

    def add(self, criterion, weight=1):
        self.criterions.append(criterion)
        self.weights.append(weight)
        return self

    def _compute(self, input, target):
        pairs = zip(self.criterions, self.weights, strict=True)
        return sum(c._compute(input, target) * w for c, w in pairs)


class ParallelCriterion(MultiCriterion):
    """The sum of criterions, each of a member of the tables; repeatTarget: of one target."""

    def __init__(self, repeatTarget=False):
        super().__init__()
        self.repeatTarget = repeatTarget

    def _compute(self, input, target):
        targets = [target] * len(self.criterions) if self.repeatTarget else target
        every = zip(self.criterions, self.weights, input, targets, strict=True)
        return sum(c._compute(x, t) * w for c, w, x, t in every)


# --- what torch.legacy.nn has and this has not ----------------------------------------------------

_MISSING = """
Bilinear ClassSimplexCriterion Copy Cosine CosineDistance CriterionTable DepthConcat Euclidean
GradientReversal Index L1HingeEmbeddingCriterion L1Penalty MM MV MaskedSelect MixtureTable Normalize
Padding PairwiseDistance Parallel PartialLinear RReLU Replicate SpatialAdaptiveMaxPooling
SpatialClassNLLCriterion SpatialContrastiveNormalization SpatialConvolutionLocal
SpatialConvolutionMap SpatialCrossMapLRN SpatialDilatedConvolution SpatialDivisiveNormalization
SpatialFractionalMaxPooling SpatialFullConvolution SpatialFullConvolutionMap SpatialLPPooling
SpatialMaxUnpooling SpatialReflectionPadding SpatialReplicationPadding SpatialSoftMax
SpatialSubSampling SpatialSubtractiveNormalization SpatialUpSamplingNearest SpatialZeroPadding
TemporalConvolution TemporalMaxPooling TemporalSubSampling VolumetricAveragePooling
VolumetricBatchNormalization VolumetricConvolution VolumetricDropout VolumetricFullConvolution
VolumetricMaxPooling VolumetricMaxUnpooling VolumetricReplicationPadding WeightedEuclidean
WeightedMSECriterion
"""


def __getattr__(name):
    text = f"module 'torch.legacy.nn' has no attribute '{name}'"
    if name in _MISSING.split():
        text += " (not written: a Module or Criterion of one's own with _compute(self, input) or "
        text += "_compute(self, input, target) does it by a function of tensorh.nn)"
    raise AttributeError(text)
