"""What the arguments and results of an exported graph stand for: ExportGraphSignature.

>>> spec = InputSpec(InputKind.PARAMETER, TensorArgument("p_weight"), "weight")
>>> signature = ExportGraphSignature([spec], [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument("add"), None)])
>>> signature.parameters, signature.inputs_to_parameters, signature.user_outputs
(('weight',), {'p_weight': 'weight'}, ('add',))
>>> print(signature)
<BLANKLINE>
# inputs
p_weight: PARAMETER target='weight'
<BLANKLINE>
# outputs
add: USER_OUTPUT
<BLANKLINE>

Source: torch/export/graph_signature.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any


@dataclass
class TensorArgument:
    """The node of this name gives a tensor."""

    name: str


@dataclass
class SymIntArgument:
    """The node of this name gives a size."""

    name: str


@dataclass
class ConstantArgument:
    """A value that is no tensor, and the same at each call."""

    name: str
    value: Any


Argument = TensorArgument | SymIntArgument | ConstantArgument


class InputKind(Enum):
    """What a placeholder stands for."""

    USER_INPUT = auto()
    PARAMETER = auto()
    BUFFER = auto()
    CONSTANT_TENSOR = auto()


class OutputKind(Enum):
    """What becomes of a result."""

    USER_OUTPUT = auto()
    BUFFER_MUTATION = auto()
    PARAMETER_MUTATION = auto()
    USER_INPUT_MUTATION = auto()


@dataclass
class InputSpec:
    """A placeholder; `target` is the name of the parameter, buffer or constant."""

    kind: InputKind
    arg: Argument
    target: str | None
    persistent: bool | None = None

    def __str__(self) -> str:
        target = f" target='{self.target}'" if self.target is not None else ""
        kept = f" persistent={self.persistent}" if self.persistent is not None else ""
        return f"{self.arg.name}: {self.kind.name}{target}{kept}"


@dataclass
class OutputSpec:
    """A result; `target` is the name of what it is the new value of."""

    kind: OutputKind
    arg: Argument
    target: str | None

    def __str__(self) -> str:
        target = f" target='{self.target}'" if self.target is not None else ""
        return f"{self.arg.name}: {self.kind.name}{target}"


@dataclass
class ExportGraphSignature:
    """The specs in the order of the placeholders and of the results."""

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _targets(self, kind: InputKind) -> tuple[str, ...]:
        return tuple(str(spec.target) for spec in self.input_specs if spec.kind is kind)

    def _inputs_to(self, kind: InputKind) -> dict[str, str]:
        return {spec.arg.name: str(spec.target) for spec in self.input_specs if spec.kind is kind}

    def _mutated(self, kind: OutputKind) -> dict[str, str]:
        return {spec.arg.name: str(spec.target) for spec in self.output_specs if spec.kind is kind}

    @property
    def parameters(self) -> Sequence[str]:
        """Their names in the module."""
        return self._targets(InputKind.PARAMETER)

    @property
    def buffers(self) -> Sequence[str]:
        """Likewise."""
        return self._targets(InputKind.BUFFER)

    @property
    def non_persistent_buffers(self) -> Sequence[str]:
        """Those that are not in the state dict."""
        return tuple(str(s.target) for s in self.input_specs if s.kind is InputKind.BUFFER and s.persistent is False)

    @property
    def lifted_tensor_constants(self) -> Sequence[str]:
        """Tensors that the program read from elsewhere."""
        return self._targets(InputKind.CONSTANT_TENSOR)

    @property
    def user_inputs(self) -> Sequence[Any]:
        """The placeholders of the caller's arguments; of one that is no tensor, its value."""
        kinds = [spec.arg for spec in self.input_specs if spec.kind is InputKind.USER_INPUT]
        return tuple(arg.value if isinstance(arg, ConstantArgument) else arg.name for arg in kinds)

    @property
    def user_outputs(self) -> Sequence[Any]:
        """The nodes of what the program returns; of what is no tensor, its value."""
        kinds = [spec.arg for spec in self.output_specs if spec.kind is OutputKind.USER_OUTPUT]
        return tuple(arg.value if isinstance(arg, ConstantArgument) else arg.name for arg in kinds)

    @property
    def inputs_to_parameters(self) -> dict[str, str]:
        """By the names of placeholders."""
        return self._inputs_to(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> dict[str, str]:
        """Likewise."""
        return self._inputs_to(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> dict[str, str]:
        """Likewise."""
        return self._inputs_to(InputKind.CONSTANT_TENSOR)

    @property
    def buffers_to_mutate(self) -> dict[str, str]:
        """By the names of results, the buffers whose new values they are."""
        return self._mutated(OutputKind.BUFFER_MUTATION)

    @property
    def user_inputs_to_mutate(self) -> dict[str, str]:
        """Likewise."""
        return self._mutated(OutputKind.USER_INPUT_MUTATION)

    def __str__(self) -> str:
        inputs, outputs = "\n".join(map(str, self.input_specs)), "\n".join(map(str, self.output_specs))
        return f"\n# inputs\n{inputs}\n\n# outputs\n{outputs}\n"
