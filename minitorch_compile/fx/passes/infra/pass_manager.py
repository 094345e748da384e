"""Passes in an order that keeps their constraints, run until nothing changes.

>>> from minitorch_compile.fx import symbolic_trace
>>> @pass_result_wrapper
... def double_to_quadruple(module):
...     for node in module.graph.find_nodes(op="call_function"):
...         node.args = (node.args[0], 4)
>>> manager = PassManager(passes=[double_to_quadruple])
>>> manager(symbolic_trace(lambda x: x * 2)).graph_module(10)
40
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.passes.infra.pass_base import PassResult
from minitorch_compile.nn.module import Module

Pass = Callable[..., Any]
Constraint = Callable[[Pass, Pass], bool]


def pass_result_wrapper(fn: Pass) -> Pass:
    """A function that changes a graph module, or returns another one, as a pass that says it was modified."""

    @functools.wraps(fn, updated=())
    def wrapped(gm: Any) -> PassResult | None:
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        if isinstance(result, PassResult):
            return result
        return PassResult(result, True) if isinstance(result, Module) else None

    if not inspect.isfunction(fn):
        wrapped.__name__ = type(fn).__name__
    return wrapped


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """The constraint that one pass comes before another."""
    return lambda a, b: a != that or b != this


def _validate_pass_schedule_constraint(constraint: Constraint, passes: list[Pass]) -> None:
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1 :], i + 1):
            if not constraint(a, b):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index {i} and {b} at"
                    f" index {j} in pass list."
                )


def _topological_sort_passes(passes: list[Pass], constraints: list[Constraint]) -> list[Pass]:
    """The passes in an order that keeps the constraints, and otherwise as they are."""
    left, ordered = list(passes), []
    while left:
        for each in left:
            if all(keeps(each, other) for keeps in constraints for other in left if other is not each):
                break
        else:
            raise RuntimeError(f"Circular dependency detected within the following passes: {left}")
        left.remove(each)
        ordered.append(each)
    return ordered


class PassManager:
    """Runs `passes`, at most `steps` times all of them, and checks the module after each if wanted."""

    def __init__(
        self,
        passes: list[Pass] | None = None,
        constraints: list[Constraint] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes, self.constraints = passes or [], constraints or []
        self.steps = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self.check: Callable[[Any], Any] = lambda module: None
        self._validated = False

    def add_pass(self, _pass: Pass) -> None:
        """One pass more, at the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """`constraint(a, b)`: whether a may come before b."""
        self.constraints.append(constraint)
        self._validated = False

    def add_checks(self, check: Callable[[Any], Any]) -> None:
        """`check(module)` raises if something is wrong with a module."""
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check

    def validate_constraints(self) -> None:
        """RuntimeError unless the passes, in their order, keep the constraints."""
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def solve_constraints(self) -> None:
        """Brings the passes into an order that keeps the constraints."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def __call__(self, module: Any) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        ever = False
        for _ in range(self.steps):
            modified = False
            for i, each in enumerate(self.passes):
                module, changed = self._run(each, module, self.passes[:i])
                modified = modified or changed
            ever = ever or modified
            if not modified:
                break
        return PassResult(module, ever)

    def _run(self, each: Pass, module: Any, before: list[Pass]) -> tuple[Any, bool]:
        try:
            result = each(module)
            if not isinstance(result, PassResult) and not hasattr(result, "graph_module"):
                raise TypeError(
                    f"The result of the pass {_name(each)} should be type PassResult."
                    "Please wrap it with pass_result_wrapper()"
                )
            if isinstance(result.graph_module, GraphModule):
                result.graph_module.recompile()
            if self.run_checks_after_each_pass:
                self.check(result.graph_module)
        except Exception as error:
            names = [_name(other) for other in before]
            raise Exception(
                f"An error occurred when running the '{_name(each)}' pass after the following passes: {names}"
            ) from error
        return result.graph_module, result.modified


def _name(each: Pass) -> str:
    return each.__name__ if inspect.isfunction(each) else type(each).__name__


__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]
