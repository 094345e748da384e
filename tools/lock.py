"""Writes requirements.lock from pyproject.toml: every package, exact version, hashes, for Python 3.11 to 3.14 at once.

The file names no package index: whoever installs from it uses the one their pip or uv is set to.

    make lock        # newest versions that pyproject.toml allows
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
HEADER = """\
# Every package of pyproject.toml's `dev` extra, with hashes, for Python 3.11 to 3.14. Written by `make lock`.
"""


def find_uv() -> str:
    """uv from PATH or from beside this Python; exits with the way to get it otherwise."""
    found = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if not found:
        sys.exit("make lock: wants uv, which solves for all Pythons at once:  python3 -m pip install uv")
    return found


def compile_requirements(uv: str) -> str:
    """The text uv gives for the whole project, upgraded as far as pyproject.toml allows."""
    command = [uv, "pip", "compile", "pyproject.toml", "--quiet", "--extra", "dev", "--universal"]
    command += ["--python-version", "3.11", "--generate-hashes", "--no-header", "--no-emit-index-url"]
    command += ["--no-emit-find-links", "--no-annotate", "--upgrade"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8").stdout


def main() -> None:
    text = HEADER + compile_requirements(find_uv())
    if address := re.search(r"https?://\S+", text):
        sys.exit(f"make lock: an address came into the file, so it was not written: {address.group()}")
    LOCK.write_text(text, encoding="utf-8")
    print(f"{LOCK.name}: {len(re.findall('^[a-z0-9]', text, re.MULTILINE))} packages")


if __name__ == "__main__":
    main()
