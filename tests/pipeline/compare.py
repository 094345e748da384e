"""Run a program on a backend, and compare: values with values, gradients with gradients, and both with NumPy.

>>> from tests.pipeline.programs import generate
>>> program = generate("pointwise", seed=1)
>>> check_values(program, evaluate(program, "float64"), against_numpy(program))
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import minitorch_compile as torch
from minitorch_compile.nn import functional as F
from tests.pipeline.programs import Program

Array = np.ndarray
Compile = Callable[[Callable[..., Any]], Callable[..., Any]]
TOLERANCES = {"float64": (1e-9, 1e-9), "float32": (2e-4, 2e-5)}  # relative; absolute, in units of the largest value


@dataclass
class Result:
    """What came out of one run: the values, and the gradient for each input that can have one."""

    values: list[Array]
    gradients: list[Array]


class Mismatch(AssertionError):
    """A program on which two runs disagree. The message ends in a script that shows it."""


def uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def on_backend(backend: str) -> Compile:
    return lambda function: torch.compile(function, backend=backend)


# ------------------------------------------------------------------------------------------------ running


def evaluate(program: Program, dtype: str, compile: Compile = uncompiled) -> Result:
    """Run one program forward and backward."""
    return evaluate_together([program], dtype, compile)[0]


def evaluate_together(programs: Sequence[Program], dtype: str, compile: Compile = uncompiled) -> list[Result]:
    """Run several programs as one function, forward and backward: one compilation for all of them."""
    function = compile(functions_of(programs)["together"])
    inputs = [inputs_of(program, dtype) for program in programs]
    outputs = function(*(tensor for group in inputs for tensor in group))
    groups = _split(list(outputs), [len(program.outputs) for program in programs])
    _backward([tensor for group in groups for tensor in zip(group, _cotangents(group))])
    return [
        Result([np.array(o.detach().numpy()) for o in group], [_gradient(x) for x in tensors if x.requires_grad])
        for group, tensors in zip(groups, inputs)
    ]


def functions_of(programs: Sequence[Program]) -> dict[str, Any]:
    """The programs, and `together`, which calls one after the other."""
    calls, parameters = [], []
    for number, program in enumerate(programs):
        names = [f"p{number}_{name}" for name in program.inputs]
        parameters += names
        calls.append(f"*{program.name}({', '.join(names)})")
    text = "".join(program.source + "\n" for program in programs)
    text += f"def together({', '.join(parameters)}):\n    return ({', '.join(calls)},)\n"
    scope: dict[str, Any] = {"torch": torch, "F": F}
    exec(compile_with_source(text), scope)
    return scope


def compile_with_source(text: str) -> Any:
    """Compiled so that tracebacks and graph breaks can show the lines."""
    import linecache

    filename = f"<programs {abs(hash(text))}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    return compile(text, filename, "exec")


def inputs_of(program: Program, dtype: str) -> list[Any]:
    scope: dict[str, Any] = {"torch": torch, "np": np}
    exec(program.inputs_source(dtype), scope)
    return scope["inputs"]


def _split(items: list[Any], sizes: Sequence[int]) -> list[list[Any]]:
    groups = []
    for size in sizes:
        groups.append(items[:size])
        items = items[size:]
    return groups


def _cotangents(outputs: Sequence[Any]) -> list[Array]:
    """A fixed random array for each output of a program."""
    return [np.random.default_rng(number).standard_normal(tuple(o.shape)) for number, o in enumerate(outputs)]


def _backward(pairs: list[tuple[Any, Array]]) -> None:
    """Gradients of the sum of outputs times cotangents."""
    terms = [(o * torch.from_numpy(np.asarray(c)).to(o.dtype)).sum() for o, c in pairs if o.requires_grad]
    if terms:
        sum(terms[1:], terms[0]).backward()


def _gradient(tensor: Any) -> Array:
    return np.zeros(tuple(tensor.shape)) if tensor.grad is None else np.array(tensor.grad.numpy())


# ------------------------------------------------------------------------------------------------ NumPy


def against_numpy(program: Program) -> list[Array]:
    """The values that NumPy computes in float64."""
    with np.errstate(all="ignore"):
        return list(program.oracle(*program.arrays()))


def numpy_slope(program: Program, directions: Sequence[Array], step: float = 1e-6) -> float:
    """How fast the sum of outputs times cotangents grows along `directions`: a central difference in float64."""

    def total(sign: int) -> float:
        moved = iter(directions)
        arrays = [
            array + sign * step * next(moved) if real else array
            for array, real in zip(program.arrays(), program.differentiable)
        ]
        with np.errstate(all="ignore"):
            values = program.oracle(*arrays)
        return float(sum((v * c).sum() for v, c in zip(values, _cotangents(values))))

    return (total(+1) - total(-1)) / (2 * step)


def check_slope(program: Program, result: Result) -> None:
    """The gradients against a finite difference of the NumPy program, along one random direction."""
    rng = np.random.default_rng(0)
    directions = [rng.standard_normal(gradient.shape) for gradient in result.gradients]
    expected = numpy_slope(program, directions)
    slope = sum(float((d * g).sum()) for d, g in zip(directions, result.gradients))
    if not np.isclose(slope, expected, rtol=1e-5, atol=1e-6):
        raise Mismatch(f"{program.name}: the gradient's slope is {slope}, NumPy's {expected}\n\n{script(program)}")


# ------------------------------------------------------------------------------------------------ comparing


def check_values(program: Program, result: Result, expected: Sequence[Array]) -> None:
    """The values against those of the NumPy program."""
    for name, ours, theirs in zip(program.outputs, result.values, expected, strict=True):
        problem = difference(ours, theirs, "float64")
        if problem:
            raise Mismatch(f"{program.name}: {name} is not what NumPy computes: {problem}\n\n{script(program)}")


def check_same(program: Program, ours: Result, reference: Result, dtype: str, backend: str) -> None:
    """Two runs of a program: each value and each gradient."""
    names = [
        *program.outputs,
        *(f"the gradient of {n}" for n, real in zip(program.inputs, program.differentiable) if real),
    ]
    pairs = zip(ours.values + ours.gradients, reference.values + reference.gradients, strict=True)
    for name, (mine, theirs) in zip(names, pairs, strict=True):
        problem = difference(mine, theirs, dtype)
        if problem:
            raise Mismatch(f"{program.name} on {backend}: {name}: {problem}\n\n{script(program, backend, dtype)}")


def difference(ours: Array, theirs: Array, dtype: str) -> str:
    """How two arrays differ, in words; "" if they agree."""
    if ours.shape != np.shape(theirs):
        return f"the sizes are {list(ours.shape)}, expected {list(np.shape(theirs))}"
    relative, absolute = TOLERANCES[dtype]
    scale = max(1.0, float(np.abs(theirs).max(initial=0.0)))
    wrong = ~np.isclose(ours, theirs, rtol=relative, atol=absolute * scale, equal_nan=True)
    if not wrong.any():
        return ""
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    count = f"{int(wrong.sum())} of {wrong.size} differ"
    return f"at {list(place)} it is {ours[place]}, expected {np.asarray(theirs)[place]}; {count}"


SCRIPT = """\
# Paste this into a file, or into python -
import numpy as np
import minitorch_compile as torch
from minitorch_compile.nn import functional as F


{source}

{inputs}
outputs = torch.compile({name}, backend={backend!r})(*inputs)
expected = {name}(*inputs)
for number, (ours, theirs) in enumerate(zip(outputs, expected)):
    print("output", number, ours, theirs, sep="\\n")
    if theirs.requires_grad:
        cotangent = np.asarray(np.random.default_rng(number).standard_normal(tuple(theirs.shape)))
        cotangent = torch.from_numpy(cotangent).to(theirs.dtype)
        leaves = [x for x in inputs if x.requires_grad]
        print("gradients", torch.autograd.grad((ours * cotangent).sum(), leaves, allow_unused=True))
        print("expected ", torch.autograd.grad((theirs * cotangent).sum(), leaves, allow_unused=True))
"""


def script(program: Program, backend: str = "eager", dtype: str = "float32") -> str:
    """The program as a script that shows the disagreement."""
    return SCRIPT.format(source=program.source, inputs=program.inputs_source(dtype), name=program.name, backend=backend)
