"""Random programs: `random_program(seed)` grows one from the tables of `grammar.py`, `changing_program(seed)` one from
those of `class_grammar.py` as well, with the names of what changes in its world between calls (`changes.py`).

The same seed gives the same program. Most names that a statement refers to are bound where it stands; where one is not,
the program raises NameError, plain and compiled.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from tests.dynamo.fuzz.changes import changes_of
from tests.dynamo.fuzz.class_grammar import CLASS_BLOCKS, CLASS_EXPRESSIONS, CLASS_STATEMENTS
from tests.dynamo.fuzz.grammar import BLOCKS, EXPRESSIONS, IN_GENERATORS, IN_LOOPS, KINDS, STATEMENTS
from tests.dynamo.fuzz.world import BETWEEN, HEAD, TAIL

PLACE = re.compile(r"<([\w ]+)>")
PARAMETERS = {
    "tensor": ["x", "y"], "int": ["n"], "list": ["items", "late", "kept"], "dict": ["opts"], "box": ["box"],
    "set": ["seen"], "function": ["helper"], "maker": ["numbers"], "iterator": ["iter(items)"], "any": ["items"],
    "float": ["rate"],
}  # fmt: skip
ASSIGNABLE = {
    "tensor": ["x", "y"], "int": ["n"], "list": ["items"], "dict": ["opts"], "box": ["box"], "set": ["seen"],
}  # fmt: skip
MOST_LINES, DEEPEST = 45, 3
CALLS_OF_CHANGING = (3, 4, 5)


@dataclass(frozen=True)
class Language:
    """The tables that a program grows from."""

    expressions: Mapping[str, Mapping[str, float]]
    statements: Mapping[str, float]
    blocks: Mapping[str, float]


PLAIN = Language(EXPRESSIONS, STATEMENTS, BLOCKS)
# The rows about classes are few; what they are about is to be in every program.
OFTEN = 2.5
WITH_CLASSES = Language(
    {
        kind: {**rows, **{text: weight * OFTEN for text, weight in CLASS_EXPRESSIONS.get(kind, {}).items()}}
        for kind, rows in EXPRESSIONS.items()
    },
    {**STATEMENTS, **{text: weight * OFTEN for text, weight in CLASS_STATEMENTS.items()}},
    {**BLOCKS, **CLASS_BLOCKS},
)


def random_program(seed: int, language: Language = PLAIN) -> str:
    """The text that goes behind `WORLD`. Few combinations of templates are no Python; another one is drawn then."""
    for attempt in range(100):
        text = RandomProgram(seed * 100 + attempt, language).text()
        if _is_python(text):
            return text
    raise RuntimeError(f"no program grows from {seed}: the grammar makes mistakes.")


def changing_program(seed: int) -> str:
    """A program of three to five calls, with the changes before each of them."""
    calls = CALLS_OF_CHANGING[seed % len(CALLS_OF_CHANGING)]
    between = [list(names) for names in changes_of(seed, calls)]
    return f"{BETWEEN} = {between!r}\n{random_program(seed, WITH_CLASSES)}"


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `x is 1` and the like are odd, not wrong
            compile(text, "<program>", "exec")
    except SyntaxError:
        return False
    return True


class RandomProgram:
    """Grows one program. `names` has the variables of each kind that are bound where the next statement goes, `own`
    those that the function being written may assign to."""

    def __init__(self, seed: int, language: Language = PLAIN) -> None:
        self.random = random.Random(seed)
        self.language = language
        self.lines: list[str] = []
        self.count = 0
        self.names = {kind: list(names) for kind, names in PARAMETERS.items()}
        self.own = {
            "tensor": ["x", "y"],
            "int": ["n"],
            "list": ["items"],
            "dict": ["opts"],
            "box": ["box"],
            "set": ["seen"],
        }

    def text(self) -> str:
        self.lines.append("        seen = {1, 2}")
        for _ in range(self.random.randint(3, 9)):
            self.statement(2, {})
        results = [self.fill(f"<{kind.upper()}>") for kind in KINDS if kind != "maker" and self.random.random() < 0.6]
        self.lines.append("        " + self.fill(f"return {', '.join([*results, '<item>'])}"))
        return HEAD + "\n".join(self.lines) + "\n" + TAIL

    # --- statements ---------------------------------------------------------------------------------------------------

    def statement(self, depth: int, special: Mapping[str, float]) -> None:
        """One statement; `special`: those of the block that it stands in."""
        may_nest = depth < 2 + DEEPEST and len(self.lines) < MOST_LINES
        table = {**self.language.statements, **{text: weight * 8 for text, weight in special.items()}}
        if may_nest:
            table.update({text: weight * 1.6 for text, weight in self.language.blocks.items()})
        for line in self.choose(table).split("\n"):
            self.line(line, depth)

    def line(self, template: str, depth: int) -> None:
        indent = len(template) - len(template.lstrip())
        rule = PLACE.fullmatch(template.strip())
        if rule is not None and rule[1] in BLOCK_RULES:
            self.block(depth + indent // 4 + 1 + rule[1].startswith("inner"), rule[1].removeprefix("inner "))
        else:
            self.lines.append("    " * (depth + indent // 4) + self.fill(template.strip()))

    def block(self, depth: int, kind: str) -> None:
        """Indented statements; what they bind may not be bound behind them."""
        names, own = _copy(self.names), _copy(self.own)
        if kind in ("body", "generator"):
            self.own = {}
            self.names["tensor"].append("q")
        for _ in range(self.random.randint(1, 3 if depth < 4 else 1)):
            self.statement(depth, BLOCK_RULES[kind])
        self.names, self.own = names, own

    # --- filling templates --------------------------------------------------------------------------------------------

    def choose(self, table: Mapping[str, float]) -> str:
        return self.random.choices(list(table), list(table.values()))[0]

    def fill(self, template: str, depth: int = 0) -> str:
        """The template with its places filled; new names are bound behind the statement."""
        fresh: list[tuple[str, str]] = []

        def place(match: re.Match[str]) -> str:
            word = match[1]
            if word.isdigit():
                return str(self.random.randrange(int(word)))
            if word.startswith("new "):
                self.count += 1
                fresh.append((word[4:], f"{word[4]}{self.count}"))
                return fresh[-1][1]
            if word.startswith("OWN "):
                return self.own_name(word[4:].lower())
            return self.variable(word.lower()) if word.isupper() else self.expression(word, depth)

        text = PLACE.sub(place, template)
        for kind, name in fresh:
            self.names[kind].append(name)
            self.own.setdefault(kind, []).append(name)
        return text

    def variable(self, kind: str) -> str:
        """A variable of the kind; now and then of another kind."""
        if self.random.random() < 0.02:
            kind = self.random.choice(KINDS)
        return self.random.choice(self.names[kind])

    def own_name(self, kind: str) -> str:
        """A variable that this function may rebind, made if there is none."""
        known = self.own.setdefault(kind, [])
        if not known:
            self.count += 1
            known.append(f"{kind[0]}{self.count}")
            self.lines.append(self._indent_of_last() + f"{known[0]} = {self.variable(kind)}")
        return self.random.choice(known)

    def _indent_of_last(self) -> str:
        last = self.lines[-1]
        return " " * (len(last) - len(last.lstrip()) + (4 if last.endswith(":") else 0))

    def expression(self, kind: str, depth: int) -> str:
        deep = depth > 2 or (kind != "condition" and self.random.random() < 0.15 * depth)
        if deep and kind in self.names:
            return self.random.choice(self.names[kind])
        if kind == "tensor" and self.random.random() < 0.4:
            return self.variable("tensor")
        return self.fill(self.choose(self.language.expressions[kind]), depth + 1)


BLOCK_RULES: dict[str, Mapping[str, float]] = {
    "block": {}, "inner block": {}, "loop": IN_LOOPS, "body": {}, "generator": IN_GENERATORS,
    "inner generator": IN_GENERATORS,
}  # fmt: skip


def _copy(names: dict[str, list[str]]) -> dict[str, list[str]]:
    return {kind: list(known) for kind, known in names.items()}
