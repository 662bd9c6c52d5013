"""Guardrails: small objects around an answer, each on by HELIX_GUARDS. They flag, or take out."""

from __future__ import annotations

from helix.guardrails.hygiene import Hygiene
from helix.guardrails.injection import Flag, screen

__all__ = ["Flag", "Hygiene", "screen"]
