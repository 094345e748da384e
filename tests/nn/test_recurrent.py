"""Recurrent layers against a loop in NumPy, one sequence and one step at a time, in float64."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.autograd import gradcheck
from minitorch_compile.dynamo import optimize, region_of
from minitorch_compile.dynamo.testing import CompileCounter, eager
from minitorch_compile.nn.modules.rnn import MOST_STEPS_COMPILED
from minitorch_compile.nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)

INPUT, HIDDEN = 3, 4


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_step(w, x, h, c):
    i, f, g, o = np.split(w["weight_ih"] @ x + w["bias_ih"] + w["weight_hh"] @ h + w["bias_hh"], 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    return (w["weight_hr"] @ h if "weight_hr" in w else h), c


def gru_step(w, x, h):
    xr, xz, xn = np.split(w["weight_ih"] @ x + w["bias_ih"], 3)
    hr, hz, hn = np.split(w["weight_hh"] @ h + w["bias_hh"], 3)
    z = sigmoid(xz + hz)
    return ((1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * h,)


def elman_step(activation):
    return lambda w, x, h: (activation(w["weight_ih"] @ x + w["bias_ih"] + w["weight_hh"] @ h + w["bias_hh"]),)


STEPS = {
    "LSTM": lstm_step,
    "GRU": gru_step,
    "RNN_TANH": elman_step(np.tanh),
    "RNN_RELU": elman_step(lambda x: np.maximum(x, 0)),
}


def weights_of(layer, suffix):
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
    w = {n: getattr(layer, n + suffix).detach().numpy() for n in names if hasattr(layer, n + suffix)}
    return {"bias_ih": 0.0, "bias_hh": 0.0} | w


def naive(layer, sequence, states):
    """(outputs, final states) of one sequence; `states` has a tuple for each layer and direction."""
    finals = []
    for k in range(layer.num_layers):
        directions = []
        for suffix, order in (("", 1), ("_reverse", -1))[: 1 + layer.bidirectional]:
            w, state, outputs = weights_of(layer, f"_l{k}{suffix}"), states[len(finals)], []
            for x in sequence[::order]:
                state = STEPS[layer.mode](w, x, *state)
                outputs.append(state[0])
            finals.append(state)
            directions.append(np.array(outputs)[::order])
        sequence = np.concatenate(directions, 1)
    return sequence, finals


LAYERS = {
    "lstm": lambda: nn.LSTM(INPUT, HIDDEN),
    "lstm-2-both": lambda: nn.LSTM(INPUT, HIDDEN, 2, bidirectional=True),
    "lstm-projected": lambda: nn.LSTM(INPUT, HIDDEN, 2, bidirectional=True, proj_size=2),
    "lstm-no-bias": lambda: nn.LSTM(INPUT, HIDDEN, bias=False),
    "gru": lambda: nn.GRU(INPUT, HIDDEN),
    "gru-2-both": lambda: nn.GRU(INPUT, HIDDEN, 2, bidirectional=True),
    "gru-no-bias": lambda: nn.GRU(INPUT, HIDDEN, bias=False),
    "rnn": lambda: nn.RNN(INPUT, HIDDEN, 2),
    "rnn-relu": lambda: nn.RNN(INPUT, HIDDEN, nonlinearity="relu", bidirectional=True),
}


def made(name):
    torch.manual_seed(0)
    return LAYERS[name]().double()


def random(*sizes):
    return torch.tensor(np.random.default_rng(sum(sizes)).normal(size=sizes))


def zero_states(layer):
    sizes = [layer.proj_size or HIDDEN, HIDDEN][: 1 + (layer.mode == "LSTM")]
    return [tuple(np.zeros(n) for n in sizes)] * (layer.num_layers * (1 + layer.bidirectional))


def states_of(final):
    return final if isinstance(final, tuple) else (final,)


def assert_equal(ours, expected):
    np.testing.assert_allclose(ours.detach().numpy(), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", LAYERS)
class TestLayers:
    def test_a_padded_batch(self, name):
        layer, x = made(name), random(5, 2, INPUT)
        output, final = layer(x)
        for b in range(2):
            expected, states = naive(layer, x.numpy()[:, b], zero_states(layer))
            assert_equal(output[:, b], expected)
            for ours, theirs in zip(states_of(final), zip(*states, strict=True), strict=True):
                assert_equal(ours[:, b], np.array(theirs))

    def test_one_sequence_without_a_batch_and_batch_first(self, name):
        layer, x = made(name), random(5, INPUT)
        whole, final = layer(x.unsqueeze(1))
        alone, final_alone = layer(x)
        assert_equal(alone, whole.squeeze(1).detach())
        assert_equal(states_of(final_alone)[0], states_of(final)[0].squeeze(1).detach())
        layer.batch_first = True
        assert_equal(layer(x.unsqueeze(0))[0].squeeze(0), whole.squeeze(1).detach())

    def test_a_packed_batch_is_each_sequence_alone(self, name):
        layer, x, lengths = made(name), random(5, 3, INPUT), [2, 5, 3]
        packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
        output, final = layer(packed)
        padded, _ = pad_packed_sequence(output)
        for b, n in enumerate(lengths):
            expected, states = naive(layer, x.numpy()[:n, b], zero_states(layer))
            assert_equal(padded[:n, b], expected)
            assert (padded[n:, b] == 0).all()
            for ours, theirs in zip(states_of(final), zip(*states, strict=True), strict=True):
                assert_equal(ours[:, b], np.array(theirs))


@pytest.mark.parametrize("name", ["lstm-projected", "gru-2-both", "rnn-relu"])
def test_gradients_of_input_state_and_parameters(name):
    layer = made(name)
    _, final = layer(random(2, 3, INPUT))
    states = [torch.tensor(s.detach().numpy(), requires_grad=True) for s in states_of(final)]

    def run(x, *states):
        packed = pack_padded_sequence(x, [2, 2, 1])
        output, final = layer(packed, states if len(states) == 2 else states[0])
        return output.data, *states_of(final)

    x = random(2, 3, INPUT).requires_grad_()
    assert gradcheck(run, [x, *states])
    sum(out.sum() for out in run(x, *states)).backward()
    assert all(p.grad is not None for p in layer.parameters())


def test_a_layer_is_one_graph_and_one_node():
    layer, x, counter = made("lstm-2-both"), random(5, 2, INPUT), CompileCounter()
    assert (optimize(layer, counter)(x)[0] == layer(x)[0]).all()
    assert counter.frame_count == 1


def test_a_long_sequence_is_not_compiled():
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.GRU(INPUT, HIDDEN)

        def forward(self, x):
            return self.rnn(x + 1)[0] * 2

    model, x = Reader(), torch.ones(MOST_STEPS_COMPILED + 1, 1, INPUT)
    compiled = optimize(model, eager)
    assert (compiled(x) == model(x)).all()
    assert len(region_of(compiled).breaks) == 1


def test_dropout_between_layers_only_in_training():
    torch.manual_seed(0)
    layer, x = nn.GRU(INPUT, 64, 2, dropout=0.5), random(5, 2, INPUT).float()
    assert (layer(x)[0] != layer(x)[0]).any()
    layer.eval()
    assert (layer(x)[0] == layer(x)[0]).all()


def test_an_empty_batch():
    output, h_n = nn.GRU(INPUT, HIDDEN)(torch.zeros(4, 0, INPUT))
    assert output.shape == (4, 0, HIDDEN) and h_n.shape == (1, 0, HIDDEN)


class TestCells:
    @pytest.mark.parametrize("bias", [True, False])
    @pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
    def test_a_cell_is_one_step(self, kind, bias):
        cell = getattr(nn, f"{kind}Cell")(INPUT, HIDDEN, bias).double()
        w = {"bias_ih": 0.0, "bias_hh": 0.0} | {n: p.detach().numpy() for n, p in cell.named_parameters()}
        x, states = random(2, INPUT), tuple(random(2, HIDDEN) + i for i in range(1 + (kind == "LSTM")))
        out = states_of(cell(x, states if kind == "LSTM" else states[0]))
        step = STEPS[kind if kind != "RNN" else "RNN_TANH"]
        for b in range(2):
            for ours, theirs in zip(out, step(w, x.numpy()[b], *(s.numpy()[b] for s in states)), strict=True):
                assert_equal(ours[b], theirs)
        alone = cell(x[0], tuple(s[0] for s in states) if kind == "LSTM" else states[0][0])
        assert_equal(states_of(alone)[0], out[0][0].detach())


class TestNamesAndMessages:
    def test_the_state_dict_is_pytorchs(self):
        names = ["weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"]
        expected = [f"{n}_l{k}{r}" for k in (0, 1) for r in ("", "_reverse") for n in names]
        assert list(nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2).state_dict()) == expected

    @pytest.mark.parametrize(
        ("layer", "expected"),
        [
            (lambda: nn.RNN(3, 4, nonlinearity="relu"), "RNN(3, 4)"),
            (
                lambda: nn.GRU(3, 4, 2, False, True, 0.5, True),
                "GRU(3, 4, num_layers=2, bias=False, batch_first=True, dropout=0.5, bidirectional=True)",
            ),
            (lambda: nn.LSTM(3, 4, proj_size=2), "LSTM(3, 4, proj_size=2)"),
            (lambda: nn.RNNCell(3, 4, False, "relu"), "RNNCell(3, 4, bias=False, nonlinearity=relu)"),
        ],
    )
    def test_repr(self, layer, expected):
        assert repr(layer()) == expected

    @pytest.mark.parametrize(
        ("call", "error", "message"),
        [
            (lambda: nn.LSTM(3, 4)(torch.zeros(3, 2, 4)), RuntimeError, "Expected 3, got 4"),
            (lambda: nn.LSTM(3, 4)(torch.zeros(3)), ValueError, "LSTM: Expected input to be 2D or 3D, got 1D instead"),
            (lambda: nn.GRU(3, 4)(torch.zeros(0, 2, 3)), RuntimeError, "Expected sequence length to be larger than 0"),
            (lambda: nn.GRU(3, 4)(random(2, 2, 3)), ValueError, "does not match weight dtype"),
            (
                lambda: nn.GRU(3, 4)(torch.zeros(3, 2, 3), torch.zeros(1, 2, 5)),
                RuntimeError,
                r"Expected hidden size \(1, 2, 4\), got \[1, 2, 5\]",
            ),
            (
                lambda: nn.GRU(3, 4)(torch.zeros(3, 2, 3), torch.zeros(2, 4)),
                RuntimeError,
                "For batched 3-D input, hx should also be 3-D but got 2-D",
            ),
            (lambda: nn.RNN(3, 4, nonlinearity="gelu"), ValueError, "Select from 'tanh' or 'relu'"),
            (lambda: nn.LSTM(3, 4, proj_size=4), ValueError, "proj_size has to be smaller than hidden_size"),
            (
                lambda: nn.LSTMCell(3, 4)(torch.zeros(2, 4)),
                RuntimeError,
                "input has inconsistent input_size: got 4 expected 3",
            ),
        ],
    )
    def test_errors(self, call, error, message):
        with pytest.raises(error, match=message):
            call()


class TestPacking:
    def test_packed_rows_lie_step_by_step(self):
        packed = pack_padded_sequence(torch.arange(12).view(4, 3), [2, 4, 1], enforce_sorted=False)
        assert packed.data.tolist() == [1, 0, 2, 4, 3, 7, 10]
        assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
        assert packed.sorted_indices.tolist() == [1, 0, 2]

    def test_there_and_back(self):
        sequences = [random(n, 2) for n in (3, 1, 4)]
        again = unpack_sequence(pack_sequence(sequences, enforce_sorted=False))
        assert all((a == b).all() for a, b in zip(sequences, again, strict=True))
        padded, lengths = pad_packed_sequence(pack_sequence(sequences, False), True, padding_value=-1, total_length=6)
        assert padded.shape == (3, 6, 2) and lengths.tolist() == [3, 1, 4] and (padded[1, 1:] == -1).all()
        assert isinstance(pack_sequence(sequences, False).float(), PackedSequence)

    def test_padding_on_either_side(self):
        sequences = [torch.tensor([1, 2]), torch.tensor([3])]
        assert pad_sequence(sequences, True, 9).tolist() == [[1, 2], [3, 9]]
        assert pad_sequence(sequences, padding_side="left").tolist() == [[1, 0], [2, 3]]
        assert [x.tolist() for x in unpad_sequence(pad_sequence(sequences), torch.tensor([2, 1]))] == [[1, 2], [3]]

    @pytest.mark.parametrize(
        ("lengths", "message"),
        [
            ([1, 2], "sorted in decreasing order"),
            ([2], "but got 1 .batch_size=2"),
            ([2, 0], "greater than 0"),
            ([5, 1], "at most 3"),
        ],
    )
    def test_lengths_that_will_not_do(self, lengths, message):
        with pytest.raises(RuntimeError, match=message):
            pack_padded_sequence(torch.zeros(3, 2), lengths)
