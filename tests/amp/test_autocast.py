"""torch.autocast on the CPU: what is cast, nesting, the cache of cast weights, custom functions, compiled programs.

What PyTorch 2.13 gives for each call of the sheets is in recorded.json (tools/record_autocast.py)."""

import gc
import json
import threading
import weakref
from pathlib import Path

import pytest

import minitorch_compile as torch
from minitorch_compile.amp import autocast_state, custom_bwd, custom_fwd
from minitorch_compile.tensor.functions.before_calls import standing
from tests.amp.dtypes import cases_on, dtypes_of
from tests.battery.sheet import calls

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))
F = torch.nn.functional


@pytest.mark.parametrize("case", cases_on("cpu"))
def test_what_pytorch_casts_is_cast(case):
    wrong = []
    for text, expected in RECORDED[case].items():
        got = dtypes_of(torch, text, case)
        if isinstance(got, list) and isinstance(expected, list) and got != expected:
            wrong.append((text, expected, got))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("case", cases_on("cpu"))
def test_nothing_else_is_cast(case):
    wrong = []
    for text in dict.fromkeys(call.text for call in calls()):
        cast, plain = dtypes_of(torch, text, case), dtypes_of(torch, text, case, enabled=False)
        if text not in RECORDED[case] and isinstance(cast, list) and isinstance(plain, list) and cast != plain:
            wrong.append((text, plain, cast))
    assert wrong == []


X = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def product():
    return (X @ X).dtype


def test_nesting():
    with torch.autocast("cpu"):
        assert product() is torch.bfloat16
        with torch.autocast("cpu", dtype=torch.float16):
            assert product() is torch.float16 and torch.get_autocast_dtype("cpu") is torch.float16
            with torch.autocast("cpu", enabled=False):
                assert product() is torch.float32
            assert product() is torch.float16
        assert product() is torch.bfloat16
    assert product() is torch.float32 and not torch.is_autocast_enabled("cpu")


def test_double_stays_double():
    with torch.autocast("cpu"):
        assert (X.double() @ X.double()).dtype is torch.float64


def test_cat_takes_the_widest():
    with torch.autocast("cpu"):
        assert torch.cat([X.bfloat16(), X]).dtype is torch.float32
        assert torch.cat([X.bfloat16(), X.bfloat16()]).dtype is torch.bfloat16


def test_losses_are_computed_in_float32():
    low = X.bfloat16()
    with torch.autocast("cpu"):
        assert F.mse_loss(low, low).dtype is torch.float32
        assert F.cross_entropy(low, torch.tensor([0, 1])).dtype is torch.float32


def test_a_dtype_that_cannot_be_cast_to_switches_off():
    with pytest.warns(UserWarning, match="In CPU autocast, but the target dtype is not supported. Disabling autocast."):
        manager = torch.autocast("cpu", dtype=torch.float32)
    with manager:
        assert product() is torch.float32 and not torch.is_autocast_enabled("cpu")


def test_wrong_devices():
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`, got: `<class 'int'>`"):
        torch.autocast(5)
    with pytest.raises(RuntimeError, match="device"):
        torch.autocast("nope")
    with pytest.raises(RuntimeError, match="User specified an unsupported autocast device_type 'meta'"):
        torch.autocast("meta")
    with pytest.raises(RuntimeError, match="unknown device type"):
        torch.is_autocast_enabled("meta")


def test_as_a_decorator():
    @torch.autocast("cpu")
    def square(x):
        return x @ x

    assert square(X).dtype is torch.bfloat16 and square.__name__ == "square" and product() is torch.float32


def test_after_an_error_it_is_off():
    before = standing()
    with pytest.raises(KeyError), torch.autocast("cpu"):
        assert standing() != before
        raise KeyError
    assert product() is torch.float32 and standing() == before


def test_other_threads_are_not_cast():
    seen = []
    with torch.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append(product()))
        thread.start()
        thread.join()
        assert product() is torch.bfloat16
    assert seen == [torch.float32]


def test_gradients_have_the_dtype_of_the_weights():
    weight = X.clone().requires_grad_()
    with torch.autocast("cpu"):
        loss = F.mse_loss(X @ weight, X)
    loss.backward()
    assert weight.grad.dtype is torch.float32


def test_a_weight_is_cast_once():
    weight = X.clone().requires_grad_()
    with torch.autocast("cpu"):
        first, second = (autocast_state.cast(weight, torch.bfloat16, "cpu") for _ in range(2))
        assert first is second
        with torch.no_grad():
            assert autocast_state.cast(weight, torch.bfloat16, "cpu") is not first  # it has no history
            weight.add_(1)
        assert autocast_state.cast(weight, torch.bfloat16, "cpu")[0, 0].item() == 2
        assert autocast_state.cast(X, torch.bfloat16, "cpu") is not autocast_state.cast(X, torch.bfloat16, "cpu")
    assert autocast_state.state.casts == {}
    with torch.autocast("cpu", cache_enabled=False):
        assert autocast_state.cast(weight, torch.bfloat16, "cpu") is not autocast_state.cast(
            weight, torch.bfloat16, "cpu"
        )


def test_a_weight_that_is_gone_is_not_taken_for_another():
    with torch.autocast("cpu"):
        weight = X.clone().requires_grad_()
        gone, number = weakref.ref(weight), id(weight)
        autocast_state.cast(weight, torch.bfloat16, "cpu")
        kept = autocast_state.state.casts[number]
        assert kept[1]() is weight
        del weight, kept
        autocast_state.state.casts[number][0].grad_fn  # the history of the cast may keep the weight
    gc.collect()
    assert gone() is None


def test_custom_functions_of_a_program():
    class Double(torch.autograd.Function):
        @staticmethod
        @custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, x):
            assert x.dtype is torch.float32 and not torch.is_autocast_enabled("cpu")
            return x * 2

        @staticmethod
        @custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            return grad * 2

    x = X.bfloat16().requires_grad_()
    with torch.autocast("cpu"):
        y = Double.apply(x)
    assert y.dtype is torch.float32
    y.sum().backward()
    assert x.grad.tolist() == [[2, 2], [2, 2]]


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))


def test_a_compiled_function_has_a_version_for_each_dtype():
    layers, x = model(), torch.ones(5, 8)
    compiled = torch.compile(lambda x: layers(x))
    for _ in range(2):
        assert compiled(x).dtype is torch.float32
        with torch.autocast("cpu"):
            assert torch.equal(compiled(x), layers(x)) and compiled(x).dtype is torch.bfloat16
        with torch.autocast("cpu", dtype=torch.float16):
            assert compiled(x).dtype is torch.float16


def test_another_thread_does_not_get_the_version_of_this_one():
    layers, x, seen = model(), torch.ones(5, 8), []
    compiled = torch.compile(lambda x: layers(x))
    with torch.autocast("cpu"):
        assert compiled(x).dtype is torch.bfloat16
        thread = threading.Thread(target=lambda: seen.append(compiled(x).dtype))
        thread.start()
        thread.join()
    assert seen == [torch.float32]


BACKENDS = ["eager", "aot_eager", "inductor"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_switching_it_in_a_compiled_function(backend):
    layers, x = model(), torch.ones(5, 8)

    def program(x):
        y = x + 1
        with torch.autocast("cpu"):
            z = layers(y)
            with torch.autocast("cpu", enabled=False):
                w = layers(y)
        return z * 2, w, layers(y)

    results, expected = torch.compile(program, backend=backend, fullgraph=True)(x), program(x)
    assert [y.dtype for y in results] == [torch.bfloat16, torch.float32, torch.float32]
    assert all(torch.allclose(y, e) for y, e in zip(results, expected))


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_of_what_is_cast_inside(backend):
    def gradient(compile):
        layers = model()

        def loss(x):
            with torch.autocast("cpu"):
                return F.mse_loss(layers(x), torch.ones(5, 4))

        compile(loss)(torch.ones(5, 8)).backward()
        return layers[0].weight.grad

    compiled = gradient(lambda f: torch.compile(f, backend=backend, fullgraph=True))
    assert compiled.dtype is torch.float32
    assert torch.allclose(compiled, gradient(lambda f: f), rtol=2e-2, atol=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_region_without_casts_in_a_region_around_the_call(backend):
    def program(x):
        y = x @ x
        with torch.autocast("cpu", enabled=False):
            return y, x @ x

    compiled = torch.compile(program, backend=backend)
    with torch.autocast("cpu"):
        for _ in range(2):
            assert [y.dtype for y in compiled(X)] == [torch.bfloat16, torch.float32]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_graph_break_within_a_region(backend):
    def program(x):
        with torch.autocast("cpu"):
            y = x @ x
            torch._dynamo.graph_break()
            z = x @ x
        return y.dtype, z.dtype, (x @ x).dtype

    compiled = torch.compile(program, backend=backend)
    for _ in range(2):
        assert compiled(X) == (torch.bfloat16, torch.bfloat16, torch.float32)
        assert not torch.is_autocast_enabled("cpu")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_region_that_a_compiled_function_leaves_open(backend):
    def program(x):
        region = torch.autocast("cpu")
        region.__enter__()
        return x @ x, region

    y, region = torch.compile(program, backend=backend)(X)
    assert y.dtype is product() is torch.bfloat16
    region.__exit__(None, None, None)
    assert product() is torch.float32 and not torch.is_autocast_enabled("cpu")


@pytest.mark.parametrize("backend", BACKENDS)
def test_after_an_error_in_a_compiled_region_it_is_off(backend):
    def program(x, index):
        with torch.autocast("cpu"):
            return (x @ x)[index]

    with pytest.raises(IndexError, match="index 9 is out of bounds for dimension 0 with size 2"):
        torch.compile(program, backend=backend)(X, torch.tensor([9]))
    assert not torch.is_autocast_enabled("cpu")


def test_what_is_asked_in_a_compiled_function_is_guarded():
    compiled = torch.compile(lambda x: x + int(torch.get_autocast_dtype("cpu") is torch.float16), backend="eager")
    assert compiled(X)[0, 0].item() == 1
    torch.set_autocast_dtype("cpu", torch.float16)
    try:
        assert compiled(X)[0, 0].item() == 2
    finally:
        torch.set_autocast_dtype("cpu", torch.bfloat16)


def losses(step, count=4):
    return [step(torch.ones(5, 8)).item() for _ in range(count)]


@pytest.mark.parametrize("inside", [True, False])
def test_a_whole_step(inside):
    def steps(compile):
        layers = model()
        optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            with torch.autocast("cpu", enabled=inside or torch.is_autocast_enabled("cpu")):
                loss = F.mse_loss(layers(x), torch.ones(5, 4))
            loss.backward()
            optimizer.step()
            return loss

        with torch.autocast("cpu", enabled=not inside):
            return losses(compile(step))

    plain, compiled = steps(lambda f: f), steps(torch.compile)
    assert compiled == pytest.approx(plain, rel=1e-2) and compiled[-1] < compiled[0]


def test_what_there_is_to_ask():
    assert all(map(torch.amp.is_autocast_available, ("cpu", "cuda", "xpu")))
    assert not torch.amp.is_autocast_available("meta")
    assert torch.get_autocast_dtype("cpu") is torch.bfloat16 and torch.get_autocast_dtype("cuda") is torch.float16
    with torch.autocast("cpu"):
        assert torch.is_autocast_enabled("cpu") and not torch.is_autocast_enabled()
    torch.set_autocast_dtype("cpu", torch.float16)
    torch.set_autocast_enabled("cpu", True)
    assert product() is torch.float16
    torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_dtype("cpu", torch.bfloat16)
