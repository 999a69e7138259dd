"""Modules of torch that programs import and that have nothing to do here: what connects processes,
compiles or traces. Their names exist, so that imports and isinstance() work and say the truth: no
object is of such a class. To make one, or to call such a function, is a NotImplementedError that
says why. Questions that have a true answer here are answered."""

import enum
from string import ascii_letters, digits
from typing import Final

_PROCESSES = "tensorh does not connect processes: ranks are threads (torch.distributed)"
_TRACING = "programs are not traced: tensor.h records and replays calls in C"
_ONNX = "there is no ONNX exporter: models are saved as safetensors or .pt"
_SCRIPT = "there is no compiler of TorchScript"
_NESTED = "there are no nested layouts"
_QUANTIZED = "there are no quantized tensors"

_FSDP = (
    "FullyShardedDataParallel FSDPModule UnshardHandle fully_shard() "
    "register_fsdp_forward_method() CPUOffload! CPUOffloadPolicy! OffloadPolicy! MixedPrecision! "
    "MixedPrecisionPolicy! "
    "FullStateDictConfig! FullOptimStateDictConfig! LocalStateDictConfig! "
    "LocalOptimStateDictConfig! "
    "ShardedStateDictConfig! ShardedOptimStateDictConfig! StateDictConfig! OptimStateDictConfig! "
    "StateDictSettings! "
    "BackwardPrefetch=BACKWARD_PRE,BACKWARD_POST "
    "ShardingStrategy=FULL_SHARD,SHARD_GRAD_OP,NO_SHARD,HYBRID_SHARD,_HYBRID_SHARD_ZERO2 "
    "StateDictType=FULL_STATE_DICT,LOCAL_STATE_DICT,SHARDED_STATE_DICT "
    "OptimStateKeyType=PARAM_NAME,PARAM_ID"
)
_DTENSOR = (
    "DTensor DeviceMesh Placement! Shard! Replicate! Partial! _StridedShard! distribute_tensor() "
    "distribute_module() init_device_mesh() zeros() ones() empty() full() rand() randn()"
)
_STATES = (
    "StateDictOptions! get_model_state_dict() get_optimizer_state_dict() get_state_dict() "
    "set_model_state_dict() set_optimizer_state_dict() set_state_dict()"
)
_CHECKPOINT = (
    "FileSystemReader FileSystemWriter StorageReader StorageWriter SavePlanner LoadPlanner "
    "DefaultSavePlanner DefaultLoadPlanner HuggingFaceStorageReader HuggingFaceStorageWriter "
    "load() save() async_save() load_state_dict() save_state_dict()"
)
_FX = (
    "Graph GraphModule Interpreter Node Proxy ProxyableClassMeta Tracer Transformer CodeGen "
    "TraceError=Exception symbolic_trace() replace_pattern()"
)
# By module: why its names do nothing, and which there are. "f()" is a function, "E=A,B" an enum,
# "E=Exception" an error that is never raised, "D!" a description, which can be made: it keeps its
# arguments for the functions that would read them.
_MODULES = {
    "distributed._composable": (_PROCESSES, "replicate() checkpoint()"),
    "distributed._composable.fsdp": (_PROCESSES, _FSDP),
    "distributed._functional_collectives": (
        _PROCESSES,
        "AsyncCollectiveTensor all_gather_tensor() all_reduce() all_to_all_single() "
        "all_to_all_single_autograd() reduce_scatter_tensor() wait_tensor()",
    ),
    "distributed._tensor": (_PROCESSES, _DTENSOR),
    "distributed._tensor.experimental": (_PROCESSES, "implicit_replication()"),
    "distributed.algorithms": (_PROCESSES, "Join Joinable JoinHook"),
    "distributed.algorithms.join": (_PROCESSES, "Join Joinable JoinHook"),
    "distributed.algorithms._checkpoint": (_PROCESSES, ""),
    "distributed.algorithms._checkpoint.checkpoint_wrapper": (
        _PROCESSES,
        "CheckpointWrapper CheckpointImpl=REENTRANT,NO_REENTRANT apply_activation_checkpointing() "
        "checkpoint_wrapper() offload_wrapper()",
    ),
    "distributed.algorithms.ddp_comm_hooks": (_PROCESSES, "register_ddp_comm_hook()"),
    "distributed.algorithms.ddp_comm_hooks.debugging_hooks": (_PROCESSES, "noop_hook()"),
    "distributed.algorithms.ddp_comm_hooks.default_hooks": (
        _PROCESSES, "allreduce_hook() fp16_compress_hook() bf16_compress_hook() "
        "fp16_compress_wrapper() bf16_compress_wrapper()",
    ),
    "distributed.algorithms.ddp_comm_hooks.powerSGD_hook": (
        _PROCESSES, "PowerSGDState powerSGD_hook() batched_powerSGD_hook()"),
    "distributed.algorithms.ddp_comm_hooks.post_localSGD_hook": (
        _PROCESSES, "PostLocalSGDState post_localSGD_hook()"),
    "distributed.algorithms.model_averaging": (_PROCESSES, ""),
    "distributed.algorithms.model_averaging.averagers": (
        _PROCESSES, "ModelAverager PeriodicModelAverager"),
    "distributed.checkpoint": (_PROCESSES, _CHECKPOINT),
    "distributed.checkpoint._consolidate_hf_safetensors": (
        _PROCESSES, "consolidate_safetensors_files()"),
    "distributed.checkpoint.default_planner": (
        _PROCESSES, "DefaultSavePlanner DefaultLoadPlanner _EmptyStateDictLoadPlanner"),
    "distributed.checkpoint.format_utils": (
        _PROCESSES, "_EmptyStateDictLoadPlanner dcp_to_torch_save() torch_save_to_dcp()"),
    "distributed.checkpoint.hf_storage": (
        _PROCESSES, "HuggingFaceStorageReader HuggingFaceStorageWriter"),
    "distributed.checkpoint.metadata": (_PROCESSES, "Metadata TensorStorageMetadata"),
    "distributed.checkpoint.optimizer": (_PROCESSES, "load_sharded_optimizer_state_dict()"),
    "distributed.checkpoint.state_dict": (_PROCESSES, _STATES),
    "distributed.checkpoint.state_dict_loader": (_PROCESSES, "load() _load_state_dict()"),
    "distributed.checkpoint.state_dict_saver": (_PROCESSES, "save() async_save()"),
    "distributed.checkpoint.stateful": (_PROCESSES, "Stateful"),
    "distributed.device_mesh": (_PROCESSES, "DeviceMesh init_device_mesh()"),
    "distributed.elastic": (_PROCESSES, ""),
    "distributed.elastic.multiprocessing": (_PROCESSES, "start_processes() SignalException"),
    "distributed.elastic.multiprocessing.errors": (
        _PROCESSES, "ChildFailedError=Exception ErrorHandler ProcessFailure record()"),
    "distributed.fsdp": (_PROCESSES, _FSDP),
    "distributed.fsdp.api": (_PROCESSES, _FSDP),
    "distributed.fsdp.fully_sharded_data_parallel": (_PROCESSES, _FSDP),
    "distributed.fsdp._fully_shard": (_PROCESSES, _FSDP),
    "distributed.fsdp.sharded_grad_scaler": (_PROCESSES, "ShardedGradScaler"),
    "distributed.fsdp.wrap": (
        _PROCESSES, "ModuleWrapPolicy! CustomPolicy! always_wrap_policy() enable_wrap() wrap() "
        "lambda_auto_wrap_policy() size_based_auto_wrap_policy() transformer_auto_wrap_policy() "
        "_or_policy() _recursive_wrap()",
    ),
    "distributed.launcher": (_PROCESSES, "LaunchConfig! elastic_launch launch_agent()"),
    "distributed.launcher.api": (_PROCESSES, "LaunchConfig! elastic_launch launch_agent()"),
    "distributed.nn": (_PROCESSES, "RemoteModule"),
    "distributed.nn.functional": (
        _PROCESSES, "all_gather() all_reduce() all_to_all() broadcast() gather() reduce() "
        "reduce_scatter() scatter()",
    ),
    "distributed.optim": (
        _PROCESSES, "DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer "
        "_apply_optimizer_in_backward()",
    ),
    "distributed.pipelining": (
        _PROCESSES, "Pipe PipelineStage ScheduleGPipe Schedule1F1B SplitPoint=BEGINNING,END "
        "pipeline() pipe_split()",
    ),
    "distributed.rpc": (_PROCESSES, "RRef init_rpc() rpc_sync() rpc_async() remote() shutdown()"),
    "distributed.run": (_PROCESSES, "main() run() get_args_parser() config_from_args()"),
    "distributed.tensor": (_PROCESSES, _DTENSOR),
    "distributed.tensor._utils": (_PROCESSES, "compute_local_shape_and_global_offset()"),
    "distributed.tensor.device_mesh": (_PROCESSES, _DTENSOR),
    "distributed.tensor.experimental": (
        _PROCESSES, "context_parallel() implicit_replication() local_map() register_sharding()"),
    "distributed.tensor.experimental._attention": (
        _PROCESSES, "context_parallel() set_rotate_method()"),
    "distributed.tensor.parallel": (
        _PROCESSES, "ColwiseParallel! RowwiseParallel! ParallelStyle! SequenceParallel! "
        "PrepareModuleInput! PrepareModuleOutput! loss_parallel() parallelize_module()",
    ),
    "distributed.tensor.placement_types": (_PROCESSES, _DTENSOR),
    "distributed.utils": (
        _PROCESSES, "_sync_module_states() _verify_param_shape_across_processes()"),
    "cuda": (
        "it belongs to torch's CUDA build", "ExternalStream MemPool"),
    "export": (
        _TRACING, "Dim ExportedProgram export() load() save() register_dataclass() "
        "draft_export() unflatten() ShapesCollection AdditionalInputs"),
    "export._trace": (_TRACING, ""),
    "export.decomp_utils": (_TRACING, "CustomDecompTable"),
    "fx": (_TRACING, _FX),
    "fx._pytree": (_TRACING, "register_pytree_flatten_spec() tree_flatten_spec()"),
    "fx._symbolic_trace": (_TRACING, _FX),
    "fx.experimental": (_TRACING, ""),
    "fx.experimental.proxy_tensor": (_TRACING, "ProxyTorchDispatchMode make_fx()"),
    "fx.experimental.symbolic_shapes": (
        _TRACING, "GuardOnDataDependentSymNode=Exception DimDynamic ShapeEnv"),
    "fx.graph": (_TRACING, "Graph CodeGen PythonCode"),
    "fx.graph_module": (
        _TRACING, "GraphModule _CodeOnlyModule _copy_attr() _USER_PRESERVED_ATTRIBUTES_KEY"),
    "fx.immutable_collections": (_TRACING, "immutable_dict immutable_list"),
    "fx.node": (_TRACING, "Node Argument Target map_arg() map_aggregate()"),
    "fx.operator_schemas": (_TRACING, "normalize_function() normalize_module()"),
    "fx.passes": (_TRACING, ""),
    "fx.passes.infra": (_TRACING, ""),
    "fx.passes.infra.pass_base": (_TRACING, "PassBase PassResult"),
    "fx.passes.shape_prop": (_TRACING, "ShapeProp TensorMetadata"),
    "fx.proxy": (_TRACING, "Proxy TraceError=Exception TracerBase Attribute ParameterProxy"),
    "_C._functorch": (
        "batches are not layers of an interpreter: see torch.vmap", "_add_batch_dim() "
        "_remove_batch_dim() get_unwrapped() maybe_get_bdim() maybe_get_level() "
        "current_level() peek_interpreter_stack() _vmap_increment_nesting() "
        "_vmap_decrement_nesting()"),
    "_custom_ops": (_TRACING, "get_ctx()"),
    "_jit_internal": (_SCRIPT, ""),
    "_dynamo": (_TRACING, "OptimizedModule explain() export()"),
    "_dynamo.eval_frame": (_TRACING, "OptimizedModule"),
    "_dynamo.exc": (
        _TRACING, "BackendCompilerFailed=Exception InternalTorchDynamoError=Exception "
        "TensorifyScalarRestartAnalysis=Exception TorchDynamoException=Exception "
        "Unsupported=Exception UserError=Exception"),
    "_dynamo.utils": (_TRACING, "CompileCounter"),
    "_dynamo._trace_wrapped_higher_order_op": (_TRACING, ""),
    "_higher_order_ops": (_TRACING, "cond() while_loop() associative_scan() scan()"),
    "_higher_order_ops.associative_scan": (_TRACING, "associative_scan()"),
    "_inductor": (_TRACING, "compile() aoti_compile_and_package()"),
    "_inductor.cpu_vec_isa": (_TRACING, "pick_vec_isa()"),
    "_inductor.runtime": (_TRACING, ""),
    "_inductor.runtime.cache_dir_utils": (_TRACING, "cache_dir()"),
    "_subclasses": (_TRACING, "FakeTensor FakeTensorMode"),
    "_subclasses.fake_tensor": (_TRACING, "FakeTensor FakeTensorMode"),
    "_subclasses.functional_tensor": (_TRACING, "FunctionalTensor"),
    "jit.annotations": (_SCRIPT, ""),
    "jit.mobile": (_SCRIPT, ""),
    "nested": (_NESTED, "nested_tensor() nested_tensor_from_jagged() as_nested_tensor() narrow()"),
    "onnx": (_ONNX, "ONNXProgram OnnxExporterError=Exception ExportOptions! dynamo_export()"),
    "onnx._internal": (_ONNX, ""),
    "onnx._internal.exporter": (_ONNX, "ONNXProgram"),
    "onnx.operators": (_ONNX, "shape_as_tensor() reshape_from_tensor_shape()"),
    "onnx.symbolic_helper": (_ONNX, "quantized_args() _get_tensor_sizes()"),
    "onnx.symbolic_opset9": (_ONNX, "masked_fill() softmax()"),
    "onnx.symbolic_opset11": (_ONNX, ""),
    "onnx.symbolic_opset12": (_ONNX, ""),
    "ao": (_QUANTIZED, ""),
    "ao.nn": (_QUANTIZED, ""),
    "ao.quantization": (
        _QUANTIZED, "QuantStub DeQuantStub QConfig QConfigMapping FakeQuantize ObserverBase "
        "convert() prepare() prepare_qat() quantize_dynamic() quantize() fuse_modules() "
        "fuse_modules_qat() get_default_qconfig() get_default_qat_qconfig()"),
    "utils.flop_counter": (
        "calls are not given to a mode", "FlopCounterMode register_flop_formula()"),
    "numa": (_PROCESSES, ""),
    "numa.binding": (_PROCESSES, "AffinityMode NumaOptions!"),
}  # fmt: skip


# Classes of torch itself.
_TOP = {
    **dict.fromkeys(("SymBool", "SymFloat", "SymInt"), "sizes are numbers"),
    **dict.fromkeys(("Event", "Stream"), "see torch.cuda.Event and torch.cuda.Stream"),
    **dict.fromkeys(("PyTorchFileReader", "PyTorchFileWriter"), "see torch.load and torch.save"),
    "TensorType": _SCRIPT,
    **dict.fromkeys(("ScriptFunction", "ScriptModule", "ScriptObject"), _SCRIPT),
}


def _same(x, *args, **kwargs):
    """x as it is."""
    return x


def _decorator(*args, **kwargs):
    """A decorator that changes nothing."""
    return _same


def _truth(x, *args):
    """x as a bool: sizes are numbers."""
    return bool(x)


def _set(x):
    """An empty set: sizes are numbers."""
    return set()


def _none(*args):
    """None."""


def _false(*args):
    """False."""
    return False


def _is_sample(x):
    """Whether a tensor is a sample of vmap."""
    from . import _C

    return isinstance(x, _C.Tensor) and _C._is_batched(x)


def _choose(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that calls if_true or if_false, by an argument."""

    def call(*args, **kwargs):
        flag = args[arg_index] if len(args) > arg_index else kwargs.get(arg_name, default)
        return (if_true if flag else if_false)(*args, **kwargs)

    return call


class _NoChange:
    """A context that changes nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None


# Names whose answer is true here.
_ANSWERS = {
    "_C._functorch": {"is_batchedtensor": _is_sample},
    "distributed.elastic.multiprocessing.errors": {"record": _same},
    "fx": {"wrap": _same},
    "fx._symbolic_trace": {
        "wrap": _same, "is_fx_tracing": _false, "is_fx_symbolic_tracing": _false},
    "fx.experimental.proxy_tensor": {"get_proxy_mode": _none},
    "fx.experimental.symbolic_shapes": {
        "free_symbols": _set, "free_unbacked_symbols": _set, "guard_or_false": _truth,
        "guard_or_true": _truth, "guard_size_oblivious": _truth, "has_free_symbols": _false,
        "is_symbolic": _false, "statically_known_true": _truth,
    },
    "_dynamo._trace_wrapped_higher_order_op": {"TransformGetItemToIndex": _NoChange},
    "_dynamo.eval_frame": {"is_dynamo_supported": _false},
    "_dynamo.utils": {"is_compile_supported": _false},
    "_subclasses.fake_tensor": {"is_fake": _false},
    "_jit_internal": {
        "_copy_to_script_wrapper": _same, "boolean_dispatch": _choose, "is_scripting": _false,
        "export": _same, "ignore": _decorator, "unused": _same, "Final": Final,
    },
    "onnx.symbolic_helper": {"parse_args": _decorator},
    "jit.annotations": {"BroadcastingList1": list, "BroadcastingList2": list,
                        "BroadcastingList3": list, "List": list},
}  # fmt: skip


def _refusal(path, why):
    return NotImplementedError(f"torch.{path} is not here: {why}")


def _class(path, why):
    def new(cls, *args, **kwargs):
        raise _refusal(path, why)

    module, _, name = path.rpartition(".")
    body = {"__new__": new, "__doc__": f"Not here: {why}.", "__module__": f"torch.{module}"}
    return type(name, (), body)


class _Description:
    """What a program wants of a function that is not here: its arguments."""

    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs
        self.__dict__.update(kwargs)

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash(type(self))

    def __repr__(self):
        given = [*map(repr, self.args), *(f"{k}={v!r}" for k, v in self.kwargs.items())]
        return f"{type(self).__name__}({', '.join(given)})"


def _function(path, why):
    def call(*args, **kwargs):
        raise _refusal(path, why)

    call.__name__ = call.__qualname__ = path.rpartition(".")[2]
    call.__doc__ = f"Not here: {why}."
    return call


_LETTERS = ascii_letters + digits
_made = {}  # one class of a name for all modules that have it


def _value(module, word, why):
    name, equals, members = word.partition("=")
    plain, kind = name.rstrip("()!"), name.lstrip("_" + _LETTERS)
    key = (module, word) if kind == "()" else (module.partition(".")[0], word)
    if key not in _made:
        path = f"{module}.{plain}"
        if members == "Exception":
            made = type(plain, (RuntimeError,), {"__doc__": "Never raised here."})
        elif equals:
            made = enum.Enum(plain, members.split(","), start=0)
        elif kind == "()":
            made = _function(path, why)
        elif kind == "!":
            doc = f"A description alone: {why}."
            made = type(plain, (_Description,), {"__doc__": doc, "__module__": f"torch.{module}"})
        else:
            made = _class(path, why)
        _made[key] = made
    return plain, _made[key]


def fill(module):
    """Gives a module of that table its names: those that a file has not defined itself."""
    name = module.__name__.partition(".")[2]
    why, words = _MODULES[name]
    for word in words.split():
        plain, value = _value(name, word, why)
        module.__dict__.setdefault(plain, value)
    module.__dict__.update(_ANSWERS.get(name, {}))


class Loader:
    """Makes the modules of the table; _spaces.Finder asks for them."""

    @staticmethod
    def spec(fullname):
        """The spec of a module of the table, or None."""
        name = fullname.partition(".")[2]
        if name not in _MODULES:
            return None
        below = any(other.startswith(name + ".") for other in _MODULES)
        return type(__spec__)(fullname, Loader, is_package=below)

    @staticmethod
    def create_module(spec):
        return None  # a plain module

    @staticmethod
    def exec_module(made):
        name = made.__name__.partition(".")[2]
        made.__doc__ = f"torch.{name}: {_MODULES[name][0]}."
        fill(made)

        def __getattr__(word):
            from ._missing import error

            if f"{name}.{word}" in _MODULES:
                import importlib

                return importlib.import_module(f"{made.__name__}.{word}")
            raise error("torch." + name, word)

        made.__getattr__ = __getattr__


def name_of(module, word):
    """A name that the table adds to a module that a file has; AttributeError without."""
    why, words = _MODULES[module]
    for one in words.split():
        if one.rstrip("()!") == word:
            return _value(module, one, why)[1]
    from ._missing import error

    raise error("torch." + module, word)


def top(word):
    """A class of torch itself that has no objects here; AttributeError for other names."""
    if word in _TOP:
        key = ("", word)
        if key not in _made:
            _made[key] = _class(word, _TOP[word])
            _made[key].__module__ = "torch"
        return _made[key]
    from ._missing import error

    raise error("torch", word)


def below(module, word):
    """The module `word` of the table below a module with that name, or None."""
    name = f"{module.partition('.')[2]}.{word}"
    if name not in _MODULES:
        return None
    import importlib

    return importlib.import_module(f"{__package__}.{name}")

