"""Random programs in the words that mini and the package share, as text: `program(seed)`.

>>> print(program(3).splitlines()[0])
def f(T, x, y):  # (4, 4) (4, 1)
"""

import random

POINTWISE = (
    "{a}.relu()", "{a}.tanh()", "{a}.sigmoid()", "{a}.exp()", "({a} * {a} + 1).sqrt()", "({a} * {a} + 2).log()",
    "{a}.sin()", "{a}.cos()", "-{a}", "{a} * {k}", "{a} + {k}", "{k} - {a}", "{a} / {k}", "{a} ** 2", "{a}.clone()",
    "{a}.softmax(-1)", "{a}.log_softmax(0)", "{a}.to(T.float64).to(T.float32)",
)  # fmt: skip
BINARY = (
    "{a} + {b}",
    "{a} - {b}",
    "{a} * {b}",
    "{a} / ({b} * {b} + 1)",
    "T.maximum({a}, {b})",
    "T.where({a} < {b}, {a}, {b})",
)
KEPT = ("{a}.sum({d}, True)", "{a}.mean({d}, True)", "{a}.amax({d}, True)")


class Writer:
    """Writes lines; knows the sizes of each name, so that what it writes is a program."""

    def __init__(self, seed):
        self.random, self.lines, self.sizes = random.Random(seed), [], {}
        rows, columns = self.random.choice([(2, 3), (4, 4), (1, 5), (3, 1), (5, 2)])
        self.arguments = {"x": (rows, columns), "y": self.random.choice([(rows, columns), (columns,), (rows, 1)])}
        self.sizes.update(self.arguments)

    def new(self, text, sizes):
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.sizes[name] = tuple(sizes)

    def pick(self):
        return self.random.choice(list(self.sizes))

    def pointwise(self):
        a = self.pick()
        if self.sizes[a]:
            self.new(self.random.choice(POINTWISE).format(a=a, k=self.random.choice([0.5, 2, -1.5, 3])), self.sizes[a])

    def binary(self):
        a, rest = self.pick(), self.random.choice(BINARY)
        fitting = [b for b, sizes in self.sizes.items() if sizes == self.sizes[a] or sizes in ((), self.sizes[a][1:])]
        self.new(rest.format(a=a, b=self.random.choice(fitting)), self.sizes[a])

    def reduced(self):
        a = self.pick()
        if sizes := self.sizes[a]:
            d = self.random.randrange(len(sizes))
            text = self.random.choice(KEPT).format(a=a, d=d)
            if self.random.random() < 0.5:
                self.new(text, sizes[:d] + (1,) + sizes[d + 1 :])
            else:
                self.new(text.replace(", True", ""), sizes[:d] + sizes[d + 1 :])

    def viewed(self):
        a = self.pick()
        sizes = self.sizes[a]
        if len(sizes) < 2:
            return
        count = sizes[0] * sizes[1]
        kinds = [
            (f"{a}.transpose(0, 1)", (sizes[1], sizes[0])),
            (f"{a}.reshape({count})", (count,)),
            (f"{a}.reshape({sizes[1]}, -1)", (sizes[1], sizes[0])),
            (f"{a}[:, None]", (sizes[0], 1, sizes[1])),
            (f"{a}[-1]", sizes[1:]),
            (f"{a}[:, ::2]", (sizes[0], (sizes[1] + 1) // 2)),
            (f"{a}[1:]", (sizes[0] - 1, sizes[1])),
        ]
        text, result = self.random.choice(kinds if len(sizes) == 2 else [(f"{a}[0]", sizes[1:])])
        if 0 not in result:
            self.new(text, result)

    def product(self):
        a = self.pick()
        if len(self.sizes[a]) == 2:
            self.new(f"{a} @ {a}.transpose(0, 1)", (self.sizes[a][0],) * 2)

    def joined(self):
        a = self.pick()
        if sizes := self.sizes[a]:
            self.new(f"T.cat([{a}, {a} * 2], 0)", (2 * sizes[0], *sizes[1:]))

    def written(self):
        """A write: into a new tensor, or into a part of one."""
        a = self.pick()
        if len(self.sizes[a]) == 2:
            self.new(f"{a} * 1", self.sizes[a])
            name = list(self.sizes)[-1]
            self.lines[-1] += self.random.choice(
                [f"; {name}.add_({a})", f"; {name}[0] = 2.5", f"; {name}[:, :1].mul_(2.5)"]
            )

    def looped(self):
        a = self.pick()
        if self.sizes[a]:
            self.new(f"{a}", self.sizes[a])
            name = list(self.sizes)[-1]
            self.lines.append(
                f"for i, k in enumerate([0.5, 1.5]):\n        {name} = {name} * k + i if i else {name} - k"
            )

    def broken(self):
        a = self.pick()
        self.lines.append(f"if {a}.sum().item() > 1e30:\n        {a} = {a} + 1")


def program(seed):
    """The text of a function of T (mini's ops, or the package), x and y; and the arguments' sizes as a comment."""
    w = Writer(seed)
    kinds = (
        [w.pointwise] * 4
        + [w.binary] * 3
        + [w.reduced] * 2
        + [w.viewed] * 2
        + [w.product, w.joined, w.written, w.looped]
    )
    for _ in range(w.random.randint(3, 9)):
        w.random.choice(kinds + [w.broken] * (seed % 3 == 0))()
    results = list(w.sizes)[-3:]
    body = "\n    ".join([*w.lines, f"return {', '.join(f'({name} * 1.0)' for name in results)}"])
    return f"def f(T, x, y):  # {w.arguments['x']} {w.arguments['y']}\n    {body}\n"
