"""``python -m evals.evidence.train_statements --data DIR``: the adapters of statements.

The encoder of evidence learns, by adapters of rank 16, which words of a claim its sentences do not
bear out, and whether they bear out the whole. Two domains of SummEdits, WiCE's claims and every
second rated question are left out, to measure on. Needs ``torch==2.13.0``; 25 minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from evals.evidence import claims
from evals.evidence.adapters import DENSE, adapters_of, bfloat16_where_fast, set_adapters
from evals.evidence.altered import Alterations, Context
from evals.evidence.claims import Claim
from helix.evidence.encoder import WEIGHTS as BASE
from helix.evidence.statements import (
    MOST_HEADINGS,
    MOST_READ,
    MOST_SENTENCE,
    MOST_STATEMENT,
    WEIGHTS,
    closest,
)
from helix.evidence.transformer import HEADS, Arrays, Transformer
from helix.language.sentences import sentences

SEED, RATE, STEPS, RANK, _CLAIMS = 7, 8e-4, 1000, 16, 32
_MIX = {"summedits": 0.26, "wice tokens": 0.05, "answers": 0.22, "altered": 0.15, "squad": 0.07,
        "synthetic": 0.25}  # fmt: skip
_FOREIGN = 500  # answers that are held against another's passages
_RARE = 3.0  # weight of words that are not borne out
_WARM, _LEAST = 0.06, 0.02  # share of the steps in which the rate rises; share of it at the end


@dataclass(frozen=True)
class Example:
    """A claim with the sentences closest to it as token ids; ``words`` 1 where not borne out."""

    ids: list[int]
    start: int
    words: NDArray[np.float32]
    label: float


class Examples:
    """Examples of claims, as helix.evidence.statements reads them."""

    def __init__(self, transformer: Transformer) -> None:
        self._transformer = transformer
        self._known: dict[str, list[int]] = {}

    def of(self, claim: Claim) -> Example:
        """The example of ``claim``."""
        read = self._transformer.tokenizer.encode(claim.text, add_special_tokens=False)
        said, end = read.ids[:MOST_STATEMENT], self._transformer.end
        tokens = [self._ids(one)[:MOST_SENTENCE] for one in claim.sentences]
        near = [token for at in sorted(closest(said, tokens)) for token in tokens[at]][:MOST_READ]
        ids = [self._transformer.start, *said, end, *self._ids(claim.headings)[:MOST_HEADINGS], end]
        words = np.full(len(said), -1, dtype=np.float32)
        if claim.bad is not None:
            words[:] = [
                any(start < b and a < stop for a, b in claim.bad)
                for start, stop in read.offsets[: len(said)]
            ]
        return Example([*ids, *near, end], len(ids), words, claim.label)

    def _ids(self, text: str) -> list[int]:
        if text not in self._known:
            self._known[text] = self._transformer.tokens([text])[0]
        return self._known[text]


class _Adapted(nn.Module):  # type: ignore[misc]
    """A frozen dense layer plus the product of two narrow matrices."""

    def __init__(self, arrays: Arrays, name: str) -> None:
        super().__init__()
        weights = arrays[name].astype(np.float32) * arrays[f"{name}_scale"].astype(np.float32)
        self.register_buffer("fixed", torch.from_numpy(np.ascontiguousarray(weights.T)))
        out, width = self.fixed.shape
        self.bias = nn.Parameter(torch.from_numpy(arrays[f"{name}_bias"].astype(np.float32)))
        self.down = nn.Parameter(torch.randn(RANK, width) / math.sqrt(width))
        self.up = nn.Parameter(torch.zeros(out, RANK))

    def forward(self, rows: Tensor) -> Tensor:
        narrow = nn.functional.linear(rows, self.down)
        own = nn.functional.linear(narrow, self.up)
        return nn.functional.linear(rows, self.fixed, self.bias) + own


def _norm(arrays: Arrays, name: str) -> nn.LayerNorm:
    scale, shift = arrays[f"{name}_norm"].astype(np.float32)
    norm = nn.LayerNorm(len(scale), eps=1e-12)
    norm.weight.data, norm.bias.data = torch.from_numpy(scale), torch.from_numpy(shift)
    return norm


class _Layer(nn.Module):  # type: ignore[misc]
    def __init__(self, arrays: Arrays, name: str) -> None:
        super().__init__()
        self.dense = nn.ModuleDict({one: _Adapted(arrays, f"{name}_{one}") for one in DENSE})
        self.after_attention = _norm(arrays, f"{name}_after_attention")
        self.after = _norm(arrays, f"{name}_after")

    def forward(self, rows: Tensor, padding: Tensor) -> Tensor:
        count, length, width = rows.shape
        parts = self.dense["attended"](rows).reshape(count, length, 3, HEADS, width // HEADS)
        asks, keys, values = parts.permute(2, 0, 3, 1, 4)
        scores = (asks @ keys.transpose(-1, -2) / math.sqrt(width // HEADS)).float() + padding
        read = (torch.softmax(scores, -1).to(values.dtype) @ values).permute(0, 2, 1, 3)
        rows = self.after_attention(rows + self.dense["joined"](read.reshape(rows.shape)))
        wide = nn.functional.gelu(self.dense["widened"](rows), approximate="tanh")
        return self.after(rows + self.dense["narrowed"](wide))


class Reader(nn.Module):  # type: ignore[misc]
    """The transformer of evidence with adapters, a head for claims and one for their words."""

    def __init__(self, arrays: Arrays) -> None:
        super().__init__()
        words = arrays["words"].astype(np.float32) * arrays["words_scale"][:, None]
        self.register_buffer("words", torch.from_numpy(words))
        self.register_buffer("places", torch.from_numpy(arrays["places"].astype(np.float32)))
        self.types = nn.Parameter(torch.from_numpy(arrays["types"].astype(np.float32)))
        self.first = _norm(arrays, "first")
        layers = range(int(arrays["layers"]))
        self.layers = nn.ModuleList(_Layer(arrays, f"layer{number}") for number in layers)
        width = words.shape[1]
        self.claim, self.word = nn.Linear(2 * width, 1), nn.Linear(width, 1)
        nn.init.normal_(self.claim.weight, std=0.02)
        nn.init.zeros_(self.claim.bias)

    def forward(self, read: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor]:
        """Log-odds of each claim and of each token, and the tokens' labels (-1: unknown)."""
        shape = len(read), max(len(one.ids) for one in read)
        ids = torch.zeros(shape, dtype=torch.long)
        types, padding = torch.zeros_like(ids), torch.full(shape, -1e4)
        own, labels = torch.zeros(shape), torch.full(shape, -1.0)
        for row, one in enumerate(read):
            length, said = len(one.ids), len(one.words)
            ids[row, :length], padding[row, :length] = torch.tensor(one.ids), 0
            types[row, one.start : length], own[row, 1 : 1 + said] = 1, 1
            labels[row, 1 : 1 + said] = torch.from_numpy(one.words)
        with bfloat16_where_fast():
            rows = self.first(self.words[ids] + self.types[types] + self.places[: shape[1]])
            for layer in self.layers:
                rows = layer(rows, padding[:, None, None])
        rows, own = rows.float(), own[..., None]
        mean, most = (rows * own).sum(1) / own.sum(1), (rows - 1e4 * (1 - own)).max(1)[0]
        return self.claim(torch.cat([mean, most], 1))[:, 0], self.word(rows)[..., 0], labels


def loss_of(reader: Reader, read: Sequence[Example]) -> Tensor:
    """The cross entropy of the claims, and of their words where they are marked."""
    said, tokens, labels = reader(read)
    wholes = torch.tensor([one.label for one in read])
    loss, known = nn.functional.binary_cross_entropy_with_logits(said, wholes), labels >= 0
    if not known.any():
        return loss
    rare = torch.tensor(_RARE)
    return loss + nn.functional.binary_cross_entropy_with_logits(
        tokens[known], labels[known], pos_weight=rare
    )


def contexts(data: Path) -> Iterator[Context]:
    """Passages whose sentences are altered: of SQuAD, CLAPNQ, SelQA, COVID-QA and mtRAG."""
    for name in ("squad2/dev-8-articles.json", "covidqa/covidqa.json"):
        for article in json.loads((data / name).read_text("utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                title = str(article.get("title", paragraph.get("document_id", "")))
                read = sentences(paragraph["context"])
                for first in range(0, len(read), 12):
                    part = tuple(read[first : first + 12])
                    yield Context(name, title, part, title.replace("_", " "))
    for claim in claims.human_answers(data):
        yield Context(claim.set, claim.document, claim.sentences, claim.headings)
    for entry in json.loads((data / "selqa/sentences.json").read_text("utf-8")):
        title = f"{entry['article']} {entry['section']}"
        yield Context("selqa", entry["article"], tuple(entry["candidates"]), title)


def lessons(data: Path, count: int, seed: int) -> dict[str, list[Claim]]:
    """The claims to learn from by their share's name; ``count`` are drawn of all in all."""
    draw = random.Random(seed)
    known = [one for one in dict.fromkeys(contexts(data)) if len(one.sentences) > 2]
    alterations = Alterations(known, seed)
    rated = claims.rated_to_learn_from(data)
    answers = [
        *claims.human_answers(data),
        *(one for one in claims.ratings(data) if one.document in rated and not one.label),
    ]
    marked = list(claims.wice_tokens(data))
    altered = [one for claim in answers for one in alterations.of(claim)]
    foreign = [(draw.choice(answers), draw.choice(answers)) for _ in range(_FOREIGN)]
    answers += [
        Claim("foreign", one.document, one.text, other.sentences, 1.0, None, other.headings)
        for one, other in foreign
        if one.document != other.document
    ]
    learned = [one for one in claims.DOMAINS if one not in claims.LEFT_OUT]
    return {
        "summedits": list(claims.summedits(data, learned)),
        "wice tokens": marked,
        "answers": answers,
        "altered": altered,
        "squad": list(claims.answered_questions(data)),
        "synthetic": list(alterations.synthetic(int(count * _MIX["synthetic"]))),
    }


def _batches(read: dict[str, list[Example]], steps: int, seed: int) -> Iterator[list[Example]]:
    draw, pools = random.Random(seed), {name: list[Example]() for name in read}
    names, shares = list(_MIX), list(_MIX.values())
    for _ in range(steps):
        batch = []
        for name in draw.choices(names, shares, k=_CLAIMS):
            pools[name] = pools[name] or draw.sample(read[name], len(read[name]))
            batch.append(pools[name].pop())
        yield sorted(batch, key=lambda one: len(one.ids))


def train(
    reader: Reader, examples: Examples, learned: Mapping[str, list[Claim]],
    *, steps: int, rate: float, seed: int,
) -> None:  # fmt: skip
    """Let ``reader`` learn from ``steps`` batches of claims; prints the loss as it falls."""
    read = {
        name: [one for one in map(examples.of, all_) if len(one.words)]
        for name, all_ in learned.items()
    }
    parameters = [one for one in reader.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01)
    for step, batch in enumerate(_batches(read, steps, seed)):
        rise, fall = (step + 1) / (_WARM * steps), (steps - step) / ((1 - _WARM) * steps)
        for group in optimizer.param_groups:
            group["lr"] = rate * min(rise, max(_LEAST, fall), 1)
        halves = batch[: _CLAIMS // 2], batch[_CLAIMS // 2 :]
        losses = [loss_of(reader, half) / 2 for half in halves]
        sum(losses, torch.zeros(())).backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step % 25 == 24:
            print(f"step {step + 1} of {steps}: loss {float(sum(losses)):.3f}", flush=True)


def main() -> None:
    """Train on all that is not left out, and write the adapters."""
    parser = argparse.ArgumentParser(prog="evals.evidence.train_statements", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the public sets")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="the file of the adapters")
    parser.add_argument("--start", type=Path, help="adapters to go on from")
    parser.add_argument("--base", type=Path, help="the encoder that those are of, if another")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    base, steps, seed = _arrays(BASE), options.steps, options.seed
    learned = lessons(options.data, steps * _CLAIMS, seed)
    print({name: len(all_) for name, all_ in learned.items()}, flush=True)
    torch.manual_seed(seed)
    reader = Reader(base)
    if options.start is not None:
        set_adapters(reader, _arrays(options.start), _arrays(options.base or BASE), base)
    examples = Examples(Transformer(base))
    train(reader, examples, learned, steps=steps, rate=options.rate, seed=seed)
    kept = _arrays(WEIGHTS)  # of evals.evidence.fit_statements, until it has fitted them anew
    fitted = {name: kept[name] for name in ("joint", "bar")}
    np.savez_compressed(options.out, allow_pickle=False, **fitted, **adapters_of(reader))


def _arrays(file: Path) -> dict[str, NDArray[Any]]:
    with np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


if __name__ == "__main__":
    main()
