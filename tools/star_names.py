"""Writes minitorch_compile/as_torch/star_names.json: what `from torch.nn.init import *` takes.

    python tools/star_names.py            write the file
    python tools/star_names.py --check    fail if it is out of date

PyTorch's modules list their public names (`torch_names.json` has them). Ours that are written to be read mostly don't;
under the name `torch` they get PyTorch's list, as far as the names are here.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from record_torch_names import RECORDED  # noqa: E402

from minitorch_compile.as_torch.import_hook import OTHER_PLACES, PACKAGE  # noqa: E402

WRITTEN = ROOT / "minitorch_compile" / "as_torch" / "star_names.json"


def names_by_module() -> dict[str, list[str]]:
    """For each module of ours that has no `__all__` of its own: PyTorch's public names that it has."""
    listed: dict[str, list[str]] = {}
    places = defaultdict(list)
    for name in json.loads(RECORDED.read_text(encoding="utf-8")):
        place, _, last = name.rpartition(".")
        places[place].append(last)
    for place in sorted(filter(None, places)):
        try:
            module = importlib.import_module(OTHER_PLACES.get(place, PACKAGE + place.removeprefix("torch")))
        except ImportError:  # a class, or absent
            continue
        if not hasattr(module, "__all__"):
            listed[place] = sorted(name for name in places[place] if hasattr(module, name))
    return listed


def text() -> str:
    """The file: a line for each module."""
    lines = [f"  {json.dumps(path)}: {json.dumps(names)}" for path, names in names_by_module().items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="What `from torch.x import *` takes.")
    parser.add_argument("--check", action="store_true", help="fail if the file is out of date")
    if parser.parse_args().check:
        if WRITTEN.read_text(encoding="utf-8") != text():
            print(f"{WRITTEN.relative_to(ROOT)} is out of date: run python tools/star_names.py")
            return 1
        return 0
    WRITTEN.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
