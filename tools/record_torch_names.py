"""Writes down every public name of PyTorch, what it is, and its parameters: `TORCH_PYTHON tools/record_torch_names.py`.

Run with a Python that has PyTorch; `tools/compatibility.py` compares the package with what is written. A name is public
if its module's `__all__` has it, or, in a module without one, if it is
a function or class defined there (in a package: below it) that begins with no underscore.
Functions that are built in say no signature to `inspect`. Theirs are read from PyTorch's stubs, which may say several
(overloads); of what no stub has, from the schemas of the operators that they call. The first lines of the docstring are
"documented", since they say some that PyTorch doesn't take; of what has neither stub nor schema they are all there is.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import json
import pkgutil
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

RECORDED = Path(__file__).with_name("torch_names.json")
HIDDEN = re.compile(r"(^|\.)_")
# What can't be imported without its own library, or runs something when it is.
NOT_IMPORTED = re.compile(
    r"torch\.(utils\.(bottleneck|hipify|model_dump|tensorboard\._)|distributed\.(run|launch)|contrib)"
)
BUILT_IN = "torch._C"
Rows = dict[str, dict[str, Any]]


def modules() -> Iterator[str]:
    """The public modules of PyTorch, by name."""
    import torch  # not where this file is only collected

    yield "torch"
    for found in pkgutil.walk_packages(torch.__path__, "torch.", onerror=lambda name: None):
        if not HIDDEN.search(found.name) and not NOT_IMPORTED.match(found.name):
            yield found.name


def public_names(module: ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return [name for name in listed if hasattr(module, name)]
    here = module.__name__
    inside = (
        (here, f"{here}.", BUILT_IN) if hasattr(module, "__path__") else (here, BUILT_IN)
    )  # a package shows what its files define
    return [n for n, v in vars(module).items() if not n.startswith("_") and _home(v).startswith(inside)]


def _home(value: Any) -> str:
    """The module that defines a function or class; built-in ones say none."""
    if inspect.isbuiltin(value):
        return value.__module__ or BUILT_IN
    return str(getattr(value, "__module__", None) or "") if callable(value) else ""


def kind_of(value: Any) -> str:
    """ "class", "function", "module" or "value"."""
    if inspect.isclass(value):
        return "class"
    return "module" if inspect.ismodule(value) else "function" if callable(value) else "value"


def default_text(value: Any) -> str:
    """A default as an expression: a function, class or module by its name, `...` for what has none."""
    if callable(value) or inspect.ismodule(value):
        return str(getattr(value, "__name__", "..."))
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    text = repr(value)
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return "..."
    return text


def signature_text(signature: inspect.Signature) -> str:
    """Names, kinds and defaults, as in `(input, *, alpha=1)`."""
    bare = [
        p.replace(annotation=inspect.Parameter.empty, default=p.default if p.default is p.empty else _Text(p.default))
        for p in signature.parameters.values()
        if p.name != "self"
    ]
    return str(inspect.Signature(bare))


class _Text:
    """A default that prints as `default_text` says."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return default_text(self.value)


def signatures_of(name: str, value: Any, module: str, stubs: dict[str, list[str]]) -> dict[str, list[str]]:
    """All that PyTorch says of its parameters; none if it says nothing."""
    try:
        return {"signatures": [signature_text(inspect.signature(value))]}
    except (ValueError, TypeError):  # built in
        documented = sorted(set(from_docstring(name, value)))
        taken = sorted(set(stubs.get(name, ()) or from_schemas(module, name)))
        said = {"signatures": taken or documented, "documented": documented if taken and documented != taken else []}
        return {key: texts for key, texts in said.items() if texts}


def from_schemas(module: str, name: str) -> list[str]:
    """What the overloads of a function such as `torch.linalg.pinv` take: those of the operator `linalg_pinv`."""
    import torch

    space = module.rpartition(".")[2]
    if space not in ("linalg", "fft", "special"):
        return []
    found: dict[str, bool] = {}  # whether there is a form that stores its result in `out`
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{space}_{name}"):
        results = [a for a in schema.arguments if a.kwarg_only and a.alias_info is not None]
        text = [a for a in schema.arguments if a not in results]
        found[parameters_text(text)] = found.get(parameters_text(text), False) or bool(results)
    ends = {True: lambda text: f"{text}, {'' if '*' in text else '*, '}out=None", False: lambda text: text}
    return [f"({ends[out](text)})" for text, out in found.items()]


def parameters_text(arguments: Iterable[Any]) -> str:
    """As in `input, *, dtype=None`. A factory takes `requires_grad` besides; `self` is a function's `input`."""
    said, star = [], False
    for argument in arguments:
        if argument.kwarg_only and not star:
            said, star = [*said, "*"], True
        named = "input" if argument.name == "self" else argument.name
        default = False if named == "pin_memory" else argument.default_value
        said.append(f"{named}={default!r}" if argument.has_default_value() else named)
        if named == "pin_memory":
            said.append("requires_grad=False")
    return ", ".join(said)


def from_docstring(name: str, value: Any) -> Iterator[str]:
    """Lines such as `add(input, other, *, alpha=1, out=None) -> Tensor`."""
    for line in (inspect.getdoc(value) or "").splitlines():
        if match := re.match(rf"(?:[\w.]+\.)?{re.escape(name)}(\((?!values=).*?\))\s*(->.*)?$", line.strip()):
            text = re.sub(r"\\", "", match[1])
            try:
                yield from (text_of_arguments(ast.parse(f"def f{text}: ...").body[0].args),)  # type: ignore[attr-defined]
            except SyntaxError:
                continue


def from_stub(body: Iterable[ast.stmt]) -> dict[str, list[str]]:
    """The overloads of each function in a stub."""
    found: dict[str, list[str]] = defaultdict(list)
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found[node.name].append(text_of_arguments(node.args))
    return found


def text_of_arguments(arguments: ast.arguments) -> str:
    """As `signature_text`, of parsed arguments."""
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        argument.annotation = None
    for several in (arguments.vararg, arguments.kwarg):
        if several is not None:
            several.annotation = None
    for among in (arguments.posonlyargs, arguments.args):
        among[:] = [a for i, a in enumerate(among) if a.arg != "self" and (a.arg != "cls" or i)]
    return f"({ast.unparse(arguments)})"


def all_rows() -> Rows:
    """Kind and signatures by full name."""
    import torch

    folder = Path(torch.__file__).parent
    stubs = {
        "torch": from_stub(ast.parse((folder / "_C/_VariableFunctions.pyi").read_text(encoding="utf-8")).body),
        "torch.nn.functional": from_stub(ast.parse((folder / "_C/_nn.pyi").read_text(encoding="utf-8")).body),
    }
    rows: Rows = {}
    for name in modules():
        try:
            module = importlib.import_module(name)
        except (ImportError, AttributeError, RuntimeError) as error:  # wants a library that is not here: said, left out
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        for each in public_names(module):
            rows[f"{name}.{each}"] = row(each, getattr(module, each), name, stubs.get(name, {}))
    classes = ast.parse((folder / "_C/__init__.pyi").read_text(encoding="utf-8")).body
    tensor = next(from_stub(c.body) for c in classes if isinstance(c, ast.ClassDef) and c.name == "TensorBase")
    for name, overloads in tensor.items():  # the stub has an `out` in a few, which none takes
        tensor[name] = [re.sub(r"(, \*)?, out=None\)", ")", text) for text in overloads]
    for each in dir(torch.Tensor):
        if not each.startswith("_"):
            rows[f"torch.Tensor.{each}"] = row(each, getattr(torch.Tensor, each), "torch.Tensor", tensor)
    return rows


def row(name: str, value: Any, module: str, stubs: dict[str, list[str]]) -> dict[str, Any]:
    kind = kind_of(value)
    said = signatures_of(name, value, module, stubs) if kind in ("function", "class") else {}
    return {"kind": kind, **said}


def main() -> None:
    import torch

    warnings.simplefilter("ignore")
    rows = all_rows()
    lines = [f"  {json.dumps(name)}: {json.dumps(rows[name])}" for name in sorted(rows)]
    lines.insert(0, f'  "version": "{torch.__version__.partition("+")[0]}"')
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(rows)} names in {RECORDED.name}")


if __name__ == "__main__":
    main()
