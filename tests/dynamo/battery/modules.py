"""Imports, builtins that look at the frame, exec and eval."""

# ruff: noqa: F401 (odd code is the point here)


def import_forms():
    import collections.abc
    import math
    import os.path as path
    from functools import partial
    from functools import reduce as fold

    return (
        math.floor(2.5),
        path.basename("a/b"),
        fold(max, [1, 3, 2]),
        partial(min, 1)(0),
        collections.abc.Sized.__name__,
    )


def import_of_a_submodule_by_from():
    from importlib import util
    from xml import dom

    return util.__name__, dom.__name__


def import_inside_a_try():
    try:
        import a_module_that_does_not_exist
    except ImportError as error:
        return error.name


def eval_and_exec():
    x = 3
    namespace = {}
    exec("y = 4\ndef f(a): return a + y", namespace)
    return eval("x + 1"), namespace["f"](1), eval("a * 2", {"a": 5}), x


def frame_builtins():
    a = 1
    b = [2]
    return sorted(locals()), sorted(vars()), "frame_builtins" in globals(), dir()


def builtins_of_all_kinds():
    return (
        isinstance(1, (int, str)),
        type(1).__name__,
        list(zip("ab", [1, 2], strict=True)),
        dict(enumerate("ab")),
        list(reversed([1, 2])),
        divmod(7, 2),
        any(x > 2 for x in (1, 3)),
        all([]),
        hasattr("", "upper"),
        getattr(5, "nope", "default"),
        callable(len),
        repr(slice(1, 2)),
        sorted({"b": 1, "a": 2}),
        int("12") + round(2.6),
    )


def iter_with_a_sentinel():
    values = iter([1, 2, 0, 3])
    return list(iter(lambda: next(values), 0))


def class_by_calling_type():
    C = type("C", (), {"f": lambda self: 5})
    return C().f(), C.__name__


def module_attributes():
    import types

    m = types.ModuleType("m")
    m.x = 1
    m.x += 1
    return m.x, m.__name__


def error_import_name():
    from math import no_such_name


def error_import_module():
    import no_such_module_anywhere


def exec_and_eval_of_code():
    names = {"n": 3}
    exec("m = n + 1\ndef f(): return m * 2", names)
    local = {}
    exec(compile("k = 5; del n", "code", "exec"), {"n": 1}, n := {"n": 2})
    exec("k = len(globals())", {}, local)
    return names["f"](), eval("  n * 2", names), n, local, "__builtins__" in names, eval("sum(x for x in (1, 2))")


def exec_single_prints():
    names = {}
    for line in ("x = 3", "x", "x + 1; None", "for i in range(2): i"):
        exec(compile(line, "prompt", "single"), names)
    return names["_"] if "_" in names else sorted(names)[1:]


def error_star_import_of_what_is_listed_wrongly():
    import sys
    import types

    sys.modules["listed_wrongly"] = module = types.ModuleType("listed_wrongly")
    module.__all__ = ["absent"]
    try:
        exec("from listed_wrongly import *", {})
    finally:
        del sys.modules["listed_wrongly"]


def star_import_of_nothing():
    import sys
    import types

    sys.modules["lists_nothing"] = module = types.ModuleType("lists_nothing")
    module.hidden, module.__all__ = 1, ()
    names = {}
    exec("from lists_nothing import *", names)
    del sys.modules["lists_nothing"]
    return sorted(names)
