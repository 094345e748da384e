"""The import hook under which `torch` is another name of this package.

Python asks the finders of `sys.meta_path` for each module it has not seen. Ours answers for `torch` and everything
below it, with the module of the same path here, so `torch.nn.functional` is `minitorch_compile.nn.functional` itself.
Where PyTorch keeps something in another place than we do, `OTHER_PLACES` says so. A module that has the name of a
function beside it (`torch.nn.utils.weight_norm` is both) is known from the start: importing it leaves the function be.
Modules of which nothing works in one process can be imported, too (`refused_modules.py`).

>>> with installed():
...     from torch.nn.modules.linear import Linear
>>> from minitorch_compile import nn
>>> Linear is nn.Linear
True
>>> with installed():
...     import torch.nothing
Traceback (most recent call last):
ModuleNotFoundError: No module named 'torch.nothing': minitorch_compile, which stands in for torch, doesn't have it
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

from minitorch_compile.as_torch.refused_modules import REFUSED, is_refused_module, refused_module
from minitorch_compile.as_torch.star_names import star_names

if TYPE_CHECKING:
    from importlib.metadata import Distribution, DistributionFinder

PACKAGE = "minitorch_compile"

# Modules of PyTorch whose contents lie elsewhere here.
OTHER_PLACES = {
    "torch._custom_ops": "minitorch_compile.library",
    "torch._dynamo.backends.common": "minitorch_compile._dynamo.backends.compiler_backends",
    "torch._dynamo.exc": "minitorch_compile.dynamo.errors",
    "torch._dynamo.testing": "minitorch_compile.dynamo.testing",
    "torch._jit_internal": "minitorch_compile.jit",
    "torch._tensor": "minitorch_compile.tensor.tensor_class.tensor_class",
    "torch.accelerator.memory": "minitorch_compile.accelerator",
    "torch.amp.autocast_mode": "minitorch_compile.amp",
    "torch.autograd.forward_ad": "minitorch_compile.func.dual_numbers",
    "torch.autograd.grad_mode": "minitorch_compile.autograd",
    "torch.autograd.profiler_util": "minitorch_compile.profiler.events",
    "torch.autograd.variable": "minitorch_compile.autograd",
    "torch.compiler.config": "minitorch_compile._dynamo.compiler_config",
    "torch.cpu.amp.autocast_mode": "minitorch_compile.cpu.amp",
    "torch.cpu.amp.grad_scaler": "minitorch_compile.cpu.amp",
    "torch.cuda.amp.autocast_mode": "minitorch_compile.cuda.amp",
    "torch.cuda.amp.grad_scaler": "minitorch_compile.cuda.amp",
    "torch.cuda.graphs": "minitorch_compile.cuda",
    "torch.distributed._composable": "minitorch_compile.distributed",
    "torch.distributed._composable.fsdp": "minitorch_compile.distributed.fsdp",
    "torch.distributed._tensor": "minitorch_compile.distributed.tensor",
    "torch.distributed._tensor.experimental": "minitorch_compile.distributed.tensor.experimental",
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper": "minitorch_compile.utils.checkpoint_wrapper",
    "torch.distributed.checkpoint.default_planner": "minitorch_compile.distributed.checkpoint",
    "torch.distributed.checkpoint.filesystem": "minitorch_compile.distributed.checkpoint",
    "torch.distributed.checkpoint.hf_storage": "minitorch_compile.distributed.checkpoint",
    "torch.distributed.checkpoint.state_dict_loader": "minitorch_compile.distributed.checkpoint",
    "torch.distributed.checkpoint.state_dict_saver": "minitorch_compile.distributed.checkpoint",
    "torch.distributed.constants": "minitorch_compile.distributed.process_group",
    "torch.autograd.profiler_legacy": "minitorch_compile.autograd.profiler",
    "torch.distributed.distributed_c10d": "minitorch_compile.distributed",
    "torch.distributed.fsdp.api": "minitorch_compile.distributed.fsdp",
    "torch.distributed.fsdp.fully_sharded_data_parallel": "minitorch_compile.distributed.fsdp",
    "torch.distributed.tensor.device_mesh": "minitorch_compile.distributed.device_mesh",
    "torch.distributed.tensor._utils": "minitorch_compile.distributed.tensor",
    "torch.distributions.utils": "minitorch_compile.distributions.parameters",
    "functorch": "minitorch_compile._functorch",
    "functorch.compile": "minitorch_compile._functorch.compile",
    "torch.fx._lazy_graph_module": "minitorch_compile.fx.lazy_graph_module",
    "torch.fx.experimental.proxy_tensor": "minitorch_compile.aot.make_fx",
    "torch.fx._symbolic_trace": "minitorch_compile.fx.symbolic_trace",
    "torch.fx.passes.pass_manager": "minitorch_compile.fx.passes.infra.pass_manager",
    "torch.jit._script": "minitorch_compile.jit",
    "torch.masked.maskedtensor": "minitorch_compile.masked.masked_tensor",
    "torch.masked.maskedtensor.core": "minitorch_compile.masked.masked_tensor",
    "torch.masked.maskedtensor.creation": "minitorch_compile.masked.masked_tensor",
    "torch.masked._ops": "minitorch_compile.masked",
    "torch.nn.modules.channelshuffle": "minitorch_compile.nn.modules.pixelshuffle",
    "torch.nn.modules.module": "minitorch_compile.nn.module",
    "torch.nn.modules.utils": "minitorch_compile.nn.tuples",
    "torch.nn.utils.init": "minitorch_compile.nn.utils",
    "torch.optim.adamw": "minitorch_compile.optim.adam",
    "torch.profiler.profiler": "minitorch_compile.profiler",
    "torch.serialization": "minitorch_compile.serialization",
    "torch.utils.serialization": "minitorch_compile.serialization",
    "torch.utils.serialization.config": "minitorch_compile.serialization.config",
    "torch.signal.windows.windows": "minitorch_compile.signal.windows",
    "torch.storage": "minitorch_compile.tensor.memory.typed_storage",
    "torch.torch": "minitorch_compile",
    "torch.torch_version": "minitorch_compile.version",
    "torch.utils._pytree": "minitorch_compile.pytree",
    "torch.utils.benchmark.utils.compare": "minitorch_compile.utils.benchmark",
    "torch.utils.benchmark.utils.timer": "minitorch_compile.utils.benchmark.timer",
    "torch.utils.data._utils": "minitorch_compile.utils.data",
    "torch.utils.data._utils.collate": "minitorch_compile.utils.data.collate",
    "torch.utils.data._utils.worker": "minitorch_compile.utils.data.worker",
}
# Likewise, but what has the name beside them is a function, which importing the module leaves be.
BESIDE_FUNCTIONS = {"torch.multiprocessing.spawn": "minitorch_compile.multiprocessing"}
FOLDERS = {name.rpartition(".")[0] for name in (*OTHER_PLACES, *REFUSED)}
# What `import torch` brings along there, and `import minitorch_compile` does not here.
BROUGHT_ALONG = (
    "torch._custom_ops",
    "torch._jit_internal",
    "torch._tensor",
    "torch.autograd.profiler_legacy",
    "torch.autograd.profiler_util",
    "torch.distributed.algorithms.join",
    "torch.distributed.constants",
    "torch.distributed.distributed_c10d",
    "torch.distributions.chi2",
    "torch.distributions.utils",
    "torch.fx._lazy_graph_module",
    "torch.fx._pytree",
    "torch.fx.experimental.proxy_tensor",
    "torch.fx.operator_schemas",
    "torch.fx.passes.graph_drawer",
    "torch.fx.passes.infra",
    "torch.fx.passes.param_fetch",
    "torch.fx.passes.shape_prop",
    "torch.fx.passes.split_module",
    "torch.jit._script",
    "torch.nn.grad",
    "torch.nn.modules.channelshuffle",
    "torch.nn.utils.init",
    "torch.profiler.profiler",
    "torch.storage",
    "torch.torch",
    "torch.torch_version",
    "torch.utils._python_dispatch",
    "torch.utils.data._utils.collate",
    "torch.utils.data._utils.worker",
    "torch.utils.hooks",
)
OURS = ("torch", "functorch")  # the packages that this one stands in for


class Alias(Loader):
    """Loads one module under a second name."""

    def __init__(self, ours: str) -> None:
        self.ours = ours

    def exec_module(self, module: ModuleType) -> None:
        """Puts our module where the empty new one is; Python takes what it finds there when this returns."""
        _enter(module.__name__, self.ours)
        if module.__name__ in star_names():
            _give(sys.modules[module.__name__], "__all__", star_names()[module.__name__])
        if module.__name__ == "torch":
            _show_as(sys.modules["torch"], "torch")
            _enter_what_is_loaded()
            _bring_along()


class SameAs(Loader):
    """Loads the module that PyTorch's name is another of. `from torch.distributed import rpc` looks for it below the
    module that it finds, which is called minitorch_compile.distributed."""

    def __init__(self, theirs: str) -> None:
        self.theirs = theirs

    def exec_module(self, module: ModuleType) -> None:
        """Puts it where the empty new one is, until uninstall()."""
        above, _, last = module.__name__.rpartition(".")
        sys.modules[module.__name__] = importlib.import_module(self.theirs)
        _given.append((sys.modules[above], last))
        _entered.append(module.__name__)


class Refused(Loader):
    """Makes a module whose names are there to be imported."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return refused_module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it is filled already."""


def _show_as(package: ModuleType, name: str) -> None:
    """Gives the package another name, and the classes that show it: libraries ask which package they were given, and
    whose the tensor is that they got. Programs print its type."""
    for kind in vars(package).values():
        if isinstance(kind, type) and kind.__module__ == package.__name__:
            kind.__module__ = name
    package.__name__ = name


def _give(module: ModuleType, name: str, value: Any) -> None:
    """Makes it an attribute of the module, which has none of this name, until uninstall()."""
    if name not in vars(module):
        vars(module)[name] = value
        _given.append((module, name))


def _bring_along() -> None:
    """Loads what is at hand there."""
    for name in BROUGHT_ALONG:
        above, _, last = name.rpartition(".")
        package = importlib.import_module(above)
        if not hasattr(package, last):
            _given.append((package, last))
        vars(package).setdefault(last, importlib.import_module(name))


def _enter_what_is_loaded() -> None:
    """Makes all our modules that are loaded known under PyTorch's names: importing one of them runs no code then, which
    a compiled function that has `import torch.fx` in it may therefore do."""
    for name, module in list(sys.modules.items()):
        theirs = "torch" + name.removeprefix(PACKAGE)
        if name.startswith(f"{PACKAGE}.") and theirs not in OTHER_PLACES:
            sys.modules.setdefault(theirs, module)
    for theirs, ours in BESIDE_FUNCTIONS.items():
        sys.modules.setdefault(theirs, importlib.import_module(ours))
    for theirs in star_names().keys() & sys.modules.keys():
        _give(sys.modules[theirs], "__all__", star_names()[theirs])
    for theirs in FOLDERS & sys.modules.keys():
        _make_folder(sys.modules[theirs])


def _enter(name: str, path: str) -> None:
    """Makes a module of ours known under a name, and with it those below it whose names are also those of functions:
    Python would put them in the functions' places when they are imported."""
    module = sys.modules[name] = importlib.import_module(path)
    if name in FOLDERS:
        _make_folder(module)
    for attribute, value in vars(module).items():
        if not isinstance(value, ModuleType) and f"{path}.{attribute}" in sys.modules:
            _enter(f"{name}.{attribute}", f"{path}.{attribute}")


def _make_folder(module: ModuleType) -> None:
    """What is a folder there and may be a file here can have modules below it."""
    _give(module, "__path__", [])


def _exists(path: str) -> bool:
    try:
        return importlib.util.find_spec(path) is not None
    except ModuleNotFoundError:  # the one above it isn't there: PyTorch's name of that is an alias
        return False


class TorchFinder(MetaPathFinder):
    """Answers for `torch` and the modules below it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Our module under PyTorch's name; ModuleNotFoundError if there is none; None for other packages."""
        if fullname.startswith(f"{PACKAGE}."):
            theirs = "torch" + fullname.removeprefix(PACKAGE)
            elsewhere = theirs in OTHER_PLACES or is_refused_module(theirs)
            is_here = not elsewhere or PathFinder.find_spec(fullname, path) is not None
            return None if is_here else importlib.util.spec_from_loader(fullname, SameAs(theirs))
        if fullname.partition(".")[0] not in OURS:
            return None
        if is_refused_module(fullname):
            return importlib.util.spec_from_loader(fullname, Refused(), is_package=True)
        ours = OTHER_PLACES.get(fullname, PACKAGE + fullname.removeprefix("torch"))
        # Answering None would let Python look into our folder itself, and load our modules a second time.
        if not _exists(ours):
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: {PACKAGE}, which stands in for torch, doesn't have it",
                name=fullname,
            )
        return importlib.util.spec_from_loader(fullname, Alias(ours), is_package=True)

    def find_distributions(self, context: DistributionFinder.Context) -> Iterable[Distribution]:
        """PyTorch's entry in the list of installed packages, if that is asked for, or all are (name is None)."""
        from minitorch_compile.as_torch.distribution import TorchDistribution  # loads importlib.metadata, so only now

        return [TorchDistribution()] if context.name in (None, "torch") else []


_finder = TorchFinder()
_given: list[tuple[ModuleType, str]] = []  # attributes that our modules have only under PyTorch's names
_entered: list[str] = []  # names below the package's own that stand for modules elsewhere


def install() -> None:
    """From now on `import torch` gives this package. RuntimeError if the real one was imported already."""
    if sys.modules.get("torch", sys.modules[PACKAGE]) is not sys.modules[PACKAGE]:
        raise RuntimeError("as_torch: PyTorch itself is imported already; install before anything imports torch")
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Ends what install() began. Modules that imported torch meanwhile keep what they have."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        while _given:
            module, name = _given.pop()
            vars(module).pop(name, None)
        package = sys.modules[PACKAGE]
        _show_as(package, package.__spec__.name)  # type: ignore[union-attr]
        for name in [*_entered, *(name for name in sys.modules if name.partition(".")[0] in OURS)]:
            del sys.modules[name]
        _entered.clear()


@contextmanager
def installed() -> Iterator[None]:
    """install() for the imports inside a `with`."""
    already = _finder in sys.meta_path
    install()
    try:
        yield
    finally:
        if not already:
            uninstall()
