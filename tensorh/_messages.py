"""torch.distributed's messages from one rank to another, which nobody has to wait for. Ranks are
threads: a message lies in its world until the other side is there, and who comes second copies."""

import time

from . import _C
from . import distributed as _d

_SLICE = 0.02  # seconds between two looks at ranks that may have left


class Message(_d.Work):
    """A call of isend or irecv. The tensor belongs to it until it is completed."""

    def __init__(self, post, group, key, sends, me, peer, tensor):
        self._post, self._group, self._key, self._sends = post, group, key, sends
        self._me, self._peer, self._tensor = me, peer, tensor  # peer None: any rank
        self._done, self._error = False, None

    def _meets(self, other):
        return (
            self._key == other._key
            and self._peer in (None, other._me)
            and other._peer in (None, self._me)
        )

    def _says(self):
        t = self._tensor
        return f"{str(t.dtype).removeprefix('torch.')} {tuple(t.shape)}"

    def _copy(self, sent):
        """The message that came from `sent`; both are done."""
        if (self._tensor.dtype, self._tensor.shape) != (sent._tensor.dtype, sent._tensor.shape):
            error = RuntimeError(
                f"rank {sent._me} sends {sent._says()}, but rank {self._me} receives {self._says()}"
            )
        else:
            error = None
            try:
                with _C.no_grad():
                    self._tensor.copy_(sent._tensor)
            except Exception as e:
                error = e
        with self._post.changed:
            for message, other in ((self, sent), (sent, self)):
                message._peer, message._error, message._done = other._me, error, True
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
            (other if self._sends else self)._copy(self if self._sends else other)
        return self

    def _given_up(self, why):
        """Under the lock: nobody answers any more."""
        waiting = self._post.sent if self._sends else self._post.expected
        if self in waiting:  # else the other side is at work
            waiting.remove(self)
            self._done, self._error = True, RuntimeError(why)

    def wait(self, timeout=None):
        """Returns True when the tensor is sent or received; raises what went wrong."""
        ranks, me = self._group._ranks, self._me
        limit = (self._group._timeout if timeout is None else timeout).total_seconds()
        since = time.monotonic()
        with self._post.changed:
            while not self._done:
                who = [self._peer] if self._peer is not None else list(range(len(ranks)))
                if all(r == me or ranks[r] in self._post.left for r in who):
                    self._given_up(f"rank {me} of {len(ranks)}: rank {who[0]} has left the group")
                elif time.monotonic() - since > limit:
                    self._given_up(
                        f"rank {me} of {len(ranks)}: rank {me} has waited {limit:g} seconds for "
                        f"rank {'any' if self._peer is None else self._peer}"
                    )
                if not self._done:
                    self._post.changed.wait(_SLICE)
        if self._error is not None:
            raise self._error
        return True

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
    return Message(group._post, group, (group._key, tag), sends, group.rank(), peer, tensor)._go()


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
