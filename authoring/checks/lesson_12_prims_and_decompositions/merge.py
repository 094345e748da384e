"""Exercise 12.4: a pass that merges a product and a sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.aot.passes import check_pass
from minitorch_compile.aot.tracing import trace
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.fx import Graph, GraphModule
from minitorch_compile.tensor import empty_fake

MERGE = Exercise(
    "12.4",
    "a pass: mm and add become addmm",
    answer="merge_addmm",
    minutes=20,
    place="aot.merge_addmm",
    hints=(
        "For each add: is one of its two arguments a Node whose target is ops.mm? Either of them may be.",
        "The product disappears only if the add is its one and only user: len(product.users) == 1.",
        "with graph.inserting_before(add): merged = graph.call_function(ops.addmm, (other, *product.args)). Then copy"
        " add.meta, add.replace_all_uses_with(merged), and in the end graph.eliminate_dead_code().",
    ),
)
SECTION = "A pass in ten lines, and how to catch a wrong one"
SIZES = [(2, 3), (3, 4), (4,)]
Program = Callable[..., Any]


def rewritten(answer: Callable[..., Any], program: Program, text: str) -> tuple[GraphModule, Graph]:
    """The graph before, which must be as it was, and after."""
    module = trace(program, [empty_fake(sizes) for sizes in SIZES])
    before = module.graph.compact()
    graph = outcome(answer, (module.graph,))
    if not isinstance(graph, Graph):
        raise WrongAnswer(f"{text}: expected a graph, got {graph!r}", "A pass takes a Graph and returns one.")
    if module.graph.compact() != before:
        raise WrongAnswer(
            f"{text}: the graph that came in was changed",
            "Others may still need it. Begin with copy.deepcopy(graph), and work on the copy.",
        )
    return module, graph


def same_meaning(module: GraphModule, graph: Graph) -> None:
    text = module.graph.compact()
    try:
        graph.lint()
        check_pass("merge_addmm", module, GraphModule(module.attributes, graph), exact=False)
    except Exception as error:
        raise WrongAnswer(
            f"{text} became {graph.compact()}: {(str(error) or type(error).__name__).splitlines()[0]}",
            "addmm(input, mat1, mat2) is input + mat1 @ mat2: the summand comes first.",
        ) from error


def becomes(answer: Callable[..., Any], program: Program, expected: str, why: str) -> None:
    module, graph = rewritten(answer, program, expected.partition(" -> ")[2])
    same_meaning(module, graph)
    if graph.compact() != expected:
        raise WrongAnswer(f"{module.graph.compact()}: expected {expected}, got {graph.compact()}", why)


@MERGE.case("a product plus a row", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    why = "Let the users of the sum read one addmm, and erase what nobody reads any more."
    becomes(answer, lambda x, w, b: (x @ w + b).relu(), "x, w, b -> relu(addmm(b, x, w))", why)


@MERGE.case("a row plus a product", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    why = "A sum has two sides, and the product may stand on either."
    becomes(answer, lambda x, w, b: (b + x @ w).relu(), "x, w, b -> relu(addmm(b, x, w))", why)


@MERGE.case("what must stay", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    def stays(program: Program, why: str) -> None:
        module, graph = rewritten(answer, program, "a graph that must stay")
        before = module.graph.compact()
        if graph.compact() != before:
            raise WrongAnswer(f"{before}: it must stay, and became {graph.compact()}", why)
        same_meaning(module, graph)

    def twice(x: Any, w: Any, b: Any) -> Any:
        y = x @ w
        return (y + b).relu() * y

    stays(twice, "Somebody else reads the product, so it is computed in any case. Now it is computed twice.")
    stays(lambda x, w, b: torch.add(b, x @ w, alpha=3).relu(), "This add multiplies its second side by alpha, 3 here.")
    stays(lambda x, w, b: (x @ w + 1).relu(), "addmm wants a tensor to add, and this is a number.")


@MERGE.case("in the running package", points=1, section="Sweeping up")
def _(answer: Callable[..., Any]) -> None:
    rewritten(answer, lambda x, w, b: x @ w, "x @ w")
    x, w, b = torch.ones(2, 3), torch.ones(3, 4), torch.arange(4.0)
    with splice("aot.merge_addmm", answer):
        got = torch.compile(lambda x, w, b: (x @ w + b).relu(), backend="aot_eager")(x, w, b)
    if not torch.equal(got, (x @ w + b).relu()):
        raise WrongAnswer(f"with your pass in the package, relu(x @ w + b) is {got}", "It runs on every graph there.")
