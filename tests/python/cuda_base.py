"""What programs of cuda_programs.py and cuda_graphs.py share."""

import tensorh as torch


def raises(error, text, call):
    try:
        call()
    except error as e:
        assert text in str(e), (text, str(e))
    else:
        raise AssertionError(f"no {error.__name__}: {text}")


class Net(torch.nn.Module):
    """Linear, ReLU, Linear."""

    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(4, 8)
        self.b = torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.b(self.a(x).relu())
