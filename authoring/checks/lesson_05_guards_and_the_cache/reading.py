"""Step 05.5: everything that is read leaves a guard."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from .own_frames import frame_of, judge_worlds, local, read

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


class Told:
    """Is no number, and looks like one."""

    def __repr__(self) -> str:
        return "2"


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
    (2, Told(), False, "What is shown as 2 need not be a 2: its type must be what it was, too."),
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


@READING.case("a tensor whose batch is dynamic", points=1, section="A size as a formula")
def _(mini: Any) -> None:
    x = mini.tensor.tensor([[1.0], [2.0], [3.0]])
    given: list[Any] = []
    guards, frame = mini.guards.Guards(True), frame_of(mini, x=x)

    def make_input(source: Any, example: Any) -> Any:
        given.append(example)
        return example

    guards.read(local(mini, "x"), x, make_input)
    why = "If is_dynamic says so: about(tensor, 1) must stay, and make_input gets with_batch(self, source, value)."
    if not isinstance(given[0].sizes[0], mini.sizes.Size):
        raise WrongAnswer(f"dynamic: make_input got sizes {given[0].sizes}", why)
    frame.locals["x"] = mini.tensor.tensor([[1.0], [2.0]])
    if guards.first_failing(frame) is not None:
        raise WrongAnswer(f"dynamic, traced with (3, 1), called with (2, 1): {guards.first_failing(frame)} fails", why)


@READING.case("anything else is read part by part", points=1, section=SECTION)
def _(mini: Any) -> None:
    judge_worlds(mini, {"x": [1, (2, "a")]}, {"x": [1, (2, "a")]}, True, "An equal list holds equal things.")
    why = "remade asks `part` to read each item. part reads at source.item(key), or at source.attr(key)."
    judge_worlds(mini, {"x": [1, (2, "a")]}, {"x": [1, (2, "b")]}, False, why)
    thing, other = Told(), Told()
    guards, _, _ = read(mini, x=thing)
    if str(guards.source_of(thing)) != "x":
        raise WrongAnswer("source_of knows nothing of an object that was read", "Whatever was read is remembered.")
    same = "One object was read on two paths: now there are two."
    judge_worlds(mini, {"a": thing, "b": thing}, {"a": thing, "b": other}, False, same)
    itself: list[Any] = [1]
    itself.append(itself)
    try:
        guards, _, used = read(mini, x=itself)
    except RecursionError:
        early = "What `remember` is called with is remembered at once: self.remember(mine, value, source)."
        raise WrongAnswer("x = [1, x]: reading it never ends", early) from None
    if used["x"][1] is not used["x"]:
        own = "`remember` is called with the trace's own list: whoever meets x in it gets that one, not the program's."
        raise WrongAnswer("x = [1, x]: the trace's list does not lie in itself", own)
    filled = "text.format(source, *seen) is the guard's text."
    expect("x = [1, x]: the first guard", "type(x) is list and len(x) == 2", str(guards[0]), filled)
    keyed = "A dictionary's key is no item: of a step 'key' `part` gives the key as it is, and requires nothing."
    guards, _, _ = read(mini, x={7: 1})
    expect("x = {7: 1}: the guards", ["type(x) is dict and list(x) == [7]", "x[7] == 1"], list(map(str, guards)), keyed)
    inner = "An attribute is found at source.attr(key), an item at source.item(key): getattr(source, step)(key)."
    guards, _, _ = read(mini, x=[].append)
    if not any("x.__self__" in str(guard) for guard in guards):
        raise WrongAnswer(f"x = [].append: the guards are {list(map(str, guards))}", inner)
    guards, frame, _ = read(mini, x=[[1], [2]])
    frame.locals["x"][1][0] = 3
    if str(guards.first_failing(frame)) != "x[1][0] == 2":
        raise WrongAnswer(f"x = [[1], [3]]: expected that 'x[1][0] == 2' fails, got {guards.first_failing(frame)}", why)
