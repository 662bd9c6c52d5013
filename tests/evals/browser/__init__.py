"""Tests of the room evals.browser."""
