"""As many graphs, of as many operations, as PyTorch makes: counts recorded there by tools/record_counts.py."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from minitorch_compile import as_torch
from minitorch_compile.dynamo.testing.comparing import Behaviour, behaviour
from tests.dynamo.counting import RECORDED, Case, counted, load, program_files

RECORD = json.loads(RECORDED.read_text())
FILES = {file.stem: file for file in program_files()}
RECORDED_WITH = RECORD["_versions"]["python"]
NAMES = [(file, name) for file in FILES for name in RECORD[file]]

# Where the counts differ: ours, and why.
REASONS: dict[str, tuple[list[int], str]] = {
    "breaks.a_break_in_a_loop": ([1, 1, 1, 1], "PyTorch leaves the whole function to Python"),
    "breaks.a_break_in_no_grad": ([2, 3], "grad mode is handed over, not switched off and on again around the break"),
    "breaks.a_break_in_try": ([1, 2], "PyTorch leaves the whole function to Python"),
    "breaks.a_training_step": ([8], "no break: PyTorch calls backward() outside of the graph"),
    "breaks.a_gradient_by_autograd": ([1, 5], "no break: PyTorch calls grad() outside of the graph"),
    "breaks.numbers_of_numpy": ([2], "numbers of NumPy are constants; PyTorch leaves a trace of each in the graph"),
    "breaks.a_lock": ([1, 1], "what is behind the break is captured, too"),
    "breaks.an_assertion_about_data": ([3], "the condition is an output of the graph, which PyTorch checks inside"),
    "breaks.text_of_a_tensor": ([1, 1], "PyTorch leaves the whole function to Python"),
    "captured.an_object_of_a_generic_class": ([1], "no break: PyTorch leaves the whole function to Python"),
    "captured.the_signature_of_a_method": ([1], "no break: PyTorch does not follow signatures of bound methods"),
    "captured.an_autograd_function_with_a_list": ([2], "one result, so nothing is taken out of a tuple"),
    "containers.counters": ([2], "PyTorch leaves the whole function to Python"),
    "contexts.autocast_around_a_break": ([3, 3], "autocast is handed over, not switched off and on again"),
    "contexts.exceptions_of_a_class_in_a_callee": ([6], "no break: PyTorch does not follow this `__init__`"),
    "contexts.an_autograd_function_with_gradients": ([3], "one result, so nothing is taken out of a tuple"),
    "contexts.promoted_types": ([2], "no break: result_type is answered while tracing"),
    "functions.single_dispatch": ([3], "no break: PyTorch does not follow singledispatch"),
    "functions.cached_properties": ([2], "PyTorch leaves the whole function to Python"),
    "modules.parts_of_a_sequence": ([3], "PyTorch's graph tells its statistics of use about the slice"),
    "modules.module_lists": ([10], "PyTorch's graph tells its statistics of use about the slice"),
    "modules.an_lstm": ([12], "PyTorch breaks at every recurrent module"),
    "modules.a_gru": ([4], "PyTorch breaks at every recurrent module"),
    "modules.an_rnn": ([4], "PyTorch breaks at every recurrent module"),
    "overrides.a_mode": ([3], "no break: PyTorch does not follow the mode's own `__init__`"),
    "programs.heaps": ([2], "PyTorch leaves the whole function to Python"),
    "programs.try_import": ([1], "PyTorch leaves the whole function to Python"),
    # Not better:
    "breaks.a_warning": ([], "a warning names the line that warns, so its frame is left whole"),
    "breaks.a_generator_that_escapes": ([1], "the generator computes when it is asked, as in the plain program"),
    "functions.a_cached_function": ([1, 1], "it is called for real and its calls count; PyTorch ignores the cache"),
    "functions.random_numbers_of_python": ([1, 1], "Python's generator is asked for real, outside of the graph"),
    "modules.weight_normalisation": ([6], "the norm is written in operations, PyTorch has one for it"),
}


@pytest.fixture(autouse=True)
def torch() -> Iterator[Any]:
    with as_torch.installed():
        import torch
        import torch.nn.utils.parametrizations
        import torch.utils.checkpoint

        yield torch


@functools.cache
def cases(file: str, copy: str) -> dict[str, Case]:
    """The functions of a file; each copy has globals and classes of its own."""
    return {case.name: case for case in load(FILES[file])}


# CPython 3.11 tests the condition of a `while` at its start and at its end, later versions at its start only.
BY_VERSION = {"breaks.a_loop_until_data_says_so"}


@pytest.mark.parametrize(("file", "name"), NAMES)
def test_as_many_graphs_and_operations_as_in_pytorch(file: str, name: str, torch: Any) -> None:
    if f"{file}.{name}" in BY_VERSION and f"{sys.version_info.major}.{sys.version_info.minor}" not in RECORDED_WITH:
        pytest.skip(f"recorded with Python {RECORDED_WITH}, whose bytecode differs")
    expected, _ = REASONS.get(f"{file}.{name}", (RECORD[file][name], ""))
    assert counted(cases(file, "counted")[name], torch) == expected


@pytest.mark.parametrize(("file", "name"), NAMES)
def test_the_results_are_those_of_the_plain_function(file: str, name: str, torch: Any) -> None:
    outcomes = []
    for copy in ("plain", "compiled"):
        case = cases(file, copy)[name]
        sys.modules[f"counted_{file}"] = case.module
        function = case.function if copy == "plain" else torch.compile(case.function, backend="eager")
        torch.manual_seed(0)
        outcomes.append([_picture(name, behaviour(function, case.arguments(torch))) for _ in range(2)])
    assert outcomes[0] == outcomes[1]


def _picture(name: str, outcome: Behaviour) -> str:
    """Everything the call did; of modules with numbered hooks or generated classes, what it returned."""
    made_anew = name in ("forward_hooks", "weight_normalisation")
    return str(outcome.value[0] if made_anew else outcome)


def test_every_function_is_recorded_and_every_reason_is_needed() -> None:
    found = [(file, case) for file in FILES for case in cases(file, "plain")]
    assert found == NAMES
    for key, (ours, reason) in REASONS.items():
        file, _, name = key.partition(".")
        assert ours != RECORD[file][name] and reason, key


def test_at_least_sixty_functions_have_exactly_the_counts_of_pytorch() -> None:
    assert len(NAMES) - len(REASONS) >= 60
    assert RECORD["_versions"]["torch"].startswith("2.13")
