"""Lesson 08. The tape: a layer that notes for each result how it was made; the engine walks the notes backwards.

>>> x = tensor([1.0, 2.0], requires_grad=True)
>>> loss = (x * x).sum(); loss.backward(); x.grad
tensor([2.0, 4.0])
>>> grad(lambda x: x**3)(tensor(2.0)), grad(grad(lambda x: x**3))(tensor(2.0))
(tensor(12.0), tensor(12.0))
"""

from itertools import count

from mini import ops
from mini.ops import STACK, Layer, Tensor, Write, from_numpy, full, reshape, tensor, where  # noqa: F401

NUMBERS = count()  # of notes, in the order in which they are made


# %% 08.2 where a history begins
def history(x):
    """The note that made x; if there is none, x itself, where a gradient is wanted: a leaf; else None."""
    if getattr(x, "since", 0) < getattr(x.storage, "noted", 0):
        raise RuntimeError("this tensor was written to through another view: its history does not know that")
    is_leaf = x.grad_fn is None and x.requires_grad
    return x if is_leaf else x.grad_fn


# %% 08.3 a note
def sum_to(grad, sizes):
    """Broadcasting copies; its derivative adds the copies up."""
    extra = grad.dim() - len(sizes)
    dims = [d for d in range(grad.dim()) if d < extra or (sizes[d - extra] == 1 and grad.sizes[d] != 1)]
    return reshape(ops.sum_(grad, tuple(dims), False), sizes) if dims else grad


class Note:
    """How a result was made, and by which histories: None for an argument that wants no gradient."""

    def __init__(self, op, args, out, parents):
        self.op, self.args, self.out, self.parents, self.number = op, args, out, parents, next(NUMBERS)
        named = zip(DERIVATIVES[op].__code__.co_varnames, (None, out, *args), strict=False)
        read = [x for name, x in named if isinstance(x, Tensor) and not name.startswith("_")]
        self.kept = [(x, x.storage.version) for x in read]

    def backward(self, grad):
        """A gradient for each argument, of its sizes and dtype."""
        ops.ensure(self.args is not None, f"{self.op}: walked a second time, after what it kept was freed")
        if any(x.storage.version != version for x, version in self.kept):
            raise RuntimeError(f"{self.op}: what its gradient needs was written to after it was computed")
        grads = DERIVATIVES[self.op](grad, self.out, *self.args)  # of its tensors, which come first
        wanted = zip(grads, self.args, self.parents, strict=False)
        return [p if p is None else ops.to(sum_to(g, arg.sizes), arg.dtype) for g, arg, p in wanted]


# %% 08.4 the tape is a layer
class Tape(Layer):
    """Notes the ops of which an argument has a history."""

    enabled = True  # for all tapes

    def call(self, op, args):
        parents = [history(arg) if isinstance(arg, Tensor) and self.enabled else None for arg in args]
        noted, writes = any(p is not None for p in parents) and op in DERIVATIVES, isinstance(op, Write)
        ops.ensure(not (noted and writes and parents[0] is args[0]), "a leaf that requires grad: write in no_grad()")
        out = op(*args)
        if noted or not writes:  # a write that is not noted: what its history lacks, it still lacks
            out.since = out.storage.version
        if noted:
            parents = [None, parents[1]] if writes else parents  # what is overwritten does not count
            out.requires_grad = any(p is not None for p in parents) and out.dtype.kind == "f"
            out.grad_fn = Note(op, args, out, parents) if out.requires_grad else None
        if noted and writes and not out.is_fake:  # while tracing, writes through views are taken apart later
            out.storage.noted = out.since
        return out


# %% given
class no_grad:
    mode = False

    def __enter__(self):
        self.before, Tape.enabled = Tape.enabled, self.mode

    def __exit__(self, *error):
        Tape.enabled = self.before


class enable_grad(no_grad):
    mode = True


# --- derivatives: from the gradient of the result to one for each argument. `_x`: its sizes are read, not its numbers --


# %% 08.5 derivatives, element by element
def larger(g, x, y):
    """g where x is the larger one; where both are, each gets half."""
    return where(ops.eq(x, y), g / 2, where(ops.lt(y, x), g, 0))


DERIVATIVES = {
    ops.add: lambda g, _out, _x, _y: [g, g],
    ops.sub: lambda g, _out, _x, _y: [g, -g],
    ops.mul: lambda g, _out, x, y: [g * y, g * x],
    ops.div: lambda g, out, _x, y: [g / y, -g * out / y],
    ops.neg: lambda g, _out, _x: [-g],
    ops.exp: lambda g, out, _x: [g * out],
    ops.log: lambda g, _out, x: [g / x],
    ops.sqrt: lambda g, out, _x: [g / (2 * out)],
    ops.tanh: lambda g, out, _x: [g * (1 - out * out)],
    ops.sin: lambda g, _out, x: [g * x.cos()],
    ops.cos: lambda g, _out, x: [-g * x.sin()],
    ops.sigmoid: lambda g, out, _x: [g * out * (1 - out)],
    ops.relu: lambda g, out, _x: [where(out > 0, g, 0)],
    ops.maximum: lambda g, _out, x, y: [larger(g, x, y), larger(g, y, x)],
    where: lambda g, _out, chosen, _x, _y: [None, where(chosen, g, 0), where(chosen, 0, g)],
    ops.clone: lambda g, _out, _x: [g],
    ops.to_: lambda g, _out, _x, dtype: [g],
    ops.copy_: lambda g, _out, _x, _y: [None, g],
}


# %% 08.6 derivatives over dimensions
def kept(x, reduced, dims):
    """A reduction's result with its dimensions back, of size 1."""
    return reshape(reduced, tuple([1 if d in dims else n for d, n in enumerate(x.sizes)]))


def amax_backward(g, out, x, dims, keepdim):
    """Those that are the largest share the gradient."""
    mask = ops.eq(x, kept(x, out, dims)).to(x.dtype)
    return [mask * (kept(x, g, dims) / ops.sum_(mask, dims, True))]


DERIVATIVES |= {
    ops.sum_: lambda g, _out, _x, dims, keepdim: [ops.expand_to(kept(_x, g, dims), _x.sizes)],
    ops.amax: amax_backward,
    ops.matmul: lambda g, _out, x, y: [g @ y.transpose(-1, -2), x.transpose(-1, -2) @ g],
    ops.view: lambda g, _out, _x, sizes: [reshape(g, _x.sizes)],
    ops.expand: lambda g, _out, _x, sizes: [g],
    ops.permute: lambda g, _out, _x, dims: [ops.permute(g, tuple([dims.index(d) for d in range(len(dims))]))],
    ops.slice_: lambda g, _out, _x, dim, start, stop, step: [ops.slice_backward(g, dim, _x.sizes[dim], start, step)],
    ops.slice_backward: lambda g, _out, _x, dim, n, at, step: [ops.slice_(g, dim, at, at + step * _x.sizes[dim], step)],
}


# --- the engine -------------------------------------------------------------------------------------------------------


# %% 08.7 the order of the walk
def add_to(gradients, node, grad):
    """What is used several times gets the sum of what comes back."""
    gradients[node] = gradients[node] + grad if node in gradients else grad


def take_latest(pending):
    """The note that was made last, and its gradient. That is complete: what used its result was made later still."""
    latest = max(pending, key=lambda note: note.number)
    return latest, pending.pop(latest)


# %% 08.8 the walk
def walk_back(outputs, grads, ends=(), keep=False):
    """The gradients of the leaves that the outputs were made from, and of the histories in `ends`."""
    pending, found = {}, {}
    arriving = zip(map(history, outputs), grads, strict=True)
    while True:
        for node, grad in arriving:
            if node is not None:
                add_to(found if isinstance(node, Tensor) or node in ends else pending, node, grad)
        if not pending:
            return found
        note, grad = take_latest(pending)
        arriving = zip(note.parents, note.backward(grad), strict=False)
        if not keep:
            note.args = note.out = note.kept = None  # frees what it kept, and the circle through `out`


# %% 08.9 what users call
def ones(loss):
    ops.ensure(loss.numel() == 1, f"a gradient is of one number, this tensor has sizes {loss.sizes}")
    return full(loss.sizes, 1, loss.dtype)


def backward(loss, grad=None):
    """Adds to the `grad` of each leaf."""
    with no_grad():
        ops.ensure(loss.requires_grad, "backward: this tensor does not require grad and has no history")
        for leaf, part in walk_back([loss], [ones(loss) if grad is None else grad]).items():
            leaf.grad = ops.clone(part) if leaf.grad is None else leaf.grad + part  # a memory of its own


def grad(function):
    """The gradient of a function in its first argument; it can be derived again."""

    def derived(x, *rest):
        with Tape(), enable_grad():  # one of its own: under vmap it notes what happens to a single example
            mine = ops.clone(x)  # where x has a history, so has this, and what is computed from it
            mine.requires_grad = True
            out = function(mine, *rest)
            found = walk_back([out], [ones(out)], [history(mine)], keep=True)
            return found[history(mine)] if history(mine) in found else full(x.sizes, 0, x.dtype)

    return derived


# %% given
STACK.insert(0, Tape())
Tensor.backward = backward
