"""Planted mistakes are reported with both lines, and their correct twins are not."""

from __future__ import annotations

import inspect
import random

import pytest

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.cuda_runtime.sanitized_driver import MEANINGS, SanitizedDriver, sanitized, watched
from minitorch_compile.cuda_runtime.sanitizer import CUDASanitizerErrors, Sanitizer
from minitorch_compile.cuda_runtime.vector_clocks import Moment, Order
from tests.cuda_runtime.planted_programs import NBYTES, PROGRAMS, Program, World

each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)


def line_of(program: Program, mark: str) -> int:
    lines, first = inspect.getsourcelines(program)
    (number,) = (first + number for number, line in enumerate(lines) if line.rstrip().endswith(mark))
    return number


@each_program
def test_a_planted_mistake_is_reported_with_both_lines(program: Program, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CUDASanitizerErrors, match="detected 1 errors") as raised:
        program(World(), False)
    (error,) = raised.value.errors
    for access, mark in ((error.current, "# unordered"), (error.previous, "# before")):
        places = [(frame.name, frame.lineno) for frame in access.stack]
        assert (program.__name__, line_of(program, mark)) in places
    told = capfd.readouterr().err
    assert str(error) in told
    assert f"line {line_of(program, '# unordered')}" in told and f"line {line_of(program, '# before')}" in told


@each_program
def test_its_correct_twin_is_not_reported(program: Program, capfd: pytest.CaptureFixture[str]) -> None:
    program(World(), True)
    assert capfd.readouterr().err == ""


def test_a_report_says_who_what_and_where() -> None:
    world = World()
    world.write(world.a, world.x)
    with pytest.raises(CUDASanitizerErrors) as raised:
        world.read(world.b, world.x)
    text = str(raised.value.errors[0])
    address, (a, b) = world.x[0], (world.a.handle, world.b.handle)
    assert text.startswith(
        f"Unordered accesses of {NBYTES} bytes at {address:#x}: "
        f"`reader` reads on stream {b}, `writer` writes on stream {a}."
    )
    assert "record an event behind the earlier one" in text
    assert "The memory was allocated here:" in text and "self.allocator.allocate(NBYTES, stream)" in text


def test_work_of_one_stream_is_in_order_and_reads_never_conflict() -> None:
    world = World()
    for _ in range(3):
        world.write(world.a, world.x)
        world.read(world.a, world.x, world.y)
    world.let_wait(world.b, world.a)
    world.let_wait(world.c, world.a)
    world.read(world.b, world.x)
    world.read(world.c, world.x)


def test_a_write_must_come_after_the_reads_of_all_streams() -> None:
    world = World()
    for stream in (world.a, world.b):
        world.read(stream, world.x)
    world.let_wait(world.c, world.a)
    with pytest.raises(CUDASanitizerErrors) as raised:
        world.write(world.c, world.x)
    (error,) = raised.value.errors
    assert error.previous.moment.stream == world.b


def test_work_that_uses_two_blocks_wrongly_has_two_errors() -> None:
    world = World()
    world.write(world.a, world.x)
    world.write(world.a, world.y)
    with pytest.raises(CUDASanitizerErrors, match="detected 2 errors"):
        world.read(world.b, world.x, world.y)


def test_memory_that_the_driver_took_back_has_no_story() -> None:
    world = World()
    world.write(world.b, world.x)
    for address, _ in (world.x, world.y):
        world.allocator.free(address)
    world.allocator.empty_cache()
    assert world.sanitizer._memory.cells == []


def test_the_order_that_the_clocks_know_is_that_of_the_waits() -> None:
    """Random waits; beside the clocks, each stream and event has the set of all work that is before it."""
    choice = random.Random(0)
    for _ in range(40):
        order, streams = Order(), [StreamHandle(0, number) for number in range(4)]
        moments: list[Moment] = []
        known: dict[StreamHandle, set[Moment]] = {stream: set() for stream in streams}
        marked: dict[int, set[Moment]] = {}
        for _ in range(60):
            stream, event, kind = choice.choice(streams), choice.randrange(3), choice.random()
            if kind < 0.4:
                now = order.step(stream)
                assert {moment for moment in moments if order.is_before(moment, stream)} == known[stream]
                moments.append(now)
                known[stream].add(now)
            elif kind < 0.7:
                order.record(event, stream)
                marked[event] = set(known[stream])
            else:
                order.wait(stream, event)
                known[stream] |= marked.get(event, set())


def test_every_call_that_has_a_meaning_is_one_of_the_drivers() -> None:
    assert [name for name in MEANINGS if not hasattr(FakeDriver, name)] == []
    without = {"create", "destroy_stream", "elapsed", "properties", "memory", "device", "can", "en", "stream_pri"}
    others = [name for name in vars(FakeDriver) if not name.startswith(("_", *without)) and name not in MEANINGS]
    assert others == ["bytes_at", "is_pinned", "launch", "advance", "is_capturing", "prepared_graph"]


def test_what_is_recorded_is_work_of_the_stream_that_launches_it() -> None:
    driver, _ = sanitized(FakeDriver())
    side, other, address = driver.create_stream(0), driver.create_stream(0), driver.allocate(0, 64)
    driver.begin_capture(side)
    driver.set_memory(address, 1, 64, side)
    executable = driver.instantiate_graph(driver.end_capture(side))
    driver.set_memory(address, 2, 64, other)  # nothing was done yet
    driver.synchronize_stream(other)
    put = driver.prepared_graph(0, executable)
    put(other.handle)
    driver.set_memory(address, 2, 64, other)
    with pytest.raises(CUDASanitizerErrors):
        put(side.handle)


@pytest.mark.parametrize(("text", "is_on"), [("1", True), ("0", False), (None, False)])
def test_a_variable_turns_it_on(monkeypatch: pytest.MonkeyPatch, text: str | None, is_on: bool) -> None:
    if text is None:
        monkeypatch.delenv("MTC_CUDA_SANITIZER", raising=False)
    else:
        monkeypatch.setenv("MTC_CUDA_SANITIZER", text)
    driver, sanitizer = watched(FakeDriver())
    assert isinstance(driver, SanitizedDriver) == isinstance(sanitizer, Sanitizer) == is_on
