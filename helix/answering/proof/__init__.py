"""Proof: the exact characters that each sentence of an answer rests on, found by rule. Pure."""

from helix.answering.proof.model import Proof, Statement, Support, with_marks, with_relevance
from helix.answering.proof.prover import prove, prover_of_pieces

__all__ = [
    "Proof",
    "Statement",
    "Support",
    "prove",
    "prover_of_pieces",
    "with_marks",
    "with_relevance",
]
