"""Guardrails: small objects around an answer, each on by HELIX_GUARDS. They flag, or take out."""

from helix.answering.guardrails.hygiene import Hygiene
from helix.answering.guardrails.injection import Flag, screen

__all__ = ["Flag", "Hygiene", "screen"]
