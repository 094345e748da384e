"""What a node does besides computing its value.

A pass may drop, merge or move a node only if running it has no effect that somebody could see. This file is the one
place that says which nodes do: those that write into a tensor, draw random numbers, or call something registered with
`has_side_effect`.

>>> import operator
>>> from minitorch_compile.fx import Graph
>>> graph = Graph()
>>> x = graph.placeholder("x")
>>> [is_impure(n) for n in (graph.call_function(operator.add, (x, 1)), graph.call_function(operator.iadd, (x, 1)))]
[False, True]
>>> [writes(n) for n in (graph.call_method("relu", (x,)), graph.call_method("relu_", (x,)))]
[False, True]
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TypeVar

from minitorch_compile.control import is_graph_step
from minitorch_compile.fx.expressions import BINARY, UNARY
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor.functions.checks import _assert

AnyCallable = TypeVar("AnyCallable", bound=Callable)

_IN_PLACE_OPERATORS: frozenset[Callable] = frozenset((
    operator.iadd, operator.iand, operator.iconcat, operator.ifloordiv, operator.ilshift, operator.imatmul,
    operator.imod, operator.imul, operator.ior, operator.ipow, operator.irshift, operator.isub, operator.itruediv,
    operator.ixor, operator.setitem, operator.delitem,
))  # fmt: skip
_WRITING_NAMES = frozenset(
    ("setitem", "__setitem__", "__delitem__", "append", "extend", "insert", "pop", "remove", "clear", "update")
)
_RANDOM_NAMES = frozenset(
    (
        "rand",
        "randn",
        "randint",
        "rand_like",
        "randn_like",
        "randint_like",
        "randperm",
        "bernoulli",
        "multinomial",
        "normal",
        "poisson",
        "binomial",
        "_standard_gamma",
        "_sample_dirichlet",
    )
    + ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d")
    + ("scaled_dot_product_attention", "multi_head_attention_forward", "rrelu", "rrelu_", "gumbel_softmax")
    + ("lstm", "gru", "rnn_tanh", "rnn_relu")
    + ("normal_", "log_normal_", "uniform_", "random_", "bernoulli_", "exponential_", "geometric_", "cauchy_")
)
_TRACKING_NAMES = frozenset(("batch_norm", "instance_norm"))  # in training they move running statistics
_with_side_effect: set[Callable] = {print, _assert}


def has_side_effect(fn: AnyCallable) -> AnyCallable:
    """Register a function whose calls must never be dropped or merged; also a decorator."""
    _with_side_effect.add(fn)
    return fn


def _has_side_effect(node: Node) -> bool:
    return node.target in _with_side_effect or is_graph_step(node.target)


def acts_on_the_world(node: Node) -> bool:
    """Whether the node does something besides computing that is seen neither in its arguments nor in its value: it
    prints, or switches what the nodes after it mean."""
    return _has_side_effect(node) and not node.all_input_nodes


def writes(node: Node) -> bool:
    """Whether the node stores into one of its arguments."""
    if node.op in ("placeholder", "get_attr", "output"):
        return False
    if node.op == "call_module":
        return True  # it may update its buffers, as BatchNorm does; we can't see
    name = _called_name(node)
    return (
        (name.endswith("_") and not name.endswith("__"))  # PyTorch's spelling of an in-place operation
        or name in _WRITING_NAMES
        or node.target in _IN_PLACE_OPERATORS
        or node.kwargs.get("out") is not None
        or _argument(node, "inplace") is True
    )


def is_random(node: Node) -> bool:
    """Whether the node draws from a random generator: its value differs from call to call."""
    if node.op not in ("call_function", "call_method"):
        return False
    return getattr(node.target, "kind", None) == "random" or _called_name(node) in _RANDOM_NAMES


def _argument(node: Node, name: str) -> object:
    """What an Op is given for a parameter; None if nothing, or if it has no such parameter."""
    parameters = getattr(node.target, "parameters", ())
    position = parameters.index(name) if name in parameters else len(node.args)
    return node.args[position] if position < len(node.args) else node.kwargs.get(name)


def _called_name(node: Node) -> str:
    """The name of the operation, if the target is a method's name or an Op; other functions go by identity."""
    name = node.target if isinstance(node.target, str) else getattr(node.target, "name", "")
    return name.rpartition(".")[2]  # F.dropout is a dropout


def is_impure(node: Node, impure_random: bool = True) -> bool:
    """Whether dropping the node, though nobody uses its value, would change what the program does. `impure_random`:
    whether that counts which random numbers the others get."""
    if node.op in ("placeholder", "output"):
        return True
    if node.op == "call_module":
        return _is_impure_module(node)
    tracks = _called_name(node) in _TRACKING_NAMES or _argument(node, "max_norm") is not None
    return _has_side_effect(node) or tracks or writes(node) or (impure_random and is_random(node))


def _is_impure_module(node: Node) -> bool:
    """Whether calling a module does more than compute. A program's own modules say so by `_is_impure`; of layers it is
    known: those that are told to write in place, that draw numbers, or that keep statistics of what they see."""
    owner = node.graph.owning_module
    if owner is None:
        return True  # who knows what is called
    module = owner.attributes[str(node.target)]
    if getattr(module, "_is_impure", False) or getattr(module, "inplace", False):
        return True
    draws_or_tracks = hasattr(module, "p") or getattr(module, "track_running_stats", False)
    return bool(draws_or_tracks and getattr(module, "training", True))


def makes_new_storage(node: Node) -> bool:
    """Whether the node's value is certainly neither one of its arguments nor a view of one.

    >>> from minitorch_compile.fx import Graph
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> [makes_new_storage(n) for n in (graph.call_function(operator.add, (x, 1)), graph.call_method("t", (x,)))]
    [True, False]
    """
    kind = getattr(node.target, "kind", None)
    return node.target in BINARY or node.target in UNARY or kind in ("pointwise", "reduction", "contraction")
