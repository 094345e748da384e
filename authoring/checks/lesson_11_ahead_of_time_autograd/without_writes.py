"""Exercise 11.4: a call without writes."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried
from ..lesson_08_autograd.nudging import doubles

WITHOUT_WRITES = Step(
    "11.4",
    "a call without writes",
    file="aot",
    minutes=25,
    hints=(
        "now: the newest value of each memory, by the node whose memory it is. The value of any node is"
        " its views, followed from"
        " now[base]; so a view that was made before a write sees it.",
        "A write: new is its second argument, cast and expanded to the first one's dtype and sizes, and cloned; then"
        " now[base] = replaced(now[base], views, new). A View computes nothing. Any other op: now[node] ="
        " node.op(*args).",
        "finish: results are the computed outputs, then the new values of written inputs. Take the"
        " outputs, copy_ the others into"
        " inputs[i], and only then make the views: self.value, of now with the inputs and the computed outputs.",
    ),
)
SECTION = "Programs that write"


def programs(mini: Any) -> list[tuple[str, Any, str]]:
    ops, part = mini.ops, lambda x: mini.ops.slice_(x, 0, 0, 1, 1)

    def double(x: Any, y: Any) -> Any:
        ops.copy_(x, ops.mul(x, 2))
        return [ops.add(x, y)]

    def view_first(x: Any, y: Any) -> Any:
        view = part(x)
        ops.copy_(x, y)
        return [ops.mul(view, 1)]

    def into_view(x: Any, y: Any) -> Any:
        ops.copy_(part(x), part(y))
        return [ops.mul(x, 1), part(x)]

    def stretched(x: Any, y: Any) -> Any:
        z = ops.mul(x, 1)
        ops.copy_(z, ops.to_(part(y), "float32"))
        return [z]

    def swapped(x: Any, y: Any) -> Any:
        old = ops.clone(y)
        ops.copy_(y, x)
        ops.copy_(x, old)
        return [old]

    return [
        ("x * 1, y + x", lambda x, y: [ops.mul(x, 1), ops.add(y, x)], "No writes: each op is called."),
        ("x.copy_(x * 2); x + y", double, "The argument itself never learns what was written: finish copies it in."),
        (
            "v = x[:1]; x.copy_(y); v * 1",
            view_first,
            "A view made before the write sees it: follow it from the newest value.",
        ),
        (
            "x[:1].copy_(y[:1]); x * 1, x[:1]",
            into_view,
            "Only a part was written: replaced puts it where the views look.",
        ),
        (
            "z = x * 1; z.copy_(y[:1] in float32)",
            stretched,
            "What is written takes the sizes and dtype of what it is written into.",
        ),
        (
            "swap x and y",
            swapped,
            "A new value must not be an argument's own memory, which is written to at the end: clone.",
        ),
    ]


@WITHOUT_WRITES.case("as eagerly", points=3, section=SECTION)
def _(mini: Any) -> None:
    for text, f, why in programs(mini):
        args = [doubles(mini, [1.0, 2.0]), doubles(mini, [30.0, 40.0])]
        mine = [doubles(mini, x.tolist()) for x in args]
        graph = mini.graph.trace(f, *args)
        wanted = [out.tolist() for out in f(*args)]
        functional = mini.aot.Functional(graph)
        results = tried(f"{text}: functional(x, y)", why, functional, *mine)
        expect(
            f"{text}: x and y after the call",
            [[1.0, 2.0], [30.0, 40.0]],
            [x.tolist() for x in mine],
            "A call writes to nothing.",
        )
        outputs = tried(f"{text}: finish([x, y], results)", why, functional.finish, mine, results)
        expect(f"{text}: the outputs", wanted, [out.tolist() for out in outputs], why)
        expect(f"{text}: x and y in the end", [x.tolist() for x in args], [x.tolist() for x in mine], why)
        expect(f"{text}: dtypes", ["float64"] * len(outputs), [out.dtype.name for out in outputs], why)


@WITHOUT_WRITES.case("no writes are left", points=1, section=SECTION)
def _(mini: Any) -> None:
    for text, f, _why in programs(mini):
        args = [doubles(mini, [1.0, 2.0]), doubles(mini, [30.0, 40.0])]
        graph = tried(text, "", mini.graph.trace, mini.aot.Functional(mini.graph.trace(f, *args)), *args)
        if any(node.writes for node in graph.nodes):
            raise WrongAnswer(f"{text}, traced again:\n{graph}", "A write is a value: this graph is to have none.")


@WITHOUT_WRITES.case("views of arguments", points=1, section=SECTION)
def _(mini: Any) -> None:
    x = doubles(mini, [1.0, 2.0])
    functional = mini.aot.Functional(mini.graph.trace(lambda x: [mini.ops.slice_(x, 0, 0, 1, 1), x], x))
    out, same = tried("finish", "", lambda: functional.finish([x], functional(x)))
    if out.storage is not x.storage or same is not x:
        raise WrongAnswer(
            "x[:1] and x as outputs do not share x's memory", "They are made of the argument itself, by follow."
        )
