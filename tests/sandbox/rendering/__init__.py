"""Tests of helix/sandbox/rendering."""
