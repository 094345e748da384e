"""Lesson 13b. From prims to loops: a box says how an element is computed; a loop says that its elements are stored.

>>> graph = decompose(trace(lambda x: (x.t() * 2 + 1).sum(0), fake((3, 4))))
>>> for step in Lowering(graph).steps: print(step)
for i0 < 3: sum(j0 < 4): buf0[i0] = add(mul(x0[i0 * 4 + j0], 2), 1)
"""

from collections import Counter

import numpy as np
from mini import ops
from mini.graph import Node, trace  # noqa: F401
from mini.index import Index, flatten, split, variables
from mini.ops import Factory, Layout, Product, Reduction, View
from mini.prims import decompose, fake  # noqa: F401


class Buffer:
    """Memory: an input's, or a dense one of the graph's own."""

    def __init__(self, name, sizes, dtype, layout):
        self.name, self.sizes, self.dtype, self.layout = name, sizes, dtype, layout


# %% 13.7 boxes
class Box:
    """`body(h, index)` says what the element at `index` is, in calls of a handler h: h.load, h.call, h.value, ...

    Running it under one handler writes code, under another it lists what is read. `memory`, a buffer and a layout, is there
    if the elements are stored: then a view of the box is the same buffer under another layout.
    """

    def __init__(self, sizes, dtype, body, memory=None):
        self.sizes, self.dtype, self.body, self.memory = sizes, dtype, body, memory

    def at(self, h, index):
        """What the body says; under one handler the same element is asked for once."""
        key = (id(self), *index)
        if key not in h.memo:
            h.memo[key] = self.body(h, index)
        return h.memo[key]


def stored(buffer, layout):
    """The box of what lies in memory: element (i, j) at offset + i * strides[0] + j * strides[1]."""

    def body(h, index):
        return h.load(buffer, sum((i * n for i, n in zip(index, layout.strides, strict=True)), Index.of(layout.offset)))

    return Box(layout.sizes, buffer.dtype, body, (buffer, layout))


# %% 13.8 a handler
class Text:
    """Runs a body: as a line to read, `text`; which elements it reads, `found`; and how many calls it makes, `calls`."""

    def __init__(self, body, index):
        self.memo, self.found, self.calls = {}, [], 0
        self.text = body(self, index)

    def load(self, buffer, index):
        self.found.append((buffer, index))
        return f"{buffer.name}[{index}]"

    def value(self, number, dtype):
        return str(number)

    def index(self, index, dtype):
        return str(index)

    def call(self, op, args, dtype, dtypes):
        self.calls += 1
        return f"{op}({', '.join(args)})"

    def inside(self, conditions, value, dtype):
        return f"({value()} if {' and '.join(f'{low} <= {i} < {high}' for i, low, high in conditions)} else 0)"


# %% 13.9 loops
class Loop:
    """Fills a buffer: over `sizes`, and inside over `reduced` where it adds up or looks for the greatest."""

    def __init__(self, buffer, sizes, body, reduced=(), reduction=None):
        self.buffer, self.sizes, self.body, self.reduced, self.reduction = buffer, sizes, body, reduced, reduction

    def index(self, rows=None):
        """Its variables: i0, i1, ... for these rows, or else for its elements; j0, j1, ... for what is inside of them."""
        sizes, count = self.sizes + self.reduced, len(self.sizes if rows is None else rows)
        return variables("i", sizes[:count]) + variables("j", sizes[count:])

    def reads(self, rows=None):
        """Pairs of a buffer and an index, in these variables."""
        return Text(self.body, self.index(rows)).found

    # %% given
    def __str__(self):
        index, count = self.index(), len(self.sizes)
        ranges = [f"{i} < {n}" for i, n in zip(index, self.sizes + self.reduced, strict=True)]
        over, within = ", ".join(ranges[:count]), ", ".join(ranges[count:])
        where = f"{self.reduction}({within}): " if self.reduction else ""
        element, text = ", ".join(map(str, index[:count])), Text(self.body, index).text
        return f"for {over}: {where}{self.buffer.name}[{element}] = {text}"


class Call:
    """A product, left to a library: out = x @ y, of memory as it lies."""

    def __init__(self, buffer, arguments):  # pairs of a buffer and a layout
        self.buffer, self.arguments = buffer, arguments

    def __str__(self):
        return f"{self.buffer.name} = matmul({', '.join(buffer.name for buffer, _ in self.arguments)})"

    def reads(self):
        return [(buffer, None) for buffer, _ in self.arguments]


# %% 13.10 element by element
def broadcast(index, sizes):
    """The index in an argument of these sizes: aligned at the right, and 0 where the size is 1."""
    return tuple(Index() if n == 1 else i for i, n in zip(index[len(index) - len(sizes) :], sizes, strict=True))


def pointwise(h, index, op, value, args):
    """The arguments' elements, made to one dtype, and one call."""
    if op is ops.to_:
        return h.call("to", [args[0].at(h, index)], value.dtype, [args[0].dtype])
    mixed = args[1:] if op is ops.where else args  # a condition is a boolean among others
    common = ops.promote(*[fake((), arg.dtype) if isinstance(arg, Box) else arg for arg in mixed])
    if op.floats and common.kind != "f":
        common = value.dtype
    wanted = [np.dtype(bool) if op is ops.where and i == 0 else common for i in range(len(args))]
    values = []
    for arg, dtype in zip(args, wanted, strict=True):
        if isinstance(arg, Box):
            element = arg.at(h, broadcast(index, arg.sizes))
            values.append(element if arg.dtype == dtype else h.call("to", [element], dtype, [arg.dtype]))
        else:
            values.append(h.value(arg, dtype))
    return h.call(op.name, values, value.dtype, wanted)


# %% 13.11 the inverse of an index
def among_zeros(h, index, dtype, x, dim, size, start, step):
    """x lies at start, start + step, ... of dimension dim; elsewhere nothing is read."""
    i = index[dim] - start
    conditions = [(i, 0, step * x.sizes[dim])] + ([(i % step, 0, 1)] if step > 1 else [])
    inner = (*index[:dim], i // step, *index[dim + 1 :])
    return h.inside(conditions, lambda: x.at(h, inner), dtype)


VIEWED = {  # the element of the old box that is the new one's at `index`
    ops.permute: lambda index, sizes, dims: tuple(index[dims.index(d)] for d in range(len(dims))),
    ops.expand: lambda index, sizes, wanted: broadcast(index, sizes),
    ops.slice_: lambda index, sizes, d, start, stop, step: (*index[:d], index[d] * step + start, *index[d + 1 :]),
    ops.regroup: lambda index, sizes, wanted: split(flatten(index, wanted), sizes),
}


# %% 13.12 a graph becomes steps
class Lowering:
    """Each node becomes a box; boxes that need memory become steps: loops and calls, in order."""

    most_calls = 4  # a box that is used twice and costs more is stored

    def __init__(self, graph):
        self.steps, self.inputs, self.outputs, self.boxes, self.graph = [], [], [], {}, graph
        for i, node in enumerate(graph.inputs):
            layout = Layout(node.value.sizes, node.value.strides)  # a call passes the memory from the first element on
            self.inputs.append(Buffer(f"x{i}", layout.sizes, node.value.dtype, layout))
            self.boxes[node] = stored(self.inputs[-1], layout)
        uses = Counter([node for user in graph.nodes for node in user.inputs] + graph.outputs)
        for node in graph.nodes:
            box = self.lower(node, [self.boxes[arg] if isinstance(arg, Node) else arg for arg in node.args])
            self.boxes[node] = self.store(box) if uses[node] > 1 and self.is_costly(box) else box
        for node in graph.outputs:
            self.outputs.append(self.output(self.boxes[node]))

    # %% 13.13 what is stored
    def is_costly(self, box):
        """Whether to compute it again would cost more than to store it."""
        return not box.memory and Text(box.body, variables("i", box.sizes)).calls > self.most_calls

    def new_buffer(self, value):
        return Buffer(f"buf{len(self.steps)}", value.sizes, value.dtype, Layout.dense(value.sizes))

    def add(self, step):
        self.steps.append(step)
        return stored(step.buffer, step.buffer.layout)

    def store(self, box, reduced=(), reduction=None):
        return self.add(Loop(self.new_buffer(box), box.sizes, box.at, reduced, reduction))

    def output(self, box):
        """Its buffer: a whole one that a step has filled, and no output so far; else a copy."""
        buffer, layout = box.memory or (None, None)
        own = any(step.buffer is buffer for step in self.steps) and buffer not in self.outputs
        return buffer if own and layout == buffer.layout else self.store(box).memory[0]

    # %% 13.14 a node becomes a box
    def lower(self, node, args):
        op, value = node.op, node.value
        if isinstance(op, Reduction):
            return self.reduce(op, value, *args)
        if isinstance(op, Product):
            return self.product(value, *args)
        if isinstance(op, View) or op is ops.regroup:
            return self.view(op, value, *args)
        if op is ops.slice_backward:
            return Box(value.sizes, value.dtype, lambda h, index: among_zeros(h, index, value.dtype, *args))
        if op is ops.iota:
            return Box(value.sizes, value.dtype, lambda h, index: h.index(index[0] + args[1], value.dtype))
        if isinstance(op, Factory):
            return Box(value.sizes, value.dtype, lambda h, index: h.value(args[1], value.dtype))
        return Box(value.sizes, value.dtype, lambda h, index: pointwise(h, index, op, value, args))

    def view(self, op, value, x, *args):
        """Of memory: another layout, where there is one. Else: another element is asked for."""
        if x.memory:
            buffer, layout = x.memory
            layout = layout.view(*args) if op is ops.regroup else op.kernel(layout, *args)
            if layout:
                return stored(buffer, layout)
        return Box(value.sizes, value.dtype, lambda h, index: x.at(h, VIEWED[op](index, x.sizes, *args)))

    # %% 13.15 reductions and products
    def reduce(self, op, value, x, dims, keepdim):
        """A loop of its own: nobody can use a sum before it is complete."""
        kept = [d for d in range(len(x.sizes)) if d not in dims]

        def body(h, index):
            at = dict(zip([*kept, *dims], index, strict=True))
            element = x.at(h, tuple(at[d] for d in range(len(x.sizes))))
            return element if x.dtype == value.dtype else h.call("to", [element], value.dtype, [x.dtype])

        sizes, reduced = [tuple(x.sizes[d] for d in some) for some in (kept, dims)]
        return self.add(Loop(self.new_buffer(value), sizes, body, reduced, op.name))

    def product(self, value, x, y):
        """A call, which wants its arguments in memory."""
        arguments = [(box if box.memory else self.store(box)).memory for box in (x, y)]
        return self.add(Call(self.new_buffer(value), arguments))
