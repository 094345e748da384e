# %% [markdown]
# # 09 Exercises: nn, optim, a real classifier
#
# Five exercises, about an hour. Each is a sentence, a signature, an example and a check. Write your answer in place of
# the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("09.1")` gives the first of
# three hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import nn
from minitorch_compile.course import check, hint, passed, progress, splice

# %% [markdown]
# ## 09.1 The walk through the tree
#
# Give the parameters of a module and of all modules below it, as a list of pairs (name, parameter): own ones first, then
# those of each child. Use only `module._parameters` and `module._modules`, two dictionaries. A parameter may be `None`
# (a name that is only reserved), and one that appears in two places comes once, under its first name. For
# `nn.Sequential(nn.Linear(3, 2))` the names are `0.weight` and `0.bias`.


# %%
def named_parameters(module: nn.Module) -> list[tuple[str, nn.Parameter]]:
    """All parameters of the tree, each with its dotted name."""
    ### BEGIN SOLUTION
    found: dict[int, tuple[str, nn.Parameter]] = {}

    def visit(node, prefix):
        for name, parameter in node._parameters.items():
            if parameter is not None:
                found.setdefault(id(parameter), (prefix + name, parameter))
        for name, child in node._modules.items():
            visit(child, f"{prefix}{name}.")

    visit(module, "")
    return list(found.values())
    ### END SOLUTION


# %%
check("09.1")


# %% tags=["wrong"] says="own parameters only"
def named_parameters(module):
    return [(name, p) for name, p in module._parameters.items() if p is not None]


# %% tags=["wrong"] says="lack their path"
def named_parameters(module):
    found = [(name, p) for name, p in module._parameters.items() if p is not None]
    for child in module._modules.values():
        found += named_parameters(child)
    return found


# %% tags=["wrong"] says="A shared parameter came twice"
def named_parameters(module):
    found = [(name, p) for name, p in module._parameters.items() if p is not None]
    for child_name, child in module._modules.items():
        found += [(f"{child_name}.{name}", p) for name, p in named_parameters(child)]
    return found


# %% tags=["wrong"] says="You went down one level"
def named_parameters(module):
    found = [(name, p) for name, p in module._parameters.items() if p is not None]
    for child_name, child in module._modules.items():
        found += [
            (f"{child_name}.{name}", p) for name, p in child._parameters.items() if p is not None
        ]
    return found


# %% tags=["wrong"] says="reserved with None"
def named_parameters(module):
    found = list(module._parameters.items())
    for child_name, child in module._modules.items():
        found += [(f"{child_name}.{name}", p) for name, p in named_parameters(child)]
    return found


# %% [markdown]
# ## 09.2 A step of AdamW
#
# One step for one parameter, as a pure function. `state` is a named tuple with the fields `step` (0 before the first
# step), `exp_avg` and `exp_avg_sq`, the running means of the gradient and of its square. Return the new parameter and the
# new state, which is best made by `state._replace(...)`. The package will call it with more options than you need; they
# land in `others`. From zero means and without decay, the first step moves p by exactly `lr`, whatever the gradient.


# %%
def adamw_step(p, g, state, *, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, **others):
    """The parameter and its state after one step."""
    ### BEGIN SOLUTION
    step = state.step + 1
    mean = betas[0] * state.exp_avg + (1 - betas[0]) * g
    square = betas[1] * state.exp_avg_sq + (1 - betas[1]) * g * g
    direction = mean / (1 - betas[0] ** step)
    size = (square / (1 - betas[1] ** step)).sqrt() + eps
    p = p * (1 - lr * weight_decay) - lr * direction / size
    return p, state._replace(step=step, exp_avg=mean, exp_avg_sq=square)
    ### END SOLUTION


# %%
check("09.2")

# %% [markdown]
# If it passes, the package's own `optim.AdamW` can run on it:

# %%
if passed("09.2"):
    with splice("optim.adam", adamw_step):
        weight = nn.Parameter(torch.tensor([3.0, -1.0]))
        optimizer = torch.optim.AdamW([weight], lr=0.1)
        for _ in range(50):
            optimizer.zero_grad()
            (weight * weight).sum().backward()
            optimizer.step()
        print(weight)


# %% tags=["wrong"] says="without bias correction"
def adamw_step(p, g, state, *, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, **others):
    mean = betas[0] * state.exp_avg + (1 - betas[0]) * g
    square = betas[1] * state.exp_avg_sq + (1 - betas[1]) * g * g
    p = p * (1 - lr * weight_decay) - lr * mean / (square.sqrt() + eps)
    return p, state._replace(step=state.step + 1, exp_avg=mean, exp_avg_sq=square)


# %% tags=["wrong"] says="goes through the division"
def adamw_step(p, g, state, *, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, **others):
    g = g + weight_decay * p
    step = state.step + 1
    mean = betas[0] * state.exp_avg + (1 - betas[0]) * g
    square = betas[1] * state.exp_avg_sq + (1 - betas[1]) * g * g
    size = (square / (1 - betas[1] ** step)).sqrt() + eps
    p = p - lr * mean / (1 - betas[0] ** step) / size
    return p, state._replace(step=step, exp_avg=mean, exp_avg_sq=square)


# %% tags=["wrong"] says="The state you returned is the one that came in"
def adamw_step(p, g, state, *, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, **others):
    step = state.step + 1
    mean = betas[0] * state.exp_avg + (1 - betas[0]) * g
    square = betas[1] * state.exp_avg_sq + (1 - betas[1]) * g * g
    size = (square / (1 - betas[1] ** step)).sqrt() + eps
    return p * (1 - lr * weight_decay) - lr * mean / (1 - betas[0] ** step) / size, state


# %% tags=["wrong"] says="eps is added to the root"
def adamw_step(p, g, state, *, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, **others):
    step = state.step + 1
    mean = betas[0] * state.exp_avg + (1 - betas[0]) * g
    square = betas[1] * state.exp_avg_sq + (1 - betas[1]) * g * g
    size = (square / (1 - betas[1] ** step) + eps).sqrt()
    p = p * (1 - lr * weight_decay) - lr * mean / (1 - betas[0] ** step) / size
    return p, state._replace(step=step, exp_avg=mean, exp_avg_sq=square)


# %% tags=["wrong"] says="You kept the corrected means"
def adamw_step(p, g, state, *, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, **others):
    step = state.step + 1
    mean = (betas[0] * state.exp_avg + (1 - betas[0]) * g) / (1 - betas[0] ** step)
    square = (betas[1] * state.exp_avg_sq + (1 - betas[1]) * g * g) / (1 - betas[1] ** step)
    p = p * (1 - lr * weight_decay) - lr * mean / (square.sqrt() + eps)
    return p, state._replace(step=step, exp_avg=mean, exp_avg_sq=square)


# %% [markdown]
# ## 09.3 Find the bugs: a training loop
#
# `fit` trains a model for some epochs on a list of batches, and after each epoch measures the share of right answers on a
# test set. It was reported that training wanders off although the rate is small, and that dropout only seems to work in
# the first epoch. There are two bugs. Repair both.


# %% tags=["stub"]
def fit(model, optimizer, batches, test, epochs):
    """The share of right answers on the test set after each epoch."""
    scores = []
    model.train()
    for _ in range(epochs):
        for images, labels in batches:
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            images, labels = test
            scores.append((model(images).argmax(1) == labels).float().mean().item())
    return scores


# %% tags=["solution"]
def fit(model, optimizer, batches, test, epochs):
    """The share of right answers on the test set after each epoch."""
    scores = []
    for _ in range(epochs):
        model.train()
        for images, labels in batches:
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            images, labels = test
            scores.append((model(images).argmax(1) == labels).float().mean().item())
    return scores


# %%
check("09.3")


# %% tags=["wrong"] says="between backward() and step()"
def fit(model, optimizer, batches, test, epochs):
    scores = []
    for _ in range(epochs):
        model.train()
        for images, labels in batches:
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            images, labels = test
            scores.append((model(images).argmax(1) == labels).float().mean().item())
    return scores


# %% tags=["wrong"] says="once an epoch"
def fit(model, optimizer, batches, test, epochs):
    scores = []
    for _ in range(epochs):
        model.train()
        optimizer.zero_grad()
        for images, labels in batches:
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            images, labels = test
            scores.append((model(images).argmax(1) == labels).float().mean().item())
    return scores


# %% tags=["wrong"] says="The test ran in training mode"
def fit(model, optimizer, batches, test, epochs):
    scores = []
    model.train()
    for _ in range(epochs):
        for images, labels in batches:
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            images, labels = test
            scores.append((model(images).argmax(1) == labels).float().mean().item())
    return scores


# %% tags=["wrong"] says="stays in eval mode"
def fit(model, optimizer, batches, test, epochs):
    scores = []
    model.train()
    for _ in range(epochs):
        for images, labels in batches:
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            images, labels = test
            scores.append((model(images).argmax(1) == labels).float().mean().item())
    return scores


# %% tags=["wrong"] says="follows the sum of all batches"
def fit(model, optimizer, batches, test, epochs):
    scores = []
    for _ in range(epochs):
        model.train()
        for images, labels in batches:
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            images, labels = test
            scores.append((model(images).argmax(1) == labels).float().mean().item())
    return scores


# %% [markdown]
# ## 09.4 The keys of a state: predict
#
# Here are three classes. Before you run anything, write the keys of `state_dict()` of six models, each as a list of
# strings; the order doesn't matter. `linear` is `nn.Linear(3, 2, bias=False)`, `sequential` is
# `nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))`, `norm` is `nn.BatchNorm1d(3)`, and the other three are
# `Listed()`, `Tied()` and `Mixed()`.


# %%
class Listed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
        self.last = nn.Linear(2, 1)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(2, 2, bias=False)
        self.decode = nn.Linear(2, 2, bias=False)
        self.decode.weight = self.encode.weight


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.offset = torch.ones(2)
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("cache", torch.zeros(1), persistent=False)


# %% tags=["stub"]
keys = {
    "linear": ...,
    "sequential": ...,
    "norm": ...,
    "listed": ...,
    "tied": ...,
    "mixed": ...,
}

# %% tags=["solution"]
keys = {
    "linear": ["weight"],
    "sequential": ["0.weight", "0.bias", "2.weight", "2.bias"],
    "norm": ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"],
    "listed": ["last.weight", "last.bias"],
    "tied": ["encode.weight", "decode.weight"],
    "mixed": ["scale", "count"],
}

# %%
check("09.4")

# %% tags=["wrong"] says="the ReLU is number 1"
keys = keys | {"sequential": ["0.weight", "0.bias", "1.weight", "1.bias"]}

# %% tags=["wrong"] says="more than what is trained"
keys = keys | {"norm": ["weight", "bias"]}

# %% tags=["wrong"] says="A Python list is neither"
keys = keys | {"listed": ["layers.0.weight", "layers.0.bias", "last.weight", "last.bias"]}

# %% tags=["wrong"] says="Two names lead to one tensor"
keys = keys | {"tied": ["encode.weight"]}

# %% tags=["wrong"] says="a plain tensor isn't registered"
keys = keys | {"mixed": ["scale", "offset", "count"]}

# %% [markdown]
# ## 09.5 Weights to par
#
# Give first weights for a linear layer that is followed by a relu, of sizes (outputs, inputs), random, so that the size
# of the numbers (the root of their mean square) stays the same from layer to layer. Par: numbers of size 1 go into a tower
# of 30 layers, and numbers of a size between 0.25 and 4 come out.


# %%
def initial(outputs: int, inputs: int) -> torch.Tensor:
    """Random weights of sizes (outputs, inputs)."""
    ### BEGIN SOLUTION
    return torch.randn(outputs, inputs) * (2 / inputs) ** 0.5
    ### END SOLUTION


# %%
check("09.5")


# %% tags=["wrong"] says="With deviation 1"
def initial(outputs, inputs):
    return torch.randn(outputs, inputs)


# %% tags=["wrong"] says="A relu after it halves"
def initial(outputs, inputs):
    return torch.randn(outputs, inputs) * (1 / inputs) ** 0.5


# %% tags=["wrong"] says="is the deviation, its root"
def initial(outputs, inputs):
    return torch.randn(outputs, inputs) * (2 / inputs)


# %% tags=["wrong"] says="divided by the fan out"
def initial(outputs, inputs):
    return torch.randn(outputs, inputs) * (2 / outputs) ** 0.5


# %% tags=["wrong"] says="the bound must be wider"
def initial(outputs, inputs):
    bound = (2 / inputs) ** 0.5
    return torch.empty(outputs, inputs).uniform_(-bound, bound)


# %% tags=["wrong"] says="All weights are equal"
def initial(outputs, inputs):
    return torch.ones(outputs, inputs) * 0.0


# %% [markdown]
# Save the notebook, and see where you stand:

# %%
progress("09")
