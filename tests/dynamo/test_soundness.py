"""The smallest program for each mistake that the random programs found: it does the same compiled as plain.

Also what is rarely looked at: the end of objects, the chain of exceptions, who is who.
"""

import collections
import contextlib
import enum
import functools
import sys
import types
import warnings
import weakref

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import disable, graph_break, optimize
from minitorch_compile.dynamo.testing import eager
from minitorch_compile.dynamo.testing.comparing import behaviour
from tests.dynamo.compiled import assert_same, matrix

LOG: list = []


class Box:
    def __init__(self, value=0):
        self.value = value


class Dying:
    def __del__(self):
        LOG.append("gone")


class Alike:
    def __eq__(self, other):
        return isinstance(other, Alike)

    def __hash__(self):
        return 1


def numbers(x):
    try:
        while True:
            yield x
    finally:
        LOG.append("closed")


def same(function, *arguments, calls=2):
    """Plain and compiled, `calls` times with the same objects: equal results, arguments and log."""

    def seen(run):
        LOG.clear()
        made = [make() for make in arguments]
        return [behaviour(run, tuple(made), state=[list(LOG)]) for _ in range(calls)] + [list(LOG)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert seen(optimize(function, eager)) == seen(function)


# --- guards -----------------------------------------------------------------------------------------------------------


def test_an_attribute_that_is_gone_at_the_next_call():
    def f(box, x):
        del box.value
        return x + 1

    same(f, Box, matrix)


class Tables:
    """A table of the class, and one of the instance."""

    table = {}

    def __init__(self):
        self.own = {}


@pytest.mark.parametrize("table_of", [lambda known: Tables.table, lambda known: known.own])
def test_another_key_at_the_next_call(table_of):
    def f(x, known, key):
        return (x + 1 if key in table_of(known) else x - 1), table_of(known).get(key)

    def answers(run):
        keys, known = [Dying(), Box(), Box(), matrix()], Tables()
        known.own[keys[1]] = 5
        Tables.table = {keys[1]: 5}
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a version whose guards don't hold is told of
            return [behaviour(run, (matrix(), known, key)) for key in (*keys, *reversed(keys))]

    assert answers(optimize(f, eager)) == answers(f)


class Answering:
    """The class has what its instances may have themselves."""

    value = 0

    def step(self, by=1):
        return by + 1

    @functools.cached_property
    def worked_out(self):
        LOG.append("worked out")
        return 3


@pytest.mark.parametrize(
    "use",
    [
        lambda thing: "value" in thing.__dict__,
        lambda thing: thing.__dict__.get("value"),
        lambda thing: vars(thing).pop("value"),
        lambda thing: thing.step(5),
        lambda thing: thing.worked_out,
        lambda thing: delattr(thing, "worked_out"),
    ],
)
def test_an_attribute_that_only_the_class_has_at_the_next_call(use):
    def f(thing):
        LOG.append("called")
        return use(thing)

    assert _with_and_without_its_own(optimize(f, eager)) == _with_and_without_its_own(f)


def test_an_attribute_of_the_class_can_not_be_deleted_from_an_instance():
    @contextlib.contextmanager
    def noting():
        LOG.append("in")
        try:
            yield
        finally:
            LOG.append("out")

    def f(thing):
        del thing.value
        with noting():
            graph_break()

    assert _with_and_without_its_own(optimize(f, eager)) == _with_and_without_its_own(f)


def _with_and_without_its_own(run):
    LOG.clear()
    own = Answering()
    for thing in (own, Answering(), own):
        vars(own).update(value=0, step=Answering.step, worked_out=3)
        try:
            LOG.append(run(thing))
        except (AttributeError, KeyError) as error:
            LOG.append(repr(error))
        LOG.append(sorted(vars(thing)))
    return list(LOG)


class Narrow:
    __slots__ = ("value",)


def test_an_object_of_slots_has_no_dict():
    def f(box, x):
        seen = [hasattr(box, "__dict__"), getattr(box, "__dict__", 3)]
        for read in (vars, lambda box: box.__dict__):
            try:
                read(box)
            except (TypeError, AttributeError) as error:
                seen.append(str(error))
        return x + 1, seen

    same(f, Narrow, matrix)


class Colour(enum.Enum):
    RED = 1


def test_text_among_other_keys_of_a_dict_is_guarded():
    def f(colours, x):
        colours.popitem()
        colours["next"] = len(colours)
        colours[x.shape[0], len(colours)] = 1
        return x + 1, list(colours)

    def made():
        return {Colour.RED: 1, "first": 2}

    same(f, made, matrix, calls=4)


def test_a_dict_whose_last_key_is_another_text_loses_that():
    def f(colours):
        colours.popitem()

    compiled, plain = optimize(f, eager), f
    for run in (compiled, plain):
        colours = {Colour.RED: 1, "first": 2}
        run(colours)
        colours["second"] = 3
        run(colours)
        assert colours == {Colour.RED: 1}


class Member(enum.Enum):
    FIRST = 1


@pytest.mark.parametrize("read", [lambda m: m.value, lambda m: m._value_, lambda m: f"{m!r}", lambda m: m.value + 0])
def test_the_value_of_a_member_of_an_enum_is_replaced(read):
    def f(x):
        return x, read(Member.FIRST)

    compiled = optimize(f, eager)
    for value in (1, 5, 2.5, (1, 2), 1):
        Member.FIRST._value_ = value
        with contextlib.suppress(TypeError):
            assert compiled(1) == f(1)


def test_a_name_of_a_module_is_a_global_of_its_functions():
    module = types.ModuleType("module")
    exec("def read(): return scale\ndef write(value):\n    global scale\n    scale = value\n", vars(module))

    def f(x):
        seen = []
        module.scale = 5
        seen.append(module.read())
        module.write(6)
        seen.append(module.scale)
        module.scale = 7
        module.write(8)
        seen.append((module.scale, hasattr(module, "scale")))
        del module.scale
        try:
            module.read()
        except NameError as error:
            seen.append(str(error))
        return x, seen, hasattr(module, "scale")

    def g(x):
        module.scale = 1
        module.write(2)
        module.scale = x
        return module.read()

    for function in (f, g):
        assert optimize(function, eager)(3) == function(3)
        assert not hasattr(module, "scale") or module.scale == 3


class Meta(type):
    def __contains__(cls, item):
        LOG.append(item)
        return item in cls.known

    def __iter__(cls):
        yield from cls.known

    def __len__(cls):
        return len(cls.known)


class Known(metaclass=Meta):
    known = (1, 2, 3)


def test_a_class_is_asked_what_its_metaclass_answers():
    def f(x):
        return x, 1 in Known, 9 not in Known, list(Known), len(Known), bool(Known), [*Known], 2 in list(Known)

    same(f, matrix)


def test_a_class_that_can_not_be_iterated_over():
    def f(x):
        try:
            return 1 in Box
        except TypeError as error:
            return str(error)

    same(f, matrix)


@pytest.mark.parametrize("key", [lambda b: (b,), lambda b: (1, (b, "a")), lambda b: frozenset([b]), lambda b: (b, b)])
def test_a_key_made_anew_equals_one_of_the_dict(key):
    def f(table, box):
        table.setdefault(key(box), []).append(1)
        return len(table), key(box) in table, table.get(key(box)), table.get((1, box), 5), (box, 2) in table

    same(f, dict, Box, calls=3)


class Noted:
    """Of a sequence, all that the program asks; of a number, too."""

    def __init__(self, value):
        self.value = value

    def __len__(self):
        LOG.append("len")
        return self.value

    def __getitem__(self, index):
        LOG.append(index)
        return index

    def __gt__(self, other):
        LOG.append((self.value, ">", other.value))
        return self.value > other.value

    def __radd__(self, other):
        LOG.append((other, "+", self.value))
        return other + self.value


def given(make):
    for i in (3, 1, 2):
        LOG.append(("given", i))
        yield make(i)


def noting(i):
    LOG.append(("asked", i))
    return -i


def half_way():
    yield 5, 6
    yield 7, 8
    raise KeyError


@pytest.mark.parametrize(
    "fold",
    [
        lambda: min(given(int), key=noting),
        lambda: max(given(int), key=noting),
        lambda: max(given(int)) + sum(given(int), 0.5),
        lambda: max(given(Noted)).value,
        lambda: sum(given(Noted)),
        lambda: list(reversed(Noted(2))),
        lambda: [*reversed(Noted(2))],
        lambda: [x for x in reversed(Noted(2))],
        lambda: next(iter(reversed(Noted(0))), "nothing"),
        lambda: type(reversed(Noted(2))).__name__,
    ],
)
def test_what_takes_all_items_does_its_work_between_them(fold):
    def f(x):
        return x, fold()

    same(f, matrix)


@pytest.mark.parametrize(
    ("make", "fill"),
    [
        (lambda: [1], lambda kept: kept.extend(half_way())),
        (lambda: [1], lambda kept: kept.__iadd__(half_way())),
        (lambda: {1}, lambda kept: kept.update(half_way())),
        (lambda: {"a": 1}, lambda kept: kept.update(half_way())),
        (lambda: collections.deque(), lambda kept: kept.extend(half_way())),
        (lambda: collections.deque(), lambda kept: kept.extendleft(half_way())),
        (lambda: [1], lambda kept: kept.extend(len(kept) for _ in range(3))),
    ],
)
def test_what_is_filled_keeps_the_items_that_come_before_an_error(make, fill):
    def f(x, outside):
        inside = make()
        for kept in (outside, inside):
            try:
                fill(kept)
            except KeyError:
                LOG.append("error")
        return x, inside

    same(f, matrix, make)


@pytest.mark.parametrize("gradient", [lambda x: x, lambda x: x[0], lambda x: x.double(), lambda x: 5, lambda x: x + 1])
def test_what_can_not_be_a_gradient_is_refused_where_it_is_stored(gradient):
    def f(x):
        try:
            x.grad = gradient(x)
        except (RuntimeError, TypeError) as error:
            LOG.append(str(error))
        LOG.append("behind it")
        return len(LOG)

    same(f, matrix)


# --- variables that inner functions share ---------------------------------------------------------------------------


def deletes_before_a_break(x):
    value = 1

    def inner():
        return value  # noqa: F821

    del value
    graph_break()
    return value + inner()  # noqa: F821


def reads_in_the_inner_function(x):
    value = 1

    def inner():
        return value  # noqa: F821

    del value
    graph_break()
    return inner()


def deletes_twice(x):
    value = 1

    def inner():
        return value  # noqa: F821

    graph_break()
    del value
    del value  # noqa: F821


def a_generator_waits(x):
    value = 1

    def inner():
        yield 1
        return value  # noqa: F821

    generator = inner()
    next(generator)
    del value
    graph_break()
    return next(generator)


@pytest.mark.parametrize(
    "function", [deletes_before_a_break, reads_in_the_inner_function, deletes_twice, a_generator_waits]
)
def test_a_deleted_variable_that_an_inner_function_shares(function):
    with pytest.raises(NameError) as plainly:
        function(1)
    with pytest.raises(NameError) as found:
        optimize(function, eager)(1)
    assert (type(found.value), str(found.value)) == (type(plainly.value), str(plainly.value))


def test_a_variable_of_an_outer_function_that_comes_and_goes():
    def outer():
        def f(x):
            try:
                return x + value
            except NameError as error:
                return str(error)

        yield f
        value = 1
        yield
        value = 2
        yield
        del value
        yield

    for _ in range(2):
        world = outer()
        f = next(world)
        compiled = optimize(f, eager)
        for _ in range(4):
            assert compiled(3) == f(3)
            next(world, None)


# --- the end of objects -----------------------------------------------------------------------------------------------


def test_an_object_with_a_finalizer_ends_when_the_plain_function_ends_it():
    def f(x):
        Dying()
        LOG.append(len(LOG))
        return x + len(LOG)

    same(f, matrix)


@pytest.mark.parametrize("change", [lambda l: l.pop(), lambda l: l.clear(), lambda l: l.__setitem__(0, 1)])
def test_an_object_with_a_finalizer_is_taken_out_of_a_list(change):
    def f(x, items):
        change(items)
        LOG.append("changed")
        return x + len(LOG)

    same(f, matrix, lambda: [Dying()], calls=1)


def test_a_weak_reference_to_a_local_object():
    def f(x):
        box = Box()
        reference = weakref.ref(box)
        del box
        return reference() is None, x + 1

    same(f, matrix)


def test_a_generator_left_in_a_try_block_is_closed_at_once():
    def f(x):
        for _ in numbers(x):
            break
        LOG.append("behind the loop")
        return x + len(LOG)

    same(f, matrix)


def test_a_generator_in_a_try_block_does_not_outlive_the_break_in_its_loop():
    def f(x):
        for _ in numbers(x):
            try:
                len()
            except TypeError:
                graph_break()
                raise KeyError

    same(f, matrix)


def test_a_generator_that_goes_behind_a_break():
    def f(x):
        generator = numbers(x)
        next(generator)
        graph_break()
        del generator
        LOG.append("behind it")
        return x + 1

    same(f, matrix)


def test_a_break_inside_of_a_context_that_a_generator_makes_still_splits_the_function():
    @contextlib.contextmanager
    def noted():
        try:
            yield
        finally:
            LOG.append("left")

    def f(x):
        with noted():
            x = x + 1
            graph_break()
            x = x * 2
        return x

    assert_same(f, graphs=2, breaks=2)


@disable
def _aside(*values):
    return 1


def _handed_over(box):
    _aside(box.value)
    _let_go(box)


def _in_a_container(box):
    _aside([box.value])
    _let_go(box)


def _read_in_vain(box):
    getattr(box, "value", None)
    _aside()
    _let_go(box)


def _kept_by_a_variable(box):
    kept = box.value
    _aside()
    _let_go(box)


def _kept_by_a_list(box):
    kept = [box.value]
    _aside()
    _let_go(box)


def _let_go(box):
    box.value = None
    LOG.append("end")


@pytest.mark.parametrize(
    "function", [_handed_over, _in_a_container, _read_in_vain, _kept_by_a_variable, _kept_by_a_list]
)
def test_a_function_that_breaks_holds_what_the_plain_function_holds(function):
    def calls(run):
        LOG.clear()
        for _ in range(2):
            run(Box(Dying()))
        return list(LOG)

    assert calls(optimize(function, eager)) == calls(function)


def test_a_function_that_runs_as_it_is_holds_nothing_that_its_guards_read():
    def f(box):
        getattr(box, "other", None)
        box.other = Dying()
        LOG.append("stored")
        return len(LOG)

    same(f, Box, calls=3)


# --- exceptions -------------------------------------------------------------------------------------------------------


def test_an_exception_that_lives_on_has_its_cause_context_and_traceback():
    def f(x, kept):
        try:
            try:
                raise KeyError(1)
            except KeyError as error:
                raise ValueError(x) from error
        except ValueError as error:
            kept.append(error)
        return kept[0].__traceback__ is not None, x + 1

    same(f, matrix, list, calls=1)


def test_a_list_inside_itself_that_can_not_be_sorted():
    def f(items):
        items.append(items)
        try:
            items.sort()
        except RuntimeError:
            return "too deep"

    same(f, lambda: [matrix()], calls=1)


def test_what_the_program_handles_keeps_its_traceback_where_a_trace_starts_again():
    def f(x):
        graph_break()
        return x + 1

    def handled(run):
        try:
            raise ValueError
        except ValueError as error:
            run(matrix())
            return error.__traceback__ is not None

    assert handled(optimize(f, eager))


def test_the_context_of_an_exception_that_an_operation_raises():
    def f(x):
        try:
            try:
                raise KeyError
            except KeyError:
                1 // 0
        except ZeroDivisionError as error:
            return type(error.__context__).__name__, x + 1

    assert_same(f)


def test_what_is_being_handled_is_known_only_inside_the_handler():
    def f(x):
        try:
            raise ValueError
        except ValueError:
            inside = sys.exc_info()[0]
        return inside, sys.exc_info(), x + 1

    same(f, matrix)


def test_an_exception_escapes_after_half_of_the_side_effects():
    def f(x, items):
        items.append(x * 2)
        graph_break()
        items.append(x.add_(1))
        raise ValueError(items)

    same(f, matrix, list)


# --- who is who -------------------------------------------------------------------------------------------------------


def test_equal_tuples_of_constants_may_be_one_object():
    def f(x):
        first, second = (1, 2), (1, 2)
        return first is second, x + 1

    same(f, matrix)


def test_equal_objects_are_distinct_all_the_same():
    def f(x, items, table):
        items.remove(Alike())
        table[Alike()] = x
        return items.index(Alike()), table

    same(f, matrix, lambda: [Alike(), Alike()], lambda: {Alike(): 1}, calls=1)


def test_the_dict_of_an_object_is_one_object():
    def f(box, x):
        box.__dict__["extra"] = x
        return vars(box) is box.__dict__, vars(box)["extra"] + 1

    same(f, Box, matrix)


def test_an_exhausted_iterator_stays_so():
    def f(x, items):
        iterator = iter(items)
        items.extend(list(iterator))
        return iterator, x + 1

    same(f, matrix, lambda: [1])


def test_an_attribute_deleted_and_stored_again_comes_last():
    def f(box, x):
        box.first, box.second = 1, 2
        del box.value, box.first
        box.value = x + 1
        box.first = 3
        return list(vars(box)), x * 2

    same(f, Box, matrix, calls=1)


def test_next_of_what_is_no_iterator():
    def f(x, items):
        try:
            next(items)
        except TypeError as error:
            return str(error), x + 1

    same(f, matrix, list)


# --- generated code ---------------------------------------------------------------------------------------------------


def calls_none(x):
    nothing = None
    return nothing()


def indexes_a_number(x):
    five = 5
    return five[0]


def calls_text(x):
    word = "a"
    return x + 1, word()


@pytest.mark.parametrize("wrong", [calls_none, indexes_a_number, calls_text])
def test_python_does_not_warn_of_the_generated_code(wrong):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError):
            optimize(wrong, eager)(torch.ones(2))


def test_an_object_with_a_name_that_generated_code_uses():
    def function(x):
        return x + 1

    def f(x, log):
        for wrong in (lambda: setattr(type(function), "kind", "bag"), lambda: plain(x), lambda: error.kind):
            try:
                wrong()
            except (TypeError, NameError, AttributeError) as caught:
                log.append(str(caught))
        return x + 1, type(function), plain, error

    same(f, matrix, list)


class plain:
    pass


class error:
    pass


def test_the_text_of_an_error_names_sizes_not_symbols():
    def f(x):
        try:
            x.view(77)
        except RuntimeError as caught:
            return str(caught), x + 1

    compiled = optimize(f, eager)
    for rows in (2, 3, 5, 7):
        assert compiled(matrix(rows))[0] == f(matrix(rows))[0]


@pytest.mark.parametrize("view", [iter, lambda d: iter(d.items()), lambda d: iter(d.values())])
def test_an_iterator_over_a_dict_that_was_changed_just_before(view):
    def f(x, options):
        options.pop("a")
        return view(options), x + 1

    (rest, _) = optimize(f, eager)(torch.ones(1), options := {"a": 1, "b": 2, "c": 3})
    assert list(rest) == list(view(options))


def test_a_view_whose_base_was_overwritten_with_a_history_has_one_too():
    def f(view):
        return view * 2

    compiled = optimize(f, eager)
    base = torch.ones(3, 2)
    view = base[1:]
    assert not compiled(view).requires_grad
    base.add_(torch.ones(3, 2, requires_grad=True))  # the view learns of it when it is next used
    assert compiled(view).requires_grad
    assert compiled(view).requires_grad  # and when it knows
    assert not compiled(torch.ones(2, 2)).requires_grad


@pytest.mark.parametrize("tracked_first", [False, True])
def test_a_write_to_a_view_whose_base_requires_grad_by_now_is_refused_after_what_comes_before_it(tracked_first):
    def f(view, log):
        log.append("before")
        view.view(-1).add_(1)

    def calls(run):
        log = []
        for tracked in (tracked_first, not tracked_first, tracked_first):
            base = torch.ones(2, 2)
            view = base[:, :]
            base.requires_grad_(tracked)
            with pytest.raises(RuntimeError, match="view") if tracked else contextlib.nullcontext():
                run(view, log)
            log.append(view.tolist())
        return log

    assert calls(optimize(f, eager)) == calls(f)


@pytest.mark.parametrize("inference_first", [False, True])
def test_a_write_to_an_inference_tensor_is_refused_after_what_comes_before_it(inference_first):
    def f(x, log):
        log.append("before")
        x.add_(1)

    def calls(run):
        log = []
        for inference in (inference_first, not inference_first, inference_first):
            with torch.inference_mode(inference):
                x = torch.ones(2)
            with pytest.raises(RuntimeError, match="Inplace update") if inference else contextlib.nullcontext():
                run(x, log)
            log.append(x.tolist())
        return log

    assert calls(optimize(f, eager)) == calls(f)


@pytest.mark.parametrize("through_a_variable", [False, True])
def test_an_error_of_a_method_that_waited_for_a_broken_argument_names_what_python_names(through_a_variable):
    def called(x):
        {1}.update(a=x.sum().item())

    def kept_first(x):
        update = {1}.update
        update(a=x.sum().item())

    f = kept_first if through_a_variable else called
    with pytest.raises(TypeError) as plain:
        f(matrix())
    with pytest.raises(TypeError) as compiled:
        optimize(f, eager)(matrix())
    assert str(compiled.value) == str(plain.value)
