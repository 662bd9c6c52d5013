"""Tests of pipelines/reembedding."""
