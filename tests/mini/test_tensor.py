"""Layouts against NumPy, over sizes of 0 and 1, no dimensions, and strides that overlap or leave gaps."""

import itertools

import numpy as np
import pytest
from mini.tensor import Layout, Storage, Tensor, broadcast_sizes, contiguous_strides, fake, from_numpy, tensor

SIZES = [(), (1,), (3,), (0,), (2, 3), (3, 1), (1, 3), (2, 0), (2, 3, 4), (2, 1, 4), (3, 2, 2, 2)]


def layouts(sizes):
    """A dense one, its transposes, one with gaps, one that repeats."""
    dense = Layout(sizes, contiguous_strides(sizes), 1)
    yield dense
    for dims in itertools.permutations(range(len(sizes))):
        yield dense.permute(dims)
    yield Layout(sizes, tuple(2 * n for n in dense.strides), 3)
    yield Layout(sizes, (0,) * len(sizes[:1]) + dense.strides[1:])


LAYOUTS = [layout for sizes in SIZES for layout in layouts(sizes)]


def cells(layout):
    """The position of each element in the storage, as an array of the layout's sizes."""
    return Tensor(Storage(np.arange(200), np.int64), layout).numpy()


def strides_exist(cells):
    """Brute force: whether steps of one length in each dimension visit these cells."""
    if cells.size == 0:
        return True
    first = cells[(0,) * cells.ndim]
    steps = [np.take(cells, 1, d)[(0,) * (cells.ndim - 1)] - first if n > 1 else 0 for d, n in enumerate(cells.shape)]
    return all(cells[at] == first + sum(i * s for i, s in zip(at, steps)) for at in np.ndindex(*cells.shape))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_a_view_reads_the_same_cells_or_no_strides_can(layout):
    count = cells(layout).size
    targets = [
        t for n in range(4) for t in itertools.product((0, 1, 2, 3, 4, 6, 8, 12), repeat=n) if np.prod(t) == count
    ]
    for target in targets:
        view, wanted = layout.view(target), cells(layout).reshape(target)
        assert (view is not None) == strides_exist(wanted), target
        assert view is None or (cells(view) == wanted).all(), target
    with pytest.raises(RuntimeError, match="equally many"):
        layout.view((count + 1,))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_permute_narrow_and_expand_are_numpys(layout):
    here = cells(layout)
    for dims in itertools.permutations(range(here.ndim)):
        assert (cells(layout.permute(dims)) == here.transpose(dims)).all()
    for dim, size in enumerate(here.shape):
        for start, stop, step in itertools.product(range(size + 1), range(size + 1), (1, 2, 5)):
            part = (slice(None),) * dim + (slice(start, stop, step),)
            assert np.array_equal(cells(layout.narrow(dim, start, stop, step)), here[part])
    wider = tuple(4 if n == 1 else n for n in here.shape)
    for sizes in (here.shape, wider, (2, *wider), (0, *here.shape)):
        assert np.array_equal(cells(layout.expand(sizes)), np.broadcast_to(here, sizes))


def test_what_layouts_can_not_do_is_refused():
    for dims in ((0,), (0, 0), (0, 2)):
        with pytest.raises(RuntimeError, match="once"):
            Layout.dense((2, 3)).permute(dims)
    for sizes in ((3,), (2, 4), (3, 3)):
        with pytest.raises(RuntimeError):
            Layout.dense((2, 3)).expand(sizes)


@pytest.mark.parametrize("a", [(), (1,), (3,), (0,), (2, 3), (2, 1), (1, 3), (4, 1, 1)])
@pytest.mark.parametrize("b", [(), (1,), (4,), (0,), (2, 3), (2, 1), (1, 3), (4, 1, 1)])
def test_sizes_broadcast_as_numpys(a, b):
    try:
        wanted = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(RuntimeError, match="do not broadcast"):
            broadcast_sizes(a, b)
    else:
        assert broadcast_sizes(a, b) == wanted


def test_an_array_with_gaps_is_copied_and_a_dense_one_is_shared():
    array = np.arange(12)
    for part in (array[::2], array[::-1], array.reshape(3, 4).T, array.reshape(3, 4)[:, 1:], array[3:3]):
        assert from_numpy(part).tolist() == part.tolist()
    x = from_numpy(array.reshape(3, 4))
    array[5] = 100
    assert x.tolist()[1][1] == 100 and x.storage.data.base is array


def test_a_fake_has_sizes_and_no_numbers():
    assert fake((2, 3)).sizes == (2, 3) and repr(fake((2, 3))) == "fake(2, 3)"
    for ask in (Tensor.item, Tensor.tolist, Tensor.numpy):
        with pytest.raises(TypeError, match="no data"):
            ask(fake(()))


def test_a_tensor_of_no_dimensions_and_one_of_no_elements():
    assert tensor(3).tolist() == 3 and tensor(3).sizes == () and tensor(2.5).item() == 2.5
    assert tensor([]).sizes == (0,) and tensor([[], []]).tolist() == [[], []]
