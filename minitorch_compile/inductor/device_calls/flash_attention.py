"""Attention on tensor cores without a matrix of scores: the template of its kernels (FlashAttention-2, Dao, 2023).

A block of threads has some rows of queries, 16 for each warp, which stay in registers. Keys and values come by in
tiles, through shared memory, the next tile while this one is worked on. Of each row a warp keeps what softmax needs:
the largest score so far, the sum of exponentials below it, and the sum of values weighted so. When a tile brings a
larger score, both sums are scaled down (Milakov and Gimelshein, 2018).

    for each tile:    S = Q K'                        mma: 16 rows of queries by the tile's keys
                      new = max(old, rows of S)       a row lies in 4 lanes: two shuffles
                      P = 2^(S - new)                 base 2: log2(e) is part of the scale
                      sum, out *= 2^(old - new)
                      sum, out += rows of P, P V      P is in registers as mma wants its first factor

With a mask, bytes that are 0 where a query doesn't see a key, scores are hidden one by one; a row that sees nothing is
zeros, and has the logarithm inf, with which its weights come out as 0 again.

The sums S of two neighbouring blocks of 8 columns are the registers of a 16 x 16 factor, once they are packed: that is
why P never leaves the registers.

>>> kernel = AttentionKernel(dim=64, element="bfloat16", warps=8, keys=64)
>>> kernel.name, kernel.rows, kernel.words * 4
('flash_attention_64_bfloat16', 128, 32768)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from minitorch_compile.inductor.device_calls.attention_products import WarpgroupProducts, WarpProducts
from minitorch_compile.inductor.device_calls.launcher import SIZE
from minitorch_compile.inductor.device_calls.tensor_core_product import CHUNK, ELEMENTS, bounds, indented

MASK = tuple(f"mask_{step}" for step in ("batch", "head", "row", "column"))
SIZES = (
    *("batch", "heads", "sharing", "rows", "places", "causal"),
    *(f"{name}_{step}" for name in "qkv" for step in ("batch", "head", "row")),
)

TEXT = """\
def {name}({parameters}, scale):
    words = {shared}
    thread = cuda.threadIdx.x
    lane, warp = int32(thread & 31), int32(thread >> 5)
    group, pair = int32(lane >> 2), int32(2 * (lane & 3))
    k_place = int32({k_place})
    v_place = int32({v_place} + {stage_words})
    down = int32((rows + {rows} - 1) // {rows})
    zero = float32(0)
    nothing = (zero, zero, zero, zero)
    minus_infinity = float32(-inf)
    for tile in range(cuda.blockIdx.x, int32(batch * heads) * down, cuda.gridDim.x):
        matrix = tensor_cores.quotient(tile, down)
        item = tensor_cores.quotient(matrix, int32(heads))
        head = int32(matrix - item * heads)
        head_of_keys = tensor_cores.quotient(head, int32(sharing))
        top = int32((down - 1 - (tile - matrix * down)) * {rows})
        row = int32(top + 16 * warp + group)
        low = row < rows
        high = row + 8 < rows
        start = item * q_batch + head * q_head + row * q_row + pair
{queries}
        k_start = item * k_batch + head_of_keys * k_head
        v_start = item * v_batch + head_of_keys * v_head
{prepare}
        end = int32(min(places, top + {rows})) if causal else int32(places)
        limit, limit8, bare = int32(places - 1), int32(places - 1), int32(places)
        if causal:
            limit, limit8, bare = min(limit, row), min(limit, int32(row + 8)), int32(min(places, top + 16 * warp))
{seen}
        best, best8 = {least}, {least}
        total, total8 = float32(0), float32(0)
{zeros}
        coming, going = int32(0), int32(0)
        for first in range(-{keys}, end, {keys}):
            if first >= 0:
{arrived}
            key = int32(first + {keys})
            if key < end:
{copy}
                coming = int32({two_stages} - coming)
            tensor_cores.cp_async_commit()
            if first >= 0:
                at_k, at_v = int32(k_place + going), int32(v_place + going)
                going = int32({two_stages} - going)
{scores}
                if {hides}:
                    place = int32(first + pair)
{mask}
                new, new8 = {largest}
                new = max(new, cuda.shfl_xor_sync(0xFFFFFFFF, new, 1))
                new8 = max(new8, cuda.shfl_xor_sync(0xFFFFFFFF, new8, 1))
                new = max(best, max(new, cuda.shfl_xor_sync(0xFFFFFFFF, new, 2)) * scale)
                new8 = max(best8, max(new8, cuda.shfl_xor_sync(0xFFFFFFFF, new8, 2)) * scale)
                less, less8 = tensor_cores.exp2(best - new), tensor_cores.exp2(best8 - new8)
                best, best8 = new, new8
{powers}
                total, total8 = total * less + {sum}, total8 * less8 + {sum8}
{weigh}
        total = total + cuda.shfl_xor_sync(0xFFFFFFFF, total, 1)
        total8 = total8 + cuda.shfl_xor_sync(0xFFFFFFFF, total8, 1)
        total = total + cuda.shfl_xor_sync(0xFFFFFFFF, total, 2)
        total8 = total8 + cuda.shfl_xor_sync(0xFFFFFFFF, total8, 2)
{last}
        line = matrix * rows + row
        if low:
            if pair == 0:
                logs[line] = log
{store}
        if high:
            if pair == 0:
                logs[line + 8] = log8
{store8}
        cuda.syncthreads()


{name}.launch_bounds = {bounds}
"""
LN2 = 0.6931471805599453


@dataclass
class AttentionKernel:
    """The text of a kernel for heads of `dim` numbers; a block has `warps`, a tile so many `keys`."""

    dim: int
    element: str
    warps: int
    keys: int
    masked: bool = False
    grouped: bool = False  # whether four warps multiply together

    @property
    def products(self) -> WarpProducts:
        return (WarpgroupProducts if self.grouped else WarpProducts)(self.element, self.dim, self.keys)

    @property
    def name(self) -> str:
        return f"flash_attention_{self.dim}_{self.element}{'_masked' * self.masked}"

    @property
    def pointers(self) -> dict[str, str]:
        """Names and kinds of what lies in memory, in the order of its parameters."""
        mask = {"mask": "uint8"} if self.masked else {}
        return {**dict.fromkeys("qkv", "uint16"), **mask, "out": "uint16", "logs": "float32"}

    @property
    def sizes(self) -> tuple[str, ...]:
        return (*SIZES, *(MASK if self.masked else ()))

    @property
    def rows(self) -> int:
        return 16 * self.warps

    @property
    def parameters(self) -> list[str]:
        """The kinds of the kernel's parameters. `scale` is that of the scores, times log2(e)."""
        return [*self.pointers.values(), *[SIZE] * len(self.sizes), "=float32"]

    @property
    def shared(self) -> int:
        """Bytes of shared memory that a launch has to ask for."""
        return self.products.asked_for(self.words)

    @property
    def words(self) -> int:
        return 4 * self.products.along().words  # two tiles of keys, two of values

    @property
    def text(self) -> str:
        products, pack = self.products, ELEMENTS[self.element][2]
        tile = products.along().words
        halves = range(self.keys // 8)
        sums = [" + ".join(f"(s{j}[{n}] + s{j}[{n + 1}])" for j in halves) for n in (0, 2)]
        numbers = {
            **{"name": self.name, "parameters": ", ".join([*self.pointers, *self.sizes])},
            "shared": products.shared(self.words),
            **{"rows": self.rows, "keys": self.keys, "stage_words": tile, "two_stages": 2 * tile},
            **{"k_place": products.place_by_rows(), "v_place": products.place_by_columns()},
            "arrived": indented(products.arrived, 4),
            "least": "float32(-3e38)"
            if self.masked
            else "minus_infinity",  # which no score, but what is hidden, is below
            "hides": "True" if self.masked else f"first + {self.keys} > bare",
            "seen": indented([*self.seen()], 2),
            "last": indented([*self.last()], 2),
            **{"sum": sums[0], "sum8": sums[1], "bounds": bounds(32 * self.warps, 1 if self.dim > 64 else 2)},
            "queries": indented([*self.queries()], 2),
            "prepare": indented([*self.prepare()], 2),
            "zeros": indented([f"o{n} = nothing" for n in range(self.dim // 8)], 2),
            "copy": indented([*self.copy()], 4),
            "scores": indented([*products.by_rows("s", "query", "at_k")], 4),
            "mask": indented([*self.mask()], 5),
            "largest": ", ".join(largest([f"s{j}[{n + m}]" for j in halves for m in (0, 1)]) for n in (0, 2)),
            "powers": indented([*self.powers()], 4),
            "weigh": indented([*self.scaled(), *products.by_columns("o", "s", "at_v")], 4),
            "store": indented([self.store(n, pack, 0) for n in range(self.dim // 8)], 3),
            "store8": indented([self.store(n, pack, 8) for n in range(self.dim // 8)], 3),
        }
        return products.imports + TEXT.format(**numbers)

    def queries(self) -> Iterator[str]:
        """Rows of queries as first factors, from global memory, once."""
        return first_factors(self.dim, "q", "start", "q_row", "query")

    def prepare(self) -> Iterator[str]:
        """What a thread copies of each tile: chunks of keys, and those of the values at their side."""
        yield from self.products.dealt(32 * self.warps)
        for n, _ in self.products.copies(32 * self.warps):
            for name in "kv":
                yield f"{name}_from{n} = {name}_start + line{n} * {name}_row + {CHUNK // 2} * chunk{n}"

    def copy(self) -> Iterator[str]:
        tile = self.products.along().words
        for n, whole in self.products.copies(32 * self.warps):
            if not whole:
                yield f"if line{n} < {self.keys}:"
            for name, base in (("k", 0), ("v", tile)):
                to, origin = f"int32(to{n} + coming + {base})", f"{name}_from{n} + key * {name}_row"
                count = f"int32(16) if int32(key + line{n}) < places else int32(0)"
                yield f"{'' if whole else '    '}tensor_cores.cp_async_16(words, {to}, {name}, {origin}, {count})"

    def seen(self) -> Iterator[str]:
        """Where the rows of the mask begin; lines that aren't there see nothing."""
        if self.masked:
            yield "seen = item * mask_batch + head * mask_head + row * mask_row"
            yield "seen8 = seen + 8 * mask_row"
            yield "limit, limit8 = limit if low else int32(-1), limit8 if high else int32(-1)"

    def mask(self) -> Iterator[str]:
        """What a row may not see is minus infinity."""
        for j in range(self.keys // 8):
            scores = []
            for n in range(4):
                column, eight = f"int32(place + {8 * j + n % 2})", "8" if n > 1 else ""
                shown = f"{column} <= limit{eight}"
                if self.masked:
                    shown = f"({shown} and mask[seen{eight} + {column} * mask_column] != 0)"
                scores.append(f"cuda.selp({shown}, s{j}[{n}], minus_infinity)")
            yield f"s{j} = ({', '.join(scores)})"

    def last(self) -> Iterator[str]:
        """What the sums are multiplied by at the end, and their logarithms."""
        for eight in ("", "8"):
            less, log = f"float32(1) / total{eight}", f"(best{eight} + math.log2(total{eight})) * float32({LN2})"
            if self.masked:
                less, log = (
                    f"{text} if total{eight} != 0 else {f}" for text, f in ((less, "float32(0)"), (log, "float32(inf)"))
                )
            yield f"less{eight}, log{eight} = {less}, {log}"

    def powers(self) -> Iterator[str]:
        for j in range(self.keys // 8):
            parts = [f"tensor_cores.exp2(s{j}[{n}] * scale - {('new', 'new8')[n // 2]})" for n in range(4)]
            yield f"s{j} = ({', '.join(parts)})"

    def scaled(self) -> Iterator[str]:
        """The sums so far, below the largest score of now."""
        for n in range(self.dim // 8):
            yield f"o{n} = (o{n}[0] * less, o{n}[1] * less, o{n}[2] * less8, o{n}[3] * less8)"

    def store(self, number: int, pack: str, below: int) -> str:
        less, first = ("less", 0) if below == 0 else ("less8", 2)
        parts = ", ".join(f"o{number}[{first + n}] * {less}" for n in (0, 1))
        place = f"(line + {below}) * {self.dim} + {8 * number} + pair"
        return f"tensor_cores.store_word(out, {place}, tensor_cores.{pack}({parts}))"


def largest(numbers: list[str]) -> str:
    """
    >>> largest(["a", "b", "c"])
    'max(max(a, b), c)'
    """
    text = numbers[0]
    for number in numbers[1:]:
        text = f"max({text}, {number})"
    return text


def first_factors(dim: int, pointer: str, start: str, row: str, name: str) -> Iterator[str]:
    """A thread's part of 16 rows as first factors, `name` and a number for each 16 elements, from global memory."""
    for k in range(dim // 16):
        words = [
            f"tensor_cores.load_word({pointer}, {start} + {8 * half} * {row} + {16 * k + 8 * right})"
            f" if {'high' if half else 'low'} else int32(0)"
            for right in (0, 1)
            for half in (0, 1)
        ]
        for n, word in enumerate(words):
            yield f"f{n} = {word}"
        yield f"{name}{k} = (f0, f1, f2, f3)"
