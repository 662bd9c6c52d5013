"""The families of Gemini models: what each may be sent, what it holds, when it ends, what it costs.

Read from Google's pages (deprecations, thinking, pricing, the guides to 3.6, 3.8 and Gemini 4) on
the day ``READ``. A model that is not in the table is treated as one of the newest family: what that
refuses is not sent, and neither end nor price is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

from helix.domain.lifetime import Lifetime
from helix.domain.usage import Usage
from helix.telemetry.usage_meter import today

READ = date(2026, 11, 24)
"""The day on which the table was last compared with Google's pages."""
AUTOMATIC = "gemini-3.5-flash-lite"
"""``GEMINI_MODEL=auto`` where the list of models cannot be read."""
DEFAULT_EMBEDDER = "gemini-embedding-001"
"""``EMBED_MODEL`` where it is not set: the contract's."""
CONTEXT_TOKENS = 1_048_576
OUTPUT_TOKENS = 65_536

Thinking = Mapping[str, int | str]
"""Fields of the SDK's ThinkingConfig: a level or a budget in tokens, never both, which is a 400."""

_VERSION_OF = re.compile(r"-(?:\d|preview\b|exp\b|latest\b)")


def _is_of(model: str, family: str) -> bool:
    rest = model.removeprefix(family)
    return rest != model and (not rest or _VERSION_OF.match(rest) is not None)


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens on the paid tier, text, from the day ``since`` on.

    Thoughts cost what answers do. ``above``: the prices of prompts of more than 200,000 tokens.
    """

    input: float
    output: float
    cached: float
    since: date = date.min
    above: Prices | None = None


@dataclass(frozen=True)
class Family:
    """Properties of all models whose id is ``id``, or ``id`` and a version.

    Args:
        least_thinking: the least that the model may be asked to think.
        sampling: whether temperature, top_p and top_k may be sent: later models ignore or refuse
            them.
        candidates: whether more than one answer may be asked for.
        context_tokens, output_tokens: the most that a request and an answer may have.
        ends: the announced end; None: none is announced.
        replacement: Google's own word for what to use instead; empty where there is none.
        prices: by the day since when they hold, in order; empty where they are not known.
    """

    id: str
    least_thinking: Thinking
    sampling: bool = False
    candidates: bool = False
    context_tokens: int = CONTEXT_TOKENS
    output_tokens: int = OUTPUT_TOKENS
    ends: date | None = None
    replacement: str = ""
    prices: tuple[Prices, ...] = ()

    def holds(self, model: str) -> bool:
        """True if ``model`` is of this family: its id, or that with a version behind it."""
        return _is_of(model, self.id)

    def lifetime(self, model: str, variable: str, *, gone: bool = False) -> Lifetime:
        """The lifetime of ``model``, which the setting ``variable`` names."""
        return Lifetime(model, variable, self.ends, self.replacement or AUTOMATIC, gone)

    def cost(self, usage: Usage, day: date) -> float | None:
        """The US dollars of ``usage`` on ``day``; None where the price or a count is not known."""
        prices = [each for each in self.prices if each.since <= day]
        if not prices or usage.input_tokens is None or usage.output_tokens is None:
            return None
        price = prices[-1]
        if price.above and usage.input_tokens > _LONG_PROMPT:
            price = price.above
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        written = usage.output_tokens + (usage.thought_tokens or 0)
        read = (usage.input_tokens - cached) * price.input + cached * price.cached
        return (read + written * price.output) / 1_000_000


@dataclass(frozen=True)
class EmbeddingFamily:
    """Properties of all embedding models whose id is ``id``, or ``id`` and a version.

    Args:
        tokens: the most that one text may have; what is longer is cut by Google.
        query, passage: what a question and a text are sent as, in the place of ``{}``, where the
            model reads its task in the text; both ``{}`` where it takes a ``task_type``.
        ends, replacement: as Family has them.
    """

    id: str
    tokens: int
    query: str = "{}"
    passage: str = "{}"
    ends: date | None = None
    replacement: str = ""

    @property
    def takes_task_type(self) -> bool:
        """True if the task is a field of the request."""
        return self.query == "{}"

    def lifetime(self, model: str, variable: str) -> Lifetime:
        """The lifetime of ``model``, which the setting ``variable`` names."""
        return Lifetime(model, variable, self.ends, self.replacement)


_LONG_PROMPT = 200_000
_END_OF_2_5 = date(2026, 12, 1)
_INTRODUCED = Prices(0.75, 3.75, 0.075)
_FROM_2027 = Prices(1.50, 7.50, 0.15, since=date(2027, 1, 1))
_ARGON = (
    Prices(2.0, 10.0, 0.10),
    Prices(4.0, 20.0, 0.20, since=date(2026, 12, 1)),
)
_MINIMAL: Thinking = {"thinking_level": "minimal"}
_LOW: Thinking = {"thinking_level": "low"}
_NONE: Thinking = {"thinking_budget": 0}

FAMILIES: tuple[Family, ...] = (
    Family(
        "gemini-2.5-flash-lite", _NONE, sampling=True, candidates=True,
        prices=(Prices(0.10, 0.40, 0.01),),
    ),
    Family(
        "gemini-2.5-flash", _NONE, sampling=True, candidates=True,
        ends=_END_OF_2_5, replacement="gemini-3.5-flash-lite", prices=(Prices(0.30, 2.50, 0.03),),
    ),
    Family(
        "gemini-2.5-pro", {"thinking_budget": 128},  # the least it takes: it refuses 0
        sampling=True, candidates=True,
        ends=_END_OF_2_5, replacement="gemini-3.8-flash",
        prices=(Prices(1.25, 10.0, 0.125, above=Prices(2.50, 15.0, 0.25)),),
    ),
    Family(
        "gemini-3.1-flash-lite", _MINIMAL, ends=date(2027, 5, 7),
        replacement="gemini-3.5-flash-lite", prices=(Prices(0.25, 1.50, 0.025),),
    ),
    Family("gemini-3.1-pro", _LOW, replacement="gemini-4-neon"),
    Family("gemini-3.5-flash-lite", _MINIMAL, prices=(Prices(0.30, 2.50, 0.03),)),
    Family("gemini-3.5-flash", _MINIMAL, prices=(Prices(1.50, 9.0, 0.15),)),
    Family("gemini-3.6-flash", _MINIMAL, prices=(_INTRODUCED, _FROM_2027)),
    # Google answers for it by 3.8 Flash already, and gives no day
    Family(
        "gemini-3.7-flash", _LOW, replacement="gemini-3.8-flash",
        prices=(_INTRODUCED, _FROM_2027),
    ),
    Family("gemini-3.8-flash", _LOW, prices=(_INTRODUCED, _FROM_2027)),
    Family("gemini-4-hydrogen", _LOW, prices=(Prices(1.50, 7.50, 0.075),)),
    Family("gemini-4-neon", _LOW, prices=(Prices(3.0, 15.0, 0.15),)),
    Family("gemini-4-carbon", _LOW, prices=_ARGON),
    Family("gemini-4-argon", _LOW, prices=_ARGON),
)  # fmt: skip
NEWEST = Family("", _LOW)
"""The family of models that the table does not know: as Gemini 4 is, at an unknown price."""


EMBEDDING_FAMILIES: tuple[EmbeddingFamily, ...] = (
    EmbeddingFamily(
        "gemini-embedding-001", 2048, ends=date(2028, 5, 14), replacement="gemini-embedding-2"
    ),
    EmbeddingFamily(
        "gemini-embedding-2", 8192, "task: search result | query: {}", "title: none | text: {}"
    ),
)
"""The second reads no ``task_type``: with its task in the text ArguAna went from 41.9 to 78.7
(embeddings-benchmark/mteb pull request 4851)."""


def embedding_family_of(model: str) -> EmbeddingFamily:
    """The family of an embedding ``model``; the newest for an unknown one."""
    name = model.rpartition("/")[2].lower()
    known = (family for family in EMBEDDING_FAMILIES if _is_of(name, family.id))
    return next(known, replace(EMBEDDING_FAMILIES[-1], id=name))


def family_of(model: str) -> Family:
    """The family of ``model``, an id with or without ``models/``; the newest for an unknown one."""
    name = model.rpartition("/")[2].lower()
    known = (family for family in FAMILIES if family.holds(name))
    return next(known, replace(NEWEST, id=name))


def cost_usd(usage: Usage) -> float | None:
    """The US dollars that ``usage`` costs today by the model that answered."""
    return family_of(usage.model).cost(usage, today())


def gemini_title(model: str) -> str:
    """``gemini-3.5-flash-lite`` as ``Gemini 3.5 Flash-Lite``; another kind of id as it stands."""
    words = model.removeprefix("models/").split("-")
    if words[0] != "gemini":
        return model
    return " ".join(word.capitalize() for word in words if word).replace(" Lite", "-Lite")
