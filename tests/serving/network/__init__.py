"""Tests of helix/serving/network."""
