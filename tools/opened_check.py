"""Opens lessons in JupyterLab with a real browser, runs nothing, and looks whether all stored pictures are to be seen.

In a wide and in a narrow window, light and dark. Fails when a picture or a table is missing, empty, not loaded, or cut
off, and when the page asks another host for something. A screenshot of each picture comes to build/browser/opened/.

    make browser LESSONS=all
    .venv/bin/python tools/opened_check.py 05 18
"""

import json
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

from browser_check import NOTEBOOK, PICTURES, ROOT, THEMES, WINDOWS, arrange, jupyter_lab, lessons_named
from chromium import Chromium, end

OPENED = PICTURES / "opened"
LEAST = 360  # pixels: letters of a picture that is drawn smaller could not be read, so it scrolls in its own box

# The numbers of the cells that have a picture or a table among their stored outputs.
CELLS = f"""
{NOTEBOOK}.content.widgets.map((cell, number) => [cell, number]).filter(([cell]) => cell.model.outputs &&
    cell.model.outputs.toJSON().some(output => /"(image.|text.html)/.test(JSON.stringify(output.data || '')))
).map(([cell, number]) => number)"""
# For each such output of a cell: what is drawn, and whether it can be seen.
SEEN = """
(cell => cell.model.outputs.toJSON().map((output, number) => {{
    if (!/"(image.|text.html)/.test(JSON.stringify(output.data || ''))) return null;
    const place = cell.node.querySelectorAll('.jp-OutputArea-output')[number];
    const drawn = place && place.querySelector('img, svg, table, iframe');
    if (!drawn) return {{ tag: 'nothing' }};
    const {{ width, height }} = drawn.getBoundingClientRect();
    return {{
        tag: drawn.localName, width, height, room: place.clientWidth,
        loaded: drawn.localName != 'img' || drawn.complete && drawn.naturalWidth > 0,
        scrolls: /auto|scroll/.test(getComputedStyle(place).overflowX),
    }};
}}).filter(seen => seen))({NOTEBOOK}.content.widgets[{number}])"""


def check(lesson: str) -> list[str]:
    """Looks at one lesson in all windows and themes; returns what is wrong."""
    stem, problems, count = Path(lesson).stem, [], 0
    OPENED.mkdir(parents=True, exist_ok=True)
    for old in OPENED.glob(f"{stem}-*.png"):
        old.unlink()
    with jupyter_lab() as address, Chromium() as page:
        page.open(address.format(lesson=lesson))
        page.wait_until(f"{NOTEBOOK}.context.isReady", 60, "opened notebook")
        page.evaluate(f"jupyterapp.shell.activateById({NOTEBOOK}.id)")
        numbers = page.evaluate(CELLS)
        for window, theme in product(WINDOWS, THEMES):
            arrange(page, window, theme)
            for number in numbers:
                name = f"{stem}-{window}-{theme.lower()}-{number:02}"
                seen = look(page, number)
                (OPENED / f"{name}.png").write_bytes(page.screenshot())
                problems += [f"{name}: {what}" for what in map(wrong_with, seen) if what]
                count += len(seen)
        problems += [f"the page asked an outside host: {host}" for host in page.hosts - {"127.0.0.1", "localhost"}]
    print(f"{lesson}: {count} looks at the pictures and tables of {len(numbers)} cells", flush=True)
    return problems


def look(page: Chromium, number: int) -> list[dict[str, Any]]:
    """Scrolls to a cell's last picture; what is to be seen of all of them."""
    cell = f"{NOTEBOOK}.content.widgets[{number}]"
    page.evaluate(f"{NOTEBOOK}.content.scrollToItem({number}, 'start').then(() => 0)")
    drawn = f"[...{cell}.node.querySelectorAll('.jp-OutputArea-output :is(img, svg, table, iframe)')]"
    try_at = time.monotonic() + 5
    while (
        not page.evaluate(f"{drawn}.length && {drawn}.every(e => e.complete !== false)") and time.monotonic() < try_at
    ):
        time.sleep(0.1)  # Lab draws the cell that came into view
    page.evaluate(f"{drawn}.slice(-1).forEach(e => e.scrollIntoView({{block: 'center'}}))")
    time.sleep(0.2)
    return list(json.loads(page.evaluate(f"JSON.stringify({SEEN.format(NOTEBOOK=NOTEBOOK, number=number)})")))


def wrong_with(seen: dict[str, Any]) -> str:
    """What hinders a reader from seeing an output; "" if nothing does.

    >>> wrong_with({"tag": "img", "loaded": True, "width": 697.0, "height": 90.0, "room": 364.0, "scrolls": True})
    "the img of 697 pixels doesn't fit the 364 that it has"
    """
    if seen["tag"] == "nothing":
        return "no picture and no table is drawn"
    if not seen["loaded"] or min(seen["width"], seen["height"]) < 8:
        return f"the {seen['tag']} is empty"
    if seen["width"] > seen["room"] + 1 and not seen["scrolls"]:
        return f"the {seen['tag']} of {seen['width']:.0f} pixels is cut off at {seen['room']:.0f}"
    if seen["tag"] in ("img", "svg") and seen["width"] > max(seen["room"], LEAST) + 1:
        return f"the {seen['tag']} of {seen['width']:.0f} pixels doesn't fit the {seen['room']:.0f} that it has"
    return ""


def main() -> None:
    print(f"screenshots in {OPENED.relative_to(ROOT)}/")
    end(lambda: [problem for lesson in lessons_named(sys.argv[1:] or ["00"]) for problem in check(lesson)])


if __name__ == "__main__":
    main()
