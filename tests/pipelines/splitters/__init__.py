"""Tests of pipelines/splitters."""
