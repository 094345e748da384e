"""torch.onnx: no program is exported, and those that ask whether they are being exported hear no.

>>> is_in_onnx_export()
False
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NoReturn

from minitorch_compile.onnx import symbolic_helper, symbolic_opset11
from minitorch_compile.tensor.dispatch.written_signatures import says

__all__ = [
    "export",
    "is_in_onnx_export",
    "register_custom_op_symbolic",
    "symbolic_helper",
    "symbolic_opset11",
]


class TrainingMode(enum.IntEnum):
    """Whether a model was to be exported as for training."""

    EVAL, PRESERVE, TRAINING = 0, 1, 2


class OperatorExportTypes(enum.IntEnum):
    """How ops were to be written that ONNX has no word for."""

    ONNX, ONNX_ATEN, ONNX_ATEN_FALLBACK, ONNX_FALLTHROUGH = 0, 1, 2, 3


class ONNXProgram:
    """What export() would give: NotImplementedError. Nothing is an instance of it."""

    def __init__(self, model: Any, exported_program: Any) -> None:
        export(model)


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: never."""
    return False


@says(
    "(model, args=(), f=None, *, kwargs=None, verbose=None, input_names=None, output_names=None, opset_version=None,"
    " dynamo=True, external_data=True, dynamic_shapes=None, custom_translation_table=None, report=False, optimize=True,"
    " verify=False, profile=False, dump_exported_program=False, artifacts_dir='.', export_params=True,"
    " keep_initializers_as_inputs=False, dynamic_axes=None, training=None, operator_export_type=None,"
    " do_constant_folding=True, custom_opsets=None, export_modules_as_functions=False, autograd_inlining=True)"
)
def export(model: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """NotImplementedError: ONNX files are not written."""
    raise NotImplementedError(
        "torch.onnx.export: ONNX files are not written; save the weights with torch.save(model.state_dict(), file) and"
        " export with PyTorch, which reads them with safetensors"
    )


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int) -> None:
    """How an op of the program would be written in a file. ValueError unless it is "namespace::name".

    Nothing asks for it, since export() refuses.
    """
    if symbolic_name.count("::") != 1:
        raise ValueError(
            f"Failed to register operator {symbolic_name}. The symbolic name must match the format domain::name, and"
            " should start with a letter and contain only alphanumerical characters"
        )
