"""save and load for exported programs: a file of names, numbers and tensors, in which there is no code.

>>> import io
>>> import minitorch_compile as torch
>>> file = io.BytesIO()
>>> save(torch.export.export(torch.nn.ReLU(), (torch.ones(2),)), file)
>>> _ = file.seek(0)
>>> load(file).module()(torch.tensor([-1.0, 2.0]))
tensor([0., 2.])

A file may only name operations of this package, methods and attributes of tensors, and Python's operators. Python is
generated of the names and sizes in it, so these must be identifiers and whole numbers.
"""

from __future__ import annotations

import keyword
import math
import operator
from collections.abc import Callable
from typing import Any

from minitorch_compile import pytree, serialization
from minitorch_compile.dynamo.capture.data_numbers import check_expected
from minitorch_compile.dynamo.capture.grad_switches import switch_grad_mode
from minitorch_compile.dynamo.fakes.fake_mode import FakeMode
from minitorch_compile.export.exported_program import ExportedProgram
from minitorch_compile.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
)
from minitorch_compile.export.input_checks import InputChecks
from minitorch_compile.func.control_flow import cond_op, while_loop_op
from minitorch_compile.fx import Graph, GraphModule, Interpreter, Node
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.symbolic import Range, Relation, ShapeEnv, Symbol, SymInt
from minitorch_compile.symbolic.expression import Expression, FloorDivision, Maximum, as_expression, parts_of
from minitorch_compile.tensor import Tensor, as_tensor, device, empty_fake, tensor
from minitorch_compile.tensor.dispatch.op import Op, find
from minitorch_compile.tensor.memory import memory_format as memory_formats
from minitorch_compile.tensor.memory.memory_format import layout, memory_format
from minitorch_compile.tensor.modes.symbolic_layout import specializing
from minitorch_compile.tensor.numerics.dtype import dtype

FORMAT = "minitorch_compile exported program 1"
PLAIN = (bool, int, float, complex, str, type(None), dtype)
ARGUMENTS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (TensorArgument, SymIntArgument, ConstantArgument)
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "getattr": getattr, "switch_grad_mode": switch_grad_mode, "check_expected": check_expected,
    "cond": cond_op, "while_loop": while_loop_op, "tensor": tensor, "as_tensor": as_tensor,
}  # fmt: skip
FORMATS = {str(each).removeprefix("torch."): each for module in (memory_formats,) for each in vars(module).values()
           if isinstance(each, (memory_format, layout))}  # fmt: skip
OPERATORS = frozenset((
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "pos", "invert", "abs", "and_", "or_",
    "xor", "lshift", "rshift", "eq", "ne", "lt", "le", "gt", "ge", "getitem", "setitem", "index", "not_", "iadd",
    "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor", "ilshift", "irshift",
))  # fmt: skip


def save(
    ep: ExportedProgram,
    f: Any,
    *,
    extra_files: dict[str, Any] | None = None,
    opset_version: Any = None,
    pickle_protocol: int = 2,
) -> None:
    """Writes an exported program to `f`, a path or a file; nothing is pickled. TypeError for anything else,
    RuntimeError for a graph that calls what a file can't name."""
    if not isinstance(ep, ExportedProgram):
        found = type(ep).__name__
        raise TypeError(f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{found}' instead.")
    if extra_files or opset_version:
        raise NotImplementedError(
            "torch.export.save: extra_files and opset_version are not offered; save what goes along by torch.save"
        )
    specs = ep.graph_signature
    looks, hints = _looks(ep.graph)
    serialization.save(
        {
            "format": FORMAT,
            "graph": _graph(ep.graph),
            "inputs": [[s.kind.name, _argument(s.arg), s.target, s.persistent] for s in specs.input_specs],
            "outputs": [[s.kind.name, _argument(s.arg), s.target] for s in specs.output_specs],
            "state": {name: tensor.detach() for name, tensor in ep.state_dict.items()},
            "constants": {name: tensor.detach() for name, tensor in ep.constants.items()},
            "in_spec": pytree.treespec_dumps(ep.call_spec.in_spec),
            "out_spec": pytree.treespec_dumps(ep.call_spec.out_spec),
            "names": ep.checks.names,
            "seen": [[_size(size) for size in x] if isinstance(x, list) else _plain(x) for x in ep.checks.seen],
            "is_tensor": [isinstance(x, list) for x in ep.checks.seen],
            "ranges": [[_atom(symbol), within.lower, within.upper] for symbol, within in ep.checks.ranges.items()],
            "relations": [[_size(r.difference), r.sign, r.place] for r in ep.checks.relations],
            "looks": looks,
            "hints": hints,
            "functional": ep._is_functional,
        },
        f,
    )


def load(f: Any, *, extra_files: dict[str, Any] | None = None, expected_opset_version: Any = None) -> ExportedProgram:
    """Reads what `save` wrote. RuntimeError for another file, or one that names what isn't to be called."""
    if extra_files or expected_opset_version:
        raise NotImplementedError(
            "torch.export.load: extra_files and expected_opset_version are not offered; leave them out"
        )
    read = serialization.load(f)
    if not isinstance(read, dict) or read.get("format") != FORMAT:
        raise RuntimeError(
            "torch.export.load: the file is no exported program of this package; PyTorch's archives name its own"
            " operators, so export the module here, and load its state_dict"
        )
    specs = ExportGraphSignature(
        [InputSpec(InputKind[kind], _read_argument(x), target, kept) for kind, x, target, kept in read["inputs"]],
        [OutputSpec(OutputKind[kind], _read_argument(x), target) for kind, x, target in read["outputs"]],
    )
    seen = [[_read_size(size) for size in x] if is_tensor else _filled(x, {})
            for x, is_tensor in zip(read["seen"], read["is_tensor"], strict=True)]  # fmt: skip
    ranges = {_read_atom(symbol): Range(_bound(lower), _bound(upper)) for symbol, lower, upper in read["ranges"]}
    relations = [
        Relation(as_expression(_read_size(size)), _sign(sign), place) for size, sign, place in read["relations"]
    ]
    checks = InputChecks(
        pytree.treespec_loads(read["in_spec"]), list(map(_identifier, read["names"])), seen, ranges, relations
    )
    trained = {spec.target for spec in specs.input_specs if spec.kind is InputKind.PARAMETER}
    state = {name: x.requires_grad_(name in trained and x.is_floating_point()) for name, x in read["state"].items()}
    graph = _read_graph(read["graph"])
    hints = {_read_atom(symbol): hint for symbol, hint in read["hints"]}
    _propagate(graph, read["looks"], hints, ranges)
    out_spec = pytree.treespec_loads(read["out_spec"])
    made = ExportedProgram(graph, specs, state, read["constants"], checks, out_spec, None)
    made._is_functional = bool(read["functional"])
    return made


# --- graphs -----------------------------------------------------------------------------------------------------------


def _graph(graph: Graph) -> list[Any]:
    """A row for each node; of one that gets a graph, with its rows."""
    rows = []
    for node in graph.nodes:
        inner = node.meta["val"] if node.op == "get_attr" else None
        if inner is not None and not isinstance(inner, GraphModule):
            raise RuntimeError(f"torch.export.save: the attribute {node.target!r} can't be kept in a file")
        rest = _graph(inner.graph) if inner is not None else None
        kwargs = {name: _plain(value) for name, value in node.kwargs.items()}
        rows.append([node.name, node.op, _target(node), [_plain(x) for x in node.args], kwargs,
                     "runs_plainly" in node.meta, rest])  # fmt: skip
    return rows


def _read_graph(rows: list[Any]) -> Graph:
    graph, known = Graph(), dict[str, Node]()
    for name, op, target, args, kwargs, is_plain, rest in rows:
        given = (
            tuple(_filled(x, known) for x in args),
            {_identifier(key): _filled(x, known) for key, x in kwargs.items()},
        )
        if op == "output":
            graph.output(given[0][0])
            continue
        node = known[name] = graph.create_node(op, _read_target(op, target), *given, name=name)
        _check_operands(node)
        if is_plain:
            node.meta["runs_plainly"] = True
        if op == "get_attr":
            node.meta["val"] = LazyGraphModule.captured(_read_graph(rest), str(target))
    return graph


def _target(node: Node) -> list[str]:
    target: Any = node.target
    if node.op != "call_function":
        return ["name", str(target)]
    if isinstance(target, Op):
        return ["op", target.name]
    name = getattr(target, "__name__", "")
    if name in OPERATORS and getattr(operator, name) is target:
        return ["operator", name]
    function = next((known for known, function in FUNCTIONS.items() if function is target), None)
    if function is None:
        raise RuntimeError(f"torch.export.save: the graph calls {target!r}, which a file can't name")
    return ["function", function]


def _read_target(op: str, target: list[str]) -> Any:
    kind, name = target
    if op == "call_function" and kind == "op":
        return find(name)
    if op == "call_function" and kind == "operator" and name in OPERATORS:
        return getattr(operator, name)
    if op == "call_function" and kind == "function" and name in FUNCTIONS:
        return FUNCTIONS[name]
    if op in ("placeholder", "get_attr") and kind == "name":
        return _identifier(name)
    if op == "call_method" and kind == "name" and not name.startswith("_") and hasattr(Tensor, name):
        return name
    raise RuntimeError(f"torch.export.load: a node is to call {name!r}, which is nothing that a graph may call")


def _check_operands(node: Node) -> None:
    """getattr leads to all of Python by names with underscores, and cond and while_loop call what they are given."""
    if node.target is getattr:
        _, name = node.args
        if not isinstance(name, str) or name.startswith("_") or not hasattr(Tensor, name):
            raise _unfit(name, "the name of a tensor's attribute")
    elif node.target in (cond_op, while_loop_op):
        for function in node.args[1:3] if node.target is cond_op else node.args[:2]:
            if node.kwargs or not isinstance(function, Node) or function.op != "get_attr":
                raise _unfit(function, "a graph, where one is called")


class _Propagation(Interpreter):
    """Runs a graph on fakes, and notes what each node gives."""

    def run_node(self, node: Node) -> Any:
        result = super().run_node(node)
        node.meta["val"] = result
        return result

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return specializing(target, args, kwargs)


def _propagate(graph: Graph, looks: list[Any], hints: dict[Symbol, int], ranges: dict[Symbol, Range]) -> None:
    """What the nodes look like, unless data decide it."""
    env = ShapeEnv()
    env.hints.update(hints)
    env.ranges.update({symbol: ranges[symbol].within(Range()) for symbol in hints})
    inputs = [_read_look(look, env) for look in looks]
    for node, value in zip(graph.find_nodes(op="placeholder"), inputs, strict=True):
        node.meta["val"] = value
    if not any("runs_plainly" in node.meta for node in graph.nodes):
        with FakeMode().active():
            _Propagation(GraphModule({}, graph)).run(*inputs)


# --- values -----------------------------------------------------------------------------------------------------------


def _looks(graph: Graph) -> tuple[list[Any], list[Any]]:
    """What each placeholder is like, and the sizes of the example."""
    rows, hints = [], dict[Symbol, int]()
    for node in graph.find_nodes(op="placeholder"):
        x = node.meta["val"]
        if not isinstance(x, Tensor):
            rows.append(["value", _plain(x)])
            continue
        for size in (*x.sizes, *x.strides):
            if isinstance(size, SymInt):
                hints.update({symbol: size.env.hints[symbol] for symbol in _known(size).symbols})
        sizes, strides = ([_size(_known(size)) for size in part] for part in (x.sizes, x.strides))
        row: list[Any] = ["tensor", sizes, strides, x.dtype, x.requires_grad]
        rows.append(row)
    return rows, [[_atom(symbol), hint] for symbol, hint in hints.items()]


def _known(size: Any) -> Any:
    return size.env.simplify(size.expression) if isinstance(size, SymInt) else size


def _read_look(look: list[Any], env: ShapeEnv) -> Any:
    if look[0] == "value":
        return _filled(look[1], {})
    _, sizes, strides, element, requires_grad = look
    read = [[_as_number(_read_size(size), env) for size in part] for part in (sizes, strides)]
    fake = empty_fake(read[0], read[1], dtype=element)
    fake.requires_grad = requires_grad
    return fake


def _as_number(size: Any, env: ShapeEnv) -> Any:
    return SymInt(size, env) if isinstance(size, Expression) and size.constant is None else int(str(size))


def _size(size: Any) -> Any:
    """A number, or an expression as nested lists."""
    if not isinstance(size, Expression):
        return size
    return [[[[_atom(atom), power] for atom, power in monomial], coefficient] for monomial, coefficient in size.terms]


def _atom(atom: Any) -> list[Any]:
    if isinstance(atom, Symbol):
        return ["symbol", atom.name, atom.is_size]
    return ["max" if isinstance(atom, Maximum) else "//", *map(_size, parts_of(atom))]


def _read_size(size: Any) -> Any:
    if not isinstance(size, list):
        return _whole(size)
    return Expression(
        tuple((tuple((_read_atom(a), _whole(p)) for a, p in monomial), _whole(number)) for monomial, number in size)
    )


def _read_atom(kept: list[Any]) -> Any:
    kind, *parts = kept
    if kind == "symbol":
        return Symbol(_identifier(parts[0]), bool(parts[1]))
    return (Maximum if kind == "max" else FloorDivision)(*map(_read_size, parts))


def _identifier(text: Any) -> str:
    if not isinstance(text, str) or not text.isidentifier() or keyword.iskeyword(text):
        raise _unfit(text, "a name of Python's")
    return text


def _whole(number: Any) -> int:
    if not isinstance(number, int):
        raise _unfit(number, "a whole number")
    return number


def _bound(number: Any) -> int | float:
    return number if number in (math.inf, -math.inf) else _whole(number)


def _sign(sign: Any) -> str:
    if sign not in ("==", "!=", "<="):
        raise _unfit(sign, "a sign of a comparison")
    return str(sign)


def _unfit(found: Any, expected: str) -> RuntimeError:
    return RuntimeError(
        f"torch.export.load: the file has {found!r} where there must be {expected}; save the program anew"
    )


def _argument(argument: Any) -> list[Any]:
    value = _plain(argument.value) if isinstance(argument, ConstantArgument) else None
    return [type(argument).__name__, argument.name, value]


def _read_argument(kept: list[Any]) -> Any:
    kind, name, value = kept
    return ConstantArgument(name, _filled(value, {})) if kind == "ConstantArgument" else ARGUMENTS[kind](name)


def _plain(value: Any) -> list[Any]:
    """A value as data: what it is, and its parts."""
    if isinstance(value, Node):
        return ["node", value.name]
    if isinstance(value, PLAIN):
        return ["value", value]
    if isinstance(value, (memory_format, layout, device)):
        return [type(value).__name__, str(value).removeprefix("torch.")]
    if isinstance(value, slice):
        return ["slice", [_plain(part) for part in (value.start, value.stop, value.step)]]
    if value is Ellipsis:
        return ["ellipsis", None]
    if isinstance(value, dict):
        return ["dict", {name: _plain(item) for name, item in value.items()}]
    if isinstance(value, (list, tuple)):
        return ["list" if isinstance(value, list) else "tuple", [_plain(item) for item in value]]
    raise RuntimeError(f"torch.export.save: an argument of the type {type(value).__name__} can't be kept in a file")


def _filled(kept: Any, known: dict[str, Node]) -> Any:
    """The value that `_plain` took apart."""
    kind, content = kept
    if kind == "node":
        return known[content]
    if kind in ("list", "tuple", "slice"):
        items = [_filled(item, known) for item in content]
        return items if kind == "list" else tuple(items) if kind == "tuple" else slice(*items)
    if kind == "dict":
        return {name: _filled(item, known) for name, item in content.items()}
    if kind in ("memory_format", "layout"):
        return FORMATS[content]
    if kind == "device":
        return device(content)
    return Ellipsis if kind == "ellipsis" else content
