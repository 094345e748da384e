"""Lesson 16. Kernels and products in a row: where buffers lie, and what runs while a product is still in the cache.

>>> program = Program(trace(lambda x, w: (x @ w + 1).tanh(), fake((64, 8)), fake((8, 16))))
>>> program.steps
[buf0 = matmul(x0, x1), then rows (1024,): buf1]
>>> ones = from_numpy(np.ones((64, 8), np.float32)), from_numpy(np.ones((8, 16), np.float32))
>>> program(*ones)[0].sizes
(64, 16)
"""

import numpy as np
from mini.emit import Kernel, machine_code, run_rows
from mini.fusion import fuse
from mini.graph import trace  # noqa: F401
from mini.index import Index, flatten
from mini.loops import Call, Lowering
from mini.prims import decompose
from mini.sizes import at, batch_of
from mini.tensor import Layout, Storage, Tensor, fake, from_numpy, numel  # noqa: F401


# %% given
class KernelStep:
    """A group's kernel, run over all of its rows."""

    code = Kernel

    def __init__(self, group, wanted):
        self.group, self.kernel = group, self.code(group, wanted)
        self.buffers = list(self.kernel.arguments)

    def run(self, memory):
        self.run_part(memory, None)

    def run_part(self, memory, part):
        """All rows, or those of `part` = (low, high), on this thread."""
        kernel, arrays = self.kernel, [memory[buffer] for buffer in self.buffers]
        if part is None:
            run_rows(machine_code(kernel.source), *at((kernel.rows, kernel.work), memory.get("s0")), arrays)
        else:
            machine_code(kernel.source)(*part, *arrays)

    def __repr__(self):
        return str(self.group)


def read_by(group):
    return {buffer for loop in getattr(group, "loops", [group]) for buffer, _ in loop.reads()}


def array_of(memory, layout):
    """The elements that a layout names in flat memory."""
    item = memory.itemsize
    return np.ndarray(layout.sizes, memory.dtype, memory, layout.offset * item, [item * n for n in layout.strides])


# %% 16.8 a product, and what follows it block by block
class ProductStep:
    """out = x @ y; and where a kernel follows that works on its rows, block by block, while they are in the cache."""

    block = 64

    def __init__(self, call):
        self.call, self.epilogue = call, None
        self.buffers = [call.buffer, *[buffer for buffer, _ in call.arguments]]

    def run(self, memory):
        batch, places = memory.get("s0"), [*self.call.arguments, (self.call.buffer, self.call.buffer.layout)]
        x, y, out = [array_of(memory[buffer], at(layout, batch)) for buffer, layout in places]
        if self.epilogue is None:
            np.matmul(x, y, out=out)
            return
        count = len(out)
        per_row = at(self.epilogue.kernel.rows, batch) // count
        for low in range(0, count, self.block):
            high = min(low + self.block, count)
            np.matmul(x[low:high], y, out=out[low:high])
            self.epilogue.run_part(memory, (low * per_row, high * per_row))

    def __repr__(self):
        return str(self.call) + (f", then {self.epilogue}" if self.epilogue else "")

    # %% 16.9 what may be an epilogue
    def takes(self, step):
        """Whether a kernel's rows are the product's, one by one or each in equally many parts."""
        out = self.call.buffer
        if self.epilogue or not isinstance(step, KernelStep) or len(out.sizes) != 2 or 0 in out.sizes:
            return False
        group, rows = step.group, step.kernel.rows
        reads = [index for loop in group.loops for buffer, index in group.reads(loop) if buffer is out]
        if not reads or not rows or type(rows) is not type(out.sizes[0]):  # both depend on the batch, or none
            return False
        variables = (Index() if n == 1 else Index.variable(f"i{d}", n) for d, n in enumerate(group.rows))
        size = numel(out.sizes) // rows  # what one row of the kernel has of the product
        row = flatten(tuple(variables), group.rows)
        return all((index - row * size).within(size) for index in reads) and not rows % out.sizes[0]


# %% given
def flat(tensor, layout):
    """The memory from the tensor's first element on. A gradient may lie otherwise than foreseen: then it is copied."""
    same = tensor.strides == layout.strides
    return tensor.storage.data[tensor.layout.offset :] if same else tensor.numpy().reshape(-1)


# %% 16.10 the whole program
class Program:
    """A graph, compiled: called with tensors it gives tensors."""

    lower, kernel_step, batch, arena = Lowering, KernelStep, None, None

    def __init__(self, graph):
        self.lowering = lowering = self.lower(decompose(graph))
        groups, self.steps = fuse(lowering), []
        for group in groups:
            if isinstance(group, Call):
                self.steps.append(ProductStep(group))
                continue
            wanted = {*lowering.outputs}.union(*[read_by(other) for other in groups if other is not group])
            step, last = self.kernel_step(group, wanted), self.steps[-1] if self.steps else None
            if isinstance(last, ProductStep) and last.takes(step):
                last.epilogue, last.buffers = step, last.buffers + step.buffers
            else:
                self.steps.append(step)
        self.constants = {lowering.boxes[node].memory[0]: node.args[0].storage.data for node in lowering.constants}

    # %% 16.11 a plan of the memory
    def plan(self):
        """Buffers share memory: each takes the smallest free place that holds it. Gives places, and their bytes."""
        others = {*self.lowering.inputs, *self.lowering.outputs, *self.constants, "s0"}
        last = {buffer: i for i, step in enumerate(self.steps) for buffer in step.buffers if buffer not in others}
        places, sizes, free = {}, [], []
        for i, step in enumerate(self.steps):
            buffers = [buffer for buffer in dict.fromkeys(step.buffers) if buffer in last]
            for buffer in buffers:
                if buffer not in places:
                    need = self.count(buffer) * buffer.dtype.itemsize
                    fitting = [place for place in free if sizes[place] >= need]
                    if fitting:
                        places[buffer] = min(fitting, key=sizes.__getitem__)
                        free.remove(places[buffer])
                    else:
                        places[buffer] = len(sizes)
                        sizes.append(need)
            free += [places[buffer] for buffer in buffers if last[buffer] == i]
        return places, sizes

    def allocate(self, places, sizes):
        memory = [np.empty(size, np.uint8) for size in sizes]
        return {b: memory[place][: self.count(b) * b.dtype.itemsize].view(b.dtype) for b, place in places.items()}

    # %% 16.12 a call
    def __call__(self, *inputs, batch=None):
        """Memory is planned at the first call, and where the batch is another one."""
        batch = batch or batch_of(self.lowering.inputs, inputs)
        if self.arena is None or self.batch != batch:
            self.batch = batch
            self.arena = self.allocate(*self.plan())
        memory = {**self.constants, **self.arena, "s0": batch}
        for buffer, tensor in zip(self.lowering.inputs, inputs, strict=True):
            memory[buffer] = flat(tensor, at(buffer.layout, batch))
        for buffer in self.lowering.outputs:
            memory[buffer] = np.empty(self.count(buffer), buffer.dtype)
        for step in self.steps:
            step.run(memory)
        return [Tensor(Storage(memory[b], b.dtype), Layout.dense(at(b.sizes, batch))) for b in self.lowering.outputs]

    # %% given
    def count(self, buffer):
        return at(numel(buffer.sizes), self.batch)
