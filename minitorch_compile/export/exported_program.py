"""ExportedProgram: a graph that stands alone, with the tensors it needs and what it may be called with.

>>> import minitorch_compile as torch
>>> program = torch.export.export(torch.nn.Linear(3, 1), (torch.ones(2, 3),))
>>> program.module()(torch.ones(2, 3)).shape, list(program.state_dict)
(torch.Size([2, 1]), ['weight', 'bias'])
>>> print(program.run_decompositions().graph.compact())
p_weight, p_bias, input_1 -> (addmm(p_bias, input_1, t(p_weight)),)
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from minitorch_compile import pytree
from minitorch_compile.export.functional_graph import functional_graph
from minitorch_compile.export.graph_signature import ExportGraphSignature, InputKind, OutputKind
from minitorch_compile.export.input_checks import InputChecks
from minitorch_compile.fx import Graph, GraphModule, Node
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.pytree_code import _PyTreeCodeGen, _PyTreeInfo
from minitorch_compile.nn import Module
from minitorch_compile.symbolic import Range, Symbol
from minitorch_compile.tensor import Tensor, no_grad


class CallSpec(NamedTuple):
    """How the arguments (args, kwargs) and the result are nested."""

    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec


class ExportedProgram:
    """What `torch.export.export` gives. Its graph takes parameters, buffers and constants before the caller's tensors,
    as `graph_signature` says; `module()` is what can be called.
    """

    def __init__(
        self,
        graph: Graph,
        graph_signature: ExportGraphSignature,
        state_dict: dict[str, Tensor],
        constants: dict[str, Tensor],
        checks: InputChecks,
        out_spec: pytree.TreeSpec,
        example_inputs: tuple[tuple[Any, ...], dict[str, Any]] | None,
    ) -> None:
        self.graph_module: GraphModule = LazyGraphModule.captured(graph, "GraphModule")
        self.graph_signature = graph_signature
        self.state_dict = state_dict
        self.constants = constants
        self.checks = checks
        self.call_spec = CallSpec(checks.in_spec, out_spec)
        self.example_inputs = example_inputs

    @property
    def graph(self) -> Graph:
        """The graph of `graph_module`."""
        return self.graph_module.graph

    @property
    def range_constraints(self) -> Mapping[Symbol, Range]:
        """For each size that is not known, which it may be."""
        return self.checks.ranges

    @property
    def dialect(self) -> str:
        """ "TRAINING" while the graph writes to tensors as the program does, "ATEN" after run_decompositions()."""
        return "ATEN" if self._is_functional else "TRAINING"

    _is_functional = False

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """The parameters by name."""
        return ((name, self.state_dict[name]) for name in self.graph_signature.parameters)

    def parameters(self) -> Iterator[Tensor]:
        """The parameters."""
        return (tensor for _, tensor in self.named_parameters())

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """The buffers by name, those that are not in the state dict too."""
        return ((name, self._tensor(name)) for name in self.graph_signature.buffers)

    def buffers(self) -> Iterator[Tensor]:
        """The buffers."""
        return (tensor for _, tensor in self.named_buffers())

    @property
    def tensor_constants(self) -> dict[str, Tensor]:
        """PyTorch's other name of `constants`."""
        return self.constants

    def _tensor(self, name: str) -> Tensor:
        return self.state_dict[name] if name in self.state_dict else self.constants[name]

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            "Unable to call ExportedProgram directly. You should use `exported_program.module()` instead."
        )

    def __str__(self) -> str:
        body = self.graph_module.print_readable(print_output=False).rstrip()
        shown = "{" + ", ".join(f"{s}: VR{r}" for s, r in self.range_constraints.items()) + "}"
        indented = "\n".join(f"    {line}" if line else "" for line in body.splitlines())
        return f"ExportedProgram:\n{indented}\n\nGraph signature: {self.graph_signature}\nRange constraints: {shown}\n"

    # --- what can be called -------------------------------------------------------------------------------------------

    def module(self, check_guards: bool = True) -> Module:
        """A module with these parameters and buffers, called as the one that was exported. AssertionError for tensors
        of other sizes than it is for, unless `check_guards` is False; ValueError for other arguments."""
        graph, known, attributes = Graph(), dict[Node, Any](), dict[str, Any]()
        inputs = []
        for node, spec in zip(self.graph.find_nodes(op="placeholder"), self.graph_signature.input_specs, strict=True):
            if spec.kind is InputKind.USER_INPUT:
                known[node] = graph.placeholder(node.name)
                inputs.append(node.name)
            else:
                attributes[str(spec.target)] = self._tensor(str(spec.target))
                known[node] = graph.get_attr(str(spec.target))
            known[node].meta = dict(node.meta)
        attributes.update(self.graph_module.attributes)
        returned = graph.graph_copy(self.graph, known)
        mutated = [spec.target for spec in self.graph_signature.output_specs if spec.kind is not OutputKind.USER_OUTPUT]
        for target, value in zip(mutated, returned):
            graph.call_function(_write_back, (_target_node(graph, str(target)), value))
        graph.output(list(returned[len(mutated) :]))
        graph.set_codegen(_PyTreeCodeGen(_PyTreeInfo(inputs, _flat(len(inputs)), self.call_spec.out_spec)))
        made = GraphModule(attributes, graph)
        made.register_forward_pre_hook(_Flattening(self.checks, check_guards), with_kwargs=True)
        for name in ("train", "eval"):
            setattr(made, name, types.MethodType(_refusing(name), made))
        return made

    def run_decompositions(
        self, decomp_table: Mapping[Any, Callable[..., Any]] | None = None, decompose_custom_triton_ops: bool = False
    ) -> ExportedProgram:
        """The same as a graph of ops that changes nothing: new values of buffers and arguments are results, before the
        others. `decomp_table` says for ops which function to trace in their place.

        NotImplementedError for a graph in which data decide sizes or branches.
        """
        graph, signature, made_of_numbers = functional_graph(
            self.graph_module, self.graph_signature, decomp_table or {}
        )
        constants = {**self.constants, **made_of_numbers}
        made = ExportedProgram(graph, signature, self.state_dict, constants, self.checks, self.call_spec.out_spec,
                               self.example_inputs)  # fmt: skip
        made._is_functional = True
        return made


def _flat(count: int) -> pytree.TreeSpec:
    return pytree.tree_flatten(tuple([0] * count))[1]


def _target_node(graph: Graph, target: str) -> Node:
    return next(node for node in graph.nodes if node.op in ("get_attr", "placeholder") and node.target == target)


def _write_back(tensor: Tensor, value: Tensor) -> None:
    """A buffer or an argument gets its new value."""
    with no_grad():
        tensor.copy_(value)


class _Flattening:
    """Checks the arguments, and gives the graph their leaves."""

    def __init__(self, checks: InputChecks, check_guards: bool) -> None:
        self.flattened = checks.flattened
        self.check = checks.check if check_guards else None  # written here, where nobody traces

    def __call__(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        leaves = self.flattened(args, kwargs)
        if self.check is not None:
            self.check(*leaves)
        return tuple(leaves), {}


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(self: Any, mode: bool = True) -> NoReturn:
        raise NotImplementedError(f"Calling {name}() is not supported yet.")

    return refuse
