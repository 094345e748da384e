# %% [markdown]
# # 10 Exercises: function transforms
#
# Six exercises, a bit more than an hour. Each is a sentence, a signature, an example and a check. Write your answer in place
# of the `raise` line or the `...`, run the cell, run the check below it. If you are stuck, `hint("10.1")` gives the first
# of three hints, and calling it again the next; hints cost nothing.

# %%
import minitorch_compile as torch
from minitorch_compile.course import check, hint, own_parts, passed, progress, splice
from minitorch_compile.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

# %% [markdown]
# ## 10.1 Dimensions of a batch
#
# `dim` names one dimension of an example, or is a tuple of several; an example has `ndim` dimensions, at least 1. Give the
# dimensions of the batch that they are, always as a tuple, of numbers from the left. For `shifted(0, 2)` that is `(1,)`,
# for `shifted((0, -1), 3)` it is `(1, 3)`. If the example has no such dimension, raise an IndexError.


# %%
def shifted(dim: int | tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """The dimensions of the batch."""
    ### BEGIN SOLUTION
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    for d in dims:
        if not -ndim <= d < ndim:
            raise IndexError(f"expected a dimension from {-ndim} to {ndim - 1}, got {d}")
    return tuple(d % ndim + 1 for d in dims)
    ### END SOLUTION


# %%
check("10.1")

# %% [markdown]
# Softmax, selecting, permuting, sorting: in the package they all go by this function. Let them use yours.

# %%
if passed("10.1"):
    with splice("func.shifted", shifted):
        print(vmap(lambda x: x.permute(-1, 0).softmax(0).sum(0))(torch.ones(2, 3, 4)))


# %% tags=["wrong"] says="the batch itself"
def shifted(dim, ndim):
    dims = (dim,) if isinstance(dim, int) else dim
    if not all(-ndim <= d < ndim for d in dims):
        raise IndexError("no such dimension")
    return tuple(d + 1 for d in dims)


# %% tags=["wrong"] says="Numbers from the left were asked for"
def shifted(dim, ndim):
    dims = (dim,) if isinstance(dim, int) else dim
    if not all(-ndim <= d < ndim for d in dims):
        raise IndexError("no such dimension")
    return tuple(d if d < 0 else d + 1 for d in dims)


# %% tags=["wrong"] says="one dimension is a tuple of one"
def shifted(dim, ndim):
    dims = (dim,) if isinstance(dim, int) else dim
    if not all(-ndim <= d < ndim for d in dims):
        raise IndexError("no such dimension")
    return dim % ndim + 1 if isinstance(dim, int) else tuple(d % ndim + 1 for d in dims)


# %% tags=["wrong"] says="The example has no such dimension"
def shifted(dim, ndim):
    dims = (dim,) if isinstance(dim, int) else dim
    return tuple(d % ndim + 1 for d in dims)


# %% [markdown]
# ## 10.2 A rule for matrix products
#
# Write the package's batching rule of `mm`. An example of `input` is an (n, k), one of `mat2` a (k, m), and at least one of
# the two differs between the examples. Return a value of (batch.size, n, m). If mat2 is the same for all, one product of a
# tall matrix must do; otherwise one `torch.bmm`. For three inputs of (2, 4) and one mat2 of (4, 5) the result is (3, 2, 5),
# by an `mm` of (6, 4) with (4, 5).
#
# What you have: `batch.size`; `batch.holds(x)`, whether x differs between the examples, and then `x.value` is the batch of
# it; `batch.spread(x)`, which has the batch in front in any case, repeated if x is the same for all. `op` is the operation
# itself, `torch.mm`. `input.shape` are the sizes of an example.


# %%
def product(batch, op, input: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
    """input @ mat2 for each example, with the batch in front."""
    ### BEGIN SOLUTION
    if batch.holds(mat2):
        return torch.bmm(batch.spread(input), batch.spread(mat2))
    n, k = input.shape
    tall = input.value.reshape(batch.size * n, k)
    return op(tall, mat2).reshape(batch.size, n, mat2.shape[1])
    ### END SOLUTION


# %%
check("10.2")

# %%
if passed("10.2"):
    with splice("func.mm", product):
        print(vmap(torch.mm, in_dims=(0, None))(torch.ones(5, 2, 3), torch.ones(3, 4)).shape)


# %% tags=["wrong"] says="One mm of a tall matrix will do here"
def product(batch, op, input, mat2):
    return torch.bmm(batch.spread(input), batch.spread(mat2))


# %% tags=["wrong"] says="cut the tall matrix up again"
def product(batch, op, input, mat2):
    if batch.holds(mat2):
        return torch.bmm(batch.spread(input), batch.spread(mat2))
    return op(input.value.reshape(-1, input.shape[1]), mat2)


# %% tags=["wrong"] says="so the batch comes first when it is cut up"
def product(batch, op, input, mat2):
    if batch.holds(mat2):
        return torch.bmm(batch.spread(input), batch.spread(mat2))
    n, k = input.shape
    tall = op(input.value.reshape(-1, k), mat2)
    return tall.reshape(n, batch.size, -1).transpose(0, 1)


# %% tags=["wrong"] says="the loop that vmap is there to avoid"
def product(batch, op, input, mat2):
    return torch.stack([op(x, y) for x, y in zip(batch.spread(input), batch.spread(mat2))])


# %% tags=["wrong"] says="That is the product of one example"
def product(batch, op, input, mat2):
    return op(input, mat2)


# %% [markdown]
# ## 10.3 Which sizes: predict
#
# `x` has sizes (5,), and `xs` has (4, 5). `f = lambda x: torch.ones(3, 5) @ x` has three results, and
# `g = lambda x: (x**3).sum()` has one. Before you run anything, write the sizes of each of these, as a tuple, or
# `"raises"` if it is an error.

# %% tags=["stub"]
sizes = {
    "vmap(f)(xs)": ...,
    "vmap(f, out_dims=1)(xs)": ...,
    "vmap(f, in_dims=1)(xs.t())": ...,
    "vmap(f)(x)": ...,
    "vmap(lambda a: vmap(lambda b: a @ b)(xs))(xs)": ...,
    "jacrev(f)(x)": ...,
    "grad(f)(x)": ...,
    "vmap(jacrev(f))(xs)": ...,
    "jacrev(vmap(f))(xs)": ...,
    "jacfwd(jacrev(f))(x)": ...,
    "vmap(hessian(g))(xs)": ...,
}

# %% tags=["solution"]
sizes = {
    "vmap(f)(xs)": (4, 3),
    "vmap(f, out_dims=1)(xs)": (3, 4),
    "vmap(f, in_dims=1)(xs.t())": (4, 3),
    "vmap(f)(x)": "raises",
    "vmap(lambda a: vmap(lambda b: a @ b)(xs))(xs)": (4, 4),
    "jacrev(f)(x)": (3, 5),
    "grad(f)(x)": "raises",
    "vmap(jacrev(f))(xs)": (4, 3, 5),
    "jacrev(vmap(f))(xs)": (4, 3, 4, 5),
    "jacfwd(jacrev(f))(x)": (3, 5, 5),
    "vmap(hessian(g))(xs)": (4, 5, 5),
}

# %%
check("10.3")

# %% tags=["wrong"] says="it comes back at out_dims"
sizes = sizes | {"vmap(f, in_dims=1)(xs.t())": (3, 4)}

# %% tags=["wrong"] says="The examples of a vector are numbers"
sizes = sizes | {"vmap(f)(x)": (3,)}

# %% tags=["wrong"] says="then those of the argument"
sizes = sizes | {"jacrev(f)(x)": (5, 3)}

# %% tags=["wrong"] says="A gradient is for functions with one"
sizes = sizes | {"grad(f)(x)": (3, 5)}

# %% tags=["wrong"] says="also on those of other examples"
sizes = sizes | {"jacrev(vmap(f))(xs)": (4, 3, 5)}

# %% tags=["wrong"] says="whose result is a (3, 5)"
sizes = sizes | {"jacfwd(jacrev(f))(x)": (5, 3, 5)}

# %% [markdown]
# ## 10.4 Find the bug: three transforms by hand
#
# Somebody has written three transforms by hand, without a loop. Each does what its docstring says for most arguments. For
# each, find arguments of which it gives something else, without an error, and put them into `faults` as a tuple. The dtype
# of a result counts, too.


# %%
def times(vectors: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """torch.stack([vector * number for vector, number in zip(vectors, numbers)])"""
    return vectors * numbers.unsqueeze(1)


def turned(xs: torch.Tensor) -> torch.Tensor:
    """torch.stack([x if x.sum() > 0 else -x for x in xs])"""
    return xs if xs.sum() > 0 else -xs


def moved(x: torch.Tensor, y: torch.Tensor, v: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """How x.sin() * y moves if x moves along v and y along w."""
    _, along_x = jvp(lambda x: x.sin() * y, (x,), (v,))
    _, along_y = jvp(lambda y: x.sin() * y, (y,), (v,))
    return along_x + along_y


# %% tags=["stub"]
faults = {
    "times": ...,
    "turned": ...,
    "moved": ...,
}

# %% tags=["solution"]
one, zero = torch.ones(1), torch.zeros(1)
faults = {
    "times": (torch.ones(2, 3), torch.ones(2, dtype=torch.float64)),
    "turned": (torch.tensor([[1.0, 2.0], [-1.0, -1.0]]),),
    "moved": (one, one, zero, one),
}

# %%
check("10.4")

# %% tags=["wrong"] says="With one dtype there is nothing to promote"
faults = faults | {"times": (torch.ones(2, 3), torch.tensor([1.0, 2.0]))}

# %% tags=["wrong"] says="Let the other one be the wider"
faults = faults | {"times": (torch.ones(2, 3, dtype=torch.float64), torch.tensor([1.0, 2.0]))}

# %% tags=["wrong"] says="All your examples are turned the same way"
faults = faults | {"turned": (torch.tensor([[-1.0, -2.0], [-3.0, 1.0]]),)}

# %% tags=["wrong"] says="Your two directions are the same"
faults = faults | {"moved": (torch.ones(1), torch.ones(1), torch.ones(1), torch.ones(1))}

# %% tags=["wrong"] says="that is 0 here"
faults = faults | {"moved": (torch.zeros(1), torch.ones(1), torch.zeros(1), torch.ones(1))}

# %% tags=["wrong"] says="not for an error"
faults = faults | {"moved": (torch.ones(1), torch.ones(2), torch.ones(1), torch.ones(2))}

# %% [markdown]
# ## 10.5 Every sample has a limited say
#
# Training with *differential privacy* makes sure that no single sample leaves its mark on a model. Its first step: compute
# the gradient of each sample, shorten those that are longer than `limit` to this length, leave the others as they are, and
# add all of them up. `loss(w, x, y)` is the loss of one sample, and `w` has any sizes; the length is the root of the sum of
# all squares. With two gradients of (3, 4) and (0, 1) and limit 1, the result is (0.6, 1.8). Par is 40 operations, views
# not counted, for any number of samples.


# %%
def clipped_gradient(
    loss, w: torch.Tensor, xs: torch.Tensor, ys: torch.Tensor, limit: float
) -> torch.Tensor:
    """The sum of the gradients of all samples, none of them longer than limit."""
    ### BEGIN SOLUTION

    def of_one(x, y):
        slope = grad(loss)(w, x, y)
        length = (slope * slope).sum().sqrt()
        return slope * torch.clamp(limit / length, max=1)

    return vmap(of_one)(xs, ys).sum(0)
    ### END SOLUTION


# %%
check("10.5")


# %% tags=["wrong"] says="You shortened the sum"
def clipped_gradient(loss, w, xs, ys, limit):
    slope = vmap(grad(loss), in_dims=(None, 0, 0))(w, xs, ys).sum(0)
    return slope * torch.clamp(limit / (slope * slope).sum().sqrt(), max=1)


# %% tags=["wrong"] says="Short gradients were made longer"
def clipped_gradient(loss, w, xs, ys, limit):
    def of_one(x, y):
        slope = grad(loss)(w, x, y)
        return slope * (limit / (slope * slope).sum().sqrt())

    return vmap(of_one)(xs, ys).sum(0)


# %% tags=["wrong"] says="which turns the gradient"
def clipped_gradient(loss, w, xs, ys, limit):
    return torch.clamp(vmap(grad(loss), in_dims=(None, 0, 0))(w, xs, ys), -limit, limit).sum(0)


# %% tags=["wrong"] says="the sum was asked for"
def clipped_gradient(loss, w, xs, ys, limit):
    def of_one(x, y):
        slope = grad(loss)(w, x, y)
        return slope * torch.clamp(limit / (slope * slope).sum().sqrt(), max=1)

    return vmap(of_one)(xs, ys).mean(0)


# %% tags=["wrong"] says="0 / 0 is NaN"
def clipped_gradient(loss, w, xs, ys, limit):
    def of_one(x, y):
        slope = grad(loss)(w, x, y)
        length = (slope * slope).sum().sqrt()
        return slope / length * torch.clamp(length, max=limit)

    return vmap(of_one)(xs, ys).sum(0)


# %% tags=["wrong"] says="Where is the loop"
def clipped_gradient(loss, w, xs, ys, limit):
    result = torch.zeros_like(w)
    for x, y in zip(xs, ys):
        slope = grad(loss)(w, x, y)
        result = result + slope * torch.clamp(limit / (slope * slope).sum().sqrt(), max=1)
    return result


# %% [markdown]
# ## 10.6 Many directions, no matrix
#
# f maps a vector x of n numbers to one number, and H is the matrix of its second derivatives, n by n. `vs` is a (k, n): k
# directions. Give the (k, n) whose rows are H times each of them, without ever making H: no tensor may have more than 4 k n
# elements. Par is 60 operations, for any k. For f(x) = x[0] * x[1] and vs = [[1, 0], [2, 3]] it is [[0, 1], [3, 2]].


# %%
def hessian_products(f, x: torch.Tensor, vs: torch.Tensor) -> torch.Tensor:
    """H @ v for each row v of vs."""
    ### BEGIN SOLUTION
    return vmap(lambda v: jvp(grad(f), (x,), (v,))[1])(vs)
    ### END SOLUTION


# %%
check("10.6")


# %% tags=["wrong"] says="That is the whole matrix"
def hessian_products(f, x, vs):
    return vs @ hessian(f)(x)


# %% tags=["wrong"] says="One direction after the other"
def hessian_products(f, x, vs):
    return torch.stack([jvp(grad(f), (x,), (v,))[1] for v in vs])


# %% tags=["wrong"] says="that is how f itself moves"
def hessian_products(f, x, vs):
    return vmap(lambda v: jvp(f, (x,), (v,))[1])(vs)


# %% tags=["wrong"] says="That is the slope times v"
def hessian_products(f, x, vs):
    return vmap(lambda v: grad(f)(x) * v)(vs)


# %% tags=["wrong"] says="Each row of vs is a direction of its own"
def hessian_products(f, x, vs):
    return jvp(grad(f), (x,), (vs.sum(0),))[1]
