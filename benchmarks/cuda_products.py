"""Products and attention on tensor cores, on a GPU: by this package, by its own kernels alone, and by PyTorch.

    python -m benchmarks.cuda_products                 what a program gets: cuBLASLt's and cuDNN's kernels, or ours
    python -m benchmarks.cuda_products --ours          without these libraries
    python -m benchmarks.cuda_products --torch         PyTorch, in a process of its own
    python -m benchmarks.cuda_products --torch --flash the same, with its own flash attention
    python -m benchmarks.cuda_products --only TF32     rows whose name has that in it

Each row is the median time of a call among many in a row, the host's part included, and 10**12 operations a second;
then the GPU's time alone, of calls that were recorded in a CUDA graph. "linear, gelu" is compiled; with --tune under
"max-autotune", which times a kernel of ours beside cuBLASLt's.

>>> attention_operations((8, 12, 1024, 64), is_causal=True) / 1e9
12.884901888
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

SQUARES = (256, 512, 1024, 2048, 4096, 8192)
RAGGED = ((1000, 3000, 520), (1023, 1025, 1031), (4095, 4097, 4099), (17, 4096, 4096))
LAYERS = ((256, 256, 256), (1024, 1024, 1024), (4096, 4096, 4096), (8192, 768, 3072))  # rows, inner, columns
HEADS = ((16, 16, 1024), (4, 16, 4096), (1, 16, 16384))  # batch, heads, tokens
LONGEST, ROUNDS, RECORDED = 0.02, 5, 10


class Row(NamedTuple):
    """`make` gives what is called: its tensors are in memory no longer than it is timed. `operations`: additions and
    multiplications."""

    name: str
    operations: float
    make: Callable[[], Callable[[], Any]]


def attention_operations(sizes: Sequence[int], is_causal: bool) -> float:
    """Of both products; a causal one needs half."""
    batch, heads, rows, dim = sizes
    return 4 * batch * heads * rows * rows * dim / (2 if is_causal else 1)


def rows(torch: Any, tuned: bool) -> Iterator[Row]:
    """All rows, in the words that both libraries know."""
    functional, half = torch.nn.functional, torch.bfloat16

    def new(*sizes: int, dtype: Any = half) -> Any:
        return torch.randn(*sizes, device="cuda").to(dtype)

    def product(dtype: Any, batch: Sequence[int], rows: int, columns: int, inner: int) -> Callable[[], Any]:
        return partial(torch.matmul, new(*batch, rows, inner, dtype=dtype), new(*batch, inner, columns, dtype=dtype))

    def linear(count: int, inner: int, columns: int) -> Callable[[], Any]:
        return partial(functional.linear, new(count, inner), new(columns, inner), new(columns))

    def layer(count: int, inner: int, columns: int, approximate: str) -> Callable[[], Any]:
        torch._dynamo.reset()
        program = lambda x, w, b: functional.gelu(functional.linear(x, w, b), approximate=approximate)
        compiled = torch.compile(program, mode="max-autotune-no-cudagraphs" if tuned else "default")
        return partial(compiled, new(count, inner), new(columns, inner), new(columns))

    def attention(sizes: Sequence[int], is_causal: bool, backward: bool) -> Callable[[], Any]:
        q, k, v = (new(*sizes).requires_grad_(backward) for _ in range(3))
        attend = partial(functional.scaled_dot_product_attention, q, k, v, is_causal=is_causal)
        if not backward:
            return attend
        return partial(torch.autograd.grad, attend(), (q, k, v), new(*sizes), retain_graph=True)

    for kind, dtype in (("bf16", half), ("TF32", torch.float32)):
        cases: list[tuple[str, tuple[int, ...], Sequence[int]]]
        cases = [(str(size), (), (size, size, size)) for size in SQUARES]
        cases += [(" x ".join(map(str, sizes)), (), sizes) for sizes in RAGGED]
        cases += [("64 of 512", (64,), (512, 512, 512)), ("96 of 1024 x 1024 x 64", (96,), (1024, 1024, 64))]
        for title, batch, shape in cases:
            operations = 2.0 * math.prod((*batch, *shape))
            yield Row(f"{kind} product, {title}", operations, partial(product, dtype, batch, *shape))
    for sizes in LAYERS:
        title, operations = " x ".join(map(str, sizes)), 2.0 * math.prod(sizes)
        yield Row(f"linear, {title}", operations, partial(linear, *sizes))
        for approximate in ("tanh", "none"):
            yield Row(f"linear, gelu ({approximate}), {title}", operations, partial(layer, *sizes, approximate))
    for dim, heads, is_causal, backward in itertools.product((64, 128), HEADS, (False, True), (False, True)):
        of_heads = (*heads, dim)
        title = f"{' x '.join(map(str, of_heads))}{', causal' * is_causal}"
        operations = attention_operations(of_heads, is_causal) * (2.5 if backward else 1)
        name = f"attention{' backward' * backward}, {title}"
        yield Row(name, operations, partial(attention, of_heads, is_causal, backward))


def seconds(torch: Any, run: Callable[[], Any]) -> float:
    """Of one of many calls, by the GPU's clock."""

    def elapsed(count: int) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(count):
            run()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3 / count

    run()
    count = max(2, min(100, round(LONGEST / ROUNDS / elapsed(2))))
    return statistics.median(elapsed(count) for _ in range(ROUNDS))


def recorded(torch: Any, run: Callable[[], Any]) -> float:
    """Of one call of several in a CUDA graph."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(RECORDED):
            run()
    return seconds(torch, graph.replay) / RECORDED


def without_libraries() -> None:
    """From now on kernels of this package know neither cuBLASLt nor cuDNN."""
    from minitorch_compile.cuda.runtime import required
    from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels
    from minitorch_compile.inductor.device_calls.libraries import Libraries

    none: dict[str, Any] = {}
    kernels = required().kernels = DeviceKernels(required())
    kernels.libraries = Libraries(required(), none.__getitem__)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", action="store_true", help="time PyTorch")
    parser.add_argument("--flash", action="store_true", help="with PyTorch's own flash attention")
    parser.add_argument("--ours", action="store_true", help="without NVIDIA's libraries")
    parser.add_argument("--tune", action="store_true", help="compile under max-autotune")
    parser.add_argument("--only", nargs="+", default=[""], help="names with one of these in them")
    asked = parser.parse_args()
    torch: Any = importlib.import_module("torch" if asked.torch else "minitorch_compile")
    if asked.ours:
        without_libraries()
    choice = importlib.import_module(f"{torch.__name__}.nn.attention")
    with choice.sdpa_kernel(choice.SDPBackend.FLASH_ATTENTION) if asked.flash else contextlib.nullcontext():
        time_rows(torch, asked.tune, asked.only)


def time_rows(torch: Any, tuned: bool, only: Sequence[str]) -> None:
    """Those whose name has one of these in it."""
    torch.backends.cuda.matmul.allow_tf32 = True
    print(torch.cuda.get_device_name(), torch.__name__, torch.__version__)
    for row in rows(torch, tuned):
        if any(part in row.name for part in only):
            run = row.make()
            times = seconds(torch, run), recorded(torch, run)
            cells = [f"{1e6 * time:9.1f} us {row.operations / time / 1e12:6.1f}" for time in times]
            print(f"{row.name:<50} {'   '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
