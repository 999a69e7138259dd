"""A training that may be killed at any moment, for test_killed.py.

    killed.py FOLDER loader|sets|processes STEPS

Batches come from a DataLoader with two workers, from one over a set in Python, or from two
processes by queues. After each step all that the training knows is saved; a run goes on where the
last file ends. At the end the parameters and the state of Adam lie in FOLDER/end."""

import os
import sys

import tensorh as torch
from tensorh import multiprocessing as mp
from tensorh import nn
from tensorh.utils.data import DataLoader, Dataset, TensorDataset

N, SIZE = 96, 8


def data():
    g = torch.Generator().manual_seed(5)
    x = torch.randn(N, 6, generator=g)
    return x, x.sum(1, keepdim=True).sin()


class Set(Dataset):
    def __init__(self):
        self.x, self.y = data()

    def __len__(self):
        return N

    def __getitem__(self, i):
        return self.x[i] * 1.0, self.y[i]


class Loader:
    """Batches of a shuffled DataLoader; a place is the state of its generator and a number."""

    def __init__(self, dataset):
        self.generator = torch.Generator().manual_seed(7)
        self.loader = DataLoader(dataset, SIZE, True, num_workers=2, generator=self.generator)
        self.epoch, self.n = self.generator.get_state(), 0

    def place(self):
        return {"epoch": self.epoch, "n": self.n}

    def batches(self, place):
        if place:
            self.epoch, self.n = place["epoch"], place["n"]
        self.generator.set_state(self.epoch)
        while True:
            for i, batch in enumerate(self.loader):
                if i >= self.n:
                    self.n += 1
                    yield batch
            self.epoch, self.n = self.generator.get_state(), 0


def produce(rank, queues, first):
    i = first + rank
    while True:
        g = torch.Generator().manual_seed(i)
        x = torch.randn(SIZE, 6, generator=g)
        queues[rank].put((x, x.sum(1, keepdim=True).sin()))
        i += 2


class Processes:
    """Batches that two processes make, which know their numbers."""

    def __init__(self):
        self.n, self.processes = 0, []  # none if the kill came behind the last step

    def place(self):
        return {"n": self.n}

    def batches(self, place):
        self.n = place["n"] if place else 0
        queues = [mp.get_context("fork").Queue(2) for _ in range(2)]
        self.processes = mp.start_processes(
            produce, (queues, self.n), nprocs=2, join=False, start_method="fork"
        ).processes
        first = self.n
        while True:
            turn = (self.n - first) % 2
            self.n += 1
            yield queues[turn].get()


def main(folder, kind, steps):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Dropout(0.2), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10, 0.7)
    makers = {"loader": lambda: Loader(TensorDataset(*data())), "sets": lambda: Loader(Set()),
              "processes": Processes}  # fmt: skip
    source, file, place, step = makers[kind](), os.path.join(folder, "now.pt"), None, 0
    if os.path.exists(file):
        kept = torch.load(file)
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        schedule.load_state_dict(kept["schedule"])
        place, step = kept["place"], kept["step"]
    batches = source.batches(place)
    if step:
        torch.set_rng_state(kept["random"])
    while step < steps:
        x, y = next(batches)
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        schedule.step()
        step += 1
        torch.save(
            {"model": model.state_dict(), "optimizer": optimizer.state_dict(),
             "schedule": schedule.state_dict(), "random": torch.get_rng_state(),
             "place": source.place(), "step": step},
            file,
        )  # fmt: skip
    torch.save({"model": model.state_dict(), "state": optimizer.state_dict()["state"],
                "random": torch.get_rng_state()}, os.path.join(folder, "end"))  # fmt: skip
    if kind == "processes":
        for p in source.processes:
            p.kill()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
