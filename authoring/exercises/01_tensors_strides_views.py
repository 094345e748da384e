# %% [markdown]
# # 01 Exercises: tensors, strides, views
#
# Six exercises, about an hour. Each is a sentence, a signature, an example and a check. Write your answer in place of
# the `raise` line or the `...`, run the cell, run the check below it. A check runs your function in a process of its
# own, so an endless loop costs you ten seconds and not the notebook. If you are stuck, `hint("01.1")` gives the first
# of three hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.course.drawings.storage import draw_storage

# %% [markdown]
# ## 01.1 Where an element lies
#
# Give the storage position of the element with this index, in a view with these strides that begins at `offset`. For
# instance `position((1, 2), (3, 1))` is 5, and with `offset=10` it is 15.


# %%
def position(index: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> int:
    """The place in the storage of the element at `index`."""
    ### BEGIN SOLUTION
    for i, stride in zip(index, strides, strict=True):
        offset += i * stride
    return offset
    ### END SOLUTION


# %%
check("01.1")


# %% tags=["wrong"] says="the offset says where"
def position(index, strides, offset=0):
    return sum(i * stride for i, stride in zip(index, strides))


# %% tags=["wrong"] says="You took the last stride to be 1"
def position(index, strides, offset=0):
    if not index:
        return offset
    rows = sum(i * stride for i, stride in zip(index[:-1], strides[:-1]))
    return offset + rows + index[-1]


# %% tags=["wrong"] says="Index i means i steps"
def position(index, strides, offset=0):
    return offset + sum(index) + sum(strides)


# %% tags=["wrong"] says="there may be none, one, or five"
def position(index, strides, offset=0):
    if len(index) == 1:
        return offset + index[0] * strides[0]
    row, column = index
    return offset + row * strides[0] + column * strides[1]


# %% [markdown]
# ## 01.2 Strides of a new tensor
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
check("01.2")

# %% [markdown]
# This one can go into the package itself. Inside the `with` block every tensor that minitorch_compile makes is laid out
# by your function; afterwards the package has its own back.

# %%
if passed("01.2"):
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
# ## 01.3 View or copy: predict
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
check("01.3")

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
# ## 01.4 Find the bug: is_contiguous
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
check("01.4")


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
# ## 01.5 Reshape without copying
#
# `x.view(target)` must read the same cells in the same order under new sizes. Give the strides that do this, or `None`
# if no strides can. The sizes hold equally many elements. `view_strides((2, 3), (3, 1), (6,))` is `(1,)`; for the
# transpose, `view_strides((3, 2), (1, 3), (6,))` is `None`; and `view_strides((3, 4), (1, 3), (3, 2, 2))` is `(1, 6,
# 3)`, because dimension 1 can still be split. If a size is 0, any strides do.


# %%
def view_strides(
    sizes: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]
) -> tuple[int, ...] | None:
    """Strides that read the same cells in the same order under the sizes `target`, or None."""
    ### BEGIN SOLUTION
    if 0 in sizes:
        return (1,) * len(target)
    runs: list[tuple[int, int]] = []  # (size, stride) of even runs, size-1 dimensions dropped, neighbours melted
    for size, stride in zip(sizes, strides, strict=True):
        if runs and size != 1 and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        elif size != 1:
            runs.append((size, stride))
    result: list[int] = []
    taken = 1
    for size in reversed(target):
        if size != 1 and runs and taken == runs[-1][0]:
            runs.pop()
            taken = 1
        run_size, stride = runs[-1] if runs else (1, 1)
        result.append(stride * taken)
        taken *= size
        if run_size % taken:
            return None
    return tuple(reversed(result))
    ### END SOLUTION


# %%
check("01.5")


# %% tags=["wrong"] says="You gave the strides of a new tensor"
def view_strides(sizes, strides, target):
    result, step = [], 1
    for size in reversed(target):
        result.insert(0, step)
        step *= size
    return tuple(result)


# %% tags=["wrong"] says="You looked at the last stride only"
def view_strides(sizes, strides, target):
    result, step = [], strides[-1] if strides else 1
    for size in reversed(target):
        result.insert(0, step)
        step *= size
    return tuple(result)


# %% tags=["wrong"] says="You copy whenever the tensor isn't contiguous"
def view_strides(sizes, strides, target):
    def fresh(sizes):
        result, step = [], 1
        for size in reversed(sizes):
            result.insert(0, step)
            step *= size
        return tuple(result)

    in_order = all(s == f for n, s, f in zip(sizes, strides, fresh(sizes)) if n != 1)
    return fresh(target) if in_order else None


# %% tags=["wrong"] says="A size-1 dimension stood in the way"
def view_strides(sizes, strides, target):
    runs = []
    for size, stride in zip(sizes, strides):
        if runs and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    for position in range(len(sizes) - 1):
        if 1 in sizes[position : position + 2] and strides[position] != sizes[position + 1] * strides[position + 1]:
            return None
    runs = [run for run in runs if run[0] != 1]
    result, taken = [], 1
    for size in reversed(target):
        if size != 1 and runs and taken == runs[-1][0]:
            runs.pop()
            taken = 1
        run_size, stride = runs[-1] if runs else (1, 1)
        result.append(stride * taken)
        taken *= size
        if run_size % taken:
            return None
    return tuple(reversed(result))


# %% [markdown]
# ## 01.6 Windows for free
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
check("01.6")


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
