"""torch.cuda.comm: a tensor on several GPUs, in parts or as copies, and back together.

One process copies from device to device; there is no library of collectives below.

>>> from minitorch_compile.cuda import runtime
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> from minitorch_compile.tensor import arange
>>> with runtime.using(FakeDriver(devices=2)):
...     parts = scatter(arange(5), [0, 1], chunk_sizes=[2, 3])
...     print([part.device.index for part in parts], gather(parts, destination="cpu"))
[0, 1] tensor([0, 1, 2, 3, 4])

Source: `torch/nn/parallel/comm.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.cuda import runtime
from minitorch_compile.cuda import streams as _streams
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.memory.device import device as Device

Tensor = Any


def _device(where: Any) -> Device:
    """A device by number, name or itself; None is the current GPU. RuntimeError for one that isn't there."""
    if where is not None and not isinstance(where, int) and Device(where).type == "cpu":
        return Device("cpu")
    found = runtime.required()
    return found.devices[found.index_of(where)]


def _devices(devices: Sequence[Any] | None) -> list[Device]:
    return list(runtime.required().devices) if devices is None else [_device(where) for where in devices]


def broadcast(tensor: Tensor, devices: Sequence[Any] | None = None, *, out: Sequence[Tensor] | None = None) -> Any:
    """The tensor on each of the devices, which are all GPUs unless given; where it is already, it is itself.

    `out`: tensors to copy into instead, on the devices wanted. RuntimeError unless exactly one of the two is given.
    """
    if not (devices is None) ^ (out is None):
        raise RuntimeError(
            f"Exactly one of 'devices' and 'out' must be specified, but got devices={devices}, out={out}"
        )
    if out is None:
        return tuple(tensor.to(where) for where in _devices(devices))
    for target in out:
        target.copy_(tensor)
    return tuple(out)


def broadcast_coalesced(tensors: Sequence[Tensor], devices: Sequence[Any], buffer_size: int = 10485760) -> Any:
    """The tensors, on each of the devices: a list for each. `buffer_size` is without effect: nothing is packed."""
    return tuple([tensor.to(where) for tensor in tensors] for where in _devices(devices))


def reduce_add(inputs: Sequence[Tensor], destination: Any = None) -> Tensor:
    """The sum of tensors on several GPUs, on one: the current one unless given.

    RuntimeError for none, or for one in main memory; ValueError if they have different sizes.
    """
    where = _device(destination)
    if not inputs:
        raise RuntimeError("reduce_add expects at least one tensor to add, but got none")
    for position, x in enumerate(inputs):
        if x.device.type == "cpu":
            raise RuntimeError("reduce_add expects all inputs to be on GPUs")
        if x.shape != inputs[0].shape:
            got, expected = "x".join(map(str, x.shape)), "x".join(map(str, inputs[0].shape))
            raise ValueError(f"input {position} has invalid size: got {got}, but expected {expected}")
    total = inputs[0].to(where)
    for x in inputs[1:]:
        total = total + x.to(where)
    return total


def reduce_add_coalesced(
    inputs: Sequence[Sequence[Tensor]], destination: Any = None, buffer_size: int = 10485760
) -> Any:
    """For each place in the lists of tensors, one list of each GPU, their sum."""
    return tuple(reduce_add(beside, destination) for beside in zip(*inputs, strict=True))


def scatter(
    tensor: Tensor,
    devices: Sequence[Any] | None = None,
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    streams: Sequence[Any] | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """Parts of a tensor along `dim`, one on each device: as equal as they can be, or of `chunk_sizes`.

    `streams`: in which each part is copied. `out`: tensors to copy the parts into instead. RuntimeError if the sizes
    don't add up, if there are not as many of them or of the streams as of devices, or for `devices` beside `out`.
    """
    if out is not None:
        if devices is not None or chunk_sizes is not None:
            raise RuntimeError(
                f"'devices' and 'chunk_sizes' must not be specified when 'out' is specified, but got devices={devices}"
                f" and chunk_sizes={chunk_sizes}"
            )
        sizes = [part.shape[dim] for part in out]
        for target, part in zip(out, ops.split(tensor, sizes, dim), strict=True):
            target.copy_(part)
        return tuple(out)
    places = _devices(devices)
    for name, given in (("chunk_sizes", chunk_sizes), ("streams", streams)):
        if given is not None and len(given) != len(places):
            raise RuntimeError(
                f"Expected devices and {name} to be of same length, but got len(devices) = {len(places)} and"
                f" len({name}) = {len(given)}"
            )
    if chunk_sizes is None:
        parts = ops.chunk(tensor, len(places), dim)
    elif sum(chunk_sizes) != tensor.shape[dim]:
        raise RuntimeError(
            f"given chunk sizes don't sum up to the tensor's size (sum(chunk_sizes) == {sum(chunk_sizes)}, but expected"
            f" {tensor.shape[dim]})"
        )
    else:
        parts = ops.split(tensor, list(chunk_sizes), dim)
    if streams is None:
        return tuple(part.contiguous().to(where) for part, where in zip(parts, places))
    made = []
    for part, where, stream in zip(parts, places, streams):
        with _streams.stream(stream):
            made.append(part.contiguous().to(where))
    return tuple(made)


def gather(tensors: Sequence[Tensor], dim: int = 0, destination: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Tensors on several GPUs one after another along `dim`, on one: the current one unless given; "cpu" is main
    memory.

    `out`: a tensor to copy them into instead. RuntimeError if `destination` is given beside it.
    """
    if out is None:
        where = _device(None if destination == -1 else destination)
        return ops.cat([x.to(where) for x in tensors], dim)
    if destination is not None:
        raise RuntimeError(
            f"'destination' must not be specified when 'out' is specified, but got destination={destination}"
        )
    out.copy_(ops.cat([x.to(out.device) for x in tensors], dim))
    return out
