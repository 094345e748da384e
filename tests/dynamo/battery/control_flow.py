"""if, while, for, break, continue, else, pass, assert, large jumps."""

# ruff: noqa: F821 (odd code is the point here)


def if_elif_else():
    found = []
    for x in range(4):
        if x == 0:
            found.append("zero")
        elif x == 1:
            found.append("one")
        elif x == 2:
            pass
        else:
            found.append("many")
    return found


def while_with_break_and_else():
    found = []
    n = 0
    while n < 10:
        n += 1
        if n == 3:
            continue
        if n == 6:
            break
        found.append(n)
    else:
        found.append("never")
    while n < 8:
        n += 1
    else:
        found.append("else")
    return found


def for_with_break_and_else():
    found = []
    for x in range(5):
        if x == 3:
            break
        found.append(x)
    else:
        found.append("never")
    for x in range(2):
        found.append(x)
    else:
        found.append("else")
    return found


def for_over_nothing():
    for x in ():
        print(x)
    else:
        return "empty"


def nested_loops():
    found = []
    for i in range(3):
        for j in range(3):
            if j > i:
                break
            if (i + j) % 2:
                continue
            found.append((i, j))
        else:
            found.append("full")
    return found


def return_from_nested_loops():
    for i in range(5):
        for j in range(5):
            while True:
                if i * j == 6:
                    return i, j
                break


def infinite_loop_left_by_break():
    n = 0
    while True:
        n += 1
        if n > 100:
            break
    return n


def loop_variable_survives():
    for i in range(3):
        pass
    return i


def for_over_a_dict_and_its_items():
    d = {"a": 1, "b": 2}
    found = [k for k in d]
    for k, v in d.items():
        found.append(k * v)
    return found


def for_target_is_an_attribute_or_item():
    class Box:
        pass

    box, xs = Box(), [0, 0]
    for box.value in range(3):
        pass
    for xs[1] in "ab":
        pass
    return box.value, xs


def assert_passes():
    x = 3
    assert x == 3
    assert x, "message"
    return "ok"


def assert_fails():
    x = 3
    assert x == 4, f"x is {x}"


def assert_fails_without_message():
    assert []


def many_locals_and_constants():
    a0, a1, a2, a3, a4, a5, a6, a7, a8, a9 = range(10)
    b0, b1, b2, b3, b4, b5, b6, b7, b8, b9 = range(10, 20)
    return a0 + b9, a9 * b0, [a1, a2, a3, a4, a5, a6, a7, a8], {b1, b2, b3, b4, b5, b6, b7, b8}


def _long_function_source():
    lines = ["def long_jumps(limit):", "    total = 0", "    n = 0", "    while n < limit:", "        n += 1"]
    for i in range(400):
        lines.append(f"        if n % {i + 2} == 0: total += {i + 1000}")
        lines.append(f"        name_{i} = total - {i + 5000}")
    lines += ["        if total < 0: continue", "        if n > 1000: break", "    else:", "        total += 1"]
    lines += ["    return total, n, name_399"]
    return "\n".join(lines)


_namespace: dict = {}
exec(_long_function_source(), _namespace)


def jumps_and_names_that_need_extended_arg():
    return _namespace["long_jumps"](7)


def for_over_a_body_that_needs_extended_arg():
    source = ["def body(xs):", "    t = 0", "    for x in xs:"]
    source += [f"        t += x * {i + 300}" for i in range(300)]
    source += ["    return t"]
    namespace = {}
    exec("\n".join(source), namespace)
    return namespace["body"]([1, 2, 3])


def unpacked_loop_targets():
    return [a + b + sum(rest) for a, (b, *rest) in [(1, (2, 3, 4)), (5, (6,))]]


def try_in_a_loop_with_continue():
    found = []
    for x in (1, 0, 2, "a"):
        try:
            found.append(10 // x)
        except ZeroDivisionError:
            continue
        except TypeError:
            break
        finally:
            found.append("f")
    return found


def deeply_nested_ifs():
    found = []
    for n in range(16):
        if n & 1:
            if n & 2:
                if n & 4:
                    if n & 8:
                        found.append("all")
                    else:
                        found.append(7)
                else:
                    found.append(n)
            else:
                found.append(-n)
    return found


def del_local_then_bind_again():
    x = 1
    del x
    x = 2
    return x


def error_unbound_local():
    if not len("abc"):
        x = 1
    return x


def error_deleted_local():
    x = 1
    del x
    return x


def error_delete_unbound():
    if not len("abc"):
        x = 1
    del x


def error_not_iterable():
    for x in 5:
        print(x)


def error_in_the_iterator():
    class Bad:
        def __iter__(self):
            return self

        def __next__(self):
            raise KeyError("bad")

    for x in Bad():
        print(x)
