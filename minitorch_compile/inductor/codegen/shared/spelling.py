"""How a target writes operations on elements: what `emit.py` asks, and what each target answers in its own language.

>>> from minitorch_compile.inductor.codegen.cpu.spelling import CpuSpelling
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> CpuSpelling().apply("mul", float32, ["t0", "t1"])
't0 * t1'
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from minitorch_compile.inductor.ir.handler import Number
from minitorch_compile.tensor.numerics.dtype import dtype


class Spelling(ABC):
    """How a target writes operations on elements."""

    @abstractmethod
    def constant(self, value: Number, dtype: dtype) -> str: ...

    @abstractmethod
    def apply(self, prim: str, dtype: dtype, operands: list[str]) -> str:
        """A prim whose operands have this dtype."""

    @abstractmethod
    def convert(self, operand: str, source: dtype, target: dtype) -> str: ...

    @abstractmethod
    def random(self, seed: str, counter: str, dtype: dtype) -> str: ...

    @abstractmethod
    def load(self, pointer: str, address: str, dtype: dtype) -> str: ...

    @abstractmethod
    def store(self, pointer: str, address: str, value: str, dtype: dtype) -> str: ...

    def checked(self, function: str) -> str:
        """The name of a function that checks a computed index."""
        return function

    def digit(self, base: str, divisor: int, modulus: int, may_be_negative: bool) -> str:
        """(base // divisor) % modulus as a text that binds tightly; a modulus of 0 stands for none."""
        quotient = f"({base}) // {divisor}" if divisor != 1 else f"({base})"
        return f"({quotient} % {modulus})" if modulus else f"({quotient})"
