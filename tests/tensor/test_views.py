"""Views: they share storage, and fail exactly where strides can't describe them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitorch_compile as torch
from minitorch_compile.tensor import Tensor, fake_like, from_numpy
from minitorch_compile.tensor.memory.viewing import view_strides


def numbers(*sizes: int) -> Tensor:
    return torch.arange(int(np.prod(sizes))).view(*sizes)


VIEWS = {
    "transpose": (lambda x: x.transpose(0, 2), lambda a: a.swapaxes(0, 2)),
    "permute": (lambda x: x.permute(2, 0, 1), lambda a: a.transpose(2, 0, 1)),
    "select": (lambda x: x.select(1, -1), lambda a: a[:, -1]),
    "slice with a step": (lambda x: x[:, 1:, ::2], lambda a: a[:, 1:, ::2]),
    "unsqueeze": (lambda x: x.unsqueeze(-1), lambda a: a[..., None]),
    "expand": (lambda x: x[:, :1].expand(2, 5, 4), lambda a: np.broadcast_to(a[:, :1], (2, 5, 4))),
    "view": (lambda x: x.view(6, -1), lambda a: a.reshape(6, 4)),
    "squeeze": (lambda x: x[:, :1].squeeze(), lambda a: a[:, 0]),
    "flatten": (lambda x: x.flatten(1), lambda a: a.reshape(2, 12)),
    "as_strided": (lambda x: x.as_strided((2, 2), (4, 1), 1), lambda a: a.reshape(-1)[[1, 2, 5, 6]].reshape(2, 2)),
    "mT": (lambda x: x.mT, lambda a: a.swapaxes(1, 2)),
    "narrow": (lambda x: torch.narrow(x, 2, 1, 2), lambda a: a[:, :, 1:3]),
    "ellipsis and None": (lambda x: x[..., None, 2], lambda a: a[..., None, 2]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_view_shows_what_numpy_shows_and_shares_storage(name: str) -> None:
    ours, theirs = VIEWS[name]
    x = numbers(2, 3, 4)
    y = ours(x)
    np.testing.assert_array_equal(y.numpy(), theirs(x.numpy()))
    assert y.storage is x.storage
    fake = ours(fake_like(x))
    assert (fake.sizes, fake.strides, fake.offset) == (y.sizes, y.strides, y.offset)


def test_writing_through_a_view_changes_the_base() -> None:
    x = torch.zeros(2, 3)
    x.t()[1].add_(5)
    assert x.tolist() == [[0, 5, 0], [0, 5, 0]]
    assert x._version == 1


def test_view_of_a_transpose_needs_a_copy() -> None:
    x = numbers(3, 4).t()
    with pytest.raises(RuntimeError, match=r"view size \[12\] is not compatible .* Use .reshape"):
        x.view(12)
    y = x.reshape(12)
    assert y.storage is not x.storage
    np.testing.assert_array_equal(y.numpy(), x.numpy().reshape(12))


sizes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@settings(max_examples=300)
@given(st.data())
def test_view_strides_exist_exactly_when_numpy_can_reshape_without_copying(data: st.DataObject) -> None:
    base = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    order = data.draw(st.permutations(range(len(base))))
    array = np.arange(np.prod(base)).reshape(base).transpose(order)
    target = data.draw(st.permutations(_factors(array.size)))
    strides = tuple(s // array.itemsize for s in array.strides)
    found = view_strides(array.shape, strides, tuple(target))
    probe = array.view()
    try:
        probe.shape = tuple(target)  # NumPy refuses this assignment when a copy would be needed
    except AttributeError:
        assert found is None
        return
    assert found is not None
    seen = np.lib.stride_tricks.as_strided(array, target, [s * array.itemsize for s in found])
    np.testing.assert_array_equal(seen, probe)


def _factors(n: int) -> list[int]:
    result, divisor = [1], 2
    while n > 1:
        while n % divisor == 0:
            result.append(divisor)
            n //= divisor
        divisor += 1
    return result


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.view(5), RuntimeError, r"shape '\[5\]' is invalid for input of size 6"),
        (lambda x: x.view(-1, -1), RuntimeError, "only one dimension can be inferred"),
        (lambda x: x.transpose(0, 2), IndexError, "Dimension out of range"),
        (lambda x: x.permute(0, 0), RuntimeError, "each of the 2 dimensions once"),
        (lambda x: x.expand(2, 4), RuntimeError, "non-singleton dimension 1"),
        (lambda x: x[2], IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        (lambda x: x[0, 3], IndexError, "index 3 is out of bounds for dimension 1 with size 3"),
        (lambda x: x[0, 1:, None, -4], IndexError, "too many indices"),
        (lambda x: x[None, 0, -4], IndexError, "index -4 is out of bounds for dimension 2 with size 3"),
        (lambda x: x[0, 0, 0], IndexError, "too many indices for tensor of dimension 2"),
        (lambda x: x[::-1], ValueError, "step must be greater than zero"),
        (lambda x: x.as_strided((9,), (1,)), RuntimeError, "reach element 8 of a storage of 6"),
        (lambda x: x.flatten(1, 0), RuntimeError, "cannot come after"),
        (lambda x: x.split(0), RuntimeError, "split_size"),
        (lambda x: x.split([1, 2]), RuntimeError, "sum exactly to 2"),
    ],
)
def test_bad_views_name_what_is_wrong(call: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(numbers(2, 3))  # type: ignore[operator]


def test_empty_and_0d_views() -> None:
    assert torch.zeros(0, 3).view(3, 0).shape == (3, 0)
    assert torch.tensor(3).view(1, 1).shape == (1, 1)
    assert torch.tensor(3).reshape(-1).tolist() == [3]
    assert torch.zeros(0, 3).flatten().shape == (0,)
    with pytest.raises(RuntimeError, match="ambiguous"):
        torch.zeros(0, 3).view(-1, 0)


def test_split_chunk_and_unbind() -> None:
    x = numbers(5, 2)
    assert [p.shape[0] for p in x.split(2)] == [2, 2, 1]
    assert [p.shape[0] for p in x.chunk(2)] == [3, 2]
    assert [p.tolist() for p in x[:2].unbind(1)] == [[0, 2], [1, 3]]
    assert [p.shape for p in x.split([1, 4])] == [(1, 2), (4, 2)]


def test_from_numpy_shares_memory_and_refuses_what_it_cannot() -> None:
    array = np.zeros((2, 3), np.float32)
    x = from_numpy(array.T)
    x.fill_(7)
    assert (array == 7).all()
    with pytest.raises(ValueError, match="negative"):
        from_numpy(array[::-1])
    with pytest.raises(TypeError, match="expected np.ndarray"):
        from_numpy([1, 2])
    with pytest.raises(TypeError, match="can't convert np.ndarray of type"):
        from_numpy(np.array(["a"]))


VIEWS_TO_COPY = {
    "row": lambda: torch.arange(6.0).view(2, 3)[1],
    "detached": lambda: torch.arange(3.0).detach(),
    "data": lambda: torch.arange(3.0).data,
    "real part": lambda: torch.tensor([1 + 2j, 3 + 4j]).real,
    "seen as an array": lambda: torch.arange(6.0).view(2, 3).t() + 0,
}


@pytest.mark.parametrize("name", VIEWS_TO_COPY)
def test_copies_of_views(name: str) -> None:
    x = VIEWS_TO_COPY[name]()
    shallow = copy.copy(x)
    for other in (shallow, copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other.tolist() == x.tolist()
    x.zero_()
    assert shallow.tolist() == x.tolist() and shallow.stride() == x.stride()


@pytest.mark.parametrize("name", ["int16", "float16", "uint8", "float32"])
def test_the_bytes_of_bfloat16_are_looked_at_as_they_lie(name: str) -> None:
    """Recorded from torch 2.13."""
    recorded = {
        "int16": [16256, 16384],
        "float16": [1.875, 2.0],
        "uint8": [128, 63, 0, 64],
        "float32": [2.003875732421875],
    }
    x = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    other = x.view(getattr(torch, name))
    assert other.tolist() == pytest.approx(recorded[name])
    assert other.storage() == x.storage()
    other.zero_()
    assert (x.tolist(), x._version) == ([0, 0], 1)


def test_an_offset_between_elements_of_the_other_dtype_is_refused() -> None:
    with pytest.raises(RuntimeError, match="storage_offset"):
        torch.arange(4.0)[1:3].view(torch.int64)
