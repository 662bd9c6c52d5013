"""openai: chat and responses whole and streamed, citations, embeddings, what is refused."""

import os
import urllib.request

import openai

QUESTION = "How long do I have to request a refund?"
TOLD = "Refunds are accepted within 30 days of purchase"
SERVER = os.environ["HELIX_SERVER"]
client = openai.OpenAI(base_url=f"{SERVER}/v1", api_key="none", max_retries=0)
asked = {"model": "helix", "messages": [{"role": "user", "content": QUESTION}]}

assert [model.id for model in client.models.list()][:2] == ["helix", "helix-agent"]
whole = client.chat.completions.create(**asked).choices[0].message
assert TOLD in whole.content
cited = whole.annotations[0].url_citation
assert whole.content[cited.start_index : cited.end_index] == "[1]"
assert urllib.request.urlopen(cited.url).status == 200

chunks = list(client.chat.completions.create(**asked, stream=True))
assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == whole.content
with client.chat.completions.stream(**asked) as stream:  # the SDK's own accumulator
    assert stream.get_final_completion().choices[0].message.content == whole.content

response = client.responses.create(model="helix", input=QUESTION)
assert response.output_text == whole.content
assert response.output[0].content[0].annotations[0].url == cited.url
with client.responses.stream(model="helix", input=QUESTION) as events:
    assert events.get_final_response().output_text == whole.content
kept = client.responses.create(model="helix", input="And after that?", instructions="Be brief.")
assert kept.status == "completed"

follow_up = [
    *asked["messages"],
    {"role": "assistant", "content": whole.content},
    {"role": "user", "content": "And who pays for the return?"},
]
assert client.chat.completions.create(model="helix", messages=follow_up).choices[0].message.content
(vector,) = client.embeddings.create(model="helix-embed", input="Refunds.").data
assert len(vector.embedding) == 1536

for refused in (
    {**asked, "model": "gpt-9"},
    {**asked, "n": 2},
    {**asked, "response_format": {"type": "json_object"}},
    {**asked, "messages": [{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]}]},
):  # fmt: skip
    try:
        client.chat.completions.create(**refused)
    except (openai.BadRequestError, openai.NotFoundError) as error:
        assert error.type == "invalid_request_error" and "\n" not in error.message
    else:
        raise AssertionError(f"taken: {refused}")
