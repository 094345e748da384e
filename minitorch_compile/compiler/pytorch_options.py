"""The options of PyTorch's kernel generator, and what becomes of them: a program that sets them runs here.

`compile(options={...})` takes the names of `torch._inductor.config`. Some are options here, a few under another name.
The others say how that generator goes about its work, which changes nothing that a program gets: they are accepted. One
that asks for something that never happens here is answered with a warning.

>>> here({"triton.cudagraphs": True, "shape_padding": True})
{'reuse_temporaries': True}
>>> here({"shape_paddin": True})                                # the caller refuses what it doesn't know
{'shape_paddin': True}

`pytorch_options.json` has their names and defaults (tools/record_inductor_options.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from minitorch_compile.compiler.pass_options import PASS_OPTIONS
from minitorch_compile.kernel_options import OPTIONS
from minitorch_compile.user_warnings import warn_user

WRITTEN = Path(__file__).with_suffix(".json")
OTHER_NAMES = {"triton.cudagraphs": "reuse_temporaries"}  # what mode="reduce-overhead" sets there, and here
NEVER = {
    "debug": "MTC_LOGS=output_code shows the generated files",
    "nan_asserts": "autograd.detect_anomaly() finds NaN in plain code",
    "trace.enabled": "torch.compiler.inspect(f, *args) keeps what passes between the stages",
}


@cache
def theirs() -> dict[str, Any]:
    """All of PyTorch's names that are known, with the defaults."""
    options: dict[str, Any] = json.loads(WRITTEN.read_text(encoding="utf-8"))
    return options


def here(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that have a meaning here, by the names they have here, and those that nobody knows."""
    return {OTHER_NAMES.get(name, name): value for name, value in options.items() if not changes_nothing(name, value)}


def changes_nothing(name: str, value: Any) -> bool:
    """Whether it is an option of PyTorch's without a counterpart; it warns of what a program may count on."""
    if name in OPTIONS or name in PASS_OPTIONS or name in OTHER_NAMES or name not in theirs():
        return False
    if name in NEVER and value:
        warn_user(f"the option {name} of torch._inductor has no effect here; {NEVER[name]}")
    return True
