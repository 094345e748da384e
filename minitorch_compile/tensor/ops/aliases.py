"""The second names that PyTorch has for arithmetic and comparison.

>>> from minitorch_compile.tensor import tensor
>>> multiply(tensor([2]), 3), greater_equal(tensor([2]), 3)
(tensor([6]), tensor([False]))
"""

from __future__ import annotations

from minitorch_compile.tensor.dispatch.declare import alias, alias_in
from minitorch_compile.tensor.ops.pointwise import abs, div, ge, gt, le, lt, mul, ne, neg, sub
from minitorch_compile.tensor.ops.reduction import log_softmax, softmax

absolute = alias("absolute", abs, inplace_function=False)
negative = alias("negative", neg)
subtract = alias("subtract", sub)
multiply = alias("multiply", mul)
divide = alias("divide", div)
true_divide = alias("true_divide", div)
greater = alias("greater", gt)
greater_equal = alias("greater_equal", ge)
less = alias("less", lt)
less_equal = alias("less_equal", le)
not_equal = alias("not_equal", ne)
special_softmax, special_log_softmax = alias_in("special", softmax), alias_in("special", log_softmax)
