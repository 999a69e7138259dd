"""For array_api.sh: which tests of the suite are expected to fail, and what became of all of them.

array_api_xfails.txt has a reason in lines that begin with #, then the tests it is the reason of,
a line each, * for anything. Such a test must fail: one that passes is a failure. Examples are the
same in every run, and are not made smaller when a test fails, which takes most of the time.
"""

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import providers

LIST = Path(__file__).with_name("array_api_xfails.txt")


def listed():
    """[(pattern, line, reason)] of the list."""
    found, reason, after_test = [], [], True
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            reason = ([] if after_test else reason) + [line.lstrip("# ")]
        elif line.strip():
            pattern = ".*".join(re.escape(part) for part in line.strip().split("*"))
            found.append((re.compile(pattern), line.strip(), " ".join(reason)))
        after_test = not line.startswith("#")
    return found


def pytest_sessionstart(session):
    # Else numbers in the source of every module that is loaded would be examples, too.
    providers._get_local_constants = lambda: providers._local_constants
    settings.register_profile(
        "array-api",
        settings.get_profile("array-api-tests"),
        phases=[Phase.explicit, Phase.generate],
        database=None,
    )
    settings.load_profile("array-api")


def pytest_runtest_call(item):
    random.seed(0)  # what .example() of hypothesis chooses by


def pytest_collection_modifyitems(config, items):
    unused = dict.fromkeys(line for _, line, _ in listed())
    for item in items:
        name = item.nodeid.split("array_api_tests/")[-1]
        for pattern, line, reason in listed():
            if pattern.fullmatch(name):
                unused.pop(line, None)
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
                break
    if not any("::" in arg or arg.endswith(".py") for arg in config.args):  # the whole suite
        config.stash[UNUSED] = list(unused)


UNUSED, SUM = pytest.StashKey(), pytest.StashKey()


def pytest_terminal_summary(terminalreporter, config):
    stats = terminalreporter.stats
    unused = config.stash.get(UNUSED, [])
    why = Counter(report.wasxfail.removeprefix("reason: ") for report in stats.get("xfailed", []))
    why.update(
        report.longrepr[2].removeprefix("Skipped: ") for report in stats.get("skipped", [])
    )
    failed = sum(len(stats.get(key, [])) for key in ("failed", "error")) + len(unused)
    lines = [f"{n:5}  {reason}" for reason, n in why.most_common()]
    lines += [f"FAILED {LIST.name}: no test is called {line}" for line in unused]
    lines += [f"{len(stats.get('passed', []))} passed, {failed} failed, {why.total()} skipped"]
    config.stash[SUM] = "\n".join(["Left out, and why:", *lines])


def pytest_sessionfinish(session):
    if session.config.stash.get(UNUSED, []):
        session.exitstatus = 1


def pytest_unconfigure(config):
    print(config.stash.get(SUM, ""))
