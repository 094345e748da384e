"""Lesson 08. The tape: a layer that notes for each result how it was made; the engine walks the notes backwards.

>>> x = tensor([1.0, 2.0], requires_grad=True)
>>> loss = (x * x).sum(); loss.backward(); x.grad
tensor([2.0, 4.0])
>>> grad(lambda x: x**3)(tensor(2.0)), grad(grad(lambda x: x**3))(tensor(2.0))
(tensor(12.0), tensor(12.0))
"""

from mini import ops
from mini.interpreter import decode
from mini.ops import (
    STACK,
    Layer,
    Write,
    eq,
    exp,
    full,
    matmul,
    mul,
    neg,
    permute,
    reshape,
    slice_,
    slice_backward,
    sum_,
    where,
)
from mini.tensor import Tensor, tensor  # noqa: F401


class Tape(Layer):
    enabled = True  # for all tapes

    def call(self, op, args):
        parents = [history(arg) if isinstance(arg, Tensor) else None for arg in args]
        if not self.enabled or not any(parents) or op not in DERIVATIVES:
            return op(*args)
        if isinstance(op, Write):
            return self.write(args[0], args[1], parents)
        out = op(*args)
        if out.dtype.kind == "f":
            out.requires_grad, out.grad_fn = True, Note(op, args, out, parents)
        return out

    def write(self, x, y, parents):
        """The tensor is another one from now on: what came before it does not count."""
        if isinstance(parents[0], Leaf):
            raise RuntimeError("a leaf that requires grad is written to: use no_grad()")
        ops.copy_(x, y)
        x.requires_grad, x.grad_fn = parents[1] is not None, Note(ops.copy_, (x, y), x, [None, parents[1]])
        return x


class no_grad:
    def __enter__(self):
        self.before, Tape.enabled = Tape.enabled, False

    def __exit__(self, *error):
        Tape.enabled = self.before


class Leaf:
    """The beginning of a history: gradients arrive in `tensor.grad`."""

    parents = ()

    def __init__(self, tensor):
        self.tensor = tensor


class Note:
    """How a result was made, and by which histories."""

    def __init__(self, op, args, out, parents):
        self.op, self.args, self.out, self.parents = op, args, out, parents
        self.kept = [
            (x, x.storage.version) for x in needed_by(DERIVATIVES[op], (None, out, *args)) if isinstance(x, Tensor)
        ]

    def backward(self, grad):
        """A gradient for each argument, of its sizes and dtype."""
        if self.op not in LINEAR and any(x.storage.version != version for x, version in self.kept):
            raise RuntimeError(f"{self.op}: what its gradient needs was written to after it was computed")
        grads = DERIVATIVES[self.op](grad, self.out, *self.args)
        wanted = zip(grads, self.args, self.parents, strict=False)
        return [parent and ops.to(sum_to(g, arg.sizes), arg.dtype) for g, arg, parent in wanted]


def needed_by(rule, values):
    """Those of a rule's arguments that it reads: its bytecode says so."""
    code = rule.__code__
    read = {inst.arg for inst in decode(code) if "LOAD" in inst.op}
    return [value for name, value in zip(code.co_varnames, values, strict=False) if name in read]


def history(x):
    if x.grad_fn is None and x.requires_grad:
        x.leaf = getattr(x, "leaf", None) or Leaf(x)
        return x.leaf
    return x.grad_fn


def sum_to(grad, sizes):
    """Broadcasting copies; its derivative adds the copies up."""
    extra = grad.dim() - len(sizes)
    dims = [d for d in range(grad.dim()) if d < extra or (sizes[d - extra] == 1 and grad.sizes[d] != 1)]
    return reshape(sum_(grad, tuple(dims), False), sizes) if dims else grad


# --- derivatives: from the gradient of the result to one for each argument --------------------------------------------


def kept(x, reduced, dims):
    """A reduction's result with its dimensions back, of size 1."""
    return reshape(reduced, tuple([1 if d in dims else n for d, n in enumerate(x.sizes)]))


def amax_backward(g, out, x, dims, keepdim):
    mask = eq(x, kept(x, out, dims)).to(x.dtype)
    return [mask * (kept(x, g, dims) / sum_(mask, dims, True))]


def transposed(x):
    return x.transpose(-1, -2)


def zero(g):
    return full((), 0, g.dtype)


DERIVATIVES = {
    ops.add: lambda g, out, x, y: [g, g],
    ops.sub: lambda g, out, x, y: [g, -g],
    mul: lambda g, out, x, y: [g * y, g * x],
    ops.div: lambda g, out, x, y: [g / y, -g * out / y],
    neg: lambda g, out, x: [-g],
    exp: lambda g, out, x: [g * out],
    ops.log: lambda g, out, x: [g / x],
    ops.sqrt: lambda g, out, x: [g / (2 * out)],
    ops.tanh: lambda g, out, x: [g * (1 - out * out)],
    ops.sin: lambda g, out, x: [g * x.cos()],
    ops.cos: lambda g, out, x: [-g * x.sin()],
    ops.sigmoid: lambda g, out, x: [g * out * (1 - out)],
    ops.relu: lambda g, out, x: [where(out > 0, g, zero(g))],
    ops.maximum: lambda g, out, x, y: [where(x < y, zero(g), g), where(x < y, g, zero(g))],
    where: lambda g, out, condition, x, y: [None, where(condition, g, zero(g)), where(condition, zero(g), g)],
    ops.clone: lambda g, out, x: [g],
    ops.to_: lambda g, out, x, dtype: [g],
    ops.copy_: lambda g, out, x, y: [None, g],
    sum_: lambda g, out, x, dims, keepdim: [ops.expand(kept(x, g, dims), x.sizes)],
    ops.amax: amax_backward,
    ops.softmax: lambda g, out, x, dim: [out * (g - (g * out).sum(dim, True))],
    ops.log_softmax: lambda g, out, x, dim: [g - out.exp() * g.sum(dim, True)],
    matmul: lambda g, out, x, y: [matmul(g, transposed(y)), matmul(transposed(x), g)],
    ops.view: lambda g, out, x, sizes: [reshape(g, x.sizes)],
    ops.expand: lambda g, out, x, sizes: [g],
    permute: lambda g, out, x, dims: [permute(g, tuple([dims.index(d) for d in range(len(dims))]))],
    slice_: lambda g, out, x, dim, start, stop, step: [slice_backward(g, dim, x.sizes[dim], start, step)],
    slice_backward: lambda g, out, x, dim, size, start, step: [
        slice_(g, dim, start, start + step * x.sizes[dim], step)
    ],
}

LINEAR = {
    ops.add,
    ops.sub,
    neg,
    ops.clone,
    ops.to_,
    ops.copy_,
    ops.regroup,
    sum_,
    ops.view,
    ops.expand,
    permute,
    slice_,
    slice_backward,
}


# --- the engine -------------------------------------------------------------------------------------------------------


def topological(roots, ends):
    """All histories, each before those that it was made from; those of `ends` are not looked behind."""
    order, seen, todo = [], set(), [(root, False) for root in roots]
    while todo:
        node, done = todo.pop()
        if done:
            order.append(node)
        elif node is not None and node not in seen:
            seen.add(node)
            todo.append((node, True))
            todo.extend((parent, False) for parent in node.parents if node not in ends)
    return order[::-1]


def walk_back(outputs, grads, ends=(), keep=False):
    """The gradients of the leaves that the outputs were made from, and of the histories in `ends`."""
    pending, found = {}, {}
    for output, grad in zip(outputs, grads, strict=True):
        add_to(pending, history(output), grad)
    for node in topological(list(pending), ends):
        if isinstance(node, Leaf) or node in ends:
            found[node] = pending.pop(node, None)
        elif node in pending:
            for parent, grad in zip(node.parents, node.backward(pending.pop(node)), strict=False):
                add_to(pending, parent, grad)
            if not keep:
                node.args = node.out = node.kept = None  # frees what it kept, and the circle through `out`
    return found


def add_to(pending, node, grad):
    if node is not None:
        pending[node] = pending[node] + grad if node in pending else grad


def backward(loss, grad=None):
    """Adds to the `grad` of each leaf."""
    with no_grad():
        grad = full(loss.sizes, 1, loss.dtype) if grad is None else grad
        for leaf, grad in walk_back([loss], [grad]).items():
            leaf.tensor.grad = grad if leaf.tensor.grad is None else leaf.tensor.grad + grad


def grad(function):
    """The gradient of a function in its first argument; it can be derived again."""

    def derived(x, *rest):
        with Tape():  # one of its own: under vmap it notes what happens to a single example
            mine = ops.clone(x)  # where x has a history, so has this, and what is computed from it
            mine.requires_grad = True
            out = function(mine, *rest)
            return walk_back([out], [full(out.sizes, 1, out.dtype)], [history(mine)], keep=True)[history(mine)]

    return derived


STACK.insert(0, Tape())
Tensor.backward = backward
