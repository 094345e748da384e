"""The package put together: the learner's text where there is one, the reference's everywhere else.

>>> files = composed({"15.6": "def outer():\\n    return 'mine'"})
>>> "return 'mine'" in files["emit"], "import numba" in files["emit"]
(True, True)
>>> composed({})["emit"] == whole(reference()["emit"])
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from .reference import reference
from .sections import Section, whole


def composed(texts: Mapping[str, str]) -> dict[str, str]:
    """The text of every file, by its name without `.py`. `texts` has the steps that are not the reference's."""
    return {
        file: whole(with_text(part, texts[part.number]) if part.number in texts else part for part in parts)
        for file, parts in reference().items()
    }


def with_text(part: Section, text: str) -> Section:
    """The section with another text, and as many blank lines after it as before."""
    after = part.text[len(part.text.rstrip()) :] or "\n"
    return replace(part, text=text.rstrip() + after)


def write_package(folder: Path, files: Mapping[str, str]) -> None:
    """Writes `folder/mini/*.py`."""
    (folder / "mini").mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (folder / "mini" / f"{file}.py").write_text(text, encoding="utf-8")
