"""Lesson 16. Products, and the kernels that follow them while their rows are still in the cache.

>>> graph = decompose(trace(lambda x, w: (x @ w + 1).tanh(), fake((64, 8)), fake((8, 16))))
>>> lowering = Lowering(graph)
>>> product, group = fuse(lowering)
>>> step, kernel = ProductStep(product), Kernel(group, {*lowering.outputs})
>>> step, kernel, step.takes(kernel)
(buf0 = matmul(x0, x1), rows (1024,): buf1, True)
"""

import numpy as np
from mini.emit import Kernel, at
from mini.fusion import Lowering, decompose, fake, flatten, fuse, numel, trace, variables  # noqa: F401
from mini.tensor import Storage, Tensor


# %% 16.5 a product, and what follows it block by block
class ProductStep:
    """out = x @ y; and where a kernel follows that works on its rows, block by block, while they are in the cache."""

    block = 64

    def __init__(self, call):
        self.call, self.epilogue = call, None
        self.buffers = [call.buffer, *[buffer for buffer, _ in call.arguments]]

    def launch(self, batch):
        """The product at a batch, as a function of the memory."""
        places = [*self.call.arguments, (self.call.buffer, self.call.buffer.layout)]
        places = [(buffer, at(layout, batch)) for buffer, layout in places]
        rows = self.epilogue and at(self.epilogue.rows, batch)

        def run(memory):
            x, y, out = [Tensor(Storage(memory[buffer], buffer.dtype), layout).numpy() for buffer, layout in places]
            if not self.epilogue:
                return np.matmul(x, y, out=out)
            count = len(out)
            for low in range(0, count, self.block):
                high = min(low + self.block, count)
                np.matmul(x[low:high], y, out=out[low:high])
                self.epilogue.run_part(memory, low * rows // count, high * rows // count)

        return run

    def __repr__(self):
        return str(self.call) + (f", then {self.epilogue}" if self.epilogue else "")

    # %% 16.6 what may be an epilogue
    def takes(self, step):
        """Whether a kernel's rows are the product's, one by one or each in equally many parts."""
        out = self.call.buffer
        if self.epilogue or not isinstance(step, Kernel) or len(out.sizes) != 2 or 0 in out.sizes:
            return False
        group, rows = step.group, step.rows
        reads = [index for loop in group.loops for buffer, index in loop.reads(group.rows) if buffer is out]
        if not reads or not rows or type(rows) is not type(out.sizes[0]):  # both depend on the batch, or none
            return False
        size = numel(out.sizes) // rows  # what one row of the kernel has of the product
        row = flatten(variables("i", group.rows), group.rows)
        return all((index - row * size).within(size) for index in reads) and not rows % out.sizes[0]
