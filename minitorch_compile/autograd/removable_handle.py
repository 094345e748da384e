"""What registering a hook returns: a handle that takes the hook away again.

>>> hooks = {}
>>> handle = RemovableHandle(hooks)
>>> hooks[handle.id] = print
>>> handle.remove()
>>> hooks
{}
"""

from __future__ import annotations

import itertools
from collections.abc import MutableMapping
from typing import Any

_ids = itertools.count()


class RemovableHandle:
    """`remove()` takes the hook away; so does the end of a with-block."""

    __module__ = "minitorch_compile.utils.hooks"  # as PyTorch shows it

    def __init__(self, hooks_dict: MutableMapping[int, Any], *, extra_dict: Any = None) -> None:
        self.hooks = hooks_dict
        self.extra_hooks = () if extra_dict is None else extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self.id = next(_ids)

    def remove(self) -> None:
        """Takes the hook away; a second time does nothing."""
        for hooks in (self.hooks, *self.extra_hooks):
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()
