"""torch.onnx: no program is exported, and those that ask whether they are being exported hear no.

>>> is_in_onnx_export()
False
"""

from __future__ import annotations

from typing import Any, NoReturn


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: never."""
    return False


def export(model: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """NotImplementedError: ONNX files are not written."""
    raise NotImplementedError(
        "torch.onnx.export: ONNX files are not written; save the weights with torch.save(model.state_dict(), file) and"
        " export with PyTorch, which reads them with safetensors"
    )
