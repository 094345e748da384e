"""Writes recorded.json: what PyTorch gives for the programs in programs.py. Needs PyTorch; run it as a script."""

from __future__ import annotations

import importlib
import json
import warnings
from pathlib import Path
from typing import Any


def record(torch: Any, programs: Any) -> dict[str, Any]:
    """Everything that the tests compare with."""
    optimizers, layouts = {}, {}
    for name, (cls, options) in programs.OPTIMIZERS.items():
        optimizers[name], optimizer = programs.run_optimizer(torch, cls, options)
        layouts[name] = programs.layout(optimizer)
    return {
        "torch": torch.__version__,
        "optimizers": optimizers,
        "layouts": layouts,
        "schedules": {name: programs.run_schedule(torch, *row) for name, row in programs.SCHEDULES.items()},
        "composed": {kind: programs.run_composed(torch, kind) for kind in ("sequential", "chained")},
        "plateaus": {name: programs.run_plateau(torch, options) for name, options in programs.PLATEAUS.items()},
        "swa": programs.swa(torch),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    torch = importlib.import_module("torch")
    importlib.import_module("torch.optim.swa_utils")
    recorded = record(torch, importlib.import_module("programs"))
    Path(__file__).with_name("recorded.json").write_text(json.dumps(recorded) + "\n")


if __name__ == "__main__":
    main()
