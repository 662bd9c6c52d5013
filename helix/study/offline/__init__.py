"""Makers without a model: items by rule, of cited sentences, the same each time."""
