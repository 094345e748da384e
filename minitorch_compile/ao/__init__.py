"""torch.ao: where PyTorch keeps quantisation, of which the markers in models are here.

>>> quantization.QuantStub()(2.0)
2.0
"""

from minitorch_compile.ao import quantization

__all__ = ["quantization"]
