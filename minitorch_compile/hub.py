"""torch.hub: pretrained weights from the folder where PyTorch keeps what it downloaded. Nothing is downloaded here.

>>> load_state_dict_from_url("https://example.org/no-such-weights.pth")
Traceback (most recent call last):
FileNotFoundError: load_state_dict_from_url: nothing is downloaded here. Put the file at .../no-such-weights.pth, or ...
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlparse

from minitorch_compile.serialization import load as load_file

_folder: list[str] = []


def get_dir() -> str:
    """The folder of downloads: what set_dir() said, else $TORCH_HOME/hub, else ~/.cache/torch/hub."""
    if _folder:
        return _folder[0]
    cache = os.environ.get("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    return os.path.join(os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch"))), "hub")


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


def load(repo_or_dir: str, model: str, *args: Any, **kwargs: Any) -> NoReturn:
    """NotImplementedError: programs are not downloaded."""
    raise NotImplementedError(
        f"torch.hub.load: programs are not downloaded; copy the file that defines {model!r} from {repo_or_dir} and"
        " import it"
    )
