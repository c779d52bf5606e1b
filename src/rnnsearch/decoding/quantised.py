"""Weights of eight bits, for decoding on a CPU."""

import copy
import warnings

import torch
from torch import nn

from ..modeling.layers_rnnsearch import EnergyProjection
from ..modeling.modeling_rnnsearch import RNNsearchForConditionalGeneration


def with_int8_weights(model: RNNsearchForConditionalGeneration) -> RNNsearchForConditionalGeneration:
    """A copy of the model for `generate` on a CPU, whose linear layers multiply in eight bits.

    Weights are rounded once, to a scale of each output unit's own; inputs at every product, to a scale of their own.
    Embeddings, the encoder's recurrence, v_a, states and sums keep float32.

    Raises:
        RuntimeError: this PyTorch has no products of eight bits for this processor.
    """
    model = copy.deepcopy(model).float()
    encoder = model.get_encoder()
    # The encoder reads these without calling them; v_a is one row.
    kept = {unit for unit in (encoder.forward_unit, encoder.backward_unit) if unit is not None}
    with warnings.catch_warnings():
        # The package that PyTorch means to hand this over to is faster than float32 at few shapes only on a CPU.
        warnings.filterwarnings("ignore", ".*torch.ao.quantization is deprecated", DeprecationWarning)
        warnings.filterwarnings("ignore", ".*quantize_per_(tensor|channel)", UserWarning)
        for parent in list(model.modules()):
            for name, layer in list(parent.named_children()):
                recurrent = parent in kept and name != "input_proj"
                if isinstance(layer, nn.Linear) and not isinstance(layer, EnergyProjection) and not recurrent:
                    setattr(parent, name, _int8(layer))
    return model


def _int8(layer: nn.Linear) -> nn.Module:
    # The quantiser knows `nn.Linear` itself and none of its kinds.
    plain = nn.Linear(layer.in_features, layer.out_features, layer.bias is not None, device="meta")
    plain.weight, plain.bias = layer.weight, layer.bias
    quantise = {"": torch.ao.quantization.per_channel_dynamic_qconfig}
    [quantised] = torch.ao.quantization.quantize_dynamic(nn.Sequential(plain), quantise, torch.qint8)
    return quantised
