"""torch.utils.model_zoo: the older name of torch.hub's functions."""

from ..hub import load_state_dict_from_url

__all__ = ["load_url"]
load_url = load_state_dict_from_url


def tqdm(iterable=None, *args, **kwargs):
    """The iterable as it is: there is no progress bar."""
    return iterable
