"""Importing modules under PyTorch's names: nothing in this package changes by it."""

from __future__ import annotations

import importlib
import importlib.metadata
import pickle
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from types import ModuleType

import pytest

from minitorch_compile.as_torch.import_hook import BROUGHT_ALONG, OTHER_PLACES, PACKAGE, installed
from minitorch_compile.dynamo.guards import failures
from minitorch_compile.dynamo.variables.objects.class_lookup import is_library
from minitorch_compile.interop.pytorch import from_torch
from minitorch_compile.jit import resolution


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


def test_types_show_whose_they_are():
    import minitorch_compile as ours

    x = ours.zeros(2)
    values = (x, x.shape, x.dtype, x.device, x.layout, ours.contiguous_format, ours.finfo(x.dtype))
    names = ["Tensor", "Size", "dtype", "device", "layout", "memory_format", "finfo"]
    with installed():
        import torch

        assert [str(type(value)) for value in values] == [f"<class 'torch.{name}'>" for name in names]
        assert pickle.loads(pickle.dumps(values[1:6])) == values[1:6]
        assert from_torch(x) is x  # ours, by whatever name
        assert resolution.ours(torch.Tensor)
        assert is_library(torch.Tensor)
        assert failures._shown(x.shape) == "torch.Size([2])"  # as a guard that failed says
    assert [str(type(value)) for value in values] == [f"<class 'minitorch_compile.{name}'>" for name in names]


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


def test_what_import_torch_brings_along_needs_no_import_of_its_own():
    with installed():
        import torch

        for name in BROUGHT_ALONG:
            found = torch
            for part in name.split(".")[1:]:
                found = getattr(found, part)
            assert isinstance(found, ModuleType), name
        assert torch.torch is torch and torch.__name__ == "torch"
    package = sys.modules[PACKAGE]
    assert package.__name__ == PACKAGE and not hasattr(package, "torch") and not hasattr(package, "torch_version")


def test_a_star_takes_the_names_that_it_takes_of_pytorch():
    taken: dict[str, object] = {}
    with installed():
        exec("from torch.nn.init import *\nfrom torch.distributions.constraints import *", taken)
    assert {"xavier_uniform_", "calculate_gain", "dependent_property"} <= taken.keys()
    assert not {"from_numpy", "no_grad", "Any", "annotations"} & taken.keys()


def test_the_names_that_a_star_takes_are_up_to_date():
    """In a process of its own: tests import modules that a program doesn't."""
    root = Path(__file__).parents[2]
    checked = subprocess.run([sys.executable, root / "tools/star_names.py", "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_module_below_an_alias_that_is_not_there_is_missing_in_pytorchs_words():
    with installed(), pytest.raises(ModuleNotFoundError, match="No module named 'torch.distributed._tensor.nothing'"):
        importlib.import_module("torch.distributed._tensor.nothing")


def test_without_gpus_only_what_is_no_tensor_is_scattered():
    with installed():
        from torch.nn.parallel.scatter_gather import gather, is_namedtuple, scatter, scatter_kwargs
    import minitorch_compile as torch

    assert scatter([1, {"a": (2,)}], [0, 1]) == [[1, {"a": (2,)}]] * 2
    assert scatter_kwargs((1,), {"a": 2}, [0]) == (((1,),), ({"a": 2},))
    assert is_namedtuple(ModuleType("m")) is False and is_namedtuple(namedtuple("Pair", "a b")(1, 2))
    with pytest.raises(RuntimeError, match="torch.cuda.is_available"):
        scatter([torch.ones(2)], [0])
    with pytest.raises(AssertionError, match="Gather function not implemented for CPU tensors"):
        gather([torch.ones(2)], 0)
