"""Tensors that all processes of a group exchange. With one process, each gets what it gives.

>>> from minitorch_compile import distributed, tensor, zeros
>>> distributed.init_process_group("gloo", init_method="tcp://localhost:29500", rank=0, world_size=1)
>>> x, everyones = tensor([1.0, 2.0]), [zeros(2)]
>>> all_reduce(x)
>>> all_gather(everyones, x)
>>> x, everyones
(tensor([1., 2.]), [tensor([1., 2.])])
>>> distributed.destroy_process_group()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from minitorch_compile.distributed.process_group import only_rank, the_group
from minitorch_compile.distributed.work import ReduceOp, Work
from minitorch_compile.tensor.grad_mode import no_grad
from minitorch_compile.tensor.tensor_class.tensor_class import Tensor


def _tensor(value: Any, caller: str, name: str) -> Tensor:
    if not isinstance(value, Tensor):
        raise TypeError(f"{caller}: {name} must be a tensor, got {type(value).__name__}")
    return value


def _only(tensors: Sequence[Tensor] | None, caller: str, name: str) -> Tensor:
    """The one tensor of a list with one for each process."""
    if tensors is None or len(tensors) != 1:
        raise RuntimeError(
            f"{caller}: {name} must have a tensor for each of 1 processes, got"
            f" {'None' if tensors is None else len(tensors)}"
        )
    return _tensor(tensors[0], caller, f"{name}[0]")


def _copy(target: Tensor, source: Tensor, caller: str, same_sizes: bool = True) -> None:
    """Writes what was received. RuntimeError if it doesn't fit."""
    if target.shape != source.shape if same_sizes else target.numel() != source.numel():
        raise RuntimeError(
            f"{caller}: what is received has sizes {list(source.shape)}, but the tensor for it {list(target.shape)}"
        )
    if target.dtype is not source.dtype:
        raise RuntimeError(f"{caller}: what is received is {source.dtype}, but the tensor for it {target.dtype}")
    with no_grad():
        target.copy_(source.reshape(target.shape))


def _work(async_op: bool, *tensors: Tensor) -> Work | None:
    return Work([*tensors]) if async_op else None


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """`tensor` becomes the sum (or what `op` says) over all processes: it stays."""
    the_group(group)
    return _work(async_op, _tensor(tensor, "all_reduce", "tensor"))


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """In the process `dst`, `tensor` becomes the sum over all processes: it stays."""
    only_rank(the_group(group), dst or group_dst, "reduce")
    return _work(async_op, _tensor(tensor, "reduce", "tensor"))


def broadcast(
    tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """`tensor` becomes that of the process `src`: it stays."""
    only_rank(the_group(group), src or group_src, "broadcast")
    return _work(async_op, _tensor(tensor, "broadcast", "tensor"))


def all_gather(tensor_list: Sequence[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """Each process gets the tensors of all: `tensor_list[0]` that of the only one."""
    the_group(group)
    target = _only(tensor_list, "all_gather", "tensor_list")
    _copy(target, _tensor(tensor, "all_gather", "tensor"), "all_gather")
    return _work(async_op, target)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Each process gets the tensors of all, one below the other."""
    the_group(group)
    _copy(output_tensor, input_tensor, "all_gather_into_tensor", same_sizes=False)
    return _work(async_op, output_tensor)


def gather(
    tensor: Tensor,
    gather_list: Sequence[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """The process `dst` gets the tensors of all."""
    only_rank(the_group(group), dst or group_dst, "gather")
    if gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    target = _only(gather_list, "gather", "gather_list")
    _copy(target, _tensor(tensor, "gather", "tensor"), "gather")
    return _work(async_op, target)


def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Each process gets its tensor of the list that `src` has."""
    only_rank(the_group(group), src or group_src, "scatter")
    if scatter_list is None:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    _copy(_tensor(tensor, "scatter", "tensor"), _only(scatter_list, "scatter", "scatter_list"), "scatter")
    return _work(async_op, tensor)


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Each process gets the sum of all processes' tensors for it."""
    the_group(group)
    _copy(
        _tensor(output, "reduce_scatter", "output"), _only(input_list, "reduce_scatter", "input_list"), "reduce_scatter"
    )
    return _work(async_op, output)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Each process gets the sum of all processes' rows for it."""
    the_group(group)
    _copy(output, input, "reduce_scatter_tensor", same_sizes=False)
    return _work(async_op, output)


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: Any = None, async_op: bool = False
) -> Work | None:
    """Each process sends each a tensor."""
    the_group(group)
    target = _only(output_tensor_list, "all_to_all", "output_tensor_list")
    _copy(target, _only(input_tensor_list, "all_to_all", "input_tensor_list"), "all_to_all")
    return _work(async_op, target)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Each process sends each some of its rows."""
    the_group(group)
    _copy(output, input, "all_to_all_single")
    return _work(async_op, output)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: Any = None) -> Work | None:
    """Waits until all processes are here: they are."""
    the_group(group)
    return _work(async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """Waits until all processes are here, and says which are not: they are."""
    the_group(group)


def _alone(caller: str, group: Any) -> NoReturn:
    the_group(group)
    raise ValueError(
        f"{caller}: a process can't send to itself, and this is the only one; ask get_world_size() before it"
    )


def send(tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """ValueError: there is no other process."""
    _alone("send", group)


def recv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """ValueError: there is no other process."""
    _alone("recv", group)


def isend(
    tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None
) -> Work:
    """ValueError: there is no other process."""
    _alone("isend", group)


def irecv(
    tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None
) -> Work:
    """ValueError: there is no other process."""
    _alone("irecv", group)
