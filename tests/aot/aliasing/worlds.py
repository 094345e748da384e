"""The arguments of a random program: plain ones, and those that share memory with each other or with a base outside.

Each world is made anew for each run, from a seed, so that the plain and the compiled program start from equal tensors.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import minitorch_compile as torch

Tensor = torch.Tensor
SIZES = [(3, 4), (4,), (2, 3), (3, 3), (1, 4), (2, 2, 3)]


@dataclass
class World:
    """`arguments` of the program; `leaves`, whose gradients count; `outside`, what shares memory with arguments."""

    arguments: list[Tensor] = field(default_factory=list)
    leaves: list[Tensor] = field(default_factory=list)
    outside: list[Tensor] = field(default_factory=list)

    def leaf(self, r: random.Random, sizes: tuple[int, ...], grad: bool, dtype: type = np.float64) -> Tensor:
        """Random numbers between -2 and 2, without those that comparisons could be undecided about."""
        numbers = np.random.default_rng(r.randrange(1 << 30)).uniform(0.1, 2, sizes) * r.choice((1, -1))
        x = torch.from_numpy(np.asarray(numbers, dtype))
        if grad:
            x.requires_grad_()
            self.leaves.append(x)
        return x

    def inner(self, r: random.Random, sizes: tuple[int, ...], grad: bool, dtype: type = np.float64) -> Tensor:
        """One that may be overwritten: with `grad` it's computed from a leaf."""
        x = self.leaf(r, sizes, grad, dtype)
        return x * 1.5 if grad else x


def plain(world: World, r: random.Random) -> None:
    world.arguments.append(world.inner(r, r.choice(SIZES), r.random() < 0.5))


def leaf(world: World, r: random.Random) -> None:
    world.arguments.append(world.leaf(r, r.choice(SIZES), grad=True))


def of_another_dtype(world: World, r: random.Random) -> None:
    world.arguments.append(world.inner(r, r.choice(SIZES), r.random() < 0.5, np.float32))


def whole_numbers(world: World, r: random.Random) -> None:
    sizes = r.choice(SIZES)
    world.arguments.append(torch.from_numpy(np.random.default_rng(r.randrange(99)).integers(-3, 4, sizes)))


def view_of_a_base(world: World, r: random.Random) -> None:
    base = world.inner(r, (4, 5), r.random() < 0.5)
    world.outside.append(base)
    world.arguments.append(_window(base, r))


def twice_the_same(world: World, r: random.Random) -> None:
    x = world.inner(r, r.choice(SIZES), r.random() < 0.5)
    world.arguments += [x, x]


def two_windows(world: World, r: random.Random) -> None:
    base = world.inner(r, (4, 5), r.random() < 0.5)
    world.outside.append(base)
    world.arguments += [_window(base, r), _window(base, r)]


def base_and_window(world: World, r: random.Random) -> None:
    base = world.inner(r, (4, 5), r.random() < 0.5)
    world.arguments += r.sample([base, _window(base, r)], 2)


def transposed(world: World, r: random.Random) -> None:
    world.arguments.append(world.inner(r, (3, 4), r.random() < 0.5).t())


def with_its_detached(world: World, r: random.Random) -> None:
    x = world.inner(r, (3, 4), r.random() < 0.5)
    world.arguments += r.sample([x, x.detach()], 2)


def _window(base: Tensor, r: random.Random) -> Tensor:
    views: list[Callable[[Tensor], Tensor]] = [
        lambda x: x[1:3],
        lambda x: x[:, ::2],
        lambda x: x[2],
        lambda x: x.t()[1:4],
        lambda x: x.view(-1)[3:15].view(3, 4),
        lambda x: x.diagonal(),
        lambda x: x[:2, 1:4],
        lambda x: x.unsqueeze(0)[:, 1:],
    ]
    return r.choice(views)(base)


SEPARATE = (plain, plain, plain, leaf, of_another_dtype, whole_numbers, view_of_a_base, transposed)
SHARING = (twice_the_same, two_windows, two_windows, base_and_window, with_its_detached)


def world_of(seed: int, sharing: bool) -> World:
    """The world of that seed; with `sharing` some arguments share memory."""
    r, world = random.Random(seed), World()
    for _ in range(r.choice((1, 2, 2, 3))):
        r.choice(SEPARATE)(world, r)
    if sharing:
        r.choice(SHARING)(world, r)
    return world
