"""NumPy's numbers and arrays in compiled code: known ones are computed, others break the graph."""

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import optimize, region_of
from minitorch_compile.dynamo.testing import eager
from tests.dynamo.compiled import assert_same, entry_count, matrix


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * np.float32(0.5) + np.pi,
        lambda x: x * int(np.prod(x.shape)) + float(np.sqrt(2)),
        lambda x: x[:, : np.cumsum([1, 1])[-1]],
        lambda x: x + torch.from_numpy(np.eye(2, 3).astype(np.float32)),
        lambda x: x + torch.tensor(np.linspace(0, 1, 3)),
        lambda x: x.new_tensor(np.arange(3)) + x,
        lambda x: torch.as_tensor(np.array([[1, 2, 3]])) * x,
        lambda x: [x * k for k in np.arange(3)[::-1]],
        lambda x: (x + 1, np.ones(2), np.arange(6).reshape(2, 3).T.tolist(), np.array([1, 2]) + 1 > 2),
        lambda x: x * np.maximum([1, 5], 3).sum(),
    ],
)
def test_what_is_computed_of_known_numbers_is_one_graph(function):
    assert_same(function)


def test_a_small_array_from_outside_is_guarded_by_its_numbers():
    offsets = np.array([1, 2, 3])
    compiled = optimize(lambda x: x.new_tensor(offsets) + x, eager)
    assert compiled(torch.zeros(3)).tolist() == [1, 2, 3]
    offsets[0] = 7
    assert compiled(torch.zeros(3)).tolist() == [7, 2, 3]
    assert entry_count(region_of(compiled)) == 2


def test_memory_shared_with_an_array_stays_shared():
    def f(x, array):
        made = np.zeros(2)
        return x + 1, torch.from_numpy(made), made, torch.from_numpy(array)

    array = np.ones(2)
    _, tensor, made, outside = optimize(f, eager)(matrix(), array)
    made[0], array[1] = 5, 6
    assert tensor.tolist() == [5, 0] and outside.tolist() == [1, 6]


def test_functions_that_tensors_lack_and_writes_to_arrays_break_the_graph():
    assert_same(lambda x: torch.from_numpy(np.sinc((x * 2).numpy())) + 1, graphs=2, breaks=1)
    assert_same(lambda x, a: (x + 1, np.add(a, 1, out=a)), lambda: (matrix(), np.ones(2)), graphs=None, breaks=1)


def test_tensors_of_tensors_are_copies():
    def f(x):
        y = torch.tensor(x)
        y.add_(1)
        return x * 1, y, torch.as_tensor(x) is x, x.new_tensor(x, dtype=torch.float64)

    assert_same(f, graphs=None)
