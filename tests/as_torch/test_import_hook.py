"""Importing modules under PyTorch's names: nothing in this package changes by it."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from types import ModuleType

import pytest

from minitorch_compile.as_torch.import_hook import OTHER_PLACES, PACKAGE, installed


def test_no_import_puts_a_module_where_a_function_of_its_name_is():
    modules = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == PACKAGE}
    before = {name: dict(vars(module)) for name, module in modules.items()}
    with installed():
        for name in [*modules, *OTHER_PLACES]:
            importlib.import_module("torch" + name.removeprefix(PACKAGE) if name in modules else name)
    replaced = [
        f"{name}.{attribute}"
        for name, attributes in before.items()
        for attribute, value in attributes.items()
        if not isinstance(value, ModuleType) and vars(modules[name]).get(attribute) is not value
    ]
    assert replaced == []


def test_a_module_and_the_function_of_its_name_can_both_be_imported():
    with installed():
        import torch
        import torch.nn.utils.weight_norm  # a module
        from torch.nn.utils.spectral_norm import SpectralNorm

        assert SpectralNorm.__module__.endswith("spectral_norm")
        with pytest.warns(FutureWarning, match="parametrizations"):
            torch.nn.utils.weight_norm(torch.nn.Linear(2, 2))  # the function


def test_libraries_find_torch_among_the_installed_packages():
    with installed():
        import torch

        assert importlib.metadata.version("torch") == torch.__version__
        assert importlib.metadata.packages_distributions()["torch"][0] == "torch"
        assert "torch" in [distribution.name for distribution in importlib.metadata.distributions()]


def test_modules_below_nn_modules_are_attributes_too():
    with installed():
        import torch

        assert torch.nn.modules.module._EXTRA_STATE_KEY_SUFFIX == "_extra_state"
        assert torch.nn.modules.module.Module is torch.nn.Module
        assert torch.nn.modules.utils._pair(3) == (3, 3)


@pytest.mark.parametrize(
    "line",
    [
        "from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor",
        "from torch.distributed._tensor import DTensor",
        "from torch.distributed.tensor.placement_types import _StridedShard",
        "from torch.distributed.device_mesh import DeviceMesh, init_device_mesh",
        "from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecisionPolicy, fully_shard",
        "from torch.distributed.fsdp.fully_sharded_data_parallel import ShardingStrategy, StateDictType",
        "from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler",
        "from torch.distributed.fsdp.wrap import ModuleWrapPolicy",
        "from torch.distributed._composable.fsdp import fully_shard",
        "from torch.distributed._functional_collectives import wait_tensor",
        "from torch.distributed.algorithms.join import Join",
        "from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader",
        "from torch.distributed.constants import default_pg_timeout",
        "from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex",
        "from torch.nn.attention.flex_attention import _DEFAULT_SPARSE_BLOCK_SIZE",
        "from torch.nn.modules.module import _IncompatibleKeys",
        "from torch.storage import TypedStorage, UntypedStorage",
        "from torch._C import _TensorMeta; assert _TensorMeta is type(__import__('torch').Tensor)",
        "from torch import pca_lowrank, svd_lowrank",
    ],
)
def test_lines_with_which_libraries_begin(line):
    with installed():
        exec(line, {})
