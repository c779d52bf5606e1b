"""The equations of the paper, in its letters: NumPy, float64, one sentence pair, one position at a time.

This is the ground truth that the tests hold the fast model against. It has no batch, no padding and no cache, and it
is meant to be read beside Bahdanau, Cho and Bengio, "Neural machine translation by jointly learning to align and
translate" (2014). Sizes: K_x and K_y words, m embedding, n hidden, n' alignment, l maxout; T_x and T_y positions,
both counted with the final `</s>`. Vectors are columns, as in the paper, and E holds one word a column.

Encoder (appendix A.2.1), for i = 1..T_x from →h_0 = 0::

    z_i  = σ(W_z E x_i + U_z h_{i-1} + b_z)
    r_i  = σ(W_r E x_i + U_r h_{i-1} + b_r)
    h~_i = tanh(W E x_i + U (r_i ∘ h_{i-1}) + b)
    h_i  = (1 - z_i) ∘ h_{i-1} + z_i ∘ h~_i

The backward unit has weights of its own, reads x from its end, and shares E. The annotation is h_j = [→h_j ; ←h_j].

Decoder (sections 3.1 and A.1.2, A.2.2), for i = 1..T_y::

    s_0  = tanh(W_s ←h_1 + b_s)
    e_ij = v_aᵀ tanh(W_a s_{i-1} + U_a h_j)          α_ij = exp(e_ij) / Σ_k exp(e_ik)   (equation 6)
    c_i  = Σ_j α_ij h_j                                                                  (equation 5)
    z_i  = σ(W_z E y_{i-1} + U_z s_{i-1} + C_z c_i + b_z)
    r_i  = σ(W_r E y_{i-1} + U_r s_{i-1} + C_r c_i + b_r)
    s~_i = tanh(W E y_{i-1} + U (r_i ∘ s_{i-1}) + C c_i + b)
    s_i  = (1 - z_i) ∘ s_{i-1} + z_i ∘ s~_i
    t~_i = U_o s_i + V_o E y_{i-1} + C_o c_i + b_o   t_ij = max(t~_{i,2j-1}, t~_{i,2j})
    p(y_i | y_1..y_{i-1}, x) ∝ exp(y_iᵀ (W_o t_i + b_y))                                 (equation 4)

The paper prints its formulas without the biases; with all of them zero these are its own. There is no word before the
first one, so E y_0 is the zero vector.

The unit is not the GRU of today's libraries: the reset gate acts on the state before U multiplies it, and z_i is the
share of the new candidate, where PyTorch's z is the share kept of the old state.

Two step orders. The paper contradicts itself, since equation 4 reads the word from s_i and A.2.2 from s_{i-1}, and
the code its authors published is a third thing.

- "paper" is section 3.1 with equation 4, as above: look with s_{i-1}, update with y_{i-1} and c_i, emit y_i from s_i.
  The weights α_i cannot know y_{i-1}.
- "groundhog" is the published code: look, emit, update. A state g_1 = s_0 looks at c_1 and emits y_1; afterwards
  g_i comes from g_{i-1} with y_{i-1} and the *old* context c_{i-1}, looks at c_i, and emits y_i from g_i. So α_i
  knows y_{i-1}, and the first step runs no unit.

RNNencdec, the paper's baseline, is the same decoder with `context="fixed"`: c_i = →h_{T_x} at every step,
s_0 = tanh(W_s →h_{T_x} + b_s), and no backward unit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "DecoderUnit",
    "EncoderUnit",
    "Parameters",
    "attend",
    "decode",
    "decoder_step",
    "encode",
    "encoder_step",
    "from_state_dict",
    "log_softmax",
    "loss",
    "maxout",
    "numerical_gradient",
    "softmax",
]

Array = NDArray[np.float64]
StepOrder = Literal["paper", "groundhog"]
Context = Literal["search", "fixed"]
Score = Literal["additive", "dot", "scaled_dot"]


@dataclass(frozen=True)
class EncoderUnit:
    """Weights of one direction of the encoder (A.2.1): W* are (n, m), U* are (n, n), b* are (n,)."""

    W: Array
    W_z: Array
    W_r: Array
    U: Array
    U_z: Array
    U_r: Array
    b: Array
    b_z: Array
    b_r: Array


@dataclass(frozen=True)
class DecoderUnit(EncoderUnit):
    """The same with the context terms of A.2.2: C* are (n, 2n), or (n, n) for the fixed context."""

    C: Array
    C_z: Array
    C_r: Array


@dataclass(frozen=True)
class Parameters:
    """All weights under the paper's letters; None where the variant has no such weight."""

    E_x: Array  # (m, K_x)
    E_y: Array  # (m, K_y)
    forward: EncoderUnit
    backward: EncoderUnit | None  # None: fixed context
    decoder: DecoderUnit
    W_s: Array  # (n, n)
    b_s: Array  # (n,)
    W_a: Array | None  # (n', n); None: fixed context
    U_a: Array | None  # (n', 2n); None: fixed context
    v_a: Array | None  # (n',); None: a dot product score, or fixed context
    U_o: Array  # (2l, n)
    V_o: Array  # (2l, m)
    C_o: Array  # (2l, 2n), or (2l, n) for the fixed context
    b_o: Array  # (2l,)
    W_o: Array  # (K_y, l)
    b_y: Array  # (K_y,)


def from_state_dict(state_dict: Mapping[str, ArrayLike]) -> Parameters:
    """Rename the weights of `RNNsearchForConditionalGeneration` to the paper's letters.

    Args:
        state_dict: arrays, or tensors on the CPU that need no gradient, under the model's own names. The model stacks
            the input and context weights of a unit as z, r, s~ and its recurrent gate weights as z, r.

    Raises:
        KeyError: a weight that every variant has is missing.
    """
    weights = {name: np.asarray(weight, dtype=np.float64) for name, weight in state_dict.items()}

    def encoder_unit(name: str) -> EncoderUnit:
        W_z, W_r, W = np.split(weights[f"{name}.input_proj.weight"], 3)
        b_z, b_r, b = np.split(weights[f"{name}.input_proj.bias"], 3)
        U_z, U_r = np.split(weights[f"{name}.gate_proj.weight"], 2)
        U = weights[f"{name}.candidate_proj.weight"]
        return EncoderUnit(W=W, W_z=W_z, W_r=W_r, U=U, U_z=U_z, U_r=U_r, b=b, b_z=b_z, b_r=b_r)

    def decoder_unit(name: str) -> DecoderUnit:
        C_z, C_r, C = np.split(weights[f"{name}.context_proj.weight"], 3)
        return DecoderUnit(**vars(encoder_unit(name)), C=C, C_z=C_z, C_r=C_r)

    v_a = weights.get("model.decoder.attention.energy_proj.weight")
    return Parameters(
        E_x=weights["model.encoder.embed_tokens.weight"].T,
        E_y=weights["model.decoder.embed_tokens.weight"].T,
        forward=encoder_unit("model.encoder.forward_unit"),
        backward=(
            encoder_unit("model.encoder.backward_unit")
            if "model.encoder.backward_unit.input_proj.weight" in weights
            else None
        ),
        decoder=decoder_unit("model.decoder.unit"),
        W_s=weights["model.decoder.init_proj.weight"],
        b_s=weights["model.decoder.init_proj.bias"],
        W_a=weights.get("model.decoder.attention.query_proj.weight"),
        U_a=weights.get("model.decoder.attention.key_proj.weight"),
        v_a=None if v_a is None else v_a[0],
        U_o=weights["model.decoder.readout.state_proj.weight"],
        V_o=weights["model.decoder.readout.embedding_proj.weight"],
        C_o=weights["model.decoder.readout.context_proj.weight"],
        b_o=weights["model.decoder.readout.state_proj.bias"],
        W_o=weights["lm_head.weight"],
        b_y=weights["lm_head.bias"],
    )


def sigmoid(a: Array) -> Array:
    """σ(a) = 1 / (1 + exp(-a)), elementwise."""
    return 1.0 / (1.0 + np.exp(-a))


def log_softmax(a: Array) -> Array:
    """log(exp(a_j) / Σ_k exp(a_k)) of one vector; the maximum is taken out so that exp cannot overflow."""
    a = a - a.max()
    return a - np.log(np.exp(a).sum())


def softmax(a: Array) -> Array:
    """exp(a_j) / Σ_k exp(a_k) of one vector."""
    return np.exp(log_softmax(a))


def maxout(t_tilde: Array) -> Array:
    """t_j = max(t~_{2j-1}, t~_{2j}), (2l,) -> (l,): the units of a pair are neighbours (A.2.2)."""
    return np.array([max(t_tilde[2 * j], t_tilde[2 * j + 1]) for j in range(len(t_tilde) // 2)])


def encoder_step(p: EncoderUnit, Ex: Array, h: Array) -> Array:
    """One step of an encoder direction (A.2.1): h_{i-1} (n,) and E x_i (m,) -> h_i (n,)."""
    z = sigmoid(p.W_z @ Ex + p.U_z @ h + p.b_z)
    r = sigmoid(p.W_r @ Ex + p.U_r @ h + p.b_r)
    h_tilde = np.tanh(p.W @ Ex + p.U @ (r * h) + p.b)
    return (1 - z) * h + z * h_tilde


def decoder_step(p: DecoderUnit, Ey: Array, s: Array, c: Array) -> Array:
    """One step of the decoder's state (A.2.2): the old s (n,), E y (m,) and c -> the new s (n,)."""
    z = sigmoid(p.W_z @ Ey + p.U_z @ s + p.C_z @ c + p.b_z)
    r = sigmoid(p.W_r @ Ey + p.U_r @ s + p.C_r @ c + p.b_r)
    s_tilde = np.tanh(p.W @ Ey + p.U @ (r * s) + p.C @ c + p.b)
    return (1 - z) * s + z * s_tilde


def encode(p: Parameters, x: Sequence[int]) -> Array:
    """Annotations h_j of the source ids `x`, which end with `</s>`: (T_x, 2n), forward half first.

    For the fixed context there is no backward unit, and the annotations are →h_j alone: (T_x, n).
    """
    h_forward = np.zeros((len(x), len(p.W_s)))
    h = np.zeros(len(p.W_s))
    for i in range(len(x)):
        h = encoder_step(p.forward, p.E_x[:, x[i]], h)
        h_forward[i] = h
    if p.backward is None:
        return h_forward

    h_backward = np.zeros((len(x), len(p.W_s)))
    h = np.zeros(len(p.W_s))
    for i in reversed(range(len(x))):
        h = encoder_step(p.backward, p.E_x[:, x[i]], h)
        h_backward[i] = h
    return np.concatenate([h_forward, h_backward], axis=1)


def attend(p: Parameters, s: Array, h: Array, score: Score = "additive") -> tuple[Array, Array]:
    """Context c_i (2n,) and weights α_i (T_x,), which sum to 1, of the query `s` (n,) over the annotations `h`.

    The scores: "additive" is the paper's v_aᵀ tanh(W_a s + U_a h_j) (A.1.2), "dot" is (W_a s)ᵀ (U_a h_j), and
    "scaled_dot" is that divided by √n'.

    Raises:
        ValueError: the score is unknown, or the parameters lack its weights.
    """
    if p.W_a is None or p.U_a is None:
        raise ValueError("these parameters have no attention: decode them with context='fixed'")
    e = np.zeros(len(h))
    for j in range(len(h)):
        query, key = p.W_a @ s, p.U_a @ h[j]
        if score == "additive":
            if p.v_a is None:
                raise ValueError("these parameters have no v_a: score them with 'dot' or 'scaled_dot'")
            e[j] = p.v_a @ np.tanh(query + key)
        elif score == "dot":
            e[j] = query @ key
        elif score == "scaled_dot":
            e[j] = query @ key / np.sqrt(len(query))
        else:
            raise ValueError(f"unknown score {score!r}: use 'additive', 'dot' or 'scaled_dot'")
    alpha = softmax(e)
    c = sum((alpha[j] * h[j] for j in range(len(h))), start=np.zeros(h.shape[1]))
    return c, alpha


def decode(
    p: Parameters,
    h: Array,
    y: Sequence[int],
    step_order: StepOrder = "paper",
    context: Context = "search",
    score: Score = "additive",
) -> tuple[Array, Array | None]:
    """Logits W_o t_i + b_y of every target position, given the annotations and the words before it.

    Args:
        p: the weights.
        h: annotations (T_x, 2n), or (T_x, n) for the fixed context.
        y: target ids, which end with `</s>`; the last one is predicted and never fed.
        step_order, context, score: see the top of this module and `attend`.

    Returns:
        Logits (T_y, K_y), and α (T_y, T_x) whose row i was used to emit y_i, or None for the fixed context.

    Raises:
        ValueError: an option is unknown or does not belong to these parameters.
    """
    if step_order not in ("paper", "groundhog"):
        raise ValueError(f"unknown step order {step_order!r}: use 'paper' or 'groundhog'")
    if (context == "search") != (p.backward is not None):
        raise ValueError(f"context {context!r} does not belong to these parameters")

    def look(s: Array) -> tuple[Array, Array | None]:
        return attend(p, s, h, score) if context == "search" else (h[-1], None)

    n = len(p.W_s)
    s = np.tanh(p.W_s @ (h[0, n:] if context == "search" else h[-1]) + p.b_s)  # s_0 from ←h_1, or from →h_{T_x}
    logits = np.zeros((len(y), len(p.b_y)))
    alpha = []
    c = np.zeros(h.shape[1])
    Ey = np.zeros(len(p.E_y))  # E y_0
    for i in range(len(y)):
        if step_order == "paper":
            c, alpha_i = look(s)
            s = decoder_step(p.decoder, Ey, s, c)
        else:
            if i > 0:
                s = decoder_step(p.decoder, Ey, s, c)  # c is still c_{i-1}
            c, alpha_i = look(s)
        t_tilde = p.U_o @ s + p.V_o @ Ey + p.C_o @ c + p.b_o
        logits[i] = p.W_o @ maxout(t_tilde) + p.b_y
        Ey = p.E_y[:, y[i]]
        alpha.append(alpha_i)
    return logits, np.array(alpha) if context == "search" else None


def loss(
    p: Parameters,
    x: Sequence[int],
    y: Sequence[int],
    step_order: StepOrder = "paper",
    context: Context = "search",
    score: Score = "additive",
) -> float:
    """-log p(y | x) in nats, summed over the target positions, `</s>` included (equation 2 of the paper)."""
    logits, _ = decode(p, encode(p, x), y, step_order, context, score)
    return -float(sum(log_softmax(logits[i])[y[i]] for i in range(len(y))))


def numerical_gradient(
    state_dict: Mapping[str, ArrayLike],
    name: str,
    x: Sequence[int],
    y: Sequence[int],
    step_order: StepOrder = "paper",
    context: Context = "search",
    score: Score = "additive",
    epsilon: float = 1e-5,
) -> Array:
    """Gradient of `loss` for the weight `name` of the model's state dict, by central differences, in its shape.

    The error is of the order of 1e-9 where no pair of maxout units is closer than `epsilon`; the cost is two losses a
    number, so this is for tiny models.
    """
    weight = np.array(state_dict[name], dtype=np.float64)
    gradient = np.zeros_like(weight)
    for index in np.ndindex(weight.shape):
        kept = weight[index]
        losses = []
        for moved in (kept + epsilon, kept - epsilon):
            weight[index] = moved
            p = from_state_dict({**state_dict, name: weight})
            losses.append(loss(p, x, y, step_order, context, score))
        weight[index] = kept
        gradient[index] = (losses[0] - losses[1]) / (2 * epsilon)
    return gradient
