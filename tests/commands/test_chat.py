"""``helix chat``: lines are questions of one conversation, which is kept."""

from __future__ import annotations

import re
import subprocess

from tests.support.cli_runner import helix
from tests.support.live_server import live
from tests.support.repository import ROOT

_OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}


def _conversation(told: subprocess.CompletedProcess[str]) -> str:
    assert told.returncode == 0, told.stderr
    found = re.search(r"go on with `helix chat -c (\S+)`", told.stderr)
    assert found is not None
    return found[1]


def test_lines_are_questions_of_one_conversation(database_url: str) -> None:
    values = _OFFLINE | {"DATABASE_URL": database_url}
    sample = str(ROOT / "samples" / "refund-policy.txt")
    assert helix("ingest", sample, **values).returncode == 0
    first = "How long do I have to request a refund?\n/help\n\n"
    told = helix("chat", stdin=f"{first}And for gift cards?\n/quit\nnever read\n", **values)
    conversation = _conversation(told)
    assert "within 30 days" in told.stdout and "[1] Refund Policy" in told.stdout
    assert "understood as: And for gift cards?" in told.stderr and "/new begins" in told.stderr
    with live(database_url) as client:
        path = client.get(f"/v1/conversations/{conversation}").json()["path"]
        assert [row["question"] for row in path] == [first.split("\n")[0], "And for gift cards?"]
        assert {row["status"] for row in path} == {"done"}
        # the same over a server, and another after it
        more = f"Where are you?\n/new\n{first}"
        told = helix("chat", "-c", conversation, "--server", str(client.base_url), stdin=more)
        assert _conversation(told) != conversation
        read = client.get(f"/v1/conversations/{conversation}").json()
        assert [row["question"] for row in read["path"]][2:] == ["Where are you?"]
        assert "Refunds are accepted within 30 days" in told.stdout
