"""What torch.distributed has beside the rows of ranks: calls of lists of tensors, of objects, and
groups of groups. Each is made of these rows, so all ranks agree or fail together."""

import enum
import io
import os
import pickle

from . import _C
from . import distributed as _d

_group, _is_member, _peer = _d._group, _d._is_member, _d._peer


class DistError(RuntimeError):
    """Never raised here: errors of ranks are RuntimeErrors."""


class DistBackendError(DistError):
    """Never raised here."""


class DistNetworkError(DistError):
    """Never raised here."""


class DistStoreError(DistError):
    """A store has waited too long for a key."""


class DebugLevel(enum.IntEnum):
    """How much torch checks of its calls."""

    OFF = 0
    INFO = 1
    DETAIL = 2


def get_debug_level():
    """OFF: all calls are checked in any case, and none is logged."""
    return DebugLevel.OFF


def supports_complex(reduceOp):
    """Whether complex numbers have that reduction: a sum or a mean, in torch's words."""
    return _d.ReduceOp(reduceOp) in (_d.ReduceOp.SUM, _d.ReduceOp.AVG)


def get_node_local_rank(fallback_rank=None):
    """The environment's LOCAL_RANK, or the rank that is given."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError(
            "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
            "`get_node_local_rank` to work, assuming you are not running in a multi-device context "
            "and want the code to run locally instead."
        )
    return int(fallback_rank)


# --- lists of tensors -----------------------------------------------------------------------------


def _root(group, rank, group_rank, what):
    """The number in the group of the rank at which a call begins or ends; 0 if none is given."""
    rank = 0 if rank is None and group_rank is None else rank
    return _peer(group, rank, group_rank, what)


def _list(tensors, size, what, wanted=True):
    """A list of a tensor for each rank; only some ranks give one."""
    if not wanted:
        if tensors:
            raise ValueError(f"Argument ``{what}`` must NOT be specified on this rank.")
        return None
    if not tensors:
        raise ValueError(f"Argument ``{what}`` must be specified on this rank.")
    if len(tensors) != size:
        raise ValueError(f"{what}: expected {size} tensors, one for each rank, got {len(tensors)}")
    return tensors


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """The tensors of all ranks, one into each of the list of rank dst."""
    if not _is_member(group):
        return None
    at, size = _root(group, dst, group_dst, "dst"), _d.get_world_size(group)
    to = _list(gather_list, size, "gather_list", _d.get_rank(group) == at)
    with _C.no_grad():
        every = tensor.new_empty((size, *tensor.shape))
        work = _d._call("all_gather", group, async_op, every, tensor)
        for one, part in zip(to or (), every, strict=False):
            one.copy_(part)
    return work


def gather_into_tensor(
    tensor, gather_tensor=None, dst=None, group=None, async_op=False, group_dst=None
):
    """The tensors of all ranks, one after the other, into the tensor of rank dst."""
    if not _is_member(group):
        return None
    at, size = _root(group, dst, group_dst, "dst"), _d.get_world_size(group)
    if (gather_tensor is not None) != (_d.get_rank(group) == at):
        raise ValueError("gather_into_tensor: rank dst, and no other, gives gather_tensor")
    with _C.no_grad():
        every = tensor.new_empty((size, *tensor.shape)) if gather_tensor is None else gather_tensor
        return _d._call("all_gather", group, async_op, every, tensor)


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Rank r's tensor becomes the r-th of the list of rank src."""
    if not _is_member(group):
        return None
    at, size = _root(group, src, group_src, "src"), _d.get_world_size(group)
    given = _list(scatter_list, size, "scatter_list", _d.get_rank(group) == at)
    with _C.no_grad():
        every = _C.stack(given) if given else tensor.new_empty((size, *tensor.shape))
        work = _d._call("broadcast", group, async_op, every, at)
        tensor.copy_(every[_d.get_rank(group)])
    return work


def reduce_scatter(output, input_list, op=_d.ReduceOp.SUM, group=None, async_op=False):
    """Rank r's output becomes the sum, or what op says, of the r-th of all ranks' lists."""
    if not _is_member(group):
        return None
    size = _d.get_world_size(group)
    with _C.no_grad():
        every = _C.stack(_list(input_list, size, "input_list"))
    return _d.reduce_scatter_tensor(output, every, op, group, async_op)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """The r-th of the inputs goes to rank r, where it becomes the output of this rank's number."""
    if not _is_member(group):
        return None
    size = _d.get_world_size(group)
    outs = _list(output_tensor_list, size, "output_tensor_list")
    ins = _list(input_tensor_list, size, "input_tensor_list")
    with _C.no_grad():
        own = _C.tensor([[x.numel() for x in ins], [y.numel() for y in outs]])
        sizes = _C.empty((size, 2, size), dtype=own.dtype)
        _d._call("all_gather", group, False, sizes, own)
        if not _C.equal(sizes[:, 0], sizes[:, 1].t()):  # all ranks see it
            raise ValueError(
                "all_to_all: a rank sends another number of elements than the other one takes"
            )
        most = int(sizes.max())
        there, here = ins[0].new_zeros((size, most)), outs[0].new_empty((size, most))
        for row, x in zip(there, ins, strict=True):
            row[: x.numel()] = x.reshape(-1)
        work = _d._call("all_to_all", group, async_op, here, there)
        for row, y in zip(here, outs, strict=True):
            y.copy_(row[: y.numel()].view(y.shape))
    return work


def all_reduce_coalesced(tensors, op=_d.ReduceOp.SUM, group=None, async_op=False):
    """all_reduce of each tensor."""
    for one in tensors:
        work = _d.all_reduce(one, op, group, async_op)
    return work


def all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False):
    """all_gather of each tensor."""
    for to, one in zip(output_tensor_lists, input_tensor_list, strict=True):
        work = _d.all_gather(to, one, group, async_op)
    return work


# --- objects --------------------------------------------------------------------------------------


def _pack(obj, weights_only):
    """The bytes of an object as a tensor."""
    if weights_only:
        from .serialization import save

        file = io.BytesIO()
        save(obj, file)
        data = file.getvalue()
    else:
        data = pickle.dumps(obj)
    return _C.frombuffer(bytearray(data), dtype=_C.uint8)


def _unpack(tensor, size, weights_only):
    """A new object of the first bytes of a tensor."""
    data = bytes(memoryview(tensor[: int(size)].contiguous()))
    if weights_only:
        from .serialization import load

        return load(io.BytesIO(data), weights_only=True)
    return pickle.loads(data)


def _shared(group, packed):
    """The packed objects of all ranks, [(bytes, size)]: each rank gives a tensor."""
    count = _d.get_world_size(group)
    sizes = _C.empty((count, 1), dtype=_C.int64)
    _d.all_gather_into_tensor(sizes, _C.tensor([packed.numel()]), group)
    padded = _C.zeros(int(sizes.max()), dtype=_C.uint8)
    padded[: packed.numel()] = packed
    every = _C.empty((count, padded.numel()), dtype=_C.uint8)
    _d.all_gather_into_tensor(every, padded, group)
    return list(zip(every, sizes.view(-1).tolist(), strict=True))


def _spread(group, objects, at, weights_only):
    """Copies of the objects of rank `at`; others give None."""
    mine = _pack(objects, weights_only) if _d.get_rank(group) == at else None
    size = _C.tensor([0 if mine is None else mine.numel()])
    _d.broadcast(size, group=group, group_src=at)
    data = _C.empty(int(size), dtype=_C.uint8) if mine is None else mine
    _d.broadcast(data, group=group, group_src=at)
    return _unpack(data, size, weights_only)


def all_gather_object(object_list, obj, group=None, weights_only=False):
    """Copies of the objects of all ranks, one into each place of the list."""
    if not _is_member(group):
        return
    found = _shared(group, _pack(obj, weights_only))
    for i, (data, size) in enumerate(found):
        object_list[i] = _unpack(data, size, weights_only)


def gather_object(
    obj, object_gather_list=None, dst=None, group=None, group_dst=None, weights_only=False
):
    """Copies of the objects of all ranks, one into each place of the list of rank dst."""
    if not _is_member(group):
        return
    at = _root(group, dst, group_dst, "dst")
    mine = _d.get_rank(group) == at
    to = _list(object_gather_list, _d.get_world_size(group), "object_gather_list", mine)
    found = _shared(group, _pack(obj, weights_only))
    for i, (data, size) in enumerate(found if mine else ()):
        to[i] = _unpack(data, size, weights_only)


def broadcast_object_list(
    object_list, src=None, group=None, device=None, group_src=None, weights_only=False
):
    """Every rank's list becomes copies of what rank src has in its own, of equal length."""
    if not _is_member(group):
        return
    at = _root(group, src, group_src, "src")
    found = _spread(group, list(object_list), at, weights_only)
    if len(found) != len(object_list):
        raise RuntimeError(f"rank {at} gives {len(found)} objects, the list has {len(object_list)}")
    if _d.get_rank(group) != at:
        object_list[:] = found


def scatter_object_list(
    scatter_object_output_list, scatter_object_input_list=None, src=None, group=None,
    group_src=None, weights_only=False,
):  # fmt: skip
    """The first of rank r's list becomes a copy of the r-th object of rank src."""
    if not _is_member(group):
        return
    to = scatter_object_output_list
    if not isinstance(to, list) or len(to) < 1:
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size at least 1."
        )
    at, rank = _root(group, src, group_src, "src"), _d.get_rank(group)
    given = scatter_object_input_list
    if rank == at and given is None:
        raise ValueError("source rank must provide non-None scatter_object_input_list")
    to[0] = _spread(group, list(given or ()), at, weights_only)[rank]


def send_object_list(
    object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False,
    weights_only=False,
):  # fmt: skip
    """Sends copies of the objects to rank dst; returns when they are received."""
    if not _is_member(group):
        return
    packed = _pack(list(object_list), weights_only)
    peer = _root(group, dst, group_dst, "dst")
    _d.send(_C.tensor([packed.numel(), len(object_list)]), group=group, group_dst=peer)
    _d.send(packed, group=group, group_dst=peer)


def recv_object_list(
    object_list, src=None, group=None, device=None, group_src=None, use_batch=False,
    weights_only=False,
):  # fmt: skip
    """The list becomes what rank src sends, of equal length; returns src."""
    if not _is_member(group):
        return -1
    peer = _root(group, src, group_src, "src")
    sizes = _C.empty(2, dtype=_C.int64)
    _d.recv(sizes, group=group, group_src=peer)
    data = _C.empty(int(sizes[0]), dtype=_C.uint8)
    rank = _d.recv(data, group=group, group_src=peer)
    if int(sizes[1]) != len(object_list):
        raise RuntimeError(
            f"rank {rank} sends {int(sizes[1])} objects, the list has {len(object_list)}"
        )
    object_list[:] = _unpack(data, sizes[0], weights_only)
    return rank


# --- groups ---------------------------------------------------------------------------------------


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """barrier; the error names a rank that has not come in time."""
    if not _is_member(group):
        return
    group = _group(group)
    seconds = timeout if timeout is None else getattr(timeout, "total_seconds", lambda: timeout)()
    if seconds is not None:
        _C._ranks_limit(group._handle, seconds)
    try:
        _d.barrier(group)
    finally:
        _C._ranks_limit(group._handle, group._timeout.total_seconds())


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None
):
    """(this rank's group or None, all groups) of lists of ranks that have none in common."""
    if ranks_per_subgroup_list is None or len(ranks_per_subgroup_list) == 0:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    place = {}
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in place:
                raise ValueError(
                    f"Rank {rank} has appeared in both subgroup {place[rank]} and {ranks}"
                )
            place[rank] = ranks
    groups = [_d.new_group(ranks, timeout, backend) for ranks in ranks_per_subgroup_list]
    return next((one for one in groups if _is_member(one)), None), groups


def new_subgroups(
    group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None
):
    """(this rank's group, all groups): neighbours, group_size in each."""
    if group_size is None:
        from . import accelerator

        if not accelerator.is_available():
            raise ValueError("Default group size only takes effect where there are devices")
        group_size = accelerator.device_count()
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    size = _d.get_world_size(group)
    if size < group_size:
        raise ValueError(
            f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})"
        )
    if size % group_size != 0:
        raise ValueError(f"The world size ({size}) must be divisible by '{group_size=}'")
    ranks = _d.get_process_group_ranks(group)
    parts = [ranks[i : i + group_size] for i in range(0, size, group_size)]
    return new_subgroups_by_enumeration(parts, timeout, backend)


all_gather_single, reduce_scatter_single = _d.all_gather_into_tensor, _d.reduce_scatter_tensor
gather_single = gather_into_tensor
