"""What tests, lessons and docstrings look at a compilation with."""

from minitorch_compile.dynamo.testing.backends import (
    CompileCounter,
    CompileCounterWithBackend,
    EagerAndRecordGraphs,
    captured,
    eager,
    generated,
)
from minitorch_compile.dynamo.testing.comparing import same

__all__ = [
    "CompileCounter",
    "CompileCounterWithBackend",
    "EagerAndRecordGraphs",
    "captured",
    "eager",
    "generated",
    "same",
]
