"""Modes and options: what `compile(mode=...)` and `compile(options=...)` accept. A mode is a named set of options.

>>> sorted(list_mode_options())
['default', 'max-autotune', 'max-autotune-no-cudagraphs', 'reduce-overhead']
>>> options_of(None, {"fuse": 3})
Traceback (most recent call last):
ValueError: compile: no option named 'fuse'. Choose one of: ...

Source: torch._inductor.list_mode_options and list_options.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minitorch_compile.compiler.backends import suggestion
from minitorch_compile.compiler.pass_options import PASS_OPTIONS, split_options
from minitorch_compile.compiler.pytorch_options import here
from minitorch_compile.kernel_options import OPTIONS, Options

MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "reduce-overhead": {"reuse_temporaries": True},
    "max-autotune": {"max_autotune": True},
    "max-autotune-no-cudagraphs": {"max_autotune": True},  # neither records CUDA graphs; programs ask by this name
}


def list_mode_options(mode: str | None = None) -> dict[str, Any]:
    """The options that each mode sets; with `mode`, only that one's. ValueError for an unknown mode."""
    return dict(MODES) if mode is None else options_of(mode, None)


def list_options() -> list[str]:
    """The names that `compile(options={...})` accepts."""
    return sorted((*OPTIONS, *PASS_OPTIONS))


def options_of(mode: str | None, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options that a mode or an options dict stands for.

    RuntimeError if both are given, ValueError for an unknown name or value, TypeError for another type.
    """
    if mode is not None and options is not None:
        raise RuntimeError("compile: give mode or options, not both; list_mode_options() shows what a mode sets")
    if mode is not None:
        if not isinstance(mode, str):
            raise TypeError(f"compile: mode must be a name, got {type(mode).__name__}")
        if mode not in MODES:
            raise ValueError(f"compile: no mode named {mode!r}. {suggestion(mode, list(MODES))}")
        return dict(MODES[mode])
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(f"compile: options must be a dict of names and values, got {type(options).__name__}")
    chosen = here(options)
    for name in chosen:
        if name not in OPTIONS and name not in PASS_OPTIONS:
            raise ValueError(f"compile: no option named {name!r}. {suggestion(str(name), list_options())}")
    Options.of(split_options(chosen)[1])  # checks the values
    return chosen
