"""NumPy's functions on arrays of the graph give what NumPy gives: the same kind of value, dtype, shape, numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.testing import CompileCounter
from minitorch_compile.tensor import Tensor, ones

Function = Callable[..., Any]

# Each is called with an array of shape [3, 4], in several dtypes.
PROGRAMS: list[Function] = [
    *[getattr(np, name) for name in "sin exp sqrt log1p abs negative square sign tanh arctan deg2rad positive".split()],
    *[getattr(np, name) for name in "isnan isfinite logical_not".split()],
    *[getattr(np, name) for name in "sum mean prod std var max min any all argmax argmin cumsum sort argsort".split()],
    *[getattr(np, name) for name in "ravel transpose copy asarray zeros_like ones_like tril triu squeeze".split()],
    lambda a: np.sum(a, axis=0),
    lambda a: np.mean(a, axis=(0, 1), keepdims=True),
    lambda a: np.std(a, axis=1, ddof=1),
    lambda a: a.sum(axis=-1, dtype=np.float64),
    lambda a: a.max(axis=0) - a.min(axis=0),
    lambda a: np.cumprod(a, axis=1),
    lambda a: a + 1,
    lambda a: 2 * a - a,
    lambda a: a / 2,
    lambda a: 1.5 + a,
    lambda a: a * np.float64(2),
    lambda a: np.float32(2) * a,
    lambda a: a**2,
    lambda a: -a,
    lambda a: +a,
    lambda a: a > 1,
    lambda a: (a == a.T.reshape(3, 4)) | (a < 2),
    lambda a: ~(a > 1),
    lambda a: np.maximum(a, 2),
    lambda a: np.minimum(a, a[::2][0]),
    lambda a: np.arctan2(a, 2),
    lambda a: np.hypot(a, 1.5),
    lambda a: np.logical_and(a, True),
    lambda a: np.where(a > 2, a, 0),
    lambda a: np.where(a > 2, a, 0.5),
    lambda a: np.clip(a, 1, 3),
    lambda a: a.clip(1, None),
    lambda a: a @ a.T,
    lambda a: np.dot(a, a[0]),
    lambda a: np.matmul(a.T, a),
    lambda a: np.outer(a[0], a[1]),
    lambda a: np.einsum("ij,ij->i", a, a),
    lambda a: np.linalg.norm(a),
    lambda a: np.linalg.norm(a, axis=1),
    lambda a: np.concatenate([a, a], axis=1),
    lambda a: np.concatenate([a, np.ones((1, 4))]),
    lambda a: np.stack([a, a]),
    lambda a: np.vstack([a, a]),
    lambda a: np.hstack([a, a]),
    lambda a: a.reshape(4, 3),
    lambda a: a.reshape((2, -1)),
    lambda a: a.transpose(1, 0),
    lambda a: a.T,
    lambda a: a.flatten(),
    lambda a: np.expand_dims(a, 1),
    lambda a: np.swapaxes(a, 0, 1),
    lambda a: np.broadcast_to(a, (2, 3, 4)),
    lambda a: np.roll(a, 1, axis=0),
    lambda a: np.tile(a, (2, 1)),
    lambda a: a[1],
    lambda a: a[1, 2],
    lambda a: a[1:, ::2],
    lambda a: a[..., None],
    lambda a: a[[0, 2]],
    lambda a: a[np.array([0, 2]), 1],
    lambda a: a[np.argsort(a[:, 0])],
    lambda a: a.astype(np.float64),
    lambda a: a.astype("float32"),
    lambda a: a.round(),
    lambda a: np.round(a / 3, 2),
    lambda a: a.sum() * a.mean(),
    lambda a: [row.sum() for row in a],
    lambda a: a * len(a) + a.shape[1] + a.ndim + a.size,
    lambda a: (a + 1, isinstance(a.sum(), np.generic), isinstance(a, np.ndarray)),
]


def written(a: np.ndarray) -> Any:
    b = a.copy()
    b[0] = 7
    b[1, 1:3] = b[2, :2]
    b[b > 6] = 0
    c = b
    c += 1
    c *= 2
    return b, c, b is c, a


def written_through_a_view(a: np.ndarray) -> Any:
    b = a + 1
    b.T[0] = 5
    b.reshape(-1)[1] = 6
    return b


PROGRAMS += [written, written_through_a_view]
DTYPES = ["float32", "float64", "int64", "int32", "bool", "uint8"]


def outcome(function: Function, tensor: Tensor) -> Any:
    try:
        with np.errstate(all="ignore"):
            return function(tensor)
    except (TypeError, ValueError, IndexError, np.exceptions.AxisError) as error:
        return type(error)


def same(found: Any, expected: Any) -> bool:
    if type(found) is not type(expected):
        return False
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, (np.ndarray, np.generic)):
        rough = 1e-3 if expected.dtype == np.float16 else 1e-5
        close = np.allclose(found, expected, rtol=rough, atol=rough, equal_nan=True)
        return found.dtype == expected.dtype and found.shape == expected.shape and close
    return bool(found == expected)


# What has no tensor operation in this dtype: NumPy does it, between two graphs.
BROKEN = {"uint8": 1, "bool": 3}  # products are of uint64; abs, argmax and argmin of truth values


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.heavy
def test_the_same_as_numpy_in_one_graph(dtype: str) -> None:
    array = (np.arange(12).reshape(3, 4) % 5).astype(dtype)
    broken, wrong = [], []
    for number, function in enumerate(PROGRAMS):

        def program(x: Tensor, function: Function = function) -> Any:
            return function(x.numpy())

        name = f"{number} {getattr(function, '__name__', '')}"
        expected = outcome(program, torch.from_numpy(array.copy()))
        given = torch.from_numpy(array.copy())
        found = outcome(torch.compile(program, backend="eager"), given)
        if not same(found, expected) or given.tolist() != array.tolist():
            wrong.append((name, found, expected))
        torch.compiler.reset()
        try:
            outcome(torch.compile(program, backend="eager", fullgraph=True), given)
        except Unsupported as error:
            broken.append((name, str(error).splitlines()[-2]))
    assert not wrong
    assert len(broken) == BROKEN.get(dtype, 0), broken


def counted(function: Function) -> tuple[Function, CompileCounter]:
    counter = CompileCounter()
    return torch.compile(function, backend=counter, fullgraph=True), counter


def test_other_shapes_dtypes_and_layouts_are_other_graphs() -> None:
    compiled, counter = counted(lambda a: a * 2 + a.shape[0])
    a = np.arange(6.0).reshape(2, 3)
    for array in (a, a.astype(np.float32), a.T, a[:, :2], a + 1):
        found, expected = compiled(array), array * 2 + array.shape[0]
        assert found.dtype == expected.dtype and found.tolist() == expected.tolist()
    assert counter.frame_count == 4


def test_a_function_of_numpy_that_is_replaced_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, _ = counted(lambda x: np.sin(x.numpy()))
    assert compiled(ones(1)).item() == np.sin(np.float32(1))
    monkeypatch.setattr(np, "sin", np.cos)
    assert compiled(ones(1)).item() == np.cos(np.float32(1))


def test_an_array_shares_the_memory_of_its_tensor() -> None:
    compiled, _ = counted(lambda x: (x.numpy(), torch.from_numpy(x.numpy()), x + 1))
    x = ones(2)
    array, again, _ = compiled(x)
    array[0] = 5
    assert x.tolist() == [5, 1] and again.tolist() == [5, 1]


def test_a_write_through_an_array_is_a_write_to_the_tensor() -> None:
    def f(x: Tensor) -> Tensor:
        x.numpy()[0] = 9.0
        return x + 1

    x = ones(2)
    assert counted(f)[0](x).tolist() == [10, 2] and x.tolist() == [9, 1]


def test_writes_to_arrays_from_outside_are_left_to_numpy() -> None:
    def f(a: np.ndarray, x: Tensor) -> Any:
        a[0] = 9.0
        return x + 1

    def add(a: np.ndarray, x: Tensor) -> Any:
        x.add_(1)
        return a + 1

    memory = ones(2)
    for function in (f, add):
        with pytest.raises(Unsupported):
            counted(function)[0](memory.numpy(), memory)
        plain, compiled = ones(2), ones(2)
        expected = function(plain.numpy(), plain).tolist()
        assert torch.compile(function, backend="eager")(compiled.numpy(), compiled).tolist() == expected
        assert plain.tolist() == compiled.tolist()


def test_a_tensor_with_gradients_gives_no_array() -> None:
    x = ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.compile(lambda x: x.numpy() + 1, backend="eager")(x)
    assert counted(lambda x: x.detach().numpy() + 1)[0](x).tolist() == [2, 2]
    assert counted(lambda x: x.numpy(force=True) + 1)[0](x).tolist() == [2, 2]


def test_arrays_live_on_across_a_break() -> None:
    def f(x: Tensor) -> Any:
        array = x.numpy() * 2
        torch.compiler.graph_break() if hasattr(torch.compiler, "graph_break") else torch._dynamo.graph_break()
        return np.sin(array).sum(), array

    found, array = torch.compile(f, backend="eager")(ones(2))
    assert type(found) is np.float32 and array.tolist() == [2, 2]
    assert found == pytest.approx(np.sin([2.0, 2.0]).sum())


def test_a_mask_chooses_with_a_break() -> None:
    compiled = torch.compile(lambda a: a[a > 1] * 2, backend="eager")
    assert compiled(np.arange(4.0)).tolist() == [4, 6]


def test_tensors_of_arrays() -> None:
    def f(a: np.ndarray) -> Any:
        b = a * 2
        return torch.from_numpy(b) + 1, torch.as_tensor(b, dtype=torch.float32), torch.tensor(b).sum()

    compiled, _ = counted(f)
    for found, expected in zip(compiled(np.arange(3.0)), f(np.arange(3.0))):
        assert found.dtype is expected.dtype and found.tolist() == expected.tolist()


def test_in_the_default_backend() -> None:
    def f(x: Tensor, a: np.ndarray) -> Any:
        scaled = (x.numpy() - a.mean(axis=0)) / (a.std(axis=0) + 1e-6)
        return scaled.astype(np.float32), scaled.argmax()

    x, a = torch.arange(12.0).reshape(3, 4), np.arange(20.0).reshape(5, 4)
    found, expected = torch.compile(f, fullgraph=True)(x, a), f(x, a)
    assert np.allclose(found[0], expected[0]) and found[0].dtype == expected[0].dtype
    assert found[1] == expected[1] and type(found[1]) is type(expected[1])
