"""The gradients of attention on tensor cores, without a matrix of scores: the template of two kernels (Dao, 2023).

From the logarithm of each row's sum, any block of the weights P can be made again. With G the gradient of the result,

    P = exp(scale Q K' - logarithms)                      by V:  P' G
    D = P * (G V' - deltas)                               by Q:  scale D K
    deltas[i] = G[i] . out[i]                             by K:  scale D' Q

so both kernels do the same, one for rows of queries, the other, with everything transposed, for rows of keys. A block
of threads has some rows, 16 for each warp, whose two factors stay in registers (`x` and `y`); those of the other side
come by in tiles, through shared memory (`u` and `w`), the next tile while this one is worked on.

                   x   y   u   w    sums of a row
    for queries    Q   G   K   V    by Q                  it writes the *terms* of each row, too, which the other reads:
                                                          its logarithm in base 2, and its delta
    for keys       K   V   Q   G    by K and by V         a row goes over all heads that share it

    for each tile:    S = x u'     T = y w'               mma along the heads' numbers
                      P = 2^(S - logarithm)               base 2: log2(e) is part of the scale
                      D = P * (T - delta)
                      sums += D u, sums of V += P w       mma along the tile: P and D are in registers as it wants them

Nothing is added up by atomic operations, so that the gradients are the same each time. P and D are rounded to floats of
two bytes, sums are float32: an element of a gradient has an error of about 2**-9 (bfloat16) or 2**-12 (float16) of the
sum of its terms' sizes.

>>> kernel = GradientKernel(dim=64, element="bfloat16", warps=8, span=32, of_keys=True)
>>> kernel.name, kernel.rows, kernel.words * 4
('flash_attention_by_keys_64_bfloat16', 128, 16896)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from minitorch_compile.inductor.device_calls.attention_products import WarpgroupProducts, WarpProducts
from minitorch_compile.inductor.device_calls.flash_attention import MASK, first_factors
from minitorch_compile.inductor.device_calls.launcher import SIZE
from minitorch_compile.inductor.device_calls.tensor_core_product import CHUNK, ELEMENTS, bounds, indented

SIZES = (
    *("batch", "heads", "groups", "queries", "places", "causal"),
    *(f"{name}_{step}" for name in "qkv" for step in ("batch", "head", "row")),
)
LOG2_E = 1.4426950408889634

# `turns`: tiles of the other side, of all heads that share the rows, one after the other. While the one that begins at
# line `first` of `head` is worked on, that at `next` of `head_of_next` is copied.
TEXT = """\
def {name}({parameters}, scale, factor):
    words = {shared}
    thread = cuda.threadIdx.x
    lane, warp = int32(thread & 31), int32(thread >> 5)
    group, pair = int32(lane >> 2), int32(2 * (lane & 3))
    for_scores = int32({for_scores})
    for_sums = int32({for_sums})
    down = int32(({lines} + {rows} - 1) // {rows})
    sharing = tensor_cores.quotient(int32(heads), int32(groups))
    zero = float32(0)
    nothing = (zero, zero, zero, zero)
    minus_infinity = float32(-inf)
    for tile in range(cuda.blockIdx.x, int32(batch * {matrices}) * down, cuda.gridDim.x):
        matrix = tensor_cores.quotient(tile, down)
        item = tensor_cores.quotient(matrix, int32({matrices}))
        part = int32(matrix - item * {matrices})
        top = int32((down - 1 - (tile - matrix * down)) * {rows})
        row = int32(top + 16 * warp + group)
        low = row < {lines}
        high = row + 8 < {lines}
{starts}
{held}
{zeros}
{prepare}
        coming, going, first = int32(0), int32(0), int32(0)
        next, head_of_next = begin, head
        for turn in range(-1, turns):
            if turn >= 0:
{arrived}
            if turn + 1 < turns:
{copy}
                coming = int32({stage_words} - coming)
            tensor_cores.cp_async_commit()
            if turn >= 0:
                at_u, at_w = int32(for_scores + going), int32(for_scores + going + {strip_words})
                sums_u, sums_w = int32(for_sums + going), int32(for_sums + going + {strip_words})
                at_terms = int32({terms} + 2 * pair + ({terms_words} if going else 0))
                going = int32({stage_words} - going)
{scores}
{mask}
{weights}
            first, head = next, head_of_next
            next = int32(next + {span})
            if next >= end:
                next, head_of_next = begin, int32(head_of_next + 1)
{store}
        cuda.syncthreads()


{name}.launch_bounds = {bounds}
"""

# Where the two kinds of kernel differ.
STARTS = {
    False: """\
head, end, begin = part, int32(places), int32(0)
head_of_keys = tensor_cores.quotient(head, sharing)
limit, limit8, bare = int32(places - 1), int32(places - 1), int32(places)
if causal:
    end = int32(min(places, top + {rows}))
    limit, limit8, bare = min(limit, row), min(limit, int32(row + 8)), int32(min(places, top + 16 * warp))
turns = int32((end + {span} - 1) // {span})
x_start = item * q_batch + head * q_head + row * q_row + pair
y_start = (matrix * queries + row) * {dim} + pair
x_row, y_row = q_row, int64({dim})
""",
    True: """\
head, end, begin = int32(part * sharing), int32(queries), int32(0)
least, least8, bare = int32(0), int32(0), int32(0)
if causal:
    begin = int32(top // {span} * {span})
    least, least8, bare = row, int32(row + 8), int32(top + 16 * warp + 15)
turns = int32(max(int32(0), end - begin) + {span} - 1) // {span} * sharing
x_start = item * k_batch + part * k_head + row * k_row + pair
y_start = item * v_batch + part * v_head + row * v_row + pair
x_row, y_row = k_row, v_row
""",
}


@dataclass
class GradientKernel:
    """The text of a kernel for heads of `dim` numbers; a block has `warps`, a tile of the other side `span` lines."""

    dim: int
    element: str
    warps: int
    span: int
    of_keys: bool
    masked: bool = False
    grouped: bool = False  # whether four warps multiply together

    @property
    def name(self) -> str:
        side = "keys" if self.of_keys else "queries"
        return f"flash_attention_by_{side}_{self.dim}_{self.element}{'_masked' * self.masked}"

    @property
    def rows(self) -> int:
        return 16 * self.warps

    @property
    def pointers(self) -> dict[str, str]:
        """Names and kinds of what lies in memory, in the order of its parameters: what is read, what is written."""
        words = ["x", "y", "u", "w"] if self.of_keys else ["x", "y", "u", "w", "out"]
        numbers = ["terms"] if self.of_keys else ["logs", "terms"]
        made = ["x_out", "y_out"] if self.of_keys else ["x_out"]
        mask = {"mask": "uint8"} if self.masked else {}
        return {
            **dict.fromkeys(words, "uint16"),
            **mask,
            **dict.fromkeys(numbers, "float32"),
            **dict.fromkeys(made, "uint16"),
        }

    @property
    def parameters(self) -> list[str]:
        """The kinds of the kernel's parameters. `scale` is that of the scores, times log2(e), `factor` without."""
        return [*self.pointers.values(), *[SIZE] * len(self.sizes), "=float32", "=float32"]

    @property
    def sizes(self) -> tuple[str, ...]:
        return (*SIZES, *(MASK if self.masked else ()))

    @property
    def products(self) -> WarpProducts:
        return (WarpgroupProducts if self.grouped else WarpProducts)(self.element, self.dim, self.span)

    @property
    def shared(self) -> int:
        """Bytes of shared memory that a launch has to ask for."""
        return self.products.asked_for(self.words)

    @property
    def words(self) -> int:
        """Of two tiles of both factors, and for keys two of what belongs to their queries."""
        return self.tile_words + (4 * self.span if self.of_keys else 0)

    @property
    def tile_words(self) -> int:
        return 4 * self.products.along().words

    @property
    def blocks(self) -> range:
        """The blocks of 8 columns of a tile's scores."""
        return range(self.span // 8)

    @property
    def text(self) -> str:
        products, pack = self.products, ELEMENTS[self.element][2]
        numbers = {"rows": self.rows, "span": self.span, "dim": self.dim}
        made = ("x", "y") if self.of_keys else ("x",)
        parts = {
            **numbers,
            **{"name": self.name, "parameters": ", ".join([*self.pointers, *self.sizes])},
            "shared": products.shared(self.words),
            **{"lines": "places" if self.of_keys else "queries", "matrices": "groups" if self.of_keys else "heads"},
            **{"for_scores": products.place_by_rows(), "for_sums": products.place_by_columns()},
            "arrived": indented(products.arrived, 4),
            **{"strip_words": self.tile_words // 4, "stage_words": self.tile_words // 2},
            **{"terms": self.tile_words, "terms_words": 2 * self.span},
            "bounds": bounds(32 * self.warps, 1),
            "starts": indented(STARTS[self.of_keys].format(**numbers).splitlines(), 2),
            "held": indented([*self.held()], 2),
            "zeros": indented([f"{name}s{n} = nothing" for name in made for n in range(self.dim // 8)], 2),
            "prepare": indented([*self.prepare()], 2),
            "copy": indented([*self.copy()], 4),
            "scores": indented([*self.scores()], 4),
            "mask": indented([*self.mask()], 4),
            "weights": indented([*self.weights()], 4),
            "store": indented([line for name in made for line in self.store(name, pack)], 2),
        }
        return products.imports + TEXT.format(**parts)

    def held(self) -> Iterator[str]:
        """What stays in registers: a block's rows; for queries, their deltas, and logarithms, in base 2."""
        yield from first_factors(self.dim, "x", "x_start", "x_row", "x")
        yield from first_factors(self.dim, "y", "y_start", "y_row", "y")
        if self.masked:  # lines that aren't there see nothing, and nobody sees them
            name, none = ("least", "0x7FFFFFFF") if self.of_keys else ("limit", "-1")
            yield f"{name}, {name}8 = {name} if low else int32({none}), {name}8 if high else int32({none})"
        if self.of_keys:
            return
        yield "delta, delta8 = float32(0), float32(0)"
        for k in range(self.dim // 16):
            for n in range(4):
                half, right = n % 2, n // 2
                yield (
                    f"word = tensor_cores.load_word(out, y_start + {8 * half * self.dim} + {16 * k + 8 * right})"
                    f" if {'high' if half else 'low'} else int32(0)"
                )
                name = ("delta", "delta8")[half]
                yield f"{name} += {self.half(f'y{k}[{n}]', 0)} * {self.half('word', 0)}"
                yield f"{name} += {self.half(f'y{k}[{n}]', 1)} * {self.half('word', 1)}"
        for lanes in (1, 2):
            for name in ("delta", "delta8"):
                yield f"{name} += cuda.shfl_xor_sync(0xFFFFFFFF, {name}, {lanes})"
        yield "line = matrix * queries + row"
        yield f"log = logs[line] * float32({LOG2_E}) if low else float32(0)"
        yield f"log8 = logs[line + 8] * float32({LOG2_E}) if high else float32(0)"
        yield "if low and pair == 0:"
        yield "    terms[2 * line], terms[2 * line + 1] = log, delta"
        yield "if high and pair == 0:"
        yield "    terms[2 * line + 16], terms[2 * line + 17] = log8, delta8"

    def half(self, word: str, which: int) -> str:
        """The lower or the upper of two floats in a word."""
        return f"half_floats.float32_of_{self.element}(uint16(({word} >> {16 * which}) & 0xFFFF))"

    def prepare(self) -> Iterator[str]:
        """What a thread copies of each tile: chunks of one side, and those of the other beside them."""
        if self.of_keys:
            yield f"u_row, w_row = q_row, int64({self.dim})"
        else:
            yield "u_row, w_row = k_row, v_row"
        yield from self.products.dealt(32 * self.warps)
        for n, _ in self.products.copies(32 * self.warps):
            for name in "uw":
                yield f"{name}_from{n} = line{n} * {name}_row + {CHUNK // 2} * chunk{n}"

    def copy(self) -> Iterator[str]:
        """The next tile, of which lines beyond the last are zeros."""
        if self.of_keys:
            yield "u_start = item * q_batch + head_of_next * q_head + next * u_row"
            yield "w_start = ((item * heads + head_of_next) * queries + next) * w_row"
        else:
            yield "u_start = item * k_batch + head_of_keys * k_head + next * u_row"
            yield "w_start = item * v_batch + head_of_keys * v_head + next * w_row"
        for n, whole in self.products.copies(32 * self.warps):
            if not whole:
                yield f"if line{n} < {self.span}:"
            for name, base in (("u", 0), ("w", self.tile_words // 4)):
                count = f"int32(16) if int32(next + line{n}) < {'queries' if self.of_keys else 'places'} else int32(0)"
                place = f"int32(to{n} + coming + {base}), {name}, {name}_start + {name}_from{n}"
                yield f"{'' if whole else '    '}tensor_cores.cp_async_16(words, {place}, {count})"
        if self.of_keys:
            yield "line = (item * heads + head_of_next) * queries + next + thread"
            yield f"place = int32({self.tile_words} + 2 * thread + ({2 * self.span} if coming else 0))"
            yield f"if thread < {self.span}:"
            yield "    there = int32(8) if int32(next + thread) < queries else int32(0)"
            yield "    tensor_cores.cp_async_8(words, place, terms, 2 * line, there)"

    def scores(self) -> Iterator[str]:
        """Those of the tile; the second product goes on."""
        yield from self.products.begin_by_rows("s", "x", "at_u")
        yield from self.products.begin_by_rows("t", "y", "at_w")
        yield from self.products.finish("s", self.span // 8, behind=1)

    def mask(self) -> Iterator[str]:
        """What a query may not see, or isn't there, is minus infinity; most tiles have nothing of it."""
        if self.of_keys:
            hides = f"first + {self.span} > end or first < bare"
        else:
            hides = f"first + {self.span} > bare"
        yield f"if {'True' if self.masked else hides}:"
        yield "    place = int32(first + pair)"
        if self.masked:
            yield "    seen = item * mask_batch + head * mask_head"
            yield f"    seen += row * {'mask_column' if self.of_keys else 'mask_row'}"
            yield f"    seen8 = seen + 8 * {'mask_column' if self.of_keys else 'mask_row'}"
        for j in self.blocks:
            scores = []
            for n in range(4):
                column, eight = f"int32(place + {8 * j + n % 2})", "8" if n > 1 else ""
                shown = (
                    f"({column} >= least{eight}) & ({column} < end)" if self.of_keys else f"{column} <= limit{eight}"
                )
                if self.masked:
                    step = "mask_row" if self.of_keys else "mask_column"
                    shown = f"({shown} and mask[seen{eight} + {column} * {step}] != 0)"
                scores.append(f"cuda.selp({shown}, s{j}[{n}], minus_infinity)")
            yield f"    s{j} = ({', '.join(scores)})"

    def weights(self) -> Iterator[str]:
        """P in place of the scores, and D in place of G V'; D u, and for keys P w, added to what there is."""
        ends = [[f"{j}_{n % 2}" if self.of_keys else ("", "8")[n // 2] for n in range(4)] for j in self.blocks]
        for j in self.blocks:
            if self.of_keys:  # the queries of two columns, which are a lane's
                names = ", ".join(f"log{j}_{n}, delta{j}_{n}" for n in (0, 1))
                yield f"{names} = tensor_cores.load_four(words, at_terms + {16 * j})"
            powers = [f"tensor_cores.exp2(s{j}[{n}] * scale - log{end})" for n, end in enumerate(ends[j])]
            yield f"s{j} = ({', '.join(powers)})"
        if self.of_keys:
            yield from self.products.begin_by_columns("ys", "s", "sums_w")
        yield from self.products.finish("t", self.span // 8, behind=int(self.of_keys))
        for j in self.blocks:
            yield f"t{j} = ({', '.join(f's{j}[{n}] * (t{j}[{n}] - delta{end})' for n, end in enumerate(ends[j]))})"
        yield from self.products.begin_by_columns("xs", "t", "sums_u")
        for name in ("xs", "ys") if self.of_keys else ("xs",):
            yield from self.products.finish(name, self.dim // 8)

    def store(self, name: str, pack: str) -> Iterator[str]:
        times, lines = " * factor" if name == "x" else "", "places" if self.of_keys else "queries"
        for below, shown, first in ((0, "low", 0), (8, "high", 2)):
            yield f"if {shown}:"
            for n in range(self.dim // 8):
                values = ", ".join(f"{name}s{n}[{first + m}]{times}" for m in (0, 1))
                place = f"(matrix * {lines} + row + {below}) * {self.dim} + {8 * n} + pair"
                yield f"    tensor_cores.store_word({name}_out, {place}, tensor_cores.{pack}({values}))"
