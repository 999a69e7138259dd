"""What torch says of its parameters: writes tests/oracle/signatures.txt, a line for each parameter of a row of the
table (src/gen/table.json) that torch's function, class or schema of that name has, too:

    operator|module|optimizer NAME PARAMETER POSITION keyword|positional DEFAULT

DEFAULT is as Python writes it, `required` where there is none. A row that torch does not have, or of which it
tells no parameter, has the line `KIND NAME - 0 none -`. Run with an interpreter that has torch:
    python tests/oracle/signatures.py
"""

import inspect
import json
import os

import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
REQUIRED = inspect.Parameter.empty


def of_schema(schema):
    for a in schema.arguments:
        yield a.name, a.kwarg_only, (a.default_value if a.has_default_value() else REQUIRED)


def of_callable(f):
    for p in inspect.signature(f).parameters.values():
        if p.name != "self":
            yield p.name, p.kind is p.KEYWORD_ONLY, p.default


def operator(row):
    """Python functions say more than the schemas that they call; built-in ones have only these."""
    name, _, overload = row["torch"].partition(".")
    for module in (F, torch):
        f = getattr(module, name, None)
        if not overload and inspect.isfunction(f) and "args" not in inspect.signature(f).parameters:
            return of_callable(f)
    for schema in torch._C._jit_get_schemas_for_operator("aten::" + name):
        if schema.overload_name == overload or (not overload and schema.overload_name in ("Tensor", "dim_IntList", "memory_format")):
            return of_schema(schema)
    return None


def written(value):
    if value is REQUIRED:
        return "required"
    if isinstance(value, (tuple, list)):
        return "[" + ",".join(written(v) for v in value) + "]"
    if callable(value):  # an address would be another in each run
        return f"<{value.__name__}>"
    return repr(value).replace(" ", "")


def main():
    with open(os.path.join(HERE, "../../src/gen/table.json"), encoding="utf-8") as f:
        table = json.load(f)
    lines = []
    for row in table["operators"] + table["modules"]:
        if "class" not in row:
            kind, name, theirs = "operator", row["name"], operator(row)
        else:
            kind, name = ("optimizer" if row["optimizer"] else "module"), row["name"]
            cls = getattr(torch.optim if row["optimizer"] else torch.nn, row["class"], None)
            theirs = of_callable(cls) if cls else None
        ours = {p["name"] for p in row["params"]}
        before = len(lines)
        for position, (parameter, keyword, default) in enumerate(theirs or []):
            if parameter == "input" and "input" not in ours:
                parameter = "self"
            if parameter in ours:
                lines.append(f"{kind} {name} {parameter} {position} {'keyword' if keyword else 'positional'} {written(default)}")
        if len(lines) == before:
            lines.append(f"{kind} {name} - 0 none -")
    with open(os.path.join(HERE, "signatures.txt"), "w", encoding="utf-8") as f:
        f.write(f"# torch {torch.__version__}, by tests/oracle/signatures.py\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
