"""Measurements of how often Helix is right."""

import helix  # noqa: F401  before numpy, whose threads it bounds
