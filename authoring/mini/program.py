"""Lesson 16. Kernels and products in a row: where their buffers lie, and what runs while a product is still in the cache.

>>> program = Program(trace(lambda x, w: (x @ w + 1).tanh(), fake((64, 8)), fake((8, 16))))
>>> program.steps
[buf0 = matmul(x0, x1), then rows (1024,): buf1]
>>> program(ones(64, 8), ones(8, 16))[0].sizes
(64, 16)
"""

import numpy as np
from mini.emit import Kernel, machine_code, run_rows
from mini.fusion import Group, fuse
from mini.graph import trace  # noqa: F401
from mini.loops import Call, Lowering
from mini.prims import decompose
from mini.tensor import Layout, Storage, Tensor, fake, from_numpy, numel  # noqa: F401


def ones(*sizes):
    return from_numpy(np.ones(sizes, np.float32))


def array_of(memory, layout):
    """The elements that a layout names in flat memory."""
    item = memory.itemsize
    return np.ndarray(layout.sizes, memory.dtype, memory, layout.offset * item, [item * n for n in layout.strides])


class KernelStep:
    def __init__(self, group, wanted):
        self.group, self.kernel = group, Kernel(group, wanted)
        self.buffers = list(self.kernel.arguments)

    def run(self, memory):
        kernel = self.kernel
        run_rows(machine_code(kernel.source), kernel.rows, kernel.work, [memory[b] for b in self.buffers])

    def __repr__(self):
        return str(self.group)


class ProductStep:
    """out = x @ y; and where a kernel follows that works on its rows, block by block, while they are in the cache."""

    block = 64

    def __init__(self, call):
        self.call, self.epilogue = call, None
        self.buffers = [call.buffer, *[b for b, _ in call.arguments]]

    def run(self, memory):
        x, y = [array_of(memory[b], layout) for b, layout in self.call.arguments]
        out = array_of(memory[self.call.buffer], self.call.buffer.layout)
        if self.epilogue is None:
            np.matmul(x, y, out=out)
            return
        kernel, rows = self.epilogue.kernel, out.shape[0]
        code, arrays = machine_code(kernel.source), [memory[b] for b in self.epilogue.buffers]
        for low in range(0, rows, self.block):
            high = min(low + self.block, rows)
            np.matmul(x[low:high], y, out=out[low:high])
            code(low * kernel.rows // rows, high * kernel.rows // rows, *arrays)

    def takes(self, step):
        """Whether a kernel's rows are the product's, one by one or each in equally many parts."""
        out = self.call.buffer
        if not isinstance(step, KernelStep) or len(out.sizes) != 2 or not out.sizes[0]:
            return False
        rows, group = step.kernel.rows, step.group
        reads = [index for loop in group.loops for buffer, index in group.reads(loop) if buffer is out]
        return bool(reads) and rows % out.sizes[0] == 0 and all(in_row(index, group, out) for index in reads)

    def __repr__(self):
        return str(self.call) + (f", then {self.epilogue}" if self.epilogue else "")


def in_row(index, group, out):
    """Row i of the kernel reads only what its share of the product's rows has."""
    from mini.index import Index, flatten

    rows = flatten(
        tuple(Index() if n == 1 else Index.variable(f"i{d}", n) for d, n in enumerate(group.rows)), group.rows
    )
    per_row = numel(out.sizes) // max(numel(group.rows), 1)
    low, high = (index - rows * per_row).bounds()
    return 0 <= low and high < max(per_row, 1)


class Program:
    """A graph, compiled: called with tensors it gives tensors."""

    def __init__(self, graph):
        self.lowering = lowering = Lowering(decompose(graph))
        groups = fuse(lowering)
        self.steps = []
        for i, group in enumerate(groups):
            others = [step for j, step in enumerate(groups) if j != i]
            read = {
                b
                for step in others
                for b in (
                    [b for l in step.loops for b, _ in l.reads()]
                    if isinstance(step, Group)
                    else [b for b, _ in step.arguments]
                )
            }
            step = ProductStep(group) if isinstance(group, Call) else KernelStep(group, read | set(lowering.outputs))
            last = self.steps[-1] if self.steps else None
            if isinstance(last, ProductStep) and last.epilogue is None and last.takes(step):
                last.epilogue, last.buffers = step, last.buffers + step.buffers
            else:
                self.steps.append(step)
        self.constants = [(lowering.boxes[node].memory[0], node.args[0]) for node in lowering.constants]
        self.plan()

    def plan(self):
        """Buffers that are not outputs share memory: each takes the smallest free place that holds it."""
        own = {b for step in self.steps for b in step.buffers} - {*self.lowering.inputs, *self.lowering.outputs}
        own -= {buffer for buffer, _ in self.constants}
        last = {b: i for i, step in enumerate(self.steps) for b in step.buffers}
        free, self.places, sizes = [], {}, []
        for i, step in enumerate(self.steps):
            for buffer in [b for b in dict.fromkeys(step.buffers) if b in own and b not in self.places]:
                need = numel(buffer.sizes) * buffer.dtype.itemsize
                fitting = [place for place in free if sizes[place] >= need]
                place = min(fitting, key=lambda p: sizes[p]) if fitting else len(sizes)
                if place == len(sizes):
                    sizes.append(need)
                else:
                    free.remove(place)
                self.places[buffer] = place
            free += [self.places[b] for b in dict.fromkeys(step.buffers) if b in own and last[b] == i]
        self.arena = [np.empty(size, np.uint8) for size in sizes]

    def __call__(self, *inputs):
        given = zip(self.lowering.inputs, inputs, strict=True)
        memory = {buffer: tensor.storage.data[tensor.layout.offset :] for buffer, tensor in given}
        memory |= {buffer: tensor.storage.data for buffer, tensor in self.constants}
        for buffer, place in self.places.items():
            memory[buffer] = self.arena[place][: numel(buffer.sizes) * buffer.dtype.itemsize].view(buffer.dtype)
        for buffer in self.lowering.outputs:
            memory[buffer] = np.empty(numel(buffer.sizes), buffer.dtype)
        for step in self.steps:
            step.run(memory)
        return [Tensor(Storage(memory[b], b.dtype), Layout.dense(b.sizes)) for b in self.lowering.outputs]
