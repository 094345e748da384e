"""Functions of a place in the score matrix, on the whole of it: `score_mod` and `mask_mod` of flex_attention.

`score_mod(score, batch, head, q_idx, kv_idx)` gives a score for a score, `mask_mod(batch, head, q_idx, kv_idx)` says
what is seen. Both are written for one place; vmap makes them functions of all.

>>> create_mask(lambda b, h, q_idx, kv_idx: q_idx >= kv_idx, None, None, 2, 3)
tensor([[[[ True, False, False],
          [ True,  True, False]]]])
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from minitorch_compile.nn.attention.vmap_slot import registered_vmap
from minitorch_compile.tensor import Tensor, bool_, ops

MaskMod = Callable[[Any, Any, Any, Any], Any]
ScoreMod = Callable[[Any, Any, Any, Any, Any], Any]
# Which argument varies along each dimension of the scores, the innermost first: of batch, head, q_idx, kv_idx.
PLACES = ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None), (0, None, None, None))


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Everything is seen."""
    return batch.new_ones((), dtype=bool_)


def at_all_places(function: Callable[..., Any], sizes: tuple[int, int, int, int], scores: Any = None) -> Any:
    """The function of a place at all of them, as a tensor of these sizes; with `scores`, of a score and its place."""
    vmap = registered_vmap()
    for dims in PLACES:
        function = vmap(function, in_dims=dims if scores is None else (0, *dims))
    places = [ops.arange(size) for size in sizes]
    return function(*places) if scores is None else function(scores, *places)


def takes_scores(function: Callable[..., Any]) -> bool:
    """Whether it is a score_mod. ValueError if it is no mask_mod either, by the number of its parameters."""
    parameters = inspect.signature(function).parameters.values()
    count = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    if count not in (4, 5):
        raise ValueError(f"a mask_mod takes 4 arguments, and a score_mod 5, but {function} takes {count}")
    return count == 5


def create_mask(
    mod_fn: Callable[..., Any], B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None
) -> Tensor:
    """What a mask_mod says at all places, (B, H, Q_LEN, KV_LEN); of a score_mod, where it doesn't give -inf."""
    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    if not takes_scores(mod_fn):
        return at_all_places(mod_fn, sizes)
    return at_all_places(mod_fn, sizes, ops.zeros(sizes)) != float("-inf")


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """A mask_mod that sees what all of these see. RuntimeError for what is no function."""
    _check_functions(mask_mods)

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_ones((), dtype=bool_)
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return and_mask


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """A mask_mod that sees what one of these sees. RuntimeError for what is no function."""
    _check_functions(mask_mods)

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_zeros((), dtype=bool_)
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return or_mask


def _check_functions(mask_mods: tuple[Any, ...]) -> None:
    if not all(callable(mask) for mask in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")
