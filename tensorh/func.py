"""torch.func: functions of functions, by nested backward passes; there is no vmap."""

import functools

from . import _C

__all__ = ["grad", "grad_and_value", "hessian", "jacrev", "vjp"]


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
    mine = [
        t.view(t.shape) if t.requires_grad else t.detach().requires_grad_() for t in leaves
    ]
    return _rebuild(tree, iter(mine)), mine


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
    """Results without the history that leads to nothing but `mine`."""
    own = {id(t) for t in mine}
    results = []
    for t in tensors:
        if isinstance(t, _C.Tensor) and t.requires_grad:
            leaves = [t] if t.is_leaf else _leaves_of(t.grad_fn, set())
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
        with _C.enable_grad():
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
            auxes = _flatten(aux, [])
            left = _leave([*grads, output, *auxes], mine)
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
    with _C.enable_grad():
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
        with _C.enable_grad():
            grads = _leave(_pull(outputs, mine, seeds), mine)
        return _rebuild(primals, iter(grads))

    shown = _rebuild(output, iter(_leave(outputs, mine)))
    if not has_aux:
        return shown, pull_back
    return shown, pull_back, _rebuild(aux, iter(_leave(_flatten(aux, []), mine)))


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
        with _C.enable_grad():
            tree = _split(argnums, args)
            given, mine = _enter(tree)
            output = func(*_join(argnums, args, given), **kwargs)
            aux = None
            if has_aux:
                output, aux = output
            rows = []
            for out in _flatten(output, []):
                rows.append(_rebuild(tree, iter(_leave(list(_jacobian_of(out, mine)), mine))))
        jacobians = _rebuild(output, iter(rows))
        return (jacobians, aux) if has_aux else jacobians

    return wrapped


def hessian(func, argnums=0):
    """A function that returns the Hessian of func by its argument argnums."""
    return jacrev(jacrev(func, argnums), argnums)


def __getattr__(name):
    from ._missing import error

    raise error("torch.func", name)
