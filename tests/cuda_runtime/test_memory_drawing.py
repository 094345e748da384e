"""The picture of an allocator's history shows each block where it was, as long as it was there."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from minitorch_compile.cuda_runtime.allocator import CachingAllocator
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.errors import OutOfMemoryError
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.cuda_runtime.memory_drawing import HEIGHT, WIDTH, draw_memory, lives_of, steps_of
from minitorch_compile.cuda_runtime.trace import TraceEntry
from minitorch_compile.svg import PALETTE
from tests.cuda_runtime.allocator_operations import RandomOperations

MIB = 1 << 20
MAIN, OTHER = StreamHandle(0), StreamHandle(0, 1)


def rectangles(history: list[TraceEntry], colour: str) -> list[tuple[float, ...]]:
    """(x, y, width, height) of those in a colour, the legend's left out."""
    svg = ElementTree.fromstring(draw_memory(history).svg())
    found = [node for node in svg.iter("{http://www.w3.org/2000/svg}rect") if node.get("fill") == colour]
    sizes = [tuple(float(node.get(name, "")) for name in ("x", "y", "width", "height")) for node in found]
    return [size for size in sizes if size[2:] != (12, 12)]


def test_a_block_is_as_high_as_its_share_and_as_wide_as_its_life() -> None:
    history = [
        TraceEntry("segment_alloc", 1000, 400, MAIN),
        TraceEntry("alloc", 1100, 100, MAIN),
        TraceEntry("free_requested", 1100, 100, MAIN),
        TraceEntry("free_completed", 1100, 100, MAIN),
    ]
    ((_, y, width, height),) = rectangles(history, PALETTE[0])
    ((_, y_of_all, width_of_all, height_of_all),) = rectangles(history, "#eeeeee")
    assert (width_of_all, height_of_all) == (WIDTH, HEIGHT)
    assert (width, height) == (round(WIDTH / 3, 1), HEIGHT / 4)
    assert y == y_of_all + HEIGHT / 2  # a quarter of the segment lies below it


def test_a_block_that_another_stream_uses_is_pale_until_it_is_done() -> None:
    history = [
        TraceEntry("alloc", 0, 512, MAIN),
        TraceEntry("free_requested", 0, 512, MAIN),
        TraceEntry("alloc", 512, 512, OTHER),
        TraceEntry("free_completed", 0, 512, MAIN),
    ]
    (held, waiting) = rectangles(history, PALETTE[0])
    assert (held[2], waiting[2]) == (WIDTH / 4, WIDTH / 2)
    assert "stream 0         512 bytes  at 0         #--." in repr(draw_memory(history))


def test_what_was_there_before_begins_with_the_history_and_what_stays_ends_with_it() -> None:
    history = [TraceEntry("alloc", 0, 512, MAIN), TraceEntry("free_requested", 512, 512, MAIN)]
    lives = lives_of(steps_of(history))
    assert [(life.start, life.freed, life.end) for life in lives] == [(0, 2, 2), (0, 1, 2)]


def test_out_of_memory_is_shown() -> None:
    allocator, history = CachingAllocator(FakeDriver(memory=4 * MIB, backed=False), 0), []
    allocator.observers.append(history.append)
    allocator.allocate(512, MAIN)
    with pytest.raises(OutOfMemoryError):
        allocator.allocate(8 * MIB, MAIN)
    assert "out of memory: 20.00 MiB" in draw_memory(history).svg()


def test_any_history_can_be_drawn() -> None:
    history: list[TraceEntry] = []
    operations = RandomOperations(FakeDriver(memory=256 * MIB, order="latest", backed=False), seed=0)
    operations.allocator.observers.append(history.append)
    operations.run(300)
    for part in (history, history[100:], history[:1]):
        svg = ElementTree.fromstring(draw_memory(part).svg())
        numbers = [float(node.get("height", "0")) for node in svg.iter("{http://www.w3.org/2000/svg}rect")]
        assert min(numbers) >= 0 and max(numbers) <= HEIGHT + 1


def test_no_history_is_no_picture() -> None:
    with pytest.raises(ValueError, match="add history.append to an allocator's observers"):
        draw_memory([])
