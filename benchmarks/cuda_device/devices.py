"""Two devices beside each other: what is drawn of one seed on either, and what is refused when both meet in a call.

    python -m benchmarks.cuda_device.devices --library torch --out torch.json

PyTorch's own devices draw different numbers, so draws are compared here alone: those of the GPU with the CPU's.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

CUDA = "cuda"


def draws(torch: Any) -> dict[str, Callable[[], Any]]:
    """Draws on the default device, by name."""
    dist = torch.distributions
    size = (500,)

    def share(high: float) -> Any:
        return torch.linspace(0.1, high, 500)

    return {
        "rand": lambda: torch.rand(size),
        "randn": lambda: torch.randn(size),
        "randint": lambda: torch.randint(1000, size),
        "randperm": lambda: torch.randperm(500),
        "uniform_": lambda: torch.empty(size).uniform_(-1, 1),
        "normal": lambda: torch.normal(share(2), share(3)),
        "bernoulli": lambda: torch.bernoulli(share(0.9)),
        "exponential_": lambda: torch.empty(size).exponential_(2.0),
        "log_normal_": lambda: torch.empty(size).log_normal_(0.5),
        "geometric_": lambda: torch.empty(size).geometric_(0.3),
        "poisson": lambda: torch.poisson(share(9)),
        "multinomial": lambda: torch.multinomial(share(2), 200),
        "multinomial, again and again": lambda: torch.multinomial(share(2), 200, replacement=True),
        "dropout": lambda: torch.nn.functional.dropout(torch.ones(size), 0.3),
        "xavier_normal_": lambda: torch.nn.init.xavier_normal_(torch.empty(20, 25)),
        "Gamma": lambda: dist.Gamma(share(5), share(2)).sample(),
        "Beta": lambda: dist.Beta(share(5), share(2)).sample(),
        "Dirichlet": lambda: dist.Dirichlet(share(3).reshape(50, 10)).sample(),
        "StudentT": lambda: dist.StudentT(share(5) + 1).sample(),
        "Binomial": lambda: dist.Binomial(20, share(0.9)).sample(),
        "Categorical": lambda: dist.Categorical(share(2).reshape(50, 10)).sample(),
        "Laplace": lambda: dist.Laplace(share(2), share(1)).sample(),
        "MultivariateNormal": lambda: dist.MultivariateNormal(torch.zeros(3), torch.eye(3) + 0.2).sample((99,)),
    }


def refusals(torch: Any) -> dict[str, Callable[[], Any]]:
    """Calls with tensors on both devices, by name: some are computed, most are refused."""
    F = torch.nn.functional
    x, row, ones = torch.ones(4, 3, device=CUDA), torch.ones(3, device=CUDA), torch.ones(4, 3)
    index, mask, places = torch.tensor([0, 2, 1, 0]), ones > 0, torch.zeros(4, 3, dtype=torch.int64)
    return {
        "x + CPU's": lambda: x + ones,
        "x + 0-d": lambda: x + torch.tensor(2.0),
        "x @ CPU's": lambda: x @ torch.ones(3, 2),
        "linear": lambda: F.linear(x, torch.ones(2, 3)),
        "linear, bias": lambda: F.linear(x, torch.ones(2, 3, device=CUDA), torch.ones(2)),
        "cat": lambda: torch.cat([x, ones]),
        "where": lambda: torch.where(mask, x, x),
        "masked_fill": lambda: x.masked_fill(mask, 0.0),
        "masked_select": lambda: x.masked_select(mask),
        "x[index]": lambda: x[index],
        "x[mask]": lambda: x[mask],
        "x[index] = number": lambda: x.clone().__setitem__(index, 1.0),
        "x[index] = CPU's": lambda: x.clone().__setitem__(torch.tensor([0], device=CUDA), torch.ones(1, 3)),
        "CPU's[index]": lambda: ones[index.to(CUDA)],
        "index_select": lambda: x.index_select(0, index),
        "index_add": lambda: x.index_add(0, index, x),
        "index_copy": lambda: x.index_copy(0, index, x),
        "gather": lambda: x.gather(0, places),
        "scatter": lambda: x.scatter(0, places, x),
        "scatter_add": lambda: x.scatter_add(0, places, x),
        "take": lambda: x.take(places),
        "take_along_dim": lambda: torch.take_along_dim(x, places, 0),
        "embedding": lambda: F.embedding(index, x),
        "cross_entropy": lambda: F.cross_entropy(x, index % 3),
        "nll_loss": lambda: F.nll_loss(x, index % 3),
        "mse_loss": lambda: F.mse_loss(x, ones),
        "layer_norm": lambda: F.layer_norm(x, (3,), torch.ones(3)),
        "batch_norm": lambda: F.batch_norm(x, torch.zeros(3), torch.ones(3)),
        "conv1d": lambda: F.conv1d(x[None], torch.ones(2, 4, 1)),
        "searchsorted": lambda: torch.searchsorted(row, torch.ones(2)),
        "bucketize": lambda: torch.bucketize(row, torch.ones(3)),
        "bincount": lambda: torch.bincount(index.to(CUDA), torch.ones(4)),
        "lerp": lambda: torch.lerp(x, x, ones),
        "addcmul": lambda: torch.addcmul(x, x, ones),
        "clamp": lambda: x.clamp(ones),
        "copy_": lambda: x.clone().copy_(ones),
        "add_": lambda: x.clone().add_(ones),
        "equal": lambda: torch.equal(x, ones),
        "allclose": lambda: torch.allclose(x, ones),
        "isin": lambda: torch.isin(x, torch.ones(2)),
        "repeat_interleave": lambda: x.repeat_interleave(index, 0),
        "attention": lambda: F.scaled_dot_product_attention(x[None, None], ones[None, None], x[None, None]),
        "solve": lambda: torch.linalg.solve(torch.eye(3, device=CUDA), torch.ones(3)),
        "stack": lambda: torch.stack([x, ones]),
        "einsum": lambda: torch.einsum("ij,ij->i", x, ones),
        "cdist": lambda: torch.cdist(x, ones),
    }


def outcome(call: Callable[[], Any]) -> str:
    """The class of the error that a call ends with."""
    try:
        call()
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
    return "computed"


def drawn_apart(torch: Any, draw: Callable[[], Any]) -> float:
    """How far the numbers of one seed are apart on both devices, beside the largest."""
    values = []
    for device in ("cpu", CUDA):
        torch.manual_seed(5)
        with torch.device(device):
            values.append(np.array(draw().cpu().numpy(), np.float64))
    return float(np.abs(values[0] - values[1]).max() / np.abs(values[0]).max())


def main() -> None:
    parser = argparse.ArgumentParser(description="What two devices draw, and what is refused when they meet.")
    parser.add_argument("--library", default="minitorch_compile", choices=["torch", "minitorch_compile"])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    torch = importlib.import_module(given.library)
    found: dict[str, Any] = {"refused": {name: outcome(call) for name, call in refusals(torch).items()}}
    if given.library != "torch":
        found["drawn"] = {name: drawn_apart(torch, draw) for name, draw in draws(torch).items()}
    for name, said in (found["refused"] | found.get("drawn", {})).items():
        print(f"{name:30} {said}")
    if given.out:
        given.out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
