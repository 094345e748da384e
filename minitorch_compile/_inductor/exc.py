"""`torch._inductor.exc`: what goes wrong while kernels are made."""

from minitorch_compile.dynamo.errors import BackendCompilerFailed as InductorError

__all__ = ["InductorError"]
