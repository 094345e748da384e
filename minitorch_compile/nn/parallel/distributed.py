"""DistributedDataParallel of one process: it calls the module it holds, and gradients are the process's own.

Its parameters have `module.` before their names, so the state dicts of models that many processes trained fit.

>>> from minitorch_compile import distributed, nn
>>> distributed.init_process_group("gloo", init_method="tcp://localhost:29500", rank=0, world_size=1)
>>> list(DistributedDataParallel(nn.Linear(2, 1)).state_dict())
['module.weight', 'module.bias']
>>> distributed.destroy_process_group()
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NoReturn

from minitorch_compile.distributed.process_group import the_group
from minitorch_compile.nn.module import Module


class DistributedDataParallel(Module):
    """Holds a module and passes calls on. What says how gradients travel between processes is taken and not needed.

    ValueError before init_process_group, or if `device_ids` names GPUs; RuntimeError for a module without parameters
    that want gradients.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: Any = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: Any = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: Any = None,
    ) -> None:
        super().__init__()
        self.process_group = the_group(process_group)
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a"
                " gradient."
            )
        if device_ids or output_device is not None:
            raise ValueError(
                "DistributedDataParallel: device_ids and output_device name GPUs, and the module is on the CPU; leave"
                f" them out, got {device_ids} and {output_device}"
            )
        self.module = module
        self.device_ids, self.output_device, self.dim = None, None, dim
        self.broadcast_buffers = broadcast_buffers is not False
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Inside, gradients stay with the process: they always do."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def join(self, *args: Any, **kwargs: Any) -> AbstractContextManager[None]:
        """For processes with more data than others: there are no others."""
        return nullcontext()

    def register_comm_hook(self, state: object, hook: Any) -> NoReturn:
        """NotImplementedError: gradients don't travel, so nothing can be done to them on the way."""
        raise NotImplementedError(
            "DistributedDataParallel.register_comm_hook: with one process gradients are not exchanged; leave it out"
        )
