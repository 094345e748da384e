"""Graph and Node behave as torch.fx's: a linked list that always knows who uses what."""

import copy
import operator
from collections import namedtuple

import pytest

from minitorch_compile.fx import Graph, GraphModule, map_arg, symbolic_trace

Pair = namedtuple("Pair", "left right")


@pytest.fixture
def chain():
    """x -> add -> mul -> output."""
    graph = Graph()
    x = graph.placeholder("x")
    add = graph.call_function(operator.add, (x, 1))
    mul = graph.call_function(operator.mul, (add, add))
    output = graph.output(mul)
    return graph, x, add, mul, output


def names(graph):
    return [node.name for node in graph.nodes]


def test_nodes_come_in_the_order_in_which_they_were_made(chain):
    graph, *nodes = chain
    assert list(graph.nodes) == nodes
    assert list(reversed(graph.nodes)) == nodes[::-1]
    assert len(graph.nodes) == 4


def test_users_count_a_node_once_even_if_it_is_read_twice(chain):
    graph, x, add, mul, output = chain
    assert list(add.users) == [mul]
    assert mul.all_input_nodes == [add]
    assert mul.args == (add, add)


def test_names_are_unique_and_never_shadow_python():
    graph = Graph()
    x = graph.placeholder("x")
    made = [graph.call_function(operator.add, (x, 1)) for _ in range(3)]
    made += [graph.call_method("sum", (x,)), graph.placeholder("lambda"), graph.get_attr("layers.0.weight")]
    assert [n.name for n in made] == ["add", "add_1", "add_2", "sum_1", "lambda_1", "layers_0_weight"]


def test_a_wished_name_is_only_a_wish(chain):
    graph, x, *_ = chain
    assert graph.call_function(operator.neg, (x,), name="add").name == "add_1"


@pytest.mark.parametrize("nest", [
    lambda x: (x,),
    lambda x: [x, [x]],
    lambda x: {"key": (x, None)},
    lambda x: slice(None, x, 2),
    lambda x: Pair(x, [1]),
], ids=["tuple", "list", "dict", "slice", "namedtuple"])  # fmt: skip
def test_nodes_are_found_in_any_nesting_of_arguments(nest):
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y")
    user = graph.call_function(print, (nest(x),), {"sep": nest(x)})
    assert user.all_input_nodes == [x]
    user.replace_input_with(x, y)
    assert user.all_input_nodes == [y] and not x.users
    assert user.args == (nest(y),) and user.kwargs == {"sep": nest(y)}


def test_arguments_can_not_be_changed_behind_the_graphs_back(chain):
    graph, x, *_ = chain
    node = graph.call_function(print, ([x], {"a": [x]}))
    for change in (lambda: node.args[0].append(x), lambda: node.args[1].update(b=x), lambda: node.args[1]["a"].pop()):
        with pytest.raises(TypeError, match="object does not support mutation.*assign the copy to the node"):
            change()


def test_map_arg_gives_containers_that_can_be_changed(chain):
    _, x, *_ = chain
    mapped = map_arg(([x],), lambda n: 1)
    mapped[0].append(2)
    assert mapped == ([1, 2],)


def test_erasing_a_used_node_names_its_users(chain):
    graph, x, add, mul, output = chain
    with pytest.raises(RuntimeError, match="erase Node add but it still had 1 users in the graph: {mul: None}"):
        graph.erase_node(add)


def test_an_erased_node_is_no_longer_a_user(chain):
    graph, x, add, mul, output = chain
    graph.erase_node(output)
    graph.erase_node(mul)
    assert not add.users and names(graph) == ["x", "add"]
    graph.erase_node(mul)  # again: no effect
    assert len(graph.nodes) == 2


def test_nodes_may_be_erased_while_iterating():
    graph = Graph()
    x = graph.placeholder("x")
    for _ in range(5):
        graph.call_function(operator.neg, (x,))
    for node in graph.nodes:
        if node.op == "call_function":
            graph.erase_node(node)
    assert names(graph) == ["x"]


def test_replace_all_uses_with_changes_every_user_and_reports_them(chain):
    graph, x, add, mul, output = chain
    add.meta["stack"] = ("f.py", 1, "x + 1")
    with graph.inserting_after(add):
        sub = graph.call_function(operator.sub, (x, 1))
    assert add.replace_all_uses_with(sub, propagate_meta=True) == [mul]
    assert mul.args == (sub, sub) and not add.users
    assert sub.meta["stack"] == ("f.py", 1, "x + 1")


def test_replace_all_uses_with_can_spare_users(chain):
    graph, x, add, mul, output = chain
    neg = graph.call_function(operator.neg, (add,))
    assert add.replace_all_uses_with(neg, lambda user: user is not neg) == [mul]
    assert neg.args == (add,)


def test_setting_args_and_kwargs_updates_users(chain):
    graph, x, add, mul, output = chain
    mul.args = (x, 2)
    assert list(add.users) == [] and mul in x.users
    mul.update_arg(1, add)
    assert mul.args == (x, add) and mul in add.users
    mul.update_kwarg("out", x)
    assert mul.kwargs == {"out": x}


def test_nodes_inserted_in_a_block_keep_their_order(chain):
    graph, x, add, mul, output = chain
    with graph.inserting_before(mul):
        graph.call_method("one", (x,))
        graph.call_method("two", (x,))
    with graph.inserting_after(mul):
        graph.call_method("three", (x,))
        graph.call_method("four", (x,))
    assert names(graph) == ["x", "add", "one", "two", "mul", "three", "four", "output"]


def test_insertion_goes_on_after_the_node_at_the_insertion_point_was_erased(chain):
    graph, x, add, mul, output = chain
    with graph.inserting_before(mul):
        mul.replace_all_uses_with(add)
        graph.erase_node(mul)
        graph.call_method("new", (x,))
    assert names(graph) == ["x", "add", "new", "output"]


def test_moving_a_node(chain):
    graph, x, add, mul, output = chain
    neg = graph.call_function(operator.neg, (x,))
    add.prepend(neg)
    assert names(graph) == ["x", "neg", "add", "mul", "output"]
    mul.append(neg)
    assert names(graph) == ["x", "add", "mul", "neg", "output"]
    mul.append(neg)
    neg.prepend(neg)
    assert names(graph) == ["x", "add", "mul", "neg", "output"] and len(graph.nodes) == 5


def test_a_node_of_another_graph_is_refused(chain):
    graph, x, *_ = chain
    other = Graph().placeholder("y")
    for use in (lambda: x.prepend(other), lambda: graph.erase_node(other)):
        with pytest.raises((AssertionError, RuntimeError), match="different Graph: 'y'|remove y from wrong graph"):
            use()


@pytest.mark.parametrize("make, error, message", [
    (lambda g: g.create_node("call", "f"), AssertionError, "op 'call' is not in _legal_ops: expected one of"),
    (lambda g: g.call_function("relu"), ValueError, "target relu has type str but a Callable is expected"),
    (lambda g: g.create_node("call_method", len), ValueError, "target <built-in .* but a str is expected"),
    (lambda g: g.call_method("relu"), ValueError, "args must begin with the object"),
    (lambda g: g.output_node(), RuntimeError, "no output node"),
])  # fmt: skip
def test_bad_nodes_are_refused_with_the_reason(make, error, message):
    with pytest.raises(error, match=message):
        make(Graph())


def test_a_deep_copy_has_its_own_nodes_and_shares_the_values_in_meta(chain):
    graph, x, add, *_ = chain
    add.meta["val"] = value = object()
    duplicate = copy.deepcopy(graph)
    assert str(duplicate) == str(graph)
    twin = duplicate.find_nodes(op="call_function", target=operator.add)[0]
    assert twin is not add and twin.meta["val"] is value
    twin.meta["val"] = None
    assert add.meta["val"] is value
    duplicate.eliminate_dead_code()
    duplicate.lint()


def test_graph_copy_joins_two_graphs():
    inner = symbolic_trace(lambda a, b: a * b + 1).graph
    outer = Graph()
    x = outer.placeholder("x")
    a, b = inner.find_nodes(op="placeholder")
    result = outer.graph_copy(inner, {a: x, b: x})
    outer.output(outer.call_method("exp", (result,)))
    outer.lint()
    assert outer.compact() == "x -> ((x * x) + 1).exp()"


def test_a_copy_is_named_after_what_its_transform_has_made(chain):
    _, _, add, *_ = chain
    graph = Graph()
    with pytest.raises(KeyError):
        graph.node_copy(add, {}.__getitem__)
    copied = graph.node_copy(add, lambda node: graph.placeholder(add.name))
    assert [node.name for node in graph.nodes] == [copied.args[0].name, copied.name] == ["add", "add_1"]


def test_find_nodes_by_kind_and_target(chain):
    graph, x, add, mul, output = chain
    assert graph.find_nodes(op="call_function") == [add, mul]
    assert graph.find_nodes(op="call_function", target=operator.mul) == [mul]
    assert graph.output_node() is output


# ------------------------------------------------------------------------------------------------ dead code and lint


def test_dead_chains_go_in_one_sweep_and_arguments_stay():
    graph = symbolic_trace(lambda x, unused: ((x + 1).exp(), x * 2)[1]).graph
    assert graph.eliminate_dead_code()
    assert names(graph) == ["x", "unused", "mul", "output"]
    assert not graph.eliminate_dead_code()


def in_place_method(x):
    x.add_(1)


def in_place_function(x):
    from minitorch_compile.fx.symbolic_trace import call

    call(operator.iadd, x, 1)


def store(x):
    from minitorch_compile.fx.symbolic_trace import call

    call(operator.setitem, x, 0, 1)


def out_argument(x):
    from minitorch_compile.fx.symbolic_trace import call

    call(max, x, 1, out=x)


@pytest.mark.parametrize("program", [in_place_method, in_place_function, store, out_argument])
def test_a_write_is_never_dead(program):
    graph = symbolic_trace(program).graph
    assert not graph.eliminate_dead_code()


def test_lint_accepts_a_traced_graph():
    symbolic_trace(lambda x: x + x.sum()).graph.lint()


def broken_order(graph, x, add, mul, output):
    add.args = (mul,)


def broken_foreign(graph, x, add, mul, output):
    add.args = (Graph().placeholder("other"),)


def broken_erased(graph, x, add, mul, output):
    neg = graph.call_function(operator.neg, (x,))
    graph.erase_node(neg)
    add.args = (neg,)


def broken_names(graph, x, add, mul, output):
    mul.name = "add"


def broken_after_output(graph, x, add, mul, output):
    graph.call_function(operator.neg, (x,))


def broken_kind(graph, x, add, mul, output):
    mul.op = "call_method"


@pytest.mark.parametrize("damage, message", [
    (broken_order, "'mul' of Node 'add' was used before it has been defined"),
    (broken_foreign, "'other' of Node 'add' does not belong to this Graph"),
    (broken_erased, "'add' reads 'neg', which was erased"),
    (broken_names, "two nodes are named 'add'"),
    (broken_after_output, "'neg' stands behind the output node"),
    (broken_kind, "'mul' is a call_method, but its target is"),
])  # fmt: skip
def test_lint_names_the_broken_node(chain, damage, message):
    graph, *nodes = chain
    damage(graph, *nodes)
    with pytest.raises(RuntimeError, match=message):
        graph.lint()


def test_lint_checks_the_attributes_of_the_owning_module():
    graph = Graph()
    graph.output(graph.get_attr("weight"))
    module = GraphModule({"weight": 1}, graph)
    del module.attributes["weight"]
    with pytest.raises(RuntimeError, match="refers to the attribute 'weight', which the graph module does not have"):
        graph.lint()


# ------------------------------------------------------------------------------------------------ text


def test_the_listing_is_that_of_torch_fx():
    graph = Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y", default_value=2)
    w = graph.get_attr("w")
    add = graph.call_function(operator.add, (x, w), {"alpha": y})
    graph.output((add, [x, None]))
    assert str(graph).splitlines() == [
        "graph():",
        "    %x : [num_users=2] = placeholder[target=x]",
        "    %y : [num_users=1] = placeholder[target=y](default=2)",
        "    %w : [num_users=1] = get_attr[target=w]",
        "    %add : [num_users=1] = call_function[target=operator.add](args = (%x, %w), kwargs = {alpha: %y})",
        "    return (add, [x, None])",
    ]


def test_a_compact_line_does_not_move_reads_past_writes():
    def program(x):
        old = x.exp()
        x.add_(1)
        return old + x

    assert symbolic_trace(program).graph.compact() == "x -> exp = x.exp(); add_ = x.add_(1); add = exp + x; add"


def test_print_tabular_prints_a_row_for_each_node(chain, capsys):
    chain[0].print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"]
    assert len(lines) == 2 + 4
