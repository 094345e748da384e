# %% [markdown]
# # 07 Exercises: the frame hook
#
# Six exercises, an hour and a half: three about the package's hook, three quarters of an hour, and three steps
# of your own `mini/frames.py`, three quarters of an hour. Each is a sentence, a signature, an example and a check. Write your answer in
# place of the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("07.1")` gives
# the first of three hints, and calling it again the next; hints cost nothing. One answer can be spliced into the
# package: then the hook stands or falls with it.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress
from minitorch_compile.dynamo import frame_hook
from minitorch_compile.dynamo.frame_evaluation.native import RUN_AS_IS
from minitorch_compile.dynamo.testing import eager

# %% [markdown]
# ## 07.1 Tensors in sight
#
# Tell whether a value is a tensor, or leads to one in at most `depth` steps. A step goes from a list, tuple or set to one of
# its items, from a dict to one of its values, from any other object to one of its attributes. So `[[x]]` holds a tensor for
# depth 2, and not for depth 1. Looking must not run any code of the user's, such as a property or a `__getattr__`:
# `object.__getattribute__(value, "__dict__")` gives the attributes without, and raises AttributeError if there are none.


# %%
def holds_tensor(value: object, depth: int) -> bool:
    """Whether there is a tensor in value, at most depth steps away."""
    ### BEGIN SOLUTION
    if isinstance(value, torch.Tensor):
        return True
    if depth == 0:
        return False
    if isinstance(value, list | tuple | set):
        inside = list(value)
    elif isinstance(value, dict):
        inside = list(value.values())
    else:
        try:
            inside = list(object.__getattribute__(value, "__dict__").values())
        except AttributeError:
            inside = []
    return any(holds_tensor(item, depth - 1) for item in inside)
    ### END SOLUTION


# %%
check("07.1")


# %% tags=["wrong"] says="come in lists, tuples, sets and dicts"
def holds_tensor(value, depth):
    return isinstance(value, torch.Tensor)


# %% tags=["wrong"] says="In a dict the tensors are the values"
def holds_tensor(value, depth):
    if isinstance(value, torch.Tensor):
        return True
    inside = value if isinstance(value, list | tuple | set | dict) else []
    return depth > 0 and any(holds_tensor(item, depth - 1) for item in inside)


# %% tags=["wrong"] says="Only the depth ends the search"
def holds_tensor(value, depth):
    if isinstance(value, torch.Tensor):
        return True
    if isinstance(value, list | tuple | set):
        return any(holds_tensor(item, depth) for item in value if depth)
    if isinstance(value, dict):
        return holds_tensor(list(value.values()), depth)
    return False


# %% tags=["wrong"] says="depth counts the steps"
def holds_tensor(value, depth):
    if isinstance(value, torch.Tensor):
        return True
    if depth < 0:
        return False
    inside = value.values() if isinstance(value, dict) else value
    return isinstance(inside, list | tuple | set | type({}.values())) and any(
        holds_tensor(item, depth - 1) for item in inside
    )


# %% tags=["wrong"] says="An object holds tensors in its attributes"
def holds_tensor(value, depth):
    if isinstance(value, torch.Tensor):
        return True
    inside = list(value.values()) if isinstance(value, dict) else value
    return (
        depth > 0
        and isinstance(inside, list | tuple | set)
        and any(holds_tensor(i, depth - 1) for i in inside)
    )


# %% tags=["wrong"] says="Looking must not change anything"
def holds_tensor(value, depth):
    if isinstance(value, torch.Tensor):
        return True
    if depth == 0:
        return False
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list | tuple | set):
        value = list(getattr(value, "__dict__", {}).values())
    return any(holds_tensor(item, depth - 1) for item in value)


# %% [markdown]
# ## 07.2 A hook that remembers
#
# Write an `enter` that remembers results. `memory` is a dict that is yours, empty at first. `call()` evaluates the frame past
# the hook and gives its result; calling `function(*slots)` yourself would be stopped again. Answer from the memory where it
# is right to do so, and remember only what can't be changed: results that are an int, str, bool or None. If one of the slots
# is of another type than these four, give the frame back. Take care: `1 == True`.


# %%
def enter(memory: dict, call, function, *slots):
    """The frame's result, remembered or fresh; or RUN_AS_IS."""
    ### BEGIN SOLUTION
    fixed = (int, str, bool, type(None))
    if any(type(slot) not in fixed for slot in slots):
        return RUN_AS_IS
    question = function, slots, tuple(map(type, slots))
    if question in memory:
        return memory[question]
    result = call()
    if type(result) in fixed:
        memory[question] = result
    return result
    ### END SOLUTION


# %%
check("07.2")


# %% tags=["wrong"] says="must name the function, too"
def enter(memory, call, function, *slots):
    if slots not in memory:
        memory[slots] = call()
    return memory[slots]


# %% tags=["wrong"] says="and not their closures"
def enter(memory, call, function, *slots):
    if any(isinstance(slot, list) for slot in slots):
        return RUN_AS_IS
    question = function.__code__, slots, tuple(map(type, slots))
    if question not in memory:
        memory[question] = call()
    return memory[question]


# %% tags=["wrong"] says="keep the types with the values"
def enter(memory, call, function, *slots):
    if any(isinstance(slot, list) for slot in slots):
        return RUN_AS_IS
    if (function, slots) not in memory:
        memory[function, slots] = call()
    return memory[function, slots]


# %% tags=["wrong"] says="Give such a frame back: RUN_AS_IS"
def enter(memory, call, function, *slots):
    question = function, slots, tuple(map(type, slots))
    if question not in memory:
        result = call()
        if isinstance(result, list):
            return result
        memory[question] = result
    return memory[question]


# %% tags=["wrong"] says="Keep only what can't be changed"
def enter(memory, call, function, *slots):
    if any(isinstance(slot, list) for slot in slots):
        return RUN_AS_IS
    question = function, slots, tuple(map(type, slots))
    if question not in memory:
        memory[question] = call()
    return memory[question]


# %% tags=["wrong"] says="call() goes past the hook"
def enter(memory, call, function, *slots):
    if any(isinstance(slot, list) for slot in slots):
        return RUN_AS_IS
    question = function, slots, tuple(map(type, slots))
    if question not in memory:
        memory[question] = function(*slots)
    return memory[question]


# %% tags=["wrong"] says="and the function ran again"
def enter(memory, call, function, *slots):
    return RUN_AS_IS


# %% [markdown]
# ## 07.3 What is captured: predict
#
# Each line is run under a new hook. Before you run anything, write down which functions get a graph, as a list of names; for
# `doubled(x)` it would be `["doubled"]` if you think that one does. A method goes by its own name, without the class.

# %%
x = torch.ones(2)
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())


def doubled(x):
    return x * 2


def twice(x):
    return doubled(doubled(x))


def produce(x):
    yield doubled(x)


def count(n):
    return n * 2


@torch.compiler.disable
def outside(x):
    return doubled(x)


class Box:
    def __init__(self, x):
        self.x = x

    @property
    def half(self):
        return self.x / 2


box = Box(x)

# %% tags=["stub"]
captured = {
    "doubled(x)": ...,
    "twice(x)": ...,
    "list(map(doubled, [x, x]))": ...,
    "count(3)": ...,
    "list(produce(x))": ...,
    "outside(x)": ...,
    "box.half": ...,
    "model(x)": ...,
    "thread.start(), thread.join()": ...,  # thread = threading.Thread(target=doubled, args=(x,))
}

# %% tags=["solution"]
captured = {
    "doubled(x)": ["doubled"],
    "twice(x)": ["twice"],
    "list(map(doubled, [x, x]))": ["doubled"],
    "count(3)": [],
    "list(produce(x))": ["doubled"],
    "outside(x)": [],
    "box.half": ["half"],
    "model(x)": ["__call__"],
    "thread.start(), thread.join()": [],
}

# %%
check("07.3")

# %% tags=["wrong"] says="never had a frame of its own"
captured = captured | {"twice(x)": ["twice", "doubled"]}

# %% tags=["wrong"] says="There is no tensor in sight"
captured = captured | {"count(3)": ["count"]}

# %% tags=["wrong"] says="is a call like any other"
captured = captured | {"list(produce(x))": []}

# %% tags=["wrong"] says="for everything that it calls"
captured = captured | {"outside(x)": ["doubled"]}

# %% tags=["wrong"] says="A property is a function"
captured = captured | {"box.half": []}

# %% tags=["wrong"] says="Frames of others pass"
captured = captured | {"thread.start(), thread.join()": ["doubled"]}


# %% [markdown]
# ## Your own stack: `mini/frames.py`
#
# Where a graph of yours breaks, your `Region` does one instruction for real; if that is a call, CPython runs what is called,
# and nothing in it is compiled. In this file you take such calls over. Your interpreter needs no pointer in C for that: its
# frames make every call through `Frame.apply`, and a frame may have another one. The file uses `Frame` of your
# `interpreter.py` and `Region` of your `breaks.py`. The package's version is `dynamo/frame_evaluation/`.

# %% [markdown]
# ## 07.4 Which calls are worth it
#
# `may_be_taken(function)` is true of the program's own functions. Not of a library's: `LIBRARY` has the first words of their
# names, and a function's module is its `__module__`, which may be None. Not of this package, `mini`, except for its modules
# of layers, `mini.nn`. And not if its code is flagged as one whose frame is left and entered again: `__code__.co_flags &
# SUSPENDED`. `in_sight(value)` is true of a tensor, of a list, tuple or dictionary with a tensor in it, and of an object with
# an attribute that is one. One level is enough.


# %% step="07.4"
def may_be_taken(function):
    """The program's own functions: no library's, and none of this package, but for the modules of `mini.nn`."""


def in_sight(value):
    """Whether it is a tensor, or holds one, as a container or an object does."""


# %%
check("07.4")

# %% tags=["wrong"] step="07.4" says="A library's function is none of the program's"
# - return not is_library and not function.__code__.co_flags & SUSPENDED
# + return not module.startswith("mini.") and not function.__code__.co_flags & SUSPENDED or module == "mini.nn"

# %% tags=["wrong"] step="07.4" says="the first word of the name counts"
# - is_library = module != "mini.nn" and module.partition(".")[0] in LIBRARY
# + is_library = module != "mini.nn" and (module in LIBRARY or module.startswith("mini."))

# %% tags=["wrong"] step="07.4" says="Its frame stops and goes on later"
# - return not is_library and not function.__code__.co_flags & SUSPENDED
# + return not is_library

# %% tags=["wrong"] step="07.4" says="The modules of mini.nn belong to the program"
# - is_library = module != "mini.nn" and module.partition(".")[0] in LIBRARY
# + is_library = module.partition(".")[0] in LIBRARY

# %% tags=["wrong"] step="07.4" says="A container's items count"
# - parts = list(value) if isinstance(value, (list, tuple)) else []
# + parts = []

# %% [markdown]
# ## 07.5 The hook, and its frames
#
# `Frame.apply` is how a frame calls anything. A `Tracer` is a frame with another answer to it, and so is a `HookedFrame`: it asks
# its hook, `self.hook.call(function, *args, **kwargs)`; `call` is your next step, and gives each frame its `hook`. A `FrameHook` begins without `regions`, an
# empty dictionary, and keeps the `backend`. The lesson's hook had to take care not to compile the compiler. Yours need not: what
# the compiler calls no `HookedFrame` calls.


# %% step="07.5"
class HookedFrame(Frame):
    """A frame with one other answer to `apply`: what it calls, the hook is asked for."""

    def apply(self, function, *args, **kwargs):
        """The hook answers."""


class FrameHook:
    """Answers the calls of its frames, and of all frames that these lead to."""

    def __init__(self, backend=lambda graph: graph.run):
        """With no regions yet."""


# %%
check("07.5")

# %% tags=["wrong"] step="07.5" says="gives what self.hook.call gives"
# - return self.hook.call(function, *args, **kwargs)
# + return function(*args, **kwargs)

# %% tags=["wrong"] step="07.5" says="Arguments by name are passed on"
# - return self.hook.call(function, *args, **kwargs)
# + return self.hook.call(function, *args, *kwargs.values())

# %% tags=["wrong"] step="07.5" says="Two hooks remember apart"
# - def __init__(self, backend=lambda graph: graph.run):
# -     self.regions, self.backend = {}, backend
# + def __init__(self, backend=lambda graph: graph.run, regions={}):
# +     self.regions, self.backend = regions, backend

# %% [markdown]
# ## 07.6 A call is answered
#
# `call` answers a call that a frame makes. If no Python function is `behind` it (03.11), or one that may not be taken, it is made as it
# is; also if `HookedFrame(...)` refuses its code with `Unsupported`. Otherwise there is a frame, whose `hook` is this one. If none of its local variables
# has a tensor in sight, the frame just runs, and what it calls comes here again. If one has, a `Region` runs it: one for each
# code object and its globals, kept in `self.regions`, with `self.backend`. The functions in `CALL_BACK` are written in C and
# call what they are given; give them, in place of each function among the arguments, one that calls it here: that is `seen`,
# and anything else it gives back as it is.


# %% step="07.6"
def call(self, function, *args, **kwargs):
    """By the compiler; where no tensor is in sight, by a frame whose calls come here in turn; or as it is."""


def seen(self, arg):
    """In place of a function for C to call: one that calls it here."""


# %%
check("07.6")

# %% tags=["wrong"] step="07.6" says="There is a tensor in sight"
# - if not any(map(in_sight, frame.locals.values())):
# + if True:

# %% tags=["wrong"] step="07.6" says="nothing is to be compiled"
# - if not any(map(in_sight, frame.locals.values())):
# -     return frame.run()[1]

# %% tags=["wrong"] step="07.6" says="so that what it calls comes here"
# - return frame.run()[1]
# + return function(*args, **kwargs)

# %% tags=["wrong"] step="07.6" says="it may not be taken"
# - if taken is None or not may_be_taken(taken):
# + if taken is None:

# %% tags=["wrong"] step="07.6" says="in place of each function, one that calls it here"
# - return (lambda *args: self.call(arg, *args)) if isinstance(arg, types.FunctionType) else arg
# + return arg

# %% [markdown]
# The program from the beginning of the lesson, on your own stack: `size` is called by C code, and its graph is there.

# %%
if passed("07.6"):
    from mini.frames import FrameHook
    from mini.tensor import tensor

    def size(x):
        return (x * x).sum().sqrt().item()

    def rank(tensors):
        for place, x in enumerate(sorted(tensors, key=size)):
            print(place, x.tolist())

    hook = FrameHook()
    hook.call(rank, [tensor([3.0, 4.0]), tensor([1.0, 1.0]), tensor([0.0, 2.0])])
    for region in hook.regions.values():
        print(region.function.__name__, [str(node) for entry in region.entries() for node in entry.graph.nodes])

# %% [markdown]
# ## All of them
#
# How far you are, and the whole stack on your own parts: every answer that passes and has a place in the package.

# %%
progress("07")

# %%
with own_parts(), frame_hook(eager):
    print((lambda x: x * 2)(torch.ones(2)))
