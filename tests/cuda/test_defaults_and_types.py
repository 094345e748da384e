"""The default device, PyTorch's first names for tensors on a GPU, and what programs ask before they use one."""

from __future__ import annotations

import pytest

import minitorch_compile as torch

ZERO, ONE = torch.device("cuda", 0), torch.device("cuda", 1)


def test_new_tensors_go_to_the_default_device() -> None:
    torch.set_default_device("cuda")
    try:
        assert torch.get_default_device() == ZERO == torch.ones(2).device == torch.tensor(1).device
        assert torch.rand(2).device == torch.arange(3).device == torch.nn.Linear(2, 2).weight.device == ZERO
        with torch.device("cpu"):
            assert torch.ones(2).device.type == "cpu"
        torch.set_default_device("cuda:1")
        assert torch.ones(2).device == torch.get_default_device() == ONE
    finally:
        torch.set_default_device(None)
    assert torch.ones(2).device.type == torch.get_default_device().type == "cpu"


def test_types_have_names() -> None:
    x = torch.ones(2, device="cuda")
    assert (x.type(), x.half().type(), x.cpu().type()) == (
        "torch.cuda.FloatTensor",
        "torch.cuda.HalfTensor",
        "torch.FloatTensor",
    )
    assert isinstance(x, torch.cuda.FloatTensor) and not isinstance(x, (torch.FloatTensor, torch.cuda.LongTensor))
    assert torch.typename(x) == "torch.cuda.FloatTensor" and repr(torch.cuda.FloatTensor) == (
        "<class 'torch.cuda.FloatTensor'>"
    )


def test_types_convert_and_move() -> None:
    x = torch.ones(2)
    there = x.type(torch.cuda.LongTensor)
    assert there.device == ZERO and there.dtype is torch.int64
    assert x.type("torch.cuda.DoubleTensor").type() == there.type(torch.float64).type() == "torch.cuda.DoubleTensor"
    assert there.type("torch.FloatTensor").device.type == there.type(torch.FloatTensor).device.type == "cpu"
    layer = torch.nn.Linear(2, 2).type(torch.cuda.HalfTensor)
    assert layer.weight.dtype is torch.float16 and layer.weight.is_cuda


def test_types_make_tensors() -> None:
    assert torch.cuda.FloatTensor([1, 2]).device == ZERO and torch.cuda.LongTensor(2, 3).dtype is torch.int64
    assert torch.ones(2, device="cuda:1").new(3).device == ONE
    torch.set_default_tensor_type(torch.cuda.DoubleTensor)
    try:
        assert torch.ones(2).type() == "torch.cuda.DoubleTensor"
    finally:
        torch.set_default_tensor_type("torch.FloatTensor")
    assert torch.ones(2).type() == "torch.FloatTensor"


@pytest.mark.parametrize("backend", ["eager"])
def test_types_in_compiled_code(backend: str) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        kind = torch.cuda.FloatTensor if isinstance(x, torch.cuda.FloatTensor) else torch.FloatTensor
        return x + kind([1, 2]) + torch.ones(2, device="cpu").type(kind)

    compiled = torch.compile(program, backend=backend)
    for x in (torch.ones(2), torch.ones(2, device="cuda")):
        assert compiled(x).device == x.device and compiled(x).tolist() == program(x).tolist() == [3, 4]


def test_what_programs_ask_first() -> None:
    assert torch.backends.cuda.is_built() and torch.cuda.can_device_access_peer(0, 1)


def test_orthogonal_weights_are_drawn_where_they_are() -> None:
    torch.manual_seed(0)
    here = torch.nn.init.orthogonal_(torch.empty(3, 5))
    for made_on in ("cuda", "cpu"):
        torch.manual_seed(0)
        with torch.device(made_on):
            assert torch.equal(torch.nn.init.orthogonal_(torch.empty(3, 5, device="cuda")).cpu(), here)
    with torch.device("cuda"):
        assert torch.nn.init.orthogonal_(torch.empty(2, 2, device="cpu")).is_cpu


def test_an_unsigned_number_is_not_kept_above_a_negative_one() -> None:
    with pytest.raises(RuntimeError, match="unsigned type with negative limits"):
        torch.nn.functional.hardtanh(torch.ones(2, dtype=torch.uint8, device="cuda"))
    x = torch.tensor([0, 3], dtype=torch.uint8, device="cuda")
    assert torch.nn.functional.hardtanh(x, -0.5, 1.5).tolist() == [0, 1]  # the limits are cut off first
