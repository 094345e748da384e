"""Memory of a GPU that two libraries share: by DLPack and by __cuda_array_interface__, in the order of streams.

The other library is a stand-in here: what it describes is memory of the same simulated GPU.
"""

from __future__ import annotations

import gc
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime, using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver

ONE = torch.device("cuda", 1)


class Described:
    """An array of another library, as its __cuda_array_interface__ says."""

    def __init__(self, tensor: Any, **changes: Any) -> None:
        self.kept = tensor
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__ | changes


class WithoutVersions:
    """An array of another library that speaks DLPack as it was before version 1. `asked`: for which streams."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.asked: list[int] = []

    def __dlpack__(self, *, stream: int) -> Any:
        self.asked.append(stream)
        return self.tensor.__dlpack__(stream=stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()


def test_the_interface_describes_the_memory() -> None:
    x = torch.arange(6, device="cuda").view(2, 3)
    said = x.__cuda_array_interface__
    assert (said["typestr"], said["shape"], said["strides"], said["version"]) == ("<i8", (2, 3), None, 3)
    assert said["data"] == (x.data_ptr(), False) and said["stream"] == 1
    assert x.t()[1:].__cuda_array_interface__["strides"] == (8, 24)
    assert x.t()[1:].__cuda_array_interface__["data"][0] == x.data_ptr() + 8
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        assert x.__cuda_array_interface__["stream"] == side.cuda_stream
    assert x[:0].__cuda_array_interface__["data"] == (0, False)


def test_what_cannot_be_described_is_refused() -> None:
    assert not hasattr(torch.ones(1), "__cuda_array_interface__")
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.ones(1, device="cuda", requires_grad=True).__cuda_array_interface__
    with pytest.raises(TypeError, match="bfloat16"):
        torch.ones(1, device="cuda", dtype=torch.bfloat16).__cuda_array_interface__
    with pytest.raises(TypeError, match="mask"):
        torch.as_tensor(Described(torch.ones(1, device="cuda"), mask=1))
    with pytest.raises(ValueError, match="not a multiple"):
        torch.as_tensor(Described(torch.ones(2, device="cuda"), strides=(3,)))


def test_memory_that_an_interface_describes_is_shared() -> None:
    x = torch.arange(6.0, device="cuda:1").view(2, 3)
    y = torch.as_tensor(Described(x.t()), device="cuda:1")
    assert y.data_ptr() == x.data_ptr() and y.device == ONE and y.stride() == (1, 3)
    y[0, 1] = 9
    assert x.tolist() == [[0, 1, 2], [9, 4, 5]]
    copy = torch.tensor(Described(x), dtype=torch.float64)
    assert copy.data_ptr() != x.data_ptr() and copy.device == ONE and copy.dtype is torch.float64
    assert torch.as_tensor(Described(x), device="cpu").tolist() == x.tolist()


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0)])
def test_capsules_go_there_and_back(version: tuple[int, int] | None) -> None:
    x = torch.arange(6.0, device="cuda:1").view(2, 3)
    capsule = x[:, 1:].__dlpack__(max_version=version)
    assert ("dltensor_versioned" in repr(capsule)) == (version == (1, 0))
    y = torch.from_dlpack(capsule)
    assert y.device == ONE and y.stride() == (3, 1) and y.tolist() == [[1, 2], [4, 5]]
    y.zero_()
    assert x.tolist() == [[0, 0, 0], [3, 0, 0]]
    with pytest.raises(ValueError, match="incorrect name"):
        torch.from_dlpack(capsule)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64", "int8", "uint8", "int64", "bool", "complex64"])
def test_dtypes_survive(name: str) -> None:
    x = torch.tensor([0, 1], dtype=getattr(torch, name), device="cuda")
    y = torch.from_dlpack(x)
    assert y.dtype is x.dtype and y.data_ptr() == x.data_ptr() and y.tolist() == x.tolist()
    assert x.__dlpack_device__() == (2, 0)


def test_memory_lives_as_long_as_somebody_reads_it(gpus: Runtime) -> None:
    gc.collect()
    before = torch.cuda.memory_allocated()
    x = torch.ones(1000, device="cuda")
    capsule, y = x.__dlpack__(), torch.from_dlpack(x)
    del x
    assert torch.cuda.memory_allocated() > before and y.sum().item() == 1000
    del y
    assert torch.cuda.memory_allocated() > before
    del capsule  # nobody has read it
    gc.collect()
    assert torch.cuda.memory_allocated() == before


def test_arrays_that_know_no_versions() -> None:
    other = WithoutVersions(torch.ones(2, device="cuda"))
    assert torch.from_dlpack(other).tolist() == [1, 1] and other.asked == [1]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.from_dlpack(other)
    assert other.asked[1:] == [side.cuda_stream]


@pytest.mark.parametrize("way", ["dlpack", "interface"])
def test_the_consumer_waits_for_the_producers_stream(way: str) -> None:
    """The stand-in does work as late as it may: what isn't ordered reads what was there before."""
    with using(FakeDriver(order="latest")):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            x = torch.zeros(4, device="cuda") + 1
            described = Described(x)
        if way == "interface":
            y = torch.as_tensor(described)
        else:
            with torch.cuda.stream(side):
                y = torch.from_dlpack(x.__dlpack__(stream=1))
        assert (y + 1).tolist() == [2, 2, 2, 2]


def test_streams_that_say_nothing_are_refused() -> None:
    x = torch.ones(1, device="cuda")
    with pytest.raises(TypeError, match="stream must be"):
        x.__dlpack__(stream="0")
    with pytest.raises(BufferError, match="stream 0 is ambiguous"):
        x.__dlpack__(stream=0)
    assert torch.from_dlpack(x.__dlpack__(stream=-1)).tolist() == [1]
    with pytest.raises(RuntimeError, match="move the tensor"):
        torch.from_dlpack(x, device="cpu")
