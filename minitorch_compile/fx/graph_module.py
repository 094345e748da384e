"""A graph that can be called: its generated code, compiled, in a module with the parameters and modules it refers to.

>>> import operator
>>> from minitorch_compile import nn
>>> from minitorch_compile.fx import Graph, GraphModule
>>> graph = Graph()
>>> x, two = graph.placeholder("x"), graph.get_attr("two")
>>> product = graph.call_function(operator.mul, (x, two))
>>> _ = graph.output(product)
>>> double = GraphModule({"two": 2}, graph)
>>> double(21), isinstance(double, nn.Module)
(42, True)
>>> print(double.code.strip())
def forward(self, x):
    two = self.two
    mul = x * two;  x = two = None
    return mul

After changing the graph, call `recompile()`:

>>> product.target = operator.add
>>> _ = double.recompile()
>>> double(21)
23
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from minitorch_compile.fx.attribute_copies import _CodeOnlyModule, _copy_attr
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.printer import format_node, stack_text
from minitorch_compile.generated_source import function_from_source
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.fx.code_generator import PythonCode
    from minitorch_compile.fx.graph_view import GraphView

__all__ = ["GraphModule", "_CodeOnlyModule", "_copy_attr", "failure_note", "reduce_graph_module"]

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"  # PyTorch's place in `meta` for what copies keep
REFERRING = ("get_attr", "call_module")  # the nodes that refer to attributes of their module


class Attributes(MutableMapping[str, Any]):
    """What nodes refer to, by dotted name: a view of a module, whose keys are the names it was made with."""

    def __init__(self, module: Module, names: dict[str, None]) -> None:
        self.module, self.names = module, names

    def __getitem__(self, name: str) -> Any:
        value: Any = self.module
        for part in name.split("."):
            if not hasattr(value, part):
                raise KeyError(name)
            value = getattr(value, part)
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        self.names[name] = None
        path, _, last = name.rpartition(".")
        owner: Any = self.module
        for part in path.split(".") if path else ():
            if getattr(owner, part, None) is None:
                setattr(owner, part, Module())
            owner = getattr(owner, part)
        if isinstance(value, TensorBase) and not isinstance(value, Parameter):
            vars(owner).pop(last, None)
            owner._buffers.pop(last, None)
            owner.register_buffer(last, value)
        else:
            setattr(owner, last, value)

    def __delitem__(self, name: str) -> None:
        path, _, last = name.rpartition(".")
        self.names.pop(name, None)
        delattr(self[path] if path else self.module, last)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.names if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        try:
            self[str(name)]
        except KeyError:
            return False
        return True


class GraphModule(Module):
    """A module made from a graph, called `args` or `kwargs` as in GraphModule(root, graph, class_name): `root`, a
    module or a dict by dotted names, has what get_attr and call_module nodes refer to, and these are taken over.

    >>> traced = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    >>> again = torch.fx.GraphModule(traced, traced.graph)
    >>> again(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    _code_file: Any = None

    class_name: str
    meta: dict[str, Any]
    _attribute_names: dict[str, None]
    _line_map: dict[int, Node]

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        """What a graph needs, here already: subclasses leave `__init__` out to take over attributes themselves."""
        module = super().__new__(cls)
        vars(module).update(class_name=cls.__name__, meta={}, _attribute_names={}, _line_map={})
        return module

    def __init__(self, root: Module | Mapping[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        self.class_name = class_name
        if isinstance(root, Module):
            self.training = root.training
        self._take_over(root, graph)
        self.graph = graph

    @property
    def attributes(self) -> Attributes:
        """What the nodes refer to, by name."""
        return Attributes(self, self._attribute_names)

    def _take_over(self, root: Module | Mapping[str, Any], graph: Graph) -> None:
        wanted = {str(node.target): node for node in graph.nodes if node.op in REFERRING}
        found = Attributes(root, {}) if isinstance(root, Module) else root
        for target in sorted(wanted, key=lambda target: target.count(".")):  # a module before what is in it
            if target not in found:
                raise RuntimeError(
                    f"GraphModule: node '{wanted[target].name}' refers to the attribute {target!r}, which"
                    f" {_description(root)}."
                )
            if "." not in target or target not in self.attributes:  # it may have come with the module that it is in
                self.attributes[target] = found[target]
            self._attribute_names[target] = None

    # ------------------------------------------------------------------------------------------ the graph

    @property
    def graph(self) -> Graph:
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        for node in g.nodes:
            if node.op in REFERRING and node.target not in self.attributes:
                raise RuntimeError(
                    f"GraphModule: node '{node.name}' refers to the attribute {node.target!r}, which the module lacks."
                )
        object.__setattr__(self, "_graph", g)
        g.owning_module = self
        self.recompile()

    def recompile(self) -> Any:
        """Generate and compile the code again, and return it. Needed after each change of the graph."""
        generated = self._graph.python_code("self")
        info = getattr(self._graph._codegen, "pytree_info", None)
        if info is not None:
            self._in_spec, self._out_spec = info.in_spec, info.out_spec
        self._compile(generated, getattr(self._graph._codegen, "_func_name", "forward"))
        return generated

    def _compile(self, generated: PythonCode, name: str = "forward") -> None:
        function: Callable[..., Any] = function_from_source(generated.src, name, generated.globals)
        made = {"code": generated.src, "_line_map": generated.line_map, "_function": function}
        vars(self).update(made, forward=types.MethodType(function, self))

    @property
    def _code(self) -> str:
        return self.code  # PyTorch's name

    # ------------------------------------------------------------------------------------------ calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except Exception as error:
            self._add_note(error)
            raise

    def _add_note(self, error: Exception) -> None:
        """Name the node that failed and the user's line it came from."""
        traceback = error.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code is self._function.__code__:
                node = self._line_map.get(traceback.tb_lineno)
                if node is not None:
                    error.add_note(failure_note(node))
                return
            traceback = traceback.tb_next

    # ------------------------------------------------------------------------------------------ modules

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module under a dotted name; modules on the way are made. False if something else is in the way."""
        owner: Any = self
        *path, last = target.split(".")
        for name in path:
            if not hasattr(owner, name):
                owner.add_module(name, Module())
            owner = getattr(owner, name)
            if not isinstance(owner, Module):
                return False
        owner.add_module(last, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module of a dotted name. False if there is none."""
        owner: Any = self
        *path, last = target.split(".")
        for name in path:
            owner = getattr(owner, name, None)
            if not isinstance(owner, Module):
                return False
        if not isinstance(getattr(owner, last, None), Module):
            return False
        delattr(owner, last)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the modules that no node refers to, neither to themselves nor to something in them."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in REFERRING:
                parts = str(node.target).split(".")
                used.update(".".join(parts[: i + 1]) for i in range(len(parts)))
                if node.op == "call_module" and node.target in self.attributes:
                    used.update(
                        f"{node.target}.{name}" for name, _ in self.attributes[str(node.target)].named_modules()
                    )
        for name in [name for name, _ in self.named_modules()]:
            if name and name not in used:
                self.delete_submodule(name)

    # ------------------------------------------------------------------------------------------ hooks of nodes

    def _hooks_of(self, kind: str) -> list[Callable[..., Any]]:
        return vars(self).setdefault(kind, [])

    def _register_create_node_hook(self, f: Callable[[Node], Any]) -> None:
        """`f(node)` is called for each node that is made in the graph."""
        self._hooks_of("_create_node_hooks").append(f)

    def _unregister_create_node_hook(self, f: Callable[[Node], Any]) -> None:
        self._hooks_of("_create_node_hooks").remove(f)

    def _register_erase_node_hook(self, f: Callable[[Node], Any]) -> None:
        """`f(node)` is called before a node is erased."""
        self._hooks_of("_erase_node_hooks").append(f)

    def _unregister_erase_node_hook(self, f: Callable[[Node], Any]) -> None:
        self._hooks_of("_erase_node_hooks").remove(f)

    def _register_replace_node_hook(self, f: Callable[..., Any]) -> None:
        """`f(old=node, new=name, user=node)` is called when a user gets another node to read."""
        self._hooks_of("_replace_hooks").append(f)

    def _unregister_replace_node_hook(self, f: Callable[..., Any]) -> None:
        self._hooks_of("_replace_hooks").remove(f)

    def _node_created(self, node: Node) -> None:
        for hook in vars(self).get("_create_node_hooks", ()):
            hook(node)

    def _node_erased(self, node: Node) -> None:
        for hook in vars(self).get("_erase_node_hooks", ()):
            hook(node)

    # ------------------------------------------------------------------------------------------ looking

    def _get_name(self) -> str:
        return self.class_name

    def __str__(self) -> str:
        reminder = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__repr__(), self.code, reminder])

    def print_readable(
        self, print_output: bool = True, include_stride: bool = False, include_device: bool = False, **_: Any
    ) -> str:
        """The code in a class, with the user's lines and what is known about the values; printed unless told
        otherwise. Graph modules in this one follow."""
        code = self.graph.python_code("self", verbose=True, include_stride=include_stride)
        name = self._get_name()
        text = _indented(f"class {name}(torch.nn.Module):\n" + code.src.lstrip("\n"))
        inner = [each for each in self.children() if isinstance(each, GraphModule)]
        text += _indented("\n".join(["", *(each.print_readable(print_output=False) for each in inner)]))
        if print_output:
            print(text)
        return text

    def draw(self, **options: Any) -> GraphView:
        """A drawing of the graph; see `Graph.draw`."""
        return self._graph.draw(**options)

    # ------------------------------------------------------------------------------------------ copies, files

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        """A module with its own graph, parameters and modules."""
        values = copy.deepcopy({name: self.attributes[name] for name in self._all_names()}, memo)
        duplicate = self._remade(values, copy.deepcopy(self._graph, memo))
        memo[id(self)] = duplicate
        return duplicate

    def __copy__(self) -> GraphModule:
        return self._remade({name: self.attributes[name] for name in self._all_names()}, self._graph)

    def _all_names(self) -> list[str]:
        """What nodes refer to, and what else is registered."""
        others = [*dict(self.named_children()), *self._parameters, *self._buffers]
        return list(dict.fromkeys([*others, *self.attributes]))

    def _remade(self, values: dict[str, Any], graph: Graph) -> GraphModule:
        duplicate: GraphModule = type(self).__new__(type(self))
        Module.__init__(duplicate)
        duplicate.class_name, duplicate.training = self.class_name, self.training
        duplicate.meta = dict(self.meta)
        own = ("_graph", "forward", "_function", "code", "_module_hooks")
        for name, value in vars(self).items():
            if name not in own and name not in vars(duplicate) and name not in values:
                object.__setattr__(duplicate, name, value)
        for name in sorted(values, key=lambda name: name.count(".")):
            if name not in duplicate.attributes:
                duplicate.attributes[name] = values[name]
        duplicate._attribute_names = dict(self._attribute_names)
        duplicate.graph = graph
        return duplicate

    def _replicate_for_data_parallel(self) -> GraphModule:
        """A copy for another device's replica."""
        replica = copy.copy(self)
        object.__setattr__(replica, "_is_replica", True)
        return replica

    def __reduce__(self) -> Any:
        from minitorch_compile.fx.graph_module_files import pickled

        return pickled(self)

    def to_folder(self, folder: Any, module_name: str = "FxModule") -> None:
        """Write the module as a Python package with a class `module_name` that can be imported and edited."""
        from minitorch_compile.fx.graph_module_files import write_folder

        write_folder(self, folder, module_name)


def _description(root: Module | Mapping[str, Any]) -> str:
    if isinstance(root, Module):
        return f"the root, a {type(root).__name__}, lacks"
    return f"attributes lacks; it has {sorted(root)}"


def _indented(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *("    " + line if line.strip() else "" for line in rest)])


def failure_note(node: Node) -> str:
    """What to add to an exception that a node raised."""
    place = stack_text(node)
    return f"While executing {format_node(node)}" + (f"\nfrom {place}" if place else "")


def reduce_graph_module(body: dict[str, Any], import_block: str) -> GraphModule:
    """A pickled graph module again."""
    from minitorch_compile.fx.graph_module_files import unpickled

    return unpickled(body, import_block)
