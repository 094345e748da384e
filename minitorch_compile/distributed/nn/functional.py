"""Collectives that give new tensors, with gradients. With one process, each gets what it gives.

>>> from minitorch_compile import distributed, ones
>>> distributed.init_process_group("gloo", init_method="tcp://localhost:29500", rank=0, world_size=1)
>>> x = ones(2, requires_grad=True)
>>> (all_reduce(x) * 3).sum().backward()
>>> x.grad
tensor([3., 3.])
>>> distributed.destroy_process_group()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.distributed import collectives
from minitorch_compile.distributed.process_group import only_rank, the_group
from minitorch_compile.distributed.work import ReduceOp
from minitorch_compile.tensor import Tensor

Tensors = Sequence[Tensor]


def _received(tensor: Tensor, group: Any) -> Tensor:
    """What arrives in this process: a tensor of its own, through which gradients find the one that was sent."""
    the_group(group)
    return tensor.clone()


def _from(rank: int, tensor: Tensor, group: Any, caller: str) -> Tensor:
    only_rank(the_group(group), rank, caller)
    return _received(tensor, group)


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum, or what `op` says, over all processes."""
    return _received(tensor, group)


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """In the process `dst`, the sum over all processes."""
    return _from(dst, tensor, group, "reduce")


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """The tensor of the process `src`."""
    return _from(src, tensor, group, "broadcast")


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """In the process `dst`, the tensors of all."""
    return (_from(dst, tensor, group, "gather"),)


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all processes."""
    return (_received(tensor, group),)


def scatter(tensors: Tensors, src: int = 0, group: Any = None) -> Tensor:
    """That of the tensors of the process `src` which is for this one."""
    return _from(src, collectives._only(tensors, "scatter", "tensors"), group, "scatter")


def reduce_scatter(output: Tensor, input_list: Tensors, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum over all processes of their tensors for this one, which is written into `output`, too."""
    collectives.reduce_scatter(output, [x.detach() for x in input_list], op, group)
    return _received(input_list[0], group)


def all_to_all(output_tensor_list: Tensors, input_tensor_list: Tensors, group: Any = None) -> tuple[Tensor, ...]:
    """What each process has for this one, which is written into the tensors of `output_tensor_list`, too."""
    collectives.all_to_all(output_tensor_list, [x.detach() for x in input_tensor_list], group)
    return (_received(input_tensor_list[0], group),)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
) -> Tensor:
    """The parts that each process has for this one, which are written into `output`, too."""
    collectives.all_to_all_single(output, input.detach(), output_split_sizes, input_split_sizes, group)
    return _received(input, group)
