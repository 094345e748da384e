"""Cells: closures, nonlocal, late binding, cells of arguments, deletion, comprehensions that share names with cells."""

# ruff: noqa: F821 (odd code is the point here)

_counter = 0


def counter():
    def make():
        n = 0

        def step(by=1):
            nonlocal n
            n += by
            return n

        return step

    a, b = make(), make()
    return a(), a(5), b(), a()


def late_binding():
    fs = [lambda: i for i in range(3)]
    return [f() for f in fs]


def early_binding_by_default():
    return [f() for f in [lambda i=i: i for i in range(3)]]


def argument_is_a_cell():
    def f(x, *args, k, **kw):
        def g():
            nonlocal x
            x += len(args) + k
            return x, kw

        return g(), g(), x

    return f(1, 2, 3, k=10, z=0)


def three_levels():
    x = "outer"

    def middle():
        y = "middle"

        def inner():
            nonlocal y
            y += "!"
            return x + y

        return inner(), y

    return middle()


def shared_cell():
    value = []

    def put(x):
        nonlocal value
        value = [*value, x]

    def get():
        return value

    put(1)
    put(2)
    return get(), value


def cell_before_assignment():
    def get():
        return x

    try:
        get()
    except NameError as error:
        message = str(error)
    x = 5
    return message, get()


def deleted_cell():
    x = 1

    def get():
        return x

    first = get()
    del x
    try:
        get()
    except NameError as error:
        return first, str(error)


def deleted_cell_in_its_own_function():
    x = 1

    def drop():
        nonlocal x
        del x

    drop()
    try:
        return x
    except UnboundLocalError as error:
        return type(error).__name__, str(error)


def global_statement():
    global _counter
    _counter = 10

    def bump():
        global _counter
        _counter += 1
        return _counter

    return bump(), bump(), _counter


def global_deleted():
    global _temporary
    _temporary = 1
    del _temporary
    try:
        return _temporary
    except NameError as error:
        return str(error)


def closure_over_a_loop_variable_with_break():
    found = []
    for i in range(5):
        found.append(lambda: i)
        if i == 2:
            break
    return [f() for f in found]


def comprehension_uses_an_outer_cell():
    n = 10

    def inner():
        return [n + i for i in range(3)]

    return inner(), [n * i for i in range(3)]


def comprehension_variable_shadows_a_cell():
    x = "outer"
    get = lambda: x
    ys = [x for x in range(3)]
    return ys, x, get()


def comprehension_makes_cells_of_a_shadowed_local():
    x = "outer"
    fs = [lambda: x for x in range(3)]
    return x, [f() for f in fs]


def comprehension_makes_cells_of_a_shadowed_argument():
    def f(x, ys):
        fs = [lambda: x * 10 for x in ys]
        return x, [g() for g in fs]

    return f("arg", (1, 2))


def comprehension_with_an_unbound_outer_name():
    ys = [x for x in range(3)]
    try:
        return x
    except NameError as error:
        return ys, str(error)


def recursive_closure():
    def make(n):
        if n == 0:
            return lambda: ()
        rest = make(n - 1)
        return lambda: (n, *rest())

    return make(4)()


def closure_attributes():
    x, y = 1, [2]

    def f():
        return x, y

    return [cell.cell_contents for cell in f.__closure__], f.__code__.co_freevars


def names_of_the_frame():
    a = 1
    b = 2

    def f():
        return b

    seen = dict(locals())
    return sorted(seen), f()


def nonlocal_through_two_levels():
    x = 0

    def one():
        def two():
            nonlocal x
            x += 1
            return x

        return two() + two()

    return one(), x


def error_free_variable():
    def outer():
        def get():
            return missing_one

        get()
        missing_one = 1

    outer()


def error_global():
    return a_global_that_is_missing
