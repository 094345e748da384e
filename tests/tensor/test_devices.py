"""Devices: "cpu" has data, "meta" has none, others are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.tensor.memory.device import no_default_device


@pytest.mark.parametrize(
    "make",
    [
        lambda where: torch.zeros(2, device=where),
        lambda where: torch.ones(2, device=where),
        lambda where: torch.empty(2, device=where),
        lambda where: torch.tensor([1.0, 2.0], device=where),
        lambda where: torch.ones(2).to(where),
        lambda where: torch.ones(2).to(device=where),
    ],
)
def test_a_device_is_never_ignored(make: Callable[[Any], Any]) -> None:
    for where in ("cpu", "cpu:0", torch.device("cpu")):
        assert make(where).numpy().shape == (2,)
    assert make("meta").is_fake and make("meta").device.type == "meta"
    with pytest.raises(AssertionError, match="^Torch not compiled with CUDA enabled: tensors live on the CPU here"):
        make("cuda")
    with pytest.raises(RuntimeError, match="no tensors on 'mps' here; expected one of cpu, meta"):
        make("mps")
    with pytest.raises(TypeError, match="expected a (string|dtype) such as"):
        make(3.5)


def test_data_that_is_not_there_cannot_be_moved() -> None:
    x = torch.zeros(2, device="meta")
    moves = [
        lambda: x.to("cpu"),
        lambda: x.cpu(),
        lambda: torch.ones(2).copy_(x),
        x.tolist,
        lambda: x.numpy(force=True),
    ]
    moves.append(lambda: torch.nn.Linear(2, 2, device="meta").to("cpu"))
    for move in moves:
        with pytest.raises(NotImplementedError, match=r"Cannot copy out of meta tensor; no data! .*to_empty\(\)"):
            move()
    with pytest.raises(RuntimeError, match=r"item\(\) cannot be called on meta tensors"):
        bool(x.sum())
    with pytest.raises(RuntimeError, match="gradient with device type 'meta' to a tensor with device type 'cpu'"):
        torch.ones(2).grad = x


MIXED = {
    "add": lambda m, r: m + r,
    "reflected": lambda m, r: r + m,
    "a number on meta": lambda m, r: r + torch.tensor(1.0, device="meta"),
    "mm": lambda m, r: torch.ones(2, 2) @ m,
    "cat": lambda m, r: torch.cat([m, r]),
    "where": lambda m, r: torch.where(r > 0, m, m),
    "in place": lambda m, r: r.add_(m),
    "loss": lambda m, r: torch.nn.functional.mse_loss(m, r),
    "module": lambda m, r: torch.nn.Linear(2, 2, device="meta")(r),
    "layer_norm": lambda m, r: torch.nn.functional.layer_norm(m, (2,), r),
    "lstm": lambda m, r: torch.nn.LSTM(2, 2, device="meta")(torch.ones(1, 1, 2)),
}


@pytest.mark.parametrize("name", MIXED)
def test_meta_and_real_operands_are_not_mixed(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"Tensor on device \w+ is not on the expected device \w+!"):
        MIXED[name](torch.ones(2, device="meta"), torch.ones(2))


ALLOWED = {
    "a real number": lambda m, r: m + torch.tensor(1.0),
    "a real exponent": lambda m, r: torch.tensor(2.0) ** m,
    "real indices": lambda m, r: m[torch.tensor([0, 1])],
    "gather": lambda m, r: m.gather(0, torch.tensor([0, 1])),
    "written to": lambda m, r: m.add_(r),
    "copied to": lambda m, r: m.copy_(r),
    "constants of an op": lambda m, r: torch.nn.functional.one_hot(m.long(), 3)[:, 0],
    "constants of a loss": lambda m, r: torch.nn.functional.multi_margin_loss(m.expand(2, 2), m.long()).expand(2),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_may_stand_beside_meta_tensors(name: str) -> None:
    result = ALLOWED[name](torch.ones(2, device="meta"), torch.ones(2))
    assert result.is_meta and result.shape == (2,)


@pytest.mark.parametrize("compiled", [False, True])
def test_sizes_that_do_not_broadcast_are_pytorchs_error(compiled: bool) -> None:
    function = torch.compile(torch.add, backend="eager") if compiled else torch.add
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"):
        function(torch.ones(2), torch.ones(3))
    with pytest.raises(RuntimeError, match="must match"):
        torch.ones(2).add_(torch.ones(3))


def test_inside_a_device_new_tensors_are_made_there() -> None:
    x = torch.zeros(2)
    with torch.device("meta"):
        assert torch.zeros(2).is_meta and torch.tensor([1.0]).is_meta and torch.rand(2).is_meta
        assert torch.nn.Linear(2, 3).weight.is_meta
        assert not torch.zeros(2, device="cpu").is_meta
        assert not torch.zeros_like(x).is_meta and not (x + 1).is_meta
    assert not torch.zeros(2).is_meta


@pytest.mark.parametrize("convert", [torch.as_tensor, torch.asarray])
@pytest.mark.parametrize("data", [np.ones(2), torch.ones(2), [1.0], 2.0], ids=["array", "tensor", "list", "number"])
@pytest.mark.parametrize("dtype", [None, torch.float16])
def test_inside_a_device_what_is_converted_goes_there(convert: Any, data: Any, dtype: Any) -> None:
    """All of them, as in PyTorch; arrays and tensors stayed where they were."""
    with torch.device("meta"):
        assert convert(data, dtype=dtype).device.type == "meta"


def sliced(x: Any) -> Any:
    return (x[1:, [0, 2]] * torch.ones(2, device="cpu")).sum() + x.diagonal().square().sum()


@pytest.mark.parametrize("backend", [None, "eager", "aot_eager", "aot_eager_decomp_partition", "inductor"])
def test_what_is_computed_of_a_tensor_stays_with_it_wherever_new_ones_are_made(backend: str | None) -> None:
    torch.compiler.reset()
    run = sliced if backend is None else torch.compile(sliced, backend=backend)
    x = torch.arange(9.0).reshape(3, 3).requires_grad_()
    with torch.device("meta"):
        total = run(x)
        total.backward()
    assert total.item() == 102.0
    assert x.grad.tolist() == [[0.0, 0.0, 0.0], [1.0, 8.0, 1.0], [1.0, 0.0, 17.0]]


@pytest.mark.parametrize(
    "call",
    [
        lambda x, at: x.__setitem__([0, 1], 7.0),
        lambda x, at: x.__setitem__(1, 7),
        lambda x, at: x.index_fill_(0, at, 3.0),
        lambda x, at: x.scatter(0, at, 3.0),
        lambda x, at: torch.linalg.matrix_power(x.reshape(2, 2), 0),
        lambda x, at: x.quantile(0.5),
    ],
)
def test_the_numbers_of_an_operation_are_where_its_tensors_are(call):
    x, at = torch.arange(4.0), torch.tensor([0, 2])
    expected = x.clone()
    wanted = call(expected, at)
    with torch.device("meta"):
        found = call(x, at)
    assert x.tolist() == expected.tolist()
    assert found is wanted is None or found.tolist() == wanted.tolist()


def test_a_default_device_that_an_operation_sets_holds_after_the_graph() -> None:
    torch.set_default_device("cpu")
    try:
        with no_default_device(), no_default_device():
            torch.set_default_device("meta")
            assert torch.ones(1).device.type == "cpu"
        assert torch.ones(1).device.type == "meta"
        with no_default_device():
            torch.set_default_device(None)
        assert torch.ones(1).device.type == "cpu"
    finally:
        torch.set_default_device(None)
