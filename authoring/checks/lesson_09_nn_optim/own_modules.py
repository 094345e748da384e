"""Exercise 09.4: modules are trees of attributes."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

OWN_MODULES = Step(
    "09.4",
    "modules",
    file="nn",
    minutes=15,
    hints=(
        "vars(self) has the attributes in the order in which they were set. Three sorts matter: a parameter, a module,"
        " a list in which there are such. What do all others have in common?",
        "Turn a list into parts named name.0, name.1, ...; everything else is one part. A part that is a Module yields"
        " what its own named_parameters yields, with a longer prefix.",
        "A parameter is what has requires_grad that is True. To give each once, hand a set of ids down through the"
        " calls: part.named_parameters(f'{prefix}{path}.', seen).",
    ),
)
SECTION = "A module is a tree"


def net(mini: Any, **attributes: Any) -> Any:
    class Net(mini.nn.Module):
        def __init__(self) -> None:
            for name, value in attributes.items():
                setattr(self, name, value)

        def forward(self, *args: Any) -> Any:
            return ("forward", *args)

    return Net()


def weight(mini: Any) -> Any:
    return mini.tensor.tensor([1.0], requires_grad=True)


def judge(said: str, module: Any, expected: list[tuple[str, Any]], why: str) -> None:
    got = outcome(lambda: list(module.named_parameters()), ())
    names = [name for name, _ in expected]
    if not isinstance(got, list) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in got):
        raise WrongAnswer(f"named_parameters of {said}: expected pairs named {names}, got {got!r}", why)
    if [name for name, _ in got] != names:
        raise WrongAnswer(f"named_parameters of {said}: expected {names}, got {[name for name, _ in got]}", why)
    if any(a is not b for (_, a), (_, b) in zip(got, expected, strict=True)):
        own = "Give the tensor itself: an optimizer has to write into it."
        raise WrongAnswer(f"named_parameters of {said}: under a right name there is another tensor", own)


@OWN_MODULES.case("a call is forward", points=1, section=SECTION)
def _(mini: Any) -> None:
    got = outcome(net(mini), (1, 2))
    if got != ("forward", 1, 2):
        raise WrongAnswer(
            f"module(1, 2): expected what forward(1, 2) gives, got {got!r}", "Hand on all arguments, and the result."
        )


@OWN_MODULES.case("its own parameters, and nothing else", points=1, section=SECTION)
def _(mini: Any) -> None:
    a, b = weight(mini), weight(mini)
    plain = mini.tensor.tensor([1.0])
    module = net(mini, a=a, size=3, fixed=plain, b=b, name="x", nothing=None)
    why = "A parameter is a tensor that requires grad. Others, and what is no tensor, are not trained."
    judge("attributes a, size, fixed, b, name, nothing", module, [("a", a), ("b", b)], why)


@OWN_MODULES.case("those of modules below, by their path", points=2, section=SECTION)
def _(mini: Any) -> None:
    a, b, c = weight(mini), weight(mini), weight(mini)
    module = net(mini, first=net(mini, w=a, inner=net(mini, w=b)), w=c)
    why = "A path begins at the module that is asked: attribute, a dot, and the path below it, however deep."
    judge("a tree of three", module, [("first.w", a), ("first.inner.w", b), ("w", c)], why)


@OWN_MODULES.case("those in lists, by their number", points=2, section="Names are a contract")
def _(mini: Any) -> None:
    a, b, c = weight(mini), weight(mini), weight(mini)
    module = net(mini, blocks=[net(mini, w=a), net(mini, w=b)], scales=[c, 2.0])
    why = "Go into lists: a list of blocks is how deep models are written. Its parts are named blocks.0, blocks.1, ..."
    judge("lists blocks, scales", module, [("blocks.0.w", a), ("blocks.1.w", b), ("scales.0", c)], why)


@OWN_MODULES.case("a shared parameter comes once", points=1, section="Names are a contract")
def _(mini: Any) -> None:
    a = weight(mini)
    why = "An optimizer would step it twice. Remember, across the whole walk, which tensors have been given."
    judge("two modules that share w", net(mini, x=net(mini, w=a), y=net(mini, w=a), w=a), [("x.w", a)], why)
    got = outcome(lambda: net(mini, x=net(mini, w=a)).parameters(), ())
    if not isinstance(got, list) or len(got) != 1 or got[0] is not a:
        raise WrongAnswer(
            f"parameters(): expected a list of the one tensor, got {got!r}", "The same without names, as a list."
        )
