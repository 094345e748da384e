"""Tensors on a GPU: they are made there, moved, looked at and written to, and stay where they are."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.device_block import DeviceBlock

ZERO, ONE = torch.device("cuda", 0), torch.device("cuda", 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda where: torch.tensor([1.0, 2.0], device=where),
        lambda where: torch.zeros(2, device=where),
        lambda where: torch.empty(2, device=where),
        lambda where: torch.arange(2, device=where),
        lambda where: torch.rand(2, device=where),
        lambda where: torch.randint(5, (2,), device=where),
        lambda where: torch.ones(2).to(where),
        lambda where: torch.ones(2).cuda(where),
        lambda where: torch.as_tensor([1, 2], device=where),
        lambda where: torch.ones_like(torch.ones(2), device=where),
        lambda where: torch.ones(2).new_zeros(2, device=where),
        lambda where: torch.ones(2, dtype=torch.bfloat16, device=where),
        lambda where: torch.ones(2, dtype=torch.complex64, device=where),
    ],
)
def test_tensors_are_made_on_the_device_that_is_named(make: Any) -> None:
    assert make("cuda").device == ZERO and make("cuda:1").device == ONE and make(1).device == ONE
    with torch.cuda.device(1):
        assert make("cuda").device == ONE
    assert make("cuda").is_cuda and not make("cuda").is_cpu and make("cuda:1").get_device() == 1


def test_inside_a_device_factories_make_their_tensors_there() -> None:
    with torch.device("cuda:1"):
        assert torch.ones(2).device == torch.tensor(1).device == torch.rand(3).device == ONE
        assert torch.ones(2, device="cpu").device.type == "cpu"
        assert torch.rand(2, device="cpu").device.type == "cpu"


def test_a_tensor_that_is_there_is_not_copied() -> None:
    x = torch.arange(6.0, device="cuda").view(2, 3)
    assert x.to("cuda") is x and x.cuda() is x and x.cuda(0) is x
    y = x.to("cuda:1")
    assert y is not x and y.device == ONE and torch.equal(y.cpu(), x.cpu())
    y[0] = 7
    assert x[0].tolist() == [0.0, 1.0, 2.0]


def test_layouts_survive_the_way_there_and_back() -> None:
    x = torch.arange(24.0).view(2, 3, 4)
    for view in (x, x.permute(2, 0, 1), x[:, 1], x[:, ::2], x[0, 0, 0], x[:0], x.expand(2, 2, 3, 4)):
        there = view.cuda()
        assert there.stride() == view.clone().stride()
        assert np.array_equal(there.cpu().numpy(), view.numpy())
        assert there.cpu().stride() == there.stride()


@pytest.mark.parametrize("name", ["float64", "float16", "bfloat16", "int64", "int8", "uint8", "bool", "complex128"])
def test_every_dtype_goes_there_and_back(name: str) -> None:
    x = torch.tensor([0, 1, 3]).to(getattr(torch, name))
    there = x.cuda()
    assert there.dtype is x.dtype and there.tolist() == x.tolist() and torch.equal(there.cpu(), x)


def test_views_share_memory_and_writes_are_seen() -> None:
    x = torch.zeros(3, 4, device="cuda")
    row, column = x[1], x.t()[2]
    assert row.untyped_storage() == x.untyped_storage() and row.data_ptr() - x.data_ptr() == 16
    row.add_(1)
    column.fill_(5)
    x[0, 0] = 9
    x[2, 1:3] = torch.tensor([7.0, 8.0])
    assert x.tolist() == [[9, 0, 5, 0], [1, 1, 5, 1], [0, 7, 8, 0]]
    assert x._version == row._version == 4


def test_writes_of_whole_results_stay_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.arange(6.0, device="cuda").view(2, 3)
    row, version = x[1], x._version
    monkeypatch.setattr(DeviceBlock, "read", None)  # nothing comes to the host
    row.mul_(10)
    x.add_(1)
    x.t()[0].add_(1)  # with gaps
    x.t().mul_(2)  # across
    x[:, :2] = torch.ones(2, 1, device="cuda")
    monkeypatch.undo()
    assert x.tolist() == [[1, 1, 6], [1, 1, 102]] and x._version == version + 5


@pytest.mark.parametrize("name", ["float64", "bfloat16", "int64", "uint8", "bool", "complex64", "complex128"])
def test_writes_with_gaps_are_the_cpus(name: str) -> None:
    dtype = getattr(torch, name)
    here, values = torch.zeros(4, 6).to(dtype), torch.tensor([[1, 0], [3, 1]]).to(dtype)
    there = here.cuda()
    for x in (here, there):
        x[::2, 1::4].copy_(values.to(x.device))
        x[3].copy_(x[0])
        x[1, 1:].copy_(x[2, :-1])
    assert torch.equal(here, there.cpu())


def test_copies_go_between_devices_in_place() -> None:
    there, here = torch.zeros(2, 3, device="cuda"), torch.arange(6.0).view(2, 3)
    there.copy_(here)
    here.zero_().copy_(there.t().reshape(2, 3))
    assert here.tolist() == [[0, 3, 1], [4, 2, 5]]
    other = torch.zeros(3, device="cuda:1").copy_(there[1])
    assert other.tolist() == [3, 4, 5] and other.device == ONE


def test_it_prints_with_its_device() -> None:
    assert repr(torch.tensor([1, 2], device="cuda:1")) == "tensor([1, 2], device='cuda:1')"
    x = torch.ones(1, device="cuda", requires_grad=True)
    assert repr(x) == "tensor([1.], device='cuda:0', requires_grad=True)"
    assert repr(torch.zeros(0, 2, device="cuda", dtype=torch.float64)) == (
        "tensor([], device='cuda:0', size=(0, 2), dtype=torch.float64)"
    )


def test_numbers_come_out_and_arrays_do_not() -> None:
    x = torch.tensor([[1.5]], device="cuda")
    assert x.item() == 1.5 and float(x) == 1.5 and x.tolist() == [[1.5]] and bool(x > 1)
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu()"):
        x.numpy()
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        np.asarray(x)
    assert x.numpy(force=True).tolist() == [[1.5]]


def test_devices_do_not_mix() -> None:
    x = torch.ones(2, device="cuda")
    for y, name in ((torch.ones(2), "cpu"), (torch.ones(2, device="cuda:1"), "cuda:1")):
        for mix in (torch.add, torch.matmul, lambda x, y: torch.cat([x, y]), lambda x, y: torch.where(x > 0, x, y)):
            with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device") as error:
                mix(x, y)
            assert "cuda:0" in str(error.value) and name in str(error.value)
        with pytest.raises(RuntimeError):
            x.add_(y)
    assert (x + torch.tensor(2.0)).tolist() == (torch.tensor(2.0) + x).tolist() == [3, 3]
    assert (x + torch.tensor(2.0)).device == ZERO


def test_indices_may_be_in_main_memory() -> None:
    x = torch.arange(6.0, device="cuda").view(2, 3)
    assert x[torch.tensor([1])].tolist() == [[3, 4, 5]] and x[torch.tensor([1])].device == ZERO
    assert x[torch.tensor([1], device="cuda")].device == ZERO
    x[torch.tensor([0])] = 0.0
    assert x.tolist() == [[0, 0, 0], [3, 4, 5]]
    assert x[x > 3].tolist() == [4, 5]


def test_deep_copies_have_memory_of_their_own() -> None:
    x = torch.zeros(2, device="cuda")
    whole, part = copy.deepcopy([x, x[1:]])
    whole[1] = 4
    assert part.tolist() == [4] and x.tolist() == [0, 0] and whole.device == ZERO


def test_memory_grows_when_sizes_do() -> None:
    x = torch.arange(3.0, device="cuda")
    x.resize_(2, 4)
    assert x.device == ZERO and x[0, :3].tolist() == [0, 1, 2]
    out = torch.empty(0, device="cuda")
    torch.add(torch.ones(5, device="cuda"), 1, out=out)
    assert out.tolist() == [2] * 5


def test_wrong_devices_are_named() -> None:
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.ones(1, device="cuda:2")
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
        torch.ones(1, device="meta").cuda()
    assert torch.ones(1, device="cuda").to("meta").device.type == "meta"


def test_views_that_reach_out_of_memory_are_refused() -> None:
    with pytest.raises(RuntimeError, match="storage of 12"):
        torch.zeros(12, device="cuda").as_strided((3,), (5,), 9)
