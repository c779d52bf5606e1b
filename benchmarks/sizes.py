"""The sizes that are measured, and the arithmetic of a training step at each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """A model and a batch.

    Args:
        name: what tables call it.
        embedding: m, units of a word embedding on either side.
        hidden: n, units of the decoder and of the encoder in each direction.
        alignment: a, units of the hidden layer of the alignment model.
        maxout: l, units of the maxout layer.
        vocabulary: K, words on either side, special ones included.
        batch: B, sentences of a training step.
        source_length: S, source positions, the end of the sentence included.
        target_length: T, predicted words, the end of the sentence included.
    """

    name: str
    embedding: int
    hidden: int
    alignment: int
    maxout: int
    vocabulary: int
    batch: int
    source_length: int
    target_length: int


# The read-out has the paper's proportion, l = n / 2.
SIZES = {
    size.name: size
    for size in (
        Size("s25", 256, 512, 512, 256, 10_000, 64, 25, 25),
        Size("s50", 256, 512, 512, 256, 10_000, 64, 50, 50),
        Size("paper", 620, 1000, 1000, 500, 30_000, 80, 25, 25),
    )
}


def forward_flop(size: Size) -> dict[str, int]:
    """Floating-point operations of the matrix products of one forward pass, by part of the model.

    A product (p, q) x (q, r) counts 2 p q r: one multiplication and one addition for each of its p q r terms. Sums,
    gates, tanh, softmax and maxout are left out, as is usual; so is looking up embeddings. In the paper's letters
    (appendix A), with the sizes in `Size` and 2n units in an annotation:

    | part | products | times | operations of each |
    | --- | --- | --- | --- |
    | encoder | W E x_j (3n, m); U h_{j-1} (3n, n) | 2 B S | 2 · 3n (m + n) |
    | initial state | W_s ←h_1 (n, n) | B | 2 n² |
    | keys | U_a h_j (a, 2n), once for a sentence | B S | 2 · 2n a |
    | queries | W_a s_{i-1} (a, n) | B T | 2 n a |
    | energies | v_a · tanh(...) (a) | B T S | 2 a |
    | contexts | Σ_j α_ij h_j (2n) | B T S | 2 · 2n |
    | decoder | W E y_{i-1} (3n, m); U s_{i-1} (3n, n); C c_i (3n, 2n) | B T | 2 · 3n (m + 3n) |
    | read-out | V_o E y_{i-1} (2l, m); U_o s_i (2l, n); C_o c_i (2l, 2n) | B T | 2 · 2l (m + 3n) |
    | vocabulary | W_o t_i (K, l) | B T | 2 l K |
    """
    m, n, a, l, k = size.embedding, size.hidden, size.alignment, size.maxout, size.vocabulary  # noqa: E741
    read, written = size.batch * size.source_length, size.batch * size.target_length
    pairs = written * size.source_length
    return {
        "encoder": 2 * read * 2 * 3 * n * (m + n),
        "initial state": size.batch * 2 * n * n,
        "keys": read * 2 * 2 * n * a,
        "queries": written * 2 * n * a,
        "energies": pairs * 2 * a,
        "contexts": pairs * 2 * 2 * n,
        "decoder": written * 2 * 3 * n * (m + 3 * n),
        "read-out": written * 2 * 2 * l * (m + 3 * n),
        "vocabulary": written * 2 * l * k,
    }


def training_flop(size: Size) -> int:
    """Floating-point operations of the matrix products of one training step: three times the forward pass.

    For a product Y = X W the backward pass has two of the same size, dX = dY Wᵀ and dW = Xᵀ dY. Both are needed
    everywhere, since embeddings and annotations have gradients too. What an implementation computes twice, such as
    the tanh of the alignment model, does not count twice; neither do the optimiser and the clipping of gradients.
    """
    return 3 * sum(forward_flop(size).values())
