"""List, set, dict comprehensions and generator expressions, displays with stars."""


def list_comprehension():
    return [x * 2 for x in range(5) if x % 2 if x > 1]


def nested_comprehension():
    return [[i * j for j in range(3)] for i in range(3)], [(i, j) for i in range(3) for j in range(i)]


def set_and_dict_comprehension():
    return {x % 3 for x in range(7)}, {k: v for v, k in enumerate("abc")}


def dict_comprehension_with_condition():
    return {k: v for k, v in {"a": 1, "b": 2, "c": 3}.items() if v != 2}


def generator_expressions():
    g = (x * x for x in range(4))
    return sum(g), list(g), max(len(s) for s in ("a", "bbb")), tuple(x for x in "ab")


def generator_expression_is_lazy():
    def log(x):
        print(x)
        return x

    g = (log(x) for x in range(3))
    print("made")
    return next(g), next(g)


def comprehension_over_a_comprehension():
    return [y for y in [x + 1 for x in range(3)]], {a: [b for b in range(a)] for a in range(3)}


def comprehension_with_walrus():
    found = [last := x for x in range(4)]
    return found, last


def comprehension_with_unpacking():
    return [a + b for a, b in [(1, 2), (3, 4)]], [h for h, *_ in ["abc", "de"]]


def comprehension_condition_chain():
    return [x for x in range(20) if 3 < x < 9 and x != 5 or x == 15]


def error_in_a_comprehension():
    x = "kept"
    try:
        [1 // x for x in (1, 0)]
    except ZeroDivisionError:
        return x


def error_in_a_nested_comprehension_leaves_names_alone():
    i = "i"
    j = "j"
    try:
        [[1 // (i - j) for j in range(3)] for i in range(3)]
    except ZeroDivisionError:
        return i, j


def comprehension_in_a_class_body():
    class C:
        base = 3
        squares = [x * x for x in range(base)]
        functions = [lambda: x for x in (1, 2)]

    return C.squares, [f() for f in C.functions], "x" in vars(C)


def comprehension_with_break_like_stop():
    def gen():
        yield from (x for x in range(10))

    return [x for x, _ in zip(gen(), "abc")]


def displays_with_stars():
    xs, d = [1, 2], {"a": 1}
    return [0, *xs, 3, *"ab"], (*xs, 9), {*xs, 2, 5}, {**d, "b": 2, **{"a": 7}}, [*[], *()]


def long_displays():
    return [1, 2, 3, 4, 5, 6], (1, 2, 3), {1, 2, 3, 4}, {"a": 1, "b": 2, "c": 3}, {}, [], ()


def dict_display_with_computed_keys():
    k = "key"
    return {k: 1, k + "2": 2, 3: {k: k}}


def const_key_map():
    x, y = 1, 2
    return {"a": x, "b": y, "c": x + y}


def conditional_inside_a_display():
    n = 3
    return [1, 2 if n > 2 else 3, *([4] if n else [])]


def error_star_of_a_number():
    return [*5]


def error_double_star_of_a_list():
    return {**[1]}


def error_set_of_lists():
    return {[], 1}


def a_variable_named_like_one_of_an_outer_function():
    def outer(x, text):
        def inner():
            before = x
            lists = [x for x in (x, x)], [lambda: text for text in text]
            return before, lists[0], [f() for f in lists[1]]

        return inner()

    return outer(3, "ab")
