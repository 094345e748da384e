"""Generated kernels on a GPU beside a copy: which share of its bandwidth each reaches.

    python -m benchmarks.cuda_kernels                 on a GPU
    python -m benchmarks.cuda_kernels --torch         the same with PyTorch and its compiler, in a process of its own
    python -m benchmarks.cuda_kernels --only softmax  rows whose name has that in it

Medians by the GPU's own clock (CUDA events). Bytes are those that must be read and written once; the copy is of as many
elements as the rows have, 2^28 if not told otherwise.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

RUNS = 15


class Row(NamedTuple):
    """What is timed: `run` on tensors of these shapes, dtypes and numbers of bytes an element that it must move."""

    name: str
    run: Callable[..., Any]
    tensors: list[Any]
    nbytes: int
    compiled: bool = False


def rows(torch: Any, exponent: int) -> Iterator[Callable[[], Row]]:
    """What makes each row, when it is timed: one row's tensors are in memory at a time."""
    n, functional = 1 << exponent, torch.nn.functional

    def new(*sizes: int, dtype: Any = torch.float32) -> Any:
        return torch.randn(*sizes, device="cuda").to(dtype)

    def pointwise(
        name: str, run: Callable[..., Any], inputs: int, dtype: Any = torch.float32, compiled: bool = False
    ) -> Row:
        tensors = [new(n, dtype=dtype) for _ in range(inputs)]
        return Row(name, run, tensors, (inputs + 1) * n * tensors[0].element_size(), compiled)

    def of_rows(
        name: str,
        run: Callable[..., Any],
        columns: int,
        dtype: Any = torch.float32,
        compiled: bool = False,
        writes: bool = True,
    ) -> Row:
        x = new(n // columns, columns, dtype=dtype)
        return Row(name, run, [x], (1 + writes) * n * x.element_size(), compiled)

    half = torch.bfloat16
    yield lambda: pointwise("copy", lambda x: x.clone(), 1)
    yield lambda: pointwise("x + y", lambda x, y: x + y, 2)
    yield lambda: pointwise("chain", lambda x, y: (x * 2 + y).abs() * x - 1, 2, compiled=True)
    yield lambda: pointwise("where", lambda x, y: torch.where(x > 0, x, y), 2, compiled=True)
    yield lambda: pointwise("gelu", lambda x: functional.gelu(x), 1)
    yield lambda: pointwise("dropout", lambda x: functional.dropout(x, 0.1), 1, compiled=True)
    yield lambda: pointwise("bf16 copy", lambda x: x.clone(), 1, half)
    yield lambda: pointwise("bf16 x + y", lambda x, y: x + y, 2, half)
    for columns in (256, 1024, 4096, 16384, 65536):
        yield partial(of_rows, f"softmax {columns}", lambda x: torch.softmax(x, 1), columns)
    yield lambda: of_rows("softmax 4095", lambda x: torch.softmax(x, 1), 4095)
    yield lambda: of_rows("log_softmax 4096", lambda x: torch.log_softmax(x, 1), 4096)
    yield lambda: of_rows("bf16 softmax 4096", lambda x: torch.softmax(x, 1), 4096, half)
    yield lambda: of_rows("bf16 softmax 16384", lambda x: torch.softmax(x, 1), 16384, half)
    weights = [new(4096) for _ in range(2)]
    norm = lambda x: functional.layer_norm(x, (4096,), *weights)
    yield lambda: of_rows("layer_norm 4096", norm, 4096)
    yield lambda: of_rows("layer_norm, gelu", lambda x: functional.gelu(norm(x)), 4096, compiled=True)
    yield lambda: of_rows("rms_norm 4096", lambda x: functional.rms_norm(x, (4096,), weights[0]), 4096, compiled=True)
    for columns in (64, 1024, 16384, 65536):
        yield partial(of_rows, f"sum of rows {columns}", lambda x: x.sum(1), columns, writes=False)
        yield partial(of_rows, f"sum of columns {columns}", lambda x: x.sum(0), columns, writes=False)
    yield lambda: of_rows("sum", lambda x: x.sum(), 4096, writes=False)
    yield lambda: of_rows("amax", lambda x: x.amax(), 4096, writes=False)
    yield lambda: of_rows("bf16 sum of rows 4096", lambda x: x.sum(1), 4096, half, writes=False)
    yield lambda: of_rows("transpose", lambda x: x.t().contiguous(), 16384)
    yield lambda: of_rows("bf16 transpose", lambda x: x.t().contiguous(), 16384, half)
    yield lambda: Row("transpose 0213", lambda x: x.transpose(1, 2).contiguous(), [new(n >> 20, 1024, 16, 64)], 8 * n)


def seconds(torch: Any, row: Row) -> float:
    """The median of what a run takes."""
    run = torch.compile(row.run) if row.compiled else row.run
    for _ in range(3):
        run(*row.tensors)
    times = []
    for _ in range(RUNS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run(*row.tensors)
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", action="store_true", help="time PyTorch")
    parser.add_argument("--only", default="", help="names with this in them")
    parser.add_argument("--exponent", type=int, default=28, help="of two: elements")
    asked = parser.parse_args()
    torch = importlib.import_module("torch" if asked.torch else "minitorch_compile")
    print(torch.cuda.get_device_name(), torch.__name__, torch.__version__)
    copied = 0.0
    for make in rows(torch, asked.exponent):
        row = make()
        if copied and asked.only not in row.name:
            continue
        rate = row.nbytes / seconds(torch, row)
        copied = copied or rate
        print(f"{row.name:<24} {rate / 1e12:6.2f} TB/s  {rate / copied:5.2f}", flush=True)


if __name__ == "__main__":
    main()
