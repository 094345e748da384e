"""From a traced frame to the text of the function that replaces it.

def make_loss_fn(function, plain):                         made once for each function object: binds its closure
    def loss_fn(model, x, y):
        try:
            if not (type(x) is Tensor and x.sizes == (64, 10) ...):     the guards
                return MISS
            t_0 = model._parameters                                     what is needed from outside
        except READ_ERRORS:
            return MISS
        # train.py:30  loss = F.mse_loss(model(x), y)
        (out_0,) = graph(x, y, t_1)                                     the tensor work
        model.steps = t_4 + 1                                           the side effects
        return out_0
    return loss_fn
"""

from __future__ import annotations

import keyword
import re
import textwrap
from collections.abc import Sequence
from types import CodeType

from minitorch_compile.dynamo.errors import SourceLine
from minitorch_compile.dynamo.execution.binding import argument_names

# Names with a meaning in generated code. An argument of such a name is renamed, as arguments are passed by position.
USED_NAMES = frozenset((
    "type", "len", "list", "repr", "getattr", "setattr", "delattr", "slice", "set", "frozenset", "format", "str",
    "ascii", "id",
    "iter", "object", "__import__", "Exception", "function", "plain", "compiled", "graph", "error", "MISS",
    "READ_ERRORS", "G", "unneeded", "bool", "next", "BaseException",
    "reversed", "enumerate", "zip", "map", "filter", "range",
))  # fmt: skip


def parameter_names(code: CodeType) -> dict[str, str]:
    """The slots that a call fills, and the names they get in generated code.

    >>> parameter_names((lambda x, *type: x).__code__)
    {'x': 'x', 'type': 'type_'}
    """
    return {name: _safe(name) for name in argument_names(code)}


def _safe(name: str) -> str:
    clean = name if name.isidentifier() else "argument" + re.sub(r"\W", "_", name)  # `.0`; pytest's `@py_assert1`
    return clean + "_" if clean in USED_NAMES else clean


def identifier(name: str) -> str:
    """The name of the generated function.

    >>> identifier("<lambda>")
    'lambda_'
    """
    clean = re.sub(r"\W", "_", name).strip("_") or "frame"
    return f"{clean}_" if keyword.iskeyword(clean) or clean in USED_NAMES else clean


def function_text(
    name: str,
    title: str,
    parameters: Sequence[str],
    free_names: Sequence[str],
    checks: Sequence[str],
    body: Sequence[str],
    functions: Sequence[str] = (),
) -> str:
    """The whole source. `checks` may return MISS, and may call `functions`; `body` ends with a return."""
    cells = [f"cell_{variable} = function.__closure__[{i}]" for i, variable in enumerate(free_names)]
    inner = [f"def {name}({', '.join(parameters)}):"]
    if checks:
        inner += ["    try:", *_indented(checks, 8), "    except READ_ERRORS:", "        return MISS"]
    inner += _indented(body, 4)
    lines = [
        *functions,
        f"# {title}",
        f"def make_{name}(function, plain):",
        *_indented(cells, 4),
        *_indented(inner, 4),
        f"    return {name}",
    ]
    return "\n".join(lines) + "\n"


def _indented(lines: Sequence[str], by: int) -> list[str]:
    return [textwrap.indent(line, " " * by) for line in lines]


def graph_comments(lines: Sequence[tuple[str, int, str]], limit: int = 12) -> list[str]:
    """The user's lines that a graph computes, in order, each once."""
    places = list(dict.fromkeys(SourceLine(filename, number, "", text) for filename, number, text in lines))
    shown = [f"# {line.place}  {line.text.strip()}" for line in places[:limit]]
    return shown + ([f"# ... and {len(places) - limit} more lines"] if len(places) > limit else [])
