"""Prints, as JSON, the parameters that PyTorch's own functions have: a list for each overload, by namespace and name.

A program for a Python that has PyTorch. Most functions are built in, so their parameters are read from PyTorch's stubs,
or from the first line of the docstring.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

Signatures = dict[str, list[list[str]]]


def of_stub(body: Iterable[ast.stmt]) -> Signatures:
    """The functions of a stub."""
    found: Signatures = defaultdict(list)
    for node in body:
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            found[node.name].append([argument.arg for argument in named])
    return found


def of_class(name: str, body: Iterable[ast.stmt]) -> Signatures:
    return next(of_stub(node.body) for node in body if isinstance(node, ast.ClassDef) and node.name == name)


def of_module(module: ModuleType) -> Signatures:
    """The functions of a module, as they say it themselves or as the docstring says it."""
    found: Signatures = defaultdict(list)
    for name, function in vars(module).items():
        if name.startswith("__") or not callable(function):
            continue
        for line in (inspect.getdoc(function) or "").splitlines():
            if match := re.match(rf"(?:linalg\.|special\.|fft\.)?{re.escape(name)}\((.*?)\)( ->|$)", line.strip()):
                found[name].append(re.findall(r"(?:^|, )\*{0,2}([A-Za-z_]\w*)", match[1]))
        try:
            found[name].append(list(inspect.signature(function).parameters))
        except ValueError:  # built in
            pass
    return found


def merged(*parts: Signatures) -> Signatures:
    found: Signatures = defaultdict(list)
    for part in parts:
        for name, overloads in part.items():
            found[name] += overloads
    return found


def main() -> None:
    import torch  # not where this file is only collected

    folder = Path(torch.__file__).parent
    functions = ast.parse((folder / "_C/_VariableFunctions.pyi").read_text()).body
    classes = ast.parse((folder / "_C/__init__.pyi").read_text()).body
    networks = ast.parse((folder / "_C/_nn.pyi").read_text()).body
    signatures = {
        "torch": merged(of_module(torch), of_stub(functions)),
        "Tensor": merged(of_module(torch.Tensor), of_class("TensorBase", classes)),
        "nn.functional": merged(of_module(torch.nn.functional), of_stub(networks)),
        "linalg": of_module(torch.linalg),
        "fft": of_module(torch.fft),
        "special": of_module(torch.special),
    }
    print(json.dumps(signatures))


if __name__ == "__main__":
    main()
