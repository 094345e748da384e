"""Attention against loops over heads and places; transformers against their layers put together by hand."""

import math

import numpy as np
import pytest
from scipy import special

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.autograd import gradcheck
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import float64, from_numpy, tensor

RNG = np.random.default_rng(0)
L, S, N, E, HEADS = 3, 4, 2, 6, 2
Q, K, V = RNG.normal(size=(L, N, E)), RNG.normal(size=(S, N, E)), RNG.normal(size=(S, N, E))
HIDDEN = np.array([[False, False, True, False], [False, False, False, True], [True, False, False, False]])
PADDED = np.array([[False, False, False, True], [False, False, False, False]])


def of(*arrays):
    return [from_numpy(np.asarray(a)) for a in arrays]


def attend(q, k, v, mask=None, scale=None):
    """softmax(q k^T) v for one head, with a mask to add."""
    scores = q @ k.T * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    weights = special.softmax(scores + (0 if mask is None else mask), -1)
    return weights @ v, weights


class TestScaledDotProductAttention:
    q, k, v = RNG.normal(size=(2, 4, 3, 5)), RNG.normal(size=(2, 4, 6, 5)), RNG.normal(size=(2, 4, 6, 2))

    def check(self, expected_mask=None, scale=None, **more):
        out = F.scaled_dot_product_attention(*of(self.q, self.k, self.v), scale=scale, **more)
        for at in np.ndindex(2, 4):
            expected, _ = attend(self.q[at], self.k[at], self.v[at], expected_mask, scale)
            np.testing.assert_allclose(out.numpy()[at], expected)

    def test_without_and_with_a_scale(self):
        self.check()
        self.check(scale=0.3)

    def test_vectors_without_numbers_agree_alike(self):
        out = F.scaled_dot_product_attention(torch.ones(2, L, 0), torch.ones(2, S, 0), tensor([[1.0], [2], [3], [6]]))
        assert out.tolist() == [[[3.0]] * L] * 2

    def test_causal_hides_what_comes_later(self):
        self.check(np.where(np.tril(np.ones((3, 6))), 0, -np.inf), is_causal=True)

    def test_masks(self):
        added = RNG.normal(size=(3, 6))
        self.check(added, attn_mask=from_numpy(added))
        seen = RNG.random((3, 6)) < 0.6
        seen[:, 0] = True
        self.check(np.where(seen, 0, -np.inf), attn_mask=from_numpy(seen))

    def test_who_sees_nothing_gets_zeros_and_no_gradient(self):
        q = tensor(self.q, requires_grad=True)
        seen = torch.ones(3, 6).bool()
        seen[1] = False
        out = F.scaled_dot_product_attention(q, *of(self.k, self.v), attn_mask=seen)
        out.sum().backward()
        assert not out[:, :, 1].any() and out[:, :, 0].all()
        assert not q.grad[:, :, 1].any() and q.grad.isfinite().all()

    def test_heads_that_share_keys(self):
        shared = F.scaled_dot_product_attention(*of(self.q, self.k[:, :2], self.v[:, :2]), enable_gqa=True)
        k, v = (np.repeat(x[:, :2], 2, axis=1) for x in (self.k, self.v))
        assert (shared == F.scaled_dot_product_attention(*of(self.q, k, v))).all()
        with pytest.raises(RuntimeError, match="must divide"):
            F.scaled_dot_product_attention(*of(self.q, self.k[:, :3], self.v[:, :3]), enable_gqa=True)

    def test_dropout_zeroes_weights(self):
        torch.manual_seed(0)
        ones = torch.ones(1, 100, 100)
        out = F.scaled_dot_product_attention(ones, ones, ones, dropout_p=0.5)
        assert out.mean().item() == pytest.approx(1, abs=0.05) and out.std() > 0.01

    def test_gradients(self):
        leaves = [tensor(x[0, :1], requires_grad=True) for x in (self.q, self.k, self.v)]
        assert gradcheck(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), leaves)

    def test_what_does_not_fit(self):
        q, k, v = of(self.q, self.k, self.v)
        with pytest.raises(RuntimeError, match="is_causal"):
            F.scaled_dot_product_attention(q, k, v, torch.ones(3, 6).double(), is_causal=True)
        with pytest.raises(RuntimeError, match="same dtype"):
            F.scaled_dot_product_attention(q, k.float(), v)
        with pytest.raises(RuntimeError, match="bool or to match"):
            F.scaled_dot_product_attention(q, k, v, torch.ones(3, 6).long())


def layer(**more):
    torch.manual_seed(0)
    made = nn.MultiheadAttention(E, HEADS, **more).double()
    with torch.no_grad():
        for param in made.parameters():
            param.copy_(torch.randn_like(param) * 0.5)
    return made


def by_hand(module, q, k, v, mask=None):
    """(output, weights) of a MultiheadAttention, one sample and head at a time; mask (N, HEADS, L, S) is added."""
    state = {name: value.numpy() for name, value in module.state_dict().items()}
    if "in_proj_weight" in state:
        weights = np.split(state["in_proj_weight"], 3)
    else:
        weights = [state[f"{name}_proj_weight"] for name in "qkv"]
    biases = np.split(state.get("in_proj_bias", np.zeros(3 * E)), 3)
    q, k, v = (x @ w.T + b for x, w, b in zip((q, k, v), weights, biases, strict=True))
    if "bias_k" in state:
        k, v = (np.concatenate([x, np.repeat(state[n], N, 1)]) for x, n in ((k, "bias_k"), (v, "bias_v")))
    width = E // HEADS
    out, seen = np.zeros((len(q), N, E)), np.zeros((N, HEADS, len(q), len(k)))
    for n, h in np.ndindex(N, HEADS):
        part = slice(h * width, (h + 1) * width)
        added = None if mask is None else mask[n, h]
        out[:, n, part], seen[n, h] = attend(q[:, n, part], k[:, n, part], v[:, n, part], added)
    return out @ state["out_proj.weight"].T + state.get("out_proj.bias", 0), seen


def as_added(hidden):
    return np.where(hidden, -np.inf, 0.0)


class TestMultiheadAttention:
    @pytest.mark.parametrize("more", [{}, {"bias": False}, {"add_bias_kv": True}], ids=str)
    def test_it_is_heads_put_together(self, more):
        module = layer(**more)
        expected, weights = by_hand(module, Q, K, V)
        out, seen = module(*of(Q, K, V))
        np.testing.assert_allclose(out.detach().numpy(), expected)
        np.testing.assert_allclose(seen.detach().numpy(), weights.mean(1))
        quick, none = module(*of(Q, K, V), need_weights=False)
        np.testing.assert_allclose(quick.detach().numpy(), expected)
        assert none is None
        _, each = module(*of(Q, K, V), average_attn_weights=False)
        np.testing.assert_allclose(each.detach().numpy(), weights)

    @pytest.mark.parametrize("need_weights", [True, False])
    def test_masks_add_up(self, need_weights):
        module = layer()
        mask = as_added(HIDDEN[None, None] | PADDED[:, None, None]) + np.zeros((N, HEADS, L, S))
        expected, _ = by_hand(module, Q, K, V, mask)
        hidden, padded = of(HIDDEN, PADDED)
        given = {"attn_mask": hidden, "key_padding_mask": padded, "need_weights": need_weights}
        np.testing.assert_allclose(module(*of(Q, K, V), **given)[0].detach().numpy(), expected)
        given["attn_mask"] = from_numpy(as_added(np.repeat(HIDDEN[None], N * HEADS, 0)))
        np.testing.assert_allclose(module(*of(Q, K, V), **given)[0].detach().numpy(), expected)

    def test_a_place_of_zeros(self):
        module = layer(add_zero_attn=True, bias=False)
        _, seen = module(*of(Q, K, V))
        assert seen.shape == (N, L, S + 1) and (seen[..., -1] > 0).all()

    def test_other_widths_of_keys_and_values(self):
        module = layer(kdim=3, vdim=5)
        k, v = K[..., :3], V[..., :5]
        np.testing.assert_allclose(module(*of(Q, k, v))[0].detach().numpy(), by_hand(module, Q, k, v)[0])
        assert list(module.state_dict())[:3] == ["q_proj_weight", "k_proj_weight", "v_proj_weight"]

    def test_batch_first_and_unbatched(self):
        module = layer(batch_first=True)
        expected, weights = by_hand(module, Q, K, V)
        out, _ = module(*of(*(x.swapaxes(0, 1) for x in (Q, K, V))))
        np.testing.assert_allclose(out.detach().numpy(), expected.swapaxes(0, 1))
        one, seen = module(*of(Q[:, 0], K[:, 0], V[:, 0]))
        np.testing.assert_allclose(one.detach().numpy(), expected[:, 0])
        np.testing.assert_allclose(seen.detach().numpy(), weights[0].mean(0))

    def test_self_attention_projects_once(self):
        module, x = layer(), from_numpy(Q)
        together = module(x, x, x)[0]
        apart = module(x, x.clone(), x.clone())[0]
        np.testing.assert_allclose(together.detach().numpy(), apart.detach().numpy())

    def test_the_causal_hint_needs_its_mask(self):
        module, x = layer(), from_numpy(Q)
        mask = nn.Transformer.generate_square_subsequent_mask(L, dtype=float64)
        hinted = module(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)[0]
        np.testing.assert_allclose(hinted.detach().numpy(), module(x, x, x, attn_mask=mask)[0].detach().numpy())
        with pytest.raises(RuntimeError, match="Need attn_mask"):
            module(x, x, x, is_causal=True)

    def test_it_starts_as_pytorchs(self):
        module = nn.MultiheadAttention(64, 4, add_bias_kv=True)
        bound = math.sqrt(6 / (64 + 192))
        assert 0.95 * bound < module.in_proj_weight.abs().max() <= bound
        assert not module.in_proj_bias.any() and not module.out_proj.bias.any()
        keys = ["in_proj_weight", "in_proj_bias", "bias_k", "bias_v", "out_proj.weight", "out_proj.bias"]
        assert list(module.state_dict()) == keys
        assert "NonDynamicallyQuantizableLinear(in_features=64, out_features=64, bias=True)" in repr(module)

    @pytest.mark.parametrize(
        ("call", "error", "says"),
        [
            (lambda m: m(*of(Q[..., :3], K, V)), AssertionError, "embedding dimension"),
            (lambda m: m(*of(Q, K, V[:2])), AssertionError, "does not match value shape"),
            (lambda m: m(*of(Q[0, 0], K, V)), AssertionError, "2D or batched 3D"),
            (lambda m: m(*of(Q, K[0], V)), AssertionError, "3-D"),
            (lambda m: m(*of(Q, K, V), attn_mask=torch.ones(2, 2)), RuntimeError, "shape of the 2D attn_mask"),
            (lambda m: m(*of(Q, K, V), attn_mask=torch.ones(L, S).long()), AssertionError, "bool and floating"),
            (lambda m: m(*of(Q, K, V), key_padding_mask=torch.ones(N, 1).bool()), AssertionError, "key_padding_mask"),
            (lambda m: nn.MultiheadAttention(6, 4), AssertionError, "divisible"),
            (lambda m: nn.MultiheadAttention(0, 1), ValueError, "greater than 0"),
        ],
    )
    def test_what_does_not_fit(self, call, error, says):
        with pytest.raises(error, match=says):
            call(layer())


class TestTransformer:
    @pytest.mark.parametrize("norm_first", [False, True])
    def test_an_encoder_layer_is_attention_and_two_linear_layers(self, norm_first):
        m = nn.TransformerEncoderLayer(E, HEADS, 8, 0.0, "gelu", norm_first=norm_first).double()
        x = from_numpy(Q)
        mask = nn.Transformer.generate_square_subsequent_mask(L, dtype=float64)

        def attention(y):
            return m.self_attn(y, y, y, attn_mask=mask)[0]

        def feed_forward(y):
            return m.linear2(F.gelu(m.linear1(y)))

        if norm_first:
            y = x + attention(m.norm1(x))
            expected = y + feed_forward(m.norm2(y))
        else:
            y = m.norm1(x + attention(x))
            expected = m.norm2(y + feed_forward(y))
        np.testing.assert_allclose(m(x, src_mask=mask).detach().numpy(), expected.detach().numpy())

    def test_a_decoder_layer_also_looks_at_the_memory(self):
        m = nn.TransformerDecoderLayer(E, HEADS, 8, 0.0).double()
        x, memory = of(Q, K)
        y = m.norm1(x + m.self_attn(x, x, x)[0])
        y = m.norm2(y + m.multihead_attn(y, memory, memory)[0])
        expected = m.norm3(y + m.linear2(F.relu(m.linear1(y))))
        np.testing.assert_allclose(m(x, memory).detach().numpy(), expected.detach().numpy())

    def test_the_whole_is_its_two_stacks(self):
        m = nn.Transformer(E, HEADS, 2, 1, 8, 0.0, batch_first=True).double()
        src, tgt = of(K.swapaxes(0, 1), Q.swapaxes(0, 1))
        mask = m.generate_square_subsequent_mask(L, dtype=float64)
        expected = m.decoder.norm(m.decoder.layers[0](tgt, m.encoder(src), tgt_mask=mask))
        out = m(src, tgt, tgt_mask=mask)
        np.testing.assert_allclose(out.detach().numpy(), expected.detach().numpy())
        with pytest.raises(RuntimeError, match="batch number"):
            m(src[:1], tgt)
        with pytest.raises(RuntimeError, match="d_model"):
            m(src[..., :3], tgt)

    def test_layers_are_copies_with_their_own_parameters(self):
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(E, HEADS, 8), 2)
        first, second = encoder.layers
        assert first.linear1.weight is not second.linear1.weight
        assert (first.linear1.weight == second.linear1.weight).all()
        assert list(encoder.state_dict())[0] == "layers.0.self_attn.in_proj_weight"

    def test_in_evaluation_padding_comes_out_as_zeros(self):
        layer = nn.TransformerEncoderLayer(E, HEADS, 8, batch_first=True)
        encoder, padded = nn.TransformerEncoder(layer, 2).eval(), from_numpy(PADDED)
        x = from_numpy(K.swapaxes(0, 1)).float()
        with torch.no_grad():
            out = encoder(x, src_key_padding_mask=padded)
        assert not out[0, 3].any() and out[1].all()
        assert encoder(x, src_key_padding_mask=padded)[0, 3].all()

    def test_an_unknown_activation(self):
        with pytest.raises(RuntimeError, match="relu/gelu, not tanh"):
            nn.TransformerEncoderLayer(E, HEADS, activation="tanh")


class TestLayout:
    """Programs view the result of attention as (N, L, heads * E), which works if it lies in memory as the query."""

    def test_heads_split_off_a_projection_come_back_together(self):
        n, length, heads, width = 2, 5, 3, 4
        together = torch.randn(n, length, 3 * heads * width)
        q, k, v = (x.view(n, length, heads, width).transpose(1, 2) for x in together.split(heads * width, 2))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        assert out.stride() == (60, 4, 12, 1)
        assert out.transpose(1, 2).view(n, length, heads * width).shape == (2, 5, 12)
        assert F.scaled_dot_product_attention(q.contiguous(), k, v).stride() == (60, 20, 4, 1)
        assert F.scaled_dot_product_attention(q, k, v, dropout_p=0.5).stride() == (60, 20, 4, 1)
