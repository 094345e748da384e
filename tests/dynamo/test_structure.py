"""What is remembered of a model between calls: recalled only while all guards hold, whatever was done to the model.

The oracle is the guards themselves, asked one by one, and the plain model.
"""

import contextlib
import gc
import random
import weakref
from types import SimpleNamespace

import pytest

import minitorch_compile as torch
from minitorch_compile import config, nn
from minitorch_compile.dynamo import optimize, region_of
from minitorch_compile.dynamo.guards import structure
from minitorch_compile.dynamo.guards.dict_versions import notices_all_changes, word_of_dict
from minitorch_compile.dynamo.guards.failures import failure
from minitorch_compile.dynamo.guards.guard_code import in_checking_order
from minitorch_compile.dynamo.guards.memory_snapshot import Word
from minitorch_compile.dynamo.guards.structure import Structure
from minitorch_compile.dynamo.guards.structure_code import structures_in
from minitorch_compile.dynamo.testing import CompileCounter, eager
from tests.dynamo.compiled import matrix

remembers = pytest.mark.skipif(word_of_dict() is None, reason="dicts of this Python do not tell when they change")


class Block(nn.Module):
    factor = 2.0

    def __init__(self, size, activation=torch.relu):
        super().__init__()
        self.norm = nn.BatchNorm1d(size)
        self.linear = nn.Linear(size, size)
        self.activation = activation
        self.sizes = (size, size)
        self.names = ["first"]
        self.settings = {"scale": 1.5}
        self.extra = SimpleNamespace(shift=0.5)

    def forward(self, x):
        y = self.activation(self.linear(self.norm(x))) * self.factor + len(self.names)
        y = y * self.settings["scale"] + self.extra.shift + self.sizes[0]
        return y + x if self.training else y


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(3), Block(3)])
        self.head = nn.Linear(3, 3)
        self.tied = nn.Linear(3, 3)
        self.tied.weight = self.head.weight

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.tied(self.head(x))


def doubled(module, args, output):
    return output * 2


def replace_parameter(model):
    model.head.weight = nn.Parameter(torch.ones(3, 3))


def set_in_parameters(model):
    model.head._parameters["bias"] = nn.Parameter(torch.ones(3))


def delete_and_bring_back(model):
    weight = model.tied.weight
    del model.tied.weight
    model.tied.weight = weight


def another_class(model):
    class Louder(Block):
        def forward(self, x):
            return super().forward(x) * 3

    model.blocks[0].__class__ = Louder


def another_dict(model):
    model.blocks[1].__dict__ = dict(vars(model.blocks[1]))


def an_instance_forward(model):
    model.head.forward = lambda x: x + 1


def an_attribute_that_hides_a_submodule(model):
    vars(model)["head"] = nn.Linear(3, 3)


CHANGES = {
    "parameter": replace_parameter,
    "parameters' dict": set_in_parameters,
    "data": lambda model: setattr(model.head.bias, "data", torch.full((3,), 2.0)),
    "dtype": lambda model: model.double(),
    "and back": lambda model: model.float(),
    "requires_grad": lambda model: model.head.weight.requires_grad_(not model.head.weight.requires_grad),
    "all requires_grad": lambda model: model.requires_grad_(not model.tied.bias.requires_grad),
    "delete": delete_and_bring_back,
    "no bias": lambda model: setattr(model.head, "bias", None),
    "bias again": lambda model: setattr(model.head, "bias", nn.Parameter(torch.ones(3))),
    "untie": lambda model: setattr(model.tied, "weight", nn.Parameter(torch.ones(3, 3))),
    "tie": lambda model: setattr(model.tied, "weight", model.head.weight),
    "submodule": lambda model: setattr(model, "head", nn.Linear(3, 3)),
    "submodule in its dict": lambda model: model._modules.__setitem__("head", nn.Sequential(nn.Linear(3, 3))),
    "list of modules": lambda model: model.blocks.append(Block(3)),
    "item of it": lambda model: model.blocks.__setitem__(0, Block(3, torch.tanh)),
    "eval": lambda model: model.eval(),
    "train": lambda model: model.train(),
    "training of one": lambda model: vars(model.blocks[0]).__setitem__("training", False),
    "hook": lambda model: model.head.register_forward_hook(doubled),
    "no hooks": lambda model: model.head._forward_hooks.clear(),
    "forward": an_instance_forward,
    "forward removed": lambda model: vars(model.head).pop("forward", None),
    "hiding": an_attribute_that_hides_a_submodule,
    "shown": lambda model: vars(model).pop("head", None),
    "class": another_class,
    "class attribute": lambda model: setattr(Block, "factor", Block.factor + 1),
    "dict": another_dict,
    "function": lambda model: setattr(model.blocks[1], "activation", torch.sigmoid),
    "tuple": lambda model: setattr(model.blocks[1], "sizes", (4, 3)),
    "list": lambda model: model.blocks[1].names.append("more"),
    "item of a dict": lambda model: model.blocks[1].settings.update(scale=model.blocks[1].settings["scale"] + 1),
    "plain object": lambda model: setattr(model.blocks[1].extra, "shift", model.blocks[1].extra.shift + 1),
    "momentum": lambda model: setattr(model.blocks[0].norm, "eps", 0.1),
    "buffer": lambda model: setattr(model.blocks[0].norm, "running_mean", torch.ones(3)),
    "buffer in place": lambda model: model.blocks[0].norm.running_mean.add_(1),
    "weight in place": lambda model: model.head.weight.data.mul_(2),
    "gradient": lambda model: model(matrix()).sum().backward(),
    "no gradients": lambda model: model.zero_grad(),
    "irrelevant": lambda model: setattr(model, "note", random.random()),
    "nothing": lambda model: None,
}


@pytest.fixture(autouse=True)
def the_class_as_it_was():
    yield
    Block.factor = 2.0


@pytest.fixture
def impatient(monkeypatch):
    """Everything is noted as soon as its guards have passed twice, however often it changes."""
    monkeypatch.setattr(structure, "LONGEST_WAIT", 1)


def outcome(function, model):
    """The output, and what training changes; or the error, which a wrong dtype gives."""
    torch.manual_seed(0)
    x = torch.ones(3, 3) + torch.arange(3.0) * torch.arange(3.0).view(3, 1)
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    try:
        result = function(x).tolist()
    except RuntimeError as error:
        result = str(error)
    after = {name: buffer.tolist() for name, buffer in model.named_buffers()}
    with torch.no_grad():
        for name, buffer in model.named_buffers():
            buffer.copy_(buffers[name])
    return result, after


def structure_of(entry):
    """What the entry remembers below an argument; what it remembers of classes has another name."""
    named = (value for name, value in entry.names.items() if name.startswith("structure"))
    return next((value for value in named if isinstance(value, Structure)), None)


def assert_recalled_only_if_guards_hold(compiled, model):
    """For every version: what it recalls of the model agrees with its guards."""
    region = region_of(compiled)
    dispatcher = compiled._dynamo_forward._dynamo_dispatcher
    for entry in (entry for cache in region.caches[:1] for entry in cache.entries):
        known = structure_of(entry)
        if known is not None and known.recalls(model):
            found = structures_in(in_checking_order(entry.guards))
            about_it = next(structure.guards for structure in found if structure.hint == "structure")
            assert len(about_it) > 30
            assert failure(about_it, dispatcher.scope(entry, (model, matrix(3, 3)))) is None


@remembers
def test_a_model_is_remembered_after_two_calls():
    model = Model()
    compiled = optimize(model, eager)
    for _ in range(3):
        compiled(matrix())
    (entry,) = region_of(compiled).caches[0].entries
    assert structure_of(entry).recalls(model)
    assert not structure_of(entry).recalls(Model())


@remembers
def test_a_training_step_changes_nothing_that_is_remembered():
    model = Model()
    optimizer = torch.optim.Adam(model.parameters())
    compiled = optimize(model, eager)
    for _ in range(3):
        optimizer.zero_grad()
        compiled(matrix(3, 3)).sum().backward()
        optimizer.step()
    assert any(structure_of(entry).recalls(model) for entry in region_of(compiled).caches[0].entries)


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_a_model_is_noticed(change):
    plain, model = Model(), Model()
    model.load_state_dict(plain.state_dict())
    compiled = optimize(model, eager)
    for _ in range(3):
        assert outcome(compiled, model) == outcome(plain, plain)
    state = torch.get_rng_state()
    for changed in (model, plain):
        Block.factor = 2.0
        torch.set_rng_state(state)
        CHANGES[change](changed)
    for _ in range(3):
        assert outcome(compiled, model) == outcome(plain, plain)
        assert_recalled_only_if_guards_hold(compiled, model)


@pytest.mark.parametrize("seed", range(8))
@config.patch(recompile_limit=100)
@pytest.mark.heavy
def test_random_changes_are_noticed(seed, impatient):
    chooser = random.Random(seed)
    torch.manual_seed(seed)
    model = Model()
    compiled = optimize(model, CompileCounter())
    for _ in range(25):
        change = chooser.choice(list(CHANGES))
        with contextlib.suppress(AttributeError, RuntimeError):  # where other changes make this one impossible
            CHANGES[change](model)
        assert_recalled_only_if_guards_hold(compiled, model)
        for _ in range(chooser.choice([1, 1, 3])):
            assert outcome(compiled, model) == outcome(model, model), change
            assert_recalled_only_if_guards_hold(compiled, model)


@remembers
def test_one_version_remembers_many_layers():
    layers = [nn.Linear(3, 3) for _ in range(5)]
    compiled = optimize(lambda layer, x: layer(x), eager)
    for _ in range(4):
        for layer in layers:
            compiled(layer, matrix())
    (entry,) = region_of(compiled).caches[0].entries
    assert sum(structure_of(entry).recalls(layer) for layer in layers) >= 2
    layers[1].weight.requires_grad_(False)
    assert not structure_of(entry).recalls(layers[1])
    assert compiled(layers[1], matrix()).tolist() == layers[1](matrix()).tolist()


@remembers
def test_what_is_remembered_keeps_nothing_alive():
    compiled = optimize(lambda model, x: model(x), eager)
    model = Model()
    for _ in range(3):
        compiled(model, matrix())
    gone = [weakref.ref(model), weakref.ref(model.head.weight)]
    del model
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


@pytest.mark.parametrize("at", [0, 16], ids=["references", "length"])
def test_a_word_that_misses_changes_is_not_used(at):
    assert not notices_all_changes(lambda items: Word.at(id(items) + at))


def put_in_place(owner, name, value):
    before = vars(owner)[name]
    setattr(owner, name, value)
    return lambda: setattr(owner, name, before)


@pytest.mark.parametrize(
    ("owner", "name", "function"),
    [
        (nn.functional, "relu", lambda x: nn.functional.relu(x)),
        (torch, "sin", lambda x: torch.sin(x)),
        (nn.Linear, "forward", nn.Linear(3, 3)),
        (nn.Linear, "forward", nn.Sequential(nn.Linear(3, 3))),
        (nn.functional, "linear", nn.Sequential(nn.Linear(3, 3))),
        (nn.Module, "_call_impl", nn.Sequential(nn.Linear(3, 3))),
        (torch.Tensor, "relu", lambda x: x.relu()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_member_of_this_package_that_the_user_replaces(owner, name, function):
    compiled = optimize(function, eager)
    before = compiled(matrix()).tolist()
    put_back = put_in_place(owner, name, lambda *args, **kwargs: torch.ones(2) * 7)
    try:
        assert compiled(matrix()).tolist() == [7, 7]
    finally:
        put_back()
    assert compiled(matrix()).tolist() == before


def test_a_method_of_this_package_that_a_class_of_the_users_hides():
    class Mine(nn.Linear):
        pass

    compiled = optimize(lambda layer, x: layer(x), eager)
    layer = Mine(3, 3)
    for _ in range(3):
        compiled(layer, matrix())
    Mine.forward = lambda self, x: x * 5
    assert compiled(layer, matrix()).tolist() == (matrix() * 5).tolist()
    Mine.__call__ = lambda self, x: x * 6
    assert compiled(layer, matrix()).tolist() == (matrix() * 6).tolist()


class Accumulating(nn.Module):
    """Writes to buffers that are remembered with it."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
        self.register_buffer("total", torch.zeros(3))
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.total.add_(x)
        self.count.add_(1)
        return self.second(self.first(x)) + self.total + self.count + x


def share_total(model):
    model.count = model.total


def share_memory_of_total(model):
    model.count = model.total.view(3)


def share_a_parameter(model):
    model.count = model.first.bias.data


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        (lambda model: None, lambda model: model.total),
        (lambda model: None, lambda model: model.count.view(3)),
        (lambda model: None, lambda model: model.first.bias.detach()),
        (share_total, lambda model: torch.ones(3)),
        (share_memory_of_total, lambda model: torch.ones(3)),
        (share_a_parameter, lambda model: torch.ones(3)),
    ],
    ids=["buffer as argument", "view as argument", "parameter", "one buffer", "one memory", "memory of a parameter"],
)
def test_memory_that_is_shared_from_now_on(change, argument):
    plain, model = Accumulating(), Accumulating()
    model.load_state_dict(plain.state_dict())
    compiled = optimize(model, eager)
    with torch.no_grad():
        for _ in range(4):
            assert compiled(torch.ones(3)).tolist() == plain(torch.ones(3)).tolist()
        for changed in (model, plain):
            change(changed)
        for _ in range(3):
            assert compiled(argument(model)).tolist() == plain(argument(plain)).tolist()
            assert model.total.tolist() == plain.total.tolist() and model.count.tolist() == plain.count.tolist()


class Node:
    """Plain objects with numbers that are new objects each time, often where an old one was in memory."""

    shared = "class"

    def __init__(self, chooser, depth):
        self.number = fresh(chooser)
        self.pair = (fresh(chooser), "text")
        self.table = {"a": fresh(chooser), "b": "text"}
        self.child = Node(chooser, depth - 1) if depth else None


def fresh(chooser):
    return int(chooser.choice(["1000001", "1000002"]))


def read_all(node, x):
    while node is not None:
        total = node.number * 8 + node.pair[0] * 4 + node.table["a"] * 2 + len(node.table) + len(node.shared)
        x = x * 2 + total
        node = node.child
    return x


def at_random(chooser, root):
    """A node of the chain."""
    while root.child is not None and chooser.random() < 0.6:
        root = root.child
    return root


NODE_CHANGES = [
    lambda c, n: setattr(n, "number", fresh(c)),
    lambda c, n: vars(n).update(number=fresh(c)),
    lambda c, n: object.__setattr__(n, "number", fresh(c)),
    lambda c, n: setattr(n, "pair", (fresh(c), "text")),
    lambda c, n: n.table.__setitem__("a", fresh(c)),
    lambda c, n: setattr(n, "table", {"a": fresh(c), "b": "text"}),
    lambda c, n: n.table.pop("c", None) or n.table.update(c=1),
    lambda c, n: setattr(n, "child", Node(c, 1) if n.child is not None else None),
    lambda c, n: setattr(n, "__dict__", {**vars(n), "number": fresh(c)}),
    lambda c, n: vars(n).pop("shared", None) or setattr(n, "shared", c.choice(["instance", "other"])),
    lambda c, n: (vars(n).pop("number"), setattr(n, "number", fresh(c))),
    lambda c, n: vars(n).update(unread=fresh(c)),
    lambda c, n: None,
]


@pytest.mark.parametrize("seed", range(3))
@config.patch(recompile_limit=1000)
def test_random_changes_of_plain_objects_are_noticed(seed, impatient):
    chooser = random.Random(seed)
    root = Node(chooser, 2)
    compiled = optimize(read_all, eager, dynamic=False)
    x = torch.zeros(1, dtype=torch.float64)
    for _ in range(200):
        chooser.choice(NODE_CHANGES)(chooser, at_random(chooser, root))
        for _ in range(chooser.choice([1, 3, 3])):
            assert compiled(root, x).item() == read_all(root, x).item()
