"""What GPU memory costs when the cache has it, beside the driver's own, and beside PyTorch's cache where it is there.

    python -m benchmarks.cuda_allocator          on a GPU
    python -m benchmarks.cuda_allocator --fake   without one: the Python in it only

Each row is microseconds for an allocation together with its free.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable, Iterator

from benchmarks.timing import seconds_per_call
from minitorch_compile.cuda_runtime.allocator import CachingAllocator
from minitorch_compile.cuda_runtime.cuda_bindings_driver import CudaBindingsDriver
from minitorch_compile.cuda_runtime.driver import Driver, StreamHandle
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver

SIZES = {"small": 4 << 10, "large": 4 << 20}


def rows(driver: Driver, with_peer: bool) -> Iterator[tuple[str, Callable[[], None]]]:
    """What is timed, by name."""
    allocator, stream = CachingAllocator(driver, 0), StreamHandle(0)
    other = driver.create_stream(0)
    for name, nbytes in SIZES.items():
        yield f"{name}: cached", lambda nbytes=nbytes: allocator.free(allocator.allocate(nbytes, stream))  # type: ignore[misc]

    def on_two_streams() -> None:
        address = allocator.allocate(SIZES["small"], stream)
        allocator.record_stream(address, other)
        allocator.free(address)

    yield "small: cached, used by a second stream", on_two_streams
    yield "large: the driver's", lambda: driver.free(0, driver.allocate(0, SIZES["large"]))
    if with_peer and importlib.util.find_spec("torch"):
        import torch

        allocate, free = torch.cuda.caching_allocator_alloc, torch.cuda.caching_allocator_delete
        for name, nbytes in SIZES.items():
            yield f"{name}: PyTorch {torch.__version__}, from Python", lambda nbytes=nbytes: free(allocate(nbytes))  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fake", action="store_true")
    fake = parser.parse_args().fake
    driver: Driver = FakeDriver(backed=False) if fake else CudaBindingsDriver()
    print(driver.properties(0).name)
    for name, run in rows(driver, with_peer=not fake):
        print(f"{name:<45} {1e6 * seconds_per_call(run, 0.3):8.2f} us")


if __name__ == "__main__":
    main()
