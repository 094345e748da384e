"""Stacks of transformer layers, and the whole: an encoder whose output the decoder looks at.

>>> from minitorch_compile import nn, ones
>>> model = nn.Transformer(d_model=4, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=8)
>>> model(ones(5, 2, 4), ones(3, 2, 4)).shape, nn.Transformer.generate_square_subsequent_mask(2)
(torch.Size([3, 2, 4]), tensor([[0., -inf],
        [0., 0.]]))
"""

from __future__ import annotations

import copy
from typing import Any

from minitorch_compile.nn import functional as F
from minitorch_compile.nn import init
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.modules.container import ModuleList
from minitorch_compile.nn.modules.normalization import LayerNorm
from minitorch_compile.nn.modules.transformer_layer import (
    Activation,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
    _get_activation_fn,
)
from minitorch_compile.tensor import Tensor, is_grad_enabled, ops

__all__ = ["Transformer", "TransformerDecoder", "TransformerEncoder", "_get_activation_fn"]


def _get_clones(module: Module, N: int) -> ModuleList:  # PyTorch's name, which programs import
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer, and a normalisation after them if one is given.

    `enable_nested_tensor`: as in PyTorch, in evaluation without gradients the padded places of a batch (N, L, E),
    padded at the end, come out of the layers as zeros. `mask_check` is PyTorch's, and unused.
    """

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = enable_nested_tensor and _takes_nested_tensors(encoder_layer)
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=bool(is_causal), src_key_padding_mask=src_key_padding_mask)
        if src_key_padding_mask is not None and mask is None and self._zeroes_padding(src, src_key_padding_mask):
            output = output * src_key_padding_mask.unsqueeze(-1).logical_not()
        return output if self.norm is None else self.norm(output)

    def _zeroes_padding(self, src: Tensor, padding: Tensor) -> bool:
        """Whether PyTorch would leave the padded places out, which makes them zeros."""
        if not self.use_nested_tensor or self.layers[0].training or src.dim() != 3 or padding.is_fake:
            return False
        if is_grad_enabled() and (src.requires_grad or any(p.requires_grad for p in self.layers[0].parameters())):
            return False
        hidden = (padding != 0).array
        return bool((hidden[:, 1:] >= hidden[:, :-1]).all())  # once hidden, hidden to the end


def _takes_nested_tensors(layer: Any) -> bool:
    """Whether PyTorch has a fast path for such a layer."""
    if not isinstance(layer, TransformerEncoderLayer) or layer.norm_first:
        return False
    attention = layer.self_attn
    return (
        attention.batch_first
        and attention._qkv_same_embed_dim
        and attention.in_proj_bias is not None
        and attention.num_heads % 2 == 0
        and layer.norm1.eps == layer.norm2.eps
        and layer.activation_relu_or_gelu != 0
    )


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer, and a normalisation after them if one is given."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """Encoder and decoder (Vaswani et al. 2017): src (S, N, E) and tgt (T, N, E) to (T, N, E).

    `batch_first`: (N, S, E) in place of (S, N, E). `custom_encoder`, `custom_decoder` take the place of the stacks.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any | None = None,
        custom_decoder: Any | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        made: Any = {"device": device, "dtype": dtype}
        how: Any = (dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(d_model, nhead, *how, **made)
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, **made)
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(d_model, nhead, *how, **made)
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, **made)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        self._check(src, tgt)
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    def _check(self, src: Tensor, tgt: Tensor) -> None:
        samples = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(samples) != tgt.size(samples):
            raise RuntimeError(
                f"the batch number of src and tgt must be equal, got {src.size(samples)} and {tgt.size(samples)}"
            )
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError(
                f"the feature number of src and tgt must be equal to d_model, {self.d_model}, got {src.size(-1)} and"
                f" {tgt.size(-1)}"
            )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """The mask to add to scores that hides what comes later: -inf above the diagonal, else 0."""
        return ops.triu(ops.full((sz, sz), float("-inf"), dtype=dtype, device=device), 1)

    def _reset_parameters(self) -> None:
        """Xavier weights."""
        for param in self.parameters():
            if param.dim() > 1:
                init.xavier_uniform_(param)
