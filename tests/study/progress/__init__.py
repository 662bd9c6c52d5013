"""Tests of progress."""
