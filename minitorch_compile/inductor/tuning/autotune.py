"""`mode="max-autotune"`: choosing how to compute things by timing the ways that there are, and remembering the answer.

Which way is the fastest depends on the machine. Two kinds of questions are asked:

* For each matrix product, with the loops that follow it: BLAS or tiles? Should the loops be its epilogue, and if so,
  how many rows make a block? Each product is compiled as a graph of its own, in every way, and timed.
* For each 3x3 convolution of float32 with a stride of 1: the definition, or Winograd's way (`extern.winograd`)?
* For the whole graph: how many loops may one kernel hold? A large kernel reads less memory, and needs more registers.

The candidates run on tensors of zeros in their own sizes, in turns, so that a disturbance hits all of them. What was
found out is kept on disk (`autotune_cache`), so that neither a second process nor a second layer of the same shape
asks again. `MTC_LOGS=perf_hints` shows the tables.

>>> print(table_of("mm of 64 x 64 by 64, 1 thread", {"tiles": 5e-6, "BLAS": 8e-6}, "timed"))
autotune: mm of 64 x 64 by 64, 1 thread (timed)
  tiles                                5.0 us  1.00  <- chosen
  BLAS                                 8.0 us  1.60
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from minitorch_compile import logs
from minitorch_compile.inductor.codegen.cpu.wrapper import write_file
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.loops import LoopGraph
from minitorch_compile.inductor.kernels.calls import WINOGRAD, WINOGRAD_KERNELS, convolution_shape
from minitorch_compile.inductor.kernels.product_tiles import product_rows
from minitorch_compile.inductor.kernels.winograd import suits
from minitorch_compile.inductor.runtime import code_cache
from minitorch_compile.inductor.runtime.tensor_call import tensor_of
from minitorch_compile.inductor.schedule.block_calls import blocks_of
from minitorch_compile.inductor.schedule.cpu_schedule import cpu_schedule
from minitorch_compile.inductor.schedule.fit import Limits
from minitorch_compile.inductor.schedule.fused_call import Blocks, FusedCall
from minitorch_compile.inductor.schedule.packed_products import can_pack, packing_pays, row_blocks
from minitorch_compile.inductor.schedule.schedule import Schedule, call_of
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.inductor.schedule.split_reductions import split_reductions
from minitorch_compile.inductor.schedule.step_graph import step_graph
from minitorch_compile.inductor.tuning.autotune_cache import key_of, recall, remember, structure_of
from minitorch_compile.kernel_options import Options
from minitorch_compile.tensor.cpu.thread_count import get_num_threads
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.numerics.dtype import float32

FUSION_LIMITS = (300, 8, 1)
TILES_OF_BLOCK = (4, 8, 16)  # of rows, of a product with an epilogue
ROUNDS = 7
NOISE = 1.02  # of candidates that differ by less, the one that is listed first is taken
SHORTEST_TURN = 2e-4  # seconds that a candidate runs in each round, so that the clock can tell

log = logs.artifact("perf_hints")

Compiled = Callable[..., tuple[Any, ...]]
Product = ExternCall | FusedCall  # alone, or with the loops that follow


class Way(NamedTuple):
    """A way to compute a product: by tiles or by BLAS, and how many positions make a block of its epilogue.

    `length` 0 means no epilogue, None the usual length.
    """

    tiles: bool
    length: int | None

    @property
    def name(self) -> str:
        after = {0: "", None: " with epilogue"}.get(self.length, f" with epilogue, blocks of {self.length}")
        return ("tiles" if self.tiles else "BLAS") + after


class Choices:
    """How each product of a graph is to be computed, by the buffer of its result; what isn't there, as usual."""

    def __init__(self, ways: Mapping[Buffer, Way] | None = None) -> None:
        self.ways = dict(ways or {})

    def packed(self, call: ExternCall) -> bool:
        way = self.ways.get(call.outputs[0])
        return packing_pays(call) if way is None else way.tiles

    def blocks_of(self, call: ExternCall) -> Blocks | None:
        way, blocks = self.ways.get(call.outputs[0]), blocks_of(call)
        if way is None or way.length is None or blocks is None:
            return blocks
        return blocks._replace(length=min(way.length, blocks.extent)) if way.length else None


# ------------------------------------------------------------------------------------------------ products


def choose_products(graph: LoopGraph) -> Choices:
    """The fastest way for each product of a graph."""
    planned = schedule(split_reductions(graph), Limits(blocks_of=blocks_of_any))
    products = [step for step in planned.steps if isinstance(step, (ExternCall, FusedCall)) and can_pack(call_of(step))]
    return Choices({call_of(step).outputs[0]: fastest_way(planned, step) for step in products})


def blocks_of_any(call: ExternCall) -> Blocks | None:
    """Blocks of any product, so that the scheduler shows which loops could be its epilogue."""
    return row_blocks(call) if call.kernel == "mm" else blocks_of(call)


def ways_of(step: Product) -> list[Way]:
    """All ways to compute a product and, if it is fused with some, the loops that follow it."""
    if not isinstance(step, FusedCall):
        return [Way(tiles=True, length=0), Way(tiles=False, length=0)]
    if step.call.kernel == "bmm":
        return [Way(tiles, length) for length in (None, 0) for tiles in (True, False)]
    usual = step.blocks.length
    others = (product_rows() * tiles for tiles in TILES_OF_BLOCK)
    lengths = [usual, *(length for length in others if length != usual and length < step.blocks.extent)]
    return [*(Way(True, length) for length in lengths), Way(True, 0), Way(False, 0)]


def fastest_way(planned: Schedule, step: Product) -> Way:
    """The way in which a product, with the loops that follow it, takes the shortest time."""
    graph, ways = step_graph(planned, step), {way.name: way for way in ways_of(step)}
    (result,) = call_of(step).outputs
    makers = {name: partial(compile_with, graph, Options(), Choices({result: way})) for name, way in ways.items()}
    return ways[fastest(title_of(step), graph, makers)]


def title_of(step: Product) -> str:
    call = call_of(step)
    sizes = [" x ".join(map(str, view.sizes)) for view in call.inputs]
    after = f" and {len(step.epilogue.members)} loops" if isinstance(step, FusedCall) else ""
    return f"{call.kernel} of {sizes[0]} by {sizes[1]}, {call.outputs[0].dtype.name}{after}"


# ------------------------------------------------------------------------------------------------ convolutions


def choose_convolutions(graph: LoopGraph) -> LoopGraph:
    """The same graph, in which the convolutions are computed in Winograd's way for which that is faster."""
    planned = schedule(split_reductions(graph), Limits(blocks_of=blocks_of_any))
    calls = [
        step for step in planned.steps if isinstance(step, (ExternCall, FusedCall)) and can_transform(call_of(step))
    ]
    chosen = {call_of(step).outputs[0] for step in calls if transforming_pays(planned, step)}
    return transformed(graph, chosen) if chosen else graph


def can_transform(call: ExternCall) -> bool:
    """Whether Winograd's way is possible."""
    return (
        WINOGRAD + call.kernel in WINOGRAD_KERNELS
        and call.outputs[0].dtype is float32
        and suits(convolution_shape(call))
    )


def transformed(graph: LoopGraph, results: Collection[Buffer]) -> LoopGraph:
    """The same graph, in which the convolutions that make these results are computed in Winograd's way."""
    operations = [
        replace(operation, kernel=WINOGRAD + operation.kernel)
        if isinstance(operation, ExternCall) and operation.outputs[0] in results
        else operation
        for operation in graph.operations
    ]
    return replace(graph, operations=operations)


def transforming_pays(planned: Schedule, step: Product) -> bool:
    """Whether a convolution, with the loops that follow it, is faster in Winograd's way."""
    graph = step_graph(planned, step)
    ways = {"direct": graph, "Winograd": transformed(graph, {call_of(step).outputs[0]})}
    makers = {name: partial(compile_with, way, Options(), Choices()) for name, way in ways.items()}
    return fastest(title_of(step), graph, makers) == "Winograd"


# ------------------------------------------------------------------------------------------------ whole graphs


def fusion_limits(options: Options) -> list[int]:
    """Each fusion limit up to the one asked for.

    >>> fusion_limits(Options(max_autotune=True, max_fusion_size=20))
    [8, 1]
    """
    return [limit for limit in FUSION_LIMITS if limit <= options.max_fusion_size] or [options.max_fusion_size]


def tuned_schedule(graph: LoopGraph, options: Options) -> Schedule:
    """The schedule of a graph, everything in it chosen by timing."""
    graph = choose_convolutions(graph)
    choices = choose_products(graph)
    plain = replace(options, max_autotune=False)
    limited = {f"at most {n} loops": replace(plain, max_fusion_size=n) for n in fusion_limits(options)}
    makers = {name: partial(compile_with, graph, chosen, choices) for name, chosen in limited.items()}
    count = len(graph.operations)
    best = fastest(f"a graph of {count} operations", graph, makers) if len(makers) > 1 else next(iter(makers))
    return cpu_schedule(graph, limited[best], choices.packed, choices.blocks_of)


def compile_with(graph: LoopGraph, options: Options, choices: Choices) -> Compiled:
    """A graph compiled as these choices say."""
    planned = cpu_schedule(graph, options, choices.packed, choices.blocks_of)
    return code_cache.load(write_file(planned, options.reuse_temporaries).source).run


# ------------------------------------------------------------------------------------------------ timing


def fastest(title: str, graph: LoopGraph, makers: Mapping[str, Callable[[], Compiled]]) -> str:
    """The name of the fastest candidate: remembered, or found out by making and timing all."""
    threads, names = get_num_threads(), list(makers)
    key = key_of(f"{structure_of(graph)}\n{names}", threads)
    known = recall(key, names)
    seconds = timed(names, Stopwatch(graph, makers), known)
    if seconds is not known:
        remember(key, seconds)
    if log.is_on:
        source = "remembered" if seconds is known else "timed"
        log(table_of(f"{title}, {threads} thread{'s' if threads > 1 else ''}", seconds, source))
    return first_of_equals(makers, seconds)


def first_of_equals(names: Iterable[str], seconds: Mapping[str, float]) -> str:
    """The first of these names that takes no longer than the fastest, but for noise.

    >>> first_of_equals(["fused", "unfused"], {"fused": 1.01e-5, "unfused": 1.0e-5})
    'fused'
    """
    best = min(seconds.values())
    return next(name for name in names if seconds[name] <= NOISE * best)


def timed(names: Sequence[str], run: Callable[[str], float], known: dict[str, float] | None) -> dict[str, float]:
    """Seconds for each candidate: those that are known, or the shortest of some runs.

    `run(name)` runs a candidate and gives its seconds. The first run of each, a cold one, isn't counted; whatever
    disturbs another one makes it longer.

    >>> clock = iter([90.0, 80.0, *[3.0, 2.0] * ROUNDS])
    >>> timed(["a", "b"], lambda name: next(clock), None)
    {'a': 3.0, 'b': 2.0}
    """
    if known is not None:
        return known
    _, *rounds = [[run(name) for name in names] for _ in range(1 + ROUNDS)]
    return dict(zip(names, map(min, zip(*rounds))))


class Stopwatch:
    """Runs candidates on tensors of zeros; each is made when it is first asked for, and a quick one runs many times."""

    def __init__(self, graph: LoopGraph, makers: Mapping[str, Callable[[], Compiled]]) -> None:
        self.graph = graph
        self.makers = makers
        self.made: dict[str, tuple[Compiled, int]] = {}  # what runs, and how many times in a row

    @cached_property
    def arguments(self) -> list[Any]:
        return [example(buffer) for buffer in [*self.graph.inputs, *self.graph.constants]]

    def __call__(self, name: str) -> float:
        """How long a call of this candidate takes, in seconds."""
        if name not in self.made:
            candidate = self.makers[name]()
            candidate(*self.arguments)
            self.made[name] = candidate, max(1, round(SHORTEST_TURN / self.seconds(candidate, 1)))
        return self.seconds(*self.made[name])

    def seconds(self, candidate: Compiled, calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            candidate(*self.arguments)
        return (time.perf_counter() - start) / calls


def example(buffer: Buffer) -> Any:
    """A tensor of zeros that looks like an input; zero is also a valid index wherever one is wanted."""
    zeros = np.zeros(buffer.length, buffer.dtype.numpy)
    return tensor_of(zeros, Size(buffer.sizes), buffer.strides, buffer.dtype)


def table_of(title: str, seconds: Mapping[str, float], source: str) -> str:
    """A line for each candidate: its name, its time, and how many times the shortest that is."""
    best, chosen = min(seconds.values()), first_of_equals(seconds, seconds)
    lines = [f"autotune: {title} ({source})"]
    for name in sorted(seconds, key=seconds.__getitem__):
        mark = "  <- chosen" if name == chosen else ""
        lines.append(f"  {name:34} {seconds[name] * 1e6:7.1f} us  {seconds[name] / best:.2f}{mark}")
    return "\n".join(lines)
