"""Tests of voice."""
