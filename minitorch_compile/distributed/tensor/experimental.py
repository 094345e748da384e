"""torch.distributed.tensor.experimental: what is said about tensors that lie on several processes.

>>> with implicit_replication():  # plain tensors beside sharded ones: with one process all are plain
...     pass
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from minitorch_compile.distributed.across_processes import refused_function

context_parallel = refused_function("context_parallel")
local_map = refused_function("local_map")
register_sharding = refused_function("register_sharding")

__all__ = ["context_parallel", "implicit_replication", "local_map", "register_sharding"]


@contextmanager
def implicit_replication() -> Iterator[None]:
    """A region in which plain tensors count as replicated; there is nothing else here."""
    yield
