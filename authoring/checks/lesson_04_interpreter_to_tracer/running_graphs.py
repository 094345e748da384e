"""Exercise 04.4: the interpreter that says what a graph means."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.fx import Graph, GraphModule, Interpreter
from minitorch_compile.tensor import Tensor

RUNNING_GRAPHS = Exercise(
    "04.4",
    "what a graph means",
    answer="run_graph",
    minutes=15,
    hints=(
        "A dictionary from nodes to values, and one loop over graph.nodes. What does each kind of node put into it?",
        "map_arg(node.args, env.__getitem__) gives the arguments with every node in them, however deep, replaced.",
        "call_method: self, *rest = args; getattr(self, node.target)(*rest, **kwargs). output: return args[0].",
    ),
)
SECTION = "What a graph is"


def truth(graph: Graph, *args: Any) -> Any:
    return Interpreter(GraphModule({}, graph)).run(*args)


def build(fill: Callable[[Graph], Any]) -> Graph:
    graph = Graph()
    graph.output(fill(graph))
    return graph


def functions(graph: Graph) -> Any:
    x, y = graph.placeholder("x"), graph.placeholder("y")
    difference = graph.call_function(operator.sub, (x, y))
    return graph.call_function(operator.mul, (difference, 3))


def methods(graph: Graph) -> Any:
    x, y = graph.placeholder("x"), graph.placeholder("y")
    return graph.call_method("add", (graph.call_method("relu", (x,)), y))


def keywords(graph: Graph) -> Any:
    x, y = graph.placeholder("x"), graph.placeholder("y")
    return graph.call_method("sum", (graph.call_function(torch.add, (x,), {"other": y}),), {"dim": 0})


def nested(graph: Graph) -> Any:
    x, y = graph.placeholder("x"), graph.placeholder("y")
    both = graph.call_function(torch.stack, ([x, y],))
    return graph.call_function(operator.getitem, (both, (slice(None), 1)))


def several(graph: Graph) -> Any:
    x, y = graph.placeholder("x"), graph.placeholder("y")
    return {"sum": graph.call_function(operator.add, (x, y)), "list": [x, 7]}


def unread_write(graph: Graph) -> Any:
    x, y = graph.placeholder("x"), graph.placeholder("y")
    graph.call_method("add_", (x, y))
    return graph.call_method("clone", (x,))


def shared(graph: Graph) -> Any:
    x, y = graph.placeholder("x"), graph.placeholder("y")
    power = graph.call_function(operator.add, (x, y))
    for _ in range(40):
        power = graph.call_function(operator.add, (power, power))
    return power


def arguments() -> tuple[Tensor, Tensor]:
    return torch.tensor([1.0, -2.0]), torch.tensor([10.0, 20.0])


def judge(answer: Callable[..., Any], fill: Callable[[Graph], Any], why: str) -> None:
    graph = build(fill)
    expected = truth(graph, *arguments())
    got = outcome(answer, (graph, *arguments()))
    if plain(expected) != plain(got):
        fact = f"{graph.compact()}\nwith x = [1, -2], y = [10, 20]: expected {plain(expected)}, got {plain(got)}"
        raise WrongAnswer(fact, reason(got, why)) from getattr(got, "error", None)


def reason(got: Any, why: str) -> str:
    if got is None:
        return "Nothing was returned. The `output` node says what the graph gives."
    return why


def plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return repr(value) if not isinstance(value, int | float) else value


@RUNNING_GRAPHS.case("functions and methods", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, functions, "Arguments come in the order of the placeholders; a node stands for its value.")
    why = "A method is called on its first argument: getattr(args[0], name), with the rest of the arguments."
    judge(answer, methods, why)


@RUNNING_GRAPHS.case("arguments inside lists, slices and keywords", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, keywords, "Keywords are arguments, too: node.kwargs, in which nodes stand for values as well.")
    judge(answer, nested, "Nodes may stand deep inside lists, tuples, dicts and slices: map_arg finds them all.")
    judge(answer, several, "The output is a nesting in which nodes stand for values, like any argument.")


@RUNNING_GRAPHS.case("every node, once, in order", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    why = "The write is not read by anybody, but it happens. Run all nodes in their order, not only those needed."
    judge(answer, unread_write, why)
    judge(
        answer, shared, "A value that is used twice must not be computed twice: 40 doublings would take 2 ** 40 steps."
    )
