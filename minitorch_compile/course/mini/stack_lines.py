"""How many lines of code a stage has: in `mini`, in this package, and in PyTorch.

A line of code is one that is not blank, no comment and no docstring. Of PyTorch only the Python files are counted, by
`tools/count_torch_lines.py`, once: `torch_lines.json` has the figures, and the version that they are of. Of this
package and of `mini` they are counted when they are asked for.

>>> [stage.name for stage in STAGES][:2]
['tensors and ops', 'bytecode, guards, graphs']
>>> torch_lines()["lines"].keys() == {stage.name for stage in STAGES}
True
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import minitorch_compile

from .code_lines import code_lines

TORCH_LINES = Path(__file__).with_name("torch_lines.json")


@dataclass(frozen=True)
class Stage:
    """`mini`: its files. `package`, `torch`: files and folders below the root; `but` is left out of PyTorch's."""

    name: str
    mini: tuple[str, ...]
    package: tuple[str, ...]
    torch: tuple[str, ...]
    but: tuple[str, ...] = ()


AHEAD_OF_TIME = ("_functorch/_aot_autograd", "_functorch/aot_autograd.py", "_functorch/partitioners.py")
DECOMPOSITION = "_inductor/decomposition.py"
STAGES = (
    Stage(
        "tensors and ops",
        ("tensor", "ops"),
        ("tensor",),
        ("_tensor.py", "_tensor_str.py", "_ops.py", "_meta_registrations.py", "_subclasses", "functional.py"),
    ),
    Stage(
        "bytecode, guards, graphs",
        ("interpreter", "graph", "tracer", "guards", "breaks", "frames", "sizes"),
        ("dynamo", "fx"),
        ("_dynamo", "fx"),
    ),
    Stage("tape", ("tape",), ("autograd",), ("autograd",)),
    Stage("layers and optimizers", ("nn",), ("nn", "optim"), ("nn", "optim")),
    Stage("function transforms", ("transforms",), ("func",), ("_functorch", "func"), AHEAD_OF_TIME),
    Stage("ahead of time", ("aot",), ("aot",), AHEAD_OF_TIME),
    Stage("prims", ("prims",), ("prims",), ("_decomp", "_refs", "_prims", "_prims_common", DECOMPOSITION)),
    Stage(
        "loops, fusion, kernels",
        ("index", "loops", "fusion", "emit", "products", "program", "front"),
        ("inductor", "compiler", "symbolic"),
        ("_inductor", "compiler", "utils/_sympy"),
        (DECOMPOSITION,),
    ),
)


def stack_lines(mini: Mapping[str, str]) -> list[dict[str, Any]]:
    """A record for each stage; `mini` has the text of each file, by its name without `.py`."""
    root, torch = Path(minitorch_compile.__path__[0]), torch_lines()["lines"]
    return [
        {
            "stage": stage.name,
            "mini": sum(len(code_lines(mini[file])) for file in stage.mini),
            "package": lines_below(root, stage.package),
            "PyTorch": torch[stage.name],
        }
        for stage in STAGES
    ]


def torch_lines() -> dict[str, Any]:
    """`version` and `lines`, by the stage's name."""
    found: dict[str, Any] = json.loads(TORCH_LINES.read_text(encoding="utf-8"))
    return found


def lines_below(root: Path, paths: Iterable[str], but: Iterable[str] = ()) -> int:
    """Lines of code of all Python files at these paths, and below them. FileNotFoundError if a path is not there."""
    excluded = [root / path for path in but]
    files: set[Path] = set()
    for path in [root / each for each in paths]:
        if not path.exists():
            raise FileNotFoundError(f"no {path}")
        files |= {path} if path.is_file() else set(path.rglob("*.py"))
    kept = [file for file in files if not any(file.is_relative_to(each) for each in excluded)]
    return sum(len(code_lines(file.read_text(encoding="utf-8"))) for file in kept)
