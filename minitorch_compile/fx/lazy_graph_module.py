"""A graph module whose code is generated when it is first needed.

One compilation makes about ten graphs, each a little different from the one before, and runs two of them. Generating
Python for all of them would take half of the time (PyTorch has a class of the same name for the same reason).

>>> from minitorch_compile.fx import symbolic_trace
>>> module = LazyGraphModule({}, symbolic_trace(lambda x: x + 1).graph)
>>> "code" in vars(module), module(1), "code" in vars(module)
(False, 2, True)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile import own_builtins
from minitorch_compile.fx.graph_module import GraphModule

GENERATED = ("code", "forward", "_function", "_line_map")  # what GraphModule.recompile sets


class LazyGraphModule(GraphModule):
    """As GraphModule; but a change of the graph before the first call counts without `recompile()`."""

    def recompile(self) -> None:
        """Forgets the code."""
        for name in GENERATED:
            vars(self).pop(name, None)

    def __getattr__(self, name: str) -> Any:
        if name in GENERATED:
            with own_builtins.restored():  # the first call may come while the program has functions of its own there
                super().recompile()
            return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
