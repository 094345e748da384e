"""The op that copies from one device to another. It is differentiated, traced and batched like any other.

>>> from minitorch_compile.tensor import ones, ops
>>> from minitorch_compile.tensor.memory.device import META
>>> ops.to_device(ones(2, 3), META).device
device(type='meta')
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.dispatch.accelerators import moved
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.memory.memory_format import preserved_strides
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


class TransferOp(Op):
    """Its tensor and its result are on different devices, so it asks nobody where it runs."""

    kind = "copy"

    def run_bound(self, bound: tuple[Any, ...]) -> Any:
        input, where, non_blocking = self.tensor_argument(bound, 0), *bound[1:]
        return self.meta(*bound) if input.is_fake or where.type == "meta" else moved(input, where, non_blocking)

    def meta(self, *args: Any, **kwargs: Any) -> Any:
        """A fake tensor on the other device, in the same mode."""
        bound = self.bind(args, kwargs)
        result = self.meta_rule(*bound)
        result.fake_mode = bound[0].fake_mode
        return result

    def meta_rule(self, *bound: Any) -> TensorBase:
        input, where, *_ = bound
        return empty_fake(input.sizes, preserved_strides(tuple(input.sizes), input.strides), input.dtype, where)
