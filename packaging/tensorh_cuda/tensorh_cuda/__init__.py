"""The kernels of tensorh for NVIDIA's GPUs: libtensor_cuda.so, which tensorh looks for here.
There is nothing to import: `import tensorh as torch; torch.ones(3, device="cuda")`."""
