"""Tensors used on two streams that nothing orders: reported with both lines, and their correct twins are not."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.cuda_runtime.sanitized_driver import sanitized
from minitorch_compile.cuda_runtime.sanitizer import CUDASanitizerErrors

Program = Callable[[Any, Any, bool], None]


def a_read_without_a_wait(main: Any, side: Any, correct: bool) -> None:
    x = torch.ones(100, device="cuda")  # before
    if correct:
        side.wait_stream(main)
    with torch.cuda.stream(side):
        x.exp()  # unordered


def a_copy_that_is_still_on_its_way(main: Any, side: Any, correct: bool) -> None:
    pinned = torch.ones(100).pin_memory()
    with torch.cuda.stream(side):
        x = pinned.to("cuda", non_blocking=True)  # before
    if correct:
        main.wait_stream(side)
    x + 1  # unordered


def memory_that_is_given_back_too_soon(main: Any, side: Any, correct: bool) -> None:
    x = torch.ones(1000, device="cuda")
    side.wait_stream(main)
    with torch.cuda.stream(side):
        x.sin()  # before
    if correct:
        x.record_stream(side)
    del x
    torch.zeros(1000, device="cuda")  # unordered


def a_step_before_the_gradient_is_there(main: Any, side: Any, correct: bool) -> None:
    weight = torch.ones(10, device="cuda", requires_grad=True)
    side.wait_stream(main)
    with torch.cuda.stream(side):
        (weight * 2).sum().backward()  # before
    if correct:
        main.wait_stream(side)
    with torch.no_grad():
        weight -= weight.grad  # unordered


def an_event_recorded_too_early(main: Any, side: Any, correct: bool) -> None:
    x, done = torch.ones(4, 4, device="cuda"), torch.cuda.Event()
    side.wait_stream(main)
    done.record(side)
    with torch.cuda.stream(side):
        y = x @ x  # before
    if correct:
        done.record(side)
    main.wait_event(done)
    y.sum()  # unordered


PROGRAMS = [
    a_read_without_a_wait, a_copy_that_is_still_on_its_way, memory_that_is_given_back_too_soon,
    a_step_before_the_gradient_is_there, an_event_recorded_too_early,
]  # fmt: skip


def run(program: Program, correct: bool) -> None:
    driver, _ = sanitized(FakeDriver(order="latest"))
    with using(driver):
        program(torch.cuda.current_stream(), torch.cuda.Stream(), correct)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_planted_mistake_is_reported_with_both_lines(program: Program, capfd: pytest.CaptureFixture[str]) -> None:
    lines, first = inspect.getsourcelines(program)
    with pytest.raises(CUDASanitizerErrors) as raised:
        run(program, correct=False)
    error = raised.value.errors[0]
    for access, mark in ((error.current, "# unordered"), (error.previous, "# before")):
        (number,) = (first + number for number, line in enumerate(lines) if line.rstrip().endswith(mark))
        assert (program.__name__, number) in [(frame.name, frame.lineno) for frame in access.stack]
    assert str(error) in capfd.readouterr().err


@pytest.mark.parametrize("program", PROGRAMS)
def test_its_correct_twin_is_not_reported(program: Program, capfd: pytest.CaptureFixture[str]) -> None:
    run(program, correct=True)
    assert capfd.readouterr().err == ""
