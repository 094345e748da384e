"""torch.PyTorchFileReader: the records of a file that PyTorch's torch.save wrote, by name and as bytes.

>>> import io
>>> file = io.BytesIO()
>>> with zipfile.ZipFile(file, "w") as archive:
...     archive.writestr("model/version", b"3")
>>> reader = PyTorchFileReader(file)
>>> reader.has_record("data.pkl"), reader.get_all_records(), reader.get_record("version")
(False, ['version'], b'3')
"""

from __future__ import annotations

import zipfile
from typing import Any


class PyTorchFileReader:
    """A zip archive with one folder, whose files are the records. RuntimeError if it is none."""

    def __init__(self, name_or_buffer: Any) -> None:
        try:
            self._archive = zipfile.ZipFile(name_or_buffer)
            self._folder = self._archive.namelist()[0].partition("/")[0]
        except (zipfile.BadZipFile, IndexError) as error:
            raise RuntimeError(
                f"PytorchStreamReader failed reading zip archive: {error}; was the file written by PyTorch?"
            ) from error

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return [name.partition("/")[2] for name in self._archive.namelist()]

    def has_record(self, name: str) -> bool:
        """Whether there is one of that name."""
        return name in self.get_all_records()

    def get_record(self, name: str) -> bytes:
        """Its bytes. RuntimeError if there is none of that name."""
        try:
            return self._archive.read(f"{self._folder}/{name}")
        except KeyError:
            raise RuntimeError(
                f"PytorchStreamReader failed locating file {name}: file not found; there are"
                f" {', '.join(self.get_all_records())}"
            ) from None
