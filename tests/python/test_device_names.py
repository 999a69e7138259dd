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
