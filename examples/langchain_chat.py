"""LangChain: Helix as the ChatOpenAI of a chain; what it cites is in the message."""

import os
import sys

from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI

question = " ".join(sys.argv[1:]) or "How long do I have to request a refund?"
helix = ChatOpenAI(
    model="helix",
    base_url=f"{os.environ['HELIX_SERVER']}/v1",
    api_key=os.environ.get("HELIX_API_KEY", "none"),
    use_responses_api=True,  # of chat completions LangChain drops what is cited
)
chain = ChatPromptTemplate([("user", "{question}")]) | helix
answer = chain.invoke({"question": question})
print(answer.text)
for block in answer.content_blocks:
    for annotation in block.get("annotations", []):
        print(annotation.get("title"), annotation.get("url"))
