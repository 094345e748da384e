"""What the program does to the world outside is done: to lists, objects, globals, closures, tensors; and aliases stay
aliases."""

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.testing import eager
from tests.dynamo.compiled import assert_same, entry_count, matrix

COUNTER = 0
TABLE: dict = {}


class Box:
    kind = "box"

    def __init__(self, value=0):
        self.value = value
        self.log = []


def test_list_methods_in_order():
    def f(x, items):
        items.append(x + 1)
        items.insert(0, items.pop(1))
        items += [5]
        items.extend(v * 2 for v in (1, 2))
        items.reverse()
        items[0] = 7
        items[1:2] = [7, 8]
        items.remove(7)
        items[0] = x
        del items[-1]
        return items

    assert_same(f, lambda: (matrix(), [1, 2, 3]))


def test_dict_methods_in_order():
    def f(x, d):
        d["new"] = x * 2
        d["n"] += 1
        d.setdefault("list", []).append(x)
        d.pop("old")
        d.update(a=1, b=2)
        d["old"] = d.pop("n")
        return list(d), d.get("nothing"), "a" in d

    assert_same(f, lambda: (matrix(), {"n": 1, "old": 2}))


def test_set_methods():
    assert_same(lambda x, s: (s.add(3), s.discard(1), s.update([8, 9]), x + len(s)), lambda: (matrix(), {1, 2}))


def test_attributes_set_deleted_and_read_back():
    def f(x, box):
        box.value += 1
        box.extra = x * box.value
        box.log.append(box.extra)
        setattr(box, "other", box.log)
        del box.value
        return hasattr(box, "value"), box.extra

    assert_same(f, lambda: (matrix(), Box()))


def test_properties_and_setattr_of_the_class_are_followed():
    class Checked:
        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)
            object.__setattr__(self, "writes", getattr(self, "writes", 0) + 1)

        @property
        def twice(self):
            return self.half * 4

        @twice.setter
        def twice(self, value):
            self.half = value / 4

    def f(x, c):
        c.twice = 8
        c.plain = x
        return x * c.twice + c.writes

    assert_same(f, lambda: (matrix(), Checked()))


def test_class_attributes():
    class Local:
        count = 0

    def f(x):
        Local.count += 1
        return x * Local().count

    start = Local.count
    compiled = optimize(f, eager)
    assert compiled(matrix())[0, 1] * 1 == f(matrix())[0, 1] / 2
    assert Local.count == start + 2


def test_globals_are_stored_and_read_back():
    def f(x):
        global COUNTER
        COUNTER = COUNTER + 1
        TABLE["last"] = x * COUNTER
        return TABLE["last"] + COUNTER

    compiled = optimize(f, eager)
    for expected in (1, 2, 3):
        result = compiled(matrix())
        assert COUNTER == expected
        assert TABLE["last"] is not result and (result == matrix() * expected + expected).all()


def test_variables_of_an_outer_function():
    def make():
        total = 0

        def f(x):
            nonlocal total
            total += x.shape[0]
            return x * total

        return f, lambda: total

    f, total = make()
    compiled = optimize(f, eager)
    compiled(matrix())
    assert (compiled(matrix()) == matrix() * 4).all() and total() == 4


def test_a_list_that_only_grows_is_compiled_once():
    history = []
    compiled = optimize(lambda x: history.append(x.sum()), eager)
    for _ in range(5):
        compiled(matrix())
    assert [h.item() for h in history] == [matrix().sum().item()] * 5
    from minitorch_compile.dynamo import region_of

    assert entry_count(region_of(compiled)) == 1


def test_a_counter_on_an_object_is_compiled_once():
    def f(x, box):
        box.value += 1
        return x + 1 if box.value < 100 else x

    from minitorch_compile.dynamo import region_of

    box, compiled = Box(), optimize(f, eager)
    for _ in range(5):
        compiled(matrix(), box)
    assert box.value == 5 and entry_count(region_of(compiled)) == 1


def test_what_was_one_object_is_one_object_again():
    def f(x, box):
        shared = [x + 1]
        box.first, box.second = shared, shared
        pair = (shared, box)
        return pair, pair, box.log, x, [x, shared[0]]

    assert_same(f, lambda: (matrix(), Box()))


def test_an_argument_comes_back_as_the_same_object():
    compiled = optimize(lambda x, items: (x, items, x.add_(1)), eager)
    x, items = matrix(), [1]
    a, b, c = compiled(x, items)
    assert a is x and b is items and c is x


@pytest.mark.parametrize("same", [True, False])
def test_two_arguments_that_are_the_same_list(same):
    def arguments():
        first = [1]
        return first, first if same else [1]

    assert_same(lambda a, b: (a.append(2), len(b), a is b), arguments, graphs=0)


def test_compiled_for_two_objects_then_called_with_one():
    def f(a, b):
        a.value = 3
        return b.value

    compiled = optimize(f, eager)
    box = Box()
    assert compiled(Box(), Box()) == 0
    assert compiled(box, box) == 3
    assert compiled(Box(), Box()) == 0


def test_tensors_written_in_place():
    def f(x, y):
        x.add_(1)
        x[0] = 5
        x *= 2
        row = x[1]
        row -= y[0]
        return x.sum(), row

    assert_same(f, lambda: (matrix(), matrix()))


def test_compiled_for_two_tensors_then_called_with_one():
    def f(x, y):
        x.add_(1)
        return y * 2

    compiled = optimize(f, eager)
    assert (compiled(matrix(), matrix()) == matrix() * 2).all()
    x = matrix()
    assert (compiled(x, x) == (matrix() + 1) * 2).all()
    x = matrix()
    assert (compiled(x, x.view(3, 2)) == (matrix() + 1).view(3, 2) * 2).all()


@pytest.mark.parametrize(
    "alias", [lambda x: x.data, lambda x: x.detach(), lambda x: x.imag], ids=["data", "detach", "imag"]
)
def test_a_write_is_seen_through_every_tensor_with_that_memory(alias):
    def program(x, y):
        x.mul_(2)
        return y + 1

    expected, actual = torch.tensor([1 + 2j]), torch.tensor([1 + 2j])
    compiled = optimize(program, eager)
    compiled(torch.tensor([1 + 2j]), torch.tensor([1 + 2j]))  # a graph for separate ones
    assert compiled(actual, alias(actual)).tolist() == program(expected, alias(expected)).tolist()


def test_a_write_beside_two_inputs_that_share_memory():
    def f(x, view, z):
        z.add_(1)
        return x + view + z

    def arguments():
        x = matrix()
        return x, x.view(2, 3), matrix()

    assert_same(f, arguments)
    x = matrix()
    compiled = optimize(f, eager)
    compiled(*arguments())
    assert (compiled(x, matrix(), x) == (matrix() + 1) * 2 + matrix()).all()


def test_gradients_and_marks_on_tensors():
    def f(x):
        x.mark = "seen"
        x.grad = None
        return x.mark, x * 2

    def arguments():
        x = matrix().requires_grad_()
        x.grad = torch.ones(2, 3)
        return (x,)

    assert_same(f, arguments)


def test_objects_made_inside_refer_to_each_other():
    class Node:
        def __init__(self, value, parent=None):
            self.value, self.parent, self.children = value, parent, []
            if parent is not None:
                parent.children.append(self)

    def f(x):
        root = Node(x)
        leaf = Node(x + 1, root)
        return leaf.parent.children[0] is leaf, leaf

    assert_same(f)


def test_an_exception_leaves_the_same_state_as_plainly():
    def f(x, items):
        items.append(1)
        if x.shape[0] == 2:
            raise ValueError("two rows")
        return x

    assert_same(f, lambda: (matrix(), []), graphs=0)


def test_an_exception_of_the_running_graph_leaves_the_same_state_as_plainly():
    def f(x, index, items):
        items.append("before")
        y = x[index]
        items.append("after")
        return y

    assert_same(f, lambda: (matrix(), torch.tensor([7]), []))


class Clamped:
    """A data descriptor that keeps its value under its own name in the instance's dictionary."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner):
        return instance.__dict__[self.name]

    def __set__(self, instance, value):
        instance.__dict__[self.name] = value * 2


def test_an_attribute_below_a_descriptor_is_stored_past_it():
    class Dial:
        level = Clamped()

    def turn(dial, x):
        dial.level = x
        return dial.level + 1

    assert_same(turn, lambda: (Dial(), matrix()))


def test_the_builtin_method_behind_an_overridden_one_is_the_one_that_a_break_calls():
    class Failure(ValueError):
        def __init__(self, message):
            super().__init__(message)
            self.message = message

    failure = Failure("first")
    optimize(Failure.__init__, eager)(failure, "second")
    assert failure.args == ("second",) and failure.message == "second"
