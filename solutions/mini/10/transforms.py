"""Lesson 10. Two layers more: one that carries a batch along unseen (vmap), one that carries a tangent along (jvp).

>>> x = tensor([[1.0, 2.0], [3.0, 4.0]])
>>> vmap(lambda row: row / row.sum())(x)                       # written for one row
tensor([[0.3333333432674408, 0.6666666865348816], [0.4285714328289032, 0.5714285969734192]])
>>> jvp(lambda v: v**3, tensor([1.0, 2.0]), tensor([1.0, 1.0]))
(tensor([1.0, 8.0]), tensor([3.0, 12.0]))
>>> hessian(lambda v: (v * v * v).sum())(tensor([1.0, 2.0]))
tensor([[6.0, 0.0], [0.0, 12.0]])
"""

from mini import ops
from mini.ops import AlongDim, Layer, Pointwise, Product, Reduction, View, Write, expand, full, reshape
from mini.tape import DERIVATIVES, grad
from mini.tensor import Layout, Storage, Tensor, tensor, wrap  # noqa: F401


# %% 10.3 boxes, and the layer that opens them
class Box(Tensor):
    """What a transformed function sees in place of a tensor. Only the layer that made it knows what is inside."""

    def __init__(self, layer, layout, value, tangent=None):
        super().__init__(Storage(None, value.dtype), layout)
        self.layer, self.value, self.tangent = layer, value, tangent


class Transform(Layer):
    """Opens the boxes that are its own; what has none of them goes on to the layers below."""

    def owns(self, x):
        return isinstance(x, Box) and x.layer is self

    def call(self, op, args):
        mine = [self.owns(arg) for arg in args]
        if not any(mine):
            return op(*args)
        if isinstance(op, Write) and not mine[0]:
            raise RuntimeError(f"{op} writes into a tensor from outside of the transform: all examples share it")
        return self.rule(op, args, mine, [arg.value if own else arg for arg, own in zip(args, mine, strict=True)])


# --- vmap: the batch is dimension 0 of what is inside -----------------------------------------------------------------


# %% 10.4 a batch in a box
class Batch(Transform):
    def box(self, value):
        """One example, as far as anyone can see."""
        return Box(self, Layout(value.sizes[1:], value.strides[1:]), value)

    def rule(self, op, args, mine, values):
        if isinstance(op, (Pointwise, Product, Write)):
            rank = args[0].dim() if isinstance(op, Write) else max(x.dim() for x in args if isinstance(x, Tensor))
            out = op(*[self.aligned(value, rank) if own else value for value, own in zip(values, mine, strict=True)])
            return args[0] if isinstance(op, Write) else self.box(out)
        return self.box(self.moved(op, args[0].dim(), *values))

    def aligned(self, value, rank):
        """Sizes of 1 behind the batch, so that broadcasting, which aligns at the right, leaves it on the left."""
        missing = rank + 1 - value.dim()
        return reshape(value, value.sizes[:1] + (1,) * missing + value.sizes[1:]) if missing > 0 else value

    # %% 10.5 what names dimensions
    def moved(self, op, rank, value, *rest):
        """An op that names dimensions or sizes: there is one more in front than its caller knows."""
        if isinstance(op, Reduction):
            return op(value, tuple([d + 1 for d in rest[0]]), rest[1])
        if isinstance(op, AlongDim):
            return op(value, wrap(rest[0], rank) + 1)
        if op is ops.permute:
            return op(value, (0, *[d + 1 for d in rest[0]]))
        if op in (ops.view, expand):
            return op(self.aligned(value, len(rest[0])) if op is expand else value, (value.sizes[0], *rest[0]))
        return op(value, rest[0] + 1, *rest[1:]) if op in (ops.slice_, ops.slice_backward) else op(value, *rest)


# %% 10.6 vmap
def vmap(function, in_dims=0):
    """The function for a whole batch; `in_dims`: which dimension of each argument is the batch, None: it is shared."""

    def batched(*args):
        dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
        pairs = list(zip(args, dims, strict=True))
        sizes = {x.sizes[dim] for x, dim in pairs if dim is not None}
        if len(sizes) != 1:
            raise ValueError(f"vmap: the batch has one size, not {sorted(sizes)}")
        with Batch() as layer:
            result = function(*[x if dim is None else layer.box(moved_to_front(x, dim)) for x, dim in pairs])
        return result.value if layer.owns(result) else expand(result, (*sizes, *result.sizes))

    return batched


def moved_to_front(x, dim):
    dim = wrap(dim, x.dim())
    return ops.permute(x, (dim, *[d for d in range(x.dim()) if d != dim])) if dim else x


# --- jvp: the tangent travels beside the value ------------------------------------------------------------------------


# %% 10.7 a tangent beside each value
class Forward(Transform):
    def box(self, value, tangent):
        return Box(self, value.layout, value, tangent)

    def rule(self, op, args, mine, values):
        if isinstance(op, Write):
            ops.copy_(values[0], values[1])
            ops.copy_(args[0].tangent, args[1].tangent if mine[1] else full((), 0, args[0].dtype))
            return args[0]
        out = op(*values)
        if out.dtype.kind != "f":
            return out  # it does not move
        if isinstance(op, View):
            return self.box(out, op(args[0].tangent, *values[1:]))
        tangents = [arg.tangent if own else None for arg, own in zip(args, mine, strict=True)]
        return self.box(out, self.tangent(op, tangents, out, values))

    # %% 10.8 how a result moves
    def tangent(self, op, tangents, out, values):
        """What changes of the arguments do to the result; None: that one does not change.

        An op's rule for the way back multiplies g by the Jacobian transposed. The rule's own way back transposes again.
        """

        def weighted(g):
            back = zip(DERIVATIVES[op](g, out, *values), tangents, strict=False)
            return sum([(part * t).sum() for part, t in back if t is not None])

        return grad(weighted)(out)  # weighted is linear: its gradient is the same at every g of out's sizes


# %% 10.9 whole matrices
def jvp(function, x, t):
    """The value at x, and how it changes when x moves along t."""
    with Forward() as layer:
        out = function(layer.box(x, ops.clone(t)))
    return (out.value, out.tangent) if layer.owns(out) else (out, full(out.sizes, 0, x.dtype))


def jacfwd(function):
    """The Jacobian, a column for each element of x: one jvp over all unit vectors at once."""

    def jacobian(x):
        n = ops.iota((x.numel(),), 0, "int64")
        units = reshape(ops.eq(reshape(n, x.numel(), 1), n).to(x.dtype), (x.numel(), *x.sizes))
        columns = vmap(lambda t: jvp(function, x, t)[1])(units)
        return reshape(ops.permute(columns, (*range(1, columns.dim()), 0)), (*columns.sizes[1:], *x.sizes))

    return jacobian


def hessian(function):
    """The second derivatives: forwards, over backwards."""
    return jacfwd(grad(function))
