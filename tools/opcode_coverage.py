"""Which CPython instructions of the running version the programs of tests/dynamo/battery exercise, and which not.

.venv/bin/python -m tools.opcode_coverage            # build/python3.12/bin/python -m tools.opcode_coverage for 3.12
"""

from __future__ import annotations

import collections
import dis
import opcode
import sys
import types
from collections.abc import Iterator

from minitorch_compile.dynamo.decode_rules import DROPPED, rules_for
from tests.dynamo.programs import programs


def code_objects(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code object and all inside it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from code_objects(const)


def uses() -> collections.Counter[str]:
    """How many times each instruction stands in the programs."""
    return collections.Counter(
        raw.opname
        for program in programs()
        for code in code_objects(program.__code__)
        for raw in dis.get_instructions(code)
    )


def main() -> None:
    counts = uses()
    real = {name for name, number in opcode.opmap.items() if number < 256}  # the others exist only inside the compiler
    understood = set(rules_for(sys.version_info[:2])) & real - set(DROPPED.split())
    unused = sorted(understood - set(counts))
    version = ".".join(map(str, sys.version_info[:2]))
    for name in sorted(understood & set(counts)):
        print(f"{name:36} {counts[name]:6}")
    print(f"Python {version}: {len(understood) - len(unused)} of {len(understood)} understood instructions exercised")
    print("not exercised:", ", ".join(unused) or "none")


if __name__ == "__main__":
    main()
