"""Pruning: a parameter is multiplied by a mask of zeros and ones before each call of its module.

The parameter `weight` becomes `weight_orig`, beside it stands the buffer `weight_mask`, and `weight` is their product.

>>> from minitorch_compile import nn, tensor
>>> layer = nn.Linear(3, 1, bias=False)
>>> _ = layer.weight.data.copy_(tensor([[3.0, -1.0, 2.0]]))
>>> l1_unstructured(layer, "weight", amount=1).weight.tolist(), is_pruned(layer)
([[3.0, -0.0, 2.0]], True)
>>> remove(layer, "weight").weight.tolist(), [name for name, _ in layer.named_parameters()]
([[3.0, -0.0, 2.0]], ['weight'])
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.tensor import Tensor, ops


class BasePruningMethod(ABC):
    """A way to choose what is pruned: `compute_mask(t, default_mask)` of a subclass. It is the hook that applies it.

    PRUNING_TYPE says to what it is applied if something is pruned already: "unstructured" to the entries that are left,
    "structured" to the channels that are, "global" to all.
    """

    _tensor_name: str
    PRUNING_TYPE = "unstructured"

    def __call__(self, module: Module, inputs: Any) -> None:
        """Before each call: the parameter is the masked original."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """The mask for a tensor of which the zeros of `default_mask` are pruned already."""

    def apply_mask(self, module: Module) -> Any:
        """The original times its mask."""
        name = self._tensor_name
        mask, original = getattr(module, f"{name}_mask"), getattr(module, f"{name}_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prunes a parameter by such a method, made of these arguments. What was pruned before stays so."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        before = _hook_of(module, name)
        original = getattr(module, name)
        if importance_scores is not None and importance_scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        scores = original if importance_scores is None else importance_scores
        if before is not None:
            container = before[1] if isinstance(before[1], PruningContainer) else PruningContainer(before[1])
            container.add_pruning_method(method)
            method = container
        default = getattr(module, f"{name}_mask", None)
        default = ops.ones_like(original) if default is None else default.detach().clone()
        mask = method.compute_mask(scores, default)  # before anything changes, as it may fail
        if before is None:
            module.register_parameter(f"{name}_orig", original)
            del module._parameters[name]
        else:
            del module._forward_pre_hooks[before[0]]
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A pruned copy of a tensor."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        default = ops.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default)

    def remove(self, module: Module) -> None:
        """Makes the pruned values those of the parameter, which is one again."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        delattr(module, name)
        original = module._parameters[f"{name}_orig"]
        assert original is not None
        original.data = weight.data
        del module._parameters[f"{name}_orig"]
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods on one parameter, each applied to what the ones before have left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        methods = args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args
        for method in methods:
            if not self._pruning_methods and isinstance(method, BasePruningMethod):
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """One more. TypeError for what is none, ValueError for one of another parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named"
                f" '{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        """What the last method makes of what is left."""
        method, left = self._pruning_methods[-1], default_mask
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            where: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = getattr(method, "dim", -1) % t.dim()
            kept = mask.sum(tuple(d for d in range(t.dim()) if d != dim)) != 0
            where = tuple(kept if d == dim else slice(None) for d in range(t.dim()))
        elif method.PRUNING_TYPE == "global":
            where = tuple(slice(None) for _ in range(t.dim()))
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        result = mask.clone()
        result[where] = method.compute_mask(t[where], default_mask=left[where]).to(result.dtype)
        return result


class Identity(BasePruningMethod):
    """Prunes nothing."""

    @classmethod
    def apply(cls, module: Module, name: str) -> Any:  # type: ignore[override]
        """Gives a parameter a mask that keeps all of it."""
        return super().apply(module, name)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Prunes entries by chance: `amount` of them, a number or a share."""

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    @classmethod
    def apply(cls, module: Module, name: str, amount: float) -> Any:  # type: ignore[override]
        """Prunes `amount` entries of a parameter."""
        return super().apply(module, name, amount=amount)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        return _without(default_mask, _count(self.amount, t.nelement()), lambda: ops.rand_like(t), largest=True)


class L1Unstructured(BasePruningMethod):
    """Prunes the entries of the least magnitudes."""

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    @classmethod
    def apply(cls, module: Module, name: str, amount: float, importance_scores: Any = None) -> Any:  # type: ignore[override]
        """Prunes the `amount` entries of a parameter that have the least scores, by default its own values."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        return _without(default_mask, _count(self.amount, t.nelement()), lambda: ops.abs(t))


class RandomStructured(BasePruningMethod):
    """Prunes channels along `dim` by chance."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.dim = dim

    @classmethod
    def apply(cls, module: Module, name: str, amount: float, dim: int = -1) -> Any:  # type: ignore[override]
        """Prunes `amount` channels of a parameter."""
        return super().apply(module, name, amount=amount, dim=dim)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        _check_dims(t, self.dim)
        count = _count(self.amount, t.shape[self.dim])
        return _without_channels(default_mask, self.dim, count, ops.rand(t.shape[self.dim])) if count else default_mask


class LnStructured(BasePruningMethod):
    """Prunes the channels along `dim` of the least n-norms."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    @classmethod
    def apply(cls, module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None) -> Any:  # type: ignore[override]
        """Prunes the `amount` channels of a parameter whose scores, by default its own values, have the least norms."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        _check_dims(t, self.dim)
        count = _count(self.amount, t.shape[self.dim])
        if not count:
            return default_mask
        others = tuple(d for d in range(t.dim()) if d != self.dim % t.dim())
        return _without_channels(default_mask, self.dim, count, ops.norm(t, p=self.n, dim=others))


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> Any:  # type: ignore[override]
        """Prunes where `mask` is 0."""
        return super().apply(module, name, mask=mask)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Any:
        if default_mask.shape != self.mask.shape:
            raise AssertionError("default_mask and self.mask must have the same shape")
        return default_mask * self.mask.to(dtype=default_mask.dtype)


# ------------------------------------------------------------------------------------------ functions


def identity(module: Module, name: str) -> Module:
    """Gives a parameter a mask, and prunes nothing."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prunes `amount` entries of a parameter, a number or a share, by chance."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Any = None) -> Module:
    """Prunes the entries of a parameter with the least magnitudes, of its own or of `importance_scores`."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prunes channels of a parameter along a dimension by chance."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None) -> Module:
    """Prunes the channels of a parameter along a dimension that have the least n-norms."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prunes a parameter by a given mask."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]], pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prunes several parameters, pairs of a module and a name, as if they were one."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs, given = list(parameters), {} if importance_scores is None else importance_scores
    if not isinstance(given, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    current = [getattr(module, name) for module, name in pairs]
    scores = ops.cat([given.get(pair, x).reshape(-1) for pair, x in zip(pairs, current, strict=True)])
    masks = [getattr(m, f"{n}_mask", ops.ones_like(x)).reshape(-1) for (m, n), x in zip(pairs, current, strict=True)]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method'
            f" {pruning_method} of type {method.PRUNING_TYPE}"
        )
    final = container.compute_mask(scores, ops.cat(masks))
    for (module, name), part, x in zip(pairs, final.split([x.numel() for x in current]), current, strict=True):
        custom_from_mask(module, name, mask=part.view_as(x))


def remove(module: Module, name: str) -> Module:
    """Makes what pruning left permanent, and forgets the mask. ValueError if the parameter isn't pruned."""
    found = _hook_of(module, name)
    if found is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    key, hook = found
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Module) -> bool:
    """Whether the module, or one in it, has a pruned parameter."""
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())


def _hook_of(module: Module, name: str) -> tuple[int, Any] | None:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None


# ------------------------------------------------------------------------------------------ amounts and masks


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, numbers.Integral)
    if (whole and amount < 0) or (not whole and not 0.0 <= float(amount) <= 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count(amount: Any, size: Any) -> int:
    """How many of `size` are pruned. ValueError for more than there are."""
    if isinstance(amount, numbers.Integral):
        if amount > size:
            raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
        return int(amount)
    return round(amount * size)


def _check_dims(t: Any, dim: int) -> None:
    if len(t.shape) <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape"
            f" {t.shape} with {len(t.shape)} dims"
        )
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _without(mask: Any, count: int, scores: Any, largest: bool = False) -> Any:
    """The mask with zeros at the least scores, or at the largest."""
    result = mask.clone()
    if count:
        pruned = ops.topk(scores().reshape(-1), k=count, largest=largest).indices
        result.view(-1)[pruned] = 0
    return result


def _without_channels(mask: Any, dim: int, count: int, scores: Any) -> Any:
    kept = ops.topk(scores, k=scores.shape[0] - count, largest=True).indices
    result = ops.zeros_like(mask)
    where: Sequence[Any] = [slice(None)] * mask.dim()
    where = [kept if d == dim % mask.dim() else each for d, each in enumerate(where)]
    result[tuple(where)] = 1
    return result * mask
