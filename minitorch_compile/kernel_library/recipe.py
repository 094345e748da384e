"""One operation's kernels: what each is passed, as numbers that depend on the sizes of a call.

A recipe is read from the library (`library.py`). For each new sizes the list of kernels is made once, in some
microseconds; nothing is compiled. From then on a call is one native call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from minitorch_compile.kernel_library.call_words import FIRST_TENSOR, IN_BLOCK, IN_SCRATCH, NUMBER, Step, words_of
from minitorch_compile.kernel_library.size_numbers import SizeNumber

ALIGNMENT = 64  # bytes
MOST_SIZES = 1024  # for which a list is remembered

Shape = tuple[int, ...]


class Space(NamedTuple):
    """An array that a kernel needs: how many elements, how many bytes each."""

    length: SizeNumber
    itemsize: int


class RecipeStep(NamedTuple):
    """A kernel. `buffers`: positions among the tensors, then, from `tensors` on, among the temporaries."""

    function: str
    extent: SizeNumber
    points: SizeNumber
    nanoseconds: float  # for each point
    sizes: tuple[SizeNumber, ...]
    buffers: tuple[int, ...]
    scratch: tuple[Space, ...]


class Recipe(NamedTuple):
    """`outputs`: the dtype of each result. The tensors are the inputs, then the results, then, if there are numbers, an
    array of them."""

    steps: tuple[RecipeStep, ...]
    tensors: int
    outputs: tuple[np.dtype, ...]
    temporaries: tuple[Space, ...]

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Recipe:
        """From what JSON makes of a recipe."""
        steps = tuple(
            RecipeStep(
                step["function"],
                _number(step["extent"]),
                _number(step["points"]),
                step["nanoseconds"],
                tuple(map(_number, step["sizes"])),
                tuple(step["buffers"]),
                _spaces(step["scratch"]),
            )
            for step in data["steps"]
        )
        return cls(steps, data["tensors"], tuple(map(np.dtype, data["outputs"])), _spaces(data["temporaries"]))


def _number(data: Sequence[Any]) -> SizeNumber:
    times, sizes, unit, rounded = data
    return SizeNumber(times, tuple(sizes), unit, rounded)


def _spaces(data: Sequence[Any]) -> tuple[Space, ...]:
    return tuple(Space(_number(length), itemsize) for length, itemsize in data)


def placed(spaces: Sequence[Space], sizes: Sequence[int]) -> tuple[list[int], int]:
    """Where arrays begin that lie one after the other, and where the last ends."""
    places, end = [], 0
    for space in spaces:
        places.append(end)
        end += -(-space.length.value(sizes) * space.itemsize // ALIGNMENT) * ALIGNMENT
    return places, end


def call_words(recipe: Recipe, addresses: Mapping[str, int], sizes: Sequence[int]) -> np.ndarray:
    """The list of a recipe's kernels for these sizes."""
    places, block = placed(recipe.temporaries, sizes)
    steps, scratch = [], 0
    for step in recipe.steps:
        arguments = [(NUMBER, number.value(sizes)) for number in step.sizes]
        for buffer in step.buffers:
            temporary = buffer - recipe.tensors
            arguments.append((FIRST_TENSOR + buffer, 0) if temporary < 0 else (IN_BLOCK, places[temporary]))
        own_places, own = placed(step.scratch, sizes)
        arguments += [(IN_SCRATCH, place) for place in own_places]
        scratch = max(scratch, own)
        nanoseconds = step.nanoseconds * step.points.value(sizes)
        steps.append(Step(addresses[step.function], step.extent.value(sizes), nanoseconds, arguments))
    return words_of(steps, block, scratch)


class Program:
    """What runs a recipe. `program(sizes, shapes, inputs, *numbers)` gives an array for each of `shapes`, those of the
    results. Inputs are C-contiguous, of the dtypes that the recipe was made for, and no size is 0."""

    def __init__(
        self, recipe: Recipe, addresses: Mapping[str, int], execute: Callable[[int, int, int], None], parallel: int
    ) -> None:
        self.recipe, self.addresses, self.execute, self.parallel = recipe, addresses, execute, parallel
        self.lists: dict[tuple[int, ...], tuple[int, np.ndarray]] = {}  # where each lies, and the list itself

    def __call__(
        self, sizes: tuple[int, ...], shapes: Sequence[Shape], inputs: tuple[np.ndarray, ...], *numbers: float
    ) -> list[np.ndarray]:
        known = self.lists.get(sizes) or self.list_for(sizes)
        results = [np.empty(shape, element) for shape, element in zip(shapes, self.recipe.outputs)]
        arrays = (*inputs, *results, np.array(numbers, np.float64)) if numbers else (*inputs, *results)
        self.execute(known[0], id(arrays), self.parallel)
        return results

    def list_for(self, sizes: tuple[int, ...]) -> tuple[int, np.ndarray]:
        """The list for sizes that are new."""
        words = call_words(self.recipe, self.addresses, sizes)
        if len(self.lists) >= MOST_SIZES:
            self.lists.clear()
        self.lists[sizes] = known = words.ctypes.data, words
        return known
