"""torch.distributed: ranks that are threads of this process, or one rank alone.

There is one backend, "threads": each rank is a thread that calls init_process_group with its rank
and the same world_size, and has its own process group from then on. Without it, or with world_size
1, a process is a world of one rank. What connects processes ("gloo", "nccl", "mpi", torchrun) is
not here: a call that asks for it says so.

    def train(rank):
        dist.init_process_group("threads", rank=rank, world_size=4)
        x = torch.full((2,), float(rank))
        dist.all_reduce(x)  # [6., 6.] on every rank
        dist.destroy_process_group()

    threads = [threading.Thread(target=train, args=(r,)) for r in range(4)]
"""

import sys as _sys
import threading
import weakref
from datetime import timedelta
from enum import IntEnum

from . import _C

for _file in ("distributed_c10d", "constants", "rendezvous"):  # files of torch: all is here
    _sys.modules[f"{__name__}.{_file}"] = _sys.modules[__name__]
distributed_c10d = _sys.modules[__name__]
__path__ = []  # below it are modules of _absent.py
default_pg_timeout = timedelta(minutes=30)


class ReduceOp(IntEnum):
    """How the elements of all ranks become one."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


ReduceOp.RedOpType = ReduceOp


class Backend(str):
    """The name of a backend: "threads" alone."""

    THREADS = "threads"
    GLOO, MPI, NCCL, UCC, XCCL = "gloo", "mpi", "nccl", "ucc", "xccl"  # names that torch has
    UNDEFINED = "undefined"
    backend_list = ["threads"]

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish: {name!r}")
        if name.lower() != "threads":
            raise ValueError(
                f"backend {name!r} is not available: ranks are threads of one process here, "
                'backend "threads"; what connects processes is not in this package'
            )
        return super().__new__(cls, "threads")


class ProcessGroup:
    """The ranks that work together, as one of them sees it."""

    def __init__(self, handle, rank, ranks, timeout, post, key=()):
        self._handle, self._rank, self._ranks, self._timeout = handle, rank, ranks, timeout
        self._post, self._key = post, key  # where its messages are, and under which name
        self._leave = weakref.finalize(self, post.left.add, (key, rank))  # once, with it at last
        self._parts = {}  # how many groups of some ranks were made

    def rank(self):
        """The number of this rank in the group."""
        return self._rank

    def size(self):
        """How many ranks the group has."""
        return len(self._ranks)

    def name(self):
        """ "threads"."""
        return Backend.THREADS

    def __repr__(self):
        return f"ProcessGroup(threads, rank {self._rank} of {len(self._ranks)})"


class group:
    """WORLD: the default process group of the calling thread."""

    WORLD = None


class GroupMember:
    """NON_GROUP_MEMBER: what new_group returns to ranks that are not in it."""

    WORLD = None
    NON_GROUP_MEMBER = -100


_thread = threading.local()
_meeting = {}  # by name: the place where ranks of a world meet, until all have joined
_meeting_lock = threading.Lock()


def is_available():
    """True: the package has this module. is_initialized says whether there is a group."""
    return True


def is_initialized():
    """Whether the calling thread has a default process group."""
    return getattr(_thread, "world", None) is not None


def is_backend_available(backend):
    """Whether there is a backend of that name."""
    return str(backend).lower() == "threads"


def is_gloo_available():
    """False: ranks are threads of one process."""
    return False


is_nccl_available = is_mpi_available = is_ucc_available = is_xccl_available = is_gloo_available


def is_torchelastic_launched():
    """False: processes that torchrun starts are not connected here."""
    return False


def _get_default_group():
    return _world()


def _world():
    if not is_initialized():
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    return _thread.world


def _place(name, size):
    """The meeting place of that name, made by the first who comes, gone with the last."""
    with _meeting_lock:
        place, left, known = _meeting.get(name) or (
            (_C._ranks_threads(size), _Post()), size, size
        )  # fmt: skip
        if known != size:
            raise ValueError(f"this rank says world_size={size}, another one {known}")
        if left == 1:
            _meeting.pop(name, None)
        else:
            _meeting[name] = place, left - 1, size
    return place


def init_process_group(
    backend=None,
    init_method=None,
    timeout=None,
    world_size=-1,
    rank=-1,
    store=None,
    group_name="",
    pg_options=None,
    device_id=None,
):
    """Makes the calling thread a rank. Threads of one world give the same world_size, group_name
    and, if any, store. world_size and rank are 1 and 0 where neither is given."""
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    Backend("threads" if backend is None else backend)
    if init_method not in (None, "env://"):
        raise ValueError("ranks are threads of one process: there is no init_method")
    meeting = None if store is None else store._meeting()
    if world_size == -1 and rank == -1:
        world_size, rank = 1, 0
    if world_size < 1 or not 0 <= rank < world_size:
        raise ValueError(f"rank must be from 0 to world_size - 1: {rank} of {world_size}")
    place, post = _place((group_name, meeting), world_size)
    handle = _C._ranks_join(place, rank)
    timeout = default_pg_timeout if timeout is None else timeout
    _C._ranks_limit(handle, timeout.total_seconds())
    _C._ranks_use(handle)
    _thread.world = ProcessGroup(handle, rank, tuple(range(world_size)), timeout, post)


def destroy_process_group(group=None):
    """Leaves a group; without an argument the default one, and then the thread has none."""
    if group is None:
        group, _thread.world = _world(), None
        _C._ranks_use(None)
    group._leave()
    _C._ranks_leave(group._handle)


def _group(group):
    return _world() if group is None else group


def _is_member(group):
    return group is not GroupMember.NON_GROUP_MEMBER and group != GroupMember.NON_GROUP_MEMBER


def get_rank(group=None):
    """The number of this rank; -1 if it is not in the group."""
    return _group(group).rank() if _is_member(group) else -1


def get_world_size(group=None):
    """How many ranks the group has; -1 if this rank is not in it."""
    return _group(group).size() if _is_member(group) else -1


def get_backend(group=None):
    """ "threads"."""
    return Backend(_group(group).name())


def get_process_group_ranks(group):
    """The default group's numbers of a group's ranks."""
    return list(_group(group)._ranks)


def get_global_rank(group, group_rank):
    """The default group's number of a rank of a group."""
    ranks = _group(group)._ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_group_rank(group, global_rank):
    """The number in a group of a rank of the default group."""
    ranks = _group(group)._ranks
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def new_group(ranks=None, timeout=None, backend=None, **options):
    """A group of some ranks of the default one, all of which call it. Others than these get
    GroupMember.NON_GROUP_MEMBER."""
    world = _world()
    Backend("threads" if backend is None else backend)
    if options:
        raise TypeError(f"new_group() got unexpected arguments: {', '.join(options)}")
    ranks = world._ranks if ranks is None else tuple(sorted(ranks))
    if len(set(ranks)) != len(ranks) or not set(ranks) <= set(world._ranks):
        raise ValueError(f"the ranks of a group are some of the default one's, once each: {ranks}")
    number = world._parts[ranks] = world._parts.get(ranks, 0) + 1
    inside = world.rank() in ranks
    handle = _C._ranks_split(world._handle, 0 if inside else -1)
    if not inside:
        return GroupMember.NON_GROUP_MEMBER
    timeout = world._timeout if timeout is None else timeout
    _C._ranks_limit(handle, timeout.total_seconds())
    me = ranks.index(world.rank())
    return ProcessGroup(handle, me, ranks, timeout, world._post, (ranks, number))


class Work:
    """What an asynchronous call gives. Calls of all ranks have ended when they return; messages
    (isend, irecv) may take longer."""

    def wait(self, timeout=None):
        """Returns True when it is done; raises what went wrong. timeout: a timedelta."""
        return True

    def synchronize(self):
        """wait()."""
        self.wait()

    def is_completed(self):
        """Whether it is done, or has failed."""
        return True

    def is_success(self):
        """Whether it is done without an error."""
        return True

    def exception(self):
        """What went wrong, or None."""
        return None


class _Post:
    """Of a world: messages that wait for the other side, in the order of the calls."""

    def __init__(self):
        self.changed = threading.Condition()
        self.sent, self.expected = [], []
        self.left = set()  # (key of the group, rank in it); who waits looks again soon

    def has_left(self, key, rank, world_rank):
        """Whether that rank of a group has left it, or the world with all its groups."""
        return (key, rank) in self.left or ((), world_rank) in self.left


_WORDS = {op: op.name.lower() for op in ReduceOp}


def _call(row, group, async_op, *args, **options):
    """The row in that group; nothing of it is recorded, as in torch."""
    world = _world()
    if not _is_member(group):
        return None
    group = _group(group)
    if group is not world:
        _C._ranks_use(group._handle)
    try:
        with _C.no_grad():
            _rows[row](*args, **options)
    finally:
        if group is not world:
            _C._ranks_use(world._handle)
    return Work() if async_op else None


_NAMES = "broadcast all_reduce reduce all_gather reduce_scatter all_to_all barrier"
_rows = {name: _C._row("_distributed_" + name) for name in _NAMES.split()}


def _peer(group, rank, group_rank, what):
    """The number in the group of a rank that is given as the default group's or as the group's."""
    if (rank is None) == (group_rank is None):
        raise ValueError(f"expected one of {what} and group_{what}")
    if not _is_member(group):
        return -1
    return get_group_rank(group, rank) if group_rank is None else group_rank


def _op(op):
    try:
        return _WORDS[ReduceOp(op)]
    except ValueError:
        raise RuntimeError(f"Invalid ReduceOp: {op!r}") from None


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """Every rank's tensor becomes that of rank src."""
    return _call("broadcast", group, async_op, tensor, _peer(group, src, group_src, "src"))


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Every rank's tensor becomes the sum, or what op says, of all ranks' tensors."""
    return _call("all_reduce", group, async_op, tensor, op=_op(op))


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """The tensor of rank dst becomes the sum, or what op says, of all ranks' tensors."""
    return _call("reduce", group, async_op, tensor, _peer(group, dst, group_dst, "dst"), op=_op(op))


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """The tensors of all ranks, one after the other, into every rank's output."""
    return _call("all_gather", group, async_op, output_tensor, input_tensor)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """The tensors of all ranks, one into each of the list."""
    if not _is_member(group):
        return None
    size = get_world_size(group)
    if len(tensor_list) != size:
        raise ValueError(f"expected {size} tensors to gather into, got {len(tensor_list)}")
    with _C.no_grad():
        every = tensor.new_empty((size, *tensor.shape))
        work = _call("all_gather", group, async_op, every, tensor)
        for to, part in zip(tensor_list, every, strict=True):
            to.copy_(part)
    return work


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """Rank r's output becomes the r-th part of the sum of all ranks' inputs."""
    return _call("reduce_scatter", group, async_op, output, input, op=_op(op))


def all_to_all_single(
    output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False
):
    """Part r of the input goes to rank r; parts are equal."""
    if output_split_sizes or input_split_sizes:
        raise NotImplementedError("all_to_all_single takes equal parts: no split sizes")
    return _call("all_to_all", group, async_op, output, input)


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Sends the tensor to rank dst; returns when it is received."""
    from ._messages import isend

    if _is_member(group):
        isend(tensor, dst, group, tag, group_dst).wait()


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Receives into the tensor what rank src sends, or any rank; returns which."""
    from ._messages import irecv

    if not _is_member(group):
        return -1
    work = irecv(tensor, src, group, tag, group_src)
    work.wait()
    return get_global_rank(group, work.source_rank())


def barrier(group=None, async_op=False, device_ids=None):
    """Returns when all ranks of the group have called it."""
    return _call("barrier", group, async_op)


_OTHERS = """DebugLevel DistBackendError DistError DistNetworkError DistStoreError
all_gather_coalesced all_gather_object all_gather_single all_reduce_coalesced all_to_all
broadcast_object_list gather gather_into_tensor gather_object gather_single get_debug_level
get_node_local_rank monitored_barrier new_subgroups new_subgroups_by_enumeration recv_object_list
reduce_scatter reduce_scatter_single scatter scatter_object_list send_object_list supports_complex
""".split()
_OF = {
    **dict.fromkeys(_OTHERS, "_exchange"),
    **dict.fromkeys(("P2POp", "batch_isend_irecv", "irecv", "isend"), "_messages"),
    **dict.fromkeys(("FileStore", "HashStore", "PrefixStore", "Store"), "_store"),
}  # the file of each name


def __dir__():
    return sorted({*globals(), *_OF})


def __getattr__(name):
    if name in _OF:
        from importlib import import_module

        module = import_module(f"{__package__}.{_OF[name]}")
        return globals().setdefault(name, getattr(module, name))
    from ._absent import below

    module = below(__name__, name)
    if module is not None:
        return module
    from ._missing import error

    raise error("torch.distributed", name)
