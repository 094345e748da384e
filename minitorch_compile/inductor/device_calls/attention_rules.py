"""Attention as a call of cuDNN, forward and backward, without a score matrix: for floats of two bytes, without a mask.
Where cuDNN isn't, or has no algorithm, and for a mask of truth values, kernels of ours compute both
(`flash_attention.py`, `flash_attention_backward.py`).

`scaled_dot_product_attention` asks a device whether it computes attention so (`is_fused`), and is then one op, whose
meaning is `tensor/ops/flash_attention.py`. Of a row cuDNN keeps one number, log(sum(exp(score))), where the op has two
that add up to it: so the second is 0.

>>> as_rows((2, 3, 8, 16), (384, 16, 48, 1)).strides         # heads of one row for each place: read as they lie
(384, 16, 48, 1)
>>> as_rows((2, 3, 8, 16), (0, 128, 1, 8)).strides           # copied
(384, 128, 16, 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from minitorch_compile import backends, prims
from minitorch_compile.cuda_runtime.cudnn import Cudnn, Layout
from minitorch_compile.cuda_runtime.cudnn_attention import ELEMENTS, Attention, computes_attention, row_major
from minitorch_compile.inductor.device_calls import attention_launches
from minitorch_compile.inductor.device_calls.attention_launches import has_attention_kernel
from minitorch_compile.inductor.device_calls.libraries import Libraries
from minitorch_compile.inductor.device_calls.one_op_graph import NoKernelError
from minitorch_compile.inductor.ir.buffer import Ints, Position
from minitorch_compile.inductor.ir.extern_call import StridedView
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.index import ZERO
from minitorch_compile.inductor.ir.loops import TensorBox
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.shape import reindexed, within
from minitorch_compile.inductor.lowering.stored_views import contiguous_view, dense_view, stored_view
from minitorch_compile.inductor.lowering.table import Rule
from minitorch_compile.prims.decomposition_table import Rule as Decomposition
from minitorch_compile.prims.decomposition_table import rule_of
from minitorch_compile.prims.decompositions.attention import AS_PRIMS
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.functions.settings import settings
from minitorch_compile.tensor.numerics.dtype import bool_, float32
from minitorch_compile.tensor.ops.flash_attention import NOTHING
from minitorch_compile.tensor.tensor_base import TensorBase

CALL = "cudnn_attention"
MASKED = 1 << 20  # scores of a matrix from which on a mask has a kernel: it takes many seconds to compile, once
STEP = 8  # elements: 16 bytes, which cuDNN reads at once
FUSED = frozenset(("CUDNN_ATTENTION", "FLASH_ATTENTION"))  # of PyTorch's names, those for attention without scores


def attention_library(libraries: Libraries) -> Cudnn | None:
    """cuDNN, unless a program has switched off that it, or attention in blocks."""
    return libraries.convolutions if backends.cuda.attention_switches.enabled & FUSED else None


def is_ours(libraries: Libraries, attention: Attention, mask: TensorBase | None = None) -> bool:
    """Whether a kernel of ours computes it, where cuDNN isn't asked: because it isn't there, or because of a mask of
    truth values, for so many scores that it is worth while."""
    wanted = backends.cuda.attention_switches.enabled & {"FLASH_ATTENTION"}
    if mask is not None:
        scores = (*attention.query.sizes[:3], attention.key.sizes[2])
        fits = len(mask.sizes) == 4 and all(size in (1, whole) for size, whole in zip(mask.sizes, scores))
        if mask.dtype is not bool_ or not fits or scores[2] * scores[3] < MASKED:
            return False
    return bool(wanted) and libraries.has_tensor_cores and has_attention_kernel(attention)


def is_fused(
    libraries: Libraries, tensors: Sequence[TensorBase], is_causal: bool, scale: float, mask: TensorBase | None = None
) -> bool:
    """Whether cuDNN computes the attention of query, key and value, which lie on a device, and its gradient if one is
    wanted, or may be: of tensors without data, on which a program is traced. Who asks the same again is told from
    memory. `mask`: of truth values, of four dimensions; then, whether kernels of ours do."""
    tensors = tensors if mask is None else (*tensors, mask)
    looks = [(x.dtype, x.sizes, x.strides, x.storage.flips, x.device) for x in tensors]
    wanted, traced = any(x._requires_grad for x in tensors), any(x.is_fake for x in tensors)
    if traced and any(type(number) is not int for x in tensors for number in (*x.sizes, *x.strides)):
        return False  # sizes that are known only when the program runs
    switches = settings.deterministic, backends.cudnn.enabled, backends.cuda.attention_switches.enabled
    key = *looks, is_causal, scale, wanted or traced, *switches
    answer = libraries.answers.get(key)
    if answer is None:
        answer = libraries.answers[key] = _is_fused(libraries, tensors, is_causal, scale, wanted or traced)
    return answer


def _is_fused(libraries: Libraries, tensors: Sequence[TensorBase], is_causal: bool, scale: float, wanted: bool) -> bool:
    (query, *others), masks = tensors[:3], tensors[3:]
    if query.dtype.name not in ELEMENTS or any(len(x.sizes) != 4 or 0 in x.sizes or x.storage.flips for x in tensors):
        return False
    if any(x.dtype is not query.dtype or x.device != query.device for x in others):
        return False
    q, k, v = (as_rows(x.sizes, x.strides) for x in (query, *others))
    attention = Attention(query.dtype.name, q, k, v, bool(is_causal), float(scale))
    if masks:
        return masks[0].device == query.device and is_ours(libraries, attention, masks[0])
    library = attention_library(libraries)
    if library is None:
        return is_ours(libraries, attention)
    stream = libraries.runtime.current_stream(libraries.runtime.index_of(query.device))
    ways = [attention, attention._replace(backward=True)] if wanted else [attention]
    is_cudnns = all(computes_attention(library, way, settings.deterministic, stream) for way in ways)
    return is_cudnns or is_ours(libraries, attention)


def as_rows(sizes: Sequence[int], strides: Sequence[int]) -> Layout:
    """How a tensor lies when it is read: as it does if its rows lie together, else row-major."""
    dense = row_major(sizes)
    steps = [step if size > 1 else own for size, step, own in zip(sizes, strides, dense.strides)]
    readable = steps[3] == 1 and all(step > 0 and step % STEP == 0 for step in steps[:3])
    return Layout(dense.sizes, (steps[0], steps[1], steps[2], 1)) if readable else dense


def decompositions_of(libraries: Libraries, op: Op, bound: Sequence[Any]) -> Mapping[Op, Decomposition] | None:
    """What keeps an op of attention whole, if there is a kernel for this call of it."""
    return AS_PRIMS if op in AS_PRIMS and _is_fused_call(libraries, op, bound) else None


def decompositions_in_graphs(libraries: Libraries) -> dict[Op, Decomposition]:
    """The same for the calls of a graph: each becomes the prim, or what it is without one."""

    def rule_for(op: Op) -> Decomposition:
        return lambda *bound: (AS_PRIMS[op] if _is_fused_call(libraries, op, bound) else rule_of(op))(*bound)

    return {op: rule_for(op) for op in AS_PRIMS}


def _is_fused_call(libraries: Libraries, op: Op, bound: Sequence[Any]) -> bool:
    backward = op is ops.flash_attention_backward
    tensors, how = bound[backward : 3 + backward], bound[6:] if backward else bound[3:]
    mask, is_causal, scale, fill, *zero_rows = how
    if mask is not None and (fill != NOTHING or zero_rows == [False]):
        return False
    return is_fused(libraries, tensors, is_causal, scale, mask)


def attention_rules(libraries: Libraries, in_graphs: bool = False) -> dict[str, Rule]:
    """The rules of both prims. `in_graphs`: what cuDNN makes may lie as its queries do, since others read it there; a
    single operation has promised a layout."""

    def forward(graph: GraphLowering, *arguments: Any) -> tuple[TensorBox, ...]:
        query, key, value, mask, is_causal, scale, *_ = arguments
        views = _rows_of_all(graph, (query, key, value))
        masks = [] if mask is None else [_mask(graph, mask, (*query.sizes[:3], key.sizes[2]))]
        attention = _attention(libraries, query, [*views, *masks], is_causal, scale, in_graphs=in_graphs)
        outputs = [
            graph.new_buffer(attention.out.sizes, query.dtype, attention.out.strides),
            graph.new_buffer(attention.statistics.sizes, float32),
        ]
        out, statistics = graph.extern(_call(libraries, attention), [*views, *masks], outputs, attention)
        return out, _normalizers(statistics)

    def backward(graph: GraphLowering, *arguments: Any) -> tuple[TensorBox, ...]:
        grad, query, key, value, out, normalizers, mask, is_causal, scale, *_ = arguments
        views = _rows_of_all(graph, (query, key, value))
        masks = [] if mask is None else [_mask(graph, mask, (*query.sizes[:3], key.sizes[2]))]
        how = {"backward": True, "in_graphs": in_graphs}
        attention = _attention(libraries, query, [*views, *masks], is_causal, scale, **how)
        slopes, result = (dense_view(graph, x, attention.out.strides) for x in (grad, out))
        logarithms = contiguous_view(graph, _logarithms(normalizers))
        made = [graph.new_buffer(layout.sizes, query.dtype, layout.strides) for layout in attention.gradients]
        call = _call(libraries, attention)
        if call != CALL:
            made.append(
                graph.new_buffer((*attention.statistics.sizes[:3], 2), float32)
            )  # from its first kernel to its second
        return tuple(graph.extern(call, [slopes, *views, result, logarithms, *masks], made, attention)[:3])

    return {prims.flash_attention.name: forward, prims.flash_attention_backward.name: backward}


def _call(libraries: Libraries, attention: Attention) -> str:
    """cuDNN's, unless it has no algorithm for that which there is a kernel of ours for."""
    library = attention_library(libraries)
    if library is None or attention.mask is not None:
        return attention_launches.CALL
    if not is_ours(libraries, attention):
        return CALL
    stream = libraries.runtime.current_stream()
    is_cudnns = computes_attention(library, attention, settings.deterministic, stream)
    return CALL if is_cudnns else attention_launches.CALL


def _attention(
    libraries: Libraries,
    query: TensorBox,
    views: list[StridedView],
    is_causal: bool,
    scale: float,
    *,
    backward: bool = False,
    in_graphs: bool,
) -> Attention:
    q, k, v, *masks = (Layout(tuple(view.sizes), tuple(view.strides)) for view in views)
    attention = Attention(query.dtype.name, q, k, v, bool(is_causal), float(scale), backward)
    attention = attention._replace(mask=masks[0] if masks else None)
    inside = attention._replace(heads_inside=q.strides[1] < q.strides[2])
    if in_graphs and _call(libraries, inside) == CALL:
        attention = inside
    if query.dtype.name not in ELEMENTS or (_call(libraries, attention) != CALL and not is_ours(libraries, attention)):
        raise NoKernelError("cuDNN isn't there, or isn't asked for attention in this dtype")
    return attention


def _rows_of_all(graph: GraphLowering, boxes: Sequence[TensorBox]) -> list[StridedView]:
    """Query, key and value as they are read. What a projection computes for all three is stored once, and each reads
    its part of it."""
    bases = {_base(x) for x in boxes}
    (base,) = bases if len(bases) == 1 else (None,)
    if base is not None and base.numel <= sum(x.numel for x in boxes):
        graph.realize(base)
    return [_rows(graph, x) for x in boxes]


def _base(x: TensorBox) -> TensorBox:
    """The box of which this one shows elements."""
    while x.buffer is None and x.view_of is not None:
        x = x.view_of
    return x


def _rows(graph: GraphLowering, x: TensorBox) -> StridedView:
    view = stored_view(graph, x)
    layout = as_rows(view.sizes, view.strides)
    if layout.strides == row_major(view.sizes).strides:
        return contiguous_view(graph, x)
    return StridedView(view.buffer, layout.sizes, layout.strides, view.offset)


def _mask(graph: GraphLowering, x: TensorBox, scores: Ints) -> StridedView:
    """A mask as it lies, seen as one for all scores."""
    view = stored_view(graph, x)
    steps = tuple(0 if size == 1 else step for size, step in zip(view.sizes, view.strides))
    return StridedView(view.buffer, scores, steps, view.offset)


def _normalizers(statistics: TensorBox) -> TensorBox:
    """The logarithm of each row, and 0."""

    def inner(handler: Handler, at: Position) -> object:
        load = lambda: statistics.load(handler, [*at[:3], ZERO])
        is_first = within(handler, at[3], 0, 1)
        return load() if is_first is None else handler.masked(is_first, load, 0, float32)

    return TensorBox((*statistics.sizes[:3], 2), float32, inner, inputs=[statistics], operations=1)


def _logarithms(normalizers: TensorBox) -> TensorBox:
    """The sum of both numbers of each row."""
    sizes = (*normalizers.sizes[:3], 1)
    first = reindexed(normalizers, sizes, lambda at: [*at[:3], ZERO])
    second = reindexed(normalizers, sizes, lambda at: [*at[:3], at[3] + 1])

    def inner(handler: Handler, at: Position) -> object:
        return handler.apply("add", first.load(handler, at), second.load(handler, at))

    return TensorBox(sizes, normalizers.dtype, inner, inputs=[normalizers], operations=1)
