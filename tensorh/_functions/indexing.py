"""Reading and writing by index."""

from ._marks import both, function, method


@both
def argwhere(input):
    """Indices of the elements that are not 0, as rows."""
    return input.nonzero()


@both
def take(input, index):
    """Elements at positions in input as one dimension."""
    return input.reshape(-1)[index]


@both
def put(input, index, source, accumulate=False):
    """A copy with source at positions in input as one dimension."""
    flat = input.reshape(-1).clone()
    index = index.reshape(-1)
    flat.index_put_((index,), source.reshape(-1), accumulate)
    return flat.reshape(input.shape)


@both
def index_copy(input, dim, index, source):
    """A copy with source's slices at index along dim."""
    r = input.clone()
    if not r.dim():
        return r.copy_(source.reshape(()))
    r.movedim(dim, 0)[index] = source.movedim(dim, 0)
    return r


@both
def index_fill(input, dim, index, value):
    """A copy with value at index along dim."""
    r = input.clone()
    if not r.dim():
        return r.fill_(value)
    r.movedim(dim, 0)[index] = value
    return r


@method
def fill_diagonal_(self, fill_value, wrap=False):
    """fill_value on the main diagonal; with wrap again below the square of a tall matrix."""
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    step, n = sum(self.stride()), min(self.shape)
    self.as_strided((n,), (step,), self.storage_offset()).fill_(fill_value)
    rows, columns = self.shape[0], self.shape[1]
    if wrap and self.dim() == 2:
        for top in range(columns + 1, rows, columns + 1):
            self[top : top + columns].fill_diagonal_(fill_value)
    return self


@function
def unravel_index(indices, shape):
    """Coordinates of positions in a tensor of that shape."""
    r = []
    for n in reversed([shape] if isinstance(shape, int) else shape):
        r.append(indices.remainder(n))
        indices = indices.floor_divide(n)
    return tuple(reversed(r))


@function
def numel(input):
    """The number of elements."""
    return input.nelement()
