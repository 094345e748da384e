"""A module as one graph whose placeholders are its parameters, buffers, constants, and the caller's tensors.

>>> from minitorch_compile.nn import Linear
>>> from minitorch_compile.tensor import ones
>>> found = Capture(Linear(3, 1), (ones(2, 3),), {}, ({0: Dim("batch")},))
>>> print(found.graph.compact())
p_weight, p_bias, input_1 -> (linear(input_1, p_weight, p_bias),)
>>> found.checks.seen[0][1], [str(within) for within in found.checks.ranges.values()]
(3, ['[1, int_oo]'])

The tracer's graph of one call is taken over: a node for each call of the program's. A size that is not known is read
from the tensor that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minitorch_compile import pytree
from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.guards.source import ElementsSource, ItemSource, LocalSource
from minitorch_compile.export.dynamic_shapes import Dim, ExportError, mark, wishes_of
from minitorch_compile.export.graph_signature import (
    Argument,
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from minitorch_compile.export.input_checks import InputChecks
from minitorch_compile.export.module_state import ModuleState
from minitorch_compile.fx import Graph, GraphModule, Node
from minitorch_compile.nn import Module
from minitorch_compile.random import fork_rng
from minitorch_compile.symbolic import ConstraintViolationError, Expression, Range, Relation, ShapeEnv, Symbol, SymInt
from minitorch_compile.tensor import Tensor, empty_fake, fake_like, no_grad

Lifted = list[tuple[InputKind, str, str, Any, bool | None]]  # kind, placeholder, name in the module, tensor, persistent


class Capture:
    """The graph of one call of a module, and what it was captured for."""

    def __init__(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any) -> None:
        self.names, arguments = _named(module, args, kwargs)
        given, self.in_spec = pytree.tree_flatten((args, kwargs))
        self.wishes = wishes_of(dynamic_shapes, arguments, given)
        self.leaves = [_copied(leaf) for leaf in given]
        for (place, dim), wish in self.wishes.items():
            mark(self.leaves[place], dim, wish)
        self.inputs: tuple[Any, ...] = ()
        self.examples: list[Any] = []
        self.outputs: tuple[Any, ...] = ()
        self.captured = GraphModule({}, _empty())
        self.lifted = _lifted(module)
        self._run(module)
        self.graph = Graph()
        self._write()
        self._allow_one(module)

    # --- the call -----------------------------------------------------------------------------------------------------

    def _run(self, module: Module) -> None:
        compiled = optimize(module, self._backend, fullgraph=True, dynamic=False)
        positional, named = pytree.tree_unflatten(self.leaves, self.in_spec)
        before = [(x, x._version, _copied(x)) for _, _, _, x, _ in self.lifted]
        state = ModuleState(module)
        try:
            with fork_rng():
                result = compiled(*positional, **named)
        except ConstraintViolationError as error:
            raise ExportError(
                f"Constraints violated! {error}\nUse Dim.AUTO or Dim.STATIC for this dimension."
            ) from None
        finally:
            self.assigned = state.restored()
            with no_grad():
                for tensor, version, values in before:
                    if tensor._version != version:
                        tensor.copy_(values)  # exporting is not training
        self.results, self.out_spec = pytree.tree_flatten(result)

    def _backend(self, module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        self.captured, self.examples = module, example_inputs

        def run(*inputs: Any) -> Any:
            self.inputs, self.outputs = inputs, module(*inputs)
            return self.outputs

        return run

    # --- the graph ----------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        """The graph anew, with placeholders in PyTorch's order, and its signature."""
        old = self.captured.graph.find_nodes(op="placeholder")
        read = {id(x): example for x, example in zip(self.inputs, self.examples) if isinstance(x, Tensor)}
        read.update(self._known_by_sizes(old, read))
        self._lift_constants()
        specs = []
        state: dict[int, Node] = {}
        for kind, name, target, tensor, persistent in self.lifted:
            node = state[id(tensor)] = self._placeholder(name, read.get(id(tensor)), tensor)
            specs.append(InputSpec(kind, TensorArgument(node.name), target, persistent))
        users = [self._placeholder(name, read.get(id(x)), x) for name, x in zip(self.names, self.leaves)]
        for node, leaf in zip(users, self.leaves):
            argument: Argument = (
                TensorArgument(node.name) if isinstance(leaf, Tensor) else ConstantArgument(node.name, leaf)
            )
            specs.append(InputSpec(InputKind.USER_INPUT, argument, None))
        places = {**state, **{id(x): node for x, node in zip(self.leaves, users) if isinstance(x, Tensor)}}
        known = {node: places[id(x)] for node, x in zip(old, self.inputs) if isinstance(x, Tensor)}
        for node, example in zip(old, self.examples):
            if isinstance(example, SymInt):
                known[node] = self._size_node(users, example)
        returned = self.graph.graph_copy(self.captured.graph, known)
        results = [self._result(x, returned or (), places) for x in self.results]
        for buffer, replacement in self.assigned:
            self._write_to(state[id(buffer)], self._result(replacement, returned or (), places))
        self.graph.output(tuple(results)).meta["val"] = tuple(
            x.meta.get("val") if isinstance(x, Node) else x for x in results
        )
        self.signature = ExportGraphSignature(specs, [output_spec(x) for x in results])
        for node in self.graph.find_nodes(op="call_method", target="size"):
            if not node.users:
                self.graph.erase_node(node)
        self._read_sizes(users)

    def _write_to(self, buffer: Node, value: Node) -> None:
        """A buffer that the program replaces is written to."""
        old, new = buffer.meta["val"], value.meta["val"]
        if (old.dtype, len(old.sizes)) != (new.dtype, len(new.sizes)):
            raise ExportError(
                f"torch.export: the buffer {buffer.name} is replaced by a tensor of another kind, {new.dtype}"
                f" {list(new.sizes)}; it must stay {old.dtype} {list(old.sizes)}"
            )
        self.graph.call_method("copy_", (buffer, value)).meta["val"] = old

    def _placeholder(self, name: str, example: Any, value: Any) -> Node:
        node = self.graph.placeholder(name)
        node.meta["val"] = example if example is not None else fake_like(value) if isinstance(value, Tensor) else value
        return node

    def _lift_constants(self) -> None:
        """What the graph reads, and is neither an argument nor the module's own."""
        known = {id(x) for x in (*self.leaves, *(entry[3] for entry in self.lifted))}
        names = dict.fromkeys(entry[1] for entry in self.lifted)
        for value in (*self.inputs, *self.results):
            made = any(value is output for output in self.outputs)
            if isinstance(value, Tensor) and id(value) not in known and not made:
                known.add(id(value))
                target = f"lifted_tensor_{sum(name.startswith('c_lifted') for name in names)}"
                names[f"c_{target}"] = None
                self.lifted.append((InputKind.CONSTANT_TENSOR, f"c_{target}", target, value, None))

    def _known_by_sizes(self, placeholders: Sequence[Node], read: Mapping[int, Any]) -> dict[int, Any]:
        """Fakes of the arguments that the graph reads nothing but sizes of."""
        made: dict[int, Any] = {}
        for node, size in zip(placeholders, self.examples):
            source = node.meta.get("source")
            if not isinstance(size, SymInt) or not isinstance(source, ItemSource):
                continue
            sizes_of = source.origin
            if not isinstance(sizes_of, ElementsSource) or sizes_of.attribute != "sizes":
                continue
            for name, leaf in zip(self.names, self.leaves):
                if isinstance(leaf, Tensor) and id(leaf) not in read and sizes_of.origin == LocalSource(name):
                    fake = made.get(id(leaf), leaf)
                    sizes: list[Any] = [size if dim == source.key else known for dim, known in enumerate(fake.sizes)]
                    made[id(leaf)] = empty_fake(sizes, dtype=leaf.dtype)
                    made[id(leaf)].requires_grad = leaf.requires_grad
        return made

    def _size_node(self, users: list[Node], size: SymInt) -> Node:
        symbol = size.expression.only_symbol
        for node in users:
            for dim, found in enumerate(getattr(node.meta["val"], "sizes", ())):
                if isinstance(found, SymInt) and found.expression.only_symbol == symbol:
                    made = self.graph.call_method("size", (node, dim))
                    made.meta["val"] = found
                    return made
        raise ExportError(
            f"torch.export: {size} is the size of a tensor of which the program uses nothing else; pass that tensor as"
            " an argument of its own, not in a list or dict"
        )

    def _result(self, value: Any, returned: Any, places: dict[int, Node]) -> Any:
        if isinstance(value, Tensor):
            place = next((i for i, output in enumerate(self.outputs) if output is value), None)
            return places[id(value)] if place is None else returned[place]
        if type(value) in (int, float) and self.wishes:
            raise ExportError(
                f"torch.export: the module returns the number {value!r}, which may come of sizes that are not known;"
                " return tensors, such as torch.tensor(x.shape[0])"
            )
        return value

    # --- sizes --------------------------------------------------------------------------------------------------------

    def _read_sizes(self, users: list[Node]) -> None:
        """Which sizes the graph is for: of each argument those that it may have, and what must hold for all."""
        found = (size.env for x in self.examples for size in (*getattr(x, "sizes", ()), x) if isinstance(size, SymInt))
        env = next(found, None) or ShapeEnv()
        self.sizes = [
            [_simplified(size, env) for size in node.meta["val"].sizes] if isinstance(leaf, Tensor) else leaf
            for node, leaf in zip(users, self.leaves)
        ]
        same = self._same_dims()
        self.sizes = [[_with(size, same) for size in x] if isinstance(x, list) else x for x in self.sizes]
        bound = {size.only_symbol for x in self.sizes if isinstance(x, list) for size in x if not isinstance(size, int)}
        ranges = {symbol: env.ranges[symbol] for symbol in sorted(bound - {None}, key=str)}
        relations = [
            Relation(difference, relation.sign, relation.place)
            for relation in env.relations
            if (difference := env.simplify(relation.difference).substitute(same)).constant is None
        ]
        self.checks = InputChecks(self.in_spec, self.names, self.sizes, ranges, relations)

    def _same_dims(self) -> dict[Symbol, Expression]:
        """Dims of one name are equal sizes: the symbols that others stand for. Of different names they may differ."""
        names: dict[Any, str] = {}
        first: dict[str, Expression] = {}
        same: dict[Symbol, Expression] = {}
        for (place, dim), wish in self.wishes.items():
            size = self.sizes[place][dim]
            symbol = None if isinstance(size, int) else size.only_symbol
            if not isinstance(wish, Dim) or symbol is None:
                continue
            other = names.setdefault(symbol, wish.__name__)
            if other != wish.__name__:
                raise ExportError(
                    f"Constraints violated ({wish.__name__})!\n  - The values of {wish.__name__} and {other} must"
                    f" always be equal.\nSuggested fixes:\n  {wish.__name__} = {other}"
                )
            if first.setdefault(wish.__name__, size) != size:
                same[symbol] = first[wish.__name__]
        return same

    def _allow_one(self, module: Module) -> None:
        """A graph for sizes from 2 on is one for 1 as well, if the module gives the same graph there."""
        ranges = self.checks.ranges
        asked = {s: wish for s, wish in self._wished().items() if s in ranges and ranges[s].lower == 2}
        allowed = [s for s, wish in asked.items() if not isinstance(wish, Dim) or wish.min < 2 <= wish.max]
        if allowed and not self.checks.relations and _same_graph(self, module, set(allowed)):
            self.checks.ranges = {s: Range(1, r.upper) if s in allowed else r for s, r in ranges.items()}

    def _wished(self) -> Mapping[Symbol, Any]:
        found = {}
        for (place, dim), wish in self.wishes.items():
            size = self.sizes[place][dim]
            if not isinstance(size, int) and size.only_symbol is not None:
                found[size.only_symbol] = wish
        return found


def _simplified(size: Any, env: ShapeEnv) -> Any:
    """A number, or an expression of symbols."""
    found = env.simplify(size.expression) if isinstance(size, SymInt) else size
    return found if isinstance(found, int) or found.constant is None else found.constant


def _with(size: Any, same: dict[Symbol, Expression]) -> Any:
    return size if isinstance(size, int) else size.substitute(same)


def _same_graph(capture: Capture, module: Module, symbols: set[Symbol]) -> bool:
    leaves = []
    for leaf, sizes in zip(capture.leaves, capture.sizes):
        for dim, size in enumerate(sizes if isinstance(sizes, list) else ()):
            if not isinstance(size, int) and size.only_symbol in symbols:
                leaf = leaf.narrow(dim, 0, 1)
        leaves.append(leaf.detach() if isinstance(leaf, Tensor) else leaf)
    args, kwargs = pytree.tree_unflatten(leaves, capture.in_spec)
    try:
        other = Capture(module, args, kwargs, None)
    except Exception:  # noqa: BLE001  whatever it is, the module is not one for this size
        return False
    return other.out_spec == capture.out_spec and _calls(other.graph) == _calls(capture.graph)


def _calls(graph: Graph) -> list[Any]:
    """What is called, apart from reading sizes."""
    return [
        (n.op, n.target) for n in graph.nodes if n.op.startswith("call") and not isinstance(n.meta.get("val"), SymInt)
    ]


def output_spec(result: Any, kind: OutputKind = OutputKind.USER_OUTPUT, target: str | None = None) -> OutputSpec:
    """Of a node or a constant."""
    argument: Argument = TensorArgument(result.name) if isinstance(result, Node) else ConstantArgument("", result)
    return OutputSpec(kind, argument, target)


def _lifted(module: Module) -> Lifted:
    """A row for each tensor of the module: its parameters, its buffers, and tensors that are plain attributes."""
    found: Lifted = []
    for name, parameter in module.named_parameters():
        found.append((InputKind.PARAMETER, _identifier("p", name), name, parameter, None))
    for path, owner in module.named_modules():
        for name, buffer in owner.named_buffers(recurse=False):
            full = f"{path}.{name}" if path else name
            kept = name not in owner._non_persistent_buffers_set
            found.append((InputKind.BUFFER, _identifier("b", full), full, buffer, kept))
    for path, owner in module.named_modules():
        for name, value in vars(owner).items():
            if isinstance(value, Tensor):
                full = f"{path}.{name}" if path else name
                found.append((InputKind.CONSTANT_TENSOR, _identifier("c", full), full, value, None))
    return list({id(row[3]): row for row in reversed(found)}.values())[::-1]


def _identifier(prefix: str, name: str) -> str:
    return f"{prefix}_{name.replace('.', '_')}"


def _named(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """A name for each leaf of the arguments, and the arguments by the names of parameters."""
    import inspect

    bound = inspect.signature(module.forward).bind(*args, **kwargs)
    arguments: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            arguments.update(value)
        else:
            arguments[name] = value
    names = []
    for name, value in arguments.items():
        leaves = pytree.tree_leaves(value)
        is_leaf = len(leaves) == 1 and leaves[0] is value
        names += [name] if is_leaf else [f"{name}_{i}" for i in range(len(leaves))]
    return names, arguments


def _copied(leaf: Any) -> Any:
    """A tensor with the same values that nothing else sees; other leaves as they are."""
    return leaf.detach().clone().requires_grad_(leaf.requires_grad) if isinstance(leaf, Tensor) else leaf


def _empty() -> Graph:
    graph = Graph()
    graph.output(())
    return graph


__all__ = ["Capture", "output_spec"]
