"""What compilation tells: the log artifacts of a new version, why it was needed, and the warning when it was one too
many.

>>> from minitorch_compile import logs
>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> double = optimize(lambda x: x * 2, eager)
>>> _ = double(ones(2))
>>> with logs.capture("recompiles") as records:
...     _ = double(ones(3))
>>> print(records[0].text)                                                                # doctest: +ELLIPSIS
Recompiling `<lambda>, <doctest ...:1`; the guard that failed:
    x.sizes == (2,)  (expected (2,), now torch.Size([3]))
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from minitorch_compile import config, logs
from minitorch_compile.dynamo.breaks.break_reasons import REASONS
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.cache.counters import count_break, count_compiled, count_graph
from minitorch_compile.dynamo.cache.entry import Entry
from minitorch_compile.dynamo.errors import GraphBreak, InternalTracerError, RecompileError
from minitorch_compile.dynamo.guards.recompile_advice import what_kept_changing
from minitorch_compile.fx import GraphModule
from minitorch_compile.fx.printer import tabular
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.user_warnings import warn_user
from minitorch_compile.version import __version__

if TYPE_CHECKING:
    from minitorch_compile.dynamo.cache.dispatcher import Dispatcher

RECOMPILES, VERBOSE = logs.artifact("recompiles"), logs.artifact("recompiles_verbose")
GUARDS, GRAPH_BREAKS = logs.artifact("guards"), logs.artifact("graph_breaks")
BYTECODE, SIDE_EFFECTS = logs.artifact("bytecode"), logs.artifact("side_effects")
GRAPH, GRAPH_CODE, GRAPH_SIZES = logs.artifact("graph"), logs.artifact("graph_code"), logs.artifact("graph_sizes")
COMPILE_TIMES = logs.artifact("compile_times")


def log_recompile(dispatcher: Dispatcher, arguments: tuple[Any, ...]) -> None:
    """Why the versions that exist did not do: the latest one's guard, or each one's."""
    if not dispatcher.cache.entries or not (RECOMPILES.is_on or VERBOSE.is_on or config.error_on_recompile):
        return
    failures = [str(failed) for failed in dispatcher.failures(arguments)]
    if config.error_on_recompile and failures:
        raise RecompileError(
            f"`{dispatcher.place}` would be compiled again; the guard that failed:\n    {failures[-1]}"
        )
    if not failures:  # another thread changed it back
        return
    RECOMPILES(f"Recompiling `{dispatcher.place}`; the guard that failed:\n    {failures[-1]}")
    VERBOSE(
        f"Recompiling `{dispatcher.place}`; for each version the guard that failed:\n    " + "\n    ".join(failures)
    )


def warn_of_the_limit(dispatcher: Dispatcher, arguments: tuple[Any, ...]) -> None:
    """Once for each function: what kept changing, and what to do about it. It points at the user's line."""
    cache = dispatcher.cache
    if cache.warned:
        return
    cache.warned = True
    failures = dispatcher.failures(arguments)
    why = what_kept_changing(failures) if failures else "It raised an exception each time."
    message = (
        f"`{dispatcher.place}` was compiled {len(cache.entries)} times, which is config.recompile_limit; new kinds of"
        f" input now run as plain Python.\n{why}\nMTC_LOGS=recompiles shows each of them."
        f"  [{REASONS['recompile-limit'].id}]"
    )
    warn_user(message)


def warn_of_an_error(dispatcher: Dispatcher, error: Exception) -> None:
    """What config.suppress_errors makes of an error of the compiler."""
    warn_user(
        f"`{dispatcher.place}` runs as plain Python, since compiling it failed: {type(error).__name__}: {error}"
        " (config.suppress_errors is on)"
    )


def warn_of_a_mistake(dispatcher: Dispatcher, error: InternalTracerError) -> None:
    """The tracer is wrong somewhere: what to report. It points at the user's line."""
    versions = f"minitorch_compile {__version__}, Python {platform.python_version()} ({platform.system()})"
    message = (
        f"`{dispatcher.place}` runs as plain Python: {error}\n"
        f"Please report these lines with the function and its arguments ({versions})."
    )
    warn_user(message)


def log_entry(dispatcher: Dispatcher, entry: Entry) -> None:
    """All that there is to see of a new version."""
    count_compiled()
    if entry.graph_break is not None:
        _note_break(dispatcher, entry.graph_break)
    if GUARDS.is_on:
        GUARDS(f"Guards of `{dispatcher.place}`:\n{entry.guards!r}")
    if BYTECODE.is_on:
        before = decode(dispatcher.function.__code__)
        BYTECODE(f"Bytecode of `{dispatcher.place}`:\n{before}\nreplaced by:\n{entry.source}")
    if SIDE_EFFECTS.is_on and entry.side_effects:
        SIDE_EFFECTS(f"Side effects of `{dispatcher.place}`:\n{entry.side_effects}")
    COMPILE_TIMES(f"{dispatcher.place}: {entry.seconds:.3f} s, tracing and backend")


def _note_break(dispatcher: Dispatcher, broken: GraphBreak) -> None:
    """A break inside a callee is met again when the callee is compiled itself; it is told once."""
    breaks = dispatcher.region.breaks
    if broken.key not in {known.key for known in breaks}:
        breaks.append(broken)
        count_break(broken)
        GRAPH_BREAKS(str(broken))


def log_graph(module: GraphModule) -> None:
    """A captured graph, before the backend gets it."""
    count_graph(module)
    if GRAPH_CODE.is_on:
        GRAPH_CODE(module.print_readable(print_output=False))
    if GRAPH.is_on:
        GRAPH(tabular(module.graph))
    if GRAPH_SIZES.is_on:
        values = [(node.name, node.meta.get("val")) for node in module.graph.nodes]
        GRAPH_SIZES("\n".join(f"{name}: {list(v.sizes)}" for name, v in values if isinstance(v, TensorBase)))
