# %% [markdown]
# # 12 Prims and decompositions
#
# Suppose you want to write a compiler that makes kernels. For each operation you have to say how one element of its result
# is computed, what it reads, and what it can be fused with. So first ask how many operations there are.

# %%
from textwrap import shorten

import minitorch_compile as torch
from minitorch_compile import prims
from minitorch_compile.tensor.dispatch.op import table

print(len(table), "operations, among them:")
for name in ("add", "gelu", "logaddexp2", "native_layer_norm", "special_i0e"):
    print(f"    {name:18}", shorten(table[name].__doc__.splitlines()[0], 60, placeholder=" ..."))

# %% [markdown]
# More than eight hundred. Each of them is small, but together they are a book, and you would have to write it once for every
# machine you compile for. Then someone adds an operation, and there is another page to write in every copy. No project
# survives this for long.
#
# There is a way out, and it is as old as computers. Choose a small set of *primitive* operations, prims for short. Write
# every other operation in them, once, for all machines. Then a compiler that understands the prims understands everything,
# and the next machine needs a hundred rules instead of eight hundred.

# %%
from collections import Counter

print(len(prims.table), "prims:")
for kind, count in Counter(prim.kind for prim in prims.table.values()).most_common(6):
    names = sorted(name for name, prim in prims.table.items() if prim.kind == kind)
    print(f"    {count:3} {kind:12}", *names[:7], "..." if count > 7 else "")

# %% [markdown]
# In this lesson you build the small machine that runs prims, then the thing that rewrites programs for it. Both are shorter
# than you think. The hard part comes after that. A rewritten program means the same *on paper*, and a computer does not
# calculate on paper.
#
# ## What an operation hides
#
# Why is `add` not simply one of the prims? Look at what it does for you. Here are three whole numbers in a column, and four
# fractions in a row. Adding them is one character in Python, and this many decisions:

# %%
from minitorch_compile.tensor import empty_fake, ops

column, row = empty_fake((3, 1), dtype=torch.int64), empty_fake((4,))
for node in prims.decomposed(ops.add, column, row).find_nodes(op="call_function"):
    print(f"{node.target.name:22}{node.args}")

# %% [markdown]
# The whole numbers must become fractions: that is *type promotion* (lesson 02). Both must be repeated to the same sizes:
# that is *broadcasting*. Only then there is something to add. The prim `add` does nothing but the last line. Give it
# anything that is not exactly right, and it refuses:

# %%
for y in (torch.ones(3, dtype=torch.int64), torch.ones(1), 2.5):
    try:
        prims.add(torch.ones(3), y)
    except (RuntimeError, TypeError) as error:
        print(str(error).partition(". Prims")[0])

# %% [markdown]
# Comfort is for people. A compiler is better off without, because every comfort is a case that it could get wrong. So a prim
# has one dtype and one size on all sides. Its numbers are tensors, made by the prim `full`. Its dimensions are listed, in
# order, none of them negative. Nothing is left to guess.
#
# ## A machine with fourteen instructions
#
# Before you compile a language, write its interpreter: that is law number one of this course. Ours needs a dictionary. The
# keys are the instructions, and NumPy says what they mean.

# %%
import numpy as np


def broadcast(x, sizes, dims):
    """Dimension i of x becomes dimension dims[i] of the result."""
    aligned = [1] * len(sizes)
    for size, dim in zip(x.shape, dims):
        aligned[dim] = size
    return np.broadcast_to(x.reshape(aligned), sizes)


MACHINE = {
    **{name: getattr(np, name) for name in ("exp", "log", "log1p", "sqrt", "negative", "abs")},
    **{name: getattr(np, name) for name in ("add", "subtract", "multiply", "divide", "maximum")},
    "amax": lambda x, dims: np.amax(x, dims),
    "sum": lambda x, dims: np.sum(x, dims),
    "broadcast": broadcast,
}


def run(program, **values):
    """Execute instructions (name of the result, prim, arguments) one after the other."""
    for name, prim, arguments in program:
        found = [values[a] if isinstance(a, str) else a for a in arguments]
        values[name] = MACHINE[prim](*found)
    return values[name]


# %% [markdown]
# A program for this machine is a list, and every line of it is one instruction. Here is how one subtracts from each row of a
# (2, 3) its largest element. It takes three instructions, because the machine does not stretch anything by itself.

# %%
program = [
    ("largest", "amax", ["x", 1]),
    ("stretched", "broadcast", ["largest", (2, 3), (0,)]),
    ("result", "subtract", ["x", "stretched"]),
]
run(program, x=np.array([[1.0, 5.0, 2.0], [7.0, 7.0, 0.0]]))

# %% [markdown]
# ## Rules, and a mode that applies them
#
# Nobody wants to write softmax like this. What we want to write is a *rule*: a Python function that says softmax in terms of
# simpler things, in the shape that it has in a textbook. Simpler things may be prims, or other operations that have rules
# themselves.

# %%
RULES = {}


def rule(function):
    RULES[function.__name__] = function
    return function


@rule
def softmax(do, x):
    e = do("exp", do("minus_column", x, do("amax", x, 1)))
    return do("over_column", e, do("sum", e, 1))


@rule
def minus_column(do, x, column):
    return do("subtract", x, do("broadcast", column, x.shape, (0,)))


@rule
def over_column(do, x, column):
    return do("divide", x, do("broadcast", column, x.shape, (0,)))


# %% [markdown]
# The argument `do` is the trick. A rule does not compute: it *asks* for operations, and somebody else decides what asking
# means. That is lesson 02's dispatcher again. To rewrite a program we install an interpreter that gives each request one of
# two meanings. If it is a prim, write it down. If it isn't, run its rule, whose requests come back here.
#
# *Predict*: how many instructions of the machine will a softmax be?

# %%
from minitorch_compile.course import predict

predict("12.softmax", None)


# %%
class Stand:
    """Stands for a value: what it is called, and its sizes. There are no numbers in it."""

    def __init__(self, name, shape):
        self.name, self.shape = name, shape


class Decomposer:
    def __init__(self):
        self.program = []

    def __call__(self, op, *arguments):
        if op not in MACHINE:
            return RULES[op](self, *arguments)
        fakes = [np.ones(a.shape) if isinstance(a, Stand) else a for a in arguments]
        result = Stand(f"t{len(self.program)}", MACHINE[op](*fakes).shape)
        names = [a.name if isinstance(a, Stand) else a for a in arguments]
        self.program.append((result.name, op, names))
        return result


do = Decomposer()
do("softmax", Stand("x", (2, 3)))
for line in do.program:
    print(*line)

# %% [markdown]
# Seven instructions for one. `minus_column` and `over_column` have disappeared, because they were never anything but words.
# Is it still softmax? Run the list on the machine and compare.

# %%
x = np.array([[1.0, 5.0, 2.0], [7.0, 7.0, 0.0]])
print(run(do.program, x=x))
print(torch.from_numpy(x).softmax(1).numpy())

# %% [markdown]
# That is the whole idea. Note what made it cheap. Rules call each other, so each is written against whatever is convenient.
# Nobody plans the order, since a recursion finds it. Layer normalisation can ask for a variance, a variance for a mean, and
# a mean for a sum, and only the sum has to be in the machine.
#
# ## The package's decomposer
#
# Here is the same method in the package. It is a mode of the dispatcher, and you have just written it:

# %%
import inspect

from minitorch_compile.prims import decomposer

print(inspect.getsource(decomposer.Decomposer.process))

# %% [markdown]
# Again a prim is passed down to the tracer, which writes it down, and for everything else the rule is run with the mode on.
# Two things have been added: `keeps`, for operations that a backend would rather have whole, and a check that a rule does
# not come back to itself for ever. The stand-ins are fake tensors (lesson 11), so nothing is computed on the way. And this
# is the package's rule for softmax:

# %%
from minitorch_compile.prims.decomposition_table import rule_of

print(inspect.getsource(inspect.unwrap(rule_of(ops.softmax))))

# %% [markdown]
# Let's look at what it becomes. One box goes in, and these come out. The shape of the computation is visible now: two
# reductions, each of which is stretched back over its row, and pointwise work between them. Lesson 14 will fuse all of it
# into a single kernel, and it can only do so because it sees what is inside.

# %%
from minitorch_compile.aot.tracing import trace

softmax_graph = trace(lambda x: ops.softmax(x, 1), [empty_fake((2, 3))])
prims.decompose(softmax_graph).draw()

# %% [markdown]
# ## What it all comes down to
#
# Rules call rules, so there is a tree below each operation, with prims at the ends of its branches. `prims.closure` follows
# it. Layer normalisation asks for two means, each mean for a sum, and only the sum is a prim:

# %%
prims.closure("F.layer_norm").draw()

# %% [markdown]
# Without a name it follows every public operation of the library. Is the set really closed? And who does most of the work?

# %%
everything = prims.closure()
print(len(everything.reductions), "operations come down to", len(everything.ops_by_prim), "prims")
print("left over:", everything.missing_prims or "nothing")
for name, count in everything.ops_by_prim.most_common(6):
    print(f"    {name:20} in {count:3} of them {'#' * (count // 8)}")
rare = [name for name, count in everything.ops_by_prim.items() if count == 1]
print("for a single operation:", ", ".join(sorted(rare)[:8]), "...")

# %% [markdown]
# Some prims are in every other operation, and a few exist for one alone. The rare ones are mostly special functions, which
# nobody can write in the others as well as a numerical library has them. Each is a single rule in a compiler. Here you see
# what a closed set buys: the answer to "what is missing?" is a program that you can run, and a test that runs it every day.
#
# ## Equal on paper
#
# Now to the hard part. The definition of softmax in a textbook has no maximum in it: it is `exp(x) / exp(x).sum()`. The
# maximum cancels, so why is it there? Let's be the person who leaves it out, and while we are at it write down two more
# formulas that every textbook has. The variance is the mean of the squares minus the square of the mean. And log1p is the
# logarithm of 1 + x, what else?


# %%
def naive_softmax(x):
    e = x.exp()
    return e / e.sum()


def naive_variance(x):
    return (x * x).mean() - x.mean() ** 2


def naive_log1p(x):
    return (1 + x).log()


careful = {
    naive_softmax: lambda x: x.softmax(0),
    naive_variance: lambda x: x.var(correction=0),
    naive_log1p: torch.log1p,
}

# %% [markdown]
# To judge them we need a measure. A float32 has 24 binary digits, so between 1 and 2 the numbers that exist are about
# 0.0000001 apart. The distance from a number to the next one is called an *ulp*, a unit in the last place. A result within
# half an ulp is as good as can be. A few ulps are normal. The true value we get from float64, which has 53 digits.


# %% tags=["varies"]
def ulps(result, truth):
    """By how many units in the last place of float32 the result is off, at worst."""
    truth = truth.double().numpy()
    unit = np.spacing(np.abs(truth).astype(np.float32)).astype(np.float64)
    return float((np.abs(result.double().numpy() - truth) / unit).max())


torch.manual_seed(0)
noise = torch.randn(1000)
trials = [
    (naive_softmax, "0 1 2", torch.tensor([0.0, 1.0, 2.0])),
    (naive_softmax, "1000 1001 1002", torch.tensor([1000.0, 1001.0, 1002.0])),
    (naive_variance, "noise", noise),
    (naive_variance, "noise + 100", noise + 100),
    (naive_variance, "noise + 10000", noise + 10000),
    (naive_log1p, "0.5", torch.tensor([0.5])),
    (naive_log1p, "1e-4", torch.tensor([1e-4])),
    (naive_log1p, "1e-8", torch.tensor([1e-8])),
]
print(f"{'':16}{'input':18}{'naive: ulps off':>16}{'the op: ulps off':>18}")
for naive, text, x in trials:
    truth = careful[naive](x.double())
    errors = [ulps(f(x), truth) for f in (naive, careful[naive])]
    print(f"{naive.__name__:16}{text:18}{errors[0]:16.1f}{errors[1]:18.1f}")

# %% [markdown]
# Read the table in pairs. On tame inputs the textbook is fine, and a test with tame inputs would have passed it. Then it
# falls off a cliff, three times, for two different reasons.
#
# The first is *overflow*. e to the 1000 is too large for a float, so it becomes infinity, and infinity divided by infinity
# is not a number. Subtracting the maximum first makes every exponent 0 or less, so the largest power is 1. On paper that
# changes nothing. Here it is the difference between an answer and none.
#
# The second is *cancellation*. Take two numbers of seven correct digits that agree in the first six, and subtract them. What
# is left has one correct digit. It is not the subtraction that is wrong. It only shows that the digits had been thrown away
# before, when the mean of squares was rounded. Around 10000 the squares are around 100,000,000, and float32 can't tell
# neighbours there apart that differ by less than 8:

# %% tags=["varies"]
far = noise + 10000
print("naive:", naive_variance(far).item(), " true:", far.double().var(correction=0).item())
print("1 + 1e-8 is", (torch.tensor(1.0) + 1e-8).item(), "in float32")

# %% [markdown]
# So a rule makes two passes: first the mean, then the squares of the distances *from the mean*, which are small numbers with
# all their digits. And log1p is a prim, like expm1 and erf. It can't be written in the others without losing what it is
# for. That is how the set was chosen. Start with nothing, add what can't be said well in the rest, and stop.
#
# A decomposition is a promise about every input, including those that nobody thinks of: infinities, NaN, the zero with a
# minus sign, the largest number there is. The package's are tested on all of them, against float64. In exercise 12.1 you
# break four rules that look right, and in 12.2 you write one that holds.
#
# ## A transformer block
#
# Enough of small things. This is one block of a language model, attention and a two-layer network, with the two residual
# connections.

# %%
from minitorch_compile import nn
from minitorch_compile.nn import functional as F


class Block(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, width = x.shape
        parts = self.qkv(self.before(x)).view(b, t, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(b, t, width))
        return x + self.down(F.gelu(self.up(self.between(x))))


block = Block()
example = torch.randn(2, 8, 32)

# %% [markdown]
# We count its operations at three landings of the house: the calls that Dynamo captured (lesson 04), the operations that
# these are made of (lesson 11), and the prims.

# %%
captured = []


def note(graph_module, example_inputs):
    captured.append(graph_module)
    return graph_module


def calls(module):
    return [node for node in module.graph.nodes if node.op.startswith("call")]


with torch.no_grad():
    torch.compile(block, backend=note)(example)
    as_ops = trace(block, [example])
as_prims = prims.decompose(as_ops)
for text, module in (("captured", captured[0]), ("ops", as_ops), ("prims", as_prims)):
    kinds = len({node.target for node in calls(module)})
    print(f"{text:9}{len(calls(module)):5} nodes, {kinds:3} different")

# %% [markdown]
# The graph grows, and the vocabulary stays small: some twenty words are enough for a transformer. Which ones? The five most
# frequent tell you what most of such a program consists of.

# %%
words = Counter(node.target.name for node in calls(as_prims))
for word, count in words.most_common(5):
    print(f"{word:18}{'#' * count} {count}")
print("once or twice:", ", ".join(word for word, count in words.items() if count < 3))

# %% [markdown]
# Almost half of it computes nothing. It reshapes, repeats and makes constants. That is the price of leaving nothing to
# guess: all that was implied is now spelled out, and not always briefly.
#
# ## Sweeping up
#
# What rules write down is right, but nobody has read it over. One rule ends with a reshape, the next begins with one. Two
# rules make the same constant. Something is converted to the dtype that it already has. So behind the decomposer comes a
# row of *passes*. Each takes a graph and gives a smaller one that means the same.

# %%
from minitorch_compile.aot.passes import PASSES, show

module = as_prims
for each in PASSES:
    after = each(module)
    print(f"{each.name:28}{len(calls(module)):4} -> {len(calls(after)):3}   {each.text}")
    module = after

# %% [markdown]
# Some passes find nothing here, and some a little. What remains is needed. Let's look closely at the one about views, on a
# program that somebody has made needlessly long: turn a matrix, add a dimension, take it away, turn back.


# %%
def there_and_back(x):
    y = x.transpose(0, 1).unsqueeze(0).squeeze(0).transpose(0, 1)
    return y.exp() + x.transpose(0, 1)[1:].transpose(0, 1).sum()


show("merge_views", trace(there_and_back, [empty_fake((3, 4))]))

# %% [markdown]
# Red nodes are gone, green ones are new, yellow ones read something else than before. How does the pass know? Remember
# lesson 01: a view is nothing but sizes, strides and an offset over the same memory. So a chain of views *is* a layout. If
# two chains arrive at the same layout, they are the same function, however they got there. The pass walks back along each
# chain, and asks whether no view at all, or a single one, leads to the same place. That is one question instead of a rule for
# every pair of views.
#
# ## A pass in ten lines, and how to catch a wrong one
#
# Here is a pass of our own. Adding zero changes nothing, so let users of `x + 0` read x instead.

# %%
import copy


def drop_zeros(graph):
    graph = copy.deepcopy(graph)
    for node in graph.find_nodes(op="call_function", target=ops.add):
        if node.args[1] == 0:
            node.replace_all_uses_with(node.args[0])
    graph.eliminate_dead_code()
    return graph


program = trace(lambda x: (x + 0).exp(), [empty_fake((4,))])
print(program.graph.compact(), "  becomes  ", drop_zeros(program.graph).compact())

# %% [markdown]
# Is it right? Law number one helps: every representation has an interpreter. So run the graph before and after, on the same
# inputs, and compare to the last bit. The package does this after each pass if you set `config.verify_passes`. The inputs
# are not tame, of course.
#
# *Predict*: the first of the two programs below is `(x + 0).exp()`, the second `1 / (x + 0)`. In one of them the
# checker finds a difference. In which?

# %%
predict("12.zero", None)

# %%
from minitorch_compile.aot.passes import check_pass
from minitorch_compile.fx import GraphModule

for function in (lambda x: (x + 0).exp(), lambda x: 1 / (x + 0)):
    program = trace(function, [empty_fake((4,))])
    try:
        check_pass("drop_zeros", program, GraphModule({}, drop_zeros(program.graph)))
        print("nothing found")
    except RuntimeError as error:
        print(str(error).splitlines()[0])

# %% [markdown]
# There is a zero with a minus sign, and `-0.0 + 0` is `0.0`. e to the power of either is 1, so in the first program nobody
# notices. But 1 divided by them is minus infinity or plus infinity. A pass has to be right for every program, so this one
# may not touch fractions. The package's `remove_no_ops` drops `x - 0`, which is exact, `x * 1`, and sums with zero of whole
# numbers only.
#
# ## Where to stop
#
# Smaller is not always better. `softmax` as one node says something that nine prims don't, for instance to a machine that
# has a softmax instruction. And there are things that no hundred prims express well: sorting, or the decomposition of a
# matrix into eigenvectors. These are prims themselves, whole. How far to go is for the backend to say:

# %%
keep = {ops.softmax, ops.native_layer_norm, ops.gelu}
for text, until in (("prims", "prims"), ("core", "core"), ("our own", keep)):
    print(f"until {text:8}{len(calls(prims.decompose(as_ops, until=until))):5} nodes")

# %% [markdown]
# You can also change what an operation is made of. `register_decomposition` takes a rule of your own from then on, and
# `decompose(..., decompositions={op: rule})` takes it for one graph. Perhaps your gelu may be the quick one, through a
# sigmoid:

# %%
quick = {ops.gelu: lambda x, approximate: x * torch.sigmoid(1.702 * x)}
gelu_graph = trace(lambda x: F.gelu(x), [empty_fake((4,))])
for rules in ({}, quick):
    graph = prims.decompose(gelu_graph, decompositions=rules)
    words = Counter(node.target.name for node in calls(graph))
    print(len(calls(graph)), "prims;", "with erf" if "erf" in words else "without erf")

# %% [markdown]
# ## Beside PyTorch
#
# A softmax, decomposed by both. PyTorch keeps it whole unless a backend brings a table; Inductor's takes it apart:

# %%
from minitorch_compile.course.drawings.beside import beside


def shares(x):
    return x.softmax(1)


beside("12_decomposed", prims.decompose(trace(shares, [empty_fake((2, 3))])).code)

# %% [markdown]
# The same maximum, difference, exponential, sum and quotient, in the same order. The difference is what may be
# implied: `aten.sub` still stretches the column by itself and `amax` keeps the dimension if asked, so PyTorch needs
# no `reshape` and no `broadcast_in_dim`. Its lowering has to know broadcasting, then. Ours does not.
#
# ## What PyTorch does differently
#
# - PyTorch has this floor, too, and the names here are its own: `torch._prims` holds the prims, `torch._refs` and
#   `torch._decomp` hold rules for a few hundred operations. But it does not insist. Inductor lowers many ATen operations
#   directly and decomposes others, whatever gave the better kernel, so no closed set stands between the floors. Ours is
#   closed so that a second target is a finite amount of work, and so that a test can walk over all of it.
# - For other backends there is the *core ATen* set, about 180 operations that keep softmax or layer normalisation whole;
#   `ep.run_decompositions()` reduces an exported program to it. That is our `until="core"`.
# - Its operations have overloads (`aten.add.Tensor`, `aten.add.Scalar`), and every one of them is an entry of its own. Ours
#   have one entry, and the family knows what may be a number.
# - Its passes match patterns, written as small programs, and there are hundreds of them; many exist for one model or one
#   GPU. Constant folding beyond uniform values happens only with `freezing`.
# - Neither of the two is exact to the last bit where a decomposition rounds otherwise than the kernel did. PyTorch has
#   tables of tolerances per operation; ours are tested to two ulps against float64, unless a row says why not.
#
# ## Exercises
#
# Open `work/12_prims_and_decompositions.ipynb`. Four exercises first, an hour: you break four rules that look right, write
# one that holds for every input, get an operation accurate within a budget, and merge a product with a sum. Two of your
# functions go into the running stack. Then come the three steps, three quarters of an hour.
#
# ## What you write
#
# `mini/prims.py`, in three steps: seven rules, a layer that applies them and computes nothing twice, and the decomposer. After it
# the rest of your compiler has to know the prims only. The package's version has rules for some hundreds of ops, makes dtypes
# and broadcasting explicit, and takes rules of yours, for one graph or for all.
