"""Finding parts of graphs, and making them one."""

from minitorch_compile.fx.passes.utils import fuser_utils, matcher_utils, source_matcher_utils
