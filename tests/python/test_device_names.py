"""torch.cpu, torch.cuda, torch.accelerator and torch.backends.cuda where there is no GPU; beside
torch where it is installed."""

import os
import sys
import threading

import pytest

import tensorh as torch


def _torch():
    """torch, of which no device is used: its own words for "no driver" differ."""
    return pytest.importorskip("torch")


# --- torch.cpu ------------------------------------------------------------------------------------


def test_cpu_answers_for_programs_that_do_not_name_the_device():
    cpu = torch.cpu
    assert cpu.is_available() and cpu.is_initialized() and cpu.device_count() == 1
    assert cpu.current_device() == "cpu" and cpu.set_device(0) is None
    assert cpu.synchronize("cpu") is None
    event = cpu.Event()
    assert event.record() is None and event.query() is True and event.synchronize() is None
    with cpu.amp.autocast():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.bfloat16
    assert cpu.amp.GradScaler(init_scale=4.0).get_scale() == 4


def test_a_stream_of_the_cpu_is_current_in_its_block_and_thread():
    cpu, seen = torch.cpu, []
    first, one, two = cpu.current_stream(), cpu.Stream(), cpu.Stream(priority=1)
    with cpu.stream(one) as none:
        assert none is None and cpu.current_stream("cpu") is one
        with pytest.raises(KeyError), cpu.StreamContext(two):
            assert cpu.current_stream() is two
            raise KeyError
        with cpu.stream(None):
            assert cpu.current_stream() is one
        thread = threading.Thread(target=lambda: seen.append(cpu.current_stream()))
        thread.start()
        thread.join()
        one.wait_stream(two)
        one.wait_event(cpu.Event())
    assert cpu.current_stream() is first and seen == [first]


def test_capabilities_are_read_once_and_say_what_torch_says():
    given = torch.cpu.get_capabilities()
    assert given is torch.cpu.get_capabilities() and given["num_logical_cores"] == os.cpu_count()
    with pytest.raises(TypeError):
        given["avx2"] = True
    real = _torch().cpu.get_capabilities()
    both = set(given) & set(real)
    assert {"architecture", "num_logical_cores"} <= both
    assert sys.platform != "linux" or len(both) > 20
    assert [k for k in both - {"cpu_name"} if given[k] != real[k]] == []
    assert set(real) - set(given) <= {"avx10_1", "avx10_2", "sme_max_length", "sve_max_length"}


# --- torch.backends.cuda --------------------------------------------------------------------------

_SWITCHES = ("cudnn", "flash", "mem_efficient", "math")


def _allowed(torch):
    return [getattr(torch.backends.cuda, f"{name}_sdp_enabled")() for name in _SWITCHES]


def _ways_of_attention(torch):
    """What is allowed after each of the ways to say so."""
    backends, seen = torch.backends.cuda, [_allowed(torch)]
    q = torch.ones(1, 2, 3, 4)
    with pytest.warns(FutureWarning, match="sdpa_kernel"):
        block = backends.sdp_kernel(enable_math=False, enable_cudnn=False)
    with block as given:
        seen += [given, _allowed(torch)]
        seen.append(torch.nn.functional.scaled_dot_product_attention(q, q, q).tolist())
    way = torch.nn.attention.SDPBackend
    with torch.nn.attention.sdpa_kernel([way.MATH, way.CUDNN_ATTENTION]):
        seen.append(_allowed(torch))
        with pytest.raises(KeyError), torch.nn.attention.sdpa_kernel(way.FLASH_ATTENTION):
            seen.append(_allowed(torch))
            raise KeyError
        seen.append(_allowed(torch))
    for name in _SWITCHES:
        getattr(backends, f"enable_{name}_sdp")(False)
        seen.append(_allowed(torch))
        getattr(backends, f"enable_{name}_sdp")(True)
        with pytest.raises(RuntimeError, match="expects a bool, but got int"):
            getattr(backends, f"enable_{name}_sdp")(1)
    for wrong in ((way.MATH,), "math", None):
        with pytest.raises(AssertionError, match="Backend must be"):
            torch.nn.attention.sdpa_kernel(wrong).__enter__()
    return seen + [_allowed(torch)]


def test_switches_of_attention_are_kept():
    seen = _ways_of_attention(torch)
    assert seen[0] == seen[-1] == [True] * 4 and seen[2] == [False, True, True, False]
    assert seen == _ways_of_attention(_torch())


def test_no_kernel_of_torch_can_be_used():
    backends, q = torch.backends.cuda, torch.ones(1, 2, 3, 4)
    params = backends.SDPAParams(q, q, q, None, 0.5, False, True)
    assert params.query is q and params.dropout == 0.5 and params.enable_gqa
    for kind in ("flash", "efficient", "cudnn"):
        can_use = getattr(backends, f"can_use_{kind}_attention")
        assert can_use(params) is False
        with pytest.warns(UserWarning, match="attention is not here"):
            assert can_use(params, debug=True) is False
    assert not backends.is_flash_attention_available() and not backends.is_ck_sdpa_available()
    before = backends.fp16_bf16_reduction_math_sdp_allowed()
    backends.allow_fp16_bf16_reduction_math_sdp(True)
    assert not before and backends.fp16_bf16_reduction_math_sdp_allowed()
    backends.allow_fp16_bf16_reduction_math_sdp(before)


def _libraries(torch):
    backends, seen = torch.backends.cuda, []
    for name, words in (
        ("linalg", "cusolver magma default"),
        ("blas", "cublaslt cublas hipblaslt default"),
        ("rocm_fa", "default"),
    ):
        prefer = getattr(backends, f"preferred_{name}_library")
        for word in words.split():
            chosen = prefer(word)
            assert prefer() == chosen and prefer(chosen) == chosen
            seen.append((chosen.name, str(chosen)))
        with pytest.raises(RuntimeError) as unknown:
            prefer("nope")
        seen.append(str(unknown.value))
    with pytest.raises(RuntimeError, match="Unknown input value type"):
        backends.preferred_linalg_library(3)
    return seen


def test_preferred_libraries_are_kept():
    assert _libraries(torch)[0][0] == "Cusolver"
    assert _libraries(torch) == _libraries(_torch())


def test_there_are_no_plans_of_cufft_where_there_is_no_device():
    if torch.cuda.is_available():
        pytest.skip("there are devices")
    plans = torch.backends.cuda.cufft_plan_cache
    with pytest.raises(RuntimeError, match="expected 0 <= device index < 0, but got device"):
        plans[0]  # noqa: B018
    for use in (lambda: plans.size, lambda: plans.clear(), lambda: setattr(plans, "max_size", 1)):
        with pytest.raises(RuntimeError, match="there is no device 'cuda' here"):
            use()
    matmul = torch.backends.cuda.matmul
    assert matmul.allow_tf32 is matmul.allow_fp16_reduced_precision_reduction is False


# --- torch.cuda -----------------------------------------------------------------------------------

_NO_DEVICE = "there is no device 'cuda' here"


@pytest.fixture
def none():
    """Only where there is no device."""
    if torch.cuda.is_available():
        pytest.skip("there are devices")


def _asked(torch):
    """What torch answers without a device; a RuntimeError as its class, for its words differ."""
    seen = []
    for name, arguments in (
        ("max_memory_reserved", ()), ("max_memory_cached", ()), ("memory_cached", ()),
        ("reset_max_memory_allocated", ()), ("reset_max_memory_cached", ()),
        ("reset_accumulated_memory_stats", ()), ("reset_peak_memory_stats", ()),
        ("memory_snapshot", ()), ("memory_usage", ()), ("utilization", ()), ("temperature", ()),
        ("power_draw", ()), ("clock_rate", ()), ("device_memory_used", ()),
        ("list_gpu_processes", ()), ("can_device_access_peer", (0, 1)), ("ipc_collect", ()),
        ("set_per_process_memory_fraction", (0.5,)), ("get_per_process_memory_fraction", ()),
        ("get_sync_debug_mode", ()), ("set_sync_debug_mode", ("warn",)), ("FloatTensor", (2,)),
        ("FloatStorage", (2,)), ("host_memory_stats_as_nested_dict", ()),
        ("reset_accumulated_host_memory_stats", ()), ("reset_peak_host_memory_stats", ()),
        ("get_allocator_backend", ()),
    ):  # fmt: skip
        try:
            seen.append((name, getattr(torch.cuda, name)(*arguments)))
        except RuntimeError:
            seen.append((name, RuntimeError))
        except ModuleNotFoundError as e:
            seen.append((name, str(e)))
    nvtx = torch.cuda.nvtx
    seen += [nvtx.range_push("a"), nvtx.range_pop(), nvtx.mark("a"), nvtx.range_start("a")]
    seen += [nvtx.range_end(0), tuple(torch.cuda.default_generators), torch.cuda.has_half]
    return seen


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_questions_without_a_device_have_the_answers_of_torch(none):
    real = _torch()
    if real.cuda.is_available():
        pytest.skip("torch has a device")
    assert _asked(torch) == _asked(real)


def test_what_needs_a_device_says_why_there_is_none(none):
    cuda = torch.cuda
    for use in (
        lambda: cuda.FloatTensor(2), lambda: cuda.HalfStorage(2), lambda: cuda.ipc_collect(),
        lambda: cuda.sparse.FloatTensor(2, 2), lambda: cuda.profiler.start(),
        lambda: torch.zeros(2).type("torch.cuda.DoubleTensor"),
        lambda: torch.set_default_tensor_type("torch.cuda.DoubleTensor"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=_NO_DEVICE):
            use()
    assert torch.get_default_dtype() is torch.float32 and torch.ones(1).is_cpu
    assert issubclass(cuda.CudaError, RuntimeError)
    with cuda.nvtx.range("step {}", 3):
        pass
    with pytest.warns(FutureWarning, match="renamed to `torch.cuda.max_memory_reserved`"):
        assert cuda.max_memory_cached() == 0


def _types(torch):
    """Facts of the types of tensors and storages."""
    seen = []
    for space in (torch, torch.cuda, torch.cuda.sparse):
        for word in "BFloat16 Byte Char Double Float Half Int Long Short".split():
            one = getattr(space, word + "Tensor")
            seen.append((one.__name__, one.__module__, str(one.dtype), one.is_cuda))
            seen.append((str(one.layout), isinstance(torch.ones(2, dtype=one.dtype), one)))
    for word in "Bool ComplexDouble ComplexFloat Float Half".split():
        one = getattr(torch.cuda, word + "Storage")
        seen.append((one.__name__, one.__module__, str(one.dtype)))
        plain = getattr(torch, word + "Storage")
        seen.append((isinstance(plain(2), one), isinstance(plain(2), plain)))
    seen += [hasattr(torch.cuda, "ComplexFloatTensor"), hasattr(torch.cuda.sparse, "BoolTensor")]
    seen.append(torch.ones(1, 1).to_sparse().double().type())
    return seen


@pytest.mark.filterwarnings("ignore:TypedStorage")
def test_types_of_devices_are_torchs():
    assert _types(torch)[0] == ("BFloat16Tensor", "torch", "torch.bfloat16", False)
    assert _types(torch) == _types(_torch())


class _Nvml:
    """A stand-in of pynvml: two devices."""

    class NVMLError_DriverNotLoaded(Exception):
        pass

    def __init__(self, broken=False):
        self.broken = broken

    def nvmlInit(self):
        if self.broken:
            raise self.NVMLError_DriverNotLoaded

    def nvmlDeviceGetHandleByIndex(self, number):
        return number

    def nvmlDeviceGetHandleByUUID(self, name):
        return {"GPU-b": 1}[name]

    def nvmlDeviceGetIndex(self, handle):
        return handle

    def nvmlDeviceGetUtilizationRates(self, handle):
        return type("Rates", (), {"memory": 10 + handle, "gpu": 20 + handle})

    def nvmlDeviceGetTemperature(self, handle, sensor):
        return 30 + handle + sensor

    def nvmlDeviceGetPowerUsage(self, handle):
        return 40 + handle

    def nvmlDeviceGetClockInfo(self, handle, kind):
        return 50 + 2 * handle + kind

    def nvmlDeviceGetMemoryInfo(self, handle):
        return type("Info", (), {"used": 60 + handle})

    def nvmlDeviceGetComputeRunningProcesses(self, handle):
        return [type("One", (), {"pid": 7, "usedGpuMemory": 3 << 20})] * handle


def _measured(torch, device):
    names = "memory_usage utilization temperature power_draw clock_rate device_memory_used".split()
    cuda = torch.cuda
    return [getattr(cuda, n)(device) for n in names] + [cuda.list_gpu_processes(device)]


def test_figures_of_nvidias_management_library(monkeypatch, none):
    monkeypatch.setitem(sys.modules, "pynvml", _Nvml())
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert _measured(torch, 0)[:6] == [10, 20, 30, 40, 51, 60] == _measured(torch, None)[:6]
    assert _measured(torch, 0)[6] == "GPU:0\nno processes are running"
    assert _measured(torch, 1)[:6] == [11, 21, 31, 41, 53, 61]
    assert "process          7 uses        3.000 MB GPU memory" in _measured(torch, 1)[6]
    for seen in ("1,0", "GPU-b"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", seen)
        assert _measured(torch, 0)[3] == 41 and _measured(torch, 0)[6][:5] == "GPU:1"
    monkeypatch.setitem(sys.modules, "pynvml", _Nvml(broken=True))
    with pytest.raises(RuntimeError, match="driver can't be loaded"):
        torch.cuda.temperature(0)
    assert "driver can't be loaded" in torch.cuda.list_gpu_processes()


def test_accelerator_without_a_device(none):
    a = torch.accelerator
    assert a.max_memory_reserved() == a.max_memory_allocated() == 0
    assert a.reset_peak_memory_stats() is a.reset_accumulated_memory_stats() is None
    assert a.empty_host_cache() is a.empty_cache() is None
    for use in (a.current_device_idx, a.current_stream, a.get_device_capability, a.synchronize):
        with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
            use()
    with pytest.raises(TypeError, match="expected a torch.cuda.Stream, got NoneType"):
        a.set_stream(None)
    assert set(_torch().accelerator.__all__) <= set(dir(a))
