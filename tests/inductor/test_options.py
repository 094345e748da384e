"""Options change how a graph is compiled, never what it computes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.compiler import inspect
from minitorch_compile.inductor.codegen.cpu.wrapper import write_file
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.cpu_schedule import cpu_schedule
from minitorch_compile.inductor.schedule.fit import Limits
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.kernel_options import Options


def chain(x: Any, w: Any) -> Any:
    y = torch.softmax(x @ w, -1)
    return (y * y).sum(-1) + y[:, 0]


@pytest.mark.parametrize(
    "settings",
    [
        {"mode": "reduce-overhead"},
        {"mode": "max-autotune"},
        {"options": {"max_fusion_size": 1}},
        {"options": {"max_fusion_size": 2, "reuse_temporaries": True}},
        {"options": {"max_autotune": True, "epilogue_fusion": False}},
    ],
)
def test_results_and_gradients_stay(settings: dict[str, Any]) -> None:
    torch.manual_seed(0)
    x, w = torch.randn(6, 5), torch.randn(5, 4, requires_grad=True)
    compiled = torch.compile(chain, **settings)
    (expected,) = torch.autograd.grad(chain(x, w).sum(), [w])
    for _ in range(2):
        result = compiled(x, w)
        np.testing.assert_allclose(result.detach().numpy(), chain(x, w).detach().numpy(), rtol=1e-5)
        (found,) = torch.autograd.grad(result.sum(), [w])
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-6)


def test_results_of_two_calls_do_not_share_memory_when_temporaries_do() -> None:
    model = torch.compile(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), mode="reduce-overhead")
    with torch.no_grad():
        first = model(torch.ones(3, 4))
        kept = first.numpy().copy()
        model(torch.zeros(3, 4))
    np.testing.assert_array_equal(first.numpy(), kept)


def test_what_is_saved_for_the_backward_pass_outlives_the_next_call() -> None:
    """Only temporaries stay where they are from call to call; results and saved tensors are new each time."""
    w = torch.randn(5, 4, requires_grad=True)
    inputs = [torch.randn(6, 5) for _ in range(3)]
    compiled = torch.compile(chain, mode="reduce-overhead")
    results = [compiled(x, w) for x in inputs]
    for x, result in zip(inputs, results):
        (expected,) = torch.autograd.grad(chain(x, w).sum(), [w])
        (found,) = torch.autograd.grad(result.sum(), [w])
        np.testing.assert_allclose(result.detach().numpy(), chain(x, w).detach().numpy(), rtol=1e-5)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-6)


def test_threads_that_share_a_block_of_temporaries_do_not_mix_their_values() -> None:
    w = torch.randn(64, 64)
    deep = lambda x: torch.softmax(torch.softmax(x @ w, -1) @ w, -1) @ w
    compiled = torch.compile(deep, mode="reduce-overhead")
    inputs = [torch.randn(64, 64) for _ in range(4)]
    expected = [compiled(x).numpy() for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        for number, found in enumerate(pool.map(lambda number: compiled(inputs[number % 4]).numpy(), range(200))):
            np.testing.assert_array_equal(found, expected[number % 4])


def test_max_fusion_1_makes_more_kernels_and_the_block_is_made_once() -> None:
    graph = inspect(chain, torch.randn(6, 5), torch.randn(5, 4)).forward_graph
    fused, unfused = schedule(lower(graph)), schedule(lower(graph), Limits(operations=1))
    assert unfused.kernel_count > fused.kernel_count
    assert "\n    block=" in write_file(unfused).source
    source = write_file(unfused, reuse_temporaries=True).source
    assert "\n    block=" not in source and "\nblock = np.empty(" in source


def test_without_epilogue_fusion_what_follows_a_product_is_a_kernel_of_its_own() -> None:
    graph = inspect(lambda x, w: (x @ w).exp(), torch.randn(256, 256), torch.randn(256, 256)).forward_graph
    kinds = lambda options: [type(step).__name__ for step in cpu_schedule(lower(graph), options).steps]
    assert "FusedCall" in kinds(Options())
    assert "FusedCall" not in kinds(Options(epilogue_fusion=False))


def place(tensor: Any) -> int:
    return int(tensor.detach().numpy().ctypes.data)


def test_memory_of_a_result_that_nobody_holds_is_used_again() -> None:
    compiled = torch.compile(lambda x: x.exp() * 2, mode="reduce-overhead")
    x = torch.randn(500, 500)
    assert len({place(compiled(x)) for _ in range(5)}) == 1


def test_whoever_holds_a_result_or_a_part_of_it_keeps_its_memory() -> None:
    """PyTorch overwrites results of the call before in this mode; here what is alive stays as it is."""
    compiled = torch.compile(lambda x: x.exp() * 2, mode="reduce-overhead")
    for part_of in (lambda t: t, lambda t: t[1:, 0], lambda t: t.detach(), lambda t: t.numpy(), lambda t: [t.T]):
        held = part_of(compiled(torch.ones(4, 4)))
        before = np.array(held[0] if isinstance(held, list) else held)
        compiled(torch.zeros(4, 4))
        np.testing.assert_array_equal(np.array(held[0] if isinstance(held, list) else held), before)


def test_calls_in_threads_never_share_the_memory_of_a_result() -> None:
    compiled = torch.compile(lambda x: x * 2 + 1, mode="reduce-overhead")
    inputs = [torch.full((100, 100), float(number)) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for number, found in enumerate(pool.map(lambda number: compiled(inputs[number % 4]), range(200))):
            np.testing.assert_array_equal(found.numpy(), np.full((100, 100), 2.0 * (number % 4) + 1, np.float32))
