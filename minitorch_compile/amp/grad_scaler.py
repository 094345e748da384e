"""GradScaler: keeps small half-precision gradients from vanishing. Off without a GPU, when it passes everything on.

>>> from minitorch_compile import nn, optim, ones
>>> model = nn.Linear(2, 1)
>>> scaler, optimizer = GradScaler(enabled=False), optim.SGD(model.parameters(), lr=0.1)
>>> scaler.scale(model(ones(1, 2)).sum()).backward()
>>> scaler.step(optimizer), scaler.update(), scaler.get_scale()
(None, None, 1.0)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.user_warnings import warn_user


class GradScaler:
    """Passes on what it is given: there is no GPU to scale gradients for. Warns if `enabled`, as PyTorch does."""

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled:
            warn_user(f"GradScaler is enabled, but {device.upper()} is not available.  Disabling.")

    def scale(self, outputs: Any) -> Any:
        """The loss, unchanged."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Nothing was scaled."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step(...)`."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """There is no scale to adapt."""

    def is_enabled(self) -> bool:
        """Whether losses are scaled: never."""
        return False

    def get_scale(self) -> float:
        """The factor of the loss."""
        return 1.0

    def state_dict(self) -> dict[str, Any]:
        """What there is to save: nothing."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what state_dict() gave."""
