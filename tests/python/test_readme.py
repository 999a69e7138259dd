"""What the texts show is so: the code of README.md, the examples in docs/from-torch.md, paths."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def printed(code, names):
    """What code prints; an expression's value and an exception are printed as a prompt does."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(code, "<example>", "single" if "\n" not in code else "exec"), names)
        except Exception as e:
            print(f"{type(e).__name__}: {e}")
    return out.getvalue()


def test_the_readmes_program_prints_what_stands_below_it():
    code, said = re.search(r"```python\n(.*?)```\n\n    (.*?\n)\n", README, re.DOTALL).groups()
    assert printed(code, {}) == said


def test_sessions_of_from_torch_print_what_they_show():
    text = (ROOT / "docs/from-torch.md").read_text()
    names = {}
    assert printed("import tensorh as torch", names) == ""
    found = re.findall(r"^>>> (.*)\n((?:(?!>>>|```).*\n)+)", text, re.MULTILINE)
    assert len(found) >= 2
    for code, said in found:
        pattern = ".*".join(re.escape(part) for part in said.split("..."))
        assert re.fullmatch(pattern, printed(code, names)), code


NAMED = set(re.findall(r"`((?:docs|examples)/[\w./-]+)`", README))


@pytest.mark.parametrize("name", sorted(NAMED - {"docs/promises.md"}))  # `make test-all` writes it
def test_what_the_readme_names_is_there(name):
    assert (ROOT / name).exists()
