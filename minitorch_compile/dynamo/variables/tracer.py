"""What a value may ask of the tracer.

A tracker answers Python's questions about one value; to do so it asks others: call this, is that true, what are the
items of this, raise that in the program. `Tracer` is what it asks: the hooks of `execution/hooks.py`, which say what
Python does with values, and the services named here. `Output` is where the answers leave their traces: graph, guards,
side effects. Both are only faces; `dynamo/capture` is behind them.

>>> from minitorch_compile.dynamo.variables.base import VariableTracker
>>> class Doubling(VariableTracker):
...     def call(self, tracer, args, kwargs):
...         return tracer.binary("+", args[0], args[0])
>>> class Writer(Tracer):                                           # whatever answers will do, here with text
...     def binary(self, op, a, b):
...         return f"{a} {op} {b}"
>>> Doubling().call(object.__new__(Writer), ["x"], {})
'x + x'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Sized
from types import CellType
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter
from minitorch_compile.dynamo.guards.source import ConstantSource, Source

if TYPE_CHECKING:
    from minitorch_compile.dynamo.errors import Unsupported
    from minitorch_compile.dynamo.fakes.fake_mode import FakeMode
    from minitorch_compile.dynamo.fakes.freed_history import BackwardCall
    from minitorch_compile.dynamo.fakes.symbolic_sizes import Layout, SymbolicSizes
    from minitorch_compile.dynamo.guards.guards import GuardSet
    from minitorch_compile.dynamo.guards.namespace import Namespace
    from minitorch_compile.dynamo.variables.base import Value, VariableTracker
    from minitorch_compile.dynamo.variables.containers.generators import GeneratorVariable
    from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
    from minitorch_compile.dynamo.variables.functions.functions import FunctionVariable
    from minitorch_compile.dynamo.variables.scope import CellVariable, GlobalsVariable
    from minitorch_compile.dynamo.variables.side_effects import SideEffects
    from minitorch_compile.dynamo.variables.tensors.autocast_regions import AutocastRegions
    from minitorch_compile.dynamo.variables.tensors.numbers import NumberVariable
    from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
    from minitorch_compile.dynamo.variables.tensors.torch_function import Overrides
    from minitorch_compile.fx import Graph, Node
    from minitorch_compile.symbolic import Relation, SymFloat, SymInt
    from minitorch_compile.tensor.memory.storage import Storage
    from minitorch_compile.tensor.tensor_base import TensorBase


class Tracer(BytecodeInterpreter):
    """A frame being traced. `scope` has the globals of its function, `depth` counts the calls that it is inside."""

    output: Output
    scope: GlobalsVariable
    depth: int

    @property
    def side_effects(self) -> SideEffects:
        return self.output.side_effects

    # --- calls --------------------------------------------------------------------------------------------------------

    def inline(self, function: FunctionVariable, slots: dict[str, Any]) -> Value:
        """Traces a call of a Python function in place."""
        raise NotImplementedError

    def called_by(self, caller: Tracer) -> None:
        """This frame, a generator's, goes on below whoever asks for its next item."""
        raise NotImplementedError

    @property
    def is_library(self) -> bool:
        """Whether the frame runs code of this package."""
        raise NotImplementedError

    def compute(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """A real operation on constants; what it raises, the program gets."""
        raise NotImplementedError

    def checked_call(self, rule: Callable[..., Value], /, *args: Any, **kwargs: Any) -> Value:
        """Calls a rule of the tracer; arguments that it does not take break the graph."""
        raise NotImplementedError

    def polyfill(self, function: Callable[..., Any]) -> Value:
        """A function of `polyfills.py`, to be traced in place of one written in C."""
        raise NotImplementedError

    # --- exceptions of the traced program -----------------------------------------------------------------------------

    def user_line(self) -> tuple[str, int, str]:
        """The line of the program that is being traced: its file, its number, its text."""
        raise NotImplementedError

    def module_path(self) -> str:
        """The module whose code is being traced, as `blocks.3.mlp`; "" outside of all, and in the outermost."""
        raise NotImplementedError

    def at_users_line(self, error: Unsupported) -> Unsupported:
        """A break at what warns, and names the line that calls it."""
        raise NotImplementedError

    def raise_error(self, cls: type[BaseException], *args: Any) -> NoReturn:
        """The program gets this exception; arguments are Python values or trackers."""
        raise NotImplementedError

    def raise_stop(self, iterator: Value) -> NoReturn:
        """StopIteration of an exhausted iterator; it carries what a generator returned."""
        raise NotImplementedError

    def handled_here_or_above(self) -> Any:
        """The exception that the innermost `except` on the call stack is handling, NULL if none."""
        raise NotImplementedError

    # --- looking into values ------------------------------------------------------------------------------------------

    def constant(self, value: Value) -> Any:
        """The Python value of a constant; a break if it is not one."""
        raise NotImplementedError

    def index_constant(self, key: Value, what: str) -> Any:
        """An index or slice of a sequence."""
        raise NotImplementedError

    def is_callable(self, value: Value) -> Value:
        """callable(value)"""
        raise NotImplementedError

    def identical(self, a: Value, b: Value) -> bool:
        """a is b, known for sure or guarded."""
        raise NotImplementedError

    def same_or_equal(self, a: Value, b: Value) -> bool:
        """What `in`, index() and == of containers ask: the same object, or equal."""
        raise NotImplementedError

    def graph_argument(self, value: Value) -> Any:
        """What stands for a value among the arguments of a node; a break if nothing can."""
        raise NotImplementedError

    # --- iterating ----------------------------------------------------------------------------------------------------

    def as_iterator(self, value: Value) -> IteratorVariable:
        """iter(value)"""
        raise NotImplementedError

    def next_or_none(self, iterator: Value) -> Value | None:
        """The next item, None at the end."""
        raise NotImplementedError

    def next_or_raise(self, iterator: Value) -> Value:
        """next(iterator)"""
        raise NotImplementedError

    def each(self, iterable: Value) -> Iterator[Value]:
        """The items, one after the other: what is done with one may come before the program makes the next."""
        raise NotImplementedError

    def each_sized(self, iterable: Value) -> Iterator[Value]:
        """The same as list() does it, which asks an object for its length after the iterator."""
        raise NotImplementedError

    def unpack_all(self, iterable: Value) -> list[Value]:
        """All of `each`."""
        raise NotImplementedError

    def unpack_sized(self, iterable: Value) -> list[Value]:
        """All of `each_sized`."""
        raise NotImplementedError

    def mapping_items(self, mapping: Value, asks: bool = False) -> Iterator[tuple[Value, Value]]:
        """The items of a mapping, or of an iterable of pairs, one after the other. `asks`: as an OrderedDict takes
        them, which asks each class but dict for its keys."""
        raise NotImplementedError


class Output:
    """What tracing a frame builds up, with all that is inlined into it."""

    graph: Graph
    guards: GuardSet
    names: Namespace  # of objects that the generated code refers to
    side_effects: SideEffects
    fakes: FakeMode
    sizes: SymbolicSizes
    inputs: Sequence[TensorVariable]  # tensors from outside, in the order in which they were met
    generators: list[GeneratorVariable]  # that the program made
    made_classes: dict[type, VariableTracker]  # likewise
    expectations: Sized  # checks of data of which one outcome only raises
    backward_call: BackwardCall | None  # the first backward() in the graph
    has_steps: bool  # whether function transforms are in the graph
    overrides: Overrides | None = None  # __torch_function__ that the program switches off, or enters
    autocast: AutocastRegions | None = None  # that the program enters, or asks about
    is_handling_outside: bool  # called in an `except` block

    @property
    def tracer(self) -> Tracer:
        """The innermost frame being traced."""
        raise NotImplementedError

    # --- values from outside ------------------------------------------------------------------------------------------

    def wrap(self, value: Any, source: Source) -> Value:
        """A value read from `source`, to be looked into when the program does."""
        raise NotImplementedError

    def build(self, value: Any, source: Source) -> VariableTracker:
        """The tracker of a value, with guards. One object has one tracker, on however many paths it is reached."""
        raise NotImplementedError

    def wrap_cell(self, cell: CellType, source: Source) -> CellVariable:
        """The same of a variable that inner functions share."""
        raise NotImplementedError

    def constant_source(self, value: Any, hint: str) -> ConstantSource:
        """The generated code holds on to this very object."""
        return ConstantSource(self.names.install(value, hint))

    def wrap_constant(self, value: Any, hint: str) -> Value:
        """The tracker of an object that the generated code holds on to."""
        return self.wrap(value, self.constant_source(value, hint))

    def from_python(self, value: Any) -> Value:
        """A value that was computed while tracing."""
        raise NotImplementedError

    def scope_of(self, module_globals: dict[str, Any]) -> GlobalsVariable:
        """The globals of a module."""
        raise NotImplementedError

    def stored_globals(self, module_globals: dict[str, Any]) -> dict[str, Any]:
        """What the program set in a module, or deleted."""
        raise NotImplementedError

    # --- the graph ----------------------------------------------------------------------------------------------------

    def graph_input(self, value: TensorBase, source: Source, layout: Layout | None = None) -> TensorVariable:
        """A tensor from outside becomes a placeholder."""
        raise NotImplementedError

    def call(self, kind: str, target: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """One node: call_function of `target`, or call_method of that name on the first argument."""
        raise NotImplementedError

    def size_argument(self, number: SymInt) -> Any:
        """A size as an argument of a node: a node, or the number if it is known by now."""
        raise NotImplementedError

    def float_argument(self, number: NumberVariable) -> Node:
        """The placeholder of a float from outside, or of what was computed of it."""
        raise NotImplementedError

    def float_of(self, number: SymFloat) -> Value:
        """The tracker of a float that an operation computed of others, or gave back."""
        raise NotImplementedError

    def switch_grad_mode(self, enabled: bool) -> None:
        """Grad mode changes now, and in the graph when it runs."""
        raise NotImplementedError

    def forget_erased_nodes(self, kept: set[Node]) -> None:
        """After part of the graph was taken out again: its tensors and sizes are gone."""
        raise NotImplementedError

    # --- numbers that the data decide ---------------------------------------------------------------------------------

    @property
    def captures_numbers(self) -> bool:
        """Whether `.item()` is a number of the graph."""
        raise NotImplementedError

    def item_of(self, tensor: TensorVariable) -> Value | None:
        """tensor.item() as a number of the graph, None if the graph is to break."""
        raise NotImplementedError

    def whole_number(self, function: Callable[..., Any], args: list[Value]) -> Value:
        """What a function makes of such numbers, if it is a whole number."""
        raise NotImplementedError

    def unknown_whole_number(self, node: Node) -> Value:
        """The number that a node gives, of which nothing is known."""
        raise NotImplementedError

    def place(self) -> dict[str, Any]:
        """What a node keeps in its `meta` of where it was made."""
        raise NotImplementedError

    def is_handled(self) -> bool:
        """Whether the line being traced stands in a try or with block."""
        raise NotImplementedError

    def plain_node(self, function: Callable[..., Any], args: list[Value], seen: Any) -> Node:
        """A call that runs as it is: arithmetic of such numbers, a comparison. `seen` has the type of the result."""
        raise NotImplementedError

    def expect_float(self, node: Node) -> None:
        """A number that a node gives is a float: the graph checks it."""
        raise NotImplementedError

    def expect(self, relation: Relation) -> None:
        """Holds from now on: the graph checks it."""
        raise NotImplementedError

    # --- tensors ------------------------------------------------------------------------------------------------------

    def tensor_of(self, fake: TensorBase) -> TensorVariable | None:
        """The tracker of a fake, None if it is not one of the traced program."""
        raise NotImplementedError

    def tensor_of_node(self, node: Node, fake: TensorBase) -> TensorVariable:
        """The tracker of a tensor that a node gives, and no call on fakes has made."""
        raise NotImplementedError

    def guard_offset(self, fake: TensorBase) -> None:
        """The program asked where in its memory a tensor begins: all inputs on this memory begin where they did."""
        raise NotImplementedError

    def has_gradients(self, storage: Storage) -> bool:
        """Whether a tensor on this memory takes part in differentiation."""
        raise NotImplementedError

    def gradient_dropped(self, tensor: TensorVariable) -> None:
        """The program stores None as the gradient of a tensor from outside."""
        raise NotImplementedError
