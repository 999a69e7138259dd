"""A character transformer with a causal mask: attention, layer norm, sampling at the end."""

import math

import tensorh as torch
import tensorh.nn.functional as F
from tensorh import nn

TEXT = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the "
    "age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the "
    "season of Light, it was the season of Darkness, it was the spring of hope, it was the winter "
    "of despair, we had everything before us, we had nothing before us. "
)


class Attention(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (
            p.view(b, t, self.heads, c // self.heads).transpose(1, 2)
            for p in self.qkv(x).chunk(3, dim=-1)
        )
        score = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        score = score.masked_fill(~self.mask[:t, :t], float("-inf"))
        y = F.softmax(score, dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class Layer(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads, length)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, letters, width=32, heads=4, length=32, depth=2):
        super().__init__()
        self.length = length
        self.token = nn.Embedding(letters, width)
        self.place = nn.Parameter(torch.zeros(length, width))
        self.layers = nn.Sequential(*[Layer(width, heads, length) for _ in range(depth)])
        self.head = nn.Linear(width, letters, bias=False)

    def forward(self, ids):
        return self.head(self.layers(self.token(ids) + self.place[: ids.shape[1]]))


def main(steps=60):
    torch.manual_seed(8)
    letters = sorted(set(TEXT))
    ids = torch.tensor([letters.index(c) for c in TEXT])
    model = Model(len(letters))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for step in range(steps):
        at = torch.randint(0, len(ids) - model.length - 1, (16,)).tolist()
        x = torch.stack([ids[i : i + model.length] for i in at])
        y = torch.stack([ids[i + 1 : i + model.length + 1] for i in at])
        logits = model(x)
        loss = F.cross_entropy(logits.view(-1, len(letters)), y.view(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 20 == 19:
            print(f"step {step + 1}: loss {loss.item():.4f}")
    said = ids[:8].tolist()
    with torch.no_grad():
        for _ in range(40):
            logits = model(torch.tensor([said[-model.length :]]))
            said.append(logits[0, -1].argmax().item())
    print("".join(letters[i] for i in said))
    return losses


if __name__ == "__main__":
    main()
