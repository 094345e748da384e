"""Ops against NumPy, and sizes, dtypes and views over awkward inputs."""

import itertools

import numpy as np
import pytest
from mini import ops
from mini.ops import STACK, Layer, full, getitem, promote
from mini.tensor import Tensor, fake, from_numpy, tensor

ARRAY = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
KEYS = [
    0,
    -1,
    1,
    slice(None),
    slice(1, None),
    slice(-2, None),
    slice(None, None, 2),
    slice(3, 1),
    slice(5, 9),
    None,
    ...,
]


@pytest.mark.parametrize("key", [k for n in (1, 2, 3) for k in itertools.product(KEYS, repeat=n) if k.count(...) < 2])
def test_indexing_is_numpys_and_makes_a_view(key):
    x = from_numpy(ARRAY)
    got, wanted = getitem(x, key), ARRAY[key]
    assert got.sizes == wanted.shape and got.tolist() == wanted.tolist() and got.storage is x.storage


def test_indexing_outside_is_refused():
    x = from_numpy(ARRAY)
    for key in (2, -3, (0, 3), (0, 0, 0, 0)):
        with pytest.raises(IndexError):
            x[key]
    with pytest.raises(IndexError):
        tensor([])[0]
    with pytest.raises(ValueError, match="step"):
        x[::-1]
    with pytest.raises(TypeError):
        x[tensor([0, 1])]
    assert [row.item() for row in tensor([3, 4])] == [3, 4] and list(tensor([])) == []


def test_writes_are_seen_by_views_and_counted():
    x = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    row = x[1]
    x[:, 1] = 0
    row.add_(10)
    x.t()[2].copy_(tensor([7.0, 8.0]))
    assert x.tolist() == [[1, 0, 7], [14, 10, 8]] and x.storage.version == 3
    x[0, 1:] = x[0, :2]  # from memory that is written to
    assert x.tolist()[0] == [1, 1, 0]
    with pytest.raises(RuntimeError, match="fit"):
        x[0].copy_(x)


DTYPES = [np.bool_, np.uint8, np.int32, np.int64, np.float16, np.float32, np.float64]


@pytest.mark.parametrize("a, b", [(a, b) for a in DTYPES for b in DTYPES if {a, b} != {np.uint8, np.bool_}])
def test_tensors_promote_to_the_wider_of_the_higher_kind(a, b):
    got = promote(fake((2,), a), fake((2,), b))
    assert got in (a, b) and np.result_type(a, b).kind == got.kind
    kinds = [np.dtype(t).kind in "f" for t in (a, b)]
    assert got == np.result_type(a, b) or kinds[0] != kinds[1]  # a float keeps its width beside integers


@pytest.mark.parametrize(
    "number, kind", [(True, "b"), (3, "i"), (2.5, "f"), (np.float64(2.5), "f"), (np.int32(3), "i")]
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_are_weak(dtype, number, kind):
    got = promote(fake((2,), dtype), number)
    higher = "bif".index(kind) > "bif".index(np.dtype(dtype).kind.replace("u", "i"))
    assert got == ({"i": np.int64, "f": np.float32}[kind] if higher else dtype) == promote(number, fake((2,), dtype))


def test_reductions_over_any_dimensions():
    x = from_numpy(ARRAY)
    for dim in (None, 0, -1, (0, 2), (1, -1), (), [0]):
        axes = tuple(range(3)) if dim is None else dim if not isinstance(dim, list) else tuple(dim)
        for keepdim in (False, True):
            assert np.array_equal(x.sum(dim, keepdim).numpy(), ARRAY.sum(axes, keepdims=keepdim))
            assert np.array_equal(x.amax(dim, keepdim=keepdim).numpy(), ARRAY.max(axes, keepdims=keepdim))
            assert np.allclose(x.mean(dim, keepdim).numpy(), ARRAY.mean(axes, keepdims=keepdim))
    assert tensor(2.0).sum().item() == 2 and tensor([]).sum().item() == 0
    assert tensor([True, True]).sum().item() == 2 and tensor([200, 100], np.uint8).sum().item() == 300
    for dim in (3, -4, (0, 3)):
        with pytest.raises(IndexError):
            x.sum(dim)


def test_softmax_of_large_numbers_and_of_minus_infinity():
    x = tensor([[1000.0, 1000.0], [float("-inf"), 0.0]])
    assert x.softmax(-1).tolist() == [[0.5, 0.5], [0, 1]] and x.softmax(0).tolist()[0] == [1, 1]
    assert np.allclose(x[0].log_softmax(0).numpy(), np.log(0.5))


def test_division_by_zero_is_no_warning(recwarn):
    assert (tensor([1.0, 0.0]) / 0).tolist()[0] == float("inf") and (tensor([1]) / 2).item() == 0.5
    assert tensor([-1000.0]).sigmoid().item() == 0 and (tensor([1e38]) * 1e38).item() == float("inf")
    assert not recwarn.list


def test_reshape_is_a_view_where_it_can_be_and_view_refuses_to_copy():
    x = from_numpy(ARRAY)
    assert x.reshape(-1).storage is x.storage and x.reshape((4, -1)).sizes == (4, 6) and x.reshape(2, -1, 2).dim() == 3
    assert x.transpose(0, 2).reshape(-1).tolist() == ARRAY.T.reshape(-1).tolist()
    assert tensor([]).reshape(3, 0).sizes == (3, 0) and tensor(1.0).reshape(1, 1).sizes == (1, 1)
    for sizes in ((5,), (-1, 5), (24, 2)):
        with pytest.raises(RuntimeError):
            x.reshape(*sizes)
    for refused in (lambda: x.t().view(24), lambda: tensor([]).reshape(0, -1)):
        with pytest.raises((RuntimeError, IndexError)):
            refused()
    assert x.permute(-1, 0, 1).sizes == (4, 2, 3) and x.transpose(-1, 0).sizes == (4, 3, 2)


def test_cat_and_powers():
    x, y = tensor([[1, 2]]), tensor([[3.5, 4.0]])
    assert ops.cat([x, y, x]).tolist() == [[1, 2], [3.5, 4], [1, 2]]
    assert ops.cat([x, y], -1).tolist() == [[1, 2, 3.5, 4]]
    assert (y**3).tolist() == [[42.875, 64]]
    for n in (0, -1, 1.5, True):
        with pytest.raises(NotImplementedError):
            y**n


def test_products():
    a, b = np.ones((5, 1, 2, 3), np.float32), np.ones((4, 3, 6), np.float32)
    assert (from_numpy(a) @ from_numpy(b)).sizes == (5, 4, 2, 6)
    for x, y in ((tensor([1.0]), tensor([1.0])), (tensor([[1.0]]), tensor([[1.0], [2.0]]))):
        with pytest.raises(RuntimeError, match="matmul"):
            x @ y


def test_layers_see_calls_from_the_top_down_and_the_stack_is_whole_after_an_error():
    seen, before = [], list(STACK)

    class Watch(Layer):
        def __init__(self, name, position=None):
            self.name, self.position = name, position

        def call(self, op, args):
            seen.append(self.name)
            return op(*args)

    with Watch("first"), Watch("second"), Watch("lowest", 0):
        full((2,), 1, np.float32)
        with pytest.raises(RuntimeError):
            tensor([1.0, 2.0]) + tensor([1.0, 2.0, 3.0])
        assert len(STACK) == len(before) + 3
    assert seen == ["second", "first", "lowest"] * 2 and STACK == before


@pytest.mark.parametrize("name", ops.OPS)
def test_a_fake_begets_what_the_op_would_compute(name):
    op, x = ops.OPS[name], from_numpy(ARRAY + 1)
    more = {"to": (np.int64,), "sum": ((1,), True), "amax": ((0, 2), False), "view": ((6, 4),), "permute": ((2, 0, 1),)}
    more |= {"expand": ((5, 2, 3, 4),), "slice": (2, 1, 4, 2), "slice_backward": (1, 7, 1, 2), "regroup": ((4, 6),)}
    more |= {"matmul": (from_numpy(ARRAY[0].T.copy()),)}
    args = {"full": ((2, 3), 1, np.int64), "iota": ((4,), 2, np.int64), "where": (x < 3, x, 0)}.get(name)
    if args is None:
        binary = name in ("add", "sub", "mul", "div", "maximum", "eq", "lt", "copy_")
        args = (x, *more.get(name, (from_numpy(ARRAY[0, :1]),) if binary else ()))
    fakes = [fake(arg.sizes, arg.dtype) if isinstance(arg, Tensor) else arg for arg in args]
    got, wanted = op(*fakes), op(*args)
    assert (got.sizes, got.dtype) == (wanted.sizes, wanted.dtype) and (got.is_fake or name in ("full", "iota"))
