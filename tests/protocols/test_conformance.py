"""The Model Context Protocol's own suite, @modelcontextprotocol/conformance, against /mcp."""

from __future__ import annotations

import re
import subprocess

import httpx
import pytest

from tests.support.ai_sdk import NODE

EXPECTED = NODE / "expected_failures.yml"


@pytest.mark.node
def test_the_suite_passes_but_for_what_is_not_offered(client: httpx.Client) -> None:
    suite = NODE / "node_modules" / ".bin" / "conformance"
    assert suite.exists(), "the suite is not installed: run `make node`"
    ran = subprocess.run(
        [suite, "server", "--url", f"{client.base_url}/mcp", "--expected-failures", EXPECTED],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
    assert re.findall(r"^Total: (.*)$", ran.stdout, re.MULTILINE) == ["9 passed, 21 failed"]
