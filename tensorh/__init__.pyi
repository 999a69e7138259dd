"""tensorh. Written by tools/python/stubs.py."""
# ruff: noqa

from typing import Any as _Any

from ._C import *
__version__: str
