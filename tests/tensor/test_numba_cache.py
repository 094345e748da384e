"""Numba's cache of our own functions: it may be damaged, full or missing, and the functions work."""

import importlib.util

import numba
import pytest

from minitorch_compile import users_cache
from minitorch_compile.tensor.cpu import numba_cache
from minitorch_compile.tensor.cpu.numba_cache import CachedFunction, cached_on_disk


@pytest.fixture
def function(tmp_path):
    """A function in a file, compiled anew and kept each time that it is called."""
    (tmp_path / "module.py").write_text("def double(x):\n    return x + x\n")

    def fresh():
        spec = importlib.util.spec_from_file_location("module", tmp_path / "module.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return cached_on_disk(numba.njit(module.double))

    return fresh


def files(folder, suffix):
    return sorted(folder.rglob(f"*.{suffix}"))


def test_a_kept_function_is_found_again(function, tmp_path):
    assert function()(2) == 4 and len(files(tmp_path, "nbc")) == 1
    again = function()
    assert again(3) == 6 and sum(again.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [b"", b"\x80", b"garbage", b"\x80\x04N.", b"cno_such_module\nname\n."])
def test_a_damaged_file_is_compiled_again_and_kept_anew(function, tmp_path, suffix, damage):
    assert function()(2) == 4
    (path,) = files(tmp_path, suffix)
    path.write_bytes(damage)
    assert function()(3) == 6
    healed = function()
    assert healed(4) == 8 and sum(healed.stats.cache_hits.values()) == 1


def test_a_file_cut_off_anywhere_is_no_error(function, tmp_path):
    assert function()(2) == 4
    (path,) = files(tmp_path, "nbi")
    whole = path.read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 9)):
        path.write_bytes(whole[:length])
        assert function()(3) == 6


def test_a_full_disk_is_no_error(function, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(numba_cache.NamedByTypes, "_save_data", full)
    assert function()(2) == 4


def test_beside_a_package_that_cannot_be_written_to_the_users_folder_is_taken(function, tmp_path, monkeypatch):
    monkeypatch.setattr(numba_cache.caching.InTreeCacheLocator, "from_function", lambda *arguments: None)
    monkeypatch.setenv("MTC_CACHE_DIR", str(tmp_path / "kernels"))
    assert function()(2) == 4 and len(files(tmp_path / "kernels" / "functions", "nbc")) == 1


def test_where_there_is_no_place_at_all_nothing_is_kept(function, tmp_path, monkeypatch):
    monkeypatch.setattr(numba_cache.caching.InTreeCacheLocator, "from_function", lambda *arguments: None)
    monkeypatch.setattr(numba_cache, "cache_folder", lambda: users_cache.NOWHERE)
    compiled = function()
    assert compiled(2) == 4 and not isinstance(compiled._cache, CachedFunction) and not files(tmp_path, "nbc")
