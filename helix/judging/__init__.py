"""Judging: whether an answer rests on its sources, by span support or by a model."""

from __future__ import annotations

from helix.judging.base import Judge, JudgeFailed
from helix.judging.build import build_judge
from helix.judging.model import ModelJudge
from helix.judging.offline import OfflineJudge

__all__ = ["Judge", "JudgeFailed", "ModelJudge", "OfflineJudge", "build_judge"]
