"""fastmcp: the tools listed and called, a resource, the prompt, and errors in words."""

import asyncio
import os

from fastmcp import Client
from fastmcp.exceptions import ToolError

QUESTION = "How long do I have to request a refund?"
TOLD = "Refunds are accepted within 30 days of purchase"
TOOLS = {"search", "fetch", "ask", "list_documents", "read_passage"}
WRONG = (
    ("ask", {"question": " "}),
    ("fetch", {"id": "999999"}),
    ("fetch", {"id": "document:x"}),
    ("read_passage", {"document_id": 999999, "start": 0, "end": 5}),
    ("search", {}),
)


async def use(mode: str) -> None:
    """Everything, in one generation of the protocol; the later one has no ping."""
    async with Client(f"{os.environ['HELIX_SERVER']}/mcp", mode=mode) as helix:
        if mode == "legacy":
            await helix.ping()
        tools = await helix.list_tools()
        assert {tool.name for tool in tools} == TOOLS
        found = (await helix.call_tool("search", {"query": "refund"})).structured_content["results"]
        fetched = await helix.call_tool("fetch", {"id": found[0]["id"]})
        assert fetched.structured_content["url"] == found[0]["url"]
        answer = (await helix.call_tool("ask", {"question": QUESTION})).structured_content
        assert TOLD in answer["answer"]
        cited = answer["citations"][0]
        span = {"document_id": cited["document_id"], "start": cited["start"], "end": cited["end"]}
        passage = (await helix.call_tool("read_passage", span)).structured_content
        assert passage["text"] == cited["quote"]
        listed = (await helix.call_tool("list_documents", {"limit": 100})).structured_content
        assert len(listed["documents"]) == int(os.environ["HELIX_DOCUMENTS"])
        for name, arguments in WRONG:
            try:
                await helix.call_tool(name, arguments)
            except ToolError as error:
                assert "Traceback" not in str(error)
            else:
                raise AssertionError(f"taken: {name} {arguments}")
        (document, *_) = await helix.read_resource(f"helix://documents/{cited['document_id']}")
        assert TOLD in document.text
        prompt = await helix.get_prompt("research", {"question": QUESTION})
        assert QUESTION in prompt.messages[0].content.text


for generation in ("legacy", "auto"):
    asyncio.run(use(generation))
