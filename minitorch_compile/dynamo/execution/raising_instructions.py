"""Instructions of `raise`, `try` and `with`.

An exception goes to its handler in `frame.py`. The handler's code begins with PUSH_EXC_INFO, which makes it the one
that is being handled, and ends with POP_EXCEPT.

>>> from minitorch_compile.dynamo.execution.concrete import interpret
>>> def first(items):
...     try:
...         return items[0]
...     except IndexError as error:
...         return str(error)
>>> interpret(first, [])
'list index out of range'
"""

from __future__ import annotations

from typing import NoReturn

from minitorch_compile.dynamo.bytecode.instructions import NULL, Instruction
from minitorch_compile.dynamo.execution.frame import InterpretedFrame
from minitorch_compile.dynamo.execution.hooks import Value


class RaisingInstructions(InterpretedFrame):
    """The handlers, and the hooks that they ask."""

    # --- the questions ------------------------------------------------------------------------------------------------

    def raise_(self, exception: Value, cause: Value) -> NoReturn:
        """The statement `raise`. exception NULL: raise `self.handled` again; it may be a class; cause NULL: no
        `from`."""
        self.unsupported("raise_")

    def reraise(self, exception: Value) -> NoReturn:
        """Raise an exception that is under way, unchanged (end of an `except` that did not match, of `finally`)."""
        self.unsupported("reraise")

    def exception_matches(self, exception: Value, classes: Value) -> Value:
        """The test of `except classes:` as a value."""
        self.unsupported("exception_matches")

    def exception_info(self, exception: Value) -> list[Value]:
        """Its class, itself, its traceback: the arguments of `__exit__`."""
        self.unsupported("exception_info")

    def load_special(self, obj: Value, name: str) -> Value:
        """`__enter__` or `__exit__` looked up on the type and bound; a missing one is a TypeError."""
        self.unsupported("load_special")

    # --- the instructions ---------------------------------------------------------------------------------------------

    def RAISE_VARARGS(self, inst: Instruction) -> None:
        exception, cause = [*self.popn(inst.argval), NULL, NULL][:2]
        self.raise_(exception, cause)

    def RERAISE(self, inst: Instruction) -> None:
        self.reraise(self.pop())  # the raising index below it serves only tracebacks

    def PUSH_EXC_INFO(self, inst: Instruction) -> None:
        exception = self.pop()
        self.push(self.handled)
        self.push(exception)
        self.handled = exception

    def POP_EXCEPT(self, inst: Instruction) -> None:
        self.handled = self.pop()

    def CHECK_EXC_MATCH(self, inst: Instruction) -> None:
        classes = self.pop()
        self.push(self.exception_matches(self.stack[-1], classes))

    def BEFORE_WITH(self, inst: Instruction) -> None:
        self._before_with("__enter__", "__exit__")

    def BEFORE_ASYNC_WITH(self, inst: Instruction) -> None:
        self._before_with("__aenter__", "__aexit__")

    def _before_with(self, enter_name: str, exit_name: str) -> None:
        manager = self.pop()
        enter = self.load_special(manager, enter_name)
        self.push(self.load_special(manager, exit_name))
        self.push(self.call(enter, [], {}))

    def WITH_EXCEPT_START(self, inst: Instruction) -> None:
        exit_method = self.stack[-3 - inst.argval]
        self.push(self.call(exit_method, self.exception_info(self.stack[-1]), {}))

    def LOAD_SPECIAL(self, inst: Instruction) -> None:
        self.push(self.load_special(self.pop(), inst.argval))
        self.push(NULL)
