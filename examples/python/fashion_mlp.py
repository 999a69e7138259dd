"""A multi-layer perceptron learns pictures: DataLoader, cross-entropy, SGD with momentum."""
import digits

import tensorh as torch
from tensorh import nn
from tensorh.utils.data import DataLoader, TensorDataset


def main(epochs=3, folder=digits.DIGITS):
    torch.manual_seed(0)
    images, labels = digits.load(torch, folder)
    loader = DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True)
    model = nn.Sequential(
        nn.Flatten(),
        nn.Linear(images[0].numel(), 128),
        nn.ReLU(),
        nn.Dropout(0.1),
        nn.Linear(128, 10),
    )
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    losses = []
    for epoch in range(epochs):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            right = (model(images).argmax(dim=1) == labels).sum().item()
        print(f"epoch {epoch + 1}: loss {losses[-1]:.4f}, {right} of {len(labels)} right")
    return losses


if __name__ == "__main__":
    main(folder=digits.fashion())
