"""The tools of the agent, in the order that a model is told of them."""

from __future__ import annotations

import logging
from functools import cache

from helix.agent.tool import AnyTool, Tool
from helix.agent.tools.analyze_document import ANALYZE_DOCUMENT
from helix.agent.tools.calculator import CALCULATOR
from helix.agent.tools.compare_documents import COMPARE_DOCUMENTS
from helix.agent.tools.current_time import CURRENT_TIME
from helix.agent.tools.fetch_page import FETCH_PAGE
from helix.agent.tools.list_documents import LIST_DOCUMENTS
from helix.agent.tools.outline import OUTLINE
from helix.agent.tools.query_table import QUERY_TABLE
from helix.agent.tools.read_document import READ_DOCUMENT
from helix.agent.tools.search_library import SEARCH_LIBRARY
from helix.domain.plugins import TOOLS as TOOL_PLUGINS
from helix.domain.plugins import loaded

_logger = logging.getLogger(__name__)

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
    added = []
    for plugin, tool in loaded(TOOL_PLUGINS, (tool.name for tool in TOOLS)):
        if not isinstance(tool, Tool) or tool.name != plugin.name or not tool.description:
            reason = "it is no Tool of this name with a description"
            _logger.error("%s", plugin.failed(reason))
        else:
            added.append(tool)
    return (*TOOLS, *added)
