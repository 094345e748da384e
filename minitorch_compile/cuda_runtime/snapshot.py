"""An allocator's segments and blocks as plain data, under the names of torch.cuda.memory_snapshot.

>>> from minitorch_compile.cuda_runtime.allocator import CachingAllocator
>>> from minitorch_compile.cuda_runtime.driver import StreamHandle
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> allocator = CachingAllocator(FakeDriver(), device=0)
>>> _ = allocator.allocate(1000, StreamHandle(0))
>>> (segment,) = allocator.snapshot()
>>> segment["segment_type"], segment["total_size"], segment["allocated_size"]
('small', 2097152, 1024)
>>> [(block["state"], block["size"]) for block in segment["blocks"]]
[('active_allocated', 1024), ('inactive', 2096128)]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from minitorch_compile.cuda_runtime.blocks import Block


def snapshot_of(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """The segments that these blocks make up, by address. A block may be named more than once."""
    firsts = {block.address: block for block in blocks if block.preceding is None}
    return [_segment(first) for _, first in sorted(firsts.items())]


def _segment(first: Block) -> dict[str, Any]:
    blocks = list(_from(first))
    allocated = [block for block in blocks if block.is_allocated]
    return {
        "device": first.stream.device,
        "address": first.address,
        "total_size": sum(block.size for block in blocks),
        "allocated_size": sum(block.size for block in allocated),
        "active_size": sum(block.size for block in blocks if not block.is_free),
        "requested_size": sum(block.requested for block in allocated),
        "stream": first.stream.handle,
        "segment_type": first.pool.name.removesuffix("_pool"),
        "blocks": [_description(block) for block in blocks],
    }


def _description(block: Block) -> dict[str, Any]:
    return {"address": block.address, "size": block.size, "requested_size": block.requested, "state": _state(block)}


def _state(block: Block) -> str:
    if block.is_allocated:
        return "active_allocated"
    return "inactive" if block.is_free else "active_awaiting_free"


def _from(block: Block | None) -> Iterator[Block]:
    while block is not None:
        yield block
        block = block.following
