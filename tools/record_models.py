"""Records what PyTorch computes for the models of tests/models: run with a Python that has torch and einops.

The numbers go to tests/as_torch/recorded.json, which tests/as_torch compares with this package's.

    python tools/record_models.py            # all
    python tools/record_models.py resnet gpt # only these
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.as_torch.measure import RECORDED, measure, model_files


def rounded(value: Any) -> Any:
    """Numbers with seven significant digits: float32 has no more."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return {key: rounded(item) for key, item in value.items()} if isinstance(value, dict) else value


def to_text(recorded: dict[str, Any]) -> str:
    """JSON with one line for each model."""
    lines = [f"{json.dumps(name)}: {json.dumps(recorded[name], separators=(',', ':'))}" for name in sorted(recorded)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(names: list[str]) -> None:
    import numpy
    import torch

    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    for file in model_files():
        if not names or file.stem in names:
            recorded[file.stem] = rounded(measure(file, torch))
            print(f"{file.stem:20} loss {recorded[file.stem]['loss']}")
    known = {file.stem for file in model_files()}
    recorded = {name: numbers for name, numbers in recorded.items() if name in known}
    recorded["_versions"] = {"torch": torch.__version__, "numpy": numpy.__version__}
    RECORDED.write_text(to_text(recorded), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
