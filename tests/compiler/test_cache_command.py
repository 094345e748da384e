"""`python -m minitorch_compile.compiler.cache`, and what reset() forgets."""

import pytest

import minitorch_compile as torch
from minitorch_compile.compiler import cache, cache_artifacts
from minitorch_compile.inductor.runtime import cache_folder, code_cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MTC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_show_counts_kernels_and_files_and_clear_leaves_what_is_not_ours(folder, capsys):
    mine = cache_folder.cache_folder() / "letter.txt"
    mine.write_text("keep me")
    for name in ("ab/mtc_ab1.o", "ab/mtc_ab2.o", "cd/mtc_cd.py"):
        assert cache_folder.write_whole(folder / name, bytes(1000))
    assert cache.main(["show"]) == 0
    shown = capsys.readouterr().out
    assert f"folder    {folder}" in shown and "kernels   2 (2,000 bytes)" in shown and "files     1 (1,000" in shown
    assert cache.main(["clear"]) == 0
    assert capsys.readouterr().out == "removed 3 entries, 3,000 bytes\n"
    assert cache.count(folder) == (0, 0) and mine.read_text() == "keep me"


def test_another_word_is_an_error_that_lists_the_words(folder, capsys):
    with pytest.raises(SystemExit):
        cache.main(["empty"])
    assert "show" in capsys.readouterr().err and not folder.exists()


def test_what_a_process_compiled_is_taken_to_another_cache(folder, tmp_path, monkeypatch):
    def program(x):
        return x.sin() * 3.25 + 1

    expected = torch.compile(program)(torch.ones(4))
    artifacts = torch.compiler.save_cache_artifacts()
    assert artifacts is not None
    packed, info = artifacts
    assert any(key.endswith(".py") for key in info.inductor_artifacts) and not info.empty()
    monkeypatch.setenv("MTC_CACHE_DIR", str(tmp_path / "elsewhere"))
    assert torch.compiler.save_cache_artifacts() is None
    assert torch.compiler.load_cache_artifacts(packed) == info
    assert cache.count(cache_folder.cache_folder()) == cache.count(folder)
    torch.compiler.reset()
    with torch.logs.capture("cache") as records:
        assert (torch.compile(program)(torch.ones(4)) == expected).all()
    assert not [record.text for record in records if "written" in record.text or "not on disk" in record.text]


def test_damaged_artifacts_and_names_outside_the_cache_are_not_loaded(folder):
    for packed in (b"junk", cache_artifacts.pack({"ab/mtc_ab.o": b"x"})[:-1], cache_artifacts.pack({"../mtc_a": b""})):
        assert torch.compiler.load_cache_artifacts(packed) is None
    assert cache.count(cache_folder.cache_folder()) == (0, 0)


@pytest.mark.parametrize("reset", [torch.compiler.reset, torch._dynamo.reset], ids=["compiler", "_dynamo"])
def test_after_reset_nothing_is_loaded_and_what_was_compiled_still_runs(reset):
    function = torch.compile(lambda x: x.exp() * 3)
    before = function(torch.ones(4))
    assert code_cache.loaded() > 0
    reset()
    assert code_cache.loaded() == 0
    assert torch.equal(function(torch.ones(4)), before)
