"""Assignments: multiple targets, unpacking, stars, swaps, deletion."""

# ruff: noqa: F842, F722 (odd code is the point here)


def pairs_and_swaps():
    a, b = 1, 2
    a, b = b, a
    c, d, e = "xyz"
    c, d, e = e, c, d
    return a, b, c, d, e


def four_way_rotation():
    a, b, c, d = 1, 2, 3, 4
    a, b, c, d = d, a, b, c
    return a, b, c, d


def stars():
    a, *b = [1, 2, 3]
    *c, d = "xyz"
    e, *f, g = range(6)
    h, *i, j = (1, 2)
    return a, b, c, d, e, f, g, h, i, j


def nested():
    a, (b, [c, *d]), e = 1, (2, [3, 4, 5]), 6
    return a, b, c, d, e


def chained_assignment():
    a = b = c = []
    a.append(1)
    x, y = z = (3, 4)
    return a is b is c, x, y, z


def assignment_to_everything():
    class Box:
        pass

    box, xs = Box(), [0, 0, 0]
    box.a, xs[0], (box.b, *xs[1:]) = 1, 2, (3, 4, 5)
    return box.a, box.b, xs


def order_of_targets():
    xs = [0, 1, 2]
    i = 0
    i, xs[i] = 2, "set"
    return i, xs


def unpack_an_iterator():
    a, b = iter([1, 2])
    c, *d = (x for x in range(3))
    e, f = {"k1": 1, "k2": 2}
    return a, b, c, d, e, f


def unpack_nothing():
    [] = ()
    () = []
    return "fine"


def annotated_assignment():
    x: int = 3
    y: "never evaluated"
    z: list = [x]
    return x, z


def deletion_of_everything():
    class Box:
        pass

    box, xs, d, n = Box(), [1, 2, 3], {"a": 1}, 5
    box.a = 1
    del box.a, xs[0], d["a"], n
    return xs, d, hasattr(box, "a")


def augmented_order():
    def log(x):
        print(x)
        return x

    xs = [1, 2]
    xs[log(0)] += log(5)
    return xs


def error_too_few():
    a, b, c = 1, 2
    return a


def error_too_many():
    a, b = [1, 2, 3]
    return a


def error_star_too_few():
    a, *b, c = [1]
    return a


def error_not_iterable():
    a, b = 5
    return a


def error_delete_attribute():
    class C:
        pass

    del C().missing
