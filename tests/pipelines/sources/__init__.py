"""Tests of pipelines/sources."""
