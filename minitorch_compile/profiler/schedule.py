"""When a profiler records: a cycle of steps to wait, to warm up, and to record.

>>> plan = schedule(wait=1, warmup=1, active=2, repeat=1)
>>> [plan(step).name for step in range(5)]
['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from minitorch_compile.user_warnings import warn_user


class ProfilerAction(Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(Enum):
    """What can be recorded."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """What can be recorded here."""
    return {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A function from a step's number to what is done in it. `repeat=0` goes on for ever; with `skip_first_wait`, the
    first cycle does not wait."""
    given = {"wait": wait, "warmup": warmup, "active": active, "repeat": repeat, "skip_first": skip_first}
    if min(given.values()) < 0 or active <= 0:
        needs = ", ".join(
            f"{name}={value} (need >{' ' if name == 'active' else '= '}0)" for name, value in given.items()
        )
        raise AssertionError(f"Invalid profiler schedule arguments. Got {needs}.")
    if warmup == 0:
        warn_user("Profiler won't be using warmup, this can skew profiler results")
    cycle = wait + warmup + active

    def action_of(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat > 0 and step // cycle >= repeat:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action_of


def record_always(step: int) -> ProfilerAction:
    """The plan of a profiler that was given none."""
    return ProfilerAction.RECORD
