"""Sizes that are not known: whole numbers as expressions, and what a traced program assumed about them.

>>> env = ShapeEnv()
>>> n = env.create(8)
>>> (n * 4) // 2, n % 2 == 0
(2*s0, True)
>>> env.relations
[Relation(difference=s0 - 2*(s0//2), sign='==', place='')]
>>> print(*env.relations)
s0 % 2 == 0
"""

from minitorch_compile.symbolic.expression import Expression, FloorDivision, Maximum, Symbol, symbol, text_of
from minitorch_compile.symbolic.ranges import Range, range_of
from minitorch_compile.symbolic.relation import Relation
from minitorch_compile.symbolic.shape_env import (
    ConstraintViolationError,
    FrozenShapeEnv,
    GuardOnDataDependentSymNode,
    ShapeEnv,
)
from minitorch_compile.symbolic.sym_float import Assumptions, SizeFloat, SymFloat
from minitorch_compile.symbolic.sym_functions import (
    SymBool,
    sym_float,
    sym_int,
    sym_ite,
    sym_not,
    sym_sum,
)
from minitorch_compile.symbolic.sym_int import (
    WHOLE,
    SymInt,
    expect_at_most,
    expect_equal,
    expect_equal_sizes,
    expect_index,
    is_symbolic,
    is_unbacked,
    simplified,
    surely_equal,
    sym_max,
    sym_min,
    whole,
)

__all__ = [
    "WHOLE",
    "Assumptions",
    "ConstraintViolationError",
    "Expression",
    "FloorDivision",
    "FrozenShapeEnv",
    "GuardOnDataDependentSymNode",
    "Maximum",
    "Range",
    "Relation",
    "ShapeEnv",
    "SizeFloat",
    "SymBool",
    "SymFloat",
    "SymInt",
    "Symbol",
    "expect_at_most",
    "expect_equal",
    "expect_equal_sizes",
    "expect_index",
    "is_symbolic",
    "is_unbacked",
    "range_of",
    "simplified",
    "surely_equal",
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_sum",
    "symbol",
    "text_of",
    "whole",
]
