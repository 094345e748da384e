"""Generators: yield, send, throw, close, yield from, return values, finalisation."""

import contextlib


def simple():
    def gen(n):
        for i in range(n):
            yield i * i

    return list(gen(4)), sum(gen(3)), [x for x in gen(2)]


def values_sent_in():
    def gen():
        total = 0
        while True:
            x = yield total
            if x is None:
                break
            total += x
        return total

    g = gen()
    found = [next(g), g.send(3), g.send(4)]
    try:
        next(g)
    except StopIteration as stop:
        found.append(stop.value)
    return found


def yield_is_an_expression():
    def gen():
        a = (yield 1) or "none"
        b = yield a
        print((yield b) if a else 0)
        return [(yield 5), (yield 6)]

    g = gen()
    found = [next(g), g.send("A"), g.send("B"), g.send("C"), g.send("D")]
    try:
        g.send("E")
    except StopIteration as stop:
        return found, stop.value


def yield_from_list_and_generator():
    def inner():
        x = yield 1
        print("inner got", x)
        return "inner result"

    def outer():
        r = yield from inner()
        print(r)
        yield from [10, 20]
        yield from "ab"
        return r

    g = outer()
    return next(g), g.send("hello"), list(g)


def throw_into_a_generator():
    def gen():
        while True:
            try:
                yield "waiting"
            except ValueError as error:
                yield f"caught {error}"
            finally:
                print("finally")

    g = gen()
    found = [next(g), g.throw(ValueError("v")), next(g)]
    try:
        g.throw(KeyError("k"))
    except KeyError as error:
        found.append(repr(error))
    return found, list(g)


def throw_through_yield_from():
    def inner():
        try:
            yield 1
        except ValueError:
            yield "inner caught"
        return "done"

    def outer():
        result = yield from inner()
        yield result

    g = outer()
    return next(g), g.throw(ValueError), next(g)


def throw_that_ends_the_inner_generator():
    def inner():
        try:
            yield 1
        except ValueError:
            return "returned by inner"

    def outer():
        result = yield from inner()
        yield result

    g = outer()
    return next(g), g.throw(ValueError())


def throw_through_yield_from_a_plain_iterator():
    def outer():
        try:
            yield from [1, 2, 3]
        except KeyError:
            yield "caught outside"

    g = outer()
    return next(g), g.throw(KeyError())


def close_a_generator():
    def gen():
        try:
            yield 1
            yield 2
        finally:
            print("closed")

    g = gen()
    first = next(g)
    g.close()
    g.close()
    return first, list(g)


def close_through_yield_from():
    def inner():
        try:
            yield 1
        except GeneratorExit:
            print("inner exit")
            raise

    def outer():
        try:
            yield from inner()
        finally:
            print("outer finally")

    g = outer()
    next(g)
    g.close()


def generator_that_ignores_close():
    def gen():
        while True:
            try:
                yield 1
            except GeneratorExit:
                print("ignored")
                return

    g = gen()
    next(g)
    g.close()
    return "closed"


def unstarted_generator():
    def gen():
        print("never printed")
        yield 1

    g = gen()
    g.close()
    h = gen()
    try:
        h.throw(ValueError("at the start"))
    except ValueError as error:
        return list(g), str(error), list(h)


def generator_is_finished_after_an_error():
    def gen():
        yield 1
        raise KeyError("x")

    g = gen()
    found = [next(g)]
    try:
        next(g)
    except KeyError:
        found.append("error")
    return found, list(g)


def stop_iteration_becomes_runtime_error():
    def gen():
        yield 1
        raise StopIteration("sneaky")

    g = gen()
    next(g)
    try:
        next(g)
    except RuntimeError as error:
        return str(error), type(error.__cause__).__name__


def generator_with_a_return_value():
    def gen():
        yield 1
        return [2, 3]

    def outer():
        return (yield from gen())

    def result(g):
        try:
            while True:
                next(g)
        except StopIteration as stop:
            return stop.value

    return result(gen()), result(outer())


def generators_share_a_closure():
    n = 0

    def gen():
        nonlocal n
        for _ in range(3):
            n += 1
            yield n

    a, b = gen(), gen()
    return next(a), next(b), next(a), list(b), n


def pipeline():
    def numbers():
        n = 0
        while True:
            yield n
            n += 1

    def odd(xs):
        return (x for x in xs if x % 2)

    def take(n, xs):
        for _, x in zip(range(n), xs):
            yield x

    return list(take(4, odd(numbers())))


def recursive_generator():
    def walk(tree):
        left, value, right = tree
        if left:
            yield from walk(left)
        yield value
        if right:
            yield from walk(right)

    return list(walk((((), 1, ()), 2, ((), 3, ((), 4, ())))))


def generator_in_a_try_finally():
    def gen():
        try:
            for i in range(3):
                yield i
        finally:
            print("cleanup")
            yield "last"

    return list(gen())


def generator_with_a_with_block():
    @contextlib.contextmanager
    def managed(name):
        print("enter", name)
        try:
            yield name.upper()
        except ValueError as error:
            print("suppressed", error)
        finally:
            print("exit", name)

    def gen():
        with managed("a") as a, managed("b") as b:
            yield a
            yield b

    with managed("c"):
        raise ValueError("inside")
    return list(gen())


def generator_method():
    class Tree:
        def __init__(self, *children):
            self.children = children

        def __iter__(self):
            yield self
            for child in self.children:
                yield from child

    return len(list(Tree(Tree(), Tree(Tree()))))


def arguments_in_cells():
    def gen(a, *args):
        yield lambda: (a, args)
        a = "changed"
        yield a

    g = gen(1, 2, 3)
    f = next(g)
    return f(), next(g), f()


def exception_handled_across_a_yield():
    def gen():
        try:
            raise KeyError("outer")
        except KeyError:
            yield 1
            try:
                raise
            except KeyError as error:
                yield repr(error)

    return list(gen())


def error_value_sent_to_a_fresh_generator():
    def gen():
        yield 1

    gen().send(5)


def error_generator_already_running():
    def gen():
        yield next(g)

    g = gen()
    next(g)


def error_generator_ignores_exit():
    def gen():
        try:
            yield 1
        except GeneratorExit:
            yield 2

    g = gen()
    next(g)
    g.close()


def error_yield_from_a_number():
    def gen():
        yield from 5

    list(gen())
