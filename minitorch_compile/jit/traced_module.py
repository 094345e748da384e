"""A traced program: a list of operations by name, and the module that runs it.

It holds no code, only names of operations of this package, numbers and tensors; so it can be kept in a file that
nobody need trust.

>>> from minitorch_compile.tensor import ops
>>> program = TracedProgram()
>>> program.add_input("x", None, [(2,)])
>>> step = program.add_step(ops.exp, [program.reference("x")], {})
>>> program.finish(program.reference(step))
>>> program
graph(x):
  exp = ops.exp(x)
  return exp
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from minitorch_compile.nn import Module
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.pytree import tree_flatten
from minitorch_compile.tensor.dispatch.op import Op, find
from minitorch_compile.tensor.tensor_base import TensorBase

PARTS = ("item", "setitem", "script")


class Reference(NamedTuple):
    """The value of that name."""

    name: str

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Step:
    """One operation: `op` is its name; "item" takes a part of a result, "setitem" assigns to a part of a tensor,
    "script" calls scripted code."""

    name: str
    op: str
    args: Any
    kwargs: Any

    @property
    def is_random(self) -> bool:
        """Whether it draws random numbers."""
        words = self.op.removeprefix("F.")
        if words in ("dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d"):
            training = self.kwargs.get("training", self.args[2] if len(self.args) > 2 else True)
            return bool(training)
        return words.startswith(("rand", "normal", "bernoulli", "multinomial", "uniform")) or (
            self.op not in PARTS and find(self.op).kind == "random"
        )

    def __str__(self) -> str:
        if self.op == "item":
            return f"{self.name} = {self.args[0]}[{self.args[1]}]"
        if self.op == "setitem":
            return f"{self.args[0]}[{self.args[1]}] = {self.args[2]}"
        if self.op == "script":
            return f"{self.name} = ({self.args[0]}).forward({', '.join(map(repr, self.args[1:]))})"
        arguments = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.kwargs.items())]
        return f"{self.name} = {self.op if '.' in self.op else 'ops.' + self.op}({', '.join(arguments)})"


@dataclass
class TracedProgram:
    """`inputs` are the names of arguments with the structure and the sizes of each; `attributes` the names of
    parameters and buffers; `constants` tensors that came from elsewhere, `scripts` scripted code that it calls.
    `fixed_sizes`: the sizes must be the same."""

    inputs: list[tuple[str, Any, list[Any]]] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    scripts: dict[str, Any] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    result: Any = None
    fixed_sizes: bool = False
    used: dict[str, int] = field(default_factory=dict)

    def _new(self, hint: str) -> str:
        hint = hint.rpartition(".")[2].replace(".", "_")
        count = self.used[hint] = self.used.get(hint, -1) + 1
        return f"{hint}_{count}" if count else hint

    def reference(self, name: str) -> Reference:
        return Reference(name)

    def add_input(self, name: str, structure: Any, leaves: list[Any]) -> None:
        self.used[name] = 0
        self.inputs.append((name, structure, leaves))

    @staticmethod
    def leaf_name(name: str, place: int, count: int) -> str:
        """What a tensor within an argument is called."""
        return name if count == 1 else f"{name}_{place}"

    def add_attribute(self, path: str) -> str:
        name = "self." + path
        self.attributes[name] = path
        return name

    def add_constant(self, tensor: Any) -> str:
        name = self._new("constant")
        self.constants[name] = tensor.detach().clone()
        return name

    def add_step(self, op: Op, args: Any, kwargs: Any) -> str:
        step = Step(self._new(op.name), op.name, args, kwargs)
        self.steps.append(step)
        return step.name

    def add_item(self, name: str, place: int) -> str:
        step = Step(self._new("item"), "item", [Reference(name), place], {})
        self.steps.append(step)
        return step.name

    def add_script(self, callee: Any, args: Any) -> str:
        name = next((name for name, known in self.scripts.items() if known is callee), None)
        if name is None:
            name = self._new(callee.name)
            self.scripts[name] = callee
        step = Step(self._new("result"), "script", [Reference(name), *args], {})
        self.steps.append(step)
        return step.name

    def add_assignment(self, tensor: Any, index: Any, value: Any) -> None:
        self.steps.append(Step("", "setitem", [tensor, index, value], {}))

    def finish(self, result: Any) -> None:
        self.result = result

    def __repr__(self) -> str:
        lines = [f"graph({', '.join(name for name, _, _ in self.inputs)}):", *(f"  {step}" for step in self.steps)]
        return "\n".join([*lines, f"  return {self.result!r}"])

    __str__ = __repr__

    def run(self, arguments: Sequence[Any], attributes: dict[str, Any]) -> Any:
        """The result for these arguments. TypeError or RuntimeError for others than it was traced with."""
        if len(arguments) != len(self.inputs):
            raise TypeError(f"forward() takes {len(self.inputs)} arguments but {len(arguments)} were given")
        values: dict[str, Any] = {**self.constants, **attributes, **self.scripts}
        for (name, structure, leaves), argument in zip(self.inputs, arguments):
            self._take(values, name, structure, leaves, argument)
        for step in self.steps:
            args, kwargs = _filled(step.args, values), _filled(step.kwargs, values)
            if step.op == "setitem":
                args[0][args[1]] = args[2]
            elif step.op == "item":
                values[step.name] = args[0][args[1]]
            else:
                values[step.name] = args[0](*args[1:]) if step.op == "script" else find(step.op)(*args, **kwargs)
        return _filled(self.result, values)

    def _take(self, values: dict[str, Any], name: str, structure: Any, leaves: list[Any], argument: Any) -> None:
        """Enters an argument's tensors among the values."""
        given, shape = tree_flatten(argument)
        if len(given) != len(leaves) or (structure is not None and shape != structure):
            raise RuntimeError(f"forward(): argument '{name}' has another structure than the one it was traced with")
        for place, (value, traced) in enumerate(zip(given, leaves)):
            if not isinstance(value, TensorBase):
                if value != traced:
                    raise RuntimeError(
                        f"forward(): argument '{name}' is {value!r}, but was {traced!r} when the program was traced;"
                        " trace it again with this value"
                    )
                continue
            if len(value.sizes) != len(traced):
                raise RuntimeError(
                    f"forward(): argument '{name}' has {len(value.sizes)} dimensions, but was traced with {len(traced)}"
                )
            if self.fixed_sizes and tuple(value.sizes) != tuple(traced):
                raise RuntimeError(
                    f"forward(): argument '{name}' has sizes {list(value.sizes)}, but the program was traced with sizes"
                    f" {list(traced)}, has read them, and may have decided something by them; trace it again with"
                    " these sizes, or use torch.compile"
                )
            values[self.leaf_name(name, place, len(given))] = value


def _filled(value: Any, values: dict[str, Any]) -> Any:
    """The value with tensors in the places of references."""
    if type(value) is Reference:
        return values[value.name]
    if isinstance(value, dict):
        return {name: _filled(item, values) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_filled(item, values) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


class ScriptModule(Module):
    """What `script` and `trace` make of a module. A class may also be one from the start; then its methods run as
    Python."""

    def __init__(self) -> None:
        super().__init__()


class TopLevelTracedModule(ScriptModule):
    """Runs a traced program. Parameters and buffers are those of the module that was traced, under the same names."""

    def __init__(self, program: TracedProgram, traced: Any = None) -> None:
        super().__init__()
        self.program = program
        self.original_name = type(traced).__name__ if isinstance(traced, Module) else getattr(traced, "__name__", "")
        if isinstance(traced, Module):
            self.training = traced.training
            for name, child in traced.named_children():
                self.add_module(name, child)
            for name, parameter in traced.named_parameters(recurse=False):
                self.register_parameter(name, parameter)
            for name, buffer in traced.named_buffers(recurse=False):
                self.register_buffer(name, buffer)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        names = [name for name, _, _ in self.program.inputs]
        given = [*args, *(kwargs[name] for name in names[len(args) :] if name in kwargs)]
        known = dict([*self.named_parameters(), *self.named_buffers()])
        return self.program.run(given, {name: known[path] for name, path in self.program.attributes.items()})

    @property
    def graph(self) -> TracedProgram:
        """The operations, in their order."""
        return self.program

    @property
    def code(self) -> str:
        """The same as Python would say it; it is to be read, not run."""
        names = ", ".join(["self", *(name for name, _, _ in self.program.inputs)])
        lines = [*map(str, self.program.steps), f"return {self.program.result!r}"]
        return f"def forward({names}):\n" + "\n".join(f"    {line}" for line in lines) + "\n"

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"


def module_of(program: TracedProgram, state: dict[str, Any], trained: Sequence[str]) -> TopLevelTracedModule:
    """A module that has these tensors under these dotted names; `trained` are the names of parameters."""
    made = TopLevelTracedModule(program)
    for path, tensor in state.items():
        owner: Module = made
        *folders, name = path.split(".")
        for folder in folders:
            if folder not in dict(owner.named_children()):
                owner.add_module(folder, Module())
            owner = dict(owner.named_children())[folder]
        if path in trained:
            owner.register_parameter(name, Parameter(tensor))
        else:
            owner.register_buffer(name, tensor)
    return made
