"""torch.distributed.tensor.experimental: what is said about tensors that lie on several processes.

>>> with implicit_replication():  # plain tensors beside sharded ones: with one process all are plain
...     pass
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from minitorch_compile.distributed.across_processes import refuse

__all__ = ["context_parallel", "implicit_replication", "local_map", "register_sharding"]


@contextmanager
def implicit_replication() -> Iterator[None]:
    """A region in which plain tensors count as replicated; there is nothing else here."""
    yield


def context_parallel(
    mesh: Any, *, buffers: Any = None, buffer_seq_dims: Any = None, no_restore_buffers: Any = None
) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("context_parallel")


def local_map(
    func: Any = None,
    out_placements: Any = None,
    in_placements: Any = None,
    in_grad_placements: Any = None,
    device_mesh: Any = None,
    *,
    redistribute_inputs: bool = False,
) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("local_map")


def register_sharding(op: Any) -> NoReturn:
    """NotImplementedError: it needs several processes."""
    refuse("register_sharding")
