"""The three notebooks of a lesson are made from its sources, the same bytes each time."""

from __future__ import annotations

import nbformat
import pytest

from .notebooks import ROOT, tool

build = tool("build_course")
outputs = tool("lesson_outputs")

SOURCE = '''# %% [markdown]
# # 01 Exercises
# %% [markdown]
# ## 01.1 Strides of a new tensor
# %%
def contiguous_strides(sizes):
    """Doc."""
    ### BEGIN SOLUTION
    return 42
    ### END SOLUTION
# %% tags=["stub"]
guess = ...
# %% tags=["solution"]
guess = 7
# %% tags=["wrong"] says="not so"
guess = 8
# %%
check("01.1")
'''


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "01_example.py"
    path.write_text(SOURCE)
    return path


def text(notebook) -> str:
    return "\n".join(cell.source for cell in notebook.cells)


def test_the_exercise_has_the_stub_and_not_the_solution(source):
    exercise = text(build.exercise_notebook(source))
    assert 'raise NotImplementedError("your code here")' in exercise and "guess = ..." in exercise
    assert "42" not in exercise and "guess = 7" not in exercise and "guess = 8" not in exercise


def test_the_solution_has_the_solution_and_no_marks(source):
    solution = text(build.solution_notebook(source))
    assert "return 42" in solution and "guess = 7" in solution
    assert "SOLUTION" not in solution and "guess = ..." not in solution and "guess = 8" not in solution


def test_the_heading_gets_the_budget_from_the_exercise(source):
    assert '*10 minutes · 4 points · stuck? `hint("01.1")`*' in text(build.exercise_notebook(source))


def test_wrong_answers_are_found_with_their_exercise_and_message(source):
    assert build.wrong_answers(source) == [("01.1", "guess = 8", "not so")]


@pytest.mark.parametrize("make", [build.exercise_notebook, build.solution_notebook])
def test_a_rebuild_gives_the_same_bytes(source, make):
    assert build.text_of(make(source)) == build.text_of(make(source))


def test_adding_a_cell_changes_no_other_cells_id(source):
    before = [cell.id for cell in build.exercise_notebook(source).cells]
    source.write_text(SOURCE.replace("# %% [markdown]\n# ## 01.1", "# %%\nnew = 1\n# %% [markdown]\n# ## 01.1"))
    after = [cell.id for cell in build.exercise_notebook(source).cells]
    assert [each for each in after if each in before] == before and len(after) == len(before) + 1


def test_equal_cells_get_different_ids(source):
    source.write_text("# %%\n1\n# %%\n1\n")
    first, second = build.exercise_notebook(source).cells
    assert first.id != second.id


def test_the_committed_exercises_solutions_and_lesson_sources_are_up_to_date():
    assert build.main(["--check"]) == 0


def test_the_readme_lists_the_lessons_by_their_titles_and_times(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    (tmp_path / "authoring" / "lessons").mkdir(parents=True)
    for stem, title in (("70_tour", "70 Tour: one line"), ("71_views", "71 Views")):
        (tmp_path / "authoring" / "lessons" / f"{stem}.py").write_text(f"# %% [markdown]\n# # {title}\n")
    page = build.with_lesson_list("Before.\n\nLessons: an old\nlist.\n\nAfter.\n")
    before, listed, after = page.split("\n\n")
    assert (before, after) == ("Before.", "After.\n")
    entries = "[70](notebooks/70_tour.ipynb) Tour (¼ h) · [71](notebooks/71_views.ipynb) Views (¼ h)"
    assert " ".join(listed.split()).startswith(f"Lessons: {entries}. In brackets")
    assert build.with_lesson_list(page) == page


def test_a_stale_notebook_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    for folder in ("exercises", "lessons"):
        (tmp_path / "authoring" / folder).mkdir(parents=True)
    (tmp_path / "authoring" / "exercises" / "01_example.py").write_text(SOURCE)
    (tmp_path / "README.md").write_text("A course.\n")
    assert build.main(["--check"]) == 1
    assert "exercises/01_example.ipynb is out of date" in capsys.readouterr().err
    assert build.main([]) == 0
    assert build.main(["--check"]) == 0


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_lessons_committed_outputs_have_no_errors_and_no_machine_paths(path):
    raw = path.read_text()
    notebook = nbformat.reads(raw, as_version=4)
    assert all(cell.outputs is not None and cell.execution_count for cell in outputs.code_cells(notebook))
    kinds = {output.output_type for cell in outputs.code_cells(notebook) for output in cell.outputs}
    assert "error" not in kinds
    assert not any(word in raw for word in (str(ROOT), "/root/", "/home/", "/tmp/", "ipykernel_"))


@pytest.mark.parametrize("folder", ["exercises", "solutions"])
def test_exercises_and_solutions_are_committed_without_outputs(folder):
    for path in (ROOT / folder).glob("*.ipynb"):
        cells = outputs.code_cells(nbformat.read(path, as_version=4))
        assert all(not cell.outputs and cell.execution_count is None for cell in cells)


def lesson(source: str, shown: str, tags: list[str]):
    cell = nbformat.v4.new_code_cell(source, id="a", metadata={"tags": tags})
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=shown)]
    return nbformat.v4.new_notebook(cells=[cell])


def test_a_cell_that_varies_keeps_its_committed_output_and_is_not_compared():
    old, new = lesson("time()", "12 ms", ["varies"]), lesson("time()", "15 ms", ["varies"])
    assert outputs.differences(old, new) == []
    outputs.keep_varying_outputs(old, new)
    assert new.cells[0].outputs[0].text == "12 ms"


def test_another_output_of_another_cell_is_a_difference():
    (difference,) = outputs.differences(lesson("f()", "3 kernels", []), lesson("f()", "4 kernels", []))
    assert "code cell 1 now shows\n4 kernels" in difference


@pytest.mark.parametrize(
    ("old", "new", "alike"),
    [
        ("loss 1.2345", "loss 1.2346", True),
        ("loss 1.23", "loss 1.43", False),
        ("1e-7 and 2.5e-08", "1e-7 and 3.5e-08", True),
        ("x", "y", False),
        ("2 of 3", "3 of 3", False),
        ("", "", True),
    ],
)
def test_texts_are_alike_up_to_small_differences_of_decimals(old, new, alike):
    assert outputs.alike(old, new) is alike


def test_pieces_of_one_stream_are_joined():
    pieces = [nbformat.v4.new_output("stream", name="stdout", text=text) for text in ("a", "b")]
    (joined,) = outputs.merged_streams(pieces)
    assert joined.text == "ab"
