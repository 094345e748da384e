"""The kernels on disk, looked at and removed from the command line.

    python -m minitorch_compile.compiler.cache show       where they are, how many, for which versions
    python -m minitorch_compile.compiler.cache clear      removes them; running programs keep what they have loaded

>>> with tempfile.TemporaryDirectory() as folder:
...     _ = write_whole(Path(folder) / "ab" / "mtc_ab01.o", bytes(3000))
...     count(Path(folder)), clear(Path(folder)), count(Path(folder))
((1, 3000), (1, 3000), (0, 0))
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile  # noqa: F401 (the example's)
import time
from pathlib import Path

import llvmlite
import numba
import numpy as np

from minitorch_compile.environment_variables import CACHE_BYTES
from minitorch_compile.inductor.machine import current
from minitorch_compile.inductor.runtime.cache_folder import cache_folder, entries, write_whole  # noqa: F401
from minitorch_compile.version import __version__


def count(folder: Path) -> tuple[int, int]:
    """How many entries there are in a cache folder, and their bytes."""
    sizes = [size for _, size, _ in entries(folder)]
    return len(sizes), sum(sizes)


def clear(folder: Path) -> tuple[int, int]:
    """Removes the entries of a cache folder, and nothing else that may lie there; how many, and their bytes."""
    removed = entries(folder)
    for _, _, path in removed:
        path.unlink(missing_ok=True)
    return len(removed), sum(size for _, size, _ in removed)


def describe(folder: Path) -> str:
    """The folder, its entries by kind, when they were used, and what new entries are made for."""
    found = entries(folder)
    limit = CACHE_BYTES.value()
    lines = [f"folder    {folder}", f"limit     {f'{limit:,} bytes' if limit else 'none'}"]
    for kind, end in (("kernels", ".o"), ("files", ".py")):
        sizes = [size for _, size, path in found if path.suffix == end]
        lines.append(f"{kind:<10}{len(sizes):,} ({sum(sizes):,} bytes)")
    if found:
        oldest, newest = (time.strftime("%Y-%m-%d %H:%M", time.localtime(found[n][0])) for n in (0, -1))
        lines.append(f"used      {oldest} to {newest}")
    versions = f"minitorch_compile {__version__}, numba {numba.__version__}, llvmlite {llvmlite.__version__}"
    python = f"Python {platform.python_version()}, numpy {np.__version__}"
    lines.append(f"made for  {versions}, {python}")
    lines.append(f"          {current()}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="minitorch_compile.compiler.cache", description="The kernels on disk.")
    parser.add_argument("command", choices=["show", "clear"], help="show: what there is; clear: remove it")
    if parser.parse_args(arguments).command == "show":
        print(describe(cache_folder()))
    else:
        print("removed {:,} entries, {:,} bytes".format(*clear(cache_folder())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
