"""torch.func: functions of functions, by nested backward passes and batches."""

import functools

from . import _C
from . import _vmap as _batches
from ._vmap import vmap

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
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
    """A tensor to differentiate by: with t's history, or without one a leaf; in a batch, with a
    gradient of its own in each sample."""
    t = _batches.each(t)
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
    own, recorded = {_C._address(t) for t in mine}, _C.is_grad_enabled()
    results = []
    for t in tensors:
        if isinstance(t, _C.Tensor) and t.requires_grad:
            leaves = [t] if t.is_leaf else _leaves_of(t.grad_fn, set()) if recorded else ()
            if all(_C._address(leaf) in own for leaf in leaves):
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


def _jacobian_of(out, mine, chunk):
    """For each tensor the Jacobian of one output: one backward for at most `chunk` rows."""
    n, shape = out.nelement(), tuple(out.shape)
    if not n or not out.requires_grad:
        for t in mine:
            yield t.new_zeros(shape + tuple(t.shape))
        return
    seeds = _C.eye(n, dtype=out.dtype, device=out.device).reshape((n, *shape))
    parts = [_batches.grads([out], mine, [part], create_graph=True, materialize_grads=True)
             for part in seeds.split(chunk or n)]
    for k, t in enumerate(mine):
        rows = parts[0][k] if len(parts) == 1 else _C.cat([part[k] for part in parts])
        yield rows.reshape(shape + tuple(t.shape))


def jacrev(func, argnums=0, has_aux=False, *, chunk_size=None,
           _preallocate_and_copy=False):
    """A function that returns the Jacobian of func by its argument argnums (and aux), by one
    backward for all its rows, or for chunk_size of them at a time."""
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        with _C.inference_mode(False), _C.enable_grad():
            tree = _split(argnums, args)
            given, mine = _enter(tree)
            output = func(*_join(argnums, args, given), **kwargs)
            aux = None
            if has_aux:
                output, aux = output
            rows = [list(_jacobian_of(out, mine, chunk_size)) for out in _flatten(output, [])]
        rows = [_rebuild(tree, iter(_leave(row, mine))) for row in rows]
        jacobians = _rebuild(output, iter(rows))
        if not has_aux:
            return jacobians
        return jacobians, _rebuild(aux, iter(_leave(_flatten(aux, []), mine)))

    return wrapped


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """What jacrev returns, which is computed by rows here, too. randomness: accepted."""
    return jacrev(func, argnums, has_aux)


def hessian(func, argnums=0):
    """A function that returns the Hessian of func by its argument argnums."""
    return jacrev(jacrev(func, argnums), argnums)


def linearize(func, *primals):
    """(func(*primals), a function from tangents to the product of its Jacobian with them)."""
    output = func(*primals)

    def product(*tangents):
        if len(tangents) != len(primals):
            raise ValueError(f"jvp_fn: expected {len(primals)} tangents, got {len(tangents)}")
        return jvp(func, primals, tangents)[1]

    return output, product


def stack_module_state(models):
    """(parameters, buffers) of models of one class: {name: their tensors, stacked}, for vmap over
    functional_call. Parameters are leaves that require grad as the models' do."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval "
                           "mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(states, leaves):
        return {name: _stack_of([s[name] for s in states], name, leaves) for name in states[0]}

    return (stacked([dict(m.named_parameters()) for m in models], True),
            stacked([dict(m.named_buffers()) for m in models], False))


def _stack_of(tensors, name, leaves):
    wanted = {t.requires_grad for t in tensors}
    if leaves and len(wanted) != 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    with _C.no_grad():
        t = _C.stack(list(tensors))
    return t.requires_grad_(wanted.pop()) if leaves else t


def replace_all_batch_norm_modules_(root):
    """Turns off the running statistics of batch normalisations in root, which then normalise by
    the batch alone, so that nothing is written in place. Returns root."""
    from . import nn

    kinds = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    for module in root.modules():
        if isinstance(module, kinds):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


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
        for path in (n.rpartition(".")[0] for n in unknown):
            module.get_submodule(path)  # a module that is not there is an error, a name is none
        places.update((n, given[n]) for n in given if n in known)
        return places
    return {**places, **given}


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *,
                    tie_weights=True, strict=False):
    """module(*args, **kwargs) with these tensors in the place of its parameters and buffers.

    parameter_and_buffer_dicts: {name: tensor}, or several of them; what they do not name stays.
    The module has its own tensors again when the call ends, and the dict those that stood in their
    places then: a buffer that the call has set anew, say.
    """
    dicts = parameter_and_buffer_dicts
    if isinstance(dicts, (list, tuple)):
        given = {name: t for d in dicts for name, t in d.items()}
        if len(given) != sum(map(len, dicts)):
            raise ValueError("some names stand in more than one of parameter_and_buffer_dicts")
    else:
        given = dict(dicts)
        dicts = (dicts,)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    before = []
    try:
        for name, tensor in _places(module, given, tie_weights, strict).items():
            path, _, last = name.rpartition(".")
            owner = module.get_submodule(path)
            store = owner._parameters if last in owner._parameters else owner._buffers
            before.append((store, last, store[last], name))
            store[last] = tensor
        return module(*args, **(kwargs or {}))
    finally:
        for store, last, tensor, name in reversed(before):
            for d in dicts:
                if name in d and d[name] is not store.get(last, d[name]):
                    d[name] = store[last]
            store[last] = tensor


def __getattr__(name):
    from ._missing import error

    raise error("torch.func", name)
