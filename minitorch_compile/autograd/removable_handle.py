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

    def __init__(self, hooks: MutableMapping[int, Any]) -> None:
        self.hooks = hooks
        self.id = next(_ids)

    def remove(self) -> None:
        """Takes the hook away; a second time does nothing."""
        self.hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()
