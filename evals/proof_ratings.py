"""Answers that people rated (MTRAG's human_ratings.json), as the verifier reads them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from evals.proof_alterations import alone
from helix.answering.proof import prove
from helix.domain.context import Source
from helix.language.sentences import sentences

FAITHFUL = 4.0
"""The best rating of four: every claim of the response is in its passages."""


@dataclass(frozen=True)
class RatedAnswer:
    """A response, each sentence cited to all its passages, and the median of its raters."""

    answer: str
    sources: Sequence[Source]
    faithfulness: float

    def unproven(self) -> float:
        """Share of its statements without support, 0 to 1."""
        ratio = prove(self.answer, self.sources).ratio
        return 0.0 if ratio is None else 1.0 - ratio


def rated_answers(data: Path) -> list[RatedAnswer]:
    """The rated responses to questions that have passages, of ``data/mtrag``."""
    file: dict[str, Any] = json.loads((data / "mtrag/human_ratings.json").read_text("utf-8"))
    documents = {each["document_id"]: each for each in file["documents"]}
    contexts = {each["task_id"]: each["contexts"] for each in file["tasks"]}
    found = []
    for evaluation in file["evaluations"]:
        given = [documents[each["document_id"]] for each in contexts[evaluation["task_id"]]]
        sources = [alone(d["text"], n, d.get("title") or "") for n, d in enumerate(given, 1)]
        if sources:
            marker = f" [{', '.join(str(n) for n in range(1, len(sources) + 1))}]"
            ratings = evaluation["annotations"]["faithfulness"].values()
            said = sentences(evaluation["model_response"])
            answer = "\n".join(sentence + marker for sentence in said)
            rating = median(float(each["value"]) for each in ratings)
            found.append(RatedAnswer(answer, sources, rating))
    return found


def auroc(unfaithful: Sequence[float], faithful: Sequence[float]) -> float:
    """Chance that an unfaithful answer has the larger share; ties count half."""
    one, other = np.array(unfaithful)[:, None], np.array(faithful)[None]
    return float((one > other).mean() + (one == other).mean() / 2)


def auroc_interval(unfaithful: Sequence[float], faithful: Sequence[float]) -> tuple[float, float]:
    """95% bootstrap interval of ``auroc``, both groups drawn again 2,000 times."""
    random = np.random.default_rng(0)
    values = [
        auroc(
            random.choice(unfaithful, len(unfaithful)).tolist(),
            random.choice(faithful, len(faithful)).tolist(),
        )
        for _ in range(2000)
    ]
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)
