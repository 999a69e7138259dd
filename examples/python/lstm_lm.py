"""An LSTM learns a rhyme letter by letter and recites it (Graves 2013). examples/lstm.c is the same
program and prints the same figures."""

import tensorh as torch
import tensorh.nn.functional as F
from tensorh import nn

PARTS = (
    "the house that Jack built.",
    "the malt that lay in",
    "the rat that ate",
    "the cat that killed",
    "the dog that worried",
    "the cow with the crumpled horn that tossed",
    "the maiden all forlorn that milked",
    "the man all tattered and torn that kissed",
)
TEXT = "".join(f"This is {' '.join(PARTS[i::-1])}\n" for i in range(len(PARTS)))
LETTERS, SEEN, BATCH = 128, 48, 16


class Model(nn.Module):
    def __init__(self, width=16, hidden=96):
        super().__init__()
        self.letter = nn.Embedding(LETTERS, width)
        self.lstm = nn.LSTM(width, hidden, batch_first=True)
        self.head = nn.Linear(hidden, LETTERS)

    def forward(self, letters, state=None):
        h, state = self.lstm(self.letter(letters), state)
        return self.head(h), state


def recite(model, said):
    """Adds the likeliest letter after each, to the end of the line."""
    state, letters = None, torch.tensor([[ord(letter) for letter in said]])
    with torch.no_grad():
        while len(said) < 300 and not said.endswith("\n"):
            guess, state = model(letters, state)
            letters = guess[:, -1:].argmax(dim=-1)
            said += chr(letters.item())
    return said.strip()


def main(steps=60):
    torch.manual_seed(1)
    model = Model()
    text = torch.tensor([ord(letter) for letter in TEXT])
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    for step in range(1, steps + 1):
        start = torch.randint(len(text) - SEEN, (BATCH, 1))
        window = text[start + torch.arange(SEEN + 1)]
        guess, _ = model(window[:, :-1])
        loss = F.cross_entropy(guess.flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 100 == 0:
            print(f"step {step:4}  loss {sum(losses[-100:]) / 100:.4f}")
    for words in ("This is the cow", "This is the man"):
        print(recite(model, words))
    return losses


if __name__ == "__main__":
    main(steps=400)
