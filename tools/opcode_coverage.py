"""Which CPython instructions of the running version the programs of tests/dynamo/battery exercise, and which not.

.venv/bin/python -m tools.opcode_coverage            # build/python3.12/bin/python -m tools.opcode_coverage for 3.12

Each real instruction is exercised, or has no meaning of its own, or stands in NOT_INTERPRETED with the reason.
"""

from __future__ import annotations

import collections
import dis
import opcode
import sys
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from minitorch_compile.dynamo.bytecode.decode_rules import DROPPED, rules_for
from tests.dynamo.battery.module_code import MODULES, PROMPTS
from tests.dynamo.programs import programs

REASONS = {
    "template strings (t'...') are refused": "BUILD_INTERPOLATION BUILD_TEMPLATE",
    "a part of the instruction beside it": "CACHE EXTENDED_ARG",
    "put there by CPython while it runs": "ENTER_EXECUTOR EXIT_INIT_CHECK INTERPRETER_EXIT RESERVED",
}
NOT_INTERPRETED = {name: reason for reason, names in REASONS.items() for name in names.split()}


@dataclass(frozen=True)
class Coverage:
    """The instructions of this version: how often each stands in the battery, and the reasons of those that do not."""

    exercised: dict[str, int]
    dropped: tuple[str, ...]
    explained: dict[str, str]
    missing: tuple[str, ...]

    def __str__(self) -> str:
        version = ".".join(map(str, sys.version_info[:2]))
        counts = [f"{name:36} {count:6}" for name, count in self.exercised.items()]
        reasons = [f"{name:36} not exercised: {reason}" for name, reason in self.explained.items()]
        whole = len(self.exercised) + len(self.missing)
        summary = f"Python {version}: {len(self.exercised)} of {whole} instructions exercised"
        decoded = f"without a meaning of their own: {', '.join(self.dropped)}"
        return "\n".join([*counts, *reasons, decoded, summary, f"missing: {', '.join(self.missing) or 'none'}"])


def coverage() -> Coverage:
    """Of every instruction that this CPython's compiler can write."""
    counts = uses(code for program in programs() for code in code_objects(program.__code__))
    modules = [compile(source, name, "exec") for name, source in MODULES.items()]
    modules += [compile(source, name, "single") for name, source in PROMPTS.items()]
    counts += uses(inner for code in modules for inner in code_objects(code))
    real = real_instructions()
    dropped = tuple(sorted(real & set(DROPPED.split())))
    expected = real - set(dropped)
    return Coverage(
        {name: counts[name] for name in sorted(expected & set(counts))},
        dropped,
        {name: NOT_INTERPRETED[name] for name in sorted(expected & set(NOT_INTERPRETED) - set(counts))},
        tuple(sorted(expected - set(counts) - set(NOT_INTERPRETED))),
    )


def real_instructions() -> set[str]:
    """Without the compiler's own pseudo-instructions (numbers above 255), those that a debugger or the specialising
    interpreter puts in place of others, and those that stand in no code object."""
    specialised = set(getattr(opcode, "_specialized_opmap", ()))
    names = {name for name, number in opcode.opmap.items() if number < 256} - specialised
    written = {name for name in names if not name.startswith("INSTRUMENTED_")}
    understood = set(rules_for(sys.version_info[:2])) | set(DROPPED.split()) | set(NOT_INTERPRETED)
    unknown = written - understood
    if unknown:
        raise LookupError(f"opcode_coverage: no rule and no reason for {', '.join(sorted(unknown))}.")
    return written


def uses(codes: Iterable[types.CodeType]) -> collections.Counter[str]:
    """How many times each instruction stands in the code objects."""
    return collections.Counter(raw.opname for code in codes for raw in dis.get_instructions(code))


def code_objects(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code object and all inside it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from code_objects(const)


if __name__ == "__main__":
    print(coverage())
