"""gradcheck and gradgradcheck: gradients beside central differences, in double precision."""

import warnings

from .. import _C

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A gradient and the differences disagree."""


def _tuple_of(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _asked(tensors):
    return [t for t in tensors if isinstance(t, _C.Tensor) and t.requires_grad]


def _has_gradient(o):
    return isinstance(o, _C.Tensor) and (o.dtype.is_floating_point or o.dtype.is_complex)


def _parts(outputs):
    """Real outputs: of a complex one its two parts, each with a name for messages."""
    for i, o in enumerate(outputs):
        if not _has_gradient(o):
            continue
        if o.dtype.is_complex:
            yield f"{i}", "Real", _C.real(o)
            yield f"{i}", "Imaginary", _C.imag(o)
        else:
            yield f"{i}", "", o


def _check_inputs(inputs):
    asked = _asked(inputs)
    if not asked:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but "
                         "none of them have requires_grad=True.")
    for i, t in enumerate(inputs):
        if not isinstance(t, _C.Tensor) or not t.requires_grad:
            continue
        if t.dtype not in (_C.float64, _C.complex128):
            warnings.warn(f"Input #{i} requires gradient and is not a double precision floating "
                          "point or complex. This check will likely fail if all the inputs are "
                          "not of double precision floating point or complex.", stacklevel=4)
        if any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride(), strict=True)):
            raise RuntimeError(f"The {i}th input has a dimension with stride 0. gradcheck only "
                               "supports inputs that are non-overlapping to be able to compute "
                               "the numerical gradients correctly. You should call .contiguous "
                               "on the input before passing it to gradcheck.")


def _around(func, inputs, write, step):
    """Slopes of the real outputs where write(+1) and write(-1) put the values of two places; func
    runs as it does for the user, recorded."""
    places = []
    for side in (1, -1):
        write(side)
        with _C.enable_grad():
            outputs = _tuple_of(func(*inputs))
        places.append([p.detach().clone() for _, _, p in _parts(outputs)])
    for a, b in zip(*places, strict=True):
        for what, one, two in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
            if one != two:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are "
                    f"perturbed by {step}, but got:\n {what}s {one} and {two}."
                )
    return [(a - b) / (2 * step) for a, b in zip(*places, strict=True)]


def _numerical(func, inputs, t, eps):
    """For each real part of the outputs the Jacobian (elements of t, elements of the output)."""
    steps = (eps, 1j * eps) if t.dtype.is_complex else (eps,)
    rows, data = [], t.data
    for index in _indices(t.shape):
        kept, row = data[index].item(), None
        for step in steps:
            def write(side, index=index, kept=kept, step=step):
                data[index] = kept + side * step

            try:
                slope = [s.reshape(-1) for s in _around(func, inputs, write, eps)]
            finally:
                data[index] = kept
            row = slope if row is None else [a + 1j * b for a, b in zip(row, slope, strict=True)]
        rows.append(row)
    if not rows:
        return None
    return [_C.stack([r[k] for r in rows]) for k in range(len(rows[0]))]


def _direction(t):
    """A random vector of length 1 like t, real."""
    v = _C.rand(t.shape, dtype=_C.real(t).dtype if t.dtype.is_complex else t.dtype,
                device=t.device)
    return v / v.norm() if v.nelement() else v


def _check_fast(func, inputs, asked, parts, eps, atol, rtol):
    """Whether each Jacobian, between a random direction of the input and one of the output, is
    what differences along these say."""
    us, vs = [_direction(p) for _, _, p in parts], [_direction(t) for t in asked]
    wanted = [[0j] * len(parts) for _ in asked]
    for j, (_, _, part) in enumerate(parts):  # before the inputs are written
        if not part.requires_grad:
            continue
        grads = _C._grad(part, asked, us[j], retain_graph=True, allow_unused=True)
        for k, (g, t) in enumerate(zip(grads, asked, strict=True)):
            if g is not None and (g.dtype != t.dtype or g.shape != t.shape):
                raise GradcheckError(f"grad is {g.dtype} {tuple(g.shape)} of an input {t.dtype} "
                                     f"{tuple(t.shape)}")
            if g is not None and g.nelement():
                wanted[k][j] = complex((g * vs[k]).sum().item())
    for k, t in enumerate(asked):
        v, data, kept = vs[k], t.data, t.detach().clone()
        for unit in (1, 1j) if t.dtype.is_complex else (1,):
            def write(side, unit=unit, v=v, data=data, kept=kept):
                data.copy_(kept + side * eps * unit * v)

            try:
                slopes = _around(func, inputs, write, eps)
            finally:
                data.copy_(kept)
            for j, (slope, u) in enumerate(zip(slopes, us, strict=True)):
                want, got = wanted[k][j], float((slope * u).sum())
                want = want.real if unit == 1 else want.imag
                room = atol * float(u.sum() * v.sum()) + rtol * abs(got)
                if not abs(got - want) <= room:
                    return False
    return True


def _indices(shape):
    import itertools

    return itertools.product(*(range(n) for n in shape))


def _analytical(part, inputs):
    """For each input the Jacobian of one real output, in the layout of _numerical."""
    flat = part.reshape(-1)
    columns = [[] for _ in inputs]
    for j in range(flat.nelement()):
        grads = (None,) * len(inputs)
        if flat.requires_grad:
            grads = _C._grad(flat[j], inputs, retain_graph=True, allow_unused=True)
        for k, (g, i) in enumerate(zip(grads, inputs, strict=True)):
            g = _C.zeros_like(i) if g is None else g
            if g.dtype != i.dtype or g.shape != i.shape:
                raise GradcheckError(f"grad is {g.dtype} {tuple(g.shape)} of an input {i.dtype} "
                                     f"{tuple(i.shape)}")
            columns[k].append(g.reshape(-1))
    return [_C.stack(c, 1) if c else i.new_zeros((i.nelement(), 0))
            for c, i in zip(columns, inputs, strict=True)]


def _forward(func, inputs, k):
    """The Jacobian by input k, in the layout of _numerical, by tangents of its elements."""
    from . import forward_ad

    t = inputs[k].detach()
    units = (1, 1j) if t.dtype.is_complex else (1,)
    rows = []
    for index in _indices(t.shape):
        row = None
        for unit in units:
            along = _C.zeros_like(t)
            along[index] = unit
            with forward_ad.dual_level():
                given = list(inputs)
                given[k] = forward_ad.make_dual(t, along)
                pairs = [forward_ad.unpack_dual(o) for o in _tuple_of(func(*given))
                         if _has_gradient(o)]
            whole = [_C.zeros_like(p) if g is None else g for p, g in pairs]
            slope = [p.detach().reshape(-1) for _, _, p in _parts(whole)]
            row = slope if row is None else [a + unit * b
                                             for a, b in zip(row, slope, strict=True)]
        rows.append(row)
    if not rows:
        return None
    return [_C.stack([r[j] for r in rows]) for j in range(len(rows[0]))]


def _check_forward(func, inputs, eps, atol, rtol):
    _check_inputs(inputs)
    outputs = list(_parts(_tuple_of(func(*inputs))))
    asked = [k for k, t in enumerate(inputs) if isinstance(t, _C.Tensor) and t.requires_grad]
    for n, k in enumerate(asked):
        forward, numerical = _forward(func, inputs, k), _numerical(func, inputs, inputs[k], eps)
        for j, (name, which, _) in enumerate(outputs):
            _compare(name, which, n, forward and forward[j], numerical and numerical[j], atol, rtol)


def _compare(name, which, k, analytical, numerical, atol, rtol):
    if numerical is None or not numerical.nelement():
        return
    analytical = analytical.to(numerical.dtype)
    if not bool(_C.all(_C.abs(analytical - numerical) <= atol + rtol * _C.abs(numerical))):
        of = ""
        if which:
            of = f"While considering the {which.lower()} part of complex outputs only, "
        raise GradcheckError(f"{of}Jacobian mismatch for output {name} with respect to input {k},\n"
                             f"numerical:{numerical}\nanalytical:{analytical}\n")


def _check_repeats(func, inputs, asked, tol):
    """Backward gives the same twice."""
    for name, _, part in _parts(_tuple_of(func(*inputs))):
        if not part.requires_grad:
            continue
        seed = _C.ones_like(part)
        one, two = (_C._grad(part, asked, seed, retain_graph=True, allow_unused=True)
                    for _ in range(2))
        for a, b in zip(one, two, strict=True):
            if a is not None and a.nelement() and bool((_C.abs(a - b) > tol).any()):
                raise GradcheckError("Backward is not reentrant, i.e., running backward with same "
                                     "input and grad_output multiple times gives different "
                                     f"values, although analytical gradient matches numerical "
                                     f"gradient for output {name}. The tolerance for "
                                     f"nondeterminism was {tol}.")


def _check_undefined(func, inputs, asked):
    """A backward that is given no gradient for one of several outputs goes through."""
    outputs = [o for o in _tuple_of(func(*inputs))
               if isinstance(o, _C.Tensor) and o.requires_grad]
    for k in range(len(outputs) if len(outputs) > 1 else 0):
        try:
            _C._grad(outputs[:k] + outputs[k + 1:],
                     asked, [_C.ones_like(o) for i, o in enumerate(outputs) if i != k],
                     retain_graph=True, allow_unused=True)
        except MemoryError:
            raise
        except RuntimeError as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Please look at "
                '"Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
            ) from error


def _check_batched(func, inputs, asked):
    """One backward of two seeds at once gives what two backwards give."""
    from .. import _vmap

    for name, _, part in _parts(_tuple_of(func(*inputs))):
        if not part.requires_grad:
            continue
        seeds = [_random(part) for _ in range(2)]
        each = [_C._grad(part, asked, s, retain_graph=True, allow_unused=True) for s in seeds]
        once = _vmap.grads([part], asked, [_C.stack(seeds)], retain_graph=True, allow_unused=True)
        for k, got in enumerate(once):
            want = [e[k] for e in each]
            if got is None and want[0] is None:
                continue
            want = _C.stack([_C.zeros_like(asked[k]) if w is None else w for w in want])
            if got is None or not _C.allclose(got, want):
                raise GradcheckError(
                    f"gradcheck or gradgradcheck failed while testing batched gradient "
                    f"computation.\nFor output {name} and input {k}:\n\nGot:\n{got}\n\n"
                    f"Expected:\n{want}\n")


def _check_batched_forward(func, inputs):
    """Tangents of a batch give what each gives alone."""
    from .. import func as functions

    for k, t in enumerate(inputs):
        if not isinstance(t, _C.Tensor) or not t.requires_grad:
            continue

        def tangent(v, k=k, t=t):
            def of(x):
                given = list(inputs)
                given[k] = x
                return tuple(o for o in _tuple_of(func(*given)) if _has_gradient(o))

            return functions.jvp(of, (t.detach(),), (v,))[1]

        seeds = [_random(t) for _ in range(2)]
        once = functions.vmap(tangent)(_C.stack(seeds))
        each = [tangent(s) for s in seeds]
        for j, got in enumerate(once):
            want = _C.stack([e[j] for e in each])
            if not _C.allclose(got, want):
                raise GradcheckError(
                    "gradcheck failed while testing batched forward gradient computation.\n"
                    f"For output {j} and input {k}:\n\nGot:\n{got}\n\nExpected:\n{want}\n")


def _check(func, inputs, eps, atol, rtol, nondet_tol, check_undefined_grad, batched, fast):
    _check_inputs(inputs)
    asked = _asked(inputs)
    with _C.enable_grad():
        outputs = _tuple_of(func(*inputs))
        parts = list(_parts(outputs))
        if not any(p.requires_grad for _, _, p in parts):
            if any(bool(_C.any(n != 0)) for t in asked
                   for n in _numerical(func, inputs, t, eps) or ()):
                raise GradcheckError("Numerical gradient for function expected to be zero")
            return True
        rounds = 1 if all(t.dtype in (_C.float64, _C.complex128) for t in asked) else 4
        fits = fast and all(_check_fast(func, inputs, asked, parts, eps, atol, rtol)
                            for _ in range(rounds))  # coarse differences agree by chance
        if fast and not fits:  # the inputs have been written since
            parts = list(_parts(_tuple_of(func(*inputs))))
        analytical = [] if fits else [_analytical(p, asked) for _, _, p in parts]
        for k, t in enumerate(() if fits else asked):
            numerical = _numerical(func, inputs, t, eps)
            order = sorted(range(len(parts)), key=lambda j: parts[j][1] != "Imaginary")
            for j in order:  # imaginary parts first, as torch
                name, which, _ = parts[j]
                _compare(name, which, k, analytical[j][k], numerical and numerical[j], atol, rtol)
        if batched:
            _check_batched(func, inputs, asked)
        _check_repeats(func, inputs, asked, nondet_tol)
        if check_undefined_grad:
            _check_undefined(func, inputs, asked)
    return True


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True,
              nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False,
              check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False,
              check_backward_ad=True, fast_mode=False, masked=None):
    """True where the gradients of func at inputs agree with central differences of step eps
    within atol + rtol * |difference|, for inputs that require grad.

    check_forward_ad asks the same of tangents (autograd.forward_ad). check_batched_grad compares
    one backward of a batch with one for each of it, check_batched_forward_grad the same of
    tangents. check_grad_dtypes: dtypes are checked in any case. fast_mode: along one random
    direction of each input and output first, and all only where that fails. masked has no effect.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    inputs = _tuple_of(inputs)
    try:
        if check_forward_ad:
            _check_forward(func, inputs, eps, atol, rtol)
        if check_batched_forward_grad:
            _check_batched_forward(func, inputs)
        return not check_backward_ad or _check(func, inputs, eps, atol, rtol, nondet_tol,
                                               check_undefined_grad, check_batched_grad,
                                               fast_mode)
    except GradcheckError:
        if raise_exception:
            raise
        return False


def _random(like):
    if not like.dtype.is_complex:
        return _C.randn(like.shape, dtype=like.dtype, device=like.device)
    parts = _C.randn((2, *like.shape), dtype=_C.real(like).dtype, device=like.device)
    return parts[0] + 1j * parts[1]


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3,
                  gen_non_contig_grad_outputs=False, raise_exception=True, nondet_tol=0.0,
                  check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
                  check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False,
                  masked=False):
    """gradcheck of the gradients themselves, as a function of inputs and grad_outputs (random
    where they are not given).

    Options are those of gradcheck; gen_non_contig_grad_outputs has no effect."""
    inputs = _tuple_of(inputs)
    if grad_outputs is None:
        outputs = [o for o in _tuple_of(func(*inputs)) if _has_gradient(o)]
        grad_outputs = tuple(_random(o).requires_grad_() for o in outputs)
    else:
        grad_outputs = _tuple_of(grad_outputs)
    asked = [i for i, t in enumerate(inputs) if isinstance(t, _C.Tensor) and t.requires_grad]
    n = len(inputs)

    def gradient(*args):
        given = tuple(a.view(a.shape) if i in asked else a for i, a in enumerate(args[:n]))
        outputs = [o for o in _tuple_of(func(*given))
                   if isinstance(o, _C.Tensor) and o.requires_grad]
        wanted = [given[i] for i in asked]
        grads = _C._grad(outputs, wanted, args[n:n + len(outputs)], create_graph=True,
                         allow_unused=True)
        return tuple(g for g in grads if g is not None)

    def recorded(*args):
        with _C.enable_grad():
            args = tuple(a if not isinstance(a, _C.Tensor) or a.requires_grad or i not in asked
                         else a.requires_grad_() for i, a in enumerate(args))
            return gradient(*args)

    return gradcheck(recorded, inputs + grad_outputs, eps=eps, atol=atol, rtol=rtol,
                     raise_exception=raise_exception, nondet_tol=nondet_tol,
                     check_undefined_grad=check_undefined_grad,
                     check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
                     check_forward_ad=check_fwd_over_rev,
                     check_backward_ad=check_rev_over_rev, fast_mode=fast_mode)
