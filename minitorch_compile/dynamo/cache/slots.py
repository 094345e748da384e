"""What the caches ask of the rooms above them, which put their functions here when they are imported.

A miss needs the compiler of frames, and a frame that stays plain needs someone who has its callees compiled; both
stand on the caches.

>>> from minitorch_compile.dynamo.compile_frame import compile_frame
>>> slots.compile_frame is compile_frame
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.dynamo.cache.entry import Entry


class Slots:
    """Each names the module that fills it; what the function does is told there."""

    compile_frame: Callable[..., Entry]  # dynamo/compile_frame.py
    optimize: Callable[..., Any]  # dynamo/eval_frame.py
    calling_compiled: Callable[..., Callable[..., Any]]  # frame_evaluation/plain_frames.py
    calling_compiled_by_slots: Callable[..., Callable[..., Any]]  # likewise
    with_callees_compiled: Callable[..., Any]  # likewise


slots = Slots()


def optimized(original: Any, *settings: Any) -> Any:
    """What unpickling a compiled module calls: compiled code belongs to its process, so it is compiled again."""
    return slots.optimize(original, *settings)
