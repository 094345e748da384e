# %% [markdown]
# # 01 Exercises: tensors, strides, views
#
# Nine exercises, two hours: four about tensors, three quarters of an hour, and five steps of your own `mini/tensor.py`,
# an hour and a quarter. Each is a sentence, a signature, an example and a check. Write your answer in place of the
# `raise` line or the `...`, run the cell, run the check below it. A check runs your function in a process of its own,
# so an endless loop costs you ten seconds and not the notebook. If you are stuck, `hint("01.1")` gives the first of
# three hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.course.drawings.storage import draw_storage

# %% [markdown]
# ## 01.1 Strides of a new tensor
#
# A new tensor is row-major: its last dimension has stride 1, and each other dimension steps over everything to its
# right. `contiguous_strides((2, 3, 4))` is `(12, 4, 1)`. A size of 0 counts as 1, and a 0-d tensor has no strides:
# `()`.


# %%
def contiguous_strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The row-major strides of a tensor of these sizes."""
    ### BEGIN SOLUTION
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))
    ### END SOLUTION


# %%
check("01.1")

# %% [markdown]
# This one can go into the package itself. Inside the `with` block every tensor that minitorch_compile makes is laid out
# by your function; afterwards the package has its own back.

# %%
if passed("01.1"):
    with splice("tensor.contiguous_strides", contiguous_strides):
        print(torch.zeros(2, 3, 4).stride())


# %% tags=["wrong"] says="These are column-major strides"
def contiguous_strides(sizes):
    strides, step = [], 1
    for size in sizes:
        strides.append(step)
        step *= max(size, 1)
    return tuple(strides)


# %% tags=["wrong"] says="one size too far"
def contiguous_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        step *= size
        strides.append(step)
    return tuple(reversed(strides))


# %% tags=["wrong"] says="You took the next size alone"
def contiguous_strides(sizes):
    return tuple(sizes[1:]) + (1,) if sizes else ()


# %% tags=["wrong"] says="in the wrong order"
def contiguous_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return tuple(strides)


# %% tags=["wrong"] says="a stride of 0 means repetition"
def contiguous_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


# %% [markdown]
# ## 01.2 View or copy: predict
#
# Before you run anything: let `x = torch.arange(12).reshape(3, 4)`. For each expression write the strides of the result
# if it is a view of x's storage, as a tuple such as `(4, 1)`, or `"copy"` if the numbers had to be moved.

# %% tags=["stub"]
prediction = {
    "x.t()": ...,
    "x[1]": ...,
    "x[:, 1]": ...,
    "x[:, ::2]": ...,
    "x[:1].expand(3, 4)": ...,
    "x[1:].reshape(8)": ...,
    "x.t().reshape(12)": ...,
    "x[:, 1:].reshape(9)": ...,
}

# %% tags=["solution"]
prediction = {
    "x.t()": (1, 4),
    "x[1]": (1,),
    "x[:, 1]": (4,),
    "x[:, ::2]": (4, 2),
    "x[:1].expand(3, 4)": (0, 1),
    "x[1:].reshape(8)": (1,),
    "x.t().reshape(12)": "copy",
    "x[:, 1:].reshape(9)": "copy",
}

# %%
check("01.2")

# %% tags=["wrong"] says="Sizes and strides both swap places"
prediction = prediction | {"x.t()": (4, 1)}

# %% tags=["wrong"] says="it multiplies that dimension's stride"
prediction = prediction | {"x[:, ::2]": (4, 1)}

# %% tags=["wrong"] says="a step along dimension 0 must not move"
prediction = prediction | {"x[:1].expand(3, 4)": (4, 1)}

# %% tags=["wrong"] says="lie side by side without a gap"
prediction = prediction | {"x[1:].reshape(8)": "copy"}

# %% tags=["wrong"] says="one stride a dimension can't say that"
prediction = prediction | {"x.t().reshape(12)": (1,), "x[:, 1:].reshape(9)": (1,)}

# %% [markdown]
# Now look. `draw_storage` shows the cells a view reads; change the expression and see whether the picture agrees with
# you.

# %%
x = torch.arange(12).reshape(3, 4)
draw_storage(x[:, ::2])

# %% [markdown]
# ## 01.3 Find the bug: is_contiguous
#
# This function says whether the elements of a view lie in row-major order without gaps. It was reported that for a
# column turned on its side, sizes `(4, 1)` and strides `(1, 4)`, it says False, while PyTorch says True; and that it is
# wrong about some tensors without elements. Find out why, and repair it. What it gets right must stay right.


# %% tags=["stub"]
def is_contiguous(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the elements lie in row-major order without gaps."""
    step = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if stride != step:
            return False
        step *= size
    return True


# %% tags=["solution"]
def is_contiguous(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the elements lie in row-major order without gaps."""
    if 0 in sizes:
        return True
    step = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


# %%
check("01.3")


# %% tags=["wrong"] says="It excuses its own stride only"
def is_contiguous(sizes, strides):
    if 0 in sizes or 1 in sizes:
        return True
    step = 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if stride != step:
            return False
        step *= size
    return True


# %% tags=["wrong"] says="You stopped at the first dimension of size 1"
def is_contiguous(sizes, strides):
    step = 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if size <= 1:
            break
        if stride != step:
            return False
        step *= size
    return True


# %% tags=["wrong"] says="Contiguous means dense and in order"
def is_contiguous(sizes, strides):
    step = 1
    for stride, size in sorted(zip(strides, sizes)):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


# %% tags=["wrong"] says="the stride of a size-1 dimension is never used, so any value is right"
def is_contiguous(sizes, strides):
    expected, step = [], 1
    for size in reversed(sizes):
        expected.insert(0, step)
        step *= max(size, 1)
    return tuple(expected) == tuple(strides)


# %% tags=["wrong"] says="With a size of 0 there is no element"
def is_contiguous(sizes, strides):
    step = 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


# %% [markdown]
# ## 01.4 Windows for free
#
# A convolution, a moving average and a batch of training sequences all want overlapping windows of one line of numbers.
# `windows(x, 3)` of a 1-d tensor with 5 elements has sizes `(3, 3)`: row i is `x[i : i + 3]`. Give it without copying a
# byte: `x.as_strided(sizes, strides)` makes a view of x's storage, from x's first element on. Par is 0 bytes.


# %%
def windows(x: torch.Tensor, size: int) -> torch.Tensor:
    """All windows of `size` neighbouring elements of a 1-d tensor, as rows of a view."""
    ### BEGIN SOLUTION
    step = x.stride(0)
    return x.as_strided((x.size(0) - size + 1, size), (step, step))
    ### END SOLUTION


# %%
check("01.4")


# %% tags=["wrong"] says="Par is 0 bytes"
def windows(x, size):
    return torch.stack([x[start : start + size] for start in range(x.size(0) - size + 1)])


# %% tags=["wrong"] says="each starts one element after the one before"
def windows(x, size):
    count = x.size(0) // size
    return x.as_strided((count, size), (size * x.stride(0), x.stride(0)))


# %% tags=["wrong"] says="The last window is missing"
def windows(x, size):
    step = x.stride(0)
    return x.as_strided((x.size(0) - size, size), (step, step))


# %% tags=["wrong"] says="Your strides count cells of the storage"
def windows(x, size):
    return x.as_strided((x.size(0) - size + 1, size), (1, 1))


# %% [markdown]
# ## Your own stack: `mini/tensor.py`
#
# From here on you write a package of your own, `mini`: each lesson adds a file, and in the end it compiles models as
# `minitorch_compile` does, in two thousand lines. This file is what everything else stands on: layouts, storages,
# tensors. It imports NumPy only. Its grown-up version is `minitorch_compile/tensor/memory/`.
#
# A cell that begins with `%%mini tensor 01.5` puts what stands below it into `work/mini/tensor.py`, as the part of that
# number. What you wrote in exercise 01.1 may be copied. `borrow("01.5")` puts the reference's text there if you
# want to go on without it.

# %% [markdown]
# ## 01.5 Strides, and sizes that broadcast
#
# Two functions of sizes. `contiguous_strides(sizes)` you know: a new tensor's strides, `(12, 4, 1)` for `(2, 3, 4)`, where
# a size of 0 counts as 1. `broadcast_sizes(*shapes)` gives the sizes that any number of shapes stretch to. They are aligned
# at the right; in each dimension the sizes are equal, or some are 1, and these are stretched to the others (also to 0).
# `broadcast_sizes((3, 1), (4,), ())` is `(3, 4)`, and of no shapes at all it is `()`. What doesn't fit is a `RuntimeError`,
# as `broadcast_sizes((3,), (4,))`.


# %% step="01.5"
def contiguous_strides(sizes):
    """The last dimension is dense, each one before it steps over all that follows; a size of 0 counts as 1.

    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    """


def broadcast_sizes(*shapes):
    """Aligned at the right; sizes are equal or one of them is 1.

    >>> broadcast_sizes((3, 1), (4,), ())
    (3, 4)
    """


# %%
check("01.5")

# %% tags=["wrong"] step="01.5" says="did not turn them round"
# -     return tuple([numel([max(size, 1) for size in sizes[dim + 1 :]]) for dim in range(len(sizes))])
# +     return tuple([numel([max(size, 1) for size in sizes[dim + 1 :]]) for dim in reversed(range(len(sizes)))])

# %% tags=["wrong"] step="01.5" says="one size too far"
# -     return tuple([numel([max(size, 1) for size in sizes[dim + 1 :]]) for dim in range(len(sizes))])
# +     return tuple([numel([max(size, 1) for size in sizes[dim:]]) for dim in range(len(sizes))])

# %% tags=["wrong"] step="01.5" says="Count a size of 0 as 1"
# -     return tuple([numel([max(size, 1) for size in sizes[dim + 1 :]]) for dim in range(len(sizes))])
# +     return tuple([numel(sizes[dim + 1 :]) for dim in range(len(sizes))])

# %% tags=["wrong"] step="01.5" says="aligned the shapes at the left"
# -         for dim, size in enumerate(sizes, len(result) - len(sizes)):
# +         for dim, size in enumerate(sizes):

# %% tags=["wrong"] step="01.5" says="that comes after a larger one"
# -             elif size != 1 and size != result[dim]:
# +             elif size != result[dim]:

# %% tags=["wrong"] step="01.5" says="These sizes don't fit, and you gave an answer"
# -             if result[dim] == 1:
# -                 result[dim] = size
# -             elif size != 1 and size != result[dim]:
# -                 raise RuntimeError(f"sizes {shapes} do not broadcast: {result[dim]} and {size}")
# +             result[dim] = size if result[dim] == 1 else result[dim]

# %% tags=["wrong"] step="01.5" says="max of nothing needs a default"
# -     result = [1] * max((len(sizes) for sizes in shapes), default=0)
# +     result = [1] * max(map(len, shapes))

# %% tags=["wrong"] step="01.5" says="You took the larger of the two"
# -             if result[dim] == 1:
# -                 result[dim] = size
# +             if result[dim] == 1 or size == 1:
# +                 result[dim] = max(size, result[dim])

# %% [markdown]
# ## 01.6 Layouts
#
# A layout is sizes, strides and an offset: all of a tensor but its memory. Each method gives the layout of a view:
#
# - `Layout.dense(sizes)` is that of a new tensor.
# - `permute(dims)`: dimension d of the result is dimension `dims[d]` of this one. If `dims` doesn't name each dimension
#   once, it is a `RuntimeError`.
# - `narrow(dim, start, stop, step)` is what `x[start:stop:step]` is in dimension `dim`; `start` and `stop` lie between 0
#   and the size.
# - `expand(sizes)` adds dimensions in front and stretches those of size 1. What `broadcast_sizes` doesn't stretch to
#   exactly these sizes is a `RuntimeError`.
#
# Dimensions are counted from 0 here: a negative one is made into such a number before, where users are served (lesson 02).
#
# `Layout((2, 3), (3, 1)).narrow(1, 1, 3)` is `Layout(sizes=(2, 2), strides=(3, 1), offset=1)`. Sizes and strides are
# tuples.


# %% step="01.6"
@dataclass(frozen=True)
class Layout:
    """Element (i, j, ...) lies at offset + i*strides[0] + j*strides[1] + ..."""

    sizes: tuple
    strides: tuple
    offset: int = 0

    @staticmethod
    def dense(sizes):
        """That of a new tensor."""

    def permute(self, dims):
        """Dimension d of the result is dimension dims[d] of this one."""

    def narrow(self, dim, start, stop, step=1):
        """x[start:stop:step] in one dimension: the offset moves, the stride grows."""

    def expand(self, sizes):
        """New and stretched dimensions have stride 0: all their elements are the same one."""


# %%
check("01.6")

# %% tags=["wrong"] step="01.6" says="a layout has tuples"
# - return Layout(tuple(sizes), contiguous_strides(sizes))
# + return Layout(sizes, contiguous_strides(sizes))

# %% tags=["wrong"] step="01.6" says="a 1 that stays a 1 keeps its own"
# - kept = tuple(0 if mine == 1 and size != 1 else stride for mine, stride, size in pairs)
# + kept = tuple(0 if mine == 1 else stride for mine, stride, size in pairs)

# %% tags=["wrong"] step="01.6" says="The sizes moved and the strides stayed"
# -         return Layout(tuple(self.sizes[d] for d in dims), tuple(self.strides[d] for d in dims), self.offset)
# +         return Layout(tuple(self.sizes[d] for d in dims), self.strides, self.offset)

# %% tags=["wrong"] step="01.6" says="You went the other way round"
# -         return Layout(tuple(self.sizes[d] for d in dims), tuple(self.strides[d] for d in dims), self.offset)
# +         back = [dims.index(d) for d in range(len(dims))]
# +         return Layout(tuple(self.sizes[d] for d in back), tuple(self.strides[d] for d in back), self.offset)

# %% tags=["wrong"] step="01.6" says="a permuted view still begins where this one does"
# -         return Layout(tuple(self.sizes[d] for d in dims), tuple(self.strides[d] for d in dims), self.offset)
# +         return Layout(tuple(self.sizes[d] for d in dims), tuple(self.strides[d] for d in dims))

# %% tags=["wrong"] step="01.6" says="Every dimension must be named once"
# -         ensure(sorted(dims) == [*range(len(self.sizes))], f"permute: {dims}: each dimension of {self.sizes} once")

# %% tags=["wrong"] step="01.6" says="The offset moved by `start` cells"
# -         return Layout(sizes, strides, self.offset + start * self.strides[dim])
# +         return Layout(sizes, strides, self.offset + start)

# %% tags=["wrong"] step="01.6" says="the next one is step * stride away"
# -         strides = self.strides[:dim] + (self.strides[dim] * step,) + self.strides[dim + 1 :]
# +         strides = self.strides

# %% tags=["wrong"] step="01.6" says="A last step that is cut short was not counted"
# -         size = (max(stop - start, 0) + step - 1) // step
# +         size = max(stop - start, 0) // step

# %% tags=["wrong"] step="01.6" says="kept its stride"
# -         kept = tuple(0 if mine == 1 and size != 1 else stride for mine, stride, size in pairs)
# +         kept = tuple(stride for mine, stride, size in pairs)

# %% tags=["wrong"] step="01.6" says="no dimension can be dropped"
# -         ensure(broadcast_sizes(self.sizes, sizes) == tuple(sizes), f"{self.sizes} does not expand to {tuple(sizes)}")
# +         broadcast_sizes(self.sizes, sizes)

# %% [markdown]
# ## 01.7 View
#
# A method of `Layout`, hence the indentation. `view(sizes)` gives the layout that reads the same cells in the same order
# under other sizes, or `None` where strides can't say that (then someone has to copy). Another number of elements is a
# `RuntimeError`. Without elements the strides are those of a new tensor. The offset stays. Hand out the old dimensions
# from the last on, splitting them, and joining neighbours where stepping off the end of the inner one lands exactly where
# the outer one steps.


# %% step="01.7"
def view(self, sizes):
    """The same elements in the same order under other sizes, or None where strides can't say that.

    >>> Layout((2, 3, 4), (12, 4, 1)).view((6, 2, 2))
    Layout(sizes=(6, 2, 2), strides=(4, 2, 1), offset=0)
    >>> Layout((3, 2), (1, 3)).view((6,))          # a transpose in one line: a copy is needed
    """


# %%
check("01.7")

# %% tags=["wrong"] step="01.7" says="A dimension was joined with the one outside it"
# -                 if not old or old[-1][1] != have * stride:
# +                 if not old:

# %% tags=["wrong"] step="01.7" says="You copy whenever the layout isn't that of a new tensor"
# -         old = [(n, stride) for n, stride in zip(self.sizes, self.strides, strict=True) if n != 1]
# +         dense = contiguous_strides(self.sizes)
# +         old = [(n, stride) for n, stride in zip(self.sizes, self.strides, strict=True) if n != 1]
# +         if [p for p in zip(self.sizes, dense) if p[0] != 1] != old:
# +             return None

# %% tags=["wrong"] step="01.7" says="A dimension of size 1 stood in the way"
# -         old = [(n, stride) for n, stride in zip(self.sizes, self.strides, strict=True) if n != 1]
# +         old = list(zip(self.sizes, self.strides, strict=True))

# %% tags=["wrong"] step="01.7" says="begins in the middle of the storage"
# -         return Layout(tuple(sizes), tuple(reversed(strides)), self.offset)
# +         return Layout(tuple(sizes), tuple(reversed(strides)))

# %% tags=["wrong"] step="01.7" says="Without elements nothing can be handed out"
# -         if 0 in sizes:
# -             return Layout(tuple(sizes), contiguous_strides(sizes), self.offset)

# %% tags=["wrong"] step="01.7" says="No copy would help here either"
# -         ensure(numel(sizes) == numel(self.sizes), f"{self.sizes} and {tuple(sizes)} have not equally many elements")
# +         if numel(sizes) != numel(self.sizes):
# +             return None

# %% [markdown]
# Your layouts, drawn. Nothing is needed for it but the three numbers that each element's position is made of.

# %%
if passed("01.6") and passed("01.7"):
    from mini.tensor import Layout

    from minitorch_compile.course.drawings.storage import draw_layout

    every_second_row = Layout.dense((4, 3)).narrow(0, 0, 4, 2).permute((1, 0))
    print(every_second_row, every_second_row.view((6,)))
    display(draw_layout(list(range(12)), every_second_row.sizes, every_second_row.strides))

# %% [markdown]
# ## 01.8 Storage and tensor
#
# A `Storage` keeps flat memory (a NumPy array of one dimension, or `None` for a *fake*, which has no numbers), its dtype
# as `np.dtype(dtype)`, and a `version`, which begins at 0; lesson 02 counts writes with it. A `Tensor` is a storage and a
# layout. It also has a place for what lesson 08 adds: `requires_grad` is False, `grad` and `grad_fn` are None. The
# properties are written for you.
#
# `numpy()` gives the array that reads the tensor's own memory, by `np.ndarray(sizes, dtype, buffer, 0, strides_in_bytes)`, whose
# buffer is `storage.data` from the offset on; for a fake it is a `TypeError` that says so.


# %% step="01.8"
class Storage:
    """Flat memory that tensors share. A fake's has no data: shapes can be asked about, numbers can't."""

    def __init__(self, data, dtype):
        """data, dtype, version"""


class Tensor:
    """A way to look at a storage, and later a place in a history: `grad_fn` says how it was made (lesson 08)."""

    sizes = shape = property(lambda self: self.layout.sizes)
    strides = property(lambda self: self.layout.strides)
    dtype = property(lambda self: self.storage.dtype)
    is_fake = property(lambda self: self.storage.data is None)

    def __init__(self, storage, layout):
        """storage, layout, requires_grad, grad, grad_fn"""

    def numpy(self):
        """NumPy's view of the same memory."""


# %%
check("01.8")

# %% tags=["wrong"] step="01.8" says="A dtype may come as a name"
# -         self.data, self.dtype, self.version = data, np.dtype(dtype), 0  # each write is a new version
# +         self.data, self.dtype, self.version = data, dtype, 0

# %% tags=["wrong"] step="01.8" says="a new tensor requires no gradient"
# -         self.requires_grad, self.grad, self.grad_fn = False, None, None
# +         self.requires_grad, self.grad, self.grad_fn = True, None, None

# %% tags=["wrong"] step="01.8" says="Our strides count elements"
# -         return np.ndarray(self.sizes, self.dtype, data, 0, [item * stride for stride in self.strides])
# +         return np.ndarray(self.sizes, self.dtype, data, 0, list(self.strides))

# %% tags=["wrong"] step="01.8" says="storage.data from the offset on"
# -         data, item = self.storage.data[self.layout.offset :], self.dtype.itemsize
# +         data, item = self.storage.data, self.dtype.itemsize

# %% tags=["wrong"] step="01.8" says="A copy was written to"
# -         return np.ndarray(self.sizes, self.dtype, data, 0, [item * stride for stride in self.strides])
# +         return np.ndarray(self.sizes, self.dtype, data, 0, [item * stride for stride in self.strides]).copy()

# %% tags=["wrong"] step="01.8" says="A fake is a tensor without data"
# -         ensure(not self.is_fake, "a fake has no data: what needs numbers can't be asked while tracing", TypeError)

# %% [markdown]
# ## 01.9 Where tensors come from
#
# `tensor(data)` copies nested lists, numbers or an array. Python floats become float32, unless `dtype` says otherwise; an
# array keeps its dtype. `from_numpy(array)` copies only where it must: a dense array's memory *is* the storage, and a
# write into one is seen in the other. But an array such as `a[::2]` or a transpose is no dense line; its elements are
# copied into one. `fake(sizes)` has sizes and a dtype, and no memory at all, so that it may be as large as you like. All
# three have the dense layout.


# %% step="01.9"
def tensor(data, dtype=None, requires_grad=False):
    """Nested lists, numbers or an array, copied; a Python float is a float32.

    >>> tensor([1, 2]).dtype, tensor(0.5).dtype, tensor(np.ones(2)).dtype
    (dtype('int64'), dtype('float32'), dtype('float64'))
    """


def from_numpy(array, requires_grad=False):
    """The array's own memory where it is dense, else a copy."""


def fake(sizes, dtype=np.float32):
    """A tensor of sizes and dtype only."""


# %%
check("01.9")

# %% tags=["wrong"] step="01.9" says="A Python float names no width"
# -     if array.dtype == np.float64 and dtype is None and not isinstance(data, np.ndarray):
# -         array = array.astype(np.float32)

# %% tags=["wrong"] step="01.9" says="Here float64 was said"
# -     if array.dtype == np.float64 and dtype is None and not isinstance(data, np.ndarray):
# +     if array.dtype == np.float64:

# %% tags=["wrong"] step="01.9" says="np.array copies, np.asarray doesn't"
# -     array = np.array(data, dtype)
# +     array = np.asarray(data, dtype)

# %% tags=["wrong"] step="01.9" says="a dense array's memory is the storage"
# -     result = Tensor(Storage(np.ascontiguousarray(array).reshape(-1), array.dtype), Layout.dense(array.shape))
# +     result = Tensor(Storage(array.flatten(), array.dtype), Layout.dense(array.shape))

# %% tags=["wrong"] step="01.9" says="NumPy's reshape(-1) alone keeps gaps"
# -     result = Tensor(Storage(np.ascontiguousarray(array).reshape(-1), array.dtype), Layout.dense(array.shape))
# +     result = Tensor(Storage(array.reshape(-1), array.dtype), Layout.dense(array.shape))

# %% tags=["wrong"] step="01.9" says="A number has no dimension"
# -     result = Tensor(Storage(np.ascontiguousarray(array).reshape(-1), array.dtype), Layout.dense(array.shape))
# +     array = np.ascontiguousarray(array)
# +     result = Tensor(Storage(array.reshape(-1), array.dtype), Layout.dense(array.shape))

# %% tags=["wrong"] step="01.9" says="no data at all, not even zeros"
# -     return Tensor(Storage(None, dtype), Layout.dense(sizes))
# +     return Tensor(Storage(np.zeros(min(numel(sizes), 9), dtype), dtype), Layout.dense(sizes))

# %% [markdown]
# That is the first file. A thousand rows of a thousand, and two numbers of memory:

# %%
if all(passed(f"01.{step}") for step in range(5, 10)):
    from mini.tensor import Tensor, tensor

    line = tensor([1.0, 2.0])
    table = Tensor(line.storage, line.layout.expand((1000, 2)))
    print(table.sizes, table.strides, table.storage.data.nbytes, "bytes")

# %% [markdown]
# Save the notebook, and see where you stand:

# %%
progress("01")

# %% [markdown]
# `own_parts` is the switch for everything: inside its block the package runs on all of your answers, of all lessons,
# that pass their checks and have a place in it.

# %%
with own_parts() as places:
    print("running on your own:", *places)
    print(torch.arange(6).reshape(2, 3).t().reshape(3, 2, 1).tolist())
