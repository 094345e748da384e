"""Builds the site: `make site`. It is opened from build/site/html/index.html, and needs no network then.

python tools/web/build.py              the site, the whole on one page, and that as a PDF where there is a Chromium
python tools/web/build.py --only html
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILT = ROOT / "build" / "site"
LOCK = HERE / "site.lock"
sys.path.insert(0, str(ROOT))

from tools.chromium import BrowserError, find_program  # noqa: E402
from tools.web.pages import write_pages  # noqa: E402
from tools.web.reference import write_reference  # noqa: E402


def packages() -> None:
    """Sphinx and what it needs, the first time: whoever only takes the course has no use for them."""
    if any(importlib.util.find_spec(name) is None for name in ("sphinx", "myst_nb", "furo")):
        print("installing Sphinx ...", flush=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", str(LOCK)]
        subprocess.run(command, check=True)


def build(builder: str) -> Path:
    """Runs Sphinx; a link that leads nowhere is an error."""
    place = BUILT / builder
    command = [sys.executable, "-m", "sphinx", "--builder", builder, "--fail-on-warning", "--keep-going", "--quiet"]
    command += ["--jobs", "auto", "--conf-dir", str(HERE), "--doctree-dir", str(BUILT / "doctrees")]
    began = time.monotonic()
    done = subprocess.run([*command, str(BUILT / "source"), str(place)])
    if done.returncode:
        sys.exit("make site: the pages above have mistakes")
    print(f"{builder}: {time.monotonic() - began:.0f} s", flush=True)
    return place


def print_pdf(page: Path) -> None:
    """That page as a PDF, if a Chromium is there."""
    try:
        program = find_program()
    except BrowserError as error:
        print(f"no PDF: {error}")
        return
    pdf = BUILT / "minitorch_compile.pdf"
    flags = ["--headless", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={pdf}"]
    flags += ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses to start as root with its sandbox
    subprocess.run([program, *flags, page.as_uri()], check=True, stderr=subprocess.DEVNULL, timeout=1800)
    print(f"{pdf.relative_to(ROOT)}: {pdf.stat().st_size >> 20} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["html", "singlehtml"])
    only = parser.parse_args().only
    packages()
    source = BUILT / "source"
    shutil.rmtree(source, ignore_errors=True)
    reference = write_reference(source / "reference")
    print(f"{write_pages(source, reference) + len(reference)} pages", flush=True)
    if only != "singlehtml":
        print(f"open {build('html').joinpath('index.html').relative_to(ROOT)}")
    if only != "html":
        print_pdf(build("singlehtml") / "index.html")


if __name__ == "__main__":
    main()
