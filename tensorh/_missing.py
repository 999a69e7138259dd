"""What a name that is not here means: planned, left out on purpose, or unknown."""

LEFT_OUT = {
    "compile": "there is no Python compiler; tensor.h records and replays calls in C",
    "jit": "programs are not translated; tensor.h records and replays calls in C",
    "onnx": "models are saved as safetensors and .pt",
    "quantization": "left to the kernels that need it",
    "sparse_coo_tensor": "there are no sparse layouts",
    "sparse_csr_tensor": "there are no sparse layouts",
}
PLANNED = ("fft", "special", "distributed", "distributions", "cuda", "profiler", "vmap", "hub")


def error(module, name):
    text = f"module '{module}' has no attribute '{name}'"
    if name in LEFT_OUT:
        text += f" (left out on purpose: {LEFT_OUT[name]})"
    elif name in PLANNED:
        text += " (planned)"
    return AttributeError(text)
