"""How kernels of attention multiply rows in registers by tiles in shared memory: warps by themselves, or four together.

Rows are first factors, `query0`, `query1`, ... of 16 numbers each. A tile has a line for each key, or query: `by_rows`
multiplies by its lines, along the heads' numbers; `by_columns` by its columns, along its lines. Sums are tuples of
four, one for each 8 columns, so that what a kernel does with them is the same either way.

>>> for line in WarpProducts("float16", dim=16, lines=16).by_rows("s", "query", "at_k"):
...     print(line)
s0 = nothing
s1 = nothing
upper, lower, upper8, lower8 = tensor_cores.ldmatrix_x4(words, (at_k ^ 0) + 0)
s0 = tensor_cores.mma_float16(query0, (upper, lower), s0)
s1 = tensor_cores.mma_float16(query0, (upper8, lower8), s1)
>>> for line in WarpgroupProducts("float16", dim=16, lines=16).by_rows("s", "query", "at_k"):
...     print(line)
s_held = (query0[0], query0[1], query0[2], query0[3])
s_all = warpgroups.add_rows_float16((zero, zero, zero, zero, zero, zero, zero, zero), s_held, words, at_k)
s0 = (s_all[0], s_all[1], s_all[2], s_all[3])
s1 = (s_all[4], s_all[5], s_all[6], s_all[7])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from minitorch_compile.inductor.device_calls.tensor_core_product import CHUNK, ELEMENTS, IMPORTS, Side, Strip

STATIC = 48 << 10  # bytes of shared memory that a kernel's text can ask for; what is more, its launch asks for


def width_of(dim: int) -> int:
    """The numbers that a line of a tile has room for: chunks change places only among a power of two.

    >>> width_of(64), width_of(80)
    (64, 128)
    """
    return 1 << (dim - 1).bit_length()


@dataclass(frozen=True)
class WarpProducts:
    """By `mma`: a warp has 16 rows. `lines` of a tile."""

    element: str
    dim: int
    lines: int

    imports = IMPORTS
    arrived: tuple[str, ...] = ("tensor_cores.cp_async_wait_0()", "cuda.syncthreads()")  # before a tile is read

    def along(self) -> Strip:
        """A tile as what `by_rows` reads."""
        return Strip("along", self.lines, Side(True), ELEMENTS[self.element][0], width_of(self.dim))

    def across(self) -> Strip:
        """The same tile as what `by_columns` reads."""
        return Strip("across", width_of(self.dim), Side(False), ELEMENTS[self.element][0], self.lines)

    @property
    def chunks(self) -> int:
        """Of a line, those that are copied; a line may have room for more."""
        return self.dim * ELEMENTS[self.element][0] // CHUNK

    def copies(self, threads: int) -> Iterator[tuple[int, bool]]:
        """The numbers of a thread's copies of a tile, and whether each thread has that one."""
        count = self.lines * self.chunks
        return ((n, count >= (n + 1) * threads) for n in range(-(-count // threads)))

    def dealt(self, threads: int) -> Iterator[str]:
        """Which chunk of which line a thread copies, and to which word of a tile."""
        for n, _ in self.copies(threads):
            mine = f"(thread + {n * threads})"
            yield f"line{n}, chunk{n} = int32({mine} // {self.chunks}), int32({mine} % {self.chunks})"
            yield f"to{n} = int32({self.along().word(f'chunk{n}', f'line{n}')})"

    def place_by_rows(self) -> str:
        """The word of a tile at which a thread begins to read."""
        return self.along().place("0", False)

    def place_by_columns(self) -> str:
        return self.across().place("0", True)

    def asked_for(self, words: int) -> int:
        """Bytes of shared memory, if that is more than a text can have."""
        return 4 * words if 4 * words > STATIC else 0

    def shared(self, words: int) -> str:
        return f"cuda.shared.array({words}, int32)"

    def by_rows(self, sums: str, held: str, at: str) -> Iterator[str]:
        """The sums of rows by lines of the tile at the word `at`."""
        strip = self.along()
        for j in range(self.lines // 8):
            yield f"{sums}{j} = nothing"
        for d in range(self.dim // 16):
            for j in range(self.lines // 16):
                yield from self.block(sums, f"{held}{d}", strip, at, j, d)

    def by_columns(self, sums: str, weights: str, at: str) -> Iterator[str]:
        """Adds the product of weights, which are sums of four, and the tile."""
        strip = self.across()
        for k in range(self.lines // 16):
            yield f"p = ({', '.join(self.packed(weights, k))})"
            for d in range(self.dim // 16):
                yield from self.block(sums, "p", strip, at, d, k)

    def begin_by_rows(self, sums: str, held: str, at: str) -> Iterator[str]:
        """The same as `by_rows`, for sums that aren't read before `finish`."""
        return self.by_rows(sums, held, at)

    def begin_by_columns(self, sums: str, weights: str, at: str) -> Iterator[str]:
        return self.by_columns(sums, weights, at)

    def finish(self, sums: str, count: int, behind: int = 0) -> Iterator[str]:
        """Waits for so many tuples of sums, while products that were begun `behind` them go on, 1 at the most."""
        return iter(())

    def block(self, sums: str, a: str, strip: Strip, at: str, column: int, depth: int) -> Iterator[str]:
        """16 columns, 16 of the depth."""
        mma = ELEMENTS[self.element][1]
        place = strip.fragment(column, depth).replace(f"at_{strip.name}", at)
        yield f"upper, lower, upper8, lower8 = tensor_cores.{strip.load()}(words, {place})"
        for n, eight in ((2 * column, ""), (2 * column + 1, "8")):
            yield f"{sums}{n} = tensor_cores.{mma}({a}, (upper{eight}, lower{eight}), {sums}{n})"

    def packed(self, weights: str, k: int) -> Iterator[str]:
        """Weights as a first factor: 16 columns of them."""
        for j in (2 * k, 2 * k + 1):
            for n in (0, 2):
                yield f"tensor_cores.{ELEMENTS[self.element][2]}({weights}{j}[{n}], {weights}{j}[{n + 1}])"


class Panels(Strip):
    """A tile as warpgroups read it: panels of 8 chunks, one behind the other (`codegen/cuda/warpgroups.py`)."""

    def word(self, chunk: str, line: str) -> str:
        return f"32 * {line} + 4 * (({chunk} & 7) ^ ({line} & 7)) + {32 * self.lines} * ({chunk} >> 3)"


class WarpgroupProducts(WarpProducts):
    """By `wgmma`: four warps have 64 rows, and a tile is read by the tensor cores themselves."""

    imports = IMPORTS.replace("import tensor_cores", "import tensor_cores, warpgroups")
    arrived = ("tensor_cores.cp_async_wait_0()", "warpgroups.fence_copies()", "cuda.syncthreads()")

    def along(self) -> Strip:
        return Panels("along", self.lines, Side(True), ELEMENTS[self.element][0], width_of(self.dim))

    def place_by_rows(self) -> str:
        return "0"

    def place_by_columns(self) -> str:
        return "0"

    def shared(self, words: int) -> str:
        return f"cuda.shared.array({0 if self.asked_for(words) else words}, int32, 1024)"

    def by_rows(self, sums: str, held: str, at: str) -> Iterator[str]:
        yield from self.multiplied("add", sums, held, at)
        yield from self.fours(sums, self.lines // 8)

    def begin_by_rows(self, sums: str, held: str, at: str) -> Iterator[str]:
        return self.multiplied("begin", sums, held, at)

    def multiplied(self, how: str, sums: str, held: str, at: str) -> Iterator[str]:
        zeros = ", ".join(["zero"] * (self.lines // 2))
        yield f"{sums}_held = ({', '.join(f'{held}{d}[{n}]' for d in range(self.dim // 16) for n in range(4))})"
        yield f"{sums}_all = warpgroups.{how}_rows_{self.element}(({zeros}), {sums}_held, words, {at})"

    def by_columns(self, sums: str, weights: str, at: str) -> Iterator[str]:
        yield from self.added("add", sums, weights, at)
        yield from self.fours(sums, self.dim // 8)

    def begin_by_columns(self, sums: str, weights: str, at: str) -> Iterator[str]:
        return self.added("begin", sums, weights, at)

    def added(self, how: str, sums: str, weights: str, at: str) -> Iterator[str]:
        packed = ", ".join(text for k in range(self.lines // 16) for text in self.packed(weights, k))
        old = ", ".join(f"{sums}{j}[{n}]" for j in range(self.dim // 8) for n in range(4))
        yield f"{sums}_all = warpgroups.{how}_columns_{self.element}(({old}), ({packed}), words, {at})"

    def finish(self, sums: str, count: int, behind: int = 0) -> Iterator[str]:
        yield f"{sums}_all = warpgroups.finish_{behind}({sums}_all)"
        yield from self.fours(sums, count)

    def fours(self, sums: str, count: int) -> Iterator[str]:
        """The sums that a product gave, as tuples of four."""
        for j in range(count):
            yield f"{sums}{j} = ({', '.join(f'{sums}_all[{4 * j + n}]' for n in range(4))})"
