"""Tests of pipelines/facts."""
