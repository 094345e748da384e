"""What `importlib.metadata` says of torch: that a PyTorch of this version is installed.

Libraries ask for it before they import torch, or instead:

>>> import importlib.metadata
>>> from minitorch_compile.as_torch import installed
>>> with installed():
...     importlib.metadata.version("torch").startswith("2.")
True
"""

from __future__ import annotations

from importlib.metadata import Distribution
from pathlib import Path

from minitorch_compile.version import __version__

FILES = {
    "METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {__version__}\n",
    "top_level.txt": "torch\nfunctorch\n",
}


class TorchDistribution(Distribution):
    """An installed package's description; of its files there are only those that say its name and its modules."""

    def read_text(self, filename: str) -> str | None:
        """A file of the description, or None if it has no such file."""
        return FILES.get(filename)

    def locate_file(self, path: object) -> Path:
        """Where a file of the package lies: in this package's folder."""
        return Path(__file__).parents[1] / str(path)
