# %% [markdown]
# # 03 Exercises: a bytecode interpreter
#
# Six exercises, about an hour and a half. Each is a sentence, a signature, an example and a check. Write your answer in
# place of the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("03.1")` gives the
# first of three hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.course.drawings.stack import draw_run
from minitorch_compile.dynamo import interpret
from minitorch_compile.dynamo.execution.concrete import ConcreteInterpreter
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.instructions import Instruction, Program

# %% [markdown]
# ## 03.1 What lies on the stack: predict
#
# Seven short listings. The slots are `a = 7`, `b = 2` and `items = [10, 20, 30]`. Before you run anything, write for each
# what lies on the stack after its last instruction, as a list with the bottom first. (A jump to a number behind the last
# instruction ends the listing.)
#
#     "minus"                      "swapped"                    "copied"
#     0 LOAD_FAST    'a'           0 LOAD_FAST    'a'           0 LOAD_FAST    'a'
#     1 LOAD_FAST    'b'           1 LOAD_FAST    'b'           1 LOAD_FAST    'b'
#     2 BINARY_OP    '-'           2 SWAP         2             2 COPY         2
#     3 LOAD_FAST    'b'           3 BINARY_OP    '-'           3 BINARY_OP    '-'
#
#     "unpack"                     "or"
#     0 LOAD_FAST        'items'   0 LOAD_FAST         'a'
#     1 UNPACK_SEQUENCE  3         1 COPY              1
#                                  2 POP_JUMP_IF_TRUE  to 5
#                                  3 POP_TOP
#                                  4 LOAD_FAST         'b'
#
#     "loop"                       "accident"
#     0 LOAD_CONST   0             0 LOAD_FAST   'a'
#     1 LOAD_FAST    'items'       1 LOAD_FAST   'b'
#     2 GET_ITER                   2 LOAD_CONST  0
#     3 FOR_ITER     to 7          3 BINARY_OP   '//'
#     4 POP_TOP                    4 JUMP        to 7
#     5 JUMP         to 3          5 POP_TOP
#     6 LOAD_CONST   1             6 LOAD_CONST  -1
#                                      on error in 1..3: to 5, depth 1

# %% tags=["stub"]
stacks = {
    "minus": ...,
    "swapped": ...,
    "copied": ...,
    "unpack": ...,
    "or": ...,
    "loop": ...,
    "accident": ...,
}

# %% tags=["solution"]
stacks = {
    "minus": [5, 2],
    "swapped": [-5],
    "copied": [7, -5],
    "unpack": [30, 20, 10],
    "or": [7],
    "loop": [0],
    "accident": [7, -1],
}

# %%
check("03.1")

# %% tags=["wrong"] says="what is pushed last stands last"
stacks = stacks | {"minus": [2, 5]}

# %% tags=["wrong"] says="After SWAP 2 the 7 is on top"
stacks = stacks | {"swapped": [5]}

# %% tags=["wrong"] says="copies the second from the top, the 7"
stacks = stacks | {"copied": [7, 5]}

# %% tags=["wrong"] says="The first item must be on top"
stacks = stacks | {"unpack": [10, 20, 30]}

# %% tags=["wrong"] says="takes the value that it tests"
stacks = stacks | {"or": [7, 7]}

# %% tags=["wrong"] says="it never runs"
stacks = stacks | {"loop": [0, 1]}

# %% tags=["wrong"] says="The half-finished 2 is cut off"
stacks = stacks | {"accident": [7, 2, -1]}

# %% [markdown]
# Now look. Change the function, and see whether you can tell beforehand what will lie on the stack.


# %%
def first_and_rest(items):
    first, *rest = items
    return first or rest


draw_run(ConcreteInterpreter(decode(first_and_rest.__code__), {"items": [0, 20, 30]}, {}))

# %% [markdown]
# ## 03.2 The handler of the for loop
#
# Write the handler of `FOR_ITER` for the package's interpreter. `self` is the frame: it has `self.stack`, `self.push(v)`,
# `self.pop()`, `self.goto(inst)`, which goes to the target of the instruction, and `self.next_item(iterator)`, which asks
# the domain and gives a pair `(more, item)`. The iterator is on top of the stack. If there is an item, push it above the
# iterator. If not, take the iterator away and go to the target.


# %%
def FOR_ITER(self, inst: Instruction) -> None:
    """Push the next item, or leave the loop."""
    ### BEGIN SOLUTION
    more, item = self.next_item(self.stack[-1])
    if more:
        self.push(item)
    else:
        self.pop()
        self.goto(inst)
    ### END SOLUTION


# %%
check("03.2")

# %% [markdown]
# In the package, the concrete interpreter and the tracer share their handlers. So your loop now runs Python, and it also
# unrolls a loop into a graph, which is lesson 04:


# %%
def powers(x, count):
    return [x**n for n in range(count)]


if passed("03.2"):
    with splice("dynamo.for_iter", FOR_ITER):
        print(interpret(powers, 2, 5))
        print(torch.compile(powers, backend="eager")(torch.tensor(2.0), 5))


# %% tags=["wrong"] says="The iterator is gone"
def FOR_ITER(self, inst):
    more, item = self.next_item(self.pop())
    if more:
        self.push(item)
    else:
        self.goto(inst)


# %% tags=["wrong"] says="If it stays, whatever comes next finds it on top"
def FOR_ITER(self, inst):
    more, item = self.next_item(self.stack[-1])
    if more:
        self.push(item)
    else:
        self.goto(inst)


# %% tags=["wrong"] says="only the domain can say"
def FOR_ITER(self, inst):
    try:
        self.push(next(self.stack[-1]))
    except StopIteration:
        self.pop()
        self.goto(inst)


# %% tags=["wrong"] says="so the loop is over"
def FOR_ITER(self, inst):
    more, item = self.next_item(self.stack[-1])
    if more:
        self.push(item)
    else:
        self.pop()


# %% tags=["wrong"] says="so the body of the loop comes next"
def FOR_ITER(self, inst):
    more, item = self.next_item(self.stack[-1])
    if more:
        self.push(item)
    else:
        self.pop()
    self.goto(inst)


# %% [markdown]
# ## 03.3 Reading the exception table
#
# `code.co_exceptiontable` is a string of bytes. Each row of the table is four numbers, one after the other: the start, the
# length, the target, and `2 * depth + lasti`. The first three count *code units* of two bytes. A number is written in
# groups of six bits, a byte each, the **highest group first**. Bit 6 of a byte (64) says that another group follows; bit 7
# (128) only marks the first byte of a row. Give the rows as a list of tuples `(start, end, target, depth, lasti)`: the
# first three in bytes, `lasti` a bool. `parse_exception_table(bytes.fromhex("82050a03"))` is
# `[(4, 14, 20, 1, True)]`.


# %%
def parse_exception_table(table: bytes) -> list[tuple[int, int, int, int, bool]]:
    """The rows of an exception table."""
    ### BEGIN SOLUTION
    numbers, value = [], 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            numbers.append(value)
            value = 0
    rows = []
    for at in range(0, len(numbers), 4):
        start, length, target, last = numbers[at : at + 4]
        rows.append((2 * start, 2 * (start + length), 2 * target, last >> 1, bool(last & 1)))
    return rows
    ### END SOLUTION


# %%
check("03.3")

# %% [markdown]
# With it in the package, every function that is decoded from now on owes its `try` blocks to you:


# %%
def careful(numbers):
    try:
        return sum(numbers) / len(numbers)
    except ZeroDivisionError:
        return None
    finally:
        print("looked at", numbers)


if passed("03.3"):
    with splice("dynamo.parse_exception_table", parse_exception_table):
        print(interpret(careful, [1, 2, 6]), interpret(careful, []))


# %% tags=["wrong"] says="A number may take more than one byte"
def parse_exception_table(table):
    numbers = [byte & 63 for byte in table]
    rows = []
    for at in range(0, len(numbers) - 3, 4):
        start, length, target, last = numbers[at : at + 4]
        rows.append((2 * start, 2 * (start + length), 2 * target, last >> 1, bool(last & 1)))
    return rows


# %% tags=["wrong"] says="High groups come first"
def parse_exception_table(table):
    numbers, value, shift = [], 0, 0
    for byte in table:
        value |= (byte & 63) << shift
        shift += 6
        if not byte & 64:
            numbers.append(value)
            value = shift = 0
    rows = []
    for at in range(0, len(numbers), 4):
        start, length, target, last = numbers[at : at + 4]
        rows.append((2 * start, 2 * (start + length), 2 * target, last >> 1, bool(last & 1)))
    return rows


# %% tags=["wrong"] says="count code units of two bytes"
def parse_exception_table(table):
    numbers, value = [], 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            numbers.append(value)
            value = 0
    rows = []
    for at in range(0, len(numbers), 4):
        start, length, target, last = numbers[at : at + 4]
        rows.append((start, start + length, target, last >> 1, bool(last & 1)))
    return rows


# %% tags=["wrong"] says="The second number is a length"
def parse_exception_table(table):
    numbers, value = [], 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            numbers.append(value)
            value = 0
    rows = []
    for at in range(0, len(numbers), 4):
        start, end, target, last = numbers[at : at + 4]
        rows.append((2 * start, 2 * end, 2 * target, last >> 1, bool(last & 1)))
    return rows


# %% tags=["wrong"] says="The last number holds two things"
def parse_exception_table(table):
    numbers, value = [], 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            numbers.append(value)
            value = 0
    rows = []
    for at in range(0, len(numbers), 4):
        start, length, target, last = numbers[at : at + 4]
        rows.append((2 * start, 2 * (start + length), 2 * target, last, bool(last & 1)))
    return rows


# %% [markdown]
# ## 03.4 Find the bugs: unwind
#
# `unwind` is asked when the instruction at `self.current` raised. It looks for the row of the table that covers it, brings
# the stack into order, and says whether there was such a row. Two things were reported. A division by zero *behind* a `try`
# block was caught by it. And after an accident in the middle of an expression, the handler found the wrong values. Repair
# both. What it gets right must stay right. (A row has `start`, `end`, `target`, `depth` and `lasti`.)


# %% tags=["stub"]
def unwind(self, exception) -> bool:
    """Go to the handler that covers the current instruction; False if there is none."""
    for entry in self.program.exception_table:
        if entry.start <= self.current <= entry.end:
            if entry.lasti:
                self.push(self.current)
            self.push(exception)
            self.index = entry.target
            return True
    return False


# %% tags=["solution"]
def unwind(self, exception) -> bool:
    """Go to the handler that covers the current instruction; False if there is none."""
    for entry in self.program.exception_table:
        if entry.start <= self.current < entry.end:
            del self.stack[entry.depth :]
            if entry.lasti:
                self.push(self.current)
            self.push(exception)
            self.index = entry.target
            return True
    return False


# %%
check("03.4")


# %% tags=["wrong"] says="`end` is the first one behind the block"
def unwind(self, exception):
    for entry in self.program.exception_table:
        if entry.start <= self.current <= entry.end:
            del self.stack[entry.depth :]
            if entry.lasti:
                self.push(self.current)
            self.push(exception)
            self.index = entry.target
            return True
    return False


# %% tags=["wrong"] says="The half-finished values are still there"
def unwind(self, exception):
    for entry in self.program.exception_table:
        if entry.start <= self.current < entry.end:
            if entry.lasti:
                self.push(self.current)
            self.push(exception)
            self.index = entry.target
            return True
    return False


# %% tags=["wrong"] says="The exception comes last, on top"
def unwind(self, exception):
    for entry in self.program.exception_table:
        if entry.start <= self.current < entry.end:
            del self.stack[entry.depth :]
            self.push(exception)
            if entry.lasti:
                self.push(self.current)
            self.index = entry.target
            return True
    return False


# %% tags=["wrong"] says="only if the row asks for it"
def unwind(self, exception):
    for entry in self.program.exception_table:
        if entry.start <= self.current < entry.end:
            del self.stack[entry.depth :]
            self.push(self.current)
            self.push(exception)
            self.index = entry.target
            return True
    return False


# %% tags=["wrong"] says="whether there is a handler: True or False"
def unwind(self, exception):
    for entry in self.program.exception_table:
        if entry.start <= self.current < entry.end:
            del self.stack[entry.depth :]
            if entry.lasti:
                self.push(self.current)
            self.push(exception)
            self.index = entry.target


# %% [markdown]
# ## 03.5 Bytecode by hand
#
# Write a program that takes the slots `a` and `b`, two integers not below 0, and returns their greatest common divisor. In
# Python it would be `while b: a, b = b, a % b`, and then `return a`. An instruction is a tuple of its name and its operand;
# the operand of a jump is the number of an instruction. Calls are not allowed. CPython itself needs about 14
# instructions. Par is 10.

# %% tags=["stub"]
program = [
    ("LOAD_FAST", "a"),
    ...,
    ("RETURN_VALUE",),
]

# %% tags=["solution"]
program = [
    ("LOAD_FAST", "a"),
    ("LOAD_FAST", "b"),
    ("COPY", 1),  # 2: the loop; on the stack are a, b
    ("POP_JUMP_IF_FALSE", 8),
    ("SWAP", 2),
    ("COPY", 2),
    ("BINARY_OP", "%"),  # b, a % b
    ("JUMP", 2),
    ("POP_TOP",),  # 8
    ("RETURN_VALUE",),
]

# %%
check("03.5")

# %% [markdown]
# `assemble` makes a real function of it, for the Python that runs this notebook. Nobody who calls it can tell that it
# never had a source.

# %%
from minitorch_compile.dynamo.bytecode.assemble import assemble
from minitorch_compile.dynamo.bytecode.instructions import JUMPS


def divisor(a, b):
    """The greatest common divisor, written by hand."""


if passed("03.5"):
    steps = [
        Instruction(name, target=operand[0]) if name in JUMPS else Instruction(name, *operand)
        for name, *operand in program
    ]
    divisor.__code__ = assemble(Program(divisor.__code__, tuple(steps)))
    print(divisor(1071, 462))

# %% tags=["wrong"] says="Can the two numbers stay on the stack"
program = [
    ("LOAD_FAST", "b"),
    ("POP_JUMP_IF_FALSE", 9),
    ("LOAD_FAST", "b"),
    ("LOAD_FAST", "a"),
    ("LOAD_FAST", "b"),
    ("BINARY_OP", "%"),
    ("STORE_FAST", "b"),
    ("STORE_FAST", "a"),
    ("JUMP", 0),
    ("LOAD_FAST", "a"),
    ("RETURN_VALUE",),
]

# %% tags=["wrong"] says="Test at the top, before anything is divided"
program = [
    ("LOAD_FAST", "a"),
    ("LOAD_FAST", "b"),
    ("SWAP", 2),
    ("COPY", 2),
    ("BINARY_OP", "%"),
    ("COPY", 1),
    ("POP_JUMP_IF_TRUE", 2),
    ("POP_TOP",),
    ("RETURN_VALUE",),
]

# %% tags=["wrong"] says="A loop must leave the stack as it found it"
program = [
    ("LOAD_FAST", "a"),
    ("LOAD_FAST", "b"),
    ("COPY", 1),
    ("POP_JUMP_IF_FALSE", 7),
    ("COPY", 2),
    ("BINARY_OP", "%"),
    ("JUMP", 0),
    ("POP_TOP",),
    ("RETURN_VALUE",),
]

# %% tags=["wrong"] says="The answer is the other one"
program = [
    ("LOAD_FAST", "a"),
    ("LOAD_FAST", "b"),
    ("COPY", 1),
    ("POP_JUMP_IF_FALSE", 8),
    ("SWAP", 2),
    ("COPY", 2),
    ("BINARY_OP", "%"),
    ("JUMP", 2),
    ("RETURN_VALUE",),
]

# %% tags=["wrong"] says="Which number gets smaller in each round"
program = [
    ("LOAD_FAST", "a"),
    ("LOAD_FAST", "b"),
    ("COPY", 1),
    ("POP_JUMP_IF_FALSE", 7),
    ("COPY", 2),
    ("BINARY_OP", "%"),
    ("JUMP", 2),
    ("POP_TOP",),
    ("RETURN_VALUE",),
]

# %% [markdown]
# ## 03.6 How deep does the stack get?
#
# CPython allots each frame as many places as its stack will ever need. Work that number out, without running the program.
# `EFFECTS` says by how much each instruction changes the depth; only `FOR_ITER` depends on what happens: +1 when it goes
# on, -1 when it jumps. An instruction has `.opname`, `.target` (None if it doesn't jump) and `.falls_through` (False for
# `JUMP`, `RETURN_VALUE` and the like). `program.handler_of(index)` is the row that covers an instruction, or None. Count
# only what can be reached from instruction 0; any covered instruction may raise.

# %%
EFFECTS = {
    "LOAD_CONST": 1,
    "LOAD_FAST": 1,
    "STORE_FAST": -1,
    "BINARY_OP": -1,
    "COMPARE_OP": -1,
    "POP_TOP": -1,
    "COPY": 1,
    "SWAP": 0,
    "JUMP": 0,
    "POP_JUMP_IF_TRUE": -1,
    "POP_JUMP_IF_FALSE": -1,
    "GET_ITER": 0,
    "FOR_ITER": 1,
    "PUSH_EXC_INFO": 1,
    "POP_EXCEPT": -1,
    "RERAISE": -1,
    "RETURN_VALUE": -1,
}


def deepest(program: Program) -> int:
    """The greatest depth that the program's stack can have."""
    ### BEGIN SOLUTION
    depths, pending = {}, [(0, 0)]
    while pending:
        index, depth = pending.pop()
        if index in depths or index >= len(program.instructions):
            continue
        depths[index] = depth
        instruction = program.instructions[index]
        after = depth + EFFECTS[instruction.opname]
        if instruction.falls_through:
            pending.append((index + 1, after))
        if instruction.target is not None:
            pending.append((instruction.target, depth - 1 if instruction.opname == "FOR_ITER" else after))
        entry = program.handler_of(index)
        if entry is not None:
            pending.append((entry.target, entry.depth + entry.lasti + 1))
    return max(depths.values())
    ### END SOLUTION


# %%
check("03.6")


# %% tags=["wrong"] says="You went through the list from top to bottom"
def deepest(program):
    depth = most = 0
    for instruction in program.instructions:
        depth += EFFECTS[instruction.opname]
        most = max(most, depth)
    return most


# %% tags=["wrong"] says="You left out the handlers"
def deepest(program):
    depths, pending = {}, [(0, 0)]
    while pending:
        index, depth = pending.pop()
        if index in depths or index >= len(program.instructions):
            continue
        depths[index] = depth
        instruction = program.instructions[index]
        after = depth + EFFECTS[instruction.opname]
        if instruction.falls_through:
            pending.append((index + 1, after))
        if instruction.target is not None:
            pending.append((instruction.target, depth - 1 if instruction.opname == "FOR_ITER" else after))
    return max(depths.values())


# %% tags=["wrong"] says="it takes the iterator away: one value fewer"
def deepest(program):
    depths, pending = {}, [(0, 0)]
    while pending:
        index, depth = pending.pop()
        if index in depths or index >= len(program.instructions):
            continue
        depths[index] = depth
        instruction = program.instructions[index]
        after = depth + EFFECTS[instruction.opname]
        if instruction.falls_through:
            pending.append((index + 1, after))
        if instruction.target is not None:
            pending.append((instruction.target, after))
        entry = program.handler_of(index)
        if entry is not None:
            pending.append((entry.target, entry.depth + entry.lasti + 1))
    return max(depths.values())


# %% tags=["wrong"] says="pushes two things: the raising index, and the exception"
def deepest(program):
    depths, pending = {}, [(0, 0)]
    while pending:
        index, depth = pending.pop()
        if index in depths or index >= len(program.instructions):
            continue
        depths[index] = depth
        instruction = program.instructions[index]
        after = depth + EFFECTS[instruction.opname]
        if instruction.falls_through:
            pending.append((index + 1, after))
        if instruction.target is not None:
            pending.append((instruction.target, depth - 1 if instruction.opname == "FOR_ITER" else after))
        entry = program.handler_of(index)
        if entry is not None:
            pending.append((entry.target, entry.depth + 1))
    return max(depths.values())


# %% tags=["wrong"] says="forgot what is taken away"
def deepest(program):
    return sum(max(EFFECTS[instruction.opname], 0) for instruction in program.instructions)


# %% [markdown]
# Save the notebook, and see where you stand:

# %%
progress("03")

# %% [markdown]
# And the switch for everything: inside its block the package runs on all of your answers, of all lessons, that pass their
# checks and have a place in it.

# %%
with own_parts() as places:
    print("running on your own:", *places)
    print(interpret(careful, []), torch.compile(powers, backend="eager")(torch.tensor(3.0), 3))
