"""Pinned memory: a GPU copies from it, and into it, when its stream comes to it, and it isn't used again before."""

from __future__ import annotations

import gc
from collections import defaultdict
from typing import Any, NamedTuple

import pytest

import minitorch_compile as torch
from minitorch_compile.autograd.graph import save_on_cpu
from minitorch_compile.cuda.runtime import Runtime, using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.utils.data import DataLoader, TensorDataset


def slow() -> Any:
    """A GPU that does nothing before somebody waits."""
    return using(FakeDriver(order="latest"))


@pytest.mark.parametrize("x", [torch.arange(6.0).view(2, 3).t(), torch.tensor(3), torch.zeros(0, 2)], ids=str)
def test_a_pinned_copy_is_the_same_tensor_elsewhere(x: Any) -> None:
    pinned = x.pin_memory()
    assert not x.is_pinned() and pinned.is_pinned() == bool(x.numel()) and pinned.is_cpu
    assert pinned.tolist() == x.tolist() and pinned.stride() == x.stride() and pinned.dtype == x.dtype
    assert pinned.pin_memory() is pinned or not x.numel()
    assert torch.equal(pinned.cuda().cpu(), x)
    assert not (pinned + 1).is_pinned() and pinned.t().detach().is_pinned() == bool(x.numel())


def test_factories_pin_and_gradients_pass() -> None:
    assert torch.empty(3, pin_memory=True).is_pinned() and torch.tensor([1.0], pin_memory=True).is_pinned()
    x = torch.ones(2, requires_grad=True)
    (x.pin_memory() * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]
    for wrong in (lambda: x.cuda().pin_memory(), lambda: torch.ones(1, device="cuda", pin_memory=True)):
        with pytest.raises(RuntimeError, match="only tensors in main memory can be pinned, got one on cuda:0"):
            wrong()


@pytest.mark.parametrize("send", [lambda x: x.to("cuda", non_blocking=True), lambda x: x.cuda(non_blocking=True),
                                  lambda x: x.to("cuda", torch.float32, True),
                                  lambda x: torch.zeros(3, device="cuda").copy_(x, non_blocking=True)])  # fmt: skip
def test_a_copy_from_pinned_memory_is_read_when_the_stream_comes_to_it(send: Any) -> None:
    with slow():
        pinned, plain = torch.ones(3).pin_memory(), torch.ones(3)
        there, other = send(pinned), send(plain)
        for x in (pinned, plain):
            x.fill_(7)
        torch.cuda.synchronize()
        assert there.tolist() == [7, 7, 7] and other.tolist() == [1, 1, 1]


def test_what_is_on_a_gpu_stays_there(gpus: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    target, source = torch.zeros(2, 3, device="cuda"), torch.arange(3.0, device="cuda")
    with monkeypatch.context() as patch:
        patch.setattr(gpus.driver, "copy_device_to_host", None)
        target.copy_(source, non_blocking=True)
    assert target.tolist() == [[0, 1, 2]] * 2


def test_who_does_not_ask_for_it_waits() -> None:
    with slow():
        pinned = torch.ones(3).pin_memory()
        there, stored = pinned.cuda(), torch.zeros(3, device="cuda").copy_(pinned)
        pinned.fill_(7)
        assert there.tolist() == stored.tolist() == [1, 1, 1]


def test_a_result_comes_into_pinned_memory_later() -> None:
    with slow():
        x = torch.zeros(2, 3, device="cuda").t() + 5
        here = x.to("cpu", non_blocking=True)
        here.fill_(1)
        assert here.is_pinned() and here.stride() == x.stride()
        torch.cuda.synchronize()
        assert here.tolist() == [[5, 5]] * 3
        assert x[:2].to("cpu", non_blocking=True).tolist() == [[5, 5]] * 2  # has gaps: waits


def test_memory_is_used_again_when_all_copies_are_done() -> None:
    with slow() as runtime:
        side = torch.cuda.Stream()
        pinned = torch.ones(1000).pin_memory()
        address = pinned.data_ptr()
        with torch.cuda.stream(side):
            there = pinned.to("cuda", non_blocking=True)
        del pinned
        gc.collect()
        other = torch.ones(1000).pin_memory()
        assert other.data_ptr() != address  # a copy still reads it
        side.synchronize()
        again = torch.zeros(1000).pin_memory()
        assert again.data_ptr() == address and there.sum().item() == 1000
        view = again[500:]
        del again, other
        assert view.is_pinned() and view.sum().item() == 0
        del view
        runtime.host_allocator.empty_cache()
        assert isinstance(runtime.driver, FakeDriver) and not runtime.driver._pinned


class Pair(NamedTuple):
    x: Any
    name: str


class Own(dict[str, Any]):
    def pin_memory(self) -> str:
        return "pinned by its class"


def test_batches_are_pinned_through_their_structure() -> None:
    def collate(items: Any) -> Any:
        x = torch.stack([item[0] for item in items])
        marked = defaultdict(int, x=x)
        return {"pair": Pair(x, "n"), "list": [x, 1], "tuple": (x,), "marked": marked, "own": Own(x=x)}

    loader: DataLoader[Any] = DataLoader(
        TensorDataset(torch.arange(4.0)), batch_size=2, collate_fn=collate, pin_memory=True
    )
    batches = list(loader)
    assert [batch["list"][0].tolist() for batch in batches] == [[0, 1], [2, 3]]
    for batch in batches:
        assert batch["pair"].x.is_pinned() and batch["pair"].name == "n" and batch["list"][1] == 1
        assert batch["tuple"][0].is_pinned() and isinstance(batch["tuple"], tuple)
        assert batch["marked"]["x"].is_pinned() and batch["marked"]["y"] == 0
        assert batch["own"] == "pinned by its class"


@pytest.mark.parametrize("pin", [False, True])
def test_saved_tensors_wait_in_main_memory(pin: bool, gpus: Runtime) -> None:
    x = torch.full((4,), 3.0, device="cuda", requires_grad=True)
    kept: list[Any] = []
    hooks = save_on_cpu(pin_memory=pin)
    pack = hooks.pack_hook

    def watched(saved: Any) -> Any:
        kept.append(pack(saved))
        return kept[-1]

    hooks.pack_hook = watched
    with hooks:
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [6] * 4 and x.grad.is_cuda
    assert kept and all(copy.is_cpu and copy.is_pinned() == pin for _, copy in kept)
