"""Where PyTorch's random stream is chosen: the setting, states, and what compiled functions do.

Its numbers are among the recorded calls (`recorded/random_stream.json`).
"""

from __future__ import annotations

import copy
import pickle

import pytest

import minitorch_compile as torch
from minitorch_compile import config
from minitorch_compile.aot.seeded_random import DrawFrom
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.random.mt19937 import Mt19937

F = torch.nn.functional
RAND_OF_0 = [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]  # PyTorch's


@pytest.fixture
def as_pytorch():
    with config.patch(random_stream="mt19937"):
        yield


def seeded(function, *args):
    torch.manual_seed(0)
    return function(*args)


def test_the_default_stream_is_philox():
    assert config.options()["random_stream"].default == "philox"
    assert seeded(torch.rand, 3).tolist() != RAND_OF_0


def test_one_setting_gives_pytorchs_numbers(as_pytorch):
    assert seeded(torch.rand, 3).tolist() == RAND_OF_0


def test_both_streams_start_again_from_a_seed(as_pytorch):
    first = seeded(torch.rand, 3)
    with config.patch(random_stream="philox"):
        other = torch.rand(3)
    assert torch.equal(seeded(torch.rand, 3), first)
    with config.patch(random_stream="philox"):
        assert torch.equal(torch.rand(3), other)


@pytest.mark.parametrize("value", ["mt19937", "philox", ""])
def test_the_environment_chooses_the_stream(value, monkeypatch):
    monkeypatch.setenv("MTC_RANDOM_STREAM", value)
    with config.patch(random_stream="philox"):
        config._take_from_environment("random_stream")
        assert config.random_stream == (value or "philox")


def test_a_wrong_stream_in_the_environment_is_named_and_not_used(monkeypatch):
    monkeypatch.setenv("MTC_RANDOM_STREAM", "mt")
    with pytest.warns(UserWarning, match="MTC_RANDOM_STREAM is not used.*'philox', 'mt19937'.*got 'mt'"):
        config._take_from_environment("random_stream")
    assert config.random_stream == "philox"


def test_a_state_of_the_other_stream_is_refused():
    position = torch.get_rng_state()
    with config.patch(random_stream="mt19937"):
        with pytest.raises(RuntimeError, match="mt19937.*philox"):
            torch.set_rng_state(position)
        state = torch.get_rng_state()
    with pytest.raises(RuntimeError, match="expected 16 bytes"):
        torch.set_rng_state(state)


def test_a_damaged_state_is_refused_and_changes_nothing(as_pytorch):
    torch.manual_seed(0)
    for at, byte in [(8, 0), (9, 200), (12, 0)]:
        state = torch.get_rng_state()
        state[at] = byte
        with pytest.raises(RuntimeError, match="no state of an mt19937"):
            torch.set_rng_state(state)
    assert torch.rand(3).tolist() == RAND_OF_0


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)), lambda g: g.clone_state()])
@pytest.mark.parametrize("stream", ["philox", "mt19937"])
def test_a_copied_generator_goes_on_from_the_same_place(stream, twin):
    with config.patch(random_stream=stream):
        generator = torch.Generator().manual_seed(3)
        torch.randn(3, generator=generator)
        other = twin(generator)
        assert torch.equal(torch.randn(5, generator=other), torch.randn(5, generator=generator))


def test_fork_rng_leaves_both_streams_where_they_were(as_pytorch):
    torch.manual_seed(0)
    with torch.random.fork_rng():
        torch.manual_seed(9)
        torch.rand(4)
    assert torch.rand(3).tolist() == RAND_OF_0
    with config.patch(random_stream="philox"):
        assert torch.random.default_generator.position() == (0, 0)


def test_words_come_in_pytorchs_order_across_the_end_of_a_block(as_pytorch):
    words = Mt19937(5).words(2000)
    engine = Mt19937(5)
    assert [engine.words(n).tolist() for n in (600, 50, 1350)] == [
        list(words[:600]),
        list(words[600:650]),
        list(words[650:]),
    ]
    assert Mt19937.from_bytes(engine.to_bytes()).words(3).tolist() == engine.words(3).tolist()


def test_nothing_is_drawn_for_tensors_without_data(as_pytorch):
    before = torch.get_rng_state()
    torch.empty(10**6, 10**6, device="meta").normal_()
    torch.poisson(torch.empty(10**6, 10**6, device="meta"))
    assert torch.equal(torch.get_rng_state(), before)


# ------------------------------------------------------------------------------------------------------- compiled


def noisy(x):
    y = F.dropout(x + 1, 0.5)
    for _ in range(2):
        y = y + torch.randn(5)
    return y * torch.rand_like(y)


def test_a_compiled_function_draws_pytorchs_numbers_in_order(as_pytorch):
    x = torch.ones(5)
    assert torch.equal(seeded(torch.compile(noisy, backend="aot_eager"), x), seeded(noisy, x))


def test_a_change_of_the_stream_compiles_again():
    compiled, x = torch.compile(noisy, backend="aot_eager"), torch.ones(5)
    for stream in ("philox", "mt19937", "philox"):
        with config.patch(random_stream=stream):
            assert torch.equal(seeded(compiled, x), seeded(noisy, x))


def test_one_graph_of_such_draws_is_refused(as_pytorch):
    with pytest.raises(torch._dynamo.exc.Unsupported, match="random_stream='philox' needs no break"):
        torch.compile(noisy, fullgraph=True)(torch.ones(5))


def test_dropout_that_draws_nothing_breaks_no_graph(as_pytorch):
    model = torch.nn.Sequential(torch.nn.Linear(5, 5), torch.nn.Dropout(0.5)).eval()
    x = torch.ones(2, 5)
    assert torch.equal(torch.compile(model, fullgraph=True, backend="aot_eager")(x), model(x))


def test_a_functional_graph_says_that_it_cannot_draw(as_pytorch):
    place = torch.tensor(0)
    with dispatch.mode(DrawFrom(place, place)), pytest.raises(NotImplementedError, match="draws from PyTorch's stream"):
        torch.rand(3)


def test_what_is_accepted_or_not_cannot_be_batched(as_pytorch):
    with pytest.raises(RuntimeError, match="until a number is accepted"):
        torch.func.vmap(torch.poisson, randomness="different")(torch.ones(3, 2))


def test_gamma_numbers_move_with_their_concentration(as_pytorch):
    concentration = torch.full((500,), 3.0, requires_grad=True)
    drawn = seeded(torch._standard_gamma, concentration)
    drawn.sum().backward()
    assert torch.equal(drawn.detach(), seeded(torch._standard_gamma, concentration.detach()))
    assert 0.9 < concentration.grad.mean().item() < 1.1  # the mean is the concentration


def test_random_samplers_draw_lazily():
    sampler = iter(torch.utils.data.RandomSampler(range(10), replacement=True, num_samples=10**10))
    assert {next(sampler) for _ in range(100)} <= set(range(10))
    orders = iter(torch.utils.data.RandomSampler(range(3), num_samples=10**10))
    assert sorted(next(orders) for _ in range(3)) == [0, 1, 2]


def test_every_draw_has_a_row_for_its_distribution(as_pytorch):
    with pytest.raises(KeyError):
        ops.mt19937_random((3,), "no such", (), torch.float32)
