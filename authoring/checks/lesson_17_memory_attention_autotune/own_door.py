"""Exercise 17.7: the door of one's own stack."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

OWN_DOOR = Step(
    "17.7",
    "the door",
    file="front",
    minutes=8,
    hints=(
        "A Region is a function and what was compiled for it; a backend is what it gives its graphs to.",
        "A module has no __code__, but can be called: wrap it in a function that calls it.",
        "An unknown name is a ValueError that lists the names there are: BACKENDS, and 'cuda', which is imported only"
        " when asked"
        " for.",
    ),
)
SECTION = "One program"
NAMES = "An unknown backend must be told, with the names there are, and not replaced by another."
MODULE = "A module is called, too, but has no bytecode of its own: wrap it in a function."
ONCE = "The same function object must keep what it compiled: one Region for all calls."


@OWN_DOOR.case("functions, on each backend", points=1, section=SECTION)
def _(mini: Any) -> None:
    x = mini.ops.from_numpy(np.array([1, -5, 2], np.float32))
    for backend in (None, "eager", "aot_eager", "inductor"):
        compiled = mini.front.compile(lambda v: (v + 1).relu().sum(), *([backend] if backend else []))
        got = [compiled(x).item(), compiled(x).item()]
        if got != [5.0, 5.0]:
            raise WrongAnswer(
                f"(x + 1).relu().sum() of [1, -5, 2] on {backend or 'the default'}: {got}, not 5.0 twice", ONCE
            )
        entries: list[Any] = getattr(compiled, "entries", list)()
        if len(entries) != 1:
            raise WrongAnswer(f"two calls on {backend} kept {len(entries)} graphs", ONCE)


@OWN_DOOR.case("the backend asked for", points=1, section=SECTION)
def _(mini: Any) -> None:
    x = mini.ops.from_numpy(np.array([1, 2], np.float32))
    for backend, kernels in (("eager", False), ("aot_eager", False), ("inductor", True)):
        compiled = mini.front.compile(lambda v: v + 1, backend)
        made: list[int] = []
        before = mini.emit.machine_code
        mini.emit.machine_code = lambda source, m=made, b=before: m.append(1) or b(source)
        try:
            compiled(x)
        finally:
            mini.emit.machine_code = before
        if bool(made) is not kernels:
            raise WrongAnswer(f"backend {backend!r} ran {len(made)} kernels", "Each name leads to its own backend.")
    try:
        mini.front.compile(lambda v: v, "tpu")
    except ValueError as error:
        if "inductor" not in str(error) or "tpu" not in str(error):
            raise WrongAnswer(f"compile(f, 'tpu') says {error}", NAMES) from None
    except Exception as error:
        raise WrongAnswer(f"compile(f, 'tpu') raises {type(error).__name__}: {error}", NAMES) from error
    else:
        raise WrongAnswer("compile(f, 'tpu') raises nothing", NAMES)


@OWN_DOOR.case("modules", points=1, section=SECTION)
def _(mini: Any) -> None:
    model = mini.nn.Linear(3, 2)
    x = mini.ops.from_numpy(np.ones((1, 3), np.float32))
    try:
        got = mini.front.compile(model)(x)
    except Exception as error:
        raise WrongAnswer(f"compile(Linear(3, 2)) raises {type(error).__name__}: {error}", MODULE) from error
    if not np.allclose(got.numpy(), model(x).numpy()):
        raise WrongAnswer("compile(Linear(3, 2)) gives another result than the module", MODULE)
