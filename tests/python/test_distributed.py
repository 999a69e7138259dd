"""torch.distributed of one rank and of threads, and DistributedDataParallel over it."""

import threading

import pytest

import tensorh as torch
import tensorh.distributed as dist
from tensorh import nn
from tensorh.nn.parallel import DataParallel, DistributedDataParallel


def spawn(ranks, body, **options):
    """body(rank) in a thread for each rank of a world; what they raise is raised here."""
    failed, results = [], [None] * ranks

    def main(rank):
        try:
            dist.init_process_group("threads", rank=rank, world_size=ranks, **options)
            results[rank] = body(rank)
        except BaseException as e:  # noqa: B036
            failed.append(e)
        finally:
            if dist.is_initialized():
                dist.destroy_process_group()

    threads = [threading.Thread(target=main, args=(r,)) for r in range(ranks)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
        assert not t.is_alive()
    if failed:
        raise failed[0]
    return results


def test_one_rank():
    assert dist.is_available() and not dist.is_initialized()
    dist.init_process_group()
    try:
        assert dist.is_initialized() and dist.get_rank() == 0 and dist.get_world_size() == 1
        assert dist.get_backend() == "threads"
        x = torch.arange(3.0)
        assert dist.all_reduce(x) is None and x.tolist() == [0, 1, 2]
        assert dist.all_reduce(x, async_op=True).wait()
        dist.broadcast(x, 0)
        dist.barrier()
        with pytest.raises(ValueError, match="twice"):
            dist.init_process_group()
    finally:
        dist.destroy_process_group()
    assert not dist.is_initialized()


def test_says_what_is_not_there():
    for backend in ("gloo", "nccl", "mpi"):
        assert not dist.is_backend_available(backend)
        with pytest.raises(ValueError, match="ranks are threads"):
            dist.init_process_group(backend)
    assert not dist.is_gloo_available() and not dist.is_nccl_available()
    with pytest.raises(ValueError, match="has not been initialized"):
        dist.get_rank()
    with pytest.raises(ValueError, match="rank must be"):
        dist.init_process_group(rank=2, world_size=2)
    with pytest.raises(ValueError, match="no init_method"):
        dist.init_process_group(init_method="tcp://localhost:1")
    with pytest.raises(AttributeError, match="torch.distributed"):
        dist.TCPStore  # noqa: B018


def test_exchange():
    def body(rank):
        x = torch.full((2,), float(rank))
        dist.all_reduce(x)
        assert x.tolist() == [6, 6]
        y = torch.tensor([rank, 5 - rank])
        dist.all_reduce(y, op=dist.ReduceOp.MAX)
        assert y.tolist() == [3, 5]
        every = [torch.empty(1) for _ in range(4)]
        dist.all_gather(every, torch.tensor([float(rank)]))
        assert [t.item() for t in every] == [0, 1, 2, 3]
        flat = torch.empty(4)
        dist.all_gather_into_tensor(flat, torch.tensor([float(rank)]))
        assert flat.tolist() == [0, 1, 2, 3]
        part = torch.empty(1)
        dist.reduce_scatter_tensor(part, torch.arange(4.0))
        assert part.item() == 4 * rank
        dist.all_to_all_single(flat, torch.full((4,), float(rank)))
        assert flat.tolist() == [0, 1, 2, 3]
        z = torch.full((1,), float(rank))
        dist.broadcast(z, src=2)
        assert z.item() == 2
        w = torch.ones(2, requires_grad=True)
        dist.broadcast(w, src=0)  # nothing of it is recorded
        dist.reduce(z, dst=1)
        assert z.item() == (8 if rank == 1 else 2)
        if rank == 3:
            dist.send(torch.tensor([7.0]), dst=0)
        if rank == 0:
            assert dist.recv(z, src=3) == 3 and z.item() == 7
        dist.barrier()
        with pytest.raises(RuntimeError, match="Invalid ReduceOp"):
            dist.all_reduce(x, op=9)
        return dist.get_rank()

    assert spawn(4, body) == [0, 1, 2, 3]


def test_groups():
    def body(rank):
        odd = dist.new_group([1, 3])
        x = torch.full((1,), float(rank))
        if rank % 2:
            assert dist.get_rank(odd) == rank // 2 and dist.get_world_size(odd) == 2
            assert dist.get_process_group_ranks(odd) == [1, 3]
            dist.all_reduce(x, group=odd)
            assert x.item() == 4
            dist.broadcast(x.fill_(rank), src=3, group=odd)
            assert x.item() == 3
            with pytest.raises(ValueError, match="not part of group"):
                dist.broadcast(x, src=0, group=odd)
        else:
            assert odd == dist.GroupMember.NON_GROUP_MEMBER
            assert dist.get_rank(odd) == -1 and dist.all_reduce(x, group=odd) is None
        dist.all_reduce(x.fill_(1.0))  # the default group again
        assert x.item() == 4
        if rank % 2:
            dist.destroy_process_group(odd)
            with pytest.raises(ValueError, match="destroyed"):
                dist.all_reduce(x, group=odd)

    spawn(4, body)


def test_errors():
    def differs(rank):
        x = torch.zeros(2 + (rank == 1))
        with pytest.raises(
            RuntimeError, match=r"rank 1 calls all_reduce\(op=sum\) of float32 \(3\)"
        ):
            dist.all_reduce(x)
        dist.barrier()

    def leaves(rank):
        if rank != 1:
            with pytest.raises(RuntimeError, match="rank 1 has left the group"):
                dist.barrier()

    spawn(3, differs)
    spawn(3, leaves)


def model():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))


def data():
    x = torch.arange(48.0).reshape(12, 4).sin()
    return x, torch.arange(24.0).reshape(12, 2).cos()


def train(net, x, y):
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(8):
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()
    return [p.detach().clone() for p in net.parameters()]


def test_data_parallel_training():
    x, y = data()
    whole = train(model(), x, y)
    nets = [model() for _ in range(3)]
    with torch.no_grad():
        nets[1][0].weight.add_(1)  # rank 0's go to all

    def body(rank):
        net = DistributedDataParallel(nets[rank])
        return train(net, x[4 * rank : 4 * rank + 4], y[4 * rank : 4 * rank + 4])

    ranks = spawn(3, body)
    for a, b, c, w in zip(*ranks, whole, strict=True):
        assert torch.equal(a, b) and torch.equal(a, c)
        assert torch.allclose(a, w, rtol=1e-5, atol=1e-6)


def test_no_sync_and_buffers():
    def body(rank):
        net = nn.BatchNorm1d(2)
        ddp = DistributedDataParallel(net)
        x = torch.full((4, 2), float(rank))
        with ddp.no_sync():
            (ddp(x) * 2).sum().backward()
        alone = net.bias.grad.clone()
        assert alone.tolist() == [8, 8]
        (ddp(x) * (2 + 2 * rank)).sum().backward()
        assert net.bias.grad.tolist() == [8 + 12, 8 + 12]
        ddp(x)
        ddp(x)
        dist.barrier()
        return net.running_mean[0].item()

    first, second = spawn(2, body)
    assert first == 0 and 0 < second < 0.2
    with pytest.raises(ValueError, match="has not been initialized"):
        DistributedDataParallel(nn.Linear(1, 1))


def test_one_rank_of_data_parallel():
    dist.init_process_group("threads", rank=0, world_size=1)
    try:
        x, y = data()
        mine = train(DistributedDataParallel(model()), x, y)
        for a, b in zip(mine, train(model(), x, y), strict=True):
            assert torch.equal(a, b)
        with pytest.raises(RuntimeError, match="not needed"):
            DistributedDataParallel(nn.Tanh())
    finally:
        dist.destroy_process_group()


def test_one_device():
    net = nn.Linear(2, 3)
    x = torch.ones(1, 2)
    assert torch.equal(DataParallel(net)(x), net(x)) and nn.DataParallel is DataParallel
    assert [k for k, _ in DataParallel(net).named_parameters()] == ["module.weight", "module.bias"]
    with pytest.raises(NotImplementedError, match="one device"):
        DataParallel(net, device_ids=[0, 1])


# torch 2.15: seed 0, epochs 0 and 3, of 10 items on 3 ranks
ORDERS = {
    (0, False, 0): [4, 5, 0, 2],
    (0, False, 1): [1, 3, 8, 4],
    (0, False, 2): [7, 9, 6, 1],
    (0, True, 0): [4, 5, 0],
    (0, True, 1): [1, 3, 8],
    (0, True, 2): [7, 9, 6],
    (3, False, 0): [6, 7, 1, 4],
    (3, False, 1): [0, 8, 9, 6],
    (3, False, 2): [3, 5, 2, 0],
    (3, True, 0): [6, 7, 1],
    (3, True, 1): [0, 8, 9],
    (3, True, 2): [3, 5, 2],
}


def test_distributed_sampler():
    from tensorh.utils.data import DistributedSampler

    items = list(range(10))
    for (epoch, drop_last, rank), order in ORDERS.items():
        s = DistributedSampler(items, 3, rank, drop_last=drop_last)
        s.set_epoch(epoch)
        assert list(s) == order and len(s) == len(order)
    assert list(DistributedSampler(items, 3, 1, shuffle=False)) == [1, 4, 7, 0]
    with pytest.raises(ValueError, match="Invalid rank"):
        DistributedSampler(items, 3, 3)
    with pytest.raises(ValueError, match="has not been initialized"):
        DistributedSampler(items)
    assert spawn(2, lambda r: list(DistributedSampler(items, shuffle=False)))[1] == [1, 3, 5, 7, 9]
