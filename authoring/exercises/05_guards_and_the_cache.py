# %% [markdown]
# # 05 Exercises: guards and the cache
#
# Six exercises, about an hour and a quarter. Each is a sentence, a signature, an example and a check. Write your answer in
# place of the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("05.1")` gives the
# first of three hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.guards.source import LocalSource

# %% [markdown]
# ## 05.1 The text of a check
#
# A number, a string or None was read at `source`. Give the text of a condition that holds if a later call finds the same
# value there, of the same type, and fails otherwise. For `check_text("x", 3)` the text
# `"type(x) is int and x == 3"` would do. `source` is any expression, such as `G['scale']`. The text may use Python's
# builtins, and no other names.


# %%
def check_text(source: str, value: int | float | str | None) -> str:
    """A condition on source, as text."""
    ### BEGIN SOLUTION
    if value is None:
        return f"{source} is None"
    return f"type({source}) is {type(value).__name__} and repr({source}) == {repr(value)!r}"
    ### END SOLUTION


# %%
check("05.1")


# %% tags=["wrong"] says="1, True and 1.0 are equal in Python"
def check_text(source, value):
    return f"{source} == {value!r}"


# %% tags=["wrong"] says="one and the same object"
def check_text(source, value):
    return f"{source} is {value!r}"


# %% tags=["wrong"] says="A class of its own may have the same text"
def check_text(source, value):
    return f"repr({source}) == {repr(value)!r}"


# %% tags=["wrong"] says="where only your source and Python's builtins have a meaning"
def check_text(source, value):
    if value is None:
        return f"{source} is None"
    return f"type({source}) is {type(value).__name__} and {source} == {value!r}"


# %% tags=["wrong"] says="NaN is not equal to itself"
def check_text(source, value):
    if value is None:
        return f"{source} is None"
    text = f"float({str(value)!r})" if type(value) is float else repr(value)
    return f"type({source}) is {type(value).__name__} and {source} == {text}"


# %% tags=["wrong"] says="Which text tells them apart"
def check_text(source, value):
    if value is None:
        return f"{source} is None"
    name = type(value).__name__
    if value != value:
        return f"type({source}) is float and {source} != {source}"
    text = f"float({str(value)!r})" if type(value) is float else repr(value)
    return f"type({source}) is {name} and {source} == {text}"


# %% [markdown]
# ## 05.2 The order of the checks
#
# `guards` are guards of the package, in the order in which a trace left them. Return all of them as a list, in the order in
# which they are to be checked. Most often failing first: guards on tensor arguments, then on other arguments, then all the
# rest. But reading `model.weight` is only safe after the guards on `model` hold. So guards with the same root keep
# their order and move together, and the first of them decides where to. Pairs of paths come last of all.
#
# Of a guard you need three things: `guard.source.root`, which is a `LocalSource` if the path begins at an argument;
# `guard.kind`, which is `"TENSOR_MATCH"` for guards on tensors; and `guard.other`, which is not None for a pair.


# %%
def in_checking_order(guards: list[Guard]) -> list[Guard]:
    """All guards, the most often failing first, each path after its beginning, pairs last."""
    ### BEGIN SOLUTION
    groups, pairs = {}, []
    for guard in guards:
        if guard.other is not None:
            pairs.append(guard)
        else:
            groups.setdefault(guard.source.root, []).append(guard)

    def rank(group):
        if not isinstance(group[0].source.root, LocalSource):
            return 2
        return 0 if group[0].kind == "TENSOR_MATCH" else 1

    return [guard for group in sorted(groups.values(), key=rank) for guard in group] + pairs
    ### END SOLUTION


# %%
check("05.2")

# %% [markdown]
# Let the package write its checks in your order. The first lines of the generated function are yours now.

# %%
if passed("05.2"):
    from minitorch_compile.dynamo.eval_frame import region_of

    with splice("dynamo.in_checking_order", in_checking_order):
        scale = 2.0
        double = torch.compile(lambda x, flag: x * scale if flag else x, backend="eager")
        double(torch.ones(2), True)
        print(region_of(double).caches[0].entries[0].source)


# %% tags=["wrong"] says="fails more often"
def in_checking_order(guards):
    return [g for g in guards if g.other is None] + [g for g in guards if g.other is not None]


# %% tags=["wrong"] says="reads a path before the guard on what it goes through"
def in_checking_order(guards):
    def rank(guard):
        if guard.other is not None:
            return 3
        if not isinstance(guard.source.root, LocalSource):
            return 2
        return 0 if guard.kind == "TENSOR_MATCH" else 1

    return sorted(guards, key=rank)


# %% tags=["wrong"] says="pairs come last"
def in_checking_order(guards):
    groups = {}
    for guard in guards:
        groups.setdefault(guard.source.root, []).append(guard)

    def rank(group):
        if not isinstance(group[0].source.root, LocalSource):
            return 2
        return 0 if group[0].kind == "TENSOR_MATCH" else 1

    return [guard for group in sorted(groups.values(), key=rank) for guard in group]


# %% tags=["wrong"] says="A guard lost is a wrong answer later"
def in_checking_order(guards):
    groups = {guard.source.root: guard for guard in guards if guard.other is None}
    pairs = [guard for guard in guards if guard.other is not None]
    return sorted(groups.values(), key=lambda guard: not isinstance(guard.source.root, LocalSource)) + pairs


# %% [markdown]
# ## 05.3 The move to the front
#
# `versions` is the list of versions of a function, as pairs (entry, callable), in the order in which they are asked. One of
# them has just answered, or was just compiled: `chosen`. Return a new list in which it comes first and the others keep
# their order. For versions a, b, c and chosen c it is c, a, b. Threads share the list that comes in, so leave it as it
# is.


# %%
def to_front(versions: list[tuple], chosen: tuple) -> list[tuple]:
    """A new list with the chosen version in front."""
    ### BEGIN SOLUTION
    return [chosen, *(version for version in versions if version != chosen)]
    ### END SOLUTION


# %%
check("05.3")

# %%
if passed("05.3"):
    with splice("dynamo.to_front", to_front):
        times = torch.compile(lambda x, k: x * k, backend="eager")
        print([times(torch.ones(1), k).item() for k in (2.0, 3.0, 2.0, 5.0)])


# %% tags=["wrong"] says="the one used before last comes second"
def to_front(versions, chosen):
    result = list(versions)
    if chosen in result:
        place = result.index(chosen)
        result[0], result[place] = result[place], result[0]
        return result
    return [chosen, *result]


# %% tags=["wrong"] says="twice, so the list grows"
def to_front(versions, chosen):
    return [chosen, *versions]


# %% tags=["wrong"] says="Another thread may be walking"
def to_front(versions, chosen):
    if chosen in versions:
        versions.remove(chosen)
    versions.insert(0, chosen)
    return versions


# %% tags=["wrong"] says="which isn't in the list yet"
def to_front(versions, chosen):
    place = versions.index(chosen)
    return [chosen, *versions[:place], *versions[place + 1 :]]


# %% tags=["wrong"] says="it belongs to the front"
def to_front(versions, chosen):
    return [*(version for version in versions if version != chosen), chosen]


# %% [markdown]
# ## 05.4 Find the bug: four holes
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
check("05.4")

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
# ## 05.5 How many graphs: predict
#
# Each function is compiled with `dynamic=False` and called with the arguments beside it, one call after the other. Before
# you run anything, write how many graphs are made. `a` and `b` are two tensors of sizes (2,); `wide` has sizes (2, 3), and
# `turned` has the same sizes, but is the transpose of a (3, 2).

# %% tags=["stub"]
graphs = {
    "lambda x, k: x * k": ...,  # (a, 2), (a, 2), (a, 3)
    "lambda x, k: x * 2": ...,  # (a, 1), (a, "one"), (a, None)
    "lambda x, k: x * k + k": ...,  # (a, 1), (a, True), (a, 1.0)
    "lambda x, k: x * 2 if k > 0 else x * 3": ...,  # (a, 1), (a, 5), (a, -1)
    "lambda x, mode: x * 2 if mode == 'train' else x * 3": ...,  # (a, "train"), (a, "eval"), (a, "test")
    "lambda x, d: x * d['a']": ...,  # (a, {"a": 1}), (a, {"a": 1, "b": 2}), (a, {"b": 0, "a": 1})
    "lambda x, items: x * len(items)": ...,  # (a, [1]), (a, [3]), (a, [])
    "lambda x: x * 2": ...,  # (square,), (wide,), (turned,), (square + 1,)
    "lambda x, y: x + y": ...,  # (a, a), (a, b), (b, a)
}

# %% tags=["solution"]
graphs = {
    "lambda x, k: x * k": 2,
    "lambda x, k: x * 2": 1,
    "lambda x, k: x * k + k": 3,
    "lambda x, k: x * 2 if k > 0 else x * 3": 2,
    "lambda x, mode: x * 2 if mode == 'train' else x * 3": 3,
    "lambda x, d: x * d['a']": 1,
    "lambda x, items: x * len(items)": 2,
    "lambda x: x * 2": 3,
    "lambda x, y: x + y": 2,
}

# %%
check("05.5")

# %% tags=["wrong"] says="nothing is guarded about it"
graphs = graphs | {"lambda x, k: x * 2": 3}

# %% tags=["wrong"] says="of three types"
graphs = graphs | {"lambda x, k: x * k + k": 1}

# %% tags=["wrong"] says="1 and 5 share"
graphs = graphs | {"lambda x, k: x * 2 if k > 0 else x * 3": 3}

# %% tags=["wrong"] says="says nothing about 'test'"
graphs = graphs | {"lambda x, mode: x * 2 if mode == 'train' else x * 3": 2}

# %% tags=["wrong"] says="What else is in the dictionary"
graphs = graphs | {"lambda x, d: x * d['a']": 3}

# %% tags=["wrong"] says="turned are two graphs"
graphs = graphs | {"lambda x: x * 2": 2}

# %% tags=["wrong"] says="one input, not two"
graphs = graphs | {"lambda x, y: x + y": 1}

# %% [markdown]
# ## 05.6 Calm the storm
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
check("05.6")


# %% tags=["wrong"] says="still a Python number that is looked at"
class Descent:
    def __init__(self):
        self.count = 0.0

    def step(self, x):
        self.count += 1.0
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
