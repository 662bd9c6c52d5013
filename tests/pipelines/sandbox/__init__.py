"""Tests of pipelines/sandbox."""
