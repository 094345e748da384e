"""Several copies as one kernel: what a call writes back at its end, which is often many small tensors.

Each block does a part of one of them. Would all threads go from one to the next, fifty numbers would take forty
microseconds: a copy begins when the one before it has come.

>>> text, kinds = copies_together([(4, 10), (8, 1)])
>>> print(text)
def copies(source0, target0, source1, target1, n0, n1):
    which, part = cuda.blockIdx.x % 2, cuda.blockIdx.x // 2
    first, step = part * THREADS + cuda.threadIdx.x, cuda.gridDim.x // 2 * THREADS
    if which == 0:
        for i in range(first, n0, step):
            target0[i] = source0[i]
    elif which == 1:
        for i in range(first, n1, step):
            target1[i] = source1[i]
<BLANKLINE>
>>> kinds
['int32', 'int32', 'int64', 'int64', 'size', 'size']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from minitorch_compile.inductor.device_calls.launcher import SIZE, Kernel, Launch, Launcher

BITS = {1: "int8", 2: "int16", 4: "int32", 8: "int64", 16: "complex128"}  # elements are moved as they are
EACH = 4  # elements that a thread copies
MOST = 64  # copies in one kernel, whose parameters have to fit into 4 KiB


def copies_together(copies: Sequence[tuple[int, int]]) -> tuple[str, list[str]]:
    """The text of the kernel `copies`, and the kinds of its parameters; a copy is bytes of an element, and elements. It
    is launched with a multiple of as many blocks as there are copies."""
    numbers = range(len(copies))
    parameters = [f"{end}{i}" for i in numbers for end in ("source", "target")] + [f"n{i}" for i in numbers]
    loops = [
        f"    {'elif' if i else 'if'} which == {i}:\n        for i in range(first, n{i}, step):\n"
        f"            target{i}[i] = source{i}[i]\n"
        for i in numbers
    ]
    count = len(copies)
    shares = (
        f"    which, part = cuda.blockIdx.x % {count}, cuda.blockIdx.x // {count}\n"
        f"    first, step = part * THREADS + cuda.threadIdx.x, cuda.gridDim.x // {count} * THREADS\n"
    )
    kinds = [BITS[item] for item, _ in copies for _ in range(2)] + [SIZE] * len(copies)
    return f"def copies({', '.join(parameters)}):\n{shares}{''.join(loops)}", kinds


def copying_launch(copies: Sequence[tuple[int, int]], launcher: Launcher, compile: Callable[..., Kernel]) -> Launch:
    """What launches that kernel, given the addresses in pairs."""
    text, kinds = copies_together(copies)
    longest = max(length for _, length in copies)
    parts = max(1, min(-(-longest // (EACH * launcher.threads)), launcher.most_blocks))
    reaches = [(length, np.dtype(BITS[item])) for item, length in copies for _ in range(2)]
    return compile(text, "copies", kinds)(parts * len(copies), reaches, [length for _, length in copies])


def launches_of_copies(
    copies: Sequence[tuple[int, int, int]], launcher: Launcher, compile: Callable[..., Kernel]
) -> Iterator[tuple[Launch, list[int]]]:
    """Launches that copy bytes, and the addresses that each is given. A copy is a source, a target and a number."""
    for first in range(0, len(copies), MOST):
        part = copies[first : first + MOST]
        item = 4 if all(number % 4 == 0 for copy in part for number in copy) else 1
        launch = copying_launch([(item, nbytes // item) for *_, nbytes in part], launcher, compile)
        yield launch, [address for source, target, _ in part for address in (source, target)]
