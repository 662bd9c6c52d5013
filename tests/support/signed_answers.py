"""Answers of a real server, signed, and one character of them altered."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import httpx

from helix.conversations.receipts import verify_answer
from tests.support.receipt_corpus import bring_in, document, question, services

VERIFIER = Path(verify_answer.__file__)
_LETTERS = 'abcxyz0189 ,:{}[]"\\.-é退'


async def bring_in_facts(url: str, count: int) -> None:
    """Documents that each answer a question."""
    async with services(url) as opened:
        await bring_in(opened, *map(document, range(count)))


def ask(client: httpx.Client, number: int) -> str:
    """The id of a new answer to ``question(number)``."""
    told = client.post("/v1/query", json={"question": question(number), "top_k": 1}).json()
    assert not told["abstained"]
    return str(told["answer_id"])


def signed(client: httpx.Client, answer_id: str) -> bytes:
    """The signed answer as the server sends it."""
    told = client.get(f"/v1/answers/{answer_id}/proof")
    assert told.status_code == 200, told.text
    return told.content


def altered(data: bytes, draw: random.Random) -> bytes:
    """``data`` with one character replaced, put in or left out, so that it says something else."""
    text, said = data.decode(), json.loads(data)
    while True:
        at, letter = draw.randrange(len(text)), draw.choice(_LETTERS)
        rest = draw.choice([text[at:], text[at + 1 :]])
        changed = text[:at] + draw.choice([letter, ""]) + rest
        if not _says(changed, said):  # white space between two parts says the same
            return changed.encode()


def _says(text: str, said: object) -> bool:
    """True if ``text`` is JSON of ``said``."""
    try:
        return bool(json.loads(text) == said)
    except ValueError:
        return False


def verifier(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The verifier in a Python that has no package and reads no variable."""
    command = [sys.executable, "-I", "-S", str(VERIFIER), *map(str, arguments)]
    return subprocess.run(command, cwd="/", env={}, capture_output=True, text=True, check=False)
