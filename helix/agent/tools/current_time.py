"""current_time: date and time in the asker's time zone."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from helix.agent.tool import Arguments, Tool, ToolContext, ToolFailure, ToolOutput
from helix.domain.tool_results import clock


class TimeArguments(Arguments):
    """No arguments: the time zone is the asker's."""


async def current_time(arguments: TimeArguments, context: ToolContext) -> ToolOutput:
    """Day of the week, date, time and zone in one line, which is a source of its own."""
    try:
        zone = ZoneInfo(context.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        raise ToolFailure("The asker's time zone is unknown.") from None
    return ToolOutput((clock(context.now().astimezone(zone), context.time_zone),))


CURRENT_TIME = Tool("current_time", TimeArguments, current_time)
