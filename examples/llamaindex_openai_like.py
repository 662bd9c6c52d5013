"""LlamaIndex: Helix as an OpenAILike model of other people's code; the links are in `raw`."""

import os
import sys

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

question = " ".join(sys.argv[1:]) or "How long do I have to request a refund?"
helix = OpenAILike(
    model="helix",
    api_base=f"{os.environ['HELIX_SERVER']}/v1",
    api_key=os.environ.get("HELIX_API_KEY", "none"),
    is_chat_model=True,
)
answer = helix.chat([ChatMessage(question)])
print(answer.message.content)
for link in answer.raw.model_extra["citations"]:
    print(link)
