"""Products and attention on tensor cores by kernels of ours, beside cuBLASLt and cuDNN, on a GPU.

    python -m benchmarks.cuda_products                 products of bfloat16, alone and with what follows them; attention
    python -m benchmarks.cuda_products --sizes 512 4096

Each row is microseconds of the GPU for a call, of many in a row, and 10**12 operations a second. A library that isn't
installed is left out.

>>> flops_of_attention((8, 12, 1024, 64), is_causal=True) / 1e9
12.884901888
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import required
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels
from minitorch_compile.inductor.device_calls.libraries import Libraries

F = torch.nn.functional
SIZES = (256, 512, 1024, 2048, 4096, 8192)
HEADS = ((8, 12, 1024, 64), (1, 16, 8192, 64), (1, 16, 8192, 128))
NONE: dict[str, Any] = {}
LONGEST = 0.05  # seconds for a row


def without_libraries() -> DeviceKernels:
    """Kernels that know neither cuBLASLt nor cuDNN."""
    kernels = DeviceKernels(required())
    kernels.libraries = Libraries(required(), NONE.__getitem__)
    return kernels


def seconds(call: Callable[[], object]) -> float:
    """Of the GPU, for one of many calls."""

    def elapsed(count: int) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(count):
            call()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) / 1e3 / count

    call()
    return elapsed(max(3, min(200, round(LONGEST / elapsed(3)))))


def random(*sizes: int) -> Any:
    """Numbers of which none is zero: zeros are multiplied faster."""
    return torch.randn(*sizes).to(torch.bfloat16).cuda()


def flops_of_attention(sizes: Sequence[int], is_causal: bool) -> float:
    """Of both products; a causal one needs half."""
    batch, heads, rows, dim = sizes
    return 4 * batch * heads * rows * rows * dim / (2 if is_causal else 1)


def activated(x: Any, w: Any, bias: Any) -> Any:
    """One kernel of ours."""
    return F.gelu(F.linear(x, w, bias))


def compare(title: str, operations: float, library: object | None, call: Callable[[], object]) -> None:
    """A row: the call with the libraries, and without."""
    runtime, cells = required(), []
    ours, usual = without_libraries(), DeviceKernels(runtime)
    for name, kernels in (("library", usual), ("ours", ours)):
        if name == "library" and library is None:
            continue
        runtime.kernels = kernels
        time = seconds(call)
        cells.append(f"{name} {1e6 * time:9.1f} us {operations / time / 1e12:6.1f}")
    print(f"{title:<44} " + "   ".join(cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    sizes = parser.parse_args().sizes
    libraries = DeviceKernels(required()).libraries
    print(torch.cuda.get_device_name())
    for size in sizes:
        x, w, bias = random(size, size), random(size, size), random(size)
        compare(f"mm, {size}", 2 * size**3, libraries.products, partial(torch.mm, x, w))
        compare(f"linear, {size}", 2 * size**3, libraries.products, partial(F.linear, x, w))
        torch._dynamo.reset()
        compare(f"linear, bias and gelu, {size}", 2 * size**3, None, partial(torch.compile(activated), x, w, bias))
    for shape in HEADS:
        q, k, v = (random(*shape) for _ in range(3))
        for is_causal in (False, True):
            title = f"attention, {' x '.join(map(str, shape))}{', causal' if is_causal else ''}"
            call = partial(F.scaled_dot_product_attention, q, k, v, is_causal=is_causal)
            compare(title, flops_of_attention(shape, is_causal), libraries.convolutions, call)


if __name__ == "__main__":
    main()
