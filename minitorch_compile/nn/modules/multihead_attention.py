"""Attention with several heads, as a layer.

>>> from minitorch_compile import nn, ones
>>> layer = nn.MultiheadAttention(embed_dim=4, num_heads=2, batch_first=True)
>>> out, weights = layer(ones(1, 3, 4), ones(1, 5, 4), ones(1, 5, 4))
>>> out.shape, weights.shape, list(layer.state_dict())
(torch.Size([1, 3, 4]), torch.Size([1, 3, 5]), ['in_proj_weight', 'in_proj_bias', 'out_proj.weight', 'out_proj.bias'])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn import functional as F
from minitorch_compile.nn import init
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.modules.linear import NonDynamicallyQuantizableLinear
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor, empty


class MultiheadAttention(Module):
    """`num_heads` heads, each over embed_dim / num_heads numbers (Vaswani et al. 2017).

    `kdim`, `vdim`: the widths of keys and values, if they differ from `embed_dim`. `add_bias_kv` adds a trained place
    to look at, `add_zero_attn` one of zeros. `batch_first`: (N, L, E) in place of (L, N, E). AssertionError unless the
    heads divide `embed_dim`.
    """

    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        made: Any = {"device": device, "dtype": dtype}
        self._make_projections(made)
        self.register_parameter("in_proj_bias", Parameter(empty(3 * embed_dim, **made)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **made)
        if add_bias_kv:
            self.bias_k = Parameter(empty(1, 1, embed_dim, **made))
            self.bias_v = Parameter(empty(1, 1, embed_dim, **made))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _make_projections(self, made: Any) -> None:
        """One weight for query, key and value together, or three if their widths differ."""
        width = self.embed_dim
        separate = not self._qkv_same_embed_dim
        if separate:
            self.q_proj_weight = Parameter(empty(width, width, **made))
            self.k_proj_weight = Parameter(empty(width, self.kdim, **made))
            self.v_proj_weight = Parameter(empty(width, self.vdim, **made))
            self.register_parameter("in_proj_weight", None)
        else:
            self.in_proj_weight = Parameter(empty(3 * width, width, **made))
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)

    def _reset_parameters(self) -> None:
        """Xavier weights, biases 0."""
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
        if self.bias_v is not None:
            init.xavier_normal_(self.bias_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        batch_first = self.batch_first and query.dim() == 3
        if batch_first:
            query, key, value = _length_first(query, key, value)
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (output.transpose(1, 0) if batch_first else output), weights


def _check(embed_dim: int, num_heads: int) -> None:
    if embed_dim <= 0 or num_heads <= 0:
        raise ValueError(
            f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads}"
            " instead"
        )
    if embed_dim % num_heads:
        raise AssertionError(f"embed_dim must be divisible by num_heads, got {embed_dim} and {num_heads}")


def _length_first(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(N, L, E) -> (L, N, E); what was the same tensor stays the same, for one product projects them all."""
    if key is value:
        if query is key:
            query = key = value = query.transpose(1, 0)
            return query, key, value
        key = value = key.transpose(1, 0)
        return query.transpose(1, 0), key, value
    return query.transpose(1, 0), key.transpose(1, 0), value.transpose(1, 0)
