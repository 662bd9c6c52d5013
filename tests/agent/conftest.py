"""A server over stored documents whose model, at the wire, calls tools; one for each file."""

from __future__ import annotations

from tests.support.answering_server import client, store, stored, wire

__all__ = ["client", "store", "stored", "wire"]
