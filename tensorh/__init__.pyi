"""tensorh. Written by tools/python/stubs.py."""
# ruff: noqa

from typing import Any as _Any

from . import accelerator as accelerator
from . import amp as amp
from . import array_api as array_api
from . import as_torch as as_torch
from . import autograd as autograd
from . import backends as backends
from . import compiler as compiler
from . import cpu as cpu
from . import cuda as cuda
from . import distributed as distributed
from . import distributions as distributions
from . import formats as formats
from . import func as func
from . import functional as functional
from . import futures as futures
from . import hub as hub
from . import jit as jit
from . import legacy as legacy
from . import library as library
from . import linalg as linalg
from . import masked as masked
from . import multiprocessing as multiprocessing
from . import nn as nn
from . import onnx as onnx
from . import optim as optim
from . import overrides as overrides
from . import profiler as profiler
from . import quasirandom as quasirandom
from . import random as random
from . import return_types as return_types
from . import safetensors as safetensors
from . import serialization as serialization
from . import signal as signal
from . import sparse as sparse
from . import special as special
from . import storage as storage
from . import testing as testing
from . import torch_version as torch_version
from . import types as types
from . import utils as utils
from . import version as version
from ._C import *
__version__: str
BFloat16Storage: type
BFloat16Tensor: type
BoolStorage: type
BoolTensor: type
ByteStorage: type
ByteTensor: type
CharStorage: type
CharTensor: type
ComplexDoubleStorage: type
ComplexDoubleTensor: type
ComplexFloatStorage: type
ComplexFloatTensor: type
DoubleStorage: type
DoubleTensor: type
FloatStorage: type
FloatTensor: type
from .futures import Future as Future
from .amp.grad_scaler import GradScaler as GradScaler
HalfStorage: type
HalfTensor: type
IntStorage: type
IntTensor: type
LongStorage: type
LongTensor: type
ShortStorage: type
ShortTensor: type
from .storage import TypedStorage as TypedStorage
from .storage import UntypedStorage as UntypedStorage
absolute: _Any
absolute_: _Any
from ._functions.elements import acosh as acosh
from ._functions import acosh_ as acosh_
from ._functions.products import addbmm as addbmm
from ._functions import addbmm_ as addbmm_
from ._functions import addmm_ as addmm_
from ._functions.products import addmv as addmv
from ._functions import addmv_ as addmv_
from ._functions.products import addr as addr
from ._functions import addr_ as addr_
from ._functions.shapes import adjoint as adjoint
arccos: _Any
arccos_: _Any
def arccosh(input, *, out=None) -> _Any: ...
from ._functions import arccosh_ as arccosh_
arcsin: _Any
arcsin_: _Any
arcsinh: _Any
arcsinh_: _Any
arctan: _Any
arctan2: _Any
arctan2_: _Any
arctan_: _Any
def arctanh(input, *, out=None) -> _Any: ...
from ._functions import arctanh_ as arctanh_
from ._functions.settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from ._functions.indexing import argwhere as argwhere
from ._functions.shapes import as_strided_ as as_strided_
from ._functions.shapes import as_strided_copy as as_strided_copy
from ._functions.creation import asarray as asarray
from ._functions.elements import atanh as atanh
from ._functions import atanh_ as atanh_
from ._functions.shapes import atleast_1d as atleast_1d
from ._functions.shapes import atleast_2d as atleast_2d
from ._functions.shapes import atleast_3d as atleast_3d
from .amp.autocast_mode import autocast as autocast
from .amp.autocast_mode import autocast_decrement_nesting as autocast_decrement_nesting
from .amp.autocast_mode import autocast_increment_nesting as autocast_increment_nesting
from ._functions.products import baddbmm as baddbmm
from ._functions import baddbmm_ as baddbmm_
from ._functions.reductions import bincount as bincount
from ._functions.shapes import block_diag as block_diag
from ._functions.shapes import broadcast_shapes as broadcast_shapes
from ._functions.shapes import broadcast_tensors as broadcast_tensors
from ._functions.dtypes import can_cast as can_cast
from ._functions.shapes import cartesian_prod as cartesian_prod
from ._functions.products import cdist as cdist
from ._functions.products import chain_matmul as chain_matmul
from .amp.autocast_mode import clear_autocast_cache as clear_autocast_cache
clip: _Any
clip_: _Any
from ._functions.shapes import column_stack as column_stack
from ._functions.shapes import combinations as combinations
from .compiler import compile as compile
from ._functions.creation import complex as complex
concat: _Any
concatenate: _Any
from ._functions.elements import conj_physical as conj_physical
from ._functions import conj_physical_ as conj_physical_
from ._functions.products import cross as cross
from ._functions.reductions import cumulative_trapezoid as cumulative_trapezoid
from ._functions.shapes import detach_ as detach_
from ._functions.shapes import detach_copy as detach_copy
from ._functions.shapes import diag as diag
from ._functions.shapes import diag_embed as diag_embed
from ._functions.shapes import diagflat as diagflat
from ._functions.shapes import diagonal_copy as diagonal_copy
from ._functions.shapes import diagonal_scatter as diagonal_scatter
from ._functions.reductions import diff as diff
from ._functions.reductions import dist as dist
divide: _Any
divide_: _Any
dsmm: _Any
from ._functions.shapes import dsplit as dsplit
from ._functions.shapes import dstack as dstack
e: _Any
from ._functions.products import einsum as einsum
from ._functions.creation import empty_strided as empty_strided
from ._functions.shapes import expand_copy as expand_copy
from ._functions.elements import fill as fill
from ._functions.dtypes import finfo as finfo
fix: _Any
fix_: _Any
from ._functions.shapes import fliplr as fliplr
from ._functions.shapes import flipud as flipud
from .storage import from_file as from_file
from ._functions.products import ger as ger
from .amp.autocast_mode import get_autocast_cpu_dtype as get_autocast_cpu_dtype
from .amp.autocast_mode import get_autocast_dtype as get_autocast_dtype
from .amp.autocast_mode import get_autocast_gpu_dtype as get_autocast_gpu_dtype
from ._functions.settings import get_deterministic_debug_mode as get_deterministic_debug_mode
from ._functions.settings import get_device as get_device
from ._functions.settings import get_float32_matmul_precision as get_float32_matmul_precision
def get_include() -> _Any: ...
from ._functions.settings import get_num_interop_threads as get_num_interop_threads
from ._functions.settings import get_rng_state as get_rng_state
from ._functions.reductions import gradient as gradient
greater: _Any
greater_: _Any
greater_equal: _Any
greater_equal_: _Any
from ._functions.reductions import histogramdd as histogramdd
def hsmm(mat1, mat2, *, out=None) -> _Any: ...
from ._functions.shapes import hsplit as hsplit
from ._sparse_products import hspmm as hspmm
from ._functions.shapes import hstack as hstack
from ._functions.dtypes import iinfo as iinfo
from ._functions.indexing import index_copy as index_copy
from ._functions.indexing import index_fill as index_fill
inf: _Any
from ._functions.settings import initial_seed as initial_seed
from ._functions.products import inner as inner
from ._functions.settings import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .amp.autocast_mode import is_autocast_cache_enabled as is_autocast_cache_enabled
from .amp.autocast_mode import is_autocast_cpu_enabled as is_autocast_cpu_enabled
from .amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
from ._functions.dtypes import is_complex as is_complex
from ._functions.dtypes import is_conj as is_conj
from ._functions.settings import is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled
from ._functions.dtypes import is_floating_point as is_floating_point
from ._functions.dtypes import is_inference as is_inference
def is_neg(input) -> _Any: ...
from ._functions.elements import is_nonzero as is_nonzero
from ._functions.elements import is_same_size as is_same_size
from ._functions.dtypes import is_signed as is_signed
from .storage import is_storage as is_storage
from ._functions.settings import is_warn_always_enabled as is_warn_always_enabled
from ._functions.elements import isin as isin
from ._functions.spectra import istft as istft
from ._functions.products import kron as kron
less: _Any
less_: _Any
less_equal: _Any
less_equal_: _Any
from .serialization import load as load
from ._functions.products import lobpcg as lobpcg
from ._functions.products import lowrank as lowrank
from ._functions.products import lu as lu
moveaxis: _Any
from ._functions.reductions import msort as msort
multiply: _Any
multiply_: _Any
nan: _Any
from ._functions.reductions import nanmean as nanmean
from ._functions.reductions import nansum as nansum
from ._functions.shapes import narrow_copy as narrow_copy
negative: _Any
negative_: _Any
newaxis: _Any
from ._functions.creation import normal as normal
not_equal: _Any
not_equal_: _Any
from ._functions.indexing import numel as numel
ops: _Any
from ._functions.products import pca_lowrank as pca_lowrank
from ._functions.products import pca_rank as pca_rank
from ._functions.shapes import permute_copy as permute_copy
pi: _Any
from ._functions.creation import polar as polar
from ._functions.elements import positive as positive
from ._functions.indexing import put as put
from ._functions.creation import randint_like as randint_like
range: _Any
from ._functions.shapes import ravel as ravel
from ._functions.shapes import repeat_interleave as repeat_interleave
from ._functions.shapes import resize_as_ as resize_as_
from ._functions.dtypes import resolve_conj as resolve_conj
def resolve_neg(input) -> _Any: ...
from ._functions.dtypes import result_type as result_type
from ._functions.shapes import rot90 as rot90
def row_stack(tensors, *, out=None) -> _Any: ...
def saddmm(input, mat1, mat2, *, beta=1, alpha=1, out=None) -> _Any: ...
from .serialization import save as save
from ._functions.creation import scalar_tensor as scalar_tensor
from ._functions.settings import seed as seed
from ._functions.shapes import select_copy as select_copy
from ._functions.shapes import select_scatter as select_scatter
from ._functions.settings import set_anomaly_enabled as set_anomaly_enabled
from .amp.autocast_mode import set_autocast_cache_enabled as set_autocast_cache_enabled
from .amp.autocast_mode import set_autocast_cpu_dtype as set_autocast_cpu_dtype
from .amp.autocast_mode import set_autocast_cpu_enabled as set_autocast_cpu_enabled
from .amp.autocast_mode import set_autocast_dtype as set_autocast_dtype
from .amp.autocast_mode import set_autocast_enabled as set_autocast_enabled
from .amp.autocast_mode import set_autocast_gpu_dtype as set_autocast_gpu_dtype
from ._functions.settings import set_default_tensor_type as set_default_tensor_type
from ._functions.settings import set_deterministic_debug_mode as set_deterministic_debug_mode
from ._functions.settings import set_float32_matmul_precision as set_float32_matmul_precision
from ._functions.settings import set_flush_denormal as set_flush_denormal
from ._functions.settings import set_num_interop_threads as set_num_interop_threads
from ._functions.settings import set_printoptions as set_printoptions
from ._functions.settings import set_rng_state as set_rng_state
from ._functions.settings import set_warn_always as set_warn_always
from ._functions.shapes import slice_copy as slice_copy
from ._functions.shapes import slice_scatter as slice_scatter
from ._sparse_products import smm as smm
from ._sparse import sparse_compressed_tensor as sparse_compressed_tensor
from ._sparse import sparse_coo_tensor as sparse_coo_tensor
from ._sparse import sparse_csc_tensor as sparse_csc_tensor
from ._sparse import sparse_csr_tensor as sparse_csr_tensor
from ._functions.shapes import split_copy as split_copy
from ._functions.shapes import split_with_sizes_copy as split_with_sizes_copy
spmm: _Any
from ._functions.shapes import squeeze_copy as squeeze_copy
from ._sparse_products import sspaddmm as sspaddmm
from ._functions.reductions import std_mean as std_mean
from ._functions.spectra import stft as stft
subtract: _Any
subtract_: _Any
from ._functions.products import svd_lowrank as svd_lowrank
swapaxes: _Any
swapdims: _Any
from ._functions.shapes import t_copy as t_copy
from ._functions.indexing import take as take
from ._functions.shapes import tensor_split as tensor_split
from ._functions.products import tensordot as tensordot
from ._functions.shapes import tile as tile
from ._functions.reductions import trace as trace
from ._functions.shapes import transpose_copy as transpose_copy
from ._functions.reductions import trapezoid as trapezoid
def trapz(y, x=None, *, dx=None, dim=-1) -> _Any: ...
from ._functions.shapes import tril_indices as tril_indices
from ._functions.shapes import triu_indices as triu_indices
true_divide: _Any
true_divide_: _Any
from ._functions.settings import typename as typename
from ._functions.dtypes import types_of as types_of
from ._functions.shapes import unbind_copy as unbind_copy
from ._functions.shapes import unfold_copy as unfold_copy
from ._functions.reductions import unique as unique
from ._functions.reductions import unique_consecutive as unique_consecutive
from ._functions.indexing import unravel_index as unravel_index
unsafe_chunk: _Any
unsafe_split: _Any
unsafe_split_with_sizes: _Any
from ._functions.shapes import unsqueeze_copy as unsqueeze_copy
from ._functions.settings import use_deterministic_algorithms as use_deterministic_algorithms
from ._functions.creation import vander as vander
from ._functions.products import vdot as vdot
from ._functions.shapes import view_as_complex_copy as view_as_complex_copy
from ._functions.shapes import view_as_real_copy as view_as_real_copy
from ._functions.shapes import view_copy as view_copy
from ._vmap import vmap as vmap
from ._functions.shapes import vsplit as vsplit
from ._functions.shapes import vstack as vstack
from ._plan import will_it_fit as will_it_fit
