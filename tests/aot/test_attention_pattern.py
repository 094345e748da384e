"""Attention as people write it becomes one operation; what only looks like it does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import config, logs
from minitorch_compile.aot.passes import attention as recognition
from minitorch_compile.nn import functional as F

N, H, L, S, E = 2, 4, 5, 7, 6
VISIBLE = torch.tensor(np.random.default_rng(0).random((L, S)) > 0.4)
HALF_BLIND = torch.tensor(VISIBLE.numpy() & (np.arange(L)[:, None] != 2))  # query 2 sees nothing
HEADS_VISIBLE = torch.tensor(np.random.default_rng(1).random((H, L, S)) > 0.2)
PAIRS = HEADS_VISIBLE.expand(N, 1, H, L, S).contiguous()
BUFFER = torch.tril(torch.ones(16, 16)).view(1, 1, 16, 16)
sdpa = F.scaled_dot_product_attention


def nano_gpt(q: Any, k: Any, v: Any) -> Any:
    att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
    att = att.masked_fill(BUFFER[:, :, :L, :S] == 0, float("-inf"))
    return F.softmax(att, dim=-1) @ v


def annotated(q: Any, k: Any, v: Any) -> Any:
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    return torch.matmul(F.softmax(scores.masked_fill(HALF_BLIND == 0, -1e9), dim=-1), v)


def bert(q: Any, k: Any, v: Any) -> Any:
    scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(E)
    scores = scores + (1.0 - VISIBLE[:1].float()).view(1, 1, 1, S) * -10000.0
    return torch.matmul(F.dropout(F.softmax(scores, dim=-1), 0.1, training=False), v).permute(0, 2, 1, 3).contiguous()


def llama(q: Any, k: Any, v: Any) -> Any:
    repeat = lambda x: x[:, :2, None].expand(N, 2, 2, S, E).reshape(N, H, S, E)
    scores = torch.matmul(q, repeat(k).transpose(2, 3)) / math.sqrt(E)
    return torch.matmul(F.softmax(scores.float(), dim=-1).type_as(q), repeat(v))


def with_einsum(q: Any, k: Any, v: Any) -> Any:
    dots = torch.einsum("b h i d, b h j d -> b h i j", q * E**-0.5, k)
    return torch.einsum("b h i j, b h j d -> b h i d", dots.softmax(dim=-1), v)


def with_bmm(q: Any, k: Any, v: Any) -> Any:
    q, k, v = q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1)
    later = torch.triu(torch.ones(L, S), diagonal=1).bool()
    return torch.bmm(F.softmax(torch.bmm(q, k.transpose(1, 2)).masked_fill(later, float("-inf")), 2), v)


FOUND: dict[str, Callable[..., Any]] = {
    "sdpa": lambda q, k, v: sdpa(q, k, v),
    "sdpa, causal, scaled": lambda q, k, v: sdpa(q, k, v, is_causal=True, scale=0.3),
    "sdpa, bool mask": lambda q, k, v: sdpa(q, k, v, HALF_BLIND),
    "sdpa, added mask": lambda q, k, v: sdpa(q, k, v, torch.where(HALF_BLIND, 0.5, float("-inf"))),
    "sdpa, mask of keys": lambda q, k, v: sdpa(q, k, v, VISIBLE[:2, None, None]),
    "sdpa, groups": lambda q, k, v: sdpa(q, k[:, :2], v[:, :2], is_causal=True, enable_gqa=True),
    "sdpa, one head": lambda q, k, v: sdpa(q[0], k[0], v[0]),
    "sdpa, five dimensions": lambda q, k, v: sdpa(q[None], k[None], v[None, ..., :3]),
    "sdpa, one mask a head": lambda q, k, v: sdpa(q, k, v, HEADS_VISIBLE),
    "three dimensions, one mask each": lambda q, k, v: sdpa(q[0], k[0], v[0], HEADS_VISIBLE),
    "nano_gpt": nano_gpt,
    "annotated": annotated,
    "bert": bert,
    "llama": llama,
    "with_einsum": with_einsum,
    "with_bmm": with_bmm,
}


def weights_returned(q: Any, k: Any, v: Any) -> Any:
    weights = F.softmax(q @ k.mT, -1)
    return (weights @ v).sum() + weights[0, 0].sum()


def scores_used(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.mT
    return F.softmax(scores, -1) @ v + scores.mean()


def partly_recorded(q: Any, k: Any, v: Any) -> Any:
    with torch.no_grad():
        scores = q @ k.mT
    return F.softmax(scores, -1) @ v


def overwritten(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.mT
    scores *= 0.5
    return F.softmax(scores, -1) @ v


LEFT_ALONE: dict[str, tuple[Callable[..., Any], str]] = {
    "dropout": (lambda q, k, v: sdpa(q, k, v, dropout_p=0.5), "the weights go into"),
    "weights returned": (weights_returned, "the weights are used elsewhere"),
    "scores used": (scores_used, "the scores are used elsewhere"),
    "partly recorded": (partly_recorded, "no_grad"),
    "overwritten": (overwritten, "overwritten"),
    "scaled after the mask": (lambda q, k, v: F.softmax((q @ k.mT + VISIBLE.float()) * 2, -1) @ v, "followed by"),
    "a trained mask": (lambda q, k, v: F.softmax(q @ k.mT + k[:, :, :1, :1], -1) @ v, "the mask is trained"),
    "over the queries": (lambda q, k, v: F.softmax(q @ k.mT, -2) @ v, "not over the last dimension"),
    "not a product": (lambda q, k, v: F.softmax((q[..., :1] - k[..., 0][:, :, None]).exp(), -1) @ v, "is ops.exp"),
    "five dimensions and a mask": (
        lambda q, k, v: sdpa(q[:, None], k[:, None], v[:, None], PAIRS),
        "distinguishes more",
    ),
    "turned around": (lambda q, k, v: F.softmax((k @ q.mT).mT, -1) @ v, "views turn the scores around"),
}


@pytest.fixture(autouse=True)
def _however_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "SMALLEST", 0)
    monkeypatch.setattr(recognition, "SMALLEST_CAUSAL", 0)


def queries_keys_values(dtype: Any = torch.float32) -> list[Any]:
    rng = np.random.default_rng(1)
    return [torch.tensor(rng.standard_normal((N, H, n, E)), dtype=dtype, requires_grad=True) for n in (L, S, S)]


def outcome(program: Callable[..., Any]) -> list[np.ndarray]:
    """The result, with its strides, and the gradients."""
    inputs = queries_keys_values()
    torch.manual_seed(0)
    out = program(*inputs)
    (out * torch.tensor(np.random.default_rng(2).standard_normal(out.shape)).float()).sum().backward()
    return [out.detach().numpy(), np.array(out.stride()), *(x.grad.numpy() for x in inputs if x.grad is not None)]


def compare(program: Callable[..., Any]) -> str:
    """Compiled as loops, the program is what it is plainly. What the pass said of it, in a compilation of its own."""
    torch.compiler.reset()
    with logs.capture("joint_graph_passes") as records, config.patch(verify_passes=True):
        came = outcome(torch.compile(program, backend="loops", fullgraph=True))
    for got, expected in zip(came, outcome(program), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    return " ".join(record.text for record in records if "recognise_attention: softmax" in record.text)


@pytest.mark.parametrize("name", FOUND)
def test_attention_is_found(name: str) -> None:
    assert "is attention" in compare(FOUND[name])


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_is_something_else_stays(name: str) -> None:
    program, reason = LEFT_ALONE[name]
    said = compare(program)
    assert "is attention" not in said and reason in said


def test_a_small_score_matrix_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "SMALLEST", 4 * L * S + 1)
    assert "fits into the cache" in compare(FOUND["sdpa"])


def test_the_pass_can_be_left_out() -> None:
    with config.patch(disabled_passes=("recognise_attention",)):
        assert compare(FOUND["sdpa"]) == ""


def test_other_backends_see_products_and_a_softmax() -> None:
    with logs.capture("joint_graph_passes") as records:
        torch.compile(FOUND["sdpa"], backend="aot_eager_decomp_partition")(*queries_keys_values())
    assert not any("recognise_attention" in record.text for record in records)


def test_half_precision_stays() -> None:
    with logs.capture("joint_graph_passes") as records:
        torch.compile(FOUND["sdpa"], backend="loops")(*queries_keys_values(torch.float16))
    assert any("dtype" in record.text for record in records if "stays" in record.text)
