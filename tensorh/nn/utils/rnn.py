"""torch.nn.utils.rnn: sequences of different lengths as one padded tensor, or packed without the
padding, step by step."""

from collections import namedtuple

from ... import _C
from ..._C import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip
_Packed = namedtuple("PackedSequence", "data batch_sizes sorted_indices unsorted_indices")


class PackedSequence(_Packed):
    """Sequences, longest first: `data` has the first elements of all, then the second elements of
    those that have one, and so on; batch_sizes, int64 on the CPU, how many there are at each step.
    sorted_indices and unsorted_indices lead from the caller's order and back, or are None."""

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:  # (data, batch_sizes), as it was once
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                "created manually. They should be instantiated by functions like "
                "pack_sequence and pack_padded_sequences in nn.utils.rnn."
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """A copy whose data has another dtype or device; itself where nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        at = [None if i is None else i.to(data.device) for i in self[2:]]
        return type(self)(data, self.batch_sizes, *at)

    def cpu(self, *args, **kwargs):
        """On the CPU."""
        return self.to("cpu")

    def cuda(self, *args, **kwargs):
        """On the GPU."""
        return self.to("cuda")

    def double(self):
        """As float64."""
        return self.to(_C.float64)

    def float(self):
        """As float32."""
        return self.to(_C.float32)

    def half(self):
        """As float16."""
        return self.to(_C.float16)

    def long(self):
        """As int64."""
        return self.to(_C.int64)

    def int(self):
        """As int32."""
        return self.to(_C.int32)

    def short(self):
        """As int16."""
        return self.to(_C.int16)

    def char(self):
        """As int8."""
        return self.to(_C.int8)

    def byte(self):
        """As uint8."""
        return self.to(_C.uint8)

    def pin_memory(self):
        """In memory from which copies to a GPU need not wait."""
        at = [None if i is None else i.pin_memory() for i in self[2:]]
        return type(self)(self.data.pin_memory(), self.batch_sizes, *at)

    @property
    def is_cuda(self):
        """Whether the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self):
        """Whether the data is in pinned memory."""
        return self.data.is_pinned()


def invert_permutation(permutation):
    """The permutation that undoes it; None of None."""
    if permutation is None:
        return None
    r = _C.empty_like(permutation)
    return r.scatter_(0, permutation, _C.arange(permutation.numel(), device=permutation.device))


def _counts(lengths):
    """How many of the lengths, longest first, reach each step."""
    sizes = []
    for k in range(len(lengths), 0, -1):
        sizes += [k] * (lengths[k - 1] - len(sizes))
    return sizes


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs input (T, B, *), or (B, T, *) with batch_first, whose sequences have these lengths, a
    list or an int64 tensor. enforce_sorted: they are refused unless they are longest first."""
    if isinstance(lengths, Tensor) and lengths.device.type != "cpu":
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D "
            f"{lengths.device} {_name(lengths)} tensor"
        )
    lengths = _C.as_tensor(lengths, dtype=_C.int64)
    order = None
    if not enforce_sorted:
        lengths, order = _C.sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    if batch_first:
        input = input.transpose(0, 1)
    if lengths.dim() != 1 or input.dim() < 2 or len(lengths) != input.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.numel()} "
            f"(batch_size={input.shape[1] if input.dim() > 1 else 0})"
        )
    numbers = lengths.tolist()
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if not numbers or numbers[-1] <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element "
                           "in 'lengths' that is <= 0")  # fmt: skip
    if any(a < b for a, b in zip(numbers, numbers[1:], strict=False)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You "
            "can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    if numbers[0] > input.shape[0]:
        raise RuntimeError(
            f"Expected the longest of `lengths` to be at most {input.shape[0]}, but got "
            f"{numbers[0]}"
        )
    sizes = _counts(numbers)
    data = _C.cat([input[t, :n] for t, n in enumerate(sizes)])
    return PackedSequence(data, _C.tensor(sizes), order, invert_permutation(order))


def _name(t):
    from ..._functions.dtypes import _scalar_type

    return _scalar_type(t.dtype)


def _lengths(sizes):
    """The lengths, longest first, of the counts of each step."""
    return [sum(n > k for n in sizes) for k in range(sizes[0])]


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """(padded, lengths) in the caller's order: (T, B, *), or (B, T, *) with batch_first. T is the
    longest length, or total_length."""
    sizes = sequence.batch_sizes.tolist()
    steps = len(sizes)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in "
                f"input, but got total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    parts, data = [], sequence.data
    for part in data.split(sizes):
        room = data.new_full((sizes[0] - len(part), *data.shape[1:]), padding_value)
        parts.append(_C.cat([part, room]))
    parts += [data.new_full((sizes[0], *data.shape[1:]), padding_value)] * (steps - len(sizes))
    padded, lengths = _C.stack(parts), _C.tensor(_lengths(sizes))
    if batch_first:
        padded = padded.transpose(0, 1)
    back = sequence.unsorted_indices
    if back is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, back), lengths[back.cpu()]


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Tensors (L, *) as one, (T, B, *), or (B, T, *) with batch_first; T is the longest L."""
    if not hasattr(sequences, "__iter__"):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    longest = max(len(s) for s in sequences)
    rows, kind = [], sequences[0]
    for s in sequences:
        if s.shape[1:] != kind.shape[1:]:
            raise RuntimeError(
                f"The size of tensor a {tuple(kind.shape)} must match the size of tensor b "
                f"{tuple(s.shape)} in all dimensions but the first"
            )
        room = s.new_full((longest - len(s), *s.shape[1:]), padding_value)
        rows.append(_C.cat([s, room] if padding_side == "right" else [room, s]))
    return _C.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The tensors of which pad_sequence made one."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [s[:n] for s, n in zip(padded_sequences, _numbers(lengths), strict=True)]


def _numbers(lengths):
    return lengths.tolist() if isinstance(lengths, Tensor) else lengths


def pack_sequence(sequences, enforce_sorted=True):
    """Packs a list of tensors (L, *)."""
    lengths = [len(s) for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, False, enforce_sorted)


def unpack_sequence(packed_sequences):
    """The tensors of which pack_sequence made one."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def packed_forward(module, forward, packed, hx):
    """A recurrent module on packed sequences: those of one length are one call, so that each has
    the results that it has alone. hx: None, or states (layers, B, H) in the caller's order."""
    sizes, order, back = packed.batch_sizes.tolist(), packed.sorted_indices, packed.unsorted_indices
    begins = [0]
    for n in sizes:
        begins.append(begins[-1] + n)
    single = isinstance(hx, Tensor)
    states = None if hx is None else [hx] if single else list(hx)
    if states is not None and order is not None:
        states = [s.index_select(1, order) for s in states]
    places, outputs, last, k, lengths = [], [], [], 0, _lengths(sizes)
    while k < len(lengths):
        end = k + lengths.count(lengths[k])
        rows = [begins[t] + i for t in range(lengths[k]) for i in range(k, end)]
        x = packed.data[rows].reshape(lengths[k], end - k, *packed.data.shape[1:])
        h = None if states is None else tuple(s[:, k:end].contiguous() for s in states)
        x = x.transpose(0, 1) if module.batch_first else x
        y, h = forward(module, x, h[0] if single else h)
        y = y.transpose(0, 1) if module.batch_first else y
        places += rows
        outputs.append(y.reshape(len(rows), *y.shape[2:]))
        last.append((h,) if isinstance(h, Tensor) else h)
        k = end
    data = _C.cat(outputs)[invert_permutation(_C.tensor(places))]
    states = [_C.cat(parts, 1) for parts in zip(*last, strict=True)]
    if back is not None:
        states = [s.index_select(1, back) for s in states]
    states = states[0] if len(states) == 1 else tuple(states)
    return PackedSequence(data, packed.batch_sizes, order, back), states
