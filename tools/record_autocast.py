"""Records what PyTorch's autocast on the CPU does to the dtypes of every call on the call sheets.

    TORCH_PYTHON tools/record_autocast.py        writes tests/amp/recorded.json

Kept are the calls whose result has another dtype than without autocast, or that PyTorch refuses. Needs a Python with
PyTorch; run it from the root of the checkout, with the checkout on PYTHONPATH.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

from tests.amp.dtypes import CASES, dtypes_of
from tests.battery.sheet import calls

RECORDED = Path(__file__).resolve().parents[1] / "tests" / "amp" / "recorded.json"


def main() -> None:
    torch = importlib.import_module("torch")
    changed: dict[str, dict[str, list[str] | str]] = {case: {} for case in CASES}
    for text in dict.fromkeys(call.text for call in calls()):
        for case, found in changed.items():
            cast = dtypes_of(torch, text, case)
            if isinstance(cast, str) or cast != dtypes_of(torch, text, case, enabled=False):
                found[text] = cast
    RECORDED.write_text(json.dumps(changed, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
