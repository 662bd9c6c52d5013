"""LangChain: with_structured_output in three ways: the model's values, or a refusal in words."""

import os

import openai
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

QUESTION = "How long do I have to request a refund?"
helix = ChatOpenAI(
    model="helix", base_url=f"{os.environ['HELIX_SERVER']}/v1", api_key="none", max_retries=0
)


class Refund(BaseModel):
    """The time within which one may ask for a refund."""

    days: int


for method, reason in (
    ("json_schema", "no language model"),
    ("function_calling", "json_schema"),
    ("json_mode", "json_schema"),
):
    form = helix.with_structured_output(Refund, method=method)
    try:
        filled = form.invoke(QUESTION)
    except openai.BadRequestError as error:
        assert reason in error.message, error.message
        assert reason == "json_schema" or not os.environ.get("HELIX_HAS_MODEL")
    else:
        assert isinstance(filled, Refund) and method == "json_schema"
