"""Proof: the exact characters that each sentence of an answer rests on, found by rule. Pure."""

from __future__ import annotations

from helix.proof.model import Proof, Statement, Support
from helix.proof.proving import prove

__all__ = ["Proof", "Statement", "Support", "prove"]
