"""with statements: entering, leaving, suppression, nesting, errors in the managers themselves."""

import contextlib


class _Manager:
    def __init__(self, name, suppress=False):
        self.name = name
        self.suppress = suppress

    def __enter__(self):
        print("enter", self.name)
        return self.name

    def __exit__(self, kind, error, trace):
        print("exit", self.name, kind.__name__ if kind else None, error, trace is None)
        return self.suppress


def plain():
    with _Manager("a") as a:
        print("body", a)
    return a


def without_target():
    with _Manager("a"):
        return "returned from inside"


def several_managers():
    with _Manager("a") as a, _Manager("b") as b:
        return a + b


def nested_with():
    with _Manager("a"):
        with _Manager("b"):
            with _Manager("c"):
                print("deep")
        print("after c")


def suppressed_error():
    with _Manager("a", suppress=True):
        raise ValueError("gone")
    return "after"


def suppressed_by_the_outer_one():
    with _Manager("outer", suppress=True):
        with _Manager("inner"):
            1 // 0
        print("not reached")
    return "after"


def leaving_by_break_and_continue():
    for i in range(4):
        with _Manager(i):
            if i == 1:
                continue
            if i == 2:
                break
            print("body", i)
    return i


def with_in_a_try():
    try:
        with _Manager("a"):
            raise KeyError("k")
    except KeyError as error:
        return repr(error)
    finally:
        print("finally")


def try_in_a_with():
    with _Manager("a"):
        try:
            raise KeyError("k")
        except KeyError:
            print("handled")
        finally:
            print("finally")
    return "done"


def target_is_unpacked():
    @contextlib.contextmanager
    def pair():
        yield 1, [2, 3]

    with pair() as (a, [b, c]):
        return a, b, c


def suppress_of_the_library():
    with contextlib.suppress(ZeroDivisionError, KeyError):
        1 // 0
    with contextlib.suppress(KeyError):
        print("no error")
    return "after"


def exit_stack():
    with contextlib.ExitStack() as stack:
        names = [stack.enter_context(_Manager(i)) for i in range(3)]
        stack.callback(print, "callback")
    return names


def context_manager_as_decorator():
    @contextlib.contextmanager
    def tag():
        print("<")
        yield
        print(">")

    @tag()
    def f(x):
        print(x)
        return x + 1

    return f(1)


def loop_around_with_around_loop():
    total = 0
    for i in range(2):
        with _Manager(i):
            for j in range(3):
                total += i * j
    return total


def exit_sees_the_error():
    class Recorder:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, trace):
            self.seen = kind.__name__, error.args, trace is not None
            return True

    with Recorder() as r:
        [][1]
    return r.seen


def truth_of_the_exit_result_is_asked():
    class Odd:
        def __bool__(self):
            print("asked")
            return True

    class M:
        def __enter__(self):
            return None

        def __exit__(self, *args):
            return Odd()

    with M():
        raise ValueError
    return "suppressed"


def error_not_a_manager():
    with 5:
        pass


def error_no_exit():
    class Half:
        def __enter__(self):
            return self

    with Half():
        pass


def error_in_enter():
    class M:
        def __enter__(self):
            raise ValueError("enter")

        def __exit__(self, *args):
            print("not called")

    with M():
        pass


def error_in_exit():
    class M:
        def __enter__(self):
            return self

        def __exit__(self, *args):
            raise ValueError("exit")

    with M():
        raise KeyError("body")


def error_not_suppressed():
    with _Manager("a"):
        raise KeyError("body")
