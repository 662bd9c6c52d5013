"""Calibrating the gate: questions put to a corpus, what would pass, and the risk of it."""
