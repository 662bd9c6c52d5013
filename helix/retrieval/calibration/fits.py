"""Fits of the gate as the database keeps them, and which one a question is judged by."""

from __future__ import annotations

import json
import logging
import time
from collections import OrderedDict
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from psycopg.types.json import Jsonb

from helix.domain.gate import Estimate
from helix.domain.records import SearchResult
from helix.retrieval.calibration.model import GateModel
from helix.retrieval.calibration.signals import signals
from helix.settings import Settings
from helix.storage.statements import gate_fits as sql
from helix.storage.tenant_store import TenantStore

_logger = logging.getLogger(__name__)

KEPT_SECONDS = 60.0
"""Seconds for which a fit that was read is used before the database is asked again."""
_MOST_KEPT = 1000  # tenants and embedders together
CHANGED = 0.5
"""A corpus that grew or shrank by this share since its fit is told of in the log."""


def packaged_fits() -> dict[str, GateModel]:
    """The fits that Helix brings, by ``Embedder.identity``.

    Written by ``python -m evals.calibration.public_sets --write`` (evals/CALIBRATION.md); another
    embedder needs a fit of its own (docs/calibration.md).
    """
    text = files("helix.retrieval.calibration").joinpath("packaged.json").read_text("utf-8")
    models = {known: GateModel.from_json(known, fit) for known, fit in json.loads(text).items()}
    return {known: model for known, model in models.items() if model}


PACKAGED = packaged_fits()


@dataclass(frozen=True)
class GateFit:
    """A fit, and the corpus that it was made on: its embedder, documents and chunks.

    ``max_distance`` is the ceiling recommended for the plain gate; ``model`` is None where there
    were no signals to fit one to. ``measured`` is what the run showed, as JSON.
    """

    embedder: str
    max_distance: float | None
    model: GateModel | None
    documents: int
    chunks: int
    target_risk: float
    measured: dict[str, Any]

    def unfit(self, embedder: str, chunks: int) -> str | None:
        """The reason to trust it no more for this embedder and as many chunks; else None."""
        if embedder != self.embedder:
            return f"the gate was calibrated for {self.embedder}, and the embedder is {embedder}"
        if abs(chunks - self.chunks) > CHANGED * max(self.chunks, 1):
            return f"the gate was calibrated on {self.chunks} chunks, and there are {chunks} now"
        return None


async def corpus_size(store: TenantStore) -> tuple[int, int]:
    """(documents, chunks) of the store's tenant."""
    (row,) = await store.fetch(sql.CORPUS, {"tenant": store.tenant})
    return row["documents"], row["chunks"]


async def latest_fit(store: TenantStore) -> tuple[GateFit, int] | None:
    """The tenant's latest fit and how many chunks there are now; None where it has none."""
    rows = await store.fetch(sql.LATEST_FIT, {"tenant": store.tenant})
    if not rows:
        return None
    row = rows[0]
    chunks_now = row.pop("chunks_now")
    if row["model"]:
        row["model"] = GateModel.from_json(row["embedder"], row["model"])
    return GateFit(**row), chunks_now


def record_fit(store: TenantStore, fit: GateFit) -> int:
    """Store a fit as the tenant's latest; returns its id.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    values = {
        **vars(fit),
        "tenant": store.tenant,
        "model": Jsonb(fit.model.to_json()) if fit.model else None,
        "measured": Jsonb(fit.measured),
    }
    with store.transaction() as connection:
        row = connection.execute(sql.RECORD_FIT, values).fetchone()
    assert row is not None
    return int(row[0])


def build_calibration(settings: Settings) -> Calibration | None:
    """The judge of ``HELIX_GATE=calibrated``; None for the plain distance gate."""
    if settings.gate != "calibrated":
        return None
    return Calibration(bounded=settings.retrieval_max_distance is not None)


class Calibration:
    """Judges what was found by the tenant's own fit, else by the one that Helix brings.

    ``bounded``: what lies beyond the gate's ceiling is refused all the same, for somebody set it.
    Where there is no fit for the embedder, or the search has no signals, the distance decides.
    """

    def __init__(self, *, bounded: bool = False) -> None:
        self._bounded = bounded
        self._kept: OrderedDict[tuple[str, str], tuple[float, GateModel | None]] = OrderedDict()

    async def model_of(self, store: TenantStore, embedder: str) -> GateModel | None:
        """The model for questions of the store's tenant, read at most once in KEPT_SECONDS.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        key, now = (store.tenant, embedder), time.monotonic()
        kept = self._kept.get(key)
        if kept and now - kept[0] < KEPT_SECONDS:
            return kept[1]
        model = _chosen(await latest_fit(store), embedder, store.tenant)
        self._kept[key] = now, model
        self._kept.move_to_end(key)
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return model

    async def estimate(
        self, store: TenantStore, embedder: str, question: str, result: SearchResult, top_k: int
    ) -> Estimate | None:
        """The likelihood that ``result`` answers; None: only the distance can tell.

        Raises:
            StoreUnavailable: the database did not answer.
        """
        model = await self.model_of(store, embedder)
        values = signals(question, result, top_k) if model else None
        if model is None or values is None:
            return None
        return Estimate(model.probability(values), model.least, self._bounded, values)


def _chosen(stored: tuple[GateFit, int] | None, embedder: str, tenant: str) -> GateModel | None:
    packaged = PACKAGED.get(embedder)
    if stored is None:
        if packaged is None:
            _logger.warning(
                "HELIX_GATE=calibrated has no fit for %s: the distance decides; run"
                " `python -m evals.calibrate --generate 500 --apply`", embedder,
            )  # fmt: skip
        return packaged
    fit, chunks = stored
    if problem := fit.unfit(embedder, chunks):
        _logger.warning("%s (tenant %s): run `python -m evals.calibrate` again", problem, tenant)
    if fit.embedder == embedder and fit.model is not None:
        return fit.model
    return packaged
