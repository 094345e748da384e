"""Runs programs written for PyTorch: `import torch` gives them this package.

    python -m minitorch_compile.as_torch script.py --epochs 3
    python -m minitorch_compile.as_torch -m package.train --epochs 3

or, in a program of one's own, around the imports of the other one's:

>>> from minitorch_compile import as_torch
>>> with as_torch.installed():
...     import torch
...     import torch.nn.functional as F
>>> F.relu(torch.tensor([-1.0, 2.0]))
tensor([0., 2.])

`torch.nn` and `minitorch_compile.nn` are one module, so nothing is wrapped and nothing is slower. A module or name that
this package lacks raises ImportError or AttributeError with its name.
"""

from minitorch_compile.as_torch.import_hook import install, installed, uninstall
from minitorch_compile.as_torch.run_script import run_module, run_script

__all__ = ["install", "installed", "run_module", "run_script", "uninstall"]
