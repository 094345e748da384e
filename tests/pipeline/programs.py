"""Small random programs, each written twice: in PyTorch's words, and in NumPy's as an oracle in float64.

>>> program = generate("reduction", seed=3)
>>> print(program.source)          # doctest: +SKIP
def reduction_3(x0):
    v0 = x0 - x0.mean(dim=1, keepdim=True)
    return (v0,)

Programs are the same on every machine. The generator executes the NumPy half as it writes, so it knows every size,
and leaves out what is not tame: huge values, and values so near a kink that rounding would decide. Inputs have
awkward sizes (0-d, empty, 1) and awkward layouts (transposed, every second element, a part of something larger, one
row shown many times).
"""

import random
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from tests.pipeline import numpy_oracle
from tests.pipeline.rules import FAMILIES, Impossible, Sizes, Step

Array = np.ndarray
SIZES: tuple[Sizes, ...] = (
    (),
    (1,),
    (4,),
    (3, 4),
    (2, 3, 4),
    (1, 4),
    (3, 1),
    (5, 5),
    (0,),
    (2, 0),
    (2, 1, 3),
    (2, 2, 4, 5),
)
LAYOUTS = ("contiguous", "contiguous", "transposed", "stepped", "offset", "expanded")
LARGEST_VALUE, MOST_ELEMENTS = 30.0, 200


@dataclass(frozen=True)
class Input:
    """An argument of a program. `high` is None for real numbers; for indices, one more than the largest."""

    sizes: Sizes
    layout: str
    seed: int
    high: int | None = None

    def source(self, dtype: str) -> str:
        """Python that makes the tensor, the same numbers every time."""
        rng = f"np.random.default_rng({self.seed})"
        if self.high is not None:
            return f"torch.from_numpy({rng}.integers(0, {self.high}, {self.sizes}))"
        sizes, view = self._storage()
        return f"torch.from_numpy(np.asarray({rng}.standard_normal({sizes}), '{dtype}')){view}"

    def _storage(self) -> tuple[Sizes, str]:
        """The sizes of what lies in memory, and how the input looks at it."""
        n = len(self.sizes)
        match self.layout:
            case "transposed" if n >= 2:
                return (*self.sizes[:-2], self.sizes[-1], self.sizes[-2]), f".transpose({n - 2}, {n - 1})"
            case "stepped" if n >= 1:
                return (*self.sizes[:-1], 2 * self.sizes[-1]), "[..., ::2]"
            case "offset" if n >= 1:
                return (self.sizes[0] + 1, *self.sizes[1:]), "[1:]"
            case "expanded" if n >= 1:
                return (1, *self.sizes[1:]), f".expand({self.sizes})"
        return self.sizes, ""

    def array(self) -> Array:
        """The same numbers for NumPy."""
        rng = np.random.default_rng(self.seed)
        if self.high is not None:
            return rng.integers(0, self.high, self.sizes)
        sizes, view = self._storage()
        stored = np.asarray(rng.standard_normal(sizes))
        if view.startswith(".expand"):
            return np.broadcast_to(stored, self.sizes)
        if view.startswith(".transpose"):
            return stored.swapaxes(-2, -1)
        return stored[1:] if view == "[1:]" else stored[..., ::2] if view else stored


@dataclass
class Program:
    """A function of tensors, as source text in two languages, with the inputs it is called on."""

    name: str
    inputs: dict[str, Input] = field(default_factory=dict)
    torch_lines: list[str] = field(default_factory=list)
    numpy_lines: list[str] = field(default_factory=list)
    outputs: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The program for a library with PyTorch's names."""
        return self._function(self.torch_lines)

    def _function(self, lines: list[str]) -> str:
        body = "".join(f"    {line}\n" for line in [*lines, f"return ({', '.join(self.outputs)},)"])
        return f"def {self.name}({', '.join(self.inputs)}):\n{body}"

    @cached_property
    def oracle(self) -> Any:
        """The program in NumPy: arrays to a tuple of arrays."""
        scope = dict(NUMPY_SCOPE)
        exec(self._function(self.numpy_lines), scope)
        return scope[self.name]

    def arrays(self) -> list[Array]:
        return [spec.array() for spec in self.inputs.values()]

    @property
    def differentiable(self) -> list[bool]:
        """For each input, whether a gradient can be asked for."""
        return [spec.high is None for spec in self.inputs.values()]

    def inputs_source(self, dtype: str) -> str:
        """Python for the list of inputs."""
        lines = [
            f"    {spec.source(dtype)}{'.requires_grad_()' if spec.high is None else ''},\n"
            for spec in self.inputs.values()
        ]
        return f"inputs = [\n{''.join(lines)}]\n"


NUMPY_SCOPE = {"np": np, "special": special, **{k: v for k, v in vars(numpy_oracle).items() if not k.startswith("_")}}


class Writer:
    """Writes one program, step by step, and keeps the value of everything in it."""

    def __init__(self, name: str, seed: str) -> None:
        self.random = random.Random(seed)
        self.program = Program(name)
        self.scope: dict[str, Any] = dict(NUMPY_SCOPE)
        self.names: list[str] = []  # of real values, inputs and steps
        self.steps: list[str] = []
        self.add_input(self.random.choice(SIZES))

    # ------------------------------------------------------------------------------------------ what rules ask for

    def array(self, name: str) -> Array:
        return self.scope[name]

    def value(self, least_dim: int = 0, most_dim: int = 4, nonempty: bool = False) -> str:
        """A value with that many dimensions, preferably a recent one."""
        fitting = [
            name
            for name in self.names
            if least_dim <= self.array(name).ndim <= most_dim and (self.array(name).size or not nonempty)
        ]
        if not fitting:
            sizes = [s for s in SIZES if least_dim <= len(s) <= most_dim and (0 not in s or not nonempty)]
            return self.add_input(self.random.choice(sizes))
        return fitting[-1] if self.random.random() < 0.6 else self.random.choice(fitting)

    def partner(self, name: str) -> str:
        """Another value that can be combined with the first; maybe a new input of sizes that broadcast with its own."""
        shape = self.array(name).shape
        fitting = [other for other in self.names if self._broadcast(shape, self.array(other).shape)]
        if self.random.random() < 0.5:
            return self.random.choice(fitting)
        sizes = [shape, shape[1:], tuple(1 if self.random.random() < 0.5 else n for n in shape)]
        return self.add_input(self.random.choice(sizes))

    @staticmethod
    def _broadcast(a: Sizes, b: Sizes) -> bool:
        return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b)))

    def input(self, sizes: Sizes) -> str:
        return self.add_input(sizes)

    def index_input(self, high: int, sizes: Sizes) -> str:
        return self._add(Input(sizes, "contiguous", self.random.randrange(10**6), high))

    def add_input(self, sizes: Sizes) -> str:
        name = self._add(Input(sizes, self.random.choice(LAYOUTS), self.random.randrange(10**6)))
        self.names.append(name)
        return name

    def _add(self, spec: Input) -> str:
        name = f"x{len(self.program.inputs)}"
        self.program.inputs[name] = spec
        self.scope[name] = spec.array()
        return name

    # ------------------------------------------------------------------------------------------ writing

    def try_step(self, family: str) -> bool:
        """Append a step of a family; False if the rule drawn can't be applied or its values are not tame."""
        known_inputs, known_names = dict(self.program.inputs), list(self.names)
        try:
            step = self.random.choice(FAMILIES[family])(self)
            if self._run(step):
                return True
        except Impossible:
            pass
        self.program.inputs, self.names = known_inputs, known_names
        return False

    def _run(self, step: Step) -> bool:
        """Write the step and execute its NumPy half; False, and nothing written, if the new value is not tame."""
        new = f"v{len(self.steps)}"
        torch_lines = [*(t for t, _ in step.before), f"{{new}} = {step.torch}", *(t for t, _ in step.after)]
        numpy_lines = [*(n for _, n in step.before), f"{{new}} = np.asarray({step.numpy})", *(n for _, n in step.after)]
        scope = dict(self.scope)
        with np.errstate(all="ignore"):
            exec("\n".join(numpy_lines).format(new=new), scope)
        if not tame(scope[new]):
            return False
        self.scope[new] = scope[new]
        self.names.append(new)
        self.steps.append(new)
        self.program.torch_lines += [line.format(new=new) for line in torch_lines]
        self.program.numpy_lines += [line.format(new=new) for line in numpy_lines]
        return True

    def finish(self) -> Program:
        """Return every value that the program has not used itself; now and then only the last, leaving dead code."""
        lines = self.program.torch_lines
        unused = [name for name in self.steps if sum(name in words(line.partition("=")[2]) for line in lines) == 0]
        if self.random.random() < 0.15:
            unused = unused[-1:]
        self.program.outputs = tuple(unused)
        read = {name for line in lines for name in words(line)}
        self.program.inputs = {name: spec for name, spec in self.program.inputs.items() if name in read}
        return self.program


def words(line: str) -> set[str]:
    """The names in a line of Python."""
    return set("".join(c if c.isalnum() or c == "_" else " " for c in line).split())


def tame(value: Array) -> bool:
    """Whether a value is finite, small and has few elements: then float32 and float64 agree well."""
    array = np.asarray(value)
    if array.size > MOST_ELEMENTS or array.ndim > 5:
        return False
    return bool(np.isfinite(array).all()) and float(np.abs(array).max(initial=0.0)) < LARGEST_VALUE


def generate(family: str, seed: int) -> Program:
    """The program of that family and seed."""
    writer = Writer(f"{family.replace(' ', '_')}_{seed}", f"{family}/{seed}")
    for wanted in [*_mixed_in(writer), family, *_mixed_in(writer)]:
        for _ in range(50):
            if writer.try_step(wanted):
                break
        else:
            raise AssertionError(f"the family {wanted!r} has no rule for the program so far: {writer.program.source}")
    return writer.finish()


def _mixed_in(writer: Writer) -> list[str]:
    """None to two steps of any family, most of them pointwise."""
    kinds = ["pointwise"] * 4 + list(FAMILIES)
    return writer.random.choices(kinds, k=writer.random.choice([0, 1, 1, 2]))


def battery(per_family: int, first_seed: int = 0) -> list[Program]:
    """`per_family` programs of each family."""
    return [generate(family, seed) for family in FAMILIES for seed in range(first_seed, first_seed + per_family)]
