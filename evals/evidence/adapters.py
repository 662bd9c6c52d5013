"""The adapters of statements: a trained reader's as arrays, and back into a reader.

A reader is that of ``evals.evidence.train_statements``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from helix.evidence.transformer import Arrays

DENSE = ("attended", "joined", "widened", "narrowed")
_NORMS = ("after_attention", "after")


def bfloat16_where_fast() -> torch.autocast:
    """Autocast to bfloat16 where the processor multiplies it; where not it is four times slower."""
    is_fast = torch.cpu._is_avx512_bf16_supported()
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_fast)


def adapters_of(reader: nn.Module) -> dict[str, NDArray[Any]]:
    """The adapters as helix.evidence.transformer and helix.evidence.statements read them."""
    state = {name: value.detach().float().numpy() for name, value in reader.state_dict().items()}
    made = {"types": state["types"], "claim": state["claim.weight"][0]}
    made["word"] = state["word.weight"][0]
    made["biases"] = np.concatenate([state["claim.bias"], state["word.bias"]])
    made["first_norm"] = np.stack([state["first.weight"], state["first.bias"]])
    for number in range(len(reader.layers)):
        of = f"layers.{number}"
        for one in DENSE:
            for part in ("down", "up", "bias"):
                made[f"layer{number}_{one}_{part}"] = state[f"{of}.dense.{one}.{part}"]
        for one in _NORMS:
            pair = [state[f"{of}.{one}.{part}"] for part in ("weight", "bias")]
            made[f"layer{number}_{one}_norm"] = np.stack(pair)
    return {name: value.astype(np.float16) for name, value in made.items()}


def set_adapters(reader: nn.Module, adapters: Arrays, before: Arrays, base: Arrays) -> None:
    """Give ``reader``, which is over the encoder ``base``, adapters over the encoder ``before``.

    Their biases and norms move by as much as those of the encoder did.
    """

    def moved(name: str) -> NDArray[np.float32]:
        own, new, old = (one[name].astype(np.float32) for one in (adapters, base, before))
        return np.asarray(own + new - old, dtype=np.float32)

    state = {"types": moved("types"), "claim.weight": adapters["claim"][None]}
    state["word.weight"] = adapters["word"][None]
    state["claim.bias"], state["word.bias"] = np.split(adapters["biases"], 2)
    state["first.weight"], state["first.bias"] = moved("first_norm")
    for number in range(len(reader.layers)):
        of, name = f"layers.{number}", f"layer{number}"
        for one in DENSE:
            state[f"{of}.dense.{one}.bias"] = moved(f"{name}_{one}_bias")
            for part in ("down", "up"):
                state[f"{of}.dense.{one}.{part}"] = adapters[f"{name}_{one}_{part}"]
        for one in _NORMS:
            weight, bias = moved(f"{name}_{one}_norm")
            state |= {f"{of}.{one}.weight": weight, f"{of}.{one}.bias": bias}
    read = {name: torch.from_numpy(one.astype(np.float32)) for name, one in state.items()}
    reader.load_state_dict(read, strict=False)
