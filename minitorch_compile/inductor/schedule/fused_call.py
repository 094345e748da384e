"""An extern kernel and the group that reads its result, as one kernel: the epilogue protocol.

A product is followed by a bias and an activation, a convolution by a normalisation. As two kernels, all of the result
is stored and fetched again. As one they take turns: the extern kernel makes a block of its result, and then the
group's loops run over this block, while it is in cache. If nobody else reads the result, all of it is never anywhere:
there is only room for one block (a `ScratchBlock` of scratch memory, see `native_call`).

An extern kernel takes part by saying how its result falls into pieces, which is a `Blocks`: its parameters begin with a
range [lo, hi) out of [0, extent), and position n of the range fills `elements` elements of its only output, from
n * elements on. The group needs to know nothing: its kernel is the usual one, whose range counts its outermost axis.
The two fit if each position of that axis reads only the piece of the result that is made for it.

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.extern_call import ExternCall, whole
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, w, product = (Buffer.contiguous(name, (96, 96), float32) for name in ("x", "w", "product"))
>>> call = ExternCall("mm", [whole(x), whole(w)], [product])
>>> out, sums = Buffer.contiguous("out", (96, 96), float32), Buffer.contiguous("sums", (96,), float32)
>>> exp = Loop(out, (96, 96), lambda ops, at: ops.apply("exp", ops.load(product, product.address(at))))
>>> fuse_call(call, Group.of(exp), Blocks(extent=96, elements=96, length=16))
FusedCall(mm: product, then Group(i0:9216; stage 0: out), in blocks of 16 of 96)
>>> down = Loop(sums, (96, 96), lambda ops, at: ops.load(product, product.address(at)), (0,), "sum")
>>> fuse_call(call, Group.of(down), Blocks(extent=96, elements=96, length=16)).reason
"its outermost loop doesn't go through product piece by piece"

Source of the idea: NVIDIA's CUTLASS, whose products take their epilogue as a parameter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.dependencies import Access
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.iteration import Axis
from minitorch_compile.inductor.schedule.group import Group, WhyNot
from minitorch_compile.inductor.schedule.strategy import range_axis

LARGEST_BLOCK = 1 << 20  # bytes: a larger block wouldn't be in cache any more when the group comes to it


class Blocks(NamedTuple):
    """How an extern kernel's result falls into pieces: `elements` for each of `extent` positions of its range.

    `length` positions make a good block.
    """

    extent: int
    elements: int
    length: int


@dataclass(eq=False)
class FusedCall:
    """An extern call and the group that reads its result block by block."""

    call: ExternCall
    epilogue: Group
    blocks: Blocks

    @property
    def result(self) -> Buffer:
        """What the call makes and the group reads."""
        return self.call.outputs[0]

    @property
    def outputs(self) -> list[Buffer]:
        return [self.result, *self.epilogue.outputs]

    @property
    def inputs(self) -> list[Buffer]:
        """The buffers that it reads and doesn't write itself."""
        read = dict.fromkeys([*(view.buffer for view in self.call.inputs), *self.epilogue.inputs])
        return [buffer for buffer in read if buffer is not self.result]

    @property
    def steps_of_epilogue(self) -> int:
        """How far the range of the group's kernel goes."""
        axis = range_axis(self.epilogue)
        assert axis is not None
        return axis.size

    @property
    def block_bytes(self) -> int:
        """The memory for one block of the result."""
        return self.blocks.length * self.blocks.elements * self.result.dtype.itemsize

    @property
    def is_fusible(self) -> bool:
        return True

    def __repr__(self) -> str:
        blocks = f"in blocks of {self.blocks.length} of {self.blocks.extent}"
        return f"FusedCall({self.call.kernel}: {self.result.name}, then {self.epilogue}, {blocks})"


def fuse_call(call: ExternCall, group: Group, blocks: Blocks) -> FusedCall | WhyNot:
    """The call with the group as its epilogue, or why that can't be. The group reads the result of the call."""
    (result,) = call.outputs
    if not group.is_fusible:
        return WhyNot("a scatter runs in order, alone")
    epilogue = group.merged()
    axis = range_axis(epilogue)
    if axis is None or blocks.extent * blocks.elements % axis.size:
        return WhyNot(f"its outermost loop doesn't go through {result.name} piece by piece")
    piece = blocks.extent * blocks.elements // axis.size
    for access in (access for member in epilogue.members for access in member.reads if access.buffer is result):
        if not stays_in_piece(access, axis, piece):
            return WhyNot(f"{access} is not in the piece of {result.name} that was just made")
    whole = blocks.extent // math.gcd(blocks.extent, axis.size)  # positions after which the group ends a step, too
    length = max(whole, blocks.length // whole * whole)
    if length > blocks.length and length * blocks.elements * result.dtype.itemsize > LARGEST_BLOCK:
        return WhyNot(f"a step of its outermost loop reads more of {result.name} than stays in cache")
    return FusedCall(call, epilogue, blocks._replace(length=length))


def stays_in_piece(access: Access, axis: Axis, piece: int) -> bool:
    """Whether position n of the axis reads only elements from n * piece up to (n + 1) * piece."""
    inside = access.address - axis.variable * piece
    if access.masked or access.address.is_indirect or inside.depends_on(axis.variable):
        return False
    least, most = inside.bounds()
    return least >= 0 and most < piece


def with_length(fused: FusedCall, length: int) -> FusedCall:
    """The same with blocks of about this length; a group may need them to be a multiple of something."""
    again = fuse_call(fused.call, fused.epilogue, fused.blocks._replace(length=length))
    return again if isinstance(again, FusedCall) else replace(fused)
