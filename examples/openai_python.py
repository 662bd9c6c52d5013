"""openai-python: a streamed answer, whose annotations lead to the exact characters."""

import os
import sys

from openai import OpenAI

question = " ".join(sys.argv[1:]) or "How long do I have to request a refund?"
client = OpenAI(
    base_url=f"{os.environ['HELIX_SERVER']}/v1",
    api_key=os.environ.get("HELIX_API_KEY", "none"),  # the client wants one, Helix may not
)
stream = client.chat.completions.create(
    model="helix", messages=[{"role": "user", "content": question}], stream=True
)
annotations = []
for chunk in stream:
    for choice in chunk.choices:
        print(choice.delta.content or "", end="", flush=True)
        annotations += (choice.delta.model_extra or {}).get("annotations", [])
print()
for annotation in annotations:
    print(annotation["url_citation"]["title"], annotation["url_citation"]["url"])
