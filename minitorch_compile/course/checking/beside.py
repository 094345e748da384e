"""The exercises whose answers are judged in the process of their checks, and why they can't be judged from afar.

>>> how("01.1"), how("03.10")
('apart', 'beside')
"""

from __future__ import annotations

import os

REASONS: dict[str, tuple[str, ...]] = {
    "the check puts the answer into the running package, or looks at its bytecode, in its own process": (
        "06.2",
        "07.2",
        "11.2",
        "18.4",
        "18.5",
    ),
    "the check asks for the identity of numbers, functions or code, or changes them while the answer runs": (
        "03.10",
        "04.7",
        "04.9",
        "05.4",
        "05.6",
        "05.7",
        "05.8",
        "05.11",
        "05.12",
        "07.6",
    ),
    "the check compiles the answer into kernels of its own, or has it start threads": (
        "15.7",
        "15.9",
    ),
}
BESIDE = {number: reason for reason, numbers in REASONS.items() for number in numbers}


def how(number: str) -> str:
    """Whether an answer runs "apart" from its judge, or "beside" it."""
    return "beside" if number in BESIDE or not hasattr(os, "fork") else "apart"
