"""Lesson 01. A tensor is a storage, and a layout that says where in it each element lies.

>>> x = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
>>> x.layout.permute((1, 0))
Layout(sizes=(3, 2), strides=(1, 3), offset=0)
>>> Tensor(x.storage, x.layout.permute((1, 0))).tolist()
[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
"""

from dataclasses import dataclass

import numpy as np


def numel(sizes):
    """How many elements: the product of the sizes, 1 for none.

    >>> numel((2, 3)), numel(()), numel((4, 0))
    (6, 1, 0)
    """
    count = 1
    for size in sizes:
        count = count * size
    return count


def contiguous_strides(sizes):
    """The last dimension is dense, each one before it steps over all that follows.

    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    """
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step = step * size
    return tuple(reversed(strides))


def broadcast_sizes(*shapes):
    """Aligned at the right; sizes are equal or one of them is 1.

    >>> broadcast_sizes((3, 1), (4,), ())
    (3, 4)
    """
    result = [1] * max(len(sizes) for sizes in shapes)
    for sizes in shapes:
        for dim, size in enumerate(sizes, len(result) - len(sizes)):
            if result[dim] == 1:
                result[dim] = size
            elif size != 1 and size != result[dim]:
                raise RuntimeError(f"sizes {shapes} do not broadcast: {result[dim]} and {size}")
    return tuple(result)


def wrap(dim, dims):
    """Negative dimensions count from the end."""
    if not -max(dims, 1) <= dim < max(dims, 1):
        raise IndexError(f"dimension {dim} of {dims}")
    return dim % max(dims, 1)


@dataclass(frozen=True)
class Layout:
    """Element (i, j, ...) lies at offset + i*strides[0] + j*strides[1] + ..."""

    sizes: tuple
    strides: tuple
    offset: int = 0

    @staticmethod
    def dense(sizes):
        return Layout(tuple(sizes), contiguous_strides(sizes))

    def permute(self, dims):
        return Layout(tuple(self.sizes[d] for d in dims), tuple(self.strides[d] for d in dims), self.offset)

    def expand(self, sizes):
        """New and stretched dimensions have stride 0: all their elements are the same one."""
        if broadcast_sizes(self.sizes, sizes) != tuple(sizes):
            raise RuntimeError(f"{self.sizes} does not expand to {tuple(sizes)}")
        new = len(sizes) - len(self.sizes)
        pairs = zip(self.sizes, self.strides, sizes[new:], strict=True)
        kept = tuple(0 if mine == 1 and size != 1 else stride for mine, stride, size in pairs)
        return Layout(tuple(sizes), (0,) * new + kept, self.offset)

    def narrow(self, dim, start, stop, step=1):
        """x[start:stop:step] in one dimension: the offset moves, the stride grows."""
        sizes = self.sizes[:dim] + ((stop - start + step - 1) // step,) + self.sizes[dim + 1 :]
        strides = self.strides[:dim] + (self.strides[dim] * step,) + self.strides[dim + 1 :]
        return Layout(sizes, strides, self.offset + start * self.strides[dim])

    def view(self, sizes):
        """The same elements in the same order under other sizes, or None where strides can't say that.

        >>> Layout((2, 3, 4), (12, 4, 1)).view((6, 2, 2))
        Layout(sizes=(6, 2, 2), strides=(4, 2, 1), offset=0)
        >>> Layout((3, 2), (1, 3)).view((6,))          # a transpose in one line: a copy is needed
        """
        strides, left = [], [(n, s) for n, s in zip(self.sizes, self.strides, strict=True) if n != 1]
        for size in reversed(sizes):  # from the last: each new dimension eats from the innermost old one
            if size == 1 or 0 in self.sizes:
                strides.append(1)
                continue
            have, stride = left.pop() if left else (1, 1)
            while have % size and left and left[-1][1] == have * stride:  # merge with the one outside it
                have, stride = have * left.pop()[0], stride
            if have % size:
                return None
            strides.append(stride)
            if have != size:
                left.append((have // size, stride * size))
        return Layout(tuple(sizes), tuple(reversed(strides)), self.offset)


class Storage:
    """Flat memory that tensors share. A fake's has no data: shapes can be asked about, numbers can't."""

    def __init__(self, data, dtype):
        self.data, self.dtype, self.version = data, np.dtype(dtype), 0


class Tensor:
    def __init__(self, storage, layout):
        self.storage, self.layout = storage, layout
        self.requires_grad, self.grad, self.grad_fn = False, None, None

    sizes = shape = property(lambda self: self.layout.sizes)
    strides = property(lambda self: self.layout.strides)
    dtype = property(lambda self: self.storage.dtype)
    is_fake = property(lambda self: self.storage.data is None)

    def dim(self):
        return len(self.sizes)

    def numel(self):
        return numel(self.sizes)

    def is_contiguous(self):
        return self.layout.offset == 0 and self.strides == contiguous_strides(self.sizes)

    def numpy(self):
        """NumPy's view of the same memory."""
        if self.is_fake:
            raise TypeError("a fake has no data: what needs numbers can't be asked while tracing")
        data, item = self.storage.data[self.layout.offset :], self.dtype.itemsize
        return np.lib.stride_tricks.as_strided(data, self.sizes, [item * stride for stride in self.strides])

    def tolist(self):
        return self.numpy().tolist()

    def item(self):
        return self.numpy().item()

    def __len__(self):
        return self.sizes[0]

    def __repr__(self):
        return f"fake{self.sizes}" if self.is_fake else f"tensor({self.tolist()})"


def tensor(data, dtype=None, requires_grad=False):
    """Nested lists, numbers or an array, copied."""
    array = np.array(data, dtype)
    if array.dtype == np.float64 and dtype is None and not isinstance(data, np.ndarray):
        array = array.astype(np.float32)
    return from_numpy(array, requires_grad)


def from_numpy(array, requires_grad=False):
    """The array's own memory where it is dense, else a copy."""
    array = np.asarray(array)
    result = Tensor(Storage(array.reshape(-1), array.dtype), Layout.dense(array.shape))
    result.requires_grad = requires_grad
    return result


def fake(sizes, dtype=np.float32):
    """A tensor of shape and dtype only."""
    return Tensor(Storage(None, dtype), Layout.dense(sizes))
