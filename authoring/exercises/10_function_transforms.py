# %% [markdown]
# # 10 Exercises: function transforms
#
# Seven exercises, two hours and a quarter: two about transforms, half an hour, and five steps of your own `mini/transforms.py`,
# an hour and three quarters. Each is a sentence, a signature, an example and a check. Write your answer in place of the `raise`
# line or the `...`, run the cell, run the check below it. If you are stuck, `hint("10.1")` gives the first of three
# hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress
from minitorch_compile.func import grad, hessian, jvp, vmap

# %% [markdown]
# ## 10.1 Find the bug: three transforms by hand
#
# Somebody has written three transforms by hand, without a loop. Each does what its docstring says for most arguments. For
# each, find arguments of which it gives something else, without an error, and put them into `faults` as a tuple. The dtype
# of a result counts, too.


# %%
def times(vectors: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """torch.stack([vector * number for vector, number in zip(vectors, numbers)])"""
    return vectors * numbers.unsqueeze(1)


def turned(xs: torch.Tensor) -> torch.Tensor:
    """torch.stack([x if x.sum() > 0 else -x for x in xs])"""
    return xs if xs.sum() > 0 else -xs


def moved(x: torch.Tensor, y: torch.Tensor, v: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """How x.sin() * y moves if x moves along v and y along w."""
    _, along_x = jvp(lambda x: x.sin() * y, (x,), (v,))
    _, along_y = jvp(lambda y: x.sin() * y, (y,), (v,))
    return along_x + along_y


# %% tags=["stub"]
faults = {
    "times": ...,
    "turned": ...,
    "moved": ...,
}

# %% tags=["solution"]
one, zero = torch.ones(1), torch.zeros(1)
faults = {
    "times": (torch.ones(2, 3), torch.ones(2, dtype=torch.float64)),
    "turned": (torch.tensor([[1.0, 2.0], [-1.0, -1.0]]),),
    "moved": (one, one, zero, one),
}

# %%
check("10.1")

# %% tags=["wrong"] says="With one dtype there is nothing to promote"
faults = faults | {"times": (torch.ones(2, 3), torch.tensor([1.0, 2.0]))}

# %% tags=["wrong"] says="Let the other one be the wider"
faults = faults | {"times": (torch.ones(2, 3, dtype=torch.float64), torch.tensor([1.0, 2.0]))}

# %% tags=["wrong"] says="All your examples are turned the same way"
faults = faults | {"turned": (torch.tensor([[-1.0, -2.0], [-3.0, 1.0]]),)}

# %% tags=["wrong"] says="Your two directions are the same"
faults = faults | {"moved": (torch.ones(1), torch.ones(1), torch.ones(1), torch.ones(1))}

# %% tags=["wrong"] says="that is 0 here"
faults = faults | {"moved": (torch.zeros(1), torch.ones(1), torch.zeros(1), torch.ones(1))}

# %% tags=["wrong"] says="not for an error"
faults = faults | {"moved": (torch.ones(1), torch.ones(2), torch.ones(1), torch.ones(2))}

# %% [markdown]
# ## 10.2 Many directions, no matrix
#
# f maps a vector x of n numbers to one number, and H is the matrix of its second derivatives, n by n. `vs` is a (k, n): k
# directions. Give the (k, n) whose rows are H times each of them, without ever making H: no tensor may have more than 4 k n
# elements. Par is 60 operations, for any n and k. For f(x) = x[0] * x[1] and vs = [[1, 0], [2, 3]] it is [[0, 1], [3, 2]].


# %%
def hessian_products(f, x: torch.Tensor, vs: torch.Tensor) -> torch.Tensor:
    """H @ v for each row v of vs."""
    ### BEGIN SOLUTION
    return vmap(lambda v: jvp(grad(f), (x,), (v,))[1])(vs)
    ### END SOLUTION


# %%
check("10.2")


# %% tags=["wrong"] says="That is the whole matrix"
def hessian_products(f, x, vs):
    return vs @ hessian(f)(x)


# %% tags=["wrong"] says="One direction after the other"
def hessian_products(f, x, vs):
    return torch.stack([jvp(grad(f), (x,), (v,))[1] for v in vs])


# %% tags=["wrong"] says="that is how f itself moves"
def hessian_products(f, x, vs):
    return vmap(lambda v: jvp(f, (x,), (v,))[1])(vs)


# %% tags=["wrong"] says="That is the slope times v"
def hessian_products(f, x, vs):
    return vmap(lambda v: grad(f)(x) * v)(vs)


# %% tags=["wrong"] says="Each row of vs is a direction of its own"
def hessian_products(f, x, vs):
    return jvp(grad(f), (x,), (vs.sum(0),))[1]

# %% tags=["wrong"] says="one row after the other"
def hessian_products(f, x, vs):
    rows = [grad(lambda x: grad(f)(x)[i])(x) for i in range(len(x))]
    return torch.stack([vs @ row for row in rows], 1)


# %% [markdown]
# ## Your own stack: `mini/transforms.py`
#
# Two layers more on your stack of layers: `vmap` carries a batch along, `jvp` a tangent, and the function that is called knows
# of neither. The file imports your `ops`, `tensor` and `tape`: its derivative rules do for both directions, and `hessian` is
# forwards, over backwards, over f. Its grown-up version is the folder `func/` of the package.

# %% [markdown]
# ## 10.3 Boxes, and the layer that opens them
#
# What a function under vmap computes with is a `Box`: a tensor that looks like one example. It has the dtype of its `value`, and the
# sizes and strides of all its dimensions but the first, which is the batch; it has no numbers (it is a fake: its storage has None
# for data), and keeps `layer` and `value`. `Batch` is the layer of one vmap. `owns(x)` says whether x is a box, and one *of its
# own*. Its `call(op, args)` asks that of all arguments: `mine` is a list of booleans. If none is, the call goes on to the layers
# below. Else the result is `self.rule(op, args, mine, values)`, with the boxes of its own opened in `values`. A `Write` whose
# first argument is not its own is a RuntimeError.

# %% step="10.3"
class Box(Tensor):
    """One example, as far as anyone can see. Only the layer that made it knows the batch inside, in dimension 0."""

    def __init__(self, layer, value):
        """value: what is inside, a tensor, or a box of a layer below."""


class Batch(Layer):
    """Opens the boxes that are its own; what has none of them goes on to the layers below."""

    def owns(self, x):
        """Whether it is a box that this layer has made."""

    def call(self, op, args):
        """The result of rule(op, args, mine, values), the next step."""


# %%
check("10.3")

# %% tags=["wrong"] step="10.3" says="That box is another layer's"
# -         return isinstance(x, Box) and x.layer is self
# +         return isinstance(x, Box)

# %% tags=["wrong"] step="10.3" says="the call goes on to the layers below"
# -         if not any(mine):
# -             return op(*args)

# %% tags=["wrong"] step="10.3" says="which of them should it hold"
# -         if isinstance(op, Write) and not mine[0]:
# +         if False:

# %% tags=["wrong"] step="10.3" says="would be read as if"
# -         super().__init__(Storage(None, value.dtype), Layout(value.sizes[1:], value.strides[1:]))
# +         super().__init__(value.storage, Layout(value.sizes[1:], value.strides[1:]))

# %% tags=["wrong"] step="10.3" says="It shows one example"
# -         super().__init__(Storage(None, value.dtype), Layout(value.sizes[1:], value.strides[1:]))
# +         super().__init__(Storage(None, value.dtype), value.layout)

# %% tags=["wrong"] step="10.3" says="is opened: x"
# -         return self.rule(op, args, mine, [arg.value if own else arg for arg, own in zip(args, mine, strict=True)])
# +         return self.rule(op, args, mine, args)

# %% [markdown]
# ## 10.4 Whole batches
#
# Inside of the boxes dimension 0 is the batch. Write `rule` for what broadcasts, which is `Pointwise`, `Product` and `Write`: its
# values are first `aligned(value, rank)` to the rank that the arguments show, by sizes of 1 *behind* the batch, since
# broadcasting aligns at the right. The result is a box of this layer; but a write returns the box that was written into. Every
# other op is `self.moved(op, rank, *values)` with the rank that its first argument shows; that is the next step.

# %% step="10.4"
def rule(self, op, args, mine, values):
    """The op on what is inside of the boxes."""

def aligned(self, value, rank):
    """Sizes of 1 behind the batch, so that broadcasting, which aligns at the right, leaves it on the left."""


# %%
check("10.4")

# %% tags=["wrong"] step="10.4" says="the batch meets a dimension of the other"
# -         return reshape(value, value.sizes[:1] + (1,) * missing + value.sizes[1:]) if missing > 0 else value
# +         return value

# %% tags=["wrong"] step="10.4" says="A write returns its first argument"
# -             return args[0] if isinstance(op, Write) else Box(self, out)
# +             return Box(self, out)

# %% tags=["wrong"] step="10.4" says="it has no batch"
# -             out = op(*[self.aligned(value, rank) if own else value for value, own in zip(values, mine, strict=True)])
# +             out = op(*[self.aligned(value, rank) for value in values])

# %% [markdown]
# ## 10.5 What names dimensions
#
# The other half of the class. `moved(op, value, *rest)` calls an op that names dimensions or sizes on a value which has
# one dimension more, in front, than its caller knows of. `Reduction`s get (dims, keepdim), `ops.permute` gets all dims,
# `ops.view` and `expand` sizes, `ops.slice_`
# and `ops.slice_backward` a dim and numbers. Any other op names nothing. Mind that `expand` can add dimensions.

# %% step="10.5"
def moved(self, op, value, *rest):
    """An op that names dimensions or sizes: there is one more in front than its caller knows."""


# %%
check("10.5")

# %% tags=["wrong"] step="10.5" says="examples are not mixed"
# -             return op(value, tuple([d + 1 for d in rest[0]]), rest[1])
# +             return op(value, rest[0], rest[1])

# %% tags=["wrong"] step="10.5" says="align value to the new rank first"
# -             return op(self.aligned(value, len(rest[0])) if op is expand else value, (value.sizes[0], *rest[0]))
# +             return op(value, (value.sizes[0], *rest[0]))

# %% tags=["wrong"] step="10.5" says="The example's dimension 0"
# -         return op(value, rest[0] + 1, *rest[1:]) if op in (ops.slice_, ops.slice_backward) else op(value, *rest)
# +         return op(value, *rest)

# %% tags=["wrong"] step="10.5" says="The batch stays in front"
# -             return op(value, (0, *[d + 1 for d in rest[0]]))
# +             return op(value, (*rest[0], len(rest[0])))

# %% [markdown]
# ## 10.6 vmap
#
# Now the function that users call. `vmap(function, in_dims)` gives a function for a whole batch. `in_dims` is a number for all
# arguments, or a tuple with one for each: which dimension is the batch (it may be negative), None for an argument that is shared.
# `moved_to_front(x, dim)` makes it dimension 0. The batch sizes must be one and the same, else a ValueError. A result that is a
# box of *this* vmap is opened; any other is the same for all examples, and is expanded to the batch.

# %% step="10.6"
def vmap(function, in_dims=0):
    """The function for a whole batch; `in_dims`: which dimension of each argument is the batch, None: it is shared."""


def moved_to_front(x, dim):
    """Dimension dim first, all others in their order."""


# %%
check("10.6")

# %% tags=["wrong"] step="10.6" says="open only boxes whose layer is this one"
# -         return result.value if layer.owns(result) else expand(result, (*sizes, *result.sizes))
# +         return result.value if isinstance(result, Box) else expand(result, (*sizes, *result.sizes))

# %% tags=["wrong"] step="10.6" says="all others keep their order"
# -     return ops.permute(x, (dim, *[d for d in range(x.dim()) if d != dim])) if dim else x
# +     return x.transpose(0, dim) if dim else x

# %% tags=["wrong"] step="10.6" says="there once for each of them"
# -         return result.value if layer.owns(result) else expand(result, (*sizes, *result.sizes))
# +         return result.value if layer.owns(result) else result

# %% tags=["wrong"] step="10.6" says="there is at least one"
# -         ops.ensure(len(sizes) == 1, f"vmap: the batch has one size, not {sorted(sizes)}", ValueError)
# +         ops.ensure(not sizes, "vmap: no argument has a batch", ValueError)

# %% [markdown]
# ## 10.7 Forwards, by two passes back
#
# `jvp(function, x, t)` gives a pair: the value at x, and its tangent, how it moves when x moves along t. You have all that it needs.
# Your `grad` of `(function(v) * g).sum()` at x is the way back: it multiplies g by the Jacobian *transposed*. Weighted with t and
# summed up it is one number, which depends on g, and is linear in it. Take `grad` of that in g: it transposes once more, and is
# the same at every g of the result's sizes. The caller's x is not to be written to.

# %% step="10.7"
def jvp(function, x, t):
    """The value at x, and how it changes when x moves along t.

    The way back multiplies what it begins with, g, by the Jacobian transposed. Its own way back transposes once more.
    """


# %%
check("10.7")

# %% tags=["wrong"] step="10.7" says="leads the other way"
# -     return out, grad(weighted)(out)
# +     return out, grad(lambda v: (function(v) * out).sum())(x)

# %% tags=["wrong"] step="10.7" says="weight each slope with it"
# -         return (back * t).sum()
# +         return back.sum()

# %% tags=["wrong"] step="10.7" says="must depend on g"
# -         back = grad(lambda v: (function(v) * g).sum())(x)
# +         back = grad(lambda v: function(v).sum())(x)

# %% tags=["wrong"] step="10.7" says="was written to: clone it"
# -     out = function(ops.clone(x))
# +     out = function(x)

# %% [markdown]
# ## All of them
#
# How far you are, and the whole stack on your own parts: every answer that passes and has a place in the package.

# %%
progress("10")

# %%
with own_parts():
    print(vmap(grad(lambda x: (x**3).sum()))(torch.ones(2, 3)))
