"""Lesson 01. A tensor is a storage, and a layout that says where in it each element lies.

>>> x = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
>>> x.layout.permute((1, 0))
Layout(sizes=(3, 2), strides=(1, 3), offset=0)
>>> Tensor(x.storage, x.layout.permute((1, 0))).tolist()       # the same six numbers in memory
[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
"""

from dataclasses import dataclass
from math import prod as numel  # how many elements some sizes have; 1 for none

import numpy as np


def ensure(condition, message, error=RuntimeError):
    """Raise the error, with this message, unless the condition holds."""
    if not condition:
        raise error(message)


def wrap(index, count):
    """A negative index counts from the end.

    >>> wrap(-1, 3), wrap(2, 3)
    (2, 2)
    """
    ensure(-count <= index < count, f"{index} is out of range: there are {count}", IndexError)
    return index % count


# %% 01.5 strides, and sizes that broadcast
def contiguous_strides(sizes):
    """The last dimension is dense, each one before it steps over all that follows; a size of 0 counts as 1.

    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    """
    return tuple([numel([max(size, 1) for size in sizes[dim + 1 :]]) for dim in range(len(sizes))])


def broadcast_sizes(*shapes):
    """Aligned at the right; sizes are equal or one of them is 1.

    >>> broadcast_sizes((3, 1), (4,), ())
    (3, 4)
    """
    result = [1] * max((len(sizes) for sizes in shapes), default=0)
    for sizes in shapes:
        for dim, size in enumerate(sizes, len(result) - len(sizes)):
            if result[dim] == 1:
                result[dim] = size
            elif size != 1 and size != result[dim]:
                raise RuntimeError(f"sizes {shapes} do not broadcast: {result[dim]} and {size}")
    return tuple(result)


# %% 01.6 layouts
@dataclass(frozen=True)
class Layout:
    """Element (i, j, ...) lies at offset + i*strides[0] + j*strides[1] + ..."""

    sizes: tuple
    strides: tuple
    offset: int = 0

    @staticmethod
    def dense(sizes):
        """That of a new tensor."""
        return Layout(tuple(sizes), contiguous_strides(sizes))

    def permute(self, dims):
        """Dimension d of the result is dimension dims[d] of this one."""
        ensure(sorted(dims) == [*range(len(self.sizes))], f"permute: {dims}: each dimension of {self.sizes} once")
        return Layout(tuple(self.sizes[d] for d in dims), tuple(self.strides[d] for d in dims), self.offset)

    def narrow(self, dim, start, stop, step=1):
        """x[start:stop:step] in one dimension: the offset moves, the stride grows."""
        size = (max(stop - start, 0) + step - 1) // step
        sizes = self.sizes[:dim] + (size,) + self.sizes[dim + 1 :]
        strides = self.strides[:dim] + (self.strides[dim] * step,) + self.strides[dim + 1 :]
        return Layout(sizes, strides, self.offset + start * self.strides[dim])

    def expand(self, sizes):
        """New and stretched dimensions have stride 0: all their elements are the same one."""
        ensure(broadcast_sizes(self.sizes, sizes) == tuple(sizes), f"{self.sizes} does not expand to {tuple(sizes)}")
        new = len(sizes) - len(self.sizes)
        pairs = zip(self.sizes, self.strides, sizes[new:], strict=True)
        kept = tuple(0 if mine == 1 and size != 1 else stride for mine, stride, size in pairs)
        return Layout(tuple(sizes), (0,) * new + kept, self.offset)

    # %% 01.7 view
    def view(self, sizes):
        """The same elements in the same order under other sizes, or None where strides can't say that.

        >>> Layout((2, 3, 4), (12, 4, 1)).view((6, 2, 2))
        Layout(sizes=(6, 2, 2), strides=(4, 2, 1), offset=0)
        >>> Layout((3, 2), (1, 3)).view((6,))          # a transpose in one line: a copy is needed
        """
        ensure(numel(sizes) == numel(self.sizes), f"{self.sizes} and {tuple(sizes)} have not equally many elements")
        if 0 in sizes:
            return Layout(tuple(sizes), contiguous_strides(sizes), self.offset)
        old = [(n, stride) for n, stride in zip(self.sizes, self.strides, strict=True) if n != 1]
        strides, have, stride = [], 1, 1  # from the last on: `have` elements, `stride` apart, are to be handed out
        for size in reversed(sizes):
            if have == 1 and size != 1:
                have, stride = old.pop()
            while have % size:  # the dimension outside must go on where this one ends
                if not old or old[-1][1] != have * stride:
                    return None
                have = have * old.pop()[0]
            strides.append(stride)
            have, stride = have // size, stride * size
        return Layout(tuple(sizes), tuple(reversed(strides)), self.offset)


# %% 01.8 storage and tensor
class Storage:
    """Flat memory that tensors share. A fake's has no data: shapes can be asked about, numbers can't."""

    def __init__(self, data, dtype):
        self.data, self.dtype, self.version = data, np.dtype(dtype), 0  # each write is a new version


class Tensor:
    """A way to look at a storage, and later a place in a history: `grad_fn` says how it was made (lesson 08)."""

    sizes = shape = property(lambda self: self.layout.sizes)
    strides = property(lambda self: self.layout.strides)
    dtype = property(lambda self: self.storage.dtype)
    is_fake = property(lambda self: self.storage.data is None)

    def __init__(self, storage, layout):
        self.storage, self.layout = storage, layout
        self.requires_grad, self.grad, self.grad_fn = False, None, None

    def numpy(self):
        """NumPy's view of the same memory."""
        ensure(not self.is_fake, "a fake has no data: what needs numbers can't be asked while tracing", TypeError)
        data, item = self.storage.data[self.layout.offset :], self.dtype.itemsize
        return np.ndarray(self.sizes, self.dtype, data, 0, [item * stride for stride in self.strides])

    # %% given
    def tolist(self):
        return self.numpy().tolist()

    def item(self):
        return self.numpy().item()

    def __repr__(self):
        return f"fake{self.sizes}" if self.is_fake else f"tensor({self.tolist()})"


# %% 01.9 where tensors come from
def tensor(data, dtype=None, requires_grad=False):
    """Nested lists, numbers or an array, copied; a Python float is a float32.

    >>> tensor([1, 2]).dtype, tensor(0.5).dtype, tensor(np.ones(2)).dtype
    (dtype('int64'), dtype('float32'), dtype('float64'))
    """
    array = np.array(data, dtype)
    if array.dtype == np.float64 and dtype is None and not isinstance(data, np.ndarray):
        array = array.astype(np.float32)
    return from_numpy(array, requires_grad)


def from_numpy(array, requires_grad=False):
    """The array's own memory where it is dense, else a copy."""
    result = Tensor(Storage(np.ascontiguousarray(array).reshape(-1), array.dtype), Layout.dense(array.shape))
    result.requires_grad = requires_grad
    return result


def fake(sizes, dtype=np.float32):
    """A tensor of sizes and dtype only."""
    return Tensor(Storage(None, dtype), Layout.dense(sizes))
