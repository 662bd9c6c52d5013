"""The server of the tests of conversations, one for each file: documents, answers by the wire."""

from __future__ import annotations

from tests.conversations.conftest import client as client
from tests.conversations.conftest import store as store
from tests.conversations.conftest import wire as wire
