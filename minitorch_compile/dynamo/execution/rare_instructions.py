"""Instructions that most functions have none of: of generators and coroutines, exception groups, `match`, imports, and
of the bodies of classes and modules, whose names live in a dict.

>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> def count():
...     yield 1
>>> names = [inst.opname for inst in decode(count.__code__).instructions]
>>> [name for name in names if name in vars(RareInstructions)][:2]
['RETURN_GENERATOR', 'YIELD_VALUE']
"""

from __future__ import annotations

from minitorch_compile.dynamo.bytecode.instructions import NULL, TYPE_INTRINSICS, Instruction
from minitorch_compile.dynamo.execution.frame import InterpretedFrame, Returned, Yielded
from minitorch_compile.dynamo.execution.hooks import Value


class RareInstructions(InterpretedFrame):
    """The handlers."""

    # --- names of class bodies and modules ----------------------------------------------------------------------------

    def LOAD_NAME(self, inst: Instruction) -> None:
        self.push(self.load_name(inst.argval))

    def STORE_NAME(self, inst: Instruction) -> None:
        self.store_name(inst.argval, self.pop())

    def DELETE_NAME(self, inst: Instruction) -> None:
        self.delete_name(inst.argval)

    def LOAD_LOCALS(self, inst: Instruction) -> None:
        self.push(self.load_namespace())

    def TYPE_PARAMETERS(self, inst: Instruction) -> None:
        count, _ = TYPE_INTRINSICS[inst.argval]
        self.push(self.type_parameters(inst.argval, self.popn(count)))

    def SETUP_ANNOTATIONS(self, inst: Instruction) -> None:
        namespace = self.load_namespace()
        if self.lookup(namespace, "__annotations__") is NULL:
            self.store_name("__annotations__", self.build_map([], []))

    def LOAD_BUILD_CLASS(self, inst: Instruction) -> None:
        self.push(self.load_build_class())

    def super_arguments(self) -> list[Value]:
        """What `super()` without arguments stands for: the class being defined and the method's first argument."""
        name = self.program.code.co_varnames[0]
        first = self.load_slot(name)
        is_cell = name in self.program.code.co_cellvars
        return [self.load_cell(self.locals["__class__"]), self.load_cell(first) if is_cell else first]

    def super_problem(self) -> str:
        """Why `super()` without arguments means nothing here; empty if it does."""
        code = self.program.code
        if not code.co_argcount:
            return "super(): no arguments"
        if "__class__" not in code.co_freevars:
            return "super(): __class__ cell not found"
        name = code.co_varnames[0]
        content = self.locals.get(name, NULL)
        if content is NULL or name in code.co_cellvars and self.load_cell(content) is NULL:
            return "super(): arg[0] deleted"
        return "super(): empty __class__ cell" if self.load_cell(self.locals["__class__"]) is NULL else ""

    # --- generators ---------------------------------------------------------------------------------------------------

    def RETURN_GENERATOR(self, inst: Instruction) -> None:
        self.outcome = Returned(self.make_generator())

    def YIELD_VALUE(self, inst: Instruction) -> None:
        self.outcome = Yielded(self.pop(), inst.argval)

    def GET_YIELD_FROM_ITER(self, inst: Instruction) -> None:
        self.push(self.get_yield_from_iter(self.pop()))

    def SEND(self, inst: Instruction) -> None:
        value = self.pop()
        more, result = self.send(self.stack[-1], value)
        if not more:
            self.pop()
            self.goto(inst)
        self.push(result)

    def END_SEND(self, inst: Instruction) -> None:
        del self.stack[-2]

    def CLEANUP_THROW(self, inst: Instruction) -> None:
        _, _, exception = self.popn(3)
        finished, value = self.stop_iteration_value(exception)
        if not finished:
            self.reraise(exception)
        self.push(self.load_const(None))
        self.push(value)

    def STOP_ITERATION_ERROR(self, inst: Instruction) -> None:
        self.push(self.stop_iteration_error(self.pop()))

    def GET_AWAITABLE(self, inst: Instruction) -> None:
        self.push(self.get_awaitable(self.pop(), inst.argval))

    def GET_AITER(self, inst: Instruction) -> None:
        self.push(self.get_aiter(self.pop()))

    def GET_ANEXT(self, inst: Instruction) -> None:
        self.push(self.get_anext(self.stack[-1]))

    def END_ASYNC_FOR(self, inst: Instruction) -> None:
        _, exception = self.popn(2)
        if not self.ends_async_for(exception):
            self.reraise(exception)

    # --- exception groups ---------------------------------------------------------------------------------------------

    def CHECK_EG_MATCH(self, inst: Instruction) -> None:
        exception, classes = self.popn(2)
        rest, matched = self.exception_group_split(exception, classes)
        if not self.is_none(matched):
            self.handled = matched  # what a bare `raise` in this clause raises
        self.stack.extend((rest, matched))

    def PREP_RERAISE_STAR(self, inst: Instruction) -> None:
        original, raised = self.popn(2)
        self.push(self.exception_group_join(original, raised))

    # --- match and import ---------------------------------------------------------------------------------------------

    def GET_LEN(self, inst: Instruction) -> None:
        self.push(self.get_len(self.stack[-1]))

    def MATCH_MAPPING(self, inst: Instruction) -> None:
        self.push(self.match_mapping(self.stack[-1]))

    def MATCH_SEQUENCE(self, inst: Instruction) -> None:
        self.push(self.match_sequence(self.stack[-1]))

    def MATCH_KEYS(self, inst: Instruction) -> None:
        self.push(self.match_keys(self.stack[-2], self.stack[-1]))

    def MATCH_CLASS(self, inst: Instruction) -> None:
        subject, cls, names = self.popn(3)
        self.push(self.match_class(subject, cls, inst.argval, names))

    def IMPORT_NAME(self, inst: Instruction) -> None:
        level, fromlist = self.popn(2)
        self.push(self.import_name(inst.argval, fromlist, level))

    def IMPORT_FROM(self, inst: Instruction) -> None:
        self.push(self.import_from(self.stack[-1], inst.argval))

    def IMPORT_STAR(self, inst: Instruction) -> None:
        self.import_star(self.pop())

    def PRINT_EXPR(self, inst: Instruction) -> None:
        self.print_expr(self.pop())
