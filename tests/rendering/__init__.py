"""Tests of helix/rendering."""
