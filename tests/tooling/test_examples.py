"""What `help` and editors show of the names that programs use most: arguments, and an example that is true.

pytest finds the examples of functions and classes; those of ops, which are objects, run here.
"""

from __future__ import annotations

import doctest
import inspect
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.public_signature import function_parameters

COUNTED = Path(__file__).parents[2] / "tools" / "most_used_names.json"  # by tools/count_names.py
MOST_USED = list(json.loads(COUNTED.read_text(encoding="utf-8")))
# What means the same everywhere; size_average and reduce are PyTorch's deprecated forms of reduction.
KNOWN = ("cls", "device", "dtype", "generator", "input", "layout", "out", "pin_memory", "requires_grad", "self")
KNOWN += ("size_average", "reduce")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def documented(name: str) -> Any:
    """What a program calls so: an op, a function, a class, a method."""
    value: Any = torch
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def examples_by_module() -> dict[str, list[Op]]:
    """The ops whose docstrings have an example, by where they are declared; of several with one kernel, the first."""
    found: dict[str, dict[Any, Op]] = defaultdict(dict)
    for op in ops.table.values():
        if ">>>" in (op.__doc__ or ""):
            found[op.__module__].setdefault(op.kernel, op)
    return {module: list(some.values()) for module, some in found.items()}


EXAMPLES = examples_by_module()


@pytest.fixture
def random_state_put_back() -> Iterator[None]:
    before = torch.get_rng_state()
    yield
    torch.set_rng_state(before)


@pytest.mark.parametrize("module", sorted(EXAMPLES))
@pytest.mark.usefixtures("random_state_put_back")
def test_the_examples_of_ops_are_true(module: str) -> None:
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for op in EXAMPLES[module]:
        example = doctest.DocTestParser().get_doctest(
            inspect.getdoc(op) or "", {"torch": torch}, op.name, module, op.declared_at[1] if op.declared_at else 0
        )
        runner.run(example, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)


@pytest.mark.parametrize("name", MOST_USED)
def test_help_on_a_name_that_programs_use_shows_its_arguments_and_an_example(name: str) -> None:
    value = documented(name)
    text = inspect.getdoc(value) or ""
    assert ">>>" in text
    unnamed = [n for n in parameters(value) if n not in KNOWN and not re.search(rf"\b{n}\b", text)]
    assert unnamed == [], text


def parameters(value: Any) -> list[str]:
    """The names that a caller may give."""
    if isinstance(value, Op):
        return [p.name for p in function_parameters(value)]
    if isinstance(value, type) and value.__init__ is torch.nn.Module.__init__:
        return []  # what it takes is for classes that are mixed in (call_super_init)
    return list(inspect.signature(value).parameters)


def test_a_method_and_its_function_show_one_text() -> None:
    assert inspect.getdoc(torch.Tensor.matmul) == inspect.getdoc(torch.matmul)


def test_a_method_that_writes_in_place_says_so() -> None:
    text = inspect.getdoc(torch.Tensor.mul_) or ""
    assert text.startswith(inspect.getdoc(torch.mul) or "?")
    assert text.endswith("In place: the result is stored in the tensor itself, which is returned.")
