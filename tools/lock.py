"""Writes requirements.lock from pyproject.toml: every package, exact version, hashes, for Python 3.11 to 3.14 at once.

What only the site needs has a file of its own beside its program. The files name no package index: whoever installs
from them uses the one their pip or uv is set to.

    make lock        # newest versions that pyproject.toml allows
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK, SITE_LOCK = ROOT / "requirements.lock", ROOT / "tools" / "web" / "site.lock"
HEADER = """\
# Every package of pyproject.toml's `{extra}` extra{but}, with hashes, for Python 3.11 to 3.14. Written by `make lock`.
"""


def find_uv() -> str:
    """uv from PATH or from beside this Python; exits with the way to get it otherwise."""
    found = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if not found:
        sys.exit("make lock: wants uv, which solves for all Pythons at once:  python3 -m pip install uv")
    return found


def compile_requirements(uv: str, extra: str, *options: str) -> str:
    """The text uv gives for an extra, upgraded as far as pyproject.toml and the options allow."""
    command = [uv, "pip", "compile", "pyproject.toml", "--quiet", "--extra", extra, "--universal"]
    command += ["--python-version", "3.11", "--generate-hashes", "--no-header", "--no-emit-index-url"]
    command += ["--no-emit-find-links", "--no-annotate", "--upgrade", *options]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8").stdout


def without(text: str, known: str) -> str:
    """The packages of one file that another doesn't have."""
    blocks = re.split(r"\n(?=[a-z0-9])", text.strip())
    names = set(re.findall(r"^([a-z0-9][a-z0-9._-]*)", known, re.MULTILINE))
    return "\n".join(block for block in blocks if block.split("==")[0].split("[")[0] not in names) + "\n"


def write(path: Path, text: str) -> None:
    if address := re.search(r"https?://\S+", text):
        sys.exit(f"make lock: an address came into {path.name}, so it was not written: {address.group()}")
    path.write_text(text, encoding="utf-8")
    print(f"{path.name}: {len(re.findall('^[a-z0-9]', text, re.MULTILINE))} packages")


def main() -> None:
    uv = find_uv()
    write(LOCK, HEADER.format(extra="dev", but="") + compile_requirements(uv, "dev"))
    known = LOCK.read_text(encoding="utf-8")
    text = without(compile_requirements(uv, "site", "--constraint", str(LOCK)), known)
    write(SITE_LOCK, HEADER.format(extra="site", but=" that requirements.lock hasn't") + text)


if __name__ == "__main__":
    main()
