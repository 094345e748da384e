"""A step of many parameters on a GPU is one kernel, with the numbers of the CPU."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.inductor.device_calls import optimizer_kernels
from minitorch_compile.inductor.device_calls.optimizer_kernels import OptimizerKernels

SIZES = [(3,), (), (7, 5), (300,), (0,), (2, 3, 4)]  # of one thread's work and of several blocks' (32 threads here)
CASES: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1, "foreach": True}),
    ("Adam", {"weight_decay": 0.1, "fused": True}),
    ("AdamW", {"amsgrad": True, "maximize": True}),
    ("Adagrad", {"lr_decay": 0.1}),
]


def stepped(name: str, options: dict[str, Any], where: str) -> list[Any]:
    torch.manual_seed(0)
    drawn = [(torch.randn(size), [torch.randn(size) for _ in range(3)]) for size in SIZES]
    if "SGD" not in name:
        drawn.append((torch.randn(4).double(), [torch.randn(4).double() for _ in range(3)]))
    parameters = [torch.nn.Parameter(p.to(where)) for p, _ in drawn]
    parameters.append(torch.nn.Parameter(torch.arange(6.0).view(2, 3).t().to(where)))  # dense, in another order
    made = getattr(torch.optim, name)(parameters, lr=0.1, **options)
    for step in range(3):
        for p, (_, grads) in zip(parameters, drawn):
            p.grad = grads[step].to(where)
        parameters[-1].grad = torch.full((3, 2), 1.0 + step, device=where)
        made.step()
    state = [x for values in made.state.values() for x in values.values() if isinstance(x, torch.Tensor)]
    return [x.detach().cpu() for x in (*parameters, *state)]


@pytest.mark.parametrize(("name", "options"), CASES)
def test_a_step_is_one_kernel_for_all_parameters(name: str, options: dict[str, Any], monkeypatch: Any) -> None:
    launched: list[int] = []
    plain = OptimizerKernels.launch

    def counted(self: OptimizerKernels, rule: str, element: Any, lengths: list[int]) -> Any:
        launched.append(len(lengths))
        return plain(self, rule, element, lengths)

    monkeypatch.setattr(OptimizerKernels, "launch", counted)
    there = stepped(name, options, "cuda")
    monkeypatch.setattr(OptimizerKernels, "launch", None)
    here = stepped(name, options, "cpu")
    assert all(torch.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(there, here, strict=True))
    assert launched[:2] == ([6, 1] if "SGD" not in name else [6, 6])


def test_more_parameters_than_fit_are_several_kernels(monkeypatch: Any) -> None:
    monkeypatch.setattr(optimizer_kernels, "MOST", 2)
    there, here = stepped("SGD", {}, "cuda"), stepped("SGD", {}, "cpu")
    assert all(torch.allclose(a, b) for a, b in zip(there, here, strict=True))


def test_who_wants_a_loop_or_a_graph_gets_it(monkeypatch: Any) -> None:
    monkeypatch.setattr(OptimizerKernels, "launch", None)
    choices: list[dict[str, Any]] = [{"foreach": False}, {"capturable": True}, {"fused": False}]
    for options in choices:
        w = torch.ones(3, device="cuda", requires_grad=True)
        w.grad = torch.ones(3, device="cuda")
        torch.optim.Adam([w], lr=0.1, **options).step()
        assert w.tolist() == pytest.approx([0.9] * 3)
