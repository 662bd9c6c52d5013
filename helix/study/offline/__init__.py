"""Makers of items by rule, without a model: deterministic, each from a cited sentence."""
