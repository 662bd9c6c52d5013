"""The use of a language model: which model answered, and how many tokens that took."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

KEY = "helix_usage"
"""The key of a ``Usage`` in a ``ChatResponse.additional_kwargs``."""


@dataclass(frozen=True)
class Usage:
    """The model that answered, by its own service's name for it, and the tokens of its calls.

    ``input_tokens`` are all of the prompt, those of it that came from a cache (``cached_tokens``)
    among them. ``output_tokens`` are those of the answer; ``thought_tokens``, those of the thoughts
    before it, are not among them. None: the service does not say.
    """

    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    thought_tokens: int | None = None

    def __add__(self, later: Usage) -> Usage:
        """Both calls together, by the name of the model that answered the later one."""
        return Usage(
            later.model or self.model,
            _sum(self.input_tokens, later.input_tokens),
            _sum(self.output_tokens, later.output_tokens),
            _sum(self.cached_tokens, later.cached_tokens),
            _sum(self.thought_tokens, later.thought_tokens),
        )

    def updated(self, later: Usage | None) -> Usage:
        """This one with what a later piece of the same answer says, which counts from the start."""
        if later is None:
            return self
        said = {name: value for name, value in vars(later).items() if value not in (None, "")}
        return replace(self, **said)

    @property
    def tokens(self) -> dict[str, int | None]:
        """The four counts by their names."""
        return {name: value for name, value in vars(self).items() if name != "model"}


def usage_of(response: Any) -> Usage | None:
    """The usage that a ``ChatResponse`` carries: the last one of an answer does."""
    found = response.additional_kwargs.get(KEY)
    return found if isinstance(found, Usage) else None


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
