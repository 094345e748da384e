"""For each op, calls to try it on: arguments as (layouts of) NumPy arrays and Python values.

`calls(op)` yields tuples of arguments with real tensors. Pointwise ops and reductions get theirs by family; every other
op has a row here, so that a new op without one makes the completeness test fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import Any

import numpy as np

from minitorch_compile.tensor import float16, float32, float64, from_numpy, int32, int64, ops, tensor
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.memory.memory_format import channels_last, contiguous_format
from minitorch_compile.tensor.numerics.dtype import DTYPES, bool_, dtype
from tests.tensor.awkward import arrays as awkward_arrays
from tests.tensor.awkward import layouts, special_floats

Call = tuple[Any, ...]
ROWS: dict[Op, Callable[[], Iterator[Call]]] = {}

BROADCASTS = [((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((2, 1, 4), (3, 1)), ((0, 3), (1, 3)), ((5,), (5,))]


def calls(op: Op) -> Iterator[Call]:
    """Argument tuples for `op`."""
    if op in ROWS:
        return ROWS[op]()
    if op.kind == "pointwise":
        return unary_calls() if len(op.tensor_parameters) == 1 else binary_calls()
    if op.kind == "reduction":
        return reduction_calls()
    return iter(())


def arrays(element: type = np.float32) -> dict[str, np.ndarray]:
    return {name: np.asarray(array) for name, array in awkward_arrays(element).items()}


def sample(*sizes: int, dtype: dtype = float32, seed: int = 0, low: int = -9, high: int = 9) -> Any:
    """A tensor of random numbers; integers lie in [low, high)."""
    rng = np.random.default_rng(seed)
    if dtype is bool_:
        return from_numpy(np.asarray(rng.random(sizes) < 0.5))
    if dtype.is_floating_point:
        return from_numpy(np.asarray(rng.normal(size=sizes) * 2).astype(dtype.numpy))
    return from_numpy(
        np.asarray(rng.integers(max(low, 0) if not dtype.is_signed else low, high, sizes)).astype(dtype.numpy)
    )


def row(op: Op) -> Callable[[Callable[[], Iterator[Call]]], Callable[[], Iterator[Call]]]:
    """Declares the decorated generator to be the calls for `op`."""

    def declare(generator: Callable[[], Iterator[Call]]) -> Callable[[], Iterator[Call]]:
        ROWS[op] = generator
        return generator

    return declare


# ------------------------------------------------------------------------------------------ families


def unary_calls() -> Iterator[Call]:
    """Every dtype, size and layout; and what is special about floats."""
    for element in DTYPES:
        for array in arrays(element.numpy.type).values():
            for _, x in layouts(array) if element is float32 else islice(layouts(array), 1):
                yield (x,)
    for element in (float32, float64):
        yield (from_numpy(special_floats(element.numpy.type)),)


def binary_calls() -> Iterator[Call]:
    """Every broadcast, pair of dtypes and kind of Python number; special floats against each other."""
    for left, right in BROADCASTS:
        yield sample(*left), sample(*right, seed=1)
        yield sample(*left, dtype=int64), sample(*right, dtype=int64, seed=1, low=1)
    for a, b in product(DTYPES, DTYPES):
        yield sample(3, dtype=a), sample(3, dtype=b, seed=1, low=1)
        yield sample(3, dtype=a), sample(dtype=b, seed=1, low=1)
    for element, number in product(DTYPES, (True, 3, -2, 2.5, 0.0, float("inf"))):
        yield sample(2, 3, dtype=element), number
        yield number, sample(2, 3, dtype=element, low=1)
    for _, x in layouts(arrays()["matrix"]):
        yield x, sample(4)
        yield sample(3, 1), x
    specials = special_floats()
    yield from_numpy(specials[:, None].copy()), from_numpy(specials)


def reduction_calls() -> Iterator[Call]:
    """All dimensions, one, several, none of any size; kept or not."""
    for element in DTYPES:
        for name, array in arrays(element.numpy.type).items():
            dims: list[Any] = (
                [None, -1] + ([(0, 2), (1,)] if name == "cube" else []) + ([()] if name == "matrix" else [])
            )
            for dim, keepdim in product(dims, (False, True)):
                yield from_numpy(array), dim, keepdim
    for _, x in layouts(arrays()["cube"]):
        yield x, 1, False
    yield from_numpy(special_floats()), 0, False


# ------------------------------------------------------------------------------------------ pointwise, with more


@row(ops.add)
@row(ops.sub)
def _with_alpha() -> Iterator[Call]:
    yield from binary_calls()
    yield sample(3), sample(3, seed=1), 2.5
    yield sample(3, dtype=int64), sample(3, dtype=int64, seed=1), 3
    yield sample(4, dtype=bool_), sample(4, dtype=bool_, seed=1), 0


@row(ops.pow)
def _() -> Iterator[Call]:
    yield from binary_calls()
    for element, exponent in product((float32, float64, int64), (-1, 0, 1, 2, 3, 4, 5, 0.5, 2.0, -0.5)):
        yield sample(6, dtype=element), exponent
    for exponent in (0, 2, 3, -1, 0.5, -0.5):
        yield from_numpy(special_floats()), exponent


@row(ops.div)
def _() -> Iterator[Call]:
    yield from binary_calls()
    for (a, b), mode in product(binary_calls(), ("floor", "trunc")):
        yield a, b, mode


@row(ops.logit)
def _() -> Iterator[Call]:
    for (x,), eps in product(unary_calls(), (None, 0.1)):
        yield x, eps


@row(ops.round)
def _() -> Iterator[Call]:
    for (x,), decimals in product(unary_calls(), (0, 2, -1)):
        yield x, decimals


@row(ops.addcmul)
@row(ops.addcdiv)
def _() -> Iterator[Call]:
    for left, right in BROADCASTS:
        yield sample(*left), sample(*right, seed=1), sample(*right, seed=2)
    for element in (float64, float16, int64):
        yield sample(3, dtype=element), sample(3, dtype=element, seed=1), sample(3, dtype=element, seed=2, low=1)
    for _, x in layouts(arrays()["matrix"]):
        yield x, sample(4, seed=1), sample(3, 1, seed=2)


@row(ops.lerp)
def _() -> Iterator[Call]:
    yield from ((sample(3), sample(3, seed=1), weight) for weight in (0.0, 0.25, 0.5, 1.0, 2.0))
    yield sample(2, 3), sample(3, seed=1), sample(2, 1, seed=2)


@row(ops.frexp_parts)
def _() -> Iterator[Call]:
    yield from unary_calls()
    yield (tensor([1.0, 0.5, 2.0**-30, 3.0e38, 1e-30, -8.0, 0.99999994]),)


@row(ops.gelu)
def _() -> Iterator[Call]:
    for (x,), approximate in product(unary_calls(), ("none", "tanh")):
        yield x, approximate


@row(ops.clamp)
def _() -> Iterator[Call]:
    for (x,) in unary_calls():
        yield x, -1, 1
    yield sample(3, 4), None, 0.5
    yield sample(3, 4), sample(4, seed=1), None
    yield sample(3, 4, dtype=int64), -1.5, sample(3, 1, seed=1)
    yield sample(3), float("nan"), None


@row(ops.where)
def _() -> Iterator[Call]:
    for (x, y), condition in product(binary_calls(), (sample(dtype=bool_), sample(3, dtype=bool_))):
        yield condition, x, y
    yield sample(3, 1, dtype=bool_), sample(4), 2
    yield sample(3, 1, dtype=bool_), 1, 2.0


# ------------------------------------------------------------------------------------------ reductions, with more


@row(ops.sum)
@row(ops.prod)
@row(ops.mean)
def _with_dtype() -> Iterator[Call]:
    yield from reduction_calls()
    for element, target in product((float32, int32, bool_), (float64, float32, int64)):
        yield sample(3, 4, dtype=element), 0, False, target


@row(ops.argmax)
@row(ops.argmin)
def _() -> Iterator[Call]:
    for element in DTYPES:
        for array in arrays(element.numpy.type).values():
            for dim, keepdim in product((None, -1, 0), (False, True)):
                yield from_numpy(array), dim, keepdim
    yield from_numpy(special_floats()), 0
    yield tensor([[1, 3, 3], [2, 2, 1]]), 1


@row(ops.softmax)
@row(ops.log_softmax)
def _() -> Iterator[Call]:
    for element in (float32, float64, float16):
        for array in arrays(element.numpy.type).values():
            yield from_numpy(array), -1
            yield from_numpy(array), 0
    for _, x in layouts(arrays()["cube"]):
        yield x, 1
    yield sample(3, 4) * 200, 1
    yield tensor([[float("-inf"), 0.0], [1.0, float("nan")]]), 1
    yield sample(3, 4, dtype=int64), 1, float64


@row(ops.cumsum)
@row(ops.cumprod)
def _() -> Iterator[Call]:
    for element in DTYPES:
        for name, array in arrays(element.numpy.type).items():
            yield from_numpy(array), -1
            if name in ("matrix", "cube"):
                yield from_numpy(array), 0, float64
    for _, x in layouts(arrays()["cube"]):
        yield x, 1


# ------------------------------------------------------------------------------------------ views


@row(ops.view)
def _() -> Iterator[Call]:
    yield sample(2, 6), (3, 4)
    yield sample(2, 6), (-1,)
    yield sample(), (1, 1)
    yield sample(1), ()
    yield sample(0, 3), (3, 0)
    yield sample(4, 6).transpose(0, 1), (2, 3, 4)


@row(ops.as_strided)
def _() -> Iterator[Call]:
    yield sample(12), (3, 4), (4, 1)
    yield sample(12), (3, 3), (1, 2), 2
    yield sample(3, 4), (2, 0), (1, 1)
    yield sample(5), (), (), 3


@row(ops.permute)
def _() -> Iterator[Call]:
    for _, x in layouts(arrays()["cube"]):
        yield x, (2, 0, 1)
        yield x, (0, -1, 1)
    yield sample(), ()


@row(ops.transpose)
def _() -> Iterator[Call]:
    yield sample(2, 3, 4), 0, -1
    yield sample(), 0, -1
    yield sample(0, 3), 0, 1


@row(ops.t)
def _() -> Iterator[Call]:
    yield from ((sample(*sizes),) for sizes in ((), (3,), (2, 3), (1, 4)))


@row(ops.expand)
def _() -> Iterator[Call]:
    yield sample(3, 1), (3, 4)
    yield sample(3, 1), (2, -1, 4)
    yield sample(), (2, 0)
    yield sample(3), (3,)


@row(ops.unsqueeze)
def _() -> Iterator[Call]:
    yield from ((sample(2, 3), dim) for dim in (0, 1, 2, -1, -3))
    yield sample(), 0
    yield sample(3, 4).transpose(0, 1), 1


@row(ops.squeeze)
def _() -> Iterator[Call]:
    yield from ((sample(1, 3, 1), dim) for dim in (None, 0, 1, -1, (0, 2), (0, 1)))
    yield sample(), None
    yield sample(), 0


@row(ops.diagonal)
def _() -> Iterator[Call]:
    yield sample(3, 4), 0, 0, 1
    yield sample(3, 4).t(), 1, 0, 1
    yield sample(2, 3, 4), -1, -1, 1
    yield sample(2, 3), 5, 0, 1


@row(ops.unfold)
def _() -> Iterator[Call]:
    yield sample(8), 0, 3, 2
    yield sample(2, 7, 3), 1, 2, 1
    yield sample(4, 6).t(), -2, 6, 1
    yield sample(), 0, 1, 1


@row(ops.flip)
def _() -> Iterator[Call]:
    yield sample(2, 3, 4), (0, -1)
    yield sample(3, 4).t(), (0,)
    yield sample(3), ()
    yield sample(), ()


@row(ops.select)
def _() -> Iterator[Call]:
    for _, x in layouts(arrays()["cube"]):
        yield x, 1, -2
    yield sample(3), 0, 1
    yield sample(3, 0), 0, 2


@row(ops.slice)
def _() -> Iterator[Call]:
    for bounds in ((None, None), (1, 5, 2), (-2, None), (3, 1), (0, 100), (None, -1, 3)):
        yield sample(2, 7), 1, *bounds
    yield sample(0, 2), 0, 0, 3


@row(ops.detach)
@row(ops.contiguous_copy)
def _() -> Iterator[Call]:
    yield from unary_calls()


@row(ops.clone)
def _() -> Iterator[Call]:
    yield from unary_calls()
    yield sample(2, 3, 4, 5), channels_last
    yield sample(4, 3).t(), contiguous_format


# ------------------------------------------------------------------------------------------ products, images


@row(ops.cat)
def _() -> Iterator[Call]:
    yield [sample(2, 3), sample(2, 1, seed=1)], 1
    yield [sample(2, 3), sample(0, 3), sample(1, 3)], 0
    yield [sample(3), sample(2, dtype=int64), sample(1, dtype=float64)], -1
    yield [sample(3, 2).transpose(0, 1), sample(2, 3)], 0
    yield [sample(4, dtype=bool_)], 0


@row(ops.mm)
def _() -> Iterator[Call]:
    for n, k, m in ((2, 3, 4), (1, 1, 1), (0, 3, 2), (2, 0, 3)):
        yield sample(n, k), sample(k, m, seed=1)
        yield sample(k, n, dtype=float64).t(), sample(m, k, dtype=float64, seed=1).t()
        yield sample(n, k, dtype=int64), sample(k, m, dtype=int64, seed=1)


@row(ops.bmm)
def _() -> Iterator[Call]:
    yield sample(2, 3, 4), sample(2, 4, 5, seed=1)
    yield sample(2, 4, 3).transpose(1, 2), sample(1, 4, 5, seed=1).expand(2, 4, 5)
    yield sample(0, 3, 4), sample(0, 4, 5)


@row(ops.addmm)
def _() -> Iterator[Call]:
    for sizes in ((4,), (2, 4), (2, 1), (), (1, 1)):
        yield sample(*sizes, seed=2), sample(2, 3), sample(3, 4, seed=1)
    yield sample(4, seed=2), sample(2, 3), sample(3, 4, seed=1), 0.5, 2
    yield sample(4, seed=2), sample(2, 3), sample(3, 4, seed=1), 0, 1
    yield sample(4, dtype=int64), sample(2, 3, dtype=int64), sample(3, 4, dtype=int64, seed=1), 2, 3


@row(ops.native_batch_norm)
def _() -> Iterator[Call]:
    for element in (float32, float64):
        yield sample(3, 2, dtype=element), sample(2, dtype=element), sample(2, dtype=element, seed=1), 1e-5
    yield sample(3, 2, 4), None, sample(2), 1e-3
    yield sample(3, 2, 4, 1), sample(2), None, 1e-3
    yield sample(2, 4, 3, 3).permute(0, 3, 1, 2), None, None, 1e-5


@row(ops.hardtanh)
@row(ops.elu)
@row(ops.softplus)
def _() -> Iterator[Call]:
    for (x,) in unary_calls():
        yield (x,)
        yield x, 0.5, 2.0


@row(ops.leaky_relu)
def _() -> Iterator[Call]:
    for (x,), slope in product(unary_calls(), (0.01, -0.5)):
        yield x, slope


@row(ops.binary_cross_entropy)
def _() -> Iterator[Call]:
    for element in (float32, float64):
        yield ops.sigmoid(sample(3, 4, dtype=element)), ops.sigmoid(sample(3, 4, dtype=element, seed=1))
    yield tensor([0.0, 1.0, 0.0, 1.0]), tensor([0.0, 0.0, 1.0, 1.0])


@row(ops.native_layer_norm)
def _() -> Iterator[Call]:
    for element in (float32, float64):
        x, w, b = sample(4, 2, 6, dtype=element), sample(6, dtype=element), sample(6, dtype=element, seed=1)
        for weight, bias in ((None, None), (w, None), (None, b), (w, b)):
            yield x, (6,), weight, bias, 1e-5
    yield sample(4, 2, 6), (2, 6), sample(2, 6), None, 1e-3
    yield sample(3, 8) + 1000, (8,), None, None, 1e-5
    yield sample(0, 8), (8,), None, None, 1e-5


@row(ops.split_with_sizes_copy)
def _() -> Iterator[Call]:
    yield sample(4, 6), (1, 3, 2), 1
    yield sample(6, 4).t(), (4,), -2
    yield sample(3), (0, 3), 0
    yield sample(0, 2, dtype=int64), (0, 0), 0


# ------------------------------------------------------------------------------------------ indexing


@row(ops.gather)
def _() -> Iterator[Call]:
    yield sample(3, 4), 1, sample(3, 2, dtype=int64, low=0, high=4)
    yield sample(3, 4).t(), 0, sample(5, 3, dtype=int64, low=0, high=4)
    yield sample(3, 4), -2, sample(2, 4, dtype=int32, low=0, high=3)
    yield sample(), 0, tensor(0)
    yield sample(3), 0, tensor(2)
    yield sample(3, 0), 1, sample(3, 0, dtype=int64)


@row(ops.scatter_src)
def _() -> Iterator[Call]:
    yield sample(3, 4), 1, tensor([[0, 3], [1, 2], [3, 0]]), sample(3, 3, seed=1)
    yield sample(3, 4), 0, tensor([[2, 1, 0]]), sample(4, 4, seed=1)
    yield sample(), 0, tensor(0), sample(seed=1)
    yield sample(5, dtype=int64), 0, tensor([1, 4], dtype=int32), tensor([1, 2])


@row(ops.scatter_add)
def _() -> Iterator[Call]:
    yield sample(3, 4), 1, sample(3, 5, dtype=int64, low=0, high=4), sample(3, 5, seed=1)
    yield sample(3, 4), 0, sample(2, 3, dtype=int64, low=0, high=3), sample(4, 4, seed=1)
    yield sample(), 0, tensor([0]), sample(1, seed=1)
    yield sample(5, dtype=int64), 0, tensor([1, 1, 1]), tensor([1, 2, 3])


INDEXINGS = [
    (sample(5, 4), [tensor([0, -1, 2])]),
    (sample(5, 4), [None, tensor([[0, 3], [1, -4]])]),
    (sample(5, 4), [tensor([[0], [3]]), tensor([1, 2, 3])]),
    (sample(2, 3, 4), [tensor([0, 1]), None, tensor([1, 3])]),
    (sample(2, 3, 4), [None, tensor([2, 0]), tensor([1, 3])]),
    (sample(5, 4), [tensor(2)]),
    (sample(5, 4).t(), [sample(0, dtype=int64)]),
    (sample(5, dtype=bool_), [sample(3, dtype=int32, low=0, high=5)]),
]


@row(ops.index)
def _() -> Iterator[Call]:
    yield from INDEXINGS


@row(ops.index_put)
def _() -> Iterator[Call]:
    for x, indices in INDEXINGS:
        target = ops.index(x, indices)
        yield x, indices, sample(*target.sizes, dtype=x.dtype, seed=1)
        yield x, indices, sample(dtype=x.dtype, seed=1)
        if x.dtype is not bool_:
            yield x, indices, sample(*target.sizes, dtype=x.dtype, seed=1), True
    yield sample(4), [tensor([1, 1, 1])], sample(3, seed=1), True


@row(ops.embedding)
def _() -> Iterator[Call]:
    for sizes, element in product(((), (3,), (2, 3), (0,)), (int64, int32)):
        yield sample(*sizes, dtype=element, low=0, high=5), sample(5, 4)


@row(ops.tril)
@row(ops.triu)
def _() -> Iterator[Call]:
    for element, diagonal in product((float32, int64, bool_), (0, -1, 2, 10)):
        yield sample(3, 4, dtype=element), diagonal
    yield sample(2, 4, 3).transpose(1, 2), 1
    yield sample(0, 3), 0


# ------------------------------------------------------------------------------------------ creation and copies


@row(ops.full)
def _() -> Iterator[Call]:
    yield from (
        ((2, 3), value, element) for value, element in product((0, 1.5, True, -3), (None, float32, int64, bool_))
    )
    yield (), float("inf")
    yield (0, 2), 1


@row(ops.full_strided)
def _() -> Iterator[Call]:
    yield (2, 3), (1, 2), 1.5, float32
    yield (2, 2, 2), (1, 4, 2), 1, int64


@row(ops.arange)
def _() -> Iterator[Call]:
    yield (5,)
    yield 1, 10, 3
    yield 10, 0, -2, float32
    yield 0, 1, 0.3
    yield 0, 1, 0.1, float64
    yield 3, 3


@row(ops.eye)
def _() -> Iterator[Call]:
    yield from ((3,), (2, 4), (3, 2, int64), (2, 2, bool_), (0,))


@row(ops.to_copy)
def _() -> Iterator[Call]:
    for source, target in product(DTYPES, DTYPES):
        yield sample(3, 4, dtype=source, low=0), target
    for _, x in layouts(arrays()["cube"]):
        yield x, float64


@row(ops.copy)
def _() -> Iterator[Call]:
    yield sample(3, 4), sample(4, seed=1)
    yield sample(4, 3).t(), sample(3, 1, seed=1, dtype=int64)
    yield sample(3, dtype=int64), sample(3, seed=1)
    yield sample(), sample(seed=1)


@row(ops.fill)
def _() -> Iterator[Call]:
    for element, value in product((float32, int64, bool_), (0, 2.5, True)):
        yield sample(3, 2, dtype=element).t(), value


@row(ops.philox_uniform)
@row(ops.philox_normal)
def _() -> Iterator[Call]:
    for element, sizes in product((float32, float64, float16), ((), (5,), (2, 3), (0,))):
        yield sizes, tensor(-7), tensor(12), element


@row(ops.philox_randint)
def _() -> Iterator[Call]:
    for element in (int64, int32, float32):
        yield -3, 10, (4, 5), tensor(3), tensor(2**40), element


@row(ops._vector_norm)
def _() -> Iterator[Call]:
    for element, ord in product((float32, float64), (2.0, 1.0, 0.0, 3.0, 0.5, -1.0, float("inf"), float("-inf"))):
        for dim, keepdim in product((None, 1, (0, 2)), (False, True)):
            yield sample(2, 3, 4, dtype=element), dim, keepdim, ord
        yield sample(dtype=element), None, False, ord
    yield sample(0, 3), 0, False, 2.0
    yield sample(3, 0), 1, True, 1.0
