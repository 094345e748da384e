"""Lesson 17. Kernels and products in a row: which runs when, where its buffers lie, and a call.

>>> program = Program(trace(lambda x, w: (x @ w + 1).tanh(), fake((64, 8)), fake((8, 16))))
>>> program.steps
[buf0 = matmul(x0, x1), then rows (1024,): buf1]
>>> ones = from_numpy(np.ones((64, 8), np.float32)), from_numpy(np.ones((8, 16), np.float32))
>>> program(*ones)[0].sizes
(64, 16)
"""

import numpy as np
from mini.fusion import Call, Lowering, decompose, fuse, trace  # noqa: F401
from mini.products import KernelStep, ProductStep
from mini.sizes import at, batch_of
from mini.tensor import Layout, Storage, Tensor, fake, from_numpy, numel  # noqa: F401


# %% given
def read_by(group):
    return {buffer for loop in getattr(group, "loops", [group]) for buffer, _ in loop.reads()}


def flat(tensor, layout):
    """The memory from the tensor's first element on. A gradient may lie otherwise than foreseen: then it is copied."""
    same = tensor.strides == layout.strides
    return tensor.storage.data[tensor.layout.offset :] if same else tensor.numpy().reshape(-1)


# %% 17.4 the whole program
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

    # %% 17.5 a plan of the memory
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

    # %% 17.6 a call
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
