"""Graph modules as Graphviz graphs, by way of pydot if it is there.

>>> from minitorch_compile.fx import symbolic_trace
>>> drawer = FxGraphDrawer(symbolic_trace(lambda x: x + 1), "double")
>>> "add" in drawer.get_dot_text()
True
"""

from __future__ import annotations

import importlib
from typing import Any

from minitorch_compile.fx.graph_module import GraphModule


class FxGraphDrawer:
    """A drawing of `graph_module` and of the graph modules in it. The other settings of PyTorch's are taken and not
    used: `GraphModule.draw` says what is shown."""

    def __init__(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False,
        skip_node_names_in_args: bool = True,
        parse_stack_trace: bool = False,
        dot_graph_shape: str | None = None,
        normalize_args: bool = False,
    ) -> None:
        self._name, self._module = name, graph_module

    def get_dot_text(self) -> str:
        """The drawing in the language of Graphviz."""
        return self._module.draw().dot

    def get_dot_graph(self, submod_name: str | None = None) -> Any:
        """The drawing as a pydot graph. ImportError without pydot."""
        module = self._module if submod_name is None else self._module.get_submodule(submod_name)
        return _pydot_graph(module)

    def get_main_dot_graph(self) -> Any:
        """That of the whole."""
        return self.get_dot_graph()

    def get_submod_dot_graph(self, submod_name: str) -> Any:
        """That of a graph module in it."""
        return self.get_dot_graph(submod_name)

    def get_all_dot_graphs(self) -> dict[str, Any]:
        """All of them, by name."""
        inner = {f"{self._name}_{name}": _pydot_graph(m) for name, m in self._module.named_children() if _is_one(m)}
        return {self._name: self.get_main_dot_graph(), **inner}


def _is_one(module: Any) -> bool:
    return isinstance(module, GraphModule)


def _pydot_graph(module: Any) -> Any:
    try:
        pydot = importlib.import_module("pydot")
    except ImportError as error:
        raise RuntimeError(
            "FXGraphDrawer requires the pydot package to be installed. Please install pydot through your favorite"
            " Python package manager."
        ) from error
    return pydot.graph_from_dot_data(module.draw().dot)[0]


__all__ = ["FxGraphDrawer"]
