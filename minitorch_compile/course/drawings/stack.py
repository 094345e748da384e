"""Draw a frame while it runs: a row for each instruction, with the value stack and the slots that it left behind.

>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> from minitorch_compile.dynamo.execution.concrete import ConcreteInterpreter
>>> def discount(price, percent):
...     return price - price * percent
>>> draw_run(ConcreteInterpreter(decode(discount.__code__), {"price": 80, "percent": 0.25}, {}))
       at entry                              price = 80, percent = 0.25
  0    LOAD_FAST            'price'    80
  1    LOAD_FAST            'price'    80 | 80
  2    LOAD_FAST            'percent'  80 | 80 | 0.25
  3    BINARY_OP            '*'        80 | 20.0
  4    BINARY_OP            '-'        60.0
  5    RETURN_VALUE                    returns 60.0

A value keeps its colour from the instruction that pushed it to the one that takes it away. Values are shown by their
`repr`, so a frame that computes with symbols is drawn in the same way.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from minitorch_compile.svg import INK, PALETTE, Drawing, box, label, line_colour

MOST_ROWS = 60
LONGEST, LONGEST_RESULT = 22, 44
LINE, CHARACTER, LEFT, PAD = 24, 7.3, 10, 8
SMALL = 12
KEEP_SPACES: dict[str, Any] = {"xml:space": "preserve"}
HEADING = "stack after it, top to the right"


class DrawableFrame(Protocol):
    """What can be drawn: the package's interpreters, and the ones that a lesson builds."""

    instructions: Sequence[Any]
    index: int
    stack: list[Any]
    locals: dict[str, Any]
    outcome: Any

    def step(self) -> None: ...


@dataclass(frozen=True)
class ExecutedInstruction:
    """One instruction that was executed. `cells` are the stack after it, from the bottom: the text of each value, and
    which step pushed it. `note` tells how it ended, if not by going on to the next instruction."""

    index: int | None
    instruction: str
    cells: tuple[tuple[str, int], ...]
    note: str = ""
    raised: bool = False
    slots: str = ""


def draw_run(frame: DrawableFrame, most: int = MOST_ROWS) -> Drawing:
    """Run the frame to its end and draw it. An exception that leaves the frame is the last row, and is not raised.

    ValueError if it takes more than `most` steps.
    """
    return _drawing(recorded_steps(frame, most))


def recorded_steps(frame: DrawableFrame, most: int = MOST_ROWS) -> list[ExecutedInstruction]:
    """The steps of a run, the first one standing for the arguments."""
    steps = [ExecutedInstruction(None, "at entry", (), slots=_changes({}, frame.locals))]
    cells: list[tuple[Any, int]] = []  # the values on the stack, each with the number of the step that pushed it
    while frame.outcome is None:
        if len(steps) > most:
            raise ValueError(f"draw_run: more than {most} steps; draw a shorter run, or give a larger `most`")
        index, before = frame.index, dict(frame.locals)
        text = str(frame.instructions[index])
        try:
            frame.step()
        except Exception as error:  # noqa: BLE001 (whatever leaves the frame is the end of the drawing)
            return [
                *steps,
                ExecutedInstruction(index, text, (), f"{type(error).__name__} leaves the frame", raised=True),
            ]
        cells = _followed(cells, frame.stack, len(steps))
        shown = tuple((_short(value), born) for value, born in cells)
        note, raised = _note(frame, index)
        steps.append(ExecutedInstruction(index, text, shown, note, raised, _changes(before, frame.locals)))
    return steps


def _followed(cells: list[tuple[Any, int]], stack: Sequence[Any], number: int) -> list[tuple[Any, int]]:
    """The new stack; what lies where it lay before, under no change, is the same value."""
    kept = 0
    while kept < min(len(cells), len(stack)) and cells[kept][0] is stack[kept]:
        kept += 1
    return cells[:kept] + [(value, number) for value in stack[kept:]]


def _note(frame: DrawableFrame, index: int) -> tuple[str, bool]:
    """How the instruction ended, and whether by raising."""
    if frame.outcome is not None:
        verb = "yields" if type(frame.outcome).__name__ == "Yielded" else "returns"
        return f"{verb} {_short(frame.outcome.value, LONGEST_RESULT)}", False
    if frame.index == index + 1:
        return "", False
    if frame.instructions[index].target is None:
        return f"raises, on to {frame.index}", True
    return f"on to {frame.index}", False


def _short(value: Any, longest: int = LONGEST) -> str:
    is_suspended = isinstance(value, (Generator, Coroutine))  # its name is that of its function
    text = repr(value) if is_suspended else getattr(value, "__name__", None) or repr(value)
    if isinstance(value, BaseException) and len(text) > longest:
        text = f"{type(value).__name__}(…)"
    if text.startswith("<") and " object at 0x" in text:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    changed = [f"{name} = {_short(value)}" for name, value in after.items() if before.get(name, after) is not value]
    return ", ".join([*changed, *(f"{name} is empty" for name in before if name not in after)])


# ------------------------------------------------------------------------------------------------ text and picture


def _drawing(steps: Sequence[ExecutedInstruction]) -> Drawing:
    instructions = max(len(step.instruction) for step in steps)
    stack_x = LEFT + (5 + instructions) * CHARACTER + 10
    slots_x = max(stack_x + len(HEADING) * CHARACTER, *(_stack_end(step, stack_x) for step in steps)) + 24
    width = max(slots_x + len(step.slots) * CHARACTER for step in steps) + LEFT
    parts = [
        label(LEFT, 16, "instruction", size=SMALL, anchor="start", opacity=0.7),
        label(stack_x, 16, HEADING, size=SMALL, anchor="start", opacity=0.7),
        label(slots_x, 16, "slots", size=SMALL, anchor="start", opacity=0.7),
    ]
    for row, step in enumerate(steps):
        parts += _row(step, 24 + row * LINE, stack_x, slots_x)
    return Drawing(max(width, slots_x + 40), 32 + len(steps) * LINE, parts, _text(steps, instructions))


def _row(step: ExecutedInstruction, y: float, stack_x: float, slots_x: float) -> list[str]:
    middle = y + LINE / 2 + 4
    index = "" if step.index is None else str(step.index)
    parts = [label(LEFT + 22, middle, index, anchor="end", size=SMALL, opacity=0.6)]
    parts.append(label(LEFT + 34, middle, step.instruction, size=SMALL, anchor="start", **KEEP_SPACES))
    x = stack_x
    for text, born in step.cells:
        width = _cell_width(text)
        parts.append(box(x, y + 2, width, LINE - 4, PALETTE[born % len(PALETTE)], rx=3))
        parts.append(label(x + width / 2, middle, text, size=SMALL, fill=INK))
        x += width + 3
    if step.note:
        colour: dict[str, Any] = {"fill": line_colour(0)} if step.raised else {"opacity": 0.75}
        parts.append(label(x + 6, middle, step.note, size=SMALL, anchor="start", **colour))
    if step.slots:
        parts.append(label(slots_x, middle, step.slots, size=SMALL, anchor="start"))
    return parts


def _cell_width(text: str) -> float:
    return max(26.0, len(text) * CHARACTER + 2 * PAD)


def _stack_end(step: ExecutedInstruction, start: float) -> float:
    return start + sum(_cell_width(text) + 3 for text, _ in step.cells) + len(step.note) * CHARACTER


def _text(steps: Sequence[ExecutedInstruction], width: int) -> str:
    middles = [" | ".join(text for text, _ in step.cells) for step in steps]
    middles = [" ".join(filter(None, [middle, step.note])) for middle, step in zip(middles, steps)]
    space = max(map(len, middles))
    lines = []
    for step, middle in zip(steps, middles):
        index = "" if step.index is None else str(step.index)
        lines.append(f"{index:>3}    {step.instruction:<{width}}  {middle:<{space}}  {step.slots}".rstrip())
    return "\n".join(lines)
