"""Selective activation checkpointing: which ops the backward pass computes again, as recorded from PyTorch 2.13."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.utils import checkpoint as module
from minitorch_compile.utils._python_dispatch import TorchDispatchMode
from minitorch_compile.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

aten = torch.ops.aten
MM, EXP, SIN, SIGMOID = aten.mm.default, aten.exp.default, aten.sin.default, aten.sigmoid.default
COMPUTED_AGAIN = {str(MM): 2, str(EXP): 1, str(SIN): 1, str(SIGMOID): 1}  # of a block, without a policy


class Counting(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.counts[str(func)] = self.counts.get(str(func), 0) + 1
        return func(*args, **(kwargs or {}))


def block(x: Any, w: Any) -> Any:
    return torch.sigmoid((x @ w).exp().sin() @ w).cos()


def computed_again(policy: Any) -> dict[str, int]:
    """How often the backward pass runs each op of the block, besides those of the formulas; gradients are right."""
    x, w = (torch.arange(9.0).reshape(3, 3).div(9).requires_grad_() for _ in range(2))
    plain = torch.autograd.grad(block(x, w).sum(), (x, w))
    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    y = checkpoint(block, x, w, use_reentrant=False, context_fn=contexts)
    with Counting() as counting:
        found = torch.autograd.grad(y.sum(), (x, w))
    for one, other in zip(found, plain, strict=True):
        assert torch.equal(one, other)
    of_formulas = {str(MM): 4, str(SIN): 1}  # of the two products, and of the cosine
    return {name: counting.counts.get(name, 0) - of_formulas.get(name, 0) for name in COMPUTED_AGAIN}


def only_the_second_product() -> Callable[..., CheckpointPolicy]:
    seen: list[Any] = []

    def policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        seen.extend([op] * (op == MM))
        keep = op == MM and len(seen) == 2
        return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.MUST_RECOMPUTE

    return policy


@pytest.mark.parametrize(
    ("policy", "less"),
    [
        ([], {}),
        ([MM], {MM: 2}),
        ([MM, EXP], {MM: 2, EXP: 1}),
        (lambda context, op, *args, **kwargs: CheckpointPolicy.PREFER_SAVE, {MM: 2, EXP: 1, SIN: 1, SIGMOID: 1}),
        (lambda context, op, *args, **kwargs: CheckpointPolicy.MUST_CPU_OFFLOAD, {MM: 2, EXP: 1, SIN: 1, SIGMOID: 1}),
        (lambda context, op, *args, **kwargs: op == EXP, {EXP: 1}),
        (only_the_second_product(), {MM: 1}),
    ],
)
def test_what_is_kept_is_not_computed_again(policy: Any, less: dict[Any, int]) -> None:
    saved = {str(op): count for op, count in less.items()}
    assert computed_again(policy) == {name: n - saved.get(name, 0) for name, n in COMPUTED_AGAIN.items()}


def test_a_policy_is_told_the_result() -> None:
    told = []

    def policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> bool:
        told.append((context.is_recompute, str(op), tuple(context.op_output.shape), len(args)))
        return False

    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    checkpoint(lambda x: (x @ x).exp(), torch.ones(2, 2, requires_grad=True), use_reentrant=False, context_fn=contexts)
    assert told == [(False, "aten.mm.default", (2, 2), 2), (False, "aten.exp.default", (2, 2), 1)]


KEEP_PRODUCTS = functools.partial(create_selective_checkpoint_contexts, [MM])


def run(function: Callable[[Any], Any], context_fn: Any = KEEP_PRODUCTS) -> Any:
    x = torch.ones(2, 2, requires_grad=True)
    return checkpoint(function, x, use_reentrant=False, context_fn=context_fn)


def test_only_one_backward_pass() -> None:
    y = run(lambda x: (x @ x).exp())
    y.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        y.sum().backward()


def test_what_is_kept_may_not_change() -> None:
    def f(x: Any) -> Any:
        y = x @ x
        z = y.exp()
        y.mul_(2)
        return z * y

    with pytest.raises(RuntimeError, match="cached during selective activation checkpoint has been mutated"):
        run(f).sum().backward()
    run(
        f, functools.partial(create_selective_checkpoint_contexts, [MM], allow_cache_entry_mutation=True)
    ).sum().backward()


def test_a_function_that_does_something_else_the_second_time() -> None:
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        y = x @ x
        return y.exp() if len(calls) == 1 else y.tanh().exp()

    with pytest.raises(RuntimeError, match="aten.tanh.default encountered during backward but not found in storage"):
        run(f).sum().backward()


def test_what_is_no_policy() -> None:
    with pytest.raises(ValueError, match="Expected op in `op_list` to be an OpOverload but got: aten.mm"):
        create_selective_checkpoint_contexts([aten.mm])
    with pytest.raises(TypeError, match="must be either a function or a list of ops"):
        create_selective_checkpoint_contexts(3)


@pytest.mark.parametrize(("early", "steps"), [(True, [1, 2, 1]), (False, [1, 2, 1, 2])])
def test_early_stop_for_a_stretch_of_a_program(early: bool, steps: list[int]) -> None:
    seen = []

    def f(x: Any) -> Any:
        y = x.exp()
        seen.append(1)
        z = y.sin()
        seen.append(2)
        return z + 1

    with module.set_checkpoint_early_stop(early), module.set_checkpoint_debug_enabled(None):
        y = checkpoint(f, torch.ones(1, requires_grad=True), use_reentrant=False)
    y.sum().backward()
    assert seen == steps


def test_detached_arguments() -> None:
    leaf, plain, number = module.detach_variable((torch.ones(1, requires_grad=True) * 2, torch.ones(1), 3))
    assert leaf.is_leaf and leaf.requires_grad and not plain.requires_grad and number == 3
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported. Got Unsupported input type: list"):
        module.detach_variable([1])
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        module.check_backward_validity([torch.ones(1)])
