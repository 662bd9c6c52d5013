"""The public question sets, a loader each, as documents and questions of one shape."""

from __future__ import annotations

from pathlib import Path

from evals.datasets.records import QuestionSet
from evals.datasets.scifact import load_scifact
from evals.datasets.squad import load_covidqa, load_squad

__all__ = ["load_all", "load_covidqa", "load_scifact", "load_squad"]


def load_all(data: Path) -> list[QuestionSet]:
    """SQuAD 2, COVID-QA and SciFact below the folder ``data``: each is a corpus, and asks the
    others' foreign questions."""
    return [load_squad(data), load_covidqa(data), load_scifact(data)]
