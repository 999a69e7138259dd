"""torch.hub: models by the hubconf.py of a folder, and weights by their address. Nothing is fetched
from a repository: source must be "local"."""

import hashlib
import os
import re
import sys
import tempfile
from importlib.util import module_from_spec, spec_from_file_location
from urllib.parse import urlparse

__all__ = [
    "download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url",
    "set_dir",
]  # fmt: skip
_dir = []
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # resnet18-f37072fd.pth: the begin of its SHA-256


def _get_torch_home():
    """$TORCH_HOME, or ~/.cache/torch."""
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir():
    """Where files are kept: set_dir's, or $TORCH_HOME/hub, or ~/.cache/torch/hub."""
    return _dir[0] if _dir else os.path.join(_get_torch_home(), "hub")


def set_dir(d):
    """Where files are kept from now on."""
    _dir[:] = [os.path.expanduser(d)]


def _hubconf(folder, source):
    if source not in ("github", "local"):
        raise ValueError(
            f'Unknown source: "{source}". Allowed values: "github" | "local".'
        )
    if source == "github":
        raise NotImplementedError(
            'repositories are not fetched: clone it and pass the folder with source="local"'
        )
    path = os.path.join(os.path.expanduser(folder), "hubconf.py")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"{path}: no such file")
    sys.path.insert(0, os.path.dirname(path))  # for what it imports beside it
    try:
        spec = spec_from_file_location("hubconf", path)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(os.path.dirname(path))
    return module


def _entry(module, name):
    if not isinstance(name, str):
        raise ValueError("Invalid input: model should be a string of function name")
    found = getattr(module, name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


def list(github, force_reload=False, source="github", **unused):
    """The names of the models of a folder."""
    module = _hubconf(github, source)
    return [f for f in dir(module) if callable(getattr(module, f)) and not f.startswith("_")]


def help(github, model, force_reload=False, source="github", **unused):
    """The docstring of a model of a folder."""
    return _entry(_hubconf(github, source), model).__doc__


def load(repo_or_dir, model, *args, source="github", trust_repo=None, force_reload=False,
         verbose=True, skip_validation=False, **kwargs):  # fmt: skip
    """Calls the function `model` of the hubconf.py of a folder with the other arguments."""
    return _entry(_hubconf(repo_or_dir, source), model)(*args, **kwargs)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Fetches url into the file dst, which appears whole or not at all. hash_prefix: the begin of
    the SHA-256 that the bytes must have. There is no progress bar."""
    from urllib.request import Request, urlopen

    folder = os.path.dirname(os.path.abspath(dst))
    digest = hashlib.sha256()
    with urlopen(Request(url, headers={"User-Agent": "tensorh"})) as source, \
            tempfile.NamedTemporaryFile(dir=folder, delete=False) as f:  # fmt: skip
        try:
            while block := source.read(1 << 17):
                f.write(block)
                digest.update(block)
            f.close()
            found = digest.hexdigest()
            if hash_prefix and not found.startswith(hash_prefix):
                raise RuntimeError(
                    f'invalid hash value (expected "{hash_prefix}", got "{found}")'
                )
            os.replace(f.name, dst)
        except BaseException:
            f.close()
            os.unlink(f.name)
            raise


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True,
                             check_hash=False, file_name=None, weights_only=True):  # fmt: skip
    """torch.load of a file that is fetched once. check_hash: its name has the begin of its
    SHA-256 behind a dash."""
    from .serialization import load

    model_dir = model_dir or os.path.join(get_dir(), "checkpoints")
    os.makedirs(model_dir, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(model_dir, name)
    if not os.path.exists(path):
        prefix = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, prefix[1] if prefix else None, progress)
    return load(path, map_location=map_location, weights_only=weights_only)
