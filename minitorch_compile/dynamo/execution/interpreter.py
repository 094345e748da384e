"""The bytecode interpreter: one handler for each instruction, over values it never looks into.

This is the meaning of the instruction set. The same handlers run a program (`concrete.py`) and trace it
(`symbolic.py`); what differs are the answers to the domain hooks (`hooks.py`). A frame is driven one instruction at a
time, can be looked at between two, and can be copied and put back:

>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> class Words(BytecodeInterpreter):           # a domain of strings that write down what happens to them
...     def load_const(self, value):
...         return repr(value)
...     def binary(self, op, a, b):
...         return f"({a} {op} {b})"
>>> frame = Words(decode((lambda x: 2 * x + 1).__code__), {"x": "x"})
>>> frame.step(); frame.step(); frame.stack
['2', 'x']
>>> frame.run()
'((2 * x) + 1)'

How a frame ends: `outcome` is None while it runs, then `Returned(value)`, or `Yielded(value)` for a generator's
frame, which `resume_with` or `throw` continues. An exception that the frame does not handle leaves `step` as it came.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from minitorch_compile.dynamo.bytecode.instructions import NULL, TYPE_INTRINSICS, Instruction, Program
from minitorch_compile.dynamo.execution.hooks import DomainHooks, UnsupportedInstruction, Value


@dataclass(frozen=True, slots=True)
class Returned:
    """The frame is finished."""

    value: Value


@dataclass(frozen=True, slots=True)
class Yielded:
    """The frame waits for `resume_with` or `throw`. `delegating`: inside `yield from`, whose iterator is on top of
    the stack."""

    value: Value
    delegating: bool = False


@dataclass(frozen=True, slots=True)
class FrameState:
    """All that an instruction can change in its frame; values are shared, not copied."""

    index: int
    stack: tuple[Value, ...]
    locals: dict[str, Value]
    handled: Value


class BytecodeInterpreter(DomainHooks):
    """One frame: a program, its stack and slots, and where it is.

    `index`    the next instruction            `current`  the one being executed (or executed last)
    `stack`    values, and NULL                `locals`   slot name -> content (value or cell); an empty slot is absent
    `handled`  the exception that `raise` without argument would raise again, NULL if none
    """

    def __init__(self, program: Program, locals: dict[str, Value]) -> None:
        self.program = program
        self.instructions = program.instructions
        self.locals = locals
        self.stack: list[Value] = []
        self.index = self.current = 0
        self.handled: Value = NULL
        self.outcome: Returned | Yielded | None = None

    # --- driving ------------------------------------------------------------------------------------------------------

    def run(self) -> Value:
        """Step until the frame returns or yields; the value."""
        while self.outcome is None:
            self.step()
        return self.outcome.value

    def step(self) -> None:
        """Execute the instruction at `index`."""
        self.current = self.index
        self.index += 1
        instruction = self.instructions[self.current]
        handler: Callable[[Instruction], None] = getattr(self, instruction.opname)
        try:
            handler(instruction)
        except BaseException as error:
            exception = self.caught(error)
            if exception is None or not self.unwind(exception):
                raise

    def unwind(self, exception: Value) -> bool:
        """Go to the handler that covers the current instruction; False if there is none."""
        entry = self.program.handler_of(self.current)
        if entry is None:
            return False
        del self.stack[entry.depth :]
        if entry.lasti:
            self.push(self.current)
        self.push(exception)
        self.index = entry.target
        return True

    def resume_with(self, value: Value) -> Value:
        """Continue a generator's frame: `value` is what its `yield` gives; the next value it returns or yields."""
        self.push(value)
        self.outcome = None
        return self.run()

    def throw(self, error: BaseException) -> Value:
        """Continue a generator's frame by raising at its `yield`; the next value it returns or yields."""
        exception = self.caught(error)
        self.push(NULL)  # where the sent value would be
        if exception is None or not self.unwind(exception):
            raise error
        self.outcome = None
        return self.run()

    def checkpoint(self) -> FrameState:
        """What `restore` needs to continue from here once more."""
        return FrameState(self.index, tuple(self.stack), dict(self.locals), self.handled)

    def restore(self, state: FrameState) -> None:
        self.index, self.stack = state.index, list(state.stack)
        self.locals, self.handled, self.outcome = dict(state.locals), state.handled, None

    @property
    def instruction(self) -> Instruction:
        """The instruction being executed (or executed last)."""
        return self.instructions[self.current]

    def unsupported(self, hook: str) -> NoReturn:
        asked_by = f"{self.instruction.opname}, line {self.instruction.line}"
        raise UnsupportedInstruction(f"{type(self).__name__} does not interpret {hook} (asked by {asked_by}).")

    # --- stack and slots ----------------------------------------------------------------------------------------------

    def push(self, value: Value) -> None:
        self.stack.append(value)

    def pop(self) -> Value:
        return self.stack.pop()

    def popn(self, count: int) -> list[Value]:
        """The top count values, in the order they were pushed."""
        split = len(self.stack) - count
        values = self.stack[split:]
        del self.stack[split:]
        return values

    def pop_callable(self) -> tuple[Value, list[Value]]:
        """The callable pair below the arguments: the function and its first argument, if the pair carries one."""
        first, second = self.popn(2)
        if first is NULL:
            return second, []
        return first, [] if second is NULL else [second]

    def goto(self, instruction: Instruction) -> None:
        assert instruction.target is not None
        self.index = instruction.target

    def load_slot(self, name: str) -> Value:
        if name not in self.locals:
            self.unbound(name)
        return self.locals[name]

    def store_slot(self, name: str, content: Value) -> None:
        if content is NULL:
            self.locals.pop(name, None)
        else:
            self.locals[name] = content

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

    # --- constants, slots, names --------------------------------------------------------------------------------------

    def LOAD_CONST(self, inst: Instruction) -> None:
        self.push(self.load_const(inst.argval))

    def LOAD_FAST(self, inst: Instruction) -> None:
        self.push(self.load_slot(inst.argval))

    def LOAD_FAST_AND_CLEAR(self, inst: Instruction) -> None:
        self.push(self.locals.pop(inst.argval, NULL))

    def STORE_FAST(self, inst: Instruction) -> None:
        self.store_slot(inst.argval, self.pop())

    def DELETE_FAST(self, inst: Instruction) -> None:
        self.load_slot(inst.argval)
        del self.locals[inst.argval]

    def MAKE_CELL(self, inst: Instruction) -> None:
        self.locals[inst.argval] = self.make_cell(self.locals.get(inst.argval, NULL))

    def LOAD_DEREF(self, inst: Instruction) -> None:
        value = self.load_cell(self.locals[inst.argval])
        if value is NULL:
            self.unbound(inst.argval)
        self.push(value)

    def STORE_DEREF(self, inst: Instruction) -> None:
        self.store_cell(self.locals[inst.argval], self.pop())

    def DELETE_DEREF(self, inst: Instruction) -> None:
        cell = self.locals[inst.argval]
        if self.load_cell(cell) is NULL:
            self.unbound(inst.argval)
        self.store_cell(cell, NULL)

    def LOAD_GLOBAL(self, inst: Instruction) -> None:
        self.push(self.load_global(inst.argval))

    def STORE_GLOBAL(self, inst: Instruction) -> None:
        self.store_global(inst.argval, self.pop())

    def DELETE_GLOBAL(self, inst: Instruction) -> None:
        self.delete_global(inst.argval)

    def LOAD_NAME(self, inst: Instruction) -> None:
        self.push(self.load_name(inst.argval))

    def STORE_NAME(self, inst: Instruction) -> None:
        self.store_name(inst.argval, self.pop())

    def DELETE_NAME(self, inst: Instruction) -> None:
        self.delete_name(inst.argval)

    def LOAD_LOCALS(self, inst: Instruction) -> None:
        self.push(self.load_namespace())

    def LOAD_FROM_DICT_OR_DEREF(self, inst: Instruction) -> None:
        value = self.lookup(self.pop(), inst.argval)
        self.push(value) if value is not NULL else self.LOAD_DEREF(inst)

    def LOAD_FROM_DICT_OR_GLOBALS(self, inst: Instruction) -> None:
        value = self.lookup(self.pop(), inst.argval)
        self.push(value) if value is not NULL else self.LOAD_GLOBAL(inst)

    def TYPE_PARAMETERS(self, inst: Instruction) -> None:
        count, _ = TYPE_INTRINSICS[inst.argval]
        self.push(self.type_parameters(inst.argval, self.popn(count)))

    def SETUP_ANNOTATIONS(self, inst: Instruction) -> None:
        namespace = self.load_namespace()
        if self.lookup(namespace, "__annotations__") is NULL:
            self.store_name("__annotations__", self.build_map([], []))

    def LOAD_BUILD_CLASS(self, inst: Instruction) -> None:
        self.push(self.load_build_class())

    # --- attributes, items, operators ---------------------------------------------------------------------------------

    def LOAD_ATTR(self, inst: Instruction) -> None:
        self.push(self.load_attr(self.pop(), inst.argval))

    def STORE_ATTR(self, inst: Instruction) -> None:
        value, obj = self.popn(2)
        self.store_attr(obj, inst.argval, value)

    def DELETE_ATTR(self, inst: Instruction) -> None:
        self.delete_attr(self.pop(), inst.argval)

    def LOAD_SPECIAL(self, inst: Instruction) -> None:
        self.push(self.load_special(self.pop(), inst.argval))
        self.push(NULL)

    def BINARY_SUBSCR(self, inst: Instruction) -> None:
        obj, key = self.popn(2)
        self.push(self.getitem(obj, key))

    def STORE_SUBSCR(self, inst: Instruction) -> None:
        value, obj, key = self.popn(3)
        self.setitem(obj, key, value)

    def DELETE_SUBSCR(self, inst: Instruction) -> None:
        obj, key = self.popn(2)
        self.delitem(obj, key)

    def UNARY_OP(self, inst: Instruction) -> None:
        self.push(self.unary(inst.argval, self.pop()))

    def BINARY_OP(self, inst: Instruction) -> None:
        a, b = self.popn(2)
        inplace = inst.argval.endswith("=")
        self.push(self.inplace(inst.argval[:-1], a, b) if inplace else self.binary(inst.argval, a, b))

    def COMPARE_OP(self, inst: Instruction) -> None:
        a, b = self.popn(2)
        self.push(self.compare(inst.argval, a, b))

    def IS_OP(self, inst: Instruction) -> None:
        a, b = self.popn(2)
        result = self.is_(a, b)
        self.push(self.unary("not", result) if inst.argval else result)

    def CONTAINS_OP(self, inst: Instruction) -> None:
        item, container = self.popn(2)
        result = self.contains(item, container)
        self.push(self.unary("not", result) if inst.argval else result)

    # --- building and taking apart ------------------------------------------------------------------------------------

    def BUILD_TUPLE(self, inst: Instruction) -> None:
        self.push(self.build("tuple", self.popn(inst.argval)))

    def BUILD_LIST(self, inst: Instruction) -> None:
        self.push(self.build("list", self.popn(inst.argval)))

    def BUILD_SET(self, inst: Instruction) -> None:
        self.push(self.build("set", self.popn(inst.argval)))

    def BUILD_SLICE(self, inst: Instruction) -> None:
        self.push(self.build("slice", self.popn(inst.argval)))

    def BUILD_MAP(self, inst: Instruction) -> None:
        items = self.popn(2 * inst.argval)
        self.push(self.build_map(items[::2], items[1::2]))

    def BUILD_CONST_KEY_MAP(self, inst: Instruction) -> None:
        keys = [self.load_const(key) for key in inst.argval]
        self.push(self.build_map(keys, self.popn(len(keys))))

    def BUILD_STRING(self, inst: Instruction) -> None:
        self.push(self.build_string(self.popn(inst.argval)))

    def LIST_APPEND(self, inst: Instruction) -> None:
        item = self.pop()
        self.list_append(self.stack[-inst.argval], item)

    def LIST_EXTEND(self, inst: Instruction) -> None:
        iterable = self.pop()
        self.list_extend(self.stack[-inst.argval], iterable)

    def LIST_TO_TUPLE(self, inst: Instruction) -> None:
        self.push(self.list_to_tuple(self.pop()))

    def SET_ADD(self, inst: Instruction) -> None:
        item = self.pop()
        self.set_add(self.stack[-inst.argval], item)

    def SET_UPDATE(self, inst: Instruction) -> None:
        iterable = self.pop()
        self.set_update(self.stack[-inst.argval], iterable)

    def MAP_ADD(self, inst: Instruction) -> None:
        key, value = self.popn(2)
        self.map_add(self.stack[-inst.argval], key, value)

    def DICT_UPDATE(self, inst: Instruction) -> None:
        mapping = self.pop()
        self.dict_update(self.stack[-inst.argval], mapping)

    def DICT_MERGE(self, inst: Instruction) -> None:
        mapping = self.pop()
        pair = self.stack[
            -inst.argval - 3 : -inst.argval - 1
        ]  # below the dict: the positional arguments, then the pair
        function = next(half for half in pair if half is not NULL)
        self.dict_merge(self.stack[-inst.argval], mapping, function)

    def UNPACK_SEQUENCE(self, inst: Instruction) -> None:
        self.stack.extend(reversed(self.unpack(self.pop(), inst.argval)))

    def UNPACK_EX(self, inst: Instruction) -> None:
        self.stack.extend(reversed(self.unpack_ex(self.pop(), *inst.argval)))

    def CONVERT_VALUE(self, inst: Instruction) -> None:
        self.push(self.convert_value(self.pop(), inst.argval))

    def FORMAT_VALUE(self, inst: Instruction) -> None:
        spec = self.pop() if inst.argval else NULL
        self.push(self.format_value(self.pop(), spec))

    # --- stack and jumps ----------------------------------------------------------------------------------------------

    def POP_TOP(self, inst: Instruction) -> None:
        self.pop()

    def COPY(self, inst: Instruction) -> None:
        self.push(self.stack[-inst.argval])

    def SWAP(self, inst: Instruction) -> None:
        stack, depth = self.stack, -inst.argval
        stack[-1], stack[depth] = stack[depth], stack[-1]

    def PUSH_NULL(self, inst: Instruction) -> None:
        self.push(NULL)

    def JUMP(self, inst: Instruction) -> None:
        self.goto(inst)

    def POP_JUMP_IF_TRUE(self, inst: Instruction) -> None:
        if self.truth(self.pop()):
            self.goto(inst)

    def POP_JUMP_IF_FALSE(self, inst: Instruction) -> None:
        if not self.truth(self.pop()):
            self.goto(inst)

    def POP_JUMP_IF_NONE(self, inst: Instruction) -> None:
        if self.is_none(self.pop()):
            self.goto(inst)

    def POP_JUMP_IF_NOT_NONE(self, inst: Instruction) -> None:
        if not self.is_none(self.pop()):
            self.goto(inst)

    def GET_ITER(self, inst: Instruction) -> None:
        self.push(self.get_iter(self.pop()))

    def FOR_ITER(self, inst: Instruction) -> None:
        more, item = self.next_item(self.stack[-1])
        if more:
            self.push(item)
        else:
            self.pop()
            self.goto(inst)

    # --- calls and functions ------------------------------------------------------------------------------------------

    def CALL(self, inst: Instruction) -> None:
        count, names = inst.argval
        values = self.popn(count)
        function, first = self.pop_callable()
        split = count - len(names)
        self.push(self.call(function, first + values[:split], dict(zip(names, values[split:], strict=True))))

    def CALL_FUNCTION_EX(self, inst: Instruction) -> None:
        kwargs = self.pop() if inst.argval else NULL
        args = self.pop()
        function, _ = self.pop_callable()
        self.push(self.call_unpacked(function, args, kwargs))

    def MAKE_FUNCTION(self, inst: Instruction) -> None:
        code = self.pop()
        attributes = dict(zip(inst.argval, self.popn(len(inst.argval)), strict=True))
        self.push(self.make_function(code, attributes))

    def RETURN_VALUE(self, inst: Instruction) -> None:
        self.outcome = Returned(self.pop())

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

    # --- exceptions and with ------------------------------------------------------------------------------------------

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

    def CHECK_EG_MATCH(self, inst: Instruction) -> None:
        exception, classes = self.popn(2)
        rest, matched = self.exception_group_split(exception, classes)
        if not self.is_none(matched):
            self.handled = matched  # what a bare `raise` in this clause raises
        self.stack.extend((rest, matched))

    def PREP_RERAISE_STAR(self, inst: Instruction) -> None:
        original, raised = self.popn(2)
        self.push(self.exception_group_join(original, raised))

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
