"""Random Python programs with tensors, mutation, aliasing, closures, loops, exceptions and graph breaks.

`RandomProgram(seed).source()` is a function `f(x, y, n, items, box, opts)` over the world of `WORLD`. The same seed
gives the same program. Every choice that refers to a variable takes one that is certainly bound.
"""

from __future__ import annotations

import random
from collections.abc import Callable

WORLD = """
class Box:
    kind = "box"

    def __init__(self, a, n=0):
        self.a = a
        self.n = n
        self.log = []

    def bump(self, by=1):
        self.n += by
        self.log.append(self.n)
        return self.a * self.n

    @property
    def twice(self):
        return self.a * 2

    def __add__(self, other):
        return Box(self.a + (other.a if isinstance(other, Box) else other), self.n + 1)

    def __len__(self):
        return len(self.log)


history = []
counter = 0
table = {"k": 1, "lr": 0.5}


def helper(t, k=2, *rest, scale=1.0, **named):
    out = t * k + scale
    for r in rest:
        out = out + r
    for key in named:
        out = out - named[key]
    return out


def noisy(t):
    print("noisy")
    history.append("noisy")
    return t + 1


def numbers(t, n):
    for i in range(n):
        yield t + i
"""

# Three kinds of call: everything separate; the same objects under several names; objects that are also reachable as
# globals.
CALLS = (
    'torch.rand(2, 2), torch.rand(2, 2), 2, [1, 2], Box(torch.ones(2, 2)), {"k": 1}',
    '(lambda t, l: (t, t, 0, l, Box(t, 3), {"k": l, "a": t}))(torch.rand(2, 2), [5])',
    "torch.rand(2, 2), torch.rand(2, 2, requires_grad=True), 1, history, Box(torch.rand(2, 2)), table",
)


class RandomProgram:
    """Grows one program; the lists name the variables of each kind that are bound where the next statement goes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 1
        self.names = 0
        self.scope = {"tensor": ["x", "y"], "int": ["n"], "list": ["items"], "box": ["box"], "dict": ["opts"]}

    def source(self) -> str:
        for _ in range(self.random.randint(3, 9)):
            self.statement()
        results = ", ".join([*(self.some(kind) for kind in self.scope), self.item()])
        self.emit(f"return {results}")
        return "def f(x, y, n, items, box, opts):\n    global counter\n" + "\n".join(self.lines) + "\n"

    # --- small parts --------------------------------------------------------------------------------------------------

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def pick(self, *choices: str | Callable[[], str]) -> str:
        chosen = self.random.choice(choices)
        return chosen if isinstance(chosen, str) else chosen()

    def some(self, kind: str) -> str:
        return self.random.choice(self.scope[kind])

    def new(self, kind: str) -> str:
        self.names += 1
        name = f"{kind[0]}{self.names}"
        self.scope[kind].append(name)
        return name

    # --- expressions --------------------------------------------------------------------------------------------------

    def tensor(self, depth: int = 0) -> str:
        if depth > 2 or self.random.random() < 0.45:
            return self.some("tensor")
        a, b = self.tensor(depth + 1), self.tensor(depth + 1)
        return self.pick(
            f"({a} {self.random.choice('+-*')} {b})", f"torch.sin({a})", f"{a}.relu()", f"({a} * {self.integer()})",
            f"(1.5 - {a})", f"helper({a}, {self.integer()})", f"helper({a}, 3, {b}, scale=0.5, q={self.integer()})",
            f"torch.where({a} > 0.5, {a}, {b})", f"{self.some('box')}.twice", f"{self.some('box')}.bump()",
            f"{self.some('box')}.a",
            f"{a}.t().t()", f"{a}.contiguous()", f"{a}.view(2, 2)", f"sum([{a}, {b}])",
            f"(lambda q: q + {a})({self.integer()})",
            f"({a} if {self.condition()} else {b})", f"torch.stack(list(numbers({a}, 2))).sum(0)",
            f"max([{a}, {b}], key=lambda q: 1)",
        )  # fmt: skip

    def integer(self) -> str:
        return self.pick(
            lambda: self.some("int"), lambda: str(self.random.randint(0, 4)), lambda: f"len({self.some('list')})",
            "counter",
            lambda: f"{self.some('box')}.n", "x.shape[0]", lambda: f"({self.some('int')} + 1)",
            lambda: f"len({self.some('box')})",
        )  # fmt: skip

    def condition(self) -> str:
        return self.pick(
            lambda: f"{self.integer()} > {self.random.randint(0, 3)}", lambda: f"{self.integer()} == {self.integer()}",
            lambda: f"'k' in {self.some('dict')}", lambda: f"{self.some('tensor')} is {self.some('tensor')}",
            lambda: f"hasattr({self.some('box')}, 'extra')", lambda: f"not {self.some('list')}",
            lambda: f"{self.some('tensor')} is None",
            lambda: f"{self.integer()} <= n and {self.some('box')}.kind == 'box'",
        )  # fmt: skip

    def item(self) -> str:
        return self.pick(
            self.tensor, self.integer, lambda: f"[{self.integer()}]", lambda: f"({self.tensor()}, {self.integer()})",
            lambda: self.some("list"), lambda: self.some("box"), lambda: f"Box({self.tensor()})",
        )  # fmt: skip

    # --- statements ---------------------------------------------------------------------------------------------------

    def statement(self) -> None:
        simple = {
            self.assign: 6, self.assign_integer: 2, self.change_list: 3, self.change_dict: 2, self.change_box: 3,
            self.write_in_place: 2,
            self.change_global: 1.5, self.break_graph: 0.7, self.make: 1, self.alias: 0.4, self.return_early: 0.2,
        }  # fmt: skip
        blocks = {self.if_: 1, self.if_data: 0.4, self.for_: 1, self.closure: 0.7, self.try_: 0.7, self.no_grad: 0.4}
        weights = simple if self.depth >= 3 else {**simple, **blocks}
        self.random.choices(list(weights), list(weights.values()))[0]()

    def block(self, count: int = 2) -> None:
        """Indented statements; what they bind may not be bound behind them."""
        self.depth += 1
        saved = {kind: list(names) for kind, names in self.scope.items()}
        for _ in range(self.random.randint(1, count)):
            self.statement()
        self.scope = saved
        self.depth -= 1

    def assign(self) -> None:
        value = self.tensor()
        self.emit(f"{self.some('tensor') if self.random.random() < 0.5 else self.new('tensor')} = {value}")

    def assign_integer(self) -> None:
        value = self.integer()
        self.emit(f"{self.new('int')} = {value} {self.pick('+ 1', '* 2', '- 1', '')}")

    def change_list(self) -> None:
        name, item, number = self.some("list"), self.item(), self.integer()
        self.emit(self.pick(
            f"{name}.append({item})", f"{name}.insert(0, {item})", f"{name}.extend([{item}, {number}])",
            f"{name}.reverse()",
            f"{name} += [{number}]", f"if {name}: {name}.pop()", f"if {name}: {name}[0] = {item}",
            f"if {name}: del {name}[-1]",
            f"{name}[1:1] = [{item}]", f"{name} = {name} + [{number}]", f"{name} = [*{name}, 1]",
        ))  # fmt: skip

    def change_dict(self) -> None:
        name, item, key = self.some("dict"), self.item(), self.pick("'k'", "'a'", "'b'", "3", "(1, 2)")
        self.emit(self.pick(
            f"{name}[{key}] = {item}", f"{name}.pop({key}, None)", f"{name}.setdefault({key}, [])",
            f"{name}.update(a={item})",
            f"for key in list({name}): {name}[key] = {self.integer()}", f"{name} = dict({name}, z={item})",
            f"if {key} in {name}: del {name}[{key}]", f"{name} = {{**{name}, {key}: {item}}}",
        ))  # fmt: skip

    def change_box(self) -> None:
        name = self.some("box")
        self.emit(self.pick(
            f"{name}.n += {self.integer()}", f"{name}.a = {self.tensor()}", f"{name}.log.append({self.item()})",
            f"{name}.extra = {self.item()}", f"{name}.bump({self.integer()})",
            f"if hasattr({name}, 'extra'): del {name}.extra",
            f"{name}.log = []", f"setattr({name}, 'other', {self.integer()})", f"{name} = {name} + {self.some('box')}",
        ))  # fmt: skip

    def write_in_place(self) -> None:
        name = self.some("tensor")
        self.emit(self.pick(
            f"{name}.add_({self.integer()})", f"{name} += 1", f"{name}.mul_(2)", f"{name}[0] = {self.integer()}",
            f"{name}[0, 1] = 5.0",
            f"{name}.copy_({self.tensor()})", f"{name}[1] = {self.tensor()}[0]",
        ))  # fmt: skip

    def change_global(self) -> None:
        self.emit(self.pick(
            f"counter += {self.integer()}", f"history.append({self.item()})", f"table['t'] = {self.tensor()}",
            "Box.kind = 'bag'",
        ))  # fmt: skip

    def break_graph(self) -> None:
        tensor = self.some("tensor")
        self.emit(self.pick(
            f"print('n', {self.some('int')})", "dynamo.graph_break()", f"print(f'{{{tensor}.sum().item():.2f}}')",
            f"{tensor}.data",
            lambda: f"{self.new('tensor')} = noisy({tensor})",
            lambda: f"{self.new('int')} = int({tensor}.sum().item())",
        ))  # fmt: skip

    def make(self) -> None:
        value = f"Box({self.tensor()}, n={self.integer()})"
        listed = self.pick("[]", "[1, x]", "[q for q in range(n)]", f"list({self.some('list')})", f"[{self.item()}]")
        self.emit(f"{self.new('box')} = {value}" if self.random.random() < 0.5 else f"{self.new('list')} = {listed}")

    def alias(self) -> None:
        kind = self.random.choice(list(self.scope))
        old = self.some(kind)
        self.emit(f"{self.new(kind)} = {old}")

    def return_early(self) -> None:
        self.emit(f"if {self.condition()}: return {self.item()}")

    # --- blocks -------------------------------------------------------------------------------------------------------

    def if_(self) -> None:
        self.emit(f"if {self.condition()}:")
        self.block()
        if self.random.random() < 0.5:
            self.emit("else:")
            self.block()

    def if_data(self) -> None:
        self.emit(f"if {self.some('tensor')}.sum() > {self.integer()}:")
        self.block()

    def for_(self) -> None:
        over = self.pick(
            "range(3)", "[1, 2]", f"enumerate({self.some('list')}[:2])", "zip('ab', (1, 2))",
            f"numbers({self.tensor()}, 2)", "sorted([3, 1])",
        )  # fmt: skip
        self.emit(f"for element in {over}:")
        self.block()
        if self.random.random() < 0.2:
            self.emit("else:")
            self.block(1)

    def closure(self) -> None:
        count, captured, argument = self.new("int"), self.some("tensor"), self.tensor()
        function = f"function{self.names}"
        self.emit(f"{count} = {self.random.randint(0, 3)}")
        self.emit(f"def {function}(q, z={self.integer()}):")
        for line in (f"nonlocal {count}", f"{count} += 1", f"return q * z + {captured} + {count}"):
            self.lines.append("    " * (self.depth + 1) + line)
        self.emit(f"{self.new('tensor')} = {function}({argument})")
        if self.random.random() < 0.4:
            self.emit(f"history.append({function})")

    def try_(self) -> None:
        self.emit("try:")
        self.block()
        if self.random.random() < 0.7:
            wrong = (
                "raise ValueError('v')",
                "{}['missing']",
                "[][2]",
                "x.view(77)",
                "None.foo",
                "int('z')",
                "x.nope",
                "next(iter([]))",
            )
            self.emit("    " + self.pick(*wrong))
        self.emit(
            self.pick(
                "except (ValueError, LookupError, RuntimeError, AttributeError, StopIteration) as e:",
                "except Exception:",
            )
        )
        self.block(1)
        if self.random.random() < 0.3:
            self.emit("finally:")
            self.block(1)

    def no_grad(self) -> None:
        self.emit("with torch.no_grad():")
        self.block()
