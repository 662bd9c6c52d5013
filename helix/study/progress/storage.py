"""Progress in the database: sessions that grow together, counts by the quarter of an hour, totals.

What is stored depends on the actions and not on their order: several servers write what each of
them noted, a second late, of one learner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from helix.storage.connections import Connected
from helix.storage.statements import progress as sql
from helix.study.progress.actions import TURNED_ON, Learner, RecordedAction, quarter_of, sessions_of


def store(
    connection: Connected, learner: Learner, actions: Sequence[RecordedAction], idle: timedelta,
    *, if_turned_on: bool = False,
) -> None:  # fmt: skip
    """Add what was noted of ``learner``, inside the caller's transaction.

    ``if_turned_on``: only where the learner wants it, and otherwise nothing is kept.
    """
    whose = {"tenant": learner.tenant, "learner": learner.name}
    wanted = whose | {"wanted": TURNED_ON}
    if if_turned_on and connection.execute(sql.IS_ON, wanted).fetchone() is None:
        return
    connection.execute(sql.LOCK_LEARNER, {"key": f"progress {learner.tenant} {learner.name}"})
    for session in sessions_of((one.at for one in actions), idle):
        values = {"started": session.started_at, "ended": session.ended_at, "idle": idle}
        connection.execute(sql.MERGE_SESSION, whose | values)
    quarters: Counter[tuple[object, str]] = Counter()
    totals: Counter[str] = Counter()
    for one in actions:
        quarters[quarter_of(one.at), one.action] += one.n
        totals[one.action] += one.n
    values = {
        "quarters": [quarter for quarter, _ in quarters],
        "actions": [action for _, action in quarters],
        "counts": list(quarters.values()),
    }
    connection.execute(sql.ADD_COUNTS, whose | values)
    values = {"actions": list(totals), "counts": list(totals.values())}
    connection.execute(sql.ADD_TOTALS, whose | values)


def switch(connection: Connected, learner: Learner, *, on: bool) -> None:
    """Keep the progress of ``learner`` from now on, or no more of it; what is kept stays."""
    values = {"tenant": learner.tenant, "learner": learner.name, "wanted": TURNED_ON}
    connection.execute(sql.TURN_ON if on else sql.TURN_OFF, values)


def forget(connection: Connected, learner: Learner) -> None:
    """Delete all progress of ``learner``, inside the caller's transaction."""
    for statement in sql.FORGET:
        connection.execute(statement, {"tenant": learner.tenant, "learner": learner.name})


def forget_everybody(connection: Connected) -> int:
    """Delete the progress of all tenants; how many rows."""
    return sum(connection.execute(statement).rowcount for statement in sql.FORGET_ALL)
