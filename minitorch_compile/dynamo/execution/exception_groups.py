"""What `except*` does with exception groups, on plain values.

>>> group = ExceptionGroup("two", [ValueError(1), KeyError(2)])
>>> split_group(group, ValueError)
(ExceptionGroup('two', [KeyError(2)]), ExceptionGroup('two', [ValueError(1)]))
>>> split_group(ValueError(3), ValueError)
(None, ExceptionGroup('', (ValueError(3),)))
>>> join_raised(group, [None, split_group(group, ValueError)[0]])
ExceptionGroup('two', [KeyError(2)])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

CANNOT_CATCH = "catching classes that do not inherit from BaseException is not allowed"
CANNOT_CATCH_GROUP = "catching ExceptionGroup with except* is not allowed. Use except instead."


def exception_classes(classes: Any) -> tuple[type[BaseException], ...]:
    """What stands behind `except`, as a tuple of classes; a TypeError if it is anything else."""
    listed = classes if isinstance(classes, tuple) else (classes,)
    if not all(isinstance(cls, type) and issubclass(cls, BaseException) for cls in listed):
        raise TypeError(CANNOT_CATCH)
    return listed


def matches(error: BaseException, classes: Any) -> bool:
    """Whether `except classes:` catches the error. Only true base classes count, not `__subclasscheck__`."""
    return any(cls in type(error).__mro__ for cls in exception_classes(classes))


def split_group(error: BaseException, classes: Any) -> tuple[BaseException | None, BaseException | None]:
    """(what goes on, what this `except*` handles). A plain exception that matches is handled in a group of its own."""
    listed = exception_classes(classes)
    if any(issubclass(cls, BaseExceptionGroup) for cls in listed):
        raise TypeError(CANNOT_CATCH_GROUP)
    if matches(error, listed):
        return None, error if isinstance(error, BaseExceptionGroup) else _group_of((error,))
    if isinstance(error, BaseExceptionGroup):
        handled, rest = error.split(listed)
        return rest, handled
    return error, None


def join_raised(original: BaseException, results: list[BaseException | None]) -> BaseException | None:
    """What to raise after all `except*` clauses: their new exceptions, with the unhandled rest of the original merged
    back."""
    raised = [error for error in results if error is not None]
    if not raised:
        return None
    if not isinstance(original, BaseExceptionGroup):
        return raised[0]
    new = [error for error in raised if not _is_part_of(error, original)]
    rest = _projection(original, [error for error in raised if _is_part_of(error, original)])
    if not new:
        return rest
    every = new if rest is None else [*new, rest]
    return every[0] if len(every) == 1 else _group_of(every)


def _group_of(errors: Sequence[BaseException]) -> BaseException:
    return BaseExceptionGroup("", errors)


def _is_part_of(error: BaseException, original: BaseException) -> bool:
    """A part that `split` made shares the original's history; a new exception has its own."""
    return isinstance(error, BaseExceptionGroup) and all(
        getattr(error, name, None) is getattr(original, name, None)
        for name in ("__notes__", "__traceback__", "__cause__", "__context__")
    )


def _projection(group: BaseExceptionGroup[Any], parts: list[BaseException]) -> BaseException | None:
    """The group, cut down to the leaves that are in the parts."""
    leaves = {id(leaf) for part in parts for leaf in _leaves(part)}
    return group.subgroup(lambda error: id(error) in leaves) if leaves else None


def _leaves(error: BaseException) -> list[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for part in error.exceptions for leaf in _leaves(part)]
