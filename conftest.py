"""What holds for every test: generated kernels go to a folder of this run, not to the user's cache."""

import os
import tempfile

# The tests run in several processes already; one that compiles for others would only be in their way.
os.environ.setdefault("MTC_COMPILE_THREADS", "1")

# Set before the package is imported, and inherited by the processes that tests start.
if "MTC_CACHE_DIR" not in os.environ:
    _folder = tempfile.TemporaryDirectory(prefix="minitorch_compile-tests-")
    os.environ["MTC_CACHE_DIR"] = _folder.name
