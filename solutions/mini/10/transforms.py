"""Lesson 10. A layer that carries a batch along unseen (vmap), and the way forwards, by two passes back (jvp).

>>> x = tensor([[1.0, 2.0], [3.0, 4.0]])
>>> vmap(lambda row: row / row.sum())(x)                       # written for one row
tensor([[0.3333333432674408, 0.6666666865348816], [0.4285714328289032, 0.5714285969734192]])
>>> jvp(lambda v: v**3, tensor([1.0, 2.0]), tensor([1.0, 1.0]))
(tensor([1.0, 8.0]), tensor([3.0, 12.0]))
"""

from mini import ops
from mini.ops import Layer, Pointwise, Product, Reduction, Write, expand, reshape
from mini.tape import grad
from mini.tensor import Layout, Storage, Tensor, tensor, wrap  # noqa: F401


# %% 10.3 boxes, and the layer that opens them
class Box(Tensor):
    """One example, as far as anyone can see. Only the layer that made it knows the batch inside, in dimension 0."""

    def __init__(self, layer, value):
        super().__init__(Storage(None, value.dtype), Layout(value.sizes[1:], value.strides[1:]))
        self.layer, self.value = layer, value


class Batch(Layer):
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

    # %% 10.4 whole batches
    def rule(self, op, args, mine, values):
        """The op on what is inside of the boxes."""
        if isinstance(op, (Pointwise, Product, Write)):
            rank = args[0].dim() if isinstance(op, Write) else max(x.dim() for x in args if isinstance(x, Tensor))
            out = op(*[self.aligned(value, rank) if own else value for value, own in zip(values, mine, strict=True)])
            return args[0] if isinstance(op, Write) else Box(self, out)
        return Box(self, self.moved(op, *values))

    def aligned(self, value, rank):
        """Sizes of 1 behind the batch, so that broadcasting, which aligns at the right, leaves it on the left."""
        missing = rank + 1 - value.dim()
        return reshape(value, value.sizes[:1] + (1,) * missing + value.sizes[1:]) if missing > 0 else value

    # %% 10.5 what names dimensions
    def moved(self, op, value, *rest):
        """An op that names dimensions or sizes: there is one more in front than its caller knows."""
        if isinstance(op, Reduction):
            return op(value, tuple([d + 1 for d in rest[0]]), rest[1])
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
        ops.ensure(len(sizes) == 1, f"vmap: the batch has one size, not {sorted(sizes)}", ValueError)
        with Batch() as layer:
            result = function(*[x if dim is None else Box(layer, moved_to_front(x, dim)) for x, dim in pairs])
        return result.value if layer.owns(result) else expand(result, (*sizes, *result.sizes))

    return batched


def moved_to_front(x, dim):
    dim = wrap(dim, x.dim())
    return ops.permute(x, (dim, *[d for d in range(x.dim()) if d != dim])) if dim else x


# %% 10.7 forwards, by two passes back
def jvp(function, x, t):
    """The value at x, and how it changes when x moves along t.

    The way back multiplies what it begins with, g, by the Jacobian transposed. Its own way back transposes once more.
    """

    def weighted(g):  # it is linear: its gradient is the same at every g
        back = grad(lambda v: (function(v) * g).sum())(x)
        return (back * t).sum()

    out = function(ops.clone(x))
    return out, grad(weighted)(out)
