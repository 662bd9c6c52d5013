"""instructor: a form filled by the model, by JSON schema; without one, the refusal in words."""

import os
from typing import Literal

import instructor
import openai
from pydantic import BaseModel

QUESTION = "How long do I have to request a refund?"
MESSAGES = [{"role": "user", "content": QUESTION}]


class Refund(BaseModel):
    """The time within which one may ask for a refund."""

    days: int
    unit: Literal["days", "weeks"]


client = openai.OpenAI(
    base_url=f"{os.environ['HELIX_SERVER']}/v1", api_key="none", max_retries=0, timeout=300
)
forms = instructor.from_openai(client, mode=instructor.Mode.JSON_SCHEMA)
ask = {"model": "helix", "messages": MESSAGES, "response_model": Refund, "max_retries": 0}
try:
    refund, completion = forms.chat.completions.create_with_completion(**ask)
except Exception as error:  # noqa: BLE001  of whatever class its version wraps it in
    assert not os.environ.get("HELIX_HAS_MODEL"), error
    assert "no language model" in str(error), error
else:
    assert os.environ.get("HELIX_HAS_MODEL") and isinstance(refund, Refund)
    assert {one["path"] for one in completion.helix["values"]} == {"/days", "/unit"}

calls = instructor.from_openai(client, mode=instructor.Mode.TOOLS)
try:
    calls.chat.completions.create(**ask)
except Exception as error:  # noqa: BLE001  of whatever class its version wraps it in
    assert "json_schema" in str(error), error
else:
    raise AssertionError("a forced call of a tool was taken")
