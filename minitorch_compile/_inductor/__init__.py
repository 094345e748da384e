"""`torch._inductor` as programs use it: its options, and its compiler as a function.

The kernel generator itself is `minitorch_compile.inductor`; this is the place where PyTorch has these names.

>>> list_mode_options("max-autotune")
{'max_autotune': True}
>>> "triton.cudagraphs" in list_options()
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from minitorch_compile._inductor import compile_fx, config, cpu_vec_isa, exc, runtime, utils
from minitorch_compile.compiler.modes import MODES
from minitorch_compile.compiler.pytorch_options import OTHER_NAMES
from minitorch_compile.control import cudagraph_mark_step_begin
from minitorch_compile.fx.graph_module import GraphModule

_THEIRS = {ours: name for name, ours in OTHER_NAMES.items()}


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """The options that each mode of compile() sets, by PyTorch's names; with `mode`, only that one's. RuntimeError for
    an unknown mode."""
    if mode is not None and mode not in MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    options = {m: {_THEIRS.get(name, name): value for name, value in set.items()} for m, set in MODES.items()}
    return options if mode is None else options[mode]


def list_options() -> list[str]:
    """The names that compile(options={...}) accepts, PyTorch's among them."""
    return list(config.get_config_copy())


def compile(gm: GraphModule, example_inputs: Sequence[Any], options: Mapping[str, Any] | None = None) -> Any:
    """A function that runs a graph with compiled kernels, as the backend "inductor" makes it."""
    return compile_fx.compile_fx(gm, example_inputs, config_patches=options)


__all__ = [
    "compile",
    "compile_fx",
    "config",
    "cpu_vec_isa",
    "cudagraph_mark_step_begin",
    "exc",
    "list_mode_options",
    "list_options",
    "runtime",
    "utils",
]
