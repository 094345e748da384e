"""A scripted function as text: `code`.

>>> from minitorch_compile.jit.frontend import definition_of
>>> def scaled(x, times: int = 2):
...     '''Some text.'''
...     return x * times
>>> print(code_text(definition_of(scaled)))
def scaled(x: Tensor,
    times: int=2):
  return x * times
<BLANKLINE>

TorchScript spells its operations out (`torch.mul(x, times)`) and names each value anew; here the text stays what the
program says, with types, and without what a script never runs. A result has a type if the program says one.
"""

from __future__ import annotations

import ast
import re

from minitorch_compile.jit.frontend import Definition
from minitorch_compile.jit.script_types import default_texts, type_text


def code_text(definition: Definition) -> str:
    """The function with the types of its arguments, two spaces for a step in."""
    defaults = default_texts(definition)
    arguments = definition.tree.args
    untyped = [arg.arg for arg in arguments.args if arg.arg not in definition.types]  # self
    typed = [
        f"{name}: {type_text(wanted)}" + (f"={defaults[name]}" if name in defaults else "")
        for name, wanted in definition.types.items()
    ]
    body = "\n".join(map(ast.unparse, definition.tree.body))
    body = re.sub(r"^ +", lambda spaces: " " * (len(spaces[0]) // 2), body, flags=re.MULTILINE)
    lines = "\n".join("  " + line for line in body.splitlines())
    names = ",\n    ".join([*untyped, *typed])
    return f"def {definition.name}({names}){_result(definition)}:\n{lines}\n"


def _result(definition: Definition) -> str:
    if definition.returns is not None:
        return f" -> {type_text(definition.returns)}"
    returned = (node.value for node in ast.walk(definition.tree) if isinstance(node, ast.Return))
    return "" if any(value is not None for value in returned) else " -> NoneType"
