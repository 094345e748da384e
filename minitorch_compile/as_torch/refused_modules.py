"""Modules that programs import on their way, and of which nothing works in one process: names are there, use is not.

Libraries that run on many machines import all that they may need, and use it where `get_world_size() > 1` says so.
Each name stands for a class or a function (by its first letter) that raises NotImplementedError with advice;
`isinstance` with such a class is False. What means something in one process as well is that: `record` gives its
function back.

>>> module = refused_module("torch.distributed.rpc")
>>> module.rpc_sync("worker1", print)
Traceback (most recent call last):
NotImplementedError: rpc_sync: processes can't work together here; with one, leave it out, and ask ...
>>> isinstance(3, module.RRef), module.nothing
Traceback (most recent call last):
AttributeError: module 'torch.distributed.rpc' has no attribute 'nothing'
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from minitorch_compile.distributed.across_processes import refused_class, refused_function

D = "torch.distributed."
# What needs several processes.
REFUSED: dict[str, str] = {
    "torch._C._distributed_rpc": "",
    f"{D}autograd": "context",
    f"{D}algorithms.ddp_comm_hooks": "",
    f"{D}algorithms.ddp_comm_hooks.default_hooks": "allreduce_hook fp16_compress_hook bf16_compress_hook"
    " fp16_compress_wrapper bf16_compress_wrapper",
    f"{D}algorithms.ddp_comm_hooks.powerSGD_hook": "PowerSGDState powerSGD_hook batched_powerSGD_hook",
    f"{D}algorithms.ddp_comm_hooks.post_localSGD_hook": "PostLocalSGDState post_localSGD_hook",
    f"{D}algorithms.model_averaging": "",
    f"{D}algorithms.model_averaging.averagers": "ModelAverager PeriodicModelAverager",
    f"{D}checkpoint.format_utils": "dcp_to_torch_save torch_save_to_dcp BroadcastingTorchSaveReader"
    " DynamicMetaLoadPlanner _EmptyStateDictLoadPlanner",
    f"{D}checkpoint.optimizer": "load_sharded_optimizer_state_dict",
    f"{D}checkpoint._consolidate_hf_safetensors": "consolidate_safetensors_files",
    f"{D}elastic": "",
    f"{D}elastic.multiprocessing": "start_processes DefaultLogsSpecs LogsSpecs PContext SignalException Std",
    f"{D}elastic.multiprocessing.errors": "ErrorHandler ProcessFailure get_error_handler",
    f"{D}launcher": "",
    f"{D}launcher.api": "LaunchConfig elastic_launch launch_agent",
    f"{D}optim": "DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer as_functional_optim",
    f"{D}pipelining": "Pipe PipelineStage Schedule1F1B ScheduleGPipe ScheduleInterleaved1F1B ScheduleLoopedBFS"
    " ScheduleInterleavedZeroBubble ScheduleZBVZeroBubble ScheduleDualPipeV SplitPoint build_stage pipe_split pipeline",
    f"{D}rpc": "AllGatherStates BackendType RRef TensorPipeRpcBackendOptions get_worker_info init_rpc new_method"
    " method_factory register_backend remote rpc_async rpc_sync shutdown",
    f"{D}run": "get_args_parser main run config_from_args",
    f"{D}tensor.experimental._attention": "context_parallel context_parallel_unshard set_rotate_method",
    f"{D}tensor.parallel": "ColwiseParallel ParallelStyle PrepareModuleInput PrepareModuleInputOutput"
    " PrepareModuleOutput RowwiseParallel SequenceParallel loss_parallel parallelize_module",
    f"{D}utils": "",
    "torch.numa": "",
    "torch.numa.binding": "AffinityMode NumaOptions",
}


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Nothing: what one process has, all have."""


def _false() -> bool:
    """Whether there are other processes to ask: never."""
    return False


def _record(fn: Callable[..., Any], error_handler: Any = None) -> Callable[..., Any]:
    """The function itself: what it raises needs no file in which the process that started this one would look."""
    return fn


# What is the same in one process as among several.
ALONE: dict[str, dict[str, Any]] = {
    "torch._C._distributed_rpc": {"_is_current_rpc_agent_set": _false},
    f"{D}autograd": {"is_available": _false},
    f"{D}elastic.multiprocessing.errors": {
        "record": _record,
        "ChildFailedError": refused_class("ChildFailedError", Exception),
    },
    f"{D}rpc": {"is_available": _false},
    f"{D}utils": {"_sync_module_states": _nothing, "_verify_param_shape_across_processes": _nothing},
}

EXTENSIONS = "torch.utils.cpp_extension"
COMPILERS = "BuildExtension CppExtension CUDAExtension SyclExtension include_paths library_paths load load_inline"


def _refuse_to_compile(name: str) -> Any:
    """A function or class that would compile C++ or CUDA for PyTorch."""
    advice = f"{name}: C++ that is written for PyTorch can't be compiled here; write it in torch's ops, which compile()"
    advice += " makes one kernel of, or as a torch.library.custom_op"

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(advice)

    body = {"__new__": refuse, "with_options": staticmethod(refuse), "__doc__": "NotImplementedError."}
    return type(name, (), body) if name[0].isupper() else refuse


def is_refused_module(name: str) -> bool:
    """Whether there is a module of that name here."""
    return name in REFUSED or name == EXTENSIONS


def refused_module(name: str) -> ModuleType:
    """A module of that name, one of those above."""
    module = ModuleType(name, f"{name}: to be imported; use is refused.")
    if name == EXTENSIONS:
        names = {each: _refuse_to_compile(each) for each in COMPILERS.split()}
        names |= {"CUDA_HOME": None, "ROCM_HOME": None, "IS_HIP_EXTENSION": False, "is_ninja_available": _false}
    else:
        names = {each: _refused(each) for each in REFUSED[name].split()} | ALONE.get(name, {})
    vars(module).update(names, __all__=[each for each in names if not each.startswith("_")])
    return module


def _refused(name: str) -> Any:
    return refused_class(name) if name.lstrip("_")[0].isupper() else refused_function(name)
