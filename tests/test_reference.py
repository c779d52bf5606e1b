"""The reference against numbers worked by hand, and against what must hold of the paper's equations."""

from math import log, tanh

import numpy as np
import pytest

from rnnsearch import reference
from rnnsearch.reference import DecoderUnit, EncoderUnit, Parameters

SIZES = {"m": 3, "n": 4, "a": 5, "l": 2, "K_x": 7, "K_y": 6}
X, Y = [4, 6, 5, 2], [3, 5, 4, 2]


def make_state_dict(context="search", score="additive", seed=0):
    """Random weights under the model's names, of odd and unequal sizes."""
    generator = np.random.default_rng(seed)
    m, n, a, l, K_x, K_y = SIZES.values()  # noqa: E741
    C = 2 * n if context == "search" else n
    shapes = {
        "model.encoder.embed_tokens.weight": (K_x, m),
        "model.decoder.embed_tokens.weight": (K_y, m),
        "model.decoder.init_proj.weight": (n, n),
        "model.decoder.init_proj.bias": (n,),
        "model.decoder.unit.context_proj.weight": (3 * n, C),
        "model.decoder.readout.state_proj.weight": (2 * l, n),
        "model.decoder.readout.state_proj.bias": (2 * l,),
        "model.decoder.readout.embedding_proj.weight": (2 * l, m),
        "model.decoder.readout.context_proj.weight": (2 * l, C),
        "lm_head.weight": (K_y, l),
        "lm_head.bias": (K_y,),
    }
    units = ["model.encoder.forward_unit", "model.decoder.unit"]
    if context == "search":
        units.append("model.encoder.backward_unit")
        shapes["model.decoder.attention.query_proj.weight"] = (a, n)
        shapes["model.decoder.attention.key_proj.weight"] = (a, 2 * n)
        if score == "additive":
            shapes["model.decoder.attention.energy_proj.weight"] = (1, a)
    for unit in units:
        shapes[f"{unit}.input_proj.weight"] = (3 * n, m)
        shapes[f"{unit}.input_proj.bias"] = (3 * n,)
        shapes[f"{unit}.gate_proj.weight"] = (2 * n, n)
        shapes[f"{unit}.candidate_proj.weight"] = (n, n)
    return {name: generator.normal(size=shape) for name, shape in shapes.items()}


def one_wide_unit(kind=EncoderUnit, **letters):
    """A unit of n = m = 1 whose weights are zero but for the given ones, so that its gates stand at 1/2."""
    shapes = dict.fromkeys(("W", "W_z", "W_r", "U", "U_z", "U_r"), (1, 1))
    shapes |= dict.fromkeys(("b", "b_z", "b_r"), (1,))
    if kind is DecoderUnit:
        shapes |= dict.fromkeys(("C", "C_z", "C_r"), (1, 2))
    return kind(**{k: np.reshape(np.array(letters.get(k, np.zeros(s)), float), s) for k, s in shapes.items()})


def one_wide_parameters():
    """n = m = n' = l = 1, two words a side; every gate stands at 1/2 and the attention is uniform."""
    return Parameters(
        E_x=np.array([[0.5, -1.0]]),
        E_y=np.array([[-0.3, 0.5]]),
        forward=one_wide_unit(W=1.0),
        backward=one_wide_unit(W=2.0),
        decoder=one_wide_unit(DecoderUnit, W=1.0, C=[1.0, 1.0]),
        W_s=np.array([[1.0]]),
        b_s=np.zeros(1),
        W_a=np.zeros((1, 1)),
        U_a=np.zeros((1, 2)),
        v_a=np.zeros(1),
        U_o=np.array([[1.0], [-1.0]]),
        V_o=np.array([[1.0], [0.0]]),
        C_o=np.array([[0.0, 0.5], [0.0, 0.0]]),
        b_o=np.array([0.1, 0.0]),
        W_o=np.array([[1.0], [2.0]]),
        b_y=np.array([0.0, -1.0]),
    )


class TestUnit:
    def test_encoder(self):
        # E x = 0.5 and h = 0.4:
        # z = σ(2 * 0.5 - 1 * 0.4 + b_z) = σ(ln 3) = 3/4,
        # r = σ(-2 * 0.5 + 5 * 0.4 + b_r) = σ(ln 3) = 3/4,
        # candidate = tanh(0.6 * 0.5 + 1 * 3/4 * 0.4 + 0.3) = tanh(0.9) = 0.7162979,
        # new state = 1/4 * 0.4 + 3/4 * 0.7162979 = 0.6372234; with PyTorch's z it would be 0.4790745.
        unit = one_wide_unit(
            W=0.6, U=1.0, b=0.3, W_z=2.0, U_z=-1.0, b_z=log(3) - 0.6, W_r=-2.0, U_r=5.0, b_r=log(3) - 1.0
        )
        state = reference.encoder_step(unit, np.array([0.5]), np.array([0.4]))
        np.testing.assert_allclose(state, [0.6372234], atol=1e-7)

    def test_decoder(self):
        # The same numbers, of which c = (1, 2) now brings a part:
        # C_z c = 1 * 1 + 0 * 2 = 1, C_r c = 0 * 1 - 1 * 2 = -2 and C c = 0.1 * 1 + 0.05 * 2 = 0.2,
        # while b_z, b_r and b give as much less.
        unit = one_wide_unit(
            DecoderUnit, W=0.6, U=1.0, b=0.1, W_z=2.0, U_z=-1.0, b_z=log(3) - 1.6, W_r=-2.0, U_r=5.0, b_r=log(3) + 1.0,
            C=[0.1, 0.05], C_z=[1.0, 0.0], C_r=[0.0, -1.0],
        )  # fmt: skip
        state = reference.decoder_step(unit, np.array([0.5]), np.array([0.4]), np.array([1.0, 2.0]))
        np.testing.assert_allclose(state, [0.6372234], atol=1e-7)

    def test_reset_gate_acts_before_the_product(self):
        # r = (σ(0), σ(ln 3)) = (1/2, 3/4) and U swaps the two units:
        # U (r ∘ h) = (3/4 * 0.8, 1/2 * 0.4) = (0.6, 0.2), while r ∘ (U h) would be (0.4, 0.3).
        # z = 1/2: (0.2 + 1/2 tanh 0.6, 0.4 + 1/2 tanh 0.2) = (0.2 + 0.2685248, 0.4 + 0.0986877).
        zeros, swap = np.zeros((2, 2)), np.array([[0.0, 1.0], [1.0, 0.0]])
        letters = {"W": zeros, "W_z": zeros, "W_r": zeros, "U": swap, "U_z": zeros, "U_r": zeros}
        letters |= {"b": np.zeros(2), "b_z": np.zeros(2), "b_r": np.array([0.0, log(3)])}
        nothing, old = np.zeros(2), np.array([0.4, 0.8])
        expected = [0.4685248, 0.4986877]
        state = reference.encoder_step(EncoderUnit(**letters), nothing, old)
        np.testing.assert_allclose(state, expected, atol=1e-7)
        state = reference.decoder_step(DecoderUnit(**letters, C=zeros, C_z=zeros, C_r=zeros), nothing, old, nothing)
        np.testing.assert_allclose(state, expected, atol=1e-7)


class TestEncode:
    def test_two_words(self):
        # Every gate is 1/2 and U = 0, so a state is half the old one plus half of tanh(W E x):
        # →h_1 = tanh(0.5)/2, →h_2 = tanh(0.5)/4 + tanh(-1)/2; ←h_2 = tanh(-2)/2, ←h_1 = tanh(-2)/4 + tanh(1)/2.
        expected = [
            [tanh(0.5) / 2, tanh(-2) / 4 + tanh(1) / 2],
            [tanh(0.5) / 4 + tanh(-1) / 2, tanh(-2) / 2],
        ]
        np.testing.assert_allclose(reference.encode(one_wide_parameters(), [0, 1]), expected, atol=1e-15)

    def test_mirror(self):
        """The backward half is what the forward half of the reversed sentence would be with the units exchanged."""
        state_dict = make_state_dict()
        mirrored = {
            (
                name.replace("forward_unit", "backward_unit")
                if "forward_unit" in name
                else name.replace("backward_unit", "forward_unit")
            ): weight
            for name, weight in state_dict.items()
        }
        n = SIZES["n"]
        h = reference.encode(reference.from_state_dict(state_dict), X)
        h_mirrored = reference.encode(reference.from_state_dict(mirrored), X[::-1])
        np.testing.assert_array_equal(h[:, n:], h_mirrored[::-1, :n])


class TestAttend:
    h = np.array([[1.0, 0.0], [0.0, 1.0]])

    def parameters(self, W_a, U_a, v_a=None):
        letters = vars(one_wide_parameters()) | {"W_a": np.array(W_a), "U_a": np.array(U_a), "v_a": v_a}
        return Parameters(**letters)

    def test_additive(self):
        # W_a s = 0.6 - 0.6 = 0 with the keys (1, -1): e = v_a (tanh 1, tanh -1) = (ln(3)/2, -ln(3)/2),
        # whose difference is ln 3, so α = (3/4, 1/4) and c = 3/4 (1, 0) + 1/4 (0, 1).
        p = self.parameters([[1.0, -1.0]], [[1.0, -1.0]], np.array([log(3) / (2 * tanh(1))]))
        c, alpha = reference.attend(p, np.array([0.6, 0.6]), self.h)
        np.testing.assert_allclose(alpha, [0.75, 0.25])
        np.testing.assert_allclose(c, [0.75, 0.25])

    def test_additive_adds_the_query_inside_tanh(self):
        # W_a s = 1 with the keys (0, -1): e = v_a (tanh 1, tanh 0), so α = (3/4, 1/4) again.
        p = self.parameters([[2.0]], [[0.0, -1.0]], np.array([log(3) / tanh(1)]))
        np.testing.assert_allclose(reference.attend(p, np.array([0.5]), self.h)[1], [0.75, 0.25])

    @pytest.mark.parametrize(("score", "ratio"), [("dot", 9), ("scaled_dot", 3)])
    def test_products(self, score, ratio):
        # n' = 4: the query is (1, 1, 1, 1) and the key of h_1 is ln(3)/2 (1, 1, 1, 1), of h_2 zero.
        # Product 2 ln 3 against 0: the odds are 9 to 1; divided by √4 they are 3 to 1.
        p = self.parameters(np.ones((4, 1)), np.outer(np.ones(4), [log(3) / 2, 0.0]))
        _, alpha = reference.attend(p, np.ones(1), self.h, score)
        np.testing.assert_allclose(alpha[0] / alpha[1], ratio)
        np.testing.assert_allclose(alpha.sum(), 1)

    def test_large_scores_do_not_overflow(self):
        p = self.parameters([[1.0]], [[1e4, 0.0]])
        np.testing.assert_allclose(reference.attend(p, np.ones(1), self.h, "dot")[1], [1, 0])

    def test_wrong_use(self):
        p = self.parameters([[1.0]], [[1.0, 0.0]])
        with pytest.raises(ValueError, match="no v_a"):
            reference.attend(p, np.ones(1), self.h)
        with pytest.raises(ValueError, match="unknown score 'general'"):
            reference.attend(p, np.ones(1), self.h, "general")


def test_maxout_pairs_neighbours():
    np.testing.assert_array_equal(reference.maxout(np.array([1.0, 5.0, 7.0, 2.0, -3.0, -4.0])), [5, 7, -3])


class TestDecode:
    # One source position, so α = 1 and c = h_1 = (0.6, 0.2) throughout, and s_0 = tanh(0.2) = 0.1973753.
    # Gates of 1/2 and U = 0: a new state is half the old one plus half of tanh(E y + 0.8).
    # t~ = (s + E y + 0.5 * 0.2 + 0.1, -s), of which the first is the larger here; the logits are (t, 2t - 1).
    h = np.array([[0.6, 0.2]])

    def test_paper_order(self):
        # Step 1, E y_0 = 0: s_1 = (0.1973753 + tanh 0.8) / 2 = (0.1973753 + 0.6640368) / 2 = 0.4307060,
        #   t = 0.4307060 + 0.2.
        # Step 2, E y_1 = 0.5: s_2 = (0.4307060 + tanh 1.3) / 2 = (0.4307060 + 0.8617232) / 2 = 0.6462146,
        #   t = 0.6462146 + 0.5 + 0.2.
        logits, alpha = reference.decode(one_wide_parameters(), self.h, [1, 0], "paper")
        np.testing.assert_allclose(logits, [[0.6307060, 0.2614121], [1.3462146, 1.6924292]], atol=1e-7)
        np.testing.assert_array_equal(alpha, [[1], [1]])

    def test_groundhog_order(self):
        # Step 1: s_0 itself is read, t = 0.1973753 + 0.2.
        # Step 2: g_2 = (0.1973753 + tanh 1.3) / 2 = 0.5295492, t = 0.5295492 + 0.5 + 0.2.
        logits, alpha = reference.decode(one_wide_parameters(), self.h, [1, 0], "groundhog")
        np.testing.assert_allclose(logits, [[0.3973753, -0.2052494], [1.2295492, 1.4590985]], atol=1e-7)
        np.testing.assert_array_equal(alpha, [[1], [1]])

    def test_order_of_context_and_state(self):
        """Three steps written out: which state looks, and which context the unit is given."""
        p = reference.from_state_dict(make_state_dict())
        h = reference.encode(p, X)
        s_0 = np.tanh(p.W_s @ h[0, SIZES["n"] :] + p.b_s)
        Ey_0, Ey_1, Ey_2 = np.zeros(SIZES["m"]), p.E_y[:, Y[0]], p.E_y[:, Y[1]]

        c_1, alpha_1 = reference.attend(p, s_0, h)
        s_1 = reference.decoder_step(p.decoder, Ey_0, s_0, c_1)
        c_2, alpha_2 = reference.attend(p, s_1, h)
        s_2 = reference.decoder_step(p.decoder, Ey_1, s_1, c_2)
        _, alpha_3 = reference.attend(p, s_2, h)
        _, alpha = reference.decode(p, h, Y, "paper")
        np.testing.assert_allclose(alpha[:3], [alpha_1, alpha_2, alpha_3])

        g_2 = reference.decoder_step(p.decoder, Ey_1, s_0, c_1)
        c_2, alpha_2 = reference.attend(p, g_2, h)
        g_3 = reference.decoder_step(p.decoder, Ey_2, g_2, c_2)
        _, alpha_3 = reference.attend(p, g_3, h)
        _, alpha = reference.decode(p, h, Y, "groundhog")
        np.testing.assert_allclose(alpha[:3], [alpha_1, alpha_2, alpha_3])

    @pytest.mark.parametrize("step_order", ["paper", "groundhog"])
    def test_what_a_word_can_change(self, step_order):
        """The word y_2 moves α_3 in GroundHog's order and not in the paper's; nothing earlier ever moves."""
        p = reference.from_state_dict(make_state_dict())
        h = reference.encode(p, X)
        logits, alpha = reference.decode(p, h, [3, 5, 4, 2], step_order)
        other_logits, other_alpha = reference.decode(p, h, [3, 1, 4, 2], step_order)

        np.testing.assert_array_equal(alpha[:2], other_alpha[:2])
        np.testing.assert_array_equal(logits[:2], other_logits[:2])
        assert np.abs(logits[2:] - other_logits[2:]).max(axis=1).min() > 1e-3
        if step_order == "paper":
            np.testing.assert_array_equal(alpha[2], other_alpha[2])
        else:
            assert np.abs(alpha[2] - other_alpha[2]).max() > 1e-3
        assert np.abs(alpha[3] - other_alpha[3]).max() > 1e-3

    @pytest.mark.parametrize("step_order", ["paper", "groundhog"])
    @pytest.mark.parametrize("score", ["additive", "dot", "scaled_dot"])
    def test_weights_are_a_distribution(self, step_order, score):
        p = reference.from_state_dict(make_state_dict(score=score))
        logits, alpha = reference.decode(p, reference.encode(p, X), Y[1:], step_order, score=score)
        assert logits.shape == (3, SIZES["K_y"])
        assert alpha.shape == (3, 4)
        assert (alpha > 0).all()
        np.testing.assert_allclose(alpha.sum(axis=1), 1)

    @pytest.mark.parametrize("step_order", ["paper", "groundhog"])
    def test_attention_is_uniform_without_v_a(self, step_order):
        state_dict = make_state_dict()
        state_dict["model.decoder.attention.energy_proj.weight"] *= 0
        p = reference.from_state_dict(state_dict)
        _, alpha = reference.decode(p, reference.encode(p, X), Y, step_order)
        np.testing.assert_allclose(alpha, np.full((4, 4), 1 / 4))

    @pytest.mark.parametrize("step_order", ["paper", "groundhog"])
    def test_fixed_context_is_a_search_over_one_position(self, step_order):
        """Over one position c is constant; with both directions alike, RNNsearch is RNNencdec if it reads one half."""
        fixed = make_state_dict(context="fixed")
        search = make_state_dict() | fixed
        for name in list(fixed):
            if "forward_unit" in name:
                search[name.replace("forward_unit", "backward_unit")] = fixed[name]
            if "context_proj" in name:
                search[name] = np.concatenate([fixed[name], np.zeros_like(fixed[name])], axis=1)
        p, q = reference.from_state_dict(fixed), reference.from_state_dict(search)
        logits, alpha = reference.decode(p, reference.encode(p, [4]), Y, step_order, "fixed")
        search_logits, _ = reference.decode(q, reference.encode(q, [4]), Y, step_order, "search")
        assert alpha is None
        np.testing.assert_allclose(logits, search_logits)

    @pytest.mark.parametrize("step_order", ["paper", "groundhog"])
    def test_fixed_context_is_the_last_state(self, step_order):
        """Annotations before the last one are never read."""
        p = reference.from_state_dict(make_state_dict(context="fixed"))
        h = reference.encode(p, X)
        assert h.shape == (4, SIZES["n"])
        logits, _ = reference.decode(p, h, Y, step_order, "fixed")
        np.testing.assert_array_equal(logits, reference.decode(p, h[-1:], Y, step_order, "fixed")[0])

    def test_orders_of_a_fixed_context_differ_by_one_step(self):
        """The paper's order runs the unit once on no word; starting GroundHog's from that state gives the same."""
        p = reference.from_state_dict(make_state_dict(context="fixed"))
        h = reference.encode(p, X)
        s_0 = np.tanh(p.W_s @ h[-1] + p.b_s)
        s_1 = reference.decoder_step(p.decoder, np.zeros(SIZES["m"]), s_0, h[-1])
        moved = Parameters(**vars(p) | {"W_s": np.zeros_like(p.W_s), "b_s": np.arctanh(s_1)})
        logits, _ = reference.decode(p, h, Y, "paper", "fixed")
        np.testing.assert_allclose(logits, reference.decode(moved, h, Y, "groundhog", "fixed")[0])

    def test_wrong_use(self):
        p = reference.from_state_dict(make_state_dict())
        h = reference.encode(p, X)
        with pytest.raises(ValueError, match="unknown step order 'nematus'"):
            reference.decode(p, h, Y, "nematus")
        with pytest.raises(ValueError, match="'fixed' does not belong"):
            reference.decode(p, h, Y, context="fixed")


class TestLoss:
    def test_uniform_words(self):
        # All six words equally likely: each of the four positions costs ln 6.
        state_dict = make_state_dict()
        state_dict["lm_head.weight"] *= 0
        state_dict["lm_head.bias"] *= 0
        assert reference.loss(reference.from_state_dict(state_dict), X, Y) == pytest.approx(4 * log(6))

    def test_odds(self):
        # W_o = 0 and b_y = (ln 3, 0): at every step the first word has 3/4 and the second 1/4.
        p = Parameters(**vars(one_wide_parameters()) | {"W_o": np.zeros((2, 1)), "b_y": np.array([log(3), 0.0])})
        assert reference.loss(p, [0], [0, 0, 1]) == pytest.approx(-2 * log(3 / 4) - log(1 / 4))

    def test_last_word_is_predicted_and_never_fed(self):
        p = reference.from_state_dict(make_state_dict())
        h = reference.encode(p, X)
        np.testing.assert_array_equal(reference.decode(p, h, [3, 5])[0], reference.decode(p, h, [3, 1])[0])


class TestNumericalGradient:
    @pytest.mark.parametrize("step_order", ["paper", "groundhog"])
    def test_output_bias(self, step_order):
        """The one gradient that is short by hand: Σ_i (p(y) - [y = y_i])."""
        state_dict = make_state_dict()
        p = reference.from_state_dict(state_dict)
        logits, _ = reference.decode(p, reference.encode(p, X), Y, step_order)
        expected = sum(
            reference.softmax(row) - np.eye(SIZES["K_y"])[word] for row, word in zip(logits, Y, strict=True)
        )
        gradient = reference.numerical_gradient(state_dict, "lm_head.bias", X, Y, step_order)
        np.testing.assert_allclose(gradient, expected, atol=1e-8)

    def test_start_of_the_attention(self):
        """With v_a = 0, as section B.1 starts it, v_a itself has a gradient and W_a has none yet."""
        state_dict = make_state_dict()
        name = "model.decoder.attention.energy_proj.weight"
        state_dict[name] = np.zeros((1, SIZES["a"]))
        assert np.abs(reference.numerical_gradient(state_dict, name, X, Y)).max() > 1e-3
        query = reference.numerical_gradient(state_dict, "model.decoder.attention.query_proj.weight", X, Y)
        np.testing.assert_allclose(query, 0, atol=1e-9)


def test_block_order_of_the_state_dict():
    state_dict = make_state_dict()
    n, m = SIZES["n"], SIZES["m"]
    for unit in ("encoder.forward_unit", "encoder.backward_unit", "decoder.unit"):
        state_dict[f"model.{unit}.input_proj.weight"] = np.repeat([1.0, 2.0, 3.0], n)[:, None] * np.ones(m)
        state_dict[f"model.{unit}.gate_proj.weight"] = np.repeat([4.0, 5.0], n)[:, None] * np.ones(n)
    state_dict["model.decoder.unit.context_proj.weight"] = np.repeat([6.0, 7.0, 8.0], n)[:, None] * np.ones(2 * n)
    p = reference.from_state_dict(state_dict)
    for unit in (p.forward, p.backward, p.decoder):
        assert [unit.W_z[0, 0], unit.W_r[0, 0], unit.W[0, 0]] == [1, 2, 3]
        assert [unit.U_z[0, 0], unit.U_r[0, 0]] == [4, 5]
    assert [p.decoder.C_z[0, 0], p.decoder.C_r[0, 0], p.decoder.C[0, 0]] == [6, 7, 8]
