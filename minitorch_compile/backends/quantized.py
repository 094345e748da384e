"""torch.backends.quantized: the libraries for quantised models, of which there is none.

>>> engine, supported_engines
('none', ['none'])
"""

engine = "none"
supported_engines = ["none"]
