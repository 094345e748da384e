"""Random programs, plain against compiled: results, all reachable state, text, warnings, exceptions, random state.

MTC_FUZZ=5000 runs that many programs; a failing seed is the test's parameter. `make fuzz` runs thousands, and makes a
failing program small.
"""

import contextlib
import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.dynamo.testing.canonical_form import canonical_form
from tests.dynamo.fuzz.changes import CHANGES, undone
from tests.dynamo.fuzz.class_world import CLASS_WORLD
from tests.dynamo.fuzz.difference import changing_program_of, difference, program_of
from tests.dynamo.fuzz.running import ARGUMENTS, backend_of, run, set_garbage_aside
from tests.dynamo.fuzz.shrinking import shrunk
from tests.dynamo.fuzz.world import CALLS, CLASS_CALLS, WORLD

# What a change takes back is there before.
BEFORE = {"unshadow a method": "box.bump = 1", "delete what was added": "box.extra = 1"}

PROGRAMS = int(os.environ.get("MTC_FUZZ", "300"))
CHANGING = int(os.environ.get("MTC_FUZZ", "150"))


@pytest.fixture(scope="module", autouse=True)
def collecting() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_random_program(seed: int) -> None:
    set_garbage_aside()
    source = program_of(seed)
    found = difference(source, seed, backend_of(seed))
    assert found is None, f"{source}\n{found}"


@pytest.mark.parametrize("seed", range(CHANGING))
def test_a_random_program_in_a_changing_world(seed: int) -> None:
    set_garbage_aside()
    source = changing_program_of(seed)
    found = difference(source, seed, backend_of(seed))
    assert found is None, f"{source}\n{found}"


# --- what finds the mistakes: does it find one? -----------------------------------------------------------------------

PROGRAM = """
def f(x, y, n, items, box, opts, *rest, **named):
    items.append(n)
    if n >= 0:
        items.append((x * 2, {seen}))
    return items
"""


def test_the_same_program_gives_no_difference() -> None:
    assert difference(PROGRAM.format(seen=2), 0, "eager") is None


@pytest.mark.parametrize("odd", ["id(x)", "sys._getframe(1).f_code.co_name", "__import__('time').perf_counter()"])
def test_a_program_that_depends_on_chance_or_on_who_calls_differs(odd: str) -> None:
    found = difference(PROGRAM.format(seen=odd), 0, "eager")
    assert found is not None and found.call == 0


def test_a_failing_program_is_made_small() -> None:
    source = PROGRAM.format(seen="(1 if items else 2) * id(x)")
    small = shrunk(source, lambda text: difference(text, 0, "eager") is not None)
    assert len(small.splitlines()) <= 4 and "id(" in small


def test_where_in_memory_a_gradient_begins_is_left_open_but_not_where_a_result_does() -> None:
    def form(value: torch.Tensor, grad: torch.Tensor) -> Any:
        value.grad = grad
        return canonical_form(value)

    whole, part = torch.ones(2, 2), torch.ones(3, 2)[1:]
    assert form(torch.ones(2, 2), whole) == form(torch.ones(2, 2), part)
    assert form(torch.ones(2, 2), whole) != form(torch.ones(2, 2), part * 2)
    assert canonical_form(torch.ones(2, 2)) != canonical_form(torch.ones(3, 2)[1:])


CHANGING_PROGRAM = """CHANGES_BEFORE = [[], ['module number'], ['nothing']]

def f(x, y, n, items, box, opts, *rest, **named):
    return x * 2, {seen}
"""


def test_a_change_between_calls_is_seen_by_both() -> None:
    source = CHANGING_PROGRAM.format(seen="lib.scale")
    calls = run(source, 0, None)
    results = [call.seen["result"][-1][-1] for call in calls]
    assert results == [("int", "2"), ("int", "6"), ("int", "6")]
    assert difference(source, 0, "eager") is None


def test_what_differs_only_after_a_change_is_found() -> None:
    source = CHANGING_PROGRAM.format(seen="id(x) if lib.scale == 6 else 1")
    found = difference(source, 0, "eager")
    assert found is not None and found.call == 1


def test_each_change_can_be_made_in_some_world() -> None:
    ways = CALLS + CLASS_CALLS
    never = set(CHANGES)
    for way in ways:
        for name in sorted(never):
            world: dict[str, Any] = {"__name__": "user"}
            exec(compile(WORLD + CLASS_WORLD, "<world>", "exec", dont_inherit=True), world)
            first = "helper.tag = counting.calls = Made.absent = 1; lazy = Lazy(limit); lazy.doubled"
            exec(first, world)
            box = world["lazy"] if "cached property" in name else None
            arguments = dict(zip(ARGUMENTS, eval(way, world), strict=False))
            if box is not None:
                arguments["box"] = box
            if name in BEFORE:
                exec(BEFORE[name], world, arguments)
            with undone() as tools, contextlib.suppress(Exception):
                exec(CHANGES[name], world | arguments | tools)
                never.discard(name)
    assert never == set()


def test_the_process_is_as_before_when_a_run_ends() -> None:
    names = [name for name in CHANGES if name.startswith(("patch", "default dtype", "gradients", "deterministic"))]
    before = abs, torch.sin, torch.abs, torch.Tensor.relu, torch.Tensor.__add__, nn.functional.dropout
    source = f"CHANGES_BEFORE = [[], {names!r}]\n\ndef f(x, y, n, items, box, opts):\n    return x + 1\n"
    run(source, 0, None)
    assert (abs, torch.sin, torch.abs, torch.Tensor.relu, torch.Tensor.__add__, nn.functional.dropout) == before
    state = torch.get_default_dtype(), torch.is_grad_enabled(), torch.are_deterministic_algorithms_enabled()
    assert state == (torch.float32, True, False)
