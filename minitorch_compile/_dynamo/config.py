"""`torch._dynamo.config`: PyTorch's names for options of the tracer, kept in `minitorch_compile.config`.

>>> from minitorch_compile._dynamo import config
>>> with config.patch(cache_size_limit=2):
...     config.recompile_limit
2

Some of PyTorch's options have no counterpart, since the tracer here always does one of the two. They can be set to what
it does, so that a program that only asks for that runs as it is:

>>> config.inline_inbuilt_nn_modules = True
>>> config.inline_inbuilt_nn_modules = False
Traceback (most recent call last):
RuntimeError: torch._dynamo.config.inline_inbuilt_nn_modules is always True here, and can't be set to False.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from minitorch_compile import config as options

ALIASES = {"cache_size_limit": "recompile_limit"}
ALWAYS = {
    "accumulated_recompile_limit": None,  # any value: there is one limit, for each function
    "allow_rnn": True,
    "capture_dynamic_output_shape_ops": False,
    "capture_scalar_outputs": False,
    "enable_cpp_guard_manager": None,
    "guard_nn_modules": True,
    "inline_inbuilt_nn_modules": True,
    "optimize_ddp": None,
    "specialize_float": True,
    "specialize_int": None,
    "verbose": None,  # errors and breaks always come with the user's stack
}


def patch(changes: Any = None, value: Any = None, /, **named: Any) -> Any:
    """As `minitorch_compile.config.patch`, under PyTorch's names."""
    if isinstance(changes, str):
        changes = {changes: value}
    merged = {**(changes or {}), **named}
    for name, wanted in merged.items():
        if name in ALWAYS:
            _check(name, wanted)
    return options.patch({ALIASES.get(name, name): v for name, v in merged.items() if name not in ALWAYS})


def _check(name: str, value: Any) -> None:
    if ALWAYS[name] is not None and value != ALWAYS[name]:
        raise RuntimeError(f"torch._dynamo.config.{name} is always {ALWAYS[name]} here, and can't be set to {value!r}.")


class _NamesOfPyTorch(ModuleType):
    """A module that keeps its options elsewhere."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # the import system and inspect probe for these
            raise AttributeError(name)
        return ALWAYS[name] if name in ALWAYS else getattr(options, ALIASES.get(name, name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
        elif name in ALWAYS:
            _check(name, value)
        else:
            setattr(options, ALIASES.get(name, name), value)


sys.modules[__name__].__class__ = _NamesOfPyTorch  # Python's documented way to customise attribute access of a module
