"""The name of a Gemini model for people, made of its id."""

from __future__ import annotations


def gemini_title(model: str) -> str:
    """``gemini-3.5-flash-lite`` as ``Gemini 3.5 Flash-Lite``; another kind of id as it stands."""
    words = model.removeprefix("models/").split("-")
    if words[0] != "gemini":
        return model
    return " ".join(word.capitalize() for word in words if word).replace(" Lite", "-Lite")
