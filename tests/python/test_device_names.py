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
