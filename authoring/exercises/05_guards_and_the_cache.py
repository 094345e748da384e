# %% [markdown]
# # 05 Exercises: guards and the cache
#
# Twelve exercises, three hours and a quarter: two about guards, half an hour, and ten steps of your own `mini/guards.py` and
# `mini/sizes.py`, two hours and three quarters. Each is a sentence, a signature, an example and a check. Write your answer in place of the
# `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("05.1")` gives the first of
# three hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress

# %% [markdown]
# ## 05.1 Find the bug: four holes
#
# Here are four functions, and of each a compiled version whose guards are too few. For each, find two arguments of which
# the guards hold, while the version gives something else than the function, or leaves something else in its arguments. Put
# them into `holes` as a tuple. The dtype of a result counts, too.

# %%
MISS = object()
Tensor = torch.Tensor


def scaled(x: Tensor, k: int) -> Tensor:
    return x * k


def scaled_version(x: Tensor, k: int) -> Tensor:
    if not (type(x) is Tensor and x.shape == (2,) and x.dtype is torch.int64 and k == 1):
        return MISS
    return x * 1


def signed(x: Tensor, y: Tensor) -> Tensor:
    return x + y if x.is_contiguous() else x - y


def signed_version(x: Tensor, y: Tensor) -> Tensor:
    if not (type(x) is Tensor and x.shape == (2, 3) and x.dtype is torch.float32):
        return MISS
    if not (type(y) is Tensor and y.shape == (2, 3) and y.dtype is torch.float32):
        return MISS
    return x + y


def chained(x: Tensor, factors: dict[str, int]) -> Tensor:
    for name in factors:
        x = x * factors[name] + 1
    return x


def chained_version(x: Tensor, factors: dict[str, int]) -> Tensor:
    if not (type(x) is Tensor and x.shape == (2,) and x.dtype is torch.float32 and type(factors) is dict):
        return MISS
    if not (len(factors) == 2 and factors.get("a") == 2 and factors.get("b") == 3):
        return MISS
    return (x * 2 + 1) * 3 + 1


def bumped(x: Tensor, y: Tensor) -> Tensor:
    x.add_(1)
    return x * y


def bumped_version(x: Tensor, y: Tensor) -> Tensor:
    if not (type(x) is Tensor and x.shape == (2,) and x.dtype is torch.float32 and x.stride() == (1,)):
        return MISS
    if not (type(y) is Tensor and y.shape == (2,) and y.dtype is torch.float32 and y.stride() == (1,)):
        return MISS
    new = x + 1
    result = new * y
    x.copy_(new)
    return result


# %% tags=["stub"]
holes = {
    "scaled": ...,
    "signed": ...,
    "chained": ...,
    "bumped": ...,
}

# %% tags=["solution"]
same = torch.ones(2)
holes = {
    "scaled": (torch.tensor([1, 2]), 1.0),
    "signed": (torch.ones(3, 2).t(), torch.ones(2, 3)),
    "chained": (torch.ones(2), {"b": 3, "a": 2}),
    "bumped": (same, same),
}

# %%
check("05.1")

# %% tags=["wrong"] says="The guards of scaled notice that"
holes = holes | {"scaled": (torch.tensor([1, 2]), 2)}

# %% tags=["wrong"] says="What equals 1 without being the int 1"
holes = holes | {"scaled": (torch.tensor([1, 2]), True)}

# %% tags=["wrong"] says="can lie in memory in two ways"
holes = holes | {"signed": (torch.ones(2, 3), torch.ones(3, 2).t())}

# %% tags=["wrong"] says="the order in which they were put in"
holes = holes | {"chained": (torch.ones(2), {"a": 2, "b": 3})}

# %% tags=["wrong"] says="may be seen through y"
holes = holes | {"bumped": (torch.zeros(2), torch.ones(2))}

# %% [markdown]
# ## 05.2 Calm the storm
#
# `Descent().step` is compiled with `dynamic=False`, and then called thirty times. It counts its steps and goes slower and
# slower. As it stands, it is compiled eight times and then runs as plain Python. Rewrite the class so that one graph is made
# and all thirty steps run it. The numbers must stay the same, and `count` must hold the number of steps at the end, as an
# int or as a tensor.


# %% tags=["stub"]
class Descent:
    """Goes towards zero, slower and slower."""

    def __init__(self):
        self.count = 0

    def step(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        rate = 0.5 / self.count
        return x - rate * x


# %% tags=["solution"]
class Descent:
    """Goes towards zero, slower and slower."""

    def __init__(self):
        self.count = torch.tensor(0)

    def step(self, x: torch.Tensor) -> torch.Tensor:
        self.count = self.count + 1
        rate = 0.5 / self.count
        return x - rate * x


# %%
check("05.2")


# %% tags=["wrong"] says="still a Python number that is looked at"
class Descent:
    def __init__(self):
        self.count = 0.0

    def step(self, x):
        self.count += 1.0
        return x - 0.5 / self.count * x


# %% tags=["wrong"] says="Begin with what it is to stay"
class Descent:
    def __init__(self):
        self.count = 0

    def step(self, x):
        self.count = torch.tensor(1) + self.count
        return x - 0.5 / self.count * x


# %% tags=["wrong"] says="takes a number out of a tensor"
class Descent:
    def __init__(self):
        self.count = torch.tensor(0)

    def step(self, x):
        self.count = self.count + 1
        return x - 0.5 / self.count.item() * x


# %% tags=["wrong"] says="count is one more at each step"
class Descent:
    def __init__(self):
        self.count = 0

    def step(self, x):
        return x - 0.5 * x


# %% tags=["wrong"] says="must find the true number there"
class Descent:
    def __init__(self):
        self.count = 0
        self.hidden = torch.tensor(0)

    def step(self, x):
        self.hidden = self.hidden + 1
        return x - 0.5 / self.hidden * x


# %% tags=["wrong"] says="Leave the function compilable"
class Descent:
    def __init__(self):
        self.count = 0

    @torch.compiler.disable
    def step(self, x):
        self.count += 1
        return x - 0.5 / self.count * x


# %% [markdown]
# ## Your own stack: `mini/guards.py`
#
# Your tracer reads values from outside. In this file you write down where each was found and what must hold of it, and keep
# what was compiled in a cache that asks. It uses `Frame` and `Items` of your `interpreter.py`, and `Tensor`. Its grown-up
# version is `dynamo/guards/` and `dynamo/cache/`: there the guards become one generated function, here each is a small one.

# %% [markdown]
# ## 05.3 Sources
#
# A `Source` is the path to a value: a text, what one would write in Python, and a function that finds in a frame what lies there
# now. It begins at a local variable (`local("x")`), at a place of the stack, counted from the bottom (`on_stack(1)`), or at an
# object that stays (`fixed(value)`). `attr` and `item` give a source that goes one step further: `x`, `stack[1]`,
# `self.layers[0]`, `d['k']`. A fixed dictionary is the globals of a module, and is told by its `"__name__"`, or `globals()` if
# it has none; of any other fixed object tell a text with its `id`, so that two objects never have the same.


# %% step="05.3"
class Source:
    """A path to a value: as one would write it in Python, and as a function of a frame that finds what lies there now.

    >>> print(local("self").attr("layers").item(0))
    self.layers[0]
    """

    def __init__(self, text, find):
        self.text, self.find = text, find

    def __str__(self):
        return self.text

    def attr(self, name):
        """The source of an attribute of what this one finds."""

    def item(self, key):
        """The source of an item."""


def local(name):
    """In frame.locals."""


def on_stack(index):
    """In frame.stack."""


def fixed(value):
    """To an object that stays. The globals of a module are told by its name, anything else by where it lies."""


# %%
check("05.3")

# %% tags=["wrong"] step="05.3" says="tell the id"
# - text = value.get("__name__", "globals()") if isinstance(value, dict) else f"object_at_{id(value):x}"
# + names = value if isinstance(value, dict) else {"__name__": getattr(value, "__name__", f"object_at_{id(value):x}")}
# + text = names.get("__name__", "globals()")

# %% tags=["wrong"] step="05.3" says="An attribute is a step of its own kind"
# - return Source(f"{self}.{name}", lambda frame: getattr(self.find(frame), name))
# + return Source(f"{self}.{name}", lambda frame: self.find(frame)[name])

# %% tags=["wrong"] step="05.3" says="is counted from the bottom"
# - return Source(f"stack[{index}]", lambda frame: frame.stack[index])
# + return Source(f"stack[{index}]", lambda frame: frame.stack[-1 - index])

# %% tags=["wrong"] step="05.3" says="The text is what one would write in Python"
# - return Source(f"{self}[{key!r}]", lambda frame: self.find(frame)[key])
# + return Source(f"{self}[{key}]", lambda frame: self.find(frame)[key])

# %% tags=["wrong"] step="05.3" says="of an object without a name, tell the id"
# - text = value.get("__name__", "globals()") if isinstance(value, dict) else f"object_at_{id(value):x}"
# + text = value.get("__name__", "globals()") if isinstance(value, dict) else "object"

# %% tags=["wrong"] step="05.3" says="Equal is not one"
# - text = value.get("__name__", "globals()") if isinstance(value, dict) else f"object_at_{id(value):x}"
# + text = value.get("__name__", "globals()") if isinstance(value, dict) else repr(value)

# %% tags=["wrong"] step="05.3" says="A path holds no value"
# - return Source(f"{self}[{key!r}]", lambda frame: self.find(frame)[key])
# + found = []
# + return Source(f"{self}[{key!r}]", lambda frame: found[0] if found else found.append(self.find(frame)[key]) or found[0])

# %% [markdown]
# ## 05.4 Guards, and the first that fails
#
# A `Guard` is a source of True or False: a text and a function of the frame. `check` gives whether it holds, and False where the path is gone: reading
# it may raise AttributeError, LookupError, TypeError or ValueError. `Guards` is the list of them, in the order in which
# things were read. `require` adds one; `first_failing` gives the first that doesn't hold, or None. `known` has, by id,
# what was read so far; `source_of(value)` looks there, and gives None for what did not come from outside. Keep `__init__`
# as it is: later steps read all of it.


# %% step="05.4"
class Guard(Source):
    """Something that must hold: as text, and as a function of a frame that finds out whether it does."""

    def check(self, frame):
        """Whether it holds; not where its path is gone."""


class Guards(list):
    """The guards of one trace, in the order in which it read."""

    def __init__(self, dynamic=False):
        self.known = {}  # by id, of the value and of what the trace uses for it: (what it uses, the value, the source)
        self.mutable = []  # the sources of all that a write can change
        self.dynamic, self.batch, self.batch_in = dynamic, None, lambda frame: None  # for 05.12

    def require(self, text, holds):
        """One guard more."""

    def first_failing(self, frame):
        """The first guard that does not hold; None if all do."""

    def source_of(self, value):
        """Where the value was found; None if the trace made it."""


# %%
check("05.4")

# %% tags=["wrong"] step="05.4" says="A ValueError is a miss, too"
# - except (AttributeError, LookupError, TypeError, ValueError):  # the path is gone: a miss, and no crash
# + except (AttributeError, LookupError, TypeError):

# %% tags=["wrong"] step="05.4" says="also of a number"
# - return bool(self.find(frame))
# + return self.find(frame)

# %% tags=["wrong"] step="05.4" says="and no crash"
# - except (AttributeError, LookupError, TypeError, ValueError):  # the path is gone: a miss, and no crash
# + except ZeroDivisionError:

# %% tags=["wrong"] step="05.4" says="The first one, as a guard"
# - return next((guard for guard in self if not guard.check(frame)), None)
# + return next((guard for guard in reversed(self) if not guard.check(frame)), None)

# %% tags=["wrong"] step="05.4" says="even if it equals something that has"
# - return self.known[id(value)][2] if id(value) in self.known else None
# + return next((source for mine, _, source in self.known.values() if mine == value), None)

# %% tags=["wrong"] step="05.4" says="may only be asked if those before it hold"
# - self.append(Guard(text, holds))
# + self.insert(0, Guard(text, holds))

# %% [markdown]
# ## 05.5 Everything that is read
#
# `Guards.read(source, value, make_input)` is asked for each value from outside. It requires what must hold of it, and gives
# what the trace uses in its place. There are four cases.
#
# - A constant (`is_constant`) is used as it is. It must keep its type and its `repr`, whose text tells 0.0 from -0.0.
# - A value that was met before is what it was: `self.known[id(value)]` has what the trace uses for it. If it was found on
# another path then, both paths must lead to one object later, too.
# - A tensor becomes `make_input(source, value)`. All that `about` tells of it must stay. If `is_dynamic` says so (step 05.12),
# its first size may be another one: then `about(tensor, 1)` must stay, and
# `make_input` gets `with_batch(self, source, value)`. Both are written in 05.12; until then no size is dynamic.
# - For anything else ask `facts(value)`, your next step. It gives a tuple `text, *seen`, of a list of two `"type({0}) is {1} and
# len({0}) == {2}", "list", 2`: so `text.format(source, *seen)` is the guard's text, and the guard holds where `facts` gives the same
# again. The trace uses `remade(value, part, remember)`, the step after it: a list of its own, say. You give it two functions.
# `part(step, key, item)` reads an item one step further, at `source.attr(key)` or `source.item(key)` by the step's name; of a
# step "key" it gives the item. `remember(mine)` is called with what the trace uses, before its parts are there.
#
# What the trace uses is remembered: `self.remember(mine, value, source)`, which is given, and gives `mine` back. A guard on x = 3
# has the text `x == 3`.


# %% step="05.5"
def read(self, source, value, make_input):
    """Require what must hold of a value from outside, and give what the trace uses in its place."""


# %%
check("05.5")

# %% tags=["wrong"] step="05.5" says="need not be a 2"
# - self.require(f"{source} == {text}", lambda frame: type(v := source.find(frame)) is kind and repr(v) == text)
# + self.require(f"{source} == {text}", lambda frame: kind and repr(source.find(frame)) == text)

# %% tags=["wrong"] step="05.5" says="about(tensor, 1) must stay"
# - dynamic = is_dynamic(self, value)  # then its first size may be another one
# + dynamic = False

# %% tags=["wrong"] step="05.5" says="is remembered at once"
# - return self.remember(remade(value, part, lambda mine: self.remember(mine, value, source)), value, source)
# + return self.remember(remade(value, part, lambda mine: mine), value, source)

# %% tags=["wrong"] step="05.5" says="whoever meets x in it gets that one"
# - return self.remember(remade(value, part, lambda mine: self.remember(mine, value, source)), value, source)
# + return self.remember(remade(value, part, lambda mine: self.remember(value, value, source) and mine), value, source)

# %% tags=["wrong"] step="05.5" says="Whatever was read is remembered"
# - return self.remember(remade(value, part, lambda mine: self.remember(mine, value, source)), value, source)
# + return remade(value, part, lambda mine: self.remember(mine, value, source))

# %% tags=["wrong"] step="05.5" says="getattr(source, step)(key)"
# - return item if step == "key" else self.read(getattr(source, step)(key), item, make_input)
# + return item if step == "key" else self.read(source.item(key), item, make_input)

# %% tags=["wrong"] step="05.5" says="gives the key as it is"
# - return item if step == "key" else self.read(getattr(source, step)(key), item, make_input)
# + return self.read(source.item(key) if step == "key" else getattr(source, step)(key), item, make_input)

# %% tags=["wrong"] step="05.5" says="is the guard's text"
# - self.require(text.format(source, *seen), lambda frame: facts(source.find(frame)) == (text, *seen))
# + self.require(text, lambda frame: facts(source.find(frame)) == (text, *seen))

# %% tags=["wrong"] step="05.5" says="1, True and 1.0 are equal"
# - self.require(f"{source} == {text}", lambda frame: type(v := source.find(frame)) is kind and repr(v) == text)
# + self.require(f"{source} == {text}", lambda frame: source.find(frame) == value)

# %% tags=["wrong"] step="05.5" says="0.0 and -0.0 are equal, yet"
# - self.require(f"{source} == {text}", lambda frame: type(v := source.find(frame)) is kind and repr(v) == text)
# + self.require(f"{source} == {text}", lambda frame: type(v := source.find(frame)) is kind and v == value)

# %% tags=["wrong"] step="05.5" says="Now there are two tensors"
# - if str(first) != str(source):
# -     self.require(f"{source} is {first}", lambda frame: source.find(frame) is first.find(frame))

# %% tags=["wrong"] step="05.5" says="its numbers are an input of the graph"
# - self.require(f"{source} is a tensor {seen[1:]}", lambda frame: about(source.find(frame), dynamic) == seen)
# + self.require(f"{source} is a tensor {seen[1:]}", lambda frame: source.find(frame) is value)

# %% tags=["wrong"] step="05.5" says="The trace works with the input"
# - return self.remember(make_input(source, example), value, source)
# + return self.remember(value, value, source)

# %% [markdown]
# ## 05.6 What must stay
#
# `facts(value)` is a tuple: first the guard's text, in the form that `format` fills in, and then what was seen of the value. In the
# text `{0}` stands for the source, `{1}` for what comes next in the tuple, `{2}` for what comes after that. The whole tuple
# must be the same at a later call, so what no text tells may follow, too. There are four kinds of values:
#
# | the value | its guard, for the source x | what is seen |
# | --- | --- | --- |
# | is fixed (`is_fixed`): a class, a module, a function without closure and defaults | `x is relu` | its `__name__` (or its type's, if it has none), and its `id`; of a function, in place of that, the ids of its `__code__` and its `__globals__`, since a `def` in a function makes a new one at each call |
# | a list or tuple | `type(x) is list and len(x) == 2` | the type's name, the length |
# | a dictionary | `type(x) is dict and list(x) == ['a']` | the keys in their order, and their types |
# | any other object | `type(x) is Model` | the type's name, the type: what it holds is read later, attribute by attribute |


# %% step="05.6"
def facts(value):
    """What must hold of it, a text to be filled in, and what is asked: which one it is, or its type and its length or keys.

    A `def` in a function makes a new one at each call, of the same code: that is which one it is.

    >>> facts([3, "a"]), facts({1: "x"}) == facts({True: "x"})
    (('type({0}) is {1} and len({0}) == {2}', 'list', 2), False)
    """


# %%
check("05.6")

# %% tags=["wrong"] step="05.6" says="here only its keys count"
# - return "type({0}) is dict and list({0}) == {1}", list(value), [type(key) for key in value]
# + return "type({0}) is dict and list({0}) == {1}", list(value), repr(value)

# %% tags=["wrong"] step="05.6" says="may have the same name"
# - return "type({0}) is {1}", kind.__name__, kind
# + return "type({0}) is {1}", kind.__name__

# %% tags=["wrong"] step="05.6" says="its length must be guarded"
# - return "type({0}) is {1} and len({0}) == {2}", kind.__name__, len(value)
# + return "type({0}) is {1}", kind.__name__

# %% tags=["wrong"] step="05.6" says="in the order in which they were put in"
# - return "type({0}) is dict and list({0}) == {1}", list(value), [type(key) for key in value]
# + return "type({0}) is dict and list({0}) == {1}", set(value), {type(key) for key in value}

# %% tags=["wrong"] step="05.6" says="compare their types, too"
# - return "type({0}) is dict and list({0}) == {1}", list(value), [type(key) for key in value]
# + return "type({0}) is dict and list({0}) == {1}", list(value)

# %% tags=["wrong"] step="05.6" says="A new object of the same class will do"
# - return "type({0}) is {1}", kind.__name__, kind
# + return "type({0}) is {1}", kind.__name__, id(value)

# %% tags=["wrong"] step="05.6" says="the program means this very one"
# - if is_fixed(value):
# -     by = (value.__code__, value.__globals__) if kind is types.FunctionType else (value,)
# -     return "{0} is {1}", getattr(value, "__name__", kind.__name__), *map(id, by)

# %% tags=["wrong"] step="05.6" says="the same function, made anew"
# -     by = (value.__code__, value.__globals__) if kind is types.FunctionType else (value,)
# +     by = (value,)

# %% tags=["wrong"] step="05.6" says="The same code in another module"
# -     by = (value.__code__, value.__globals__) if kind is types.FunctionType else (value,)
# +     by = (value.__code__,) if kind is types.FunctionType else (value,)

# %% tags=["wrong"] step="05.6" says="module's name is no module"
# -     by = (value.__code__, value.__globals__) if kind is types.FunctionType else (value,)
# +     by = (value.__code__, value.__module__) if kind is types.FunctionType else (value,)

# %% tags=["wrong"] step="05.6" says="even if the class is derived"
# - return "type({0}) is {1}", kind.__name__, kind
# + return "type({0}) is {1}", kind.__mro__[-2].__name__

# %% [markdown]
# ## 05.7 Of other parts
#
# `remade(value, part, remember)` makes another value of the same kind: of parts that `part(step, key, item)` gives for its own. A
# list, tuple or dictionary has items, `part("item", key, item)`, and a dictionary's keys are parts, too: `part("key", key, key)`.
# A list may lie in itself: so a new list or dictionary is given to `remember`, which gives it back, before its parts are made;
# then `refilled(mine, items)` puts these in. Some kinds of objects are made anew all the time, by a `def` in a function or when
# a method is asked for. `REMADE`, which is given, has for them the names of their attributes, `part("attr", name, ...)`, and what
# makes one of them. Everything else stays itself, and so does what `is_fixed`.

# %% step="05.7"
def remade(value, part, remember):
    """Another value of the same kind: `part(step, key, item)` gives what stands for a part. What has none stays itself."""


# %%
check("05.7")

# %% tags=["wrong"] step="05.7" says="There is one empty tuple for all"
# - mine = () if kind is tuple else remember(kind())  # before its items: it may lie in itself
# + mine = remember(kind())

# %% tags=["wrong"] step="05.7" says="The one that was remembered is the one to fill"
# - return refilled(mine, {part("key", key, key): part("item", key, item) for key, item in value.items()})
# + return {part("key", key, key): part("item", key, item) for key, item in value.items()}

# %% tags=["wrong"] step="05.7" says="what is derived may have more to it"
# - if kind not in (list, dict, tuple) or is_fixed(value):
# + if not isinstance(value, (list, dict, tuple)) or is_fixed(value):

# %% tags=["wrong"] step="05.7" says="the program means these very ones"
# - if kind not in (list, dict, tuple) or is_fixed(value):
# + if kind not in (list, dict, tuple):

# %% tags=["wrong"] step="05.7" says="Remember the trace's list before its items are read"
# - mine = () if kind is tuple else remember(kind())  # before its items: it may lie in itself
# + mine = kind()

# %% tags=["wrong"] step="05.7" says="Remember the trace's dictionary before its items are read"
# - mine = () if kind is tuple else remember(kind())  # before its items: it may lie in itself
# + mine = remember([]) if kind is list else kind()

# %% tags=["wrong"] step="05.7" says="What the program owns must stay as it is"
# - mine = () if kind is tuple else remember(kind())  # before its items: it may lie in itself
# + mine = () if kind is tuple else remember(value)
# - return refilled(mine, {part("key", key, key): part("item", key, item) for key, item in value.items()})
# + return [part("item", key, item) for key, item in value.items()] and value

# %% tags=["wrong"] step="05.7" says="its defaults are a part of it"
# - return make(*[part("attr", name, getattr(value, name)) for name in names.split()])
# + keep = ("__defaults__", "__kwdefaults__")
# + return make(*[getattr(value, n) if n in keep else part("attr", n, getattr(value, n)) for n in names.split()])

# %% tags=["wrong"] step="05.7" says="not the program's: bind it to what part gave"
# - return make(*[part("attr", name, getattr(value, name)) for name in names.split()])
# + [part("attr", name, getattr(value, name)) for name in names.split()]
# + return value

# %% tags=["wrong"] step="05.7" says="the program means this very one"
# - if kind in REMADE and not is_fixed(value):
# + if kind in REMADE:

# %% [markdown]
# ## 05.8 What no single path tells
#
# Some things hold between paths. `sharing(sources, frame)` gives for each source the position of the first source that
# leads to the same thing, [0, 1, 0] for x, y, x. Two tensors are the same thing if a write to one is seen through the
# other: if they have one `storage`. `layers()` tells who sees each op: a list with the type of each layer of `STACK` and
# whether it is `enabled` (True if it has no such attribute). `require_same_setting` adds guards: the sharing of
# `guards.mutable`, if there are at least two, and the layers, must be what they are now.


# %% step="05.8"
def sharing(sources, frame):
    """Of each mutable value the first that it is one with: a write into that one would be seen through it.

    >>> x, y = tensor([1.0]), tensor([2.0])
    >>> frame = Frame(lambda a, b, c: None, (x, y, x), {})
    >>> sharing([local(name) for name in "abc"], frame)
    [0, 1, 0]
    """


def layers():
    """Who sees each op on its way down, and whether it is switched on: a tape, a transform."""


def require_same_setting(guards, frame):
    """What was one stays one, what was different stays different; and the layers are the same ones."""


# %%
check("05.8")

# %% tags=["wrong"] step="05.8" says="as often as it is there"
# - return [(type(layer), getattr(layer, "enabled", True)) for layer in STACK]
# + return sorted({(type(layer), getattr(layer, "enabled", True)) for layer in STACK}, key=str)

# %% tags=["wrong"] step="05.8" says="its storage is the same"
# - places = [id(value.storage) if isinstance(value, Tensor) else id(value) for value in values]
# + places = [id(value) for value in values]

# %% tags=["wrong"] step="05.8" says="Equal lists are not one list"
# - return [places.index(place) for place in places]
# + return [values.index(v) if isinstance(v, list) else places.index(p) for v, p in zip(values, places)]

# %% tags=["wrong"] step="05.8" says="what was different must stay different"
# - guards.require(text, lambda frame: sharing(sources, frame) == shared)
# + guards.require(text, lambda frame: [a <= b for a, b in zip(sharing(sources, frame), shared)] == [True] * len(shared))

# %% tags=["wrong"] step="05.8" says="its `enabled` is False"
# - return [(type(layer), getattr(layer, "enabled", True)) for layer in STACK]
# + return [(type(layer), True) for layer in STACK]

# %% tags=["wrong"] step="05.8" says="compare the types themselves"
# - return [(type(layer), getattr(layer, "enabled", True)) for layer in STACK]
# + return [(type(layer).__name__, getattr(layer, "enabled", True)) for layer in STACK]
# - guards.require(f"the layers are {[kind.__name__ for kind, _ in now]}", lambda frame: layers() == now)
# + guards.require("the layers are the same", lambda frame: layers() == now)

# %% tags=["wrong"] step="05.8" says="compare types, not layers"
# - return [(type(layer), getattr(layer, "enabled", True)) for layer in STACK]
# + return [(layer, getattr(layer, "enabled", True)) for layer in STACK]
# - guards.require(f"the layers are {[kind.__name__ for kind, _ in now]}", lambda frame: layers() == now)
# + guards.require("the layers are the same", lambda frame: layers() == now)

# %% [markdown]
# ## 05.9 The cache
#
# A `Cache` is a dictionary of what was compiled: for each place where a trace began, a list of entries, each with its `guards`. A
# place is told by `frame.at` and by how many values lie on the stack. `here` gives the list of the place where a frame stands, a
# new one if there is none. `lookup` gives the first entry of which no guard fails, and moves it to the front; None if there is none.


# %% step="05.9"
class Cache(dict):
    """What was compiled for each place where a trace began, and in what order to ask: the one used last is in front."""

    limit = 8  # more versions of a place would be compiled at every call, and hardly ever used

    def here(self, frame):
        """The entries of the place where the frame stands."""

    def lookup(self, frame):
        """The entry whose guards all hold, moved to the front; None if there is none."""


# %%
check("05.9")

# %% tags=["wrong"] step="05.9" says="what they are is up to the guards"
# - return self.setdefault((frame.at, len(frame.stack)), [])
# + return self.setdefault((frame.at, *map(id, frame.stack)), [])

# %% tags=["wrong"] step="05.9" says="and the others keep their order"
# - here.insert(0, here.pop(i))
# + here[0], here[i] = here[i], here[0]

# %% tags=["wrong"] step="05.9" says="One version after the other is asked"
# - if entry.guards.first_failing(frame) is None:
# + if any(guard.check(frame) for guard in entry.guards) or i == 0:

# %% tags=["wrong"] step="05.9" says="A version goes on from one place"
# - return self.setdefault((frame.at, len(frame.stack)), [])
# + return self.setdefault(frame.at, [])

# %% tags=["wrong"] step="05.9" says="Keep the new list in the dictionary"
# - return self.setdefault((frame.at, len(frame.stack)), [])
# + return self.get((frame.at, len(frame.stack)), [])

# %% [markdown]
# ## 05.10 Formulas, and their numbers at a call
#
# The last batch of an epoch is smaller, and a service gets requests by ones and by sevens. A graph that is made for sizes
# (64, 10) is compiled anew for each of them. So the first size of an input may be a formula: `s0`, the batch, which is 2
# at least. What is made of it are formulas, too: `64 * s0` elements, `s0 - 1` rows but the first. Each is a pair: the
# factor of s0, and a number. `product(a, b, c, d)` is the pair of (a * s0 + b) * (c * s0 + d), or None: s0 * s0 is none of
# these formulas. `quotient` and `remainder` are those of (a * s0 + b) // (c * s0 + d), for each s0 from 2 on. If
# the divisor has no s0, try (a // d, b // d), else the number a // c. It is right if what it leaves is 0 or more, and less than
# the divisor, at 2 and, as the batch grows, from there on. If it is not, give None.
#
# Strides need no formulas: the batch comes first, and the stride of a dimension depends on those behind it. That is why
# `mini` can be so short about it: only the first size is a formula, where PyTorch allows one for any.
#
# A call has numbers again. `batch_of(fakes, tensors)` finds s0 where a fake has a formula, a `Size` with `times` and `plus`;
# if none has one, it is None. `at(value, batch)` puts it in, also within a tuple or a
# `Layout(sizes, strides, offset)`; anything else stays as it is, and so does everything if the batch is None.


# %% step="05.10"
def product(a, b, c, d):
    """(a * s0 + b) * (c * s0 + d) as the pair of its factor and its number; None: it is no such formula."""


def quotient(a, b, c, d):
    """(a * s0 + b) // (c * s0 + d), if what it leaves is 0 or more, and less than the divisor, for all s0 from 2 on; else None.

    >>> quotient(64, 9, 0, 8), quotient(0, 3, 4, 0), quotient(64, 0, 1, 0), quotient(1, 0, 0, 2)
    ((8, 1), (0, 0), (0, 64), None)
    """


def remainder(a, b, c, d):
    """What is left of that division; None if there is no quotient."""


def batch_of(fakes, tensors):
    """The batch of a call with these tensors: what stands where a fake has a formula. None if none has one.

    >>> size = Size(Batch(7, None))
    >>> batch_of([fake((3, 4)), fake((4, size * 2))], [fake((3, 4)), fake((4, 10))])
    5
    """


def at(value, batch):
    """A size, or a tuple or layout of sizes, in the numbers of a call; anything else is as it is.

    >>> at((Size(Batch(7, None)) * 2, 3), 5)
    (10, 3)
    """


# %%
check("05.10")

# %% tags=["wrong"] step="05.10" says="what is left is known, too"
# - return found and (a - found[0] * d - found[1] * c, b - found[1] * d)
# + return None

# %% tags=["wrong"] step="05.10" says="there is s0 * s0"
# - return None if a and c else (a * d + b * c, b * d)
# + return a * d + b * c, b * d

# %% tags=["wrong"] step="05.10" says="rounded down"
# - return (times, plus) if 0 <= left <= c and 0 <= 2 * left + rest < 2 * c + d else None
# + return times, plus

# %% tags=["wrong"] step="05.10" says="solve for s0"
# - return next(((tensor.sizes[d] - n.plus) // n.times for n, tensor, d in places if isinstance(n, Size)), None)
# + return next((tensor.sizes[d] for n, tensor, d in places if isinstance(n, Size)), None)

# %% tags=["wrong"] step="05.10" says="tuples and layouts are gone into"
# - return tuple([at(part, batch) for part in value]) if isinstance(value, tuple) else value
# + return value

# %% [markdown]
# ## 05.11 A size
#
# `Size(batch, times, plus)` is `times * s0 + plus` as a number that Python calculates and compares with. `batch.now` is the
# number of the call that is traced, and `batch.require(text, holds)` adds a guard: `holds(number)` must be true at a later
# call. All operators come to two methods. `calculate("add", x, y)` asks `EXACT["add"]`, which gives a pair or None; where it
# is None, or a number is a float, the numbers of now are calculated with. `compare("lt", other)` compares the difference with 0. `times * s0 + plus`
# goes one way all the time: if it is on that side at 2, the answer is known; exactly 0 at 2 is on neither side. If not, it is
# asked with the number of now, and required: `s0 < 10` was true, and must be true again. And what asks for the number itself,
# `__index__`, gets it; then s0 must stay what it is now. So any program is traced, and no answer is wrong: at worst, the
# version is for one batch. With what is none of `NUMBERS`, both give `NotImplemented`.


# %% step="05.11"
def terms(value):
    """The factor of s0, and the number, of a size or of a plain number."""


class Size:
    """times * s0 + plus, with s0 from 2 on."""

    def __init__(self, batch, times=1, plus=0):
        self.batch, self.times, self.plus = batch, times, plus

    def calculate(self, name, x, y):
        """x + y, say, of which one is this size: a formula, or a number where it does not depend on the batch."""

    def compare(self, name, other):
        """Known if their difference is on one side of 0 at 2, and goes on to that side."""

    def __index__(self):
        """What can't be said of all batches is said of this one."""


# %%
check("05.11")

# %% tags=["wrong"] step="05.11" says="Python's to refuse"
# - if not (isinstance(x, NUMBERS) and isinstance(y, NUMBERS)):
# -     return NotImplemented

# %% tags=["wrong"] step="05.11" says="A formula may fall as s0 grows"
# - if times == 0 or times * (2 * times + plus) > 0:
# + if times == 0 or 2 * times + plus > 0:

# %% tags=["wrong"] step="05.11" says="Exactly 0 at 2 is on neither side"
# - if times == 0 or times * (2 * times + plus) > 0:
# + if times == 0 or times * (2 * times + plus) >= 0:

# %% tags=["wrong"] step="05.11" says="The same answers must come again"
# - self.batch.require(text, lambda now: ask(times * now + plus, 0) == answer)
# + self.batch.require(text, lambda now: now == self.batch.now)

# %% tags=["wrong"] step="05.11" says="is a plain number, or bool"
# - return Size(self.batch, *found) if found[0] else found[1]
# + return Size(self.batch, *found)

# %% tags=["wrong"] step="05.11" says="With a float the number of now is calculated with"
# -         found = None if float in (type(x), type(y)) else EXACT[name](*terms(x), *terms(y))
# +         found = EXACT[name](*terms(x), *terms(y))

# %% tags=["wrong"] step="05.11" says="must be right for each batch of which holds what was required"
# - self.batch.require(f"s0 == {now}", lambda later: later == now)

# %% tags=["wrong"] step="05.11" says="They are so for each batch from 2 on"
# - if times == 0 or times * (2 * times + plus) > 0:
# -     return ask(2 * times + plus, 0)

# %% [markdown]
# ## 05.12 Inputs whose batch is dynamic
#
# - `is_dynamic(guards, tensor)`: whether a tensor gets a formula. If `guards.dynamic` is True, all do but parameters: tensors of which
#   `requires_grad` is True. There is one
#   s0, so they must have the first size of those before; and it is 2 at least, for 1 broadcasts. After x of (7, 3): y of (7,) is
#   dynamic, y of (3, 7) isn't.
# - `with_batch(guards, source, tensor)`: the tensor with `Size(guards.batch)` as its first size, and with its `requires_grad`.
#   For the first one it makes `guards.batch`, and `guards.batch_in`, a function that finds the number in the frame of a call;
#   what is required of the batch is a guard on that number, and `s0 >= 2` is the first. That this tensor's first size is s0
#   is a guard, too. Of x of (7, 3) the example has sizes (s0, 3), and the guards are `s0 >= 2` and `x.sizes[0] == s0`.


# %% step="05.12"
def is_dynamic(guards, tensor):
    """If formulas are wanted, all but parameters; one number is the batch of all, and 1 is a case of its own."""


def with_batch(guards, source, tensor):
    """The tensor, its first size a formula. What is said of the batch while tracing is required of it at a call."""


# %%
check("05.12")

# %% tags=["wrong"] step="05.12" says="Only the first makes guards.batch"
# - if guards.batch is None:
# + if guards.dynamic:

# %% tags=["wrong"] step="05.12" says="it is a case of its own"
# - return guards.dynamic and not tensor.requires_grad and tensor.sizes[:1] == (batch,) and batch >= 2
# + return guards.dynamic and not tensor.requires_grad and tensor.sizes[:1] == (batch,)

# %% tags=["wrong"] step="05.12" says="One number stands for the batch of all"
# - return guards.dynamic and not tensor.requires_grad and tensor.sizes[:1] == (batch,) and batch >= 2
# + return guards.dynamic and not tensor.requires_grad and tensor.dim() > 0 and tensor.sizes[0] >= 2

# %% tags=["wrong"] step="05.12" says="of 1 nothing was said"
# - said("s0 >= 2", lambda batch: batch >= 2)

# %% tags=["wrong"] step="05.12" says="it must be one at a call, too"
# - guards.require(f"{source}.sizes[0] == s0", lambda frame: source.find(frame).sizes[0] == guards.batch_in(frame))

# %% tags=["wrong"] step="05.12" says="with the same requires_grad"
# - example.requires_grad = tensor.requires_grad

# %% [markdown]
# Ask the guards of a small trace. What must fail first, if the second scale is changed? And if `box` is no dictionary?

# %%
if passed("05.6") and passed("05.4"):
    from mini.guards import Guards, local
    from mini.interpreter import Frame

    frame = Frame(lambda box: None, ({"scales": [2.0, 3.0], "name": "big"},), {})
    guards = Guards()
    guards.read(local("box"), frame.locals["box"], None)
    print(*guards, sep="\n")
    frame.locals["box"] = {"scales": [2.0, 4.0], "name": "big"}
    print("now fails:", guards.first_failing(frame))
    frame.locals["box"] = None
    print("now fails:", guards.first_failing(frame))

# %% [markdown]
# ## All of them
#
# How far you are, and the whole stack on your own parts: every answer that passes and has a place in the package.

# %%
progress("05")

# %%
with own_parts():
    scaled = torch.compile(lambda x, k: x * k)
    print([scaled(torch.ones(2), k).tolist() for k in (2, 3)])
