"""The table of batching rules: what each operation on an example is on a whole batch.

A rule gets the batch, the op and all its parameters; it returns the result(s) with the batch as first dimension:

    @batching_rule("select")
    def select(batch, op, input, dim, index):
        return op(input.value, shifted(dim, input.dim())[0], index)          # all dimensions are one further

Whole families share one (`for_kind`): every pointwise op broadcasts, every reduction shifts its dimensions by one. Ops
that are declared to work on rows do so for a batch of batches, too (`of_rows`). An op without a rule is run once for
each example, with a warning that names it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.func.batching.batch import Batch
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.user_warnings import warn_user

Rule = Callable[..., Any]

RULES: dict[Op, Rule] = {}
FAMILIES: dict[str, Rule] = {}
# Ops that have no rule, and why. They run once for each example, or not at all.
WITHOUT_A_RULE: dict[str, str] = {
    **dict.fromkeys(("argwhere", "bincount", "repeated_positions"), "the size of the result depends on the data"),
    **dict.fromkeys(("unique_parts", "unique_consecutive_parts"), "the size of the result depends on the data"),
    **dict.fromkeys(("ctc_alignments", "ctc_gradient"), "an algorithm with lengths of its own for each sample"),
    "histc": "the edges of the bins depend on the example",
    "multinomial_choice": "each row draws until it has enough",
}
_warned: set[str] = set()


def batching_rule(*names: str) -> Callable[[Rule], Rule]:
    """Enters a rule for the ops of these names."""

    def enter(rule: Rule) -> Rule:
        for name in names:
            RULES[ops.table[name]] = rule
        return rule

    return enter


def for_kind(kind: str) -> Callable[[Rule], Rule]:
    """Enters a rule for a family of ops; those with a rule of their own go by that."""

    def enter(rule: Rule) -> Rule:
        FAMILIES[kind] = rule
        return rule

    return enter


def rule_of(op: Op) -> Rule:
    """The rule for an op."""
    if op in RULES:
        return RULES[op]
    return of_rows if getattr(op, "rows", False) else FAMILIES.get(op.kind, one_by_one)


def of_rows(batch: Batch, op: Op, *bound: Any) -> Any:
    """The op itself: to what works on the last dimensions, the batch is one more dimension in front."""
    return op(*(batch.spread(x) if isinstance(x, Tensor) else x for x in bound))


def one_by_one(batch: Batch, op: Op, *bound: Any) -> Any:
    """The op, run for each example; its results are stacked."""
    if getattr(op, "shape_depends_on_data", False):
        raise RuntimeError(
            f"vmap: the size of what {op.name} returns depends on the data, so it may differ between the examples of a"
            " batch. Use a form of fixed size, such as torch.where or a mask"
        )
    if op.name not in _warned:
        _warned.add(op.name)
        warn_user(f"vmap: {op.name} has no batching rule; it runs once for each example, which is slow")
    results = [op(*(_example(batch, x, i) for x in bound)) for i in range(batch.size)]
    if not results:
        raise RuntimeError(f"vmap: {op.name} has no batching rule, so it can't be applied to an empty batch")
    if isinstance(results[0], tuple):
        return tuple(ops.stack(parts) for parts in zip(*results))
    return ops.stack(results)


def _example(batch: Batch, x: Any, index: int) -> Any:
    if isinstance(x, (list, tuple)) and any(isinstance(item, Tensor) for item in x):
        return type(x)(_example(batch, item, index) for item in x)
    return ops.select(x.value, 0, index) if batch.holds(x) else x
