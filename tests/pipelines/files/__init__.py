"""Tests of pipelines/files."""
