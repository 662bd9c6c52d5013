"""A Helix to stand behind the worker, one for each file of tests that asks for it."""

from __future__ import annotations

from tests.support.answering_server import client, store, stored, wire

__all__ = ["client", "store", "stored", "wire"]
