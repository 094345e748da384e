"""`torch.special`: the functions with names of their own, under SciPy's names.

>>> from minitorch_compile import special, tensor
>>> special.gammaln(tensor(5.0)), special.expit(tensor(0.0)), special.entr(tensor(0.5))
(tensor(3.1781), tensor(0.5000), tensor(0.3466))
"""

from minitorch_compile.tensor import ops

digamma = ops.digamma
erf = ops.erf
erfc = ops.erfc
erfinv = ops.erfinv
exp2 = ops.exp2
expit = ops.sigmoid
expm1 = ops.expm1
gammainc = ops.igamma
gammaincc = ops.igammac
gammaln = ops.lgamma
i0 = ops.i0
log1p = ops.log1p
logit = ops.logit
logsumexp = ops.logsumexp
modified_bessel_i0 = ops.i0
modified_bessel_i1 = ops.special_i1
multigammaln = ops.mvlgamma
polygamma = ops.polygamma
psi = ops.digamma
round = ops.round
sinc = ops.sinc
xlogy = ops.xlogy

globals().update(ops.visible_in("special"))
