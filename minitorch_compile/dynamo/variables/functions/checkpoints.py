"""checkpoint(f, x): f is traced into the graph, and its nodes carry the number of the call.

The partitioner computes the nodes of such a *region* again in the backward pass, and saves only what enters it.

>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.dynamo.testing import CompileCounter
>>> from minitorch_compile.tensor import ones
>>> from minitorch_compile.utils.checkpoint import checkpoint
>>> def f(x):
...     return checkpoint(lambda x: x.sin().exp(), x * 2, use_reentrant=False) + 1
>>> counter = CompileCounter()
>>> _ = optimize(f, counter)(ones(2))
>>> [(node.name, node.meta.get("checkpoint_region")) for node in counter.graphs[0].graph.nodes]
[('x', None), ('mul', None), ('sin', 2), ('exp', 2), ('add', None), ('output', None)]

Run as plain Python, f is called twice, and all that it does but computing is done twice. A graph could do it only once;
so the region of a function that changes anything (a list, an attribute, running statistics) is not captured.

Source: `WrapActivationCheckpoint`, the operation that PyTorch captures for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.containers.sequences import TupleVariable
from minitorch_compile.dynamo.variables.functions.marked_functions import DisabledFunctionVariable
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer
    from minitorch_compile.fx import Node

# The settings that say nothing about a graph, and the value for which the eager function behaves as one.
SETTINGS: dict[str, Any] = {"preserve_rng_state": True, "determinism_check": "default"}
IGNORED = ("debug", "early_stop")


class CheckpointVariable(DisabledFunctionVariable):
    """The function `checkpoint`. Calls that can't be captured run as plain Python."""

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        settings = {name: kwargs[name] for name in (*SETTINGS, *IGNORED, "use_reentrant") if name in kwargs}
        reentrant = self._is_reentrant(args, kwargs, settings)
        function, *given = args
        region = _CheckpointRegion(tracer.output)
        result = tracer.call(function, given, {n: value for n, value in kwargs.items() if n not in settings})
        region.close(self)
        if reentrant:
            self._check_results(result, given)
        return result

    def _is_reentrant(self, args: list[Value], kwargs: dict[str, Value], settings: dict[str, Value]) -> bool:
        """Whether it is that form; a graph break if it warns, raises or does something that a graph doesn't."""
        constants = {name: value.realize() for name, value in settings.items()}
        if "use_reentrant" not in settings:
            self.refuse("called without use_reentrant, which warns; pass use_reentrant=False")
        if not args or "context_fn" in kwargs or not all(value.is_constant() for value in constants.values()):
            self.refuse("called with arguments that only the function itself can look at")
        for name, expected in SETTINGS.items():
            if name in constants and constants[name].as_constant() != expected:
                self.refuse(f"called with {name}={constants[name].as_constant()!r}")
        reentrant = constants["use_reentrant"].as_constant()
        if reentrant is True and (len(kwargs) > len(settings) or not any(map(_requires_grad, args))):
            self.refuse("called with use_reentrant=True and no argument that requires grad, or with named ones")
        if not isinstance(reentrant, bool):
            self.refuse(f"called with use_reentrant={reentrant!r}")
        return reentrant

    def _check_results(self, result: Value, given: list[Value]) -> None:
        """Of the reentrant form every result requires grad, and none is an argument: what f returns is detached."""
        tracked = result.realize()
        results = [item.realize() for item in tracked.items] if isinstance(tracked, TupleVariable) else [tracked]
        arguments = [value.realize() for value in given]
        if not all(_requires_grad(item) and item not in arguments for item in results):
            self.refuse("called with use_reentrant=True for a function whose results don't all require grad")

    def refuse(self, why: str) -> None:
        """Breaks the graph."""
        raise Unsupported("disabled-function", f"{self.describe()} is {why}: it runs as plain Python.")


def _requires_grad(value: Value) -> bool:
    tracked = value.realize()
    return isinstance(tracked, TensorVariable) and bool(tracked.fake.requires_grad)


class _CheckpointRegion:
    """The nodes that are made until `close`."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.before = set(output.graph.nodes)
        self.effects = len(output.side_effects.effects)
        self.expectations = len(output.expectations)
        self.written = set(output.fakes.written)
        self.versions = {storage: storage.version for node in self.before for storage in _storages(node)}

    def close(self, checkpoint: CheckpointVariable) -> None:
        """Marks them, if they only compute. The number of an outer region takes the place of an inner one's."""
        inside = [node for node in self.output.graph.nodes if node not in self.before]
        read = {storage for node in inside if node.op == "placeholder" for storage in _storages(node)}
        if (
            len(self.output.side_effects.effects) > self.effects
            or len(self.output.expectations) > self.expectations
            or any(storage.version != version for storage, version in self.versions.items())
            or (self.output.fakes.written - self.written) & read
        ):
            checkpoint.refuse("called with a function that changes something")
        for node in inside:
            if node.op != "placeholder":
                node.meta["checkpoint_region"] = len(self.before)


def _storages(node: Node) -> list[Storage]:
    value = node.meta.get("val")
    return [x.storage for x in (value if isinstance(value, (tuple, list)) else [value]) if isinstance(x, TensorBase)]
