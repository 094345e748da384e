"""torch.distributions: probability distributions, their samples, densities, entropies and divergences.

>>> from minitorch_compile import manual_seed, tensor
>>> _ = manual_seed(0)
>>> d = Normal(tensor([0.0, 10.0]), 1.0)
>>> d.sample().shape, d.log_prob(d.mean), kl_divergence(d, d)
(torch.Size([2]), tensor([-0.9189, -0.9189]), tensor([0., 0.]))
"""

from minitorch_compile.distributions import constraints, transforms
from minitorch_compile.distributions.bernoulli import Bernoulli
from minitorch_compile.distributions.beta import Beta
from minitorch_compile.distributions.binomial import Binomial
from minitorch_compile.distributions.categorical import Categorical
from minitorch_compile.distributions.cauchy import Cauchy
from minitorch_compile.distributions.constraint_registry import biject_to, transform_to
from minitorch_compile.distributions.continuous_bernoulli import ContinuousBernoulli
from minitorch_compile.distributions.dirichlet import Dirichlet
from minitorch_compile.distributions.distribution import Distribution
from minitorch_compile.distributions.exp_family import ExponentialFamily
from minitorch_compile.distributions.exponential import Exponential
from minitorch_compile.distributions.fishersnedecor import FisherSnedecor
from minitorch_compile.distributions.gamma import Chi2, Gamma
from minitorch_compile.distributions.generalized_pareto import GeneralizedPareto
from minitorch_compile.distributions.geometric import Geometric
from minitorch_compile.distributions.gumbel import Gumbel
from minitorch_compile.distributions.half_cauchy import HalfCauchy
from minitorch_compile.distributions.half_normal import HalfNormal
from minitorch_compile.distributions.independent import Independent
from minitorch_compile.distributions.inverse_gamma import InverseGamma
from minitorch_compile.distributions.joined_transforms import (
    CatTransform,
    CumulativeDistributionTransform,
    StackTransform,
)
from minitorch_compile.distributions.kl import kl_divergence, register_kl
from minitorch_compile.distributions.kumaraswamy import Kumaraswamy
from minitorch_compile.distributions.laplace import Laplace
from minitorch_compile.distributions.lkj_cholesky import CorrCholeskyTransform, LKJCholesky
from minitorch_compile.distributions.log_normal import LogNormal
from minitorch_compile.distributions.logistic_normal import LogisticNormal
from minitorch_compile.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from minitorch_compile.distributions.mixture_same_family import MixtureSameFamily
from minitorch_compile.distributions.multinomial import Multinomial
from minitorch_compile.distributions.multivariate_normal import MultivariateNormal
from minitorch_compile.distributions.negative_binomial import NegativeBinomial
from minitorch_compile.distributions.normal import Normal
from minitorch_compile.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from minitorch_compile.distributions.pareto import Pareto
from minitorch_compile.distributions.poisson import Poisson
from minitorch_compile.distributions.relaxed_bernoulli import RelaxedBernoulli
from minitorch_compile.distributions.relaxed_categorical import RelaxedOneHotCategorical
from minitorch_compile.distributions.studentT import StudentT
from minitorch_compile.distributions.transformed_distribution import TransformedDistribution
from minitorch_compile.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from minitorch_compile.distributions.uniform import Uniform
from minitorch_compile.distributions.von_mises import VonMises
from minitorch_compile.distributions.weibull import Weibull
from minitorch_compile.distributions.wishart import Wishart

vars(transforms).update(  # PyTorch's place for them
    {
        each.__name__: each
        for each in (CatTransform, CorrCholeskyTransform, CumulativeDistributionTransform, StackTransform)
    }
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraints",
    "identity_transform",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "transforms",
]
