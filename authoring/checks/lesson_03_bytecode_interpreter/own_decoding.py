"""Exercise 03.4: a code object becomes a list of instructions whose jumps say which instruction they lead to."""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import attempt, expect

OWN_DECODING = Step(
    "03.4",
    "decoding",
    file="interpreter",
    minutes=20,
    hints=(
        "Two passes. In the first, append what `parts` gives, and note for each offset how many there were before it."
        " A jump forward leads to what has no number yet: so exchange the operands in the second.",
        "index_of[inst.offset] = len(result) comes before the parts are appended: also an instruction that means"
        " nothing can be the target of a jump. What stands last in the list is KW_NAMES, if a CALL has keywords.",
        "A CALL that comes right behind KW_NAMES is appended as CALL_KW. Second pass: if 'JUMP' is in the op or it is"
        " FOR_ITER, the operand becomes index_of[arg].",
    ),
)
SECTION = "Four dialects, one language"


def by_hand(mini: Any, code: CodeType) -> list[tuple[Any, ...]]:
    """The same, said in another way: first all starts, then the instructions, each with its target right away."""
    groups, named = [], False
    for inst in dis.get_instructions(code):
        named = named or inst.opname == "KW_NAMES"
        group = list(mini.interpreter.parts(inst))
        if named and group and group[0][0] == "CALL":
            group, named = [("CALL_KW", group[0][1])], False
        groups.append((inst, group))
    starts = {inst.offset: sum(len(g) for _, g in groups[:at]) for at, (inst, _) in enumerate(groups)}
    found = []
    for _, group in groups:
        for op, arg in group:
            found.append((op, starts[arg] if "JUMP" in op or op == "FOR_ITER" else arg))
    return found


def straight(x: Any) -> Any:
    return x[1] - 2


def jumping(x: Any) -> Any:
    while x < 10:
        x = x + 1 if x % 2 else x * 2
    return x or None


def looping(items: Any) -> Any:
    total = 0
    for item in items:
        if item is None:
            break
        total += item
    return total


def naming(x: Any) -> Any:
    return print(x, end="")


def twice(x: Any) -> Any:
    return print(dict(a=x, b=1))  # noqa: C408 (names of keywords are wanted)


def decoded(mini: Any, function: Any, why: str) -> None:
    expected, got = by_hand(mini, function.__code__), attempt(mini.interpreter.decode, function.__code__)
    if isinstance(got, str):
        raise WrongAnswer(f"decode of {function.__name__}: {got}", why)
    if len(got) != len(expected):
        fact = f"decode of {function.__name__}: expected {len(expected)} instructions, got {len(got)}"
        raise WrongAnswer(f"{fact}: {' '.join(op for op, _ in got)}", why)
    offsets = {
        inst.argval for inst in dis.get_instructions(function) if "JUMP" in inst.opname or inst.opname == "FOR_ITER"
    }
    for at, (want, have) in enumerate(zip(expected, got, strict=True)):
        if want[0] == have[0] and want[1] != have[1] and have[1] in offsets:
            why = "This operand is still an offset in bytes. An operand of a jump is an index into your list."
        expect(f"decode of {function.__name__}, instruction {at}", want, have, why)


@OWN_DECODING.case("straight on", points=1, section=SECTION)
def _(mini: Any) -> None:
    decoded(mini, straight, "Each instruction is what `parts` makes of it.")


@OWN_DECODING.case("jumps", points=2, section=SECTION)
def _(mini: Any) -> None:
    why = "How many parts stand before it? What stands at the offset that argval names begins where in your list?"
    decoded(mini, jumping, why)
    decoded(mini, looping, why)


@OWN_DECODING.case("names of keywords", points=1, section=SECTION)
def _(mini: Any) -> None:
    decoded(mini, naming, "KW_NAMES is about the next CALL: it becomes a CALL_KW.")
    decoded(mini, twice, "KW_NAMES is about one call only, the next, and then it is forgotten.")


def caught() -> int:
    try:
        return 1
    except ValueError:
        return 2


async def waiting() -> int:
    return 1


@OWN_DECODING.case("what has no handler is refused by name", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = (
        "Nobody could run it. Raise Unsupported, and name the instruction: it has no handler, Frame has no such method."
    )
    for function, named in ((caught, "PUSH_EXC_INFO"), (waiting, "waiting")):
        got = attempt(mini.interpreter.decode, function.__code__)
        if not (isinstance(got, str) and got.startswith("Unsupported") and named in got):
            told = got if isinstance(got, str) else f"{len(got)} instructions"
            raise WrongAnswer(f"decode of {function.__name__}: expected Unsupported with {named}, got {told}", why)
