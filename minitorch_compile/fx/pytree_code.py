"""Code of a function whose arguments are containers: it takes them apart, runs the graph, and puts the result together.

A graph knows only tensors and numbers. `symbolic_trace(f, concrete_args={"x": {"a": PH, "b": PH}})` makes a graph with
two placeholders, and this code around it:

>>> from minitorch_compile.fx import PH, symbolic_trace
>>> module = symbolic_trace(lambda x: {"sum": x["a"] + x["b"]}, concrete_args={"x": {"a": PH, "b": PH}})
>>> print(module.code.strip())
def forward(self, x):
    x_1, x_2, = fx_pytree.tree_flatten_spec([x], self._in_spec)
    add = x_1 + x_2;  x_1 = x_2 = None
    return pytree.tree_unflatten([add], self._out_spec)
>>> module({"a": 1, "b": 2})
{'sum': 3}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from minitorch_compile import pytree
from minitorch_compile.fx.code_generator import CodeGen


class _PyTreeInfo(NamedTuple):
    """The function's parameters, and how its arguments and its result are nested."""

    orig_args: list[str]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec | None


class _PyTreeCodeGen(CodeGen):
    """Writes the taking apart and the putting together."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        return pytree.tree_leaves(inputs)

    def process_outputs(self, out: Any) -> Any:
        if self.pytree_info.out_spec is None:
            return out
        return pytree.tree_unflatten(out if isinstance(out, (list, tuple)) else [out], self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        parameters = self.pytree_info.orig_args
        if parameters[:1] == ["self"]:
            free_vars.insert(0, "self")
        text = super().gen_fn_def(parameters[:], maybe_return_annotation)
        if not free_vars:
            return text
        annotated = [each for each in free_vars if ":" in each]
        text += "\n    " + "".join(f"{each}; " for each in annotated) + "\n" if annotated else ""
        names = ", ".join(each.split(":")[0].split("=")[0].strip() for each in free_vars)
        given = ", ".join(parameters)
        return f"{text}\n    {names}, = fx_pytree.tree_flatten_spec([{given}], self._in_spec)"

    def generate_output(self, output_args: Any, *, repr_fn: Callable[[Any], str] = repr) -> str:
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args, repr_fn=repr_fn)
        return f"return pytree.tree_unflatten({repr_fn(output_args)}, self._out_spec)"
