"""The ways to continue a program: each rule writes one more step, once in PyTorch's words and once in NumPy's.

A rule gets a `Chooser`, asks it for values that fit, and returns a `Step`. It may give up by raising `Impossible`.
Rules are filed under families; a program of a family contains at least one step of it.
"""

import random
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from tests.pipeline import numpy_oracle

Array = np.ndarray
Sizes = tuple[int, ...]
MARGIN = (
    1e-3  # a value closer than this to a kink or a jump is not used there: rounding could take it to the other side
)


class Impossible(Exception):
    """Nothing in the program so far fits the rule."""


class Step(NamedTuple):
    """An expression in both languages, and statements to run before and after it; `{new}` stands for the new name."""

    torch: str
    numpy: str
    before: tuple[tuple[str, str], ...] = ()
    after: tuple[tuple[str, str], ...] = ()


class Chooser(Protocol):
    """What a rule may ask for; implemented in programs.py."""

    random: random.Random

    def value(self, least_dim: int = 0, most_dim: int = 4, nonempty: bool = False) -> str: ...
    def array(self, name: str) -> Array: ...
    def input(self, sizes: Sizes) -> str: ...
    def index_input(self, high: int, sizes: Sizes) -> str: ...
    def partner(self, name: str) -> str: ...


Rule = Callable[[Any], Step]
FAMILIES: dict[str, list[Rule]] = {}


def rule(family: str) -> Callable[[Rule], Rule]:
    """File the decorated rule under a family."""

    def register(write: Rule) -> Rule:
        FAMILIES.setdefault(family, []).append(write)
        return write

    return register


def dim_of(choose: Chooser, name: str) -> int:
    """A dimension of a value, counted from either end."""
    ndim = choose.array(name).ndim
    return choose.random.randrange(-ndim, ndim)


def constant(choose: Chooser) -> float:
    return choose.random.choice([-1.5, -1, -0.5, 0.25, 0.5, 2, 3.0])


def keep_away_from_zero(x: Array) -> None:
    if numpy_oracle.distance_to_zero(x) < MARGIN:
        raise Impossible


# ------------------------------------------------------------------------------------------------ pointwise

SMOOTH = {
    "-{0}": "-{0}",
    "torch.exp({0} * 0.5)": "np.exp({0} * 0.5)",
    "torch.log({0} * {0} + 1.5)": "np.log({0} * {0} + 1.5)",
    "({0} * {0} + 0.5).sqrt()": "np.sqrt({0} * {0} + 0.5)",
    "torch.rsqrt({0} * {0} + 0.5)": "1 / np.sqrt({0} * {0} + 0.5)",
    "torch.sin({0})": "np.sin({0})",
    "{0}.cos()": "np.cos({0})",
    "torch.tanh({0})": "np.tanh({0})",
    "{0}.sigmoid()": "sigmoid({0})",
    "torch.erf({0})": "special.erf({0})",
    "F.gelu({0})": "gelu({0})",
    "F.gelu({0}, approximate='tanh')": "gelu_tanh({0})",
    "F.silu({0})": "{0} * sigmoid({0})",
    "torch.square({0})": "{0} * {0}",
    "torch.reciprocal({0} * {0} + 1)": "1 / ({0} * {0} + 1)",
    "torch.expm1({0} * 0.25)": "np.expm1({0} * 0.25)",
    "torch.log1p({0} * {0})": "np.log1p({0} * {0})",
    "{0} ** 2": "{0} ** 2",
    "{0} ** 3": "{0} ** 3",
    "({0} * {0} + 1) ** -0.5": "({0} * {0} + 1) ** -0.5",
    "{0}.clone()": "{0}.copy()",
    "{0}.contiguous()": "{0}",
    "torch.zeros_like({0}) + 2": "np.zeros_like({0}) + 2",
    "torch.full_like({0}, 0.5) * {0}": "0.5 * {0}",
}


@rule("pointwise")
def smooth_function(choose: Chooser) -> Step:
    x = choose.value()
    torch_text = choose.random.choice(list(SMOOTH))
    return Step(torch_text.format(x), SMOOTH[torch_text].format(x))


@rule("pointwise")
def with_constant(choose: Chooser) -> Step:
    x, c = choose.value(), constant(choose)
    text = choose.random.choice(["{0} + {1}", "{0} - {1}", "{1} - {0}", "{0} * {1}", "{0} / {1}", "{1} * {0}"])
    return Step(text.format(x, c), text.format(x, c))


@rule("pointwise")
def two_values(choose: Chooser) -> Step:
    x = choose.value()
    y = choose.partner(x)
    text = choose.random.choice(["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / ({1} * {1} + 1)"])
    return Step(text.format(x, y), text.format(x, y))


@rule("pointwise")
def kinked_function(choose: Chooser) -> Step:
    x, c = choose.value(), constant(choose)
    torch_text, numpy_text, kink = choose.random.choice([
        ("torch.relu({0})", "np.maximum({0}, 0)", 0.0),
        ("F.relu({0})", "np.maximum({0}, 0)", 0.0),
        ("{0}.abs()", "np.abs({0})", 0.0),
        ("torch.clamp({0}, min={1})", "np.maximum({0}, {1})", c),
        ("{0}.clamp(max={1})", "np.minimum({0}, {1})", c),
    ])  # fmt: skip
    keep_away_from_zero(choose.array(x) - kink)
    return Step(torch_text.format(x, c), numpy_text.format(x, c))


@rule("pointwise")
def choice_between_two(choose: Chooser) -> Step:
    x = choose.value()
    y = choose.partner(x)
    keep_away_from_zero(choose.array(x) - choose.array(y))
    torch_text, numpy_text = choose.random.choice([
        ("torch.maximum({0}, {1})", "np.maximum({0}, {1})"),
        ("torch.minimum({0}, {1})", "np.minimum({0}, {1})"),
        ("torch.where({0} > {1}, {0}, {1} * 2)", "np.where({0} > {1}, {0}, {1} * 2)"),
        ("torch.where({0} < {1}, {0}, 0.5)", "np.where({0} < {1}, {0}, 0.5)"),
        ("({0} >= {1}) * {0}", "({0} >= {1}) * {0}"),
        ("(({0} > {1}) & ({0} <= {0})) * {1}", "({0} > {1}) * {1}"),
        ("{0}.masked_fill({0} > {1}, -0.5)", "np.where({0} > {1}, -0.5, {0})"),
    ])  # fmt: skip
    return Step(torch_text.format(x, y), numpy_text.format(x, y))


# ------------------------------------------------------------------------------------------------ reductions


@rule("reduction")
def sum_or_mean(choose: Chooser) -> Step:
    x = choose.value(least_dim=1)
    d, keep = dim_of(choose, x), choose.random.choice([True, False])
    name = choose.random.choice(["sum", "mean"] if choose.array(x).shape[d] else ["sum"])
    return Step(f"{x}.{name}(dim={d}, keepdim={keep})", f"{x}.{name}({d}, keepdims={keep})")


@rule("reduction")
def over_everything(choose: Chooser) -> Step:
    x = choose.value()
    name = choose.random.choice(["sum", "mean"] if choose.array(x).size else ["sum"])
    return Step(f"{x}.{name}()", f"{x}.{name}()")


@rule("reduction")
def over_two_dims(choose: Chooser) -> Step:
    x = choose.value(least_dim=2, nonempty=True)
    dims = tuple(choose.random.sample(range(choose.array(x).ndim), 2))
    name, keep = choose.random.choice(["sum", "mean"]), choose.random.choice([True, False])
    return Step(f"{x}.{name}({dims}, {keep})", f"{x}.{name}({dims}, keepdims={keep})")


@rule("reduction")
def product(choose: Chooser) -> Step:
    x = choose.value(least_dim=1)
    d = dim_of(choose, x)
    keep_away_from_zero(choose.array(x))
    return Step(f"torch.prod({x}, {d})", f"{x}.prod({d})")


@rule("reduction")
def largest(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, nonempty=True)
    d = dim_of(choose, x)
    sign = choose.random.choice([1, -1])
    array = sign * choose.array(x)
    if array.shape[d] > 1 and numpy_oracle.distance_between_largest(array, d) < MARGIN:
        raise Impossible
    name = "max" if sign > 0 else "min"
    torch_text = choose.random.choice(["torch.a{n}({x}, {d}, keepdim=True)", "{x}.{n}({d}, keepdim=True).values"])
    return Step(torch_text.format(n=name, x=x, d=d), f"{x}.{name}({d}, keepdims=True)")


@rule("reduction")
def place_of_the_largest(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, nonempty=True)
    d = dim_of(choose, x)
    array = choose.array(x)
    if array.shape[d] > 1 and numpy_oracle.distance_between_largest(array, d) < MARGIN:
        raise Impossible
    return Step(f"{x} * {x}.argmax({d}, keepdim=True)", f"{x} * np.argmax({x}, {d}, keepdims=True)")


@rule("reduction")
def variance(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, nonempty=True)
    d = dim_of(choose, x)
    if choose.array(x).shape[d] < 2:
        raise Impossible
    ddof = choose.random.choice([0, 1])
    root = choose.random.choice(["", " + 0.5).sqrt()"])
    torch_text = f"{x}.var({d}, correction={ddof})"
    numpy_text = f"{x}.var({d}, ddof={ddof})"
    return Step(f"({torch_text}{root}", f"np.sqrt({numpy_text} + 0.5)") if root else Step(torch_text, numpy_text)


@rule("reduction")
def soft_largest(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, nonempty=True)
    d = dim_of(choose, x)
    name = choose.random.choice(["softmax", "log_softmax", "logsumexp"])
    prefix = "torch" if name == "logsumexp" else choose.random.choice(["torch", "F"])
    return Step(f"{prefix}.{name}({x}, dim={d})", f"{name}({x}, {d})")


@rule("reduction")
def any_or_all(choose: Chooser) -> Step:
    x = choose.value(least_dim=1)
    d = dim_of(choose, x)
    keep_away_from_zero(choose.array(x))
    name = choose.random.choice(["any", "all"])
    return Step(f"({x} > 0).{name}({d}, keepdim=True) * {x}", f"({x} > 0).{name}({d}, keepdims=True) * {x}")


# ------------------------------------------------------------------------------------------------ views


@rule("view")
def reordered(choose: Chooser) -> Step:
    x = choose.value(least_dim=2)
    ndim = choose.array(x).ndim
    a, b = dim_of(choose, x), dim_of(choose, x)
    order = tuple(choose.random.sample(range(ndim), ndim))
    torch_text, numpy_text = choose.random.choice([
        (f"{x}.transpose({a}, {b})", f"np.swapaxes({x}, {a}, {b})"),
        (f"{x}.permute{order}", f"np.transpose({x}, {order})"),
        (f"torch.movedim({x}, {a}, {b})", f"np.moveaxis({x}, {a}, {b})"),
    ])  # fmt: skip
    return Step(torch_text, numpy_text)


@rule("view")
def reshaped(choose: Chooser) -> Step:
    x = choose.value(least_dim=1)
    sizes = factors(choose, choose.array(x).size)
    return Step(f"{x}.reshape({sizes})", f"{x}.reshape({sizes})")


def factors(choose: Chooser, number: int) -> Sizes:
    """Random sizes with a given number of elements; a size of 1 may stand anywhere."""
    sizes = []
    for divisor in choose.random.sample([2, 3, 4, 5], 4):
        if number > 0 and number % divisor == 0:
            sizes.append(divisor)
            number //= divisor
    sizes.insert(choose.random.randint(0, len(sizes)), number)
    return tuple(sizes)


@rule("view")
def flattened(choose: Chooser) -> Step:
    x = choose.value(least_dim=2)
    start = choose.random.randrange(choose.array(x).ndim - 1)
    return Step(f"torch.flatten({x}, {start}, -1)", f"flatten({x}, {start}, -1)")


@rule("view")
def size_one_dims(choose: Chooser) -> Step:
    x = choose.value()
    d = choose.random.randint(-choose.array(x).ndim - 1, choose.array(x).ndim)
    steps = [(f"{x}.unsqueeze({d})", f"np.expand_dims({x}, {d})"), (f"{x}[None]", f"{x}[None]")]
    if choose.array(x).ndim:
        d = dim_of(choose, x)
        steps.append((f"{x}.squeeze({d})", f"squeeze({x}, {d})"))
    return Step(*choose.random.choice(steps))


@rule("view")
def expanded(choose: Chooser) -> Step:
    x = choose.value(most_dim=3)
    sizes = tuple(choose.random.choice([2, 3]) if n == 1 else n for n in choose.array(x).shape)
    sizes = choose.random.choice([(), (2,), (1,)]) + sizes
    return Step(f"{x}.expand({sizes})" if sizes else f"{x}.expand(())", f"np.broadcast_to({x}, {sizes})")


@rule("view")
def sliced(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, nonempty=True)
    ndim = choose.array(x).ndim
    keys = ["1:", ":-1", "::2", "0", "-1", "None", "..., 0", "..., 1:", "..., None, ::2", ":0", "0:1"]
    if ndim > 1:
        keys += [":, -1", "0, 1:", ":, None, ::2", "..., 0, :", "::2, :1", "-1, 0"]
    key = choose.random.choice(keys)
    return Step(f"{x}[{key}]", f"{x}[{key}]")


@rule("view")
def piece(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, nonempty=True)
    d = dim_of(choose, x)
    n = choose.array(x).shape[d]
    start = choose.random.randrange(n)
    length = choose.random.randint(0, n - start)
    half = -(-n // 2)
    return Step(*choose.random.choice([
        (f"{x}.narrow({d}, {start}, {length})", f"narrow({x}, {d}, {start}, {length})"),
        (f"{x}.select({d}, {start})", f"np.take({x}, {start}, {d})"),
        (f"torch.split({x}, {half}, dim={d})[0]", f"narrow({x}, {d}, 0, {half})"),
        (f"torch.chunk({x}, 2, dim={d})[-1]", f"narrow({x}, {d}, {half if n > half else 0}, {n})"),
        (f"{x}.unbind({d})[{start}]", f"np.take({x}, {start}, {d})"),
    ]))  # fmt: skip


@rule("view")
def joined(choose: Chooser) -> Step:
    x = choose.value(least_dim=1)
    y = choose.partner(x)
    d = dim_of(choose, x)
    if choose.array(y).shape == choose.array(x).shape:
        return Step(*choose.random.choice([
            (f"torch.cat([{x}, {y}], dim={d})", f"np.concatenate([{x}, {y}], {d})"),
            (f"torch.stack([{y}, {x}], dim={d})", f"np.stack([{y}, {x}], {d})"),
        ]))  # fmt: skip
    return Step(f"torch.cat([{x}, {x} * 2], dim={d})", f"np.concatenate([{x}, {x} * 2], {d})")


@rule("view")
def repeated(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, most_dim=3)
    times = tuple(choose.random.choice([1, 2]) for _ in choose.array(x).shape)
    return Step(f"{x}.repeat({times})", f"repeat({x}, {times})")


# ------------------------------------------------------------------------------------------------ matrix products


@rule("matmul")
def product_of_matrices(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, most_dim=3)
    shape = choose.array(x).shape
    k, n = shape[-1], choose.random.choice([1, 2, 5])
    shapes: list[Sizes] = [(k, n), (k,)]
    if len(shape) == 3:
        shapes += [(shape[0], k, n), (1, k, n), (2, 1, k, n)]
    y = choose.input(choose.random.choice(shapes))
    return Step(choose.random.choice([f"{x} @ {y}", f"torch.matmul({x}, {y})"]), f"{x} @ {y}")


@rule("matmul")
def product_with_a_transpose(choose: Chooser) -> Step:
    x = choose.value(least_dim=2, most_dim=2)
    m, k = choose.array(x).shape
    w = choose.input((choose.random.choice([1, 3, 4]), k))
    return Step(*choose.random.choice([
        (f"{x} @ {w}.t()", f"{x} @ {w}.T"),
        (f"torch.mm({w}, {x}.t())", f"{w} @ {x}.T"),
        (f"{x}.t() @ {x}", f"{x}.T @ {x}"),
    ]))  # fmt: skip


@rule("matmul")
def linear_layer(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, most_dim=3)
    k, n = choose.array(x).shape[-1], choose.random.choice([1, 3, 4])
    w = choose.input((n, k))
    if choose.random.random() < 0.5:
        return Step(f"F.linear({x}, {w})", f"linear({x}, {w})")
    b = choose.input((n,))
    return Step(f"F.linear({x}, {w}, {b})", f"linear({x}, {w}, {b})")


@rule("matmul")
def batched_or_added(choose: Chooser) -> Step:
    x = choose.value(least_dim=2, most_dim=3)
    shape, n = choose.array(x).shape, choose.random.choice([1, 3])
    if len(shape) == 3:
        y = choose.input((shape[0], shape[2], n))
        return Step(f"torch.bmm({x}, {y})", f"{x} @ {y}")
    b, y = choose.input(choose.random.choice([(n,), (shape[0], n), (1,)])), choose.input((shape[1], n))
    return Step(f"torch.addmm({b}, {x}, {y})", f"{b} + {x} @ {y}")


# ------------------------------------------------------------------------------------------------ indexing


@rule("indexing")
def picked(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, nonempty=True)
    shape = choose.array(x).shape
    i = choose.index_input(shape[0], choose.random.choice([(3,), (1,), (0,), (2, 2), ()]))
    steps = [(f"{x}[{i}]", f"{x}[{i}]")]
    if len(shape) > 1:
        j = choose.index_input(shape[1], choose.array(i).shape)
        last = choose.index_input(shape[-1], (2,))
        steps += [
            (f"{x}[{i}, {j}]", f"{x}[{i}, {j}]"),
            (f"{x}[:, {j}]", f"{x}[:, {j}]"),
            (f"{x}[..., {last}]", f"{x}[..., {last}]"),
        ]
    return Step(*choose.random.choice(steps))


@rule("indexing")
def selected(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, nonempty=True)
    d = dim_of(choose, x)
    i = choose.index_input(choose.array(x).shape[d], choose.random.choice([(3,), (1,), (0,)]))
    return Step(f"torch.index_select({x}, {d}, {i})", f"np.take({x}, {i}, {d})")


@rule("indexing")
def gathered(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, nonempty=True)
    d, shape = dim_of(choose, x), list(choose.array(x).shape)
    high, shape[d] = shape[d], choose.random.choice([1, 2, 4])
    i = choose.index_input(high, tuple(shape))
    return Step(f"torch.gather({x}, {d}, {i})", f"np.take_along_axis({x}, {i}, {d})")


@rule("indexing")
def scattered(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, nonempty=True)
    shape = choose.array(x).shape
    if choose.random.random() < 0.5:
        i = choose.index_input(shape[0], (2,))
        v = choose.input((2, *shape[1:]))
        return Step(f"{x}.index_put(({i},), {v}, accumulate=True)", f"index_add({x}, {i}, {v})")
    d = dim_of(choose, x)
    i = choose.index_input(shape[d], shape)
    v = choose.input(shape)
    return Step(f"{x}.scatter_add({d}, {i}, {v})", f"scatter_add({x}, {d}, {i}, {v})")


@rule("indexing")
def embedded(choose: Chooser) -> Step:
    x = choose.value(least_dim=2, most_dim=2, nonempty=True)
    i = choose.index_input(choose.array(x).shape[0], choose.random.choice([(3,), (2, 3), ()]))
    return Step(f"F.embedding({i}, {x})", f"{x}[{i}]")


@rule("indexing")
def triangle(choose: Chooser) -> Step:
    x = choose.value(least_dim=2)
    name, diagonal = choose.random.choice(["tril", "triu"]), choose.random.choice([-1, 0, 1])
    return Step(f"torch.{name}({x}, {diagonal})", f"np.{name}({x}, {diagonal})")


# ------------------------------------------------------------------------------------------------ writing in place


@rule("in place")
def new_value_changed(choose: Chooser) -> Step:
    """A value of the program's own is written into: the writes must become values of their own."""
    x, c = choose.value(), constant(choose)
    y = choose.partner(x)
    changes = [
        ("{new}.add_(1.5)", "{new}[...] += 1.5"),
        ("{new}.mul_(0.5)", "{new}[...] *= 0.5"),
    ]
    if np.broadcast_shapes(choose.array(x).shape, choose.array(y).shape) == choose.array(x).shape:
        changes += [
            (f"{{new}}.add_({y})", f"{{new}}[...] += {y}"),
            (f"{{new}}.sub_({y} * {y})", f"{{new}}[...] -= {y} * {y}"),
        ]
    if choose.array(x).ndim and choose.array(x).shape[0]:
        changes += [
            ("{new}[0] = 0.25", "{new}[0] = 0.25"),
            ("{new}[1:].mul_(2)", "{new}[1:] *= 2"),
            (f"{{new}}[0] = {x}[-1]", f"{{new}}[0] = {x}[-1]"),
            ("{new}[..., ::2] += 1", "{new}[..., ::2] += 1"),
        ]
    count = choose.random.choice([1, 2])
    return Step(f"{x} * {c}", f"{x} * {c}", after=tuple(choose.random.sample(changes, count)))


@rule("in place")
def view_of_what_changes(choose: Chooser) -> Step:
    """A view is taken, then what it looks at changes: the view must show the change. Or the other way round."""
    x, c = choose.value(least_dim=1, nonempty=True), constant(choose)
    torch_view, numpy_view = choose.random.choice([
        ("{new}_base[1:]", "{new}_base[1:]"),
        ("{new}_base.transpose(0, -1)", "np.swapaxes({new}_base, 0, -1)"),
        ("{new}_base.unsqueeze(0)", "{new}_base[None]"),
        ("{new}_base[..., ::2]", "{new}_base[..., ::2]"),
    ])  # fmt: skip
    before = ((f"{{new}}_base = {x} * {c}", f"{{new}}_base = {x} * {c}"),)
    if choose.random.random() < 0.5:
        return Step(torch_view, numpy_view, before, (("{new}_base.add_(0.5)", "{new}_base[...] += 0.5"),))
    changed_through_the_view = (
        (f"{{new}}_view = {torch_view}", f"{{new}}_view = {numpy_view}"),
        ("{new}_view.mul_(0.5)", "{new}_view[...] *= 0.5"),
    )
    return Step("{new}_base + 1", "{new}_base + 1", before + changed_through_the_view)


@rule("in place")
def buffer_filled(choose: Chooser) -> Step:
    """A buffer made by the program is filled from other values."""
    x = choose.value(least_dim=1, nonempty=True)
    fills = [
        (f"{{new}}[0] = {x}.sum(0)", f"{{new}}[0] = {x}.sum(0)"),
        (f"{{new}}[-1:] = {x}[:1] * 2", f"{{new}}[-1:] = {x}[:1] * 2"),
        (f"{{new}}.copy_({x} + 1)", f"{{new}}[...] = {x} + 1"),
        (f"{{new}}.add_({x})", f"{{new}}[...] += {x}"),
    ]
    return Step(f"torch.zeros_like({x})", f"np.zeros_like({x})", after=tuple(choose.random.sample(fills, 2)))


# ------------------------------------------------------------------------------------------------ layers


@rule("layer")
def normalised(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, most_dim=3, nonempty=True)
    n = choose.array(x).shape[-1]
    if n < 2:
        raise Impossible
    if choose.random.random() < 0.5:
        return Step(f"F.layer_norm({x}, ({n},))", f"layer_norm({x})")
    w, b = choose.input((n,)), choose.input((n,))
    return Step(f"F.layer_norm({x}, ({n},), {w}, {b})", f"layer_norm({x}, {w}, {b})")


@rule("layer")
def loss(choose: Chooser) -> Step:
    x = choose.value(least_dim=2, most_dim=2, nonempty=True)
    rows, classes = choose.array(x).shape
    target = choose.index_input(classes, (rows,))
    return Step(f"F.cross_entropy({x}, {target})", f"cross_entropy({x}, {target})")


@rule("layer")
def squared_error(choose: Chooser) -> Step:
    x = choose.value(least_dim=1, nonempty=True)
    y = choose.input(choose.array(x).shape)
    return Step(f"F.mse_loss({x}, {y})", f"(({x} - {y}) ** 2).mean()")


@rule("layer")
def attended(choose: Chooser) -> Step:
    x = choose.value(least_dim=2, most_dim=3, nonempty=True)
    shape = choose.array(x).shape
    k = choose.input((*shape[:-2], 3, shape[-1]))
    return Step(f"F.scaled_dot_product_attention({x}, {k}, {k})", f"attention({x}, {k}, {k})")


@rule("layer")
def convolved(choose: Chooser) -> Step:
    x = choose.input((choose.random.choice([1, 2]), choose.random.choice([1, 2]), 5, choose.random.choice([4, 5])))
    channels = choose.array(x).shape[1]
    w, b = choose.input((3, channels, 3, choose.random.choice([1, 3]))), choose.input((3,))
    stride, padding = choose.random.choice([1, 2]), choose.random.choice([0, 1])
    return Step(
        f"F.conv2d({x}, {w}, {b}, stride={stride}, padding={padding})", f"conv2d({x}, {w}, {b}, {stride}, {padding})"
    )


@rule("layer")
def pooled(choose: Chooser) -> Step:
    x = choose.value(least_dim=4, most_dim=4, nonempty=True)
    if min(choose.array(x).shape[2:]) < 2 or len(np.unique(choose.array(x))) < choose.array(x).size:
        raise Impossible
    stride = choose.random.choice([1, 2])
    return Step(f"F.max_pool2d({x}, 2, {stride})", f"max_pool2d({x}, 2, {stride})")
