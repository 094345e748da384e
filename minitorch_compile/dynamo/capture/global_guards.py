"""Guards on what every graph depends on, whatever its inputs: grad mode, inference mode, default dtype, transforms.

>>> guards_of_all = GuardSet()
>>> guard_global_state(guards_of_all, Namespace())
>>> [guard.kind for guard in guards_of_all]
['GRAD_MODE', 'INFERENCE_MODE', 'DEFAULT_DTYPE', 'DISPATCH_STATE']
"""

from __future__ import annotations

from minitorch_compile import config
from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.guards import Guard, GuardSet
from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.dynamo.guards.source import AttrSource, ConstantSource, ItemSource
from minitorch_compile.tensor import grad_mode
from minitorch_compile.tensor.dispatch import overrides
from minitorch_compile.tensor.dispatch.dispatch import contexts, stacks
from minitorch_compile.tensor.numerics.dtype import in_use as default_dtype


def guard_global_state(added: GuardSet, names: Namespace) -> None:
    """Grad mode, inference mode and default dtype decide what a graph computes; under a transform or mode, tensors
    are not what they seem."""
    state = ConstantSource(names.install(grad_mode.state, "grad_mode"))
    enabled, inference = AttrSource(state, "enabled"), AttrSource(state, "inference")
    number = ItemSource(ConstantSource(names.install(default_dtype, "default_dtype")), 0)
    names.install(default_dtype[0], default_dtype[0].name)  # guards on tensors name it, too
    added.add(
        guards.identity(enabled, grad_mode.state.enabled, names, "grad mode", "GRAD_MODE"),
        guards.identity(inference, grad_mode.state.inference, names, "inference mode", "INFERENCE_MODE"),
        guards.identity(number, default_dtype[0], names, "default dtype", "DEFAULT_DTYPE"),
    )
    levels = ConstantSource(names.install(stacks, "dispatch_stacks"))
    anywhere = names.install(contexts, "contexts")  # of all threads: empty as a rule, and quick to ask
    functions = names.install(overrides.state, "overrides_state")
    entered = f"{{0}}.modes or {{0}}.transforms or {functions}.modes"
    no_level = Guard(levels, "DISPATCH_STATE", f"not ({anywhere} and ({entered}))", "none", actual=entered)
    added.add(no_level)


def guard_random_stream(added: GuardSet, names: Namespace) -> None:
    """Only one of the streams can be drawn from by a graph."""
    stream = AttrSource(ConstantSource(names.install(config, "config")), "random_stream")
    check = f"{{0}} == {config.random_stream!r}"
    added.add(Guard(stream, "RANDOM_STREAM", check, f"random stream {config.random_stream}"))
