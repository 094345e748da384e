"""Step 05.5: everything that is read leaves a guard."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .own_frames import judge_worlds, read

READING = Step(
    "05.5",
    "everything that is read",
    file="guards",
    minutes=20,
    hints=(
        "Four cases: a constant; a value that was met before; a tensor; anything else, of which `facts` says what"
        " must hold.",
        "A constant: require that type and repr are as they were. One met before: known has what the trace uses for it;"
        " if it was found on another path, require that both paths lead to one object.",
        "A tensor: require about(source.find(frame)) == about(value), and remember make_input(source, value). Anything"
        " else: text, *seen = facts(value); require that facts of what the source finds are (text, *seen); then"
        " remember"
        " remade(value, part, lambda mine: self.remember(mine, value, source)).",
    ),
)
SECTION = "Everything you read"
NAN = float("nan")
CONSTANTS: list[tuple[Any, Any, bool, str]] = [
    (2, 2, True, "An equal number is as good."),
    (2, 3, False, "The number was read. It is in the graph now."),
    (None, 0, False, "None was read, and something else came."),
    (1, True, False, "1, True and 1.0 are equal, but a graph with the one has other dtypes than with the other."),
    (1, 1.0, False, "1, True and 1.0 are equal, but a graph with the one has other dtypes than with the other."),
    (0.0, -0.0, False, "0.0 and -0.0 are equal, yet dividing by them is not: compare what repr tells."),
    (
        NAN,
        float("nan"),
        True,
        "NaN is not equal to itself: a guard with == would fail for ever. Compare what repr tells.",
    ),
    ("train", "train" + "", True, "An equal text is as good, whether or not it is the same object."),
    (range(2), range(3), False, "A range is a constant, too."),
]


@READING.case("a constant stays what it was", points=2, section=SECTION)
def _(mini: Any) -> None:
    for before, after, holds, why in CONSTANTS:
        judge_worlds(mini, {"x": before}, {"x": after}, holds, why)
        _, _, used = read(mini, x=before)
        if used["x"] is not before:
            raise WrongAnswer(f"read gave {used['x']!r} for the constant {before!r}", "A constant is used as it is.")


@READING.case("of a tensor everything but its numbers", points=2, section=SECTION)
def _(mini: Any) -> None:
    def tensor(*sizes: int, **options: Any) -> Any:
        x = mini.tensor.fake(sizes)
        vars(x).update(options)
        return x

    wide = tensor(2, 3)
    turned = mini.tensor.Tensor(tensor(3, 2).storage, tensor(3, 2).layout.permute((1, 0)))
    worlds = [
        (wide, tensor(2, 3), True, "Another tensor of the same kind will do: its numbers are an input of the graph."),
        (wide, tensor(2, 2), False, "A graph is made for certain sizes: about(tensor) has all that must stay."),
        (wide, turned, False, "The same sizes, but other strides: the program may have asked for them."),
        (wide, tensor(2, 3, requires_grad=True), False, "Whether a tape is wanted is a part of the graph."),
        (wide, 3, False, "A number came where a tensor was."),
    ]
    for before, after, holds, why in worlds:
        judge_worlds(mini, {"x": before}, {"x": after}, holds, why)
    guards, _, used = read(mini, x=wide)
    if used["x"] is wide or not isinstance(used["x"], mini.tensor.Tensor):
        raise WrongAnswer("read gave the tensor itself", "The trace works with the input that make_input gives.")
    if str(guards.source_of(used["x"])) != "x" or str(guards.source_of(wide)) != "x":
        raise WrongAnswer(
            "source_of knows nothing of the tensor that was read, or of its input",
            "Whatever was read is remembered: remember(what the trace uses, the value, the source).",
        )


@READING.case("a value that is met twice", points=2, section=SECTION)
def _(mini: Any) -> None:
    one, other = mini.tensor.fake((2,)), mini.tensor.fake((2,))
    _, _, used = read(mini, a=one, b=one)
    if used["a"] is not used["b"]:
        raise WrongAnswer(
            "the same tensor, as a and as b, became two inputs",
            "One object of the program is one object of the trace: known has what it uses for it.",
        )
    judge_worlds(mini, {"a": one, "b": one}, {"a": other, "b": other}, True, "Both are one again.")
    why = "One tensor was read on two paths, and is one input of the graph. Now there are two tensors."
    judge_worlds(mini, {"a": one, "b": one}, {"a": one, "b": other}, False, why)


@READING.case("anything else is read part by part", points=1, section=SECTION)
def _(mini: Any) -> None:
    judge_worlds(mini, {"x": [1, (2, "a")]}, {"x": [1, (2, "a")]}, True, "An equal list holds equal things.")
    why = "remade asks `part` to read each item. part reads at source.item(key), or at source.attr(key)."
    judge_worlds(mini, {"x": [1, (2, "a")]}, {"x": [1, (2, "b")]}, False, why)
    guards, frame, _ = read(mini, x=[[1], [2]])
    frame.locals["x"][1][0] = 3
    if str(guards.first_failing(frame)) != "x[1][0] == 2":
        raise WrongAnswer(f"x = [[1], [3]]: expected that 'x[1][0] == 2' fails, got {guards.first_failing(frame)}", why)
