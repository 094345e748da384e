"""`torch._dynamo.backends`: backends made of compilers."""

from minitorch_compile._dynamo.backends import compiler_backends as common
