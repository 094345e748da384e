"""torch.jit.trace: what a program did with its example inputs, as a module that does the same again.

The program runs once, on the inputs as they are, and each operation is written down. What Python decided on the way is
decided for good: branches, loops, numbers. Where a tensor became a number, a warning says so; where the program has
read sizes, the module refuses inputs of others.

>>> from minitorch_compile import ones
>>> traced = trace(lambda x, y: x * y + 1, (ones(2), ones(2)))
>>> traced(ones(3), ones(3))
tensor([2., 2., 2.])
>>> print(traced.code)
def forward(self, x, y):
    mul = ops.mul(x, y)
    add = ops.add(mul, 1)
    return add
"""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minitorch_compile.control import asked_again
from minitorch_compile.jit.traced_module import TopLevelTracedModule, TracedProgram
from minitorch_compile.nn import Module
from minitorch_compile.profiler.recorder import memory_of
from minitorch_compile.pytree import tree_flatten, tree_map
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.functions import before_calls
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.ops.closeness import allclose
from minitorch_compile.tensor.tensor_base import TensorBase, kept_by
from minitorch_compile.user_warnings import warn_user

LEAVES = (
    "Converting a tensor to a Python {} might cause the trace to be incorrect. We can't record the data flow of Python"
    " values, so this value will be treated as a constant in the future. This means that the trace might not"
    " generalize to other inputs!"
)
CONVERSIONS = {
    "__bool__": "boolean",
    "__int__": "integer",
    "__float__": "float",
    "__index__": "index",
    "item": "number",
    "tolist": "list",
    "numpy": "NumPy array",
}


class TracerWarning(Warning):
    """A trace may not be what the program means."""


class TracingCheckError(Exception):
    """A trace can't be made to do what the program does."""


class _Here(threading.local):
    recorder: _Recorder | None = None


here = _Here()


@asked_again
def is_tracing() -> bool:
    """Whether torch.jit.trace runs this."""
    return here.recorder is not None


class _Recorder:
    """Writes down the operations of one run. `names` knows the tensors that came in, by their ids."""

    def __init__(self, program: TracedProgram) -> None:
        self.program = program
        self.depth = 0
        self.reads_sizes = False
        self.names: dict[int, str] = {}
        self.sizes: dict[str, tuple[int, ...]] = {}
        self.assign: Any = Tensor.__setitem__
        self.alive: list[Any] = []  # so that an id stays what it was

    def know(self, tensor: Any, name: str) -> None:
        self.names[id(tensor)] = name
        self.sizes[name] = tuple(tuple.__iter__(tensor.sizes))  # not as a program reads them
        self.alive.append(tensor)

    def before(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: Callable[..., Any]) -> Any:
        if here.recorder is not self or self.depth:
            return call(*args, **kwargs)
        self.depth += 1
        try:
            given = self.named(list(args)), self.named(dict(kwargs))
            result = call(*args, **kwargs)
            self.write(op, given, result)
            return result
        finally:
            self.depth -= 1

    def named(self, value: Any) -> Any:
        """The value with names in the places of tensors; what is not known becomes a constant."""
        if isinstance(value, TensorBase):
            if id(value) not in self.names:
                self.refuse_views(value)
                self.know(value, self.program.add_constant(value))
            return self.program.reference(self.names[id(value)])
        if isinstance(value, dict):
            return {name: self.named(item) for name, item in value.items()}
        if isinstance(value, Size):
            return tuple(value)
        if isinstance(value, (list, tuple)):
            return (
                type(value)(*map(self.named, value))
                if hasattr(value, "_fields")
                else type(value)(self.named(item) for item in value)
            )
        return value

    def refuse_views(self, tensor: Any) -> None:
        """RuntimeError for a tensor that shares memory with one that is known: how it was made was not seen."""
        memory = memory_of(tensor)
        if memory is not None and any(memory_of(known) is memory for known in self.alive):
            raise RuntimeError(
                "trace: a tensor is used that was made of another one, but not by an operation that a trace can hold"
                f" (sizes {list(tensor.shape)}); use torch.compile for this program"
            )

    def set_item(self, tensor: Any, index: Any, value: Any) -> None:
        """tensor[index] = value, as a step."""
        if here.recorder is self and not self.depth:
            self.program.add_assignment(self.named(tensor), self.named(index), self.named(value))
        self.depth += 1
        try:
            self.assign(tensor, index, value)
        finally:
            self.depth -= 1

    def script(self, callee: Any, run: Callable[..., Any], args: list[Any]) -> Any:
        """A call of scripted code is one step, with its branches and loops."""
        self.depth += 1
        try:
            given = self.named(args)
            result = run(*args)
            self.keep(self.program.add_script(callee, given), result)
            return result
        finally:
            self.depth -= 1

    def write(self, op: Any, given: tuple[Any, Any], result: Any) -> None:
        if not isinstance(result, (TensorBase, tuple, list)):
            return  # an answer that Python goes on with
        self.keep(self.program.add_step(op, *given), result)

    def keep(self, name: str, result: Any) -> None:
        """The tensors of a step's result have names from now on."""
        if isinstance(result, TensorBase):
            self.know(result, name)
            return
        for place, part in enumerate(result if isinstance(result, (tuple, list)) else ()):
            if isinstance(part, TensorBase):
                self.know(part, self.program.add_item(name, place))


@contextmanager
def _recording(recorder: _Recorder) -> Iterator[None]:
    """Inside, operations are written down, and who asks a tensor for numbers or sizes is noticed."""
    changed: dict[str, Any] = {name: vars(Tensor).get(name) for name in (*CONVERSIONS, "__setitem__")}
    for name, kind in CONVERSIONS.items():
        setattr(Tensor, name, _warning(getattr(Tensor, name), kind, recorder))
    setattr(TensorBase, "sizes", property(_noticed(recorder), _set_sizes))  # noqa: B010 (mypy knows the attribute)
    Tensor.__setitem__ = lambda self, index, value: recorder.set_item(self, index, value)  # type: ignore[method-assign]
    here.recorder = recorder
    before_calls.enter(recorder.before, before_calls.AUTOCAST)
    try:
        yield
    finally:
        before_calls.leave(recorder.before)
        here.recorder = None
        delattr(TensorBase, "sizes")
        for name, method in changed.items():
            if method is None:
                delattr(Tensor, name)
            else:
                setattr(Tensor, name, method)


def scripted_call(callee: Any, run: Callable[..., Any], args: list[Any]) -> Any:
    """A call of scripted code, which a trace notes as such."""
    recorder = here.recorder
    return run(*args) if recorder is None or recorder.depth else recorder.script(callee, run, args)


class _WatchedSizes(Size):
    """Sizes that notice when a number is read from them. How many there are may be asked: that stays."""

    def _told(self) -> None:
        if here.recorder is not None:
            here.recorder.reads_sizes = True

    def __iter__(self) -> Iterator[Any]:
        self._told()
        return super().__iter__()

    def __getitem__(self, index: Any) -> Any:
        self._told()
        return super().__getitem__(index)

    def __eq__(self, other: object) -> bool:
        self._told()
        return super().__eq__(other)

    def __hash__(self) -> int:
        self._told()
        return super().__hash__()


def _noticed(recorder: _Recorder) -> Callable[[Any], Any]:
    def read(tensor: Any) -> Any:
        sizes = kept_by(tensor)["sizes"]
        return _WatchedSizes(sizes) if here.recorder is recorder and not recorder.depth else sizes

    return read


def _set_sizes(tensor: Any, sizes: Any) -> None:
    kept_by(tensor)["sizes"] = Size(tuple.__iter__(sizes)) if type(sizes) is _WatchedSizes else sizes


def _warning(method: Callable[..., Any], kind: str, recorder: _Recorder) -> Callable[..., Any]:
    @functools.wraps(method)
    def warned(self: Any, *args: Any, **kwargs: Any) -> Any:
        if here.recorder is not recorder or recorder.depth:
            return method(self, *args, **kwargs)
        _warn(LEAVES.format(kind))
        recorder.depth += 1  # what the method does is no step of the program
        try:
            return method(self, *args, **kwargs)
        finally:
            recorder.depth -= 1

    return warned


def _warn(message: str) -> None:
    warn_user(message, TracerWarning)


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Sequence[Any] | None = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: dict[str, Any] | None = None,
    _store_inputs: bool = True,
) -> Any:
    """A module that does what `func`, a function or module, does with the example inputs.

    With `check_trace` it is compared with `func` on these inputs, and on `check_inputs`; a TracerWarning says where
    they differ. `strict=False` allows dicts as results.
    """
    if isinstance(func, TopLevelTracedModule):
        return func
    if not callable(func):
        raise RuntimeError(f"trace: func must be a function or a module, got {type(func).__name__}")
    if example_kwarg_inputs is not None:
        example_inputs = _bound(func, example_kwarg_inputs)
    inputs = (example_inputs,) if isinstance(example_inputs, TensorBase) else tuple(example_inputs)
    made = _traced(func, inputs, strict)
    if check_trace:
        for sample in [inputs, *(check_inputs or ())]:
            _compare(func, made, (sample,) if isinstance(sample, TensorBase) else tuple(sample), check_tolerance)
    return made


def trace_module(
    mod: Module,
    inputs: dict[str, Any],
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_inputs_is_kwarg: bool = False,
    _store_inputs: bool = True,
) -> Any:
    """`trace` for the methods of a module that are named in `inputs`, with their example inputs; those are given by
    name with `example_inputs_is_kwarg`. The other parameters are those of `trace`."""
    options = {"check_trace": check_trace, "check_tolerance": check_tolerance, "strict": strict}

    def traced(function: Any, name: str) -> Any:
        if example_inputs_is_kwarg:
            return trace(function, example_kwarg_inputs=inputs[name], **options)  # type: ignore[arg-type]
        others = [given[name] for given in check_inputs or () if name in given]
        return trace(function, inputs[name], check_inputs=others, **options)  # type: ignore[arg-type]

    if "forward" in inputs:
        made = traced(mod, "forward")
    else:
        made = TopLevelTracedModule(TracedProgram(), mod)
    for name in inputs:
        if name != "forward":
            object.__setattr__(made, name, traced(getattr(mod, name), name))
    return made


def _bound(func: Any, given: dict[str, Any]) -> tuple[Any, ...]:
    signature = inspect.signature(func.forward if isinstance(func, Module) else func)
    return signature.bind(**given).args


def _traced(func: Any, inputs: tuple[Any, ...], strict: bool) -> TopLevelTracedModule:
    program = TracedProgram()
    recorder = _Recorder(program)
    copies = tree_map(lambda x: x.clone() if isinstance(x, Tensor) else x, inputs)
    names = _argument_names(func, len(copies))
    for name, value in zip(names, copies):
        leaves, shape = tree_flatten(value)
        program.add_input(name, shape, [tuple(x.sizes) if isinstance(x, TensorBase) else x for x in leaves])
        for place, leaf in enumerate(leaves):
            if isinstance(leaf, TensorBase):
                recorder.know(leaf, program.leaf_name(name, place, len(leaves)))
    if isinstance(func, Module):
        for name, tensor in [*func.named_parameters(), *func.named_buffers()]:
            recorder.know(tensor, program.add_attribute(name))
    with _recording(recorder):
        result = func(*copies)
        _check_result(result, strict)
        program.finish(recorder.named(result))
    program.fixed_sizes = recorder.reads_sizes
    return TopLevelTracedModule(program, func)


def _argument_names(func: Any, count: int) -> list[str]:
    parameters = inspect.signature(func.forward if isinstance(func, Module) else func).parameters.values()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return (names + [f"argument_{n}" for n in range(len(names), count)])[:count]


def _check_result(result: Any, strict: bool) -> None:
    if isinstance(result, dict):
        if strict:
            raise RuntimeError(
                "Encountering a dict at the output of the tracer might cause the trace to be incorrect, this is only"
                " valid if the container structure does not change based on the module's inputs. Consider using a"
                " constant container instead (e.g. for `list`, use a `tuple` instead. for `dict`, use a `NamedTuple`"
                " instead). If you absolutely need this and know the side effects, pass strict=False to trace() to"
                " allow this behavior."
            )
        result = tuple(result.values())
    for part in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(part, (tuple, list, dict)):
            _check_result(part, strict)
        elif not isinstance(part, TensorBase):
            raise RuntimeError(
                "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions"
            )


def _compare(func: Any, made: TopLevelTracedModule, inputs: tuple[Any, ...], tolerance: float) -> None:
    """Warns where the module and the program differ on these inputs."""
    random = [step for step in made.program.steps if step.is_random]
    if random:
        nodes = "\n".join(f"\t{step}" for step in random)
        _warn(
            "Trace had nondeterministic nodes. Did you forget call .eval() on your model? Nodes:\n"
            f"{nodes}\nThis may cause errors in trace checking. To disable trace checking, pass check_trace=False to"
            " torch.jit.trace()"
        )
    copies = [tree_map(lambda x: x.clone() if isinstance(x, Tensor) else x, inputs) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, got = tree_flatten(func(*copies[0]))[0], tree_flatten(made(*copies[1]))[0]
    for number, (x, y) in enumerate(zip(expected, got), 1):
        same = isinstance(x, TensorBase) and x.sizes == y.sizes
        if not same or not allclose(x.detach(), y.detach(), tolerance, tolerance, True):
            _warn(
                f"Output nr {number}. of the traced function does not match the corresponding output of the Python"
                " function. It may depend on more than its inputs, or on numbers that Python has read."
            )
