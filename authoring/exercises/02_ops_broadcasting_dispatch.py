# %% [markdown]
# # 02 Exercises: ops, broadcasting, promotion, dispatch
#
# Six exercises, an hour and a bit. Each is a sentence, a signature, an example and a check. Write your answer in place
# of the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("02.1")` gives the first
# of three hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.tensor.dispatch.dispatch import mode

# %% [markdown]
# ## 02.1 The sizes of a broadcast
#
# Give the sizes that two shapes stretch to, or `None` if they don't fit. `broadcast_sizes((3, 1), (4,))` is `(3, 4)`,
# and `broadcast_sizes((3, 4), (3,))` is `None`.


# %%
def broadcast_sizes(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The common sizes of two operands, or None."""
    ### BEGIN SOLUTION
    ndim = max(len(a), len(b))
    result = []
    for x, y in zip((1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b):
        if x != y and x != 1 and y != 1:
            return None
        result.append(y if x == 1 else x)
    return tuple(result)
    ### END SOLUTION


# %%
check("02.1")


# %% tags=["wrong"] says="aligned to the left"
def broadcast_sizes(a, b):
    ndim = max(len(a), len(b))
    result = []
    for x, y in zip(a + (1,) * (ndim - len(a)), b + (1,) * (ndim - len(b))):
        if x != y and x != 1 and y != 1:
            return None
        result.append(y if x == 1 else x)
    return tuple(result)


# %% tags=["wrong"] says="the larger size isn't always the answer"
def broadcast_sizes(a, b):
    ndim = max(len(a), len(b))
    result = []
    for x, y in zip((1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b):
        if x != y and x != 1 and y != 1:
            return None
        result.append(max(x, y))
    return tuple(result)


# %% tags=["wrong"] says="Only a 1 stretches"
def broadcast_sizes(a, b):
    ndim = max(len(a), len(b))
    return tuple(y if x == 1 else x for x, y in zip((1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b))


# %% tags=["wrong"] says="drops the dimensions that only one operand has"
def broadcast_sizes(a, b):
    result = []
    for x, y in zip(reversed(a), reversed(b)):
        if x != y and x != 1 and y != 1:
            return None
        result.insert(0, y if x == 1 else x)
    return tuple(result)


# %% [markdown]
# ## 02.2 The strides of a stretched operand
#
# A tensor of these sizes and strides is to be read as if it had the `target` sizes, which it stretches to. Give the
# strides that do it. `expand_strides((3, 1), (1, 1), (3, 4))` is `(1, 0)`. A size of 1 that stays 1 keeps its stride.


# %%
def expand_strides(sizes: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """The strides under which the tensor reads as if it had the target sizes."""
    ### BEGIN SOLUTION
    lead = len(target) - len(sizes)
    kept = []
    for dim, (size, stride) in enumerate(zip(sizes, strides)):
        kept.append(0 if size == 1 and target[lead + dim] != 1 else stride)
    return (0,) * lead + tuple(kept)
    ### END SOLUTION


# %%
check("02.2")

# %% [markdown]
# If it passes, every broadcast in this package can run on it. The difference below is 32 by 32 numbers, from 64.

# %%
if passed("02.2"):
    with splice("tensor.expand_strides", expand_strides):
        print((torch.zeros(32, 1).expand(32, 32)).stride())


# %% tags=["wrong"] says="the strides of a tensor that was copied"
def expand_strides(sizes, strides, target):
    result, step = [], 1
    for size in reversed(target):
        result.insert(0, step)
        step *= max(size, 1)
    return tuple(result)


# %% tags=["wrong"] says="A new dimension must not move"
def expand_strides(sizes, strides, target):
    lead = len(target) - len(sizes)
    kept = [0 if size == 1 and target[lead + d] != 1 else stride for d, (size, stride) in enumerate(zip(sizes, strides))]
    return (1,) * lead + tuple(kept)


# %% tags=["wrong"] says="a size of 1 that stays 1"
def expand_strides(sizes, strides, target):
    lead = len(target) - len(sizes)
    return (0,) * lead + tuple(0 if size == 1 else stride for size, stride in zip(sizes, strides))


# %% tags=["wrong"] says="compared with the wrong target"
def expand_strides(sizes, strides, target):
    lead = len(target) - len(sizes)
    kept = [0 if size == 1 and goal != 1 else stride for size, stride, goal in zip(sizes, strides, target)]
    return (0,) * lead + tuple(kept)


# %% [markdown]
# ## 02.3 Which dtype: predict
#
# Before you run anything, write the dtype of each result, as a string such as `"float32"`. The tensors are
# `i = torch.tensor([1, 2])`, `b = torch.tensor([True, False])`, `h = torch.ones(2, dtype=torch.float16)`,
# `u = torch.ones(2, dtype=torch.uint8)` and `d = torch.tensor(1.0, dtype=torch.float64)`, which has no dimensions.

# %% tags=["stub"]
dtypes = {
    "i + 1": ...,
    "i + 1.5": ...,
    "i / 2": ...,
    "b + b": ...,
    "b + 1": ...,
    "h * 2.5": ...,
    "h * i": ...,
    "h * d": ...,
    "u * i": ...,
    "u.sum()": ...,
    "i > 1.5": ...,
}

# %% tags=["solution"]
dtypes = {
    "i + 1": "int64",
    "i + 1.5": "float32",
    "i / 2": "float32",
    "b + b": "bool",
    "b + 1": "int64",
    "h * 2.5": "float16",
    "h * i": "float16",
    "h * d": "float16",
    "u * i": "int64",
    "u.sum()": "int64",
    "i > 1.5": "bool",
}

# %%
check("02.3")

# %% tags=["wrong"] says="the default dtype"
dtypes = dtypes | {"i + 1.5": "float64"}

# %% tags=["wrong"] says="A Python number never widens"
dtypes = dtypes | {"h * 2.5": "float32"}

# %% tags=["wrong"] says="no say in how wide"
dtypes = dtypes | {"h * i": "float32"}

# %% tags=["wrong"] says="has no dimensions, so it is weak"
dtypes = dtypes | {"h * d": "float64"}

# %% tags=["wrong"] says="add up in int64"
dtypes = dtypes | {"u.sum()": "uint8"}

# %% [markdown]
# ## 02.4 Find the bug: promote
#
# `promote` gets the operands of a pointwise op and gives the dtype they meet in. A tensor is a pair (dtype, number of
# dimensions); anything else is a Python number. It was reported that a half-precision model computes in float64 from
# the first line on that divides by a 0-d tensor, and that `[1, 2] * 2.5` comes out as integers. Repair both. What it gets
# right must stay right. (`torch.promote_types(a, b)` is the table of lesson 02; `category` is 0 for bool, 1 for integers,
# 2 for floats.)


# %%
def category(dtype: torch.dtype) -> int:
    """0 for bool, 1 for integers, 2 for floats."""
    return 2 if dtype.is_floating_point else 0 if dtype is torch.bool else 1


# %% tags=["stub"]
def promote(*operands) -> torch.dtype:
    """The dtype in which the operands meet."""
    python = {bool: torch.bool, int: torch.int64, float: torch.float32}
    result = None
    for operand in operands:
        dtype = operand[0] if isinstance(operand, tuple) else python[type(operand)]
        if result is None:
            result = dtype
        elif isinstance(operand, tuple):
            result = torch.promote_types(result, dtype)
    return result


# %% tags=["solution"]
def promote(*operands) -> torch.dtype:
    """The dtype in which the operands meet."""
    python = {bool: torch.bool, int: torch.int64, float: torch.float32}
    groups = [None, None, None]  # tensors with dimensions, without, Python numbers
    for operand in operands:
        is_tensor = isinstance(operand, tuple)
        dtype = operand[0] if is_tensor else python[type(operand)]
        group = 2 if not is_tensor else 1 if operand[1] == 0 else 0
        groups[group] = dtype if groups[group] is None else torch.promote_types(groups[group], dtype)
    result = None
    for dtype in groups:
        if dtype is not None and (result is None or category(dtype) > category(result)):
            result = dtype
    return result


# %%
check("02.4")


# %% tags=["wrong"] says="Python numbers and tensors are one group to you"
def promote(*operands):
    python = {bool: torch.bool, int: torch.int64, float: torch.float32}
    result = None
    for operand in operands:
        dtype = operand[0] if isinstance(operand, tuple) else python[type(operand)]
        result = dtype if result is None else torch.promote_types(result, dtype)
    return result


# %% tags=["wrong"] says="You sorted out the Python numbers"
def promote(*operands):
    python = {bool: torch.bool, int: torch.int64, float: torch.float32}
    result = None
    for operand in operands:
        if isinstance(operand, tuple):
            result = operand[0] if result is None else torch.promote_types(result, operand[0])
    for operand in operands:
        if not isinstance(operand, tuple):
            dtype = python[type(operand)]
            if result is None or category(dtype) > category(result):
                result = dtype
    return result


# %% tags=["wrong"] says="A weaker group still decides the category"
def promote(*operands):
    python = {bool: torch.bool, int: torch.int64, float: torch.float32}
    groups = [[], [], []]
    for operand in operands:
        is_tensor = isinstance(operand, tuple)
        group = 2 if not is_tensor else 1 if operand[1] == 0 else 0
        groups[group].append(operand[0] if is_tensor else python[type(operand)])
    strongest = next(group for group in groups if group)
    result = strongest[0]
    for dtype in strongest[1:]:
        result = torch.promote_types(result, dtype)
    return result


# %% [markdown]
# ## 02.5 Weigh a program without running it
#
# Write an interpreter that adds up how many bytes a program's results take. `Bytes().process(op, args, kwargs)` is called
# for each op; it must return what the op returns. Views don't count, since they share their storage: their `op.kind` is
# `"view"`. A tensor `x` takes `x.numel() * x.element_size()` bytes; an op may also return a tuple of tensors. The total
# stands in the attribute `total`. Since interpreters never touch numbers, you can weigh programs that don't fit into your
# machine.


# %%
class Bytes:
    """Adds up the bytes of all results that are not views."""

    def __init__(self):
        self.total = 0

    def process(self, op, args, kwargs):
        ### BEGIN SOLUTION
        result = op(*args, **kwargs)
        if op.kind != "view":
            for x in result if isinstance(result, tuple) else (result,):
                self.total += x.numel() * x.element_size()
        return result
        ### END SOLUTION


# %%
check("02.5")


# %% tags=["wrong"] says="You counted the views"
class Bytes:
    def __init__(self):
        self.total = 0

    def process(self, op, args, kwargs):
        result = op(*args, **kwargs)
        for x in result if isinstance(result, tuple) else (result,):
            self.total += x.numel() * x.element_size()
        return result


# %% tags=["wrong"] says="the program went on with None"
class Bytes:
    def __init__(self):
        self.total = 0

    def process(self, op, args, kwargs):
        result = op(*args, **kwargs)
        if op.kind != "view":
            for x in result if isinstance(result, tuple) else (result,):
                self.total += x.numel() * x.element_size()


# %% tags=["wrong"] says="You counted elements"
class Bytes:
    def __init__(self):
        self.total = 0

    def process(self, op, args, kwargs):
        result = op(*args, **kwargs)
        if op.kind != "view":
            for x in result if isinstance(result, tuple) else (result,):
                self.total += x.numel()
        return result


# %% tags=["wrong"] says="Some ops return several tensors"
class Bytes:
    def __init__(self):
        self.total = 0

    def process(self, op, args, kwargs):
        result = op(*args, **kwargs)
        if op.kind != "view" and not isinstance(result, tuple):
            self.total += result.numel() * result.element_size()
        return result


# %% [markdown]
# ## 02.6 Distances under par
#
# Two sets of points, `x` of sizes (n, d) and `y` of sizes (m, d). Give the squared distance of each x to each y, sizes
# (n, m). The obvious way stretches both to (n, m, d) and subtracts:
#
#     ((x[:, None, :] - y[None, :, :]) ** 2).sum(2)
#
# For 1,000 by 1,000 points in 100 dimensions that makes 400 megabytes, twice. Write it so that no tensor you make is larger
# than the result. Par is the bytes of the answer itself for your largest tensor. (Multiply out (x - y)(x - y).)


# %%
def distances(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The squared distance of each row of x to each row of y."""
    ### BEGIN SOLUTION
    xx = (x * x).sum(1, keepdim=True)
    yy = (y * y).sum(1)
    return xx + yy - 2 * (x @ y.T)
    ### END SOLUTION


# %%
check("02.6")


# %% tags=["wrong"] says="Broadcasting to three dimensions"
def distances(x, y):
    return ((x[:, None, :] - y[None, :, :]) ** 2).sum(2)


# %% tags=["wrong"] says="the sums of squares meet along the wrong dimension"
def distances(x, y):
    return (x * x).sum(1) + (y * y).sum(1, keepdim=True) - 2 * (x @ y.T)


# %% tags=["wrong"] says="twice the product"
def distances(x, y):
    return (x * x).sum(1, keepdim=True) + (y * y).sum(1) - x @ y.T


# %% tags=["wrong"] says="the squared distance, not the distance"
def distances(x, y):
    return ((x * x).sum(1, keepdim=True) + (y * y).sum(1) - 2 * (x @ y.T)).clamp(min=0).sqrt()
