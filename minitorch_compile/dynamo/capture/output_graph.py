"""What tracing a frame builds up: the graph, the guards, the side effects, the names.

Every user-level call on tensors becomes one node. The call is also made on fake tensors, which tells what the result
looks like; `node.meta["val"]` keeps that, `meta["stack"]` the user's line, `meta["module"]` its module. Values from
outside are told in `outside_values.py`.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def f(x, w):
...     y = x @ w
...     return y.relu(), y.sum()
>>> print(captured(f, ones(2, 3), ones(3)))
x, w -> matmul = x @ w; (matmul.relu(), matmul.sum())
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from minitorch_compile.control import is_graph_step
from minitorch_compile.dynamo.capture.data_numbers import DataNumbers
from minitorch_compile.dynamo.capture.expectations import Expectation
from minitorch_compile.dynamo.capture.failed_calls import raise_failure
from minitorch_compile.dynamo.capture.finished_graph import SizeInput
from minitorch_compile.dynamo.capture.global_guards import guard_global_state, guard_random_stream, with_default_device
from minitorch_compile.dynamo.capture.grad_switches import GradSwitches
from minitorch_compile.dynamo.capture.outside_values import OutsideValues
from minitorch_compile.dynamo.capture.places_in_memory import MAY_ASK_FOR_PLACE, check_window, places_asked
from minitorch_compile.dynamo.capture.tensor_questions import TensorQuestions
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.fakes.fake_mode import FakeMode
from minitorch_compile.dynamo.fakes.freed_history import BackwardCall
from minitorch_compile.dynamo.fakes.symbolic_sizes import Layout, SizePolicy, SymbolicSizes
from minitorch_compile.dynamo.guards.class_guards import Lookups
from minitorch_compile.dynamo.guards.guards import GuardSet
from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import ObservedException, Value, VariableTracker
from minitorch_compile.dynamo.variables.builder import from_python
from minitorch_compile.dynamo.variables.side_effects import SideEffects
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.dynamo.variables.tensors.torch_function import answered
from minitorch_compile.fx import Graph, Node
from minitorch_compile.fx.arguments import map_aggregate, map_arg
from minitorch_compile.fx.size_nodes import SizeNodes
from minitorch_compile.own_builtins import SCOPE
from minitorch_compile.source_place import source_place
from minitorch_compile.symbolic import Relation, Symbol, SymInt
from minitorch_compile.tensor import Op, fake_like, grad_mode
from minitorch_compile.tensor.dispatch.overrides import watching
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.modes.symbolic_layout import specializing
from minitorch_compile.tensor.ops import clone
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.user_warnings import collected

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.symbolic import SymbolicInterpreter
    from minitorch_compile.dynamo.variables.containers.generators import GeneratorVariable


OWN_NAMES = ("MISS", "READ_ERRORS", "function", "plain", "compiled", "error", "unneeded")  # of every generated function


class OutputGraph(DataNumbers, OutsideValues, TensorQuestions, GradSwitches):
    """Everything that is collected while one frame, with all that is inlined into it, is traced."""

    def __init__(
        self,
        module_globals: dict[str, Any],
        argument_names: tuple[str, ...],
        policy: SizePolicy | None = None,
        builtins: Mapping[str, Any] = SCOPE,
        whole: bool = False,
    ) -> None:
        super().__init__()
        self.whole = whole
        self.builtins = builtins  # as the program has them
        self.graph = Graph()
        self.sizes = SymbolicSizes(policy or SizePolicy(), self._line_being_traced)
        self.size_nodes = SizeNodes(self.graph, self._size_placeholder, self._size_meta)
        self.size_inputs: list[SizeInput] = []
        self.places: dict[Symbol, tuple[Node, int]] = {}
        self.checked: dict[Relation, Node] = {}
        self.names = Namespace({*argument_names, *OWN_NAMES})
        self.guards = GuardSet()
        self.lookups = Lookups()  # on classes
        self.side_effects = SideEffects(lambda: self.frames[0].source_line())
        self.fakes = FakeMode(lambda: guard_random_stream(self.guards, self.names), self.new_data_size)
        self.frames: list[SymbolicInterpreter] = []
        self.inputs: list[TensorVariable] = []
        self.generators: list[GeneratorVariable] = []  # that the program made
        self.grad_mode_before = grad_mode.state.enabled
        self._fake_storages: dict[int, Storage] = {}
        self.tensors_by_fake: dict[int, TensorVariable] = {}
        self._last_input: Node | None = None
        self.expectations: list[Expectation] = []
        self.has_steps = False  # whether function transforms are in the graph
        self.step = 0  # how many instructions of the outermost frame were traced
        self.backward_call: BackwardCall | None = None  # the first backward() in the graph
        self.dropped_gradients: list[TensorVariable] = []  # tensors from outside that lose theirs before anything fails
        self.is_handling_outside = sys.exception() is not None  # called in an `except` block
        self.made_classes: dict[type, VariableTracker] = {}
        self.unneeded: list[Node] = []  # outputs of the graph only so that their errors are raised
        self.globals_names = {id(module_globals): self.names.install(module_globals, "G")}
        guard_global_state(self.guards, self.names)

    @property
    def tracer(self) -> SymbolicInterpreter:
        """The innermost frame being traced."""
        return self.frames[-1]

    def forget(self) -> None:
        """Lets go of all values of the program."""
        super().forget()
        self.tensors_by_fake.clear()
        for listed in (self.inputs, self.generators, self.dropped_gradients):
            listed.clear()
        self.side_effects.forget()

    def from_python(self, value: Any) -> Value:
        """A value that was computed while tracing."""
        return from_python(self, value)

    # --- tensors ------------------------------------------------------------------------------------------------------

    def graph_input(self, value: TensorBase, source: Source, layout: Layout | None = None) -> TensorVariable:
        """A tensor from outside becomes a placeholder, in the order in which tensors are met."""
        fake = self._fake_of(value)
        if layout is not None:
            layout.apply_to(fake)
        # Sharing is seen by the trace.
        fake.storage = self._fake_storages.setdefault(id(value.storage.memory), fake.storage)
        node = self._placeholder(_placeholder_name(source))
        node.meta.update(val=fake, source=source)
        variable = TensorVariable(node, fake, type(value), source, value)
        variable.layout = layout
        self.inputs.append(variable)
        self.tensors_by_fake[id(fake)] = variable
        return variable

    def _fake_of(self, value: TensorBase) -> TensorBase:
        """A fake that is a leaf of autograd's graph only if the tensor is: writing in place to a leaf is an error."""
        fake = fake_like(value)
        if value.is_leaf or not value.requires_grad:
            return fake
        before, grad_mode.state.enabled = grad_mode.state.enabled, True
        try:
            with self.fakes.active():
                recorded = clone(fake)
        finally:
            grad_mode.state.enabled = before
        recorded.strides, recorded.offset = fake.strides, fake.offset
        return recorded

    def _placeholder(self, name: str) -> Node:
        after = self._last_input
        with self.graph.inserting_before() if after is None else self.graph.inserting_after(after):
            self._last_input = made = self.graph.placeholder(name)
        made.target = made.name  # of `a - 1` and `a + 1`, which wish for one name: it is that of the parameter
        return made

    # --- sizes that are not known -------------------------------------------------------------------------------------

    def _line_being_traced(self) -> str:
        if not self.frames:
            return ""
        filename, lineno, text = self.tracer.user_line()
        return f"{source_place(filename, lineno)}  {text}"

    def size_argument(self, number: SymInt) -> Any:
        """A size as an argument of a node: a node, or the number if it is known by now."""
        return self.size_nodes.argument(number)

    def _size_placeholder(self, symbol: Symbol) -> Node:
        if symbol in self.sizes.env.unbacked:
            return self.data_size_node(symbol)
        node = self._placeholder(symbol.name)
        source = self.sizes.sources[symbol]
        node.meta["source"] = source
        self.size_inputs.append(SizeInput(node, source, symbol))
        return node

    def _size_meta(self) -> dict[str, Any]:
        return {"stack": self.tracer.user_line()} if self.frames else {}

    # --- calls --------------------------------------------------------------------------------------------------------

    def call(self, kind: str, target: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """One node: call_function of `target`, or call_method of that name on the first argument."""
        if (watching or self.overrides) and (answer := answered(self, kind, target, args, kwargs)) is not None:
            return answer
        graph_args = tuple(map(self.tracer.graph_argument, args))
        named = {name: self.tracer.graph_argument(arg) for name, arg in kwargs.items()}
        graph_kwargs = with_default_device(self, target, graph_args, named)
        fake_args, fake_kwargs = map_arg((graph_args, graph_kwargs), lambda node: node.meta["val"])
        name = target if isinstance(target, str) else getattr(target, "__name__", repr(target))
        places = places_asked(self, name, args, fake_args, fake_kwargs) if name in MAY_ASK_FOR_PLACE else []
        written_before = len(self.fakes.written)
        self.fakes.may_raise = self.fakes.needs_data = False
        result = self._run_fake(name, _method(target) if kind == "call_method" else target, fake_args, fake_kwargs)
        if places:
            check_window(result, places)
        if is_plain(result) and result is not None and len(self.fakes.written) == written_before:
            return self.from_python(result)  # a question about shapes, answered now
        if self.sizes.env.unbacked:
            self.write_checks()
        node = self.graph.create_node(kind, target, graph_args, graph_kwargs)
        if self.fakes.needs_data:
            node.meta["runs_plainly"] = True
        self.has_steps = self.has_steps or is_graph_step(target)
        if self.fakes.may_raise or not _is_operation(target):
            node.meta.update(may_raise=True, handled=self.is_handled())
            self.fakes.written_first = frozenset(self.fakes.written)
        tracked = self._result(node, result)
        if self.sizes.env.unbacked:
            self.write_checks()
        return tracked

    def _run_fake(self, name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            with self.fakes.active(), collected() as warned:
                result = specializing(function, args, kwargs, passing=(Unsupported, ObservedException))
        except Exception as error:  # noqa: BLE001  whatever it is, the program would get it too
            raise_failure(self, name, error, (args, kwargs))
        if warned:
            raise self.tracer.at_users_line(Unsupported("input-output", f"{name} warns at each call: {warned[0]}"))
        return result

    def _result(self, node: Node, value: Any) -> Value:
        """The tracker of what a node gives. A tensor that came back unchanged keeps its tracker."""
        if isinstance(value, TensorBase) and not value.is_fake:
            value = fake_like(value)  # torch.tensor([1, 2]): its numbers belong to the call, not to the trace
        node.meta.update(stack=self.tracer.user_line(), instruction=self.frames[0].current, val=value)
        node.meta["module"] = self.tracer.module_path()
        if isinstance(value, TensorBase):
            return self._tensor(node, value)
        if isinstance(value, (tuple, list)) and any(isinstance(item, TensorBase) for item in value):
            return self._several(node, value)
        if is_plain(value):
            return self.from_python(value)
        raise Unsupported("unsupported-call", f"{node.target} gives a {type(value).__name__}.")

    def _tensor(self, node: Node, fake: TensorBase) -> TensorVariable:
        known = self.tensors_by_fake.get(id(fake))
        if known is None:
            known = self.tensors_by_fake[id(fake)] = TensorVariable(node, fake, type(fake))
            if self.sizes.env.unbacked:
                self.bind_data_sizes(node, fake)
        return known

    def _several(self, node: Node, values: Any) -> Value:
        items: list[Value] = []
        for position, value in enumerate(values):
            items.append(self._item(node, position, value))
        return self.tracer.sequence_like(values, items)

    def _item(self, node: Node, position: int, value: Any) -> Value:
        if not isinstance(value, TensorBase):
            return self.from_python(value)
        item = self.graph.create_node("call_function", operator.getitem, (node, position), {})
        item.meta.update(node.meta, val=value)
        return self._tensor(item, value)

    def forget_erased_nodes(self, kept: set[Node]) -> None:
        """After part of the graph was taken out again: its tensors and sizes are gone."""
        self.forget_data_numbers(kept)
        self.tensors_by_fake = {fake: t for fake, t in self.tensors_by_fake.items() if t.node in kept}
        self.size_inputs = [size for size in self.size_inputs if size.node in kept]
        self.size_nodes.keep(kept)

    # --- finishing ----------------------------------------------------------------------------------------------------

    @property
    def written_inputs(self) -> list[TensorVariable]:
        """The tensors from outside that the graph writes to."""
        return [variable for variable in self.inputs if variable.fake.storage in self.fakes.written]


def _method(name: str) -> Callable[..., Any]:
    """The method as a function of its object, whose sizes may be what it fails for."""

    def call(subject: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(subject, name)(*args, **kwargs)

    call.__name__ = name
    return call


def _is_operation(target: Any) -> bool:
    """Whether a node calls an operation of the table, by its name or by an operator, and not some other function."""
    name = getattr(target, "__name__", "")
    known = isinstance(target, (str, Op)) or target is getattr or is_graph_step(target)
    return known or getattr(operator, name, None) is target


def is_plain(value: Any) -> bool:
    """Whether there is no tensor in a value that a traced call gave."""
    found: list[Any] = []
    map_aggregate(value, lambda leaf: found.append(leaf) if isinstance(leaf, TensorBase) else None)
    return not found


def _placeholder_name(source: Source) -> str:
    """self._modules['fc']._parameters['weight'] -> self_fc_weight"""
    text = re.sub(r"_(modules|parameters|buffers)\b", "", source.name())
    return re.sub(r"\W+", "_", text).strip("_") or "input"
