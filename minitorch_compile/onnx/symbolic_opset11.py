"""torch.onnx.symbolic_opset11: where PyTorch keeps how ops are written in ONNX's version 11. None is here.

Programs import it to say how ops of their own would be exported; the functions would be looked up in an export.

>>> from minitorch_compile.onnx import symbolic_opset11
>>> symbolic_opset11.squeeze
Traceback (most recent call last):
AttributeError: module 'minitorch_compile.onnx.symbolic_opset11' has no attribute 'squeeze'
"""
