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
from mini.ops import AlongDim, Layer, Pointwise, Product, Reduction, Write, expand, matmul, reshape
from mini.tape import DERIVATIVES, LINEAR, grad
from mini.tensor import Layout, Storage, Tensor, numel, tensor  # noqa: F401


class Box(Tensor):
    """What a transformed function sees in place of a tensor. Only the layer that made it knows what is inside."""

    def __init__(self, layer, layout, value, tangent=None):
        super().__init__(Storage(None, value.dtype), layout)
        self.layer, self.value, self.tangent = layer, value, tangent


class Transform(Layer):
    def call(self, op, args):
        mine = [isinstance(arg, Box) and arg.layer is self for arg in args]
        return self.rule(op, args, mine) if any(mine) else op(*args)


# --- vmap: the batch is dimension 0 of what is inside -----------------------------------------------------------------


class Batch(Transform):
    def box(self, value):
        return Box(self, Layout(value.sizes[1:], value.strides[1:]), value)

    def rule(self, op, args, mine):
        x, *rest = args
        if isinstance(op, Write) and not mine[0]:
            raise RuntimeError(f"vmap: {op} into a tensor that all examples share")
        values = [arg.value if own else arg for arg, own in zip(args, mine, strict=True)]
        if isinstance(op, (Pointwise, Product, Write)):
            rank = max(arg.dim() for arg in args if isinstance(arg, Tensor))
            return self.box(op(*[self.aligned(v, rank) if own else v for v, own in zip(values, mine, strict=True)]))
        return self.box(op(values[0], *self.shifted(op, x, values[0], rest)))

    def aligned(self, value, rank):
        """Sizes of 1 behind the batch, so that broadcasting, which aligns at the right, leaves it on the left."""
        sizes = value.sizes
        return (
            reshape(value, (sizes[0],) + (1,) * (rank + 1 - len(sizes)) + sizes[1:]) if rank + 1 > len(sizes) else value
        )

    def shifted(self, op, x, value, rest):
        """The arguments that name dimensions or sizes, for a tensor with one dimension more in front."""
        if isinstance(op, Reduction):
            return [tuple([d + 1 for d in rest[0]]), rest[1]]
        if op is ops.permute:
            return [(0, *[d + 1 for d in rest[0]])]
        if op in (ops.view, expand):
            return [(value.sizes[0], *rest[0])]
        if isinstance(op, AlongDim):
            return [rest[0] % x.dim() + 1]
        return [rest[0] + 1, *rest[1:]] if op in (ops.slice_, ops.slice_backward) else rest


def vmap(function, in_dims=0):
    """The function for a whole batch; `in_dims` says of each argument which dimension is the batch, None: it is shared."""

    def batched(*args):
        dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
        with Batch() as layer:
            pairs = zip(args, dims, strict=True)
            result = function(*[x if dim is None else layer.box(moved_to_front(x, dim)) for x, dim in pairs])
            results = result if isinstance(result, tuple) else (result,)
            size = next(x.sizes[dim] for x, dim in zip(args, dims, strict=True) if dim is not None)
        unboxed = [r.value if isinstance(r, Box) and r.layer is layer else expand(r, (size, *r.sizes)) for r in results]
        return tuple(unboxed) if isinstance(result, tuple) else unboxed[0]

    return batched


def moved_to_front(x, dim):
    return ops.permute(x, (dim, *[d for d in range(x.dim()) if d != dim])) if dim else x


# --- jvp: the tangent travels beside the value ------------------------------------------------------------------------


class Forward(Transform):
    def box(self, value, tangent):
        return Box(self, value.layout, value, tangent)

    def rule(self, op, args, mine):
        values = [arg.value if own else arg for arg, own in zip(args, mine, strict=True)]
        out, tangent = op(*values), None
        for i, (arg, own) in enumerate(zip(args, mine, strict=True)):
            if own:
                part = self.tangent(op, i, arg.tangent, out, values)
                tangent = part if tangent is None else tangent + part
        if isinstance(op, Write):
            args[0].value, args[0].tangent = out, tangent
            return args[0]
        return self.box(out, expand(tangent, out.sizes))

    def tangent(self, op, i, t, out, values):
        """What a change t of argument i does to the result."""
        if isinstance(op, Product):
            return matmul(t, values[1]) if i == 0 else matmul(values[0], t)
        if op is ops.amax:
            mask = DERIVATIVES[op](ops.full(out.sizes, 1, out.dtype), out, *values)[0]
            return ops.sum_(mask * t, *values[1:])
        if op is ops.log_softmax:
            return t - (out.exp() * t).sum(values[1], True)
        if op in LINEAR and not isinstance(op, Pointwise):
            return op(t, *values[1:])
        return DERIVATIVES[op](t, out, *values)[i]  # a diagonal or symmetric Jacobian is its own transpose


def jvp(function, x, t):
    """The value at x, and how it changes when x moves along t."""
    with Forward() as layer:
        result = function(layer.box(x, t))
    return (
        (result.value, result.tangent) if isinstance(result, Box) else (result, ops.full(result.sizes, 0, result.dtype))
    )


def jacfwd(function):
    """The Jacobian, a column for each element of x: one jvp over all unit vectors at once."""

    def jacobian(x):
        basis = ops.eq(reshape(ops.iota((x.numel(),), 0, "int64"), x.numel(), 1), ops.iota((x.numel(),), 0, "int64"))
        columns = vmap(lambda t: jvp(function, x, t)[1])(reshape(basis.to(x.dtype), (x.numel(), *x.sizes)))
        return reshape(ops.permute(columns, (*range(1, columns.dim()), 0)), (*columns.sizes[1:], *x.sizes))

    return jacobian


def hessian(function):
    return jacfwd(grad(function))
