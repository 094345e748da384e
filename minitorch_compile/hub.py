"""torch.hub: pretrained weights from the folder where PyTorch keeps what it downloaded. Nothing is downloaded here.

>>> load_state_dict_from_url("https://example.org/no-such-weights.pth")
Traceback (most recent call last):
FileNotFoundError: load_state_dict_from_url: nothing is downloaded here. Put the file at .../no-such-weights.pth, or ...
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from minitorch_compile.serialization import load as load_file

_folder: builtins.list[str] = []
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # the beginning of a file's hash, at the end of its name


def __getattr__(name: str) -> Any:
    """`tqdm`, the progress bar: that of the package tqdm if it is installed, else none that draws."""
    if name != "tqdm":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if importlib.util.find_spec("tqdm") is None:
        return _QuietProgress
    return importlib.import_module("tqdm").tqdm


class _QuietProgress:
    """Takes what a progress bar takes, and shows nothing."""

    def __init__(self, iterable: Iterable[Any] = (), *args: Any, **kwargs: Any) -> None:
        self.iterable, self.n = iterable, 0

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def __enter__(self) -> _QuietProgress:
        return self

    def __exit__(self, *of_error: object) -> None:
        self.close()

    def update(self, n: int = 1) -> None:
        """Counts."""
        self.n += n

    def set_description(self, text: str | None = None) -> None:
        """Shows nothing."""

    def close(self) -> None:
        """Ends nothing."""


def get_dir() -> str:
    """The folder of downloads: what set_dir() said, else $TORCH_HOME/hub, else ~/.cache/torch/hub."""
    if _folder:
        return _folder[0]
    return os.path.join(_get_torch_home(), "hub")


def _get_torch_home() -> str:
    """The folder above that, where packages keep what they downloaded: $TORCH_HOME, or ~/.cache/torch."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d: str | os.PathLike[str]) -> None:
    """Looks in that folder from now on."""
    _folder[:] = [os.path.expanduser(d)]


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """Loads the file of the address's last part from `model_dir`. FileNotFoundError, with advice, if it isn't there."""
    folder = Path(model_dir or os.path.join(get_dir(), "checkpoints"))
    file = folder / (file_name or os.path.basename(urlparse(url).path))
    if not file.exists():
        raise FileNotFoundError(
            f"load_state_dict_from_url: nothing is downloaded here. Put the file at {file}, or build the model without"
            " pretrained weights"
        )
    return load_file(file, map_location=map_location)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """FileNotFoundError, with advice, unless the file is there already: nothing is downloaded here."""
    if not os.path.exists(dst):
        raise FileNotFoundError(f"download_url_to_file: nothing is downloaded here. Fetch {url} and put it at {dst}")


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """What `model(*args, **kwargs)` of a folder's hubconf.py gives, with source="local".

    NotImplementedError for other sources: programs are not downloaded.
    """
    return _entry_point(repo_or_dir, model, source, "load")(*args, **kwargs)


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
    verbose: bool = True,
    *,
    source: str = "github",
) -> builtins.list[str]:
    """The names that a folder's hubconf.py has for load(), with source="local"."""
    module = _hubconf(github, source, "list")
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]


def help(
    github: str,
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
    *,
    source: str = "github",
) -> str | None:
    """The docstring of one of them."""
    return _entry_point(github, model, source, "help").__doc__


def _entry_point(folder: str, model: str, source: str, caller: str) -> Any:
    entry = getattr(_hubconf(folder, source, caller, model), model, None)
    if not callable(entry):
        raise RuntimeError(f"Cannot find callable {model} in hubconf of {folder}")
    return entry


def _hubconf(folder: str, source: str, caller: str, model: str = "the model") -> Any:
    """A folder's hubconf.py, run as a module that finds its neighbours."""
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise NotImplementedError(
            f"torch.hub.{caller}: programs are not downloaded; get {folder}, and pass its folder with source='local',"
            f" or import the file that defines {model}"
        )
    file = Path(folder) / "hubconf.py"
    spec = importlib.util.spec_from_file_location("hubconf", file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise FileNotFoundError(f"torch.hub.{caller}: there is no hubconf.py in {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module
