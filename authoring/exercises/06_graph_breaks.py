# %% [markdown]
# # 06 Exercises: graph breaks
#
# Six exercises, about an hour and a half. Each is a sentence, a signature, an example and a check. Write your answer in place
# of the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("06.1")` gives the first of
# three hints, and calling it again the next; hints cost nothing.

# %%
from dataclasses import replace
from types import FunctionType

import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.dynamo.bytecode.assemble import assemble
from minitorch_compile.dynamo.bytecode.control_flow import successors
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.instructions import NULL, Instruction, Program
from minitorch_compile.dynamo.bytecode.liveness import READS, WRITES

# %% [markdown]
# ## 06.1 How many graphs: predict
#
# Each of these functions is compiled and called once, with `torch.tensor([1.0, 2.0])` and an empty list. Before you run
# anything, write how many graphs there are afterwards. A part of a function without any tensor operation is no graph.

# %%
Tensor = torch.Tensor


def appending(x: Tensor, log: list[Tensor]) -> Tensor:
    y = x * 2
    log.append(y)
    return y + len(log)


def printing(x: Tensor, log: list[Tensor]) -> Tensor:
    y = x * 2
    print("halfway")
    return y + 1


def printing_first(x: Tensor, log: list[Tensor]) -> Tensor:
    print("start")
    return x * 2 + 1


def shape_branch(x: Tensor, log: list[Tensor]) -> Tensor:
    if x.shape[0] > 1:
        return x * 2
    return x * 3


def data_branch(x: Tensor, log: list[Tensor]) -> Tensor:
    if x.sum() > 0:
        return x * 2
    return x * 3


def number(x: Tensor, log: list[Tensor]) -> Tensor:
    return x * x.max().item()


def number_returned(x: Tensor, log: list[Tensor]) -> float:
    return (x * 2).max().item()


def calling(x: Tensor, log: list[Tensor]) -> Tensor:
    y = printing(x + 1, log)
    return y * 3


# %% tags=["stub"]
graphs = {
    "appending": ...,
    "printing": ...,
    "printing_first": ...,
    "shape_branch": ...,
    "data_branch": ...,
    "number": ...,
    "number_returned": ...,
    "calling": ...,
}

# %% tags=["solution"]
graphs = {
    "appending": 1,
    "printing": 2,
    "printing_first": 1,
    "shape_branch": 1,
    "data_branch": 2,
    "number": 2,
    "number_returned": 1,
    "calling": 4,
}

# %%
check("06.1")

# %% tags=["wrong"] says="noted and done after the graph"
graphs = graphs | {"appending": 2}

# %% tags=["wrong"] says="Before the print there is no tensor operation"
graphs = graphs | {"printing_first": 2}

# %% tags=["wrong"] says="Sizes are known while tracing"
graphs = graphs | {"shape_branch": 2}

# %% tags=["wrong"] says="not compiled until it is needed"
graphs = graphs | {"data_branch": 3}

# %% tags=["wrong"] says="nothing is left but to return"
graphs = graphs | {"number_returned": 2}

# %% tags=["wrong"] says="compiled by itself"
graphs = graphs | {"calling": 2}

# %% [markdown]
# ## 06.2 What is carried over
#
# The program goes on at instruction `index`. Give the set of slots whose content will matter: those that are read, on some
# way from there, before they are written. `READS` and `WRITES` are the names of the instructions that read and write the
# slot `inst.argval`. `successors(program, i)` are the instructions that may follow instruction i, and
# `program.handler_of(i)` is None or has the `target` to which i jumps if it raises; it jumps before it writes. For
# `def f(a, b): c = a + b; return c`, at the first instruction, the answer is `{"a", "b"}`.


# %%
def live_slots(program: Program, index: int) -> set[str]:
    """The slots that are read, before they are written, from instruction index on."""
    ### BEGIN SOLUTION
    live = [set() for _ in range(len(program.instructions) + 1)]
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(program.instructions))):
            inst, entry = program.instructions[i], program.handler_of(i)
            slot = {inst.argval}
            before = set().union(*(live[j] for j in successors(program, i)))
            before = before - slot if inst.opname in WRITES else before
            before = before | slot if inst.opname in READS else before
            before = before | live[entry.target] if entry else before
            changed = changed or before != live[i]
            live[i] = before
    return live[index]
    ### END SOLUTION


# %%
check("06.2")

# %% [markdown]
# The package asks this at every break. Here the number is taken out of y, and only y is needed afterwards.

# %%
if passed("06.2"):
    from minitorch_compile.course.drawings.split import draw_split

    def halved(x):
        y = x + 1
        big = y.max().item() > 2
        return y / 2 if big else y

    with splice("dynamo.live_slots", live_slots):
        fast = torch.compile(halved, backend="eager")
        print(fast(torch.tensor([1.0, 2.0])))
        display(draw_split(fast))


# %% tags=["wrong"] says="Repeat until nothing changes"
def live_slots(program, index):
    live = [set() for _ in range(len(program.instructions) + 1)]
    for i in reversed(range(len(program.instructions))):
        inst, entry = program.instructions[i], program.handler_of(i)
        slot = {inst.argval}
        before = set().union(*(live[j] for j in successors(program, i)))
        before = before - slot if inst.opname in WRITES else before
        before = before | slot if inst.opname in READS else before
        live[i] = before | live[entry.target] if entry else before
    return live[index]


# %% tags=["wrong"] says="the handler is next"
def live_slots(program, index):
    live = [set() for _ in range(len(program.instructions) + 1)]
    for _ in range(10):
        for i in reversed(range(len(program.instructions))):
            inst = program.instructions[i]
            slot = {inst.argval}
            before = set().union(*(live[j] for j in successors(program, i)))
            before = before - slot if inst.opname in WRITES else before
            live[i] = before | slot if inst.opname in READS else before
    return live[index]


# %% tags=["wrong"] says="its old content doesn't matter"
def live_slots(program, index):
    return {inst.argval for inst in program.instructions[index:] if inst.opname in READS}


# %% tags=["wrong"] says="another successor than the next instruction"
def live_slots(program, index):
    live = set()
    for inst in reversed(program.instructions[index:]):
        if inst.opname in WRITES:
            live = live - {inst.argval}
        if inst.opname in READS:
            live = live | {inst.argval}
    return live


# %% tags=["wrong"] says="Live are only those that will still be read"
def live_slots(program, index):
    return set(program.slot_names)


# %% [markdown]
# ## 06.3 Find the bug: the rest of a function
#
# `rest_of` is to make a function that continues `function` at instruction `index`. It is called with the slots, in the order
# given, and then with the values of the stack from the bottom, without its NULLs. It was reported that something is done
# twice, that `a - b` comes out as `b - a` if both were on the stack, and that calls fail in a strange way. Repair it.


# %% tags=["stub"]
def rest_of(function: FunctionType, index: int, stack: list, slots: list[str]) -> FunctionType:
    """The function that continues at instruction `index`; called with the slots, then the stack."""
    program = decode(function.__code__)
    names = [f"stack{i}" for i in range(len(stack))]
    push = [Instruction("LOAD_FAST", name) for name in reversed(names)]
    prefix = [*push, Instruction("JUMP", target=len(push) + index)]
    rest = program.shifted(len(prefix))
    arguments = [*slots, *names]
    others = [name for name in program.slot_names if name not in slots]
    header = program.code.replace(
        co_name=f"rest_of_{program.code.co_name}",
        co_argcount=len(arguments),
        co_varnames=(*arguments, *others),
        co_nlocals=len(arguments) + len(others),
    )
    whole = replace(rest, code=header, instructions=(*prefix, *rest.instructions))
    return FunctionType(assemble(whole), function.__globals__)


# %% tags=["solution"]
def rest_of(function: FunctionType, index: int, stack: list, slots: list[str]) -> FunctionType:
    """The function that continues at instruction `index`; called with the slots, then the stack."""
    program = decode(function.__code__)
    places = [None if value is NULL else f"stack{i}" for i, value in enumerate(stack)]
    names = [name for name in places if name is not None]
    push = [Instruction("LOAD_FAST", name) if name else Instruction("PUSH_NULL") for name in places]
    prefix = [*push, Instruction("JUMP", target=len(push) + 1 + index)]
    rest = program.shifted(len(prefix))
    arguments = [*slots, *names]
    others = [name for name in program.slot_names if name not in slots]
    header = program.code.replace(
        co_name=f"rest_of_{program.code.co_name}",
        co_argcount=len(arguments),
        co_varnames=(*arguments, *others),
        co_nlocals=len(arguments) + len(others),
    )
    whole = replace(rest, code=header, instructions=(*prefix, *rest.instructions))
    return FunctionType(assemble(whole), function.__globals__)


# %%
check("06.3")


# %% tags=["wrong"] says="one instruction too early"
def rest_of(function, index, stack, slots):
    program = decode(function.__code__)
    places = [None if value is NULL else f"stack{i}" for i, value in enumerate(stack)]
    names = [name for name in places if name is not None]
    push = [Instruction("LOAD_FAST", name) if name else Instruction("PUSH_NULL") for name in places]
    prefix = [*push, Instruction("JUMP", target=len(push) + index)]
    rest = program.shifted(len(prefix))
    arguments = [*slots, *names]
    others = [name for name in program.slot_names if name not in slots]
    code = program.code.replace(
        co_argcount=len(arguments),
        co_varnames=(*arguments, *others),
        co_nlocals=len(arguments) + len(others),
    )
    whole = replace(rest, code=code, instructions=(*prefix, *rest.instructions))
    return FunctionType(assemble(whole), function.__globals__)


# %% tags=["wrong"] says="The values arrive the other way round"
def rest_of(function, index, stack, slots):
    program = decode(function.__code__)
    places = [None if value is NULL else f"stack{i}" for i, value in enumerate(stack)]
    names = [name for name in places if name is not None]
    push = [Instruction("LOAD_FAST", name) if name else Instruction("PUSH_NULL") for name in reversed(places)]
    prefix = [*push, Instruction("JUMP", target=len(push) + 1 + index)]
    rest = program.shifted(len(prefix))
    arguments = [*slots, *names]
    others = [name for name in program.slot_names if name not in slots]
    code = program.code.replace(
        co_argcount=len(arguments),
        co_varnames=(*arguments, *others),
        co_nlocals=len(arguments) + len(others),
    )
    whole = replace(rest, code=code, instructions=(*prefix, *rest.instructions))
    return FunctionType(assemble(whole), function.__globals__)


# %% tags=["wrong"] says="NULL must be pushed again"
def rest_of(function, index, stack, slots):
    program = decode(function.__code__)
    places = [f"stack{i}" for i, value in enumerate(stack) if value is not NULL]
    names = places
    push = [Instruction("LOAD_FAST", name) if name else Instruction("PUSH_NULL") for name in places]
    prefix = [*push, Instruction("JUMP", target=len(push) + 1 + index)]
    rest = program.shifted(len(prefix))
    arguments = [*slots, *names]
    others = [name for name in program.slot_names if name not in slots]
    code = program.code.replace(
        co_argcount=len(arguments),
        co_varnames=(*arguments, *others),
        co_nlocals=len(arguments) + len(others),
    )
    whole = replace(rest, code=code, instructions=(*prefix, *rest.instructions))
    return FunctionType(assemble(whole), function.__globals__)


# %% tags=["wrong"] says="an instruction is skipped"
def rest_of(function, index, stack, slots):
    program = decode(function.__code__)
    places = [None if value is NULL else f"stack{i}" for i, value in enumerate(stack)]
    names = [name for name in places if name is not None]
    push = [Instruction("LOAD_FAST", name) if name else Instruction("PUSH_NULL") for name in places]
    prefix = [*push, Instruction("JUMP", target=len(push) + 2 + index)]
    rest = program.shifted(len(prefix))
    arguments = [*slots, *names]
    others = [name for name in program.slot_names if name not in slots]
    code = program.code.replace(
        co_argcount=len(arguments),
        co_varnames=(*arguments, *others),
        co_nlocals=len(arguments) + len(others),
    )
    whole = replace(rest, code=code, instructions=(*prefix, *rest.instructions))
    return FunctionType(assemble(whole), function.__globals__)


# %% [markdown]
# ## 06.4 Effects that needn't be replayed
#
# While a program was traced, its side effects were noted in order, as tuples: `("store", target, name, value)` for
# `target.name = value`, `("delete", target, name)`, and `("append", target, value)` for a list. A counter in a loop leaves a
# hundred stores to one attribute, of which only the last will be seen. Return a new list in which a store to an attribute
# that was stored before takes *the place of the earlier one*, so that attributes come into being in the same order as in
# the program. A delete ends that: what is stored after it is a new attribute. Appends stay, all of them.
#
# `[("store", "m", "a", 1), ("store", "m", "b", 2), ("store", "m", "a", 3)]` becomes
# `[("store", "m", "a", 3), ("store", "m", "b", 2)]`.


# %%
def merged(effects: list[tuple]) -> list[tuple]:
    """The effects that have to be replayed, in order."""
    ### BEGIN SOLUTION
    result, latest = [], {}
    for effect in effects:
        kind, place = effect[0], effect[1:3]
        if kind == "store" and place in latest:
            result[latest[place]] = effect
            continue
        if kind == "store":
            latest[place] = len(result)
        elif kind == "delete":
            latest.pop(place, None)
        result.append(effect)
    return result
    ### END SOLUTION


# %%
check("06.4")


# %% tags=["wrong"] says="in the place of the first store"
def merged(effects):
    result = []
    for effect in effects:
        if effect[0] == "store":
            result = [known for known in result if known[:3] != effect[:3]]
        result.append(effect)
    return result


# %% tags=["wrong"] says="You kept the first value"
def merged(effects):
    result, seen = [], set()
    for effect in effects:
        if effect[0] == "store" and effect[1:3] in seen:
            continue
        if effect[0] == "store":
            seen.add(effect[1:3])
        result.append(effect)
    return result


# %% tags=["wrong"] says="they are two places"
def merged(effects):
    result, latest = [], {}
    for effect in effects:
        if effect[0] == "store" and effect[2] in latest:
            result[latest[effect[2]]] = effect
            continue
        if effect[0] == "store":
            latest[effect[2]] = len(result)
        elif effect[0] == "delete":
            latest.pop(effect[2], None)
        result.append(effect)
    return result


# %% tags=["wrong"] says="A delete lies in between"
def merged(effects):
    result, latest = [], {}
    for effect in effects:
        if effect[0] == "store" and effect[1:3] in latest:
            result[latest[effect[1:3]]] = effect
            continue
        if effect[0] == "store":
            latest[effect[1:3]] = len(result)
        result.append(effect)
    return result


# %% tags=["wrong"] says="Appends add up"
def merged(effects):
    result, latest = [], {}
    for effect in effects:
        kind, place = effect[0], effect[1:3] if effect[0] != "append" else effect[1:2]
        if kind == "delete":
            latest.pop(place, None)
        elif place in latest:
            result[latest[place]] = effect
            continue
        else:
            latest[place] = len(result)
        result.append(effect)
    return result


# %% tags=["wrong"] says="Nothing was left out"
def merged(effects):
    return list(effects)


# %% [markdown]
# ## 06.5 Breaks to order
#
# Write four functions of one tensor, which return a tensor or a number, that break exactly as ordered. Each is called with
# three positive numbers.
#
# - `"number"`: two graphs, because a line needs a number out of a tensor (`MTC-B07`).
# - `"branch"`: two graphs, because of a branch that depends on data (`MTC-B05`).
# - `"world"`: three graphs, with two breaks because of `print` or the like (`MTC-B03`).
# - `"callee"`: four graphs from a single break (`MTC-B03`), which lies in a function that yours calls.

# %% tags=["stub"]
programs = {
    "number": ...,
    "branch": ...,
    "world": ...,
    "callee": ...,
}


# %% tags=["solution"]
def number(x):
    return x * x.max().item()


def branch(x):
    return x * 2 if x.sum() > 0 else x


def world(x):
    y = x + 1
    print("one")
    y = y * 2
    print("two")
    return y - 1


def helper(x):
    y = x * 2
    print("inside")
    return y + 1


def callee(x):
    return helper(x + 1) * 3


programs = {"number": number, "branch": branch, "world": world, "callee": callee}

# %%
check("06.5")

# %% tags=["wrong"] says="breaks for another reason"
programs = programs | {"number": lambda x: x * 2 if x.sum() > 0 else x * 3}

# %% tags=["wrong"] says="Nothing breaks. Wanted is a branch"
programs = programs | {"branch": lambda x: x * 2 if x.shape[0] > 2 else x * 3}

# %% tags=["wrong"] says="The number of breaks should be 2"
programs = programs | {"world": helper}

# %% tags=["wrong"] says="The breaks are right"
programs = programs | {"world": lambda x: (print("one"), x * 2, print("two"))[1]}

# %% tags=["wrong"] says="in a function that it calls"
programs = programs | {"callee": helper}

# %% [markdown]
# ## 06.6 Mend it
#
# `clipped` shortens vectors that are longer than 1 to length 1, keeps a record, and breaks three times. Rewrite it so that it
# becomes one graph, the same for long vectors and short ones. It must return what it returned, and append the length to
# `log` at every call, as a number or as a tensor. The message may go.


# %% tags=["stub"]
def clipped(x: torch.Tensor, log: list) -> torch.Tensor:
    """x, shortened to length 1 if it is longer."""
    length = (x * x).sum().sqrt().item()
    log.append(length)
    if length > 1:
        print("clipped a vector of length", length)
        x = x / length
    return x


# %% tags=["solution"]
def clipped(x: torch.Tensor, log: list) -> torch.Tensor:
    """x, shortened to length 1 if it is longer."""
    length = (x * x).sum().sqrt()
    log.append(length)
    return x / length.clamp(min=1.0)


# %%
check("06.6")


# %% tags=["wrong"] says="A number is taken out of a tensor"
def clipped(x, log):
    length = (x * x).sum().sqrt()
    log.append(length.item())
    return x / length.clamp(min=1.0)


# %% tags=["wrong"] says="torch.where computes both sides"
def clipped(x, log):
    length = (x * x).sum().sqrt()
    log.append(length)
    return x / length if length > 1 else x


# %% tags=["wrong"] says="must come back as they are"
def clipped(x, log):
    length = (x * x).sum().sqrt()
    log.append(length)
    return x / (length + 1e-9)


# %% tags=["wrong"] says="appends one length to log"
def clipped(x, log):
    length = (x * x).sum().sqrt()
    return x / length.clamp(min=1.0)


# %% tags=["wrong"] says="before it was clipped"
def clipped(x, log):
    length = (x * x).sum().sqrt()
    x = x / length.clamp(min=1.0)
    log.append((x * x).sum().sqrt())
    return x


# %% tags=["wrong"] says="The caller can look into log"
def clipped(x, log):
    length = (x * x).sum().sqrt()
    log.append(length)
    print("a vector came by")
    return x / length.clamp(min=1.0)
