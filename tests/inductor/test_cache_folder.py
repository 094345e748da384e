"""The folder for compiled code: trusted only if nobody else can write to it, whole files only, kept to a size."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from minitorch_compile import logs
from minitorch_compile.inductor import cache_folder as module
from minitorch_compile.inductor.cache_folder import cache_folder, folder_problem, read_own, trim, write_whole

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    monkeypatch.setenv("MTC_CACHE_DIR", str(place))
    return cache_folder()


# ------------------------------------------------------------------------------------------------ trust


def test_a_folder_that_is_made_is_private(folder):
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_can_write_to_is_refused_and_a_private_one_is_used(tmp_path, monkeypatch, mode):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    assert folder_problem(shared) == "can be written to by other users"
    monkeypatch.setenv("MTC_CACHE_DIR", str(shared))
    with logs.capture("cache") as records, pytest.warns(UserWarning, match="by other users. Set MTC_CACHE_DIR"):
        used = cache_folder()
    assert used != shared and folder_problem(used) is None
    assert [r.text for r in records] == [f"{shared} can be written to by other users: refused"]


def test_a_folder_of_another_user_is_refused(folder, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    assert folder_problem(folder) == "belongs to another user"


def test_a_folder_that_any_user_could_exchange_is_refused(tmp_path):
    tmp_path.chmod(0o777)
    assert folder_problem(tmp_path / "mine") == f"lies in {tmp_path}, where any user could put another one in its place"
    tmp_path.chmod(0o1777)  # as /tmp: everybody may write, but rename only what is theirs
    assert folder_problem(tmp_path / "mine") is None


def test_a_link_is_followed_once_and_what_it_points_to_is_checked(tmp_path, monkeypatch):
    good, bad, link = tmp_path / "good", tmp_path / "bad", tmp_path / "link"
    good.mkdir(mode=0o700)
    bad.mkdir()
    bad.chmod(0o777)
    link.symlink_to(good)
    monkeypatch.setenv("MTC_CACHE_DIR", str(link))
    assert cache_folder() == good.resolve()
    link.unlink()
    link.symlink_to(bad)
    assert folder_problem(link) == "can be written to by other users"
    assert cache_folder() == good.resolve()


def test_a_link_in_a_circle_is_a_reason_not_a_crash(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert "can't be made" in folder_problem(tmp_path / "a")


def test_a_file_in_the_place_of_the_folder_is_a_warning_not_a_crash(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MTC_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="can't be made"):
        cache_folder()


def test_a_folder_that_is_read_only_is_refused(folder, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # whoever is root may write everywhere
    assert folder_problem(folder) == "can't be written to"


def test_only_files_that_this_user_alone_can_write_are_read(folder):
    path = folder / "entry"
    assert write_whole(path, b"bytes") and read_own(path) == b"bytes"
    (folder / "link").symlink_to(path)
    assert read_own(folder / "link") is None
    assert read_own(folder) is None
    path.chmod(0o666)
    with logs.capture("cache") as records:
        assert read_own(path) is None
    assert records[-1].text == f"{path} could have been written by another user: not read"


# ------------------------------------------------------------------------------------------------ whole files


def test_a_file_that_cannot_be_written_is_done_without(folder, monkeypatch):
    def full_disk(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.tempfile, "mkstemp", full_disk)
    with logs.capture("cache") as records:
        assert not write_whole(folder / "entry", b"bytes")
    assert records[-1].text == f"{folder / 'entry'} can't be written (No space left on device)"


def test_a_process_that_is_killed_while_it_writes_leaves_no_entry(folder):
    program = f"""
import os, signal
from pathlib import Path
from minitorch_compile.inductor import cache_folder
os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
cache_folder.write_whole(Path({str(folder)!r}) / "ab" / "mtc_entry", b"bytes")
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=600, check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = (folder / "ab").iterdir()
    assert left.suffix == ".tmp" and read_own(folder / "ab" / "mtc_entry") is None
    assert trim(folder, 0) == 0  # somebody may still be writing it
    os.utime(left, (0, 0))
    assert trim(folder, 0) == 1 and not left.exists()


# ------------------------------------------------------------------------------------------------ size


def test_what_was_used_least_recently_is_removed_and_nothing_that_is_not_ours(folder):
    paths = [folder / "ab" / f"mtc_{number}.o" for number in range(4)]
    for number, path in enumerate(paths):
        write_whole(path, bytes(100))
        os.utime(path, (1000 + number, 1000 + number))
    (folder / "letter.txt").write_bytes(bytes(1000))
    (folder / "ab" / "letter.txt").write_bytes(bytes(1000))
    read_own(paths[0])  # used: the newest now
    assert paths[0].stat().st_mtime > paths[3].stat().st_mtime
    assert trim(folder, 400) == 0
    assert trim(folder, 399) == 3 and paths[0].exists()
    assert (folder / "letter.txt").exists() and (folder / "ab" / "letter.txt").exists()


def test_the_first_entry_of_a_process_keeps_the_folder_to_its_limit(tmp_path, monkeypatch):
    monkeypatch.setenv("MTC_CACHE_DIR", str(tmp_path / "small"))
    monkeypatch.setenv("MTC_CACHE_BYTES", "150")
    old = cache_folder() / "ab" / "mtc_old.o"
    old.parent.mkdir()
    old.write_bytes(bytes(100))
    os.utime(old, (1, 1))
    write_whole(old.with_name("mtc_new.o"), bytes(60))
    assert [path.name for path in old.parent.iterdir()] == ["mtc_new.o"]


def test_a_limit_that_is_not_a_number_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("MTC_CACHE_DIR", str(tmp_path / "strange"))
    monkeypatch.setenv("MTC_CACHE_BYTES", "1GB")
    with pytest.raises(ValueError, match="MTC_CACHE_BYTES: expected a number of bytes"):
        write_whole(cache_folder() / "ab" / "mtc_0", b"bytes")
