"""Functions that are not traced into, by the module they are defined in, and what the break says instead.

Most of Python's library can be traced like user code. These modules act on the world outside, or their insides mean
nothing to a reader of a graph break.
"""

from __future__ import annotations

from types import CodeType

from minitorch_compile.dynamo.errors import PACKAGE_FOLDER, Unsupported
from minitorch_compile.dynamo.variables.objects.class_lookup import LIBRARY

INPUT_OUTPUT = "logging warnings io os posixpath pathlib shutil tempfile pprint pdb traceback"
OUTSIDE_STATE = "random time datetime uuid secrets threading queue multiprocessing subprocess asyncio socket concurrent"
OF_NO_USE = "copy pickle inspect importlib json re ast weakref unittest pytest _pytest"
LARGE_LIBRARIES = "numpy scipy numba matplotlib pandas sklearn"

SKIPPED: dict[str, str] = {
    **dict.fromkeys(INPUT_OUTPUT.split(), "input-output"),
    **dict.fromkeys(OUTSIDE_STATE.split(), "outside-state"),
    **dict.fromkeys((OF_NO_USE + " " + LARGE_LIBRARIES).split(), "unsupported-call"),
}

# What only looks at its arguments, in a module that is skipped otherwise.
TRACED_OF_SKIPPED = {
    "inspect": ("is", "Signature.", "BoundArguments.", "Parameter."),
}

# This package's floors: below dynamo everything is an operation or a rule; beside and above it only these are plain
# Python.
TRACED_MODULES = tuple(
    f"{LIBRARY}.{name}"
    for name in (
        "_C",
        "fx._pytree",
        "tensor.grad_mode",
        "tensor.functions.checks",
        "tensor.functions.foreach",
        "tensor.functions.index_put",
        "tensor.functions.old_names",
        "dynamo.variables.functions.polyfills",
        "dynamo.variables.tensors.array_polyfills",
        "autograd.variable",
        "profiler.record_function",
    )
)
TRACED_FLOORS = (
    "_higher_order_ops",
    "nn",
    "optim",
    "models",
    "utils",
    "distributions",
    "amp",
    "interop",
    "func",
    "pytree",
    "jit",
    "cuda",
    "accelerator",
    "backends",
    "cpu",
    "distributed",
    "export",
    "mps",
    "onnx",
    "xpu",
)
# Of these, a function is traced as part of its caller or not at all: half a transform means nothing.
WHOLE_FLOORS = ("func", "pytree")


def is_library_code(code: CodeType) -> bool:
    """Whether the code lies in a file of this package (not merely in a doctest of one of its modules)."""
    return code.co_filename.startswith(PACKAGE_FOLDER)


def _floor(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def is_traced_whole(module: str | None) -> bool:
    """Whether functions of this module are traced only as part of the function that calls them."""
    name = module or ""
    return name.startswith(f"{LIBRARY}.") and _floor(name) in WHOLE_FLOORS


def reason_to_skip(code: CodeType, module: str | None) -> Unsupported | None:
    """The break for calling a function with this code, defined in that module; None if it can be traced into."""
    name = module or ""
    what = f"the function {code.co_qualname}()"
    if is_library_code(code):
        floor = _floor(name)
        if floor in TRACED_FLOORS or name in TRACED_MODULES:
            return None
        return Unsupported(
            "autograd-call" if floor == "autograd" else "unsupported-call", f"{what} of {name} is not traced into."
        )
    top = name.partition(".")[0]
    if top in SKIPPED and not code.co_qualname.startswith(TRACED_OF_SKIPPED.get(name, ("<none>",))):
        return Unsupported(SKIPPED[top], f"{what} of the module {top} is not traced into.")
    return None
