"""Exercise 04.10: attributes, read through guards and set when the graph has run."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from .own_traces import breaks, like_python, lines, whole

OWN_ATTRIBUTES = Step(
    "04.10",
    "attributes",
    file="tracer",
    minutes=20,
    hints=(
        "Reading, in this order: what the trace has set itself; a tensor's hidden parts, a Break; what"
        " has no source, or is a"
        " tensor or a container, plainly; a property, by inlining its fget; a method of the object; all"
        " else by trace.read.",
        "A method is bound to the object, which is guarded already: read only its __func__, from"
        " source.attr(name).attr('__func__'), and give types.MethodType of that and the object.",
        "Setting: of a cell that the trace made, and of anything that has a"
        " source, and is set in the"
        " plain way, note self.trace.attributes[id(obj), name] = obj, name, value. All others: a Break.",
    ),
)
SECTION, TRACKERS = "Where a value came from", "The package's trackers"


class Model:
    last: Any
    log: list[Any]

    def __init__(self, weight: Any) -> None:
        self.weight, self.scale, self.calls, self.log = weight, 2, 0, [0]

    @property
    def doubled(self) -> Any:
        return self.scale * 2

    @property
    def level(self) -> Any:
        return self.calls

    @level.setter
    def level(self, value: Any) -> None:
        self.calls = 10 * value

    def forward(self, x: Any) -> Any:
        return x @ self.weight * self.scale

    def __repr__(self) -> str:
        return f"Model({self.weight}, {self.scale}, {self.calls}, {self.log})"


def reads(model: Any, x: Any) -> Any:
    return model.forward(x) + model.doubled


@OWN_ATTRIBUTES.case("reading", points=2, section=SECTION)
def _(mini: Any) -> None:
    tensor = mini.tensor.tensor
    model, x = Model(tensor([[1.0], [2.0]])), tensor([[1.0, 1.0]])
    why = "The weight lies outside: read it by trace.read, with source.attr(name), and it is an input, guarded."
    trace = whole(mini, reads, (model, x), why)
    expected = ["matmul = matmul(x0, x1)", "mul = mul(matmul, 2)", "add = add(mul, 4)"]
    expect("the graph of x @ model.weight * model.scale + model.doubled", expected, lines(trace.record.graph), why)
    region = mini.breaks.Region(reads)
    before = region(model, x).tolist()
    model.scale, model.weight = 3, tensor([[2.0], [2.0]])
    got = before, region(model, x).tolist()
    why = "The second call met another scale and another weight. A guard must say so: trace.read makes one."
    expect("model(x), and again with another scale and weight", ([[10.0]], [[18.0]]), got, why)


class Noisy(Model):
    @property
    def doubled(self) -> Any:
        self.log.append("read")
        return self.scale * 2


@OWN_ATTRIBUTES.case("properties, hidden parts", points=1, section=TRACKERS)
def _(mini: Any) -> None:
    tensor = mini.tensor.tensor
    model = Noisy(tensor([[1.0], [2.0]]))
    why = "A property is a function of the program's. Go into it; if Python calls it while tracing, it leaves traces."
    whole(mini, reads, (model, tensor([[1.0, 1.0]])), why)
    expect("what the property has written into a list, while tracing", [0], model.log, why)
    for name in ("grad", "storage"):
        why = f"A fake has no {name} that means anything: break."
        breaks(mini, {"grad": reads_grad, "storage": reads_storage}[name], (tensor([1.0]),), why)


def reads_grad(x: Any) -> Any:
    return x.grad


def reads_storage(x: Any) -> Any:
    return x.storage


def counts(model: Any, x: Any) -> Any:
    model.calls += 1
    model.last = x * model.calls
    model.calls = model.calls + 1
    return model.last + model.calls


@OWN_ATTRIBUTES.case("setting", points=2, section=SECTION)
def _(mini: Any) -> None:
    tensor = mini.tensor.tensor
    model, x = Model(tensor([1.0])), tensor([1.0, 2.0])
    whole(mini, counts, (model, x), "What is set is remembered, and read again from there.")
    why = "Tracing only finds out. The real object changes when the graph has run: note it in trace.attributes."
    expect("model.calls after the trace", 0, model.calls, why)
    region = mini.breaks.Region(counts)
    got = [region(model, x).tolist() for _ in range(2)], model.calls, model.last.tolist()
    why = "An attribute that the trace has set itself is read from trace.attributes; the object still has the old one."
    expect("two calls, model.calls, model.last", ([[3.0, 4.0], [7.0, 10.0]], 4, [3.0, 6.0]), got, why)
    like_python(mini, counted, (x,), "A cell that the trace has made may be set.")


def counted(x: Any) -> Any:
    count = 0

    def bump(by: int) -> Any:
        nonlocal count
        count += by
        return x.sum().item() if by > 1 else x * count

    return bump(1), bump(2), count


def sets_level(model: Any, x: Any) -> Any:
    model.level = 3
    return x * model.calls


def sets_data(x: Any) -> Any:
    x.requires_grad = True
    return x * 2


@OWN_ATTRIBUTES.case("what is not set in the plain way", points=1, section=TRACKERS)
def _(mini: Any) -> None:
    tensor = mini.tensor.tensor
    why = "To set a property is to call a function: what it changes can't be known by its name. Break."
    breaks(mini, sets_level, (Model(tensor([1.0])), tensor([1.0])), why)
    breaks(mini, sets_data, (tensor([1.0]),), "The graph was recorded for a tensor as it was when it came in. Break.")

    def nothing() -> None:
        pass

    trace = mini.tracer.Trace(mini.interpreter.Frame(nothing, (), {}))
    try:
        trace.frame.apply(setattr, Model(1), "scale", 3)
    except mini.tracer.Break:
        return
    why = "An object without a source is not among what is set for real afterwards. Break."
    raise WrongAnswer("setattr of an object that nobody has read: expected a Break", why)
