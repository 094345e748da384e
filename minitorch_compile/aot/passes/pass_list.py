"""The passes in their order: each has a name, takes a graph and gives a graph.

>>> print(describe())
recognise_attention            attention in products and a softmax becomes one operation
fold_constants                 uniform constants are computed now
...
>>> from minitorch_compile import config
>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake
>>> module = trace(lambda x: (x * 1).exp() + (x * 1).exp(), [empty_fake((2,))])
>>> print(simplify(module).graph.compact())
x -> exp = exp(x); add(exp, exp)
>>> with config.patch(disabled_passes=("merge_common_subexpressions",)):
...     print(simplify(module).graph.compact())
x -> add(exp(x), exp(x))

`register_pass` adds one of your own; `config.joint_custom_pre_pass` and its three siblings, PyTorch's names, are for a
single function. With `config.verify_passes` each pass is checked by running the graph before and after it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from minitorch_compile import config, logs
from minitorch_compile.aot.passes.addmm import merge_addmm
from minitorch_compile.aot.passes.attention import recognise_attention
from minitorch_compile.aot.passes.no_ops import RULES as NO_OP_RULES
from minitorch_compile.aot.passes.no_ops import remove_no_ops
from minitorch_compile.aot.passes.node_facts import is_view, name_of
from minitorch_compile.aot.passes.pass_check import check_pass
from minitorch_compile.aot.passes.small_constants import CHEAP, evaluate_constants
from minitorch_compile.aot.passes.uniform_constants import fold_constants
from minitorch_compile.aot.passes.views import merge_views
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.passes import merge_common_subexpressions, remove_dead_code

GraphFunction = Callable[[Graph], Graph | None]

# Told of each pass that changed something: its name, the graph before, the graph after. `inspect` looks on here.
watchers: list[Callable[[str, GraphModule, GraphModule], None]] = []

_log = logs.artifact("joint_graph_passes")


@dataclass(frozen=True)
class Pass:
    """A rewrite of graph modules. `exact`: results agree to the last bit; else up to rounding.

    `looks_for` is true of the nodes that the pass begins with: a graph without one of them stays as it is.
    """

    name: str
    text: str
    rewrite: Callable[[GraphModule], GraphModule]
    looks_for: Callable[[Node], bool] = lambda node: True
    exact: bool = True

    def __call__(self, module: GraphModule) -> GraphModule:
        start = perf_counter()
        result = self.rewrite(module)
        if result is not module:
            for watch in watchers:
                watch(self.name, module, result)
        if config.verify_passes:
            check_pass(self.name, module, result, self.exact)
        if _log.is_on:
            counts = f"{len(module.graph.nodes)} -> {len(result.graph.nodes)} nodes"
            _log(f"{self.name}: {counts} in {1e3 * (perf_counter() - start):.1f} ms")
        return result


def calls(*names: str) -> Callable[[Node], bool]:
    """Whether a node calls an op (or a prim) of one of these names."""
    return lambda node: getattr(node.target, "name", None) in names


def on_graphs(rewrite: Callable[[Graph], Graph]) -> Callable[[GraphModule], GraphModule]:
    """A function of graphs as one of graph modules. Where it changed nothing, it may give the graph that it got."""

    def rewrite_module(module: GraphModule) -> GraphModule:
        graph = rewrite(module.graph)
        return module if graph is module.graph else _module(module, graph)

    return rewrite_module


def on_copies(rewrite: GraphFunction) -> Callable[[GraphModule], GraphModule]:
    """The same for a function that people write: it gets a copy, which it may change, and then return None."""

    def rewrite_module(module: GraphModule) -> GraphModule:
        draft = _module(module, copy.deepcopy(module.graph))
        graph = rewrite(draft.graph)
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"pass {rewrite!r}: expected it to return a Graph or None, but got {graph!r}")
        return _module(module, draft.graph if graph is None else graph)

    return rewrite_module


def _module(like: GraphModule, graph: Graph) -> GraphModule:
    result = LazyGraphModule(like.attributes, graph)
    result.meta.update(like.meta)
    return result


PASSES: list[Pass] = [
    Pass(
        "fold_constants",
        "uniform constants are computed now",
        on_graphs(fold_constants),
        lambda node: bool(node.all_input_nodes) and all(map(calls("full"), node.all_input_nodes)),
    ),
    Pass(
        "evaluate_constants",
        "small constants that cost something are computed now",
        evaluate_constants,
        lambda node: name_of(node) not in CHEAP and all(map(name_of, (node, *node.all_input_nodes))),
    ),
    Pass(
        "remove_no_ops",
        "x * 1, copies, conversions to the same dtype disappear",
        on_graphs(remove_no_ops),
        calls(*NO_OP_RULES),
    ),
    Pass("merge_views", "chains of views become the shortest that show the same", on_graphs(merge_views), is_view),
    Pass(
        "merge_common_subexpressions", "what is computed twice is computed once", on_graphs(merge_common_subexpressions)
    ),
    Pass("merge_addmm", "mm and add become addmm", on_graphs(merge_addmm), calls("mm"), exact=False),
    Pass(
        "remove_dead_code",
        "what nobody reads is not computed",
        on_graphs(remove_dead_code),
        lambda node: not node.users and node.op not in ("placeholder", "output"),
    ),
]

# Before differentiation, and only for who has kernels for what these make.
BEFORE_AUTOGRAD: list[Pass] = [
    Pass(
        "recognise_attention",
        "attention in products and a softmax becomes one operation",
        on_graphs(recognise_attention),
        calls("softmax"),
        exact=False,
    ),
]


def register_pass(
    rewrite: GraphFunction, *, name: str = "", before: str | None = None, text: str = "", exact: bool = False
) -> GraphFunction:
    """Adds a pass to the list, at the end or before the pass of that name; also a decorator.

    `rewrite(graph)` gets a copy of the graph, whose nodes call ops (or prims) and have their fakes in meta["val"]; it
    returns the new graph, or None if it changed the copy itself. ValueError for a name that is taken or not known.
    """
    chosen = name or rewrite.__name__
    names = [each.name for each in PASSES]
    if chosen in names or chosen in [each.name for each in BEFORE_AUTOGRAD]:
        raise ValueError(f"register_pass: there is a pass named {chosen!r} already; unregister_pass({chosen!r}) first")
    if before is not None and before not in names:
        raise ValueError(f"register_pass: before={before!r} is no pass. The passes are: {', '.join(names)}.")
    place = len(PASSES) if before is None else names.index(before)
    PASSES.insert(place, Pass(chosen, text or _first_line(rewrite), on_copies(rewrite), exact=exact))
    return rewrite


def _first_line(rewrite: GraphFunction) -> str:
    return (rewrite.__doc__ or "a pass of your own").strip().splitlines()[0]


def unregister_pass(name: str) -> None:
    """Takes a pass out of its list. ValueError if there is none of that name."""
    found = find_pass(name)
    (PASSES if found in PASSES else BEFORE_AUTOGRAD).remove(found)


def find_pass(name: str) -> Pass:
    """The pass of that name. ValueError, with the names that there are, if there is none."""
    for each in (*PASSES, *BEFORE_AUTOGRAD):
        if each.name == name:
            return each
    raise ValueError(f"passes: no pass named {name!r}. The passes are: {', '.join(each.name for each in PASSES)}.")


def simplify(module: GraphModule) -> GraphModule:
    """All passes in order, without those in `config.disabled_passes`."""
    return _apply(PASSES, module)


def prepare(module: GraphModule) -> GraphModule:
    """The passes that come before differentiation, in the same way."""
    return _apply(BEFORE_AUTOGRAD, module)


def _apply(passes: list[Pass], module: GraphModule) -> GraphModule:
    for name in config.disabled_passes:
        find_pass(name)
    for each in passes:
        if each.name not in config.disabled_passes and any(map(each.looks_for, module.graph.nodes)):
            module = each(module)
    return module


def custom_pass(option: str, module: GraphModule) -> GraphModule:
    """The user's function in `config.<option>` applied, if there is one. TypeError if it can't be called."""
    rewrite: Any = getattr(config, option)
    if rewrite is None:
        return module
    if not callable(rewrite):
        raise TypeError(f"config.{option}: expected a function Graph -> Graph or None, but got {rewrite!r}")
    return Pass(option, "", on_copies(rewrite), exact=False)(module)


def describe() -> str:
    """A line for each pass, in the order in which they run."""
    passes = [*BEFORE_AUTOGRAD, *PASSES]
    width = max(len(each.name) for each in passes)
    return "\n".join(f"{each.name.ljust(width)}  {each.text}" for each in passes)
