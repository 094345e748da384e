"""Lesson 13b. From prims to loops: a box says how an element is computed; a loop says that its elements are stored.

>>> graph = decompose(trace(lambda x: (x.t() * 2 + 1).sum(0), fake((3, 4))))
>>> for step in Lowering(graph).steps: print(step)
for i0 < 3: sum(j0 < 4): buf0[i0] = add(mul(x0[i0 * 4 + j0], 2), 1)
"""

from dataclasses import dataclass, field, replace

import numpy as np
from mini import ops
from mini.graph import Node, trace  # noqa: F401
from mini.index import Index, flatten, split
from mini.ops import Factory, Product, Reduction, View
from mini.prims import decompose  # noqa: F401
from mini.tensor import Layout, contiguous_strides, fake, numel  # noqa: F401


@dataclass(eq=False)
class Buffer:
    """Memory: an input's, or a dense one of the graph's own."""

    name: str
    sizes: tuple
    dtype: np.dtype
    layout: Layout


@dataclass(eq=False)
class Box:
    """`body(h, index)` says what the element at `index` is, in calls of a handler h: h.load, h.call, h.value, ...

    Running it under one handler writes code, under another it lists what is read. `memory`, a buffer and a layout, is there
    if the elements are stored: then a view of the box is the same buffer under another layout.
    """

    sizes: tuple
    dtype: np.dtype
    body: object
    memory: tuple = None
    users: int = 1

    def at(self, h, index):
        key = (id(self), *index)
        if key not in h.memo:
            h.memo[key] = self.body(h, index)
        return h.memo[key]


def stored(buffer, layout):
    def body(h, index):
        return h.load(buffer, sum((i * n for i, n in zip(index, layout.strides, strict=True)), Index.of(layout.offset)))

    return Box(layout.sizes, buffer.dtype, body, (buffer, layout))


@dataclass(eq=False)
class Loop:
    """Fills a buffer: over `sizes`, and inside over `reduced` where it adds up or looks for the greatest."""

    buffer: Buffer
    sizes: tuple
    body: object
    reduced: tuple = ()
    reduction: str = None

    def __str__(self):
        outer, inner = self.variables()
        ranges = [
            ", ".join(f"{i} < {n}" for i, n in zip(v, s, strict=True))
            for v, s in ((outer, self.sizes), (inner, self.reduced))
        ]
        where = f"{self.reduction}({ranges[1]}): " if self.reduction else ""
        return f"for {ranges[0]}: {where}{self.buffer.name}[{', '.join(map(str, outer))}] = {self.body(Text(), outer + inner)}"

    def variables(self):
        return [
            tuple(Index() if n == 1 else Index.variable(f"{letter}{d}", n) for d, n in enumerate(sizes))
            for letter, sizes in (("i", self.sizes), ("j", self.reduced))
        ]

    def reads(self):
        h = Reads()
        outer, inner = self.variables()
        self.body(h, outer + inner)
        return h.found


@dataclass(eq=False)
class Call:
    """A product, left to a library: out = x @ y, of memory as it lies."""

    buffer: Buffer
    arguments: list = field(default_factory=list)  # (buffer, layout)

    def __str__(self):
        return f"{self.buffer.name} = matmul({', '.join(buffer.name for buffer, _ in self.arguments)})"

    def reads(self):
        return [(buffer, None) for buffer, _ in self.arguments]


# --- handlers ---------------------------------------------------------------------------------------------------------


class Text:
    """A body as a line to read."""

    def __init__(self):
        self.memo = {}

    def load(self, buffer, index):
        return f"{buffer.name}[{index}]"

    def value(self, number, dtype):
        return str(number)

    def index(self, index, dtype):
        return str(index)

    def call(self, op, args, dtype, dtypes):
        return f"{op}({', '.join(args)})"

    def inside(self, conditions, value, dtype):
        return f"({value()} if {' and '.join(f'{low} <= {i} < {high}' for i, low, high in conditions)} else 0)"


class Reads(Text):
    """Which elements of which buffers a body reads."""

    def __init__(self):
        super().__init__()
        self.found, self.calls = [], 0

    def load(self, buffer, index):
        self.found.append((buffer, index))
        return ""

    def call(self, op, args, dtype, dtypes):
        self.calls += 1
        return ""


# --- lowering ---------------------------------------------------------------------------------------------------------


class Lowering:
    """Each node becomes a box; boxes that need memory become steps: loops and calls, in order."""

    most_calls = 4  # a box that is used twice and costs more is stored

    def __init__(self, graph):
        self.steps, self.inputs, self.boxes, self.graph = [], [], {}, graph
        uses = [node for user in graph.nodes for node in user.inputs] + graph.outputs
        for i, node in enumerate(graph.inputs):
            layout = replace(node.value.layout, offset=0)  # a call passes the memory from the first element on
            self.inputs.append(Buffer(f"x{i}", layout.sizes, node.value.dtype, layout))
            self.boxes[node] = stored(self.inputs[-1], layout)
        self.constants = [node for node in graph.nodes if node.op == "constant"]
        for i, node in enumerate(self.constants):
            buffer = Buffer(f"c{i}", node.value.sizes, node.value.dtype, node.value.layout)
            self.boxes[node] = stored(buffer, node.value.layout)
        for node in graph.nodes:
            if node.op != "constant":
                box = self.lower(node, [self.boxes[a] if isinstance(a, Node) else a for a in node.args])
                if uses.count(node) > 1 and not box.memory and self.cost(box) > self.most_calls:
                    box = self.store(box)
                self.boxes[node] = box
        self.outputs = []
        for node in graph.outputs:
            self.outputs.append(self.dense(self.boxes[node]))

    def cost(self, box):
        h = Reads()
        box.body(h, tuple(Index.variable(f"i{d}", n) for d, n in enumerate(box.sizes)))
        return h.calls

    def new_buffer(self, sizes, dtype):
        return Buffer(f"buf{len(self.steps)}", sizes, dtype, Layout.dense(sizes))

    def store(self, box, reduced=(), reduction=None):
        buffer = self.new_buffer(box.sizes, box.dtype)
        self.steps.append(Loop(buffer, box.sizes, box.at if not reduction else box.body, reduced, reduction))
        return stored(buffer, buffer.layout)

    def dense(self, box):
        """The buffer of an output: one of the graph's own, in order."""
        buffer, layout = box.memory or (None, None)
        if (
            buffer
            and buffer not in self.inputs + self.outputs
            and buffer.layout.strides == layout.strides == contiguous_strides(layout.sizes)
        ):
            return buffer
        return self.store(box).memory[0]

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
        if isinstance(op, Factory):
            number = args[1]
            if op is ops.iota:
                return Box(value.sizes, value.dtype, lambda h, index: h.index(index[0] + number, value.dtype))
            return Box(value.sizes, value.dtype, lambda h, index: h.value(number, value.dtype))
        return Box(value.sizes, value.dtype, lambda h, index: pointwise(h, index, op, value, args))

    def view(self, op, value, x, *args):
        if x.memory:
            buffer, layout = x.memory
            layout = layout.view(*args) if op is ops.regroup else op.kernel(layout, *args)
            if layout:
                return stored(buffer, layout)
        if op is ops.regroup:
            return Box(value.sizes, value.dtype, lambda h, index: x.at(h, split(flatten(index, value.sizes), x.sizes)))
        return Box(value.sizes, value.dtype, lambda h, index: x.at(h, VIEWED[op](index, x.sizes, *args)))

    def reduce(self, op, value, x, dims, keepdim):
        kept = [d for d in range(len(x.sizes)) if d not in dims]

        def body(h, index):
            full = [None] * len(x.sizes)
            for d, i in zip([*kept, *dims], index, strict=True):
                full[d] = i
            return x.at(h, tuple(full))

        box = Box(tuple(x.sizes[d] for d in kept), value.dtype, body)
        result = self.store(box, tuple(x.sizes[d] for d in dims), op.name)
        return stored(result.memory[0], result.memory[1].view(value.sizes))

    def product(self, value, x, y):
        x, y = [box if box.memory else self.store(box) for box in (x, y)]
        call = Call(self.new_buffer(value.sizes, value.dtype), [x.memory, y.memory])
        self.steps.append(call)
        return stored(call.buffer, call.buffer.layout)


VIEWED = {
    ops.permute: lambda index, sizes, dims: tuple(index[dims.index(d)] for d in range(len(dims))),
    ops.expand: lambda index, sizes, _: broadcast(index, sizes),
    ops.slice_: lambda index, sizes, dim, start, stop, step: (
        *index[:dim],
        index[dim] * step + start,
        *index[dim + 1 :],
    ),
}


def broadcast(index, sizes):
    return tuple(Index() if n == 1 else i for i, n in zip(index[len(index) - len(sizes) :], sizes, strict=True))


def pointwise(h, index, op, value, args):
    """The same index for all arguments, less what is broadcast."""
    dtype, boxes = value.dtype, [arg for arg in args if isinstance(arg, Box)]
    if op is ops.to_:
        return h.call("to", [boxes[0].at(h, index)], dtype, [boxes[0].dtype])
    common = ops.promote(
        *[fake((), arg.dtype) if isinstance(arg, Box) else arg for arg in (args[1:] if op is ops.where else args)]
    )
    if op.floats and common.kind != "f":
        common = dtype
    values = [arg.at(h, broadcast(index, arg.sizes)) if isinstance(arg, Box) else h.value(arg, common) for arg in args]
    wanted = [np.dtype(bool) if op is ops.where and i == 0 else common for i in range(len(args))]
    have = [arg.dtype if isinstance(arg, Box) else common for arg in args]
    values = [v if a == b else h.call("to", [v], b, [a]) for v, a, b in zip(values, have, wanted, strict=True)]
    return h.call(op.name, values, dtype, wanted)


def among_zeros(h, index, dtype, x, dim, size, start, step):
    i = index[dim] - start
    inner = (*index[:dim], i // step, *index[dim + 1 :])
    conditions = [(i, 0, step * x.sizes[dim])] + ([(i % step, 0, 1)] if step > 1 else [])
    return h.inside(conditions, lambda: x.at(h, inner), dtype)
