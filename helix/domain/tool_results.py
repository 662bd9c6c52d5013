"""Results of tools that are sources of their own: a calculation, or the time. Pure.

Such a source has no document. Its text says all of it, so that an answer, its proof and its receipt
need nothing else; a calculation is computed again wherever it is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any, Literal

from helix.domain.arithmetic import NotArithmetic, evaluate, is_percentage, parse

Kind = Literal["calculation", "clock"]
SourceKind = Literal["passage", "calculation", "clock"]
"""The kind of a numbered source: a passage of a document, or a tool's result."""
TITLES: Mapping[str, str] = {"calculation": "Calculation", "clock": "Clock"}
"""The titles of such sources, where a passage has its document's."""
_PLACES = 10
_READABLE = 4
_SHORT = 2
_EXACT = Context(prec=60, traps=[InvalidOperation])


@dataclass(frozen=True, slots=True)
class ToolResult:
    """One result: ``text`` is the whole source, in one line.

    ``expression`` and ``result`` are a calculation's: the result with at most ten decimals, and a
    percent sign where it counts hundredths. Of the clock ``result`` is the time in ISO 8601.
    """

    kind: Kind
    text: str
    expression: str = ""
    result: str = ""

    @property
    def title(self) -> str:
        """Its name for people."""
        return TITLES[self.kind]

    @property
    def equation(self) -> str:
        """Its text as a statement: of a calculation with the exact result alone."""
        if self.kind == "clock":
            return self.text.rstrip(".")
        written = self.text.rpartition(" = ")[0]
        return f"{written} = {self.result}"

    def holds(self) -> bool:
        """True if a calculation comes to its result when it is computed again."""
        if self.kind == "clock":
            return True
        try:
            return self == calculation(self.expression, as_percent=self._tells_percent)
        except NotArithmetic:
            return False

    @property
    def _tells_percent(self) -> bool:
        return self.result.endswith("%") and not is_percentage(parse(self.expression))

    def to_json(self) -> dict[str, str]:
        """The result as a receipt keeps it."""
        return {
            "kind": self.kind,
            "text": self.text,
            "expression": self.expression,
            "result": self.result,
        }

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> ToolResult:
        """The result that ``to_json`` made."""
        return cls(stored["kind"], stored["text"], stored["expression"], stored["result"])


def calculation(expression: str, *, as_percent: bool = False) -> ToolResult:
    """The calculation of ``expression``: `15% × 2,340 = 351`.

    ``as_percent``: a result that is no percentage by itself is told in percent. A result with more
    than four decimals is also told with two: `10 / 3 = 3.33 (3.3333333333)`.

    Raises:
        NotArithmetic: the expression is none.
    """
    tree = parse(expression)
    value, percent = evaluate(tree), is_percentage(tree)
    if as_percent and not percent:
        value, percent = value * 100, True
    sign = "%" if percent else ""
    whole, short = _told(value, _PLACES), _told(value, _SHORT)
    is_long = len(whole.partition(".")[2]) > _READABLE and short != "0"
    said = f"{short}{sign} ({whole}{sign})" if is_long else f"{whole}{sign}"
    # an asterisk would be Markdown's
    written = " ".join(expression.replace("*", " × ").split())
    return ToolResult("calculation", f"{written} = {said}", expression, f"{whole}{sign}")


def clock(now: datetime, zone: str) -> ToolResult:
    """The time ``now``, aware and in the time zone ``zone``, in the usual ways to say it."""
    hour = now.hour % 12 or 12
    half = "AM" if now.hour < 12 else "PM"
    text = (
        f"The current date and time: {now:%A}, {now.day} {now:%B} {now.year} ({now:%Y-%m-%d}),"
        f" {now:%H:%M} ({hour}:{now:%M} {half}), time zone {zone} (UTC{now:%z})."
    )
    return ToolResult("clock", text, result=now.isoformat(timespec="minutes"))


def _told(value: Decimal, places: int) -> str:
    """A number with at most so many decimals, without zeros at its end, its thousands apart."""
    try:
        rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _EXACT)
    except InvalidOperation:
        raise NotArithmetic("the result is too large") from None
    text = f"{rounded:,f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
