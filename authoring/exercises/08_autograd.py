# %% [markdown]
# # 08 Exercises: autograd
#
# Nine exercises, three hours and a quarter: one about gradients, a quarter of an hour, and eight steps of your own
# `mini/tape.py`, three hours. Each is a sentence, a signature, an example and a check. Write your answer in place of
# the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("08.1")` gives the first
# of three hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress

# %% [markdown]
# ## 08.1 What is in .grad: predict
#
# Each program begins with `x = torch.tensor([1.0, 2.0], requires_grad=True)`. Before you run anything, write what `x.grad`
# is at the end, as a list of numbers; `None` if it is None; or `"raises"` if the program does not get to its end.

# %% tags=["stub"]
gradients = {
    "(x * x).sum().backward()": ...,
    "(x * x).sum().backward(); (x * x).sum().backward()": ...,
    "(x * x.detach()).sum().backward()": ...,
    "(x * x).backward()": ...,
    "y = (x * x).sum(); y.backward(); y.backward()": ...,
    "y = x.exp(); y.mul_(2); y.sum().backward()": ...,
    "y = x + 1; y.mul_(2); y.sum().backward()": ...,
    "y = x * 3; y.sum().backward(); x = y": ...,
}

# %% tags=["solution"]
gradients = {
    "(x * x).sum().backward()": [2.0, 4.0],
    "(x * x).sum().backward(); (x * x).sum().backward()": [4.0, 8.0],
    "(x * x.detach()).sum().backward()": [1.0, 2.0],
    "(x * x).backward()": "raises",
    "y = (x * x).sum(); y.backward(); y.backward()": "raises",
    "y = x.exp(); y.mul_(2); y.sum().backward()": "raises",
    "y = x + 1; y.mul_(2); y.sum().backward()": [2.0, 2.0],
    "y = x * 3; y.sum().backward(); x = y": None,
}

# %%
check("08.1")

# %% tags=["wrong"] says="Slopes are added to what is there"
gradients = gradients | {"(x * x).sum().backward(); (x * x).sum().backward()": [2.0, 4.0]}

# %% tags=["wrong"] says="a constant to the tape"
gradients = gradients | {"(x * x.detach()).sum().backward()": [2.0, 4.0]}

# %% tags=["wrong"] says="spent when it has been walked"
gradients = gradients | {"y = (x * x).sum(); y.backward(); y.backward()": [4.0, 8.0]}

# %% tags=["wrong"] says="exp had kept its output"
gradients = gradients | {"y = x.exp(); y.mul_(2); y.sum().backward()": [5.4, 14.8]}

# %% tags=["wrong"] says="Adding keeps nothing"
gradients = gradients | {"y = x + 1; y.mul_(2); y.sum().backward()": "raises"}

# %% [markdown]
# ## Your own stack: `mini/tape.py`
#
# With this file your tensors know how they were made, and `loss.backward()` works. It imports your `ops` and `tensor`; your
# modules, your transforms and your compiler import it. The tape is a `Layer` at the bottom of your stack of layers, so it sees
# every op that any other layer lets through. Its grown-up version is the folder `autograd/` of the package.

# %% [markdown]
# ## 08.2 Where a history begins
#
# Everything that is computed from x will point to x's *history*. Write `history(x)`: the note `x.grad_fn`, if one made x; x
# itself, if there is none and `x.requires_grad`, for that is where a history begins: x is a *leaf*; else None. And a history
# can be *stale*: each noted write puts the version of the memory after it into `x.storage.noted`, and each tensor has in
# `x.since` the version at which its own history was noted. Where either is missing it counts as 0. If since is less than
# noted, the memory was written to through another view, and this history does not know: raise a RuntimeError. Ask this first,
# and of every tensor: one that has no history at all lacks the noted write, too.

# %% step="08.2"
def history(x):
    """The note that made x; if there is none, x itself, where a gradient is wanted: a leaf; else None."""


# %%
check("08.2")

# %% tags=["wrong"] step="08.2" says="it is the result of an op"
# -     is_leaf = x.grad_fn is None and x.requires_grad
# +     is_leaf = x.requires_grad

# %% tags=["wrong"] step="08.2" says="It wants no gradient"
# -     is_leaf = x.grad_fn is None and x.requires_grad
# +     is_leaf = x.grad_fn is None

# %% tags=["wrong"] step="08.2" says="It is where the history begins"
# -     return x if is_leaf else x.grad_fn
# +     return object() if is_leaf else x.grad_fn

# %% tags=["wrong"] step="08.2" says="silently lacks a write"
# -     if getattr(x, "since", 0) < getattr(x.storage, "noted", 0):
# +     if getattr(x, "since", 0) > getattr(x.storage, "noted", 0):

# %% tags=["wrong"] step="08.2" says="or at it"
# -     if getattr(x, "since", 0) < getattr(x.storage, "noted", 0):
# +     if getattr(x, "since", 0) <= getattr(x.storage, "noted", 0) != 0:

# %% [markdown]
# ## 08.3 A note
#
# `sum_to(grad, sizes)` turns broadcasting round: `grad` is summed over everything that was stretched, so that it has these
# sizes. Of a grad of (3, 4), for sizes (4,) that is dimension 0, for (3, 1) dimension 1, which stays, with size 1. You have
# `ops.sum_(x, dims, keepdim)` and `reshape`. A `Note` is how a result was made: `op`, `args`, `out` and `parents`, the
# histories of the arguments, None for one that wants no gradient; and its `number`, `next(NUMBERS)`: notes are counted as they
# are made. Its op's rule, `DERIVATIVES[op]`, is called as `rule(grad, out, *args)` and gives a list, one gradient for each of the tensors,
# which come first. Its `__init__` is begun below, and has one more thing to do: keep as `kept` the pairs (tensor, version of its
# storage) of every tensor that the rule *reads*: in our table, those whose parameter's name has no underscore in front. So for `lambda g, _out, x, y: [g * y, g * x]` these are x and y.
# `backward(grad)` gives one gradient for each argument, of its sizes and dtype, None where there is no parent. It raises a
# RuntimeError if `args` is None (the note was freed), or if one of `kept` has another version now.

# %% step="08.3"
def sum_to(grad, sizes):
    """Broadcasting copies; its derivative adds the copies up."""


class Note:
    """How a result was made, and by which histories: None for an argument that wants no gradient."""

    def __init__(self, op, args, out, parents):
        self.op, self.args, self.out, self.parents, self.number = op, args, out, parents, next(NUMBERS)

    def backward(self, grad):
        """A gradient for each argument, of its sizes and dtype."""


# %%
check("08.3")

# %% tags=["wrong"] step="08.3" says="A dimension of size 1 was stretched, too"
# -     dims = [d for d in range(grad.dim()) if d < extra or (sizes[d - extra] == 1 and grad.sizes[d] != 1)]
# +     dims = [d for d in range(grad.dim()) if d < extra]

# %% tags=["wrong"] step="08.3" says="no reason to refuse"
# -         read = [x for name, x in named if isinstance(x, Tensor) and not name.startswith("_")]
# +         read = [x for name, x in named if isinstance(x, Tensor)]

# %% tags=["wrong"] step="08.3" says="filled with other numbers"
# -         if any(x.storage.version != version for x, version in self.kept):
# -             raise RuntimeError(f"{self.op}: what its gradient needs was written to after it was computed")

# %% tags=["wrong"] step="08.3" says="of its argument's sizes"
# -         return [p if p is None else ops.to(sum_to(g, arg.sizes), arg.dtype) for g, arg, p in wanted]
# +         return [p if p is None else ops.to(g, arg.dtype) for g, arg, p in wanted]

# %% tags=["wrong"] step="08.3" says="has its argument's dtype"
# -         return [p if p is None else ops.to(sum_to(g, arg.sizes), arg.dtype) for g, arg, p in wanted]
# +         return [p if p is None else sum_to(g, arg.sizes) for g, arg, p in wanted]

# %% tags=["wrong"] step="08.3" says="it was walked a second time"
# -         ops.ensure(self.args is not None, f"{self.op}: walked a second time, after what it kept was freed")

# %% [markdown]
# ## 08.4 The tape is a layer
#
# Write `Tape`, a `Layer`. In `call(op, args)` it passes the op on with `op(*args)`, which asks the layers below: while a
# layer answers, it isn't on the stack. The parents are the histories of the arguments that are tensors, None for others,
# and all None if `enabled` is False. If one has a history and the op a rule, the call is noted: the result `requires_grad`, and
# its `grad_fn` is a `Note`; but only if its dtype is a float (`out.dtype.kind == "f"`). Every result gets `out.since`, the
# version of its storage; but a `Write` that is not noted, in `no_grad` say, leaves it as it was: a history that lacked a
# write lacks it still.
#
# A `Write` that is noted, `copy_(x, y)`, has x for its result. It is a RuntimeError if x is a leaf, and then nothing is
# written. The new history of x has y for its only parent; there is none, and x requires no gradient, if y has no history. And
# the version is also noted in `x.storage.noted`, unless x is a fake.

# %% step="08.4"
class Tape(Layer):
    """Notes the ops of which an argument has a history."""

    enabled = True  # for all tapes

    def call(self, op, args):
        """An op on its way down to its kernel."""


# %%
check("08.4")

# %% tags=["wrong"] step="08.4" says="no_grad sets Tape.enabled to False"
# -         parents = [history(arg) if isinstance(arg, Tensor) and self.enabled else None for arg in args]
# +         parents = [history(arg) if isinstance(arg, Tensor) else None for arg in args]

# %% tags=["wrong"] step="08.4" says="they have no slope"
# -             out.requires_grad = any(p is not None for p in parents) and out.dtype.kind == "f"
# +             out.requires_grad = any(p is not None for p in parents)

# %% tags=["wrong"] step="08.4" says="x is what the gradient is asked for"
# -         ops.ensure(not (noted and writes and parents[0] is args[0]), "a leaf that requires grad: write in no_grad()")

# %% tags=["wrong"] step="08.4" says="Refuse before the op is passed on"
# -         ops.ensure(not (noted and writes and parents[0] is args[0]), "a leaf that requires grad: write in no_grad()")
# -         out = op(*args)
# +         out = op(*args)
# +         ops.ensure(not (noted and writes and parents[0] is args[0]), "a leaf that requires grad: write in no_grad()")

# %% tags=["wrong"] step="08.4" says="What was there before is overwritten"
# -             parents = [None, parents[1]] if writes else parents  # what is overwritten does not count

# %% tags=["wrong"] step="08.4" says="its history does not know"
# -         if noted and writes and not out.is_fake:  # while tracing, writes through views are taken apart later
# -             out.storage.noted = out.since

# %% tags=["wrong"] step="08.4" says="made after the write"
# -             out.since = out.storage.version
# +             out.since = out.storage.version if writes else 0

# %% tags=["wrong"] step="08.4" says="op.run would go past them"
# -         out = op(*args)
# +         out = op.run(*args)

# %% tags=["wrong"] step="08.4" says="that is what it is for"
# -         noted, writes = any(p is not None for p in parents) and op in DERIVATIVES, isinstance(op, Write)
# +         noted, writes = any(p is not None for p in parents), isinstance(op, Write)

# %% tags=["wrong"] step="08.4" says="No history came into b by this write"
# -         noted, writes = any(p is not None for p in parents) and op in DERIVATIVES, isinstance(op, Write)
# +         noted, writes = self.enabled and op in DERIVATIVES, isinstance(op, Write)

# %% tags=["wrong"] step="08.4" says="returns what comes back"
# -         return out

# %% tags=["wrong"] step="08.4" says="also where nothing is noted"
# -         if noted or not writes:  # a write that is not noted: what its history lacks, it still lacks
# +         if noted:

# %% tags=["wrong"] step="08.4" says="Leave since as it was"
# -         if noted or not writes:  # a write that is not noted: what its history lacks, it still lacks
# -             out.since = out.storage.version
# +         out.since = out.storage.version

# %% [markdown]
# ## 08.5 Derivatives, element by element
#
# `DERIVATIVES` is a dictionary: for each op its rule. A rule is called with the gradient of the result, the result, and the
# op's arguments, and gives a list with one gradient for each of the tensors. Write rules for `add`, `sub`, `mul`, `div`, `neg`,
# `exp`, `log`, `sqrt`, `tanh`, `sin`, `cos`, `sigmoid`, `relu`, `maximum`, `where`, `clone`, `to_` and `copy_` (they are
# `ops.add`, ...). A parameter of which the rule reads no numbers has a name with an underscore in front; of `where`'s condition
# and of what `copy_` overwrites the gradient is None. `larger(g, x, y)` is what `maximum` gives to x: where both are equal, half.

# %% step="08.5"
def larger(g, x, y):
    """g where x is the larger one; where both are, each gets half."""


DERIVATIVES = {
    ops.add: lambda g, _out, _x, _y: [g, g],
    ops.mul: lambda g, _out, x, y: [g * y, g * x],
}  # and the others


# %%
check("08.5")

# %% tags=["wrong"] step="08.5" says="The more you divide by"
# -     ops.div: lambda g, out, _x, y: [g / y, -g * out / y],
# +     ops.div: lambda g, out, _x, y: [g / y, g * out / y],

# %% tags=["wrong"] step="08.5" says="each gets the other one"
# -     ops.mul: lambda g, _out, x, y: [g * y, g * x],
# +     ops.mul: lambda g, _out, x, y: [g * x, g * y],

# %% tags=["wrong"] step="08.5" says="steep near 0"
# -     ops.sqrt: lambda g, out, _x: [g / (2 * out)],
# +     ops.sqrt: lambda g, out, _x: [g * out / 2],

# %% tags=["wrong"] step="08.5" says="1 - tanh(x) squared"
# -     ops.tanh: lambda g, out, _x: [g * (1 - out * out)],
# +     ops.tanh: lambda g, out, _x: [g * (1 - out)],

# %% tags=["wrong"] step="08.5" says="each gets half"
# -     return where(ops.eq(x, y), g / 2, where(ops.lt(y, x), g, 0))
# +     return where(ops.lt(y, x), g, 0)

# %% tags=["wrong"] step="08.5" says="nobody would notice a write"
# -     ops.cos: lambda g, _out, x: [-g * x.sin()],
# +     ops.cos: lambda g, _out, _x: [-g * _x.sin()],

# %% tags=["wrong"] step="08.5" says="goes to the one that was taken"
# -     where: lambda g, _out, chosen, _x, _y: [None, where(chosen, g, 0), where(chosen, 0, g)],
# +     where: lambda g, _out, chosen, _x, _y: [None, g, g],

# %% [markdown]
# ## 08.6 Derivatives over dimensions
#
# The other half of the table: `sum_` (arguments x, dims, keepdim), `amax` (the same),
# `matmul`, `view` (x, sizes), `expand`, `permute` (x, dims), `slice_` (x, dim, start, stop, step) and `slice_backward` (x, dim,
# size, start, step: x among zeros, at start, start + step, ...). Each is a line, but for `amax_backward`, in which all elements
# that are the largest share the gradient. `kept(x, reduced, dims)` is of use for both reductions: what was reduced, with its
# dimensions back, of size 1, so that it broadcasts against x. You may use `ops.expand_to`, `reshape` and `@`.

# %% step="08.6"
def kept(x, reduced, dims):
    """A reduction's result with its dimensions back, of size 1."""


def amax_backward(g, out, x, dims, keepdim):
    """Those that are the largest share the gradient."""


DERIVATIVES |= {}  # a rule for each of them


# %%
check("08.6")

# %% tags=["wrong"] step="08.6" says="that is the inverse permutation"
# -     ops.permute: lambda g, _out, _x, dims: [ops.permute(g, tuple([dims.index(d) for d in range(len(dims))]))],
# +     ops.permute: lambda g, _out, _x, dims: [ops.permute(g, dims)],

# %% tags=["wrong"] step="08.6" says="Give g its dimensions back first"
# -     ops.sum_: lambda g, _out, _x, dims, keepdim: [ops.expand_to(kept(_x, g, dims), _x.sizes)],
# +     ops.sum_: lambda g, _out, _x, dims, keepdim: [ops.expand_to(g, _x.sizes)],

# %% tags=["wrong"] step="08.6" says="share the gradient: divide by how many"
# -     return [mask * (kept(x, g, dims) / ops.sum_(mask, dims, True))]
# +     return [mask * kept(x, g, dims)]

# %% tags=["wrong"] step="08.6" says="With a step: elements 1 and 4"
# -     ops.slice_: lambda g, _out, _x, dim, start, stop, step: [ops.slice_backward(g, dim, _x.sizes[dim], start, step)],
# +     ops.slice_: lambda g, _out, _x, dim, start, stop, step: [ops.slice_backward(g, dim, _x.sizes[dim], start, 1)],

# %% tags=["wrong"] step="08.6" says="Only the last two dimensions are transposed"
# -     ops.matmul: lambda g, _out, x, y: [g @ y.transpose(-1, -2), x.transpose(-1, -2) @ g],
# +     ops.matmul: lambda g, _out, x, y: [g @ y.transpose(0, 1), x.transpose(0, 1) @ g],

# %% [markdown]
# ## 08.7 The order of the walk
#
# A note may pass its gradient on when all has come that will come: after every note that used its result. Each of these was made
# later than the note itself. So number the notes as they are made (08.3 does), and always take the one with the highest number:
# it can't wait for anything any more. The lesson counts instead what each node has to wait for, which takes a walk beforehand. Both
# visit each note once; the package's engine takes the highest number, too.
#
# `add_to(gradients, node, grad)` adds to what has come for this node so far. `take_latest(pending)`, for a dictionary of notes and
# their gradients, takes out the note with the highest `number`, and gives a pair: the note, and its gradient.

# %% step="08.7"
def add_to(gradients, node, grad):
    """What is used several times gets the sum of what comes back."""


def take_latest(pending):
    """The note that was made last, and its gradient. That is complete: what used its result was made later still."""


# %%
check("08.7")

# %% tags=["wrong"] step="08.7" says="a gradient from each use"
# -     gradients[node] = gradients[node] + grad if node in gradients else grad
# +     gradients[node] = grad

# %% tags=["wrong"] step="08.7" says="changes what others have"
# -     gradients[node] = gradients[node] + grad if node in gradients else grad
# +     if node in gradients:
# +         gradients[node] += grad
# +     else:
# +         gradients[node] = grad

# %% tags=["wrong"] step="08.7" says="Nothing had come before"
# -     gradients[node] = gradients[node] + grad if node in gradients else grad
# +     gradients[node] = gradients[node] + grad

# %% tags=["wrong"] step="08.7" says="may still wait for what was made later"
# -     latest = max(pending, key=lambda note: note.number)
# +     latest = min(pending, key=lambda note: note.number)

# %% tags=["wrong"] step="08.7" says="not in the order in which gradients come"
# -     latest = max(pending, key=lambda note: note.number)
# +     latest = list(pending)[-1]

# %% tags=["wrong"] step="08.7" says="It has had its turn"
# -     return latest, pending.pop(latest)
# +     return latest, pending[latest]

# %% [markdown]
# ## 08.8 The walk
#
# The engine. `walk_back(outputs, grads, ends, keep)` gives a dictionary: for each leaf that the outputs were made from, and for
# each history in `ends`, the gradient that arrived there. It begins with the gradients of the outputs, which arrive at the outputs'
# histories. What arrives at a leaf, which is a tensor, or at an end is an answer; what arrives at a note waits there. As long as notes wait, the latest has
# its turn: `note.backward(grad)` gives a gradient for each of `note.parents`, where it arrives; a parent that is None wants none. A
# note that has had its turn is freed, unless `keep` is True: its `args`, `out` and `kept` become None.

# %% step="08.8"
def walk_back(outputs, grads, ends=(), keep=False):
    """The gradients of the leaves that the outputs were made from, and of the histories in `ends`."""


# %%
check("08.8")

# %% tags=["wrong"] step="08.8" says="each gives gradients to its parents"
# -         arriving = zip(note.parents, note.backward(grad), strict=False)
# +         arriving = zip(note.parents[:1], note.backward(grad), strict=False)

# %% tags=["wrong"] step="08.8" says="unless keep says"
# -         if not keep:
# -             note.args = note.out = note.kept = None  # frees what it kept, and the circle through `out`

# %% tags=["wrong"] step="08.8" says="its gradient is an answer"
# -                 add_to(found if isinstance(node, Tensor) or node in ends else pending, node, grad)
# +                 add_to(found if isinstance(node, Tensor) else pending, node, grad)

# %% tags=["wrong"] step="08.8" says="The latest note comes next"
# -         note, grad = take_latest(pending)
# +         note, grad = pending.popitem()

# %% [markdown]
# ## 08.9 What users call
#
# `backward(loss, grad)`: without a given gradient the loss must be one number, of sizes (), (1,) or (1, 1) (`ones` checks
# that, with a RuntimeError, and gives 1 of its sizes and dtype), and it must require grad. It adds to the `grad` of each
# leaf, in `no_grad`. What arrives may arrive at several leaves, of x + y say; each `grad` is a memory of its own, so it
# begins with a copy (`ops.clone`). `grad(function)` gives the function's gradient in its first argument, and it can be
# derived again: with a `Tape()` of its own (under vmap, in lesson 10, it will see single examples), in `enable_grad`, on a
# copy of x that requires grad, and with `keep`. A function that does not depend on x has gradient zero.

# %% step="08.9"
def ones(loss):
    """The gradient with which a walk begins: of one number, 1."""


def backward(loss, grad=None):
    """Adds to the `grad` of each leaf."""


def grad(function):
    """The gradient of a function in its first argument; it can be derived again."""


# %%
check("08.9")

# %% [markdown]
# A network of your own tensors, trained by your own tape. Nothing of the package is in it.

# %%
if passed("08.9"):
    import mini.tape
    from mini.tensor import tensor

    x, wanted = tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), tensor([[0.0], [1.0], [1.0], [0.0]])
    first = tensor([[1.0, -0.8, 0.6], [-0.9, 1.1, 0.4]], requires_grad=True)
    second = tensor([[1.0], [0.7], [-0.2]], requires_grad=True)
    for step in range(400):
        error = (x @ first).tanh() @ second - wanted
        loss = (error * error).sum()
        loss.backward()
        with mini.tape.no_grad():
            for weights in (first, second):
                weights.sub_(weights.grad * 0.1)
                weights.grad = None
        if step % 100 == 0:
            print(step, loss.item())

# %% tags=["wrong"] step="08.9" says="is added to what is there"
# -             leaf.grad = ops.clone(part) if leaf.grad is None else leaf.grad + part  # a memory of its own
# +             leaf.grad = ops.clone(part)

# %% tags=["wrong"] step="08.9" says="a write to one is seen in the other"
# -             leaf.grad = ops.clone(part) if leaf.grad is None else leaf.grad + part  # a memory of its own
# +             leaf.grad = part if leaf.grad is None else leaf.grad + part

# %% tags=["wrong"] step="08.9" says="Of two, there are two"
# -     ops.ensure(loss.numel() == 1, f"a gradient is of one number, this tensor has sizes {loss.sizes}")

# %% tags=["wrong"] step="08.9" says="One number is one, in however many brackets"
# -     ops.ensure(loss.numel() == 1, f"a gradient is of one number, this tensor has sizes {loss.sizes}")
# +     ops.ensure(loss.sizes == (), f"a gradient is of one number, this tensor has sizes {loss.sizes}")

# %% tags=["wrong"] step="08.9" says="has the dtype of the loss"
# -     return full(loss.sizes, 1, loss.dtype)
# +     return full(loss.sizes, 1.0, "float64")

# %% tags=["wrong"] step="08.9" says="It has no history of its own"
# -     with no_grad():
# +     with enable_grad():

# %% tags=["wrong"] step="08.9" says="Work on a copy"
# -             mine = ops.clone(x)  # where x has a history, so has this, and what is computed from it
# +             mine = x

# %% tags=["wrong"] step="08.9" says="It must be possible to derive it again"
# -             found = walk_back([out], [ones(out)], [history(mine)], keep=True)
# +             found = walk_back([out], [ones(out)], [history(mine)])

# %% tags=["wrong"] step="08.9" says="a nudge of x changes nothing"
# -             return found[history(mine)] if history(mine) in found else full(x.sizes, 0, x.dtype)
# +             return found[history(mine)]

# %% [markdown]
# ## All of them
#
# How far you are, and the whole stack on your own parts: every answer that passes and has a place in the package.

# %%
progress("08")

# %%
with own_parts():
    x = torch.ones(3, requires_grad=True)
    (x * torch.ones(2, 3)).sum().backward()
    print(x.grad)
