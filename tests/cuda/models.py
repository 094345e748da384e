"""The programs of tests/models on a GPU: `python -m tests.cuda.models [--share 2/4] [name ...]`.

Each trains two steps, and what PyTorch computed on the CPU was recorded: losses, outputs and gradients have to be the
same within 1e-3. What was computed in main memory is listed. On a machine with a GPU it is that one, else the simulated
one.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import minitorch_compile
from minitorch_compile import as_torch
from minitorch_compile.cuda.runtime import using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from tests.as_torch.measure import measure, model_files
from tests.as_torch.test_models import RECORD, differences

CUDA = "cuda"
TABLES_AT_HOME = ("ddpm",)  # these say with .cpu() that tables which they make are in main memory


@contextmanager
def inputs_on_the_gpu(torch: Any, factories: bool) -> Iterator[None]:
    """Inside, what a program makes of NumPy's arrays, and by `factories`, is on the GPU: they know no device."""
    from_numpy = torch.from_numpy
    torch.from_numpy = lambda array: from_numpy(array).to(CUDA)
    try:
        with torch.device(CUDA) if factories else nullcontext():
            yield
    finally:
        torch.from_numpy = from_numpy


def difference(file: Path) -> list[str]:
    """What isn't as PyTorch recorded it, in words."""
    with as_torch.installed(), inputs_on_the_gpu(minitorch_compile, file.stem not in TABLES_AT_HOME):
        return differences(measure(file, minitorch_compile, CUDA), RECORD[file.stem])


def main() -> int:
    parser = argparse.ArgumentParser(description="The programs of tests/models on a GPU.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--share", default="1/1", help="the second of four shares is 2/4: four processes take one each")
    options = parser.parse_args()
    share, shares = map(int, options.share.split("/"))
    minitorch_compile.backends.cudnn.allow_tf32 = False  # else convolutions on a GPU have three digits
    wrong = tried = 0
    told: dict[str, int] = {}
    with nullcontext() if minitorch_compile.cuda.is_available() else using(FakeDriver()):
        print("on", minitorch_compile.cuda.get_device_name())
        for file in model_files()[share - 1 :: shares]:
            if options.names and file.stem not in options.names:
                continue
            began = time.time()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    found = difference(file)
                except Exception as error:  # whatever a program raises is the outcome
                    place = traceback.extract_tb(error.__traceback__)[-1]
                    found = [f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"]
            for text in {str(w.message) for w in caught if "in main memory" in str(w.message)}:
                told[text] = told.get(text, 0) + 1
            tried, wrong = tried + 1, wrong + bool(found)
            print(f"{file.stem:24}{time.time() - began:7.1f} s  {'; '.join(found)[:300] or 'as recorded'}", flush=True)
    print(f"{tried} programs, {wrong} differ; in main memory:")
    for text, count in sorted(told.items()):
        print(f"    {text} (first met by {count})")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
