# %% [markdown]
# # 01 Tensors, strides, views
#
# Take a matrix of sixteen million numbers and turn it on its side, so that rows become columns. How long should that
# take? Every number has to go somewhere else, so: a while. Let's time it, together with the same job done honestly,
# number by number.

# %% tags=["varies"]
import timeit

import minitorch_compile as torch

small, big = torch.rand(10, 10), torch.rand(4000, 4000)


def microseconds(action) -> str:
    seconds = min(timeit.repeat(action, number=5, repeat=3)) / 5
    return f"{seconds * 1e6:12,.1f} microseconds"


print("turn      10 x 10  ", microseconds(lambda: small.t()))
print("turn    4000 x 4000", microseconds(lambda: big.t()))
print("move every number  ", microseconds(lambda: big.t().contiguous()))

# %% [markdown]
# The large matrix is turned as quickly as the small one. Nothing was moved. Yet `big.t()[3, 7]` is `big[7, 3]`, and
# whatever you do with the turned matrix comes out right. This lesson is about how that is possible, and why a compiler
# cares more about it than about almost anything else: by the end you will have written a tensor in forty lines that
# turns, slices, steps and repeats for free, and a small code generator that uses it.
#
# ## A tensor is a line
#
# Memory has no rows and no columns. It is one long line of cells with numbers on them. A matrix is a *reading* of that
# line: an agreement about which cell is meant by "row 1, column 2".
#
# Here are twelve cells, read as three rows of four. Above, the matrix; below, the line it is read from, in the same
# colours.

# %%
from minitorch_compile.course.drawings.storage import draw_layout

cells = list(range(12))
draw_layout(cells, sizes=(3, 4), strides=(4, 1))

# %% [markdown]
# And here are the same twelve cells, untouched, read as four rows of three. Follow the colours: the first row is now 0,
# 4, 8.

# %%
draw_layout(cells, sizes=(4, 3), strides=(1, 4))

# %% [markdown]
# That is the whole trick. The second picture is the transpose of the first, and not one cell has changed. What changed
# are two pairs of numbers: the *sizes*, which say how many steps you may take in each direction, and the *strides*,
# which say how far a step goes. Both pairs swapped their places.
#
# ## Strides say how far to jump
#
# The two arrows in each picture are the strides. In the first, one step along dimension 0 (down a row) jumps 4 cells,
# and one step along dimension 1 (along the row) jumps 1. To find row 1, column 2: jump once by 4, twice by 1, and you
# stand on cell 6. In the second picture the same steps jump by 1 and by 4.
#
# So a tensor needs four things: the line of cells, its sizes, its strides, and the *offset*, the cell where the first
# element lies. Everything else follows.

# %%
from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """A reading of a line of cells."""

    storage: list
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    def position(self, *index: int) -> int:
        return self.offset + sum(i * stride for i, stride in zip(index, self.strides, strict=True))

    def __getitem__(self, index: tuple[int, ...]):
        return self.storage[self.position(*index)]

    def __setitem__(self, index: tuple[int, ...], value) -> None:
        self.storage[self.position(*index)] = value


matrix = View(cells, sizes=(3, 4), strides=(4, 1))
matrix[1, 2]

# %% [markdown]
# `position` is the heart of every tensor library there is. Index times stride, summed, plus the offset: that one line
# is what `x[1, 2]` means in PyTorch, in NumPy, and in the kernels that lesson 15 will generate.
#
# Where do the strides come from, when a tensor is new and nobody has turned it? From a convention. We store a matrix
# row after row, so neighbours within a row are 1 apart, and to reach the next row you must pass a whole row. For three
# dimensions, to reach the next matrix you must pass a whole matrix. Working from the right, each stride is the size of
# everything to its right.


# %%
def new(values: list, sizes: tuple[int, ...]) -> View:
    """A view that reads the values row by row."""
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return View(values, sizes, tuple(reversed(strides)))


block = new(list(range(24)), (2, 3, 4))
print(block.strides, block[1, 2, 3])
draw_layout(block.storage, block.sizes, block.strides)

# %% [markdown]
# Strides of (12, 4, 1): twelve to the next matrix, four to the next row, one to the next number. This order is called
# *row-major*, and a tensor laid out like this, without gaps, is *contiguous*. Fortran and MATLAB chose the other end,
# first dimension first. Neither is better. Mixing them up is worse than either.
#
# ## Views: arithmetic on four things
#
# If a tensor is only a line and a way to read it, then an operation that merely reads differently never has to touch
# the line. It takes four things and gives four things, with the same storage. Such a result is called a *view*. Turning
# is the simplest: swap two sizes, swap two strides.


# %%
def swapped(numbers: tuple[int, ...], a: int, b: int) -> tuple[int, ...]:
    order = list(numbers)
    order[a], order[b] = order[b], order[a]
    return tuple(order)


def transpose(x: View, a: int, b: int) -> View:
    return View(x.storage, swapped(x.sizes, a, b), swapped(x.strides, a, b), x.offset)


turned = transpose(matrix, 0, 1)
print(turned.sizes, turned.strides, turned[2, 1], "is", matrix[1, 2])

# %% [markdown]
# Choosing one row, or one column, drops a dimension. Its size and stride disappear, and what remains of the choice is
# an offset. Taking a slice with a step keeps the dimension: it begins somewhere, so the offset moves; it skips, so the
# stride grows; it ends, so the size shrinks.


# %%
def select(x: View, dim: int, index: int) -> View:
    """x[..., index, ...]: one index of a dimension, which disappears."""
    rest = [d for d in range(len(x.sizes)) if d != dim]
    offset = x.offset + index * x.strides[dim]
    return View(
        x.storage, tuple(x.sizes[d] for d in rest), tuple(x.strides[d] for d in rest), offset
    )


def slice_(x: View, dim: int, start: int, stop: int, step: int = 1) -> View:
    """x[..., start:stop:step, ...]: some indices of a dimension, which stays."""
    sizes, strides = list(x.sizes), list(x.strides)
    sizes[dim] = len(range(start, stop, step))
    strides[dim] *= step
    return View(x.storage, tuple(sizes), tuple(strides), x.offset + start * x.strides[dim])


def show(x: View):
    return draw_layout(x.storage, x.sizes, x.strides, x.offset)


show(select(matrix, 1, 2))

# %% [markdown]
# A column. The other columns are still there, pale, because the storage belongs to the whole
# matrix. Views compose, too, since each is made from the four things of the one before. Here is every second column of
# the last two rows:

# %%
show(slice_(slice_(matrix, 1, 0, 4, 2), 0, 1, 3))

# %% [markdown]
# Now the strangest of them. What does a stride of 0 mean? A step that does not move: every index along that dimension
# reads the same cell. So one row can pose as a hundred equal rows, without a copy of anything. This is how a bias is
# added to a whole batch, and the word for it, *broadcasting*, is the subject of the next lesson.


# %%
def expand(x: View, dim: int, size: int) -> View:
    """Repeat a dimension of size 1."""
    assert x.sizes[dim] == 1, "only a size of 1 can be repeated"
    sizes, strides = list(x.sizes), list(x.strides)
    sizes[dim], strides[dim] = size, 0
    return View(x.storage, tuple(sizes), tuple(strides), x.offset)


show(expand(slice_(matrix, 0, 1, 2), 0, 3))

# %% [markdown]
# Three rows, four cells; each cell is striped in the colours of the three rows that read it.
#
# You may also skip all these operations and write the sizes and strides by hand. PyTorch calls that door
# `x.as_strided(sizes, strides)`. It checks that you stay inside the storage and otherwise believes you, which makes it
# the sharpest knife in the drawer: overlapping windows, diagonals, and nonsense are all one call away. Here is a
# diagonal, in a stride that no named operation above would give: one row and one column at a time is 4 + 1 = 5.

# %%
show(View(cells, sizes=(3,), strides=(5,)))

# %% [markdown]
#
# ## One line, many readers
#
# A view costs nothing because it shares. What is shared can be seen from everywhere when it changes:

# %%
middle = slice_(matrix, 0, 1, 2)
middle[0, 2] = 600
for name, x, index in [
    ("middle", middle, (0, 2)),
    ("matrix", matrix, (1, 2)),
    ("turned", turned, (2, 1)),
]:
    print(f"{name}{list(index)} is now {x[index]}")
middle[0, 2] = 6

# %% [markdown]
# This is a feature: `weights[:, 0] = 0` in PyTorch is exactly that, a write through a view. It is also the source of
# every aliasing bug you will ever have in a tensor program, and for a compiler it is a minefield. Before it may move a
# write past a read, it has to know whether they can meet in the same cell. Lesson 11 gets rid of the problem wholesale,
# by rewriting a program so that nothing is written twice. For now, remember the rule: *a view is the same numbers, not
# a copy of them.*
#
# ## When strides run out
#
# Not every reading can be written as sizes and strides. Take the turned matrix, which reads 0, 4, 8, 1, 5, 9 and so on,
# and ask for it as a single row of twelve. One dimension has one stride, so all jumps would have to be equal. They
# aren't: from 0 to 4 is +4, and from 8 to 1 is -7.

# %%
import itertools


def cells_read(x: View) -> list[int]:
    """The positions that x reads, in reading order: the last index runs fastest."""
    return [x.position(*index) for index in itertools.product(*map(range, x.sizes))]


order = cells_read(turned)
print("cells:", order)
print("jumps:", [after - before for before, after in itertools.pairwise(order)])

# %% [markdown]
# Here a copy can't be avoided: somebody has to walk through the line in the new order and write a fresh one. That is
# what `contiguous` does, and since its result is new, it is in row-major order, where everything can be reshaped at
# will.


# %%
def is_contiguous(x: View) -> bool:
    return cells_read(x) == list(range(x.offset, x.offset + len(cells_read(x))))


def contiguous(x: View) -> View:
    """x itself if it is in order; else its elements, written out in order."""
    return x if is_contiguous(x) else new([x.storage[place] for place in cells_read(x)], x.sizes)


fresh = contiguous(turned)
print(is_contiguous(turned), is_contiguous(fresh), fresh.strides)
show(fresh)

# %% [markdown]
# So there are two kinds of reshape. PyTorch gives them two names. `x.view(sizes)` promises to share, and raises an
# error where no strides can do it; `x.reshape(sizes)` shares where it can and copies where it must. The second is more
# convenient, and it is why a line of innocent code can cost a copy of sixteen million numbers.
#
# When can it share? The test above is too crude: it walks over every element. The answer can be read off the strides
# alone. Two neighbouring dimensions *melt* into one if stepping off the end of the inner one lands exactly where the
# outer one steps:
#
#     strides[d] == sizes[d + 1] * strides[d + 1]
#
# In a fresh matrix of strides (4, 1) that is 4 = 4 × 1, so rows melt into one line. In the turned one, 1 = 3 × 4 is
# false. And a dimension can always be split: six cells at even jumps are also two threes. Melt what melts, split what
# must be split, and if a new dimension would straddle a seam, copy. You will write this function in exercise 01.7, and
# your own tensors will use it.


# %%
def melts(x: View, dim: int) -> bool:
    """Whether dimensions dim and dim + 1 can be read as one."""
    return x.strides[dim] == x.sizes[dim + 1] * x.strides[dim + 1]


for name, x in [
    ("fresh matrix", matrix),
    ("turned", turned),
    ("last two rows", slice_(matrix, 0, 1, 3)),
    ("no last column", slice_(matrix, 1, 0, 3)),
]:
    print(f"{name:<15} sizes {x.sizes}  strides {x.strides}  melts: {melts(x, 0)}")

# %% [markdown]
# One more thing about strides, since it has fooled everyone who ever wrote `is_contiguous`. What is the stride of a
# dimension of size 1? It has a single index, 0, and 0 times anything is 0. The stride is never used, so it can be any
# number at all, and all of them are equally right. Compare a real column with a row of four, turned upright:

# %%
column = slice_(matrix, 1, 2, 3)
print("sizes", column.sizes, " strides", column.strides, " cells", cells_read(column))

upright = transpose(new([2, 6, 10, 14], (1, 4)), 0, 1)
print("sizes", upright.sizes, " strides", upright.strides, " cells", cells_read(upright))
print("in order, without gaps:", is_contiguous(column), is_contiguous(upright))

# %% [markdown]
# The second one has strides (1, 4), which no new tensor of sizes (4, 1) would ever get. Yet it reads the cells 0, 1, 2,
# 3, one after the other, and so it is contiguous. By the same argument a tensor with a size of 0 is contiguous whatever
# its strides: it has no element that could be out of place. A rule that compares strides with the ones it expects gets
# both wrong, and then copies where nothing needs to be copied, or compiles the same program twice for two tensors that
# lie the same way.
#
# ## The order of the walk has a price
#
# Sharing is free, but reading isn't always. A processor never fetches one number. It fetches the 64 bytes around it,
# sixteen float32 at once, and hopes that you want the neighbours next. If your jumps are 1, you do. If they are 4000,
# you use one number out of sixteen and come back for the others when they have long been thrown out again.
#
# The two lines below read the same number of cells and write the same number of cells. Only the order of reading
# differs.

# %% tags=["varies"]
print("copy, stepping by 1   ", microseconds(lambda: big.clone()))
print("copy, stepping by 4000", microseconds(lambda: big.t().contiguous()))

# %% [markdown]
# The same work, several times slower. A good part of a compiler's trade is choosing the order of the walk, and it can
# choose only because the strides tell it what each order would cost.
#
# ## The package's own tensor
#
# Nothing you built was a toy version. `minitorch_compile.Tensor` is these four things, plus a dtype, a device, and a
# place for a gradient:

# %%
x = torch.arange(12).reshape(3, 4)
y = x.t()[1:, ::2]
print(y.storage, "shared with x:", y.storage is x.storage)
print("sizes", y.shape, " strides", y.stride(), " offset", y.storage_offset())
print(y)

# %%
from minitorch_compile.course.drawings.storage import draw_storage

draw_storage(y)

# %% [markdown]
# The arithmetic lives in two files of `minitorch_compile/tensor/memory/`, `strides.py` and `viewing.py`, as functions on
# plain tuples that touch no data. Here is the loop below `contiguous_strides`, which remembers its answers. Compare with your `new` above:

# %%
import inspect

from minitorch_compile.tensor.memory import strides

print(inspect.getsource(strides._row_major_strides))

# %% [markdown]
# The one difference is `max(size, 1)`. A tensor may have a size of 0, an empty batch for instance, and then PyTorch
# counts it as 1 when laying out strides, so that no stride becomes 0 by accident and looks like a repetition. Details
# like this one are why we check ourselves against an independent oracle. Here the oracle is the package: a few hundred
# random chains of views, ours beside theirs.

# %%
import random


def random_step(x: View, y: torch.Tensor, dice: random.Random) -> tuple[View, torch.Tensor]:
    """The same random view operation on ours and on the package's."""
    dim = dice.randrange(len(x.sizes))
    kind = dice.choice(["transpose", "slice", "select"] if len(x.sizes) > 1 else ["slice"])
    if kind == "transpose":
        other = dice.randrange(len(x.sizes))
        return transpose(x, dim, other), y.transpose(dim, other)
    if kind == "select":
        index = dice.randrange(x.sizes[dim])
        return select(x, dim, index), y.select(dim, index)
    start, step = dice.randrange(x.sizes[dim]), dice.randint(1, 3)
    chosen = (slice(None),) * dim + (slice(start, x.sizes[dim], step),)
    return slice_(x, dim, start, x.sizes[dim], step), y[chosen]


dice = random.Random(0)
for trial in range(300):
    ours, theirs = new(list(range(120)), (2, 3, 4, 5)), torch.arange(120).reshape(2, 3, 4, 5)
    for _ in range(4):
        ours, theirs = random_step(ours, theirs, dice)
    assert ours.sizes == tuple(theirs.shape)
    assert ours.strides == theirs.stride() and ours.offset == theirs.storage_offset()
    assert [ours.storage[place] for place in cells_read(ours)] == theirs.flatten().tolist()
print("300 chains of four views agree: sizes, strides, offsets and elements")

# %% [markdown]
# ## What a compiler does with strides
#
# Here is the reason why this lesson comes first. A kernel, at the bottom of everything, is a loop that reads cells and
# writes cells of a line. It has no idea of rows. To generate one, the compiler must turn "element i, j of the second
# operand" into a position, and you know the formula. At compile time the strides are known numbers, so the formula
# becomes text:


# %%
def position_text(x: View) -> str:
    """The position of element (i0, i1, ...) as source code."""
    terms = [str(x.offset)] if x.offset else []
    for dim, stride in enumerate(x.strides):
        if stride != 0:
            terms.append(f"i{dim}" if stride == 1 else f"{stride}*i{dim}")
    return " + ".join(terms) or "0"


for name, x in [
    ("fresh", matrix),
    ("turned", turned),
    ("column", select(matrix, 1, 2)),
    ("a row, repeated", expand(slice_(matrix, 0, 1, 2), 0, 3)),
]:
    print(f"{name:<16} storage[{position_text(x)}]")

# %% [markdown]
# And with that, nine lines generate a kernel that adds any two views of the same sizes, in whatever order they happen
# to lie:


# %%
def addition_kernel(x: View, y: View, out: View) -> str:
    lines = ["def kernel(x, y, out):"]
    for dim, size in enumerate(out.sizes):
        lines.append("    " * (dim + 1) + f"for i{dim} in range({size}):")
    inside = "    " * (len(out.sizes) + 1)
    lines.append(
        f"{inside}out[{position_text(out)}] = x[{position_text(x)}] + y[{position_text(y)}]"
    )
    return "\n".join(lines)


other = new([10 * n for n in range(12)], (4, 3))
out = new([0] * 12, (4, 3))
source = addition_kernel(turned, other, out)
print(source)

# %%
namespace = {}
exec(source, namespace)
namespace["kernel"](turned.storage, other.storage, out.storage)
show(out)

# %% [markdown]
# Look at the generated line once more. The transpose is in it, as `i0 + 4*i1`, and it costs nothing: no extra loop, no
# copy, only other numbers in an index. Views do not even *exist* any more in the kernel; they were spent at compile
# time. This is how the kernels of lessons 13 to 17 are made, with a better index algebra and a faster language, and it
# is why a compiled program is guarded on its strides: the numbers 1 and 4 are burnt into the code, and would be wrong
# for a tensor that lies differently.
#
# ## What PyTorch does differently
#
# Very little. The names, the sharing, the errors and the strides that results get are the same here; where you find a
# difference, it is a bug. But PyTorch carries some luggage that we left at home:
#
# - Its storage is untyped, a run of bytes, so that the same memory may be read as another dtype. Ours is a run of
# elements of one dtype.
# - It keeps several precomputed answers beside each tensor (is it contiguous? dense? laid out for image kernels, in the
# order called `channels_last`?), since its C++ code asks for them all the time. We compute them when asked.
# - NumPy allows negative strides, and `array[::-1]` is a view there. PyTorch allows none, since too much of its code
# counts upwards from the offset; `flip` copies. We follow PyTorch.
# - In a compiled program with dynamic shapes, PyTorch's sizes and strides may be symbols instead of numbers, and `4*i0`
# becomes `s1*i0`. That comes later.
#
# ## Exercises
#
# Open `work/01_tensors_strides_views.ipynb`. There are nine, in two parts. The first four take three quarters of an hour: the strides of
# a new tensor, a prediction, a bug to find in `is_contiguous`, and sliding windows at a par of 0 bytes. Two of your
# functions can be spliced into the package, which then runs on them. The other five, an hour and a quarter, write a file.
#
# ## What you write
#
# `mini/tensor.py`, the first file of a stack of your own, which by the last lesson compiles a small GPT. After this lesson
# it has layouts (permute, narrow, expand, view, all without touching memory), storages, and tensors made of lists and of
# NumPy's arrays; and *fakes*, tensors without memory, with which a compiler asks about shapes. The package's version,
# `tensor/memory/` and `tensor/tensor_class/`, also has `as_strided` and `unfold`, channels-last layouts,
# symbolic sizes, and the rules by which a result takes over the strides of its operands.
