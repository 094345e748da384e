"""Whole little programs: what the single features are for."""

import collections
import heapq
import itertools


def sieve():
    n = 60
    flags = [True] * n
    for i in range(2, int(n**0.5) + 1):
        if flags[i]:
            flags[i * i :: i] = [False] * len(flags[i * i :: i])
    return [i for i in range(2, n) if flags[i]]


def quicksort():
    def sort(xs):
        if len(xs) <= 1:
            return xs
        pivot, *rest = xs
        return sort([x for x in rest if x < pivot]) + [pivot] + sort([x for x in rest if x >= pivot])

    return sort([5, 3, 8, 1, 9, 2, 7])


def n_queens():
    def place(n, row=0, columns=(), diagonals=(), others=()):
        if row == n:
            yield columns
        for c in range(n):
            if c not in columns and row + c not in diagonals and row - c not in others:
                yield from place(n, row + 1, (*columns, c), (*diagonals, row + c), (*others, row - c))

    return list(place(4)), sum(1 for _ in place(5))


def dijkstra():
    graph = {"a": {"b": 1, "c": 4}, "b": {"c": 2, "d": 6}, "c": {"d": 3}, "d": {}}
    distances, queue = {}, [(0, "a")]
    while queue:
        d, node = heapq.heappop(queue)
        if node in distances:
            continue
        distances[node] = d
        for neighbour, weight in graph[node].items():
            heapq.heappush(queue, (d + weight, neighbour))
    return distances


def calculator():
    def tokens(text):
        number = ""
        for c in text:
            if c.isdigit():
                number += c
                continue
            if number:
                yield int(number)
                number = ""
            if not c.isspace():
                yield c
        if number:
            yield int(number)

    def parse(stream):
        items = list(stream)
        position = 0

        def peek():
            return items[position] if position < len(items) else None

        def take():
            nonlocal position
            position += 1
            return items[position - 1]

        def expression():
            value = term()
            while peek() in ("+", "-"):
                value = value + term() if take() == "+" else value - term()
            return value

        def term():
            value = factor()
            while peek() in ("*", "/"):
                value = value * factor() if take() == "*" else value / factor()
            return value

        def factor():
            if peek() == "(":
                take()
                value = expression()
                assert take() == ")", "unbalanced"
                return value
            if peek() == "-":
                take()
                return -factor()
            return take()

        return expression()

    return [parse(tokens(t)) for t in ("1 + 2 * 3", "(1+2)*3", "-4 * (2 - 12 / 3)", "7")]


def word_count():
    text = "the cat and the hat and the bat"
    counts = collections.Counter(text.split())
    groups = {k: sorted(g) for k, g in itertools.groupby(sorted(counts, key=len), key=len)}
    return counts.most_common(2), groups


def memoised():
    calls = []

    def memo(f):
        cache = {}

        def inner(*args):
            if args not in cache:
                calls.append(args)
                cache[args] = f(*args)
            return cache[args]

        return inner

    @memo
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(15), len(calls)


def linked_list():
    class Node:
        __slots__ = ("value", "rest")

        def __init__(self, value, rest=None):
            self.value, self.rest = value, rest

        def __iter__(self):
            node = self
            while node is not None:
                yield node.value
                node = node.rest

    head = None
    for x in range(4):
        head = Node(x, head)
    previous = None
    while head:
        head.rest, previous, head = previous, head, head.rest
    return list(previous)


def matrix_product():
    def product(a, b):
        return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]

    return product([[1, 2], [3, 4]], [[5, 6], [7, 8]])


def state_machine():
    def machine():
        state = "idle"
        log = []
        while True:
            event = yield state
            match state, event:
                case ("idle", "start"):
                    state = "running"
                case ("running", ("speed", n)) if n > 3:
                    state = f"fast{n}"
                case (_, "stop"):
                    return log
            log.append((event, state))

    m = machine()
    states = [next(m)]
    for event in ("start", ("speed", 2), ("speed", 5)):
        states.append(m.send(event))
    try:
        m.send("stop")
    except StopIteration as stop:
        return states, stop.value


def bank_account():
    class Account:
        interest = 0.5

        def __init__(self, owner, balance=0):
            self.owner, self.balance, self.history = owner, balance, []

        def transfer(self, other, amount):
            try:
                if amount > self.balance:
                    raise ValueError(f"{self.owner} has only {self.balance}")
                self.balance -= amount
                other.balance += amount
            except ValueError as error:
                self.history.append(str(error))
                return False
            else:
                self.history.append(amount)
                return True
            finally:
                print(f"{self.owner} -> {other.owner}: {amount}")

    a, b = Account("ann", 10), Account("bob")
    return a.transfer(b, 7), a.transfer(b, 7), b.balance, a.history


def text_table():
    rows = [("name", "n"), ("ann", 3), ("bartholomew", 42)]
    widths = [max(len(str(row[i])) for row in rows) for i in range(2)]
    return "\n".join(" | ".join(f"{cell!s:<{w}}" for cell, w in zip(row, widths)) for row in rows)


def newton():
    def root(f, x, steps=20, eps=1e-6):
        for step in range(steps):
            slope = (f(x + eps) - f(x - eps)) / (2 * eps)
            if abs(f(x)) < 1e-9:
                return round(x, 6), step < steps
            x -= f(x) / slope
        raise RuntimeError("no root")

    return root(lambda x: x * x - 2, 1.0)


def permutations_by_hand():
    def permutations(xs):
        if not xs:
            yield []
        for i, x in enumerate(xs):
            for rest in permutations(xs[:i] + xs[i + 1 :]):
                yield [x, *rest]

    return list(permutations([1, 2, 3]))
