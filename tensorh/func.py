"""torch.func: functions of functions, by nested backward passes; there is no vmap."""

import functools

from . import _C

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp",
]  # fmt: skip


# Trees of tensors: tuples, lists and dictionaries.


def _flatten(tree, leaves):
    if isinstance(tree, (tuple, list)):
        for t in tree:
            _flatten(t, leaves)
    elif isinstance(tree, dict):
        for t in tree.values():
            _flatten(t, leaves)
    else:
        leaves.append(tree)
    return leaves


def _rebuild(tree, leaves):
    """The tree with its leaves taken from an iterator."""
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(_rebuild(t, leaves) for t in tree))
    if isinstance(tree, (tuple, list)):
        return type(tree)(_rebuild(t, leaves) for t in tree)
    if isinstance(tree, dict):
        return {k: _rebuild(t, leaves) for k, t in tree.items()}
    return next(leaves)


def _enter(tree):
    """A tree of tensors to differentiate by, with a history to the caller's; those tensors."""
    leaves = _flatten(tree, [])
    for leaf in leaves:
        if not isinstance(leaf, _C.Tensor):
            raise ValueError(f"expected Tensors to differentiate by, got {type(leaf)}")
    mine = [_own(t) for t in leaves]
    return _rebuild(tree, iter(mine)), mine


def _own(t):
    """A tensor to differentiate by: with t's history, or without one a leaf."""
    if t.requires_grad:
        return t.view(t.shape)
    return _ordinary(t).detach().requires_grad_()


def _ordinary(t):
    """t, or a copy that can be recorded of what was made in inference mode."""
    return t.clone() if t.is_inference() else t


def _leaves_of(node, seen):
    """Leaves that the call `node` depends on."""
    todo = [node]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if leaf is not None:
            yield leaf
        todo.extend(n for n, _ in node.next_functions)


def _leave(tensors, mine):
    """Results without the history that leads to nothing but `mine`, or that the caller's mode does
    not record."""
    own, recorded = {id(t) for t in mine}, _C.is_grad_enabled()
    results = []
    for t in tensors:
        if isinstance(t, _C.Tensor) and t.requires_grad:
            leaves = [t] if t.is_leaf else _leaves_of(t.grad_fn, set()) if recorded else ()
            if all(id(leaf) in own for leaf in leaves):
                t = t.detach()
        results.append(t)
    return results


def _split(argnums, args):
    for n in (argnums,) if isinstance(argnums, int) else argnums:
        if not -len(args) <= n < len(args):
            raise RuntimeError(f"Got argnum={n}, but only {len(args)} positional inputs")
    if isinstance(argnums, int):
        return args[argnums]
    return tuple(args[n] for n in argnums)


def _join(argnums, args, given):
    args = list(args)
    if isinstance(argnums, int):
        args[argnums] = given
    else:
        for n, g in zip(argnums, given, strict=True):
            args[n] = g
    return args


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that returns (gradient, value) of func, whose value is a scalar tensor."""

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        with _C.inference_mode(False), _C.enable_grad():
            tree = _split(argnums, args)
            given, mine = _enter(tree)
            output = func(*_join(argnums, args, given), **kwargs)
            aux = None
            if has_aux:
                output, aux = output
            if not isinstance(output, _C.Tensor):
                raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a "
                                   f"Tensor, got a {type(output)}")
            if output.dim() != 0:
                raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a scalar "
                                   f"Tensor, got tensor with {output.dim()} dims. Maybe you "
                                   "wanted to use the vjp or jacrev APIs instead?")
            grads = _pull([output], mine, None)
        left = _leave([*grads, output, *_flatten(aux, [])], mine)
        n = len(grads)
        value = left[n] if not has_aux else (left[n], _rebuild(aux, iter(left[n + 1:])))
        return _rebuild(tree, iter(left[:n])), value

    return wrapped


def _pull(outputs, inputs, seeds):
    """Gradients with a history; zeros where there are none."""
    kept = [i for i, o in enumerate(outputs) if o.requires_grad]
    if not kept:
        return [_C.zeros_like(i) for i in inputs]
    seeds = None if seeds is None else [seeds[i] for i in kept]
    return list(_C._grad([outputs[i] for i in kept], inputs, seeds, create_graph=True,
                         materialize_grads=True))


def grad(func, argnums=0, has_aux=False):
    """A function that returns the gradient of func by its argument argnums (and aux)."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapped


def vjp(func, *primals, has_aux=False):
    """(func(*primals), a function from cotangents of the output to those of primals[, aux])."""
    with _C.inference_mode(False), _C.enable_grad():
        given, mine = _enter(primals)
        output = func(*given)
        aux = None
        if has_aux:
            output, aux = output
    outputs = _flatten(output, [])

    def pull_back(*cotangents, retain_graph=True, create_graph=None):
        seeds = _flatten(cotangents if isinstance(output, tuple) and len(cotangents) > 1
                         else cotangents[0], [])
        if len(seeds) != len(outputs):
            raise RuntimeError(f"Expected {len(outputs)} cotangents, got {len(seeds)}")
        with _C.inference_mode(False), _C.enable_grad():
            grads = _pull(outputs, mine, [_ordinary(t) for t in seeds])
        return _rebuild(primals, iter(_leave(grads, mine)))

    shown = _rebuild(output, iter(_leave(outputs, mine)))
    if not has_aux:
        return shown, pull_back
    return shown, pull_back, _rebuild(aux, iter(_leave(_flatten(aux, []), mine)))


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), the product of its Jacobian with tangents[, aux]), by two backward passes:
    the gradient of the gradient's product with a seed, which is linear in the seed."""
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals and tangents to be tuples")
    with _C.inference_mode(False), _C.enable_grad():
        given, mine = _enter(primals)
        along = [_ordinary(t) for t in _flatten(tangents, [])]
        if [t.shape for t in along] != [t.shape for t in mine]:
            raise RuntimeError("jvp(f, primals, tangents): Expected primals and tangents to have "
                               "the same structure and shapes")
        output = func(*given)
        aux = None
        if has_aux:
            output, aux = output
        outputs = _flatten(output, [])
        seeds = [_C.zeros_like(o).requires_grad_() for o in outputs]
        grads = _pull(outputs, mine, seeds)
        if strict and not all(o.requires_grad for o in outputs):
            raise RuntimeError("jvp(f, primals, tangents, strict=True): an output does not depend "
                               "on the primals")
        products = _pull(grads, seeds, along)
    shown = _rebuild(output, iter(_leave(outputs, mine)))
    products = _rebuild(output, iter(_leave(products, mine + seeds)))
    if not has_aux:
        return shown, products
    return shown, products, _rebuild(aux, iter(_leave(_flatten(aux, []), mine)))


def _jacobian_of(out, mine):
    """For each tensor the Jacobian of one output."""
    flat = out.reshape(-1)
    lines = [_pull([flat[j]], mine, None) for j in range(flat.nelement())]
    for k, t in enumerate(mine):
        jac = _C.zeros((0, *t.shape), dtype=t.dtype)
        if lines:
            jac = _C.stack([line[k] for line in lines])
        yield jac.reshape(tuple(out.shape) + tuple(t.shape))


def jacrev(func, argnums=0, has_aux=False, *, chunk_size=None,
           _preallocate_and_copy=False):
    """A function that returns the Jacobian of func by its argument argnums (and aux)."""

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        with _C.inference_mode(False), _C.enable_grad():
            tree = _split(argnums, args)
            given, mine = _enter(tree)
            output = func(*_join(argnums, args, given), **kwargs)
            aux = None
            if has_aux:
                output, aux = output
            rows = [list(_jacobian_of(out, mine)) for out in _flatten(output, [])]
        rows = [_rebuild(tree, iter(_leave(row, mine))) for row in rows]
        jacobians = _rebuild(output, iter(rows))
        if not has_aux:
            return jacobians
        return jacobians, _rebuild(aux, iter(_leave(_flatten(aux, []), mine)))

    return wrapped


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """What jacrev returns, which is computed by rows here too. randomness: accepted."""
    return jacrev(func, argnums, has_aux)


def hessian(func, argnums=0):
    """A function that returns the Hessian of func by its argument argnums."""
    return jacrev(jacrev(func, argnums), argnums)


def _twins(module):
    """The names of parameters and buffers by the tensor that they share."""
    names = {}
    for kind in (module.named_parameters, module.named_buffers):
        for name, t in kind(remove_duplicate=False):
            names.setdefault(id(t), []).append(name)
    return names


def _places(module, given, tie_weights, strict):
    """{name: tensor} for every place that is to be filled."""
    twins = _twins(module)
    places = {}
    if tie_weights:
        for names in twins.values():
            values = {id(given[n]) for n in names if n in given}
            if len(values) > 1:
                raise ValueError(f"functional_call got multiple values for keys {sorted(names)}, "
                                 "which are tied. Consider using tie_weights=False")
            if values:
                places.update(dict.fromkeys(names, next(given[n] for n in names if n in given)))
    known = {n for names in twins.values() for n in names}
    unknown = [n for n in given if n not in known]
    missing = [n for n in known if n not in places and n not in given]
    if unknown or (strict and missing):
        if strict:
            text = f"Error(s) in reparametrizing for {type(module).__name__}:"
            for what, names in (("Unexpected", unknown), ("Missing", missing)):
                if names:
                    text += f"\n\t{what} key(s): {', '.join(map(repr, names))}."
            raise RuntimeError(text)
        places.update((n, given[n]) for n in given if n in known)
        return places
    return {**places, **given}


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *,
                    tie_weights=True, strict=False):
    """module(*args, **kwargs) with these tensors in the place of its parameters and buffers.

    parameter_and_buffer_dicts: {name: tensor}, or several of them; what they do not name stays.
    The module has its own tensors again when the call ends.
    """
    dicts = parameter_and_buffer_dicts
    if isinstance(dicts, (list, tuple)):
        given = {name: t for d in dicts for name, t in d.items()}
        if len(given) != sum(map(len, dicts)):
            raise ValueError("some names stand in more than one of parameter_and_buffer_dicts")
    else:
        given = dict(dicts)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    before = []
    try:
        for name, tensor in _places(module, given, tie_weights, strict).items():
            path, _, last = name.rpartition(".")
            owner = module.get_submodule(path)
            store = owner._parameters if last in owner._parameters else owner._buffers
            before.append((store, last, store[last]))
            store[last] = tensor
        return module(*args, **(kwargs or {}))
    finally:
        for store, last, tensor in reversed(before):
            store[last] = tensor


def __getattr__(name):
    from ._missing import error

    raise error("torch.func", name)
