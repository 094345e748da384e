"""Behind the call of the graph: whether its data took the way that the trace expected.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def root(x):
...     if (x < 0).any():
...         raise ValueError("negative")
...     return x.sqrt()
>>> print(generated(root, ones(2)))
(out_0, out_1) = graph(x)
if out_1: return run_plainly(None, None, plain, x)
return out_0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch_compile.dynamo.capture.grad_switches import switch_grad_mode
from minitorch_compile.dynamo.rewriting.graph_failure import Before, run_plainly
from minitorch_compile.fx.effects import is_random
from minitorch_compile.tensor import grad_mode

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.expectations import Expectation
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph
    from minitorch_compile.dynamo.rewriting.codegen import Codegen


def checks(output: OutputGraph, codegen: Codegen, arguments: str) -> tuple[list[str], list[str]]:
    """Statements for the generated code, in front of and behind the call of the graph."""
    before, prepared = "None", []
    if output.written_inputs or any(map(is_random, output.graph.nodes)):
        written = [codegen.read(variable.source) for variable in output.written_inputs if variable.source is not None]
        before = output.names.fresh("before")
        prepared = [f"{before} = {codegen.constant(Before, 'Before')}([{', '.join(written)}])"]
    again = f"return {codegen.constant(run_plainly, 'run_plainly')}(None, {before}, plain, {arguments})"
    if grad_mode.state.enabled != output.grad_mode_before:  # the graph leaves it switched, the function starts without
        again = f"{codegen.constant(switch_grad_mode, 'switch_grad_mode')}({output.grad_mode_before}); {again}"
    return prepared, [_check(expectation, codegen, again) for expectation in output.expectations]


def _check(expectation: Expectation, codegen: Codegen, otherwise: str) -> str:
    return f"if {'not ' if expectation.outcome else ''}{codegen.value(expectation.condition)}: {otherwise}"
