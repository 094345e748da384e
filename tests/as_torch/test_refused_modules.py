"""Modules that need several processes can be imported; what is used of them is refused, or means nothing to one."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from minitorch_compile.as_torch.import_hook import installed
from minitorch_compile.as_torch.refused_modules import ALONE, COMPILERS, EXTENSIONS, REFUSED


@pytest.fixture(autouse=True, scope="module")
def under_the_other_name():
    with installed():
        yield


@pytest.mark.parametrize("name", REFUSED)
def test_each_can_be_imported_and_refuses(name):
    module = importlib.import_module(name)
    above, _, last = name.rpartition(".")
    assert getattr(importlib.import_module(above), last) is module
    for each in REFUSED[name].split():
        refused = getattr(module, each)
        assert not isinstance(3, refused) if isinstance(refused, type) else refused.__name__ == each
        with pytest.raises(NotImplementedError, match="processes can't work together here"):
            refused()


def test_what_one_process_can_do_is_done():
    assert set(ALONE) <= set(REFUSED)
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError, record

    @record
    def main():
        return "done"

    assert main() == "done"
    with pytest.raises(KeyError):
        try:
            raise KeyError
        except ChildFailedError:
            pass
    from torch.distributed import rpc
    from torch.distributed.checkpoint import filesystem

    assert not rpc.is_available() and rpc is importlib.import_module("torch.distributed.rpc")
    assert filesystem.FileSystemReader is importlib.import_module("torch.distributed.checkpoint").FileSystemReader


def test_extensions_in_cpp_are_refused():
    from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, load

    assert CUDA_HOME is None and set(COMPILERS.split()) < set(vars(importlib.import_module(EXTENSIONS)))
    for call in (lambda: load("name", ["a.cpp"]), BuildExtension, lambda: BuildExtension.with_options(use_ninja=False)):
        with pytest.raises(NotImplementedError, match="can't be compiled here; write it in torch's ops"):
            call()


def test_a_module_that_is_named_as_the_function_beside_it():
    import torch
    from torch.multiprocessing.spawn import ProcessRaisedException

    assert callable(torch.multiprocessing.spawn)
    assert issubclass(ProcessRaisedException, torch.multiprocessing.ProcessException)


@pytest.mark.parametrize("name", ["torch.nothing", "torch.distributed.nothing", "torch.distributed.rpc.nothing"])
def test_others_are_not_there(name):
    with pytest.raises(ModuleNotFoundError, match="which stands in for torch"):
        importlib.import_module(name)


def test_nothing_stays_of_them():
    program = (
        "import sys, minitorch_compile.distributed as ours\n"
        "from minitorch_compile.as_torch.import_hook import installed\n"
        "with installed():\n"
        "    from torch.distributed import rpc\n"
        "    from torch.distributed.checkpoint import filesystem\n"
        "assert not hasattr(ours, 'rpc') and not hasattr(ours.checkpoint, 'filesystem')\n"
        "assert not [name for name in sys.modules if name.endswith(('.rpc', '.filesystem'))]\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
