# %% [markdown]
# # 09 nn, optim, a real classifier
#
# Lesson 08 ended with gradients. A network has some hundreds of tensors that want one, and they sit in attributes of
# objects in attributes of objects, wherever it was convenient to put them. Between "the gradient of the loss with
# respect to x" and "a model that reads digits" stand two pieces of bookkeeping: who are all these tensors, and what is
# each one's next value? PyTorch answers the first with `nn.Module` and the second with `optim`.
#
# Both look like frameworks and both are one idea each. A module is a tree that knows its parameters by name. An
# optimizer is a pure function: parameters, gradients and a state go in, new parameters and a new state come out. You
# will build both in about eighty lines, train them on real handwriting to more than 95 percent, and then open the
# package's own, which have the same shape.
#
# ## A module is a tree
#
# Here is what we want to be able to write, and it already contains the whole problem:
#
#     class Net(Module):
#         def __init__(self):
#             super().__init__()
#             self.first = Linear(64, 64)
#             self.last = Linear(64, 10)
#
# Nobody calls `register` here. The assignment `self.first = ...` has to do it. In Python it can: an assignment to an
# attribute calls `__setattr__`, and a class may have its own. Ours looks at the value. A parameter goes into one
# dictionary, a module into another, everything else where attributes usually go. How does it recognise a parameter? By
# its class: `nn.Parameter` is a tensor with nothing added but that it says "train me".

# %%
import minitorch_compile as torch
from minitorch_compile import nn


class Module:
    """A tree: parameters at this node, and child modules, each by name."""

    def __init__(self):
        self.__dict__.update(_parameters={}, _modules={}, training=True)

    def __setattr__(self, name, value):
        if isinstance(value, nn.Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name):  # only called where the usual lookup found nothing
        for registered in (self.__dict__.get("_parameters", {}), self.__dict__.get("_modules", {})):
            if name in registered:
                return registered[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __call__(self, *args):
        return self.forward(*args)

    def named_parameters(self, prefix=""):
        for name, parameter in self._parameters.items():
            yield prefix + name, parameter
        for name, module in self._modules.items():
            yield from module.named_parameters(f"{prefix}{name}.")

    def state_dict(self):
        return {name: p.detach().clone() for name, p in self.named_parameters()}


# %% [markdown]
# That is all of it. `named_parameters` walks the tree, own parameters first, then each child in the order in which it
# was assigned, and the path down to a parameter, joined by dots, is its name. `state_dict` is the same walk, with the
# numbers copied out.
#
# A layer is a leaf of the tree. Ours computes `x @ weight.T + bias`; how it picks its first numbers will be a section
# of its own, further down.


# %%
class Linear(Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        bound = inputs**-0.5
        self.weight = nn.Parameter(torch.empty(outputs, inputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(outputs).uniform_(-bound, bound))

    def forward(self, x):
        return x @ self.weight.T + self.bias


class Net(Module):
    def __init__(self):
        super().__init__()
        self.first = Linear(64, 64)
        self.last = Linear(64, 10)

    def forward(self, x):
        return self.last(self.first(x).relu())


for name, parameter in Net().named_parameters():
    print(f"{name:<14} {tuple(parameter.shape)}")

# %% [markdown]
# The order is the order of the assignments, and it is the same in every run. Optimizers rely on that, since all they
# get is a list.
#
# The trick has an edge, and everybody falls over it once. Only what is *assigned to an attribute* is seen. Put the
# layers into a Python list, and the attribute is a list, which is neither a parameter nor a module:
#
# *Predict*: how many parameters does this model have, if one asks for them?

# %%
from minitorch_compile.course import predict

predict("09.hidden", None)


# %%
class Hidden(Module):
    def __init__(self):
        super().__init__()
        self.layers = [Linear(64, 64), Linear(64, 10)]


print(list(Hidden().named_parameters()))

# %% [markdown]
# No error, and no parameters. Such a model runs, its loss is computed, and it never learns anything in those layers.
# That is what `nn.ModuleList` is for: a list that is a module.
#
# ## An optimizer is a function
#
# Now the second question. We have a list of parameters and a list of gradients of the same sizes. The simplest answer
# to "what next?" is a small step downhill. It needs no memory, but the others will, so all of them take a state and
# give one back:


# %%
def sgd(params, grads, state, lr):
    return [p - lr * g for p, g in zip(params, grads)], state


# %% [markdown]
# Nothing is changed in place. The same arguments give the same results, so a rule can be tested with three numbers on
# paper, and, since it is made of tensor operations, traced and compiled like any function.
#
# Plain steps have a weakness. Where the loss is a narrow valley, the slope across it is steep and the slope along it is
# gentle. A rate small enough for the steep direction crawls in the other. *Momentum* remembers: it keeps a running sum
# `v` of the gradients, which fades by a factor at each step. Across the valley the gradients alternate in sign and
# cancel in the sum. Along the valley they agree and add up, to ten times their size if the factor is 0.9.


# %%
def momentum(params, grads, state, lr, keep=0.9):
    state = [keep * v + g for v, g in zip(state, grads)]
    return [p - lr * v for p, v in zip(params, state)], state


# %% [markdown]
# *Adam* goes further: it gives every single number its own step size. Besides a running mean of the gradient it keeps a
# running mean of its *square*, and divides by the root of that. What comes out is about one in size, whether the
# gradients are thousands or thousandths, so `lr` is simply how far a parameter moves in a step.
#
# Two details make it work. Both means start from zero, so at first they are too small: after one step the mean of the
# squares is a thousandth of what it should be. Dividing by `1 - beta ** step` repairs exactly this; it is called *bias
# correction*. And weight decay, which pulls parameters towards zero, must not go through the division, or parameters
# with large gradients would be decayed less. So it shrinks `p` itself, apart from the gradient. This separation is the
# W in AdamW.


# %%
def adamw(params, grads, state, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    results = []
    for p, g, (step, mean, square) in zip(params, grads, state):
        step = step + 1
        mean = betas[0] * mean + (1 - betas[0]) * g
        square = betas[1] * square + (1 - betas[1]) * g * g
        direction = mean / (1 - betas[0] ** step)
        size = (square / (1 - betas[1] ** step)).sqrt() + eps
        p = p * (1 - lr * decay) - lr * direction / size
        results.append((p, (step, mean, square)))
    return [p for p, _ in results], [new for _, new in results]


def zeros_for(rule, params):
    """The state before the first step."""
    if rule is adamw:
        return [(0, torch.zeros_like(p), torch.zeros_like(p)) for p in params]
    return [torch.zeros_like(p) for p in params]


# %% [markdown]
# Here is the narrow valley, `0.5 * (x² + 50 y²)`, whose gradient is `(x, 50 y)`. Each rule gets 60 steps from the same
# place, and a rate that suits it. What is drawn is the distance from the bottom.

# %%
from minitorch_compile.course.drawings.line_chart import draw_lines


def descend(rule, lr, steps=60):
    params = [torch.tensor([4.0, 1.0])]
    state, distances = zeros_for(rule, params), []
    for _ in range(steps):
        grads = [p * torch.tensor([1.0, 50.0]) for p in params]
        params, state = rule(params, grads, state, lr)
        distances.append(params[0].norm().item())
    return distances


paths = {
    "sgd": descend(sgd, 0.02),
    "momentum": descend(momentum, 0.02),
    "adamw": descend(adamw, 0.3),
}
draw_lines(paths, x_label="step", y_label="distance")

# %% [markdown]
# Plain descent is smooth and slow. Momentum is faster, and rolls past the bottom and back, like a ball; its wiggles are
# the steep direction. AdamW rolls, too, since it has momentum inside, but without the wiggles: after the division both
# directions look the same to it. None of them is best everywhere, which is why there are so many.
#
# ## Ten digits
#
# Time for real data: the digits of lesson 00, 1,797 images of 8 by 8 pixels from inside scikit-learn, a fifth of them
# set aside. We flatten each image to 64 numbers.

# %%
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

digits = load_digits()
parts = train_test_split(
    (digits.data / 16).astype("float32"),
    digits.target,
    test_size=0.2,
    stratify=digits.target,
    random_state=2,
)
train_images, test_images, train_labels, test_labels = map(torch.from_numpy, parts)
print(train_images.shape, test_images.shape)

# %% [markdown]
# And the loop. Read it as four sentences: compute the loss of a batch, ask for its gradients, ask the rule for new
# values, store them. Storing is the only thing that changes anything, and it must not be recorded on the tape, or the
# next step's gradients would go through this one: hence `no_grad`.

# %%
import minitorch_compile.nn.functional as F


def accuracy(model):
    with torch.no_grad():
        return 100 * (model(test_images).argmax(1) == test_labels).float().mean().item()


def train(model, rule, lr, epochs=12):
    params = [p for _, p in model.named_parameters()]
    state, losses = zeros_for(rule, params), []
    torch.manual_seed(1)
    for _ in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(train_images)).split(32):
            loss = F.cross_entropy(model(train_images[batch]), train_labels[batch])
            grads = torch.autograd.grad(loss, params)
            with torch.no_grad():
                values, state = rule(params, grads, state, lr)
                for p, value in zip(params, values):
                    p.copy_(value)
            total += loss.item() * len(batch)
        losses.append(total / len(train_images))
    return losses


models, curves = {}, {}
for rule, lr in ((sgd, 0.1), (momentum, 0.05), (adamw, 0.005)):
    torch.manual_seed(0)
    models[rule.__name__] = Net()
    curves[rule.__name__] = train(models[rule.__name__], rule, lr)
    print(f"{rule.__name__:<9} {accuracy(models[rule.__name__]):.1f} percent of the test images")
draw_lines(curves, x_label="epoch", y_label="loss")

# %% [markdown]
# Not five thousand numbers to train, and more than 95 of 100 digits it has never seen are read
# correctly. What did it learn? Ask the tape: if a pixel had more ink, would the score of the right digit rise? That is
# a gradient like any other, only with respect to the image. Here it is, averaged over the images of each digit. Dark
# means that ink here speaks for the digit, pale that it speaks against it.

# %%
from minitorch_compile.course.drawings.images import draw_images


def as_ink(pixels):
    return ((pixels - pixels.min()) / (pixels.max() - pixels.min())).reshape(8, 8).tolist()


best = models["adamw"]
x = test_images.clone().requires_grad_()
scores = best(x)
right_scores = scores[torch.arange(len(x)), test_labels]
(speaks,) = torch.autograd.grad(right_scores.sum(), x)
draw_images([as_ink(speaks[test_labels == d].mean(0)) for d in range(10)], captions=range(10))

# %% [markdown]
# A 0 is a ring with nothing in the middle; nobody told it so. Other pictures are noisier, and at the edges they are
# nothing but noise. There is hardly ever ink there, so hardly any gradient reached those weights, and they are about the
# random numbers that they began with. And what does it get wrong?

# %%
guesses = scores.argmax(1)
wrong = (guesses != test_labels).nonzero().flatten().tolist()[:8]
captions = [f"{test_labels[i].item()} as {guesses[i].item()}" for i in wrong]
draw_images([as_ink(test_images[i]) for i in wrong], captions=captions)

# %% [markdown]
# Look at them before you blame the model. Looking at the mistakes is the cheapest experiment there is, and it has found
# more wrong labels and wrong preprocessing than any metric.
#
# ## The package's own
#
# `nn.Module` is spread over a few files, because PyTorch's has hooks, conversions and loading. The tree is
# `nn/module_tree.py`, and this is its `__setattr__`:

# %%
import inspect

print(inspect.getsource(nn.Module.__setattr__))

# %% [markdown]
# The first two branches are yours. The third is for buffers, which come below. The last protects you: a name that is
# registered as a parameter can't silently become a plain tensor. And `_forget` does what ours forgot: an attribute that
# was a parameter and is now a module must not stay in both dictionaries.
#
# Names are what the two have in common, and that is enough. Build the same tree from the package's modules, hand it our
# state, and it reads digits exactly as ours does:


# %%
class Real(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.last = nn.Linear(64, 10)

    def forward(self, x):
        return self.last(self.first(x).relu())


real = Real()
print(real.load_state_dict(best.state_dict()))
assert torch.allclose(real(test_images), best(test_images), atol=1e-5)
print(f"{accuracy(real):.1f} percent")

# %% [markdown]
# The optimizers are in two layers. `optim/functional` has the rules, pure, one function for one parameter; a decorator
# makes it a function of lists. The class `optim.AdamW` holds what isn't pure: which parameters, in groups with options
# of their own, the states, and the storing. This is the rule:

# %%
from minitorch_compile.optim import functional

print(inspect.getsource(functional.adam))

# %% [markdown]
# You wrote this, up to the order of operations. Does it give the same numbers? Five steps of both, with gradients of
# very different sizes:

# %%
ours = theirs = [torch.tensor([1.0, -2.0, 3.0])]
our_state = zeros_for(adamw, ours)
their_state = [functional.AdamState(*our_state[0])]
for step in range(5):
    grads = [torch.tensor([1000.0, 1.0, 0.001]) * (step - 1)]
    ours, our_state = adamw(ours, grads, our_state, lr=0.1)
    theirs, their_state = functional.adamw(theirs, grads, their_state, lr=0.1, weight_decay=0.01)
print(ours[0], theirs[0])
assert torch.allclose(ours[0], theirs[0])

# %% [markdown]
# Apart from the decay, the three numbers moved by the same amount, although their gradients differ by a factor of a
# million.
#
# Readable rules have a price. Each line above makes a new tensor, a dozen of them for every parameter, and each goes
# through memory once. An optimizer step does almost no arithmetic, so memory is all its time. For large models the
# package therefore says the same rule once more, as a loop: all parameters in one native call, in which every number is
# read once and written once (`optim/fused_kernels.py`).

# %% tags=["varies"]
import timeit


def step_ms(fused):
    params = [nn.Parameter(torch.ones(256, 256)) for _ in range(16)]
    for p in params:
        p.grad = torch.ones(256, 256)
    step = torch.optim.AdamW(params, fused=fused).step
    step()  # the first step loads the native code
    return min(timeit.repeat(step, number=1, repeat=5)) * 1000


print(f"a million parameters, the rule   {step_ms(False):6.2f} ms")
print(f"a million parameters, fused      {step_ms(True):6.2f} ms")

# %% [markdown]
# This is fusion by hand. In lesson 14 you will write the pass that does it to any function, and a pure rule is just
# what it wants. Give the compiler the readable version, and look at the schedule that it makes of it:
#
# *Predict*: how many kernels will the readable AdamW become?

# %%
predict("09.kernels", None)


# %%
def compiled_rule(p, g, mean, square):
    state = functional.AdamState(10, mean, square)
    (p,), (state,) = functional.adamw([p], [g], [state], lr=0.1, weight_decay=0.01)
    return p, state.exp_avg, state.exp_avg_sq


arguments = [torch.ones(256, 256) * n for n in (1, 2, 3, 4)]
print(str(torch.compiler.inspect(compiled_rule, *arguments).schedule).splitlines()[-1])

# %% [markdown]
# One kernel: four arrays of 262,144 bytes read, three written, seven in all. The same loop as the one by hand, and
# nobody wrote it.
#
# ## How to begin
#
# A network starts with random numbers. How large? It sounds like a detail. Follow the size of the numbers through a
# tower of 30 layers of 256 units, with a relu after each, for several sizes of the weights:

# %%
from minitorch_compile.course.drawings.table import Table


def sizes_through(deviation, depth=30, width=256):
    """The root of the mean square after each layer."""
    torch.manual_seed(0)
    x, sizes = torch.randn(64, width), []
    for _ in range(depth):
        x = (x @ (torch.randn(width, width) * deviation).T).relu()
        sizes.append((x * x).mean().sqrt().item())
    return sizes


choices = {
    "0.01": 0.01,
    "sqrt(1/256)": (1 / 256) ** 0.5,
    "sqrt(2/256)": (2 / 256) ** 0.5,
    "0.2": 0.2,
}
measured = {name: sizes_through(deviation) for name, deviation in choices.items()}
Table(
    [
        {"deviation": name} | {f"layer {n}": f"{sizes[n - 1]:.2g}" for n in (1, 2, 5, 10, 30)}
        for name, sizes in measured.items()
    ]
)

# %% [markdown]
# With 0.01 the signal is gone after thirty layers, and since gradients pass through the same weights on their way back,
# so are they. With 0.2 it explodes. In between there is one value at which nothing happens, and it can be worked out.
#
# A unit adds up n products. If the weights are independent, of mean zero and variance v, the variance of the sum is
# `n * v *` (the mean square of an input). Variances of independent things add; that is all one needs. To keep the size
# through a linear layer, `v` must be `1 / n`. A relu throws the negative half away, which halves the mean square, so
# with relus it must be twice that: `v = 2 / n`, the root of which is the third line. This is *Kaiming* (or He)
# initialisation, and n is the *fan in*, the number of inputs of a unit.
#
# Now look back at our `Linear`: uniform between plus and minus `1 / sqrt(n)`, as PyTorch's. The variance of a uniform
# number is a third of its bound squared, so `v = 1 / (3n)`. That is six times too little for a relu tower! For three
# layers nobody notices, and deep networks have normalisation layers, which repair the size at each layer. But if you
# ever stack thirty plain layers and the loss doesn't move: this is why, and `nn.init.kaiming_normal_` is the cure.
#
# ## Two modes, and numbers that aren't trained
#
# Batch normalisation repairs the size by measuring it: subtract the mean of the batch, divide by its deviation. While
# training, that is fine. When you want one image read, there is no batch, and the answer for an image must not depend
# on the others that happen to come with it. So the layer keeps running means while it trains, and uses those
# afterwards.
#
# That needs two things from the tree. A *mode*, `training`, set for all nodes by `model.train()` and `model.eval()`.
# And *buffers*: tensors that are part of the state, saved and loaded and moved along, but that no optimizer touches.


# %%
class Norm(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(features))
        self.shift = nn.Parameter(torch.zeros(features))
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("variance", torch.ones(features))

    def forward(self, x):
        mean, variance = self.mean, self.variance
        if self.training:
            mean, variance = x.mean(0), x.var(0, correction=0)
            with torch.no_grad():
                self.mean.lerp_(mean, 0.1)
                self.variance.lerp_(variance, 0.1)
        return (x - mean) / (variance + 1e-5).sqrt() * self.scale + self.shift


norm = Norm(3)
torch.manual_seed(0)
for _ in range(100):
    norm(torch.randn(32, 3) * 2 + 5)
print("parameters:", [name for name, _ in norm.named_parameters()])
print("state:     ", list(norm.state_dict()), norm.mean)

# %% [markdown]
# The running means found the 5. Now ask the same question twice, once with other company, in both modes:

# %%
x = torch.tensor([[5.0, 6.0, 7.0]])
company = torch.cat([x, torch.zeros(3, 3)])
for mode in (norm.train, norm.eval):
    mode()
    before = {name: value.clone() for name, value in norm.state_dict().items()}
    with torch.no_grad():
        alone, accompanied = norm(x)[0], norm(company)[0]
    print(f"{mode.__name__:<6} alone {alone}, in company {accompanied}")
    norm.load_state_dict(before)

# %% [markdown]
# In training mode an example alone is its own mean, and everything becomes 0. (`nn.BatchNorm1d` refuses to be asked.) Forgetting `eval()` before a test gives
# scores that depend on the batch size. Forgetting `train()` after it is worse: the rest of the training silently uses
# running means that are never updated again, and dropout stays off. And note that `no_grad` and `eval` have nothing to
# do with each other: one is about the tape, the other about what layers compute.
#
# ## Names are a contract
#
# A state dictionary is a promise between programs that may be years apart. Its keys are the paths of the tree, so
# renaming an attribute breaks every file saved before. Loading therefore compares the names, and a difference is an
# error unless you say `strict=False`:

# %%
tower = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.BatchNorm1d(64), nn.Linear(64, 10))
print(list(tower.state_dict()))
try:
    tower.load_state_dict(best.state_dict())
except RuntimeError as error:
    print(str(error)[:260], "...")

# %% [markdown]
# In a `Sequential` the names are numbers, and the relu takes one without leaving a key: add a layer in the middle, and
# all later names shift. `num_batches_tracked` is a buffer, too. And two names may lead to one tensor, as when the
# embedding of a language model is also its last layer. Then `state_dict` has both names, but `parameters()` gives the
# tensor once, or an optimizer would step it twice.
#
# The optimizer has a state of its own, and a run can only be continued if it is saved as well: without its means, Adam
# begins like a beginner.
#
# ## Schedules and clipping
#
# Two pure functions complete the loop. A *schedule* says which rate a step has. Large steps at first cover ground,
# small ones at the end settle; and at the very beginning, while Adam's means know nothing yet, one warms up. *Clipping*
# looks at all gradients as one long vector and, if that is too long, shortens it. All are scaled by the same factor, so
# the direction stays.

# %%
import math


def schedule(step, highest=0.01, warm=20, last=200):
    if step < warm:
        return highest * (step + 1) / warm
    return highest * 0.5 * (1 + math.cos(math.pi * (step - warm) / (last - warm)))


def clipped(grads, longest):
    length = torch.stack([(g * g).sum() for g in grads]).sum().sqrt()
    return [g * (longest / length).clamp(max=1.0) for g in grads], length


print(clipped([torch.tensor([3.0]), torch.tensor([0.0, 4.0])], longest=1.0))
draw_lines({"rate": [100 * schedule(s) for s in range(200)]}, x_label="step", y_label="percent")

# %% [markdown]
# In the package these are `optim.lr_scheduler` and `nn.utils.clip_grad_norm_`. Here is the loop as you will meet it in
# other people's programs, with every piece of this lesson in its place:

# %%
torch.manual_seed(0)
tower = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.AdamW(tower.parameters(), lr=0.01)
rates = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8 * 45)
for epoch in range(8):
    tower.train()
    for batch in torch.randperm(len(train_images)).split(32):
        loss = F.cross_entropy(tower(train_images[batch]), train_labels[batch])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(tower.parameters(), 1.0)
        optimizer.step()
        rates.step()
tower.eval()
print(f"{accuracy(tower):.1f} percent")

# %% [markdown]
# Compare it with ours. `backward()` *adds* to each parameter's `.grad`, which is why there has to be a `zero_grad()`;
# our `autograd.grad` returned the gradients, and there was nothing to clear. The order matters, too: clip between
# `backward` and `step`, and clear anywhere but there.
#
# ## Beside PyTorch
#
# What is left of a module when it is compiled? Here is `Real`, captured by the package and by PyTorch:

# %%
from minitorch_compile.course.drawings.beside import beside

beside("09_graph", torch.compiler.inspect(real, test_images[:32]).graph.code)

# %% [markdown]
# The tree is gone, and each parameter has become an input whose name is its path: `self.first.weight` here, with all
# the dictionaries that lead there in PyTorch's. So the code compiled for one model serves for any other with the same
# sizes. The graph's calls are the same three; `torch._C._nn.linear` is the C++ function behind `F.linear`.
#
# ## What PyTorch does differently
#
# - Its optimizers are written three times: a loop over parameters, a `foreach` version in which one call does one
# operation on a list of tensors, and `fused` kernels in C++ and CUDA. The first two change their tensors in place. We
# have one pure rule each, and fused kernels for the most used ones; `foreach` is accepted and means the rule.
# - `nn.Module.__setattr__` and the rest are one file of about three thousand lines, with the same dictionaries:
# `_parameters`, `_buffers`, `_modules`. Ours is spread over a few files, and its error messages are the same.
# - Saved files are pickles, and a pickle can run code. `torch.load` refuses foreign classes unless it is told
# otherwise; ours can't be told otherwise.
# - When PyTorch compiles an optimizer, it traces the `foreach` version, in-place operations and all, and functionalises
# it. Ours traces the pure rule.
#
# ## Exercises
#
# Open `work/09_nn_optim.ipynb`. There are eight, in two parts. The first three take half an hour: a training loop with two
# bugs, a prediction of keys, and weights for a tower of 30 layers. The other five, an hour and a quarter, write a file.
#
# ## What you write
#
# `mini/nn.py`: modules that know their parameters, linear layers, layer normalisation, embeddings, convolutions as one
# product, pooling, cross entropy, and Adam. Afterwards your own tensors, tape and layers train a model. The package's
# versions, `nn/` and `optim/`, keep parameters, buffers and modules in dictionaries of their own, with hooks, states that
# are saved and loaded, two modes, and a dozen optimizers, most as pure rules.
