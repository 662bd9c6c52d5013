"""The tools of the agent, in the order that a model is told of them."""

from __future__ import annotations

from helix.agent.tool import AnyTool
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
