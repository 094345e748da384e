"""One random program, plain and compiled; and the smallest part of it that shows a difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import minitorch_compile as torch
from minitorch_compile.compiler.backends import lookup_backend
from tests.aot.aliasing.observe import difference, observe
from tests.aot.aliasing.program import Program, grow
from tests.aot.aliasing.worlds import world_of
from tests.aot.compare import captured

# What the documentation says is refused: a clean break, no wrong answer.
LIMITS = (NotImplementedError,)


@dataclass(frozen=True)
class Case:
    """A program, the seed of its arguments, and how it is compiled: by a backend alone, or by `torch.compile`."""

    program: Program
    seed: int
    backend: str
    traced: bool
    sharing: bool

    @property
    def script(self) -> str:
        how = "torch.compile" if self.traced else "the backend alone"
        return f"# world_of({self.seed}, {self.sharing}), {self.backend}, {how}\n{self.program.source}"


def case_of(seed: int, backend: str) -> Case:
    """The case of that seed: every third is traced from Python, two of five have arguments that share memory."""
    traced, sharing = seed % 3 == 0, seed % 5 < 2
    program = grow(seed, world_of(seed, sharing), length=2 + seed % 9, metadata=traced)
    return Case(program, seed, backend, traced, sharing)


def compiled(case: Case) -> Callable[..., Any]:
    """The program, compiled as the case says."""
    function = case.program.function()
    if case.traced:
        return torch.compile(function, backend=case.backend)
    backend = lookup_backend(case.backend)
    return lambda *arguments: backend(captured(function, len(arguments)), arguments)(*arguments)


def compare(case: Case) -> str:
    """How compiled differs from plain; empty if it doesn't, "refused: ..." where the documentation says so."""
    expected = observe(case.program.function(), world_of(case.seed, case.sharing))
    came = observe(compiled(case), world_of(case.seed, case.sharing))
    error = came.get("error")
    cause = getattr(error, "__cause__", None)
    if "error" not in expected and (isinstance(error, LIMITS) or isinstance(cause, LIMITS)):
        return f"refused: {cause or error}"
    return "" if _is_permitted(case, came, expected) else difference(came, expected)


def _is_permitted(case: Case, came: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Whether the difference is one of those that are known."""
    plain_error, plain_gradients = str(expected.get("error", "")), str(expected.get("gradients", ""))
    # Two things are wrong with a line, and compiled code finds the other one first.
    if "leaf Variable" in plain_error and "error" in came:
        return True
    # Eager autograd can't go back through such a window; as a window of its base it could.
    if any(words in plain_gradients for words in ("no gradient can be sent there", "a base without gaps")):
        return True
    # A method that changes the look of a tensor, and a write with out=, are done after the graph. Plainly they count as
    # writes to a saved value, where compiled code has saved one of its own; and for autograd a graph is one operation,
    # so that a write to one of its results touches all of them.
    late = ("t_()", "squeeze_(", "transpose_(", "swapaxes_(", "detach_(", "out=")
    if not case.traced or not any(word in case.program.source for word in late) or "error" in {*came, *expected}:
        return False
    return "modified by an inplace operation" in plain_gradients + str(came["gradients"])


def smallest(case: Case) -> Case:
    """The case without the lines and returned values that the difference doesn't need."""
    shrinking = True
    while shrinking:
        shrinking = False
        for candidate in _smaller(case):
            if _fails(candidate):
                case, shrinking = candidate, True
                break
    return case


def _smaller(case: Case) -> Any:
    program = case.program
    for i in reversed(range(len(program.lines))):
        yield replace(case, program=replace(program, lines=[*program.lines[:i], *program.lines[i + 1 :]]))
    for i in range(len(program.returned)):
        if len(program.returned) > 1:
            yield replace(case, program=replace(program, returned=[*program.returned[:i], *program.returned[i + 1 :]]))


def _fails(case: Case) -> bool:
    try:
        plain = observe(case.program.function(), world_of(case.seed, case.sharing))
        if isinstance(plain.get("error"), (NameError, SyntaxError)):
            return False
        found = compare(case)
    except Exception:
        return False
    return bool(found) and not found.startswith("refused")
