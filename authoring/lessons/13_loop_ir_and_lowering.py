# %% [markdown]
# # 13 Loop IR and lowering
#
# Lesson 12 left us with a graph of prims, and a small machine that runs it: one NumPy call after the other. Every
# number is right. So what is there left to do? Let's take a small function that networks on phones are full of, the
# hard swish, `x * clamp(x + 3, 0, 6) / 6`, and follow its data.

# %%
import minitorch_compile as torch
from minitorch_compile import prims
from minitorch_compile.aot.passes import simplify
from minitorch_compile.aot.tracing import trace
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import empty_fake


def prim_graph(function, *sizes):
    """A function of float32 tensors as a graph of prims, swept up."""
    graph = trace(lambda *xs: (function(*xs),), [empty_fake(each) for each in sizes])
    return simplify(prims.decompose(graph))


def megabytes(node):
    return node.meta["val"].numel() * node.meta["val"].dtype.itemsize / 2**20


swish, traffic = prim_graph(F.hardswish, (2048, 1024)), 0
for node in swish.graph.find_nodes(op="call_function"):
    reads, writes = sum(map(megabytes, node.all_input_nodes)), megabytes(node)
    traffic += reads + writes
    bar = "#" * int(reads + writes)
    print(f"{node.target.name:8} reads {reads:2.0f} MB, writes {writes:.0f} MB   {bar}")
print(f"all together {traffic:.0f} MB")

# %% [markdown]
# Two million numbers of four bytes: the input has 8 MB, the result has 8 MB. So 16 MB have to move, whatever we do. Op
# by op it is nine times as much. Each prim fetches whole arrays from memory, does one thing to each number, and puts a
# whole array back, only for the next prim to fetch it again. Even the constants are arrays here, two million times the
# same number.
#
# A processor core does many billions of additions in a second, but its memory delivers only a few billion numbers in
# that time. So it waits. Let's see how long, on one core, beside the least that is possible: a copy, which reads and
# writes each number once and computes nothing.

# %% tags=["varies"]
import time


def milliseconds(function, *arguments):
    """The best of ten, after a first call that compiles."""
    function(*arguments)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


x, threads = torch.randn(2048, 1024), torch.get_num_threads()
by_prim = torch.compile(lambda x: F.hardswish(x), backend="aot_eager_decomp_partition")
one_loop = torch.compile(lambda x: F.hardswish(x))
torch.set_num_threads(1)
for text, function in (("prim by prim", by_prim), ("one loop", one_loop), ("a copy", torch.clone)):
    print(f"{text:14}{milliseconds(function, x):6.2f} ms")
torch.set_num_threads(threads)

# %% [markdown]
# The second line is about as fast as the third. Computing all of it costs no more than copying, because the arithmetic
# is done while the next numbers are on their way. The first line pays for its bytes, and for getting fresh memory for
# each of its arrays as well.
#
# What does the fast version do? It reads each number once, keeps what it computes in registers, and writes the result
# once. It is *one loop*. In this lesson you build what turns a graph of prims into loops. Making kernels of them comes
# later (lesson 15); here they are printed, counted, and run by an interpreter.
#
# ## An element, not an array
#
# The step in the mind is small. A prim says: take this array, make that array. Say instead what *one element* of the
# result is, if somebody tells you its position. In Python that is a function:

# %%
import math

data = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]  # a (2, 3), row by row


def x_at(i, j):
    return data[3 * i + j]


def turned(i, j):  # x.t(), which has sizes (3, 2)
    return x_at(j, i)


def result(i, j):
    return math.sqrt(turned(i, j)) + 1


print(result(2, 0), [[result(i, j) for j in range(2)] for i in range(3)])

# %% [markdown]
# Look at what happened to the transpose. It moves nothing. It exchanges two numbers on the way to a load, and after
# that nobody knows it was there. The square root and the addition have become one expression. Functions of positions
# compose, and no array appears between them. Only in the last line somebody asks for all the elements, and that line is
# the loop.
#
# So much for the idea. What follows is the same thing done in earnest: names for positions, a way to look inside such a
# function, and one rule for each kind of prim.
#
# ## Index arithmetic
#
# A compiler can't call `result(2, 0)` for each element, though. It wants the function's *text*, with i and j as names:
# load from `3*j + i`, take the square root, add 1. So the positions must be expressions. Here is a class for them: a
# sum of variables, each with a factor and a range, plus a constant.

# %%
from typing import NamedTuple


class Variable(NamedTuple):
    name: str
    size: int  # it runs over 0 .. size - 1


class Index:
    """A sum: what is in it, how many times, and a constant."""

    def __init__(self, terms, constant=0):
        self.terms = {atom: count for atom, count in terms.items() if count}
        self.constant = constant

    def __add__(self, other):
        if isinstance(other, int):
            return Index(self.terms, self.constant + other)
        atoms = [*self.terms, *other.terms]
        total = {atom: self.terms.get(atom, 0) + other.terms.get(atom, 0) for atom in atoms}
        return Index(total, self.constant + other.constant)

    def __mul__(self, factor):
        terms = {atom: count * factor for atom, count in self.terms.items()}
        return Index(terms, self.constant * factor)

    def __sub__(self, other):
        return self + other * -1

    def __eq__(self, other):
        return (self.terms, self.constant) == (other.terms, other.constant)

    def __hash__(self):
        return hash((frozenset(self.terms.items()), self.constant))

    def __repr__(self):
        parts = [f"{n}*{atom.name}" if n != 1 else atom.name for atom, n in self.terms.items()]
        parts += [str(self.constant)] if self.constant or not parts else []
        return " + ".join(parts).replace("+ -", "- ")


# %% [markdown]
# A dimension of size 1 has only one position, so it needs no variable: its index is the constant 0.


# %%
def variable(name, size):
    return Index({Variable(name, size): 1}) if size > 1 else Index({})


i, j = variable("i", 8), variable("j", 4)
print(i * 4 + j, "|", (i + j) * 2 + i, "|", i * 4 + j - i * 4)

# %% [markdown]
# The sum is kept in one normal form, so what cancels is gone, and equal sums are equal. This is enough for all views whose elements lie at
# regular distances: transposes, slices, broadcasts. It is not enough for a reshape. Element number f of a (8, 4), read
# as a row of 32, is at row `f // 4` and column `f % 4`, and these aren't sums.
#
# So we need division, rounded down. The remainder comes for free, since `f % n` is `f - n * (f // n)`. A compiler that
# stops here is correct, but its kernels divide for every element, and division is slow. Most of these divisions are
# idle: they undo what was just done. If you flatten a position and take it apart again, you should get back what you
# had. What does it take to see that?
#
# The *ranges*. Take `4*i + j` divided by 4. The first term is a multiple of 4, so i comes out whole. What is left is j,
# which is at least 0 and at most 3, so it can't make up another 4. The quotient is i, exactly. Here is that thought as
# a function.


# %%
class Quotient(NamedTuple):
    """What is left of a division that can't be written as a sum."""

    base: Index
    divisor: int

    @property
    def name(self):
        base = f"({self.base})" if " " in repr(self.base) else self.base
        return f"[{base} // {self.divisor}]"


def bounds(index):
    """The least and the greatest value, each term on its own."""
    low = high = index.constant
    for atom, count in index.terms.items():
        if isinstance(atom, Quotient):
            ends = [end // atom.divisor for end in bounds(atom.base)]
        else:
            ends = (0, atom.size - 1)
        low, high = low + min(count * e for e in ends), high + max(count * e for e in ends)
    return low, high


def divide(index, divisor):
    multiples = {a: n // divisor for a, n in index.terms.items() if n % divisor == 0}
    whole = Index(multiples, index.constant // divisor)
    rest = index - whole * divisor
    low, high = bounds(rest)
    if 0 <= low and high < divisor:
        return whole
    return whole + Index({Quotient(rest, divisor): 1})


def remainder(index, divisor):
    return index - divide(index, divisor) * divisor


flat = i * 4 + j
print(divide(flat, 4), "|", remainder(flat, 4), "|", divide(flat + 3, 4), "|", divide(flat, 3))

# %% [markdown]
# The first two are as we wanted. The third is more careful than you may be at first: j + 3 may reach 6, so there may be
# one more 4 in it, and the division stays. If j ran over 0 to 0 only, it would go. *That* is why a variable carries its
# range: a rule without it would be wrong, or would never apply. Now flattening and taking apart are two lines each.


# %%
def flatten(position, sizes):
    total = Index({})
    for part, size in zip(position, sizes):
        total = total * size + part
    return total


def unflatten(index, sizes):
    position = []
    for size in reversed(sizes):
        position.append(remainder(index, size))
        index = divide(index, size)
    return tuple(reversed(position))


print(unflatten(flatten((i, j), (8, 4)), (8, 4)), "there and back")
print(unflatten(flatten((i, j), (8, 4)), (2, 4, 4)), "read as (2, 4, 4)")
print(unflatten(flatten((i, j), (8, 4)), (4, 8)), "read as (4, 8)")

# %% [markdown]
# There and back is free, and so is the last dimension of the second. Only where a reshape cuts a row into new pieces,
# some divisions stay. In the last line there is one more rule to find: `(4*i + j) // 8` is `i // 2`, since j is too
# small to matter. The package knows this one, and a few others.
#
# ## One body, many meanings
#
# We have names for positions. What is the body of a loop now? Something that can be printed, computed, counted, and one
# day written as a kernel. You might define a tree of objects for it: a class Load, a class Add, and for each use a
# function that walks over the tree. There is a shorter way, and you know it from the decomposer of lesson 12. The body
# is a Python function, and it does not compute. It *asks* somebody to compute:


# %%
def body(ops, at):
    i, j = at
    value = ops.load("x", i * 4 + j)
    return ops.apply("add", ops.apply("exp", value), ops.constant(1.0))


# %% [markdown]
# `ops` is a *handler*. What the body means is what the handler makes of it. Here is one that writes every request down
# as a line, and gives back the name of the line as the "value":


# %%
class Print:
    def __init__(self):
        self.lines = []

    def line(self, text):
        self.lines.append(f"t{len(self.lines)} = {text}")
        return f"t{len(self.lines) - 1}"

    def load(self, buffer, address):
        return self.line(f"load({buffer}, {address})")

    def apply(self, name, *operands):
        return self.line(f"{name}({', '.join(operands)})")

    def constant(self, value):
        return self.line(f"constant({value})")

    def indirect(self, value, size):
        return Index({Variable(value, size): 1})


printer = Print()
body(printer, (i, j))
print(*printer.lines, sep="\n")

# %% [markdown]
# The body ran once, and not on numbers. Such a representation is called *define by run*: the program that describes the
# loop is the description. And here is the handler that defines what it means. It computes with NumPy, at all positions
# at once: a variable becomes an array that runs along its own axis, so an index expression is an array of integers, and
# a load picks elements.

# %%
import numpy as np

FUNCTIONS = {
    **{"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "exp": np.exp},
    **{"gt": np.greater, "where": np.where, "max": np.max, "sum": np.sum},
}


class Compute:
    def __init__(self, memory, at, sizes):
        self.memory = memory
        grid = np.indices(sizes, sparse=True)
        self.values = {a: grid[d] for d, part in enumerate(at) for a in part.terms}

    def evaluate(self, index):
        total = np.asarray(index.constant)
        for atom, count in index.terms.items():
            if isinstance(atom, Quotient):
                total = total + count * (self.evaluate(atom.base) // atom.divisor)
            else:
                total = total + count * self.values[atom]
        return total

    def load(self, buffer, address):
        return self.memory[buffer][self.evaluate(address)]

    def apply(self, name, *operands):
        return FUNCTIONS[name](*operands)

    def constant(self, value):
        return np.asarray(value)

    def indirect(self, value, size):
        self.values[Variable(f"v{len(self.values)}", size)] = value
        return Index({list(self.values)[-1]: 1})


memory = {"x": np.linspace(0, 1, 32)}
got = body(Compute(memory, (i, j), (8, 4)), (i, j))
print(np.array_equal(got, np.exp(memory["x"].reshape(8, 4)) + 1))

# %% [markdown]
# This is law number one again. The interpreter was written before any compiler, in some twenty lines that you can check by
# reading, so there is something to hold a kernel against. The third handler computes nothing at all. It only counts
# what is asked for:


# %%
from collections import Counter


class Count(Print):
    """What a body asks for, at one position."""

    def __init__(self):
        super().__init__()
        self.found = Counter()

    def line(self, text):
        self.found[text.partition("(")[0]] += 1
        return super().line(text)


counter = Count()
body(counter, (i, j))
print(dict(counter.found))

# %% [markdown]
# Three small classes, and the body was never changed. The writers of kernels in lessons 15 and 17 will be two more. If
# you add a meaning, you touch no rule. If you add a rule, you touch no meaning. With a tree of objects each new node
# would have to be taught to every walk.
#
# ## Lowering, rule by rule
#
# Now to the graph. *Lowering* walks over the prims and makes for each a `Box`: the sizes of the result, and a function
# that gives any of its elements. A box isn't an array. It is a promise, and nothing is computed before a loop asks.


# %%
class Box(NamedTuple):
    sizes: tuple
    load: object  # a function of (ops, at)


def stored(name, sizes):
    return Box(sizes, lambda ops, at: ops.load(name, flatten(at, sizes)))


def pointwise(name, *boxes):
    return Box(boxes[0].sizes, lambda ops, at: ops.apply(name, *(b.load(ops, at) for b in boxes)))


def number(value, sizes):
    return Box(sizes, lambda ops, at: ops.constant(value))


def transpose(x):
    return Box(x.sizes[::-1], lambda ops, at: x.load(ops, at[::-1]))


def broadcast(x, sizes):
    fixed = [size == 1 for size in x.sizes]
    place = lambda at: [Index({}) if one else part for part, one in zip(at, fixed)]
    return Box(sizes, lambda ops, at: x.load(ops, place(at)))


def reshape(x, sizes):
    return Box(sizes, lambda ops, at: x.load(ops, unflatten(flatten(at, sizes), x.sizes)))


def rows(x, chosen):
    """x[chosen], where chosen is a vector of row numbers."""
    place = lambda ops, at: (ops.indirect(chosen.load(ops, at[:1]), x.sizes[0]), at[1])
    return Box((*chosen.sizes, x.sizes[1]), lambda ops, at: x.load(ops, place(ops, at)))


# %% [markdown]
# Read the rules one at a time; each is a sentence. The element of a sum at a position is the sum of the elements *at
# that position*. The element of a transpose is the element at the position turned round. A dimension that is stretched
# is read at 0, wherever we are in it. An element of a reshape has the same number in row-major order. And a row that is
# chosen by data has its place only at run time, so the rule asks the handler to load it, and to make an index of the
# number it found. (The package's handlers also look whether that number is in range. If it isn't, indexing has to raise
# an error, in a kernel as well.)
#
# `where` needs no rule of its own. It is pointwise, with three operands. Let's print a few. Each block is everything
# that one element costs:


# %%
def show(box):
    printer = Print()
    box.load(printer, [variable(f"i{d}", size) for d, size in enumerate(box.sizes)])
    print(*("    " + line for line in printer.lines), sep="\n")


x, bias = stored("x", (4, 6)), stored("bias", (1, 6))
positive = pointwise("gt", x, number(0.0, x.sizes))
for text, box in {
    "where(x > 0, x, bias)": pointwise("where", positive, x, broadcast(bias, (4, 6))),
    "x.t().reshape(8, 3)": reshape(transpose(x), (8, 3)),
    "x.reshape(2, 12).reshape(4, 6).t()": transpose(reshape(reshape(x, (2, 12)), (4, 6))),
    "x[chosen]": rows(x, stored("chosen", (3,))),
}.items():
    print(text)
    show(box)

# %% [markdown]
# None of these has a loop yet, and not one of the views has copied anything. The reshape of a transpose, for which eager
# PyTorch must make a copy (lesson 01), is a load from a crooked address. Going to (2, 12) and back has left no trace, though
# no rule says that one reshape undoes another. The arithmetic found it.
#
# Here is a picture of the idea. Each square is an element of the view, and the number in it is the address that it is
# loaded from. Follow them in reading order, 0, 1, 2: they run along the rows of x, down the columns of its transpose, and
# through the third table, whose rows are longer. The fourth reads them in the order of the second, three at a time.

# %%
from minitorch_compile.course.drawings.addresses import draw_addresses


class Addresses(Compute):
    def load(self, buffer, address):
        return self.evaluate(address)


def addresses(box):
    at = [variable(f"i{d}", size) for d, size in enumerate(box.sizes)]
    return np.broadcast_to(box.load(Addresses({}, at, box.sizes), at), box.sizes)


x, bias = stored("x", (4, 6)), stored("bias", (1, 6))
views = {
    "x, (4, 6)": x,
    "x.t()": transpose(x),
    "x.reshape(3, 8)": reshape(x, (3, 8)),
    "x.t().reshape(8, 3)": reshape(transpose(x), (8, 3)),
    "bias.expand(4, 6)": broadcast(bias, (4, 6)),
}
draw_addresses({name: addresses(view) for name, view in views.items()})

# %% [markdown]
# ## When a value has to be stored
#
# A sum over a row is different from all of these. Its element isn't a function of one element of x, but of all of them.
# You could put a loop inside the body, and whoever reads the sum 1000 times would add up the row 1000 times. So a
# reduction gets a loop of its own, at once, and its result goes to memory. From then on its box is a load. The word for
# this is *to realise* a box.


# %%
class Loop(NamedTuple):
    name: str
    box: Box
    combine: str = ""  # how the last dimension is combined, if it is


class Lowering:
    def __init__(self):
        self.loops = []

    def realise(self, box):
        self.loops.append(Loop(f"buf{len(self.loops)}", box))
        return stored(self.loops[-1].name, box.sizes)

    def reduce(self, combine, box):
        self.loops.append(Loop(f"buf{len(self.loops)}", box, combine))
        return stored(self.loops[-1].name, (*box.sizes[:-1], 1))


def run(loops, memory):
    for name, box, combine in loops:
        at = [variable(f"i{d}", size) for d, size in enumerate(box.sizes)]
        value = np.broadcast_to(box.load(Compute(memory, at, box.sizes), at), box.sizes)
        memory[name] = (FUNCTIONS[combine](value, axis=-1) if combine else value).ravel()
    return memory[name]


# %% [markdown]
# That is all we need for a softmax: a row's largest element, the exponentials of the distances from it, their sum, and
# the quotient.


# %%
def softmax(graph, x):
    largest = graph.reduce("max", x)
    e = pointwise("exp", pointwise("sub", x, broadcast(largest, x.sizes)))
    total = graph.reduce("sum", e)
    return graph.realise(pointwise("div", e, broadcast(total, x.sizes)))


graph, x = Lowering(), stored("x", (4, 6))
softmax(graph, x)
for name, box, combine in graph.loops:
    print(f"{name} = {combine or 'store'}, for {box.sizes}:")
    show(box)

numbers = np.random.default_rng(0).standard_normal((4, 6))
truth = torch.from_numpy(numbers).softmax(1).numpy()
print(np.allclose(run(graph.loops, {"x": numbers.ravel()}).reshape(4, 6), truth))

# %% [markdown]
# Seven prims have become three loops, and there is no array for the difference, the exponential or anything stretched.
# The interpreter agrees with the library. But look closely: the exponential is computed *twice*, once for the sum and
# once for the quotient. Was that a good trade? It saves a write and a read of the whole array, and costs an `exp` for
# each element. If it were an addition, there would be nothing to think about.
#
# So a box with several readers is a decision. And it may not be left out altogether, because recomputing multiplies.
# Here is a chain in which each box reads the one before it twice.
#
# *Predict*: twelve additions, each of the one before to itself. How many loads will an element of the last one cost?

# %%
from minitorch_compile.course import predict

predict("13.loads", None)

# %%
y = stored("x", (4, 6))
for depth in range(1, 13):
    y = pointwise("add", y, y)
    if depth % 3 == 0:
        counter = Count()
        y.load(counter, (i, j))
        print(f"depth {depth:2}: {dict(counter.found)}")

# %% [markdown]
# It doubles each time. At depth 40 the compiler would not come to an end. There are two remedies, and both are needed.
# Inside one loop the handler *remembers*: if the same box is asked for the same position again, it gives the value it
# has. And between loops, lowering keeps an account of how many reads and operations an element of each box costs. If a
# box has several readers and isn't cheap, it is realised. If it is very long, it is realised even for one reader, so
# that no kernel grows beyond what a compiler can chew. The third reason to realise is that somebody needs memory: an
# output of the graph, or a routine that takes pointers, such as a matrix product.
#
# ## The package's own
#
# The same things with the same names are in `inductor/ir/`. The index algebra is in `index.py`. It has sums as ours, and
# instead of our quotient a `Digit`, `(base // divisor) % modulus`, so that it knows the range of a remainder, too. Our
# `f - 4*(f // 4)` has bounds that are much too wide, as each term is taken on its own.

# %%
from minitorch_compile.inductor.ir import index

f, row, column = index.symbol("f", 32), index.symbol("i", 8), index.symbol("j", 4)
print((4 * row + column) // 8, "|", 4 * (f // 4) + f % 4, "|", (f % 8) // 8, "|", (f // 2) // 4)
print(index.unflatten(index.flatten((row, column), (8, 4)), (2, 4, 4)))
away = index.unflatten(index.flatten((row, column), (8, 4)), (2, 16))
print(away, "and back", index.unflatten(index.flatten(away, (2, 16)), (8, 4)))
print((f % 4).bounds(), "here, and in ours", bounds(remainder(variable("f", 32), 4)))

# %% [markdown]
# Boxes and loops are in `loops.py`, handlers in `handler.py`, and the rules are a table with a row for each prim, in
# `lowering/`. You will recognise these two:

# %%
import inspect

from minitorch_compile.inductor.lowering.table import table

for name in ("transpose", "reshape"):
    print(inspect.getsource(table[name]))

# %% [markdown]
# Beside the view rules there is the rule for `pad`, which needs one more thing from a handler: `masked(condition, body,
# other)`. It runs the body only where the condition holds. Where it doesn't, the address would be outside of the array,
# and a program that reads there may crash. A `where` would not do, since it wants both of its values computed. You write
# this rule in exercise 13.1.
#
# `lower` walks over a graph of prims. Let's see its softmax.

# %%
from minitorch_compile.inductor.lowering import lower

print(lower(prim_graph(lambda x: x.softmax(1), (4, 6))))

# %% [markdown]
# Four loops, where we had three. The package has decided the other way: `exp` counts as eight operations, it has two
# readers, and so it is stored. (Your `mini` will count calls, and there an `exp` is one.) This isn't the last word. In lesson
# 14 the scheduler finds that all four loops go over the same rows, and puts them into one kernel, where the stored row stays
# in the cache. And here is a layer normalisation:

# %%
print(lower(prim_graph(lambda x: F.layer_norm(x, (6,)), (4, 6))))

# %% [markdown]
# Here the difference from the mean has two readers, too, but it is only a division and a subtraction, so it is done
# again. Also the mean itself is never stored, only the sum: a division per element is cheaper than another loop. And in
# the second loop t4, the difference, is computed once and used twice, since the handler remembers it.
#
# ## Loops and bytes
#
# Let's do the sum from the beginning again, now with loops. The package's handler `accesses_of` collects the addresses
# that a loop reads and writes. How many elements is that? As many as its variables have values: a variable that isn't
# in the address costs nothing.

# %%
from minitorch_compile.course.drawings.table import Table
from minitorch_compile.inductor.ir.dependencies import accesses_of


def loop_bytes(loop):
    found = accesses_of(loop)
    touched = [*found.reads, *found.writes]
    lengths = [math.prod(v.size for v in access.address.symbols) for access in touched]
    return sum(n * access.buffer.dtype.itemsize for n, access in zip(lengths, touched))


def compare(name, function, *sizes):
    graph = prim_graph(function, *sizes)
    nodes = graph.graph.find_nodes(op="call_function")
    moved = sum(megabytes(n) + sum(map(megabytes, n.all_input_nodes)) for n in nodes)
    loops = lower(graph).operations
    after = sum(map(loop_bytes, loops)) / 2**20
    return {"name": name, "prims": len(nodes), "MB": moved, "loops": len(loops), "MB then": after}


square = (1024, 1024)
programs = {
    "hardswish": F.hardswish,
    "x.t() + 1": lambda x: x.t() + 1,
    "flip, cut, turn": lambda x: x.flip(0)[::2].t().contiguous(),
    "softmax": lambda x: x.softmax(1),
    "layer_norm": lambda x: F.layer_norm(x, (1024,)),
}
Table([compare(name, function, square) for name, function in programs.items()])

# %% [markdown]
# For everything pointwise we are at the least that is possible, whatever views there are. The program that flips, takes
# every second row and turns even reads only the rows that it needs. The reductions are at two to three times the least,
# as an array is read by several loops. What remains is for lesson 14, and you know now why it is worth the trouble.
#
# ## Stop here, and run
#
# The backend `loops` compiles this far and then lets the interpreter of `ir/interpreter.py` do the work, which is our
# `Compute` with all the operations. It is slow, since its loads are NumPy's indexing with arrays of integers. But it
# has no kernels in it. If a program is right here and wrong under `inductor`, the fault is in what comes after: fusion,
# the memory plan, or the generated code.


# %%
def program(x, chosen):
    y = torch.cat([x[chosen], x.flip(1)]).transpose(0, 1)
    return (y - y.mean(0)).relu().reshape(-1, 4).cumsum(1)


x, chosen = torch.randn(4, 6), torch.tensor([3, -1, 0, 3])
for backend in ("loops", "inductor"):
    compiled = torch.compile(program, backend=backend)
    print(f"{backend:9}", torch.allclose(compiled(x, chosen), program(x, chosen), atol=1e-6))

# %% [markdown]
# ## Beside PyTorch
#
# The function from the top of this lesson, written out, and lowered to a loop by both:

# %%
from minitorch_compile.course.drawings.beside import beside


def hard_swish(x):
    return x * (x + 3).clamp(0, 6) / 6


beside("13_loops", lower(prim_graph(hard_swish, (2048, 1024))))

# %% [markdown]
# One loop on both sides, and a body that asks: load, add, bound, multiply, divide, store. Ours is printed by a handler;
# PyTorch's is the Python text that its handler has made of the requests. It loads x twice, since its bodies
# remember nothing here, and leaves it to the C++ compiler to notice. It runs through both dimensions as one. Ours does so only
# when it is scheduled, in lesson 14.
#
# ## What PyTorch does differently
#
# - This is TorchInductor's design, and the words are its own: `TensorBox`, `inner_fn`, `realize`, `ops`, and *define by
#   run*. There `inner_fn` takes the index alone, and `ops` is found through a context variable (`V.ops`), with well
#   over a hundred operations. Ours is an argument, and has eleven, since prims are behind `apply`.
# - Index expressions are SymPy's, with functions of their own for `FloorDiv` and `ModularIndexing`, which is our digit.
#   So sizes can be symbols, and one kernel serves all of them. SymPy is general, and slow for something that is asked so
#   often. Ours knows nothing but sums and digits with known sizes, and kernels are made for each set of sizes.
# - A buffer there can have a `FlexibleLayout`: its strides are left open until somebody needs them to be fixed, so that
#   a convolution can get the order of dimensions that it likes. Ours are row-major from the start, except for outputs.
# - It decomposes a part of the ATen operations, has some hundreds of rules for the others, and calls ATen itself where
#   there is none. Ours has a rule for each prim, and the prims that run as they are stand in a list with the reason.
# - Its thresholds for realising are others (reads and operations, `config.realize_reads_threshold` and
#   `realize_opcount_threshold`), but the account is the same.
# - It has no interpreter that runs its loops on numbers; they are tested by compiling them. Ours run with NumPy, and the
#   generated kernels are tested against that.
#
# ## Exercises
#
# Open `work/13_loop_ir_and_lowering.ipynb`. Two exercises first, half an hour: you lower a prim with a mask, and the package
# compiles with it; and you break four lowerings that look right. Then come the thirteen steps, four hours.
#
# ## What you write
#
# `mini/index.py` and `mini/loops.py`, in thirteen steps: formulas that simplify themselves, boxes and two handlers, and the
# lowering of every prim: views, padding, element-wise work, reductions, products. After it a graph of yours is a list of loops. The
# package's version also has gathers and scatters, scans, and a simplifier for masks. Unlike this lesson's, your index has remainders
# whose range is known, `e % n`, beside quotients: what the package says of both with its `Digit`.
