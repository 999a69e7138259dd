"""The version of torch whose interface this is, with the package's own behind the +: a text that
compares as versions do, as programs expect of torch.__version__."""

__all__ = ["TorchVersion"]
_FORM = r"(?i)\s*v?(\d+(?:\.\d+)*)[._-]?((?:a|b|rc|alpha|beta|dev)\.?\d*)?(\+\S*)?\s*"


def _key(version):
    """What versions are compared by; None: no version."""
    import re  # which the import of the package does not need

    if isinstance(version, (tuple, list)):
        version = ".".join(map(str, version))
    found = re.fullmatch(_FORM, version) if isinstance(version, str) else None
    if not found:
        return None
    numbers = [int(n) for n in found[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers, found[2] is None, (found[2] or "").lower(), found[3] or ""


class TorchVersion(str):
    """A text that is compared with texts and tuples as a version: "2.15.0+x" >= "2.9"."""

    def _compare(self, other, of):
        mine, theirs = _key(str(self)), _key(other)
        if mine is not None and theirs is not None:
            return of(mine, theirs)
        return of(str(self), other) if isinstance(other, str) else NotImplemented

    def __lt__(self, other):
        return self._compare(other, lambda a, b: a < b)

    def __le__(self, other):
        return self._compare(other, lambda a, b: a <= b)

    def __gt__(self, other):
        return self._compare(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self._compare(other, lambda a, b: a >= b)

    def __eq__(self, other):
        return self._compare(other, lambda a, b: a == b)

    def __ne__(self, other):
        return self._compare(other, lambda a, b: a != b)

    __hash__ = str.__hash__
