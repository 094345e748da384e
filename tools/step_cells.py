"""The cells of a step of `mini`: what a learner begins with, the reference's text, and planted wrong answers.

In authoring/exercises a step has its opening only: signatures and docstrings, from the left margin.

>>> print(with_stubs("def twice(x):\\n    'Twice as much.'"))
def twice(x):
    'Twice as much.'
    raise NotImplementedError("your code here")

A wrong answer is the reference with other lines: those after `# - `, which occur once, become those after `# + `.

>>> print(changed("def twice(x):\\n    return 2 * x", "# - return 2 * x\\n# + return x"))
def twice(x):
    return x
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from itertools import groupby

from minitorch_compile.course.mini.reference import file_of, reference, step
from minitorch_compile.course.mini.sections import Section
from minitorch_compile.course.mini.step_text import STUB, is_stub, problem

HOW_STEPS_ARE_SAVED = """A cell that begins with `%%mini {file}` is saved as a step of your `work/mini/{file}.py`. \
Write all of it, from the signature on. Its check runs it in the whole package: of the other steps yours where they have
passed, the reference's elsewhere. `borrow("NN")` takes the reference's files up to lesson NN, `mini_map()` shows what
is whose; both are in `minitorch_compile.course`."""
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


class WrongCell(Exception):
    """A cell of a step that can't be built."""


def opening_cell(number: str, opening: str) -> str:
    """What the learner's notebook has: the opening, with a `raise` in place of each body."""
    depth = step(number).depth
    text = textwrap.indent(with_stubs(opening), " " * depth)
    return _magic(number) + _sound(number, text)


def reference_cell(number: str) -> str:
    return _magic(number) + _sound(number, step(number).text.rstrip())


def wrong_cell(number: str, difference: str) -> str:
    try:
        return _magic(number) + _sound(number, changed(step(number).text.rstrip(), difference))
    except WrongCell as error:
        raise WrongCell(f"wrong answer of {number}: {error}") from None


def _magic(number: str) -> str:
    return f"%%mini {file_of(number)} {number}\n"


def _sound(number: str, text: str) -> str:
    if said := problem(text, step(number).depth):
        raise WrongCell(f"{number}: {said}\n{text}")
    return text


def with_stubs(opening: str) -> str:
    """The opening with the line that raises in each function without a body; if there is none, at the end."""
    text = opening.rstrip()
    if is_stub(text):
        return text
    body, lines = ast.parse(text).body, text.split("\n")
    functions = [node for node in ast.walk(ast.Module(body, [])) if isinstance(node, FUNCTIONS) and _is_open(node)]
    for node in sorted(functions, key=lambda node: -(node.end_lineno or 0)):
        last = node.body[-1]
        keeps = ast.get_docstring(node) is not None
        lines[last.end_lineno if keeps else last.lineno - 1 : last.end_lineno] = [" " * last.col_offset + STUB]
    if not functions:
        inside = body[-1].body[-1] if body and isinstance(body[-1], ast.ClassDef) else None
        lines.append(" " * (inside.col_offset if inside else 0) + STUB)
    return "\n".join(lines)


def _is_open(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether there is nothing but a docstring, or `...`."""
    only = node.body[0]
    return len(node.body) == 1 and isinstance(only, ast.Expr) and isinstance(only.value, ast.Constant)


def changed(text: str, difference: str) -> str:
    """The text with the lines exchanged that the difference names."""
    pairs = list(_pairs(difference))
    if not pairs:
        raise WrongCell("it has no lines `# - ...`")
    for old, new in pairs:
        lines, size = text.split("\n"), len(old)
        found = [at for at in range(len(lines) - size + 1) if _dedented(lines[at : at + size]) == _dedented(old)]
        if len(found) != 1:
            block = "\n".join(old)
            raise WrongCell(f"these lines must be in the step once, and are there {len(found)} times:\n{block}")
        replaced = lines[found[0] : found[0] + size]
        depth = min(len(line) - len(line.lstrip()) for line in replaced if line.strip())
        lines[found[0] : found[0] + size] = [" " * depth + line if line else "" for line in _dedented(new)]
        text = "\n".join(lines)
    return text


def _pairs(difference: str) -> Iterator[tuple[list[str], list[str]]]:
    lines = [line for line in difference.splitlines() if line.strip()]
    for line in lines:
        if not (line.rstrip() in ("# -", "# +") or line.startswith(("# - ", "# + "))):
            raise WrongCell(f"a line begins with `# - ` or with `# + `, not as this one: {line}")
    blocks = [(sign, [line[4:] for line in block]) for sign, block in groupby(lines, key=lambda line: line[2])]
    if blocks and blocks[0][0] == "+":
        raise WrongCell("its first lines must begin with `# - `")
    for at, (sign, block) in enumerate(blocks):
        if sign == "-":
            yield block, blocks[at + 1][1] if at + 1 < len(blocks) else []


def _dedented(lines: list[str]) -> list[str]:
    return textwrap.dedent("\n".join(line.rstrip() for line in lines)).split("\n") if lines else []


def given_before(number: str) -> str:
    """Markdown: what stands between the step before and this one; empty if nothing does."""
    file, parts = file_of(number), list(reference()[file_of(number)])
    at = parts.index(step(number))
    first = at
    while first and not parts[first - 1].number:
        first -= 1
    if first:
        return _shown(f"`mini/{file}.py` goes on with these lines, which are given:", parts[first:at])
    lines = _shown(f"`mini/{file}.py` begins with these lines, which are given:", parts[first:at])
    return f"{HOW_STEPS_ARE_SAVED.format(file=file)}\n\n{lines}".strip()


def given_after(number: str) -> str:
    """Markdown: what stands after the file's last step."""
    file, parts = file_of(number), list(reference()[file_of(number)])
    rest = parts[parts.index(step(number)) + 1 :]
    if any(part.number for part in rest):
        return ""
    return _shown(f"After this step `mini/{file}.py` ends with these lines, which are given:", rest)


def _shown(sentence: str, parts: list[Section]) -> str:
    text = "".join(part.text for part in parts).strip("\n").rstrip()
    return f"{sentence}\n\n```python\n{text}\n```" if text.strip() else ""
