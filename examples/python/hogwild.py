"""Hogwild (Recht et al. 2011): processes train one shared network without a lock, each with an
optimizer of its own. Prints how much faster two processes are than one."""

import time

import digits

import tensorh as torch
import tensorh.multiprocessing as mp
import tensorh.nn.functional as F
from tensorh import nn

BATCH = 64


def network(pixels):
    return nn.Sequential(nn.Linear(pixels, 256), nn.ReLU(), nn.Linear(256, 10))


def work(model, images, labels, steps, seed):
    """Steps on the shared weights: what another process writes meanwhile is simply there."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        at = torch.randint(len(images), (BATCH,))
        loss = F.cross_entropy(model(images[at]), labels[at])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train(processes, steps, images, labels):
    """A network after so many steps altogether, and the seconds that they took."""
    torch.manual_seed(1)
    model = network(images.shape[1]).share_memory()
    share = (model, images, labels, steps // processes)
    began = time.perf_counter()
    workers = [mp.Process(target=work, args=(*share, seed)) for seed in range(processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        if worker.exitcode:
            raise RuntimeError(f"a process ended with {worker.exitcode}")
    return model, time.perf_counter() - began


def main(steps=8000):
    images, labels = digits.load(torch)
    images = images.flatten(1)
    seen, unseen = slice(0, len(images) * 4 // 5), slice(len(images) * 4 // 5, None)
    taken, right = [], []
    for processes in (1, 2):
        model, seconds = train(processes, steps, images[seen], labels[seen])
        with torch.no_grad():
            hits = (model(images[unseen]).argmax(1) == labels[unseen]).double().mean().item()
        each = steps // processes
        print(f"{processes} x {each} steps: {seconds:5.2f} s, {100 * hits:.1f} % right")
        taken.append(seconds)
        right.append(hits)
    print(f"two processes are {taken[0] / taken[1]:.2f} times as fast as one")
    return right


if __name__ == "__main__":
    main()
