"""What holds for every test: where generated kernels go, and which tests the coverage report follows.

Following each line doubles the time of a test. The instances of a parametrized test go through much the same lines, so
of each four only the first is followed: the report loses next to nothing, and all of them are run and checked.
"""

import os
import tempfile
from collections import Counter

import hypothesis
import pytest

FOLLOWED = 4  # of so many instances of one test, one is followed

# The tests run in several processes already; one that compiles for others would only be in their way.
os.environ.setdefault("MTC_COMPILE_THREADS", "1")

# No test may fail because the machine is busy: hypothesis sets no limits in time.
hypothesis.settings.register_profile(
    "busy machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy machine")

# Set before the package is imported, and inherited by the processes that tests start.
if "MTC_CACHE_DIR" not in os.environ:
    _folder = tempfile.TemporaryDirectory(prefix="minitorch_compile-tests-")
    os.environ["MTC_CACHE_DIR"] = _folder.name


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.pluginmanager.hasplugin("_cov"):
        return
    seen: Counter[str] = Counter()
    for item in items:
        test = item.nodeid.partition("[")[0]
        if seen[test] % FOLLOWED:
            item.add_marker(pytest.mark.no_cover)
        seen[test] += 1
