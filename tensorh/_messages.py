"""torch.distributed's messages from one rank to another, which nobody has to wait for. Ranks are
threads: a message lies in its world until the other side is there, and who comes second copies."""

import time

from . import _C
from . import distributed as _d

_SLICE = 0.02  # seconds between two looks at ranks that may have left


def _moment(tensor):
    """An event of now in the current stream of the tensor's device; None on the host."""
    if not tensor.is_cuda:
        return None
    from . import cuda

    return cuda.current_stream(tensor.device).record_event()


def _order(event, *tensors):
    """The current streams of the tensors' devices wait for the event, if there is one."""
    for device in {t.device for t in tensors if event is not None and t.is_cuda}:
        from . import cuda

        event.wait(cuda.current_stream(device))


class Message(_d.Work):
    """A call of isend or irecv. The tensor belongs to it until it is completed."""

    def __init__(self, group, tag, sends, peer, tensor):
        # not the group itself: what lies in the world would keep a rank's that is gone
        self._post, self._ranks, self._limit = group._post, group._ranks, group._timeout
        self._key, self._tag, self._sends, self._me = group._key, tag, sends, group._rank
        self._peer, self._tensor = peer, tensor  # peer None: any rank
        self._done, self._error = False, None
        self._before, self._behind = _moment(tensor), None  # of devices: the call, the copy

    def _meets(self, other):
        return (
            (self._key, self._tag) == (other._key, other._tag)
            and self._peer in (None, other._me)
            and other._peer in (None, self._me)
        )

    def _says(self):
        t = self._tensor
        return f"{str(t.dtype).removeprefix('torch.')} {tuple(t.shape)}"

    def _copied(self, sent):
        """Brings here what `sent` has; the streams that are current wait for both calls."""
        if (self._tensor.dtype, self._tensor.shape) != (sent._tensor.dtype, sent._tensor.shape):
            raise RuntimeError(
                f"rank {sent._me} sends {sent._says()}, but rank {self._me} receives {self._says()}"
            )
        _order(sent._before, self._tensor, sent._tensor)
        _order(self._before, self._tensor, sent._tensor)
        with _C.no_grad():
            self._tensor.copy_(sent._tensor)
        self._behind = sent._behind = _moment(self._tensor) or _moment(sent._tensor)

    def _meet(self, other):
        """Copies, in the thread of self; both are done."""
        to, sent = (other, self) if self._sends else (self, other)
        error = RuntimeError(f"the copy of rank {self._me} was interrupted")
        try:
            to._copied(sent)
            error = None
        except Exception as e:
            error = e
        finally:
            with self._post.changed:
                for message, with_ in ((self, other), (other, self)):
                    message._peer, message._error, message._done = with_._me, error, True
                self._post.changed.notify_all()

    def _go(self):
        post = self._post
        mine, others = (post.sent, post.expected) if self._sends else (post.expected, post.sent)
        with post.changed:
            other = next((m for m in others if self._meets(m)), None)
            if other is None:
                mine.append(self)
            else:
                others.remove(other)
        if other is not None:
            self._meet(other)
        return self

    def _given_up(self, why):
        """Under the lock: nobody answers any more."""
        waiting = self._post.sent if self._sends else self._post.expected
        if self in waiting:  # else the other side is at work
            waiting.remove(self)
            self._done, self._error = True, RuntimeError(why)

    def wait(self, timeout=None):
        """Returns True when the tensor is sent or received; raises what went wrong."""
        limit = (self._limit if timeout is None else timeout).total_seconds()
        with self._post.changed:
            try:
                self._met(limit)
            except BaseException:
                self._given_up(f"the wait of rank {self._me} was interrupted")
                raise
        if self._error is not None:
            raise self._error
        _order(self._behind, self._tensor)
        return True

    def _met(self, limit):
        """Under the lock: returns when the other side has been there, or is not to come."""
        me, since, post = self._me, time.monotonic(), self._post
        says = f"rank {me} of {len(self._ranks)}: rank"
        while not self._done:
            others = [r for r in range(len(self._ranks)) if r != me]
            who = others if self._peer is None else [self._peer]
            if all(post.has_left(self._key, r, self._ranks[r]) for r in who):
                self._given_up(f"{says} {who[0] if who else 'any'} has left the group")
            elif time.monotonic() - since > limit:
                whom = "any" if self._peer is None else self._peer
                self._given_up(f"{says} {me} has waited {limit:g} seconds for rank {whom}")
            if not self._done:
                post.changed.wait(_SLICE)

    def is_completed(self):
        """Whether the tensor is sent or received, or the call has failed."""
        return self._done

    def is_success(self):
        """Whether it was completed without an error."""
        return self._done and self._error is None

    def exception(self):
        """What went wrong, or None."""
        return self._error

    def source_rank(self):
        """The group's number of the rank from which the tensor came."""
        return self._me if self._sends else self._peer

    def result(self):
        """[tensor]"""
        return [self._tensor]


def _post(group, sends, tensor, peer, tag):
    if not isinstance(tensor, _C.Tensor):
        raise TypeError(
            "Invalid function argument. Expected parameter `tensor` of type torch.Tensor\n"
            f"             but got {type(tensor)} instead."
        )
    group = _d._group(group)
    if peer == group.rank():
        what = "destination" if sends else "source"
        raise ValueError(
            f"Invalid {what} rank: {what} rank should not be the same as the rank of the current "
            "process."
        )
    return Message(group, tag, sends, peer, tensor)._go()


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Sends the tensor to rank dst and does not wait: a Work, until whose wait() the tensor stays
    as it is. None if this rank is not in the group."""
    if not _d._is_member(group):
        return None
    return _post(group, True, tensor, _d._peer(group, dst, group_dst, "dst"), tag)


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Receives into the tensor what rank src sends, or any rank, and does not wait: a Work, behind
    whose wait() the tensor is there. None if this rank is not in the group."""
    if not _d._is_member(group):
        return None
    any_rank = src is None and group_src is None
    peer = None if any_rank else _d._peer(group, src, group_src, "src")
    return _post(group, False, tensor, peer, tag)


class P2POp:
    """One of batch_isend_irecv: op is isend or irecv, peer the default group's number of the other
    rank, group_peer the group's."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        self.op, self.tensor, self.group, self.tag = op, tensor, _d._group(group), tag
        self.group_peer = _d._peer(group, peer, group_peer, "peer")
        self.peer = _d.get_global_rank(self.group, self.group_peer)

    def __repr__(self):
        me, other = self.group.rank(), self.group_peer
        source, destination = (me, other) if self.op is isend else (other, me)
        return (
            f"P2POp({self.op.__name__} group_src={source}, group_dst={destination}, "
            f"{self.tensor.shape}, {self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list):
    """Begins all of them; their Works, in this order."""
    if not p2p_op_list or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type "
            "``torch.distributed.P2POp``."
        )
    if any(p.group is not p2p_op_list[0].group for p in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    return [
        _post(p.group, p.op is isend, p.tensor, p.group_peer, p.tag) for p in p2p_op_list
    ]
