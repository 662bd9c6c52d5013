"""current_time: date and time in the asker's time zone."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from helix.agent.tool import Arguments, Tool, ToolContext, ToolFailure, ToolOutput


class TimeArguments(Arguments):
    """No arguments: the time zone is the asker's."""


async def current_time(arguments: TimeArguments, context: ToolContext) -> ToolOutput:
    """Day of the week, date, time and zone in one line."""
    try:
        zone = ZoneInfo(context.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise ToolFailure("The asker's time zone is unknown.") from None
    now = context.now().astimezone(zone)
    return ToolOutput((f"{now:%A, %Y-%m-%d %H:%M} ({context.time_zone}, UTC{now:%z})",))


CURRENT_TIME = Tool("current_time", TimeArguments, current_time)
