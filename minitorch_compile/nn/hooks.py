"""Functions that run before or after a module's forward.

>>> from minitorch_compile import nn, ones
>>> layer = nn.Identity()
>>> handle = layer.register_forward_hook(lambda module, args, output: output + 1)
>>> layer(ones(1)), handle.remove(), layer(ones(1))
(tensor([2.]), None, tensor([1.]))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.autograd.hooks import RemovableHandle


class Hooks(dict[int, tuple[Callable[..., Any], bool]]):
    """Hooks in the order they run, each with whether it wants the keyword arguments too."""

    def add(self, hook: Callable[..., Any], prepend: bool, with_kwargs: bool) -> RemovableHandle:
        """Registers a hook, in front of the others if `prepend`."""
        handle = RemovableHandle(self)
        rest = dict(self) if prepend else {}
        if prepend:
            self.clear()
        self[handle.id] = (hook, with_kwargs)
        self.update(rest)
        return handle

    def before(
        self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, as the hooks leave them."""
        for hook, with_kwargs in list(self.values()):
            result = hook(module, args, kwargs) if with_kwargs else hook(module, args)
            if result is None:
                continue
            if with_kwargs:
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                args, kwargs = result
            else:
                args = result if isinstance(result, tuple) else (result,)
        return args, kwargs

    def after(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        """The output, as the hooks leave it."""
        for hook, with_kwargs in list(self.values()):
            result = hook(module, args, kwargs, output) if with_kwargs else hook(module, args, output)
            if result is not None:
                output = result
        return output
