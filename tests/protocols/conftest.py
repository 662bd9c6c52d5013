"""A server over stored documents that answers by the wire, one for each file of tests."""

from __future__ import annotations

from tests.support.answering_server import client, store, stored, wire

__all__ = ["client", "store", "stored", "wire"]
