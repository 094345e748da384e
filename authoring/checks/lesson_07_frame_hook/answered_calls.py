"""Step 07.6: who answers a call."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

ANSWERED_CALLS = Step(
    "07.6",
    "a call is answered",
    file="frames",
    minutes=20,
    hints=(
        "Four ways out: no Python function, or one that may not be taken; one that the frame refuses; no tensor in"
        " sight; and"
        " the compiler. The first two call the function as it is.",
        "frame = HookedFrame(taken, slots, kwargs) may raise Unsupported. in_sight is asked of each of"
        " frame.locals.values().",
        "A Region for each code and its globals: self.regions.setdefault((taken.__code__, id(taken.__globals__)),"
        " Region(taken, self.backend)), and its run(frame). For CALL_BACK replace args and kwargs by what self.seen"
        " gives.",
    ),
)
SECTION = "Which frames are worth it"


def inner(x: Any) -> Any:
    return x / x.sum().item()


def outer(x: Any) -> Any:
    return inner(inner(x) + 1)


def size(x: Any) -> Any:
    return (x * x).sum().item()


def rank(tensors: Any) -> Any:
    return [x.tolist() for x in sorted(tensors, key=size)]


def loop(n: Any) -> Any:
    return twice(n) + twice(n + 1)


def twice(n: Any) -> Any:
    return 2 * n


def make(numbers: Any) -> Any:
    return size(tensor_of(numbers))


def tries(x: Any) -> Any:
    try:
        return x * 2
    except ValueError:
        return x


tensor_of: Any = None  # mini's tensor, while a case runs


class Backend:
    def __init__(self) -> None:
        self.calls: list[str] = []

    def __call__(self, graph: Any) -> Any:
        self.calls += [str(node.op) for node in graph.nodes]
        return graph.run


def hook_of(mini: Any) -> tuple[Any, Backend]:
    backend = Backend()
    return mini.frames.FrameHook(backend), backend


def names(hook: Any) -> list[str]:
    return [region.function.__name__ for region in hook.regions.values()]


def numbers(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def judge(mini: Any, function: Any, args: tuple[Any, ...], regions: list[str], why: str) -> Backend:
    """Under the hook the function gives what it gives, and these functions have gone to the compiler."""
    hook, backend = hook_of(mini)
    expected = numbers(function(*args))
    for _ in range(2):
        got = numbers(outcome(hook.call, (function, *args)))
        if got != expected:
            raise WrongAnswer(f"{function.__name__} under the hook: expected {expected}, got {got!r}", why)
    if sorted(names(hook)) != sorted(regions):
        fact = f"{function.__name__} was called twice under the hook: compiled were {names(hook)}, expected {regions}"
        raise WrongAnswer(fact, why)
    return backend


@ANSWERED_CALLS.case("everything else as it is", points=2, section=SECTION)
def _(mini: Any) -> None:
    x = mini.tensor.tensor([1.0, 3.0])
    judge(mini, len, ([1, 2],), [], "A function written in C is called as it is.")
    judge(mini, x.sum, (), [], "A method of a tensor belongs to the machine: it may not be taken.")
    why = "Your interpreter refuses a function with `try`. The frame raises Unsupported; then CPython runs it."
    judge(mini, tries, (x,), [], why)


@ANSWERED_CALLS.case("a call with tensors goes to the compiler", points=2, section=SECTION)
def _(mini: Any) -> None:
    x = mini.tensor.tensor([1.0, 3.0])
    judge(mini, size, (x,), ["size"], "There is a tensor in sight: a Region of the function runs the frame.")
    why = "A break in the outer function leaves the inner ones compiled: a Region for each function, and only one."
    backend = judge(mini, outer, (x,), ["outer", "inner"], why)
    for op in ("sum", "div", "add"):
        if op not in backend.calls:
            raise WrongAnswer(f"outer under the hook: the backend was given {backend.calls}, and no {op}", why)


@ANSWERED_CALLS.case("without tensors: interpreted, and its calls are seen", points=2, section=SECTION)
def _(mini: Any) -> None:
    why = "There is no tensor in sight: nothing is to be compiled."
    judge(mini, loop, (3,), [], why)
    why = "The frame runs for real, in the interpreter, so that what it calls comes here: size has a tensor."
    globals()["tensor_of"] = mini.tensor.tensor
    judge(mini, make, ([1.0, 2.0],), ["size"], why)


@ANSWERED_CALLS.case("called back by C", points=1, section="Four ways to stand in the way")
def _(mini: Any) -> None:
    tensors = [mini.tensor.tensor([3.0, 4.0]), mini.tensor.tensor([1.0])]
    why = "sorted is written in C, and calls size itself. Give it, in place of each function, one that calls it here."
    hook, _ = hook_of(mini)
    got = outcome(hook.call, (rank, tensors))
    if got != [[1.0], [3.0, 4.0]] or "size" not in names(hook):
        raise WrongAnswer(
            f"rank, which sorts by size, gave {got!r}; compiled were {names(hook)}, and size must be", why
        )
