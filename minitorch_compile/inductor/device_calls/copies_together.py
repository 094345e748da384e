"""Several copies as one kernel: what a call writes back at its end, which is often many small tensors.

>>> text, kinds = copies_together([(4, 10), (8, 1)])
>>> print(text)
def copies(source0, target0, source1, target1, n0, n1):
    for i in range(cuda.grid(1), n0, cuda.gridsize(1)):
        target0[i] = source0[i]
    for i in range(cuda.grid(1), n1, cuda.gridsize(1)):
        target1[i] = source1[i]
<BLANKLINE>
>>> kinds
['int32', 'int32', 'int64', 'int64', 'size', 'size']
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.inductor.device_calls.launcher import SIZE

BITS = {1: "int8", 2: "int16", 4: "int32", 8: "int64", 16: "complex128"}  # elements are moved as they are
MOST = 64  # copies in one kernel, whose parameters have to fit into 4 KiB


def copies_together(copies: Sequence[tuple[int, int]]) -> tuple[str, list[str]]:
    """The text of the kernel `copies`, and the kinds of its parameters; a copy is bytes of an element, and elements."""
    numbers = range(len(copies))
    parameters = [f"{end}{i}" for i in numbers for end in ("source", "target")] + [f"n{i}" for i in numbers]
    loops = [
        f"    for i in range(cuda.grid(1), n{i}, cuda.gridsize(1)):\n        target{i}[i] = source{i}[i]\n"
        for i in numbers
    ]
    kinds = [BITS[item] for item, _ in copies for _ in range(2)] + [SIZE] * len(copies)
    return f"def copies({', '.join(parameters)}):\n{''.join(loops)}", kinds
