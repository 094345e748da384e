"""A folder is trusted if nobody else can change it, or exchange anything on the way to it."""

import os
from pathlib import Path

import pytest

from minitorch_compile import folder_trust
from minitorch_compile.folder_trust import folder_problem


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o770, 0o707, 0o702, 0o720])
@pytest.mark.parametrize("between", ["", "one", "one/two"])
def test_a_parent_that_others_can_write_to_is_refused_and_nothing_is_made_below_it(tmp_path, mode, between):
    loose = tmp_path / "loose"
    loose.mkdir()
    loose.chmod(mode)
    assert folder_problem(loose / between / "cache") == f"lies in {loose}, which other users can write to"
    assert not list(loose.iterdir())


@pytest.mark.parametrize("mode", [0o1777, 0o755, 0o700, 0o711])
def test_a_parent_in_which_others_cannot_rename_is_right(tmp_path, mode):
    tmp_path.chmod(mode)
    assert folder_problem(tmp_path / "mine") is None
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700


def test_the_folder_itself_may_not_be_like_tmp(tmp_path):
    tmp_path.chmod(0o1777)
    assert folder_problem(tmp_path) == "can be written to by other users"


def test_a_parent_of_another_user_is_refused_unless_it_is_the_administrators(tmp_path, monkeypatch):
    (tmp_path / "above" / "cache").mkdir(parents=True, mode=0o700)
    owners = {tmp_path / "above": 4321}
    plain = Path.stat

    def stat(path, **options):
        status = plain(path, **options)
        return os.stat_result([*status[:4], owners.get(path, status.st_uid), *status[5:]])

    monkeypatch.setattr(Path, "stat", stat)
    assert (
        folder_problem(tmp_path / "above" / "cache") == f"lies in {tmp_path / 'above'}, which belongs to another user"
    )
    owners[tmp_path / "above"] = folder_trust.ADMINISTRATOR
    assert folder_problem(tmp_path / "above" / "cache") is None


def test_a_link_of_another_user_is_refused(tmp_path, monkeypatch):
    """In /tmp, whoever made a link can turn it elsewhere at any time."""
    (tmp_path / "real").mkdir(mode=0o700)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    assert folder_problem(link / "cache") is None
    foreign = os.stat_result([*link.lstat()[:4], 4321, *link.lstat()[5:]])
    monkeypatch.setattr(Path, "lstat", lambda path: foreign if path == link else os.lstat(path))
    assert folder_problem(link / "cache") == f"lies in {link}, which belongs to another user"


@pytest.mark.parametrize("target", ["loose/inner", "{}/loose/inner", "safe/../loose/inner"])
def test_the_folders_that_a_link_leads_through_are_looked_at(tmp_path, target):
    for name in ("loose/inner", "safe"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "loose").chmod(0o777)
    (tmp_path / "link").symlink_to(target.format(tmp_path))
    assert (
        folder_problem(tmp_path / "link" / "cache") == f"lies in {tmp_path / 'loose'}, which other users can write to"
    )


def test_the_folder_in_which_a_link_lies_is_looked_at(tmp_path):
    (tmp_path / "loose").mkdir()
    (tmp_path / "safe").mkdir(mode=0o700)
    (tmp_path / "loose" / "link").symlink_to(tmp_path / "safe")
    (tmp_path / "loose").chmod(0o777)
    assert (
        folder_problem(tmp_path / "loose" / "link") == f"lies in {tmp_path / 'loose'}, which other users can write to"
    )


@pytest.mark.parametrize(
    "path, reason",
    [("circle", "links go round in a circle"), ("file/cache", "File exists"), ("file", "File exists")],
)
def test_what_is_no_folder_is_a_reason_in_words(tmp_path, path, reason):
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "file").write_text("")
    assert folder_problem(tmp_path / path) == f"can't be made ({reason})"


def test_the_current_folder_may_be_gone(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert folder_problem(Path("cache")) == "can't be made (No such file or directory)"
