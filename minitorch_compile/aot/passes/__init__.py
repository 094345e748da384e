"""Rewrites of functional graphs: each takes a graph and gives one that computes the same with less.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake, ops
>>> def program(x):
...     y = ops.view(ops.view(x, (6,)), (3, 2))
...     return ops.exp(y) / ops.exp(y).sum()
>>> print(simplify(trace(program, [empty_fake((2, 3))])).graph.compact())
x -> exp = exp(view(x, (3, 2))); div(exp, sum(exp))

`pass_list` has them in order, `show` draws what one of them does.
"""

from minitorch_compile.aot.passes.addmm import merge_addmm
from minitorch_compile.aot.passes.attention import recognise_attention
from minitorch_compile.aot.passes.conv_scale import fold_scale_into_convolution
from minitorch_compile.aot.passes.no_ops import remove_no_ops
from minitorch_compile.aot.passes.pass_check import check_pass
from minitorch_compile.aot.passes.pass_list import (
    BEFORE_AUTOGRAD,
    PASSES,
    Pass,
    custom_pass,
    describe,
    find_pass,
    prepare,
    register_pass,
    simplify,
    unregister_pass,
)
from minitorch_compile.aot.passes.pass_picture import show
from minitorch_compile.aot.passes.small_constants import evaluate_constants
from minitorch_compile.aot.passes.uniform_constants import fold_constants
from minitorch_compile.aot.passes.views import merge_views
