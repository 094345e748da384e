# %% [markdown]
# # 00 Tour: one line makes a model faster
#
# This course builds one thing: the machine behind the line `model = torch.compile(model)`. It was PyTorch 2's headline
# when it appeared, and it looks like a conjuring trick. You hand over an ordinary Python object. You get back something
# that computes the same numbers, sooner. No new language, no annotations, and if the trick can't be done, your program
# still runs.
#
# There is no trick, only a chain of small translations, each of which you will write yourself. Today you only ride
# along. You will train two networks on real data, add the one line, and then open every hatch on the way: what was
# captured, what was promised, what was generated. Nothing here needs a GPU.
#
# The first cell is for Colab, where the course has to be fetched: it asks for the address of its repository. Elsewhere it
# does nothing.

# %%
import sys

if "google.colab" in sys.modules:
    import os
    import subprocess

    address = input("the address of the course's repository, as git clones it: ")
    subprocess.run(["git", "clone", "--quiet", "--depth=1", address, "course"], check=True)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "-e", "course[draw]"]
    subprocess.run(install, check=True)
    os.chdir("course/notebooks")
    sys.path.insert(0, os.path.dirname(os.getcwd()))  # this kernel began before it was installed

# %% [markdown]
# Here is the whole route. Keep it in mind as a map: each box is a floor of the package and a few lessons of the course.

# %%
from minitorch_compile.course.drawings.pipeline import draw_pipeline

draw_pipeline()

# %% [markdown]
# And here is what stands on what. An arrow leads from a lesson to those that can't be understood without it, so you may
# begin at the left, at the right, or go by the numbers. The times are estimates, to read and for the exercises: 150 words
# or six lines of code a minute, and what the sheets say. PyTorch's words for all of it are in the
# [glossary](../docs/glossary.md), with the lesson in which each thing is built.

# %%
from minitorch_compile.course.drawings.concept_map import draw_concepts
from minitorch_compile.course.lesson_minutes import lesson_times

draw_concepts({number: (time.title, str(time)) for number, time in lesson_times().items()})

# %% [markdown]
# ## The data: 1,797 handwritten digits
#
# In the 1990s a few dozen people filled in a form with digits, by hand, and the scans were reduced to images of 8 by 8
# pixels. scikit-learn ships a part of them. A fifth of the images are set aside for the test, with the same share of
# each digit, and no network sees them until its score is printed.

# %%
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from minitorch_compile.course.drawings.images import draw_images

digits = load_digits()
pixels = (digits.images / 16).astype("float32")
parts = train_test_split(
    pixels, digits.target, test_size=0.2, stratify=digits.target, random_state=2
)
print(f"{len(parts[0])} images to learn from, {len(parts[1])} for the test")
draw_images(parts[0][:10].tolist(), captions=parts[2][:10])

# %% [markdown]
# Now the library. It is called minitorch_compile, and it speaks PyTorch: the same names, the same arguments, the same
# errors. So we import it as `torch`, and if you have written PyTorch before, you can read everything below without a
# dictionary.

# %%
import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import nn

train_images, test_images = (torch.from_numpy(part).unsqueeze(1) for part in parts[:2])
train_labels, test_labels = (torch.from_numpy(part) for part in parts[2:])
train_images.shape, train_images.dtype, train_labels.dtype

# %% [markdown]
# ## A network, trained the plain way
#
# The first network is the oldest there is, a multilayer perceptron: 64 pixels in, two layers of 256 hidden units, ten
# scores out.


# %%
class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 256)
        self.second = nn.Linear(256, 256)
        self.last = nn.Linear(256, 10)

    def forward(self, images):
        x = images.flatten(1)
        x = F.relu(self.first(x))
        x = F.relu(self.second(x))
        return self.last(x)


# %% [markdown]
# And the loop that trains it, as you would write it in PyTorch: shuffle, take 32 images, compute the loss, go
# backwards, take a step. It keeps a diary of losses and of how long each step took. All randomness comes from one seed,
# so two runs see the same batches in the same order.

# %%
import time
from dataclasses import dataclass, field

BATCH = 32


@dataclass
class Diary:
    """What happened in training: the mean loss of each epoch, the seconds of each step."""

    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def step_ms(self) -> float:
        """A step in milliseconds: of the fastest tenth, so that other programs don't blur it."""
        return sorted(self.seconds)[len(self.seconds) // 10] * 1000


def loss_of(model, images, labels):
    return F.cross_entropy(model(images), labels)


def train(model, epochs, learning_rate, loss_of=loss_of):
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    torch.manual_seed(1)
    diary = Diary()
    for _ in range(epochs):
        order, total = torch.randperm(len(train_images)), 0.0
        batches = order[: len(order) // BATCH * BATCH].reshape(-1, BATCH)
        for batch in batches:
            images, labels = train_images[batch], train_labels[batch]
            start = time.perf_counter()
            loss = loss_of(model, images, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            diary.seconds.append(time.perf_counter() - start)
            total += loss.item()
        diary.losses.append(total / len(batches))
    return diary


# %% [markdown]
# Two small helpers, for the score and for a fair start, and off we go.


# %%
def accuracy(model) -> float:
    """Percent of the test images that get the right label."""
    with torch.no_grad():
        return 100 * (model(test_images).argmax(1) == test_labels).float().mean().item()


def fresh(network):
    """A new network; the same one each time."""
    torch.manual_seed(0)
    return network()


eager_model = fresh(MLP)
eager = train(eager_model, epochs=5, learning_rate=2e-3)
print("loss of each epoch:", *(f"{loss:.4f}" for loss in eager.losses))

# %% [markdown]
# This is called *eager* execution. Python reaches `self.first(x)`, a matrix is multiplied; it reaches `F.relu`, a
# maximum is taken; each operation runs by itself, as soon as it is met, and writes its whole result to memory before
# the next begins. That is a wonderful way to work: you can print anything anywhere. It is also why the processor spends
# its day carrying numbers to memory and back.
#
# ## The one line
#
# Same network, same seed, same loop. One line more.

# %%
model = fresh(MLP)
model = torch.compile(model)

compiled = train(model, epochs=5, learning_rate=2e-3)
print("loss of each epoch:", *(f"{loss:.4f}" for loss in compiled.losses))

# %% [markdown]
# The same losses, and they ought to be: a compiler that changes the answer is a bug with good marketing. Drawn over
# each other, the two curves are one.

# %%
from minitorch_compile.course.drawings.line_chart import draw_lines

differences = [abs(a - b) for a, b in zip(eager.losses, compiled.losses)]
assert max(differences) < 1e-4, differences
draw_lines({"eager": eager.losses, "compiled": compiled.losses}, x_label="epoch", y_label="loss")

# %% tags=["varies"]
print(f"eager     {eager.step_ms():8.3f} ms a step")
print(f"compiled  {compiled.step_ms():8.3f} ms a step")
print(f"but the first compiled step took {compiled.seconds[0]:.2f} s")
print(f"largest difference between the losses: {max(differences):.1e}")

# %% [markdown]
# Two facts, and both belong to the story. Each step is faster. And the first step took as long as thousands of others,
# because that is when the work of this course happened. A compiler is an investment: dear at once, cheap ever after.
# When it pays is simple arithmetic, and we will do it at the end of this page.
#
# Now open the hatches, in the order in which your function passed them.
#
# ## Hatch 1: the captured graph
#
# How can a library know what your function does? It can't read minds, and it doesn't read your source text either. It
# reads what Python itself runs: bytecode, the instructions for the small stack machine inside CPython. These are the
# first of `MLP.forward`; they look a little different in each version of Python.

# %% tags=["varies"]
import dis

for instruction in list(dis.get_instructions(MLP.forward))[:12]:
    print(f"{instruction.opname:<20} {instruction.argrepr}")

# %% [markdown]
# On the first call, *Dynamo* took these instructions and executed them itself, one after the other, with stand-ins
# instead of numbers: tensors that have sizes and a dtype but no data. Lists, loops, attributes and method calls it
# simply followed, as Python would. Whatever was done to the stand-ins was written down. The notes are a graph, one node
# for each thing you called.
#
# `torch.compiler.inspect` compiles a call on the side and keeps everything that passes between the stages, so that we
# can look at it.

# %%
seen = torch.compiler.inspect(fresh(MLP), train_images[:BATCH])
seen.graph.draw()

# %% [markdown]
# Read it from the top: the images and six parameters come in, three linear layers and two rectifiers happen, the scores
# go out. Notice what is missing. There is no `self` any more, no attribute lookup, no method of yours, no Python at
# all. `self.first.weight` has become an input of the graph. A graph is nothing but data, and data can be rewritten;
# that is what makes everything below possible. Here it is as text, each line with the line of yours that it came from:

# %%
print(seen.graph.code)

# %% [markdown]
# You can open all hatches of a program of yours at once: `seen.save("report.html")` writes every stage to one page for a
# browser. Click a node there, and follow it from your line through all that comes below, down to the line of the kernel.
#
# ## Hatch 2: the guards
#
# The graph is true only for what was seen while tracing. Call the model with another batch size, another dtype, or
# replace a layer, and it would be wrong. So Dynamo also wrote down everything it had relied on. These are the *guards*.
# They are checked on every call, in a few microseconds. If one fails, the function is traced again, and both versions
# are kept. There are many, since a model is many objects. These are the ones about everything else: the images, but
# also whether gradients are wanted, and whether `F` still means the module that it meant.

# %%
about_the_model = [guard for guard in seen.guards if "self" in str(guard)]
for guard in seen.guards:
    if guard not in about_the_model:
        print(guard)
print(f"and {len(about_the_model)} more, about the model's own objects")

# %% [markdown]
# See it happen. With 29 images instead of 32 one guard must fail, and the log says which, and both values:

# %%
from minitorch_compile import logs

with logs.capture("recompiles") as records:
    model(train_images[:29])
for record in records:
    print(record.text)

# %% [markdown]
# ## Hatch 3: forwards and backwards, ahead of time
#
# Training needs gradients. Eager execution records a tape while the forward pass runs and plays it backwards
# afterwards. A compiler would like to know the backward pass *before* anything runs, so it traces the tape as well. The
# result is one *joint graph*, which takes the inputs and the gradients of the outputs (the blue `tangents_0`), and
# gives the outputs and the gradients of the parameters.

# %%
sizes = [
    sum(node.op.startswith("call") for node in each.graph.nodes)
    for each in (seen.graph, seen.joint_graph)
]
print("calls in the captured graph: {}, in the joint one: {}".format(*sizes))
seen.joint_graph.draw()

# %% [markdown]
# Each operation in it is then replaced by its definition over a small closed set of *prims*: no broadcasting, no
# mixed dtypes, no shortcuts. A rectifier, for instance, is a `maximum` with a `full` of zeros. And the graph is cut in
# two. What the forward half computes and the backward half needs has to be kept in between, and where to cut is a real
# question: everything kept costs memory, everything not kept must be computed again. The partitioner decided on this:

# %%
print(seen.partition.report)

# %% [markdown]
# The two `maximum` are the hidden layers after their rectifiers. The rest are things that exist anyway. And here is the
# backward half, over prims. If you know the gradient of a matrix product, you will recognise it in the `mm` lines:

# %%
print(seen.backward_graph.code)

# %% [markdown]
# ## Hatch 4: loops, and which of them can be one
#
# Each prim becomes a loop over cells of memory, the kind you will meet in lesson 01. Loops over the same cells can be
# *fused*: instead of adding the bias to all numbers, writing them out, reading them back and clipping them at zero, do
# both to each number while it is in a register. Matrix products are another matter (lesson 16). Most go to BLAS, which has
# been tuned for forty years. Some are done by tiles of our own, and then bias and clipping follow block by block, while a
# block is in the cache. The schedule lists what is left, forwards:

# %% tags=["varies"]
print(seen.schedule)

# %% [markdown]
# ## Hatch 5: the generated code
#
# At the end stands Python source, in a real file, which Numba turns into machine code. You can set a breakpoint in it.
# Each line says which of yours it came from, and `256 * i0 + i1` is a position in memory, as in lesson 01. The last
# function runs the whole forward pass in one native call: the products are extern kernels, the rest are those above.

# %% tags=["varies"]
start, end = seen.source.index("@kernel"), seen.source.index("SIZES_0")
print(seen.source[start:end])

# %% [markdown]
# Most of the time of a first call goes to this very last stage, in which Numba and LLVM turn the Python above into
# instructions for your processor. That is why the result is worth keeping: the generated file and its machine code stay
# on disk, and a second program that builds the same graph finds them there.
#
# That is the whole machine. Nothing is hidden: set the environment variable `MTC_LOGS=graph,guards,output_code`, and
# every program prints these as it runs. And nothing is all or nothing: each stage has an interpreter, slow and simple,
# that defines what its language means. You can stop the machine at any stage and run from there, which is how one finds
# out which of them broke something:

# %% tags=["varies"]
images = train_images[:BATCH]
expected = eager_model(images)
for backend in ["eager", "aot_eager", "aot_eager_decomp_partition", "loops", "inductor"]:
    result = torch.compile(eager_model, backend=backend)(images)
    print(f"{backend:<28} differs by {(result - expected).abs().max().item():.1e}")

# %% [markdown]
# ## A second network
#
# The perceptron throws away the fact that pixels have neighbours. A convolutional network doesn't. Everything about it
# is different, and the line is the same.


# %%
class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.strokes = nn.Conv2d(1, 32, kernel_size=3, padding=1)
        self.shapes = nn.Conv2d(32, 64, kernel_size=3, padding=1)
        self.last = nn.Linear(64 * 2 * 2, 10)

    def forward(self, images):
        x = F.max_pool2d(F.relu(self.strokes(images)), 2)
        x = F.max_pool2d(F.relu(self.shapes(x)), 2)
        return self.last(x.flatten(1))


eager_cnn, cnn = fresh(CNN), torch.compile(fresh(CNN))
eager_cnn_diary = train(eager_cnn, epochs=5, learning_rate=4e-3)
cnn_diary = train(cnn, epochs=5, learning_rate=4e-3)
cnn_differences = [abs(a - b) for a, b in zip(eager_cnn_diary.losses, cnn_diary.losses)]
assert max(cnn_differences) < 1e-4, cnn_differences
print("eager   ", *(f"{loss:.4f}" for loss in eager_cnn_diary.losses))
print("compiled", *(f"{loss:.4f}" for loss in cnn_diary.losses))

# %% [markdown]
# Five epochs were enough for the comparison. Ten more, compiled, for the score on the images that neither network has
# seen:

# %%
train(model, epochs=10, learning_rate=2e-3)
train(cnn, epochs=10, learning_rate=4e-3)
print(f"MLP  {accuracy(model):.1f} percent of the test images")
print(f"CNN  {accuracy(cnn):.1f} percent of the test images")
assert accuracy(model) >= 96 and accuracy(cnn) >= 98

# %% [markdown]
# ## A larger piece
#
# A compiler can only improve what it is shown. We gave it the model; the loss and its gradient stayed outside, a dozen
# small eager operations for each step. Nothing forces us to draw the border there. Compile the function that contains
# both, and it becomes one graph:

# %%
mlp_and_loss = train(fresh(MLP), 5, 2e-3, loss_of=torch.compile(loss_of))
cnn_and_loss = train(fresh(CNN), 5, 4e-3, loss_of=torch.compile(loss_of))
for pair in [(eager, mlp_and_loss), (eager_cnn_diary, cnn_and_loss)]:
    assert max(abs(a - b) for a, b in zip(pair[0].losses, pair[1].losses)) < 1e-4

# %% tags=["varies"]
print("a training step     eager   model compiled   model and loss compiled")
for name, steps in {
    "MLP": (eager, compiled, mlp_and_loss),
    "CNN": (eager_cnn_diary, cnn_diary, cnn_and_loss),
}.items():
    print(f"{name:<14}", *(f"{diary.step_ms():8.3f} ms   " for diary in steps))

# %% [markdown]
# ## When it can't
#
# No compiler understands all of Python, and one that pretended to would be dangerous. Here is a forward pass that asks
# a question of the numbers themselves, in the middle of tracing, when there are no numbers yet.


# %%
class Anxious(MLP):
    def forward(self, images):
        scores = super().forward(images)
        if scores.abs().max().item() > 50:
            print("these scores look too large")
        return scores - scores.mean()


explanation = torch.compiler.explain(fresh(Anxious))(images)
print(explanation.break_reasons[0])

# %% [markdown]
# Five lines: where, which part of the line, why, what happens now, and what you could do about it. What happens now is
# the important one. Nothing crashes and nothing is silently wrong. The function is split at this line into two graphs
# with ordinary Python in between: the first graph runs, then Python asks its question and perhaps prints, then the
# second graph runs. It is slower than one graph, and it is right.

# %%
anxious, calm = torch.compile(fresh(Anxious)), fresh(Anxious)
assert (anxious(images) - calm(images)).abs().max() < 1e-6
print(explanation.graph_count, "graphs, same result")

# %% [markdown]
# ## The bill
#
# Here is the arithmetic that was promised. `pays after` is how many steps it takes until the first, slow call is paid
# for. Compiled code is kept on disk, so the next time you run this page the bill is smaller.


# %% tags=["varies", "table"]
from minitorch_compile.course.drawings.table import Table


def row(name, trained, plain, quick):
    saved = (plain.step_ms() - quick.step_ms()) / 1000
    return {
        "model": name,
        "parameters": sum(parameter.numel() for parameter in trained.parameters()),
        "test %": round(accuracy(trained), 1),
        "eager ms": round(plain.step_ms(), 3),
        "compiled ms": round(quick.step_ms(), 3),
        "times faster": round(plain.step_ms() / quick.step_ms(), 2),
        "first call s": round(quick.seconds[0], 2),
        "pays after": round(quick.seconds[0] / saved) if saved > 0 else "never",
        "loss differs": f"{max(abs(a - b) for a, b in zip(plain.losses, quick.losses)):.0e}",
    }


Table(
    [
        row("MLP", model, eager, compiled),
        row("MLP and loss", model, eager, mlp_and_loss),
        row("CNN", cnn, eager_cnn_diary, cnn_diary),
        row("CNN and loss", cnn, eager_cnn_diary, cnn_and_loss),
    ]
)

# %% [markdown]
# ## Beside PyTorch
#
# Here is the captured graph of the perceptron once more, beside the one that PyTorch captures:

# %%
from minitorch_compile.course.drawings.beside import beside

beside("00_graph", seen.graph.code)

# %% [markdown]
# And this is how much there is to read, in lines of Python, floor by floor:

# %% tags=["varies"]
from pathlib import Path


def lines_of(folder):
    return sum(len(path.read_text().splitlines()) for path in Path(folder).rglob("*.py"))


package = Path(torch.__file__).parent
floors = {name: lines_of(package / name) for name in ("dynamo", "aot", "prims", "inductor", "fx")}
floors["all"] = sum(floors.values())
beside("00_lines", "\n".join(f"{name:<9}{count:>8,}" for name, count in floors.items()))

# %% [markdown]
# The same four calls on the same sizes. Every lesson from 03 on ends with such a pair.
#
# ## What PyTorch does differently
#
# The route is PyTorch's own: Dynamo, AOTAutograd, the prims of PrimTorch, Inductor, with their names and their borders.
# What differs is the last mile and the size. PyTorch generates C++ and Triton where we generate Python for Numba, which
# you can read and step through. Its kernels are the better ones, and its first call takes longer. The floors that you saw
# today are nearly half a million lines of Python there, and about sixty thousand here, tests aside. The heart of
# it you will write yourself, in less than two thousand.
#
# ## Before you go
#
# This page is a notebook, and it is yours. Change something and look what the machine makes of it. A few suggestions,
# each a minute's work:
#
# - Replace `F.relu` by `torch.tanh` in the MLP and run from there. What has changed in hatch 5, and what in hatch 1?
# - Put `print("hello")` into `MLP.forward`, and ask `torch.compiler.explain` about it. How often is it printed?
# - Train in batches of 64. Which guard fails, and how many times is the model compiled?
# - Give `inspect` a function of your own, say `lambda x: (x.exp() / x.exp().sum(-1, keepdim=True))`, with a tensor. How
#   many kernels do you expect? Count them in `seen.schedule`.
#
# If one of these makes the compiled result wrong, you have found a bug, and finding one is the quickest way to become a
# contributor.
#
# ## Where to go
#
# Lesson 01 begins at the bottom, with a line of memory cells and the question of how a matrix can be turned on its side
# in no time. Its exercises are in `work/01_tensors_strides_views.ipynb`; two of the functions you write there can be
# put into this very machine, and this page will run on them.
#
# From there the course goes up, floor by floor: what an operation is (02), from bytecode to graphs (03 to 07), the tape that
# gradients come from (08), modules and optimizers (09), functions of functions (10), both passes as one graph that is cut in
# two (11), a small set of operations that all others are made of (12), loops made from these (13),
# loops fused into kernels (14), kernels as machine code (15), and what is no loop: matrix products, memory, and choosing by
# the clock (16). The lessons above are being built.
