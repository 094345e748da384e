"""Attention that is written in products and a softmax, as the one operation that needs no score matrix.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> def program(q, k, v):
...     weights = ops.softmax(q @ k.transpose(-2, -1) * 0.125, -1)
...     return weights @ v
>>> graph = trace(program, [empty_fake((4, 8, 512, 64))] * 3).graph
>>> print(graph.compact())
q, k, v -> view(bmm(view(expand(softmax(mul(view(bmm(...
>>> print(recognise_attention(graph).compact())
q, k, v -> view(view(flash_attention(q, k, v, None, False, 0.125, float('-inf'), False)[0], (32, 512, 64)), ...

It runs before the graph is differentiated, so that the backward pass needs no scores either. (A program that calls
backward() itself is one graph already: there the weights have other readers, and stay.) A score matrix that fits
into the cache stays: one product that makes it whole is faster than many that make blocks.
`MTC_LOGS=joint_graph_passes` says of each softmax what became of it.

Source: the patterns of TorchInductor (`torch/_inductor/fx_passes/fuse_attention.py`), one for each way to write it.
"""

from __future__ import annotations

import copy
import operator
from typing import Any

from minitorch_compile import logs
from minitorch_compile.aot.aliasing.overwritten_values import KEY
from minitorch_compile.aot.passes.attention_pattern import Attention, NoAttention, find_attention, value_of
from minitorch_compile.aot.passes.node_facts import name_of, number_of, tensor_of
from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.tensor_base import nbytes

SMALLEST = 1 << 18  # bytes of one matrix of scores from which on it is not stored
SMALLEST_CAUSAL = 1 << 17  # the same where half of it need not be computed
INHERITED = ("stack", "no_grad", "checkpoint_region")
COPIES, RESHAPING = ("contiguous_copy", "clone"), ("view", "unsqueeze", "squeeze", "expand")

_log = logs.artifact("joint_graph_passes")


def recognise_attention(graph: Graph) -> Graph:
    """Each softmax of attention, with the products around it, becomes a `flash_attention`."""
    rewritten = copy.deepcopy(graph)
    changed = False
    for softmax in rewritten.find_nodes(op="call_function", target=ops.softmax):
        try:
            found = find_attention(softmax)
            _check_worthwhile(found)
            _replace(rewritten, found)
        except NoAttention as reason:
            _log(f"recognise_attention: {softmax.name} stays: {reason}")
            continue
        changed = True
        _log(f"recognise_attention: {softmax.name}, with the products around it, is attention: no scores are stored")
    if not changed:
        return graph
    rewritten.eliminate_dead_code()
    return rewritten


def _check_worthwhile(found: Attention) -> None:
    value = value_of(found.product)
    if nbytes(value) // value.sizes[0] < (SMALLEST_CAUSAL if found.is_causal else SMALLEST):
        raise NoAttention("its score matrix fits into the cache")
    if any(numel(_sizes(node)) == 0 for node in (found.product.args[0], found.result)):
        raise NoAttention("it has nothing to compute")


class _Writer:
    """Writes nodes before the result of what is replaced, on behalf of it."""

    def __init__(self, graph: Graph, found: Attention) -> None:
        self.graph, self.place = graph, found.result
        self.meta = {key: found.result.meta[key] for key in INHERITED if key in found.result.meta}

    def call(self, op: Any, *arguments: Any) -> Node:
        with self.graph.inserting_before(self.place):
            node = self.graph.call_function(op, arguments)
        node.meta.update(self.meta)
        node.meta["val"] = op.meta(*map_arg(arguments, lambda source: source.meta["val"]))
        return node

    def may_skip(self, node: Node) -> bool:
        """Whether a node is recorded for gradients as the attention is, so that it can be left out."""
        same = [node.meta.get(key) == self.meta.get(key) for key in ("no_grad", "checkpoint_region")]
        return all(same) and KEY not in node.meta


def _replace(graph: Graph, found: Attention) -> None:
    writer = _Writer(graph, found)
    query, query_scale = _scaled(writer, _matrices(writer, found.product.args[0], found.leading))
    key, key_scale = _scaled(writer, _transposed(writer, _matrices(writer, found.product.args[1], found.leading)))
    value = _matrices(writer, found.result.args[1], found.leading)
    key, value = _shared_heads(writer, key, value)
    how = found.is_causal, found.scale * query_scale * key_scale, found.fill, found.zero_rows
    both = writer.call(ops.flash_attention, query, key, value, _mask(writer, found), *how)
    with graph.inserting_before(found.result):
        out = graph.call_function(operator.getitem, (both, 0))
    out.meta.update(writer.meta, val=both.meta["val"][0])
    found.result.replace_all_uses_with(writer.call(ops.view, out, _sizes(found.result)))


# ------------------------------------------------------------------------------------------ queries, keys, values


def _matrices(writer: _Writer, node: Any, leading: tuple[int, int]) -> Node:
    """The (N, H, rows, columns) that a batch of matrices was made of, without the copies on the way."""
    wanted = (*leading, *_sizes(node)[-2:])
    source = node
    while _sizes(source) != wanted and _is_skipped(writer, source, (*RESHAPING, *COPIES)):
        source = source.args[0]
    if _sizes(source) != wanted:
        return writer.call(ops.view, node, wanted)
    return _uncopied(writer, source)


def _uncopied(writer: _Writer, node: Any) -> Node:
    """What a copy, or a view that changes nothing, is of."""
    while _is_skipped(writer, node, COPIES) or (
        _is_skipped(writer, node, RESHAPING) and _sizes(node) == _sizes(node.args[0])
    ):
        node = node.args[0]
    return node


def _is_skipped(writer: _Writer, node: Any, names: tuple[str, ...]) -> bool:
    return name_of(node) in names and writer.may_skip(node)


def _sizes(node: Any) -> tuple[int, ...]:
    return tuple(value_of(node).sizes)


def _transposed(writer: _Writer, node: Node) -> Node:
    """The matrices turned over: what was turned over already is taken as it was."""
    swaps = {"permute": ((0, 1, 3, 2),), "transpose": (-2, -1)}.get(name_of(node), "") == node.args[1:]
    if swaps and writer.may_skip(node):
        return _uncopied(writer, node.args[0])
    return writer.call(ops.permute, node, (0, 1, 3, 2))


def _scaled(writer: _Writer, node: Node) -> tuple[Node, float]:
    """A factor of the queries, or of the keys, is one of the scores."""
    if name_of(node) in ("mul", "div") and len(node.args) == 2 and writer.may_skip(node):
        number, before, after = number_of(node.args[1]), tensor_of(node.args[0]), value_of(node)
        if number and before is not None and (before.dtype, before.sizes) == (after.dtype, after.sizes):
            return node.args[0], 1 / number if name_of(node) == "div" else float(number)
    return node, 1.0


def _shared_heads(writer: _Writer, key: Node, value: Node) -> tuple[Node, Node]:
    """Keys and values before they were repeated for each head of a group, if both were in the same way."""
    shared = _before_repeating(writer, key), _before_repeating(writer, value)
    if shared[0] is None or shared[1] is None or _sizes(shared[0])[1] != _sizes(shared[1])[1]:
        return key, value
    return shared[0], shared[1]


def _before_repeating(writer: _Writer, node: Node) -> Node | None:
    """(N, G, S, E) of view(expand(unsqueeze(x, 2), (N, G, H / G, S, E)), (N, H, S, E))."""
    source: Any = node
    steps = []
    for name in ("view", "expand", "unsqueeze"):
        source = _uncopied(writer, source)
        if not _is_skipped(writer, source, (name,)):
            return None
        steps.append(source)
        source = source.args[0]
    (n, heads, *matrix), shared = _sizes(node), _sizes(source)
    if len(shared) != 4 or heads % shared[1] != 0 or steps[2].args[1] not in (2, -3):
        return None
    repeated = (n, shared[1], heads // shared[1], *matrix)
    return source if _sizes(steps[1]) == repeated and shared == (n, shared[1], *matrix) else None


# ------------------------------------------------------------------------------------------ the mask


def _mask(writer: _Writer, found: Attention) -> Node | None:
    """The mask with four dimensions, True where a score is let be."""
    mask: Any = found.mask
    if mask is None:
        return None
    while _is_skipped(writer, mask, ("expand",)):
        mask = mask.args[0]
    if found.mask_ndim == 3 and len(_sizes(mask)) == 3 and _sizes(mask)[0] != 1:  # for each matrix of a plain batch
        mask = writer.call(ops.view, mask, (*found.leading, *_sizes(mask)[1:]))
    while len(_sizes(mask)) < 4:
        mask = writer.call(ops.unsqueeze, mask, 0)
    wanted = (*found.leading, *_sizes(found.product)[1:])
    if len(_sizes(mask)) > 4 or any(n not in (1, size) for n, size in zip(_sizes(mask), wanted, strict=True)):
        raise NoAttention("the mask distinguishes more than batches and heads")
    return writer.call(ops.logical_not, mask) if found.hides else mask
