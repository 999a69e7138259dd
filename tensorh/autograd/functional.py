"""torch.autograd.functional: Jacobians, Hessians and their products with vectors."""

from .. import _C
from .._vmap import grads

_grad = _C._grad


def _tuple_of(value, what, where=""):
    """(value as a tuple of tensors, whether it was one)."""
    many = isinstance(value, tuple)
    values = value if many else (value,)
    for i, v in enumerate(values):
        if not isinstance(v, _C.Tensor):
            raise TypeError(
                f"The {what}{where} must be either a Tensor or a tuple of Tensors but "
                + (f"the value at index {i}" if many else f"the given {what}")
                + f" has type {type(v)}."
            )
    return values, many


def _entry(inputs, create_graph):
    """Inputs of the user's function: with a history to the caller's, or leaves of our own."""
    if create_graph:
        return tuple(i.view(i.shape) if i.requires_grad else i.detach().requires_grad_()
                     for i in inputs)
    return tuple(i.detach().requires_grad_() for i in inputs)


def _shape_back(values, many, create_graph):
    values = tuple(values if create_graph else (v.detach() for v in values))
    return values if many else values[0]


def _strictly(values, what="output"):
    """Refuses what has no history."""
    for i, v in enumerate(values):
        if v.requires_grad:
            continue
        if what == "jacobian":
            raise RuntimeError(
                "While computing the hessian, found that the jacobian of the user-provided "
                f"function with respect to input {i} is independent of the input. This is not "
                "allowed in strict mode. You should ensure that your function is twice "
                "differentiable and that the jacobian depends on the inputs (this would be "
                "violated by a linear function for example)."
            )
        raise RuntimeError(
            f"Output {i} of the user-provided function does not require gradients. The outputs "
            "must be computed in a differentiable manner from the input when running in "
            "strict mode."
        )


# What strict mode says of a gradient that is not there, by what was differentiated.
_INDEPENDENT = {
    "output": "The output of the user-provided function is independent of input {}. This is not "
    "allowed in strict mode.",
    "seed": "The gradient with respect to the input is independent of entry {} in the grad_outputs "
    "when using the double backward trick to compute forward mode gradients. This is not allowed "
    "in strict mode.",
    "gradient": "The jacobian of the user-provided function is independent of input {}. This is "
    "not allowed in strict mode.",
}


def _grads(outputs, inputs, seeds=None, create_graph=False, strict=None):
    """Gradients with zeros for what is independent; strict: the text of an error instead."""
    outputs, seeds = _differentiable(outputs, seeds)
    grads = (None,) * len(inputs)
    if outputs:
        grads = _grad(outputs, inputs, seeds, retain_graph=True, create_graph=create_graph,
                      allow_unused=True)
    for i, g in enumerate(grads if strict else ()):
        if g is None:
            raise RuntimeError(strict.format(i))
        if create_graph and not g.requires_grad:
            of = "hessian" if strict is _INDEPENDENT["gradient"] else "jacobian"
            raise RuntimeError(f"The {of} of the user-provided function is independent of input "
                               f"{i}. This is not allowed in strict mode when create_graph=True.")
    return tuple(_C.zeros_like(i) if g is None else g for g, i in zip(grads, inputs, strict=True))


def _differentiable(outputs, seeds):
    kept = [i for i, o in enumerate(outputs) if o.requires_grad]
    return [outputs[i] for i in kept], None if seeds is None else [seeds[i] for i in kept]


def _vector(v, like, what, name):
    """v beside the tensors it belongs to; None stands for 1 where they are one element."""
    if v is None:
        if len(like) != 1 or like[0].nelement() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {what} returns a single Tensor with a "
                "single element."
                if what != "input"
                else "The vector v can only be None if the input to the user-provided function is "
                "a single Tensor with a single element."
            )
        return tuple(_C.ones_like(o) for o in like)
    v, _ = _tuple_of(v, f"v given to {name}")
    if len(v) != len(like):
        if len(like) == 1:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got "
                           f"{len(v)}.")
    for i, (a, b) in enumerate(zip(v, like, strict=True)):
        if a.shape != b.shape:
            raise RuntimeError(f"Entry {i} in v has invalid size: should be {b.shape} but got "
                               f"{a.shape}.")
    return v


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), the product of v with the Jacobian)."""
    with _C.enable_grad():
        inputs, many = _tuple_of(inputs, "inputs given to vjp")
        inputs = _entry(inputs, create_graph)
        outputs, outputs_many = _tuple_of(func(*inputs), "outputs of the user-provided function",
                                           " given to vjp")
        if strict:
            _strictly(outputs)
        v = _vector(v, outputs, "user-provided function", "vjp")
        grads = _grads(outputs, inputs, v, create_graph, strict and _INDEPENDENT["output"])
    return (_shape_back(outputs, outputs_many, create_graph),
            _shape_back(grads, many, create_graph))


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), the product of the Jacobian with v), by two backward passes."""
    with _C.enable_grad():
        inputs, _ = _tuple_of(inputs, "inputs given to jvp")
        v = tuple(o.detach() if not create_graph else o for o in _vector(v, inputs, "input", "jvp"))
        inputs = _entry(inputs, create_graph)
        outputs, many = _tuple_of(func(*inputs), "outputs of the user-provided function",
                                           " given to jvp")
        if strict:
            _strictly(outputs)
        seeds = tuple(_C.zeros_like(o).requires_grad_() for o in outputs)
        grads = _grads(outputs, inputs, seeds, True, strict and _INDEPENDENT["output"])
        products = _grads(grads, seeds, v, create_graph, strict and _INDEPENDENT["seed"])
    return _shape_back(outputs, many, create_graph), _shape_back(products, many, create_graph)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False,
             strategy="reverse-mode"):
    """The Jacobian: of sizes (*output, *input), nested in tuples where either is a tuple.

    vectorize: by one backward for all rows of an output. `strategy` is reverse-mode.
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    if strict and vectorize:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
            "supported together. Please either set `strict=False` or `vectorize=False`."
        )
    with _C.enable_grad():
        inputs, inputs_many = _tuple_of(inputs, "inputs given to jacobian")
        inputs = _entry(inputs, create_graph)
        outputs, outputs_many = _tuple_of(
            func(*inputs), "outputs of the user-provided function", " given to jacobian")
        if strict:
            _strictly(outputs)
        rows = []
        for i, out in enumerate(outputs):
            text = f"Output {i} of the user-provided function is independent of input {{}}. This " \
                "is not allowed in strict mode." if strict else None
            of = _jacobian_at_once if vectorize else _jacobian_of
            rows.append(tuple(of(out, inputs, create_graph, text)))
    rows = [_shape_back(r, inputs_many, create_graph) for r in rows]
    return tuple(rows) if outputs_many else rows[0]


def _jacobian_at_once(out, inputs, create_graph, unused):
    """The same by one backward for all rows."""
    n, shape = out.nelement(), tuple(out.shape)
    if not n or not out.requires_grad:
        return [i.new_zeros(shape + tuple(i.shape)) for i in inputs]
    seeds = _C.eye(n, dtype=out.dtype, device=out.device).reshape((n, *shape))
    rows = grads([out], inputs, [seeds], retain_graph=True, create_graph=create_graph,
                 materialize_grads=True)
    return [r.reshape(shape + tuple(i.shape)) for r, i in zip(rows, inputs, strict=True)]


def _jacobian_of(out, inputs, create_graph, strict):
    """For each input the Jacobian of one output."""
    flat = out.reshape(-1)
    lines = [_grads([flat[j]], inputs, None, create_graph, strict)
             for j in range(flat.nelement())]
    for k, i in enumerate(inputs):
        if lines:
            jac = _C.stack([line[k] for line in lines])
        else:
            jac = i.new_zeros((0,) + tuple(i.shape))
        yield jac.reshape(tuple(out.shape) + tuple(i.shape))


def _scalar(out):
    if not isinstance(out, _C.Tensor):
        raise RuntimeError("The function given to hessian should return a single Tensor")
    if out.nelement() != 1:
        raise RuntimeError("The Tensor returned by the function given to hessian should contain a "
                           "single element")
    return out.reshape(())


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):
    """The Hessian of a function with one output element. vectorize: as in jacobian."""
    inputs, many = _tuple_of(inputs, "inputs given to hessian")

    def value(*args):
        out = func(*args)
        _tuple_of(out, "outputs of the user-provided function", " given to hessian")
        out = _scalar(out)
        if strict:
            _strictly((out,))
        return out

    def gradient(*args):
        first = jacobian(value, args, create_graph=True)
        if strict:
            _strictly(first, "jacobian")
        return first

    rows = jacobian(gradient, inputs, create_graph, strict, vectorize)
    return rows if many else rows[0][0]


def _first(func, inputs, create_graph, strict, name):
    """(inputs, output, gradient with a history) of a function with one output element."""
    inputs = _entry(inputs, create_graph)
    out, many = _tuple_of(func(*inputs), "outputs of the user-provided function",
                          f" given to {name}")
    if many or out[0].nelement() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a "
                           "single element")
    if strict:
        _strictly(out)
    first = _grad(out, inputs, create_graph=True, allow_unused=True) if out[0].requires_grad \
        else (None,) * len(inputs)
    missing = [i for i, g in enumerate(first) if g is None]
    if strict and missing:
        raise RuntimeError(_INDEPENDENT["output"].format(missing[0]))
    first = tuple(_C.zeros_like(i) if g is None else g for g, i in zip(first, inputs, strict=True))
    if strict:
        _strictly(first, "jacobian")
    return inputs, out, first


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), the product of v with the Hessian)."""
    with _C.enable_grad():
        inputs, many = _tuple_of(inputs, "inputs given to vhp")
        v = _vector(v, inputs, "input", "vhp")
        inputs, out, first = _first(func, inputs, create_graph, strict, "vhp")
        product = _grads(first, inputs, v, create_graph, strict and _INDEPENDENT["gradient"])
    return _shape_back(out, False, create_graph), _shape_back(product, many, create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), the product of the Hessian with v): vhp's, as the Hessian is symmetric, by
    a third backward pass."""
    with _C.enable_grad():
        inputs, many = _tuple_of(inputs, "inputs given to hvp")
        v = _vector(v, inputs, "input", "hvp")
        inputs, out, first = _first(func, inputs, create_graph, strict, "hvp")
        seeds = tuple(_C.zeros_like(i).requires_grad_() for i in inputs)
        second = _grads(first, inputs, seeds, True, strict and _INDEPENDENT["gradient"])
        product = _grads(second, seeds, v, create_graph)
    return _shape_back(out, False, create_graph), _shape_back(product, many, create_graph)
