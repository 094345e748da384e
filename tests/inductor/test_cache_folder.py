"""The folder for compiled code: trusted only if nobody else can write to it, whole files only, kept to a size."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from minitorch_compile import logs, users_cache
from minitorch_compile.folder_trust import folder_problem
from minitorch_compile.inductor.runtime import cache_folder as module
from minitorch_compile.inductor.runtime.cache_folder import cache_folder, read_own, trim, write_whole
from minitorch_compile.users_cache import NOWHERE

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
    assert (folder_problem(folder) or "").endswith("belongs to another user")  # the folder, or those that it lies in


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


# ------------------------------------------------------------------------------------------------ no folder


@pytest.mark.parametrize(
    "home, problem",
    [("file", "File exists"), ("relative/home", "no home folder"), ("loose", "which other users can write to")],
)
def test_without_a_usable_home_a_temporary_folder_is_used_with_one_warning(tmp_path, monkeypatch, home, problem):
    (tmp_path / "file").write_text("")
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose").chmod(0o777)
    for name in ("MTC_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", home if "/" in home else str(tmp_path / home))
    users_cache._usable_folder.cache_clear()
    with pytest.warns(UserWarning, match="kernels are not kept after this process ends") as told:
        folder = cache_folder()
        assert cache_folder() == folder and write_whole(folder / "ab" / "mtc_0", b"bytes")
    assert len(told) == 1 and problem in str(told[0].message)


def test_a_user_without_a_home_makes_no_folder_called_tilde(tmp_path, monkeypatch):
    for name in ("MTC_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as where no such user is known
    monkeypatch.chdir(tmp_path)
    users_cache._usable_folder.cache_clear()
    with pytest.warns(UserWarning, match="this user has no home folder"):
        cache_folder()
    assert not list(tmp_path.iterdir())


def test_where_nothing_can_be_written_kernels_are_compiled_and_not_kept(tmp_path):
    """A container whose disk is read-only, without a place for temporary files."""
    (tmp_path / "file").write_text("")
    program = """
import tempfile, warnings
tempfile.tempdir = "/dev/null/nowhere"
import minitorch_compile as torch
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for addend in (1, 2):
        print(torch.compile(lambda x: (x + addend).exp() - 1)(torch.zeros(2)).tolist())
from minitorch_compile.users_cache import NOWHERE, cache_folder
print(cache_folder() == NOWHERE, [str(warning.message)[:31] for warning in told])
"""
    places = {"HOME": str(tmp_path / "file"), "PYTHONPATH": str(ROOT)}
    environment = {name: value for name, value in os.environ.items() if name not in ("MTC_CACHE_DIR", "XDG_CACHE_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**environment, **places},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.stdout.split("\n")[-2:] == ["True ['compiled kernels are not kept a']", ""], done.stderr[-2000:]
    assert done.stdout.startswith("[1.718281"), done.stdout


def test_nothing_is_ever_kept_nowhere():
    assert not write_whole(NOWHERE / "ab" / "mtc_0", b"bytes") and read_own(NOWHERE / "ab" / "mtc_0") is None
    assert trim(NOWHERE, 1) == 0


def test_a_forked_process_that_ends_leaves_the_temporary_folder(tmp_path):
    program = """
import os, sys
from minitorch_compile.users_cache import _temporary_folder
folder = _temporary_folder()
child = os.fork()
if not child:
    sys.exit()
os.waitpid(child, 0)
print(folder.is_dir())
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, check=True)
    assert done.stdout == b"True\n" and not list(tmp_path.iterdir())


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
from minitorch_compile.inductor.runtime import cache_folder
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


def test_a_limit_that_is_not_a_number_names_itself_and_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("MTC_CACHE_DIR", str(tmp_path / "strange"))
    monkeypatch.setenv("MTC_CACHE_BYTES", "2GB")
    with pytest.warns(UserWarning, match="MTC_CACHE_BYTES='2GB' is not used: it can be a whole number of bytes"):
        assert write_whole(cache_folder() / "ab" / "mtc_0", b"bytes")
