"""What changes in the world of a random program between two calls: a table of named changes, one line each.

A change is a statement with the names of the world and of the arguments of the last call (`x, y, n, items, box, opts`).
What belongs to the whole process is changed by `patch(owner, name, value)`, or is set back by `undone`: each run ends
as it began; the compiler and the operations must live with it, too, so `abs` changes for one number, `+` for integers.
A change that its arguments don't allow raises, plain and compiled.

>>> import builtins
>>> with undone() as tools:
...     exec(CHANGES["patch abs"], {"torch": torch, "builtins": builtins}, tools)
...     abs(-2)
100
>>> abs(-2)
2
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import minitorch_compile as torch
from minitorch_compile.autograd import removable_handle

CHANGES = {
    # instances
    "set an attribute": "box.n = 7",
    "add an attribute": "box.extra = 3",
    "add another attribute": "box.other = [4]",
    "add the absent attribute": "box.missing = 6",
    "delete an attribute": "del box.n",
    "delete what was added": "del box.extra",
    "type of an attribute": "box.n = 2.5",
    "tensor of an attribute": "box.a = torch.ones(2, 2)",
    "attribute becomes None": "box.a = None",
    "shadow a method": "box.bump = lambda by=1: x + 100",
    "unshadow a method": "del box.bump",
    "dict of an instance": "vars(box).update(n=11)",
    "class of an instance": "box.__class__ = Loud",
    "log of a box": "box.log = [1, 2, 3]",
    "alias inside a box": "box.log = items",
    # classes
    "class attribute": "type(box).depth = 9",
    "class attribute of Made": "Made.absent = 8",
    "delete a class attribute": "del Made.absent",
    "class attribute of a base": "Box.kind = 'other'",
    "class counter": "Made.serial = 40",
    "class cache": "Made.cache[1] = 50",
    "class cache emptied": "Made.cache = {}",
    "class tuple": "Made.known = (1, 2, 3, 4)",
    "replace a method": "type(box).bump = lambda self, by=1: self.a * 10",
    "replace a method of a base": "Made.bump = lambda self, by=1: self.a * 20",
    "delete an override": "del Derived.bump",
    "add __len__": "Made.__len__ = lambda self: 0",
    "add __bool__": "type(box).__bool__ = lambda self: False",
    "add __eq__": "type(box).__eq__ = lambda self, other: True",
    "add __getattr__": "type(box).__getattr__ = lambda self, name: 13",
    "add __setattr__": "type(box).__setattr__ = lambda self, name, value: object.__setattr__(self, name, value)",
    "add __contains__": "Counting.__contains__ = lambda self, key: False",
    "add __call__": "Made.__call__ = lambda self, q: q * 3",
    "add __new__": "Made.__new__ = lambda cls, *args, **kwargs: object.__new__(Derived)",
    "add __iter__": "type(box).__iter__ = lambda self: iter([1])",
    "replace __init__": "Point.__init__ = lambda self, a, n=0: vars(self).update(a=a, n=3, log=[])",
    "replace __getitem__": "Logged.__getitem__ = lambda self, index: 77",
    "replace __missing__": "Counting.__missing__ = lambda self, key: 66",
    "delete __missing__": "del Counting.__missing__",
    "replace append": "del Logged.append",
    "property over an attribute": "type(box).n = property(lambda self: 21)",
    "property": "Box.twice = property(lambda self: self.a * 3)",
    "bases": "Derived.__bases__ = (Made,)",
    "base with an attribute": "Derived.__bases__ = (type('Between', (Made,), {'depth': 5}),)",
    "metaclass attribute": "Meta.made = 30",
    "metaclass method": "Meta.__len__ = lambda cls: 8",
    "metaclass __contains__": "Meta.__contains__ = lambda cls, item: True",
    "metaclass property": "Meta.label = property(lambda cls: 'new')",
    "slot filled": "box.late = 5",
    "method of an enum": "Colour.shade = lambda self: 1000",
    "value of an enum": "Colour.RED._value_ = 5",
    "attribute of an enum": "Colour.GREEN = Colour.BLUE",
    "register with an ABC": "Shape.register(Box)",
    "register another with an ABC": "Shape.register(type(box))",
    "default of a dataclass": "Point.n = 6",
    "cached property": "del box.doubled",
    "cached property filled": "vars(box)['doubled'] = torch.zeros(2, 2)",
    # functions
    "defaults": "scaled.__defaults__ = (5,)",
    "no defaults": "scaled.__defaults__ = None",
    "keyword defaults": "scaled.__kwdefaults__ = {'plus': 4}",
    "content of a default": "collect.__defaults__[0].append(1)",
    "code": "scaled.__code__ = (lambda t, by=2, *, plus=0: t - by).__code__",
    "cell": "adds.__closure__[0].cell_contents = 12",
    "attribute of a function": "counting.tag = 1",
    "counter of a function": "counting.calls = 10",
    "no counter of a function": "del counting.calls",
    "attribute of a helper": "helper.tag = 30",
    "cache cleared": "cached.cache_clear()",
    "cache filled": "cached(9)",
    "new implementation": "describe.register(int, lambda value: 90)",
    "partial's keywords": "halved.keywords['scale'] = 4.0",
    "wrapped function": "wrapped.__wrapped__.__defaults__ = (6,)",
    # globals, modules, builtins
    "global number": "counter += 5",
    "global float": "rate = rate * 1.5 - 0.2",
    "another global float": "rate += 0.25",
    "global float becomes whole": "rate = 2",
    "global float is zero": "rate = 0.0",
    "global float is no number": "rate = math.nan",
    "global float is infinite": "rate = math.inf",
    "float of a dict": "table['lr'] = table['lr'] * 0.5 + 0.1",
    "float of an object": "box.rate = rate + 1",
    "global function": "noisy = lambda t: t + 50",
    "global deleted": "del noisy",
    "global tensor": "limit = torch.full((2, 2), 4.0)",
    "global tensor in place": "limit.add_(3)",
    "global dict": "table['k'] = 8",
    "global list": "history.clear()",
    "global shadows a builtin": "len = lambda value: 4",
    "module number": "lib.scale = 6",
    "module number deleted": "del lib.scale",
    "module gains a name": "lib.bonus = 9",
    "module gains another name": "lib.extra = 2",
    "module list": "lib.names.append('b')",
    "module function": "lib.stretch = lambda t: t - 1",
    "module shadows a builtin": "lib.abs = lambda n: 60",
    "patch abs": "patch(builtins, 'abs', (lambda old: lambda q: 100 if type(q) is int and q == -2 else old(q))(abs))",
    "patch torch.sin": "patch(torch, 'sin', torch.cos)",
    "patch torch.abs": "patch(torch, 'abs', lambda t: t * 0)",
    "patch a tensor method": "patch(torch.Tensor, 'relu', lambda self: self - 1)",
    "patch a tensor operator": "patch(torch.Tensor, '__add__', (lambda old: "
    "lambda self, other: self * other if type(other) is int else old(self, other))(torch.Tensor.__add__))",
    "patch a functional": "patch(nn.functional, 'dropout', lambda t, p=0.5, training=True: t * 3)",
    "attribute of all tensors": "patch(torch.Tensor, 'tag', 6)",
    # containers
    "append": "items.append(9)",
    "insert": "items.insert(0, x)",
    "empty a list": "items.clear()",
    "item of a list": "items[0] = 'changed'",
    "list inside itself": "items.append(items)",
    "add a key": "opts['new'] = 1",
    "add the absent key": "opts['none'] = 3",
    "replace a value": "opts['k'] = 2.5",
    "delete a key": "del opts['k']",
    "order of a dict": "opts['k'] = opts.pop('k')",
    "empty a dict": "opts.clear()",
    # tensors
    "value of a tensor": "x.data.mul_(2)",
    "version of a tensor": "y.detach().add_(1)",
    "dtype of a tensor": "x.data = x.data.double()",
    "shape of a tensor": "x.data = torch.ones(3, 2)",
    "strides of a tensor": "x.data = torch.rand(2, 2).t()",
    "offset of a tensor": "x.data = torch.rand(3, 2)[1:]",
    "another dimension": "x.data = torch.ones(2, 2, 2)",
    "requires_grad": "x.requires_grad_(not x.requires_grad)",
    "gradient": "x.grad = torch.ones_like(x)",
    "attribute of a tensor": "x.tag = 5",
    "hook of a tensor": "x.requires_grad_().register_hook(lambda grad: grad * 2)",
    "memory becomes shared": "y.set_(x.detach())",
    # modules
    "eval": "net.eval()",
    "train": "net.train()",
    "dropout off": "net.drop.p = 0.0",
    "dropout replaced": "net.drop = nn.Identity()",
    "parameter replaced": "net.fc.weight = nn.Parameter(torch.ones(2, 2))",
    "parameter in place": "net.fc.weight.data.fill_(0.5)",
    "parameter frozen": "net.fc.weight.requires_grad_(False)",
    "parameter added": "net.extra = nn.Parameter(torch.ones(2))",
    "no bias": "net.fc.bias = None",
    "buffer replaced": "net.seen = torch.ones(2)",
    "counter of a module": "net.calls = 20",
    "forward of a module": "net.forward = lambda t, scale=1: t * 5",
    "forward of its class": "Net.forward = lambda self, t, scale=1: self.fc(t)",
    "forward hook": "net.register_forward_hook(lambda module, args, output: output * 2)",
    "forward pre-hook": "net.fc.register_forward_pre_hook(lambda module, args: (args[0] + 1,))",
    "epsilon": "net.norm.eps = 0.1",
    # the process
    "default dtype": "torch.set_default_dtype(torch.float64)",
    "gradients off": "torch.set_grad_enabled(False)",
    "seed": "torch.manual_seed(5)",
    "Python's seed": "random.seed(5)",
    "deterministic algorithms": "torch.use_deterministic_algorithms(True)",
    "nothing": "pass",
}  # fmt: skip


def changes_of(seed: int, calls: int) -> list[tuple[str, ...]]:
    """The names of the changes before each call; none before the first. Floats change more often than all else."""
    drawn = random.Random(f"changes {seed}")
    floats = [name for name in CHANGES if "float" in name]
    often = [(*drawn.choices(floats),) if drawn.random() < 0.3 else () for _ in range(calls - 1)]
    return [(), *((*drawn.choices(list(CHANGES), k=drawn.choice((1, 1, 2))), *more) for more in often)]


@contextlib.contextmanager
def undone() -> Iterator[dict[str, Callable[..., None]]]:
    """The functions that changes of the whole process go through; set back at the end."""
    before: list[tuple[Any, str, Any]] = []
    dtype, grad = torch.get_default_dtype(), torch.is_grad_enabled()
    numbers, removable_handle._ids = removable_handle._ids, itertools.count()  # the keys of hooks

    def patch(owner: Any, name: str, value: Any) -> None:
        before.append((owner, name, vars(owner).get(name, before)))
        setattr(owner, name, value)

    try:
        yield {"patch": patch}
    finally:
        for owner, name, value in reversed(before):
            delattr(owner, name) if value is before else setattr(owner, name, value)
        removable_handle._ids = numbers
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grad)
        torch.use_deterministic_algorithms(False)
