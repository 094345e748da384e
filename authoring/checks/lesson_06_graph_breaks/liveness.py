"""Exercise 06.1: what must be carried over a break, and the package carrying it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.dynamo.bytecode.control_flow import successors
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.instructions import Program
from minitorch_compile.dynamo.bytecode.liveness import READS, WRITES
from minitorch_compile.dynamo.eval_frame import region_of

LIVENESS = Exercise(
    "06.1",
    "what is carried over",
    answer="live_slots",
    minutes=20,
    place="dynamo.live_slots",
    hints=(
        "Start from the lesson's live_at. Two things are new: the sets READS and WRITES, and handlers.",
        "An instruction that raises goes to its handler before it has written anything. So what is live at the handler"
        " is added last, after the writes are taken out.",
        "before = (after - writes) | reads | (live[entry.target] if entry else set()), where entry ="
        " program.handler_of(i), again and again until nothing changes.",
    ),
)
SECTION = "What is carried over"


def straight(width: int, height: int, unit: str) -> Any:
    product = width * height
    return product, unit


def branching(flag: bool, a: int, b: int) -> int:
    if flag:
        return a
    return b


def looping(count: int, step: int) -> int:
    total = 0
    for _ in range(count):
        total = total + step
    return total


def nested(rows: list[list[int]], scale: int) -> int:
    best = 0
    for row in rows:
        for value in row:
            if value > best:
                best = value * scale
    return best


def deleting(a: int, b: int) -> int:
    c = a + b
    del a
    return c


def trying(path: str, default: str, log: list[str]) -> str:
    try:
        text = path.strip()
        log = []
    except ValueError:
        log.append("failed")
        return default
    return text


def programs() -> Iterator[tuple[str, Program]]:
    for function in (straight, branching, looping, nested, deleting, trying):
        yield function.__name__, decode(function.__code__)


def reaches(program: Program, index: int, slot: str, *, loops: bool = True, handlers: bool = True) -> bool:
    """Whether a way from the instruction reads the slot before it writes it: searched for, slot by slot."""
    seen, pending = set(), [index]
    while pending:
        i = pending.pop()
        if i in seen:
            continue
        seen.add(i)
        inst = program.instructions[i]
        if inst.opname in READS and inst.argval == slot:
            return True
        entry = program.handler_of(i) if handlers else None
        if entry is not None:
            pending.append(entry.target)
        if not (inst.opname in WRITES and inst.argval == slot):
            pending += [j for j in successors(program, i) if loops or j > i]
    return False


def truth(program: Program, index: int, **options: bool) -> set[str]:
    return {slot for slot in program.slot_names if reaches(program, index, slot, **options)}


def read_anywhere(program: Program, index: int) -> set[str]:
    """Everything that is read further down, written before or not."""
    return {inst.argval for inst in program.instructions[index:] if inst.opname in READS}


def read_next(program: Program, index: int) -> set[str]:
    """Without the jumps: as if the program went straight down."""
    live: set[str] = set()
    for inst in reversed(program.instructions[index:]):
        live = live - ({inst.argval} if inst.opname in WRITES else set())
        live = live | ({inst.argval} if inst.opname in READS else set())
    return live


MISTAKES: tuple[tuple[str, Callable[[Program, int], set[str]]], ...] = (
    (
        "A loop leads back to instructions that you had already looked at. Repeat until nothing changes.",
        lambda program, index: truth(program, index, loops=False),
    ),
    (
        "An instruction inside `try` may raise, and then the handler is next: what is live there is live here.",
        lambda program, index: truth(program, index, handlers=False),
    ),
    ("A slot that is written before it is read isn't live: its old content doesn't matter.", read_anywhere),
    ("A jump has another successor than the next instruction: ask successors(program, i).", read_next),
    ("These are all slots. Live are only those that will still be read.", lambda p, index: set(p.slot_names)),
)


def judge(answer: Callable[..., Any], names: tuple[str, ...]) -> None:
    trials = []
    for name, program in programs():
        if name not in names:
            continue
        for index in range(len(program.instructions)):
            trials.append((name, program, index, truth(program, index), outcome(answer, (program, index))))
    for name, program, index, expected, got in trials:
        inst = program.instructions[index]
        where = f"`{name}`, at instruction {index} ({' '.join(str(inst).split())})"
        if not isinstance(got, set | frozenset):
            raise WrongAnswer(f"{where}: expected a set of names, got {got!r}")
        if got != expected:
            raise WrongAnswer(
                f"{where}: expected {sorted(expected)}, got {sorted(got)}", idea(trials, program, index, got)
            )


def idea(trials: list[Any], program: Program, index: int, got: Any) -> str:
    """The mistake that explains this answer; of several, the one that explains most of the others, too."""
    fitting = [(why, gives) for why, gives in MISTAKES if gives(program, index) == got]

    def explained(mistake: tuple[str, Callable[[Program, int], set[str]]]) -> int:
        return sum(mistake[1](p, i) == found for _, p, i, _, found in trials)

    return max(fitting, key=explained)[0] if fitting else "Is there a way from here on which the slot is read first?"


@LIVENESS.case("straight down, and branches", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, ("straight", "branching", "deleting"))


@LIVENESS.case("loops", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, ("looping", "nested"))


@LIVENESS.case("exceptions", points=1, section="In the middle of things")
def _(answer: Callable[..., Any]) -> None:
    judge(answer, ("trying",))


@LIVENESS.case("spliced in, the package carries over what you say", points=2, section="The package's own")
def _(answer: Callable[..., Any]) -> None:
    def f(x: Any, unused: Any, factor: Any) -> Any:
        y = x * factor
        z = y + unused
        largest = z.max().item()
        return y * factor, largest

    def run() -> tuple[Any, tuple[str, ...]]:
        fast = torch.compile(f, backend="eager")
        result, largest = fast(torch.tensor([1.0, 2.0]), torch.tensor(1.0), torch.tensor(3.0))
        return (result.tolist(), largest), region_of(fast).caches[1].code.co_varnames[:2]

    with splice("dynamo.live_slots", answer):
        got = outcome(run, ())
    if not isinstance(got, tuple) or got[0] != ([9.0, 18.0], 7.0):
        raise WrongAnswer(f"a compiled function with a break: expected ([9.0, 18.0], 7.0), got {got!r}")
    if set(got[1]) != {"factor", "y"}:
        raise WrongAnswer(
            f"its resume function should get factor and y; with your live_slots its first arguments are {got[1]}",
            "x, z and `unused` aren't read any more after the break.",
        )
