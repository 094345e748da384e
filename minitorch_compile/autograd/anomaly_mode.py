"""Anomaly mode: which line of the forward pass is behind a backward pass that failed or gave nan?

>>> import warnings
>>> from minitorch_compile.tensor import zeros
>>> x = zeros(1, requires_grad=True)
>>> with warnings.catch_warnings(record=True) as said, detect_anomaly():
...     y = (x * 0 / x).sum()
...     try:
...         y.backward()
...     except RuntimeError as error:
...         print(error)
Function 'DivBackward0' returned nan values in its 1th output.
>>> "y = (x * 0 / x).sum()" in str(said[-1].message)
True

Each node then remembers the stack of the call that made it, which makes everything several times slower: for debugging.
"""

from __future__ import annotations

import os
import traceback
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.autograd.node import Grad, Node
from minitorch_compile.autograd.watching import watchers
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.user_warnings import warn_user

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_places: weakref.WeakKeyDictionary[Node, list[str]] = weakref.WeakKeyDictionary()


class _Anomalies:
    """The switch, for all threads; while it is on, a watcher of the tape."""

    enabled = False
    check_nan = True

    def recorded(self, node: Node) -> None:
        _places[node] = stack_of_caller()

    def switch(self, enabled: bool, check_nan: bool) -> None:
        if enabled != self.enabled:
            (watchers.append if enabled else watchers.remove)(self)
        self.enabled, self.check_nan = enabled, check_nan


anomalies = _Anomalies()


def stack_of_caller() -> list[str]:
    """The lines of the stack down to the user's, as a traceback shows them."""
    frames = traceback.extract_stack()
    while frames and frames[-1].filename.startswith(_PACKAGE):
        frames.pop()
    return traceback.format_list(frames)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return anomalies.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode, when on, looks for nan."""
    return anomalies.check_nan


class set_detect_anomaly:
    """Switches anomaly mode at once; used in a with-statement it is put back at the end.

    `check_nan`: a gradient that holds nan is an error too.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = anomalies.enabled, anomalies.check_nan
        anomalies.switch(mode, check_nan)

    def __enter__(self) -> None:
        """Nothing: the switch is set already."""

    def __exit__(self, *error: object) -> None:
        anomalies.switch(*self._before)


class detect_anomaly:
    """Inside, nodes remember where they were made, and the backward pass says so when it fails."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warn_user(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for"
            " debugging."
        )

    def __enter__(self) -> None:
        self._before = anomalies.enabled, anomalies.check_nan
        anomalies.switch(True, self.check_nan)

    def __exit__(self, *error: object) -> None:
        anomalies.switch(*self._before)


def apply_watched(node: Node, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
    """`node.apply`, but an error, or nan in what it gives, is reported with the place of the forward call."""
    try:
        gradients = node.apply(grads, wanted)
        if anomalies.check_nan:
            _check(node, gradients)
    except Exception as error:
        place = _places.get(node)
        if place is None:
            warn_user(
                f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during"
                " forward pass for more information."
            )
        else:
            warn_user(
                f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{''.join(place)}"
            )
            error.add_note(f"The forward call that this is the backward pass of:\n{place[-1].rstrip()}")
        raise
    return gradients


def _check(node: Node, gradients: Sequence[Grad]) -> None:
    for index, grad in enumerate(gradients):
        if grad is not None and numel(grad.sizes) and not grad.is_fake and _has_nan(grad):
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {index}th output.")


def _has_nan(grad: Any) -> bool:
    return bool(np.isnan(grad.array).any())
