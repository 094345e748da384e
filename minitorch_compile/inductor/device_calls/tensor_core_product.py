"""Matrix products on tensor cores: the template of their kernels.

A block of threads makes one tile of the result at a time. It goes along k in steps: strips of a and of b, 64 bytes
of k wide, are copied to shared memory some steps ahead (`cp.async`), while the warps multiply what has come.

                              b
                        +-----+-------+--
                        |     |#######|     <- strip of step 2, on its way
                        |     |#######|     <- strip of step 1, on its way
           a            |     |#######|     <- strip of step 0, being multiplied
        +-----------+   +-----+-------+--
        |#|#|#|     |   |     | warps |     each warp has 16 x 32 sums, or several such blocks one below the other
        +-----------+   +-----+-------+--

In shared memory, 16 bytes are a *chunk*. ldmatrix reads a chunk of each of 8 lines at a time, a copy writes all chunks
of a line: neither may hit a bank twice. So chunk c of line l lies at place c ^ f(l), where f counts 0, 1, 2, ... over
the lines that begin in the same bank (`swizzle`).

Sums lie in registers as the tensor cores have them, two neighbours of a row in a lane. A warp lays them, block by
block, in shared memory of its own, to write whole rows to the result. If loops were fused with the product, each
goes through them there (`finish`), and what they make is written instead.

>>> kernel = ProductKernel(Tile(2, 4, 4), "float16", Side(along_k=True), Side(along_k=False))
>>> kernel.name, kernel.tile.rows, kernel.tile.columns
('tensor_core_product_128x128_float16_tn', 128, 128)
>>> for line in kernel.text.splitlines():
...     if "cp_async_16" in line or "upper0" in line:
...         print(line.strip())
tensor_cores.cp_async_16(words, int32(a_to0 + coming), a, a_from0 + k, int32(2 * max(int32(0), ...)))
tensor_cores.cp_async_16(words, int32(a_to1 + coming), a, a_from1 + k, ...)
tensor_cores.cp_async_16(words, int32(b_to0 + coming), b, b_from0 + k * b_line, ...)
tensor_cores.cp_async_16(words, int32(b_to1 + coming), b, b_from1 + k * b_line, ...)
upper0, lower0, upper1, lower1 = tensor_cores.ldmatrix_x4_transposed(words, (at_b ^ 0) + 0)
sums0 = tensor_cores.mma_float16(of_a0, (upper0, lower0), sums0)
...

A tile of one warp in the simulator, 20 x 40 numbers and so four tiles, two blocks taking turns: no bank is hit twice.

>>> import numpy as np
>>> from minitorch_compile.cuda_simulator import simulate
>>> from minitorch_compile.generated_source import function_from_source
>>> from minitorch_compile.inductor.device_calls.launcher import HEADER
>>> small = ProductKernel(Tile(1, 1, 1), "float16", Side(along_k=True), Side(along_k=False))
>>> run = function_from_source(HEADER.format(threads=32) + small.text, small.name, {})
>>> a, b, out = (np.ones(sizes, np.float16) for sizes in ((20, 48), (48, 40), (20, 40)))
>>> a[3], sizes = 2, [np.int64(n) for n in (1, 20, 40, 48, 0, 48, 0, 40)]
>>> counts = simulate(run, counts=True)[2, 32](*(x.view(np.uint16).ravel() for x in (a, b, out)), *sizes).counts
>>> (out == a @ b).all(), counts.of("ldmatrix").shared_passes > 0, counts.total.bank_conflicts
(np.True_, True, 0)
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from minitorch_compile.inductor.device_calls.launcher import SIZE

CHUNK = 16
WARP_COLUMNS = 32
SCRATCH = 16 * 40  # words for 16 rows of 32 sums; rows are 40 apart, so that 4 rows begin in different banks


class Tile(NamedTuple):
    """How many warps lie in a tile, down and across, how many blocks of 16 rows each has, for how many steps there is
    room in shared memory, how many bytes of k are a step, and how many blocks of 32 columns a warp has."""

    down: int
    across: int
    blocks: int
    stages: int = 3
    step: int = 64
    wide: int = 1

    @property
    def rows(self) -> int:
        return 16 * self.down * self.blocks

    @property
    def columns(self) -> int:
        return WARP_COLUMNS * self.across * self.wide

    @property
    def threads(self) -> int:
        return 32 * self.down * self.across


class Side(NamedTuple):
    """How a factor lies: whether neighbours in memory are neighbours along k; else they are along rows or columns."""

    along_k: bool


# The bytes of an element, the instruction that multiplies, what packs two results.
ELEMENTS = {
    "bfloat16": (2, "mma_bfloat16", "pack_bfloat16"),
    "float16": (2, "mma_float16", "pack_float16"),
}
SIZES = ("batch", "rows", "columns", "inner", "a_apart", "a_line", "b_apart", "b_line")

IMPORTS = """\
from numba.cuda import libdevice

from minitorch_compile.inductor.codegen.cuda import tensor_cores


"""

TEXT = """\
def {name}({parameters}):
    words = cuda.shared.array({words}, int32)
    thread = cuda.threadIdx.x
    lane, warp = int32(thread & 31), int32(thread >> 5)
    warp_row, warp_column = int32({warp_rows} * (warp // {across})), int32({warp_columns} * (warp % {across}))
    a_place = int32({a_place})
    b_place = int32({b_place} + {b_start})
    down, over = int32((rows + {tile_rows} - 1) // {tile_rows}), int32((columns + {tile_columns} - 1) // {tile_columns})
    each = int32(down * over)
    steps = int32((inner + {depth} - 1) // {depth})
    for tile in range(cuda.blockIdx.x, int32(batch) * each, cuda.gridDim.x):
        matrix = tensor_cores.quotient(tile, each)
        number = int32(tile - matrix * each)
        band = int32(tensor_cores.quotient(number, int32({band} * over)) * {band})
        height = min(int32(down - band), int32({band}))
        in_band = int32(number - band * over)
        column_of_tiles = tensor_cores.quotient(in_band, height)
        top = (band + in_band - column_of_tiles * height) * {tile_rows}
        left = column_of_tiles * {tile_columns}
{prepare}
        zero = (float32(0), float32(0), float32(0), float32(0))
{zeros}
        coming, going = int32(0), int32(0)
        for step in range({first_step}, steps):
            if step >= 0:
                tensor_cores.cp_async_wait_{waiting}()
                cuda.syncthreads()
            k = int32((step - {first_step}) * {depth})
            if k < int32(inner):
{copy}
                coming = int32(coming + {stage_words}) if coming < {last_stage} else int32(0)
            tensor_cores.cp_async_commit()
            if step >= 0:
                at_a, at_b = int32(a_place + going), int32(b_place + going)
{multiply}
                going = int32(going + {stage_words}) if going < {last_stage} else int32(0)
        tensor_cores.cp_async_wait_0()
        cuda.syncthreads()
        corner = {scratch} * warp + 40 * (lane >> 2)
        pair = 2 * (lane & 3)
{blocks}
        cuda.syncthreads()


{name}.launch_bounds = {bounds}
"""

BLOCK = """\
{lay}
cuda.syncwarp()
{finish}
cuda.syncwarp()
"""

# A lane writes two neighbours of a row at once.
PLAIN = """\
for n in range(8):
    line, column = (n & 3) + 4 * (lane >> 4) + 8 * (n >> 2), 2 * (lane & 15)
    at, flip = {scratch} * warp + 40 * line, (line >> 2) & 1
    one = libdevice.int_as_float(words[at + (column ^ flip)])
    other = libdevice.int_as_float(words[at + ((column + 1) ^ flip)])
    row, column = top + warp_row + {below} + line, left + warp_column + {right} + column
    if row < rows and column < columns:
        place = (matrix * rows + row) * columns + column
        if columns & 1:
            out[place] = half_floats.{element}_of_float32(one)
            if column + 1 < columns:
                out[place + 1] = half_floats.{element}_of_float32(other)
        else:
            tensor_cores.store_word(out, place, tensor_cores.{pack}(one, other))
"""

# A lane goes down a column, and hands each element to what follows.
FUSED = """\
for line in range(16):
    total = libdevice.int_as_float(words[{scratch} * warp + 40 * line + (lane ^ ((line >> 2) & 1))])
    row, column = top + warp_row + {below} + line, left + warp_column + {right} + lane
    if row < rows and column < columns:
        place = (matrix * rows + row) * columns + column
        element = half_floats.{element}_of_float32(total)
{keep}        finish(element, place, matrix * rows + row, column{arguments})
"""


@dataclass
class Epilogue:
    """What follows a product: the text of a device function `finish` of an element's bits, of its place in the result,
    its line and its column there, and of these pointers and numbers; the kinds of the latter. `keeps`: whether the
    product itself is stored, too.
    """

    text: str
    pointers: dict[str, str]
    numbers: dict[str, str]
    keeps: bool


def swizzle(chunks: int, line: str) -> str:
    """By what the number of a chunk is changed in a line of so many chunks, of which 8 lie in all banks.

    >>> swizzle(4, "line"), swizzle(16, "line")
    ('((line >> 1) & 3)', '(line & 7)')
    """
    if chunks >= 8:
        return f"({line} & 7)"
    shift = {4: 1, 2: 2, 1: 3}[chunks]
    return f"(({line} >> {shift}) & {chunks - 1})"


@dataclass
class Strip:
    """A strip of a factor in shared memory: `lines` of so many `chunks`. `outer` is its size along rows or columns."""

    name: str
    outer: int
    side: Side
    size: int  # bytes of an element
    depth: int

    @property
    def lines(self) -> int:
        return self.outer if self.side.along_k else self.depth

    @property
    def chunks(self) -> int:
        return (self.depth if self.side.along_k else self.outer) * self.size // CHUNK

    @property
    def words(self) -> int:
        return self.lines * self.chunks * CHUNK // 4

    def swizzled(self, chunk: str, line: str) -> str:
        """Where a chunk of a line lies among those of the line."""
        return f"({chunk} ^ {swizzle(self.chunks, line)})"

    def word(self, chunk: str, line: str) -> str:
        """The word at which a chunk of a line begins."""
        return f"{4 * self.chunks} * {line} + 4 * {self.swizzled(chunk, line)}"

    def load(self) -> str:
        """What brings 16 x 16 elements into registers; along k, those of a lie as mma wants them, as do those of b."""
        return "ldmatrix_x4" if self.side.along_k else "ldmatrix_x4_transposed"

    def place(self, of_warp: str, halves_are_lines: bool) -> str:
        """The word at which a lane's row of the first of four matrices begins: of these, two lie side by side, and two
        one below the other, which come next if `halves_are_lines`, in lanes 8 to 15, or last."""
        if halves_are_lines:
            line, part = "(lane & 15)", "(lane >> 4)"
        else:
            line, part = "((lane & 7) + 8 * (lane >> 4))", "((lane >> 3) & 1)"
        if self.side.along_k:
            line = f"({of_warp} + {line})"
        else:
            part = f"({of_warp} // {CHUNK // self.size} + {part})"
        return f"{4 * self.chunks} * {line} + 4 * ({part} ^ {swizzle(self.chunks, 'lane')})"

    def fragment(self, number: int, k: int) -> str:
        """Where the block of 16 elements `number` begins, in the 16 elements `k` of the depth."""
        chunk, line = (2 * k, 16 * number) if self.side.along_k else (2 * number, 16 * k)
        return f"(at_{self.name} ^ {4 * chunk}) + {4 * self.chunks * line}"

    def copies(self, threads: int) -> range:
        return range(-(-self.lines * self.chunks // threads))

    def prepare(self, threads: int, start: str, limit: str, base: int) -> Iterator[str]:
        """What a thread copies in each step, and where: its line and its chunk of the strip."""
        name, each = self.name, CHUNK // self.size
        for n in self.copies(threads):
            mine, line = f"(thread + {n * threads})" if n else "thread", f"{name}_line{n}"
            yield f"{line}, chunk = int32({mine} // {self.chunks}), int32({mine} % {self.chunks})"
            yield f"{name}_to{n} = int32({self.word('chunk', line)} + {base})"
            outer = f"{start} + {line}" if self.side.along_k else f"{start} + {each} * chunk"
            if self.side.along_k:
                yield f"{name}_from{n} = matrix * {name}_apart + ({outer}) * {name}_line + {each} * chunk"
                yield f"{name}_reach{n} = int32(inner - {each} * chunk) if {outer} < {limit} else int32(0)"
            else:
                yield f"{name}_from{n} = matrix * {name}_apart + {line} * {name}_line + {outer}"
                yield f"{name}_reach{n} = int32({self.size} * max(0, min({each}, {limit} - ({outer}))))"

    def copy(self, threads: int) -> Iterator[str]:
        """The copies of one thread in one step, which begins at k."""
        name, each = self.name, CHUNK // self.size
        for n in self.copies(threads):
            if self.side.along_k:
                left = f"int32({name}_reach{n} - k)"
                count = f"int32({self.size} * max(int32(0), min(int32({each}), {left})))"
                source = f"{name}_from{n} + k"
            else:
                count = f"({name}_reach{n} if int32({name}_line{n} + k) < int32(inner) else int32(0))"
                source = f"{name}_from{n} + k * {name}_line"
            call = f"tensor_cores.cp_async_16(words, int32({name}_to{n} + coming), {name}, {source}, {count})"
            whole = self.lines * self.chunks >= (n + 1) * threads
            yield call if whole else f"if {name}_line{n} < {self.lines}:\n    {call}"


@dataclass
class ProductKernel:
    """The text of a kernel, and what it is called with."""

    tile: Tile
    element: str
    a: Side
    b: Side
    epilogue: Epilogue | None = None
    text: str = field(init=False)
    name: str = field(init=False)

    def __post_init__(self) -> None:
        letters = "".join("tn"[not side.along_k] for side in (self.a, self.b))
        self.name = f"tensor_core_product_{self.tile.rows}x{self.tile.columns}_{self.element}_{letters}"
        self.text = self.written()

    @property
    def pointers(self) -> dict[str, str]:
        """Names and kinds of what lies in memory."""
        of_epilogue = {} if self.epilogue is None else self.epilogue.pointers
        names = ["a", "b", *(["out"] if self.epilogue is None or self.epilogue.keeps else [])]
        return dict.fromkeys(names, "uint16") | of_epilogue

    @property
    def parameters(self) -> list[str]:
        """The kinds of the kernel's parameters."""
        numbers = {} if self.epilogue is None else self.epilogue.numbers
        return [*self.pointers.values(), *[SIZE] * len(SIZES), *numbers.values()]

    def tiles(self, batch: int, rows: int, columns: int) -> int:
        return batch * -(-rows // self.tile.rows) * -(-columns // self.tile.columns)

    def written(self) -> str:
        tile, (size, mma, pack) = self.tile, ELEMENTS[self.element]
        depth = tile.step // size
        a, b = Strip("a", tile.rows, self.a, size, depth), Strip("b", tile.columns, self.b, size, depth)
        threads, stage = tile.threads, a.words + b.words
        multiply = [line for k in range(a.depth // 16) for line in self.multiply(a, b, k, mma)]
        numbers = {
            **{"name": self.name, "parameters": ", ".join(self.names), "across": tile.across, "depth": a.depth},
            **{"words": max(tile.stages * stage, SCRATCH * threads // 32), "stage_words": stage},
            **{"last_stage": (tile.stages - 1) * stage},
            **{"stages": tile.stages, "first_step": 1 - tile.stages, "waiting": tile.stages - 2},
            **{"warp_rows": 16 * tile.blocks, "warp_columns": WARP_COLUMNS * tile.wide},
            **{"tile_rows": tile.rows, "tile_columns": tile.columns, "band": 8},
            **{"a_place": a.place("warp_row", self.a.along_k), "b_start": a.words, "scratch": SCRATCH},
            **{"b_place": b.place("warp_column", not self.b.along_k)},
            "prepare": indented(
                [*a.prepare(threads, "top", "rows", 0), *b.prepare(threads, "left", "columns", a.words)], 2
            ),
            "zeros": indented([f"sums{n} = zero" for n in range(4 * tile.blocks * tile.wide)], 2),
            "copy": indented([*a.copy(threads), *b.copy(threads)], 4),
            "multiply": indented(multiply, 4),
            "blocks": indented([self.block(i, j, pack) for i in range(tile.blocks) for j in range(tile.wide)], 2),
        }
        numbers["bounds"] = bounds(threads)
        function = "" if self.epilogue is None else f"@cuda.jit(device=True)\n{self.epilogue.text}\n\n"
        return f"{IMPORTS}{function}{TEXT.format(**numbers)}"

    @property
    def names(self) -> list[str]:
        return [*self.pointers, *SIZES, *({} if self.epilogue is None else self.epilogue.numbers)]

    def multiply(self, a: Strip, b: Strip, k: int, mma: str) -> Iterator[str]:
        for i in range(self.tile.blocks):
            yield f"of_a{i} = tensor_cores.{a.load()}(words, {a.fragment(i, k)})"
        for j in range(2 * self.tile.wide):
            names = ", ".join(f"upper{n}, lower{n}" for n in (2 * j, 2 * j + 1))
            yield f"{names} = tensor_cores.{b.load()}(words, {b.fragment(j, k)})"
        for i in range(self.tile.blocks):
            for j in range(4 * self.tile.wide):
                sums = f"sums{4 * self.tile.wide * i + j}"
                yield f"{sums} = tensor_cores.{mma}(of_a{i}, (upper{j}, lower{j}), {sums})"

    def block(self, down: int, right: int, pack: str) -> str:
        """A block of 16 x 32 sums, from registers to the result."""
        number = down * self.tile.wide + right
        lay = [
            f"words[corner + {8 * j + 320 * half} + ((pair + {n}) ^ {'((lane >> 4) & 1)'})] ="
            f" libdevice.float_as_int(sums{4 * number + j}[{2 * half + n}])"
            for j in range(4)
            for half in range(2)
            for n in range(2)
        ]
        numbers = {"scratch": SCRATCH, "below": 16 * down, "right": 32 * right, "element": self.element}
        if self.epilogue is None:
            finish = PLAIN.format(pack=pack, **numbers)
        else:
            given = "".join(f", {name}" for name in (*self.epilogue.pointers, *self.epilogue.numbers))
            keep = "        out[place] = element\n" if self.epilogue.keeps else ""
            finish = FUSED.format(keep=keep, arguments=given, **numbers)
        return BLOCK.format(lay="\n".join(lay), finish=finish)


def bounds(threads: int, resident: int = 2) -> str:
    """Of a launch: the threads of a block, and how many blocks are to be at once on a multiprocessor, which limits the
    registers that the compiler may use; a small block may have them all."""
    return f"{threads}, {resident if threads >= 256 else 1}"


def indented(lines: Sequence[str], depth: int) -> str:
    return textwrap.indent("\n".join(lines), "    " * depth)
