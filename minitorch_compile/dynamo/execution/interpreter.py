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

Here are the instructions that nearly every function has. Others come with the hooks that they ask, a file for each
family: `building_instructions.py`, `raising_instructions.py`, `suspending_instructions.py`, `rare_instructions.py`.
"""

from __future__ import annotations

from minitorch_compile.dynamo.bytecode.instructions import NULL, Instruction
from minitorch_compile.dynamo.execution.frame import Returned
from minitorch_compile.dynamo.execution.rare_instructions import RareInstructions
from minitorch_compile.dynamo.execution.suspending_instructions import SuspendingInstructions


class BytecodeInterpreter(RareInstructions, SuspendingInstructions):
    """One frame: a program, its stack and slots, where it is (`frame.py`), and what each instruction does to it."""

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

    def LOAD_FROM_DICT_OR_DEREF(self, inst: Instruction) -> None:
        value = self.lookup(self.pop(), inst.argval)
        self.push(value) if value is not NULL else self.LOAD_DEREF(inst)

    def LOAD_FROM_DICT_OR_GLOBALS(self, inst: Instruction) -> None:
        value = self.lookup(self.pop(), inst.argval)
        self.push(value) if value is not NULL else self.LOAD_GLOBAL(inst)

    # --- attributes, items, operators ---------------------------------------------------------------------------------

    def LOAD_ATTR(self, inst: Instruction) -> None:
        self.push(self.load_attr(self.pop(), inst.argval))

    def STORE_ATTR(self, inst: Instruction) -> None:
        value, obj = self.popn(2)
        self.store_attr(obj, inst.argval, value)

    def DELETE_ATTR(self, inst: Instruction) -> None:
        self.delete_attr(self.pop(), inst.argval)

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
