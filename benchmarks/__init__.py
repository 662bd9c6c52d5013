"""Ratios against a named floor, each measured within one run."""

import helix  # noqa: F401  before numpy, whose threads it bounds
