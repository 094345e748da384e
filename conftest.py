"""What holds for every test: where generated kernels go, and which tests the coverage report follows.

Following each line doubles the time of a test. The instances of a parametrized test go through much the same lines, so
the report follows fewer and fewer of them, as long as they show no new line; all of them are run and checked.
"""

import gc
import os
import tempfile
from collections import Counter
from collections.abc import Generator
from typing import Any

import hypothesis
import pytest

from tests.one_batch import OneBatch

TESTS_UNTIL_SETTLED = 200
MOST_UNFOLLOWED = 15  # instances of one test, between two that are followed

# The tests run in several processes already; one that compiles for others would only be in their way.
os.environ.setdefault("MTC_COMPILE_THREADS", "1")

# Large arrays are no reason to compile a library of kernels in the background; its own tests write one.
os.environ.setdefault("MTC_EAGER_KERNELS", "on_disk")

# No test may fail because the machine is busy: hypothesis sets no limits in time.
hypothesis.settings.register_profile(
    "busy machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy machine")

# Set before the package is imported, and inherited by the processes that tests start.
if "MTC_CACHE_DIR" not in os.environ:
    _folder = tempfile.TemporaryDirectory(prefix="minitorch_compile-tests-")
    os.environ["MTC_CACHE_DIR"] = _folder.name


class Followed:
    """What the coverage report follows: every test, but of a parametrized one only the instances that are worth it.

    After a followed instance that shows no new line, twice as many as before aren't: 1, 3, 7, at most 15. One that does
    halves them.
    """

    def __init__(self, plugin: Any) -> None:
        self.plugin = plugin  # pytest-cov
        self.gap: Counter[str] = Counter()  # by test: how many instances aren't followed after one that is
        self.unfollowed: Counter[str] = Counter()  # how many are still to come

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        controller, test = self.plugin.cov_controller, item.nodeid.partition("[")[0]
        if controller is None:  # --no-cov
            return (yield)
        if self.unfollowed[test]:
            self.unfollowed[test] -= 1
            controller.pause()
            try:
                return (yield)
            finally:
                controller.resume()
        known = self.lines_seen()
        result = yield
        if test != item.nodeid:
            shows_new = self.lines_seen() > known
            self.gap[test] = self.gap[test] // 2 if shows_new else min(2 * self.gap[test] + 1, MOST_UNFOLLOWED)
            self.unfollowed[test] = self.gap[test]
        return result

    def lines_seen(self) -> int:
        return sum(map(len, list(self.plugin.cov_controller.cov._collector.data.values())))  # of each file


@pytest.fixture(scope="session", autouse=True)
def examples_know_torch(doctest_namespace: dict[str, Any]) -> None:
    """An example in a docstring needs no import of the package, as in PyTorch's."""
    import minitorch_compile

    doctest_namespace["torch"] = minitorch_compile


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--one-batch", action="store_true", help="of each parametrized test a few instances, nothing slow")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Settled(), "settled")
    if config.getoption("--one-batch"):
        config.pluginmanager.register(OneBatch(), "one batch")
    plugin = config.pluginmanager.getplugin("_cov")
    if plugin is not None:
        config.pluginmanager.register(Followed(plugin), "followed")


class Settled:
    """What has outlived many tests is hardly ever garbage, and the tests themselves never are.

    So collecting it, which some tests ask for, needs not look at all of that each time.
    """

    def __init__(self) -> None:
        self.tests = 0

    def pytest_collection_finish(self) -> None:
        self.settle()

    def pytest_runtest_logfinish(self) -> None:
        self.tests += 1
        if self.tests % TESTS_UNTIL_SETTLED == 0:
            self.settle()

    def settle(self) -> None:
        gc.collect()
        gc.freeze()
