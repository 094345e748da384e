"""Writes down what PyTorch calls the overloads of its ops: `TORCH_PYTHON tools/record_aten_overloads.py`.

Run with a Python that has PyTorch. The file has a line for each op with other overloads than `default`; what
`torch.ops.aten` answers is looked up there (minitorch_compile/tensor/dispatch/aten_names.py).
"""

from __future__ import annotations

import json
from pathlib import Path

RECORDED = Path(__file__).resolve().parents[1] / "minitorch_compile/tensor/dispatch/aten_overloads.json"


def main() -> None:
    import torch  # not where this file is only collected

    names = {
        schema.name.removeprefix("aten::") for schema in torch._C._jit_get_all_schemas() if "aten::" in schema.name
    }
    overloads = {name: getattr(torch.ops.aten, name).overloads() for name in sorted(names) if name.isidentifier()}
    lines = [f"  {json.dumps(name)}: {json.dumps(found)}" for name, found in overloads.items() if found != ["default"]]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
