"""The tools of the agent, in the order that a model is told of them."""

from __future__ import annotations

from functools import cache

from helix.agent.tool import AnyTool, Tool
from helix.agent.tools.analyze_document import ANALYZE_DOCUMENT
from helix.agent.tools.calculator import CALCULATOR
from helix.agent.tools.current_time import CURRENT_TIME
from helix.agent.tools.documents import COMPARE_DOCUMENTS, READ_DOCUMENT, SEARCH_LIBRARY
from helix.agent.tools.fetch_page import FETCH_PAGE
from helix.agent.tools.outline import LIST_DOCUMENTS, OUTLINE
from helix.agent.tools.query_table import QUERY_TABLE
from helix.domain.plugins import TOOLS as TOOL_PLUGINS
from helix.domain.plugins import Plugin, loaded

TOOLS: tuple[AnyTool, ...] = (
    SEARCH_LIBRARY,
    COMPARE_DOCUMENTS,
    QUERY_TABLE,
    CALCULATOR,
    LIST_DOCUMENTS,
    OUTLINE,
    READ_DOCUMENT,
    ANALYZE_DOCUMENT,
    CURRENT_TIME,
    FETCH_PAGE,
)


@cache
def all_tools() -> tuple[AnyTool, ...]:
    """Helix's tools and those of plugins; one that cannot be used is logged and left out."""
    return (*TOOLS, *loaded(TOOL_PLUGINS, (tool.name for tool in TOOLS), tool_of))


def tool_of(plugin: Plugin) -> AnyTool:
    """The tool of a plugin; raises PluginFailed where it is none."""
    tool = plugin.load()
    if not isinstance(tool, Tool) or tool.name != plugin.name or not tool.description:
        raise plugin.failed("it is no Tool of this name with a description")
    return tool
