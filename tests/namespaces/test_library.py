"""torch.library: a program's own ops, eagerly, under autograd and vmap, and as one node of compiled graphs.

What is asserted of messages, schemas and results was recorded from PyTorch 2.13.
"""

import pickle
from collections.abc import Sequence

import pytest

import minitorch_compile as torch
from minitorch_compile import Tensor
from minitorch_compile.library import custom_op, infer_schema, opcheck
from minitorch_compile.prims.decomposition_table import register_decomposition


@custom_op("tests::scale", mutates_args=())
def scale(x: Tensor, k: float = 2.0, n: int | None = None) -> Tensor:
    return x.clone() * k


@scale.register_fake
def _(x, k=2.0, n=None):
    return torch.empty_like(x)


scale.register_autograd(
    lambda ctx, grad: (grad * ctx.k, None, None),
    setup_context=lambda ctx, inputs, output: setattr(ctx, "k", inputs[1]),
)


@custom_op("tests::add_to", mutates_args={"x"})
def add_to(x: Tensor, y: Tensor) -> None:
    x.add_(y)


@custom_op("tests::weighted", mutates_args=())
def weighted(xs: list[Tensor], *, a: float = 1.0) -> tuple[Tensor, Tensor]:
    return sum(xs) * a, xs[0].clone()


@weighted.register_fake
def _(xs, *, a=1.0):
    return torch.empty_like(xs[0]), torch.empty_like(xs[0])


weighted.register_autograd(lambda ctx, grad, other: [grad * (i + 1) for i in range(2)])


def graphs_of(f, *args):
    """The graphs that dynamo gives to a backend, as text."""
    seen = []

    def backend(gm, inputs):
        seen.append(gm.graph.compact())
        return gm

    torch.compile(f, backend=backend, fullgraph=True)(*args)
    return seen


def test_the_schema_is_read_off_the_annotations():
    assert str(scale._schema) == "tests::scale(Tensor x, float k=2., SymInt? n=None) -> Tensor"
    assert str(add_to._schema) == "tests::add_to(Tensor(a0!) x, Tensor y) -> ()"
    assert str(weighted._schema) == "tests::weighted(Tensor[] xs, *, float a=1.) -> (Tensor, Tensor)"

    def many(
        x: Tensor,
        o: list[Tensor],
        i: Sequence[int],
        s: str,
        b: bool,
        d: torch.dtype,
        v: torch.device,
        c: int | float | bool,
    ) -> tuple[Tensor, int, list[Tensor]]: ...

    assert infer_schema(many, mutates_args="unknown") == (
        "(Tensor(a0!) x, Tensor(a1!)[] o, SymInt[] i, str s, bool b, ScalarType d, Device v, Scalar c)"
        " -> (Tensor, SymInt, Tensor[])"
    )


def test_what_a_schema_has_no_word_for_is_refused():
    def unannotated(x, k): ...
    def of_a_dict(x: dict) -> Tensor: ...
    def without_result(x: Tensor): ...
    def right(x: Tensor) -> Tensor: ...

    with pytest.raises(ValueError, match="Parameter x must have a type annotation"):
        infer_schema(unannotated, mutates_args=())
    with pytest.raises(ValueError, match="Parameter x has unsupported type <class 'dict'>"):
        infer_schema(of_a_dict, mutates_args=())
    with pytest.raises(ValueError, match="No return type annotation was provided"):
        infer_schema(without_result, mutates_args=())
    with pytest.raises(ValueError, match="'y'} in mutates_args were not found"):
        infer_schema(right, mutates_args=("y",))


def test_arguments_are_checked_against_the_schema():
    with pytest.raises(
        RuntimeError, match="Expected a value of type 'float' for argument 'k' but instead found type 'str'"
    ):
        scale(torch.ones(2), "a")
    with pytest.raises(RuntimeError, match="missing value for argument 'x'"):
        scale()
    with pytest.raises(RuntimeError, match="Unknown keyword argument 'z'"):
        scale(torch.ones(2), z=1)
    assert weighted([torch.ones(2), torch.ones(2)], a=2.0)[0].tolist() == [4, 4]


def test_a_result_may_not_share_the_memory_of_an_argument():
    same = custom_op("tests::same", lambda x: x, mutates_args=(), schema="(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="must not also be an input"):
        same(torch.ones(2))


def test_gradients_go_through_the_registered_formula():
    x = torch.ones(3, requires_grad=True)
    y = scale(x, k=3.0)
    assert type(y.grad_fn).__name__ == "GeneratedBackwardFor_tests_scale_defaultBackward"
    y.sum().backward()
    assert x.grad.tolist() == [3, 3, 3]


def test_without_a_formula_backward_says_what_to_do():
    plain = custom_op("tests::plain", lambda x: x * 1, mutates_args=(), schema="(Tensor x) -> Tensor")
    y = plain(torch.ones(2, requires_grad=True))
    with pytest.raises(RuntimeError, match=r"Trying to backward through tests.plain.default but no autograd formula"):
        y.sum().backward()


def test_a_list_of_tensors_gets_a_list_of_gradients():
    u, v = (torch.ones(2, requires_grad=True) for _ in range(2))
    weighted([u, v])[0].sum().backward()
    assert (u.grad.tolist(), v.grad.tolist()) == ([1, 1], [2, 2])


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_it_is_one_node_of_compiled_graphs_with_gradients(backend):
    x = torch.ones(3, requires_grad=True)
    y = torch.compile(lambda x: (scale(x + 1, k=3.0) * 2).relu(), backend=backend, fullgraph=True)(x)
    y.sum().backward()
    assert (y.tolist(), x.grad.tolist()) == ([12] * 3, [6] * 3)


def test_the_graph_has_the_call():
    assert graphs_of(lambda x: scale(x, 3.0) + 1, torch.ones(2)) == ["x -> (scale(x, 3.0) + 1,)"]


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_what_it_writes_to_is_written_in_compiled_graphs(backend):
    def program(x, y):
        z = x * 2
        add_to(z, y)
        add_to(x, y)
        return z + 1

    x = torch.ones(3)
    result = torch.compile(program, backend=backend, fullgraph=True)(x, torch.arange(3.0))
    assert (result.tolist(), x.tolist()) == ([3, 4, 5], [1, 2, 3])


def test_a_write_raises_the_version():
    x = torch.zeros(2)
    before = x._version
    assert add_to(x, torch.ones(2)) is None
    assert x._version == before + 2  # that of add_ inside, and that of the op, as in PyTorch


def test_without_a_fake_it_cannot_be_traced():
    real = custom_op("tests::real", lambda x: x * 1, mutates_args=(), schema="(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match=r"no fake impl registered for <CustomOpDef\(tests::real\)>"):
        real(torch.ones(2, device="meta"))


def test_vmap_asks_the_registered_rule():
    triple = custom_op("tests::triple", lambda x: x * 3, mutates_args=(), schema="(Tensor x) -> Tensor")
    seen = []

    @triple.register_vmap
    def _(info, in_dims, x):
        seen.append((info.batch_size, in_dims))
        return triple(x), in_dims[0]

    assert torch.func.vmap(triple, 1)(torch.ones(2, 3)).tolist() == [[3, 3]] * 3
    assert seen == [(3, (0,))]  # the batch is in front by then


def test_kernels_go_by_device():
    op = custom_op("tests::dev", lambda x: x, mutates_args=(), device_types="cuda", schema="(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="Could not run 'tests::dev' with arguments from the 'CPU' backend"):
        op(torch.ones(2))
    op.register_kernel("cpu", lambda x: x * 7)
    assert op(torch.ones(2)).tolist() == [7, 7]


def test_a_library_defines_and_implements():
    lib = torch.library.Library("tests_lib", "DEF")
    assert lib.define("foo(Tensor x, float k=1.5) -> Tensor") == "foo"
    with pytest.raises(RuntimeError, match="multiple times"):
        lib.define("foo(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError):
        torch.ops.tests_lib.foo(torch.ones(2))
    lib.impl("foo", lambda x, k=1.5: x * k, "CPU")
    assert torch.ops.tests_lib.foo(torch.ones(2)).tolist() == [1.5, 1.5]
    with pytest.raises(ValueError, match="Unsupported kind: DEFX"):
        torch.library.Library("x", "DEFX")
    with pytest.raises(RuntimeError, match="operator no::op does not exist"):
        torch.library.register_fake("no::op", lambda x: x)
    with pytest.raises(AttributeError, match="'_OpNamespace' 'tests_lib' object has no attribute 'bar'"):
        _ = torch.ops.tests_lib.bar


def test_a_composite_implementation_is_looked_into():
    lib = torch.library.Library("tests_whole", "DEF")
    lib.define("sq(Tensor x) -> Tensor")
    lib.impl("sq", lambda x: x * x, "CompositeImplicitAutograd")
    x = torch.full((2,), 3.0, requires_grad=True)
    torch.ops.tests_whole.sq(x).sum().backward()
    assert x.grad.tolist() == [6, 6]


def test_functions_register_by_name():
    torch.library.define("tests_fn::sin", "(Tensor x) -> Tensor")
    torch.library.impl("tests_fn::sin", "default", lambda x: x.sin())
    torch.library.register_fake("tests_fn::sin", lambda x: torch.empty_like(x))
    torch.library.register_autograd(
        "tests_fn::sin",
        lambda ctx, grad: grad * ctx.saved_tensors[0].cos(),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
    )
    x = torch.ones(2, requires_grad=True)
    compiled = torch.compile(lambda x: torch.ops.tests_fn.sin(x) + 1, backend="aot_eager", fullgraph=True)
    compiled(x).sum().backward()
    torch.testing.assert_close(x.grad, x.detach().cos())


def test_opcheck_finds_what_does_not_fit():
    ok = dict.fromkeys(
        ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"), "SUCCESS"
    )
    assert opcheck(scale, (torch.ones(3, requires_grad=True),)) == ok
    assert opcheck(add_to, (torch.ones(3), torch.ones(3))) == ok
    liar = custom_op("tests::liar", lambda x: x.add_(1) * 1, mutates_args=(), schema="(Tensor x) -> Tensor")
    with pytest.raises(
        torch.library.OpCheckError, match="test_schema failed with Argument x is not defined as mutable"
    ):
        opcheck(liar, (torch.ones(2),))


def test_a_decomposition_lowers_it():
    op = custom_op("tests::lowered", lambda x: x * 0, mutates_args=(), schema="(Tensor x) -> Tensor")
    op.register_fake(lambda x: torch.empty_like(x))
    register_decomposition(op)(lambda x: x * 5)  # not what the kernel does, so that one sees which was used
    assert torch.compile(lambda x: op(x) + 1, fullgraph=True)(torch.ones(2)).tolist() == [6, 6]


def test_it_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(scale)) is scale


def test_under_autocast_an_op_gets_what_was_registered():
    @custom_op("tests_autocast::kind", mutates_args=())
    def kind(x: Tensor, y: Tensor) -> Tensor:
        return x + y

    torch.library.register_autocast("tests_autocast::kind", "cpu", torch.bfloat16)
    x = torch.ones(2)
    assert kind(x, x).dtype is torch.float32
    with torch.autocast("cpu"):
        assert kind(x, x).dtype is torch.bfloat16
        assert kind(x.double(), x.double()).dtype is torch.float64
    with pytest.raises(ValueError, match="'abacus' does not support autocast"):
        kind.register_autocast("abacus", torch.bfloat16)


def test_an_implementation_under_autocast_may_leave_it_out():
    lib = torch.library.Library("tests_autocast_key", "DEF")
    lib.define("product(Tensor x) -> Tensor")
    lib.impl("product", lambda x: x @ x, "CompositeImplicitAutograd")
    product = torch.ops.tests_autocast_key.product

    def in_double(x):
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)):
            return product(x.double())

    with torch.autocast("cpu"):
        assert product(torch.ones(2, 2)).dtype is torch.bfloat16
        lib.impl("product", in_double, "AutocastCPU")
        assert product(torch.ones(2, 2)).dtype is torch.float64
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.bfloat16  # afterwards it is on again
