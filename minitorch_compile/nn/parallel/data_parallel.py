"""DataParallel on a machine without GPUs: it calls the module it holds, as PyTorch's does there.

Its parameters have `module.` before their names, so the state dicts of models that were trained on GPUs fit.

>>> from minitorch_compile import nn
>>> list(DataParallel(nn.Linear(2, 1)).state_dict())
['module.weight', 'module.bias']
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn.module import Module


class DataParallel(Module):
    """Holds a module and passes calls on. RuntimeError if `device_ids` names GPUs."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        if device_ids:
            raise RuntimeError(f"DataParallel: there are no GPUs here, but device_ids={device_ids}; leave it out")
        self.module = module
        self.device_ids: list[int] = []
        self.output_device, self.dim = output_device, dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Any = None,
) -> Any:
    """What DataParallel does, for one call."""
    arguments = inputs if isinstance(inputs, tuple) else (inputs,)
    return DataParallel(module, device_ids, output_device, dim)(*arguments, **(module_kwargs or {}))
