"""The path of the checkout."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder that holds ``helix``, ``docs`` and ``samples``."""
