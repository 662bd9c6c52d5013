"""Ratios against a named floor, each measured within one run."""
