"""Lesson 02. Ops: what each computes, the shape of its result, and the stack of layers that sees every call first.

>>> x = tensor([[1.0, 2.0], [3.0, 4.0]])
>>> (x + 1).relu().sum(dim=1)
tensor([5.0, 9.0])
>>> add.shape(x, fake((3, 1, 1), np.int64))               # sizes and dtype, without computing
((3, 2, 2), dtype('float32'))
"""

from functools import reduce
from itertools import accumulate

import numpy as np
from mini.tensor import Layout, Storage, Tensor, broadcast_sizes, ensure, fake, from_numpy, numel, tensor, wrap  # noqa: F401

# --- dispatch: an op goes down through the layers (tracers, transforms, the tape) to its kernel -----------------------

STACK = []


class Layer:
    """Its `call(op, args)` sees each call of an op while it is entered. What it calls itself only layers below it see."""

    position = None  # None: on top of the stack; 0: below all others

    def __enter__(self):
        STACK.insert(len(STACK) if self.position is None else self.position, self)
        return self

    def __exit__(self, *error):
        STACK.remove(self)


# %% 02.2 ops, and the stack of layers
class Op:
    """A name, a kernel over NumPy arrays, and `shape`: a rule for the result's sizes and dtype, most often its family's."""

    def __init__(self, name, kernel, **facts):
        vars(self).update(name=name, kernel=kernel, **facts)

    def __call__(self, *args):
        """The highest layer is asked, with only those below it in place; without a layer the op runs."""
        if not STACK:
            return self.run(*args)
        layer = STACK.pop()
        try:
            return layer.call(self, args)
        finally:
            STACK.append(layer)

    def run(self, *args):
        """The bottom. A fake begets fakes; numbers are computed."""
        sizes, dtype = self.shape(*args)
        if any(isinstance(arg, Tensor) and arg.is_fake for arg in args):
            return fake(sizes, dtype)
        with np.errstate(all="ignore"):  # 1 / 0 is inf, and no reason for a warning
            result = self.kernel(*[arg.numpy() if isinstance(arg, Tensor) else arg for arg in args])
            return from_numpy(np.asarray(result, dtype, order="C"))

    def __repr__(self):
        return self.name


# %% 02.3 promotion
def promote(*values):
    """The dtype of a result: floats before integers before booleans, tensors before plain numbers of their kind.

    >>> promote(fake((), np.int64), 2.5), promote(fake((2,), np.float32), 3), promote(True, 2)
    (dtype('float32'), dtype('float32'), dtype('int64'))
    """
    strong = [value.dtype for value in values if isinstance(value, Tensor)]
    kinds = [np.asarray(value).dtype.kind for value in values if not isinstance(value, Tensor)]
    weak = [np.dtype({"b": np.bool_, "f": np.float32}.get(kind, np.int64)) for kind in kinds]
    best = [max(dtypes, key=rank) for dtypes in (strong, weak) if dtypes]
    return best[-1] if rank(best[-1])[0] > rank(best[0])[0] else best[0]


def rank(dtype):
    """Its kind, then its width."""
    return {"b": 0, "u": 1, "i": 1, "f": 2}[dtype.kind], dtype.itemsize


# --- families: the shape rule is written once for all ops of a family -------------------------------------------------


# %% 02.4 pointwise ops
class Pointwise(Op):
    """Element by element, broadcast. `dtype`: the result's, else the arguments' promoted; `floats`: at least float32."""

    dtype, floats = None, False

    def shape(self, *args):
        sizes = broadcast_sizes(*[arg.sizes if isinstance(arg, Tensor) else () for arg in args])
        dtype = np.dtype(self.dtype or promote(*args[1:] if self is where else args))  # its condition is no value
        return sizes, np.dtype(np.float32) if self.floats and dtype.kind != "f" else dtype


add = Pointwise("add", np.add)
sub = Pointwise("sub", np.subtract)
mul = Pointwise("mul", np.multiply)
div = Pointwise("div", np.true_divide, floats=True)
neg = Pointwise("neg", np.negative)
FLOATS = (np.exp, np.log, np.sqrt, np.tanh, np.sin, np.cos)
exp, log, sqrt, tanh, sin, cos = [Pointwise(kernel.__name__, kernel, floats=True) for kernel in FLOATS]
sigmoid = Pointwise("sigmoid", lambda x: 1 / (1 + np.exp(-x)), floats=True)
relu = Pointwise("relu", lambda x: np.maximum(x, 0))
maximum = Pointwise("maximum", np.maximum)
eq = Pointwise("eq", np.equal, dtype=np.bool_)
lt = Pointwise("lt", np.less, dtype=np.bool_)
where = Pointwise("where", np.where)
clone = Pointwise("clone", np.copy)
detach = Pointwise("detach", np.copy)  # has no derivative: to a gradient it is a number like any other


# %% 02.5 reductions and products
class Reduction(Op):
    """Over some dimensions, given as a tuple; each leaves size 1, or nothing."""

    def shape(self, x, dims, keepdim):
        sizes = tuple(1 if d in dims else n for d, n in enumerate(x.sizes) if keepdim or d not in dims)
        return sizes, np.dtype(np.int64) if self is sum_ and x.dtype.kind != "f" else x.dtype


class Product(Op):
    """Matrix products of the last two dimensions, the others broadcast."""

    def shape(self, x, y):
        if x.dim() < 2 or y.dim() < 2 or x.sizes[-1] != y.sizes[-2]:
            raise RuntimeError(f"matmul: {x.sizes} and {y.sizes}: two dimensions each, and equal inner sizes")
        return broadcast_sizes(x.sizes[:-2], y.sizes[:-2]) + (x.sizes[-2], y.sizes[-1]), promote(x, y)


sum_ = Reduction("sum", lambda x, dims, keepdim: x.sum(dims, keepdims=keepdim))
amax = Reduction("amax", lambda x, dims, keepdim: x.max(dims, keepdims=keepdim))
matmul = Product("matmul", np.matmul)


# %% 02.6 views and writes
class View(Op):
    """Another layout of the same storage. The kernel computes the layout."""

    def run(self, x, *args):
        layout = self.kernel(x.layout, *args)
        ensure(layout, f"{self} of sizes {x.sizes}, strides {x.strides} to {args} needs a copy: use reshape")
        return Tensor(x.storage, layout)


class Write(Op):
    """Writes into its first argument and returns it."""

    def run(self, x, y):
        ensure(broadcast_sizes(x.sizes, y.sizes) == x.sizes, f"{y.sizes} does not fit into {x.sizes}")
        x.storage.version += 1
        if not x.is_fake:
            np.copyto(x.numpy(), y.numpy(), casting="unsafe")
        return x


view = View("view", Layout.view)
permute = View("permute", Layout.permute)
expand = View("expand", Layout.expand)
slice_ = View("slice", Layout.narrow)
copy_ = Write("copy_", None)


# %% given
class Factory(Op):
    """Makes a tensor of numbers."""

    def shape(self, sizes, value, dtype):
        return tuple(sizes), np.dtype(dtype)


def padded(x, dim, size, start, step):
    return x.shape[:dim] + (size,) + x.shape[dim + 1 :], x.dtype


def pad(array, dim, size, start, step):
    """What a slice took, put back among zeros."""
    result = np.zeros(*padded(array, dim, size, start, step))
    result[(slice(None),) * dim + (slice(start, start + step * array.shape[dim], step),)] = array
    return result


full = Factory("full", lambda sizes, value, dtype: np.full(sizes, value, dtype))
iota = Factory("iota", lambda sizes, value, dtype: np.arange(sizes[0], dtype=dtype) + value)
to_ = Pointwise("to", lambda x, dtype: x.astype(dtype), shape=lambda x, dtype: (x.sizes, np.dtype(dtype)))
regroup = Op("regroup", lambda x, sizes: x.reshape(sizes).copy(), shape=lambda x, sizes: (sizes, x.dtype))
slice_backward = Op("slice_backward", pad, shape=padded)

OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}


# --- what users call: arguments as PyTorch takes them, made into the ops' own -----------------------------------------


# %% 02.7 dimensions and sizes as users give them
def all_dims(x, dim):
    """A number, some numbers, or None for all: as a tuple, counted from the front."""
    dims = range(x.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    return tuple([wrap(d, x.dim()) for d in dims])


def over(op):
    """x.sum(dim, keepdim) from the op."""
    return lambda x, dim=None, keepdim=False: op(x, all_dims(x, dim), keepdim)


sum, max_over = over(sum_), over(amax)


def mean(x, dim=None, keepdim=False):
    return sum(x, dim, keepdim) / numel([x.sizes[d] for d in all_dims(x, dim)])


def transpose(x, a, b):
    dims = list(range(x.dim()))
    dims[a], dims[b] = dims[b], dims[a]
    return permute(x, tuple(dims))


def reshape(x, *sizes):
    """A view where strides allow it, else a view of a copy. Sizes one by one or as a tuple; one may be -1: the rest."""
    sizes = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if -1 in sizes:
        known = numel([n for n in sizes if n != -1])
        ensure(known, f"reshape to {sizes}: with a size of 0, -1 can be any number")
        sizes = tuple([x.numel() // known if n == -1 else n for n in sizes])
    return view(x if x.layout.view(sizes) else clone(x), sizes)


# %% 02.8 indexing
def getitem(x, key):
    """Numbers, slices, None and ... as NumPy reads them."""
    key = key if isinstance(key, tuple) else (key,)
    at = key.index(Ellipsis) if Ellipsis in key else len(key)  # here are the dimensions that the key does not name
    missing = x.dim() - len([k for k in key if k is not None and k is not Ellipsis])
    dim, sizes = 0, []
    for k in key[:at] + (slice(None),) * missing + key[at + 1 :]:
        if k is None:
            sizes.append(1)
            continue
        if k != slice(None):  # of all of a dimension nothing is asked, also not its size
            size = x.sizes[dim]
            start, stop, step = k.indices(size) if isinstance(k, slice) else (wrap(k, size), wrap(k, size) + 1, 1)
            ensure(step > 0, "step must be greater than zero", ValueError)
            x = slice_(x, dim, start, stop, step) if (start, stop, step) != (0, size, 1) else x
        sizes += [x.sizes[dim]] * isinstance(k, slice)
        dim += 1
    return x if x.sizes == tuple(sizes) else view(x, tuple(sizes))


def setitem(x, key, value):
    copy_(getitem(x, key), value if isinstance(value, Tensor) else full((), value, x.dtype))


# %% 02.9 ops made of ops
def cat(tensors, dim=0):
    """Each part among zeros, added up: no new op, so nothing new to derive or to lower."""
    dim = wrap(dim, tensors[0].dim())
    starts = [0, *accumulate([t.sizes[dim] for t in tensors])]
    parts = [slice_backward(t, dim, starts[-1], start, 1) for t, start in zip(tensors, starts, strict=False)]
    return reduce(add, parts)


def power(x, n):
    """x * x * ... * x."""
    ensure(type(n) is int and n > 0, f"x ** {n}: only 1, 2, 3, ...", NotImplementedError)
    return x if n == 1 else power(x, n - 1) * x


def gelu(x):
    """x times about the share of a normal distribution that lies below x (Hendrycks and Gimpel, 2016)."""
    return x * sigmoid(1.5957691216 * (x + 0.044715 * x**3))


def log_softmax(x, dim):
    """log(softmax). The greatest becomes 0 first, so that exp can't overflow; which number is subtracted changes nothing."""
    x = x - detach(max_over(x, dim, True))
    return x - log(sum(exp(x), dim, True))


def softmax(x, dim):
    return exp(log_softmax(x, dim))


def in_place(op):
    """x.add_(y) from add."""
    return lambda x, y: copy_(x, op(x, y))


# %% given
def to(x, dtype):
    return x if x.dtype == dtype else to_(x, dtype)


def expand_to(x, sizes):
    return x if x.sizes == tuple(sizes) else expand(x, tuple(sizes))


SAME = "eq exp log sqrt tanh sin cos sigmoid relu maximum clone to softmax log_softmax sum mean reshape transpose copy_"
METHODS = {name: globals()[name] for name in SAME.split()} | {
    "__add__": add, "__radd__": add, "__sub__": sub, "__rsub__": lambda x, y: sub(y, x), "__mul__": mul, "__rmul__": mul,
    "__truediv__": div, "__rtruediv__": lambda x, y: div(y, x), "__neg__": neg, "__matmul__": matmul, "__pow__": power,
    "__lt__": lt, "__gt__": lambda x, y: lt(y, x), "__getitem__": getitem, "__setitem__": setitem, "amax": max_over,
    "add_": in_place(add), "sub_": in_place(sub), "mul_": in_place(mul), "__iadd__": in_place(add),
    "view": lambda x, *sizes: view(x, sizes), "expand": lambda x, *sizes: expand(x, sizes),
    "permute": lambda x, *dims: permute(x, all_dims(x, dims)), "t": lambda x: transpose(x, 0, 1),
    "dim": lambda x: len(x.sizes), "numel": lambda x: numel(x.sizes), "__len__": lambda x: x.sizes[0],
    "__bool__": lambda x: bool(x.item()), "__float__": lambda x: float(x.item()),
}  # fmt: skip
for name, method in METHODS.items():
    setattr(Tensor, name, (lambda f: lambda *args, **kwargs: f(*args, **kwargs))(method))  # an Op alone would not bind
