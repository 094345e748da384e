"""A model as TensorBoard's page of graphs shows it: its operations, in boxes for the modules that they belong to.

The model runs once under torch.jit.trace. A node's name says where it is, as `Net/Linear[first]/linear`.

>>> import minitorch_compile as torch
>>> class Net(torch.nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.first = torch.nn.Linear(3, 2)
...     def forward(self, x):
...         return self.first(x).relu()
>>> for node in graph_nodes(Net(), torch.ones(1, 3))[0]:
...     print(node.name, node.op, node.inputs, node.sizes)
input/x IO Node () (1, 3)
Net/Linear[first]/weight Parameter () (2, 3)
Net/Linear[first]/bias Parameter () (2,)
Net/Linear[first]/linear aten::linear ('input/x', 'Net/Linear[first]/weight', 'Net/Linear[first]/bias') (1, 2)
Net/relu aten::relu ('Net/Linear[first]/linear',) (1, 2)
output/output.1 IO Node ('Net/relu',) (1, 2)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from minitorch_compile.jit import tracing
from minitorch_compile.jit.traced_module import Reference, Step, TracedProgram
from minitorch_compile.nn import Module

IO, PARAMETER = "IO Node", "Parameter"


@dataclass(frozen=True)
class GraphNode:
    """One box: its place and name, what it does, the names of what it takes, the sizes of what it gives."""

    name: str
    op: str
    inputs: tuple[str, ...] = ()
    sizes: tuple[int, ...] | None = None
    attributes: str = ""


def graph_nodes(model: Module, inputs: Any, strict: bool = True) -> tuple[list[GraphNode], TracedProgram]:
    """The boxes of a model that is called with a tensor or several, and the traced program. The model is in evaluation
    mode meanwhile."""
    was_training, scopes = model.training, _Scopes(model)
    model.eval()
    try:
        with scopes.watching():
            program = tracing.trace(model, inputs, check_trace=False, strict=strict).program
    finally:
        model.train(was_training)
    return list(_nodes(program, scopes)), program


class _Scopes:
    """Which module each step of a trace belongs to."""

    def __init__(self, model: Module) -> None:
        self.model = model
        self.modules = dict(model.named_modules())
        self.open = [self.label("")]
        self.of_step: list[str] = []
        self.recorder: Any = None

    def label(self, path: str) -> str:
        """`layers.0` as `Net/ModuleList[layers]/Linear[0]`."""
        parts = path.split(".") if path else []
        inner = [f"{type(self.modules['.'.join(parts[: n + 1])]).__name__}[{parts[n]}]" for n in range(len(parts))]
        return "/".join([type(self.model).__name__, *inner])

    def watching(self) -> Any:
        """Inside, modules say when they are entered and left."""
        return _hooked(
            [
                hook
                for path, module in self.modules.items()
                for hook in (self._before(path, module), self._after(module))
            ]
        )

    def _before(self, path: str, module: Module) -> Any:
        def enter(*_: Any) -> None:
            self.note()
            self.open.append(self.label(path))

        return module.register_forward_pre_hook(enter)

    def _after(self, module: Module) -> Any:
        def leave(*_: Any) -> None:
            self.note()
            self.open.pop()

        return module.register_forward_hook(leave)

    def note(self) -> None:
        """What was written down since the last time belongs to the innermost module."""
        self.recorder = tracing.here.recorder
        new = len(self.recorder.program.steps) - len(self.of_step)
        self.of_step += [self.open[-1]] * new


class _hooked:
    """Takes hooks away at the end of a `with` block."""

    def __init__(self, handles: list[Any]) -> None:
        self.handles = handles

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        for handle in self.handles:
            handle.remove()


def _nodes(program: TracedProgram, scopes: _Scopes) -> Iterator[GraphNode]:
    sizes, root = scopes.recorder.sizes, scopes.label("")
    full = {name: f"{root}/{name}" for name in (*program.constants, *program.scripts)}
    for name, _, leaves in program.inputs:
        for place in range(len(leaves)):
            leaf = program.leaf_name(name, place, len(leaves))
            full[leaf] = f"input/{leaf}"
            yield GraphNode(full[leaf], IO, (), sizes.get(leaf))
    for name, path in program.attributes.items():
        owner, _, last = path.rpartition(".")
        full[name] = f"{scopes.label(owner)}/{last}"
    for step, scope in zip(program.steps, scopes.of_step):
        full.setdefault(step.name, f"{scope}/{step.name or step.op}")
    taken = {reference.name for step in program.steps for reference in _references([step.args, step.kwargs])}
    for name in (*program.attributes, *program.constants):
        if name in taken:
            yield GraphNode(full[name], PARAMETER, (), sizes.get(name))
    for step in program.steps:
        yield _node(step, full, sizes)
    for number, reference in enumerate(_references(program.result), 1):
        yield GraphNode(f"output/output.{number}", IO, (full[reference.name],), sizes.get(reference.name))


def _node(step: Step, full: dict[str, str], sizes: dict[str, tuple[int, ...]]) -> GraphNode:
    inputs = tuple(full[reference.name] for reference in _references([step.args, step.kwargs]))
    kind = step.op if step.op.startswith("F.") else f"aten::{step.op}"
    return GraphNode(full[step.name], kind, inputs, sizes.get(step.name), str(step))


def _references(value: Any) -> Iterator[Reference]:
    """The values of the program that occur in arguments."""
    if type(value) is Reference:
        yield value
    elif isinstance(value, dict):
        yield from _references(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _references(item)


def graph(model: Module, inputs: Any, verbose: bool = False, strict: bool = True) -> tuple[Any, Any]:
    """The boxes as TensorBoard's GraphDef, and a RunMetadata that says that they ran on a CPU."""
    from tensorboard.compat.proto.attr_value_pb2 import AttrValue
    from tensorboard.compat.proto.config_pb2 import RunMetadata
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from tensorboard.compat.proto.node_def_pb2 import NodeDef
    from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, StepStats
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
    from tensorboard.compat.proto.versions_pb2 import VersionDef

    def attributes(node: GraphNode) -> dict[str, Any]:
        text = {"attr": AttrValue(s=node.attributes.replace("'", " ").encode())}
        if node.sizes is None:
            return text
        shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in node.sizes])
        return {**text, "_output_shapes": AttrValue(list=AttrValue.ListValue(shape=[shape]))}

    nodes, program = graph_nodes(model, inputs, strict)
    if verbose:
        print(program)
    made = [NodeDef(name=node.name, op=node.op, input=node.inputs, attr=attributes(node)) for node in nodes]
    stats = RunMetadata(step_stats=StepStats(dev_stats=[DeviceStepStats(device="/device:CPU:0")]))
    return GraphDef(node=made, versions=VersionDef(producer=22)), stats  # the version that TensorBoard expects
