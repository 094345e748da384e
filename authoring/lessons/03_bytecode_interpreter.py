# %% [markdown]
# # 03 A bytecode interpreter
#
# This function has a bug: it adds where it should multiply. We are going to repair it, and we won't touch its text.

# %%
import dis


def area(width, height):
    return width + height


code = bytearray(area.__code__.co_code)
print("as written: ", area(3, 4))
print("its bytes:  ", code.hex(" "))

plus = next(step for step in dis.get_instructions(area) if step.opname == "BINARY_OP")
code[plus.offset + 1] = 5  # in this place, 0 means + and 5 means *
area.__code__ = area.__code__.replace(co_code=bytes(code))
print("repaired:   ", area(3, 4))

# %% [markdown]
# One byte, and the function multiplies. Its source still says `+`; Python doesn't care, since it never looks at the
# source again. When your file was read, each function became a short string of bytes, its *bytecode*, and what has run
# ever since are the bytes.
#
# So if you want to know what a program does, and a compiler wants nothing else, the bytes are the place to look. The
# source may be gone, or stand in a string that somebody passed to `exec`. Decorators may have replaced the function by
# another. The bytecode is always there, it hangs on the function object, and it is exactly what would run.
#
# In this lesson you build a machine that reads it and does what it says: an *interpreter*, in some hundred and fifty lines. At
# the end it runs functions with loops, calls, exceptions and generators, and we compare it with the real thing. In the
# next lesson we change what it computes *with*, and the same machine writes graphs.
#
# ## A list of instructions for a stack machine
#
# Here is a function, as the machine has it. Each line is one instruction: its number, its name, and at most one operand.

# %%
from minitorch_compile.dynamo.bytecode.decode import decode


def discount(price, percent):
    rate = percent / 100
    return price - price * rate


decode(discount.__code__)

# %% [markdown]
# There are no parentheses here, and no nested expressions. `price - price * rate` is told in the order in which a
# person with a pocket calculator and a pile of notes would do it. *Load* puts a value on the pile. An operator takes the
# two topmost values, and puts the result on the pile. *Store* takes the topmost and files it under a name. The pile is
# called the **value stack**; the names are the function's **slots**. Every programming language with a stack machine,
# from Forth to Java, looks about like this, because a tree of expressions written down from its leaves up *is* a list of
# pushes and pops.
#
# Read the listing aloud: percent, 100, divide, file under rate; price, price, rate, multiply, subtract, hand back. If you
# can do that, you have understood the machine, and what follows is bookkeeping.
#
# ## The smallest interpreter
#
# So an interpreter needs four things: the list, the stack, the slots, and the number of the next instruction. Together
# they are a **frame**: one call, under way. Each kind of instruction gets a method of its name, a *handler*. Six of them
# are enough for a pocket calculator.

# %%
import inspect
import operator
from dataclasses import dataclass

BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}


@dataclass
class Returned:
    value: object


class Straight:
    """A frame: one call under way."""

    def __init__(self, function, *args, **kwargs):
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        self.program = decode(function.__code__)
        self.instructions, self.globals = self.program.instructions, function.__globals__
        self.locals, self.stack, self.index = dict(bound.arguments), [], 0
        self.outcome = None  # until it has one

    def run(self):
        while self.outcome is None:
            self.step()
        return self.outcome.value

    def step(self):
        instruction = self.instructions[self.index]
        self.index += 1
        getattr(self, instruction.opname)(instruction)


# %%
def popn(frame, count):
    """The topmost `count` values, in the order in which they were pushed."""
    split = len(frame.stack) - count
    values = frame.stack[split:]
    del frame.stack[split:]
    return values


class Calculator(Straight):
    def LOAD_CONST(self, inst):
        self.stack.append(inst.argval)

    def LOAD_FAST(self, inst):
        self.stack.append(self.locals[inst.argval])

    def STORE_FAST(self, inst):
        self.locals[inst.argval] = self.stack.pop()

    def BINARY_OP(self, inst):
        left, right = popn(self, 2)
        self.stack.append(BINARY[inst.argval.removesuffix("=")](left, right))

    def POP_TOP(self, inst):
        self.stack.pop()

    def RETURN_VALUE(self, inst):
        self.outcome = Returned(self.stack.pop())


print(Calculator(discount, 80, 25).run(), discount(80, 25))

# %% [markdown]
# That is an interpreter. The order in `popn` matters: the right operand was pushed last, so it lies on top, and who
# takes the two off one by one gets them the wrong way round. (With `+` nobody notices; with `-` you do.)
#
# `BINARY_OP` is worth a second look: it looks neither at the names nor at the numbers. It takes
# two values, whatever they are, asks somebody else for the answer, and pushes it. Remember this, it is the whole of the
# next lesson.
#
# ## Look at it
#
# Since a frame is an ordinary object, it can be stopped after each step and looked at. `draw_run` does that. Each value
# keeps its colour from the instruction that pushed it to the one that takes it away.

# %%
from minitorch_compile.course.drawings.stack import draw_run

draw_run(Calculator(discount, 80, 25))

# %% [markdown]
# The stack is empty at the beginning of each line of the source, and deepest in the middle of an expression: what lies
# on it are the intermediate results that have no name. (Note how `price` is pushed long before it is needed, and waits
# at the bottom.)
#
# ## Jumps
#
# A machine that only goes forward can't loop. An `if` and a `while` both become the same thing, a *jump*: set the number
# of the next instruction. A conditional jump takes a value from the stack and asks whether it is true. There are no
# blocks, no nesting, no `else`; all that was structure in the source is an arrow to a number now.
#
# A `for` loop needs one handler more. The iterator stays on the stack for as long as the loop runs, and `FOR_ITER`, at
# the top of the loop, pushes its next item. When there is none, it throws the iterator away and jumps out.

# %%
COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


class Looping(Calculator):
    def COMPARE_OP(self, inst):
        left, right = popn(self, 2)
        self.stack.append(COMPARE[inst.argval](left, right))

    def JUMP(self, inst):
        self.index = inst.target

    def POP_JUMP_IF_FALSE(self, inst):
        if not self.stack.pop():
            self.index = inst.target

    def POP_JUMP_IF_TRUE(self, inst):
        if self.stack.pop():
            self.index = inst.target

    def GET_ITER(self, inst):
        self.stack.append(iter(self.stack.pop()))

    def FOR_ITER(self, inst):
        for item in self.stack[-1]:
            self.stack.append(item)
            return
        self.stack.pop()
        self.index = inst.target


# %%
def passed(marks):
    count = 0
    for mark in marks:
        if mark >= 50:
            count += 1
    return count


draw_run(Looping(passed, [70, 40]))

# %% [markdown]
# Follow the list iterator. It is pushed once, lies at the bottom during the whole loop, and leaves at the end. Whatever
# the body of the loop pushes, it must have taken away again before it jumps back. Python's own compiler guarantees this:
# at each instruction, the stack has the same depth no matter on which way one got there. So the depth can be worked out
# without running anything, and CPython allots a frame exactly as much room as it will need.
#
# ## Calls
#
# Calling a function is: push the function, push its arguments, `CALL n`. The function that is called gets a frame of its
# own, with a stack of its own, and runs until it returns; then its value is pushed here. So frames form a stack too, the
# *call stack*, which is what a traceback prints.
#
# There is one wart. A method call `text.strip()` should not have to build a bound method just to throw it away, so
# CPython reserves *two* places for the callable, and one of them is empty, or holds `self`. The empty one is called
# NULL. It is no Python value, and no program can get hold of it.

# %%
import builtins
import types

from minitorch_compile.dynamo.bytecode.instructions import NULL


class Calling(Looping):
    calls = []

    def PUSH_NULL(self, inst):
        self.stack.append(NULL)

    def LOAD_GLOBAL(self, inst):
        name = inst.argval
        self.stack.append(self.globals[name] if name in self.globals else getattr(builtins, name))

    def LOAD_ATTR(self, inst):
        self.stack.append(getattr(self.stack.pop(), inst.argval))

    def SWAP(self, inst):
        other = -inst.argval
        self.stack[-1], self.stack[other] = self.stack[other], self.stack[-1]

    def COPY(self, inst):
        self.stack.append(self.stack[-inst.argval])

    def CALL(self, inst):
        count, names = inst.argval
        values = popn(self, count)
        (function,) = [half for half in popn(self, 2) if half is not NULL]
        positional, keywords = values[: count - len(names)], values[count - len(names) :]
        self.stack.append(self.call(function, positional, dict(zip(names, keywords))))

    def call(self, function, args, kwargs):
        if not isinstance(function, types.FunctionType):
            return function(*args, **kwargs)  # written in C: there is no bytecode to read
        Calling.calls.append(f"{function.__name__}({', '.join(map(repr, args))})")
        return type(self)(function, *args, **kwargs).run()


# %% [markdown]
# *Predict*: the interpreter notes every call that the program makes. `fibonacci(4)` calls itself twice, and so on
# down. How many calls will be in the list?

# %%
from minitorch_compile.course import predict

predict("03.calls", None)


# %%
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


print(Calling(fibonacci, 4).run(), Calling.calls)

# %% [markdown]
# Eight calls, and `fibonacci(2)` made twice over: you can see why it is slow. That we *see* every call comes for free,
# and it isn't a debugging aid. A tracer must go into every function that your model calls, or it would lose sight of the
# tensors. Calling is a method of ours, so going in means: make another frame. What is written in C has no bytecode, so
# there the tracer's road ends. It must know by heart what `len` or `torch.matmul` does.
#
# A word on *closures*, which our class leaves out. If an inner function uses a variable of an outer one, the two frames
# must share it. So the variable moves out of its slot into a small box, a *cell*, and both frames hold the box.
# `LOAD_DEREF` looks into the box where `LOAD_FAST` looks into the slot. That is why a counter made of a closure counts
# on: the frame that made the box is gone, the box isn't.
#
# ## When something goes wrong
#
# What happens when `BINARY_OP` divides by zero? Since version 3.11, the instructions say nothing about it. A `try` that
# nothing goes wrong in costs nothing: no instruction says that it begins, and none that it ends. Instead there is a second list, the *exception
# table*, that is looked at only in an emergency:
#
# *Predict*: the function below has one `print` in a `finally`. How often does the text `'done'` stand in its
# bytecode?

# %%
predict("03.done", None)


# %%
def ratio(a, b):
    try:
        return a // b
    except ZeroDivisionError:
        return None
    finally:
        print("done")


decode(ratio.__code__)

# %% [markdown]
# Read the last lines as: if anything goes wrong in *these* instructions, cut the stack down to *this* depth, push the
# exception, and go on *there*. Cutting is necessary, because the accident may happen in the middle of an expression, with
# half-finished results lying about. At the handler stands ordinary code, which asks whether it wants this exception,
# and if not raises it again. The rows behind are for accidents in the handlers themselves.
#
# And look for `'done'`. It is there three times. `finally` is no instruction either: its body is *copied* to every way
# out of the block. A `with` is compiled in the same way: its `__exit__` lies on the stack all the while, below whatever
# the body pushes, and a row of the table leads to the code that calls it. So all of `try`, `finally` and `with` is ten
# lines in `step`, and a few simple handlers:


# %%
class Catching(Calling):
    handled = NULL

    def step(self):
        here = self.index
        try:
            super().step()
        except Exception as error:
            entry = self.program.handler_of(here)
            if entry is None:
                raise  # not ours: it leaves this frame, and arrives in the caller's
            del self.stack[entry.depth :]
            self.stack += [here, error] if entry.lasti else [error]
            self.index = entry.target

    def PUSH_EXC_INFO(self, inst):
        error = self.stack.pop()
        self.stack += [self.handled, error]
        self.handled = error

    def CHECK_EXC_MATCH(self, inst):
        wanted = self.stack.pop()
        self.stack.append(isinstance(self.stack[-1], wanted))

    def POP_EXCEPT(self, inst):
        self.handled = self.stack.pop()

    def RERAISE(self, inst):
        raise self.stack.pop()

    def RAISE_VARARGS(self, inst):
        raise popn(self, inst.argval)[0] if inst.argval else self.handled


draw_run(Catching(ratio, 1, 0))

# %% [markdown]
# The row with the red note is the accident. If there is no row in the table for it, the Python exception simply leaves our `step`, and
# so it arrives in the `step` of the frame that called, which looks into *its* table. Unwinding a call stack is nothing
# but that. Afterwards the stack holds what it held when the block began, and the program goes on as if the accident had
# been an ordinary jump.
#
# ## A generator is a frame that waits
#
# Frames are objects, so nothing forces us to run one to its end. `YIELD_VALUE` stops it in the middle, with its stack and
# its slots as they are. Whoever wants the next item steps on. That is all a generator is, and the reason why its loop
# remembers where it was: nothing was saved or restored, the frame was merely left alone.


# %%
@dataclass
class Yielded:
    value: object


class Waiting(Catching):
    def RETURN_GENERATOR(self, inst):
        self.outcome = Returned(self.items())

    def YIELD_VALUE(self, inst):
        self.outcome = Yielded(self.stack.pop())

    def items(self):
        while True:
            self.outcome = None
            self.stack.append(None)  # the value of the `yield` expression
            value = self.run()
            if isinstance(self.outcome, Returned):
                return
            yield value


def squares(limit):
    n = 0
    while n * n < limit:
        yield n * n
        n += 1


print(list(Waiting(squares, 30).run()), list(squares(30)))

# %% [markdown]
# ## Is it Python?
#
# Our interpreter agrees with CPython wherever we looked. But we looked at examples that we chose, and who writes an
# interpreter chooses examples that it can do. Better to let dice
# choose: programs that assign, branch and loop, on small numbers so that divisions by zero happen often. Each is run
# twice, once by CPython, once by our frame. Both must give the same value, or raise the same exception with the same
# words.

# %%
import random

STATEMENTS = [
    "{v} = {x}",
    "for {v} in range(3): b += {x}",
    "while b < {v} < 9: b += 1",
]


def random_expression(dice, depth=0):
    if depth == 3 or dice.random() < 0.3:
        return dice.choice("abc0127")
    left, right = (random_expression(dice, depth + 1) for _ in range(2))
    return dice.choice(
        [f"({left} {dice.choice(list(BINARY))} {right})", f"({left} if {right} > 1 else b)"]
    )


def random_program(dice):
    body = [
        dice.choice(STATEMENTS).format(v=dice.choice("abc"), x=random_expression(dice))
        for _ in range(4)
    ]
    handled = f"try: return {random_expression(dice)}\n    except ZeroDivisionError: return -1"
    return "\n    ".join(["def f(a, b, c):", *body, handled])


# %%
def outcome(call):
    try:
        return repr(call())
    except ArithmeticError as error:
        return repr(error)


dice, raised = random.Random(3), 0
for _ in range(500):
    namespace = {}
    exec(random_program(dice), namespace)
    numbers = [dice.randint(-1, 3) for _ in range(3)]
    expected = outcome(lambda: namespace["f"](*numbers))
    assert outcome(Waiting(namespace["f"], *numbers).run) == expected
    raised += "Error" in expected
print(f"500 programs agree, {raised} of them on the exception that they end with")

# %% [markdown]
# This is called *differential testing*, and it is how everything in this package is tested. Two implementations that
# don't know of each other seldom make the same mistake. There is no list of expected results that somebody had to write,
# so there can be as many programs as we have patience for.
#
# How far are we from real programs? An interpreter can run a function if it has a handler for each of its instructions.
# So take the functions of ten modules from Python's own library, and count those that each of our classes could run:

# %% tags=["varies"]
import importlib

from minitorch_compile.course.drawings.table import Table
from minitorch_compile.dynamo.bytecode.instructions import INSTRUCTIONS
from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter

names = "ast difflib dis fractions heapq json.encoder random statistics textwrap tokenize"
library = [importlib.import_module(name) for name in names.split()]


def code_objects(code):
    """The code of a module, and of every function in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_objects(constant)


needed = []
for module in library:
    compiled = compile(inspect.getsource(module), module.__name__, "exec")
    functions = [code for code in code_objects(compiled) if code.co_flags & inspect.CO_OPTIMIZED]
    needed += [{step.opname for step in decode(code).instructions} for code in functions]

rows = []
for stage in (Calculator, Looping, Calling, Catching, Waiting, BytecodeInterpreter):
    handlers = {name for name in dir(stage) if name in INSTRUCTIONS}
    runs = sum(names <= handlers for names in needed)
    rows.append({"class": stage.__name__, "handlers": len(handlers), "functions": runs})
    rows[-1]["share %"] = round(100 * runs / len(needed))
Table(rows)

# %% [markdown]
# The first six handlers get nowhere: a function that calls nothing is rare. Calls alone bring a fifth. What is still missing are the containers
# (`BUILD_LIST` and its relatives), closures, `with`, string formatting, pattern matching: all of them handlers of one to
# five lines. The last row is the package's interpreter, which has them all.
#
# ## The package's interpreter
#
# It is `dynamo/execution/interpreter.py`, and it has the shape of ours. Here are three of its handlers, and the step:

# %%
for handler in ("BINARY_OP", "FOR_ITER", "CHECK_EXC_MATCH", "step"):
    print(inspect.getsource(getattr(BytecodeInterpreter, handler)))

# %% [markdown]
# One thing is different. Where ours said `BINARY[...](left, right)`, this one says `self.binary(op, a, b)`; where ours
# said `if self.stack.pop()`, it says `self.truth(...)`. The handlers move values about and *never look into one*. Each
# time a look is needed, they ask a method, a *hook*. The hooks together are called a domain. For plain Python objects
# their answers stand in `dynamo/execution/concrete.py`, and that gives `interpret`:

# %% tags=["varies"]
import ast
import difflib
import statistics
import textwrap
from timeit import repeat

from minitorch_compile.dynamo import interpret

text = "The bytecode is always there, it hangs on the function object, and it is what runs. " * 4
for function, *arguments in (
    (textwrap.wrap, text, 40),
    (statistics.stdev, [1.5, 2.5, 4.0]),
    (difflib.get_close_matches, "bitecode", ["bytecode", "barcode", "graph"]),
    (ast.unparse, ast.parse("total = sum(x * x for x in values)")),
):
    assert interpret(function, *arguments) == function(*arguments)
    plain = min(repeat(lambda: function(*arguments), number=1, repeat=5))
    ours = min(repeat(lambda: interpret(function, *arguments), number=1, repeat=5))
    name = f"{function.__module__}.{function.__name__}"
    print(f"{name:<28} agrees, {ours / plain:4.0f} times slower")

# %% [markdown]
# A text wrapped, a deviation, a fuzzy search, a syntax tree printed: programs that their authors never meant for us. It
# is slow, since each instruction costs us a few Python calls. That doesn't matter. Nobody runs models with it: it will
# run once, to find out what your function does, and then the compiled code takes over. Its speed sets how long you wait
# for the first call, and nothing else. What matters is that it is *right*, for programs that nobody thought of, since
# everything above stands on it. The tests run several hundred small programs through it, on each version of Python, and
# compare value, printed text and exception.
#
# What are hooks good for? Here is another domain, with values that are strings. Its `binary` computes nothing, it writes
# down what should have been computed:


# %%
class Words(BytecodeInterpreter):
    def load_const(self, value):
        return str(value)

    def binary(self, op, a, b):
        return f"({a} {op} {b})"


frame = Words(decode(discount.__code__), {"price": "price", "percent": "percent"})
draw_run(frame)

# %% [markdown]
# The same handlers, the same steps, the same picture; but what comes out at the end is a program. Five lines turned the
# interpreter into a translator. Lesson 04 takes it from there.
#
# ## Four dialects, one language
#
# Something was hidden so far. CPython changes its bytecode in each minor version. What you saw above were *normalised*
# instructions, fewer than a hundred, which mean the same in all versions. (Their order is still that of the Python that runs
# here: a later one may push NULL after `print`, or turn a condition around.) Here is what `total(x, start=1)` really is,
# from the place where the function is pushed:
#
# | | 3.11 | 3.12 | 3.13 | 3.14 |
# |---|---|---|---|---|
# | 1 | LOAD_GLOBAL NULL + total | LOAD_GLOBAL NULL + total | LOAD_GLOBAL total + NULL | LOAD_GLOBAL total + NULL |
# | 2 | LOAD_FAST x | LOAD_FAST x | LOAD_FAST x | LOAD_FAST_BORROW x |
# | 3 | LOAD_CONST 1 | LOAD_CONST 1 | LOAD_CONST 1 | LOAD_SMALL_INT 1 |
# | 4 | KW_NAMES | KW_NAMES | LOAD_CONST names | LOAD_CONST names |
# | 5 | PRECALL 2 | CALL 2 | CALL_KW 2 | CALL_KW 2 |
# | 6 | CALL 2 | | | |
#
# The NULL moved from below the function to above it; names of keywords moved from a note at the side onto the stack;
# loading a small number got an instruction of its own. All of it is for speed, and none of it means anything new. So it
# is settled once, at the door. `decode` goes through the raw instructions and applies a *rule* to each, which emits
# what stands for it. A rule knows for which versions it holds, and can be looked up for any of them:

# %%
from minitorch_compile.dynamo.bytecode.decode_rules import rules_for

for version, name in (
    ((3, 11), "JUMP_IF_TRUE_OR_POP"),
    ((3, 11), "CALL"),
    ((3, 13), "CALL_KW"),
):
    print(inspect.getsource(rules_for(version)[name]))
print({f"3.{minor}": len(rules_for((3, minor))) for minor in (11, 12, 13, 14)}, "rules")

# %% [markdown]
# The first takes an instruction of 3.11 apart, which jumps *or* pops, into three simple ones (later versions write those
# three themselves). The other two are the same call in two dialects: where the names of keywords come from, and nothing
# else. Nothing above `decode` ever asks for the version. And since the language is simple, one can also go back: `assemble`
# makes bytes of normalised instructions, for the Python that is running. Let's repair `area` once more, from the
# beginning, without knowing where the byte is:

# %%
from dataclasses import replace

from minitorch_compile.dynamo.bytecode.assemble import assemble


def area(width, height):
    return width + height


program = decode(area.__code__)
steps = [
    replace(step, argval="*") if step.opname == "BINARY_OP" else step
    for step in program.instructions
]
area.__code__ = assemble(replace(program, instructions=tuple(steps)))
print(area(3, 4))

# %% [markdown]
# The new code object even keeps the line numbers, so a traceback through it shows your source.
#
# Decoding, changing and assembling: this is how compiled functions are put together in lesson 06, where a function has to
# be cut in two in the middle of a line.
#
# ## Beside PyTorch
#
# PyTorch's tracer is such an interpreter, too, and it can log its steps. Here is `discount`, traced by the package's
# tracer of the next lesson and by PyTorch's, with a tensor as price and 25 as percent. Behind each instruction stands
# what lies on the stack before it.

# %% tags=["varies"]
import minitorch_compile as torch
from minitorch_compile import logs
from minitorch_compile.course.drawings.beside import beside

with logs.capture("trace_bytecode") as executed:
    torch.compile(discount, backend="eager")(torch.tensor(80.0), 25)
beside("03_trace", "\n".join(step.text for step in executed))

# %% [markdown]
# The same instructions, the same stack, and the same division of 25 by 100 before anything is known about the price.
# Both delay looking at a value that came from outside: PyTorch calls it a lazy tracker, as we do. What differs is the
# language. PyTorch reads the bytecode of the Python that runs. Its log was recorded on 3.11, where `BINARY_OP 11` is a
# division; ours has been normalised, and says what it means.
#
# ## What PyTorch does differently
#
# - TorchDynamo has no interpreter for plain values. Its one interpreter, `torch/_dynamo/symbolic_convert.py`, is the
# symbolic one. We have both so that there is something to test the symbolic one against: what the program means.
# - It doesn't normalise fully. It cleans up jumps, exception tables and super-instructions (`cleaned_instructions` in
# `bytecode_transformation.py`), and has handlers for the rest in all dialects, side by side in one class, with questions
# for `sys.version_info` inside.
# - CPython's interpreter is C, generated from a description of each instruction (`Python/bytecodes.c`), and since 3.11 it
# rewrites itself: an addition that has seen only ints becomes `BINARY_OP_ADD_INT`. `dis` and we see the original.
# - Async functions and type parameters are refused here, with an error that says so.
#
# ## What you write
#
# Ten steps of the exercises write `work/mini/interpreter.py`, the third file of your own stack, in two hours and a half.
# Afterwards it runs functions from their bytecode, on CPython 3.11, 3.12 and 3.13: arguments of all kinds, closures,
# comprehensions, loops, generators. Everything that is not moving values about goes through one method, `apply`, which lesson 04 replaces. The
# package's version catches exceptions besides (`try`, `with`), delegates (`yield from`), defines classes, matches patterns,
# has rules for 3.14, and writes bytecode back. What yours does not run, it refuses by name.
#
# ## Exercises
#
# Open `work/03_bytecode_interpreter.ipynb`. First come two bugs in unwinding (your repair can run in the package), then the
# ten steps, two hours and a half.
