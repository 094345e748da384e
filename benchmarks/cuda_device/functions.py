"""Attention, quantiles and function transforms on a GPU as numbers, with either library; and what compiled calls copy
from main memory.

python -m benchmarks.cuda_device.functions --library torch --out torch.json
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

CUDA = "cuda"


def programs(torch: Any) -> dict[str, Callable[[], Any]]:
    """Attention in bfloat16, quantiles, transforms of a small network and of a formula: each gives a tensor."""
    func, F = torch.func, torch.nn.functional
    random = np.random.default_rng(0)

    def drawn(*sizes: int) -> Any:
        return torch.from_numpy(random.standard_normal(sizes).astype(np.float32)).to(CUDA)

    x, v, rows, labels = drawn(6), drawn(6), drawn(5, 6), torch.arange(5, device=CUDA) % 3
    weights = {"a": drawn(6, 4), "b": drawn(4, 3)}

    def formula(x: Any) -> Any:
        return (torch.sin(x) * x.cumsum(0)).exp().sum() / 100

    def vector(x: Any) -> Any:
        return torch.tanh(x @ weights["a"]) @ weights["b"]

    def loss(weights: dict[str, Any], x: Any, label: Any) -> Any:
        return F.cross_entropy((torch.tanh(x @ weights["a"]) @ weights["b"])[None], label[None])

    def attention(sizes: Sequence[Sequence[int]], **how: Any) -> Any:
        """Its result and gradients in bfloat16, one after another; of tensors (N, L, heads, E)."""
        leaves = [drawn(*s).to(torch.bfloat16).detach().requires_grad_() for s in sizes]
        seen = [x.transpose(1, 2) for x in leaves]
        out = F.scaled_dot_product_attention(*seen, **how)
        weights = torch.linspace(-1, 1, out.numel(), device=CUDA).view(out.shape)
        gradients = torch.autograd.grad((out.float() * weights).sum(), leaves)
        return torch.cat([t.float().flatten() for t in (out, *gradients)])

    heads, longer = (1, 9, 2, 16), (1, 13, 2, 16)
    mask = torch.ones(9, 13, dtype=torch.bool, device=CUDA).tril(3)
    table, levels = drawn(8, 15), torch.tensor([0.0, 0.1, 0.5, 0.77, 1.0], device=CUDA)
    holes = torch.where(table > 1, float("nan"), table)
    return {
        "attention": lambda: attention([heads, longer, longer]),
        "attention, causal": lambda: attention([heads] * 3, is_causal=True),
        "attention, causal, longer": lambda: attention([heads, longer, longer], is_causal=True),
        "attention, scale": lambda: attention([heads] * 3, scale=0.3),
        "attention, mask": lambda: attention([heads, longer, longer], attn_mask=mask),
        "attention, shared heads": lambda: attention([heads, (1, 9, 1, 16), (1, 9, 1, 16)], enable_gqa=True),
        "attention, other values": lambda: attention([heads, heads, (1, 9, 2, 32)]),
        "quantile": lambda: torch.quantile(table, levels, 1),
        "quantile, nearest": lambda: torch.quantile(table, levels, 0, interpolation="nearest"),
        "nanquantile": lambda: torch.nanquantile(holes, levels, 1),
        "nanmedian": lambda: torch.nanmedian(holes, 1).values,
        "grad": lambda: func.grad(formula)(x),
        "grad of grad": lambda: func.grad(lambda x: func.grad(formula)(x)[0])(x),
        "jvp": lambda: func.jvp(vector, (x,), (v,))[1],
        "vjp": lambda: func.vjp(vector, x)[1](drawn(3))[0],
        "jacrev": lambda: func.jacrev(vector)(x),
        "jacfwd": lambda: func.jacfwd(vector)(x),
        "hessian": lambda: func.hessian(formula)(x),
        "vmap": lambda: func.vmap(vector)(rows),
        "vmap of sort": lambda: func.vmap(lambda r: r.sort().values * r.softmax(0))(rows),
        "vmap of grad": lambda: func.vmap(func.grad(loss), in_dims=(None, 0, 0))(weights, rows, labels)["a"],
        "vmap of jvp": lambda: func.vmap(lambda r: func.jvp(vector, (r,), (v,))[1])(rows),
        "functional_call": lambda: linear_call(torch, drawn(2, 6), rows),
    }


def linear_call(torch: Any, weight: Any, rows: Any) -> Any:
    return torch.func.functional_call(torch.nn.Linear(6, 2, bias=False).to(CUDA), {"weight": weight}, (rows,))


def copies_of_compiled_calls() -> dict[str, list[int]]:
    """Copies from main memory in the first three calls of compiled functions that have constants."""
    import minitorch_compile as torch
    from minitorch_compile.cuda.runtime import required

    table, scale = torch.arange(8.0, device=CUDA), torch.tensor(3.0, device=CUDA)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU()).to(CUDA).eval()
    x, driver = torch.ones(4, 8, device=CUDA), required().driver
    copied, copy = [0], driver.copy_host_to_device
    functions = {
        "a tensor from outside": lambda x: x * table + scale,
        "a module's weights": model,
        "a range made inside": lambda x: x + torch.arange(8, device=CUDA),
        "a list made inside": lambda x: x * torch.tensor([1.0, 2, 3, 4, 5, 6, 7, 8], device=CUDA),
        "a mask made inside": lambda x: x.masked_fill(torch.ones(8, 8, device=CUDA).tril()[:4] == 0, 0.0),
        "numbers": lambda x: torch.where(x > 0, x * 2.5, 1 - x).clamp(min=-1, max=3),
    }

    def counting(*arguments: Any) -> None:
        copied[0] += 1
        copy(*arguments)

    driver.copy_host_to_device = counting
    found: dict[str, list[int]] = {}
    for name, function in functions.items():
        compiled: Any = torch.compile(function, fullgraph=True)
        found[name] = []
        for _ in range(3):
            before = copied[0]
            with torch.no_grad():
                came = compiled(x)
            found[name].append(copied[0] - before)
        expected: Any = function(x)  # type: ignore[operator]
        assert torch.allclose(came, expected, atol=1e-5), f"{name}: {came} for {expected}"
    driver.copy_host_to_device = copy
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Attention, quantiles and function transforms on a GPU.")
    parser.add_argument("--library", default="minitorch_compile", choices=["torch", "minitorch_compile"])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    torch = importlib.import_module(given.library)
    found: dict[str, Any] = {"values": {name: run().tolist() for name, run in programs(torch).items()}}
    if given.library != "torch":
        found["copies"] = copies_of_compiled_calls()
        print(found["copies"])
    if given.out:
        given.out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
