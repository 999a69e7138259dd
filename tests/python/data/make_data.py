"""Writes data.json: orders of torch's loaders and states of generators. Run: python make_data.py"""

import itertools
import json
import pathlib

ORDERS = ("sequential", "shuffle", "replacement", "subset", "more", "weighted", "weighted without")


def cases():
    """(order, items, batch size, drop last, own generator, workers, batch to stop at)."""
    for order, n, size, drop, own in itertools.product(
        ORDERS, (12, 11), (4, None), (False, True), (False, True)
    ):
        if size or not drop:
            yield order, n, size, drop, own, 0, None
    for order, own, stop in itertools.product(ORDERS[:2], (False, True), (None, 1)):
        yield order, 11, 4, False, own, 2, stop


def sampler(torch, order, data, generator):
    """The sampler of an order; None where the loader makes it."""
    of, n = torch.utils.data, len(data)
    if order == "replacement":
        return of.RandomSampler(data, True, num_samples=40, generator=generator)
    if order == "subset":
        return of.SubsetRandomSampler(list(range(0, n, 2)), generator=generator)
    if order == "more":
        return of.RandomSampler(data, num_samples=2 * n + 3, generator=generator)
    if order.startswith("weighted"):
        weights, often = [0.1 + i % 3 for i in range(n)], order == "weighted"
        return of.WeightedRandomSampler(weights, n if often else n // 2, often, generator)
    return None


def epochs(torch, case):
    """The items of two epochs, and a number from each generator after each."""
    order, n, size, drop, own, workers, stop = case
    torch.manual_seed(5)
    generator = torch.Generator() if own else None
    if own:
        generator.manual_seed(9)
    data, out = torch.utils.data.TensorDataset(torch.arange(n)), []
    loader = torch.utils.data.DataLoader(
        data,
        size,
        shuffle=order == "shuffle",
        sampler=sampler(torch, order, data, generator),
        drop_last=drop,
        num_workers=workers,
        generator=generator,
    )
    for _ in range(2):
        for i, (batch,) in enumerate(loader):
            out.append(batch.tolist())
            if i == stop:
                break
        state = (torch.default_generator.get_state(), generator.get_state() if own else None)
        out.append([torch.randint(10**6, (1,), generator=generator).item()])
        torch.default_generator.set_state(state[0])
        if own:
            generator.set_state(state[1])
    return out


def splits(torch):
    """Parts of random_split."""
    torch.manual_seed(3)
    g = torch.Generator()
    g.manual_seed(4)
    split = torch.utils.data.random_split
    parts = split(range(11), [0.3, 0.3, 0.4], generator=g) + split(range(11), [5, 6])
    return [list(p.indices) for p in parts]


def run(torch):
    """Everything, as in data.json."""
    return {"epochs": [epochs(torch, c) for c in cases()], "splits": splits(torch)}


if __name__ == "__main__":
    import torch

    result = {"torch": torch.__version__} | run(torch)
    path = pathlib.Path(__file__).with_name("data.json")
    path.write_text(json.dumps(result, separators=(",", ":")) + "\n")
