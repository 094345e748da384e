"""Guards on who shares what: a graph or a replayed change is right only while the objects are as separate as they were.

Two arguments may be the same list, or tensors over the same memory. Where nothing is changed that does not matter;
where one of them is changed, the entry holds only for calls in which they are just as separate.

>>> from minitorch_compile.dynamo.eval_frame import optimize, region_of
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> compiled = optimize(lambda x, y: x.add_(1) * y, eager)
>>> _ = compiled(ones(2), ones(2))
>>> print([guard for guard in region_of(compiled).caches[0].entries[0].guards if guard.kind == "NO_ALIAS"][0])
NO_ALIAS         {id(x.storage.memory)}.isdisjoint({id(y.storage.memory)})
"""

from __future__ import annotations

from minitorch_compile.dynamo.capture.output_graph import OutputGraph
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.guards import About, Guard
from minitorch_compile.dynamo.guards.memory_guard import memory_guard
from minitorch_compile.dynamo.guards.source import AttrSource, Source
from minitorch_compile.dynamo.variables.tensors.graph_arrays import ArrayTensorSource
from minitorch_compile.dynamo.variables.tensors.numbers import ExpressionSource
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.dynamo.variables.tensors.tensor_hooks import hooked_tensors
from minitorch_compile.tensor import grad_mode


def guard_aliasing(output: OutputGraph) -> None:
    """Adds the guards; a break if a graph can't stand for the program at all."""
    if output.written_inputs and any(isinstance(v.source, ArrayTensorSource) for v in output.inputs):
        raise Unsupported("aliased-inputs-mutated", "a tensor is written to, and an array may share its memory.")
    if any(tensor.fake.storage in output.fakes.written for tensor in hooked_tensors(output)):
        raise Unsupported("autograd-call", "a hook is registered on a tensor that is written to.")
    for variable in output.written_inputs:
        _guard_written(output, variable)
    _guard_storages(output)
    for changed in output.side_effects.changed:
        _guard_separate(output, [v.source for v in output.tracked_like(changed) if v.source is not None])


def _guard_written(output: OutputGraph, variable: TensorVariable) -> None:
    """A tensor that the graph writes to: it shares memory with no other input, and autograd allows the write."""
    others = (other for other in output.inputs if other is not variable)
    if any(other.real.storage == variable.real.storage for other in others):
        raise Unsupported("aliased-inputs-mutated", "an input that shares memory with another is written in place.")
    x, source, is_recorded = variable.real, variable.source, variable.fake.requires_grad
    assert source is not None
    if x.requires_grad:
        if x.base is not None:
            raise Unsupported("aliased-inputs-mutated", "a view that requires grad is written in place.")
        output.guards.add(guards.identity(AttrSource(source, "base"), None, output.names, "base"))
    elif variable.fake.storage in output.fakes.written_with_grad:
        if x.base is not None and (x.base.requires_grad or (is_recorded and x.untracked)):
            raise Unsupported("aliased-inputs-mutated", "a view is written in place that autograd refuses writes to.")
        if is_recorded:
            check = "({0}.base is None or not {0}.untracked)"
            output.guards.add(Guard(source, "TENSOR_MATCH", check, "no view made under no_grad", about=About.OBJECT))
    if grad_mode.state.inference:
        return
    if x.storage.is_inference:
        raise Unsupported("aliased-inputs-mutated", "an inference tensor is written outside of inference mode.")
    check, field = "{0}.storage.version >= 0", "{0}.storage.is_inference"
    output.guards.add(Guard(source, "TENSOR_MATCH", check, "False", actual=field, about=About.OBJECT))


def _guard_storages(output: OutputGraph) -> None:
    """The storages that are written to are none of the others'."""
    written = output.written_inputs
    writes = [v.source for v in written if v.source is not None]
    reads = [v.source for v in output.inputs if v.source is not None and v not in written]
    if writes and len(writes) + len(reads) > 1:
        output.guards.add(memory_guard(writes, reads))


def _guard_separate(output: OutputGraph, sources: list[Source]) -> None:
    """One guard that all these objects are different ones."""
    if len(sources) > 1:
        ids = ", ".join(f"id({source.name()})" for source in sources)
        count = ExpressionSource(f"len({{{ids}}})")
        output.guards.add(Guard(count, "NO_ALIAS", f"{{0}} == {len(sources)}", "no two alike"))
