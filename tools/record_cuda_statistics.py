"""Prints what PyTorch's CUDA allocator counts for the sequences of tests/cuda_runtime/allocation_sequence.py.

    TORCH_PYTHON tools/record_cuda_statistics.py      with a Python that has PyTorch and a GPU

What it prints goes into tests/cuda_runtime/torch_statistics.json.
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "cuda_runtime"))

LEFT_OUT = ("num_oom_rejections", "reserved_bytes_by")  # of options that we don't have


def main() -> None:
    import torch
    from allocation_sequence import SEQUENCES, STREAMS, play  # type: ignore[import-not-found]

    cuda: Any = torch.cuda
    streams = [cuda.Stream() for _ in range(STREAMS)]
    recorded = {"torch": torch.__version__, "device": cuda.get_device_name()}
    for name in SEQUENCES:
        held: list[int] = []

        def allocate(nbytes: int, stream: int, held: list[int] = held) -> int:
            held.append(cuda.caching_allocator_alloc(nbytes, stream=streams[stream]))
            return held[-1]

        def free(address: int, held: list[int] = held) -> None:
            held.remove(address)
            cuda.caching_allocator_delete(address)

        cuda.empty_cache()
        cuda.reset_peak_memory_stats()
        cuda.reset_accumulated_memory_stats()
        play(name, allocate, free)
        figures = cuda.memory_stats()
        recorded[name] = {key: figure for key, figure in figures.items() if not key.startswith(LEFT_OUT)}
        for address in list(held):
            free(address)
    print(json.dumps(recorded))


if __name__ == "__main__":
    main()
