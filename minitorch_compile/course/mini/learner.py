"""The learner's own `mini`, in work/mini: which steps are written, and by whom; writing one.

    work/mini/guards.py      the steps so far between the lines `# %% 05.3 sources`, as in the reference
    work/mini/.passed.json   the text of each step that has passed, as a fingerprint

The files are the only record, so that an editor can be used as well as the notebook. Of a step that isn't written
there are the names, which raise ImportError when they are used. What is given is always the reference's.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import cache_from_source
from pathlib import Path

from ..files.kept_file import read_kept, write_kept
from ..files.regular_file import Unreadable, read_text
from .compose import with_text
from .package import forget_modules
from .placeholder import placeholder, without_placeholder
from .reference import all_steps, file_of, reference, step, steps_of
from .sections import Section, sections, whole
from .step_text import is_stub

MOST_BYTES = 2**20
BORROWED = " (borrowed)"
_last_seen: dict[str, int] = {}  # when each file was changed


@dataclass(frozen=True)
class Written:
    """A step as it stands in the learner's file."""

    text: str
    borrowed: bool = False


def path_of(work: Path, file: str) -> Path:
    return work / "mini" / f"{file}.py"


def written_steps(work: Path, file: str) -> dict[str, Written]:
    """The steps that the learner's file has, by number. Unreadable says what is wrong with the file."""
    path = path_of(work, file)
    try:
        text = read_text(path, MOST_BYTES)
    except FileNotFoundError:
        return {}
    except Unreadable as problem:
        raise Unreadable(f"work/mini/{path.name} can't be used: {problem}") from None
    found: dict[str, Written] = {}
    for part in sections(text, known=steps_of(file)):
        if not part.number:
            continue
        if part.number in found:
            raise Unreadable(f"work/mini/{path.name} can't be used: it has two marks `{part.marker.strip()}`")
        kept = without_placeholder(part.text).rstrip()
        if any(line.strip() and not line.lstrip().startswith("#") for line in kept.splitlines()):
            found[part.number] = Written(kept, part.title.endswith(BORROWED.strip()))
    return {number: each for number, each in found.items() if not is_stub(each.text)}


def save(work: Path, steps: Mapping[str, Written]) -> None:
    """Puts these steps into the learner's files; all other files are begun, too: some is imported."""
    files = {file_of(number) for number in steps}
    for file in files:
        known = {**written_steps(work, file), **{n: each for n, each in steps.items() if file_of(n) == file}}
        _write(path_of(work, file), learners_text(file, known))
    for file in reference():
        if not os.path.lexists(path_of(work, file)):
            _write(path_of(work, file), learners_text(file, {}))
    forget_if_edited(work)


def forget_if_edited(work: Path) -> None:
    """Lets the next import read the files again, if one has changed since the last time that this was asked."""
    now = {path.name: path.stat().st_mtime_ns for path in (work / "mini").glob("*.py") if path.is_file()}
    if now != _last_seen:
        _last_seen.clear()
        _last_seen.update(now)
        forget_modules()
        importlib.invalidate_caches()


def learners_text(file: str, steps: Mapping[str, Written]) -> str:
    """The whole file, with these steps."""
    parts = reference()[file]
    after = [*parts[1:], parts[-1]]
    return whole(_part(file, part, steps.get(part.number), then) for part, then in zip(parts, after, strict=True))


def _part(file: str, part: Section, written: Written | None, then: Section) -> Section:
    if not part.number:
        return part
    if written is None:
        return with_text(part, placeholder(file, part, opens_class=part.depth == 0 < then.depth))
    marked = part.marker.rstrip() + (BORROWED if written.borrowed else "") + "\n"
    return with_text(replace(part, marker=marked), written.text)


def _write(path: Path, text: str) -> None:
    """Replaces the file as a whole, and forgets what Python compiled of it: both may be of the same second."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    with suppress(OSError, NotImplementedError):
        Path(cache_from_source(str(path))).unlink(missing_ok=True)


def passed_steps(work: Path) -> dict[str, str]:
    """The texts of the learner's own steps that have passed, as they stand now."""
    kept = read_kept(work / "mini" / ".passed.json")
    found: dict[str, str] = {}
    for file in {file for number, file in all_steps().items() if number in kept}:
        with suppress(Unreadable):  # whoever asks for a step of that file is told
            steps = written_steps(work, file)
            found |= {n: each.text for n, each in steps.items() if kept.get(n) == fingerprint(each.text)}
    return found


def remember_passed(work: Path, number: str, text: str) -> None:
    if (work / "mini").is_dir():
        path = work / "mini" / ".passed.json"
        write_kept(path, {**read_kept(path), number: fingerprint(text)})


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.strip().encode(errors="backslashreplace")).hexdigest()[:16]


def title(number: str) -> str:
    return f"{number} {step(number).title}".rstrip()
