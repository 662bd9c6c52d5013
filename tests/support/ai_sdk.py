"""The parts of a UI message stream, read by hand, and by npm's ``ai`` 5, 6 and 7."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import httpx

from tests.support.repository import ROOT

NODE = ROOT / "tests" / "protocols" / "node"
Json = dict[str, Any]


def chat(*texts: str, chat_id: str = "chat", **more: Any) -> Json:
    """The body that the SDK's transport sends; questions and answers take turns."""
    roles = ("user", "assistant")
    messages = [
        {"id": f"m{n}", "role": roles[n % 2], "parts": [{"type": "text", "text": text}]}
        for n, text in enumerate(texts)
    ]
    return {"id": chat_id, "messages": messages, "trigger": "submit-message", **more}


def parts_of(response: httpx.Response) -> list[Json]:
    """The parts of a whole stream; one that is cut has no [DONE] at its end."""
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1", response.text
    frames = [frame.removeprefix("data: ") for frame in response.text.split("\n\n")[:-1]]
    frames = [frame for frame in frames if not frame.startswith(":")]
    ended = frames[-1] == "[DONE]"
    parts: list[Json] = [json.loads(frame) for frame in frames[: len(frames) - ended]]
    assert ended == (parts[-1]["type"] == "finish")
    return parts


def text_of(parts: list[Json]) -> str:
    return "".join(part["delta"] for part in parts if part["type"] == "text-delta")


def part(parts: list[Json], kind: str) -> Json:
    (found,) = [one for one in parts if one["type"] == kind]
    return found


def units(text: str, start: int, end: int) -> str:
    """``text.slice(start, end)`` as JavaScript has it."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def read_by_sdk(**asked: Any) -> dict[str, Json]:
    """The reading of a chat by each version of the SDK (tests/protocols/node/read_chat.mjs)."""
    script = NODE / "read_chat.mjs"
    assert (NODE / "node_modules").is_dir(), "npm's ai is not installed: run `make node`"
    ran = subprocess.run(
        ["node", str(script), json.dumps(asked)], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Json] = json.loads(ran.stdout)
    assert set(told) == {"5", "6", "7"}
    return told
