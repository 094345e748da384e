"""A tensor is a way to look at a storage: an offset, sizes and strides. This file is that and nothing more.

The operations come later (`tensor_class.py`), made from the op table; ops themselves need only what is here.

>>> import numpy as np
>>> x = wrap(np.arange(6.0).reshape(2, 3))
>>> x.sizes, x.strides, x.offset, x.dtype
(torch.Size([2, 3]), (3, 1), 0, torch.float64)
>>> column = x.as_view((2,), (3,), 1)      # the middle column: same storage, another way to look
>>> column.array, column.storage is x.storage
(array([1., 4.]), True)

A *fake* tensor has all of this but no data. Running an op on fakes works out what the result would look like, which is
how graphs are traced without computing (PyTorch's FakeTensor).

>>> empty_fake((10**6, 10**6)).sizes
torch.Size([1000000, 1000000])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.memory.device import CPU, META, device
from minitorch_compile.tensor.memory.device_storage import read_window, write_window
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.memory.strides import contiguous_strides, numel
from minitorch_compile.tensor.numerics.dtype import FLOATING, FROM_NUMPY, dtype, float32


class FakeDataError(RuntimeError):
    """Something asked a fake tensor for its data."""


class StorageOnFirstUse:
    """The `storage` of a fresh result: most results are read once and dropped, so it is made when somebody asks."""

    def __get__(self, tensor: TensorBase | None, owner: type) -> Any:
        if tensor is None:
            return self
        if tensor._array is None:
            raise AttributeError("storage: this tensor was never given one")
        # setdefault: two threads that ask at once get the same one.
        storage = kept_by(tensor).setdefault("storage", Storage(tensor._array.reshape(-1)))
        if tensor.made_in:
            storage.made_in = tensor.made_in
        return storage


class KeptByEach:
    """What each tensor keeps, where it is found first: for `super()` in a subclass's property."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, tensor: TensorBase | None, owner: type) -> Any:
        if tensor is None:
            return self
        if self.name not in kept_by(tensor):
            raise AttributeError(f"{self.name}: this tensor was never given one")
        return kept_by(tensor)[self.name]


class TensorBase:
    """Storage + offset + sizes + strides + dtype + device, and what autograd hangs on it.

    `strides` and `offset` count elements. `base` is the tensor that this one is a view of, or None.
    """

    concrete: Any  # the class that ops return: tensor_class.py sets it to Tensor
    requires_grad: bool  # gradient.py checks what is assigned; it is kept in the attribute below
    _requires_grad: bool = False
    grad: Any
    grad_fn: Any = None
    output_index: int = 0  # which output of grad_fn this tensor is
    accumulator: Any = None  # of a leaf: the end of the edges that lead to it
    retains_grad: bool = False  # whether the gradient is kept in `.grad` although this is no leaf
    base: TensorBase | None = None
    rewritten: int = 0  # how often in-place operations gave this tensor a new history
    base_rewritten: int = 0  # of a view: the same of its base, when the view was last in step with it
    fake_mode: Any = None  # of a fake tensor: the FakeTensorMode that it was made in
    untracked: bool = False  # a view that was made under no_grad: it can't be brought in step with its base
    version_made: int = 0  # of such a view that requires grad: the version of the storage at that time
    made_in: int = 0  # the number of the recording that it was made in, see captured_memory.py; its storage has it too
    is_confined: bool = False  # whether it means nothing outside of the function transform that made it
    is_sparse_layout: bool = False  # whether only some elements are kept, see sparse/
    is_example: bool = False  # whether it stands for each example of a batch, as vmap shows them
    _array: np.ndarray | None = None

    storage: Any = StorageOnFirstUse()
    offset: int = 0
    sizes: Size
    strides: tuple[int, ...]
    dtype: dtype = KeptByEach()  # type: ignore[assignment]
    device: device = CPU

    @property
    def is_fake(self) -> bool:
        """Whether there is no data behind this tensor."""
        memory = self.storage.memory
        return memory.buffer is None and memory.block is None

    @property
    def array(self) -> np.ndarray:
        """A NumPy window on the data: shares the memory, has the same sizes and strides.

        A copy if signs are flipped, or the memory is a device's, made anew each time: the memory may have changed.
        """
        if self._array is None:
            storage = self.storage
            if storage.flips:
                return storage.flipped(self.window)
            if storage.block is not None:
                return self.window
            self._array = self._make_array(storage.buffer)
        return self._array

    @property
    def window(self) -> np.ndarray:
        """A NumPy window on the memory, with the signs that are there; of a device's memory a copy."""
        storage = self.storage
        if storage.block is not None:
            return read_window(storage, self.sizes, self.strides, self.offset, self.dtype.numpy)
        return self._make_array(storage.of.buffer) if storage.flips else self.array

    def store(self, values: np.ndarray) -> None:
        """Writes into the memory, so that these are the elements."""
        storage = self.storage
        values = storage.flipped(values) if storage.flips else values
        if storage.block is not None:
            values = values.astype(self.dtype.numpy, copy=False)
            write_window(storage, self.sizes, self.strides, self.offset, values)
        else:
            np.copyto(self.window, values, casting="unsafe")

    def store_result(self, result: TensorBase) -> None:
        """Writes the elements of a tensor of these sizes into the memory. They stay on a device if both are there and
        of one dtype: as bytes if they are dense, else by a kernel."""
        mine, other = self.storage, result.storage
        on_one_device = mine.block is not None and other.block is not None and self.device == result.device
        if on_one_device and self.dtype is result.dtype and not (mine.flips or other.flips):
            dense = contiguous_strides(tuple(self.sizes))
            if tuple(self.strides) == dense == tuple(result.strides):
                size = self.dtype.itemsize
                mine.block.take(self.offset * size, other.block, result.offset * size, numel(self.sizes) * size)
                return
            if mine.block.take_elements(self, result):
                return
        self.store(result.array)

    def _make_array(self, buffer: np.ndarray | None) -> np.ndarray:
        if buffer is None:
            raise FakeDataError(
                f"a fake tensor has no data (sizes {list(self.sizes)}, {self.dtype}): it stands for a value that a"
                " traced program will have when it runs"
            )
        if 0 in self.sizes:  # nothing to look at, and NumPy insists that strides stay inside the buffer
            return np.empty(self.sizes, buffer.dtype)
        itemsize = buffer.itemsize
        return np.ndarray(
            self.sizes, buffer.dtype, buffer, self.offset * itemsize, [s * itemsize for s in self.strides]
        )

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor: gradients of leaves accumulate in `.grad`."""
        return self.grad_fn is None and not self.is_outdated

    @property
    def is_outdated(self) -> bool:
        """Whether this is a view whose base got a new history from an in-place operation since autograd last looked."""
        base = self.base
        return base is not None and base.rewritten != self.base_rewritten

    def in_each_example(self, made: Any) -> Any:
        """A tensor that was made to be like this one. Under vmap there is one for each example, see func/."""
        return made

    def as_view(self, sizes: Sequence[int], strides: Sequence[int], offset: int) -> Any:
        """Another tensor over the same storage."""
        size = sizes if type(sizes) is Size else Size(sizes)
        return self.followed_by(from_parts(self.storage, offset, size, tuple(strides), self.dtype, self.device))

    def followed_by(self, view: Any) -> Any:
        """A tensor over the same memory, as a view of this one."""
        base = self.base
        view.base = base = self if base is None else base
        if base.rewritten:
            view.base_rewritten = base.rewritten
        if not (grad_state.enabled or grad_state.recording):
            view.untracked = True
            if base._requires_grad and view.dtype.category >= FLOATING:  # a leaf of its own, as in PyTorch
                view._requires_grad, view.version_made = True, view.storage.version
        elif self.untracked:
            view.untracked = True
        return view


# All that an instance keeps, what it is and what programs hung on it: `Tensor.__dict__` shows only the latter.
kept_by: Callable[[TensorBase], dict[str, Any]] = TensorBase.__dict__["__dict__"].__get__


def from_parts(
    storage: Storage, offset: int, sizes: Size, strides: tuple[int, ...], element: dtype, where: device
) -> Any:
    """A tensor made of what it consists of; nothing is checked."""
    result = object.__new__(TensorBase.concrete)
    result.storage = storage
    result.offset = offset
    result.sizes = sizes
    result.strides = strides
    result.dtype = element
    result.device = where
    return result


@lru_cache(maxsize=4096)
def _row_major(shape: tuple[int, ...]) -> tuple[Size, tuple[int, ...]]:
    return Size(shape), contiguous_strides(shape)


def wrap(array: np.ndarray) -> Any:
    """A tensor over a NumPy array, without a copy. The array's dtype must be one of ours, its strides not negative."""
    if array.flags.c_contiguous:
        return wrap_row_major(array, *_row_major(array.shape), FROM_NUMPY[array.dtype])
    result = from_parts(*_flat_window(array), FROM_NUMPY[array.dtype], CPU)
    result._array = array
    return result


def wrap_row_major(array: np.ndarray, sizes: Size, strides: tuple[int, ...], element: dtype) -> Any:
    """`wrap` for an array in row-major order whose description is at hand; nothing is checked."""
    result = object.__new__(TensorBase.concrete)
    result._array = array
    result.sizes = sizes
    result.strides = strides
    result.dtype = element
    return result


def _flat_window(array: np.ndarray) -> tuple[Storage, int, Size, tuple[int, ...]]:
    """The stretch of memory that a strided array lies in, as a one-dimensional buffer."""
    strides = tuple(s // array.itemsize for s in array.strides)
    span = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True)) if array.size else 0
    buffer = np.lib.stride_tricks.as_strided(array, (span,), (array.itemsize,))
    return Storage(buffer), 0, Size(array.shape), strides


def empty_fake(
    sizes: Sequence[int], strides: Sequence[int] | None = None, dtype: dtype = float32, device: device = CPU
) -> Any:
    """A tensor without data; contiguous unless `strides` are given."""
    sizes = Size(sizes)
    return from_parts(
        Storage(None), 0, sizes, contiguous_strides(sizes) if strides is None else tuple(strides), dtype, device
    )


def fake_like(x: TensorBase) -> Any:
    """A fake tensor that looks like `x`: its sizes, strides, dtype, device and requires_grad."""
    result = empty_fake(x.sizes, x.strides, x.dtype, x.device)
    result.offset = x.offset
    result.requires_grad = x.requires_grad
    return result


def from_numpy(array: np.ndarray) -> Any:
    """A tensor that shares the memory of a NumPy array.

    TypeError for something else or an unsupported dtype, ValueError for negative strides, as in PyTorch.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"from_numpy: expected np.ndarray (got {type(array).__name__})")
    if array.dtype not in FROM_NUMPY:
        raise TypeError(
            f"from_numpy: can't convert np.ndarray of type {array.dtype}; supported are"
            f" {', '.join(str(d) for d in FROM_NUMPY)}"
        )
    if any(s < 0 for s in array.strides):
        raise ValueError(
            "from_numpy: at least one stride of the array is negative, which tensors don't support; pass array.copy()"
        )
    if any(s % array.itemsize for s in array.strides):
        raise ValueError("from_numpy: a stride of the array is no multiple of its element size; pass array.copy()")
    result = wrap(array)
    result.strides = tuple(s // array.itemsize for s in array.strides)  # also those that make no difference
    return result


def nbytes(x: TensorBase) -> int:
    """How many bytes the elements of `x` take, not counting sharing."""
    return numel(x.sizes) * x.dtype.itemsize


__all__ = ["META", "FakeDataError", "TensorBase", "empty_fake", "fake_like", "from_numpy", "nbytes", "wrap"]
