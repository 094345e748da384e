"""Lesson 17. Kernels and products in a row: which runs when, where its buffers lie, and a call.

>>> program = Program(trace(lambda x, w: (x @ w + 1).tanh(), fake((64, 8)), fake((8, 16))))
>>> program.steps
[buf0 = matmul(x0, x1), then rows (1024,): buf1]
>>> ones = from_numpy(np.ones((64, 8), np.float32)), from_numpy(np.ones((8, 16), np.float32))
>>> program(*ones)[0].sizes
(64, 16)
"""

import functools

import numpy as np
from mini.fusion import Call, Lowering, decompose, fuse, numel, trace  # noqa: F401
from mini.prims import DECOMPOSITIONS
from mini.products import Kernel, ProductStep
from mini.sizes import at, batch_of
from mini.tensor import Storage, Tensor, fake, from_numpy  # noqa: F401


# %% given
def read_by(group):
    return {buffer for loop in getattr(group, "loops", [group]) for buffer, _ in loop.reads()}


def flat(tensor, layout):
    """The memory from the tensor's first element on. A gradient may lie otherwise than foreseen: then it is copied."""
    same = tensor.strides == layout.strides
    return tensor.storage.data[tensor.layout.offset :] if same else tensor.numpy().reshape(-1)


def bytes_of(buffer, batch):
    return at(numel(buffer.sizes), batch) * buffer.dtype.itemsize


# %% 17.4 the whole program
class Program:
    """A graph, compiled: called with tensors it gives tensors."""

    rules, kernel, empty = DECOMPOSITIONS, Kernel, staticmethod(np.empty)
    take = give = staticmethod(lambda array: array)  # to the memory in which the kernels run, and from it

    def __init__(self, graph):
        self.lowering = lowering = Lowering(decompose(graph, self.rules))
        groups, self.steps = fuse(lowering), []
        for group in groups:
            if isinstance(group, Call):
                self.steps.append(ProductStep(group))
                continue
            wanted = {*lowering.outputs}.union(*[read_by(other) for other in groups if other is not group])
            step, last = self.kernel(group, wanted), self.steps[-1] if self.steps else None
            if isinstance(last, ProductStep) and last.takes(step):
                last.epilogue, last.buffers = step, last.buffers + step.buffers
            else:
                self.steps.append(step)
        self.prepared = functools.lru_cache(maxsize=4)(self.prepare)  # for the batches that were used last

    # %% 17.5 a plan of the memory
    def plan(self, batch=None):
        """Buffers share memory: each takes the smallest free place that holds it. Gives places, and their bytes."""
        others = {*self.lowering.inputs, *self.lowering.outputs, "s0"}
        last = {buffer: i for i, step in enumerate(self.steps) for buffer in step.buffers if buffer not in others}
        places, sizes, free = {}, [], []
        for i, step in enumerate(self.steps):
            buffers = [buffer for buffer in dict.fromkeys(step.buffers) if buffer in last]
            for buffer in buffers:
                if buffer not in places:
                    need = bytes_of(buffer, batch)
                    fitting = [place for place in free if sizes[place] >= need]
                    places[buffer] = min(fitting, key=sizes.__getitem__, default=len(sizes))
                    if fitting:
                        free.remove(places[buffer])
                    else:
                        sizes.append(need)
            free += [places[buffer] for buffer in buffers if last[buffer] == i]
        return places, sizes

    # %% 17.6 a call
    def prepare(self, batch):
        """What calls of one batch have in common: where inputs and outputs lie, the memory, and the steps to launch."""
        inputs = [(buffer, at(buffer.layout, batch)) for buffer in self.lowering.inputs]
        outputs = [(buffer, at(buffer.layout, batch)) for buffer in self.lowering.outputs]
        places, sizes = self.plan(batch)
        arena = [self.empty(size, np.uint8) for size in sizes]
        memory = {b: arena[place][: bytes_of(b, batch)].view(b.dtype) for b, place in places.items()}
        return inputs, outputs, memory | {"s0": batch}, [step.launch(batch) for step in self.steps]

    def __call__(self, *tensors, batch=None):
        """Inputs are taken as they lie, outputs are new; between them the steps run."""
        inputs, outputs, memory, launches = self.prepared(batch or batch_of(self.lowering.inputs, tensors))
        now = dict(memory)
        for (buffer, layout), tensor in zip(inputs, tensors, strict=True):
            now[buffer] = self.take(flat(tensor, layout))
        for buffer, layout in outputs:
            now[buffer] = self.empty(numel(layout.sizes), buffer.dtype)
        for launch in launches:
            launch(now)
        return [Tensor(Storage(self.give(now[b]), b.dtype), layout) for b, layout in outputs]
