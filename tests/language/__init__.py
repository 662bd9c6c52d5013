"""Tests of language."""
