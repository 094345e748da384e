"""Selective activation checkpointing: of a checkpointed function, the results of some ops are kept all the same.

>>> import functools
>>> import minitorch_compile as torch
>>> from minitorch_compile.utils.checkpoint import checkpoint
>>> keep_products = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
>>> x = torch.ones(2, 2, requires_grad=True)
>>> y = checkpoint(lambda x: (x @ x).exp(), x, use_reentrant=False, context_fn=keep_products)
>>> y.sum().backward()                                   # computes exp again, and not the product
>>> x.grad
tensor([[29.5562, 29.5562],
        [29.5562, 29.5562]])

Both contexts are modes that are asked about every op: the first asks the policy and keeps results, the second gives
back what was kept instead of computing it.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.pytree import tree_map
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch.aten_names import OpOverload
from minitorch_compile.utils._python_dispatch import TorchDispatchMode


class CheckpointPolicy(enum.Enum):
    """What becomes of an op's result: kept, or computed again. What MUST be is not left to a compiler, what one would
    PREFER is."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


# On a CPU, what is offloaded to it stays where it is.
KEPT = frozenset(policy for policy in CheckpointPolicy if policy.name.endswith(("SAVE", "OFFLOAD")))
SAC_IGNORED_OPS = frozenset(("aten.detach.default",))
AGAIN, GIVEN_BACK = object(), object()
MISMATCH = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that"
    " changed between forward and backward."
)


class SelectiveCheckpointContext:
    """What a policy is told besides the op and its arguments: whether this is the second time, and the result."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class _Kept:
    """A result, and the version of its memory at that time."""

    def __init__(self, value: Any) -> None:
        self.value = value.detach() if isinstance(value, Tensor) else value
        self.version = value._version if isinstance(value, Tensor) else None

    def given_back(self, may_have_changed: bool) -> Any:
        if self.version is not None and not may_have_changed and self.value._version != self.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.value


Storage = defaultdict[Any, dict[int, Any]]  # by op, and by how many calls of it came before


class _Numbered(TorchDispatchMode):
    """Counts the calls of each op."""

    def __init__(self, storage: Storage) -> None:
        super().__init__()
        self.storage = storage
        self.calls: dict[str, int] = {}

    def __enter__(self) -> Any:
        self.calls.clear()
        return super().__enter__()

    def number(self, func: Any) -> tuple[str, int]:
        """The op's name, and how many calls of it came before."""
        name = str(func)
        count = self.calls.get(name, 0)
        self.calls[name] = count + 1
        return name, count


class _Keeping(_Numbered):
    def __init__(self, policy: Callable[..., Any], storage: Storage) -> None:
        super().__init__(storage)
        self.policy = policy

    def __torch_dispatch__(self, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if str(func) in SAC_IGNORED_OPS:
            return result
        name, count = self.number(func)
        context = SelectiveCheckpointContext(is_recompute=False, op_output=result)
        policy = self.policy(context, func, *args, **kwargs)
        keep = policy if isinstance(policy, bool) else policy in KEPT
        self.storage[name][count] = tree_map(_Kept, result) if keep else AGAIN
        return result


class _GivingBack(_Numbered):
    def __init__(self, storage: Storage, may_have_changed: bool) -> None:
        super().__init__(storage)
        self.may_have_changed = may_have_changed

    def __torch_dispatch__(self, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        if str(func) in SAC_IGNORED_OPS:
            return func(*args, **(kwargs or {}))
        name, count = self.number(func)
        if name not in self.storage:
            raise RuntimeError(f"{func} encountered during backward but not found in storage. {MISMATCH}")
        found = self.storage[name].get(count)
        if found is None:
            raise RuntimeError(
                f"{func} invocation index {count} encountered during backward but not found in storage. {MISMATCH}"
            )
        if found is GIVEN_BACK:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under"
                " selective activation checkpoint."
            )
        if found is AGAIN:
            return func(*args, **(kwargs or {}))
        self.storage[name][count] = GIVEN_BACK
        return tree_map(lambda kept: kept.given_back(self.may_have_changed), found)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """The two contexts that `checkpoint(..., context_fn=...)` asks for: in it the policy, `policy(ctx, op, *args,
    **kwargs)`, says a CheckpointPolicy for each op; a list of ops means that theirs are the results to keep.

    RuntimeError in the backward pass if what was kept has been written to, unless `allow_cache_entry_mutation`, or if
    the function did something else this time. ValueError for a list of what isn't `torch.ops.aten.name.overload`.
    """
    policy = policy_fn_or_list
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, OpOverload):
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. Give a specific"
                    " overload: torch.ops.aten.mm.default, not torch.ops.aten.mm"
                )
        kept = frozenset(map(str, policy_fn_or_list))

        def policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if str(op) in kept else CheckpointPolicy.PREFER_RECOMPUTE

    elif not callable(policy_fn_or_list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage: Storage = defaultdict(dict)
    return _Keeping(policy, storage), _GivingBack(storage, allow_cache_entry_mutation)
