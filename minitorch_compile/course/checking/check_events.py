"""What the process of a check writes, read with suspicion: the learner's code can write to the same channel.

>>> checked(b'{"event": "case", "index": 0, "nonce": "6f"}', cases=3, nonce="6f")
{'event': 'case', 'index': 0, 'nonce': '6f'}
>>> for garbage in (b"hello", b'{"event": "case", "index": 0, "nonce": ""}', b'{"event": "verdict"}', b"[" * 100_000):
...     checked(garbage, cases=3, nonce="6f")
"""

from __future__ import annotations

import json
import threading
from queue import Queue
from typing import IO, Any

from .result import VERDICTS, readable

Event = dict[str, Any]
MOST_BYTES = 2**20  # in all; an event has a few hundred


def checked(line: bytes, cases: int, nonce: str) -> Event | None:
    """The event that a line stands for, None if it stands for none. Only the keeper's two have no nonce."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError, MemoryError):
        return None
    kind = event.get("event") if isinstance(event, dict) else None
    if kind in ("worker", "died"):
        name = "pid" if kind == "worker" else "code"
        return event if type(event.get(name)) is int else None
    if kind is None or event.get("nonce") != nonce:
        return None
    if kind in ("ready", "end", "closed"):
        return event
    if kind == "garbage":
        return event if isinstance(event.get("text"), str) else None
    if kind in ("case", "verdict") and not (type(event.get("index")) is int and 0 <= event["index"] < cases):
        return None
    if kind in ("setup", "verdict") and not _is_judgement(event):
        return None
    return event if kind in ("setup", "case", "verdict") else None


def _is_judgement(event: Event) -> bool:
    texts = [event.get(name) for name in ("fact", "why", "line")]
    return event.get("verdict") in VERDICTS and all(isinstance(text, str) for text in texts)


def told(line: bytes | str) -> str:
    """What is said of a line that is no event."""
    text = line if isinstance(line, str) else line[:60].decode(errors="replace")
    return f"your code wrote into the channel of the check: {readable(text)!r}"


def listen(channel: IO[bytes]) -> Queue[bytes | None]:
    """The lines of a channel as they come, then None. Nobody waits for what is more than MOST_BYTES."""
    lines: Queue[bytes | None] = Queue()

    def read() -> None:
        left = MOST_BYTES
        with channel:
            while left > 0 and (line := channel.readline(left)):
                left -= len(line)
                lines.put(line)
        lines.put(None if left > 0 else b"no end of it")

    threading.Thread(target=read, name="minitorch_compile check", daemon=True).start()
    return lines
