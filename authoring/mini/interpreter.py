"""Lesson 03. A bytecode interpreter: one handler an instruction, and one way to do anything at all: `apply`.

>>> def loop(n, *rest, scale=2):
...     return [scale * i for i in range(n) if i % 2] + list(rest)
>>> run(loop, 6, 7, scale=10)
[10, 30, 50, 7]
>>> [op for op, arg in decode((lambda x: x + 1).__code__)]
['LOAD_FAST', 'LOAD_CONST', 'APPLY', 'RETURN_VALUE']
"""

import builtins
import dis
import functools
import inspect
import operator
import sys
import types

NULL = type("NULL", (), {"__repr__": lambda self: "NULL"})()  # the empty one of a callable's two places, an empty slot
END = object()  # of an iterator


class Unsupported(NotImplementedError):
    """A program that `mini` does not run: the message names what it has met."""


SAME = {"LOAD_FAST_CHECK": "LOAD_FAST", "LOAD_CLOSURE": "LOAD_FAST", "LOAD_METHOD": "LOAD_ATTR"}
NUMERIC = "add and_ floordiv lshift matmul mul mod or_ pow rshift sub truediv xor".split()  # as BINARY_OP counts them
IN_PLACE = [getattr(operator, "i" + name.rstrip("_")) for name in NUMERIC]
BINARY = [getattr(operator, name) for name in NUMERIC] + IN_PLACE
COMPARE = dict(zip(dis.cmp_op, [getattr(operator, name) for name in "lt le eq ne gt ge".split()]))


def applied(function, count=2):
    """The instruction that takes so many values from the stack, and pushes what the function gives."""
    return [("APPLY", (function, count))]


# RERAISE ends handlers that Python adds to generators and comprehensions. An exception leaves our frames at once.
NOTHING = "CACHE RESUME NOP PRECALL EXTENDED_ARG COPY_FREE_VARS TO_BOOL RERAISE"
MEANS = dict.fromkeys(NOTHING.split(), []) | {  # what stands for an instruction, whatever its operand
    "UNARY_NEGATIVE": applied(operator.neg, 1), "UNARY_INVERT": applied(operator.invert, 1),
    "UNARY_NOT": applied(operator.not_, 1), "UNARY_POSITIVE": applied(operator.pos, 1),
    "BINARY_SUBSCR": applied(operator.getitem), "BINARY_SLICE": [("BUILD_SLICE", 2), *applied(operator.getitem)],
    "STORE_SLICE": [("BUILD_SLICE", 2), ("STORE_SUBSCR", None)], "LIST_TO_TUPLE": applied(tuple, 1),
    "PUSH_NULL": [("LOAD_CONST", NULL)], "LOAD_ASSERTION_ERROR": [("LOAD_CONST", AssertionError)],
    # our FOR_ITER has taken the iterator away; in 3.13 there comes a POP_TOP for it
    "END_FOR": [("LOAD_CONST", NULL)] if sys.version_info >= (3, 13) else [],
}  # fmt: skip
INTRINSIC = {3: [], 5: MEANS["UNARY_POSITIVE"], 6: MEANS["LIST_TO_TUPLE"]}  # of 3.12; 3 goes with RERAISE


# %% 03.2 an iterator that can be put back
class Items:
    """The iterator of a list, a tuple or a range: where it stands can be read, kept and set.

    >>> items = Items(["a", "b"]); next(items), items.at
    ('a', 1)
    """

    def __init__(self, sequence, at=0):
        self.sequence, self.at = sequence, at

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= len(self.sequence):
            self.sequence = ()  # once at its end, it stays there
            raise StopIteration
        self.at += 1
        return self.sequence[self.at - 1]


# %% 03.3 one language for all Pythons
def parts(inst):
    """What stands for an instruction of this Python: pairs of an operation and its operand.

    >>> [parts(inst) for inst in dis.get_instructions(lambda x: -x) if inst.opname.startswith("UNARY")]
    [[('APPLY', (<built-in function neg>, 1))]]
    """
    name, arg = inst.opname, inst.argval
    op = SAME.get(name, name.replace("_FORWARD", "").replace("_BACKWARD", ""))
    if op in MEANS: return MEANS[op]
    if op == "CALL_INTRINSIC_1": return INTRINSIC.get(inst.arg, [(op, arg)])
    if op == "BINARY_OP": return applied(BINARY[inst.arg])
    if op == "COMPARE_OP": return applied(COMPARE[arg])
    if op == "IS_OP": return applied(operator.is_not if inst.arg else operator.is_)
    if op == "CONTAINS_OP": return [("SWAP", 2), *applied(operator.contains), *MEANS["UNARY_NOT"] * inst.arg]
    if op == "KW_NAMES": return [(op, inst.arg)]
    if op == "RETURN_CONST": return [("LOAD_CONST", arg), ("RETURN_VALUE", None)]
    if op == "DELETE_FAST": return [("LOAD_FAST", arg), ("LOAD_CONST", NULL), ("STORE_FAST", arg), ("POP_TOP", None)]
    if op in ("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP"):
        return [("COPY", 1), ("POP_" + op.removesuffix("_OR_POP"), arg), ("POP_TOP", None)]
    if op.count("_FAST") == 2:  # 3.13: STORE_FAST_LOAD_FAST
        return [(half.strip("_") + "_FAST", name) for half, name in zip(op.split("_FAST"), arg)]
    if op == "LOAD_GLOBAL" and "NULL + " in inst.argrepr:  # to be called; before 3.13 the NULL lies below
        return [("LOAD_CONST", NULL), (op, arg)]
    if name == "LOAD_METHOD" or op in ("LOAD_GLOBAL", "LOAD_ATTR") and " + " in inst.argrepr:
        return [(op, arg), ("LOAD_CONST", NULL)]  # a method is bound at once
    if op == "MAKE_FUNCTION":  # 3.13 says by instructions of their own what goes with it
        return [(op, None), *[("SET_FUNCTION_ATTRIBUTE", bit) for bit in (8, 4, 2, 1) if (inst.arg or 0) & bit]]
    return [(op, arg)]


# %% 03.4 decoding
@functools.cache
def decode(code):
    """Operations and operands, the same for all Pythons; a jump's operand is the index of its target in the list.

    >>> decode((lambda x: x or 2).__code__)[2]
    ('POP_JUMP_IF_TRUE', 5)
    """
    if inspect.CO_COROUTINE & code.co_flags:
        raise Unsupported(f"the async function {code.co_name}")
    result, index_of = [], {}
    for inst in dis.get_instructions(code):
        index_of[inst.offset] = len(result)
        for op, arg in parts(inst):
            if not hasattr(Frame, op):
                raise Unsupported(f"the instruction {inst.opname} in {code.co_name}, line {inst.positions.lineno}")
            result.append(("CALL_KW" if op == "CALL" and result[-1][0] == "KW_NAMES" else op, arg))
    return [(op, index_of[arg] if "JUMP" in op or op == "FOR_ITER" else arg) for op, arg in result]


# %% 03.5 a frame
class Frame:
    """One call: code, local variables, a stack, and where it is. `apply` is all that a subclass must know about."""

    def __init__(self, function, args, kwargs):
        self.code, self.globals, self.program = function.__code__, function.__globals__, decode(function.__code__)
        comprehension = self.code.co_varnames[:1] == (".0",)  # becomes a function of an iterator that has no other name
        self.locals = {".0": args[0]} if comprehension else inspect.getcallargs(function, *args, **kwargs)
        self.locals |= dict(zip(self.code.co_freevars, function.__closure__ or (), strict=True))
        self.stack, self.at, self.outcome = [], 0, None

    def apply(self, function, *args, **kwargs):
        return function(*args, **kwargs)

    def step(self):
        op, arg = self.program[self.at]
        self.at += 1
        getattr(self, op)(arg)

    def run(self):
        """Until the frame returns or yields: ("return", value) or ("yield", value)."""
        self.outcome = None
        while self.outcome is None:
            self.step()
        return self.outcome

    def push(self, value): self.stack.append(value)
    def pop(self): return self.stack.pop()
    def popn(self, count):
        """The topmost values, in the order in which they were pushed."""
        values = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return values

    # %% 03.6 names, slots and cells
    def LOAD_CONST(self, value): self.push(value)

    def LOAD_FAST(self, name):
        if name not in self.locals:
            raise UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")
        self.push(self.locals[name])

    def STORE_FAST(self, name):
        self.locals[name] = self.pop()
        if self.locals[name] is NULL:  # after a comprehension: there had been nothing
            del self.locals[name]

    def LOAD_GLOBAL(self, name):
        if name in self.globals:
            self.push(self.apply(operator.getitem, self.globals, name))
        elif hasattr(builtins, name):
            self.push(getattr(builtins, name))
        else:
            raise NameError(f"name {name!r} is not defined")

    def MAKE_CELL(self, name):
        self.locals[name] = self.apply(types.CellType, *[self.locals[name]] if name in self.locals else [])

    def STORE_DEREF(self, name): self.apply(setattr, self.locals[name], "cell_contents", self.pop())

    def LOAD_DEREF(self, name):
        try:
            self.push(self.apply(getattr, self.locals[name], "cell_contents"))
        except ValueError:
            raise NameError(f"cannot access variable {name!r} where it is not associated with a value") from None

    # %% given
    def KW_NAMES(self, index): self.push(self.code.co_consts[index])  # before 3.13: of the call that follows
    def LOAD_FAST_AND_CLEAR(self, name): self.push(self.locals.pop(name, NULL))  # 3.12: before a comprehension
    def POP_TOP(self, _): self.pop()
    def COPY(self, depth): self.push(self.stack[-depth])
    def SWAP(self, depth): self.stack[-1], self.stack[-depth] = self.stack[-depth], self.stack[-1]

    # %% 03.7 operators, attributes, containers
    def APPLY(self, what):
        function, count = what
        self.push(self.apply(function, *self.popn(count)))

    def LOAD_ATTR(self, name): self.push(self.apply(getattr, self.pop(), name))

    def STORE_ATTR(self, name):
        value, obj = self.popn(2)
        self.apply(setattr, obj, name, value)

    def STORE_SUBSCR(self, _):
        value, obj, key = self.popn(3)
        self.apply(operator.setitem, obj, key, value)

    def BUILD_TUPLE(self, count): self.push(tuple(self.popn(count)))
    def BUILD_LIST(self, count): self.push(self.popn(count))
    def BUILD_SLICE(self, count): self.push(slice(*self.popn(count)))

    def BUILD_MAP(self, count):
        items = self.popn(2 * count)
        self.push(dict(zip(items[::2], items[1::2], strict=True)))

    def LIST_APPEND(self, depth): self.apply(list.append, self.stack[-depth - 1], self.pop())
    def LIST_EXTEND(self, depth): self.apply(list.extend, self.stack[-depth - 1], self.pop())
    def DICT_UPDATE(self, depth): self.apply(dict.update, self.stack[-depth - 1], self.pop())

    def MAP_ADD(self, depth): self.apply(operator.setitem, self.stack[-depth - 2], *self.popn(2))

    # %% given
    def BUILD_CONST_KEY_MAP(self, count): self.push(dict(zip(self.pop(), self.popn(count), strict=True)))
    def DELETE_SUBSCR(self, _): self.apply(operator.delitem, *self.popn(2))
    def DICT_MERGE(self, depth):  # a keyword that comes twice is a TypeError
        more = self.apply(dict, self.pop())
        self.stack[-depth] = dict(**self.stack[-depth], **more)

    # %% 03.8 jumps, loops and taking apart
    def JUMP(self, target): self.at = target
    def jump_if(self, condition, target): self.at = target if condition else self.at
    def POP_JUMP_IF_TRUE(self, target): self.jump_if(self.apply(bool, self.pop()), target)
    def POP_JUMP_IF_FALSE(self, target): self.jump_if(not self.apply(bool, self.pop()), target)
    def POP_JUMP_IF_NONE(self, target): self.jump_if(self.pop() is None, target)
    def POP_JUMP_IF_NOT_NONE(self, target): self.jump_if(self.pop() is not None, target)

    def GET_ITER(self, _):
        value = self.pop()
        self.push(Items(value) if type(value) in (list, tuple, range) else self.apply(iter, value))

    def FOR_ITER(self, target):
        item = self.apply(next, self.stack[-1], END)
        if item is END:
            self.pop()
            self.at = target
        else:
            self.push(item)

    def UNPACK_SEQUENCE(self, count):
        items = self.apply(list, self.pop())
        if len(items) != count:
            raise ValueError(f"{len(items)} values to unpack (expected {count})")
        self.stack += reversed(items)

    # %% 03.9 calls
    def call(self, args, kwargs):
        """Below the arguments lie two halves: `function NULL`, `NULL function`, or `function self`."""
        function, *first = [half for half in self.popn(2) if half is not NULL]
        self.push(self.apply(function, *first, *args, **kwargs))

    def CALL(self, count): self.call(self.popn(count), {})

    def CALL_KW(self, count):
        names = self.pop()
        args = self.popn(count)
        split = count - len(names)
        self.call(args[:split], dict(zip(names, args[split:], strict=True)))

    def CALL_FUNCTION_EX(self, has_keywords):  # f(*args, **kwargs)
        kwargs = self.pop() if has_keywords & 1 else {}
        self.call(self.apply(list, self.pop()), kwargs)

    # %% 03.10 functions and generators
    def MAKE_FUNCTION(self, _):
        code = self.pop()
        cells = tuple([types.CellType() for _ in code.co_freevars])  # the right ones come next
        self.push(self.apply(types.FunctionType, code, self.globals, code.co_name, None, cells))

    def SET_FUNCTION_ATTRIBUTE(self, which):
        value, function = self.popn(2)
        if which == 8:  # comes first
            function = self.apply(types.FunctionType, function.__code__, self.globals, function.__name__, None, value)
        else:
            value = dict(zip(value[::2], value[1::2], strict=True)) if which == 4 else value
            setattr(function, {1: "__defaults__", 2: "__kwdefaults__", 4: "__annotations__"}[which], value)
        self.push(function)

    def RETURN_VALUE(self, _): self.outcome = "return", self.pop()
    def YIELD_VALUE(self, _): self.outcome = "yield", self.pop()

    def RETURN_GENERATOR(self, _):
        self.push(None)  # what is sent first
        self.outcome = "return", self.generate()

    def generate(self):
        """What a call of a generator function gives: its frame runs on whenever a value is asked for."""
        while self.run()[0] == "yield":
            self.push((yield self.outcome[1]))
        return self.outcome[1]

    # %% given
    def RAISE_VARARGS(self, count):
        error, cause, *_ = *self.popn(count), None
        raise error from cause


# %% 03.11 the function behind a call
def behind(function, args):
    """The Python function that a call will run, and all its arguments; None for what is written in C."""
    if isinstance(function, types.MethodType):
        return behind(function.__func__, (function.__self__, *args))
    if isinstance(function, types.FunctionType):
        return function, args
    call = getattr(type(function), "__call__", None)
    return (call, (function, *args)) if isinstance(call, types.FunctionType) else (None, args)


# %% given
def run(function, *args, **kwargs):
    """Call a Python function, its bytecode interpreted here."""
    return Frame(function, args, kwargs).run()[1]
