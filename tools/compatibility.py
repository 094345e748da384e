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
from minitorch_compile.as_torch.import_hook import OTHER_PLACES  # noqa: E402

PAGE = ROOT / "docs" / "compatibility.md"

# Why a namespace, or what is left of it, is not here. The first that fits counts.
REASONS = (
    (r"torch\.(ao|quantization|nn\.(quantized|quantizable|qat|intrinsic)|jit\.quantized)\b", "quantised models"),
    (r"torch\.distributed\b|torch\.nn\.parallel\b", "several processes or machines"),
    (r"torch\.(cuda|backends\.(cuda|cudnn|cusparselt))\b", "tensors that live on a GPU"),
    (r"torch\.(xpu|mps|mtia|backends\.(xpu|mps|xeon|opt_einsum|nnpack|kleidiai|quantized))\b", "other hardware"),
    (r"torch\.export\.(custom_obj|decomp_utils|passes|pt2_archive|unflatten)\b", "files for other runtimes"),
    (r"torch\.(onnx|nativert|package|utils\.mobile_optimizer)\b", "files for other runtimes"),
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


# Why the parameters of what is here are others. The first that fits counts; what none fits is to be mended.
DIFFERENT = (
    (r"torch\.(dtype|layout|memory_format)$", "made by the library, never by a program; there it can't be called"),
    (r"torch\.autograd\.(function\.FunctionCtx|graph\.Node)$", "made by the engine, and here it says of what"),
    (r"torch\.autograd\.profiler(_util)?\.FunctionEvent$", "made by the profiler, of what it records here"),
    (r"torch\.fx\.graph\.PythonCode$", "made by the code generator; nodes by line, not their numbers"),
    (r"torch\.(storage\.)?TypedStorage$", "a look at a storage: made of one, not of sizes"),
    (
        r"torch\.(hub\.(help|list)|func\.jacfwd|(profiler|autograd)\.(profiler(_legacy)?\.)?profile)$",
        "takes what PyTorch's does, and more",
    ),
    (r"torch\.fx\.passes\.pass_manager\.PassManager$", "takes what PyTorch's two classes of that name do"),
    (r"torch\.fx\.experimental\.proxy_tensor\.make_fx$", "without what PyTorch's own tests switch"),
    (r"torch\.jit\.frontend\.UnsupportedNodeError$", "made by the compiler of scripts, of the line and the reason"),
    (r"torch\.Sym(Int|Float)$", "made by the tracer, of an expression and what is known or assumed of it"),
    (r"torch\.Stream$", "takes what PyTorch's does, and no device as well"),
    (r"torch\.wait$", "its argument has a name, as in torch.jit"),
    (r"torch\.repeat_interleave$", "an overload calls `repeats` what the other calls `input`"),
    (r"torch\.Tensor\.to$", "the stub has `other` by name, which isn't taken"),
    (r"torch\.rrelu_?$", "nn.functional's form: no generator"),
)


# ------------------------------------------------------------------------------------------ comparing


def found(name: str) -> tuple[bool, Any]:
    """Whether the package has what PyTorch calls so, and the object: as a program finds it that imports `torch`."""
    space, _, rest = name.rpartition(".")
    if space in OTHER_PLACES:
        return _found_in(importlib.import_module(OTHER_PLACES[space]), [rest])
    beside_a_function = sys.modules.get(torch.__name__ + space.removeprefix("torch"))  # which has the module's name
    if beside_a_function is not None and hasattr(beside_a_function, rest):
        return True, getattr(beside_a_function, rest)
    return _found_in(torch, name.split(".")[1:])


def _found_in(value: Any, path: list[str]) -> tuple[bool, Any]:
    for part in path:
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


ONE_BY_ONE = {"size", "shape", "dims", "dim", "indices"}  # what may be given as one tuple, too
OTHER_SPELLINGS = {"torch.long": "torch.int64", "torch.float": "torch.float32"}


@dataclass(frozen=True)
class Parameters:
    """What a signature's text says: by position, by keyword only, with defaults as text, "" for none."""

    positional: dict[str, str]
    keywords: dict[str, str]
    several: str
    several_keywords: str

    @classmethod
    def of(cls, text: str) -> Parameters:
        arguments = ast.parse(f"def f{text}: ...").body[0].args  # type: ignore[attr-defined]
        named = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        defaults = [""] * (len(named) - len(arguments.defaults)) + [_value(d) for d in arguments.defaults]
        only = {a.arg: _value(d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)}
        several, several_keywords = (a.arg if a else "" for a in (arguments.vararg, arguments.kwarg))
        return cls(dict(zip(named, defaults, strict=True)), only, several, several_keywords)

    @property
    def defaults(self) -> dict[str, str]:
        return {**self.positional, **self.keywords}

    def says(self, other: Parameters) -> bool:
        """Whether names, kinds and defaults are those of `other`. A default that has no text there is any."""
        kinds = ("positional", "several", "several_keywords")
        return all(list(getattr(self, k)) == list(getattr(other, k)) for k in kinds) and (
            self.keywords.keys() == other.keywords.keys()
            and all(
                bool(own) if (said := other.defaults[n]) == "Ellipsis" else own == said
                for n, own in self.defaults.items()
            )
        )

    def takes(self, other: Parameters) -> bool:
        """Whether every call that `other` describes is one here: its arguments by position, by name, or some so and
        the others so; those with defaults given or not. Where a position has another name here, another overload has
        that."""
        if not (other.several in ("", self.several) and other.several_keywords in ("", self.several_keywords)):
            return False
        if self.several:  # what is given by position is among them; sizes may be given one by one, or as one tuple
            by_name = other.keywords.keys() | (other.positional.keys() - ONE_BY_ONE)
            return not self.positional and by_name <= self.keywords.keys()
        mine, theirs = list(self.positional), list(other.positional)
        needed = [name for name, default in self.defaults.items() if not default]
        fits = len(theirs) <= len(mine) and other.defaults.keys() <= self.defaults.keys()
        return (
            fits
            and all(name in other.defaults and not other.defaults[name] for name in needed)
            # in their order, and not at a position that the ones before it fill
            and (places := [mine.index(name) for name in theirs if name in mine]) == sorted(places)
            and all(mine.index(name) >= at for at, name in enumerate(theirs) if name in mine)
        )


def _value(default: ast.expr | None) -> str:
    """A default as text; numbers as numbers are written."""
    if default is None:
        return ""
    try:
        value = ast.literal_eval(default)
    except ValueError:
        text = ast.unparse(default)
        return OTHER_SPELLINGS.get(text, text)
    return repr(float(value)) if type(value) is int else repr(value)


def is_same(ours: str, theirs: list[str], documented: list[str]) -> bool:
    """Whether a signature is PyTorch's, is one that it documents, or takes what all overloads take and nothing else."""
    mine = Parameters.of(ours)
    overloads = [Parameters.of(text) for text in theirs]
    if any(mine.says(overload) for overload in [*overloads, *map(Parameters.of, documented)]):
        return True
    said: dict[str, set[str]] = defaultdict(set)
    for overload in [*overloads, *map(Parameters.of, documented)]:
        for name, default in overload.defaults.items():
            said[name].add(default)
    return (
        len(overloads) + len(documented) > 1
        and mine.defaults.keys() <= said.keys()
        and all(_fits(name, default, said[name], overloads) for name, default in mine.defaults.items())
        and all(mine.takes(overload) for overload in overloads)
    )


def _fits(name: str, default: str, said: set[str], overloads: list[Parameters]) -> bool:
    """Whether a default is one that PyTorch says; or None, for what only some overloads have, or need; or any, for what
    some overloads need and others haven't: then it says what those others do."""
    only_some = len(overloads) > 1 and not all(overload.defaults.get(name) for overload in overloads)
    told_apart = only_some and said == {""} and any(name not in overload.defaults for overload in overloads)
    return default in said or told_apart or (default == "None" and only_some)


def compared(name: str, recorded: dict[str, Any]) -> Row:
    """The row of a name."""
    here, value = found(name)
    if not here:
        return Row(name, "absent", next(why for pattern, why in REASONS if re.match(pattern, name)))
    theirs, documented = recorded.get("signatures", []), recorded.get("documented", [])
    if not theirs or not callable(value) or theirs == ["(*args, **kwargs)"]:
        return Row(name, "same")
    try:
        ours = signature_text(inspect.signature(value))
    except (ValueError, TypeError):  # says nothing of its parameters
        return Row(name, "same")
    if is_same(ours, theirs, documented):
        return Row(name, "same")
    why = next((f" ({why})" for pattern, why in DIFFERENT if re.match(pattern, name)), "")
    return Row(name, "differs", f"`{ours}`, there `{theirs[-1]}`{why}")


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
