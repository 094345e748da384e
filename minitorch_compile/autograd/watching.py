"""Who watches what is recorded: anomaly mode, and hooks on saved tensors.

Watchers are rare and recording is frequent, so the tape asks one question, whether there is any watcher at all; each
then decides for itself whether this thread concerns it.

>>> class Count:
...     nodes = 0
...     def recorded(self, node):
...         self.nodes += 1
>>> from minitorch_compile.tensor import ones
>>> with watching(Count()) as count:
...     _ = ones(2, requires_grad=True).exp().sum()
>>> count.nodes
2
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from minitorch_compile.autograd.node import Node


class Watcher(Protocol):
    """Something that wants to see every node that is made."""

    def recorded(self, node: Node) -> None: ...


watchers: list[Any] = []
AnyWatcher = TypeVar("AnyWatcher", bound=Watcher)


def tell(node: Node) -> None:
    """Shows a new node, complete with what it saved, to all watchers; once, however often one is in the list."""
    for watcher in dict.fromkeys(watchers):
        watcher.recorded(node)


@contextmanager
def watching(watcher: AnyWatcher) -> Iterator[AnyWatcher]:
    """Inside, the watcher sees every node."""
    watchers.append(watcher)
    try:
        yield watcher
    finally:
        watchers.remove(watcher)
