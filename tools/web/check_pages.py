"""Looks at the built site and at the viewer's page as a browser shows them: `make site-check`, after `make site`.

axe finds what can't be read or reached without a mouse, a good eye or a large screen, on a sample of pages, in light
and in dark; what it calls serious or critical is an error. No page may ask another host for anything, and every link of
every page must lead to a page and a place in it that are there. Wants a Chromium; axe itself comes from the package
index, by its hash (`axe.lock`), into build/.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SITE = ROOT / "build" / "site" / "html"
AXE = ROOT / "build" / "axe"
sys.path.insert(0, str(ROOT))

from tools.chromium import BrowserError, Chromium  # noqa: E402

SAMPLE = (
    "index", "README", "docs/graph_breaks", "docs/glossary", "notebooks/00_tour", "notebooks/14_fusion_and_scheduling",
    "reference/torch.fft", "benchmarks/README", "search",
)  # fmt: skip
SERIOUS = ("serious", "critical")
FOUND = f"""
axe.run(document, {{resultTypes: ['violations']}}).then(({{violations}}) => JSON.stringify(violations
    .filter(({{impact}}) => {json.dumps(SERIOUS)}.includes(impact))
    .map(({{id, help, nodes}}) => [id, help, nodes.length, nodes[0].html.slice(0, 200), nodes[0].failureSummary])))"""


def axe_script() -> str:
    """axe's source, fetched the first time."""
    script = AXE / "axe_playwright_python" / "axe.min.js"
    if not script.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
        subprocess.run([*command, "--target", str(AXE), "-r", str(HERE / "axe.lock")], check=True)
    return script.read_text(encoding="utf-8")


def audited(page: Chromium, address: str, dark: bool) -> list[str]:
    """What axe finds on a page, a sentence each."""
    theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    page.command("Emulation.setEmulatedMedia", features=[theme])
    began = time.monotonic()
    page.open(address)
    page.wait_until("document.readyState === 'complete'", 60, "whole page")
    page.evaluate(f"{axe_script()}; 0")
    found = json.loads(page.evaluate(FOUND))
    name = f"{address.rpartition('/')[2]}, {theme['value']}"
    print(f"{name}: {len(found)} findings, {time.monotonic() - began:.0f} s", flush=True)
    return [
        f"{name}: {rule} ({help}), {count} times, the first: {html}\n    {' '.join(summary.split())}"
        for rule, help, count, html, summary in found
    ]


def accessibility(pages: list[Path]) -> list[str]:
    """axe's findings on all pages, and the hosts that they asked."""
    problems: list[str] = []
    with Chromium() as page:
        for path in pages:
            for dark in (False, True):
                problems += audited(page, path.as_uri(), dark)
        problems += [f"a page asked the host {host}" for host in sorted(page.hosts)]
    return problems


def viewer_page(folder: str) -> Path:
    """The page of a compilation, with pictures, texts and charts."""
    import minitorch_compile as torch

    def step(x: Any, w: Any) -> Any:
        return (x @ w).relu().softmax(1).sum()

    return torch.compiler.inspect(step, torch.ones(8, 8, requires_grad=True), torch.ones(8, 8)).save(f"{folder}/v.html")


# --- links ------------------------------------------------------------------------------------------------------------


class Links(HTMLParser):
    """What a page leads to, or loads, and the places in it that others can lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


@cache
def links_of(page: Path) -> Links:
    parser = Links()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser


def dead_links(site: Path) -> Iterator[str]:
    """The links that lead nowhere within the site, or to a place that a page doesn't have."""
    for page in sorted(site.rglob("*.html")):
        for link in sorted(links_of(page).links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            place = unquote(parts.fragment)
            if not target.exists():
                yield f"{page.relative_to(site)}: {link} leads to nothing"
            elif place and target.suffix == ".html" and place not in links_of(target).places:
                yield f"{page.relative_to(site)}: {link}: no such place there"


def main() -> None:
    if not SITE.exists():
        sys.exit("there is no site yet: make site")
    problems = list(dead_links(SITE))
    with tempfile.TemporaryDirectory() as folder:
        try:
            problems += accessibility([*(SITE / f"{name}.html" for name in SAMPLE), viewer_page(folder)])
        except BrowserError as error:
            problems.append(str(error))
    for problem in problems:
        print(f"FAILED: {problem}")
    print(f"{len(SAMPLE)} pages of the site and the viewer's, in light and in dark: {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
