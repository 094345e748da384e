"""What is not put into one kernel on a GPU, though it would save memory traffic.

A sum over lines, such as the gradient of a bias, goes down columns: a thread takes 16 bytes of each line, and nothing
else is done on the way. Were the elements themselves stored there, too, each thread would go down one column, element
by element, and what belongs to a line would be computed by all threads again. Two kernels, of which the second reads
what the first has just written, take a third of the time (a layer norm's gradient of 8,192 x 768: 80 us as one).

>>> from minitorch_compile.inductor.ir.buffer import Buffer
>>> from minitorch_compile.inductor.ir.loops import Loop
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> x, y, total = (Buffer.contiguous(name, sizes, float32) for name, sizes in zip("xyt", [(64, 32), (64, 32), (32,)]))
>>> body = lambda ops, at: ops.load(x, x.address(at))
>>> doubled = Group.of(Loop(y, (64, 32), lambda ops, at: ops.apply("add", body(ops, at), body(ops, at))))
>>> refusal(doubled.fuse(Group.of(Loop(total, (64, 32), body, (0,), "sum"))))
'columns are gone down for sums alone'
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from minitorch_compile.inductor.schedule.fit import Limits
from minitorch_compile.inductor.schedule.group import Group, WhyNot
from minitorch_compile.inductor.schedule.strategy import choose_order


def refusal(group: Group | WhyNot) -> str:
    """Why a fused group isn't one kernel; "" if it is."""
    if isinstance(group, WhyNot) or not group.has_reduction or group.has_scan:
        return ""
    stores = any(member.inner and not member.loop.is_reduction for member in group.members)
    sums = any(member.loop.is_reduction for member in group.members)
    return "columns are gone down for sums alone" if stores and sums and choose_order(group).columns else ""


device_limits: Callable[..., Limits] = partial(Limits, refusal=refusal)
