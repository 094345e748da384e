"""What a primitive is: an op that leaves nothing to guess.

The ops of floor 1 are made for people: `add` broadcasts, promotes dtypes and takes Python numbers. Each of these
comforts would have to be understood by every compiler. A *prim* has none of them. Its tensors have one dtype and the
same sizes, its dimensions are non-negative and sorted, its numbers are tensors made by `full`. So a compiler that knows
the prims, a small closed set, can compile every program: floor 5 rewrites all other ops to prims (`decompose`).

The NumPy kernel of a prim is its meaning. Its shape rule is strict: it refuses what is not exactly right.

>>> from minitorch_compile import prims
>>> from minitorch_compile.tensor import tensor
>>> prims.add, prims.add(tensor([1.0, 2.0]), tensor([3.0, 4.0]))
(prims.add, tensor([4., 6.]))
>>> prims.add(tensor([1.0, 2.0]), tensor([1, 2]))
Traceback (most recent call last):
RuntimeError: prims.add: expected b to be like a, torch.float32 [2], but it is torch.int64 [2]. Prims neither ...

Source: PyTorch's PrimTorch (`torch/_prims`) and the instruction set of XLA, from which several names come.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.symbolic import WHOLE, SymFloat
from minitorch_compile.tensor.dispatch.number_arguments import NEVER
from minitorch_compile.tensor.dispatch.op_families import KernelOp
from minitorch_compile.tensor.numerics.dtype import BOOL, COMPLEX, FLOATING, INTEGER, dtype, int64
from minitorch_compile.tensor.tensor_base import TensorBase

Kernel = Callable[..., Any]

table: dict[str, Prim] = {}

# Which dtypes a prim is defined for, by category. ORDERED: what can be compared. ANALYTIC: what has roots and sines.
ANY, NUMBERS, ANALYTIC = (BOOL, INTEGER, FLOATING, COMPLEX), (INTEGER, FLOATING, COMPLEX), (FLOATING, COMPLEX)
ORDERED, REALS, FLOATS, BITS = (BOOL, INTEGER, FLOATING), (INTEGER, FLOATING), (FLOATING,), (BOOL, INTEGER)
IN_WORDS = {
    ANY: "any",
    NUMBERS: "integers, floats, complex",
    ANALYTIC: "floats, complex",
    ORDERED: "bool, integers, floats",
    REALS: "integers, floats",
    FLOATS: "floats",
    BITS: "bool, integers",
    (INTEGER,): "integers",
}
_CATEGORY_NAMES = {BOOL: "bool", INTEGER: "integer", FLOATING: "floating-point", COMPLEX: "complex"}


class Prim(KernelOp):
    """A primitive operation: strict arguments, a NumPy kernel, a shape rule. Its results are row-major.

    `dtypes` says what it takes (and what it gives, if that differs), `sizes` which sizes the result has; `result` is
    its dtype, where that is the same whatever it takes.
    """

    dtypes = ""
    sizes = ""
    result: dtype | None = None

    def __init__(self, kernel: Kernel, **row: Any) -> None:
        super().__init__(kernel, **row)
        self.numbers, self.fine_keywords, self.first_number = (
            (),
            {},
            NEVER,
        )  # tensors and Python's types are not numbers and dtypes here

    def __repr__(self) -> str:
        return f"prims.{self.name}"

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """As Op.bind. A float that is not known becomes a constant: in kernels only tensors hold unknown numbers."""
        bound = super().bind(args, kwargs)
        return tuple(map(_as_constant, bound)) if SymFloat in map(type, bound) else bound

    def __reduce__(self) -> tuple[Any, ...]:
        return find, (self.name,)


def _as_constant(value: Any) -> Any:
    return float(value) if isinstance(value, SymFloat) else value


def find(name: str) -> Prim:
    """The prim of that name. AttributeError if there is none."""
    if name not in table:
        raise AttributeError(f"prims: there is no prim named {name!r}")
    return table[name]


def prim(
    kind: str, shape_rule: Callable[..., Any], *, dtypes: str, sizes: str, result: dtype | None = None
) -> Callable[[Kernel], Prim]:
    """Declares a prim. `shape_rule(name, *parameters)` checks the arguments and returns the result as a fake tensor.

    `dtypes` and `sizes` say in words what it checks and gives: they become part of the docstring.
    """

    def declare(kernel: Kernel) -> Prim:
        new = Prim(kernel, kind=kind, namespaces=["prims"])
        new.dtypes, new.sizes, new.result = dtypes, sizes, result
        new.__doc__ = f"{kernel.__doc__}\n\n    dtypes: {dtypes}. sizes: {sizes}."
        if new.name in table:
            raise ValueError(f"prims: {new.name!r} is declared twice")
        new.shape_rule(lambda *parameters: shape_rule(new.name, *parameters))
        table[new.name] = new
        return new

    return declare


# ------------------------------------------------------------------------------------------ what rules check


def refuse(name: str, argument: str, expected: str, came: object) -> RuntimeError:
    """The error for an argument that isn't what the prim expects."""
    return RuntimeError(f"prims.{name}: expected {argument} to be {expected}, but it is {came}")


def describe(value: Any) -> str:
    """A tensor as dtype and sizes, each item of a list or tuple likewise; anything else as it prints."""
    if isinstance(value, TensorBase):
        return f"{value.dtype} {list(value.sizes)}"
    if isinstance(value, (list, tuple)) and any(isinstance(item, TensorBase) for item in value):
        return f"({', '.join(map(describe, value))})"
    return f"{value!r} ({type(value).__name__})"


def check_tensor(name: str, argument: str, value: Any, categories: Sequence[int] = ANY) -> None:
    """RuntimeError unless `value` is a tensor whose dtype belongs to one of the categories."""
    if not isinstance(value, TensorBase):
        raise refuse(name, argument, "a tensor", describe(value))
    if value.dtype.category not in categories:
        raise refuse(name, argument, f"a {' or '.join(_CATEGORY_NAMES[c] for c in categories)} tensor", describe(value))


def check_like(name: str, argument: str, value: Any, other_argument: str, other: TensorBase) -> None:
    """RuntimeError unless `value` is a tensor with the sizes and dtype of `other`."""
    check_tensor(name, argument, value)
    if value.dtype is not other.dtype or value.sizes != other.sizes:
        raise RuntimeError(
            f"prims.{name}: expected {argument} to be like {other_argument}, {describe(other)},"
            f" but it is {describe(value)}."
            " Prims neither broadcast nor promote: use broadcast_in_dim, convert_element_type or full."
        )


def check_index(name: str, argument: str, value: Any) -> None:
    """RuntimeError unless `value` is an int64 tensor."""
    check_tensor(name, argument, value)
    if value.dtype is not int64:
        raise refuse(name, argument, "an int64 tensor", describe(value))


def check_dtype(name: str, argument: str, value: Any) -> None:
    """RuntimeError unless `value` is a dtype."""
    if not isinstance(value, dtype):
        raise refuse(name, argument, "a dtype such as torch.float32", describe(value))


def check_dim(name: str, argument: str, dim: Any, x: TensorBase) -> None:
    """RuntimeError unless `dim` is a dimension of `x`, counted from the front."""
    if not isinstance(dim, WHOLE) or not 0 <= dim < len(x.sizes):
        raise refuse(name, argument, f"one of the dimensions 0 to {len(x.sizes) - 1} of x, {describe(x)}", dim)


def check_dims(name: str, argument: str, dims: Any, x: TensorBase) -> None:
    """RuntimeError unless `dims` is a sorted tuple of distinct dimensions of `x`, counted from the front."""
    ascending = isinstance(dims, tuple) and all(map(operator.lt, dims[:-1], dims[1:]))
    if not ascending or not all(isinstance(d, WHOLE) and 0 <= d < len(x.sizes) for d in dims):
        raise refuse(name, argument, f"a sorted tuple of dimensions of x, {describe(x)}", dims)


def check_ints(name: str, argument: str, value: Any, length: int, least: int = 0) -> None:
    """RuntimeError unless `value` is a tuple of `length` ints, none below `least`."""
    if (
        not isinstance(value, tuple)
        or len(value) != length
        or not all(isinstance(n, WHOLE) and n >= least for n in value)
    ):
        raise refuse(name, argument, f"a tuple of {length} ints >= {least}", value)
