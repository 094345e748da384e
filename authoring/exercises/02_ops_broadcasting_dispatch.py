# %% [markdown]
# # 02 Exercises: ops, broadcasting, promotion, dispatch
#
# Nine exercises, two hours and three quarters: one about ops, a quarter of an hour, and eight steps of your own
# `mini/ops.py`, two hours and a half. Each is a sentence, a signature, an example and a check. Write your answer in
# place of the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("02.1")` gives
# the first of three hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress

# %% [markdown]
# ## 02.1 Distances under par
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
check("02.1")


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


# %% [markdown]
# ## Your own stack: `mini/ops.py`
#
# The second file: every operation of your stack, and the door that all calls go through. It imports your
# `mini/tensor.py`, and everything that comes later imports it: tracer, tape and transforms are *layers* on the stack that
# begins here. Its grown-up version is `minitorch_compile/tensor/dispatch/` with the rows of `tensor/ops/`.

# %% [markdown]
# ## 02.2 Ops, and the stack of layers
#
# An op has a name, a kernel, and whatever else is said of it by keyword. `shape(*args)` gives sizes and dtype of the result: it
# comes from its family, a subclass, or is one of these facts.
# A call goes through the stack. `STACK[-1]` is the highest layer. It is asked by `layer.call(op, args)`, and its answer is
# the call's. While it answers it isn't on the stack: what it calls itself is for the layers below. Afterwards it is back,
# also if there was an error. Without a layer the op runs: `run` gives a fake if any argument is one, otherwise it gives
# the kernel arrays in place of tensors, and makes a tensor of the result, of the promised dtype. `1 / 0` is inf, without a
# warning.

# %% step="02.2"
class Op:
    """A name, a kernel over NumPy arrays, and `shape`: a rule for the result's sizes and dtype, most often its family's."""

    def __init__(self, name, kernel, **facts):
        vars(self).update(name=name, kernel=kernel, **facts)

    def __call__(self, *args):
        """The highest layer is asked, with only those below it in place; without a layer the op runs."""

    def run(self, *args):
        """The bottom. A fake begets fakes; numbers are computed."""

    def __repr__(self):
        return self.name


# %%
check("02.2")

# %% tags=["wrong"] step="02.2" says="Whatever facts are given become attributes"
# - vars(self).update(name=name, kernel=kernel, **facts)
# + self.name, self.kernel = name, kernel

# %% tags=["wrong"] step="02.2" says="A layer that calls the op again is asked again"
# -         layer = STACK.pop()
# -         try:
# -             return layer.call(self, args)
# -         finally:
# -             STACK.append(layer)
# +         return STACK[-1].call(self, args)

# %% tags=["wrong"] step="02.2" says="An op that fails must not take a layer with it"
# -         try:
# -             return layer.call(self, args)
# -         finally:
# -             STACK.append(layer)
# +         result = layer.call(self, args)
# +         STACK.append(layer)
# +         return result

# %% tags=["wrong"] step="02.2" says="The lowest layer was asked first"
# -         layer = STACK.pop()
# -         try:
# -             return layer.call(self, args)
# -         finally:
# -             STACK.append(layer)
# +         layer = STACK.pop(0)
# +         try:
# +             return layer.call(self, args)
# +         finally:
# +             STACK.insert(0, layer)

# %% tags=["wrong"] step="02.2" says="No layer was asked"
# -         if not STACK:
# -             return self.run(*args)
# -         layer = STACK.pop()
# -         try:
# -             return layer.call(self, args)
# -         finally:
# -             STACK.append(layer)
# +         return self.run(*args)

# %% tags=["wrong"] step="02.2" says="A fake has no numbers for a kernel"
# -         if any(isinstance(arg, Tensor) and arg.is_fake for arg in args):
# -             return fake(sizes, dtype)

# %% tags=["wrong"] step="02.2" says="The result has the dtype that op.shape promised"
# -             return from_numpy(np.asarray(result, dtype, order="C"))
# +             return from_numpy(np.asarray(result, order="C"))

# %% tags=["wrong"] step="02.2" says="The kernel works on NumPy's arrays"
# -             result = self.kernel(*[arg.numpy() if isinstance(arg, Tensor) else arg for arg in args])
# +             result = self.kernel(*args)

# %% tags=["wrong"] step="02.2" says="NumPy warns, PyTorch doesn't"
# -         with np.errstate(all="ignore"):  # 1 / 0 is inf, and no reason for a warning
# -             result = self.kernel(*[arg.numpy() if isinstance(arg, Tensor) else arg for arg in args])
# -             return from_numpy(np.asarray(result, dtype, order="C"))
# +         result = self.kernel(*[arg.numpy() if isinstance(arg, Tensor) else arg for arg in args])
# +         return from_numpy(np.asarray(result, dtype, order="C"))

# %% [markdown]
# ## 02.3 Promotion
#
# The dtype of a result, from any number of tensors and plain numbers. Kinds are ordered: bools, integers (signed or not),
# floats. The widest tensor of the highest kind decides. A plain number has no width to insist on: only if its kind is
# higher than that of all tensors, or if there are none, it decides, and then True is a bool, an integer an int64, a float
# a float32 (also one of NumPy's). PyTorch also puts tensors without dimensions between the two; `mini` does not.

# %% step="02.3"
def promote(*values):
    """The dtype of a result: floats before integers before booleans, tensors before plain numbers of their kind.

    >>> promote(fake((), np.int64), 2.5), promote(fake((2,), np.float32), 3), promote(True, 2)
    (dtype('float32'), dtype('float32'), dtype('int64'))
    """


def rank(dtype):
    """Its kind, then its width."""


# %%
check("02.3")

# %% tags=["wrong"] step="02.3" says="names no width"
# -     weak = [np.dtype({"b": np.bool_, "f": np.float32}.get(kind, np.int64)) for kind in kinds]
# +     weak = [np.dtype({"b": np.bool_, "f": np.float64}.get(kind, np.int64)) for kind in kinds]

# %% tags=["wrong"] step="02.3" says="it has no width to insist on"
# -     return best[-1] if rank(best[-1])[0] > rank(best[0])[0] else best[0]
# +     return best[-1] if rank(best[-1]) > rank(best[0]) else best[0]

# %% tags=["wrong"] step="02.3" says="lifts the result to its kind"
# -     return best[-1] if rank(best[-1])[0] > rank(best[0])[0] else best[0]
# +     return best[0]

# %% tags=["wrong"] step="02.3" says="Width decides only between dtypes of one kind"
# -     return {"b": 0, "u": 1, "i": 1, "f": 2}[dtype.kind], dtype.itemsize
# +     return dtype.itemsize, {"b": 0, "u": 1, "i": 1, "f": 2}[dtype.kind]

# %% tags=["wrong"] step="02.3" says="Signed or not, both are integers"
# -     return {"b": 0, "u": 1, "i": 1, "f": 2}[dtype.kind], dtype.itemsize
# +     return {"b": 0, "i": 1, "u": 2, "f": 3}[dtype.kind], dtype.itemsize

# %% tags=["wrong"] step="02.3" says="the wider one comes out"
# -     best = [max(dtypes, key=rank) for dtypes in (strong, weak) if dtypes]
# +     best = [max(dtypes, key=lambda dtype: rank(dtype)[0]) for dtypes in (strong, weak) if dtypes]

# %% [markdown]
# ## 02.4 Pointwise ops
#
# The first family, and a row for each of its ops. `dtype` is the result's, if the row knows it (comparisons give bools).
# Otherwise it is what `promote` says of the arguments; with `floats` integers and bools then become float32. All tensors
# among the arguments broadcast, a plain number has sizes `()`. The condition of `where` broadcasts, too, but has no say in
# the dtype. The rows: add, sub, mul, div, neg, exp, log, sqrt, tanh, sin, cos, sigmoid, relu, maximum, eq, lt, where, clone
# and detach (two copies; of the second, lesson 08 will know no derivative), each with a NumPy function or a lambda as its
# kernel. A few are written for you.

# %% step="02.4"
class Pointwise(Op):
    """Element by element, broadcast. `dtype`: the result's, else the arguments' promoted; `floats`: at least float32."""

    dtype, floats = None, False

    def shape(self, *args):
        """Sizes and dtype of the result."""


add = Pointwise("add", np.add)
exp = Pointwise("exp", np.exp, floats=True)
eq = Pointwise("eq", np.equal, dtype=np.bool_)
# sub, mul, div, neg, log, sqrt, tanh, sin, cos, sigmoid, relu, maximum, lt, where, clone, detach


# %%
check("02.4")

# %% tags=["wrong"] step="02.4" says="lesson 08 derives the one only"
# - detach = Pointwise("detach", np.copy)  # has no derivative: to a gradient it is a number like any other
# + detach = clone

# %% tags=["wrong"] step="02.4" says="for -inf * 0 is NaN"
# - relu = Pointwise("relu", lambda x: np.maximum(x, 0))
# + relu = Pointwise("relu", lambda x: x * (x > 0))

# %% tags=["wrong"] step="02.4" says="Some ops have no integer results"
# - div = Pointwise("div", np.true_divide, floats=True)
# + div = Pointwise("div", np.true_divide)

# %% tags=["wrong"] step="02.4" says="float64 is a float already"
# -         return sizes, np.dtype(np.float32) if self.floats and dtype.kind != "f" else dtype
# +         return sizes, np.dtype(np.float32) if self.floats else dtype

# %% tags=["wrong"] step="02.4" says="its row says dtype=np.bool_"
# - lt = Pointwise("lt", np.less, dtype=np.bool_)
# + lt = Pointwise("lt", np.less)

# %% tags=["wrong"] step="02.4" says="relu keeps what is above 0"
# - relu = Pointwise("relu", lambda x: np.maximum(x, 0))
# + relu = Pointwise("relu", lambda x: np.minimum(x, 0))

# %% tags=["wrong"] step="02.4" says="its operands are exchanged"
# - sub = Pointwise("sub", np.subtract)
# + sub = Pointwise("sub", lambda x, y: y - x)

# %% tags=["wrong"] step="02.4" says="not those of the first one"
# -         sizes = broadcast_sizes(*[arg.sizes if isinstance(arg, Tensor) else () for arg in args])
# +         sizes = args[0].sizes

# %% tags=["wrong"] step="02.4" says="has no say in its dtype"
# -         dtype = np.dtype(self.dtype or promote(*args[1:] if self is where else args))  # its condition is no value
# +         dtype = np.dtype(self.dtype or promote(*args))

# %% tags=["wrong"] step="02.4" says="clone copies"
# - clone = Pointwise("clone", np.copy)
# + clone = Pointwise("clone", np.asarray)

# %% [markdown]
# ## 02.5 Reductions and products
#
# Ops in which the elements of a dimension meet. A `Reduction` is called with a tuple of dimensions and with `keepdim`: each
# becomes 1, or is left out; `sum` of what is no float gives int64. A `Product` multiplies matrices in the last
# two dimensions, and what is in front of them broadcasts. Unequal inner sizes, or less than two dimensions, are a
# `RuntimeError`. The rows are `sum_`, `amax` and `matmul`; their names are without underscores.

# %% step="02.5"
class Reduction(Op):
    """Over some dimensions, given as a tuple; each leaves size 1, or nothing."""

    def shape(self, x, dims, keepdim):
        """Sizes and dtype of the result."""


class Product(Op):
    """Matrix products of the last two dimensions, the others broadcast."""

    def shape(self, x, y):
        """Sizes and dtype of the result."""


sum_ = Reduction("sum", lambda x, dims, keepdim: x.sum(dims, keepdims=keepdim))
# amax, matmul


# %%
check("02.5")

# %% tags=["wrong"] step="02.5" says="With keepdim a reduced dimension stays"
# -         sizes = tuple(1 if d in dims else n for d, n in enumerate(x.sizes) if keepdim or d not in dims)
# +         sizes = tuple(n for d, n in enumerate(x.sizes) if d not in dims)

# %% tags=["wrong"] step="02.5" says="Without keepdim it is left out"
# -         sizes = tuple(1 if d in dims else n for d, n in enumerate(x.sizes) if keepdim or d not in dims)
# +         sizes = tuple(1 if d in dims else n for d, n in enumerate(x.sizes))

# %% tags=["wrong"] step="02.5" says="A sum of bools counts"
# -         return sizes, np.dtype(np.int64) if self is sum_ and x.dtype.kind != "f" else x.dtype
# +         return sizes, x.dtype

# %% tags=["wrong"] step="02.5" says="which dimensions, and whether they stay"
# - amax = Reduction("amax", lambda x, dims, keepdim: x.max(dims, keepdims=keepdim))
# + amax = Reduction("amax", lambda x, dims, keepdim: x.max(dims[:1], keepdims=keepdim))

# %% tags=["wrong"] step="02.5" says="The columns of x meet the rows of y"
# -         if x.dim() < 2 or y.dim() < 2 or x.sizes[-1] != y.sizes[-2]:
# -             raise RuntimeError(f"matmul: {x.sizes} and {y.sizes}: two dimensions each, and equal inner sizes")

# %% tags=["wrong"] step="02.5" says="what stands in front of these two dimensions broadcasts"
# -         return broadcast_sizes(x.sizes[:-2], y.sizes[:-2]) + (x.sizes[-2], y.sizes[-1]), promote(x, y)
# +         return x.sizes[:-1] + (y.sizes[-1],), promote(x, y)

# %% tags=["wrong"] step="02.5" says="The dtype of a product is promoted, too"
# -         return broadcast_sizes(x.sizes[:-2], y.sizes[:-2]) + (x.sizes[-2], y.sizes[-1]), promote(x, y)
# +         return broadcast_sizes(x.sizes[:-2], y.sizes[:-2]) + (x.sizes[-2], y.sizes[-1]), x.dtype

# %% [markdown]
# ## 02.6 Views and writes
#
# Two families that replace `run`. The kernel of a `View` is a method of `Layout`: it gets the tensor's layout, and the
# result is the same storage under the layout it gives; if that is `None`, a `RuntimeError` says that a copy is needed.
# A `Write` changes its first argument's memory to the second's numbers, stretched to its sizes, and returns the first
# argument. What doesn't fit is a `RuntimeError`. It counts `storage.version` up, so that others can see that something
# happened, and it does no more than that to a fake. The rows: `view`, `permute`, `expand`, `slice_` (named slice;
# `Layout.narrow`), and `copy_`, whose kernel is None.

# %% step="02.6"
class View(Op):
    """Another layout of the same storage. The kernel computes the layout."""

    def run(self, x, *args):
        """A tensor on x's storage."""


class Write(Op):
    """Writes into its first argument and returns it."""

    def run(self, x, y):
        """x, after y was written into it."""


view = View("view", Layout.view)
copy_ = Write("copy_", None)
# permute, expand, slice_


# %%
check("02.6")

# %% tags=["wrong"] step="02.6" says="The same storage must be under both"
# -         return Tensor(x.storage, layout)
# +         return Tensor(Storage(x.storage.data, x.dtype), layout)

# %% tags=["wrong"] step="02.6" says="Layout.view gave None"
# -         ensure(layout, f"{self} of sizes {x.sizes}, strides {x.strides} to {args} needs a copy: use reshape")
# -         return Tensor(x.storage, layout)
# +         return Tensor(x.storage, layout or x.layout)

# %% tags=["wrong"] step="02.6" says="Count each write"
# -         x.storage.version += 1
# -         if not x.is_fake:
# -             np.copyto(x.numpy(), y.numpy(), casting="unsafe")
# +         if not x.is_fake:
# +             x.storage.version += 1
# +             np.copyto(x.numpy(), y.numpy(), casting="unsafe")

# %% tags=["wrong"] step="02.6" says="A fake has no memory to write into"
# -         if not x.is_fake:
# -             np.copyto(x.numpy(), y.numpy(), casting="unsafe")
# +         np.copyto(x.numpy(), y.numpy(), casting="unsafe")

# %% tags=["wrong"] step="02.6" says="never the other way round"
# -         ensure(broadcast_sizes(x.sizes, y.sizes) == x.sizes, f"{y.sizes} does not fit into {x.sizes}")
# +         broadcast_sizes(x.sizes, y.sizes)

# %% tags=["wrong"] step="02.6" says="What is written takes the dtype of the place"
# -             np.copyto(x.numpy(), y.numpy(), casting="unsafe")
# +             np.copyto(x.numpy(), y.numpy())

# %% tags=["wrong"] step="02.6" says="Look at the sizes before you count"
# -         ensure(broadcast_sizes(x.sizes, y.sizes) == x.sizes, f"{y.sizes} does not fit into {x.sizes}")
# -         x.storage.version += 1
# +         x.storage.version += 1
# +         ensure(broadcast_sizes(x.sizes, y.sizes) == x.sizes, f"{y.sizes} does not fit into {x.sizes}")

# %% [markdown]
# ## 02.7 Dimensions and sizes as users give them
#
# The ops take one exact form of argument; these functions take what users write. `all_dims(x, dim)` gives the dimensions as
# a tuple, counted from the front: of an int, of several, of None (all). `over(op)` is a function of a
# tensor, `dim=None` and `keepdim=False` which uses it; `sum` and `max_over` are two of these, and `mean` uses `sum`. `transpose`
# exchanges two dimensions. `reshape` takes sizes one by one, or as one tuple or list; one may be -1, which stands for the
# rest (a `RuntimeError` if the others have a 0). It gives a view where strides allow it, otherwise a view of a clone.
# In this file the name `sum` is now your function.

# %% step="02.7"
def all_dims(x, dim):
    """A number, some numbers, or None for all: as a tuple, counted from the front."""


def over(op):
    """x.sum(dim, keepdim) from the op."""


sum, max_over = over(sum_), over(amax)


def mean(x, dim=None, keepdim=False):
    """The sum over these dimensions, divided by how many elements were added up."""


def transpose(x, a, b):
    """The op is permute."""


def reshape(x, *sizes):
    """A view where strides allow it, else a view of a copy. Sizes one by one or as a tuple; one may be -1: the rest."""


# %%
check("02.7")

# %% tags=["wrong"] step="02.7" says="A negative dimension counts from the end"
# -     return tuple([wrap(d, x.dim()) for d in dims])
# +     return tuple(dims)

# %% tags=["wrong"] step="02.7" says="None means all dimensions"
# -     dims = range(x.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
# +     dims = (0,) if dim is None else (dim,) if isinstance(dim, int) else dim

# %% tags=["wrong"] step="02.7" says="A mean divides by how many elements were added up"
# -     return sum(x, dim, keepdim) / numel([x.sizes[d] for d in all_dims(x, dim)])
# +     return sum(x, dim, keepdim) / x.numel()

# %% tags=["wrong"] step="02.7" says="Exchange two entries of the list"
# -     dims[a], dims[b] = dims[b], dims[a]
# +     dims[a], dims[b] = b, a

# %% tags=["wrong"] step="02.7" says="-1 stands for what is left"
# -         sizes = tuple([x.numel() // known if n == -1 else n for n in sizes])
# +         sizes = tuple([x.numel() if n == -1 else n for n in sizes])

# %% tags=["wrong"] step="02.7" says="-1 could be any number"
# -         ensure(known, f"reshape to {sizes}: with a size of 0, -1 can be any number")

# %% tags=["wrong"] step="02.7" says="A copy was made where strides would have done"
# -     return view(x if x.layout.view(sizes) else clone(x), sizes)
# +     return view(clone(x), sizes)

# %% tags=["wrong"] step="02.7" says="clone first, and view the clone"
# -     return view(x if x.layout.view(sizes) else clone(x), sizes)
# +     return view(x, sizes)

# %% [markdown]
# ## 02.8 Indexing
#
# `x[0, 1:, None, ...]` in two functions. A number names one element of a dimension, which is then left out; negative ones
# count from the end. A slice takes part of a dimension (a negative step is a `ValueError`). `None` adds a dimension of
# size 1. `...` stands for all the dimensions that the key doesn't name. All of it is views: `slice_` a dimension at a time,
# (none for `:`: in lesson 05 its size may be a formula), and one `view` at the end. So `setitem` has little left to do: write
# into the view. Its value is a tensor or a number.

# %% step="02.8"
def getitem(x, key):
    """Numbers, slices, None and ... as NumPy reads them."""


def setitem(x, key, value):
    """x[key] = value"""


# %%
check("02.8")

# %% tags=["wrong"] step="02.8" says="By float32 it loses digits"
# - copy_(getitem(x, key), value if isinstance(value, Tensor) else full((), value, x.dtype))
# + copy_(getitem(x, key), value if isinstance(value, Tensor) else tensor(value))

# %% tags=["wrong"] step="02.8" says="A negative number counts from the end"
# -         start, stop, step = k.indices(size) if isinstance(k, slice) else (wrap(k, size), wrap(k, size) + 1, 1)
# +         start, stop, step = k.indices(size) if isinstance(k, slice) else (k, k + 1, 1)

# %% tags=["wrong"] step="02.8" says="that dimension is left out"
# -         sizes += [x.sizes[dim]] * isinstance(k, slice)
# +         sizes += [x.sizes[dim]]

# %% tags=["wrong"] step="02.8" says="The third of slice.indices is the step"
# -             x = slice_(x, dim, start, stop, step) if (start, stop, step) != (0, size, 1) else x
# +             x = slice_(x, dim, start, stop) if (start, stop, step) != (0, size, 1) else x

# %% tags=["wrong"] step="02.8" says="no negative steps"
# -             ensure(step > 0, "step must be greater than zero", ValueError)

# %% tags=["wrong"] step="02.8" says="None uses up no dimension of x"
# -             sizes.append(1)
# +             sizes.append(1)
# +             dim += 1

# %% tags=["wrong"] step="02.8" says="don't count it for ..."
# -     missing = x.dim() - len([k for k in key if k is not None and k is not Ellipsis])
# +     missing = x.dim() - len([k for k in key if k is not Ellipsis and (k is not None or Ellipsis in key)])

# %% tags=["wrong"] step="02.8" says="no numbers are moved"
# -     return x if x.sizes == tuple(sizes) else view(x, tuple(sizes))
# +     return view(clone(x), tuple(sizes))

# %% tags=["wrong"] step="02.8" says="A number is made a tensor first"
# -     copy_(getitem(x, key), value if isinstance(value, Tensor) else full((), value, x.dtype))
# +     copy_(getitem(x, key), value)

# %% [markdown]
# ## 02.9 Ops made of ops
#
# Not everything needs a kernel. `cat` puts tensors side by side along a dimension: `slice_backward(t, dim, size, start, 1)`
# is t among zeros, in a dimension of that size, from `start` on; the parts are added up. (`accumulate` and `reduce`, of
# `itertools` and `functools`, are imported.) `power(x, n)` is repeated
# multiplication for n = 1, 2, 3, ...; all else is a `NotImplementedError`. `gelu` is
# x sigmoid(1.5957691216 (x + 0.044715 x^3)). `softmax` are the shares of a row that are proportional to exp(x), and
# `log_softmax` is its logarithm, x - log(sum(exp(x))) along `dim`; but exp(1000) is inf, and the shares are the same if one
# number is subtracted from the whole row. Take the greatest, `max_over(x, dim, True)`, and `detach` it: then a gradient
# takes it for a plain number. `in_place(op)` makes of `add` what `x.add_(y)` does, which returns x.
# Operators such as `+` and `**` already work on your tensors: the last lines of the file make methods of all functions.

# %% step="02.9"
def cat(tensors, dim=0):
    """Each part among zeros, added up: no new op, so nothing new to derive or to lower."""


def power(x, n):
    """x * x * ... * x."""


def gelu(x):
    """x times about the share of a normal distribution that lies below x (Hendrycks and Gimpel, 2016)."""


def log_softmax(x, dim):
    """log(softmax). The greatest becomes 0 first, so that exp can't overflow; which number is subtracted changes nothing."""


def softmax(x, dim):
    """The shares: along dim they add up to 1."""


def in_place(op):
    """x.add_(y) from add."""


# %%
check("02.9")

# %% tags=["wrong"] step="02.9" says="Each part begins where the one before it ends"
# -     parts = [slice_backward(t, dim, starts[-1], start, 1) for t, start in zip(tensors, starts, strict=False)]
# +     parts = [slice_backward(t, dim, starts[-1], 0, 1) for t in tensors]

# %% tags=["wrong"] step="02.9" says="slice_backward counts from the front"
# -     dim = wrap(dim, tensors[0].dim())

# %% tags=["wrong"] step="02.9" says="x ** n is x ** (n - 1) times x"
# -     return x if n == 1 else power(x, n - 1) * x
# +     return x if n == 1 else power(x, n - 1) * power(x, n - 1)

# %% tags=["wrong"] step="02.9" says="rather than go on for ever"
# -     ensure(type(n) is int and n > 0, f"x ** {n}: only 1, 2, 3, ...", NotImplementedError)

# %% tags=["wrong"] step="02.9" says="and 2 sqrt(2 / pi) is 1.5957691216"
# -     return x * sigmoid(1.5957691216 * (x + 0.044715 * x**3))
# +     return x * sigmoid(x + 0.044715 * x**3)

# %% tags=["wrong"] step="02.9" says="exp(1000) is inf"
# -     x = x - detach(max_over(x, dim, True))

# %% tags=["wrong"] step="02.9" says="The shares of one row add up to 1"
# -     return x - log(sum(exp(x), dim, True))
# +     return x - log(sum(exp(x)))

# %% tags=["wrong"] step="02.9" says="to a gradient it is a plain number"
# -     x = x - detach(max_over(x, dim, True))
# +     x = x - max_over(x, dim, True)

# %% tags=["wrong"] step="02.9" says="The result has to be written into x"
# -     return lambda x, y: copy_(x, op(x, y))
# +     return lambda x, y: x if op(x, y) is None else op(x, y)

# %% [markdown]
# A layer of three lines, on your own stack, watches your own ops:

# %%
if all(passed(f"02.{step}") for step in range(2, 10)):
    from mini.ops import Layer, gelu
    from mini.tensor import fake, tensor

    class Watch(Layer):
        def call(self, op, args):
            print("  watched:", op, *[getattr(arg, "sizes", arg) for arg in args])
            return op(*args)

    with Watch():
        print(gelu(tensor([-1.0, 0.0, 1.0])))
    print((fake((10**6, 10**6)) @ fake((10**6, 3))).sizes)

# %% [markdown]
# ## All of them
#
# How far you are, and the whole stack on your own parts: every answer that passes and has a place in the package.

# %%
progress("02")

# %%
with own_parts():
    print(torch.zeros(2, 1) + torch.arange(3))
