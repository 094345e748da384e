"""Guards on what graphs depend on, whatever their inputs: grad mode, inference mode, default dtype, transforms; where
tensors are made, the default device.

>>> guards_of_all = GuardSet()
>>> guard_global_state(guards_of_all, Namespace())
>>> [guard.kind for guard in guards_of_all]
['GRAD_MODE', 'INFERENCE_MODE', 'DEFAULT_DTYPE', 'DISPATCH_STATE']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch_compile import config
from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.guards import Guard, GuardSet
from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.dynamo.guards.source import AttrSource, ConstantSource, ItemSource
from minitorch_compile.tensor import grad_mode, ops
from minitorch_compile.tensor.dispatch import overrides
from minitorch_compile.tensor.dispatch.dispatch import contexts, stacks
from minitorch_compile.tensor.memory import device
from minitorch_compile.tensor.numerics.dtype import in_use as default_dtype
from minitorch_compile.tensor.ops import construct

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph

# What makes a tensor on the default device, by its id: not all that is called can be hashed. Source:
# torch/utils/_device.py.
FOLLOW_DEFAULT_DEVICE = frozenset(
    id(getattr(ops, name, None) or getattr(construct, name))
    for name in ("arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_permuted")
    + ("empty_strided", "eye", "fft_fftfreq", "fft_rfftfreq", "full", "hamming_window", "hann_window", "kaiser_window")
    + ("linspace", "logspace", "ones", "rand", "randint", "randn", "randperm", "range", "scalar_tensor", "tensor")
    + ("tril_indices", "triu_indices", "zeros")
)
DEVICE_OF_AS_TENSOR = 2  # its position


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
    if device.entered.devices:
        guard_default_device(added, names)


def guard_default_device(added: GuardSet, names: Namespace) -> None:
    """Where tensors are made that say nothing else."""
    entered = ConstantSource(names.install(device.entered, "entered_devices"))
    if not device.entered.devices:
        added.add(Guard(entered, "DEFAULT_DEVICE", "not {0}.devices", "none", actual="{0}.devices"))
        return
    now = device.entered.devices[-1]
    check = f"{{0}}.devices[-1:] == [{names.install(now, 'default_device')}]"
    added.add(Guard(entered, "DEFAULT_DEVICE", check, str(now), actual="{0}.devices"))


def with_default_device(
    output: OutputGraph, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The keywords of a call; where it follows the default device, the node says which one that was, since the graph
    may run where it is another. Of a `with torch.device(...)` in the program itself nothing else is left."""
    if id(target) not in FOLLOW_DEFAULT_DEVICE or kwargs.get("device") is not None or "out" in kwargs:
        return kwargs
    if target is construct.as_tensor and len(args) > DEVICE_OF_AS_TENSOR:
        return kwargs
    if device.entered.devices:  # guarded from the start, or entered by the program
        return {**kwargs, "device": device.entered.devices[-1]}
    guard_default_device(output.guards, output.names)
    return kwargs


def guard_random_stream(added: GuardSet, names: Namespace) -> None:
    """Only one of the streams can be drawn from by a graph."""
    stream = AttrSource(ConstantSource(names.install(config, "config")), "random_stream")
    check = f"{{0}} == {config.random_stream!r}"
    added.add(Guard(stream, "RANDOM_STREAM", check, f"random stream {config.random_stream}"))
