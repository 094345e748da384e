"""Passes over graphs: each takes a graph and returns a new one, the old one stays as it was."""

from minitorch_compile.fx.passes.before_and_after import draw_change, show
from minitorch_compile.fx.passes.common_subexpressions import merge_common_subexpressions
from minitorch_compile.fx.passes.dead_code import remove_dead_code
