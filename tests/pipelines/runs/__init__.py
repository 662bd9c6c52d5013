"""Tests of pipelines/runs."""
