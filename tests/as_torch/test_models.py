"""Models written for PyTorch train as under PyTorch, whose numbers were recorded by tools/record_models.py."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from minitorch_compile import as_torch
from tests.as_torch.measure import RECORDED, measure, model_files

RTOL, ATOL = 1e-3, 1e-4
RECORD = json.loads(RECORDED.read_text())


def close(came: float, expected: float, scale: float) -> bool:
    """Equal within the tolerances, for a number that was summed from terms as large as `scale`."""
    return math.isclose(came, expected, rel_tol=RTOL, abs_tol=ATOL + RTOL * scale)


def differences(came: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """What differs between two measurements, in words."""
    found = [f"{part}: {came[part]} for {expected[part]}" for part in ("state_dict",) if came[part] != expected[part]]
    for step, (loss, wanted) in enumerate(zip(came["loss"], expected["loss"], strict=True)):
        if not close(loss, wanted, 0.0):
            found.append(f"loss of step {step}: {loss} for {wanted}")
    if list(came["gradients"]) != list(expected["gradients"]):
        found.append(f"gradients of {set(came['gradients']) ^ set(expected['gradients'])} are missing or too many")
    for name, digest in came["gradients"].items():
        if name in expected["gradients"]:
            found += digest_differences(f"gradient of {name}", digest, expected["gradients"][name])
    if [out[:-2] for out in came["outputs"]] != [out[:-2] for out in expected["outputs"]]:
        return [*found, f"sizes of outputs: {came['outputs']} for {expected['outputs']}"]
    for i, (output, wanted) in enumerate(zip(came["outputs"], expected["outputs"], strict=True)):
        found += digest_differences(f"output {i}", output[-2:], wanted[-2:])
    return found


def digest_differences(name: str, came: list[float], expected: list[float]) -> list[str]:
    norm, component = expected
    if close(came[0], norm, 0.0) and close(came[1], component, norm):
        return []
    return [f"{name}: [norm, component] = {came} for {expected}"]


@pytest.mark.parametrize("file", model_files(), ids=lambda file: file.stem)
def test_a_model_trains_as_under_pytorch(file: Path) -> None:
    with as_torch.installed():
        import torch

        came = measure(file, torch)
    assert differences(came, RECORD[file.stem]) == []


def test_there_are_recorded_numbers_for_each_model() -> None:
    assert {file.stem for file in model_files()} == set(RECORD) - {"_versions"}


def changed(record: dict[str, Any], part: str, factor: float) -> dict[str, Any]:
    """A copy of recorded numbers in which one is off."""
    copy = json.loads(json.dumps(record))
    if part == "loss":
        copy["loss"][1] *= factor
    elif part == "output":
        copy["outputs"][0][-2] *= factor
    else:
        name = max(copy["gradients"], key=lambda name: copy["gradients"][name][0])
        copy["gradients"][name][0] *= factor
    return copy


@pytest.mark.parametrize("part", ["loss", "output", "gradient"])
def test_a_number_that_is_off_by_a_percent_is_noticed(part: str) -> None:
    record = RECORD["lenet"]
    assert differences(changed(record, part, 1.0), record) == []
    (found,) = differences(changed(record, part, 1.01), record)
    assert found.startswith(part)
