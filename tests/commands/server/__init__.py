"""Tests of the server and its processes."""
