"""torch.nn.attention: block masks and flex_attention, against sums written out and what PyTorch 2.13 printed."""

import pytest

import minitorch_compile as torch
from minitorch_compile.backends import cuda
from minitorch_compile.nn import functional as F
from minitorch_compile.nn.attention import SDPBackend, sdpa_kernel
from minitorch_compile.nn.attention.bias import CausalVariant, causal_lower_right, causal_upper_left
from minitorch_compile.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    or_masks,
)


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


@pytest.fixture
def qkv():
    torch.manual_seed(0)
    return [torch.randn(*sizes, requires_grad=True) for sizes in ((2, 4, 30, 8), (2, 2, 26, 8), (2, 2, 26, 8))]


def written_out(q, k, v, change, seen):
    """Attention with scores and mask as whole tensors."""
    k, v = (x.repeat_interleave(2, 1) for x in (k, v))
    scores = change(q @ k.transpose(-1, -2) / 8**0.5)
    scores = scores.masked_fill(~seen, float("-inf"))
    weights = scores.softmax(-1).nan_to_num(0.0)
    return weights @ v, scores.logsumexp(-1)


def test_a_score_function_and_a_mask_say_what_whole_tensors_say(qkv):
    bias, slope = torch.randn(4, 26), torch.randn(4)
    i, j, h = torch.arange(30)[:, None], torch.arange(26), torch.arange(4)[:, None, None]
    seen = (i >= j) & ((i > 3) | (h % 2 == 0))
    mask = create_block_mask(
        and_masks(causal, or_masks(lambda b, h, q, k: q > 3, lambda b, h, q, k: h % 2 == 0)),
        None,
        4,
        30,
        26,
        BLOCK_SIZE=8,
    )
    out, lse = flex_attention(
        *qkv,
        score_mod=lambda s, b, h, q, k: s * 1.5 + bias[h][k] + slope[h] * (q - k),
        block_mask=mask,
        enable_gqa=True,
        return_lse=True,
    )
    change = lambda s: s * 1.5 + bias[:, None] + slope[:, None, None] * (i - j)
    expected, expected_lse = written_out(*qkv, change, seen.expand(2, 4, 30, 26))
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(lse, expected_lse)
    got, wanted = (torch.autograd.grad(x.sin().sum(), qkv) for x in (out, expected))
    torch.testing.assert_close(got, wanted)


def test_a_query_that_sees_nothing_gets_zeros(qkv):
    mask = create_block_mask(lambda b, h, q, k: (q >= k) & (q > 1), None, None, 30, 26)
    out, aux = flex_attention(*qkv, block_mask=mask, enable_gqa=True, return_aux=AuxRequest(lse=True))
    assert bool((out[:, :, :2] == 0).all())
    assert aux.lse[0, 0, :2].tolist() == [float("-inf")] * 2
    assert aux.max_scores is None


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compiled_it_is_one_graph_with_gradients(backend, qkv):
    mask = create_block_mask(causal, None, None, 30, 26, BLOCK_SIZE=8)
    mod = lambda s, b, h, q, k: s * 1.5 - (q - k) * 0.1
    call = lambda q, k, v: flex_attention(q, k, v, score_mod=mod, block_mask=mask, enable_gqa=True)
    compiled = torch.compile(call, backend=backend, fullgraph=True)
    got, wanted = ([y, *torch.autograd.grad(y.sin().sum(), qkv)] for y in (compiled(*qkv), call(*qkv)))
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)


def test_a_block_mask_prints_as_pytorchs():
    mask = create_block_mask(causal, 2, None, 300, 260, BLOCK_SIZE=128)
    picture = "██    \n████  \n██████"
    assert str(mask) == (
        f"BlockMask(shape=(2, 1, 300, 260), sparsity=-26.03%, \n(0, 0)\n{picture}\n\n(1, 0)\n{picture}\n)"
    )
    assert repr(mask).splitlines()[1] == "    kv_num_blocks=torch.Size([2, 1, 3]),"
    assert mask.to_string(limit=1).startswith(f"(0, 0)\n{picture}\n\n...\nTo print out more")


def test_the_blocks_of_a_mask_are_listed_as_pytorchs():
    mask = create_block_mask(causal, 1, None, 300, 260, BLOCK_SIZE=128)
    assert mask.kv_num_blocks.tolist() == [[[1, 1, 3]]]
    assert mask.kv_indices.tolist() == [[[[0, 1, 2], [1, 0, 2], [0, 1, 2]]]]
    assert mask.full_kv_num_blocks.tolist() == [[[0, 1, 0]]]
    assert mask.q_num_blocks.tolist() == [[[2, 2, 1]]]
    assert mask.q_indices.tolist() == [[[[0, 2, 1], [1, 2, 0], [2, 0, 1]]]]
    assert mask.full_q_indices.tolist() == [[[[1, 0, 2], [0, 1, 2], [0, 1, 2]]]]
    assert (mask.shape, mask.numel(), mask.BLOCK_SIZE) == ((1, 1, 300, 260), 78000, (128, 128))
    assert mask[0, 0, 1].kv_num_blocks.tolist() == [[[1]]]
    assert mask._adjust(129, 100).to_dense().tolist() == [[[[1], [1]]]]


def test_blocks_that_are_given_are_seen_where_no_function_says_more():
    q, k, v = torch.randn(3, 1, 1, 4, 2)
    counts = torch.tensor([[[1, 2]]], dtype=torch.int32)
    mask = BlockMask.from_kv_blocks(counts, torch.tensor([[[[0, 1], [0, 1]]]], dtype=torch.int32), BLOCK_SIZE=2)
    seen = torch.tensor([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 1, 1]]).bool()
    torch.testing.assert_close(flex_attention(q, k, v, block_mask=mask), F.scaled_dot_product_attention(q, k, v, seen))


def test_create_mask_takes_both_kinds_of_functions():
    assert create_mask(causal, None, None, 2, 3).tolist() == [[[[True, False, False], [True, True, False]]]]
    with pytest.raises(AssertionError, match="create-block_mask requires a mask_mod function!"):
        create_block_mask(lambda s, b, h, q, k: s, 1, 1, 3, 4)
    with pytest.raises(RuntimeError, match="All inputs should be callable mask_mods"):
        and_masks(1)


def test_what_does_not_fit_is_refused(qkv):
    q, k, v = qkv
    with pytest.raises(ValueError, match="same number of heads but got Hq=4 and Hkv=2. Try setting enable_gqa=True"):
        flex_attention(q, k, v)
    with pytest.raises(NotImplementedError, match="must be 4D tensors"):
        flex_attention(q[0], k, v)
    with pytest.raises(ValueError, match="the same dtype"):
        flex_attention(q, k.double(), v, enable_gqa=True)
    with pytest.raises(ValueError, match="same batch size, or non-none block_mask"):
        flex_attention(q, k[:1], v[:1], enable_gqa=True)
    with pytest.raises(ValueError, match="created for a smaller length"):
        flex_attention(q, k, v, enable_gqa=True, block_mask=create_block_mask(causal, 1, 1, 16, 16))


def test_causal_masks_know_their_corner():
    assert causal_upper_left(2, 3).tolist() == [[True, False, False], [True, True, False]]
    mask = causal_lower_right(2, 3)
    assert mask.tolist() == [[True, True, False], [True, True, True]]
    assert mask.variant is CausalVariant.LOWER_RIGHT
    q, k = torch.randn(1, 1, 2, 4), torch.randn(1, 1, 3, 4)
    torch.testing.assert_close(
        F.scaled_dot_product_attention(q, k, k, attn_mask=mask),
        F.scaled_dot_product_attention(q, k, k, attn_mask=mask._materialize()),
    )


def test_the_choice_of_backends_holds_inside():
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION]):
        assert (cuda.flash_sdp_enabled(), cuda.math_sdp_enabled()) == (True, False)
    assert cuda.math_sdp_enabled()
    with pytest.raises(AssertionError, match="Backend must be an instance of SDPBackend"):
        sdpa_kernel(1)


def test_the_choice_of_backends_is_traced():
    def program(x):
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(x, x, x)

    x = torch.randn(1, 1, 2, 2)
    torch.testing.assert_close(torch.compile(program, backend="eager", fullgraph=True)(x), program(x))
