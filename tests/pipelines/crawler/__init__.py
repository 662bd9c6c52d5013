"""Tests of pipelines/crawler."""
