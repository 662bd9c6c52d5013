"""The announced end of a vendor's model, and what is said of it while there is time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

NOTICE_DAYS = 60
"""Days before its end from which a model is spoken of."""


@dataclass(frozen=True)
class Lifetime:
    """The lifetime of the model that the setting ``variable`` names.

    ``ends`` is the day of its announced end, None where none is announced; ``gone``: its service
    lists it no more. ``replacement`` is what to use then.
    """

    model: str
    variable: str
    ends: date | None = None
    replacement: str = ""
    gone: bool = False

    def days_left(self, day: date) -> int | None:
        """Days from ``day`` to the end, below 0 after it or where it is gone; None: no end."""
        if self.gone:
            return -1
        return (self.ends - day).days if self.ends else None

    def ends_soon(self, day: date) -> bool:
        """True if the model has ended by ``day``, is gone, or ends within NOTICE_DAYS."""
        left = self.days_left(day)
        return left is not None and left <= NOTICE_DAYS

    def notice(self, day: date) -> str | None:
        """One line for the operator, with its remedy; None while the end is far or not known."""
        if not self.ends_soon(day):
            return None
        remedy = f"set {self.variable} to {self.replacement}"
        if self.gone or self.ends is None:
            return f"{self.model} is not among the models that this key may use: {remedy}"
        when = f"{self.ends.day} {self.ends:%B %Y}"
        if self.ends <= day:
            what = f"{self.model} ended on {when}; another model may answer, at another price"
        else:
            what = f"{self.model} ends on {when}, in {(self.ends - day).days} days"
        return f"{what}: {remedy}"
