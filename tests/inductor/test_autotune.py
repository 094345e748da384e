"""`mode="max-autotune"`: products are computed in the fastest of several ways, and a second process knows which."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from minitorch_compile.inductor.codegen.cpu.wrapper import write_file
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.runtime.code_cache import load
from minitorch_compile.inductor.schedule.fused_call import FusedCall
from minitorch_compile.inductor.tuning import autotune, autotune_cache
from minitorch_compile.inductor.tuning.autotune import Choices, Way, choose_products, first_of_equals, tuned_schedule
from minitorch_compile.inductor.tuning.autotune_cache import key_of, recall, remember, structure_of
from minitorch_compile.kernel_options import Options
from tests.inductor.prim_graphs import expected, record, tensors_of
from tests.inductor.programs import floats


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTC_CACHE_DIR", str(tmp_path))


def two_layers(p, x, w, v):
    return p.tanh(p.mm(p.exp(p.mm(x, w)), v))


def layers_graph():
    return record(two_layers, tensors_of(ARRAYS))


ARRAYS = 0.1 * floats(120, 40), 0.1 * floats(40, 40), 0.1 * floats(40, 64)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was timed. The clock is replaced: BLAS takes 3 s, tiles 2 s, tiles with an epilogue 1 s."""
    questions: list[str] = []

    def timed(names, run, known):
        if known is not None:
            return known
        questions.append(names[0])
        for name in names:
            run(name)
        return {name: 3.0 if name == "BLAS" else 2.0 if name == "tiles" else 1.0 for name in names}

    monkeypatch.setattr(autotune, "timed", timed)
    return questions


def test_the_fastest_way_is_chosen_for_each_product(asked: list[str]) -> None:
    choices = choose_products(lower(layers_graph()))
    assert all(way.tiles and way.length for way in choices.ways.values()) and len(choices.ways) == 2


def test_the_tuned_schedule_computes_the_same(asked: list[str]) -> None:
    module = layers_graph()
    scheduled = tuned_schedule(lower(module), Options(max_autotune=True))
    assert sum(isinstance(step, FusedCall) for step in scheduled.steps) == 2
    (result,) = load(write_file(scheduled).source).run(*tensors_of(ARRAYS))
    np.testing.assert_allclose(result.array, expected(module, tensors_of(ARRAYS))[0], rtol=1e-4, atol=1e-5)


def test_what_was_found_out_is_not_asked_again(asked: list[str]) -> None:
    tuned_schedule(lower(layers_graph()), Options(max_autotune=True))
    assert len(asked) == 3  # two products, and the fusion limit
    tuned_schedule(lower(layers_graph()), Options(max_autotune=True))
    assert len(asked) == 3


def test_layers_of_one_shape_are_asked_about_once(asked: list[str]) -> None:
    def layers(p, x, w):
        return p.exp(p.mm(p.exp(p.mm(p.exp(p.mm(x, w)), w)), w))

    choose_products(lower(record(layers, tensors_of([floats(50, 50), floats(50, 50)]))))
    assert len(asked) == 1


@pytest.mark.parametrize("way", [Way(False, 0), Way(True, 0), Way(True, 48), Way(True, None)])
def test_every_way_computes_the_same(way: Way) -> None:
    module = layers_graph()
    graph = lower(module)
    choices = Choices({operation.outputs[0]: way for operation in graph.operations})
    (result,) = autotune.compile_with(graph, Options(), choices)(*tensors_of(ARRAYS))
    np.testing.assert_allclose(result.array, expected(module, tensors_of(ARRAYS))[0], rtol=1e-4, atol=1e-5)


def test_another_number_of_threads_is_another_question() -> None:
    assert key_of("a product", threads=1) != key_of("a product", threads=2)


def test_graphs_that_differ_in_names_only_have_one_structure() -> None:
    first, second = lower(layers_graph()), lower(layers_graph())
    for buffer in [*second.inputs, *(b for operation in second.operations for b in operation.outputs)]:
        buffer.name = f"other_{buffer.name}"
    assert structure_of(first) == structure_of(second)
    assert "other" not in structure_of(second)


def test_a_damaged_or_foreign_entry_is_as_good_as_none() -> None:
    key = key_of("a product", threads=1)
    remember(key, {"a": 1.0, "b": 2.0})
    path = autotune_cache._path(key)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"2.0", b"0.1"))
    assert recall(key, ["a", "b"]) is None
    path.write_bytes(b"\xff\x00")
    assert recall(key, ["a", "b"]) is None
    path.write_bytes(whole)
    assert recall(key, ["a", "b"]) == {"a": 1.0, "b": 2.0}
    assert recall(key, ["a", "c"]) is None


def test_of_equals_the_first_is_taken() -> None:
    assert first_of_equals(["a", "b"], {"a": 1.01, "b": 1.0}) == "a"
    assert first_of_equals(["a", "b"], {"a": 1.1, "b": 1.0}) == "b"


PROGRAM = """
import minitorch_compile as torch
with torch.no_grad():
    torch.compile(lambda x, w: torch.relu(x @ w), mode="max-autotune")(torch.ones(64, 64), torch.ones(64, 64))
"""


@pytest.mark.slow
def test_a_second_process_remembers_and_both_show_the_table(tmp_path: Path) -> None:
    environment = {**os.environ, "MTC_LOGS": "perf_hints", "MTC_CACHE_DIR": str(tmp_path)}
    for source in ("timed", "remembered"):
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "autotune: mm of 64 x 64 by 64 x 64, float32 and 1 loops" in done.stderr
        assert done.stderr.count(f"({source})") == 2
        assert "tiles with epilogue, blocks of" in done.stderr and "<- chosen" in done.stderr
