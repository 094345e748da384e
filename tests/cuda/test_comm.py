"""torch.cuda.comm over two GPUs, and over one; the older names of torch.cuda.amp, which tell of the newer ones."""

from __future__ import annotations

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda import comm

X = torch.arange(10.0).view(5, 2)


def test_a_tensor_is_copied_to_each() -> None:
    copies = comm.broadcast(X, [0, 1])
    assert [y.device.index for y in copies] == [0, 1] and all(torch.equal(y.cpu(), X) for y in copies)
    out = [torch.zeros(5, 2, device="cuda:1"), torch.zeros(5, 2)]
    assert comm.broadcast(X.cuda(), out=out)[0] is out[0] and torch.equal(out[1], X)
    with pytest.raises(RuntimeError, match="Exactly one of 'devices' and 'out'"):
        comm.broadcast(X)
    assert [len(copies) for copies in comm.broadcast_coalesced([X, X], ["cuda:0"])] == [2]


@pytest.mark.parametrize("devices", [[0], [1, 0], None])
def test_parts_come_back_together(devices: list[int] | None) -> None:
    for dim in (0, 1):
        parts = comm.scatter(X, devices, dim=dim)
        assert torch.equal(comm.gather(parts, dim, "cpu"), X) and comm.gather(parts, dim).device.index == 0
    out = torch.zeros(5, 2)
    assert comm.gather(comm.scatter(X.cuda(), [0, 1], [1, 4]), out=out) is out and torch.equal(out, X)


def test_wrong_sizes() -> None:
    with pytest.raises(RuntimeError, match="given chunk sizes don't sum up"):
        comm.scatter(X, [0, 1], [1, 1])
    with pytest.raises(RuntimeError, match=r"same length, but got len\(devices\) = 1 and len\(chunk_sizes\) = 2"):
        comm.scatter(X, [0], [2, 3])
    with pytest.raises(ValueError, match="input 1 has invalid size: got 2, but expected 5x2"):
        comm.reduce_add([X.cuda(), X[0].cuda()])


def test_sums_over_gpus() -> None:
    total = comm.reduce_add([X.cuda(), X.to("cuda:1")], 1)
    assert total.device.index == 1 and torch.equal(total.cpu(), X * 2)
    (both,) = comm.reduce_add_coalesced([[X.cuda()], [X.to("cuda:1")]])
    assert both.tolist() == (X * 2).tolist()


@pytest.mark.parametrize("name", ["autocast", "GradScaler", "custom_fwd", "custom_bwd"])
def test_older_names_say_what_to_write(name: str) -> None:
    with pytest.warns(FutureWarning, match=rf"`torch.cuda.amp.{name}\(args...\)` is deprecated. Please use `torch.amp"):
        getattr(torch.cuda.amp, name)(*([lambda ctx, x: x] if name.startswith("custom") else []))
