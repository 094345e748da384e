"""What passes are made of, and who runs them."""

from minitorch_compile.fx.passes.infra import partitioner, pass_base, pass_manager
