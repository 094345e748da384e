"""Attention without its score matrix, against the same formula in float64 with one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.aot.passes import attention as recognition
from minitorch_compile.aot.tracing import trace
from minitorch_compile.inductor import compile_graph
from minitorch_compile.nn import functional as F
from minitorch_compile.prims import decompose
from minitorch_compile.prims.decompositions.attention import AS_PRIMS
from minitorch_compile.tensor import ops

INF = math.inf
TOLERANCES = {torch.float32: {"rtol": 2e-4, "atol": 2e-5}, torch.float64: {"rtol": 1e-10, "atol": 1e-11}}
LAYOUTS = {
    "row-major": lambda x: x,
    "heads side by side": lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    "by columns": lambda x: x.transpose(2, 3).contiguous().transpose(2, 3),
    "every second": lambda x: x.repeat_interleave(2, 3)[..., ::2],
    "broadcast": lambda x: x[:1, :1].expand(x.shape),
}


class Case:
    """Arguments of one call; sizes are (N, H, G, L, S, E, Ev)."""

    def __init__(self, sizes: tuple[int, ...], layout: str = "row-major", mask: str = "", seed: int = 0) -> None:
        n, heads, groups, queries, keys, width, depth = sizes
        self.rng = np.random.default_rng(seed)
        make = lambda *shape: LAYOUTS[layout](torch.tensor(self.rng.standard_normal(shape)))
        self.tensors = [
            make(n, heads, queries, width), make(n, groups, keys, width), make(n, groups, keys, depth),
            make(n, heads, queries, depth),
        ]  # fmt: skip
        self.mask = self.masked(mask, n, heads, queries, keys) if mask else None

    def masked(self, kind: str, n: int, heads: int, queries: int, keys: int) -> Any:
        sizes = {"keys": (n, 1, 1, keys), "queries": (1, heads, queries, 1)}.get(
            kind.split()[0], (1, heads, queries, keys)
        )
        numbers = self.rng.standard_normal(sizes)
        if "dead" in kind:
            numbers[:, :, : queries // 2 + 1] = -INF
            numbers[..., : keys // 2] = -INF
        return torch.tensor(numbers if "added" in kind else numbers > -0.3)

    def arguments(self, dtype: Any) -> tuple[list[Any], Any]:
        floats = [x.to(dtype) for x in self.tensors]
        mask = self.mask.to(dtype) if self.mask is not None and self.mask.dtype is torch.float64 else self.mask
        return floats, mask


def check(case: Case, dtype: Any, is_causal: bool, fill: float = -INF, zero_rows: bool = False) -> None:
    """The kernels' results and gradients are those of the formula in float64."""
    how = is_causal, 0.4, fill, zero_rows
    (query, key, value, grad), mask = case.arguments(torch.float64)
    expected = ops.flash_attention(query, key, value, mask, *how)
    expected_grads = ops.flash_attention_backward(grad, query, key, value, *expected, mask, *how[:3])
    (query, key, value, grad), mask = case.arguments(dtype)
    came = run(lambda q, k, v, m: ops.flash_attention(q, k, v, m, *how), query, key, value, mask)
    backward = lambda g, q, k, v, o, s, m: ops.flash_attention_backward(g, q, k, v, o, s, m, *how[:3])
    grads = run(backward, grad, query, key, value, *came, mask)
    for got, truth in zip((*came, *grads), (*expected, *expected_grads), strict=True):
        np.testing.assert_allclose(got.numpy(), truth.numpy(), **TOLERANCES[dtype])


def run(program: Any, *arguments: Any) -> Any:
    """The program on tensors as kernels; its last argument may be None."""
    given = [x for x in arguments if x is not None]
    whole = lambda *tensors: program(*tensors, *[None] * (len(arguments) - len(given)))
    return compile_graph(decompose(trace(whole, given), decompositions=AS_PRIMS), given, "cpu")(*given)


SIZES = [
    (1, 1, 1, 1, 1, 1, 1),
    (2, 4, 2, 5, 9, 3, 6),  # groups, and values wider than keys
    (1, 2, 2, 130, 70, 16, 8),  # three blocks of queries, more queries than keys
    (1, 3, 1, 70, 300, 4, 5),  # blocks of keys that end in the middle
    (2, 1, 1, 16, 17, 300, 2),  # so wide that blocks have fewer keys
]


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.heavy
def test_blocks_of_all_sizes(sizes: tuple[int, ...], is_causal: bool, dtype: Any) -> None:
    check(Case(sizes), dtype, is_causal)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tensors_may_lie_in_memory_in_any_way(layout: str) -> None:
    check(Case((2, 4, 2, 70, 140, 8, 8), layout), torch.float32, True)


@pytest.mark.parametrize("kind", ["bool", "keys bool", "queries bool", "added", "keys added", "dead", "added dead"])
@pytest.mark.parametrize("zero_rows", [False, True])
def test_masks(kind: str, zero_rows: bool) -> None:
    case = Case((2, 2, 1, 70, 260, 8, 8), mask=kind)
    check(case, torch.float32, False, zero_rows=zero_rows)
    check(case, torch.float32, True, zero_rows=zero_rows)


@pytest.mark.parametrize("fill", [-1e9, float(np.finfo(np.float32).min), -2.0])
def test_a_mask_may_put_any_number_in_place_of_a_score(fill: float) -> None:
    """A query that sees nothing then averages all values: with -1e9, m + log(l) would have no digits for log(l)."""
    check(Case((1, 2, 2, 70, 260, 8, 8), mask="dead"), torch.float32, False, fill)


def test_scores_of_infinity_and_nan_come_out_as_nan() -> None:
    case = Case((1, 1, 1, 70, 140, 4, 4))
    case.tensors[0][0, 0, 3, 1], case.tensors[1][0, 0, 130, 2] = INF, math.nan
    check(case, torch.float64, False)


@pytest.mark.parametrize("seed", range(12))
def test_random_calls(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups, shared = rng.integers(1, 3, 2)
    sizes = (int(rng.integers(1, 3)), int(groups * shared), int(groups), *map(int, rng.integers(1, 200, 2)),
             *map(int, rng.integers(1, 40, 2)))  # fmt: skip
    mask = str(rng.choice(["", "bool", "keys bool", "added", "dead"]))
    case = Case(sizes, str(rng.choice(list(LAYOUTS))), mask, seed)
    fill = float(rng.choice([-INF, -1e9, 0.5]))
    check(case, [torch.float32, torch.float64][seed % 2], bool(rng.integers(2)), fill, bool(rng.integers(2)))


# ------------------------------------------------------------------------------------------ whole programs


def test_no_score_matrix_is_allocated_or_saved() -> None:
    q, k, v = (torch.randn(1, 2, 512, 16, requires_grad=True) for _ in range(3))
    seen = torch.compiler.inspect(lambda q, k, v: F.scaled_dot_product_attention(q, k, v).sum(), q, k, v)
    scores = 4 * 2 * 512 * 512
    assert "512, 512" not in str(seen.partition)
    assert seen.memory.arena < scores / 4 and seen.backward_memory.arena < scores / 4


def test_the_number_of_threads_changes_no_bit() -> None:
    q, k, v = (torch.randn(1, 4, 300, 32, requires_grad=True) for _ in range(3))
    program = torch.compile(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True))
    before, seen = torch.get_num_threads(), []
    for count in (1, 2):
        torch.set_num_threads(count)
        out = program(q, k, v)
        seen.append([out.detach().numpy(), *(g.numpy() for g in torch.autograd.grad(out.sum(), (q, k, v)))])
    torch.set_num_threads(before)
    assert all(np.array_equal(a, b) for a, b in zip(*seen, strict=True))


def test_gradients_of_gradients_are_those_of_plain_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "SMALLEST", 0)
    attend = lambda q: F.scaled_dot_product_attention(q, q, q)
    found = []
    for program in (attend, torch.compile(attend)):
        q = torch.tensor(np.random.default_rng(0).standard_normal((1, 2, 5, 3)), requires_grad=True)
        (first,) = torch.autograd.grad((program(q) ** 2).sum(), q, create_graph=True)
        found.append(torch.autograd.grad((first**2).sum(), q)[0].numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8)
