"""A graph module whose code is generated when it is first needed, and written for readers (`codegen.py`).

One compilation makes about ten graphs, each a little different from the one before, and runs two of them. Generating
Python for all of them would take half of the time (PyTorch has a class of the same name for the same reason).

>>> from minitorch_compile.fx import symbolic_trace
>>> module = LazyGraphModule({}, symbolic_trace(lambda x: x + 1).graph)
>>> "code" in vars(module), module(1), "code" in vars(module)
(False, 2, True)
"""

from __future__ import annotations

import copy
from typing import Any

from minitorch_compile import own_builtins
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule

GENERATED = ("code", "forward", "_function", "_line_map")  # what GraphModule.recompile sets


class LazyGraphModule(GraphModule):
    """As GraphModule; but a change of the graph before the first call counts without `recompile()`.

    Like any Python function its code keeps variables until it returns; an `Interpreter` drops a value after its last
    use.
    """

    @classmethod
    def captured(cls, graph: Graph, name: str) -> LazyGraphModule:
        """With the graphs that it refers to, such as the branches of a cond: the `val` of nodes that get them."""
        attributes = {str(node.target): node.meta["val"] for node in graph.find_nodes(op="get_attr")}
        return cls(attributes, graph, class_name=name)

    def recompile(self) -> None:
        """Forgets the code."""
        for name in GENERATED:
            vars(self).pop(name, None)

    def __getattr__(self, name: str) -> Any:
        if name in GENERATED:
            self._generate()
            return vars(self)[name]
        return super().__getattr__(name)

    @property
    def forward(self) -> Any:  # not left to __getattr__: a Module has one
        if "forward" not in vars(self):
            self._generate()
        return vars(self)["forward"]

    @forward.setter
    def forward(self, function: Any) -> None:
        vars(self)["forward"] = function

    def _generate(self) -> None:
        from minitorch_compile.fx.codegen import python_code

        with own_builtins.restored():  # the first call may come while the program has functions of its own there
            self._compile(python_code(self._graph))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._module_hooks is not None:
            return super().__call__(*args, **kwargs)
        try:
            return self.forward(*args, **kwargs)
        except Exception as error:
            self._add_note(error)
            raise

    def print_readable(self, print_output: bool = True, *args: Any, **kwargs: Any) -> str:
        """The code with the name of the module above it; printed unless told otherwise."""
        body = "".join(f"    {line}\n" if line else "\n" for line in self.code.splitlines())
        text = f"class {self.class_name}:\n{body}"
        if print_output:
            print(text)
        return text

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        """A module with its own graph; constants are shared."""
        duplicate = type(self)(self.attributes, copy.deepcopy(self._graph, memo), self.class_name)
        duplicate.meta = dict(self.meta)
        return duplicate

    def __repr__(self) -> str:
        return f"{self.class_name}({self._graph.compact()})"

    __str__ = __repr__
