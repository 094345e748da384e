"""GradScaler: the factor over iterations, in main memory and on a (simulated) GPU, beside what PyTorch 2.13 gave."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.amp import GradScaler
from minitorch_compile.cuda.runtime import using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver

inf, nan = float("inf"), float("nan")


@pytest.fixture(params=["cpu", "cuda"])
def where(request: Any) -> Iterator[str]:
    with using(FakeDriver(devices=2)) if request.param == "cuda" else nullcontext():
        yield request.param


# What the gradients of the second optimizer are multiplied by, and then the factor, the steps since it changed, and the
# weights of both.
RECORDED = [
    (1.0, 1024.0, 1, [0.95528, 1.91056], [0.9, 1.9]),
    (2.0, 4096.0, 0, [0.91056, 1.82111], [0.80348, 1.80348]),
    (inf, 1024.0, 0, [0.86584, 1.73167], [0.80348, 1.80348]),
    (3.0, 1024.0, 1, [0.82111, 1.64223], [0.70768, 1.70768]),
    (nan, 256.0, 0, [0.77639, 1.55279], [0.70768, 1.70768]),
    (1.0, 256.0, 1, [0.73167, 1.46334], [0.61686, 1.61686]),
    (1.0, 1024.0, 0, [0.68695, 1.3739], [0.52888, 1.52888]),
]


def test_two_optimizers_one_of_which_clips(where: str) -> None:
    w, v = (torch.tensor([1.0, 2.0], device=where, requires_grad=True) for _ in range(2))
    first, second = torch.optim.SGD([w], lr=0.1), torch.optim.Adam([v], lr=0.1)
    scaler = GradScaler(where, init_scale=1024.0, growth_interval=2, growth_factor=4.0, backoff_factor=0.25)
    for factor, scale, steps, expected_w, expected_v in RECORDED:
        first.zero_grad()
        second.zero_grad()
        for loss in scaler.scale([(w * w).sum(), (v * factor).sum()]):
            loss.backward()
        scaler.unscale_(first)
        torch.nn.utils.clip_grad_norm_([w], 1.0)
        scaler.step(first)
        scaler.step(second)
        scaler.update()
        assert (scaler.get_scale(), scaler._get_growth_tracker()) == (scale, steps)
        assert w.tolist() == pytest.approx(expected_w, abs=1e-5)
        assert v.tolist() == pytest.approx(expected_v, abs=1e-5)
    assert scaler.state_dict() == {
        "scale": 1024.0,
        "growth_factor": 4.0,
        "backoff_factor": 0.25,
        "growth_interval": 2,
        "_growth_tracker": 0,
    }


def stepped(scaler: GradScaler, where: str = "cpu") -> Any:
    w = torch.ones(2, device=where, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    scaler.scale(w.sum()).backward()
    scaler.step(optimizer)
    return optimizer


def test_what_is_out_of_turn_is_refused() -> None:
    scaler = GradScaler("cpu")
    with pytest.raises(AssertionError, match=r"Attempted update but _scale is None\.  This may indicate your script"):
        scaler.update()
    optimizer = stepped(scaler)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called since the last update\(\)"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) is being called after step\(\)"):
        scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match="A GradScaler instance may only be pickled at the beginning"):
        pickle.dumps(scaler)
    scaler.update()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called on this optimizer since"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="Closure use is not currently supported if GradScaler is enabled"):
        scaler.step(optimizer, closure=lambda: 1.0)
    scaler.update()
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        scaler.update()
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale(3)
    half = torch.ones(1, dtype=torch.float16, requires_grad=True)
    scaler.scale(half.sum()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(torch.optim.SGD([half], lr=0.1))
    for wrong in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}):
        with pytest.raises(AssertionError, match=f"The {next(iter(wrong)).replace('_', ' ')} must be"):
            GradScaler("cpu", **wrong)


def test_states_are_saved_and_go_on(where: str) -> None:
    scaler = GradScaler(where, init_scale=8.0, growth_interval=2)
    stepped(scaler, where)
    scaler.update()
    other = GradScaler(where)
    other.load_state_dict(scaler.state_dict())
    for each in (scaler, other, pickle.loads(pickle.dumps(scaler))):
        assert each.get_scale() == 8.0
        stepped(each, where)
        each.update()
        assert each.get_scale() == 16.0
    scaler.update(4.0)
    assert scaler.get_scale() == 4.0
    scaler.update(torch.tensor(2.0, device=where))
    assert scaler.get_scale() == 2.0
    with pytest.raises(RuntimeError, match="The source state dict is empty, possibly because it was saved"):
        scaler.load_state_dict({})


def test_without_a_gpu_it_passes_everything_on() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.warns(UserWarning, match="torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling"):
        scaler = GradScaler()
    loss = torch.ones(2, requires_grad=True)
    assert scaler.scale(loss) is loss and scaler.state_dict() == {} and scaler.get_scale() == 1.0


def test_gradients_on_two_devices() -> None:
    with using(FakeDriver(devices=2)):
        w, v = torch.ones(2, device="cuda:0", requires_grad=True), torch.ones(2, device="cuda:1", requires_grad=True)
        scaler, optimizer = GradScaler(init_scale=4.0), torch.optim.SGD([w, v], lr=1.0)
        for loss in scaler.scale(((w * 2).sum(), v.sum())):
            loss.backward()
        scaler.step(optimizer)
        scaler.update()
        assert w.tolist() == [-1, -1] and v.tolist() == [0, 0]
        (v * inf).sum().backward()
        scaler.step(optimizer)
        scaler.update()
        assert w.tolist() == [-1, -1] and v.tolist() == [0, 0] and scaler.get_scale() == 2.0
