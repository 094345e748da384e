"""What a step of `mini` uses of earlier ones: a box for its sheet, made from the reference, so that it can't go stale.

>>> print(box("05.3"))
What you use of earlier steps:
<BLANKLINE>
- `Frame` (03.5), one call: code, local variables, a stack, and where it is; its `.locals`, `.stack`
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from minitorch_compile.course.mini.reference import place, reference, step
from minitorch_compile.course.mini.sections import Section, whole

MOST_LINES = 8
LONG = 90  # characters; of a longer sentence the first part is shown
FAMILIAR = {"Tensor"}  # of what everybody knows only the parts are worth a line
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
MOST_NAMES = 24  # in one line
COMMON = (list, dict, set, str, tuple, int, object, np.ndarray, np.dtype)
BUILT_IN = {name for kind in COMMON for name in dir(kind)}


_seen: list[dict[str, tuple[Section, ...]]] = []


@dataclass
class Definition:
    """`number` is that of its step, or "" for what is given; `parts` are a class's methods and attributes."""

    name: str
    file: str
    number: str
    signature: str = ""
    sentence: str = ""
    parts: dict[str, Definition] = field(default_factory=dict)
    is_value: bool = False  # an op, a table, a number

    @property
    def shown(self) -> str:
        where = self.number or f"{self.file}.py"
        return f"`{self.name}{self.signature}` ({where})" + (f", {self.sentence}" if self.sentence else "")


def box(number: str) -> str:
    """Markdown; empty if the step uses nothing of earlier ones."""
    used = uses(number)
    lines = [_line(definition, parts) for definition, parts in used if not definition.is_value]
    values = [f"`{each.name}{each.signature}`{each.sentence}" for each, _ in used if each.is_value]
    if values:
        more = [f"{len(values) - MOST_NAMES} more"] if len(values) > MOST_NAMES else []
        lines.insert(MOST_LINES - 2, f"by name: {', '.join([*values[:MOST_NAMES], *more])}")
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], ", ".join(_head(line) for line in lines[MOST_LINES - 1 :])]
    return "\n".join(["What you use of earlier steps:", "", *(f"- {line}" for line in lines)]) if lines else ""


def _head(line: str) -> str:
    """The name with its signature, without the sentence."""
    return re.split(r"(?<=`)(?: \(|,)", line)[0]


def _line(definition: Definition, parts: list[Definition]) -> str:
    named = ", ".join(f"`.{part.name}{part.signature}`" for part in parts)
    return f"{definition.shown}; its {named}" if named else definition.shown


def uses(number: str) -> list[tuple[Definition, list[Definition]]]:
    """Functions and classes that the step's reference names, each with the parts of it that the step uses."""
    _forget_another_reference()
    file, inside = _file_of(number), _class_around(number)
    found: dict[str, tuple[Definition, list[Definition]]] = {}

    def note(definition: Definition | None, part: str = "") -> None:
        if definition is None or not _is_earlier(definition.parts.get(part, definition), number, file):
            return
        _, parts = found.setdefault(definition.name, (definition, []))
        if part and definition.parts[part] not in parts:
            parts.append(definition.parts[part])

    tree = _tree(number)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in bound:
            note(_visible(file).get(node.id))
        elif isinstance(node, ast.Attribute):
            owner, part = _owner(node, file, inside)
            note(owner, part)
    worth_it = [(each, parts) for each, parts in found.values() if parts or each.name not in FAMILIAR]
    return sorted(worth_it, key=lambda use: use[0].file == file)


def _is_earlier(definition: Definition, number: str, file: str) -> bool:
    """Whether it is of an earlier step, or given with another file; what is given with this one stands in the sheet."""
    if not definition.number:
        return definition.file != file
    return place(definition.number) < place(number)


def _owner(node: ast.Attribute, file: str, inside: Definition | None) -> tuple[Definition | None, str]:
    """The class that `node` reads a part of, as far as names tell: `frame.stack`, `self.stack`, or the only one."""
    name, value = node.attr, node.value
    said = value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else ""
    if said == "self":
        return (inside, name) if inside is not None and name in inside.parts else (None, "")
    if said in _modules(file) and isinstance(value, ast.Name):
        return _definitions(said).get(name), ""
    if isinstance(value, ast.Name) and value.id in _foreign(file):
        return None, ""
    for each in _classes():
        if each.name.lower() == said and name in each.parts:
            return each, name
    owners = [each for each in _classes() if name in each.parts]
    return (owners[0], name) if len(owners) == 1 and name not in BUILT_IN else (None, "")


@cache
def _foreign(file: str) -> set[str]:
    """Modules from elsewhere: `functools.cache` is no part of anything here."""
    body = ast.parse(whole(reference()[file])).body
    return {alias.asname or alias.name for node in body if isinstance(node, ast.Import) for alias in node.names}


@cache
def _classes() -> list[Definition]:
    return [each for file in reference() for each in _definitions(file).values() if each.parts]


@cache
def _visible(file: str) -> dict[str, Definition]:
    """What a file's top-level names stand for, where `mini` defines it."""
    found: dict[str, Definition] = {}
    for node in ast.parse(whole(reference()[file])).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mini."):
            for alias in node.names:
                if definition := _visible((node.module or "").removeprefix("mini.")).get(alias.name):
                    found[alias.asname or alias.name] = definition
    return found | _definitions(file)


@cache
def _modules(file: str) -> set[str]:
    body = ast.parse(whole(reference()[file])).body
    froms = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "mini"]
    return {alias.name for node in froms for alias in node.names}


@cache
def _definitions(file: str) -> dict[str, Definition]:
    numbers = _number_of_each_line(file)
    found = {}
    for node in ast.parse(whole(reference()[file])).body:
        if isinstance(node, FUNCTIONS):
            found[node.name] = _function(node, file, numbers)
        elif isinstance(node, ast.ClassDef):
            parts = {part.name: part for part in _parts(node, file, numbers)}
            found[node.name] = Definition(node.name, file, numbers[node.lineno], "", _sentence(node), parts)
        elif isinstance(node, ast.Assign):
            found |= {each.name: each for each in _values(node, file, numbers) if each.name not in found}
    return found


def _values(node: ast.Assign, file: str, numbers: list[str]) -> Iterator[Definition]:
    """What an assignment names; of an op the arguments of its kernel, if it says them."""
    for target in node.targets:
        for each in ast.walk(target):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                kernel = node.value.args[1] if isinstance(node.value, ast.Call) and len(node.value.args) > 1 else None
                signature = f"({ast.unparse(kernel.args)})" if isinstance(kernel, ast.Lambda) else ""
                like = f" (as `{ast.unparse(kernel)}`)" if isinstance(kernel, ast.Attribute) else ""
                yield Definition(each.id, file, numbers[node.lineno], signature, like, is_value=True)


def _parts(node: ast.ClassDef, file: str, numbers: list[str]) -> Iterator[Definition]:
    for each in node.body:
        if isinstance(each, FUNCTIONS):
            if any("property" in ast.unparse(decorator) for decorator in each.decorator_list):
                yield Definition(each.name, file, numbers[each.lineno])
            else:
                yield _function(each, file, numbers)
            if each.name == "__init__":
                yield from _set_in(each, file, numbers)
        elif isinstance(each, ast.AnnAssign | ast.Assign):
            for target in ast.walk(each):
                if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                    yield Definition(target.id, file, numbers[each.lineno])


def _set_in(init: ast.FunctionDef | ast.AsyncFunctionDef, file: str, numbers: list[str]) -> Iterator[Definition]:
    for node in ast.walk(init):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield Definition(node.attr, file, numbers[node.lineno])


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, file: str, numbers: list[str]) -> Definition:
    arguments = ast.unparse(node.args)
    return Definition(
        node.name, file, numbers[node.lineno], f"({re.sub(r'^self(, )?', '', arguments)})", _sentence(node)
    )


def _sentence(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """The first of the docstring, to stand after a comma: without its capital, unless that is a name's, and its end."""
    text = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
    first = re.split(r"(?<=[^.][.!?])\s", text)[0]
    if len(first) > LONG:
        ends = [end.start() for end in re.finditer(r"[,;:] ", first) if _is_whole(first[: end.start()])]
        first = first[: ends[0]] if ends else first
    first = first if first.endswith("...") else first.removesuffix(".")
    return first[:1].lower() + first[1:] if re.match(r"(A|[A-Z][a-z]+)\b", first) else first


def _is_whole(text: str) -> bool:
    """Whether a sentence can end here: some words, and no bracket is open."""
    return len(text) > 15 and text.count("(") == text.count(")") and text.count('"') % 2 == 0


def _forget_another_reference() -> None:
    """Tests have a small `mini` of their own."""
    if _seen[-1:] != [reference()]:
        _seen[:] = [reference()]
        for known in (_visible, _modules, _foreign, _classes, _definitions):
            known.cache_clear()


def _number_of_each_line(file: str) -> list[str]:
    numbers = [""]
    for part in reference()[file]:
        numbers += [part.number] * (part.marker + part.text).count("\n")
    return [*numbers, ""]


def _file_of(number: str) -> str:
    return next(file for file, parts in reference().items() if any(part.number == number for part in parts))


def _tree(number: str) -> ast.Module:
    part = step(number)
    return ast.parse(f"class _:\n{part.text}" if part.depth else part.text)


def _class_around(number: str) -> Definition | None:
    """The class that the step's methods belong to; None for a step that stands outside."""
    file, numbers = _file_of(number), _number_of_each_line(_file_of(number))
    for node in ast.parse(whole(reference()[file])).body:
        if isinstance(node, ast.ClassDef) and number in numbers[node.lineno : node.end_lineno]:
            return _definitions(file)[node.name]
    return None
