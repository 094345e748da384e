"""A module whose parameters are about to be overwritten: the random stream is left as it was.

>>> from minitorch_compile import nn
>>> skip_init(nn.Linear, 2, 3)
Linear(in_features=2, out_features=3, bias=True)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.tensor.random.generator import default_generator


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """module_cls(*args, **kwargs); nothing is promised about its parameters. RuntimeError unless it is a Module."""
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    state = default_generator.get_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        default_generator.set_state(state)
