"""Matrix products by a kernel of ours, tile by tile: where cuBLASLt isn't, and in the simulator.

A block of threads makes one tile of the result at a time. Strips of a and b, DEPTH wide, come to shared memory once,
where each number is read by all threads of a row or a column of the block; each thread keeps EACH x EACH sums.

                          b
                    +-----+----+--
                    |     |####|         a strip of b, DEPTH high
           a        |     |####|
        +-----+     +-----+----+--
        |#####|     |     |tile|         threads lie in it as thread = COLUMNS * (row % ROWS) + column % COLUMNS
        +-----+     +-----+----+--

>>> text, name = tile_product("float32", threads=32)
>>> print(text[:63])
def tile_product_float32(a, b, out, batch, rows, columns, inner
"""

from __future__ import annotations

from minitorch_compile.inductor.device_calls.launcher import SIZE

DEPTH = 8
POINTERS = 3
SIZES = (
    *("batch", "rows", "columns", "inner"),
    *("a_apart", "a_row", "a_inner", "b_apart", "b_inner", "b_column"),
)

TEXT = """\
def {name}(a, b, out, {sizes}):
    strip_of_a = cuda.shared.array({a_strip}, {element})
    strip_of_b = cuda.shared.array({b_strip}, {element})
    sums = cuda.local.array({sums}, {element})
    thread = cuda.threadIdx.x
    my_row, my_column = thread // {threads_across}, thread % {threads_across}
    across, down = (columns + {width} - 1) // {width}, (rows + {height} - 1) // {height}
    for tile in range(cuda.blockIdx.x, batch * down * across, cuda.gridDim.x):
        matrix = tile // (down * across)
        top, left = tile // across % down * {height}, tile % across * {width}
        for n in range({sums}):
            sums[n] = 0
        for start in range(0, inner, {depth}):
            for n in range(thread, {a_strip}, {threads}):
                row, k = top + n // {depth}, start + n % {depth}
                strip_of_a[n] = 0
                if row < rows and k < inner:
                    strip_of_a[n] = a[matrix * a_apart + row * a_row + k * a_inner]
            for n in range(thread, {b_strip}, {threads}):
                k, column = start + n // {width}, left + n % {width}
                strip_of_b[n] = 0
                if k < inner and column < columns:
                    strip_of_b[n] = b[matrix * b_apart + k * b_inner + column * b_column]
            cuda.syncthreads()
            for k in range({depth}):
                for i in range({each}):
                    factor = strip_of_a[(my_row + i * {threads_down}) * {depth} + k]
                    for j in range({each}):
                        sums[i * {each} + j] += factor * strip_of_b[k * {width} + my_column + j * {threads_across}]
            cuda.syncthreads()
        for i in range({each}):
            row = top + my_row + i * {threads_down}
            for j in range({each}):
                column = left + my_column + j * {threads_across}
                if row < rows and column < columns:
                    out[(matrix * rows + row) * columns + column] = sums[i * {each} + j]
"""


def tile_sizes(threads: int) -> tuple[int, int, int]:
    """Threads down and across a tile, and the sums that each keeps down and across.

    >>> tile_sizes(256), tile_sizes(32)
    ((16, 16, 4), (4, 8, 2))
    """
    across = 16 if threads >= 256 else 8
    return threads // across, across, 4 if threads >= 256 else 2


def tile_product(element: str, threads: int) -> tuple[str, str]:
    """The text of the kernel for elements of this dtype, and its name."""
    down, across, each = tile_sizes(threads)
    height, width = down * each, across * each
    name = f"tile_product_{element}"
    numbers = {
        **{"name": name, "element": element, "sizes": ", ".join(SIZES), "threads": threads, "depth": DEPTH},
        **{"threads_down": down, "threads_across": across, "height": height, "width": width},
        **{"each": each, "sums": each * each, "a_strip": height * DEPTH, "b_strip": DEPTH * width},
    }
    text = TEXT.format(**numbers)
    return text, name


def parameters(element: str) -> list[str]:
    """The kinds of the kernel's parameters."""
    return [element] * POINTERS + [SIZE] * len(SIZES)


def tiles_of(batch: int, rows: int, columns: int, threads: int) -> int:
    """How many tiles there are to make."""
    down, across, each = tile_sizes(threads)
    return batch * -(-rows // (down * each)) * -(-columns // (across * each))
