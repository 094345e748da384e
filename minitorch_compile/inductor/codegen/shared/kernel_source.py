"""What a kernel writer hands over: the text of one kernel, and what its parameters stand for."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.tensor.numerics.dtype import dtype


@dataclass(frozen=True)
class ScratchArray:
    """Memory that a kernel needs only while it runs."""

    name: str
    dtype: dtype
    length: int

    @property
    def nbytes(self) -> int:
        return self.length * self.dtype.itemsize


class BlockShape(NamedTuple):
    """Threads of a GPU's block, as a multiple of the usual number, and how many blocks a multiprocessor has at the
    least: so many that none of their threads takes too many registers (0: the compiler may decide). `each`: there is a
    block for every piece of work, since some begin to read while others write; else few, which go on to the next piece.
    `shared`: bytes of shared memory beside what the kernel's text asks for, which can't be more than 48 KB.
    """

    times: float = 1
    together: int = 0
    each: bool = False
    shared: int = 0


@dataclass
class KernelSource:
    """One kernel: `body` is the text below its signature.

    Parameters are the range [lo, hi) of the outermost loop, whose whole is [0, extent), the `sizes` that are passed
    instead of written, then a pointer for each buffer, then one for each scratch array, then, if `uses_status`, one
    to the integers that report an index out of range. Parts of the range may run at the same time. `nanoseconds` is
    roughly what all of it takes. `block` is for a GPU, `reason` says why its
    work is dealt out to threads as it is.
    """

    title: str
    buffers: list[Buffer]
    names: list[str]
    body: str
    extent: int
    scratch: list[ScratchArray] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    uses_status: bool = False
    nanoseconds: float = 0.0
    block: BlockShape = BlockShape()
    reason: str = ""

    @property
    def parameters(self) -> list[str]:
        status = ["status"] if self.uses_status else []
        return ["lo", "hi", *self.sizes, *self.names, *(array.name for array in self.scratch), *status]

    @property
    def element_dtypes(self) -> list[str]:
        """The dtype name behind each pointer parameter."""
        status = ["int64"] if self.uses_status else []
        return [*(b.dtype.name for b in self.buffers), *(a.dtype.name for a in self.scratch), *status]

    @property
    def structure(self) -> str:
        """Equal for kernels that do the same: comments, which name the user's lines, don't count."""
        code = re.sub(r"^\s*#.*\n", "", self.body + "\n", flags=re.MULTILINE)
        return f"{self.parameters} {self.element_dtypes}\n{code}"

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.structure.encode()).hexdigest()[:16]


def kernel_title(prims: list[str]) -> str:
    """A name that says what a kernel computes: the first prims in it, each once."""
    return "_".join(["fused", *list(dict.fromkeys(prims))[:5]])


def name_parameters(
    group: Group, internal: frozenset[Buffer], shared: Mapping[Buffer, Buffer]
) -> tuple[list[Buffer], dict[Buffer, str]]:
    """The buffers that the kernel takes, and a name for each: in0, out0, or inout0 for two that share memory."""
    inputs = group.inputs
    outputs = [buffer for buffer in group.outputs if buffer not in internal]
    overwritten = set(shared.values())
    names: dict[Buffer, str] = {}
    counts = {"in": 0, "out": 0, "inout": 0}
    for buffer, prefix in [
        *((b, "inout" if b in overwritten else "in") for b in inputs),
        *((b, "out") for b in outputs),
    ]:
        if shared.get(buffer) in names:
            names[buffer] = names[shared[buffer]]
        else:
            names[buffer] = f"{prefix}{counts[prefix]}"
            counts[prefix] += 1
    return [buffer for buffer in names if shared.get(buffer) not in names], names
