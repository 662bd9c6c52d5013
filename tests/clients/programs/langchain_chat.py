"""LangChain: ChatOpenAI whole, streamed, in a chain, with history, and with tools."""

import os

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

QUESTION = "How long do I have to request a refund?"
TOLD = "Refunds are accepted within 30 days of purchase"
at = {"base_url": f"{os.environ['HELIX_SERVER']}/v1", "api_key": "none", "max_retries": 0}
helix = ChatOpenAI(model="helix", stream_usage=True, **at)


@tool
def weather(place: str) -> str:
    """Tell the weather."""
    return f"Rain in {place}."


answer = helix.invoke(QUESTION)
assert TOLD in answer.text and answer.usage_metadata["total_tokens"] > 0
assert "".join(chunk.text for chunk in helix.stream(QUESTION)) == answer.text
chain = ChatPromptTemplate([("system", "Be brief."), ("user", "{q}")]) | helix | StrOutputParser()
assert chain.invoke({"q": QUESTION}) == answer.text
assert [one.text for one in helix.batch([QUESTION, QUESTION])] == [answer.text] * 2
history = [SystemMessage("Rhyme."), HumanMessage(QUESTION), AIMessage(answer.text)]
assert helix.invoke([*history, HumanMessage("And who pays for the return?")]).text
assert helix.bind_tools([weather]).invoke(QUESTION).text == answer.text

responding = ChatOpenAI(model="helix", use_responses_api=True, **at)
(block,) = responding.invoke(QUESTION).content_blocks
assert "/#/source/" in block["annotations"][0]["url"]
assert "".join(chunk.text for chunk in responding.stream(QUESTION)) == answer.text

embedder = OpenAIEmbeddings(model="helix-embed", check_embedding_ctx_length=False, **at)
assert len(embedder.embed_query("Refunds.")) == 1536
