"""Programs over two streams, each with a mistake that `correct=True` mends.

The line with the mistake ends in `# unordered`: nothing makes it come after the one that ends in `# before`. With
`correct=True` it still uses the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from minitorch_compile.cuda_runtime.allocator import CachingAllocator
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.cuda_runtime.sanitized_driver import sanitized
from minitorch_compile.cuda_runtime.sanitizer import Span

NBYTES = 1024
Program = Callable[["World", bool], None]
PROGRAMS: list[Program] = []


class World:
    """A fake GPU that is watched: streams, memory, and kernels which only say what they read and write."""

    def __init__(self) -> None:
        self.driver, self.sanitizer = sanitized(FakeDriver(devices=2, order="latest"))
        self.allocator = CachingAllocator(self.driver, device=0)
        self.allocator.observers.append(self.sanitizer.observe)
        self.a, self.b, self.c = (self.driver.create_stream(0) for _ in range(3))
        self.x, self.y = (self.block(self.a) for _ in range(2))

    def block(self, stream: StreamHandle) -> Span:
        return self.allocator.allocate(NBYTES, stream), NBYTES

    def pinned(self) -> Span:
        return self.driver.allocate_host(NBYTES), NBYTES

    def write(self, stream: StreamHandle, *spans: Span) -> None:
        self.driver.launch(lambda: None, stream)  # type: ignore[attr-defined]
        self.sanitizer.access(stream, "writer", writes=spans)

    def read(self, stream: StreamHandle, *spans: Span) -> None:
        self.driver.launch(lambda: None, stream)  # type: ignore[attr-defined]
        self.sanitizer.access(stream, "reader", reads=spans)

    def event(self, stream: StreamHandle) -> int:
        event = self.driver.create_event(stream.device)
        self.driver.record_event(event, stream)
        return event

    def let_wait(self, stream: StreamHandle, other: StreamHandle) -> None:
        self.driver.wait_event(stream, self.event(other))


def planted(program: Program) -> Program:
    PROGRAMS.append(program)
    return program


@planted
def a_read_without_a_wait(world: World, correct: bool) -> None:
    world.write(world.a, world.x)  # before
    if correct:
        world.let_wait(world.b, world.a)
    world.read(world.b, world.x)  # unordered


@planted
def a_write_while_another_stream_reads(world: World, correct: bool) -> None:
    world.write(world.a, world.x)
    world.let_wait(world.b, world.a)
    world.read(world.b, world.x)  # before
    if correct:
        world.let_wait(world.a, world.b)
    world.write(world.a, world.x)  # unordered


@planted
def two_writes(world: World, correct: bool) -> None:
    world.write(world.a, world.x)  # before
    if correct:
        world.driver.synchronize_stream(world.a)
    world.write(world.b, world.x)  # unordered


@planted
def an_event_recorded_too_early(world: World, correct: bool) -> None:
    event = world.event(world.a)
    world.write(world.a, world.x)  # before
    if correct:
        world.driver.record_event(event, world.a)
    world.driver.wait_event(world.b, event)
    world.read(world.b, world.x)  # unordered


@planted
def the_event_of_another_stream(world: World, correct: bool) -> None:
    world.write(world.a, world.x)  # before
    world.write(world.c, world.y)
    world.let_wait(world.b, world.a if correct else world.c)
    world.read(world.b, world.x)  # unordered


@planted
def a_wait_by_the_wrong_stream(world: World, correct: bool) -> None:
    world.write(world.a, world.x)  # before
    world.let_wait(world.b if correct else world.c, world.a)
    world.read(world.b, world.x)  # unordered


@planted
def a_chain_with_a_link_missing(world: World, correct: bool) -> None:
    world.write(world.a, world.x)  # before
    if correct:
        world.let_wait(world.b, world.a)
    world.read(world.b, world.y)
    world.let_wait(world.c, world.b)
    world.read(world.c, world.x)  # unordered


@planted
def a_wait_of_the_host_for_the_wrong_stream(world: World, correct: bool) -> None:
    world.write(world.a, world.x)  # before
    world.driver.synchronize_stream(world.a if correct else world.b)
    world.read(world.b, world.x)  # unordered


@planted
def an_answer_that_is_not_heeded(world: World, correct: bool) -> None:
    world.write(world.a, world.x)  # before
    event = world.event(world.a)
    while not world.driver.event_is_done(event) and correct:
        pass
    world.read(world.b, world.x)  # unordered


@planted
def data_that_is_still_on_its_way(world: World, correct: bool) -> None:
    host, nbytes = world.pinned()
    world.driver.copy_host_to_device(world.x[0], host, nbytes, world.b)  # before
    if correct:
        world.let_wait(world.a, world.b)
    world.read(world.a, world.x)  # unordered


@planted
def a_result_that_is_not_there_yet(world: World, correct: bool) -> None:
    host, nbytes = world.pinned()
    world.write(world.a, world.x)
    world.driver.copy_device_to_host(host, world.x[0], nbytes, world.a)  # before
    if correct:
        world.driver.synchronize_event(world.event(world.a))
    world.sanitizer.host_access("print", reads=[(host, nbytes)])  # unordered


@planted
def a_pinned_buffer_filled_again_too_soon(world: World, correct: bool) -> None:
    host, nbytes = world.pinned()
    world.sanitizer.host_access("batch 1", writes=[(host, nbytes)])
    world.driver.copy_host_to_device(world.x[0], host, nbytes, world.a)  # before
    if correct:
        world.driver.synchronize_device(0)
    world.sanitizer.host_access("batch 2", writes=[(host, nbytes)])  # unordered


@planted
def a_block_freed_while_another_stream_reads_it(world: World, correct: bool) -> None:
    world.write(world.a, world.x)
    world.let_wait(world.b, world.a)
    world.read(world.b, world.x)  # before
    if correct:
        world.allocator.record_stream(world.x[0], world.b)
    world.allocator.free(world.x[0])
    world.write(world.a, world.block(world.a))  # unordered


@planted
def halves_that_overlap(world: World, correct: bool) -> None:
    address, half = world.x[0], NBYTES // 2
    world.write(world.a, (address, half if correct else half + 4))  # before
    world.write(world.b, (address + half, half))  # unordered


@planted
def the_copy_to_another_device(world: World, correct: bool) -> None:
    there, stream = world.driver.allocate(1, NBYTES), world.driver.create_stream(1)
    world.write(world.a, world.x)
    world.driver.copy_peer(there, world.x[0], NBYTES, (1, 0), world.a)  # before
    if correct:
        world.let_wait(stream, world.a)
    world.read(stream, (there, NBYTES))  # unordered
