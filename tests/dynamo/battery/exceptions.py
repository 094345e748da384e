"""try, except, else, finally, raise, contexts and causes, exception groups."""

# ruff: noqa: E722 (odd code is the point here)

import sys
import traceback


def _chain(error):
    """The exception, how it was made from others, as plain data."""
    if error is None:
        return None
    return (
        type(error).__name__,
        str(error),
        _chain(error.__cause__),
        _chain(error.__context__),
        error.__suppress_context__,
    )


def try_except_else_finally():
    found = []
    for divisor in (1, 0, "a"):
        try:
            found.append(1 // divisor)
        except ZeroDivisionError:
            found.append("zero")
        except TypeError as error:
            found.append(str(error))
        else:
            found.append("else")
        finally:
            found.append("finally")
    return found


def except_a_tuple_and_bare():
    found = []
    for error in (ValueError, KeyError, IndexError):
        try:
            raise error("x")
        except (ValueError, KeyError) as caught:
            found.append(type(caught).__name__)
        except:
            found.append("bare")
    return found


def except_variable_is_deleted():
    error = "outer"
    try:
        raise ValueError
    except ValueError as error:
        pass
    try:
        return error
    except UnboundLocalError:
        return "unbound"


def except_in_computed_class():
    def classes():
        print("asked")
        return (KeyError, ValueError)

    try:
        raise ValueError("v")
    except classes() as error:
        return str(error)


def nested_try():
    found = []
    try:
        try:
            raise ValueError("inner")
        except KeyError:
            found.append("wrong")
        finally:
            found.append("inner finally")
    except ValueError as error:
        found.append(str(error))
    return found


def raise_again():
    found = []
    try:
        try:
            raise ValueError("v")
        except ValueError:
            found.append("first")
            raise
    except ValueError as error:
        found.append(str(error))
    return found


def raise_from():
    try:
        try:
            1 // 0
        except ZeroDivisionError as error:
            raise ValueError("converted") from error
    except ValueError as error:
        return _chain(error)


def raise_from_none():
    try:
        try:
            1 // 0
        except ZeroDivisionError:
            raise ValueError("clean") from None
    except ValueError as error:
        return _chain(error)


def implicit_context():
    try:
        try:
            {}["key"]
        except KeyError:
            1 // 0
    except ZeroDivisionError as error:
        return _chain(error)


def context_in_finally():
    try:
        try:
            raise KeyError("first")
        finally:
            raise ValueError("second")
    except ValueError as error:
        return _chain(error)


def context_from_a_called_function():
    def fails():
        raise ValueError("inside")

    try:
        try:
            raise KeyError("handled")
        except KeyError:
            fails()
    except ValueError as error:
        return _chain(error)


def context_is_restored_after_a_handler():
    try:
        raise KeyError("first")
    except KeyError:
        pass
    try:
        raise ValueError("second")
    except ValueError as error:
        return _chain(error)


def bare_raise_in_a_called_function():
    def again():
        raise

    try:
        try:
            raise KeyError("k")
        except KeyError:
            again()
    except KeyError as error:
        return repr(error)


def finally_overrides_return():
    def f():
        try:
            return "try"
        finally:
            return "finally"

    def g():
        for i in range(3):
            try:
                continue
            finally:
                if i == 1:
                    break
        return i

    return f(), g()


def finally_swallows():
    def f():
        try:
            raise ValueError
        finally:
            return "swallowed"

    return f()


def return_in_try_runs_finally():
    found = []

    def f():
        try:
            found.append("try")
            return "value"
        finally:
            found.append("finally")

    return f(), found


def return_value_is_computed_before_finally():
    def f():
        x = 1
        try:
            return x
        finally:
            x = 2

    return f()


def break_and_continue_through_finally():
    found = []
    for i in range(4):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            found.append(i)
        finally:
            found.append(-i)
    return found


def custom_exceptions():
    class MyError(Exception):
        def __init__(self, code, message="m"):
            super().__init__(message)
            self.code = code

    class Child(MyError):
        pass

    try:
        raise Child(5)
    except MyError as error:
        return error.code, str(error), error.args, isinstance(error, Child)


def raise_class_and_instance():
    found = []
    for what in (ValueError, ValueError("i"), KeyError("k", 2)):
        try:
            raise what
        except Exception as error:
            found.append(error.args)
    return found


def current_exception():
    before = sys.exc_info()
    try:
        raise ValueError("v")
    except ValueError:
        inside = sys.exc_info()[:2]
        name = sys.exc_info()[0].__name__
    return before, name, str(inside[1]), sys.exc_info()


def exception_in_the_except_clause():
    try:
        try:
            raise KeyError("a")
        except undefined_name:
            pass
    except NameError as error:
        return _chain(error)


def exception_in_the_else_clause():
    try:
        try:
            pass
        except KeyError:
            return "wrong"
        else:
            raise KeyError("from else")
    except KeyError as error:
        return error.args


def deep_unwinding():
    def f(n):
        if n == 0:
            raise ValueError("bottom")
        try:
            f(n - 1)
        finally:
            print(n)

    try:
        f(4)
    except ValueError as error:
        return str(error)


def loops_inside_handlers():
    found = []
    for x in (1, 0):
        try:
            1 // x
        except ZeroDivisionError:
            for y in range(3):
                try:
                    [].pop()
                except IndexError:
                    found.append(y)
        found.append("next")
    return found


def notes():
    try:
        try:
            raise ValueError("v")
        except ValueError as error:
            error.add_note("a note")
            raise
    except ValueError as error:
        return error.__notes__


def groups_are_split():
    found = []
    try:
        raise ExceptionGroup("g", [ValueError(1), KeyError(2), ExceptionGroup("h", [ValueError(3), TypeError(4)])])
    except* ValueError as group:
        found.append(repr(group))
    except* (KeyError, TypeError) as group:
        found.append(repr(group))
    return found


def group_with_a_rest():
    try:
        try:
            raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
        except* ValueError:
            print("handled")
    except ExceptionGroup as rest:
        return repr(rest)


def group_handlers_raise():
    try:
        try:
            raise ExceptionGroup("g", [ValueError(1), KeyError(2), TypeError(3)])
        except* ValueError:
            raise IndexError("new")
        except* KeyError as group:
            raise group.exceptions[0]
    except ExceptionGroup as error:
        return repr(error)


def group_of_one_plain_exception():
    try:
        raise ValueError("plain")
    except* ValueError as group:
        return_later = repr(group)
    try:
        try:
            raise KeyError("other")
        except* ValueError:
            print("not here")
    except KeyError as error:
        return return_later, repr(error)


def group_handled_and_raised_again():
    try:
        try:
            raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
        except* ValueError:
            raise
    except ExceptionGroup as error:
        return repr(error)


def group_with_finally_and_else():
    found = []
    try:
        found.append("body")
    except* ValueError:
        found.append("wrong")
    else:
        found.append("else")
    finally:
        found.append("finally")
    return found


def traceback_names_the_line():
    try:
        raise ValueError("v")
    except ValueError as error:
        return type(error.__traceback__).__name__, traceback.format_exception_only(error)


def error_raise_without_exception():
    raise


def error_raise_a_number():
    raise 5


def error_raise_from_a_number():
    raise ValueError from 5


def error_catch_a_number():
    try:
        raise ValueError("v")
    except 5:
        pass


def error_catch_group_with_star():
    try:
        raise ValueError("v")
    except* ExceptionGroup:
        pass


def error_with_cause_and_context():
    try:
        raise KeyError("k")
    except KeyError as error:
        raise ValueError("v") from error


def error_unhandled_group():
    try:
        raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
    except* TypeError:
        pass


def error_stop_iteration():
    next(iter([]))


def error_system_exit():
    raise SystemExit(3)


def except_star_raises_again_what_its_clause_handles():
    def run(error):
        try:
            raise error
        except* ValueError:
            raise
        except* KeyError:
            pass

    found = []
    for error in (ExceptionGroup("g", [ValueError(1), KeyError(2)]), ValueError(3), TypeError(4)):
        try:
            run(error)
        except BaseException as raised:
            found.append(repr(raised))
    return found


def except_star_raises_one_new_exception_alone():
    def run(group):
        try:
            raise group
        except* ValueError:
            raise LookupError("new")

    found = []
    for group in (ExceptionGroup("g", [ValueError(1)]), ExceptionGroup("g", [ValueError(1), KeyError(2)])):
        try:
            run(group)
        except BaseException as raised:
            found.append(repr(raised))
    return found


def except_star_sees_what_its_clause_handles():
    seen = []
    try:
        raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
    except* ValueError:
        seen.append(repr(sys.exc_info()[1]))
    except* KeyError:
        seen.append(repr(sys.exc_info()[1]))
    return seen, sys.exc_info()


def what_no_traceback_is():
    found = []
    for value in (5, None, "text"):
        error = ValueError()
        try:
            error.__traceback__ = value
        except TypeError as refused:
            found.append(str(refused))
    return found
