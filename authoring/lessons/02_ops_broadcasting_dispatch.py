# %% [markdown]
# # 02 Ops, broadcasting, promotion, dispatch
#
# Here is a line of a program: `(x * 2 + 1).relu()`. And here are four tensors to run it on. The first holds two
# numbers. The second asks for gradients. The third has a million rows and a million columns, which would be four
# terabytes. The fourth is run while somebody is watching.

# %%
import minitorch_compile as torch
from minitorch_compile.tensor import empty_fake
from minitorch_compile.tensor.dispatch.dispatch import mode


def line(x):
    return (x * 2 + 1).relu()


class Watch:
    def process(self, op, args, kwargs):
        print("  watched:", op.name)
        return op(*args, **kwargs)


print(line(torch.tensor([-1.0, 2.0])))
print(line(torch.ones(2, requires_grad=True)).grad_fn.name())
print(line(empty_fake((1_000_000, 1_000_000))).shape)
watched = torch.ones(2)
with mode(Watch()):
    line(watched)

# %% [markdown]
# The same line computed numbers, wrote a tape for the backward pass, worked out sizes without touching a number, and
# reported what it did. Nothing in it says which. A compiler lives off this: it runs *your* program, unchanged, and
# makes it mean something else, "write yourself down", for instance. In this lesson you build the machinery behind one
# line: what an operation is, how two tensors of different sizes and types meet in it, and the one door that every call
# goes through, where it is decided what the call means.
#
# ## An op is a kernel and a promise
#
# The numbers of a tensor lie in NumPy arrays, so the simplest possible operation is a function on arrays, a *kernel*.
# We give it a name and put it in a table.

# %%
import numpy as np

kernels = {}


def kernel(function):
    kernels[function.__name__] = function
    return function


@kernel
def add(x, y):
    return x + y


@kernel
def mul(x, y):
    return x * y


@kernel
def relu(x):
    return np.maximum(x, 0)


@kernel
def matmul(x, y):
    return x @ y


kernels["relu"](kernels["add"](np.array([-3.0, 1.0]), 1.0))

# %% [markdown]
# A kernel needs numbers. But much of what a program wants to know about a result can be known without: its sizes and
# its element type. How big will this buffer be? Do these shapes fit at all? So an op has a second half, a *rule*, which
# answers from the sizes alone. A kernel computes, a rule promises, and the kernel must keep what the rule promised.
#
# For `relu` the rule is trivial: the sizes of the argument. For `add` it is the first interesting question of this
# lesson. What are the sizes of a (3, 1) plus a (4,)?
#
# ## Broadcasting: sizes that stretch
#
# A batch of 32 vectors, plus one bias vector; an image of three colours, minus one mean for each. Written out, the
# smaller operand would have to be copied until it is as big as the other. Instead it *stretches*, by two rules:
#
# 1. Write the sizes below each other, aligned to the right. Where one list is shorter, fill up with 1 from the left.
# 2. In each column, the sizes must be equal, or one of them must be 1, and the 1 stretches.
#
# That is all. It is worth doing by hand once, since every shape error you will ever debug is in there.


# %%
def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes that all shapes stretch to."""
    ndim = max(map(len, shapes))
    aligned = [(1,) * (ndim - len(shape)) + tuple(shape) for shape in shapes]
    result = []
    for column in zip(*aligned):
        stretched = {size for size in column if size != 1}
        if len(stretched) > 1:
            raise ValueError(f"sizes {sorted(stretched)} meet in one dimension: {shapes}")
        result.append(stretched.pop() if stretched else 1)
    return tuple(result)


print(
    broadcast((32, 100), (100,)),
    broadcast((3, 1), (4,)),
    broadcast((2, 1, 5), (7, 1)),
    broadcast((0, 3), (1, 3)),
)
try:
    broadcast((3, 4), (3,))
except ValueError as error:
    print("ValueError:", error)

# %% [markdown]
# Two of these deserve a second look. A (3, 4) and a (3,) do *not* fit, although they have a 3 in common: aligned to the
# right, the 3 meets the 4. You meant (3, 1). And a size of 0 is a size like any other: a 1 stretches to it, by being
# repeated no times.
#
# How is the stretching done? You know it already: by a stride of 0. The stretched operand is a *view* in which a step
# along the new dimension does not move. Here is a row of four, read as three rows; every cell wears the colours of the
# three rows that read it.

# %%
from minitorch_compile.course.drawings.storage import draw_storage

draw_storage(torch.arange(4).expand(3, 4))


# %%
def stretched_strides(
    sizes: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]
) -> tuple[int, ...]:
    """The strides under which a tensor reads as if it had the target sizes."""
    lead = len(target) - len(sizes)
    kept = [
        0 if size == 1 and target[lead + d] != 1 else stride
        for d, (size, stride) in enumerate(zip(sizes, strides))
    ]
    return (0,) * lead + tuple(kept)


print(stretched_strides((4,), (1,), (3, 4)), stretched_strides((3, 1), (1, 1), (3, 4)))
print(torch.arange(4).expand(3, 4).stride(), torch.arange(3).view(3, 1).expand(3, 4).stride())

# %% [markdown]
# So `x + y` is two views and one loop, and broadcasting costs no memory. That isn't quite the end of it. In the
# backward pass the arrow turns round: one number that was read three times gets three gradients, which have to be
# *summed*. Stretching and summing are each other's mirror image, and lesson 08 will lean on that.
#
# It also has a dark side: it can be too helpful. A prediction of sizes (32, 1) and a target of sizes (32,) differ by
# what looks like nothing. Their difference is not 32 numbers:

# %%
prediction, target = torch.zeros(32, 1), torch.ones(32)
print((prediction - target).shape)

# %% [markdown]
# That is 1,024 numbers, and their mean is a perfectly plausible loss. It trains, too; just not what you think. This bug
# has cost more evenings than any other in this lesson, and the only protection is to look at shapes.
#
# ## Promotion: which type comes out
#
# Sizes are half of the promise. The other half is the element type, the *dtype*. Integer plus float? float32 plus
# float64? int64 plus the Python number 2.5? NumPy has an answer, PyTorch has another, and programs written for PyTorch
# depend on PyTorch's, often without knowing.
#
# The idea: dtypes come in *categories*, bool below integers below floats below complex numbers. The higher category
# decides, and only within it the width matters:


# %%
def promotion_table(names: list[str]):
    from minitorch_compile.course.drawings.table import Table

    def result(a, b):
        return str(torch.promote_types(getattr(torch, a), getattr(torch, b))).removeprefix("torch.")

    return Table([{"": a} | {b: result(a, b) for b in names} for a in names])


promotion_table(["bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64"])

# %% [markdown]
# Read the row of int64. With float16 it gives float16: sixty-four bits and sixteen bits make sixteen bits, because a
# float is a float, and the integer has no say in how wide. With int8 and uint8 neither can hold the other's values, so
# both move up to int16. Everything else is "the wider one".
#
# Now the rule that makes programs pleasant to write. A Python number is *weaker* than any tensor: it never changes the
# width, only, if it must, the category. `x * 2.5` with a float16 `x` stays float16, or half-precision models would turn
# into float32 at the first constant. A tensor without dimensions, such as a loss, is weak in the same way towards
# tensors that have some.

# %%
half, whole, wide = (
    torch.ones(2, dtype=torch.float16),
    torch.tensor([1, 2]),
    torch.tensor(1.0, dtype=torch.float64),
)
print("float16 vector * 2.5          ", (half * 2.5).dtype)
print("int64 vector   * 2.5          ", (whole * 2.5).dtype)
print("int64 vector   * 2            ", (whole * 2).dtype)
print("float16 vector * 0-d float64  ", (half * wide).dtype)
print("0-d float64    * 2.5          ", (wide * 2.5).dtype)

# %% [markdown]
# The second line is the subtle one: a Python float met integers, so the category had to rise, and the width had to come
# from somewhere. It is the *default dtype*, float32. Three strengths, then: tensors with dimensions, tensors without,
# and Python numbers. The stronger group decides, unless a weaker one has a higher category. In code it is short:


# %%
NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
CATEGORY = {name: 0 if name == "bool" else 2 if "float" in name else 1 for name in NAMES}
PYTHON = {bool: "bool", int: "int64", float: "float32"}


def widest(names: list[str]) -> str | None:
    """The dtype of one group, by the table above."""
    if not names:
        return None
    result = getattr(torch, names[0])
    for name in names[1:]:
        result = torch.promote_types(result, getattr(torch, name))
    return str(result).removeprefix("torch.")


def promote(*operands) -> str:
    """The dtype in which operands meet: (name, number of dimensions), or Python numbers."""
    tensors = [operand for operand in operands if isinstance(operand, tuple)]
    groups = [
        widest([name for name, ndim in tensors if ndim > 0]),
        widest([name for name, ndim in tensors if ndim == 0]),
        widest([PYTHON[type(operand)] for operand in operands if not isinstance(operand, tuple)]),
    ]
    result = None
    for name in groups:  # from the strongest to the weakest
        if name is not None and (result is None or CATEGORY[name] > CATEGORY[result]):
            result = name
    return result


print(promote(("float16", 1), 2.5), promote(("int64", 1), 2.5))

# %% [markdown]
# Do we have PyTorch's rule, or something that merely agrees in five examples? The package is an independent
# implementation, so let it be the judge, on every pair of operands there is:

# %%
import itertools

candidates = [(name, ndim) for name in CATEGORY for ndim in (0, 1)] + [True, 2, 2.5]


def real(operand):
    if not isinstance(operand, tuple):
        return operand
    name, ndim = operand
    return torch.ones((2,) * ndim, dtype=getattr(torch, name))


checked = 0
for a, b in itertools.product(candidates, repeat=2):
    if isinstance(a, tuple) or isinstance(b, tuple):
        assert f"torch.{promote(a, b)}" == str((real(a) * real(b)).dtype), (a, b)
        checked += 1
print(checked, "pairs agree")

# %% [markdown]
# Not every op keeps the common dtype. Comparisons give bools whatever goes in. `exp` and division make floats of
# integers, since there is no integer e. `sum` of integers widens to int64, so that three hundred bytes of 1 don't add up
# to 44. A family of ops shares such a rule, so a family has to say it once.
#
# ## One op, put together
#
# An op, then: a name, a kernel, a rule for sizes. (Our own ops here leave dtypes to NumPy; you have seen how they
# would be done.) A tensor that has sizes and no numbers is called *fake*, and running a rule on fakes is what we saw at
# the beginning: four terabytes, worked out in microseconds.


# %%
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Fake:
    """Sizes without numbers."""

    shape: tuple[int, ...]


@dataclass(frozen=True)
class Op:
    name: str
    kernel: Callable
    rule: Callable[..., tuple[int, ...]]

    def __call__(self, *args):
        return dispatch(self, args)


def matmul_sizes(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    if x[-1] != y[-2]:
        raise ValueError(f"matmul: the inner sizes differ: {x} and {y}")
    return (*broadcast(x[:-2], y[:-2]), x[-2], y[-1])


Add = Op("add", kernels["add"], broadcast)
Mul = Op("mul", kernels["mul"], broadcast)
Relu = Op("relu", kernels["relu"], lambda x: x)
MatMul = Op("matmul", kernels["matmul"], matmul_sizes)

# %% [markdown]
# One thing is missing. Calling an op doesn't compute anything: it goes to `dispatch`, which isn't written yet.
#
# ## One door
#
# What should a call mean? Compute, if the arguments are numbers. Work out sizes, if one is fake. Be written down, if
# somebody is writing down. One could put an `if` for each into every op; PyTorch has about 2,500 of them and a dozen
# meanings. So there is one function between the call and the op. It keeps a *stack of interpreters*. The topmost gets
# the call, and what it calls itself goes to the one below. At the bottom of the stack stands the machine that really
# computes.


# %%
stack = []


def dispatch(op: Op, args: tuple):
    """Gives the call to the topmost interpreter; without one, to the machine."""
    if not stack:
        return machine(op, args)
    top = stack.pop()  # what the interpreter calls goes to those below it
    try:
        return top.process(op, args)
    finally:
        stack.append(top)


def machine(op: Op, args: tuple):
    if any(isinstance(arg, Fake) for arg in args):
        return Fake(
            op.rule(*(np.shape(arg) if not isinstance(arg, Fake) else arg.shape for arg in args))
        )
    return op.kernel(*args)


def model(x, w, b):
    return Relu(Add(MatMul(x, w), b))


numbers = model(np.ones((2, 3)), np.ones((3, 4)), -np.arange(4.0))
sizes = model(Fake((1_000_000, 512)), Fake((512, 512)), Fake((512,)))
print(numbers, sizes, sep="\n")

# %% [markdown]
# Nine lines. Don't pass over the `pop`. An interpreter that has been given a call will make calls itself, if only the
# same one again: the counter below notes an addition, and then wants it done. Were it still on the stack, it would be
# asked again, note the addition again, and so for ever. While it works, it is not there. The `finally` puts it back,
# also if the op raises an error, or else one wrong shape would leave the stack without its top for good.
#
# Now every interpreter is a class with one method, and each gives the same program another meaning. Here
# are three. The first counts. The second writes down a program that can be run again, which makes it the ancestor of
# every tracer in this course. The third replaces: it never lets an addition be executed, and says it in other ops.


# %%
class Count:
    """How often each op was called."""

    def __init__(self):
        self.calls = {}

    def process(self, op, args):
        self.calls[op.name] = self.calls.get(op.name, 0) + 1
        return op(*args)


class Record:
    """The program as a list of lines, while it runs."""

    def __init__(self):
        self.lines, self.names = [], {}

    def name(self, value):
        return self.names.setdefault(id(value), (f"v{len(self.names)}", value))[0]

    def process(self, op, args):
        inputs = ", ".join(map(self.name, args))
        result = op(*args)
        self.lines.append(f"{self.name(result)} = {op.name}({inputs})    # {np.shape(result)}")
        return result


class MinusMinus:
    """x + y as x - (-y), said in multiplications by -1."""

    def process(self, op, args):
        if op is Add:
            x, y = args
            return Op("sub", lambda x, y: x - y, broadcast)(x, Mul(y, np.array(-1.0)))
        return op(*args)


# %% [markdown]
# To use them, they are put on the stack while the model runs, and taken off again:


# %%
def run_under(interpreters, *args):
    stack.extend(interpreters)
    try:
        return model(*args)
    finally:
        del stack[-len(interpreters) :]


example = np.ones((2, 3)), np.ones((3, 4)), -np.arange(4.0)
count, record = Count(), Record()
run_under([count], *example)
run_under([record], *example)
print(count.calls)
print(*record.lines, sep="\n")

# %% [markdown]
# And they compose, because each only knows "the one below". Put the recorder *under* the replacer and it sees what the
# replacer made of the program; put it on top and it sees what you wrote.

# %%
below, above = Record(), Record()
run_under([below, MinusMinus()], *example)
run_under([MinusMinus(), above], *example)
print("recorder below:", *below.lines, "recorder on top:", *above.lines, sep="\n")

# %% [markdown]
# You have just run two compiler passes. "Record" is tracing, and "replace an op by others" is decomposition. Lesson 11
# traces the backward pass with a recorder that sits below autograd, and so sees the gradient's own operations. Lesson
# 12 decomposes all ops to a small set of primitive ones with an interpreter like `MinusMinus`. Both are about as long as
# the ones above.
#
# Look at what made it possible. The program called `Add` and knew nothing; the op didn't know either. The meaning was
# attached at the door, from outside, for as long as we liked. A library in which `x + y` directly adds numbers can
# never be traced, differentiated or vectorised without rewriting its users.
#
# ## The package's own ops
#
# In minitorch_compile the table is `ops.table`, and an op is declared by decorating its kernel. The family gives the
# rule: all pointwise ops broadcast and promote in the same way, so their rows don't mention it.

# %%
import inspect

from minitorch_compile.tensor import ops

print(inspect.getsource(ops.gelu.kernel))

# %% [markdown]
# The decorator says what is particular about the row: that this one is a function of `nn.functional` and no method. All
# the others get their method, their in-place form and the `out=` argument from the same declaration. Let's declare one
# of our own, and see what it can do that we never wrote:

# %%
from minitorch_compile.tensor.dispatch.declare import pointwise
from minitorch_compile.tensor.dispatch.op import Array

if "hinge" not in ops.table:  # a name can be taken once, and you may run this cell twice

    @pointwise(methods=False)
    def hinge(input: Array, margin: Array) -> Array:
        """max(0, margin - input): what is missing to a margin."""
        return np.maximum(margin - input, 0)


hinge = ops.table["hinge"]
print(hinge(torch.tensor([[0.0], [2.0]]), torch.tensor([1.0, 3.0])))  # broadcasting
print(hinge(torch.tensor([1, 5]), 2.5).dtype)  # promotion
print(hinge(empty_fake((1_000_000, 1)), empty_fake((1_000_000,))).shape)  # fake tensors
print(hinge(torch.tensor([0.5]), 1, out=torch.empty(1)))  # and out=

# %% [markdown]
# What it can't do is differentiate: that takes a formula (lesson 08). Nor can it be compiled: that takes a
# decomposition (lesson 12). Ask, and the error names the missing row. This is the plan of the whole house. Floor 1
# declares ops; each later floor adds a table of rules *about* ops; and a test walks the table and fails for every op
# without its rule.
#
# The door is `minitorch_compile.tensor.dispatch.dispatch`, and it has three storeys where ours had one:

# %%
from minitorch_compile.tensor.dispatch.dispatch import dispatch as package_dispatch

print(inspect.getsource(package_dispatch))

# %% [markdown]
# *Transforms* come first, such as `vmap` of lesson 10. Then the *tape*, which only wants calls whose arguments require
# gradients. Then the *modes*, such as the tracer. Then the kernel. The order matters, as it did with `below` and
# `above`: a mode sits under the tape so that it sees the ops of the backward formulas. Watch the two halves of a
# derivative go by:

# %%
x = torch.tensor([0.5, 2.0], requires_grad=True)
with mode(Watch()):
    print("forward")
    y = torch.sin(x) * x
    print("backward")
    y.sum().backward()

# %% [markdown]
# The backward pass of `mul` is two multiplications, that of `sin` needs a cosine, and you could have read that off
# without knowing any formula.
#
# A door costs something to walk through. An op on four numbers is nearly all door:

# %% tags=["varies"]
import timeit

small, array = torch.ones(4), np.ones(4, np.float32)


def microseconds(action) -> float:
    return min(timeit.repeat(action, number=2000, repeat=5)) / 2000 * 1e6


print(f"NumPy's array * array     {microseconds(lambda: array * array):6.2f} microseconds")
print(f"small * small             {microseconds(lambda: small * small):6.2f}")
recorded = torch.ones(4, requires_grad=True)
print(f"recorded * small          {microseconds(lambda: recorded * small):6.2f}")

# %% [markdown]
# Some microseconds, and more if a tape is wanted. That is why the frequent case, plain tensors of one size and type with
# no interpreter anywhere, has a short cut through the code (`PointwiseOp.run_plain`). It is also the deepest reason for compiling. A compiled
# graph goes through the door once, for all of its operations together.
#
# ## What PyTorch does differently
#
# - Its dispatcher is C++, and the stack is a set of *dispatch keys*, one bit each, ordered by number: Autograd above
# Functionalize above CPU. Every tensor carries its keys, so a call need not look at a stack, only at the highest bit.
# Python interpreters like ours are `TorchDispatchMode` (below autograd) and functorch's stack (above).
# - It has about 2,500 native functions, most with several overloads, from one YAML file and a code generator. We have
# some 800 rows, many of which are written in other ops; `docs/ops.md` lists them all.
# - Broadcasting, promotion and the strides of the result are worked out by one C++ class, TensorIterator. Ours is
# `tensor/dispatch/pointwise_op.py` together with `tensor/memory/strides.py`.
# - Type promotion is the same, on purpose. Where you find a difference, it is a bug.
#
# ## Exercises
#
# Open `work/02_ops_broadcasting_dispatch.ipynb`. There are nine: a famous computation to get under par, and eight steps, two
# hours and a half, that write a file.
#
# ## What you write
#
# `mini/ops.py`: about thirty ops in seven families, each with its rule for sizes and dtypes, the stack of layers, views,
# writes, indexing, and the operators of your tensors. Afterwards `x @ w + b` computes, and of fakes it tells sizes. The
# package's version, `tensor/dispatch/` and `tensor/ops/`, has some 800 rows. It puts tensors without dimensions between
# tensors and numbers when it promotes, lays results out as their operands lie, writes results into `out=`, indexes with
# tensors, and takes a short cut for plain calls.
