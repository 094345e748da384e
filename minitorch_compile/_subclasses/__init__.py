"""`torch._subclasses` as programs use it: fake tensors. The mode itself is `tensor/modes/fake_tensor_mode.py`.

>>> import minitorch_compile as torch
>>> with torch._subclasses.FakeTensorMode():
...     model = torch.nn.Linear(10**6, 10**6)
>>> isinstance(model.weight, torch._subclasses.FakeTensor), model.weight.shape
(True, torch.Size([1000000, 1000000]))
"""

from minitorch_compile._subclasses import fake_tensor
from minitorch_compile._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensor, FakeTensorMode

__all__ = ["DynamicOutputShapeException", "FakeTensor", "FakeTensorMode", "fake_tensor"]
