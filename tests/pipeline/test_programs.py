"""The battery: generated programs give the same on every backend, forward and backward, and what NumPy computes.

Eager is checked against NumPy in float64, program by program. The backends are then checked against eager in float32,
several programs compiled as one function, since compiling costs more than running. `python -m tests.pipeline.fuzz`
runs more.
"""

import pytest

import minitorch_compile as torch
from tests.pipeline.compare import (
    Mismatch,
    against_numpy,
    check_same,
    check_slope,
    check_values,
    evaluate,
    evaluate_together,
    on_backend,
    script,
)
from tests.pipeline.programs import LAYOUTS, battery, generate, tame
from tests.pipeline.rules import FAMILIES

BACKENDS = ["eager", "aot_eager", "aot_eager_decomp_partition", "loops", "cuda_sim", "inductor"]
PROGRAMS = battery(per_family=32)
TOGETHER = 16
BATCHES = [PROGRAMS[i::TOGETHER] for i in range(TOGETHER)]  # every batch has programs of every family


# ------------------------------------------------------------------------------------------------ the generator


def test_the_battery_is_large_and_has_every_awkward_size_and_layout():
    inputs = [spec for program in PROGRAMS for spec in program.inputs.values()]
    assert len({program.source for program in PROGRAMS}) >= 200
    assert len(FAMILIES) >= 5
    assert {spec.layout for spec in inputs} == set(LAYOUTS)
    for awkward in ((), (1,), (0,), (3, 1)):
        assert any(spec.sizes == awkward for spec in inputs), awkward


@pytest.mark.parametrize("family", FAMILIES)
def test_a_program_is_the_same_each_time_it_is_generated(family):
    first, second = generate(family, 7), generate(family, 7)
    assert first.source == second.source and first.inputs == second.inputs


def test_every_rule_is_used_by_the_battery():
    text = "\n".join(program.source for program in battery(per_family=100))
    for word in (
        "softmax",
        ".expand(",
        "torch.cat",
        "@",
        "F.embedding",
        ".index_put(",
        "_view.mul_",
        "F.conv2d",
        "argmax",
    ):
        assert word in text, word


# ------------------------------------------------------------------------------------------------ eager


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_eager_computes_what_numpy_computes(program):
    result = evaluate(program, "float64")
    expected = against_numpy(program)
    assert all(map(tame, expected))
    check_values(program, result, expected)
    check_slope(program, result)


# ------------------------------------------------------------------------------------------------ backends


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="compile() does not exist yet")
@pytest.mark.parametrize("batch", range(TOGETHER))
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backend_computes_what_eager_computes(backend, batch):
    programs = BATCHES[batch]
    expected = [evaluate(program, "float32") for program in programs]
    results = evaluate_together(programs, "float32", on_backend(backend))
    for program, result, reference in zip(programs, results, expected, strict=True):
        check_same(program, result, reference, "float32", backend)


# ------------------------------------------------------------------------------------------------ the checker


def test_a_wrong_value_is_reported_with_a_script_that_runs():
    program = generate("pointwise", 0)
    right = evaluate(program, "float32")
    wrong = evaluate(program, "float32")
    wrong.values[0] = wrong.values[0] + 1
    with pytest.raises(
        Mismatch, match=r"(?s)pointwise_0 on inductor: v\d: at .* differ.*import minitorch_compile as torch"
    ):
        check_same(program, wrong, right, "float32", "inductor")
    compile(script(program, "inductor"), "script.py", "exec")


def test_a_wrong_gradient_is_noticed():
    program = generate("pointwise", 0)
    result = evaluate(program, "float64")
    result.gradients[0] = result.gradients[0] * 1.01
    with pytest.raises(Mismatch, match="the gradient's slope is"):
        check_slope(program, result)
