"""Tensor operations: a call of an Op is one node of the graph.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones, ops
>>> print(captured(lambda x: ops.softmax(x, dim=0), ones(2)))
x -> (softmax(x, dim=0),)

An activation that is asked to work in place writes: its body is traced, so that the graph shows what it writes.

>>> from minitorch_compile.nn import functional as F
>>> print(captured(lambda x: F.relu(x + 1, inplace=True), ones(2)))
x -> add = x + 1; relu_ = add.relu_(); (add,)
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards.source import AttrSource, Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.functions.functions import UserFunctionVariable
from minitorch_compile.dynamo.variables.rebuilding import Held, Template
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.tensor import Op, ops

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class OperationVariable(VariableTracker):
    """An Op of the table: `torch.sin`, `F.relu`."""

    def __init__(self, op: Op, source: Source) -> None:
        super().__init__(source)
        self.op = op

    def describe(self) -> str:
        return f"the operation {self.op.name}"

    def python_type(self) -> type:
        return type(self.op)

    def real_value(self) -> Any:
        return self.op

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("value", self.op)

    def truth(self, tracer: Tracer) -> bool:
        return True

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name in ("name", "__name__", "kind", "__doc__", "__module__"):
            return tracer.output.from_python(getattr(self.op, name))
        if name == "__qualname__":
            return tracer.output.from_python(tracer.compute(getattr, self.op, name))
        return super().getattr(tracer, name)

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        wants_grad = kwargs.get("requires_grad")
        if wants_grad is not None and tracer.truth(wants_grad):
            raise Unsupported(
                "autograd-call", f"{self.op.name}(requires_grad=True) makes a leaf, which a graph can't give."
            )
        if "out" in kwargs and not tracer.is_none(kwargs["out"]):
            error = Unsupported("unsupported-call", f"{self.op.name}(out=...) is not followed.")
            raise tracer.at_users_line(error)  # it warns of a tensor that it resizes
        if self.op is ops.full:
            args, kwargs = _with_number(tracer, args, kwargs)
        if self.works_in_place(tracer, args, kwargs):
            return self.body().call(tracer, args, kwargs)
        return tracer.output.call("call_function", self.op, args, kwargs)

    def works_in_place(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> bool:
        """Whether this is a call such as F.relu(x, inplace=True)."""
        if "inplace" not in self.op.parameters:
            return False
        position = self.op.parameters.index("inplace")
        asked = args[position] if position < len(args) else kwargs.get("inplace")
        return asked is not None and tracer.truth(asked)

    def body(self) -> UserFunctionVariable:
        """The function of nn.functional that the operation was declared with."""
        assert self.source is not None
        return UserFunctionVariable(self.op.kernel, AttrSource(self.source, "kernel"))  # type: ignore[arg-type]

    def reconstruct(self, output: Output) -> Template:
        return Template(Held(self.op, self.op.name))


def _with_number(tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of full(size, tensor) with the number in the tensor, if the graph has such numbers.

    PyTorch says the same in `torch/_dynamo/variables/torch.py`.
    """
    given = args[1] if len(args) > 1 else kwargs.get("fill_value")
    fill = given.realize() if given is not None else None
    number = tracer.output.item_of(fill) if isinstance(fill, TensorVariable) else None
    if number is None:
        return args, kwargs
    if len(args) > 1:
        return [args[0], number, *args[2:]], kwargs
    return args, {**kwargs, "fill_value": number}
