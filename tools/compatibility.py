"""Writes docs/compatibility.md: every public name of PyTorch, and whether it is here.

    python tools/compatibility.py            write the page
    python tools/compatibility.py --check    fail if it is out of date

PyTorch's names, and what it says of their parameters, are in `torch_names.json` (tools/record_torch_names.py). A name
is *the same* if it is here with PyTorch's parameters: names, kinds and defaults; where PyTorch has several overloads,
if one signature takes what each of them takes. It *differs* if it is here with others, and the page says how. It is
*absent* otherwise, with the reason of its namespace.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import inspect
import json
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from record_torch_names import RECORDED, signature_text  # noqa: E402

import minitorch_compile as torch  # noqa: E402

PAGE = ROOT / "docs" / "compatibility.md"

# Why a namespace, or what is left of it, is not here. The first that fits counts.
REASONS = (
    (r"torch\.(ao|quantization|nn\.(quantized|quantizable|qat|intrinsic)|jit\.quantized)\b", "quantised models"),
    (r"torch\.distributed\b|torch\.nn\.parallel\b", "several processes or machines"),
    (r"torch\.(cuda|backends\.(cuda|cudnn|cusparselt))\b", "tensors that live on a GPU"),
    (r"torch\.(xpu|mps|mtia|backends\.(xpu|mps|xeon|opt_einsum|nnpack|kleidiai|quantized))\b", "other hardware"),
    (r"torch\.(onnx|export|nativert|package|utils\.mobile_optimizer)\b", "files for other runtimes"),
    (r"torch\.(monitor|utils\.(cpp_extension|hipify|jit|collect_env|bundled_inputs|mkldnn))\b", "PyTorch's build"),
    (r"torch\.fx\.experimental\b", "experiments of PyTorch's own"),
    (r"torch\.utils\.data\.datapipes\b", "deprecated there"),
    (r"torch\.jit\b", "TorchScript's own compiler"),
    (r"torch\.(sparse|nested|masked)\b", "tensors that aren't strided"),
    (r"torch\.(testing|utils\.(benchmark|bottleneck|viz))\b", "tools for PyTorch's developers"),
    (r"", "not yet"),
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A name, "same", "differs" or "absent", and how or why."""

    name: str
    state: str
    note: str = ""

    @property
    def space(self) -> str:
        return self.name.rpartition(".")[0]


# ------------------------------------------------------------------------------------------ comparing


def found(name: str) -> tuple[bool, Any]:
    """Whether the package has what PyTorch calls so, and the object."""
    value: Any = torch
    for part in name.split(".")[1:]:
        if not hasattr(value, part) and not (inspect.ismodule(value) and _imports(f"{value.__name__}.{part}", value)):
            return False, None
        if not hasattr(value, part):
            return False, None
        value = getattr(value, part)
    return True, value


def _imports(path: str, parent: Any) -> bool:
    """Whether there is a submodule of that name; it is imported."""
    if not hasattr(parent, "__path__") or importlib.util.find_spec(path) is None:
        return False
    importlib.import_module(path)
    return True


ONE_BY_ONE = {"size", "shape", "dims", "dim"}  # what may be given as one tuple, too


@dataclass(frozen=True)
class Parameters:
    """What a signature's text says: by position, by keyword only, with defaults as text, "" for none."""

    positional: dict[str, str]
    keywords: dict[str, str]
    several: bool
    several_keywords: bool

    @classmethod
    def of(cls, text: str) -> Parameters:
        arguments = ast.parse(f"def f{text}: ...").body[0].args  # type: ignore[attr-defined]
        named = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        defaults = [""] * (len(named) - len(arguments.defaults)) + [_value(d) for d in arguments.defaults]
        only = {a.arg: _value(d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)}
        return cls(dict(zip(named, defaults, strict=True)), only, bool(arguments.vararg), bool(arguments.kwarg))

    def takes(self, other: Parameters) -> bool:
        """Whether every call that `other` describes is one here, defaults apart."""
        shared = list(self.positional)[: len(other.positional)]
        one_by_one = self.several and other.positional.keys() <= ONE_BY_ONE
        return (
            (shared == list(other.positional) or one_by_one)
            and other.keywords.keys() <= self.positional.keys() | self.keywords.keys()
            and other.several <= self.several
            and other.several_keywords <= self.several_keywords
        )

    @property
    def defaults(self) -> dict[str, str]:
        return {**self.positional, **self.keywords}


def _value(default: ast.expr | None) -> str:
    """A default as text; numbers as numbers are written."""
    if default is None:
        return ""
    try:
        value = ast.literal_eval(default)
    except ValueError:
        return ast.unparse(default)
    return repr(float(value)) if type(value) is int else repr(value)


def is_same(ours: str, theirs: list[str]) -> bool:
    """Whether a signature is one of PyTorch's, or takes what all of them take and nothing else."""
    mine = Parameters.of(ours)
    overloads = [Parameters.of(text) for text in theirs]
    if any(mine == overload for overload in overloads):
        return True
    said: dict[str, set[str]] = defaultdict(set)
    for overload in overloads:
        for name, default in overload.defaults.items():
            said[name].add(default)
    fitting = all(
        default in said[name] or said[name] == {""} for name, default in mine.defaults.items() if name in said
    )
    return fitting and mine.defaults.keys() <= said.keys() and all(mine.takes(overload) for overload in overloads)


def compared(name: str, recorded: dict[str, Any]) -> Row:
    """The row of a name."""
    here, value = found(name)
    if not here:
        return Row(name, "absent", next(why for pattern, why in REASONS if re.match(pattern, name)))
    theirs = recorded.get("signatures", [])
    if not theirs or not callable(value) or theirs == ["(*args, **kwargs)"]:
        return Row(name, "same")
    try:
        ours = signature_text(inspect.signature(value))
    except (ValueError, TypeError):  # says nothing of its parameters
        return Row(name, "same")
    return Row(name, "same") if is_same(ours, theirs) else Row(name, "differs", f"`{ours}`, there `{theirs[-1]}`")


# ------------------------------------------------------------------------------------------ the page


def rows() -> list[Row]:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    recorded.pop("version")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [compared(name, said) for name, said in recorded.items()]


def area(space: str) -> str:
    """The namespace that a name is counted in: two words."""
    return ".".join(space.split(".")[:2])


def page() -> str:
    found_rows = rows()
    version = json.loads(RECORDED.read_text(encoding="utf-8"))["version"]
    return (
        "\n".join([*_head(version, found_rows), *_differing(found_rows), *_absent(found_rows), *_same(found_rows)])
        + "\n"
    )


def _head(version: str, all_rows: list[Row]) -> Iterator[str]:
    total = {state: sum(row.state == state for row in all_rows) for state in ("same", "differs", "absent")}
    yield from ("# Compatibility", "", "Generated by tools/compatibility.py; a test keeps it up to date.", "")
    yield f"Of {len(all_rows):,} public names of PyTorch {version}, **{total['same']:,} are here and the same**,"
    yield f"{total['differs']:,} are here with other parameters, {total['absent']:,} are absent. A name counts in each"
    yield "module that offers it. *Same* is said of names, kinds and defaults of parameters; that results are the same,"
    yield "the tests say."
    yield from ("", "| namespace | same | differs | absent |", "| --- | ---: | ---: | ---: |")
    for space in sorted({area(row.space) for row in all_rows}):
        counts = [sum(r.state == s and area(r.space) == space for r in all_rows) for s in total]
        yield f"| `{space}` | {counts[0] or ''} | {counts[1] or ''} | {counts[2] or ''} |"
    yield ""


def _differing(all_rows: list[Row]) -> Iterator[str]:
    yield from ("## Differs", "")
    yield from (f"- `{row.name}`: {row.note}" for row in all_rows if row.state == "differs")
    yield ""


def _absent(all_rows: list[Row]) -> Iterator[str]:
    yield from ("## Absent", "")
    for why in dict.fromkeys(why for _, why in REASONS):
        missing = [row for row in all_rows if row.state == "absent" and row.note == why]
        if missing:
            yield from (f"### {why[0].upper()}{why[1:]}", "", *_by_space(missing), "")


def _same(all_rows: list[Row]) -> Iterator[str]:
    yield from ("## Same", "", *_by_space([row for row in all_rows if row.state == "same"]))


def _by_space(some: list[Row]) -> Iterator[str]:
    """A line for each namespace with its names."""
    for space in dict.fromkeys(row.space for row in some):
        yield f"- `{space}`: {', '.join(row.name.rpartition('.')[2] for row in some if row.space == space)}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes docs/compatibility.md.")
    parser.add_argument("--check", action="store_true", help="fail if it is out of date")
    if parser.parse_args().check:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
            print("docs/compatibility.md is out of date; run python tools/compatibility.py")
            return 1
        return 0
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
