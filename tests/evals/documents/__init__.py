"""Tests of the room evals.documents."""
