"""Fake tensors whose sizes are not known: symbols for the sizes, and strides that follow from them.

>>> from minitorch_compile.symbolic import ShapeEnv
>>> from minitorch_compile.tensor import ones
>>> x = symbolic_like(ones(3, 4, 1).transpose(0, 1), ShapeEnv())
>>> x.sizes, x.strides
(torch.Size([s0, s1, 1]), (1, s0, 1))
>>> (x.transpose(0, 1).flatten() * x.sizes[0]).sizes
torch.Size([s0*s1])

Most shape rules are arithmetic and comparisons, and so work on unknown sizes as they are. `specializing` is for the
others: what fails is done again with all sizes known, and the `ShapeEnv` notes that they must be these.

Source: `ShapeEnv._compute_symbolic_stride` of PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from minitorch_compile import logs
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.symbolic import GuardOnDataDependentSymNode, ShapeEnv, SymFloat, SymInt
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.tensor_base import FakeDataError, TensorBase, fake_like

log = logs.artifact("dynamic")


def symbolic_like(x: TensorBase, env: ShapeEnv) -> Any:
    """A fake like `x` with a symbol for each size from 2 on, the same one for equal sizes."""
    fake = fake_like(x)
    sizes: list[Any] = [env.duck(size) if size > 1 else size for size in x.sizes]
    fake.sizes, fake.strides = Size(sizes), symbolic_strides(x.sizes, x.strides, sizes)
    return fake


def symbolic_strides(
    seen_sizes: Sequence[int],
    seen_strides: Sequence[int],
    sizes: Sequence[Any],
    other: Callable[[int], Any] | None = None,
) -> tuple[Any, ...]:
    """Strides for symbolic sizes: the stride of one dimension is often stride times size of another.

    `other` gives the stride of a dimension where it is not; by default it is the number that was seen.
    """
    found: dict[int, Any] = {}
    ndim = len(seen_sizes)
    for dim in sorted(range(ndim), key=lambda d: (seen_strides[d], -d)):
        stride = seen_strides[dim]
        nearest_first = sorted(found, key=lambda d: (d != dim + 1, d))
        spanned = [d for d in nearest_first if seen_strides[d] * seen_sizes[d] == stride]
        if stride > 1 and spanned:
            found[dim] = found[spanned[0]] * sizes[spanned[0]]
        else:
            found[dim] = stride if stride < 2 or other is None else other(dim)
    return tuple(found[dim] for dim in range(ndim))


# --- what can't be done with unknown sizes ----------------------------------------------------------------------------


def specializing(
    call: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    passing: tuple[type[Exception], ...] = (),
) -> Any:
    """The call; if it fails with unknown sizes or floats, the same with those that were seen.

    So a rule that can't treat unknown sizes is no error, but the traced program will be for these sizes only.
    `passing`: errors that have nothing to do with sizes.
    """
    try:
        return call(*args, **kwargs)
    except Exception as error:
        no_sizes = (FakeDataError, NotImplementedError, GuardOnDataDependentSymNode, *passing)
        if isinstance(error, no_sizes) or not _has_unknown_numbers((args, kwargs)):
            raise
        log(f"{getattr(call, '__name__', call)} is done with known sizes, after {type(error).__name__}: {error}")
        known_args, known_kwargs = with_known_sizes((list(args), dict(kwargs)))
        return call(*known_args, **known_kwargs)


def _has_unknown_numbers(arguments: Any) -> bool:
    return any(True for _ in unknown_sizes(arguments)) or any(
        isinstance(leaf, SymFloat) for leaf in tree_leaves(arguments)
    )


def unknown_sizes(value: Any) -> Iterator[SymInt]:
    """All sizes that are not plain numbers, in tensors and beside them, in nested lists, tuples and dicts."""
    if isinstance(value, SymInt):
        yield value
    elif isinstance(value, TensorBase):
        for number in (*value.sizes, *value.strides, value.offset):
            yield from unknown_sizes(number)
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from unknown_sizes(item)
    elif isinstance(value, slice):
        yield from unknown_sizes((value.start, value.stop, value.step))


def with_known_sizes(value: Any) -> Any:
    """The same with numbers for the unknown ones, which become constants. Tensors stay the same objects."""
    if isinstance(value, SymInt):
        return int(value)
    if isinstance(value, SymFloat):
        return float(value)
    if isinstance(value, TensorBase):
        value.sizes = Size(map(int, value.sizes))
        value.strides, value.offset = tuple(map(int, value.strides)), int(value.offset)
        return value
    if isinstance(value, slice):
        return slice(*map(with_known_sizes, (value.start, value.stop, value.step)))
    if type(value) in (list, tuple, Size):
        return type(value)(map(with_known_sizes, value))
    return {key: with_known_sizes(item) for key, item in value.items()} if type(value) is dict else value
