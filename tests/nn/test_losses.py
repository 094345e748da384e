"""Losses against naive formulas in float64, one element at a time where that is how they are defined."""

import itertools
import math

import numpy as np
import pytest
from scipy import special

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.autograd import gradcheck, gradgradcheck
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import float32, float64, from_numpy, int32, tensor, uint8

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
P, Q = special.softmax(X, 1), special.softmax(Y, 1)
SIGNS = np.where(Y > 0, 1.0, -1.0)

ELEMENTWISE = {
    "mse_loss": (X, Y, (X - Y) ** 2),
    "l1_loss": (X, Y, abs(X - Y)),
    "smooth_l1_loss": (X, Y, np.where(abs(X - Y) < 1, (X - Y) ** 2 / 2, abs(X - Y) - 0.5)),
    "huber_loss": (X, Y, np.where(abs(X - Y) <= 1, (X - Y) ** 2 / 2, abs(X - Y) - 0.5)),
    "soft_margin_loss": (X, SIGNS, np.logaddexp(0, -X * SIGNS)),
    "hinge_embedding_loss": (X, SIGNS, np.where(SIGNS == 1, X, np.maximum(0, 1 - X))),
    "kl_div": (np.log(P), Q, Q * (np.log(Q) - np.log(P))),
    "poisson_nll_loss": (X, abs(Y), np.exp(X) - abs(Y) * X),
    "binary_cross_entropy": (P, Q, -(Q * np.log(P) + (1 - Q) * np.log(1 - P))),
    "binary_cross_entropy_with_logits": (X, Q, np.logaddexp(0, X) - Q * X),
}


def of(*arrays):
    return [from_numpy(np.asarray(a)) for a in arrays]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_each_element_and_every_reduction(name):
    x, y, expected = ELEMENTWISE[name]
    loss = getattr(F, name)
    np.testing.assert_allclose(loss(*of(x, y), reduction="none").numpy(), expected, rtol=1e-9)
    assert loss(*of(x, y)).item() == pytest.approx(expected.mean())
    assert loss(*of(x, y), reduction="sum").item() == pytest.approx(expected.sum())
    single = loss(*of(x.astype(np.float32), y.astype(np.float32)))
    assert single.dtype is float32 and single.item() == pytest.approx(expected.mean(), rel=1e-4)
    with pytest.raises(ValueError, match="not a valid value for reduction"):
        loss(*of(x, y), reduction="median")


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if n != "huber_loss"])
def test_the_older_spelling_of_reductions(name):
    x, y, expected = ELEMENTWISE[name]
    loss = getattr(F, name)
    with pytest.warns(UserWarning, match="deprecated"):
        assert loss(*of(x, y), size_average=False).item() == pytest.approx(expected.sum())
    with pytest.warns(UserWarning, match="deprecated"):
        assert loss(*of(x, y), reduce=False).shape == (3, 4)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_gradients_are_right_to_the_second_order(name):
    x, y, _ = ELEMENTWISE[name]
    leaf, target = tensor(x, requires_grad=True), from_numpy(y)
    assert gradcheck(lambda x: getattr(F, name)(x, target, reduction="sum"), leaf)
    assert gradgradcheck(lambda x: getattr(F, name)(x, target, reduction="sum"), leaf)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_no_elements(name):
    nothing = torch.zeros(0, 3)
    assert math.isnan(getattr(F, name)(nothing, nothing).item())
    assert getattr(F, name)(nothing, nothing, reduction="sum").item() == 0


class TestNumbers:
    def test_beta_and_delta(self):
        x, y = tensor([0.0, 0.0, 0.0]), tensor([0.1, 0.5, 3.0])
        assert F.smooth_l1_loss(x, y, reduction="none", beta=0.5).tolist() == pytest.approx([0.01, 0.25, 2.75])
        assert F.huber_loss(x, y, reduction="none", delta=0.5).tolist() == pytest.approx([0.005, 0.125, 1.375])
        assert F.smooth_l1_loss(x, y, beta=0.0).item() == pytest.approx(1.2)
        for wrong in (lambda: F.smooth_l1_loss(x, y, beta=-1), lambda: F.huber_loss(x, y, delta=0)):
            with pytest.raises(RuntimeError, match="does not support"):
                wrong()

    def test_weights_divide_the_mean(self):
        x, y, w = tensor([1.0, 2.0]), tensor([3.0, 3.0]), tensor([1.0, 3.0])
        assert F.mse_loss(x, y, weight=w).item() == pytest.approx((4 + 3) / 4)
        assert F.l1_loss(x, y, weight=w, reduction="sum").item() == 5

    def test_sizes_that_broadcast_get_a_warning(self):
        with pytest.warns(UserWarning, match="different to the input size"):
            assert F.mse_loss(torch.ones(2, 3), torch.zeros(3)).item() == 1

    def test_kl_div(self):
        assert F.kl_div(*of(np.log(P), Q), reduction="batchmean").item() == pytest.approx((Q * np.log(Q / P)).sum() / 3)
        assert F.kl_div(*of(np.log(P), np.log(Q)), log_target=True, reduction="sum").item() == pytest.approx(
            (Q * np.log(Q / P)).sum()
        )
        assert F.kl_div(tensor([-1.0]), tensor([0.0])).item() == 0

    def test_poisson_with_stirling(self):
        rate, count = tensor([2.0, 3.0]), tensor([1.0, 4.0])
        stirling = 4 * math.log(4) - 4 + 0.5 * math.log(2 * math.pi * 4)
        loss = F.poisson_nll_loss(rate, count, log_input=False, full=True, reduction="none")
        assert loss.tolist() == pytest.approx([2 - math.log(2), 3 - 4 * math.log(3) + stirling])

    def test_gaussian(self):
        mean, x, var = of(X, Y, np.exp(X))
        expected = 0.5 * (X + (X - Y) ** 2 / np.exp(X) + math.log(2 * math.pi))
        assert F.gaussian_nll_loss(mean, x, var, full=True).item() == pytest.approx(expected.mean())
        per_row = F.gaussian_nll_loss(mean, x, torch.ones(3, dtype=float64), reduction="none")
        np.testing.assert_allclose(per_row.numpy(), (X - Y) ** 2 / 2)
        assert F.gaussian_nll_loss(mean, x, 1.0).item() == pytest.approx(((X - Y) ** 2 / 2).mean())
        for wrong in (-torch.ones(3, 4), torch.ones(2)):
            with pytest.raises(ValueError, match="var"):
                F.gaussian_nll_loss(mean, x, wrong)

    def test_the_gradient_by_a_variance_below_eps_is_that_at_eps(self):
        var = tensor([0.0], requires_grad=True)
        F.gaussian_nll_loss(tensor([0.0]), tensor([0.0]), var, eps=0.5).backward()
        assert var.grad.item() == pytest.approx(0.5 / 0.5)


def naive_nll(x, t, weight=None, ignore=-100):
    """(losses, weights) of log-probabilities (N, C, ...), one target at a time."""
    losses, weights = np.zeros(t.shape), np.zeros(t.shape)
    for at in np.ndindex(t.shape):
        if t[at] != ignore:
            weights[at] = 1 if weight is None else weight[t[at]]
            losses[at] = -weights[at] * x[(at[0], t[at], *at[1:])]
    return losses, weights


class TestClasses:
    SHAPES = [((3, 4), (3,)), ((2, 4, 3), (2, 3)), ((2, 4, 2, 3), (2, 2, 3)), ((0, 4), (0,))]

    @pytest.mark.parametrize(("sizes", "target_sizes"), SHAPES)
    @pytest.mark.parametrize("weighted", [False, True])
    def test_nll_loss_and_cross_entropy(self, sizes, target_sizes, weighted):
        x, t = RNG.normal(size=sizes), RNG.integers(0, 4, target_sizes)
        weight = np.array([0.5, 1.0, 2.0, 3.0]) if weighted else None
        if t.size:
            t.flat[0] = 2
        losses, weights = naive_nll(special.log_softmax(x, 1) if x.size else x, t, weight, ignore=1)
        more = {"weight": None if weight is None else from_numpy(weight), "ignore_index": 1}
        np.testing.assert_allclose(F.cross_entropy(*of(x, t), reduction="none", **more).numpy(), losses, atol=1e-12)
        mean = losses.sum() / weights.sum() if weights.size else math.nan
        assert F.cross_entropy(*of(x, t), **more).item() == pytest.approx(mean, nan_ok=True)
        scores = F.log_softmax(from_numpy(x), 1)
        assert F.nll_loss(scores, from_numpy(t), **more).item() == pytest.approx(mean, nan_ok=True)

    def test_label_smoothing_is_a_mixture_of_targets(self):
        t, weight = np.array([0, 3, 1]), np.array([1.0, 2.0, 0.5, 3.0])
        soft = 0.8 * np.eye(4)[t] + 0.05
        losses = -(soft * weight * special.log_softmax(X, 1)).sum(1)
        smooth = F.cross_entropy(*of(X, t, weight), label_smoothing=0.2)
        assert smooth.item() == pytest.approx(losses.sum() / weight[t].sum())
        as_probabilities = F.cross_entropy(*of(X, np.eye(4)[t]), label_smoothing=0.2)
        assert as_probabilities.item() == pytest.approx(-(soft * special.log_softmax(X, 1)).sum(1).mean())

    def test_a_single_sample(self):
        one = F.cross_entropy(*of(X[0], np.array(2)))
        assert one.item() == pytest.approx(-special.log_softmax(X[0])[2])

    def test_large_scores_stay_finite(self):
        x = tensor([[1e4, -1e4]], requires_grad=True)
        loss = F.cross_entropy(x, tensor([1]))
        loss.backward()
        assert loss.item() == 2e4 and x.grad.tolist() == [[1, -1]]

    def test_gradients(self):
        x, t = tensor(X, requires_grad=True), tensor([0, -100, 3])
        assert gradcheck(lambda x: F.cross_entropy(x, t, label_smoothing=0.1), x)
        assert gradgradcheck(lambda x: F.cross_entropy(x, t), x)

    def test_bytes_count_as_classes(self):
        x = from_numpy(X)
        assert F.cross_entropy(x, tensor([0, 3, 1], dtype=uint8)) == F.cross_entropy(x, tensor([0, 3, 1]))

    @pytest.mark.parametrize(
        ("target", "error", "says"),
        [
            (tensor([0, 4, 1]), IndexError, "out of bounds"),
            (tensor([0, -1, 1]), IndexError, "out of bounds"),
            (tensor([0, 1]), ValueError, "batch_size"),
            (tensor([[0], [1], [2]]), RuntimeError, "expected target of sizes"),
            (tensor([0, 1, 2], dtype=int32), RuntimeError, "Long"),
            (tensor([0.0, 1.0, 2.0]), RuntimeError, "Long"),
            (torch.zeros(3, 4).long(), RuntimeError, "probabilities"),
        ],
    )
    def test_targets_that_do_not_fit(self, target, error, says):
        with pytest.raises(error, match=says):
            F.cross_entropy(from_numpy(X), target)

    def test_what_else_does_not_fit(self):
        x, t = from_numpy(X), tensor([0, 1, 2])
        with pytest.raises(RuntimeError, match="label_smoothing"):
            F.cross_entropy(x, t, label_smoothing=1.5)
        with pytest.raises(RuntimeError, match="weight"):
            F.cross_entropy(x, t, weight=torch.ones(3, dtype=float64))
        with pytest.raises(RuntimeError, match="ignore_index"):
            F.cross_entropy(*of(X, P), ignore_index=1)


class TestYesOrNo:
    def test_the_logarithms_end_at_100(self):
        x, y = tensor([0.0, 1.0, 0.0], requires_grad=True), tensor([1.0, 0.0, 0.0])
        loss = F.binary_cross_entropy(x, y, reduction="none")
        assert loss.tolist() == [100, 100, 0]
        loss.sum().backward()
        assert x.grad.tolist() == pytest.approx([-1e12, 1e12, 0])

    def test_logits_far_out(self):
        x = tensor([1e4, -1e4], requires_grad=True)
        loss = F.binary_cross_entropy_with_logits(x, tensor([0.0, 1.0]), reduction="none")
        loss.sum().backward()
        assert loss.tolist() == [1e4, 1e4] and x.grad.tolist() == [1, -1]

    def test_weights(self):
        weight, positive = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, 2.0, 1.0, 3.0])
        expected = weight * (positive * Q * np.logaddexp(0, -X) + (1 - Q) * np.logaddexp(0, X))
        loss = F.binary_cross_entropy_with_logits(*of(X, Q, weight), pos_weight=from_numpy(positive))
        assert loss.item() == pytest.approx(expected.mean())
        by_label = F.multilabel_soft_margin_loss(*of(X, Q, weight), reduction="none")
        np.testing.assert_allclose(by_label.numpy(), (weight * (np.logaddexp(0, X) - Q * X)).mean(1))

    def test_errors(self):
        with pytest.raises(RuntimeError, match="between 0 and 1"):
            F.binary_cross_entropy(tensor([1.5]), tensor([1.0]))
        with pytest.raises(ValueError, match="target size"):
            F.binary_cross_entropy(torch.ones(2), torch.ones(3))
        with pytest.raises(RuntimeError, match="dtype"):
            F.binary_cross_entropy(torch.ones(2), torch.ones(2, dtype=float64))
        with pytest.raises(ValueError, match="Target size"):
            F.binary_cross_entropy_with_logits(torch.ones(2), torch.ones(2, 1))


class TestMargins:
    @pytest.mark.parametrize("p", [1, 2])
    def test_multi_margin(self, p):
        t, weight = np.array([0, 3, 1]), np.array([1.0, 2.0, 0.5, 3.0])
        expected = [
            weight[y] * sum(max(0, 0.7 - row[y] + row[j]) ** p for j in range(4) if j != y) / 4
            for row, y in zip(X, t, strict=True)
        ]
        loss = F.multi_margin_loss(*of(X, t), p=p, margin=0.7, weight=from_numpy(weight), reduction="none")
        assert loss.tolist() == pytest.approx(expected)
        with pytest.raises(ValueError, match="only p == 1 and p == 2"):
            F.multi_margin_loss(*of(X, t), p=3)

    def test_multilabel_margin(self):
        targets = [[0, 2, -1, 1], [3, -1, 0, 0], [-1, 0, 0, 0]]
        expected = []
        for row, listed in zip(X, targets, strict=True):
            chosen = list(itertools.takewhile(lambda j: j >= 0, listed))
            expected.append(sum(max(0, 1 - row[j] + row[i]) for j in chosen for i in range(4) if i not in chosen) / 4)
        loss = F.multilabel_margin_loss(from_numpy(X), tensor(targets), reduction="none")
        assert loss.tolist() == pytest.approx(expected)
        assert F.multilabel_margin_loss(from_numpy(X[0]), tensor(targets[0])).item() == pytest.approx(expected[0])

    def test_ranking_and_cosine(self):
        ranking = F.margin_ranking_loss(*of(X, Y, SIGNS), margin=0.3)
        assert ranking.item() == pytest.approx(np.maximum(0, -SIGNS * (X - Y) + 0.3).mean())
        cosine = (X * Y).sum(1) / np.sqrt((X**2).sum(1) * (Y**2).sum(1))
        loss = F.cosine_embedding_loss(*of(X, Y), tensor([1, -1, 1]), margin=0.1, reduction="none")
        expected = [1 - cosine[0], max(0, cosine[1] - 0.1), 1 - cosine[2]]
        assert loss.tolist() == pytest.approx(expected)
        with pytest.raises(RuntimeError, match="same dimension"):
            F.margin_ranking_loss(*of(X, Y, SIGNS[0]))

    @pytest.mark.parametrize("swap", [False, True])
    def test_triplets(self, swap):
        z = X + 0.3
        near, far, other = (np.linalg.norm(a - b + 1e-6, axis=1) for a, b in ((X, Y), (X, z), (Y, z)))
        far = np.minimum(far, other) if swap else far
        loss = F.triplet_margin_loss(*of(X, Y, z), swap=swap)
        assert loss.item() == pytest.approx(np.maximum(0, near - far + 1).mean())
        same = F.triplet_margin_with_distance_loss(*of(X, Y, z), swap=swap)
        assert same.item() == pytest.approx(loss.item())
        with pytest.raises(ValueError, match="margin"):
            F.triplet_margin_loss(*of(X, Y, z), margin=0)


class TestDistances:
    @pytest.mark.parametrize("p", [0, 1, 2, 3, math.inf])
    def test_pairwise_and_all_pairs(self, p):
        expected = np.linalg.norm(X - Y + 1e-6, ord=p, axis=1)
        np.testing.assert_allclose(F.pairwise_distance(*of(X, Y), p=p).numpy(), expected)
        pairs = [np.linalg.norm(X[i] - X[j], ord=p) for i, j in ((0, 1), (0, 2), (1, 2))]
        np.testing.assert_allclose(F.pdist(from_numpy(X), p).numpy(), pairs)

    def test_equal_rows_have_gradient_0(self):
        x = torch.ones(2, 3, requires_grad=True)
        F.pdist(x).sum().backward()
        assert x.grad.tolist() == [[0] * 3] * 2

    def test_cosine_similarity(self):
        expected = (X * Y).sum(0) / np.sqrt((X**2).sum(0) * (Y**2).sum(0))
        np.testing.assert_allclose(F.cosine_similarity(*of(X, Y), dim=0).numpy(), expected)
        rows = F.cosine_similarity(*of(X, Y[0])).tolist()
        assert rows == pytest.approx([x @ Y[0] / np.linalg.norm(x) / np.linalg.norm(Y[0]) for x in X])
        assert F.cosine_similarity(torch.zeros(1, 3), torch.ones(1, 3)).item() == 0
        with pytest.raises(RuntimeError, match="floating point"):
            F.cosine_similarity(tensor([[1]]), tensor([[1]]))


def all_alignments(probabilities, label, times):
    """The probability of a label, by going through everything that could be said."""
    total = 0.0
    for said in itertools.product(range(probabilities.shape[1]), repeat=times):
        collapsed = [c for i, c in enumerate(said) if c != 0 and (i == 0 or c != said[i - 1])]
        if collapsed == label:
            total += math.prod(probabilities[t, c] for t, c in enumerate(said))
    return total


class TestCtc:
    SCORES = RNG.normal(size=(4, 3, 3))
    LABELS = [[1, 1], [2], []]
    LENGTHS = [4, 3, 4]

    def losses(self, scores, **more):
        targets = tensor([[1, 1], [2, 0], [0, 0]])
        return F.ctc_loss(
            F.log_softmax(scores, 2), targets, tensor(self.LENGTHS), tensor([2, 1, 0]), **{"reduction": "none"} | more
        )

    def expected(self):
        p = special.softmax(self.SCORES, 2)
        return [
            -math.log(all_alignments(p[:, n], label, length))
            for n, (label, length) in enumerate(zip(self.LABELS, self.LENGTHS, strict=True))
        ]

    def test_it_is_the_sum_over_all_alignments(self):
        assert self.losses(from_numpy(self.SCORES)).tolist() == pytest.approx(self.expected())
        mean = np.mean([loss / max(len(label), 1) for loss, label in zip(self.expected(), self.LABELS, strict=True)])
        assert self.losses(from_numpy(self.SCORES), reduction="mean").item() == pytest.approx(mean)

    def test_targets_one_after_another(self):
        scores = F.log_softmax(from_numpy(self.SCORES), 2)
        loss = F.ctc_loss(scores, tensor([1, 1, 2]), self.LENGTHS, [2, 1, 0], reduction="none")
        assert loss.tolist() == pytest.approx(self.expected())

    def test_gradients(self):
        assert gradcheck(self.losses, tensor(self.SCORES, requires_grad=True))

    def test_what_does_not_fit_is_infinite_or_0(self):
        scores = F.log_softmax(torch.zeros(2, 1, 3, requires_grad=True), 2)
        args = (scores, tensor([[1, 1]]), [2], [2])  # two equal labels need a blank between them
        assert F.ctc_loss(*args).item() == math.inf
        loss = F.ctc_loss(*args, zero_infinity=True)
        assert loss.item() == 0
        (grad,) = torch.autograd.grad(loss, scores)
        assert not grad.any()

    def test_errors(self):
        scores = torch.zeros(2, 1, 3)
        with pytest.raises(RuntimeError, match="at most 2"):
            F.ctc_loss(scores, tensor([[1]]), [3], [1])
        with pytest.raises(RuntimeError, match="at least 2"):
            F.ctc_loss(scores, tensor([[1]]), [2], [2])
        with pytest.raises(RuntimeError, match="label range"):
            F.ctc_loss(scores, tensor([[1]]), [2], [1], blank=3)
        with pytest.raises(RuntimeError, match="batch_size"):
            F.ctc_loss(scores, tensor([[1]]), [2, 2], [1])


MODULES = [
    (nn.L1Loss(), F.l1_loss),
    (nn.SmoothL1Loss(beta=0.5), lambda x, y: F.smooth_l1_loss(x, y, beta=0.5)),
    (nn.HuberLoss(delta=0.5), lambda x, y: F.huber_loss(x, y, delta=0.5)),
    (nn.KLDivLoss(reduction="batchmean"), lambda x, y: F.kl_div(x, y, reduction="batchmean")),
    (nn.PoissonNLLLoss(full=True), lambda x, y: F.poisson_nll_loss(x, y, full=True)),
    (nn.BCEWithLogitsLoss(), F.binary_cross_entropy_with_logits),
    (nn.MultiLabelSoftMarginLoss(), F.multilabel_soft_margin_loss),
    (nn.SoftMarginLoss(reduction="sum"), lambda x, y: F.soft_margin_loss(x, y, reduction="sum")),
    (nn.HingeEmbeddingLoss(0.5), lambda x, y: F.hinge_embedding_loss(x, y, margin=0.5)),
]


@pytest.mark.parametrize(("module", "function"), MODULES, ids=[type(m).__name__ for m, _ in MODULES])
def test_modules_call_the_function_with_their_settings(module, function):
    assert module(*of(X, Q)) == function(*of(X, Q))
    assert repr(module) == f"{type(module).__name__}()"


def test_weights_are_part_of_the_state():
    assert list(nn.CrossEntropyLoss(torch.ones(3)).state_dict()) == ["weight"]
    assert list(nn.BCEWithLogitsLoss(pos_weight=torch.ones(1)).state_dict()) == ["pos_weight"]
    assert list(nn.NLLLoss().state_dict()) == []


class TestAdaptiveSoftmax:
    def layer(self):
        torch.manual_seed(0)
        return nn.AdaptiveLogSoftmaxWithLoss(8, 15, [4, 9], div_value=2.0, dtype=float64)

    def test_the_probabilities_of_all_classes_add_up_to_1(self):
        log_prob = self.layer().log_prob(from_numpy(RNG.normal(size=(5, 8))))
        assert log_prob.exp().sum(1).tolist() == pytest.approx([1] * 5)

    def test_each_target_gets_its_log_probability(self):
        layer, x, t = self.layer(), from_numpy(RNG.normal(size=(5, 8))), tensor([0, 3, 12, 6, 14])
        expected = layer.log_prob(x).gather(1, t.unsqueeze(1)).squeeze(1)
        out, loss = layer(x, t)
        assert out.tolist() == pytest.approx(expected.tolist())
        assert loss.item() == pytest.approx(-expected.mean().item())
        assert layer(x[2], t[2]).output.item() == pytest.approx(expected[2].item())
        assert layer.predict(x).tolist() == layer.log_prob(x).argmax(1).tolist()

    def test_errors(self):
        for cutoffs in ([], [4, 2], [4, 15], [0]):
            with pytest.raises(ValueError, match="cutoffs"):
                nn.AdaptiveLogSoftmaxWithLoss(8, 15, cutoffs)
        with pytest.raises(RuntimeError, match="Target values"):
            self.layer()(torch.ones(1, 8).double(), tensor([15]))


def test_log_probabilities_are_no_integers():
    with pytest.raises(NotImplementedError, match="expected log-probabilities, got input of torch.int16"):
        F.nll_loss(torch.ones(2, 3, dtype=torch.int16), torch.tensor([0, 1]))
