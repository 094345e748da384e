"""Writes tests/serialization/written_by_torch: small files as PyTorch writes them. Run with a Python that has torch.

The tensors count up from zero, so that the tests can say what each file holds.

    python tools/record_torch_files.py
"""

import copy
from collections import OrderedDict
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "serialization" / "written_by_torch"


class Code:
    """Something that is no tensor: reading it would run code."""

    def __reduce__(self) -> tuple[Any, ...]:
        return print, ("this must never be printed",)


def counting(torch: Any, *sizes: int, dtype: Any = None) -> Any:
    """A tensor that counts up from zero."""
    return torch.arange(torch.Size(sizes).numel(), dtype=dtype or torch.float32).reshape(sizes)


def contents(torch: Any) -> dict[str, Any]:
    """What is written, by file name."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(OrderedDict(a=torch.nn.Linear(3, 2), b=torch.nn.BatchNorm1d(2)))
    for value in model.state_dict().values():
        value.copy_(counting(torch, *value.shape, dtype=value.dtype))
    state_dict = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.5)
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    base = counting(torch, 4, 5)
    places = torch.tensor([[0, 1, 1], [2, 0, 0]])
    coordinates = torch.sparse_coo_tensor(places, counting(torch, 3), (2, 3))
    return {
        "state_dict": state_dict,
        "checkpoint": {"epoch": 3, "optimizer": optimizer.state_dict(), "history": [0.5, (1, None)], "name": "best"},
        "views": {"base": base, "column": base[:, 1], "transposed": base.t(), "parameter": torch.nn.Parameter(base[0])},
        "dtypes": {
            str(dtype).removeprefix("torch."): counting(torch, 3).to(dtype)
            for dtype in (
                *(torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.complex128),
                *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8),
            )
        }
        | {"bool": torch.tensor([True, False]), "size": torch.Size([2, 3]), "dtype": torch.float16, "empty": base[:0]},
        "code": {"weight": base, "surprise": Code()},
        "module": torch.nn.Linear(2, 2),
        "sparse": {"coo": coordinates, "coalesced": coordinates.coalesce(), "csr": coordinates.to_sparse_csr()},
    }


def main() -> None:
    import torch

    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, value in contents(torch).items():
        torch.save(value, FOLDER / f"{name}.pt")
    torch.save(contents(torch)["views"], FOLDER / "views_legacy.pt", _use_new_zipfile_serialization=False)


if __name__ == "__main__":
    main()
