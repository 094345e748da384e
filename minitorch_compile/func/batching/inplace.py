"""Operations in place under vmap: the result for the batch is stored in the batch.

>>> import minitorch_compile as torch
>>> x = torch.zeros(2, 3)
>>> _ = torch.func.vmap(lambda row, number: row.add_(number))(x, torch.tensor([1.0, 2.0]))
>>> x
tensor([[1., 1., 1.],
        [2., 2., 2.]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.func.batch_tensor import BatchTensor, bottom
from minitorch_compile.func.batching.batch import Batch, Unbatched
from minitorch_compile.func.batching.rules import for_kind, rule_of
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.captured_memory import refuse_captured
from minitorch_compile.tensor.dispatch.dispatch import any_requires_grad, stacks
from minitorch_compile.tensor.dispatch.op_families import check_storable


@for_kind("inplace")
def inplace(batch: Batch, op: Any, target: Any, *rest: Any) -> Any:
    """A tensor that is the same for all can't take a result that differs.

    Where the tape records, or will when the graph runs that is traced now, the result is computed from a copy:
    derivatives may need the value that is overwritten.
    """
    refuse_captured(op.name, bottom(target))
    if not batch.holds(target):
        raise RuntimeError(
            f"vmap: {op.name} would store what differs between the examples in a tensor that is the same for all of"
            " them. Use the operation that returns a new tensor, or batch the target too"
        )
    old = target
    if any_requires_grad((target, *rest), {}) or stacks.modes:
        old = BatchTensor.of(ops.clone(target.value), batch.level)
    result = rule_of(op.functional)(batch, op.functional, old, *rest)
    check_storable(op.name, target, batch.wrapped(result))
    target.value.copy_(result)
    target._requires_grad = target.value._requires_grad
    return Unbatched(target)
