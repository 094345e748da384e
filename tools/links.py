"""Where the course's links lead: `tools/links.py` lists those of pages and notebooks that lead nowhere.

A relative link names a file, a heading (`#...`), or both. A heading's name is made by whoever shows the page: GitHub
writes it in small letters, JupyterLab leaves it as it is. Links with a scheme (https:) are left alone: no network.

>>> list(links("See [here](a.md#top), ![picture](b.svg), <a href='c.md'>there</a>, `x[i](j)` and\\n[d]: d.md"))
['a.md#top', 'b.svg', 'd.md', 'c.md']
>>> sorted(headings("# The `Storage`, once more\\n```\\n# no heading\\n```\\n## Why?\\n## Why?", as_on_github))
['the-storage-once-more', 'why', 'why-1']
>>> headings("## Why not?", as_in_jupyterlab)
{'Why-not?'}
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
CODE = re.compile(r"^ *(```|~~~).*?^ *\1|(`+)(?!`).+?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
DEFINITION = re.compile(r"^ {0,3}\[[^\]]+\]: +<?(\S+?)>?$", re.MULTILINE)
TAG = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)=[\"']([^\"']+)")
ANCHOR = re.compile(r"<\w+\b[^>]*?\b(?:id|name)=[\"']([^\"']+)")
HEADING = re.compile(r"^ {0,3}#{1,6} +(.+?) *#* *$", re.MULTILINE)
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def pages() -> list[Path]:
    """Every page and every notebook of the checkout that a reader opens."""
    folders = ("docs", "benchmarks", "tests", "minitorch_compile")
    notebooks = [path for name in ("notebooks", "exercises", "solutions") for path in (ROOT / name).glob("*.ipynb")]
    return sorted([*ROOT.glob("*.md"), *(path for name in folders for path in (ROOT / name).rglob("*.md")), *notebooks])


def broken_links(page: Path) -> list[str]:
    """The links of a page that lead to no file, or to no heading of it."""
    found = []
    for link in links(prose(page)):
        if SCHEME.match(link):
            continue
        name, _, heading = unquote(link).partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (heading and heading not in anchors(target)):
            found.append(link)
    return found


def links(text: str) -> Iterator[str]:
    """What a text links to; code is no text."""
    text = CODE.sub("", text)
    for pattern in (LINK, DEFINITION, TAG):
        yield from pattern.findall(text)


def prose(page: Path) -> str:
    """The text of a page; of a notebook that of its Markdown cells."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def anchors(page: Path) -> set[str]:
    """What may stand after `#` in a link to that file."""
    if page.suffix not in (".md", ".ipynb"):
        return set()
    text = prose(page)
    named = as_in_jupyterlab if page.suffix == ".ipynb" else as_on_github
    return headings(text, named) | set(ANCHOR.findall(text))


def headings(text: str, named: Callable[[str], str]) -> set[str]:
    """The names of a text's headings; the second of equal ones ends in -1."""
    fences_gone = re.sub(r"^ *(```|~~~).*?^ *\1", "", text, flags=re.DOTALL | re.MULTILINE)
    names = set[str]()
    for heading in HEADING.findall(fences_gone):
        name = named(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
        copies = sum(bool(re.fullmatch(rf"{re.escape(name)}(-\d+)?", other)) for other in names)
        names.add(f"{name}-{copies}" if copies else name)
    return names


def as_on_github(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def as_in_jupyterlab(heading: str) -> str:
    return re.sub(r"[`*]", "", heading).replace(" ", "-")


def main() -> int:
    broken = [f"{page.relative_to(ROOT)}: {link} leads nowhere" for page in pages() for link in broken_links(page)]
    print("\n".join(broken) or f"the links of {len(pages())} pages and notebooks lead somewhere")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
