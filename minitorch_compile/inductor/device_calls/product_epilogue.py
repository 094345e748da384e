"""The loops that follow a product, as the last part of its kernel: for each element of the result, as it is made.

They are written as all kernels are, by the handler of `lifted_kernel.py`. But there is one element, at `place` in the
result, in a `line` and a `column` of it, and the product is not loaded: it is `total`. Only loops that take each
element at its own place can follow so.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.inductor.schedule.group import Group
>>> from minitorch_compile.tensor.numerics.dtype import float16, float32
>>> product, bias, out = (Buffer.contiguous(n, s, float16) for n, s in [("p", (4, 8)), ("bias", (8,)), ("out", (4, 8))])
>>> def added(ops, at):
...     p, b = (ops.convert(ops.load(x, x.address(i)), float32) for x, i in ((product, at), (bias, at[1:])))
...     return ops.convert(ops.apply("add", p, b), float16)
>>> group = Group.of(Loop(out, (4, 8), added)).merged()
>>> follows(group, product)
True
>>> print(write_epilogue(group, product, frozenset([product])).text)
def finish(total, place, line, column, in1, out0, n0):
    if True:
        i0 = line
        i1 = column
        t0 = half_floats.float32_of_float16(total)
        t1 = in1[i1]
        t2 = half_floats.float32_of_float16(t1)
        t3 = t0 + t2
        t4 = half_floats.float16_of_float32(t3)
        out0[n0 * i0 + i1] = t4
<BLANKLINE>
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from minitorch_compile.inductor.codegen.cuda.strategies.choose import Strategy
from minitorch_compile.inductor.codegen.cuda.strategies.walk import Walk
from minitorch_compile.inductor.codegen.shared.block import Value
from minitorch_compile.inductor.device_calls.launcher import SIZE, memory_dtype
from minitorch_compile.inductor.device_calls.lifted_kernel import LiftedKernelWriter
from minitorch_compile.inductor.device_calls.tensor_core_product import Epilogue
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.handler import Number
from minitorch_compile.inductor.ir.index import ZERO
from minitorch_compile.inductor.ir.iteration import Axes, count
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.strategy import choose_order
from minitorch_compile.tensor.numerics.dtype import dtype


class EpilogueWriter(LiftedKernelWriter):
    """The loops over all elements run once, for the one at `place`."""

    def __init__(self, group: Group, product: Buffer, internal: frozenset[Buffer]) -> None:
        super().__init__(group, internal)
        self.product = product
        self.buffers = [buffer for buffer in self.buffers if buffer is not product]
        self.forwarded[product, 0] = Value("total", product.dtype, self.root)

    def choose(self, internal: frozenset[Buffer]) -> Strategy:
        return Walk(self.order, False, "each element as the product makes it")

    def deal_out(self, axes: Axes, first: str, step: str, end: str = "") -> None:
        """A block for one element instead of a loop over all; where axes are lines and columns, nothing is divided."""
        if len(axes) > 2 or (len(axes) == 2 and axes[1].size != self.product.sizes[-1]):
            super().deal_out(axes, "place", self.number_text(count(axes), axes))
            return
        self.enter("if True:", frozenset().union(*(axis.variable.symbols for axis in axes)))
        for axis, known in zip(axes, ("line", "column") if len(axes) == 2 else ("place",), strict=True):
            self.block.add(f"{axis.variable} = {known}")


@dataclass
class WrittenEpilogue:
    """`epilogue`, and what it is called with: buffers, of which some are `made`, sizes and numbers, in the order of its
    parameters."""

    epilogue: Epilogue
    buffers: list[Buffer]
    made: list[Buffer]
    sizes: list[int]
    numbers: list[tuple[Number, dtype]]

    @property
    def text(self) -> str:
        return self.epilogue.text


def follows(group: Group, product: Buffer) -> bool:
    """Whether loops take each element of the product, which lies row-major, at its own place, and no other."""
    if group.has_reduction or group.has_scan or not group.is_fusible:
        return False
    order = choose_order(group)
    if order.columns is not None:
        return False
    place, left = ZERO, count(order.rows)
    if left != product.length:
        return False
    for axis in order.rows:
        left //= axis.size
        place = place + axis.variable * left
    reads = [access for member in group.members for access in member.reads]
    return all(
        access.address == place and not access.masked for access in reads if access.buffer is product
    ) and not any(access.address.is_indirect for access in reads)


def write_epilogue(group: Group, product: Buffer, internal: frozenset[Buffer]) -> WrittenEpilogue:
    """What follows a product, of which nothing is stored if it is among the `internal` buffers."""
    writer = EpilogueWriter(group, product, internal - {product})
    source = writer.write()
    assert not source.uses_status, "nothing is read through indices"
    pointers = {name: memory_dtype(buffer.dtype).name for name, buffer in zip(source.names, source.buffers)}
    numbers = dict.fromkeys(writer.sizes, SIZE) | {name: f"={kind.name}" for name, (_, kind) in writer.numbers.items()}
    parameters = ", ".join(["total", "place", "line", "column", *pointers, *numbers])
    text = f"def finish({parameters}):\n{textwrap.indent(source.body, '    ')}\n"
    epilogue = Epilogue(text, pointers, numbers, keeps=product not in internal)
    made = [buffer for buffer in source.buffers if buffer in group.outputs]
    return WrittenEpilogue(epilogue, source.buffers, made, [*writer.sizes.values()], [*writer.numbers.values()])
