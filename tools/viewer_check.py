"""Drives the viewer's page with real clicks in a headless Chromium, on a CNN over digits and on a GPT of 12 layers.

Zoom, search, opening and closing frames, following a node down to the kernel's line and back, and the difference of two
stages are tried as a hand would. Pictures, light and dark, wide and narrow, with and without scripts, come to
build/viewer/. Wants a Chromium and Graphviz; the rest is in requirements.lock.

    make viewer-check
    .venv/bin/python tools/viewer_check.py cnn
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chromium import BrowserError, Chromium, end

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import minitorch_compile as torch  # noqa: E402
from tests.compiler.models import CNN, GPT  # noqa: E402

PICTURES = ROOT / "build" / "viewer"
FIRST_PAINT, DRAWN, SEARCH = 1.0, 1.0, 0.1  # seconds
WIDE, NARROW = (1280, 800), (420, 860)

VIEW = "PANES[0].view"
PAGE = "document.querySelector('#left .stage').firstChild"


def models() -> dict[str, tuple[Callable[[], Any], str, str]]:
    """By name: what makes an inspection, an op of the captured graph, and what to search for."""
    torch.manual_seed(0)
    tokens = torch.randint(0, 50, (2, 16))
    gpt = GPT(vocabulary=50, width=32, heads=4, layers=12, length=16)
    return {
        "cnn": (lambda: torch.compiler.inspect(CNN(), torch.rand(16, 1, 8, 8)), "relu", "conv"),
        "gpt": (lambda: torch.compiler.inspect(gpt, tokens, tokens), "gelu", "erf"),
    }


def expect(condition: object, what: str) -> None:
    if not condition:
        raise BrowserError(what)


@contextmanager
def opened(path: Path, size: tuple[int, int] = WIDE, dark: bool = False, scripts: bool = True) -> Iterator[Chromium]:
    """A browser that shows the page."""
    with Chromium(*size) as page:
        page.command(
            "Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False
        )
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.command("Emulation.setEmulatedMedia", features=[theme])
        page.command("Emulation.setScriptExecutionDisabled", value=not scripts)
        page.command("Performance.enable", timeDomain="threadTicks")
        page.open(path.as_uri())
        if scripts:
            page.wait_until("performance.getEntriesByName('drawn').length", 30, "drawn page")
        else:
            page.wait_until("document.querySelector('.unscripted svg')", 30, "picture without scripts")
        yield page


def choose(page: Chromium, pane: str, stage: str) -> None:
    """Picks a stage of a pane; the list that a click opens is the browser's own, out of reach of a click from here."""
    chosen = f"s.value = '{stage}'; s.dispatchEvent(new Event('change'))"
    page.evaluate(f"(s => {{ {chosen} }})(document.querySelector('#{pane} select'))")


def box(condition: str) -> str:
    """The drawn box of the left pane's first item that meets a condition."""
    return f"{VIEW}.boxes.get(PANES[0].stage.items.find(item => {condition} && {VIEW}.boxes.has(item.number)).number)"


# --- what is tried ----------------------------------------------------------------------------------------------------


def speed(page: Chromium, op: str, word: str) -> str:
    metrics = {each["name"]: each["value"] for each in page.command("Performance.getMetrics")["metrics"]}
    work = metrics["TaskDuration"]  # of the page's thread, which says more than a clock where others work, too
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000
    drawn = page.evaluate("performance.getEntriesByName('drawn')[0].startTime") / 1000
    page.click("document.getElementById('search')")
    for letter in word:
        page.type(letter)
    took = page.evaluate("Math.max(...performance.getEntriesByName('search').map(e => e.duration))") / 1000
    found = page.evaluate("hits.length")
    expect(paint < FIRST_PAINT, f"the first paint came after {paint:.2f} s")
    expect(work < DRAWN, f"drawing the panes took {work:.2f} s of work")
    expect(took < SEARCH, f"a search took {took:.3f} s")
    expect(found, f"{word!r} was not found")
    page.press("Enter", 13)
    expect(page.evaluate("selected && hits.includes(selected.number)"), "Enter did not go to a hit")
    page.press("Escape", 27)
    expect(page.evaluate("hits.length") == 0, "Escape did not end the search")
    painted = f"first paint {paint:.2f} s, drawn {drawn:.2f} s ({work:.2f} s of work)"
    return f"{painted}, search {took * 1000:.0f} ms for {found} hits"


def zoom(page: Chromium, op: str, word: str) -> str:
    choose(page, "left", "graph")
    page.click("document.querySelector('#left [data-do=fit]')")
    before = page.evaluate(f"{VIEW}.view.scale")
    page.wheel(PAGE, -240)
    page.wait_until(f"{VIEW}.view.scale > {before} * 1.2", 5, "zoom after turning the wheel")
    page.click("document.querySelector('#left [data-do=out]')")
    page.click("document.querySelector('#left [data-do=out]')")
    expect(page.evaluate(f"{VIEW}.view.scale") < before * 1.4, "the button for smaller does nothing")
    x = page.evaluate(f"{VIEW}.view.x")
    page.drag(PAGE, 120, 60)
    expect(abs(page.evaluate(f"{VIEW}.view.x") - x - 120) < 2, "dragging did not move the picture by as much")
    page.click("document.querySelector('#left [data-do=fit]')")
    expect(abs(page.evaluate(f"{VIEW}.view.scale") - before) < 0.01, "fit did not come back to the whole picture")
    return "wheel, buttons, drag and fit"


def frames(page: Chromium, op: str, word: str) -> str:
    choose(page, "left", "prims")
    closed = f"{VIEW}.element.querySelectorAll('.closed')"
    count = f"{VIEW}.boxes.size + {closed}.length"
    first = page.evaluate(count)
    total = page.evaluate("PANES[0].stage.items.length")
    if page.evaluate(f"{closed}.length") == 0:
        return f"{total} nodes, all seen"
    page.click(f"[...{closed}].at(-1)")
    opened_count = page.evaluate(count)
    expect(opened_count != first, "a click on a closed frame did not open it")
    page.click("document.querySelector('#left [data-do=fit]')")
    started = time.perf_counter()
    page.click("document.querySelector('#left [data-do=open]')")
    everything = page.evaluate(f"{VIEW}.boxes.size")
    seconds = time.perf_counter() - started
    expect(everything == total, f"open all drew {everything} of {total} nodes")
    page.click("document.querySelector('#left [data-do=close]')")
    expect(page.evaluate(f"{VIEW}.boxes.size") < 60, "close all left boxes open")
    return f"{total} nodes in {first} boxes; one frame opened: {opened_count}; all opened in {seconds:.1f} s"


def following(page: Chromium, op: str, word: str) -> str:
    """From a call of the user's, stage by stage, to the line of the kernel, and back by the button."""
    choose(page, "left", "graph")
    page.evaluate(f"{VIEW}.reveal(PANES[0].stage.items.find(item => item.label.startsWith('{op}')))")
    page.click(box(f"item.label.startsWith('{op}')"))
    stages = ["graph"]
    start = page.evaluate("selected.number")
    for stage in ("ops", "prims", "forward", "loops", "source"):
        chips = f"[...document.querySelectorAll('#trail .row[data-stage={stage}] .chip')]"
        body = "/^(t\\d+|out\\d+\\[.*) = /.test(c.textContent)"  # of a loop or a kernel, not its heading
        chip = f"({chips}.find(c => {body}) || {chips}[0])"
        page.evaluate(f"{chip}.scrollIntoView()")
        page.click(chip)
        expect(page.evaluate("selected.stage.key") == stage, f"the way did not lead to {stage}")
        shown = "document.querySelector('.pane .selected').getBoundingClientRect()"
        expect(page.evaluate(f"{shown}.width > 0"), f"what was selected in {stage} is not to be seen")
        stages.append(stage)
    line = page.evaluate("selected.label.trim()")
    expect(page.evaluate(f"selected.from.includes({start})"), f"{line!r} doesn't come from {op}")
    for stage in ("lines", "code", "schedule", "reasons", "threads", "gpu"):
        there = page.evaluate(f"Boolean(document.querySelector('#trail .row[data-stage={stage}] .chip'))")
        expect(there, f"the kernel's line leads to nothing in {stage}")
    for _ in stages[1:]:
        page.click("document.getElementById('back')")
    expect(page.evaluate("selected.stage.key") == "graph", "going back did not lead to where it began")
    expect(page.evaluate(f"selected.label.startsWith('{op}')"), "going back led to another node")
    return f"{op} -> {' -> '.join(stages[1:])}: {line!r}, and back"


def hover(page: Chromium, op: str, word: str) -> str:
    x, y = page.place_of("document.querySelector('.pane .selected')")
    page.mouse("mouseMoved", x, y)
    text = page.evaluate("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")
    expect("models.py:" in text and "f32[" in text, f"the tip has no line of the user's or no shape: {text!r}")
    return text.splitlines()[-1]


def difference(page: Chromium, op: str, word: str) -> str:
    choose(page, "left", "graph")
    choose(page, "right", "ops")
    page.click("document.getElementById('compare')")
    text = page.evaluate("document.getElementById('difference').textContent")
    marked = page.evaluate("document.querySelectorAll('.pane .new, .pane .changed, .pane .gone').length")
    expect("changed" in text and marked, f"nothing is marked: {text!r}")
    return text


def printing(page: Chromium, op: str, word: str) -> str:
    """On paper the whole picture is seen, in light colours; afterwards all is as before."""
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.command("Emulation.setEmulatedMedia", media="print")
    take(page, "paper")
    whole = page.evaluate(f"{VIEW}.element.getAttribute('viewBox') !== null && document.documentElement.dataset.theme")
    page.command("Emulation.setEmulatedMedia", media="")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(whole == "light", "the picture is not set for paper")
    expect(page.evaluate(f"{VIEW}.element.getAttribute('viewBox') === null"), "the picture stays as on paper")
    return "the whole picture, in light colours"


def take(page: Chromium, name: str) -> None:
    time.sleep(0.3)
    (PICTURES / f"{name}.png").write_bytes(page.screenshot())


def check(name: str) -> list[str]:
    """Tries everything on one model; returns what is wrong."""
    inspect, op, word = models()[name]
    PICTURES.mkdir(parents=True, exist_ok=True)
    report = inspect().save(PICTURES / f"{name}.html")
    print(f"{name}: {report.stat().st_size / 1e6:.1f} MB")
    problems: list[str] = []
    with opened(report) as page:
        take(page, f"{name}-wide")
        for step in STEPS:
            try:
                print(f"  {step.__name__}: {step(page, op, word)}")
            except BrowserError as error:
                problems.append(f"{name}, {step.__name__}: {error}")
            take(page, f"{name}-{step.__name__}")
        problems += [f"the page asked a host: {host}" for host in sorted(page.hosts)]
    for picture, how in {"dark": {"dark": True}, "narrow": {"size": NARROW}, "plain": {"scripts": False}}.items():
        with opened(report, **how) as page:  # type: ignore[arg-type]
            take(page, f"{name}-{picture}")
    return problems


STEPS: tuple[Callable[[Chromium, str, str], str], ...] = (speed, zoom, frames, following, hover, difference, printing)


def main() -> None:
    names = sys.argv[1:] or list(models())
    print(f"pictures in {PICTURES.relative_to(ROOT)}/")
    end(lambda: [problem for name in names for problem in check(name)])


if __name__ == "__main__":
    main()
