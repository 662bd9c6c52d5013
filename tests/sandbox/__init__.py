"""Tests of helix/sandbox."""
