"""Tests of helix/settings."""
