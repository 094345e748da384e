"""When compiled code is wrong: find the graph that is, and shrink it to a few lines to paste.

A backend that confuses sin and cos stands for a mistake in the compiler here:

>>> import minitorch_compile as torch
>>> from minitorch_compile.fx import Graph
>>> def wrong(module, example_inputs):
...     for node in module.graph.find_nodes(op="call_function", target=torch.sin):
...         node.target = torch.cos
...     module.recompile()
...     return module
>>> def model(x):
...     return (torch.exp(torch.sin(x * 2)) + 1).sum()
>>> found = minify(model, torch.ones(3), backend=wrong)
>>> print(found.module.graph.compact())
mul -> (sin(mul),)
>>> print(found.failure.splitlines()[0])
result 0 differs: Tensor-likes are not close!

`print(found)` is a script that shows the failure by itself. PyTorch's counterpart is TORCHDYNAMO_REPRO_AFTER and
torch/_dynamo/repro.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from minitorch_compile import autograd
from minitorch_compile.compiler.backends import Backend, lookup_backend
from minitorch_compile.compiler.reproduction import script
from minitorch_compile.dynamo.cache.region import Region
from minitorch_compile.dynamo.eval_frame import optimize_in
from minitorch_compile.fx import GraphModule
from minitorch_compile.fx.minifier import Case
from minitorch_compile.fx.minifier import minify as shrink
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch.transform_stack import leaving_transforms
from minitorch_compile.tensor.random.generator import default_generator
from minitorch_compile.tensor.tensor_base import fake_like
from minitorch_compile.testing import assert_close


@dataclass
class Minified:
    """The smallest failing graph that was found. `str()` of it is a script to paste."""

    module: GraphModule
    inputs: list[Tensor]
    failure: str
    backend: str

    def __str__(self) -> str:
        return script(self.module, self.inputs, self.backend, self.failure)


def minify(
    function: Callable[..., Any],
    *args: Any,
    backend: str | Backend = "inductor",
    rtol: float = 1e-3,
    atol: float = 1e-4,
    most_trials: int = 200,
    **kwargs: Any,
) -> Minified:
    """The part of `function(*args, **kwargs)` that `backend` compiles wrongly, as small as it can be made.

    Wrong is: compiling or running it raises what the plain graph does not, or its results or gradients differ from the
    plain graph's by more than `atol + rtol * |expected|`. The function is called once, with its graphs run plainly.

    ValueError if every captured graph agrees with its plain run.
    """
    comparison = BackendComparison(lookup_backend(backend), rtol, atol)
    cases = captured_cases(function, args, kwargs)
    state = default_generator.get_state()
    try:
        for case in cases:
            failure = comparison.failure(case)
            if failure is not None:
                small = _shrunk(case, failure, comparison, most_trials)
                return Minified(small.module, small.inputs, comparison.failure(small) or failure, _name(backend))
    finally:
        default_generator.set_state(state)
    raise ValueError(
        f"minify: each of the {len(cases)} captured graphs gives the same by itself with the backend and plainly. "
        "Pass the arguments with which the whole function goes wrong, or smaller rtol and atol."
    )


def _shrunk(case: Case, failure: str, comparison: BackendComparison, most_trials: int) -> Case:
    kind = failure.partition(":")[0]
    return shrink(case, lambda smaller: comparison.fails_alike(smaller, kind), copy_tensor, most_trials)


def _name(backend: str | Backend) -> str:
    return backend if isinstance(backend, str) else getattr(backend, "__name__", type(backend).__name__)


def captured_cases(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Case]:
    """The graphs of one call of the function, each with the tensors it was called with."""
    cases: list[Case] = []

    def recording(module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        def call(*inputs: Any) -> Any:
            cases.append(Case(module, [copy_tensor(x) for x in inputs]))
            return module(*inputs)

        return call

    optimize_in(Region(recording), getattr(function, "_orig_mod", function))(*args, **kwargs)
    return cases


def copy_tensor(value: Any) -> Any:
    """A leaf with the same numbers, strides and requires_grad; anything else as it is."""
    if not isinstance(value, Tensor) or value.is_confined:
        return value
    copy = value.detach().clone()
    return copy.requires_grad_() if value.requires_grad else copy


class BackendComparison:
    """Compares a graph run by a backend with the same graph run plainly."""

    def __init__(self, backend: Backend, rtol: float, atol: float) -> None:
        self.backend = backend
        self.rtol = rtol
        self.atol = atol

    def fails_alike(self, case: Case, kind: str) -> bool:
        """Whether the case fails in the way `kind`: "result 0 differs", "raises TypeError"."""
        failure = self.failure(case)
        return failure is not None and _family(failure.partition(":")[0]) == _family(kind)

    def failure(self, case: Case) -> str | None:
        """What goes wrong, None if nothing does. A graph that raises when it is run plainly proves nothing, nor does
        half a function transform."""
        if any(isinstance(x, Tensor) and x.is_confined for x in case.inputs):
            return None
        try:
            expected = run(case.module, case.inputs)
        except Exception:  # noqa: BLE001  whatever it is: cutting the graph has made nonsense of it
            return None
        try:
            with leaving_transforms():  # which a part of a graph may enter and not leave
                compiled = self.backend(copy.deepcopy(case.module), [fake_like(x) for x in case.inputs])
            actual = run(compiled, case.inputs)
        except Exception as error:  # noqa: BLE001  the failure that is looked for may be of any class
            return f"raises {type(error).__name__}: {error}"
        return self._difference(actual, expected)

    def _difference(self, actual: list[Tensor], expected: list[Tensor]) -> str | None:
        if len(actual) != len(expected):
            return f"another number of results: {len(actual)} instead of {len(expected)}"
        for number, (x, y) in enumerate(zip(actual, expected)):
            try:
                assert_close(x, y, rtol=self.rtol, atol=self.atol, equal_nan=True)
            except AssertionError as error:
                return f"result {number} differs: {error}"
        return None


def _family(kind: str) -> str:
    """Which of the results differs may change while the graph shrinks."""
    return "differs" if kind.endswith("differs") else kind


def run(compiled: Callable[..., Any], inputs: list[Tensor]) -> list[Tensor]:
    """Results, gradients of their sum, and the arguments afterwards; the random stream starts at the same place."""
    state = default_generator.get_state()
    try:
        arguments = [copy_tensor(x) for x in inputs]
        leaves = [x for x in arguments if x.requires_grad]
        with leaving_transforms():
            outputs = [x for x in tree_leaves(compiled(*arguments)) if isinstance(x, Tensor)]
        if any(x.is_confined for x in outputs):
            raise RuntimeError("the graph ends within a function transform")
        sources = [x for x in outputs if x.requires_grad]
        gradients = (
            autograd.grad([x.sum() for x in sources], leaves, allow_unused=True, materialize_grads=True)
            if sources and leaves
            else ()
        )
        return [x.detach() for x in (*outputs, *gradients, *arguments)]
    finally:
        default_generator.set_state(state)
