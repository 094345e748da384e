"""Weights of convolutions in another order in memory: channels last, as a model is converted once before it runs.

>>> from minitorch_compile import channels_last, nn
>>> layer = convert_conv2d_weight_memory_format(nn.Conv2d(3, 8, 2), channels_last)
>>> layer.weight.is_contiguous(memory_format=channels_last)
True
"""

from __future__ import annotations

from typing import Any, TypeVar

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

AnyModule = TypeVar("AnyModule", bound=Module)


def convert_conv2d_weight_memory_format(module: AnyModule, memory_format: Any) -> AnyModule:
    """Puts the weights of all Conv2d and ConvTranspose2d in a module into that order, and returns the module."""
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: AnyModule, memory_format: Any) -> AnyModule:
    """Puts the weights of all Conv3d and ConvTranspose3d in a module into that order, and returns the module."""
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module: AnyModule, kinds: Any, memory_format: Any) -> AnyModule:
    for layer in module.modules():
        if isinstance(layer, kinds):
            layer.weight.data = layer.weight.detach().clone().contiguous(memory_format=memory_format)
    return module
