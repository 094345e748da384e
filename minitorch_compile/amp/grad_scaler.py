"""GradScaler: keeps small half-precision gradients from vanishing, by multiplying the loss and dividing the gradients.

The factor grows until gradients overflow; a step that did is left out, and the factor made smaller.

>>> from minitorch_compile import nn, optim, ones
>>> model = nn.Linear(2, 1)
>>> scaler, optimizer = GradScaler("cpu", init_scale=8.0, growth_interval=1), optim.SGD(model.parameters(), lr=0.1)
>>> scaler.scale(model(ones(1, 2)).sum()).backward()
>>> model.weight.grad
tensor([[8., 8.]])
>>> scaler.step(optimizer), scaler.update(), scaler.get_scale()
(None, None, 16.0)

Nothing of it waits for a GPU except step(), which has to know whether the gradients are finite.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

from minitorch_compile.tensor import Tensor, float16, float32, int32, ops
from minitorch_compile.tensor.dispatch.accelerators import accelerators
from minitorch_compile.tensor.grad_mode import no_grad
from minitorch_compile.user_warnings import warn_user


class OptState(Enum):
    """What was done with an optimizer since the last update()."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _not_begun() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scales losses on a type of device; for "cuda" without a GPU it warns and passes everything on.

    In each iteration: `scaler.scale(loss).backward()`, `scaler.step(optimizer)` for each optimizer, `scaler.update()`.
    Who looks at the gradients in between, to clip them, calls `scaler.unscale_(optimizer)` first.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda" and not accelerators["cuda"].is_available():
            warn_user("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if self._enabled and growth_factor <= 1.0:
            raise AssertionError(f"The growth factor must be > 1.0. (It is {growth_factor}.)")
        if self._enabled and backoff_factor >= 1.0:
            raise AssertionError(f"The backoff factor must be < 1.0. (It is {backoff_factor}.)")
        self._init_scale = init_scale
        self._init_growth_tracker = 0
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        # Made where the first loss is: the factor, and how many steps in a row were not left out.
        self._scale: Tensor | None = None
        self._growth_tracker: Tensor | None = None
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_not_begun)

    # ------------------------------------------------------------------------------------------ an iteration

    def scale(self, outputs: Any) -> Any:
        """A loss, or several in lists, times the factor. ValueError for what is no tensor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = ops.full((), self._init_scale, dtype=float32, device=outputs.device)
                self._growth_tracker = ops.full((), self._init_growth_tracker, dtype=int32, device=outputs.device)
            return outputs * self._scale.to(outputs.device)
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(map(self.scale, outputs))
        if isinstance(outputs, Iterable):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divides the gradients of an optimizer by the factor, and notes whether they are finite. RuntimeError for the
        second time in an iteration, ValueError for gradients in float16: they would vanish."""
        if not self._enabled:
            return
        scale, _ = self._in_use("unscale_")
        progress = self._per_optimizer_states[id(optimizer)]
        if progress["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if progress["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = scale.double().reciprocal().float()
        progress["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, False)
        progress["stage"] = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step(...)` with the gradients divided by the factor, left out if one of them isn't finite.
        RuntimeError for a closure, and for the second time in an iteration."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._in_use("step")
        progress = self._per_optimizer_states[id(optimizer)]
        if progress["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if progress["stage"] is OptState.READY:
            self.unscale_(optimizer)
        found = progress["found_inf_per_device"].values()
        if not found:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if any(x.item() for x in found) else optimizer.step(*args, **kwargs)
        progress["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale: Any = None) -> None:
        """The end of an iteration: the factor becomes smaller if a step was left out, and larger after so many in a row
        that weren't; or it becomes `new_scale`. AssertionError if no gradients were looked at."""
        if not self._enabled:
            return
        scale, tracker = self._in_use("update")
        if new_scale is not None:
            self._set_scale(scale, new_scale)
        else:
            found = [
                each.to(scale.device)
                for progress in self._per_optimizer_states.values()
                for each in progress["found_inf_per_device"].values()
            ]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            with no_grad():
                self._adapt(scale, tracker, sum(found[1:], found[0]) > 0)
        self._per_optimizer_states = defaultdict(_not_begun)

    def _adapt(self, scale: Tensor, tracker: Tensor, overflowed: Tensor) -> None:
        """The next factor, without asking whether it overflowed."""
        grown, count = scale * self._growth_factor, tracker + 1
        due = count == self._growth_interval
        unchanged_or_grown = ops.where(ops.logical_and(due, ops.isfinite(grown)), grown, scale)
        scale.copy_(ops.where(overflowed, scale * self._backoff_factor, unchanged_or_grown))
        tracker.copy_(ops.where(ops.logical_or(overflowed, due), ops.zeros_like(count), count))

    def _set_scale(self, scale: Tensor, new_scale: Any) -> None:
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
            return
        if new_scale.device.type != self._device or new_scale.numel() != 1 or new_scale.requires_grad:
            raise AssertionError(
                "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with"
                " requires_grad=False."
            )
        scale.copy_(new_scale)

    def _in_use(self, name: str) -> tuple[Tensor, Tensor]:
        if self._scale is None or self._growth_tracker is None:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use scaler.scale(loss or"
                " outputs) earlier in the iteration."
            )
        return self._scale, self._growth_tracker

    @no_grad()
    def _unscale_grads_(self, optimizer: Any, inverse: Tensor, allow_fp16: bool) -> dict[Any, Tensor]:
        """Multiplies gradients, and says for each device whether one wasn't finite: 1.0 or 0.0."""
        found: dict[Any, Tensor] = {}
        inverses: dict[Any, Tensor] = {}
        for grad in _gradients(optimizer, allow_fp16):
            where = grad.device
            overflowed = ops.logical_not(ops.all(ops.isfinite(grad))).float()
            found[where] = ops.maximum(found[where], overflowed) if where in found else overflowed
            inverses[where] = inverses[where] if where in inverses else inverse.to(where)
            grad.mul_(inverses[where])
        return found

    # ------------------------------------------------------------------------------------------ what it knows

    def is_enabled(self) -> bool:
        """Whether losses are scaled."""
        return self._enabled

    def get_scale(self) -> float:
        """The factor of the loss; 1.0 if it isn't enabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """By what the factor is multiplied when all went well."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Changes by what the factor is multiplied when all went well."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """By what the factor is multiplied when gradients overflowed."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Changes by what the factor is multiplied when gradients overflowed."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many steps in a row the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Changes after how many steps in a row the factor grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def state_dict(self) -> dict[str, Any]:
        """What there is to save; nothing if it isn't enabled. To be called after update()."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what state_dict() gave. RuntimeError if that is empty."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale, self._init_growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        for tensor, value in ((self._scale, self._init_scale), (self._growth_tracker, self._init_growth_tracker)):
            if tensor is not None:
                tensor.fill_(value)
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]

    def __getstate__(self) -> dict[str, Any]:
        if self._enabled and self._per_optimizer_states:
            raise AssertionError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after"
                " scaler.update()."
            )
        numbers = {"_init_scale": self.get_scale(), "_init_growth_tracker": self._get_growth_tracker()}
        return self.__dict__ | numbers | {"_scale": None, "_growth_tracker": None}

    def _check_inf_per_device(self, optimizer: Any) -> dict[Any, Tensor]:
        """Whether gradients are finite, which are left as they are. For optimizers that divide themselves."""
        scale, _ = self._in_use("_check_inf_per_device")
        found = self._unscale_grads_(optimizer, ops.full((), 1.0, dtype=float32, device=scale.device), True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = found
        return found

    def _found_inf_per_device(self, optimizer: Any) -> dict[Any, Tensor]:
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]


def _gradients(optimizer: Any, allow_fp16: bool) -> Iterator[Tensor]:
    """The gradients of an optimizer's parameters; of sparse ones, the values."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            grad = parameter.grad
            if grad is None:
                continue
            if grad.dtype is float16 and not allow_fp16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            yield grad._values() if grad.is_sparse_layout else grad
