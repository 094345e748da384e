"""Expressions, evaluated for all lanes of a block at once. What has an effect has it for the active lanes.

>>> def kernel(x):
...     return x[cuda.threadIdx.x] * FACTOR if cuda.threadIdx.x < 2 else -1.0
>>> from types import ModuleType
>>> own(ModuleType("numba.cuda")).threadIdx
<cuda.threadIdx, for kernels>
>>> merge(np.array([True, False]), np.float32(1), np.int64(2)).tolist()
[1.0, 2.0]
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from minitorch_compile.cuda_simulator import atomics, tensor_cores, vectors, warpgroups  # noqa: F401  enter their intrinsics
from minitorch_compile.cuda_simulator.arithmetic import (
    COMPARISONS,
    FUNCTIONS,
    Value,
    binary,
    convert,
    dtype_of,
    is_number,
    of_parts,
    truth,
    typed,
    unary,
    whole_power,
    widened,
)
from minitorch_compile.cuda_simulator.block import Block, Mask
from minitorch_compile.cuda_simulator.faults import Place
from minitorch_compile.cuda_simulator.intrinsics import INTRINSICS, REGISTERS, Intrinsic, Site
from minitorch_compile.cuda_simulator.libdevice import LIBDEVICE
from minitorch_compile.cuda_simulator.memory import ConstantMemory, DeviceMemory, Part
from minitorch_compile.cuda_simulator.races import Shadow
from minitorch_compile.cuda_simulator.source import Definition

CUDA = Intrinsic("")
PARTS_OF_NUMBERS = ("real", "imag", "dtype", "type")


def own(value: Any) -> Value:
    """What an object of Python's, met in a kernel, stands for on the device."""
    if isinstance(value, ModuleType) and value.__name__ == "numba.cuda":
        return CUDA
    if getattr(value, "__module__", None) in ("numba.cuda.stubs", "numba.cuda.intrinsics"):
        return getattr(CUDA, value.__name__)
    if hasattr(value, "simulated_as"):  # one of Numba's that others have made
        return Intrinsic(value.simulated_as)
    if issubclass(type(value), np.ndarray):  # what only says that it is an array could compute its elements
        return ConstantMemory("", value, Shadow(value.size, value.itemsize))
    if type(value) is tuple:
        return tuple(map(own, value))
    return typed(value)


def merge(mask: Mask, new: Value, old: Value) -> Value:
    """A variable that gets a new value where the mask says so, and has an old one elsewhere."""
    if new is old:
        return new
    if is_number(new) and is_number(old):
        return np.where(mask, new, old)
    if isinstance(new, tuple) and isinstance(old, tuple) and len(new) == len(old):
        return tuple(merge(mask, *pair) for pair in zip(new, old))
    raise TypeError(f"a variable would have {new!r} in some threads and {old!r} in others")


def has_calls(node: Any) -> bool:
    """Whether a call stands in an expression; found once, and kept on the node."""
    if not hasattr(node, "has_calls"):
        node.has_calls = any(isinstance(part, ast.Call) for part in ast.walk(node))
    return bool(node.has_calls)


class Expressions:
    """Evaluates the expressions in one call of a function. A method for each kind of node, by its name in `ast`."""

    def __init__(self, definition: Definition, block: Block, variables: dict[str, Value]) -> None:
        self.definition, self.block, self.variables = definition, block, variables

    def value(self, node: Any, active: Mask) -> Value:
        evaluate: Callable[[Any, Mask], Value] | None = getattr(self, type(node).__name__, None)
        if evaluate is None:
            self.refuse(node, f"the simulator doesn't run {type(node).__name__}")
        assert evaluate is not None
        return evaluate(node, active)

    def refuse(self, node: Any, why: str) -> None:
        raise NotImplementedError(f"{why}\n    {self.place(node)}")

    def place(self, node: Any) -> Place:
        return self.definition.place(node)

    # ------------------------------------------------------------------------------------------ values

    def Constant(self, node: ast.Constant, active: Mask) -> Value:
        return typed(node.value)

    def Name(self, node: ast.Name, active: Mask) -> Value:
        if node.id in self.variables:
            return self.variables[node.id]
        known, name = self.block.launch.outside, (id(self.definition), node.id)
        if name not in known:
            known[name] = own(self.definition.outside(node.id))
        return known[name]

    def Tuple(self, node: ast.Tuple, active: Mask) -> Value:
        return tuple(self.value(element, active) for element in node.elts)

    def Attribute(self, node: ast.Attribute, active: Mask) -> Value:
        owner = self.value(node.value, active)
        if isinstance(owner, (DeviceMemory, Part)):
            if node.attr not in ("shape", "size", "ndim", "dtype"):
                self.refuse(node, f"an array in a kernel has shape, size, ndim and dtype, but no {node.attr}")
            return own(getattr(owner, node.attr))
        if is_number(owner):
            if node.attr not in PARTS_OF_NUMBERS:
                self.refuse(node, f"a number in a kernel has no attribute {node.attr}")
            return getattr(owner, node.attr)
        part = own(getattr(owner, node.attr))
        if isinstance(part, Intrinsic) and part.name in REGISTERS:
            return REGISTERS[part.name](self.block)
        return part

    # ------------------------------------------------------------------------------------------ operators

    def BinOp(self, node: ast.BinOp, active: Mask) -> Value:
        return self.combined(node, self.value(node.left, active), self.value(node.right, active))

    def combined(self, node: Any, left: Value, right: Value) -> Value:
        if isinstance(left, tuple) and isinstance(right, tuple) and isinstance(node.op, ast.Add):
            return left + right
        if not (is_number(left) and is_number(right)):
            raise TypeError(
                f"{type(node.op).__name__} needs two numbers, got {left!r} and {right!r}\n    {self.place(node)}"
            )
        exponent = node.right if isinstance(node, ast.BinOp) else node.value
        if isinstance(node.op, ast.Pow) and isinstance(exponent, ast.Constant) and isinstance(exponent.value, int):
            return whole_power(left, exponent.value)
        return binary(type(node.op), left, right)

    def UnaryOp(self, node: ast.UnaryOp, active: Mask) -> Value:
        return unary(type(node.op), self.value(node.operand, active))

    def Compare(self, node: ast.Compare, active: Mask) -> Value:
        left, result = self.value(node.left, active), np.bool_(True)
        for operator, side in zip(node.ops, node.comparators):
            right = self.value(side, active)
            result = result & self.compared(node, operator, left, right)
            left = right
        return result

    def compared(self, node: ast.Compare, operator: ast.cmpop, left: Value, right: Value) -> Value:
        if isinstance(operator, (ast.Is, ast.IsNot)):
            return np.bool_((left is right) == isinstance(operator, ast.Is))
        if not (is_number(left) and is_number(right)):
            if not isinstance(operator, (ast.Eq, ast.NotEq)):
                self.refuse(node, "the simulator compares numbers only by order")
            return np.bool_((left == right) == isinstance(operator, ast.Eq))
        return COMPARISONS[type(operator)](left, right)

    def BoolOp(self, node: ast.BoolOp, active: Mask) -> Value:
        """`and` and `or`: lanes that know the answer don't evaluate what follows."""
        result = self.value(node.values[0], active)
        for operand in node.values[1:]:
            known = ~truth(result) if isinstance(node.op, ast.And) else truth(result)
            result = self.chosen(known, result, self.side(operand, active & ~known))
        return result

    def IfExp(self, node: ast.IfExp, active: Mask) -> Value:
        test = truth(self.value(node.test, active))
        yes, no = self.side(node.body, active & test), self.side(node.orelse, active & ~test)
        return self.chosen(test, yes, no)

    def side(self, node: ast.expr, active: Mask) -> Value:
        """A value that some lanes need. Where none does, it says only of which type it would be, and calls don't."""
        if not active.any() and has_calls(node):
            return None
        return self.value(node, active)

    def chosen(self, test: Value, yes: Value, no: Value) -> Value:
        """One of two values, of the type that has room for both."""
        if yes is None or no is None:
            return no if yes is None else yes
        if is_number(yes) and is_number(no):
            if yes.dtype != no.dtype:
                yes, no = widened(yes, no)
            result: Value = np.where(test, yes, no)
            return result if result.ndim else result[()]
        return (yes if test else no) if not np.ndim(test) else merge(test, yes, no)

    def NamedExpr(self, node: ast.NamedExpr, active: Mask) -> Value:
        value = self.value(node.value, active)
        self.assign(node.target, value, active)
        return value

    # ------------------------------------------------------------------------------------------ arrays

    def Subscript(self, node: ast.Subscript, active: Mask) -> Value:
        array, indices = self.value(node.value, active), self.indices(node, active)
        if isinstance(array, tuple):
            if np.ndim(indices[0]):
                self.refuse(node, "all threads must take the same element of a tuple")
            return array[int(indices[0])]
        memory, indices = self.whole(node, array, indices)
        if len(indices) < memory.ndim:
            return Part(memory, indices)
        return memory.load(self.block, indices, active, self.place(node))

    def indices(self, node: ast.Subscript, active: Mask) -> tuple[Value, ...]:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else (node.slice,)
        if any(isinstance(part, ast.Slice) for part in parts):
            self.refuse(node, "the simulator has no slices in kernels; write a loop over indices")
        index = self.value(node.slice, active)
        return index if isinstance(index, tuple) else (index,)

    def whole(
        self, node: ast.Subscript, array: Value, indices: tuple[Value, ...]
    ) -> tuple[DeviceMemory, tuple[Value, ...]]:
        """The array that is indexed, and all indices into it; what was chosen before comes first."""
        if isinstance(array, Part):
            array, indices = array.memory, array.indices + indices
        if not isinstance(array, DeviceMemory):
            raise TypeError(f"only arrays and tuples have elements, not {array!r}\n    {self.place(node)}")
        if len(indices) > array.ndim:
            raise TypeError(
                f"{array.title} has {array.ndim} dimensions, got {len(indices)} indices\n    {self.place(node)}"
            )
        return array, indices

    def assign(self, target: Any, value: Value, active: Mask) -> None:
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------ calls

    def Call(self, node: ast.Call, active: Mask) -> Value:
        function = self.value(node.func, active)
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            self.refuse(node, "the simulator needs arguments one by one, without *")
        values = [self.value(argument, active) for argument in node.args]
        named = {str(word.arg): self.value(word.value, active) for word in node.keywords}
        if isinstance(function, Intrinsic):
            return self.call_intrinsic(node, function, active, values, named)
        if hasattr(function, "py_func"):
            return self.call_device_function(function.py_func, values, named, active)
        return self.call_known(node, function, active, values)

    def call_intrinsic(
        self, node: ast.Call, function: Intrinsic, active: Mask, values: list[Value], named: dict[str, Value]
    ) -> Value:
        if function.name not in INTRINSICS:
            self.refuse(node, f"cuda.{function.name} can't be called")
        return INTRINSICS[function.name](Site(self.block, active, self.place(node), node), *values, **named)

    def call_known(self, node: ast.Call, function: Any, active: Mask, values: list[Value]) -> Value:
        """A conversion, a function of Python's or NumPy's."""
        dtype = dtype_of(function)
        if function is complex and len(values) == 2:
            return of_parts(*values)
        if dtype is not None:
            return convert(values[0], dtype) if values else dtype.type(0)
        if isinstance(function, np.ufunc) and function.signature is None and len(values) == function.nin:
            return function(*values)  # element by element: others, such as matmul, would combine the threads' numbers
        if function is len:
            return np.int64(len(values[0]) if isinstance(values[0], tuple) else values[0].shape[0])
        if function is print:
            return self.printed(values, active)
        if getattr(function, "__module__", "") == "numba.cuda.libdevice" and function.__name__ in LIBDEVICE:
            return LIBDEVICE[function.__name__](*values)
        if isinstance(function, FunctionType):
            raise TypeError(
                f"{function.__name__} is for the host; cuda.jit(device=True) makes it one for kernels"
                f"\n    {self.place(node)}"
            )
        if function not in FUNCTIONS:
            self.refuse(node, f"the simulator knows no {function!r}")
        return FUNCTIONS[function](*values)

    def printed(self, values: list[Value], active: Mask) -> None:
        for lane in np.flatnonzero(active):
            print(*(self.block.vector(value)[lane] if is_number(value) else value for value in values))

    def call_device_function(
        self, function: FunctionType, values: list[Value], named: dict[str, Value], active: Mask
    ) -> Value:
        raise NotImplementedError
