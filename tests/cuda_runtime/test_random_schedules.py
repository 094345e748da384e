"""What the sanitizer doesn't report can run in any order that the waits allow: the data are always the same."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.cuda_runtime.sanitized_driver import sanitized
from minitorch_compile.cuda_runtime.sanitizer import CUDASanitizerErrors, Sanitizer

STREAMS, BLOCKS, NBYTES, STEPS = 3, 3, 4, 14
Step = tuple[str, int, int, int]
PLAYERS: dict[str, Callable[[Any, int, int, int], None]] = {}


@dataclass
class World:
    """What a program runs on. `seen` is what the host has read on its way."""

    driver: Any
    sanitizer: Sanitizer | None
    seen: list[list[int]]
    streams: list[StreamHandle]
    blocks: list[int]
    pinned: list[int]
    events: list[int]


def player(function: Callable[[World, int, int, int], None]) -> Callable[[World, int, int, int], None]:
    PLAYERS[function.__name__] = function
    return function


@player
def fill(world: World, stream: int, block: int, value: int) -> None:
    world.driver.set_memory(world.blocks[block], 10 + value, NBYTES, world.streams[stream])


@player
def fill_a_half(world: World, stream: int, block: int, value: int) -> None:
    world.driver.set_memory(world.blocks[block] + value % 2 * 2, 20 + value, NBYTES // 2, world.streams[stream])


@player
def copy(world: World, stream: int, to: int, source: int) -> None:
    world.driver.copy_device_to_device(world.blocks[to], world.blocks[source], NBYTES, world.streams[stream])


@player
def to_the_host(world: World, stream: int, to: int, source: int) -> None:
    world.driver.copy_device_to_host(world.pinned[to], world.blocks[source], NBYTES, world.streams[stream])


@player
def to_the_device(world: World, stream: int, to: int, source: int) -> None:
    world.driver.copy_host_to_device(world.blocks[to], world.pinned[source], NBYTES, world.streams[stream])


@player
def look(world: World, _: int, place: int, __: int) -> None:
    if world.sanitizer is not None:
        world.sanitizer.host_access("look", reads=[(world.pinned[place], NBYTES)])
    world.seen.append(host_bytes(world.pinned[place]).tolist())


@player
def record(world: World, stream: int, event: int, _: int) -> None:
    world.driver.record_event(world.events[event], world.streams[stream])


@player
def wait(world: World, stream: int, event: int, _: int) -> None:
    world.driver.wait_event(world.streams[stream], world.events[event])


@player
def wait_for_another(world: World, stream: int, _: int, other: int) -> None:
    """Record and wait in one: what programs without a mistake do most."""
    event = world.driver.create_event(0)
    world.driver.record_event(event, world.streams[other])
    world.driver.wait_event(world.streams[stream], event)


@player
def synchronize(world: World, stream: int, _: int, __: int) -> None:
    world.driver.synchronize_stream(world.streams[stream])


@player
def synchronize_with_an_event(world: World, _: int, event: int, __: int) -> None:
    world.driver.synchronize_event(world.events[event])


def host_bytes(address: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint8 * NBYTES).from_address(address))


def random_program(choice: random.Random) -> list[Step]:
    kinds = [*PLAYERS, *["wait_for_another"] * 8]
    return [(choice.choice(kinds), *(choice.randrange(3) for _ in range(3))) for _ in range(STEPS)]  # type: ignore[misc]


def play(program: list[Step], driver: FakeDriver, watch: bool, schedule: random.Random | None) -> list[list[int]]:
    """What the host has seen, and what is in memory in the end. `schedule` lets work run now and then."""
    watched, sanitizer = sanitized(driver) if watch else (driver, None)
    world = World(
        driver=watched,
        sanitizer=sanitizer,
        seen=[],
        streams=[watched.create_stream(0) for _ in range(STREAMS)],
        blocks=[watched.allocate(0, NBYTES) for _ in range(BLOCKS)],
        pinned=[watched.allocate_host(NBYTES) for _ in range(BLOCKS)],
        events=[watched.create_event(0) for _ in range(3)],
    )
    for name, *numbers in program:
        PLAYERS[name](world, *numbers)
        while schedule is not None and schedule.random() < 0.5:
            driver.advance(schedule.choice(world.streams))
    driver.synchronize_device(0)
    left = [driver.bytes_at(address, NBYTES).tolist() for address in world.blocks]
    return [*world.seen, *left, *(host_bytes(address).tolist() for address in world.pinned)]


def is_reported(program: list[Step]) -> bool:
    try:
        play(program, FakeDriver(order="latest"), watch=True, schedule=None)
    except CUDASanitizerErrors:
        return True
    return False


def test_programs_that_are_not_reported_give_the_same_data_in_every_order() -> None:
    choice = random.Random(0)
    clean, reported, seen_to_differ = 0, 0, 0
    for _ in range(250):
        program = random_program(choice)
        orders = [play(program, FakeDriver(), watch=False, schedule=None)]
        orders += [
            play(program, FakeDriver(order="latest"), watch=False, schedule=random.Random(seed) if seed else None)
            for seed in range(6)
        ]
        differs = any(data != orders[0] for data in orders)
        if is_reported(program):
            reported += 1
            seen_to_differ += differs
        else:
            clean += 1
            assert not differs, program
    # Both kinds are there, and seven orders show many of the mistakes.
    assert clean > 50 and reported > 50 and seen_to_differ > reported / 3, (clean, reported, seen_to_differ)
