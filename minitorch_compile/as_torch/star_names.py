"""What `from torch.nn.init import *` takes: PyTorch's modules say it in `__all__`, ours are mostly without.

`star_names.json` has the lists, made by `tools/star_names.py` of PyTorch's names that are here.

>>> star_names()["torch.nn.utils.stateless"]
['functional_call']
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

WRITTEN = Path(__file__).with_suffix(".json")


@cache
def star_names() -> dict[str, list[str]]:
    """The public names of modules that have no `__all__` of their own, by PyTorch's name of the module."""
    names: dict[str, list[str]] = json.loads(WRITTEN.read_text(encoding="utf-8"))
    return names
