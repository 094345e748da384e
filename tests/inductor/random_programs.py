"""Random graphs of prims: pointwise, reductions, scans, views, joins, products and indexing over awkward sizes."""

import numpy as np

from minitorch_compile.tensor.numerics.dtype import float32, int64

UNARY = ["neg", "abs", "exp", "tanh", "sin", "sqrt", "floor", "ceil", "reciprocal", "erf"]
BINARY = ["add", "sub", "mul", "maximum", "minimum", "div"]
SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 17, 33]


class RandomProgram:
    """`program(p, *inputs)` records a random graph; the same seed records the same one."""

    def __init__(self, seed, steps=12, scans=True):
        self.seed = seed
        self.scans = scans
        self.steps = steps
        rng = np.random.default_rng(seed)
        sizes = [tuple(int(rng.choice(SIZES)) for _ in range(rng.integers(1, 4))) for _ in range(2)]
        self.arrays = [rng.standard_normal(s).astype(np.float32) for s in [*sizes, sizes[0]]]

    def __call__(self, p, *inputs):
        self.p, self.rng = p, np.random.default_rng(self.seed + 10_000)
        self.values = list(inputs)
        for _ in range(self.steps):
            choices = [
                self.unary,
                self.binary,
                self.binary,
                self.reduce,
                self.move,
                self.move,
                self.choose,
                self.product,
                *([self.run_along] if self.scans else []),
            ]
            new = choices[self.rng.integers(len(choices))]()
            if new is not None:
                self.values.append(new)
        picked = self.rng.permutation(len(self.values))[:4]
        outputs = dict.fromkeys([self.values[-1], *(self.values[i] for i in picked)])
        return tuple(outputs)

    def pick(self):
        """A value, recent ones more often."""
        weights = np.arange(1, len(self.values) + 1.0)
        return self.values[self.rng.choice(len(self.values), p=weights / weights.sum())]

    def sizes(self, value):
        return tuple(value.meta["val"].sizes)

    def unary(self):
        name = UNARY[self.rng.integers(len(UNARY))]
        x = self.pick()
        if name in ("sqrt", "reciprocal"):
            x = self.p.add(self.p.abs(x), self.p.full(self.sizes(x), 0.5, float32))
        if name == "exp":
            x = self.p.tanh(x)
        return getattr(self.p, name)(x)

    def binary(self):
        a = self.pick()
        partners = [b for b in self.values if self.fits(b, a)]
        b = partners[self.rng.integers(len(partners))]
        if self.sizes(b) != self.sizes(a):
            first = len(self.sizes(a)) - len(self.sizes(b))
            b = self.p.broadcast_in_dim(b, self.sizes(a), tuple(range(first, len(self.sizes(a)))))
        name = BINARY[self.rng.integers(len(BINARY))]
        if name == "div":
            b = self.p.add(self.p.abs(b), self.p.full(self.sizes(a), 1.0, float32))
        if self.rng.random() < 0.2:
            return self.p.where(self.p.lt(a, b), a, b)
        return getattr(self.p, name)(a, b)

    def fits(self, b, a):
        """Whether b broadcasts to a's sizes."""
        small, large = self.sizes(b), self.sizes(a)
        return len(small) <= len(large) and all(n in (1, m) for n, m in zip(small[::-1], large[::-1]))

    def reduce(self):
        x = self.pick()
        ndim = len(self.sizes(x))
        dims = tuple(d for d in range(ndim) if self.rng.random() < 0.5)
        kind = ["sum", "amax", "amin", "sum"][self.rng.integers(4)]
        result = getattr(self.p, kind)(x, dims)
        if self.rng.random() < 0.6:  # back to the old sizes, as softmax and norms do
            kept = tuple(d for d in range(ndim) if d not in dims)
            result = self.p.sub(x, self.p.broadcast_in_dim(result, self.sizes(x), kept))
        return result if self.sizes(result) else self.p.reshape(result, (1,))

    def run_along(self):
        """A running result; sums and products of tame numbers, so that they stay tame."""
        x = self.p.tanh(self.pick())
        kind = ["sum", "prod", "amax", "amin", "logaddexp"][self.rng.integers(5)]
        return self.p.scan(x, int(self.rng.integers(len(self.sizes(x)))), kind)

    def move(self):
        x = self.pick()
        sizes, p, rng = self.sizes(x), self.p, self.rng
        kind = rng.integers(7)
        if kind == 0:
            return p.transpose(x, tuple(int(d) for d in rng.permutation(len(sizes))))
        if kind == 1:
            return p.reshape(x, self.other_sizes(int(np.prod(sizes))))
        if kind == 2:
            start = tuple(int(rng.integers(0, (n + 1) // 2)) for n in sizes)
            return p.slice(x, start, sizes, tuple(int(rng.integers(1, 3)) for _ in sizes))
        if kind == 3:
            return p.rev(x, tuple(d for d in range(len(sizes)) if rng.random() < 0.5))
        if kind == 4:
            low, high = (tuple(int(rng.integers(0, 3)) for _ in sizes) for _ in range(2))
            return p.pad(x, low, high, 0.5)
        if kind == 5:
            dim = int(rng.integers(len(sizes)))
            same = [v for v in self.values if self.cats(v, x, dim)]
            return p.cat([x, same[rng.integers(len(same))]], dim)
        return p.broadcast_in_dim(x, (int(rng.integers(1, 4)), *sizes), tuple(range(1, len(sizes) + 1)))

    def cats(self, v, x, dim):
        a, b = self.sizes(v), self.sizes(x)
        return len(a) == len(b) and all(n == m for d, (n, m) in enumerate(zip(a, b)) if d != dim)

    def other_sizes(self, count):
        """Random sizes with this many elements."""
        result = []
        while count > 1 and len(result) < 3:
            factors = [f for f in range(1, count + 1) if count % f == 0]
            result.append(int(factors[self.rng.integers(len(factors))]))
            count //= result[-1]
        return (*result, count)

    def choose(self):
        x = self.pick()
        n = self.sizes(x)[0]
        rows = self.p.iota(int(self.rng.integers(1, 6)), 0, 1, int64)
        count = self.sizes(rows)
        rows = self.p.remainder(self.p.mul(rows, self.p.full(count, 5, int64)), self.p.full(count, n, int64))
        if self.rng.random() < 0.3:
            values = self.p.index(x, (rows,))
            return self.p.index_put(x, (rows,), self.p.tanh(values), True)
        return self.p.index(x, (rows,))

    def product(self):
        x = self.pick()
        rows, columns = self.sizes(x)[0], int(np.prod(self.sizes(x)[1:]))
        matrix = self.p.tanh(self.p.reshape(x, (rows, columns)))
        if self.rng.random() < 0.5:
            return self.p.mm(matrix, self.p.transpose(matrix, (1, 0)))
        return self.p.mm(self.p.transpose(matrix, (1, 0)), matrix)
