"""litellm: completion whole, streamed and asynchronous, responses, embeddings, its own errors."""

import asyncio
import os

import litellm

QUESTION = "How long do I have to request a refund?"
TOLD = "Refunds are accepted within 30 days of purchase"
litellm.telemetry = False
litellm.suppress_debug_info = True
ask = {
    "api_base": f"{os.environ['HELIX_SERVER']}/v1", "api_key": "none", "num_retries": 0,
    "model": "openai/helix", "messages": [{"role": "user", "content": QUESTION}],
}  # fmt: skip

whole = litellm.completion(**ask)
told = whole.choices[0].message.content
assert TOLD in told and whole.usage.total_tokens > 0
assert "/#/source/" in whole.choices[0].message.annotations[0]["url_citation"]["url"]
chunks = list(litellm.completion(**ask, stream=True))
assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == told
rebuilt = litellm.stream_chunk_builder(chunks, messages=ask["messages"])
assert rebuilt.choices[0].message.content == told
assert asyncio.run(litellm.acompletion(**ask)).choices[0].message.content == told

place = {name: ask[name] for name in ("api_base", "api_key")}
response = litellm.responses(model="openai/helix", input=QUESTION, **place)
assert response.output[0].content[0].text == told
vectors = litellm.embedding(model="openai/helix-embed", input=["Refunds.", "Parcels."], **place)
assert [len(one["embedding"]) for one in vectors.data] == [1536, 1536]

for keys, failure in (
    ({"model": "openai/gpt-9"}, litellm.NotFoundError),
    ({"response_format": {"type": "json_object"}}, litellm.BadRequestError),
):
    try:
        litellm.completion(**(ask | keys))
    except failure as error:
        assert "helix" in str(error).lower() or "model" in str(error)
    else:
        raise AssertionError(f"taken: {keys}")
