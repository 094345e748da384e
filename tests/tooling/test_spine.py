"""The spine: what the first call of a lambda passes through, and that it stays a way that can be walked."""

import pytest
import spine

MOST_FILES = 172  # entered by the first call; lower it whenever fewer come along
MOST_LINES = 3772  # of the spine's files; likewise
INTERFACE = "dynamo/execution/hooks.py"  # what others define; none of its own lines is run


@pytest.fixture(scope="module")
def call() -> spine.Walk:
    return spine.follow(training=False)


def test_the_page_names_every_file_that_a_call_enters(call):
    newcomers = set(call.lines) - spine.entered_before()
    assert not newcomers, f"a lambda's first call enters them now, too: {newcomers}; can a table do without it?"
    assert len(call.lines) <= MOST_FILES


def test_a_call_runs_lines_of_all_the_spine_but_what_gradients_need(call):
    assert [file for file, _ in spine.SPINE if not call.lines.get(file)] == [
        "autograd/engine.py",
        INTERFACE,
        "aot/joint_graph.py",
        "aot/partitioning/partition.py",
    ]


@pytest.mark.slow
def test_training_runs_lines_of_all_the_spine():
    training = spine.follow(training=True)
    assert [file for file, _ in spine.SPINE if not training.lines.get(file)] == [INTERFACE]


def test_the_spine_can_be_read_in_a_day():
    assert sum(spine.length(file) for file, _ in spine.SPINE) <= MOST_LINES
    assert all(sentence.endswith(".") and len(sentence) < 100 for _, sentence in spine.SPINE)


def test_a_newcomer_is_named(call):
    stranger = spine.Walk({**call.lines, "tensor/not_on_the_way.py": 3})
    assert "tensor/not_on_the_way.py" in stranger.newcomers
