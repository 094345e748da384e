"""`make test CHANGED=1`: what a changed file asks for."""

from pathlib import Path

import changed_tests
import pytest
from changed_tests import places_asked_for


def asked_for(monkeypatch: pytest.MonkeyPatch, *changed: str) -> list[str]:
    monkeypatch.setattr(changed_tests, "changed_files", lambda since: [Path(name) for name in changed])
    return places_asked_for("HEAD")


def test_a_kernel_asks_for_the_floors_that_generate_kernels_and_for_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    places = asked_for(monkeypatch, "minitorch_compile/inductor/codegen/cpu/rows.py")
    assert {"tests/inductor", "tests/compiler", "tests/pipeline"} <= set(places)
    assert "minitorch_compile/inductor/codegen/cpu/rows.py" in places
    assert not {"tests/tensor", "tests/autograd", "tests/dynamo", "tests/aot"} & set(places)


def test_an_op_asks_for_all_floors(monkeypatch: pytest.MonkeyPatch) -> None:
    places = asked_for(monkeypatch, "minitorch_compile/tensor/dispatch/dispatch.py")
    assert {"tests/tensor", "tests/autograd", "tests/dynamo", "tests/aot", "tests/inductor"} <= set(places)


def test_a_test_asks_for_itself_and_a_helper_for_who_imports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked_for(monkeypatch, "tests/aot/test_min_cut.py") == ["tests/aot/test_min_cut.py"]
    assert "tests/aot/test_property.py" in asked_for(monkeypatch, "tests/aot/aliasing/check.py")


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ("authoring/x.md", "tests/course"),
        ("docs/x.md", "tests/tooling"),
        ("pyproject.toml", "tests/tooling"),
        ("LICENSE", None),
    ],
)
def test_other_files_ask_for_the_tests_that_read_them(
    monkeypatch: pytest.MonkeyPatch, changed: str, place: str | None
) -> None:
    assert asked_for(monkeypatch, changed) == ([] if place is None else [place])


def test_the_page_of_a_floor_asks_for_the_test_that_holds_it_to_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked_for(monkeypatch, "minitorch_compile/aot/README.md") == ["tests/tooling"]


def test_a_file_that_is_gone_asks_for_who_imported_it_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked_for(monkeypatch, "tests/aot/test_that_was_removed.py") == []


def test_a_place_stands_for_what_lies_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    places = asked_for(monkeypatch, "minitorch_compile/fx/node.py", "tests/fx/test_graph.py")
    assert "tests/fx" in places and not any(place.startswith("tests/fx/") for place in places)


def test_an_unknown_commit_is_named() -> None:
    with pytest.raises(SystemExit, match="no-such-commit"):
        places_asked_for("no-such-commit")
