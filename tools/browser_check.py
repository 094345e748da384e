"""Does what a learner does: opens a lesson in JupyterLab with a real browser, runs all cells, and looks.

Fails when a cell ends in an error, does not end, or the page asks another host for something. Pictures of the whole
notebook, screen by screen, in wide and narrow windows, light and dark, come to build/browser/. Wants a Chromium;
everything else is in requirements.lock.

    make browser                                   # lesson 00
    make browser LESSONS="05 18"                   # these; LESSONS=all
    .venv/bin/python tools/browser_check.py work/01_strides.ipynb
"""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chromium import BrowserError, Chromium, end

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "build" / "browser"
SECONDS_FOR_ALL_CELLS = 400
WINDOWS = {"wide": (1280, 800), "narrow": (480, 800)}
THEMES = ("Light", "Dark")

NOTEBOOK = "[...jupyterapp.shell.widgets('main')].find(widget => widget.context)"
# What became of each code cell. Read from the model, since Lab draws only the cells in view.
CELLS = f"""
[...{NOTEBOOK}.content.model.cells].filter(cell => cell.type == 'code').map(cell => ({{
    source: cell.sharedModel.getSource(),
    ran: cell.executionState == 'idle' && cell.executionCount != null,
    pictures: cell.outputs.toJSON().filter(o => /<svg|image\\/png/.test(JSON.stringify(o.data || ''))).length,
    error: cell.outputs.toJSON().filter(o => o.output_type == 'error').map(o => o.ename + ': ' + o.evalue)[0] || null,
}}))"""


def lessons_named(words: list[str]) -> list[str]:
    """The notebooks that words stand for: numbers of lessons, `all`, or a notebook's own path; BrowserError for others.

    >>> lessons_named(["05", "work/mine.ipynb"])
    ['notebooks/05_guards_and_the_cache.ipynb', 'work/mine.ipynb']
    """
    found = []
    for word in words:
        if word.endswith(".ipynb"):
            found.append(word)
        else:
            lessons = sorted(ROOT.glob(f"notebooks/{'[0-9][0-9]' if word == 'all' else word}_*.ipynb"))
            if not lessons:
                raise BrowserError(f"no lesson is called {word!r}: give numbers such as 05, all, or a notebook's path")
            found += [str(path.relative_to(ROOT)) for path in lessons]
    return found


@contextmanager
def jupyter_lab() -> Iterator[str]:
    """`make lab` on a free port, with settings and workspaces of its own; yields the address of its start page."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    options = ["--no-browser", f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"]
    options += ["--LabApp.expose_app_in_browser=True", "--ip=127.0.0.1"]
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        own = {f"JUPYTERLAB_{name}_DIR": f"{folder}/{name}" for name in ("SETTINGS", "WORKSPACES")}
        command = [sys.executable, "tools/start_lab.py", *options]
        log = Path(folder) / "log"
        with log.open("w") as out:
            server = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **own}, stdout=out, stderr=out)
        try:
            wait_for_server(f"http://127.0.0.1:{port}/api?token={token}", server, log)
            yield f"http://127.0.0.1:{port}/lab/tree/{{lesson}}?token={token}"
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=30)


def wait_for_server(address: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    """Returns once the server answers; shows its log if it ends instead."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.3)
    raise BrowserError(f"JupyterLab does not answer:\n{log.read_text(encoding='utf-8')}")


@contextmanager
def unchanged(lesson: Path) -> Iterator[None]:
    """Puts the file back as it was: Lab saves what was run."""
    before = lesson.read_bytes()
    try:
        yield
    finally:
        if lesson.read_bytes() != before:
            lesson.write_bytes(before)


def run_all_cells(page: Chromium) -> list[dict[str, Any]]:
    """Run > Run All Cells, then waits for the last one; returns what became of each code cell."""
    page.wait_until(f"{NOTEBOOK}.context.isReady", 60, "opened notebook")
    page.wait_until(f"{NOTEBOOK}.sessionContext.session.kernel.status == 'idle'", 60, "idle kernel")
    page.evaluate(f"jupyterapp.shell.activateById({NOTEBOOK}.id)")
    page.evaluate("void jupyterapp.commands.execute('runmenu:run-all')")
    done = f"{CELLS}.every(cell => cell.ran || !cell.source.trim()) || {CELLS}.some(cell => cell.error)"
    page.wait_until(done, SECONDS_FOR_ALL_CELLS, "end of the last cell")
    return json.loads(page.evaluate(f"JSON.stringify({CELLS})"))


def arrange(page: Chromium, window: str, theme: str) -> None:
    """Gives the page its size, and JupyterLab its theme; in a narrow window the list of files is closed."""
    width, height = WINDOWS[window]
    page.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    page.evaluate(
        f"jupyterapp.commands.execute('apputils:change-theme', {{theme: 'JupyterLab {theme}'}}).then(() => 0)"
    )
    page.evaluate(f"jupyterapp.shell.{'collapseLeft' if window == 'narrow' else 'expandLeft'}()")
    page.wait_until(f"document.body.dataset.jpThemeName == 'JupyterLab {theme}'", 20, f"theme {theme}")


def take_pictures(page: Chromium, name: str) -> int:
    """Saves the notebook screen by screen, from the top; returns how many."""
    outer = f"{NOTEBOOK}.node.querySelector('.jp-WindowedPanel-outer')"
    page.evaluate(f"{outer}.scrollTop = 0")
    for number in range(1, 100):
        time.sleep(0.5)  # Lab draws the cells that came into view
        (PICTURES / f"{name}-{number:02}.png").write_bytes(page.screenshot())
        before = page.evaluate(f"{outer}.scrollTop")
        if page.evaluate(f"({outer}.scrollTop += {outer}.clientHeight - 60, {outer}.scrollTop)") == before:
            break
    return number


def take_all_pictures(page: Chromium, stem: str) -> int:
    """A wide window in both themes, a narrow one in the dark; returns how many screens."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for old in PICTURES.glob(f"{stem}-*.png"):
        old.unlink()
    screens = 0
    for window, theme in (("wide", "Light"), ("wide", "Dark"), ("narrow", "Dark")):
        arrange(page, window, theme)
        screens += take_pictures(page, f"{stem}-{window}-{theme.lower()}")
    return screens


def check(lesson: str) -> list[str]:
    """Opens and runs one notebook; returns what is wrong with it."""
    with unchanged(ROOT / lesson), jupyter_lab() as address, Chromium() as page:
        page.open(address.format(lesson=lesson))
        start = time.perf_counter()
        cells = run_all_cells(page)
        screens = take_all_pictures(page, Path(lesson).stem)
        outside = page.hosts - {"127.0.0.1", "localhost"}
    shown = sum(cell["pictures"] for cell in cells)
    print(f"{lesson}: {len(cells)} cells, {shown} pictures, {time.perf_counter() - start:.0f} s")
    print(f"{PICTURES.relative_to(ROOT)}/{Path(lesson).stem}-*.png: {screens} screens", flush=True)
    failed = [f"{cell['error']}\n    in the cell: {cell['source']}" for cell in cells if cell["error"]]
    return failed + [f"the page asked an outside host: {host}" for host in sorted(outside)]


def main() -> None:
    end(lambda: [problem for lesson in lessons_named(sys.argv[1:] or ["00"]) for problem in check(lesson)])


if __name__ == "__main__":
    main()
