"""Exercise 03.11: which Python function a call will run."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

OWN_BEHIND = Step(
    "03.11",
    "the function behind a call",
    file="interpreter",
    minutes=10,
    hints=(
        "Three things run Python code when they are called: a function, a method, and an object whose class has a"
        " __call__ that is a function.",
        "A method has its function in __func__ and its object in __self__, which is the first argument. The function"
        " may be a callable object in turn.",
        "For an object: call = getattr(type(function), '__call__', None); it counts if it is a types.FunctionType. Of"
        " len or a class it is not: (None, args).",
    ),
)
SECTION = "Calls"


class Model:
    def __call__(self, x: int) -> int:
        return x

    def forward(self, x: int) -> int:
        return x

    @classmethod
    def of(cls, x: int) -> int:
        return x


def plain(x: int) -> int:
    return x


@OWN_BEHIND.case("functions, methods, objects", points=3, section=SECTION)
def _(mini: Any) -> None:
    model = Model()
    why_method = "Calling a method calls its function, with the object as the first argument."
    why_object = "Calling an object calls its class's __call__, with the object as the first argument."
    for called, function, args, why in (
        (plain, plain, (1,), "A function is called as it is."),
        (model.forward, Model.forward, (model, 1), why_method),
        (Model.of, Model.__dict__["of"].__func__, (Model, 1), why_method),
        (model, Model.__call__, (model, 1), why_object),
    ):
        got = outcome(mini.interpreter.behind, (called, (1,)))
        if not isinstance(got, tuple) or len(got) != 2 or got[0] is not function:
            raise WrongAnswer(f"behind({called!r}, (1,)): expected {function.__qualname__}, got {got!r}", why)
        if tuple(got[1]) != args:
            raise WrongAnswer(f"behind({called!r}, (1,)): expected the arguments {args}, got {got[1]!r}", why)


@OWN_BEHIND.case("what is written in C has none", points=2, section=SECTION)
def _(mini: Any) -> None:
    in_c: list[Any] = [len, [].append, "a".join, Model, int, type]
    for called in in_c:
        got = outcome(mini.interpreter.behind, (called, (1,)))
        if got != (None, (1,)):
            why = "No frame of Python is made for this call: there is nothing to evaluate in another way."
            if isinstance(called, type):
                why = "Calling a class makes an object, by type.__call__, which is written in C."
            raise WrongAnswer(f"behind({called!r}, (1,)): expected (None, (1,)), got {got!r}", why)


@OWN_BEHIND.case("a method of a callable object", points=1, section=SECTION)
def _(mini: Any) -> None:
    from types import MethodType

    model = Model()
    got = outcome(mini.interpreter.behind, (MethodType(model, "bound"), (1,)))
    if not isinstance(got, tuple) or got[0] is not Model.__call__ or tuple(got[1]) != (model, "bound", 1):
        raise WrongAnswer(
            f"behind(MethodType(model, 'bound'), (1,)): got {got!r}, expected Model.__call__ with (model, 'bound', 1)",
            "What a method is bound to may be anything that can be called: ask again what is behind it.",
        )
