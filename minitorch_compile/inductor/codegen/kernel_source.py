"""What a kernel writer hands over: the text of one kernel, and what its parameters stand for."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from minitorch_compile.inductor.ir import Buffer
from minitorch_compile.tensor.dtype import dtype


@dataclass(frozen=True)
class ScratchArray:
    """Memory that a kernel needs only while it runs."""

    name: str
    dtype: dtype
    length: int

    @property
    def nbytes(self) -> int:
        return self.length * self.dtype.itemsize


@dataclass
class KernelSource:
    """One kernel: `body` is the text below its signature.

    Parameters are the range [lo, hi) of the outermost loop, whose whole is [0, extent), then a pointer for each buffer, then
    one for each scratch array, then, if `uses_status`, one to the integers that report an index out of range.
    """

    title: str
    buffers: list[Buffer]
    names: list[str]
    body: str
    extent: int
    scratch: list[ScratchArray] = field(default_factory=list)
    uses_status: bool = False

    @property
    def parameters(self) -> list[str]:
        status = ["status"] if self.uses_status else []
        return ["lo", "hi", *self.names, *(array.name for array in self.scratch), *status]

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
