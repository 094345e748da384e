"""The options of the compile stack: one annotated line each, checked when set.

An option is an ordinary module attribute, so reading one costs a dictionary lookup. Setting one checks name and type:

>>> from minitorch_compile import config
>>> config.drawing_node_limit
150
>>> with config.patch(drawing_node_limit=10):
...     config.drawing_node_limit
10
>>> config.drawing_node_limt = 10
Traceback (most recent call last):
AttributeError: config: no option named 'drawing_node_limt'. Did you mean 'drawing_node_limit'? The options are: ...

To add one, write `name: Annotated[type, "what it does"] = default` in the list below; `describe()` shows it then.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from minitorch_compile.environment_variables import EAGER_KERNELS
from minitorch_compile.user_warnings import warn_user

drawing_node_limit: Annotated[
    int, "A graph with more nodes than this is drawn summarised, one box per source line."
] = 150
generated_source_folder: Annotated[
    str | None,
    "Also write generated Python to files in this folder, for debuggers that need a file; None: memory only.",
] = None

automatic_dynamic_shapes: Annotated[
    bool, "With compile(dynamic=None), sizes that changed between two compilations are unknown in the next version."
] = True

specialize_float: Annotated[
    bool, "A function is compiled for the value of each float; False: those that changed are arguments of the graph."
] = False

capture_scalar_outputs: Annotated[
    bool, "`.item()`, `int(x)` of a tensor are numbers in the graph; False: it breaks there, unless fullgraph=True."
] = False

capture_dynamic_output_shape_ops: Annotated[
    bool, "nonzero, x[mask], unique, whose sizes data decide, are in it; False: it breaks, unless fullgraph=True."
] = False

recompile_limit: Annotated[
    int, "A function compiled for this many kinds of input runs as plain Python for further ones."
] = 8

error_on_recompile: Annotated[
    bool, "Compiling a function for another kind of input is an error that names the guard which failed."
] = False

suppress_errors: Annotated[
    bool, "Where the compiler or a backend fails, the function runs as plain Python, with a warning."
] = False

frame_hook: Annotated[
    bool, "Functions that plain frames call are captured by the frame hook, where it works; False: by rewriting those."
] = True

partitioner: Annotated[
    object,
    "What is saved for the backward pass: 'min_cut' (on a GPU it saves what 'min_traffic' does), 'min_traffic',"
    " 'default', or a function JointGraph -> Partition.",
] = "min_cut"

disabled_passes: Annotated[tuple, "Names of graph passes to leave out; aot.passes.describe() lists them."] = ()

freezing: Annotated[
    bool, "Under no_grad, what depends on parameters alone is computed once, and again when one has changed."
] = False

verify_passes: Annotated[
    bool, "Every graph pass is checked: the graph before and after it is run on made-up arguments and compared."
] = False

emulate_precision_casts: Annotated[
    bool, "Kernels round float16 and bfloat16 after each operation, as eager execution does, not only where they store."
] = False

compile_threads: Annotated[
    int | None, "Processes that compile the kernels of a large graph; None: MTC_COMPILE_THREADS, else the processors."
] = None

random_stream: Annotated[
    Literal["philox", "mt19937"],
    "Random numbers: 'philox', which compiled programs draw as well, or 'mt19937', PyTorch's on a CPU. At the start:"
    " MTC_RANDOM_STREAM.",
] = "philox"

eager_kernels: Annotated[
    Literal["on", "on_disk", "off"],
    "Large eager operations on the CPU run on kernels, if the library of them is on disk; 'on': else it is written"
    " in the background, for later processes; 'off': NumPy computes. At the start: MTC_EAGER_KERNELS.",
] = EAGER_KERNELS.value()

constant_bytes: Annotated[int, "Constants of at most this many bytes are computed while compiling."] = 65536

joint_custom_pre_pass: Annotated[
    object, "A function Graph -> Graph (or None: it changed the graph itself), run before all other graph passes."
] = None

joint_custom_post_pass: Annotated[object, "The same, behind all other graph passes."] = None

post_grad_custom_pre_pass: Annotated[
    object, "The same, on the forward and on the backward graph, each before it is compiled to kernels."
] = None

post_grad_custom_post_pass: Annotated[object, "The same, behind post_grad_custom_pre_pass."] = None


class Option:
    """What is known about one option: its name, type (or choices), default and one line of explanation."""

    def __init__(self, name: str, annotation: Any, default: Any) -> None:
        self.name = name
        self.type, self.text = get_args(annotation)
        self.default = default
        self.check(default)

    def check(self, value: Any) -> None:
        """Raise TypeError or ValueError unless `value` may be stored in this option."""
        if get_origin(self.type) is Literal:
            if value not in get_args(self.type):
                raise ValueError(f"config.{self.name}: expected one of {list(get_args(self.type))}, but got {value!r}.")
        elif not self._is_instance(value):
            wanted = getattr(self.type, "__name__", str(self.type))
            raise TypeError(f"config.{self.name}: expected {wanted}, but got {value!r} of type {type(value).__name__}.")

    def _is_instance(self, value: Any) -> bool:
        if isinstance(value, bool) and self.type is not bool:  # True is an int to Python, but not to a reader
            return bool in get_args(self.type)
        return isinstance(value, self.type)


def options() -> dict[str, Option]:
    """Every option, by name."""
    return dict(_options)


def values() -> list[Any]:
    """The values that they have now, in the same order."""
    return [getattr(sys.modules[__name__], name) for name in _options]


def describe() -> str:
    """A table of all options: name, current value, default, explanation."""
    module = sys.modules[__name__]
    rows = [(o.name, repr(getattr(module, o.name)), repr(o.default), o.text) for o in _options.values()]
    rows.insert(0, ("option", "value", "default", "what it does"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join("  ".join([*map(str.ljust, row, widths), row[3]]) for row in rows)


@contextmanager
def _patched(changes: Mapping[str, Any]) -> Iterator[None]:
    module = sys.modules[__name__]
    before = {name: getattr(module, name) for name in changes}
    try:
        for name, value in changes.items():
            setattr(module, name, value)
        yield
    finally:
        vars(module).update(before)


def patch(changes: Mapping[str, Any] | str | None = None, value: Any = None, /, **named: Any) -> Any:
    """Change options for a `with` block, or for the calls of a decorated function.

    Three spellings, as in PyTorch: `patch(name=value)`, `patch("name", value)` and `patch({"name": value})`.

    >>> @patch("drawing_node_limit", 3)
    ... def limit():
    ...     from minitorch_compile import config
    ...     return config.drawing_node_limit
    >>> limit()
    3
    """
    if isinstance(changes, str):
        changes = {changes: value}
    merged = {**(changes or {}), **named}
    for name, new in merged.items():
        _option(name).check(new)
    return _patched(merged)


def _option(name: str) -> Option:
    if name not in _options:
        close = difflib.get_close_matches(name, _options, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise AttributeError(f"config: no option named {name!r}.{hint} The options are: {', '.join(sorted(_options))}.")
    return _options[name]


class _CheckedModule(ModuleType):
    """A module whose unknown names are errors that list the known ones, and whose assignments are checked."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # the import system and inspect probe for these
            raise AttributeError(name)
        return _option(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("__"):
            _option(name).check(value)
        super().__setattr__(name, value)


def _declared() -> dict[str, Option]:
    module = sys.modules[__name__]
    hints = get_type_hints(module, include_extras=True)
    return {name: Option(name, hint, getattr(module, name)) for name, hint in hints.items()}


def _take_from_environment(name: str) -> None:
    """The option starts as its environment variable says; a wrong value there is named, and not used."""
    variable = f"MTC_{name.upper()}"
    text = os.environ.get(variable)
    if not text:
        return
    try:
        _options[name].check(text)
    except ValueError as error:
        warn_user(f"{variable} is not used. {error}")
    else:
        globals()[name] = text


_options = _declared()
_take_from_environment("random_stream")
sys.modules[__name__].__class__ = _CheckedModule  # Python's documented way to customise attribute access of a module
