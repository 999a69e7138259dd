"""swap_in_optimizer_params_and_state: other parameters and state for a while."""

import contextlib
from collections import defaultdict

_NAME = "swap_in_optimizer_params_and_state"


def _refuse(text):
    raise RuntimeError(f"{_NAME} {text}")


def _checked(optimizer, given):
    """(state, groups) of a state_dict that fits the optimizer."""
    if not optimizer.state:
        _refuse("requires initialized optimizer state.")
    if not isinstance(given, dict):
        _refuse("requires a DCP-style optimizer state_dict.")
    state, groups = given.get("state"), given.get("param_groups")
    if not isinstance(state, dict):
        _refuse(
            "requires swapin_optim_state['state'] to be a dict mapping packed parameter ids to "
            f"per-param state dicts, got {type(state).__name__}."
        )
    if not all(isinstance(k, int) for k in state):
        _refuse("requires optimizer.state_dict()-style state keyed by packed parameter ids.")
    if not all(isinstance(v, dict) for v in state.values()):
        _refuse("requires per-parameter optimizer state entries to be dictionaries.")
    if not isinstance(groups, list):
        _refuse(
            "requires swapin_optim_state['param_groups'] to be a list of param-group dicts, got "
            f"{type(groups).__name__}."
        )
    if len(groups) != len(optimizer.param_groups):
        raise RuntimeError(
            "swapin_optim_state has a different number of parameter groups than the live optimizer."
        )
    for i, (group, live) in enumerate(zip(groups, optimizer.param_groups, strict=True)):
        _check_group(i, group, live)
    return state, groups


def _check_group(i, group, live):
    if not isinstance(group, dict):
        _refuse("requires each optimizer param group to be a dictionary.")
    numbers = group.get("params")
    if not isinstance(numbers, list) or not all(isinstance(n, int) for n in numbers):
        _refuse(
            "requires optimizer.state_dict()-style param_groups[*]['params'] entries keyed by "
            "packed parameter ids."
        )
    if len(numbers) != len(live["params"]):
        raise RuntimeError(
            f"swapin_optim_state param group {i} has a different number of params than the live "
            "optimizer param group."
        )
    if group.keys() != live.keys():
        more, less = sorted(group.keys() - live.keys()), sorted(live.keys() - group.keys())
        _refuse(
            "requires optimizer.state_dict()-style param group keys to exactly match the live "
            f"optimizer group keys for group {i}. Keys only in swap-in: {more}. Keys only in "
            f"live: {less}."
        )


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(optimizer, swapin_parameters, swapin_optim_state):
    """Within it the optimizer has the parameters {name: tensor}, in the order of its groups, and
    the options and state of a state_dict; then its own again."""
    given, groups = _checked(optimizer, swapin_optim_state)
    tensors, at, state, known = list(swapin_parameters.values()), 0, defaultdict(dict), set()
    taken = []
    for group in groups:
        n = len(group["params"])
        if at + n > len(tensors):
            _refuse(
                "requires the explicit parameter state to match optimizer.param_groups ordering."
            )
        taken.append(tensors[at : at + n])
        for p, number in zip(taken[-1], group["params"], strict=True):
            state[p] = dict(given.get(number, {}))
            known.add(number)
        at += n
    extra = [k for k in given if k not in known]
    if extra:
        _refuse(
            "requires swapin_optim_state['state'] to be keyed only by packed parameter ids from "
            f"param_groups[*]['params']; got extra keys {extra!r}."
        )
    live, own = optimizer.param_groups, optimizer.state
    before = [dict(group) for group in live]
    try:
        for group, new, params in zip(live, groups, taken, strict=True):
            group.update(new, params=params)
        optimizer.state = state
        yield
    finally:
        for group, kept in zip(live, before, strict=True):
            group.clear()
            group.update(kept)
        optimizer.state = own
