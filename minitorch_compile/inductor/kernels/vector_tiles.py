"""Two loops over memory whose results fit in vector registers: what convolutions are made of.

Both multiply with planes that are shifted against each other: `planes[offsets[k] + i]` is place i of plane k, and each
`offsets[k]` may be anything. So a window that slides over an image needs no copy of what it sees.

`outer_products(filters, vectors)` makes a function that computes, for `filters` rows of weights at once,

    out[f * out_step + i] = sum over k < count of weights[k * filters + f] * planes[offsets[k] + i]

for `vectors` vectors of places i. `inner_products(rows, columns)` makes one that adds up along i instead:

    out[r * out_step + k] += sum over n < images, i < length of
                                 rows[n * rows_apart + r * row_step + i] * planes[n * planes_apart + offsets[k] + i]

where `length` is a multiple of what a vector holds. All sums stay in registers until they are finished.

>>> from numba import njit
>>> from minitorch_compile.inductor.runtime.raw_memory import pointer
>>> multiply = outer_products(1, 1)
>>> @njit
... def example(planes, offsets, weights, out):
...     multiply(pointer(planes), pointer(offsets), pointer(weights), 2, pointer(out), 0)
>>> out = np.empty(16)
>>> example(np.arange(40.0), np.array([0, 3]), np.array([1.0, 10.0]), out)
>>> out[:2]                                                                 # i + 10 * (i + 3)
array([30., 41.])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from minitorch_compile.inductor.machine import Machine, Number, current, machine_number, value_of
from minitorch_compile.kernel_library.tile_sizes import TileSizes

WORD = ir.IntType(64)
_INDEX = ir.IntType(32)
Vectors = list[list[ir.Value]]

# How large the tiles are: with what is loaded to compute them, they fill the registers.


@machine_number
def tile_filters(machine: Machine) -> int:
    """Filters of a tile of outer products."""
    return 8 if machine.registers == 32 else 4


@machine_number
def tile_vectors(machine: Machine) -> int:
    """Vectors of places of such a tile."""
    return 3 if machine.registers == 32 else 2


@machine_number
def tile_rows(machine: Machine) -> int:
    """Rows of a tile of inner products."""
    return 4 if machine.registers == 32 else 3


@machine_number
def tile_columns(machine: Machine) -> int:
    """Columns of such a tile."""
    return 6 if machine.registers == 32 else 3


@machine_number
def most_lanes(machine: Machine) -> int:
    """How many of the smallest elements, of four bytes, a vector holds."""
    return machine.vector_bytes // 4


def tile_sizes() -> TileSizes:
    """All these numbers, for plans."""
    return TileSizes(most_lanes(), tile_filters(), tile_vectors(), tile_rows(), tile_columns())


class VectorEmitter:
    """Writes LLVM for loops over vectors; `lanes` is how many elements one holds."""

    def __init__(self, builder: ir.IRBuilder, element: ir.Type) -> None:
        self.builder = builder
        self.element = element
        self.bytes = 4 if isinstance(element, ir.FloatType) else 8  # of an element
        self.lanes = current().vector_bytes // self.bytes
        self.vector = ir.VectorType(element, self.lanes)

    def zeros(self, rows: int, columns: int) -> Vectors:
        """A tile of accumulators."""
        tile = [[cgutils.alloca_once(self.builder, self.vector) for _ in range(columns)] for _ in range(rows)]
        for row in tile:
            for place in row:
                self.builder.store(self.zero, place)
        return tile

    @property
    def zero(self) -> ir.Constant:
        return ir.Constant(self.vector, [0.0] * self.lanes)

    def at(self, start: ir.Value, index: ir.Value, lanes: int = 0) -> ir.Value:
        """A pointer to the vector that begins `index` elements further."""
        vector = ir.VectorType(self.element, lanes or self.lanes)
        return self.builder.bitcast(self.builder.gep(start, [index]), vector.as_pointer())

    def load(self, start: ir.Value, index: ir.Value, lanes: int = 0) -> ir.Value:
        return self.builder.load(self.at(start, index, lanes), align=self.bytes)

    def store(self, value: ir.Value, start: ir.Value, index: ir.Value) -> None:
        self.builder.store(value, self.at(start, index, value.type.count), align=self.bytes)

    def spread(self, start: ir.Value, index: ir.Value) -> ir.Value:
        """One element, in every place of a vector."""
        return self.everywhere(self.builder.load(self.builder.gep(start, [index])))

    def everywhere(self, value: ir.Value) -> ir.Value:
        vector = ir.VectorType(value.type, self.lanes)
        first = self.builder.insert_element(ir.Constant(vector, ir.Undefined), value, _INDEX(0))
        return self.shuffled(first, first, [0] * self.lanes)

    def shuffled(self, a: ir.Value, b: ir.Value, places: list[int]) -> ir.Value:
        """The elements of a, followed by those of b, that stand at these places."""
        return self.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INDEX, len(places)), places))

    def first_of(self, count: ir.Value) -> ir.Value:
        """A mask of the first `count` places."""
        places = ir.Constant(ir.VectorType(WORD, self.lanes), list(range(self.lanes)))
        return self.builder.icmp_signed("<", places, self.everywhere(count))

    def load_where(self, mask: ir.Value, place: ir.Value) -> ir.Value:
        """The elements at a pointer for which the mask is set, and zeros; the others aren't even looked at."""
        load = ir.FunctionType(self.vector, [place.type, _INDEX, mask.type, self.vector])
        return self.builder.call(self._masked("load", load), [place, _INDEX(self.bytes), mask, self.zero])

    def load_first(self, stride: int, start: ir.Value, index: ir.Value, count: ir.Value) -> ir.Value:
        """The first `count` of the elements that lie `stride` apart (1 or 2); nothing beyond them is looked at."""
        if stride == 1:
            return self.load_where(self.first_of(count), self.at(start, index))
        reach = self.builder.sub(self.builder.mul(count, WORD(2)), WORD(1))
        halves = []
        for further in (0, self.lanes - 1):  # of the second vector the odd places are taken
            mask = self.first_of(self.builder.sub(reach, WORD(further)))
            halves.append(self.load_where(mask, self.at(start, self.builder.add(index, WORD(further)))))
        places = [*range(0, self.lanes, 2), *range(self.lanes + 1, 2 * self.lanes, 2)]
        return self.shuffled(halves[0], halves[1], places)

    def store_where(self, mask: ir.Value, value: ir.Value, place: ir.Value) -> None:
        """Stores those elements for which the mask is set; they may be 64-bit integers."""
        store = ir.FunctionType(ir.VoidType(), [value.type, place.type, _INDEX, mask.type])
        align = 8 if value.type.element == WORD else self.bytes
        self.builder.call(self._masked("store", store), [value, place, _INDEX(align), mask])

    def _masked(self, name: str, signature: ir.FunctionType) -> ir.Function:
        vector = signature.return_type if name == "load" else signature.args[0]
        kinds = {ir.FloatType(): "f32", ir.DoubleType(): "f64", WORD: "i64"}
        kind = f"v{self.lanes}{next(name for element, name in kinds.items() if element == vector.element)}"
        return cgutils.get_or_insert_function(self.builder.module, signature, f"llvm.masked.{name}.{kind}.p0")

    def add_product(self, place: ir.Value, a: ir.Value, b: ir.Value) -> None:
        """Adds a * b to an accumulator, rounded once where the processor can."""
        product = self.builder.fmul(a, b, flags=("contract",))
        self.builder.store(self.builder.fadd(self.builder.load(place), product, flags=("contract",)), place)

    def totals(self, vectors: list[ir.Value]) -> ir.Value:
        """The sum of each vector's elements, as the elements of one: at most as many vectors as it has lanes.

        In each round the neighbours within a vector are added; two halved vectors fill one.
        """
        even, odd = ([*range(first, 2 * self.lanes, 2)] for first in (0, 1))
        for _ in range(self.lanes.bit_length() - 1):
            vectors = [*vectors, *[self.zero] * (len(vectors) % 2)]
            pairs = list(zip(vectors[::2], vectors[1::2]))
            vectors = [self.builder.fadd(self.shuffled(*pair, even), self.shuffled(*pair, odd)) for pair in pairs]
        return vectors[0]


@cache
def outer_products(filters_of_tile: Number, vectors_of_tile: Number) -> Callable[..., None]:
    """(planes, offsets, weights, count, out, out_step), as the module says."""

    def emit(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
        filters, vectors = value_of(filters_of_tile), value_of(vectors_of_tile)
        planes, offsets, weights, count, out, out_step = values
        emitter = VectorEmitter(builder, planes.type.pointee)
        tile = emitter.zeros(filters, vectors)
        with cgutils.for_range(builder, count) as loop:
            start = builder.load(builder.gep(offsets, [loop.index]))
            seen = [emitter.load(planes, builder.add(start, WORD(v * emitter.lanes))) for v in range(vectors)]
            first = builder.mul(loop.index, WORD(filters))
            for f in range(filters):
                weight = emitter.spread(weights, builder.add(first, WORD(f)))
                for v in range(vectors):
                    emitter.add_product(tile[f][v], weight, seen[v])
        for f in range(filters):
            row = builder.mul(out_step, WORD(f))
            for v in range(vectors):
                emitter.store(builder.load(tile[f][v]), out, builder.add(row, WORD(v * emitter.lanes)))

    def meaning(planes, offsets, weights, count, out, out_step):
        filters, places = value_of(filters_of_tile), np.arange(value_of(vectors_of_tile) * lanes(planes))
        seen = planes[offsets[:count, None] + places]
        for f in range(filters):
            out[f * out_step + places] = weights[f : count * filters : filters] @ seen

    return vector_function(6, emit, meaning)


@cache
def inner_products(rows_of_tile: Number, columns_of_tile: Number) -> Callable[..., None]:
    """(rows, row_step, rows_apart, planes, offsets, planes_apart, length, images, out, out_step, height, width).

    As the module says, but only `height` rows and `width` columns of the tile are added to `out`.
    """

    def emit(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
        rows, columns = value_of(rows_of_tile), value_of(columns_of_tile)
        left, row_step, rows_apart, planes, offsets, planes_apart, length, images, out, out_step, height, width = values
        emitter = VectorEmitter(builder, planes.type.pointee)
        tile = emitter.zeros(rows, columns)
        starts = [builder.load(builder.gep(offsets, [WORD(k)])) for k in range(columns)]
        with cgutils.for_range(builder, images) as image:
            a, b = builder.mul(image.index, rows_apart), builder.mul(image.index, planes_apart)
            first = [builder.add(a, builder.mul(row_step, WORD(r))) for r in range(rows)]
            second = [builder.add(b, start) for start in starts]
            with cgutils.for_range_slice(builder, WORD(0), length, WORD(emitter.lanes), inc=True) as (index, _):
                seen = [emitter.load(left, builder.add(place, index)) for place in first]
                for k in range(columns):
                    column = emitter.load(planes, builder.add(second[k], index))
                    for r in range(rows):
                        emitter.add_product(tile[r][k], seen[r], column)
        for r in range(rows):
            here = builder.select(builder.icmp_signed("<", WORD(r), height), width, WORD(0))
            for first_column in range(0, columns, emitter.lanes):
                some = [builder.load(place) for place in tile[r][first_column : first_column + emitter.lanes]]
                place = emitter.at(out, builder.add(builder.mul(out_step, WORD(r)), WORD(first_column)))
                mask = emitter.first_of(builder.sub(here, WORD(first_column)))
                sums = builder.fadd(emitter.load_where(mask, place), emitter.totals(some))
                emitter.store_where(mask, sums, place)

    def meaning(
        left, row_step, rows_apart, planes, offsets, planes_apart, length, images, out, out_step, height, width
    ):
        places = np.arange(length)
        for r in range(min(value_of(rows_of_tile), height)):
            for k in range(min(value_of(columns_of_tile), width)):
                out[r * out_step + k] += sum(
                    left[n * rows_apart + r * row_step + places] @ planes[n * planes_apart + offsets[k] + places]
                    for n in range(images)
                )

    return vector_function(12, emit, meaning)


def vector_function(parameters: int, emit: Callable[[ir.IRBuilder, list[ir.Value]], None], meaning: Any) -> Any:
    """What Numba calls, made of LLVM; or the meaning itself where Numba is off."""
    if config.DISABLE_JIT:
        return meaning

    def build(arguments: tuple[Any, ...]) -> tuple[Any, Any]:
        def code(context: Any, builder: ir.IRBuilder, signature: Any, values: list[ir.Value]) -> Any:
            emit(builder, values)
            return context.get_dummy_value()

        return types.void(*arguments), code

    names = ", ".join(f"a{number}" for number in range(parameters))
    scope: dict[str, Any] = {"build": build, "__name__": __name__}
    exec(f"def vector_code(typing_context, {names}):\n    return build(({names},))", scope)
    return intrinsic(scope["vector_code"])


def _python_lanes(start: Any) -> int:
    return current().vector_bytes // start.itemsize


@intrinsic
def _native_lanes(typing_context, start):
    number = current().vector_bytes * 8 // start.dtype.bitwidth
    return types.int64(start), lambda context, builder, signature, values: WORD(number)


# lanes(pointer): how many of the elements behind a pointer a vector holds.
lanes = _python_lanes if config.DISABLE_JIT else _native_lanes
