"""An allocator's figures as a table for people: torch.cuda.memory_summary.

>>> from minitorch_compile.cuda_runtime.statistics import AllocatorStatistics
>>> statistics = AllocatorStatistics()
>>> statistics.pools["large_pool"].allocated.change(1, 3 << 20)
>>> print("\\n".join(memory_summary(statistics.figures(), abbreviated=True).splitlines()[5:8]))
|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
|---------------------------------------------------------------------------|
| Allocated memory      |   3072 KiB |   3072 KiB |   3072 KiB |      0 B   |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from minitorch_compile.cuda_runtime.statistics import METRICS

BYTES = {
    "allocated_bytes": "Allocated memory",
    "active_bytes": "Active memory",
    "requested_bytes": "Requested memory",
    "reserved_bytes": "GPU reserved memory",
    "inactive_split_bytes": "Non-releasable memory",
}
PIECES = {
    "allocation": "Allocations",
    "active": "Active allocs",
    "segment": "GPU reserved segments",
    "inactive_split": "Non-releasable allocs",
}
OVERSIZE = {"oversize_allocations": "Oversize allocations", "oversize_segments": "Oversize GPU segments"}
POOLS = {"large_pool": "      from large pool", "small_pool": "      from small pool"}
THICK, THIN = "=" * 75, "-" * 75
HEADER = f" {'Metric':^21} | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  "


def memory_summary(figures: Mapping[str, int], device: int = 0, abbreviated: bool = False) -> str:
    """The table; abbreviated, without a row for each pool."""
    return "|" + "|\n|".join(_lines(figures, device, abbreviated)) + "|\n"


def _lines(figures: Mapping[str, int], device: int, abbreviated: bool) -> Iterator[str]:
    retries = f"cudaMalloc retries: {figures['num_alloc_retries']:<8d}  "
    yield from (THICK, f" {'':16} PyTorch CUDA memory summary, device ID {device:<17d} ", THIN)
    yield f"  {'':9} CUDA OOMs: {figures['num_ooms']:<12d} | {'':6} {retries}"
    yield from (THICK, HEADER)
    pools = {} if abbreviated else POOLS
    for key, title in (BYTES | PIECES).items():
        rows = {f"{key}.all": title, **{f"{key}.{pool}": text for pool, text in pools.items()}}
        units = [figures[f"{key}.all.{metric}"] for metric in METRICS]  # the first row's units are those of all rows
        yield from (THIN, *_rows(figures, rows, units, formatted_size if key in BYTES else formatted_count))
    for key, title in OVERSIZE.items():
        units = [figures[f"{key}.{metric}"] for metric in METRICS]
        yield from (THIN, *_rows(figures, {key: title}, units, formatted_count))
    yield THICK


def _rows(
    figures: Mapping[str, int], rows: Mapping[str, str], units: list[int], formatted: Callable[[int, int], str]
) -> Iterator[str]:
    for key, title in rows.items():
        cells = [formatted(figures[f"{key}.{metric}"], like) for metric, like in zip(METRICS, units)]
        yield f" {title:<21} | {' | '.join(cells)} "


def formatted_size(nbytes: int, like: int) -> str:
    """In the unit that keeps `like` below 768 Ki.

    >>> formatted_size(5 << 20, 5 << 20), formatted_size(100, 5 << 20)
    ('  5120 KiB', '     0 KiB')
    """
    return _in_unit(nbytes, like, ("B  ", "KiB", "MiB", "GiB", "TiB", "PiB"), 1024, 768 * 1024, 6)


def formatted_count(pieces: int, like: int) -> str:
    """In the unit that keeps `like` below 750 thousand.

    >>> formatted_count(1_234_567, 1_234_567)
    '   1234 K '
    """
    return _in_unit(pieces, like, ("  ", "K ", "M "), 1000, 750_000, 7)


def _in_unit(number: int, like: float, units: tuple[str, ...], factor: int, limit: int, width: int) -> str:
    power = 0
    while like >= limit and power < len(units) - 1:
        number, like, power = number // factor, like / factor, power + 1
    return f"{number:{width}d} {units[power]}"
