"""A module as it was: what one call assigned to attributes is taken back, and told if it was a buffer.

>>> from minitorch_compile.nn import Module
>>> from minitorch_compile.tensor import zeros
>>> module = Module()
>>> module.register_buffer("count", zeros(1))
>>> module.calls = []
>>> state = ModuleState(module)
>>> module.calls.append(1)
>>> module.count = module.count + 1
>>> state.restored(), module.count, module.calls
([(tensor([0.]), tensor([1.]))], tensor([0.]), [])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn import Module
from minitorch_compile.tensor import Tensor


class ModuleState:
    """The attributes of a module and its submodules, and what the lists, dicts and sets among them hold."""

    def __init__(self, module: Module) -> None:
        self.owners = list(module.modules())
        containers = [x for owner in self.owners for x in (vars(owner), *vars(owner).values())]
        self.kept = [(x, x.copy()) for x in containers if isinstance(x, (list, dict, set))]
        self.buffers = [dict(owner._buffers) for owner in self.owners]

    def restored(self) -> list[tuple[Tensor, Tensor]]:
        """Takes back what was assigned; each buffer with the tensor that was to replace it."""
        assigned = []
        for owner, before in zip(self.owners, self.buffers):
            for name, old in before.items():
                new = owner._buffers.get(name)
                if old is not None and new is not None and new is not old:
                    assigned.append((old, new))
        for container, content in self.kept:
            if not _same(container, content):
                container.clear()
                (container.extend if isinstance(container, list) else container.update)(content)
        return assigned


def _same(container: Any, content: Any) -> bool:
    """Whether it holds the very same objects in the same order."""
    if isinstance(container, dict):
        return list(container) == list(content) and all(container[key] is content[key] for key in content)
    return len(container) == len(content) and all(x is y for x, y in zip(container, content))
