"""Pictures for the examples: the 1,797 scanned digits that come with examples/fashion, or
Fashion-MNIST if `make data` has unpacked it. Plain Python that also works with torch.
"""

import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
DIGITS = os.path.join(HERE, "..", "fashion", "digits")
FASHION = os.path.join(HERE, "..", "..", "build", "fashion-mnist")


def read_idx(path):
    """An IDX file of unsigned bytes: (sizes, bytes)."""
    with open(path, "rb") as f:
        data = f.read()
    zero, kind, ndim = struct.unpack_from(">HBB", data)
    if zero or kind != 8:
        raise ValueError(f"{path}: not an IDX file of unsigned bytes")
    sizes = struct.unpack_from(f">{ndim}I", data, 4)
    return sizes, bytearray(data[4 + 4 * ndim :])


def fashion():
    """The folder of Fashion-MNIST, or of the digits without it; prints which."""
    if os.path.isdir(FASHION):
        print("pictures: Fashion-MNIST, unpacked by `make data`")
        return FASHION
    print("pictures: the digits (`make data` fetches Fashion-MNIST)")
    return DIGITS


def load(torch, folder=DIGITS):
    """Images (N, 1, H, W) in [0, 1] and labels (N), as tensors of the module `torch`."""
    prefix = "train-" if folder == FASHION else ""
    (n, h, w), pixels = read_idx(os.path.join(folder, prefix + "images-idx3-ubyte"))
    _, marks = read_idx(os.path.join(folder, prefix + "labels-idx1-ubyte"))
    x = torch.frombuffer(pixels, dtype=torch.uint8).reshape(n, 1, h, w)
    x = x.to(torch.get_default_dtype())
    return x / x.max(), torch.frombuffer(marks, dtype=torch.uint8).to(torch.int64)
