"""torch.utils._foreach_utils: tensors in groups of one device and dtype."""


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """{(device, dtype) of the first list's tensors: (lists of those at these places, places)}."""
    groups = {}
    for i, first in enumerate(tensorlistlist[0]):
        if first is None:
            continue
        lists, places = groups.setdefault(
            (first.device, first.dtype), ([[] for _ in tensorlistlist], [])
        )
        for one, given in zip(lists, tensorlistlist, strict=True):
            if given:
                one.append(given[i])
        if with_indices:
            places.append(i)
    return groups


def _device_has_foreach_support(device):
    """False: optimizers of a program's own take one tensor after the other."""
    return False


def _has_foreach_support(tensors, device):
    """False: optimizers of a program's own take one tensor after the other."""
    return False


def _get_foreach_kernels_supported_devices():
    """An empty list."""
    return []


def _get_fused_kernels_supported_devices():
    """An empty list."""
    return []
