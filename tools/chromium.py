"""A headless Chromium, driven over its DevTools protocol: JSON messages through one web socket.

with Chromium() as page:
    page.open("http://localhost:8888/lab")
    page.wait_until("document.title != ''", seconds=10, what="a title")
    Path("picture.png").write_bytes(page.screenshot())
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import websocket

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


class BrowserError(Exception):
    """What the page did not do, or what is missing to start the browser."""


def end(check: Callable[[], list[str]]) -> NoReturn:
    """Ends the process by what a check says: its problems, a line each, and status 1 if there are some."""
    try:
        problems = check()
    except BrowserError as error:
        problems = [str(error)]
    for problem in problems:
        print(f"FAILED: {problem}")
    sys.exit(1 if problems else 0)


def find_program() -> str:
    """The browser named by CHROMIUM, or the first one on PATH."""
    named = os.environ.get("CHROMIUM")
    found = next(filter(None, map(shutil.which, (named,) if named else PROGRAMS)), None)
    if found is None:
        raise BrowserError(f"no browser found: {named or ', '.join(PROGRAMS)}. On Debian:  sudo apt install chromium")
    return found


class Chromium:
    """One browser with one page. `hosts` collects every host that the page asked for something."""

    def __init__(self, width: int = 1280, height: int = 1000) -> None:
        self.profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        self.hosts: set[str] = set()
        self.messages = 0
        flags = ["--headless=new", "--remote-debugging-port=0", "--remote-allow-origins=*", "--no-first-run"]
        flags += ["--disable-background-networking", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"]
        flags += [f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses to start as root with its sandbox
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([find_program(), *flags, "about:blank"], **quiet)  # type: ignore[call-overload]

    def __enter__(self) -> "Chromium":
        self.socket = websocket.create_connection(self._page_address(), timeout=120)
        for domain in ("Page", "Runtime", "Network"):
            self.command(f"{domain}.enable")
        self.command("Emulation.setFocusEmulationEnabled", enabled=True)  # a page without focus has no current tab
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.socket.close()
        self.process.terminate()
        self.process.wait(timeout=20)
        self.profile.cleanup()

    def _page_address(self) -> str:
        """Where the page's web socket is; Chromium writes its port to a file once it listens."""
        port_file = Path(self.profile.name) / "DevToolsActivePort"
        deadline = time.monotonic() + 30
        while not (port_file.exists() and port_file.read_text(encoding="utf-8").strip()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise BrowserError(f"Chromium did not start (exit status {self.process.poll()})")
            time.sleep(0.1)
        port = port_file.read_text(encoding="utf-8").split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            targets = json.load(answer)
        return next(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Sends one command and returns its result; events that come in between are noted."""
        self.messages += 1
        number = self.messages
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            self._note(message)
            if message.get("id") == number:
                if "error" in message:
                    raise BrowserError(f"{method}: {message['error']['message']}")
                return message["result"]

    def _note(self, message: dict[str, Any]) -> None:
        if message.get("method") == "Network.requestWillBeSent":
            address = urllib.parse.urlsplit(message["params"]["request"]["url"])
            if address.scheme in ("http", "https", "ws", "wss"):
                self.hosts.add(address.hostname or "")

    def open(self, address: str) -> None:
        self.command("Page.navigate", url=address)

    def evaluate(self, expression: str) -> Any:
        """The JSON value of a JavaScript expression; a promise is waited for."""
        result = self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait_until(self, condition: str, seconds: float, what: str) -> None:
        """Polls a JavaScript condition; an error in it counts as not yet."""
        deadline = time.monotonic() + seconds
        while not self.evaluate(f"(() => {{ try {{ return Boolean({condition}) }} catch (e) {{ return false }} }})()"):
            if time.monotonic() > deadline:
                raise BrowserError(f"after {seconds:.0f} s the page still shows no {what}")
            time.sleep(0.3)

    # --- what a hand does ---------------------------------------------------------------------------------------------

    def place_of(self, element: str) -> tuple[float, float]:
        """The middle of what a JavaScript expression names. BrowserError if that is not to be seen."""
        box = self.evaluate(
            f"(e => e && (({{x, y, width, height}}) => [x, y, width, height])(e.getBoundingClientRect()))({element})"
        )
        if not box or not (box[2] and box[3]):
            raise BrowserError(f"not to be seen: {element}")
        return box[0] + box[2] / 2, box[1] + box[3] / 2

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, element: str) -> None:
        """Points at an element and clicks."""
        x, y = self.place_of(element)
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def drag(self, element: str, right: float, down: float) -> None:
        """Presses on the middle of an element, moves by so much, and lets go."""
        x, y = self.place_of(element)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        for part in (0.25, 0.5, 1.0):
            self.mouse("mouseMoved", x + part * right, y + part * down, button="left", buttons=1)
        self.mouse("mouseReleased", x + right, y + down, button="left", clickCount=1)

    def wheel(self, element: str, by: float) -> None:
        x, y = self.place_of(element)
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=by)

    def type(self, text: str) -> None:
        """Into what has the focus."""
        self.command("Input.insertText", text=text)

    def press(self, key: str, code: int, modifiers: int = 0) -> None:
        """A key, with others held: 1 is Alt, 2 Control, 4 Meta, 8 Shift, and sums of these."""
        for kind in ("rawKeyDown", "keyUp"):
            held = {"windowsVirtualKeyCode": code, "modifiers": modifiers}
            self.command("Input.dispatchKeyEvent", type=kind, key=key, **held)

    def screenshot(self) -> bytes:
        """The visible part of the page as a PNG file's bytes."""
        return base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"])
