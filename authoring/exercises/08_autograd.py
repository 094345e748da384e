# %% [markdown]
# # 08 Exercises: autograd
#
# Six exercises, a bit more than an hour. Each is a sentence, a signature, an example and a check. Write your answer in place
# of the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("08.1")` gives the first
# of three hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice

# %% [markdown]
# ## 08.1 The formula of a division
#
# `z = x / y` was computed, and `grad` is the slope of the result with respect to z. Give the slopes with respect to x and to
# y. All three are tensors of the same sizes. For x = 6, y = 2 and grad = 1 they are 0.5 and -1.5.


# %%
def division_backward(grad: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The slopes with respect to x and y."""
    ### BEGIN SOLUTION
    return grad / y, -grad * x / (y * y)
    ### END SOLUTION


# %%
check("08.1")


# %% tags=["wrong"] says="The more you divide by"
def division_backward(grad, x, y):
    return grad / y, grad * x / (y * y)


# %% tags=["wrong"] says="falls off with the square"
def division_backward(grad, x, y):
    return grad / y, -grad * x / y


# %% tags=["wrong"] says="You left out grad"
def division_backward(grad, x, y):
    return 1 / y, -x / (y * y)


# %% tags=["wrong"] says="the other way round"
def division_backward(grad, x, y):
    return -grad * x / (y * y), grad / y


# %% [markdown]
# ## 08.2 Broadcasting, turned round
#
# A tensor `like` was stretched by broadcasting, and `grad`, the slope that comes back, has the stretched sizes. Sum it over
# everything that was stretched, so that it has the sizes of `like`. A grad of (3, 4) for a `like` of (4,) is summed over
# dimension 0; for a `like` of (3, 1) over dimension 1, which stays, with size 1.


# %%
def sum_to(grad: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """grad, summed to the sizes of like."""
    ### BEGIN SOLUTION
    lead = len(grad.sizes) - len(like.sizes)
    if lead:
        grad = torch.sum(grad, list(range(lead)))
    stretched = [d for d, n in enumerate(like.sizes) if n == 1 and grad.sizes[d] != 1]
    return torch.sum(grad, stretched, True) if stretched else grad
    ### END SOLUTION


# %%
check("08.2")

# %% [markdown]
# Every op of the package that broadcasts needs this function on its way back. Let it use yours. (`like` may be a stand-in
# that only has `.sizes`, so don't ask it for more.)

# %%
if passed("08.2"):
    with splice("autograd.sum_to", sum_to):
        bias = torch.zeros(4, requires_grad=True)
        (torch.ones(3, 4) * bias).sum().backward()
        print(bias.grad)


# %% tags=["wrong"] says="The dimensions of size 1 were stretched, too"
def sum_to(grad, like):
    lead = len(grad.sizes) - len(like.sizes)
    return torch.sum(grad, list(range(lead))) if lead else grad


# %% tags=["wrong"] says="A dimension that was there keeps its place"
def sum_to(grad, like):
    lead = len(grad.sizes) - len(like.sizes)
    stretched = [d for d in range(len(grad.sizes)) if d < lead or (like.sizes[d - lead] == 1 and grad.sizes[d] != 1)]
    return torch.sum(grad, stretched) if stretched else grad


# %% tags=["wrong"] says="take one of them"
def sum_to(grad, like):
    while len(grad.sizes) > len(like.sizes):
        grad = grad[0]
    for d, n in enumerate(like.sizes):
        if n == 1 and grad.sizes[d] != 1:
            grad = grad.narrow(d, 0, 1)
    return grad


# %% tags=["wrong"] says="An average is too small"
def sum_to(grad, like):
    lead = len(grad.sizes) - len(like.sizes)
    if lead:
        grad = torch.mean(grad, list(range(lead)))
    stretched = [d for d, n in enumerate(like.sizes) if n == 1 and grad.sizes[d] != 1]
    return torch.mean(grad, stretched, True) if stretched else grad


# %% [markdown]
# ## 08.3 The order of the walk
#
# A tape is given as a dictionary: for each node, the list of nodes that it was made from. Give the nodes that `root`
# depends on, root first, in an order in which every node comes after *all* nodes that use it, and each once. Where several
# are ready, any will do. For `{"d": ["b", "c"], "c": ["b"], "b": ["a"], "a": []}` and root `"d"` the only one is
# `["d", "c", "b", "a"]`. Tapes are long: 20,000 nodes in a row must work.


# %%
def backward_order(inputs: dict[str, list[str]], root: str) -> list[str]:
    """The nodes below root, each after all its users."""
    ### BEGIN SOLUTION
    waiting, found = {root: 0}, [root]
    for node in found:
        for x in inputs[node]:
            if x not in waiting:
                waiting[x] = 0
                found.append(x)
            waiting[x] += 1
    order, ready = [], [root]
    while ready:
        node = ready.pop()
        order.append(node)
        for x in inputs[node]:
            waiting[x] -= 1
            if waiting[x] == 0:
                ready.append(x)
    return order
    ### END SOLUTION


# %%
check("08.3")


# %% tags=["wrong"] says="before all of its users"
def backward_order(inputs, root):
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if node not in order:
            order.append(node)
            waiting.extend(inputs[node])
    return order


# %% tags=["wrong"] says="more than once"
def backward_order(inputs, root):
    order = [root]
    for node in order:
        order.extend(inputs[node])
    return order


# %% tags=["wrong"] says="root comes first"
def backward_order(inputs, root):
    order, seen = [], set()
    stack = [(root, False)]
    while stack:
        node, finished = stack.pop()
        if finished:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((x, False) for x in inputs[node])
    return order


# %% tags=["wrong"] says="Python's stack is short"
def backward_order(inputs, root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for x in inputs[node]:
                visit(x)
            order.append(node)

    visit(root)
    return order[::-1]


# %% [markdown]
# ## 08.4 What is in .grad: predict
#
# Each program begins with `x = torch.tensor([1.0, 2.0], requires_grad=True)`. Before you run anything, write what `x.grad`
# is at the end, as a list of numbers; `None` if it is None; or `"raises"` if the program does not get to its end.

# %% tags=["stub"]
gradients = {
    "(x * x).sum().backward()": ...,
    "(x * x).sum().backward(); (x * x).sum().backward()": ...,
    "(x * x.detach()).sum().backward()": ...,
    "(x * x).backward()": ...,
    "y = (x * x).sum(); y.backward(); y.backward()": ...,
    "y = x.exp(); y.mul_(2); y.sum().backward()": ...,
    "y = x + 1; y.mul_(2); y.sum().backward()": ...,
    "y = x * 3; y.sum().backward(); x = y": ...,
}

# %% tags=["solution"]
gradients = {
    "(x * x).sum().backward()": [2.0, 4.0],
    "(x * x).sum().backward(); (x * x).sum().backward()": [4.0, 8.0],
    "(x * x.detach()).sum().backward()": [1.0, 2.0],
    "(x * x).backward()": "raises",
    "y = (x * x).sum(); y.backward(); y.backward()": "raises",
    "y = x.exp(); y.mul_(2); y.sum().backward()": "raises",
    "y = x + 1; y.mul_(2); y.sum().backward()": [2.0, 2.0],
    "y = x * 3; y.sum().backward(); x = y": None,
}

# %%
check("08.4")

# %% tags=["wrong"] says="Slopes are added to what is there"
gradients = gradients | {"(x * x).sum().backward(); (x * x).sum().backward()": [2.0, 4.0]}

# %% tags=["wrong"] says="a constant to the tape"
gradients = gradients | {"(x * x.detach()).sum().backward()": [2.0, 4.0]}

# %% tags=["wrong"] says="spent when it has been walked"
gradients = gradients | {"y = (x * x).sum(); y.backward(); y.backward()": [4.0, 8.0]}

# %% tags=["wrong"] says="exp had kept its output"
gradients = gradients | {"y = x.exp(); y.mul_(2); y.sum().backward()": [5.4, 14.8]}

# %% tags=["wrong"] says="Adding keeps nothing"
gradients = gradients | {"y = x + 1; y.mul_(2); y.sum().backward()": "raises"}

# %% [markdown]
# ## 08.5 Nudging, done properly
#
# Write the oracle yourself. `numeric_gradient(f, x)` gets a function that maps a tensor to a 0-d tensor, and a float64
# tensor x of any sizes. Give a new tensor of the same sizes with the slope along each element. Nudge to *both* sides: the
# error of `(f(x + h) - f(x - h)) / (2 * h)` shrinks with h squared, that of the one-sided difference only with h. Leave
# x as it was.


# %%
def numeric_gradient(f, x: torch.Tensor, step: float = 1e-5) -> torch.Tensor:
    """The slope of f along each element of x, by trying."""
    ### BEGIN SOLUTION
    flat = x.reshape(-1)
    slopes = []
    for i in range(flat.numel()):
        up, down = flat.clone(), flat.clone()
        up[i] += step
        down[i] -= step
        slopes.append((f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * step))
    return torch.stack(slopes).reshape(x.shape)
    ### END SOLUTION


# %%
check("08.5")


# %% tags=["wrong"] says="To one side only"
def numeric_gradient(f, x, step=1e-5):
    flat = x.reshape(-1)
    slopes = []
    for i in range(flat.numel()):
        up = flat.clone()
        up[i] += step
        slopes.append((f(up.reshape(x.shape)) - f(x)) / step)
    return torch.stack(slopes).reshape(x.shape)


# %% tags=["wrong"] says="two steps apart"
def numeric_gradient(f, x, step=1e-5):
    flat = x.reshape(-1)
    slopes = []
    for i in range(flat.numel()):
        up, down = flat.clone(), flat.clone()
        up[i] += step
        down[i] -= step
        slopes.append((f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / step)
    return torch.stack(slopes).reshape(x.shape)


# %% tags=["wrong"] says="x was changed"
def numeric_gradient(f, x, step=1e-5):
    flat = x.view(-1)
    slopes = []
    for i in range(flat.numel()):
        flat[i] += step
        above = f(x)
        flat[i] -= 2 * step
        slopes.append((above - f(x)) / (2 * step))
        flat[i] -= step
    return torch.stack(slopes).reshape(x.shape)


# %% tags=["wrong"] says="all elements at once"
def numeric_gradient(f, x, step=1e-5):
    slope = (f(x + step) - f(x - step)) / (2 * step)
    return torch.ones(x.shape, dtype=x.dtype) * slope


# %% [markdown]
# ## 08.6 A second derivative without the matrix
#
# f maps a vector of n numbers to one number. Its Hessian H holds all second derivatives: n by n of them. Give the product
# H @ v, for a vector v, without ever making H. For f(x) = x[0] * x[1] and v = [1, 0] it is [0, 1]. Par is two walks back.
# (The slope of "slope times v" is what you want. `torch.autograd.grad(y, x, create_graph=True)` returns a tuple.)


# %%
def hessian_vector_product(f, x: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """H @ v, with the second derivatives H of f at x."""
    ### BEGIN SOLUTION
    x = x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(f(x), x, create_graph=True)
    (product,) = torch.autograd.grad((slope * v).sum(), x)
    return product
    ### END SOLUTION


# %%
check("08.6")


# %% tags=["wrong"] says="That is the slope times v"
def hessian_vector_product(f, x, v):
    x = x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(f(x), x)
    return slope * v


# %% tags=["wrong"] says="all rows of H, added up"
def hessian_vector_product(f, x, v):
    x = x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(f(x), x, create_graph=True)
    (product,) = torch.autograd.grad(slope.sum(), x)
    return product * v


# %% tags=["wrong"] says="one for each row"
def hessian_vector_product(f, x, v):
    x = x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(f(x), x, create_graph=True)
    rows = [torch.autograd.grad(slope[i], x, retain_graph=True)[0] for i in range(x.numel())]
    return torch.stack(rows) @ v
