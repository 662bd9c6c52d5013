"""A Gemini on the wire, for tests of judges."""

from __future__ import annotations
