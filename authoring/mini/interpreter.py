"""Lesson 03. A bytecode interpreter: one handler an instruction, and one way to do anything at all: `apply`.

>>> def loop(n, *rest, scale=2):
...     return [scale * i for i in range(n) if i % 2] + list(rest)
>>> run(loop, 6, 7, scale=10)
[10, 30, 50, 7]
>>> [inst.op for inst in decode((lambda x: x + 1).__code__)]
['LOAD_FAST', 'LOAD_CONST', 'BINARY_OP', 'RETURN_VALUE']
"""

import builtins
import dis
import inspect
import operator
import sys
import types
from typing import NamedTuple

NULL = type("NULL", (), {"__repr__": lambda self: "NULL"})()  # the empty half of a callable's two places
END = object()  # of an iterator


class Instruction(NamedTuple):
    op: str
    arg: object  # a name, a constant, a count; for a jump, the index of its target
    line: int


class Items:
    """The iterator of a list, tuple or range: it can be copied, and put back."""

    def __init__(self, sequence, at=0):
        self.sequence, self.at = sequence, at

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= len(self.sequence):
            raise StopIteration
        self.at += 1
        return self.sequence[self.at - 1]


class Unsupported(NotImplementedError):
    """A program that `mini` does not run: the message names what it has met."""


# --- decoding: four Pythons, one set of instructions ------------------------------------------------------------------

NOTHING = {"CACHE", "RESUME", "NOP", "PRECALL", "EXTENDED_ARG", "COPY_FREE_VARS", "TO_BOOL", "NOT_TAKEN", "KW_NAMES"}
SAME = {
    "LOAD_FAST_CHECK": "LOAD_FAST", "LOAD_FAST_BORROW": "LOAD_FAST", "LOAD_SMALL_INT": "LOAD_CONST", "POP_ITER": "POP_TOP",
    "JUMP_FORWARD": "JUMP", "JUMP_BACKWARD": "JUMP", "JUMP_BACKWARD_NO_INTERRUPT": "JUMP", "LOAD_METHOD": "LOAD_ATTR",
}  # fmt: skip


def decode(code):
    """The instructions of a code object, with jumps to indices and combined instructions taken apart."""
    result, index_of, names = [], {}, ()
    for inst in dis.get_instructions(code):
        index_of[inst.offset] = len(result)
        if inst.opname == "KW_NAMES":
            names = code.co_consts[inst.arg]
        for op, arg in parts(inst, names):
            if not hasattr(Frame, op):
                raise Unsupported(f"the instruction {inst.opname} in {code.co_name}, line {inst.positions.lineno}")
            result.append(Instruction(op, arg, inst.positions.lineno))
            names = () if op == "CALL" else names
    return [inst._replace(arg=index_of[inst.arg]) if "JUMP" in inst.op or inst.op == "FOR_ITER" else inst for inst in result]


def parts(inst, names):
    op = SAME.get(inst.opname, inst.opname).replace("_FORWARD", "").replace("_BACKWARD", "")
    if op in NOTHING or (op == "END_FOR" and sys.version_info >= (3, 13)):
        return []  # from 3.13 on a POP_TOP follows
    if op == "END_FOR":
        return [("POP_TOP", None)]
    if op == "RETURN_CONST":
        return [("LOAD_CONST", inst.argval), ("RETURN_VALUE", None)]
    if op.count("_FAST") == 2 or op.count("BORROW") == 2:
        first, second = op.replace("_BORROW", "").split("_FAST", 1)
        return [(first + "_FAST", inst.argval[0]), (second.lstrip("_"), inst.argval[1])]
    if op == "CALL":
        return [(op, (inst.arg, names))]
    if op == "LOAD_GLOBAL" and inst.arg & 1:
        both = [("LOAD_GLOBAL", inst.argval), ("PUSH_NULL", None)]
        return both if sys.version_info >= (3, 13) else both[::-1]
    if op == "LOAD_ATTR" and (inst.opname == "LOAD_METHOD" or (sys.version_info >= (3, 12) and inst.arg & 1)):
        return [("LOAD_ATTR", inst.argval), ("PUSH_NULL", None)]  # the method is bound at once
    if op == "BINARY_OP":
        return [(op, inst.argrepr)]
    return [(op, inst.argval)]


# --- the frame --------------------------------------------------------------------------------------------------------

BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "[]": operator.getitem,
}  # fmt: skip
BINARY |= {"+=": operator.iadd} | {op + "=": function for op, function in BINARY.items() if op not in "+[]"}
COMPARE = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def bind(function, args, kwargs):
    """The local variables with which a call begins."""
    if function.__code__.co_varnames[:1] == (".0",):  # a comprehension of 3.11 is a function of its iterator
        return {".0": args[0]}
    return inspect.getcallargs(function, *args, **kwargs)


class Frame:
    """One call: code, local variables, a stack, and where it is. `apply` is all that a subclass must know about."""

    def __init__(self, function, args, kwargs):
        code = self.code = function.__code__
        self.function, self.globals, self.program = function, function.__globals__, decode(code)
        self.locals, self.stack, self.at, self.outcome = bind(function, args, kwargs), [], 0, None
        self.locals |= dict(zip(code.co_freevars, function.__closure__ or (), strict=True))

    def apply(self, function, *args, **kwargs):
        return function(*args, **kwargs)

    def step(self):
        inst = self.program[self.at]
        self.at += 1
        getattr(self, inst.op)(inst.arg)

    def run(self):
        """Until the frame returns or yields: ("return", value) or ("yield", value)."""
        self.outcome = None
        while self.outcome is None:
            self.step()
        return self.outcome

    def generate(self):
        """What calling a generator function gives: its frame runs on whenever a value is asked for."""
        while self.run()[0] == "yield":
            self.push((yield self.outcome[1]))
        return self.outcome[1]

    def push(self, value):
        self.stack.append(value)

    def pop(self):
        return self.stack.pop()

    def popn(self, count):
        values = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return values

    # names and constants

    def LOAD_CONST(self, value): self.push(value)
    def LOAD_FAST(self, name):
        if name not in self.locals:
            raise UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")
        self.push(self.locals[name])

    def LOAD_FAST_AND_CLEAR(self, name): self.push(self.locals.pop(name, NULL))
    def STORE_FAST(self, name):
        value = self.pop()
        if value is NULL:  # a comprehension puts back that there was nothing
            self.locals.pop(name, None)
        else:
            self.locals[name] = value

    def DELETE_FAST(self, name): del self.locals[name]
    def MAKE_CELL(self, name): self.locals[name] = types.CellType(*[self.locals[name]] if name in self.locals else [])
    def LOAD_CLOSURE(self, name): self.push(self.locals[name])
    def LOAD_DEREF(self, name): self.push(self.apply(getattr, self.locals[name], "cell_contents"))
    def STORE_DEREF(self, name): self.apply(setattr, self.locals[name], "cell_contents", self.pop())
    def LOAD_GLOBAL(self, name):
        if name in self.globals:
            self.push(self.apply(operator.getitem, self.globals, name))
        elif hasattr(builtins, name):
            self.push(getattr(builtins, name))
        else:
            raise NameError(f"name {name!r} is not defined")

    # attributes, items, operators

    def LOAD_ATTR(self, name): self.push(self.apply(getattr, self.pop(), name))
    def STORE_ATTR(self, name): value, obj = self.popn(2); self.apply(setattr, obj, name, value)
    def BINARY_SUBSCR(self, _): self.push(self.apply(operator.getitem, *self.popn(2)))
    def STORE_SUBSCR(self, _): value, obj, key = self.popn(3); self.apply(operator.setitem, obj, key, value)
    def BINARY_SLICE(self, _):
        obj, start, stop = self.popn(3)
        self.push(self.apply(operator.getitem, obj, slice(start, stop)))

    def BINARY_OP(self, op): self.push(self.apply(BINARY[op], *self.popn(2)))
    def COMPARE_OP(self, op): self.push(self.apply(COMPARE[op], *self.popn(2)))
    def IS_OP(self, negated): a, b = self.popn(2); self.push((a is b) != bool(negated))
    def CONTAINS_OP(self, negated):
        item, container = self.popn(2)
        self.push(self.apply(operator.contains, container, item) != bool(negated))

    def UNARY_NEGATIVE(self, _): self.push(self.apply(operator.neg, self.pop()))
    def UNARY_NOT(self, _): self.push(self.apply(operator.not_, self.pop()))
    def CALL_INTRINSIC_1(self, which): self.push({5: operator.pos, 6: tuple}[which](self.pop()))

    # building and taking apart

    def BUILD_TUPLE(self, count): self.push(tuple(self.popn(count)))
    def BUILD_LIST(self, count): self.push(self.popn(count))
    def BUILD_SLICE(self, count): self.push(slice(*self.popn(count)))
    def BUILD_MAP(self, count): items = self.popn(2 * count); self.push(dict(zip(items[::2], items[1::2], strict=True)))
    def BUILD_CONST_KEY_MAP(self, count): keys = self.pop(); self.push(dict(zip(keys, self.popn(count), strict=True)))
    def LIST_APPEND(self, depth): item = self.pop(); self.stack[-depth].append(item)
    def LIST_EXTEND(self, depth): items = self.pop(); self.stack[-depth].extend(self.apply(list, items))
    def LIST_TO_TUPLE(self, _): self.push(tuple(self.pop()))
    def DICT_MERGE(self, depth): other = self.pop(); self.stack[-depth].update(self.apply(dict, other))

    DICT_UPDATE = DICT_MERGE

    def MAP_ADD(self, depth): key, value = self.popn(2); self.stack[-depth][key] = value
    def UNPACK_SEQUENCE(self, count):
        items = self.apply(list, self.pop())
        if len(items) != count:
            raise ValueError(f"{len(items)} values to unpack, expected {count}")
        self.stack.extend(reversed(items))

    def FORMAT_SIMPLE(self, _): self.push(self.apply(format, self.pop()))
    def FORMAT_VALUE(self, flags):
        spec = self.pop() if flags[1] else ""
        self.push(self.apply(format, self.apply(flags[0] or (lambda v: v), self.pop()), spec))

    def FORMAT_WITH_SPEC(self, _): self.push(self.apply(format, *self.popn(2)))
    def CONVERT_VALUE(self, function): self.push(self.apply(function, self.pop()))
    def BUILD_STRING(self, count): self.push("".join(self.popn(count)))

    # the stack, jumps, loops

    def POP_TOP(self, _): self.pop()
    def COPY(self, depth): self.push(self.stack[-depth])
    def SWAP(self, depth): self.stack[-1], self.stack[-depth] = self.stack[-depth], self.stack[-1]
    def PUSH_NULL(self, _): self.push(NULL)
    def JUMP(self, target): self.at = target
    def POP_JUMP_IF_TRUE(self, target):
        if self.apply(bool, self.pop()):
            self.at = target

    def POP_JUMP_IF_FALSE(self, target):
        if not self.apply(bool, self.pop()):
            self.at = target

    def POP_JUMP_IF_NONE(self, target):
        if self.pop() is None:
            self.at = target

    def POP_JUMP_IF_NOT_NONE(self, target):
        if self.pop() is not None:
            self.at = target

    def JUMP_IF_TRUE_OR_POP(self, target):
        if self.apply(bool, self.stack[-1]):
            self.at = target
        else:
            self.pop()

    def JUMP_IF_FALSE_OR_POP(self, target):
        if self.apply(bool, self.stack[-1]):
            self.pop()
        else:
            self.at = target

    def GET_ITER(self, _):
        value = self.pop()
        self.push(Items(value) if type(value) in (list, tuple, range) else self.apply(iter, value))

    def FOR_ITER(self, target):
        item = self.apply(next, self.stack[-1], END)
        if item is not END:
            self.push(item)
            return
        if sys.version_info < (3, 12):  # later ones pop the iterator with an instruction of its own
            self.pop()
        self.at = target

    # calls and functions

    def CALL(self, arg):
        count, names = arg
        values = self.popn(count)
        function, *first = [half for half in self.popn(2) if half is not NULL]
        split = count - len(names)
        self.push(self.apply(function, *first, *values[:split], **dict(zip(names, values[split:], strict=True))))

    def CALL_KW(self, count): names = self.pop(); self.CALL((count, names))
    def CALL_FUNCTION_EX(self, has_kwargs):
        kwargs = self.pop() if int(has_kwargs) & 1 else {}
        args = self.apply(list, self.pop())
        function, *first = [half for half in self.popn(2) if half is not NULL]
        self.push(self.apply(function, *first, *args, **kwargs))

    def MAKE_FUNCTION(self, flags):
        code = self.pop()
        closure, annotations, kwonly, defaults = [self.pop() if int(flags or 0) & bit else None for bit in (8, 4, 2, 1)]
        closure = closure or tuple([types.CellType() for _ in code.co_freevars])  # 3.13 sets it next
        function = types.FunctionType(code, self.globals, code.co_name, defaults, closure)
        function.__kwdefaults__ = kwonly
        self.push(function)

    def SET_FUNCTION_ATTRIBUTE(self, bit):  # 3.13: what MAKE_FUNCTION took with it before
        value, old = self.popn(2)
        closure = value if bit == 8 else old.__closure__
        function = types.FunctionType(old.__code__, self.globals, old.__name__, old.__defaults__, closure)
        function.__kwdefaults__ = old.__kwdefaults__
        if bit in (1, 2):
            setattr(function, {1: "__defaults__", 2: "__kwdefaults__"}[bit], value)
        self.push(function)

    def RETURN_VALUE(self, _): self.outcome = "return", self.pop()
    def RETURN_GENERATOR(self, _): self.push(None); self.outcome = "return", self.generate()  # None is sent first
    def YIELD_VALUE(self, _): self.outcome = "yield", self.pop()
    def RAISE_VARARGS(self, count): raise self.popn(count)[0]
    def RERAISE(self, _): raise Unsupported("a handler of exceptions")


def run(function, *args, **kwargs):
    """Call a Python function, its bytecode interpreted here."""
    return Frame(function, args, kwargs).run()[1]
