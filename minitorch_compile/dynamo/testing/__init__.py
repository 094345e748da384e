"""What tests, lessons and docstrings look at a compilation with."""

from minitorch_compile.dynamo.testing.backends import CompileCounter, captured, eager, generated

__all__ = ["CompileCounter", "captured", "eager", "generated"]
