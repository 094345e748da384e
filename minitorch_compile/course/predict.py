"""`predict("05.versions", 3)`: a guess, before the cell that answers.

What is asked stands in the lesson, above the cell. The answers are in `authoring/checks/predictions.py`. They are
never printed: a first miss gets a thought, any further one is sent to the next cell, which shows it.

>>> predict("05.versions", None)
05.versions: put your guess in the place of None, run this cell, then go on to the next one, which answers.
>>> predict("05.versions", 12)
05.versions: not 12. Would all of them be kept? Look for a number in the class `Compiled`.
>>> predict("05.versions", 11)
05.versions: not 11 either. The next cell shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

Answer = int | str | tuple[int, ...]


@dataclass(frozen=True)
class Prediction:
    """One question of a lesson. `shown` finds the answer in what the cell after it prints, for the tests."""

    name: str
    answer: Answer
    thought: str  # for who missed once; it doesn't tell
    why: str  # for who is right
    shown: Callable[[str], Answer]


missed: Counter[str] = Counter()


def predict(name: str, guess: object = None) -> None:
    """Say whether the guess is right; the name of the question stands in the lesson's cell."""
    asked = find(name)
    if guess is None:
        text = "put your guess in the place of None, run this cell, then go on to the next one, which answers."
    elif same(guess, asked.answer):
        text = f"yes. {asked.why}"
    elif missed[name]:
        text = f"not {guess!r} either. The next cell shows it."
    else:
        text = f"not {guess!r}. {asked.thought}"
    missed[name] += guess is not None
    print(f"{name}: {text}")


def find(name: str) -> Prediction:
    """LookupError names the questions there are."""
    from authoring.checks.predictions import PREDICTIONS

    found = {each.name: each for each in PREDICTIONS}
    if name not in found:
        raise LookupError(f"no prediction {name!r}. There are: {', '.join(found)}")
    return found[name]


def same(guess: object, answer: Answer) -> bool:
    """Equal, whatever spaces and brackets were written.

    >>> same([2, 3], (2, 3)), same("Fast ", "fast"), same(True, 1)
    (True, True, False)
    """
    if isinstance(answer, tuple):
        return isinstance(guess, list | tuple) and tuple(guess) == answer
    if isinstance(answer, str):
        return isinstance(guess, str) and guess.strip().lower() == answer
    return not isinstance(guess, bool) and guess == answer
