"""einsum over permute, diagonal, reshape and bmm: operands are taken in one after another."""
from math import prod

from . import _C
from ._C import Tensor


def einsum(equation, *operands):
    """Sums of products: einsum("ij,jk->ik", a, b); or with lists, einsum(a, [0, 1], .., [0, 2])."""
    if isinstance(equation, Tensor):
        equation, operands = _of_lists(equation, *operands)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    if not operands:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or "
                         "at least one operand and its subscripts list")  # fmt: skip
    terms, right = _terms(equation)
    if len(terms) != len(operands):
        raise RuntimeError(
            "einsum(): "
            + ("fewer" if len(operands) < len(terms) else "more")
            + " operands were provided than specified in the equation"
        )
    dots = max((x.dim() - len(t.replace("...", "")) for t, x in zip(terms, operands, strict=True)
                if "..." in t), default=0)  # fmt: skip
    terms = [_labels(t, x, k, dots) for k, (t, x) in enumerate(zip(terms, operands, strict=True))]
    if right is not None:
        result = _result(right, dots)
    else:
        every = [c for t in terms for c in t]
        result = sorted(c for c in set(every) if every.count(c) == 1 and isinstance(c, str))
        result = list(range(dots)) + sorted(result, key=lambda c: (c.islower(), c))
    return _contract(terms, list(operands), result)


def _terms(equation):
    """The subscripts of each operand, and those of the result or None, without spaces."""
    left, arrow, right = equation.partition("->")
    terms, at = left.split(","), 0
    for k, term in enumerate(terms):
        _check_term(term, at, f"operand {k}", "for which an ellipsis")
        at += len(term) + 1
    if arrow:
        _check_term(right, at + 1, "output", "but an ellipsis (...)")
    return [t.replace(" ", "") for t in terms], right.replace(" ", "") if arrow else None


def _check_term(term, at, what, twice):
    """Letters and at most one ellipsis; at is where the term begins in the equation."""
    seen, i = False, 0
    while i < len(term):
        c = term[i]
        if c == ".":
            if seen:
                raise RuntimeError(f"einsum(): found '.' for {what} {twice} was already found")
            if term[i : i + 3] != "...":
                raise RuntimeError(
                    f"einsum(): found '.' for {what} that is not part of any ellipsis (...)"
                )
            seen, i = True, i + 2
        elif c != " " and not (c.isascii() and c.isalpha()):
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {at + i} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
        i += 1


def _of_lists(*args):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # in the order of results
    operands, lists = args[::2], list(args[1::2])
    operands = operands[: len(lists)] if len(args) % 2 == 0 else operands[:-1]
    out = [args[-1]] if len(args) % 2 else []
    if any(i is not Ellipsis and not 0 <= i < 52 for one in lists + out for i in one):
        raise ValueError(
            "einsum(): subscript in subscript list is not within the valid range [0, 52)"
        )
    texts = ["".join("..." if i is Ellipsis else letters[i] for i in one) for one in lists]
    if len(args) % 2:
        out = "".join("..." if i is Ellipsis else letters[i] for i in args[-1])
        return ",".join(texts) + "->" + out, operands
    return ",".join(texts), operands


def _result(term, dots):
    """Letters, with numbers for the dimensions of an ellipsis."""
    before, ellipsis, after = term.partition("...")
    for c in before + after:
        if (before + after).count(c) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {c} appears more than once in the output"
            )
    return [*before, *(range(dots) if ellipsis else ()), *after]


def _labels(term, operand, k, dots):
    """The same of operand k."""
    before, ellipsis, after = term.partition("...")
    n = operand.dim() - len(before + after)
    if n < 0 or (n and not ellipsis):
        differs = "is more than" if ellipsis else "does not match"
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({len(before + after)}) {differs} "
            f"the number of dimensions ({operand.dim()}) for operand {k}"
            + ("" if ellipsis else " and no ellipsis was given")
        )
    return [*before, *(range(dots - n, dots) if ellipsis else ()), *after]


def _contract(terms, operands, result):
    for i, (labels, x) in enumerate(zip(terms, operands, strict=True)):
        terms[i], operands[i] = _diagonals(list(labels), x, i)
    size = {}
    for i, (labels, x) in enumerate(zip(terms, operands, strict=True)):
        for c, n in zip(labels, x.shape, strict=True):
            if size.setdefault(c, n) != n and n != 1:
                if size[c] != 1:
                    raise RuntimeError(
                        f"einsum(): subscript {c} has size {n} for operand {i} which does not "
                        f"broadcast with previously seen size {size[c]}"
                    )
                size[c] = n
    missing = [c for c in result if c not in size]
    if missing:
        raise RuntimeError(
            f"einsum(): output subscript {missing[0]} does not appear in the equation for any "
            "input operand"
        )
    labels, x = terms[0], operands[0]
    for k in range(1, len(terms)):
        later = set(result).union(*terms[k + 1 :])
        labels, x = _pair(labels, x, terms[k], operands[k], later, size)
    gone = [i for i, c in enumerate(labels) if c not in result]
    if gone:
        x = x.sum(gone)
        labels = [c for c in labels if c in result]
    return x.permute([labels.index(c) for c in result]) if result else x


def _diagonals(labels, x, k):
    for c in set(labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            if x.shape[i] != x.shape[j]:
                raise RuntimeError(
                    f"einsum(): subscript {c} is repeated for operand {k} but the sizes don't "
                    f"match, {x.shape[j]} != {x.shape[i]}"
                )
            x = x.diagonal(0, i, j)
            del labels[j], labels[i]
            labels.append(c)
    return labels, x


def _pair(la, a, lb, b, later, size):
    """The product of two operands, summed over what neither the result nor a later operand has."""
    la, a = _sum_out(la, a, later | set(lb))
    lb, b = _sum_out(lb, b, later | set(la))
    la, a, lb, b = _ones_out(la, a, lb, b, later, size)
    shared = [c for c in la if c in lb]
    batch, inner = [c for c in shared if c in later], [c for c in shared if c not in later]
    ra, rb = [c for c in la if c not in lb], [c for c in lb if c not in la]
    a = _ordered(la, a, batch + ra + inner)
    b = _ordered(lb, b, batch + inner + rb)
    na, nb, n = len(batch), len(batch) + len(ra), prod(a.shape[len(batch) + len(ra) :])
    shape = [*a.shape[:nb], *b.shape[na + len(inner) :]]
    if a.dtype is not b.dtype:  # a sum of small integers is an int64
        a, b = (x.to(_C.promote_types(a.dtype, b.dtype)) for x in (a, b))
    m = _C.bmm(
        a.reshape(prod(a.shape[:na]), prod(a.shape[na:nb]), n),
        b.reshape(prod(b.shape[:na]), n, prod(b.shape[na + len(inner) :])),
    )
    return batch + ra + rb, m.reshape(shape)


def _sum_out(labels, x, keep):
    gone = [i for i, c in enumerate(labels) if c not in keep]
    return ([c for c in labels if c in keep], x.sum(gone)) if gone else (labels, x)


def _ones_out(la, a, lb, b, later, size):
    """A label of size 1 in one operand alone broadcasts: it leaves that operand."""
    ones_a = [c for c, n in zip(la, a.shape, strict=True) if n == 1 and size[c] != 1 and c in lb]
    ones_b = [c for c, n in zip(lb, b.shape, strict=True)
              if n == 1 and size[c] != 1 and c in la and c not in ones_a]  # fmt: skip
    for c in ones_a:
        a = a.squeeze(la.index(c))
        la = [d for d in la if d != c]
    for c in ones_b:
        b = b.squeeze(lb.index(c))
        lb = [d for d in lb if d != c]
    la, a = _sum_out(la, a, later | set(lb))
    lb, b = _sum_out(lb, b, later | set(la))
    return la, a, lb, b


def _ordered(labels, x, order):
    return x.permute([labels.index(c) for c in order])
