"""A checkpoint is there whole, or as it was before."""

import os
import stat
from pathlib import Path

import pytest

import minitorch_compile as torch
from minitorch_compile.serialization import safetensors_file


def test_a_save_that_is_broken_off_leaves_the_older_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.pt"
    torch.save(1, path)

    def half(file, arrays, metadata):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(safetensors_file, "write", half)
    with pytest.raises(KeyboardInterrupt):
        torch.save(2, path)
    assert torch.load(path) == 1
    assert os.listdir(tmp_path) == ["x.pt"]


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "x.pt", tmp_path / "latest.pt"
    torch.save(1, path)
    path.chmod(0o640)
    link.symlink_to(path)
    torch.save(2, link)
    assert link.is_symlink()
    assert torch.load(path) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() == 0, reason="root may write to any file")
def test_a_file_that_is_protected_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    torch.save(1, path)
    path.chmod(0o440)
    with pytest.raises(PermissionError):
        torch.save(2, path)
    assert torch.load(path) == 1


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Parent directory .*absent does not exist"):
        torch.save(1, tmp_path / "absent" / "x.pt")


def test_a_file_that_is_mapped_can_be_replaced(tmp_path: Path) -> None:
    """The tensors keep what they were: the old file lives on until nobody looks at it."""
    torch.save({"x": torch.ones(3)}, tmp_path / "x.pt")
    mapped = torch.load(tmp_path / "x.pt", mmap=True)["x"]
    torch.save({"x": mapped * 2}, tmp_path / "x.pt")
    assert mapped.tolist() == [1, 1, 1]
    assert torch.load(tmp_path / "x.pt")["x"].tolist() == [2, 2, 2]
