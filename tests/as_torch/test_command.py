"""`python -m minitorch_compile.as_torch script.py` is Python running the script, but for what `import torch` gives."""

import subprocess
import sys
from pathlib import Path

import pytest

from minitorch_compile import as_torch


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, run in the script's folder."""
    return run_in(script.parent, script.name, *arguments)


def run_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command with these arguments, run in a folder."""
    command = [sys.executable, "-m", "minitorch_compile.as_torch", *arguments]
    environment = {"PYTHONPATH": str(Path(__file__).resolve().parents[2]), "PATH": ""}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=600)


def script(folder: Path, text: str, name: str = "script.py") -> Path:
    """A file with this program."""
    file = folder / name
    file.write_text(text)
    return file


def test_a_script_sees_itself_as_under_python(tmp_path: Path) -> None:
    script(tmp_path, "VALUE = 7\n", "beside.py")
    program = script(
        tmp_path,
        "import sys\n"
        "import torch\n"
        "import torch.nn.functional as F\n"
        "from torch.utils.data import DataLoader, TensorDataset\n"
        "import beside\n"
        "print(__name__, __file__, sys.argv, beside.VALUE)\n"
        "print(isinstance(F.relu(torch.ones(2)), torch.Tensor), torch.float32, torch.device('cpu'))\n"
        "print(len(DataLoader(TensorDataset(torch.arange(6)), batch_size=4)))\n"
        "def f(x: int): pass\n"
        "print(f.__annotations__)\n",
    )
    done = run(program, "--lr", "0.1")
    assert done.stdout.splitlines() == [
        f"__main__ {program} ['script.py', '--lr', '0.1'] 7",
        "True torch.float32 cpu",
        "2",
        "{'x': <class 'int'>}",
    ], done.stderr
    assert done.returncode == 0


def test_a_missing_name_is_named_with_the_scripts_own_line(tmp_path: Path) -> None:
    program = script(tmp_path, "import torch\n\n\ndef f():\n    return torch.reluu(1)\n\n\nf()\n")
    done = run(program)
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert lines[1] == f'  File "{program}", line 8, in <module>'
    assert f'  File "{program}", line 5, in f' in lines
    assert lines[-2].startswith("AttributeError: module 'torch' has no attribute 'reluu'")
    assert lines[-1].startswith("torch.reluu: minitorch_compile, which stands in for torch here, has no such name.")
    assert "relu" in lines[-1].partition("Nearest:")[2]


def test_a_missing_import_and_a_missing_module_are_named(tmp_path: Path) -> None:
    from_import = run(script(tmp_path, "from torch.nn import Linea\n"))
    assert "torch.nn.Linea: " in from_import.stderr
    assert "Nearest: Linear" in from_import.stderr
    module = run(script(tmp_path, "import torch.no_such_module\n"))
    assert "ModuleNotFoundError: No module named 'torch.no_such_module'" in module.stderr


@pytest.mark.parametrize(("text", "status"), [("import sys; sys.exit(5)", 5), ("x = (", 1), ("1 / 0", 1), ("pass", 0)])
@pytest.mark.heavy
def test_the_exit_status_is_the_scripts(tmp_path: Path, text: str, status: int) -> None:
    assert run(script(tmp_path, text)).returncode == status


def test_without_a_script_the_usage_is_shown(tmp_path: Path) -> None:
    done = run(tmp_path / "missing.py")
    assert done.returncode == 2
    assert "there is no file 'missing.py'" in done.stderr


def test_processes_that_a_script_spawns_find_torch_too(tmp_path: Path) -> None:
    program = script(
        tmp_path,
        "import multiprocessing\n"
        "import torch\n\n\n"
        "class Work:\n    size = 3\n\n\n"
        "def total(work):\n    return torch.full((work.size,), 2.0).sum().item()\n\n\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(total, [Work(), Work()]))\n",
    )
    done = run(program)
    assert done.stdout == "[6.0, 6.0]\n", done.stderr


@pytest.mark.slow
def test_a_module_of_a_package_is_run_with_its_neighbours(tmp_path: Path) -> None:
    package = tmp_path / "lab"
    package.mkdir()
    script(package, "from torch import nn\nWIDTH = nn.Linear(3, 1).in_features\n", "__init__.py")
    text = (
        "import sys\nfrom . import WIDTH\nfrom lab import WIDTH as again\n"
        "print(__name__, __package__, WIDTH, again, sys.argv[1:])\n"
    )
    script(package, text, "train.py")
    script(package, "from . import train\n", "__main__.py")
    done = run_in(tmp_path, "-m", "lab.train", "--lr", "1")
    assert done.stdout == "__main__ lab 3 3 ['--lr', '1']\n", done.stderr
    assert run_in(tmp_path, "-m", "lab").stdout == "lab.train lab 3 3 []\n"
    assert "No module named" in run_in(tmp_path, "-m", "laboratory").stderr


def test_installed_gives_our_modules_and_takes_them_back() -> None:
    before = list(sys.meta_path)
    with as_torch.installed():
        import torch
        import torch.nn.functional as functional
        from torch.nn.modules.batchnorm import BatchNorm2d

        from minitorch_compile import nn

        assert torch.nn is nn
        assert functional is nn.functional
        assert BatchNorm2d is nn.BatchNorm2d
    assert sys.meta_path == before
    assert "torch" not in sys.modules


def test_another_torch_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", sys)
    with pytest.raises(RuntimeError, match="PyTorch itself is imported already"):
        as_torch.install()
