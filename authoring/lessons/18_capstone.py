# %% [markdown]
# # 18 Capstone: your own stack trains
#
# Seventeen lessons ago there was nothing but NumPy. Since then you have written a tensor, a bytecode interpreter, a
# tracer with guards, a tape, layers, an ahead-of-time pass, prims, loops, fusion, kernels, and a door in front of it
# all. Each part was judged by itself. Nobody has asked yet what they are worth together. So here are ten images that no
# model has seen, and the question of this lesson: can your stack learn to read them, and is it worth compiling?

# %% tags=["varies"]
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from minitorch_compile.course import own_mini
from minitorch_compile.course.drawings.images import draw_images

files = own_mini()
digits = load_digits()
pixels = (digits.images / 16).astype("float32")
parts = train_test_split(
    pixels, digits.target, test_size=0.2, stratify=digits.target, random_state=2
)
images, test_images, labels, test_labels = parts
draw_images(test_images[:10].tolist(), captions="?" * 10)

# %% [markdown]
# The first line says whose stack will answer. `own_mini()` puts the package `mini` together: each step that you wrote,
# and that passed its check, is yours. What isn't there yet is the reference's. Nothing is written to `work/mini`, so
# you can read this lesson early, and again when more of the steps are yours.
#
# ## One text, two stacks
#
# The package that you have read all the time speaks the same language as `mini`, since both speak PyTorch's. So we
# write each model once, and build it on either. What differs is collected in two small drawers: the convolution of
# `mini` pads by itself, and PyTorch keeps functions apart from layers. A model takes what it needs out of the drawer
# that it is given, and doesn't know which one it is.

# %%
from types import SimpleNamespace

from threadpoolctl import threadpool_limits

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
import mini.nn
import mini.ops
from mini.tensor import from_numpy

threadpool_limits(1)  # one thread for BLAS, so that what we compare is code
torch.set_num_threads(1)
mine = SimpleNamespace(**vars(mini.nn), gelu=mini.ops.gelu)
theirs = SimpleNamespace(**vars(torch.nn), Adam=torch.optim.Adam, from_numpy=torch.from_numpy)
theirs.Conv2d = lambda *sizes: torch.nn.Conv2d(*sizes, padding="same")
theirs.gelu = lambda x: F.gelu(x, approximate="tanh")
theirs.max_pool2d, theirs.cross_entropy = F.max_pool2d, F.cross_entropy
theirs.no_grad = torch.no_grad

# %% [markdown]
# Two models for the digits. The first knows nothing of images. It takes 64 numbers, and between its two products stand
# a layer normalisation and a gelu, which is a good dozen operations in which each number is touched and put down again.
# The second slides small windows over the image, and keeps the greatest of each square. They are written as you would
# write them for PyTorch, with nothing left out for the sake of the compiler: classes, attributes, a reshape that has to
# work out a size for itself.


# %%
def readers(nn):
    class MLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden, self.norm = nn.Linear(64, 128), nn.LayerNorm(128)
            self.scores = nn.Linear(128, 10)

        def forward(self, images):
            return self.scores(nn.gelu(self.norm(self.hidden(images.reshape(-1, 64)))))

    class CNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Conv2d(1, 8, 3), nn.Conv2d(8, 16, 3)
            self.scores = nn.Linear(64, 10)

        def forward(self, images):
            x = nn.max_pool2d(self.first(images.reshape(-1, 1, 8, 8)).relu(), 2)
            x = nn.max_pool2d(self.second(x).relu(), 2)
            return self.scores(x.reshape(-1, 64))

    return MLP, CNN


def loss_on(nn):
    return lambda model, x, targets: nn.cross_entropy(model(x), targets)


MLP, CNN = readers(mine)
loss_of = loss_on(mine)

# %% [markdown]
# And the loop, the four sentences of lesson 09. There is one improvement over plain Adam. The rate begins high, and
# goes down to nothing along half a wave of a cosine. Early steps may be rash, and late ones only polish. All randomness
# comes from two seeds, so every run begins with the same weights, and sees the same batches in the same order.

# %%
BATCH, EPOCHS, RATE = 32, 15, 0.01


def train(model, loss_of, nn=mine, epochs=EPOCHS):
    """The loss of each step."""
    optimizer, order = nn.Adam(model.parameters(), lr=RATE), np.random.default_rng(1)
    steps, losses = epochs * (len(images) // BATCH), []
    while len(losses) < steps:
        whole = order.permutation(len(images))[: -(len(images) % BATCH)]
        for batch in whole.reshape(-1, BATCH):
            optimizer.lr = RATE * (1 + np.cos(np.pi * len(losses) / steps)) / 2
            optimizer.zero_grad()
            loss = loss_of(model, nn.from_numpy(images[batch]), nn.from_numpy(labels[batch]))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def fresh(network, *sizes):
    mini.nn.random = np.random.default_rng(0)
    return network(*sizes)


def guesses(model, nn=mine):
    with nn.no_grad():
        return model(nn.from_numpy(test_images)).numpy().argmax(1)


def percent(model, nn=mine):
    return 100 * (guesses(model, nn) == test_labels).mean()


eager_mlp = fresh(MLP)
eager_losses = train(eager_mlp, loss_of)
print(f"{eager_losses[0]:.3f} at the first step, {eager_losses[-1]:.3f} at the last")
print(f"{percent(eager_mlp):.1f} percent of the images in the test")

# %% [markdown]
# It reads. That was your `Tensor`, your tape and your layers, eager, operation by operation. Nothing of the compiler
# has run so far. Now for the door.
#
# ## The door
#
# `compile` gets the function that computes the loss. At the first call your interpreter walks through its bytecode,
# through `forward` of the model and of each layer in it. What it sees becomes a graph. Your tape turns that graph into
# two, your prims and loops take them apart, and your kernels put them together again.

# %%
from mini.front import compile

from minitorch_compile.course.drawings.line_chart import draw_lines


def each_epoch(losses):
    return np.reshape(losses, (-1, len(images) // BATCH)).mean(1).tolist()


mlp = fresh(MLP)
losses = train(mlp, compile(loss_of))
apart = np.abs(np.subtract(losses, eager_losses))
print(f"{percent(mlp):.1f} percent of the images in the test")
print(f"losses apart by {apart[0]:.1e} at the first step, by {apart.max():.1e} at most")
draw_lines(
    {"eager": each_epoch(eager_losses), "compiled": each_epoch(losses)},
    x_label="epoch",
    y_label="loss",
)

# %% [markdown]
# Two lines, of which you see one. At the first step both losses are of the same weights, and all they can differ by is
# rounding: a fused kernel may add in another order. Later each run learns from its own rounding, and the difference
# grows a little, as it does between two machines. It's what to look at when you doubt a compiler. A wrong gradient is
# apart by tenths after a few steps. Rounding is not.
#
# Now the network that was made for images. The first step takes longer, since there are more kernels to be translated.

# %%
cnn, compiled = fresh(CNN), compile(loss_of)
losses = train(cnn, compiled)
wrong = np.flatnonzero(guesses(cnn) != test_labels)[:10]
print(f"{percent(cnn):.1f} percent of the images in the test; these are wrong:")
said = [f"{guess} ({label})" for guess, label in zip(guesses(cnn)[wrong], test_labels[wrong])]
draw_images(test_images[wrong].tolist(), captions=said)

# %% [markdown]
# In brackets stands what the writer meant. Some of them you wouldn't have known either.
#
# ## On the way down
#
# What was compiled? The entries of a region are its versions, one for each set of guards, and each has its graph. There
# were as many versions as there were kinds of batches. For the MLP that graph is small enough to be drawn. The package
# has a tool for drawing graphs, and yours have what it wants: nodes with arguments, and fakes that know their shapes.

# %%
from minitorch_compile import fx


def drawn(graph):
    picture, boxes = fx.Graph(), {}
    for node in graph.inputs:
        boxes[node] = picture.placeholder(str(node))
    for node in graph.nodes:
        args = tuple(boxes.get(arg, arg) for arg in node.args)
        boxes[node] = picture.call_method(str(node.op).rstrip("_"), args)
    picture.output(tuple(boxes[node] for node in graph.outputs))
    for node, box in boxes.items():
        box.meta["val"] = node.value
    return picture.draw()


first_batch = from_numpy(images[:BATCH]), from_numpy(labels[:BATCH])
region = compile(loss_of)
region(mlp, *first_batch)
(entry,) = region.entries()
drawn(entry.graph)

# %% [markdown]
# No module is left, no class, no `self`. The layer normalisation and the loss are in it, since your tracer walked
# through them like through everything else. To see the stages below, we put a listener on the way: a backend that keeps
# each graph that it's given, and then does what `"inductor"` does. The same trick gives two more stages to be timed: the
# graphs as prims, interpreted node by node, without any kernel.

# %%
from mini.aot import aot
from mini.front import BACKENDS
from mini.prims import decompose
from mini.program import Program

seen = []


def listening(graph):
    seen.append((graph, decompose(graph), Program(graph)))
    return seen[-1][-1]


BACKENDS["listening"] = aot(listening)
BACKENDS["prims"] = aot(lambda graph: decompose(graph).run)


def stages_of(model, batch):
    """How many calls there are at each stage."""
    seen.clear()
    region = compile(loss_of, "listening")
    region(model, *batch)
    (entry,) = region.entries()
    (forward, backward), captured = seen, len(entry.graph.nodes)
    row = {"model": type(model).__name__, "captured": captured}
    for name, (graph, prims, program) in (("forward", forward), ("backward", backward)):
        row[name], row[f"{name} prims"] = len(graph.nodes), len(prims.nodes)
        row[f"{name} steps"] = len(program.steps)
    return row


# %% [markdown]
# A guess before you look. The MLP has two products, with a normalisation, a gelu and a softmax between and behind them,
# and at the end a mean over the batch. How many steps run in its forward pass, kernels and products, once your fusion
# has put together what it can?

# %%
from minitorch_compile.course import predict

predict("18.steps", None)

# %%
from minitorch_compile.course.drawings.table import Table

Table([stages_of(mlp, first_batch), stages_of(cnn, first_batch)])

# %% [markdown]
# Read a row from left to right. What the program called becomes the forward graph, and it's about as long. The backward
# graph is longer, as lesson 08 promised: most operations have two arguments, so two gradients, and a part of the
# forward pass is computed again, because lesson 11 found that cheaper than to keep it. In prims some operations
# become several, and equal ones become one. And then the numbers fall, from dozens to a handful. Everything up to there was taking apart, so that fusion could
# put it together in its own way. Here are the steps of the MLP:

# %%
stages_of(mlp, first_batch)
ours = ["forward:", *seen[0][2].steps, "backward:", *seen[1][2].steps]
print(*ours, sep="\n  ")

# %% [markdown]
# A `matmul` with something behind "then" is a product whose epilogue runs on blocks that are still in the cache. Behind
# a bar begins the next stage of the same kernel: the mean of a row, then its variance, then what needs both. So the
# whole middle of the model, normalisation and gelu, is the epilogue of the first product. The scores, and what the softmax
# needs of each row, its greatest and its sum, are the epilogue of the second. What is left is the loss, a sum over all
# rows, which has to wait for the last of them.
#
# And PyTorch? Here are the calls that its Inductor makes for the same model, the same loss and the same batch, beside
# yours.

# %%
from minitorch_compile.course.drawings.beside import beside

beside("18_steps", "\n".join(map(str, ours)))

# %% [markdown]
# The products are the same ones, each a call of a library, and what stands between two of them is fused on both sides.
# PyTorch's kernel follows its product as a call of its own, where yours runs inside of it, block by block. And a
# kernel may be several loops there, each after the other, so the mean of the loss is in the same function as the
# softmax. The names say which operations have gone into a kernel.
#
# ## What each floor costs
#
# Capture alone saves nothing, you may think: the same operations run in the same order. Let's measure. A stage is a
# way to compute the loss of one batch and all gradients: eagerly; by the captured graph, called node by node; by its
# prims, called node by node; by kernels. They take turns, and the best time of each counts.

# %%
import time

from minitorch_compile.course.drawings.bar_chart import draw_bars


def once(loss_of, model, x, targets):
    for parameter in model.parameters():
        parameter.grad = None
    loss_of(model, x, targets).backward()


def milliseconds(calls, rounds=12):
    best = dict.fromkeys(calls, np.inf)
    for turn in range(rounds):
        for name, call in calls.items():
            start = time.process_time_ns()
            once(*call)
            took = (time.process_time_ns() - start) / 1e6
            best[name] = min(best[name], took) if turn else np.inf
    return best


WAYS = {"graph": "eager", "prims": "prims", "kernels": "inductor"}


def ways(network, batch, *sizes):
    functions = {"eager": loss_of} | {name: compile(loss_of, way) for name, way in WAYS.items()}
    return {name: (f, fresh(network, *sizes), *batch) for name, f in functions.items()}


# %% tags=["varies"]
mlp_times = milliseconds(ways(MLP, first_batch))
draw_bars(mlp_times, unit="ms a step of the MLP")

# %% tags=["varies"]
cnn_times = milliseconds(ways(CNN, first_batch))
draw_bars(cnn_times, unit="ms a step of the CNN")

# %% [markdown]
# So it's true, and a bit worse. A graph that is called node by node costs what eager costs, and the guards on top. As
# prims there are more nodes, each of which does less, so it's slower still. All these floors bring nothing by
# themselves. They are what makes the last bar possible: only in a graph of few simple operations can loops be fused,
# and only what is fused stays in registers.
#
# It is also why the first three bars are worth having. If a compiled model ever gives you a wrong number, ask for it at
# each stage. The first bar that is wrong tells you which of your files to open.
#
# ## A model of letters
#
# The models that people compile today are made of attention. Here is one, small and complete. Letters and places become
# vectors. In each block, every position looks at those before it, by attention, and then thinks for itself, by two
# products with a gelu between them. Both times the result is added to what was there. At the end there is a score for
# each letter that could come next. The mask has minus infinity wherever a position would look into its own future, and
# softmax makes a zero of that.


# %%
LENGTH = 32


def writer(nn):
    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.heads, future = heads, np.full((LENGTH, LENGTH), -np.inf, np.float32)
            self.mask = nn.from_numpy(np.triu(future, 1))

        def forward(self, x):
            n, length, width = x.shape
            qkv, size = self.qkv(self.before(x)), width // self.heads
            parts = [qkv[:, :, i * width : (i + 1) * width] for i in range(3)]
            q, k, v = [p.reshape(n, length, self.heads, size).transpose(1, 2) for p in parts]
            shares = (q @ k.transpose(2, 3) * size**-0.5 + self.mask).softmax(-1)
            x = x + self.out((shares @ v).transpose(1, 2).reshape(n, length, width))
            return x + self.down(nn.gelu(self.up(self.between(x))))

    class GPT(nn.Module):
        def __init__(self, letters, width=64):
            super().__init__()
            self.letters, self.places = nn.Embedding(letters, width), nn.Embedding(LENGTH, width)
            self.first, self.second = Block(width, 4), Block(width, 4)
            self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, letters)
            self.order, self.count = nn.from_numpy(np.arange(LENGTH)), letters

        def forward(self, ids):
            x = self.letters(ids) + self.places(self.order)
            return self.scores(self.norm(self.second(self.first(x)))).reshape(-1, self.count)

    return GPT


# %% [markdown]
# What shall it read? There is a text at hand that you know better than anyone: the source of `mini`, all files one after
# the other. So your stack learns to write your stack. A model that knew nothing but how often each letter comes would
# reach the loss in the second line.

# %% tags=["varies"]
text = "".join(files.values())
letters = sorted(set(text))
ids = np.array([letters.index(letter) for letter in text])
shares = np.bincount(ids) / len(ids)
print(f"{len(text):,} letters, {len(letters)} different ones")
print(f"loss by frequency alone: {-(shares * np.log(shares)).sum():.2f}")


def passages(count, draw):
    """Some letters of the text, and to each the one that comes after it."""
    starts = draw.integers(0, len(ids) - LENGTH - 1, (count, 1))
    found = ids[starts + np.arange(LENGTH + 1)]
    return found[:, :-1], found[:, 1:].reshape(-1)


GPT, some = writer(mine), passages(4, np.random.default_rng(0))
some_letters = from_numpy(some[0]), from_numpy(some[1])

# %% [markdown]
# The first call is where a compiler is paid. It is the same for everybody, whatever the size of the numbers inside: the
# more code a model is made of, the longer it takes. That two blocks are alike helps, since your `machine_code`
# translates equal kernels once.

# %% tags=["varies"]
gpt, compiled = fresh(GPT, len(letters)), compile(loss_of)
start = time.perf_counter()
loss = compiled(gpt, *some_letters)
print(f"{time.perf_counter() - start:.1f} seconds until the first loss")

# %% tags=["varies"]
start = time.perf_counter()
loss.backward()
print(f"{time.perf_counter() - start:.1f} seconds more until the first gradients")

# %% [markdown]
# Now a race over the first steps, each of eager and compiled from the same beginning. Then the compiled one goes on.


# %% tags=["varies"]
def write(model, loss_of, steps, draw, rate=0.003):
    optimizer, losses = mine.Adam(model.parameters(), lr=rate), []
    for _ in range(steps):
        x, targets = passages(4, draw)
        optimizer.zero_grad()
        loss = loss_of(model, from_numpy(x), from_numpy(targets))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


eager = write(fresh(GPT, len(letters)), loss_of, 60, np.random.default_rng(1))
gpt = fresh(GPT, len(letters))
losses = write(gpt, compiled, 400, np.random.default_rng(1))
apart = np.abs(np.subtract(losses[:60], eager))
print(f"losses apart by {apart[0]:.1e} at the first step, by {apart.max():.1e} at most")
draw_lines({"eager": eager, "compiled": losses}, x_label="step", y_label="loss")

# %% [markdown]
# A few hundred passages of 32 letters are nothing. What can have stuck? Let it go on by itself, letter by letter, each
# drawn by the shares that the model gives.

# %% tags=["varies"]
shown, draw = list(ids[:LENGTH]), np.random.default_rng(3)
for _ in range(250):
    with mine.no_grad():
        scores = gpt(from_numpy(np.array([shown[-LENGTH:]]))).numpy()[-1]
    likely = np.exp(1.5 * (scores - scores.max()))
    shown.append(draw.choice(len(letters), p=likely / likely.sum()))
print("".join(letters[i] for i in shown[LENGTH:]))

# %% [markdown]
# It has found out that there are words, that lines are indented, and that `self` is followed by a dot. To write
# programs it would need more of everything: more text, more steps, more width, more places to look back to. It would
# need no other stack.
#
# This was eager, by the way: each letter is one step, without gradients, and of another batch size than those we
# compiled for. Compiled, it would have been another version, with a first call of its own.
#
# ## Beside the grown-up
#
# How good is it, then? We ask the package, which has the same floors with more on each: the same three models, of the
# same text. The last column counts Adam's step of your own, which is eager. Nobody has compiled it.

# %% tags=["varies"]
gpt_times = milliseconds(ways(GPT, some_letters, len(letters)), rounds=6)
draw_bars(gpt_times, unit="ms a step of the GPT")

# %% tags=["varies"]
batches = {
    "MLP": (images[:BATCH], labels[:BATCH]),
    "CNN": (images[:BATCH], labels[:BATCH]),
    "GPT": some,
}
makers = dict(zip(("MLP", "CNN"), readers(theirs)))
makers["GPT"] = lambda: writer(theirs)(len(letters))
rows = []
measured = (("MLP", mlp, mlp_times), ("CNN", cnn, cnn_times), ("GPT", gpt, gpt_times))
for name, model, times in measured:
    batch = tuple(map(torch.from_numpy, batches[name]))
    with_package = loss_on(theirs), torch.compile(loss_on(theirs))
    of_package = milliseconds({f: (f, makers[name](), *batch) for f in with_package})
    adam = mine.Adam(model.parameters())
    start = time.process_time_ns()
    adam.step()
    row = {"model": name, "eager": times["eager"], "kernels": times["kernels"]}
    row["times faster"] = times["eager"] / times["kernels"]
    row |= dict(zip(("package, eager", "package, compiled"), of_package.values()))
    row["Adam, eager"] = (time.process_time_ns() - start) / 1e6
    rows.append({key: v if key == "model" else float(f"{v:.3g}") for key, v in row.items()})
Table(rows)

# %% [markdown]
# All in milliseconds but for the factor. Your compiled stack beats your eager one each time, and where there are many
# small operations it beats the package's eager one, too. Compiled against compiled it loses clearly, and it's worth
# knowing where. Each of your calls goes through guards and a program in Python, step by step; the package's is one
# native call. Your convolution is a product of copied windows; the package slides. And look at the last column. Once
# the model is fast, the optimizer is what you wait for. The package compiles a training step as a whole, optimizer
# and all.
#
# ## What the difference buys
#
# Here is the price of all that, in lines of code: yours, the package's, and PyTorch's. Blank lines, comments and
# docstrings don't count. Of PyTorch only the Python files of the folders that belong to a stage are counted, so its C++
# isn't in: no kernels of eager operations, no autograd engine, no frame hook. They were counted once, with
# `tools/count_torch_lines.py`, and stored with their version.

# %% tags=["varies"]
from minitorch_compile.course.mini.stack_lines import stack_lines, torch_lines

rows = stack_lines(files)
total = {key: sum(row[key] for row in rows) for key in ("mini", "package", "PyTorch")}
print("PyTorch", torch_lines()["version"])
Table([*rows, {"stage": "all"} | total])

# %% [markdown]
# The ways from column to column tell more than the sums. From `mini` to the package it's tensors, layers and prims that
# grow by the largest factors, and what is added is width: some hundreds of operations, each with its dtypes, its
# gradient and its errors. You could write the next one in a minute, and there would always be one more.
#
# From the package to PyTorch the two rows grow that are large already. One is Python, which has no end either: each
# builtin type, each library that people call from a model, each way to write a loop. Yours breaks the graph there, and
# that is a correct answer. A break that isn't needed any more buys speed, not correctness. The other row buys machines.
# A GPU has its own code generator, its own templates for products, its own tuning, and so has every other device.
#
# And four rows are small in each column: the tape, the transforms, what happens ahead of time, the prims. A joint
# graph, a cut, a few dozen operations that all others are made of: that is the part which can be finished. If somebody
# asks you what PyTorch 2 *is*, show them these. The rest is what it takes for other people to rely on it.
#
# ## What PyTorch does differently
#
# - It guards in C++, through a tree of checks that gives up at the first difference, and calls kernels from a wrapper
#   in C++, or replays a recorded CUDA graph. Yours does both in Python, and small models feel that.
# - Its optimizers compile: `torch.compile(optimizer.step)`. State that changes with each step is kept in tensors, so
#   that no guard fails. In yours the count of steps is a plain number.
# - Any size can become a symbol there, many of them at a time, with inequalities between them as guards. Yours has one,
#   the batch.
# - Kernels are compiled in parallel, in processes of their own, and kept on disk, so the next start is quick.
# - Losses are compared there, too: its benchmarks run each of some hundred models eagerly and compiled, and look at how
#   far apart they are, measured against float64.
#
# Which files to read next? You have written a small version of each of these, so begin wherever you were proudest:
# `torch/_dynamo/symbolic_convert.py` and `variables/base.py` (lessons 03 and 04), `torch/_dynamo/guards.py` (05),
# `torch/_dynamo/side_effects.py` (06), `torch/_functorch/partitioners.py` (11), `torch/_decomp/decompositions.py` (12),
# `torch/_inductor/lowering.py` and `ir.py` (13), `scheduler.py` (14), `codegen/cpp.py` (15), and
# `select_algorithm.py` (17). They are long. You know what is in them.
#
# ## Exercises
#
# Open `work/18_capstone.ipynb`. You predict what becomes of small programs, find the places where your stack gives up,
# and write the test that this lesson stands on: how near are two ways to train? Then two models of your own. The one
# has to read digits with as few bytes as you can, and the other has a memory, and reads an image row by row.
