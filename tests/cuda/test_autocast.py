"""torch.autocast on a GPU: what PyTorch casts there is cast, on fake tensors, and what nothing is said of isn't."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.amp import autocast_state
from tests.amp import dtypes
from tests.amp.dtypes import cases_on

RECORDED = json.loads((Path(dtypes.__file__).parent / "recorded.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", cases_on("cuda"))
def test_what_pytorch_casts_is_cast(case: str) -> None:
    wrong = []
    with torch._subclasses.FakeTensorMode() as mode:
        for text, expected in RECORDED[case].items():
            got = dtypes.dtypes_of(torch, text, case, make=lambda x: mode.from_tensor(x).to("cuda"))
            if isinstance(got, list) and isinstance(expected, list) and got != expected:
                wrong.append((text, expected, got))
    assert wrong == []


X = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def product(where: str = "cuda") -> torch.dtype:
    x = X.to(where)
    return (x @ x).dtype


def test_each_device_has_a_switch_of_its_own() -> None:
    with torch.autocast("cuda"):
        assert product() is torch.float16 and product("cpu") is torch.float32
        assert torch.is_autocast_enabled() and not torch.is_autocast_enabled("cpu")
        with torch.autocast("cpu"):
            assert product() is torch.float16 and product("cpu") is torch.bfloat16
            with torch.autocast("cuda", dtype=torch.bfloat16):
                assert product() is torch.bfloat16 is torch.get_autocast_gpu_dtype()
                with torch.autocast("cuda", enabled=False):
                    assert product() is torch.float32 and product("cpu") is torch.bfloat16
            assert product() is torch.float16
    assert product() is product("cpu") is torch.float32


def test_a_weight_is_cast_once_and_gets_a_float32_gradient() -> None:
    weight = X.cuda().requires_grad_()
    with torch.autocast("cuda"):
        first = X.cuda() @ weight
        second = X.cuda() @ weight
        (kept,) = autocast_state.state.casts.values()
        assert kept[0].dtype is torch.float16 and kept[0].device == weight.device
        (first + second).sum().backward()
    assert autocast_state.state.casts == {}
    assert weight.grad.dtype is torch.float32 and weight.grad.tolist() == [[8, 8], [12, 12]]


def test_what_is_unsafe_is_refused() -> None:
    chances = torch.full((2,), 0.5, device="cuda")
    with torch.autocast("cuda"):
        with pytest.raises(RuntimeError, match="BCELoss are unsafe to autocast"):
            torch.nn.functional.binary_cross_entropy(chances, chances)
        assert torch.nn.functional.binary_cross_entropy_with_logits(chances.half(), chances).dtype is torch.float32


def test_old_names() -> None:
    with torch.cuda.amp.autocast(dtype=torch.bfloat16):
        assert product() is torch.bfloat16

    class Double(torch.autograd.Function):
        @staticmethod
        @torch.cuda.amp.custom_fwd(cast_inputs=torch.float32)
        def forward(ctx: Any, x: Any) -> Any:
            assert x.dtype is torch.float32 and not torch.is_autocast_enabled("cuda")
            return x * 2

        @staticmethod
        @torch.cuda.amp.custom_bwd
        def backward(ctx: Any, grad: Any) -> Any:
            assert not torch.is_autocast_enabled("cuda")
            return grad * 2

    x = X.cuda().half().requires_grad_()
    with torch.autocast("cuda"):
        y = Double.apply(x)
    y.sum().backward()
    assert y.dtype is torch.float32 and x.grad.tolist() == [[2, 2], [2, 2]]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_program_casts_as_the_plain_one(backend: str) -> None:
    def program(x: Any, w: Any) -> Any:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            y = x @ w
            with torch.autocast("cuda", enabled=False):
                z = x @ w
            return y, z, y.exp()

    compiled = torch.compile(program, backend=backend, fullgraph=True)
    x, w = X.cuda(), X.cuda().requires_grad_()
    results, expected = compiled(x, w), program(x, w)
    assert [y.dtype for y in results] == [torch.bfloat16, torch.float32, torch.float32]
    assert all(torch.equal(y, e) for y, e in zip(results, expected))
    outside = torch.compile(lambda x: x @ x, backend=backend)
    assert outside(x).dtype is torch.float32
    with torch.autocast("cuda"):
        assert outside(x).dtype is torch.float16
    assert outside(x).dtype is torch.float32
