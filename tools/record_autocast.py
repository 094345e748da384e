"""Records what PyTorch's autocast does to the dtypes of every call on the call sheets.

    TORCH_PYTHON tools/record_autocast.py        writes tests/amp/recorded.json

Kept are the calls whose result has another dtype than without autocast, or that PyTorch refuses. Needs a Python with
PyTorch; run it from the root of the checkout, with the checkout on PYTHONPATH. Without a GPU, tensors on one are fake:
what PyTorch's fakes can't do is left as it was recorded, on a machine that has one.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from tests.amp.dtypes import CASES, dtypes_of
from tests.battery.sheet import calls

RECORDED = Path(__file__).resolve().parents[1] / "tests" / "amp" / "recorded.json"


def main() -> None:
    torch = importlib.import_module("torch")
    before = json.loads(RECORDED.read_text(encoding="utf-8"))
    changed: dict[str, dict[str, list[str] | str]] = {case: {} for case in CASES}
    for text in dict.fromkeys(call.text for call in calls()):
        for case, found in changed.items():
            on_gpu = CASES[case][0] == "cuda"
            fake = on_gpu and not torch.cuda.is_available()
            make = _fake_on_a_gpu(torch) if fake else (lambda x: x.cuda()) if on_gpu else None
            with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True) if fake else nullcontext():
                cast = dtypes_of(torch, text, case, make=make)
                plain = cast if isinstance(cast, str) else dtypes_of(torch, text, case, enabled=False, make=make)
            if fake and isinstance(cast, str):
                cast = before.get(case, {}).get(text, cast)
            if isinstance(cast, str) or cast != plain:
                found[text] = cast
    RECORDED.write_text(json.dumps(changed, indent=0) + "\n", encoding="utf-8")


def _fake_on_a_gpu(torch: Any) -> Callable[[Any], Any]:
    """Makes of a tensor another like it that only pretends to be on a GPU."""
    return lambda x: torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device="cuda")


if __name__ == "__main__":
    main()
