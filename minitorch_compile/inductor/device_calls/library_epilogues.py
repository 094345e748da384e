"""Products to which cuBLASLt itself adds a bias, and of which it takes gelu, before it stores them.

What follows a product is loops like any other. Some of them cuBLASLt has as an *epilogue*: a kernel less, and a result
that isn't written, read and written again. Which loops these are is said by programs (`PROGRAMS`), lowered as a user's
are; a loop in a graph is one of them if it is written the same (`product_epilogue.py`). First the bias is taken in,
whose sum is a loop of its own (`sum_rule`), then what alone reads the sum. cuBLASLt rounds once, at the end.

Gelu is the form with tanh, of floats of two bytes: how precise it is for others NVIDIA doesn't say. Nor does it say
what becomes of NaN in relu, so that stays a loop, as all else does.

>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, w, b = (Buffer.contiguous(*named, float32) for named in (("x", (16, 24)), ("w", (24, 32)), ("b", (32,))))
>>> product, out = (Buffer.contiguous(name, (16, 32), float32) for name in ("product", "out"))
>>> def added(ops, at):
...     return ops.apply("add", ops.load(product, product.address(at)), ops.load(b, b.address(at[1:])))
>>> multiply = ExternCall("mm", [whole(x), whole(w)], [product])
>>> with_library_epilogues(LoopGraph([x, w, b], [multiply, Loop(out, (16, 32), added)], [whole(out)])).operations
[out: float32[16, 32] = biased_mm(x[16, 24]:[24, 1], w[24, 32]:[32, 1], b[32]:[1], 'BIAS')]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from minitorch_compile.aot.tracing import trace
from minitorch_compile.inductor.device_calls.product_epilogue import WrittenEpilogue, follows, write_epilogue
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import buffers_read
from minitorch_compile.inductor.ir.extern_call import ExternCall, whole
from minitorch_compile.inductor.ir.loops import Loop, LoopGraph, TensorBox
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.lowering.graph_lowering import GraphLowering
from minitorch_compile.inductor.lowering.half_precision import HALF
from minitorch_compile.inductor.lowering.table import ADAPTERS, table
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.prims import decompose
from minitorch_compile.tensor import no_grad, ops
from minitorch_compile.tensor.memory.device import CPU
from minitorch_compile.tensor.numerics.dtype import bfloat16, dtype, float16, float32
from minitorch_compile.tensor.tensor_base import empty_fake

CALL = "biased_mm"
ELEMENTS = (bfloat16, float16, float32)
STEP = 8  # elements, of which a row of the result is a multiple: cuBLASLt then has its usual algorithms
SIZES = 16, 32  # of the programs

# By cuBLASLt's names: of a product, or of one with its bias.
PROGRAMS: Mapping[str, Callable[..., Any]] = {
    "BIAS": lambda product, bias: product + bias,
    "GELU_BIAS": lambda total: ops.gelu(total, "tanh"),
}
Key = tuple[str, tuple[Any, ...]]  # what a loop does: its text, and the numbers in it


def with_library_epilogues(graph: LoopGraph, to_the_end: bool = False) -> LoopGraph:
    """The graph with each product and the loop that alone reads it as one call, if cuBLASLt computes both; and then
    with the next loop, in the same way. With `to_the_end` only if no loop is left behind it, since a kernel of ours may
    take in all of them."""
    calls = [call for call in graph.operations if isinstance(call, ExternCall) and _can_be_first(call)]
    if not calls:
        return graph
    readers: dict[Buffer, list[Any]] = {}
    for operation in graph.operations:
        for buffer in buffers_read(operation):
            readers.setdefault(buffer, []).append(operation)
    merged = _with_one_loop_more(*_with_one_loop_more(graph, calls, readers), readers)[0]
    if not to_the_end:
        return merged
    factors = lambda call: tuple(map(id, call.inputs[:2]))
    made = [call for call in merged.operations if isinstance(call, ExternCall) and call.kernel == CALL]
    left = {factors(call) for call in made if any(isinstance(x, Loop) for x in readers.get(call.outputs[0], ()))}
    calls = [call for call in calls if factors(call) not in left]
    return _with_one_loop_more(*_with_one_loop_more(graph, calls, readers), readers)[0]


def _with_one_loop_more(
    graph: LoopGraph, calls: Sequence[ExternCall], readers: Mapping[Buffer, Sequence[Any]]
) -> tuple[LoopGraph, list[ExternCall]]:
    """The graph, and the calls that took one in. `readers`: the operations that read a buffer."""
    kept = {view.buffer for view in graph.outputs}
    merged: dict[int, ExternCall | None] = {}
    for call in calls:
        if call.outputs[0] in kept or len(readers.get(call.outputs[0], ())) != 1:
            continue
        (loop,) = readers[call.outputs[0]]
        together = merge(call, loop) if type(loop) is Loop else None
        if together is not None:
            merged |= {id(call): None, id(loop): together}
    found = [merged.get(id(operation), operation) for operation in graph.operations]
    operations = [operation for operation in found if operation is not None]
    return replace(graph, operations=operations), [call for call in merged.values() if call is not None]


def _can_be_first(call: ExternCall) -> bool:
    product = call.outputs[0]
    if call.kernel not in ("mm", CALL) or call.parameters not in ((), ("BIAS",)):
        return False
    return product.dtype in ELEMENTS and product.sizes[-1] % STEP == 0 and 0 not in product.sizes


def merge(call: ExternCall, loop: Loop) -> ExternCall | None:
    """A product and the loop that reads it as one call; None if cuBLASLt has no such epilogue."""
    (product,) = call.outputs
    others = [buffer for buffer in dict.fromkeys(buffers_read(loop)) if buffer is not product]
    if len(others) != (call.kernel == "mm") or {buffer.dtype for buffer in (*others, loop.buffer)} != {product.dtype}:
        return None
    written = _written(loop, product)
    if written is None or written.sizes != [product.sizes[-1]] * len(others):
        return None
    name = known_epilogues(product.dtype).get(_key(written))
    if name is None or any(bias.length != product.sizes[-1] for bias in others):
        return None
    return ExternCall(CALL, [*call.inputs, *map(whole, others)], [loop.buffer], (name,), call.origin)


def sum_rule(graph: GraphLowering, a: TensorBox, b: TensorBox) -> TensorBox | None:
    """The sum of a product and a row, stored, so that it is a loop of its own. (If cuBLASLt doesn't take it in, it is
    fused with whoever reads it, as before.) None for another sum."""
    products = {call.outputs[0] for call in graph.operations if isinstance(call, ExternCall) and call.kernel == "mm"}
    for product, row in ((a, b), (b, a)):
        base = row.view_of
        if product.buffer in products and base is not None and base.buffer is not None:
            if base.sizes == product.sizes[1:] and row.sizes == product.sizes and product.dtype in ELEMENTS:
                adapt = ADAPTERS.get(product.dtype)
                rule = adapt("add", table["add"], [product.dtype]) if adapt else table["add"]
                total: TensorBox = rule(graph, a, b)
                graph.realize(total)
                return total
    return None


@cache
def known_epilogues(element: dtype) -> Mapping[Key, str]:
    """The names of cuBLASLt's, by what a loop looks like that does the same."""
    found = {}
    for name, program in PROGRAMS.items():
        if name == "GELU_BIAS" and element not in HALF:
            continue
        graph = _lowered(program, element)
        (loop,), product = graph.operations, graph.inputs[0]
        written = _written(loop, product) if isinstance(loop, Loop) else None
        assert written is not None, "each is one loop behind a product"
        found[_key(written)] = name
    return found


def _lowered(program: Callable[..., Any], element: dtype) -> LoopGraph:
    count = program.__code__.co_argcount
    stand_ins = [empty_fake(sizes, None, element) for sizes in (SIZES, SIZES[1:])][:count]
    with no_grad(), CPU:
        return lower(decompose(trace(lambda *x: (program(*x),), stand_ins)))


def _written(loop: Loop, product: Buffer) -> WrittenEpilogue | None:
    group = Group.of(loop).merged()
    return write_epilogue(group, product, frozenset([product])) if follows(group, product) else None


def _key(written: WrittenEpilogue) -> Key:
    """Without comments, which name ops and places, and with the place of an element spelled in one way."""
    lines = [line for line in written.text.splitlines() if not line.lstrip().startswith("#")]
    text = "\n".join(lines).replace("[i1 + n0 * i0]", "[n0 * i0 + i1]")
    return text, tuple((repr(number), kind.name) for number, kind in written.numbers)
