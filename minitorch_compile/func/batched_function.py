"""An `autograd.Function` under vmap: by its own rule, the static method `vmap`, or example by example.

>>> import minitorch_compile as torch
>>> class Cube(torch.autograd.Function):
...     @staticmethod
...     def forward(x):
...         return x**3
...     @staticmethod
...     def setup_context(ctx, inputs, output):
...         ctx.save_for_backward(*inputs)
...     @staticmethod
...     def backward(ctx, grad):
...         (x,) = ctx.saved_tensors
...         return 3 * x**2 * grad
>>> torch.vmap(torch.func.grad(Cube.apply))(torch.tensor([1.0, 2.0]))
tensor([ 3., 12.])

The tape lies below vmap. So what it records is one call on whole batches, `OnBatch`, whose forward and backward see
examples: they enter the vmap again and run the class's own. A rule of the class's is called outside of its vmap, with
whole batches; what it does with them is recorded as it is.

Source: functorch's autograd.Function, whose `generate_vmap_rule=True` is the second way. It is not asked for here: it
is what a class without a rule gets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from minitorch_compile.autograd.function import Function
from minitorch_compile.func.batch_tensor import BatchTensor
from minitorch_compile.func.batching.batch import Batch
from minitorch_compile.func.interpreter import VmapInterpreter, active_vmaps
from minitorch_compile.func.levels import Levels
from minitorch_compile.pytree import tree_flatten, tree_map, tree_unflatten
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.transform_stack import transform

NOTES = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What a rule is told: how many examples there are, and what random operations may do."""

    batch_size: int
    randomness: str


def apply_to_examples(function: Any, args: Sequence[Any]) -> Any:
    """`function.apply(*args)`, where some of the arguments are examples. The innermost vmap that has any is meant."""
    level = max(x.level for x in tree_flatten(list(args))[0] if isinstance(x, BatchTensor))
    inner = [vmap for vmap in active_vmaps() if vmap.level >= level]
    batch = Batch(level, inner[0].size, inner[0].randomness)
    with Levels(tuple((vmap.level, vmap.size) for vmap in inner)).left():
        if function.vmap is not Function.vmap:
            if function.generate_vmap_rule:
                raise RuntimeError(
                    f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an"
                    " overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap"
                    f" staticmethod to avoid ambiguity. {NOTES}"
                )
            return _by_its_rule(function, batch, args)
        held, values = (tree_map(look, list(args)) for look in (batch.holds, batch.value))
        results = OnBatch.apply(function, batch, held, *values)
    return tuple(map(batch.wrapped, results)) if isinstance(results, tuple) else batch.wrapped(results)


# --- by the rule of the class -----------------------------------------------------------------------------------------


def _by_its_rule(function: Any, batch: Batch, args: Sequence[Any]) -> Any:
    """What `function.vmap(info, in_dims, *args)` gives. RuntimeError unless that is a result and where its batch is."""
    in_dims = tree_map(lambda x: 0 if batch.holds(x) else None, tuple(args))
    values = tree_map(batch.value, list(args))
    answer = function.vmap(VmapInfo(batch.size, batch.randomness), in_dims, *values)
    if not isinstance(answer, tuple) or len(answer) != 2:
        got = f"{len(answer)} returns" if isinstance(answer, tuple) else f"a {type(answer)}"
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure"
            f" compatible with the output. Got {got} instead. {NOTES}"
        )
    output, out_dims = answer
    leaves, spec = tree_flatten(output)
    try:
        dims = spec.spread(out_dims, lambda tree: tree is None or isinstance(tree, int))
    except ValueError as error:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected"
            f" out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure"
            f" {tree_flatten(out_dims)[1]} but output has structure {spec}. {NOTES}"
        ) from error
    return tree_unflatten([_example(x, dim, batch) for x, dim in zip(leaves, dims)], spec)


def _example(x: Any, dim: int | None, batch: Batch) -> Any:
    if dim is None or not isinstance(x, Tensor):
        return x
    return BatchTensor.of(ops.movedim(x, dim, 0), batch.level)


# --- example by example -----------------------------------------------------------------------------------------------


@contextmanager
def _entered(batch: Batch) -> Iterator[None]:
    with transform(VmapInterpreter(batch.level, batch.size, batch.randomness)):
        yield


class OnBatch(Function):
    """One call of a Function for all examples: batches in, batches out."""

    @staticmethod
    def forward(ctx: Any, function: Any, batch: Batch, batched: list[Any], *values: Any) -> Any:
        """The class's own forward, for one example. `ctx.own` is what it knows as its ctx."""
        with _entered(batch):
            args = _examples(values, batched, batch)
            ctx.own = function.node_class(function.__name__, function._pulls_back(), args)
            ctx.own.needs_input_grad = ctx.needs_input_grad[3:]
            result = function._forwarded(ctx.own, args)
            several = isinstance(result, (tuple, list))
            results = list(result) if several else [result]
            outputs = [batch.spread(x) if isinstance(x, Tensor) else x for x in results]
        if ctx.own._dirty:
            raise RuntimeError(
                f"{function.__name__}.apply: a Function that writes to its arguments needs a vmap staticmethod. {NOTES}"
            )
        ctx.batch, ctx.batched = batch, batched
        ctx.mark_non_differentiable(*(y for x, y in zip(results, outputs) if id(x) in ctx.own._non_differentiable))
        ctx.set_materialize_grads(ctx.own._materialize)
        ctx.kept_batched = [batch.holds(x) for x in ctx.own.kept_tensors]
        ctx.save_for_backward(*map(batch.value, ctx.own.kept_tensors))
        ctx.own.save_for_backward()
        return tuple(outputs) if several else outputs[0]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """The class's own backward, for one example. What is the same for all gets the sum of what all ask for."""
        saved, batch = ctx.saved_tensors, ctx.batch
        with _entered(batch):
            ctx.own.save_for_backward(*_examples(saved, ctx.kept_batched, batch))
            found = ctx.own._backward(ctx.own, *_examples(grads, [g is not None for g in grads], batch))
            ctx.own.save_for_backward()
            found = list(found) if isinstance(found, (tuple, list)) else [found]
            spread = [batch.spread(g) if isinstance(g, Tensor) else g for g in found]
        padded = [*ctx.batched, *(True for _ in spread[len(ctx.batched) :])]
        return None, None, None, *(g if held or g is None else ops.sum(g, 0) for g, held in zip(spread, padded))


def _examples(values: Sequence[Any], batched: Sequence[Any], batch: Batch) -> list[Any]:
    """What one example has for them, those in lists too; `batched` says, in the same nesting, which are batches."""
    own = tree_map(lambda held, x: BatchTensor.of(x, batch.level) if held else x, list(batched), list(values))
    return list(own)
