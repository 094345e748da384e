"""Two GPUs that aren't there, for every test of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from minitorch_compile.cuda.runtime import Runtime, using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver


@pytest.fixture(autouse=True)
def gpus() -> Iterator[Runtime]:
    with using(FakeDriver(devices=2)) as runtime:
        yield runtime
