"""einops on our tensors gives what it gives on NumPy arrays, its own first backend."""

import subprocess
import sys

import einops
import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.interop.einops_layers import EinMix, Rearrange, Reduce

X = np.arange(2 * 4 * 6 * 3, dtype=np.float64).reshape(2, 4, 6, 3)
PATTERNS = [
    ("b h w c -> b c h w", {}),
    ("b h w c -> (b h) (w c)", {}),
    ("b (h p) (w q) c -> b (h w) (p q c)", {"p": 2, "q": 3}),
    ("b h w c -> b h () w c", {}),
    ("b h w c -> c w h b", {}),
    ("... c -> c ...", {}),
]


@pytest.mark.parametrize(("pattern", "sizes"), PATTERNS)
def test_rearrange(pattern: str, sizes: dict[str, int]) -> None:
    ours = einops.rearrange(torch.from_numpy(X), pattern, **sizes)
    assert isinstance(ours, torch.Tensor)
    assert np.array_equal(ours.numpy(), einops.rearrange(X, pattern, **sizes))


@pytest.mark.parametrize("operation", ["min", "max", "sum", "mean", "prod"])
@pytest.mark.parametrize("pattern", ["b h w c -> b c", "b (h p) w c -> b h", "b h w c -> ", "b h w c -> 1 h 1 1"])
def test_reduce(pattern: str, operation: str) -> None:
    x = X / X.max() + 0.5
    sizes = {"p": 2} if "p" in pattern else {}
    ours = einops.reduce(torch.from_numpy(x), pattern, operation, **sizes)
    np.testing.assert_allclose(ours.numpy(), einops.reduce(x, pattern, operation, **sizes))


def test_any_and_all_of_truth_values() -> None:
    x = X % 5 == 0
    for operation in ("any", "all"):
        ours = einops.reduce(torch.from_numpy(x), "b h w c -> b c", operation)
        assert np.array_equal(ours.numpy(), einops.reduce(x, "b h w c -> b c", operation))


def test_repeat_stack_pack_and_einsum() -> None:
    x = torch.from_numpy(X)
    assert np.array_equal(einops.repeat(x, "b h w c -> b h w c r", r=2).numpy(), np.stack([X, X], -1))
    assert np.array_equal(einops.rearrange([x, x], "n ... -> ... n").numpy(), np.stack([X, X], -1))
    packed, shapes = einops.pack([x, x[..., 0]], "b h w *")
    assert packed.shape == (2, 4, 6, 4)
    assert [part.shape for part in einops.unpack(packed, shapes, "b h w *")] == [x.shape, x.shape[:-1]]
    ours = einops.einsum(x, x, "b h w c, b h w d -> c d")
    np.testing.assert_allclose(ours.numpy(), np.einsum("bhwc,bhwd->cd", X, X))


def test_a_gradient_passes() -> None:
    x = torch.from_numpy(X).requires_grad_()
    einops.reduce(x, "b h (w q) c -> b w", "max", q=2).sum().backward()
    assert x.grad.sum() == 6


def test_the_layers_are_modules_of_ours() -> None:
    x = torch.from_numpy(X.astype(np.float32))
    model = torch.nn.Sequential(
        Rearrange("b h w c -> b c h w"),
        EinMix("b c h w -> b h w d", weight_shape="c d", bias_shape="d", c=3, d=5),
        Reduce("b h w d -> b d", "mean"),
    )
    assert model(x).shape == (2, 5)
    assert [tuple(p.shape) for p in model.parameters()] == [(3, 5), (1, 1, 1, 5)]


@pytest.mark.parametrize("order", ["einops, minitorch_compile", "minitorch_compile, einops"])
def test_either_may_be_imported_first(order: str) -> None:
    code = f"import {order}; print(einops.rearrange(minitorch_compile.ones(2, 3), 'a b -> b a').shape)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "torch.Size([3, 2])\n", done.stderr


def test_importing_the_package_does_not_import_einops() -> None:
    code = "import sys, minitorch_compile; print('einops' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
