"""What a name that is not here means: planned, left out on purpose, or unknown.

`python -m tensorh._missing FILE` counts the names of torch, one a line under "## namespace (n)",
that are present, planned and left out."""
# Names of any namespace by pattern, and why they are left out.
LEFT_OUT = (
    (r"fx|export|while_loop|cond", "there is no Python compiler; tensor.h "
     "records and replays calls in C"),
    (r"Script\w*|\w*ScriptModule\w*|TracingState|CompilationUnit|FunctionSchema|"
     r"(Any|Await|Bool|Class|Complex|Dict|Enum|Float|Future|Inferred|Int|Interface|List|None|Number|"
     r"Optional|PyObject|RRef|StreamObj|String|Sym\w*|Tensor|Tuple|Union|DeviceObj|Aggregation)Type$|"
     r"(Alias|Archive)\w*|Argument\w*|BenchmarkConfig|BenchmarkExecutionStats|Block|BufferDict|"
     r"CallStack|Capsule|Code|Complete\w+|Concrete\w+|DispatchKey\w*|ErrorReport|ExcludeDispatch\w+|"
     r"Execution\w+|FileCheck|Future$|Gradient|Graph\w*|IODescriptor|JITException|LockingLogger|"
     r"LoggerBase|NoopLogger|ModuleDict|Node|OperatorInfo|ParameterDict|PyTorchFile\w+|StaticModule|"
     r"Tag|ThroughputBenchmark|Type|Use|Value|Serialization\w+|Deserialization\w+|DeepCopyMemoTable|"
     r"import_ir\w*|parse_\w+|merge_type\w*|unify_type\w*|fork$|wait$|classproperty|FatalError|"
     r"Stream$|Event$|AcceleratorError|prepare_multiprocessing\w*|get_file_path|init_num_threads|"
     r"thread_safe_generator|compiled_with_cxx11_abi|profiler_allow\w*|"
     r"get_device_module|LiteScript\w*|__torch_dispatch__|"
     r"__dlpack_c_exchange_api__|alias_copy|hash_tensor|classes|package|torch_version|foreach|has_\w+",
     "it belongs to how torch is built inside"),
    (r"ao|per_(channel|tensor)_\w+|quantiz\w*|fake_quantize\w*|fbgemm\w*|q_\w+|q?u?int\dx?\d*$|qu?int\w+|qscheme|QU?Int\w+|"
     r"int_repr|dequantize|empty_quantized|choose_qparams\w*|fused_moving\w*|is_quantized",
     "left to the kernels that need it"),
    (r"sparse_(bs[rc]\w*|resize\w*)|to_sparse_bs[rc]|\w*_sparse_\w*|"
     r"jagged|to_padded_tensor|nested|\w+_indices_copy|indices_copy|values_copy|"
     r"SparseSemiStructured\w*|semi_structured",
     "layouts are strided, sparse_coo, sparse_csr and sparse_csc"),
    (r"(cudnn|miopen|mkldnn|_mkldnn|native)_?\w*|to_mkldnn|batch_norm_(back|elemt|gather|stats|upd)\w*|"
     r"is_vulkan\w*|ipu|xpu|mtia|is_(ipu|xpu|mtia|maia|vulkan|xla)|\w*_(ipu|xla)_\w*",
     "it calls one vendor's library or device"),
    (r"[sS]ym_?\w+|sym_\w+", "sizes are numbers"),
    (r"\w+_copy$|slice_inverse|convolution$|norm_except_dim|_mkldnn|"
     r"affine_grid_generator|grid_sampler\w*|nuclear_norm|frobenius_norm|"
     r"embedding_renorm_|feature_dropout_?|resize_as_sparse_|rnn_\w+|lstm_cell|gru_cell|lstm$|gru$",
     "an inner function of torch: another name is public"),
    (r"QU?Int\w*Storage$|Storage$|const_data_ptr|"
     r"is_shared|share_memory_|resize(_as)?$|module_load|map2?_$|swap_tensors",
     "a tensor's memory is its own: see data_ptr, numpy, __dlpack__"),
    (r"u?int[1-7]$|bits\w*|bit$|float4\w*|float8_e\w+uz|float8_e8m0fnu|bcomplex32|chalf|"
     r"legacy_contiguous_format", "there is no such dtype here"),
    (r"cholesky$|qr$|eig$|lstsq$|solve$|symeig$|matrix_rank$|reinforce|volatile|__i?div__|"
     r"__long__|__nonzero__|is_distributed|__weakref__|__setstate__|name$|"
     r"DisableTorchFunction$|hspmm", "torch has removed it, or keeps it for old programs alone"),
)  # fmt: skip

# The same of one namespace.
_INSIDE = "it belongs to how torch is built inside"
LEFT_OUT_OF = {
    "torch": (
        (r"AVG|SUM|PRIVATE_OPS|TYPE_CHECKING|USE_GLOBAL_DEPS|USE_RTLD_GLOBAL_WITH_LIBTORCH|cpp|"
         r"windows", _INSIDE),
    ),
    "Tensor": ((r"_dtensor__new__", _INSIDE),),
    "torch.nn": (
        (r"factory_kwargs", _INSIDE),
        (r"intrinsic|qat", "left to the kernels that need it"),
    ),
    "torch.nn.functional": (
        (r"BroadcastingList\d|GRID_SAMPLE_\w+|ScalingType|SwizzleType|TYPE_CHECKING|Tensor|"
         r"reproducibility_notes|sparse_support_notes|tf32_notes|assert_int_or_pair|boolean_dispatch|\w*_torch_function\w*|Optional|scaled_\w+|"
         r"native_\w+", _INSIDE),
    ),
    "torch.nn.Module": (
        (r"T_destination|__getattr__", _INSIDE),
    ),
    "torch.nn.utils": (
        (r"init", "skip_init stands in torch.nn.utils"),
    ),
    "torch.cuda": (
        (r"nccl", "NCCL joins ranks: see torch.distributed"),
        (r"get_arch_list|get_gencode_flags", "the module of CUDA does not say what it is made for"),
        (r"cuda(rt|Status)|check_error|current_\w+_handle|caching_allocator_\w+|"
         r"CUDAPluggableAllocator|change_current_allocator|MemPool|use_mem_pool|jiterator|"
         r"tunable|GreenContext|green_contexts|get_stream_from_external|ExternalStream|"
         r"export_\w+|graph_annotations|gds|graphs|streams",
         "CUDA's runtime and libraries are used within the module of CUDA alone"),
    ),
    "torch.backends.cuda": (
        (r"\w*workspace_size|cuFFTPlanCacheAttr\w+", "it belongs to torch's CUDA build"),
    ),
    "torch.backends.cudnn": (
        (r"benchmark_limit|fp32_precision|is_acceptable|(set_)?flags|rnn|conv",
         "it belongs to torch's CUDA build"),
    ),
    "torch.masked": (
        (r"MaskedTensor|(as_|is_)?masked_tensor", "torch calls the class a prototype"),
    ),
    "torch.Generator": (
        (r"[gs]et_offset|graphsafe_\w+|philox_state", "it belongs to torch's CUDA build"),
    ),
    "torch.utils.dlpack": ((r"DLDeviceType|ReadOnlyTensorWrapper", _INSIDE),),
    "torch.utils.hooks": (
        (r"BackwardHook|warn_if_has_hooks", _INSIDE),
    ),
    "torch.linalg": ((r"common_notes", _INSIDE),),
    "torch.fft": ((r"Tensor", _INSIDE),),
    "torch.optim": ((r"functional", _INSIDE),),
    "torch.optim.Optimizer": ((r"Optimizer(Pre|Post)Hook", _INSIDE),),
    "torch.utils.checkpoint": (
        (r"Checkpoint\w+|create_selective_\w+|DefaultDeviceType|GraphExecGroup|"
         r"SAC_IGNORED_OPS|SelectiveCheckpointContext|set_checkpoint_\w+", _INSIDE),
    ),
    "torch.nn.init": (
        (r"(constant|dirac|eye|kaiming_(normal|uniform)|normal|orthogonal|sparse|uniform|"
         r"xavier_(normal|uniform))", "torch has deprecated it: the name with a _ at its end"),
    ),
    "torch.autograd": (
        (r"NestedIOFunction|variable|enforce_grad_layout_policy", _INSIDE),
        (r"set_multithreading_enabled", "backward runs in the calling thread"),
    ),
    "torch.func": (
        (r"debug_unwrap|functionalize|rearrange", _INSIDE),
    ),
    "torch.utils": (
        (r"benchmark|bottleneck|collect_env", "Python has timeit and cProfile"),
        (r"hipify|bundled_inputs|mobile_optimizer", "see tensorh/include/tensorh.h"),
        (r"show_pickle|viz|deterministic", _INSIDE),
    ),
    "torch.utils.data": (
        (r"\w*DataPipe|functional_datapipe|\w*datapipes?\w*|DataChunk|argument_validation|"
         r"non_deterministic|runtime_validation\w*", "torch has deprecated data pipes"),
    ),
    "torch.overrides": (
        (r"enable_reentrant_dispatch|get_\w+(functions|overrides)|\w*_(torch_)?function", _INSIDE),
    ),
    "torch.serialization": (
        (r"get_unsafe_globals\w*|skip_data", "files are read as data: nothing in them is imported"),
        (r"\w+", _INSIDE),
    ),
}  # fmt: skip

# Names of torch that come.
PLANNED = {
    "torch": "StorageBase",
    "Tensor": "__cuda_array_interface__ grad_dtype",
    "torch.linalg": "",
    "torch.nn": "",
    "torch.nn.functional": "",
    "torch.autograd": "",
    "torch.testing": "",
}
# Spaces of which all comes or nothing, and why.
_COMPILER = "left out on purpose: tensor.h records and replays calls in C, there is no compiler"
WHOLE = {
    "torch.profiler": "planned",
    "torch.futures": "planned", "torch.multiprocessing": "planned", "torch.library": "planned",
    "torch.autograd.graph": "planned",
    "torch.autograd.profiler": "planned", "torch.nn.attention": "planned",
    "torch.distributed": "planned: what connects processes",
    "torch.nn.parallel": "threads over several GPUs: use DistributedDataParallel",
    "torch.nested": "left out on purpose: there are no nested layouts",
    "torch.export": _COMPILER, "torch.fx": _COMPILER, "torch.compiler": _COMPILER,
    "torch.jit": _COMPILER, "torch.onnx": _COMPILER,
}  # fmt: skip
# Methods that are left out: a class has no __getattr__ that would cost others nothing.
TENSOR_LEFT_OUT = """
chalf const_data_ptr dequantize eig hash_tensor int_repr ipu is_distributed is_ipu is_maia
is_mtia is_vulkan is_xla lstsq map2_ map_ module_load mtia q_per_channel_axis
q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qscheme reinforce resize
resize_as resize_as_sparse_ slice_inverse solve sparse_resize_ sparse_resize_and_clear_ symeig
to_mkldnn to_padded_tensor to_sparse_bsc to_sparse_bsr volatile xpu
"""
_SPACES = "mps monitor"


def reason(namespace, name):
    """"planned", why the name is left out, or None."""
    namespace = "torch.nn" if namespace == "torch.nn.modules" else namespace
    if name.startswith("__") and namespace != "Tensor":
        return None
    words = PLANNED.get(namespace, "").split()
    if name in words or (namespace == "torch" and name in _SPACES.split()):
        return "planned"
    if namespace in WHOLE:
        return WHOLE[namespace]
    import re

    for pattern, why in (*LEFT_OUT_OF.get(namespace, ()), *LEFT_OUT):
        if re.fullmatch(pattern, name):
            return f"left out on purpose: {why}"
    return None


def error(namespace, name):
    """The AttributeError of a name that a namespace does not have."""
    owner = namespace.rpartition(".")[2]
    of_object = owner in ("Tensor", "Module", "Node")
    subject = f"'{owner}' object" if of_object else f"module '{namespace}'"
    why = reason(namespace, name)
    return AttributeError(f"{subject} has no attribute '{name}'" + (f" ({why})" if why else ""))


class Missing:
    """Stands for a method of torch that a class has not: says whether it is planned, or why not."""

    __slots__ = ("namespace", "name")

    def __init__(self, namespace, name):
        self.namespace, self.name = namespace, name

    def __get__(self, obj, cls=None):
        raise error(self.namespace, self.name)


def _main(path):
    import tensorh

    spaces = {"torch.* ": ("torch", tensorh), "torch.Tensor ": ("Tensor", tensorh.Tensor),
              "torch.linalg": ("torch.linalg", tensorh.linalg)}  # fmt: skip
    found = {key: {} for key, _ in spaces.values()}
    here = None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("## "):
                here = next((v for k, v in spaces.items() if line[3:].startswith(k)), None)
            elif here and line[0] not in "#\n":
                name = line.strip()
                why = "present" if hasattr(here[1], name) else reason(here[0], name) or "unknown"
                found[here[0]][name] = why
    for namespace, names in found.items():
        counts = {k: sum(w.startswith(k) for w in names.values())
                  for k in ("present", "planned", "left out", "unknown")}  # fmt: skip
        print(namespace, ", ".join(f"{n} {k}" for k, n in counts.items()))
        unknown = [n for n, w in names.items() if w == "unknown"]
        if unknown:
            print("  unknown:", *unknown)


if __name__ == "__main__":
    import sys

    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(
            "usage: python -m tensorh._missing FILE\n\n"
            "FILE has the names of torch, one a line below a line '## namespace (n)'; for each\n"
            "namespace it is counted how many are present, planned, left out and unknown."
        )
    _main(sys.argv[1])
