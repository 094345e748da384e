"""Operations element by element at new sizes: which are traced, and that the others give the same."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.inductor.device_calls import device_kernels

SIZES = ((2, 3), (4,), (5, 1, 2), (7,), (40, 33), (1,), (3, 0), (2, 2, 2, 2))
OPERATIONS: dict[str, Any] = {
    "exp": lambda x: x.exp(),
    "sum of two": lambda x: x + x.abs(),
    "number": lambda x: x * 3 + 4,
    "dtypes": lambda x: x.long() + x,
    "truth": lambda x: x > x.neg(),
    "where": lambda x: torch.where(x > 0, x, x - x),
    "bytes": lambda x: x.to(torch.uint8) * 5,
    "half": lambda x: x.half() * x.half(),
    "length in it": lambda x: x + 20011,
    "polynomial": lambda x: torch.clamp(x, -1, 1),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_all_sizes_give_what_main_memory_gives(name: str) -> None:
    for sizes in SIZES:
        x = torch.linspace(-2, 3, max(1, torch.Size(sizes).numel()))[: torch.Size(sizes).numel()].reshape(sizes)
        found, like = OPERATIONS[name](x.cuda()), OPERATIONS[name](x)
        assert found.stride() == like.stride() and found.dtype is like.dtype
        torch.testing.assert_close(found.cpu(), like)


def test_few_sizes_are_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[str] = []
    plain = device_kernels.schedule_of

    def noted(op: Any, *arguments: Any) -> Any:
        traced.append(op.name)
        return plain(op, *arguments)

    monkeypatch.setattr(device_kernels, "schedule_of", noted)
    for n in range(1, 30):
        x = torch.arange(float(n)).cuda()
        assert torch.sub(x, x).tolist() == [0.0] * n
    assert traced.count("sub") == 4  # two, and two samples
    for n in range(1, 6):  # what doesn't lie densely, or broadcasts, has other kernels
        x = torch.arange(2.0 * n).cuda().view(2, n)
        assert torch.equal(torch.sub(x, x[:1]).cpu(), torch.sub(x.cpu(), x.cpu()[:1]))
    assert traced.count("sub") == 9
