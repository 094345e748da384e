"""`torch.special`: the functions with names of their own, under SciPy's names.

>>> from minitorch_compile import special, tensor
>>> special.gammaln(tensor(5.0)), special.expit(tensor(0.0)), special.entr(tensor(0.5))
(tensor(3.1781), tensor(0.5000), tensor(0.3466))
"""

from minitorch_compile.tensor import ops

airy_ai = ops.special_airy_ai
bessel_j0 = ops.special_bessel_j0
bessel_j1 = ops.special_bessel_j1
bessel_y0 = ops.special_bessel_y0
bessel_y1 = ops.special_bessel_y1
chebyshev_polynomial_t = ops.special_chebyshev_polynomial_t
chebyshev_polynomial_u = ops.special_chebyshev_polynomial_u
chebyshev_polynomial_v = ops.special_chebyshev_polynomial_v
chebyshev_polynomial_w = ops.special_chebyshev_polynomial_w
digamma = ops.digamma
entr = ops.special_entr
erf = ops.erf
erfc = ops.erfc
erfcx = ops.special_erfcx
erfinv = ops.erfinv
exp2 = ops.exp2
expit = ops.sigmoid
expm1 = ops.expm1
gammainc = ops.igamma
gammaincc = ops.igammac
gammaln = ops.lgamma
hermite_polynomial_h = ops.special_hermite_polynomial_h
hermite_polynomial_he = ops.special_hermite_polynomial_he
i0 = ops.i0
i0e = ops.special_i0e
i1 = ops.special_i1
i1e = ops.special_i1e
laguerre_polynomial_l = ops.special_laguerre_polynomial_l
legendre_polynomial_p = ops.special_legendre_polynomial_p
log1p = ops.log1p
log_ndtr = ops.special_log_ndtr
log_softmax = ops.log_softmax
logit = ops.logit
logsumexp = ops.logsumexp
modified_bessel_i0 = ops.i0
modified_bessel_i1 = ops.special_i1
modified_bessel_k0 = ops.special_modified_bessel_k0
modified_bessel_k1 = ops.special_modified_bessel_k1
multigammaln = ops.mvlgamma
ndtr = ops.special_ndtr
ndtri = ops.special_ndtri
polygamma = ops.polygamma
psi = ops.digamma
round = ops.round
scaled_modified_bessel_k0 = ops.special_scaled_modified_bessel_k0
scaled_modified_bessel_k1 = ops.special_scaled_modified_bessel_k1
shifted_chebyshev_polynomial_t = ops.special_shifted_chebyshev_polynomial_t
shifted_chebyshev_polynomial_u = ops.special_shifted_chebyshev_polynomial_u
shifted_chebyshev_polynomial_v = ops.special_shifted_chebyshev_polynomial_v
shifted_chebyshev_polynomial_w = ops.special_shifted_chebyshev_polynomial_w
sinc = ops.sinc
softmax = ops.softmax
spherical_bessel_j0 = ops.special_spherical_bessel_j0
xlog1py = ops.special_xlog1py
xlogy = ops.xlogy
zeta = ops.special_zeta
