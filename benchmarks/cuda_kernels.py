"""Generated kernels on a GPU beside a copy, and beside `torch.compile`: which share of the bandwidth each reaches.

    python -m benchmarks.cuda_kernels --save ours.json            on a GPU
    python -m benchmarks.cuda_kernels --torch --save theirs.json  the same by PyTorch, in a process of its own
    python -m benchmarks.cuda_kernels --beside ours.json theirs.json   a table of both
    python -m benchmarks.cuda_kernels --only softmax,gelu         rows whose name has one of these in it
    python -m benchmarks.cuda_kernels --part 2/8 --runs 1         every eighth row, to compile in several processes

Functions are compiled by either. Medians by the GPU's own clock (CUDA events). Bytes are those that must be read and
written once; the copy is of as many elements as the rows have, 2^28 if not told otherwise.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

RUNS, WARM_UP = 15, 6


class Row(NamedTuple):
    """What is timed. `run` is called with nothing, after `before`; it must move so many bytes."""

    run: Callable[[], Any]
    nbytes: int
    before: Callable[[], Any] = lambda: None


Named = tuple[str, Callable[[], Row]]


class Rows:
    """What makes each row of a dtype, when it is timed: one row's tensors are in memory at a time."""

    def __init__(self, torch: Any, exponent: int, element: str) -> None:
        self.torch, self.n, self.dtype = torch, 1 << exponent, getattr(torch, element)

    def new(self, *sizes: int) -> Any:
        return self.torch.randn(*sizes, device="cuda").to(self.dtype)

    def forward(self, f: Callable[..., Any], sizes: list[tuple[int, ...]], moved: float | None = None) -> Row:
        """A function of tensors of these sizes. `moved`: times what the first has; all and a result, if not said."""
        tensors = [self.new(*each) for each in sizes]
        run = self.torch.compile(f)
        total = sum(x.numel() for x in tensors) + tensors[0].numel() if moved is None else moved * tensors[0].numel()
        return Row(lambda: run(*tensors), int(total) * tensors[0].element_size())

    def backward(self, f: Callable[..., Any], sizes: tuple[int, ...], parameters: list[Any]) -> Row:
        """The gradients of a function of one large tensor, which read two and write one."""
        x = self.new(*sizes).requires_grad_()
        grad, run = self.new(*sizes), self.torch.compile(f)
        result: list[Any] = [None]

        def before() -> None:
            for leaf in (x, *parameters):
                leaf.grad = None
            result[0] = run(x)

        return Row(lambda: result[0].backward(grad), 3 * x.numel() * x.element_size(), before)

    def adamw(self) -> Row:
        """A step of one large parameter, which reads it, a gradient and two moments, and writes three of these."""
        parameter = self.torch.nn.Parameter(self.new(self.n))
        parameter.grad = self.new(self.n)
        optimizer = self.torch.optim.AdamW([parameter], lr=1e-3)
        return Row(self.torch.compile(optimizer.step), 7 * self.n * parameter.element_size())

    def named(self) -> Iterator[Named]:
        yield from self.points()
        yield from self.rows()
        yield from self.sums()
        n, columns = self.n, 16384
        turned = lambda x: x.t().contiguous()
        yield "transpose", lambda: self.forward(turned, [(n // columns, columns)])
        heads = lambda x: x.transpose(1, 2).contiguous()
        yield "transpose 0213", lambda: self.forward(heads, [(n >> 20, 1024, 16, 64)])
        yield "AdamW", self.adamw

    def points(self) -> Iterator[Named]:
        torch, n, functional = self.torch, self.n, self.torch.nn.functional
        yield "copy", lambda: Row((x := self.new(n)).clone, 2 * n * x.element_size())
        yield "x + y", lambda: self.forward(lambda x, y: x + y, [(n,)] * 2)
        yield "chain", lambda: self.forward(lambda x, y: (x * 2 + y).abs() * x - 1, [(n,)] * 2)
        yield "where", lambda: self.forward(lambda x, y: torch.where(x > 0, x, y), [(n,)] * 2)
        yield "gelu", lambda: self.forward(lambda x: functional.gelu(x), [(n,)])
        gated = lambda x, y: functional.gelu(x, approximate="tanh") * y
        yield "gelu by tanh times y", lambda: self.forward(gated, [(n,)] * 2)
        yield "gelu backward", lambda: self.backward(lambda x: functional.gelu(x), (n,), [])
        yield "dropout", lambda: self.forward(lambda x: functional.dropout(x, 0.1), [(n,)])

    def rows(self) -> Iterator[Named]:
        torch, functional = self.torch, self.torch.nn.functional
        softmax = lambda x: torch.softmax(x, 1)
        of = lambda columns: (self.n // columns, columns)
        for columns in (256, 1024, 4095, 4096, 16384, 65536):
            yield f"softmax {columns}", lambda columns=columns: self.forward(softmax, [of(columns)])  # type: ignore[misc]
        yield "softmax backward 4096", lambda: self.backward(softmax, of(4096), [])
        log_softmax = lambda x: torch.log_softmax(x, 1)
        yield "log_softmax 4096", lambda: self.forward(log_softmax, [of(4096)])
        yield "log_softmax backward 4096", lambda: self.backward(log_softmax, of(4096), [])
        weights = [self.new(4096).requires_grad_() for _ in range(2)]
        norm = lambda x: functional.layer_norm(x, (4096,), *weights)
        plain = lambda x: functional.layer_norm(x, (4096,), *(w.detach() for w in weights))
        yield "layer_norm 4096", lambda: self.forward(plain, [of(4096)])
        yield "layer_norm gelu 4096", lambda: self.forward(lambda x: functional.gelu(plain(x)), [of(4096)])
        yield "layer_norm backward 4096", lambda: self.backward(norm, of(4096), weights)
        rms = lambda x: functional.rms_norm(x, (4096,), weights[0])
        rms_plain = lambda x: functional.rms_norm(x, (4096,), weights[0].detach())
        yield "rms_norm 4096", lambda: self.forward(rms_plain, [of(4096)])
        yield "rms_norm backward 4096", lambda: self.backward(rms, of(4096), weights[:1])

    def sums(self) -> Iterator[Named]:
        of = lambda columns: (self.n // columns, columns)
        along, down = lambda x: x.sum(1), lambda x: x.sum(0)
        for columns in (64, 1024, 65536):
            yield f"sum of rows {columns}", lambda columns=columns: self.forward(along, [of(columns)], 1)  # type: ignore[misc]
            yield f"sum of columns {columns}", lambda columns=columns: self.forward(down, [of(columns)], 1)  # type: ignore[misc]
        yield "sum", lambda: self.forward(lambda x: x.sum(), [of(4096)], 1)
        yield "amax", lambda: self.forward(lambda x: x.amax(), [of(4096)], 1)


def seconds(torch: Any, row: Row, runs: int) -> float:
    """The median of what a run takes."""
    times = []
    for _ in range(runs + WARM_UP):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        row.before()
        start.record()
        row.run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return statistics.median(times[WARM_UP:])


def measure(torch: Any, asked: argparse.Namespace) -> dict[str, Any]:
    """Bytes a second of each row asked for, or why there are none."""
    part, parts = map(int, asked.part.split("/"))
    found: dict[str, Any] = {}
    named = [
        (f"{element} {name}", make)
        for element in asked.dtypes.split(",")
        for name, make in Rows(torch, asked.exponent, element).named()
    ]
    for number, (name, make) in enumerate(named):
        if number % parts != part or not any(only in name for only in asked.only.split(",")):
            continue
        try:
            row = make()
            found[name] = row.nbytes / seconds(torch, row, asked.runs)
            print(f"{name:<36} {found[name] / 1e12:6.2f} TB/s", flush=True)
        except (RuntimeError, TypeError, ValueError) as error:  # the other rows are still worth their time
            found[name] = f"{type(error).__name__}: {error}"[:300]
            print(f"{name:<36} {found[name]}", flush=True)
        row = None  # type: ignore[assignment]  # its memory is free before the next one's is asked for
        torch.compiler.reset()
    return found


def table(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """Markdown: TB/s of each row, its share of the copy of its dtype, and beside the other's."""
    lines = ["| row | TB/s | of the copy | torch.compile, TB/s | ratio |", "| --- | --- | --- | --- | --- |"]
    ratios = []
    for name, rate in ours.items():
        other, copied = theirs.get(name), theirs.get(f"{name.split()[0]} copy")
        numbers = [x for x in (rate, other) if isinstance(x, float)]
        text = [f"{x / 1e12:.2f}" if isinstance(x, float) else str(x) for x in (rate, other)]
        share = f"{rate / copied:.2f}" if isinstance(rate, float) and isinstance(copied, float) else ""
        ratio = f"{numbers[0] / numbers[1]:.2f}" if len(numbers) == 2 else ""
        if ratio and not name.endswith(" copy"):
            ratios.append(numbers[0] / numbers[1])
        lines.append(f"| {name} | {text[0]} | {share} | {text[1]} | {ratio} |")
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    return [*lines, "", f"Geometric mean of {len(ratios)} ratios: {mean:.3f}; the least {min(ratios):.2f}."]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", action="store_true", help="time PyTorch")
    parser.add_argument("--only", default="", help="names with one of these in them")
    parser.add_argument("--part", default="0/1", help="which rows, of how many parts")
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--exponent", type=int, default=28, help="of two: elements")
    parser.add_argument("--save", type=Path, help="where the rates are written")
    parser.add_argument("--beside", nargs=2, type=Path, help="print the table of two files")
    asked = parser.parse_args()
    if asked.beside:
        print("\n".join(table(*(json.loads(path.read_text()) for path in asked.beside))))
        return
    torch = importlib.import_module("torch" if asked.torch else "minitorch_compile")
    print(torch.cuda.get_device_name(), torch.__name__, torch.__version__, flush=True)
    found = measure(torch, asked)
    if asked.save:
        asked.save.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
