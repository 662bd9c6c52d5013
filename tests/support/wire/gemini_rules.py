"""The rules by which Google refuses a request to generate, by the model that is asked.

Written from Google's pages and from reports of its answers, not from the table that Helix has: a
mistake there is refused here. Where a page says that a field is ignored and may be refused, it is.
"""

from __future__ import annotations

from tests.support.wire.gemini_replies import Failure, Json

LEVELS = {
    "gemini-3.1-flash-lite": ("minimal", "low", "medium", "high"),
    "gemini-3.5-flash-lite": ("minimal", "low", "medium", "high"),
    "gemini-3.6-flash": ("minimal", "low", "medium", "high"),
    "gemini-3.8-flash": ("low", "medium", "high"),
    "gemini-4-hydrogen": ("low", "medium", "high", "xhigh"),
    "gemini-4-neon": ("low", "medium", "high", "xhigh"),
}
"""Levels of thinking by model; one that is not here takes those of the newest."""
NEWEST = LEVELS["gemini-4-neon"]
BUDGETS = {
    "gemini-2.5-flash": (0, 24_576),
    "gemini-2.5-flash-lite": (0, 24_576),
    "gemini-2.5-pro": (128, 32_768),
}
"""The least and the largest budget of thinking, in tokens; -1, the model's own choice, too."""
LISTED = (
    "gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-flash-preview", "gemini-3.5-flash-lite",
    "gemini-3.6-flash", "gemini-3.8-flash", "gemini-3.9-flash-lite-preview", "gemini-4-hydrogen",
    "gemini-4-neon", "gemini-3.8-flash-image", "gemini-embedding-001", "gemini-embedding-2",
)  # fmt: skip
"""The ids of the models list."""


def refusal_of(model: str, body: Json) -> Failure | None:
    """The 400 that a request to generate by ``model`` gets; None for one that is served."""
    config = generation_config(body)
    thinking = config.get("thinkingConfig", {})
    if "thinkingLevel" in thinking and "thinkingBudget" in thinking:
        return _invalid("You can only set only one of thinking budget and thinking level.")
    problem = _of_2_5(model, thinking) if model in BUDGETS else _of_later(model, config, body)
    return _invalid(problem) if problem else None


def generation_config(body: Json) -> Json:
    """The generationConfig of a request, names as Google's pages have them.

    The SDK sends the fields of thinkingConfig with underscores, which Google reads as well.
    """
    config: Json = dict(body.get("generationConfig", {}))
    if thinking := config.get("thinkingConfig"):
        config["thinkingConfig"] = {_camel(name): value for name, value in thinking.items()}
    return config


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _of_2_5(model: str, thinking: Json) -> str:
    if "thinkingLevel" in thinking:
        return "Thinking level is not supported for this model."
    least, most = BUDGETS[model]
    budget = thinking.get("thinkingBudget", -1)
    if budget != -1 and not least <= budget <= most:
        return f"The thinking budget {budget} is invalid. Choose between {least} and {most}."
    return ""


def _of_later(model: str, config: Json, body: Json) -> str:
    thinking, levels = config.get("thinkingConfig", {}), LEVELS.get(model, NEWEST)
    level = thinking.get("thinkingLevel", levels[-1]).lower()
    if "thinkingBudget" in thinking:
        return "Thinking budget is not supported for this model."
    if level not in levels:
        return f"'{level}' is not a supported thinking level for this model."
    for name in ("temperature", "topP", "topK", "frequencyPenalty", "presencePenalty"):
        if name in config:
            return f"{name} is not supported for this model."
    if "candidateCount" in config:
        return "Multiple candidates is not enabled for this model"
    if body["contents"][-1].get("role") == "model":
        return "Requests that end in a turn of the model are not supported for this model."
    return ""


def _invalid(message: str) -> Failure:
    return Failure(400, "INVALID_ARGUMENT", message)


def models_list() -> Json:
    """The body of GET /v1beta/models."""
    return {
        "models": [
            {
                "name": f"models/{name}",
                "inputTokenLimit": 8192 if "embedding" in name else 1_048_576,
                "outputTokenLimit": 1 if "embedding" in name else 65_536,
                "supportedGenerationMethods": (
                    ["embedContent"] if "embedding" in name else ["generateContent"]
                ),
            }
            for name in LISTED
        ]
    }
